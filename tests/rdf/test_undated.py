"""IO-1, IO-3: what has no time is refused, static data or left out, alike in every form; and what
only describes a dated graph or a feed is in no element.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from jelly_files import PREFIXES, frames_to_jelly, statements_to_jelly
from refusals import refusal

from refengine.__main__ import main
from refengine.model.elements import XSD, literal
from refengine.model.errors import InvalidStream
from refengine.rdf.forms.reading import ReadingOptions, ReadStream, Undated
from refengine.rdf.sources import Piped, Source, Text
from refengine.rdf.streams import FORMS, read_stream_and_rest
from refengine.rdf.times import PROV_GENERATED_AT_TIME

DATE = f"<{PROV_GENERATED_AT_TIME}>"
OWL_ONTOLOGY = "<http://www.w3.org/2002/07/owl#Ontology>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def read(
    source: Source, undated: str = "refuse", time_predicate: str | None = None, base: str = ""
) -> ReadStream:
    options = ReadingOptions(time_predicate, undated=Undated(undated), base=base)
    return read_stream_and_rest(source, options)


def turtle(body: str, name: str = "s.ttl") -> Text:
    return Text(name, PREFIXES + body)


def times(found: ReadStream) -> list[int]:
    return [element.app for element in found.stream]


# Every form, with an element at 5 and a header, and one at 6 in between

Term = str
HEADER = ("<urn:header>", TYPE, OWL_ONTOLOGY)
FIRST = ("<urn:a>", "<urn:p>", '"1"')
SECOND = ("<urn:b>", "<urn:p>", '"2"')


def date(node: Term, app: int) -> tuple[Term, Term, Term]:
    return node, DATE, literal(str(app), XSD + "integer")


def lines(statements: Sequence[Sequence[Term]]) -> str:
    return "".join(f"{' '.join(statement)} .\n" for statement in statements)


SUBJECTS = [date("<urn:a>", 5), FIRST, HEADER, date("<urn:b>", 6), SECOND]
GRAPHS = [
    date("<urn:g>", 5),
    (*FIRST, "<urn:g>"),
    HEADER,
    (*SECOND, "<urn:h>"),
    date("<urn:h>", 6),
]
LOG = 'VERSION "1.1-messages"\n'
MESSAGES = [SUBJECTS[:2], [HEADER], SUBJECTS[3:]]
QUADS: list[tuple[tuple[Term, Term, Term], int | None]] = [(FIRST, 5), (HEADER, None), (SECOND, 6)]


def json_ld(statements: Sequence[Sequence[Term]]) -> list[dict[str, object]]:
    """Return nodes and graphs of JSON-LD."""

    def value(term: Term) -> dict[str, str]:
        if term.startswith("<"):
            return {"@id": term[1:-1]}
        lexical, _, datatype = term[1:].partition('"')
        return {"@value": lexical} | ({"@type": datatype[3:-1]} if datatype else {})

    nodes: list[dict[str, object]] = []
    for subject, predicate, object_, *graph in statements:
        node: dict[str, object] = {"@id": subject[1:-1], predicate[1:-1]: value(object_)}
        nodes.append({"@id": graph[0][1:-1], "@graph": [node]} if graph else node)
    return nodes


def trig(statements: Sequence[Sequence[Term]]) -> str:
    return "".join(
        f"{statement[3]} {{ {lines([statement[:3]])} }}\n"
        if len(statement) == 4
        else lines([statement])
        for statement in statements
    )


def table(mark: str) -> str:
    out = io.StringIO()
    rows = [("subject", "predicate", "object", "time"), *((*triple, app) for triple, app in QUADS)]
    if mark == ",":
        csv.writer(out).writerows(rows)
        return out.getvalue()
    return "".join(mark.join("" if c is None else str(c) for c in row) + "\n" for row in rows)


def json_lines() -> str:
    keys = ("subject", "predicate", "object")
    return "".join(
        json.dumps(dict(zip(keys, triple, strict=True)) | ({} if app is None else {"time": app}))
        + "\n"
        for triple, app in QUADS
    )


SOURCES: dict[str, str | bytes] = {
    "s.n3t": lines([(*triple, f'"{app}"') if app else triple for triple, app in QUADS]),
    "s.nt": lines(SUBJECTS),
    "s.ttl": lines(SUBJECTS),
    "s.nq": lines(GRAPHS),
    "s.trig": trig(GRAPHS),
    "s.jsonld": json.dumps(json_ld(GRAPHS)),
    "subjects.jsonld": json.dumps(json_ld(SUBJECTS)),
    "s.jelly": statements_to_jelly([(*s, "") if len(s) == 3 else s for s in GRAPHS]),
    "subjects.jelly": statements_to_jelly(SUBJECTS),
    "log.nt": LOG + "MESSAGE\n".join(map(lines, MESSAGES)),
    "log.ttl": LOG + "MESSAGE\n".join(map(lines, MESSAGES)),
    "log.nq": LOG + "MESSAGE\n".join(map(lines, [GRAPHS[:2], [HEADER], GRAPHS[3:]])),
    "log.trig": LOG + "MESSAGE\n".join(map(trig, [GRAPHS[:2], [HEADER], GRAPHS[3:]])),
    "s.ndjsonld": "".join(json.dumps({"@graph": json_ld(one)}) + "\n" for one in MESSAGES),
    "log.jelly": frames_to_jelly(MESSAGES),
    "s.ndjson": json_lines(),
    "s.jsonl": json_lines(),
    "s.csv": table(","),
    "s.tsv": table("\t"),
}
of_each_form = pytest.mark.parametrize("name", SOURCES)


def source(name: str) -> Source:
    text = SOURCES[name]
    return Piped(name, io.BytesIO(text if isinstance(text, bytes) else text.encode()), name)


def test_each_form_is_tried():
    assert {Path(name).suffix for name in SOURCES} == set(FORMS)


@of_each_form
def test_what_has_no_time_is_refused_and_the_message_names_the_choices(name):
    text = refusal(lambda: read(source(name)), InvalidStream)
    assert text.startswith(f"{name}:") and ": IO-1: " in text
    for words in ("--undated static", "--undated drop", "a log of messages (IO-3)"):
        assert words in text


@of_each_form
def test_what_has_no_time_is_static_data(name):
    found = read(source(name), "static")
    assert times(found) == [5, 6]
    assert found.static == {HEADER}
    assert found.notes == (f"{name}: 1 triple taken as static data (--undated static)",)


@of_each_form
def test_what_has_no_time_is_left_out_and_counted(name):
    found = read(source(name), "drop")
    assert times(found) == [5, 6]
    assert not found.static
    (note,) = found.notes
    assert note.startswith(f"{name}: 1 triple without a time left out (--undated drop), the first")


def test_a_choice_may_be_written_as_text_and_another_is_refused():
    options = ReadingOptions(undated="static")  # type: ignore[arg-type]
    assert read_stream_and_rest(source("s.ttl"), options).static == {HEADER}
    with pytest.raises(InvalidStream, match=r"^undated: IO-1: must be refuse, static or drop, got"):
        ReadingOptions(undated="ignore")  # type: ignore[arg-type]


def test_a_graph_without_a_time_is_a_static_graph():
    text = trig([*GRAPHS[:2], ("<urn:c>", "<urn:p>", '"3"', "<urn:undated>")])
    found = read(Text("s.trig", text), "static")
    assert times(found) == [5]
    assert found.static == {("<urn:c>", "<urn:p>", '"3"', "<urn:undated>")}
    with pytest.raises(InvalidStream, match=r"graph <urn:undated>: IO-1: no date: .*--undated"):
        read(Text("s.trig", text))
    (note,) = read(Text("s.trig", text), "drop").notes
    assert "1 triple without a time left out" in note


def test_a_row_without_a_time_is_treated_alike():
    columns = Text(
        "c.toml", 'subject = "urn:{v}"\ntime = "t"\n[predicates]\n"urn:p" = {text="{v}"}'
    )
    text = "t,v\n5,a\n,b\n6,c\n"
    for undated in Undated:
        options = ReadingOptions(undated=undated, columns=columns)
        if undated is Undated.REFUSE:
            with pytest.raises(
                InvalidStream, match=r"^s.csv:3: IO-1: column 't': no time; with --und"
            ):
                read_stream_and_rest(Text("s.csv", text), options)
            continue
        found = read_stream_and_rest(Text("s.csv", text), options)
        assert times(found) == [5, 6] and len(found.notes) == 1
        assert len(found.static) == (undated is Undated.STATIC)


# What describes a dated graph: W3C RSP community group, RDF Stream Models: Abstract Syntax and
# Semantics, "Timestamped graphs"

METADATA = [("<urn:g>", "<urn:by>", "<urn:gateway>"), ("<urn:gateway>", "<urn:in>", "<urn:room>")]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("s.nq", lambda quads: lines(quads)),
        ("s.trig", trig),
        ("s.jsonld", lambda quads: json.dumps(json_ld(quads))),
        ("s.jelly", lambda quads: statements_to_jelly((*q, "")[:4] for q in quads)),
        ("log.nq", lambda quads: LOG + lines(quads)),
        ("log.trig", lambda quads: LOG + trig(quads)),
        ("s.ndjsonld", lambda quads: json.dumps({"@graph": json_ld(quads)})),
    ],
)
def test_what_the_default_graph_says_of_a_dated_graph_is_in_no_element(name, write):
    """Of `<urn:g>`, and of the node that this leads to: the element is the graph's content."""
    text = write([*METADATA, *GRAPHS[:2]])
    data = text if isinstance(text, bytes) else text.encode()
    found = read(Piped(name, io.BytesIO(data), name))
    assert [(e.app, e.graph) for e in found.stream] == [(5, {FIRST})]
    assert found.notes == (
        f"{name}: 2 triples about graphs or a feed left out, since no element has them (IO-1); "
        "--undated static makes them static data",
    )
    assert read(Piped(name, io.BytesIO(data), name), "static").static == set(METADATA)


