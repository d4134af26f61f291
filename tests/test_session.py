"""The corpus through the protocol: the reference engine in a process of its own, held to every hand-derived expectation."""

from __future__ import annotations

import copy
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance import corpus
from conformance.client import Broken, Harness
from conformance.corpus import Case
from conformance.judge import Outcome
from conformance.probe import result
from conformance.session import Asked, Declined, play
from conformance.under_test import InvalidEngine, engine, engines, read
from refengine import from_table, stream
from refengine.dialects import Unrenderable

ADAPTER = Path(corpus.__file__).parent / "adapters" / "reference.py"
CASES = {case.id: case for case in corpus.cases()}


def reference(*words: str) -> Harness:
    running = Harness([sys.executable, str(ADAPTER), *(words or ("csparql", "t0=0"))])
    assert running.start()["configurable"]
    return running


@pytest.fixture(scope="module")
def harness():
    """One process for all cases, as a worker has it."""
    running = reference()
    yield running
    running.stop()


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_reference_engine_passes_the_corpus_through_the_protocol(harness, case):
    """Every expectation under its own semantics: relations, windows and instants; cases of other kinds ask nothing of it."""
    found = result(engine("reference"), harness, case)
    expects = any("max_reports" not in block for block in case.table.get("expect", []))
    assert found.outcome is (Outcome.PASS if expects else Outcome.UNSUPPORTED), found.argument


def test_a_wrong_expectation_fails():
    """What is compared: rows, the number of reports, windows, instants, and the elements that reports come with."""
    case = CASES["WIN-2-an-element-on-the-upper-border-of-a-right-open-window-belongs-to-the-next"]
    running, said = reference(), []
    for change in ({"rows": []}, {"window": [0, 11]}, {"instant": 1}, {"trigger": 5}, None):
        table = copy.deepcopy(dict(case.table))
        reports = table["expect"][0]["reports"]
        reports[0].update(change) if change else reports.pop()
        found = result(engine("reference"), running, Case(case.path, table))
        assert found.outcome is Outcome.FAIL
        said.append(found.argument)
    assert [re.search(r"expected (no rows|window|instant|at the end|\d+ reports)", argument)[1][:6] for argument in said] == [
        "no row", "window", "instan", "at the", "1 repo",
    ]  # fmt: skip
    running.stop()


