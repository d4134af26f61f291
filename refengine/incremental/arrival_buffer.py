"""Streams that are read while they are evaluated: the sequences that a plan is made of, which grow
at one end and are forgotten at the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from operator import attrgetter
from typing import Any, cast

from refengine.core import engine, tick, window
from refengine.core.engine import Plan
from refengine.core.query import Query, Unit, WindowKind
from refengine.core.semantics import Against, Change, Closing, Disorder, End, Semantics, Tick
from refengine.core.window import Content
from refengine.model import elements
from refengine.model.canonical import canonical_iterator
from refengine.model.elements import TIME_BOUND, Element, Stream
from refengine.model.errors import RefengineError, Unsupported

AT_ONCE = 1024  # items that are forgotten together, at least


class ArrivalBuffer(Sequence[Element]):
    """The arrivals of one stream, which come as they are iterated over and keep their places while
    the first are forgotten. The last may be the horizon's (ENG-1).
    """

    def __init__(
        self, elements: Iterator[Element], last: Callable[[Element | None], Element | None]
    ) -> None:
        self.elements, self.last = elements, last
        self.items: list[Element] = []
        self.gone = 0
        # the place before which nothing is needed any more
        self.behind: Callable[[], int] = lambda: 0

    def __iter__(self) -> Iterator[Element]:
        before, append = None, self.items.append
        for element in self.elements:
            _, app, sys, batch, end = element
            if before is None or not (
                batch is None is before.batch
                and end is None
                and type(app) is type(sys) is int
                and before.app <= app < TIME_BOUND
                and before.sys < sys < TIME_BOUND
            ):
                check_streamed(before, element, len(self) + 1)
            append(element)
            yield element
            before = element
            if not len(self.items) % AT_ONCE:
                self.forget(self.behind())
        if (final := self.last(before)) is not None:
            append(final)
            yield final

    def forget(self, before: int) -> None:
        """What stands before a place goes, if it is much."""
        if before - self.gone >= max(AT_ONCE, len(self.items) // 4):
            del self.items[: before - self.gone]
            self.gone = before

    def __len__(self) -> int:
        return self.gone + len(self.items)

    def __getitem__(self, place: Any) -> Any:
        if place < self.gone:
            raise LookupError(
                f"element {place + 1} of the stream is no longer kept: it was streamed"
            )
        return self.items[place - self.gone]


class ArrivalTimes(Sequence[int]):
    """What is known of each arrival on a tape; of the forgotten ones, that it was less."""

    def __init__(self, tape: ArrivalBuffer, of: Callable[[Element], int], first: int) -> None:
        self.tape, self.of, self.first = tape, of, first

    def __len__(self) -> int:
        return len(self.tape)

    def __getitem__(self, place: Any) -> Any:
        tape = self.tape
        return (
            self.of(tape.items[place - tape.gone])
            if place >= tape.gone
            else -TIME_BOUND - 1
            if place
            else self.first
        )


def check_streamed(before: Element | None, element: Element, position: int) -> None:
    """MOD-1 to MOD-3 for an element and the one before it."""
    place = f"element {position}"
    if element.end not in (None, element.app):
        raise Unsupported(
            "elements with intervals come in a stream that is given whole",
            rule="ENG-6",
            place=place,
        )
    try:
        pair = [element] if before is None else [before, element]
        elements.check(pair)
        elements.admit(pair, Disorder.REJECT)
    except RefengineError as error:
        error.place = place
        raise


def plan_streamed(
    query: Query, streams: Mapping[str, Stream | Iterable[Element]], semantics: Semantics
) -> Plan:
    """ENG-6: engine.plan, of a query with one window over a stream of points that comes in the
    order of time.
    """
    # QRY-4, QRY-5
    engine.plan(query, {name: Stream(()) for name in streams}, replace(semantics, horizon=End.NONE))
    if len(query.windows) > 1:
        raise Unsupported(
            "a query with several windows needs its streams whole", rule="ENG-6", place="windows"
        )
    if semantics.disorder is not Disorder.REJECT:
        raise Unsupported(
            "a stream that is reordered is given whole; write disorder=reject",
            rule="ENG-6",
            place="disorder",
        )
    (spec,) = query.windows
    if spec.by or spec.unit is Unit.TRIPLES:
        raise Unsupported(
            "windows by key or by triples need their stream whole", rule="ENG-6", place="windows[0]"
        )
    source = canonical_iterator(streams[spec.stream])
    if not (head := list(islice(source, 1))):
        return engine.plan(query, {name: Stream(()) for name in streams}, semantics)
    check_streamed(None, head[0], 1)
    view = window.view(spec, head, semantics, query.registered)

    def last(element: Element | None) -> Element | None:
        end = engine.horizon([view.spec], [] if element is None else [element], semantics.horizon)
        if end is None:
            return None
        sys, batch = (0, 0) if element is None else (element.sys, element.batch or 0)
        return Element(frozenset(), end, sys + 1, batch + 1)

    tape = ArrivalBuffer(chain(head, source), last)
    ids = range(1, 2**62)
    first = view.times[0]
    times: Sequence[int] = ids
    own: Sequence[int] = ArrivalIds(tape)
    if spec.kind is not WindowKind.TUPLE:
        times = ArrivalTimes(tape, attrgetter("app"), first)
        own = (
            times
            if semantics.closing is Closing.REACHED
            else ArrivalTimes(tape, lambda element: tick.own(semantics, element.app), first)
        )
    return Plan(
        semantics,
        (replace(view, elements=tape, times=times, ids=ids),),
        tape,
        own,
        (range(2**62),),
        (),
    )


def buffer_of(planned: Plan) -> ArrivalBuffer | None:
    """The tape that a plan's arrivals are on; None where they are given whole."""
    arrivals: Sequence[Element] = planned.arrivals
    return arrivals if isinstance(arrivals, ArrivalBuffer) else None


class ArrivalIds(Sequence[int]):
    """The ids of what is on a tape."""

    def __init__(self, tape: ArrivalBuffer) -> None:
        self.tape = tape

    def __len__(self) -> int:
        return len(self.tape)

    def __getitem__(self, place: Any) -> Any:
        return place + 1

    def __iter__(self) -> Iterator[int]:
        place = 0
        while place < len(self.tape):
            place += 1
            yield place


def first_needed(planned: Plan, content: Content) -> int:
    """The place before which no element is in a content, now that the last arrival was looked at:
    neither in the one evaluated last, nor in a later one.
    """
    view, semantics, tape = planned.views[0], planned.semantics, planned.arrivals
    # at contents that were not reported
    looks_back = semantics.against is Against.PREVIOUS and semantics.change is Change.GRAPH
    if not isinstance(content, range) or semantics.tick is Tick.BATCH or looks_back:
        return 0
    match view.spec.kind:
        case WindowKind.TIME | WindowKind.RANGE | WindowKind.NOW | WindowKind.TUPLE if (
            view.frame is not None
        ):
            extent = window.scope(view.frame, planned.own[len(tape) - 1])
            first = extent[0] if extent else view.frame.first + view.frame.least * view.frame.slide
            place = min(bisect_left(view.times, first), len(tape))
        case WindowKind.ROWS:
            place = cast("range", window.rows(view, len(tape))).start
        case _:
            return 0
    # an arrival's forerunner may be its stamp (ENG-4)
    return min(place, content.start if content else place, len(tape) - 1)
