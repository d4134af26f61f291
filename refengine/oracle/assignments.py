"""§11 What an observer cannot know: the complete semantics of a profile, and the values of t0 that
are tried (ORA-2).
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
    Against,
    Anchor,
    Between,
    Closing,
    Closure,
    Condition,
    Profile,
    Semantics,
    Tick,
)
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidSemantics, InvalidStream, Unsupported, require
from refengine.oracle.comparison import Borders
from refengine.oracle.trial import Origin

ORIGIN_BOUND = 50_000  # classes, or single values, of t0 that are tried

MakePlan = Callable[[Setting], engine.Plan]


class Candidates(NamedTuple):
    """The values of t0 that an open t0 stands for: those from `lo` to `hi`, and others outside of
    that range.
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
) -> Iterator[tuple[Semantics, Origin]]:
    """Yield every complete semantics of a profile that means something with the question, and the
    class of t0 that it stands for.

    `plan` is engine.plan, or does what it does. `stated_window` are the borders of a window that
    the engine states, and which of them belong to it (None: as the semantics has it): only values
    of t0 with which there is such a window are tried then (ORA-11). Raises the first
    InvalidSemantics or InvalidStream if no assignment means anything.
    """
    meaningless: InvalidSemantics | InvalidStream | None = None
    is_some = False
    for fields in profile.assignments((0,)):
        try:
            semantics = Semantics(**fields)
            planned = plan(question.under(semantics))
            _check_batches(planned)
        except (InvalidSemantics, InvalidStream) as error:
            meaningless = meaningless or error
            continue

        is_some = True
        t0 = profile.fields.get("t0", UNKNOWN)
        if is_range(t0):
            yield from _with_each_t0(question, planned, t0, plan, stated_window)
        else:
            yield _with_integer_t0(semantics, planned)

    if meaningless is not None and not is_some:
        raise meaningless


def _with_each_t0(
    question: Question,
    planned: engine.Plan,
    t0: object,
    plan: MakePlan,
    stated_window: tuple[Borders, Closure | None] | None,
) -> Iterator[tuple[Semantics, Origin]]:
    """Yield a plan's semantics with one value of each class of an open t0, and the class."""
    found = candidates(question.query, planned, t0)
    for origin in origins(planned, found):
        narrowed: Origin | None = origin
        if stated_window is not None:
            narrowed = congruent(planned, origin, stated_window)
        if narrowed is not None:
            yield replace(planned.semantics, t0=narrowed.t0), narrowed

    for other in found.others:
        semantics = replace(planned.semantics, t0=other)
        semantics, origin = _with_integer_t0(semantics, plan(question.under(semantics)))
        if stated_window is None or congruent(planned, origin, stated_window) is not None:
            yield semantics, origin


def _check_batches(planned: engine.Plan) -> None:
    """Raise InvalidSemantics if the batch tick meets an element without a batch id (TICK-3)."""
    if planned.semantics.tick is not Tick.BATCH:
        return
    for arrival in planned.arrivals:
        tick.is_due(planned.semantics.tick, arrival, arrival.app, 0)


def _with_integer_t0(semantics: Semantics, planned: engine.Plan) -> tuple[Semantics, Origin]:
    """Replace a stated t0 by the integer that its policy or formula gives, where there is one
    window. Returns its class, too.
    """
    t0 = None
    if len(planned.views) == 1:
        t0 = planned.views[0].t0
    if t0 is None:
        return semantics, Origin(0, 0, 0)
    return replace(semantics, t0=t0, offset=None), Origin(t0, t0, t0)


def is_range(t0: object) -> bool:
    """Whether a profile leaves t0 open over a range of values, stated or not."""
    return isinstance(t0, Between) or t0 == UNKNOWN


def searched(question: Question, profile: Profile, plan: MakePlan) -> Candidates | None:
    """Return the values of t0 that are tried for a profile's first meaningful assignment. None
    where t0 is given, or one of some.
    """
    t0 = profile.fields.get("t0", UNKNOWN)
    if not is_range(t0):
        return None
    for fields in profile.assignments((0,)):
        with suppress(InvalidSemantics, InvalidStream):
            planned = plan(question.under(Semantics(**fields)))
            return candidates(question.query, planned, t0)
    return None


def candidates(query: Query, planned: engine.Plan, t0: object) -> Candidates:
    """ORA-2: return the values of an open t0: those of its stated range, or else those with which
    an engine loses no element.

    Without a stated range they run from one slide (of several windows, and of a period that counts
    from t0: the common multiple) before the last value at which every window that holds the first
    element is there, up to the first element itself. What engines are known to begin with comes on
    top where it is outside: 0, the query's registration, the published formulas.
    """
    if isinstance(t0, Between):
        if t0.lo > t0.hi:
            raise InvalidSemantics(
                f"t0 must be in a range that holds a value, got {t0.lo} to {t0.hi}", rule="ORA-2"
            )
        return Candidates(t0.lo, t0.hi)

    lo, hi = _range_without_loss(planned)
    if len(planned.views) > 1:
        return Candidates(lo, hi, (T0.FIRST, T0.REACH))

    known = {0, *_formulas(planned)}
    if query.registered is not None:
        known.add(query.registered)
    outside = {t for t in known if t > hi}
    if _shows_empty_windows(planned.semantics):
        outside |= {t for t in known if t < lo}
    return Candidates(lo, hi, tuple(sorted(outside)))


