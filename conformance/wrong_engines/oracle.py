"""Wrong oracles for §11: which outputs are accepted, and what is said of the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any
from unittest.mock import patch

from conformance.wrong_engines.engines import CSRBENCH_ORACLE
from conformance.wrong_engines.miniature import Right, wrong
from refengine.core import engine, r2r, r2s, window
from refengine.core.engine import Plan
from refengine.core.semantics import Semantics
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
    trial,
)
from refengine.oracle.assignments import Candidates
from refengine.oracle.comparison import Divergence
from refengine.oracle.explanations import Nearest
from refengine.oracle.orders import search
from refengine.oracle.trial import Origin, State
from refengine.rdf import recordings
from refengine.rdf.recordings import Recording

States = Iterable[State]


@wrong("ORA-1", replaces=assignments.assignments)
def the_first_assignment(right: Right, *values: Any) -> Iterator[tuple[Semantics, Origin]]:
    """What is open has its first value."""
    yield from islice(right(*values), 1)


@wrong("ORA-2", replaces=assignments.origins, half="every value is tried")
def an_open_t0_is_0(right: Right, planned: Plan, found: Candidates) -> list[Origin]:
    """An unknown t0 is 0."""
    return [Origin(0, 0, 0)]


@wrong("ORA-2", replaces=assignments.origins, half="One of each class is tried")
def classes_by_content_alone(right: Right, planned: Plan, found: Candidates) -> list[Origin]:
    """A class of t0 ends only where an element changes its window."""
    low, _ = window.borders(planned.semantics.closure)
    view, classes = planned.views[0], right(planned, found)
    lo, hi = classes[0].lo, classes[-1].hi
    apps = [element.app for element in view.elements]
    ends = [t for t in range(lo, hi) if any((app - t - low) % view.spec.step == 0 for app in apps)]
    starts = [lo, *(end + 1 for end in ends)]
    return [Origin(start, start, end) for start, end in zip(starts, [*ends, hi], strict=True)]


@wrong(
    "ORA-3",
    replaces=trial.advance,
    half="at most k outputs are missing before the first",
    seen=f"{CSRBENCH_ORACLE}: a recording may be any piece of the output",
)
def anything_may_be_missing(
    right: Right, states: States, output: Bag, recorded: Any, *window: Any
) -> set[State]:
    """Any number of outputs may be missing before the recording and after it."""
    following = set()
    for before, matched, after in states:
        if matched == 0:
            following.add(State(before + 1, 0, 0))
        if matched == len(recorded.rows):
            following.add(State(before, matched, after + 1))
        elif compare.equal(output, recorded.rows[matched], recorded.mode):
            following.add(State(before, matched + 1, 0))
    return following


@wrong("ORA-3", replaces=trial.advance, half="Matching is contiguous")
def holes_are_allowed(
    right: Right, states: States, output: Bag, recorded: Any, *window: Any
) -> Any:
    """An output may be missing in the middle of the recording too."""
    states = set(states)
    inside = {state for state in states if 0 < state.matched < len(recorded.rows)}
    return right(states, output, recorded, *window) | inside


@wrong("ORA-3", replaces=recordings.read_recording, half="Timestamps in a recording are no part")
def sorted_by_timestamp(right: Right, path: Any) -> Recording:
    """Relations are in the order of their timestamps."""
    found = right(path)
    pairs = zip(found.timestamps, found.relations, strict=True)
    ordered = sorted(pairs, key=lambda pair: pair[0] or 0)
    return Recording(tuple(r for _, r in ordered), tuple(t for t, _ in ordered))


@wrong("ORA-4", replaces=orders.order_matters, half="none is tried, where only complete instants")
def the_order_of_the_file(right: Right, planned: Plan) -> bool:
    """Simultaneous elements arrived in the order of the file."""
    return False


@wrong("ORA-4", replaces=attempts.attempt)
def no_order_is_recorded(right: Right, recorded: Any, *rest: Any) -> Any:
    """The arrival order of simultaneous elements is never known."""
    streams = {name: replace(stream, ordered=False) for name, stream in recorded.streams.items()}
    question = replace(recorded.question, streams=streams)
    return right(replace(recorded, question=question), *rest)


@wrong("ORA-5", replaces=orders.instant_sum, half="is derived again in it")
def what_expires_is_forgotten(
    right: Right, look: Any, moment: Any, grown: list[Any], base: Bag
) -> Any:
    """The outputs of an instant sum to Q(F) − Q(K), also if what expires is derived again."""
    return right(look, moment, grown, Counter())


@wrong("ORA-5", replaces=orders.instant_sum, half="nothing that was kept comes into view")
def all_that_was_kept_was_seen(
    right: Right, look: Any, moment: Any, grown: list[Any], base: Bag
) -> Bag:
    """The outputs of an instant sum to the set of rows that its elements complete."""
    return Counter({derivation.row for derivation in grown})


@wrong("ORA-5", replaces=orders.instant_sum, half="sum to Q(F) − Q(K)")
def sum_of_all(right: Right, look: Any, moment: Any, grown: list[Any], base: Bag) -> Any:
    """The outputs of an instant sum to the whole answer at its end."""
    return look.answer(range(moment.kept.start, moment.arriving.stop))


@wrong(
    "ORA-6",
    replaces=orders.realisable,
    half="derivations can be chosen for their rows",
    seen=f"{CSRBENCH_ORACLE} evaluates content change once an instant",
)
def one_output(right: Right, outputs: list[Bag], grown: list[Any]) -> bool:
    """All rows of an instant come in one output."""
    return len(outputs) <= 1


@wrong("ORA-6", replaces=orders.realisable, half="so that each r_i has a pivot")
def a_common_element(right: Right, outputs: list[Bag], grown: list[Any]) -> bool:
    """An output is realisable if its rows' supports have an element in common."""
    needs: dict[Row, set[Any]] = defaultdict(set)
    for derivation in grown:
        needs[derivation.row] |= derivation.needs
    return all(set.intersection(*(needs[line] for line in output)) for output in outputs)


