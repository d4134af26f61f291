"""§10 Comparison: when two answers are the same. Terms or values are compared, numbers with a
tolerance, blank nodes up to isomorphism, and bags in any order.
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
from typing import Generic, NamedTuple, TypeVar

from refengine.model.elements import XSD, Bag, Row, Term, is_blank, parse_literal, row
from refengine.model.errors import Unsupported
from refengine.model.xsd import (
    BOOLEANS,
    DECIMAL_FORM,
    INTEGER_FORM,
    INTEGERS,
    date_time,
    in_range,
    read_double,
    read_float,
)

TOLERANCE = {"double": 1e-9, "float": 1e-6, "decimal": 1e-17}
# different whole numbers below this lie further apart than any margin of theirs
WHOLE_NUMBERS_APART = 10**5
LEAST_DECIMAL = Fraction(1, 10**18)  # two decimals may differ by so much, however small they are
# characters of a literal that is read as a value: fewer than Python takes for an integer
LONGEST = 4000


class Mode(StrEnum):
    """CMP-1: The mode of comparison. `value` compares literals by their values, `term` as terms."""

    VALUE = "value"
    TERM = "term"


# What must be equal of a row: its variables, each with a value, or with Number for one that must be
# near.
Exact = tuple[tuple[str, object], ...]


class TolerantNumber(NamedTuple):
    """A numeric value with the relative tolerance of its datatype (0: exact)."""

    value: Fraction | float
    tolerance: float


@lru_cache(maxsize=2**16)
def value(term: Term) -> Term | TolerantNumber | tuple[object, ...]:
    """CMP-1: Return a literal's value. Return the term itself for other terms and for literals
    without a value that we know: ill-typed ones, those of other datatypes, and very long ones.
    """
    if not term.startswith('"') or len(term) > LONGEST:
        return term

    try:
        lexical, datatype, _ = parse_literal(term)
        found = _value_of(lexical, datatype)
    except (ValueError, InvalidOperation, OverflowError):
        return term  # ill-typed, or beyond what Python reads
    if found is None:
        return term
    return found


def _value_of(lexical: str, datatype: str) -> TolerantNumber | tuple[object, ...] | None:
    if datatype in INTEGERS:
        if not INTEGER_FORM.fullmatch(lexical):
            return None
        number = int(lexical)
        if not in_range(number, datatype):
            return None
        return TolerantNumber(Fraction(number), 0.0)

    match datatype.removeprefix(XSD):
        case "decimal" if DECIMAL_FORM.fullmatch(lexical):
            return TolerantNumber(Fraction(Decimal(lexical)), TOLERANCE["decimal"])
        case "double":
            return TolerantNumber(read_double(lexical), TOLERANCE["double"])
        case "float":
            return TolerantNumber(read_float(lexical), TOLERANCE["float"])
        case "boolean" if lexical in BOOLEANS:
            return ("boolean", BOOLEANS[lexical])
        case "dateTime":
            return ("dateTime", *date_time(lexical))
        case _:
            return None


def is_near(a: TolerantNumber, b: TolerantNumber) -> bool:
    """CMP-2: Return whether two numbers are the same within tolerance.

    Two numbers are the same if they differ by at most the larger tolerance of the two, relative to
    the larger number. Decimals are also the same if they differ by LEAST_DECIMAL at most. An
    integer and another number are the same only if they are equal.
    """
    x, y = a.value, b.value
    if (isinstance(x, float) and not math.isfinite(x)) or (
        isinstance(y, float) and not math.isfinite(y)
    ):
        return x == y or (x != x and y != y)

    x, y = Fraction(x), Fraction(y)
    if x == y:
        return True
    tolerance = shared_tolerance(a.tolerance, b.tolerance)
    apart = abs(x - y)
    if apart <= Fraction(tolerance) * max(abs(x), abs(y)):
        return True
    return tolerance == TOLERANCE["decimal"] and apart <= LEAST_DECIMAL


def shared_tolerance(a: float, b: float) -> float:
    """CMP-2: Return the relative tolerance of two numbers, given those of their types: 0 if one is
    an integer, else the larger.
    """
    if not a or not b:
        return 0.0
    return max(a, b)


def margin(value: Fraction | float) -> Fraction:
    """Return a distance within which all numbers lie that are near to a finite number, whatever
    their types. It may be too large.
    """
    return 2 * Fraction(max(TOLERANCE.values())) * abs(Fraction(value)) + LEAST_DECIMAL


def maybe_near(x: Fraction | float, y: Fraction | float) -> bool:
    """Return whether two numbers can be near, whatever their types. NaN is near to nothing here."""
    if x == y:
        return True
    # no decimals; twice the tolerance is more than rounding takes away
    if isinstance(x, float) and isinstance(y, float):
        return abs(x - y) <= 2 * max(TOLERANCE.values()) * min(abs(x), abs(y)) < math.inf
    if (
        isinstance(x, Fraction)
        and isinstance(y, Fraction)
        and x.denominator == y.denominator == 1
        and abs(x.numerator) < WHOLE_NUMBERS_APART
    ):
        return False
    if any(isinstance(value, float) and not math.isfinite(value) for value in (x, y)):
        return False
    return abs(Fraction(x) - Fraction(y)) <= margin(x)


@lru_cache(maxsize=2**14)
def split(line: Row, mode: Mode = Mode.VALUE) -> tuple[Exact, tuple[TolerantNumber, ...]]:
    """Return two parts of a row: what must be equal, and its numbers, which must be near."""
    if mode is Mode.TERM:
        return line, ()

    exact: list[tuple[str, object]] = []
    numbers: list[TolerantNumber] = []
    for binding in line:
        name, term = binding
        if not term.startswith('"'):  # others are many, and need no place among remembered values
            exact.append(binding)
            continue
        what = value(term)
        if isinstance(what, TolerantNumber):
            exact.append((name, TolerantNumber))
            numbers.append(what)
        else:
            exact.append((name, what))
    return tuple(exact), tuple(numbers)


SEARCH_BOUND = 100_000  # steps of one search for a renaming
ROUNDS = 12  # of colour refinement: it only narrows the search


def blanks(rows: Iterable[Row]) -> set[Term]:
    """Return the blank nodes in some rows."""
    return {term for line in rows for _, term in line if is_blank(term)}


def rename(rows: Bag, names: dict[Term, Term]) -> Bag:
    """Return the bag with its blank nodes renamed."""
    renamed: Bag = Counter()
    for line, count in rows.items():
        renamed[row((name, names.get(term, term)) for name, term in line)] += count
    return renamed


# Colours


def classes_of_numbers(lines: Iterable[Row]) -> dict[Term, int]:
    """Return the class of each number: near numbers are always in one, numbers further apart than
    their margin with none between are not.
    """
    numbers = []
    for term in {term for line in lines for _, term in line}:
        what = value(term)
        if (
            isinstance(what, TolerantNumber)
            and what.value == what.value
            and abs(what.value) != math.inf
        ):
            numbers.append((what.value, term))

    classes: dict[Term, int] = {}
    before = None
    current = -1
    for number, term in sorted(numbers):
        exact = Fraction(number)
        if before is None or exact - before > margin(before):
            current += 1
        classes[term] = current
        before = exact
    return classes


def colours(
    rows: Bag, mode: Mode = Mode.VALUE, classes: Mapping[Term, int] = MappingProxyType({})
) -> dict[Term, str]:
    """Return a label-independent text for each blank node, by some rounds of colour refinement;
    isomorphic bags give equal texts, but equal texts need not mean isomorphic bags.
    """
    colour = {node: "" for node in blanks(rows)}
    lines = [
        _Line(line, [_shade(term, mode, classes) for _, term in line], count)
        for line, count in rows.items()
        if blanks([line])
    ]
    for _ in range(min(ROUNDS, len(colour))):
        refined = _refine(colour, lines)
        is_stable = len(set(refined.values())) == len(set(colour.values()))
        colour = refined
        if is_stable:
            break
    return colour


class _Line(NamedTuple):
    """A row with blank nodes, what stands for each of its other terms, and how often it is
    there.
    """

    row: Row
    shades: list[str]
    times: int


def _refine(colour: Mapping[Term, str], lines: Iterable[_Line]) -> dict[Term, str]:
    """Return a finer colour of each blank node: its own, and where it stands beside which
    others.
    """
    signs: dict[Term, list[str]] = defaultdict(list)
    for line, shades, times in lines:
        seen = [
            (name, colour.get(term, shade))
            for (name, term), shade in zip(line, shades, strict=True)
        ]
        for position, (_, term) in enumerate(line):
            if term in colour:
                own = [i for i, (_, other) in enumerate(line) if other == term]
                signs[term] += [repr((position, own, seen))] * times
    return {
        term: sha256(repr((colour[term], sorted(signs[term]))).encode()).hexdigest()
        for term in colour
    }


def _shade(term: Term, mode: Mode, classes: Mapping[Term, int]) -> str:
    if mode is Mode.TERM:
        return repr(term)
    what = value(term)
    if isinstance(what, TolerantNumber):
        return f"number {classes.get(term)}"
    return repr(what)


# Components


class Component(NamedTuple):
    """Rows that hang together by their blank nodes, and the colour of each of those."""

    rows: Bag
    colour: dict[Term, str]


Components = dict[tuple[str, ...], list[Component]]  # by their colours, sorted


def split_components(rows: Bag, mode: Mode, classes: Mapping[Term, int]) -> tuple[Bag, Components]:
    """Return the rows without blank nodes, and the components of the others by their colours."""
    plain = Counter({line: count for line, count in rows.items() if not blanks([line])})
    touching: dict[Term, list[Row]] = defaultdict(list)
    for line in sorted(rows.keys() - plain.keys()):
        for node in blanks([line]):
            touching[node].append(line)

    colour = colours(rows, mode, classes)
    components: Components = defaultdict(list)
    done: set[Term] = set()
    for start in sorted(colour):
        if start in done:
            continue
        nodes = _reachable(start, touching)
        done.update(nodes)
        lines = dict.fromkeys(line for node in nodes for line in touching[node])
        component = Component(
            Counter({line: rows[line] for line in lines}), {node: colour[node] for node in nodes}
        )
        components[tuple(sorted(component.colour.values()))].append(component)
    return plain, components


def _reachable(start: Term, touching: Mapping[Term, Iterable[Row]]) -> list[Term]:
    """Return the blank nodes that hang together with one; each but the first shares a row with one
    before it.
    """
    nodes = [start]
    seen = {start}
    for node in nodes:
        for line in touching[node]:
            new = blanks([line]) - seen
            seen |= new
            nodes.extend(sorted(new))
    return nodes


# Renamings


def renamings(a: Component, b: Component, mode: Mode) -> Iterator[dict[Term, Term]]:
    """Yield the renamings of a component's blank nodes that can make its rows the other's, but for
    their numbers: a search from node to neighbour, that gives up a branch as soon as a renamed row
    has no counterpart. Raises Unsupported after SEARCH_BOUND steps.
    """
    search = _Renaming(a, b, mode)
    names: dict[Term, Term] = {}
    branches = [search.candidates(names)]
    steps = 0
    while branches:
        node = search.order[len(branches) - 1]
        names.pop(node, None)
        target = next(branches[-1], None)
        if target is None:
            branches.pop()
            continue
        steps += 1
        if steps > SEARCH_BOUND:
            raise Unsupported("blank nodes too symmetric to compare", rule="CMP-4")
        names[node] = target
        if not search.have_counterparts(len(branches) - 1, names):
            continue
        if len(names) < len(search.order):
            branches.append(search.candidates(names))
        else:
            yield names


class _Renaming:
    """What a search for a renaming from one component to another looks up."""

    def __init__(self, a: Component, b: Component, mode: Mode) -> None:
        self.a = a
        self.b = b
        self.mode = mode
        self.order = list(a.colour)  # each node but the first shares a row with one before it

        # the rows of a, by the position of the last of their nodes
        self.ready: dict[int, list[tuple[Row, int]]] = defaultdict(list)
        depth = {node: position for position, node in enumerate(self.order)}
        for line, count in a.rows.items():
            self.ready[max(depth[node] for node in blanks([line]))].append((line, count))

        # how often each shape is in b, and the nodes at the star of each shape
        self.present: Counter[Exact] = Counter()
        self.around: dict[Exact, list[Term]] = defaultdict(list)
        for line, count in sorted(b.rows.items()):
            self.present[_shape(line, {}, mode)] += count
            for node in sorted(blanks([line])):
                self.around[_shape(line, {node: "*"}, mode)].append(node)

    def candidates(self, names: dict[Term, Term]) -> Iterator[Term]:
        """Iterate over the nodes of b that the next node of a may be renamed to."""
        node = self.order[len(names)]
        used = set(names.values())
        found: Iterable[Term] = self.b.colour
        if rows := self.ready[len(names)]:
            shape = _shape(rows[0][0], {**names, node: "*"}, self.mode)
            found = dict.fromkeys(self.around[shape])
        return iter([t for t in found if self.b.colour[t] == self.a.colour[node] and t not in used])

    def have_counterparts(self, position: int, names: Mapping[Term, Term]) -> bool:
        """Return whether b has each of the rows that are complete with the node at this position,
        renamed, as often or oftener.
        """
        renamed: Counter[Exact] = Counter()
        for line, count in self.ready[position]:
            renamed[_shape(line, names, self.mode)] += count
        return all(self.present[shape] >= count for shape, count in renamed.items())


def _shape(line: Row, names: Mapping[Term, Term], mode: Mode) -> Exact:
    """Return what of a row must be equal, with its blank nodes renamed."""
    shape: list[tuple[str, object]] = []
    for (name, term), part in zip(line, split(line, mode)[0], strict=True):
        if term in names:
            shape.append((name, names[term]))
        else:
            shape.append(part)
    return tuple(shape)


Numbered = tuple[tuple[TolerantNumber, ...], Row]  # a row and its numbers
OrderKey = tuple[bool, Fraction | float]  # of a number in a total order: NaN comes last
T = TypeVar("T")


def match_rows(ours: Sequence[Numbered], theirs: Sequence[Numbered]) -> dict[int, int]:
    """CMP-3: Return a maximum matching of two groups of rows that differ in their numbers alone, as
    a map from index to index. Each group is sorted by its numbers.
    """
    numbers, _ = (ours or theirs)[0]
    if not numbers:
        return dict(zip(range(len(ours)), range(len(theirs)), strict=False))
    if len(numbers) == 1 and len(_tolerances(ours, theirs)) <= 1:
        return match_in_step(ours, theirs)
    return match(
        ours, theirs, lambda x, y: all(map(is_near, x[0], y[0])), ranges_of_near(ours, theirs)
    )


def _tolerances(ours: Sequence[Numbered], theirs: Sequence[Numbered]) -> set[float]:
    """Return the tolerances that comparing the first number of a row of ours with that of one of
    theirs can have.
    """
    left, right = ({numbers[0].tolerance for numbers, _ in group} for group in (ours, theirs))
    return {shared_tolerance(a, b) for a in left for b in right}


def match_in_step(ours: Sequence[Numbered], theirs: Sequence[Numbered]) -> dict[int, int]:
    """Return a maximum matching of rows with one number each and one tolerance, both in the order
    of the number: the greater a row's number, the further on the interval of those that are near to
    it.
    """
    paired = {}
    i = j = 0
    while i < len(ours) and j < len(theirs):
        a, b = ours[i][0][0], theirs[j][0][0]
        if is_near(a, b):
            paired[i] = j
            i += 1
            j += 1
        elif b.value != b.value or a.value < b.value:
            i += 1
        else:
            j += 1
    return paired


def order_key(value: Fraction | float) -> OrderKey:
    """Return a number's key in a total order: NaN comes last."""
    if value != value:
        return True, 0
    return False, value


