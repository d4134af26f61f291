"""§10 When two answers are the same: terms or values, tolerance, blank nodes up to isomorphism,
bags whatever the order.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from functools import cache, lru_cache
from hashlib import sha256
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from refengine.model.elements import XSD, Bag, Row, Term, is_blank, parse_literal, row
from refengine.model.errors import Unsupported
from refengine.model.xsd import (
    BOOLEANS,
    DECIMAL_FORM,
    INTEGER_FORM,
    INTEGERS,
    date_time,
    double,
    in_range,
)

TOLERANCE = {"double": 1e-9, "float": 1e-6, "decimal": 1e-17}
LEAST_DECIMAL = Fraction(1, 10**18)  # two decimals may differ by so much, however small they are
SEARCH_BOUND = 100_000  # steps of one search for a renaming
# characters of a literal that is read as a value: fewer than Python takes for an integer
LONGEST = 4000
ROUNDS = 12  # of colour refinement: it only narrows the search


T = TypeVar("T")


class Mode(StrEnum):
    """CMP-1: `value` compares literals in their value space, `term` as terms."""

    VALUE = "value"
    TERM = "term"


# What must be equal of a row: its variables, each with a value, or with Number for one that must be
# near.
Exact = tuple[tuple[str, object], ...]


class Number(NamedTuple):
    """A numeric value with the relative tolerance of its datatype (0: exact)."""

    value: Fraction | float
    tolerance: float


Numbered = tuple[tuple[Number, ...], Row]  # a row and its numbers


@lru_cache(maxsize=2**16)
def value(term: Term) -> Term | Number | tuple[object, ...]:
    """CMP-1: a literal's value; the term itself where it has none that we know (an ill-typed, a
    foreign or an endless literal).
    """
    if not term.startswith('"') or len(term) > LONGEST:
        return term
    try:
        lexical, datatype, _ = parse_literal(term)
        kind = datatype.removeprefix(XSD)
        if datatype in INTEGERS and INTEGER_FORM.fullmatch(lexical):
            number = int(lexical)
            return Number(Fraction(number), 0.0) if in_range(number, datatype) else term
        if kind == "decimal" and DECIMAL_FORM.fullmatch(lexical):
            return Number(Fraction(Decimal(lexical)), TOLERANCE["decimal"])
        if kind in ("double", "float"):
            return Number(double(lexical), TOLERANCE[kind])
        if kind == "boolean" and lexical in BOOLEANS:
            return ("boolean", BOOLEANS[lexical])
        if kind == "dateTime":
            return ("dateTime", *date_time(lexical))
    except (ValueError, InvalidOperation, OverflowError):
        pass  # ill-typed, or beyond what Python reads: no value, so a term
    return term


def near(a: Number, b: Number) -> bool:
    """CMP-2: numbers are the same if they differ by at most the larger tolerance of the two,
    relative to the larger of them; decimals also if they differ by LEAST_DECIMAL at most; an
    integer and another number only if they are equal.
    """
    x, y = a.value, b.value
    if (isinstance(x, float) and not math.isfinite(x)) or (
        isinstance(y, float) and not math.isfinite(y)
    ):
        return x == y or (x != x and y != y)
    x, y = Fraction(x), Fraction(y)
    if x == y:
        return True
    tolerance, apart = _tolerance(a.tolerance, b.tolerance), abs(x - y)
    if apart <= Fraction(tolerance) * max(abs(x), abs(y)):
        return True
    return tolerance == TOLERANCE["decimal"] and apart <= LEAST_DECIMAL


def _tolerance(a: float, b: float) -> float:
    """CMP-2: the relative tolerance of two numbers, by those of their types: an integer's, which is
    0, else the larger.
    """
    return max(a, b) if a and b else 0.0


def margin(value: Fraction | float) -> Fraction:
    """How far from a finite number another may be that is near to it, whatever their types; rather
    too far.
    """
    return 2 * Fraction(max(TOLERANCE.values())) * abs(Fraction(value)) + LEAST_DECIMAL


def maybe_near(x: Fraction | float, y: Fraction | float) -> bool:
    """Whether two values can be near, whatever their types. NaN never is."""
    if x == y:
        return True
    # no decimals; twice the tolerance is more than rounding takes away
    if isinstance(x, float) and isinstance(y, float):
        return abs(x - y) <= 2 * max(TOLERANCE.values()) * min(abs(x), abs(y)) < math.inf
    if any(isinstance(value, float) and not math.isfinite(value) for value in (x, y)):
        return False
    return abs(Fraction(x) - Fraction(y)) <= margin(x)


def split(line: Row, mode: Mode) -> tuple[Exact, tuple[Number, ...]]:
    """A row as what must be equal and what must be near."""
    exact: list[tuple[str, object]] = []
    numbers: list[Number] = []
    for name, term in line:
        what = value(term) if mode is Mode.VALUE else term
        if isinstance(what, Number):
            exact.append((name, Number))
            numbers.append(what)
        else:
            exact.append((name, what))
    return tuple(exact), tuple(numbers)


def equal(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """CMP-4: bags of rows are the same if they are (CMP-3) under some one-to-one renaming of their
    blank nodes.

    Rows without blank nodes are compared as they are; the others fall into components that share no
    blank node, and a renaming of the whole is a renaming of each. Raises Unsupported for components
    too symmetric for SEARCH_BOUND.
    """
    if a == b:
        return True
    if a.total() != b.total():
        return False
    if not blanks(a) and not blanks(b):
        return not any(difference(a, b, mode))
    classes = _classes([*a, *b], mode)
    (plain, parts), (other_plain, other_parts) = (
        _components(a, mode, classes),
        _components(b, mode, classes),
    )
    if Counter({key: len(found) for key, found in parts.items()}) != Counter(
        {k: len(f) for k, f in other_parts.items()}
    ):
        return False
    if any(difference(plain, other_plain, mode)):
        return False
    return all(
        len(_pairs(found, other_parts[key], lambda x, y: _isomorphic(x, y, mode))) == len(found)
        for key, found in sorted(parts.items())
    )


def difference(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> tuple[Bag, Bag]:
    """CMP-3: what a holds more of than b, and b more of than a, after pairing one to one as many
    equal rows as can be (blank nodes by label); bags are the same iff nothing is left on either
    side.
    """
    if not a or not b:
        return +a, +b
    missing: Bag = Counter()
    extra: Bag = Counter()
    left, right = _grouped(a, mode), _grouped(b, mode)
    for key in left.keys() | right.keys():
        ours, theirs = left.get(key, []), right.get(key, [])
        paired = _matching(ours, theirs)
        if len(paired) < len(ours):
            missing.update(line for i, (_, line) in enumerate(ours) if i not in paired)
        if len(paired) < len(theirs):
            used = set(paired.values())
            extra.update(line for j, (_, line) in enumerate(theirs) if j not in used)
    return missing, extra


def places(
    rows: Sequence[Row], wanted: Iterable[Row], mode: Mode = Mode.VALUE
) -> dict[Row, list[int]]:
    """CMP-3: for each wanted row where in a sequence the rows are that are equal to it (blank nodes
    by label), ascending.
    """
    there, asked = defaultdict(list), defaultdict(list)
    for index, line in enumerate(rows):
        exact, numbers = split(line, mode)
        there[exact].append((numbers, index))
    for line in dict.fromkeys(wanted):
        exact, numbers = split(line, mode)
        asked[exact].append((numbers, line))
    found: dict[Row, list[int]] = {}
    for exact, ours in asked.items():
        theirs = sorted(
            there.get(exact, []), key=lambda item: ([_place(n.value) for n in item[0]], item[1])
        )
        reach = _reach(ours, theirs)
        for i, (numbers, line) in enumerate(ours):
            found[line] = sorted(
                theirs[j][1] for j in reach(i) if all(map(near, numbers, theirs[j][0]))
            )
    return found


def representatives(rows: Bag) -> Bag:
    """One, the first by text, of the rows of a bag that are the same by value, tolerance left
    aside.
    """
    chosen: dict[tuple[object, ...], Row] = {}
    for line in sorted(rows):
        chosen.setdefault(identity(line), line)
    return Counter(chosen.values())


def identity(line: Row) -> tuple[object, ...]:
    """What rows have in common that are the same by value, tolerance left aside."""
    exact, numbers = split(line, Mode.VALUE)
    return exact, tuple(str(n.value) if n.value != n.value else n.value for n in numbers)


def distinct(rows: Bag, mode: Mode = Mode.VALUE) -> bool:
    """Whether no two different rows of a bag are equal."""
    for group in _grouped(Counter(rows.keys()), mode).values():
        if any(all(map(near, x, y)) for (x, _), (y, _) in combinations(group, 2)):
            return False
    return True


def _grouped(rows: Bag, mode: Mode) -> dict[Exact, list[Numbered]]:
    """Rows by what must be equal, each with the numbers that must be near,
    in the order of those.
    """
    groups: dict[Exact, list[Numbered]] = defaultdict(list)
    for line in rows.elements():
        exact, numbers = split(line, mode)
        groups[exact].append((numbers, line))
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda item: ([_place(n.value) for n in item[0]], item[1]))
    return groups


def _place(value: Fraction | float) -> tuple[bool, Fraction | float]:
    """A number's place in a total order: NaN comes last."""
    return (True, 0) if value != value else (False, value)


