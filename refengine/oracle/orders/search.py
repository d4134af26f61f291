"""§11 The search over arrival orders: whether the order matters (ORA-4), and whether some order
gives the recorded outputs (ORA-7).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from refengine.core import engine, r2s, tick, window
from refengine.core.query import WindowKind
from refengine.core.question import Question
from refengine.core.values import Condition
from refengine.model.elements import Bag
from refengine.model.errors import Unsupported
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.comparison import Distance, Divergence
from refengine.oracle.orders.groups import (
    EvaluationGroup,
    OrderSearch,
    PendingDerivation,
    content_of,
    group_evaluations,
)
from refengine.oracle.orders.realisation import states_after_outputs
from refengine.oracle.orders.sums import find_fixed_sum
from refengine.oracle.trial import (
    RecordingToJudge,
    State,
    Trial,
    advance,
    find_accepting_state,
)

# The kinds of windows whose content depends on the arrival order.
BY_ARRIVAL = frozenset({WindowKind.TUPLE, WindowKind.ROWS, WindowKind.PARTITION})
ORDER_BOUND = 50_000  # states of one search over arrival orders
States = set[State]


class GroupResult(NamedTuple):
    """What a group of evaluations leads to: the states after it, the answer at its end, which is
    the next baseline, and how many relations some order explains.
    """

    states: States
    answer: Bag
    most_matched: int


def order_matters(planned: engine.Plan) -> bool:
    """ORA-4: whether the arrival order of simultaneous elements can matter.

    It cannot where no elements are simultaneous, nor, if no elements are consumed, where windows
    without a key over application time are evaluated at complete instants alone: under window
    close, under the time tick, and where windows [o, c) are to be passed (there an arrival's own
    instant is one earlier, TICK-6), and where all windows have a lag. Window close beside content
    change against the instant before, or beside an early count, does see incomplete instants, and
    a session shows elements ahead of its instant (WIN-23). Elements that come after later ones are
    seen by themselves (MOD-5), and reports of keys are in the order of their first elements
    (WIN-24).
    """
    times = [arrival.app for arrival in planned.arrivals]
    return len({*times}) < len(times) and order_of_simultaneous_matters(
        planned, is_in_order=times == sorted(times)
    )


def order_of_simultaneous_matters(planned: engine.Plan, *, is_in_order: bool) -> bool:
    """ORA-4: whether the arrival order of simultaneous elements can matter, where there are some.
    `is_in_order` says whether no element is earlier than one before it.
    """
    semantics = planned.semantics
    if any(view.spec.kind in BY_ARRIVAL or view.spec.is_keyed for view in planned.views):
        return True
    if semantics.is_consuming or not is_in_order:
        return True
    is_session = planned.views[0].spec.kind is WindowKind.SESSION
    is_passed = tick.shift_of_own_instants(semantics) < 0
    if semantics.tick.is_by_time or (is_passed and not is_session):
        return False
    if all(view.spec.lag for view in planned.views):
        return False
    looks_back = (
        Condition.CHANGE in semantics.report and not semantics.change_baseline.is_of_last_report
    )
    is_early = semantics.early_count is not None
    return Condition.CLOSE not in semantics.report or looks_back or is_early


def search_orders(
    recorded: RecordingToJudge, planned: engine.Plan, answers: SharedAnswers
) -> Trial:
    """ORA-5 to ORA-7: hold one assignment against the recording under every order of simultaneous
    elements at once, and return the trial.

    Raises Unsupported for semantics and bodies that the search does not cover, and for a search
    beyond its bound.
    """
    search = OrderSearch(recorded, planned, answers)
    obstacle = find_obstacle(recorded.question, planned)
    if obstacle is not None:
        raise Unsupported(
            f"the arrival order of simultaneous elements was not recorded, and is not searched "
            f"for with {obstacle}",
            rule="ORA-7",
        )
    return search_groups(search, group_evaluations(search))


def search_groups(
    search: OrderSearch,
    groups: Iterable[EvaluationGroup],
    known: dict[Hashable, GroupResult] | None = None,
) -> Trial:
    """ORA-5 to ORA-7: hold the groups of evaluations of one assignment against the recording, and
    return the trial. Raises Unsupported for a search beyond its bound.

    `known` is a table of what groups lead to, which searches may share whose semantics differ only
    in when the query is evaluated. The engine must state no windows then.
    """
    recorded = search.recorded
    make_trial = partial(
        Trial,
        search.semantics,
        is_order_known=False,
        computed_by="a search over arrival orders",
    )
    states: States = {State(0, 0, 0)}
    baseline: Bag = Counter()
    compared = range(0)  # the content whose answer is the baseline
    previous = None
    for group in groups:
        if search.operator.reads_kept_content:  # compares with what was kept, not with all before
            compared = _common(previous, group)
            baseline = search.answer(compared)
            previous = group
        key = (group[1:], content_of(group.last_evaluation), frozenset(states), compared)
        if known is None:
            result = _advance_group(search, group, states, baseline)
        elif key in known:
            result = known[key]
        else:
            result = known[key] = _advance_group(search, group, states, baseline)
        following, answer, furthest = result
        if not following:
            where = _group_divergence(search, group, furthest, baseline)
            return make_trial(
                divergence=where, last_contents=(group.content,), most_matched=furthest
            )
        states = following
        baseline = answer
        compared = group.whole if group.arriving_elements else group.kept_elements

    state = find_accepting_state(states, recorded)
    if state is not None:
        return make_trial(accepting_state=state)
    furthest = max(state.matched for state in states)
    return make_trial(divergence=_end_divergence(recorded, furthest), most_matched=furthest)


def _advance_group(
    search: OrderSearch, group: EvaluationGroup, states: States, baseline: Bag
) -> GroupResult:
    """Return what a group leads to from some states, under any order of its elements."""
    if group.arriving_elements:
        return advance_instant(search, group, states, baseline)
    now = search.answer(group.kept_elements)
    most_matched = max(state.matched for state in states)
    following = _states_after_answer(search, group, states, now, baseline)
    for _ in range(1, group.visits):  # the answer is the same, and so is what was kept
        most_matched = max([most_matched, *(state.matched for state in following)])
        before, following = following, _states_after_answer(search, group, following, now, now)
        if following in (before, set()):
            break
    return GroupResult(following, now, most_matched)


def _states_after_answer(
    search: OrderSearch, group: EvaluationGroup, states: States, now: Bag, baseline: Bag
) -> States:
    """Return the states after the output of one evaluation, whose answer is `now`: the same states
    if that output is not emitted.
    """
    output = r2s.relation_to_stream(search.operator, now, baseline)
    # The search does not know the last output of a state. No value of `empty` that reads it comes
    # here (find_obstacle).
    last_output: Bag = Counter()
    if not r2s.emits_output(search.semantics.empty, output, last_output):
        return states
    return advance(states, output, search.recorded, *search.window_of(group))


def _common(previous: EvaluationGroup | None, group: EvaluationGroup) -> range:
    """Return the elements that are in the content at the end of the previous group and still there
    in this one. Raises Unsupported where these depend on the arrival order.
    """
    if previous is None:
        return range(0)
    seen = previous.kept_elements.stop
    if previous.arriving_elements:
        seen = content_of(previous.last_evaluation).stop
        was_partly_seen = seen < previous.arriving_elements.stop
        is_still_there = group.kept_elements.stop > previous.arriving_elements.start
        if was_partly_seen and is_still_there:
            raise Unsupported(
                "append compares with an answer over only some of an instant's elements, whose "
                "arrival order was not recorded",
                rule="ORA-7",
            )
    start = max(previous.kept_elements.start, group.kept_elements.start)
    return range(start, min(seen, group.kept_elements.stop))


def find_obstacle(question: Question, planned: engine.Plan) -> str | None:
    """ORA-7: return why arrival orders are not searched: what an instant's outputs depend on beside
    its set of elements, their order and the answer before it. None if they are searched.
    """
    view = planned.views[0]
    semantics = planned.semantics
    has_several_graphs = len(planned.views) > 1 or bool(view.spec.name) or bool(question.static)
    # With window close alone the order does not matter, and no orders are searched (ORA-4).
    looks_back = Condition.CLOSE in semantics.report
    compares_graphs = Condition.CHANGE in semantics.report and semantics.change_scope.reads_graphs
    reasons = [
        (semantics.reported_windows.is_every, f"reported_windows={semantics.reported_windows}"),
        (view.spec.is_keyed, "a window with a key"),
        (not view.is_in_order, f"late_for={semantics.late_for}"),
        (has_several_graphs, "several windows, a named one, or static data"),
        (bool(planned.late), "elements dropped as late"),
        (view.spec.kind in BY_ARRIVAL, f"windows of kind {view.spec.kind}"),
        (view.ends is not None, "elements with intervals"),
        (semantics.tick.needs_batches, f"the {semantics.tick} tick"),
        (looks_back, "window close with content change against the instant before"),
        (compares_graphs, "content change of the graph"),
        # Under these an output depends on more than the answer before it.
        (semantics.base is not None and semantics.base.may_be_older, f"base={semantics.base}"),
        (semantics.empty.reads_last_output, f"empty={semantics.empty}"),
        (semantics.is_consuming, f"consumption={semantics.consumption}"),
        (question.query.body.makes_blanks, "a body that makes blank nodes"),
    ]
    return next((reason for is_obstacle, reason in reasons if is_obstacle), None)


def advance_instant(
    search: OrderSearch, group: EvaluationGroup, states: States, baseline: Bag
) -> GroupResult:
    """Return what an instant's simultaneous elements lead to from some states, under any order."""
    pending = search.derivations(group)
    total = find_fixed_sum(search, group, baseline)
    if total is None or pending is None:
        return search_class_orders(search, group, pending, states, baseline)
    following: States = set()
    furthest = 0
    for state in states:
        after, reached = states_after_outputs(search, group, pending, total, state)
        following |= after
        furthest = max(furthest, reached)
    return GroupResult(following, search.answer(group.whole), furthest)


