"""The page: one HTML file that needs nothing else. Who is judged, how, and for each result why."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from conformance.report import charts, mismatch, pairs, texts, timeline
from conformance.report.drawing import WIDTH
from conformance.report.source import Collected, Entry
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result

DRAWN = 1_500  # results that are told in full, at most; equal ones count once
BYTES = 16_000_000  # of these together
LISTED = 100_000  # results in the list
ENGINES = 150  # columns of the matrix
# characters of a name, in the list and in what leads there
CUTS = {"engine": texts.NAME, "suite": texts.NAME, "rule": 40, "case": 240}
OWN_ROW = 40  # queries of a benchmark that get a row each; of more, the suite gets one
NOTED = 200  # duplicates, and cases of a gap, that are named
ELEMENTS, TRIPLES = 60, 4  # of a case's elements, those listed as text

KINDS = ("fail", "error", "known", "disputed", "unsupported", "pass")  # the worst first
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

Shorten = Callable[[str], str]
Rank = tuple[int, str, int]


@dataclass(frozen=True)
class Cell:
    """Of one engine and one row of the matrix: the worst kind, how many there are of it, of how
    many, and all counts in words.
    """

    kind: str
    count: int
    total: int
    words: str
    link: str


class Line(NamedTuple):
    """A row of the matrix: a rule, or a query of a benchmark."""

    name: str
    cells: list[Cell | None]


@dataclass
class Told:
    """The list of results, as the page's script reads it: texts that occur again are kept once."""

    data: dict[str, list[Any]] = field(
        default_factory=lambda: {
            name: [] for name in ("engines", "suites", "cases", "known", "texts", "details", "rows")
        }
    )
    places: dict[tuple[str, Any], int] = field(default_factory=dict)

    def place(self, kind: str, value: Any, key: Any = None) -> int:
        """Where a value is in its list."""
        key = (kind, value if key is None else key)
        if key not in self.places:
            self.places[key] = len(self.data[kind])
            self.data[kind].append(value)
        return self.places[key]


@cache
def templates() -> jinja2.Environment:
    """The templates, autoescaped whatever their names are."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("conformance.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def page(found: Collected) -> str:
    """The page of results: the same for the same results."""
    ordered = sorted(found.entries, key=_order)
    told, left_out = _told(ordered)
    names = sorted({entry.result.engine for entry in found.entries})
    style, script = (_part(name) for name in ("page.css", "page.js"))
    return (
        templates()
        .get_template("page.html.j2")
        .render(
            engines=list(_engines(found.entries, names[:ENGINES])),
            columns=[texts.clean(name, 40) for name in names[:ENGINES]],
            sections=list(_sections(found.entries, names[:ENGINES])),
            total=len(found.entries),
            outcomes=[
                (str(outcome), sum(entry.result.outcome is outcome for entry in found.entries))
                for outcome in Outcome
            ],
            deviations=_deviations(found.entries),
            unexplained=sum(entry.kind in ("fail", "error") for entry in found.entries),
            names=[_cut("engine", name) for name in names],
            duplicates=[
                " · ".join(texts.clean(part) for part in key) for key in found.duplicates[:NOTED]
            ],
            duplicates_total=len(found.duplicates),
            gaps=[
                (
                    texts.clean(gap.engine),
                    texts.clean(gap.suite),
                    len(gap.cases),
                    [texts.clean(case) for case in gap.cases[:NOTED]],
                )
                for gap in found.gaps[:NOTED]
            ],
            gaps_total=len(found.gaps),
            left_out=[
                *left_out,
                *(
                    [f"the matrix has {ENGINES} of {len(names)} engines"]
                    if len(names) > ENGINES
                    else []
                ),
            ],
            mismatches=mismatch.tables(found.entries),
            data=_inert(told.data),
            style=Markup(style),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def _part(name: str) -> str:
    """A file of ours that goes into the page as it is."""
    loader = templates().loader
    assert loader is not None
    return loader.get_source(templates(), name)[0]


def _inert(data: Any) -> Markup:
    """JSON in a script element: no text of it can end the element, or begin a comment or a script
    there.
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


# The list


def _order(entry: Entry) -> tuple[int, Rank, str, str, str]:
    """What needs a look first; then by rule, case and engine."""
    result = entry.result
    return KINDS.index(entry.kind), rank(result.rule), result.suite, result.case, result.engine


