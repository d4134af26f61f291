"""§5 Tick: which arrivals are looked at, and at which instants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from refengine.core.moving import instants
from refengine.core.semantics import Semantics
from refengine.core.values import CloseRule, ExpirySeen, Tick
from refengine.core.window import Frame, borders, window_number
from refengine.model.elements import Element
from refengine.model.errors import InvalidSemantics


def is_due(tick: Tick, arrival: Element, app: int, batch: int) -> bool:
    """Return whether an arrival is looked at. The arrival last looked at had the t_app `app` and
    the batch id `batch`.

    TICK-1 tuple: every arrival is. TICK-2 time: one with a greater t_app is. TICK-3 batch: one with
    a greater batch id is.
    """
    match tick:
        case Tick.TUPLE:
            return True
        case Tick.TIME:
            return arrival.app > app
        case Tick.BATCH:
            return batch_id(arrival) > batch


def batch_id(arrival: Element) -> int:
    """TICK-3: Return the batch id of an arrival under the batch tick. Raises InvalidSemantics if it
    has none.
    """
    if arrival.batch is None:
        raise InvalidSemantics("the batch tick needs a batch id on every element", rule="TICK-3")
    return arrival.batch


def interval(before: int, own: int) -> range:
    """TICK-4: Return the instants at which an arrival is tested: from `before`, the own instant
    of the arrival last looked at, up to its own, which is not included. If the two are equal, its
    own is the only one.

    >>> interval(3, 6), interval(6, 6)
    (range(3, 6), range(6, 7))
    """
    if own == before:
        return instants(own, own + 1)
    return instants(before, own)


class LastTick(NamedTuple):
    """What is remembered of the arrival that was looked at last: its own instant, its t_app and its
    batch id. Before the first arrival these are s0, s0 and 0.
    """

    own: int
    app: int
    batch: int


def instants_of_arrival(tick: Tick, arrival: Element, own: int, last: LastTick) -> range | None:
    """TICK-5: Return the instants at which an arrival is tested, given the arrival that was
    looked at last; None for an arrival that is not looked at. `own` is its own instant.
    """
    if not is_due(tick, arrival, last.app, last.batch):
        return None
    return interval(last.own, own)


def shift_of_own_instants(semantics: Semantics) -> int:
    """TICK-6: Return what is added to an arrival's t_app to give its own instant, as time-based
    windows see it: -1 where an arrival must pass the close of a window [o, c), else 0.

    Under close_rule=passed a window [0, 10) is closed by an arrival at 11, whose own instant is 10,
    and not by one at 10, whose own instant is 9.
    """
    match semantics.close_rule:
        case CloseRule.REACHED:
            return 0
        case CloseRule.PASSED:
            return borders(semantics.closure)[1]


def interval_with_expiry(
    expiry: ExpirySeen, interval: range, own: int, frames: Sequence[Frame]
) -> range:
    """TICK-7: Return the interval of an arrival, with its own instant if an expiry is seen there:
    if expiry is eager and the next window takes the place of the current one at that instant.
    """
    if not expiry.is_before_arrival or interval.stop != own:
        return interval
    if any(
        window_number(frame, own - 1) not in (None, window_number(frame, own)) for frame in frames
    ):
        return instants(interval.start, own + 1)
    return interval
