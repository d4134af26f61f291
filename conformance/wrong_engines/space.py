"""Wrong engines for the values of the semantics' dimensions, the kinds of windows and queries of
several windows.

Sources: `RSP-JS` is pbonte/RSP-JS 1.3.5, `yasper` is rsp4j's; where a run is named, it was over
CSRBench's stream.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

from conformance.wrong_engines import Miniature
from conformance.wrong_engines.answers import latest_of_a_gap
from conformance.wrong_engines.windows import SLOWLY
from refengine.core import engine, r2r, report, window
from refengine.core.answers import Recomputed
from refengine.core.engine import Evaluation, Plan, Seen, Step
from refengine.core.engine import evaluate as right_evaluate
from refengine.core.engine import evaluations as right_evaluations
from refengine.core.engine import firing as right_firing
from refengine.core.engine import horizon as right_horizon
from refengine.core.engine import instants as right_instants
from refengine.core.engine import meaning as right_meaning
from refengine.core.engine import merged as right_merged
from refengine.core.engine import output_instant as right_output_instant
from refengine.core.engine import plan as right_plan
from refengine.core.query import COUNTING, POSITIONS, Query, Unit, Window, WindowKind
from refengine.core.query import extent as right_extent
from refengine.core.query import from_table as right_from_table
from refengine.core.r2r import together as right_together
from refengine.core.r2s import AnswerChange
from refengine.core.r2s import emitted as right_emitted
from refengine.core.r2s import rebase as right_rebase
from refengine.core.report import Firing
from refengine.core.report import anchor as right_anchor
from refengine.core.report import beats as right_beats
from refengine.core.report import differs as right_differs
from refengine.core.report import fires as right_fires
from refengine.core.report import of_a_gap as right_of_a_gap
from refengine.core.reports import ReportMaker
from refengine.core.semantics import (
    R2S,
    T0,
    Against,
    Anchor,
    Base,
    Change,
    Closing,
    Closure,
    Collection,
    Condition,
    Disorder,
    Empty,
    End,
    Expiry,
    Gap,
    Instant,
    Partial,
    Semantics,
    Slide,
    Trigger,
)
from refengine.core.semantics import contradictions as right_contradictions
from refengine.core.tick import shifted as right_shifted
from refengine.core.window import Content, Frame, View
from refengine.core.window import borders as right_borders
from refengine.core.window import content as right_content
from refengine.core.window import frame as right_frame
from refengine.core.window import ids as right_ids
from refengine.core.window import key as right_key
from refengine.core.window import least as right_least
from refengine.core.window import partition as right_partition
from refengine.core.window import policy as right_policy
from refengine.core.window import rows as right_rows
from refengine.core.window import scope as right_scope
from refengine.core.window import slide as right_slide
from refengine.model import compare
from refengine.model.elements import TIME_BOUND, Admitted, Bag, Dataset, Element, Relation, Stream
from refengine.model.elements import admit as right_admit
from refengine.model.errors import InvalidSemantics, InvalidStream, InvalidWindow

NOBODY = "none known"
right_step = ReportMaker.step
right_at = Recomputed.at


# §1 Model


def disorder_is_repaired(elements: Iterable[Element], disorder: int | Disorder) -> Admitted:
    """Elements out of order are put in order without a word, where they should be refused."""
    return right_admit(elements, TIME_BOUND if disorder == Disorder.REJECT else disorder)


def late_elements_are_added(elements: Iterable[Element], disorder: int | Disorder) -> Admitted:
    """However late an element is, it is put in its place."""
    return right_admit(elements, disorder if disorder == Disorder.REJECT else TIME_BOUND)


def late_at_the_bound(elements: Iterable[Element], disorder: int | Disorder) -> Admitted:
    """An element that is late by exactly the bound is dropped."""
    return right_admit(elements, disorder if disorder == Disorder.REJECT else disorder - 1)


def late_after_the_one_before(elements: Iterable[Element], disorder: int | Disorder) -> Admitted:
    """How late an element is, is told by the element just before it, not by the greatest time."""
    elements = list(elements)
    if disorder == Disorder.REJECT:
        return right_admit(elements, disorder)
    late = tuple(e for before, e in pairwise(elements) if e.app < before.app - disorder)
    kept = [element for element in elements if element not in late]
    return Admitted(tuple(sorted(kept, key=lambda element: element.app)), late)


def late_elements_stay_where_they_are(
    elements: Iterable[Element], disorder: int | Disorder
) -> Admitted:
    """An element within the bound is taken at the time of the one before it."""
    right, newest, kept = right_admit(elements := list(elements), disorder), -TIME_BOUND, []
    for element in (element for element in elements if element not in right.late):
        newest = max(newest, element.app)
        kept.append(element._replace(app=newest))
    return Admitted(tuple(kept), right.late)


def late_elements_are_not_counted(
    elements: Iterable[Element], disorder: int | Disorder
) -> Admitted:
    """Late elements are dropped, and nobody is told."""
    return right_admit(elements, disorder)._replace(late=())


def late_elements_count_from_the_start(
    elements: Iterable[Element], disorder: int | Disorder
) -> Admitted:
    """Every report carries the number of all late elements of the stream,
    those to come included.
    """
    right = right_admit(elements, disorder)
    return right._replace(late=tuple(element._replace(sys=-TIME_BOUND) for element in right.late))


def ties_are_turned_round(elements: Iterable[Element], disorder: int | Disorder) -> Admitted:
    """Where elements are put in order, the last of simultaneous ones comes first."""
    right = right_admit(elements, disorder)
    if disorder == Disorder.REJECT:
        return right
    return right._replace(
        elements=tuple(sorted(reversed(right.elements), key=lambda element: element.app))
    )


def end_excluded(element: Element) -> tuple[int, int]:
    """The end of an element's validity is the first instant at which it is not valid."""
    return element.app, element.app if element.end in (None, element.app) else element.end - 1


def end_unread(element: Element) -> tuple[int, int]:
    """Every element is a point, whatever its end is."""
    return element.app, element.app


def ends_are_put_in_order(element: Element) -> tuple[int, int]:
    """An element that ends before it begins is valid from the end to the beginning."""
    end = element.app if element.end is None else element.end
    return min(element.app, end), max(element.app, end)


# §2 Semantics


def tolerated(semantics: Semantics, reason: str) -> None:
    """Values are refused, but not for this reason."""
    try:
        right_contradictions(semantics)
    except InvalidSemantics as error:
        if reason not in str(error):
            raise


def offset_is_zero(semantics: Semantics) -> None:
    """t0=epoch has the offset 0 unless it says otherwise."""
    if semantics.t0 == T0.EPOCH and semantics.offset is None:
        object.__setattr__(semantics, "offset", 0)
    right_contradictions(semantics)


def offset_is_idle(semantics: Semantics) -> None:
    """An offset that t0 does not use does no harm."""
    if semantics.t0 != T0.EPOCH:
        object.__setattr__(semantics, "offset", None)
    right_contradictions(semantics)


def base_is_previous(semantics: Semantics) -> None:
    """Istream and Dstream have the base previous unless they say otherwise."""
    if semantics.r2s in (R2S.ISTREAM, R2S.DSTREAM) and semantics.base is None:
        object.__setattr__(semantics, "base", Base.PREVIOUS)
    right_contradictions(semantics)


def base_is_idle(semantics: Semantics) -> None:
    """A base that the operator does not use does no harm."""
    if semantics.r2s not in (R2S.ISTREAM, R2S.DSTREAM):
        object.__setattr__(semantics, "base", None)
    right_contradictions(semantics)


def formulas_over_any_closure(semantics: Semantics) -> None:
    """A formula for t0 over (o, c] is used under every closure."""
    tolerated(semantics, "is a formula over windows")


def gap_is_idle(semantics: Semantics) -> None:
    """gap=latest does no harm where no condition is on the instant."""
    tolerated(semantics, "gap=latest")


def disorder_below_zero(semantics: Semantics) -> None:
    """A bound of disorder below 0 is 0."""
    if isinstance(semantics.disorder, int):
        object.__setattr__(semantics, "disorder", max(0, semantics.disorder))
    right_contradictions(semantics)


def close_needs_a_horizon(semantics: Semantics) -> None:
    """Window close alone is refused where time does not go on after the last arrival."""
    right_contradictions(semantics)
    if semantics.report == {Condition.CLOSE} and semantics.horizon is End.NONE:
        raise InvalidSemantics(
            "window-close alone needs a horizon; write horizon=flush", rule="SEM-2"
        )


# §3 Query


def windows_with(table: Mapping[str, Any], change: Any) -> Mapping[str, Any]:
    """A query's table with every window changed."""
    return {**table, "windows": [change(dict(entry)) for entry in table["windows"]]}


