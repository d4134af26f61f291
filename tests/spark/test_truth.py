"""The command `truth` gives the reference engine's reports, however the stream is stored and cut,
and whatever is killed on the way.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from socketserver import BaseRequestHandler, BaseServer
from types import SimpleNamespace

import pyarrow
import pyarrow.parquet
import pytest
from cluster import bound, classic, lines, rows_of_reports, rows_of_spark, run, shell, spark, until
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.__main__ import main
from conformance.spark import jobs, session, stored_stream, truth_run, truth_verdict
from conformance.spark.formats.pieces import list_files
from conformance.spark.stored_stream import StoredSource
from conformance.spark.truth_plan import TruthPlan
from conformance.spark.truth_query import TruthQuery
from conformance.verdict.outcomes import Outcome
from refengine import from_table, profile, stream
from refengine.core import engine
from refengine.model.elements import Relation, row
from refengine.model.errors import Disputed, InvalidSemantics, InvalidStream, RefengineError
from refengine.oracle.trial import Missing
from refengine.rdf.lines import parse_line_with_time
from refengine.rdf.queries import read_query
from refengine.rdf.recordings import Recording
from tools import sg1

TEMPERATURES = """
PREFIX : <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#>
SELECT ?sensor ?value { ?obs :procedure ?sensor ; :result [ :floatValue ?value ] }"""
CHANGE = {"report": "content-change", "r2s": "Istream", "base": "previous", "empty": "suppress"}


def asked(
    body: str = "SELECT ?x { ?x <urn:p> ?y }", kind: str = "time", **fields: object
) -> TruthQuery:
    window = {"stream": "s", "kind": kind, "size": 10} | ({"slide": 10} if kind == "time" else {})
    return TruthQuery(
        from_table({"body": body, "windows": [window]}),
        profile("csparql").but(**{"t0": 0, "horizon": "none", **fields}).semantics(),
    )


def line(name: str, at: int) -> str:
    return f'<urn:{name}> <urn:p> <urn:o> "{at}" .\n'


def planned(truth_query: TruthQuery, path: str, **options: object) -> TruthPlan:
    return TruthPlan(truth_query, [StoredSource("s", path)], **options)


# Without Spark


def test_a_run_by_the_engine_is_another_run():
    """Its manifest says so, and a run that is resumed must have the same; a worker gets it, too."""
    quick = asked()
    plain = replace(quick, is_evaluator_requested=True)
    assert pickle.loads(pickle.dumps(plain)) == plain
    manifests = [planned(one, "s.n3t").manifest()["asked"] for one in (quick, plain)]
    assert [manifest["definition"] for manifest in manifests] == [False, True]


QUERY = (
    f"body = '''{TEMPERATURES}'''\nwindows = [{{ stream = 's', kind = 'time', size = "
    f"2000, slide = 1500 }}]\n"
)
TWO = """
body = "SELECT ?x { ?x <urn:p> ?y . ?x <urn:q> ?z . ?x <urn:r> ?w }"
windows = [
  { stream = "s", kind = "time", size = 10, slide = 10 },
  { stream = "r", kind = "time", size = 20, slide = 10 },
]
"""


def plan_of(monkeypatch, folder: Path, query: str, *words: str) -> TruthPlan:
    """The plan that the command makes of these words."""
    (folder / "q.toml").write_text(query)
    plans = []
    monkeypatch.setattr(TruthPlan, "check", lambda plan: plans.append(plan))
    monkeypatch.setattr(session, "check_master", lambda *_: 1 / 0)
    common = ["truth", f"{folder}/q.toml", "--semantics", "csparql", "t0=0", "-o", f"{folder}/out"]
    with pytest.raises(ZeroDivisionError):
        main([*common, *words])
    return plans[0]


def test_the_option_asks_for_the_engine(monkeypatch, tmp_path):
    for more in ([], ["--definition"]):
        plan = plan_of(monkeypatch, tmp_path, QUERY, "--stream", "s.n3t", *more)
        assert plan.truth_query.is_evaluator_requested == bool(more)


@pytest.mark.parametrize(
    ("query", "words", "sources"),
    [
        (QUERY, ["--stream", "a"], [("s", "a", None)]),
        (QUERY, ["--stream", "s=a", "--format", "delta"], [("s", "a", "delta")]),
        (TWO, ["--stream", "r=a", "--stream", "b"], [("r", "a", None), ("s", "b", None)]),
        (TWO, ["--stream", "a"], [(None, "a", None)]),
    ],
)
def test_streams_have_names(monkeypatch, tmp_path, query, words, sources):
    """One without a name is that of the first window, or the rows have the names."""
    assert plan_of(monkeypatch, tmp_path, query, *words).sources == sources


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--stream", "s=a", "--stream", "s=b"], "QRY-4: stream 's' is given twice"),
        (["--stream", "s=a"], "QRY-4: stream 'r' is not given; write --stream NAME=PATH"),
        (["--stream", "ss=a", "--stream", "r=b"], "no window ranges over 'ss'; did you mean 's'?"),
    ],
)
def test_streams_that_are_named_wrongly(tmp_path, capsys, words, reason):
    (tmp_path / "q.toml").write_text(TWO)
    common = ["truth", f"{tmp_path}/q.toml", "--semantics", "csparql", "t0=0"]
    assert main([*common, *words, "-o", f"{tmp_path}/out"]) == 2
    assert reason in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_the_format_of_a_stream(tmp_path):
    """By the names of its files: packed lines too, and a folder of a Delta table."""
    found = []
    for number, names in enumerate(
        (["a.n3t", "b/c.n3t.gz", "d.txt"], ["a.parquet"], ["a.ttl"], ["a.parquet", "_delta_log/0"])
    ):
        folder = tmp_path / str(number)
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        found.append(stored_stream.find_format(StoredSource("s", str(folder))))
    assert found == [("n3t", 1), ("parquet", 0), (None, 0), ("delta", 0)]
    (tmp_path / "0" / "e.parquet").touch()
    with pytest.raises(InvalidStream, match=r"has 2 \.n3t files and 1 \.parquet file; name"):
        stored_stream.find_format(StoredSource("s", str(tmp_path / "0")))
    with pytest.raises(InvalidStream, match=r"nowhere: IO-1: no such file or folder$"):
        stored_stream.find_format(StoredSource("s", str(tmp_path / "nowhere")))
    for name in ("nt", "nquads", "trig"):
        reason = f"--format: usage: {name} has no columns time and element; write the stream as n3t"
        with pytest.raises(RefengineError, match=f"^{reason}"):
            stored_stream.find_format(StoredSource("s", str(tmp_path / "0"), name))


@pytest.mark.parametrize(
    ("name", "path", "reason"),
    [
        ("d/10:00.parquet", "d", "a colon in its name; rename it, for instance to '10-00.parquet'"),
        (
            "10:00.parquet",
            "10:00.parquet",
            "a colon in its name; rename it, for instance to '10-00.parquet'",
        ),
        (
            "_x.parquet",
            "_x.parquet",
            "begins with _ or a dot; rename it, for instance to 'x.parquet'",
        ),
    ],
)
def test_names_that_spark_does_not_read(tmp_path, name, path, reason):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    with pytest.raises(InvalidStream) as error:
        stored_stream.find_format(StoredSource("s", f"{tmp_path}/{path}"))
    assert str(error.value).startswith(f"{tmp_path}/{name}: IO-1: Spark reads no file ")
    assert str(error.value).endswith(reason)
    for other in ("a:b/x.parquet", "_a/x.parquet", "x_y.parquet"):
        (tmp_path / "e" / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "e" / other).touch()
    assert stored_stream.find_format(StoredSource("s", f"{tmp_path}/e/a:b"))[0] == "parquet"
    assert stored_stream.find_format(StoredSource("s", f"{tmp_path}/e/_a"))[0] == "parquet"


@pytest.mark.parametrize(
    ("name", "words", "missing"),
    [
        ("QR_q", [], (0, 1)),
        ("QR_q", ["--missing", "2"], (2, 2)),
        ("answers.json", [], (1, 1)),
    ],
)
def test_reports_that_may_be_missing(monkeypatch, tmp_path, name, words, missing):
    """ORA-3: YABench's results begin with the stream."""
    (tmp_path / name).write_text("0" if name == "QR_q" else '{"relations": []}')
    words = ["--stream", "s.n3t", "--answers", f"{tmp_path}/{name}", *words]
    assert plan_of(monkeypatch, tmp_path, QUERY, *words).missing == missing


