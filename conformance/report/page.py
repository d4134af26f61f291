"""The page of results: one HTML file that needs nothing else. It says which engines were judged,
how each did, and for each result why.

What a reader sees first stands first. The details of results and the texts of rules stand packed at
the end of the file; the page's script unpacks a part of them when one is opened.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from itertools import islice
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from conformance.corpus.rule_texts import RuleText, rule_texts
from conformance.report import baseline, causes, matrix, pairs, rule_verdicts, texts
from conformance.report.headline import headlines
from conformance.report.matrix import cut_name, link_to_list
from conformance.report.result_list import LinesOf, ResultList
from conformance.report.source import Entry, MissingCases, Results
from conformance.report.template import read_asset, template
from conformance.verdict.outcomes import Outcome
from conformance.verdict.rules import RuleStatus
from refengine.drawings.style import style

# the most that a page has
ENGINES = 150  # columns of the matrix
HEADLINES = 16  # engines of which it says first what is wrong
NAMED = 5  # engines in a sentence
IN_A_PART = 40  # details that are packed together
NOTED = 200  # duplicates and gaps that are named, and cases of a gap


def page(
    results: Results,
    earlier: Sequence[Entry] | None = None,
    lines_of: LinesOf | None = None,
) -> str:
    """Return the HTML of the page of results, with what has changed since those of an `earlier`
    run, if there is one. `lines_of` gives the lines that a harness got for a result, if they are
    known. The same results give the same page.
    """
    entries = results.entries
    names = sorted({entry.result.engine for entry in entries})
    shown = names[:ENGINES]
    verdicts = rule_verdicts.judge_examined_engines(entries)
    listed = ResultList(lines_of)
    listed.fill(entries)
    listed.add_verdicts(verdicts)
    left_out = listed.left_out()
    if len(names) > ENGINES:
        left_out.append(f"the matrix has {ENGINES} of {len(names)} engines")
    outcomes = Counter(entry.result.outcome for entry in entries)
    rules = rules_in_html(_rules_of_interest(entries))
    script = read_asset("page.js")
    details = listed.data["details"]
    listed_data = {name: values for name, values in listed.data.items() if name != "details"}
    return template("page.html.j2").render(
        engines=list(matrix.engine_rows(entries, shown)),
        headlines=list(islice(headlines(entries), HEADLINES)),
        columns=[texts.clean(name, 40) for name in shown],
        rule_totals=list(rule_verdicts.count_verdicts(verdicts, shown)),
        rule_statuses={one: rule_verdicts.style_of(one) for one in RuleStatus},
        unexamined=_first_names(rule_verdicts.unexamined_engines(entries, verdicts)),
        sections=list(matrix.sections(entries, shown, verdicts)),
        diagnoses=list(causes.diagnoses(entries))[:ENGINES],
        total=len(entries),
        outcomes=[(str(outcome), outcomes[outcome]) for outcome in Outcome],
        deviations=_deviations(entries),
        causes=_causes(entries),
        unexplained=sum(entry.kind in ("fail", "error") for entry in entries),
        names=[cut_name("engine", name) for name in names],
        duplicates=[" · ".join(map(texts.clean, key)) for key in results.duplicates[:NOTED]],
        duplicates_total=len(results.duplicates),
        gaps=[_gap(gap) for gap in results.gaps[:NOTED]],
        gaps_total=len(results.gaps),
        left_out=left_out,
        mismatches=pairs.mismatch_tables(entries),
        changes=_changes(earlier, entries),
        missing_engines=_missing_engines(earlier or (), entries),
        data=_inert({**listed_data, "explained": sorted(rules), "part": IN_A_PART}),
        packed=_inert([pack(part) for part in (rules, *_parts(details))]),
        style=Markup(style() + read_asset("page.css")),
        script=Markup(script),
        script_hash=_hash_in_base64(script),
    )


def _parts(details: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the details that are packed together."""
    for start in range(0, len(details), IN_A_PART):
        yield details[start : start + IN_A_PART]


def pack(data: Any) -> str:
    """Return data as compressed JSON in Base64, as the page's script unpacks it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "backslashreplace"), 9)).decode()


def _hash_in_base64(text: str) -> str:
    """Return the SHA-256 of a text, as a browser's policy for scripts asks for it."""
    digest = hashlib.sha256(text.encode()).digest()
    return base64.b64encode(digest).decode()


