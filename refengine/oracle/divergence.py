"""§11 Why an output is wrong: where it parts from a semantics first (ORA-9), rows at the edges of
windows (ORA-12), and rows that no window can give (ORA-10).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from refengine import incremental
from refengine.core import engine, r2r, window
from refengine.core.query import Body, Query, WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import Condition
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Element, Row, Triple, is_blank
from refengine.model.errors import Unsupported, require
from refengine.model.row_groups import RowIndex
from refengine.oracle import derivations
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.comparison import (
    Alignment,
    BorderRow,
    Distance,
    Divergence,
    Fate,
    RowDifference,
)
from refengine.oracle.trial import RecordingToJudge
from refengine.sparql.datasets import Index

LOST = "this report is lacking; what follows it is in place"
REPEATED = "it is one too many; what follows is in place"
LATE = "the recording begins too late"
SKIPPED = "this report is lacking; the engine states a later window"
OTHER_WINDOW = "the engine states another window"
LACKING = (LOST, LATE, SKIPPED)  # with these a report has no relation
# How many differing rows a row at an edge makes: one in each relation that lacks it or has it too
# many.
SLIPS = {Fate.EARLY: 2, Fate.LATE: 2, Fate.BOTH: 1, Fate.OUT: 1}


def find_divergence(
    recorded: RecordingToJudge, alignment: Alignment, borders: Sequence[BorderRow], cost: Distance
) -> Divergence:
    """ORA-9: return where a recording parts first from the reports that it is aligned with: in a
    row, or in the window that the engine states.

    `borders` and `cost` go into the result as they are.
    """
    rows = recorded.rows
    diverge_at = partial(_at_report, borders=borders, cost=cost)
    if alignment.lost is not None:
        lost = alignment.reports[alignment.lost]
        return diverge_at(alignment.lost - alignment.before, lost, None, LOST)
    for index, actual in enumerate(rows):
        report = alignment.report(index)
        if index == alignment.repeated:
            return _without_report(index, actual, REPEATED, cost)
        if report is None:
            return _without_report(index, actual, "the semantics reports nothing more", cost)
        if not alignment.is_about(index, report):
            begins, _ = require(alignment.stated_window(index))
            if report.window is not None and begins > report.window[0]:
                return diverge_at(index, report, None, SKIPPED)
            return diverge_at(index, report, actual, OTHER_WINDOW)
        if not compare.equal(report.relation.rows, actual, recorded.mode):
            return diverge_at(index, report, actual, "the answer differs")

    # All relations are right, so there are too many reports before them or after them. The
    # alignment has a report at least. Without one the recording would have no relation either, and
    # would have passed.
    following = alignment.report(len(rows))
    if rows and (following is None or alignment.after <= recorded.missing.after):
        return diverge_at(0, alignment.reports[0], None, LATE)
    last = following or alignment.reports[0]
    return diverge_at(len(rows), last, None, "the recording ends too early")


def _without_report(index: int, actual: Bag | None, reason: str, cost: Distance) -> Divergence:
    """Return the divergence at relation `index`, beside which there is no report."""
    return Divergence(index, None, None, (), None, actual, reason, cost=cost)


def _at_report(
    index: int,
    report: engine.Report,
    actual: Bag | None,
    reason: str,
    borders: Sequence[BorderRow],
    cost: Distance,
) -> Divergence:
    """Return the divergence at relation `index`, which should equal a report."""
    return Divergence(
        index,
        report.evaluation,
        report.window,
        tuple(report.contents[0]),
        report.relation.rows,
        actual,
        reason,
        tuple(borders),
        cost,
    )


def count_slips(borders: Iterable[BorderRow]) -> int:
    """Return how many differing rows are explained by rows that slipped over the edge of their
    window.
    """
    return sum(SLIPS.get(row.fate, 0) for row in borders)


def find_border_rows(
    recorded: RecordingToJudge,
    semantics: Semantics,
    alignment: Alignment,
    differences: Sequence[RowDifference],
    answers: SharedAnswers,
) -> list[BorderRow]:
    """ORA-12: return the rows that an element at the edge of their window completes, and where the
    recording has them.

    The edges of a window are its borders o and c, and the first and the last instant at which it
    holds an element. From the first a row can come one window early, from the last one window late.
    Rows that are in place are named only if they were completed exactly on a border.

    `differences` are those between the aligned reports and relations. Returns nothing where windows
    have no borders or do not close, or where the body's rows do not each rest on elements.
    """
    reports = alignment.beside
    if not _can_name_slips(recorded, semantics, reports):
        return []
    step = window.with_slide(recorded.query.windows[0], semantics.slide).step
    planned = answers.plan_of(recorded, semantics)
    cache_or_reason = answers.incremental_answers(recorded, planned, for_derivations=True)
    slips = _Slips(recorded, reports, differences, step)
    border_rows: list[BorderRow] = []
    for index, report in enumerate(reports):
        if report.contents[0]:
            completions = _completions(recorded.query.body, report, cache_or_reason, answers)
            border_rows.extend(slips.of_report(index, completions))
    return border_rows


def _can_name_slips(
    recorded: RecordingToJudge, semantics: Semantics, reports: Sequence[engine.Report]
) -> bool:
    """Whether ORA-12 applies: one time window with borders that closes, without static data, and a
    body whose rows each rest on elements. Each window must have one report: neither a key has
    windows of its own, nor is one reported again.
    """
    query = recorded.query
    return (
        _is_one_time_window(query)
        and not query.windows[0].is_keyed
        and len({report.window for report in reports}) == len(reports)
        and not recorded.static
        and Condition.CLOSE in semantics.report
        and derivations.projects(query.body)
        and all(report.window is not None for report in reports)
    )


def _is_one_time_window(query: Query) -> bool:
    """Whether a query has one window, which is time-based and has no name."""
    spec = query.windows[0]
    return len(query.windows) == 1 and not spec.name and spec.kind is WindowKind.TIME


class _Slips:
    """Finds the rows at the edges of the windows of some reports, and where a recording has them.

    `reports` stand beside relations, with these `differences`. Windows begin every `step` instants.
    """

    def __init__(
        self,
        recorded: RecordingToJudge,
        reports: Sequence[engine.Report],
        differences: Sequence[RowDifference],
        step: int,
    ) -> None:
        self.reports = reports
        self.wrong_rows = WrongRows(differences, recorded.mode)
        self.step = step
        # the index of a report by the instant o of its window
        self.indices = {require(report.window)[0]: i for i, report in enumerate(reports)}

    def of_report(self, index: int, completions: Iterable[tuple[Row, int]]) -> Iterator[BorderRow]:
        """Yield the rows of report `index` that an element at the edge of its window completes.

        `completions` are the rows, each with the time of the element that completes it.
        """
        times = [element.app for element in self.reports[index].contents[0]]
        borders = require(self.reports[index].window)
        for line, at in completions:
            on_border = at in borders
            is_first = at == min(times)
            is_last = at == max(times)
            if not (on_border or is_first or is_last):
                continue
            fate = self._fate_of(index, line, on_border or is_first, on_border or is_last)
            if fate is Fate.PLACE and not on_border:
                continue
            if fate is Fate.OUT and not (on_border and _is_nowhere(self.wrong_rows, line)):
                continue
            yield BorderRow(line, at, borders, fate, on_border, is_first)

    def _fate_of(self, index: int, line: Row, may_be_early: bool, may_be_late: bool) -> Fate:
        """Return where the recording has a row of report `index`. `may_be_early` says that the row
        was completed where it can come one window early, and
        `may_be_late` where it can come one window late.
        """
        opens = require(self.reports[index].window)[0]
        before = self.indices.get(opens - self.step, -1)
        after = self.indices.get(opens + self.step, -1)
        is_gone = self.wrong_rows.is_lacking(index, line)
        is_early = may_be_early and self.wrong_rows.is_too_many(before, line)
        is_late = may_be_late and self.wrong_rows.is_too_many(after, line)
        return _fate(is_gone, is_early, is_late)


class WrongRows:
    """The rows that each relation lacks, and those that it has too many. An index of a relation is
    made when it is first asked for.
    """

    def __init__(self, differences: Sequence[RowDifference], mode: Mode) -> None:
        self._lacking = [difference.lacking for difference in differences]
        self._surplus = [difference.surplus for difference in differences]
        self._mode = mode
        self._lacking_indices: dict[int, RowIndex] = {}
        self._surplus_indices: dict[int, RowIndex] = {}

    def is_lacking(self, relation: int, line: Row) -> bool:
        """Return whether a relation lacks a row. False if there is no such relation."""
        return self._is_in(self._lacking, self._lacking_indices, relation, line)

    def is_too_many(self, relation: int, line: Row) -> bool:
        """Return whether a relation has a row too many. False if there is no such relation."""
        return self._is_in(self._surplus, self._surplus_indices, relation, line)

    def is_too_many_somewhere(self, line: Row) -> bool:
        """Return whether some relation has a row too many."""
        return self._whole_surplus.has_equal(line)

    @cached_property
    def _whole_surplus(self) -> RowIndex:
        """The rows that any relation has too many."""
        return RowIndex((line for bag in self._surplus for line in bag), self._mode)

    def _is_in(
        self, bags: Sequence[Bag], indices: dict[int, RowIndex], relation: int, line: Row
    ) -> bool:
        """Return whether the bag of a relation has a row."""
        if not 0 <= relation < len(bags):
            return False
        if relation not in indices:
            indices[relation] = RowIndex(bags[relation], self._mode)
        return indices[relation].has_equal(line)


def _fate(is_gone: bool, is_early: bool, is_late: bool) -> Fate:
    """Return where a row is: its own relation lacks it (`is_gone`) or not, and the relations of the
    windows before (`is_early`) and after (`is_late`) have it too many or not.
    """
    match is_gone, is_early, is_late:
        case True, True, _:
            return Fate.EARLY
        case True, False, True:
            return Fate.LATE
        case True, False, False:
            return Fate.OUT
        case False, False, False:
            return Fate.PLACE
        case _:
            return Fate.BOTH


def _completions(
    body: Body,
    report: engine.Report,
    cache_or_reason: incremental.AnswerCache | str,
    answers: SharedAnswers,
) -> list[tuple[Row, int]]:
    """Return the rows of a report's answer, in order, each with the earliest instant at which all
    elements of one of its derivations were there.
    """
    completed: dict[Row, int] = {}
    for line, at in _completed(body, report, cache_or_reason, answers):
        completed[line] = min(at, completed.get(line, at))
    return sorted(completed.items())


def _is_nowhere(wrong_rows: WrongRows, line: Row) -> bool:
    """Whether no relation has this row too many."""
    return not wrong_rows.is_too_many_somewhere(line)


def _completed(
    body: Body,
    report: engine.Report,
    cache_or_reason: incremental.AnswerCache | str,
    answers: SharedAnswers,
) -> Iterator[tuple[Row, int]]:
    """Yield the derivations of a report's answer as pairs: the row, and the instant of the last
    element that it rests on.
    """
    content = report.contents[0]
    if isinstance(content, incremental.Contents) and isinstance(
        cache_or_reason, incremental.AnswerCache
    ):
        completed = cache_or_reason.supported_rows(content.indices)
        if completed is not None:
            for line, elements in completed:
                if elements:
                    yield line, content.elements[max(elements)].app
            return

    dates: dict[Triple, int] = {}
    for element in content:
        for triple in element.graph:
            dates.setdefault(triple, element.app)
    for derivation in answers.derivations(body, frozenset(dates)):
        if derivation.support:
            yield derivation.row, max(dates[triple] for triple in derivation.support)


class UnreachableRow(NamedTuple):
    """A recorded row that no window can give.

    `span` is the least number of instants from the first to the last of the elements that the row
    rests on (None: the stream never gives the row).
    """

    row: Row
    span: int | None


def find_unreachable_row(recorded: RecordingToJudge) -> UnreachableRow | None:
    """ORA-10: return the first recorded row that no time-based window of the query can give,
    whatever the semantics. None if there is none, or if it cannot be told.

    Under every closure a content holds elements at most ω apart. So a row is unreachable if the
    whole stream never gives it, or only from elements more than ω apart.
    """
    if not _can_name_unreachable_rows(recorded):
        return None
    query = recorded.query
    dates = _dates_of_triples(recorded.streams[query.windows[0].stream].elements)
    index = Index(dates)
    size = require(query.windows[0].size)
    for line in _lines(recorded):
        one = Counter([line])
        try:
            candidates = derivations.derivations(query.body, index, line)
        except Unsupported:
            return None  # over the whole stream; over a window the body may have an answer
        derived = [
            each for each in candidates if compare.equal(one, Counter([each.row]), recorded.mode)
        ]
        spans = (_span([dates[triple] for triple in each.support]) for each in derived)
        least = min(spans, default=None)
        if least is not None and least <= size:
            continue
        # Say so only if the SPARQL evaluator has the row as often as there are derivations of it.
        if _count(query.body, frozenset(dates), one, recorded.mode) != len(derived):
            return None
        return UnreachableRow(line, least)
    return None


def _can_name_unreachable_rows(recorded: RecordingToJudge) -> bool:
    """Whether ORA-10 applies: one time window over elements at points in time, without static data,
    and a body whose rows each rest on elements that a known row leads to.
    """
    query = recorded.query
    if not _is_one_time_window(query) or recorded.static:
        return False
    if not derivations.projects(query.body) or not derivations.bindable(query.body):
        return False
    elements = recorded.streams[query.windows[0].stream].elements
    return all(element.end is None for element in elements)


def _dates_of_triples(elements: Iterable[Element]) -> dict[Triple, list[int]]:
    """Return the times of the elements that hold each triple."""
    dates: dict[Triple, list[int]] = defaultdict(list)
    for element in elements:
        for triple in element.graph:
            dates[triple].append(element.app)
    return dates


def _lines(recorded: RecordingToJudge) -> Iterator[Row]:
    """Yield the recorded rows that have no blank node, each once."""
    lines = (line for rows in recorded.rows for line in sorted(rows))
    for line in dict.fromkeys(lines):
        if not any(is_blank(term) for _, term in line):
            yield line


def _count(body: Body, graph: Dataset, one: Bag, mode: Mode) -> int | None:
    """Return how often the SPARQL evaluator's answer over a graph has the row in the bag `one`.
    None where the SPARQL evaluator has no single answer.
    """
    try:
        rows = r2r.defined_answer(body, graph).rows
    except Unsupported:
        return None
    return sum(count for other, count in rows.items() if compare.equal(one, Counter([other]), mode))


def _span(dates: list[list[int]]) -> int:
    """Return the least span that holds one date of each list. For [[0, 10], [8]] it is 2."""
    merged = sorted((date, i) for i, own in enumerate(dates) for date in own)
    latest: dict[int, int] = {}  # of each list, the last date so far
    spans = []
    for date, i in merged:
        latest[i] = date
        if len(latest) == len(dates):
            spans.append(date - min(latest.values()))
    return min(spans, default=0)
