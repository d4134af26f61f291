"""IO-1, IO-3: each form of a stream, read from a fixture, written and read back, and malformed."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jelly_files import frames_to_jelly, statements_to_jelly
from refusals import refusal

from refengine.__main__ import main
from refengine.model.elements import XSD, is_blank, literal, parse_literal
from refengine.model.errors import ForbiddenAccess, InvalidStream
from refengine.rdf.documents import read_all_static, read_static
from refengine.rdf.sources import Piped, Text
from refengine.rdf.streams import FORMS, read_stream
from refengine.rdf.times import PROV_GENERATED_AT_TIME

FIXTURES = Path(__file__).parents[2] / "fixtures" / "streams"
E = "http://example.org/"
RESULT_TIME = "http://www.w3.org/ns/sosa/resultTime"
DATE = f"<{PROV_GENERATED_AT_TIME}>"
OBSERVATIONS = [("o1", "s1", "20.5", 1), ("o3", "s2", "21.0", 3), ("o2", "s1", "19.75", 3)]


def iri(name: str) -> str:
    return f"<{E}{name}>"


def expected(parts: str) -> list[tuple[int, frozenset]]:
    """The observations as elements: with their value, sensor and date, as far as `parts` says."""
    elements = []
    for name, sensor, value, second in OBSERVATIONS:
        triples = {
            "value": (iri(name), iri("value"), literal(value, XSD + "double")),
            "sensor": (iri(name), iri("sensor"), iri(sensor)),
            "date": (
                iri(name),
                f"<{RESULT_TIME}>",
                literal(f"1970-01-01T00:00:0{second}Z", XSD + "dateTime"),
            ),
        }
        elements.append((second * 1000, frozenset(triples[part] for part in parts.split())))
    return elements


GRAPHS = "value sensor"  # the date is no part of an element
WHOLE = "value sensor date"
IN_FIXTURES = {
    "observations.n3t": "value",
    "observations.nt": WHOLE,
    "observations.ttl": WHOLE,
    "observations.nq": GRAPHS,
    "observations.trig": GRAPHS,
    "observations.jsonld": WHOLE,
    "observations.jelly": GRAPHS,
    "messages.nt": WHOLE,
    "messages.ttl": WHOLE,
    "messages.nq": GRAPHS,
    "messages.trig": GRAPHS,
    "messages.ndjsonld": WHOLE,
    "messages.jelly": WHOLE,
    "quads.ndjson": GRAPHS,
    "quads.csv": GRAPHS,
    "quads.tsv": GRAPHS,
    "readings.csv": GRAPHS,
}


def read(path, columns=None):
    return read_stream(path, RESULT_TIME, columns=columns)


def columns_of(name: str) -> Path | None:
    return FIXTURES / "readings.toml" if name.startswith("readings") else None


@pytest.mark.parametrize("name", IN_FIXTURES)
def test_a_fixture_is_its_observations(name):
    stream = read(FIXTURES / name, columns_of(name))
    assert [(e.app, frozenset(e.graph)) for e in stream] == expected(IN_FIXTURES[name])
    assert stream.ordered


@pytest.mark.parametrize("name", IN_FIXTURES)
def test_a_fixture_is_read_packed_and_piped(name):
    data = gzip.compress((FIXTURES / name).read_bytes())
    piped = Piped(f"{name}.gz", io.BytesIO(data))
    assert read(piped, columns_of(name)) == read(FIXTURES / name, columns_of(name))


def test_each_form_has_a_fixture():
    alike = {".jsonl": ".ndjson"}
    assert {alike.get(end, end) for end in FORMS} == {Path(name).suffix for name in IN_FIXTURES}


@pytest.mark.parametrize("name", ["s.jsonl", "s.NDJSON"])
def test_json_lines_have_two_ends(name):
    text = (FIXTURES / "quads.ndjson").read_text()
    assert read(Text(name, text)) == read(FIXTURES / "quads.ndjson")


# Round trips

NODES = st.sampled_from(["<urn:a>", "<urn:b>", "<urn:é>", "_:x", "_:y"])
LEXICAL = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"]) | st.sampled_from('\t\n",'), max_size=5
)
LITERALS = st.one_of(
    st.builds(literal, LEXICAL),
    st.builds(lambda text: literal(text, language="en-gb"), LEXICAL),
    st.builds(lambda text: literal(text, XSD + "double"), LEXICAL),
)
TRIPLES = st.tuples(NODES, st.sampled_from(["<urn:p>", "<urn:q>"]), NODES | LITERALS)
STREAMS = st.lists(
    st.tuples(st.integers(-(2**63), 2**63 - 1), st.frozensets(TRIPLES, min_size=1, max_size=3)),
    max_size=4,
)
Drawn = list[tuple[int, frozenset[tuple[str, str, str]]]]


def line(*terms: str) -> str:
    """A line of N-Quads; the line feeds of literals are escaped already."""
    return " ".join(terms) + " .\n"


def date(number: int, app: int) -> tuple[str, str, str]:
    return f"<urn:date:{number}>", DATE, literal(str(app), XSD + "integer")


def write_graphs(stream: Drawn) -> str:
    return "".join(
        line(*date(number, app))
        + "".join(line(*t, f"<urn:date:{number}>") for t in sorted(triples))
        for number, (app, triples) in enumerate(stream)
    )


def write_trig(stream: Drawn) -> str:
    return "".join(
        line(*date(number, app))
        + f"<urn:date:{number}> {{ {' '.join(line(*t) for t in sorted(triples))} }}\n"
        for number, (app, triples) in enumerate(stream)
    )


def write_messages(stream: Drawn) -> str:
    """A log; that all messages share their blank nodes' labels is no matter."""
    return 'VERSION "1.1-messages"\n' + "MESSAGE\n".join(
        "".join(map(lambda t: line(*t), sorted(triples))) + line(*date(number, app))
        for number, (app, triples) in enumerate(stream)
    )


