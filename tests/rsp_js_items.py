"""A run of the suite on RSP-JS, at whose results several tests look."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from lasting_harnesses import LastingHarnesses
from suite_run import run_suite

from conformance.harness import engine_file, pool
from conformance.suite import summary
from conformance.verdict import outcomes
from conformance.verdict.results import Result, from_json

# Where RSP-JS comes to no end it computes up to its limit: what asks that case has a limit of 2 s.
ENDLESS = (
    "R2R-15-a-repetition-of-a-repetition-is-matched-though-it-could-be-tried-in-very-many-ways"
)
BUT_THE_ENDLESS = f"not {ENDLESS}"

LIMITS = engine_file.engine("rsp-js").limits
# where a machine has much to do, a reply of seconds takes minutes
PATIENT = replace(engine_file.engine("rsp-js"), limits=replace(LIMITS, reply_seconds=120))
HURRIED = replace(PATIENT, limits=replace(LIMITS, reply_seconds=2))

group = pytest.mark.xdist_group("rsp-js")  # one worker, and so one run, for all


class LastingSuiteHarnesses(LastingHarnesses, pool.Harnesses):
    """The harnesses of the suite. What RSP-JS has compiled for the cases of the run it need not
    compile again for the tests of single cases.
    """


class Run(NamedTuple):
    """How pytest ended, and the results that it wrote."""

    ended: subprocess.CompletedProcess[str]
    results: list[Result]


def run_without_causes(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the suite, but do not look for other semantics that would explain a fail (ORA-13), nor
    for wrong engines that a case would have caught. Known deviations are looked for as ever.

    For some 150 fails and 130 rules these searches take as long as all the verdicts. Tests that put
    a single case to RSP-JS look for other semantics, too (tests/harness/test_session.py), and
    tests/suite/test_rule_verdicts.py has the verdicts on rules.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outcomes, "explain_fail_in_full", lambda *_: "fail")
        patch.setattr(summary, "_find_caught_wrong_engine", lambda *_: "")
        return run_suite(*words)


def run(path: Path, harnesses: LastingSuiteHarnesses) -> Run:
    """Run all items of RSP-JS but the endless one on one of some harnesses, and write their results
    to a path.
    """
    words = ("--engine=rsp-js", f"--results={path}", "-k", BUT_THE_ENDLESS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "Harnesses", lambda: harnesses)
        ended = run_without_causes(*words)
    assert path.exists(), ended.stdout + ended.stderr
    lines = path.read_text(encoding="utf-8").splitlines()
    return Run(ended, [from_json(json.loads(line)) for line in lines])
