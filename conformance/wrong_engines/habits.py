"""Wrong engines that a diagnosis looks for, and that no case needs to catch (`habit`).

They go through what an engine does, stage by stage: it reads the elements of a stream, places
windows, fills them, evaluates, and makes rows of answers. At each stage something may be lost, come
too late, or be taken for something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import attrgetter
from struct import pack, unpack
from typing import Any

from conformance.wrong_engines.evaluation import EVERY_INSTANT, Merged, Streams
from conformance.wrong_engines.wrong_engine import Right, habit
from refengine.core import answers, engine, plan, window
from refengine.core.engine import Evaluation, Plan
from refengine.core.query import Query, Window, WindowKind
from refengine.core.r2s import AnswerChange, Output, RelationToStream
from refengine.core.semantics import Condition, Empty, Semantics
from refengine.core.window import Content, WindowView
from refengine.model import compare
from refengine.model.elements import Bag, Element, Term, row

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
def an_element_waits_for_the_next(right: Right, streams: Mapping[str, Sequence[Element]]) -> Merged:
    """Keep an element out of all windows until the next element of any stream has come."""
    arrivals, counts = right(streams)
    return arrivals, {name: [0, *counted[:-1]] for name, counted in counts.items()}


@habit("MOD-1", replaces=engine.plan)
def the_first_at_an_instant_is_kept(right: Right, *values: Any) -> Any:
    """Keep the first of several elements at one instant, and lose the others."""
    return _plan_with(right, lambda all_: [next(same) for _, same in _by_instant(all_)], values)


@habit("MOD-1", replaces=engine.plan)
def the_last_at_an_instant_is_kept(right: Right, *values: Any) -> Any:
    """Keep the last of several elements at one instant, and lose the others."""
    return _plan_with(right, lambda all_: [[*same][-1] for _, same in _by_instant(all_)], values)


def _by_instant(elements: Elements) -> Iterator[tuple[int, Iterator[Element]]]:
    """Yield the elements that follow one another at one instant, with the instant."""
    return groupby(elements, key=attrgetter("app"))


@habit("R2R-1", replaces=engine.plan)
def one_triple_of_an_element_is_read(right: Right, *values: Any) -> Any:
    """Read the first triple of an element, in sorted order, and lose the others."""

    def change(elements: Sequence[Element]) -> Elements:
        return [one._replace(graph=frozenset(sorted(one.graph)[:1])) for one in elements]

    return _plan_with(right, change, values)


@habit("MOD-1", replaces=engine.plan)
def an_element_without_triples_is_lost(right: Right, *values: Any) -> Any:
    """Lose each element without triples."""
    return _plan_with(right, lambda every: [one for one in every if one.graph], values)


@habit("MOD-1", replaces=engine.plan)
def an_element_at_0_is_lost(right: Right, *values: Any) -> Any:
    """Lose each element at the instant 0."""
    return _plan_with(right, lambda every: [one for one in every if one.app], values)


@habit("MOD-1", replaces=engine.plan)
def a_repeated_triple_is_lost(right: Right, *values: Any) -> Any:
    """Lose each triple that an earlier element of the stream had; an element without others is no
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
    """Cut times to multiples of 1000, as whole seconds of milliseconds are."""
    return _plan_with(right, _at_other_times(lambda t: t // 1000 * 1000), values)


@habit("MOD-1", replaces=engine.plan)
def times_have_32_bits(right: Right, *values: Any) -> Any:
    """Keep the lowest 32 bits of a time, with a sign."""
    return _plan_with(right, _at_other_times(lambda t: (t + 2**31) % 2**32 - 2**31), values)


@habit("MOD-1", replaces=engine.plan)
def times_are_single_floats(right: Right, *values: Any) -> Any:
    """Keep a time as a float of single precision, which is exact up to 2^24."""
    return _plan_with(right, _at_other_times(lambda t: int(unpack("f", pack("f", t))[0])), values)


@habit("QRY-4", replaces=engine.plan)
def all_streams_are_one(right: Right, asked: Query, streams: Streams, semantics: Semantics) -> Any:
    """Put the elements of all streams into each window."""
    every = sorted(
        (one for _, stream in sorted(streams.items()) for one in stream.elements),
        key=attrgetter("app", "sys"),
    )
    every = [one._replace(sys=place) for place, one in enumerate(every, 1)]
    changed = {name: replace(stream, elements=tuple(every)) for name, stream in streams.items()}
    return right(asked, changed, semantics)


@habit("QRY-2", replaces=answers.recomputed_answers)
def static_data_is_not_read(right: Right, asked: Query, planned: Plan, *values: Any) -> Any:
    """Leave static data out of the dataset."""
    _, *others = values
    return right(asked, planned, frozenset(), *others)


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
    """Give each window the size of its slide."""
    return _plan_of_windows(right, lambda one: replace(one, size=one.slide), values)


@habit("WIN-3", replaces=engine.plan)
def the_size_is_cut_to_slides(right: Right, *values: Any) -> Any:
    """Cut the size of a window to a multiple of its slide."""

    def change(one: Window) -> Window:
        return replace(one, size=one.span // one.step * one.step or one.span)

    return _plan_of_windows(right, change, values)


@habit("WIN-3", replaces=engine.plan)
def windows_with_gaps_close_up(right: Right, *values: Any) -> Any:
    """Let a window follow the one before without a gap, where the slide is more than the size."""

    def change(one: Window) -> Window:
        return replace(one, slide=min(one.span, one.step))

    return _plan_of_windows(right, change, values)


@habit("WIN-1", "QRY-1", replaces=engine.plan)
def all_windows_are_as_the_first(
    right: Right, asked: Query, streams: Streams, semantics: Semantics
) -> Any:
    """Give all windows of a query the size and the slide of the first one."""
    first = asked.windows[0]
    windows = tuple(
        replace(one, size=first.size, slide=first.slide) if one.kind is first.kind else one
        for one in asked.windows
    )
    return right(replace(asked, windows=windows), streams, semantics)


@habit("WIN-3", replaces=window.frame)
def there_is_no_window_0(right: Right, spec: Window, *values: Any) -> Any:
    """Open the first window one slide after t0."""
    closure, t0, partial = values
    return right(spec, closure, t0 + (spec.slide or 1), partial)


# Contents


def _scope_of(view: WindowView, t: int) -> tuple[int, int] | None:
    """Return the first and the last instant of the window that is looked at, at t; None without
    one.
    """
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
    """Put an element that is on a border of any window into no window at all."""
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
    """Lose the elements at the last instant of a window."""
    content: Content = right(view, t, arrived)
    extent = _scope_of(view, t)
    if extent is None:
        return content
    return _content_of(k for k in content if view.times[k] != extent[1])


@habit("WIN-2", replaces=window.content, besides=EVERY_INSTANT)
def the_first_instant_is_lost(right: Right, view: WindowView, t: int, arrived: int) -> Content:
    """Lose the elements at the first instant of a window."""
    content: Content = right(view, t, arrived)
    extent = _scope_of(view, t)
    if extent is None:
        return content
    return _content_of(k for k in content if view.times[k] != extent[0])


@habit("WIN-8", replaces=window.content, besides=EVERY_INSTANT)
def elements_stay_a_slide_too_long(right: Right, view: WindowView, t: int, arrived: int) -> Content:
    """Keep an element in the windows for one slide too long."""
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
    """Lose an element that comes later than one size after the element before it."""
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
def elements_expire_before_windows_close(right: Right, planned: Plan, *bound: Any) -> Any:
    """Let an arrival expire all elements that are older than a size, and then close the windows
    that it closes.
    """

    def change(view: WindowView, at: Evaluation, content: Content, _: int) -> Iterator[int]:
        oldest = planned.arrivals[at.arrival].app - view.spec.span
        return (k for k in content if view.times[k] >= oldest)

    return _with_contents(right(planned, *bound), planned, change)


@habit("WIN-8", replaces=engine.evaluations)
def the_closing_element_is_in_the_window(right: Right, planned: Plan, *bound: Any) -> Any:
    """Put the element that closes a window into it."""

    def change(view: WindowView, at: Evaluation, content: Content, arrived: int) -> list[int]:
        come = arrived + 1 if arrived < len(view.times) else arrived
        app = planned.arrivals[at.arrival].app
        new = [k for k in range(come) if k >= arrived and view.times[k] == app]
        return sorted({*content, *new})

    return _with_contents(right(planned, *bound), planned, change)


@habit("WIN-8", replaces=engine.evaluations)
def a_reported_element_is_gone(right: Right, planned: Plan, *bound: Any) -> Any:
    """Put an element into no further window, once a window with it has been reported."""
    gone: list[set[int]] = [set() for _ in planned.views]

    def change(view: WindowView, at: Evaluation, content: Content, _: int) -> list[int]:
        consumed = gone[planned.views.index(view)]
        kept = [k for k in content if k not in consumed]
        consumed.update(content)
        return kept

    return _with_contents(right(planned, *bound), planned, change)


@habit("WIN-8", replaces=engine.evaluations)
def an_expired_triple_goes_everywhere(right: Right, planned: Plan, *bound: Any) -> Any:
    """Take a triple out of a window when an element with it expires, even if a later element in
    the window has it.
    """

    def change(view: WindowView, at: Evaluation, content: Content, arrived: int) -> list[int]:
        first = min(content, default=arrived)
        expired = {triple for k in range(first) for triple in view.elements[k].graph}
        return [k for k in content if not view.elements[k].graph & expired]

    return _with_contents(right(planned, *bound), planned, change)


@habit("WIN-14", replaces=engine.evaluations)
def a_window_holds_its_latest_element(right: Right, planned: Plan, *bound: Any) -> Any:
    """Keep the latest element of a window, and lose the others."""
    return _with_contents(
        right(planned, *bound), planned, lambda view, at, content, _: list(content)[-1:]
    )


@habit("WIN-14", replaces=engine.evaluations)
def a_window_holds_three_elements(right: Right, planned: Plan, *bound: Any) -> Any:
    """Keep the latest three elements of a window, and lose the others."""
    return _with_contents(
        right(planned, *bound), planned, lambda view, at, content, _: list(content)[-3:]
    )


# Evaluations


@habit("ENG-2", replaces=engine.evaluations)
def the_first_report_is_lost(right: Right, planned: Plan, *bound: Any) -> Iterator[Evaluation]:
    """Make no report at the first evaluation."""
    return islice(right(planned, *bound), 1, None)


@habit("ENG-2", replaces=engine.evaluations)
def the_last_report_comes_twice(right: Right, planned: Plan, *bound: Any) -> Iterator[Evaluation]:
    """Make the report of the last evaluation twice."""
    at = None
    for at in right(planned, *bound):
        yield at
    if at is not None:
        yield at


@habit("REP-2", replaces=engine.evaluations)
def only_a_new_element_evaluates(right: Right, planned: Plan, *bound: Any) -> Iterator[Evaluation]:
    """Evaluate a changed content where a window holds an element that it did not hold before, and
    not where elements have left alone.
    """
    if Condition.CHANGE not in planned.semantics.report:
        yield from right(planned, *bound)
        return
    before: list[set[int]] = [set() for _ in planned.views]
    for at in right(planned, *bound):
        contents = [{*held.content} for held in at.windows]
        has_new = any(now - then for now, then in zip(contents, before, strict=True))
        before = contents
        if has_new:
            yield at


def _by_arrival(evaluations: Iterable[Evaluation]) -> Iterator[tuple[int, Iterator[Evaluation]]]:
    """Yield the evaluations that one arrival triggers, with its index."""
    return groupby(evaluations, key=attrgetter("arrival"))


def _is_sentinel(planned: Plan, arrival: int) -> bool:
    """Whether an arrival stands for the end of the streams."""
    return arrival == len(planned.arrivals) - 1 and not planned.arrivals[arrival].graph


@habit("REP-10", replaces=engine.evaluations)
def the_first_of_a_gap_is_reported(
    right: Right, planned: Plan, *bound: Any
) -> Iterator[Evaluation]:
    """Report the first of the windows that close in a gap, or after the last element, and lose the
    others.
    """
    return (next(same) for _, same in _by_arrival(right(planned, *bound)))


@habit("REP-10", replaces=engine.evaluations)
def an_arrival_reports_the_first_of_a_gap(
    right: Right, planned: Plan, *bound: Any
) -> Iterator[Evaluation]:
    """Report the first of the windows that an arrival closes, and lose the others. After the last
    element all are reported.
    """
    for arrival, same in _by_arrival(right(planned, *bound)):
        yield from islice(same, None if _is_sentinel(planned, arrival) else 1)


@habit("REP-10", replaces=engine.evaluations)
def an_arrival_reports_the_last_of_a_gap(
    right: Right, planned: Plan, *bound: Any
) -> Iterator[Evaluation]:
    """Report the last of the windows that an arrival closes, and lose the others. After the last
    element all are reported.
    """
    for arrival, same in _by_arrival(right(planned, *bound)):
        closed = list(same)
        yield from closed if _is_sentinel(planned, arrival) else closed[-1:]


@habit("ENG-1", replaces=engine.evaluations)
def one_report_follows_the_end(right: Right, planned: Plan, *bound: Any) -> Iterator[Evaluation]:
    """Make one report after the last element, and lose the others."""
    for arrival, same in _by_arrival(right(planned, *bound)):
        yield from islice(same, 1 if _is_sentinel(planned, arrival) else None)


@habit("REP-10", replaces=engine.evaluations)
def an_arrival_closes_one_window(right: Right, planned: Plan, *bound: Any) -> Iterator[Evaluation]:
    """Close one window at an arrival. The others that could close wait for the next arrivals, and
    those that wait at the end are lost.
    """
    if len(planned.views) > 1:  # each of which closes at an arrival
        yield from right(planned, *bound)
        return
    waiting: list[Evaluation] = []
    last = -1
    for arrival, same in _by_arrival(right(planned, *bound)):
        yield from waiting[: arrival - last - 1]
        waiting = [*waiting[max(0, arrival - last - 1) :], *same]
        yield from waiting[:1]
        waiting = waiting[1:]
        last = arrival
    yield from waiting[: len(planned.arrivals) - 1 - last]


@habit("ENG-2", replaces=engine.evaluations)
def a_window_as_the_one_before_is_left_out(
    right: Right, planned: Plan, *bound: Any
) -> Iterator[Evaluation]:
    """Make no report of windows that hold what they held at the report before."""
    before = None
    for at in right(planned, *bound):
        contents = [tuple(held.content) for held in at.windows]
        if contents != before:
            yield at
        before = contents


# Rows


def _remember(operator: RelationToStream, name: str, value: Any) -> Any:
    """Return what a name stands for in what an operator remembers; at first `value`."""
    return operator.__dict__.setdefault(name, value)


def _with_rows(operator: RelationToStream, output: Output, rows: Bag) -> Output:
    """Return an output with other rows. It is sent if the right one is, unless it has become empty
    and the semantics sends no empty outputs.
    """
    is_sent = bool(rows) or operator.empty is Empty.EMIT or not output.rows
    return output._replace(rows=rows, is_emitted=output.is_emitted and is_sent)


@habit("R2S-1", replaces=RelationToStream.step)
def a_row_comes_once_in_all(right: Right, operator: RelationToStream, change: AnswerChange) -> Any:
    """Give no row again that was given once."""
    output: Output = right(operator, change)
    given = _remember(operator, "given", set())
    rows = Counter({line: count for line, count in output.rows.items() if line not in given})
    given.update(output.rows)
    return _with_rows(operator, output, rows)


@habit("R2S-1", replaces=RelationToStream.step)
def a_repeated_output_is_empty(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Give no rows where the output is that of the evaluation before."""
    before = operator.last
    output: Output = right(operator, change)
    if output.rows and compare.equal(output.rows, before):
        return _with_rows(operator, output, Counter())
    return output


@habit("R2S-5", replaces=RelationToStream.step)
def a_repeated_output_is_not_sent(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Send no output that is that of the evaluation before."""
    before = operator.__dict__.get("last_one")
    output: Output = right(operator, change)
    operator.__dict__["last_one"] = output.rows
    if before is not None and compare.equal(output.rows, before):
        return output._replace(is_emitted=False)
    return output


@habit("R2S-2", replaces=RelationToStream.step)
def the_first_rows_are_not_new(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Take the first output with rows for the baseline, and give none of them."""
    output: Output = right(operator, change)
    if output.rows and not _remember(operator, "has_begun", []):
        operator.__dict__["has_begun"].append(True)
        return output._replace(rows=Counter(), is_emitted=False)
    return output


@habit("R2S-4", replaces=RelationToStream.step)
def an_empty_answer_is_no_baseline(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Compare an answer with the last one that had rows, whatever came after it."""
    remembered = operator.__dict__
    base = remembered.get("last_with_rows", change.gone)
    if change.now:
        remembered["last_with_rows"] = change.now
    return right(operator, AnswerChange(change.variables, change.now, change.now, base))


@habit("R2R-9", replaces=RelationToStream.step)
def a_row_of_an_output_comes_once(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Give a row of an output once, however often it is in it."""
    output: Output = right(operator, change)
    return _with_rows(operator, output, Counter(dict.fromkeys(output.rows, 1)))


def _with_terms(
    operator: RelationToStream, output: Output, change: Callable[[Term], Term]
) -> Output:
    """Return an output with other terms in its rows."""
    rows: Bag = Counter()
    for line, count in output.rows.items():
        rows[row((name, change(term)) for name, term in line)] += count
    return _with_rows(operator, output, rows)


@habit("R2R-10", replaces=RelationToStream.step)
def languages_are_lost(right: Right, operator: RelationToStream, change: AnswerChange) -> Any:
    """Give a literal without its language."""

    def strip(term: Term) -> Term:
        text, quote, rest = term.rpartition('"')
        return f"{text}{quote}" if term.startswith('"') and rest.startswith("@") else term

    return _with_terms(operator, right(operator, change), strip)


@habit("R2R-2", replaces=RelationToStream.step)
def an_unbound_variable_is_empty_text(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Give the empty text for a variable that is not bound."""
    output: Output = right(operator, change)
    rows: Bag = Counter()
    for line, count in output.rows.items():
        bound = dict(line)
        rows[row((name, bound.get(name, '""')) for name in change.variables)] += count
    return _with_rows(operator, output, rows)


@habit("R2R-2", replaces=RelationToStream.step)
def a_row_with_an_unbound_variable_is_lost(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Lose each row in which a variable is not bound."""
    output: Output = right(operator, change)
    width = len(change.variables)
    whole = {line: count for line, count in output.rows.items() if len(line) == width}
    return _with_rows(operator, output, Counter(whole))