def sparql_json(term: str) -> dict[str, str]:
    if is_blank(term):
        return {"type": "bnode", "value": term[2:]}
    if term.startswith("<"):
        return {"type": "uri", "value": term[1:-1]}
    lexical, datatype, language = parse_literal(term)
    if language:
        return {"type": "literal", "value": lexical, "xml:lang": language}
    return {"type": "literal", "value": lexical, "datatype": datatype}


def rows(stream: Drawn) -> Iterable[dict]:
    for number, (app, triples) in enumerate(stream):
        for triple in sorted(triples):
            yield dict(
                zip(
                    ("subject", "predicate", "object", "graph", "time"),
                    (*triple, f"<urn:g:{number}>", app),
                    strict=True,
                )
            )


def write_json_lines(stream: Drawn) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows(stream))


def write_json_objects(stream: Drawn) -> str:
    parts = ("subject", "predicate", "object")
    return "".join(
        json.dumps(row | {part: sparql_json(row[part]) for part in parts}, ensure_ascii=False)
        + "\n"
        for row in rows(stream)
    )


def write_table(stream: Drawn) -> str:
    out = io.StringIO()
    table = csv.DictWriter(out, ("time", "graph", "object", "subject", "predicate"))
    table.writeheader()
    table.writerows(rows(stream))
    return out.getvalue()


def write_tabbed(stream: Drawn) -> str:
    keys = ("graph", "time", "subject", "predicate", "object")
    lines = [keys, *([str(row[key]).replace("\t", "\\t") for key in keys] for row in rows(stream))]
    return "".join("\t".join(cells) + "\n" for cells in lines)


def write_json_ld(stream: Drawn) -> str:
    graphs = []
    for number, (app, triples) in enumerate(stream):
        graphs.append(
            {
                "@id": f"urn:date:{number}",
                PROV_GENERATED_AT_TIME: {"@value": str(app), "@type": XSD + "integer"},
                "@graph": [json_ld_node(triple) for triple in sorted(triples)],
            }
        )
    return json.dumps(graphs)


def write_json_ld_lines(stream: Drawn) -> str:
    lines = []
    for number, (app, triples) in enumerate(stream):
        nodes = [json_ld_node(triple) for triple in [*sorted(triples), date(number, app)]]
        lines.append(json.dumps({"@graph": nodes}) + "\n")
    return "".join(lines)


def json_ld_node(triple: Sequence[str]) -> dict:
    subject, predicate, object_ = triple
    return {"@id": subject.strip("<>"), predicate.strip("<>"): json_ld_value(object_)}


def json_ld_value(term: str) -> dict[str, str]:
    if not term.startswith('"'):
        return {"@id": term.strip("<>")}
    lexical, datatype, language = parse_literal(term)
    if language:
        return {"@value": lexical, "@language": language}
    return {"@value": lexical, "@type": datatype}


def write_jelly_graphs(stream: Drawn) -> bytes:
    return statements_to_jelly(
        quad
        for number, (app, triples) in enumerate(stream)
        for quad in [
            (*date(number, app), ""),
            *((*triple, f"<urn:date:{number}>") for triple in sorted(triples)),
        ]
    )


