"""The cases of `--smoke`: what a first look at an engine has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from conformance import corpus
from conformance.corpus import Case
from conformance.harness import engine_file
from conformance.harness.engine_file import Engine
from conformance.suite.item import ItemSelection, live_items, questions
from tools.first_look import (
    AT_MOST,
    PROPERTIES,
    UNMET,
    Need,
    choose_cases,
    list_claiming_engines,
    list_needs,
)

SMOKE = [case for case in questions() if case.table.get("smoke")]


def having(engines: list[Engine], cases: Sequence[Case]) -> frozenset[Need]:
    """What some cases have together, under the claims of engines."""
    return frozenset[Need]().union(*list_needs(engines, cases).values())


@pytest.mark.parametrize("tested", list_claiming_engines(), ids=lambda tested: tested.name)
def test_a_first_look_has_each_property_that_the_corpus_has_under_a_claim(tested: Engine) -> None:
    """Cases are looked for only if a property is lacking."""
    wanted = {(tested.name, text) for text in PROPERTIES} - UNMET
    if missing := wanted - having([tested], SMOKE):
        found = having([tested], questions()) & missing
        assert not found, "`python -m tools.first_look` chooses cases that have it"


def test_under_the_usual_claims_a_first_look_has_each_property() -> None:
    """Each property is one that a case of the corpus can have. Istream does not give a row that is
    there already, so under cqels no report shows the triple that comes again.
    """
    usual = [tested for tested in list_claiming_engines() if " t0=0" in tested.name]
    assert len(usual) == 2
    lacking = {(tested.name, text) for tested in usual for text in PROPERTIES}
    lacking -= having(usual, SMOKE)
    assert lacking == {
        ("cqels t0=0", "a triple at two instants of a window"),
        ("cqels t0=0", "a triple twice at one instant"),
        ("cqels t0=0", "a triple that is held when its first element has left"),
    }


def test_what_is_left_out_is_no_property_of_a_first_look() -> None:
    engines = [tested for tested in list_claiming_engines() if tested.name in dict(UNMET)]
    assert {(tested.name, text) for tested in engines for text in PROPERTIES} >= UNMET
    assert not UNMET & having(engines, SMOKE)


def test_a_first_look_is_a_dozen_cases_of_short_streams() -> None:
    assert len(SMOKE) <= AT_MOST
    for case in SMOKE:
        streams = corpus.streams_of(case).values()
        times = [element.app for stream in streams for element in stream]
        assert max(times) - min(times) <= 1000


def test_the_choice_has_all_needs_if_few_cases_can_have_them() -> None:
    """`abc` adds most at first, and is replaced."""
    needs = {
        "abc": frozenset({("e", "1"), ("e", "2"), ("e", "3"), ("e", "4")}),
        "one": frozenset({("e", "1"), ("e", "2"), ("e", "5")}),
        "two": frozenset({("e", "3"), ("e", "4"), ("e", "6")}),
        "none": frozenset[Need](),
    }
    assert choose_cases(needs, 2) == ["one", "two"]


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
