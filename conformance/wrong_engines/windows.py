"""Wrong engines for §1 to §6: model, semantics, query, windows, tick, report.

Sources: `RSP-JS` is pbonte/RSP-JS, src/operators/s2r.ts; `csrbench-oracle` is
dellaglio/csrbench-oracle; where a run is named, it was over CSRBench's stream.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from conformance.wrong_engines import Miniature
from refengine.core import report, window
from refengine.core.engine import Plan, Stretch
from refengine.core.engine import instants as right_engine_instants
from refengine.core.engine import plan as right_plan
from refengine.core.query import QUERY_KEYS, WINDOW_KEYS, Query, Window, WindowKind
from refengine.core.query import extent as right_extent
from refengine.core.query import from_table as right_from_table
from refengine.core.report import beats as right_beats
from refengine.core.report import closes as right_closes
from refengine.core.report import progression
from refengine.core.report import worthy as right_worthy
from refengine.core.semantics import (
    ENUMS,
    FIELDS,
    POLICIES,
    T0,
    Change,
    Closure,
    Condition,
    Empty,
    Partial,
    Profile,
    Semantics,
    Tick,
)
from refengine.core.semantics import contradictions as right_contradictions
from refengine.core.semantics import parse_field as right_parse_field
from refengine.core.tick import interval as right_interval
from refengine.core.window import Content, Frame, View
from refengine.core.window import borders as right_borders
from refengine.core.window import content as right_content
from refengine.core.window import frame as right_frame
from refengine.core.window import ids as right_ids
from refengine.core.window import origin as right_origin
from refengine.core.window import scope as right_scope
from refengine.core.window import until as right_until
from refengine.model.elements import XSD, Admitted, Element, Stream
from refengine.model.elements import admit as right_admit
from refengine.model.errors import InvalidSemantics, InvalidStream, InvalidWindow, UnknownField
from refengine.model.terms import Term
from refengine.model.terms import canonical as right_canonical

NOBODY = "none known"
right_but = Profile.but


def held(views: Sequence[View], t: int, arrived: Sequence[int]) -> tuple[Content, ...]:
    """The contents of all windows."""
    return tuple(window.content(view, t, n) for view, n in zip(views, arrived, strict=True))


def every_instant(
    views: Sequence[View], arrived: Sequence[int], interval: range
) -> Iterator[Stretch]:
    """ENG-2, right but slow: every instant is visited. What it leaves out presumes that WIN-4,
    WIN-5 and WIN-8 hold.
    """
    for t in interval:
        yield range(t, t + 1), held(views, t, arrived)


SLOWLY = (("refengine.core.engine:spans", every_instant),)


# §1 Model


def any_sequence(elements: Sequence[Element]) -> None:
    """Whatever comes is a stream: fractions of time, batches out of order, validity that ends
    before it begins.
    """


def no_ties(elements: Sequence[Element]) -> None:
    """Application time must increase from element to element."""
    for before, element in pairwise(elements):
        if element.app <= before.app:
            raise InvalidStream(
                f"t_app must increase, got {element.app} after {before.app}", rule="MOD-1"
            )


def time_is_a_double(elements: Iterable[Element], disorder: int | str) -> Admitted:
    """Application time passes through a double, so that neighbours far
    from 0 become one instant.
    """
    return right_admit(
        [element._replace(app=int(float(element.app))) for element in elements], disorder
    )


def escapes_are_letters(term: Term) -> Term:
    """The backslash of an escape is left out, and what follows it stands for itself."""
    return re.sub(r'\\([^"\\nr])', r"\1", term) if term.startswith('"') else right_canonical(term)


def tags_as_written(term: Term) -> Term:
    """A language tag keeps its case, so that each way of writing it is another term."""
    written = re.search("(?<=@)[A-Za-z0-9-]+$", term)
    return (
        right_canonical(term)[: -len(written[0])] + written[0] if written else right_canonical(term)
    )


def stated_strings_differ(term: Term) -> Term:
    """A literal of xsd:string is another term than the one without a datatype."""
    return term if term.endswith(f"^^<{XSD}string>") else right_canonical(term)


def any_text_is_a_term(term: Term) -> Term:
    """What is no term is taken as it is."""
    try:
        return right_canonical(term)
    except InvalidStream:
        return term


# §2 Semantics


def first_value_for_an_unknown_one(name: str, value: Any) -> Any:
    """A value that the field does not have becomes the field's first."""
    try:
        return right_parse_field(name, value)
    except InvalidSemantics:
        return next(iter(ENUMS[name])) if name in ENUMS else frozenset({Condition.CLOSE})


def unknown_conditions_are_dropped(name: str, value: Any) -> Any:
    """Of a report's conditions those that do not exist are left out."""
    known = [word for word in value if word in list(Condition)] if name == "report" else value
    return right_parse_field(name, known)


def truth_is_one(name: str, value: Any) -> Any:
    """true is the integer 1."""
    return right_parse_field(name, int(value) if isinstance(value, bool) else value)


def unknown_fields_are_ignored(profile: Profile, **overrides: Any) -> Profile:
    """A field that does not exist is left out."""
    return right_but(
        profile, **{name: value for name, value in overrides.items() if name in FIELDS}
    )