def _matching(ours: Sequence[Numbered], theirs: Sequence[Numbered]) -> dict[int, int]:
    """CMP-3: a maximum matching of two groups, index to index."""
    numbers, _ = (ours or theirs)[0]
    if not numbers:
        return dict(zip(range(len(ours)), range(len(theirs)), strict=False))
    if len(numbers) == 1 and len(_tolerances(ours, theirs)) <= 1:
        return _in_step(ours, theirs)
    return _pairs(ours, theirs, lambda x, y: all(map(near, x[0], y[0])), _reach(ours, theirs))


def _tolerances(ours: Sequence[Numbered], theirs: Sequence[Numbered]) -> set[float]:
    """The tolerances that comparing the first number of a row of ours with that of one of theirs
    can have.
    """
    left, right = ({numbers[0].tolerance for numbers, _ in group} for group in (ours, theirs))
    return {_tolerance(a, b) for a in left for b in right}


def _in_step(ours: Sequence[Numbered], theirs: Sequence[Numbered]) -> dict[int, int]:
    """A maximum matching of rows with one number each and one tolerance, both in the order of the
    number: the greater a row's number, the further on the interval of those that are near to it.
    """
    paired, i, j = {}, 0, 0
    while i < len(ours) and j < len(theirs):
        a, b = ours[i][0][0], theirs[j][0][0]
        if near(a, b):
            paired[i] = j
            i, j = i + 1, j + 1
        elif b.value != b.value or a.value < b.value:
            i += 1
        else:
            j += 1
    return paired


