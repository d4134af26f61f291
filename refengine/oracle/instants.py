"""§11 Where a recording parts from a semantics whose outputs at one instant come in an unknown
order (ORA-9).

The sum of an instant's outputs does not depend on the order (ORA-5). So recorded relations are
dealt to instants, and each instant's relations, summed, are held against its rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple

from refengine.core import r2s, window
from refengine.model import compare
from refengine.model.elements import Bag
from refengine.model.errors import Unsupported, require
from refengine.oracle.answers import AnswerTable
from refengine.oracle.comparison import Distance, Divergence
from refengine.oracle.orders.groups import EvaluationGroup, OrderSearch, group_evaluations
from refengine.oracle.orders.sums import find_fixed_sum
from refengine.oracle.trial import RecordedAnswer, Trial

STATES = 20_000  # ways of dealing relations to instants that are looked at
APART = 10**6  # more than there are instants
SPARE = 3  # rows that an instant's relations may have too many, beside those of one relation


class InstantSum(NamedTuple):
    """The rows that all outputs of one instant have together, and the group of which they are."""

    group: EvaluationGroup
    rows: Bag


class Dealt(NamedTuple):
    """An instant's recorded relations: those from `first` up to, not including, `stop`, and in how
    many rows they differ.
    """

    instant: InstantSum
    first: int
    stop: int
    cost: int


def find_divergence_by_sums(recorded: RecordedAnswer, trial: Trial, answers: AnswerTable) -> Trial:
    """ORA-9: replace the divergence of a failed search over orders by the first instant whose rows,
    summed, are wrong.

    Returns the trial unchanged if a sum depends on the order or is out of reach, if dealing takes
    too long, or if all are right.
    """
    planned = answers.plan_of(recorded, trial.semantics)
    try:
        sums = sum_each_instant(OrderSearch(recorded, planned, answers))
    except Unsupported:
        return trial
    if sums is None:
        return trial
    dealt, cost = _deal(recorded, sums)
    wrong = next((one for one in dealt or () if one.cost), None)
    if wrong is None:
        return trial

    group, rows = wrong.instant
    actual: Bag = Counter()
    for relation in recorded.rows[wrong.first : wrong.stop]:
        actual += relation
    view = planned.views[0]
    where = Divergence(
        wrong.first,
        group.last_evaluation.t,
        window.opening(view, group.last_evaluation.windows[0].n),
        tuple(view.elements[i] for i in group.content),
        rows,
        actual,
        "the answers of this instant differ",
        cost=Distance(cost, cost),
    )
    return replace(trial, divergence=where)


def sum_each_instant(search: OrderSearch) -> list[InstantSum] | None:
    """Return the sums of the instants that have rows, in order; None where one depends on the order
    of arrival.
    """
    found: list[InstantSum] = []
    base: Bag = Counter()
    for group in group_evaluations(search):
        if group.arriving_elements:
            rows = find_fixed_sum(search, group, base)
            if rows is None:
                return None
            base = search.answer(group.whole)
        else:
            now = search.answer(group.kept_elements)
            rows = r2s.relation_to_stream(search.operator, now, base)
            base = now
        if rows:
            found.append(InstantSum(group, rows))
    return found


def _deal(recorded: RecordedAnswer, sums: list[InstantSum]) -> tuple[list[Dealt] | None, int]:
    """Deal the recorded relations to the instants, in order, so that the fewest rows differ; and
    say how many do.

    None where that takes more than STATES ways to look at. An instant is dealt at most SPARE rows
    more than it has, and one relation.

    What is missing of the first instant, or of the last, costs nothing where an output may be
    missing at that end.
    """
    relations = recorded.rows
    reached: dict[tuple[int, int], tuple[int, tuple[int, int] | None]] = {(0, 0): (0, None)}
    heap = [(0, 0, 0)]
    done: set[tuple[int, int]] = set()
    while heap and len(reached) <= STATES:
        cost, number, first = heappop(heap)
        if (number, first) in done:
            continue
        done.add((number, first))
        if number == len(sums):
            if first == len(relations):
                return _dealt(recorded, sums, reached), cost // APART
            following = [
                (number, len(relations), sum(1 + rows.total() for rows in relations[first:]))
            ]
        else:
            following = [
                (number + 1, stop, more) for stop, more in _groups(recorded, sums, number, first)
            ]
        for after, stop, rows in following:
            more = rows * APART + (rows > 0)  # of equally many rows, those of fewer instants
            known = reached.get((after, stop))
            if known is None or cost + more < known[0]:
                reached[after, stop] = (cost + more, (number, first))
                heappush(heap, (cost + more, after, stop))
    return None, 0


def _groups(
    recorded: RecordedAnswer, sums: list[InstantSum], number: int, first: int
) -> list[tuple[int, int]]:
    """Return where an instant's relations may end that begin at `first`, each with the number of
    rows in which they differ from its own.
    """
    expected, relations = sums[number].rows, recorded.rows
    found = []
    actual: Bag = Counter()
    for stop in range(first, len(relations) + 1):
        if stop > first:
            if actual.total() > expected.total() + SPARE:
                break
            actual = actual + relations[stop - 1]
        lacking, surplus = compare.difference(expected, actual, recorded.mode)
        at_begin = number == 0 and recorded.missing.before > 0
        at_end = number == len(sums) - 1 and recorded.missing.after > 0 and stop == len(relations)
        differing = surplus.total()
        if not (at_begin or at_end):
            differing += lacking.total()
        found.append((stop, differing))
    return found


def _dealt(
    recorded: RecordedAnswer,
    sums: list[InstantSum],
    reached: dict[tuple[int, int], tuple[int, tuple[int, int] | None]],
) -> list[Dealt]:
    """Return the way back from all relations dealt to none, turned around."""
    found: list[Dealt] = []
    state = (len(sums), len(recorded.rows))
    while state != (0, 0):
        cost, came_from = reached[state]
        before = require(came_from)
        if before[0] < state[0]:
            found.append(
                Dealt(sums[before[0]], before[1], state[1], (cost - reached[before][0]) // APART)
            )
        state = before
    return found[::-1]
