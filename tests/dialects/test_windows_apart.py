"""DIA-5, R2R-8: RSP-QL's WINDOW and GRAPH read windows and named graphs, which are apart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from refengine import Body, Query, Window, WindowKind, evaluate, profile, stream
from refengine.dialects import DIALECTS, Unrenderable, read, render
from refengine.model.elements import Dataset
from refengine.model.errors import InvalidQuery, RefengineError, Unsupported

E = "http://example.org/"
PREFIX = f"PREFIX ex: <{E}>\n"
SEMANTICS = profile("csparql").but(t0=0).semantics()
# two observations of a sensor, and where it is
ELEMENTS = [
    *(
        ((f"<{E}o1>", f"<{E}{p}>", f"<{E}{o}>"), 5)
        for p, o in (("sensor", "thermo"), ("is", "old"))
    ),
    ((f"<{E}o2>", f"<{E}sensor>", f"<{E}thermo>"), 125_005),
]
INVENTORY = frozenset({(f"<{E}room1>", f"<{E}has>", f"<{E}thermo>")})
GIVEN = {f"{E}inventory": INVENTORY}
RSPQL = ("rspql", "rsp4j")
READS = "and GRAPH reads named graphs"
FORMS = {
    "rspql": "ON ex:s [RANGE PT3M STEP PT3M]",
    "rsp4j": "ON ex:s [RANGE PT3M STEP PT3M]",
    "rsp-js": "ON STREAM ex:s [RANGE 180000 STEP 180000]",
}


def text_of(where: str, dialect: str = "rspql", clauses: str = "", name: str = "ex:w") -> str:
    head = f"{PREFIX}REGISTER RStream ex:out AS\nSELECT *\n{clauses}"
    return f"{head}FROM NAMED WINDOW {name} {FORMS[dialect]}\nWHERE {{ {where} }}"


def bindings(text: str, dialect: str, static: dict[str, Dataset], *names: str) -> list[str]:
    """What some variables have in each row of the only report, without the namespace."""
    query = read(text, dialect)
    [report] = evaluate(query, {f"{E}s": stream(ELEMENTS)}, SEMANTICS, static=static)
    return sorted(
        " ".join(dict(row)[name].strip("<>").removeprefix(E) for name in names)
        for row in report.relation.rows.elements()
    )


@pytest.mark.parametrize("dialect", RSPQL)
def test_a_variable_of_graph_finds_no_window(dialect: str):
    text = text_of(
        "WINDOW ex:w { ?o ex:sensor ?s } GRAPH ?g { ?x ?p ?s }",
        dialect,
        "FROM NAMED ex:inventory\n",
    )
    assert bindings(text, dialect, GIVEN, "g", "o") == ["inventory o1", "inventory o2"]


@pytest.mark.parametrize("dialect", RSPQL)
def test_a_variable_of_window_finds_no_graph(dialect: str):
    text = text_of(
        "WINDOW ?w { ?o ex:sensor ?s } GRAPH ?g { ?x ?p ?s }", dialect, "FROM NAMED ex:inventory\n"
    )
    assert bindings(text, dialect, GIVEN, "w", "g", "o") == ["w inventory o1", "w inventory o2"]
    assert bindings(
        text_of("WINDOW ?w { ?x ?p ?s }", dialect, "FROM NAMED ex:inventory\n"),
        dialect,
        GIVEN,
        "w",
        "x",
    ) == ["w o1", "w o1", "w o2"]


@pytest.mark.parametrize("dialect", RSPQL)
@pytest.mark.parametrize("clause", ["FROM NAMED ex:w\n", "FROM NAMED GRAPH ex:w\n"])
def test_a_graph_with_the_name_of_a_window_is_another_one(dialect: str, clause: str):
    given = {f"{E}w": INVENTORY}
    both = text_of("WINDOW ex:w { ?o ex:sensor ?s } GRAPH ex:w { ?x ?p ?s }", dialect, clause)
    assert bindings(both, dialect, given, "x", "o") == ["room1 o1", "room1 o2"]
    window = text_of("WINDOW ex:w { ?x ?p ?s }", dialect, clause)
    assert bindings(window, dialect, given, "x") == ["o1", "o1", "o2"]


def test_several_windows_and_graphs():
    clauses = (
        f"FROM ex:k FROM NAMED ex:inventory FROM NAMED ex:w\n"
        f"FROM NAMED WINDOW ex:v {FORMS['rspql']}\n"
    )
    given = GIVEN | {f"{E}w": INVENTORY, f"{E}k": frozenset()}
    where = "WINDOW ?w { ?o ex:is ?s } GRAPH ?g { ?x ?p ?y }"
    found = bindings(text_of(where, "rspql", clauses), "rspql", given, "w", "g")
    assert found == ["v inventory", "v w", "w inventory", "w w"]


@pytest.mark.parametrize(
    "where",
    [
        "WINDOW ex:w { ?o ex:sensor ?s } FILTER EXISTS { GRAPH ?g { ?x ?p ?s } }",
        "WINDOW ex:w { ?o ex:sensor ?s } { SELECT DISTINCT ?s { GRAPH ?g { ?x ?p ?s } } }",
        "WINDOW ex:w { ?o ex:sensor ?s } GRAPH ?g { ?x (ex:has|ex:sensor)+ ?s }",
    ],
)
def test_graph_with_a_variable_wherever_it_stands(where: str):
    text = text_of(where, "rspql", "FROM NAMED ex:inventory\n")
    assert bindings(text, "rspql", GIVEN, "o") == ["o1", "o2"]
    assert bindings_of_nothing(where) == []


def bindings_of_nothing(where: str) -> list:
    """The reports where the graph is empty: the window would be found by a GRAPH that mixes."""
    query = read(text_of(where, "rspql", "FROM NAMED ex:inventory\n"), "rspql")
    empty = {f"{E}inventory": frozenset()}
    found = evaluate(query, {f"{E}s": stream(ELEMENTS)}, SEMANTICS, static=empty)
    return [report for report in found if report.relation]


def test_minus_takes_away_what_is_in_graphs_alone():
    text = text_of(
        "WINDOW ex:w { ?o ex:sensor ?s } MINUS { GRAPH ?g { ?o ?p ?s } }",
        "rspql",
        "FROM NAMED ex:inventory\n",
    )
    assert bindings(text, "rspql", GIVEN, "o") == ["o1", "o2"]


@pytest.mark.parametrize("dialect", FORMS)
@pytest.mark.parametrize(
    "where",
    [
        "WINDOW ex:w { GRAPH ?g { ?x ?p ?y } }",
        "WINDOW ex:w { GRAPH ex:g { ?x ?p ?y } }",
        "WINDOW ?w { ?x ?p ?y FILTER EXISTS { GRAPH ex:g { ?x ?p ?y } } }",
        "WINDOW ex:w { { SELECT ?x { GRAPH ?g { ?x ?p ?y } } } }",
    ],
)
def test_graph_within_window_is_unsupported(dialect: str, where: str):
    with pytest.raises(Unsupported, match="R2R-8: GRAPH within a window's pattern") as raised:
        read(text_of(where, dialect), dialect)
    assert raised.value.place == f"line 5 column {9 + where.index('GRAPH')}"


@pytest.mark.parametrize(
    ("dialect", "form"),
    [
        (
            "rspql",
            f"SELECT * FROM NAMED WINDOW <urn:window> {FORMS['rspql']} {{ WINDOW <urn:window> _ }}",
        ),
        ("cqels", "SELECT * { STREAM ex:s [NOW] _ }"),
        ("cqels", "SELECT * { STREAM ex:s [NOW] _ STREAM ex:s [ALL] { ?x ?p ?y } }"),
        ("cqels2", "REGISTER QUERY q AS SELECT * FROM STREAM s [NOW] { STREAM s _ }"),
        ("sparqlstream", "SELECT * { STREAM ex:s [NOW] _ }"),
    ],
)
def test_graph_within_the_pattern_of_any_window_is_unsupported(dialect: str, form: str):
    text = form.replace("_", "{ GRAPH ?g { ?x ?p ?y } }")
    with pytest.raises(Unsupported, match="R2R-8: GRAPH within a window's pattern") as raised:
        read(PREFIX + text, dialect)
    assert raised.value.place == f"line 2 column {text.index('GRAPH') + 1}"


@pytest.mark.parametrize("dialect", RSPQL)
@pytest.mark.parametrize(
    ("where", "at", "message"),
    [
        (
            "GRAPH ?g { ?x ?p ?y }",
            0,
            f"no WINDOW reads a window here, {READS}; write WINDOW ?g {{…}}",
        ),
        (
            "GRAPH ex:g { ?x ?p ?y } GRAPH ?g { ?x ?p ?y }",
            24,
            f"no WINDOW reads a window here, {READS}; write WINDOW ?g {{…}}",
        ),
        (
            "WINDOW ?w { ?x ?p ?y } GRAPH ex:w { ?x ?p ?y }",
            23,
            f"<{E}w> is a window, {READS}; write WINDOW <{E}w> {{…}}",
        ),
    ],
)
def test_graph_in_the_place_of_window_is_an_error(dialect: str, where: str, at: int, message: str):
    with pytest.raises(InvalidQuery) as raised:
        read(text_of(where, dialect), dialect)
    assert (raised.value.rule, raised.value.reason) == ("DIA-7", message)
    assert raised.value.place == f"line 5 column {9 + at}"


@pytest.mark.parametrize("word", ["GRAPH", "WINDOW"])
def test_rsp_js_does_not_tell_them_apart(word: str):
    """RSP-JS turns WINDOW into GRAPH: both read windows where there are no static graphs."""
    query = read(text_of(f"{word} ?w {{ ?x ?p ?y }}", "rsp-js"), "rsp-js")
    assert "{ GRAPH ?w { ?x ?p ?y } }" in query.body.text
    assert "GRAPH ?w" in render(query, "rsp-js")

    clauses = "FROM NAMED ex:inventory\n"
    with pytest.raises(Unsupported, match="a variable would find windows and static graphs"):
        read(text_of(f"{word} ?w {{ ?x ?p ?y }}", "rsp-js", clauses), "rsp-js")
    with pytest.raises(Unsupported, match=f"<{E}w> is a window and a static graph"):
        read(text_of(f"{word} ex:w {{ ?x ?p ?y }}", "rsp-js", "FROM NAMED ex:w\n"), "rsp-js")


def test_static_graphs_that_are_known_may_have_the_name_of_a_window():
    text = text_of("WINDOW ex:w { ?x ?p ?y }")
    assert "GRAPH ex:w" in read(text, "rspql", static=True, graphs=[f"{E}g"]).body.text
    assert "WINDOW ex:w" in read(text, "rspql", static=True, graphs=[f"{E}w"]).body.text
    with pytest.raises(Unsupported, match="a window and a static graph"):
        read(text_of("WINDOW ex:w { ?x ?p ?y }", "rsp-js"), "rsp-js", True, graphs=[f"{E}w"])


def test_a_relative_name_is_a_window_and_not_a_graph():
    text = text_of("WINDOW <w> { ?x ?p ?y } GRAPH ?g { ?x ?p ?z }", name="<w>")
    assert "WINDOW <urn:window:w> { ?x ?p ?y } GRAPH ?g" in read(text, "rspql").body.text


# Rendering


APART = "SELECT * { WINDOW <urn:w> { ?x ?p ?y } GRAPH ?g { ?y ?q ?z } }"


def named(body: str) -> Query:
    """A query over a window :w with this body."""
    window = Window("s", WindowKind.TIME, 180_000, 180_000, name="urn:w")
    return Query((window,), Body(body))


@pytest.mark.parametrize("dialect", RSPQL)
@pytest.mark.parametrize(
    ("body", "static", "written"),
    [
        (APART, False, "WINDOW <urn:w> { ?x ?p ?y } GRAPH ?g"),
        (APART.replace("<urn:w>", "?w"), True, "WINDOW ?w { ?x ?p ?y } GRAPH ?g"),
        ("SELECT * { WINDOW ?w { ?x ?p ?y } }", True, "WINDOW ?w"),
        ("SELECT * { WINDOW ?w { ?x ?p ?y } GRAPH <urn:w> { } }", True, "GRAPH <urn:w> { }"),
        ("SELECT * { GRAPH ?w { ?x ?p ?y } }", False, "WINDOW ?w { ?x ?p ?y }"),
        ("SELECT * { Graph ?w { ?x ?p ?y } }", False, "Window ?w { ?x ?p ?y }"),
        ("SELECT * { GRAPH <urn:w> { ?x ?p ?y } graph <urn:g> { } }", True, "graph <urn:g> { }"),
    ],
)
def test_what_is_rendered_reads_back(dialect: str, body: str, static: bool, written: str):
    text = render(named(body), dialect, static=static)
    assert written in text
    assert read(text, dialect, static) == named(body)


@pytest.mark.parametrize(
    ("dialect", "body", "static", "message"),
    [
        *(
            (name, APART, False, "has no WINDOW, which reads windows apart from named graphs")
            for name in DIALECTS
            if name not in RSPQL
        ),
        ("rspql", "SELECT * { WINDOW ?w { ?x ?p ?y } }", False, "write GRAPH"),
        ("rspql", "SELECT * { WINDOW <urn:w> { ?x ?p ?y } }", True, "write GRAPH"),
        ("rspql", "SELECT * { GRAPH ?w { ?x ?p ?y } }", True, "finds windows and static graphs"),
        ("rsp-js", "SELECT * { GRAPH ?w { ?x ?p ?y } }", True, "finds windows and static graphs"),
        (
            "rspql",
            "SELECT * { GRAPH <urn:w> { GRAPH ?g { } } }",
            False,
            "GRAPH within a window's pattern",
        ),
        (
            "rsp-js",
            "SELECT * { GRAPH <urn:w> { GRAPH ?g { } } }",
            False,
            "GRAPH within a window's pattern",
        ),
        ("rspql", "SELECT * { gRAPH <urn:w> { } }", False, "cannot of gRAPH"),
        ("rspql", "SELECT * FROM NAMED <urn:w> { GRAPH <urn:w> { } }", True, "rename one of them"),
        ("rspql", "SELECT * { WINDOW ?w { } GRAPH <urn:w> { } }", False, "leave the pattern out"),
    ],
)
def test_what_cannot_be_said_is_unrenderable(dialect: str, body: str, static: bool, message: str):
    with pytest.raises(Unrenderable, match=message) as raised:
        render(named(body), dialect, static=static)
    assert raised.value.rule == "DIA-6"
    assert raised.value.place


# The command


def run_command(
    folder: Path, where: str, clauses: str, *static: str
) -> subprocess.CompletedProcess:
    folder.joinpath("q.rspql").write_text(text_of(where, "rspql", clauses))
    folder.joinpath("s.nt").write_text("")
    stamp = "<http://www.w3.org/ns/prov#generatedAtTime>"
    dated = '"1970-01-01T00:00:01Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    folder.joinpath("s.trig").write_text(
        f"<urn:1> {stamp} {dated} . <urn:1> {{ <{E}o1> <{E}sensor> <{E}thermo> }}"
    )
    folder.joinpath("d.trig").write_text(
        f"<{E}w> {{ <{E}room1> <{E}has> <{E}thermo> }} <{E}k> <{E}k> <{E}k> ."
    )
    words = ["--dialect", "rspql", "--stream", "s.trig", "--semantics", "csparql", "t0=0"]
    return subprocess.run(
        [sys.executable, "-m", "refengine", "run", "q.rspql", *words, *static],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("definition", [[], ["--definition"]])
def test_the_command_reads_static_graphs_before_the_query(tmp_path: Path, definition: list[str]):
    """A file without an IRI has a graph with the name of the window, which WINDOW does not read."""
    options = ["--static", "d.trig", *definition]
    done = run_command(tmp_path, "WINDOW ex:w { ?x ?p ?y }", "", *options)
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    [found] = json.loads(line)["results"]["bindings"]
    assert found["x"]["value"] == f"{E}o1"
    assert json.loads(line)["witnesses"] == ["rdflib", "pyoxigraph"]


# Every dialect, and forms of GRAPH and FROM that it may not know


FORMS_OF_GRAPHS = (
    "GRAPH ?g { ?x ?p ?y }",
    "GRAPH ex:g { ?x ?p ?y }",
    "WINDOW ?g { ?x ?p ?y }",
    "WINDOW ex:w { ?x ?p ?y }",
    "STREAM ?s { ?x ?p ?y }",
    "STREAM ex:s [NOW] { GRAPH ?g { ?x ?p ?y } }",
    "GRAPH ex:s { GRAPH ?g { ?x ?p ?y } }",
    "WINDOW ex:w { WINDOW ex:v { ?x ?p ?y } }",
)
CLAUSES = (
    "",
    "FROM ex:g",
    "FROM NAMED ex:g",
    "FROM NAMED ex:w",
    "FROM NAMED GRAPH ex:g",
    "FROM NAMED WINDOW ex:w ON ex:s [RANGE PT1S STEP PT1S]",
    "FROM STREAM ex:s [RANGE 1s STEP 1s]",
    "FROM NAMED STREAM ex:s [RANGE 1s STEP 1s]",
    "FROM NAMED STREAM ex:s [NOW - 1 S]",
    "FROM STREAM s [NOW]",
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_form_is_read_or_refused_at_its_place(dialect: str):
    """One error, with a line and a column, the rule, and what was expected or is unsupported; and
    what is read is rendered as a text that reads back, or is named.
    """
    for one in CLAUSES:
        for other in CLAUSES:
            for where in FORMS_OF_GRAPHS:
                text = f"{PREFIX}SELECT * {one} {other} WHERE {{ {where} }}"
                try:
                    query = read(text, dialect)
                except RefengineError as error:
                    assert error.place.startswith("line "), text
                    assert error.rule, text
                    continue
                static = bool(query.body.graphs)
                try:
                    again = render(query, dialect, static=static)
                except Unrenderable:
                    continue
                assert read(again, dialect, static) == query, text
