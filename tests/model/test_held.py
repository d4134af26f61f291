"""What users hold is taken where an element is made (MOD-1, MOD-4): terms, triples, quads and
graphs of rdflib and pyoxigraph, datetimes with a zone, timedeltas, and integers of numpy. By hand.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy
import pandas
import pyoxigraph
import pytest
import rdflib

from refengine import (
    Element,
    Engine,
    InvalidStream,
    RefengineError,
    Stream,
    Window,
    WindowKind,
    equal,
    evaluate,
    from_table,
    incremental,
    joins,
    profile,
    row,
    sparql,
    stream,
)
from refengine.core.query import Query, window_from_table
from refengine.model.terms import canonical

INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
TERMS = [
    (rdflib.URIRef("urn:a"), "<urn:a>"),
    (pyoxigraph.NamedNode("urn:a"), "<urn:a>"),
    (rdflib.BNode("b1"), "_:b1"),
    (pyoxigraph.BlankNode("b1"), "_:b1"),
    (rdflib.Literal("x"), '"x"'),
    (rdflib.Literal("x", lang="en-GB"), '"x"@en-gb'),
    (rdflib.Literal("x", datatype=rdflib.URIRef(XSD_STRING)), '"x"'),
    (rdflib.Literal(5), f'"5"^^<{INTEGER}>'),
    (pyoxigraph.Literal("x"), '"x"'),
    (pyoxigraph.Literal("x", language="en-GB"), '"x"@en-gb'),
    (pyoxigraph.Literal(5), f'"5"^^<{INTEGER}>'),
    # what a line of glue that writes N-Triples gets wrong
    (rdflib.Literal('a\nb "c" \\'), '"a\\nb \\"c\\" \\\\"'),
    (pyoxigraph.Literal("a\r\nb"), '"a\\r\\nb"'),
    # a literal whose text looks like another term
    (rdflib.Literal("<urn:a>"), '"<urn:a>"'),
    (rdflib.Literal("_:b"), '"_:b"'),
    (rdflib.Literal('"x"'), '"\\"x\\""'),
    (pyoxigraph.Literal("<urn:a>"), '"<urn:a>"'),
]
P = {"rdflib": rdflib.URIRef("urn:p"), "pyoxigraph": pyoxigraph.NamedNode("urn:p")}
S = {"rdflib": rdflib.URIRef("urn:s"), "pyoxigraph": pyoxigraph.NamedNode("urn:s")}


@pytest.mark.parametrize(("term", "expected"), TERMS, ids=repr)
def test_a_term_of_a_library_is_its_text(term: Any, expected: str):
    assert canonical(term) == expected and type(canonical(term)) is str


@pytest.mark.parametrize(("term", "expected"), TERMS, ids=repr)
def test_a_term_of_a_library_stands_in_every_door(term: Any, expected: str):
    """Also beside terms that are text, whose plain form is accepted without a closer look."""
    triple = ("<urn:s>", "<urn:p>", expected)
    assert stream([(("<urn:s>", "<urn:p>", term), 3)]) == stream([(triple, 3)])
    made = Stream((Element(frozenset([("<urn:s>", "<urn:p>", term)]), 3, 1),))
    assert made == stream([(triple, 3)])
    assert equal(Counter([row({"x": term})]), Counter([row({"x": expected})]))
    body = from_table({"windows": [WINDOW], "body": "SELECT ?o { ?s ?p ?o }"}).body
    found = sparql.evaluate(body.algebra, frozenset([("<urn:s>", "<urn:p>", term)])).rows
    assert equal(found, Counter([row({"o": expected})]))


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (rdflib.Variable("x"), "not a term: 'x'"),
        (pyoxigraph.Variable("x"), "a term must be text"),
        (rdflib.URIRef("a b"), "relative IRI 'a b'"),
        (rdflib.URIRef("urn:a b"), "not an IRI (RFC 3987): 'urn:a b'"),
        (rdflib.BNode("a b"), "write _:a-b"),
        (pyoxigraph.DefaultGraph(), "a term must be text"),
    ],
    ids=repr,
)
def test_what_is_no_term_is_refused(term: Any, words: str):
    with pytest.raises(InvalidStream) as refused:
        stream([(("<urn:s>", "<urn:p>", term), 3)])
    assert refused.value.rule == "MOD-4" and refused.value.place == "element 1"
    assert words in str(refused.value)


A, B = ("<urn:s>", "<urn:p>", '"a"'), ("<urn:s>", "<urn:p>", '"b"')


def of_rdflib(*texts: str) -> list[tuple[Any, ...]]:
    return [(S["rdflib"], P["rdflib"], rdflib.Literal(text)) for text in texts]


def of_pyoxigraph(*texts: str) -> list[Any]:
    s, p = S["pyoxigraph"], P["pyoxigraph"]
    return [pyoxigraph.Triple(s, p, pyoxigraph.Literal(text)) for text in texts]


def graph_of_rdflib(*texts: str) -> rdflib.Graph:
    graph = rdflib.Graph()
    for triple in of_rdflib(*texts):
        graph.add(triple)
    return graph


def dataset_of_rdflib(*texts: str) -> rdflib.Dataset:
    dataset = rdflib.Dataset()
    for triple in of_rdflib(*texts):
        dataset.default_graph.add(triple)
    return dataset


def quads_of_pyoxigraph(*texts: str) -> list[pyoxigraph.Quad]:
    return [pyoxigraph.Quad(*triple) for triple in of_pyoxigraph(*texts)]


def store_of_pyoxigraph(*texts: str) -> pyoxigraph.Store:
    store = pyoxigraph.Store()
    store.extend(quads_of_pyoxigraph(*texts))
    return store


PAYLOADS: dict[str, tuple[Any, set[Any]]] = {
    "a triple of rdflib": (of_rdflib("a")[0], {A}),
    "a triple of pyoxigraph": (of_pyoxigraph("a")[0], {A}),
    "terms of pyoxigraph": (tuple(of_pyoxigraph("a")[0]), {A}),
    "triples of rdflib": (of_rdflib("a", "b"), {A, B}),
    "triples of pyoxigraph": (of_pyoxigraph("a", "b"), {A, B}),
    "a set of triples of pyoxigraph": (frozenset(of_pyoxigraph("a", "b")), {A, B}),
    "a graph of rdflib": (graph_of_rdflib("a", "b"), {A, B}),
    "a dataset of rdflib": (dataset_of_rdflib("a", "b"), {A, B}),
    "an empty graph": (rdflib.Graph(), set()),
    "a store of pyoxigraph": (store_of_pyoxigraph("a", "b"), {A, B}),
    "a dataset of pyoxigraph": (pyoxigraph.Dataset(quads_of_pyoxigraph("a", "b")), {A, B}),
    "a quad of the default graph": (quads_of_pyoxigraph("a")[0], {A}),
    "a quad without a graph": ((*of_rdflib("a")[0], None), {A}),
    "both libraries": ([*of_rdflib("a"), *of_pyoxigraph("b")], {A, B}),
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_of_a_library_is_a_graph(name: str):
    payload, expected = PAYLOADS[name]
    assert [element.graph for element in stream([(payload, 3)])] == [expected]


GRAPH = rdflib.URIRef("urn:g")
QUADS: dict[str, Any] = {
    "a quad of pyoxigraph": pyoxigraph.Quad(*of_pyoxigraph("a")[0], pyoxigraph.NamedNode("urn:g")),
    "a quad of rdflib": (*of_rdflib("a")[0], GRAPH),
    "a quad with a graph of rdflib": (*of_rdflib("a")[0], rdflib.Graph(identifier=GRAPH)),
    "a quad of texts": (*A, "<urn:g>"),
}
WINDOW = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
READS_GRAPH = from_table(
    {"windows": [WINDOW], "body": "SELECT ?o { ?s ?p ?x GRAPH <urn:g> { ?y ?q ?o } }"}
)
SEMANTICS = profile("csparql").but(t0=0).semantics()


@pytest.mark.parametrize("name", QUADS)
def test_a_quad_of_a_library_is_static_data(name: str):
    streams = {"s": stream([(A, 3)])}
    reports = evaluate(READS_GRAPH, streams, SEMANTICS, static=[QUADS[name]])  # type: ignore[arg-type]
    assert [report.relation.rows for report in reports] == [Counter([row({"o": '"a"'})])]


@pytest.mark.parametrize("name", QUADS)
def test_a_quad_of_a_named_graph_is_in_no_element(name: str):
    with pytest.raises(InvalidStream, match=r"element 1: MOD-4.*write its first three terms"):
        stream([(QUADS[name], 3)])


def test_a_graph_of_rdflib_is_static_data():
    body = "SELECT ?o FROM <urn:h> { ?s <urn:p> ?o }"
    query = from_table({"windows": [WINDOW], "body": body})
    static: Any = {rdflib.URIRef("urn:h"): graph_of_rdflib("b")}
    reports = evaluate(query, {"s": stream([(A, 3)])}, SEMANTICS, static=static)
    assert [report.relation.rows for report in reports] == [
        Counter([row({"o": '"a"'}), row({"o": '"b"'})])
    ]


# Times

ZONED = datetime(2024, 1, 2, 3, 4, 5, 678_999, tzinfo=UTC)
EPOCH_MS = 1_704_164_645_678
INTEGERS: list[tuple[Any, int]] = [
    (ZONED, EPOCH_MS),
    (ZONED.astimezone(timezone(timedelta(hours=-5))), EPOCH_MS),
    (pandas.Timestamp(ZONED), EPOCH_MS),
    (datetime(1969, 12, 31, 23, 59, 59, 999_500, tzinfo=UTC), -1),  # -0.5 ms, cut downwards
    (timedelta(seconds=10), 10_000),
    (pandas.Timedelta(seconds=10), 10_000),
    (numpy.int64(7), 7),
    (numpy.uint8(7), 7),
    (pandas.Series([7])[0], 7),
]


@pytest.mark.parametrize(("time", "expected"), INTEGERS, ids=repr)
def test_a_time_may_be_of_another_type(time: Any, expected: int):
    def app(element: Element) -> list[int]:
        assert type(element.app) is int
        return [element.app]

    (made,) = stream([(A, time)])
    (given,) = Stream((Element(frozenset([A]), time, 1),))
    assert app(made) == app(given) == [expected]
    (ended,) = stream([(A, expected, 1, time)])
    assert ended.end == expected and type(ended.end) is int
    engine = Engine(from_table({"windows": [WINDOW], "body": "ASK {}"}), ["s"], SEMANTICS)
    engine.push_element("s", Element(frozenset([A]), time, 1))
    with pytest.raises(InvalidStream, match=r"MOD-2|ENG-8"):  # it came then, so none comes before
        engine.push_element("s", Element(frozenset([A]), expected - 1, 2))
    assert type(profile("csparql").but(t0=time).semantics().t0) is int
    assert profile("csparql").but(t0=time).semantics().t0 == expected


@pytest.mark.parametrize("size", [timedelta(seconds=10), numpy.int32(10_000)], ids=repr)
def test_a_size_may_be_of_another_type(size: Any):
    window = Window("s", WindowKind.RANGE, size, size, lag=size)
    assert window == Window("s", WindowKind.RANGE, 10_000, 10_000, lag=10_000)
    table = {"stream": "s", "kind": "range", "size": size, "slide": size, "lag": size}
    assert window_from_table(table, "windows[0]") == window
    assert type(window.size) is type(window.slide) is type(window.lag) is int
    chosen = profile("csparql").but(t0=0, allowed_lateness=size, horizon=size).semantics()
    assert (chosen.allowed_lateness, chosen.horizon) == (10_000, 10_000)


def test_the_registration_may_be_a_datetime():
    query = from_table({"windows": [WINDOW], "body": "ASK {}", "registered": ZONED})
    assert query == Query(query.windows, query.body, None, EPOCH_MS)


NAIVE = ZONED.replace(tzinfo=None)
ADVICE = r"no zone: .*; write .replace\(tzinfo=UTC\)"
WITHOUT_ZONE: list[tuple[Callable[[Any], object], str]] = [
    (lambda time: stream([(A, time)]), "element 1: MOD-1: t_app has "),
    (lambda time: stream([(A, 0, 1, time)]), "element 1: MOD-1: end has "),
    (lambda time: Stream((Element(frozenset([A]), time, 1),)), "element 1: MOD-1: t_app has "),
    (lambda time: profile("csparql").but(t0=time), "SEM-1: t0 has "),
    (lambda time: profile("csparql").but(horizon=time), "SEM-1: horizon has "),
    (lambda time: Query(READS_GRAPH.windows, READS_GRAPH.body, None, time), "QRY-1: registered "),
    (lambda time: Window("s", WindowKind.RANGE, time), "WIN-1: size has "),
    (lambda time: Engine(READS_GRAPH, ["s"], SEMANTICS).advance(time), "MOD-1: the instant has "),
]


@pytest.mark.parametrize(("door", "words"), WITHOUT_ZONE)
@pytest.mark.parametrize("time", [NAIVE, pandas.Timestamp(NAIVE)], ids=["datetime", "Timestamp"])
def test_a_datetime_without_a_zone_says_what_to_write(door, words: str, time: Any):
    with pytest.raises(RefengineError, match=words + ".*" + ADVICE):
        door(time)


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (
            date(2024, 1, 2),
            r"a day, which has no instant: .*write datetime\(2024, 1, 2, tzinfo=UTC",
        ),
        (numpy.datetime64("2024-01-02T03:04"), r"has no zone.*write .astype\('datetime64\[ms\]'\)"),
        (3.0, "t_app must be an integer, got 3.0"),
        (numpy.float64(3), "t_app must be an integer"),
        (numpy.bool_(True), "t_app must be an integer"),
        (True, "t_app must be an integer, got True"),
        ("3", "t_app must be an integer, got '3'"),
    ],
    ids=repr,
)
def test_what_is_no_time_is_refused(time: Any, words: str):
    with pytest.raises(InvalidStream, match="element 1: MOD-1: .*" + words):
        stream([(A, time)])


def test_a_span_of_time_is_no_number_of_elements():
    with pytest.raises(RefengineError, match="WIN-1: a window of kind rows has no size in time"):
        Window("s", WindowKind.ROWS, timedelta(seconds=10))  # type: ignore[arg-type]


def test_no_library_is_imported_for_it():
    code = (
        "import sys; from refengine.model.elements import stream; "
        "stream([(('<urn:a>', '<urn:p>', '<urn:b>'), 3)]); "
        "print([m for m in ('rdflib', 'pyoxigraph', 'numpy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_stream_that_is_read_meanwhile_may_have_datetimes():
    """By hand: the second element, ten seconds later, closes [t0, t0 + 10 s)."""
    query = from_table(
        windows=[{"stream": "s", "kind": "time", "size": 10_000, "slide": 10_000}], body="ASK {}"
    )
    times = [ZONED, ZONED + timedelta(seconds=10)]
    elements = (Element(frozenset([A]), time, n) for n, time in enumerate(times, 1))  # type: ignore[arg-type]
    chosen = profile("csparql").but(t0="first-element", horizon="none").semantics()
    (report,) = incremental.evaluate(query, {"s": elements}, chosen)
    assert report.window == (EPOCH_MS, EPOCH_MS + 10_000)
    assert [type(element.app) for element in report.contents[0]] == [int]


@pytest.mark.parametrize("key", ["size", "slide", "lag"])
def test_a_length_is_not_cut(key: str):
    """1.5 ms cut to 1 ms would be another window."""
    long = {"size": 10, "slide": 10} | {key: timedelta(microseconds=1500)}
    with pytest.raises(RefengineError, match=f"WIN-1: {key} must be whole milliseconds.*=2"):
        Window("s", WindowKind.RANGE, **long)  # type: ignore[arg-type]


def test_a_span_of_the_semantics_is_not_cut():
    with pytest.raises(RefengineError, match="SEM-1: allowed_lateness must be whole millisec"):
        profile("csparql").but(allowed_lateness=timedelta(microseconds=1))


def test_a_join_takes_what_an_element_takes():
    body = "SELECT ?a ?b { ?a <urn:p> ?x . ?b <urn:q> ?x }"
    query = from_table(windows=[{"stream": "s", "kind": "unbounded"}], body=body)
    join = joins.BoundedJoin(joins.bounded_query(query))
    s, x = S["rdflib"], rdflib.Literal("x")
    graphs: list[Any] = [frozenset([(s, rdflib.URIRef(name), x)]) for name in ("urn:p", "urn:q")]
    assert join.push("s", Element(graphs[0], ZONED, 1)) == []  # type: ignore[arg-type]
    assert len(join.push("s", Element(graphs[1], ZONED + timedelta(1), 2))) == 1  # type: ignore[arg-type]
