"""Holding an engine that is sent its semantics to the expectations of a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance import corpus
from conformance.corpus import Case
from conformance.harness.client import Harness
from conformance.harness.engine_file import Engine
from conformance.harness.play import EngineQuery
from conformance.suite.exchange import PreparedQuestion
from conformance.verdict import evidence
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import Outcome, Result
from refengine.core.query import Query
from refengine.core.question import Question, Setting
from refengine.core.semantics import AllowedLateness, Closure
from refengine.model import compare
from refengine.model.errors import Unsupported
from refengine.oracle.trial import first_and_last_instant

Block = Mapping[str, Any]  # one [[expect]] of a case


def expects_reports(case: Case) -> bool:
    """Whether a case expects reports, and so says what a configurable engine must answer."""
    return bool(_blocks(case))


def _blocks(case: Case) -> list[Block]:
    """Return the blocks of a case that expect reports; each has its own semantics."""
    return [block for block in case.table.get("expect", []) if "max_reports" not in block]


def hold_to_expectations(tested: Engine, harness: Harness, case: Case) -> Result:
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
    for block, prepared in prepare_blocks(tested, case, question):
        engine_query = prepared.engine_query
        assert engine_query.semantics is not None  # that of the block
        setting = question.under(engine_query.semantics)
        answers = prepared.ask(harness)
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
    argument = "\n".join(f"{case.rule}: {line}" for line in lines)
    return Result(
        tested.name,
        "corpus",
        case.id,
        case.rule,
        outcome,
        argument,
        evidence=evidence_table,
    )


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


def _instants_of_reports(setting: Setting) -> frozenset[int] | None:
    """Return the instants of the elements with which reports may come. None if an element may wait
    for late ones (MOD-2), so that this cannot be said.
    """
    if setting.semantics.allowed_lateness not in (AllowedLateness.REJECT, 0):
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
    instants = _instants_of_reports(setting)
    closure = setting.semantics.closure
    stated_closure = window_closure or closure
    if len(answers) != len(expected):
        yield f"expected {len(expected)} reports, got {len(answers)}"
    for number, (report, answer) in enumerate(zip(expected, answers, strict=False), 1):
        rows = corpus.relation(report["rows"], setting.query).rows
        actual = answer.relation.rows
        if not compare.equal(rows, actual, mode):
            yield f"report {number}: expected {corpus.show(rows)}, got {corpus.show(actual)}"
        for difference in _differences_in_window(report, answer, closure, stated_closure):
            yield f"report {number}: {difference}"
        for difference in _differences_in_time(report, answer, instants):
            yield f"report {number}: {difference}"


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
