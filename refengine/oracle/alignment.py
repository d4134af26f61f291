"""§11 The nearest assignment: reports beside recorded relations, and the rows in which they differ
(ORA-9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from refengine.model import compare
from refengine.model.elements import Bag
from refengine.model.errors import require
from refengine.oracle import divergence
from refengine.oracle.answers import AnswerTable
from refengine.oracle.attempts import reports_of
from refengine.oracle.comparison import Alignment, Distance, RowDifference
from refengine.oracle.instants import find_divergence_by_sums
from refengine.oracle.reports import Reports
from refengine.oracle.trial import RecordedAnswer, Trial

SURPLUS_BOUND = 100  # reports before the recording, and beyond it, that are looked at
# assignments with equally many differing rows of which the slips over borders are counted
TIES_BOUND = 20


class _Candidate(NamedTuple):
    """A failed trial, aligned: how many rows differ if `before` reports come before the
    recording.
    """

    rows: int
    before: int
    number: int
    trial: Trial
    reports: Reports | None
    lost: int | None = None
    repeated: int | None = None


def align(recorded: RecordedAnswer, winner: Trial) -> Alignment | None:
    """Set the reports of an assignment that explains the recording beside it. None where arrival
    orders were searched.
    """
    if not winner.is_order_known:
        return None
    state = require(winner.accepting_state)
    reports = require(winner.reports).first(state.before + state.matched + state.after)
    return Alignment(reports, state.before, len(recorded.relations))


def nearest_trial(
    recorded: RecordedAnswer, failed: Sequence[Trial], answers: AnswerTable
) -> Trial | None:
    """ORA-9: find the failed assignment that is nearest to the recording, and where the two part;
    None if there is none.

    The one with the fewest differing rows is nearest. Of several, up to TIES_BOUND, it is the one
    with the fewest rows that no slip over the edge of a window explains; a recording whose
    relations are all right has none, one that skips a report has one.
    """
    candidates: list[_Candidate] = []
    bound: int | None = None
    order = sorted(range(len(failed)), key=lambda number: (-failed[number].most_matched, number))
    for number in order:
        for candidate in _candidates(recorded, failed[number], number, answers, bound):
            if bound is None or candidate.rows < bound:
                bound = candidate.rows
                candidates = []
            candidates.append(candidate)

    candidates.sort(key=lambda candidate: (candidate.number, candidate.before))
    trials = [
        _with_divergence(recorded, candidate, answers) for candidate in candidates[:TIES_BOUND]
    ]
    best = min(trials, key=lambda trial: require(trial.divergence).cost, default=None)
    if best is None or best.is_order_known:
        return best
    return find_divergence_by_sums(recorded, best, answers)


def _candidates(
    recorded: RecordedAnswer, trial: Trial, number: int, answers: AnswerTable, bound: int | None
) -> Iterator[_Candidate]:
    """Yield the alignments of a failed trial in which no more than `bound` rows differ, each no
    farther than the one before.
    """
    if trial.divergence is not None:  # arrival orders were searched
        rows = trial.divergence.cost.rows
        if bound is None or rows <= bound:
            yield _Candidate(rows, 0, number, trial, None)
        return

    reports = reports_of(recorded, trial.semantics, answers)
    beside = _Beside(recorded, reports)
    for before in range(recorded.missing.before + SURPLUS_BOUND + 1):
        lost = beside.rows_lost(before - recorded.missing.before)
        if lost is None or (bound is not None and lost > bound):
            return
        differing = beside.differing_rows(before, lost, bound)
        if differing is not None:
            bound = differing
            yield _Candidate(differing, before, number, trial, reports)
        for gap in beside.gaps(before, lost):
            if bound is None or gap.rows < bound:
                bound = gap.rows
                yield _Candidate(gap.rows, before, number, trial, reports, gap.lost, gap.repeated)
        if reports.get(before) is None:
            return


class _OneGap(NamedTuple):
    """A recording that is right but for one report that was lost, or one relation too many: in how
    many rows it differs, and the place.
    """

    rows: int
    lost: int | None = None
    repeated: int | None = None


@dataclass(frozen=True)
class _Beside:
    """A recording beside the reports of an assignment, moved to and fro."""

    recorded: RecordedAnswer
    reports: Reports

    def gaps(self, before: int, lost: int) -> Iterator[_OneGap]:
        """Yield how far the recording is if `before` reports come before it, one report in its
        middle was lost, or one relation is too many, and all others are right.
        """
        rows = self.recorded.rows
        first = self._first_wrong(before)
        report = self.reports.get(before + first)
        if not 0 < first < len(rows) or report is None:  # at an end it is no gap
            return

        if self._are_right(range(first, len(rows)), before + 1):
            cost = lost + 1 + report.relation.rows.total() + self._rows_beyond(before + 1)
            yield _OneGap(cost, lost=before + first)
        if self._are_right(range(first + 1, len(rows)), before - 1):
            cost = lost + 1 + rows[first].total() + self._rows_beyond(before - 1)
            yield _OneGap(cost, repeated=first)

    def _first_wrong(self, before: int) -> int:
        """Return the index of the first relation that is not the report beside it."""
        count = len(self.recorded.rows)
        return next((i for i in range(count) if not self._is_right(i, before)), count)

    def _are_right(self, indices: range, before: int) -> bool:
        """Whether there are relations at these indices, and all are the reports beside them."""
        return len(indices) > 0 and all(self._is_right(index, before) for index in indices)

    def _is_right(self, index: int, before: int) -> bool:
        """Whether a relation is the report beside it, if `before` reports come before the first."""
        report = self.reports.get(before + index)
        return report is not None and compare.equal(
            report.relation.rows, self.recorded.rows[index], self.recorded.mode
        )

    def _rows_beyond(self, before: int) -> int:
        """Count the reports after the recording that are more than the bound allows: each counts
        one, and its rows.
        """
        beyond = before + len(self.recorded.rows) + self.recorded.missing.after
        rows = 0
        for place in range(beyond, beyond + SURPLUS_BOUND):
            report = self.reports.get(place)
            if report is None:
                break
            rows += 1 + report.relation.rows.total()
        return rows

    def rows_lost(self, count: int) -> int | None:
        """Count the first reports: each counts one, and its rows. None if there are fewer."""
        first = self.reports.first(count)
        if len(first) < count:
            return None
        return sum(1 + report.relation.rows.total() for report in first)

    def differing_rows(self, before: int, lost: int, bound: int | None) -> int | None:
        """Count the rows in which reports and recording differ, if `before` reports come before it.
        None for more than `bound`.

        A relation without a report, and a report too many before or after the recording, counts one
        more than its rows.
        """
        mode = self.recorded.mode
        rows = lost
        for index, actual in enumerate(self.recorded.rows):
            report = self.reports.get(before + index)
            if report is None:
                rows += 1 + actual.total()
            else:
                least = abs(report.relation.rows.total() - actual.total())
                if bound is not None and rows + least > bound:
                    return None
                rows += difference_of(report.relation.rows, actual, mode).differing
            if bound is not None and rows > bound:
                return None

        rows += self._rows_beyond(before)
        if bound is not None and rows > bound:
            return None
        return rows


def difference_of(expected: Bag, actual: Bag, mode: compare.Mode) -> RowDifference:
    """Compare a report with a relation. Blank nodes alone can tell them apart: that counts as one
    row.
    """
    if compare.equal(expected, actual, mode):
        return RowDifference(Counter(), Counter(), 0)
    lacking, surplus = compare.difference(expected, actual, mode)
    return RowDifference(lacking, surplus, max(lacking.total() + surplus.total(), 1))


def _with_divergence(
    recorded: RecordedAnswer, candidate: _Candidate, answers: AnswerTable
) -> Trial:
    """Return a candidate's trial with its reports, their alignment and the divergence."""
    trial, reports = candidate.trial, candidate.reports
    if reports is None:
        return trial
    end = candidate.before + len(recorded.rows) + recorded.missing.after
    alignment = Alignment(
        reports.computed(end + SURPLUS_BOUND + 1),
        candidate.before,
        len(recorded.rows),
        candidate.lost,
        candidate.repeated,
    )
    gaps = [
        difference_of(report.relation.rows, actual, recorded.mode)
        for report, actual in zip(alignment.beside, recorded.rows, strict=False)
    ]
    is_right = len(gaps) == len(recorded.rows) and not any(gap.differing for gap in gaps)
    borders = []
    if candidate.lost is not None or candidate.repeated is not None:
        unexplained = 1
    else:
        borders = divergence.find_border_rows(recorded, trial.semantics, alignment, gaps, answers)
        unexplained = 0
        if not is_right:
            unexplained = max(0, candidate.rows - divergence.count_slips(borders))
    cost = Distance(candidate.rows, unexplained)
    where = divergence.find_divergence(recorded, alignment, borders, cost)
    return replace(trial, divergence=where, alignment=alignment, reports=reports)
