"""The rows that came, dealt to the slides in which they were expected, under content change
(docs/benchmarks.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Row


def deal_to_slides(
    expected: Sequence[Bag],
    actual: Sequence[Bag],
    mode: Mode = Mode.VALUE,
) -> list[Bag]:
    """Give the rows of an output to slides by their order, since an engine's clock does not say to
    which slide an answer belongs. Returns the rows of each slide.

    1. The slides that are answered exactly, from the first on and from the last back, get their
       rows.
    2. Of the other slides, a longest common subsequence of the expected rows and the actual rows
       goes to the slides where it is expected.
    3. Each other row goes to the first slide that lacks it, between the slide of the row before it
       and that of the next row of the subsequence; if none lacks it, to the slide of the row before
       it.

    Decided here.
    """
    if not expected:
        return []
    dealt: list[Bag] = [Counter() for _ in expected]
    rows = [line for relation in actual for line in sorted(relation.elements())]
    between, rows = _deal_exact(expected, rows, dealt, mode)
    _deal_others(expected, rows, between, dealt, mode)
    return dealt


def _deal_exact(
    expected: Sequence[Bag],
    rows: list[Row],
    dealt: list[Bag],
    mode: Mode,
) -> tuple[range, list[Row]]:
    """Give rows to the slides that are answered exactly, from the first on and from the last back.
    Returns the range of the other slides, and the other rows.
    """
    first = 0
    last = len(expected)
    while first < last:
        at = expected[first].total()
        came = Counter(rows[:at])
        if not compare.equal(expected[first], came, mode):
            break
        dealt[first] = came
        rows = rows[at:]
        first += 1
    while first < last:
        at = max(0, len(rows) - expected[last - 1].total())
        came = Counter(rows[at:])
        if not compare.equal(expected[last - 1], came, mode):
            break
        last -= 1
        dealt[last] = came
        rows = rows[:at]
    return range(first, last), rows


def _deal_others(
    expected: Sequence[Bag],
    rows: list[Row],
    between: range,
    dealt: list[Bag],
    mode: Mode,
) -> None:
    """Give the other rows to the slides of a range, by a longest common subsequence of the expected
    and the actual rows.
    """
    slide = [number for number in between for _ in range(expected[number].total())]
    lines = [line for number in between for line in expected[number].elements()]
    positions = compare.find_positions_of_equal_rows(lines, rows, mode)
    common = _common(rows, positions)
    until = _next_slides(len(rows), {i: slide[position] for i, position in common.items()}, between)
    used = set(common.values())
    now = max(between.start - 1, 0)
    for index, line in enumerate(rows):
        position = common.get(index)
        if position is None:
            free = (p for p in positions[line] if p not in used and now <= slide[p] <= until[index])
            position = next(free, None)
        if position is not None:
            used.add(position)
            now = slide[position]
        dealt[now][line] += 1


def _next_slides(rows: int, slides: Mapping[int, int], between: range) -> list[int]:
    """Return for each row the slide of the next row of the subsequence; the last slide if there is
    none. `slides` has the slides of the rows of the subsequence by their index.
    """
    following = [between.stop - 1] * rows
    for index in reversed(range(rows - 1)):
        following[index] = slides.get(index + 1, following[index + 1])
    return following


@dataclass(frozen=True, slots=True)
class Pairing:
    """A pair of a common subsequence: the index of a row, its position in the other sequence, and
    the pair before it.
    """

    index: int
    position: int
    before: Pairing | None


def _common(rows: Sequence[Row], positions: Mapping[Row, Sequence[int]]) -> dict[int, int]:
    """Return a longest common subsequence of two sequences, {index of a row: its position in the
    other sequence}. `positions` has the positions of each row there. Source: Hunt and Szymanski.
    """
    tails: list[int] = []
    nodes: list[Pairing] = []  # index and position of each tail, and the node before it
    for index, line in enumerate(rows):
        for position in reversed(positions[line]):
            at = bisect_left(tails, position)
            before = None
            if at > 0:
                before = nodes[at - 1]
            tails[at : at + 1] = [position]
            nodes[at : at + 1] = [Pairing(index, position, before)]
    common: dict[int, int] = {}
    node = next(reversed(nodes), None)
    while node is not None:
        common[node.index] = node.position
        node = node.before
    return common
