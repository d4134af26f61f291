"""§11 Why an output is wrong: the first divergence, rows on window borders (ORA-9), rows out of
reach (ORA-10).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from refengine import incremental
from refengine.core import engine, r2r, window
from refengine.core.query import Body, Query, WindowKind
from refengine.core.semantics import Condition, Semantics
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Row, Triple, is_blank
from refengine.model.errors import Unsupported, require
from refengine.oracle import derivations
from refengine.oracle.answers import Answers
from refengine.oracle.comparison import Alignment, BorderRow, Distance, Divergence, Fate, Gap
from refengine.oracle.trial import Recorded
from refengine.sparql.graphs import Index

LOST = "this report is lacking; what follows it is in place"
REPEATED = "it is one too many; what follows is in place"
LATE = "the recording begins too late"
SLIPS = {Fate.EARLY: 2, Fate.LATE: 2, Fate.BOTH: 1, Fate.OUT: 1}  # differing rows


def divergence(
    recorded: Recorded, alignment: Alignment, borders: Sequence[BorderRow], cost: Distance
) -> Divergence:
    """ORA-9: return where an assignment that does not explain the recording parts from it first, as
    the two are aligned.
    """
    rows = recorded.rows
    part = partial(_at_report, borders=borders, cost=cost)
    if alignment.lost is not None:
        lost = alignment.reports[alignment.lost]
        return part(alignment.lost - alignment.before, lost, None, LOST)
    for index, actual in enumerate(rows):
        report = alignment.report(index)
        if index == alignment.repeated:
            return _without_report(index, actual, REPEATED, cost)
        if report is None:
            return _without_report(index, actual, "the semantics reports nothing more", cost)
        if not compare.equal(report.relation.rows, actual, recorded.mode):
            return part(index, report, actual, "the answer differs")

    if not alignment.reports:
        return _without_report(0, None, "no recording is as long as the output", cost)
    following = alignment.report(len(rows))
    if rows and (following is None or alignment.after <= recorded.missing.after):
        return part(0, alignment.reports[0], None, LATE)
    last = following or alignment.reports[0]
    return part(len(rows), last, None, "the recording ends too early")


def _without_report(index: int, actual: Bag | None, reason: str, cost: Distance) -> Divergence:
    """Return the divergence at a relation beside which no report stands."""
    return Divergence(index, None, None, (), None, actual, reason, cost=cost)


def _at_report(
    index: int,
    report: engine.Report,
    actual: Bag | None,
    reason: str,
    borders: Sequence[BorderRow],
    cost: Distance,
) -> Divergence:
    """Return the divergence at a report."""
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


def explained(borders: Iterable[BorderRow]) -> int:
    """Count the differing rows that are slips over a window's border."""
    return sum(SLIPS.get(row.fate, 0) for row in borders)


def border_rows(
    recorded: Recorded,
    semantics: Semantics,
    alignment: Alignment,
    gaps: Sequence[Gap],
    answers: Answers,
) -> list[BorderRow]:
    """ORA-12: return the rows that an element at the edge of their window completes, and where the
    recording has them.

    An edge is a border (o or c), and the first and the last instant at which the window holds an
    element: from the first a row can come one window early, from the last one window late. Rows in
    place are told of borders alone. Empty where windows have no borders, do not close, or the
    body's rows do not each rest on elements.
    """
    reports = alignment.beside
    if not _tells_slips(recorded, semantics, reports):
        return []
    step = window.slide(recorded.query.windows[0], semantics.slide).step
    planned = answers.plan_of(recorded, semantics)
    asked = answers.incremental(recorded, planned, for_derivations=True)
    slips = _Slips(recorded, reports, gaps, step)
    found: list[BorderRow] = []
    for index, report in enumerate(reports):
        if report.contents[0]:
            completions = _completions(recorded.query.body, report, asked, answers)
            found.extend(slips.of(index, completions))
    return found


def _tells_slips(
    recorded: Recorded, semantics: Semantics, reports: Sequence[engine.Report]
) -> bool:
    """Whether windows have borders and close, and the body's rows each rest on elements."""
    query = recorded.query
    return (
        _is_one_time_window(query)
        and not recorded.static
        and Condition.CLOSE in semantics.report
        and derivations.projects(query.body)
        and all(report.window is not None for report in reports)
    )


def _is_one_time_window(query: Query) -> bool:
    """Whether a query has one window, over time and without a name."""
    spec = query.windows[0]
    return len(query.windows) == 1 and not spec.name and spec.kind is WindowKind.TIME


