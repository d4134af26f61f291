"""What is wrong with an engine, in a few lines: how many results have each outcome, what explains
most of its fails or what they have in common, and the smallest case that shows it. The end of a
run, the page, the summary in Markdown and the badge begin with it.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.report import causes, texts
from conformance.report.matrix import link_to_result
from conformance.report.source import Entry, by_engine, examined_engines, rule_verdicts
from conformance.report.texts import Shorten
from conformance.verdict.common_traits import find_common_traits
from conformance.verdict.place_traits import read_fail
from conformance.verdict.results import Outcome
from conformance.verdict.rules import RuleStatus
from conformance.verdict.wording import count_text

SENTENCE = 300  # characters of a finding
LINE = 84  # characters of a line about a case
ROWS, ELEMENTS = 4, 8  # of a case that are written, at most
FINDINGS = 3  # that are written of an engine, at most
FEW_RULES = 3  # so many are named where fails have nothing else in common
LEAST_FAILS = 3  # a finding about fewer fails is written only if there is no other
FEW_FAILS = 3  # whose explanations are written at the end of a run
# from an engine and a case to the command that asks the engine again about the case
AgainCommand = Callable[[str, str], str]
# the outcomes, in the order in which they are counted
ORDER = (
    *("error", "fail", "unstable", "known error", "known fail"),
    *("pass", "disputed", "unsupported"),
)


@dataclass(frozen=True)
class SmallestCase:
    """A case that fails, in three lines: its elements, the report that is expected where the
    answers first diverge, and what the engine answered there.
    """

    name: str
    elements: str
    expected: str
    answered: str
    link: str  # to its result on the page


@dataclass(frozen=True)
class Headline:
    """The lines about an engine. `counts` says how many results have each outcome, and `findings`
    what is wrong, in one to three sentences, the most telling first. `case` is the smallest case
    that shows the first finding; None if nothing fails.
    """

    engine: str
    counts: str
    findings: tuple[str, ...]
    case: SmallestCase | None = None


@dataclass(frozen=True)
class _Finding:
    """A sentence about what is wrong, and the results that show it."""

    words: str
    entries: Sequence[Entry]
    rules: frozenset[str] = frozenset()  # that are broken by it

    @property
    def smallest(self) -> Entry:
        """The smallest result that shows it: of its own rules, if there is one."""
        of_rules = [entry for entry in self.entries if entry.result.rule in self.rules]
        return min(of_rules or self.entries, key=lambda entry: entry.case_result.size_and_case)


def headlines(entries: Iterable[Entry]) -> Iterator[Headline]:
    """Yield a headline for each engine, sorted by name."""
    for engine, of_engine in by_engine(entries).items():
        yield _headline(engine, of_engine)


def _headline(engine: str, entries: Sequence[Entry]) -> Headline:
    """Return the headline of an engine from all of its results."""
    kinds = Counter(entry.result.outcome_in_words for entry in entries)
    counts = ", ".join(f"{kinds[kind]:,} {kind}" for kind in sorted(kinds, key=_place_in_order))
    found = [*_find_errors(entries), *_find_what_fails(entries), *_find_unstable(entries)]
    found.sort(key=lambda finding: -len(finding.entries))
    findings = [finding.words for finding in found[:1]]
    findings += [one.words for one in found[1:FINDINGS] if len(one.entries) >= LEAST_FAILS]
    return Headline(
        texts.clean(engine, 60),
        counts,
        tuple(findings) or (_words_where_nothing_fails(kinds, entries), *_known_most(entries)),
        _case_in_brief(found[0].smallest) if found else None,
    )


def _place_in_order(kind: str) -> int:
    """Return the place of an outcome in the order; outcomes that no run gives come last."""
    return ORDER.index(kind) if kind in ORDER else len(ORDER)


def _words_where_nothing_fails(kinds: Mapping[str, int], entries: Sequence[Entry]) -> str:
    """Write what is known of an engine without a fail that its file does not explain."""
    if not any(kinds[kind] for kind in ("pass", "known fail", "known error")):
        return "nothing was judged"
    words = "nothing is wrong"
    if known := kinds["known fail"] + kinds["known error"]:
        words = f"nothing is new: known deviations explain {known} of its results"
    if examined_engines(entries):
        statuses = Counter(verdict.status for verdict in rule_verdicts(entries))
        words += f"; {count_text(statuses[RuleStatus.HOLDS], 'rule')} shown to hold"
        if not_shown := statuses[RuleStatus.NOT_SHOWN]:
            words += f", {not_shown} not shown"
    return words


def _known_most(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the known deviations that explain most results, each with their number."""
    reasons = Counter(known.reason for entry in entries for known in entry.result.known)
    for reason, number in reasons.most_common(FINDINGS - 1):
        yield texts.clean(f"{number} of them: {reason}", SENTENCE)


