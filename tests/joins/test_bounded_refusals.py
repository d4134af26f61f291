"""What is no bounded join is refused, and the error names what is wrong and what would be right."""

from __future__ import annotations

from fractions import Fraction

import pytest

from refengine import from_table, stream
from refengine.joins import BoundedJoin, Resources, bounded_query, run_join
from refengine.joins.measures import Measuring
from refengine.joins.policies import Clock, Decay, exponential_clock
from refengine.joins.resource_texts import parse_resources
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
        ("lru", 0, "from 1 to 1,000,000,000, got 0"),
        ("clock", 10**30, "from 1 to 1,000,000,000, got 1000"),
        ("lru+only", 1, "only needs the name of a stream, such as only:guide"),
        ("lru:3", 1, "lru has no parameters 3"),
        ("clock-exp", 1, "clock-exp needs its factor, such as clock-exp:0.25"),
        ("clock-exp:2", 1, "a score must come to tau: write rho between 0 and 1; got rho 2.0, tau"),
        ("clock-exp:x", 1, "expected a number, got 'x'"),
        (
            "clock:wo=1",
            1,
            "unknown key 'wo' of clock; valid: amount, credit, most, pointer, tau, threshold, w0",
        ),
        ("clock-exp:0.5:amount=0.25", 1, "unknown key 'amount' of clock"),
        ("clock:w0=1:w0=2", 1, "w0 is given twice"),
        ("clock:threshold=above", 1, "threshold must be below, at-or-below, got 'above'"),
        ("clock:w0=1e300", 1, "w0 must be from -1000000000 to 1000000000, got 1e+300"),
        ("clock:most=1e12", 1, "most must be from -1000000000 to 1000000000, got 1000000000000.0"),
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
    text = "clock:amount=0.5:w0=2:tau=1:threshold=at-or-below:pointer=stays:credit=results:most=9"
    others = {"threshold": "at-or-below", "pointer": "stays", "credit": "results"}
    assert parse_resources(text, 3).policy == (
        Clock(amount=0.5, start_score=2, tau=1, most_score=9, **others)
    )
    assert parse_resources("clock-exp:0.5:w0=3", None).policy.start_score == 3
    assert parse_resources("clock-exp:0.5", 1).policy == exponential_clock(0.5)


@pytest.mark.parametrize("memory", [0, -1, 1.5, "1", True, 10**30, 10**9 + 1])
def test_a_memory_is_a_whole_number_of_bindings(memory):
    with pytest.raises(RefengineError, match="BND-3: a memory is a whole number of bindings"):
        Resources(memory)


@pytest.mark.parametrize("given", [(10, 0.5), (1.5, 0), (0, 0), (10, 1), (10, Fraction(-1, 3))])
def test_a_measuring_has_a_whole_period_and_an_exact_share(given):
    with pytest.raises(
        RefengineError, match="BND-8: a period is a whole number > 0, and a warm-up"
    ):
        Measuring(*given)


def test_a_memory_is_for_streams_that_some_input_reads():
    join = bounded_query(query(f"SELECT * {{ {JOIN} }}"))
    assert parse_resources("fifo+only:a+only:urn:b", 1).only == {"a", "urn:b"}
    with pytest.raises(InvalidStream, match="no input reads a stream 'S'"):
        BoundedJoin(join, parse_resources("fifo+only:S", 1))


ENDLESS = [
    ("clock-exp:0.9999999999999999", {"amount": 0.9999999999999999, "tau": 0.01}),
    ("clock-exp:0.9999999", {"amount": 0.9999999, "tau": 0.01}),
    ("clock-exp:0.9999999999999999:tau=1", {"amount": 0.9999999999999999, "tau": 1.0}),
    ("clock-exp:0.9:tau=5e-324", {"amount": 0.9, "tau": 5e-324}),
    ("clock-exp:0.9:tau=0", {"amount": 0.9, "tau": 0.0}),
    ("clock-exp:1", {"amount": 1.0, "tau": 0.01}),
    ("clock:w0=1e17:tau=1e17", {"start_score": 1e17, "tau": 1e17}),
    ("clock:amount=1e-20:w0=0", {"amount": 1e-20, "start_score": 0.0}),
    ("clock:amount=1e-20:tau=1:most=1", {"amount": 1e-20, "tau": 1.0, "most_score": 1.0}),
    ("clock:amount=1e-8:tau=1e9:most=1e9", {"amount": 1e-8, "tau": 1e9, "most_score": 1e9}),
    ("clock:amount=0", {"amount": 0.0}),
    ("clock:amount=-1", {"amount": -1.0}),
    ("clock:w0=2000000", {"start_score": 2_000_000.0}),
    ("clock:tau=-2000000", {"tau": -2_000_000.0}),
    ("clock:w0=nan", {"start_score": float("nan")}),
    ("clock:w0=inf", {"start_score": float("inf")}),
]
SENSIBLE = [
    ("clock:w0=2000000:tau=1500000", {"start_score": 2_000_000, "tau": 1_500_000}),
    ("clock:tau=1500000:w0=2000000", {"start_score": 2_000_000, "tau": 1_500_000}),
    ("clock:w0=-5", {"start_score": -5}),
    ("clock:amount=0.001:w0=100", {"amount": 0.001, "start_score": 100}),
    ("clock-exp:0.25:w0=300000", {"amount": 0.25, "tau": 0.01, "start_score": 300_000}),
    ("clock-exp:0.9999995:tau=5", {"amount": 0.9999995, "tau": 5}),
    ("clock-exp:0.999", {"amount": 0.999, "tau": 0.01}),
    ("clock-exp:0.5:w0=-1", {"amount": 0.5, "tau": 0.01, "start_score": -1}),
]


def clock_of(text, fields):
    """The value that a text means."""
    decay = Decay.LINEAR if text.startswith("clock:") else Decay.EXPONENTIAL
    return Clock(decay, **fields)


@pytest.mark.parametrize("text, fields", ENDLESS)
def test_a_clock_whose_pointer_would_turn_for_ever_is_refused(text, fields):
    reasons = "BND-4: (a score must come to tau: |(tau|w0) must be from -1000000000 to 1000000000)"
    with pytest.raises(RefengineError, match=reasons) as of_text:
        parse_resources(text, 1)
    with pytest.raises(RefengineError) as of_value:
        clock_of(text, fields)
    assert of_text.value.reason == of_value.value.reason


@pytest.mark.parametrize("text, fields", SENSIBLE)
def test_a_clock_that_comes_to_its_threshold_is_accepted(text, fields):
    clock = parse_resources(text, 1).policy
    assert clock == clock_of(text, fields)
    eviction = clock.start(1)
    eviction.fill(0)
    eviction.use(0, 3)
    assert eviction.choose() == 0