def rank(rule: str) -> Rank:
    """The place of a rule in SPEC.md; what is no rule comes last."""
    match = re.fullmatch(r"([A-Z][A-Z0-9]*)-([0-9]{1,9})", rule)
    if match is None:
        return len(SECTIONS) + 1, rule, 0
    sections = list(SECTIONS)
    return (
        sections.index(match[1]) if match[1] in SECTIONS else len(SECTIONS),
        match[1],
        int(match[2]),
    )


def _told(ordered: Sequence[Entry]) -> tuple[Told, list[str]]:
    """The list of results, and what of it is left out. Those that differ from others in name alone
    share what is told of them.
    """
    told, size, untold = Told(), 0, 0
    details: dict[tuple[object, ...], int] = {}
    for entry in ordered[:LISTED]:
        result = entry.result
        key = (entry.text, result.argument, result.known, result.outcome)
        if key not in details and len(details) < DRAWN and size < BYTES:
            html = detail(entry)
            size += len(html)
            details[key] = told.place("details", html)
        untold += key not in details
        case = (
            told.place("suites", _cut("suite", result.suite)),
            _cut("rule", result.rule),
            _cut("case", result.case),
        )
        told.data["rows"].append(
            [
                told.place("engines", _cut("engine", result.engine), result.engine),
                told.place("cases", case, (result.suite, result.rule, result.case)),
                list(Outcome).index(result.outcome),
                [
                    told.place("known", texts.clean(reason, 300), (reason, link))
                    for reason, link in result.known[:8]
                ],
                told.place("texts", texts.first_line(result.argument)),
                details.get(key, -1),
            ]
        )
    left_out = []
    if len(ordered) > LISTED:
        left_out.append(
            f"the list has the first {LISTED:,} of {len(ordered):,} results, the worst first"
        )
    if untold:
        left_out.append(
            f"{untold:,} results of the list have the first line of their argument "
            f"alone, and no drawing: {len(details):,} are told in full"
        )
    return told, left_out


def detail(entry: Entry) -> str:
    """All that is told of one result, but whose it is."""
    result, evidence = entry.result, entry.evidence
    return (
        templates()
        .get_template("detail.html.j2")
        .render(
            outcome=str(result.outcome),
            argument=texts.block(result.argument),
            known=[
                (texts.clean(reason, 600), texts.link(link)) for reason, link in result.known[:20]
            ],
            **(_shown(result, evidence) if evidence is not None else {"query": None}),
        )
    )


def _shown(result: Result, evidence: Mapping[str, Any]) -> dict[str, Any]:
    found, first = pairs.pairs(evidence, result.outcome)
    shorten = texts.shortener(evidence["query"])
    drawn = pairs.drawn(found, first, timeline.REPORTS)
    return {
        "query": texts.block(evidence["query"]),
        "semantics": [
            (texts.clean(name, 40), texts.clean(str(value), 60))
            for name, value in evidence.get("semantics", {}).items()
        ],
        "line": timeline.timeline(evidence, found, first),
        "lines": [
            _line(pair, pair.number == first, timeline.bounds_of(evidence), shorten)
            for pair in drawn
        ],
        "judged": "expected" in evidence and result.outcome is not Outcome.PASS,
        "due": "expected" in evidence,
        "first": first,
        "reports": len(found),
        "elements": list(_elements(evidence, shorten)),
        "elements_total": max(evidence["elements_total"], len(evidence["elements"])),
        "cut": evidence["cut"],
        "charts": charts.charts(evidence),
        "width": WIDTH,
    }


def _line(pair: pairs.Pair, first: bool, bounds: str, shorten: Shorten) -> dict[str, Any]:
    """A report in the table: what is due, what was given, what differs."""
    there = pair.due or pair.given
    assert there is not None  # a pair has one of them
    rows = there["rows"]
    return {
        "number": pair.number + 1,
        "first": first,
        "due": _said(pair.due, bounds),
        "given": _said(pair.given, bounds),
        "differs": pair.differs,
        "lacking": [texts.row(row, shorten) for row in pair.lacking],
        "surplus": [texts.row(row, shorten) for row in pair.surplus],
        "more": pair.more,
        "note": texts.clean(pair.note, 300),
        "rows": [texts.told(row, shorten) for row in rows[:2]]
        if not pair.lacking and not pair.surplus
        else [],
        "rows_more": max(0, len(rows) - 2),
    }


