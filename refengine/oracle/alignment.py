"""§11 The nearest assignment: reports beside recorded relations, and the rows in which they differ
(ORA-9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from refengine import incremental
from refengine.core import engine
from refengine.core.engine import Report
from refengine.core.semantics import Semantics
from refengine.incremental.numbers import Beyond
from refengine.model import compare
from refengine.model.elements import Bag
from refengine.model.errors import TooManyReports, require
from refengine.oracle import divergence
from refengine.oracle.instants import part_by_sums
from refengine.oracle.trial import Alignment, Answers, Distance, Gap, Recorded, Trial

SURPLUS = 100  # reports before the recording, and beyond it, that are looked at
# assignments with equally many differing rows of which the slips over borders are counted
TIES = 20


class _Reports:
    """The reports of an assignment, which are computed as they are asked for."""

    def __init__(self, recorded: Recorded, semantics: Semantics, answers: Answers) -> None:
        self.coming = reports_of(recorded, semantics, answers)
        self.known: list[Report] = []

    def get(self, place: int) -> Report | None:
        """Return the report at a place, from 0; None if there are fewer."""
        missing = place + 1 - len(self.known)
        if missing > 0:
            self.known.extend(islice(self.coming, missing))
        return self.known[place] if place < len(self.known) else None


class _Candidate(NamedTuple):
    """A failed trial, aligned: how many rows differ if `before` reports
    come before the recording.
    """

    rows: int
    before: int
    number: int
    trial: Trial
    reports: _Reports | None
    lost: int | None = None
    repeated: int | None = None


def reports_of(recorded: Recorded, semantics: Semantics, answers: Answers) -> Iterator[Report]:
    """Yield the reports of a semantics: by incremental evaluation as far as it goes, and then by
    the definition.

    Ends where there are too many reports between two arrivals: those before tell enough.
    """
    planned = answers.planned(recorded, semantics)
    asked = answers.asked(recorded, planned)
    done = 0
    with suppress(TooManyReports):
        if isinstance(asked, incremental.Asked):
            try:
                for step in incremental.looked_up(recorded.query, planned, asked):
                    if step.emitted:
                        yield step.report
                        done += 1
                return
            except Beyond:  # the definition goes on
                pass
        reports = engine.evaluate(
            recorded.query, recorded.streams, semantics, static=recorded.static, answer=answers
        )
        yield from islice(reports, done, None)


def aligned(recorded: Recorded, winner: Trial, answers: Answers) -> Alignment | None:
    """Set the reports of an assignment that explains the recording beside it. None where arrival
    orders were searched.
    """
    if not winner.ordered:
        return None
    state = require(winner.accepted)
    reports = islice(
        reports_of(recorded, winner.semantics, answers), state.before + state.matched + state.after
    )
    return Alignment(tuple(reports), state.before, len(recorded.relations))


def nearest_trial(recorded: Recorded, failed: Sequence[Trial], answers: Answers) -> Trial | None:
    """ORA-9: find the failed assignment that is nearest to the recording, and where the two part;
    None if there is none.

    The one with the fewest differing rows is nearest. Of several, up to TIES, it is the one with
    the fewest rows that no slip over the edge of a window explains; a recording whose relations are
    all right has none, one that skips a report has one.
    """
    candidates: list[_Candidate] = []
    bound: int | None = None
    order = sorted(range(len(failed)), key=lambda number: (-failed[number].reached, number))
    for number in order:
        for candidate in _candidates(recorded, failed[number], number, answers, bound):
            if bound is None or candidate.rows < bound:
                candidates, bound = [], candidate.rows
            candidates.append(candidate)

    candidates.sort(key=lambda candidate: (candidate.number, candidate.before))
    told = [_told(recorded, candidate, answers) for candidate in candidates[:TIES]]
    best = min(told, key=lambda trial: require(trial.divergence).cost, default=None)
    if best is None or best.ordered:
        return best
    return part_by_sums(recorded, best, answers)


def _candidates(
    recorded: Recorded, trial: Trial, number: int, answers: Answers, bound: int | None
) -> Iterator[_Candidate]:
    """Yield the alignments of a failed trial in which no more than `bound` rows differ, each no
    farther than the one before.
    """
    if trial.divergence is not None:  # arrival orders were searched
        rows = trial.divergence.cost.rows
        if bound is None or rows <= bound:
            yield _Candidate(rows, 0, number, trial, None)
        return

    reports = _Reports(recorded, trial.semantics, answers)
    for before in range(recorded.missing.before + SURPLUS + 1):
        lost = _rows_lost(reports, before - recorded.missing.before)
        if lost is None or (bound is not None and lost > bound):
            return
        differing = _differing_rows(recorded, reports, before, lost, bound)
        if differing is not None:
            bound = differing
            yield _Candidate(differing, before, number, trial, reports)
        for with_gap in _with_gap(recorded, trial, reports, before, lost, bound):
            bound = with_gap.rows
            yield with_gap._replace(number=number)
        if reports.get(before) is None:
            return


def _with_gap(
    recorded: Recorded,
    trial: Trial,
    reports: _Reports,
    before: int,
    lost: int,
    bound: int | None,
) -> Iterator[_Candidate]:
    """Yield how far the recording is if one report in its middle was lost, or one relation is too
    many, and all others are right.

    `number` is left to be filled in.
    """
    rows, first = recorded.rows, 0
    while first < len(rows) and _is_right(recorded, reports, first, before):
        first += 1
    report = reports.get(before + first)
    if not 0 < first < len(rows) or report is None:  # at an end it is no gap
        return

    for shift, skipped in ((1, report.relation.rows), (-1, rows[first])):
        following = range(first if shift > 0 else first + 1, len(rows))
        if not following or not all(
            _is_right(recorded, reports, index, before + shift) for index in following
        ):
            continue
        cost = lost + 1 + skipped.total() + _rows_beyond(recorded, reports, before + shift)
        if bound is None or cost < bound:
            bound = cost
            place = before + first if shift > 0 else first
            found = _Candidate(cost, before, 0, trial, reports)
            yield found._replace(lost=place) if shift > 0 else found._replace(repeated=place)


def _is_right(recorded: Recorded, reports: _Reports, index: int, before: int) -> bool:
    """Whether a relation is the report beside it, if `before` reports come before the first."""
    report = reports.get(before + index)
    return report is not None and compare.equal(
        report.relation.rows, recorded.rows[index], recorded.mode
    )


def _rows_beyond(recorded: Recorded, reports: _Reports, before: int) -> int:
    """Count the reports after the recording that are more than the bound allows: each counts one,
    and its rows.
    """
    beyond = before + len(recorded.rows) + recorded.missing.after
    rows = 0
    for place in range(beyond, beyond + SURPLUS):
        report = reports.get(place)
        if report is None:
            break
        rows += 1 + report.relation.rows.total()
    return rows


def _rows_lost(reports: _Reports, count: int) -> int | None:
    """Count the first reports: each counts one, and its rows. None if there are fewer."""
    found = [report for place in range(count) if (report := reports.get(place)) is not None]
    if len(found) < count:
        return None
    return sum(1 + report.relation.rows.total() for report in found)


def _differing_rows(
    recorded: Recorded, reports: _Reports, before: int, lost: int, bound: int | None
) -> int | None:
    """Count the rows in which reports and recording differ, if `before` reports come before it.
    None for more than `bound`.

    A relation without a report, and a report too many before or after the recording, counts one
    more than its rows.
    """
    rows = lost
    for index, actual in enumerate(recorded.rows):
        report = reports.get(before + index)
        if report is None:
            rows += 1 + actual.total()
        else:
            least = abs(report.relation.rows.total() - actual.total())
            if bound is not None and rows + least > bound:
                return None
            rows += difference_of(report.relation.rows, actual, recorded.mode).differing
        if bound is not None and rows > bound:
            return None

    rows += _rows_beyond(recorded, reports, before)
    return None if bound is not None and rows > bound else rows


def difference_of(expected: Bag, actual: Bag, mode: compare.Mode) -> Gap:
    """Compare a report with a relation. Blank nodes alone can tell them apart: that counts as one
    row.
    """
    if compare.equal(expected, actual, mode):
        return Gap(Counter(), Counter(), 0)
    lacking, surplus = compare.difference(expected, actual, mode)
    return Gap(lacking, surplus, max(lacking.total() + surplus.total(), 1))


def _told(recorded: Recorded, candidate: _Candidate, answers: Answers) -> Trial:
    """Return a candidate's trial with its alignment and its divergence."""
    trial, reports = candidate.trial, candidate.reports
    if reports is None:
        return trial
    reports.get(candidate.before + len(recorded.rows) + recorded.missing.after + SURPLUS)
    alignment = Alignment(
        tuple(reports.known),
        candidate.before,
        len(recorded.rows),
        candidate.lost,
        candidate.repeated,
    )
    gaps = [
        difference_of(report.relation.rows, actual, recorded.mode)
        for report, actual in zip(alignment.beside, recorded.rows, strict=False)
    ]
    is_skipping = candidate.lost is not None or candidate.repeated is not None
    is_right = len(gaps) == len(recorded.rows) and not any(gap.differing for gap in gaps)
    borders = (
        []
        if is_skipping
        else divergence.border_rows(recorded, trial.semantics, alignment, gaps, answers)
    )
    unexplained = 0
    if is_skipping:
        unexplained = 1
    elif not is_right:
        unexplained = max(0, candidate.rows - divergence.explained(borders))
    where = divergence.divergence(
        recorded, alignment, borders, Distance(candidate.rows, unexplained)
    )
    return replace(trial, divergence=where, alignment=alignment)