def _find_errors(entries: Iterable[Entry]) -> Iterator[_Finding]:
    """Yield what the most errors say, of those that no known deviation explains."""
    errors = [entry for entry in entries if entry.kind == "error"]
    if errors:
        alike: dict[str, list[Entry]] = {}
        for entry in errors:
            alike.setdefault(texts.most_telling_line(entry.result.explanation), []).append(entry)
        words, most = max(alike.items(), key=lambda pair: len(pair[1]))
        yield _Finding(
            texts.clean(f"{len(most)} of {count_text(len(errors), 'error')}: {words}", SENTENCE),
            most,
        )


def _find_unstable(entries: Iterable[Entry]) -> Iterator[_Finding]:
    """Yield that cases are unstable, with the first of them."""
    unstable = [entry for entry in entries if entry.kind == "unstable"]
    if unstable:
        finding = _Finding(f"{count_text(len(unstable), 'case')} unstable", unstable)
        yield replace(finding, words=f"{finding.words}, as {finding.smallest.result.case}")


def _find_what_fails(entries: Sequence[Entry]) -> Iterator[_Finding]:
    """Yield what explains the fails of an engine, and what those have in common that nothing
    explains.
    """
    fails = [entry for entry in entries if entry.result.is_fail_without_known_deviation]
    if not fails:
        return
    if not any(entry.case_result.has_rows for entry in entries):
        yield _Finding("it answered no case with a row, so nothing shows what it does", fails)
        return
    yield from _find_causes(fails)
    if unexplained := causes.unexplained_fails(fails):
        yield from _find_traits(unexplained, entries, len(fails))


def _find_causes(fails: Sequence[Entry]) -> Iterator[_Finding]:
    """Yield the causes that a diagnosis has found."""
    for one in causes.fails_by_cause(fails):
        share = f"{len(one.entries)} of {count_text(len(fails), 'fail')}"
        words = f"{share} explained: {one.name[:1].lower()}{one.name[1:]}"
        if one.rules:
            words += f"; breaks {one.words_for_rules(60)}"
        if one.against:
            passes = "pass" if one.against == 1 else "passes"
            words += f"; but {one.against} {passes} would fail under it"
        yield _Finding(texts.clean(words, SENTENCE), one.entries, frozenset(one.rules))


def _find_traits(
    unexplained: Sequence[Entry], entries: Iterable[Entry], total: int
) -> Iterator[_Finding]:
    """Yield what the fails have in common that no cause explains; the fails themselves if they have
    nothing in common.
    """
    traits = find_common_traits(
        [entry.with_evidence for entry in unexplained], [entry.with_evidence for entry in entries]
    )
    whose = "" if len(unexplained) == total else " that no cause explains"
    for trait in traits:
        showing = [entry for entry in unexplained if entry.result.case in trait.cases]
        words = f"{trait.share} fails{whose} {trait.words}; no cause is known"
        yield _Finding(texts.clean(words, SENTENCE), showing)
    if not traits:
        words = f"no cause is known for {len(unexplained)} of {count_text(total, 'fail')}"
        rules = sorted({entry.result.rule for entry in unexplained if entry.result.rule})
        what = "they have little in common"
        if 0 < len(rules) <= FEW_RULES:
            what = f"their cases are of {' and '.join(rules)}"
        yield _Finding(f"{words}; {what}", unexplained)


