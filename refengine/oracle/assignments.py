"""§11 The assignments that are tried: the complete semantics of a profile, each with a value of t0
(ORA-2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import lcm
from typing import NamedTuple

from refengine.core import engine, tick, window
from refengine.core.query import Query, WindowKind
from refengine.core.question import Question, Setting
from refengine.core.semantics import (
    POLICIES,
    T0,
    UNKNOWN,
    Anchor,
    Between,
    ChangeBaseline,
    Closure,
    Condition,
    Partial,
    Profile,
    Semantics,
    Tick,
)
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidSemantics, InvalidStream, Unsupported, require
from refengine.oracle.comparison import Borders
from refengine.oracle.trial import T0Class

T0_CLASS_BOUND = 50_000  # classes of t0 that are tried; where there are none, single values

MakePlan = Callable[[Setting], engine.Plan]


class T0Candidates(NamedTuple):
    """The values of t0 that are tried where t0 is open: all from `lo` to `hi`, and `others` outside
    of that range.
    """

    lo: int
    hi: int
    others: tuple[int | T0, ...] = ()

    def __str__(self) -> str:
        others = "".join(f", {t0}" for t0 in self.others)
        return f"from {self.lo} to {self.hi}{others}"


def assignments(
    question: Question,
    profile: Profile,
    plan: MakePlan,
    stated_window: tuple[Borders, Closure | None] | None = None,
) -> Iterator[tuple[Semantics, T0Class]]:
    """Yield every complete semantics that a profile allows, with the class of t0 values for which
    its t0 stands.

    A semantics that contradicts the query or the stream is left out. If all do, the first
    InvalidSemantics or InvalidStream is raised. `plan` is `engine.plan`, or a function that gives
    the same plans. A value of t0 beyond 64 bits is left out, too
    (`refuse_t0_beyond_64_bits`).

    `stated_window` is a window that the engine states: its borders, and which of them belong to it
    (None: as in the semantics). With it, only values of t0 are tried with which some window begins
    there (ORA-11).
    """
    t0 = profile.fields.get("t0", UNKNOWN)
    for planned in plans(question, profile, plan):
        if is_range(t0):
            yield from _with_each_t0(question, planned, t0, plan, stated_window)
        else:
            yield from _with_integer_t0(planned.semantics, planned)


def plans(question: Question, profile: Profile, plan: MakePlan) -> Iterator[engine.Plan]:
    """Yield the plan of each semantics that a profile allows. Where t0 is open over a range, 0
    stands for it.

    A semantics that contradicts the query or the stream is left out. If all do, the first
    InvalidSemantics or InvalidStream is raised.
    """
    contradiction: InvalidSemantics | InvalidStream | None = None
    has_meaning = False
    # The 0 stands for an open t0 until its values are known; they depend on the other fields.
    for fields in profile.assignments((0,)):
        try:
            planned = plan(question.under(Semantics(**fields)))
            _check_batches(planned)
        except (InvalidSemantics, InvalidStream) as error:
            contradiction = contradiction or error
            continue

        has_meaning = True
        yield planned

    if contradiction is not None and not has_meaning:
        raise contradiction


def _with_each_t0(
    question: Question,
    planned: engine.Plan,
    t0: object,
    plan: MakePlan,
    stated_window: tuple[Borders, Closure | None] | None,
) -> Iterator[tuple[Semantics, T0Class]]:
    """Yield a plan's semantics with one value of each class of an open t0, and the class."""
    candidates = find_t0_candidates(question.query, planned, t0)
    is_window_stated = stated_window is not None
    classes: list[T0Class] = []
    if candidates.lo <= candidates.hi:  # else the whole range is beyond 64 bits
        classes = split_into_t0_classes(planned, candidates, is_window_stated)
    for t0_class in classes:
        narrowed: T0Class | None = t0_class
        if stated_window is not None:
            narrowed = fit_to_stated_window(planned, t0_class, stated_window)
        if narrowed is not None:
            yield replace(planned.semantics, t0=narrowed.t0), narrowed

    for other in candidates.others:
        semantics = replace(planned.semantics, t0=other)
        planned_other = plan(question.under(semantics))
        own_t0 = planned_other.views[0].t0  # by a policy each of several windows has its own
        if stated_window is not None and own_t0 is not None:
            own_class = T0Class(own_t0, own_t0, own_t0)
            if fit_to_stated_window(planned_other, own_class, stated_window) is None:
                continue
        yield from _with_integer_t0(semantics, planned_other)


