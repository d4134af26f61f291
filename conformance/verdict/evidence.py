"""The evidence of a result, as JSON: what was asked, the elements, the reports that were expected
and those that the engine gave, and the elements on which a row rests that differs. Pages and
metrics are made of it alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from conformance.bench.metrics.run import Reading, of_run
from conformance.bench.metrics.yabench import EngineOutput
from conformance.verdict.engine_report import EngineReport, to_nquads
from refengine.core import engine, r2r
from refengine.core.query import Body, Unit, Window
from refengine.core.question import Question
from refengine.core.semantics import Semantics, semantics_to_json
from refengine.core.values import Closure
from refengine.core.window import borders
from refengine.model import compare
from refengine.model.elements import Bag, Element, Relation, Row, Stream, Triple
from refengine.model.errors import Unsupported
from refengine.oracle import derivations
from refengine.oracle.comparison import Borders, Divergence
from refengine.oracle.derivations import Derivation
from refengine.oracle.divergence import LACKING
from refengine.oracle.judge import Judgement
from refengine.oracle.trial import first_and_last_instant
from refengine.rdf.recordings import relation_to_json

# the most that evidence has of each; `cut` says whether something is left out
TEXT = 4_000  # characters of the query
TRIPLES = 400
ROWS = 2_000
REPORTS = 1_000
CHARACTERS = 1_000_000  # of all rows, in JSON
CHARACTERS_OF_ROW = 20_000  # of the row on which a verdict rests

# the SPARQL evaluator alone: the verdict has asked the witnesses already
UNCONFIRMED = r2r.defined_answer

# a report: its relation, window and instant
DueReport = tuple[Relation, Borders | None, int | None]


def evidence(
    question: Question,
    answers: Sequence[EngineReport],
    expected: Sequence[DueReport] | None,
    semantics: Semantics | None,
    text: str = "",
    window_closure: Closure | None = None,
) -> dict[str, Any]:
    """Return the evidence of a result: a JSON object. `window_closure` says which borders belong to
    the windows that the engine states; None stands for the closure of the semantics. The object's
    keys are these.

    - `query`: the text that the engine was asked; `windows`: each with `stream`, `kind`, `size`,
      `slide`, and those of `unit`, `by`, `name` and `triggers` that the query states;
    - `elements`: each with `stream`, `at`, `graph` (N-Triples), `batch` if it has a batch id, and
      `end` if it is no point; `elements_total`: how many there are;
    - `static`: the static data as N-Quads, if there are any;
    - `actual` and `expected`: the reports of the engine and those that are due, each with `rows`
      (SPARQL 1.1 JSON), `total`, and `window` and `instant` if they are known; all windows are
      written with the closure of `semantics`;
    - `semantics`: that under which the reports are due;
    - `cut`: whether elements, reports or rows are left out.

    Benchmarks add `metrics` (see `measures`), and `samples` of the resources of a live engine.
    """
    query, streams = question.query, question.streams
    names = dict.fromkeys(window.stream for window in query.windows)
    actual = _reports_of(answers, window_closure, semantics)
    table: dict[str, Any] = {
        "query": (text or query.body.text)[:TEXT],
        "windows": [_window(window) for window in query.windows],
        "elements": list(_elements(names, streams)),
        "elements_total": sum(len(streams[name]) for name in names),
        "actual": list(_first_reports(actual)),
    }
    cut = len(table["elements"]) < table["elements_total"] or _is_cut(table["actual"], len(answers))
    if question.static:
        first_statements = sorted(question.static)[:TRIPLES]
        table["static"] = to_nquads(frozenset(first_statements))
        cut = cut or len(first_statements) < len(question.static)
    if expected is not None:
        table["expected"] = list(_first_reports(expected))
        cut = cut or _is_cut(table["expected"], len(expected))
    if semantics is not None:
        table["semantics"] = semantics_to_json(semantics)
    return {**table, "cut": cut}


def _reports_of(
    answers: Sequence[EngineReport],
    stated: Closure | None,
    semantics: Semantics | None,
) -> list[DueReport]:
    """Return the reports of an engine, whose windows are stated with a closure, with the closure of
    the semantics.
    """
    closure = None
    if semantics is not None:
        closure = semantics.closure
    return [
        (answer.relation, _by_closure(answer.window, stated, closure), answer.instant)
        for answer in answers
    ]


def of_verdict(
    question: Question,
    answers: Sequence[EngineReport],
    judgement: Judgement | None,
    text: str = "",
) -> dict[str, Any]:
    """Return the evidence of a verdict. The reports that are due are those of the assignment that
    passes, or of the one that comes nearest.

    It adds `before`, how many of these reports were not recorded before the first relation, if any,
    and for a fail `diverges`, the index of the engine's report at which the nearest assignment
    diverges, and `rests_on`: the first `row` that is lacking or too many there, which of the two
    (`is_lacking`), and the indices of the `elements` on which it rests.
    """
    if judgement is None or judgement.trial is None:
        return evidence(question, answers, None, None, text)
    due = [(report.relation, report.window, report.evaluation) for report in _due(judgement)]
    stated_closure = judgement.recorded.window_closure
    table = evidence(question, answers, due, judgement.trial.semantics, text, stated_closure)
    if judgement.trial.divergence is not None:
        table["diverges"] = judgement.trial.divergence.index
        if origin := find_row_origin(judgement):
            rests_on = _rests_on(origin, table["elements"])
            if _count_characters(rests_on["row"]) <= CHARACTERS_OF_ROW:
                table["rests_on"] = rests_on
    if before := _before(judgement):
        table["before"] = before
    return table


def states_windows(table: Mapping[str, Any]) -> bool:
    """Whether the engine states the window of a report, by the evidence of its result."""
    return any("window" in report for report in table["actual"])


def _rests_on(origin: RowOrigin, elements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the origin of a row as evidence has it."""
    wanted = {(element.app, to_nquads(element.graph)) for element in origin.elements}
    variables = tuple(name for name, _ in origin.row)
    relation = Relation(variables, Counter([origin.row]))
    return {
        "row": relation_to_json(relation)["results"]["bindings"][0],
        "is_lacking": origin.is_lacking,
        "elements": [
            number
            for number, element in enumerate(elements)
            if (element["at"], element["graph"]) in wanted
        ],
    }


