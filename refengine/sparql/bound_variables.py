"""§7 Which variables every solution of a pattern binds, whatever the data."""

from __future__ import annotations

from collections.abc import Iterable

from refengine.sparql import algebra
from refengine.sparql.algebra import Expression, Pattern, Variable, visible


def always_bound(pattern: Pattern) -> set[str]:
    """Return the names of the variables that every solution of a pattern binds. Of BIND, of `AS`
    and of aggregates none is known.
    """
    match pattern:
        case algebra.Basic():
            return set(visible(pattern))
        case algebra.Join(parts):
            return set().union(*map(always_bound, parts))
        case algebra.Union(parts):
            return set.intersection(*map(always_bound, parts))
        case algebra.Graph(Variable() as name, inner):
            return {name.name} | always_bound(inner)
        case algebra.Values():
            return _full_columns(pattern)
        case algebra.Project(inner, variables):
            return always_bound(inner) & {variable.name for variable in variables}
        case algebra.Group(inner, keys, _):
            return always_bound(inner) & _plain_keys(keys or ())
        case algebra.LeftJoin(inner, _, _) | algebra.Minus(inner, _):
            return always_bound(inner)
        case _:
            return always_bound(pattern.pattern)


def _full_columns(values: algebra.Values) -> set[str]:
    """Return the variables to which VALUES gives a term in every row."""
    return {
        variable.name
        for place, variable in enumerate(values.variables)
        if all(cells[place] is not None for cells in values.rows)
    }


def _plain_keys(keys: Iterable[tuple[Variable, Expression]]) -> set[str]:
    """Return the keys of a group that are variables of its pattern, as they stand."""
    return {variable.name for variable, key in keys if variable == key}