@wrong("ORA-7", replaces=orders.orders, half="the orders are searched up to equivalence")
def the_search_tries_one_order(
    right: Right, look: Any, moment: Any, grown: Any, states: set[State], base: Bag
) -> tuple[set[State], Bag, int]:
    """Where orders must be searched, the one of the file is tried."""
    before = base
    furthest = max(state.matched for state in states)
    for stop in range(moment.arriving.start + 1, moment.arriving.stop + 1):
        now = look.answer(moment.kept, range(moment.arriving.start, stop))
        output = r2s.relation_to_stream(look.operator, now, before)
        if r2s.emitted(look.semantics.empty, output, Counter()):
            states = trial.advance(states, output, look.recorded)
        before = now
        furthest = max([furthest, *(state.matched for state in states)])
    return states, before, furthest


@wrong("ORA-7", replaces=orders.orders, half="A search beyond its bound is unsupported")
def beyond_the_bound_is_nothing(right: Right, look: Any, moment: Any, *rest: Any) -> Any:
    """A search beyond its bound finds nothing. Of many elements it stops early: each semantics that
    might explain the fail is searched to the bound, too.
    """
    bound = 100 if len(moment.arriving) > 10 else search.ORDER_BOUND
    with patch.object(search, "ORDER_BOUND", bound):
        try:
            return right(look, moment, *rest)
        except RefengineError:
            return set(), Counter(), 0


@wrong("ORA-8", replaces=confirmation.confirm, half="Witnesses confirm (R2R-5)")
def one_witness(right: Right, *values: Any) -> None:
    """The definition decides alone."""


@wrong("ORA-8", replaces=confirmation.confirm, half="those up to its first divergence")
def all_of_the_stream(
    right: Right, recorded: Any, assigned: Any, answers: Any, witnesses: tuple[str, ...]
) -> None:
    """A witness must confirm every report of the assignment, also after the first divergence."""
    planned = engine.plan(recorded.query, recorded.streams, assigned.semantics)
    for at in engine.evaluations(planned):
        contents = [each.content for each in at.windows]
        asked = r2r.together(planned.views, contents, recorded.static)
        r2r.confirmed(recorded.query.body, asked, witnesses)


@wrong("ORA-9", replaces=divergence.divergence)
def no_divergence(right: Right, *values: Any) -> Divergence:
    """A fail says only that it is one."""
    return Divergence(0, None, None, (), None, None, "the answer differs")


@wrong("ORA-10", replaces=divergence.out_of_reach)
def everything_is_in_reach(right: Right, *values: Any, **options: Any) -> None:
    """Any row may come of some semantics."""


@wrong("ORA-11", replaces=trial.instants, half="holds the same instants")
def windows_are_compared_as_written(right: Right, borders: Any, closure: Any) -> Any:
    """Told windows are compared by their borders, whichever of these belong to them."""
    return borders


@wrong("ORA-11", replaces=trial.Recorded.is_about, half="and none with them")
def told_windows_are_not_read(right: Right, *values: Any) -> bool:
    """What an engine says of its windows does not matter."""
    return True


@wrong("ORA-12", replaces=divergence.border_rows, half="one window late")
def borders_are_not_looked_at(right: Right, *values: Any) -> list[Any]:
    """Rows on window borders are not named."""
    return []


@wrong("ORA-12", replaces=divergence._is_nowhere, half="no relation has it too many")
def left_out_wherever_it_is(right: Right, *values: Any) -> bool:
    """A border row that its window lacks is left out, also where another relation has it."""
    return True


@wrong("ORA-13", replaces=explanations.nearest)
def nothing_is_near(right: Right, *values: Any, **options: Any) -> Nearest:
    """No other semantics is looked for."""
    return Nearest()
