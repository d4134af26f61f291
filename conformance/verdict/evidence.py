"""What a result rests on, as JSON: elements, the reports expected and those given. Pages and
metrics are made of it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from conformance.metrics.run import of_run
from conformance.metrics.yabench import EngineOutput
from conformance.verdict.engine_report import EngineReport, to_nquads
from refengine.core import engine, r2r
from refengine.core.question import Question
from refengine.core.semantics import Semantics, show
from refengine.model.elements import Relation, Stream
from refengine.model.errors import Unsupported
from refengine.oracle.judge import Judgement
from refengine.rdf.recordings import relation_to_json

# kept of each; what is beyond is left out, and `cut` says so
TEXT, TRIPLES, ROWS, REPORTS = 4_000, 400, 2_000, 1_000


FAST = r2r.defined  # the verdict has asked every witness
# a report: its relation, window and instant
DueReport = tuple[Relation, tuple[int, int] | None, int | None]


def evidence(
    question: Question,
    answers: Sequence[EngineReport],
    expected: Sequence[DueReport] | None,
    semantics: Semantics | None,
    text: str = "",
) -> dict[str, Any]:
    """Return what a result rests on: `query`, the text that was asked; `windows`, its kinds, sizes
    and slides; `elements`: stream, `at`, `graph` (N-Triples), and `end` if it is no point; `actual`
    and `expected`, the reports given and due, each with `rows` (SPARQL 1.1 JSON), `total`, and
    `window` and `instant` where they are said; `semantics`, under which they are due. Benchmarks
    add `metrics` (`measures`), and `samples` of the resources that a live engine used.
    """
    query, streams = question.query, question.streams
    names = dict.fromkeys(window.stream for window in query.windows)
    actual = [(answer.relation, answer.window, answer.instant) for answer in answers]
    table: dict[str, Any] = {
        "query": (text or query.body.text)[:TEXT],
        "windows": [
            {"stream": w.stream, "kind": str(w.kind), "size": w.size, "slide": w.slide}
            for w in query.windows
        ],
        "elements": list(_elements(names, streams)),
        "elements_total": sum(len(streams[name]) for name in names),
        "actual": list(_first_reports(actual)),
    }
    cut = len(table["elements"]) < table["elements_total"] or _is_cut(table["actual"], len(answers))
    if expected is not None:
        table["expected"] = list(_first_reports(expected))
        cut = cut or _is_cut(table["expected"], len(expected))
    if semantics is not None:
        table["semantics"] = {name: _value(value) for name, value in vars(semantics).items()}
    return {**table, "cut": cut}


def of_verdict(
    question: Question,
    answers: Sequence[EngineReport],
    judgement: Judgement | None,
    text: str = "",
) -> dict[str, Any]:
    """Return the evidence of a verdict: what is due is what the assignment that wins, or is
    nearest, reports. `before` of these were not recorded, if any; `diverges` is the place among
    those given where a failed assignment goes no further.
    """
    if judgement is None or judgement.trial is None:
        return evidence(question, answers, None, None, text)
    due = [(report.relation, report.window, report.evaluation) for report in _due(judgement)]
    table = evidence(question, answers, due, judgement.trial.semantics, text)
    if judgement.trial.divergence is not None:
        table["diverges"] = judgement.trial.divergence.index
    if before := _before(judgement):
        table["before"] = before
    return table


def _due(judgement: Judgement) -> tuple[engine.Report, ...]:
    """Return the reports that a verdict rests on, one more than are kept.

    Of a pass those that it explains the recording with. Of a fail all, not only those that were
    needed to say how far it is from the recording.
    """
    if judgement.passed and judgement.alignment is not None:
        return judgement.alignment.reports[: REPORTS + 1]
    return judgement.reports.first(REPORTS + 1)


def _before(judgement: Judgement) -> int:
    """Return how many reports come before the recording's first relation."""
    if judgement.alignment is not None:
        return judgement.alignment.before
    if judgement.trial is None or judgement.trial.accepted is None:
        return 0
    return judgement.trial.accepted.before


def of_benchmark(
    question: Question, answers: Sequence[EngineReport], judgement: Judgement | None
) -> dict[str, Any]:
    """Return the evidence of a verdict on a benchmark's query, with its measures."""
    table = of_verdict(question, answers, judgement)
    metrics = measures(answers, judgement)
    if metrics is not None:
        table["metrics"] = metrics
    return table


def measures(
    answers: Sequence[EngineReport], judgement: Judgement | None
) -> list[dict[str, Any]] | None:
    """Return YABench's measures, an entry a window (metrics/run.py); None for what YABench has no
    measure for, and for outputs so long that they are not kept.
    """
    if judgement is None or judgement.trial is None:
        return None
    reports = _due(judgement)
    if len(reports) > REPORTS or len(answers) > REPORTS:
        return None
    stop = len(reports)
    if judgement.trial.accepted is not None:
        stop -= judgement.trial.accepted.after
    output = EngineOutput(
        [answer.relation.rows for answer in answers], [answer.instant for answer in answers]
    )
    beside = reports[_before(judgement) : stop]
    try:
        return of_run(judgement.setting, beside, output, answer=FAST, is_incremental=True)
    except Unsupported:
        return None


def _elements(names: Iterable[str], streams: Mapping[str, Stream]) -> Iterator[dict[str, Any]]:
    """Yield the first elements of some streams, as many as are kept."""
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
            if element.end not in (None, element.app):
                entry["end"] = element.end
            yield entry


def _value(value: Any) -> Any:
    """Return a field's value as JSON has it."""
    if isinstance(value, int):
        return value
    return show(value)


def _first_reports(reports: Iterable[DueReport]) -> Iterator[dict[str, Any]]:
    """Yield the first reports with their first rows, as many as are kept."""
    room = ROWS
    for relation, window, instant in islice(reports, REPORTS):
        rows = relation_to_json(relation)["results"]["bindings"][: max(0, room)]
        room -= len(rows)
        entry: dict[str, Any] = {"rows": rows, "total": relation.rows.total()}
        if window is not None:
            entry["window"] = list(window)
        if instant is not None:
            entry["instant"] = instant
        yield entry


def _is_cut(reports: list[dict[str, Any]], total: int) -> bool:
    """Whether fewer reports are kept than there are, or fewer rows of one."""
    return len(reports) < total or any(len(report["rows"]) < report["total"] for report in reports)
