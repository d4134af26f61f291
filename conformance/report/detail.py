"""The details of one result on a page: its argument, its evidence and its charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from conformance.report import pairs, texts
from conformance.report.causes import name_of
from conformance.report.drawings import charts
from conformance.report.source import Entry
from conformance.report.template import template
from conformance.report.texts import Shorten
from conformance.verdict.explain import count_text
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result
from refengine.drawings import timeline
from refengine.drawings.pairs import Pair, Report, around_first, origin_places

LINES, LINE = 100, 2_000  # lines that a harness got, and characters of each
ELEMENTS, TRIPLES = 60, 4  # elements that are listed, and triples of each


def detail(entry: Entry, lines: Sequence[str] = ()) -> str:
    """Return the HTML of a result's argument and evidence, and of the lines that a harness got for
    it. The names are left out, since results with equal details share them.
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
        argument=texts.block(entry.result.argument),
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
