"""A summary in Markdown, for a pull request or a release: outcomes by engine, and what fails."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from conformance.report import texts
from conformance.report.source import Entry, Results
from conformance.verdict.outcomes import Outcome
from conformance.verdict.rules import RuleStatus, judge_rules

NOTHING = "\u200b"
LISTED = 100  # fails and errors of each kind
LISTED_RULES = 400  # characters of a list of rules


def markdown_lines(results: Results) -> Iterator[str]:
    """Yield the lines of the summary."""
    yield "# Conformance"
    yield ""
    yield from _engines(results.entries)
    yield from _rules(results.entries)
    for title, kinds in (
        ("Fails and errors that no known deviation explains", ("fail", "error")),
        ("Known to fail", ("known",)),
    ):
        yield from _failures(title, [entry for entry in results.entries if entry.kind in kinds])
    if warnings := list(results.warnings):
        yield from ("", "## Notes", "")
        for line in warnings:
            yield f"- {escape_markdown(line, 400)}"


def _engines(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines of a table with a row for each engine and a column for each outcome."""
    counts: dict[str, Counter[str]] = {}
    for entry in entries:
        of_engine = counts.setdefault(entry.result.engine, Counter())
        of_engine[str(entry.result.outcome)] += 1
        of_engine["known"] += entry.kind == "known"
    yield f"| engine | {' | '.join(Outcome)} | of these known |"
    yield f"|---|{'---:|' * (len(Outcome) + 1)}"
    for name, of_engine in sorted(counts.items()):
        cells = " | ".join(str(of_engine[outcome]) for outcome in [*Outcome, "known"])
        yield f"| {escape_markdown(name)} | {cells} |"


def _rules(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines of a table of the rules in each engine's reach: how many hold, are broken and
    are not shown, and which are broken. There are none if no result was examined.
    """
    counts: dict[str, Counter[RuleStatus]] = {}
    broken: dict[str, list[str]] = {}
    for verdict in judge_rules(entry.case_result for entry in entries):
        if verdict.is_in_reach:
            counts.setdefault(verdict.engine, Counter())[verdict.status] += 1
            if verdict.status is RuleStatus.BROKEN:
                broken.setdefault(verdict.engine, []).append(verdict.rule)
    if not counts:
        return
    columns = (RuleStatus.HOLDS, RuleStatus.BROKEN, RuleStatus.NOT_SHOWN)
    yield ""
    yield f"| rules in reach | {' | '.join(columns)} | which are broken |"
    yield f"|---|{'---:|' * len(columns)}---|"
    for name, of_engine in sorted(counts.items()):
        cells = " | ".join(str(of_engine[status]) for status in columns)
        listed = escape_markdown(", ".join(broken.get(name, ())), LISTED_RULES)
        yield f"| {escape_markdown(name)} | {cells} | {listed} |"


def _failures(title: str, failures: Sequence[Entry]) -> Iterator[str]:
    """Yield the lines of a section that lists failures; none if there are no failures."""
    if not failures:
        return
    yield ""
    yield f"## {title} ({len(failures)})"
    yield ""
    yield "| engine | case | outcome | why |"
    yield "|---|---|---|---|"
    for entry in failures[:LISTED]:
        result = entry.result
        reasons = "; ".join(known.reason for known in result.known)
        why = escape_markdown(reasons or texts.most_telling_line(result.argument), texts.FIRST)
        engine = escape_markdown(result.engine)
        case = escape_markdown(result.case)
        yield f"| {engine} | {case} | {result.outcome} | {why} |"
    if len(failures) > LISTED:
        yield f"\n… {len(failures) - LISTED} more"


def escape_markdown(text: str, most: int = texts.NAME) -> str:
    """Return a text that Markdown shows as it stands, even in a table and at the beginning of a
    line.

    A space of no width (U+200B) breaks up what GitHub would turn into a link: `@name`, `#1`,
    `GH-1`, `https://…`, `www.…`.
    """
    parted = re.sub(
        r"(?<=@)|(?<=#)(?=[0-9])|(?<=\bGH-)(?=[0-9])|(?<=:)(?=//)|(?<=\bwww)(?=\.)",
        NOTHING,
        texts.clean(text, most).strip(),
        flags=re.IGNORECASE,
    )
    parted = re.sub(r"^(?=[#=-]|[0-9]+[.)])", NOTHING, parted)
    plain = (
        parted.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    )
    return re.sub(r"([\\`*_{}\[\]()+!|~$])", r"\\\1", plain).replace(NOTHING, "&#8203;")
