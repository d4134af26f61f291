"""§7 GRAPH, maintained: a pattern over a named graph; with a variable, a copy of the pattern over
each graph that the dataset may have, whose name the variable then has.
"""

from __future__ import annotations

from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.sparql import algebra
from refengine.sparql.algebra import Pattern, Variable, visible
from refengine.sparql.values import Computed

MOST_COPIES = 1_000  # of patterns in GRAPH, one for each graph


class MaintainedGraphName(MaintainedNode):
    """GRAPH with a variable, over one graph: the solutions of its pattern, joined with the graph's
    name (SPARQL 1.1 §18.6).

    It keeps nothing. Raises NotCovered for a variable that the pattern binds to what is computed.
    """

    def __init__(self, child: MaintainedNode, variable: str, name: Term) -> None:
        names = dict.fromkeys([*child.names, variable])
        super().__init__(list(names), {*child.certain, variable})
        self.name = name
        self.slot = self.slots[variable]
        child.emit = self._merge if variable in child.slots else self._append

    def _append(self, solution: Solution, count: int) -> None:
        """Add the name to a solution whose pattern does not have the variable."""
        self.emit((*solution, self.name), count)

    def _merge(self, solution: Solution, count: int) -> None:
        """Bind the variable where it is unbound, and drop a solution that binds it to another
        term.
        """
        bound = solution[self.slot]
        if isinstance(bound, Computed):
            raise NotCovered("a computed term in place of a graph's name")
        if bound is None:
            solution = (*solution[: self.slot], self.name, *solution[self.slot + 1 :])
        elif bound != self.name:
            return
        self.emit(solution, count)


def no_solutions(pattern: Pattern) -> MaintainedNode:
    """Return a node with the variables of a pattern that never emits a solution."""
    names = visible(pattern)
    return MaintainedNode(list(names), names)


def needs_triples(pattern: Pattern) -> bool:
    """Return whether a pattern surely has no solution over an empty active graph.

    Of `OPTIONAL` the left side counts; VALUES, a path of length zero and an aggregate without keys
    have solutions over nothing; so may GRAPH, whose graph is another.
    """
    match pattern:
        case algebra.Basic(triples):
            return any(isinstance(triple.predicate, Variable | str) for triple in triples)
        case algebra.Join(parts):
            return any(map(needs_triples, parts))
        case algebra.Union(parts):
            return all(map(needs_triples, parts))
        case algebra.LeftJoin(inner, _, _) | algebra.Minus(inner, _):
            return needs_triples(inner)
        case algebra.Filter(_, inner) | algebra.Extend(inner, _) | algebra.Project(inner, _):
            return needs_triples(inner)
        case algebra.Distinct(inner) | algebra.Reduced(inner) | algebra.OrderBy(inner, _):
            return needs_triples(inner)
        case algebra.Slice(inner, _, _):
            return needs_triples(inner)
        case algebra.Group(inner, keys, _):
            return keys is not None and needs_triples(inner)
        case algebra.Values() | algebra.Graph():
            return False
