"""The corpus through the protocol: the reference engine in a process of its own, held to every
hand-derived expectation.
"""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import rsp_js_items
from rsp_js_items import ENDLESS, HURRIED
from rsp_js_items import PATIENT as RSP_JS
from sections import check_all, each_section

from conformance import corpus
from conformance.bench.recordings import csrbench
from conformance.corpus import Case
from conformance.harness import engine_file
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import (
    Deviation,
    Engine,
    InvalidEngine,
    engine,
    engines,
    read_engine_file,
)
from conformance.harness.play import Declined, EngineQuery, play
from conformance.harness.pool import Harnesses
from conformance.suite.deviations import find_explaining_deviations
from conformance.suite.exchange import Exchange
from conformance.suite.joins import join_cases
from conformance.suite.probe import judge_exchange, probe_case
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result
from refengine import evaluate, from_table, profile, stream
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.dialects import Unrenderable

ADAPTER = engine_file.ADAPTERS / "reference.py"
CASES = {case.id: case for case in corpus.cases() if "query" in case.table}
REFERENCE = engine("reference")


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


@each_section(CASES.values())
def test_the_reference_engine_passes_the_corpus_through_the_protocol(harness, cases):
    """Every expectation under its own semantics: relations, windows and instants; cases of other
    kinds ask nothing of it.
    """

    def passes(case: Case) -> None:
        found = probe_case(REFERENCE, harness, case)
        expects = any("max_reports" not in block for block in case.table.get("expect", []))
        assert found.outcome is (Outcome.PASS if expects else Outcome.UNSUPPORTED), (
            found.explanation
        )

    check_all(cases, passes)


def test_a_wrong_expectation_fails():
    """What is compared: rows, the number of reports, windows, instants, and the elements that
    reports come with.
    """
    case = CASES["WIN-2-an-element-on-the-upper-border-of-a-right-open-window-belongs-to-the-next"]
    running, said = reference(), []
    for change in ({"rows": []}, {"window": [0, 11]}, {"instant": 1}, {"trigger": 5}, None):
        table = copy.deepcopy(dict(case.table))
        reports = table["expect"][0]["reports"]
        reports[0].update(change) if change else reports.pop()
        found = probe_case(engine("reference"), running, Case(case.path, table))
        assert found.outcome is Outcome.FAIL
        said.append(found.explanation)
    assert [
        re.search(r"expected (no rows|window|instant|at the end|\d+ reports)", explanation)[1][:6]
        for explanation in said
    ] == [
        "no row",
        "window",
        "instan",
        "at the",
        "1 repo",
    ]
    running.stop()


def windowed(slide: int, body: str = "SELECT ?x WHERE { ?x <urn:p> ?y }") -> Query:
    """A query over windows of 10."""
    window = {"stream": "s", "kind": "time", "size": 10, "slide": slide}
    return from_table({"windows": [window], "body": body})


QUERY = windowed(slide=10)
EMPTY = {"s": stream([])}


def test_what_an_engine_has_not_is_declined():
    """COMPUTED EVERY is no clause of ours, and the next query is asked of the same process; bad
    input ends it.
    """
    running = reference()
    with pytest.raises(Declined, match=r"^line 1 column 18: DIA-7: COMPUTED EVERY belongs"):
        play(
            running,
            EngineQuery(
                QUERY,
                "REGISTER QUERY q COMPUTED EVERY 5m AS "
                "SELECT ?x FROM STREAM <s> [RANGE 1s TUMBLING] { ?x <urn:p> ?y }",
                "csparql",
            ),
            EMPTY,
        )
    text = "REGISTER QUERY q AS SELECT ?x FROM STREAM <s> [RANGE 10ms TUMBLING] { ?x <urn:p> ?y }"
    assert play(running, EngineQuery(QUERY, text, "csparql"), EMPTY) == []
    with pytest.raises(Broken, match="register: InvalidQuery: line 1 column 1: DIA-7"):
        play(running, EngineQuery(QUERY, "SELEC", "csparql"), EMPTY)
    assert not running.alive


