"""The list of results, as the page's script reads it, and the details of each: its explanation, its
evidence and its charts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.report import causes, pairs, rule_verdicts, texts
from conformance.report.causes import name_of
from conformance.report.drawings import charts
from conformance.report.matrix import KINDS, Rank, cut_name, rank
from conformance.report.rule_verdicts import Verdicts
from conformance.report.source import Entry
from conformance.report.template import template
from conformance.report.texts import Shorten
from conformance.verdict.explain import count_text
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result
from conformance.verdict.rules import RuleStatus
from refengine.drawings import timeline
from refengine.drawings.pairs import Pair, Report, around_first, origin_places

# from a result to the lines that a harness got for it
LinesOf = Callable[[Result], Sequence[str]]

# the most that the list has
DRAWN = 1_500  # results with details; equal ones count once
BYTES = 16_000_000  # of all details together
LISTED = 100_000  # results
VERDICTS = 30_000  # verdicts on rules

# the lists of values to which the numbers in `rows` and `verdicts` refer, and these two
LISTS = (
    "engines",
    "suites",
    "cases",
    "known",
    "causes",
    "texts",
    "details",
    "rows",
    "kinds",
    "verdicts",
)


def _order(entry: Entry) -> tuple[int, Rank, str, str, str]:
    """Return the sort key of a result in the list: the worst kind comes first, then by rule, suite,
    case and engine.
    """
    result = entry.result
    return KINDS.index(entry.kind), rank(result.rule), result.suite, result.case, result.engine


@dataclass
class ResultList:
    """The list of results, as the page's script reads it. A text that occurs again is in it once.

    `lines_of` gives the lines that a harness got for a result.

    Results that differ in their names alone share their details. `size` is the length of all
    details, and `without_details` counts the results for whose details there was no room.
    """

    lines_of: LinesOf | None = None
    data: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in LISTS})
    places: dict[tuple[str, Any], int] = field(default_factory=dict)
    details: dict[tuple[object, ...], int] = field(default_factory=dict)
    size: int = 0
    total: int = 0
    without_details: int = 0

    def fill(self, entries: Sequence[Entry]) -> None:
        """Add results in the order of the list, as many as there is room for."""
        self.total += len(entries)
        for entry in sorted(entries, key=_order)[:LISTED]:
            self._add(entry)

    def add_verdicts(self, verdicts: Verdicts) -> None:
        """Add verdicts on rules, in the order of SPEC.md: each with its engine, its rule, its
        status and the reason.
        """
        self.data["kinds"] += RuleStatus
        ordered = sorted(verdicts.items(), key=lambda pair: (rank(pair[0][1]), pair[0]))
        for (engine, rule), verdict in ordered[:VERDICTS]:
            self.data["verdicts"].append(
                [
                    self._place("engines", cut_name("engine", engine), engine),
                    cut_name("rule", rule),
                    list(RuleStatus).index(verdict.status),
                    self._place("texts", rule_verdicts.reason_of(verdict)),
                ]
            )

    def left_out(self) -> list[str]:
        """Return a line for each thing for which there was no room."""
        lines = []
        if self.total > LISTED:
            lines.append(
                f"the list has the first {LISTED:,} of {self.total:,} results, the worst first"
            )
        if self.without_details:
            with_details = len(self.data["rows"]) - self.without_details
            lines.append(
                f"{self.without_details:,} results of the list have only the first line of their "
                f"explanation and no drawing; {with_details:,} have all details"
            )
        return lines

    def _add(self, entry: Entry) -> None:
        """Add the row of a result. It has indices into the lists of engines, cases, outcomes, known
        deviations, first lines, details (-1 if there was no room for details) and causes.
        """
        result = entry.result
        details = self._details(entry)
        case = self._case(result)
        self.data["rows"].append(
            [
                self._place("engines", cut_name("engine", result.engine), result.engine),
                case,
                list(Outcome).index(result.outcome),
                [
                    self._place("known", texts.clean(reason, 300), (reason, link))
                    for reason, link, *_ in result.known[:8]
                ],
                self._place("texts", texts.most_telling_line(result.explanation)),
                details,
                [self._place("causes", causes.name_of(cause)) for cause in result.causes[:8]],
            ]
        )

    def _details(self, entry: Entry) -> int:
        """Return the index of a result's details, after adding them if they are new; -1 if there is
        no room.
        """
        result = entry.result
        # two engines may be asked the same question by different lines
        engine = result.engine if self._has_lines(entry) else ""
        key = (entry.text, result.explanation, result.explained_by, result.outcome, engine)
        if key not in self.details:
            if len(self.details) >= DRAWN or self.size >= BYTES:
                self.without_details += 1
                return -1
            html = detail(entry, self._lines(entry))
            self.size += len(html)
            self.details[key] = self._place("details", html)
        return self.details[key]

    def _has_lines(self, entry: Entry) -> bool:
        """Whether the details of a result have the lines that a harness got: those that the engine
        answered, and not rightly.
        """
        is_wrong = entry.result.outcome not in (Outcome.PASS, Outcome.UNSUPPORTED)
        return self.lines_of is not None and is_wrong

    def _lines(self, entry: Entry) -> Sequence[str]:
        """Return the lines that a harness got for a result, as far as they are known and shown."""
        if self.lines_of is None or not self._has_lines(entry):
            return ()
        return self.lines_of(replace(entry.result, evidence=entry.evidence))

    def _case(self, result: Result) -> int:
        suite = self._place("suites", cut_name("suite", result.suite))
        case = suite, cut_name("rule", result.rule), cut_name("case", result.case)
        return self._place("cases", case, (result.suite, result.rule, result.case))

    def _place(self, kind: str, value: Any, key: Any = None) -> int:
        """Return the index of a value in its list, after adding it if it is new. Values with the
        same `key`, by default the value itself, are the same.
        """
        if key is None:
            key = value
        if (kind, key) not in self.places:
            self.places[kind, key] = len(self.data[kind])
            self.data[kind].append(value)
        return self.places[kind, key]


LINES, LINE = 100, 2_000  # lines that a harness got, and characters of each
ELEMENTS, TRIPLES = 60, 4  # elements that are listed, and triples of each


def detail(entry: Entry, lines: Sequence[str] = ()) -> str:
    """Return the HTML of a result's explanation and evidence, and of the lines that a harness got
    for it. The names are left out, since results with equal details share them.
    """
    evidence = entry.evidence
    fields: dict[str, Any] = {"query": None}
    if evidence is not None:
        fields = _evidence(entry.result, evidence)
    known = [
        (texts.clean(reason, 600), texts.link(link)) for reason, link, *_ in entry.result.known[:20]
    ]
    return template("detail.html.j2").render(
        outcome=str(entry.result.outcome),
        explanation=texts.block(entry.result.explanation),
        known=known,
        causes=[
            (name_of(cause), texts.clean(", ".join(cause.rules))) for cause in entry.result.causes
        ],
        sent=[texts.clean(line, LINE) for line in lines[:LINES]],
        sent_total=len(lines),
        **fields,
    )


def _evidence(result: Result, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the template needs to show evidence."""
    every, first = pairs.pair_reports(evidence, result.outcome)
    shorten = texts.term_shortener(evidence["query"])
    line = timeline.timeline(evidence, every, first)
    kinds = {str(shape.attributes["class"]) for shape in line.shapes}
    bounds = timeline.bounds_of(evidence)
    lines = [
        {**_line(pair, bounds, shorten), "first": pair.number == first}
        for pair in around_first(every, first, timeline.REPORTS)
    ]
    semantics = [
        (texts.clean(name, 40), texts.clean(str(value), 60))
        for name, value in evidence.get("semantics", {}).items()
    ]
    return {
        "query": texts.block(evidence["query"]),
        "semantics": semantics,
        "line": line,
        "kinds": {kind.removesuffix(" unsure") for kind in kinds},
        "has_unsure": any(kind.endswith(" unsure") for kind in kinds),
        "lines": lines,
        "judged": "expected" in evidence and result.outcome is not Outcome.PASS,
        "due": "expected" in evidence,
        "first": first,
        "reports": len(every),
        "elements": list(_elements(evidence, shorten)),
        "origin": _origin(evidence, shorten),
        "elements_total": max(evidence["elements_total"], len(evidence["elements"])),
        "cut": evidence["cut"],
        "charts": charts.charts(evidence),
    }