def test_a_graph_may_be_dated_by_its_own_triples():
    """As a message is: if one date is stated in it, and the default graph states none."""
    inner = f"<urn:o> {DATE} 7 ; <urn:p> 1 ."
    found = read(Text("s.trig", f"<urn:g> {{ {inner} }} <urn:h> {{ {inner} }} <urn:h> {DATE} 9 ."))
    assert times(found) == [7, 9]
    with pytest.raises(InvalidStream, match="graph <urn:g>: IO-1: two dates"):
        read(Text("s.trig", f"<urn:g> {{ {inner} <urn:o2> {DATE} 8 }}"))


def test_a_date_of_a_graph_that_is_not_there_is_set_aside():
    text = trig([*GRAPHS[:2], date("<urn:elsewhere>", 9)])
    with pytest.raises(
        InvalidStream, match="a date of a graph that is not in the file; with --undated"
    ):
        read(Text("s.trig", text))
    assert read(Text("s.trig", text), "static").static == {date("<urn:elsewhere>", 9)}


# Feeds: Linked Data Event Streams, TREE

PAGE = """
:feed a ldes:EventStream ; ldes:timestampPath dct:created ; ldes:versionOfPath dct:isVersionOf ;
  tree:shape [ :closed false ] ; tree:view :page1 ; tree:member :lamp7v1, :lamp7v2, :elsewhere .
:page1 a tree:Node ; dct:created "2024-03-01T11:00:00Z"^^xsd:dateTime ;
  tree:relation [ a tree:GreaterThanRelation ; tree:node :page2 ] .
:lamp7v1 dct:isVersionOf :lamp7 ; dct:created "2024-03-01T10:00:05.1234567Z"^^xsd:dateTime ;
  :part [ :on true ; dct:created "2020-01-01T00:00:00Z"^^xsd:dateTime ] .
:lamp7v2 dct:isVersionOf :lamp7 ; dct:created "2024-03-01T10:00:35.9999999Z"^^xsd:dateTime .
"""
T1, T2 = 1_709_287_205_123, 1_709_287_235_999  # 2024-03-01T10:00:05.123Z, …:35.999Z


