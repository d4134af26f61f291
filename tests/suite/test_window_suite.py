"""The suite `windows` through the protocol: what is sent, what is read, harnesses of libraries, and
what is said of a fail.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.corpus.window_cases import window_cases
from conformance.engines.installation.source import Registry
from conformance.harness import engine_file
from conformance.harness.client import Broken
from conformance.harness.engine_file import InvalidEngine, read_engine_file
from conformance.harness.play import play_commands
from conformance.harness.pool import Harnesses
from conformance.suite import live_items, why_unexpected
from conformance.suite.replay import lines_to_send
from conformance.verdict.outcomes import Outcome
from conformance.verdict.window_elements import numbers_in

ROOT = Path(__file__).resolve().parents[2]
CASES = {case.id: case for case in window_cases()}
REFERENCE = engine_file.engine("reference-windows")
ON_A_BORDER = "WIN-2-an-element-on-the-upper-border-of-a-right-open-window-belongs-to-the-next"
ANOTHER_KEY = "WIN-24-the-element-of-another-key-closes-a-window-or-does-not"
PUNCTUATION = "MOD-5-a-punctuation-closes-a-window-and-is-in-none"
LATE = "MOD-2-lateness-is-measured-from-the-greatest-time-before-and-not-from-the-last-one"


@pytest.fixture(scope="module")
def harnesses():
    """Processes of the engines, which are stopped at the end."""
    running = Harnesses()
    yield running
    running.stop()


# What is sent


def sent(tested, case: str) -> list[dict]:
    """The messages that put a case to an engine, without `start` and `stop`."""
    [item] = [item for item in live_items(tested) if item.case == case]
    return [json.loads(line) for line in lines_to_send(item)][1:-1]


def test_an_engine_is_sent_the_window_and_numbers_with_times():
    tested = replace(engine_file.engine("polars"), package=None)
    assert sent(tested, ON_A_BORDER) == [
        {
            "seq": 2,
            "command": "register",
            "dialect": "window",
            "query": '{"kind": "time", "size": 10, "slide": 10}',
        },
        {"seq": 3, "command": "push", "at": 0, "element": 0},
        {"seq": 4, "command": "push", "at": 9, "element": 1},
        {"seq": 5, "command": "push", "at": 10, "element": 2},
        {"seq": 6, "command": "end"},
    ]


def test_a_key_is_sent_where_the_window_has_one_and_a_punctuation_has_no_number():
    register, *pushes, _ = sent(REFERENCE, ANOTHER_KEY)[:4]
    assert json.loads(register["query"])["by"] == ["key"]
    assert register["semantics"]["clock"] == "stream"
    assert [(one["element"], one["key"]) for one in pushes] == [(0, "a"), (1, "b")]
    *_, last, _ = sent(REFERENCE, PUNCTUATION)
    assert last == {"seq": 6, "command": "push", "at": 12}


def test_sentinels_are_elements_with_the_next_numbers():
    tested = replace(engine_file.engine("polars"), package=None, has_sentinels=True)
    *_, first, second, _ = sent(tested, ON_A_BORDER)
    assert [first["element"], first["at"]] == [3, 20] and [second["element"], second["at"]] == [
        4,
        30,
    ]


# What is read


class Answers:
    """A harness that answers every push with these relations."""

    def __init__(self, relations: list[dict]) -> None:
        self.relations = relations

    def ask(self, command, **fields):
        return {"reply": "result", "relations": self.relations if command == "push" else []}


EVERY = [("register", {"dialect": "window"}), ("push", {"at": 1, "element": 0}), ("end", {})]


def test_an_element_counts_as_often_as_it_is_given():
    [report] = play_commands(Answers([{"elements": [0, 0.0], "window": [0, 10]}]), EVERY, ())
    assert numbers_in(report.relation.rows.elements()) == [0, 0] and report.window == (0, 10)


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ({"elements": [0, 1]}, r"relations\[0\]\.elements\[1\]: protocol: no element 1 has been p"),
        ({"elements": [10**50]}, "no element 10000000000000000000"),
        ({"elements": [0] * 101}, "101 elements, and only 1 have been pushed"),
        ({"rows": []}, r"push: relations\[0\]: protocol: key 'elements' is missing"),
    ],
)
def test_a_content_of_other_elements_is_an_error(relation, message):
    with pytest.raises(Broken, match=message) as caught:
        play_commands(Answers([relation]), EVERY, ())
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_window_that_closes_before_it_opens_is_an_error():
    with pytest.raises(Broken, match=r"relations\[0\]\.window: \[10, 0\]: must be \[o, c\]"):
        play_commands(Answers([{"elements": [0], "window": [10, 0]}]), EVERY, ())


def test_rows_are_missing_where_rows_are_asked_for():
    every = [("register", {"dialect": "table"}), ("push", {"at": 1})]
    with pytest.raises(Broken, match="key 'rows' is missing"):
        play_commands(Answers([{"elements": []}]), every, ())


HARNESS = """\
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    reply = {"seq": message["seq"], "reply": "result"}
    if message["command"] == "start":
        reply |= {"protocol": 1, "engine": "e", "version": "1"}
    elif message["command"] == "push":
        reply["relations"] = [RELATION]
    print(json.dumps(reply), flush=True)
