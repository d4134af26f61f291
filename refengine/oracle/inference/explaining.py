"""§11 Every semantics of a set that explains a recording: what `judge` decides for one profile,
decided for all members at once.

1. Values that cannot matter to the question are represented by one of them (`representatives`).
2. A plan is made for each combination of the values that it reads (`run_for_each`).
3. Under each plan the evaluations are drawn, again for each combination of the values that are
   read, and only as long as some output explains the recording. So values that are read later, as
   that of the horizon, are not read where the recording differs before.
4. Over the evaluations of one such run, all combinations of R2S, its base, empty answers and
   collections are followed together: the contents, and their answers, are the same.
5. An open t0 takes the values that the oracle tries (ORA-2), in classes with the same evaluations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from refengine.core.moving import Room, moving
from refengine.core.plan import Plan, with_end
from refengine.core.profile import UNKNOWN
from refengine.core.query import Query
from refengine.core.reports import ReportMaker, borders_of
from refengine.core.schedule import Evaluation
from refengine.core.semantics import Semantics
from refengine.core.values import Closure
from refengine.incremental.coverage import NotCovered
from refengine.model.errors import (
    InvalidSemantics,
    InvalidStream,
    TooManyReports,
    Unsupported,
)
from refengine.oracle import orders
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import BEGINNING_AT_T0, fit_to_stated_window
from refengine.oracle.beginnings import (
    EarlierBeginnings,
    find_t0_candidates,
    is_range,
    shows_empty_windows,
)
from refengine.oracle.inference.choices import Choices, run_for_each
from refengine.oracle.inference.nearest import NearMisses
from refengine.oracle.inference.representatives import representatives
from refengine.oracle.inference.runs import (
    Effect,
    FixedT0Needed,
    by_schedule,
    effects,
    evaluations_as_far_as,
    maker_of,
    plan_of,
    with_shared_end,
)
from refengine.oracle.inference.semantics_set import Block, SemanticsSet
from refengine.oracle.t0_classes import T0_CLASS_BOUND, views_from
from refengine.oracle.trial import (
    RecordingToJudge,
    State,
    Trial,
    advance,
    find_accepting_state,
)


class Found(NamedTuple):
    """What was found of a part of a set: whether its members explain the recording, None if that is
    not known. `t0s` are the first and the last of the values of an open t0 of which this was found.
    """

    block: Block
    explains: bool | None
    t0s: tuple[int, int] | None = None


@dataclass(frozen=True)
class Explaining:
    """What explains a recording: the `semantics` that do, and those that were `untried`, since they
    give too many reports, or arrival orders of which too many would have to be searched. `t0s` has
    for each part whose t0 is open values of t0, from one to another, with which it explains it.
    """

    semantics: SemanticsSet
    untried: SemanticsSet
    t0s: tuple[tuple[Block, int, int], ...] = field(default=(), repr=False)

    @staticmethod
    def of(found: Iterable[Found]) -> Explaining:
        """Return the sets of all that was found."""
        listed = list(found)
        explaining = SemanticsSet.of(one.block for one in listed if one.explains)
        untried = SemanticsSet.of(one.block for one in listed if one.explains is None)
        t0s = tuple((one.block, *one.t0s) for one in listed if one.explains and one.t0s)
        return Explaining(explaining, untried - explaining, t0s)


def explaining(
    candidates: SemanticsSet, recorded: RecordingToJudge, answers: SharedAnswers | None = None
) -> Explaining:
    """Return the semantics of a set that explain a recording, as `judge` decides it (ORA-1 to
    ORA-7, ORA-11), without the confirmation by witnesses (ORA-8). Those that mean nothing with the
    question explain nothing.
    """
    return Explaining.of(find_explaining(candidates, recorded, answers or SharedAnswers()))


def find_explaining(
    candidates: SemanticsSet,
    recorded: RecordingToJudge,
    answers: SharedAnswers,
    near: NearMisses | None = None,
    advance_by: Callable[[int], None] = lambda count: None,
) -> Iterator[Found]:
    """Yield what is found of each part of a set, so that a caller can stop at any time. Parts that
    were not yielded are unknown. `near` takes those that explain most relations, but not all.
    `advance_by` is told of how many semantics all is known.
    """
    represent = representatives(recorded.question)
    for block in candidates.blocks:
        known = 0
        for asked in represent.asked(block, recorded.query):
            for part, found in _Search(recorded, answers, near or NearMisses()).find(asked):
                for one in found:
                    yield one._replace(block=represent.restored(one.block, block))
                count = represent.restored(part, block).count
                known += count
                advance_by(count)
        advance_by(block.count - known)  # the rest means nothing with the query


# The search


# The effects with which a run may explain the recording: whether it does; all others do not
Explained = Mapping[Effect, bool | None]


class _Begun(NamedTuple):
    """A plan without its end, and with which values of an open t0 it is tried: from one value to
    another, and others. `t0` is None if it is not open.
    """

    planned: Plan
    ranges: Sequence[tuple[int, int]] = ()
    others: Sequence[Any] = ()
    is_open: bool = False


@dataclass
class _Search:
    recorded: RecordingToJudge
    answers: SharedAnswers
    near: NearMisses
    # how many relations each effect of the last run explains
    matched: dict[Effect, int] = field(default_factory=dict)

    def find(self, block: Block) -> Iterator[tuple[Block, Iterator[Found]]]:
        """Yield each part of a block with the same plan, and what is found of its members."""
        for part, begun in run_for_each([block], self._begin):
            if begun is None:  # it contradicts the stream
                yield part, iter([Found(part, explains=False)])
            elif isinstance(begun, Unsupported):
                yield part, iter([Found(part, explains=None)])
            elif not begun.is_open:
                yield part, self._find_with_plan(part, begun.planned)
            else:
                yield part, self._find_with_open_t0(part, begun)

    # Plans

    def _begin(self, choices: Choices) -> _Begun | Unsupported | None:
        """Return the plan of a semantics; None if it contradicts the stream."""
        semantics = choices.semantics
        try:
            planned = self._plan(semantics)
            (t0,) = choices.block.values("t0") if is_open(choices.block) else (None,)
            if t0 is None:
                return _Begun(planned)
            return self._begin_open(planned, t0)
        except (InvalidSemantics, InvalidStream):
            return None
        except Unsupported as error:
            return error

    def _begin_open(self, planned: Plan, t0: object) -> _Begun:
        """Return a plan with the values of an open t0."""
        with_arrivals = planned if planned.arrivals else with_end(planned)
        found = find_t0_candidates(self.recorded.query, with_arrivals, t0)
        return _Begun(planned, self._fitting(planned, found.lo, found.hi), found.others, True)

    def _plan(self, semantics: Semantics) -> Plan:
        return plan_of(self.recorded, semantics, self.answers)

    def _fitting(self, planned: Plan, lo: int, hi: int) -> Sequence[tuple[int, int]]:
        """Return the ranges of t0 within a range in which a window may begin where the first stated
        one does (ORA-11).
        """
        stated = self.recorded.first_stated_window()
        if stated is None or planned.views[0].spec.kind not in BEGINNING_AT_T0:
            return [(lo, hi)]
        fitting = fit_to_stated_window(planned, lo, hi, stated)
        return [(t0, t0) for t0 in fitting[:T0_CLASS_BOUND]]

    # An open t0

    def _find_with_open_t0(self, part: Block, begun: _Begun) -> Iterator[Found]:
        """Yield what is found with the values of an open t0, one class of them after the other. Of
        what some value explains no other value is tried.
        """
        left = [part]
        for searching in self._searches(begun, left):
            for found in searching:
                if found.explains:
                    left[:] = [rest for one in left for rest in one.minus(found.block)]
                yield found

    def _searches(self, begun: _Begun, left: list[Block]) -> Iterator[Iterator[Found]]:
        """Yield the searches with the values of an open t0. `left` is what is still unexplained."""
        for lo, hi in begun.ranges:
            yield self._find_in_range(left, begun.planned, lo, hi)
        for other in begun.others:
            yield self._find_with_other(list(left), other)
        if any(one.values("t0") == (UNKNOWN,) for one in left):
            yield self._find_earlier(left, begun.planned)

    def _find_in_range(self, left: list[Block], planned: Plan, lo: int, hi: int) -> Iterator[Found]:
        """Yield what is found with each class of t0 in a range."""
        is_keyed = any(view.spec.is_keyed for view in planned.views)
        first = lo
        while first <= hi and left:
            (reported,) = left[0].values("reported_windows")
            room = Room(0 if reported.is_every or is_keyed else hi - first)
            listed = [
                found
                for part in list(left)
                for found in self._find_with_plan(part, planned, first, room)
            ]
            last = first + room.most
            for one in listed:
                yield one._replace(t0s=(first, last))
            first = last + 1

    def _find_with_other(self, parts: Sequence[Block], other: Any) -> Iterator[Found]:
        """Yield what is found with one more value of an open t0, which may be a policy."""

        def plan(choices: Choices) -> Plan | None:
            with suppress(InvalidSemantics):
                planned = self._plan(choices.semantics.with_values(t0=other, offset=None))
                t0 = planned.views[0].t0
                if self.recorded.first_stated_window() is None:
                    return planned
                if t0 is not None and self._fitting(planned, t0, t0):
                    return planned
            return None

        for smaller, planned in run_for_each(parts, plan):
            if planned is None:
                continue
            t0 = planned.views[0].t0
            t0s = None if t0 is None or not planned.has_one_window else (t0, t0)
            for found in self._find_with_plan(smaller, planned, is_t0_open=True):
                yield found._replace(t0s=t0s)

    def _find_earlier(self, left: list[Block], planned: Plan) -> Iterator[Found]:
        """Yield what is found with values of t0 before the range, if windows without elements can
        be reported.
        """

        def ranges(choices: Choices) -> list[tuple[int, int]] | None:
            semantics = choices.semantics
            if not shows_empty_windows(semantics):
                return []
            try:
                ended = with_shared_end(replace(planned, semantics=semantics), self.answers)
                if not ended.own:
                    return []
                earlier = EarlierBeginnings(self.recorded, ended, self.answers)
                return [one for lo, hi in earlier.ranges() for one in self._fitting(ended, lo, hi)]
            except (InvalidSemantics, InvalidStream):
                return []
            except Unsupported:
                return None

        for smaller, found in run_for_each(list(left), ranges):
            if found is None:
                yield Found(smaller, explains=None)
            parts = [smaller]
            for lo, hi in found or ():
                for one in self._find_in_range(parts, planned, lo, hi):
                    if one.explains:
                        parts[:] = [rest for part in parts for rest in part.minus(one.block)]
                    yield one

    # One plan

    def _find_with_plan(
        self,
        part: Block,
        planned: Plan,
        t0: int | None = None,
        room: Room | None = None,
        *,
        is_t0_open: bool = False,
    ) -> Iterator[Found]:
        """Yield what is found of the members of a block that share a plan. A t0 that is given may
        move as far as there is room, which becomes less.
        """

        def run(choices: Choices) -> Explained | None:
            begun = replace(planned, semantics=choices.semantics)
            try:
                if t0 is not None and room is not None:
                    return self._run_from(begun, choices, t0, room)
                return self._run(begun, choices)
            except (InvalidSemantics, InvalidStream):
                return {}
            except TooManyReports:
                return {} if is_t0_open or t0 is not None else None
            except Unsupported:
                return None

        for smaller, explaining_it in run_for_each([part], run):
            self._note_near(smaller, t0)
            if explaining_it is None:
                yield Found(smaller, explains=None)
                continue
            yield from _parts(smaller, explaining_it, self.recorded.query)

    def _note_near(self, block: Block, t0: int | None) -> None:
        """Note the effects of the last run that explain many relations, but not all."""
        for effect, matched in self.matched.items():
            if self.near.wants(matched) and (part := effect.part_of(block, self.recorded.query)):
                fields = next(part.members())
                if t0 is not None:
                    fields |= {"t0": t0, "offset": None}
                if not is_range(fields["t0"]):
                    self.near.note(matched, fields)
        self.matched = {}

    def _run_from(self, planned: Plan, choices: Choices, t0: int, room: Room) -> Explained:
        """Return the outputs that explain the recording, for windows that begin at t0."""
        try:
            moving_t0 = moving(t0, room) if room.most else t0
            return self._run(replace(planned, views=views_from(planned, moving_t0)), choices)
        except FixedT0Needed:
            room.most = 0
            return self._run(replace(planned, views=views_from(planned, t0)), choices)

    def _run(self, planned: Plan, choices: Choices) -> Explained:
        """Return the combinations of output fields that explain the recording under a plan."""
        query = self.recorded.query
        every = {
            effect: planned.semantics.with_values(**values)
            for effect, values in effects(choices.block, query).items()
        }
        explained: dict[Effect, bool | None] = {}
        for scheduled, effects_of_it in by_schedule(planned, every):
            explained |= self._explain(scheduled, effects_of_it)
        return explained

    def _explain(self, planned: Plan, every: Mapping[Effect, Semantics]) -> Explained:
        """Return which effects explain the recording over the evaluations of a plan."""
        if self._is_order_searched(planned):
            ended = with_shared_end(planned, self.answers)
            searches = _OrderSearches(self.recorded, self.answers)
            trials = {effect: searches.trial(ended, effect, every[effect]) for effect in every}
            self.matched |= {
                effect: trial.most_matched
                for effect, trial in trials.items()
                if trial and not trial.explains_recording
            }
            return {
                effect: None if trial is None else trial.explains_recording
                for effect, trial in trials.items()
            }
        try:
            return self._follow(planned, every, is_incremental=True)
        except NotCovered:
            return self._follow(planned, every, is_incremental=False)

    def _is_order_searched(self, planned: Plan) -> bool:
        """Return whether the order of simultaneous elements was not recorded and can matter."""
        recorded = self.recorded
        if all(recorded.streams[spec.stream].ordered for spec in recorded.query.windows):
            return False
        are_some, is_in_order = self.answers.make_once(
            "simultaneous", [planned.arrivals], None, lambda: _times_of(planned)
        )
        return are_some and orders.order_of_simultaneous_matters(planned, is_in_order=is_in_order)

    def _follow(
        self, planned: Plan, every: Mapping[Effect, Semantics], *, is_incremental: bool
    ) -> Explained:
        """Follow the reports of a plan as long as some combination of output fields explains the
        recording, and return those that explain all of it.
        """
        recorded, answers = self.recorded, self.answers
        followed = [
            _Followed(
                effect,
                maker_of(recorded, planned, semantics, answers, is_incremental=is_incremental),
                {State(0, 0, 0)},
            )
            for effect, semantics in every.items()
        ]
        going_on = followed
        for at in answers.look_at_each(evaluations_as_far_as(planned, answers)):
            going_on = [one for one in going_on if one.goes_on(recorded, planned, at)]
            if not going_on:
                break
        explaining_it = [
            one.effect for one in going_on if find_accepting_state(one.states, recorded) is not None
        ]
        self.matched |= {
            one.effect: one.matched for one in followed if one.effect not in explaining_it
        }
        return dict.fromkeys(explaining_it, True)


def _times_of(planned: Plan) -> tuple[bool, bool]:
    """Return whether some arrivals are simultaneous, and whether all are in order."""
    times = [arrival.app for arrival in planned.arrivals]
    return len({*times}) < len(times), times == sorted(times)


def is_open(block: Block) -> bool:
    """Return whether t0 is open in a block in which it has one value."""
    values = block.values("t0")
    return len(values) == 1 and is_range(values[0])


class _SharedGroups:
    """Groups of evaluations that several searches go through. Each is found once."""

    def __init__(self, source: Iterator[orders.EvaluationGroup]) -> None:
        self.source = source
        self.found: list[orders.EvaluationGroup] = []

    def __iter__(self) -> Iterator[orders.EvaluationGroup]:
        yield from self.found
        for group in self.source:
            self.found.append(group)
            yield group


@dataclass
class _OrderSearches:
    """Searches over the arrival orders of one plan, with one effect after the other. `groups` are
    the groups of evaluations, which all effects share that are silent or are not.
    """

    recorded: RecordingToJudge
    answers: SharedAnswers
    groups: dict[bool, _SharedGroups] = field(default_factory=dict)

    def trial(self, planned: Plan, effect: Effect, semantics: Semantics) -> Trial | None:
        """Return the trial of all orders with an effect; None if it is out of reach."""
        planned = replace(planned, semantics=semantics)
        if orders.find_obstacle(self.recorded.question, planned) is not None:
            return None
        search = orders.OrderSearch(self.recorded, planned, self.answers)
        if search.is_silent not in self.groups:
            self.groups[search.is_silent] = _SharedGroups(
                orders.group_evaluations(search, is_repeated_once=not self.recorded.windows)
            )
        known: dict[Hashable, orders.GroupResult] | None = None
        if not self.recorded.windows:
            sources = [self.recorded, planned.views[0].elements]
            known = self.answers.make_once("groups", sources, effect, dict)
        try:
            return orders.search_groups(search, self.groups[search.is_silent], known)
        except Unsupported:
            return None


@dataclass
class _Followed:
    """The reports with one effect, the states that explain them so far, and how many relations one
    of them has explained.
    """

    effect: Effect
    maker: ReportMaker
    states: set[State]
    matched: int = 0

    def goes_on(self, recorded: RecordingToJudge, planned: Plan, at: Evaluation) -> bool:
        """Take the next evaluation, and return whether some state explains the reports so far."""
        step = self.maker.step(at)
        if step.emitted:
            borders: tuple[int, int] | None = None
            closure: Closure | None = None
            if recorded.windows:
                borders = borders_of(planned.views[0], at.windows[0])
                closure = planned.semantics.closure
            self.states = advance(self.states, step.rows, recorded, borders, closure)
            self.matched = max([self.matched, *(state.matched for state in self.states)])
        return bool(self.states)


def _parts(block: Block, explained: Explained, query: Query) -> Iterator[Found]:
    """Yield the part of a block with each effect, and the rest, which explains nothing."""
    rest = [block]
    for effect, explains in explained.items():
        if part := effect.part_of(block, query):
            yield Found(part, explains)
            rest = [left for one in rest for left in one.minus(part)]
    for left in rest:
        yield Found(left, explains=False)
