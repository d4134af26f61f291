"""§11 With which values of t0 an engine may have begun, where t0 is open (ORA-2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import count, islice
from math import lcm
from typing import NamedTuple

from refengine import incremental
from refengine.core import engine, window
from refengine.core.answers import recomputed_answers
from refengine.core.profile import UNKNOWN, Between, Profile
from refengine.core.query import Query, WindowKind
from refengine.core.question import Question, Setting
from refengine.core.reports import ReportMaker
from refengine.core.semantics import Semantics
from refengine.core.values import T0, Anchor, Condition, is_formula
from refengine.model.errors import (
    InvalidSemantics,
    InvalidStream,
    TooManyReports,
    require,
)
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.t0_classes import (
    T0_CLASS_BOUND,
    T0Class,
    begin_at,
    run_with_each_t0,
    too_many_classes,
)
from refengine.oracle.trial import RecordingToJudge, State, advance

MakePlan = Callable[[Setting], engine.Plan]


class T0Candidates(NamedTuple):
    """The values of t0 that are tried where t0 is open: all from `lo` to `hi`, and `others` outside
    of that range. `and_earlier` says that values before `lo` were tried, too.
    """

    lo: int
    hi: int
    others: tuple[int | T0, ...] = ()
    and_earlier: bool = False

    def with_earlier(self, tried: Iterable[int | T0]) -> T0Candidates:
        """Return the same values, and say whether earlier ones are among those that were tried."""
        and_earlier = any(
            isinstance(t0, int) and t0 < self.lo and t0 not in self.others for t0 in tried
        )
        return self._replace(and_earlier=and_earlier)

    def __str__(self) -> str:
        others = "".join(f", {t0}" for t0 in self.others)
        earlier = ", and earlier values" if self.and_earlier else ""
        return f"from {self.lo} to {self.hi}{others}{earlier}"


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
    still earlier values give the same windows over elements again (see EarlierBeginnings). Several
    windows, or a period that counts from t0, repeat after the common multiple of their slides and
    the period.

    Values with which engines are known to begin are tried in addition: 0, the query's registration
    and the published formulas.
    """
    if isinstance(t0, Between):
        if t0.lo > t0.hi:
            raise InvalidSemantics(
                f"t0 must be in a range with at least one value, got {t0.lo} to {t0.hi}",
                rule="ORA-2",
            )
        return T0Candidates(t0.lo, t0.hi)

    lo, hi = _range_without_loss(planned)
    known = {0}
    if query.registered is not None:
        known.add(query.registered)
    if planned.has_one_window:
        known |= {*_values_of_formulas(planned), *_beginnings(planned.views[0])}
    outside: list[int | T0] = sorted(t for t in known if t > hi)
    if shows_empty_windows(planned.semantics):
        outside = sorted(t for t in known if not lo <= t <= hi)
    if not planned.has_one_window:
        outside += [T0.FIRST, T0.REACH, *_formulas(planned.semantics)]
    return T0Candidates(lo, hi, tuple(outside))


def _range_without_loss(planned: engine.Plan) -> tuple[int, int]:
    """Return the first and the last value of a range of t0. With all of them an engine loses no
    element, except that under `(]` the last one, the time of the first element, loses this element.
    Where partial windows are reported whole, they hold this element with a later t0, too.

    With ω = 10, β = 5 and elements at 3 and 12 the range is from -11 to 3.
    """
    first_of = {
        n: view.t1 + view.spec.lag for n, view in enumerate(planned.views) if view.t1 is not None
    }
    if not first_of:
        nothing_before = planned.own[-1] if planned.own else 0
        first_of = dict.fromkeys(range(len(planned.views)), nothing_before)

    longest = max(view.spec.span for view in planned.views)
    lo = _first_value(planned, latest_with_all_windows=min(first_of.values()) - longest)
    hi = max(first + _reach_of_partial(planned, n) for n, first in first_of.items())
    return lo, hi


def _reach_of_partial(planned: engine.Plan, number: int) -> int:
    """Return how long before t0 the first window opens, if partial windows are reported whole."""
    partial = planned.semantics.partial
    if partial.is_cut_at_t0:
        return 0
    spec = planned.views[number].spec
    return -window.least(partial, spec.span, spec.step) * spec.step


