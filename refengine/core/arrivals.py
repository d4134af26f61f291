"""§9 Elements that come one at a time: when each has its place among the arrivals, and the plan
that grows with them (ENG-8).
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from operator import attrgetter

from refengine.core import tick, window
from refengine.core.growing import GrowingElements, GrowingList
from refengine.core.plan import Plan, horizon, next_id, plan_without_elements, sentinel
from refengine.core.query import Query, Window, WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import AllowedLateness, Anchor, Condition, Offset
from refengine.core.window import Content, WindowView
from refengine.model import elements as model
from refengine.model.elements import (
    TIME_BOUND,
    Element,
    Stream,
    canonical_element,
    follows,
    require_64_bits,
    valid,
    with_integers,
)
from refengine.model.errors import InvalidQuery, InvalidStream, RefengineError, Unsupported
from refengine.model.held import as_integer
from refengine.model.messages import display

# More elements than will ever arrive: the largest length, also where an integer of C has 32 bits
ENDLESS = sys.maxsize


class GrowingView:
    """A window over those elements of its stream that have come.

    `view` is the window as a plan has it. It is replaced with the first element, which may give the
    window its t0, and with the first interval.
    """

    def __init__(self, spec: Window, semantics: Semantics, registered: int | None) -> None:
        self.spec = spec
        self.semantics = semantics
        self.registered = registered
        self.elements = GrowingElements()
        self.times: GrowingList[int] = GrowingList()
        self.ids: GrowingList[int] = GrowingList()
        self.ends: GrowingList[int] = GrowingList()
        self.keys: GrowingList[tuple[str, ...]] = GrowingList()
        self.view = self._viewed(())

    def _viewed(self, elements: tuple[Element, ...]) -> WindowView:
        """Return the window as its first elements make it, over the sequences that grow."""
        return replace(
            window.view(self.spec, elements, self.semantics, self.registered),
            elements=self.elements,
            times=self.times,
            ids=self.ids,
            ends=None,
            keys=self.keys,
        )

    def is_known(self) -> bool:
        """Return whether all is known that depends on the stream's first element: t0, and what a
        period counts from (WIN-7, WIN-10, REP-11).
        """
        if self.elements:
            return True
        match self.semantics.anchor:
            case Anchor.FIRST:
                return False
            case Anchor.T0 | int() | None:
                return self.view.t0 is not None

    def check(self, element: Element) -> None:
        """Check that the window has a key for an element (WIN-15). Raises InvalidStream."""
        if self.spec.by:
            window.key(self.spec, element, "")

    def append(self, element: Element) -> None:
        """Add the next element of the window's stream. It must have been checked."""
        spec = self.spec
        if spec.by:
            self.keys.append(window.key(spec, element, ""))

        (identity,) = window.ids(spec, [element])
        if self.ids:
            identity += self.ids[-1]
        instant = element.app
        if spec.kind is WindowKind.TUPLE:
            instant = identity
        self.elements.append(element)
        self.ids.append(identity)
        self.times.append(instant)

        if len(self.elements) == 1:
            self.view = self._viewed((element,))
        is_interval = element.end not in (None, element.app)
        if is_interval and spec.kind is not WindowKind.TUPLE and self.view.ends is None:
            self.ends = self.times.copy_before_last()  # until then all were points
            self.view = replace(self.view, ends=self.ends)
        if self.view.ends is not None:
            self.ends.append(valid(element)[1])

    def forget(self, instant: int, arrived: int, contents: Iterable[Content]) -> None:
        """Forget the elements that no window can hold any more at an instant or later, but for
        those of some contents and the last one.
        """
        needed = window.first_needed(self.view, instant, arrived, contents)
        index = min(needed, len(self.elements) - 1)
        self.elements.forget_before(index)
        for values in (self.times, self.ids, self.ends, self.keys):
            values.forget_before(min(index, len(values)))


