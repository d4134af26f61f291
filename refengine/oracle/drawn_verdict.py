"""§11 The time line of a verdict for notebooks, as the suite's pages draw it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from refengine.core.engine import Report
from refengine.drawings.pairs import Pair, around_first, windows
from refengine.drawings.timeline import ELEMENTS, REPORTS, timeline
from refengine.model import compare
from refengine.model.elements import Element, Relation
from refengine.oracle.comparison import Alignment, Borders

if TYPE_CHECKING:
    from refengine.oracle.judge import Judgement

MOST = 10_000  # reports that are paired; a divergence after them is not drawn


def draw_verdict(judgement: Judgement, alignment: Alignment) -> str:
    """Return the time line of a verdict as HTML: elements, the reports that are due, and the
    relations beside them, around the first divergence.
    """
    divergence = judgement.named_trial.divergence
    first = None if divergence is None else divergence.index + alignment.before
    due = alignment.reports if judgement.passed else judgement.reports.first(MOST)
    given = [None] * alignment.before + list(range(len(judgement.recorded.relations)))
    numbers = [Pair(number, None, None) for number in range(min(MOST, max(len(due), len(given))))]
    pairs = [
        _pair(judgement, pair.number, due, given) for pair in around_first(numbers, first, REPORTS)
    ]
    near = list(_elements(judgement, pairs))
    # one more than is drawn, so that the time line does not call the others unknown
    elements = [_element(name, element) for name, element in near[: ELEMENTS + 1]]
    query = judgement.recorded.question.query
    evidence = {
        "query": query.body.text,
        "windows": [{"stream": window.stream} for window in query.windows],
        "elements": elements,
        "elements_total": len(near),
        "semantics": {"closure": str(judgement.named_trial.semantics.closure)},
        "expected": [pair.due for pair in pairs if pair.due is not None],
        "actual": [pair.actual for pair in pairs if pair.actual is not None],
    }
    return timeline(evidence, pairs, first).svg("Time line")


def _pair(
    judgement: Judgement, number: int, due: Sequence[Report], given: Sequence[int | None]
) -> Pair:
    """Return the report with a number, and the relation that was recorded in its place."""
    report = due[number] if number < len(due) else None
    index = given[number] if number < len(given) else None
    relation = None if index is None else judgement.recorded.relations[index]
    stated = None
    if index is not None and index < len(judgement.recorded.windows):
        stated = judgement.recorded.windows[index]
    differs = False
    if not judgement.passed and (index is not None or number >= len(given)):
        differs = report is None or relation is None
        if report is not None and relation is not None:
            rows = report.relation.rows
            differs = not compare.equal(rows, relation.rows, judgement.mode)
    expected = None
    if report is not None:
        expected = _shown(report.relation, report.window, report.evaluation)
    return Pair(number, expected, None if relation is None else _shown(relation, stated), differs)


def _shown(
    relation: Relation, window: Borders | None, instant: int | None = None
) -> dict[str, Any]:
    """Return a report as the time line needs it."""
    shown: dict[str, Any] = {"total": relation.rows.total()}
    if window is not None:
        shown["window"] = list(window)
    if instant is not None:
        shown["instant"] = instant
    return shown


def _elements(judgement: Judgement, pairs: Sequence[Pair]) -> Iterator[tuple[str, Element]]:
    """Yield the elements in and near the windows of some reports, each with its stream; all if they
    name no window.
    """
    borders = [border for window in windows(pairs) for border in window]
    low, high = min(borders, default=None), max(borders, default=None)
    question = judgement.recorded.question
    for name in dict.fromkeys(window.stream for window in question.query.windows):
        for element in question.streams[name]:
            if low is None or high is None or low <= element.app <= high:
                yield name, element


def _element(name: str, element: Element) -> dict[str, Any]:
    lines = [f"{' '.join(triple)} .\n" for triple in sorted(element.graph)]
    shown = {"stream": name, "at": element.app, "graph": "".join(lines)}
    if element.end not in (None, element.app):
        shown["end"] = element.end
    return shown