def ranges_of_near(
    ours: Sequence[tuple[tuple[TolerantNumber, ...], object]],
    theirs: Sequence[tuple[tuple[TolerantNumber, ...], object]],
) -> Callable[[int], range]:
    """Return what gives, for the index of a row of ours, the range of theirs, sorted as they are,
    that its first number can be near to.
    """
    firsts = [order_key(numbers[0].value) for numbers, _ in theirs if numbers]

    @cache
    def reach(i: int) -> range:
        numbers, _ = ours[i]
        if not numbers:
            return range(len(theirs))
        return range_of_near(numbers[0].value, firsts)

    return reach


def range_of_near(value: Fraction | float, ordered: Sequence[OrderKey]) -> range:
    """Return the range of the indices of numbers that a number can be near to. They are given by
    their keys, in order.
    """
    if value != value or abs(value) == math.inf:
        least = greatest = order_key(value)
    else:
        least = order_key(Fraction(value) - margin(value))
        greatest = order_key(Fraction(value) + margin(value))
    return range(bisect_left(ordered, least), bisect_right(ordered, greatest))


def match(
    ours: Sequence[T],
    theirs: Sequence[T],
    same: Callable[[T, T], bool],
    reach: Callable[[int], Iterable[int]] | None = None,
) -> dict[int, int]:
    """Return a maximum matching of two sequences, by augmenting paths: index to index. `reach`
    narrows the candidates.
    """
    search = _Search(ours, theirs, same, reach)
    for start in range(len(ours)):
        search.add(start)
    return search.partner