def _due(judgement: Judgement, most: int = REPORTS + 1) -> tuple[engine.Report, ...]:
    """Return the first reports that are due by a verdict: by default one more than evidence has.

    For a pass they are the reports with which the verdict explains the recording. For a fail they
    are all reports of the nearest assignment.
    """
    if judgement.passed and judgement.alignment is not None:
        return judgement.alignment.reports[:most]
    return judgement.reports.first(most)


def _before(judgement: Judgement) -> int:
    """Return how many reports were due before the recording's first relation."""
    if judgement.alignment is not None:
        return judgement.alignment.before
    if judgement.trial is None or judgement.trial.accepting_state is None:
        return 0
    return judgement.trial.accepting_state.before


def of_benchmark(
    question: Question,
    answers: Sequence[EngineReport],
    judgement: Judgement | None,
    text: str = "",
) -> dict[str, Any]:
    """Return the evidence of a verdict on a benchmark's query, with YABench's measures."""
    table = of_verdict(question, answers, judgement, text)
    metrics = measures(answers, judgement)
    if metrics is not None:
        table["metrics"] = metrics
    return table


def measures(
    answers: Sequence[EngineReport],
    judgement: Judgement | None,
    reading: Reading = Reading.PAPER,
    most: int = REPORTS,
    *,
    is_from_start: bool = False,
) -> list[dict[str, Any]] | None:
    """Return YABench's measures, an entry for each window (`bench.metrics.run`). None if YABench
    has no measure for such a query, or if there are more than `most` reports.

    The verdict says which report is the first that was recorded. If `is_from_start`, it is known to
    be the first of all, whatever the verdict of a fail takes for the nearest.
    """
    if judgement is None or judgement.trial is None:
        return None
    reports = _due(judgement, most + 1)
    if len(reports) > most or len(answers) > most:
        return None
    stop = len(reports)
    if judgement.trial.accepting_state is not None:
        stop -= judgement.trial.accepting_state.after
    output = EngineOutput(
        [answer.relation.rows for answer in answers], [answer.instant for answer in answers]
    )
    start = 0 if is_from_start else _before(judgement)
    recorded_reports = reports[start:stop]
    try:
        return of_run(
            judgement.setting,
            recorded_reports,
            output,
            reading=reading,
            answer=UNCONFIRMED,
            is_incremental=True,
        )
    except Unsupported:
        return None


def _by_closure(
    stated: Borders | None,
    stated_closure: Closure | None,
    closure: Closure | None,
) -> Borders | None:
    """Return the borders that a stated window has by another closure: (-1, 9] is [0, 10) by `[)`.
    They stay as they are where one of the closures is None.
    """
    instants = first_and_last_instant(stated, stated_closure)
    if instants is None or stated_closure is None or closure is None:
        return stated
    low, high = borders(closure)
    return instants[0] - low, instants[1] - high


def _window(window: Window) -> dict[str, Any]:
    """Return a window as a case file has it. What no query needs to state is left out where it has
    its usual value.
    """
    entry: dict[str, Any] = {
        "stream": window.stream,
        "kind": str(window.kind),
        "size": window.size,
        "slide": window.slide,
    }
    if window.lag:
        entry["lag"] = window.lag
    if window.unit is not Unit.ELEMENTS:
        entry["unit"] = str(window.unit)
    if window.by:
        entry["by"] = list(window.by)
    if window.name is not None:
        entry["name"] = window.name
    if window.triggers:
        entry["triggers"] = True
    return entry