def _inert(data: Any) -> Markup:
    """Return data as JSON for a script element. It is escaped so that no text in it can end the
    element, or begin a comment or a script.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _gap(gap: MissingCases) -> tuple[str, str, int, list[str]]:
    """Return the engine, the suite, the number of missing cases and the first of them."""
    cases = [texts.clean(case) for case in gap.cases[:NOTED]]
    return texts.clean(gap.engine), texts.clean(gap.suite), len(gap.cases), cases


def _rules_of_interest(entries: Iterable[Entry]) -> set[str]:
    """Return the rules with a result that is no pass."""
    return {entry.result.rule for entry in entries if entry.result.outcome is not Outcome.PASS}


def _first_names(engines: Sequence[str]) -> str:
    """Write the first of some engines, and how many more there are."""
    text = ", ".join(texts.clean(name, 60) for name in engines[:NAMED])
    if len(engines) > NAMED:
        text += f" and {len(engines) - NAMED} more"
    return text


def _deviations(entries: Iterable[Entry]) -> list[tuple[str, int]]:
    """Return the known deviations with the number of results that each explains, the most frequent
    first.
    """
    return _most_frequent(
        texts.clean(reason, 300)
        for entry in entries
        for reason in {known.reason for known in entry.result.known}
    )


def _causes(entries: Iterable[Entry]) -> list[tuple[str, int]]:
    """Return the causes that diagnoses have found, with the number of results that each explains,
    the most frequent first.
    """
    return _most_frequent(
        reason
        for entry in entries
        for reason in {causes.name_of(cause) for cause in entry.result.causes}
    )


def _most_frequent(reasons: Iterable[str]) -> list[tuple[str, int]]:
    """Return reasons with how often each occurs, the most frequent first."""
    counts = Counter(reasons)
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:NOTED]


class Change(NamedTuple):
    """The results that have changed in one way: the first of them, each with its engine, its case,
    its kinds and its link, and how many there are.
    """

    word: str
    results: list[tuple[str, str, str, str]]
    total: int


def _changes(earlier: Sequence[Entry] | None, entries: Sequence[Entry]) -> list[Change] | None:
    """Return what has changed since an earlier run; None if there is none."""
    if earlier is None:
        return None
    return [
        Change(word, [_changed_result(one) for one in changed[:NOTED]], len(changed))
        for word, changed in baseline.find_changes(earlier, entries).items()
    ]


def _changed_result(one: baseline.ResultChange) -> tuple[str, str, str, str]:
    """Return the engine, the case, the kinds and the link of a result that has changed."""
    link = link_to_list({"suite": one.suite, "case": one.case, "engine": one.engine})
    return texts.clean(one.engine), texts.clean(one.case, 240), one.kinds, link


def _missing_engines(earlier: Iterable[Entry], entries: Iterable[Entry]) -> list[str]:
    """Return the lines about engines of which an earlier run has nothing."""
    return [texts.clean(line, 400) for line in baseline.missing_engines(earlier, entries)][:NOTED]


CODE = re.compile(r"`([^`]*)`")
BOLD = re.compile(r"\*\*([^*]+)\*\*")
STAND_IN = "\ufffc"  # for code, in which asterisks are no emphasis
ITALICS = re.compile(r"\*([^*\s][^*]*)\*")


def rules_in_html(rules: Iterable[str]) -> dict[str, str]:
    """Return the HTML of those of some rules that SPEC.md has, by their ids."""
    known = rule_texts()
    return {rule: _in_html(rule, known[rule]) for rule in sorted(set(rules)) if rule in known}


def _in_html(rule: str, rule_text: RuleText) -> str:
    """Return the HTML of a rule."""
    link = ""
    if repository := repository_link():
        link = f"{repository}/blob/HEAD/{rule_text.page}#{rule_text.anchor}"
    return template("rule.html.j2").render(
        heading=rule_text.heading.partition(" — ")[0],
        link=texts.link(link),
        blocks=list(_blocks(f"**{rule}** {rule_text.text}")),
    )


@cache
def repository_link() -> str:
    """Return the address of this project's repository, empty if the package does not state it."""
    try:
        stated = metadata("refengine").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    for line in stated:
        label, _, address = line.partition(", ")
        if label.lower() in ("repository", "source"):
            return texts.link(address.rstrip("/"))
    return ""


def _blocks(text: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the paragraphs of a text in Markdown: the kind of each (`table`, `list` or
    `paragraph`) with its rows of cells, or its lines.
    """
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        if lines[0].startswith("|"):
            yield "table", [_cells(line) for line in lines if not line.startswith("|--")]
        elif re.match(r"- |[0-9]+\. ", lines[0]):
            yield "list", [(line.startswith(" "), _inline(line.strip())) for line in lines]
        else:
            yield "paragraph", [_inline(" ".join(lines))]


def _cells(line: str) -> list[Markup]:
    """Return the cells of a row of a table."""
    cells = re.split(r"(?<!\\)\|", line.strip()[1:-1])
    return [_inline(cell.strip().replace("\\|", "|")) for cell in cells]


def _inline(text: str) -> Markup:
    """Return a line of Markdown as HTML: code, bold and italics; all else is text."""
    escaped = str(escape(text))
    codes = iter(CODE.findall(escaped))
    words = ITALICS.sub(r"<em>\1</em>", BOLD.sub(r"<b>\1</b>", CODE.sub(STAND_IN, escaped)))
    return Markup(re.sub(STAND_IN, lambda _: f"<code>{next(codes)}</code>", words))
