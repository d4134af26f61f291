"""§11 Arrival orders that were not recorded: which outputs simultaneous elements can give (ORA-4 to
ORA-7).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations, islice, pairwise, product
from math import comb
from typing import NamedTuple, cast

from refengine import incremental
from refengine.core import engine, r2r, r2s, tick, window
from refengine.core.query import WindowKind
from refengine.core.semantics import (
    R2S,
    Against,
    Base,
    Change,
    Closure,
    Collection,
    Condition,
    Empty,
    Semantics,
    Tick,
)
from refengine.incremental import Asked, Together
from refengine.incremental.numbers import Beyond
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Element, Row, Triple
from refengine.model.errors import Unsupported
from refengine.oracle import derivations
from refengine.oracle.trial import (
    Answers,
    Borders,
    Distance,
    Divergence,
    Origin,
    Recorded,
    State,
    Trial,
    accepted,
    advance,
)

ORDER_BOUND = 50_000  # states of one search over arrival orders
# kinds whose content depends on the order
BY_ARRIVAL = frozenset({WindowKind.TUPLE, WindowKind.ROWS, WindowKind.PARTITION})


def order_matters(planned: engine.Plan) -> bool:
    """ORA-4: the order of simultaneous elements cannot matter where only complete instants are
    seen: for windows over application time under window close, the time tick, or windows [o, c)
    that are to be passed (an arrival's own instant is one earlier there, TICK-6); nor where nothing
    is simultaneous. Under window close, what is compared with the instant before sees more.
    """
    semantics, arrivals = planned.semantics, planned.arrivals
    if not any(a.app == b.app for a, b in pairwise(arrivals)):
        return False
    if any(view.spec.kind in BY_ARRIVAL for view in planned.views):
        return True
    if semantics.tick is Tick.TIME or tick.own(semantics, 0) < 0:
        return False
    looks_back = Condition.CHANGE in semantics.report and semantics.against is Against.PREVIOUS
    return Condition.CLOSE not in semantics.report or looks_back


class Moment(NamedTuple):
    """The evaluations of one instant at which simultaneous elements are seen one after the other:
    the last one and how many they are, the elements kept from before, and the indices of the
    instant's elements.
    """

    last: engine.Evaluation
    visits: int
    kept: range
    arriving: range


def held_by(at: engine.Evaluation) -> range:
    """The content of the one window, which ORA-7 asks to be over time."""
    return cast("range", at.windows[0].content)


def moments(look: Look) -> Iterator[Moment]:
    """A schedule cut into moments. Which prefix is evaluated when does not depend on the order of
    simultaneous elements, only what the prefix holds does. Where an unchanged answer is invisible,
    of a stretch of evaluations over one content the first stands for all.
    """
    first, last = look.answers.once(
        "instants", [look.elements], None, lambda: _instants(look.elements)
    )
    moment, silent = None, look.silent
    for stretch in incremental.stretches(look.planned):
        count = 1
        if isinstance(stretch, Together):  # which is of one moment
            stretch, count = stretch[-1:], len(stretch)
        elif silent:
            stretch = islice(stretch, 1)
        for at in stretch:
            t, content = at.t, held_by(at)
            # an empty content stops at 0
            partial = t in first and content.stop > first[t] and last[t] - first[t] > 1
            if moment is not None and partial and moment.last.t == t:
                moment = moment._replace(last=at, visits=moment.visits + count)
                continue
            if moment is not None:
                yield moment
            moment = (
                Moment(at, count, range(content.start, first[t]), range(first[t], last[t]))
                if partial
                else None
            )
            if moment is None:
                yield Moment(at, 1, content, range(0))
    if moment is not None:
        yield moment


def _instants(elements: Sequence[Element]) -> tuple[dict[int, int], dict[int, int]]:
    """Of each instant the index of its first element, and that after its last."""
    first: dict[int, int] = {}
    for index, element in enumerate(elements):
        first.setdefault(element.app, index)
    return first, {element.app: index + 1 for index, element in enumerate(elements)}


def search(recorded: Recorded, planned: engine.Plan, origin: Origin, answers: Answers) -> Trial:
    """ORA-5 to ORA-7: follow the recording instant by instant, over every order of simultaneous
    elements.
    """
    semantics, look = planned.semantics, Look(recorded, planned, answers)
    ended = partial(Trial, semantics, origin, ordered=False, by="a search over arrival orders")
    if beyond := _beyond(look):
        raise Unsupported(
            f"{beyond}, over simultaneous elements whose arrival order was not recorded",
            rule="ORA-7",
        )
    states = {State(0, 0, 0)}
    base: Bag = Counter()
    held = None
    for moment in moments(look):
        if look.operator is R2S.APPEND:
            base, held = look.answer(_common(held, moment)), moment
        if moment.arriving:
            following, base_after, furthest = instant(look, moment, states, base)
        else:
            now, furthest = look.answer(moment.kept), max(state.matched for state in states)
            output = r2s.relation_to_stream(look.operator, now, base)
            emitted = r2s.emitted(semantics.empty, output, Counter())
            following, base_after = (
                advance(states, output, recorded, *look.window_of(moment)) if emitted else states,
                now,
            )
        if not following:
            where = _moment_divergence(look, moment, furthest, base)
            held_there = range(moment.kept.start, max(moment.kept.stop, moment.arriving.stop))
            return ended(None, where, last=(held_there,), reached=furthest)
        states, base = following, base_after
    state = accepted(states, recorded)
    if state is not None:
        return ended(state)
    furthest = max(state.matched for state in states)
    left = recorded.rows[furthest] if furthest < len(recorded.rows) else None
    reason = (
        "the semantics reports nothing more"
        if left is not None
        else "reports were expected and none was recorded"
    )
    where = Divergence(
        furthest,
        None,
        None,
        (),
        None,
        left,
        reason,
        cost=Distance(len(recorded.rows) - furthest, 0),
    )
    return ended(None, where, reached=furthest)


def _common(held: Moment | None, moment: Moment) -> range:
    """What a moment keeps of the content at the end of the one before."""
    if held is None:
        return range(0)
    seen = held_by(held.last).stop if held.arriving else held.kept.stop
    if held.arriving and seen < held.arriving.stop and moment.kept.stop > held.arriving.start:
        raise Unsupported(
            "append after some of the elements of an instant, whose arrival order was not recorded",
            rule="ORA-7",
        )
    return range(max(held.kept.start, moment.kept.start), min(seen, moment.kept.stop))


def _beyond(look: Look) -> str | None:
    """What puts orders out of reach: what is not a function of the instant's set of elements and
    the answer before it.
    """
    view, semantics = look.planned.views[0], look.semantics
    reasons = {
        "several windows, a named one, or static data": len(look.planned.views) > 1
        or view.spec.name
        or look.recorded.static,
        "elements dropped as late": look.planned.late,
        f"windows of kind {view.spec.kind}": view.spec.kind in BY_ARRIVAL,
        "elements with intervals": view.ends is not None,
        "the batch tick": semantics.tick is Tick.BATCH,
        "window close with content change against the instant before": Condition.CLOSE
        in semantics.report,
        "content change of the graph": Condition.CHANGE in semantics.report
        and semantics.change is Change.GRAPH,
        "base=previous-new or empty=once": semantics.base is Base.NEW
        or semantics.empty is Empty.ONCE,
        "a body that makes blank nodes": look.recorded.query.body.makes_blanks,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


@dataclass(frozen=True)
class Look:
    """The fixed surroundings of a search over orders."""

    recorded: Recorded
    planned: engine.Plan
    answers: Answers

    @property
    def semantics(self) -> Semantics:
        return self.planned.semantics

    @property
    def elements(self) -> Sequence[Element]:
        return self.planned.views[0].elements

    @property
    def operator(self) -> R2S:
        return engine.operator(self.recorded.query, self.semantics)

    @property
    def silent(self) -> bool:
        """Whether an answer equal to the one before it goes unseen."""
        return self.operator is not R2S.RSTREAM and self.semantics.empty is Empty.SUPPRESS

    def window_of(self, moment: Moment) -> tuple[Borders | None, Closure | None]:
        """The borders of the window that a moment's outputs are about, and the closure."""
        return window.opening(
            self.planned.views[0], moment.last.windows[0].n
        ), self.semantics.closure

    def answer(self, kept: range, more: Iterable[int] = ()) -> Bag:
        """The answer over the elements of a range and some more."""
        if not more and isinstance(asked := self.answers.asked(self.recorded, self.planned), Asked):
            with suppress(Beyond):
                return r2r.collected(self.semantics.collection, asked((kept or range(0),)))
        held = [
            *self.elements[kept.start : max(kept.start, kept.stop)],
            *(self.elements[i] for i in more),
        ]
        return r2r.collected(
            self.semantics.collection, self.answers(self.recorded.query.body, self.graph(held)).rows
        )

    def graph(self, held: Sequence[Element]) -> Dataset:
        """Return the triples of some elements, with their times where the body asks for them
        (R2R-21).
        """
        graph = r2r.dataset(held)
        if not self.recorded.query.body.asks_for_times:
            return graph
        return graph | r2r.latest((element.graph, element.app) for element in held)

    def derivations(self, moment: Moment) -> list[Grown] | None:
        """The derivations that an instant's elements complete, each with the arriving elements it
        needs; None where the body has none, or a needed triple is in several arriving elements, so
        that a support is not one set.
        """
        key = (self.recorded.query.body, moment.kept, moment.arriving)
        return self.answers.once(
            "derivations", [self.elements], key, lambda: self._derivations(moment)
        )

    def _derivations(self, moment: Moment) -> list[Grown] | None:
        body = self.recorded.query.body
        if derivations.pattern(body) is None:
            return None
        asked = self.answers.asked(self.recorded, self.planned, for_derivations=True)
        whole = range((moment.kept or moment.arriving).start, moment.arriving.stop)
        if isinstance(asked, Asked) and (found := asked.completed(whole)) is not None:
            waiting = (
                (line, frozenset(i for i in elements if i in moment.arriving))
                for line, elements in found
            )
            return [Grown(line, needs) for line, needs in waiting if needs]
        old = r2r.dataset(self.elements[i] for i in moment.kept)
        carriers: dict[Triple, list[int]] = defaultdict(list)
        for i in moment.arriving:
            for triple in self.elements[i].graph - old:
                carriers[triple].append(i)
        grown: list[Grown] = []
        for derivation in self.answers.derivations(body, old.union(carriers)):
            new = derivation.support - old
            if new and any(len(carriers[triple]) > 1 for triple in new):
                return None
            if new:
                grown.append(
                    Grown(derivation.row, frozenset(carriers[triple][0] for triple in new))
                )
        return grown


class Grown(NamedTuple):
    """A derivation's row and the simultaneous elements that it waits for."""

    row: Row
    needs: frozenset[int]


def instant(
    look: Look, moment: Moment, states: set[State], base: Bag
) -> tuple[set[State], Bag, int]:
    """The states after an instant's simultaneous elements, whatever their order; the base of the
    next difference; and how many relations some order explains.
    """
    grown = look.derivations(moment)
    total = whole_sum(look, moment, base)
    if total is not None and grown is not None:
        followed, reached = zip(
            *(_realised(look, moment, grown, total, state) for state in states), strict=True
        )
        return (
            set().union(*followed),
            look.answer(range(moment.kept.start, moment.arriving.stop)),
            max(reached),
        )
    return orders(look, moment, grown, states, base)


def whole_sum(look: Look, moment: Moment, base: Bag) -> Bag | None:
    """The sum of an instant's outputs, where ORA-5 applies and no two of its rows can be taken for
    each other; else None.
    """
    grown = look.derivations(moment)
    rows = Counter(g.row for g in grown or ())
    is_plain = not compare.blanks(rows) and compare.distinct(rows, look.recorded.mode)
    if grown is None or not is_plain or not _monotone(look, moment):
        return None
    return instant_sum(look, moment, grown, base)


def _monotone(look: Look, moment: Moment) -> bool:
    """Whether ORA-5 applies to the semantics and the body, and the instant was seen to its end."""
    semantics = look.semantics
    return (
        derivations.projects(look.recorded.query.body)
        and look.operator is R2S.ISTREAM
        and semantics.empty is Empty.SUPPRESS
        and semantics.collection is Collection.BAG
        and Condition.CHANGE in semantics.report
        and Condition.PERIODIC not in semantics.report
        and held_by(moment.last).stop == moment.arriving.stop
    )


def instant_sum(look: Look, moment: Moment, grown: list[Grown], base: Bag) -> Bag | None:
    """ORA-5: the sum of an instant's outputs under any order, Q(F) − Q(K); None where a row that
    expires with the instant's first arrival is derived again in it, so that the sum depends on the
    order, where a row of what was kept comes into view with it, or where the derivations do not add
    up to the witness's answer.
    """
    total = Counter(g.row for g in grown)
    if look.answer(moment.kept) - base:
        return None
    expired = base - look.answer(moment.kept)
    mode = look.recorded.mode
    clash = any(compare.equal(Counter([a]), Counter([b]), mode) for a in expired for b in total)
    whole = look.answer(range(moment.kept.start, moment.arriving.stop))
    return (
        total
        if not clash and compare.equal(look.answer(moment.kept) + total, whole, mode)
        else None
    )


def _realised(
    look: Look, moment: Moment, grown: list[Grown], total: Bag, state: State
) -> tuple[set[State], int]:
    """The states after an instant whose outputs sum to `total`, from one state; and how many
    relations it has rows for.
    """
    if not total:
        return {state}, state.matched
    recorded, following = look.recorded, set()
    rows, before, matched, after = recorded.rows, *state
    spare_before = recorded.missing.before - before if matched == 0 else 0
    outputs: list[Bag] = []
    left = total
    while True:
        spare_after = recorded.missing.after - after if rows and matched == len(rows) else 0
        for early, late in product(range(spare_before + 1), range(spare_after + 1)):
            if any(realisable(filled, grown) for filled in _filled(outputs, left, early, late)):
                following.add(State(before + early, matched, after + late))
        is_next = matched < len(rows) and recorded.is_about(matched, *look.window_of(moment))
        output = _as_rows(rows[matched], total, recorded.mode) if is_next else None
        if not output or not output <= left:
            return following, matched
        outputs, left, matched = [*outputs, output], left - output, matched + 1


def _as_rows(output: Bag, total: Bag, mode: Mode) -> Bag | None:
    """A recorded relation in the terms of the expected rows; None if it has a row that no expected
    one equals.
    """
    translated: Bag = Counter()
    for line, count in output.items():
        same = (
            line
            if line in total
            else next(
                (e for e in total if compare.equal(Counter([line]), Counter([e]), mode)), None
            )
        )
        if same is None:
            return None
        translated[same] += count
    return translated


def _filled(outputs: list[Bag], left: Bag, early: int, late: int) -> Iterator[list[Bag]]:
    """The outputs with the rows that the recording lacks dealt to `early` outputs before it and
    `late` after it.
    """
    parts = early + late
    if parts == 0:
        if not left:
            yield outputs
        return
    lines = sorted(left.elements())
    if len(lines) < parts:
        return
    if parts > 1 and parts ** len(lines) > ORDER_BOUND:
        raise Unsupported(
            f"{len(lines)} rows missing in {parts} outputs at one instant", rule="ORA-7"
        )
    dealt = [[0] * len(lines)] if parts == 1 else product(range(parts), repeat=len(lines))
    for places in dealt:
        bags = [
            Counter(line for line, place in zip(lines, places, strict=True) if place == part)
            for part in range(parts)
        ]
        if all(bags):
            yield [*bags[:early], *outputs, *bags[early:]]


def realisable(outputs: list[Bag], grown: list[Grown]) -> bool:
    """ORA-6: whether simultaneous elements can arrive so that exactly these outputs come, one after
    the other.

    Elements other than the pivots arrive as late as they can: arriving earlier never helps a later
    output.
    """
    by_row = defaultdict(list)
    for index, derivation in enumerate(grown):
        by_row[derivation.row].append(index)
    visited: set[tuple[int, frozenset[int]]] = set()
    todo: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while todo:
        position, arrived = todo.pop()
        if position == len(outputs):
            return True
        if (position, arrived) in visited:
            continue
        visited.add((position, arrived))
        if len(visited) > ORDER_BOUND:
            raise Unsupported(
                "too many ways for simultaneous elements to complete an answer", rule="ORA-7"
            )
        for needs in _completions(outputs[position], by_row, grown, arrived):
            if any(
                _brings(grown, arrived, needs, pivot) == outputs[position]
                for pivot in needs - arrived
            ):
                todo.append((position + 1, arrived | needs))
    return False


def _completions(
    output: Bag, by_row: Mapping[Row, list[int]], grown: list[Grown], arrived: frozenset[int]
) -> Iterator[frozenset[int]]:
    """The element sets that complete derivations for an output's rows, for every choice of
    derivations.
    """
    choices, ways = [], 1
    for line, count in sorted(output.items()):
        waiting = sorted(
            {grown[i].needs for i in by_row[line] if not grown[i].needs <= arrived}, key=sorted
        )
        several = [grown[i].needs for i in by_row[line] if not grown[i].needs <= arrived]
        ways *= max(1, comb(len(several), min(count, len(several))))
        if ways > ORDER_BOUND:
            raise Unsupported("too many derivations of the rows of one output", rule="ORA-7")
        options = waiting if count == 1 else several
        choices.append([frozenset().union(*chosen) for chosen in combinations(options, count)])
    for chosen in product(*choices):
        yield frozenset().union(*chosen)


def _brings(
    grown: list[Grown], arrived: frozenset[int], needs: frozenset[int], pivot: int
) -> Bag | None:
    """The rows that are new when the pivot arrives last of `needs`; None
    if one is new before it.
    """
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
    look: Look, moment: Moment, grown: list[Grown] | None, states: set[State], base: Bag
) -> tuple[set[State], Bag, int]:
    """ORA-7: the orders of simultaneous elements, searched up to equivalence. Elements in no
    derivation are fillers; of a class of elements in the same derivations only the last counts, the
    others are fillers that must come before. Where an unchanged answer is invisible, one filler at
    most is worth a place: the first, which meets what expires.
    """
    classes = _classes(moment, grown)
    fillers = len(moment.arriving) - len(classes)
    whole = held_by(moment.last).stop == moment.arriving.stop
    silent = look.silent and whole
    usable = min(fillers, 1) if silent else fillers
    steps = len(classes) + usable if silent else moment.visits
    reach: dict[frozenset[int], set[State]] = {frozenset(): states}
    known: dict[frozenset[int], Bag] = {}
    borders, closure = look.window_of(moment)

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
                    count = len(moment.arriving)
                    reason = f"the order of {count} simultaneous elements at {moment.last.t}"
                    raise Unsupported(f"{reason} is out of reach", rule="ORA-7")
                output = r2s.relation_to_stream(look.operator, answer(then), before)
                shown = r2s.emitted(look.semantics.empty, output, Counter())
                found = (
                    advance(reached, output, look.recorded, borders, closure) if shown else reached
                )
                if found:
                    following[then] |= found
                    furthest = max(furthest, *(state.matched for state in found))
        reach = following
    everything = frozenset(range(len(classes)))
    return set().union(*reach.values()), answer(everything), furthest


def _classes(moment: Moment, grown: list[Grown] | None) -> list[tuple[int, ...]]:
    """The classes of elements that matter, by the derivations they are in; without derivations each
    is its own.
    """
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


def _moment_divergence(look: Look, moment: Moment, furthest: int, base: Bag) -> Divergence:
    """What was expected of the moment at which every order parts from the recording."""
    at = moment.last
    held = range(moment.kept.start, max(moment.kept.stop, moment.arriving.stop))
    view = look.planned.views[0]
    expected = r2s.relation_to_stream(look.operator, look.answer(held), base)
    rows = look.recorded.rows
    actual = rows[furthest] if furthest < len(rows) else None
    reason = (
        "no order of the simultaneous elements gives this"
        if moment.arriving
        else "the answer differs"
    )
    content = tuple(view.elements[i] for i in held)
    cost = Distance(len(rows) - furthest, 0)
    return Divergence(
        furthest,
        at.t,
        window.opening(view, at.windows[0].n),
        content,
        expected,
        actual,
        reason,
        cost=cost,
    )
