"""The wordings of a query, and the file in which a benchmark declares its queries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.bench.queries import Origin, read_queries, table_of_queries
from conformance.bench.wordings import make_wordings, word_for_engine
from conformance.harness import engine_file
from refengine.model.errors import RefengineError, Unsupported

STREAM, OTHER = "http://e.org/s", "http://e.org/t"
WINDOW = {"stream": STREAM, "name": STREAM, "kind": "time", "size": 1000, "slide": 1000}
BODY = "PREFIX e: <http://e.org/> SELECT * { GRAPH e:s { ?a e:p ?b } GRAPH e:g { ?b e:q ?c } }"
TABLE = {"windows": [WINDOW], "body": BODY}


def test_a_query_over_windows_named_by_their_streams_has_three_wordings():
    """The default graph has what is merged; a named graph that is no window stays."""
    merged, declared, numbered = make_wordings(TABLE)
    assert declared is TABLE
    assert "name" not in merged["windows"][0]
    assert merged["body"] == BODY.replace("GRAPH e:s {", "{")
    assert numbered["windows"][0]["name"] == "urn:window:1"
    assert numbered["body"] == BODY.replace("GRAPH e:s {", "GRAPH <urn:window:1> {")


@pytest.mark.parametrize(
    ("where", "merged"),
    [
        ("{ GRAPH e:s { ?a e:p ?b } }", "{ ?a e:p ?b }"),
        ("{ GRAPH e:s { { ?a e:p ?b } } }", "{ { ?a e:p ?b } }"),
        ("{ GRAPH e:s { ?a e:p ?b } FILTER(?b > 1) }", "{ { ?a e:p ?b } FILTER(?b > 1) }"),
        ("{ GRAPH e:g { ?a e:p ?b } }", "{ GRAPH e:g { ?a e:p ?b } }"),
    ],
)
def test_a_pattern_that_is_all_of_where_leaves_no_group_behind(where, merged):
    """A group that the query itself has stays, and so does the pattern of a static graph."""
    head = "PREFIX e: <http://e.org/> SELECT * "
    wording, *_ = make_wordings({**TABLE, "body": head + where})
    assert wording["body"] == head + merged


def test_cqels_gets_no_group_in_a_stream():
    """It takes triple patterns and filters there, and nothing else."""
    table = {**TABLE, "body": f"SELECT * {{ GRAPH <{STREAM}> {{ ?a ?p ?b FILTER(?b > 1) }} }}"}
    *_, text = word_for_engine(engine_file.engine("cqels"), table, False)
    assert text == (
        "SELECT * {\nSTREAM <http://e.org/s> [RANGE 1s TUMBLING] { ?a ?p ?b FILTER(?b > 1) }\n}"
    )


@pytest.mark.parametrize(
    "windows",
    [
        [{**WINDOW, "name": "urn:w"}],
        [{key: value for key, value in WINDOW.items() if key != "name"}],
        [WINDOW, WINDOW],
    ],
)
def test_another_query_has_one_wording(windows):
    table = {"windows": windows, "body": "SELECT * { ?a ?b ?c }"}
    assert make_wordings(table) == (table,)


@pytest.mark.parametrize(
    ("engine", "has_static", "names"),
    [
        ("reference", True, [None, None]),
        ("csparql", True, [None, None]),
        ("rsp-js", True, [STREAM, OTHER]),
        ("cqels", True, ["urn:window:1", "urn:window:2"]),
        ("yasper", True, [STREAM, OTHER]),
    ],
)
def test_an_engine_gets_the_first_wording_that_its_language_can_say(engine, has_static, names):
    table = {
        "windows": [WINDOW, {**WINDOW, "stream": OTHER, "name": OTHER}],
        "body": f"SELECT * {{ GRAPH <{STREAM}> {{ ?a <urn:p> ?b }} "
        f"GRAPH <{OTHER}> {{ ?b <urn:p> ?c }} ?c <urn:q> ?d }}",
    }
    query, wording, text = word_for_engine(engine_file.engine(engine), table, has_static)
    assert [window.name for window in query.windows] == names
    assert [window.get("name") for window in wording["windows"]] == names
    assert text


def test_what_no_wording_can_say_is_unsupported_with_the_reason_against_the_query_itself():
    table = {**TABLE, "r2s": "Dstream"}
    with pytest.raises(Unsupported, match="C-SPARQL cannot state Dstream"):
        word_for_engine(engine_file.engine("csparql"), table, False)


FILE = """
prologue = '''
PREFIX a: <http://a.org/>
PREFIX ab: <http://ab.org/>
'''
[windows]
hour = { stream = "http://e.org/s", kind = "time", size = 10, slide = 10 }
[[query]]
name = "Q1"
question = "What is"
origin = "adapted"
place = "page 1"
windows = ["hour"]
body = "SELECT * { ?x ab:p ?y }"
"""


def test_a_query_gets_the_prefixes_that_it_uses_and_its_windows_the_names_of_their_streams(
    tmp_path,
):
    file = tmp_path / "queries.toml"
    file.write_text(FILE)
    [query] = read_queries(file).values()
    assert query.table["body"] == "PREFIX ab: <http://ab.org/>\nSELECT * { ?x ab:p ?y }"
    assert query.table["windows"][0]["name"] == "http://e.org/s"
    assert query.origin is Origin.ADAPTED and query.graphs == ()
    [row] = table_of_queries([query]).rows
    assert [cell.text for cell in row] == ["Q1", "What is", "–", "adapted", "page 1", "–"]
    [row] = table_of_queries([replace(query, features=("join", "static"))]).rows
    assert [cell.text for cell in row][:4] == ["Q1", "What is", "join, static", "–"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"adapted"', '"adopted"', "query Q1: QRY-1: origin must be one of public text"),
        ('place = "page 1"', "", "query Q1: QRY-1: key 'place' is missing"),
        ('["hour"]', '["huor"]', "query Q1, windows: QRY-1: unknown key 'huor'.*'hour'"),
        ('place = "page 1"', 'place = ""\nplaice = ""', "query Q1: QRY-1: unknown key 'plaice'"),
        ("slide = 10", "slide = 0", "query Q1.*WIN-1: slide must be an integer > 0, got 0"),
        ('"adapted"', '"ours"', "query Q1: QRY-1: origin must be one of public text"),
    ],
)
def test_a_malformed_declaration_is_an_error_that_names_the_query(tmp_path, old, new, message):
    file = tmp_path / "queries.toml"
    file.write_text(FILE.replace(old, new))
    with pytest.raises(RefengineError, match=message):
        read_queries(file)
