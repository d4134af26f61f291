"""Drawn joins: queries of every shape that BND-1 has, small streams, and what a join may use.

Everything is drawn by a generator with a seed, which a failing test names.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

from conftest import draws

from refengine import stream
from refengine.core.query import Body, Query, Window, WindowKind
from refengine.joins import Resources, Selection
from refengine.joins.policies import ArrivalCredit, Clock, Fifo, Lru, Pointer, Random, Threshold
from refengine.joins.policies import exponential_clock as exponential
from refengine.joins.shedding import NoShedding, RandomShedding, RateShedding, SemanticShedding

NUMBER = "http://www.w3.org/2001/XMLSchema#integer"
SELF_JOIN = "?a <urn:p> ?x . ?b <urn:p> ?y FILTER(?a != ?b && ?x > 1 && ?y > 1)"
# name -> body, and the windows of the streams s and r, by the names of their graphs
SHAPES = {
    "a self-join": (f"SELECT * {{ {SELF_JOIN} }}", [("s", None)]),
    "a condition on one side": (
        "SELECT ?a ?b { ?a <urn:p> ?x . ?b <urn:q> ?y FILTER(?x > 1) FILTER(?x <= ?y) }",
        [("s", None)],
    ),
    "two streams": (
        "SELECT ?a ?y { GRAPH <urn:1> { ?a <urn:p> ?x } GRAPH <urn:2> { ?x <urn:p> ?y } }",
        [("s", "urn:1"), ("r", "urn:2")],
    ),
    "a window for each side": (
        "SELECT ?a ?b { GRAPH <urn:1> { ?a <urn:p> ?x } GRAPH <urn:2> { ?b <urn:p> ?y } "
        "FILTER(?a != ?b) }",
        [("s", "urn:1"), ("s", "urn:2")],
    ),
    "a chain of three": (
        "SELECT ?a ?d { ?a <urn:p> ?b . ?b <urn:p> ?c . ?c <urn:p> ?d }",
        [("s", None)],
    ),
    "a ring over two streams": (
        "SELECT * { GRAPH <urn:1> { ?a <urn:p> ?b . ?b <urn:p> ?c } GRAPH <urn:2> { ?c ?p ?a } }",
        [("s", "urn:1"), ("r", "urn:2")],
    ),
    "a loop": ("SELECT ?a { ?a ?p ?a . ?b ?p ?c FILTER(?b != ?a) }", [("s", None)]),
    "two patterns of a subject": (
        "SELECT ?a ?b ?x { ?a <urn:p> ?x ; <urn:q> ?y . ?b <urn:p> ?x FILTER(?a != ?b) }",
        [("s", None)],
    ),
}
TERMS = ("<urn:a>", "<urn:b>", "_:c", *(f'"{number}"^^<{NUMBER}>' for number in range(4)))


class Draw(random.Random):
    """What a seed draws."""

    def query(self):
        """A join, and whether an element must have all that a subject has for SPARQL to mean it."""
        name = self.choice(sorted(SHAPES))
        body, windows = SHAPES[name]
        drawn = tuple(self.window(stream, graph) for stream, graph in windows)
        return Query(drawn, read(body)), name == "two patterns of a subject"

    def selection(self):
        return self.choice(list(Selection))

    def window(self, stream, graph):
        kind = self.choice([WindowKind.RANGE, WindowKind.NOW, WindowKind.UNBOUNDED])
        size = self.randint(1, 8) if kind is WindowKind.RANGE else None
        return Window(stream, kind, size, name=graph)

    def streams(self, names, most=9):
        """Streams of a few elements, each with one triple or two, some of them valid for a
        while.
        """
        made = {}
        for name in names:
            time, items = 0, []
            for _ in range(self.randint(1, most)):
                time += self.randint(0, 3)
                graph = frozenset(self.triple() for _ in range(self.randint(1, 2)))
                items.append((graph, time, None, time + self.choice([0, 0, 1, 4])))
            made[name] = stream(items)
        return made

    def triple(self):
        predicate = self.choice(["<urn:p>", "<urn:q>"])
        return self.choice(TERMS[:3]), predicate, self.choice(TERMS)

    def policy(self):
        clock = Clock(
            start_score=self.randint(0, 2),
            threshold=self.choice(list(Threshold)),
            pointer=self.choice(list(Pointer)),
            credit=self.choice(list(ArrivalCredit)),
            most_score=self.choice([None, None, 1, 2]),
        )
        exponent = replace(exponential(0.5), credit=self.choice(list(ArrivalCredit)))
        others = [exponential(0.25), exponent, Lru(), Fifo(), Random(self.randint(0, 9))]
        return self.choice([clock, *others])

    def shedding(self):
        limit, period = self.randint(0, 2), self.randint(1, 4)
        return self.choice(
            [
                NoShedding(),
                NoShedding(),
                RandomShedding(self.choice([0.5, 0.9]), self.randint(0, 9)),
                RateShedding(limit, period),
                SemanticShedding(limit, period),
            ]
        )

    def resources(self, streams):
        memory = self.choice([1, 2, 3, 4, 5, None])
        only = self.only(streams)
        return Resources(memory, self.policy(), self.random() < 0.5, self.shedding(), only)

    def only(self, streams):
        """The streams whose bindings are bounded; empty: all."""
        if self.random() < 0.7:
            return frozenset()
        return frozenset(self.sample(sorted(streams), 1))


SELF_JOINS = (
    "SELECT ?a ?c { ?a <urn:p> ?b . ?b <urn:p> ?c }",
    SHAPES["a chain of three"][0],
    "SELECT ?a { ?a <urn:p> ?b . ?b <urn:p> ?a }",
)


def draw_shed_edges(draw):
    """A join of edges with themselves, a stream of edges among four nodes, and a shedding by
    semantics that drops some of them.
    """
    window = draw.window("s", None)
    query = Query((window,), read(draw.choice(SELF_JOINS)))
    nodes = [f"<urn:n{number}>" for number in range(4)]
    items = []
    for time in range(draw.randint(4, 10)):
        items.append(((draw.choice(nodes), "<urn:p>", draw.choice(nodes)), time))
    shedding = SemanticShedding(draw.randint(1, 3), draw.randint(4, 10))
    return query, {"s": stream(items)}, Resources(None, Fifo(), False, shedding)


def for_each_draw(usual):
    """Call a test once for each of so many seeds, with what the seed draws. A failure names the
    seed.
    """

    def decorate(test):
        def repeated():
            for seed in range(draws(usual)):
                try:
                    test(Draw(seed))
                except Exception as error:
                    error.add_note(f"drawn by Draw({seed})")
                    raise

        repeated.__name__, repeated.__doc__ = test.__name__, test.__doc__
        return repeated

    return decorate


@cache
def read(body):
    return Body(body)
