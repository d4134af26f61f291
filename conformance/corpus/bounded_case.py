"""Checking a case of joins with bounded memory: what the join finds, holds and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from refengine.core.query import Query
from refengine.joins import BoundedQuery, Resources, Selection, bounded_query, run_join
from refengine.joins.measures import Figures, Measuring, measure, run_unlimited
from refengine.joins.resource_texts import parse_resources
from refengine.model import compare
from refengine.model.elements import Bag, Stream

Show = Callable[[Bag], str]
ReadRows = Callable[[Sequence[Mapping[str, str]]], Bag]
# key of a block -> the figure that it states
FIGURES: dict[str, Callable[[Figures], Fraction]] = {
    "recall": lambda figures: _share(figures.overall.right, figures.overall.expected),
    "precision": lambda figures: _share(figures.overall.right, figures.overall.found),
    "stressed_recall": lambda figures: _share(figures.stressed.right, figures.stressed.expected),
    "most_held": lambda figures: Fraction(figures.most_held),
}


def differences_of_bounded(
    query: Query,
    streams: Mapping[str, Stream],
    block: Mapping[str, Any],
    read_rows: ReadRows,
    show: Show,
) -> Iterator[str]:
    """Yield a line for each way in which a bounded join differs from what a block states."""
    selection = Selection(block.get("selection", "before-storing"))
    join = bounded_query(query, selection)
    resources = parse_resources(block["policy"], block.get("memory"))
    if "results" in block:
        yield from _differences_of_results(join, streams, resources, block, read_rows, show)
    stated = [key for key in FIGURES if key in block]
    if stated:
        figures = _figures(join, streams, resources, block)
        for key in stated:
            expected, got = Fraction(block[key]), FIGURES[key](figures)
            if expected != got:
                yield f": expected {key} {expected}, got {got}"


def _share(part: int, whole: int) -> Fraction:
    """Return a share as an exact number; 1 of nothing."""
    return Fraction(part, whole) if whole else Fraction(1)


def _figures(
    join: BoundedQuery,
    streams: Mapping[str, Stream],
    resources: Resources,
    block: Mapping[str, Any],
) -> Figures:
    """Return the measures of a join with bounded memory."""
    warm_up = Fraction(block.get("warm_up", "0"))
    measuring = Measuring(block.get("period", 1), warm_up)
    return measure(join, resources, run_unlimited(join, streams), measuring)


def _differences_of_results(
    join: BoundedQuery,
    streams: Mapping[str, Stream],
    resources: Resources,
    block: Mapping[str, Any],
    read_rows: ReadRows,
    show: Show,
) -> Iterator[str]:
    """Yield a line for each arrival whose results differ from the stated ones."""
    got = [
        (step.time, Counter(join.row(result) for result in step.results))
        for step in run_join(join, streams, resources)
        if step.results
    ]
    expected = [(entry["at"], read_rows(entry["rows"])) for entry in block["results"]]
    for (at, rows), (time, found) in zip(expected, got, strict=False):
        if at != time or not compare.equal(rows, found):
            yield f": expected {show(rows)} at {at}, got {show(found)} at {time}"
    for at, rows in expected[len(got) :]:
        yield f": expected {show(rows)} at {at}, got no more results"
    for time, found in got[len(expected) :]:
        yield f": expected no more results, got {show(found)} at {time}"