def unknown_units_are_elements(table: Mapping[str, Any]) -> Query:
    """A unit that does not exist is left out."""
    known = list(Unit)
    return right_from_table(
        windows_with(table, lambda w: {k: v for k, v in w.items() if k != "unit" or v in known})
    )


def any_truth_triggers(table: Mapping[str, Any]) -> Query:
    """A window triggers if its key is anything but 0 or empty."""
    return right_from_table(
        windows_with(
            table, lambda w: {**w, "triggers": bool(w["triggers"])} if "triggers" in w else w
        )
    )


def one_key_is_a_list(table: Mapping[str, Any]) -> Query:
    """A text where a list of keys is asked for is the list of it."""
    return right_from_table(
        windows_with(table, lambda w: {**w, "by": [w["by"]]} if isinstance(w.get("by"), str) else w)
    )


def names_are_forgotten(table: Mapping[str, Any]) -> Query:
    """The names of windows are read and forgotten."""
    return right_from_table(
        windows_with(table, lambda w: {k: v for k, v in w.items() if k != "name"})
    )


def any_name_will_do(spec: Window) -> None:
    """The name of a window may be any text."""
    if spec.name is None:
        right_extent(spec)
    else:
        replace(spec, name=None)  # checks the rest


def any_registration(table: Mapping[str, Any]) -> Query:
    """A registration that is no integer is left out."""
    known = {
        k: v
        for k, v in table.items()
        if k != "registered" or (isinstance(v, int) and not isinstance(v, bool))
    }
    return right_from_table(known)


