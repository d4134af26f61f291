"""A limit on the time that a verdict may take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from refengine.oracle.answers import SharedAnswers


class VerdictTooLate(Exception):
    """The error of a verdict that took longer than it may: a sentence that says how far it came."""


class VerdictLimit:
    """The CPU time that each verdict may take, and each search that follows it; and the answers
    that they all share.

    `seconds` are those of the processor, so that a verdict does not depend on what else the machine
    does. `clock` gives the seconds that were used so far. The clock is looked at before an answer
    is computed or compared. So a verdict ends late by that answer, and by what is done without one:
    plans and derivations. The error says how many answers were begun in time: how often
    `look_at_clock` found time left. The answers that were computed until then stay in the table.

    >>> readings = iter([0, 3, 5])
    >>> verdict_limit = VerdictLimit(seconds=4, clock=lambda: next(readings))
    >>> with verdict_limit.enforce():
    ...     verdict_limit.look_at_clock()
    ...     verdict_limit.look_at_clock()
    Traceback (most recent call last):
    conformance.verdict.time_limit.VerdictTooLate: judging ended after 4 s of CPU time and 1 answer
    """

    def __init__(
        self,
        seconds: float = math.inf,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self.seconds = seconds
        self.answers = SharedAnswers(before_answer=self.look_at_clock)
        self._clock = clock
        self._end: float | None = None  # None: no limit is in force
        self._begun = 0  # answers that were begun in time, since the limit is in force

    @contextmanager
    def enforce(self) -> Iterator[None]:
        """Limit what is done within to `seconds`. VerdictTooLate is raised if it takes longer."""
        self._end = self._clock() + self.seconds
        self._begun = 0
        try:
            yield
        finally:
            self._end = None

    def look_at_clock(self) -> None:
        """Raise VerdictTooLate if a limit is in force and the time is over."""
        if self._end is None:
            return
        if self._clock() > self._end:
            plural = "s" * (self._begun != 1)
            raise VerdictTooLate(
                f"judging ended after {self.seconds:g} s of CPU time and "
                f"{self._begun:,} answer{plural}"
            )
        self._begun += 1