def test_an_answer_of_no_terms_is_no_answer():
    code = """if 1:
        import json, sys
        for line in sys.stdin:
            asked = json.loads(line)
            rows = [{"x": {"type": "uri", "value": "not an IRI"}}] if asked["command"] == "end" else []
            print(json.dumps({"seq": asked["seq"], "reply": "result", "relations": [{"rows": rows}]}), flush=True)
    """  # noqa: E501
    running = Harness([sys.executable, "-c", code])
    with pytest.raises(
        Broken, match=r"end: relations\[0\].rows\[0\].x: IO-2: relative IRI " r"'not an IRI'"
    ):
        play(running, EngineQuery(QUERY, "q", "csparql"), EMPTY)
    running.stop()


def test_elements_come_in_the_order_of_their_arrival():
    """Of each stream as it has them, of several by app (ENG-5), also of those that the query does
    not name (QRY-4); with what dates, batches and ends them.
    """
    code = """if 1:
        import json, sys
        seen = []
        for line in sys.stdin:
            asked = json.loads(line)
            seen.append([asked.get(key) for key in ("stream", "at", "batch", "end")])
            rows = [{"x": {"type": "literal", "value": json.dumps(seen[1:-1])}}] if asked["command"] == "end" else []
            print(json.dumps({"seq": asked["seq"], "reply": "result", "relations": [{"rows": rows}]}), flush=True)
    """  # noqa: E501
    windows = [{"stream": name, "kind": "time", "size": 10, "slide": 10} for name in "rs"]
    query = from_table({"windows": windows, "body": "SELECT ?x WHERE { ?x <urn:p> ?y }"})
    triple = ("<urn:a>", "<urn:p>", "<urn:y>")
    streams = {
        "s": stream([(triple, 2, 1, 5), (triple, 4, 1)]),
        "r": stream([(triple, 4, 1), (triple, 3, 2)]),
        "q": stream([(triple, 4, 2)]),
    }
    running = Harness([sys.executable, "-c", code])
    *_, last = play(running, EngineQuery(query, "q", "table"), streams)
    [((_, seen),)] = last.relation.rows
    assert json.loads(json.loads(seen)) == [
        ["s", 2, 1, 5],
        ["r", 4, 1, None],
        ["r", 3, 2, None],
        ["q", 4, 2, None],
        ["s", 4, 1, None],
    ]
    running.stop()


# Engines under test


def rust_sources(name: str) -> list[Path]:
    """Return the sources of the program that is the harness of an engine in Rust: those of its
    crate, or its one adapter.
    """
    crate = ADAPTER.parents[2] / "engines" / name / "src"
    return sorted(crate.glob("*.rs")) or [ADAPTER.parent / f"{name}.rs"]


def test_every_engine_has_a_file_that_holds():
    for name, found in engines().items():
        assert found.name == name and found.title
        sources = [Path(word) for word in found.command if Path(word).parent.name == "adapters"]
        assert len(sources) <= 1, "a harness is one program"
        texts = [path.read_text(encoding="utf-8") for path in sources or rust_sources(name)]
        assert sum(len(text.splitlines()) for text in texts) <= 150, "a harness is short"


