"""§11 The oracle: which assignment of what an observer cannot know makes a semantics produce a recorded output."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations, islice, product
from math import comb
from typing import NamedTuple

from refengine import compare, derive, engine, r2r, r2s, window
from refengine.compare import Mode
from refengine.errors import Disputed, InvalidSemantics, RefengineError, Unsupported
from refengine.model import Bag, Element, Relation, Row, Stream, Triple, is_blank
from refengine.query import Body, Query, Window, WindowKind
from refengine.semantics import ENUMS, R2S, UNKNOWN, Between, Condition, Empty, Profile, Semantics, Tick

ORIGIN_BOUND = 10_000  # values of t0 that are tried one by one where no classes exist
ORDER_BOUND = 50_000  # states of one search over arrival orders
NEAREST_BOUND = 100  # assignments of a changed profile
SURPLUS = 100  # outputs beyond the recording that a distance counts


class Origin(NamedTuple):
    """A class of t0 values that no element tells apart: the one tried, and the class's bounds."""

    t0: int
    lo: int
    hi: int


class State(NamedTuple):
    """How much of the recording is explained: outputs missing before it, relations matched, outputs missing after it."""

    before: int
    matched: int
    after: int


@dataclass(frozen=True)
class Divergence:
    """Where the semantics and the recording part: the recording's relation `index` (from 0), the window and its content
    there, the rows expected and recorded (None: no relation is left), and the rows that rest on a window border."""

    index: int
    evaluation: int | None
    window: tuple[int, int] | None
    content: tuple[Element, ...]
    expected: Bag | None
    actual: Bag | None
    reason: str
    borders: tuple[BorderRow, ...] = ()


class Fate(StrEnum):
    """Where a recording has a row that an element on a window border completes."""

    PLACE = "in place"
    EARLY = "one window early"
    LATE = "one window late"
    BOTH = "in both windows"
    OUT = "left out"


EXPLAINED = {Fate.PLACE: 0, Fate.EARLY: 2, Fate.LATE: 2, Fate.BOTH: 1, Fate.OUT: 1}  # differing rows


class BorderRow(NamedTuple):
    """A row completed by an element on a window border, that element's t_app, the window and what became of the row."""

    row: Row
    at: int
    window: tuple[int, int]
    fate: Fate


