"""§11 Why an output is wrong: the first divergence, rows on window borders (ORA-9), rows out of
reach (ORA-10).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from refengine import incremental
from refengine.core import engine, r2r, window
from refengine.core.query import Body, Query, WindowKind
from refengine.core.semantics import Condition, Semantics
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Relation, Row, Stream, Triple, is_blank
from refengine.model.errors import Unsupported, require
from refengine.oracle import derivations
from refengine.oracle.trial import (
    Alignment,
    Answers,
    BorderRow,
    Distance,
    Divergence,
    Fate,
    Gap,
    Recorded,
)
from refengine.sparql.graphs import Index

LOST = "this report is lacking; what follows it is in place"
LATE = "the recording begins too late"
SLIPS = {Fate.EARLY: 2, Fate.LATE: 2, Fate.BOTH: 1, Fate.OUT: 1}  # differing rows


def divergence(
    recorded: Recorded, alignment: Alignment, borders: Sequence[BorderRow], cost: Distance
) -> Divergence:
    """ORA-9: where an assignment that does not explain the recording parts from it first, as the
    two are aligned.
    """
    rows = recorded.rows
    if alignment.lost is not None:
        lost = alignment.reports[alignment.lost]
        return _parting(alignment.lost - alignment.before, lost, None, LOST, borders, cost)
    for index, actual in enumerate(rows):
        report = alignment.report(index)
        if index == alignment.repeated:
            return Divergence(
                index,
                None,
                None,
                (),
                None,
                actual,
                "it is one too many; what follows is in place",
                cost=cost,
            )
        if report is None:
            return Divergence(
                index, None, None, (), None, actual, "the semantics reports nothing more", cost=cost
            )
        if not compare.equal(report.relation.rows, actual, recorded.mode):
            return _parting(index, report, actual, "the answer differs", borders, cost)

    if not alignment.reports:
        return Divergence(
            0, None, None, (), None, None, "no recording is as long as the output", cost=cost
        )
    following = alignment.report(len(rows))
    if rows and (following is None or alignment.after <= recorded.missing.after):
        return _parting(0, alignment.reports[0], None, LATE, borders, cost)
    return _parting(
        len(rows),
        following or alignment.reports[0],
        None,
        "the recording ends too early",
        borders,
        cost,
    )


def _parting(
    index: int,
    report: engine.Report,
    actual: Bag | None,
    reason: str,
    borders: Sequence[BorderRow],
    cost: Distance,
) -> Divergence:
    """The divergence at a report."""
    content, expected = tuple(report.contents[0]), report.relation.rows
    return Divergence(
        index,
        report.evaluation,
        report.window,
        content,
        expected,
        actual,
        reason,
        tuple(borders),
        cost,
    )


def explained(borders: Iterable[BorderRow]) -> int:
    """How many differing rows are slips over a window's border."""
    return sum(SLIPS.get(row.fate, 0) for row in borders)


def border_rows(
    recorded: Recorded,
    semantics: Semantics,
    alignment: Alignment,
    gaps: Sequence[Gap],
    answers: Answers,
) -> list[BorderRow]:
    """ORA-12: the rows that an element at the edge of their window completes, and where the
    recording has them.

    An edge is a border (o or c), and the first and the last instant at which the window holds an
    element: from the first a row can come one window early, from the last one window late. Rows in
    place are told of borders alone. Empty where windows have no borders, do not close, or the
    body's rows do not each rest on elements.
    """
    (spec, *more), body = recorded.query.windows, recorded.query.body
    reports = alignment.beside
    if (
        more
        or spec.name
        or spec.kind is not WindowKind.TIME
        or recorded.static
        or Condition.CLOSE not in semantics.report
    ):
        return []
    if not derivations.projects(body) or any(report.window is None for report in reports):
        return []

    step = window.slide(spec, semantics.slide).step
    asked = answers.asked(recorded, answers.planned(recorded, semantics), for_derivations=True)
    number = {require(report.window)[0]: index for index, report in enumerate(reports)}
    found = []
    for index, report in enumerate(reports):
        if not report.contents[0]:
            continue
        first, last = report.contents[0][0].app, report.contents[0][-1].app
        borders = require(report.window)
        before = number.get(borders[0] - step, -1)
        after = number.get(borders[0] + step, -1)
        for line, at in _completions(body, report, asked, answers):
            on_border = at in borders
            if not (on_border or at in (first, last)):
                continue
            is_gone = _has(gaps, index, line, recorded.mode, "lacking")
            is_early = (on_border or at == first) and _has(
                gaps, before, line, recorded.mode, "surplus"
            )
            is_late = (on_border or at == last) and _has(
                gaps, after, line, recorded.mode, "surplus"
            )
            fate = _fate(is_gone, is_early, is_late)
            if fate is Fate.PLACE and not on_border:
                continue
            if fate is Fate.OUT and not (on_border and _is_nowhere(gaps, line, recorded.mode)):
                continue
            found.append(BorderRow(line, at, borders, fate, on_border, at == first))
    return found