def _check_batches(planned: engine.Plan) -> None:
    """Raise InvalidSemantics if the batch tick meets an element without a batch id (TICK-3)."""
    if planned.semantics.tick is not Tick.BATCH:
        return
    for arrival in planned.arrivals:
        tick.batch_id(arrival)


def _with_integer_t0(
    semantics: Semantics, planned: engine.Plan
) -> Iterator[tuple[Semantics, T0Class]]:
    """Yield a semantics with a given t0 as an integer, and its class, which holds no other value.
    Nothing is yielded if the integer is beyond 64 bits.

    A policy or formula is replaced by the integer that it gives, unless several windows each have
    a t0 of their own.
    """
    t0 = integer_t0(planned)
    if t0 is None:
        yield semantics, T0Class(0, 0, 0)
    elif is_within_64_bits(t0):
        yield replace(semantics, t0=t0, offset=None), T0Class(t0, t0, t0)


def integer_t0(planned: engine.Plan) -> int | None:
    """Return t0 of a plan with one window as an integer. None if it gives none, and where several
    windows each have a t0 of their own.
    """
    if len(planned.views) > 1:
        return None
    return planned.views[0].t0


def is_within_64_bits(t0: int | T0) -> bool:
    """Whether a value of t0 is within 64 bits, as SEM-1 demands. A policy or formula is."""
    return not isinstance(t0, int) or -TIME_BOUND <= t0 < TIME_BOUND


def is_range(t0: object) -> bool:
    """Whether a profile's t0 is open: unknown, or any value of a stated range."""
    return isinstance(t0, Between) or t0 == UNKNOWN


def find_profile_t0_candidates(
    question: Question, profile: Profile, plan: MakePlan
) -> T0Candidates | None:
    """Return the values of t0 that are tried for the first assignment of a profile that has a
    meaning. None if the profile does not leave t0 open over a range.
    """
    t0 = profile.fields.get("t0", UNKNOWN)
    if not is_range(t0):
        return None
    for fields in profile.assignments((0,)):
        with suppress(InvalidSemantics, InvalidStream):
            planned = plan(question.under(Semantics(**fields)))
            return find_t0_candidates(question.query, planned, t0)
    return None


def find_t0_candidates(query: Query, planned: engine.Plan, t0: object) -> T0Candidates:
    """ORA-2: return the values that are tried for an open t0: those of its stated range, or else
    those with which an engine loses no element, and the time of the first element.

    Without a stated range, the last value is the time of the first element. Under `(]` this value
    loses that element, and is tried because engines begin with it. The first value is less
    than one slide before the last t0 with which all windows that hold the first element exist:
    still earlier values give the same windows over elements again. Several windows, or a period
    that counts from t0, repeat after the common multiple of their slides and the period.

    Values with which engines are known to begin are tried in addition: 0, the query's registration
    and the published formulas.

    Values beyond 64 bits are left out, since SEM-1 refuses them. If all of the range are, `lo` is
    greater than `hi`.
    """
    lo, hi, others = find_all_t0_candidates(query, planned, t0)
    within = tuple(other for other in others if is_within_64_bits(other))
    return T0Candidates(max(lo, -TIME_BOUND), min(hi, TIME_BOUND - 1), within)


def find_all_t0_candidates(query: Query, planned: engine.Plan, t0: object) -> T0Candidates:
    """Return the values of `find_t0_candidates`, and those beyond 64 bits, too."""
    if isinstance(t0, Between):
        if t0.lo > t0.hi:
            raise InvalidSemantics(
                f"t0 must be in a range with at least one value, got {t0.lo} to {t0.hi}",
                rule="ORA-2",
            )
        return T0Candidates(t0.lo, t0.hi)

    lo, hi = _range_without_loss(planned)
    if len(planned.views) > 1:
        return T0Candidates(lo, hi, (T0.FIRST, T0.REACH))

    known = {0, *_formulas(planned), *_beginnings(planned.views[0])}
    if query.registered is not None:
        known.add(query.registered)
    outside = {t for t in known if t > hi}
    if _shows_empty_windows(planned.semantics):
        outside |= {t for t in known if t < lo}
    return T0Candidates(lo, hi, tuple(sorted(outside)))


def _range_without_loss(planned: engine.Plan) -> tuple[int, int]:
    """Return the first and the last value of a range of t0. With all of them an engine loses no
    element, except that under `(]` the last one, the time of the first element, loses this element.

    With ω = 10, β = 5 and elements at 3 and 12 the range is from -11 to 3.
    """
    views_with_elements = [view for view in planned.views if view.times]
    firsts = [(view.times[0] + view.spec.lag, view.spec.span) for view in views_with_elements]
    if not firsts:
        firsts = [(0, view.spec.span) for view in planned.views]

    lo = _first_value(planned, latest_with_all_windows=min(first - span for first, span in firsts))
    hi = max(first for first, _ in firsts)
    return lo, hi


