"""A badge: an SVG file that a README can show.

A badge of shields.io would need an endpoint on the web.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from conformance.report.headline import headlines
from conformance.report.source import Entry, examined_engines, rule_verdicts
from conformance.report.template import template
from conformance.verdict.rules import IN_REACH, RuleStatus, RuleVerdict
from conformance.verdict.wording import count_text

# white text can be read on each of them
COLOURS = {"right": "#1d7a46", "known": "#8a5a00", "wrong": "#b3261e", "none": "#56606d"}
LABEL = "RSP conformance"
TITLED = 3  # engines of which the title says what is wrong
CHARACTER = 7.1  # pixels of a character on the average; textLength makes it exact


def badge(entries: Iterable[Entry]) -> str:
    """Return a badge that says how many of the rules in reach hold, and how many are broken.

    Nothing is known of the rules that hold if the results of an engine were not examined: the badge
    then says how many of the judged results pass. Unsupported and disputed results are not counted.

    The badge is red if there is a fail or an error that no known deviation explains, and brown if a
    known deviation explains all of them.
    """
    entries = list(entries)
    kinds = Counter(entry.kind for entry in entries)
    words = _words_about_results(kinds)
    if verdicts := _verdicts(entries):
        words = _words_about_rules(verdicts, kinds)
    sizes = [round(len(text) * CHARACTER) for text in (LABEL, words)]
    return template("badge.svg.j2").render(
        label=LABEL,
        words=words,
        title="; ".join(
            f"{one.engine}: {one.findings[0]}" for one in islice(headlines(entries), TITLED)
        ),
        sizes=sizes,
        colour=COLOURS[_tone(kinds)],
    )


def _verdicts(entries: Sequence[Entry]) -> list[RuleVerdict]:
    """Return the verdicts on the rules in reach, and on those about which something is wrong; none
    if the results of an engine were not examined.
    """
    if {entry.result.engine for entry in entries} != examined_engines(entries):
        return []
    return [verdict for verdict in rule_verdicts(entries) if verdict.status in IN_REACH]


def _words_about_rules(verdicts: Sequence[RuleVerdict], kinds: Mapping[str, int]) -> str:
    """Write how many of the rules in reach hold, and what the others are: `29 of 44 rules in reach
    hold, 1 broken, 12 known to be broken, 1 unexplained, 1 not shown, 3 wrong beyond it`. Fails and
    errors are counted behind them if none of these rules shows them.
    """
    statuses = Counter(verdict.status for verdict in verdicts if verdict.is_in_reach)
    beyond = Counter(verdict.status for verdict in verdicts if verdict.is_beyond_reach)
    counts = {
        "broken": statuses[RuleStatus.BROKEN],
        "known to be broken": statuses[RuleStatus.KNOWN],
        "unexplained": statuses[RuleStatus.UNEXPLAINED],
        "not shown": statuses[RuleStatus.NOT_SHOWN],
        "wrong beyond it": beyond.total(),
    }
    words = f"{statuses[RuleStatus.HOLDS]:,} of {statuses.total():,} rules in reach hold"
    words += "".join(f", {count:,} {what}" for what, count in counts.items() if count)
    every = statuses + beyond
    if kinds["fail"] and not every[RuleStatus.BROKEN] and not every[RuleStatus.UNEXPLAINED]:
        words += f", {count_text(kinds['fail'], 'fail')}"
    if kinds["error"]:
        words += f", {count_text(kinds['error'], 'error')}"
    return words


def _judged(kinds: Mapping[str, int]) -> int:
    return kinds["pass"] + kinds["known"] + kinds["fail"] + kinds["error"]


def _words_about_results(kinds: Mapping[str, int]) -> str:
    """Write how many of the judged results pass: `3 of 6 pass, 1 known`."""
    if not _judged(kinds):
        return "nothing judged"
    words = f"{kinds['pass']:,} of {_judged(kinds):,} pass"
    if kinds["known"]:
        words += f", {kinds['known']:,} known"
    return words


def _tone(kinds: Mapping[str, int]) -> str:
    """Return the key of the colour."""
    if not _judged(kinds):
        return "none"
    if kinds["fail"] or kinds["error"]:
        return "wrong"
    if kinds["known"]:
        return "known"
    return "right"
