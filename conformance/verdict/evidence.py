"""What a result rests on, as JSON: elements, the reports expected and those given. Pages and
metrics are made of it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from conformance.metrics.run import of_run
from conformance.verdict.engine_report import EngineReport, to_nquads
from refengine import incremental
from refengine.core import engine, r2r
from refengine.core.query import Query
from refengine.core.semantics import Semantics, show
from refengine.model.elements import Dataset, Relation, Stream
from refengine.model.errors import TooManyReports, Unsupported
from refengine.oracle import judge
from refengine.rdf.recordings import relation_to_json

# kept of each; what is beyond is left out, and `cut` says so
TEXT, TRIPLES, ROWS, REPORTS = 4_000, 400, 2_000, 1_000


FAST = r2r.defined  # the verdict has asked every witness
# a report: its relation, window and instant
Told = tuple[Relation, tuple[int, int] | None, int | None]


def evidence(
    query: Query,
    streams: Mapping[str, Stream],
    answers: Sequence[EngineReport],
    expected: Sequence[Told] | None,
    semantics: Semantics | None,
    text: str = "",
) -> dict[str, Any]:
    """`query`, the text that was asked; `windows`, its kinds, sizes and slides; `elements`: stream,
    `at`, `graph` (N-Triples), and `end` if it is no point; `actual` and `expected`, the reports
    given and due, each with `rows` (SPARQL 1.1 JSON), `total`, and `window` and `instant` where
    they are said; `semantics`, under which they are due. Benchmarks add `metrics` (`measured`), and
    `samples` of the resources that a live engine used.
    """
    named = dict.fromkeys(window.stream for window in query.windows)
    found: dict[str, Any] = {
        "query": (text or query.body.text)[:TEXT],
        "windows": [
            {"stream": w.stream, "kind": str(w.kind), "size": w.size, "slide": w.slide}
            for w in query.windows
        ],
        "elements": list(_elements(named, streams)),
        "elements_total": sum(len(streams[name]) for name in named),
        "actual": list(
            _kept((answer.relation, answer.window, answer.instant) for answer in answers)
        ),
    }
    cut = len(found["elements"]) < found["elements_total"] or _is_cut(found["actual"], len(answers))
    if expected is not None:
        found["expected"] = list(_kept(expected))
        cut = cut or _is_cut(found["expected"], len(expected))
    if semantics is not None:
        found["semantics"] = {
            name: value if isinstance(value, int) else show(value)
            for name, value in vars(semantics).items()
        }
    return {**found, "cut": cut}


def judged(
    query: Query,
    streams: Mapping[str, Stream],
    static: Dataset,
    answers: Sequence[EngineReport],
    facts: judge.Judgement | None,
    text: str = "",
) -> dict[str, Any]:
    """The evidence of a verdict: what is due is what the assignment that wins, or is nearest,
    reports. `before` of these were not recorded, if any; `diverges` is the place among those given
    where a failed assignment goes no further.
    """
    if facts is None or facts.trial is None:
        return evidence(query, streams, answers, None, None, text)
    semantics = facts.trial.semantics
    due = [
        (report.relation, report.window, report.evaluation)
        for report in _due(query, streams, static, facts)
    ]
    return {**evidence(query, streams, answers, due, semantics, text), **dict(_places(facts))}


def _due(
    query: Query, streams: Mapping[str, Stream], static: Dataset, facts: judge.Judgement
) -> list[engine.Report]:
    """The reports that a verdict rests on; those of the file's order of elements where arrival
    orders were searched.

    Of a fail all reports, not only those that were needed to tell how far it is from the recording.
    """
    if facts.passed and facts.alignment is not None:
        return list(facts.alignment.reports[: REPORTS + 1])
    assert facts.trial is not None  # a recording was held against it
    return list(_reports(query, streams, static, facts.trial.semantics))


def _before(facts: judge.Judgement) -> int:
    """How many reports come before the recording's first relation."""
    if facts.alignment is not None:
        return facts.alignment.before
    accepted = None if facts.trial is None else facts.trial.accepted
    return 0 if accepted is None else accepted.before


def _places(facts: judge.Judgement) -> Iterator[tuple[str, int]]:
    if facts.trial is not None and facts.trial.divergence is not None:
        yield "diverges", facts.trial.divergence.index
    if before := _before(facts):
        yield "before", before


def benchmarked(
    query: Query,
    streams: Mapping[str, Stream],
    answers: Sequence[EngineReport],
    facts: judge.Judgement | None,
) -> dict[str, Any]:
    """The evidence of a verdict on a benchmark's query, with its measures."""
    found, metrics = (
        judged(query, streams, frozenset(), answers, facts),
        measured(query, streams, frozenset(), answers, facts),
    )
    return found if metrics is None else {**found, "metrics": metrics}


def measured(
    query: Query,
    streams: Mapping[str, Stream],
    static: Dataset,
    answers: Sequence[EngineReport],
    facts: judge.Judgement | None,
) -> list[dict[str, Any]] | None:
    """YABench's measures, an entry a window (metrics/run.py); None for what YABench has no measure
    for, and for outputs so long that they are not kept.
    """
    if facts is None or facts.trial is None:
        return None
    trial, reports = facts.trial, _due(query, streams, static, facts)
    if len(reports) > REPORTS or len(answers) > REPORTS:
        return None
    after = trial.accepted.after if trial.accepted else 0
    rows, instants = (
        [answer.relation.rows for answer in answers],
        [answer.instant for answer in answers],
    )
    beside = reports[_before(facts) : len(reports) - after]
    try:
        return of_run(
            query,
            streams,
            trial.semantics,
            beside,
            rows,
            instants,
            static=static,
            answer=FAST,
            is_incremental=True,
        )
    except Unsupported:
        return None


def _elements(named: Iterable[str], streams: Mapping[str, Stream]) -> Iterable[dict[str, Any]]:
    left = TRIPLES
    for name in named:
        for element in streams[name]:
            left -= 1 + len(element.graph)
            if left < 0:
                return
            more = {} if element.end in (None, element.app) else {"end": element.end}
            yield {"stream": name, "at": element.app, "graph": to_nquads(element.graph), **more}


def _reports(
    query: Query, streams: Mapping[str, Stream], static: Dataset, semantics: Semantics
) -> Iterable[engine.Report]:
    try:
        yield from islice(
            incremental.evaluate(query, streams, semantics, static=static, answer=FAST), REPORTS + 1
        )
    except TooManyReports:  # those before it are shown
        return


def _kept(reports: Iterable[Told]) -> Iterable[dict[str, Any]]:
    left = ROWS
    for relation, window, instant in islice(reports, REPORTS):
        rows = relation_to_json(relation)["results"]["bindings"][: max(0, left)]
        left -= len(rows)
        said = {"window": None if window is None else list(window), "instant": instant}
        yield {
            "rows": rows,
            "total": relation.rows.total(),
            **{key: value for key, value in said.items() if value is not None},
        }


def _is_cut(kept: list[dict[str, Any]], total: int) -> bool:
    return len(kept) < total or any(len(report["rows"]) < report["total"] for report in kept)
