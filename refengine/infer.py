"""§11 The oracle: which assignment of what an observer cannot know makes a semantics produce a recorded output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import NamedTuple

from refengine import engine, orders, r2r, window
from refengine.compare import Mode
from refengine.diverge import divergence
from refengine.errors import Disputed, InvalidSemantics, RefengineError, Unsupported
from refengine.model import Element, Relation, Stream
from refengine.query import Query, Window, WindowKind
from refengine.recording import Answers, Origin, Recorded, State, Trial, accepted, advance
from refengine.semantics import ENUMS, UNKNOWN, Between, Condition, Profile, Semantics, Tick

ORIGIN_BOUND = 10_000  # values of t0 that are tried one by one where no classes exist
NEAREST_BOUND = 100  # assignments of a changed profile


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
    """The witness that answers in a search: the faster one; in term mode rdflib, which keeps lexical forms."""
    return r2r.FASTEST if r2r.FASTEST in witnesses and mode is Mode.VALUE else witnesses[0]


def judge(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    recording: Sequence[Relation],
    *,
    missing: int = 1,
    mode: Mode = Mode.VALUE,
    witnesses: tuple[str, ...] = tuple(r2r.WITNESSES),
    answers: Answers | None = None,
) -> Judgement:
    """ORA-1: a recorded output is correct iff some assignment of t0, of the profile's open fields, of the arrival order
    where it was not recorded, and of where the recording starts and ends makes the semantics produce it.

    `missing` is the number k of outputs that may be missing at each end. Raises Unsupported where no verdict is in
    reach, Disputed where the witnesses disagree on what the verdict rests on.
    """
    answers = answers or Answers(searcher(witnesses, mode))
    recorded = Recorded(query, streams, tuple(recording), missing, mode)
    trials, beyond = [], None
    for semantics, origin in assignments(query, streams, profile):
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
    for trial in trials:
        answers.agreed(query.body, r2r.dataset(trial.last), witnesses)
        dissent(recorded, trial, answers, witnesses)
    return Judgement(False, best, len(trials), missing, mode, witnesses)


def assignments(query: Query, streams: Mapping[str, Stream], profile: Profile) -> Iterator[tuple[Semantics, Origin]]:
    """Every complete semantics of a profile, with the class of t0 that it stands for."""
    spec, elements = engine.the_window(query, streams)
    for semantics in profile.assignments((0,)):
        if not _is_range(profile.fields.get("t0", UNKNOWN)):
            t0 = window.origin(spec, semantics.t0, elements[0].app if elements else None)
            if t0 is not None:
                semantics = replace(semantics, t0=t0)
            yield semantics, Origin(t0 or 0, t0 or 0, t0 or 0)
            continue
        for origin in origins(spec, elements, semantics, profile.fields.get("t0")):
            yield replace(semantics, t0=origin.t0), origin


def _is_range(t0: object) -> bool:
    return isinstance(t0, Between) or t0 == UNKNOWN


def origins(spec: Window, elements: Sequence[Element], semantics: Semantics, bounds: object) -> list[Origin]:
    """ORA-2: the classes of t0 in its range (by default one slide, up to the first instant less ω), one value of each.

    A class ends where a window's first instant passes an element or the horizon, or its last one reaches it or, where
    the emptying of a window can be reported, the instant before it.
    """
    times = sorted(set(window.instants(spec, engine.arrivals(spec, elements, semantics))))
    if isinstance(bounds, Between):
        lo, hi = bounds.lo, bounds.hi
    else:
        hi = (times[0] if times else 0) - spec.size
        lo = hi - spec.slide + 1
    if lo > hi:
        raise InvalidSemantics(f"t0 must be in a range that holds a value, got {lo} to {hi}", rule="ORA-2")
    mixed = spec.kind is WindowKind.TUPLE and semantics.tick is Tick.TIME  # TICK-2 compares app with s0, an id
    if mixed or Condition.PERIODIC in semantics.report or not semantics.report & {Condition.CLOSE, Condition.CHANGE}:
        if hi - lo >= ORIGIN_BOUND:
            reason = f"under this report each of {hi - lo + 1} values of t0 is a class of its own; give t0 or a narrower range"
            raise Unsupported(reason, rule="ORA-2")
        return [Origin(t0, t0, t0) for t0 in range(lo, hi + 1)]
    low, high = window.borders(semantics.closure)
    passes = [1 - low, -spec.size - high]
    if Condition.CLOSE not in semantics.report:
        passes.append(-1 - spec.size - high)
    starts = {lo}
    for residue in {(time + shift) % spec.slide for time in times for shift in passes}:
        first = lo + (residue - lo) % spec.slide
        starts.update(range(first, hi + 1, spec.slide))
    ordered = sorted(starts)
    ends = [start - 1 for start in ordered[1:]] + [hi]
    return [Origin(end, start, end) for start, end in zip(ordered, ends, strict=True)]


def attempt(recorded: Recorded, semantics: Semantics, origin: Origin, answers: Answers) -> Trial:
    """One assignment against the recording."""
    spec, elements = engine.the_window(recorded.query, recorded.streams)
    if not recorded.streams[spec.stream].ordered and orders.order_matters(spec, elements, semantics):
        return orders.search(recorded, semantics, origin, answers)
    states, last = {State(0, 0, 0)}, ()
    for report in engine.evaluate(recorded.query, recorded.streams, semantics, answer=answers):
        states, last = advance(states, report.relation.rows, recorded), report.content
        if not states:
            break
    return Trial(semantics, origin, accepted(states, recorded), last=last)


def confirm(recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]) -> None:
    """ORA-8: every witness computes what a verdict rests on: the winning assignment's reports (those at the ends of
    instants where orders were searched), or a fail's up to its first divergence. Raises Disputed where they differ."""
    spec, elements = engine.the_window(recorded.query, recorded.streams)
    where = trial.divergence
    final = {element.app: index + 1 for index, element in enumerate(elements)}
    seen = set()
    for at in engine.evaluations(spec, elements, trial.semantics):
        if where is not None and where.evaluation is not None and at.t > where.evaluation:
            break
        whole = at.content.stop == final.get(at.t, at.content.stop)
        if (trial.ordered or whole) and at.content not in seen:
            seen.add(at.content)
            answers.agreed(recorded.query.body, r2r.dataset(elements[i] for i in at.content), witnesses)


