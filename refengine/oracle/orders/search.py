"""§11 The search over arrival orders: whether the order matters (ORA-4), and which outputs some
order gives (ORA-7).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from refengine.core import engine, r2s, tick, window
from refengine.core.query import WindowKind
from refengine.core.semantics import R2S, Against, Base, Change, Condition, Empty, Tick
from refengine.model.elements import Bag
from refengine.model.errors import Unsupported
from refengine.oracle.answers import Answers
from refengine.oracle.comparison import Distance, Divergence
from refengine.oracle.orders.moments import (
    Moment,
    OrderSearch,
    PendingDerivation,
    held_by,
    moments,
)
from refengine.oracle.orders.realisation import realised
from refengine.oracle.orders.sums import whole_sum
from refengine.oracle.trial import Origin, Recorded, State, Trial, accepted, advance

# kinds whose content depends on the order
BY_ARRIVAL = frozenset({WindowKind.TUPLE, WindowKind.ROWS, WindowKind.PARTITION})
ORDER_BOUND = 50_000  # states of one search over arrival orders
States = set[State]


def order_matters(planned: engine.Plan) -> bool:
    """ORA-4: whether the arrival order of simultaneous elements can matter.

    It cannot where only complete instants are seen: for windows over application time under window
    close, the time tick, or windows [o, c) that are to be passed (an arrival's own instant is one
    earlier there, TICK-6); nor where nothing is simultaneous. Under window close, what is compared
    with the instant before sees more.
    """
    semantics = planned.semantics
    if not any(one.app == other.app for one, other in pairwise(planned.arrivals)):
        return False
    if any(view.spec.kind in BY_ARRIVAL for view in planned.views):
        return True
    if semantics.tick is Tick.TIME or tick.shift_of_own_instants(semantics) < 0:
        return False
    looks_back = Condition.CHANGE in semantics.report and semantics.against is Against.PREVIOUS
    return Condition.CLOSE not in semantics.report or looks_back


def search_orders(
    recorded: Recorded, planned: engine.Plan, origin: Origin, answers: Answers
) -> Trial:
    """ORA-5 to ORA-7: follow the recording instant by instant, over every order of simultaneous
    elements, and return the trial.
    """
    search = OrderSearch(recorded, planned, answers)
    _check_reach(search)
    end = partial(
        Trial, planned.semantics, origin, ordered=False, by="a search over arrival orders"
    )
    states: States = {State(0, 0, 0)}
    base: Bag = Counter()
    previous = None
    for moment in moments(search):
        if search.operator is R2S.APPEND:
            base = search.answer(_common(previous, moment))
            previous = moment
        following, base_after, furthest = _after_moment(search, moment, states, base)
        if not following:
            where = _moment_divergence(search, moment, furthest, base)
            return end(None, where, last=(moment.content,), reached=furthest)
        states, base = following, base_after

    state = accepted(states, recorded)
    if state is not None:
        return end(state)
    furthest = max(state.matched for state in states)
    return end(None, _end_divergence(recorded, furthest), reached=furthest)


def _after_moment(
    search: OrderSearch, moment: Moment, states: States, base: Bag
) -> tuple[States, Bag, int]:
    """Return the states after a moment, the base of the next difference, and how many relations are
    explained.
    """
    if moment.arriving:
        return instant(search, moment, states, base)
    now = search.answer(moment.kept)
    output = r2s.relation_to_stream(search.operator, now, base)
    following = states
    if r2s.emits_output(search.semantics.empty, output, Counter()):
        following = advance(states, output, search.recorded, *search.window_of(moment))
    return following, now, max(state.matched for state in states)


def _common(previous: Moment | None, moment: Moment) -> range:
    """Return what a moment keeps of the content at the end of the one before."""
    if previous is None:
        return range(0)
    seen = previous.kept.stop
    if previous.arriving:
        seen = held_by(previous.last).stop
        if seen < previous.arriving.stop and moment.kept.stop > previous.arriving.start:
            raise Unsupported(
                "append after some of the elements of an instant, whose arrival order was not "
                "recorded",
                rule="ORA-7",
            )
    start = max(previous.kept.start, moment.kept.start)
    return range(start, min(seen, moment.kept.stop))


def _check_reach(search: OrderSearch) -> None:
    """Raise Unsupported for what puts orders out of reach: what is not a function of the instant's
    set of elements and the answer before it.
    """
    view = search.planned.views[0]
    semantics = search.semantics
    changes = Condition.CHANGE in semantics.report
    reasons = {
        "several windows, a named one, or static data": len(search.planned.views) > 1
        or view.spec.name
        or search.recorded.static,
        "elements dropped as late": search.planned.late,
        f"windows of kind {view.spec.kind}": view.spec.kind in BY_ARRIVAL,
        "elements with intervals": view.ends is not None,
        "the batch tick": semantics.tick is Tick.BATCH,
        "window close with content change against the instant before": Condition.CLOSE
        in semantics.report,
        "content change of the graph": changes and semantics.change is Change.GRAPH,
        "base=previous-new or empty=once": semantics.base is Base.NEW
        or semantics.empty is Empty.ONCE,
        "a body that makes blank nodes": search.recorded.query.body.makes_blanks,
    }
    for reason, holds in reasons.items():
        if holds:
            raise Unsupported(
                f"{reason}, over simultaneous elements whose arrival order was not recorded",
                rule="ORA-7",
            )


def instant(
    search: OrderSearch, moment: Moment, states: States, base: Bag
) -> tuple[States, Bag, int]:
    """Return the states after an instant's simultaneous elements, whatever their order; the base of
    the next difference; and how many relations some order explains.
    """
    pending = search.derivations(moment)
    total = whole_sum(search, moment, base)
    if total is None or pending is None:
        return orders(search, moment, pending, states, base)
    following: States = set()
    furthest = 0
    for state in states:
        after, reached = realised(search, moment, pending, total, state)
        following |= after
        furthest = max(furthest, reached)
    return following, search.answer(moment.whole), furthest


def orders(
    search: OrderSearch,
    moment: Moment,
    pending: list[PendingDerivation] | None,
    states: States,
    base: Bag,
) -> tuple[States, Bag, int]:
    """ORA-7: search the orders of simultaneous elements, up to equivalence.

    Elements in no derivation are fillers; of a class of elements in the same derivations only the
    last counts, the others are fillers that must come before. Where an unchanged answer is
    invisible, one filler at most is worth a place: the first, which meets what expires. Returns as
    `instant` does.
    """
    classes = _classes(moment, pending)
    prefixes = _Prefixes(search, moment, classes)
    usable = len(moment.arriving) - len(classes)
    steps = moment.visits
    if search.is_silent and held_by(moment.last).stop == moment.arriving.stop:
        usable = min(usable, 1)
        steps = len(classes) + usable

    reach: dict[frozenset[int], States] = {frozenset(): states}
    furthest = max(state.matched for state in states)
    for step in range(1, steps + 1):
        following: dict[frozenset[int], States] = defaultdict(set)
        for done, reached in reach.items():
            before = base
            if step > 1:
                before = prefixes.answer(done)
            for then in prefixes.after(done, step, usable):
                after = prefixes.states(reached, then, before)
                if after:
                    following[then] |= after
                    furthest = max(furthest, *(state.matched for state in after))
        reach = following
    everything = frozenset(range(len(classes)))
    return set().union(*reach.values()), prefixes.answer(everything), furthest


@dataclass
class _Prefixes:
    """The sets of classes of elements that have arrived on the way through an instant.

    `visited` counts the states of the search.
    """

    search: OrderSearch
    moment: Moment
    classes: list[tuple[int, ...]]
    visited: int = 0
    answers: dict[frozenset[int], Bag] = field(default_factory=dict)

    def answer(self, done: frozenset[int]) -> Bag:
        """Return the answer when these classes have arrived."""
        if done not in self.answers:
            arrived = sorted(i for number in done for i in self.classes[number])
            self.answers[done] = self.search.answer(self.moment.kept, arrived)
        return self.answers[done]

    def after(self, done: frozenset[int], step: int, usable: int) -> Iterator[frozenset[int]]:
        """Yield which classes can have arrived after a step, if these had before it, with at most
        `usable` fillers. Raises Unsupported beyond the bound.
        """
        others = (number for number in range(len(self.classes)) if number not in done)
        for then in [done, *(done | {number} for number in others)]:
            needed = sum(len(self.classes[number]) - 1 for number in then)
            if not min(needed, usable) <= step - len(then) <= usable:
                continue
            self.visited += 1
            if self.visited > ORDER_BOUND:
                count = len(self.moment.arriving)
                reason = f"the order of {count} simultaneous elements at {self.moment.last.t}"
                raise Unsupported(f"{reason} is out of reach", rule="ORA-7")
            yield then

    def states(self, reached: States, then: frozenset[int], before: Bag) -> States:
        """Return the states after the output at these classes, if the answer was `before`."""
        search = self.search
        output = r2s.relation_to_stream(search.operator, self.answer(then), before)
        if not r2s.emits_output(search.semantics.empty, output, Counter()):
            return reached
        return advance(reached, output, search.recorded, *search.window_of(self.moment))


def _classes(moment: Moment, pending: list[PendingDerivation] | None) -> list[tuple[int, ...]]:
    """Return the classes of elements that matter, by the derivations they are in; without
    derivations each is its own.
    """
    if pending is None:
        return [(i,) for i in moment.arriving]
    memberships = defaultdict(list)
    for number, derivation in enumerate(pending):
        for i in derivation.needs:
            memberships[i].append(number)
    classes = defaultdict(list)
    for i in sorted(memberships):
        classes[tuple(memberships[i])].append(i)
    return [tuple(members) for members in classes.values()]


def _moment_divergence(search: OrderSearch, moment: Moment, furthest: int, base: Bag) -> Divergence:
    """Return what was expected of the moment at which every order parts from the recording."""
    view = search.planned.views[0]
    rows = search.recorded.rows
    actual = None
    if furthest < len(rows):
        actual = rows[furthest]
    reason = "the answer differs"
    if moment.arriving:
        reason = "no order of the simultaneous elements gives this"
    return Divergence(
        furthest,
        moment.last.t,
        window.opening(view, moment.last.windows[0].n),
        tuple(view.elements[i] for i in moment.content),
        r2s.relation_to_stream(search.operator, search.answer(moment.content), base),
        actual,
        reason,
        cost=Distance(len(rows) - furthest, 0),
    )


def _end_divergence(recorded: Recorded, furthest: int) -> Divergence:
    """Return the divergence of a recording that no order explains up to its end."""
    rows = recorded.rows
    cost = Distance(len(rows) - furthest, 0)
    if furthest < len(rows):
        reason = "the semantics reports nothing more"
        return Divergence(furthest, None, None, (), None, rows[furthest], reason, cost=cost)
    reason = "reports were expected and none was recorded"
    return Divergence(furthest, None, None, (), None, None, reason, cost=cost)