class _Search(Generic[T]):
    """A matching of the first of ours, to which one more after the other is added."""

    def __init__(
        self,
        ours: Sequence[T],
        theirs: Sequence[T],
        same: Callable[[T, T], bool],
        reach: Callable[[int], Iterable[int]] | None,
    ) -> None:
        self.ours = ours
        self.theirs = theirs
        self.same = same
        self.reach = reach or (lambda _: range(len(theirs)))
        self.partner: dict[int, int] = {}
        self.owner: dict[int, int] = {}
        self.known: dict[tuple[int, int], bool] = {}
        # searches that failed came here, and no later one gets further (a Hungarian tree)
        self.closed: set[int] = set()

    def fits(self, i: int, j: int) -> bool:
        """Return whether one of ours may be paired with one of theirs."""
        if (i, j) not in self.known:
            self.known[i, j] = self.same(self.ours[i], self.theirs[j])
        return self.known[i, j]

    def add(self, start: int) -> None:
        """Pair one more row of ours, if that is possible."""
        if start < len(self.theirs) and start not in self.owner and self.fits(start, start):
            self.partner[start] = start
            self.owner[start] = start
            return

        came_from: dict[int, int] = {}
        end = self.find_free(start, came_from)
        if end is None:
            self.closed.update(came_from)
        while end is not None:  # turn the path around
            i = came_from[end]
            previous = self.partner.get(i)
            self.partner[i] = end
            self.owner[end] = i
            end = previous

    def find_free(self, start: int, came_from: dict[int, int]) -> int | None:
        """Return one of theirs that is not paired yet, at the end of an augmenting path; None if
        there is none. `came_from` becomes the way to each that was seen.
        """
        queue = [start]
        for i in queue:
            for j in self.reach(i):
                if j in came_from or j in self.closed or not self.fits(i, j):
                    continue
                came_from[j] = i
                if j not in self.owner:
                    return j
                queue.append(self.owner[j])
        return None


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