HEAD = 'title = "x"\ncommand = ["x"]\ndialect = "table"\n'
KNOWN = f"""{HEAD}
semantics = {{ profile = "csparql" }}
[[deviations]]
reason = "it is otherwise"
link = "https://example.org/"
"""
CLAIM = f'{HEAD}[semantics]\nprofile = "csparql"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = 1", "engine: key 'command' is missing"),
        ('title = "x"\ncommand = []\ndialect = "table"', r"command: engine: \[\] "),
        ('title = "x"\ncommand = ["x"]\ndialect = "sql"', r"dialect: engine: 'sql' is not one of"),
        (f"{HEAD}colour = 1", "unknown key 'colour'; valid: "),
        (f"{HEAD}tolerance = 0.6", "tolerance: engine: 0.6 is greater than"),
        (f'{HEAD}semantics = {{ profile = "csparq" }}', "SEM-1: .*; did you mean 'csparql'"),
        (KNOWN, r"deviations\[0\]: engine: key 'cases' is missing"),
        (
            f'{KNOWN}cases = ["x"]'.replace("it is otherwise", "short"),
            r"deviations\[0\].reason: engine: 'short' is too short; write at least 10 characters",
        ),
        (f"{KNOWN}cases = []", r"deviations\[0\].cases: engine: \[\] "),
        (
            f'{KNOWN}cases = ["x"]\nmisstates = "window"\nfields = {{ gap = "all" }}',
            r"deviations\[0\]: engine: of the keys fields and misstates an entry has at most one",
        ),
        (
            f'{KNOWN}cases = ["x"]\ntold = "window"',
            r"deviations\[0\]: engine: unknown key 'told'; valid: .*, misstates, ",
        ),
        (
            f'{KNOWN}cases = ["x"]\nmistates = "window"',
            "engine: unknown key 'mistates'; did you mean 'misstates'",
        ),
        (
            f'{KNOWN}cases = ["x"]\nfields = {{ missed_instant = "all" }}',
            "SEM-1: unknown key 'missed_instant'; did you mean 'missed_instants'",
        ),
        ("title", "engine: not TOML: "),
        (f"{CLAIM}t0 = {{ between = [40, -40] }}", "ORA-2: .*, got 40 to -40; write .* -40 to 40"),
        (
            f"{CLAIM}t0 = {{ betwen = [-4, 4] }}",
            r"SEM-1: t0 must be .*\"unknown\", \{ between = \[a, b\] \} or \{ one_of = .*'between'",
        ),
        (f'{CLAIM}t0 = {{ between = ["a", 4] }}', "SEM-1: t0 must be a value of the field or "),
        (f"{CLAIM}t00 = {{ betwen = [-4, 4] }}", "SEM-1: unknown key 't00'; did you mean 't0'"),
        (f'{CLAIM}t00 = "nope"', "SEM-1: unknown key 't00'; did you mean 't0'"),
        (
            f'{CLAIM}t0 = "nope"',
            r"got 'nope'; to leave it open, write \"unknown\", \{ between = \[a, b\] \} or ",
        ),
        (
            f'{CLAIM}closure = "(("',
            r"got '\(\('.*; to leave it open, write \"unknown\" or \{ one_of = \[a, b\] \}$",
        ),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(Exception, match=f"mine.toml: .*{message}"):
        read_engine_file(path)


def test_an_engine_file_that_is_not_utf_8_is_named_with_its_line(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes(b'title = "x"\ncommand = "\xda"')
    with pytest.raises(InvalidEngine, match=r"mine.toml:2: engine: not UTF-8: "):
        read_engine_file(path)


def test_an_engine_that_there_is_not():
    with pytest.raises(InvalidEngine, match="no engine 'rspjs'; did you mean 'rsp-js'"):
        engine("rspjs")


def test_what_an_engine_has_not_is_not_asked():
    asks = from_table(
        {"windows": [{"stream": "s", "kind": "now"}], "body": "SELECT ?x WHERE { ?x <urn:p> ?y }"}
    )
    with pytest.raises(Unrenderable, match=r"RSP-JS 1\.3\.5 has no windows of kind now"):
        engine("rsp-js").text(asks)
    window = {"stream": "s", "kind": "range", "size": 10, "lag": 5}
    table = {"windows": [window], "body": "SELECT ?x { ?x <urn:p> ?y }"}
    lagging = from_table(table)
    with pytest.raises(Unrenderable, match="has no windows with a lag"):
        engine("esper").text(lagging, table=table)
    assert '"lag": 5' in engine("reference").text(lagging, table=table)
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 10, "by": ["subject"]}
    table = {"windows": [window], "body": "SELECT ?x { ?x <urn:p> ?y }"}
    keyed = from_table(table)
    with pytest.raises(Unrenderable, match="has no windows of each key"):
        engine("esper").text(keyed, table=table)
    assert '"by": ["subject"]' in engine("reference").text(keyed, table=table)
    with_keys = replace(engine("esper"), has_keys=True)
    assert '"by": ["subject"]' in with_keys.text(keyed, table=table)
    with pytest.raises(Unrenderable, match=r"RSP-JS 1\.3\.5 does not answer ASK"):
        engine("rsp-js").text(windowed(slide=10, body="ASK {}"))


