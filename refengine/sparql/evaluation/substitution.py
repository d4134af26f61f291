"""EXISTS (SPARQL 1.1 §18.6): its pattern with the variables replaced that the current solution
binds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.sparql import algebra
from refengine.sparql.algebra import (
    Call,
    Expression,
    Pattern,
    TriplePattern,
    Variable,
    all_variables,
    visible,
)
from refengine.sparql.values import Computed, boolean

T = TypeVar("T")


def substitute(pattern: Pattern, solution: Mapping[str, Term]) -> Pattern:
    """R2R-19: Replace the variables that a solution binds, in a pattern and its expressions.

    Raises NoSingleAnswer where the recommendation's substitution has no agreed meaning: for a bound
    variable that BIND or VALUES binds, too, or that stands anywhere in a subquery or on both sides
    of MINUS; and for a computed number in a triple pattern.
    """
    match pattern:
        case algebra.Basic(triples):
            return algebra.Basic(tuple(fill_triple(pattern, solution) for pattern in triples))
        case algebra.Join(parts):
            return algebra.Join(tuple(substitute(part, solution) for part in parts))
        case algebra.Union(parts):
            return algebra.Union(tuple(substitute(part, solution) for part in parts))
        case algebra.LeftJoin(left, right, condition):
            return algebra.LeftJoin(
                substitute(left, solution),
                substitute(right, solution),
                replace_in_condition(condition, solution),
            )
        case algebra.Filter(condition, inner):
            return algebra.Filter(
                replace_in_expression(condition, solution), substitute(inner, solution)
            )
        case algebra.Graph(name, inner, of_windows):
            return algebra.Graph(fill(name, solution), substitute(inner, solution), of_windows)
        case algebra.Extend(inner, bindings):
            refuse_bound((variable.name for variable, _ in bindings), solution, "BIND")
            replaced = [
                (variable, replace_in_expression(part, solution)) for variable, part in bindings
            ]
            return algebra.Extend(substitute(inner, solution), tuple(replaced))
        case algebra.Minus(left, right):
            refuse_bound(visible(left).keys() & visible(right).keys(), solution, "MINUS")
            return algebra.Minus(substitute(left, solution), substitute(right, solution))
        case algebra.Values(variables, _):
            refuse_bound((variable.name for variable in variables), solution, "VALUES")
            return pattern
        case _:
            inside = (variable.name for variable in all_variables(pattern))
            refuse_bound(inside, solution, "a subquery")
            return pattern


def fill_triple(pattern: TriplePattern, solution: Mapping[str, Term]) -> TriplePattern:
    """Return a triple pattern with the terms of a solution for its variables; a path has none."""
    subject, predicate, object_ = pattern
    return TriplePattern(
        fill(subject, solution), fill(predicate, solution), fill(object_, solution)
    )


def fill(part: T, solution: Mapping[str, Term]) -> T | Term:
    """Return the term that a solution binds a part of a pattern to, if the part is a variable;
    else the part. Raises NoSingleAnswer for a computed number.
    """
    if not isinstance(part, Variable) or part.name not in solution:
        return part
    term = solution[part.name]
    if isinstance(term, Computed):
        raise NoSingleAnswer("a computed number within EXISTS")
    return term


def replace_in_condition(
    condition: Expression | None, solution: Mapping[str, Term]
) -> Expression | None:
    """Replace the variables of a condition, if there is one."""
    if condition is None:
        return None
    return replace_in_expression(condition, solution)


def replace_in_expression(expression: Expression, solution: Mapping[str, Term]) -> Expression:
    """Replace the variables of an expression. BOUND of one that is bound becomes true."""
    match expression:
        case Variable(name):
            return solution.get(name, expression)
        case Call("BOUND", (Variable(name),)) if name in solution:
            return boolean(True)
        case Call(name, arguments):
            return Call(name, tuple(replace_in_expression(part, solution) for part in arguments))
        case algebra.Exists(pattern):
            return replace(expression, pattern=substitute(pattern, solution))
        case algebra.Aggregate():
            argument = replace_in_condition(expression.argument, solution)
            return replace(expression, argument=argument)
        case _:
            return expression


def refuse_bound(names: Iterable[str], solution: Mapping[str, Term], place: str) -> None:
    """Raise NoSingleAnswer if a solution binds one of some variables, which stand at a place within
    EXISTS.
    """
    if bound := sorted(set(names) & solution.keys()):
        raise NoSingleAnswer(
            f"EXISTS with ?{bound[0]} bound outside and in {place} inside, "
            "for which substitution has no agreed meaning"
        )
