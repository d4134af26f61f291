"""§7 Property paths, maintained (SPARQL 1.1 §18.4, R2R-18). They are written out: a sequence is a
join over a variable between its steps, an alternative and a negated set are unions, and `?`, `*`
and `+` are `MaintainedReachability`.

For `?x (:p/:q)|^:r ?y` that is the union of `?x :p _:path.0 . _:path.0 :q ?y` and `?y :r ?x`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, pairwise

from refengine.incremental.algebra.code import Code, Program, Take
from refengine.incremental.algebra.joins import join_all
from refengine.incremental.algebra.nodes import (
    Emit,
    MaintainedNode,
    MaintainedSelection,
    MaintainedUnion,
    ObjectNode,
    Solution,
    add_count,
    pick_terms,
)
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.sparql import algebra
from refengine.sparql.algebra import (
    Alternative,
    Call,
    Expression,
    Inverse,
    Path,
    Repeated,
    TriplePattern,
    Variable,
)
from refengine.sparql.matching import is_path, split_by_shared_variables, variables_of

# Terms, each once, in the order in which they came
Terms = dict[Term, None]
NO_TERMS: Terms = {}  # not to be changed

# A pair of terms that the repeated path connects
Step = tuple[Term, Term]


class MaintainedReachability(ObjectNode):
    """`P?`, `P*` or `P+` between two ends. `steps` gives the pairs that P connects, by `step_ends`;
    `nodes` gives all triples of the graph, where a node is connected with itself by no
    step at all.
    """

    def __init__(
        self,
        ends: tuple[Variable | Term, Variable | Term],
        path: Repeated,
        steps: MaintainedNode,
        step_ends: tuple[Variable, Variable],
        nodes: MaintainedNode | None,
    ) -> None:
        names = [one.name for one in dict.fromkeys(ends) if isinstance(one, Variable)]
        child = MaintainedSelection(steps, [variable.name for variable in step_ends])
        make = partial(Reachability, ends=ends, path=path)
        super().__init__(make, child, names, names, "R2R-18 a path of any number of steps")
        self.nodes = nodes

    def write_object(self, program: Program, take: Take) -> Code:
        """Write the object, and what hands the nodes over to it. Return its name."""
        made = super().write_object(program, take)
        if (nodes := self.nodes) is not None:
            nodes.write(
                program,
                lambda values, count: [f"{made}.change_node({nodes.solution(values)}, {count})"],
            )
        return made


class Reachability:
    """The pairs of terms that `P?`, `P*` or `P+` connects, each once.

    `change` takes the pairs that P connects, and `change_node` all triples of the graph, where a
    node is connected with itself by no step at all. A start that is a constant is the only start.

    It keeps the steps and the pairs that are connected, both by start and by end, and the counts of
    the nodes. `flush` first finds the starts whose ends may change: those that reach a step which
    came and connects what was not connected, or which went and had no other way beside it. Of each
    it puts in doubt the ends behind the steps that went, finds again what another way reaches, and
    then what is behind the steps that came (Gupta, Mumick, Subrahmanian, *Maintaining views
    incrementally*, SIGMOD 1993: delete and rederive). So a change costs, for each of these starts,
    what lies behind the step, and not all that the start reaches.
    """

    def __init__(
        self, emit: Emit, ends: tuple[Variable | Term, Variable | Term], path: Repeated
    ) -> None:
        self.emit = emit
        start, end = ends
        variables = {one.name: i for i, one in enumerate(ends) if isinstance(one, Variable)}
        self.shown = pick_terms(tuple(variables.values()))
        self.is_loop = start == end
        self.only_start = start if isinstance(start, str) else None
        self.only_end = end if isinstance(end, str) else None
        self.is_at_most_once = path.is_at_most_once
        self.is_reflexive = connects_with_itself(path)

        self.step_counts: Counter[Step] = Counter()
        self.successors: dict[Term, Terms] = {}
        self.predecessors: dict[Term, Terms] = {}
        self.node_counts: Counter[Term] = Counter()
        self.ends_of: dict[Term, Terms] = {}
        self.starts_of: dict[Term, Terms] = {}

        self.changed_steps: dict[Step, None] = {}
        self.changed_nodes: Terms = {}
        if self.only_start is not None:
            self.changed_nodes[self.only_start] = None

    def change(self, solution: Solution, count: int) -> None:
        """Add to the count of a step, and follow whether it is there."""
        start, end = solution
        assert start is not None and end is not None  # every solution of a path has both
        change = add_count(self.step_counts, (start, end), count)
        if change == 1:
            self.successors.setdefault(start, {})[end] = None
            self.predecessors.setdefault(end, {})[start] = None
        elif change == -1:
            _remove(self.successors, start, end)
            _remove(self.predecessors, end, start)
        if change:
            self.changed_steps[start, end] = None

    def change_node(self, triple: Solution, count: int) -> None:
        """Add to the counts of the nodes of a triple: its subject and its object."""
        for term in (triple[0], triple[2]):
            assert term is not None
            if add_count(self.node_counts, term, count):
                self.changed_nodes[term] = None

    def flush(self) -> None:
        """Emit which pairs are connected now, and were not, or were and are no more."""
        for start, steps in self._changes_by_start().items():
            self._update(start, steps)
        self.changed_steps.clear()
        self.changed_nodes.clear()

    def _changes_by_start(self) -> dict[Term, list[Step]]:
        """Return the starts whose ends may change, each with the steps that it reached and that
        have come or gone.
        """
        changes: dict[Term, list[Step]] = {}
        sources = dict(self.changed_nodes)
        sources |= {step[0]: None for step in self.changed_steps if self._matters(step)}
        for source in sources:
            for start in self._starts_through(source):
                changes[start] = []
        if changes:
            for step in self.changed_steps:
                for start in self._starts_through(step[0]):
                    if start in changes:
                        changes[start].append(step)
        return changes

    def _starts_through(self, source: Term) -> Iterator[Term]:
        """Yield the starts from which a step from a term is taken: that term, and those that are
        connected with it.
        """
        if self.only_start in (None, source):
            yield source
        if not self.is_at_most_once:
            for start in self.starts_of.get(source, ()):
                if start != source:
                    yield start

    def _matters(self, step: Step) -> bool:
        """Return whether a step that has come or gone may change what is connected."""
        source, end = step
        origin = source
        if self.only_start is not None:
            origin = self.only_start
        reached = self.ends_of.get(origin, NO_TERMS)
        if source != origin and source not in reached:
            return False
        if self._is_step(source, end):
            return end not in reached
        return end in reached and (self.is_at_most_once or not self._has_way(source, end))

    def _has_way(self, start: Term, end: Term) -> bool:
        """Return whether steps lead from a term to another. They are followed from both terms, in
        turn, until either has no more of them.
        """
        forwards = _follow(self.successors, start)
        backwards = _follow(self.predecessors, end)
        for reached, reaching in zip(forwards, backwards, strict=False):
            if reached == end or reaching == start:
                return True
        return False

    def _is_step(self, start: Term, end: Term) -> bool:
        return end in self.successors.get(start, NO_TERMS)

    def _update(self, start: Term, steps: Sequence[Step]) -> None:
        """Change the ends of one start as the steps do that have come or gone."""
        ends = self.ends_of.setdefault(start, {})
        doubtful = self._doubtful_ends(start, ends, steps)
        found = self._ends_found(start, ends, doubtful, steps)
        for end in doubtful:
            if end not in found:
                del ends[end]
                self._change_pair(start, end, -1)
        for end in found:
            if end not in doubtful:
                ends[end] = None
                self._change_pair(start, end, 1)
        if not ends:
            del self.ends_of[start]

    def _doubtful_ends(self, start: Term, ends: Terms, steps: Sequence[Step]) -> Terms:
        """Return the ends of a start that the steps which have gone may have led to."""
        waiting = [end for source, end in steps if not self._is_step(source, end)]
        if start in self.changed_nodes:
            waiting.append(start)
        return self._spread(waiting, ends.__contains__)

    def _ends_found(
        self, start: Term, ends: Terms, doubtful: Terms, steps: Sequence[Step]
    ) -> Terms:
        """Return the ends of a start that are connected, and were not or are in doubt."""

        def is_open(end: Term) -> bool:
            return end not in ends or end in doubtful

        def is_sure(source: Term) -> bool:
            return source == start or not is_open(source)

        waiting = [end for end in doubtful if self._is_reached_from(start, end, ends, is_sure)]
        waiting += [end for source, end in steps if self._is_step(source, end) and is_sure(source)]
        if self._has_itself(start):
            waiting.append(start)
        return self._spread(waiting, is_open)

    def _spread(self, waiting: list[Term], is_wanted: Callable[[Term], bool]) -> Terms:
        """Return the wanted ends among some, and the wanted ones behind these. What is behind an
        end that is not wanted is left out. Empties `waiting`.
        """
        found: Terms = {}
        while waiting:
            end = waiting.pop()
            if end not in found and is_wanted(end):
                found[end] = None
                if not self.is_at_most_once:
                    waiting += self.successors.get(end, NO_TERMS)
        return found

    def _is_reached_from(
        self, start: Term, end: Term, ends: Terms, is_sure: Callable[[Term], bool]
    ) -> bool:
        """Return whether a step leads to an end from the start, or from one of its ends that is
        sure. The fewer are looked at: the sources of such steps, or the ends of the start.
        """
        if self._is_step(start, end):
            return True
        if self.is_at_most_once:
            return False
        sources = self.predecessors.get(end, NO_TERMS)
        if len(sources) < len(ends):
            return any(map(is_sure, sources))
        return any(self._is_step(source, end) for source in ends if is_sure(source))

    def _change_pair(self, start: Term, end: Term, count: int) -> None:
        """Insert or retract a pair of the index by ends, and emit it if it has the path's ends."""
        if count == 1:
            self.starts_of.setdefault(end, {})[start] = None
        else:
            _remove(self.starts_of, end, start)
        if self.only_end in (None, end) and (not self.is_loop or start == end):
            self.emit(self.shown((start, end)), count)

    def _has_itself(self, start: Term) -> bool:
        """Return whether a start is connected with itself by no step: a constant always, another
        term if it is a node of the graph.
        """
        if self.only_start is not None:
            return self.is_reflexive
        return start in self.node_counts


