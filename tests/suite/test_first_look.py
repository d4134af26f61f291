"""The cases of `--smoke`: a first look at an engine."""

from __future__ import annotations

from pathlib import Path

from conformance import corpus
from conformance.harness import engine_file
from conformance.suite.item import ItemSelection, live_items, questions

SMOKE = [case for case in questions() if case.table.get("smoke")]
AT_MOST = 12


def test_a_first_look_is_a_dozen_cases_of_short_streams() -> None:
    assert len(SMOKE) <= AT_MOST
    for case in SMOKE:
        streams = corpus.streams_of(case).values()
        times = [element.app for stream in streams for element in stream]
        assert max(times) - min(times) <= 1000


def test_on_the_wall_clock_a_first_look_has_no_embedded_benchmark(tmp_path: Path) -> None:
    """But CSRBench's own stream is what somebody asked for by name."""
    path = tmp_path / "mine.toml"
    common = 'title = "Mine"\ncommand = ["mine"]\ndialect = "csparql"\n'
    common += 'suites = ["corpus", "csrbench"]\n[semantics]\nprofile = "csparql"\nt0 = 0\n'
    for clock, suites in (("", {"corpus", "csrbench"}), ("tolerance = 0.5\n", {"corpus"})):
        path.write_text(clock + common)
        tested = engine_file.engine(str(path))
        assert {item.suite for item in live_items(tested, ItemSelection(smoke=True))} == suites
        whole = {item.suite for item in live_items(tested, ItemSelection())}
        assert whole == {"corpus", "csrbench"}
