"""A runner in JavaScript comes to the suite's verdicts from the exported suite alone: on the right
engine, on two wrong ones, and on RSP-JS.

A sample of the cases is asked here, and all of them by `make export` (tests/whole_export.py).
"""

from __future__ import annotations

import exported
import forked
import pytest
import rsp_js_items
from conftest import needs_commands

from conformance.export import suite_folder
from conformance.harness import engine_file
from conformance.harness.client import Harness
from conformance.suite.item import questions
from conformance.suite.probe import expects_reports, probe_case

WRONG = ("WIN-8 nothing expires", "R2S-2 every operator is rstream")
# cases of windows, late elements, R2R and R2S; some of them RSP-JS passes, fails and declines
SAMPLE = (
    "compare/cmp-2-count-in-another-type.toml",
    "compare/cmp-3-matching-across-types.toml",
    "compare/cmp-4-cycles.toml",
    "model/mod-2-greatest-before.toml",
    "model/mod-5-punctuation.toml",
    "r2r/r2r-13-number-and-date.toml",
    "r2r/r2r-8-blank-nodes-of-two-streams.toml",
    "r2s/r2s-2-stated-window-after-window.toml",
    "report/rep-1-several-in-a-gap.toml",
    "window/win-1-slide-greater-than-size.toml",
    "window/win-2-right-open.toml",
    "window/win-8-expired-elements.toml",
)
pytestmark = [rsp_js_items.group, needs_commands("node")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("export") / "suite"
    cases = [case for case in suite_folder.all_cases() if case.path in SAMPLE]
    suite_folder.export_suite(found, cases, (rsp_js_items.PATIENT,))
    return found


@pytest.fixture(scope="module")
def adapter(tmp_path_factory):
    with forked.adapter(tmp_path_factory.mktemp("forked")) as program:
        yield program


def verdicts_of_suite(harness, tested):
    """The outcomes that the suite comes to on the sample, by suite and case."""
    return {
        (suite, case.id): str(probe_case(tested, harness, case).outcome)
        for suite in tested.suites
        for case in questions(suite)
        if case.path in SAMPLE and (expects_reports(case) or not tested.is_configurable)
    }


@pytest.mark.parametrize("wrong", [(), *(("--wrong", name) for name in WRONG)])
def test_the_reference_engine_and_wrong_ones(adapter, folder, wrong):
    command = [*adapter, "csparql", "t0=0", *wrong]
    harness = Harness(command)
    harness.start()
    expected = {}
    for name in ("reference", "reference-windows"):
        expected |= verdicts_of_suite(harness, engine_file.engine(name))
    harness.stop()
    found = exported.run(folder, command)
    assert found == expected
    assert (set(found.values()) == {"pass"}) is (not wrong)
    assert len(found) > len(SAMPLE)


def test_rsp_js(folder, rsp_js_harnesses):
    tested = rsp_js_items.PATIENT
    expected = verdicts_of_suite(rsp_js_harnesses.of(tested), tested)
    found = exported.run(folder, tested.command, "--engine", "rsp-js", "--seconds", "120")
    assert found == expected
    assert {"pass", "fail", "unsupported"} <= {*found.values()}