RECORDS = pyarrow.schema(
    [
        ("time", pyarrow.int64()),
        ("element", pyarrow.int64()),
        *((name, pyarrow.string()) for name in ("stream", "subject", "predicate", "object")),
        ("file", pyarrow.string()),
        ("place", pyarrow.int64()),
        ("record", pyarrow.string()),
        ("error", pyarrow.string()),
    ]
)


def records(*given: tuple) -> pyarrow.RecordBatch:
    """Records of Parquet: no place in the file, and no text."""
    rows = [(*row[:2], "s", *row[2:], "file:///f", None, None, None) for row in given]
    return pyarrow.RecordBatch.from_pylist(
        [dict(zip(RECORDS.names, row, strict=True)) for row in rows], RECORDS
    )


def parted(batch: pyarrow.RecordBatch) -> tuple[list[dict], list[dict]]:
    """The triples and the faults."""
    return tuple(
        [row for found in stored_stream._split(wanted, [batch]) for row in found.to_pylist()]
        for wanted in (False, True)
    )


@pytest.mark.parametrize(
    "given",
    [
        (None, 1, "<urn:a>", "<urn:p>", "<urn:o>"),
        (1, None, "<urn:a>", "<urn:p>", "<urn:o>"),
        (1, 1, "<urn:a>", None, "<urn:o>"),
        (1, 1, "<urn:a> <urn:p>", "<urn:p>", "<urn:o>"),
        (1, 1, '<urn:a> <urn:p> <urn:o> "1" . #', "<urn:p>", "<urn:o>"),
        (1, 1, "#", "<urn:p>", "<urn:o>"),
        (1, 1, "<urn:a>", "<urn:p>", '<urn:o> "7" . #'),
        (1, 1, "<urn:a>", "<urn:p> <urn:q>", ""),
        (1, 1, "<urn:a>", "_:p", "<urn:o>"),
        (1, 1, "<urn:a>", "<urn:p>", '<urn:o> "1" .\n<urn:a>'),
    ],
)
def test_a_row_that_is_no_triple_is_a_fault(given):
    good = (1, 1, "<urn:a>", "<urn:p>", '"\\u0041"@EN')
    triples, faults = parted(records(good, given))
    assert [tuple(row.values())[:6] for row in triples] == [(1, 1, "s", *good[2:])]
    assert [(row["file"], row["record"] is not None) for row in faults] == [("file:///f", True)]
    assert faults[0]["error"].startswith(("IO-1: ", "MOD-4: "))