def write_jelly_messages(stream: Drawn) -> bytes:
    return frames_to_jelly(
        [[*sorted(triples), date(number, app)] for number, (app, triples) in enumerate(stream)]
    )


# of each form: the writer, and whether a blank node is of one element and its date is in it
WRITERS: dict[str, tuple[Callable[[Drawn], str | bytes], bool]] = {
    "s.nq": (write_graphs, False),
    "s.trig": (write_trig, False),
    "s.jsonld": (write_json_ld, False),
    "s.jelly": (write_jelly_graphs, False),
    "log.nt": (write_messages, True),
    "log.nq": (write_messages, True),
    "log.ttl": (write_messages, True),
    "log.trig": (write_messages, True),
    "s.ndjsonld": (write_json_ld_lines, True),
    "log.jelly": (write_jelly_messages, True),
    "s.ndjson": (write_json_lines, False),
    "s.jsonl": (write_json_objects, False),
    "s.csv": (write_table, False),
    "s.tsv": (write_tabbed, False),
}


def renamed(elements: Iterable[tuple[int, frozenset]], has_own_labels: bool) -> list:
    """Elements whose blank nodes are named by what they are in: a node with all its triples.

    Two streams are the same for a test if these are equal: a node is told by its triples, the nodes
    in them left out, in its element or in the stream.
    """
    elements = list(elements)
    signatures: dict[object, set] = {}
    for number, (_, graph) in enumerate(elements):
        for triple in graph:
            for term in filter(is_blank, triple):
                scope = (number, term) if has_own_labels else term
                shape = tuple("self" if t == term else "node" if is_blank(t) else t for t in triple)
                signatures.setdefault(scope, set()).add((number, shape))
    return [
        (
            app,
            frozenset(
                tuple(
                    frozenset(signatures[(number, t) if has_own_labels else t])
                    if is_blank(t)
                    else t
                    for t in triple
                )
                for triple in graph
            ),
        )
        for number, (app, graph) in enumerate(elements)
    ]


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=25)
@given(STREAMS)
def test_a_stream_reads_back_as_it_was_written(name, drawn):
    write, has_own_labels = WRITERS[name]
    written = write(drawn)
    if name.endswith("jelly") and not drawn:
        return  # the library writes no file
    data = written if isinstance(written, bytes) else written.encode()
    found = [(e.app, frozenset(e.graph)) for e in read_stream(Piped(name, io.BytesIO(data)))]
    if has_own_labels:
        drawn = [(app, graph | {date(n, app)}) for n, (app, graph) in enumerate(drawn)]
        labels = [{t for s in graph for t in s if is_blank(t)} for _, graph in found]
        assert sum(map(len, labels)) == len(set().union(*labels))
    assert renamed(found, has_own_labels) == renamed(drawn, has_own_labels)


# What is malformed, with its place and its message

LITERAL_TIME = f'"5"^^<{XSD}integer>'
DATED = f"<urn:a> {DATE} {LITERAL_TIME} .\n"
LOG = 'VERSION "1.1-messages"\n'
QUAD = {"subject": "<urn:a>", "predicate": "<urn:p>", "object": "<urn:b>", "time": 5}
HEADER = "subject,predicate,object,time\n"


def quad(**changes: object) -> str:
    """A line with a quad, changed; None leaves a key out."""
    changed = {key: value for key, value in (QUAD | changes).items() if value is not None}
    return json.dumps(changed)


