"""The input of a join: records of two streams, with the watermarks between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from refengine.adaptive.window import JoinWindow, WatermarkRule
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
    """ADA-2: Yield records with the watermarks that a window's rule puts between them. Raises
    InvalidStream for a watermark that the rule does not expect, or that is not above the one
    before.
    """
    greatest: int | None = None
    for place, step in enumerate(steps, 1):
        match window.watermarks, step:
            case WatermarkRule.STATED, _:
                yield step
            case _, Watermark():
                reason = f"a watermark is stated, but watermarks = {window.watermarks} sets them"
                raise InvalidStream(reason, rule="ADA-2", place=f"step {place}")
            case WatermarkRule.BEFORE, JoinRecord(at=at):
                if greatest is None or at > greatest:
                    yield Watermark(at - 1)
                yield step
            case WatermarkRule.AFTER, JoinRecord(at=at):
                yield step
                if greatest is None or at > greatest:
                    yield Watermark(at - 1)
        if isinstance(step, JoinRecord) and (greatest is None or step.at > greatest):
            greatest = step.at
