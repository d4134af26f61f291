"""§11 Why an output is wrong: the first divergence, rows on window borders (ORA-9), rows out of reach (ORA-10)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from refengine import compare, derive, engine, incremental, r2r, window
from refengine.compare import Mode
from refengine.errors import Disputed, TooManyReports
from refengine.model import Bag, Dataset, Relation, Row, Stream, Triple, is_blank
from refengine.numbers import Beyond
from refengine.query import Body, Query, WindowKind
from refengine.recording import Answers, BorderRow, Divergence, Fate, Recorded, Trial
from refengine.semantics import Condition, Semantics

SURPLUS = 100  # outputs beyond the recording that a distance counts
EXPLAINED = {Fate.PLACE: 0, Fate.EARLY: 2, Fate.LATE: 2, Fate.BOTH: 1, Fate.OUT: 1}  # differing rows


@dataclass(frozen=True)
class _Aligned:
    """An assignment's reports beside the recording's relations, and how many rows differ."""

    cost: tuple[int, int]
    reports: list[engine.Report]
    borders: tuple[BorderRow, ...]


def _align(recorded: Recorded, semantics: Semantics, answers: Answers) -> _Aligned:
    """The best alignment of an assignment: the fewest differing rows that no window border explains, then the fewest."""
    found, rows = [], recorded.rows
    reports = _reports(recorded, semantics, answers, len(rows) + 2 * recorded.missing + SURPLUS)
    for before in range(recorded.missing + 1):
        aligned = reports[before:]
        gaps = [_gap(report.relation.rows, x, recorded.mode) for report, x in zip(aligned, rows, strict=False)]
        cost = sum(max(a.total() + b.total(), c) for a, b, c in gaps)
        cost += sum(1 + x.total() for x in rows[len(aligned) :])
        cost += sum(1 + report.relation.rows.total() for report in aligned[len(rows) + recorded.missing :])
        closes = Condition.CLOSE in semantics.report
        borders = tuple(_border_rows(recorded, semantics, aligned, gaps, answers)) if cost and closes else ()
        found.append(_Aligned((max(0, cost - sum(EXPLAINED[b.fate] for b in borders)), cost), aligned, borders))
    return min(found, key=lambda aligned: aligned.cost)


def _reports(recorded: Recorded, semantics: Semantics, answers: Answers, most: int) -> list[engine.Report]:
    """The first reports of an assignment, incrementally where that is covered."""
    planned = answers.planned(recorded, semantics)
    asked = answers.asked(recorded, planned)
    with suppress(Beyond):
        if isinstance(asked, incremental.Asked):
            steps = incremental.looked_up(recorded.query, planned, asked)
            return list(_within_bounds(islice((step.report for step in steps if step.emitted), most)))
    reports = engine.evaluate(recorded.query, recorded.streams, semantics, static=recorded.static, answer=answers)
    return list(_within_bounds(islice(reports, most)))


def _within_bounds(reports: Iterator[engine.Report]) -> Iterator[engine.Report]:
    try:
        yield from reports
    except TooManyReports:  # those before it tell enough
        return


def _gap(expected: Bag, actual: Bag, mode: Mode) -> tuple[Bag, Bag, int]:
    """The rows lacking, those too many, and 1 if the relations differ at all (blank nodes can make them)."""
    if compare.equal(expected, actual, mode):
        return Counter(), Counter(), 0
    return *compare.difference(expected, actual, mode), 1


def divergence(recorded: Recorded, trial: Trial, answers: Answers) -> Divergence:
    """ORA-9: where a failed assignment parts from the recording first, how far it is from it, and the rows that rest on an
    element on a window border."""
    if trial.divergence is not None:
        return trial.divergence
    best = _align(recorded, trial.semantics, answers)
    rows, aligned = recorded.rows, best.reports
    for index in range(max(len(rows), len(aligned)) + 1):
        expected = aligned[index] if index < len(aligned) else None
        actual = rows[index] if index < len(rows) else None
        if expected is None or actual is None or not compare.equal(expected.relation.rows, actual, recorded.mode):
            break
    if expected is None:
        return Divergence(index, None, None, (), None, actual, "the semantics reports nothing more", cost=best.cost)
    at, content, answer = (expected.evaluation, expected.window), tuple(expected.contents[0]), expected.relation.rows
    reason = "the recording ends too early" if actual is None else "the answer differs"
    return Divergence(index, *at, content, answer, actual, reason, best.borders, best.cost)


def _border_rows(
    recorded: Recorded, semantics: Semantics, aligned: list[engine.Report], gaps: list[tuple[Bag, Bag, int]], answers: Answers
) -> Iterator[BorderRow]:
    """The rows of the answers that were completed by an element on their window's border, and where they went."""
    body = recorded.query.body
    (spec, *more), windows = recorded.query.windows, {report.window for report in aligned}
    if more or spec.name or spec.kind is not WindowKind.TIME or recorded.static or not derive.projects(body) or None in windows:
        return
    step, asked = window.slide(spec, semantics.slide).step, answers.asked(recorded, answers.planned(recorded, semantics), derivations=True)
    lacking, surplus = [gap[0] for gap in gaps], [gap[1] for gap in gaps]
    number = {report.window[0]: index for index, report in enumerate(aligned[: len(gaps)])}
    for index, report in enumerate(aligned[: len(gaps)]):
        before, after = number.get(report.window[0] - step, -1), number.get(report.window[0] + step, -1)
        completed: dict[Row, int] = {}
        for line, at in _completed(body, report, asked, answers):
            completed[line] = min(at, completed.get(line, at))
        for line, at in sorted(completed.items()):
            if at not in report.window:
                continue
            gone = _has(lacking, index, line, recorded.mode)
            early = _has(surplus, before, line, recorded.mode)
            late = _has(surplus, after, line, recorded.mode)
            match gone, early, late:
                case True, True, _:
                    fate = Fate.EARLY
                case True, False, True:
                    fate = Fate.LATE
                case True, False, False:
                    fate = Fate.OUT
                case False, False, False:
                    fate = Fate.PLACE
                case _:
                    fate = Fate.BOTH
            yield BorderRow(line, at, report.window, fate)