def _reach(
    ours: Sequence[tuple[tuple[Number, ...], object]],
    theirs: Sequence[tuple[tuple[Number, ...], object]],
) -> Callable[[int], range]:
    """For each row of ours the range of theirs, sorted as they are, that its first number can be
    near to.
    """
    firsts = [_place(n[0].value) for n, _ in theirs if n]

    @cache
    def reach(i: int) -> range:
        numbers, _ = ours[i]
        if not numbers:
            return range(len(theirs))
        value = numbers[0].value
        if value != value or abs(value) == math.inf:
            return range(bisect_left(firsts, _place(value)), bisect_right(firsts, _place(value)))
        lo, hi = Fraction(value) - margin(value), Fraction(value) + margin(value)
        return range(bisect_left(firsts, _place(lo)), bisect_right(firsts, _place(hi)))

    return reach


def _pairs(
    ours: Sequence[T],
    theirs: Sequence[T],
    same: Callable[[T, T], bool],
    reach: Callable[[int], Iterable[int]] | None = None,
) -> dict[int, int]:
    """A maximum matching of two sequences, by augmenting paths: index to index. `reach` narrows the
    candidates.
    """
    partner: dict[int, int] = {}
    owner: dict[int, int] = {}
    known: dict[tuple[int, int], bool] = {}
    # searches that failed came here, and no later one gets further (a Hungarian tree)
    closed: set[int] = set()

    def fits(i: int, j: int) -> bool:
        if (i, j) not in known:
            known[i, j] = same(ours[i], theirs[j])
        return known[i, j]

    for start in range(len(ours)):
        if start < len(theirs) and start not in owner and fits(start, start):
            partner[start], owner[start] = start, start
            continue
        came: dict[int, int] = {}
        queue, end = [start], None
        for i in queue:
            for j in reach(i) if reach else range(len(theirs)):
                if j not in came and j not in closed and fits(i, j):
                    came[j] = i
                    if j not in owner:
                        end = j
                        break
                    queue.append(owner[j])
            if end is not None:
                break
        else:
            closed.update(came)
        while end is not None:  # turn the path around
            i = came[end]
            previous = partner.get(i)
            partner[i], owner[end] = end, i
            end = previous
    return partner


