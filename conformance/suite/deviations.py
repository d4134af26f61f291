"""The known deviations of an engine that explain a fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from conformance.corpus import Case
from conformance.corpus.rules import rules_of_value
from conformance.harness.engine_file import Deviation, Engine
from conformance.suite.exchange import BenchmarkQuery, Exchange
from refengine.core.semantics import show
from refengine.model.errors import RefengineError
from refengine.oracle.answers import Answers
from refengine.oracle.judge import EVERY_WITNESS, judge_recorded
from refengine.oracle.trial import Recorded


def explaining(
    tested: Engine, case: Case | BenchmarkQuery, exchange: Exchange
) -> tuple[Deviation, ...]:
    """Return the known deviations that explain a fail: those that no field says and that this case
    shows, or else a least set of the others, if they do.
    """
    return _in_no_field(tested, case) or _least_set(tested, exchange)


def crashing(tested: Engine, case: Case | BenchmarkQuery) -> tuple[Deviation, ...]:
    """Return the known deviations that make the engine break at this case."""
    return tuple(
        deviation
        for deviation in tested.deviations
        if deviation.crashes and case.id in deviation.cases
    )


def _in_no_field(tested: Engine, case: Case | BenchmarkQuery) -> tuple[Deviation, ...]:
    """Return the known deviations that no field says and that this case shows."""
    return tuple(
        deviation
        for deviation in tested.deviations
        if not deviation.is_known_to_oracle and not deviation.crashes and case.id in deviation.cases
    )


def _least_set(tested: Engine, exchange: Exchange) -> tuple[Deviation, ...]:
    """Return a least set of the other known deviations that explains a fail, if they do: the last
    is left out first, and again and again, since one may be needed for the sake of another. All are
    in force all the time, so all of them together explain whatever some do.
    """
    explain = partial(_explain, tested, exchange, Answers())
    needed = [deviation for deviation in tested.deviations if deviation.is_known_to_oracle]
    if not needed or not explain(needed):
        return ()
    while True:
        rests = (
            [other for other in needed if other is not deviation] for deviation in reversed(needed)
        )
        rest = next((rest for rest in rests if explain(rest)), None)
        if rest is None:
            return tuple(needed)
        needed = rest


def _explain(
    tested: Engine, exchange: Exchange, answers: Answers, deviations: Sequence[Deviation]
) -> bool:
    """Whether the oracle passes an engine with these deviations. One in r2s is about what the query
    states, too (R2S-6).
    """
    fields = {name: value for deviation in deviations for name, value in deviation.fields.items()}
    question = exchange.question
    if "r2s" in fields:
        question = replace(question, query=replace(question.query, r2s=None))
    profile = tested.profile_for(question.query).but(**fields)
    recorded = Recorded.of(question, exchange.relations, **exchange.terms)
    try:
        judgement = judge_recorded(recorded, profile, answers, EVERY_WITNESS)
    # unsupported or disputed, or what the engine takes and its semantics, so changed, refuses
    except RefengineError:
        return False
    if judgement.is_right_but_for_windows:
        return any(deviation.misstates == "window" for deviation in deviations)
    return judgement.passed


def because(case: Case | BenchmarkQuery, deviations: Iterable[Deviation]) -> str:
    """Write what explains a fail: the fields and their rules, or else the rule that the case is
    about.
    """
    lines = [
        f"  known, and explains it: {_rules(case, deviation)}: {deviation.reason}"
        for deviation in deviations
    ]
    if lines:
        return "\n".join(lines)
    return (
        f"  no known deviation explains it; the case is about {case.rule or case.id}: {case.name}"
    )


def _rules(case: Case | BenchmarkQuery, deviation: Deviation) -> str:
    """Write the rules that a deviation is about."""
    if deviation.fields:
        return " ".join(
            f"{name}={show(value)} ({', '.join(rules_of_value(name, value))})"
            for name, value in deviation.fields.items()
        )
    if deviation.misstates:
        return "the windows that it tells (WIN-3)"
    return f"{case.rule or case.id}, in no field"
