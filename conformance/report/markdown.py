"""A summary in Markdown, for a pull request or a release: outcomes and rules by engine, what
explains the fails, which rules are not shown, and what fails.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from conformance.report import texts
from conformance.report.causes import diagnoses
from conformance.report.headline import SENTENCE, headlines
from conformance.report.source import Entry, Results, by_engine, examined_engines, rule_verdicts
from conformance.verdict.outcomes import Outcome
from conformance.verdict.rules import COUNTED, IN_REACH, RuleStatus, RuleVerdict

NOTHING = "\u200b"
LISTED = 100  # rows of a section
# the kinds of results that each section lists
SECTIONS = {
    "Fails and errors that no known deviation explains": ("fail", "error"),
    "Known to fail": ("known",),
}
LISTED_RULES = 400  # characters of a list of rules


def markdown_lines(results: Results) -> Iterator[str]:
    """Yield the lines of the summary."""
    examined = examined_engines(results.entries)
    every = rule_verdicts(results.entries)
    verdicts = [one for one in every if one.engine in examined and one.status in IN_REACH]
    yield "# Conformance"
    yield ""
    yield from _headlines(results.entries)
    yield from _engines(results.entries)
    yield from _rules(verdicts)
    yield from _diagnoses(results.entries)
    yield from _rules_not_shown(verdicts)
    for title, kinds in SECTIONS.items():
        entries = [entry for entry in results.entries if entry.kind in kinds]
        yield from _failures(title, entries)
    if warnings := list(results.warnings):
        yield from ("", "## Notes", "")
        for line in warnings:
            yield f"- {escape_markdown(line, 400)}"


def _headlines(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines that say of each engine what is wrong, with its smallest case."""
    for headline in islice(headlines(entries), LISTED):
        findings = ". ".join(escape_markdown(one, SENTENCE) for one in headline.findings)
        yield f"- {escape_markdown(headline.engine)}: {findings}"
        if headline.case is not None:
            yield f"  - smallest case: {escape_markdown(headline.case.name, SENTENCE)}"
            yield f"  - elements: {escape_markdown(headline.case.elements)}"
            yield f"  - expected: {escape_markdown(headline.case.expected)}"
            yield f"  - answered: {escape_markdown(headline.case.answered)}"
    yield ""


def _engines(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines of a table with a row for each engine and a column for each outcome."""
    yield f"| engine | {' | '.join(Outcome)} | of these known |"
    yield f"|---|{'---:|' * (len(Outcome) + 1)}"
    for name, of_engine in by_engine(entries).items():
        counts = Counter(str(entry.result.outcome) for entry in of_engine)
        counts["known"] = sum(entry.kind == "known" for entry in of_engine)
        cells = " | ".join(str(counts[outcome]) for outcome in [*Outcome, "known"])
        yield f"| {escape_markdown(name)} | {cells} |"


def _rules(verdicts: Iterable[RuleVerdict]) -> Iterator[str]:
    """Yield the lines of a table of the rules in each engine's reach: how many have each status.
    The last column names those that are broken, beyond its reach as well. There are no lines if
    there is no such rule.
    """
    counts: dict[str, Counter[RuleStatus]] = {}
    broken: dict[str, list[str]] = {}
    for verdict in verdicts:
        of_engine = counts.setdefault(verdict.engine, Counter())
        of_engine[verdict.status.counted_as] += verdict.is_in_reach
        if verdict.status.counted_as is RuleStatus.BROKEN:
            broken.setdefault(verdict.engine, []).append(verdict.rule)
    if not counts:
        return
    yield ""
    yield f"| rules in reach | {' | '.join(COUNTED.values())} | which are broken |"
    yield f"|---|{'---:|' * len(COUNTED)}---|"
    for name, of_engine in sorted(counts.items()):
        cells = " | ".join(str(of_engine[status]) for status in COUNTED)
        listed = escape_markdown(", ".join(broken.get(name, ())), LISTED_RULES)
        yield f"| {escape_markdown(name)} | {cells} | {listed} |"


def _diagnoses(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines of a section with the causes that the diagnosis of each engine has found for
    its fails, those of most fails first, and the fails that it leaves unexplained.
    """
    rows = []
    for diagnosis in diagnoses(entries):
        groups = [(cause.reason, cause.rules, cause.fails) for cause in diagnosis.causes]
        if groups and diagnosis.unexplained is not None:
            groups.append(("no cause was found", "", diagnosis.unexplained))
        for reason, rules, fails in groups:
            rows.append((diagnosis.engine, reason, rules, str(fails.number), fails.case))
    head = ("| engine | cause | rules | fails | smallest case |", "|---|---|---|---:|---|")
    yield from _section("Diagnosis", head, rows)


def _rules_not_shown(verdicts: Iterable[RuleVerdict]) -> Iterator[str]:
    """Yield the lines of a section with the rules in reach that are not shown, and why."""
    rows = [
        (verdict.engine, verdict.rule, verdict.reason)
        for verdict in verdicts
        if verdict.status is RuleStatus.NOT_SHOWN
    ]
    yield from _section(
        "Rules that are not shown", ("| engine | rule | why |", "|---|---|---|"), rows
    )


def _failures(title: str, failures: Sequence[Entry]) -> Iterator[str]:
    """Yield the lines of a section that lists failures."""
    rows = []
    for entry in failures:
        result = entry.result
        reasons = "; ".join(known.reason for known in result.known)
        why = reasons or texts.most_telling_line(result.explanation)
        rows.append((result.engine, result.case, str(result.outcome), why))
    head = ("| engine | case | outcome | why |", "|---|---|---|---|")
    yield from _section(f"{title} ({len(failures)})", head, rows)


def _section(title: str, head: tuple[str, str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a section with a table of some rows; none if there are no rows."""
    if not rows:
        return
    yield from ("", f"## {title}", "", *head)
    for row in rows[:LISTED]:
        yield f"| {' | '.join(map(escape_markdown, row))} |"
    if len(rows) > LISTED:
        yield f"\n… {len(rows) - LISTED} more"


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
