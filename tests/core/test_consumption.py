"""WIN-19, R2R-22: what the engine emits is what is enumerated.

Without consumption that is all assignments of triples to patterns. With it, these are the matches
of `refengine.enumeration.matches`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import pytest
from conftest import draws
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from refengine import Body, Element, Engine, Query, Stream, Window, WindowKind, evaluate, profile
from refengine.core.r2r import defined_answer
from refengine.core.semantics import Semantics
from refengine.core.values import Consumption, Tick
from refengine.enumeration.matches import Matches, Pattern, agree, bind, most_apart
from refengine.incremental.engine import evaluate_incrementally
from refengine.incremental.parts import evaluate_in_parts
from refengine.model.elements import Bag, row
from refengine.model.errors import InvalidSemantics, Unsupported

pytestmark = pytest.mark.xdist_group("drawn")

# Each body as its patterns; a word with ? is a variable.
BODIES = (
    ("?x a ?u", "?y b ?v"),
    ("?x a ?y", "?y b ?z"),
    ("?x a ?u", "?y ?p ?v"),
    ("?x a ?y", "?y a ?z"),
    ("?x a ?u", "?y b ?v", "?z c ?w"),
    ("?x a ?u", "?y b ?u", "?z ?q ?u"),
    ("?x a ?x", "?y b ?x"),
    ("?x a ?u",),
)
TRIPLES = [
    tuple(f"<urn:{word}>" for word in words)
    for words in (*product("12", "a", "12"), *product("12", "b", "12"), ("1", "c", "2"))
]
POLICIES = (Consumption.RECENT, Consumption.CHRONOLOGICAL)


@dataclass(frozen=True)
class Case:
    """Patterns, elements, a window's size (None: unbounded), a closure and a policy."""

    patterns: tuple[str, ...]
    elements: tuple[Element, ...]
    size: int | None
    closure: str
    policy: Consumption

    @property
    def triple_patterns(self) -> list[Pattern]:
        """The patterns with their IRIs written out."""
        return [
            tuple(word if word[0] == "?" else f"<urn:{word}>" for word in pattern.split())
            for pattern in self.patterns
        ]

    @property
    def query(self) -> Query:
        text = " . ".join(map(" ".join, self.triple_patterns))
        kind = WindowKind.UNBOUNDED if self.size is None else WindowKind.RANGE
        return Query((Window("s", kind, self.size),), Body(f"SELECT * {{ {text} }}"))

    @property
    def semantics(self) -> Semantics:
        closure = self.closure if self.size else None
        return profile("etalis").but(closure=closure, consumption=self.policy).semantics()

    @property
    def reach(self) -> float:
        """How far the first and the last element of a match may be apart."""
        return most_apart(self.semantics.closure, self.size)

    def outputs(self, **fields: object) -> list[tuple[int, Bag]]:
        """What the engine emits, each with its instant."""
        chosen = replace(self.semantics, **fields)
        streams = {"s": Stream(self.elements)}
        reports = evaluate(self.query, streams, chosen, answer=defined_answer)
        return [(report.instant, report.relation.rows) for report in reports]


@st.composite
def cases(draw: st.DrawFn, policies: Sequence[Consumption] = POLICIES, recur: bool = True) -> Case:
    """Up to 8 elements, close together, of few triples; without `recur` each triple is there once
    and elements are points.
    """
    count = draw(st.integers(0, 8))
    apps = sorted(draw(st.lists(st.integers(0, 12), min_size=count, max_size=count)))
    if recur:
        graphs = [draw(st.sets(st.sampled_from(TRIPLES), min_size=1, max_size=2)) for _ in apps]
        ends = [app + draw(st.sampled_from([0, 0, 0, 3])) for app in apps]
    else:
        graphs = [{triple} for triple in draw(st.permutations(TRIPLES))[:count]]
        ends = apps
    elements = [
        Element(frozenset(graph), app, place + 1, None, end)
        for place, (graph, app, end) in enumerate(zip(graphs, apps, ends, strict=True))
    ]
    return Case(
        draw(st.sampled_from(BODIES)),
        tuple(elements),
        draw(st.sampled_from([None, 1, 2, 4, 7])),
        draw(st.sampled_from(["[]", "[]", "[)", "(]"])),
        draw(st.sampled_from(policies)),
    )


def merge(bindings: Sequence[dict[str, str]]) -> dict[str, str] | None:
    """All bindings as one, if they agree."""
    pairs = {pair for each in bindings for pair in each.items()}
    return dict(pairs) if len(pairs) == len(dict(pairs)) else None


