"""Kafka Streams and Esper as engines under test: only their windows are tested. Which queries are
refused, and some cases live. Other libraries in Java: `pytest conformance --engine=flink`.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from conftest import needs_commands

from conformance import suite
from conformance.engines.installation import places
from conformance.harness import engine_file, java_windows
from conformance.harness.java_windows import JavaFailure, JavaWindows
from conformance.harness.pool import Harnesses
from conformance.harness.window_bodies import answer_over, only_window, read_element
from conformance.verdict.outcomes import Outcome
from refengine import from_table
from refengine.model.errors import Unsupported

KAFKA, ESPER = "kafka-streams", "esper"
WINDOW = {"stream": "s", "kind": "time", "size": 10, "slide": 5}
BODY = "SELECT ?x WHERE { ?x <urn:p> ?y }"

# Which queries need no more than a window


@pytest.mark.parametrize("kind", ["time", "range"])
@pytest.mark.parametrize("stated", [{}, {"r2s": "Rstream"}])
def test_one_window_over_time_is_taken(kind, stated):
    query = from_table({"windows": [{**WINDOW, "kind": kind}], "body": BODY, **stated})
    assert only_window(query, "") is query.windows[0]


@pytest.mark.parametrize(
    ("changed", "static", "condition"),
    [
        ({"windows": [WINDOW, WINDOW]}, "", "one window"),
        ({"windows": [{**WINDOW, "name": "urn:w"}]}, "", "a window without a name"),
        ({"windows": [{"stream": "s", "kind": "now"}]}, "", "a window over time"),
        ({"r2s": "Istream"}, "", "Rstream, not Istream"),
        ({"r2s": "Dstream"}, "", "Rstream, not Dstream"),
        ({}, "<urn:a> <urn:p> <urn:b> .\n", "no static data"),
    ],
)
def test_a_query_that_asks_for_more_is_refused(changed, static, condition):
    query = from_table({"windows": [WINDOW], "body": BODY, **changed})
    with pytest.raises(Unsupported, match=f"the query must have {condition}$"):
        only_window(query, static)


def test_the_body_is_evaluated_over_what_the_engine_reports():
    elements = [
        read_element(f'<urn:{name}> <urn:p> "{name}" .\n', 3, number, None)
        for number, name in enumerate("abc")
    ]
    body = from_table({"windows": [WINDOW], "body": BODY}).body
    rows = answer_over(body, elements[1:], "0")
    assert [row["x"]["value"] for row in rows] == ["urn:b", "urn:c"]


# Live

ON_A_BORDER = "WIN-2-an-element-on-the-upper-border-of-a-right-open-window-belongs-to-the-next"
HOPPING = "WIN-1-a-slide-greater-than-the-size-skips-the-instants-between-windows"
OVERLAPPING = "REP-10-a-row-that-only-the-earlier-of-two-windows-of-one-gap-has-is-reported"
LATE = "MOD-2-a-late-element-is-not-added-to-a-window-that-is-still-open"
LAST = "ENG-1-a-window-that-no-arrival-closes-is-reported-only-if-time-goes-on-to-a-horizon"
EACH_ARRIVAL = "REP-13-each-element-that-arrives-gives-a-report-however-many-share-its-instant"
EXACT_GAP = "WIN-23-an-element-exactly-a-gap-later-joins-a-session-or-parts-from-it"
BEFORE_0 = "WIN-3-a-window-before-time-0-is-a-window-like-any-other"
LIVE = {
    (KAFKA, ON_A_BORDER): Outcome.PASS,
    (KAFKA, OVERLAPPING): Outcome.PASS,
    (KAFKA, LAST): Outcome.PASS,
    (KAFKA, LATE): Outcome.FAIL,
    (KAFKA, HOPPING): Outcome.UNSUPPORTED,
    (KAFKA, BEFORE_0): Outcome.UNSUPPORTED,
    (ESPER, ON_A_BORDER): Outcome.PASS,
    (ESPER, OVERLAPPING): Outcome.PASS,
    (ESPER, LAST): Outcome.PASS,
    (ESPER, HOPPING): Outcome.PASS,
    (ESPER, BEFORE_0): Outcome.PASS,
    (ESPER, LATE): Outcome.UNSUPPORTED,
    ("esper-rolling", EACH_ARRIVAL): Outcome.PASS,
    ("esper-sessions", EXACT_GAP): Outcome.PASS,
}
REFUSALS = {
    (KAFKA, HOPPING): "Window advancement interval",
    (KAFKA, BEFORE_0): "Timestamp should always be non-negative",
    (ESPER, LATE): "does not go back to",
}


@pytest.fixture(scope="module")
def harnesses():
    """Processes of the engines, which are stopped at the end."""
    running = Harnesses()
    yield running
    running.stop()


@needs_commands("java")
@pytest.mark.parametrize("name", [KAFKA, ESPER])
def test_an_engine_that_is_not_installed_says_how_it_is(name, tmp_path, monkeypatch):
    monkeypatch.setenv(places.CACHE, str(tmp_path))
    missing = engine_file.engine(name).missing
    assert missing.endswith(f"python -m conformance engines install {name}")
    assert "\n" not in missing


@pytest.mark.xdist_group("window engines")
@pytest.mark.parametrize(("name", "case"), LIVE)
def test_an_engine_does_what_it_is_known_for(harnesses, name, case):
    """Cases of each outcome; all cases: `pytest conformance --engine=kafka-streams`."""
    engine = engine_file.engine(name)
    if engine.missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(engine.missing)
    [item] = [item for item in suite.live_items(engine) if item.case == case]
    result = item.run(harnesses)
    assert result.outcome is LIVE[name, case], result.explanation
    assert suite.why_unexpected(item, result) == ""
    assert REFUSALS.get((name, case), "") in result.explanation


@needs_commands("javac")
def test_a_program_that_does_not_compile_says_why_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(java_windows, "SOURCES", tmp_path)
    for name in ("WindowLines", "Mine"):
        (tmp_path / f"{name}.java").write_text(f"class {name} extends Nothing {{}}")
    with pytest.raises(JavaFailure, match=r"Mine\.java:1: error"):
        JavaWindows(str(tmp_path / "jars"), "Mine")
    assert {path.name for path in tmp_path.iterdir()} == {"WindowLines.java", "Mine.java"}


@pytest.mark.xdist_group("window engines")
def test_an_engine_on_a_wrong_border_fails(harnesses):
    """The windows are compared, and not only what the body answers."""
    engine = engine_file.engine(ESPER)
    if engine.missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(engine.missing)
    assert engine.profile is not None
    other = replace(engine, profile=engine.profile.but(closure="(]"), window_closure=None)
    [item] = [item for item in suite.live_items(other) if item.case == ON_A_BORDER]
    assert item.run(harnesses).outcome is Outcome.FAIL
