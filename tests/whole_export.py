"""All of the exported suite in build/suite, which `make export` has written: as
tests/export/ holds a sample of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import exported
import pytest
import rsp_js_items

from conformance import corpus, schemas
from conformance.corpus import window_cases
from conformance.corpus.iris import case_iri
from conformance.export.exported_case import suite_of
from conformance.export.stream_texts import BATCH
from conformance.harness import engine_file
from conformance.harness.client import Harness
from conformance.suite.item import questions
from conformance.suite.probe import expects_reports, probe_case
from refengine.model import compare
from refengine.rdf.streams import read_stream

FOLDER = Path(__file__).parents[1] / "build" / "suite"
ADAPTER = engine_file.ADAPTERS / "reference.py"
WRONG = ("WIN-8 nothing expires", "R2S-2 every operator is rstream")


@pytest.fixture(scope="module")
def cases():
    return exported.cases_in(FOLDER)


def test_every_case_is_there_with_what_comes_of_it(cases):
    wanted = (*corpus.cases(), *window_cases.window_cases())
    assert cases.keys() == {case_iri(suite_of(case), case.id) for case in wanted}
    for case in cases.values():
        assert case.get("evaluations") or case.get("judgements") or case["as_written"]
        for part, reason in case["not_expressed"].items():
            assert reason and part.startswith(("query.", "stream-", "question"))


def test_manifests_are_of_the_shapes():
    assert exported.broken_shapes(exported.manifests_of(FOLDER), FOLDER) == set()


def test_json_is_of_the_schemas(cases):
    assert not schemas.problems("exported-suite", exported.read(FOLDER / "suite.json"))
    for iri, case in cases.items():
        assert not list(schemas.validator("exported-case").iter_errors(case)), iri


def test_streams_are_read_back(cases):
    """But for the labels of blank nodes, which have the same places in both."""
    read = 0
    for path in sorted(FOLDER.rglob("stream-*.trig")):
        case = exported.read(path.parent / "case.json")
        number = int(path.name.partition("-")[2].partition(".")[0])
        elements = case["streams"][number - 1]["elements"]
        found = read_stream(path, None, BATCH)
        times = [(each.app, each.batch, each.end) for each in found]
        assert times == [(each["at"], each.get("batch"), each.get("end")) for each in elements]
        for one, other in zip(elements, found, strict=True):
            stated = corpus.triples(one["graph"])
            assert compare.equal(graph_bag(stated), graph_bag(other.graph), compare.Mode.TERM)
        read += 1
    assert read > 1500


def graph_bag(graph):
    """A graph as rows, which are compared up to the names of blank nodes."""
    names = ("s", "p", "o")
    rows = [tuple(sorted(zip(names, triple, strict=True))) for triple in graph]
    return compare.representatives(dict.fromkeys(rows, 1))


def test_judgements_are_those_of_a_comparison_with_the_alternatives(cases):
    decided = 0
    for iri, case in cases.items():
        for judgement in case.get("judgements", ()):
            if judgement["decided_by"] != "comparison":
                continue
            found = exported.is_explained(judgement)
            if found is not None:
                assert found is (judgement["outcome"] == "pass"), iri
                decided += 1
    assert decided > 350


def verdicts_of_suite(command, tested):
    """The outcomes that the suite comes to, by suite and case. What breaks down is started again
    for the next.
    """
    found, harness = {}, None
    for suite in tested.suites:
        for case in questions(suite):
            if not expects_reports(case):
                continue
            if harness is None or not harness.alive:
                harness = Harness(command)
                harness.start()
            found[suite, case.id] = str(probe_case(tested, harness, case).outcome)
    harness.stop()
    return found


@pytest.mark.parametrize("wrong", [(), *(("--wrong", name) for name in WRONG)])
def test_the_runner_comes_to_the_suites_verdicts(wrong):
    command = [sys.executable, str(ADAPTER), "csparql", "t0=0", *wrong]
    expected = {}
    for name in ("reference", "reference-windows"):
        expected |= verdicts_of_suite(command, engine_file.engine(name))
    assert_decided(exported.run(FOLDER, command), expected, 600)
    assert (set(expected.values()) == {"pass"}) is (not wrong)


def test_the_runner_comes_to_the_suites_verdicts_on_rsp_js(rsp_js_run):
    tested = rsp_js_items.PATIENT
    expected = {(one.suite, one.case): str(one.outcome) for one in rsp_js_run.results}
    asked = [case for _, case in expected]
    words = ("--engine", "rsp-js", "--seconds", "120")
    assert_decided(exported.run(FOLDER, tested.command, *words, only=asked), expected, 560)


def assert_decided(found, expected, least):
    """Assert that all that a comparison decides is as expected, and that it decides so many."""
    assert found.keys() == expected.keys()
    decided = {key: outcome for key, outcome in found.items() if outcome != "undecided"}
    assert decided == {key: expected[key] for key in decided}
    assert len(decided) >= least