MALFORMED = {
    "s.nt": [
        ("<urn:a> <urn:p> .", ":1: ", "must be s p o; got 2 terms"),
        (
            "<urn:a> <urn:p> <urn:b> .",
            ":1: subject <urn:a>: ",
            "no date, nor does a subject with",
        ),
        (DATED + "\n<urn:b> <urn:p> 5 .", ":3: ", "no RDF term at column 17: '5 .'"),
        (DATED + DATED.replace('"5"', '"6"'), ":2: subject <urn:a>: ", "two dates: "),
        (DATED.replace('"5"', '"x"'), ":1: subject <urn:a>: ", "a date must be an xsd:dateTime"),
        (DATED.replace("integer", "date"), ":1: ", "or an integer (ms), got "),
        (DATED + "_:b <urn:p> _:b .", ":2: subject _:b: ", "no date, nor does a subject"),
        (DATED.replace("urn:a", "a"), ":1: ", "relative IRI 'a'"),
        (DATED + '"x" <urn:p> <urn:b> .', ":2: ", "subject"),
        (DATED + "MESSAGE\n", ":2: ", "MESSAGE, but before it no VERSION"),
        (DATED.replace('"5"', f'"{2**63}"'), ":1: subject <urn:a>: ", "t_app must be within 64"),
    ],
    "s.ttl": [
        ("<urn:a> <urn:p> .", ":1: ", "not Turtle"),
        ("<urn:a> <urn:p> 5 .", ":1: subject <urn:a>: ", "--time-predicate names another"),
        (DATED + "<urn:b> :p 5 .", ":2: ", "prefix : has not been declared"),
        (f"<urn:a> {DATE} 5, 6 .", ":1: subject <urn:a>: ", "two dates: "),
        (f"<urn:a> {DATE} 5.5 .", ":1: ", "a date must be an xsd:dateTime or an integer"),
        (f"<urn:a> {DATE} true .", ":1: ", "a date must be"),
        (f"<urn:a> {DATE} [] .", ":1: ", "a date must be"),
        (DATED + "[] <urn:p> <urn:a> .", ":2: ", "no date, nor does a subject"),
        (DATED + "<urn:g> { <urn:a> <urn:p> 1 }", ":2: ", "not Turtle"),
        (DATED + '<urn:a> <urn:p> "x"@message-x-toolongtag .', ":2: ", "RFC 5646"),
        (DATED + "<b> <urn:p> 5 .", ":2: ", "relative IRI 'b'; write it in full or give @base"),
    ],
    "log.nt": [
        ("MESSAGE\n" + LOG, ":1: ", 'before it no VERSION "1.1-messages"'),
        (LOG + "<urn:a> <urn:p> <urn:b> .", ":2: message 1: ", "no date: "),
        (LOG + DATED + "MESSAGE\n<urn:a> <urn:p> <urn:b> .", ":4: message 2: ", "no date: "),
        ('VERSION "1.1-message"\n' + DATED, ":1: ", "did you mean '1.1-messages'?"),
        ('VERSION "2-messages"\n' + DATED, ":1: ", "no version of RDF: '2-messages'"),
        (LOG + DATED + DATED.replace('"5"', '"6"'), ":2: message 1: ", "two dates: "),
        (LOG + "MESSAGE .\n", ":2: ", "no RDF term at column 1: 'MESSAGE .'"),
        (LOG + "MESSAGES\n", ":2: ", "no RDF term at column 1"),
        (LOG + "message\n", ":2: ", "no RDF term at column 1"),
        (LOG + DATED.replace("integer", "string"), ":2: message 1: ", "a date must be"),
        (
            f"{LOG}<urn:a> <urn:p> <urn:b> <urn:g> .\n<urn:a> <urn:p> <urn:b> <urn:h> .",
            ":2: ",
            "a line of N-Triples has no graph: it must be s p o, got 4 terms",
        ),
    ],
    "log.nq": [
        (
            f"{LOG}<urn:a> <urn:p> <urn:b> <urn:g> .\n<urn:a> <urn:p> <urn:b> <urn:h> .",
            ":2: message 1: ",
            "2 named graphs; a message is one element",
        ),
        ("MESSAGE\n" + LOG, ":1: ", 'before it no VERSION "1.1-messages"'),
        (LOG + "<urn:a> <urn:p> <urn:b> .", ":2: message 1: ", "no date: "),
        (LOG + "<urn:a> <urn:p> <urn:b> <urn:g> .", ":2: graph <urn:g>: ", "no date: "),
        (LOG + DATED + "MESSAGE\n<urn:a> <urn:p> <urn:b> .", ":4: message 2: ", "no date: "),
        ('VERSION "1.1-message"\n' + DATED, ":1: ", "did you mean '1.1-messages'?"),
        (LOG + DATED + DATED.replace('"5"', '"6"'), ":2: message 1: ", "two dates: "),
        (LOG + DATED.replace(" .", ""), ":2: ", "no dot at column "),
        (LOG + "<urn:a> <urn:p> <urn:b> <urn:g> <urn:h> .", ":2: ", "got 5 terms"),
        (LOG + '<urn:a> <urn:p> <urn:b> "g" .', ":2: ", "graph"),
        (LOG + "MESSAGES\n", ":2: ", "no RDF term at column 1"),
    ],
    "log.trig": [
        (DATED + "MESSAGE\n", ":2: ", 'before it no VERSION "1.1-messages"'),
        (LOG + "<urn:g> { MESSAGE }", ":2: ", "MESSAGE within a graph"),
        (
            LOG + "<urn:a> <urn:p> <urn:b> ; MESSAGE",
            ":2: ",
            "MESSAGE within a graph or a statement",
        ),
        (LOG + "<urn:a> <urn:p> <urn:b> MESSAGE", ":2: ", "A dot is expected at the end"),
        (LOG + "<urn:a> <urn:p> MESSAGE", ":2: ", "not TriG"),
        (LOG + "@message", ":2: ", "not TriG"),
        (LOG + "<urn:g> { <urn:a> <urn:p> 1 }", ":2: graph <urn:g>: ", "no date"),
        (LOG + "<urn:g> {} <urn:h> {}", ":2: message 1: ", "2 named graphs"),
        ('@version "1.3-messages" .\n' + DATED, ":1: ", "no version of RDF"),
        (LOG + DATED + "@message .\n\n<urn:a> <urn:p> 1 .", ":5: message 2: ", "no date"),
    ],
    "s.jsonld": [
        ("", ":1: ", "not JSON: Expecting value at column 1"),
        ('{"@id": "urn:a",\n "urn:p": 5,}', ":2: ", "not JSON: "),
        ("5", ":1: ", "a document of JSON-LD is an object or an array, got 5"),
        ('{"@id": "urn:a", "@id": "urn:b"}', ":1: ", "key '@id' stands twice"),
        ('{"@id": "urn:a", "urn:p": 5}', ":1: subject <urn:a>: ", "no date"),
        ('{"@id": "a", "urn:p": 5}', ":1: ", "relative IRI 'a'"),
        ('{"@id": "urn:a", "p": 5}', ":1: ", "relative IRI 'p'"),
        ('{"@id": "urn:a",\n "urn:p": {"@id": "urn:b c"}}', ":2: ", "not an IRI (RFC 3987)"),
        ('{"@id": "urn:a", "urn:p": {"@value": "x", "@language": "e_n"}}', ":1: ", "RFC 5646"),
        ('{"@id": "urn:g", "@graph": {"@id": "urn:a", "urn:p": 5}}', ":1: graph ", "no date"),
        ('{"@id": "urn:a", "urn:p": {"@value": [1]}}', ":1: ", "not JSON-LD"),
    ],
    "s.ndjsonld": [
        ("x", ":1: ", "not JSON: Expecting value at column 1"),
        ("{}\n[]", ":2: ", "a message is an object on a line, got []"),
        ('{"@id": "urn:a", "urn:p": 5}', ":1: message 1: ", "no date"),
        ('{}\n{"@id": "urn:a", "p": 5}', ":2: ", "relative IRI 'p'"),
        ('{}\n{"@id": "a", "urn:p": 5}', ":2: ", "relative IRI 'a'"),
        ('{"@context": {"p": "urn:p"}}\n{"@id": "urn:a", "q": 5}', ":2: ", "relative IRI 'q'"),
        ('{"@context": {"p": 5}}\n{"@id": "urn:a", "p": 5}', ":2: ", "not JSON-LD"),
        ('{"@id": "urn:a",\n"urn:p": 5}', ":1: ", "not JSON: "),
        ('{"a": 1, "a": 2}', ":1: ", "key 'a' stands twice"),
        ('{"@id": "urn:a", "%s": "x"}' % PROV_GENERATED_AT_TIME, ":1: message 1: ", "a date must"),  # noqa: UP031
    ],
    "s.ndjson": [
        ("{", ":1: ", "not JSON: Expecting property name enclosed in double quotes at column 2"),
        (f"{quad()}\n[]", ":2: ", "a line must be an object, got []"),
        (quad(time=None), ":1: ", "key 'time' is missing; a quad has subject, predicate, object"),
        (quad(tiem=5), ":1: ", "unknown key 'tiem'; did you mean 'time'?"),
        (
            quad(time="x"),
            ":1: ",
            "time: a time must be an integer (ms) or an xsd:dateTime, got 'x'",
        ),
        (quad(time=True), ":1: ", "time: a time must be an integer"),
        (quad(time=5.5), ":1: ", "time: a time must be an integer"),
        (quad(subject="urn:a"), ":1: ", "subject: "),
        (quad(predicate="_:p"), ":1: ", "predicate"),
        (quad(object={"type": "iri", "value": "urn:a"}), ":1: ", "object: type must be uri, bnode"),
        (quad(object={"type": "uri", "value": "a"}), ":1: ", "object: relative IRI 'a'"),
        (quad(graph='"x"'), ":1: ", "graph"),
        (f"{quad(graph='<urn:g>')}\n{quad(graph='<urn:g>', time=6)}", ":2: ", "has another time"),
        (quad(time=2**63), ":1: ", "t_app must be within 64 bits"),
    ],
    "s.csv": [
        ("", ": ", "no columns: the first row of a table names them"),
        ("id,when\n", ":1: ", "unknown column 'id'; valid: "),
        ("subject,predicate,object\n", ":1: ", "column 'time' is missing; a quad has"),
        ("id,id\n", ":1: ", "two columns are called 'id'"),
        ("id,\n", ":1: ", "column 2 has no name"),
        (HEADER + "<urn:a>,<urn:p>,5\n", ":2: ", "3 cells, but 4 columns"),
        (HEADER + '<urn:a>,<urn:p>,"5"x,5\n', ":2: ", "not a table: "),
        (HEADER + '<urn:a>,<urn:p>,"x\n', ":2: ", "not a table: unexpected end of data"),
        (HEADER + "<urn:a>,<urn:p>,<urn:b>,\n", ":2: ", "column 'time' is missing"),
        (HEADER + "<urn:a>,<urn:p>,<urn:b>,soon\n", ":2: ", "time: a time must be an integer"),
        (HEADER + "<urn:a>,<urn:p>,b,5\n", ":2: ", "object: "),
        (HEADER + "<urn:a>,<urn:p>,<b>,5\n", ":2: ", "object: relative IRI 'b'"),
    ],
}
MALFORMED["s.tsv"] = [
    (text.replace(",", "\t"), place, words)
    for text, place, words in MALFORMED["s.csv"]
    if "not a table" not in words
] + [('subject\tpredicate\tobject\ttime\n<urn:a>\t<urn:p>\t"x\t5', ":2: ", "object: ")]


