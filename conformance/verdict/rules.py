"""A verdict on each rule for an engine, from its results.

A rule of SPEC.md is in an engine's reach if a case of it would catch a wrong engine of the rule
under the semantics that the engine claims, and if the engine supports the case. What the engine
answered does not matter. The rule is *not in reach* if the engine supports none of these cases, and
*not asked* if there are none.

A rule is *broken* if a cause was found that breaks it: a known deviation, or a cause that the
diagnosis names. If a case of it fails without a cause, it *fails, unexplained*: the real reason may
be another rule, which the case needs as well. Otherwise a rule in reach *holds* if the engine
passes such a case with rows, or else is *not shown*, and the verdict says why.

A cause can break a rule that is not in reach, and a case that could not catch a wrong engine can
fail. Such rules are named, and not counted among those in reach.

Rules that say what the suite itself does are no rules of an engine, and have no verdict.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from conformance.verdict.results import Outcome, Result
from conformance.verdict.wording import count_text

# The families of rules that say what the suite does: it judges, reads files, and writes queries in
# the languages of engines. Comparing (CMP) is not among them: Istream compares answers as well.
OF_THE_SUITE = frozenset({"ORA", "IO", "DIA"})

# Why a case does not show its rule, by the kind of its result; in the order in which they are
# written. A case that fails is wrong by other rules: if it were wrong by its own, the rule would be
# broken, and without a cause the rule would fail unexplained.
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
    deviations alone, and `UNEXPLAINED` one of which a case fails for an unknown reason.
    """

    HOLDS = "holds"
    BROKEN = "broken"
    KNOWN = "broken, known"
    UNEXPLAINED = "fails, unexplained"
    NOT_SHOWN = "not shown"
    NOT_ASKED = "not asked"
    NOT_IN_REACH = "not in reach"

    @property
    def counted_as(self) -> RuleStatus:
        """The status under which a summary counts the rule: a broken rule is broken, whether or not
        that is known.
        """
        return RuleStatus.BROKEN if self is RuleStatus.KNOWN else self


# the statuses that a rule in reach can have
IN_REACH = (
    RuleStatus.HOLDS,
    RuleStatus.BROKEN,
    RuleStatus.KNOWN,
    RuleStatus.UNEXPLAINED,
    RuleStatus.NOT_SHOWN,
)
# those under which a summary counts them, in its order, each with its word there
COUNTED = {
    RuleStatus.HOLDS: "holds",
    RuleStatus.BROKEN: "broken",
    RuleStatus.UNEXPLAINED: "unexplained",
    RuleStatus.NOT_SHOWN: "not shown",
}