def dissent(recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]) -> None:
    """ORA-8: where orders were searched, one explains the output by every witness's answers or by none's, inside
    instants too. Raises Disputed where they differ."""
    for witness in witnesses if not trial.ordered else ():
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
    fields: Iterable[str] = ("closure", "report", "tick", "r2s", "empty", "horizon"),
    missing: int = 1,
    mode: Mode = Mode.VALUE,
    witnesses: tuple[str, ...] = tuple(r2r.WITNESSES),
    answers: Answers | None = None,
) -> Nearest:
    """ORA-9: the single changes of a profile's field under which the recording would be correct, by the faster witness;
    a change that leaves more than NEAREST_BOUND assignments is not tried."""
    answers = answers or Answers(searcher(witnesses, mode))
    recorded = Recorded(query, streams, tuple(recording), missing, mode)
    changes = [Change(name, value) for name in fields for value in _alternatives(name, profile.fields.get(name))]
    found = {change: _explains(recorded, profile.but(**{change.field: change.value}), answers) for change in changes}
    return Nearest(
        tuple(change for change in changes if found[change]), tuple(change for change in changes if found[change] is None)
    )


def _explains(recorded: Recorded, profile: Profile, answers: Answers) -> bool | None:
    """Whether some assignment of a profile explains the recording; None where that is out of reach, False also for a
    profile that has no meaning here."""
    doubt = None
    try:
        tried = list(islice(assignments(recorded.query, recorded.streams, profile), NEAREST_BOUND + 1))
        for semantics, origin in tried[:NEAREST_BOUND]:
            try:
                if attempt(recorded, semantics, origin, answers).accepted:
                    return True
            except Unsupported as error:
                doubt = error
    except (Unsupported, Disputed) as error:
        return None if error.rule != "QRY-4" else False
    except RefengineError:
        return False
    return None if doubt or len(tried) > NEAREST_BOUND else False


def _alternatives(name: str, current: object) -> list:
    if name == "report":
        conditions = sorted(set(Condition) - {Condition.PERIODIC})
        every = [frozenset(c) for size in range(1, len(conditions) + 1) for c in combinations(conditions, size)]
        return [report for report in every if report != current]
    return [value for value in ENUMS[name] if value != current]