QUERY = from_table({"windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}], "body": "SELECT ?x WHERE { ?x <urn:p> ?y }"})
EMPTY = {"s": stream([])}


def test_what_an_engine_has_not_is_declined():
    """A window in the past is no window of ours, and the next query is asked of the same process; bad input ends it."""
    running = reference()
    with pytest.raises(Declined, match=r"^line 1 column 34: DIA-7: a window in the past"):
        play(running, Asked(QUERY, "SELECT ?x FROM NAMED STREAM <s> [NOW - 9 S TO NOW - 5 S] { ?x <urn:p> ?y }", "sparqlstream"), EMPTY)
    text = "REGISTER QUERY q AS SELECT ?x FROM STREAM <s> [RANGE 10ms TUMBLING] { ?x <urn:p> ?y }"
    assert play(running, Asked(QUERY, text, "csparql"), EMPTY) == []
    with pytest.raises(Broken, match="register: InvalidQuery: line 1 column 1: DIA-7"):
        play(running, Asked(QUERY, "SELEC", "csparql"), EMPTY)
    assert not running.alive


def test_an_answer_of_no_terms_is_no_answer():
    code = """if 1:
        import json, sys
        for line in sys.stdin:
            asked = json.loads(line)
            rows = [{"x": {"type": "uri", "value": "not an IRI"}}] if asked["command"] == "end" else []
            print(json.dumps({"seq": asked["seq"], "reply": "result", "relations": [{"rows": rows}]}), flush=True)
    """
    running = Harness([sys.executable, "-c", code])
    with pytest.raises(Broken, match=r"end: relations\[0\].rows\[0\].x: IO-2: relative IRI 'not an IRI'"):
        play(running, Asked(QUERY, "q", "csparql"), EMPTY)
    running.stop()


def test_elements_come_in_the_order_of_their_arrival():
    """Of each stream as it has them, of several by app (ENG-5), also of those that the query does not name (QRY-4); with what
    dates, batches and ends them."""
    code = """if 1:
        import json, sys
        seen = []
        for line in sys.stdin:
            asked = json.loads(line)
            seen.append([asked.get(key) for key in ("stream", "at", "batch", "end")])
            rows = [{"x": {"type": "literal", "value": json.dumps(seen[1:-1])}}] if asked["command"] == "end" else []
            print(json.dumps({"seq": asked["seq"], "reply": "result", "relations": [{"rows": rows}]}), flush=True)
    """
    windows = [{"stream": name, "kind": "time", "size": 10, "slide": 10} for name in "rs"]
    query = from_table({"windows": windows, "body": "SELECT ?x WHERE { ?x <urn:p> ?y }"})
    triple = ("<urn:a>", "<urn:p>", "<urn:y>")
    streams = {"s": stream([(triple, 2, 1, 5), (triple, 4, 1)]), "r": stream([(triple, 4, 1), (triple, 3, 2)]), "q": stream([(triple, 4, 2)])}
    running = Harness([sys.executable, "-c", code])
    *_, last = play(running, Asked(query, "q", "table"), streams)
    [((_, seen),)] = last.relation.rows
    assert json.loads(json.loads(seen)) == [["s", 2, 1, 5], ["r", 4, 1, None], ["r", 3, 2, None], ["q", 4, 2, None], ["s", 4, 1, None]]
    running.stop()


# Engines under test


def test_every_engine_has_a_file_that_holds():
    for name, found in engines().items():
        assert found.name == name and found.title and Path(found.command[1]).is_file()
        assert len(Path(found.command[1]).read_text(encoding="utf-8").splitlines()) <= 150, "a harness is short"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = 1", "'command' is a required property"),
        ('title = "x"\ncommand = []\ndialect = "table"', r"\$.command: \[\] "),
        ('title = "x"\ncommand = ["x"]\ndialect = "sql"', r"\$.dialect: 'sql' is not one of"),
        ('title = "x"\ncommand = ["x"]\ndialect = "table"\ncolour = 1', "'colour' was unexpected"),
        ('title = "x"\ncommand = ["x"]\ndialect = "table"\nsemantics = { profile = "csparq" }', "SEM-1: .*; did you mean 'csparql'"),
        ("title", "cannot be read: "),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(Exception, match=f"mine.toml: .*{message}"):
        read(path)


def test_an_engine_that_there_is_not():
    with pytest.raises(InvalidEngine, match="no engine 'rspjs'; did you mean 'rsp-js'"):
        engine("rspjs")


def test_what_an_engine_has_not_is_not_asked():
    asks = from_table({"windows": [{"stream": "s", "kind": "now"}], "body": "SELECT ?x WHERE { ?x <urn:p> ?y }"})
    with pytest.raises(Unrenderable, match="RSP-JS 1.3.5 has no windows of kind now"):
        engine("rsp-js").text(asks)
    with pytest.raises(Unrenderable, match="RSP-JS 1.3.5 has no ASK"):
        engine("rsp-js").text(from_table({"windows": [{"stream": "s", "kind": "time", "size": 1, "slide": 1}], "body": "ASK {}"}))


# RSP-JS, live


@pytest.fixture(scope="module")
def rsp_js():
    """RSP-JS as npm has it; where it is not installed its tests are skipped, in CI they fail."""
    found = engine("rsp-js")
    if found.missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no {found.title}: {found.get}")
    running = Harness(found.command)
    assert running.start()["version"] == "1.3.5"
    yield running
    running.stop()


def answers(running, *items: tuple[str, int], slide: int = 10):
    """(window, what ?x is) of each report over elements ?x <urn:p> <urn:y> at instants."""
    query = from_table({"windows": [{"stream": "s", "kind": "time", "size": 10, "slide": slide}], "body": QUERY.body.text})
    source = stream([((f"<urn:{name}>", "<urn:p>", "<urn:y>"), at) for name, at in items])
    got = play(running, Asked(query, engine("rsp-js").text(query), "rsp-js"), {"s": source})
    return [(answer.window, "".join(sorted(term[5:-1] for line in answer.relation.rows for _, term in line))) for answer in got]


def test_rsp_js_answers_with_the_windows_that_close(rsp_js):
    """WIN-2, REP-1 by hand: [0,10) holds a and b, [10,20) c; the last window, of d, is never closed."""
    assert [rows for _, rows in answers(rsp_js, ("a", 3), ("b", 9), ("c", 12), ("d", 25))] == ["ab", "c"]


def test_rsp_js_waits_for_an_element_past_the_close(rsp_js):
    """TICK-6: b at 10 is outside of [0,10) and closes it, but the report comes with c at 11; then nothing closes [10,20)."""
    running, query = rsp_js, QUERY
    running.ask("register", query=engine("rsp-js").text(query), dialect="rsp-js", streams=["s"])
    told = [running.ask("push", stream="s", at=at, graph=f"<urn:{name}> <urn:p> <urn:y> .\n")["relations"] for name, at in [("a", 3), ("b", 10), ("c", 11)]]
    assert [len(relations) for relations in told] == [0, 0, 1]


def test_rsp_js_does_not_see_a_stream_that_its_query_does_not_name(rsp_js):
    """QRY-4: x is on another stream; [0,10) of s holds b alone, and c at 12 closes it."""
    named = {
        "r": stream([(("<urn:x>", "<urn:p>", "<urn:y>"), 3)]),
        "s": stream([((f"<urn:{name}>", "<urn:p>", "<urn:y>"), at) for name, at in (("b", 4), ("c", 12))]),
    }
    [answer] = play(rsp_js, Asked(QUERY, engine("rsp-js").text(QUERY), "rsp-js"), named)
    assert list(answer.relation.rows) == [(("x", "<urn:b>"),)]


def test_rsp_js_loses_windows_in_a_gap(rsp_js):
    """REP-10: [0,10) with a and [10,20) with b both close before c at 45; one is reported."""
    assert len(answers(rsp_js, ("a", 3), ("b", 10), ("c", 45))) == 1


@pytest.mark.parametrize("deviation", engine("rsp-js").deviations, ids=lambda deviation: deviation.reason[:40])
def test_a_known_deviation_of_rsp_js_is_shown_by_its_case(rsp_js, deviation):
    """The oracle fails the case, and passes it once the deviation is granted."""
    found = result(engine("rsp-js"), rsp_js, CASES[deviation.case])
    assert found.outcome is Outcome.FAIL and deviation in found.deviations, found.argument


def test_rsp_js_without_its_deviations_is_not_explained(rsp_js):
    """What it is known for is what explains it: with none granted, nothing does."""
    bare = replace(engine("rsp-js"), deviations=())
    found = result(bare, rsp_js, CASES["REP-1-every-window-that-closes-between-two-elements-is-reported"])
    assert found.outcome is Outcome.FAIL and found.deviations == () and "first divergence" in found.argument