"""


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("{'elements': 'all'}", r"relations\[0\]\.elements: 'all' is not of type 'array'"),
        ("{'elements': [-1]}", "-1 is less than the minimum of 0"),
        ("{'elements': ['0']}", "'0' is not of type 'integer'"),
        ("{}", "a report has either rows or, in the suite windows, elements"),
        ("{'rows': [], 'elements': []}", "a report has either rows or, in the suite windows"),
    ],
)
def test_a_reply_that_is_none_is_one_clear_error(tmp_path, harnesses, relation, message):
    file = tmp_path / "mine.py"
    file.write_text(HARNESS.replace("RELATION", relation), encoding="utf-8")
    tested = made(tmp_path, f'["{sys.executable}", "{file}"]')
    result = asked(tested, ON_A_BORDER)
    assert result.outcome is Outcome.ERROR
    assert message.replace("\\", "") in result.explanation.splitlines()[0]


# Engines' files


TOP = 'title = "Mine"\ndialect = "window"\nsuites = ["windows"]\n'
MEANING = '[semantics]\nprofile = "csparql"\nt0 = 0\n[capabilities]\nkinds = ["time"]\n'


def made(folder, command: str, meaning: str = MEANING):
    """The engine of a file with a command."""
    path = folder / "mine.toml"
    path.write_text(f"{TOP}command = {command}\n{meaning}", encoding="utf-8")
    return read_engine_file(path)


def asked(tested, case: str):
    """The result of an engine for a case."""
    running = Harnesses()
    try:
        [item] = [item for item in live_items(tested) if item.case == case]
        return item.run(running)
    finally:
        running.stop()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"window"', '"table"'),
        ('suites = ["windows"]\n', ""),
        ('["windows"]', '["windows", "corpus"]'),
    ],
)
def test_windows_alone_are_a_suite_and_a_dialect_of_their_own(tmp_path, before, after):
    path = tmp_path / "mine.toml"
    path.write_text(f'{TOP}command = ["x"]\n'.replace(before, after), encoding="utf-8")
    with pytest.raises(InvalidEngine, match="suites: an engine that is asked of windows alone"):
        read_engine_file(path)


def test_a_command_line_is_asked_of_windows_by_its_dialect():
    tested = engine_file.command("mine --fast", "window", "csparql t0=0")
    assert {item.suite for item in live_items(tested)} == {"windows"}


# The reference engine, and wrong ones


def test_the_reference_engine_passes_every_case(harnesses):
    results = [item.run(harnesses) for item in live_items(REFERENCE)]
    assert len(results) == len(CASES)
    assert [result.case for result in results if result.outcome is not Outcome.PASS] == []


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("WIN-2 border elements are lost", ON_A_BORDER),
        ("WIN-3 t0 is 0", "WIN-3-a-negative-t0-shifts-windows-like-any-other"),
        (
            "WIN-8 the arriving element is in",
            "WIN-8-the-content-excludes-the-element-whose-arrival-is-looked-at",
        ),
        (
            "WIN-23 a session grows forwards only",
            "WIN-23-an-element-that-is-near-two-sessions-makes-one-of-them",
        ),
        ("WIN-24 each key has its own time", ANOTHER_KEY),
        (
            "TICK-2 every arrival",
            "TICK-2-of-simultaneous-elements-the-time-tick-sees-only-all-of-them",
        ),
        (
            "TICK-6 closed when reached",
            "TICK-6-an-element-on-the-border-closes-the-window-though-it-is-the-last",
        ),
    ],
)
def test_a_wrong_engine_fails_through_the_protocol(name, case):
    result = asked(replace(REFERENCE, command=(*REFERENCE.command, "--wrong", name)), case)
    assert (result.outcome, result.suite) == (Outcome.FAIL, "windows")
    assert result.explanation.startswith(f"{result.rule}: ")
    assert "urn:" not in result.explanation


# Harnesses of libraries

# [o, c) from 0 on, but for the elements that LOST says
LIBRARY = """\
from window_function import Element, Refused, Report, Window
NAME, VERSION = "mine", 2
print("what a library prints is no reply")
def run(elements, window):
    if window.kind != "time":
        raise Refused("it has windows over time alone")
    if any(element.end is not None for element in elements):
        raise ValueError("x" * 9_000)
    horizon = max((element.at for element in elements), default=-1) + 2 + window.size
    for opens in range(0, horizon - window.size + 1, window.slide):
        closes = opens + window.size
        inside = [one.number for one in elements if opens <= one.at < closes and not (LOST)]
        if inside:
            yield Report(inside, (opens, closes))
