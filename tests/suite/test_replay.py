"""The question of an earlier result is put to a harness again: the same lines as in a run, the
verdict beside that of the file.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import replace

import psutil
import pytest
from reports import bare

from conformance.__main__ import main
from conformance.harness import engine_file
from conformance.harness.engine_file import Engine, read_engine_file
from conformance.harness.pool import Harnesses
from conformance.suite.item import ItemSelection, live_items, questions
from conformance.suite.replay import (
    NoReplay,
    engine_of_evidence,
    find_item,
    lines_to_send,
    replay,
)
from conformance.verdict import results
from conformance.verdict.results import Outcome, Result

# It answers every command with no report, but `register` with what the command line says.
SILENT = """if 1:
    import json, sys
    for line in sys.stdin:
        asked = json.loads(line)
        more = {"relations": []}
        if asked["command"] == "start":
            more = {"protocol": 1, "engine": "e", "version": "1"}
        if asked["command"] == "stop":
            more = {}
        reply = json.dumps({"seq": asked["seq"], "reply": "result", **more})
        if asked["command"] == "register":
            reply = sys.argv[1].strip() or reply
        print(reply, flush=True)
        if asked["command"] == "stop":
            break
"""
TOP = """\
title = "silent"
dialect = "table"
"""
CLAIMED = '[semantics]\nprofile = "csparql"\nt0 = 0\n'
CASE = "REP-1-every-window-that-closes-between-two-elements-is-reported"
FILES = {
    "configurable": "",
    "claimed": CLAIMED,
    "sentinel": f'end = "sentinel"\n{CLAIMED}horizon = "none"\n',
    "heartbeat": f"heartbeat = 1000\n{CLAIMED}",
}


def silent(folder, more: str = CLAIMED, registered: str = " ", name: str = "silent") -> Engine:
    """The engine of the harness that answers nothing."""
    command = json.dumps([sys.executable, "-S", "-E", "-c", SILENT, registered])
    path = folder / f"{name}.toml"
    path.write_text(f"{TOP}command = {command}\n{more}", encoding="utf-8")
    return read_engine_file(path)


def results_file(folder, *found: Result) -> str:
    """A file of results."""
    path = folder / "results.ndjson"
    results.write(path, found)
    return str(path)


def run_case(tested: Engine, case: str = CASE) -> Result:
    """The result of a case, as a run has it."""
    [item] = [item for item in live_items(tested, ItemSelection()) if item.case == case]
    harnesses = Harnesses()
    try:
        return item.run(harnesses)
    finally:
        harnesses.stop()


@pytest.mark.parametrize("kind", FILES)
def test_the_lines_to_send_are_those_that_a_run_sends(tmp_path, kind):
    """Also those of a configurable engine, which is asked once for each block of a case."""
    tested = silent(tmp_path, FILES[kind])
    items = live_items(tested, ItemSelection(smoke=True))
    several_blocks = [item for item in items if item.case.startswith("REP-9-")]
    count = 0
    for item in [*several_blocks, *random.Random(1).sample(items, 2)]:
        sent = []

        def keep(direction: str, line: bytes, sent: list[bytes] = sent) -> None:
            if direction == ">":
                sent.append(line)

        replay(item, keep)
        assert sent == list(lines_to_send(item))
        count += sum(b'"register"' in line for line in sent)
    assert count > 3 or kind != "configurable"


def test_a_replay_shows_the_lines_and_compares_the_verdicts(tmp_path, capsys):
    tested = silent(tmp_path)
    before = run_case(tested)
    assert before.outcome is Outcome.FAIL
    file = results_file(tmp_path, before)
    words = ["replay", file, CASE, "--engine", str(tmp_path / "silent.toml")]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    item = find_item(before, tested, ItemSelection())
    sent = [line.decode().rstrip("\n") for line in lines_to_send(item)]
    assert [line[2:] for line in lines if line.startswith("> ")] == sent
    assert sum(line.startswith("< ") for line in lines) == len(sent)
    assert lines[2 * len(sent)] == before.explanation.splitlines()[0]
    assert lines[-1] == "verdict: fail; the same as in the file"

    results_file(tmp_path, replace(before, explanation="another"))
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "verdict: fail; as in the file, but with another explanation"
    )
    evidence = {**before.evidence, "elements": []}
    results_file(tmp_path, replace(before, outcome=Outcome.PASS, evidence=evidence))
    assert main(words) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "verdict: fail; in the file it is: pass",
        "the question is not that of the file: it differs in elements",
    ]


def test_what_the_harness_writes_is_bounded_and_escaped(tmp_path, capsys):
    """A control character is no JSON, so that the case is an error; the line is shown before."""
    silent(tmp_path, registered="\x1b[31m\u202e" + "x" * 10_000)
    file = results_file(
        tmp_path,
        bare(CASE, "error", engine="silent", rule="REP-1", explanation="\x1b[31m"),
    )
    assert main(["replay", file, CASE, "--engine", str(tmp_path / "silent.toml")]) == 0
    out = capsys.readouterr().out
    assert "< \\x1b[31m\\u202ex" in out
    assert all(line.isprintable() and len(line) < 2100 for line in out.splitlines())
    assert "verdict: error; as in the file, but with another explanation\n" in out


def test_print_gives_the_lines_whole_for_a_pipe(tmp_path, capfdbinary):
    """Without a file of the engine they are made from the evidence: its language and sentinels."""
    tested = silent(tmp_path, FILES["sentinel"], name="mine")
    file = results_file(tmp_path, run_case(tested))
    words = ["replay", file, f"mine/{CASE}", "--print"]
    assert main([*words, "--engine", str(tmp_path / "mine.toml")]) == 0
    printed = capfdbinary.readouterr().out
    [item] = [item for item in live_items(tested, ItemSelection()) if item.case == CASE]
    assert printed == b"".join(lines_to_send(item))
    assert main(words) == 0
    assert capfdbinary.readouterr().out == printed
    assert main(words[:-1]) == 0
    shown = capfdbinary.readouterr()
    assert shown.out == printed
    assert b"no engine 'mine' here: name its file with --engine FILE.toml" in shown.err
    assert b"only the lines to send are printed" in shown.err


@pytest.mark.parametrize("name", ["csparql", "rsp-js", "reference"])
def test_the_evidence_shows_the_language(tmp_path, name):
    """The text of the query is written in one of the languages, from the case's query."""
    tested = engine_file.engine(name)
    [item] = [item for item in live_items(tested, ItemSelection()) if item.case == CASE]
    text = next(iter(item.prepare())).engine_query.text
    shown = {
        "query": text,
        "elements": [],
        "elements_total": 0,
        "semantics": {"r2s": "Rstream"},
    }
    result = bare(CASE, "fail", engine="mine", rule="REP-1", evidence=shown)
    assert engine_of_evidence(result).dialect == tested.dialect
    shown["elements_total"] = 1  # it is cut
    with pytest.raises(NoReplay, match="does not show all that the engine was asked"):
        engine_of_evidence(result)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ["REP-1-every-window-that-closes-between-to-elements-is-reported"],
            f"did you mean '{CASE}",
        ),
        (["REP-1-every"], f"did you mean '{CASE}'?"),
        ([CASE], f"several engines have a result for it; name one: mine/{CASE}, yours/{CASE}"),
        ([f"mine/{CASE}s"], f"did you mean 'mine/{CASE}'?"),
        ([f"mine/{CASE}"], "name the engine's file with --engine FILE.toml"),
        (["Q1", "--engine", "rsp-js"], "give it with --csrbench DIR"),
        (["Q3 rerun", "--engine", "rsp-js"], "is the result of a recording ('csrbench')"),
        (["QR_1", "--engine", "rsp-js"], "is the result of a recording ('yabench')"),
        (["embedded-Q1", "--engine", "rsp-js"], "on which rsp-js is not tested"),
        (["REP-1-old", "--engine", "rsp-js"], "is no case that rsp-js is asked"),
        (
            ["Q1", "--engine", "x", "--engine-command", "y"],
            "--engine or --engine-command, not both",
        ),
        (["Q1", "--engine", "rsp-j"], "no engine 'rsp-j'; did you mean 'rsp-js'?"),
        (["Q1", "--missing", "-1"], "ORA-3: must be >= 0"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_one_line(tmp_path, capsys, words, reason):
    keys = [
        ("mine", "corpus", CASE),
        ("yours", "corpus", CASE),
        ("rsp-js", "csrbench", "Q1"),
        ("csparql", "csrbench", "Q3 rerun"),
        ("rsp-js", "csrbench", "embedded-Q1"),
        ("rsp-js", "corpus", "REP-1-old"),
        ("csparql", "yabench", "QR_1"),
    ]
    made = [
        bare(case, "fail", engine=engine, suite=suite, explanation="it is")
        for engine, suite, case in keys
    ]
    file = results_file(tmp_path, *made)
    assert main(["replay", file, *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert reason in shown.err


def test_a_query_that_the_language_cannot_express_is_unsupported(tmp_path, capsys):
    kinds = {case.id: case.table["query"]["windows"][0]["kind"] for case in questions()}
    case = next(case for case, kind in kinds.items() if kind == "tuple")
    file = results_file(
        tmp_path,
        bare(case, "unsupported", engine="rsp-js"),
    )
    assert main(["replay", file, case, "--print"]) == 3
    assert "has no windows of kind tuple" in capsys.readouterr().err


def test_an_interrupt_ends_the_harness(tmp_path):
    tested = silent(tmp_path)
    [item] = [item for item in live_items(tested, ItemSelection()) if item.case == CASE]
    seen = []

    def interrupt(direction: str, line: bytes) -> None:
        seen.append(direction)
        if len(seen) == 5:
            raise KeyboardInterrupt

    before = set(psutil.Process().children())
    with pytest.raises(KeyboardInterrupt):
        replay(item, interrupt)
    assert len(seen) > 4
    assert set(psutil.Process().children()) <= before
