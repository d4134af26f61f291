"""The verdicts on rules as a page shows them: the kind of each, and how many of each kind an engine
has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from conformance.report import texts
from conformance.report.source import Entry, examined_engines
from conformance.verdict.rules import RuleStatus, RuleVerdict, judge_rules

RESTS_ON = 2  # rules on which a verdict rests that a cell names, at most

# the verdicts by engine and rule
Verdicts = Mapping[tuple[str, str], RuleVerdict]


class VerdictKind(StrEnum):
    """The kinds of verdicts on a rule, in the order in which they are counted."""

    HOLDS = "holds"
    BROKEN = "broken"
    KNOWN = "broken, known"
    NOT_SHOWN = "not shown"
    NOT_ASKED = "not asked"
    NOT_IN_REACH = "not in reach"

    @property
    def style(self) -> str:
        """The class of the style sheet."""
        return self.replace(",", "").replace(" ", "-")


# the kinds of the rules that are in an engine's reach
IN_REACH = (VerdictKind.HOLDS, VerdictKind.BROKEN, VerdictKind.KNOWN, VerdictKind.NOT_SHOWN)


@dataclass(frozen=True)
class RuleCounts:
    """How many rules have a verdict of each kind for an engine, and the share of each kind of those
    in reach, in percent.
    """

    name: str
    counts: Counter[VerdictKind]

    @property
    def in_reach(self) -> int:
        """The number of rules in the engine's reach."""
        return sum(self.counts[kind] for kind in IN_REACH)

    @property
    def shares(self) -> list[tuple[VerdictKind, float]]:
        """The kinds of the rules in reach, each with its share."""
        return [
            (kind, round(100 * self.counts[kind] / self.in_reach, 2))
            for kind in IN_REACH
            if self.counts[kind]
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


def kind_of(verdict: RuleVerdict) -> VerdictKind:
    """Return the kind of a verdict."""
    match verdict.status:
        case RuleStatus.HOLDS:
            return VerdictKind.HOLDS
        case RuleStatus.BROKEN:
            return VerdictKind.KNOWN if verdict.is_known else VerdictKind.BROKEN
        case RuleStatus.NOT_SHOWN:
            return VerdictKind.NOT_SHOWN if verdict.is_in_reach else VerdictKind.NOT_IN_REACH
        case RuleStatus.NOT_ASKED:
            return VerdictKind.NOT_ASKED


def reason_of(verdict: RuleVerdict) -> str:
    """Return why a verdict is what it is, with the smallest case that shows it."""
    reason = texts.clean(verdict.reason, 300)
    if verdict.case:
        reason += f"; smallest case {texts.clean(verdict.case, 240)}"
    return reason


def rests_on(verdict: RuleVerdict) -> str:
    """Return the first rules on which a verdict rests, in words; empty if it rests on none."""
    if not verdict.rests_on:
        return ""
    rules = ", ".join(texts.clean(rule, 40) for rule in verdict.rests_on[:RESTS_ON])
    more = ", …" if len(verdict.rests_on) > RESTS_ON else ""
    return f"rests on {rules}{more}"


def count_verdicts(verdicts: Verdicts, names: Sequence[str]) -> Iterator[RuleCounts]:
    """Yield the totals of each of some engines that have verdicts."""
    counts: dict[str, Counter[VerdictKind]] = {name: Counter() for name in names}
    for (engine, _), verdict in verdicts.items():
        if engine in counts:
            counts[engine][kind_of(verdict)] += 1
    for name, of_engine in counts.items():
        if of_engine:
            yield RuleCounts(texts.clean(name, 60), of_engine)


def unexamined_engines(entries: Iterable[Entry], verdicts: Verdicts) -> list[str]:
    """Return the engines that have results about rules, and no verdicts on them."""
    judged = {engine for engine, _ in verdicts}
    engines = {entry.result.engine for entry in entries if entry.result.rule}
    return sorted(engines - judged)