def _fate(is_gone: bool, is_early: bool, is_late: bool) -> Fate:
    """What became of a row that its own window lacks or has, and that the windows beside it have or
    not.
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
    body: Body, report: engine.Report, asked: incremental.Asked | str, answers: Answers
) -> list[tuple[Row, int]]:
    """The rows of an answer, each with the earliest instant at which it was complete."""
    completed: dict[Row, int] = {}
    for line, at in _completed(body, report, asked, answers):
        completed[line] = min(at, completed.get(line, at))
    return sorted(completed.items())


def _is_nowhere(gaps: Sequence[Gap], line: Row, mode: Mode) -> bool:
    """Whether no relation has a row too many that equals this one."""
    return not any(_has(gaps, index, line, mode, "surplus") for index in range(len(gaps)))


def _completed(
    body: Body, report: engine.Report, asked: incremental.Asked | str, answers: Answers
) -> Iterator[tuple[Row, int]]:
    """The rows of an answer, each with the instant of the last element that it rests on."""
    content = report.contents[0]
    if isinstance(content, incremental.Contents) and isinstance(asked, incremental.Asked):
        found = asked.completed(content.indices)
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


def out_of_reach(
    query: Query,
    streams: Mapping[str, Stream],
    recording: Sequence[Relation],
    *,
    mode: Mode = Mode.VALUE,
    static: Dataset = frozenset(),
) -> FarRow | None:
    """ORA-10: the first recorded row that no time-based window of the query can give, whatever the
    semantics: a content holds elements at most ω apart under every closure.
    """
    (spec, *more), body = query.windows, query.body
    if (
        more
        or static
        or spec.name
        or spec.kind is not WindowKind.TIME
        or not derivations.projects(body)
        or not derivations.bindable(body)
    ):
        return None
    elements = streams[spec.stream].elements
    if any(element.end is not None for element in elements):
        return None
    dates: dict[Triple, list[int]] = defaultdict(list)
    for element in elements:
        for triple in element.graph:
            dates[triple].append(element.app)
    index = Index(dates)
    for line in dict.fromkeys(line for relation in recording for line in sorted(relation.rows)):
        if any(is_blank(term) for _, term in line):
            continue
        one = Counter([line])
        try:
            derived = [
                d
                for d in derivations.derivations(body, index, line)
                if compare.equal(one, Counter([d.row]), mode)
            ]
        except Unsupported:  # over the whole stream; over a window it may have an answer
            return None
        least = min((_span([dates[triple] for triple in d.support]) for d in derived), default=None)
        if least is None or least > require(spec.size):
            return (
                FarRow(line, least)
                if _answered(body, frozenset(dates), one, mode) == len(derived)
                else None
            )
    return None


def _answered(body: Body, graph: Dataset, one: Bag, mode: Mode) -> int | None:
    """Return how often the definition has a row over a graph. None where
    it has no single answer.
    """
    try:
        rows = r2r.defined(body, graph).rows
    except Unsupported:
        return None
    return sum(count for other, count in rows.items() if compare.equal(one, Counter([other]), mode))


def _span(dates: list[list[int]]) -> int:
    """The least span that holds one date of each list."""
    merged = sorted((date, i) for i, own in enumerate(dates) for date in own)
    last: dict[int, int] = {}
    spans = []
    for date, i in merged:
        last[i] = date
        if len(last) == len(dates):
            spans.append(date - min(last.values()))
    return min(spans, default=0)
