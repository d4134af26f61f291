"""What happens in a case that an engine fails, as a block of a few lines: the query, the elements,
the reports that were expected and those that the engine gave.

    query     SELECT ?x WHERE { ?x :p ?y }
    window    time, size 10, slide 5, on s
    elements  5: :a :p 1 | 12: :a :p 2
    expected  [0, 10) {x: :a} | [5, 15) {x: :a}, {x: :a} | [10, 20) {x: :a}
    engine    {x: :a} | {x: :a} | {x: :a}
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from conformance.corpus import Case, window_cases
from conformance.harness.engine_file import Engine
from conformance.report import texts
from conformance.report.texts import Shorten
from conformance.suite.exchange import asked_question, is_sentinel
from conformance.verdict.evidence import UNCONFIRMED, evidence
from conformance.verdict.results import Outcome, Result
from refengine.core.engine import evaluate
from refengine.drawings.timeline import bounds_of, place_of
from refengine.model.elements import XSD
from refengine.model.errors import RefengineError

LINES = 12  # of a block, at most
WIDTH = 100  # characters of a line after its label; a longer item stands on a line of its own
LONGEST = 240  # characters of such a line, at most
LABEL = 10  # characters of a label, with the spaces after it
BETWEEN = " | "  # items of a line
QUERY = 400  # characters of a query that is one line
MOST = LINES * WIDTH  # reports that are looked at; so many do not fit into a block
# the prefixes that blocks use without a declaration
PREFIXES = ("PREFIX : <http://example.org/>", f"PREFIX xsd: <{XSD}>")


def describe_counterexample(case: Case, result: Result, engine: Engine) -> list[str]:
    """Return the lines of the block of an engine's result, at most `LINES`. There are none if it
    would have more or longer lines, or if the evidence lacks some of what it would show.

    All text is printable: text from an engine is escaped, and each term has a bounded length. A
    result without evidence is of an engine that broke down.
    """
    shown = result.evidence
    if shown is None:
        shown = _evidence_of_breakdown(case, engine)
    if shown["cut"]:
        return []

    shorten = _term_shortener(case)
    bounds = bounds_of(shown)
    answers = _reports(shown["actual"], bounds, shorten)
    if result.outcome is Outcome.ERROR:
        answers = [f"breaks down: {_first_line(result.explanation)}"]
    lines = [
        *_labelled("query", _query_lines(case)),
        *_labelled("window", [_window(window, shorten) for window in shown["windows"]]),
        *_labelled("static", _fill(_triples(shown.get("static", ""), shorten))),
        *_labelled("elements", _fill(_elements(shown, shorten))),
        *_labelled("expected", _expected(result, shown, bounds, shorten)),
        *_labelled("engine", answers),
    ]
    if len(lines) > LINES or max(map(len, lines)) > LONGEST:
        return []
    return lines


def _evidence_of_breakdown(case: Case, engine: Engine) -> dict[str, Any]:
    """Return the evidence of an engine that broke down: what it was asked, and the reports that are
    due under its semantics, if that has no open field and refuses nothing of the case.
    """
    question = asked_question(engine, case)
    try:
        semantics = engine.profile_for(question.query).semantics()
        reports = evaluate(
            question.query,
            question.streams,
            semantics,
            static=question.static,
            answer=UNCONFIRMED,
        )
        first = list(islice(reports, MOST))
    except RefengineError:
        return evidence(question, (), None, None)
    due = [(report.relation, report.window, report.evaluation) for report in first]
    return evidence(question, (), due, semantics)


def _expected(
    result: Result, shown: Mapping[str, Any], bounds: str, shorten: Shorten
) -> Iterable[str]:
    """Return the lines of what was expected: reports, or that the engine refuses an element. They
    are none if nobody knows.
    """
    if "expected" in shown:
        return _reports(shown["expected"], bounds, shorten)
    refusal, must_refuse, _ = result.explanation.partition("; the engine must refuse")
    if must_refuse:
        return [f"an error: {_first_line(refusal)}"]
    return []


def _labelled(label: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with a label before the first of them, and as much space before the others."""
    for line in lines:
        yield f"{label:<{LABEL}}{line}".rstrip()
        label = ""


