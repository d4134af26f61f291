"""PROTOCOL.md has every key of an engine's file, every placeholder, and lines to copy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import draws
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.corpus.rule_texts import read_specification
from conformance.engines.installation.startable import BROUGHT
from conformance.harness import engine_file
from conformance.harness.engine_file import read_engine_file
from conformance.harness.play import Declined, EngineQuery, commands, play_commands
from conformance.schemas import problems
from conformance.suite.exchange import prepare_question
from conformance.verdict.rules import is_of_engines
from refengine import Element, Question, Stream, evaluate, from_table, profile
from refengine.core.semantics import Semantics
from refengine.model.errors import InvalidSemantics
from refengine.model.terms import Term

CONFORMANCE = Path(engine_file.__file__).resolve().parents[1]
PAGE = (CONFORMANCE / "PROTOCOL.md").read_text(encoding="utf-8")
SCHEMA = json.loads((CONFORMANCE / "schema" / "engine.schema.json").read_text(encoding="utf-8"))

TOP = """\
title = "Mine"
command = ["mine"]
dialect = "table"
"""
DEVIATION = {
    "reason": '"it differs from what it claims"',
    "link": '"https://example.org/"',
    "cases": '["no-case"]',
}


def section(heading: str) -> str:
    """Return the text under a heading, up to the next one."""
    _, _, text = PAGE.partition(f"{heading}\n")
    assert text, heading
    return re.split(r"^#+ ", text, maxsplit=1, flags=re.M)[0]


def table_after(text: str, head: str) -> list[list[str]]:
    """Return the rows of the table that has this head, as cells."""
    lines = text.splitlines()
    rows = []
    for line in lines[lines.index(head) + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


ROWS = table_after(section("### Your engine does this: write that"), "| your engine | in | lines |")


def test_every_key_of_an_engine_file_is_in_the_table_of_keys():
    rows = table_after(section("## An engine's file"), "| key | meaning | if the key is missing |")
    keys = [key.strip("`") for key, *_ in rows]
    assert sorted(keys) == sorted(SCHEMA["properties"])


@pytest.mark.parametrize("key", ["install", "bring"])
def test_every_key_of_a_source_is_named(key):
    rows = table_after(section("## An engine's file"), "| key | meaning | if the key is missing |")
    [meaning] = [meaning for name, meaning, _ in rows if name == f"`{key}`"]
    keys = SCHEMA["properties"][key]["properties"]
    assert [name for name in keys if f"`{name}`" not in meaning] == []


def test_every_placeholder_is_in_the_table_of_placeholders():
    rows = table_after(section("## An engine's file"), "| placeholder | stands for |")
    named = {re.findall(r"{\w+}", name)[0] for name, _ in rows}
    replaced = {f"{{{name}}}" for name in (*engine_file.PLACES, "here", "tolerance", "installed")}
    assert named == replaced | set(BROUGHT)


def test_there_are_rows_for_what_engines_do():
    assert len(ROWS) >= 12


@pytest.mark.parametrize(("meaning", "place", "lines"), ROWS, ids=[row[0] for row in ROWS])
def test_the_lines_of_a_row_are_those_of_an_engine(tmp_path, meaning, place, lines):
    """They make an engine, and its semantics is one that means something (SEM-2)."""
    written = re.findall(r"`([^`]+)`", lines)
    assert written
    semantics = {"profile": '"csparql"'}
    text = TOP
    entry = ""
    match place.strip("`"):
        case "top":
            text += "\n".join(written) + "\n"
            if 'end = "sentinel"' in written:
                semantics["horizon"] = '"none"'
        case "[semantics]":
            semantics |= dict(line.split(" = ", 1) for line in written)
        case "[capabilities]":
            entry = "\n".join(["[capabilities]", *written])
        case "[[deviations]]":
            keys = DEVIATION | dict(line.split(" = ", 1) for line in written)
            entry = "\n".join(["[[deviations]]", *_lines(keys)])
        case other:
            raise AssertionError(f"no such place in an engine file: {other}")
    path = tmp_path / "mine.toml"
    path.write_text("\n".join([text, "[semantics]", *_lines(semantics), entry, ""]))

    engine = read_engine_file(path)
    profiles = [engine.profile, *(engine.profile.but(**one.fields) for one in engine.deviations)]
    assert all(has_meaning(profile) for profile in profiles)


def _lines(keys: dict[str, str]) -> list[str]:
    """Return the lines of TOML for some keys, whose values are TOML."""
    return [f"{key} = {value}" for key, value in keys.items()]


def has_meaning(profile) -> bool:
    """Whether some complete semantics of a profile is not refused."""
    for fields in profile.assignments((0,)):
        try:
            Semantics(**fields)
        except InvalidSemantics:
            continue
        return True
    return False


# What an author of a harness needs

MOST_WORDS = 4000  # at 5,615 authors found the page long


def test_the_page_has_not_grown():
    assert len(PAGE.split()) <= MOST_WORDS


def test_each_link_within_the_page_leads_to_a_heading():
    headings = re.findall(r"^#+ (.*)$", PAGE, re.M)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert {*re.findall(r"\]\(#([^)]*)\)", PAGE)} <= anchors


def test_each_message_on_the_page_is_one_of_the_protocol():
    lines = re.findall(r"^(?:(suite|harness) +)?(\{\"seq\".*\})$", PAGE, re.M)
    assert len(lines) >= 19
    for speaker, line in lines:
        kind = "reply" if speaker == "harness" else "command"
        assert list(problems(kind, json.loads(line))) == [], line


def test_the_register_message_of_a_table_holds_a_query():
    [line] = [line for line in PAGE.splitlines() if '"dialect": "table"' in line]
    query = from_table(json.loads(json.loads(line)["query"]))
    assert query.windows[0].size == 10


def test_the_rules_to_begin_with_are_rules_of_an_engine():
    spec = read_specification()
    named = {"WIN-1", "WIN-2", "WIN-3", "WIN-4", "WIN-5", "WIN-6", "TICK-4", "TICK-5", "TICK-6"}
    named |= {*re.findall(r"\b[A-Z][A-Z0-9]+-\d+\b", section("## The rules to begin with"))}
    assert [rule for rule in sorted(named) if f"**{rule}**" not in spec] == []
    assert [rule for rule in sorted(named) if not is_of_engines(rule)] == []


# The horizon of `flush`, by the words of the page


def horizon_of_the_page(windows, last: int) -> int:
    """H = last + 2 + the greatest (ω + d + r) of the query's windows."""
    return (
        last
        + 2
        + max(
            window["size"]
            + window.get("lag", 0)
            + (window["slide"] - 1 if window["kind"] == "range" else 0)
            for window in windows
        )
    )


