"""SPARQL expressions as functions of a solution: what of them all witnesses answer alike, and Beyond where it is reached otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Identifier, Variable

from refengine.model import Term, parse_literal
from refengine.numbers import Beyond, Number, bounded, number, operated, order
from refengine.sparql.witnesses import from_rdflib

Solution = Sequence[Term | None]  # by slot; None is unbound
Test = Callable[[Solution], bool | None]  # None: an error, as of what is unbound
SIGNS = {"=": (0,), "!=": (-1, 1), "<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1)}


def conjuncts(expression: Any) -> Iterator[Any]:
    """The parts of a filter that must all hold: A && B holds iff both do, errors or not."""
    if isinstance(expression, CompValue) and expression.name == "ConditionalAndExpression":
        for part in (expression.expr, *expression.other):
            yield from conjuncts(part)
    else:
        yield expression


def variables(expression: Any) -> frozenset[str]:
    """The variables that an expression names."""
    if isinstance(expression, Variable):
        return frozenset({str(expression)})
    parts = expression.values() if isinstance(expression, CompValue) else expression if isinstance(expression, list) else ()
    return frozenset().union(*map(variables, parts))


def test(expression: Any, slots: Mapping[str, int]) -> Test:
    """A condition as a function. Raises Beyond for what is not covered."""
    match expression:
        case CompValue(name="ConditionalAndExpression" | "ConditionalOrExpression" as name):
            parts = [test(part, slots) for part in (expression.expr, *expression.other)]
            return _all(parts) if name == "ConditionalAndExpression" else _any(parts)
        case CompValue(name="UnaryNot"):
            inner = test(expression.expr, slots)
            return lambda solution: None if (holds := inner(solution)) is None else not holds
        case CompValue(name="Builtin_BOUND"):
            slot = slots.get(str(expression.arg))
            return lambda solution: slot is not None and solution[slot] is not None
        case CompValue(name="RelationalExpression") if expression.op in SIGNS:
            return _related(SIGNS[expression.op], _operand(expression.expr, slots), _operand(expression.other, slots))
        case CompValue(name="TrueFilter"):
            return lambda solution: True
        case _:
            raise Beyond(f"{getattr(expression, 'name', 'a term')} as a condition")


def _all(parts: list[Test]) -> Test:
    def holds(solution: Solution) -> bool | None:
        found = [part(solution) for part in parts]
        return False if False in found else None if None in found else True

    return holds


def _any(parts: list[Test]) -> Test:
    def holds(solution: Solution) -> bool | None:
        found = [part(solution) for part in parts]
        return True if True in found else None if None in found else False

    return holds


Operand = Callable[[Solution], Term | Number | None]


def _operand(expression: Any, slots: Mapping[str, int]) -> Operand:
    """A term, or the number that arithmetic comes to."""
    match expression:
        case Variable():
            slot = slots.get(str(expression))
            return (lambda solution: None) if slot is None else (lambda solution: solution[slot])
        case Identifier() if not isinstance(expression, BNode):
            term = from_rdflib(expression)
            return lambda solution: term
        case CompValue(name="AdditiveExpression" | "MultiplicativeExpression"):
            first, rest = _operand(expression.expr, slots), [_operand(part, slots) for part in expression.other]
            if "/" in expression.op:
                raise Beyond("division")
            return _calculated(first, list(zip(expression.op, rest, strict=True)))
        case CompValue(name="UnaryMinus"):
            inner = _operand(expression.expr, slots)
            return lambda solution: None if (one := inner(solution)) is None else bounded(Number(_numeric(one).rank, -_numeric(one).value))
        case _:
            raise Beyond(f"{getattr(expression, 'name', 'a term')} in an expression")


def _calculated(first: Operand, rest: list[tuple[str, Operand]]) -> Operand:
    def calculated(solution: Solution) -> Number | None:
        values = [first(solution), *(operand(solution) for _, operand in rest)]
        if None in values:
            return None
        found, *others = map(_numeric, values)
        for (operator, _), other in zip(rest, others, strict=True):
            found = operated(operator, found, other)
        return found

    return calculated


def _numeric(what: Term | Number) -> Number:
    found = what if isinstance(what, Number) else number(what)
    if found is None:
        raise Beyond("arithmetic of what is no number")
    return found


def _related(signs: tuple[int, ...], left: Operand, right: Operand) -> Test:
    def holds(solution: Solution) -> bool | None:
        a, b = left(solution), right(solution)
        return None if a is None or b is None else _sign(a, b, signs) in signs

    return holds


def _sign(a: Term | Number, b: Term | Number, signs: tuple[int, ...]) -> int:
    """How two terms stand to each other: numbers by value, plain strings by code points, IRIs and blank nodes as the same or not."""
    x, y = (one if isinstance(one, Number) else number(one) for one in (a, b))
    if x is not None and y is not None:
        return order(x, y)
    if x is None and y is None:
        if not a.startswith('"') and not b.startswith('"') and signs in (SIGNS["="], SIGNS["!="]):
            return int(a != b)
        if a.startswith('"') and b.startswith('"') and a.endswith('"') and b.endswith('"'):
            left, right = parse_literal(a).lexical, parse_literal(b).lexical
            return (left > right) - (left < right)
    raise Beyond("comparing terms of two kinds, or of a kind that is not covered")
