"""§7 BIND and `AS`, maintained."""

from __future__ import annotations

from collections.abc import Sequence

from refengine.incremental.algebra.by_definition import compile_result
from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.sparql.algebra import Expression, Variable


class MaintainedExtend(MaintainedNode):
    """Extend: each solution with the results of expressions in new slots, one after the other. An
    error leaves its variable unbound.

    Nothing is kept: a change is answered from itself alone, and a solution that goes is extended
    once more. Raises NotCovered for a binding of a variable that is there already, and what
    `compile_result` raises.
    """

    def __init__(
        self, child: MaintainedNode, bindings: Sequence[tuple[Variable, Expression]]
    ) -> None:
        names = list(child.names)
        certain = set(child.certain)
        self.results = []
        for variable, expression in bindings:
            if variable.name in names:
                raise NotCovered(f"?{variable.name}, which is bound twice")
            slots = {name: slot for slot, name in enumerate(names)}
            self.results.append(compile_result(expression, slots))
            names.append(variable.name)
            if _is_always_bound(expression, certain):
                certain.add(variable.name)
        super().__init__(names, certain)
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        terms: list[Term | None] = [*solution]
        for result in self.results:
            terms.append(result(terms))
        self.emit(tuple(terms), count)


def _is_always_bound(expression: Expression, certain: set[str]) -> bool:
    """Return whether an expression surely gives a term: a constant, or a variable that is bound."""
    if isinstance(expression, Variable):
        return expression.name in certain
    return isinstance(expression, str)