def _said(report: Mapping[str, Any] | None, bounds: str) -> dict[str, str] | None:
    if report is None:
        return None
    window = report.get("window")
    place = (
        f"{bounds[0]}{window[0]}, {window[1]}{bounds[1]}"
        if window
        else f"at {report['instant']}"
        if "instant" in report
        else ""
    )
    count = pairs.total(report)
    return {"place": place, "rows": f"{count} row{'' if count == 1 else 's'}"}


def _elements(evidence: Mapping[str, Any], shorten: Shorten) -> Iterator[str]:
    several = len({element["stream"] for element in evidence["elements"]}) > 1
    for element in evidence["elements"][:ELEMENTS]:
        triples = [line.strip() for line in element["graph"].split("\n") if line.strip()]
        end = f" to {element['end']}" if "end" in element else ""
        stream = f" {texts.clean(element['stream'], 30)}" if several else ""
        more = " …" if len(triples) > TRIPLES else ""
        yield (
            f"{element['at']}{end}{stream}: "
            f"{' '.join(map(shorten, triples[:TRIPLES])) or 'nothing'}{more}"
        )


# The matrix


def _engines(entries: Iterable[Entry], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Of each engine what became of its results."""
    kinds: dict[str, Counter[str]] = {name: Counter() for name in names}
    for entry in entries:
        if (name := entry.result.engine) in kinds:
            kinds[name][entry.kind] += 1
    for name in names:
        total = kinds[name].total()
        shares = [
            (kind, round(100 * kinds[name][kind] / total, 2))
            for kind in reversed(KINDS)
            if kinds[name][kind]
        ]
        told = {"name": texts.clean(name, 60), "link": _link(engine=name), "total": total}
        yield {**told, "counts": kinds[name], "shares": shares}


def _sections(entries: Sequence[Entry], names: Sequence[str]) -> Iterator[tuple[str, list[Line]]]:
    """The rules by section, then the benchmarks."""
    columns = {name: place for place, name in enumerate(names)}
    queries: dict[str, set[str]] = {}
    for entry in entries:
        if not entry.result.rule:
            queries.setdefault(entry.result.suite, set()).add(entry.result.case)
    counts: dict[tuple[Rank, str, str, str, str], list[Counter[str]]] = {}
    for entry in entries:
        result = entry.result
        if result.engine not in columns:
            continue
        if result.rule:
            prefix = result.rule.partition("-")[0]
            section = f"{prefix} · {SECTIONS[prefix]}" if prefix in SECTIONS else prefix
            key = (rank(result.rule), section, result.rule, "", result.suite)
        else:
            own = result.case if len(queries[result.suite]) <= OWN_ROW else ""
            key = (len(SECTIONS) + 2, result.suite, 0), result.suite, "", own, result.suite
        kinds_of = counts.setdefault(key, [Counter() for _ in names])
        kinds_of[columns[result.engine]][entry.kind] += 1
    title = ""
    lines: list[Line] = []
    for (_, section, rule, case, suite), cells in sorted(counts.items()):
        if section != title and lines:
            yield texts.clean(title), lines
            lines = []
        title = section
        where = {"rule": rule} if rule else {"suite": suite} | ({"case": case} if case else {})
        found = [
            _cell(kinds, where | {"engine": name}) for kinds, name in zip(cells, names, strict=True)
        ]
        lines.append(Line(texts.clean(rule or case or suite, 60), found))
    if lines:
        yield texts.clean(title), lines


def _cell(kinds: Counter[str], where: Mapping[str, str]) -> Cell | None:
    total = kinds.total()
    if not total:
        return None
    worst = next(kind for kind in KINDS if kinds[kind])
    words = ", ".join(
        f"{kinds[kind]} {'known to fail' if kind == 'known' else kind}"
        for kind in KINDS
        if kinds[kind]
    )
    return Cell(worst, kinds[worst], total, words, _link(**where))


def _link(**words: str) -> str:
    """A place in the list: the page's script reads it."""
    return "#" + "&".join(
        f"{name}={quote(_cut(name, word), safe='')}" for name, word in words.items()
    )


def _cut(kind: str, name: str) -> str:
    return texts.clean(name, CUTS[kind])


def _deviations(entries: Iterable[Entry]) -> list[tuple[str, int]]:
    counts = Counter(
        texts.clean(reason, 300)
        for entry in entries
        for reason in {reason for reason, _ in entry.result.known}
    )
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:NOTED]
