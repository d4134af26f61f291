"""Explaining a fail or an error of an engine by its known deviations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from conformance.corpus import Case
from conformance.corpus.rules import rules_of_change
from conformance.harness.engine_file import Deviation, Engine
from conformance.suite.exchange import BenchmarkQuery, Exchange
from conformance.verdict.rules import is_of_engines
from conformance.verdict.time_limit import VerdictTooLate
from refengine.core.profile import Profile
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.core.semantics import show
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.judge import EVERY_WITNESS, judge_recording
from refengine.oracle.trial import RecordingToJudge


def find_explaining_deviations(
    tested: Engine,
    case: Case | BenchmarkQuery,
    exchange: Exchange,
    answers: SharedAnswers | None = None,
    witnesses: tuple[str, ...] = EVERY_WITNESS,
) -> tuple[Deviation, ...]:
    """Return the known deviations that explain a fail, none if they do not. `answers` is a table of
    answers that other verdicts may share (None: a new one), and `witnesses` confirm them.

    If a deviation that the oracle cannot be told of lists this case, the oracle cannot say what the
    fail comes from. Then all deviations that list the case are returned, those with fields, too. If
    there is no such deviation, the oracle chooses among those that it can be told of.
    """
    listed = [deviation for deviation in tested.deviations if case.id in deviation.cases]
    in_no_field = [one for one in listed if not one.can_be_granted and not one.crashes]
    if in_no_field:
        return (*in_no_field, *(one for one in listed if one.can_be_granted))
    return _needed_deviations(tested, exchange, answers or SharedAnswers(), witnesses)


def find_crash_deviations(tested: Engine, case: Case | BenchmarkQuery) -> tuple[Deviation, ...]:
    """Return the known deviations by which the engine crashes at a case."""
    return tuple(one for one in tested.deviations if case.id in one.cases and one.crashes)


def _needed_deviations(
    tested: Engine,
    exchange: Exchange,
    answers: SharedAnswers,
    witnesses: tuple[str, ...],
) -> tuple[Deviation, ...]:
    """Return known deviations with which the oracle passes the answers, and of which none can be
    left out; none if it does not pass them with all, since all are in force at once. Those that
    make the semantics refuse the question are not. The last ones are left out first.
    """
    explain = partial(_explain, tested, exchange, answers, witnesses)
    grantable = [deviation for deviation in tested.deviations if deviation.can_be_granted]
    if explain(grantable) is None:
        grantable = [one for one in grantable if explain([one]) is not None]
    if not grantable or not explain(grantable):
        return ()
    return tuple(reversed(keep_needed(grantable[::-1], lambda rest: explain(rest[::-1]))))


def grant_fields(
    tested: Engine,
    question: Question,
    fields: Mapping[str, Any],
) -> tuple[Question, Profile]:
    """Return the question and the profile under which an engine is judged if it is granted that
    some fields of its semantics have other values. Another operator is granted even where the query
    states one: the query is then judged without (R2S-6).
    """
    if "r2s" in fields:
        question = replace(question, query=replace(question.query, r2s=None))
    return question, tested.profile_for(question.query).but(**fields)


def _explain(
    tested: Engine,
    exchange: Exchange,
    answers: SharedAnswers,
    witnesses: tuple[str, ...],
    deviations: Sequence[Deviation],
) -> bool | None:
    """Whether the oracle passes the answers under the engine's profile with these deviations; None
    if it has no verdict.
    """
    fields = merge_fields(deviations)
    question, profile = grant_fields(tested, exchange.question, fields)
    recorded = RecordingToJudge.of(question, exchange.relations, **exchange.judgement_options)
    try:
        judgement = judge_recording(recorded, profile, answers, witnesses)
    # unsupported or disputed, or the changed semantics refuses what the engine accepts
    except RefengineError:
        return None
    except VerdictTooLate as error:
        raise VerdictTooLate(f"{error}, while {_name_fields(fields)} was tried") from None
    if judgement.is_right_but_for_windows:
        return any(deviation.misstates == "window" for deviation in deviations)
    return judgement.passed


def _name_fields(fields: Mapping[str, Any]) -> str:
    """Return fields of a semantics with their values, such as `slide=ignored`. For none, return
    `the engine's own semantics`.
    """
    return (
        " ".join(f"{name}={show(value)}" for name, value in fields.items())
        or "the engine's own semantics"
    )


def merge_fields(deviations: Iterable[Deviation]) -> dict[str, Any]:
    """Return the fields of some deviations together. Of two values for a field the last counts."""
    return {name: value for deviation in deviations for name, value in deviation.fields.items()}


@dataclass(frozen=True)
class Claim:
    """What an engine claims to do with a query: the `fields` of its semantics. `states_operator`
    says whether the query states its operator, which the engine claims then (R2S-6).
    """

    fields: Mapping[str, Any]
    states_operator: bool

    @staticmethod
    def of(tested: Engine, query: Query) -> Claim:
        """Return what an engine claims to do with a query."""
        fields = tested.profile_for(query).fields
        operator = query.r2s or fields.get("r2s")
        return Claim({**fields, "r2s": operator}, query.r2s is not None)

    def rules_broken_by(self, name: str, value: Any) -> list[str]:
        """Return the rules that the engine breaks if a field has another value."""
        rules = rules_of_change(name, self.fields.get(name), value)
        if name == "r2s" and rules and self.states_operator:
            return [*rules, "R2S-6"]
        return rules


NO_CLAIM = Claim({}, states_operator=False)  # stands for what an engine claims that breaks down


def write_explanation(
    case: Case | BenchmarkQuery,
    deviations: Iterable[Deviation],
    claim: Claim,
) -> str:
    """Write the known deviations that explain a fail, a line each: their fields and rules. If there
    are none, write that, and the rule that the case is about. `claim` is what the engine claims.
    """
    lines = [
        f"  a known deviation explains it: {_what_it_is(deviation, case, claim)}: "
        f"{deviation.reason}"
        for deviation in deviations
    ]
    if lines:
        return "\n".join(lines)
    return (
        f"  no known deviation explains it; the case is about {case.rule or case.id}: {case.name}"
    )


def broken_rules(deviation: Deviation, rule: str, claim: Claim) -> tuple[str, ...]:
    """Return the rules of engines that a deviation breaks: those of the fields of a `claim` that it
    changes, those that its entry names, or else `rule`, that of the case which it explains. `rule`
    is empty for a benchmark's query.
    """
    return tuple(filter(is_of_engines, _rules_of_deviation(deviation, rule, claim)))


def _rules_of_deviation(deviation: Deviation, rule: str, claim: Claim) -> tuple[str, ...]:
    """Return all rules that a deviation breaks, those of the suite as well."""
    if deviation.fields:
        rules = {
            broken
            for name, value in deviation.fields.items()
            for broken in claim.rules_broken_by(name, value)
        }
        return tuple(sorted(rules))
    if deviation.misstates:
        return ("WIN-3",)
    if deviation.breaks:
        return deviation.breaks
    return (rule,)


def _what_it_is(deviation: Deviation, case: Case | BenchmarkQuery, claim: Claim) -> str:
    """Write the fields of a deviation, or what it misstates, and the rules that it breaks."""
    if deviation.fields:
        return " ".join(
            f"{name}={show(value)}{_in_brackets(claim.rules_broken_by(name, value))}"
            for name, value in deviation.fields.items()
        )
    rules = ", ".join(broken_rules(deviation, case.rule, claim)) or case.id
    if deviation.misstates:
        return f"the windows that it states ({rules})"
    return f"{rules}, in no field of the semantics"


def _in_brackets(rules: Sequence[str]) -> str:
    """Write rules behind a field, nothing if there are none."""
    return f" ({', '.join(rules)})" if rules else ""


T = TypeVar("T")


def keep_needed(items: Sequence[T], explain: Callable[[Sequence[T]], object]) -> list[T]:
    """Return items of which none can be left out: `explain` says whether some of them are enough,
    as all of them together are. Another such choice may have fewer items.

    The first item that can be left out is dropped, and then the search begins again: one item may
    have been needed only because of another. At least one item is kept.

    >>> keep_needed([2, 3, 5, 6], lambda numbers: sum(numbers) >= 8)
    [3, 5]
    """
    needed = list(items)
    while True:
        for item in needed:
            rest = [other for other in needed if other is not item]
            if rest and explain(rest):
                needed = rest
                break
        else:
            return needed