def idle_fields_are_ignored(semantics: Semantics) -> None:
    """A period or an anchor that no condition uses does no harm."""
    if Condition.PERIODIC not in semantics.report:
        for name in ("period", "anchor"):
            object.__setattr__(semantics, name, None)
    right_contradictions(semantics)


def period_and_anchor_have_defaults(semantics: Semantics) -> None:
    """A periodic report has period 1 and anchor 0 unless it says otherwise."""
    if Condition.PERIODIC in semantics.report:
        for name, value in (("period", 1), ("anchor", 0)):
            if getattr(semantics, name) is None:
                object.__setattr__(semantics, name, value)
    right_contradictions(semantics)


def unknown_t0_is_zero(profile: Profile) -> Semantics:
    """What the profile leaves open is 0, or the first of the field's values."""
    first = {"t0": 0, "offset": None, "period": None, "anchor": None, "base": None}
    filled = {
        name: first[name] if name in first else next(iter(ENUMS[name])) for name in profile.unknown
    }
    return Semantics(**{**profile.fields, **filled})


def profiles_are_fixed(profile: Profile, **overrides: Any) -> Profile:
    """What a profile says, or leaves open, cannot be given otherwise."""
    return profile


def one_open_field_is_named(profile: Profile) -> Semantics:
    """Of the open fields only the first is named."""
    for name in profile.unknown:
        raise UnknownField(
            f"profile {profile.name!r} leaves {name} unknown; give {name}=…", rule="SEM-3"
        )
    return Semantics(**profile.fields)


# §3 Query


def open_schema(table: Mapping[str, Any]) -> Query:
    """Keys that a query does not have are ignored."""
    windows = [{key: w[key] for key in WINDOW_KEYS if key in w} for w in table["windows"]]
    known = {key: table[key] for key in QUERY_KEYS if key in table}
    return right_from_table({**known, "windows": windows})


def slide_defaults_to_size(table: Mapping[str, Any]) -> Query:
    """A window without a slide tumbles."""
    windows = [
        {"slide": w["size"], **w} if "size" in w and "by" not in w else w for w in table["windows"]
    ]
    return right_from_table({**table, "windows": windows})


def unknown_kind_is_time(table: Mapping[str, Any]) -> Query:
    """A window is time-based unless it says that it is not."""
    windows = [
        w if w.get("kind") in list(WindowKind) else {**w, "kind": "time"} for w in table["windows"]
    ]
    return right_from_table({**table, "windows": windows})


def operator_is_ignored(table: Mapping[str, Any]) -> Query:
    """The R2S operator that the query states is read and forgotten."""
    return replace(right_from_table(table), r2s=None)


def no_window_is_needed(query: Query) -> None:
    """A query may be without windows."""


