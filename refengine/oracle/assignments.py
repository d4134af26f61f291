"""§11 The assignments that are tried: the complete semantics of a profile, each with the values of
t0 for which one run stands (ORA-2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from refengine import incremental
from refengine.core import engine, tick, window
from refengine.core.moving import moved
from refengine.core.profile import UNKNOWN, Profile
from refengine.core.query import WindowKind
from refengine.core.question import Question
from refengine.core.semantics import Semantics
from refengine.core.values import T0, Closure
from refengine.model.errors import (
    InvalidSemantics,
    InvalidStream,
    TooManyReports,
    Unsupported,
)
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.attempts import attempt
from refengine.oracle.beginnings import (
    EarlierBeginnings,
    MakePlan,
    find_t0_candidates,
    is_range,
    shows_empty_windows,
)
from refengine.oracle.comparison import Borders
from refengine.oracle.t0_classes import (
    T0_CLASS_BOUND,
    T0Class,
    run_with_each_t0,
    too_many_classes,
)
from refengine.oracle.trial import RecordingToJudge, Reports, Trial

# the error of an assignment that could not be tried
Refusal = Unsupported | TooManyReports
Assignment = tuple[Semantics, T0Class]


def every_trial(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers
) -> Iterator[Trial | Refusal]:
    """ORA-1, ORA-2: hold every complete semantics that a profile allows against a recording, and
    yield the trial of each class of t0 values, as it is asked for; in place of one that cannot be
    tried, the error that says so.

    First come the values with which an open t0 is tried in any case, and then, for an unknown one,
    those before them. A semantics that contradicts the query or the stream is left out. If all do,
    the first InvalidSemantics or InvalidStream is raised.
    """
    t0 = profile.fields.get("t0", UNKNOWN)
    for planned in plans(recorded.question, profile, answers.plan):
        if not is_range(t0):
            trial = _try(recorded, planned, answers)
            yield trial if isinstance(trial, Refusal) else _named(trial, planned)
            continue
        candidates = find_t0_candidates(recorded.query, planned, t0)
        yield from _try_range(recorded, planned, candidates.lo, candidates.hi, answers)
        for other in candidates.others:
            yield from _try_other(recorded, planned, other, answers)

    if t0 != UNKNOWN:
        return
    for planned in plans(recorded.question, profile, answers.plan):
        if shows_empty_windows(planned.semantics) and planned.own:
            earlier = EarlierBeginnings(recorded, planned, answers)
            try:
                for lo, hi in earlier.ranges():
                    yield from _try_range(recorded, planned, lo, hi, answers)
            except Unsupported as error:
                yield error


def assignments(question: Question, profile: Profile, plan: MakePlan) -> Iterator[Assignment]:
    """Yield every complete semantics that a profile allows, with the class of t0 values that give
    the same evaluations. For an unknown t0 they are those of `find_t0_candidates`.

    Raises what `every_trial` raises.
    """
    t0 = profile.fields.get("t0", UNKNOWN)
    for planned in plans(question, profile, plan):
        if not is_range(t0):
            yield name_t0(planned)
            continue
        candidates = find_t0_candidates(question.query, planned, t0)
        for t0_class, _ in run_with_each_t0(planned, candidates.lo, candidates.hi, _evaluate_all):
            yield replace(planned.semantics, t0=t0_class.t0), t0_class
        for other in candidates.others:
            with suppress(InvalidSemantics):
                yield name_t0(plan(question.under(replace(planned.semantics, t0=other))))


def _evaluate_all(planned: engine.Plan) -> None:
    """Draw every evaluation of a plan."""
    with suppress(TooManyReports):
        deque(incremental.schedule_evaluations(planned), maxlen=0)


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


def _check_batches(planned: engine.Plan) -> None:
    """Raise InvalidSemantics if the batch tick meets an element without a batch id (TICK-3)."""
    if not planned.semantics.tick.needs_batches:
        return
    for arrival in planned.arrivals:
        tick.batch_id(arrival)


def name_t0(planned: engine.Plan) -> Assignment:
    """Return a plan's semantics with its given t0 as an integer, and the class of this value alone.
    A policy or formula is replaced by the integer that it gives, unless it gives none, or several
    windows, or those of several keys, each have a t0 of their own.
    """
    semantics = planned.semantics
    t0 = semantics.t0 if isinstance(semantics.t0, int) else None
    if t0 is None and planned.has_one_window:
        t0 = planned.views[0].t0
    if t0 is None:
        return semantics, T0Class(0, 0, 0)
    return replace(semantics, t0=t0, offset=None), T0Class(t0, t0, t0)


def _named(trial: Trial, planned: engine.Plan) -> Trial:
    """Return the trial of a plan whose t0 is given, with the semantics as `name_t0` names it."""
    semantics, t0_class = name_t0(planned)
    return replace(trial, semantics=semantics, t0_class=t0_class)


def _try(
    recorded: RecordingToJudge, planned: engine.Plan, answers: SharedAnswers
) -> Trial | Refusal:
    """Return the trial of a plan, or the error that it cannot be tried."""
    try:
        return attempt(recorded, planned, answers)
    except (Unsupported, TooManyReports) as error:
        return error


def _try_open(
    recorded: RecordingToJudge, planned: engine.Plan, answers: SharedAnswers
) -> Trial | Refusal:
    """Return the trial of a plan with one value of an open t0. If this value gives more reports
    than any recording has relations, it explains nothing, and the trial has failed.
    """
    trial = _try(recorded, planned, answers)
    if isinstance(trial, TooManyReports):
        return Trial(planned.semantics, has_too_many_reports=True)
    return trial


def _try_other(
    recorded: RecordingToJudge, planned: engine.Plan, other: int | T0, answers: SharedAnswers
) -> Iterator[Trial | Refusal]:
    """Yield the trial with one more value of an open t0, which may be a policy; nothing if it has
    no meaning here, or none of its windows begins where the first stated one does.
    """
    with suppress(InvalidSemantics):  # a formula may have no meaning for one of several windows
        setting = recorded.question.under(replace(planned.semantics, t0=other))
        planned_other = answers.plan(setting)
        stated = recorded.first_stated_window()
        t0 = planned_other.views[0].t0  # by a policy each of several windows has its own
        if stated is not None:
            if t0 is None:
                return  # no window ever opens
            if not fit_to_stated_window(planned_other, t0, t0, stated):
                return
        trial = _try_open(recorded, planned_other, answers)
        yield trial if isinstance(trial, Refusal) else _named(trial, planned_other)


def _try_range(
    recorded: RecordingToJudge, planned: engine.Plan, lo: int, hi: int, answers: SharedAnswers
) -> Iterator[Trial | Refusal]:
    """Yield the trial of each class of t0 values in a range; at last an Unsupported if there are
    too many. If the engine states its windows, each value that fits to the first is tried by itself
    (ORA-11).
    """
    ranges = [(lo, hi)]
    stated = recorded.first_stated_window()
    if stated is not None and planned.views[0].spec.kind in BEGINNING_AT_T0:
        fitting = fit_to_stated_window(planned, lo, hi, stated)
        if len(fitting) > T0_CLASS_BOUND:
            yield too_many_classes(lo, hi)
            return
        ranges = [(t0, t0) for t0 in fitting]

    def run(begun: engine.Plan) -> Trial | Refusal:
        return _try_open(recorded, begun, answers)

    try:
        for first, last in ranges:
            for t0_class, trial in run_with_each_t0(planned, first, last, run):
                yield trial if isinstance(trial, Refusal) else _moved(trial, t0_class)
    except Unsupported as error:
        yield error


def _moved(trial: Trial, t0_class: T0Class) -> Trial:
    """Return the trial of a class as it is with the value that is named, its last."""
    move = t0_class.hi - t0_class.lo
    divergence, reports = trial.divergence, trial.reports
    if divergence is not None:
        evaluation, borders = moved((divergence.evaluation, divergence.window), move)
        divergence = replace(divergence, evaluation=evaluation, window=borders)
    if reports is not None:
        reports = Reports(
            replace(
                report,
                evaluation=moved(report.evaluation, move),
                windows=moved(report.windows, move),
                instant=moved(report.instant, move),
            )
            for report in reports.first(engine.MAX_REPORTS)
        )
    semantics = replace(trial.semantics, t0=t0_class.t0)
    return replace(
        trial, semantics=semantics, t0_class=t0_class, divergence=divergence, reports=reports
    )


# the kinds of windows that begin at t0 plus multiples of the slide
BEGINNING_AT_T0 = (WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE)


def fit_to_stated_window(
    planned: engine.Plan, lo: int, hi: int, stated_window: tuple[Borders, Closure | None]
) -> range:
    """ORA-11: return the values of t0 in a range with which some window begins where a stated
    window does. All values are returned for kinds of windows that do not begin at t0 plus multiples
    of the slide.
    """
    view, closure = planned.views[0], planned.semantics.closure
    if view.spec.kind not in BEGINNING_AT_T0:
        return range(lo, hi + 1)
    borders, stated_closure = stated_window
    first_instant = borders[0] + window.borders(stated_closure or closure)[0]
    opens = first_instant - window.borders(closure)[0] + view.spec.lag
    return range(lo + (opens - lo) % view.spec.step, hi + 1, view.spec.step)