def assignments(case: Case) -> Iterator[tuple[int, Bag]]:
    """WIN-19: every element with the matches that it completes: all assignments of triples to
    patterns whose last element it is, and whose first one is near enough.
    """
    for last, element in enumerate(case.elements):
        rows: Bag = Counter()
        known = [(e.app, place, triple) for place, e in enumerate(case.elements) for triple in e[0]]
        known = [each for each in known if each[1] <= last]
        for chosen in product(known, repeat=len(case.patterns)):
            pairs = zip(case.triple_patterns, chosen, strict=True)
            bound = [bind(pattern, each[2]) for pattern, each in pairs]
            if max(each[1] for each in chosen) < last or None in bound:
                continue
            if element.app - min(each[0] for each in chosen) > case.reach:
                continue
            merged = merge(bound)
            if merged is not None:
                rows[row(merged)] += 1
        if rows:
            yield element.app, rows


@settings(max_examples=draws(300))
@given(cases([Consumption.UNRESTRICTED], recur=False))
def test_append_over_a_range_gives_every_match_that_is_short_enough(case: Case):
    """WIN-19: a consequence of WIN-12 and R2S-7."""
    assert case.outputs() == list(assignments(case))


def enumerated(case: Case, matches: type[Matches] = Matches) -> list[tuple[int, Bag]]:
    """R2R-22: what goes out with each element that completes a match."""
    rows: dict[int, Bag] = {}
    for part in matches(case.triple_patterns, case.elements, case.policy, case.reach).matches():
        rows.setdefault(part.key.place, Counter())[row(part.bound)] += 1
    return [(case.elements[place].app, rows[place]) for place in sorted(rows)]


@settings(max_examples=draws(400))
@given(cases())
def test_consumption_is_what_is_enumerated(case: Case):
    assert case.outputs() == enumerated(case)


class ByTextBackwards(Matches):
    """Breaks step 2: the order of an element's triples."""

    def fitting(self, number):
        found = super().fitting(number)
        return [part._replace(key=part.key._replace(triple=-part.key.triple)) for part in found]


class LastPatternFirst(Matches):
    """Breaks step 2: a triple comes to the last pattern first."""

    def fitting(self, number):
        found = super().fitting(number)
        return [part._replace(key=part.key._replace(pattern=-number)) for part in found]


class NearWithItsNeighbour(Matches):
    """Breaks step 3: only the last element of a partner has to be near."""

    def is_near(self, one, other, now):
        return now - self.elements[other.key.place].app <= self.reach


class AnyPartner(Matches):
    """Breaks step 3: variables in common are not looked at."""

    def partners(self, others, part, now):
        return [other for other in others if self.is_near(part, other, now)]


class OldOnesStandInTheWay(Matches):
    """Breaks step 3: a partner that is too old is consumed, as it is in ETALIS, with what came."""

    def join(self, left, right):
        self.expired = []
        return super().join(left, right)

    def wait(self, waiting, part):
        return super().wait(waiting, part) if not self.expired else waiting

    def partners(self, others, part, now):
        agreeing = [other for other in others if agree(part.bound, other.bound)]
        found = super().partners(others, part, now)
        self.expired = [] if found else agreeing
        if not found:
            others[:] = [other for other in others if other not in agreeing]
        return found


class OtherPolicy(Matches):
    """Breaks step 4: recent for chronological."""

    def choose(self, partners):
        return partners[0 if self.policy is Consumption.RECENT else -1]


class NothingConsumed(Matches):
    """Breaks step 4: a partner waits on."""

    def consume(self, waiting, partner):
        return waiting


class Twice(Matches):
    """Breaks step 5: the same triples wait twice."""

    def wait(self, waiting, part):
        return [*waiting, part]


class KeepsItsPlace(Matches):
    """Breaks step 5: the one that waits already keeps its place."""

    def wait(self, waiting, part):
        if any(other.triples == part.triples for other in waiting):
            return waiting
        return [*waiting, part]


class FromTheRight(Matches):
    """Breaks step 1: joined from the right."""

    def matches(self):
        *others, parts = (self.fitting(number) for number in range(len(self.patterns)))
        for other in reversed(others):
            parts = self.join(other, parts)
        return parts


@cache
def drawn() -> list[tuple[Case, list[tuple[int, Bag]]]]:
    """300 draws with what is enumerated of them."""
    found: list[Case] = []

    @settings(
        derandomize=True, max_examples=300, database=None, deadline=None, phases=[Phase.generate]
    )
    @given(cases())
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return [(case, enumerated(case)) for case in found]


@pytest.mark.parametrize("broken", Matches.__subclasses__(), ids=lambda one: one.__name__)
def test_broken_matches_are_noticed(broken: type[Matches]):
    """Each step shows in some draw."""
    assert any(enumerated(case, broken) != outputs for case, outputs in drawn()), broken.__doc__


