"""§11 The nearest assignment: the one whose reports, beside the recorded relations, differ in the
fewest rows (ORA-9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from refengine.core.plan import Plan
from refengine.core.values import Closure
from refengine.model import compare
from refengine.model.elements import Bag
from refengine.model.errors import require
from refengine.oracle import divergence
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.attempts import reports_of
from refengine.oracle.comparison import Alignment, Distance, RowDifference
from refengine.oracle.instants import find_divergence_by_sums
from refengine.oracle.t0_classes import run_with_each_t0
from refengine.oracle.trial import RecordingToJudge, Reports, Trial, first_and_last_instant

# How many reports more than may be missing are looked at, before the recording and after it.
SURPLUS_BOUND = 100
# Of how many assignments with equally many differing rows the slips over borders are counted.
TIES_BOUND = 20


class _Candidate(NamedTuple):
    """A failed trial with one alignment: `rows` differ if `before` reports come before the
    recording.

    `number` is the trial's place among the failed ones. `lost` and `repeated` are those of
    Alignment.
    """

    rows: int
    before: int
    number: int
    trial: Trial
    lost: int | None = None
    repeated: int | None = None


def align(recorded: RecordingToJudge, winner: Trial) -> Alignment:
    """Return the alignment in which `winner`, a trial that explains the recording, matches it.

    Where arrival orders were searched, the reports are those for the order of the elements in their
    file: their windows are right, and their rows may be in another order.
    """
    state = require(winner.accepting_state)
    reports = require(winner.reports).first(state.before + state.matched + state.after)
    return Alignment(reports, state.before, len(recorded.relations))


def nearest_trial(
    recorded: RecordingToJudge, failed: Sequence[Trial], answers: SharedAnswers
) -> Trial | None:
    """ORA-9, ORA-11: return the failed assignment that is nearest to the recording, and where the
    two part; None if there is none. One with too many reports is not near to any recording.

    The one with the fewest differing rows is nearest. Of several, up to TIES_BOUND, it is the one
    with the fewest rows that no slip over the edge of a window explains. A recording whose
    relations are all right has no such row, and one that skips a report counts as one.

    The windows that the engine states are compared, too, if `recorded` has them. Then a trial of
    which no report is about the first of them is not compared (ORA-11).
    """
    failed = [trial for trial in failed if not trial.has_too_many_reports]
    candidates: list[_Candidate] = []
    bound: int | None = None  # the fewest differing rows so far
    # Assignments that match many relations come first: they are near, so the bound falls soon.
    order = sorted(range(len(failed)), key=lambda number: (-failed[number].most_matched, number))
    for number in order:
        for candidate in _candidates(recorded, failed[number], number, answers, bound):
            if bound is None or candidate.rows < bound:
                bound = candidate.rows
                candidates = []
            candidates.append(candidate)

    candidates.sort(key=lambda each: (each.number, each.trial.t0_class, each.before))
    trials = [
        _with_divergence(recorded, candidate, answers) for candidate in candidates[:TIES_BOUND]
    ]
    best = min(trials, key=lambda trial: require(trial.divergence).cost, default=None)
    if best is None or best.is_order_known:
        return best
    return find_divergence_by_sums(recorded, best, answers)


def _candidates(
    recorded: RecordingToJudge, trial: Trial, number: int, answers: SharedAnswers, bound: int | None
) -> Iterator[_Candidate]:
    """Yield the alignments of a failed trial in which at most `bound` rows differ (None: any
    number). Those of one value of t0 have no more differing rows one after the other.

    The trial's class holds up to where the trial ended. So its values are run once more, as far as
    an alignment has to be known.
    """
    if trial.divergence is not None:  # arrival orders were searched: there is one alignment
        rows = trial.divergence.cost.rows
        if not _exceeds(rows, bound):
            yield _Candidate(rows, 0, number, trial)
        return

    planned = answers.plan_of(recorded, trial.semantics)
    if not isinstance(trial.semantics.t0, int):
        reports = reports_of(recorded, planned, answers)
        yield from _alignments(recorded, trial, number, reports, bound)
        return

    def run(begun: Plan) -> list[_Candidate]:
        reports = reports_of(recorded, begun, answers)
        return list(_alignments(recorded, trial, number, reports, bound))

    for t0_class, found in run_with_each_t0(planned, trial.t0_class.lo, trial.t0_class.hi, run):
        named = replace(
            trial, semantics=replace(trial.semantics, t0=t0_class.t0), t0_class=t0_class
        )
        for candidate in found:
            bound = candidate.rows
            yield candidate._replace(trial=named)


def _alignments(
    recorded: RecordingToJudge, trial: Trial, number: int, reports: Reports, bound: int | None
) -> Iterator[_Candidate]:
    """Yield the alignments of some reports in which at most `bound` rows differ, each with no more
    differing rows than the one before.
    """
    beside = _Beside(recorded, reports, trial.semantics.closure)
    most_before = recorded.missing.before + SURPLUS_BOUND
    if not recorded.rows:
        most_before = 0  # no relation comes first, so nothing is missing before it
    for before in beside.numbers_before(most_before):
        # Reports before the recording, more than may be missing. Farther on there are only more.
        lost = beside.rows_lost(before - recorded.missing.before)
        if lost is None or _exceeds(lost, bound):
            return
        differing = beside.differing_rows(before, lost, bound)
        if differing is not None:
            bound = differing
            yield _Candidate(differing, before, number, trial)
        for gap in beside.gaps(before, lost):
            if not _exceeds(gap.rows, bound):
                bound = gap.rows
                yield _Candidate(gap.rows, before, number, trial, gap.lost, gap.repeated)
        if reports.get(before) is None:
            return


def _exceeds(rows: int, bound: int | None) -> bool:
    """Whether there are more rows than a bound allows. None is no bound."""
    return bound is not None and rows > bound


class _OneGap(NamedTuple):
    """A recording that is right but for one thing: the report at place `lost` has no relation, or
    the relation at place `repeated` is one too many. `rows` counts the differing rows.
    """

    rows: int
    lost: int | None = None
    repeated: int | None = None


@dataclass(frozen=True)
class _Beside:
    """A recording beside the reports of an assignment. `before`, the number of reports before the
    recording, is tried from 0 up. `closure` is that of the assignment.
    """

    recorded: RecordingToJudge
    reports: Reports
    closure: Closure | None

    def numbers_before(self, most: int) -> Sequence[int]:
        """Return the values of `before` that are tried, up to `most`. If the engine states windows,
        they are those with which the first one that it states is the window of the report beside
        it.
        """
        every = range(most + 1)
        index = next((i for i, window in enumerate(self.recorded.windows) if window), None)
        if index is None:
            return every
        stated = require(self.recorded.stated_window(index, self.closure))
        fitting = []
        for before in every:
            report = self.reports.get(before + index)
            if report is None:
                break
            if report.window is None:
                continue
            instants = require(first_and_last_instant(report.window, self.closure))
            if instants == stated:
                fitting.append(before)
            elif instants[0] > stated[0]:
                break  # windows are reported in the order in which they begin
        return fitting

    def gaps(self, before: int, lost: int) -> Iterator[_OneGap]:
        """Yield the ways in which one lost report, or one relation too many, explains all that is
        wrong. `lost` counts the rows of reports before the recording, as `rows_lost` does.
        """
        rows = self.recorded.rows
        first = self._first_wrong(before)
        report = self.reports.get(before + first)
        if first == 0 or report is None:
            return  # at an end of the recording, outputs are missing and nothing is lost

        # From the first wrong relation on, each is that of the next report.
        if self._are_right(range(first, len(rows)), before + 1):
            cost = lost + 1 + report.relation.rows.total() + self._rows_beyond(before + 1)
            yield _OneGap(cost, lost=before + first)
        # After the first wrong relation, each is that of the previous report.
        if self._are_right(range(first + 1, len(rows)), before - 1):
            cost = lost + 1 + rows[first].total() + self._rows_beyond(before - 1)
            yield _OneGap(cost, repeated=first)

    def _first_wrong(self, before: int) -> int:
        """Return the index of the first relation that differs from the report beside it; the number
        of relations if none does.
        """
        count = len(self.recorded.rows)
        return next((i for i in range(count) if not self._is_right(i, before)), count)

    def _are_right(self, indices: range, before: int) -> bool:
        """Whether there are relations at these indices, and all equal the reports beside them."""
        return len(indices) > 0 and all(self._is_right(index, before) for index in indices)

    def _is_right(self, index: int, before: int) -> bool:
        """Whether a relation equals the report beside it and the engine states no other window for
        it, if `before` reports come before the first.
        """
        report = self.reports.get(before + index)
        return (
            report is not None
            and self.recorded.is_about(index, report.window, self.closure)
            and compare.equal(report.relation.rows, self.recorded.rows[index], self.recorded.mode)
        )

    def _rows_beyond(self, before: int) -> int:
        """Return the cost of the reports after the recording that are more than may be missing: one
        for each report and one for each of its rows.
        """
        start = before + len(self.recorded.rows) + self.recorded.missing.after
        rows = 0
        for place in range(start, start + SURPLUS_BOUND):
            report = self.reports.get(place)
            if report is None:
                break
            rows += 1 + report.relation.rows.total()
        return rows

    @cached_property
    def _costs_without_report(self) -> list[int]:
        """The cost, by the index of a relation, of this one and all that follow, if none of them
        has a report: one for each relation and one for each of its rows.
        """
        costs = accumulate(1 + rows.total() for rows in reversed(self.recorded.rows))
        return list(costs)[::-1]

    def rows_lost(self, count: int) -> int | None:
        """Return the cost of the first `count` reports: one for each report and one for each of its
        rows. None if there are fewer reports.
        """
        first = self.reports.first(count)
        if len(first) < count:
            return None
        return sum(1 + report.relation.rows.total() for report in first)

    def differing_rows(self, before: int, lost: int, bound: int | None) -> int | None:
        """Count the rows in which reports and recording differ, if `before` reports come before it.
        Returns None for more than `bound`.

        A relation without a report, or a report too many before or after the recording, counts one
        more than its rows, and a stated window that is not the report's counts one. `lost` is this
        cost for the reports before the recording.
        """
        mode = self.recorded.mode
        rows = lost
        for index, actual in enumerate(self.recorded.rows):
            report = self.reports.get(before + index)
            if report is None:
                rows += self._costs_without_report[index]
                break
            rows += not self.recorded.is_about(index, report.window, self.closure)
            # At least the numbers of rows differ by so many; this is quicker than a comparison.
            least = abs(report.relation.rows.total() - actual.total())
            if _exceeds(rows + least, bound):
                return None
            rows += difference_of(report.relation.rows, actual, mode).differing
            if _exceeds(rows, bound):
                return None

        rows += self._rows_beyond(before)
        if _exceeds(rows, bound):
            return None
        return rows


def difference_of(expected: Bag, actual: Bag, mode: compare.Mode) -> RowDifference:
    """Return how the `actual` rows of a relation differ from the `expected` ones of a report.

    Unless they are the same under some renaming of blank nodes, these are compared by label.
    """
    if compare.equal(expected, actual, mode):
        return RowDifference(Counter(), Counter(), 0)
    lacking, surplus = compare.difference(expected, actual, mode)
    return RowDifference(lacking, surplus, lacking.total() + surplus.total())


def _with_divergence(
    recorded: RecordingToJudge, candidate: _Candidate, answers: SharedAnswers
) -> Trial:
    """Return a candidate's trial with its reports, their alignment and the divergence."""
    trial = candidate.trial
    if trial.divergence is not None:  # arrival orders were searched
        return trial
    reports = reports_of(recorded, answers.plan_of(recorded, trial.semantics), answers)
    end = candidate.before + len(recorded.rows) + recorded.missing.after
    alignment = Alignment(
        reports.computed(end + SURPLUS_BOUND + 1),
        candidate.before,
        len(recorded.rows),
        candidate.lost,
        candidate.repeated,
        tuple(
            recorded.stated_borders(index, trial.semantics.closure)
            for index in range(len(recorded.windows))
        ),
    )
    differences = [
        difference_of(report.relation.rows, actual, recorded.mode)
        for report, actual in zip(alignment.beside, recorded.rows, strict=False)
    ]
    is_every_relation_right = (
        len(differences) == len(recorded.rows)
        and not any(difference.differing for difference in differences)
        and all(map(alignment.is_about, range(len(recorded.rows)), alignment.beside))
    )
    borders = []
    if candidate.lost is not None or candidate.repeated is not None:
        unexplained = 1
    else:
        borders = divergence.find_border_rows(
            recorded, trial.semantics, alignment, differences, answers
        )
        unexplained = 0
        if not is_every_relation_right:
            unexplained = max(0, candidate.rows - divergence.count_slips(borders))
    cost = Distance(candidate.rows, unexplained)
    where = divergence.find_divergence(recorded, alignment, borders, cost)
    return replace(trial, divergence=where, alignment=alignment, reports=reports)