@pytest.mark.parametrize("tested", engines().values(), ids=list(engines()))
def test_what_is_known_of_an_engine_names_cases_that_there_are(tested):
    """And says each thing once."""
    asked = {*CASES} if "corpus" in tested.suites else set()
    if "joins" in tested.suites:
        asked |= {case.id for case in join_cases()}
    if "csrbench" in tested.suites:
        asked |= {f"{stream}{query}" for stream in ("", "embedded-") for query in csrbench.QUERIES}
    assert [
        case for deviation in tested.deviations for case in deviation.cases if case not in asked
    ] == []
    assert len({deviation.reason for deviation in tested.deviations}) == len(tested.deviations)


def test_a_classpath_is_the_users(tmp_path, monkeypatch):
    """Given by name, or in the environment; without one the engine says how it is got. A place that
    is not there is named.
    """
    monkeypatch.delenv("CONFORMANCE_CLASSPATH_CSPARQL", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    bare = engine("csparql")
    assert bare.missing == (
        "no C-SPARQL 0.9.7, which needs the class path of csparql-core 0.9.7 with all its "
        "dependencies: python -m conformance engines add csparql PATH"
    )
    assert bare.with_classpath("") == bare
    path = f"{tmp_path}{os.pathsep}{tmp_path}/*"
    found = bare.with_classpath(path)
    assert not found.missing and found.command[found.command.index("-cp") + 1] == path
    monkeypatch.setenv("CONFORMANCE_CLASSPATH_CSPARQL", str(tmp_path))
    assert (
        str(tmp_path) in bare.with_classpath("").command
        and path in bare.with_classpath(path).command
    ), "what is given comes before the environment"
    with pytest.raises(InvalidEngine, match=r"csparql: engine: no '.*\W for its classpath"):
        bare.with_classpath(f"{tmp_path}/engine.jar")
    for empty in (":", f"{tmp_path}:", f":{tmp_path}"):
        with pytest.raises(
            InvalidEngine, match="csparql: engine: an empty entry in its classpath '"
        ):
            bare.with_classpath(empty.replace(":", os.pathsep))
    with pytest.raises(InvalidEngine, match="rsp-js: engine: takes no classpath"):
        engine("rsp-js").with_classpath(str(tmp_path))
    monkeypatch.setenv("CONFORMANCE_CLASSPATH_RSP_JS", str(tmp_path))
    assert engine("rsp-js").with_classpath("") == engine("rsp-js"), (
        "the environment may be about another engine of that name"
    )


def test_a_tolerance_is_told_and_stated():
    found = engine("cqels")
    assert found.tolerance == 0.5 and found.command[-1] == "0.5"
    tested = Engine("late", "an engine", (), "table", profile=CLAIM, tolerance=0.25)
    question = Question(
        corpus.query_of(BORDER), corpus.streams_of(BORDER), corpus.static_of(BORDER)
    )
    explanation = judge_exchange(tested, BORDER, Exchange(question, [])).explanation
    assert (
        "replayed on the wall clock; an element may have come 0.25 of a unit of time late"
        in explanation
    )


# What explains a fail: of an engine that claims csparql with t0 = 0 and answers by another
# semantics

BORDER = CASES["WIN-2-an-element-on-the-upper-border-of-a-right-open-window-belongs-to-the-next"]
LATE = CASES["MOD-2-an-element-earlier-than-the-one-before-it-is-refused-where-disorder-is"]
STATED = CASES["R2S-6-a-query-that-states-Istream-means-it-under-a-semantics-with-Dstream"]
CLAIM = profile("csparql").but(t0=0)


def known(*cases: str, misstates: str = "", **fields) -> Deviation:
    """A deviation in fields, in what is misstated, or in neither."""
    fields = {name: CLAIM.but(**fields).fields[name] for name in fields}
    cases = cases or ("no-case",)
    return Deviation("another choice", "https://example.org/", cases, fields, misstates)


def judged_of(case, deviations, moved=0, **fields):
    """(explanation, deviations) of an engine that fails for these fields, which it has otherwise;
    its windows are told too late.
    """
    query, streams = corpus.query_of(case), corpus.streams_of(case)
    asked = replace(query, r2s=None) if "r2s" in fields else query
    reports = evaluate(asked, streams, CLAIM.but(**fields).semantics())
    answers = [
        EngineReport(
            report.relation, report.instant, tuple(border + moved for border in report.window)
        )
        for report in reports
    ]
    tested = Engine("wrong", "an engine", (), "table", profile=CLAIM, deviations=tuple(deviations))
    exchange = Exchange(Question(query, streams), answers)
    found = judge_exchange(tested, case, exchange)
    named = find_explaining_deviations(tested, case, exchange)
    assert found.outcome is Outcome.FAIL
    assert [known[:2] for known in found.known] == [(one.reason, one.link) for one in named]
    return found.explanation, list(named)


PASSED, NONE, LATEST, TOLD = (
    known(close_rule="passed"),
    known(horizon="none"),
    known(missed_instants="latest"),
    known(misstates="window"),
)
BOTH = known(close_rule="passed", horizon="none")


@pytest.mark.parametrize(
    ("deviations", "fields", "named"),
    [
        ([LATEST, NONE], {"missed_instants": "latest", "horizon": "none"}, [NONE]),
        ([PASSED, NONE], {"close_rule": "passed", "horizon": "none"}, [PASSED, NONE]),
        ([BOTH, NONE, PASSED], {"close_rule": "passed", "horizon": "none"}, [BOTH]),
        ([NONE, PASSED, BOTH], {"close_rule": "passed", "horizon": "none"}, [NONE, PASSED]),
        ([PASSED], {"close_rule": "passed", "horizon": "none"}, []),
        ([], {"horizon": "none"}, []),
    ],
)
def test_known_deviations_of_which_none_can_be_left_out_are_named(deviations, fields, named):
    """BORDER by hand: [0,10) is closed by c, on its border, and [10,20) by the end alone. The
    engine has all that is known of it; what comes first is kept.
    """
    explanation, found = judged_of(BORDER, deviations, **fields)
    assert found == named
    rules = {"close_rule": "close_rule=passed (TICK-6)", "horizon": "horizon=none (ENG-1)"}
    assert all(f"{rules[name]}" in explanation for one in found for name in one.fields)
    assert found or explanation.endswith(
        f"  no known deviation explains it; the case is about WIN-2: {BORDER.name}"
    )


def test_a_window_that_is_told_wrongly_is_a_fail_of_its_own():
    explanation, found = judged_of(BORDER, [TOLD], moved=1)
    assert found == [TOLD]
    assert "answer 1 is about [0, 10]; the engine says [1, 11]" in explanation
    assert "(WIN-3)" in explanation
    assert judged_of(BORDER, [NONE], moved=1, horizon="none")[1] == []
    assert judged_of(BORDER, [NONE, TOLD], moved=1, horizon="none")[1] == [NONE, TOLD]


def test_what_no_field_says_explains_its_own_cases():
    """Before all others, and no other case."""
    here, elsewhere = known(BORDER.id), known(LATE.id)
    explanation, found = judged_of(BORDER, [NONE, here, elsewhere], horizon="none")
    assert found == [here]
    assert explanation.endswith(
        "  a known deviation explains it: WIN-2, in no field of the semantics: another choice"
    )
    assert judged_of(BORDER, [elsewhere], horizon="none")[1] == []


def test_a_case_that_entries_with_and_without_fields_list_shows_them_all():
    """The oracle cannot be told of the one without fields, so it cannot say which of the two the
    fail comes from. An entry that does not list the case is not named.
    """
    without = known(BORDER.id)
    with_fields = replace(known(BORDER.id, horizon="none"), reason="no end of the stream")
    _, found = judged_of(BORDER, [with_fields, PASSED, without], horizon="none")
    assert found == [without, with_fields]


def test_a_late_element_that_is_taken_by_an_engine_that_claims_to_refuse_it_is_a_fail():
    """MOD-2: csparql has allowed_lateness=reject; what this engine does with a at 5 and b at
    4 is to put them in order.
    """
    explanation, found = judged_of(LATE, [known(allowed_lateness=9)], allowed_lateness=1)
    assert explanation.startswith("stream 's': element 2: MOD-2: t_app decreases from 5 to 4; ")
    assert "and has accepted it" in explanation
    assert found == [known(allowed_lateness=9)] and "allowed_lateness=9 (MOD-2)" in explanation
    assert judged_of(LATE, [known(allowed_lateness=0)], allowed_lateness=1)[1] == []


def test_an_operator_that_is_read_and_not_obeyed_is_a_deviation_in_r2s():
    """R2S-6: the query states Istream, which is what the engine claims to do with it, and it
    answers as Rstream.
    """
    rstream = known(r2s="Rstream", base="none")
    explanation, found = judged_of(STATED, [rstream], r2s="Rstream")
    assert found == [rstream]
    assert "r2s=Rstream (R2S-2, R2S-6)" in explanation and "r2s=Istream" in explanation


def test_a_harness_that_breaks_down_is_an_error_that_can_be_known():
    """By its cases alone, and if that is what is known of them: no semantics breaks down."""
    code = "import sys; sys.stdin.readline(); sys.exit(3)"
    crashes = replace(known(BORDER.id), crashes=True)
    for deviations, named in (([NONE, crashes], 1), ([NONE, known(BORDER.id)], 0), ([NONE], 0)):
        tested = Engine(
            "wrong", "an engine", (), "csparql", profile=CLAIM, deviations=tuple(deviations)
        )
        found = probe_case(tested, Harness([sys.executable, "-c", code]), BORDER)
        assert found.outcome is Outcome.ERROR and len(found.known) == named
        assert "WIN-2" in found.explanation.splitlines()[-1]


# RSP-JS, live


@pytest.fixture(scope="module")
def hurried_harnesses(rsp_js_installed):
    """The processes of RSP-JS that have 2 s for a reply."""
    harnesses = Harnesses()
    yield harnesses
    harnesses.stop()


@pytest.fixture
def rsp_js(rsp_js_harnesses):
    """RSP-JS as npm has it."""
    return rsp_js_harnesses.of(RSP_JS)


@pytest.fixture(scope="module")
def becomes(rsp_js_harnesses, rsp_js_run, hurried_harnesses):
    """What becomes of a case on RSP-JS: what a run of the suite found, or, of a case that asks
    nothing there, what is found here.
    """
    found = {one.case: one for one in rsp_js_run.results}
    hurried = hurried_harnesses.of(HURRIED)
    found[ENDLESS] = probe_case(HURRIED, hurried, CASES[ENDLESS])

    def result(case: str) -> Result:
        if case not in found:
            found[case] = probe_case(RSP_JS, rsp_js_harnesses.of(RSP_JS), CASES[case])
        return found[case]

    return result


@rsp_js_items.group
def test_rsp_js_is_of_the_version_that_its_file_names(rsp_js_installed):
    running = Harness(RSP_JS.command)
    assert running.start()["version"] == RSP_JS.version
    running.stop()


def answers(running, *items: tuple[str, int], slide: int = 10):
    """(window, what ?x is) of each report over elements ?x <urn:p> <urn:y> at instants."""
    query = windowed(slide)
    source = stream([((f"<urn:{name}>", "<urn:p>", "<urn:y>"), at) for name, at in items])
    got = play(running, EngineQuery(query, engine("rsp-js").text(query), "rsp-js"), {"s": source})
    return [
        (
            answer.window,
            "".join(sorted(term[5:-1] for line in answer.relation.rows for _, term in line)),
        )
        for answer in got
    ]


@rsp_js_items.group
def test_rsp_js_answers_with_the_windows_that_close(rsp_js):
    """WIN-2, REP-1 by hand: [0,10) holds a and b, [10,20) c; the last window, of d, is never
    closed.
    """
    assert [rows for _, rows in answers(rsp_js, ("a", 3), ("b", 9), ("c", 12), ("d", 25))] == [
        "ab",
        "c",
    ]


@rsp_js_items.group
def test_rsp_js_waits_for_an_element_past_the_close(rsp_js):
    """TICK-6: b at 10 is outside of [0,10) and closes it, but the report comes with c at 11; then
    nothing closes [10,20).
    """
    running, query = rsp_js, QUERY
    running.ask("register", query=engine("rsp-js").text(query), dialect="rsp-js", streams=["s"])
    told = [
        running.ask("push", stream="s", at=at, graph=f"<urn:{name}> <urn:p> <urn:y> .\n")[
            "relations"
        ]
        for name, at in [("a", 3), ("b", 10), ("c", 11)]
    ]
    assert [len(relations) for relations in told] == [0, 0, 1]


@rsp_js_items.group
def test_rsp_js_does_not_see_a_stream_that_its_query_does_not_name(rsp_js):
    """QRY-4: x is on another stream; [0,10) of s holds b alone, and c at 12 closes it."""
    named = {
        "r": stream([(("<urn:x>", "<urn:p>", "<urn:y>"), 3)]),
        "s": stream(
            [((f"<urn:{name}>", "<urn:p>", "<urn:y>"), at) for name, at in (("b", 4), ("c", 12))]
        ),
    }
    [answer] = play(rsp_js, EngineQuery(QUERY, engine("rsp-js").text(QUERY), "rsp-js"), named)
    assert list(answer.relation.rows) == [(("x", "<urn:b>"),)]


@rsp_js_items.group
def test_rsp_js_loses_windows_in_a_gap(rsp_js):
    """REP-10: [0,10) with a and [10,20) with b both close before c at 45; the later one is
    reported. After a long gap it is [5,15), the last that holds something.
    """
    assert [rows for _, rows in answers(rsp_js, ("a", 3), ("b", 10), ("c", 45))] == ["b"]
    assert [rows for _, rows in answers(rsp_js, ("a", 7), ("b", 1000), slide=5)] == ["a"]


@rsp_js_items.group
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"graph": ""}, "its elements are triples; this one has none"),
        ({"end": 9}, "its elements have an instant, and no interval"),
        (
            {"at": 2**53},
            "its instants are numbers of JavaScript, which has none for 9007199254740992",
        ),
    ],
)
def test_the_harness_of_rsp_js_declines_what_rsp_js_has_not(rsp_js, more, reason):
    rsp_js.ask("register", query=engine("rsp-js").text(QUERY), dialect="rsp-js", streams=["s"])
    reply = rsp_js.ask(
        "push", **{"stream": "s", "at": 3, "graph": "<urn:a> <urn:p> <urn:y> .\n", **more}
    )
    assert (reply["reply"], reply.get("reason")) == ("unsupported", reason)