def is_of_engines(rule: str) -> bool:
    """Whether a rule says what an engine does. It is False for the rules of the suite, and for the
    empty rule of a benchmark's query.
    """
    return bool(rule) and rule.partition("-")[0] not in OF_THE_SUITE


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
        return bool(self.shown_wrong_engine) and self.has_rows and self.is_right_about_its_rule

    @property
    def shown_wrong_engine(self) -> str:
        """The wrong engine that would have failed the case in place of the engine: of an explained
        result, if the explanations are granted. Empty if there is none.
        """
        if self.result.explained_by:
            return self.result.caught_when_granted
        return self.result.caught_wrong_engine

    @property
    def reaches_its_rule(self) -> bool:
        """Whether the engine supports the case, and the case would catch a wrong engine."""
        supported = self.result.outcome is not Outcome.UNSUPPORTED
        return supported and bool(self.result.caught_wrong_engine)

    @property
    def is_unexplained(self) -> bool:
        """Whether the case fails, and nothing explains it."""
        return self.result.outcome is Outcome.FAIL and not self.result.explained_by

    @property
    def is_right_about_its_rule(self) -> bool:
        """Whether the answers are right, or wrong only by deviations from other rules: known ones,
        or those that a diagnosis has found. Such a deviation must be one that `can_be_granted`: the
        rest of the answers is right then. It is False, too, where this is not known: of an error,
        and of a fail by a deviation that cannot be granted.
        """
        explanations = self.result.explained_by
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
    cases. `is_in_reach` says whether the engine supports a case that could show the rule.
    """

    engine: str
    rule: str
    status: RuleStatus
    reason: str
    case: str = ""
    other_rules: tuple[str, ...] = ()
    is_in_reach: bool = True

    @property
    def is_beyond_reach(self) -> bool:
        """Whether something is wrong about the rule, though it is not in reach."""
        return self.status in IN_REACH and not self.is_in_reach


def judge_rules(cases: Iterable[CaseResult]) -> list[RuleVerdict]:
    """Return the verdict on each rule of engines, for each engine, sorted by engine and rule. The
    queries of benchmarks, which have no rule, say nothing.
    """
    by_rule: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    breaking: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    for case in cases:
        result = case.result
        if not result.rule:
            continue
        if is_of_engines(result.rule):
            by_rule[result.engine, result.rule].append(case)
        for rule in _broken_rules(result):
            breaking[result.engine, rule].append(case)

    return [
        _judge_rule(engine, rule, by_rule[engine, rule], breaking.get((engine, rule), []))
        for engine, rule in sorted({*by_rule, *breaking})
    ]


def _broken_rules(result: Result) -> set[str]:
    """Return the rules of engines that a result shows to be broken: those of what explains it."""
    if result.outcome not in (Outcome.FAIL, Outcome.ERROR):
        return set()
    rules = {rule for explanation in result.explained_by for rule in explanation.rules}
    return set(filter(is_of_engines, rules))


def _judge_rule(
    engine: str,
    rule: str,
    cases: Sequence[CaseResult],
    breaking: Sequence[CaseResult],
) -> RuleVerdict:
    """Return the verdict on a rule from its own cases, and the cases that show it broken."""
    is_in_reach = any(case.reaches_its_rule for case in cases)
    if breaking:
        return replace(_broken_verdict(engine, rule, breaking), is_in_reach=is_in_reach)

    if failing := [case for case in cases if case.is_unexplained]:
        return replace(_unexplained_verdict(engine, rule, failing), is_in_reach=is_in_reach)

    detecting = [case.result for case in cases if case.result.caught_wrong_engine]
    if is_in_reach:
        if showing := [case for case in cases if case.shows_its_rule]:
            return _holding_verdict(engine, rule, showing)
        return _unshown_verdict(engine, rule, detecting)

    if detecting:
        reason = f"{count_text(len(detecting), 'case')} unsupported"
        return RuleVerdict(engine, rule, RuleStatus.NOT_IN_REACH, reason, is_in_reach=False)

    reason = "no case of it would catch a wrong engine under this semantics"
    return RuleVerdict(engine, rule, RuleStatus.NOT_ASKED, reason, is_in_reach=False)


def _holding_verdict(engine: str, rule: str, showing: Sequence[CaseResult]) -> RuleVerdict:
    """Return the verdict on a rule that some cases show to hold. A case that passes is named rather
    than one that is wrong by other rules alone.
    """
    passes = [case for case in showing if case.result.outcome is Outcome.PASS]
    found = smallest_case(passes or showing)
    smallest = found.result
    reason = f"the wrong engine {found.shown_wrong_engine!r} would have failed"
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
    reason = next(one.reason for one in smallest.explained_by if rule in one.rules)
    status = RuleStatus.BROKEN if unknown else RuleStatus.KNOWN
    return RuleVerdict(engine, rule, status, reason, smallest.case)


def _unexplained_verdict(engine: str, rule: str, failing: Sequence[CaseResult]) -> RuleVerdict:
    """Return the verdict on a rule of which some cases fail, and nobody knows why."""
    smallest = smallest_case(failing).result
    fails = "1 case fails" if len(failing) == 1 else f"{len(failing)} cases fail"
    reason = f"{fails}, and no cause is known"
    return RuleVerdict(engine, rule, RuleStatus.UNEXPLAINED, reason, smallest.case)


def _unshown_verdict(engine: str, rule: str, detecting: Sequence[Result]) -> RuleVerdict:
    """Return the verdict on a rule that is not shown. `detecting` are the results of the cases that
    would catch a wrong engine of it.
    """
    other_rules = _sorted_rules(broken for result in detecting for broken in _broken_rules(result))
    words = {"other_rules": " and ".join(other_rules) or "another rule"}
    counts = Counter(REASONS[result.kind] for result in detecting)
    reason = ", ".join(
        f"{count_text(counts[text], 'case')} {text.format(**words)}"
        for text in dict.fromkeys(REASONS.values())
        if counts[text]
    )
    return RuleVerdict(engine, rule, RuleStatus.NOT_SHOWN, reason, other_rules=other_rules)


def _sorted_rules(rules: Iterable[str]) -> tuple[str, ...]:
    """Return each of some rules once, sorted."""
    return tuple(sorted(set(rules)))


def smallest_case(cases: Iterable[CaseResult]) -> CaseResult:
    """Return the case with the fewest elements; of equal ones the first by its name."""
    return min(cases, key=lambda case: case.size_and_case)


def summarize_rules(verdicts: Iterable[RuleVerdict]) -> list[str]:
    """Return a line for each engine that counts the rules in its reach; a line with those that
    known deviations break, one with those that fail unexplained and one with those beyond its
    reach; and a line for each other rule that is broken, or in reach and not shown.
    """
    by_engine: dict[str, list[RuleVerdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.status in IN_REACH:
            by_engine[verdict.engine].append(verdict)
    return [
        line
        for engine, of_engine in sorted(by_engine.items())
        for line in _summarize_engine(engine, of_engine)
    ]


def count_in_reach(verdicts: Iterable[RuleVerdict]) -> Counter[RuleStatus]:
    """Return how many of the rules in reach a summary counts under each status."""
    return Counter(verdict.status.counted_as for verdict in verdicts if verdict.is_in_reach)


def _summarize_engine(engine: str, verdicts: Sequence[RuleVerdict]) -> Iterator[str]:
    """Yield the lines of a summary about one engine, from the verdicts on its rules."""
    counts = count_in_reach(verdicts)
    numbers = ", ".join(f"{word} {counts[status]}" for status, word in COUNTED.items())
    yield f"{engine}: {count_text(counts.total(), 'rule')} in reach: {numbers}"
    lists = {
        "broken by known deviations": [one for one in verdicts if one.status is RuleStatus.KNOWN],
        "fail, unexplained": [one for one in verdicts if one.status is RuleStatus.UNEXPLAINED],
        "of these beyond its reach, and not counted": [
            one for one in verdicts if one.is_beyond_reach
        ],
    }
    for verdict in verdicts:
        if verdict.status in (RuleStatus.BROKEN, RuleStatus.NOT_SHOWN):
            yield f"  {describe_rule(verdict)}"
    for words, listed in lists.items():
        if listed:
            yield f"  {words}: {', '.join(one.rule for one in listed)}"


def describe_rule(verdict: RuleVerdict) -> str:
    """Write the verdict on a rule in a line, with the case that shows it."""
    text = f"{verdict.rule} {verdict.status}: {verdict.reason}"
    if verdict.case:
        text += f" ({verdict.case})"
    return text
