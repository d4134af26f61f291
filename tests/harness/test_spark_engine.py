"""Spark as an engine under test: which queries it is asked and which not, and some cases live."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from conformance import suite
from conformance.harness import engine_file, relational
from conformance.harness.client import Broken, Harness
from conformance.harness.pool import Harnesses
from conformance.harness.relational import Aggregate, Program
from conformance.verdict.outcomes import Outcome
from refengine import from_table
from refengine.model.errors import Unsupported

ROOT = Path(__file__).resolve().parents[2]
EX = "http://example.org/"
P = {"p": f"<{EX}p>"}
INTEGER, DECIMAL = ("http://www.w3.org/2001/XMLSchema#" + kind for kind in ("integer", "decimal"))
SPARK = engine_file.engine("spark")
TUMBLING = {"stream": "s", "kind": "time", "size": 10, "slide": 10}


def program(body: str, static: str = "", **more: object) -> Program:
    """The program of a body over a tumbling window of 10."""
    windows = more.pop("windows", [TUMBLING])
    return relational.program(
        from_table({"windows": windows, "body": f"PREFIX : <{EX}> {body}", **more}), static
    )


# What an engine over rows is asked


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("SELECT ?x WHERE { ?x :p ?y }", Program(P, [], {"x": "s"}, ("x",))),
        (
            "SELECT DISTINCT ?y WHERE { [] :p ?y }",
            Program(P, [], {"y": "o"}, ("y",), distinct=True),
        ),
        (
            "SELECT * WHERE { ?x ?p 1 }",
            Program({"o": f'"1"^^<{INTEGER}>'}, [], {"p": "p", "x": "s"}, ("p", "x")),
        ),
        ("SELECT ?x WHERE { ?x ?x ?x }", Program({}, [("s", "p"), ("s", "o")], {"x": "s"}, ("x",))),
        ("SELECT ?x ?z WHERE { ?x :p _:b }", Program(P, [], {"x": "s"}, ("x", "z"))),
        (
            "SELECT ?x WHERE { :a :p 'b'@en }",
            Program({"s": f"<{EX}a>", **P, "o": '"b"@en'}, [], {}, ("x",)),
        ),
        (
            "SELECT (COUNT(*) AS ?n) WHERE { ?x :p ?y }",
            Program(P, [], {}, ("n",), aggregates={"n": Aggregate("count", "s", False)}),
        ),
        (
            "SELECT ?x (AVG(?y) AS ?m) (COUNT(DISTINCT ?y) AS ?n) WHERE { ?x :p ?y } GROUP BY ?x",
            Program(
                P,
                [],
                {"x": "s"},
                ("x", "m", "n"),
                aggregates={"m": Aggregate("avg", "n", False), "n": Aggregate("count", "o", True)},
            ),
        ),
        (
            "SELECT (MAX(?y) AS ?m) WHERE { ?x :p ?y } GROUP BY ?x",
            Program(P, [], {"x": "s"}, ("m",), aggregates={"m": Aggregate("max", "n", False)}),
        ),
    ],
)
def test_a_query_over_one_pattern_is_a_program(body, asked):
    assert program(body) == asked


def test_a_query_that_states_rstream_is_the_same_program():
    assert program("SELECT ?x WHERE { ?x :p ?y }", r2s="Rstream") == program(
        "SELECT ?x WHERE { ?x :p ?y }"
    )


DECLINED = [
    line.partition(" => ")
    for line in r"""SELECT ?x WHERE { ?x :p ?y . ?y :q ?z } => one triple pattern, not 2
