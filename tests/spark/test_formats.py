"""Formats of RDF as Spark's own: what tasks read of files is what is in them, however they are cut,
and what is written is read again.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pyarrow
import pytest
from cluster import spark
from conftest import draws
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.spark import truth
from conformance.spark.formats import pieces, records
from conformance.spark.formats.pieces import Piece, cut_into_pieces
from conformance.spark.formats.records import Columns, Mode
from refengine import from_table, profile
from refengine.model.errors import InvalidStream

N3T = pyarrow.schema(
    [
        ("time", pyarrow.int64()),
        ("element", pyarrow.int64()),
        ("subject", pyarrow.string()),
        ("_corrupt_record", pyarrow.string()),
        ("_offset", pyarrow.int64()),
    ]
)


def line(name: str, at: int) -> str:
    return f'<urn:{name}> <urn:p> <urn:o> "{at}" .\n'


# Pieces


def lines_of(path: str, content: bytes, size: int, chunk: int) -> list[tuple[int, bytes]]:
    """The lines of all pieces of a file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "CHUNK", chunk)
        Path(path).write_bytes(content)
        found = cut_into_pieces([path], size, "*", is_cut=True)
        return [line for piece in found for line in pieces.read_lines(piece)]


@settings(max_examples=draws(300))
@given(
    st.lists(st.sampled_from([b"a", b"bb", b"ccc\r", b"\r", b"\r\n", b"\n", b""]), max_size=12),
    st.integers(1, 9),
    st.integers(1, 5),
)
def test_lines_of_pieces_are_those_of_the_file(tmp_path_factory, texts, size, chunk):
    """Each line once, with the place of its first byte, whatever the pieces and reads are."""
    content = b"".join(texts)
    path = str(tmp_path_factory.getbasetemp() / "lines.txt")
    found = [(place, some) for place, some in lines_of(path, content, size, chunk) if some]
    whole = [(match.start(), match[0]) for match in re.finditer(rb"[^\r\n]+", content)]
    assert found == whole


def test_a_byte_order_mark_is_no_text(tmp_path):
    assert lines_of(str(tmp_path / "f"), b"\xef\xbb\xbfa\nb", 2, 3) == [(0, b"a"), (5, b"b")]


def test_a_line_that_is_too_long_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(pieces, "LONGEST_LINE", 10)
    with pytest.raises(InvalidStream, match="byte 2: IO-1: a line of more than 10 bytes"):
        lines_of(str(tmp_path / "f"), b"a\n" + b"b" * 20, 100, 4)


@pytest.mark.parametrize(("codec", "end"), [("gzip", "gz"), ("zstd", "zst")])
def test_a_packed_file_is_read_whole_or_not_at_all(tmp_path, codec, end):
    path = tmp_path / f"f.n3t.{end}"
    with pyarrow.CompressedOutputStream(str(path), codec) as file:
        file.write(b"a\nb\n" * 10_000)
    (piece,) = cut_into_pieces([str(path)], 10, "*", is_cut=True)
    found = list(pieces.read_lines(piece))
    assert len(found) == 20_000 and found[-1] == (39_998, b"b")
    path.write_bytes(path.read_bytes()[:-5])
    reason = rf"f\.n3t\.{end}: IO-1: cannot be read as {codec}, which its name says it is: \w"
    with pytest.raises(InvalidStream, match=reason):
        list(pieces.read_lines(piece))


def test_files_of_a_folder(tmp_path):
    """In the order of their paths, without what Spark leaves out; packed files are not cut, and an
    empty file is a piece.
    """
    for name in ("b.n3t", "a/c.n3t", "_x/d.n3t", ".e.n3t", "f.n3t.gz", "g.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"12345")
    (tmp_path / "h.n3t").touch()
    found = cut_into_pieces([str(tmp_path)], 3, "*.n3t*", is_cut=True)
    assert [(Path(piece.path).name, *piece[1:]) for piece in found] == [
        ("c.n3t", 0, 0, 3),
        ("c.n3t", 0, 3, 5),
        ("b.n3t", 1, 0, 3),
        ("b.n3t", 1, 3, 5),
        ("f.n3t.gz", 2, 0, None),
        ("h.n3t", 3, 0, 0),
    ]
    with pytest.raises(InvalidStream, match="nowhere: IO-1: no such file or folder"):
        cut_into_pieces([f"{tmp_path}/nowhere"], 3, "*", is_cut=True)


def test_small_files_are_read_together():
    """By hand, with 4 MiB for each file beside its bytes: of 10 MiB two files of 1 MiB have room, a
    third one has not; one that is read whole stands alone.
    """
    mebi = 2**20
    small = [Piece("f", number, 0, mebi) for number in range(3)]
    whole = Piece("g.gz", 3)
    large = [Piece("h", 4, 0, 10 * mebi), Piece("h", 4, 10 * mebi, 11 * mebi)]
    groups = pieces.group_pieces([*small, whole, *large], 10 * mebi)
    assert groups == [small[:2], small[2:], [whole], large[:1], large[1:]]


# Records

BROKEN = line("a", 1) + "<urn:x> nonsense\n\n# comment\n" + line("b", 2)


def read(path: Path, mode: Mode) -> list[dict]:
    columns = Columns(N3T, "_corrupt_record", mode)
    piece = Piece(str(path), 3)
    found = records.batches_of_lines(piece, columns, records.parse_timed_triple)
    return [row for batch in found for row in batch.to_pylist()]


def test_what_becomes_of_a_line_that_is_no_record(tmp_path):
    """By hand: the second line begins at byte 31, the third triple at 59. The file is number 3."""
    path = tmp_path / "f.n3t"
    path.write_text(BROKEN)
    first = len(line("a", 1))
    second = BROKEN.index("<urn:b>")
    kept = read(path, Mode.PERMISSIVE)
    assert [(row["time"], row["subject"], row["_corrupt_record"]) for row in kept] == [
        (1, "<urn:a>", None),
        (None, None, "<urn:x> nonsense"),
        (2, "<urn:b>", None),
    ]
    assert [row["_offset"] for row in kept] == [0, first, second]
    assert [row["element"] for row in kept] == [3 * 2**43, None, 3 * 2**43 + second]
    assert read(path, Mode.DROPMALFORMED) == [kept[0], kept[2]]
    with pytest.raises(InvalidStream, match=rf"f\.n3t: byte {first}: IO-1: "):
        read(path, Mode.FAILFAST)


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (records.parse_timed_triple, line("a", 2**63), "MOD-1: t_app must be within 64 bits"),
        (records.parse_triple, "<urn:a> <urn:p> <urn:o> <urn:g> .", "has no graph"),
        (records.parse_quad, "<urn:a> <urn:p> .", "s p o graph; got 2 terms"),
        (records.parse_quad, '"a" <urn:p> <urn:o> .', "MOD-4|subject"),
    ],
)
def test_a_line_that_is_no_record(parse, text, reason):
    with pytest.raises((InvalidStream, ValueError), match=reason):
        parse(text)


