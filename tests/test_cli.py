"""`python -m refengine run` as a user meets it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from refengine.__main__ import main

ROOT = Path(__file__).parents[1]
QUERY = """
windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]
body = "SELECT ?x WHERE { ?x <urn:p> ?y }"
"""
STREAM = '<urn:a> <urn:p> "1" "3" .\n<urn:b> <urn:p> "x y" "10"\n<urn:c> <urn:p> <urn:d> "31" .\n'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "q.toml").write_text(QUERY)
    (tmp_path / "s.n3t").write_text(STREAM)
    return tmp_path


def run(files: Path, *words: str, profile: str = "csparql", query: str = "q.toml", stream: str = "s.n3t") -> int:
    return main(["run", str(files / query), "--stream", str(files / stream), "--semantics", profile, *words])


def test_one_json_object_a_report(files, capsys):
    assert run(files, "t0=0") == 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    # WIN-3: [0,10) holds a@3, [10,20) b@10, [30,40) c@31; REP-3 drops [20,30). REP-1: closed at c - 1 by the next arrival,
    # the last by the horizon 31 + 10 + 2 (ENG-1). ENG-4: stamped with c.
    got = [(r["window"], r["evaluation"], r["trigger"], r["instant"], r["results"]["bindings"]) for r in reports]
    rows = [[{"x": {"type": "uri", "value": f"urn:{name}"}}] for name in "abc"]
    assert got == [
        ({"open": 0, "close": 10}, 9, 10, 10, rows[0]),
        ({"open": 10, "close": 20}, 19, 31, 20, rows[1]),
        ({"open": 30, "close": 40}, 39, 43, 40, rows[2]),
    ]
    assert all(r["head"] == {"vars": ["x"]} and r["witnesses"] == ["rdflib", "pyoxigraph"] for r in reports)


def test_trace_names_rules(files, capsys):
    assert run(files, "t0=0", "--trace") == 0
    first = capsys.readouterr().err.split("\n\n")[0]
    rules = "TICK-1 TICK-4 WIN-4 WIN-5 WIN-8 REP-3 REP-1 R2R-1 R2R-2 R2S-1 ENG-4".split()
    assert [line.split()[0] for line in first.splitlines()] == rules
    assert "WIN-5 the scope is the instants 0 to 9" in first and "WIN-8 the content is the elements 1@3" in first


def test_trace_shows_what_is_suppressed(files, capsys):
    assert run(files, "t0=0", "r2s=Dstream", "--trace", profile="sparqlstream") == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 2 and err.count("R2S-5 the empty answer is suppressed") == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "SEM-3: profile 'csparql' leaves t0 unknown; give t0=…"),
        (["t0=0", "closre=x"], "SEM-1: unknown key 'closre'; did you mean 'closure'?"),
        (["t0=0", "closure=x"], "SEM-1: closure must be one of [), (], []"),
        (["t0=zero"], "SEM-1: t0 must be an integer or one of"),
        (["t0=0", "report=periodic"], "SEM-2: report is periodic but no period is given"),
        (["t0=0", "period=3"], "SEM-2: period given, but report is not periodic"),
        (["t0=0", "report=periodic", "period=0", "anchor=0"], "SEM-2: period must be > 0"),
        (["t0=0", "tick=batch"], "TICK-3: the batch tick needs a batch id"),
        (["t0=0", "t0=1"], "SEM-1: t0 is given twice"),
        (["t0"], "SEM-1: 't0' is no key=value"),
        (["t0=0", "horizon=5"], "ENG-1: horizon 5 is not after the last element, at 31"),
        (["t0=-1000000000000000", "report=window-close"], "ENG-3: 100000000000000 reports"),
        (["t0=kafka-streams", "closure=(]", "report=non-empty", "tick=time", "--max-reports", "2"], "ENG-3"),
    ],
)
def test_bad_semantics(files, capsys, words, reason):
    assert run(files, *words) == 2
    out, err = capsys.readouterr()
    assert reason in err and not out and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("query", "code", "reason"),
    [
        ("windows = [", 2, "q.toml:1: QRY-1: not TOML"),
        (QUERY.replace("size = 10", "size = 0"), 2, "WIN-1: size must be an integer > 0, got 0"),
        (QUERY.replace("slide = 10", "slide = 1.5"), 2, "WIN-1: slide must be an integer > 0, got 1.5"),
        (QUERY.replace("slide", "slid"), 2, "unknown key 'slid'; did you mean 'slide'?"),
        (QUERY.replace('"time"', '"rows"'), 2, "kind must be one of time, tuple"),
        (QUERY.replace("SELECT", "SELEKT"), 2, "body line 1 column 1: QRY-1: not SPARQL 1.1"),
        (QUERY.replace("<urn:p>", "foaf:p"), 2, "prefix 'foaf' is not declared"),
        (QUERY.replace("<urn:p>", "<p>"), 2, "relative IRI <p>"),
        (QUERY.replace("{ ?x", "{ SERVICE <http://e/> { ?x ?p ?z } ?x"), 2, "QRY-2: SERVICE would reach the network"),
        (QUERY.replace("WHERE", "FROM <http://e/> WHERE"), 2, "QRY-2: FROM would reach"),
        (QUERY.replace("SELECT ?x WHERE { ?x <urn:p> ?y }", "LOAD <http://e/>"), 2, "QRY-2: an update"),
        (QUERY.replace("?x WHERE", "(RAND() AS ?r) WHERE"), 3, "QRY-3: RAND has no single answer"),
        (QUERY.replace("?y }", "?y } LIMIT 1"), 3, "QRY-3: LIMIT or OFFSET without a total ORDER BY"),
        (QUERY.replace('stream = "s"', 'stream = "s"') + 'r2s = "Xstream"', 2, "SEM-1: r2s must be one of"),
        (QUERY.replace(" }]", ' }, { stream = "s", kind = "time", size = 1, slide = 1 }]'), 3, "QRY-4: several windows"),
    ],
)
def test_bad_queries(files, capsys, query, code, reason):
    (files / "q.toml").write_text(query)
    assert run(files, "t0=0") == code
    out, err = capsys.readouterr()
    assert reason in err and not out and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        ("", None),
        ('<urn:a> <urn:p> "1" "3" .\n', None),
        ('<urn:a> <urn:p> "1" "3" .\n<urn:a> <urn:p> "1" "2" .\n', "s.n3t:2"),
        ('<urn:a> <urn:p> "1" "x" .\n', "s.n3t:1"),
        ('<urn:a> <urn:p> "1" "9223372036854775808" .\n', "s.n3t:1"),
        ("<urn:a> <urn:p>\n", "s.n3t:1"),
    ],
)
def test_streams(files, capsys, stream, reason):
    (files / "s.n3t").write_text(stream)
    assert run(files, "t0=0") == (0 if reason is None else 2)
    out, err = capsys.readouterr()
    assert (reason is None and not err) or (reason in err and not out)


def test_an_order_that_was_not_recorded_is_said(tmp_path, capsys):
    (tmp_path / "q.toml").write_text(QUERY)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "data_00.ttl").write_text("<urn:a> <urn:p> 1, 2 .")
    assert run(tmp_path, "t0=0", stream="data", profile="cqels") == 0
    assert "the arrival order of simultaneous elements was not recorded" in capsys.readouterr().err


def test_missing_files(files, capsys):
    assert run(files, "t0=0", stream="none.n3t") == 2
    assert run(files, "t0=0", query="none.toml") == 2
    assert capsys.readouterr().err.count("none.") == 2


def test_a_stream_by_name(files, capsys):
    named = ["run", str(files / "q.toml"), "--semantics", "csparql", "t0=0", "--stream"]
    assert main([*named, f"s={files / 's.n3t'}"]) == 0
    assert main([*named, f"t={files / 's.n3t'}"]) == 2
    assert "window on undeclared stream 's'; declared: t" in capsys.readouterr().err


def test_ctrl_c_ends_in_one_line(files):
    lines = "".join(f'<urn:a{i}> <urn:p> "1" "{i * 10}" .\n' for i in range(20_000))
    (files / "s.n3t").write_text(lines)
    command = [sys.executable, "-m", "refengine", "run", str(files / "q.toml"), "--stream", str(files / "s.n3t")]
    process = subprocess.Popen(
        [*command, "--semantics", "csparql", "t0=0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.strip() == "refengine: interrupted"
    assert all(json.loads(line) for line in out.splitlines()[:-1])


def test_rdflib_alone_says_one_witness(files):
    """The base install: without pyoxigraph the engine works and the provenance says one witness."""
    hide = "import sys; sys.modules['pyoxigraph'] = None; from refengine.__main__ import main; sys.exit(main(sys.argv[1:]))"
    words = ["run", str(files / "q.toml"), "--stream", str(files / "s.n3t"), "--semantics", "csparql", "t0=0"]
    done = subprocess.run([sys.executable, "-c", hide, *words], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["witnesses"] for line in done.stdout.splitlines()] == [["rdflib"]] * 3


def test_the_output_does_not_depend_on_hashing_or_locale(files):
    (files / "q.toml").write_text(QUERY.replace("SELECT ?x", "SELECT *"))
    outputs = set()
    for seed, locale in (("1", "C"), ("2", "C.UTF-8")):
        words = ["run", str(files / "q.toml"), "--stream", str(files / "s.n3t"), "--semantics", "csparql", "t0=0"]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale}
        done = subprocess.run(
            [sys.executable, "-m", "refengine", *words], capture_output=True, cwd=ROOT, env=environment, timeout=60
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1 and outputs != {b""}


def test_epoch_milliseconds_cost_nothing(files, capsys):
    (files / "s.n3t").write_text('<urn:a> <urn:p> "1" "1700000000000" .\n<urn:b> <urn:p> "1" "1800000000000" .\n')
    began = time.process_time()
    assert run(files, "t0=0") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert time.process_time() - began < 30  # 10^11 steps would take days


def test_the_readme_runs():
    text = (ROOT / "README.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    [command] = re.findall(r"^python -m refengine (run .*)$", text, re.MULTILINE)
    done = subprocess.run([sys.executable, "-m", "refengine", *command.split()], capture_output=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0 and done.stdout and b"TICK-1" in done.stderr
