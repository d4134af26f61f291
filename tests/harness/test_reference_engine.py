"""The reference engine as its harness asks it says who computes the answers (ENG-6)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from every_window import LATE_FOR_WINDOW

from conformance.engines.adapters import reference as adapter
from conformance.harness.reference_engine import Reference, run_command
from refengine import evaluate, from_table, profile, stream
from refengine.core.answers import RecomputedAnswers
from refengine.incremental import MaintainedWhileCovered

COVERED = "SELECT ?x { ?x <urn:p> ?y }"
NOT_COVERED = "SELECT (RAND() AS ?z) { ?x <urn:none> ?y }"


def ask(way: str, body: str) -> Reference:
    """Ask for one window of one element."""
    engine = Reference(profile("csparql").but(t0=0).semantics(), way)
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    text = json.dumps({"windows": [window], "body": body})
    graph = "<urn:a> <urn:p> <urn:b> ."
    for message in (
        {"command": "register", "query": text, "dialect": "table", "streams": ["s"]},
        {"command": "push", "stream": "s", "at": 3, "graph": graph},
        {"command": "end"},
    ):
        reply = run_command(engine, message)
        assert reply["reply"] == "result"
    assert len(reply["relations"]) == 1
    return engine


@pytest.mark.parametrize(
    ("way", "body", "answers", "error"),
    [
        ("incremental", COVERED, MaintainedWhileCovered, ""),
        ("definition", COVERED, RecomputedAnswers, ""),
        (
            "incremental",
            NOT_COVERED,
            MaintainedWhileCovered,
            "refengine: provenance: the SPARQL evaluator: ",
        ),
    ],
)
def test_it_says_where_the_evaluator_takes_over(capsys, way, body, answers, error):
    engine = ask(way, body)
    assert isinstance(engine.engine.answers, answers)
    assert run_command(engine, {"command": "start"})["version"].endswith(f" ({way})")
    said = capsys.readouterr().err
    assert said.startswith(error) and len(said.splitlines()) == bool(error)


@pytest.mark.parametrize("way", ["incremental", "definition"])
def test_it_reports_every_window_when_the_arrival_comes(way):
    """By hand, 1 and 2 are seen when 3 comes, all three when [0, 10) closes."""
    chosen = profile("csparql").but(t0=0, reported_windows="every", early_count=2).semantics()
    engine = Reference(chosen, way)
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    query = json.dumps({"windows": [window], "body": "SELECT (COUNT(*) AS ?n) { ?x ?y ?z }"})
    engine.register(query, "table", ["s"])
    graph = "<urn:a> <urn:p> <urn:b> ."
    found = [engine.push("s", at, graph) for at in (1, 2, 3, 12)] + [engine.finish()]
    assert [[len(each.contents[0]) for each in reports] for reports in found] == [
        [],
        [],
        [2],
        [3],
        [1],
    ]


def ask_sessions(**fields: Any) -> Reference:
    """Return the engine with sessions of gap 5 registered, of which each is reported."""
    chosen = profile("csparql").but(t0=0, reported_windows="every").but(**fields).semantics()
    engine = Reference(chosen)
    window = {"stream": "s", "kind": "session", "size": 5}
    engine.register(json.dumps({"windows": [window], "body": COVERED}), "table", ["s"])
    return engine


@pytest.mark.parametrize(
    "fields", [{"t0": "first-element", **LATE_FOR_WINDOW}, {"allowed_lateness": 3}]
)
def test_what_a_later_element_may_change_is_reported_at_the_end(fields):
    engine = ask_sessions(**fields)
    graph = "<urn:a> <urn:p> <urn:b> ."
    assert [engine.push("s", at, graph) for at in (1, 12)] == [[], []]
    assert [report.window for report in engine.finish()] == [(1, 6), (12, 17)]


@pytest.mark.parametrize("fields", [{"t0": "first-element"}, LATE_FOR_WINDOW])
def test_what_no_later_element_can_change_is_reported_when_the_arrival_comes(fields):
    """The first element stays the first one where late ones are left out; a t0 that is given does
    not depend on it.
    """
    engine = ask_sessions(**fields)
    graph = "<urn:a> <urn:p> <urn:b> ."
    found = [[report.window for report in engine.push("s", at, graph)] for at in (1, 12)]
    assert found == [[], [(1, 6)]]


@pytest.mark.parametrize(
    ("words", "way"),
    [
        ([], "incremental"),
        (["--definition"], "definition"),
        (["--wrong", "WIN-8 nothing expires"], "definition"),
        (["--wrong", "ENG-6 nothing leaves"], "incremental"),
    ],
)
def test_a_wrong_engine_is_wrong_by_what_it_replaces(monkeypatch, words, way):
    """A function of the engine, or one of incremental evaluation."""
    served = []
    monkeypatch.setattr(adapter, "serve", served.append)
    monkeypatch.setattr("sys.argv", ["reference.py", "csparql", "t0=0", *words])
    monkeypatch.setattr("logging.disable", lambda: None)
    adapter.main()
    assert [engine.way for engine in served] == [way]


def test_the_way_that_is_the_default_has_no_option(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["reference.py", "csparql", "t0=0", "--incremental"])
    monkeypatch.setattr("logging.disable", lambda: None)
    with pytest.raises(SystemExit, match="2"):
        adapter.main()
    assert "unrecognized arguments: --incremental" in capsys.readouterr().err


NEVER_FINAL = [
    # the windows lie where the last element says
    (
        {"t0": "epoch", "offset": "last-element"},
        {"size": 3, "slide": 3},
        [(0, "a"), (2, "b"), (4, "a")],
    ),
    # [0, 1) of :a is closed by :c at 1, before :a is known, and it is reported though it is empty
    (
        {"t0": 0, "report": "window-close"},
        {"size": 1, "slide": 1, "by": ["subject"]},
        [(1, "c"), (2, "c"), (2, "a")],
    ),
]


@pytest.mark.parametrize(("fields", "extent", "elements"), NEVER_FINAL)
@pytest.mark.parametrize("way", ["incremental", "definition"])
def test_nothing_is_reported_that_a_later_element_changes(way, fields, extent, elements):
    chosen = profile("csparql").but(**fields).semantics()
    engine = Reference(chosen, way)
    window = {"stream": "s", "kind": "time", **extent}
    table = {"windows": [window], "body": "SELECT ?x { ?x ?y ?z }"}
    engine.register(json.dumps(table), "table", ["s"])
    graphs = [(f"<urn:{name}> <urn:p> <urn:b> .", at) for at, name in elements]
    found = [one for graph, at in graphs for one in engine.push("s", at, graph)]
    found += engine.finish()
    due = evaluate(
        from_table(table), {"s": stream((statements(graph), at) for graph, at in graphs)}, chosen
    )
    assert [one.window for one in found] == [one.window for one in due]


def statements(graph: str) -> list[tuple[str, ...]]:
    """The triple of a text in N-Triples."""
    return [tuple(graph.removesuffix(" .").split(" "))]
