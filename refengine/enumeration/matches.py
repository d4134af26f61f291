"""SPEC.md §7, R2R-22: the matches of triple patterns whose elements are consumed.

The joins are followed one after the other, each over the whole stream. The engine takes one element
after the other through all joins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from refengine.core.values import Closure, Consumption
from refengine.model.elements import Element, Triple

Pattern = tuple[str, str, str]  # terms, and variables as `?x`


class Key(NamedTuple):
    """When a partial match comes: with which element, by which of its triples, to which pattern."""

    place: int
    triple: int
    pattern: int


class Part(NamedTuple):
    """A match of some patterns: when it comes to its join, the terms of its variables, the triples
    in the order of the patterns, and the first end of their elements.
    """

    key: Key
    bound: dict[str, str]
    triples: tuple[Triple, ...]
    first_end: int


class Matches:
    """The matches of triple patterns over elements in the order of arrival, under a policy.

    Each step of R2R-22 is a method, so that a test can break one. `reach` is how far the first and
    the last element of a match may be apart (WIN-19).
    """

    def __init__(
        self,
        patterns: Sequence[Pattern],
        elements: Sequence[Element],
        policy: Consumption,
        reach: float,
    ):
        self.patterns = patterns
        self.elements = elements
        self.policy = policy
        self.reach = reach

    def matches(self) -> list[Part]:
        """R2R-22, step 1: Return the matches; the patterns are joined from the left."""
        parts, *others = (self.fitting(number) for number in range(len(self.patterns)))
        for other in others:
            parts = self.join(parts, other)
        return parts

    def fitting(self, number: int) -> list[Part]:
        """R2R-22, step 2: Return the triples that fit a pattern, each a partial match by itself.
        The triples of an element come in the order of their text, and each comes to P1 first.
        """
        found = []
        for place, element in enumerate(self.elements):
            for index, triple in enumerate(sorted(element.graph)):
                bound = bind(self.patterns[number], triple)
                if bound is not None:
                    end = element.app if element.end is None else element.end
                    found.append(Part(Key(place, index, number), bound, (triple,), end))
        return found

    def join(self, left: list[Part], right: list[Part]) -> list[Part]:
        """R2R-22, steps 3 to 5: Return what the partial matches of two sides become, in order."""
        joined: list[Part] = []
        waiting: tuple[list[Part], list[Part]] = ([], [])
        coming = [(part.key, 0, part) for part in left] + [(part.key, 1, part) for part in right]
        for key, side, part in sorted(coming, key=lambda each: each[:2]):
            others = waiting[1 - side]
            partners = self.partners(others, part, self.elements[key.place].app)
            if not partners:
                waiting[side][:] = self.wait(waiting[side], part)
                continue
            partner = self.choose(partners)
            others[:] = self.consume(others, partner)
            first, second = (part, partner) if side == 0 else (partner, part)
            joined.append(
                Part(
                    key,
                    first.bound | second.bound,
                    first.triples + second.triples,
                    min(first.first_end, second.first_end),
                )
            )
        return joined

    def partners(self, others: list[Part], part: Part, now: int) -> list[Part]:
        """R2R-22, step 3: Return those that wait, agree on the variables in common and are near."""
        return [
            other
            for other in others
            if self.is_near(part, other, now) and agree(part.bound, other.bound)
        ]

    def is_near(self, one: Part, other: Part, now: int) -> bool:
        """R2R-22, step 3: Return whether all elements together are near enough."""
        return now - min(one.first_end, other.first_end) <= self.reach

    def choose(self, partners: list[Part]) -> Part:
        """R2R-22, step 4: Return the partner that came last, or first."""
        match self.policy:
            case Consumption.RECENT:
                return partners[-1]
            case Consumption.CHRONOLOGICAL:
                return partners[0]
            case Consumption.UNRESTRICTED:
                raise AssertionError("nothing is consumed, so no partner is chosen")

    def consume(self, waiting: list[Part], partner: Part) -> list[Part]:
        """R2R-22, step 4: Return what still waits: the partner does not."""
        return [part for part in waiting if part is not partner]

    def wait(self, waiting: list[Part], part: Part) -> list[Part]:
        """R2R-22, step 5: Return the partial matches that wait on a side, with a new one at the
        end. It replaces an older one of the same triples.
        """
        return [other for other in waiting if other.triples != part.triples] + [part]


def bind(pattern: Pattern, triple: Triple) -> dict[str, str] | None:
    """R2R-22: Return the terms of a pattern's variables if a triple fits it; otherwise None.

    >>> bind(("?x", "<urn:p>", "?x"), ("<urn:a>", "<urn:p>", "<urn:a>"))
    {'x': '<urn:a>'}
    >>> bind(("?x", "<urn:p>", "?x"), ("<urn:a>", "<urn:p>", "<urn:b>"))
    """
    bound: dict[str, str] = {}
    for word, term in zip(pattern, triple, strict=True):
        expected = bound.setdefault(word[1:], term) if word.startswith("?") else word
        if expected != term:
            return None
    return bound


def agree(one: dict[str, str], other: dict[str, str]) -> bool:
    """R2R-22: Return whether two partial matches have the same terms for variables in common."""
    return all(one[name] == other[name] for name in one.keys() & other.keys())


def most_apart(closure: Closure | None, size: int | None) -> float:
    """WIN-19: Return how far the first and the last element of a match may be apart: W over `[]`,
    less over the other closures; any number without a size.
    """
    if size is None:
        return math.inf
    match closure:
        case Closure.CLOSED:
            return size
        case Closure.RIGHT_OPEN | Closure.LEFT_OPEN | None:
            return size - 1
        case Closure.OPEN:
            return size - 2