@pytest.mark.parametrize(
    ("name", "text", "place", "words"),
    [(name, *one) for name, several in MALFORMED.items() for one in several],
)
def test_a_malformed_stream_is_one_error_with_its_place(name, text, place, words):
    message = refusal(lambda: read_stream(Text(name, text)), InvalidStream)
    assert message.startswith(f"{name}{place}")
    assert words in message


def test_each_form_has_ten_malformed_inputs():
    assert all(len(several) >= 10 for several in MALFORMED.values())


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("s.jsonld", '{\n"@context": "https://schema.org/", "name": "x"}'),
        ("s.jsonld", '{"@context": [{}, "https://schema.org/"]}'),
        ("s.jsonld", '{"@context": {"@import": "https://schema.org/"}}'),
        ("s.jsonld", '{"@context": {"a": {"@id": "urn:a", "@context": "https://schema.org/"}}}'),
        ("s.jsonld", '[{"urn:p": {"@context": "https://schema.org/"}}]'),
        ("s.ndjsonld", '{"@context": "https://schema.org/"}'),
    ],
)
def test_a_remote_context_is_refused_by_name(name, document):
    message = refusal(lambda: read_stream(Text(name, document)), ForbiddenAccess)
    assert message.startswith(name)
    assert "QRY-2: the context 'https://schema.org/' would be fetched" in message


