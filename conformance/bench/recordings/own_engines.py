"""CSRBench without recordings from elsewhere: the reference engine and three wrong engines are
recorded here, over the embedded stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from conformance.bench.recordings.csrbench import (
    HERE,
    OURS,
    TABLE_ORDER,
    QueryFolder,
    as_csrbench_result,
    query,
    question_over,
    stream,
    with_evidence,
)
from conformance.certificates.maker import write_certificate
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.outcomes import Judging, judge_relations
from conformance.verdict.results import Outcome, Result
from refengine import incremental
from refengine.core import engine
from refengine.core.profiles import profile
from refengine.core.query import Query
from refengine.model.elements import Relation, Stream
from refengine.oracle.answers import SharedAnswers

# imported only where it is used: that takes long, and not every run needs it
if TYPE_CHECKING:
    from conformance.wrong_engines import WrongEngine

EMBEDDED = (HERE / "fixtures" / "csrbench", HERE.parent / "fixtures" / "csrbench")
SEED = 2013
# wrong engines whose defects were seen in real ones
WRONG = ("WIN-8 nothing expires", "ENG-2 latest of a gap", "R2R-2 sets of solutions")


@dataclass(frozen=True)
class Recorder:
    """An engine of ours that is recorded here: its name, its profile, and the wrong engine that it
    is, if it is one.
    """

    name: str
    profile: str
    wrong_engine: WrongEngine | None = None


def recorders() -> list[Recorder]:
    """Return the reference engine under each of CSRBench's profiles, and three wrong engines under
    C-SPARQL's.
    """
    from conformance.wrong_engines import WRONG_ENGINES

    reference = [Recorder(f"reference/{name}", name) for name in TABLE_ORDER]
    by_name = {wrong_engine.full_name: wrong_engine for wrong_engine in WRONG_ENGINES}
    return reference + [
        Recorder(f"wrong/{by_name[name].rule}", "csparql", by_name[name]) for name in WRONG
    ]


def embedded() -> Path:
    """Return the folder of the embedded stream."""
    return next(path for path in EMBEDDED if path.is_dir())


def record(
    recorder: Recorder,
    name: str,
    benchmark_query: Query,
    folder: Path,
    is_evaluator_requested: bool = False,
) -> list[Relation]:
    """Record what an engine of ours answers to a query. The reference engine computes it
    incrementally, unless the SPARQL evaluator is asked for; a wrong engine computes it anew,
    of which a function is replaced. Its t0 and the arrival order of
    simultaneous elements are drawn with a fixed seed; as with a live engine, the judge is not told
    them.
    """
    draw = Random(f"{SEED} {recorder.profile} {name}")
    spec, elements = benchmark_query.windows[0], list(stream(folder))
    draw.shuffle(elements)
    elements = [e._replace(sys=n) for n, e in enumerate(sorted(elements, key=lambda e: e.app), 1)]
    t0 = elements[0].app - spec.span - draw.randrange(spec.step)
    chosen = profile(recorder.profile).but(t0=t0).semantics()
    streams = {spec.stream: Stream(tuple(elements))}

    if recorder.wrong_engine is not None:
        with recorder.wrong_engine.installed():
            reports = list(engine.evaluate(benchmark_query, streams, chosen))
    elif is_evaluator_requested:
        reports = list(engine.evaluate(benchmark_query, streams, chosen))
    else:
        reports = list(incremental.evaluate(benchmark_query, streams, chosen))
    return [report.relation for report in reports]


def judge_ours(
    name: str,
    judging: Judging,
    chosen: Iterable[Recorder] | None = None,
    written: QueryFolder = OURS,
    answers: SharedAnswers | None = None,
) -> list[Result]:
    """Judge our own engines on one query. They share the answers of windows, which are computed
    once. `answers` is a table that further calls may share; None makes a new one.
    """
    answers = answers or judging.shared_answers()
    question = question_over(query(name, written), embedded())
    if chosen is None:
        chosen = recorders()
    results = []
    for recorder in chosen:
        recording = record(
            recorder, name, question.query, embedded(), judging.is_evaluator_requested
        )
        result = judge_relations(
            question,
            profile(recorder.profile),
            recording,
            missing=judging.bound,
            witnesses=judging.witnesses,
            answers=answers,
        )
        if judging.certificates is not None:
            item = f"{recorder.name} {name}"
            write_certificate(
                judging.certificates, item, result.judgement, profile(recorder.profile), answers
            )
        if judging.keep:
            result = with_evidence(result, question, list(map(EngineReport, recording)))
        results.append(as_csrbench_result(result, recorder.name, name))
    return results


def judge_recorder(
    recorder: Recorder, name: str, judging: Judging, answers: SharedAnswers
) -> Result:
    """Judge one of our own engines on one query, with answers that others may share."""
    (result,) = judge_ours(name, judging, [recorder], answers=answers)
    return result


def self_check(results: Iterable[Result]) -> list[str]:
    """Return what is wrong with the verdicts on our own engines. The reference engine must pass
    every query, and each wrong engine must fail one.
    """
    outcomes: dict[str, list[Outcome]] = {}
    for result in results:
        outcomes.setdefault(result.engine, []).append(result.outcome)
    problems = []
    for name, of_engine in outcomes.items():
        if name.startswith("reference/") and set(of_engine) != {Outcome.PASS}:
            problems.append(f"{name} must pass every query")
        if name.startswith("wrong/") and Outcome.FAIL not in of_engine:
            problems.append(f"{name} must fail a query")
    return problems
