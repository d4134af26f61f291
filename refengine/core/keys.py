"""§16 Keys: a window with a key stands for one window for each key (WIN-24)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from refengine.core import window
from refengine.core.firings import schedule_without_keys
from refengine.core.plan import Plan, own_instants
from refengine.core.query import WindowKind
from refengine.core.schedule import (
    MAX_REPORTS,
    Evaluation,
    Schedule,
    is_sentinel,
    refuse_too_many_reports,
)
from refengine.core.window import Content, WindowView


class PlanOfKey(NamedTuple):
    """The plan of one key's window.

    `key` are its terms, `indices` the indices of its elements in the stream, and `arrivals` those
    of the arrivals that it sees among all arrivals.
    """

    key: tuple[str, ...]
    plan: Plan
    indices: Sequence[int]
    arrivals: Sequence[int]


class ScheduleOfKeys:
    """The evaluations of a plan whose window has a key: those of each key's window, in the order of
    the arrivals that trigger them, then of the keys' first elements.
    """

    def __init__(self, planned: Plan, max_reports: int = MAX_REPORTS) -> None:
        self.planned = planned
        self.max_reports = max_reports
        self.count = 0
        self.keyed = plans_of_keys(planned)
        self.schedules = [schedule_without_keys(each.plan, max_reports) for each in self.keyed]

    def groups(self) -> Iterator[Iterator[Evaluation]]:
        """Yield the evaluations of all arrivals, grouped. Raises TooManyReports."""
        places = [0] * len(self.keyed)
        for k, _ in enumerate(self.planned.arrivals):
            for number, each in enumerate(self.keyed):
                place = places[number]
                if place < len(each.arrivals) and each.arrivals[place] == k:
                    places[number] += 1
                    yield from self.groups_of_key(each, self.schedules[number], place)

    def groups_of_key(
        self, keyed: PlanOfKey, schedule: Schedule, place: int
    ) -> Iterator[Iterator[Evaluation]]:
        """Yield the evaluations of one arrival that a key's window sees, grouped."""
        for group in schedule.arrive(place):
            yield map(lambda at: self.count_report(of_stream(keyed, at)), group)

    def count_report(self, at: Evaluation) -> Evaluation:
        """ENG-3: Count an evaluation, and return it. Raises TooManyReports."""
        self.count += 1
        refuse_too_many_reports(self.count, self.max_reports, self.planned, at.arrival)
        return at


def of_stream(keyed: PlanOfKey, at: Evaluation) -> Evaluation:
    """Return an evaluation of a key's window with the indices of the whole stream."""
    (held,) = at.windows
    content: Content = tuple(keyed.indices[index] for index in held.content) or range(0)
    borders = held.borders or window.borders_of_window(keyed.plan.views[0], held.n)
    of_key = held._replace(content=content, borders=borders, key=keyed.key)
    return at._replace(arrival=keyed.arrivals[at.arrival], windows=(of_key,))


def plans_of_keys(planned: Plan) -> list[PlanOfKey]:
    """WIN-24: Return the plan of each key's window, in the order of their first elements."""
    (view,) = planned.views
    indices = window.indices_of_keys(view)
    return [plan_of_key(planned, key, found) for key, found in indices.items()]


def plan_of_key(planned: Plan, key: tuple[str, ...], indices: Sequence[int]) -> PlanOfKey:
    """WIN-24: Return the plan of one key's window: of its elements alone, at the arrivals of the
    whole stream, or of the key.
    """
    semantics = planned.semantics
    view = window.view_of_key(planned.views[0], indices, semantics)
    mine = {*(view.elements[n].sys for n in range(len(indices)))}
    is_mine = [arrival.sys in mine for arrival in planned.arrivals]
    is_alone = sees_own_alone(view, planned)
    seen = [
        k for k, own in enumerate(is_mine) if own or not is_alone or is_for_all_keys(planned, k)
    ]
    arrivals = tuple(planned.arrivals[k] for k in seen)
    own = [planned.own[k] for k in seen]
    if is_alone:
        has_sentinel = bool(seen) and is_sentinel(planned, seen[-1])
        own = own_instants(view, arrivals, has_sentinel, semantics)
    counts = list(accumulate((is_mine[k] for k in seen), initial=0))
    keyed = replace(planned, views=(view,), arrivals=arrivals, own=own, counts=(counts,))
    return PlanOfKey(key, keyed, indices, seen)


def is_for_all_keys(planned: Plan, k: int) -> bool:
    """WIN-24: Return whether arrival k brings time to the windows of all keys: a punctuation, or
    the sentinel.
    """
    is_punctuation = planned.semantics.reads_punctuations and not planned.arrivals[k].graph
    return is_punctuation or is_sentinel(planned, k)


def sees_own_alone(view: WindowView, planned: Plan) -> bool:
    """WIN-24: Return whether a key's window sees the arrivals of its key alone: by its clock, or
    since its instants are ids.
    """
    return planned.semantics.clock.reads_key_alone or view.spec.kind is WindowKind.TUPLE
