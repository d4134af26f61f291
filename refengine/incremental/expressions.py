"""SPARQL expressions as functions of a solution, as the definition has them (§7, R2R-11 to R2R-13),
and NotCovered for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from refengine.incremental.numbers import NotCovered, bounded, number, operated, order
from refengine.model.elements import Term, parse_literal
from refengine.sparql.algebra import Call, Expression, Var
from refengine.sparql.values import Computed, Number

Solution = Sequence[Term | None]  # by slot; None is unbound
Test = Callable[[Solution], bool | None]  # None: an error, as of what is unbound
SIGNS = {"=": (0,), "!=": (-1, 1), "<": (-1,), ">": (1,), "<=": (-1, 0), ">=": (0, 1)}


def test(expression: Expression, slots: Mapping[str, int]) -> Test:
    """Return a condition as a function. Raises NotCovered for what is not covered.

    The function raises NotCovered where the definition has no single answer. It gives an error only
    of a variable that is unbound.
    """
    match expression:
        case Call("&&" | "||" as name, arguments):
            parts = [test(part, slots) for part in arguments]
            return _all(parts) if name == "&&" else _any(parts)
        case Call("!", (argument,)):
            inner = test(argument, slots)
            return lambda solution: None if (holds := inner(solution)) is None else not holds
        case Call("BOUND", (Var(name),)):
            slot = slots.get(name)
            return lambda solution: slot is not None and solution[slot] is not None
        case Call(name, (left, right)) if name in SIGNS:
            return _related(SIGNS[name], _operand(left, slots), _operand(right, slots))
        case _:
            raise NotCovered(f"{_kind(expression)} as a condition")


def _kind(expression: Expression) -> str:
    match expression:
        case Call(name, _):
            return name
        case Var() | str():
            return "a term"
        case _:
            return type(expression).__name__


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


def _operand(expression: Expression, slots: Mapping[str, int]) -> Operand:
    """Return what gives a term, or the number that arithmetic comes to."""
    match expression:
        case Var(name):
            slot = slots.get(name)
            return (lambda solution: None) if slot is None else (lambda solution: solution[slot])
        case str():
            return lambda solution: expression
        case Call("+" | "-" | "*" as sign, (left, right)):
            return _calculated(sign, _operand(left, slots), _operand(right, slots))
        case Call("unary -", (argument,)):
            inner = _operand(argument, slots)
            return lambda solution: (
                None if (one := inner(solution)) is None else _negated(_numeric(one))
            )
        case Call("/", _):
            raise NotCovered("division")
        case _:
            raise NotCovered(f"{_kind(expression)} in an expression")


def _calculated(sign: str, left: Operand, right: Operand) -> Operand:
    def calculated(solution: Solution) -> Number | None:
        a, b = left(solution), right(solution)
        return None if a is None or b is None else operated(sign, _numeric(a), _numeric(b))

    return calculated


def _negated(found: Number) -> Number:
    return bounded(found._replace(value=-found.value))


def _numeric(what: Term | Number) -> Number:
    found = _number(what)
    if found is None:
        raise NotCovered("arithmetic of what is no number")
    return found


def _number(what: Term | Number) -> Number | None:
    if isinstance(what, Number):
        return what
    return what.number if isinstance(what, Computed) else number(what)


def _related(signs: tuple[int, ...], left: Operand, right: Operand) -> Test:
    def holds(solution: Solution) -> bool | None:
        a, b = left(solution), right(solution)
        return None if a is None or b is None else _sign(a, b, signs) in signs

    return holds


def _sign(a: Term | Number, b: Term | Number, signs: tuple[int, ...]) -> int:
    """Return how two terms stand to each other: numbers by value, plain strings by code points,
    IRIs and blank nodes as the same or not. Raises NotCovered for all others: of some the
    definition has no single answer.
    """
    x, y = _number(a), _number(b)
    if x is not None and y is not None:
        return order(x, y)
    if isinstance(a, str) and isinstance(b, str) and x is None and y is None:
        if not a.startswith('"') and not b.startswith('"') and signs in (SIGNS["="], SIGNS["!="]):
            return int(a != b)
        if a.startswith('"') and b.startswith('"') and a.endswith('"') and b.endswith('"'):
            left, right = parse_literal(a).lexical, parse_literal(b).lexical
            return (left > right) - (left < right)
    raise NotCovered("comparing terms of two kinds, or of a kind that is not covered")
