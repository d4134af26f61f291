"""§4, §7 Matches of triple patterns whose elements are consumed: an element that is part of a match
is part of no other (R2R-22).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from refengine.core import window
from refengine.core.plan import Plan
from refengine.core.query import Query, patterns_of
from refengine.core.values import Closure, Consumption
from refengine.core.window import Content
from refengine.model.elements import Dataset, Element, Relation, Row, Term, Triple, row
from refengine.model.errors import InvalidSemantics
from refengine.sparql.algebra import TriplePattern, Variable, without_path

Bindings = dict[Variable, Term]


class Match(NamedTuple):
    """A match of some of a body's triple patterns.

    `bindings` are the terms of the variables. `triples` are what the patterns match, in the order
    of the patterns, and `places` are the indices of the elements that hold them. `earliest_end` is
    the first instant at which one of these elements ends: of points, the time of the first.
    """

    bindings: Bindings
    triples: tuple[Triple, ...]
    places: tuple[int, ...]
    earliest_end: int


# What waits on one side of a join, by its triples, in the order in which it came
Waiting = dict[tuple[Triple, ...], Match]


class WaitingMatches:
    """What waits on the two sides of a join of patterns: matches of the patterns before it, and
    matches of its own pattern.
    """

    def __init__(self) -> None:
        self.sides: tuple[Waiting, Waiting] = ({}, {})

    def wait(self, side: int, match: Match) -> None:
        """Add a match behind those that wait on a side. A waiting match of the same triples is
        dropped.
        """
        self.sides[side].pop(match.triples, None)
        self.sides[side][match.triples] = match

    def take_partner(self, side: int, candidates: Sequence[Match], policy: Consumption) -> Match:
        """Remove the match that is chosen of some that wait on a side, and return it."""
        partner = choose_partner(candidates, policy)
        del self.sides[side][partner.triples]
        return partner


def choose_partner(candidates: Sequence[Match], policy: Consumption) -> Match:
    """R2R-22: Return the match that is joined, of those that wait in the order in which they came:
    the last one under `recent`, the first one under `chronological`.
    """
    match policy:
        case Consumption.RECENT:
            return candidates[-1]
        case Consumption.CHRONOLOGICAL | Consumption.UNRESTRICTED:
            return candidates[0]


class PatternJoins:
    """The matches of triple patterns over elements that come one after the other, where each
    element is consumed by the match that it becomes part of.

    `reach` is how many instants the first and the last element of a match may be apart; None for
    any number. `matches` are those so far, in the order in which they were completed, and `count`
    is the number of elements that have come.
    """

    def __init__(
        self, patterns: Sequence[TriplePattern], policy: Consumption, reach: int | None
    ) -> None:
        self.patterns = patterns
        self.policy = policy
        self.reach = reach
        self.joins = [WaitingMatches() for _ in patterns[1:]]
        self.matches: list[Match] = []
        self.count = 0

    def add(self, element: Element) -> None:
        """R2R-22: Let the triples of the next element come to the patterns, each triple to one
        pattern after the other.
        """
        end = element.app if element.end is None else element.end
        for triple in sorted(element.graph):
            for number, pattern in enumerate(self.patterns):
                bindings = match_pattern(pattern, triple)
                if bindings is not None:
                    match = Match(bindings, (triple,), (self.count,), end)
                    self._add_match(number, match, element.app)
        self.count += 1

    def _add_match(self, number: int, match: Match, now: int) -> None:
        """Join a match of pattern `number` with a match that waits, at the instant `now`. What they
        become goes on to the next join. A match without a partner waits; one that has passed all
        joins is a match of the body.
        """
        side = min(number, 1)  # the first two patterns are the sides of the first join
        for join in self.joins[max(number - 1, 0) :]:
            others = join.sides[1 - side].values()
            candidates = [other for other in others if self._can_join(match, other, now)]
            if not candidates:
                join.wait(side, match)
                return
            pair = [match, join.take_partner(1 - side, candidates, self.policy)]
            if side == 1:
                pair.reverse()
            match = join_matches(*pair)
            side = 0
        self.matches.append(match)

    def _can_join(self, match: Match, other: Match, now: int) -> bool:
        """Return whether two matches agree, and are near enough to be one match at `now`."""
        first = min(match.earliest_end, other.earliest_end)
        is_near = self.reach is None or now - first <= self.reach
        return is_near and have_equal_terms(match.bindings, other.bindings)


def match_pattern(pattern: TriplePattern, triple: Triple) -> Bindings | None:
    """Return the bindings with which a pattern is a triple; None if there are none.

    >>> x = Variable("x")
    >>> match_pattern(TriplePattern(x, "<urn:p>", x), ("<urn:a>", "<urn:p>", "<urn:a>"))
    {Variable(name='x'): '<urn:a>'}
    >>> match_pattern(TriplePattern(x, "<urn:p>", x), ("<urn:a>", "<urn:p>", "<urn:b>"))
    """
    bindings: Bindings = {}
    for asked, term in zip(without_path(pattern), triple, strict=True):
        if isinstance(asked, Variable):
            asked = bindings.setdefault(asked, term)
        if asked != term:
            return None
    return bindings


def have_equal_terms(one: Bindings, other: Bindings) -> bool:
    """Return whether two matches bind the variables that they share to the same terms."""
    return all(other.get(variable, term) == term for variable, term in one.items())


def join_matches(left: Match, right: Match) -> Match:
    """Return the match of the patterns of both, of which those of `left` come first."""
    return Match(
        left.bindings | right.bindings,
        left.triples + right.triples,
        left.places + right.places,
        min(left.earliest_end, right.earliest_end),
    )


def most_apart(closure: Closure | None, size: int | None) -> int | None:
    """WIN-19: Return how many instants the first and the last element of a match may be apart, for
    a window of kind `range` of that size; None, which is any number, for `unbounded`.

    >>> most_apart(Closure.CLOSED, 10), most_apart(Closure.RIGHT_OPEN, 10), most_apart(None, None)
    (10, 9, None)
    """
    if size is None:
        return None
    first, last = window.borders(closure)
    return size + last - first


def answer_by_matches(
    query: Query, planned: Plan, static: Dataset
) -> Callable[[tuple[Content, ...], str], Relation]:
    """R2R-22: Return the function from what the query's window holds to the answer: the matches of
    which all elements are held. Its second argument is not read.

    The query must be one that `plan.check_meaning` allows. Raises InvalidSemantics for static data,
    which never arrive.
    """
    semantics = planned.semantics
    if static:
        reason = f"static data never arrive, so that consumption={semantics.consumption} has no "
        raise InvalidSemantics(f"{reason}meaning; write consumption=unrestricted", rule="QRY-5")
    (view,) = planned.views
    elements = view.elements  # which may grow
    reach = most_apart(semantics.closure, view.spec.size)
    patterns = patterns_of(query.body) or ()
    matcher = PatternJoins(patterns, semantics.consumption, reach)
    variables = query.body.variables

    def look_up(contents: tuple[Content, ...], name: str) -> Relation:
        (content,) = contents
        while content and matcher.count <= content[-1]:
            matcher.add(elements[matcher.count])
        return Relation(variables, Counter(_rows(matcher.matches, frozenset(content), variables)))

    return look_up


def _rows(
    matches: Iterable[Match], content: frozenset[int], variables: Sequence[str]
) -> Iterable[Row]:
    """Yield the rows of the matches of which all elements are in a content."""
    for match in matches:
        if content.issuperset(match.places):
            terms = {variable.name: term for variable, term in match.bindings.items()}
            yield row({name: terms[name] for name in variables if name in terms})