IRI, LITERAL = "<http://x.org/a>", '"a b"'
PIECES = [
    "",
    IRI,
    LITERAL,
    "_:b",
    "\t",
    "\n",
    " ",
    '"',
    f"{IRI}\n{IRI}",
    f"{IRI}\n{IRI}\n{IRI}\n{IRI}",
    '"a',
    'b"',
    "<http://x.org/a",
    ">",
    '"\\u0041"',
    "<urn:x>",
    "#",
]


@given(
    st.lists(
        st.tuples(*[st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)] * 3)
        | st.just((IRI, IRI, LITERAL)),
        min_size=1,
        max_size=3,
    )
)
@example([(f"{IRI}\n{IRI}\n{IRI}\n{IRI}", IRI, IRI)])
@example([(IRI, f'{IRI}\n"a', 'b"'), (IRI, IRI, IRI)])
@example([(IRI, IRI, LITERAL), (IRI, IRI, IRI)])
def test_rows_that_are_looked_at_together_are_triples_as_they_stand(triples):
    """The quick look finds nothing right that the slow one does not."""
    batch = records(*((1, n, *one) for n, one in enumerate(triples)))
    if stored_stream._is_plain(batch):
        assert [stored_stream._error_of(row) for row in batch.to_pylist()] == [None] * len(triples)
    else:
        assert not {*triples} <= {(IRI, IRI, LITERAL), (IRI, IRI, IRI)}, (
            "what is plain is seen to be"
        )


def test_the_error_of_an_executor_is_that_of_the_command():
    """As Spark gives it, with the traceback of a worker in the middle."""
    text = (
        "[TASK_WRITE_FAILED] Task failed while writing rows\nCaused by: PythonException:\n"
        "Traceback (most recent call last):\n  File x\n"
        "refengine.model.errors.Disputed: body: R2R-5: no witness: confirms\n\nat java.x\n"
    )

    def fails() -> None:
        raise ValueError(text)

    with pytest.raises(Disputed, match=r"^body: R2R-5: no witness: confirms$") as error:
        jobs.ask(fails)
    assert error.value.exit_code == 4
    with pytest.raises(session.NoSpark, match="a job was given up: java"):
        jobs.ask(lambda: (_ for _ in ()).throw(ValueError("java")))


