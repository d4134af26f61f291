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
from refengine.sparql.algebra import (
    Basic,
    Distinct,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Reduced,
    Repeated,
    Slice,
    TriplePattern,
    Union,
    Values,
    all_variables,
    conjuncts,
    walk,
)


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
    if isinstance(pattern, Filter):
        inner = pattern.pattern
        for part in conjuncts(pattern.condition):
            if outer & names_in(part) <= always_bound(inner):
                inner = Filter(part, inner)
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


def always_bound(pattern: Pattern) -> set[str]:
    """Return variables that every solution of a pattern binds; of a group, none is known."""
    match pattern:
        case Basic():
            return names_in(pattern)
        case Join(parts):
            return set().union(*map(always_bound, parts))
        case Union(parts):
            return set.intersection(*map(always_bound, parts))
        case Graph(name, inner):
            return names_in(name) | always_bound(inner)
        case Project(inner, variables):
            return always_bound(inner) & names_in(variables)
        case Values():
            return _full_columns(pattern)
        case LeftJoin(inner, _, _) | Minus(inner, _) | Filter(_, inner) | Extend(inner, _):
            return always_bound(inner)
        case Distinct(inner) | Reduced(inner) | OrderBy(inner, _) | Slice(inner, _, _):
            return always_bound(inner)
        case _:
            return set()


def _full_columns(values: Values) -> set[str]:
    """Return the variables that every row of VALUES binds."""
    columns = enumerate(values.variables)
    return {
        variable.name
        for place, variable in columns
        if all(row[place] is not None for row in values.rows)
    }


def _check_substitution(pattern: Pattern, outer: Set[str]) -> None:
    """Raise NotCovered unless the solutions of a pattern that are compatible with an outer one are
    those that substitution gives.
    """
    match pattern:
        case Basic(triples):
            paths = tuple(filter(_may_take_no_step, triples))
            _refuse(outer & names_in(paths), "in a path that may have no steps")
        case Join(parts) | Union(parts):
            for part in parts:
                _check_substitution(part, outer)
        case Graph(_, inner):
            _check_substitution(inner, outer)
        case LeftJoin(left, right, condition):
            looked_at = names_in(right) | names_in(condition)
            _refuse(outer & looked_at - always_bound(left), "in an OPTIONAL")
            _check_substitution(left, outer)
            _check_substitution(right, outer)
        case Filter(condition, inner):
            _refuse(outer & names_in(condition) - always_bound(inner), "in an inner filter")
            _check_substitution(inner, outer)
        case Extend(inner, bindings):
            bound, looked_at = map(names_in, zip(*bindings, strict=True))
            _refuse(outer & bound, "bound by BIND")
            _refuse(outer & looked_at - always_bound(inner), "in BIND")
            _check_substitution(inner, outer)
        case Minus(left, right):
            _refuse(outer & names_in(right), "in MINUS")
            _check_substitution(left, outer)
        case Values(variables, _):
            _refuse(outer & names_in(variables), "in VALUES")
        case _:
            _refuse(outer & names_in(pattern), "in a subselect")


def _may_take_no_step(triple: TriplePattern) -> bool:
    """Return whether a triple pattern has `?` or `*`, by which a term reaches itself. In the place
    of a variable that is a node of the graph, else any term.
    """
    return any(isinstance(part, Repeated) and not part.least for part in walk(triple.predicate))


def _refuse(names: Iterable[str], place: str) -> None:
    """Raise NotCovered if there are any variables from outside at a place within EXISTS."""
    for name in sorted(names):
        raise NotCovered(f"EXISTS with ?{name} from outside {place}")