def _range_without_loss(planned: engine.Plan) -> tuple[int, int]:
    """Return the first and the last value of t0 with which an engine loses no element."""
    some = [view for view in planned.views if view.times]
    firsts = [(view.times[0], view.spec.span) for view in some]
    if not some:
        firsts = [(0, view.spec.span) for view in planned.views]
    whole = min(first - span for first, span in firsts)
    lo = whole - lcm(*(_cycle(view) for view in planned.views), _beat(planned.semantics)) + 1
    return max(lo, -TIME_BOUND), max(first for first, _ in firsts)  # SEM-1


def _cycle(view: window.View) -> int:
    """Return after how many instants of t0 the windows are the same again, but for the first
    ones.
    """
    if view.spec.kind is WindowKind.LANDMARK:
        return 2
    return view.spec.step


def _beat(semantics: Semantics) -> int:
    """Return after how many instants of t0 a period that counts from t0 is the same again; 1 for
    every other report (REP-11).
    """
    if semantics.anchor is Anchor.T0:
        return require(semantics.period)
    return 1


def _formulas(planned: engine.Plan) -> Iterator[int]:
    """Yield the values of t0 that the published formulas give (WIN-7), as far as they have one
    here.
    """
    if planned.semantics.closure not in (Closure.LEFT_OPEN, None):
        return
    view = planned.views[0]
    first = next(iter(view.times), None)
    for formula in T0:
        if formula in POLICIES:
            continue
        with suppress(InvalidSemantics):
            t0 = window.origin(
                view.spec, replace(planned.semantics, t0=formula, offset=None), first
            )
            if t0 is not None:
                yield t0


def _shows_empty_windows(semantics: Semantics) -> bool:
    """Whether a window that holds nothing can be reported, so that an early t0 can be told from a
    later one.
    """
    return not semantics.report & {Condition.CHANGE, Condition.NON_EMPTY}


def origins(planned: engine.Plan, found: Candidates) -> list[Origin]:
    """ORA-2: return the classes of the values of t0 in a range, ascending, one value of each.

    A class ends where a window's first instant passes an element or the horizon, or its last one
    reaches it or, where the emptying of a window can be reported, the instant before it. Raises
    Unsupported for more than ORIGIN_BOUND classes.
    """
    lo, hi = found.lo, found.hi
    if not _has_classes(planned):
        if hi - lo >= ORIGIN_BOUND:
            reason = (
                f"here each of {hi - lo + 1} values of t0 is a class of its own; give t0 or a "
                "narrower range"
            )
            raise Unsupported(reason, rule="ORA-2")
        return [Origin(t0, t0, t0) for t0 in range(lo, hi + 1)]

    ordered = sorted(_class_starts(planned, lo, hi))
    ends = [start - 1 for start in ordered[1:]] + [hi]
    return [Origin(end, start, end) for start, end in zip(ordered, ends, strict=True)]


def _class_starts(planned: engine.Plan, lo: int, hi: int) -> set[int]:
    """Return the values of t0 in a range with which a class begins."""
    times = sorted({*(time for view in planned.views for time in view.times), *planned.own})
    starts = {lo}
    for view in planned.views:
        step = view.spec.step
        passes = _passes(planned.semantics, view)
        residues = {(time + shift) % step for time in times for shift in passes}
        if len(residues) * (hi - lo) // step > ORIGIN_BOUND:
            raise Unsupported(
                f"too many classes of t0 from {lo} to {hi}; give t0 or a narrower range",
                rule="ORA-2",
            )
        for residue in residues:
            starts.update(range(lo + (residue - lo) % step, hi + 1, step))
    return starts


def _passes(semantics: Semantics, view: window.View) -> list[int]:
    """Return by how much t0 follows an instant when a class begins, up to multiples of the
    slide.
    """
    low, high = window.borders(semantics.closure)
    passes = [1 - low, -view.spec.span - high]
    is_emptying_seen = (
        Condition.CLOSE not in semantics.report or semantics.closing is Closing.PASSED
    )
    if is_emptying_seen or view.spec.kind is WindowKind.TUPLE:
        passes.append(-1 - view.spec.span - high)
    return passes


def _has_classes(planned: engine.Plan) -> bool:
    """Whether values of t0 fall into classes: SECRET's windows over points, reported by close or
    change alone.
    """
    semantics = planned.semantics
    kinds = {view.spec.kind for view in planned.views}
    # TICK-2 compares app with an id
    is_of_one_kind = kinds == {WindowKind.TIME} or (
        kinds == {WindowKind.TUPLE} and semantics.tick is not Tick.TIME
    )
    return (
        is_of_one_kind
        and all(view.ends is None for view in planned.views)
        and semantics.against is Against.LAST
        and Condition.PERIODIC not in semantics.report
        and bool(semantics.report & {Condition.CLOSE, Condition.CHANGE})
    )


def congruent(
    planned: engine.Plan, origin: Origin, stated_window: tuple[Borders, Closure | None]
) -> Origin | None:
    """ORA-11: return the least value of a class of t0 with which some window begins where a stated
    window does; None if there is none.
    """
    view, closure = planned.views[0], planned.semantics.closure
    if view.spec.kind not in (WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE):
        return origin
    borders, stated_closure = stated_window
    opens = borders[0] + window.borders(stated_closure or closure)[0] - window.borders(closure)[0]
    t0 = origin.lo + (opens - origin.lo) % view.spec.step
    if t0 > origin.hi:
        return None
    return Origin(t0, t0, t0)
