"""Grouping and aggregation (SPARQL 1.1 §18.5.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeVar

from refengine.sparql.aggregates import aggregate
from refengine.sparql.algebra import Aggregate, Expression, Group, Variable
from refengine.sparql.evaluation.duplicates import keep_distinct
from refengine.sparql.evaluation.run import Run, Solution
from refengine.sparql.values import ERROR, Computed, Result, boolean, same

Key = TypeVar("Key", bound=tuple[Result, ...])


def group_solutions(run: Run, group: Group, solutions: Sequence[Solution]) -> list[Solution]:
    """Return one solution for each group, with its keys and its aggregates."""
    if group.keys is None:
        return [solution_of_group(run, group, (), solutions)]
    members = members_by_key(run, group.keys, solutions)
    return [solution_of_group(run, group, key, own) for key, own in members.items()]


def members_by_key(
    run: Run, keys: tuple[tuple[Variable, Expression], ...], solutions: Sequence[Solution]
) -> dict[tuple[Result, ...], list[Solution]]:
    """Return the solutions of each group, by the results of the group's keys."""
    members: dict[tuple[Result, ...], list[Solution]] = defaultdict(list)
    operator = ("GROUP BY", keys)
    has_computed = False
    for solution in solutions:
        nodes = run.expressions.nodes_of_solution(operator)
        key = tuple([run.expressions.result(expression, solution, nodes) for _, expression in keys])
        run.budget.spend(len(key) // 8)
        has_computed = has_computed or any(isinstance(term, Computed) for term in key)
        if has_computed:
            key = key_of_same_group(run, key, members)
        members[key].append(solution)
    return members


def solution_of_group(
    run: Run, group: Group, key: tuple[Result, ...], members: Sequence[Solution]
) -> Solution:
    """Return the solution of one group; a key or an aggregate that is an error binds nothing."""
    bound = {
        variable.name: term
        for (variable, _), term in zip(group.keys or (), key, strict=True)
        if term is not ERROR
    }
    for variable, function in group.aggregates:
        result = aggregate_group(run, function, members)
        if result is not ERROR:
            bound[variable.name] = result
    run.has_computed |= any(isinstance(term, Computed) for term in bound.values())
    return bound


def key_of_same_group(run: Run, key: Key, groups: Mapping[Key, object]) -> Key:
    """Return the key among those of the groups that is the same, term by term; the key itself if
    there is none yet. Raises NoSingleAnswer where that is open.
    """
    for other in groups:
        run.budget.spend(1)
        if all(map(is_same_result, key, other)):
            return other
    return key


def is_same_result(one: Result, other: Result) -> bool:
    """Return whether two results are the same term, or both an error."""
    if one is ERROR or other is ERROR:
        return one is other
    return same(one, other)


def aggregate_group(run: Run, function: Aggregate, members: Sequence[Solution]) -> Result:
    """Apply a set function to a group: to its solutions themselves (COUNT(*)), or to an
    expression's results.
    """
    run.budget.spend(len(members))
    argument = function.argument
    if argument is None:
        return count_solutions(run, members, function.is_distinct)
    expressions = run.expressions
    results = [
        expressions.result(argument, solution, expressions.nodes_of_solution(function))
        for solution in members
    ]
    compares_members = function.is_distinct or function.name == "SAMPLE"
    if compares_members and any(isinstance(result, Computed) for result in results):
        # each is compared with those that are known
        run.budget.spend(len(results) * len(set(results)))
    return aggregate(function, results, run.choose_anew())


def count_solutions(run: Run, members: Sequence[Solution], is_distinct: bool) -> Result:
    """Return the number of solutions of a group (COUNT(*))."""
    if is_distinct:
        members = keep_distinct(run, members)
    results = [boolean(True)] * len(members)
    return aggregate(Aggregate("COUNT", None), results, run.choices.choose)
