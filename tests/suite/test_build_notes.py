"""docs/engines.md says of each engine that its user brings how it was built."""

from __future__ import annotations

import re

import pytest
from suite_run import ROOT

from conformance.harness import engine_file

PAGE = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
NOTES = PAGE.partition("## Build an engine that you bring\n")[2].partition("\n## ")[0]
BROUGHT = {
    name: engine.to_bring
    for name, engine in engine_file.engines().items()
    if engine.to_bring is not None
}


ROWS = [line.strip("|").split("|") for line in NOTES.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("name", BROUGHT)
def test_an_engine_that_is_brought_has_a_row_for_the_version_in_its_file(name):
    [(engines, place, facts)] = [row for row in ROWS if f"`{name}`" in row[0]]
    assert place.strip() and facts.strip()
    [noted] = re.findall(r"\((?:rsp4j )?([\w.-]+)\) $", engines)
    assert noted in re.findall(r"[\w.-]+", BROUGHT[name].version)


def test_there_are_no_rows_for_other_engines():
    assert {name for row in ROWS for name in re.findall("`([^`]+)`", row[0])} == set(BROUGHT)


def test_no_place_of_a_machine_and_no_script_is_in_the_notes():
    assert re.findall(r"/(?:work|root|home|tmp)\b|```|\bmvn\b|git clone", NOTES) == []
    assert "esperio-stax" in NOTES
