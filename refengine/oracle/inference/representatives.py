"""Values that cannot matter to a question: of those that mean the same one is tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from refengine.core.query import BORDERED, SLIDING, Query
from refengine.core.question import Question
from refengine.core.values import AllowedLateness, LateFor, Slide
from refengine.model.errors import InvalidQuery, InvalidSemantics
from refengine.oracle.inference.semantics_set import (
    ALL_GROUPS,
    PLACES,
    Block,
    SemanticsSet,
    Shape,
    make_set,
)


@dataclass(frozen=True)
class Representatives:
    """For some groups of fields, by number, the function from a shape to the one that represents
    it: with both the question has the same answers.
    """

    of_groups: Mapping[int, Callable[[Shape], Shape]]

    def asked(self, block: Block, query: Query) -> tuple[Block, ...]:
        """Return the representatives of a block that mean something with a query."""
        for number, represent in self.of_groups.items():
            shapes = tuple(dict.fromkeys(map(represent, block.shapes[number])))
            block = replace(
                block, shapes=(*block.shapes[:number], shapes, *block.shapes[number + 1 :])
            )
        values = {name: block.values(name) for name in PLACES}
        try:
            legal = make_set(values, query)
        except (InvalidSemantics, InvalidQuery):
            return ()
        return (SemanticsSet((block,)) & legal).blocks

    def restored(self, found: Block, block: Block) -> Block:
        """Return all members of a block that are represented in `found`."""
        shapes = list(found.shapes)
        for number, represent in self.of_groups.items():
            kept = found.key[number]
            shapes[number] = tuple(s for s in block.shapes[number] if represent(s) in kept)
        return Block(tuple(shapes))


def representatives(question: Question) -> Representatives:
    """Return which values cannot matter to a question.

    - the closure, if no window has borders (QRY-5);
    - whether the slide is honoured, if none is stated but 1 (WIN-17);
    - for what elements are late, if they are in order (MOD-2, MOD-5), and how late they may be.
    """
    found: dict[int, Callable[[Shape], Shape]] = {}
    windows = question.query.windows
    if not any(window.kind in BORDERED for window in windows):
        found[PLACES["closure"][0]] = lambda shape: (*shape[:2], None)
    if all(window.kind not in SLIDING or window.step == 1 for window in windows):
        found[PLACES["slide"][0]] = lambda shape: (Slide.STATED,)
    names = {window.stream for window in windows}
    is_plain = len(names) == 1 and not any(window.is_keyed for window in windows)
    if is_plain and all(is_in_order(question, name) for name in names):
        found[PLACES["late_for"][0]] = _in_order
    return Representatives(found)


def is_in_order(question: Question, name: str) -> bool:
    """Return whether no element of a stream is earlier than one before it."""
    stream = question.streams.get(name, ())
    apps = [element.app for element in stream]
    return apps == sorted(apps)


_LATE = ALL_GROUPS[PLACES["late_for"][0]]


def _in_order(shape: Shape) -> Shape:
    """Represent what becomes of late elements where there are none."""
    values: dict[str, Any] = dict(zip(_LATE, shape, strict=True))
    if values["late_for"].keeps_arrival_order:  # a tuple-based window has no such value (QRY-5)
        return shape
    values |= {"late_for": LateFor.STREAM, "allowed_lateness": AllowedLateness.REJECT}
    return tuple(values.values())