def _completed(body: Body, report: engine.Report, asked: incremental.Asked | str, answers: Answers) -> Iterator[tuple[Row, int]]:
    """The rows of an answer, each with the instant of the last element that it rests on; none if no element is on a border."""
    content = report.contents[0]
    if isinstance(content, incremental.Contents) and isinstance(asked, incremental.Asked):
        found = asked.completed(content.indices)
        if found is not None:
            yield from ((line, content.elements[max(elements)].app) for line, elements in found if elements)
            return
    if not any(element.app in report.window for element in content):
        return
    dates: dict[Triple, int] = {}
    for element in content:
        for triple in element.graph:
            dates.setdefault(triple, element.app)
    for derivation in answers.derivations(body, frozenset(dates)):
        if derivation.support:
            yield derivation.row, max(dates[triple] for triple in derivation.support)


def _has(rows: Sequence[Bag], index: int, wanted: Row, mode: Mode) -> bool:
    one = Counter([wanted])
    return 0 <= index < len(rows) and any(compare.equal(one, Counter([line]), mode) for line in rows[index])


class FarRow(NamedTuple):
    """A recorded row that no window can give: the least span over which the stream has the elements it rests on (None:
    it never gives the row)."""

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
    """ORA-10: the first recorded row that no time-based window of the query can give, whatever the semantics: a content
    holds elements at most ω apart under every closure."""
    (spec, *more), body = query.windows, query.body
    if more or static or spec.name or spec.kind is not WindowKind.TIME or not derive.projects(body) or not derive.bindable(body):
        return None
    elements = streams[spec.stream].elements
    if any(element.end is not None for element in elements):
        return None
    dates = defaultdict(list)
    for element in elements:
        for triple in element.graph:
            dates[triple].append(element.app)
    index = derive.Index(dates)
    for line in dict.fromkeys(line for relation in recording for line in sorted(relation.rows)):
        if any(is_blank(term) for _, term in line):
            continue
        one = Counter([line])
        derived = [d for d in derive.derivations(body, index, line) if compare.equal(one, Counter([d.row]), mode)]
        least = min((_span([dates[triple] for triple in d.support]) for d in derived), default=None)
        if least is None or least > spec.size:
            return FarRow(line, least) if _answered(body, frozenset(dates), one, mode) == len(derived) else None
    return None


def _answered(body: Body, graph: Dataset, one: Bag, mode: Mode) -> int | None:
    """How often the faster witness has a row over a graph: derivations rest on rdflib's expressions alone. None where it
    has no say."""
    try:
        rows = r2r.ask(r2r.FASTEST, body, graph).rows
    except Disputed:
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