def _first_value(planned: engine.Plan, latest_with_all_windows: int) -> int:
    """Return the first value of t0 that is tried. Earlier ones by a cycle give the same reports.

    `latest_with_all_windows` is the latest t0 with which all windows that hold the first element
    exist.
    """
    cycle = lcm(*(_cycle(view) for view in planned.views), _beat(planned.semantics))
    first = latest_with_all_windows - cycle + 1
    if any(view.spec.lag for view in planned.views):
        first -= cycle  # with one window more, windows shift at the first element's instant, too
    if _compares_times_with_tuples(planned) and planned.arrivals:
        first = min(first, min(element.app for element in planned.arrivals) - cycle)
    return first


def _cycle(view: window.WindowView) -> int:
    """Return by how much t0 must move for the same windows to appear again, except for the first
    ones.
    """
    if view.spec.kind is WindowKind.LANDMARK:
        return 2
    return view.spec.step


def _beat(semantics: Semantics) -> int:
    """Return by how much t0 must move for the same periodic reports to appear again (REP-11): the
    period if it counts from t0, else 1.
    """
    if semantics.anchor is Anchor.T0:
        return require(semantics.period)
    return 1


def _compares_times_with_tuples(planned: engine.Plan) -> bool:
    """Whether a time is compared with s0, although t0 counts tuples: the time tick does so
    (TICK-2).
    """
    kinds = {view.spec.kind for view in planned.views}
    return WindowKind.TUPLE in kinds and planned.semantics.tick is Tick.TIME


def _formulas(planned: engine.Plan) -> Iterator[int]:
    """Yield the values of t0 that the published formulas give (WIN-7). A formula that gives none
    for this plan is left out.
    """
    if planned.semantics.closure not in (Closure.LEFT_OPEN, None):
        return
    view = planned.views[0]
    for formula in T0:
        if formula in POLICIES:
            continue
        with suppress(InvalidSemantics):
            t0 = window.origin(
                view.spec, replace(planned.semantics, t0=formula, offset=None), view.first
            )
            if t0 is not None:
                yield t0


def _beginnings(view: window.WindowView) -> Iterator[int]:
    """Yield the values of t0 by the first element, and ω before it (WIN-10), for a window with a
    lag. Without a lag they are in the range.
    """
    if view.first is not None and view.spec.lag:
        yield view.first
        yield view.first - view.spec.span


def _shows_empty_windows(semantics: Semantics) -> bool:
    """Whether a window without elements can be reported. If so, windows before the first element
    show, and an earlier t0 gives other reports than a later one.
    """
    return not semantics.report & {Condition.CHANGE, Condition.NON_EMPTY}


def split_into_t0_classes(
    planned: engine.Plan, candidates: T0Candidates, is_window_stated: bool = False
) -> list[T0Class]:
    """ORA-2: split the range of candidates into classes of values that give the same reports.

    Returns the classes in ascending order. Moving t0 moves all windows. A new class begins where
    the first instant of some window passes an element or the horizon, or its last instant reaches
    one of them; also where its last instant reaches the instant before one, if the emptying of a
    window can be reported. `others` of the candidates are in no class.

    If a window begins at each instant, t0 may decide on the first one alone. Then only its borders
    count, unless `is_window_stated`: the engine states the borders of windows, so that each value
    can be told from the next.

    Where values do not fall into classes, each is a class of its own. Raises Unsupported for more
    than T0_CLASS_BOUND classes.
    """
    lo, hi = candidates.lo, candidates.hi
    if not _has_classes(planned):
        if hi - lo >= T0_CLASS_BOUND:
            reason = (
                f"here each of {hi - lo + 1} values of t0 is a class of its own; give t0 or a "
                "narrower range"
            )
            raise Unsupported(reason, rule="ORA-2")
        return [T0Class(t0, t0, t0) for t0 in range(lo, hi + 1)]

    if _is_first_window_decisive(planned) and not is_window_stated:
        starts = sorted(_starts_of_first_window(planned, lo, hi))
    else:
        starts = sorted(_class_starts(planned, lo, hi))
    ends = [start - 1 for start in starts[1:]] + [hi]
    # The last value of a class stands for all of it.
    return [T0Class(t0=end, lo=start, hi=end) for start, end in zip(starts, ends, strict=True)]