"""
# the same, element by element
CLASS = """
class Windows:
    def __init__(self, window):
        self.window, self.elements = window, []
    def push(self, element):
        self.elements.append(element)
    def end(self):
        return list(run(self.elements, self.window))
"""


def library(folder, text: str, name: str = "asks.py"):
    """The engine whose harness is a file in Python."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    function = engine_file.ADAPTERS / "window_function.py"
    return made(folder, f'["{sys.executable}", "-S", "{function}", "{file}"]')


RIGHT = LIBRARY.replace("LOST", "False")
LOSES = LIBRARY.replace("LOST", "one.at % window.size == 0")
BETWEEN = "MOD-3-an-element-is-valid-at-the-instant-of-its-end-and-not-after-it"


@pytest.mark.parametrize(
    "text", [RIGHT, RIGHT.replace("def run", "def run_") + CLASS.replace("run(", "run_(")]
)
def test_a_harness_is_a_function_or_a_class(tmp_path, text):
    tested = library(tmp_path, text)
    assert asked(tested, ON_A_BORDER).outcome is Outcome.PASS
    crashed = asked(tested, BETWEEN)
    assert crashed.outcome is Outcome.ERROR and "ValueError: xxx" in crashed.explanation
    assert len(crashed.explanation) < 3_000
    any_kind = replace(tested, kinds=REFERENCE.kinds)
    unbounded = "WIN-13-an-unbounded-window-holds-everything-that-arrived-and-never-lets-go"
    assert asked(any_kind, unbounded).explanation == "it has windows over time alone"


@pytest.mark.parametrize("text", [RIGHT.replace("def run", "def runs"), RIGHT + CLASS])
def test_a_file_with_neither_or_both_is_no_harness(tmp_path, text):
    result = asked(library(tmp_path, text), ON_A_BORDER)
    assert result.outcome is Outcome.ERROR
    assert "the file must have either run or Windows" in result.explanation