def blanks(rows: Iterable[Row]) -> set[Term]:
    """The blank nodes in some rows."""
    return {term for line in rows for _, term in line if is_blank(term)}


def rename(rows: Bag, names: dict[Term, Term]) -> Bag:
    """The bag with its blank nodes renamed."""
    renamed: Bag = Counter()
    for line, count in rows.items():
        renamed[row((name, names.get(term, term)) for name, term in line)] += count
    return renamed


def _classes(lines: Iterable[Row], mode: Mode) -> dict[Term, int]:
    """Numbers by class: near numbers are always in one, numbers further apart than their margin
    with none between are not.
    """
    found = {term: value(term) for line in lines for _, term in line} if mode is Mode.VALUE else {}
    numbers = {term: what.value for term, what in found.items() if isinstance(what, Number)}
    ordered = sorted(
        (v, term) for term, v in numbers.items() if v == v and v not in (math.inf, -math.inf)
    )
    classes: dict[Term, int] = {}
    before = None
    for number, term in ordered:
        exact = Fraction(number)
        if before is None or exact - before > margin(before):
            current = len(classes)
        classes[term], before = current, exact
    return classes


def colours(
    rows: Bag, mode: Mode = Mode.VALUE, classes: Mapping[Term, int] = MappingProxyType({})
) -> dict[Term, str]:
    """A label-independent text for each blank node, by some rounds of colour refinement; isomorphic
    bags give equal texts, but equal texts need not mean isomorphic bags.
    """
    colour = dict.fromkeys(blanks(rows), "")
    lines = [
        (line, [_shade(term, mode, classes) for _, term in line], count)
        for line, count in rows.items()
        if blanks([line])
    ]
    for _ in range(min(ROUNDS, len(colour))):
        signs: dict[Term, list[str]] = defaultdict(list)
        for line, shades, count in lines:
            seen = [
                (name, colour.get(term, shade))
                for (name, term), shade in zip(line, shades, strict=True)
            ]
            for position, (_, term) in enumerate(line):
                if term in colour:
                    own = [i for i, (_, other) in enumerate(line) if other == term]
                    signs[term] += [repr((position, own, seen))] * count
        refined = {
            term: sha256(repr((colour[term], sorted(signs[term]))).encode()).hexdigest()
            for term in colour
        }
        stable = len(set(refined.values())) == len(set(colour.values()))
        colour = refined
        if stable:
            break
    return colour


def _shade(term: Term, mode: Mode, classes: Mapping[Term, int]) -> str:
    what = value(term) if mode is Mode.VALUE else term
    return f"number {classes.get(term)}" if isinstance(what, Number) else repr(what)


