"""§7 Property paths, written out (SPARQL 1.1 §18.4, R2R-18): a sequence is a join over a variable
between its steps, an alternative and a negated set are unions, and `?`, `*` and `+` are
`MaintainedReachability`.

For `?x (:p/:q)|^:r ?y` that is the union of `?x :p _:path.0 . _:path.0 :q ?y` and `?y :r ?x`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count, pairwise

from refengine.incremental.algebra.joins import join_all
from refengine.incremental.algebra.nodes import MaintainedNode
from refengine.incremental.algebra.operators import MaintainedUnion
from refengine.incremental.algebra.reachability import MaintainedReachability
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.sparql import algebra
from refengine.sparql.algebra import Call, Expression, Path, TriplePattern, Variable
from refengine.sparql.evaluation.matching import is_path, names_of, variables_of

# Makes the node of a basic graph pattern without property paths, under filters
MakeBasicPattern = Callable[[Sequence[TriplePattern], Sequence[Expression]], MaintainedNode]

# An end of a path
End = Variable | Term


class PathWriter:
    """A builder of the nodes of basic graph patterns with property paths. Their triples are matched
    by basic graph patterns that `make_basic` makes. `flushed` takes the nodes that emit at a flush,
    inner ones before outer ones.
    """

    def __init__(
        self, make_basic: MakeBasicPattern, flushed: Callable[[MaintainedReachability], None]
    ) -> None:
        self.make_basic = make_basic
        self.flushed = flushed
        self.numbers = count()

    def basic_pattern(self, triples: Sequence[TriplePattern]) -> MaintainedNode:
        """Return the node of a basic graph pattern: a join of its paths, and of its other triples
        in parts that are connected by variables. Raises NotCovered.
        """
        plain = [triple for triple in triples if not is_path(triple)]
        parts = [self.make_basic(part, []) for part in connected_parts(plain)]
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
        reachability = MaintainedReachability(
            (start, end), path, steps, (step_start, step_end), nodes
        )
        self.flushed(reachability)
        return reachability

    def _hidden_variable(self) -> Variable:
        """Return a variable that is nowhere else."""
        return Variable(f"_:path.{next(self.numbers)}")


def has_path(triples: Sequence[TriplePattern]) -> bool:
    """Return whether a basic graph pattern has property paths."""
    return any(map(is_path, triples))


def connected_parts(triples: Sequence[TriplePattern]) -> list[list[TriplePattern]]:
    """Return triple patterns in parts, in their order. Those that share a variable are in one part,
    and so are those that share one with them.
    """
    parts: list[list[TriplePattern]] = []
    for triple in triples:
        names = names_of(variables_of(triple))
        apart = [part for part in parts if names.isdisjoint(_names(part))]
        joined = [one for part in parts if part not in apart for one in part]
        parts = [*apart, [*joined, triple]]
    return parts


def _names(triples: Sequence[TriplePattern]) -> set[str]:
    return {name for triple in triples for name in names_of(variables_of(triple))}
