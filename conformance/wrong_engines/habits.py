"""Wrong engines that a diagnosis looks for, and that no case needs to catch (`habit`).

They go through what an engine does, stage by stage: here it reads the elements of a stream, places
windows, and fills them; in `habits_of_reports` it evaluates, and makes rows of answers. At each
stage something may be lost, come too late, or be taken for something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from struct import pack, unpack
from typing import Any

from conformance.wrong_engines.evaluation import EVERY_INSTANT, Merged, Streams
from conformance.wrong_engines.wrong_engine import Right, habit
from refengine.core import answers, engine, plan, window
from refengine.core.answers import EvaluateBody
from refengine.core.engine import MAX_REPORTS, Evaluation, Plan
from refengine.core.query import Query, Window, WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import Condition, End
from refengine.core.window import Content, WindowView
from refengine.model.elements import Dataset, Element

Elements = Iterable[Element]
ChangeElements = Callable[[Sequence[Element]], Elements]


# Elements


def _plan_with(right: Right, change: ChangeElements, values: Sequence[Any]) -> Any:
    """Return the plan of a query whose streams hold other elements. `values` are the arguments of
    `plan`.
    """
    asked, streams, semantics = values
    changed = {
        name: replace(stream, elements=tuple(change(stream.elements)))
        for name, stream in streams.items()
    }
    return right(asked, changed, semantics)


@habit("WIN-8", replaces=plan.merge_streams)
def an_element_waits_for_the_next(
    right: Right, streams: Mapping[str, Sequence[Element]], is_by_sys: bool = False
) -> Merged:
    """Shows an element only when the next one has come."""
    arrivals, counts = right(streams, is_by_sys)
    return arrivals, {name: [0, *counted[:-1]] for name, counted in counts.items()}


@habit("MOD-1", replaces=engine.plan)
def the_first_at_an_instant_is_kept(right: Right, *values: Any) -> Any:
    """Keeps the first of several elements at one instant."""
    return _plan_with(right, lambda all_: [next(same) for _, same in _by_instant(all_)], values)


@habit("MOD-1", replaces=engine.plan)
def the_last_at_an_instant_is_kept(right: Right, *values: Any) -> Any:
    """Keeps the last of several elements at one instant."""
    return _plan_with(right, lambda all_: [[*same][-1] for _, same in _by_instant(all_)], values)


def _by_instant(elements: Elements) -> Iterator[tuple[int, Iterator[Element]]]:
    """Yield the elements that follow one another at one instant, with the instant."""
    return groupby(elements, key=attrgetter("app"))


@habit("R2R-1", replaces=engine.plan)
def one_triple_of_an_element_is_read(right: Right, *values: Any) -> Any:
    """Reads one triple of an element, and loses the others. It is the first one in sorted order."""

    def change(elements: Sequence[Element]) -> Elements:
        return [one._replace(graph=frozenset(sorted(one.graph)[:1])) for one in elements]

    return _plan_with(right, change, values)


@habit("MOD-1", replaces=engine.plan)
def an_element_without_triples_is_lost(right: Right, *values: Any) -> Any:
    """Loses elements without triples."""
    return _plan_with(right, lambda every: [one for one in every if one.graph], values)


@habit("MOD-1", replaces=engine.plan)
def an_element_at_0_is_lost(right: Right, *values: Any) -> Any:
    """Loses elements at the instant 0."""
    return _plan_with(right, lambda every: [one for one in every if one.app], values)


@habit("MOD-1", replaces=engine.plan)
def a_repeated_triple_is_lost(right: Right, *values: Any) -> Any:
    """Loses a triple that came before in the stream. An element without other triples is no
    element.
    """

    def change(elements: Sequence[Element]) -> Iterator[Element]:
        seen: set[Any] = set()
        for one in elements:
            new = one.graph - seen
            seen |= one.graph
            if new or not one.graph:
                yield one._replace(graph=new)

    return _plan_with(right, change, values)


def _at_other_times(change: Callable[[int], int]) -> ChangeElements:
    """Return a function that gives elements other times."""

    def changed(elements: Sequence[Element]) -> Elements:
        return [
            one._replace(
                app=change(one.app),
                end=None if one.end is None else max(change(one.app), change(one.end)),
            )
            for one in elements
        ]

    return changed


@habit("MOD-1", replaces=engine.plan)
def times_are_cut_to_thousands(right: Right, *values: Any) -> Any:
    """Cuts times to multiples of 1000."""
    return _plan_with(right, _at_other_times(lambda t: t // 1000 * 1000), values)


@habit("MOD-1", replaces=engine.plan)
def times_have_32_bits(right: Right, *values: Any) -> Any:
    """Keeps times in 32 bits, so large ones overflow."""
    return _plan_with(right, _at_other_times(lambda t: (t + 2**31) % 2**32 - 2**31), values)


@habit("MOD-1", replaces=engine.plan)
def times_are_single_floats(right: Right, *values: Any) -> Any:
    """Keeps times in single precision, so large ones are rounded. Times up to 2^24 are exact."""
    return _plan_with(right, _at_other_times(lambda t: int(unpack("f", pack("f", t))[0])), values)


@habit("QRY-4", replaces=engine.plan)
def all_streams_are_one(right: Right, asked: Query, streams: Streams, semantics: Semantics) -> Any:
    """Puts the elements of all streams into each window."""
    every = sorted(
        (one for _, stream in sorted(streams.items()) for one in stream.elements),
        key=attrgetter("app", "sys"),
    )
    every = [one._replace(sys=place) for place, one in enumerate(every, 1)]
    changed = {name: replace(stream, elements=tuple(every)) for name, stream in streams.items()}
    return right(asked, changed, semantics)


@habit("QRY-2", replaces=answers.recomputed_answers)
def static_data_is_not_read(
    right: Right,
    query: Query,
    planned: Plan,
    static: Dataset,
    answer: EvaluateBody,
    skip: int = 0,
) -> Any:
    """Leaves static data out."""
    return right(query, planned, frozenset(), answer, skip)


# Windows


def _plan_of_windows(
    right: Right, change: Callable[[Window], Window], values: Sequence[Any]
) -> Any:
    """Return the plan of a query with other windows over time. `values` are the arguments of
    `plan`.
    """
    asked, streams, semantics = values
    windows = tuple(
        change(one) if one.kind is WindowKind.TIME and one.size and one.slide else one
        for one in asked.windows
    )
    return right(replace(asked, windows=windows), streams, semantics)


@habit("WIN-3", replaces=engine.plan)
def the_size_is_the_slide(right: Right, *values: Any) -> Any:
    """Gives each window the length of its slide."""
    return _plan_of_windows(right, lambda one: replace(one, size=one.slide), values)


@habit("WIN-3", replaces=engine.plan)
def the_size_is_cut_to_slides(right: Right, *values: Any) -> Any:
    """Cuts the size of a window to a multiple of its slide."""

    def change(one: Window) -> Window:
        return replace(one, size=one.span // one.step * one.step or one.span)

    return _plan_of_windows(right, change, values)


@habit("WIN-3", replaces=engine.plan)
def windows_with_gaps_close_up(right: Right, *values: Any) -> Any:
    """Closes the gaps between windows whose slide exceeds the size."""

    def change(one: Window) -> Window:
        return replace(one, slide=min(one.span, one.step))

    return _plan_of_windows(right, change, values)


@habit("WIN-1", "QRY-1", replaces=engine.plan)
def all_windows_are_as_the_first(
    right: Right, asked: Query, streams: Streams, semantics: Semantics
) -> Any:
    """Gives all windows of a query the extent of the first."""
    first = asked.windows[0]
    windows = tuple(
        replace(one, size=first.size, slide=first.slide) if one.kind is first.kind else one
        for one in asked.windows
    )
    return right(replace(asked, windows=windows), streams, semantics)


@habit("WIN-3", replaces=engine.evaluations)
def there_is_no_window_0(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Opens its first window one slide too late."""
    is_by_time = [view.spec.kind is WindowKind.TIME for view in planned.views]
    for at in right(planned, max_reports):
        numbers = [held.n for held, by_time in zip(at.windows, is_by_time, strict=True) if by_time]
        if 0 not in numbers:
            yield at


