"""The suite `joins`: the cases of docs/joins.md §15 put to engines through the protocol."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from conformance.harness import engine_file
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Engine
from conformance.harness.join_play import JoinQuestion
from conformance.suite import live_items
from conformance.suite.joins import expected_answers, join_cases, run_join_case
from conformance.suite.replay import lines_to_send
from conformance.verdict.results import Outcome
from conformance.wrong_engines import WRONG_ENGINES
from refengine.joins import JoinRecord, Side, join_window

CASES = {case.id: case for case in join_cases()}
REFERENCE = engine_file.engine("reference-joins")
RMLSTREAMER = engine_file.engine("rmlstreamer").with_classpath("")
AS_CODED = next(case for name, case in CASES.items() if name.startswith("ADA-7-as-coded"))
NEVER_ADAPTS = (
    "ADA-7-as-coded-the-second-window-is-as-long-as-the-first-and-longer-by-the-algorithm"
)


def started(tested: Engine, *options: str) -> Harness:
    harness = Harness([*tested.command, *options], limits=tested.limits)
    harness.start()
    return harness


def outcomes(*options: str) -> dict[str, Outcome]:
    """What the reference's joins, or a wrong engine, give for each case."""
    harness = started(REFERENCE, *options)
    try:
        return {
            name: run_join_case(REFERENCE, harness, case).outcome for name, case in CASES.items()
        }
    finally:
        harness.stop()


def test_the_reference_passes_every_case_through_the_protocol():
    found = outcomes()
    assert len(found) >= 10 and set(found.values()) == {Outcome.PASS}


# A refused window is sent to no engine, and the suite sets the watermarks itself.
BEFORE_THE_PROTOCOL = ("ADA-1", "ADA-2")


@pytest.mark.parametrize(
    "name",
    [
        one.full_name
        for one in WRONG_ENGINES
        if one.rule.startswith("ADA") and one.rule not in BEFORE_THE_PROTOCOL
    ],
)
def test_a_wrong_engine_fails_through_the_protocol(name):
    assert Outcome.FAIL in outcomes("--wrong", name).values()


def test_the_argument_has_the_steps_that_are_needed_and_what_explains_it():
    harness = started(REFERENCE, "--wrong", "ADA-5 windows never adapt")
    try:
        result = run_join_case(REFERENCE, harness, AS_CODED)
    finally:
        harness.stop()
    assert (result.outcome, result.rule, result.suite) == (Outcome.FAIL, "ADA-7", "joins")
    assert result.explanation.splitlines() == [
        "block 2 differs. It takes 5 steps, of which none can be left out:",
        "  left l1@1000, watermark 3000, right r3@3100, watermark 5200, left l3@5250",
        "  expected (l3, r3) at 5250, got no match",
        "  with opens=previous-end (ADA-4) or cleared=true (ADA-7) the whole block is right",
    ]


def test_a_join_is_sent_as_its_window_and_the_watermarks_that_it_sets():
    steps = [JoinRecord(Side.LEFT, 5, "k", "l"), JoinRecord(Side.RIGHT, 7, "k", "r")]
    sent = list(JoinQuestion(join_window("rmlstreamer"), steps).commands())
    assert [command for command, _ in sent] == [
        "register",
        "advance",
        "push",
        "advance",
        "push",
        "end",
    ]
    assert sent[1][1] == {"at": 5} and sent[3][1] == {"at": 7}
    assert sent[2][1] == {
        "stream": "left",
        "at": 5,
        "graph": '<urn:record:l> <urn:key> "k" .\n',
    }


def test_the_lines_of_an_item_can_be_sent_again():
    [item] = [item for item in live_items(REFERENCE) if item.case == AS_CODED.id]
    lines = list(lines_to_send(item))
    assert sum(b'"register"' in line for line in lines) == 2 and b'"stop"' in lines[-1]


def test_a_row_that_is_no_match_breaks_the_case():
    class Wrong:
        def ask(self, command, **fields):
            return {"reply": "result", "relations": [{"rows": [{"x": {"value": "l"}}]}]}

    with pytest.raises(Broken, match="a match has the variables left and right, got \\['x'\\]"):
        JoinQuestion(join_window("rmlstreamer"), []).ask(Wrong())


# RMLStreamer's own window


@pytest.mark.skipif(bool(RMLSTREAMER.missing), reason=RMLSTREAMER.missing)
def test_rmlstreamers_window_never_adapts():
    """On drawn streams it does what the profile `rmlstreamer` says, and what it is known for."""
    harness = started(RMLSTREAMER)
    try:
        results = {name: run_join_case(RMLSTREAMER, harness, case) for name, case in CASES.items()}
        failed = {name for name, result in results.items() if result.outcome is Outcome.FAIL}
        assert failed == {*RMLSTREAMER.deviations[0].cases} and NEVER_ADAPTS in failed
        assert all(results[name].known for name in failed)

        drawn = random.Random(28)
        told_apart = 0
        for _ in range(100):
            question = drawn_question(drawn)
            got = sorted(question.ask(harness))
            assert got == sorted(expected_answers(question))
            adapts = replace(question.window.adaptation, cleared=False)
            kept = replace(question.window, adaptation=adapts)
            told_apart += got != sorted(expected_answers(question, kept))
        assert told_apart >= 30
    finally:
        harness.stop()


def drawn_question(drawn: random.Random) -> JoinQuestion:
    """A stream of two keys, and the window as coded with small parameters."""
    window = join_window(
        "rmlstreamer",
        {
            "duration": drawn.randint(60, 200),
            "watermarks": drawn.choice(["before", "after"]),
            "adaptation": {"expected_records": drawn.randint(1, 8)},
        },
    )
    now, steps = 0, []
    for number in range(30):
        now += drawn.choice([0, 1, 10, 40, 90])
        at = now - drawn.choice([0, 0, 0, 60])
        steps.append(JoinRecord(drawn.choice(list(Side)), at, drawn.choice("ab"), f"r{number}"))
    return JoinQuestion(window, steps)
