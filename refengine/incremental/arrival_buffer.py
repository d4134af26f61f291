"""Streams that are read while they are evaluated: sequences for a plan that grow at one end, as
elements arrive, and are forgotten at the other, once no window can hold them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import Any

from refengine.core import plan, tick, window
from refengine.core.arrivals import ENDLESS, refuse_needed_end
from refengine.core.engine import Plan
from refengine.core.growing import FORGOTTEN_AT_ONCE, GrowingList
from refengine.core.query import Query, Unit, Window, WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import AllowedLateness
from refengine.core.window import Content
from refengine.model import elements
from refengine.model.elements import TIME_BOUND, Element, Stream, canonical_iterator, follows
from refengine.model.errors import RefengineError, Unsupported, require


class ArrivalBuffer(GrowingList[Element]):
    """The arrivals of one stream. Iterating reads the stream; an arrival keeps its index while
    those before it are forgotten.

    `make_sentinel` gives the arrival at the horizon (ENG-1), by the last element, or None. The
    stream has at least one element.
    `find_first_needed` gives the index before which no element is needed any more.
    """

    def __init__(
        self,
        elements: Iterator[Element],
        make_sentinel: Callable[[Element], Element | None],
    ) -> None:
        super().__init__()
        self.elements = elements
        self.make_sentinel = make_sentinel
        self.find_first_needed: Callable[[], int] = lambda: 0

    def __iter__(self) -> Iterator[Element]:
        before: Element | None = None
        append = self.items.append
        for element in self.elements:
            # the full check takes ten times as long
            if before is None or not follows(before, element):
                element = check_streamed(before, element, len(self) + 1)
            append(element)
            yield element
            before = element
            if not len(self.items) % FORGOTTEN_AT_ONCE:
                self.forget_before(self.find_first_needed())

        sentinel = self.make_sentinel(require(before))
        if sentinel is not None:
            append(sentinel)
            yield sentinel

    def __getitem__(self, index: Any) -> Any:
        if index < self.number_forgotten:
            raise LookupError(
                f"element {index + 1} of the stream is no longer kept: it was streamed"
            )
        return self.items[index - self.number_forgotten]


class ArrivalTimes(Sequence[int]):
    """An instant of each arrival in a buffer, as `instant_of` gives it. That of a forgotten arrival
    is less than any instant.
    """

    def __init__(self, buffer: ArrivalBuffer, instant_of: Callable[[Element], int]) -> None:
        self.buffer = buffer
        self.instant_of = instant_of

    def __len__(self) -> int:
        return len(self.buffer)

    def __getitem__(self, index: Any) -> Any:
        buffer = self.buffer
        if index >= buffer.number_forgotten:
            return self.instant_of(buffer.items[index - buffer.number_forgotten])
        return -TIME_BOUND - 1


def check_streamed(before: Element | None, element: Element, position: int) -> Element:
    """MOD-1 to MOD-3: Check an element, the `position`-th of a stream, beside the one before it.
    Return it with integers as times.

    Raises InvalidStream, with its place, and Unsupported for an element with an interval.
    """
    place = f"element {position}"
    element = elements.with_integers(element, position)
    if element.end not in (None, element.app):
        raise Unsupported(
            "elements with intervals need their stream given whole",
            rule="ENG-6",
            place=place,
        )
    try:
        pair = [element] if before is None else [before, element]
        elements.check_elements(pair)
        elements.admit(pair, AllowedLateness.REJECT)
    except RefengineError as error:
        error.place = place
        raise
    return element


def plan_streamed(
    query: Query, streams: Mapping[str, Stream | Iterable[Element]], semantics: Semantics
) -> Plan:
    """ENG-6: Plan a query with one window over a stream of points that is read in the order of
    time. Its first element is read now.

    Raises what `core.plan.plan` raises, and Unsupported for a query that needs its stream whole.
    """
    of_empty_stream = plan.plan_without_elements(query, streams, semantics)
    spec = _streamed_window(query, semantics)

    given = streams[spec.stream]
    if not isinstance(given, Iterable):
        elements.refuse_no_stream(spec.stream, given)
    source = canonical_iterator(given)
    first = next(source, None)
    if first is None:
        return of_empty_stream
    first = check_streamed(None, first, 1)
    view = window.view(spec, [first], semantics, query.registered)

    def make_sentinel(last: Element) -> Element | None:
        return plan.sentinel([view], [last], (), semantics)

    buffer = ArrivalBuffer(chain([first], source), make_sentinel)
    ids = range(1, ENDLESS)
    times: Sequence[int] = ids
    own: Sequence[int] = ids
    if spec.kind is not WindowKind.TUPLE:
        times = own = ArrivalTimes(buffer, attrgetter("app"))
        if shift := tick.shift_of_own_instants(semantics):
            own = ArrivalTimes(buffer, lambda element: element.app + shift)
    return Plan(
        semantics,
        views=(replace(view, elements=buffer, times=times, ids=ids),),
        arrivals=buffer,
        own=own,
        counts=(range(ENDLESS),),
        late=(),
    )


def _streamed_window(query: Query, semantics: Semantics) -> Window:
    """Return the one window of a query. Raises Unsupported where the stream is needed whole."""
    if len(query.windows) > 1:
        raise Unsupported(
            "a query with several windows needs its streams whole", rule="ENG-6", place="windows"
        )
    if semantics.reported_windows.is_every:
        raise Unsupported(
            "where every window is reported, a stream must be given whole; "
            "write reported_windows=active",
            rule="ENG-6",
            place="reported_windows",
        )
    if semantics.late_for.keeps_arrival_order:
        raise Unsupported(
            "a stream out of order must be given whole; write late_for=stream",
            rule="ENG-6",
            place="late_for",
        )
    if isinstance(semantics.allowed_lateness, int):
        raise Unsupported(
            "a stream that is reordered must be given whole; write allowed_lateness=reject",
            rule="ENG-6",
            place="allowed_lateness",
        )
    refuse_needed_end(semantics)
    (spec,) = query.windows
    if spec.by or spec.unit is Unit.TRIPLES:
        raise Unsupported(
            "windows by key or by triples need their stream whole", rule="ENG-6", place="windows[0]"
        )
    return spec


def buffer_of(planned: Plan) -> ArrivalBuffer | None:
    """Return the buffer of a plan's arrivals; None where they are given whole."""
    arrivals: Sequence[Element] = planned.arrivals
    return arrivals if isinstance(arrivals, ArrivalBuffer) else None


def first_needed(planned: Plan, content: Content) -> int:
    """Return the index before which no element is needed any more, now that the last arrival was
    looked at: none is in the content evaluated last, nor in a later one. Return 0 where all are.
    """
    semantics = planned.semantics
    arrivals = planned.arrivals
    # the graph is compared with that of the previous instant, whose content may be no report's
    looks_back = (
        not semantics.change_baseline.is_of_last_report and semantics.change_scope.reads_graphs
    )
    if not isinstance(content, range) or semantics.tick.needs_batches or looks_back:
        return 0
    last = len(arrivals) - 1
    index = window.first_needed(planned.views[0], planned.own[last], len(arrivals), [content])
    # a report may be stamped with the arrival before the last (ENG-4)
    return min(index, last)