class Admission:
    """The elements of one stream as they come (MOD-1 to MOD-4). Late ones are dropped, and each
    other one is held back until none can come before it.

    With allowed_lateness=2, an element at 5 is held back until one at 7 has come.
    """

    def __init__(self, allowed_lateness: int | AllowedLateness) -> None:
        self.allowed_lateness = allowed_lateness
        self.number = 0
        self.before: Element | None = None
        self.newest: Element | None = None
        self.held: list[tuple[int, int, Element]] = []

    def complete_until(self) -> int:
        """Return the least t_app that an element to come can have without being late. Elements up
        to it have their final order.
        """
        if self.newest is None:
            return -TIME_BOUND
        if isinstance(self.allowed_lateness, int):
            return self.newest.app - self.allowed_lateness
        return self.newest.app

    def check(self, element: Element) -> tuple[Element, bool]:
        """Return the next element, with canonical terms, and whether it is late. Raises
        InvalidStream.
        """
        element = canonical_element(element)
        before = self.before
        is_plain = before is not None and follows(before, element)
        if not is_plain:
            model.check_elements(pair(before, element))
        admitted = model.admit(pair(self.newest, element), self.allowed_lateness)
        if is_plain and before is self.newest:  # it is not late, and comes last
            return admitted.elements[-1], False
        # of the two the one that came last
        last = max((*admitted.elements, *admitted.late), key=attrgetter("sys"))
        return last, last in admitted.late

    def take(self, element: Element, is_late: bool) -> None:
        """Take the next element, which was checked."""
        self.pass_over(element)
        if is_late:
            return
        if self.newest is None or element.app > self.newest.app:
            self.newest = element
        heappush(self.held, (element.app, element.sys, element))

    def pass_over(self, element: Element) -> None:
        """Count the next element, which was checked, and keep no more of it than the check of the
        one after it needs.
        """
        self.number += 1
        self.before = element

    def complete(self, until: int) -> Iterator[Element]:
        """Yield the elements up to an instant, in order, and hold them no longer."""
        while self.held and self.held[0][0] <= until:
            yield heappop(self.held)[2]


def order_of_pushes(
    query: Query, streams: Mapping[str, Stream], semantics: Semantics
) -> list[tuple[str, Element]]:
    """Return the elements of whole streams in an order in which they can be pushed, each with its
    stream's name and numbered in that order. It is the order of arrival where elements may be late,
    else that of time (ENG-5).

    >>> from refengine import from_table, profile, stream
    >>> windows = [{"stream": s, "kind": "time", "size": 10, "slide": 10} for s in "sr"]
    >>> query = from_table({"body": "SELECT * {?x ?p ?o}", "windows": windows})
    >>> a, b = (("<urn:a>", "<urn:p>", "<urn:o>"), 7), (("<urn:b>", "<urn:p>", "<urn:o>"), 3)
    >>> semantics = profile("csparql").but(t0=0).semantics()
    >>> streams = {"s": stream([a]), "r": stream([b])}
    >>> [(name, e.app, e.sys) for name, e in order_of_pushes(query, streams, semantics)]
    [('r', 3, 1), ('s', 7, 2)]
    """
    names = dict.fromkeys([*(spec.stream for spec in query.windows), *streams])
    elements = [(name, element) for name in names for element in streams[name]]
    elements.sort(key=lambda pushed: pushed[1].sys)
    if not isinstance(semantics.allowed_lateness, int):
        elements.sort(key=lambda pushed: pushed[1].app)
    return [
        (name, element._replace(sys=number)) for number, (name, element) in enumerate(elements, 1)
    ]


def why_whole_streams(query: Query, semantics: Semantics) -> str:
    """ENG-8: Return what a query has that needs whole streams, or "" if its elements can be pushed
    one by one.
    """
    if semantics.reported_windows.is_every:
        return "where every window is reported"
    if any(spec.is_keyed for spec in query.windows):
        return "for a window with a key"
    if semantics.late_for.keeps_arrival_order:
        return f"under late_for={semantics.late_for}"
    if needs_last_element(semantics):
        return f"under offset={semantics.offset}"
    return ""


def refuse_whole_streams(query: Query, semantics: Semantics) -> None:
    """ENG-8: Refuse a query of which whole streams are needed. Raises Unsupported."""
    reason = why_whole_streams(query, semantics)
    if reason:
        raise Unsupported(
            f"{reason}, elements are not pushed one by one; "
            "write evaluate(…), which takes whole streams",
            rule="ENG-8",
        )


def pair(before: Element | None, element: Element) -> list[Element]:
    """Return an element and the one before it, if there is one."""
    if before is None:
        return [element]
    return [before, element]


def needs_last_element(semantics: Semantics) -> bool:
    """WIN-10: Return whether windows lie where the last element says."""
    return isinstance(semantics.offset, Offset) and semantics.offset.needs_last_element


def are_first_reports_final(query: Query, semantics: Semantics) -> bool:
    """Return whether the reports over the first elements of a stream are the first ones over all of
    it. They are not where a later element may come before one that is there (MOD-2, MOD-5), change
    where windows begin (WIN-10), or bring a key whose empty windows have closed (WIN-24).
    """
    if needs_last_element(semantics):
        return False
    if query.windows[0].is_keyed and Condition.NON_EMPTY not in semantics.report:
        return False
    if semantics.late_for.keeps_arrival_order:
        return isinstance(semantics.t0, int)
    return semantics.allowed_lateness in ("reject", 0)


def refuse_needed_end(semantics: Semantics) -> None:
    """ENG-6: Refuse windows that lie where the last element says. Raises Unsupported."""
    if needs_last_element(semantics):
        reason = f"offset={semantics.offset} needs the last element, so streams are needed whole"
        raise Unsupported(reason, rule="ENG-6", place="offset")


