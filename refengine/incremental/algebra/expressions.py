"""SPARQL's expressions, compiled to functions of a solution, as the definition has them (§7, R2R-11
to R2R-13). NotCovered is raised for the others: of a form when it is compiled, of a value when it
is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Inexact

from refengine.incremental.algebra.decimals import compile_exact_comparison
from refengine.incremental.algebra.numbers import (
    check_computed,
    compare_numbers,
    do_arithmetic,
    number_of,
)
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, parse_literal
from refengine.sparql.algebra import Call, Expression, Variable
from refengine.sparql.values import Computed, Number

# A solution by slot; None is unbound
Terms = Sequence[Term | None]

# Whether a condition holds of a solution; None is an error, such as that of an unbound variable
Condition = Callable[[Terms], bool | None]

# What an expression gives: a term, or the number that arithmetic comes to; None is an error
Operand = Callable[[Terms], Term | Number | None]

# How its operands stand to each other where a relation holds: less (-1), equal (0), greater (1)
SIGNS = {"=": (0,), "!=": (-1, 1), "<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1)}


def compile_condition(expression: Expression, slots: Mapping[str, int]) -> Condition:
    """Return an expression as a condition on solutions. `slots` has the slot of each variable.

    The condition gives an error only of an unbound variable, and raises NotCovered for what else
    the definition calls an error, and where it has no single answer. Raises NotCovered for an
    expression that is not covered.
    """
    match expression:
        case Call("&&", arguments):
            return _all_of([compile_condition(part, slots) for part in arguments])
        case Call("||", arguments):
            return _any_of([compile_condition(part, slots) for part in arguments])
        case Call("!", (argument,)):
            return _not(compile_condition(argument, slots))
        case Call("BOUND", (Variable(name),)):
            slot = slots[name]
            return lambda terms: terms[slot] is not None
        case Call(name, (left, right)) if name in SIGNS:
            return _compile_relation(name, left, right, slots)
        case _:
            raise NotCovered("a condition of another form")


def _not(inner: Condition) -> Condition:
    def negated(terms: Terms) -> bool | None:
        holds = inner(terms)
        if holds is None:
            return None
        return not holds

    return negated


def _all_of(parts: list[Condition]) -> Condition:
    """Return the conjunction: false if a part is, else an error if a part is. All parts are asked,
    since one without a single answer leaves the whole without.
    """

    def all_hold(terms: Terms) -> bool | None:
        results = [part(terms) for part in parts]
        if False in results:
            return False
        return None if None in results else True

    return all_hold


def _any_of(parts: list[Condition]) -> Condition:
    """Return the disjunction: true if a part is, else an error if a part is. All parts are
    asked.
    """

    def any_holds(terms: Terms) -> bool | None:
        results = [part(terms) for part in parts]
        if True in results:
            return True
        return None if None in results else False

    return any_holds


def _compile_relation(
    name: str, left: Expression, right: Expression, slots: Mapping[str, int]
) -> Condition:
    """Return a comparison. Where its operands are computed, it is asked as one of exact decimals
    first. Raises NotCovered.
    """
    relation = _relation(SIGNS[name], _compile_operand(left, slots), _compile_operand(right, slots))
    try:
        exact_comparison = compile_exact_comparison(name, left, right, slots)
    except NotCovered:
        return relation

    def holds(terms: Terms) -> bool | None:
        try:
            return exact_comparison(terms)
        except (Inexact, NotCovered):
            return relation(terms)

    return holds


def _compile_operand(expression: Expression, slots: Mapping[str, int]) -> Operand:
    """Return the function that gives an operand's term or number. Raises NotCovered."""
    match expression:
        case Variable(name):
            slot = slots[name]
            return lambda terms: terms[slot]
        case str():
            return lambda terms: expression
        case Call("+" | "-" | "*" as sign, (left, right)):
            return _arithmetic(sign, _compile_operand(left, slots), _compile_operand(right, slots))
        case Call("unary -", (argument,)):
            return _negative(_compile_operand(argument, slots))
        case _:
            raise NotCovered("an operand of another form")


def _arithmetic(sign: str, left: Operand, right: Operand) -> Operand:
    def calculated(terms: Terms) -> Number | None:
        a = left(terms)
        b = right(terms)
        if a is None or b is None:
            return None
        return do_arithmetic(sign, _number_needed(a), _number_needed(b))

    return calculated


def _negative(inner: Operand) -> Operand:
    def negated(terms: Terms) -> Number | None:
        operand = inner(terms)
        if operand is None:
            return None
        number = _number_needed(operand)
        return check_computed(number._replace(value=-number.value))

    return negated


def _number_needed(operand: Term | Number) -> Number:
    number = _number_if_any(operand)
    if number is None:
        raise NotCovered("arithmetic of what is no number")
    return number


def _number_if_any(operand: Term | Number) -> Number | None:
    if isinstance(operand, Number):
        return operand
    if isinstance(operand, Computed):
        return operand.number
    return number_of(operand)


def _relation(signs: tuple[int, ...], left: Operand, right: Operand) -> Condition:
    is_equality = signs in (SIGNS["="], SIGNS["!="])

    def holds(terms: Terms) -> bool | None:
        a = left(terms)
        b = right(terms)
        if a is None or b is None:
            return None
        return _compare(a, b, is_equality) in signs

    return holds


def _compare(a: Term | Number, b: Term | Number, is_equality: bool) -> int:
    """Return how two operands stand to each other: -1, 0 or 1.

    Numbers are compared by value, plain strings by code points. An IRI or a blank node is equal to
    itself alone, which is enough for `=` and `!=` (`is_equality`). Raises NotCovered for others: of
    some the definition has no single answer.
    """
    x = _number_if_any(a)
    y = _number_if_any(b)
    if x is not None and y is not None:
        return compare_numbers(x, y)
    if isinstance(a, str) and isinstance(b, str):
        are_literals = a.startswith('"') and b.startswith('"')
        if is_equality and not are_literals:
            return int(a != b)
        if _is_plain_string(a) and _is_plain_string(b):
            left = parse_literal(a).lexical
            right = parse_literal(b).lexical
            return (left > right) - (left < right)
    raise NotCovered("comparing terms of two kinds, or of a kind that is not covered")


def _is_plain_string(term: Term) -> bool:
    """Return whether a term is a literal without datatype and language tag."""
    return term.startswith('"') and term.endswith('"')
