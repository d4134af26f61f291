"""Expressions of a body (SPARQL 1.1 §17), with the checks that the grammar cannot make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from lark import Token, Tree

from refengine.model.errors import Unsupported
from refengine.model.messages import nearest
from refengine.sparql.algebra import (
    Aggregate,
    Call,
    Exists,
    Expression,
    Pattern,
    Variable,
    own_parts,
    walk,
)
from refengine.sparql.functions import ARITIES, ARITIES_BY_IRI
from refengine.sparql.translate.terms import TermReader, number_literal
from refengine.sparql.translate.trees import branch, leaf, trees

OPERATORS = {
    "conditional_or": "||",
    "conditional_and": "&&",
    "negation": "!",
    "plus": "unary +",
    "minus_sign": "unary -",
}


class ExpressionReader(TermReader, ABC):
    """The reading of a body's expressions."""

    @abstractmethod
    def group(self, tree: Tree[Token]) -> Pattern:
        """Translate a group graph pattern, that of EXISTS."""

    def expression(self, tree: Tree[Token], with_aggregates: bool = True) -> Expression:
        """Translate an expression; in FILTER, BIND and GROUP BY without aggregates (§11.1, §19.8
        note 13).
        """
        expression = self.operand(tree)
        if not with_aggregates and any(
            isinstance(node, Aggregate) for node in own_parts(expression)
        ):
            raise self.fault(tree, "an aggregate may stand only in SELECT, HAVING and ORDER BY")
        return expression

    def operand(self, tree: Tree[Token]) -> Expression:
        """Translate an expression or a part of one."""
        match tree.data:
            case "var" | "literal":
                return self.term(tree)
            case "conditional_or" | "conditional_and" | "negation" | "plus" | "minus_sign":
                return Call(OPERATORS[tree.data], self.operands(trees(tree)))
            case "comparison":
                left, sign, right = tree.children
                return Call(str(sign), self.operands([left, right]))
            case "membership":
                condition = Call("IN", self.operands([tree.children[0], *trees(branch(tree, -1))]))
                return negate_if(len(tree.children) > 3, condition)
            case "additive_chain" | "multiplicative_chain":
                return self.chain(tree)
            case "signed_number":
                return number_literal(leaf(tree))
            case _:
                return self.primary(tree)

    def primary(self, tree: Tree[Token]) -> Expression:
        """Translate a call, brackets or EXISTS: what is an operand without an operator."""
        match tree.data:
            case "iri_or_function" | "function_call":
                return self.by_iri(tree)
            case "bracketted_expression" | "order_condition":
                return self.operand(trees(tree)[0])
            case "exists":
                inner = self.group(trees(tree)[0])
                condition = Exists(inner, size=sum(1 for _ in walk(inner)))
                return negate_if(len(tree.children) > 2, condition)
            case "builtin_call":
                return self.builtin(tree)
            case "count" | "aggregate" | "group_concat":
                return self.aggregate(tree)
            case _:
                raise AssertionError(tree.data)

    def operands(self, nodes: Iterable[Any]) -> tuple[Expression, ...]:
        """Translate several expressions."""
        return tuple(map(self.operand, nodes))

    def chain(self, tree: Tree[Token]) -> Expression:
        """Translate a chain of sums or products, from left to right. `?x -1` is a sum with the
        number -1 (§19.8 note on [116]).
        """
        left = self.operand(branch(tree, 0))
        sign = "+"
        position = 1
        while position < len(tree.children):
            item = tree.children[position]
            position += 1
            if isinstance(item, Token):
                sign = str(item)
                continue
            operand = self.operand(item)
            if item.data == "signed_number":
                # the products that the number begins bind tighter than the sum
                while position < len(tree.children) and tree.children[position] in ("*", "/"):
                    factor = self.operand(branch(tree, position + 1))
                    operand = Call(str(tree.children[position]), (operand, factor))
                    position += 2
                sign = "+"
            left = Call(sign, (left, operand))
        return left

    def builtin(self, tree: Tree[Token]) -> Call:
        """Translate a call of a function that SPARQL names."""
        token = leaf(tree)
        name = token.upper()
        operands = self.operands(trees(branch(tree, 1)))
        fewest, most = ARITIES[name]
        if len(operands) < fewest or (most is not None and len(operands) > most):
            counts = show_counts(fewest, most)
            raise self.fault(token, f"{name} takes {counts} arguments, got {len(operands)}")
        if name == "BOUND" and not isinstance(operands[0], Variable):
            raise self.fault(token, "BOUND takes a variable")
        return Call(name, operands)

    def by_iri(self, tree: Tree[Token]) -> Expression:
        """Translate an IRI, or a call of a function by its IRI: a cast, or C-SPARQL's timestamp."""
        name, *rest = trees(tree)
        iri = self.iri(leaf(name))
        if not rest:
            return f"<{iri}>"
        if iri not in ARITIES_BY_IRI:
            raise self.fault(
                name,
                f"no function <{iri}> is defined here{nearest(iri, ARITIES_BY_IRI)}",
                Unsupported,
                "R2R-14",
            )
        operands = self.operands(trees(rest[0]))
        if any(isinstance(item, Token) for item in rest[0].children):
            raise self.fault(rest[0], "DISTINCT may stand only in aggregates")
        if len(operands) != ARITIES_BY_IRI[iri]:
            raise self.fault(
                name, f"<{iri}> takes {ARITIES_BY_IRI[iri]} arguments, got {len(operands)}"
            )
        return Call(iri, operands)

    def aggregate(self, tree: Tree[Token]) -> Aggregate:
        """Translate an aggregate."""
        inner = trees(tree)
        operand = None
        if inner and inner[0].data != "string":
            operand = self.expression(inner[0])
        if any(isinstance(node, Aggregate) for node in own_parts(operand)):
            raise self.fault(tree, "an aggregate may not contain another one")
        words = [token for token in tree.children if isinstance(token, Token)]
        name = words[0].upper()
        separator = " "
        if len(inner) > 1:
            separator = self.string(leaf(inner[1]))
        return Aggregate(name, operand, any(word.type == "DISTINCT" for word in words), separator)


def negate_if(is_negated: bool, condition: Expression) -> Expression:
    """Return a condition, or its negation where NOT stands before it."""
    if is_negated:
        return Call("!", (condition,))
    return condition


def show_counts(fewest: int, most: int | None) -> str:
    """Name how many arguments a function takes; None: as many as one likes."""
    if fewest == most:
        return f"{fewest}"
    if most is None:
        return f"{fewest} or more"
    return f"{fewest} to {most}"


def conjunction(conditions: list[Expression]) -> Expression:
    """Return the condition that is true iff all of these are."""
    if len(conditions) == 1:
        return conditions[0]
    return Call("&&", tuple(conditions))


def has_aggregate(expression: Expression) -> bool:
    """Return whether an aggregate stands in an expression, EXISTS left aside."""
    return any(isinstance(node, Aggregate) for node in own_parts(expression))
