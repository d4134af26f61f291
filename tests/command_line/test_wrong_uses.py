"""Command lines as a stranger gets them wrong: each ends in one line that says what to write, with
the exit code of bad input, and never in a traceback.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.__main__ import main as conformance
from refengine.__main__ import main as refengine

WINDOW = 'windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]\n'
BINARY = bytes(range(256))
FILES: dict[str, str | bytes] = {
    "q.toml": WINDOW + 'body = "SELECT ?x { ?x ?p ?o }"\n',
    "from.toml": WINDOW + 'body = "SELECT ?x FROM <urn:g> { ?x ?p ?o }"\n',
    "join.toml": 'windows = [{ stream = "s", kind = "range", size = 10 }]\n'
    'body = "SELECT ?a ?b { ?a <urn:p> ?x . ?b <urn:q> ?x }"\n',
    "s.n3t": '<urn:a> <urn:p> <urn:b> "3" .\n',
    "s.csv": "a,b\n1,2\n",
    "g.ttl": "<urn:a> <urn:p> <urn:b> .\n",
    "empty.toml": "",
    "types.toml": "windows = 5\nbody = []\n",
    "body.toml": WINDOW + "body = 7\n",
    "size.toml": WINDOW.replace("size = 10", 'size = "10"') + 'body = "ASK {}"\n',
    "nan.toml": WINDOW.replace("size = 10", "size = nan") + 'body = "ASK {}"\n',
    "negative.toml": WINDOW.replace("size = 10", "size = -1") + 'body = "ASK {}"\n',
    "huge.toml": WINDOW.replace("size = 10", f"size = {'9' * 5000}") + 'body = "ASK {}"\n',
    "kind.toml": WINDOW.replace('"time"', '["time"]') + 'body = "ASK {}"\n',
    "r2s.toml": WINDOW + 'r2s = 4\nbody = "ASK {}"\n',
    "deep.toml": f"body = {'[' * 5000}{']' * 5000}\n",
    "binary.toml": BINARY,
    "binary.n3t": BINARY,
    "binary.n3t.gz": BINARY,
    "binary.jelly": BINARY,
    "time.ndjson": '{"subject": "<urn:a>", "predicate": "<urn:p>", "object": "<urn:b>", '
    '"time": NaN}\n',
    "columns.toml": 'subject = 5\npredicates = "x"\n',
    "results.ndjson": '{"a": 1}\n',
    "binary.ndjson": BINARY,
    "bindings.json": '{"relations": [5]}',
}
RUN = "run q.toml --stream s.n3t --semantics csparql t0=0"
TRUTH = "truth q.toml --stream s.n3t --semantics csparql t0=0"
# the words, of which "" is the empty one, and a part of the line
WRONG_USES = [
    # the query
    (RUN.replace("q.toml", "missing.toml"), "missing.toml: QRY-1: cannot be read: No such file"),
    (RUN.replace("q.toml", "folder"), "folder: QRY-1: cannot be read: not a regular file"),
    (RUN.replace("q.toml", "q.toml/x"), "q.toml/x: QRY-1: cannot be read: Not a directory"),
    (RUN.replace("q.toml", '""'), "IO-1: an empty path; write . for the current folder"),
    (RUN.replace("q.toml", "binary.toml"), "binary.toml:2: QRY-1: not UTF-8"),
    (RUN.replace("q.toml", "empty.toml"), "empty.toml: query: QRY-1: key 'windows' is missing"),
    (RUN.replace("q.toml", "types.toml"), "QRY-1: windows must be an array, got 5"),
    (RUN.replace("q.toml", "body.toml"), "QRY-1: body must be a string, got 7"),
    (RUN.replace("q.toml", "size.toml"), "WIN-1: size must be an integer > 0, got '10'"),
    (RUN.replace("q.toml", "nan.toml"), "WIN-1: size must be an integer > 0, got nan"),
    (RUN.replace("q.toml", "negative.toml"), "WIN-1: size must be an integer > 0, got -1"),
    (RUN.replace("q.toml", "huge.toml"), "not TOML: an integer of thousands of digits"),
    (RUN.replace("q.toml", "kind.toml"), "QRY-1: kind must be one of time, tuple"),
    (RUN.replace("q.toml", "r2s.toml"), "SEM-1: r2s must be one of Rstream, Istream"),
    (RUN.replace("q.toml", "deep.toml"), "deep.toml: QRY-1: not TOML: nested too deeply"),
    (f"{RUN} --dialect rspql", "q.toml: line 1 column 1: DIA-7: expected ASK"),
    # the streams
    (RUN.replace("s.n3t", '""'), "IO-1: an empty path; write . for the current folder"),
    (RUN.replace("s.n3t", "s="), "IO-1: an empty path; write . for the current folder"),
    (RUN.replace("s.n3t", "=s.n3t"), "--stream: QRY-4: an empty name of a stream in '=s.n3t'"),
    (RUN.replace("s.n3t", "missing.n3t"), "missing.n3t: IO-1: cannot be read: No such file"),
    (RUN.replace("s.n3t", "folder"), "folder: IO-1: no data_NN.ttl"),
    (
        RUN.replace("s.n3t", "q.toml"),
        "cannot end in '.toml'; did you mean '.ttl'?",
    ),
    (RUN.replace("s.n3t", "binary.n3t"), "binary.n3t:2: IO-1: not UTF-8"),
    (RUN.replace("s.n3t", "binary.n3t.gz"), "cannot be read: damaged, or not gzip"),
    (RUN.replace("s.n3t", "binary.jelly"), "binary.jelly:1: IO-1: damaged, or not Jelly"),
    (RUN.replace("s.n3t", "time.ndjson"), "IO-1: time: a time must be an integer (ms)"),
    (RUN.replace("s.n3t", "-"), "standard input: IO-1: its format is not known"),
    (f"{RUN} --stdin-format nq", "--stdin-format: IO-1: nothing is read from standard input"),
    (f"{RUN} --time-predicate a", "time predicate: IO-1: relative IRI 'a'; write it in full"),
    (RUN.replace("s.n3t", "s.csv") + " --columns columns.toml", "columns.toml: IO-1: "),
    (RUN.replace("s.n3t", "s.csv") + " --columns folder", "folder: IO-1: cannot be read"),
    # the semantics
    (RUN.replace("csparql", "nosuch"), "SEM-1: unknown profile 'nosuch'; valid: coral8"),
    (RUN.replace("csparql", '""'), "SEM-1: unknown profile ''"),
    (f"{RUN} t0=1", "SEM-1: t0 is given twice"),
    (f"{RUN} period", "SEM-1: expected key=value, such as t0=0, got 'period'"),
    (RUN.replace("t0=0", "t0="), "SEM-1: t0 must be an integer or one of"),
    (RUN.replace("t0=0", "t0=nan"), "SEM-1: t0 must be an integer or one of"),
    (RUN.replace("t0=0", f"t0={'9' * 5000}"), "SEM-1: t0 must be within 64 bits"),
    (RUN.replace("t0=0", "=0"), "SEM-1: unknown key ''"),
    # the other options
    (f"{RUN} --max-reports 0", "ENG-3: --max-reports must be > 0, got 0"),
    (f"{RUN} --seconds nan", "R2R-17: --seconds must be >= 0, got nan"),
    (f"{RUN} --seconds -1", "R2R-17: --seconds must be >= 0, got -1"),
    (f"{RUN} --base rel", "base: DIA-5: must be an absolute IRI, such as http://example.org/"),
    ('render q.toml --dialect csparql --base "a b"', "base: DIA-5: must be an absolute IRI"),
    (f"{RUN} --static missing.ttl", "missing.ttl: IO-1: cannot be read: No such file"),
    (f"{RUN} --static folder", "folder: IO-1: a file of static data cannot end in ''"),
    (RUN.replace("q.toml", "from.toml"), "give the data by --static urn:g=FILE"),
    (RUN.replace("q.toml", "from.toml") + " --static =g.ttl", "such as urn:g, got ''"),
    ("render folder --explain", "folder: QRY-1: cannot be read: not a regular file"),
    # the command line that judges
    ("bounded join.toml --stream =s.n3t", "--stream: QRY-4: an empty name of a stream"),
    ("bounded join.toml --stream x=s.n3t", "streams: BND-1: there is no stream 's'"),
    ("bounded join.toml --stream s=s.n3t --memory nan", "--memory: BND-3: expected a number"),
    ("bounded join.toml --stream s=s.n3t --seeds -1", "--seeds must be > 0, got -1"),
    (f"{TRUTH} -o s.n3t/out", "s.n3t/out: usage: cannot write: Not a directory"),
    (f"{TRUTH} -o s.n3t", "s.n3t: usage: cannot write: File exists"),
    (f"{TRUTH.replace('s.n3t', '=s.n3t')} -o out", "--stream: QRY-4: an empty name of a stream"),
    (f"{TRUTH} -o out --parts -1", "--parts must be > 0, got -1"),
    (f"{TRUTH} -o out --spark nonsense", "spark: no master 'nonsense'"),
    (f"{TRUTH} -o out --answers bindings.json", "relations[0]: IO-2: must be an object, got 5"),
    ("csrbench s.n3t", "s.n3t: IO-1: not a folder"),
    ("csrbench folder --missing -1", "--missing: ORA-3: must be >= 0, got -1"),
    ("secret binary.toml", "binary.toml:2: vector: not UTF-8"),
    ("report results.ndjson -o folder", "folder: usage: cannot write: not a regular file"),
    ("report results.ndjson -o out.html", "no result: 'engine' is a required property"),
    ("report binary.ndjson -o out.html", "binary.ndjson:1: results: no JSON"),
    ("case missing.ndjson X", "missing.ndjson: results: cannot be read: No such file"),
    ("bench nosuch", "no benchmark 'nosuch'; valid: citybench"),
    ("bench lsbench --engine reference --runs 0 -o out", "--runs must be > 0, got 0"),
    ("adaptive --window nosuch", "--window: usage: 'nosuch' is no window; valid: "),
    ("new ../x --language go", "engine: the name of an engine has small letters"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the files of the tests."""
    for name, content in FILES.items():
        if isinstance(content, str):
            content = content.encode()
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words_of(text: str) -> list[str]:
    return [word.strip('"') for word in text.replace('"a b"', '"a\x00b"').split()]


@pytest.mark.parametrize(("text", "line"), WRONG_USES, ids=[use[0][:80] for use in WRONG_USES])
def test_a_wrong_use_ends_in_one_line(folder, capsys, text, line):
    words = [word.replace("\x00", " ") for word in words_of(text)]
    main = refengine if words[0] in ("run", "render") else conformance
    assert main(words) == 2
    said = capsys.readouterr()
    *notes, last = said.err.splitlines()
    assert line in last and last.isprintable() and len(last) < 2100
    assert all(": note: " in note for note in notes) and not said.out
