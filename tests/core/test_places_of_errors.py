"""An error of an evaluation names the windows and the instant of it, whatever the error is, and the
values of which the evaluator may choose.
"""

from __future__ import annotations

from collections import Counter

import pytest
from refusals import refusal

from refengine import (
    Engine,
    Relation,
    evaluate,
    from_table,
    incremental,
    literal,
    profile,
    row,
    stream,
)
from refengine.model.elements import XSD
from refengine.model.errors import Disputed, RefengineError, Unsupported
from refengine.oracle.judge import judge

SEMANTICS = profile("csparql").but(t0=0).semantics()
WINDOW = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
ILL_TYPED = literal("1.25E1", XSD + "decimal")
EIGHT = literal("8", XSD + "decimal")
NOON = literal("2000-01-01T12:00:00", XSD + "dateTime")
NOON_UTC = literal("2000-01-01T12:00:00Z", XSD + "dateTime")
SELECT = "SELECT ({} AS ?n) {{ ?x <urn:n> ?v }}"
# body, the values of the window [10, 20), and the reason
REFUSED = [
    (
        SELECT.format("MAX(?v)"),
        [EIGHT, ILL_TYPED],
        "which of 2 values that are equal or have no order MAX gives "
        '("1.25E1"^^xsd:decimal, which is ill-typed, and "8"^^xsd:decimal)',
    ),
    (
        SELECT.format("MIN(?v)"),
        [NOON, NOON_UTC],
        "which of 2 values that are equal or have no order MIN gives "
        '("2000-01-01T12:00:00"^^xsd:dateTime and "2000-01-01T12:00:00Z"^^xsd:dateTime)',
    ),
    (
        SELECT.format("DATATYPE(MIN(?v))"),
        [literal("1", XSD + "integer"), literal("1", XSD + "decimal")],
        'MIN or MAX of one value in several datatypes or forms ("1"^^xsd:decimal and '
        '"1"^^xsd:integer)',
    ),
    (
        SELECT.format("SAMPLE(?v)"),
        [f"<urn:{number}>" for number in range(5)],
        "SAMPLE of several values (<urn:0>, <urn:1>, <urn:2> and 2 more)",
    ),
    (
        SELECT.format("SAMPLE(?v)"),
        ['"b\\nc"', literal("a" * 200)],
        f'SAMPLE of several values ("{"a" * 77} … and "b\\nc")',
    ),
    (
        SELECT.format("GROUP_CONCAT(?v)"),
        ['"a"', '"b"'],
        'GROUP_CONCAT of several values, whose order is not fixed ("a" and "b")',
    ),
    (
        SELECT.format("GROUP_CONCAT(?v)"),
        [literal(letter) for letter in "abcde"],
        'GROUP_CONCAT of several values, whose order is not fixed ("a", "b", "c" and 2 more)',
    ),
    (
        SELECT.format("GROUP_CONCAT(?v)"),
        ["<urn:a>", '"b"'],
        "GROUP_CONCAT of what is no literal (<urn:a>)",
    ),
    (SELECT.format("MAX(UUID())"), ['"a"'], "MAX of a value that has no single answer (UUID)"),
    (
        "SELECT ?v { ?x <urn:n> ?v } LIMIT 1",
        ['"a"', '"b"'],
        "LIMIT or OFFSET cuts between solutions that ORDER BY leaves in any order "
        '(?v "a" and ?v "b")',
    ),
    (
        "SELECT ?v { ?x <urn:n> ?v } ORDER BY STRLEN(?v) OFFSET 1",
        ['"a"', '"b"'],
        "LIMIT or OFFSET cuts between solutions that ORDER BY leaves in any order "
        '(?v "a" and ?v "b")',
    ),
    (
        "SELECT ?v { ?x <urn:n> ?v } ORDER BY UUID() LIMIT 1",
        ['"a"', '"b"'],
        "ORDER BY a value that has no single answer (UUID)",
    ),
    (
        "SELECT DISTINCT ?v { ?x <urn:n> ?v } ORDER BY ?x LIMIT 1",
        ['"a"', '"a"'],
        'LIMIT after DISTINCT, where equal solutions have several places in the order (?v "a")',
    ),
    (
        "SELECT REDUCED ?v { ?x <urn:n> ?v }",
        ['"a"', '"a"'],
        'REDUCED leaves open how often a solution is there (?v "a")',
    ),
    (
        "SELECT REDUCED ?v { ?x <urn:n> ?v } LIMIT 2",
        ['"a"', '"a"', '"b"'],
        'REDUCED leaves open how often a solution is there (?v "a")',
    ),
]