class _Component(NamedTuple):
    """Rows that hang together by their blank nodes, and the colour of each of those."""

    rows: Bag
    colour: dict[Term, str]


def _components(
    rows: Bag, mode: Mode, classes: Mapping[Term, int]
) -> tuple[Bag, dict[tuple[str, ...], list[_Component]]]:
    """The rows without blank nodes, and the components of the others by their colours."""
    plain = Counter({line: count for line, count in rows.items() if not blanks([line])})
    colour, touching = colours(rows, mode, classes), defaultdict(list)
    for line in rows.keys() - plain.keys():
        for node in blanks([line]):
            touching[node].append(line)
    parts, done = defaultdict(list), set()
    for start in sorted(colour, key=lambda node: (colour[node], node)):
        if start in done:
            continue
        nodes = [start]
        done.add(start)
        for node in nodes:
            for line in touching[node]:
                new = blanks([line]) - done
                done |= new
                nodes.extend(sorted(new))
        lines = {line for node in nodes for line in touching[node]}
        part = _Component(
            Counter({line: rows[line] for line in lines}), {node: colour[node] for node in nodes}
        )
        parts[tuple(sorted(part.colour.values()))].append(part)
    return plain, parts


def _isomorphic(a: _Component, b: _Component, mode: Mode) -> bool:
    """Whether a renaming of a component's blank nodes makes its rows the other's: a search from
    node to neighbour, that gives up a branch as soon as a renamed row has no counterpart.
    """
    order = list(a.colour)  # each node but the first shares a row with one before it
    depth = {node: position for position, node in enumerate(order)}
    ready: dict[int, list[tuple[Row, int]]] = defaultdict(list)
    for line, count in a.rows.items():
        ready[max(depth[node] for node in blanks([line]))].append((line, count))
    present: Counter[Exact] = Counter()
    around: dict[Exact, list[Term]] = defaultdict(list)
    for line, count in sorted(b.rows.items()):
        present[_shape(line, {}, mode)] += count
        for node in sorted(blanks([line])):
            around[_shape(line, {node: "*"}, mode)].append(node)

    def candidates(names: dict[Term, Term]) -> Iterator[Term]:
        node = order[len(names)]
        used = set(names.values())
        if ready[len(names)]:
            found: Iterable[Term] = dict.fromkeys(
                around[_shape(ready[len(names)][0][0], {**names, node: "*"}, mode)]
            )
        else:
            found = b.colour
        return iter([t for t in found if b.colour[t] == a.colour[node] and t not in used])

    names: dict[Term, Term] = {}
    branches, steps = [candidates(names)], 0
    while branches:
        node = order[len(branches) - 1]
        names.pop(node, None)
        target = next(branches[-1], None)
        if target is None:
            branches.pop()
            continue
        steps += 1
        if steps > SEARCH_BOUND:
            raise Unsupported("blank nodes too symmetric to compare", rule="CMP-4")
        names[node] = target
        if not _have_counterparts(ready[len(branches) - 1], present, names, mode):
            continue
        if len(names) < len(order):
            branches.append(candidates(names))
        elif not any(difference(rename(a.rows, names), b.rows, mode)):
            return True
    return False


def _have_counterparts(
    rows: Sequence[tuple[Row, int]],
    present: Counter[Exact],
    names: Mapping[Term, Term],
    mode: Mode,
) -> bool:
    """Whether the other component has each of these rows, renamed, as often or oftener."""
    renamed: Counter[Exact] = Counter()
    for line, count in rows:
        renamed[_shape(line, names, mode)] += count
    return all(present[shape] >= count for shape, count in renamed.items())


def _shape(line: Row, names: Mapping[Term, Term], mode: Mode) -> Exact:
    """What of a row must be equal, with its blank nodes renamed."""
    return tuple(
        (name, names[term]) if term in names else part
        for (name, term), part in zip(line, split(line, mode)[0], strict=True)
    )
