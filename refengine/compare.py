"""§10 When two answers are the same: terms or values, tolerance, blank nodes up to isomorphism, bags whatever the order."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from refengine.errors import Unsupported
from refengine.model import XSD, Bag, Row, Term, is_blank, parse_literal, row
from refengine.xsd import INTEGERS, date_time

TOLERANCE = {"double": 1e-9, "float": 1e-6, "decimal": 1e-17}
SEARCH_BOUND = 200_000


class Mode(StrEnum):
    """CMP-1: `value` compares literals in their value space, `term` as terms."""

    VALUE = "value"
    TERM = "term"


class Number(NamedTuple):
    """A numeric value with the relative tolerance of its datatype (0: exact)."""

    value: Fraction | float
    tolerance: float


@lru_cache(maxsize=2**16)
def value(term: Term) -> Term | Number | tuple:
    """CMP-1: a literal's value; the term itself where it has none that we know (an ill-typed or a foreign literal)."""
    if not term.startswith('"'):
        return term
    lexical, datatype, _ = parse_literal(term)
    kind = datatype.removeprefix(XSD)
    try:
        if datatype in INTEGERS and re.fullmatch(r"[+-]?[0-9]+", lexical):
            number, (least, greatest) = int(lexical), INTEGERS[datatype]
            fits = (least is None or number >= least) and (greatest is None or number <= greatest)
            return Number(Fraction(number), 0.0) if fits else term
        if kind == "decimal" and re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)", lexical):
            return Number(Fraction(Decimal(lexical)), TOLERANCE["decimal"])
        if kind in ("double", "float"):
            return Number(_float(lexical), TOLERANCE[kind])
        if kind == "boolean" and lexical in ("true", "false", "1", "0"):
            return ("boolean", lexical in ("true", "1"))
        if kind == "dateTime":
            return ("dateTime", *date_time(lexical))
    except (ValueError, InvalidOperation, OverflowError):
        pass  # ill-typed, or beyond what Python reads: no value, so a term
    return term


def _float(text: str) -> float:
    special = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
    if text in special:
        return special[text]
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        raise ValueError(text)
    return float(text)


def near(a: Number, b: Number) -> bool:
    """CMP-2: numbers are the same if they differ by at most the larger tolerance of the two, relative to the larger of them."""
    x, y = a.value, b.value
    if isinstance(x, float) and not math.isfinite(x) or isinstance(y, float) and not math.isfinite(y):
        return x == y or (x != x and y != y)
    x, y = Fraction(x), Fraction(y)
    return x == y or abs(x - y) <= Fraction(max(a.tolerance, b.tolerance)) * max(abs(x), abs(y))


def _split(line: Row, mode: Mode) -> tuple[tuple, tuple[Number, ...]]:
    """A row as what must be equal and what must be near."""
    exact, numbers = [], []
    for name, term in line:
        what = value(term) if mode is Mode.VALUE else term
        if isinstance(what, Number):
            exact.append((name, Number))
            numbers.append(what)
        else:
            exact.append((name, what))
    return tuple(exact), tuple(numbers)


