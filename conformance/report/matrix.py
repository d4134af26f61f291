"""The matrix of a page: a column for each engine, a row for each rule of SPEC.md, section by
section, and then rows for the benchmarks. A cell has the verdict on the rule, or the worst outcome
of the results where there is no verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import quote

from conformance.report import rule_verdicts, texts
from conformance.report.rule_verdicts import Verdicts
from conformance.report.source import Entry
from conformance.verdict.results import Result
from conformance.verdict.rules import RuleVerdict

OWN_ROW = 40  # a suite with more queries has one row for all of them
# characters of a name in the list, and in the links that lead there
CUTS = {"engine": texts.NAME, "suite": texts.NAME, "rule": 40, "case": 240}
KINDS = ("fail", "error", "unstable", "known", "disputed", "unsupported", "pass")  # the worst first
SECTIONS = {  # of SPEC.md, by the beginning of a rule's id, in its order
    "MOD": "Model",
    "SEM": "Semantics",
    "QRY": "Query",
    "WIN": "Windows",
    "TICK": "Tick",
    "REP": "Report",
    "R2R": "SPARQL over content",
    "R2S": "Relation to stream",
    "ENG": "Evaluation",
    "CMP": "Comparing answers",
    "ORA": "The oracle",
    "IO": "Reading",
    "DIA": "Dialects",
}

Rank = tuple[int, str, int]


@dataclass(frozen=True)
class MatrixCell:
    """A cell of the matrix: its class of the style sheet, its word and the small text beside it,
    the reason and all counts in words, and a link to the results in the list.
    """

    style: str
    word: str
    small: str
    title: str
    link: str


class MatrixLine(NamedTuple):
    """A row of the matrix: a rule, or a query of a benchmark."""

    name: str
    cells: list[MatrixCell | None]


class MatrixRow(NamedTuple):
    """The subject of a row, with which rows are sorted: a rule, or a suite, or a suite and a case
    that has a row of its own.
    """

    rank: Rank
    section: str
    rule: str
    case: str
    suite: str

    @property
    def filters(self) -> dict[str, str]:
        """The filters that select the results of the row in the list."""
        if self.rule:
            return {"rule": self.rule}
        if self.case:
            return {"suite": self.suite, "case": self.case}
        return {"suite": self.suite}


def rank(rule: str) -> Rank:
    """Return the sort key of a rule: its place in SPEC.md. What is no rule comes last."""
    match = re.fullmatch(r"([A-Z][A-Z0-9]*)-([0-9]{1,9})", rule)
    if match is None:
        return len(SECTIONS) + 1, rule, 0
    places = {prefix: place for place, prefix in enumerate(SECTIONS)}
    return places.get(match[1], len(SECTIONS)), match[1], int(match[2])


def cut_name(kind: str, name: str) -> str:
    """Return a name as the list has it, cut to the length for its kind (engine, suite, …). What is
    of another kind is as the list has it already.
    """
    if kind not in CUTS:
        return name
    return texts.clean(name, CUTS[kind])


def engine_rows(entries: Iterable[Entry], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield for each engine its name, its link, its number of results of each kind, and the share
    of each kind in percent.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for entry in entries:
        if entry.result.engine in counts:
            counts[entry.result.engine][entry.kind] += 1
    for name, kinds in counts.items():
        total = kinds.total()
        shares = [
            (kind, round(100 * kinds[kind] / total, 2)) for kind in reversed(KINDS) if kinds[kind]
        ]
        yield {
            "name": texts.clean(name, 60),
            "link": link_to_list({"engine": name}),
            "total": total,
            "counts": kinds,
            "shares": shares,
        }


def sections(
    entries: Sequence[Entry],
    names: Sequence[str],
    verdicts: Verdicts,
) -> Iterator[tuple[str, list[MatrixLine]]]:
    """Yield title and rows of each section: first the sections of SPEC.md, then the benchmarks."""
    with_a_row_each = _short_benchmarks(entries)
    counts: dict[MatrixRow, dict[str, Counter[str]]] = {}
    columns = set(names)
    for entry in entries:
        if entry.result.engine in columns:
            row = _row_of(entry.result, with_a_row_each)
            by_engine = counts.setdefault(row, {name: Counter() for name in names})
            by_engine[entry.result.engine][entry.kind] += 1
    for engine, rule in verdicts:  # a rule without a case of its own can be broken, too
        if engine in columns:
            counts.setdefault(_row_of_rule(rule), {name: Counter() for name in names})
    for title, rows in groupby(sorted(counts), key=lambda row: row.section):
        yield texts.clean(title), [_line(row, counts[row], verdicts) for row in rows]


def _short_benchmarks(entries: Iterable[Entry]) -> set[str]:
    """Return the benchmarks that have so few queries that each gets a row."""
    queries: dict[str, set[str]] = {}
    for entry in entries:
        if not entry.result.rule:
            queries.setdefault(entry.result.suite, set()).add(entry.result.case)
    return {suite for suite, cases in queries.items() if len(cases) <= OWN_ROW}


def _row_of(result: Result, with_a_row_each: set[str]) -> MatrixRow:
    """Return the row to which a result belongs."""
    if not result.rule:
        case = ""
        if result.suite in with_a_row_each:
            case = result.case
        last = len(SECTIONS) + 2, result.suite, 0
        return MatrixRow(last, result.suite, "", case, result.suite)
    return _row_of_rule(result.rule)


def _row_of_rule(rule: str) -> MatrixRow:
    """Return the row of a rule."""
    section = rule.partition("-")[0]
    if section in SECTIONS:
        section = f"{section} · {SECTIONS[section]}"
    return MatrixRow(rank(rule), section, rule, "", "")


def _line(row: MatrixRow, by_engine: Mapping[str, Counter[str]], verdicts: Verdicts) -> MatrixLine:
    """Return the cells of a row."""
    cells: list[MatrixCell | None] = []
    for engine, kinds in by_engine.items():
        verdict = verdicts.get((engine, row.rule))
        filters = {**row.filters, "engine": engine}
        if verdict is not None:
            cells.append(_verdict_cell(verdict, kinds, filters))
        else:
            cells.append(_outcome_cell(kinds, filters))
    return MatrixLine(texts.clean(row.rule or row.case or row.suite, 60), cells)


def _verdict_cell(
    verdict: RuleVerdict,
    kinds: Counter[str],
    filters: Mapping[str, str],
) -> MatrixCell:
    """Return the cell of a rule with a verdict. `kinds` counts the results of the rule's own cases
    by their kind; if there are none, the link leads to the case by which the rule is broken.
    """
    total = kinds.total()
    small = rule_verdicts.name_other_rules(verdict)
    if total and not small:
        small = f"{kinds['pass']}/{total}"
    title = rule_verdicts.reason_of(verdict)
    style = rule_verdicts.style_of(verdict.status)
    if total:
        title += f"; results: {_count_kinds(kinds)}"
    else:
        filters = {"case": verdict.case, "engine": verdict.engine}
    return MatrixCell(style, verdict.status, small, title, link_to_list(filters))


def _outcome_cell(kinds: Counter[str], filters: Mapping[str, str]) -> MatrixCell | None:
    """Return the cell of an engine with so many results of each kind; None if it has none."""
    present = [kind for kind in KINDS if kinds[kind]]
    if not present:
        return None
    worst = present[0]
    small = str(kinds[worst])
    if kinds.total() != kinds[worst]:
        small += f"/{kinds.total()}"
    return MatrixCell(worst, worst, small, _count_kinds(kinds), link_to_list(filters))


def _count_kinds(kinds: Counter[str]) -> str:
    """Return in words how many results of each kind there are, the worst first."""
    words_of = {"known": "known to fail"}
    return ", ".join(f"{kinds[kind]} {words_of.get(kind, kind)}" for kind in KINDS if kinds[kind])


def link_to_result(result: Result) -> str:
    """Return the link that makes the page's script show one result."""
    return link_to_list({"suite": result.suite, "case": result.case, "engine": result.engine})


def link_to_list(filters: Mapping[str, str]) -> str:
    """Return the link that makes the page's script filter the list."""
    return "#" + "&".join(
        f"{kind}={quote(cut_name(kind, name), safe='')}" for kind, name in filters.items()
    )