def test_most_draws_have_a_match():
    assert 2 * sum(bool(outputs) for _, outputs in drawn()) > len(drawn())


@settings(max_examples=draws(100))
@given(cases(list(Consumption)))
def test_every_way_to_evaluate_gives_the_same(case: Case):
    """ENG-6, ENG-8: element by element, and where incremental evaluation hands over to the
    SPARQL evaluator.
    """
    streams = {"s": Stream(case.elements)}
    expected = [report.relation for report in evaluate(case.query, streams, case.semantics)]
    engine = Engine(case.query, ["s"], case.semantics)
    pushed = [
        report.relation for element in case.elements for report in engine.push_element("s", element)
    ]
    pushed += [report.relation for report in engine.finish()]
    run = evaluate_incrementally(case.query, streams, case.semantics)
    assert pushed == expected == [report.relation for report in run]
    if case.policy is not Consumption.UNRESTRICTED and case.elements:
        assert str(run.provenance) == f"the SPARQL evaluator: consumption={case.policy}"


@settings(max_examples=draws(100))
@given(cases())
def test_the_tick_says_when_a_match_goes_out_and_not_which(case: Case):
    by_time = Counter()
    for tick in (Tick.TUPLE, Tick.TIME):
        found: Counter = Counter()
        for at, rows in case.outputs(tick=tick):
            found.update({(at, line): count for line, count in rows.items()})
        by_time = by_time or found
        assert found == by_time


REFUSED: dict[str, Callable[[Query], Query]] = {
    "without a name": lambda query: replace(
        query, windows=(replace(query.windows[0], name="urn:w"),)
    ),
    "without a slide": lambda query: replace(query, windows=(replace(query.windows[0], slide=2),)),
    "of kind range": lambda query: replace(query, windows=(Window("s", WindowKind.TIME, 4, 4),)),
    "needs one window": lambda query: replace(query, windows=query.windows * 2),
    "states Rstream": lambda query: replace(query, r2s="Rstream"),
    **{
        f"SELECT over triple patterns alone{' ' * number}": lambda query, text=text: replace(
            query, body=Body(text)
        )
        for number, text in enumerate(
            (
                "SELECT DISTINCT ?x { ?x ?p ?y }",
                "SELECT (COUNT(*) AS ?n) { ?x ?p ?y }",
                "SELECT ?x { ?x <urn:p>+ ?y }",
                "SELECT ?x { ?x ?p ?y FILTER(?x = ?y) }",
                "SELECT ?x { { ?x ?p ?y } UNION { ?y ?p ?x } }",
                "SELECT ?x { ?x ?p ?y OPTIONAL { ?y ?p ?z } }",
                "SELECT ?x { GRAPH <urn:w> { ?x ?p ?y } }",
                "SELECT ?x { ?x ?p ?y } LIMIT 1",
                "SELECT ?x {}",
                "ASK { ?x ?p ?y }",
                "CONSTRUCT { ?x ?p ?y } { ?x ?p ?y }",
            )
        )
    },
}
PLAIN_CASE = Case(BODIES[0], (Element(frozenset([TRIPLES[0]]), 0, 1),), 4, "[]", POLICIES[0])


@pytest.mark.parametrize("message", REFUSED)
def test_queries_without_a_meaning_are_refused(message: str):
    query = REFUSED[message](PLAIN_CASE.query)
    with pytest.raises(InvalidSemantics, match=f"QRY-5: consumption=recent .*{message.strip()}"):
        list(evaluate(query, {"s": Stream(())}, PLAIN_CASE.semantics))


def test_static_data_are_refused():
    with pytest.raises(InvalidSemantics, match="QRY-5: static data never arrive"):
        streams = {"s": Stream(PLAIN_CASE.elements)}
        static = frozenset([TRIPLES[0]])
        list(evaluate(PLAIN_CASE.query, streams, PLAIN_CASE.semantics, static=static))


def test_parts_are_refused():
    streams = {"s": Stream(PLAIN_CASE.elements)}
    with pytest.raises(Unsupported, match=r"ENG-7: .*consumption=recent, which rests on all"):
        list(evaluate_in_parts(PLAIN_CASE.query, streams, PLAIN_CASE.semantics, [3]))


def test_a_stream_that_is_read_while_it_is_evaluated_is_refused():
    with pytest.raises(Unsupported, match=r"ENG-6: .*consumption=recent"):
        streams = {"s": iter(PLAIN_CASE.elements)}
        list(evaluate_incrementally(PLAIN_CASE.query, streams, PLAIN_CASE.semantics))
