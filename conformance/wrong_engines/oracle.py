"""Wrong oracles for §11: which outputs are accepted, and what is said of the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any
from unittest.mock import patch

from conformance.wrong_engines.engines import CSRBENCH_ORACLE
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import engine, r2r, r2s
from refengine.core.engine import Plan
from refengine.model import compare
from refengine.model.elements import Bag, Row
from refengine.model.errors import RefengineError
from refengine.oracle import (
    assignments,
    attempts,
    confirmation,
    divergence,
    explanations,
    orders,
    t0_classes,
    trial,
)
from refengine.oracle.comparison import Divergence
from refengine.oracle.explanations import Explanations
from refengine.oracle.orders import search
from refengine.oracle.trial import State
from refengine.rdf import recordings
from refengine.rdf.recordings import Recording

States = Iterable[State]


@wrong("ORA-1", replaces=assignments.every_trial)
def the_first_assignment(right: Right, *values: Any) -> Iterator[Any]:
    """Tries only the first assignment of values to the open fields."""
    yield from islice(right(*values), 1)


@wrong(
    "ORA-2",
    replaces=t0_classes.run_with_each_t0,
    half="the oracle tries every value",
)
def an_open_t0_is_0(right: Right, planned: Plan, lo: int, hi: int, run: Any) -> Iterator[Any]:
    """Takes 0 for an open t0."""
    yield from right(planned, 0, 0, run)


@wrong(
    "ORA-2",
    replaces=t0_classes.run_with_each_t0,
    half="One value of each class is tried",
)
def one_value_stands_for_a_slide(
    right: Right, planned: Plan, lo: int, hi: int, run: Any
) -> Iterator[Any]:
    """Tries one value of t0 in each slide."""
    for t0 in range(lo, hi + 1, planned.views[0].spec.step):
        yield from right(planned, t0, t0, run)


@wrong(
    "ORA-3",
    replaces=trial.advance,
    half="at most `missing` outputs before the first",
    seen=f"{CSRBENCH_ORACLE}: a recording may be any piece of the output",
)
def anything_may_be_missing(
    right: Right, states: States, output: Bag, recorded: Any, *window: Any, **options: Any
) -> set[State]:
    """Accepts a recording that lacks any number of outputs before its first relation and after its
    last.
    """
    following = set()
    for before, matched, after in states:
        if matched == 0:
            following.add(State(before + 1, 0, 0))
        if matched == len(recorded.rows):
            following.add(State(before, matched, after + 1))
        elif compare.equal(output, recorded.rows[matched], recorded.mode):
            following.add(State(before, matched + 1, 0))
    return following


@wrong(
    "ORA-3",
    replaces=trial.advance,
    half="Matching is contiguous",
)
def holes_are_allowed(
    right: Right, states: States, output: Bag, recorded: Any, *window: Any, **options: Any
) -> Any:
    """Accepts a recording that lacks an output in its middle."""
    states = set(states)
    inside = {state for state in states if 0 < state.matched < len(recorded.rows)}
    return right(states, output, recorded, *window, **options) | inside


@wrong(
    "ORA-3",
    replaces=recordings.read_recording,
    half="Timestamps in a recording do not matter",
)
def sorted_by_timestamp(right: Right, path: Any) -> Recording:
    """Sorts the outputs by their timestamps."""
    recording = right(path)
    pairs = list(zip(recording.timestamps, recording.relations, strict=True))
    pairs.sort(key=lambda pair: pair[0] or 0)
    relations = tuple(relation for _, relation in pairs)
    timestamps = tuple(timestamp for timestamp, _ in pairs)
    return Recording(relations, timestamps)


@wrong(
    "ORA-4",
    replaces=orders.order_matters,
    half="cannot matter, and no order is tried",
)
def the_order_of_the_file(right: Right, planned: Plan) -> bool:
    """Takes the order of the file for the arrival order of simultaneous elements, and searches no
    other.
    """
    return False


@wrong("ORA-4", replaces=attempts.attempt)
def no_order_is_recorded(right: Right, recorded: Any, *rest: Any) -> Any:
    """Ignores a known arrival order of simultaneous elements."""
    streams = {name: replace(stream, ordered=False) for name, stream in recorded.streams.items()}
    question = replace(recorded.question, streams=streams)
    return right(replace(recorded, question=question), *rest)


@wrong(
    "ORA-5",
    replaces=orders.sum_instant_outputs,
    half="is given again by the instant's own elements",
)
def what_expires_is_forgotten(
    right: Right, look: Any, moment: Any, grown: list[Any], base: Bag
) -> Any:
    """Expects the outputs of an instant to sum to Q(F) − Q(K), even where what expires is derived
    again.
    """
    return right(look, moment, grown, Counter())


@wrong(
    "ORA-5",
    replaces=orders.sum_instant_outputs,
    half="K ⊆ the content just before the instant",
)
def all_that_was_kept_was_seen(
    right: Right, look: Any, moment: Any, grown: list[Any], base: Bag
) -> Bag:
    """Expects the outputs of an instant to sum to the set of rows that its elements complete."""
    completed_rows = {derivation.row for derivation in grown}
    return Counter(completed_rows)


@wrong(
    "ORA-5",
    replaces=orders.sum_instant_outputs,
    half="sum to Q(F) − Q(K)",
)
def sum_of_all(right: Right, look: Any, moment: Any, grown: list[Any], base: Bag) -> Any:
    """Expects the outputs of an instant to sum to the whole answer at its end."""
    return look.answer(range(moment.kept_elements.start, moment.arriving_elements.stop))


@wrong(
    "ORA-6",
    replaces=orders.are_realisable,
    half="one derivation for each row of each output",
    seen=f"{CSRBENCH_ORACLE} evaluates content change once an instant",
)
def one_output(right: Right, outputs: list[Bag], grown: list[Any]) -> bool:
    """Accepts at most one output an instant."""
    return len(outputs) <= 1


@wrong(
    "ORA-6",
    replaces=orders.are_realisable,
    half="one pivot for each output",
)
def a_common_element(right: Right, outputs: list[Bag], grown: list[Any]) -> bool:
    """Accepts an output if all supports of its rows have an element in common."""
    needs: dict[Row, set[Any]] = defaultdict(set)
    for derivation in grown:
        needs[derivation.row] |= derivation.needs
    in_common = [set.intersection(*(needs[row] for row in output)) for output in outputs]
    return all(in_common)


@wrong(
    "ORA-7",
    replaces=orders.search_class_orders,
    half="the orders are searched, one of each class",
)
def the_search_tries_one_order(
    right: Right, look: Any, moment: Any, grown: Any, states: set[State], base: Bag
) -> tuple[set[State], Bag, int]:
    """Tries only the order of the file where orders must be searched."""
    before = base
    furthest = max(state.matched for state in states)
    for stop in range(moment.arriving_elements.start + 1, moment.arriving_elements.stop + 1):
        arrived = range(moment.arriving_elements.start, stop)
        now = look.answer(moment.kept_elements, arrived)
        output = r2s.relation_to_stream(look.operator, now, before)
        if r2s.emits_output(look.semantics.empty, output, Counter()):
            states = trial.advance(states, output, look.recorded)
        before = now
        furthest = max([furthest, *(state.matched for state in states)])
    return states, before, furthest


@wrong(
    "ORA-7",
    replaces=orders.search_class_orders,
    half="A search beyond its bound is unsupported",
)
def beyond_the_bound_is_nothing(right: Right, look: Any, moment: Any, *rest: Any) -> Any:
    """Returns no order where the search exceeds its bound, instead of `unsupported`. The bound is
    lower for more than ten elements: each semantics that might explain the fail is searched to it,
    too.
    """
    bound = search.ORDER_BOUND
    if len(moment.arriving_elements) > 10:
        bound = 100
    with patch.object(search, "ORDER_BOUND", bound):
        try:
            return right(look, moment, *rest)
        except RefengineError:
            return set(), Counter(), 0


@wrong(
    "ORA-8",
    replaces=confirmation.confirm,
    half="must be confirmed (R2R-5)",
)
def one_witness(right: Right, *values: Any) -> None:
    """Accepts the answers of the SPARQL evaluator, and asks no witness."""


@wrong(
    "ORA-8",
    replaces=confirmation.confirm,
    half="its reports up to the first divergence",
)
def all_of_the_stream(
    right: Right, recorded: Any, assigned: Any, answers: Any, witnesses: tuple[str, ...]
) -> None:
    """Asks a witness to confirm every report of the assignment, even after the first divergence."""
    planned = engine.plan(recorded.query, recorded.streams, assigned.semantics)
    for at in engine.evaluations(planned):
        contents = [each.content for each in at.windows]
        dataset = r2r.dataset_of_windows(planned.views, contents, recorded.static)
        r2r.confirmed_answer(recorded.query.body, dataset, witnesses)


@wrong("ORA-9", replaces=divergence.find_divergence)
def no_divergence(right: Right, *values: Any) -> Divergence:
    """Says of every fail only that the answer differs."""
    return Divergence(0, None, None, (), None, None, "the answer differs")


@wrong("ORA-10", replaces=divergence.find_unreachable_row)
def everything_is_in_reach(right: Right, *values: Any, **options: Any) -> None:
    """Takes every row for one that some semantics can give."""


@wrong(
    "ORA-11",
    replaces=trial.first_and_last_instant,
    half="holds the same instants",
)
def windows_are_compared_as_written(right: Right, borders: Any, closure: Any) -> Any:
    """Compares stated windows by their borders, whichever of these belong to them."""
    return borders


@wrong(
    "ORA-11",
    replaces=trial.RecordingToJudge.is_about,
    half="and none explains them with the windows",
)
def told_windows_are_not_read(right: Right, *values: Any) -> bool:
    """Ignores the windows that an engine states."""
    return True


@wrong(
    "ORA-12",
    replaces=divergence.find_border_rows,
    half="one window late",
)
def borders_are_not_looked_at(right: Right, *values: Any) -> list[Any]:
    """Names no rows on window borders."""
    return []


@wrong(
    "ORA-12",
    replaces=divergence._is_nowhere,
    half="no relation has the row in excess",
)
def left_out_wherever_it_is(right: Right, *values: Any) -> bool:
    """Calls a border row left out of its window even where another relation has it."""
    return True


@wrong("ORA-13", replaces=explanations.find_explanations)
def nothing_is_near(right: Right, *values: Any, **options: Any) -> Explanations:
    """Searches no other semantics for an explanation."""
    return Explanations()