def source(values: list[str]):
    """A stream with one value in [0, 10), and these in [10, 20)."""
    first = values[:1] if values[0].startswith('"') else ['"a"']
    graphs = [[("<urn:first>", "<urn:n>", term) for term in first]]
    graphs.append([(f"<urn:{number}>", "<urn:n>", term) for number, term in enumerate(values)])
    return stream([(graph, time) for graph, time in zip(graphs, (3, 13), strict=True)])


def pushed(query, streams, semantics):
    engine = Engine(query, list(streams), semantics)
    for element in streams["s"]:
        yield from engine.push_element("s", element)
    yield from engine.finish()


@pytest.mark.parametrize("way", [evaluate, incremental.evaluate, pushed])
@pytest.mark.parametrize(("body", "values", "reason"), REFUSED)
def test_a_choice_names_its_window_and_the_values(way, body, values, reason):
    query = from_table({"windows": [WINDOW], "body": body})
    message = refusal(lambda: list(way(query, {"s": source(values)}, SEMANTICS)), Unsupported)
    window = "[10, 20) at 19"
    if "UUID" in body:  # there it is the first window that has no answer
        window = "[0, 10) at 9"
    assert message == f"window {window}: body: QRY-3: {reason}"


def test_a_verdict_that_rests_on_no_answer_names_the_window():
    body, values, reason = REFUSED[0]
    query = from_table({"windows": [WINDOW], "body": body})
    told = [Relation(("n",), Counter([row({"n": values[0]})]))] * 2
    with pytest.raises(Unsupported) as refused:
        judge(query, {"s": source(values)}, profile("csparql").but(t0=0), told, missing=0)
    assert str(refused.value) == f"window [10, 20) at 19: body: QRY-3: {reason}"


BORDERLESS = {"stream": "s", "kind": "unbounded"}
PLACES = [
    ([WINDOW], {}, "window [10, 20) at 19"),
    ([WINDOW, WINDOW | {"size": 20}], {}, "windows [10, 20) and [0, 20) at 19"),
    ([WINDOW], {"closure": "(]"}, "window (10, 20] at 20"),
    ([BORDERLESS], {"closure": "none", "report": "content-change"}, "evaluation at 13"),
]


@pytest.mark.parametrize(("windows", "fields", "place"), PLACES)
def test_the_place_has_the_borders_of_all_windows(windows, fields, place):
    """WIN-2: (10, 20] ends at 20. By hand: of [0, 10) there is one value, of the others several."""
    query = from_table({"windows": windows, "body": SELECT.format("SAMPLE(?v)")})
    semantics = profile("csparql").but(t0=0, **fields).semantics()
    with pytest.raises(Unsupported) as refused:
        list(evaluate(query, {"s": source(["<urn:a>", "<urn:b>"])}, semantics))
    assert str(refused.value).startswith(f"{place}: body: QRY-3: SAMPLE of several values")


@pytest.mark.parametrize(
    "error",
    [
        Unsupported("of any kind", rule="R2R-17", place="body"),
        Disputed("of any kind", rule="R2R-5", place="body"),
        RefengineError("of any kind", rule="QRY-1", place="body"),
    ],
)
def test_whatever_the_error_is(error):
    def fails(body, dataset):
        raise error

    query = from_table({"windows": [WINDOW], "body": "ASK {}"})
    with pytest.raises(type(error)) as refused:
        list(evaluate(query, {"s": source(['"a"'])}, SEMANTICS, answer=fails))
    assert refused.value.place == "window [0, 10) at 9: body"