def search_class_orders(
    search: OrderSearch,
    group: EvaluationGroup,
    pending: list[PendingDerivation] | None,
    states: States,
    baseline: Bag,
) -> GroupResult:
    """ORA-7: search the orders of an instant's elements, up to equivalence. Returns what
    `advance_instant` does.

    Elements in the same derivations form a class. Only the last of a class to arrive can change the
    answer; the others, and elements in no derivation, are fillers. The search goes arrival by
    arrival over the sets of classes that have arrived completely, and keeps the states of each set.
    The fillers need not be told apart, but there must be as many arrivals as evaluations.

    Where an unchanged answer gives no output, at most one filler is worth a place: the instant's
    first arrival, with which older elements expire.
    """
    classes = _classes(group, pending)
    prefixes = _Prefixes(search, group, classes)
    fillers = len(group.arriving_elements) - len(classes)
    steps = group.visits
    if search.is_silent and content_of(group.last_evaluation).stop == group.arriving_elements.stop:
        fillers = min(fillers, 1)
        steps = len(classes) + fillers

    states_by_arrived: dict[frozenset[int], States] = {frozenset(): states}
    furthest = max(state.matched for state in states)
    for step in range(1, steps + 1):
        following: dict[frozenset[int], States] = defaultdict(set)
        for arrived, reached in states_by_arrived.items():
            before = baseline
            if step > 1:
                before = prefixes.answer(arrived)
            for then in prefixes.after(arrived, step, fillers):
                after = prefixes.states(reached, then, before)
                if after:
                    following[then] |= after
                    furthest = max(furthest, *(state.matched for state in after))
        states_by_arrived = following
    everything = frozenset(range(len(classes)))
    states_after = set().union(*states_by_arrived.values())
    return GroupResult(states_after, prefixes.answer(everything), furthest)