def _first_value(planned: engine.Plan, latest_with_all_windows: int) -> int:
    """Return the first value of t0 that is tried. Earlier ones by a cycle give the same reports
    over elements.

    `latest_with_all_windows` is the latest t0 with which all windows that hold the first element
    exist.
    """
    cycle = cycle_of_windows(planned)
    first = latest_with_all_windows - cycle + 1 - _earliest_before_close(planned.semantics)
    closure = planned.semantics.closure
    is_lost = closure is not None and not closure.has_lower_border
    if is_lost and any(view.spec.kind is WindowKind.LANDMARK for view in planned.views):
        first -= 1  # the last value loses the first element
    if any(view.spec.lag for view in planned.views):
        first -= cycle  # with one window more, windows shift at the first element's instant, too
    if compares_times_with_tuples(planned) and planned.arrivals:
        first = min(first, min(element.app for element in planned.arrivals) - cycle)
    return first


def _earliest_before_close(semantics: Semantics) -> int:
    """Return how long before its first instant a window may be reported: by the delay of the
    watermark, unless it is reported when it closes alone (REP-14). A later s0 would lose reports.
    """
    is_early = semantics.early_count is not None or semantics.early_period is not None
    if Condition.CLOSE in semantics.report and not is_early:
        return 0
    return semantics.watermark_delay or 0


def cycle_of_windows(planned: engine.Plan) -> int:
    """Return by how much t0 must move for the same windows to appear again, except for the first
    ones, and for a period that counts from t0 to come round (REP-11).
    """
    return lcm(*(_cycle_of(view) for view in planned.views), _beat(planned.semantics))


def _beat(semantics: Semantics) -> int:
    """Return the period if it counts from t0; else 1."""
    match semantics.anchor:
        case Anchor.T0:
            return require(semantics.period)
        case Anchor.FIRST | int() | None:
            return 1


def _cycle_of(view: window.WindowView) -> int:
    """Return by how much t0 must move for the same windows of one view to appear again."""
    if view.spec.kind is WindowKind.LANDMARK:
        return 2
    return view.spec.step


def compares_times_with_tuples(planned: engine.Plan) -> bool:
    """Whether a time is compared with s0, although t0 counts tuples: the time tick does so
    (TICK-2).
    """
    kinds = {view.spec.kind for view in planned.views}
    return WindowKind.TUPLE in kinds and planned.semantics.tick.is_by_time


def _formulas(semantics: Semantics) -> list[T0]:
    """Return the published formulas that have a meaning under a semantics (SEM-2)."""
    if semantics.closure is not None and not semantics.closure.is_left_open:
        return []
    return [t0 for t0 in T0 if is_formula(t0)]


def _values_of_formulas(planned: engine.Plan) -> Iterator[int]:
    """Yield the values of t0 that the published formulas give for one window (WIN-7). A formula
    that gives none for this plan is left out.
    """
    view = planned.views[0]
    for formula in _formulas(planned.semantics):
        with suppress(InvalidSemantics):
            t0 = window.origin(
                view.spec, planned.semantics.with_values(t0=formula, offset=None), view.t1
            )
            if t0 is not None:
                yield t0


def _beginnings(view: window.WindowView) -> Iterator[int]:
    """Yield the values of t0 by the first element, and ω before it (WIN-10), for a window with a
    lag. Without a lag they are in the range.
    """
    if view.t1 is not None and view.spec.lag:
        yield view.t1
        yield view.t1 - view.spec.span


def shows_empty_windows(semantics: Semantics) -> bool:
    """Whether a window without elements can be reported. If so, windows before the first element
    show, and an earlier t0 gives other reports than a later one.
    """
    return not semantics.report & {Condition.CHANGE, Condition.NON_EMPTY}


