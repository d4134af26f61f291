"""Wrong engines for §4, WIN-12 to WIN-18: the kinds of windows that CQL and CQELS-QL have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conformance.wrong_engines.engines import C_SPARQL, CQELS
from conformance.wrong_engines.evaluation import EVERY_INSTANT
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import window
from refengine.core.query import COUNTING, Unit, Window, WindowKind
from refengine.core.values import Slide
from refengine.core.window import Content, Frame, WindowView
from refengine.model.elements import Element
from refengine.model.errors import InvalidStream

Scope = tuple[int, int] | None


@wrong(
    "WIN-12",
    replaces=window.latest_ended,
    half="its scope runs from its first to its last instant",
    besides=EVERY_INSTANT,
)
def the_latest_that_has_begun(right: Right, frame: Frame, t: int) -> int | None:
    """Takes the latest window that has begun, not ended."""
    n = (t - frame.first) // frame.slide
    if n < frame.least:
        return None
    return n


@wrong("WIN-14", replaces=window.rows)
def rows_tumble(right: Right, view: WindowView, arrived: int) -> Any:
    """Looks at a window of N rows at every N-th arrival only."""
    tumbling = replace(view.spec, slide=view.spec.size)
    return right(replace(view, spec=tumbling), arrived)


@wrong("WIN-15", replaces=window.partition)
def a_partition_without_keys(right: Right, view: WindowView, arrived: int) -> Content:
    """Keeps the latest N elements, whatever their keys are."""
    size = view.spec.size or 1
    oldest = max(0, arrived - size)
    return tuple(range(oldest, arrived)) or range(0)


@wrong("WIN-15", replaces=window.key)
def those_without_a_key_are_one(
    right: Right,
    spec: Window,
    element: Element,
    place: str,
) -> tuple[str, ...]:
    """Puts elements without the key into one partition."""
    try:
        key: tuple[str, ...] = right(spec, element, place)
    except InvalidStream:
        return ("",)
    return key


@wrong(
    "WIN-16",
    replaces=window.ids,
    half='With `unit = "triples"`',
    seen=f"{C_SPARQL} and {CQELS}: an element is a triple",
)
def elements_are_triples(right: Right, spec: Window, elements: Sequence[Element]) -> Any:
    """Counts triples where elements are to be counted."""
    if spec.kind in COUNTING:
        spec = replace(spec, unit=Unit.TRIPLES)
    return right(spec, elements)


@wrong(
    "WIN-16",
    "WIN-6",
    replaces=window.ids,
    half="an element enters and leaves as a whole",
)
def ids_are_list_indices(right: Right, spec: Window, elements: Sequence[Element]) -> Any:
    """Numbers elements by 1, whatever is to be counted."""
    if spec.kind in COUNTING:
        return range(len(elements))
    return right(spec, elements)


@wrong(
    "WIN-17",
    replaces=window.with_slide,
    seen=f"{CQELS}: its recording of CSRBench's Q4",
)
def the_slide_is_ignored(right: Right, spec: Window, choice: Slide) -> Any:
    """Ignores the stated slide."""
    return right(spec, Slide.IGNORED)


@wrong(
    "WIN-17",
    replaces=window.with_slide,
    half="windows of the kinds `time` and `range`",
)
def rows_slide_where_it_is_ignored(right: Right, spec: Window, choice: Slide) -> Any:
    """Moves windows of rows with every element."""
    if choice is Slide.IGNORED and spec.kind in COUNTING:
        return replace(spec, slide=1)
    return right(spec, choice)


@wrong("WIN-17", replaces=window.with_slide)
def range_keeps_its_slide(right: Right, spec: Window, choice: Slide) -> Any:
    """Keeps the slide of a range where it is to be ignored."""
    if spec.kind is WindowKind.RANGE:
        return spec
    return right(spec, choice)