def test_blank_nodes_are_of_one_file():
    """The label `_:b` of two files names two nodes; a stream of timed triples is one scope."""
    quad = records.parse_quad("_:b <urn:p> _:c _:g .")
    scoped = [records.scope_blanks(dict(quad), number) for number in (0, 1)]
    assert [(row["subject"], row["object"], row["graph"]) for row in scoped] == [
        ("_:f0-b", "_:f0-c", "_:f0-g"),
        ("_:f1-b", "_:f1-c", "_:f1-g"),
    ]


# What needs Spark


@spark
def test_a_stream_that_is_read_and_its_truth(connected, tmp_path):
    """Three files, one of them packed, in pieces of 50 bytes; by hand: 11 closes [0, 10) with a and
    b, 35 closes [10, 20) with c.
    """
    folder = tmp_path / "stream"
    folder.mkdir()
    (folder / "1.n3t").write_text(line("a", 1) + line("b", 1))
    (folder / "2.n3t.gz").write_bytes(gzip.compress(line("c", 11).encode()))
    (folder / "3.n3t").write_text(line("d", 35))
    reader = connected.read.format("n3t").option("splitBytes", 50)
    triples = reader.load(str(folder))
    rows = triples.orderBy("element").toArrow().to_pylist()
    assert [row["subject"] for row in rows] == [f"<urn:{name}>" for name in "abcd"]
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    query = from_table({"body": "SELECT ?x { ?x <urn:p> ?y }", "windows": [window]})
    fields = {"t0": 0, "horizon": "none", "report": "non-empty,window-close", "tick": "tuple"}
    reports = truth(triples, query, profile("csparql").but(**fields).semantics(), parts=2)
    found = reports.orderBy("part", "number").toArrow().to_pylist()
    names = [[dict(row)["x"] for row in report["bindings"]] for report in found]
    assert names == [["<urn:a>", "<urn:b>"], ["<urn:c>"]]


@spark
def test_corrupt_records_are_a_table(connected, tmp_path):
    (tmp_path / "f.n3t").write_text(BROKEN)
    schema = "subject string, _corrupt_record string, _error string, _offset long"
    reader = connected.read.format("n3t").schema(schema)
    rows = reader.load(str(tmp_path / "f.n3t"))
    corrupt = rows.where("_corrupt_record IS NOT NULL").toArrow().to_pylist()
    assert corrupt[0].pop("_error").startswith("IO-1: ")
    offset = len(line("a", 1))
    assert corrupt == [{"subject": None, "_corrupt_record": "<urn:x> nonsense", "_offset": offset}]
    with pytest.raises(Exception, match="no mode 'DROPMALFORMD'; did you mean 'DROPMALFORMED'"):
        reader.option("mode", "dropmalformd").load(str(tmp_path)).toArrow()


@spark
def test_what_is_written_is_read_again(connected, tmp_path):
    (tmp_path / "f.trig").write_text('<urn:g> { <urn:a> <urn:p> "é" . } <urn:b> <urn:p> 1 .')
    quads = connected.read.format("trig").load(str(tmp_path / "f.trig"))
    out = str(tmp_path / "out")
    for mode in ("append", "overwrite"):
        quads.write.format("nquads").mode(mode).save(out)
    again = connected.read.format("nquads").load(out)
    both = [
        sorted((row["subject"], row["object"], row["graph"]) for row in frame.toArrow().to_pylist())
        for frame in (quads, again)
    ]
    one = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert both[0] == both[1] == [("<urn:a>", '"é"', "<urn:g>"), ("<urn:b>", one, None)]
    assert {name.name.split("-")[0] for name in (tmp_path / "out").iterdir()} == {
        "_SUCCESS",
        "part",
    }
