"""Distinct and Reduced (SPARQL 1.1 §18.5): which solutions are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from refengine.model.elements import Row
from refengine.sparql.evaluation.run import Run, Solution
from refengine.sparql.naming import name_solution
from refengine.sparql.values import same


def keep_distinct(run: Run, solutions: Sequence[Solution]) -> list[Solution]:
    """Return each solution once (§18.5, Distinct)."""
    return [
        solutions[index]
        for index, first in enumerate(first_occurrences(run, solutions))
        if index == first
    ]


def reduce_solutions(run: Run, solutions: list[Solution]) -> list[Solution]:
    """Return each solution at least once and at most as often as it is there, which is the
    evaluator's choice (§18.5, Reduced).
    """
    copies = Counter(first_occurrences(run, solutions))
    choose = run.choose_anew()
    reduced: list[Solution] = []
    for first, most in copies.items():
        reason = "REDUCED leaves open how often a solution is there"
        if most > 1:
            reason += f" ({name_solution(solutions[first])})"
        times = choose(first, range(most, 0, -1), reason)
        reduced += [solutions[first]] * times
    return reduced


def first_occurrences(run: Run, solutions: Iterable[Solution]) -> list[int]:
    """Return for each solution the index of the first one that is the same."""
    firsts: dict[Row, int] = {}
    indices = []
    for index, solution in enumerate(solutions):
        key = tuple(sorted(solution.items()))
        if run.has_computed:
            key = key_of_same_solution(run, key, firsts)
        indices.append(firsts.setdefault(key, index))
    return indices


def key_of_same_solution(run: Run, key: Row, keys: Iterable[Row]) -> Row:
    """Return the key among some others that is of the same solution; the key itself if there is
    none yet. A key has a solution's variables and terms, sorted. Raises NoSingleAnswer where it is
    open whether two are the same.
    """
    for other in keys:
        run.budget.spend(1)
        has_same_names = [name for name, _ in key] == [name for name, _ in other]
        if has_same_names and all(
            same(one[1], two[1]) for one, two in zip(key, other, strict=True)
        ):
            return other
    return key