def _class_starts(planned: engine.Plan, lo: int, hi: int) -> set[int]:
    """Return the values of t0 in a range with which a class begins."""
    times = _times_to_pass(planned)
    starts = {lo}
    for view in planned.views:
        step = view.spec.step
        shifts = _shifts_to_class_starts(planned.semantics, view)
        # A window's number does not matter, so of t0 only the remainder by the slide does.
        residues = {(time + shift) % step for time in times for shift in shifts}
        _check_number_of_classes(len(residues) * (hi - lo) // step, lo, hi)
        for residue in residues:
            starts.update(range(lo + (residue - lo) % step, hi + 1, step))
    return starts


def _times_to_pass(planned: engine.Plan) -> list[int]:
    """Return the instants that a window's borders may pass: those at which it can see an element,
    and the horizon.
    """
    element_times = (time + view.spec.lag for view in planned.views for time in view.times)
    return sorted({*element_times, *planned.own})


def _starts_of_first_window(planned: engine.Plan, lo: int, hi: int) -> set[int]:
    """Return the values of t0 in a range with which a class begins, where t0 decides on the first
    window alone. Raises Unsupported for more than T0_CLASS_BOUND classes.
    """
    shifts = _shifts_to_class_starts(planned.semantics, planned.views[0])
    passed = {time + shift for time in _times_to_pass(planned) for shift in shifts}
    starts = {lo, *(t0 for t0 in passed if lo < t0 <= hi)}
    _check_number_of_classes(len(starts), lo, hi)
    return starts


def _check_number_of_classes(count: int, lo: int, hi: int) -> None:
    """Raise Unsupported for more than T0_CLASS_BOUND classes of t0 in a range."""
    if count > T0_CLASS_BOUND:
        raise Unsupported(
            f"too many classes of t0 from {lo} to {hi}; give t0 or a narrower range",
            rule="ORA-2",
        )


def _is_first_window_decisive(planned: engine.Plan) -> bool:
    """Whether nothing but the first window depends on t0: a window begins at each instant from t0
    on (slide 1), there is no earlier one (`partial=suppressed`), and a window's close is not
    reported.
    """
    return (
        len(planned.views) == 1
        and planned.views[0].spec.kind is WindowKind.TIME
        and planned.views[0].spec.step == 1
        and planned.semantics.partial is Partial.SUPPRESSED
        and Condition.CLOSE not in planned.semantics.report
    )


def _shifts_to_class_starts(semantics: Semantics, view: window.WindowView) -> list[int]:
    """Return the distances from an element's time to the values of t0 with which a class begins, up
    to multiples of the slide.
    """
    low, high = window.borders(semantics.closure)
    first_instant_passes = 1 - low
    last_instant_reaches = -view.spec.span - high
    shifts = [first_instant_passes, last_instant_reaches]
    # where windows are to be passed, the arrivals' own instants are among the times
    if Condition.CLOSE not in semantics.report or view.spec.kind is WindowKind.TUPLE:
        shifts.append(last_instant_reaches - 1)
    return shifts


def _has_classes(planned: engine.Plan) -> bool:
    """Whether values of t0 fall into classes: for SECRET's windows over elements at points in time,
    reported by window close or content change, and not periodically.
    """
    semantics = planned.semantics
    kinds = {view.spec.kind for view in planned.views}
    is_of_one_kind = kinds == {WindowKind.TIME} or (
        kinds == {WindowKind.TUPLE} and not _compares_times_with_tuples(planned)
    )
    has_points = all(view.ends is None for view in planned.views)
    is_reported_by_content = (
        bool(semantics.report & {Condition.CLOSE, Condition.CHANGE})
        and Condition.PERIODIC not in semantics.report
        and semantics.change_baseline is ChangeBaseline.LAST
    )
    return is_of_one_kind and has_points and is_reported_by_content


def fit_to_stated_window(
    planned: engine.Plan, t0_class: T0Class, stated_window: tuple[Borders, Closure | None]
) -> T0Class | None:
    """ORA-11: narrow a class of t0 to the first value with which some window begins where a stated
    window does. None if no value of the class gives such a window.

    The class is returned unchanged for kinds of windows that do not begin at t0 plus multiples of
    the slide.
    """
    view, closure = planned.views[0], planned.semantics.closure
    if view.spec.kind not in (WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE):
        return t0_class
    borders, stated_closure = stated_window
    first_instant = borders[0] + window.borders(stated_closure or closure)[0]
    opens = first_instant - window.borders(closure)[0] + view.spec.lag
    t0 = t0_class.lo + (opens - t0_class.lo) % view.spec.step
    if t0 > t0_class.hi:
        return None
    return T0Class(t0, t0, t0)
