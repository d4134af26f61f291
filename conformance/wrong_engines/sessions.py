"""Wrong engines for §16, WIN-23: which elements are one session, where it is said to close, and in
which order several are taken back (REP-16).
"""

from __future__ import annotations

from typing import Any

from conformance.wrong_engines.engines import BEAM, FLINK, KAFKA_STREAMS
from conformance.wrong_engines.firings import under
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import window
from refengine.core.firings import FiringSchedule, HeldWindow
from refengine.core.query import Window, WindowKind
from refengine.core.values import ExpiredSession, SessionBorder
from refengine.model.errors import require


@wrong("WIN-23", replaces=FiringSchedule.is_near, half="if `exact_gap` is `joins`", seen=BEAM)
def an_exact_gap_parts(
    right: Right, schedule: FiringSchedule, session: HeldWindow, first: int, last: int
) -> bool:
    """Begins another session with an element exactly a gap later."""
    gap = require(schedule.planned.views[0].spec.size)
    return max(first - (session.last - gap + 1), session.first - last) < gap


@wrong("WIN-23", replaces=FiringSchedule.is_near, half="and not if it is `parts`", seen=FLINK)
def an_exact_gap_joins(
    right: Right, schedule: FiringSchedule, session: HeldWindow, first: int, last: int
) -> bool:
    """Takes an element exactly a gap later into a session."""
    gap = require(schedule.planned.views[0].spec.size)
    return max(first - (session.last - gap + 1), session.first - last) <= gap


@wrong("WIN-23", replaces=FiringSchedule.is_near)
def a_session_grows_forwards_only(
    right: Right, schedule: FiringSchedule, session: HeldWindow, first: int, last: int
) -> bool:
    """Joins no session with an element before it."""
    return first >= session.first and bool(right(schedule, session, first, last))


@wrong("WIN-23", replaces=FiringSchedule.session_of, half="they become a single session")
def sessions_never_become_one(
    right: Right, schedule: FiringSchedule, first: int, last: int
) -> list[HeldWindow]:
    """Gives an element to the first session near it, and leaves the others apart."""
    near = [one for one in schedule.windows if schedule.is_near(one, first, last)]
    schedule.windows = [one for one in schedule.windows if one not in near[1:]]
    found: list[HeldWindow] = right(schedule, first, last)
    schedule.windows += near[1:]
    schedule.windows.sort(key=lambda each: (each.last, each.first))
    return found


@wrong("WIN-23", replaces=FiringSchedule.session_of, seen=KAFKA_STREAMS)
def an_expired_session_is_joined(
    right: Right, schedule: FiringSchedule, first: int, last: int
) -> Any:
    """Joins an element to a session that has expired."""
    return under(right, schedule, {"expired_session": ExpiredSession.JOINED}, first, last)


@wrong("WIN-23", replaces=FiringSchedule.session_of, seen=FLINK)
def an_expired_session_is_gone(
    right: Right, schedule: FiringSchedule, first: int, last: int
) -> Any:
    """Joins no element to a session that has expired."""
    return under(right, schedule, {"expired_session": ExpiredSession.GONE}, first, last)


@wrong("WIN-23", replaces=FiringSchedule.session_of, half="an interval (MOD-3) counts with its end")
def the_end_of_an_interval_does_not_count(
    right: Right, schedule: FiringSchedule, first: int, last: int
) -> Any:
    """Counts the gap from the beginning of an element."""
    return right(schedule, first, first)


@wrong(
    "WIN-23",
    replaces=FiringSchedule.session_of,
    half="An element is late if the session that it would be in has expired",
)
def an_element_without_a_session_is_never_late(
    right: Right, schedule: FiringSchedule, first: int, last: int
) -> Any:
    """Begins a session with an element, however late it is."""
    found: list[HeldWindow] = right(schedule, first, last)
    if found or any(schedule.is_near(one, first, last) for one in schedule.windows):
        return found
    gap = require(schedule.planned.views[0].spec.size)
    return [schedule.add(HeldWindow(None, first, last + gap - 1))]


@wrong("WIN-23", replaces=FiringSchedule.closes, half="an arrival that joins it does not close it")
def an_arrival_closes_the_session_that_it_joins(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> bool:
    """Closes a session at its last instant, although the arrival joins it."""
    return t == held.last and t < schedule.planned.own[k]


@wrong("WIN-23", replaces=window.longest_stay)
def the_flush_leaves_sessions_open(right: Right, spec: Window) -> Any:
    """Ends the stream before the gap of the last session is over."""
    return right(spec) - (require(spec.size) if spec.kind is WindowKind.SESSION else 0)


def session_with_border(schedule: FiringSchedule, held: HeldWindow, border: SessionBorder) -> Any:
    """Return the borders of a session under a value of `session_border`."""
    gap = require(schedule.planned.views[0].spec.size)
    return held.first, held.last + {"gap": 1, "last": 1 - gap, "next": 2 - gap}[border]


@wrong("WIN-23", replaces=FiringSchedule.borders_of, half="that of the `last` one, or the `next`")
def every_session_is_said_to_close_after_its_gap(
    right: Right, schedule: FiringSchedule, held: HeldWindow
) -> Any:
    """States the border of every session a gap after its last element."""
    if held.number is not None:
        return right(schedule, held)
    return session_with_border(schedule, held, SessionBorder.GAP)


@wrong("WIN-23", replaces=FiringSchedule.borders_of, half="a `gap` after its last element")
def every_session_is_said_to_close_at_its_last_element(
    right: Right, schedule: FiringSchedule, held: HeldWindow
) -> Any:
    """States the border of every session at its last element."""
    if held.number is not None:
        return right(schedule, held)
    return session_with_border(schedule, held, SessionBorder.LAST)


@wrong("REP-16", replaces=FiringSchedule.show, half="in the order of their borders")
def the_last_session_is_taken_back_first(
    right: Right, schedule: FiringSchedule, held: HeldWindow, t: int, k: int
) -> Any:
    """Takes back what several sessions showed in the opposite order."""
    *taken_back, shown = right(schedule, held, t, k)
    return [*reversed(taken_back), shown]