def _fill(items: Iterable[str]) -> list[str]:
    """Return lines of items, as many on each as fit into `WIDTH`.

    >>> _fill(["3: :a", "13: :b"])
    ['3: :a | 13: :b']
    """
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(BETWEEN) + len(item) <= WIDTH:
            lines[-1] += BETWEEN + item
        else:
            lines.append(item)
    return lines


def _query_lines(case: Case) -> list[str]:
    """Return the body of a case's query on as few lines as it needs, and the operator that the case
    states, if any. A body with comments or long strings keeps its own lines. There are none for a
    case of windows alone.
    """
    if case.suite == window_cases.SUITE:
        return []
    table = case.table["query"]
    body = table["body"]
    for prefix in PREFIXES:
        body = body.replace(prefix, "")
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    without_iris = re.sub(r"<[^<>\s]*>", "", body)
    if not any(mark in without_iris for mark in ("#", '"""', "'''")):
        lines = [" ".join(lines)]

    wrapped = []
    for line in lines:
        wrapped += textwrap.wrap(texts.clean(line, QUERY), WIDTH, break_on_hyphens=False)
    if "r2s" in table:
        wrapped.append(f"states {table['r2s']}")
    return wrapped


def _window(window: Mapping[str, Any], shorten: Shorten) -> str:
    """Write a window: `time, size 10, slide 5, on s`."""
    parts = [str(window["kind"])]
    for key in ("size", "slide", "lag", "unit"):
        if window.get(key) is not None:
            parts.append(f"{key} {window[key]}")
    if "by" in window:
        parts.append(f"by {' '.join(map(shorten, window['by']))}")
    parts.append(f"on {texts.clean(window['stream'], 40)}")
    if "name" in window:
        parts.append(f"named {texts.clean(window['name'], 40)}")
    return ", ".join(parts)


def _elements(shown: Mapping[str, Any], shorten: Shorten) -> Iterator[str]:
    """Yield the elements: `5: :a :p :b`, and `5 to 7 on s: :a :p :b` for an interval where there
    are several streams. The suite's own elements are one item: `20, 25: of the suite`.
    """
    has_several_streams = len({element["stream"] for element in shown["elements"]}) > 1
    own: dict[int, None] = {}
    for element in shown["elements"]:
        if is_sentinel(element):
            own[element["at"]] = None
            continue
        place = str(element["at"])
        if "end" in element:
            place += f" to {element['end']}"
        if "batch" in element:
            place += f" in batch {element['batch']}"
        if has_several_streams:
            place += f" on {texts.clean(element['stream'], 40)}"
        triples = " . ".join(_triples(element["graph"], shorten)) or "no triple"
        yield f"{place}: {triples}"
    if own:
        yield f"{', '.join(map(str, own))}: of the suite"


def _triples(n_quads: str, shorten: Shorten) -> Iterator[str]:
    """Yield the statements of a text in N-Quads, without their full stops."""
    for line in n_quads.splitlines():
        if statement := line.strip().removesuffix(".").rstrip():
            yield shorten(statement)


def _reports(reports: Iterable[Mapping[str, Any]], bounds: str, shorten: Shorten) -> list[str]:
    """Return the lines of some reports: `[0, 10) {x: :a}, {x: :b} | [10, 20) no rows`."""
    items = []
    for report in reports:
        rows = [texts.json_mapping_text(row, shorten) for row in report["rows"]]
        items.append(f"{place_of(report, bounds)} {', '.join(rows) or 'no rows'}".lstrip())
    return _fill(items) or ["no reports"]


def _first_line(explanation: str) -> str:
    """Return the first clause of an explanation's first line, without advice and without what the
    engine's process wrote to its standard error.
    """
    first = explanation.partition("\n")[0]
    return texts.clean(first.partition("; ")[0], WIDTH)


def _term_shortener(case: Case) -> Shorten:
    """Return a function that shortens terms by the prefixes of a case's query and by `PREFIXES`,
    and integers to their digits.
    """
    body = case.table["query"]["body"]
    if not re.search(r"PREFIX\s+:", body, re.IGNORECASE):
        body = f"{PREFIXES[0]} {body}"
    shorten = texts.term_shortener(body)

    def with_plain_integers(term: str) -> str:
        return re.sub(r'"([+-]?[0-9]+)"\^\^xsd:integer(?![\w-])', r"\1", shorten(term))

    return with_plain_integers