def test_the_members_of_a_feed_are_its_elements():
    """By the feed's own timestampPath. The page is dated, too, but no member, and a dated node that
    a member leads to is of the member.
    """
    found = read(turtle(PAGE))
    assert times(found) == [T1, T2]
    assert [len(element.graph) for element in found.stream] == [5, 2]
    note, absent = found.notes
    assert "1 member has no triples in the file" in absent and "elsewhere" in absent
    # 8 of the feed, of its shape 1, 3 of the page and 2 of its relation
    assert "14 triples about graphs or a feed left out" in note
    assert len(read(turtle(PAGE), "static").static) == 14


@pytest.mark.parametrize("back", [":feed", ":page1", "[ :partOf :feed ]"])
def test_a_member_that_leads_back_to_its_feed_does_not_take_its_description(back):
    """What describes the feed and its pages is in no element, whatever leads to them (IO-3)."""
    before, after = read(turtle(PAGE)), read(turtle(f"{PAGE}\n:lamp7v1 :partOf {back} ."))
    assert times(after) == times(before) == [T1, T2]
    sizes = [[len(element.graph) for element in found.stream] for found in (before, after)]
    added = 2 if back.startswith("[") else 1
    assert sizes[1] == [sizes[0][0] + added, sizes[0][1]]
    assert "14 triples about graphs or a feed left out" in after.notes[0]