@rsp_js_items.group
def test_rsp_js_aligns_what_it_closes(rsp_js):
    """WIN-3 by hand: with ω = 10 and β = 4 its windows are [-2,8), [2,12), [6,16), not [0,10),
    [4,14); a at 1 is in the first alone, b at 9 in the second and the third.
    """
    query = windowed(slide=4)
    items = [(f"<urn:{name}>", at) for name, at in (("a", 1), ("b", 9), ("c", 13), ("d", 17))]
    source = stream([((name, "<urn:p>", "<urn:y>"), at) for name, at in items])
    got = play(rsp_js, EngineQuery(query, engine("rsp-js").text(query), "rsp-js"), {"s": source})
    assert [
        sorted(term for line in answer.relation.rows for _, term in line) for answer in got
    ] == [["<urn:a>"], ["<urn:b>"], ["<urn:b>", "<urn:c>"]]


SHOWN = [(deviation, case) for deviation in engine("rsp-js").deviations for case in deviation.cases]


@rsp_js_items.group
@pytest.mark.parametrize(
    ("deviation", "case"),
    SHOWN,
    ids=[f"{deviation.reason[:40]}-{case}" for deviation, case in SHOWN],
)
def test_a_known_deviation_of_rsp_js_is_shown_by_its_cases(becomes, deviation, case):
    """The case fails, and the deviation is named with what it changes, or else with the rule of the
    case.
    """
    found = becomes(case)
    assert found.outcome in (Outcome.FAIL, Outcome.ERROR) and (
        deviation.reason,
        deviation.link,
    ) in {known[:2] for known in found.known}, found.explanation
    assert f": {deviation.reason}" in found.explanation
    assert re.search(r"explains it: .*\b[A-Z0-9]+-[0-9]+", found.explanation)