def test_a_spark_that_is_lost_is_named(monkeypatch, capsys):
    """Java goes away while a job runs, and while one is built; that the session cannot be ended
    then is not said.
    """
    from py4j.protocol import Py4JNetworkError

    def is_asked(*_: object) -> None:
        raise Py4JNetworkError("Answer from Java side is empty")

    def is_built(*_: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    accumulators = BaseServer(("", 0), BaseRequestHandler)
    context = SimpleNamespace(_accumulatorServer=accumulators, master="spark://x:1")
    lost = SimpleNamespace(sparkContext=context, stop=is_built)
    builder = SimpleNamespace(getOrCreate=lambda: lost)
    monkeypatch.setattr(session, "check_master", lambda *_: False)
    monkeypatch.setattr(session, "_builder", lambda *_: builder)
    with pytest.raises(session.NoSpark, match="ended in the middle of the run: Answer from Java"):
        jobs.ask(is_asked)
    with (
        pytest.raises(session.NoSpark, match=r"ended in the middle of the run: .*refused") as error,
        session.open_session("local[1]"),
    ):
        accumulators.handle_error(None, ("127.0.0.1", 1))  # pyspark's, which prints a traceback
        is_built()
    assert capsys.readouterr().err == ""
    assert str(error.value).startswith("spark: ") and error.value.exit_code == 2
    with pytest.raises(ZeroDivisionError), session.open_session("local[1]"):
        _ = 1 / 0


def test_what_cannot_be_compared_is_refused(tmp_path):
    (tmp_path / "s.n3t").write_text(line("a", 1))
    binding = row([("z", "<urn:a>")])
    recording = Recording((Relation(("z",), Counter([binding])),), (None,))
    with pytest.raises(InvalidStream, match=r"answers: IO-2: relation 1: has \?z, which the query"):
        planned(asked(), f"{tmp_path}/s.n3t", recording=recording).check()


def recorded(*bags: str, timestamps: tuple[int, ...] = ()) -> Recording:
    """Relations with a row for each letter."""
    relations = [
        Relation(("x",), Counter([row([("x", f"<urn:{letter}>")]) for letter in letters]))
        for letters in bags
    ]
    return Recording(tuple(relations), timestamps or (None,) * len(relations))


# What needs Spark


def written(folder: Path, *files: str) -> str:
    folder.mkdir()
    for number, text in enumerate(files):
        (folder / f"part-{number}.n3t").write_text(text)
    return str(folder)


def found_by(connected, plan: TruthPlan, out: Path, resume: bool = False) -> truth_run.Truth:
    with truth_run.open_folder(out, plan, resume) as done:
        return truth_run.compute_truth(connected, plan, out, done, 2, lambda some, of: None)


def reports_in(out: Path) -> list[dict]:
    """The rows of the table of reports, as any reader of Parquet gives them."""
    table = pyarrow.parquet.read_table(out / "reports")
    return sorted(table.to_pylist(), key=lambda row: (row["part"], row["number"]))


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory) -> str:
    """A stream in two files: a at 1, b at 11, c at 35."""
    folder = tmp_path_factory.mktemp("by-hand") / "stream"
    return written(folder, line("a", 1) + line("b", 11), line("c", 35))


@pytest.fixture(scope="module")
def changes(connected, by_hand, tmp_path_factory) -> tuple[truth_run.Truth, Path]:
    """A run over it under content change, with a recording of a and b, and its folder."""
    out = tmp_path_factory.mktemp("changes") / "out"
    plan = planned(asked(**CHANGE, tick="tuple"), by_hand, parts=2, recording=recorded("a", "b"))
    return found_by(connected, plan, out), out


