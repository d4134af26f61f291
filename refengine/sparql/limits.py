"""§7 Limits: what one evaluation of a body may cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from refengine.model.errors import RefengineError, Unsupported
from refengine.model.messages import display


@dataclass(frozen=True)
class Limits:
    """R2R-17: The most steps of one evaluation (triples tried, solutions made, expressions
    computed), and the most solutions in the result of one operator.

    A caller that knows the time may add `seconds` and its `clock`, a function that returns seconds:
    refengine has no clock.
    """

    steps: int = 5_000_000
    rows: int = 200_000
    seconds: float | None = None
    clock: Callable[[], float] | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "rows"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                reason = f"{name} must be an integer >= 0, got {display(value)}"
                raise RefengineError(reason, rule="R2R-17", place="limits")


LONG = 64  # characters of a term, or bits of a number, that one step reads
WIDE = 32  # variables: a solution counts once more for each so many


class Budget:
    """What an evaluation has spent of its limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.steps = 0
        self.deadline: float | None = None
        if limits.clock and limits.seconds is not None:
            self.deadline = limits.clock() + limits.seconds
        self.next_look = 0  # the step from which on the clock is read again

    def spend(self, steps: int) -> None:
        """R2R-17: Count steps. Raises Unsupported when a limit is spent."""
        self.steps += steps
        if self.steps > self.limits.steps:
            raise Unsupported(
                f"an evaluation of more than {self.limits.steps} steps", rule="R2R-17", place="body"
            )
        if self.deadline is not None and self.steps >= self.next_look:
            self.next_look = self.steps + 1000
            if self.limits.clock is not None and self.limits.clock() > self.deadline:
                raise Unsupported(
                    f"an evaluation of more than {self.limits.seconds} seconds",
                    rule="R2R-17",
                    place="body",
                )

    def hold(self, rows: int) -> None:
        """R2R-17: Raise Unsupported if one operator holds more solutions than the limit."""
        if rows > self.limits.rows:
            raise Unsupported(
                f"more than {self.limits.rows} solutions at once", rule="R2R-17", place="body"
            )