def _line(pair: Pair, bounds: str, shorten: Shorten) -> dict[str, Any]:
    """Return a row of the table of reports: the due report, the engine's report and the rows that
    differ, or if none differ the first rows.
    """
    report = pair.due or pair.actual
    assert report is not None  # a pair has one of them
    rows = report["rows"]
    first_rows: list[str] = []
    if not pair.lacking and not pair.surplus:
        first_rows = [texts.json_mapping_text(row, shorten) for row in rows[:2]]
    return {
        "number": pair.number + 1,
        "due": _place_and_rows(pair.due, bounds),
        "given": _place_and_rows(pair.actual, bounds),
        "differs": pair.differs,
        "lacking": [texts.mapping_text(row, shorten) for row in pair.lacking],
        "surplus": [texts.mapping_text(row, shorten) for row in pair.surplus],
        "more": pair.more,
        "note": texts.clean(pair.note, 300),
        "rows": first_rows,
        "rows_more": max(0, len(rows) - 2),
    }


def _place_and_rows(report: Report | None, bounds: str) -> dict[str, str] | None:
    """Return the window or instant of a report and its number of rows, in words; None for no
    report.
    """
    if report is None:
        return None
    place = timeline.place_of(report, bounds)
    if not place and "instant" in report:
        place = f"at {report['instant']}"
    return {"place": place, "rows": count_text(pairs.total(report), "row")}


def _origin(evidence: Mapping[str, Any], shorten: Shorten) -> dict[str, Any] | None:
    """Return the row that is lacking or too many at the first divergence, as text, and on how many
    elements it rests; None if the evidence does not say it.
    """
    places = origin_places(evidence)
    if not places:
        return None
    return {
        "row": texts.json_mapping_text(evidence["rests_on"]["row"], shorten),
        "is_lacking": evidence["rests_on"]["is_lacking"],
        "elements": count_text(len(places), "element"),
    }


def _elements(evidence: Mapping[str, Any], shorten: Shorten) -> Iterator[tuple[bool, str]]:
    """Yield a line for each of the first elements, `5 to 7 s: :a :p :b`, and for each on which the
    row rests that differs. The first value says whether the row rests on it.
    """
    several = len({element["stream"] for element in evidence["elements"]}) > 1
    origin = origin_places(evidence)
    for number, element in enumerate(evidence["elements"]):
        if number < ELEMENTS or number in origin:
            yield number in origin, _element(element, several, shorten)


def _element(element: Mapping[str, Any], several: bool, shorten: Shorten) -> str:
    """Write an element, with its stream if there are several."""
    place = str(element["at"])
    if "end" in element:
        place += f" to {element['end']}"
    if several:
        place += f" {texts.clean(element['stream'], 30)}"
    triples = [line.strip() for line in element["graph"].split("\n") if line.strip()]
    graph = " ".join(map(shorten, triples[:TRIPLES])) or "nothing"
    if len(triples) > TRIPLES:
        graph += " …"
    return f"{place}: {graph}"