@spark
def test_the_truth_by_hand_and_a_recording_beside_it(
    connected, by_hand, changes, tmp_path, monkeypatch
):
    """Two files, cut in two: 11 closes [0,10) with a; 35 closes [10,20) with b, and [20,30), in the
    gap, with nothing.
    """
    path = by_hand
    answers = recorded("a", "bc", "", timestamps=(15, 21, 30))
    x = [[{"x": f"<urn:{name}>"}] for name in "ab"]
    close = asked(report="window-close", tick="tuple")
    plan = planned(close, path, parts=2, recording=answers, engine="mine", case="q")
    listed = []
    monkeypatch.setattr(
        stored_stream, "list_files", lambda path: listed.append(path) or list_files(path)
    )
    plan.check()
    found = found_by(connected, plan, tmp_path / "close")
    assert listed == [path]
    assert next(found.lines()) == "3 triples, 2 parts, 3 reports; by incremental"
    assert [
        (instant, windows, bindings)
        for instant, _, _, windows, bindings in rows_of_spark(reports_in(tmp_path / "close"))
    ] == [(9, [(0, 10, 1)], x[0]), (19, [(10, 20, 1)], x[1]), (29, [(20, 30, 0)], [])]
    assert found.verdict.outcome is Outcome.FAIL
    assert found.verdict.explanation.splitlines() == [
        "fail: first divergence, relation 2 of 3: window [10, 20) at t=19, 1 element",
        "    expected 1 row: {x: <urn:b>}",
        "    recorded 2 rows",
        "    too many: {x: <urn:c>}",
        found.verdict.explanation.splitlines()[4],
        "  YABench, over 3 windows: mean precision 0.8333, mean recall 1.0000, median delay 1",
        "  LSBench: mismatch 0.00 % (expected rows that are not recorded), 33.33 % (recorded rows "
        "that are not expected)",
    ]
    [result] = map(json.loads, lines(tmp_path / "close" / "results.ndjson"))
    assert (result["engine"], result["suite"], result["outcome"]) == ("mine", "truth", "fail")
    measured = pyarrow.parquet.read_table(tmp_path / "close" / "measures").to_pylist()
    assert [(one["opens"], one["closes"], one["precision"], one["delay"]) for one in measured] == [
        (0, 10, 1, 5),
        (10, 20, 0.5, 1),
        (20, 30, 1, 0),
    ]

    found, out = changes
    assert [row[4] for row in rows_of_spark(reports_in(out))] == x
    assert found.verdict.explanation.splitlines()[0] == (
        "pass: 2 relations; not recorded: 0 before the first, 0 after the last"
    )
    slides = pyarrow.parquet.read_table(out / "measures").to_pylist()
    assert [(one["opens"], one["closes"]) for one in slides] == [(0, 10), (10, 20)]


@spark
def test_recordings_that_end_too_early_or_too_late(connected, changes, monkeypatch):
    """The explanation says which report is not recorded, or that there is no more; slides under
    content change are not measured where the driver cannot hold all rows.
    """
    truth_query = asked(**CHANGE, tick="tuple")
    reports = connected.read.parquet(f"file://{changes[1]}/reports")
    for answers, most, first in (
        ("", 3, "fail: first divergence, after the last of 0 relations: window [0, 10) at t=1"),
        ("ab", 2, "fail: relation 2 of 2: the semantics reports nothing more"),
    ):
        monkeypatch.setattr(truth_verdict, "MOST_ROWS_OF_SLIDES", most)
        reported = reports.where(f"evaluation < {11 if answers else 22}")
        answered, none = recorded(*answers), Missing(0, 0)
        judging = truth_verdict.compare_recording(reported, truth_query, answered, none)
        with judging as found:
            assert found.explanation.splitlines()[0].startswith(first)
            assert (found.measures is not None) == (most == 3)
        assert ("  YABench: not measured" in found.explanation.splitlines()) == (most == 2)


@spark
def test_however_it_is_stored_and_cut_it_is_the_engine(connected, tmp_path):
    """SG1 in lines and in rows; window close and content change; one part, and some."""
    parameters = sg1.Parameters(stations=4, interval=1000, duration=6000)
    text = [f"{line}\n" for line in sg1.stream_lines(parameters)]
    written(tmp_path / "lines", "".join(text[:100]), "".join(text[100:101]), "".join(text[101:]))
    triples = [parse_line_with_time(one, "") for one in text]
    table = {
        "time": [t for _, t in triples],
        "element": [2**40 * (n - 100) for n in range(len(triples))],
        **{
            n: [triple[i] for triple, _ in triples]
            for i, n in enumerate(("subject", "predicate", "object"))
        },
    }
    backwards = list(reversed(range(len(triples))))
    (tmp_path / "rows").mkdir()
    pyarrow.parquet.write_table(
        pyarrow.table(table).take(backwards), tmp_path / "rows" / "x.parquet"
    )
    window = {"stream": "s", "kind": "time", "size": 2000, "slide": 1500}
    query = from_table({"body": TEMPERATURES, "windows": [window]})
    for name, parts, fields in (
        ("lines", 3, {"report": "window-close", "horizon": "flush"}),
        ("rows", 4, {**CHANGE, "t0": "first-element"}),
    ):
        chosen = profile("csparql").but(**{"t0": -700, "tick": "tuple", **fields}).semantics()
        plan = planned(TruthQuery(query, chosen), str(tmp_path / name), parts=parts)
        out = tmp_path / f"out-{name}"
        found = found_by(connected, plan, out)
        assert 2 < len(found.stored.parts) <= parts and found.uncut is None
        expected = engine.evaluate(query, {"s": stream(triples)}, chosen)
        assert rows_of_spark(reports_in(out)) == rows_of_reports(expected)
        assert not (out / "blocks").exists()


