"""`python -m conformance adaptive`."""

from __future__ import annotations

import json

import pytest

from conformance.__main__ import main


def test_results_tables_and_a_page_are_written(tmp_path, capsys):
    out = tmp_path / "out"
    arguments = ["adaptive", "--workload", "constant", "--window", "tumbling", "--seconds", "4"]
    assert main([*arguments, "-o", str(out)]) == 0
    [line] = (out / "results.ndjson").read_text().splitlines()
    assert json.loads(line)["records"] == 1600
    assert "<title>Joins over adaptive windows</title>" in (out / "index.html").read_text()
    assert (out / "tables.txt").read_text() == capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workload", "constnt"], "'constnt' is no workload; did you mean 'constant'"),
        (["--workload", "nope"], "'nope' is no workload; valid: constant, "),
        (["--window", "tumblin"], "'tumblin' is no window; did you mean 'tumbling'"),
        (["--seconds", "0"], "--seconds must be > 0, got 0"),
        (["--seconds", "86401"], "--seconds: usage: must be <= 86400, got 86401"),
        (["--seconds", "9" * 200], "--seconds: usage: must be <= 86400, got 9999"),
    ],
)
def test_bad_input_is_refused(arguments, message, tmp_path, capsys):
    assert main(["adaptive", *arguments, "-o", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
