"""IO-1: packed files and pipes are read as the files that they hold, within bounds."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from refengine.__main__ import main
from refengine.model.errors import InvalidStream
from refengine.rdf import sources
from refengine.rdf.documents import read_static
from refengine.rdf.recordings import read_recording
from refengine.rdf.sources import Piped, Text, TextFolder
from refengine.rdf.streams import read_elements, read_stream
from refengine.rdf.times import PROV_GENERATED_AT_TIME

zstandard = pytest.importorskip("zstandard")

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
DATED = f"<urn:g> <{PROV_GENERATED_AT_TIME}> 5 .\n<urn:g> {{ <urn:a> <urn:p> <urn:b> }}\n"
QUADS = (
    f'<urn:g> <{PROV_GENERATED_AT_TIME}> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    "<urn:a> <urn:p> <urn:b> <urn:g> .\n"
)
STREAMS = {
    "s.n3t": '<urn:a> <urn:p> <urn:b> "5" .\n',
    "SG_1": '<urn:a> <urn:p> <urn:b> "5" .\n',
    "s.nq": QUADS,
    "s.trig": DATED,
}
RECORDED = json.dumps({"relations": [{"head": {"vars": []}, "results": {"bindings": [{}]}}]})
packed = pytest.mark.parametrize("end", PACKERS)


def piped(name: str, data: bytes) -> Piped:
    return Piped(name, io.BytesIO(data))


@packed
@pytest.mark.parametrize("name", STREAMS)
def test_a_packed_stream_is_the_stream(tmp_path, name, end):
    (tmp_path / name).write_text(STREAMS[name])
    plain = read_stream(tmp_path / name)
    data = PACKERS[end](STREAMS[name].encode())
    (tmp_path / (name + end.upper())).write_bytes(data)
    assert list(read_stream(tmp_path / (name + end.upper()))) == list(plain) != []
    assert list(read_stream(piped(name + end, data))) == list(plain)
    assert list(read_stream(piped(name, STREAMS[name].encode()))) == list(plain)


@pytest.mark.parametrize("name", STREAMS)
def test_a_text_is_read_as_the_file_of_its_name(tmp_path, name):
    (tmp_path / name).write_text(STREAMS[name])
    assert list(read_stream(Text(name, STREAMS[name]))) == list(read_stream(tmp_path / name)) != []
    if name == "s.n3t":
        text = Text(name, "\ufeff" + STREAMS[name])
        found = list(read_elements(text))
        assert found == list(read_stream(text))
        assert found == list(read_stream(piped(name, text.text.encode())))


def test_an_error_calls_a_text_by_its_title():
    for text, place in ((Text("s.n3t", "x"), "s.n3t"), (Text("s.n3t", "x", "a case"), "a case")):
        with pytest.raises(InvalidStream, match=f"^{place}:1: IO-1: "):
            read_stream(text)


@pytest.mark.parametrize("prefix", ["", "data/"])
def test_a_folder_in_memory_is_read_as_one_on_the_disk(tmp_path, prefix):
    texts = {
        f"{prefix}data_{number:02}.ttl": f"<urn:a> <urn:p> {number} ." for number in (1, 10, 2)
    }
    for path, text in {**texts, "other/data_03.ttl": "x", "notes.txt": "x"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
        texts[path] = text
    found = read_stream(TextFolder("stream", texts))
    assert list(found) == list(read_stream(tmp_path)) != []
    assert not found.ordered
    for path in list(texts):
        texts[path] = "x"
    with pytest.raises(InvalidStream, match=f"^stream/{prefix}data_01.ttl:1: IO-1: "):
        read_stream(TextFolder("stream", texts))
    with pytest.raises(InvalidStream, match=r"^stream: IO-1: no data_NN"):
        read_stream(TextFolder("stream", {"notes.txt": ""}))


@packed
def test_packed_static_data_and_recordings_are_read(tmp_path, end):
    for name, text in (("d.ttl", "<urn:a> <urn:p> <urn:b> ."), ("a.json", RECORDED)):
        (tmp_path / name).write_text(text)
        (tmp_path / (name + end)).write_bytes(PACKERS[end](text.encode()))
    assert read_static(tmp_path / f"d.ttl{end}") == read_static(tmp_path / "d.ttl")
    assert read_recording(tmp_path / f"a.json{end}") == read_recording(tmp_path / "a.json")
    tabbed = "0\nx\t\n5\n<urn:a>\t\n".replace("<urn:a>", "http://a")
    (tmp_path / "QR_1").write_text(tabbed)
    (tmp_path / f"QR_1{end}").write_bytes(PACKERS[end](tabbed.encode()))
    assert read_recording(tmp_path / f"QR_1{end}") == read_recording(tmp_path / "QR_1")


@packed
def test_packed_parts_after_one_another_are_one_text(tmp_path, end):
    path = tmp_path / f"s.n3t{end}"
    parts = ['<urn:a> <urn:p> "1" ', '"5" .\n', "", '<urn:b> <urn:p> "1" "6" .\n' * 300]
    path.write_bytes(b"".join(PACKERS[end](part.encode()) for part in parts))
    assert [element.app for element in read_stream(path)] == [5] + [6] * 300
    assert [element.app for element in read_elements(path)] == [5] + [6] * 300


LINES = "".join(f'<urn:a> <urn:p> "{number}" "{number}" .\n' for number in range(3000)).encode()
FAULTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut": (lambda data: data[: len(data) // 2], "cut off"),
    "cut at the last byte": (lambda data: data[:-1], "cut off"),
    "empty": (lambda data: b"", "cut off"),
    "plain": (lambda data: LINES, "damaged, or not"),
    "changed": (lambda data: data[:500] + bytes(9) + data[509:], "damaged, or not"),
    "followed by something else": (lambda data: data + b"something else", "damaged, or not"),
}


@packed
@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_file_is_one_error(tmp_path, end, fault):
    path = tmp_path / f"s.n3t{end}"
    compress = gzip.compress
    if end == ".zst":
        compress = zstandard.ZstdCompressor(write_checksum=True).compress
    frame = compress(LINES)
    damage, said = FAULTS[fault]
    path.write_bytes(damage(frame))
    for read in (read_stream, lambda path: list(read_elements(path))):
        with pytest.raises(InvalidStream) as error:
            read(path)
        assert str(error.value).startswith(f"{path}: IO-1: cannot be read: {said}")


@packed
def test_a_text_that_is_too_long_is_refused(tmp_path, monkeypatch, end):
    monkeypatch.setattr(sources, "MOST_BYTES", len(LINES) - 1)
    (tmp_path / f"s.n3t{end}").write_bytes(PACKERS[end](LINES))
    with pytest.raises(InvalidStream, match=f"IO-1: .* more than {len(LINES) - 1} bytes"):
        read_stream(tmp_path / f"s.n3t{end}")
    with pytest.raises(InvalidStream, match=r"^standard input: IO-1: .* more than"):
        read_stream(piped("s.n3t", LINES))
    (tmp_path / "s.n3t").write_bytes(LINES)  # which is as long as its folder says
    assert len(read_stream(tmp_path / "s.n3t")) == 3000


@packed
def test_a_line_without_end_is_refused_where_a_stream_is_read_as_it_comes(tmp_path, end):
    (tmp_path / f"s.n3t{end}").write_bytes(PACKERS[end](b" " * (sources.MOST_OF_A_LINE * 8)))
    tracemalloc.start()
    with pytest.raises(InvalidStream, match=r"IO-1: cannot be read: a line of \d+ characters"):
        list(read_elements(tmp_path / f"s.n3t{end}"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * sources.MOST_OF_A_LINE


def peak(path: Path) -> int:
    """Return the most memory that reading a stream of 4,000 elements needs."""
    tracemalloc.start()
    assert sum(1 for _ in read_elements(path)) == 4000
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_a_long_stream_is_read_in_the_memory_of_a_piece(tmp_path):
    # few elements, whose lines are long: to trace the memory of an element takes a while
    subject = f"<urn:{'a' * 400}>"
    text = "".join(f'{subject} <urn:p> "{n % 99}" "{n * n}" .\n' for n in range(4000)).encode()
    (tmp_path / "s.n3t").write_bytes(text)
    for _ in read_elements(tmp_path / "s.n3t"):
        pass  # fills what is kept of terms
    plain = peak(tmp_path / "s.n3t")

    for end in PACKERS:
        (tmp_path / f"s.n3t{end}").write_bytes(PACKERS[end](text))
        assert peak(tmp_path / f"s.n3t{end}") < plain + len(text) / 4


@packed
def test_a_byte_that_is_no_text_is_told_with_its_line(tmp_path, end):
    (tmp_path / f"s.n3t{end}").write_bytes(PACKERS[end](b'<urn:a> <urn:p> "1" "5" .\n\xff'))
    with pytest.raises(InvalidStream, match=r":2: IO-1: not UTF-8"):
        read_stream(tmp_path / f"s.n3t{end}")
    with pytest.raises(InvalidStream, match=r"IO-1: not UTF-8"):
        list(read_elements(tmp_path / f"s.n3t{end}"))


def test_zstandard_that_is_missing_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "s.n3t.zst").write_bytes(b"")
    for read in (read_stream, lambda path: list(read_elements(path))):
        with pytest.raises(InvalidStream) as error:
            read(tmp_path / "s.n3t.zst")
        said = "IO-1: cannot be read: zstandard is not installed: pip install 'refengine[zst]'"
        assert str(error.value) == f"{tmp_path / 's.n3t.zst'}: {said}"


# The command line

QUERY = """
windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]
body = "SELECT ?x WHERE { ?x <urn:p> ?y }"
"""


@pytest.fixture
def query(tmp_path) -> Path:
    (tmp_path / "q.toml").write_text(QUERY)
    return tmp_path / "q.toml"


def run(query: Path, monkeypatch, data: bytes, *words: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return main(["run", str(query), "--semantics", "csparql", "t0=0", *words])


@pytest.mark.parametrize("word", ["-", "s=-"])
@pytest.mark.parametrize("form", ["n3t", ".n3t", "nq", "trig", "n3t.gz", "trig.zst"])
def test_a_stream_comes_from_standard_input(query, monkeypatch, capsys, word, form):
    name, _, end = form.lstrip(".").partition(".")
    data = STREAMS[f"s.{name}"].encode()
    data = PACKERS[f".{end}"](data) if end else data
    assert run(query, monkeypatch, data, "--stream", word, "--stdin-format", form) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert json.loads(line)["results"]["bindings"] == [{"x": {"type": "uri", "value": "urn:a"}}]


def test_static_data_comes_from_standard_input(query, monkeypatch, capsys, tmp_path):
    (tmp_path / "s.n3t").write_text('<urn:a> <urn:q> <urn:b> "5" .\n')
    words = ("--stream", str(tmp_path / "s.n3t"), "--static", "-", "--stdin-format", "ttl")
    assert run(query, monkeypatch, b"<urn:c> <urn:p> 1 .", *words) == 0
    assert "urn:c" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--stream -", "standard input: IO-1: its format is not known; give --stdin-format"),
        (
            "--stream - --stdin-format rdf",
            "standard input: IO-1: a file of a stream cannot end in '.rdf'",
        ),
        ("--stream - --static - --stdin-format nq", "standard input: IO-1: can be read only once"),
        ("--stream s.n3t --stdin-format nq", "--stdin-format: IO-1: nothing is read"),
        ("--stream - --stdin-format n3t", "standard input:1: IO-1: "),
        ("--stream - --stdin-format n3t.gz", "standard input: IO-1: cannot be read: damaged"),
    ],
)
def test_standard_input_that_cannot_be_read_is_one_line(query, monkeypatch, capsys, words, said):
    assert run(query, monkeypatch, b"no stream", *words.split()) == 2
    out, err = capsys.readouterr()
    assert not out and len(err.splitlines()) == 1 and err.startswith(f"refengine: {said}")


def test_standard_input_that_is_closed_is_one_line(query, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)
    words = ["run", str(query), "--stream", "-", "--stdin-format", "nq"]
    assert main([*words, "--semantics", "csparql", "t0=0"]) == 2
    assert capsys.readouterr().err == "refengine: standard input: IO-1: is closed\n"
