"""`python -m refengine run` as a user meets it."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import refengine
from refengine import cli
from refengine.__main__ import main
from refengine.core.query import WindowKind

ROOT = Path(__file__).parents[2]
# the last line on standard error, where three windows have an element each
PROVENANCE = (
    "refengine: provenance: incremental; witnesses were asked for 3 of 3 incremental answers\n"
)
QUERY = """
windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]
body = "SELECT ?x WHERE { ?x <urn:p> ?y }"
"""
STREAM = '<urn:a> <urn:p> "1" "3" .\n<urn:b> <urn:p> "x y" "10" .\n<urn:c> <urn:p> <urn:d> "31" .\n'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "q.toml").write_text(QUERY)
    (tmp_path / "s.n3t").write_text(STREAM)
    return tmp_path


def run(
    files: Path, *words: str, profile: str = "csparql", query: str = "q.toml", stream: str = "s.n3t"
) -> int:
    return main(
        ["run", str(files / query), "--stream", str(files / stream), "--semantics", profile, *words]
    )


def test_one_json_object_a_report(files, capsys):
    assert run(files, "t0=0") == 0
    reports = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    # WIN-3: [0,10) holds a@3, [10,20) b@10, [30,40) c@31; REP-3 drops [20,30). REP-1: closed at c -
    # 1 by the next arrival, the last by the horizon 31 + 10 + 2 (ENG-1). ENG-4: stamped with c.
    got = [
        (r["window"], r["evaluation"], r["trigger"], r["instant"], r["results"]["bindings"])
        for r in reports
    ]
    rows = [[{"x": {"type": "uri", "value": f"urn:{name}"}}] for name in "abc"]
    assert got == [
        ({"open": 0, "close": 10}, 9, 10, 10, rows[0]),
        ({"open": 10, "close": 20}, 19, 31, 20, rows[1]),
        ({"open": 30, "close": 40}, 39, 43, 40, rows[2]),
    ]
    assert all(
        r["head"] == {"vars": ["x"]} and r["witnesses"] == ["rdflib", "pyoxigraph"] for r in reports
    )


def test_trace_names_rules(files, capsys):
    assert run(files, "t0=0", "--trace") == 0
    first = capsys.readouterr().err.split("\n\n")[0]
    rules = [
        "TICK-1",
        "TICK-4",
        "WIN-4",
        "WIN-5",
        "WIN-8",
        "REP-1",
        "REP-3",
        "R2R-1",
        "R2R-2",
        "R2S-1",
        "ENG-4",
    ]
    assert [line.split()[0] for line in first.splitlines()] == rules
    assert (
        "WIN-5 the scope is the instants 0 to 9" in first
        and "WIN-8 the content is the elements 1@3" in first
    )


def test_trace_shows_what_is_suppressed(files, capsys):
    assert (
        run(files, "t0=0", "r2s=Dstream", "base=previous", "--trace", profile="sparqlstream") == 0
    )
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
        (["t0"], "SEM-1: expected key=value, such as t0=0, got 't0'"),
        (["t0=" + "9" * 5000], "SEM-1: t0 must be within 64 bits"),
        (["t0=-" + "9" * 19], "SEM-1: t0 must be within 64 bits"),
        (["t0=\u0663"], "SEM-1: t0 must be an integer or one of"),
        (["t0=--1"], "SEM-1: t0 must be an integer or one of"),
        (["t0=0", "tick=tupel"], "got 'tupel'; did you mean 'tuple'?"),
        (["t0=0", "--max-reports", "0"], "ENG-3: --max-reports must be > 0, got 0"),
        (
            ["t0=0", "--time-predicate", "p"],
            "time predicate: IO-1: relative IRI 'p'; write it in full",
        ),
        (["t0=0", "--static", ""], "IO-1: an empty path"),
        (["t0=0", "horizon=5"], "ENG-1: horizon 5 is not after the last element, at 31"),
        (["t0=-1000000000000000", "report=window-close"], "ENG-3: 100000000000000 reports"),
        (
            [
                "t0=kafka-streams",
                "closure=(]",
                "report=non-empty",
                "tick=time",
                "--max-reports",
                "2",
            ],
            "ENG-3",
        ),
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
        (
            QUERY.replace("slide = 10", "slide = 1.5"),
            2,
            "WIN-1: slide must be an integer > 0, got 1.5",
        ),
        (QUERY.replace("slide", "slid"), 2, "unknown key 'slid'; did you mean 'slide'?"),
        (
            QUERY.replace('"time"', '"hopping"'),
            2,
            f"kind must be one of {', '.join(WindowKind)}",
        ),
        (QUERY.replace('"time"', '"rows"'), 2, "QRY-5: no window has borders; write closure=none"),
        (QUERY.replace("SELECT", "SELEKT"), 2, "body line 1 column 1: QRY-1: not SPARQL 1.1"),
        (QUERY.replace("<urn:p>", "foaf:p"), 2, "prefix 'foaf' is not declared"),
        (QUERY.replace("<urn:p>", "<p>"), 2, "relative IRI <p>"),
        (
            QUERY.replace("{ ?x", "{ SERVICE <http://e/> { ?x ?p ?z } ?x"),
            2,
            "QRY-2: SERVICE would reach the network",
        ),
        (
            QUERY.replace("WHERE", "FROM <http://e/> WHERE"),
            2,
            "QRY-2: FROM <http://e/> would reach",
        ),
        (
            QUERY.replace("SELECT ?x WHERE { ?x <urn:p> ?y }", "LOAD <http://e/>"),
            2,
            "QRY-2: an update",
        ),
        (QUERY.replace("?x WHERE", "(RAND() AS ?r) WHERE"), 3, "QRY-3: RAND has no single answer"),
        (
            QUERY.replace("?y }", "?y } ORDER BY ?x LIMIT " + "9" * 5000),
            3,
            "R2R-17: LIMIT and OFFSET have at most 18 digits",
        ),
        (
            QUERY.replace("?y }", "?y FILTER(" + "(" * 300 + "1" + ")" * 300 + ") }"),
            3,
            "body: R2R-17: brackets nested more than 60 deep",
        ),
        (QUERY.replace('"time"', '"tiem"'), 2, "got 'tiem'; did you mean 'time'?"),
        (
            QUERY.replace("?x WHERE", "(STR(4 / 2) AS ?t) WHERE"),
            3,
            "QRY-3: the lexical form of a computed xsd:decimal",
        ),
        (
            QUERY.replace('stream = "s"', 'stream = "s"') + 'r2s = "Xstream"',
            2,
            "SEM-1: r2s must be one of",
        ),
        (
            QUERY.replace(" }]", ' }, { stream = "z", kind = "time", size = 1, slide = 1 }]'),
            2,
            "QRY-4: window on undeclared stream 'z'",
        ),
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
        (
            '<urn:a> <urn:p> "1" "3" .\n<urn:a> <urn:p> "1" "2" .\n',
            "stream 's': element 2: MOD-2: t_app decreases from 3 to 2; write allowed_lateness=1",
        ),
        ('<urn:a> <urn:p> "1" "x" .\n', "s.n3t:1"),
        ('<urn:a> <urn:p> "1" "9223372036854775808" .\n', "s.n3t:1"),
        ("<urn:a> <urn:p>\n", "s.n3t:1"),
    ],
)
def test_streams(files, capsys, stream, reason):
    (files / "s.n3t").write_text(stream)
    assert run(files, "t0=0") == (0 if reason is None else 2)
    out, err = capsys.readouterr()
    if reason is None:
        assert err.startswith("refengine: provenance: incremental") and len(err.splitlines()) == 1
    else:
        assert reason in err and not out


def test_late_elements_are_counted(files, capsys):
    """MOD-2: with disorder 2, b@10 and c@9 are put in order and d@7, late by 3, is dropped."""
    (files / "s.n3t").write_text(
        "".join(
            f'<urn:{s}> <urn:p> "1" "{at}" .\n'
            for s, at in (("a", 1), ("b", 10), ("c", 9), ("d", 7), ("e", 25))
        )
    )
    assert run(files, "t0=0", "allowed_lateness=2") == 0
    out, err = capsys.readouterr()
    # The windows [0, 10) and [10, 20) close when b@10, which came before d, and e@25 are looked at.
    found = [
        (r["window"]["open"], [b["x"]["value"] for b in r["results"]["bindings"]], r.get("late"))
        for r in map(json.loads, out.splitlines())
    ]
    assert [(o, sorted(rows), late) for o, rows, late in found] == [
        (0, ["urn:a", "urn:c"], None),
        (10, ["urn:b"], 1),
        (20, ["urn:e"], 1),
    ]
    note = "refengine: note: 1 late elements dropped, the first at 7, arrival 4 (MOD-2)\n"
    assert err == note + PROVENANCE


TWO = """
windows = [
  { stream = "s", kind = "time", size = 10, slide = 10 },
  { stream = "z", kind = "rows", size = 1, name = "urn:latest" },
]
body = "SELECT ?x ?y ?k WHERE { ?x <urn:p> ?v . GRAPH <urn:latest> { ?y <urn:p> ?w } ?x <urn:k> ?k }"
"""  # noqa: E501


def test_several_windows_and_static_data(files, capsys):
    """REP-12, R2R-8: whenever the content of one window changes, [0, 10) of s joins with the latest
    of z and with what is static.
    """
    (files / "q.toml").write_text(TWO)
    (files / "s.n3t").write_text('<urn:a> <urn:p> "1" "3" .\n')
    (files / "z.n3t").write_text('<urn:b> <urn:p> "1" "4" .\n')
    (files / "k.ttl").write_text('<urn:a> <urn:k> "static" . <urn:c> <urn:k> "other" .')
    words = [
        "--stream",
        f"s={files / 's.n3t'}",
        "--stream",
        f"z={files / 'z.n3t'}",
        "--static",
        str(files / "k.ttl"),
        "--trace",
    ]
    semantics = ["--semantics", "cqels", "t0=0", "r2s=Rstream", "base=none"]
    assert main(["run", str(files / "q.toml"), *words, *semantics]) == 0
    out, err = capsys.readouterr()
    reports = [json.loads(line) for line in out.splitlines()]
    assert [(r["evaluation"], r["windows"]) for r in reports] == [
        (4, [{"stream": "s", "window": {"open": 0, "close": 10}}, {"stream": "z", "window": None}]),
    ]
    assert [{n: t["value"] for n, t in b.items()} for b in reports[0]["results"]["bindings"]] == [
        {"x": "urn:a", "y": "urn:b", "k": "static"}
    ]
    assert (
        "REP-12 the trigger is any of 2 windows" in err
        and "WIN-14 window on z: the content is the elements 1@4" in err
    )


CSPARQL = (
    "REGISTER QUERY q AS\nSELECT ?x\nFROM STREAM <s> [RANGE 10ms TUMBLING]\nWHERE { ?x "
    "<urn:p> ?y }\n"
)


def test_a_query_in_a_dialect_gives_the_same_reports(files, capsys):
    assert run(files, "t0=0") == 0
    wanted = capsys.readouterr().out
    (files / "q.csparql").write_text(CSPARQL)
    assert run(files, "t0=0", "--dialect", "csparql", query="q.csparql") == 0
    assert capsys.readouterr() == (wanted, PROVENANCE)


def test_a_query_is_rendered(files, capsys):
    (files / "q.csparql").write_text(CSPARQL)
    words = ["render", str(files / "q.csparql"), "--from", "csparql", "--dialect"]
    assert main([*words, "cqels"]) == 0
    assert (
        capsys.readouterr().out
        == "SELECT ?x\nWHERE {\nSTREAM <s> [RANGE 10ms TUMBLING] { ?x <urn:p> ?y }\n}\n"
    )
    assert main([*words, "rsp-js", "--semantics", "rsp-js"]) == 0
    assert capsys.readouterr().out.startswith(
        "REGISTER RStream <out> AS\nSELECT ?x\n\nFROM "
        "NAMED WINDOW <urn:window> ON STREAM <s> [RANGE "
        "10 STEP 10]\n"
    )
    assert main(["render", str(files / "q.toml"), "--dialect", "csparql"]) == 0
    rendered = capsys.readouterr().out
    (files / "again").write_text(rendered)
    assert run(files, "t0=0", "--dialect", "csparql", query="again") == 0


def test_a_query_is_compiled(files, capsys):
    """The module says what is done with a triple of the pattern, and with its row, in the query's
    names; it is Python.
    """
    assert main(["compile", str(files / "q.toml")]) == 0
    printed = capsys.readouterr().out
    compile(printed, "module", "exec")
    assert "def follow(change, body):" in printed
    for line in (
        "# R2R-1 Insert a triple with :p; one that is there already changes nothing",
        "# R2R-2 SELECT: the row",
        "row = (('x', v_x),)",
    ):
        assert line in map(str.strip, printed.splitlines())
    (files / "q.csparql").write_text(CSPARQL)
    assert main(["compile", str(files / "q.csparql"), "--dialect", "csparql"]) == 0
    assert capsys.readouterr().out == printed


def test_what_is_not_covered_is_not_compiled(files, capsys):
    text = (files / "q.toml").read_text().replace("?x <urn:p> ?y", "BIND(NOW() AS ?x)")
    (files / "now.toml").write_text(text)
    assert main(["compile", str(files / "now.toml")]) == 3
    error = capsys.readouterr().err
    assert "ENG-6" in error and "does not cover NOW()" in error


def test_what_cannot_be_rendered_is_unsupported(files, capsys):
    (files / "q.toml").write_text(QUERY + 'r2s = "Istream"\n')
    assert (
        main(["render", str(files / "q.toml"), "--dialect", "cqels", "--semantics", "csparql"]) == 3
    )
    assert capsys.readouterr() == (
        "",
        "refengine: r2s: DIA-6: CQELS-QL cannot state Istream, and the semantics says Rstream\n",
    )
    assert (
        main(
            [
                "render",
                str(files / "q.toml"),
                "--dialect",
                "cqels",
                "--semantics",
                "csparql",
                "r2s=Istream",
                "base=previous",
            ]
        )
        == 0
    )
    assert (
        main(["render", str(files / "q.toml"), "--dialect", "cqels", "--semantics", "cqels"]) == 0
    )
    capsys.readouterr()
    assert (
        main(["render", str(files / "q.toml"), "--dialect", "rsp4j", "--semantics", "yasper"]) == 2
    )
    assert capsys.readouterr() == (
        "",
        "refengine: SEM-3: profile 'yasper' leaves r2s unknown; give r2s=…\n",
    )


def test_a_text_in_another_dialect(files, capsys):
    (files / "q.csparql").write_text(CSPARQL)
    assert run(files, "t0=0", "--dialect", "cqels", query="q.csparql") == 2
    out, err = capsys.readouterr()
    place = (
        f"refengine: {files / 'q.csparql'}: line 1 column 1: DIA-7: expected ASK, BASE, "
        "CONSTRUCT, DESCRIBE, PREFIX or SELECT, got 'REGISTER'"
    )
    assert (out, err) == ("", f"{place}; this looks like C-SPARQL (csparql)\n")


GRAPHS = """
REGISTER QUERY q AS SELECT ?x ?k ?n
FROM STREAM <s> [RANGE 10ms TUMBLING] FROM <k> FROM NAMED <urn:n>
WHERE { ?x <urn:p> ?y . ?x <urn:k> ?k . GRAPH <urn:n> { ?x <urn:n> ?n } }
"""


def test_static_data_by_iri(files, capsys):
    """QRY-2: FROM adds a graph to the default graph and FROM NAMED names one. The data may be
    packed, and the IRIs relative to --base.
    """
    (files / "q.csparql").write_text(GRAPHS)
    (files / "k.ttl.gz").write_bytes(gzip.compress(b'<urn:a> <urn:k> "k" .'))
    (files / "n.trig").write_text('<urn:n> { <urn:a> <urn:n> "n" }')
    words = ["t0=0", "--dialect", "csparql", "--base", "http://e/f"]
    given = [f"k={files / 'k.ttl.gz'}", f"urn:n={files / 'n.trig'}", f"urn:o={files / 'n.trig'}"]
    for word in given:
        words += ["--static", word]
    assert run(files, *words, query="q.csparql", stream="s.n3t") == 0
    out, err = capsys.readouterr()
    reports = [json.loads(line)["results"]["bindings"] for line in out.splitlines()]
    rows = [{name: term["value"] for name, term in row.items()} for rows in reports for row in rows]
    assert rows == [{"x": "urn:a", "k": "k", "n": "n"}]
    assert err.splitlines() == [
        "refengine: note: the static data of <urn:o> is not used: no FROM of the query names it "
        "(QRY-2)",
        "refengine: provenance: incremental; witnesses were asked for 3 of 3 incremental answers",
    ]


def test_a_graph_that_is_not_given_is_named_with_its_option(files, capsys):
    (files / "q.csparql").write_text(GRAPHS)
    (files / "k.ttl").write_text('<urn:a> <urn:k> "k" .')
    words = ["--dialect", "csparql", "--base", "http://e/", "--static", f"k={files / 'k.ttl'}"]
    assert run(files, "t0=0", *words, query="q.csparql") == 2
    assert "FROM NAMED <urn:n> would reach the network or the disk; give the data by --static " in (
        capsys.readouterr().err
    )


def test_a_text_is_explained(files, capsys):
    (files / "q.csparql").write_text(GRAPHS)
    words = ["render", str(files / "q.csparql"), "--from", "csparql", "--explain"]
    assert main([*words, "--base", "http://e/"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("A window of kind time over the stream 'http://e/s'.")
    assert "FROM <http://e/k>: what --static http://e/k=FILE gives" in lines[4]


def test_a_lone_stream_pattern_does_not_see_static_data(files, capsys):
    """DIA-5: ?x <urn:k> ?y is in the static data alone, and STREAM reads the stream."""
    (files / "q.cqels").write_text("SELECT ?x { STREAM <s> [RANGE 10ms] { ?x <urn:k> ?y } }")
    (files / "k.ttl").write_text('<urn:a> <urn:k> "static" .')
    words = ["t0=0", "--dialect", "cqels", "--static", str(files / "k.ttl")]
    assert run(files, *words, profile="cqels", query="q.cqels") == 0
    assert capsys.readouterr().out == ""
    (files / "q.cqels").write_text(
        "SELECT ?x { STREAM <s> [RANGE 10ms] { ?x <urn:p> ?z } ?x <urn:k> ?y }"
    )
    assert run(files, *words, profile="cqels", query="q.cqels") == 0
    assert '"urn:a"' in capsys.readouterr().out


def test_profiles_are_a_table_with_sources(capsys):
    assert main(["profiles"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(
        line.startswith("| cqels-observed | first-reach | [] |")
        and "slide=ignored r2s=append" in line
        for line in lines
    )
    assert main(["profiles", "--format", "json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert {"csparql", "yasper", "esper", "etalis", "spark-1.6"} <= {
        row["profile"] for row in table
    }
    assert all(row["source"] and len(row) == 37 for row in table)


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


@pytest.mark.parametrize(
    ("word", "reason"),
    [("x" * 300 + "=y.n3t", "y.n3t: IO-1: cannot be read"), ("s=", "IO-1: an empty path")],
)
def test_odd_names_of_streams(files, capsys, word, reason):
    assert (
        main(["run", str(files / "q.toml"), "--stream", word, "--semantics", "csparql", "t0=0"])
        == 2
    )
    assert reason in capsys.readouterr().err


def test_a_stream_by_name(files, capsys):
    named = ["run", str(files / "q.toml"), "--semantics", "csparql", "t0=0", "--stream"]
    assert main([*named, f"s={files / 's.n3t'}"]) == 0
    assert main([*named, f"t={files / 's.n3t'}"]) == 2
    assert "window on undeclared stream 's'; declared: t" in capsys.readouterr().err


def test_ctrl_c_ends_in_one_line(files):
    lines = "".join(f'<urn:a{i}> <urn:p> "1" "{i * 10}" .\n' for i in range(20_000))
    (files / "s.n3t").write_text(lines)
    command = [
        sys.executable,
        "-m",
        "refengine",
        "run",
        str(files / "q.toml"),
        "--stream",
        str(files / "s.n3t"),
    ]
    process = subprocess.Popen(
        [*command, "--semantics", "csparql", "t0=0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.strip() == "refengine: interrupted"
    assert all(json.loads(line) for line in out.splitlines()[:-1])


@pytest.mark.parametrize(
    ("words", "witnesses"), [((), ["rdflib", "pyoxigraph"]), (("--witness", "rdflib"), ["rdflib"])]
)
def test_each_report_names_the_witnesses_that_confirm_it(files, capsys, words, witnesses):
    assert run(files, "t0=0", *words) == 0
    assert [json.loads(line)["witnesses"] for line in capsys.readouterr().out.splitlines()] == [
        witnesses
    ] * 3


def test_a_witness_that_differs_is_not_named(files, capsys):
    """rdflib leaves out what is no number, where SPARQL has an error."""
    (files / "q.toml").write_text(QUERY.replace("?x WHERE", "(AVG(?x) AS ?m) WHERE"))
    assert run(files, "t0=0") == 0
    assert [json.loads(line)["witnesses"] for line in capsys.readouterr().out.splitlines()] == [
        ["pyoxigraph"]
    ] * 3


def test_a_time_that_is_spent_is_unsupported(files, capsys):
    assert run(files, "t0=0", "--definition", "--seconds", "0") == 3
    assert "R2R-17: an evaluation of more than 0.0 seconds" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["t0=0"],
            "nothing is shown before 40, where the first window of the range on 's' "
            "ends, by t0=0 and partial=suppressed; "
            "write t0=-37 or partial=reported to see what comes before (WIN-12)",
        ),
        (
            ["t0=3", "partial=clipped"],
            "nothing is shown before 4, where the first window of "
            "the range on 's' ends, by t0=3; "
            "write t0=2 to see what comes before (WIN-12)",
        ),
        (["t0=-37"], None),
        (["t0=first-reach"], None),
    ],
)
def test_a_range_that_is_not_shown_yet_names_the_field_that_says_so(files, capsys, words, said):
    """WIN-12: the first element is at 3; [] and a size of 40."""
    (files / "q.toml").write_text(
        QUERY.replace('"time", size = 10, slide = 10', '"range", size = 40')
    )
    assert (
        run(
            files, *words, "closure=[]", "r2s=Rstream", "base=none", "horizon=none", profile="cqels"
        )
        == 0
    )
    out, err = capsys.readouterr()
    *notes, provenance = err.splitlines()
    assert notes == ([f"refengine: note: {said}"] if said else [])
    assert provenance.startswith("refengine: provenance: incremental")
    assert bool(out) == (words != ["t0=0"])


def test_the_trace_names_the_field_too(files, capsys):
    """Of two windows, at 3 the one of the instant has ended and the range has not."""
    windows = (
        'windows = [{ stream = "s", kind = "now" }, { stream = "s", kind = "range", size = 40 }]'
    )
    (files / "q.toml").write_text(re.sub("windows = .*", windows, QUERY))
    assert run(files, "t0=0", "closure=[]", "--trace", profile="cqels") == 0
    said = (
        "WIN-12 window on s: nothing is shown before 40, where the first window of the range "
        "on 's' ends, by t0=0 and partial=suppressed"
    )
    assert said in capsys.readouterr().err.splitlines()


def test_the_output_does_not_depend_on_hashing_or_locale(files):
    (files / "q.toml").write_text(QUERY.replace("SELECT ?x", "SELECT *"))
    outputs = set()
    for seed, locale in (("1", "C"), ("2", "C.UTF-8")):
        words = [
            "run",
            str(files / "q.toml"),
            "--stream",
            str(files / "s.n3t"),
            "--semantics",
            "csparql",
            "t0=0",
        ]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale}
        done = subprocess.run(
            [sys.executable, "-m", "refengine", *words],
            capture_output=True,
            cwd=ROOT,
            env=environment,
            timeout=60,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1 and outputs != {b""}


def test_epoch_milliseconds_cost_nothing(files, capsys):
    (files / "s.n3t").write_text(
        '<urn:a> <urn:p> "1" "1700000000000" .\n<urn:b> <urn:p> "1" "1800000000000" .\n'
    )
    assert run(files, "t0=0") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_commands_of_the_readme_run(capsys, monkeypatch):
    """And those of the page about the command line, which begins with the same one. Below commands
    run in a process of their own.
    """
    monkeypatch.chdir(ROOT)
    pages = (ROOT / "README.md", ROOT / "docs" / "command-line.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    outputs = []
    for command in re.findall(r"^python -m refengine ((?:run|render) .*)$", text, re.MULTILINE):
        assert main(command.split()) == 0, command
        out, err = capsys.readouterr()
        assert out and ("TICK-1" in err) == ("--trace" in command), command
        outputs.append(out)
    assert len(outputs) == 6
    assert outputs[0] == outputs[1] == outputs[2]  # one query, in TOML and in C-SPARQL


# What ends a run


def spawned(files: Path, redirection: str = "", *options: str) -> subprocess.CompletedProcess:
    """A run in a process of its own, with some of its streams redirected."""
    words = ["run", files / "q.toml", "--stream", files / "s.n3t", "--semantics", "csparql", "t0=0"]
    shell = [
        "sh",
        "-c",
        f'exec "$@" {redirection}',
        "sh",
        sys.executable,
        *options,
        "-m",
        "refengine",
    ]
    return subprocess.run([*shell, *words], capture_output=True, text=True, cwd=ROOT, timeout=60)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_an_output_that_is_full(files):
    done = spawned(files, ">/dev/full")
    assert (done.returncode, done.stderr) == (
        2,
        "refengine: standard output: usage: cannot be written: No space left on device\n",
    )


def test_closed_streams_are_no_errors(files):
    done = spawned(files, ">&-", "-W", "error")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", PROVENANCE)
    (files / "q.toml").write_text("no TOML")
    done = spawned(files, "2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_warnings_change_no_verdict(files):
    (files / "q.toml").write_text(
        QUERY.replace("{ ?x <urn:p> ?y }", "{ ?x <urn:p> ?y OPTIONAL { GRAPH ?g { ?x ?p ?y } } }")
    )
    done = spawned(files, "", "-W", "error")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 3)
    (line,) = done.stderr.splitlines()
    assert line.startswith("refengine: provenance: ")


def test_rdflib_logs_nothing(files):
    (files / "s.n3t").write_text(
        '<urn:a> <urn:p> "x"^^<http://www.w3.org/2001/XMLSchema#integer> "3" .\n'
    )
    done = spawned(files)
    assert (done.returncode, done.stderr) == (0, PROVENANCE.replace("3", "1"))


def test_nothing_heavy_is_imported_before_it_can_be_interrupted():
    code = (
        "import conformance.__main__, refengine.__main__, sys; sys.exit(bool({'rdflib', "
        "'tqdm'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60).returncode == 0
    imported = (
        "import sys, refengine_conformance_plugin; sys.exit(any(name.startswith('refengine.') or "
        "name.startswith('conformance') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", imported], cwd=ROOT, timeout=60).returncode == 0


def test_a_termination_cleans_up_and_is_told_by_the_exit_code():
    before, cleaned = signal.getsignal(signal.SIGTERM), []

    def run() -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            cleaned.append(True)
        return 0

    with pytest.raises(SystemExit) as ended:
        cli.run("test", run)
    assert ended.value.code == 143 and cleaned and signal.getsignal(signal.SIGTERM) is before


def test_a_message_does_not_steer_the_terminal(files, capsys):
    assert run(files, "t0=0", stream="\x1b[31m\u202e.n3t") == 2
    err = capsys.readouterr().err
    assert r"\x1b[31m\u202e.n3t: IO-1: cannot be read" in err and err.rstrip("\n").isprintable()


def test_what_is_public_is_there():
    assert all(getattr(refengine, name) is not None for name in refengine.__all__)
    assert not hasattr(refengine, "nothing")
