"""The verdicts on rules as a page shows them, and how many of each status an engine has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.report import texts
from conformance.report.headings import heading_of
from conformance.report.source import Entry, examined_engines
from conformance.verdict.rules import (
    IN_REACH,
    RuleStatus,
    RuleVerdict,
    is_of_engines,
    judge_rules,
)

OTHER_RULES = 2  # other broken rules that a cell names, at most

# the verdicts by engine and rule
Verdicts = Mapping[tuple[str, str], RuleVerdict]


@dataclass(frozen=True)
class RuleCounts:
    """How many rules in an engine's reach have each status, how many have each one beyond its
    reach, and the share of those in reach, in percent.
    """

    name: str
    counts: Counter[RuleStatus]
    beyond: Counter[RuleStatus]

    @property
    def in_reach(self) -> int:
        """The number of rules in the engine's reach."""
        return sum(self.counts[status] for status in IN_REACH)

    @property
    def shares(self) -> list[tuple[RuleStatus, float]]:
        """The statuses of the rules in reach, each with its share."""
        return [
            (status, round(100 * self.counts[status] / self.in_reach, 2))
            for status in IN_REACH
            if self.counts[status]
        ]


def judge_examined_engines(entries: Iterable[Entry]) -> Verdicts:
    """Return the verdicts on the rules of those engines whose results were examined: a wrong engine
    was found that one of their cases would catch. Nothing is said of other engines, such as those
    of older files and of runs that were interrupted.
    """
    entries = list(entries)
    examined = examined_engines(entries)
    cases = (entry.case_result for entry in entries if entry.result.engine in examined)
    return {(verdict.engine, verdict.rule): verdict for verdict in judge_rules(cases)}


def style_of(status: RuleStatus) -> str:
    """Return the class of the style sheet for a status."""
    return status.replace(",", "").replace(" ", "-")


def reason_of(verdict: RuleVerdict) -> str:
    """Return why a verdict is what it is, with the smallest case that shows it."""
    reason = texts.clean(heading_of(verdict.reason), 300)
    if verdict.is_beyond_reach:
        reason += "; it is not in reach, so it is not counted there"
    if verdict.case:
        reason += f"; smallest case {texts.clean(verdict.case, 240)}"
    return reason


def name_other_rules(verdict: RuleVerdict) -> str:
    """Return the first rules by which the cases of a verdict are wrong, in words; empty if there
    are none. A rule that holds holds but for them, and one that is not shown rests on them.
    """
    if not verdict.other_rules:
        return ""
    rules = ", ".join(texts.clean(rule, 40) for rule in verdict.other_rules[:OTHER_RULES])
    more = ", …" if len(verdict.other_rules) > OTHER_RULES else ""
    words = "but for" if verdict.status is RuleStatus.HOLDS else "rests on"
    return f"{words} {rules}{more}"


def count_verdicts(verdicts: Verdicts, names: Sequence[str]) -> Iterator[RuleCounts]:
    """Yield the totals of each of some engines that have verdicts."""
    counts = {name: RuleCounts(texts.clean(name, 60), Counter(), Counter()) for name in names}
    for (engine, _), verdict in verdicts.items():
        if engine in counts:
            of_engine = counts[engine]
            counted = of_engine.beyond if verdict.is_beyond_reach else of_engine.counts
            counted[verdict.status] += 1
    yield from (of_engine for of_engine in counts.values() if of_engine.counts or of_engine.beyond)


def unexamined_engines(entries: Iterable[Entry], verdicts: Verdicts) -> list[str]:
    """Return the engines that have results about rules of engines, and no verdicts on them."""
    judged = {engine for engine, _ in verdicts}
    engines = {entry.result.engine for entry in entries if is_of_engines(entry.result.rule)}
    return sorted(engines - judged)
