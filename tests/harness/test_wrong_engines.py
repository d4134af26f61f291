"""Wrong engines as engines under test: each in a process of its own, failed through the protocol by
a case of the rule it breaks.

That the right engine passes the same cases is tests/harness/test_session.py. With the full profile
the wrong engines that nobody has seen are asked, too.
"""

from __future__ import annotations

import sys
from functools import cache

import forked
import pytest
from conftest import PROFILE

from conformance import corpus
from conformance.corpus import Case, check_case
from conformance.harness import engine_file
from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import engine
from conformance.suite.probe import probe_case
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result
from conformance.wrong_engines import WRONG_ENGINES, WrongEngine
from conformance.wrong_engines.wrong_engine import NOBODY
from refengine.core import engine as core_engine
from refengine.model import terms
from refengine.model.errors import RefengineError

ADAPTER = engine_file.ADAPTERS / "reference.py"
# sections on what is done before an engine is asked, and after it has answered
SUITE = {"SEM", "CMP", "ORA", "IO", "DIA"}
# sections on joins beside the continuous query, which the corpus does not put to an engine
JOINS = {"ADA", "BND"}
# an engine is told canonical terms, and of several streams the order by that of the pushes
BEFORE = (terms.canonical, core_engine.merge_streams)
# what the protocol carries of a report; of several windows the first
TOLD = {"window", "rows", "instant", "trigger"}

ENGINES = [
    one
    for one in WRONG_ENGINES
    if one.rule.partition("-")[0] not in SUITE | JOINS and one.replaced not in BEFORE
]
# and those of another way to compute the same, for which the adapter has an option
REAL = [one for one in ENGINES if one.seen != NOBODY or one.rule == "ENG-6"]
REFERENCE = engine("reference")

# on one worker, which finds out once what a case shows, and has one server
pytestmark = pytest.mark.xdist_group("wrong engines")


def start_wrong(program: list[str], name: str) -> Harness:
    """A running harness of a wrong engine, given by its name."""
    running = Harness([*program, "csparql", "t0=0", "--wrong", name])
    running.start()
    return running


@pytest.fixture(scope="module")
def adapter(tmp_path_factory):
    """The beginning of the command of an adapter that begins as a fork."""
    with forked.adapter(tmp_path_factory.mktemp("forked")) as program:
        yield program


@cache
def cases() -> dict[str, list[Case]]:
    """The cases that expect reports of an engine, by their rule."""
    found: dict[str, list[Case]] = {}
    for case in corpus.cases():
        blocks = [
            told(case, block)
            for block in case.table.get("expect", [])
            if "max_reports" not in block
        ]
        if blocks:
            found.setdefault(case.rule, []).append(
                Case(case.path, {**case.table, "expect": blocks})
            )
    return found


def told(case: Case, block: dict) -> dict:
    """An expectation without what the protocol does not carry; a trigger after the last element is
    the horizon, known to no engine.
    """
    reports = [
        {key: value for key, value in report.items() if key in TOLD} for report in block["reports"]
    ]
    if any("trigger" in report for report in reports):
        streams = corpus.streams_of(case).values()
        last = max((element.app for stream in streams for element in stream), default=None)
        for report in reports:
            if "trigger" in report and (last is None or report["trigger"] > last):
                del report["trigger"]
    return {**block, "reports": reports}


def cases_of(wrong_engine: WrongEngine) -> list[Case]:
    """The cases that expect reports, of the rules that it breaks."""
    return [case for rule in wrong_engine.rules for case in cases().get(rule, [])]


@cache
def shown_by(wrong_engine: WrongEngine) -> str | None:
    """The first case of its rules that does not expect what it reports. What it refuses, and what
    it should have refused, is no report.
    """
    with wrong_engine.installed():
        for case in cases_of(wrong_engine):
            if any(differs(case, block) for block in case.table["expect"]):
                return case.path
    return None


def differs(case: Case, block: dict) -> bool:
    try:
        return bool(check_case._expect(case, lambda: corpus.query_of(case), block))
    except RefengineError:
        return False


def asked(program: list[str], wrong_engine: WrongEngine) -> list[Result]:
    """What becomes of the cases of its rules, up to one that it fails: first of the one that shows
    it. What breaks down is started again for the next.
    """
    found, running = [], None
    for case in sorted(
        cases_of(wrong_engine), key=lambda case: case.path != shown_by(wrong_engine)
    ):
        if running is None or not running.alive:
            running = start_wrong(program, wrong_engine.full_name)
        found.append(probe_case(REFERENCE, running, case))
        if found[-1].outcome is Outcome.FAIL:
            break
    if running is not None:
        running.stop()
    return found


@pytest.mark.parametrize(
    "wrong_engine",
    ENGINES if PROFILE == "full" else REAL,
    ids=lambda one: f"{one.rule}-{one.name.replace(' ', '-')}",
)
def test_a_wrong_engine_fails_a_case_of_its_rules(adapter, wrong_engine):
    """If and only if it reports something else: the others refuse what they should not, or the
    reverse.
    """
    found = asked(adapter, wrong_engine)
    failed = [one.explanation for one in found if one.outcome is Outcome.FAIL]
    assert bool(failed) is (shown_by(wrong_engine) is not None), [
        f"{one.case}: {one.outcome}: {one.explanation}" for one in found
    ]
    beginnings = tuple(f"{rule}: " for rule in wrong_engine.rules)
    assert all(explanation.startswith(beginnings) for explanation in failed)


def test_what_real_engines_have_wrong_shows():
    """Half a hundred of them, of every section that is about engines."""
    seen = [wrong_engine for wrong_engine in REAL if shown_by(wrong_engine)]
    assert len(seen) >= 50
    assert {wrong_engine.rule.partition("-")[0] for wrong_engine in seen} == {
        wrong_engine.rule.partition("-")[0] for wrong_engine in ENGINES
    }


def test_a_wrong_engine_that_there_is_not():
    with pytest.raises(
        Broken, match="no wrong engine 'WIN-8 nothing expire'; did you mean 'WIN-8 nothing expires'"
    ):
        start_wrong([sys.executable, str(ADAPTER)], "WIN-8 nothing expire")
