"""More memory finds more under FIFO, and under LRU with two inputs; else it may find less."""

from __future__ import annotations

from dataclasses import replace

from drawn_bounded_joins import for_each_draw

from refengine import from_table, stream
from refengine.joins import BoundedJoin, Resources, bounded_query, run_join
from refengine.joins.bounded_join import merge_arrivals
from refengine.joins.memory import sorted_bindings
from refengine.joins.policies import Clock, Fifo, Lru


@for_each_draw(600)
def test_what_a_memory_holds_a_larger_one_holds_too(draw):
    query, _ = draw.query()
    join = bounded_query(query, draw.selection())
    streams = draw.streams(join.streams)
    policies = [Fifo(), Lru()] if len(join.inputs) == 2 else [Fifo()]
    chosen = Resources(None, draw.choice(policies), draw.random() < 0.5, only=draw.only(streams))
    small, large = (
        BoundedJoin(join, replace(chosen, memory=memory))
        for memory in sorted(draw.sample(range(1, 7), 2))
    )
    for name, element in merge_arrivals(join, streams):
        assert {*small.push(name, element)} <= {*large.push(name, element)}
        assert {*sorted_bindings(small.memory)} <= {*sorted_bindings(large.memory)}


def test_lru_may_find_less_with_more_memory_in_a_join_of_three_inputs():
    """Whether a binding is used depends on whether its other partner is stored.

    M = 3, front of the queue first: s0 s1 s2, s1 s2 s3, s2 s3 s4. s5 finds s2 and s3, which go to
    the back, so s4 goes: s2 s3 s5. s6 finds s3 and s5: two results in all.

    M = 4: s0 s1 s2 s3. s4 finds s0 and s1, which go to the back, so s2 goes: s3 s0 s1 s4. s5 finds
    no p of k1, and s3 goes. s6 finds no q of k1: one result.
    """
    body = "SELECT ?a ?b ?c { ?a <urn:p> ?k . ?b <urn:q> ?k . ?c <urn:r> ?k }"
    window = {"stream": "s", "kind": "unbounded"}
    join = bounded_query(from_table({"body": body, "windows": [window]}))
    words = ["q k0", "r k0", "p k1", "q k1", "p k0", "r k1", "p k1"]
    triples = []
    for number, word in enumerate(words):
        predicate, key = word.split()
        triples.append((f"<urn:s{number}>", f"<urn:{predicate}>", f"<urn:{key}>"))
    streams = {"s": stream([(triple, 0) for triple in triples])}
    assert [found(join, streams, memory, Lru()) for memory in (3, 4)] == [2, 1]


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