def _remove(index: dict[Term, Terms], key: Term, term: Term) -> None:
    """Remove a term from those of a key. It must be there."""
    del index[key][term]
    if not index[key]:
        del index[key]


def _follow(neighbours: Mapping[Term, Terms], start: Term) -> Iterator[Term]:
    """Yield what one step or more lead to from a term, each once."""
    reached: set[Term] = set()
    waiting = [start]
    while waiting:
        for end in neighbours.get(waiting.pop(), NO_TERMS):
            if end not in reached:
                reached.add(end)
                waiting.append(end)
                yield end


def connects_with_itself(path: Path) -> bool:
    """Return whether a path connects a constant with itself, be it in the graph or not, by no step
    at all. A sequence does so in its steps' patterns alone, where each has a constant.
    """
    match path:
        case Repeated(inner, least, _):
            return not least or connects_with_itself(inner)
        case Inverse(inner):
            return connects_with_itself(inner)
        case Alternative(paths):
            return any(map(connects_with_itself, paths))
        case _:
            return False


# Makes the node of a basic graph pattern without property paths, under filters
MakeBasicPattern = Callable[[Sequence[TriplePattern], Sequence[Expression]], MaintainedNode]

# An end of a path
End = Variable | Term


class PathWriter:
    """A builder of the nodes of basic graph patterns with property paths. Their triples are matched
    by basic graph patterns that `make_basic` makes.
    """

    def __init__(self, make_basic: MakeBasicPattern) -> None:
        self.make_basic = make_basic
        self.numbers = count()

    def basic_pattern(self, triples: Sequence[TriplePattern]) -> MaintainedNode:
        """Return the node of a basic graph pattern: a join of its paths, and of its other triples
        in parts that are connected by variables. Raises NotCovered.
        """
        plain = [triple for triple in triples if not is_path(triple)]
        parts = [
            self.make_basic(part, []) for part in split_by_shared_variables(plain, variables_of)
        ]
        parts += [self.path_pattern(*triple) for triple in triples if is_path(triple)]
        return join_all(parts)

    def path_pattern(self, start: End, path: Variable | Path, end: End) -> MaintainedNode:
        """Return the node of one path between two ends. Raises NotCovered for a sequence from a
        term to itself.
        """
        is_loop = start == end and isinstance(start, str)
        if is_loop and any(isinstance(part, algebra.Sequence) for part in algebra.walk(path)):
            raise NotCovered("a path with a sequence in it from a term to itself")
        match path:
            case algebra.Inverse(inner):
                return self.path_pattern(end, inner, start)
            case algebra.Sequence(steps):
                return self._sequence(start, steps, end)
            case algebra.Alternative(paths):
                return MaintainedUnion([self.path_pattern(start, one, end) for one in paths])
            case algebra.NegatedSet(forward, backward):
                return self._negated_set(start, forward, end, backward)
            case algebra.Repeated():
                return self._repeated(start, path, end)
            case _:
                return self.make_basic([TriplePattern(start, path, end)], [])

    def _sequence(self, start: End, steps: Sequence[Path], end: End) -> MaintainedNode:
        """Return the join of a sequence's steps over the variables between them."""
        places = [start, *(self._hidden_variable() for _ in steps[1:]), end]
        ends = pairwise(places)
        nodes = [self.path_pattern(a, step, b) for step, (a, b) in zip(steps, ends, strict=True)]
        return join_all(nodes)

    def _negated_set(
        self,
        start: End,
        forward: tuple[Term, ...] | None,
        end: End,
        backward: tuple[Term, ...] | None,
    ) -> MaintainedNode:
        """Return the union of both directions of a negated set, or the only one."""
        parts = []
        for subject, excluded, object_ in ((start, forward, end), (end, backward, start)):
            if excluded is not None:
                predicate = self._hidden_variable()
                conditions = [Call("!=", (predicate, term)) for term in excluded]
                triple = TriplePattern(subject, predicate, object_)
                parts.append(self.make_basic([triple], conditions))
        return MaintainedUnion(parts)

    def _repeated(self, start: End, path: algebra.Repeated, end: End) -> MaintainedNode:
        """Return the node of `?`, `*` or `+`. It goes from a constant, if one end is one."""
        step_start, step_end = self._hidden_variable(), self._hidden_variable()
        steps = self.path_pattern(step_start, path.path, step_end)
        if isinstance(start, Variable) and isinstance(end, str):
            start, end = end, start
            step_start, step_end = step_end, step_start
        nodes = None
        if isinstance(start, Variable) and not path.least:
            subject, predicate, object_ = (self._hidden_variable() for _ in range(3))
            nodes = self.make_basic([TriplePattern(subject, predicate, object_)], [])
        return MaintainedReachability((start, end), path, steps, (step_start, step_end), nodes)

    def _hidden_variable(self) -> Variable:
        """Return a variable that is nowhere else."""
        return Variable(f"_:path.{next(self.numbers)}")


def has_path(triples: Sequence[TriplePattern]) -> bool:
    """Return whether a basic graph pattern has property paths."""
    return any(map(is_path, triples))
