"""The suite's diagnosis of a running engine with known defects, on the dozen cases of `--smoke`.

`make defects` does the same with all defects on the whole corpus (docs/evidence/diagnosis.md).
"""

from __future__ import annotations

import itertools
import os
import shutil

import pytest

from tools import diagnose_defects
from tools.diagnose_defects import Cause, describe_in_time, examine
from tools.known_defects import DEFECTS, Defect, draw_pairs

BY_NAME = {defect.name: defect for defect in DEFECTS}


@pytest.fixture
def node() -> None:
    """Node.js; where it is not installed the tests of the engine are skipped, in CI they fail."""
    if shutil.which("node") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Node.js 20")


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("report", ["close", "change"])
def test_the_engine_without_a_defect_passes_and_has_no_diagnosis(report: str) -> None:
    found = examine(report, smoke=True)
    assert found.fails == 0
    assert found.causes == ()
    assert "11 pass" in found.lines[0]


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize(
    ("report", "name", "shown"),
    [
        ("close", "closure-closed", "closure=[] (WIN-2)"),
        ("close", "t0-first", "t0=first-element (WIN-3)"),
        ("change", "empty-otherwise", "empty=emit (R2S-5)"),
        ("close", "closure-left-open", "closure=(] (WIN-2)"),
    ],
)
def test_a_defect_is_the_first_cause_of_the_diagnosis(report: str, name: str, shown: str) -> None:
    found = examine(report, [BY_NAME[name]], smoke=True)
    assert found.causes[0].label == shown
    assert found.causes[0].explained == found.fails > 0
    assert found.is_named(BY_NAME[name])


@pytest.mark.usefixtures("node")
def test_a_value_explains_a_defect_where_it_has_a_meaning() -> None:
    """One case has windows of size 1, which hold nothing over () (QRY-5)."""
    found = examine("close", [BY_NAME["closure-open"]], smoke=True)
    assert found.causes[0].label == "closure=() (WIN-2)"
    assert found.causes[0].explained == found.fails - 1 > 0
    assert found.is_named(BY_NAME["closure-open"])


def test_a_cause_is_a_defect_only_by_its_own_value_and_rule_or_wrong_engine() -> None:
    first, open_borders = BY_NAME["t0-first"], BY_NAME["closure-open"]
    wrong_engine = Cause("the wrong engine 'WIN-2 border elements are lost' (Put …)", "WIN-2", 3, 3)
    assert Cause("t0=first-element", "WIN-3", 3, 3).names(first, "close")
    assert not Cause("t0=first-element", "WIN-10", 3, 3).names(first, "close")
    assert not Cause("t0=first-reach", "WIN-3", 3, 3).names(first, "close")
    assert wrong_engine.names(open_borders, "close")
    assert not wrong_engine.names(first, "close")


def test_a_diagnosis_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        diagnose_defects, "summarize_run", lambda *_: sum(0 for _ in itertools.count())
    )
    assert describe_in_time([], [], seconds=0.01) == ()


def test_pairs_have_two_kinds_and_show_with_their_report() -> None:
    pairs = draw_pairs(40, seed=1)
    assert len(set(pairs)) == 40
    for report, one, other in pairs:
        assert one.kind != other.kind
        assert report in one.causes
        assert report in other.causes


def test_defects_have_a_kind_each_and_ten_kinds_in_all() -> None:
    assert Defect("closure-closed", {}).kind == "closure"
    assert len({defect.kind for defect in DEFECTS}) == 10
