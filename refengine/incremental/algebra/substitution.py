"""§7 EXISTS as a question for partners: where that is what substitution means (R2R-19).

EXISTS asks for a solution of its pattern with the variables replaced that the outer solution binds
(`sparql.evaluation.substitution`). A maintained pattern has its solutions without that. Those that
are compatible with the outer solution are the same ones, as long as each place where a variable is
replaced also binds it: a triple pattern does. A filter does not, nor does an OPTIONAL around one.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, NamedTuple

from refengine.incremental.coverage import NotCovered
from refengine.sparql import algebra
from refengine.sparql.algebra import (
    Exists,
    Expression,
    Pattern,
    TriplePattern,
    all_variables,
    conjuncts,
    walk,
)
from refengine.sparql.bound_variables import always_bound


class ExistsPattern(NamedTuple):
    """The pattern of EXISTS in two: conditions that look at the outer solution, and the pattern
    within them.
    """

    conditions: tuple[Expression, ...]
    pattern: Pattern


def split_pattern(pattern: Pattern, outer: Set[str]) -> ExistsPattern:
    """Return the pattern of EXISTS without the conditions of its filter that look at the outer
    solution. `outer` are the variables that may be bound there.

    What is left has, for each outer solution, the compatible solutions that substitution gives.
    Raises NotCovered where that is not known.
    """
    conditions: list[Expression] = []
    if isinstance(pattern, algebra.Filter):
        inner = pattern.pattern
        for part in conjuncts(pattern.condition):
            if outer & names_in(part) <= always_bound(inner):
                inner = algebra.Filter(part, inner)
            else:
                conditions.append(part)
        pattern = inner
    _check_substitution(pattern, outer)
    return ExistsPattern(tuple(conditions), pattern)


def has_exists(expression: Expression) -> bool:
    """Return whether an expression has EXISTS in it."""
    return any(isinstance(node, Exists) for node in walk(expression))


def names_in(node: Any) -> set[str]:
    """Return the names of all variables in a node of the algebra."""
    return {variable.name for variable in all_variables(node)}


def _check_substitution(pattern: Pattern, outer: Set[str]) -> None:
    """Raise NotCovered unless the solutions of a pattern that are compatible with an outer one are
    those that substitution gives.
    """
    match pattern:
        case algebra.Basic(triples):
            paths = tuple(filter(_may_take_no_step, triples))
            _refuse(outer & names_in(paths), "in a path that may have no steps")
        case algebra.Join(parts) | algebra.Union(parts):
            for part in parts:
                _check_substitution(part, outer)
        case algebra.Graph(_, inner):
            _check_substitution(inner, outer)
        case algebra.LeftJoin(left, right, condition):
            looked_at = names_in(right) | names_in(condition)
            _refuse(outer & looked_at - always_bound(left), "in an OPTIONAL")
            _check_substitution(left, outer)
            _check_substitution(right, outer)
        case algebra.Filter(condition, inner):
            _refuse(outer & names_in(condition) - always_bound(inner), "in an inner filter")
            _check_substitution(inner, outer)
        case algebra.Extend(inner, bindings):
            bound, looked_at = map(names_in, zip(*bindings, strict=True))
            _refuse(outer & bound, "bound by BIND")
            _refuse(outer & looked_at - always_bound(inner), "in BIND")
            _check_substitution(inner, outer)
        case algebra.Minus(left, right):
            _refuse(outer & names_in(right), "in MINUS")
            _check_substitution(left, outer)
        case algebra.Values(variables, _):
            _refuse(outer & names_in(variables), "in VALUES")
        case _:
            _refuse(outer & names_in(pattern), "in a subselect")


def _may_take_no_step(triple: TriplePattern) -> bool:
    """Return whether a triple pattern has `?` or `*`, by which a term reaches itself. In the place
    of a variable that is a node of the graph, else any term.
    """
    return any(
        isinstance(part, algebra.Repeated) and not part.least for part in walk(triple.predicate)
    )


def _refuse(names: Iterable[str], place: str) -> None:
    """Raise NotCovered if there are any variables from outside at a place within EXISTS."""
    for name in sorted(names):
        raise NotCovered(f"EXISTS with ?{name} from outside {place}")
