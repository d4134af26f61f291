"""§11 The assignments that are tried: the complete semantics of a profile, each with a value of t0
(ORA-2).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from refengine.core import engine, tick, window
from refengine.core.query import WindowKind
from refengine.core.question import Question
from refengine.core.semantics import (
    UNKNOWN,
    ChangeBaseline,
    Closure,
    Condition,
    Partial,
    Profile,
    Semantics,
    Tick,
)
from refengine.model.errors import InvalidSemantics, InvalidStream, Unsupported
from refengine.oracle.beginnings import (
    EarlierBeginnings,
    MakePlan,
    T0Candidates,
    compares_times_with_tuples,
    find_t0_candidates,
    is_range,
    is_within_64_bits,
)
from refengine.oracle.comparison import Borders
from refengine.oracle.trial import T0Class

T0_CLASS_BOUND = 50_000  # classes of t0 that are tried; where there are none, single values


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
        with suppress(InvalidSemantics):  # a formula may have no meaning for one of several windows
            planned_other = plan(question.under(semantics))
            if _has_stated_window(planned_other, stated_window):
                yield from _with_integer_t0(semantics, planned_other)


def _has_stated_window(
    planned: engine.Plan, stated_window: tuple[Borders, Closure | None] | None
) -> bool:
    """Whether some window of a plan with a given t0 may begin where a stated window does; True if
    none is stated.
    """
    if stated_window is None:
        return True
    t0 = planned.views[0].t0  # by a policy each of several windows has its own
    if t0 is None:
        return False  # no window ever opens
    return fit_to_stated_window(planned, T0Class(t0, t0, t0), stated_window) is not None


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
    """Return t0 of a plan as an integer. None if it gives none, and where several windows each have
    a t0 of their own.
    """
    if isinstance(planned.semantics.t0, int):
        return planned.semantics.t0
    if len(planned.views) > 1:
        return None
    return planned.views[0].t0


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


def split_earlier_into_t0_classes(
    planned: engine.Plan, earlier: EarlierBeginnings, is_window_stated: bool
) -> Iterator[T0Class]:
    """ORA-2: yield classes of the values before the range with which an engine may have begun.
    Raises Unsupported for more than T0_CLASS_BOUND.
    """
    before_range = T0Candidates(earlier.lowest, earlier.range_begins - 1)
    if before_range.lo <= before_range.hi:
        for t0_class in split_into_t0_classes(planned, before_range, is_window_stated):
            if earlier.may_explain(t0_class.t0):
                yield t0_class

    count = 0
    of_one_cycle = T0Candidates(earlier.lowest, earlier.highest)
    for t0_class in split_into_t0_classes(planned, of_one_cycle, is_window_stated):
        turns = earlier.turns(t0_class.t0)
        count += len(turns)
        earliest = earlier.lowest - max(turns, default=0) * earlier.cycle
        _check_number_of_classes(count, earliest, earlier.highest)
        for number in turns:
            yield T0Class(*(t0 - number * earlier.cycle for t0 in t0_class))


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
        kinds == {WindowKind.TUPLE} and not compares_times_with_tuples(planned)
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
