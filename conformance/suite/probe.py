"""Putting one question to one engine, and judging what it answers.

The oracle judges the answers under the semantics that the engine sets out to have. An engine that
is sent its semantics is held to the case's own expectations instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance import corpus
from conformance.certificates.maker import write_certificate
from conformance.corpus import Case, window_cases
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Deviation, Engine
from conformance.harness.play import Declined, EngineQuery
from conformance.suite.deviations import (
    NO_CLAIM,
    Claim,
    broken_rules,
    find_crash_deviations,
    find_explaining_deviations,
    write_explanation,
)
from conformance.suite.exchange import (
    BenchmarkQuery,
    Exchange,
    PreparedQuestion,
    ask_case,
    ask_question,
)
from conformance.suite.smallest_stream import describe_smallest_stream
from conformance.verdict import evidence, outcomes, window_elements
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import KnownDeviation, Outcome, Result
from conformance.verdict.wording import contents_text
from refengine.core.arrivals import are_first_reports_final
from refengine.core.profile import Profile
from refengine.core.query import Query
from refengine.core.question import Question, Setting
from refengine.core.semantics import FIELDS
from refengine.core.values import Closure
from refengine.model import compare
from refengine.model.errors import Disputed, InvalidStream, RefengineError, Unsupported
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.trial import first_and_last_instant


def probe_case(
    tested: Engine, harness: Harness, case: Case, certificates: Path | None = None
) -> Result:
    """Put a case to an engine, and return the result. There is one whatever the engine does. If a
    folder for certificates is given, that of the verdict is written into it.
    """

    def ask() -> Result:
        if tested.is_configurable:
            return hold_to_expectations(tested, harness, case, certificates)
        result = judge_exchange(tested, case, ask_case(tested, harness, case), certificates)
        if case.suite == window_cases.SUITE and result.is_fail_without_known_deviation:
            lines = describe_smallest_stream(tested, harness, corpus.question_of(case))
            result = replace(result, explanation="\n".join([result.explanation, *lines]))
        return result

    return _result_or_error(tested, case, ask)


def probe_benchmark(
    tested: Engine,
    harness: Harness,
    query: BenchmarkQuery,
    question: Question,
    certificates: Path | None = None,
) -> Result:
    """Put a benchmark's query to an engine, and return the result. Only the relations are judged,
    and not the windows that the engine states: so the verdict can be compared with one on a
    recording, which has relations alone.
    """

    def ask() -> Result:
        exchange = ask_question(tested, harness, question, query.table)
        answers = [answer._replace(window=None) for answer in exchange.answers]
        return judge_exchange(tested, query, replace(exchange, answers=answers), certificates)

    return _result_or_error(tested, query, ask)


def _result_or_error(
    tested: Engine,
    case: Case | BenchmarkQuery,
    ask: Callable[[], Result],
) -> Result:
    """Return the result of asking a question, or the result for the error with which it ends.

    A RefengineError says that the case and the claimed semantics have no answer that could be
    judged. It becomes `unsupported`, since the engine cannot be blamed for it.
    """
    try:
        return ask()
    except (Unsupported, Declined) as error:
        return _make_result(tested, case, Outcome.UNSUPPORTED, str(error))
    except Disputed as error:
        return _make_result(tested, case, Outcome.DISPUTED, str(error))
    except Broken as error:
        deviations = find_crash_deviations(tested, case)
        explanation = f"{error}\n{write_explanation(case, deviations, NO_CLAIM)}"
        broken = _make_result(tested, case, Outcome.ERROR, explanation)
        return replace(broken, known=describe_deviations(deviations, case, NO_CLAIM))
    except RefengineError as error:
        explanation = (
            f"the case has no answer under this semantics, so it says nothing here: {error}"
        )
        return _make_result(tested, case, Outcome.UNSUPPORTED, explanation)


def _make_result(
    tested: Engine,
    case: Case | BenchmarkQuery,
    outcome: Outcome,
    explanation: str,
) -> Result:
    """Return a result with an outcome and an explanation. It has no evidence, judgement, witnesses
    and known deviations yet.
    """
    return Result(
        engine=tested.name,
        suite=case.suite,
        case=case.id,
        rule=case.rule,
        outcome=outcome,
        explanation=explanation,
    )


def describe_deviations(
    deviations: tuple[Deviation, ...],
    case: Case | BenchmarkQuery,
    claim: Claim,
) -> tuple[KnownDeviation, ...]:
    """Return deviations as the result of a case has them. `claim` is what the engine claims."""
    return tuple(
        KnownDeviation(
            deviation.reason,
            deviation.link,
            broken_rules(deviation, case.rule, claim),
            deviation.can_be_granted,
        )
        for deviation in deviations
    )


def judge_exchange(
    tested: Engine,
    case: Case | BenchmarkQuery,
    exchange: Exchange,
    certificates: Path | None = None,
) -> Result:
    """Judge an engine's answers under the semantics that it sets out to have. The result of a fail
    has the known deviations that explain it, if they do.
    """
    question = exchange.question
    profile = tested.profile_for(question.query)
    answers = SharedAnswers()  # of the verdict, and of those with known deviations
    try:
        judged = outcomes.judge_relations(
            question, profile, exchange.relations, answers=answers, **exchange.judgement_options
        )
    except InvalidStream as error:
        if error.rule != "MOD-2":
            raise
        # The oracle refuses the stream, since the engine's semantics refuses late elements. But the
        # engine has answered, and so it did not refuse: a fail without a judgement.
        explanation = f"{error}; the engine must refuse that element, and has accepted it"
        judged = _make_result(tested, case, Outcome.FAIL, explanation)

    judgement = judged.judgement
    if certificates is not None:
        write_certificate(certificates, f"{tested.name} {case.id}", judgement, profile, answers)
    make_evidence = evidence.of_verdict
    if isinstance(case, BenchmarkQuery):
        make_evidence = evidence.of_benchmark
    evidence_table = make_evidence(question, exchange.answers, judgement, exchange.text)
    explanation = judged.explanation
    if tested.tolerance:
        explanation += (
            f"\n  replayed on the wall clock; an element may have come {tested.tolerance:g} of a "
            "unit of time late"
        )
    claim = Claim.of(tested, question.query)
    deviations: tuple[Deviation, ...] = ()
    if judged.outcome is Outcome.FAIL:
        deviations = find_explaining_deviations(tested, case, exchange, answers)
        explanation += f"\n{write_explanation(case, deviations, claim)}"
    return replace(
        _make_result(tested, case, judged.outcome, explanation),
        known=describe_deviations(deviations, case, claim),
        evidence=evidence_table,
        witnesses=judged.witnesses,
        computed_by=judged.computed_by,
    )


Block = Mapping[str, Any]  # one [[expect]] of a case


def expects_reports(case: Case) -> bool:
    """Whether a case expects reports, and so says what a configurable engine must answer."""
    return bool(_blocks(case))


def _blocks(case: Case) -> list[Block]:
    """Return the blocks of a case that expect reports; each has its own semantics."""
    return [block for block in case.table.get("expect", []) if "max_reports" not in block]


def hold_to_expectations(
    tested: Engine, harness: Harness, case: Case, certificates: Path | None = None
) -> Result:
    """Put the question of a case to an engine once for each block of expectations, under its
    semantics, and return the result: a pass if the answers to all are as expected.
    """
    if not expects_reports(case):
        raise Unsupported(
            "the case expects nothing that an engine could answer",
            rule="case",
            place=case.path,
        )
    question = corpus.question_of(case)
    lines: list[str] = []
    evidence_table: dict[str, Any] | None = None
    for number, (block, prepared) in enumerate(prepare_blocks(tested, case, question)):
        engine_query = prepared.engine_query
        assert engine_query.semantics is not None  # that of the block
        setting = question.under(engine_query.semantics)
        answers = prepared.ask(harness)
        if certificates is not None:
            name = f"{tested.name} {case.id} {number}"
            _judge_with_certificate(certificates, name, tested, setting, answers)
        differences = list(_differences(setting, block, answers, tested.window_closure))
        # the evidence is that of the first block that differs, or else of the first block
        if evidence_table is None or (differences and not lines):
            due = [_due_report(report, question.query) for report in block["reports"]]
            evidence_table = evidence.evidence(
                question,
                answers,
                due,
                setting.semantics,
                engine_query.text,
                tested.window_closure,
            )
        lines += differences
    outcome = Outcome.PASS
    if lines:
        outcome = Outcome.FAIL
    explanation = "\n".join(f"{case.rule}: {line}" for line in lines)
    return Result(
        engine=tested.name,
        suite=case.suite,
        case=case.id,
        rule=case.rule,
        outcome=outcome,
        explanation=explanation,
        evidence=evidence_table,
    )


def _judge_with_certificate(
    folder: Path, name: str, tested: Engine, setting: Setting, answers: list[EngineReport]
) -> None:
    """Judge the answers of an engine that is sent its semantics, and write the certificate."""
    fields = {field: getattr(setting.semantics, field) for field in FIELDS}
    profile = Profile(tested.name, "the semantics that it is sent", fields)
    exchange = Exchange(setting.question, answers, window_closure=tested.window_closure)
    shared = SharedAnswers()
    judged = outcomes.judge_relations(
        setting.question,
        profile,
        exchange.relations,
        answers=shared,
        is_fail_explained=False,
        **exchange.judgement_options,
    )
    write_certificate(folder, name, judged.judgement, profile, shared)


def prepare_blocks(
    tested: Engine,
    case: Case,
    question: Question,
) -> Iterator[tuple[Block, PreparedQuestion]]:
    """Yield the blocks of a case that expect reports, each with the question of the case as it is
    put to an engine that is sent the semantics of the block. Raises RefengineError.
    """
    text = tested.text(question.query, bool(question.static), corpus.query_table(case))
    for block in _blocks(case):
        semantics = corpus.semantics_of(block["semantics"])
        engine_query = EngineQuery(question.query, text, tested.dialect, semantics)
        yield block, PreparedQuestion(question, engine_query)


def _due_report(report: Mapping[str, Any], query: Query) -> evidence.DueReport:
    """Return an expected report: its relation, window and instant."""
    window = None
    if report.get("window"):
        opens, closes = report["window"]
        window = (opens, closes)
    return corpus.relation(report["rows"], query), window, report.get("instant")


def instants_of_reports(setting: Setting) -> frozenset[int] | None:
    """Return the instants of the elements with which reports may come. None if a later element may
    change what is reported before it, so that this cannot be said.
    """
    if not are_first_reports_final(setting.query, setting.semantics):
        return None
    names = {window.stream for window in setting.query.windows}
    return frozenset(element.app for name in names for element in setting.streams[name])


def _differences(
    setting: Setting,
    block: Block,
    answers: list[EngineReport],
    window_closure: Closure | None,
) -> Iterator[str]:
    """Yield a line for each way in which an engine's reports differ from the expected ones.

    `window_closure` says which borders belong to the windows that the engine states. None stands
    for the closure of the semantics.
    """
    expected = block["reports"]
    mode = compare.Mode(block.get("mode", "value"))
    instants = instants_of_reports(setting)
    closure = setting.semantics.closure
    stated_closure = window_closure or closure
    if len(answers) != len(expected):
        yield f"expected {len(expected)} reports, got {len(answers)}"
    for number, (report, answer) in enumerate(zip(expected, answers, strict=False), 1):
        rows = corpus.relation(report["rows"], setting.query).rows
        actual = answer.relation.rows
        if not compare.equal(rows, actual, mode):
            show = corpus.show
            if window_elements.asks_for_contents(setting.query):
                show = contents_text
            yield f"report {number}: expected {show(rows)}, got {show(actual)}"
        for difference in _differences_in_window(report, answer, closure, stated_closure):
            yield f"report {number}: {difference}"
        for difference in _differences_in_time(report, answer, instants):
            yield f"report {number}: {difference}"
        for difference in _differences_in_pane(report, answer):
            yield f"report {number}: {difference}"


def _differences_in_pane(report: Mapping[str, Any], answer: EngineReport) -> Iterator[str]:
    """REP-16, WIN-24: Yield a line if one of both takes back an earlier report and the other does
    not, and a line if they state two keys.
    """
    takes_back = report.get("takes_back", False)
    if answer.takes_back != takes_back:
        expected, got = map(corpus.show_kind, (takes_back, answer.takes_back))
        yield f"expected {expected}, got {got}"
    if "key" in report and answer.key is not None:
        key = tuple(map(corpus.term, report["key"]))
        if answer.key != key:
            yield f"expected the key {' '.join(key)}, got {' '.join(answer.key) or 'none'}"


def _differences_in_window(
    report: Mapping[str, Any],
    answer: EngineReport,
    closure: Closure | None,
    stated_closure: Closure | None,
) -> Iterator[str]:
    """ORA-11: Yield a line if the window that the engine states holds other instants than the
    expected one. `closure` is that of the expected window, and `stated_closure` that of the stated
    one: [0, 10) and (-1, 9] hold the same.
    """
    if not report.get("window") or answer.window is None:
        return
    opens, closes = report["window"]
    expected_instants = first_and_last_instant((opens, closes), closure)
    if first_and_last_instant(answer.window, stated_closure) != expected_instants:
        yield f"expected window {report['window']}, got {list(answer.window)}"


def _differences_in_time(
    report: Mapping[str, Any],
    answer: EngineReport,
    instants: frozenset[int] | None,
) -> Iterator[str]:
    """Yield a line for each difference in instant and trigger, as far as both sides state them.

    An expected trigger that is no element's instant is the horizon. Engines are not sent the
    horizon, so the report must come with the end.
    """
    if "instant" in report and answer.instant not in (None, report["instant"]):
        yield f"expected instant {report['instant']}, got {answer.instant}"
    if "trigger" in report and instants is not None:
        trigger = report["trigger"]
        if trigger not in instants:
            trigger = None
        if answer.push_instant != trigger:
            yield f"expected {_coming(trigger)}, got it {_coming(answer.push_instant)}"


def _coming(came: int | None) -> str:
    """Write with which element a report came."""
    if came is None:
        return "at the end"
    return f"with the element at {came}"