def is_sentinel(planned: Plan, arrival: int) -> bool:
    """Whether an arrival stands for the end of the streams."""
    has_sentinel = planned.semantics.horizon is not End.NONE
    is_last = arrival == len(planned.arrivals) - 1
    return has_sentinel and is_last and not planned.arrivals[arrival].graph


# Contents


def _scope_of(view: WindowView, t: int) -> tuple[int, int] | None:
    """Return the first and the last instant of the window that is active at t; None without one."""
    if view.frame is None or view.spec.kind is not WindowKind.TIME:
        return None
    extent = window.scope(view.frame, t)
    number = window.window_number(view.frame, t)
    if extent is None or number is None:
        return None
    return extent[0], view.frame.last + number * view.frame.slide - view.frame.lag


def _content_of(kept: Iterable[int]) -> Content:
    """Return ascending indices as a content: one without a gap is a range."""
    inside = tuple(kept)
    if inside and inside[-1] - inside[0] == len(inside) - 1:
        return range(inside[0], inside[-1] + 1)
    return inside or range(0)


@habit("WIN-2", replaces=window.content, besides=EVERY_INSTANT)
def elements_on_any_border_are_lost(
    right: Right,
    view: WindowView,
    t: int,
    arrived: int,
) -> Content:
    """Loses an element on a border of any window."""
    content: Content = right(view, t, arrived)
    if view.t0 is None or view.frame is None:
        return content
    return _content_of(k for k in content if not _is_on_a_border(view, view.times[k]))


def _is_on_a_border(view: WindowView, instant: int) -> bool:
    """Whether an instant is a border of window 0 or of any other."""
    assert view.t0 is not None
    assert view.frame is not None
    opening = instant - view.t0
    return 0 in (opening % view.frame.slide, (opening - view.spec.span) % view.frame.slide)