class Arrivals:
    """ENG-8: The plan of a query over streams whose elements come one at a time.

    `plan` grows with them. An element joins its arrivals once no other can come before it, and once
    each window is known, where a window's t0 or period counts from its stream's first element.
    """

    def __init__(self, query: Query, streams: Iterable[str], semantics: Semantics) -> None:
        declared = list(streams)
        specs = [view.spec for view in plan_without_elements(query, declared, semantics).views]
        refuse_whole_streams(query, semantics)
        self.semantics = semantics
        self.declared = declared
        self.specs = specs
        self.growing = [GrowingView(spec, semantics, query.registered) for spec in specs]
        self.admissions = {
            name: Admission(semantics.allowed_lateness)
            for name in dict.fromkeys(spec.stream for spec in specs)
        }
        # streams that no window ranges over: what comes of them is checked, and not kept
        self.unread = {
            name: Admission(TIME_BOUND) for name in declared if name not in self.admissions
        }
        # elements with a place in their stream, and none among the arrivals yet
        self.queue: list[tuple[int, int, str, Element]] = []
        self.now = -TIME_BOUND
        self.last_sys = -TIME_BOUND - 1
        self.is_finished = False
        # whether no element has to wait for others, or for the first one of its stream
        self.joins_at_once = False

        self.arrivals: GrowingList[Element] = GrowingList()
        self.own: GrowingList[int] = GrowingList()
        # where there is one stream, all arrivals are of it
        self.counts: list[GrowingList[int]] = []
        counts: list[Sequence[int]] = [range(ENDLESS)] * len(specs)
        if len(self.admissions) > 1:
            self.counts = [GrowingList() for _ in specs]
            for each in self.counts:
                each.append(0)
            counts = list(self.counts)
        self.planned_counts = tuple(counts)
        self.late: GrowingList[Element] = GrowingList(Element(frozenset(), 0, -TIME_BOUND))
        # of the elements that windows range over, for the sentinel
        self.last_taken = 0  # t_sys
        self.last_batch = 0
        self.last_end = -TIME_BOUND
        self.plan = self._make_plan()

    def _make_plan(self) -> Plan:
        """Return the plan over the sequences that grow."""
        views = tuple(growing.view for growing in self.growing)
        return Plan(self.semantics, views, self.arrivals, self.own, self.planned_counts, self.late)

    def push(self, stream: str, element: Element) -> range:
        """Take the next element of a stream, and return the places of the elements that thereby
        join the plan's arrivals.

        Raises InvalidQuery for a stream that is not declared, and InvalidStream for an element that
        cannot come then.
        """
        self._refuse_after_the_end()
        if stream not in self.declared:
            raise InvalidQuery(
                f"element of undeclared stream {stream!r}; declared: "
                f"{', '.join(sorted(self.declared)) or 'none'}",
                rule="QRY-4",
            )
        if not isinstance(element, Element):
            reason = f"an Element must be pushed, got {display(element)}; write push(graph, time)"
            raise InvalidStream(reason, rule="MOD-1")
        admission = self.admissions.get(stream) or self.unread[stream]
        try:
            element = with_integers(element, admission.number + 1)
            element, is_late = admission.check(element)
            self._check_place(stream, element, is_late)
            for growing in self.growing:
                if growing.spec.stream == stream:
                    growing.check(element)
        except RefengineError as error:
            error.place = f"element {admission.number + 1}"
            raise error.at(f"stream {stream!r}") from None

        self.last_sys = element.sys
        if stream in self.unread:
            admission.pass_over(element)
            return self._joined(len(self.arrivals))
        self.last_taken = element.sys
        self.last_batch = max(self.last_batch, element.batch or 0)
        if not is_late:
            end = element.app if element.end is None else element.end
            self.last_end = max(self.last_end, end)
        if self.joins_at_once:
            admission.pass_over(element)
            admission.newest = element
            self.now = element.app
            self._grow(stream, element)
            self._join(element, stream)
            return self._joined(len(self.arrivals) - 1)

        admission.take(element, is_late)
        if is_late:
            self.late.append(element)
        elif not isinstance(self.semantics.allowed_lateness, int):
            self.now = element.app
        return self._release()

    def _check_place(self, stream: str, element: Element, is_late: bool) -> None:
        """Check the place of an element among those of all streams. Raises InvalidStream for one
        that comes after a later one of another stream, and InvalidSemantics for one that is after
        the horizon, or has no batch id under the batch tick (TICK-3).
        """
        if element.sys <= self.last_sys:
            raise InvalidStream(
                f"t_sys must increase over all streams, got {element.sys} after {self.last_sys}",
                rule="ENG-8",
            )
        if stream in self.unread:
            return
        if element.app < self.now and not is_late:
            raise InvalidStream(
                f"t_app {element.app} is before {self.now}, to which time has advanced; push "
                "the elements of all streams in the order of t_app, or evaluate the streams whole",
                rule="ENG-8",
            )
        if self.semantics.tick.needs_batches and not is_late:
            tick.batch_id(element)  # raises if it has none
        if isinstance(self.semantics.horizon, int):
            horizon(self.plan.views, [element], self.semantics)  # raises if it is not after that

    def advance(self, instant: int) -> range:
        """Take it that no element before an instant comes any more, and return the places of the
        elements that thereby join the plan's arrivals. Raises InvalidStream for what is no instant.
        """
        self._refuse_after_the_end()
        instant = as_integer(instant, "the instant", InvalidStream, rule="MOD-1")
        if not isinstance(instant, int) or isinstance(instant, bool):
            raise InvalidStream(
                f"time advances to an integer, got {display(instant)}", rule="MOD-1"
            )
        require_64_bits("the instant", instant, InvalidStream, "MOD-1")
        self.now = max(self.now, instant)
        return self._release()

    def finish(self) -> range:
        """Take it that no element comes any more, and return the places of the last arrivals, one
        of which may be the horizon's (ENG-1).
        """
        self._refuse_after_the_end()
        self.is_finished = True
        self.now = TIME_BOUND
        released = self._release()
        final = sentinel(self.plan.views, self._last_of_all(), (), self.semantics)
        if final is not None:
            self._join(final, None)
        return self._joined(released.start)

    def _last_of_all(self) -> list[Element]:
        """Return an element that comes last and ends last, in place of all that have arrived. It is
        none if none has.
        """
        if not self.arrivals:
            return []
        last = self.arrivals[-1]
        return [last._replace(sys=self.last_taken, batch=self.last_batch, end=self.last_end)]

    def forget(self, instant: int, contents: Sequence[Iterable[Content]]) -> None:
        """Forget what no arrival needs that is still to come: the elements that no window can hold
        any more at an instant or later, but for some contents of each window.
        """
        arrived = len(self.arrivals)
        for growing, counted, held in zip(self.growing, self.planned_counts, contents, strict=True):
            if growing.elements:
                # the sentinel is of no stream
                growing.forget(instant, min(counted[arrived], len(growing.elements)), held)
        for each in self.counts:
            each.forget_before(arrived - 1)
        # a report may be stamped with the arrival before the last (ENG-4)
        self.arrivals.forget_before(len(self.arrivals) - 2)
        self.own.forget_before(len(self.own) - 2)
        if self.late:
            waiting = [element.sys for _, _, _, element in self.queue]
            waiting += [sys for each in self.admissions.values() for _, sys, _ in each.held]
            before = min(waiting, default=self.last_sys + 1)
            self.late.forget_before(bisect_left(self.late, before, key=attrgetter("sys")))

    def _refuse_after_the_end(self) -> None:
        if self.is_finished:
            raise InvalidStream(
                "the streams have ended: no element and no instant can follow finish()",
                rule="ENG-8",
            )

    def _release(self) -> range:
        """Add to the arrivals the elements that no other can come before, and return
        their places.
        """
        before = len(self.arrivals)
        for name, admission in self.admissions.items():
            for element in admission.complete(max(self.now, admission.complete_until())):
                heappush(self.queue, (element.app, element.sys, name, element))
                self._grow(name, element)

        is_known = all(growing.is_known() for growing in self.growing)
        if is_known or self.is_finished:
            complete = min(admission.complete_until() for admission in self.admissions.values())
            until = max(self.now, complete)
            while self.queue and self.queue[0][0] <= until:
                _, _, name, element = heappop(self.queue)
                self._join(element, name)
        is_alone = len(self.admissions) == 1
        is_ordered = not isinstance(self.semantics.allowed_lateness, int)
        self.joins_at_once = is_known and is_alone and is_ordered
        return self._joined(before)

    def _grow(self, stream: str, element: Element) -> None:
        """Give an element to the windows over its stream."""
        changed = False
        for growing in self.growing:
            if growing.spec.stream == stream:
                before = growing.view
                growing.append(element)
                changed |= growing.view is not before
        if changed:
            self.plan = self._make_plan()

    def _join(self, element: Element, stream: str | None) -> None:
        """Add an element of a stream to the arrivals, or the sentinel, whose stream is None."""
        own = element.app + tick.shift_of_own_instants(self.semantics)
        if self.plan.tuples:
            ids = self.growing[0].ids
            own = next_id(ids)
            if stream is not None:
                own = ids[len(self.own)]
        self.arrivals.append(element)
        self.own.append(own)
        if self.counts:
            for spec, each in zip(self.specs, self.counts, strict=True):
                each.append(each[-1] + (spec.stream == stream))

    def _joined(self, before: int) -> range:
        """Return the places of the arrivals from `before` on."""
        return range(before, len(self.arrivals))