def jelly(*statements: Sequence[str]) -> bytes:
    return statements_to_jelly(statements)


JELLY = jelly(("<urn:a>", DATE, LITERAL_TIME))
MALFORMED_JELLY = [
    (b"", "s.jelly:1: ", "damaged, or not Jelly"),
    (b"\x00", "s.jelly:1: ", "damaged, or not Jelly"),
    (b"<urn:a> <urn:p> <urn:b> .", "s.jelly:1: ", "damaged, or not Jelly"),
    (bytes(range(256)), "s.jelly:1: ", "damaged, or not Jelly"),
    (JELLY[: len(JELLY) // 2], "s.jelly:1: ", "damaged, or not Jelly"),
    (JELLY + b"\x7f", "s.jelly:2: ", "damaged, or not Jelly"),
    (jelly(("<urn:a>", "<urn:p>", '"x"')), "s.jelly:1: subject ", "no date"),
    (jelly(("<a>", DATE, LITERAL_TIME)), "s.jelly:1: ", "relative IRI 'a'"),
    (jelly(("<urn:a>", DATE, '"x"^^<int>')), "s.jelly:1: ", "relative IRI 'int'"),
    (jelly(('"x"', DATE, LITERAL_TIME)), "s.jelly:1: ", "subject"),
    (
        frames_to_jelly([[("<urn:a>", DATE, LITERAL_TIME)], [("<urn:a>", "<urn:p>", "<urn:b>")]]),
        "s.jelly:2: message 2: ",
        "no date",
    ),
]


@pytest.mark.parametrize(("data", "place", "words"), MALFORMED_JELLY)
def test_malformed_jelly_is_one_error_with_its_frame(tmp_path, data, place, words):
    path = tmp_path / "s.jelly"
    path.write_bytes(data)
    message = refusal(lambda: read_stream(path), InvalidStream)
    assert message.startswith(f"{tmp_path}/{place}")
    assert words in message


# Columns

COLUMNS = """
subject = "urn:o:{id}"
time = "when"
end = "until"
[predicates]
"urn:value" = { text = "{value} {unit}", language = "en" }
"urn:at" = { iri = "{place}" }
"urn:in" = { iri = "urn:room:{room}" }
"""
TABLE = "id,when,until,value,unit,place,room\n"


def test_a_cell_that_is_empty_leaves_out_its_triples():
    table = TABLE + "1,5,9,20,°C,http://e/x#y,a b/ü\n,,,,,,\n".replace(",,,,,,\n", "")
    table += "2,1970-01-01T00:00:00.007Z,,20,,,\n"
    first, second = read_stream(Text("s.csv", table), columns=Text("c.toml", COLUMNS))
    assert (first.app, first.end, second.app, second.end) == (5, 9, 7, None)
    assert first.graph == {
        ("<urn:o:1>", "<urn:value>", '"20 °C"@en'),
        ("<urn:o:1>", "<urn:at>", "<http://e/x#y>"),
        ("<urn:o:1>", "<urn:in>", "<urn:room:a%20b%2F%C3%BC>"),
    }
    assert second.graph == frozenset()


MALFORMED_COLUMNS = [
    ("x", "c.toml: ", "not TOML: "),
    ('subject = "urn:{id}"', "c.toml: ", "columns: key 'predicates' is missing; valid: "),
    (COLUMNS.replace("end", "ende"), "c.toml: ", "unknown key 'ende'; did you mean 'end'?"),
    (COLUMNS.replace("{id}", "{idd}"), "c.toml: ", "no column 'idd'; did you mean 'id'?"),
    (COLUMNS.replace('"when"', '"whan"'), "c.toml: ", "no column 'whan'; did you mean 'when'?"),
    (COLUMNS.replace('"when"', "5"), "c.toml: ", "time: must be a text, got 5"),
    (COLUMNS.replace('"urn:at"', "at"), "c.toml: ", "predicates.'at': relative IRI 'at'"),
    (COLUMNS.replace("{place}", "{place"), "c.toml: ", "a brace stands alone in '{place'"),
    (
        COLUMNS.replace("language", "lang"),
        "c.toml: ",
        "unknown key 'lang'; did you mean 'language'",
    ),
    (COLUMNS.replace('"en"', '"e_n"'), "c.toml: ", "RFC 5646"),
    (COLUMNS.replace('language = "en"', 'datatype = "int"'), "c.toml: ", "relative IRI 'int'"),
    (COLUMNS.replace("text =", "iri ="), "c.toml: ", "an iri has neither datatype nor language"),
    (COLUMNS.replace('{ iri = "{place}" }', "{}"), "c.toml: ", "must have either iri or text"),
    (COLUMNS.replace('{ iri = "{place}" }', "5"), "c.toml: ", 'must be { text = "{column}" } or'),
    (COLUMNS.replace("urn:o:{id}", "{value}"), "s.csv:2: ", "subject: relative IRI 'x'"),
    (COLUMNS.replace("urn:o:{id}", "urn:{room}"), "s.csv:2: ", "subject: column 'room' is empty"),
    (COLUMNS.replace('"when"', '"unit"'), "s.csv:2: ", "column 'unit': no time"),
    (COLUMNS.replace('"when"', '"value"'), "s.csv:2: ", "column 'value': a time must be"),
    (COLUMNS.replace('"{place}"', '"{value}"'), "s.csv:2: ", "object of <urn:at>: relative IRI"),
]


@pytest.mark.parametrize(("columns", "place", "words"), MALFORMED_COLUMNS)
def test_malformed_columns_are_one_error_with_its_place(columns, place, words):
    with pytest.raises(InvalidStream) as error:
        read_stream(Text("s.csv", TABLE + "1,5,9,x,,,\n"), columns=Text("c.toml", columns))
    assert str(error.value).startswith(place)
    assert words in str(error.value)


def test_only_a_table_has_columns():
    with pytest.raises(InvalidStream, match=r"\.nt has no columns; a table ends in \.csv or \.tsv"):
        read_stream(Text("s.nt", ""), columns=Text("c.toml", COLUMNS))


# Documents and messages


def test_nodes_that_several_subjects_lead_to_are_in_each():
    text = f"<urn:a> {DATE} 1 ; <urn:p> <urn:s> . <urn:b> {DATE} 2 ; <urn:p> <urn:s>, <urn:a> ."
    first, second = read_stream(
        Text("s.ttl", f"{text} <urn:s> <urn:q> _:n . _:n <urn:q> <urn:s> .")
    )
    shared = first.graph & second.graph
    assert {subject for subject, _, _ in shared} == {"<urn:s>", "_:b1"}
    assert len(first.graph) == len(second.graph) - 1 == 4


def test_what_is_no_delimiter_parts_no_messages():
    text = (
        LOG + "PREFIX m: <urn:m:> PREFIX MESSAGE: <urn:x:>\n# MESSAGE\n"
        f"m:MESSAGE {DATE} 1 ; m:p MESSAGE:a, 'x'@message . MESSAGE:b m:p ' MESSAGE ', \"\"\"\n"
        'MESSAGE\n""", <urn:MESSAGE>, m:a.MESSAGE, m:a-MESSAGE .\nmessage\n'
    )
    [element] = read_stream(Text("s.ttl", text))
    assert len(element.graph) == 8


def test_a_message_that_is_empty_is_no_element():
    text = LOG + "MESSAGE\n" + DATED + "MESSAGE\nMESSAGE # none\n" + DATED + "MESSAGE\n"
    for name in ("s.nt", "s.ttl"):
        assert [element.app for element in read_stream(Text(name, text))] == [5, 5]


def test_a_context_holds_for_the_messages_that_follow():
    key = json.dumps(PROV_GENERATED_AT_TIME)
    message = '{"@id": "urn:a", "date": {"@value": "5", "@type": "%sinteger"}}\n' % XSD  # noqa: UP031
    text = f'{{"@context": {{"date": {key}}}}}\n{message}{{}}\n{message}'
    assert len(read_stream(Text("s.ndjsonld", text))) == 2


def test_static_files_share_no_blank_node(tmp_path):
    """IO-1: `_:n` of one file is not `_:n` of another; those of one file alone keep their names."""
    for end, text in (
        (".ttl", "_:n <urn:p> [] ."),
        (".nt", "_:n <urn:p> _:m ."),
        (".jsonld", "{}"),
    ):
        for number in (1, 2):
            (tmp_path / f"{number}{end}").write_text(text)
        files = [tmp_path / f"1{end}", tmp_path / f"2{end}"]
        together = read_all_static(files)
        assert len(together) == 2 * len(read_static(files[0]))
        assert len({t for s in together for t in s if is_blank(t)}) == 4 * bool(together)
        assert read_all_static(files[:1]) == read_static(files[0])


def test_a_log_is_no_static_data():
    with pytest.raises(InvalidStream, match="a log of messages, which is a stream"):
        read_static(Text("s.ttl", LOG + DATED))


@pytest.mark.parametrize(("end", "near"), [(".json", ".jsonl"), (".n3", ".n3t"), (".tll", ".ttl")])
def test_an_unknown_end_is_told_the_forms(end, near):
    message = refusal(lambda: read_stream(Text(f"s{end}", "")))
    assert f"cannot end in '{end}'; did you mean '{near}'?" in message
    assert all(form in message for form in FORMS)


# The command line


def test_columns_are_of_the_tables_among_several_streams(tmp_path, capsys):
    (tmp_path / "q.toml").write_text(
        'body = "SELECT ?x WHERE { ?x <http://example.org/value> ?v }"\nwindows = [\n'
        '  { stream = "s", kind = "time", size = 10000, slide = 10000 },\n'
        '  { stream = "t", kind = "time", size = 10000, slide = 10000 },\n]\n'
    )
    words = [f"--stream=s={FIXTURES}/readings.csv", f"--stream=t={FIXTURES}/observations.ttl"]
    words += [f"--columns={FIXTURES}/readings.toml", f"--time-predicate={RESULT_TIME}"]
    assert main(["run", str(tmp_path / "q.toml"), *words, "--semantics", "csparql", "t0=0"]) == 0
    report = json.loads(capsys.readouterr().out.splitlines()[0])
    assert len(report["results"]["bindings"]) == 3
