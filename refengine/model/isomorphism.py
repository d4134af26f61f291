"""Blank nodes up to isomorphism (CMP-4): renamings of the blank nodes of some rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from refengine.model.elements import Bag, Row, Term, is_blank, row
from refengine.model.errors import Unsupported
from refengine.model.values import Exact, Mode, TolerantNumber, margin, split, value

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