SELECT ?x WHERE { } => one triple pattern, not 0
SELECT ?x WHERE { ?x :p+ ?y } => no property paths
SELECT ?x WHERE { ?x :p ?y FILTER (?y > 1) } => nothing around it, not Filter
SELECT ?x WHERE { ?x :p ?y OPTIONAL { ?x :q ?z } } => nothing around it, not LeftJoin
SELECT ?x WHERE { GRAPH ?g { ?x :p ?y } } => nothing around it, not Graph
SELECT ?x ?z WHERE { ?x :p ?y BIND (1 AS ?z) } => no expressions and no BIND
SELECT (?y + 1 AS ?z) WHERE { ?x :p ?y } => no expressions and no BIND
SELECT ?x WHERE { ?x :p ?y } ORDER BY ?x => not OrderBy
SELECT ?x WHERE { ?x :p ?y } ORDER BY ?x LIMIT 1 => no Slice around the projection
SELECT REDUCED ?x WHERE { ?x :p ?y } => no Reduced around the projection
SELECT DISTINCT (COUNT(?x) AS ?n) WHERE { ?x :p ?y } => no DISTINCT around aggregates
SELECT (COUNT(?x) AS ?n) WHERE { ?x :p ?y } HAVING (COUNT(?x) > 1) => not Filter
SELECT (COUNT(?x) + 1 AS ?n) WHERE { ?x :p ?y } => \?n as an aggregate of a variable
SELECT (SUM(?y + 1) AS ?n) WHERE { ?x :p ?y } => \?n as an aggregate of a variable
SELECT (COUNT(?z) AS ?n) WHERE { ?x :p ?y } => \?n as an aggregate of a variable
SELECT (COUNT(DISTINCT *) AS ?n) WHERE { ?x :p ?y } => DISTINCT of a variable, not of \*
SELECT (SUM(?x) AS ?n) WHERE { ?x :p ?y } => SUM of objects
SELECT (COUNT(?x) AS ?n) WHERE { ?x :p ?y } GROUP BY ?z => GROUP BY variables of the pattern
SELECT (COUNT(?x) AS ?n) WHERE { ?x :p ?y } GROUP BY (?y + 1) => GROUP BY variables of the pattern
SELECT (?x AS ?z) (COUNT(?y) AS ?n) WHERE { ?x :p ?y } GROUP BY ?x => keys under their own names
SELECT (SAMPLE(?y) AS ?n) WHERE { ?x :p ?y } => COUNT, SUM, AVG, MIN, MAX, not SAMPLE
ASK { ?x :p ?y } => SELECT""".splitlines()
]
OTHERWISE = (
    ({"r2s": "Istream"}, "Rstream, not Istream"),
    ({"static": "<urn:a> <urn:b> <urn:c> ."}, "no static data"),
    ({"windows": [{"stream": "s", "kind": "rows", "size": 1}]}, "windows over time"),
    ({"windows": [{**TUMBLING, "name": "urn:w"}]}, "one window, without a name"),
)


@pytest.mark.parametrize(
    ("body", "more", "reason"),
    [
        *(("SELECT ?x WHERE { ?x :p ?y }", *one) for one in OTHERWISE),
        *((body, {}, reason) for body, _, reason in DECLINED),
    ],
)
def test_any_other_query_is_declined_with_what_would_have_to_be_otherwise(body, more, reason):
    with pytest.raises(Unsupported, match=reason):
        program(body, **more)


def test_a_triple_is_a_row_with_its_number():
    graph = (
        f'<urn:a> <{EX}p> "+07"^^<{INTEGER}> .\n<urn:a> <{EX}p> "-1"^^<{INTEGER}> .\n<urn:a> '
        f"<{EX}q> <urn:b> .\n"
    )
    assert [
        row["n"] for row in program("SELECT (SUM(?y) AS ?n) WHERE { ?x ?p ?y }").rows(graph)
    ] == ["7", "-1", None]


@pytest.mark.parametrize(
    ("term", "pattern", "functions"),
    [
        ("<urn:b>", "?x ?p ?y", ["MIN", "MAX"]),
        ('"x"', "?x :p ?y", ["MIN", "MAX"]),
        (f'"{"1" * 21}"^^<{INTEGER}>', "?x :p ?y", ["SUM", "AVG", "MIN", "MAX"]),
        (
            '"5"^^<http://www.w3.org/2001/XMLSchema#double>',
            "?x :p ?y",
            ["SUM", "AVG", "MIN", "MAX"],
        ),
        (f'"{"1" * 21}"^^<{INTEGER}>', "?x :q ?y", []),
    ],
)
def test_what_an_aggregate_would_have_to_hold_and_cannot_is_declined(term, pattern, functions):
    """COUNT holds anything, and no aggregate needs what does not match."""
    for function in ("SUM", "AVG", "MIN", "MAX", "COUNT"):
        asked = program(f"SELECT ({function}(?y) AS ?n) WHERE {{ {pattern} }}")
        if function not in functions:
            assert [row["n"] for row in asked.rows(f"<urn:a> <{EX}p> {term} .\n")] == [None]
            continue
        with pytest.raises(Unsupported, match=r"CMP-1: a column of type .* does not hold "):
            asked.rows(f"<urn:a> <{EX}p> {term} .\n")


@pytest.mark.parametrize(
    ("lexical", "kind", "digits"),
    [
        ("00012", INTEGER, "12"),
        (".5", DECIMAL, "0.5"),
        ("5.", DECIMAL, "5"),
        ("1" * 20, INTEGER, "1" * 20),
    ]
    + [(text, DECIMAL, None) for text in ("", ".", "x", "1e5", "1" * 21, "0." + "1" * 19)]
    + [("5", "http://www.w3.org/2001/XMLSchema#double", None)],
)
def test_a_number_is_one_of_few_enough_digits(lexical, kind, digits):
    assert relational.number(f'"{lexical}"^^<{kind}>') == digits


def test_what_is_null_is_0_or_unbound_as_in_sparql():
    asked = program(
        "SELECT ?x (SUM(?y) AS ?t) (MIN(?y) AS ?m) (COUNT(?y) AS ?n) WHERE { ?x :p ?y } GROUP BY ?x"
    )
    assert [one.sql for one in asked.aggregates.values()] == [
        "coalesce(sum(n), 0)",
        "min(n)",
        "count(o)",
    ]
    row = asked.mapping({"x": "<urn:a>"}, {"t": Decimal("0E-18"), "m": None, "n": 0})
    assert dict(row) == {
        "x": "<urn:a>",
        "t": f'"0.000000000000000000"^^<{DECIMAL}>',
        "n": f'"0"^^<{INTEGER}>',
    }


# What it needs


def test_an_engine_may_need_commands_and_packages(tmp_path):
    """The first that is missing is named."""
    path = tmp_path / "mine.toml"
    keys = 'title = "Mine"\ncommand = ["x"]\ndialect = "table"\nget = "install it"\n'
    for more, missing in (
        ('commands = ["sh"]\nmodules = ["json"]\n', ""),
        (
            'commands = ["sh", "no-such-command"]\nmodules = ["no_such_package"]\n',
            "no Mine, which needs the command no-such-command: install it",
        ),
        (
            'modules = ["no_such_package"]\n',
            "no Mine, which needs the Python package no_such_package: install it",
        ),
    ):
        path.write_text(keys + more)
        assert engine_file.engine(str(path)).missing == missing


@pytest.mark.parametrize("lacking", ["java", "pyspark"])
def test_without_java_or_pyspark_every_item_is_skipped_with_one_line(tmp_path, lacking):
    """As on a machine that has not got it: nothing is started, and no stack is traced."""
    if lacking == "pyspark":
        (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['pyspark'] = None\n")
        where = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', ROOT)}"}
        (tmp_path / "java").symlink_to("/bin/true")
    else:
        where = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    words = ("-q", "-p", "no:cacheprovider", "--engine=spark", "--smoke", "-rs")
    command = [sys.executable, "-m", "pytest", "conformance", *words]
    found = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": str(tmp_path), **where},
    )
    said = [line for line in found.stdout.splitlines() if "Spark Structured Streaming" in line]
    needs = "PyPI's package: python -m conformance engines install spark"
    if lacking == "java":
        needs = "the command java: install a JDK"
    assert found.returncode == 4, found.stdout
    assert len(said) == 1 and f"which needs {needs}" in said[0], found.stdout
    assert "Traceback" not in found.stdout + found.stderr


@pytest.mark.skipif(bool(SPARK.missing), reason=SPARK.missing)
def test_java_that_does_not_start_is_an_error_without_a_stack_and_leaves_nothing_behind(tmp_path):
    harness = Harness(
        SPARK.command,
        environment={**os.environ, "JAVA_HOME": str(tmp_path / "nowhere"), "TMPDIR": str(tmp_path)},
    )
    with pytest.raises(
        Broken, match=r"start: error: PySparkRuntimeError: " r"\[JAVA_GATEWAY_EXITED\]"
    ) as told:
        harness.start()
    assert "Traceback" not in str(told.value)
    deadline = time.monotonic() + 20
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif("pyspark" in SPARK.missing, reason=SPARK.missing)
@pytest.mark.parametrize("line", ["x", "[1]", '"x"', "{}", '{"command": "start"}', "[" * 100_000])
def test_what_has_no_seq_ends_the_harness_of_spark_with_one_line(line):
    found = subprocess.run(
        SPARK.command, input=line + "\n", capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 1
    assert found.stdout == ""
    assert found.stderr.count("\n") == 1
    assert found.stderr.startswith("spark: no command: ")


@pytest.mark.skipif("pyspark" in SPARK.missing, reason=SPARK.missing)
def test_what_has_a_seq_and_is_no_command_is_an_error():
    """Nothing is started for it."""
    asked = [
        {"command": "fly"},
        {},
        {"command": ["start"]},
        {"command": "push"},
        {"command": "push", "stream": "s", "at": 1, "graph": ""},
        {"command": "register", "query": "x", "dialect": "table", "streams": []},
        {"command": "end"},
    ]
    lines = "".join(f"{json.dumps({'seq': seq, **each})}\n" for seq, each in enumerate(asked, 1))
    found = subprocess.run(SPARK.command, input=lines, capture_output=True, text=True, timeout=60)
    replies = [json.loads(line) for line in found.stdout.splitlines()]
    assert [(each["seq"], each["reply"]) for each in replies] == [
        *((seq, "error") for seq in range(1, 7)),
        (7, "result"),
    ]
    assert found.returncode == 0
    assert "Traceback" not in found.stderr
    assert replies[0]["context"] == "ValueError: no command 'fly'"


# Live


@pytest.fixture(scope="module")
def harnesses():
    """Spark; where it or Java is not installed its tests are skipped, in CI they fail."""
    if SPARK.missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(SPARK.missing)
    running = Harnesses()
    yield running
    running.stop()


@pytest.mark.xdist_group("spark")
def test_spark_refuses_distinct_in_an_aggregate(harnesses):
    """Why a triple that arrives twice counts twice."""
    query = {
        "windows": [TUMBLING],
        "body": "SELECT (COUNT(DISTINCT ?y) AS ?n) WHERE { ?x ?p ?y }",
    }
    reply = harnesses.of(SPARK).ask(
        "register", query=json.dumps(query), dialect="table", streams=["s"]
    )
    assert (
        reply["reply"] == "unsupported"
        and "Distinct aggregations are not supported" in reply["reason"]
    ), reply


@pytest.mark.xdist_group("spark")
def test_a_sum_beyond_its_decimals_is_unsupported_and_no_n_triples_an_error(harnesses):
    query = {
        "windows": [{"stream": "s", "kind": "time", "size": 5, "slide": 5}],
        "body": "SELECT (SUM(?y) AS ?s) WHERE { ?x <urn:p> ?y }",
    }
    running = harnesses.of(SPARK)
    assert (
        running.ask("register", query=json.dumps(query), dialect="table", streams=["s"])["reply"]
        == "result"
    )
    large = "".join(f'<urn:{name}> <urn:p> "{"9" * 20}"^^<{INTEGER}> .\n' for name in "ab")
    replies = [
        running.ask("push", stream="s", at=at, graph=graph) for at, graph in ((1, large), (9, ""))
    ]
    reply = next(each for each in replies if each["reply"] != "result")
    assert reply["reply"] == "unsupported"
    assert reply["reason"].startswith("[ARITHMETIC_OVERFLOW] ")
    assert "Traceback" not in reply["reason"]
    assert running.ask("push", stream="s", at=10, graph="no triple")["context"].startswith(
        "InvalidStream: graph.nt:1: "
    )


LIVE = {
    "WIN-2-an-element-on-the-upper-border-of-a-right-open-window-belongs-to-the-next": Outcome.PASS,
    "R2R-6-without-a-key-the-count-the-average-and-the-sum-of-no-solution-are-0": Outcome.PASS,
    "R2R-1-a-triple-that-arrives-twice-in-a-window-gives-one-row-and-counts-once": Outcome.FAIL,
    "WIN-1-a-slide-greater-than-the-size-skips-the-instants-between-windows": Outcome.UNSUPPORTED,
}


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("case", LIVE)
def test_spark_does_what_it_is_known_for(harnesses, case):
    """One case of each outcome, and an aggregate over nothing; all cases: `pytest conformance
    --engine=spark`.
    """
    [item] = [item for item in suite.live_items(SPARK) if item.case == case]
    result = item.run(harnesses)
    assert result.outcome is LIVE[case], result.explanation
    assert suite.why_unexpected(item, result) == ""
    if result.outcome is Outcome.UNSUPPORTED:
        assert "Spark refuses it" in result.explanation and "slide_duration" in result.explanation