def test_a_page_without_members_has_no_elements():
    """The feed and its page have dates of their own, and are no members."""
    text = turtle(
        ":feed a ldes:EventStream ; ldes:timestampPath dct:created ; dct:created 5 ;\n"
        "  tree:view :page1 . :page1 a tree:Node ; dct:created 6 ."
    )
    found = read(text)
    assert times(found) == []
    assert "6 triples about graphs or a feed left out" in found.notes[0]


@pytest.mark.parametrize("name", ["s.ttl", "s.trig"])
def test_a_note_names_a_member_that_is_elsewhere(name):
    """No element is lost without a word, though a page may name members of another file."""
    found = read(
        turtle(
            ":feed tree:member :v1, :v2, :v3 ; ldes:timestampPath dct:created . :v1 dct:created 5 ."
            + ":v1 { :lamp7 :on true }" * name.endswith("trig"),
            name,
        )
    )
    assert times(found) == [5]
    assert found.notes[1] == (
        f"{name}: 2 members have no triples in the file, so there is no element of them (IO-3), "
        "the first is '<http://example.org/v2>'"
    )


def test_a_stated_predicate_is_used_in_place_of_the_feeds():
    text = PAGE.replace("dct:created dct:", "prov:generatedAtTime ; ldes:versionOfPath dct:")
    text = text.replace("timestampPath dct:created", "timestampPath prov:generatedAtTime")
    assert times(read(turtle(text), time_predicate="http://purl.org/dc/terms/created")) == [T1, T2]
    message = refusal(lambda: read(turtle(text)), InvalidStream)
    assert "subject <http://example.org/lamp7v1>: IO-1: no date, nor does a member" in message
    assert "names another predicate, such as <http://purl.org/dc/terms/created>" in message


@pytest.mark.parametrize(
    ("paths", "words"),
    [
        (
            "dct:created, dct:issued",
            "ldes:timestampPath is '<http://purl.org/dc/terms/created>' and",
        ),
        ("( dct:a dct:created )", "ldes:timestampPath is a path that is no predicate"),
    ],
)
def test_a_feed_that_names_no_one_predicate_needs_the_users(paths, words):
    text = turtle(PAGE.replace("timestampPath dct:created", f"timestampPath {paths}"))
    with pytest.raises(InvalidStream, match="--time-predicate names one predicate") as error:
        read(text)
    assert words in str(error.value)
    assert times(read(text, time_predicate="http://purl.org/dc/terms/created")) == [T1, T2]


def test_what_is_no_member_is_set_aside():
    text = turtle(PAGE + ':other dct:created "2024-03-01T10:00:00Z"^^xsd:dateTime .')
    with pytest.raises(InvalidStream, match="other>: IO-1: no tree:member names it, and no member"):
        read(text)
    assert times(read(text, "drop")) == [T1, T2]


def test_a_member_may_be_a_named_graph():
    text = turtle(
        ":feed tree:member :v1 ; ldes:timestampPath dct:created . :v1 { :lamp7 :on true }\n"
        ':v1 dct:created "2024-03-01T10:00:05.123Z"^^xsd:dateTime .',
        "s.trig",
    )
    found = read(text)
    assert times(found) == [T1] and len(found.stream.elements[0].graph) == 1


# SOSA, OWL-Time, relative IRIs

RESULT_TIME = "http://www.w3.org/ns/sosa/resultTime"


def test_a_result_that_points_back_is_of_its_observation():
    """sosa:isResultOf is the inverse of sosa:hasResult, and leads from object to subject."""
    found = read(
        turtle(
            ':o1 sosa:resultTime "1970-01-01T00:00:01Z"^^xsd:dateTime .\n'
            ":r1 sosa:isResultOf :o1 ; :value 21.5 ; :unit :celsius . :celsius :label 'C' .\n"
            ':o2 sosa:resultTime "1970-01-01T00:00:02Z"^^xsd:dateTime ; sosa:hasResult [ :v 1 ] .'
        ),
        time_predicate=RESULT_TIME,
    )
    assert times(found) == [1000, 2000]
    assert [len(element.graph) for element in found.stream] == [5, 3]


