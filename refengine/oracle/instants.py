"""§11 Where a recording parts from a semantics whose outputs at one instant come in an unknown
order (ORA-9).

The sum of an instant's outputs does not depend on the arrival order (ORA-5). So we deal the
recorded relations to instants, in order, and compare the sum of each instant's relations with the
rows that the semantics gives at that instant. The first instant where the two differ is the
divergence.
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
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.comparison import Distance, Divergence
from refengine.oracle.orders.groups import EvaluationGroup, OrderSearch, group_evaluations
from refengine.oracle.orders.sums import find_fixed_sum
from refengine.oracle.trial import RecordingToJudge, Trial

STATES_BOUND = 20_000  # ways of dealing relations to instants that are looked at
# One differing row costs so much, and one instant with differing rows costs 1: so of two ways with
# equally many differing rows, the one with fewer such instants is cheaper. No stream has so many
# instants.
ROW_COST = 10**6
SPARE_ROWS = 3  # how many rows more than an instant has are dealt to it before it gets no more


class InstantSum(NamedTuple):
    """The rows that all outputs of one instant have together. `group` are the evaluations that give
    them.
    """

    group: EvaluationGroup
    rows: Bag


class InstantShare(NamedTuple):
    """The recorded relations that were dealt to an instant: those from index `first` up to, not
    including, `stop`. `cost` is the number of rows in which they differ from the instant's.
    """

    instant: InstantSum
    first: int
    stop: int
    cost: int


def find_divergence_by_sums(
    recorded: RecordingToJudge, trial: Trial, answers: SharedAnswers
) -> Trial:
    """ORA-9: return a failed search over orders with another divergence: the first instant whose
    recorded rows, summed, are wrong.

    The trial is returned unchanged if a sum depends on the order or is out of reach, if there are
    too many ways to deal relations to instants, or if all sums are right.
    """
    planned = answers.plan_of(recorded, trial.semantics)
    try:
        sums = sum_each_instant(OrderSearch(recorded, planned, answers))
    except Unsupported:
        return trial
    if sums is None:
        return trial
    shares, cost = _deal_relations(recorded, sums)
    wrong = next((share for share in shares or () if share.cost), None)
    if wrong is None:
        return trial

    group, expected = wrong.instant
    actual: Bag = Counter()
    for relation in recorded.rows[wrong.first : wrong.stop]:
        actual += relation
    view = planned.views[0]
    instant_divergence = Divergence(
        wrong.first,
        group.last_evaluation.t,
        window.borders_of_window(view, group.last_evaluation.windows[0].n),
        tuple(view.elements[i] for i in group.content),
        expected,
        actual,
        "the answers of this instant differ",
        cost=Distance(cost, cost),
    )
    return replace(trial, divergence=instant_divergence)


def sum_each_instant(search: OrderSearch) -> list[InstantSum] | None:
    """Return the sum of each instant's outputs, in order. An instant without rows is left out. None
    if some sum depends on the arrival order.
    """
    sums: list[InstantSum] = []
    baseline: Bag = Counter()
    for group in group_evaluations(search):
        if group.arriving_elements:
            rows = find_fixed_sum(search, group, baseline)
            if rows is None:
                return None
            baseline = search.answer(group.whole)
        else:
            now = search.answer(group.kept_elements)
            rows = r2s.relation_to_stream(search.operator, now, baseline)
            baseline = now
        if rows:
            sums.append(InstantSum(group, rows))
    return sums


# A state of dealing: the number of instants that have their relations, and of relations dealt.
_Dealing = tuple[int, int]
# The cheapest way to each state: its cost, and the state before it.
_Ways = dict[_Dealing, tuple[int, _Dealing | None]]


def _deal_relations(
    recorded: RecordingToJudge, sums: list[InstantSum]
) -> tuple[list[InstantShare] | None, int]:
    """Deal the recorded relations to the instants, in order, so that the fewest rows differ. Return
    the share of each instant, and the number of differing rows.

    It is a search for a cheapest way, by Dijkstra's algorithm. None is returned where it reaches
    more than STATES_BOUND states. What the first instant lacks costs nothing if an output may be
    missing before the recording, and so does what the last instant lacks if one may be missing
    after it. Relations that are left after the last instant cost one, and their rows, each.
    """
    start = (0, 0)
    ways: _Ways = {start: (0, None)}
    heap = [(0, start)]
    visited: set[_Dealing] = set()
    end = (len(sums), len(recorded.rows))
    while heap and len(ways) <= STATES_BOUND:
        cost, state = heappop(heap)
        if state in visited:
            continue
        visited.add(state)
        if state == end:
            return _trace_back(sums, end, ways), cost // ROW_COST

        for following, rows in _next_states(recorded, sums, state):
            more = rows * ROW_COST + (rows > 0)
            known = ways.get(following)
            if known is None or cost + more < known[0]:
                ways[following] = (cost + more, state)
                heappush(heap, (cost + more, following))
    return None, 0


def _next_states(
    recorded: RecordingToJudge, sums: list[InstantSum], state: _Dealing
) -> list[tuple[_Dealing, int]]:
    """Return the states that dealing one more instant leads to, each with the number of rows that
    differ there. After the last instant all relations that are left are too many.
    """
    number, first = state
    relations = recorded.rows
    if number == len(sums):
        left = sum(1 + rows.total() for rows in relations[first:])
        return [((number, len(relations)), left)]
    ends = _possible_ends(recorded, sums, number, first)
    return [((number + 1, stop), differing) for stop, differing in ends]


def _possible_ends(
    recorded: RecordingToJudge, sums: list[InstantSum], number: int, first: int
) -> list[tuple[int, int]]:
    """Return where the relations of instant `number` may end if they begin at `first`. Each end
    comes with the number of rows in which these relations differ from the instant's.
    """
    expected = sums[number].rows
    relations = recorded.rows
    ends = []
    actual: Bag = Counter()
    for stop in range(first, len(relations) + 1):
        if stop > first:
            if actual.total() > expected.total() + SPARE_ROWS:
                break
            actual = actual + relations[stop - 1]
        lacking, surplus = compare.difference(expected, actual, recorded.mode)
        is_begin = number == 0 and recorded.missing.before > 0
        is_last = number == len(sums) - 1 and stop == len(relations)
        is_end = is_last and recorded.missing.after > 0
        differing = surplus.total()
        if not (is_begin or is_end):
            differing += lacking.total()
        ends.append((stop, differing))
    return ends


def _trace_back(sums: list[InstantSum], end: _Dealing, ways: _Ways) -> list[InstantShare]:
    """Return the share of each instant on the cheapest way to a state."""
    shares: list[InstantShare] = []
    state = end
    while state != (0, 0):
        cost, came_from = ways[state]
        before = require(came_from)
        is_instant_dealt = before[0] < state[0]
        if is_instant_dealt:
            rows = (cost - ways[before][0]) // ROW_COST
            shares.append(InstantShare(sums[before[0]], before[1], state[1], rows))
        state = before
    return shares[::-1]
