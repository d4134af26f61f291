"""A verdict on each rule for an engine, from its results.

A rule of SPEC.md *holds* for an engine if the engine passes a case that catches engines which break
the rule. That is a case which a wrong engine of the rule would have failed, and which the engine
answered with rows. The rule is *broken* if the engine fails a case because of it. Otherwise it is
*not shown*, and the verdict says why. A rule is *not asked* if no case of it would catch a wrong
engine under the semantics that the engine claims.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from conformance.verdict.results import Outcome, Result
from conformance.verdict.wording import count_text

# Why a case does not show its rule, by the kind of its result; in the order in which they are
# written. A case that fails is wrong by another rule: if it were wrong by its own, the rule would
# be broken.
WRONG_BY = "wrong by"
REASONS = {
    "pass": "silent",
    "fail": WRONG_BY,
    "known": WRONG_BY,
    "error": "in error",
    "disputed": "disputed",
    "unstable": "unstable",
    "unsupported": "unsupported",
}


class RuleStatus(StrEnum):
    """What the results of an engine say about a rule."""

    HOLDS = "holds"
    BROKEN = "broken"
    NOT_SHOWN = "not shown"
    NOT_ASKED = "not asked"


# the statuses of the rules in reach, in the order in which they are counted
COUNTED = (RuleStatus.HOLDS, RuleStatus.BROKEN, RuleStatus.NOT_SHOWN)


@dataclass(frozen=True)
class CaseResult:
    """What a verdict on rules reads of a result: whether it `has_rows`, and its `size`, the number
    of the case's elements.
    """

    result: Result
    has_rows: bool
    size: int

    @staticmethod
    def of(result: Result, evidence: Mapping[str, Any] | None) -> CaseResult:
        """Return what is read of a result and its evidence."""
        if evidence is None:
            return CaseResult(result, False, 0)
        has_rows = any(report["total"] for report in evidence["actual"])
        return CaseResult(result, has_rows, evidence["elements_total"])

    @property
    def shows_its_rule(self) -> bool:
        """Whether the engine is right about the rule of the case, and a wrong one would not be."""
        return bool(self.result.detects) and self.has_rows and self.is_right_about_its_rule

    @property
    def is_right_about_its_rule(self) -> bool:
        """Whether the answers are right, or wrong only by deviations from other rules: known ones,
        or those that a diagnosis has found. Such a deviation must be one that `can_be_granted`: the
        rest of the answers is right then.
        """
        explanations = self.result.explanations
        if self.result.outcome is Outcome.PASS:
            return True
        return bool(explanations) and all(
            explanation.can_be_granted and self.result.rule not in explanation.rules
            for explanation in explanations
        )


@dataclass(frozen=True)
class RuleVerdict:
    """The verdict on a rule for an engine.

    `case` is the smallest case that shows it, empty if none does, and `reason` says in words why:
    of a rule that holds, the wrong engine that would have failed the case. `is_in_reach` says
    whether the engine supports a case that could show the rule, and `is_known` whether known
    deviations explain all cases that show it to be broken. A rule that is not shown `rests_on` the
    broken rules by which the answers to its cases are wrong.
    """

    engine: str
    rule: str
    status: RuleStatus
    reason: str
    case: str = ""
    is_in_reach: bool = True
    is_known: bool = False
    rests_on: tuple[str, ...] = ()


def judge_rules(cases: Iterable[CaseResult]) -> list[RuleVerdict]:
    """Return the verdict on each rule for each engine, sorted by engine and rule. The queries of
    benchmarks, which have no rule, say nothing.
    """
    by_rule: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    breaking: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    for case in cases:
        result = case.result
        if not result.rule:
            continue
        by_rule[result.engine, result.rule].append(case)
        for rule in _broken_rules(result):
            breaking[result.engine, rule].append(case)

    return [
        _judge_rule(engine, rule, by_rule[engine, rule], breaking.get((engine, rule), []))
        for engine, rule in sorted({*by_rule, *breaking})
    ]


def _broken_rules(result: Result) -> set[str]:
    """Return the rules that a result shows to be broken. Where an engine breaks down for an unknown
    reason, nothing is known of the rule.
    """
    if result.outcome not in (Outcome.FAIL, Outcome.ERROR):
        return set()
    if result.explanations:
        return {rule for explanation in result.explanations for rule in explanation.rules}
    return {result.rule} if result.outcome is Outcome.FAIL else set()


def _judge_rule(
    engine: str, rule: str, cases: Sequence[CaseResult], breaking: Sequence[CaseResult]
) -> RuleVerdict:
    """Return the verdict on a rule from its own cases, and the cases that show it broken."""
    if breaking:
        return _broken_verdict(engine, rule, breaking)

    if showing := [case for case in cases if case.shows_its_rule]:
        result = smallest_case(showing).result
        reason = f"the wrong engine {result.detects!r} would have failed"
        return RuleVerdict(engine, rule, RuleStatus.HOLDS, reason, result.case)

    if detecting := [case.result for case in cases if case.result.detects]:
        return _unshown_verdict(engine, rule, detecting)

    reason = "no case of it would catch a wrong engine under this semantics"
    return RuleVerdict(engine, rule, RuleStatus.NOT_ASKED, reason, is_in_reach=False)


def _broken_verdict(engine: str, rule: str, breaking: Sequence[CaseResult]) -> RuleVerdict:
    """Return the verdict on a rule that some cases show to be broken. It is known to be broken only
    if known deviations explain all of them; else the smallest other one is named.
    """
    unknown = [case for case in breaking if not case.result.known]
    smallest = smallest_case(unknown or breaking).result
    reasons = [one.reason for one in smallest.explanations if rule in one.rules]
    reason = reasons[0] if reasons else "no known deviation explains it"
    return RuleVerdict(engine, rule, RuleStatus.BROKEN, reason, smallest.case, is_known=not unknown)


def _unshown_verdict(engine: str, rule: str, detecting: Sequence[Result]) -> RuleVerdict:
    """Return the verdict on a rule that is not shown. `detecting` are the results of the cases that
    would catch a wrong engine of it.
    """
    rests_on = sorted({broken for result in detecting for broken in _broken_rules(result)})
    counts = Counter(REASONS[result.kind] for result in detecting)
    reasons = [
        f"{count_text(counts[words], 'case')} {words}"
        for words in dict.fromkeys(REASONS.values())
        if counts[words]
    ]
    others = " and ".join(rests_on) or "another rule"
    reason = ", ".join(reasons).replace(WRONG_BY, f"{WRONG_BY} {others}")
    is_in_reach = any(result.outcome is not Outcome.UNSUPPORTED for result in detecting)
    return RuleVerdict(
        engine,
        rule,
        RuleStatus.NOT_SHOWN,
        reason,
        is_in_reach=is_in_reach,
        rests_on=tuple(rests_on),
    )


def smallest_case(cases: Iterable[CaseResult]) -> CaseResult:
    """Return the case with the fewest elements; of equal ones the first by its name."""
    return min(cases, key=lambda case: (case.size, case.result.case))


def summarize_rules(verdicts: Iterable[RuleVerdict]) -> list[str]:
    """Return a line for each engine that counts its rules; a line with those that known deviations
    break; and a line for each other rule that is broken, or in reach and not shown.
    """
    by_engine: dict[str, list[RuleVerdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.is_in_reach:
            by_engine[verdict.engine].append(verdict)
    return [
        line
        for engine, in_reach in sorted(by_engine.items())
        for line in _summarize_engine(engine, in_reach)
    ]


def _summarize_engine(engine: str, in_reach: Sequence[RuleVerdict]) -> Iterator[str]:
    """Yield the lines of a summary about one engine, from the verdicts on the rules in reach."""
    counts = Counter(verdict.status for verdict in in_reach)
    numbers = ", ".join(f"{status} {counts[status]}" for status in COUNTED)
    yield f"{engine}: {count_text(len(in_reach), 'rule')} in reach: {numbers}"
    if known := [verdict.rule for verdict in in_reach if verdict.is_known]:
        yield f"  broken by known deviations: {', '.join(known)}"
    for verdict in in_reach:
        if verdict.status is not RuleStatus.HOLDS and not verdict.is_known:
            yield f"  {describe_rule(verdict)}"


def describe_rule(verdict: RuleVerdict) -> str:
    """Write the verdict on a rule in a line, with the case that shows it."""
    text = f"{verdict.rule} {verdict.status}: {verdict.reason}"
    if verdict.case:
        text += f" ({verdict.case})"
    return text
