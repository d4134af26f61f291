"""§11 The oracle: which assignment of what an observer cannot know makes a semantics produce a recorded output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import NamedTuple

from refengine import compare, engine, incremental, orders, r2r, tick, window
from refengine.compare import Mode
from refengine.diverge import divergence
from refengine.errors import Disputed, InvalidSemantics, InvalidStream, RefengineError, TooManyReports, Unsupported
from refengine.model import Dataset, Relation, Stream
from refengine.numbers import Beyond
from refengine.query import Query, WindowKind
from refengine.recording import Answers, Origin, Recorded, State, Trial, accepted, advance
from refengine.semantics import ENUMS, POLICIES, R2S, T0, UNKNOWN, Against, Base, Between, Closing, Condition, Gap, Profile
from refengine.semantics import Semantics, Tick

ORIGIN_BOUND = 10_000  # values of t0 that are tried one by one where no classes exist
NEAREST_BOUND = 100  # assignments of a changed profile
TRIED = (  # fields whose other values may explain an output
    "closure", "slide", "partial", "report", "closing", "change", "expiry", "gap", "tick", "collection", "r2s", "empty", "horizon",
)  # fmt: skip


@dataclass(frozen=True)
class Judgement:
    """A verdict's facts: the winning trial of a pass, the nearest one of a fail, and under what it was judged."""

    passed: bool
    trial: Trial | None
    tried: int
    missing: int
    mode: Mode
    witnesses: tuple[str, ...]


def searcher(witnesses: tuple[str, ...], mode: Mode) -> str:
    """The witness that answers in a search what incremental evaluation does not: the faster one; in term mode rdflib, which keeps
    lexical forms."""
    return r2r.FASTEST if r2r.FASTEST in witnesses and mode is Mode.VALUE else witnesses[0]


def judge(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    recording: Sequence[Relation],
    *,
    missing: int = 1,
    mode: Mode = Mode.VALUE,
    static: Dataset = frozenset(),
    witnesses: tuple[str, ...] = tuple(r2r.WITNESSES),
    answers: Answers | None = None,
) -> Judgement:
    """ORA-1: a recorded output is correct iff some assignment of t0, of the profile's open fields, of the arrival order
    where it was not recorded, and of where the recording starts and ends makes the semantics produce it.

    `missing` is the number k of outputs that may be missing at each end. Raises Unsupported where no verdict is in
    reach, Disputed where the witnesses disagree on what the verdict rests on.
    """
    answers = answers or Answers(searcher(witnesses, mode))
    recorded = Recorded(query, streams, static, tuple(recording), missing, mode)
    trials, beyond = [], None
    for semantics, origin in assignments(query, streams, profile, answers.plan):
        try:
            trial = attempt(recorded, semantics, origin, answers)
        except Unsupported as error:
            beyond = beyond or error
            continue
        if trial.accepted is not None:
            confirm(recorded, trial, answers, witnesses)
            dissent(recorded, trial, answers, witnesses)
            return Judgement(True, trial, len(trials) + 1, missing, mode, witnesses)
        trials.append(trial)
    if beyond is not None:
        raise beyond
    trials = [replace(trial, divergence=divergence(recorded, trial, answers)) for trial in trials]
    best = min(trials, key=lambda trial: trial.divergence.cost, default=None)
    if best is not None:
        confirm(recorded, best, answers, witnesses)
        if best.ordered and defined(recorded, answers.planned(recorded, best.semantics), best.origin, answers).accepted is not None:
            raise Disputed("incremental evaluation fails what the definition passes", rule="ORA-8")
    for trial in trials:
        agreed = answers.agreed(query.body, trial.last, witnesses)
        if trial.answer is not None and not compare.equal(r2r.collected(trial.semantics.collection, agreed.rows), trial.answer):
            raise Disputed("incremental evaluation and the witnesses disagree", rule="ORA-8", answers={"witnesses": agreed})
        dissent(recorded, trial, answers, witnesses)
    return Judgement(False, best, len(trials), missing, mode, witnesses)


