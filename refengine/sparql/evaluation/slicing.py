"""ORDER BY with LIMIT and OFFSET (SPARQL 1.1 §15.4, §15.5), where the order leaves no choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from refengine.model.errors import NoSingleAnswer
from refengine.sparql.algebra import (
    Distinct,
    Expression,
    OrderBy,
    Pattern,
    Project,
    Reduced,
    Slice,
    Variable,
)
from refengine.sparql.evaluation.duplicates import first_occurrences
from refengine.sparql.evaluation.run import Run, Solution
from refengine.sparql.expressions import LabelledNodes
from refengine.sparql.naming import name_solution
from refengine.sparql.order import Keys, check_border, sort_indices
from refengine.sparql.values import Unknown


@dataclass(frozen=True)
class OrderBelow:
    """What stands below LIMIT and OFFSET: a pattern, the conditions that order its solutions, the
    variables that are left of them (None: all), and whether DISTINCT or REDUCED comes last.
    """

    pattern: Pattern
    conditions: tuple[tuple[Expression, bool], ...]
    variables: tuple[Variable, ...] | None
    is_distinct: bool
    is_reduced: bool

    @property
    def descending(self) -> list[bool]:
        """Whether each of the conditions is descending."""
        return [is_descending for _, is_descending in self.conditions]


def order_below(bounds: Slice) -> OrderBelow:
    """Return what stands below LIMIT and OFFSET."""
    inner = bounds.pattern
    is_distinct = isinstance(inner, Distinct)
    is_reduced = isinstance(inner, Reduced)
    if isinstance(inner, Distinct | Reduced):
        inner = inner.pattern
    variables = None
    if isinstance(inner, Project):
        variables = inner.variables
        inner = inner.pattern
    conditions: tuple[tuple[Expression, bool], ...] = ()
    if isinstance(inner, OrderBy):
        conditions = inner.conditions
    return OrderBelow(inner, conditions, variables, is_distinct, is_reduced)


def cut(
    run: Run, bounds: Slice, order: OrderBelow, solutions: Sequence[Solution]
) -> list[Solution]:
    """R2R-20: Return what LIMIT and OFFSET leave (§15.4, §15.5), where the order leaves no choice.
    Raises NoSingleAnswer where ORDER BY lets other solutions stand there.
    """
    rows, keys = put_in_order(run, solutions, order)
    if order.variables is not None:
        rows = project(rows, order.variables)
    if order.is_distinct or order.is_reduced:
        rows, keys = once_in_order(run, rows, keys, order.is_reduced)
    start = bounds.offset
    end = len(rows)
    if bounds.limit is not None:
        end = min(end, start + bounds.limit)
    if start < end:
        check_border(keys, rows, start, order.descending, run.budget.spend)
        check_border(keys, rows, end, order.descending, run.budget.spend)
    return list(rows[start:end])


def put_in_order(
    run: Run, solutions: Sequence[Solution], order: OrderBelow
) -> tuple[list[Solution], list[Keys]]:
    """Return solutions in one of the orders that ORDER BY allows, and the results of its conditions
    for each. Raises NoSingleAnswer where one of those is unknown.
    """
    run.budget.spend(len(solutions) * len(order.conditions))
    keys = [keys_of(run, solution, order.conditions) for solution in solutions]
    results = chain.from_iterable(keys)
    if unknown := next((result for result in results if isinstance(result, Unknown)), None):
        raise NoSingleAnswer(f"ORDER BY a value that has no single answer ({unknown.kind})")
    indices = sort_indices(keys, order.descending)
    return [solutions[index] for index in indices], [keys[index] for index in indices]


def keys_of(run: Run, solution: Solution, conditions: Iterable[tuple[Expression, bool]]) -> Keys:
    """Return the results of ORDER BY's conditions for a solution."""
    return tuple(
        [
            run.expressions.result(part, solution, LabelledNodes(("ORDER BY", part)))
            for part, _ in conditions
        ]
    )


def once_in_order(
    run: Run, rows: Sequence[Solution], keys: Sequence[Keys], is_reduced: bool
) -> tuple[list[Solution], list[Keys]]:
    """Return each row once, with its results of ORDER BY. Raises NoSingleAnswer where REDUCED meets
    a row twice, and where rows that are the same differ in those results.
    """
    firsts = first_occurrences(run, rows)
    unique = [index for index, first in enumerate(firsts) if index == first]
    again = [index for index, first in enumerate(firsts) if index != first]
    if is_reduced and again:
        raise NoSingleAnswer(
            f"REDUCED leaves open how often a solution is there ({name_solution(rows[again[0]])})"
        )
    for index in again:
        if keys[index] != keys[firsts[index]]:
            raise NoSingleAnswer(
                "LIMIT after DISTINCT, where equal solutions have several places in the order "
                f"({name_solution(rows[index])})"
            )
    return [rows[index] for index in unique], [keys[index] for index in unique]


def project(solutions: Iterable[Solution], variables: Sequence[Variable]) -> list[Solution]:
    """Return solutions with some of their variables alone."""
    names = [variable.name for variable in variables]
    return [{name: solution[name] for name in names if name in solution} for solution in solutions]
