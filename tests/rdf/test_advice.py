"""IO-1: What is no term in a file is shown as it stands, with what to write, in each form that has
terms as N-Triples text.
"""

from __future__ import annotations

import csv
import io
import json

import pytest
from refusals import refusal

from refengine.model.errors import InvalidStream
from refengine.rdf.sources import Piped
from refengine.rdf.streams import read_stream

# the object, and what is advised in a cell or a key, and in a line of N-Triples
OBJECTS = [
    ('"x\\qy"', 'write "x\\\\qy"', 'write "x\\\\qy"'),
    ('"x"y"', 'write "x\\"y"', 'write "x\\"y"'),
    ('"x"@en_US', 'write "x"@en-US', 'write "x"@en-US'),
    ('"x"^^xsd:int', "write", 'write "x"^^<http://www.w3.org/2001/XMLSchema#int>'),
    ("<urn:a b>", "write <urn:a%20b>", "write <urn:a%20b>"),
    ("<urn:a\\b>", "write <urn:a%5Cb>", "write <urn:a%5Cb>"),
    ('"x\ny"', 'write "x\\ny"', "a line break is written \\n"),
    ('"x\ry"', 'write "x\\ry"', "a line break is written \\n"),
]


def piped(name: str, text: str) -> Piped:
    return Piped(name, io.BytesIO(text.encode()))


def as_table(term: str) -> Piped:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["subject", "predicate", "object", "time"])
    writer.writerow(["<urn:a>", "<urn:p>", term, "3"])
    return piped("s.csv", text.getvalue())


def as_json(term: str) -> Piped:
    line = {"subject": "<urn:a>", "predicate": "<urn:p>", "object": term, "time": 3}
    return piped("s.ndjson", json.dumps(line) + "\n")


def as_line(end: str, rest: str):
    return lambda term: piped(f"s.{end}", f"<urn:a> <urn:p> {term} {rest}.\n")


@pytest.mark.parametrize("write", [as_table, as_json])
@pytest.mark.parametrize(("term", "advice"), [entry[:2] for entry in OBJECTS])
def test_a_cell_or_a_key_that_is_no_term(write, term, advice):
    said = refusal(lambda: read_stream(write(term)), InvalidStream)
    shown, _, advised = said.partition("; ")
    assert advised.startswith(advice) and said.isprintable()
    assert f"'{advised.removeprefix('write ')}'" not in shown


@pytest.mark.parametrize(
    "write", [as_line("n3t", '"3" '), as_line("nt", ""), as_line("nq", "<urn:g> ")]
)
@pytest.mark.parametrize(("term", "advice"), [(entry[0], entry[2]) for entry in OBJECTS])
def test_a_line_that_holds_no_term(write, term, advice):
    said = refusal(lambda: read_stream(write(term)), InvalidStream)
    assert "no RDF term at column " in said and advice in said and said.isprintable()


def test_a_line_with_another_word_gets_no_advice():
    with pytest.raises(InvalidStream) as refused:
        read_stream(piped("s.n3t", '<urn:a> <urn:p> word "3" .\n'))
    assert str(refused.value).endswith("no RDF term at column 17: 'word \"3\" .'")