def test_a_fail_is_explained_by_numbers_and_times_and_the_smallest_stream(tmp_path):
    """[0, 10) holds the elements at 0 and 9, and [10, 20) that at 10. The library loses those at 0
    and 10. One of them is enough to show it.
    """
    explanation = asked(library(tmp_path, LOSES), ON_A_BORDER).explanation
    lines = explanation.splitlines()
    assert "    expected elements 0, 1" in lines and "    recorded element 1" in lines
    assert "      element 0 at 0" in lines
    assert "    left out: element 0, an element on a border of its window [0, 10), at 0" in lines
    assert "  the stream is element 0 at 0, element 1 at 9, element 2 at 10" in lines
    at = next(n for n, line in enumerate(lines) if line.startswith("  smallest stream"))
    assert lines[at : at + 3] == [
        "  smallest stream that shows it: element 0 at 10",
        "    first divergence, after the last of 0 reports: window [10, 20) at t=19: the "
        "recording ends too early",
        "    expected element 0",
    ]
    for word in ("urn:", "SELECT", "SPARQL", "rdflib", "row", "relation"):
        assert word not in explanation


def test_the_harness_of_the_page_is_one(tmp_path):
    """With a library that has the windows [o, c) from 0 on."""
    page = (ROOT / "docs" / "test-your-engine.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```python harness\n(.*?)```", page, re.DOTALL)
    (tmp_path / "library.py").write_text(
        "__version__ = 1\n"
        "def windows(times, size, slide):\n"
        "    for opens in range(0, max(times) + 1, slide):\n"
        "        inside = [n for n, at in enumerate(times) if opens <= at < opens + size]\n"
        "        if inside:\n"
        "            yield opens, opens + size, inside\n",
        encoding="utf-8",
    )
    path = f"import sys\nsys.path.append({str(tmp_path)!r})\n"
    assert asked(library(tmp_path, path + block, "mine.py"), ON_A_BORDER).outcome is Outcome.PASS


# Libraries, as far as `make engines` installs them or Python has them; the others: `make libraries`

RANGE = "REP-13-each-element-that-arrives-gives-a-report-however-many-share-its-instant"


@pytest.mark.parametrize(
    ("name", "case", "outcome"),
    [
        ("polars", ON_A_BORDER, Outcome.PASS),
        (
            "polars",
            "WIN-1-a-slide-greater-than-the-size-skips-the-instants-between-windows",
            Outcome.PASS,
        ),
        ("polars", LATE, Outcome.PASS),
        ("polars", BETWEEN, Outcome.UNSUPPORTED),
        ("polars", PUNCTUATION, Outcome.UNSUPPORTED),
        ("pandas", ON_A_BORDER, Outcome.PASS),
        ("pandas", "REP-3-a-window-without-an-element-is-not-reported", Outcome.PASS),
        ("pandas", "MOD-1-the-least-integer-of-64-bits-is-a-time", Outcome.UNSUPPORTED),
        ("sqlite", RANGE, Outcome.PASS),
        ("sqlite", ON_A_BORDER, Outcome.UNSUPPORTED),
    ],
)
def test_a_library_does_what_it_is_known_for(harnesses, name, case, outcome):
    """All cases: `pytest conformance --engine=polars`."""
    tested = engine_file.engine(name)
    if tested.missing:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(tested.missing)
    [item] = [item for item in live_items(tested) if item.case == case]
    result = item.run(harnesses)
    assert result.outcome is outcome, result.explanation
    assert why_unexpected(item, result) == ""


def test_each_library_of_pypi_is_installed_by_a_target():
    """`make engines` installs those of `make test`, and `make libraries` the others."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [usual] = re.findall(r"engines install (.*)", makefile)[:1]
    [others] = re.findall(r"^LIBRARIES := (.*)", makefile, re.MULTILINE)
    named = {*usual.split(), *others.split()}
    packages = {
        name: engine.package
        for name, engine in engine_file.engines().items()
        if engine.suites == ("windows",) and engine.package is not None
    }
    libraries = {name for name, one in packages.items() if one.registry is Registry.PYPI}
    manifests = {packages[name].manifest for name in named if name in packages}
    assert {packages[name].manifest for name in libraries} <= manifests