@spark
def test_several_streams_beside_static_data(connected, tmp_path):
    """By hand. s has a and b; r has a at 3 and b at 4, and static data a alone: 11 closes [0, 10)
    of s and [-10, 10) of r, which both have a.
    """
    written(tmp_path / "s", line("a", 1) + line("b", 2) + line("z", 11))
    (tmp_path / "r.ttl").write_text("")
    triples = [(f"<urn:{name}>", "<urn:q>", "<urn:o>") for name in "abz"]
    (tmp_path / "r.n3t").write_text(
        "".join(
            f'{" ".join(triple)} "{at}" .\n' for triple, at in zip(triples, (3, 4, 12), strict=True)
        )
    )
    (tmp_path / "q.toml").write_text(TWO)
    static = frozenset([("<urn:a>", "<urn:r>", "<urn:o>")])
    query = read_query(tmp_path / "q.toml")
    fields = {"t0": 0, "horizon": "none", "report": "non-empty,window-close", "tick": "tuple"}
    semantics = profile("csparql").but(**fields).semantics()
    sources = [StoredSource("r", f"{tmp_path}/r.n3t"), StoredSource("s", f"{tmp_path}/s")]
    plan = TruthPlan(TruthQuery(query, semantics, static), sources, parts=2)
    found_by(connected, plan, tmp_path / "out")
    rows = reports_in(tmp_path / "out")
    streams = {
        "s": stream(
            [
                ((f"<urn:{n}>", "<urn:p>", "<urn:o>"), t)
                for n, t in zip("abz", (1, 2, 11), strict=True)
            ]
        ),
        "r": stream(list(zip(triples, (3, 4, 12), strict=True))),
    }
    expected = engine.evaluate(query, streams, semantics, static=static)
    assert rows_of_spark(rows) == rows_of_reports(expected)
    assert [[dict(each) for each in row["bindings"]] for row in rows] == [[{"x": "<urn:a>"}]]


@spark
@pytest.mark.parametrize("name_of_r", ["r.n3t", "SG_r"])
def test_elements_of_two_streams_are_compared_by_their_positions(connected, tmp_path, name_of_r):
    """By hand. Spark reads s, and r as well if its name ends in .n3t; else the driver reads r. At 5
    the second line of s is before the third one of r (MOD-1), though it comes later by bytes. So a
    is reported before e.
    """
    query = from_table(
        {
            "body": "SELECT ?x { ?x <urn:p> ?y }",
            "windows": [
                {"stream": name, "kind": "time", "size": 10, "slide": 10} for name in ("s", "r")
            ],
        }
    )
    long = "l" * 200
    lines_of = {"s": [(long, 1), ("a", 5), ("b", 25)], "r": [("c", 1), ("d", 1), ("e", 5)]}
    files = {"s": tmp_path / "s.n3t", "r": tmp_path / name_of_r}
    for name, pairs in lines_of.items():
        files[name].write_text("".join(line(each, at) for each, at in pairs))
    semantics = profile("cqels").but(t0=0).semantics()
    sources = [StoredSource(name, str(path)) for name, path in files.items()]
    plan = TruthPlan(TruthQuery(query, semantics, frozenset()), sources)
    found_by(connected, plan, tmp_path / "out")
    rows = reports_in(tmp_path / "out")
    streams = {
        name: stream([((f"<urn:{each}>", "<urn:p>", "<urn:o>"), at) for each, at in pairs])
        for name, pairs in lines_of.items()
    }
    assert rows_of_spark(rows) == rows_of_reports(engine.evaluate(query, streams, semantics))
    reported = [dict(row["bindings"][0])["x"] for row in rows]
    assert reported.index("<urn:a>") < reported.index("<urn:e>")