def assignments(
    query: Query, streams: Mapping[str, Stream], profile: Profile, plan: Callable[..., engine.Plan]
) -> Iterator[tuple[Semantics, Origin]]:
    """Every complete semantics of a profile that means something with the query, with the class of t0 that it stands for; `plan` is engine.plan,
    or does what it does."""
    meaningless, some = None, False
    for fields in profile.assignments((0,)):
        try:
            semantics = Semantics(**fields)
            planned = plan(query, streams, semantics)
            for arrival in planned.arrivals if semantics.tick is Tick.BATCH else ():
                tick.due(semantics.tick, arrival, arrival.app, 0)  # refuses an element without a batch id
        except (InvalidSemantics, InvalidStream) as error:
            meaningless = meaningless or error
            continue
        some = True
        if _is_range(profile.fields.get("t0", UNKNOWN)):
            for origin in origins(planned, profile.fields.get("t0")):
                yield replace(semantics, t0=origin.t0), origin
            continue
        t0 = planned.views[0].t0 if len(planned.views) == 1 else None
        if t0 is not None:
            semantics = replace(semantics, t0=t0, offset=None)
        yield semantics, Origin(t0 or 0, t0 or 0, t0 or 0)
    if meaningless is not None and not some:
        raise meaningless


def _is_range(t0: object) -> bool:
    return isinstance(t0, Between) or t0 == UNKNOWN


def origins(planned: engine.Plan, bounds: object) -> list[Origin]:
    """ORA-2: the classes of t0 in its range (by default one slide, up to the first instant less ω), one value of each.

    A class ends where a window's first instant passes an element or the horizon, or its last one reaches it or, where
    the emptying of a window can be reported, the instant before it.
    """
    view, semantics = planned.views[0], planned.semantics
    spec, times = view.spec, sorted({*view.times, *planned.own})
    if isinstance(bounds, Between):
        lo, hi = bounds.lo, bounds.hi
    elif len(planned.views) > 1:
        raise Unsupported("a query with several windows has no one range of t0; give t0 or a range", rule="ORA-2")
    else:
        hi = (view.times[0] if view.times else 0) - spec.span
        lo = hi - (2 if spec.kind is WindowKind.LANDMARK else spec.step) + 1
    if lo > hi:
        raise InvalidSemantics(f"t0 must be in a range that holds a value, got {lo} to {hi}", rule="ORA-2")
    if not _classed(planned):
        if hi - lo >= ORIGIN_BOUND:
            reason = f"here each of {hi - lo + 1} values of t0 is a class of its own; give t0 or a narrower range"
            raise Unsupported(reason, rule="ORA-2")
        return [Origin(t0, t0, t0) for t0 in range(lo, hi + 1)]
    low, high = window.borders(semantics.closure)
    passes = [1 - low, -spec.span - high]
    if Condition.CLOSE not in semantics.report or semantics.closing is Closing.PASSED or spec.kind is WindowKind.TUPLE:
        passes.append(-1 - spec.span - high)
    starts, residues = {lo}, {(time + shift) % spec.step for time in times for shift in passes}
    if len(residues) * (hi - lo) // spec.step > ORIGIN_BOUND:
        raise Unsupported(f"too many classes of t0 from {lo} to {hi}; give t0 or a narrower range", rule="ORA-2")
    for residue in residues:
        first = lo + (residue - lo) % spec.step
        starts.update(range(first, hi + 1, spec.step))
    ordered = sorted(starts)
    ends = [start - 1 for start in ordered[1:]] + [hi]
    return [Origin(end, start, end) for start, end in zip(ordered, ends, strict=True)]


def _classed(planned: engine.Plan) -> bool:
    """Whether values of t0 fall into classes: one of SECRET's windows over points, reported by close or change alone."""
    view, semantics = planned.views[0], planned.semantics
    tuples = view.spec.kind is WindowKind.TUPLE
    return (
        len(planned.views) == 1
        and (tuples and semantics.tick is not Tick.TIME or view.spec.kind is WindowKind.TIME)  # TICK-2 compares app with an id
        and view.ends is None
        and semantics.against is Against.LAST
        and Condition.PERIODIC not in semantics.report
        and bool(semantics.report & {Condition.CLOSE, Condition.CHANGE})
    )