@dataclass
class _Prefixes:
    """The sets of classes of elements that can have arrived on the way through an instant.

    `classes` are the classes, each the indices of its elements. A set of classes is written as the
    set of their numbers. `visited` counts the steps of the search, and `answers` are the answers by
    set.
    """

    search: OrderSearch
    group: EvaluationGroup
    classes: list[tuple[int, ...]]
    visited: int = 0
    answers: dict[frozenset[int], Bag] = field(default_factory=dict)

    def answer(self, arrived: frozenset[int]) -> Bag:
        """Return the answer when these classes, and no others, have arrived completely."""
        if arrived not in self.answers:
            elements = sorted(i for number in arrived for i in self.classes[number])
            self.answers[arrived] = self.search.answer(self.group.kept_elements, elements)
        return self.answers[arrived]

    def after(self, arrived: frozenset[int], step: int, fillers: int) -> Iterator[frozenset[int]]:
        """Yield the sets of classes that can have arrived after arrival number `step`, if these had
        before it, with at most `fillers` fillers. Raises Unsupported beyond ORDER_BOUND.
        """
        others = (number for number in range(len(self.classes)) if number not in arrived)
        for then in [arrived, *(arrived | {number} for number in others)]:
            # All elements of a class but its last one are fillers that have come before.
            needed = sum(len(self.classes[number]) - 1 for number in then)
            fillers_so_far = step - len(then)
            if not min(needed, fillers) <= fillers_so_far <= fillers:
                continue
            self.visited += 1
            if self.visited > ORDER_BOUND:
                count = len(self.group.arriving_elements)
                instant = self.group.last_evaluation.t
                reason = f"the order of {count} simultaneous elements at {instant} is out of reach"
                raise Unsupported(reason, rule="ORA-7")
            yield then

    def states(self, reached: States, then: frozenset[int], before: Bag) -> States:
        """Return the states after the output when the classes in `then` have arrived, if the answer
        was `before` until then.
        """
        return _states_after_answer(self.search, self.group, reached, self.answer(then), before)