def last_of_a_name(query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> Plan:
    """Of two windows of one name the second replaces the first."""
    later = [
        {spec.name for spec in query.windows[number + 1 :]} for number in range(len(query.windows))
    ]
    kept = tuple(
        s
        for s, names in zip(query.windows, later, strict=True)
        if s.name is None or s.name not in names
    )
    return right_plan(replace(query, windows=kept), streams, semantics)


def meant(query: Query, semantics: Semantics, reason: str) -> None:
    """Query and semantics are refused, but not for this reason."""
    try:
        right_meaning(query, semantics)
    except InvalidSemantics as error:
        if reason not in str(error):
            raise


def any_closure_will_do(query: Query, semantics: Semantics) -> None:
    """A closure that no window has does no harm."""
    meant(query, semantics, "no window has borders")


def no_closure_is_closed(query: Query, semantics: Semantics) -> None:
    """Where no closure is given both borders belong to a window."""
    meant(query, semantics, "windows with borders need a closure")


def closes_that_never_come(query: Query, semantics: Semantics) -> None:
    """Window close may be asked of a window that never ends."""
    meant(query, semantics, "never closes")


def stated_operators_need_no_base(query: Query, semantics: Semantics) -> None:
    """An operator that the query states compares with the previous answer unless the semantics says
    otherwise.
    """
    meant(query, semantics, "which compares with a base")


def tuples_beside_others(query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> Plan:
    """Where a window counts tuples the others are left out."""
    counted = tuple(spec for spec in query.windows if spec.kind is WindowKind.TUPLE)[:1]
    return right_plan(replace(query, windows=counted or query.windows), streams, semantics)


def registered_some_time(query: Query, semantics: Semantics) -> None:
    """A query without a registration is one that never was registered, and answers nothing."""
    meant(query, semantics, "needs the key registered")


def nothing_triggers(query: Query, semantics: Semantics) -> None:
    """Where no window is marked as a trigger, none triggers."""
    meant(query, semantics, "needs a window with triggers")


# §4 Windows


def slides_are_asked_for(spec: Window) -> None:
    """Range and Rows need a slide."""
    right_extent(spec)
    if spec.kind in (WindowKind.RANGE, WindowKind.ROWS) and spec.slide is None:
        raise InvalidWindow(
            "slide must be an integer > 0, got None",
            rule="WIN-1",
            place=f"window on {spec.stream!r}",
        )


def idle_extents_are_ignored(spec: Window) -> None:
    """A size or a slide that the kind does not have does no harm."""
    unsized = spec.kind in (WindowKind.NOW, WindowKind.UNBOUNDED, WindowKind.LANDMARK)
    for name, idle in (("size", unsized), ("slide", unsized or spec.kind is WindowKind.PARTITION)):
        if idle:
            object.__setattr__(spec, name, None)
    right_extent(spec)


def reach_is_the_first_element(
    spec: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """first-reach is the first element's time."""
    return (
        first_app
        if semantics.t0 is T0.REACH
        else right_policy(spec, semantics, first_app, registered)
    )


def first_element_is_its_reach(
    spec: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """Windows start a size before the first element, so that it is in all of which it can be."""
    reach = replace(semantics, t0=T0.REACH) if semantics.t0 is T0.FIRST else semantics
    return right_policy(spec, reach, first_app, registered)


def registered_with_the_first_element(
    spec: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """A query begins with the first element, whenever it was registered."""
    return right_policy(spec, semantics, first_app, first_app)


def epoch_without_offset(
    spec: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """Windows are aligned with the epoch, whatever the offset is."""
    aligned = replace(semantics, offset=0) if semantics.t0 is T0.EPOCH else semantics
    return right_policy(spec, aligned, first_app, registered)


def epoch_of_every_closure(
    spec: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """The first aligned window is the first that closes at the first element or after it, whatever
    the closure.
    """
    if semantics.t0 is not T0.EPOCH or first_app is None:
        return right_policy(spec, semantics, first_app, registered)
    step, offset = spec.step, semantics.offset or 0
    return offset - (offset + (spec.size or 0) - first_app) // step * step


def epoch_at_the_last_start(
    spec: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """The first aligned window is the last that opens at the first element or before it."""
    if semantics.t0 is not T0.EPOCH or first_app is None:
        return right_policy(spec, semantics, first_app, registered)
    step, offset = spec.step, semantics.offset or 0
    return offset + (first_app - offset) // step * step


def epoch_itself(
    spec: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """Aligned windows begin at the offset, however late the first element
    comes, or however early.
    """
    if semantics.t0 is not T0.EPOCH or first_app is None:
        return right_policy(spec, semantics, first_app, registered)
    return semantics.offset


def policies_of_nothing(
    spec: Window, semantics: Semantics, first_app: int | None, registered: int | None
) -> int | None:
    """A stream without elements is one whose first element is at 0."""
    return right_policy(spec, semantics, 0 if first_app is None else first_app, registered)


def partial_windows_are_lost(partial: Partial, size: int, step: int) -> int:
    """There are no partial windows, whatever the semantics says."""
    return 0


def partial_windows_are_there(partial: Partial, size: int, step: int) -> int:
    """There are partial windows, whatever the semantics says."""
    return right_least(Partial.REPORTED, size, step)


def window_that_closes_at_t0(partial: Partial, size: int, step: int) -> int:
    """The window that closes at t0 is partial, too."""
    return 0 if partial is Partial.SUPPRESSED else -(size // step)


def one_partial_window(partial: Partial, size: int, step: int) -> int:
    """Of the partial windows only the last is there."""
    return max(-1, right_least(partial, size, step))


def clipped_is_reported(spec: Window, closure: Closure | None, t0: int, partial: Partial) -> Frame:
    """A partial window holds what came before t0, where it should be clipped."""
    return right_frame(
        spec, closure, t0, Partial.REPORTED if partial is Partial.CLIPPED else partial
    )


def reported_is_clipped(spec: Window, closure: Closure | None, t0: int, partial: Partial) -> Frame:
    """A partial window begins with window 0."""
    return right_frame(
        spec, closure, t0, Partial.CLIPPED if partial is Partial.REPORTED else partial
    )


def from_the_first_partial_window(frame: Frame) -> int:
    """Evaluation starts before the first partial window."""
    return frame.first + frame.least * frame.slide - 1


def latest_that_has_begun(frame: Frame, t: int) -> int | None:
    """CQL's window at t is the latest that has begun."""
    n = (t - frame.first) // frame.slide
    return n if n >= frame.least else None


def shown_before_its_end(frame: Frame, t: int) -> int | None:
    """Until the first window has ended, it is shown already."""
    return max(frame.least, (t - frame.last) // frame.slide)


def range_waits_until_it_is_full(frame: Frame, t: int) -> int | None:
    """No window is shown that opens before t0, whatever is said of partial ones."""
    n = (t - frame.last) // frame.slide
    return n if n >= 0 else None


def range_shows_the_active_window(frame: Frame, t: int) -> tuple[int, int] | None:
    """Range shows the earliest window that has not ended, as SECRET's windows do."""
    return right_scope(
        frame._replace(kind=WindowKind.TIME) if frame.kind is WindowKind.RANGE else frame, t
    )


def range_grows_until_it_slides(frame: Frame, t: int) -> tuple[int, int] | None:
    """What comes between two slides of a Range is in it at once."""
    right = right_scope(frame, t)
    return (right[0], t) if right and frame.kind is WindowKind.RANGE else right


def range_tumbles(spec: Window, choice: Slide) -> Window:
    """A Range without a slide moves by its size."""
    if spec.kind is WindowKind.RANGE and spec.slide is None:
        spec = replace(spec, slide=spec.size)
    return right_slide(spec, choice)


def now_is_what_came_last(view: View, t: int, arrived: int) -> Content:
    """Now holds what came last, until something else comes."""
    at = min(t, view.times[arrived - 1]) if view.spec.kind is WindowKind.NOW and arrived else t
    return right_content(view, at, arrived)


def now_is_two_instants(frame: Frame, t: int) -> tuple[int, int] | None:
    """Now holds the instant before, too."""
    right = right_scope(frame, t)
    return (right[0] - 1, right[1]) if right and frame.kind is WindowKind.NOW else right


def unbounded_begins_with_window_0(frame: Frame, t: int) -> tuple[int, int] | None:
    """An unbounded window begins at t0."""
    right = right_scope(frame, t)
    return (frame.first, t) if right and frame.kind is WindowKind.UNBOUNDED else right


def landmark_holds_everything(frame: Frame, t: int) -> tuple[int, int] | None:
    """A landmark window holds what came before its landmark."""
    right = right_scope(frame, t)
    return (-TIME_BOUND, t) if right and frame.kind is WindowKind.LANDMARK else right


def landmark_is_closed(spec: Window, closure: Closure | None, t0: int, partial: Partial) -> Frame:
    """The landmark belongs to its window under every closure."""
    return right_frame(
        spec, Closure.CLOSED if spec.kind is WindowKind.LANDMARK else closure, t0, partial
    )


def rows_by_time(view: View, arrived: int) -> Content:
    """Rows holds the elements of the latest N instants: those that are simultaneous count once."""
    latest = sorted(set(view.times[:arrived]))[-(view.spec.size or 1) :]
    return (
        range(sum(time < latest[0] for time in view.times[:arrived]), arrived)
        if latest
        else range(0)
    )


def rows_at_every_arrival(view: View, arrived: int) -> Content:
    """Rows is looked up at every arrival, whatever its slide is."""
    return right_rows(replace(view, spec=replace(view.spec, slide=1)), arrived)


def rows_tumble(view: View, arrived: int) -> Content:
    """Rows is looked up at every N-th arrival."""
    return right_rows(replace(view, spec=replace(view.spec, slide=view.spec.size)), arrived)


def rows_when_full(view: View, arrived: int) -> Content:
    """Rows is empty until N elements have come."""
    return (
        right_rows(view, arrived)
        if arrived and view.ids[arrived - 1] >= (view.spec.size or 1)
        else range(0)
    )


def partition_without_keys(view: View, arrived: int) -> Content:
    """A partition holds the latest N elements, whatever their keys."""
    return tuple(range(max(0, arrived - (view.spec.size or 1)), arrived)) or range(0)


def partition_of_one(view: View, arrived: int) -> Content:
    """A partition holds the latest element of each key."""
    return right_partition(replace(view, spec=replace(view.spec, size=1)), arrived)


def partition_by_the_first_key(view: View, arrived: int) -> Content:
    """Of several keys the first alone makes partitions."""
    return right_partition(replace(view, keys=[key[:1] for key in view.keys]), arrived)


def oldest_of_each_key(view: View, arrived: int) -> Content:
    """A partition that is full takes no more."""
    kept: list[int] = []
    for i in range(arrived):
        if sum(view.keys[j] == view.keys[i] for j in kept) < (view.spec.size or 1):
            kept.append(i)
    return tuple(kept) or range(0)


def any_key_is_a_predicate(spec: Window) -> None:
    """What is no position is a predicate, whatever its text."""
    if all(part in POSITIONS for part in spec.by):
        right_extent(spec)
    else:
        replace(spec, by=POSITIONS[:1])  # checks the rest


def those_without_a_key_are_one(spec: Window, element: Element, place: str) -> tuple[str, ...]:
    """Elements that lack the key are a partition of their own."""
    try:
        return right_key(spec, element, place)
    except InvalidStream:
        return ("",)


def triples_are_elements(spec: Window, elements: Sequence[Element]) -> Sequence[int]:
    """Where triples should be counted elements are."""
    return right_ids(replace(spec, unit=Unit.ELEMENTS), elements)


def elements_are_triples(spec: Window, elements: Sequence[Element]) -> Sequence[int]:
    """Where elements should be counted triples are."""
    return right_ids(replace(spec, unit=Unit.TRIPLES) if spec.kind in COUNTING else spec, elements)


def id_of_the_first_triple(spec: Window, elements: Sequence[Element]) -> Sequence[int]:
    """An element enters and leaves with its first triple."""
    right = right_ids(spec, elements)
    if spec.unit is Unit.ELEMENTS:
        return right
    return [last - len(element.graph) + 1 for last, element in zip(right, elements, strict=True)]


def slide_is_honoured(spec: Window, choice: Slide) -> Window:
    """The stated slide counts, also where it should be ignored."""
    return spec


def slide_is_ignored(spec: Window, choice: Slide) -> Window:
    """The stated slide never counts."""
    return right_slide(spec, Slide.IGNORED)


def every_slide_is_ignored(spec: Window, choice: Slide) -> Window:
    """Where the slide is ignored, windows that count elements move with every one."""
    counts = choice is Slide.IGNORED and spec.kind in COUNTING
    return replace(spec, slide=1) if counts else right_slide(spec, choice)


def range_keeps_its_slide(spec: Window, choice: Slide) -> Window:
    """Where the slide is ignored, that of a Range counts."""
    return spec if spec.kind is WindowKind.RANGE else right_slide(spec, choice)


def points_where_they_begin(view: View, first: int, last: int, arrived: int) -> Content:
    """An element is in a window if it begins there."""
    return tuple(i for i in range(arrived) if first <= view.times[i] <= last) or range(0)


def points_where_they_end(view: View, first: int, last: int, arrived: int) -> Content:
    """An element is in a window if it ends there."""
    ends = view.times if view.ends is None else view.ends
    return tuple(i for i in range(arrived) if first <= ends[i] <= last) or range(0)


def wholly_within(view: View, first: int, last: int, arrived: int) -> Content:
    """An element is in a window if all its validity is."""
    ends = view.times if view.ends is None else view.ends
    return tuple(i for i in range(arrived) if first <= view.times[i] and ends[i] <= last) or range(
        0
    )


def rows_expire(view: View, t: int, arrived: int) -> Content:
    """Rows and partitions hold only what is valid at the instant."""
    right = right_content(view, t, arrived)
    if view.ends is None or view.spec.kind not in (WindowKind.ROWS, WindowKind.PARTITION):
        return right
    return tuple(i for i in right if view.times[i] <= t <= view.ends[i]) or range(0)


def anew(at: Evaluation, contents: Iterable[Content]) -> Evaluation:
    """An evaluation over other contents."""
    return at._replace(
        windows=tuple(
            held._replace(content=c) for held, c in zip(at.windows, contents, strict=True)
        )
    )


def looked_up_at_the_trigger(
    planned: Plan, max_reports: int = engine.MAX_REPORTS
) -> Iterator[Evaluation]:
    """The content is looked up at the time of the arrival that shows the report: a sentinel can
    show the next window's.
    """
    for at in right_evaluations(planned, max_reports):
        counts = [counted[at.arrival] for counted in planned.counts]
        now = (
            planned.own[at.arrival]
            if planned.views[0].spec.kind is WindowKind.TUPLE
            else planned.arrivals[at.arrival].app
        )
        yield anew(
            at, (right_content(view, now, n) for view, n in zip(planned.views, counts, strict=True))
        )


# §5 Tick


def closed_when_reached(semantics: Semantics, instant: int) -> int:
    """An arrival at its close closes a window, whatever the semantics says."""
    return instant


def closed_when_passed(semantics: Semantics, instant: int) -> int:
    """A window is closed by an arrival after its close, whatever the semantics says."""
    return instant + right_borders(semantics.closure)[1]


def passed_under_every_closure(semantics: Semantics, instant: int) -> int:
    """Where windows must be passed, arrivals count an instant early under every closure."""
    return instant - 1 if semantics.closing is Closing.PASSED else instant


def expiry_waits_for_the_next(
    expiry: Expiry, interval: range, own: int, frames: Sequence[Frame]
) -> range:
    """What expires at the instant of an arrival is seen with the arrival, whatever the semantics
    says.
    """
    return interval


def expiry_has_a_timer(expiry: Expiry, interval: range, own: int, frames: Sequence[Frame]) -> range:
    """What expires at the instant of an arrival is seen before it, whatever the semantics says."""
    return right_shifted(Expiry.EAGER, interval, own, frames)


def every_arrival_is_expected(
    expiry: Expiry, interval: range, own: int, frames: Sequence[Frame]
) -> range:
    """Where expiry is eager, an arrival's instant is evaluated without it whether or not a scope
    moves.
    """
    return (
        range(interval.start, own + 1)
        if expiry is Expiry.EAGER and interval.stop == own
        else interval
    )


def expiry_instead_of_the_interval(
    expiry: Expiry, interval: range, own: int, frames: Sequence[Frame]
) -> range:
    """Where expiry is eager, what was to be seen before it is not."""
    right = right_shifted(expiry, interval, own, frames)
    return right[-1:] if len(right) > len(interval) else right


# §6 Report


def against_the_last_report(against: Against, reported: Content, before: Content) -> Content:
    """A content is compared with the one last reported, whatever the semantics says."""
    return reported


def against_the_instant_before(against: Against, reported: Content, before: Content) -> Content:
    """A content is compared with the one before it, reported or not,
    whatever the semantics says.
    """
    return before


def against_nothing(against: Against, reported: Content, before: Content) -> Content:
    """A content is compared with the empty one."""
    return range(0)


def elements_differ(change: Change, view: View, a: Content, b: Content) -> bool:
    """Contents differ by their elements, whatever the semantics says."""
    return a != b


def graphs_differ(change: Change, view: View, a: Content, b: Content) -> bool:
    """Contents differ by their graphs, whatever the semantics says."""
    return right_differs(Change.GRAPH, view, a, b)


def graphs_of_one_size(change: Change, view: View, a: Content, b: Content) -> bool:
    """Graphs of as many triples are the same."""
    if change is Change.ELEMENTS:
        return a != b
    return len(report.graph(view, a)) != len(report.graph(view, b))


def growing_graphs_differ(change: Change, view: View, a: Content, b: Content) -> bool:
    """A graph is another only if it has a triple more."""
    return (
        a != b if change is Change.ELEMENTS else not report.graph(view, a) <= report.graph(view, b)
    )


def all_of_a_gap(gap: Gap, firing: Iterable[Firing]) -> Iterable[Firing]:
    """Every window between two arrivals is reported, where only the last is to be."""
    return firing


def latest_of_every_content(gap: Gap, firing: Iterable[Firing]) -> Iterable[Firing]:
    """The latest of a gap is the latest of each content in it, so what another one follows is
    reported as well.
    """
    return (
        firing
        if gap is Gap.ALL
        else (only for each in firing for only in right_of_a_gap(gap, [each]))
    )


def first_of_the_latest_content(gap: Gap, firing: Iterable[Firing]) -> Iterable[Firing]:
    """Of the last content that is reported in a gap the first instant is the latest."""
    return (
        firing if gap is Gap.ALL else [([at[0][:1]], contents) for at, contents in deque(firing, 1)]
    )


def looked_at_before_the_content_is(
    planned: Plan, k: int, interval: range, seen: Seen
) -> Iterator[Firing]:
    """The last instant of a gap at which close or periodic hold is the only one whose content is
    looked at: after a long gap nothing is reported, whatever closed at its beginning.
    """
    semantics, own = planned.semantics, planned.own[k]
    timely = [report.timely(semantics, view, interval, own) for view in planned.views if view.frame]
    last = max((at[-1] for at in timely if at), default=None)
    for at, contents in right_firing(planned, k, interval, seen):
        if semantics.gap is Gap.ALL or any(last in instants for instants in at):
            yield at, contents


def changes_one_by_one(planned: Plan, k: int, interval: range, seen: Seen) -> Iterator[Firing]:
    """In a gap content change is compared with what came before it there, reported or not."""
    own = seen if planned.semantics.gap is Gap.ALL else Seen(seen.reported, seen.before)
    for at, contents in right_firing(planned, k, interval, own):
        yield at, contents
        if own is not seen:
            own.reported = contents
    seen.before = own.before


def window_by_window(planned: Plan, k: int, interval: range, seen: Seen) -> Iterator[Firing]:
    """Each window has a latest instant of its own, and where all windows must be reported these
    must be the same.
    """
    lasts = set()
    for each in range(len(planned.views)):
        one = slice(each, each + 1)
        alone = right_firing(
            replace(planned, views=planned.views[one], counts=planned.counts[one]),
            k,
            interval,
            replace(seen, reported=seen.reported[one], before=seen.before[one]),
        )
        lasts.add(max((instants[-1] for at, _ in alone for instants in at), default=None))
    for found in right_firing(planned, k, interval, seen):
        if (
            planned.semantics.gap is Gap.ALL
            or planned.semantics.trigger is not Trigger.ALL
            or len(lasts) == 1
        ):
            yield found


def t0_is_no_anchor(semantics: Semantics, view: View) -> int | None:
    """A period anchored at t0 counts from 0."""
    return 0 if semantics.anchor is Anchor.T0 else right_anchor(semantics, view)


def first_element_is_no_anchor(semantics: Semantics, view: View) -> int | None:
    """A period anchored at the first element counts from 0."""
    return 0 if semantics.anchor is Anchor.FIRST else right_anchor(semantics, view)


def anchored_at_the_first_window(semantics: Semantics, view: View) -> int | None:
    """A period anchored at the first element counts from t0."""
    return view.t0 if semantics.anchor is Anchor.FIRST else right_anchor(semantics, view)


def anchored_at_the_first_close(semantics: Semantics, view: View) -> int | None:
    """A period anchored at t0 counts from the first window's close."""
    right = right_anchor(semantics, view)
    return (
        right + (view.spec.size or 0)
        if semantics.anchor is Anchor.T0 and right is not None
        else right
    )


def anchored_at_zero_without_elements(semantics: Semantics, view: View) -> int | None:
    """Without elements a period counts from 0."""
    right = right_anchor(semantics, view)
    return 0 if right is None else right


def period_is_the_slide(semantics: Semantics, view: View, span: range) -> range:
    """A periodic report is due at every slide."""
    return right_beats(replace(semantics, period=view.spec.slide or 1), view, span)


def chosen(trigger: Trigger, **others: Trigger) -> Trigger:
    """The trigger, or another in its place."""
    return others.get(trigger.value, trigger)


def any_is_all(trigger: Trigger, views: Sequence[View], at: Sequence[range]) -> list[range]:
    """All windows must be ready, where one is enough."""
    return right_fires(chosen(trigger, any=Trigger.ALL), views, at)


def all_is_any(trigger: Trigger, views: Sequence[View], at: Sequence[range]) -> list[range]:
    """One window that is ready is enough, where all must be."""
    return right_fires(chosen(trigger, all=Trigger.ANY), views, at)


def any_is_leading(trigger: Trigger, views: Sequence[View], at: Sequence[range]) -> list[range]:
    """The first window alone makes a query be evaluated, where any should."""
    return right_fires(chosen(trigger, any=Trigger.LEADING), views, at)


def leading_is_any(trigger: Trigger, views: Sequence[View], at: Sequence[range]) -> list[range]:
    """Any window makes a query be evaluated, where the first alone should."""
    return right_fires(chosen(trigger, leading=Trigger.ANY), views, at)


def leading_is_last(trigger: Trigger, views: Sequence[View], at: Sequence[range]) -> list[range]:
    """The leading window is the last of the query."""
    return right_fires(trigger, views, at[::-1] if trigger is Trigger.LEADING else at)


def explicit_is_any(trigger: Trigger, views: Sequence[View], at: Sequence[range]) -> list[range]:
    """Any window makes a query be evaluated, marked as a trigger or not."""
    return right_fires(chosen(trigger, explicit=Trigger.ANY), views, at)


def explicit_is_all(trigger: Trigger, views: Sequence[View], at: Sequence[range]) -> list[range]:
    """All windows that are marked as triggers must be ready."""
    if trigger is not Trigger.EXPLICIT:
        return right_fires(trigger, views, at)
    marked = [instants for view, instants in zip(views, at, strict=True) if view.spec.triggers]
    return right_fires(Trigger.ALL, views, marked)


def only_what_is_ready(
    planned: Plan, max_reports: int = engine.MAX_REPORTS
) -> Iterator[Evaluation]:
    """A window that neither closes nor has its period at the instant shows nothing."""
    for at in right_evaluations(planned, max_reports):
        span, own = range(at.t, at.t + 1), planned.own[at.arrival]
        ready = [
            view.frame and report.timely(planned.semantics, view, span, own)
            for view in planned.views
        ]
        yield anew(
            at,
            (
                held.content if now else range(0)
                for held, now in zip(at.windows, ready, strict=True)
            ),
        )


def only_what_fires_counts(
    semantics: Semantics,
    view: View,
    content: Content,
    reported: Content,
    before: Content,
    *rest: Any,
) -> range:
    """Under `any`, of the windows of an evaluation only those whose own conditions hold count as
    reported.
    """
    if semantics.trigger is not Trigger.ANY:
        return right_instants(semantics, view, content, reported, before, *rest)
    own = vars(view)  # a view is made anew for every evaluation of a query, and dies with it
    at = right_instants(semantics, view, content, own.get("reported", range(0)), before, *rest)
    if at:
        own["reported"] = content
    return at


def purged_when_it_receives(
    planned: Plan, max_reports: int = engine.MAX_REPORTS
) -> Iterator[Evaluation]:
    """A window is purged only when its own stream brings something: the other side of a join holds
    what has expired.
    """
    for at in right_evaluations(planned, max_reports):
        counts = [counted[at.arrival] for counted in planned.counts]
        times = [
            min(at.t, view.times[n - 1]) if n else at.t
            for view, n in zip(planned.views, counts, strict=True)
        ]
        yield anew(at, map(right_content, planned.views, times, counts))


# §7 R2R


def first_window_alone(
    views: Sequence[View], contents: Sequence[Content], static: Dataset, body: Any = None
) -> Dataset:
    """Of several windows the body reads the content of the first."""
    return right_together(views[:1], contents[:1], static)


def second_window_over_a_stream(
    views: Sequence[View], contents: Sequence[Content], static: Dataset, body: Any = None
) -> Dataset:
    """A second window over a stream replaces the first."""
    last = {view.spec.stream: n for n, view in enumerate(views)}.values()
    return right_together([views[n] for n in last], [contents[n] for n in last], static)


def unnamed(view: View) -> View:
    """The window without its name."""
    return replace(view, spec=replace(view.spec, name=None))


def names_are_merged(
    views: Sequence[View], contents: Sequence[Content], static: Dataset, body: Any = None
) -> Dataset:
    """Windows are merged into the default graph, whatever their names."""
    return right_together([unnamed(view) for view in views], contents, static)


def named_windows_are_in_the_default_graph(
    views: Sequence[View], contents: Sequence[Content], static: Dataset, body: Any = None
) -> Dataset:
    """A named window is a part of the default graph, too."""
    return right_together([*views, *map(unnamed, views)], [*contents, *contents], static)


def static_data_is_left_out(
    views: Sequence[View], contents: Sequence[Content], static: Dataset, body: Any = None
) -> Dataset:
    """A body reads the contents alone, never static data."""
    return right_together(views, contents, frozenset())


def static_graphs_are_merged(
    views: Sequence[View], contents: Sequence[Content], static: Dataset, body: Any = None
) -> Dataset:
    """Static data is a part of the default graph, whatever graph it is in."""
    return right_together(views, contents, frozenset(statement[:3] for statement in static))


def static_data_is_in_every_graph(
    views: Sequence[View], contents: Sequence[Content], static: Dataset, body: Any = None
) -> Dataset:
    """Static triples are a part of every named window."""
    names = [f"<{view.spec.name}>" for view in views if view.spec.name]
    more = {(*statement, name) for statement in static for name in names if len(statement) == 3}
    return right_together(views, contents, static | more)


def labels_are_shared(graph: Dataset, source: str) -> Dataset:
    """A blank node label means one node in all streams and in static data."""
    return graph


def static_data_is_content(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    *,
    static: Dataset = frozenset(),
    **options: Any,
) -> Iterator[engine.Report]:
    """Static triples are sent before the first element, as an element that comes and goes like
    others.
    """
    default = frozenset(statement for statement in static if len(statement) == 3)
    name = query.windows[0].stream
    if default and name in streams and streams[name].elements:
        first, *_ = elements = streams[name].elements
        ahead = first._replace(graph=default, sys=first.sys - 1, end=None)
        streams = {**streams, name: replace(streams[name], elements=(ahead, *elements))}
    return right_evaluate(query, streams, semantics, static=static - default, **options)


def sets_are_bags(collection: Collection, rows: Bag) -> Bag:
    """The answer is a bag, whatever the semantics says."""
    return rows


def bags_are_sets(collection: Collection, rows: Bag) -> Bag:
    """The answer is a set, whatever the semantics says."""
    return compare.representatives(rows)


def sets_of_terms(collection: Collection, rows: Bag) -> Bag:
    """In a set, numbers that are written in another way are other rows."""
    return Bag(set(rows)) if collection is Collection.SET else rows


def sets_after_r2s(maker: ReportMaker, at: Evaluation) -> Step:
    """Sets are made of what R2S gives, not of the answers that it compares."""
    vars(maker.answers)["collection"] = Collection.BAG
    step = right_step(maker, at)
    rows = r2r.collected(maker.planned.semantics.collection, step.relation.rows)
    step.relation = Relation(step.relation.variables, rows)
    return step


# §8 R2S


def append_is_istream(content: Content, before: Content) -> Content:
    """append compares with the previous answer, so a row with a new derivation beside an expired
    one is no news.
    """
    return before


def append_is_rstream(now: Bag, kept: Bag) -> Bag:
    """append gives the whole answer."""
    return now


def append_of_sets(now: Bag, kept: Bag) -> Bag:
    """append gives a row only if nothing that is kept derives it, and gives it once."""
    return Bag(set(now) - set(kept))


def append_of_new_elements(answers: Recomputed, contents: tuple[Content, ...]) -> AnswerChange:
    """append gives the answer over the new elements: rows that join them
    with kept ones are lost.
    """
    held = answers.contents
    change = right_at(answers, contents)
    if not answers.is_append:
        return change
    fresh = tuple(
        tuple(sorted({*now} - {*before})) for now, before in zip(contents, held, strict=True)
    )
    rows = r2r.collected(answers.collection, answers.lookup(fresh, "new").rows)
    return change._replace(came=rows, gone=Bag())


def base_is_always_previous(choice: Base | None, base: Bag, now: Bag) -> Bag:
    """The base moves on with every answer, whatever the semantics says."""
    return now


def base_is_the_last_news(choice: Base | None, base: Bag, now: Bag) -> Bag:
    """The base stays until an answer holds something new, whatever the semantics says."""
    return right_rebase(Base.NEW, base, now)


def base_is_the_last_answer_with_rows(choice: Base | None, base: Bag, now: Bag) -> Bag:
    """Where the base moves on with news, any answer that is not empty is news."""
    return (now or base) if choice is Base.NEW else now


def base_grows(choice: Base | None, base: Bag, now: Bag) -> Bag:
    """Where the base moves on with news, what was in it stays."""
    return base | now if choice is Base.NEW else now


def once_is_never(empty: Empty, output: Bag, last: Bag) -> bool:
    """An empty output is not sent after one that is not empty either."""
    return right_emitted(Empty.SUPPRESS if empty is Empty.ONCE else empty, output, last)


def once_is_always(empty: Empty, output: Bag, last: Bag) -> bool:
    """An empty output is sent after an empty one, too."""
    return right_emitted(Empty.EMIT if empty is Empty.ONCE else empty, output, last)


def once_at_the_start(maker: ReportMaker, at: Evaluation) -> Step:
    """An empty output is sent at the start, where none was before it."""
    step = right_step(maker, at)
    is_first = vars(maker).setdefault("first", at) is at
    step.emitted |= is_first and maker.planned.semantics.empty is Empty.ONCE
    return step


# §9 Evaluation


def flush_by_the_first_window(
    windows: Sequence[Window], elements: Sequence[Element], end: int | End
) -> int | None:
    """flush asks the size of the first window."""
    return right_horizon(windows[:1], elements, end)


def flush_by_the_beginning(
    windows: Sequence[Window], elements: Sequence[Element], end: int | End
) -> int | None:
    """flush asks when the last element begins, not when the last one ends."""
    return right_horizon(windows, [element._replace(end=None) for element in elements], end)


def the_end_is_a_flush(
    windows: Sequence[Window], elements: Sequence[Element], end: int | End
) -> int | None:
    """Where nothing follows the last arrival, what is open is closed."""
    return right_horizon(windows, elements, End.FLUSH if end is End.NONE else end)


def evaluation_is_the_border(
    instant: Instant, semantics: Semantics, at: Evaluation, incoming: Sequence[Element]
) -> int:
    """The evaluation instant is the border instant."""
    return right_output_instant(
        Instant.CLOSE if instant is Instant.EVALUATION else instant, semantics, at, incoming
    )


def trigger_is_the_evaluation(
    instant: Instant, semantics: Semantics, at: Evaluation, incoming: Sequence[Element]
) -> int:
    """The trigger's time is the evaluation instant."""
    return right_output_instant(
        Instant.EVALUATION if instant is Instant.TRIGGER else instant, semantics, at, incoming
    )


Merged = tuple[tuple[Element, ...], dict[str, Sequence[int]]]


def counted(order: Sequence[tuple[str, Element]], names: Iterable[str]) -> Merged:
    """The arrivals in an order, and how many of the first k are of each stream."""
    counts: dict[str, Sequence[int]] = {
        name: [sum(n == name for n, _ in order[:k]) for k in range(len(order) + 1)]
        for name in names
    }
    return tuple(element for _, element in order), counts


def labelled(streams: Mapping[str, Sequence[Element]]) -> list[tuple[str, Element]]:
    """The elements of all streams with their streams' names, stream after stream."""
    return list(
        chain.from_iterable(
            ((name, element) for element in elements) for name, elements in streams.items()
        )
    )


def simultaneous_by_stream(streams: Mapping[str, Sequence[Element]]) -> Merged:
    """Of simultaneous elements those of the first stream come first, whatever their places in the
    arrival order.
    """
    return counted(sorted(labelled(streams), key=lambda arrival: arrival[1].app), streams)


def last_stream_first(streams: Mapping[str, Sequence[Element]]) -> Merged:
    """Of simultaneous elements with one place those of the last stream come first."""
    turned = labelled(dict(reversed(list(streams.items()))))
    return counted(sorted(turned, key=lambda arrival: (arrival[1].app, arrival[1].sys)), streams)


def arrival_order_alone(streams: Mapping[str, Sequence[Element]]) -> Merged:
    """The arrivals of all streams are in the order of their places, so that time can go back from
    one to the next.
    """
    order = sorted(labelled(streams), key=lambda arrival: (arrival[1].sys, arrival[1].app))
    return counted(order, streams)


def simultaneous_at_once(streams: Mapping[str, Sequence[Element]]) -> Merged:
    """An arrival of one stream shows what is simultaneous in the others, arrived or not."""
    arrivals, counts = right_merged(streams)

    def shown(name: str, taken: Sequence[int], k: int) -> int:
        if k == len(arrivals) or taken[k + 1] > taken[k]:
            return taken[k]
        return max(taken[k], sum(element.app <= arrivals[k].app for element in streams[name]))

    return arrivals, {
        name: [shown(name, taken, k) for k in range(len(taken))] for name, taken in counts.items()
    }


def ready_without_a_scope(
    semantics: Semantics,
    view: View,
    content: Content,
    reported: Content,
    before: Content,
    span: range,
    *rest: Any,
) -> range:
    """A window that has no scope yet does not keep the others from being reported."""
    if view.frame is None or window.scope(view.frame, span[-1]) is None:
        return span
    return right_instants(semantics, view, content, reported, before, span, *rest)


MINIATURES = (
    Miniature(
        "MOD-2",
        "disorder is repaired",
        "C-SPARQL accepts late elements",
        "refengine.model.elements:admit",
        disorder_is_repaired,
    ),
    Miniature(
        "MOD-2",
        "late elements are added",
        "RSP-JS 1.3.5: late elements are logged and added if their window is open",
        "refengine.model.elements:admit",
        late_elements_are_added,
    ),
    Miniature(
        "MOD-2", "late at the bound", NOBODY, "refengine.model.elements:admit", late_at_the_bound
    ),
    Miniature(
        "MOD-2",
        "late after the one before",
        NOBODY,
        "refengine.model.elements:admit",
        late_after_the_one_before,
    ),
    Miniature(
        "MOD-2",
        "late elements stay where they are",
        NOBODY,
        "refengine.model.elements:admit",
        late_elements_stay_where_they_are,
    ),
    Miniature(
        "MOD-2",
        "late elements are not counted",
        NOBODY,
        "refengine.model.elements:admit",
        late_elements_are_not_counted,
    ),
    Miniature(
        "MOD-2",
        "late elements count from the start",
        NOBODY,
        "refengine.model.elements:admit",
        late_elements_count_from_the_start,
    ),
    Miniature(
        "MOD-2",
        "ties are turned round",
        NOBODY,
        "refengine.model.elements:admit",
        ties_are_turned_round,
    ),
    Miniature(
        "MOD-3", "the end is excluded", NOBODY, "refengine.model.elements:valid", end_excluded
    ),
    Miniature(
        "MOD-3",
        "the end is not read",
        "RSP-JS, yasper, C-SPARQL and CQELS: elements have one time",
        "refengine.model.elements:valid",
        end_unread,
    ),
    Miniature(
        "MOD-3",
        "ends are put in order",
        NOBODY,
        "refengine.model.elements:valid",
        ends_are_put_in_order,
    ),
    Miniature(
        "SEM-2", "an offset is 0", NOBODY, "refengine.core.semantics:contradictions", offset_is_zero
    ),
    Miniature(
        "SEM-2", "an idle offset", NOBODY, "refengine.core.semantics:contradictions", offset_is_idle
    ),
    Miniature(
        "SEM-2",
        "a base is previous",
        NOBODY,
        "refengine.core.semantics:contradictions",
        base_is_previous,
    ),
    Miniature(
        "SEM-2", "an idle base", NOBODY, "refengine.core.semantics:contradictions", base_is_idle
    ),
    Miniature(
        "SEM-2",
        "formulas over any closure",
        NOBODY,
        "refengine.core.semantics:contradictions",
        formulas_over_any_closure,
    ),
    Miniature(
        "SEM-2", "an idle gap", NOBODY, "refengine.core.semantics:contradictions", gap_is_idle
    ),
    Miniature(
        "SEM-2",
        "disorder below 0 is 0",
        NOBODY,
        "refengine.core.semantics:contradictions",
        disorder_below_zero,
    ),
    Miniature(
        "SEM-2",
        "close needs a horizon",
        NOBODY,
        "refengine.core.semantics:contradictions",
        close_needs_a_horizon,
    ),
    Miniature(
        "QRY-1",
        "an unknown unit is elements",
        NOBODY,
        "refengine.core.query:from_table",
        unknown_units_are_elements,
    ),
    Miniature(
        "QRY-1", "any truth triggers", NOBODY, "refengine.core.query:from_table", any_truth_triggers
    ),
    Miniature(
        "QRY-1", "one key is a list", NOBODY, "refengine.core.query:from_table", one_key_is_a_list
    ),
    Miniature(
        "QRY-1",
        "names are forgotten",
        NOBODY,
        "refengine.core.query:from_table",
        names_are_forgotten,
    ),
    Miniature("QRY-1", "any name will do", NOBODY, "refengine.core.query:extent", any_name_will_do),
    Miniature(
        "QRY-1", "any registration", NOBODY, "refengine.core.query:from_table", any_registration
    ),
    Miniature(
        "QRY-4", "the last window of a name", NOBODY, "refengine.core.engine:plan", last_of_a_name
    ),
    Miniature(
        "QRY-5", "any closure will do", NOBODY, "refengine.core.engine:meaning", any_closure_will_do
    ),
    Miniature(
        "QRY-5",
        "no closure is closed",
        NOBODY,
        "refengine.core.engine:meaning",
        no_closure_is_closed,
    ),
    Miniature(
        "QRY-5",
        "closes that never come",
        NOBODY,
        "refengine.core.engine:meaning",
        closes_that_never_come,
    ),
    Miniature(
        "QRY-5",
        "stated operators need no base",
        NOBODY,
        "refengine.core.engine:meaning",
        stated_operators_need_no_base,
    ),
    Miniature(
        "QRY-5", "tuples beside others", NOBODY, "refengine.core.engine:plan", tuples_beside_others
    ),
    Miniature(
        "QRY-5",
        "registered some time",
        NOBODY,
        "refengine.core.engine:meaning",
        registered_some_time,
    ),
    Miniature(
        "QRY-5", "nothing triggers", NOBODY, "refengine.core.engine:meaning", nothing_triggers
    ),
    Miniature(
        "WIN-1",
        "slides are asked for",
        "RSP-JS 1.3.5: STEP is required",
        "refengine.core.query:extent",
        slides_are_asked_for,
    ),
    Miniature(
        "WIN-1",
        "idle sizes are ignored",
        NOBODY,
        "refengine.core.query:extent",
        idle_extents_are_ignored,
    ),
    Miniature(
        "WIN-10",
        "the reach is the first element",
        NOBODY,
        "refengine.core.window:policy",
        reach_is_the_first_element,
    ),
    Miniature(
        "WIN-10",
        "the first element is its reach",
        NOBODY,
        "refengine.core.window:policy",
        first_element_is_its_reach,
    ),
    Miniature(
        "WIN-10",
        "registered with the first element",
        NOBODY,
        "refengine.core.window:policy",
        registered_with_the_first_element,
    ),
    Miniature(
        "WIN-10",
        "the epoch without offset",
        NOBODY,
        "refengine.core.window:policy",
        epoch_without_offset,
    ),
    Miniature(
        "WIN-10",
        "the epoch of every closure",
        NOBODY,
        "refengine.core.window:policy",
        epoch_of_every_closure,
    ),
    Miniature(
        "WIN-10",
        "the epoch at the last start",
        NOBODY,
        "refengine.core.window:policy",
        epoch_at_the_last_start,
    ),
    Miniature(
        "WIN-10",
        "the epoch itself",
        "yasper and RSP-JS: t0 is 0",
        "refengine.core.window:policy",
        epoch_itself,
    ),
    Miniature(
        "WIN-10", "policies of nothing", NOBODY, "refengine.core.window:policy", policies_of_nothing
    ),
    Miniature(
        "WIN-11",
        "partial windows are lost",
        NOBODY,
        "refengine.core.window:least",
        partial_windows_are_lost,
    ),
    Miniature(
        "WIN-11",
        "partial windows are there",
        "C-SPARQL's recording of CSRBench Q5",
        "refengine.core.window:least",
        partial_windows_are_there,
    ),
    Miniature(
        "WIN-11",
        "the window that closes at t0",
        NOBODY,
        "refengine.core.window:least",
        window_that_closes_at_t0,
    ),
    Miniature(
        "WIN-11", "one partial window", NOBODY, "refengine.core.window:least", one_partial_window
    ),
    Miniature(
        "WIN-11", "clipped is reported", NOBODY, "refengine.core.window:frame", clipped_is_reported
    ),
    Miniature(
        "WIN-11", "reported is clipped", NOBODY, "refengine.core.window:frame", reported_is_clipped
    ),
    Miniature(
        "WIN-11",
        "from the first partial window",
        NOBODY,
        "refengine.core.window:start",
        from_the_first_partial_window,
        SLOWLY,
    ),
    Miniature(
        "WIN-12",
        "the latest that has begun",
        NOBODY,
        "refengine.core.window:current",
        latest_that_has_begun,
        SLOWLY,
    ),
    Miniature(
        "WIN-12",
        "shown before its end",
        NOBODY,
        "refengine.core.window:current",
        shown_before_its_end,
        SLOWLY,
    ),
    Miniature(
        "WIN-12",
        "Range shows the active window",
        NOBODY,
        "refengine.core.window:scope",
        range_shows_the_active_window,
        SLOWLY,
    ),
    Miniature(
        "WIN-12",
        "Range waits until it is full",
        NOBODY,
        "refengine.core.window:current",
        range_waits_until_it_is_full,
        SLOWLY,
    ),
    Miniature(
        "WIN-12",
        "Range grows until it slides",
        NOBODY,
        "refengine.core.window:scope",
        range_grows_until_it_slides,
        SLOWLY,
    ),
    Miniature("WIN-12", "Range tumbles", NOBODY, "refengine.core.window:slide", range_tumbles),
    Miniature(
        "WIN-12",
        "Now is what came last",
        NOBODY,
        "refengine.core.window:content",
        now_is_what_came_last,
        SLOWLY,
    ),
    Miniature(
        "WIN-12",
        "Now is two instants",
        NOBODY,
        "refengine.core.window:scope",
        now_is_two_instants,
        SLOWLY,
    ),
    Miniature(
        "WIN-13",
        "unbounded begins with window 0",
        NOBODY,
        "refengine.core.window:scope",
        unbounded_begins_with_window_0,
        SLOWLY,
    ),
    Miniature(
        "WIN-13",
        "landmark holds everything",
        NOBODY,
        "refengine.core.window:scope",
        landmark_holds_everything,
        SLOWLY,
    ),
    Miniature(
        "WIN-13",
        "the landmark is closed",
        NOBODY,
        "refengine.core.window:frame",
        landmark_is_closed,
    ),
    Miniature("WIN-14", "rows by time", NOBODY, "refengine.core.window:rows", rows_by_time),
    Miniature(
        "WIN-14",
        "rows at every arrival",
        NOBODY,
        "refengine.core.window:rows",
        rows_at_every_arrival,
    ),
    Miniature("WIN-14", "rows tumble", NOBODY, "refengine.core.window:rows", rows_tumble),
    Miniature("WIN-14", "rows when full", NOBODY, "refengine.core.window:rows", rows_when_full),
    Miniature(
        "WIN-15",
        "a partition without keys",
        NOBODY,
        "refengine.core.window:partition",
        partition_without_keys,
    ),
    Miniature(
        "WIN-15", "a partition of one", NOBODY, "refengine.core.window:partition", partition_of_one
    ),
    Miniature(
        "WIN-15",
        "a partition by the first key",
        NOBODY,
        "refengine.core.window:partition",
        partition_by_the_first_key,
    ),
    Miniature(
        "WIN-15",
        "the oldest of each key",
        NOBODY,
        "refengine.core.window:partition",
        oldest_of_each_key,
    ),
    Miniature(
        "WIN-15",
        "any key is a predicate",
        NOBODY,
        "refengine.core.query:extent",
        any_key_is_a_predicate,
    ),
    Miniature(
        "WIN-15",
        "those without a key are one",
        NOBODY,
        "refengine.core.window:key",
        those_without_a_key_are_one,
    ),
    Miniature(
        "WIN-16", "triples are elements", NOBODY, "refengine.core.window:ids", triples_are_elements
    ),
    Miniature(
        "WIN-16",
        "elements are triples",
        "C-SPARQL and CQELS: an element is a triple",
        "refengine.core.window:ids",
        elements_are_triples,
    ),
    Miniature(
        "WIN-16",
        "the id of the first triple",
        NOBODY,
        "refengine.core.window:ids",
        id_of_the_first_triple,
    ),
    Miniature(
        "WIN-17", "the slide is honoured", NOBODY, "refengine.core.window:slide", slide_is_honoured
    ),
    Miniature(
        "WIN-17",
        "the slide is ignored",
        "CQELS's recording of CSRBench Q4",
        "refengine.core.window:slide",
        slide_is_ignored,
    ),
    Miniature(
        "WIN-17",
        "every slide is ignored",
        NOBODY,
        "refengine.core.window:slide",
        every_slide_is_ignored,
    ),
    Miniature(
        "WIN-17",
        "Range keeps its slide",
        NOBODY,
        "refengine.core.window:slide",
        range_keeps_its_slide,
    ),
    Miniature(
        "WIN-18",
        "points where they begin",
        NOBODY,
        "refengine.core.window:overlapping",
        points_where_they_begin,
        SLOWLY,
    ),
    Miniature(
        "WIN-18",
        "points where they end",
        NOBODY,
        "refengine.core.window:overlapping",
        points_where_they_end,
        SLOWLY,
    ),
    Miniature(
        "WIN-18",
        "wholly within",
        NOBODY,
        "refengine.core.window:overlapping",
        wholly_within,
        SLOWLY,
    ),
    Miniature(
        "WIN-18", "rows expire", NOBODY, "refengine.core.window:content", rows_expire, SLOWLY
    ),
    Miniature(
        "WIN-8",
        "looked up at the trigger",
        "yasper: the content is looked up at the trigger's time",
        "refengine.core.engine:evaluations",
        looked_up_at_the_trigger,
    ),
    Miniature(
        "TICK-6", "closed when reached", NOBODY, "refengine.core.tick:own", closed_when_reached
    ),
    Miniature(
        "TICK-6",
        "closed when passed",
        "yasper and RSP-JS: compute_report() asks c < t",
        "refengine.core.tick:own",
        closed_when_passed,
    ),
    Miniature(
        "TICK-6",
        "passed under every closure",
        NOBODY,
        "refengine.core.tick:own",
        passed_under_every_closure,
    ),
    Miniature(
        "TICK-7",
        "expiry waits for the next",
        NOBODY,
        "refengine.core.tick:shifted",
        expiry_waits_for_the_next,
    ),
    Miniature(
        "TICK-7",
        "expiry has a timer",
        "Esper posts expiry by a timer of its own",
        "refengine.core.tick:shifted",
        expiry_has_a_timer,
    ),
    Miniature(
        "TICK-7",
        "every arrival is expected",
        NOBODY,
        "refengine.core.tick:shifted",
        every_arrival_is_expected,
    ),
    Miniature(
        "TICK-7",
        "expiry instead of the interval",
        NOBODY,
        "refengine.core.tick:shifted",
        expiry_instead_of_the_interval,
    ),
    Miniature(
        "REP-8",
        "against the last report",
        NOBODY,
        "refengine.core.report:base",
        against_the_last_report,
    ),
    Miniature(
        "REP-8",
        "against the instant before",
        NOBODY,
        "refengine.core.report:base",
        against_the_instant_before,
    ),
    Miniature("REP-8", "against nothing", NOBODY, "refengine.core.report:base", against_nothing),
    Miniature("REP-9", "elements differ", NOBODY, "refengine.core.report:differs", elements_differ),
    Miniature("REP-9", "graphs differ", NOBODY, "refengine.core.report:differs", graphs_differ),
    Miniature(
        "REP-9", "graphs of one size", NOBODY, "refengine.core.report:differs", graphs_of_one_size
    ),
    Miniature(
        "REP-9",
        "growing graphs differ",
        "csrbench-oracle, YABench's oracle, CQELS 1.x: expiry is no change",
        "refengine.core.report:differs",
        growing_graphs_differ,
    ),
    Miniature("REP-10", "all of a gap", NOBODY, "refengine.core.report:of_a_gap", all_of_a_gap),
    Miniature(
        "REP-10",
        "the latest of every gap",
        "yasper and RSP-JS 1.3.5: of several windows that close the latest is reported",
        "refengine.core.report:of_a_gap",
        latest_of_a_gap,
    ),
    Miniature(
        "REP-10",
        "the latest of every content",
        NOBODY,
        "refengine.core.report:of_a_gap",
        latest_of_every_content,
    ),
    Miniature(
        "REP-10",
        "the first of the latest content",
        NOBODY,
        "refengine.core.report:of_a_gap",
        first_of_the_latest_content,
    ),
    Miniature(
        "REP-10",
        "looked at before the content is",
        NOBODY,
        "refengine.core.engine:firing",
        looked_at_before_the_content_is,
    ),
    Miniature(
        "REP-10", "changes one by one", NOBODY, "refengine.core.engine:firing", changes_one_by_one
    ),
    Miniature(
        "REP-10", "window by window", NOBODY, "refengine.core.engine:firing", window_by_window
    ),
    Miniature("REP-11", "t0 is no anchor", NOBODY, "refengine.core.report:anchor", t0_is_no_anchor),
    Miniature(
        "REP-11",
        "the first element is no anchor",
        NOBODY,
        "refengine.core.report:anchor",
        first_element_is_no_anchor,
    ),
    Miniature(
        "REP-11",
        "anchored at the first window",
        NOBODY,
        "refengine.core.report:anchor",
        anchored_at_the_first_window,
    ),
    Miniature(
        "REP-11",
        "anchored at the first close",
        NOBODY,
        "refengine.core.report:anchor",
        anchored_at_the_first_close,
    ),
    Miniature(
        "REP-11",
        "anchored at 0 without elements",
        NOBODY,
        "refengine.core.report:anchor",
        anchored_at_zero_without_elements,
    ),
    Miniature(
        "REP-4",
        "the period is the slide",
        NOBODY,
        "refengine.core.report:beats",
        period_is_the_slide,
    ),
    Miniature("REP-12", "any is all", NOBODY, "refengine.core.report:fires", any_is_all),
    Miniature("REP-12", "all is any", NOBODY, "refengine.core.report:fires", all_is_any),
    Miniature("REP-12", "any is leading", NOBODY, "refengine.core.report:fires", any_is_leading),
    Miniature("REP-12", "leading is any", NOBODY, "refengine.core.report:fires", leading_is_any),
    Miniature("REP-12", "leading is last", NOBODY, "refengine.core.report:fires", leading_is_last),
    Miniature("REP-12", "explicit is any", NOBODY, "refengine.core.report:fires", explicit_is_any),
    Miniature("REP-12", "explicit is all", NOBODY, "refengine.core.report:fires", explicit_is_all),
    Miniature(
        "REP-12",
        "only what fires counts",
        NOBODY,
        "refengine.core.engine:instants",
        only_what_fires_counts,
    ),
    Miniature(
        "REP-12",
        "only what is ready",
        NOBODY,
        "refengine.core.engine:evaluations",
        only_what_is_ready,
    ),
    Miniature(
        "REP-12",
        "purged when it receives",
        "CQELS's recording of CSRBench Q6: only the buffer that just received data is purged",
        "refengine.core.engine:evaluations",
        purged_when_it_receives,
    ),
    Miniature(
        "R2R-1",
        "the first window alone",
        "C-SPARQL: two streams with different windows gave one window's content",
        "refengine.core.r2r:together",
        first_window_alone,
    ),
    Miniature(
        "R2R-1",
        "the second window over a stream",
        "RSP-JS 1.3.5: a second window over a stream replaces the first",
        "refengine.core.r2r:together",
        second_window_over_a_stream,
    ),
    Miniature(
        "R2R-8",
        "names are merged",
        "C-SPARQL merges its windows; its windows have no names",
        "refengine.core.r2r:together",
        names_are_merged,
    ),
    Miniature(
        "R2R-8",
        "named windows are in the default graph",
        NOBODY,
        "refengine.core.r2r:together",
        named_windows_are_in_the_default_graph,
    ),
    Miniature(
        "R2R-8",
        "static data is left out",
        NOBODY,
        "refengine.core.r2r:together",
        static_data_is_left_out,
    ),
    Miniature(
        "R2R-8",
        "static graphs are merged",
        NOBODY,
        "refengine.core.r2r:together",
        static_graphs_are_merged,
    ),
    Miniature(
        "R2R-8",
        "static data is in every graph",
        NOBODY,
        "refengine.core.r2r:together",
        static_data_is_in_every_graph,
    ),
    Miniature("R2R-8", "labels are shared", NOBODY, "refengine.core.r2r:scoped", labels_are_shared),
    Miniature(
        "R2R-8",
        "static data is content",
        NOBODY,
        "refengine.core.engine:evaluate",
        static_data_is_content,
    ),
    Miniature("R2R-9", "sets are bags", NOBODY, "refengine.core.r2r:collected", sets_are_bags),
    Miniature(
        "R2R-9",
        "bags are sets",
        "yasper and csrbench-oracle compare sets",
        "refengine.core.r2r:collected",
        bags_are_sets,
    ),
    Miniature("R2R-9", "sets of terms", NOBODY, "refengine.core.r2r:collected", sets_of_terms),
    Miniature(
        "R2R-9", "sets after R2S", NOBODY, "refengine.core.reports:ReportMaker.step", sets_after_r2s
    ),
    Miniature(
        "R2S-7", "append is Istream", NOBODY, "refengine.core.engine:kept", append_is_istream
    ),
    Miniature("R2S-7", "append is Rstream", NOBODY, "refengine.core.r2s:append", append_is_rstream),
    Miniature("R2S-7", "append of sets", NOBODY, "refengine.core.r2s:append", append_of_sets),
    Miniature(
        "R2S-7",
        "append of new elements",
        NOBODY,
        "refengine.core.answers:Recomputed.at",
        append_of_new_elements,
    ),
    Miniature(
        "R2S-8",
        "the base is always previous",
        NOBODY,
        "refengine.core.r2s:rebase",
        base_is_always_previous,
    ),
    Miniature(
        "R2S-8",
        "the base is the last news",
        "YABench's oracle",
        "refengine.core.r2s:rebase",
        base_is_the_last_news,
    ),
    Miniature(
        "R2S-8",
        "the base is the last answer with rows",
        NOBODY,
        "refengine.core.r2s:rebase",
        base_is_the_last_answer_with_rows,
    ),
    Miniature("R2S-8", "the base grows", NOBODY, "refengine.core.r2s:rebase", base_grows),
    Miniature("R2S-9", "once is never", NOBODY, "refengine.core.r2s:emitted", once_is_never),
    Miniature("R2S-9", "once is always", NOBODY, "refengine.core.r2s:emitted", once_is_always),
    Miniature(
        "R2S-9",
        "once at the start",
        NOBODY,
        "refengine.core.reports:ReportMaker.step",
        once_at_the_start,
    ),
    Miniature(
        "ENG-1",
        "flush by the first window",
        NOBODY,
        "refengine.core.engine:horizon",
        flush_by_the_first_window,
    ),
    Miniature(
        "ENG-1",
        "flush by the beginning",
        NOBODY,
        "refengine.core.engine:horizon",
        flush_by_the_beginning,
    ),
    Miniature(
        "ENG-1",
        "the end is a flush",
        "Flink and Beam: a bounded source ends with the greatest watermark",
        "refengine.core.engine:horizon",
        the_end_is_a_flush,
    ),
    Miniature(
        "ENG-4",
        "the evaluation is the border",
        NOBODY,
        "refengine.core.engine:output_instant",
        evaluation_is_the_border,
    ),
    Miniature(
        "ENG-4",
        "the trigger is the evaluation",
        NOBODY,
        "refengine.core.engine:output_instant",
        trigger_is_the_evaluation,
    ),
    Miniature(
        "ENG-5",
        "simultaneous by stream",
        NOBODY,
        "refengine.core.engine:merged",
        simultaneous_by_stream,
    ),
    Miniature(
        "ENG-5", "the last stream first", NOBODY, "refengine.core.engine:merged", last_stream_first
    ),
    Miniature(
        "ENG-5",
        "the arrival order alone",
        NOBODY,
        "refengine.core.engine:merged",
        arrival_order_alone,
    ),
    Miniature(
        "ENG-5",
        "simultaneous at once",
        NOBODY,
        "refengine.core.engine:merged",
        simultaneous_at_once,
    ),
    Miniature(
        "ENG-5",
        "ready without a scope",
        NOBODY,
        "refengine.core.engine:instants",
        ready_without_a_scope,
    ),
)