@rsp_js_items.group
@pytest.mark.parametrize(
    "deviation", engine("rsp-js").deviations, ids=lambda deviation: deviation.reason[:40]
)
def test_without_a_known_deviation_of_rsp_js_a_case_is_unexplained(
    rsp_js_harnesses, hurried_harnesses, deviation
):
    """None is there for nothing: what the others explain needs no other name."""
    rest = replace(
        RSP_JS, deviations=tuple(other for other in RSP_JS.deviations if other != deviation)
    )
    # RSP-JS computes up to the limit where it comes to no end
    harnesses = hurried_harnesses if deviation.crashes else rsp_js_harnesses
    rsp_js = harnesses.of(HURRIED if deviation.crashes else RSP_JS)
    assert any(not probe_case(rest, rsp_js, CASES[case]).known for case in deviation.cases)


@rsp_js_items.group
@pytest.mark.parametrize(
    "deviation", engine("rsp-js").deviations, ids=lambda deviation: deviation.reason[:40]
)
def test_a_known_deviation_of_rsp_js_has_a_case_that_it_alone_explains(becomes, deviation):
    """Alone but for the bounds that RSP-JS tells. They are a counter of rows, and so are wrong from
    the first window on that is not reported, or has not one row.
    """
    bounds = {(other.reason, other.link) for other in RSP_JS.deviations if other.misstates}
    alone = {(deviation.reason, deviation.link)}
    found = [{known[:2] for known in becomes(case).known} for case in deviation.cases]
    assert alone in found or alone | bounds in found


@rsp_js_items.group
@each_section(CASES.values())
def test_what_becomes_of_a_case_on_rsp_js_is_known(becomes, cases):
    """Each passes, asks for what RSP-JS has not, is disputed, or fails for what is known of it."""

    def is_known(case: Case) -> None:
        found = becomes(case.id)
        assert found.outcome not in (Outcome.FAIL, Outcome.ERROR) or found.known, found.explanation

    check_all(cases, is_known)


@rsp_js_items.group
def test_rsp_js_without_its_deviations_is_not_explained(rsp_js):
    """What it is known for is what explains it: with none granted, nothing does."""
    bare = replace(engine("rsp-js"), deviations=())
    found = probe_case(
        bare, rsp_js, CASES["REP-1-every-window-that-closes-between-two-elements-is-reported"]
    )
    assert found.outcome is Outcome.FAIL
    assert found.known == ()
    assert "first divergence" in found.explanation
    assert found.explanation.endswith(
        "the case is about REP-1: every window that closes between two elements is reported"
    )