def _classes(
    group: EvaluationGroup, pending: list[PendingDerivation] | None
) -> list[tuple[int, ...]]:
    """Return the classes of elements that are in the same derivations; elements in no derivation
    are in no class. Where derivations are not known, each element is a class of its own.
    """
    if pending is None:
        return [(i,) for i in group.arriving_elements]
    memberships = defaultdict(list)
    for number, derivation in enumerate(pending):
        for i in derivation.needs:
            memberships[i].append(number)
    classes = defaultdict(list)
    for i in sorted(memberships):
        classes[tuple(memberships[i])].append(i)
    return [tuple(members) for members in classes.values()]


def _group_divergence(
    search: OrderSearch, group: EvaluationGroup, furthest: int, baseline: Bag
) -> Divergence:
    """Return the divergence at the group where every order parts from the recording. `furthest` is
    the number of relations that some order explains.
    """
    view = search.planned.views[0]
    rows = search.recorded.rows
    actual = None
    if furthest < len(rows):
        actual = rows[furthest]
    reason = "the answer differs"
    if group.arriving_elements:
        reason = "no order of the simultaneous elements gives this"
    return Divergence(
        furthest,
        group.last_evaluation.t,
        window.borders_of_window(view, group.last_evaluation.windows[0].n),
        tuple(view.elements[i] for i in group.content),
        r2s.relation_to_stream(search.operator, search.answer(group.content), baseline),
        actual,
        reason,
        cost=Distance(len(rows) - furthest, 0),
    )


def _end_divergence(recorded: RecordingToJudge, furthest: int) -> Divergence:
    """Return the divergence after the last group, where relations are left."""
    rows = recorded.rows
    reason = "the semantics reports nothing more"
    cost = Distance(len(rows) - furthest, 0)
    return Divergence(furthest, None, None, (), None, rows[furthest], reason, cost=cost)
