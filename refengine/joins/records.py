"""The input of a join: records of two streams, with the watermarks between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from refengine.joins.window import JoinWindow, WatermarkRule
from refengine.model.errors import InvalidStream


class Side(StrEnum):
    """One of the two streams of a join. RMLStreamer calls the left one child, the other parent."""

    LEFT = "left"
    RIGHT = "right"

    @property
    def other(self) -> Side:
        """The other stream."""
        if self is Side.LEFT:
            return Side.RIGHT
        return Side.LEFT


class JoinRecord(NamedTuple):
    """A record: its stream, its time in ms, its join key, and a name that no other record has."""

    side: Side
    at: int
    key: str
    name: str


class Watermark(NamedTuple):
    """The statement that no record with a time up to `at` is still to come. Flink's definition."""

    at: int


Step = JoinRecord | Watermark


def with_watermarks(steps: Iterable[Step], window: JoinWindow) -> Iterator[Step]:
    """ADA-2: Yield records with the watermarks that a window's rule puts between them.

    Under `stated` the steps stay as they are, also a watermark that is not above all before it:
    that one does nothing. Under `before` and `after` watermarks rise. Raises InvalidStream for a
    watermark among the steps under these two, which set their own.
    """
    greatest: int | None = None
    for place, step in enumerate(steps, 1):
        if window.watermarks is WatermarkRule.STATED:
            yield step
            continue
        if isinstance(step, Watermark):
            reason = f"a watermark is stated, but watermarks = {window.watermarks} sets them"
            raise InvalidStream(reason, rule="ADA-2", place=f"step {place}")

        moves_on = greatest is None or step.at > greatest
        if moves_on:
            greatest = step.at
        if moves_on and window.watermarks is WatermarkRule.BEFORE:
            yield Watermark(step.at - 1)
        yield step
        if moves_on and window.watermarks is WatermarkRule.AFTER:
            yield Watermark(step.at - 1)