class EarlierBeginnings:
    """ORA-2: the values of t0 before the range of `find_t0_candidates` with which an engine may
    have begun, if windows without elements can be reported.

    If t0 is earlier by a cycle, windows and periods are where they were. What comes in addition are
    evaluations at the beginning, *over nothing*: no window holds an element. All answers over
    nothing are the same, so from the second one on R2S makes the same output of each. How many of
    them there may be follows from the relations with which the recording begins, from `missing`,
    and from the number of all relations.

    `lowest` to `highest` is one full cycle of t0. With each of these values, windows end before the
    first element, and with each further cycle before it there are equally many evaluations more.
    """

    def __init__(
        self, recorded: RecordingToJudge, planned: engine.Plan, answers: SharedAnswers
    ) -> None:
        self.recorded = recorded
        self.planned = planned
        self.answers = answers
        semantics = planned.semantics
        self.cycle = lcm(cycle_of_windows(planned), semantics.period or 1)

        self.range_begins, _ = _range_without_loss(planned)
        latest = self.range_begins + cycle_of_windows(planned) - 1
        specs = [view.spec for view in planned.views]
        if any(spec.lag for spec in specs) and planned.own:
            latest = min(latest, planned.own[0] - max(spec.span for spec in specs))
        if any(spec.kind is WindowKind.LANDMARK for spec in specs):
            latest -= 1  # the last value of the range may lose the first element
        self.highest = latest - self.cycle
        self.lowest = self.highest - self.cycle + 1

        # each relation is the output of an evaluation, and under `emit` each evaluation has one
        self.fewest = len(recorded.relations)
        self.enough = self.fewest + sum(recorded.missing) + 1
        self.most = self.enough - 1 if semantics.empty.is_always else self.enough

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of t0 with which an engine may have begun: from a value up to another.
        Raises Unsupported for more than T0_CLASS_BOUND.
        """
        near = run_with_each_t0(self.planned, self.highest + 1, self.range_begins - 1, self._count)
        for t0_class, (_, evaluations) in near:
            if self.fewest <= evaluations <= self.most:
                yield t0_class.lo, t0_class.hi

        classes = run_with_each_t0(self.planned, self.lowest, self.highest, self._count)
        left = T0_CLASS_BOUND
        for t0_class, (over_nothing, evaluations) in classes:
            turns = self._turns(t0_class, over_nothing, evaluations)
            left -= len(turns)
            if left < 0:
                earliest = self.lowest - max(turns) * self.cycle
                raise too_many_classes(earliest, self.range_begins - 1)
            for number in turns:
                earlier = number * self.cycle
                yield t0_class.lo - earlier, t0_class.hi - earlier

    def _turns(self, t0_class: T0Class, over_nothing: int, evaluations: int) -> Sequence[int]:
        """Return by how many cycles before the values of a class, which are from `lowest` to
        `highest`, an engine may have begun. The last number may be one with which it has too many
        evaluations over nothing: so a trial shows that it does not fit.
        """
        most, _ = self._over_nothing
        growth = self._count(begin_at(self.planned, t0_class.t0 - self.cycle))[0] - over_nothing
        if growth:
            first = max(0, -((evaluations - self.fewest) // growth))
            last = 1 + (most - over_nothing) // growth
            if self.most < self.enough:
                last = min(last, (self.most - evaluations) // growth)
        else:  # there are no more of them, or too many; but the first windows may be earlier ones
            first = 0
            last = 2 if self.recorded.windows else 0
            if over_nothing > most:
                last = -1

        near = self._near_stated_window
        turns_to_stated = range(
            max(0, -((near.stop - 1 - t0_class.lo) // self.cycle)),
            (t0_class.hi - near.start) // self.cycle + 1,
        )
        return sorted({*range(first, last + 1), *turns_to_stated})

    @cached_property
    def _over_nothing(self) -> tuple[int, bool]:
        """The most evaluations over nothing with which the recording can begin, and whether there
        may be any greater number of them. So it is if the third one emits nothing after two that
        fit: then two stand for any greater number. The first item is 1 then, so that the value of
        t0 with one more, which is tried as well, has these two.
        """
        recorded = replace(self.recorded, windows=())
        query = recorded.query
        successive = recomputed_answers(query, self.planned, recorded.static, self.answers)
        maker = ReportMaker(query, self.planned, successive)
        nothing = (engine.WindowContent(None, range(0)),) * len(self.planned.views)
        states = {State(0, 0, 0)}
        for number in count():
            step = maker.step(engine.Evaluation(0, 0, nothing))
            if step.emitted:
                states = advance(states, step.relation.rows, recorded)
            elif number == 2:
                return 1, True
            if not states:
                return number, False
        raise AssertionError("a recording ends")

    @cached_property
    def _near_stated_window(self) -> range:
        """The values of t0 with which one of the first two evaluations may be over the first window
        that the engine states. They are needed where further evaluations over nothing emit nothing:
        these first ones may, and their windows tell how early they are.
        """
        stated = self.recorded.first_stated_window()
        if stated is None or not self._over_nothing[1]:
            return range(self.highest + 1, self.highest + 1)
        spec = self.planned.views[0].spec
        opens = stated[0][0] + spec.lag
        return range(opens - spec.span - 2 * self.cycle, opens + spec.span + 2)

    def _count(self, begun: engine.Plan) -> tuple[int, int]:
        """Return the number of evaluations before the first one over an element, and of all, but no
        more than one more than the recording can have outputs.
        """
        over_nothing = evaluations = 0
        most = self.enough + 1
        try:
            for at in islice(incremental.schedule_evaluations(begun), most):
                is_over_nothing = not any(held.content for held in at.windows)
                over_nothing += is_over_nothing and over_nothing == evaluations
                evaluations += 1
        except TooManyReports:
            return most, self.enough
        return over_nothing, min(evaluations, self.enough)
