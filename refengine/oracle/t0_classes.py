"""§11 Classes of t0: values with which everything that is computed with them comes out the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple, TypeVar

from refengine.core import window
from refengine.core.moving import Room, moving
from refengine.core.plan import Plan, with_horizon_of_windows
from refengine.core.values import End
from refengine.model.errors import Unsupported, require

T = TypeVar("T")

T0_CLASS_BOUND = 50_000  # classes of t0 that are tried


class T0Class(NamedTuple):
    """The values of t0 from `lo` to `hi`, with which a trial is the same up to where it ends. `t0`
    is the one of them that is named.
    """

    t0: int
    lo: int
    hi: int

    def others_in_words(self) -> str:
        """Return what a verdict says of the other values, behind the one that it names; nothing if
        there is no other.
        """
        if self.lo == self.hi:
            return ""
        return f" (every t0 from {self.lo} to {self.hi} gives the same reports)"


def run_with_each_t0(
    planned: Plan, lo: int, hi: int, run: Callable[[Plan], T]
) -> Iterator[tuple[T0Class, T]]:
    """ORA-2: run something under one value of t0 after the other, from `lo` to `hi`, and yield each
    result with the values for which it stands.

    `run` gets the plan with a t0 that remembers how far it could move until some comparison in the
    run would come out otherwise. All values up to there are one class, and the next value that is
    tried is the one after it. Numbers in a result are those of the first value of the class; they
    may move with t0 (`core.moving.moved`). Raises Unsupported for more than T0_CLASS_BOUND classes.

    Where every window is reported on its own (REP-14), or for each key (WIN-24), or the horizon
    depends on t0, each value is a class.
    """
    first = lo
    is_keyed = any(view.spec.is_keyed for view in planned.views)
    horizon = planned.semantics.horizon
    is_fixed = isinstance(horizon, End) and horizon.depends_on_windows
    may_move = not (planned.semantics.reported_windows.is_every or is_keyed or is_fixed)
    for _ in range(T0_CLASS_BOUND):
        if first > hi:
            return
        room = Room(hi - first if may_move else 0)
        t0 = moving(first, room) if room.most else first
        result = run(begin_at(planned, t0))
        last = first + room.most
        yield T0Class(last, first, last), result
        first = last + 1
    if first <= hi:
        raise too_many_classes(lo, hi)


def too_many_classes(lo: int, hi: int) -> Unsupported:
    """Return the error that a range has more than T0_CLASS_BOUND classes of t0."""
    reason = f"too many classes of t0 from {lo} to {hi}; give t0 or a narrower range"
    return Unsupported(reason, rule="ORA-2")


def begin_at(planned: Plan, t0: int) -> Plan:
    """Return a plan in which each window has this t0, which may move."""
    return with_horizon_of_windows(replace(planned, views=views_from(planned, t0)))


def views_from(planned: Plan, t0: int) -> tuple[window.WindowView, ...]:
    """Return the windows of a plan, each with this t0, which may move."""
    semantics = planned.semantics
    views = []
    for view in planned.views:
        opens = require(window.not_earlier(view.spec, t0, semantics.not_before))
        frame = window.frame(view.spec, semantics.closure, opens, semantics.partial)
        views.append(replace(view, t0=opens, frame=frame))
    return tuple(views)