class _Slips:
    """The rows at the edges of the windows of some reports, and where a recording has them."""

    def __init__(
        self,
        recorded: Recorded,
        reports: Sequence[engine.Report],
        gaps: Sequence[Gap],
        step: int,
    ) -> None:
        self.mode = recorded.mode
        self.reports = reports
        self.gaps = gaps
        self.step = step
        self.numbers = {require(report.window)[0]: i for i, report in enumerate(reports)}

    def of(self, index: int, completions: Iterable[tuple[Row, int]]) -> Iterator[BorderRow]:
        """Yield the rows of a report that an element at the edge of its window completes."""
        content = self.reports[index].contents[0]
        borders = require(self.reports[index].window)
        for line, at in completions:
            on_border = at in borders
            is_first = at == content[0].app
            is_last = at == content[-1].app
            if not (on_border or is_first or is_last):
                continue
            fate = self._fate_of(index, line, on_border or is_first, on_border or is_last)
            if fate is Fate.PLACE and not on_border:
                continue
            if fate is Fate.OUT and not (on_border and _is_nowhere(self.gaps, line, self.mode)):
                continue
            yield BorderRow(line, at, borders, fate, on_border, is_first)

    def _fate_of(self, index: int, line: Row, may_be_early: bool, may_be_late: bool) -> Fate:
        """Return what became of a row of a report."""
        opens = require(self.reports[index].window)[0]
        before = self.numbers.get(opens - self.step, -1)
        after = self.numbers.get(opens + self.step, -1)
        is_gone = _has(self.gaps, index, line, self.mode, "lacking")
        is_early = may_be_early and _has(self.gaps, before, line, self.mode, "surplus")
        is_late = may_be_late and _has(self.gaps, after, line, self.mode, "surplus")
        return _fate(is_gone, is_early, is_late)


def _fate(is_gone: bool, is_early: bool, is_late: bool) -> Fate:
    """Return what became of a row that its own window lacks or has, and that the windows beside it
    have or not.
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
    body: Body, report: engine.Report, asked: incremental.AnswerCache | str, answers: Answers
) -> list[tuple[Row, int]]:
    """Return the rows of an answer, each with the earliest instant at which it was complete."""
    completed: dict[Row, int] = {}
    for line, at in _completed(body, report, asked, answers):
        completed[line] = min(at, completed.get(line, at))
    return sorted(completed.items())


def _is_nowhere(gaps: Sequence[Gap], line: Row, mode: Mode) -> bool:
    """Whether no relation has a row too many that equals this one."""
    return not any(_has(gaps, index, line, mode, "surplus") for index in range(len(gaps)))


def _completed(
    body: Body, report: engine.Report, asked: incremental.AnswerCache | str, answers: Answers
) -> Iterator[tuple[Row, int]]:
    """Yield the rows of an answer, each with the instant of the last element that it rests on."""
    content = report.contents[0]
    if isinstance(content, incremental.Contents) and isinstance(asked, incremental.AnswerCache):
        found = asked.supported_rows(content.indices)
        if found is not None:
            yield from (
                (line, content.elements[max(elements)].app) for line, elements in found if elements
            )
            return
    dates: dict[Triple, int] = {}
    for element in content:
        for triple in element.graph:
            dates.setdefault(triple, element.app)
    for derivation in answers.derivations(body, frozenset(dates)):
        if derivation.support:
            yield derivation.row, max(dates[triple] for triple in derivation.support)


def _has(gaps: Sequence[Gap], index: int, wanted: Row, mode: Mode, side: str) -> bool:
    """Whether a relation lacks a row, or has it too many; False for a
    relation that there is not.
    """
    if not 0 <= index < len(gaps):
        return False
    one = Counter([wanted])
    return any(compare.equal(one, Counter([line]), mode) for line in getattr(gaps[index], side))


class FarRow(NamedTuple):
    """A recorded row that no window can give: the least span over which the stream has the elements
    it rests on (None: it never gives the row).
    """

    row: Row
    span: int | None


def out_of_reach(recorded: Recorded) -> FarRow | None:
    """ORA-10: return the first recorded row that no time-based window of the query can give,
    whatever the semantics: a content holds elements at most ω apart under every closure.
    """
    query = recorded.query
    body = query.body
    if not _is_one_time_window(query) or recorded.static:
        return None
    if not derivations.projects(body) or not derivations.bindable(body):
        return None
    elements = recorded.streams[query.windows[0].stream].elements
    if any(element.end is not None for element in elements):
        return None
    dates: dict[Triple, list[int]] = defaultdict(list)
    for element in elements:
        for triple in element.graph:
            dates[triple].append(element.app)
    index = Index(dates)
    size = require(query.windows[0].size)
    for line in _lines(recorded):
        one = Counter([line])
        try:
            found = derivations.derivations(body, index, line)
        except Unsupported:  # over the whole stream; over a window it may have an answer
            return None
        derived = [each for each in found if compare.equal(one, Counter([each.row]), recorded.mode)]
        spans = (_span([dates[triple] for triple in each.support]) for each in derived)
        least = min(spans, default=None)
        if least is None or least > size:
            if _count(body, frozenset(dates), one, recorded.mode) == len(derived):
                return FarRow(line, least)
            return None
    return None


def _lines(recorded: Recorded) -> Iterator[Row]:
    """Yield the recorded rows without blank nodes, each once."""
    lines = (line for rows in recorded.rows for line in sorted(rows))
    for line in dict.fromkeys(lines):
        if not any(is_blank(term) for _, term in line):
            yield line


def _count(body: Body, graph: Dataset, one: Bag, mode: Mode) -> int | None:
    """Return how often the definition has a row over a graph. None where it has no single
    answer.
    """
    try:
        rows = r2r.defined(body, graph).rows
    except Unsupported:
        return None
    return sum(count for other, count in rows.items() if compare.equal(one, Counter([other]), mode))


def _span(dates: list[list[int]]) -> int:
    """Return the least span that holds one date of each list."""
    merged = sorted((date, i) for i, own in enumerate(dates) for date in own)
    last: dict[int, int] = {}
    spans = []
    for date, i in merged:
        last[i] = date
        if len(last) == len(dates):
            spans.append(date - min(last.values()))
    return min(spans, default=0)