def attempt(recorded: Recorded, semantics: Semantics, origin: Origin, answers: Answers) -> Trial:
    """One assignment against the recording, by incremental evaluation where answers are compared by value."""
    planned = answers.planned(recorded, semantics)
    unordered = any(not recorded.streams[spec.stream].ordered for spec in recorded.query.windows)
    if unordered and orders.order_matters(planned):
        return orders.search(recorded, planned, origin, answers)
    asked = answers.asked(recorded, planned)
    if isinstance(asked, str):
        return replace(defined(recorded, planned, origin, answers), by=f"the definition ({asked})")
    try:
        return looked_up(recorded, planned, origin, asked)
    except Beyond as error:
        return replace(defined(recorded, planned, origin, answers), by=f"the definition ({error})")


def looked_up(recorded: Recorded, planned: engine.Plan, origin: Origin, asked: incremental.Asked) -> Trial:
    """One assignment against the recording, by incremental evaluation. Raises Beyond."""
    states, step = {State(0, 0, 0)}, None
    for step in incremental.looked_up(recorded.query, planned, asked):
        if step.emitted:
            states = advance(states, step.report.relation.rows, recorded)
        if not states:
            break
    found = Trial(planned.semantics, origin, accepted(states, recorded), by="incremental evaluation")
    if step is None:
        return found
    contents = [held.content for held in step.at.windows]
    return replace(found, last=r2r.together(planned.views, contents, recorded.static), answer=step.answer)


def defined(recorded: Recorded, planned: engine.Plan, origin: Origin, answers: Answers) -> Trial:
    """One assignment against the recording, by the definition."""
    states, last = {State(0, 0, 0)}, ()
    for step in engine.steps(recorded.query, planned, static=recorded.static, answer=answers):
        if step.emitted:
            states, last = advance(states, step.report.relation.rows, recorded), [held.content for held in step.at.windows]
        if not states:
            break
    dataset = r2r.together(planned.views, last, recorded.static) if last else frozenset()
    return Trial(planned.semantics, origin, accepted(states, recorded), last=dataset)


def confirm(recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]) -> None:
    """ORA-8: every witness computes what a verdict rests on: the winning assignment's reports (those at the ends of
    instants where orders were searched), or a fail's up to its first divergence, and incremental evaluation answers as they do. A
    pass is the definition's, too. Raises Disputed where they differ."""
    planned = answers.planned(recorded, trial.semantics)
    where = trial.divergence
    final = {} if trial.ordered else {element.app: index + 1 for index, element in enumerate(planned.views[0].elements)}
    seen = set()
    for at in incremental.evaluations(planned):
        if where is not None and where.evaluation is not None and at.t > where.evaluation:
            break
        contents = tuple(held.content for held in at.windows)
        whole = trial.ordered or at.content.stop == final.get(at.t, at.content.stop)
        if whole and contents not in seen:
            seen.add(contents)
            agreed = answers.agreed(recorded.query.body, r2r.together(planned.views, contents, recorded.static), witnesses)
            _hold(agreed, answers.asked(recorded, planned), contents)
    if trial.accepted is not None and trial.ordered and defined(recorded, planned, trial.origin, answers).accepted is None:
        raise Disputed("incremental evaluation passes what the definition fails", rule="ORA-8")


def _hold(agreed: Relation, asked: incremental.Asked | str, contents: tuple[window.Content, ...]) -> None:
    """ORA-8: incremental evaluation answers as the witnesses do. Raises Disputed."""
    with suppress(Beyond):
        if isinstance(asked, incremental.Asked) and not compare.equal(agreed.rows, asked(contents)):
            raise Disputed("incremental evaluation and the witnesses disagree", rule="ORA-8", answers={"witnesses": agreed})