def _elements(names: Iterable[str], streams: Mapping[str, Stream]) -> Iterator[dict[str, Any]]:
    """Yield the first elements of some streams, as many as there is room for."""
    room = TRIPLES
    for name in names:
        for element in streams[name]:
            room -= 1 + len(element.graph)
            if room < 0:
                return
            entry: dict[str, Any] = {
                "stream": name,
                "at": element.app,
                "graph": to_nquads(element.graph),
            }
            if element.batch is not None:
                entry["batch"] = element.batch
            if element.end not in (None, element.app):
                entry["end"] = element.end
            yield entry


def _first_reports(reports: Iterable[DueReport]) -> Iterator[dict[str, Any]]:
    """Yield the first reports with their first rows, as many as there is room for: the first row
    for which there is none ends all rows.
    """
    room = ROWS
    characters = CHARACTERS
    for relation, window, instant in islice(reports, REPORTS):
        rows = []
        for row in relation_to_json(relation)["results"]["bindings"] if room else ():
            characters -= _count_characters(row)
            if not room or characters < 0:
                room = 0
                break
            room -= 1
            rows.append(row)
        entry: dict[str, Any] = {"rows": rows, "total": relation.rows.total()}
        if window is not None:
            entry["window"] = list(window)
        if instant is not None:
            entry["instant"] = instant
        yield entry


def _count_characters(row: Mapping[str, Any]) -> int:
    """Return how many characters a row of SPARQL 1.1 JSON has in ASCII."""
    return len(json.dumps(row))


def _is_cut(reports: list[dict[str, Any]], total: int) -> bool:
    """Whether some of `total` reports, or some rows of a report, are left out."""
    return len(reports) < total or any(len(report["rows"]) < report["total"] for report in reports)


# The origin of a row is looked for in streams of at most so many elements,
STREAM_BOUND = 400
# and of the rows that are too many for at most so many.
ROWS_BOUND = 20


class RowOrigin(NamedTuple):
    """The first row that is lacking or too many at the first divergence, and the elements on which
    it rests.
    """

    row: Row
    is_lacking: bool
    elements: tuple[Element, ...]


def find_row_origin(judgement: Judgement) -> RowOrigin | None:
    """Return the origin of the first row that is lacking: elements of the window at the first
    divergence. If no such row has one, return that of the first row that is too many: elements of
    that window, else of all that came so far, else of all. None if there is no such row, or the
    body does not say in one way on which triples a row rests.
    """
    if judgement.trial is None or judgement.trial.divergence is None:
        return None
    where = judgement.trial.divergence
    actual = None if where.reason in LACKING else where.actual
    lacking, surplus = compare.difference(where.expected or Bag(), actual or Bag(), judgement.mode)
    body = judgement.recorded.query.body
    found = find_derivation(body, where.content, lacking)
    if found is not None:
        return RowOrigin(found.row, True, tuple(elements_with(found, where.content)))

    for row in sorted(surplus)[:ROWS_BOUND]:
        for elements in _contents_to_search(judgement, where):
            if found := _find_equal_derivation(body, elements, row, judgement.mode):
                return RowOrigin(row, False, tuple(elements_with(found, elements)))
    return None


def _contents_to_search(judgement: Judgement, where: Divergence) -> Iterator[Sequence[Element]]:
    """Yield the elements among which the origin of a row that is too many is looked for: those of
    the window, those that came so far, and all; only the window's if the streams are long.
    """
    yield where.content
    stream = [element for elements in judgement.recorded.streams.values() for element in elements]
    if len(stream) <= STREAM_BOUND:
        if where.evaluation is not None:
            yield [element for element in stream if element.app <= where.evaluation]
        yield stream


def find_derivation(
    body: Body,
    content: Iterable[Element],
    rows: Iterable[Row],
) -> Derivation | None:
    """Return a derivation over a content of the first of some rows that has one; None if none has,
    or the body does not say it in one way.
    """
    wanted = set(rows)
    if not wanted or derivations.pattern(body) is None:
        return None
    graph = frozenset[Triple]().union(*(element.graph for element in content))
    try:
        found = derivations.derivations(body, graph)
    except Unsupported:
        return None
    return min(
        (each for each in found if each.row in wanted),
        key=lambda each: (each.row, sorted(each.support)),
        default=None,
    )


def elements_with(found: Derivation, content: Sequence[Element]) -> Iterator[Element]:
    """Yield the elements of a content that have a triple on which a derivation rests."""
    return (element for element in content if element.graph & found.support)


def _find_equal_derivation(
    body: Body,
    stream: Iterable[Element],
    row: Row,
    mode: compare.Mode,
) -> Derivation | None:
    """Return a derivation of a recorded row over all elements of a stream. Only bodies are searched
    in which the terms of the row lead to its triples.
    """
    if derivations.pattern(body) is None or not derivations.bindable(body):
        return None
    graph = frozenset[Triple]().union(*(element.graph for element in stream))
    try:
        found = derivations.derivations(body, graph, row)
    except Unsupported:
        return None
    one = Counter([row])
    equal = (each for each in found if compare.equal(one, Counter([each.row]), mode))
    return min(equal, key=lambda each: sorted(each.support), default=None)