@habit("WIN-2", replaces=window.content, besides=EVERY_INSTANT)
def the_last_instant_is_lost(right: Right, view: WindowView, t: int, arrived: int) -> Content:
    """Loses elements at the last instant before the border."""
    content: Content = right(view, t, arrived)
    extent = _scope_of(view, t)
    if extent is None or view.t0 is None or view.frame is None:
        return content
    if view.frame.last == view.t0 + view.spec.span:  # the border itself: a value of `closure`
        return content
    return _content_of(k for k in content if view.times[k] != extent[1])


@habit("WIN-8", replaces=window.content, besides=EVERY_INSTANT)
def elements_stay_a_slide_too_long(right: Right, view: WindowView, t: int, arrived: int) -> Content:
    """Keeps elements in its windows one slide too long."""
    content: Content = right(view, t, arrived)
    extent = _scope_of(view, t)
    if extent is None:
        return content
    first = extent[0] - view.spec.step
    return _content_of(k for k in range(arrived) if first <= view.times[k] <= t)


@habit("WIN-8", replaces=window.content, besides=EVERY_INSTANT)
def the_first_element_after_a_gap_is_lost(
    right: Right, view: WindowView, t: int, arrived: int
) -> Content:
    """Loses the first element after a gap. A gap is longer than the size of the window."""
    content: Content = right(view, t, arrived)
    times = view.times
    span = view.spec.span
    if view.spec.kind is not WindowKind.TIME:
        return content
    return _content_of(k for k in content if k == 0 or times[k] - times[k - 1] <= span)


def _with_contents(
    evaluations: Iterable[Evaluation],
    planned: Plan,
    change: Callable[[WindowView, Evaluation, Content, int], Iterable[int]],
) -> Iterator[Evaluation]:
    """Yield evaluations with other contents of their windows over time. `change` takes the view of
    a window, the evaluation, the content, and how many elements of its stream have arrived.
    """
    for at in evaluations:
        windows = [
            held._replace(content=_content_of(change(view, at, held.content, counts[at.arrival])))
            if view.spec.kind is WindowKind.TIME
            else held
            for held, view, counts in zip(at.windows, planned.views, planned.counts, strict=True)
        ]
        yield at._replace(windows=tuple(windows))


@habit("WIN-8", replaces=engine.evaluations)
def elements_expire_before_windows_close(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Expires elements at an arrival before it closes windows."""

    def change(view: WindowView, at: Evaluation, content: Content, _: int) -> Iterable[int]:
        if is_sentinel(planned, at.arrival):  # after the last element nothing arrives
            return content
        oldest = planned.arrivals[at.arrival].app - view.spec.span
        return (k for k in content if view.times[k] > oldest)

    needs_content = Condition.NON_EMPTY in planned.semantics.report
    for at in _with_contents(right(planned, max_reports), planned, change):
        if not needs_content or any(held.content for held in at.windows):
            yield at


@habit("WIN-8", replaces=engine.evaluations)
def the_closing_element_is_in_the_window(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Any:
    """Counts the element that closes a window in it."""

    def change(view: WindowView, at: Evaluation, content: Content, arrived: int) -> list[int]:
        come = arrived + 1 if arrived < len(view.times) else arrived
        app = planned.arrivals[at.arrival].app
        new = [k for k in range(come) if k >= arrived and view.times[k] == app]
        return sorted({*content, *new})

    return _with_contents(right(planned, max_reports), planned, change)


@habit("WIN-8", replaces=engine.evaluations)
def a_reported_element_is_gone(right: Right, planned: Plan, max_reports: int = MAX_REPORTS) -> Any:
    """Drops the elements of a reported window, so later ones lack them."""
    gone: list[set[int]] = [set() for _ in planned.views]

    def change(view: WindowView, at: Evaluation, content: Content, _: int) -> list[int]:
        consumed = gone[planned.views.index(view)]
        kept = [k for k in content if k not in consumed]
        consumed.update(content)
        return kept

    return _with_contents(right(planned, max_reports), planned, change)


@habit("WIN-8", replaces=engine.evaluations)
def an_expired_triple_takes_later_ones_along(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Any:
    """Lets a triple expire although a later element has it."""

    def change(view: WindowView, at: Evaluation, content: Content, arrived: int) -> list[int]:
        first = min(content, default=arrived)
        expired = {triple for k in range(first) for triple in view.elements[k].graph}
        return [k for k in content if not view.elements[k].graph & expired]

    return _with_contents(right(planned, max_reports), planned, change)


@habit("WIN-14", replaces=engine.evaluations)
def a_window_holds_its_latest_element(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Any:
    """Keeps only the latest element of a window."""
    return _with_contents(
        right(planned, max_reports), planned, lambda view, at, content, _: list(content)[-1:]
    )


@habit("WIN-14", replaces=engine.evaluations)
def a_window_holds_three_elements(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Any:
    """Keeps only the latest three elements of a window."""
    return _with_contents(
        right(planned, max_reports), planned, lambda view, at, content, _: list(content)[-3:]
    )
