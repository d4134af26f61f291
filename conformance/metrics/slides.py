"""The rows that came, dealt to the slides in which they were expected, under content change
(docs/metrics.md).
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
    expected: Sequence[Bag], actual: Sequence[Bag], mode: Mode = Mode.VALUE
) -> list[Bag]:
    """Return the actual rows of each slide, whose expected rows are given: an engine's clock does
    not say in which slide it answered, so order does.

    Slides that are answered exactly, from the first on and from the last back, have their rows. Of
    those between, a longest common subsequence of what was expected and what came is in its slides;
    of the other rows each is in the first slide that lacks it, from that of the row before it to
    that of the next row of the subsequence, or else in that of the row before it. Decided here.
    """
    if not expected:
        return []
    dealt: list[Bag] = [Counter() for _ in expected]
    rows = [line for relation in actual for line in sorted(relation.elements())]
    between, rows = _deal_exact(expected, rows, dealt, mode)
    _deal_others(expected, rows, between, dealt, mode)
    return dealt


def _deal_exact(
    expected: Sequence[Bag], rows: list[Row], dealt: list[Bag], mode: Mode
) -> tuple[range, list[Row]]:
    """Put the rows of the slides that are answered exactly, from the first on and from the last
    back, where they are found. Returns the other slides and the other rows.
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
    expected: Sequence[Bag], rows: list[Row], between: range, dealt: list[Bag], mode: Mode
) -> None:
    """Add each other row to a slide, by a longest common subsequence of rows expected and rows that
    came.
    """
    slide = [number for number in between for _ in range(expected[number].total())]
    lines = [line for number in between for line in expected[number].elements()]
    places = compare.places(lines, rows, mode)
    common = _common(rows, places)
    until = _next_slides(len(rows), {i: slide[place] for i, place in common.items()}, between)
    used = set(common.values())
    now = max(between.start - 1, 0)
    for index, line in enumerate(rows):
        place = common.get(index)
        if place is None:
            free = (p for p in places[line] if p not in used and now <= slide[p] <= until[index])
            place = next(free, None)
        if place is not None:
            used.add(place)
            now = slide[place]
        dealt[now][line] += 1


def _next_slides(rows: int, slides: Mapping[int, int], between: range) -> list[int]:
    """Return, for each of so many rows, the slide of the next row of the subsequence, whose slides
    are given; else the last one.
    """
    following = [between.stop - 1] * rows
    for index in reversed(range(rows - 1)):
        following[index] = slides.get(index + 1, following[index + 1])
    return following


@dataclass(frozen=True, slots=True)
class Pairing:
    """The index of a row, its place in the other sequence, and the one before it."""

    index: int
    place: int
    before: Pairing | None


def _common(rows: Sequence[Row], places: Mapping[Row, Sequence[int]]) -> dict[int, int]:
    """Return a longest common subsequence (Hunt and Szymanski), given where each row is in the
    other sequence: index → place there.
    """
    tails: list[int] = []
    nodes: list[Pairing] = []  # index and place of each tail, and the node before it
    for index, line in enumerate(rows):
        for place in reversed(places[line]):
            at = bisect_left(tails, place)
            before = None
            if at > 0:
                before = nodes[at - 1]
            tails[at : at + 1] = [place]
            nodes[at : at + 1] = [Pairing(index, place, before)]
    common: dict[int, int] = {}
    node = next(reversed(nodes), None)
    while node is not None:
        common[node.index] = node.place
        node = node.before
    return common
