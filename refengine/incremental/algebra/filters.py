"""§7 Filters and other expressions with EXISTS, maintained: each EXISTS becomes a variable of the
solution, for which the expression then asks.

For `FILTER(?v > 1 || NOT EXISTS { ?x :q ?z })` a solution gets a variable `exists.0`, which is
bound as long as the pattern has a partner for it. The filter is `?v > 1 || !BOUND(?exists.0)`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from refengine.incremental.algebra.correlated import MaintainedExistsWithFilter
from refengine.incremental.algebra.equality import equalities_between
from refengine.incremental.algebra.forms import (
    MaintainedPlainTerms,
    check_operands,
    may_compute,
)
from refengine.incremental.algebra.nodes import MaintainedNode
from refengine.incremental.algebra.operators import MaintainedFilter
from refengine.incremental.algebra.semijoins import MaintainedExists
from refengine.incremental.algebra.subselects import MaintainedSelection
from refengine.incremental.algebra.substitution import has_exists, split_pattern
from refengine.incremental.coverage import NotCovered
from refengine.sparql.algebra import Call, Exists, Expression, Join, Pattern, Variable, conjuncts


class FilterBuilder:
    """A builder of filters around nodes. `build` makes the node of a pattern. Each method takes a
    node with the pattern whose solutions it has.
    """

    def __init__(self, build: Callable[[Pattern], MaintainedNode]) -> None:
        self.build = build
        self.numbers = count()  # of the tests

    def filter(
        self, node: MaintainedNode, pattern: Pattern, condition: Expression
    ) -> MaintainedNode:
        """Return a node under a filter, which asks its conjuncts without EXISTS first. Raises
        NotCovered.
        """
        conditions, tests = split_conjuncts(condition)
        if conditions:
            node = MaintainedFilter(node, Call("&&", tuple(conditions)))
        names = node.names
        for test in tests:
            node, asked = self.ask_tests(node, pattern, test)
            node = MaintainedFilter(node, asked)
        if tests:
            node = MaintainedSelection(node, names)
        return node

    def ask_tests(
        self, node: MaintainedNode, pattern: Pattern, expression: Expression
    ) -> tuple[MaintainedNode, Expression]:
        """Return a node with one variable more for each EXISTS in an expression, and the expression
        that asks for these. Raises NotCovered.
        """
        match expression:
            case Exists(tested):
                flag = f"exists.{next(self.numbers)}"
                return self._add_test(node, pattern, tested, flag), Call("BOUND", (Variable(flag),))
            case Call(name, arguments):
                asked = []
                for argument in arguments:
                    node, part = self.ask_tests(node, pattern, argument)
                    asked.append(part)
                return node, Call(name, tuple(asked))
            case _:
                return node, expression

    def _add_test(
        self, node: MaintainedNode, pattern: Pattern, tested: Pattern, flag: str
    ) -> MaintainedNode:
        """Return a node with one variable more, which is bound where EXISTS holds for the pattern
        that is tested.
        """
        outer = {name for name in node.names if not Variable(name).is_hidden}
        conditions, inner = split_pattern(tested, outer)
        right = self.build(inner)
        if may_compute(pattern):
            node = MaintainedPlainTerms(node, outer & {*right.names})
        left, right = check_operands([node, right], [pattern, inner])
        if not conditions:
            return MaintainedExists(left, right, flag)
        for name in right.names:
            if name in outer and name not in left.certain:
                raise NotCovered(f"EXISTS with a filter, where ?{name} may be unbound outside")
        condition = Call("&&", conditions)
        return MaintainedExistsWithFilter(
            left,
            right,
            flag,
            lambda joined: self.filter(joined, Join((pattern, inner)), condition),
            equalities_between(condition, left, right),
        )


def split_conjuncts(condition: Expression) -> tuple[list[Expression], list[Expression]]:
    """Return the conjuncts of a condition without EXISTS, and those with it."""
    plain: list[Expression] = []
    with_exists: list[Expression] = []
    for part in conjuncts(condition):
        if has_exists(part):
            with_exists.append(part)
        else:
            plain.append(part)
    return plain, with_exists
