"""§9 What the windows of a query last reported before a part (REP-8), found from the elements that
are given for it (ENG-7).

Under content change a query with several windows may be reported for the sake of one of them, and
then all count as reported. The elements from the halo on do not show which contents these were. So
each possibility is followed from instant to instant, until one is left.

For windows [0, 10), [10, 20), … over two streams and a halo from 30 on, it is not known at first
what was reported. An element of the first stream at 31 has not been reported before: the query is
reported in any case, with what both windows hold then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from refengine.core import report, schedule, tick, window
from refengine.core.plan import Plan
from refengine.core.query import Query
from refengine.core.schedule import Schedule
from refengine.core.semantics import ChangeBaseline, ChangeScope, Condition, Semantics
from refengine.core.window import Content, WindowView

NOWHERE = range(0)

# What each window may last have reported; None where it is a content of before the halo
Possibility = tuple[Content | None, ...]


class Stretch(NamedTuple):
    """A stretch of instants at which no window's content changes: the contents, and for each window
    the instants at which all its conditions but content change hold.
    """

    contents: tuple[Content, ...]
    at: Sequence[range]


def needs_last_reports(query: Query, semantics: Semantics) -> bool:
    """Return whether a part must know what several windows last reported: where content change is
    against that (REP-8).
    """
    has_change = Condition.CHANGE in semantics.report
    is_against_last = semantics.change_baseline is ChangeBaseline.LAST
    return has_change and is_against_last and len(query.windows) > 1


def arrival_since_which_reports_are_known(planned: Plan, exact_after: int) -> int | None:
    """ENG-7: Return the t_app of the first arrival after whose evaluations it is known what all
    windows last reported; None if there is none. The arrivals after `exact_after` see in the
    windows what they see in the whole stream.
    """
    walk = Schedule(planned)
    known: KnownReports | None = None
    for k, arrival in enumerate(planned.arrivals):
        instants = walk.look_at(k)
        if instants is None or arrival.app <= exact_after:
            continue
        semantics = planned.semantics
        interval = tick.interval_with_expiry(
            semantics.expiry_seen, instants, planned.own[k], walk.frames
        )
        if known is None:
            known = KnownReports(planned, k, interval.start)
        if known.see_arrival(k, interval):
            return arrival.app
    return None


class KnownReports:
    """The contents that the windows may last have reported. `possibilities` are all that agree with
    what is known of the stream.
    """

    def __init__(self, planned: Plan, k: int, instant: int) -> None:
        """Begin before arrival k, the first one after the halo's beginning that sees all elements
        in its windows. `instant` is the first instant at which the query is looked at because of
        it.
        """
        self.planned = planned
        # An evaluation of an earlier arrival has seen the elements before that arrival at most.
        self.seen = [counted[max(0, k - 1)] for counted in planned.counts]
        first = [self._first_possible(view, instant) for view in planned.views]
        self.possibilities: list[Possibility] = [tuple(first)]

    @staticmethod
    def _first_possible(view: WindowView, instant: int) -> Content | None:
        """Return what a window can have reported before an instant: nothing without a scope."""
        if view.frame is None or window.scope(view.frame, instant) is None:
            return range(0)
        return None

    def see_arrival(self, k: int, interval: range) -> bool:
        """Follow the possibilities through the instants of arrival k. Return whether it is known
        then what was last reported.
        """
        planned = self.planned
        arrived = tuple(counted[k] for counted in planned.counts)
        for span, contents in schedule.spans(planned.views, arrived, interval):
            at = [
                self._instants_but_for_change(view, content, span, planned.own[k])
                for view, content in zip(planned.views, contents, strict=True)
            ]
            self._see(Stretch(contents, at))
        (one, *others) = self.possibilities
        return not others and None not in one

    def _instants_but_for_change(
        self, view: WindowView, content: Content, span: range, own: int
    ) -> range:
        """Return the instants of a stretch at which all conditions of a window hold but content
        change.
        """
        semantics = self.planned.semantics
        if Condition.NON_EMPTY in semantics.report and not report.is_non_empty(content):
            return NOWHERE
        return schedule.timely_instants_in_scope(semantics, view, content, span, own)

    def _see(self, stretch: Stretch) -> None:
        """Follow each possibility through a stretch."""
        found: dict[Possibility, None] = {}
        for possibility in self.possibilities:
            found |= dict.fromkeys(self._follow(possibility, stretch))
        self.possibilities = list(found)

    def _follow(self, possibility: Possibility, stretch: Stretch) -> list[Possibility]:
        """Return what the windows may last have reported after a stretch, if before it they had
        reported this.
        """
        windows: dict[bool | None, set[int]] = {True: set(), None: set(), False: set()}
        for n, before in enumerate(possibility):
            windows[self._has_changed(n, before, stretch.contents[n])].add(n)
        surely, perhaps, unchanged = windows[True], windows[None], windows[False]
        if self._is_reported(stretch, surely):
            return [stretch.contents]

        # A window that alone would have had the query reported has not changed.
        unchanged |= {n for n in perhaps if self._is_reported(stretch, surely | {n})}
        unreported = list(possibility)
        for n in unchanged:
            unreported[n] = stretch.contents[n]
        if self._is_reported(stretch, surely | perhaps):
            return [stretch.contents, tuple(unreported)]
        return [tuple(unreported)]

    def _has_changed(self, number: int, before: Content | None, content: Content) -> bool | None:
        """Return whether a window's content differs from what it may last have reported; None if
        that is not known.
        """
        semantics = self.planned.semantics
        if before is not None:
            return report.differs(
                semantics.change_scope, self.planned.views[number], before, content
            )
        is_new = bool(content) and content[-1] >= self.seen[number]
        if is_new and semantics.change_scope is ChangeScope.ELEMENTS:
            return True
        return None

    def _is_reported(self, stretch: Stretch, changed: set[int]) -> bool:
        """Return whether the query is reported in a stretch if just these windows have changed."""
        at = [NOWHERE] * len(stretch.at)
        for n in changed:
            at[n] = stretch.at[n]
        semantics = self.planned.semantics
        return bool(report.fires(semantics.trigger, self.planned.views, at))