LENGTHS = st.integers(1, 9)
WINDOWS = st.lists(
    st.fixed_dictionaries(
        {
            "stream": st.just("s"),
            "kind": st.sampled_from(["time", "range"]),
            "size": LENGTHS,
            "slide": LENGTHS,
        },
        optional={"lag": LENGTHS},
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=draws(200))
@given(
    WINDOWS,
    st.lists(st.integers(0, 20), min_size=1, max_size=3, unique=True),
    st.sampled_from(["tuple", "time", "batch"]),
    st.sampled_from(["reached", "passed"]),
    st.sampled_from(["[)", "(]", "[]"]),
)
def test_the_flush_shows_the_windows_that_the_page_says(windows, times, tick, rule, closure):
    """All windows from 0 on, with and without elements, whose last instant is before H."""
    times.sort()
    named = [{**window, "name": f"urn:w{number}"} for number, window in enumerate(windows)]
    body = " UNION ".join(f"{{ WINDOW <{one['name']}> {{ ?x ?p ?y }} }}" for one in named)
    query = from_table({"windows": named, "body": f"SELECT ?x WHERE {{ {body} }}"})
    triple = frozenset({(Term("<urn:a>"), Term("<urn:p>"), Term("<urn:b>"))})
    elements = [Element(triple, at, number, number) for number, at in enumerate(times, 1)]
    semantics = profile("csparql").but(
        t0=0,
        closure=closure,
        report="window-close",
        close_rule=rule,
        tick=tick,
        empty="emit",
        horizon="flush",
    )
    reports = evaluate(query, {"s": Stream(tuple(elements))}, semantics.semantics())

    high = horizon_of_the_page(windows, times[-1])
    first_that_is_open = high - (rule == "passed" and closure == "[)")
    expected = set()
    for window in windows:
        for opens in range(0, high, window["slide"]):
            closes = opens + window["size"]
            last_instant = closes - (closure == "[)")
            if last_instant < first_that_is_open:
                expected.add(last_instant)
    assert {report.evaluation for report in reports} == expected
    words = "H = last + 2 + the greatest (ω + d + r) of the query's windows"
    assert words in section("## The end of the stream")


def test_the_example_of_the_horizon_on_the_page():
    """Size 10, slide 2, [) from 0, the last element at 12. A range shows each window 1 longer."""
    assert horizon_of_the_page([{"kind": "time", "size": 10, "slide": 2}], 12) == 24
    assert horizon_of_the_page([{"kind": "range", "size": 10, "slide": 2}], 12) == 25
    windows = [{"stream": "s", "kind": "time", "size": 10, "slide": 2}]
    query = from_table({"windows": windows, "body": "SELECT ?x WHERE { ?x ?p ?y }"})
    triple = frozenset({(Term("<urn:a>"), Term("<urn:p>"), Term("<urn:b>"))})
    semantics = profile("csparql").but(t0=0, report="window-close").semantics()
    reports = evaluate(query, {"s": Stream((Element(triple, 12, 1),))}, semantics)
    late = [report.window for report in reports if report.trigger == 24]
    said = re.findall(r"\[(\d+), (\d+)\)", section("## The end of the stream"))
    assert [(int(o), int(c)) for o, c in said] == [*late, (16, 26)]


# What the page says of the order of commands


class Recorder:
    """A harness that notes its commands, and refuses the first element."""

    def __init__(self) -> None:
        self.commands: list[str] = []

    def ask(self, command, **fields):
        self.commands.append(command)
        if command == "push":
            return {"reply": "unsupported", "reason": "no"}
        return {"reply": "result", "relations": []}


def test_nothing_of_a_case_is_sent_after_unsupported():
    recorder = Recorder()
    every = [("register", {}), ("push", {"at": 1}), ("push", {"at": 2}), ("end", {})]
    with pytest.raises(Declined):
        play_commands(recorder, every, ())
    assert recorder.commands == ["register", "push"]


def test_elements_of_one_instant_come_by_their_arrival_and_then_by_the_order_of_the_streams():
    windows = [{"stream": name, "kind": "time", "size": 9, "slide": 9} for name in ("b", "a")]
    for number, window in enumerate(windows):
        window["name"] = f"urn:w{number}"
    query = from_table({"windows": windows, "body": "SELECT * WHERE { WINDOW ?w { ?x ?p ?y } }"})
    streams = {
        "a": Stream((Element(frozenset(), 1, 1), Element(frozenset(), 2, 3))),
        "b": Stream((Element(frozenset(), 1, 1), Element(frozenset(), 2, 2))),
    }
    sent = [
        (fields["stream"], fields["at"])
        for command, fields in commands(EngineQuery(query, "", "table"), streams)
        if command == "push"
    ]
    assert sent == [("b", 1), ("a", 1), ("b", 2), ("a", 2)]


def test_elements_of_several_streams_come_by_sys_where_no_element_is_late():
    """MOD-5: The element at 5 arrives after the one at 10, of another stream, and before 12."""
    windows = [{"stream": name, "kind": "time", "size": 10, "slide": 10} for name in ("b", "a")]
    table = {"windows": windows, "body": "SELECT * { ?x ?p ?y }"}
    query = from_table(table)
    streams = {
        "a": Stream((Element(frozenset(), 10, 1), Element(frozenset(), 12, 3))),
        "b": Stream((Element(frozenset(), 5, 2),)),
    }
    claimed = profile("csparql").but(t0=0, late_for="nothing", report="content-change")
    tested = engine_file.Engine("mine", "Mine", ("engine",), "table", profile=claimed)
    prepared = prepare_question(tested, Question(query, streams), table)
    sent = EngineQuery(query, "", "table", claimed.semantics())
    for every in (prepared.commands(), commands(sent, streams)):
        assert [fields["at"] for command, fields in every if command == "push"] == [10, 5, 12]
    in_time = EngineQuery(query, "", "table", claimed.but(late_for="stream").semantics())
    every = commands(in_time, streams)
    assert [fields["at"] for command, fields in every if command == "push"] == [5, 10, 12]