@pytest.mark.parametrize("predicate", ["inXSDDateTimeStamp", "inXSDDateTime"])
def test_a_date_may_be_an_instant_of_owl_time(predicate):
    instant = f'"1970-01-01T00:00:01Z"^^xsd:{predicate[5:6].lower()}{predicate[6:]}'
    of_subject = f":o sosa:resultTime [ a time:Instant ; time:{predicate} {instant} ] ; :v 1 ."
    of_graph = f":g sosa:resultTime :t . :t time:{predicate} {instant} . :g {{ :o :v 1 }}"
    for text in (
        turtle(of_subject),
        turtle(of_graph, "s.trig"),
        turtle(of_subject.join(("@version '1.1-messages' . ", ""))),
    ):
        assert times(read(text, time_predicate=RESULT_TIME)) == [1000]
    two = of_subject.replace(instant, f'{instant}, "1970-01-01T00:00:02Z"^^xsd:dateTime')
    with pytest.raises(InvalidStream, match="two dates of the instant _:"):
        read(turtle(two), time_predicate=RESULT_TIME)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.ttl", f"<a> {DATE} 5 ."),
        ("s.trig", f"<g> {{ <a> <p> 1 }} <g> {DATE} 5 ."),
        ("s.jsonld", json.dumps({"@id": "a", PROV_GENERATED_AT_TIME: 5})),
        ("s.ndjsonld", json.dumps({"@id": "a", PROV_GENERATED_AT_TIME: 5})),
    ],
)
def test_relative_iris_are_resolved_against_the_users_base(name, text):
    found = read(Text(name, text), base="http://example.org/x/")
    assert {subject for e in found.stream for subject, _, _ in e.graph} == {
        "<http://example.org/x/a>"
    }
    with pytest.raises(InvalidStream, match="relative IRI"):
        read(Text(name, text))
    with pytest.raises(InvalidStream, match=r"^base of the data: IO-1: relative IRI 'x'"):
        read(Text(name, text), base="x")


@pytest.mark.parametrize("messages", [MESSAGES, [[(*s, "")[:4] for s in one] for one in MESSAGES]])
def test_a_file_of_jelly_may_declare_namespaces(messages):
    data = frames_to_jelly(messages, {"x": "urn:x:", "y": "http://example.org/y#"})
    assert b"http://example.org/y#" in data
    assert times(read(Piped("s.jelly", io.BytesIO(data)), "drop")) == [5, 6]


# The command line

QUERY = """
windows = [{ stream = "s", kind = "time", size = 60000, slide = 60000 }]
body = "SELECT ?o ?who WHERE { ?o <http://example.org/by> ?g . ?g <http://example.org/at> ?who }"
"""
STREAM = PREFIXES + ":o :by :gateway ; prov:generatedAtTime 5 .\n:header :at :x . _:b :at :y .\n"


def run(folder: Path, *words: str) -> int:
    (folder / "q.toml").write_text(QUERY)
    (folder / "s.ttl").write_text(STREAM + ":gateway2 :at :nowhere .\n")
    command = ["run", str(folder / "q.toml"), "--stream", str(folder / "s.ttl")]
    return main([*command, "--semantics", "csparql", "t0=0", *words])


def test_the_command_line_takes_the_choice(tmp_path, capsys):
    assert run(tmp_path) == 2
    assert "with --undated static of `refengine run` what has no time" in capsys.readouterr().err

    (tmp_path / "static.ttl").write_text(PREFIXES + ":gateway :at :room7 . _:b :at :z .")
    assert run(tmp_path, "--undated", "static", "--static", str(tmp_path / "static.ttl")) == 0
    out, err = capsys.readouterr()
    (row,) = json.loads(out)["results"]["bindings"]
    assert row["who"]["value"] == "http://example.org/room7"
    assert f"refengine: note: {tmp_path}/s.ttl: 3 triples taken as static data" in err

    assert run(tmp_path, "--undated", "drop") == 0
    assert f"{tmp_path}/s.ttl: 3 triples without a time left out" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        run(tmp_path, "--undated", "ignore")
    assert "invalid choice: 'ignore' (choose from" in capsys.readouterr().err


def test_static_data_of_a_streams_file_joins_the_stream(tmp_path, capsys):
    (tmp_path / "q.toml").write_text(QUERY)
    (tmp_path / "s.trig").write_text(
        PREFIXES + ":g { :o :by :gateway } :g prov:generatedAtTime 5 . :gateway :at :room7 ."
    )
    words = ["run", str(tmp_path / "q.toml"), "--stream", str(tmp_path / "s.trig")]
    assert main([*words, "--undated", "static", "--semantics", "csparql", "t0=0"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["results"]["bindings"]
    assert row["who"]["value"] == "http://example.org/room7"
