"""IO-1: every reader of lines reads the same, by the grammars of N-Triples and N-Quads: each line
ends with its dot, so a file that was cut off gives an error and no other triple.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from refengine.model.errors import InvalidStream, RefengineError
from refengine.rdf.documents import read_static
from refengine.rdf.lines import TIMED_TOKEN, parse_plain_line, parse_terms
from refengine.rdf.sources import Text
from refengine.rdf.streams import read_elements, read_stream
from refengine.rdf.terms import LONGEST_KEPT, MOST_KEPT, ReadTexts, make_triple

pytest.importorskip("pyarrow")

from conformance.spark.formats.pieces import Piece, read_lines
from conformance.spark.formats.records import parse_quad, parse_timed_triple, parse_triple

Found = list[tuple[str, ...]]  # the terms of each line, and its time if it has one
TERMS = ("subject", "predicate", "object", "graph", "time")


def of_stream(path: Path) -> Found:
    return [(*triple, str(e.app)) for e in read_stream(path) for triple in e.graph]


def of_elements(path: Path) -> Found:
    return [(*triple, str(e.app)) for e in read_elements(path) for triple in e.graph]


def of_static(path: Path) -> Found:
    return sorted(read_static(path))


def of_pieces(parse: Callable[[str], dict[str, Any] | None]) -> Callable[[Path], Found]:
    """Return a reader as Spark has it: of each line of a file cut into pieces of 20 bytes."""

    def read(path: Path) -> Found:
        size = path.stat().st_size
        pieces = [Piece(str(path), 0)]
        if path.suffix != ".gz":
            pieces = [Piece(str(path), 0, at, min(at + 20, size)) for at in range(0, size, 20)]
        lines = [raw.decode() for piece in pieces for _, raw in read_lines(piece)]
        records = [record for record in map(parse, lines) if record is not None]
        found = [
            tuple(str(record[key]) for key in TERMS if record.get(key) is not None)
            for record in records
        ]
        return found if parse is parse_timed_triple else sorted(set(found))

    return read


READERS: dict[str, list[Callable[[Path], Found]]] = {
    ".n3t": [of_stream, of_elements, of_pieces(parse_timed_triple)],
    ".nt": [of_static, of_pieces(parse_triple)],
    ".nq": [of_static, of_pieces(parse_quad)],
}
A, P, B, G = "<urn:a>", "<urn:p>", "<urn:b>", "<urn:g>"
# what is plain, and what only the slow readers read
LAST: dict[str, tuple[str, str]] = {
    ".n3t": (f'{A} {P} {B} "1000" .', f'_:x.y\t{P}"é"@de "17".# 5'),
    ".nt": (f"{A} {P} {B} .", f'{A}{P}"10"^^<urn:int>.'),
    ".nq": (f"{A} {P} {B} {G} .", f'{A} {P} "é" _:g . # {G}'),
}
all_readers = pytest.mark.parametrize(
    ("end", "read"), [(end, read) for end, readers in READERS.items() for read in readers]
)


def test_the_readers_of_a_form_read_the_same(tmp_path):
    for end, readers in READERS.items():
        path = tmp_path / f"s{end}"
        path.write_text("\n".join(LAST[end]))
        first, *others = [read(path) for read in readers]
        assert len(first) == 2
        assert all(found == first for found in others)


@all_readers
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_file_that_is_cut_off_gives_no_other_triple(tmp_path, end, read, number, packed):
    """Whatever the byte after which it ends: also within a character, and within what is packed."""
    first, last = LAST[end]
    if number:
        first, last = last, first
    data = f"{first}\n{last}".encode()
    path = tmp_path / f"s{end}{packed}"
    pack = gzip.compress if packed else bytes
    path.write_bytes(pack(data))
    whole = read(path)
    path.write_bytes(pack(f"{first}\n".encode()))
    before = read(path)
    dot = data.rindex(b".")
    for cut in range(len(first) + 2, dot + 1):
        path.write_bytes(pack(data[:cut]))
        if not data[:cut].split(b"\n")[1].strip():
            assert read(path) == before
            continue
        with pytest.raises((RefengineError, ValueError)):
            read(path)
    path.write_bytes(pack(data[: dot + 1]))
    assert read(path) == whole
    if packed:
        for cut in range(20, len(pack(data))):
            path.write_bytes(pack(data)[:cut])
            with pytest.raises(InvalidStream):
                read(path)


@all_readers
@pytest.mark.parametrize(
    "spoil",
    [
        lambda line: line.rpartition(".")[0],
        lambda line: line.replace(".", ". .", 1) if "_:" not in line else f"{line} .",
        lambda line: f"{line.rpartition('.')[0]} # {line}",
        lambda line: f"{line.rpartition('.')[0]} <urn:h> <urn:i> .",
        lambda line: line.replace("<urn:p>", "_:p"),
        lambda line: line.replace("<urn:a>", '"a"'),
        lambda line: f"{line} {line}",
    ],
)
def test_a_line_in_the_middle_is_of_the_grammar(tmp_path, end, read, spoil):
    line = LAST[end][0]
    path = tmp_path / f"s{end}"
    path.write_text(f"{line}\n{spoil(line)}\n{line}\n")
    with pytest.raises((RefengineError, ValueError)):
        read(path)


@all_readers
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("begin", ["", "\ufeff"])
@pytest.mark.parametrize("stop", ["", "{}", "{} \t# a comment", "{}{}"])
def test_lines_end_and_begin_as_they_may(tmp_path, end, read, newline, begin, stop):
    path = tmp_path / f"s{end}"
    path.write_text("\n".join(LAST[end]))
    plain = read(path)
    lines = ["# a comment", "", " \t", LAST[end][0], "  \t#", f"\t{LAST[end][1]} "]
    text = begin + newline.join(lines) + stop.replace("{}", newline)
    path.write_bytes(text.encode())
    assert read(path) == plain


def test_a_graph_is_in_no_line_of_n_triples():
    for line in (f"{A} {P} {B} {G} .", f"{A} {P} {B} <urn:g>."):
        for read in (read_static, read_stream):
            with pytest.raises(
                InvalidStream, match=r"^s\.nt:1: IO-1: a line of N-Triples has no graph"
            ):
                read(Text("s.nt", line))
        with pytest.raises(ValueError, match="a line of N-Triples has no graph"):
            parse_triple(line)


def test_a_line_without_its_dot_is_named():
    with pytest.raises(InvalidStream, match=r"^s\.nq:2: IO-1: no dot at column 26, where the line"):
        read_static(Text("s.nq", f"{A} {P} {B} .\n{A} {P} {B}  # no dot\n{A} {P} {B} ."))


def test_a_term_of_many_lines_is_one_string(tmp_path):
    path = tmp_path / "s.n3t"
    a, p, text = "<http://e/a>", "<http://e/p>", '"two words"'
    path.write_text("".join(f'{a} {p} {o} "777" .\n' for o in (text, a, text)))
    for read in (read_stream, read_elements):
        found = list(read(path))
        triples = [triple for element in found for triple in element.graph]
        assert triples == [(a, p, text), (a, p, a), (a, p, text)]
        assert len({id(term) for triple in triples for term in triple}) == 3
        assert len({id(element.app) for element in found}) == 1


def test_what_is_kept_of_texts_is_bounded():
    known = ReadTexts(lambda text: int(text) if text.isdecimal() else None)
    with pytest.raises(KeyError):
        known["x"]
    for number in range(MOST_KEPT + 1):
        assert known[str(number)] == number
    assert len(known) == 1
    assert known["1" * (LONGEST_KEPT + 1)] == int("1" * (LONGEST_KEPT + 1))
    assert len(known) == 1


PIECES = (
    *("<http://e/a>", "<https://e/a#b>", "<http://e>", "<urn:a>", "<http://e/%20>", "<a>", "<>"),
    *('"a"', '"a b"', '"é"', '"a"@en', '"\\n"', '"a"^^<http://www.w3.org/2001/XMLSchema#int>'),
    *("1.5^^<http://www.w3.org/2001/XMLSchema#int>", "1.5^^<urn:t>", "_:b", "", '"', "#", "."),
)


@pytest.mark.parametrize("end", [".", ".\n", " .", "", ". # a", '. # "7" .', " .\n\n"])
@pytest.mark.parametrize(
    "time", ['"7"', '"-7"', '"+7"', '"07"', '"7.0"', '"٣"', f'"{10**18}"', "7"]
)
def test_plain_lines_are_read_as_the_grammar_has_them(time, end):
    for subject, predicate in product(PIECES, repeat=2):
        for object_ in PIECES:
            line = f"{subject} {predicate} {object_} {time} {end}"
            plain = parse_plain_line(line)
            if plain is not None:
                terms = parse_terms(line.rstrip("\n"), TIMED_TOKEN)
                assert plain == (make_triple(*terms[:3]), int(time[1:-1]))
    is_plain = time in ('"7"', '"-7"', '"07"') and end in (".", ".\n")
    line = f"<http://e/a> <http://e/p> 1.5^^<http://www.w3.org/2001/XMLSchema#int> {time} {end}"
    assert (parse_plain_line(line) is not None) == is_plain
