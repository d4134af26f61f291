"""Grouped queries (SPARQL 1.1 §11, §18.2.4.1): which variables they may show, and their aggregates
as variables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from lark import Token, Tree

from refengine.model.errors import Unsupported
from refengine.sparql.algebra import (
    Aggregate,
    Call,
    Expression,
    Variable,
    all_variables,
    free_variables,
    own_parts,
)
from refengine.sparql.translate.expressions import has_aggregate
from refengine.sparql.translate.patterns import PatternReader
from refengine.sparql.translate.trees import branch, child, leaf, trees

Keys = tuple[tuple[Variable, Expression], ...]


class OutputColumn(NamedTuple):
    """An expression of SELECT that `AS` gives to a variable, and where it stands."""

    variable: Variable
    expression: Expression
    item: Tree[Token]


@dataclass
class Clauses:
    """What stands around WHERE: the keys of GROUP BY (None where there is none), what SELECT
    computes, the conditions of HAVING, and those of ORDER BY with whether each is descending.
    """

    keys: Keys | None
    outputs: list[OutputColumn]
    having: list[Expression]
    order: list[tuple[Expression, bool]]

    def expressions(self) -> list[Expression]:
        """Return all expressions but the keys."""
        return [
            *(output.expression for output in self.outputs),
            *self.having,
            *(expression for expression, _ in self.order),
        ]

    def are_grouped(self) -> bool:
        """Return whether the query has groups: by GROUP BY, or by an aggregate."""
        return self.keys is not None or any(map(has_aggregate, self.expressions()))

    def lift(self, grouping: Grouping) -> None:
        """Replace the aggregates by variables (§18.2.4.1)."""
        self.outputs = [
            output._replace(expression=grouping.lift(output.expression)) for output in self.outputs
        ]
        self.having = [grouping.lift(part, samples=True) for part in self.having]
        self.order = [
            (grouping.lift(part, samples=True), is_descending) for part, is_descending in self.order
        ]


class ClauseReader(PatternReader):
    """The reading of what stands around a body's WHERE."""

    def clauses(
        self, form: Tree[Token], items: list[Tree[Token]], scope: dict[str, None]
    ) -> Clauses:
        """Translate GROUP BY, SELECT's expressions, HAVING and ORDER BY, in this order. `scope` has
        the variables of WHERE.
        """
        modifier = child(form, "solution_modifier")
        keys = self.keys(child(modifier, "group_clause"), scope)
        outputs = [
            OutputColumn(self.variable(branch(item, -1)), self.expression(branch(item, 0)), item)
            for item in items
            if len(item.children) > 1
        ]
        having = [self.expression(node) for node in trees(child(modifier, "having_clause"))]
        order = [self.order_condition(node) for node in trees(child(modifier, "order_clause"))]
        return Clauses(keys, outputs, having, order)

    def keys(self, clause: Tree[Token] | None, scope: dict[str, None]) -> Keys | None:
        """Translate the conditions of GROUP BY; None where there is none."""
        if clause is None:
            return None
        keys: list[tuple[Variable, Expression]] = []
        for condition in trees(clause):
            inner = trees(condition)
            expression = self.expression(inner[0], with_aggregates=False)
            if len(inner) > 1:
                variable = self.variable(inner[1])
                if variable.name in scope or variable in [other for other, _ in keys]:
                    raise self.fault(
                        condition, f"?{variable.name} is in scope already; give AS another variable"
                    )
            elif isinstance(expression, Variable):
                variable = expression
            else:
                variable = self.fresh("key")
            keys.append((variable, expression))
        return tuple(keys)

    def order_condition(self, tree: Tree[Token]) -> tuple[Expression, bool]:
        """Translate a condition of ORDER BY, with whether it is descending."""
        inner: Tree[Token] | None = tree
        if tree.data == "order_condition":
            inner = child(tree, "directed")
        if inner is None or inner.data != "directed":
            return self.expression(trees(tree)[0]), False
        return self.expression(trees(inner)[0]), leaf(inner).type == "DESC"

    # Checks

    def check_grouped(
        self,
        items: list[Tree[Token]],
        outputs: list[OutputColumn],
        keys: Iterable[tuple[Variable, Expression]],
    ) -> None:
        """Refuse a variable that SELECT shows or computes with but that is neither a key nor within
        an aggregate (§11.4).
        """
        grouped = {variable for variable, _ in keys}
        by_item = {id(output.item): output for output in outputs}
        for item in items:
            output = by_item.get(id(item))
            if output is None:
                used = {self.variable(branch(item, -1))}
            else:
                used = free_variables(output.expression)
            if loose := sorted(used - grouped):
                name = loose[0].name
                reason = (
                    f"?{name} is not grouped; name it in GROUP BY, or aggregate it, such as "
                    f"SAMPLE(?{name})"
                )
                raise self.fault(item, reason)
            if output is not None:
                grouped.add(output.variable)

    def check_aggregates(
        self,
        form: Tree[Token],
        expressions: Iterable[Expression],
        keys: Iterable[tuple[Variable, Expression]],
    ) -> None:
        """Refuse an aggregate over a variable that GROUP BY itself names by AS: evaluators bind it
        before grouping or after.
        """
        named = {variable for variable, expression in keys if variable != expression}
        operands = (
            node.argument
            for part in expressions
            for node in own_parts(part)
            if isinstance(node, Aggregate) and node.argument is not None
        )
        if any(named & free_variables(operand) for operand in operands):
            reason = "an aggregate over a variable that GROUP BY names"
            raise self.fault(form, reason, Unsupported, "QRY-3")

    def check_aliases(
        self,
        having: Iterable[Expression],
        outputs: list[OutputColumn],
        keys: Iterable[tuple[Variable, Expression]],
    ) -> None:
        """Refuse HAVING over a variable that SELECT names by AS: some evaluators know it there, by
        §18.2.4 it is not bound yet.
        """
        items = {output.variable: output.item for output in outputs}
        for variable in sorted(set().union(*map(all_variables, having)) - {key for key, _ in keys}):
            if variable in items:
                reason = (
                    f"HAVING over ?{variable.name}, which SELECT names by AS; write its expression "
                    "in HAVING"
                )
                raise self.fault(items[variable], reason, Unsupported, "QRY-3")


class Grouping:
    """Rewrites the expressions of a grouped query: each aggregate becomes a variable that Group
    binds.
    """

    def __init__(self, clauses: Clauses) -> None:
        keys = {variable for variable, _ in clauses.keys or ()}
        aliases = {output.variable for output in clauses.outputs}
        self.bound = keys | aliases
        self.aggregates: list[tuple[Variable, Aggregate]] = []
        self.variables: dict[Aggregate, Variable] = {}

    def lift(self, expression: Expression, samples: bool = False) -> Expression:
        """Replace the aggregates of an expression by variables.

        With `samples` (HAVING, ORDER BY) each variable that is no key and no alias becomes SAMPLE
        of it, too (§18.2.4.1).
        """
        match expression:
            case Aggregate():
                return self.variable_of(expression)
            case Variable() if samples and expression not in self.bound:
                return self.variable_of(Aggregate("SAMPLE", expression))
            case Call(name, arguments):
                return Call(name, tuple(self.lift(part, samples) for part in arguments))
            case _:
                return expression

    def variable_of(self, aggregate: Aggregate) -> Variable:
        """Return the variable of an aggregate."""
        if aggregate not in self.variables:
            self.variables[aggregate] = Variable(f"aggregate.{len(self.aggregates)}")
            self.aggregates.append((self.variables[aggregate], aggregate))
        return self.variables[aggregate]
