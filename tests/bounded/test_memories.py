"""More memory finds more under FIFO and LRU; under CLOCK it may find less."""

from __future__ import annotations

from drawn_bounded_joins import for_each_draw

from refengine import from_table, stream
from refengine.bounded import BoundedJoin, Resources, bounded_query, run_join
from refengine.bounded.join import arrivals
from refengine.bounded.memory import sorted_bindings
from refengine.bounded.policies import Clock, Fifo, Lru


@for_each_draw(600)
def test_what_a_memory_holds_a_larger_one_holds_too(draw):
    query, _ = draw.query()
    join = bounded_query(query, draw.selection())
    streams = draw.streams(join.streams)
    policy, collects = draw.choice([Fifo(), Lru()]), draw.random() < 0.5
    small, large = (
        BoundedJoin(join, Resources(memory, policy, collects))
        for memory in sorted(draw.sample(range(1, 7), 2))
    )
    for name, element in arrivals(join, streams):
        assert {*small.push(name, element)} <= {*large.push(name, element)}
        assert {*sorted_bindings(small.memory)} <= {*sorted_bindings(large.memory)}


def test_clock_may_find_less_with_more_memory():
    """The smallest stream of users and programmes of which that is so, with w0 = 1.

    M = 2: ann and bob have 2 after the news. To store these: ann 1, bob 1, ann 0, bob 0, ann -1, so
    ann goes. For cec bob goes, at -1. dan finds the news: three results in all.

    M = 3: the news take the third slot. For cec: ann 1, bob 1, news 0, ann 0, bob 0, news -1, so
    the news go. dan finds nobody: two results. With M = 1 only bob is there for the news.
    """
    body = "SELECT ?u ?p { ?u <urn:watches> ?c . ?c <urn:plays> ?p }"
    window = {"stream": "s", "kind": "unbounded"}
    join = bounded_query(from_table({"body": body, "windows": [window]}))
    triples = [
        ("<urn:ann>", "<urn:watches>", "<urn:tv>"),
        ("<urn:bob>", "<urn:watches>", "<urn:tv>"),
        ("<urn:tv>", "<urn:plays>", "<urn:news>"),
        ("<urn:cec>", "<urn:watches>", "<urn:tv2>"),
        ("<urn:dan>", "<urn:watches>", "<urn:tv>"),
    ]
    streams = {"s": stream([(triple, time) for time, triple in enumerate(triples)])}
    assert [found(join, streams, memory, Clock()) for memory in (1, 2, 3, 4)] == [1, 3, 2, 3]


def found(join, streams, memory, policy):
    steps = run_join(join, streams, Resources(memory, policy))
    return sum(len(step.results) for step in steps)
