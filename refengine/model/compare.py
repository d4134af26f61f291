"""§10 Comparison: when two answers are the same. Terms or values are compared, numbers with a
tolerance, blank nodes up to isomorphism, and bags in any order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

from refengine.model.elements import Bag, Row
from refengine.model.isomorphism import (
    Component,
    classes_of_numbers,
    renamings,
    split_components,
)
from refengine.model.isomorphism import blanks as blanks
from refengine.model.isomorphism import colours as colours
from refengine.model.isomorphism import rename as rename
from refengine.model.matching import Numbered, match, match_rows, order_key, ranges_of_near
from refengine.model.values import LEAST_DECIMAL as LEAST_DECIMAL
from refengine.model.values import TOLERANCE as TOLERANCE
from refengine.model.values import Exact as Exact
from refengine.model.values import Mode as Mode
from refengine.model.values import TolerantNumber as TolerantNumber
from refengine.model.values import is_near as is_near
from refengine.model.values import maybe_near as maybe_near
from refengine.model.values import split as split
from refengine.model.values import value as value


def equal(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """CMP-4: Return whether two bags of rows are the same (CMP-3) under some one-to-one renaming of
    their blank nodes.

    Rows without blank nodes are compared as they are. The others fall into components that share no
    blank node, so that each component is renamed by itself. Raises Unsupported for components that
    are too symmetric to be searched within SEARCH_BOUND steps.
    """
    if a == b:
        return True
    if a.total() != b.total():
        return False
    lines = [*a, *b]
    if not blanks(lines):
        return not any(difference(a, b, mode))

    classes = classes_of_numbers(lines)
    plain, ours = split_components(a, mode, classes)
    other_plain, theirs = split_components(b, mode, classes)
    if {key: len(found) for key, found in ours.items()} != {
        key: len(found) for key, found in theirs.items()
    }:
        return False
    if any(difference(plain, other_plain, mode)):
        return False
    return all(
        len(match(found, theirs[key], lambda x, y: _are_isomorphic(x, y, mode))) == len(found)
        for key, found in sorted(ours.items())
    )


def _are_isomorphic(a: Component, b: Component, mode: Mode) -> bool:
    return any(
        not any(difference(rename(a.rows, names), b.rows, mode)) for names in renamings(a, b, mode)
    )


def difference(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> tuple[Bag, Bag]:
    """CMP-3: Return the rows that `a` holds more often than `b`, and those that `b` holds more
    often than `a`.

    As many equal rows as can be are paired, one to one; blank nodes are compared by label. The bags
    are the same iff nothing is left on either side. Rows that differ in what must be equal stay in
    the order of their bag.
    """
    if not a or not b:
        return a, b
    missing: Bag = Counter()
    extra: Bag = Counter()
    left = _group(a, mode)
    right = _group(b, mode)
    for key in left | right:  # in the order of the rows: a set's order changes from run to run
        ours = left.get(key, [])
        theirs = right.get(key, [])
        if [line for _, line in ours] == [line for _, line in theirs]:
            continue  # each is paired with itself: most rows of two answers in a row
        paired = match_rows(ours, theirs)
        if len(paired) < len(ours):
            missing.update(line for i, (_, line) in enumerate(ours) if i not in paired)
        if len(paired) < len(theirs):
            used = set(paired.values())
            extra.update(line for j, (_, line) in enumerate(theirs) if j not in used)
    return missing, extra


def find_positions_of_equal_rows(
    rows: Sequence[Row], wanted: Iterable[Row], mode: Mode = Mode.VALUE
) -> dict[Row, list[int]]:
    """CMP-3: Return for each wanted row the positions, ascending, of the rows that equal it.
    Blank nodes are compared by label.
    """
    candidates = defaultdict(list)
    for index, line in enumerate(rows):
        exact, numbers = split(line, mode)
        candidates[exact].append((numbers, index))
    groups = defaultdict(list)
    for line in dict.fromkeys(wanted):
        exact, numbers = split(line, mode)
        groups[exact].append((numbers, line))

    found: dict[Row, list[int]] = {}
    for exact, ours in groups.items():
        theirs = sorted(
            candidates.get(exact, []),
            key=lambda item: ([order_key(n.value) for n in item[0]], item[1]),
        )
        reach = ranges_of_near(ours, theirs)
        for i, (numbers, line) in enumerate(ours):
            found[line] = sorted(
                theirs[j][1] for j in reach(i) if all(map(is_near, numbers, theirs[j][0]))
            )
    return found


def representatives(rows: Bag) -> Bag:
    """Return one of those rows of a bag that are the same by value: the first by its text. Numbers
    are the same only if they are equal, without any tolerance.
    """
    chosen: dict[tuple[object, ...], Row] = {}
    for line in sorted(rows):
        chosen.setdefault(identity(line), line)
    return Counter(chosen.values())


def identity(line: Row) -> tuple[object, ...]:
    """Return a key that rows share iff they are the same by value, without any tolerance for
    numbers.
    """
    exact, numbers = split(line)
    return exact, tuple(_identity_of_number(number) for number in numbers)


def _identity_of_number(number: TolerantNumber) -> object:
    if number.value != number.value:  # NaN, which is not equal to itself
        return str(number.value)
    return number.value


def distinct(rows: Bag, mode: Mode = Mode.VALUE) -> bool:
    """Return whether no two different rows of a bag are equal."""
    for group in _group(Counter(rows.keys()), mode).values():
        if any(all(map(is_near, x, y)) for (x, _), (y, _) in combinations(group, 2)):
            return False
    return True


def _group(rows: Bag, mode: Mode) -> dict[Exact, list[Numbered]]:
    """Return the rows by what must be equal, each with the numbers that must be near, in the order
    of those.
    """
    groups: dict[Exact, list[Numbered]] = defaultdict(list)
    for line in rows.elements():
        exact, numbers = split(line, mode)
        groups[exact].append((numbers, line))
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda item: ([order_key(n.value) for n in item[0]], item[1]))
    return groups