def _case_in_brief(entry: Entry) -> SmallestCase:
    """Return the three lines of a case. Where no evidence was kept, they say so."""
    result = entry.result
    elements = expected = "not kept"
    answered = texts.most_telling_line(entry.result.explanation)
    evidence = entry.evidence
    if evidence is not None:
        shorten = texts.term_shortener(evidence["query"])
        elements = _elements_in_brief(evidence["elements"], shorten)
        reading = read_fail({**evidence, "cut": False})
        if reading is not None:
            expected = _report_in_brief(evidence["expected"], reading.place, evidence, shorten)
            place = reading.place - evidence.get("before", 0)
            answered = _report_in_brief(evidence["actual"], place, evidence, shorten)
        elif result.outcome is Outcome.FAIL:  # that of a question which is to be refused
            expected, answered = (
                answered,
                _report_in_brief(evidence["actual"], 0, evidence, shorten),
            )
    return SmallestCase(
        texts.clean(result.case, 240),
        texts.clean(elements, LINE),
        texts.clean(expected, LINE),
        texts.clean(answered, LINE),
        link_to_result(result),
    )


def _elements_in_brief(elements: Sequence[Mapping[str, Any]], shorten: Shorten) -> str:
    """Write the first elements of a case: `2 :a :p 1, 5 :b :p 2`."""
    written = []
    for element in elements[:ELEMENTS]:
        triples = element["graph"].split("\n")
        graph = "; ".join(
            _with_plain_integers(shorten(triple.strip().removesuffix(".").strip()))
            for triple in triples
            if triple.strip()
        )
        written.append(f"{element['at']} {graph}")
    return ", ".join(written) or "none"


def _with_plain_integers(text: str) -> str:
    """Write integers as `1`."""
    return re.sub(r'"([+-]?[0-9]+)"\^\^xsd:integer', r"\1", text)


def _report_in_brief(
    reports: Sequence[Mapping[str, Any]],
    place: int,
    evidence: Mapping[str, Any],
    shorten: Shorten,
) -> str:
    """Write the report at a place: `[0, 10): {x: :a}, {x: :b}`."""
    if not 0 <= place < len(reports):
        return "nothing" if not reports else "nothing more"
    report = reports[place]
    rows = [
        _with_plain_integers(texts.json_mapping_text(row, shorten)) for row in report["rows"][:ROWS]
    ]
    text = ", ".join(rows) or "no rows"
    if report["total"] > ROWS:
        text += f", … ({report['total']} rows)"
    if "window" in report:
        left, right = evidence.get("semantics", {}).get("closure", "[)")[:2].ljust(2)
        opening, closing = report["window"]
        return f"{left}{opening}, {closing}{right}: {text}"
    if "instant" in report:
        return f"at {report['instant']}: {text}"
    return text


def last_lines(entries: Iterable[Entry], command: AgainCommand, page: str) -> Iterator[str]:
    """Yield the lines with which a run ends: the headline of each engine. `page` is the path of the
    page, or says how one is written.
    """
    for headline in headlines(entries):
        yield from headline_lines(headline, command, page)


def replay_command(results: str, case: str, engine: str) -> str:
    """Return the command that asks an engine again about a case of a file of results."""
    words = ("python", "-m", "conformance", "replay", results, case, "--engine", engine)
    return shlex.join(words)


def headline_lines(headline: Headline, command: AgainCommand, page: str) -> Iterator[str]:
    """Yield the lines of a headline for a terminal."""
    yield f"conformance: {headline.engine}: {headline.counts}"
    for finding in headline.findings:
        yield f"  {finding}"
    if headline.case is not None:
        yield f"  smallest  {headline.case.name}"
        yield f"  elements  {headline.case.elements}"
        yield f"  expected  {headline.case.expected}"
        yield f"  answered  {headline.case.answered}"
        yield f"  again     {command(headline.engine, headline.case.name)}"
        yield f"  page      {page}"