@spark
def test_what_is_not_bounded_in_time_is_not_cut_and_says_so(connected, tmp_path):
    path = written(tmp_path / "stream", line("a", 1) + line("b", 11), line("c", 35))
    fields = {"report": "content-change", "closure": None, "r2s": "Istream", "base": "previous"}
    found = found_by(
        connected, planned(asked(kind="rows", **fields), path, parts=3), tmp_path / "out"
    )
    assert len(found.stored.parts) == 1
    assert "windows of kind rows, which have no bounds in time" in "\n".join(found.lines())
    # what comes at 35 is seen by the next arrival (TICK-4)
    assert [row["evaluation"] for row in reports_in(tmp_path / "out")] == [1, 11]


@spark
def test_a_record_that_is_no_triple_stops_the_run_or_is_set_aside(connected, tmp_path):
    broken = line("a", 1) + "<urn:x> nonsense\n" + line("b", 11) + "?\n"
    path = written(tmp_path / "stream", broken, line("c", 35))
    truth_query = asked(report="window-close", tick="tuple")
    with pytest.raises(InvalidStream) as error:
        found_by(connected, planned(truth_query, path, parts=2), tmp_path / "stopped")
    place = len(line("a", 1))
    assert str(error.value).startswith(f"{path}/part-0.n3t: byte {place}: IO-1: ")
    assert "<urn:x> nonsense" in str(error.value) and len(error.value.__notes__) == 2
    assert error.value.__notes__[-1] == (
        "2 records are no triples; --on-error=quarantine sets them aside"
    )
    out = tmp_path / "aside"
    found = found_by(connected, planned(truth_query, path, parts=2, quarantine=True), out)
    assert "no triples, and set aside in quarantine: 2 records" in list(found.lines())
    faults = pyarrow.parquet.read_table(out / "quarantine").sort_by("place").to_pylist()
    assert [(Path(one["file"]).name, one["place"], one["record"]) for one in faults] == [
        ("part-0.n3t", place, "<urn:x> nonsense"),
        ("part-0.n3t", len(broken) - 2, "?"),
    ]
    assert [row["windows"][0]["opens"] for row in reports_in(out)] == [0, 10, 20]


@spark
def test_rows_of_other_streams_in_a_table_are_not_read(connected, tmp_path):
    """By hand: [0, 10) of s has a, and [10, 20) nothing, since b is of another stream."""
    rows = [("s", "a", 1), ("other", "b", 11), ("s", "c", 21)]
    columns_of = ("time", "element", "stream", "subject", "predicate", "object")
    table = [
        (at, number, name, f"<urn:{subject}>", "<urn:p>", "<urn:o>")
        for number, (name, subject, at) in enumerate(rows)
    ]
    (tmp_path / "table").mkdir()
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist([dict(zip(columns_of, each, strict=True)) for each in table]),
        tmp_path / "table" / "rows.parquet",
    )
    truth_query = asked(report="window-close", tick="tuple", r2s="Rstream")
    found_by(connected, planned(truth_query, f"{tmp_path}/table"), tmp_path / "out")
    found = [(row["evaluation"], row["bindings"]) for row in reports_in(tmp_path / "out")]
    assert found == [(9, [[("x", "<urn:a>")]]), (19, [])]


@spark
def test_rows_of_a_table_that_are_no_triples(connected, tmp_path):
    """Other columns, and a term that is none: the message names the file and the row."""
    folder = tmp_path / "rows [of] it"
    folder.mkdir()
    table = {
        "time": [1, 2, 30],
        "element": [1, 1, 1],
        "subject": ["<urn:a>", "a", "<urn:c>"],
        "predicate": ["<urn:p>"] * 3,
        "object": ["<urn:o>"] * 3,
    }
    pyarrow.parquet.write_table(pyarrow.table(table), folder / "x.parquet")
    with pytest.raises(InvalidStream, match=r"x.parquet: MOD-4: not a term.*'a <urn:p> <urn:o> 2'"):
        found_by(connected, planned(asked(), str(folder)), tmp_path / "out")
    (tmp_path / "other").mkdir()
    pyarrow.parquet.write_table(pyarrow.table({"time": ["1"]}), tmp_path / "other" / "x.parquet")
    with pytest.raises(InvalidStream, match="other: IO-1: needs the columns time bigint, element"):
        found_by(connected, planned(asked(), f"{tmp_path}/other"), tmp_path / "out2")
    for name, reason in (
        ("parkett", r"Spark has no format 'parkett'; did you mean 'parquet'\?"),
        (
            "iceberg",
            "Spark reads iceberg only with an extra package; name that package in "
            r"spark\.jars\.packages",
        ),
    ):
        plan = TruthPlan(asked(), [StoredSource("s", f"{tmp_path}/other", name)])
        with pytest.raises(RefengineError, match=f"--format: usage: {reason}$"):
            found_by(connected, plan, tmp_path / f"out-{name}")


