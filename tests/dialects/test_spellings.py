"""Spellings that engines read besides those that are rendered, and what a message advises."""

from __future__ import annotations

import pytest

from refengine.core.query import Window, WindowKind
from refengine.dialects import read, render
from refengine.model.errors import RefengineError

PATTERN = "{ ?x <urn:p> ?y }"
TIME = WindowKind.TIME


@pytest.mark.parametrize(
    "dialect, text, window",
    [
        (
            "rspql",
            "SELECT ?x FROM NAMED WINDOW <urn:w> [RANGE 30s , SLIDE 500ms] ON STREAM <s> "
            f"{{ WINDOW <urn:w> {PATTERN} }}",
            Window("s", TIME, 30000, 500, name="urn:w"),
        ),
        (
            "rspql",
            f"SELECT ?x FROM NAMED WINDOW ON <s> [RANGE PT3S STEP PT1S] AS <urn:w> "
            f"{{ WINDOW <urn:w> {PATTERN} }}",
            Window("s", TIME, 3000, 1000, name="urn:w"),
        ),
        (
            "cqels2",
            f"SELECT ?x FROM STREAM s [RANGE 10s SLIDE 500ms] WHERE {PATTERN}",
            Window("s", TIME, 10000, 500),
        ),
    ],
)
def test_another_spelling_is_the_same_window(dialect, text, window):
    assert read(text, dialect).windows == (window,)


def test_a_stream_whose_window_has_no_name_may_have_any():
    """In CQELS-QL 2.0 a window is named by its stream, which may be no IRI."""
    query = read(f"SELECT * FROM STREAM <%s> [RANGE 1s TUMBLING] {PATTERN}", "csparql")
    assert read(render(query, "cqels2"), "cqels2") == query


@pytest.mark.parametrize(
    "order, expected",
    [
        ("?x DESC ?y", "DESC(?x) ?y"),
        ("?x asc", "asc(?x)"),
        ("?x DESC (?y)", "?x DESC (?y)"),  # as SPARQL has it: ?x, then DESC(?y)
    ],
)
def test_the_direction_after_a_variable(order, expected):
    query = read(f"SELECT * FROM STREAM s [NOW] {PATTERN} ORDER BY {order} OFFSET 2", "cqels2")
    assert query.body.text == f"SELECT * {PATTERN} ORDER BY {expected} OFFSET 2"


@pytest.mark.parametrize(
    "clause, advice",
    [
        ("<{STREAM}> [RANGE 1s STEP 1s]", "column 22: .*; {STREAM} is a placeholder"),
        ("<s> [RANGE ${SIZE} STEP 1s]", r"column 33: .*; \${SIZE} is a placeholder"),
        ("<s> [RANGE %ds STEP 1s]", "column 33: .*; %d is a placeholder"),
        ("< urn:s> [RANGE 1s STEP 1s]", "column 22: .*; ' ' cannot stand in an IRI"),
        ("s [RANGE 1s STEP 1s]", "column 22: .*; for an IRI write <s>"),
    ],
)
def test_the_advice_for_a_stream_that_is_none(clause, advice):
    with pytest.raises(RefengineError, match=f"line 1 {advice}"):
        read(f"SELECT * FROM STREAM {clause} {PATTERN}", "csparql")


def test_the_advice_for_a_from_without_stream():
    with pytest.raises(RefengineError, match=r"line 1 column 15: .*; for an IRI write STREAM <s>"):
        read(f"SELECT * FROM s [RANGE 1s STEP 1s] {PATTERN}", "csparql")


@pytest.mark.parametrize(
    "dialect, text, message",
    [
        (
            "csparql",
            f"SELECT * FORM STREAM <s> [RANGE 1s STEP 1s] {PATTERN}",
            "column 10: .*FROM, ",
        ),
        (
            "csparql",
            f"SELECT * STREAM <s> [RANGE 1s STEP 1s] {PATTERN}",
            "column 10: .*FROM before",
        ),
        ("csparql", f"SELECT FROM STREAM <s> [RANGE 1s STEP 1s] {PATTERN}", "column 8: .*variable"),
        ("cqels", f"SELECT * {{ <s> [RANGE 1s] {PATTERN} }}", "column 12: .*STREAM before '<s>'"),
        (
            "cqels",
            f"SELECT * {{ STERAM <s> [NOW] {PATTERN} }}",
            "column 12: .*STREAM, got 'STERAM'",
        ),
        (
            "rsp4j",
            "SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S] "
            f"{{ ?x <p> ?z . <w> {PATTERN} }}",
            "column 76: .*GRAPH or WINDOW before '<w>'",
        ),
        (
            "sparqlstream",
            "SELECT * FROM STREAM <s> [NOW] { ?x <p> ?z . (?z > 3) }",
            r"column 46: .*FILTER before '\('",
        ),
        (
            "sparqlstream",
            f"SELECT ISTREM ?x FROM STREAM <s> [NOW] {PATTERN}",
            "column 8: .*expected ISTREAM, got 'ISTREM'",
        ),
        (
            "rspql",
            f"REGISTER ISTREM <o> AS SELECT ?x FROM NAMED WINDOW <w> ON <s> [NOW] {PATTERN}",
            "column 10: .*expected QUERY, STREAM or an operator such as ISTREAM",
        ),
        # where another dialect reads the text, it has no mistake
        ("csparql", f"SELECT * {{ STREAM <s> [NOW] {PATTERN} }}", "column 10: .*like CQELS-QL"),
        # a comparison of SELECT is no FILTER
        (
            "csparql",
            "SELECT (MAX(?x) AS ?m) (?x > ?y AS ?z) FROM STREAM <s> [RNAGE 1s STEP 1s] {}",
            "column 57: .*RANGE, got 'RNAGE'",
        ),
        # a mistake behind the place is not told
        (
            "csparql",
            f"SELECT ?x FROM STREAM <s> [RANGE 1 STEP 1s] {{ <w> {PATTERN} }}",
            "column 36",
        ),
    ],
)
def test_the_mistake_that_is_told(dialect, text, message):
    with pytest.raises(RefengineError, match=f"line 1 {message}"):
        read(text, dialect)
