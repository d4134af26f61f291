"""A mistyped id of a case, a rule or an engine is answered with the nearest one, at every door."""

from __future__ import annotations

import pytest
from reports import result, write
from suite_run import run_suite, run_suite_alone

from conformance.__main__ import main

CASE = "REP-1-every-window-that-closes-between-two-elements-is-reported"
BEGINNING = "REP-1-every-windw-that-closes"  # mistyped, and only the first part of the id
DEVIATION = """\
title = "Mine"
command = ["cat"]
dialect = "rspql"
[semantics]
profile = "csparql"
t0 = 0
[[deviations]]
reason = "it differs from what it claims"
link = "https://example.org/"
"""
NEAR_CASE = f"did you mean '{CASE}'?"
TYPED = [(BEGINNING, NEAR_CASE), (CASE.upper() + "S", NEAR_CASE), (CASE[:30].lower(), NEAR_CASE)]


@pytest.mark.parametrize(("typed", "hint"), TYPED)
@pytest.mark.parametrize("command", ["replay", "case"])
def test_of_a_result(tmp_path, capsys, command, typed, hint):
    file = write(tmp_path / "results.ndjson", result(case=CASE), result(case="REP-12-every-other"))
    assert main([command, str(file), typed]) == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(("typed", "hint"), TYPED)
def test_of_a_known_deviation(tmp_path, typed, hint):
    file = tmp_path / "mine.toml"
    file.write_text(f'{DEVIATION}cases = ["{typed}"]\n')
    run = run_suite(f"--engine={file}")
    assert run.returncode == 4 and f"no case '{typed}'; {hint}" in run.stderr


def test_of_the_rule_that_a_deviation_breaks(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(f'{DEVIATION}cases = ["{CASE}"]\nbreaks = ["rep1"]\n')
    assert "no rule 'rep1'; did you mean 'REP-1'?" in run_suite(f"--engine={file}").stderr


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        (BEGINNING, f"; {NEAR_CASE}"),
        (f"reference-{BEGINNING}", f"; did you mean 'reference-{CASE}'?"),
        (f"WIN-2 and {BEGINNING}", f"; {NEAR_CASE}"),
        ("win3", "; did you mean 'WIN-3'?"),
        ("WIM-3", "; did you mean 'WIN-3'?"),
        ("WIN-2-an-elment-on-the-upper", "; valid: WIN-2-an-element-on-the-upper-border-of-a-left"),
    ],
)
def test_of_k(word, hint):
    run = run_suite("--engine=reference", "-k", word)
    [line] = [line for line in run.stdout.splitlines() if line.startswith("conformance: -k")]
    assert line.startswith(f"conformance: -k: no item has {word.split()[-1]!r}{hint}")
    assert run.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_of_an_argument_of_pytest():
    item = f"conformance/test_engines.py::test_engine[reference-{BEGINNING}]"
    run = run_suite_alone("--engine=reference", suite=item)
    assert f"conformance: no item 'reference-{BEGINNING}'; did you mean 'reference-{CASE}'?" in (
        run.stdout
    )


@pytest.mark.parametrize(
    "words", [["-k", "reference-WIN-3 and corpus and test_engine"], ["-k", "not conformance"]]
)
def test_words_that_items_have_are_no_mistakes(words):
    run = run_suite("--engine=reference", "--collect-only", *words)
    assert "no item" not in run.stdout


@pytest.mark.parametrize("words", [["doctor"], ["install"], ["remove"]])
def test_of_an_engine(capsys, words):
    assert main(["engines", *words, "Reference"]) == 2
    assert "no engine 'Reference'; did you mean 'reference'?" in capsys.readouterr().err
    assert main(["engines", *words, "RSP-JS"]) == 2
    assert "no engine 'RSP-JS'; did you mean 'rsp-js'?" in capsys.readouterr().err


def test_of_a_rule_of_a_new_case(tmp_path, capsys):
    file = write(tmp_path / "results.ndjson", result(case=CASE, rule="REP-1"))
    assert main(["case", str(file), CASE, "--rule", "rep-1"]) == 2
    assert "no rule 'rep-1'; did you mean 'REP-1'?" in capsys.readouterr().err
