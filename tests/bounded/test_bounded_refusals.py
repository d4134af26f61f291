"""What is no bounded join is refused, and the error names what is wrong and what would be right."""

from __future__ import annotations

import pytest

from refengine import from_table, stream
from refengine.bounded import BoundedJoin, bounded_query, run_join
from refengine.bounded.names import parse_resources
from refengine.bounded.policies import Clock, exponential_clock
from refengine.model.errors import InvalidStream, RefengineError, Unsupported

JOIN = "?a <urn:p> ?x . ?b <urn:q> ?x"
UNBOUNDED = {"stream": "s", "kind": "unbounded"}


def query(body, *windows, **more):
    return from_table({"body": body, "windows": list(windows) or [UNBOUNDED], **more})


@pytest.mark.parametrize(
    "body, reason",
    [
        ("SELECT * { ?a <urn:p> ?x }", "one input"),
        ("SELECT * { ?a <urn:p> ?x ; <urn:q> ?y }", "one input"),
        (f"ASK {{ {JOIN} }}", "no SELECT of a join"),
        (f"SELECT DISTINCT ?a {{ {JOIN} }}", "without DISTINCT"),
        (f"SELECT (COUNT(*) AS ?n) {{ {JOIN} }}", "BIND"),
        (f"SELECT ?a {{ {JOIN} }} LIMIT 1", "without DISTINCT"),
        (f"SELECT * {{ {JOIN} OPTIONAL {{ ?x <urn:r> ?y }} }}", "OPTIONAL"),
        (f"SELECT * {{ {JOIN} BIND(1 AS ?y) }}", "BIND"),
        ("SELECT * { { ?a <urn:p> ?x } UNION { ?b <urn:q> ?x } }", "UNION"),
        (f"SELECT * {{ GRAPH ?g {{ {JOIN} }} }}", "GRAPH with a variable"),
        ("SELECT * { ?a <urn:p>+ ?x . ?b <urn:q> ?x }", "property path"),
        (f"SELECT * {{ {JOIN} FILTER EXISTS {{ ?a <urn:r> ?y }} }}", "EXISTS"),
        (f"SELECT * {{ {JOIN} FILTER(?y > 1) }}", "reads ?y, which its group does not bind"),
        (
            f"BASE <http://e/> SELECT * {{ {JOIN} FILTER(IRI('a') = ?a) }}",
            "IRI() in a body with BASE",
        ),
        (f"SELECT * {{ GRAPH <urn:w> {{ {JOIN} }} }}", "GRAPH <urn:w> has 0 windows"),
    ],
)
def test_a_body_that_is_no_join_of_patterns(body, reason):
    with pytest.raises(Unsupported, match="BND-1") as caught:
        bounded_query(query(body))
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "window, reason",
    [
        ({"kind": "time", "size": 10, "slide": 5}, "a lag or a slide"),
        ({"kind": "range", "size": 10, "slide": 5}, "a lag or a slide"),
        ({"kind": "range", "size": 10, "lag": 5}, "a lag or a slide"),
        ({"kind": "landmark"}, "write range without a slide, now or unbounded"),
        ({"kind": "rows", "size": 3}, "write range without a slide, now or unbounded"),
    ],
)
def test_a_window_without_a_reach(window, reason):
    with pytest.raises(Unsupported) as caught:
        bounded_query(query(f"SELECT * {{ {JOIN} }}", {"stream": "s", **window}))
    assert reason in str(caught.value)


def test_a_graph_with_two_windows_and_a_query_that_states_an_operator():
    with pytest.raises(Unsupported, match="the default graph has 2 windows"):
        bounded_query(query(f"SELECT * {{ {JOIN} }}", UNBOUNDED, {**UNBOUNDED, "stream": "r"}))
    with pytest.raises(Unsupported, match="the query states Istream"):
        bounded_query(query(f"SELECT * {{ {JOIN} }}", r2s="Istream"))


def test_elements_out_of_order_and_streams_that_are_missing():
    join = bounded_query(query(f"SELECT * {{ {JOIN} }}"))
    first, second = stream([(("<urn:a>", "<urn:p>", "1"), 5)] * 0 + [(frozenset(), 5)] * 2)
    pushed = BoundedJoin(join)
    pushed.push("s", first)
    with pytest.raises(InvalidStream, match="decreases from 5 to 4"):
        pushed.push("s", second._replace(app=4))
    with pytest.raises(InvalidStream, match="no stream 's'"):
        list(run_join(join, {}))


@pytest.mark.parametrize(
    "text, memory, reason",
    [
        ("clok", 1, "unknown policy 'clok'; did you mean 'clock'?"),
        ("lru+gcc", 1, "unknown addition 'gcc'; did you mean 'gc'?"),
        ("lru", 0, "at least 1 binding, got 0"),
        ("lru:3", 1, "lru has no parameters 3"),
        ("clock-exp", 1, "clock-exp needs its factor, such as clock-exp:0.25"),
        ("clock-exp:2", 1, "a score must come to"),
        ("clock-exp:x", 1, "expected a number, got 'x'"),
        ("clock:wo=1", 1, "unknown key 'wo' of clock; valid: pointer, tau, threshold, w0"),
        ("clock:threshold=above", 1, "threshold must be below, at-or-below, got 'above'"),
        ("clock:w0=1e300", 1, "a start score at most"),
        ("random:-1", 1, "expected a whole number, got '-1'"),
        ("fifo+shed-rate:5", 1, "needs a limit and a period, such as shed-rate:100/1000"),
        ("fifo+shed-random", 1, "the share that is kept"),
        ("fifo+shed-random:2", 1, "between 0 and 1, got 2"),
        ("fifo+shed-random:1+shed-rate:1/1", 1, "load is shed in one way"),
        ("fifo+gc:1", 1, "gc has no parameters"),
    ],
)
def test_a_text_that_names_no_resources(text, memory, reason):
    with pytest.raises(RefengineError) as caught:
        parse_resources(text, memory)
    assert reason in str(caught.value)


def test_texts_name_every_field_of_clock():
    assert parse_resources("clock:w0=2:tau=1:threshold=at-or-below:pointer=stays", 3).policy == (
        Clock(start_score=2, tau=1, threshold="at-or-below", pointer="stays")
    )
    assert parse_resources("clock-exp:0.5:w0=3", None).policy.start_score == 3
    assert parse_resources("clock-exp:0.5", 1).policy == exponential_clock(0.5)
