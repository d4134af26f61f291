"""A run without the diagnosis: the same results, and no cause."""

from __future__ import annotations

import json

import pytest
from suite_run import run_suite


@pytest.fixture
def engine(tmp_path):
    """The option of the reference engine with windows [o, c), whose file claims (o, c]."""
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "M"\ncommand = ["{python}", "{adapters}/reference.py", "csparql", "t0=0"]\n'
        'dialect = "table"\n[semantics]\nprofile = "csparql"\nt0 = 0\nclosure = "(]"\n'
    )
    return f"--engine={file}"


def test_without_the_diagnosis_no_cause_is_named(engine, tmp_path):
    outcomes = {}
    causes = {}
    for words in ((), ("--no-diagnosis",)):
        results = tmp_path / f"{len(words)}.ndjson"
        run = run_suite(engine, "-k", "WIN-2", f"--results={results}", *words)
        assert run.returncode == 1
        lines = [json.loads(line) for line in results.read_text().splitlines()]
        outcomes[words] = [(line["case"], line["outcome"]) for line in lines]
        causes[words] = sum(bool(line["causes"]) for line in lines)
        assert ("fails explained" in run.stdout) == (not words)
    assert outcomes[()] == outcomes["--no-diagnosis",]
    assert causes[()] > 0 == causes["--no-diagnosis",]


def test_its_entries_cannot_be_written_then(engine, tmp_path):
    run = run_suite(engine, "--no-diagnosis", f"--diagnose={tmp_path / 'entries.toml'}")
    assert run.returncode == 4
    assert "--diagnose: usage: writes what the diagnosis finds: leave --no-diagnosis out" in (
        run.stderr
    )
