"""§7 The paths `P?`, `P*` and `P+`, maintained (SPARQL 1.1 §18.4, R2R-18)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.nodes import MaintainedNode, Solution, pick_terms
from refengine.model.elements import Term
from refengine.sparql.algebra import Alternative, Inverse, Path, Repeated, Variable

# Terms, each once, in the order in which they came
Terms = dict[Term, None]


class MaintainedReachability(MaintainedNode):
    """The pairs of terms that `P?`, `P*` or `P+` connects, each once.

    `steps` gives the pairs that P connects, by the variables `step_ends`; `nodes` gives all triples
    of the graph, where a node is connected with itself by no step at all. A start that is a
    constant is the only start.

    It keeps the steps, and the pairs that are connected, from both of their ends. A change of the
    content costs what can be reached from the starts whose pairs may change: those that reach a
    step which has come or gone, if the step connects what was not connected, or what no other way
    connects now. (From a constant, a step that goes always counts.) `flush` computes the ends of
    these starts anew, and emits the differences. A change by which nothing is connected or
    disconnected costs O(1) if a step comes, and a search for another way if one goes.
    """

    def __init__(
        self,
        ends: tuple[Variable | Term, Variable | Term],
        path: Repeated,
        steps: MaintainedNode,
        step_ends: tuple[Variable, Variable],
        nodes: MaintainedNode | None,
    ) -> None:
        start, end = ends
        variables = {one.name: i for i, one in enumerate(ends) if isinstance(one, Variable)}
        super().__init__(tuple(variables), variables)
        self.shown = pick_terms(tuple(variables.values()))
        self.is_loop = start == end
        self.only_start = start if isinstance(start, str) else None
        self.only_end = end if isinstance(end, str) else None
        self.is_at_most_once = path.is_at_most_once
        self.is_reflexive = connects_with_itself(path)

        self.step_slots = (steps.slots[step_ends[0].name], steps.slots[step_ends[1].name])
        self.step_counts: Counter[tuple[Term, Term]] = Counter()
        self.successors: dict[Term, Terms] = {}
        self.node_counts: Counter[Term] = Counter()
        self.ends_of: dict[Term, Terms] = {}
        self.starts_of: dict[Term, Terms] = {}

        self.changed_steps: dict[tuple[Term, Term], None] = {}
        self.changed_nodes: Terms = {}
        if self.only_start is not None:
            self.changed_nodes[self.only_start] = None
        steps.emit = self._change_step
        if nodes is not None:
            nodes.emit = self._change_node

    def _change_step(self, solution: Solution, count: int) -> None:
        """Add to the count of a step, and follow whether it is there."""
        start, end = (solution[slot] for slot in self.step_slots)
        assert start is not None and end is not None  # every solution of a path has both
        change = add_count(self.step_counts, (start, end), count)
        if change == 1:
            self.successors.setdefault(start, {})[end] = None
        elif change == -1:
            del self.successors[start][end]
            if not self.successors[start]:
                del self.successors[start]
        if change:
            self.changed_steps[start, end] = None

    def _change_node(self, triple: Solution, count: int) -> None:
        """Add to the counts of the nodes of a triple: its subject and its object."""
        for term in (triple[0], triple[2]):
            assert term is not None
            if add_count(self.node_counts, term, count):
                self.changed_nodes[term] = None

    def flush(self) -> None:
        """Emit which pairs are connected now, and were not, or were and are no more."""
        for start in self._starts_to_search():
            before = self.ends_of.get(start, {})
            now = dict.fromkeys(self._reached(start))
            for end in before:
                if end not in now:
                    self._change_pair(start, end, -1)
            for end in now:
                if end not in before:
                    self._change_pair(start, end, 1)
            if now:
                self.ends_of[start] = now
            else:
                self.ends_of.pop(start, None)
        self.changed_steps.clear()
        self.changed_nodes.clear()

    def _change_pair(self, start: Term, end: Term, count: int) -> None:
        """Insert or retract a pair of the index by ends, and emit it if it has the path's ends."""
        if count == 1:
            self.starts_of.setdefault(end, {})[start] = None
        else:
            del self.starts_of[end][start]
            if not self.starts_of[end]:
                del self.starts_of[end]
        if self.only_end in (None, end) and (not self.is_loop or start == end):
            self.emit(self.shown((start, end)), count)

    def _starts_to_search(self) -> Terms:
        """Return the starts whose ends may have changed."""
        sources = dict(self.changed_nodes)
        for start, end in self.changed_steps:
            if start not in sources and self._matters(start, end):
                sources[start] = None
        starts: Terms = {}
        for source in sources:
            if self.only_start in (None, source):
                starts[source] = None
            if not self.is_at_most_once:
                starts |= self.starts_of.get(source, {})
        return starts

    def _matters(self, start: Term, end: Term) -> bool:
        """Return whether a step that has come or gone may change what is connected."""
        origin = start if self.only_start is None else self.only_start
        was_reached = end in self.ends_of.get(origin, ())
        if end in self.successors.get(start, ()):
            return not was_reached
        if self.only_start is not None or self.is_at_most_once:
            return was_reached
        return was_reached and end not in self._reached(start)

    def _reached(self, start: Term) -> Iterator[Term]:
        """Yield the ends that are reached from a start, each once."""
        reached: Terms = {}
        if self._has_itself(start):
            reached[start] = None
            yield start
        waiting = [start]
        while waiting:
            for end in self.successors.get(waiting.pop(), ()):
                if end not in reached:
                    reached[end] = None
                    yield end
                    if not self.is_at_most_once:
                        waiting.append(end)

    def _has_itself(self, start: Term) -> bool:
        """Return whether a start is connected with itself by no step: a constant always, another
        term if it is a node of the graph.
        """
        if self.only_start is not None:
            return self.is_reflexive
        return start in self.node_counts


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
