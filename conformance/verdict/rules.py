"""A verdict on each rule for an engine, from its results.

A rule of SPEC.md *holds* for an engine if the engine passes a case that catches engines which break
the rule. That is a case which a wrong engine of the rule would have failed, and which the engine
answered with rows. The rule is *broken* if the engine fails a case because of it. Otherwise it is
*not shown*, and the verdict says why.

These are the rules in the engine's reach. A rule is *not asked* if no case of it would catch a
wrong engine under the semantics that the engine claims. It is *not in reach* if there are such
cases, and the engine supports none of them.
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
# written. A case that fails is wrong by other rules: if it were wrong by its own, the rule would be
# broken.
REASONS = {
    "pass": "silent",
    "fail": "wrong by {other_rules}",
    "known": "wrong by {other_rules}",
    "error": "in error",
    "disputed": "disputed",
    "unstable": "unstable",
    "unsupported": "unsupported",
}


class RuleStatus(StrEnum):
    """What the results of an engine say about a rule. `KNOWN` is a rule that is broken by known
    deviations alone.
    """

    HOLDS = "holds"
    BROKEN = "broken"
    KNOWN = "broken, known"
    NOT_SHOWN = "not shown"
    NOT_ASKED = "not asked"
    NOT_IN_REACH = "not in reach"

    @property
    def counted_as(self) -> RuleStatus:
        """The status under which a summary counts the rule: a broken rule is broken, whether or not
        that is known.
        """
        return RuleStatus.BROKEN if self is RuleStatus.KNOWN else self


# the statuses of the rules in reach
IN_REACH = (RuleStatus.HOLDS, RuleStatus.BROKEN, RuleStatus.KNOWN, RuleStatus.NOT_SHOWN)
# those under which a summary counts them, in its order
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
    def size_and_case(self) -> tuple[int, str]:
        """The key by which results are sorted from the smallest on: the number of elements; of
        equal ones the first by its name.
        """
        return self.size, self.result.case

    @property
    def shows_its_rule(self) -> bool:
        """Whether the engine is right about the rule of the case, and a wrong one would not be."""
        return (
            bool(self.result.caught_wrong_engine) and self.has_rows and self.is_right_about_its_rule
        )

    @property
    def is_right_about_its_rule(self) -> bool:
        """Whether the answers are right, or wrong only by deviations from other rules: known ones,
        or those that a diagnosis has found. Such a deviation must be one that `can_be_granted`: the
        rest of the answers is right then. It is False, too, where this is not known: of an error,
        and of a fail by a deviation that cannot be granted.
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
    of a rule that holds, the wrong engine that would have failed the case. `other_rules` are broken
    rules by which the answers are wrong: to that case, or, of a rule that is not shown, to its
    cases.
    """

    engine: str
    rule: str
    status: RuleStatus
    reason: str
    case: str = ""
    other_rules: tuple[str, ...] = ()

    @property
    def is_in_reach(self) -> bool:
        """Whether the engine supports a case that could show the rule."""
        return self.status in IN_REACH


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
    engine: str,
    rule: str,
    cases: Sequence[CaseResult],
    breaking: Sequence[CaseResult],
) -> RuleVerdict:
    """Return the verdict on a rule from its own cases, and the cases that show it broken."""
    if breaking:
        return _broken_verdict(engine, rule, breaking)

    if showing := [case for case in cases if case.shows_its_rule]:
        return _holding_verdict(engine, rule, showing)

    if detecting := [case.result for case in cases if case.result.caught_wrong_engine]:
        return _unshown_verdict(engine, rule, detecting)

    reason = "no case of it would catch a wrong engine under this semantics"
    return RuleVerdict(engine, rule, RuleStatus.NOT_ASKED, reason)


def _holding_verdict(engine: str, rule: str, showing: Sequence[CaseResult]) -> RuleVerdict:
    """Return the verdict on a rule that some cases show to hold. A case that passes is named rather
    than one that is wrong by other rules alone.
    """
    passes = [case for case in showing if case.result.outcome is Outcome.PASS]
    smallest = smallest_case(passes or showing).result
    reason = f"the wrong engine {smallest.caught_wrong_engine!r} would have failed"
    other_rules = _sorted_rules(_broken_rules(smallest))
    if other_rules:
        reason += f"; the answers are wrong by {' and '.join(other_rules)} alone"
    return RuleVerdict(engine, rule, RuleStatus.HOLDS, reason, smallest.case, other_rules)


def _broken_verdict(engine: str, rule: str, breaking: Sequence[CaseResult]) -> RuleVerdict:
    """Return the verdict on a rule that some cases show to be broken. It is known to be broken only
    if known deviations explain all of them; else the smallest other one is named.
    """
    unknown = [case for case in breaking if not case.result.known]
    smallest = smallest_case(unknown or breaking).result
    reasons = [one.reason for one in smallest.explanations if rule in one.rules]
    reason = reasons[0] if reasons else "no known deviation explains it"
    status = RuleStatus.BROKEN if unknown else RuleStatus.KNOWN
    return RuleVerdict(engine, rule, status, reason, smallest.case)


def _unshown_verdict(engine: str, rule: str, detecting: Sequence[Result]) -> RuleVerdict:
    """Return the verdict on a rule that is not shown, or not in reach. `detecting` are the results
    of the cases that would catch a wrong engine of it.
    """
    other_rules = _sorted_rules(broken for result in detecting for broken in _broken_rules(result))
    words = {"other_rules": " and ".join(other_rules) or "another rule"}
    counts = Counter(REASONS[result.kind] for result in detecting)
    reason = ", ".join(
        f"{count_text(counts[text], 'case')} {text.format(**words)}"
        for text in dict.fromkeys(REASONS.values())
        if counts[text]
    )
    status = RuleStatus.NOT_SHOWN
    if all(result.outcome is Outcome.UNSUPPORTED for result in detecting):
        status = RuleStatus.NOT_IN_REACH
    return RuleVerdict(engine, rule, status, reason, other_rules=other_rules)


def _sorted_rules(rules: Iterable[str]) -> tuple[str, ...]:
    """Return each of some rules once, sorted."""
    return tuple(sorted(set(rules)))


def smallest_case(cases: Iterable[CaseResult]) -> CaseResult:
    """Return the case with the fewest elements; of equal ones the first by its name."""
    return min(cases, key=lambda case: case.size_and_case)


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
    counts = Counter(verdict.status.counted_as for verdict in in_reach)
    numbers = ", ".join(f"{status} {counts[status]}" for status in COUNTED)
    yield f"{engine}: {count_text(len(in_reach), 'rule')} in reach: {numbers}"
    if known := [one.rule for one in in_reach if one.status is RuleStatus.KNOWN]:
        yield f"  broken by known deviations: {', '.join(known)}"
    for verdict in in_reach:
        if verdict.status not in (RuleStatus.HOLDS, RuleStatus.KNOWN):
            yield f"  {describe_rule(verdict)}"


def describe_rule(verdict: RuleVerdict) -> str:
    """Write the verdict on a rule in a line, with the case that shows it."""
    text = f"{verdict.rule} {verdict.status}: {verdict.reason}"
    if verdict.case:
        text += f" ({verdict.case})"
    return text
