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
from refengine.core.semantics import Slide
from refengine.core.window import Content, Frame, WindowView
from refengine.model.elements import Element
from refengine.model.errors import InvalidStream

Scope = tuple[int, int] | None


@wrong(
    "WIN-12",
    replaces=window.current,
    half="its scope runs from its first to its last instant",
    besides=EVERY_INSTANT,
)
def the_latest_that_has_begun(right: Right, frame: Frame, t: int) -> int | None:
    """Take the latest window that has begun for CQL's window at t."""
    n = (t - frame.first) // frame.slide
    if n < frame.least:
        return None
    return n


@wrong("WIN-14", replaces=window.rows)
def rows_tumble(right: Right, view: WindowView, arrived: int) -> Any:
    """Look at a rows window at every N-th arrival only."""
    tumbling = replace(view.spec, slide=view.spec.size)
    return right(replace(view, spec=tumbling), arrived)


@wrong("WIN-15", replaces=window.partition)
def a_partition_without_keys(right: Right, view: WindowView, arrived: int) -> Content:
    """Keep the latest N elements in a partition, whatever their keys are."""
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
    """Put the elements that lack the key into a partition of their own, instead of
    refusing them.
    """
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
    """Count triples where elements should be counted."""
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
    """Number elements from 0 by 1, whatever is counted."""
    if spec.kind in COUNTING:
        return range(len(elements))
    return right(spec, elements)


@wrong(
    "WIN-17",
    replaces=window.with_slide,
    seen=f"{CQELS}: its recording of CSRBench's Q4",
)
def the_slide_is_ignored(right: Right, spec: Window, choice: Slide) -> Any:
    """Ignore the stated slide under every semantics."""
    return right(spec, Slide.IGNORED)


@wrong(
    "WIN-17",
    replaces=window.with_slide,
    half="windows of the kinds `time` and `range`",
)
def rows_slide_where_it_is_ignored(right: Right, spec: Window, choice: Slide) -> Any:
    """Move windows that count elements with every element where the slide is ignored, and keep the
    slide of Range.
    """
    if choice is Slide.STATED or spec.kind is WindowKind.RANGE:
        return spec
    if spec.kind in COUNTING:
        return replace(spec, slide=1)
    return right(spec, choice)
