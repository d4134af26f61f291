"""§11 Whether simultaneous elements can arrive in an order that gives recorded outputs (ORA-6)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import comb

from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row
from refengine.model.errors import Unsupported
from refengine.oracle.orders.groups import EvaluationGroup, OrderSearch, PendingDerivation
from refengine.oracle.trial import State

# How many ways to deal rows to missing outputs, or to complete outputs, are looked at.
WAYS_BOUND = 50_000


def states_after_outputs(
    search: OrderSearch,
    group: EvaluationGroup,
    pending: list[PendingDerivation],
    total: Bag,
    state: State,
) -> tuple[set[State], int]:
    """Return the states that an instant with outputs of the sum `total` leads to from one state.
    Also return how many relations are matched if the instant has all rows of the next ones.

    The next relations are taken one by one as outputs of the instant, as long as their rows are
    left of the sum. The rows that are left over were in outputs that the recording lacks.
    """
    if not total:
        return {state}, state.matched
    recorded = search.recorded
    rows = recorded.rows
    before, matched, after = state
    spare_before = 0
    if matched == 0:
        spare_before = recorded.missing.before - before
    following: set[State] = set()
    outputs: list[Bag] = []
    left = total
    while True:
        spare_after = 0
        if rows and matched == len(rows):
            spare_after = recorded.missing.after - after
        for early, late in product(range(spare_before + 1), range(spare_after + 1)):
            completed = _with_missing_outputs(outputs, left, early, late)
            if any(are_realisable(every_output, pending) for every_output in completed):
                following.add(State(before + early, matched, after + late))

        output = _next_output(search, group, matched, total)
        if not output or not output <= left:
            return following, matched
        outputs = [*outputs, output]
        left = left - output
        matched += 1


def _next_output(
    search: OrderSearch, group: EvaluationGroup, matched: int, total: Bag
) -> Bag | None:
    """Return relation `matched` as a part of `total`. None if there is none, if it is stated for
    another window, or if `total` lacks one of its rows.
    """
    recorded = search.recorded
    if matched >= len(recorded.rows):
        return None
    if not recorded.is_about(matched, *search.window_of(group)):
        return None
    return _as_rows(recorded.rows[matched], total, recorded.mode)


def _as_rows(output: Bag, total: Bag, mode: Mode) -> Bag | None:
    """Return a recorded relation with each row written as the equal row of `total` is. None if
    `total` has no row equal to one of its rows.
    """
    translated: Bag = Counter()
    for line, count in output.items():
        same = _same_row(line, total, mode)
        if same is None:
            return None
        translated[same] += count
    return translated


def _same_row(line: Row, total: Bag, mode: Mode) -> Row | None:
    """Return the row of `total` that equals a recorded one; None if there is none."""
    if line in total:
        return line
    one = Counter([line])
    return next((row for row in total if compare.equal(one, Counter([row]), mode)), None)


def _with_missing_outputs(
    outputs: list[Bag], left: Bag, early: int, late: int
) -> Iterator[list[Bag]]:
    """Yield the instant's outputs with `early` missing ones before the recorded ones and `late`
    missing ones after them. The rows in `left` are dealt to the missing ones, in every way in which
    none is empty.
    """
    parts = early + late
    if parts == 0:
        if not left:
            yield outputs
        return
    lines = sorted(left.elements())
    if len(lines) < parts:
        return
    if parts > 1 and parts ** len(lines) > WAYS_BOUND:
        raise Unsupported(
            f"too many ways to deal {len(lines)} missing rows to {parts} outputs at one instant",
            rule="ORA-7",
        )
    for places in product(range(parts), repeat=len(lines)):
        bags: list[Bag] = [Counter() for _ in range(parts)]
        for line, place in zip(lines, places, strict=True):
            bags[place][line] += 1
        if all(bags):
            yield [*bags[:early], *outputs, *bags[early:]]


def are_realisable(outputs: Sequence[Bag], pending: Sequence[PendingDerivation]) -> bool:
    """ORA-6: whether simultaneous elements can arrive in an order that gives exactly these outputs,
    one after the other.

    `pending` are the derivations that the elements complete. Each output comes with the arrival of
    one element, its pivot, which completes all derivations of its rows. Every other element arrives
    as late as it can: to arrive earlier never helps a later output.
    """
    by_row = defaultdict(list)
    for index, derivation in enumerate(pending):
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
        if len(visited) > WAYS_BOUND:
            raise Unsupported(
                "too many ways for simultaneous elements to complete an answer", rule="ORA-7"
            )
        output = outputs[position]
        for needs in _completions(output, by_row, pending, arrived):
            pivots = needs - arrived
            if any(_brings(pending, arrived, needs, pivot) == output for pivot in pivots):
                todo.append((position + 1, arrived | needs))
    return False


def _completions(
    output: Bag,
    by_row: Mapping[Row, Sequence[int]],
    pending: Sequence[PendingDerivation],
    arrived: frozenset[int],
) -> Iterator[frozenset[int]]:
    """Yield, for every choice of a derivation for each row of an output, the elements that these
    derivations need.

    `by_row` has the indices of the pending derivations of each row. Derivations whose elements have
    all `arrived` are no choice.
    """
    choices: list[list[frozenset[int]]] = []
    ways = 1
    for line, count in sorted(output.items()):
        waiting = [pending[i].needs for i in by_row[line] if not pending[i].needs <= arrived]
        ways *= max(1, comb(len(waiting), min(count, len(waiting))))
        if ways > WAYS_BOUND:
            raise Unsupported("too many derivations of the rows of one output", rule="ORA-7")
        if count == 1:
            waiting = sorted(set(waiting), key=sorted)
        choices.append([_union(chosen) for chosen in combinations(waiting, count)])
    for chosen in product(*choices):
        yield _union(chosen)


def _union(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    """Return the union of some sets of elements."""
    return frozenset().union(*sets)


def _brings(
    pending: Sequence[PendingDerivation],
    arrived: frozenset[int],
    needs: frozenset[int],
    pivot: int,
) -> Bag | None:
    """Return the rows that are new when the elements in `needs` arrive, the pivot last. None if a
    row is new before the pivot arrives.
    """
    then = arrived | needs
    ready = then - {pivot}
    rows: Bag = Counter()
    for derivation in pending:
        if derivation.needs <= arrived:
            continue
        if derivation.needs <= ready:
            return None
        if derivation.needs <= then:
            rows[derivation.row] += 1
    return rows