def dissent(recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]) -> None:
    """ORA-8: where orders were searched, one explains the output by every witness's answers or by none's, inside
    instants too. Raises Disputed where they differ."""
    for witness in () if trial.ordered else [name for name in witnesses if name != answers.witness]:
        again = attempt(recorded, trial.semantics, trial.origin, answers.by(witness))
        if (again.accepted is None) != (trial.accepted is None):
            yes, no = (witness, answers.witness) if again.accepted else (answers.witness, witness)
            raise Disputed(f"an arrival order explains the output by {yes}'s answers, none by {no}'s", rule="ORA-8")


class Change(NamedTuple):
    """One field of a profile and another value of it."""

    field: str
    value: object


class Nearest(NamedTuple):
    """The single changes that would explain the output, and those of which that cannot be said."""

    changes: tuple[Change, ...] = ()
    untried: tuple[Change, ...] = ()


def nearest(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    recording: Sequence[Relation],
    *,
    fields: Iterable[str] = TRIED,
    missing: int = 1,
    mode: Mode = Mode.VALUE,
    static: Dataset = frozenset(),
    witnesses: tuple[str, ...] = tuple(r2r.WITNESSES),
    answers: Answers | None = None,
) -> Nearest:
    """ORA-9: the single changes of a profile's field under which the recording would be correct, as the search finds it;
    a change that leaves more than NEAREST_BOUND assignments is not tried."""
    answers = answers or Answers(searcher(witnesses, mode))
    recorded = Recorded(query, streams, static, tuple(recording), missing, mode)
    profile = resolved(query, streams, profile, answers)
    fields = [name for name in fields if name != "r2s" or query.r2s is None]  # R2S-6: what the query states is not in the semantics
    changes = [Change(name, value) for name in fields for value in _alternatives(name, profile.fields.get(name))]
    found = {change: _explains(recorded, changed(profile, change), answers) for change in changes}
    return Nearest(
        tuple(change for change in changes if found[change]), tuple(change for change in changes if found[change] is None)
    )


def changed(profile: Profile, change: Change) -> Profile:
    """A profile with one field changed, and its companions where they would contradict it (SEM-2)."""
    more: dict[str, object] = {}
    match change.field:
        case "r2s":
            differs = change.value in (R2S.ISTREAM, R2S.DSTREAM)
            more["base"] = (profile.fields.get("base") or Base.PREVIOUS) if differs else None
        case "report" if Condition.PERIODIC not in change.value:
            more |= {"period": None, "anchor": None}
            more |= {} if Condition.CLOSE in change.value else {"gap": Gap.ALL}
    return profile.but(**{change.field: change.value}, **more)


def resolved(query: Query, streams: Mapping[str, Stream], profile: Profile, answers: Answers) -> Profile:
    """A profile whose t0 is the integer that a published formula gives, so that another closure can be tried."""
    t0 = profile.fields.get("t0")
    if not isinstance(t0, T0) or t0 in POLICIES or len(query.windows) > 1:
        return profile
    origin = next(assignments(query, streams, profile, answers.plan), None)
    return profile if origin is None else profile.but(t0=origin[1].t0)


def _explains(recorded: Recorded, profile: Profile, answers: Answers) -> bool | None:
    """Whether some assignment of a profile explains the recording; None where that is out of reach, False also for a
    profile that has no meaning here."""
    doubt = None
    try:
        tried = list(islice(assignments(recorded.query, recorded.streams, profile, answers.plan), NEAREST_BOUND + 1))
        if len(tried) > NEAREST_BOUND:
            return None
        for semantics, origin in tried:
            try:
                if attempt(recorded, semantics, origin, answers).accepted:
                    return True
            except Unsupported as error:
                doubt = error
    except (Unsupported, Disputed, TooManyReports):
        return None
    except RefengineError:
        return False
    return None if doubt else False


def _alternatives(name: str, current: object) -> list:
    if name == "report":
        conditions = sorted(set(Condition) - {Condition.PERIODIC})
        every = [frozenset(c) for size in range(1, len(conditions) + 1) for c in combinations(conditions, size)]
        return [report for report in every if report != current]
    return [value for value in ENUMS[name] if value != current]
