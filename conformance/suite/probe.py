"""Putting one question to one engine, and judging what it answers.

The oracle judges the answers under the semantics that the engine sets out to have. An engine that
is sent its semantics is held to the case's own expectations instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.corpus import Case
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Deviation, Engine
from conformance.harness.play import Declined
from conformance.suite.deviations import (
    NO_CLAIM,
    Claim,
    broken_rules,
    find_crash_deviations,
    find_explaining_deviations,
    write_explanation,
)
from conformance.suite.exchange import BenchmarkQuery, Exchange, ask_case, ask_question
from conformance.suite.expectations import hold_to_expectations
from conformance.verdict import evidence, outcomes
from conformance.verdict.results import KnownDeviation, Outcome, Result
from refengine.core.question import Question
from refengine.model.errors import Disputed, InvalidStream, RefengineError, Unsupported
from refengine.oracle.answers import SharedAnswers


def probe_case(tested: Engine, harness: Harness, case: Case) -> Result:
    """Put a case to an engine, and return the result. There is one whatever the engine does."""

    def ask() -> Result:
        if tested.is_configurable:
            return hold_to_expectations(tested, harness, case)
        return judge_exchange(tested, case, ask_case(tested, harness, case))

    return _result_or_error(tested, case, ask)


def probe_benchmark(
    tested: Engine,
    harness: Harness,
    query: BenchmarkQuery,
    question: Question,
) -> Result:
    """Put a benchmark's query to an engine, and return the result. Only the relations are judged,
    and not the windows that the engine states: so the verdict can be compared with one on a
    recording, which has relations alone.
    """

    def ask() -> Result:
        exchange = ask_question(tested, harness, question, query.table)
        answers = [answer._replace(window=None) for answer in exchange.answers]
        return judge_exchange(tested, query, replace(exchange, answers=answers))

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
        argument = f"{error}\n{write_explanation(case, deviations, NO_CLAIM)}"
        broken = _make_result(tested, case, Outcome.ERROR, argument)
        return replace(broken, known=describe_deviations(deviations, case, NO_CLAIM))
    except RefengineError as error:
        argument = f"the case has no answer under this semantics, so it says nothing here: {error}"
        return _make_result(tested, case, Outcome.UNSUPPORTED, argument)


def _make_result(
    tested: Engine,
    case: Case | BenchmarkQuery,
    outcome: Outcome,
    argument: str,
) -> Result:
    """Return a result with an outcome and an argument. It has no evidence, judgement, witnesses and
    known deviations yet.
    """
    suite = "corpus"
    if isinstance(case, BenchmarkQuery):
        suite = "csrbench"
    return Result(tested.name, suite, case.id, case.rule, outcome, argument)


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


def judge_exchange(tested: Engine, case: Case | BenchmarkQuery, exchange: Exchange) -> Result:
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
        argument = f"{error}; the engine must refuse that element, and has accepted it"
        judged = _make_result(tested, case, Outcome.FAIL, argument)

    judgement = judged.judgement
    make_evidence = evidence.of_verdict
    if isinstance(case, BenchmarkQuery):
        make_evidence = evidence.of_benchmark
    evidence_table = make_evidence(question, exchange.answers, judgement, exchange.text)
    argument = judged.argument
    if tested.tolerance:
        argument += (
            f"\n  replayed on the wall clock; an element may have come {tested.tolerance:g} of a "
            "unit of time late"
        )
    claim = Claim.of(tested, question.query)
    deviations: tuple[Deviation, ...] = ()
    if judged.outcome is Outcome.FAIL:
        deviations = find_explaining_deviations(tested, case, exchange, answers)
        argument += f"\n{write_explanation(case, deviations, claim)}"
    return replace(
        _make_result(tested, case, judged.outcome, argument),
        known=describe_deviations(deviations, case, claim),
        evidence=evidence_table,
        witnesses=judged.witnesses,
        computed_by=judged.computed_by,
    )
