"""The verdict on the answers of a run, and the measures that stand beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.bench.benchmark import Benchmark, Run, Workload
from conformance.bench.feeding import count_elements
from conformance.bench.metrics.run import Reading
from conformance.harness.engine_file import Engine
from conformance.suite.deviations import Claim, find_explaining_deviations, write_explanation
from conformance.suite.exchange import BenchmarkQuery, Exchange
from conformance.suite.probe import describe_deviations
from conformance.verdict import evidence, explain, outcomes
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.outcomes import judge_relations
from conformance.verdict.results import BenchmarkRun, Outcome, Result
from conformance.verdict.time_limit import VerdictLimit, VerdictTooLate
from refengine.core.profile import UNKNOWN, Profile
from refengine.core.query import Query
from refengine.oracle.judge import Judgement
from refengine.oracle.trial import Missing

# More reports than these are judged, but not measured window by window.
MEASURED_REPORTS = 1_000_000


def profile_of(tested: Engine, workload: Workload, query: Query) -> Profile:
    """Return the profile under which an engine is judged: its own, or the workload's for an engine
    that is sent its semantics. Where it leaves t0 open, t0 is that of the workload, if it has one.
    """
    if tested.is_configurable:
        return workload.semantics
    profile = tested.profile_for(query)
    if workload.t0 is not None and profile.fields.get("t0") == UNKNOWN:
        return profile.but(t0=workload.t0(query, profile))
    return profile


def judge_run(
    benchmark: Benchmark,
    tested: Engine,
    run: Run,
    digests: Mapping[str, str],
    *,
    verdict_limit: VerdictLimit | None = None,
    is_fail_explained: bool = False,
) -> Result:
    """Return the result of a run: its outcome under the engine's profile, the explanation, the
    known deviations that explain a fail, and the evidence with what was measured. `digests` are
    those of the streams' files. `verdict_limit` limits the time of a verdict, and has the answers
    that several runs of the workload may share; None makes a new one. If `is_fail_explained`, the
    explanation of a fail says what would explain it.

    The verdict is on relations alone, and not on the windows that the engine states, so that it can
    be compared with one on a recording. A run without a verdict in time is `unsupported`. The
    search for known deviations may take as long as a verdict, and so may each of the two searches
    for what would explain a fail.

    Raises Disputed if no witness confirms an answer that is measured, and RefengineError for a
    query or a semantics without an answer that can be judged.
    """
    workload, raw_exchange = run.workload, run.feeding.exchange
    profile = profile_of(tested, workload, raw_exchange.question.query)
    answers = [answer._replace(window=None) for answer in raw_exchange.answers]
    exchange = replace(raw_exchange, answers=answers, missing=Missing.of(workload.missing))
    verdict_limit = verdict_limit or VerdictLimit()
    judged = _judge(exchange, profile, workload, verdict_limit)
    table = evidence.of_verdict(exchange.question, answers, judged.judgement, exchange.text)
    entries = measure_windows(workload, answers, judged.judgement)
    if entries is not None:
        table["metrics"] = entries
    table["samples"] = [sample.as_json() for sample in run.feeding.samples]
    table["run"] = _run_as_json(benchmark, run, digests, judged.judgement)
    result = replace(
        judged,
        engine=run.engine,
        suite=benchmark.name,
        case=case_of(workload, run.number),
        evidence=table,
        benchmark_run=run_of_test(workload, run.number),
        judgement=None,
    )
    if result.outcome is not Outcome.FAIL:
        return result
    if is_fail_explained:
        assert judged.judgement is not None  # it fails
        explanation = _explain_fail(tested, workload, exchange, judged.judgement, verdict_limit)
        result = replace(result, explanation=explanation)
    engine_under_profile = replace(tested, profile=profile)
    return _with_known_deviations(engine_under_profile, exchange, result, run, verdict_limit)


def _judge(
    exchange: Exchange, profile: Profile, workload: Workload, verdict_limit: VerdictLimit
) -> Result:
    """Return the verdict on answers, `unsupported` if there is none in time."""
    try:
        with verdict_limit.enforce():
            return judge_relations(
                exchange.question,
                profile,
                exchange.relations,
                timestamps=[answer.instant for answer in exchange.answers],
                missing=exchange.missing,
                witnesses=workload.witnesses,
                answers=verdict_limit.answers,
                is_fail_explained=False,
            )
    except VerdictTooLate as error:
        explanation = (
            f"no verdict: profile {profile.name}; {error} (a greater --verdict-seconds allows more)"
        )
        return Result(
            engine=profile.name,
            suite="",
            case="",
            outcome=Outcome.UNSUPPORTED,
            explanation=explanation,
        )


def _explain_fail(
    tested: Engine,
    workload: Workload,
    exchange: Exchange,
    judgement: Judgement,
    verdict_limit: VerdictLimit,
) -> str:
    """Return the explanation of a fail with what would explain it, if that is found in time."""
    profile = profile_of(tested, workload, exchange.question.query)
    timestamps = [answer.instant for answer in exchange.answers]
    try:
        with verdict_limit.enforce():
            explanation = outcomes.explain_fail_in_full(
                profile, judgement, verdict_limit.answers, timestamps
            )
    except VerdictTooLate as error:
        reason = f"what would explain it was not found: {error}"
        return explain.explain_fail(profile, judgement, None, None, reason)
    try:
        with verdict_limit.enforce():
            with_open_t0 = _describe_verdict_with_open_t0(tested, workload, exchange, verdict_limit)
    except VerdictTooLate as error:
        with_open_t0 = f"  if t0 is left open: no verdict; {error}"
    return f"{explanation}\n{with_open_t0}".rstrip()


def _with_known_deviations(
    engine_under_profile: Engine,
    exchange: Exchange,
    result: Result,
    run: Run,
    verdict_limit: VerdictLimit,
) -> Result:
    """Return the result of a fail with the known deviations that explain it, if these are found in
    time. The engine has the profile under which it was judged.
    """
    about = BenchmarkQuery(result.case, "", f"{result.suite} {result.case}")
    claim = Claim.of(engine_under_profile, exchange.question.query)
    try:
        with verdict_limit.enforce():
            found = find_explaining_deviations(
                engine_under_profile, about, exchange, verdict_limit.answers, run.workload.witnesses
            )
    except VerdictTooLate as error:
        line = f"  whether a known deviation explains it is not known: {error}"
        return replace(result, explanation=f"{result.explanation}\n{line}")
    return replace(
        result,
        explanation=f"{result.explanation}\n{write_explanation(about, found, claim)}",
        known=describe_deviations(found, about, claim),
    )


def _describe_verdict_with_open_t0(
    tested: Engine, workload: Workload, exchange: Exchange, verdict_limit: VerdictLimit
) -> str:
    """Return a heading and the first three lines of the explanation under the engine's own profile,
    which leaves t0 open. Return "" if the workload fixes no t0, or if the engine is sent its
    semantics.
    """
    query = exchange.question.query
    if tested.is_configurable or profile_of(tested, workload, query) == tested.profile_for(query):
        return ""
    judged = judge_relations(
        exchange.question,
        tested.profile_for(query),
        exchange.relations,
        missing=exchange.missing,
        witnesses=workload.witnesses,
        answers=verdict_limit.answers,
        is_fail_explained=False,
    )
    first_lines = judged.explanation.splitlines()[:3]
    return "\n".join(["  if t0 is left open:", *(f"    {line.strip()}" for line in first_lines)])


def measure_windows(
    workload: Workload,
    answers: Sequence[EngineReport],
    judgement: Judgement | None,
    reading: Reading | None = None,
) -> list[dict[str, Any]] | None:
    """Return YABench's measures of each window, by default in the reading of the workload. None if
    YABench has none for such a query.

    If the verdict allowed no output to be missing before the first answer, the first answer stands
    beside the first window.
    """
    is_from_start = judgement is not None and judgement.missing.before == 0
    return evidence.measures(
        answers,
        judgement,
        reading or workload.reading,
        MEASURED_REPORTS,
        is_from_start=is_from_start,
    )


def run_of_test(workload: Workload, number: int) -> BenchmarkRun:
    """Return which run of which test it is."""
    return BenchmarkRun(workload.experiment, workload.test, number)


def case_of(workload: Workload, number: int) -> str:
    """Return the case of a result: `1 small run 02`, or `Q3` for a workload that is run once."""
    if workload.runs == 1:
        return workload.name
    return f"{workload.name} run {number:02d}"


def _run_as_json(
    benchmark: Benchmark,
    run: Run,
    digests: Mapping[str, str],
    judgement: Judgement | None,
) -> dict[str, Any]:
    """Return what was run and how, as evidence has it."""
    feeding, exchange = run.feeding, run.feeding.exchange
    table = {
        "streams": dict(digests),
        "elements": count_elements(exchange),
        "is_live": feeding.is_live,
        "seconds": feeding.seconds,
        "answers": len(exchange.answers),
        "rows": sum(relation.rows.total() for relation in exchange.relations),
        "sampling_seconds": feeding.sampling_seconds,
        "measures": dict(benchmark.measure(run, judgement)),
    }
    if feeding.sent_late is not None:
        table["sent_late"] = feeding.sent_late
    return table