def equal(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """CMP-4: bags of rows are the same if they are (CMP-3) under some one-to-one renaming of their blank nodes."""
    if a == b:
        return True
    if a.total() != b.total():
        return False
    nodes_a, nodes_b = blanks(a), blanks(b)
    if len(nodes_a) != len(nodes_b):
        return False
    if not nodes_a:
        return not any(difference(a, b, mode))
    return any(not any(difference(rename(a, names), b, mode)) for names in _renamings(a, b, mode))


def difference(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> tuple[Bag, Bag]:
    """CMP-3: what a holds more of than b, and b more of than a, after pairing one to one as many equal rows as can be
    (blank nodes by label); bags are the same iff nothing is left on either side."""
    left, right = _grouped(a, mode), _grouped(b, mode)
    missing: Bag = Counter()
    extra: Bag = Counter()
    for key in left.keys() | right.keys():
        ours, theirs = left.get(key, []), right.get(key, [])
        unpaired, unused = _unpaired(ours, theirs)
        missing.update(unpaired)
        extra.update(unused)
    return missing, extra


def _grouped(rows: Bag, mode: Mode) -> dict[tuple, list[tuple[tuple[Number, ...], Row]]]:
    groups = defaultdict(list)
    for line in sorted(rows.elements()):
        exact, numbers = _split(line, mode)
        groups[exact].append((numbers, line))
    return groups


def _unpaired(ours: list, theirs: list) -> tuple[list[Row], list[Row]]:
    """A maximum matching of near rows (augmenting paths); the rows left over on each side."""
    if len(ours) == len(theirs) and all(a[0] == b[0] for a, b in zip(ours, theirs, strict=True)):
        return [], []
    partner: dict[int, int] = {}
    neighbours = [
        [j for j, (other, _) in enumerate(theirs) if all(map(near, numbers, other))] for numbers, _ in ours
    ]

    def augment(i: int) -> bool:
        """Kuhn's step, without recursion: a breadth-first search for a free row of theirs."""
        queue, came, seen = [i], {}, set()
        for current in queue:
            for j in neighbours[current]:
                if j in seen:
                    continue
                seen.add(j)
                came[j] = current
                if j not in partner:
                    while True:
                        origin = came[j]
                        previous = next((k for k, p in partner.items() if p == origin), None)
                        partner[j] = origin
                        if origin == i:
                            return True
                        j = previous
                queue.append(partner[j])
        return False

    unpaired = [line for i, (_, line) in enumerate(ours) if not augment(i)]
    return unpaired, [line for j, (_, line) in enumerate(theirs) if j not in partner]


def blanks(rows: Iterable[Row]) -> set[Term]:
    """The blank nodes in some rows."""
    return {term for line in rows for _, term in line if is_blank(term)}


def rename(rows: Bag, names: dict[Term, Term]) -> Bag:
    """The bag with its blank nodes renamed."""
    renamed: Bag = Counter()
    for line, count in rows.items():
        renamed[row((name, names.get(term, term)) for name, term in line)] += count
    return renamed


def colours(rows: Bag, mode: Mode = Mode.VALUE) -> dict[Term, str]:
    """A label-independent text for each blank node, by colour refinement; isomorphic bags give equal texts."""
    colour = dict.fromkeys(blanks(rows), "")
    lines = [(line, [(name, _shade(term, mode)) for name, term in line], count) for line, count in rows.items()]
    for _ in range(len(colour)):
        signs = defaultdict(list)
        for line, shades, count in lines:
            for position, (_, term) in enumerate(line):
                if term in colour:
                    mark = [(n, "@" if t == term else colour.get(t, s)) for (n, s), (_, t) in zip(shades, line, strict=True)]
                    signs[term].append(repr((position, count, mark)))
        refined = {term: _digest(colour[term], sorted(signs[term])) for term in colour}
        stable = len(set(refined.values())) == len(set(colour.values()))
        colour = refined
        if stable:
            break
    return colour


def _shade(term: Term, mode: Mode) -> str:
    what = value(term) if mode is Mode.VALUE else term
    return "number" if isinstance(what, Number) else repr(what)


def _digest(before: str, signs: list[str]) -> str:
    return sha256(repr((before, signs)).encode()).hexdigest()


def _renamings(a: Bag, b: Bag, mode: Mode) -> Iterator[dict[Term, Term]]:
    """The one-to-one renamings of a's blank nodes to b's that colour refinement leaves, most constrained first."""
    colour_a, colour_b = colours(a, mode), colours(b, mode)
    if Counter(colour_a.values()) != Counter(colour_b.values()):
        return
    classes = defaultdict(list)
    for node, colour in sorted(colour_b.items()):
        classes[colour].append(node)
    order = sorted(colour_a, key=lambda node: (len(classes[colour_a[node]]), colour_a[node], node))
    tried = 0

    def extend(names: dict[Term, Term]) -> Iterator[dict[Term, Term]]:
        nonlocal tried
        tried += 1
        if tried > SEARCH_BOUND:
            raise Unsupported("blank nodes too symmetric to compare", rule="CMP-4")
        if len(names) == len(order):
            yield names
            return
        node = order[len(names)]
        for target in classes[colour_a[node]]:
            if target not in names.values():
                yield from extend({**names, node: target})

    yield from extend({})