@spark
def test_what_was_read_is_not_read_again(connected, tmp_path):
    """A run that is resumed has the stream as it was, and computes only what is not committed."""
    path = written(tmp_path / "stream", line("a", 1), line("c", 35))
    plan = planned(asked(report="window-close", tick="tuple"), path, parts=2)
    out = tmp_path / "out"
    with truth_run.open_folder(out, plan, False):
        stored = truth_run._plan_and_store(connected, plan, out, 2)
        (out / "plan.json").write_text(stored.line())
    (tmp_path / "stream" / "part-0.n3t").unlink()
    (out / "_attempts" / "of-another").mkdir(parents=True)
    (out / "_attempts" / "of-another" / "half-written.parquet").write_text("no table")
    found = found_by(connected, plan, out, resume=True)
    assert found.reports == 3 and [row["windows"][0]["opens"] for row in reports_in(out)] == [
        0,
        10,
        20,
    ]
    files = {file: file.stat().st_ino for file in (out / "reports").rglob("*.parquet")}
    assert list(found_by(connected, plan, out, resume=True).lines()) == list(found.lines())
    assert files == {file: file.stat().st_ino for file in (out / "reports").rglob("*.parquet")}
    with pytest.raises(RefengineError, match="this is the folder of another run: parts was 2, and"):
        found_by(connected, replace(plan, parts=3), out, resume=True)
    (out / "plan.json").write_text("{}")
    with pytest.raises(RefengineError, match=r"plan\.json: usage: not what a run wrote"):
        found_by(connected, plan, out, resume=True)


@spark
def test_a_part_that_ends_with_an_error_is_that_error(connected, tmp_path):
    """As a command: a horizon that has passed."""
    path = written(tmp_path / "stream", line("a", 1) + line("b", 11))
    with pytest.raises(InvalidSemantics, match="horizon 5 is not after the last element, at 11"):
        found_by(connected, planned(asked(horizon=5), path), tmp_path / "out")


@spark
def test_a_driver_that_is_killed_goes_on(master, tmp_path, capsys):
    """By force, once a part is committed; what is committed is not computed again, and what comes
    of it is the engine.
    """
    parameters = sg1.Parameters(stations=4, interval=1000, duration=8000)
    text = "".join(f"{line}\n" for line in sg1.stream_lines(parameters))
    path, out = written(tmp_path / "stream", text), tmp_path / "out"
    (tmp_path / "query.toml").write_text(QUERY)
    words = shell("truth", tmp_path / "query.toml", "--stream", path, "--parts", 5)
    words += ["--parallel", "1", "--spark", master, "-o", str(out)]
    words += ["--semantics", "csparql", "t0=0", "report=window-close", "tick=tuple"]
    running = bound(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env=classic(),
    )

    def committed() -> list[Path]:
        return list((out / "reports").glob("*"))

    until(lambda: len(committed()) >= 2 or running.poll() is not None, 120)
    assert running.poll() is None, running.communicate()
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    done = [place.name for place in committed()]
    assert 2 <= len(done) < 5
    files = {
        file: file.stat().st_ino
        for name in done
        for file in (out / "reports" / name).glob("*.parquet")
    }
    assert main(words[3:]) == 2
    assert capsys.readouterr().err == (
        f"conformance: {out}: usage: not empty: go on with the run there with --resume, or "
        "name another folder\n"
    )
    said = run([*words, "--resume"], 0, env=classic()).stdout
    assert all(file.stat().st_ino == inode for file, inode in files.items())
    query, chosen = (
        read_query(tmp_path / "query.toml"),
        profile("csparql").but(t0=0, report="window-close", tick="tuple").semantics(),
    )
    items = [parse_line_with_time(one, "") for one in text.splitlines()]
    expected = rows_of_reports(engine.evaluate(query, {"s": stream(items)}, chosen))
    assert rows_of_spark(reports_in(out)) == expected
    assert said == f"224 triples, 5 parts, {len(expected)} reports; by incremental\n"
