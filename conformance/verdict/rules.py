"""A verdict on each rule for an engine, from its results.

A rule of SPEC.md *holds* for an engine if the engine passes a case that catches engines which break
the rule. That is a case which a wrong engine of the rule would have failed, and which the engine
answered with rows. The rule is *broken* if the engine fails a case because of it. Otherwise it is
*not shown*, and the verdict says why. A rule is *not asked* if no case of it would catch a wrong
engine under the semantics that the engine claims.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from conformance.verdict.results import Outcome, Result
from conformance.verdict.wording import count_text

# Why a case does not show its rule, by the kind of its result; in the order in which they are
# written. A case that is known to fail is wrong by another rule: if it were wrong by its own, the
# rule would be broken.
REASONS = {
    "pass": "silent",
    "known": "wrong by another rule",
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


# how a summary counts the rules of each status
WORDS = {
    RuleStatus.HOLDS: "hold",
    RuleStatus.BROKEN: "are broken",
    RuleStatus.NOT_SHOWN: "are not shown",
}


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
        """Whether the answers are right, or wrong only by known deviations from other rules. Such a
        deviation must be one that `can_be_granted`: the rest of the answers is right then.
        """
        known = self.result.known
        if self.result.outcome is Outcome.PASS:
            return True
        return bool(known) and all(
            deviation.can_be_granted and self.result.rule not in deviation.rules
            for deviation in known
        )


@dataclass(frozen=True)
class RuleVerdict:
    """The verdict on a rule for an engine.

    `case` is the smallest case that shows it, empty if none does, and `reason` says in words why:
    of a rule that holds, the wrong engine that would have failed the case. `is_in_reach` says
    whether the engine supports a case that could show the rule, and `is_known` whether a known
    deviation breaks it.
    """

    engine: str
    rule: str
    status: RuleStatus
    reason: str
    case: str = ""
    is_in_reach: bool = True
    is_known: bool = False


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
    """Return the rules that a result shows to be broken."""
    if result.outcome not in (Outcome.FAIL, Outcome.ERROR):
        return set()
    if result.known:
        return {rule for deviation in result.known for rule in deviation.rules}
    if result.outcome is Outcome.FAIL:
        return {result.rule}
    # Where an engine breaks down, nothing is known of the rule.
    return set()


def _judge_rule(
    engine: str, rule: str, cases: Sequence[CaseResult], breaking: Sequence[CaseResult]
) -> RuleVerdict:
    """Return the verdict on a rule from its own cases, and the cases that show it broken."""
    if breaking:
        result = _smallest(breaking).result
        deviations = [known for known in result.known if rule in known.rules]
        reason = deviations[0].reason if deviations else "no known deviation explains it"
        # A cause that a diagnosis has found has no link.
        is_known = any(known.link for known in deviations)
        return RuleVerdict(engine, rule, RuleStatus.BROKEN, reason, result.case, is_known=is_known)

    if showing := [case for case in cases if case.shows_its_rule]:
        result = _smallest(showing).result
        reason = f"the wrong engine {result.detects!r} would have failed"
        return RuleVerdict(engine, rule, RuleStatus.HOLDS, reason, result.case)

    detecting = [case for case in cases if case.result.detects]
    if not detecting:
        reason = "no case of it would catch a wrong engine under this semantics"
        return RuleVerdict(engine, rule, RuleStatus.NOT_ASKED, reason, is_in_reach=False)
    kinds = Counter(case.result.kind for case in detecting)
    reason = ", ".join(
        f"{count_text(kinds[kind], 'case')} {words}"
        for kind, words in REASONS.items()
        if kinds[kind]
    )
    is_in_reach = set(kinds) != {"unsupported"}
    return RuleVerdict(engine, rule, RuleStatus.NOT_SHOWN, reason, is_in_reach=is_in_reach)


def _smallest(cases: Iterable[CaseResult]) -> CaseResult:
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

    lines = []
    for engine, in_reach in sorted(by_engine.items()):
        counts = Counter(verdict.status for verdict in in_reach)
        numbers = [f"{counts[status]} {words}" for status, words in WORDS.items() if counts[status]]
        rules = count_text(len(in_reach), "rule")
        lines.append(f"{engine}: of {rules} in reach {', '.join(numbers)}")
        if known := [verdict.rule for verdict in in_reach if verdict.is_known]:
            lines.append(f"  broken by known deviations: {', '.join(known)}")
        lines += [
            f"  {_describe_rule(verdict)}"
            for verdict in in_reach
            if verdict.status is not RuleStatus.HOLDS and not verdict.is_known
        ]
    return lines


def _describe_rule(verdict: RuleVerdict) -> str:
    """Write the verdict on a rule in a line, with the case that shows it."""
    text = f"{verdict.rule} {verdict.status}: {verdict.reason}"
    if verdict.case:
        text += f" ({verdict.case})"
    return text
