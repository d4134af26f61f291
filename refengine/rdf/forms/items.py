"""The elements that a form reads, and the stream of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from refengine.model.elements import TIME_BOUND, CanonicalElements, Stream, Triple, arrivals
from refengine.model.errors import InvalidStream
from refengine.model.messages import display


class ReadElement(NamedTuple):
    """An element as it is read: what it holds, its times, and the place in the file to name in an
    error.
    """

    payload: Triple | frozenset[Triple]
    app: int
    place: str
    batch: int | None = None
    end: int | None = None


def build_stream(items: Iterable[ReadElement], ordered: bool = True) -> Stream:
    """Return the stream of elements in their order. Raises InvalidStream with the place in the file
    for a time that is not within 64 bits (MOD-1).
    """
    items = list(items)
    for item in items:
        for name, value in (("t_app", item.app), ("batch", item.batch), ("end", item.end)):
            if value is not None and not -TIME_BOUND <= value < TIME_BOUND:
                raise InvalidStream(
                    f"{name} must be within 64 bits, got {display(value)}",
                    rule="MOD-1",
                    place=item.place,
                )

    return Stream(
        CanonicalElements(
            arrivals((item.payload, item.app, item.batch, item.end) for item in items)
        ),
        ordered,
    )