@dataclass(frozen=True)
class Trial:
    """One assignment: the state that accepts the recording, or, of a search over orders, where every order parts
    from it. `ordered`: whether no order had to be searched; `last`: the content at which a failed one ended."""

    semantics: Semantics
    origin: Origin
    accepted: State | None
    divergence: Divergence | None = None
    ordered: bool = True
    last: tuple[Element, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """A verdict's facts: the winning trial of a pass, the nearest one of a fail, and under what it was judged."""

    passed: bool
    trial: Trial | None
    tried: int
    missing: int
    mode: Mode
    witnesses: tuple[str, ...]


@dataclass(frozen=True)
class Recorded:
    """What is judged: a query, its streams and the recorded relations, with the stated bound and mode."""

    query: Query
    streams: Mapping[str, Stream]
    relations: tuple[Relation, ...]
    missing: int
    mode: Mode

    @property
    def rows(self) -> list[Bag]:
        return [relation.rows for relation in self.relations]


class Answers:
    """The faster witness's answers, and derivations, each computed once; a table of results, not of decisions."""

    def __init__(self, witness: str = r2r.FASTEST):
        self.witness = witness
        self.known: dict[tuple[str, frozenset], Relation] = {}
        self.derived: dict[tuple[str, frozenset], list[derive.Derivation]] = {}

    def __call__(self, body: Body, graph: frozenset) -> Relation:
        key = (body.text, graph)
        if key not in self.known:
            self.known[key] = r2r.ask(self.witness, body, graph)
        return self.known[key]

    def derivations(self, body: Body, graph: frozenset) -> list[derive.Derivation]:
        """The derivations of the body over a graph."""
        key = (body.text, graph)
        if key not in self.derived:
            self.derived[key] = derive.derivations(body, graph)
        return self.derived[key]


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
            confirm(recorded, trial, witnesses)
            return Judgement(True, trial, len(trials) + 1, missing, mode, witnesses)
        trials.append(trial)
    if beyond is not None:
        raise beyond
    best = min(trials, key=lambda trial: distance(recorded, trial, answers), default=None)
    if best is not None:
        best = replace(best, divergence=divergence(recorded, best, answers))
        confirm(recorded, best, witnesses)
        for trial in trials if len(witnesses) > 1 else ():
            r2r.agreed(query.body, r2r.dataset(trial.last), witnesses)
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
    if not recorded.streams[spec.stream].ordered and order_matters(spec, elements, semantics):
        return _by_orders(recorded, semantics, origin, answers)
    states, last = {State(0, 0, 0)}, ()
    for report in engine.evaluate(recorded.query, recorded.streams, semantics, answer=answers):
        states, last = advance(states, report.relation.rows, recorded), report.content
        if not states:
            break
    return Trial(semantics, origin, _accepted(states, recorded), last=last)


def advance(states: Iterable[State], output: Bag, recorded: Recorded) -> set[State]:
    """ORA-3: one more output of the semantics: it is missing before the recording or after it, at most k times each,
    or it is the recording's next relation."""
    rows, following = recorded.rows, set()
    for before, matched, after in states:
        if matched == 0 and before < recorded.missing:
            following.add(State(before + 1, 0, 0))
        if matched < len(rows) and compare.equal(output, rows[matched], recorded.mode):
            following.add(State(before, matched + 1, 0))
        if matched == len(rows) and rows and after < recorded.missing:
            following.add(State(before, matched, after + 1))
    return following


def _accepted(states: Iterable[State], recorded: Recorded) -> State | None:
    """The state that explains all of the recording with the fewest outputs missing; an empty recording allows none."""
    whole = [s for s in states if s.matched == len(recorded.relations) and (recorded.relations or s.before == 0)]
    return min(whole, key=lambda s: (s.before + s.after, s), default=None)


def order_matters(spec: Window, elements: Sequence[Element], semantics: Semantics) -> bool:
    """ORA-4: the order of simultaneous elements cannot matter where only complete instants are seen: for time-based
    windows under window close or the time tick; nor where nothing is simultaneous."""
    ties = any(a.app == b.app for a, b in zip(elements, elements[1:], strict=False))
    complete = Condition.CLOSE in semantics.report or semantics.tick is Tick.TIME
    return ties and not (complete and spec.kind is WindowKind.TIME)


class Moment(NamedTuple):
    """The evaluations of one instant at which simultaneous elements are seen one after the other: the evaluations,
    the elements kept from before, and the indices of the instant's elements."""

    evaluations: tuple[engine.Evaluation, ...]
    kept: range
    arriving: range


def _moments(spec: Window, elements: Sequence[Element], semantics: Semantics) -> Iterator[Moment]:
    """A schedule cut into moments. Which prefix is evaluated when does not depend on the order of simultaneous
    elements, only what the prefix holds does."""
    first = {}
    for index, element in enumerate(elements):
        first.setdefault(element.app, index)
    last = {element.app: index + 1 for index, element in enumerate(elements)}
    pending: list[engine.Evaluation] = []

    def closed() -> Iterator[Moment]:
        if pending:
            at = pending[0].t
            yield Moment(tuple(pending), range(pending[0].content.start, first[at]), range(first[at], last[at]))
            pending.clear()

    for at in engine.evaluations(spec, elements, semantics):
        partial = at.t in first and at.content.stop > first[at.t] and last[at.t] - first[at.t] > 1  # an empty content stops at 0
        if not partial or (pending and pending[0].t != at.t):
            yield from closed()
        if partial:
            pending.append(at)
        else:
            yield Moment((at,), at.content, range(0))
    yield from closed()


def _by_orders(recorded: Recorded, semantics: Semantics, origin: Origin, answers: Answers) -> Trial:
    """ORA-5 to ORA-7: follow the recording instant by instant, over every order of simultaneous elements."""
    spec, elements = engine.the_window(recorded.query, recorded.streams)
    if spec.kind is WindowKind.TUPLE or semantics.tick is Tick.BATCH:
        what = "tuple-based windows" if spec.kind is WindowKind.TUPLE else "the batch tick"
        raise Unsupported(f"{what} over simultaneous elements whose arrival order was not recorded", rule="ORA-7")
    if recorded.query.body.makes_blanks:
        raise Unsupported("a body that makes blank nodes, over simultaneous elements of unknown order", rule="ORA-7")
    look = _Look(recorded, semantics, elements, answers)
    states, base = {State(0, 0, 0)}, Counter()
    for moment in _moments(spec, elements, semantics):
        if moment.arriving:
            following, base_after, furthest = instant(look, moment, states, base)
        else:
            now, furthest = look.answer(moment.kept), max(state.matched for state in states)
            output = r2s.relation_to_stream(look.operator, now, base)
            emitted = r2s.emitted(semantics.empty, output)
            following, base_after = advance(states, output, recorded) if emitted else states, now
        if not following:
            where = _moment_divergence(look, moment, furthest, base)
            return Trial(semantics, origin, None, where, ordered=False, last=where.content)
        states, base = following, base_after
    accepted = _accepted(states, recorded)
    if accepted is not None:
        return Trial(semantics, origin, accepted, ordered=False)
    furthest = max(state.matched for state in states)
    left = recorded.rows[furthest] if furthest < len(recorded.rows) else None
    reason = "the semantics reports nothing more" if left is not None else "reports were expected and none was recorded"
    where = Divergence(furthest, None, None, (), None, left, reason)
    return Trial(semantics, origin, None, where, ordered=False)


@dataclass(frozen=True)
class _Look:
    """The fixed surroundings of a search over orders."""

    recorded: Recorded
    semantics: Semantics
    elements: Sequence[Element]
    answers: Answers

    @property
    def operator(self) -> R2S:
        return engine.operator(self.recorded.query, self.semantics)

    def answer(self, kept: range, more: Iterable[int] = ()) -> Bag:
        """The answer over the elements of a range and some more."""
        held = [*self.elements[kept.start : max(kept.start, kept.stop)], *(self.elements[i] for i in more)]
        return self.answers(self.recorded.query.body, r2r.dataset(held)).rows

    def derivations(self, moment: Moment) -> list[Grown] | None:
        """The derivations that an instant's elements complete, each with the arriving elements it needs; None where the
        body has none, or a needed triple is in several arriving elements, so that a support is not one set."""
        body = self.recorded.query.body
        if derive.pattern(body) is None:
            return None
        old = r2r.dataset(self.elements[i] for i in moment.kept)
        carriers = defaultdict(list)
        for i in moment.arriving:
            for triple in self.elements[i].graph - old:
                carriers[triple].append(i)
        grown = []
        for derivation in self.answers.derivations(body, old.union(carriers)):
            new = derivation.support - old
            if new and any(len(carriers[triple]) > 1 for triple in new):
                return None
            if new:
                grown.append(Grown(derivation.row, frozenset(carriers[triple][0] for triple in new)))
        return grown


class Grown(NamedTuple):
    """A derivation's row and the simultaneous elements that it waits for."""

    row: Row
    needs: frozenset[int]


def instant(look: _Look, moment: Moment, states: set[State], base: Bag) -> tuple[set[State], Bag, int]:
    """The states after an instant's simultaneous elements, whatever their order; the base of the next difference; and
    how many relations some order explains."""
    grown = look.derivations(moment)
    rows = Counter(g.row for g in grown or ())
    plain = not compare.blanks(rows) and compare.distinct(rows, look.recorded.mode)
    if grown is not None and plain and _monotone(look, moment):
        total = instant_sum(look, moment, grown, base)
        if total is not None:
            following = set().union(*(_realised(look, grown, total, state) for state in states))
            furthest = max(_explained(look, total, state) for state in states)
            return following, look.answer(range(moment.kept.start, moment.arriving.stop)), furthest
    return orders(look, moment, grown, states, base)


def _monotone(look: _Look, moment: Moment) -> bool:
    """Whether ORA-5 applies to the semantics and the body, and the instant was seen to its end."""
    semantics = look.semantics
    return (
        derive.projects(look.recorded.query.body)
        and look.operator is R2S.ISTREAM
        and semantics.empty is Empty.SUPPRESS
        and Condition.CHANGE in semantics.report
        and Condition.PERIODIC not in semantics.report
        and moment.evaluations[-1].content.stop == moment.arriving.stop
    )


def instant_sum(look: _Look, moment: Moment, grown: list[Grown], base: Bag) -> Bag | None:
    """ORA-5: the sum of an instant's outputs under any order, Q(F) − Q(K); None where a row that expires with the
    instant's first arrival is derived again in it, so that the sum depends on the order, or where the derivations
    do not add up to the witness's answer."""
    total = Counter(g.row for g in grown)
    expired = base - look.answer(moment.kept)
    mode = look.recorded.mode
    clash = any(compare.equal(Counter([a]), Counter([b]), mode) for a in expired for b in total)
    whole = look.answer(range(moment.kept.start, moment.arriving.stop))
    return total if not clash and compare.equal(look.answer(moment.kept) + total, whole, mode) else None


def _realised(look: _Look, grown: list[Grown], total: Bag, state: State) -> set[State]:
    """The states after an instant whose outputs sum to `total`, from one state."""
    if not total:
        return {state}
    recorded, following = look.recorded, set()
    rows, before, matched, after = recorded.rows, *state
    spare_before = recorded.missing - before if matched == 0 else 0
    outputs: list[Bag] = []
    left = total
    for taken in range(len(rows) - matched + 1):
        if taken:
            output = _as_rows(rows[matched + taken - 1], total, recorded.mode)
            if not output or not output <= left:
                break
            outputs, left = [*outputs, output], left - output
        at_end = matched + taken == len(rows)
        spare_after = recorded.missing - after if at_end and rows else 0
        for early in range(spare_before + 1):
            for late in range(spare_after + 1):
                if any(realisable(filled, grown) for filled in _filled(outputs, left, early, late)):
                    following.add(State(before + early, matched + taken, after + late))
    return following


def _explained(look: _Look, total: Bag, state: State) -> int:
    """How many relations an instant's sum has the rows for."""
    left, matched = total, state.matched
    for rows in look.recorded.rows[matched:]:
        output = _as_rows(rows, total, look.recorded.mode)
        if not output or not output <= left:
            break
        left, matched = left - output, matched + 1
    return matched


def _as_rows(output: Bag, total: Bag, mode: Mode) -> Bag | None:
    """A recorded relation in the terms of the expected rows; None if it has a row that no expected one equals."""
    translated: Bag = Counter()
    for line, count in output.items():
        same = line if line in total else next((e for e in total if compare.equal(Counter([line]), Counter([e]), mode)), None)
        if same is None:
            return None
        translated[same] += count
    return translated


def _filled(outputs: list[Bag], left: Bag, early: int, late: int) -> Iterator[list[Bag]]:
    """The outputs with the rows that the recording lacks dealt to `early` outputs before it and `late` after it."""
    parts = early + late
    if parts == 0:
        if not left:
            yield outputs
        return
    lines = sorted(left.elements())
    if len(lines) < parts:
        return
    if parts > 1 and parts ** len(lines) > ORDER_BOUND:
        raise Unsupported(f"{len(lines)} rows missing in {parts} outputs at one instant", rule="ORA-7")
    dealt = [[0] * len(lines)] if parts == 1 else product(range(parts), repeat=len(lines))
    for places in dealt:
        bags = [Counter(line for line, place in zip(lines, places, strict=True) if place == part) for part in range(parts)]
        if all(bags):
            yield [*bags[:early], *outputs, *bags[early:]]


def realisable(outputs: list[Bag], grown: list[Grown]) -> bool:
    """ORA-6: whether simultaneous elements can arrive so that exactly these outputs come, one after the other.

    Elements other than the pivots arrive as late as they can: arriving earlier never helps a later output.
    """
    by_row = defaultdict(list)
    for index, derivation in enumerate(grown):
        by_row[derivation.row].append(index)
    visited: set[tuple[int, frozenset[int]]] = set()
    todo = [(0, frozenset())]
    while todo:
        position, arrived = todo.pop()
        if position == len(outputs):
            return True
        if (position, arrived) in visited:
            continue
        visited.add((position, arrived))
        if len(visited) > ORDER_BOUND:
            raise Unsupported("too many ways for simultaneous elements to complete an answer", rule="ORA-7")
        for needs in _completions(outputs[position], by_row, grown, arrived):
            if any(_brings(grown, arrived, needs, pivot) == outputs[position] for pivot in needs - arrived):
                todo.append((position + 1, arrived | needs))
    return False


def _completions(
    output: Bag, by_row: Mapping[Row, list[int]], grown: list[Grown], arrived: frozenset[int]
) -> Iterator[frozenset[int]]:
    """The element sets that complete derivations for an output's rows, for every choice of derivations."""
    choices, ways = [], 1
    for line, count in sorted(output.items()):
        waiting = sorted({grown[i].needs for i in by_row[line] if not grown[i].needs <= arrived}, key=sorted)
        several = [grown[i].needs for i in by_row[line] if not grown[i].needs <= arrived]
        ways *= max(1, comb(len(several), min(count, len(several))))
        if ways > ORDER_BOUND:
            raise Unsupported("too many derivations of the rows of one output", rule="ORA-7")
        options = waiting if count == 1 else several
        choices.append([frozenset().union(*chosen) for chosen in combinations(options, count)])
    for chosen in product(*choices):
        yield frozenset().union(*chosen)


def _brings(grown: list[Grown], arrived: frozenset[int], needs: frozenset[int], pivot: int) -> Bag | None:
    """The rows that are new when the pivot arrives last of `needs`; None if one is new before it."""
    ready = (arrived | needs) - {pivot}
    rows: Bag = Counter()
    for derivation in grown:
        if derivation.needs <= arrived:
            continue
        if derivation.needs <= ready:
            return None
        if derivation.needs <= arrived | needs:
            rows[derivation.row] += 1
    return rows


def orders(
    look: _Look, moment: Moment, grown: list[Grown] | None, states: set[State], base: Bag
) -> tuple[set[State], Bag, int]:
    """ORA-7: the orders of simultaneous elements, searched up to equivalence. Elements in no derivation are fillers;
    of a class of elements in the same derivations only the last counts, the others are fillers that must come before.
    Where an unchanged answer is invisible, one filler at most is worth a place: the first, which meets what expires.
    """
    classes = _classes(moment, grown)
    fillers = len(moment.arriving) - len(classes)
    whole = moment.evaluations[-1].content.stop == moment.arriving.stop
    silent = look.operator is not R2S.RSTREAM and look.semantics.empty is Empty.SUPPRESS and whole
    usable = min(fillers, 1) if silent else fillers
    steps = len(classes) + usable if silent else len(moment.evaluations)
    reach: dict[frozenset[int], set[State]] = {frozenset(): states}
    known: dict[frozenset[int], Bag] = {}

    def answer(done: frozenset[int]) -> Bag:
        if done not in known:
            known[done] = look.answer(moment.kept, sorted(i for c in done for i in classes[c]))
        return known[done]

    visited, furthest = 0, max(state.matched for state in states)
    for step in range(1, steps + 1):
        following: dict[frozenset[int], set[State]] = defaultdict(set)
        for done, reached in reach.items():
            before = base if step == 1 else answer(done)
            for then in [done, *(done | {c} for c in range(len(classes)) if c not in done)]:
                needed = sum(len(classes[c]) - 1 for c in then)
                if not min(needed, usable) <= step - len(then) <= usable:
                    continue
                visited += 1
                if visited > ORDER_BOUND:
                    reason = f"the order of {len(moment.arriving)} simultaneous elements at {moment.evaluations[0].t}"
                    raise Unsupported(f"{reason} is out of reach", rule="ORA-7")
                output = r2s.relation_to_stream(look.operator, answer(then), before)
                shown = r2s.emitted(look.semantics.empty, output)
                found = advance(reached, output, look.recorded) if shown else reached
                if found:
                    following[then] |= found
                    furthest = max(furthest, *(state.matched for state in found))
        reach = following
    everything = frozenset(range(len(classes)))
    return set().union(*reach.values()), answer(everything), furthest


def _classes(moment: Moment, grown: list[Grown] | None) -> list[tuple[int, ...]]:
    """The classes of elements that matter, by the derivations they are in; without derivations each is its own."""
    if grown is None:
        return [(i,) for i in moment.arriving]
    memberships = defaultdict(list)
    for number, derivation in enumerate(grown):
        for i in derivation.needs:
            memberships[i].append(number)
    classes = defaultdict(list)
    for i in sorted(memberships):
        classes[tuple(memberships[i])].append(i)
    return [tuple(members) for members in classes.values()]


def _moment_divergence(look: _Look, moment: Moment, furthest: int, base: Bag) -> Divergence:
    """What was expected of the moment at which every order parts from the recording."""
    at = moment.evaluations[-1]
    held = range(moment.kept.start, max(moment.kept.stop, moment.arriving.stop))
    spec, elements = engine.the_window(look.recorded.query, look.recorded.streams)
    expected = r2s.relation_to_stream(look.operator, look.answer(held), base)
    rows = look.recorded.rows
    actual = rows[furthest] if furthest < len(rows) else None
    reason = "no order of the simultaneous elements gives this" if moment.arriving else "the answer differs"
    opens = look.semantics.t0 + at.n * spec.slide
    content = tuple(elements[i] for i in held)
    return Divergence(furthest, at.t, (opens, opens + spec.size), content, expected, actual, reason)


def distance(recorded: Recorded, trial: Trial, answers: Answers) -> tuple[int, int]:
    """ORA-9: how far a failed assignment is from the recording: the differing rows that no border explains, and all of
    them; where orders were searched, the relations not reached."""
    if trial.divergence is not None:
        return len(recorded.relations) - trial.divergence.index, 0
    return _align(recorded, trial.semantics, answers).cost


@dataclass(frozen=True)
class _Aligned:
    """An assignment's reports beside the recording's relations, and how many rows differ."""

    cost: tuple[int, int]
    reports: list[engine.Report]
    borders: tuple[BorderRow, ...]


def _align(recorded: Recorded, semantics: Semantics, answers: Answers) -> _Aligned:
    """The best alignment of an assignment: the fewest differing rows that no window border explains, then the fewest."""
    found, rows = [], recorded.rows
    reports = engine.evaluate(recorded.query, recorded.streams, semantics, answer=answers)
    reports = list(islice(reports, len(rows) + 2 * recorded.missing + SURPLUS))
    for before in range(recorded.missing + 1):
        aligned = reports[before:]
        gaps = [_gap(report.relation.rows, x, recorded.mode) for report, x in zip(aligned, rows, strict=False)]
        cost = sum(max(a.total() + b.total(), c) for a, b, c in gaps)
        cost += sum(1 + x.total() for x in rows[len(aligned) :])
        cost += sum(1 + report.relation.rows.total() for report in aligned[len(rows) + recorded.missing :])
        closes = Condition.CLOSE in semantics.report
        borders = tuple(_border_rows(recorded, aligned, gaps, answers)) if cost and closes else ()
        found.append(_Aligned((max(0, cost - sum(EXPLAINED[b.fate] for b in borders)), cost), aligned, borders))
    return min(found, key=lambda aligned: aligned.cost)


def _gap(expected: Bag, actual: Bag, mode: Mode) -> tuple[Bag, Bag, int]:
    """The rows lacking, those too many, and 1 if the relations differ at all (blank nodes can make them)."""
    if compare.equal(expected, actual, mode):
        return Counter(), Counter(), 0
    return *compare.difference(expected, actual, mode), 1


def divergence(recorded: Recorded, trial: Trial, answers: Answers) -> Divergence:
    """ORA-9: the first divergence of the nearest assignment, with the rows that rest on an element on a window border."""
    if trial.divergence is not None:
        return trial.divergence
    best = _align(recorded, trial.semantics, answers)
    rows, aligned = recorded.rows, best.reports
    for index in range(max(len(rows), len(aligned)) + 1):
        expected = aligned[index] if index < len(aligned) else None
        actual = rows[index] if index < len(rows) else None
        if expected is None or actual is None or not compare.equal(expected.relation.rows, actual, recorded.mode):
            break
    if expected is None:
        return Divergence(index, None, None, (), None, actual, "the semantics reports nothing more")
    reason = "the recording ends too early" if actual is None else "the answer differs"
    return Divergence(
        index, expected.evaluation, expected.window, expected.content, expected.relation.rows, actual, reason, best.borders
    )


def _border_rows(
    recorded: Recorded, aligned: list[engine.Report], gaps: list[tuple[Bag, Bag, int]], answers: Answers
) -> Iterator[BorderRow]:
    """The rows of the answers that were completed by an element on their window's border, and where they went."""
    body = recorded.query.body
    if not derive.projects(body):
        return
    lacking, surplus = [gap[0] for gap in gaps], [gap[1] for gap in gaps]
    number = {report.window[0]: index for index, report in enumerate(aligned[: len(gaps)])}
    slide = recorded.query.windows[0].slide
    for index, report in enumerate(aligned[: len(gaps)]):
        before, after = number.get(report.window[0] - slide, -1), number.get(report.window[0] + slide, -1)
        dates: dict[Triple, int] = {}
        for element in report.content:
            for triple in element.graph:
                dates.setdefault(triple, element.app)
        if not any(element.app in report.window for element in report.content):
            continue
        completed: dict[Row, int] = {}
        for derivation in answers.derivations(body, frozenset(dates)):
            if derivation.support:
                at = max(dates[triple] for triple in derivation.support)
                completed[derivation.row] = min(at, completed.get(derivation.row, at))
        for line, at in sorted(completed.items()):
            if at not in report.window:
                continue
            gone = _has(lacking, index, line, recorded.mode)
            early = _has(surplus, before, line, recorded.mode)
            late = _has(surplus, after, line, recorded.mode)
            match gone, early, late:
                case True, True, _:
                    fate = Fate.EARLY
                case True, False, True:
                    fate = Fate.LATE
                case True, False, False:
                    fate = Fate.OUT
                case False, False, False:
                    fate = Fate.PLACE
                case _:
                    fate = Fate.BOTH
            yield BorderRow(line, at, report.window, fate)


def _has(rows: Sequence[Bag], index: int, wanted: Row, mode: Mode) -> bool:
    one = Counter([wanted])
    return 0 <= index < len(rows) and any(compare.equal(one, Counter([line]), mode) for line in rows[index])


def confirm(recorded: Recorded, trial: Trial, witnesses: tuple[str, ...]) -> None:
    """ORA-8: every witness computes what a verdict rests on: the winning assignment's reports (those at the ends of
    instants where orders were searched), or a fail's up to its first divergence. Raises Disputed where they differ."""
    if len(witnesses) < 2:
        return
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
            r2r.agreed(recorded.query.body, r2r.dataset(elements[i] for i in at.content), witnesses)


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


class FarRow(NamedTuple):
    """A recorded row that no window can give: the least span over which the stream has the elements it rests on (None:
    it never gives the row)."""

    row: Row
    span: int | None


def out_of_reach(
    query: Query, streams: Mapping[str, Stream], recording: Sequence[Relation], *, mode: Mode = Mode.VALUE
) -> FarRow | None:
    """ORA-10: the first recorded row that no time-based window of the query can give, whatever the semantics: a content
    holds elements at most ω apart under every closure."""
    spec, elements = engine.the_window(query, streams)
    body = query.body
    if spec.kind is not WindowKind.TIME or not derive.projects(body) or not derive.bindable(body):
        return None
    dates = defaultdict(list)
    for element in elements:
        for triple in element.graph:
            dates[triple].append(element.app)
    index = derive.Index(dates)
    for line in dict.fromkeys(line for relation in recording for line in sorted(relation.rows)):
        if any(is_blank(term) for _, term in line):
            continue
        one, least = Counter([line]), None
        for derivation in derive.derivations(body, index, line):
            if compare.equal(one, Counter([derivation.row]), mode):
                span = _span([dates[triple] for triple in derivation.support])
                least = span if least is None else min(least, span)
        if least is None or least > spec.size:
            return FarRow(line, least)
    return None


def _span(dates: list[list[int]]) -> int:
    """The least span that holds one date of each list."""
    merged = sorted((date, i) for i, own in enumerate(dates) for date in own)
    last: dict[int, int] = {}
    spans = []
    for date, i in merged:
        last[i] = date
        if len(last) == len(dates):
            spans.append(date - min(last.values()))
    return min(spans, default=0)


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