def last_of_the_windows(query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> Plan:
    """Of several windows the last one replaces the others."""
    return right_plan(replace(query, windows=query.windows[-1:]), streams, semantics)


def undeclared_streams_are_empty(
    query: Query, streams: Mapping[str, Stream], semantics: Semantics
) -> Plan:
    """A stream that nobody declared has no elements."""
    return right_plan(
        query, {**{spec.stream: Stream(()) for spec in query.windows}, **streams}, semantics
    )


def any_stream_will_do(query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> Plan:
    """A window ranges over whatever stream comes first."""
    return right_plan(
        query, {spec.stream: next(iter(streams.values())) for spec in query.windows}, semantics
    )


# §4 Windows


def any_extent(window: Window) -> None:
    """Size and slide may be anything, a text or 0 included."""


def slide_at_most_size(window: Window) -> None:
    """A slide greater than the size is refused."""
    right_extent(window)
    if window.slide and window.size and window.slide > window.size:
        raise InvalidWindow(
            f"slide must be at most size, got {window.slide} > {window.size}", rule="WIN-1"
        )


def only_tumbling(window: Window) -> None:
    """A slide other than the size is refused."""
    slide_at_most_size(window)
    if window.slide and window.size and window.slide != window.size:
        raise InvalidWindow(
            f"slide must be size, got {window.slide} and {window.size}", rule="WIN-1"
        )


def both_borders(closure: Closure | None) -> tuple[int, int]:
    """Every window has both its borders, so an element on one is in two windows."""
    return 0, 0


def always_right_open(closure: Closure | None) -> tuple[int, int]:
    """Every window is [o, c)."""
    return (0, 0) if closure is None else (0, -1)


def neither_border(closure: Closure | None) -> tuple[int, int]:
    """An element on a border is in no window unless both borders belong to it."""
    return (0, 0) if closure in (Closure.CLOSED, None) else (1, -1)


def t0_is_zero(window: Window, closure: Closure | None, t0: int, partial: Partial) -> Frame:
    """Windows are multiples of the slide, whatever t0 is."""
    return right_frame(window, closure, 0, partial)


def slide_is_size(window: Window, closure: Closure | None, t0: int, partial: Partial) -> Frame:
    """The slide is ignored: windows tumble."""
    return right_frame(
        replace(window, slide=window.size) if window.slide else window, closure, t0, partial
    )


def one_window_too_early(
    window: Window, closure: Closure | None, t0: int, partial: Partial
) -> Frame:
    """A window opens one slide before t0."""
    return right_frame(window, closure, t0 - (window.slide or 1), partial)


def open_until_after_its_close(frame: Frame, t: int) -> int:
    """A window is open for one instant more than it has: for [o, c) while t <= c."""
    return max(frame.least, -((frame.last + 1 - t) // frame.slide))


def last_of_the_open(frame: Frame, t: int) -> int:
    """The active window is the open one that started last."""
    return max(frame.least, (t - frame.first) // frame.slide)


def absolute_distance(frame: Frame, t: int) -> int:
    """n(t) is computed from |t - c|, so before the first close it counts backwards."""
    return -(-abs(t - frame.last) // frame.slide)


def numbers_below_zero(frame: Frame, t: int) -> int:
    """Windows go on before window 0."""
    return -((frame.last - t) // frame.slide)


def whole_window(frame: Frame, t: int) -> tuple[int, int] | None:
    """The scope is the whole active window, the instants after t included."""
    right = right_scope(frame, t)
    if right is None or frame.kind not in (WindowKind.TIME, WindowKind.TUPLE):
        return right
    return right[0], frame.last + window.active(frame, t) * frame.slide


def last_window_that_started(frame: Frame, t: int) -> tuple[int, int] | None:
    """Between windows that hop the scope is still that of the window before."""
    right = right_scope(frame, t)
    if right is None or frame.kind not in (WindowKind.TIME, WindowKind.TUPLE) or right[0] <= t:
        return right
    return (right[0] - frame.slide, t) if window.active(frame, t) > frame.least else right


def from_the_first_instant(frame: Frame) -> int:
    """Evaluation starts at window 0's first instant."""
    return frame.first


def from_a_slide_before(frame: Frame) -> int:
    """Evaluation starts a slide before s0."""
    return frame.first - 1 - frame.slide


def tuples_by_time(window: Window, elements: Sequence[Element]) -> Sequence[int]:
    """A tuple-based window is a time-based one."""
    return (
        [element.app for element in elements]
        if window.kind is WindowKind.TUPLE
        else right_ids(window, elements)
    )


def ids_from_zero(window: Window, elements: Sequence[Element]) -> Sequence[int]:
    """The first element has id 0."""
    return range(len(elements)) if window.kind is WindowKind.TUPLE else right_ids(window, elements)


def simultaneous_elements_share_an_id(window: Window, elements: Sequence[Element]) -> Sequence[int]:
    """A tuple-based window counts distinct times."""
    if window.kind is not WindowKind.TUPLE:
        return right_ids(window, elements)
    distinct = sorted({element.app for element in elements})
    return [distinct.index(element.app) + 1 for element in elements]


def flink_over_the_other_closure(
    window: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """Flink's t0, a formula over [o, c) windows when it is β − ω, is carried over to (o, c]
    unshifted.
    """
    if semantics.t0 is T0.FLINK and window.kind is WindowKind.TIME:
        return window.step - window.span
    return right_origin(window, semantics, first_app, registered)


def floor_for_ceiling(
    window: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """Coral8's and Oracle CEP's quotients are rounded down."""
    if first_app is not None and window.kind is WindowKind.TIME:
        if semantics.t0 is T0.CORAL8:
            return (first_app - window.span) // window.step * window.step - 1
        if semantics.t0 is T0.ORACLE_CEP:
            return first_app // window.step * window.step - window.span
    return right_origin(window, semantics, first_app, registered)


def kafka_before_zero(
    window: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """Kafka Streams' windows may open before time 0."""
    if (
        semantics.t0 is T0.KAFKA_STREAMS
        and first_app is not None
        and window.kind is WindowKind.TIME
    ):
        return (first_app - window.span + window.step) // window.step * window.step - 1
    return right_origin(window, semantics, first_app, registered)


def from_the_first_element(
    window: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """Every formula gives the first element's time."""
    formula = isinstance(semantics.t0, T0) and semantics.t0 not in POLICIES
    return first_app if formula else right_origin(window, semantics, first_app, registered)


def time_formulas_for_tuples(
    window: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """Tuple-based windows start by the formulas of time-based ones."""
    kind = WindowKind.TIME if window.kind is WindowKind.TUPLE else window.kind
    return right_origin(
        Window(window.stream, kind, window.size, window.slide), semantics, first_app, registered
    )


def zero_without_elements(
    window: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """A stream without elements starts at time 0."""
    return right_origin(window, semantics, 0 if first_app is None else first_app, registered)


def arriving_element_included(view: View, t: int, arrived: int) -> Content:
    """The content holds the element whose arrival is looked at."""
    return right_content(view, t, min(arrived + 1, len(view.elements)))


def nothing_expires(view: View, t: int, arrived: int) -> Content:
    """An element that has come in stays."""
    right = right_content(view, t, arrived)
    return range(0, right[-1] + 1) if right else right


def expiry_unseen(view: View, t: int, arrived: int) -> int | None:
    """Between two arrivals a content never shrinks."""
    if view.frame is None or right_scope(view.frame, t) is None:
        return right_until(view, t, arrived)
    return next((time for time in view.times[:arrived] if time > t), None)


def entering_unseen(view: View, t: int, arrived: int) -> int | None:
    """Between two arrivals a content never grows."""
    if view.frame is None or right_scope(view.frame, t) is None:
        return right_until(view, t, arrived)
    right, frame = right_content(view, t, arrived), view.frame
    return (
        frame.last + (view.times[right[0]] - frame.first) // frame.slide * frame.slide + 1
        if right
        else None
    )


def expiry_by_age(view: View, t: int, arrived: int) -> int | None:
    """Elements expire ω after their own time, whatever the windows are."""
    if view.frame is None or right_scope(view.frame, t) is None:
        return right_until(view, t, arrived)
    right, frame = right_content(view, t, arrived), view.frame
    later = [time for time in view.times[:arrived] if time > t]
    later += [view.times[right[0]] + frame.last - frame.first + 1] if right else []
    return min((time for time in later if time > t), default=None)


# §5 Tick


def complete_instants_only(tick: Tick, arrival: Element, app: int, batch: int) -> bool:
    """Whatever the tick, of simultaneous elements only the first is looked at."""
    return arrival.app > app


def every_arrival(tick: Tick, arrival: Element, app: int, batch: int) -> bool:
    """Whatever the tick, every arrival is looked at."""
    return True


def not_before(tick: Tick, arrival: Element, app: int, batch: int) -> bool:
    """The time tick looks at arrivals that are not before the one last looked at."""
    match tick:
        case Tick.TUPLE:
            return True
        case Tick.TIME:
            return arrival.app >= app
        case Tick.BATCH:
            return (arrival.batch or 0) > batch


def an_element_is_a_batch(tick: Tick, arrival: Element, app: int, batch: int) -> bool:
    """An element without a batch id is a batch of its own."""
    match tick:
        case Tick.TUPLE:
            return True
        case Tick.TIME:
            return arrival.app > app
        case Tick.BATCH:
            return arrival.batch is None or arrival.batch > batch


def first_arrival_ticks(
    arrivals: Sequence[Element], times: Sequence[int], tick: Tick, start: int
) -> Iterator[tuple[int, range]]:
    """The first arrival is looked at whatever its time is."""
    before, app = start, None
    for k, (arrival, own) in enumerate(zip(arrivals, times, strict=True)):
        if tick is Tick.TUPLE or app is None or arrival.app > app:
            yield k, right_interval(before, own)
            before, app = own, arrival.app


def own_instant_included(before: int, own: int) -> range:
    """An arrival is evaluated up to and at its own instant."""
    return range(before, own + 1)


def the_instant_before(before: int, own: int) -> range:
    """An arrival is evaluated at one instant only, the one just before its own."""
    return range(own, own + 1) if own == before else range(own - 1, own)


def equal_instants_skipped(before: int, own: int) -> range:
    """An arrival at the instant of the one before is not evaluated."""
    return range(before, own)


def from_the_first_arrival(
    arrivals: Sequence[Element], times: Sequence[int], tick: Tick, start: int
) -> Iterator[tuple[int, range]]:
    """The first interval starts at the first arrival."""
    before, batch = times[0] if times else start, 0
    for k, (arrival, own) in enumerate(zip(arrivals, times, strict=True)):
        if tick is not Tick.BATCH or (arrival.batch or 0) > batch:
            yield k, right_interval(before, own)
            before, batch = own, arrival.batch or 0


def passed_over_arrivals_count(
    arrivals: Sequence[Element], times: Sequence[int], tick: Tick, start: int
) -> Iterator[tuple[int, range]]:
    """An interval starts at the arrival before, looked at or not."""
    before, batch = start, 0
    for k, (arrival, own) in enumerate(zip(arrivals, times, strict=True)):
        if tick is not Tick.BATCH or (arrival.batch or 0) > batch:
            yield k, right_interval(before, own)
        before, batch = own, arrival.batch or 0


def after_the_arrival(
    arrivals: Sequence[Element], times: Sequence[int], tick: Tick, start: int
) -> Iterator[tuple[int, range]]:
    """An interval starts one instant after the arrival last looked at."""
    before = start
    for k, own in enumerate(times):
        if tick is not Tick.BATCH or k == 0 or arrivals[k].batch != arrivals[k - 1].batch:
            yield k, right_interval(before, own)
            before = own + 1


# §6 Report


def strict_close(frame: Frame, span: range, own: int) -> range:
    """A window closes only when an element later than its border arrives."""
    return right_closes(frame, span, own - 1)


def close_at_the_arrival(frame: Frame, span: range, own: int) -> range:
    """A window closes at its last instant although more elements may have that instant."""
    return right_closes(frame, span, own + 1)


def latest_close_only(frame: Frame, span: range, own: int) -> range:
    """Of the windows that close between two elements only the last is reported."""
    return right_closes(frame, span, own)[-1:]


def partial_windows(frame: Frame, span: range, own: int) -> range:
    """Windows that opened before t0 close too, with what they have."""
    return progression(frame.last, frame.slide, range(span.start, min(span.stop, own)))


def close_by_length(frame: Frame, span: range, own: int) -> range:
    """A window closes when its length, t - o, is ω: for [o, c) at c, when
    the next one is active.
    """
    return right_closes(frame._replace(last=frame.last + 1), span, own)


def only_new_elements_are_change(
    change: Change, view: View, content: Content, base: Content
) -> bool:
    """Expiry is no change: the content must hold an element that the last reported one does not."""
    return bool(set(content) - set(base))


def change_of_number(change: Change, view: View, content: Content, base: Content) -> bool:
    """Contents of as many elements are the same."""
    return len(content) != len(base)


def everything_is_change(change: Change, view: View, content: Content, base: Content) -> bool:
    """Every content counts as changed."""
    return True


def empty_at_first_is_change(change: Change, view: View, content: Content, base: Content) -> bool:
    """Where nothing was reported yet, anything is a change."""
    return report.differs(change, view, content, base) or not base


def anything_is_non_empty(content: Content) -> bool:
    """Empty windows pass for non-empty."""
    return True


def several_elements(content: Content) -> bool:
    """One element is not enough."""
    return len(content) > 1


def answer_must_hold_something(
    empty: Empty, output: Mapping[Any, Any], last: Mapping[Any, Any]
) -> bool:
    """Non-empty asks for an answer: a window whose answer is empty is not reported."""
    return bool(output)


def beating(
    semantics: Semantics, view: View, span: range, shift: int = 0, since: int | None = None
) -> range:
    """The members of a period in a span, shifted, and counted from the anchor or from another
    instant.
    """
    since = report.anchor(semantics, view) if since is None else since
    if since is None or semantics.period is None:
        return range(0)
    return progression(since + shift, semantics.period, span)


def beats_at_the_instant(semantics: Semantics, view: View, span: range) -> range:
    """The period is compared with t under every closure, so for [o, c) it never meets a close."""
    return beating(semantics, view, span)


def beats_a_border_late(semantics: Semantics, view: View, span: range) -> range:
    """The border instant is t + 1 under every closure."""
    return beating(semantics, view, span, -1)


def beats_from_zero(semantics: Semantics, view: View, span: range) -> range:
    """The period is counted from 0, whatever the anchor is."""
    return beating(semantics, view, span, right_borders(semantics.closure)[1], 0)


def beats_from_t0(semantics: Semantics, view: View, span: range) -> range:
    """The period is counted from t0, whatever the anchor is."""
    return beating(semantics, view, span, right_borders(semantics.closure)[1], view.t0)


def close_outdoes_periodic(semantics: Semantics, view: View, span: range, own: int) -> range:
    """Where windows report at their close the period is not asked."""
    if Condition.CLOSE in semantics.report:
        assert view.frame is not None  # an instant is asked for where it is there
        return right_closes(view.frame, span, own)
    return right_beats(semantics, view, span) if Condition.PERIODIC in semantics.report else span


def periodic_outdoes_close(semantics: Semantics, view: View, span: range, own: int) -> range:
    """Where a period is given the close is not asked."""
    if Condition.PERIODIC in semantics.report:
        return right_beats(semantics, view, span)
    assert view.frame is not None  # an instant is asked for where it is there
    return right_closes(view.frame, span, own) if Condition.CLOSE in semantics.report else span


def meet_at_the_larger_step(a: range, b: range) -> range:
    """Two progressions have in common the one of the larger step."""
    return max(a, b, key=lambda progression: progression.step) if a and b else range(0)


def one_condition_is_enough(
    semantics: Semantics, view: View, content: Content, base: Content
) -> bool:
    """A window is reported if any condition on its content holds."""
    named = {Condition.CHANGE: content != base, Condition.NON_EMPTY: bool(content)}
    asked = [holds for condition, holds in named.items() if condition in semantics.report]
    return any(asked) or not asked


def empty_windows_are_never_reported(
    semantics: Semantics, view: View, content: Content, base: Content
) -> bool:
    """Non-empty is asked whether or not the report names it."""
    return bool(content) and right_worthy(semantics, view, content, base)


def change_is_not_asked(semantics: Semantics, view: View, content: Content, base: Content) -> bool:
    """A window that closes is reported again although nothing in it has changed."""
    asked = (
        semantics.report - {Condition.CHANGE}
        if Condition.CLOSE in semantics.report
        else semantics.report
    )
    return right_worthy(replace(semantics, report=asked), view, content, base)


def every_id_of_a_tick(
    views: Sequence[View], arrived: Sequence[int], interval: range
) -> Iterator[Stretch]:
    """A tick reports as often as close and periodic hold in it."""
    for t in interval:
        yield range(t, t + 1), held(views, interval[-1], arrived)


def first_close_of_a_tick(  # those of the function that it replaces
    semantics: Semantics,
    view: View,
    content: Content,
    reported: Content,
    before: Content,
    span: range,
    own: int,
) -> range:
    """A tick reports at the smallest id at which close and periodic hold."""
    at = right_engine_instants(semantics, view, content, reported, before, span, own)
    tuples = view.spec.kind is WindowKind.TUPLE
    return report.timely(semantics, view, span, own)[:1] if at and tuples else at


def tested_where_reported(  # those of the function that it replaces
    semantics: Semantics,
    view: View,
    content: Content,
    reported: Content,
    before: Content,
    span: range,
    own: int,
) -> range:
    """Content change and non-empty are tested at the id that is reported."""
    at = report.timely(semantics, view, span, own)[-1:]
    if at and view.spec.kind is WindowKind.TUPLE:
        content = window.content(view, at[0], bisect_left(view.ids, own))
    return right_engine_instants(semantics, view, content, reported, before, span, own)


MINIATURES = (
    Miniature(
        "MOD-1",
        "any sequence is a stream",
        NOBODY,
        "refengine.model.elements:check",
        any_sequence,
    ),
    Miniature("MOD-1", "ties are refused", NOBODY, "refengine.model.elements:check", no_ties),
    Miniature(
        "MOD-1",
        "time is a double",
        "rsp-rs 0.3.1 to 0.3.3: scope() in f64, by its own note on large timestamps",
        "refengine.model.elements:admit",
        time_is_a_double,
    ),
    Miniature(
        "MOD-4",
        "escapes are letters",
        "refengine 0.1.0, given such terms in Python",
        "refengine.model.terms:canonical",
        escapes_are_letters,
    ),
    Miniature(
        "MOD-4",
        "tags as they are written",
        NOBODY,
        "refengine.model.terms:canonical",
        tags_as_written,
    ),
    Miniature(
        "MOD-4",
        "stated strings differ",
        "RDF 1.0: plain and typed strings are two",
        "refengine.model.terms:canonical",
        stated_strings_differ,
    ),
    Miniature(
        "MOD-4", "any text is a term", NOBODY, "refengine.model.terms:canonical", any_text_is_a_term
    ),
    Miniature(
        "SEM-1",
        "an unknown value becomes the first",
        "RSP-JS 1.3.5: Istream and Dstream parse and behave as Rstream",
        "refengine.core.semantics:parse_field",
        first_value_for_an_unknown_one,
    ),
    Miniature(
        "SEM-1",
        "unknown conditions are dropped",
        NOBODY,
        "refengine.core.semantics:parse_field",
        unknown_conditions_are_dropped,
    ),
    Miniature("SEM-1", "true is 1", NOBODY, "refengine.core.semantics:parse_field", truth_is_one),
    Miniature(
        "SEM-1",
        "unknown fields are ignored",
        NOBODY,
        "refengine.core.semantics:Profile.but",
        unknown_fields_are_ignored,
    ),
    Miniature(
        "SEM-1",
        "what is left out is filled in",
        NOBODY,
        "refengine.core.semantics:Profile.semantics",
        unknown_t0_is_zero,
    ),
    Miniature(
        "SEM-2",
        "idle fields are ignored",
        NOBODY,
        "refengine.core.semantics:contradictions",
        idle_fields_are_ignored,
    ),
    Miniature(
        "SEM-2",
        "period and anchor have defaults",
        NOBODY,
        "refengine.core.semantics:contradictions",
        period_and_anchor_have_defaults,
    ),
    Miniature(
        "SEM-3",
        "an unknown t0 is 0",
        "yasper and RSP-JS: t0 is 0",
        "refengine.core.semantics:Profile.semantics",
        unknown_t0_is_zero,
    ),
    Miniature(
        "SEM-3",
        "one open field is named",
        NOBODY,
        "refengine.core.semantics:Profile.semantics",
        one_open_field_is_named,
    ),
    Miniature(
        "SEM-3",
        "profiles are fixed",
        NOBODY,
        "refengine.core.semantics:Profile.but",
        profiles_are_fixed,
    ),
    Miniature(
        "QRY-1", "unknown keys are ignored", NOBODY, "refengine.core.query:from_table", open_schema
    ),
    Miniature(
        "QRY-1",
        "an unknown kind is time",
        NOBODY,
        "refengine.core.query:from_table",
        unknown_kind_is_time,
    ),
    Miniature(
        "QRY-1",
        "the operator is ignored",
        "RSP-JS 1.3.5: Istream and Dstream parse and behave as Rstream",
        "refengine.core.query:from_table",
        operator_is_ignored,
    ),
    Miniature(
        "QRY-1",
        "no window is needed",
        NOBODY,
        "refengine.core.query:Query.__post_init__",
        no_window_is_needed,
    ),
    Miniature(
        "QRY-4",
        "the last of several windows counts",
        "RSP-JS 1.3.5: a second window over a stream replaces the first",
        "refengine.core.engine:plan",
        last_of_the_windows,
    ),
    Miniature(
        "QRY-4",
        "undeclared streams are empty",
        NOBODY,
        "refengine.core.engine:plan",
        undeclared_streams_are_empty,
    ),
    Miniature(
        "QRY-4",
        "any stream will do",
        "C-SPARQL: of two streams with different windows one's content was used",
        "refengine.core.engine:plan",
        any_stream_will_do,
    ),
    Miniature(
        "WIN-1",
        "any extent",
        "RSP-JS 1.3.5: PT10S becomes NaN in silence",
        "refengine.core.query:extent",
        any_extent,
    ),
    Miniature(
        "WIN-1",
        "hopping is refused",
        "Spark, window(): TimeWindow",
        "refengine.core.query:extent",
        slide_at_most_size,
    ),
    Miniature(
        "WIN-1",
        "a slide defaults to the size",
        NOBODY,
        "refengine.core.query:from_table",
        slide_defaults_to_size,
    ),
    Miniature(
        "WIN-1", "only tumbling windows", NOBODY, "refengine.core.query:extent", only_tumbling
    ),
    Miniature(
        "WIN-2",
        "both borders belong to every window",
        "YABench's code, whose paper says [ts,te); roxi",
        "refengine.core.window:borders",
        both_borders,
    ),
    Miniature(
        "WIN-2",
        "every window is right-open",
        NOBODY,
        "refengine.core.window:borders",
        always_right_open,
    ),
    Miniature(
        "WIN-2",
        "border elements are lost",
        "C-SPARQL's recording of CSRBench Q5, in 4 windows",
        "refengine.core.window:borders",
        neither_border,
    ),
    Miniature(
        "WIN-3",
        "t0 is 0",
        "rsp4j (yasper) and RSP-JS: scope() never adds t0 back",
        "refengine.core.window:frame",
        t0_is_zero,
    ),
    Miniature(
        "WIN-3",
        "the slide is ignored",
        "CQELS's recording of CSRBench Q4, there with a window that slides at every arrival",
        "refengine.core.window:frame",
        slide_is_size,
    ),
    Miniature(
        "WIN-3",
        "there is a window before window 0",
        "RSP-JS: scope() opens windows below t0",
        "refengine.core.window:frame",
        one_window_too_early,
    ),
    Miniature(
        "WIN-4",
        "open for an instant more",
        "CSRBench, section 2; RSP-JS: getContent()",
        "refengine.core.window:active",
        open_until_after_its_close,
        SLOWLY,
    ),
    Miniature(
        "WIN-4",
        "the last of the open is active",
        NOBODY,
        "refengine.core.window:active",
        last_of_the_open,
        SLOWLY,
    ),
    Miniature(
        "WIN-4",
        "the distance has no sign",
        "rsp4j and RSP-JS: abs() in scope()",
        "refengine.core.window:active",
        absolute_distance,
        SLOWLY,
    ),
    Miniature(
        "WIN-4",
        "numbers below zero",
        "RSP-JS: scope() opens windows below t0",
        "refengine.core.window:active",
        numbers_below_zero,
        SLOWLY,
    ),
    Miniature(
        "WIN-5",
        "the whole window is in scope",
        NOBODY,
        "refengine.core.window:scope",
        whole_window,
        SLOWLY,
    ),
    Miniature(
        "WIN-5",
        "the last window that started is in scope",
        NOBODY,
        "refengine.core.window:scope",
        last_window_that_started,
        SLOWLY,
    ),
    Miniature(
        "WIN-5",
        "evaluation starts at the first instant",
        NOBODY,
        "refengine.core.window:start",
        from_the_first_instant,
        SLOWLY,
    ),
    Miniature(
        "WIN-5",
        "evaluation starts a slide early",
        NOBODY,
        "refengine.core.window:start",
        from_a_slide_before,
        SLOWLY,
    ),
    Miniature("WIN-6", "tuples by time", NOBODY, "refengine.core.window:ids", tuples_by_time),
    Miniature("WIN-6", "ids from 0", NOBODY, "refengine.core.window:ids", ids_from_zero),
    Miniature(
        "WIN-6",
        "simultaneous elements share an id",
        NOBODY,
        "refengine.core.window:ids",
        simultaneous_elements_share_an_id,
    ),
    Miniature(
        "WIN-7",
        "a formula of the other closure",
        NOBODY,
        "refengine.core.window:origin",
        flink_over_the_other_closure,
    ),
    Miniature(
        "WIN-7", "floor for ceiling", NOBODY, "refengine.core.window:origin", floor_for_ceiling
    ),
    Miniature(
        "WIN-7", "kafka-streams before 0", NOBODY, "refengine.core.window:origin", kafka_before_zero
    ),
    Miniature(
        "WIN-7",
        "always the first element",
        "C-SPARQL, as its recordings of CSRBench show it",
        "refengine.core.window:origin",
        from_the_first_element,
    ),
    Miniature(
        "WIN-7",
        "time formulas for tuples",
        NOBODY,
        "refengine.core.window:origin",
        time_formulas_for_tuples,
    ),
    Miniature(
        "WIN-7", "0 without elements", NOBODY, "refengine.core.window:origin", zero_without_elements
    ),
    Miniature(
        "WIN-8",
        "the arriving element is in",
        NOBODY,
        "refengine.core.window:content",
        arriving_element_included,
        SLOWLY,
    ),
    Miniature(
        "WIN-8",
        "nothing expires",
        "CQELS's recording of CSRBench Q6: one side of a join is never purged",
        "refengine.core.window:content",
        nothing_expires,
        SLOWLY,
    ),
    Miniature(
        "WIN-9",
        "expiry is not seen",
        "CQELS 1.x: expiry emits nothing",
        "refengine.core.window:until",
        expiry_unseen,
    ),
    Miniature(
        "WIN-9", "entering is not seen", NOBODY, "refengine.core.window:until", entering_unseen
    ),
    Miniature(
        "WIN-9",
        "expiry by age",
        "CQELS's recording of CSRBench Q4: the content is that of [now-ω, now]",
        "refengine.core.window:until",
        expiry_by_age,
    ),
    Miniature(
        "TICK-1",
        "complete instants only",
        "RSP-JS: add() knows the time tick only",
        "refengine.core.tick:due",
        complete_instants_only,
    ),
    Miniature("TICK-2", "every arrival", NOBODY, "refengine.core.tick:due", every_arrival),
    Miniature("TICK-2", "not before", NOBODY, "refengine.core.tick:due", not_before),
    Miniature(
        "TICK-2",
        "the first arrival ticks",
        NOBODY,
        "refengine.core.tick:ticks",
        first_arrival_ticks,
    ),
    Miniature("TICK-3", "every arrival", NOBODY, "refengine.core.tick:due", every_arrival),
    Miniature(
        "TICK-3",
        "complete instants only",
        NOBODY,
        "refengine.core.tick:due",
        complete_instants_only,
    ),
    Miniature(
        "TICK-3", "an element is a batch", NOBODY, "refengine.core.tick:due", an_element_is_a_batch
    ),
    Miniature(
        "TICK-4",
        "the own instant included",
        NOBODY,
        "refengine.core.tick:interval",
        own_instant_included,
    ),
    Miniature(
        "TICK-4",
        "only the instant before",
        "RSP-JS and yasper look at windows only when an element arrives",
        "refengine.core.tick:interval",
        the_instant_before,
    ),
    Miniature(
        "TICK-4",
        "equal instants are skipped",
        NOBODY,
        "refengine.core.tick:interval",
        equal_instants_skipped,
    ),
    Miniature(
        "TICK-5",
        "from the first arrival",
        "C-SPARQL, as its recordings of CSRBench show it",
        "refengine.core.tick:ticks",
        from_the_first_arrival,
    ),
    Miniature(
        "TICK-5",
        "passed over arrivals count",
        NOBODY,
        "refengine.core.tick:ticks",
        passed_over_arrivals_count,
    ),
    Miniature(
        "TICK-5", "after the arrival", NOBODY, "refengine.core.tick:ticks", after_the_arrival
    ),
    Miniature(
        "REP-1",
        "close is strict",
        "yasper and RSP-JS: compute_report() asks c < t",
        "refengine.core.report:closes",
        strict_close,
    ),
    Miniature(
        "REP-1",
        "close at the arrival",
        NOBODY,
        "refengine.core.report:closes",
        close_at_the_arrival,
    ),
    Miniature(
        "REP-1",
        "the latest close only",
        "yasper and RSP-JS: add() reports the window of the largest close",
        "refengine.core.report:closes",
        latest_close_only,
    ),
    Miniature(
        "REP-1",
        "partial windows are reported",
        "C-SPARQL's recording of CSRBench Q5",
        "refengine.core.report:closes",
        partial_windows,
    ),
    Miniature("REP-1", "close by length", NOBODY, "refengine.core.report:closes", close_by_length),
    Miniature(
        "REP-2",
        "expiry is no change",
        "csrbench-oracle, YABench's oracle, CQELS 1.x",
        "refengine.core.report:changed",
        only_new_elements_are_change,
    ),
    Miniature(
        "REP-2", "as many are the same", NOBODY, "refengine.core.report:changed", change_of_number
    ),
    Miniature(
        "REP-2",
        "everything is change",
        NOBODY,
        "refengine.core.report:changed",
        everything_is_change,
        SLOWLY,
    ),
    Miniature(
        "REP-2",
        "the first content is a change even if empty",
        NOBODY,
        "refengine.core.report:changed",
        empty_at_first_is_change,
    ),
    Miniature(
        "REP-3",
        "empty windows pass",
        NOBODY,
        "refengine.core.report:non_empty",
        anything_is_non_empty,
    ),
    Miniature(
        "REP-3",
        "one element is not enough",
        NOBODY,
        "refengine.core.report:non_empty",
        several_elements,
    ),
    Miniature(
        "REP-3",
        "the answer must not be empty",
        NOBODY,
        "refengine.core.r2s:emitted",
        answer_must_hold_something,
    ),
    Miniature(
        "REP-4", "beats at the instant", NOBODY, "refengine.core.report:beats", beats_at_the_instant
    ),
    Miniature(
        "REP-4", "beats a border late", NOBODY, "refengine.core.report:beats", beats_a_border_late
    ),
    Miniature("REP-4", "beats from 0", NOBODY, "refengine.core.report:beats", beats_from_zero),
    Miniature("REP-4", "beats from t0", NOBODY, "refengine.core.report:beats", beats_from_t0),
    Miniature(
        "REP-5",
        "close outdoes periodic",
        NOBODY,
        "refengine.core.report:timely",
        close_outdoes_periodic,
    ),
    Miniature(
        "REP-5",
        "periodic outdoes close",
        NOBODY,
        "refengine.core.report:timely",
        periodic_outdoes_close,
    ),
    Miniature(
        "REP-5",
        "they meet at the larger step",
        NOBODY,
        "refengine.core.report:meet",
        meet_at_the_larger_step,
    ),
    Miniature(
        "REP-6",
        "one condition is enough",
        NOBODY,
        "refengine.core.report:worthy",
        one_condition_is_enough,
    ),
    Miniature(
        "REP-6",
        "empty windows are never reported",
        "RSP-JS 1.3.5; C-SPARQL after a gap in the stream",
        "refengine.core.report:worthy",
        empty_windows_are_never_reported,
    ),
    Miniature(
        "REP-6",
        "a close needs no change",
        NOBODY,
        "refengine.core.report:worthy",
        change_is_not_asked,
        SLOWLY,
    ),
    Miniature(
        "REP-7", "every close of a tick", NOBODY, "refengine.core.engine:latest", every_id_of_a_tick
    ),
    Miniature(
        "REP-7",
        "the first close of a tick",
        NOBODY,
        "refengine.core.engine:instants",
        first_close_of_a_tick,
    ),
    Miniature(
        "REP-7",
        "tested where reported",
        NOBODY,
        "refengine.core.engine:instants",
        tested_where_reported,
    ),
)
