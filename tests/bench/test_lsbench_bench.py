"""LSBench: its tables and measures, with numbers derived by hand. Nothing timed is asserted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from conformance.__main__ import main
from conformance.bench.benchmark import Choice
from conformance.bench.feeding import HarnessWithOthers
from conformance.bench.lsbench import LSBENCH, workloads
from conformance.bench.lsbench.activity import START, Parameters
from conformance.bench.lsbench.data import Replay
from conformance.bench.lsbench.measures import compare_outputs, digests_of, output_of_digests
from conformance.bench.lsbench.tables import executions_per_second, tables
from conformance.bench.streams import StaticDataset
from conformance.harness.client import Harness
from conformance.verdict.results import BenchmarkRun, Outcome, Result

XSD = "http://www.w3.org/2001/XMLSchema#"


def test_elements_come_at_the_rate_in_the_order_of_time():
    """At 100 in a second the element number n comes after 10·n ms; the streams share the numbers,
    and at their own times they are the elements of the streams.
    """
    parameters = Parameters(60, 1)
    replay = Replay(parameters, ("photos", "photo_likes"), 100, 50)
    photos, likes = (list(replay.elements(name)) for name in replay.streams)
    instants = sorted([*photos, *likes])
    assert [instant for instant, _ in instants] == [START + 10 * n for n in range(50)]
    own = replace(replay, rate=None)
    timed = sorted((time, triple) for name in own.streams for time, triple in own.elements(name))
    assert {triple for _, triple in timed} == {triple for _, triple in instants}
    assert all(time >= START for time, _ in timed)
    assert [triple for _, triple in own.elements("photos")] == [triple for _, triple in photos]


def test_rows_of_equal_values_have_the_same_digest():
    def bag(number: str, datatype: str) -> Counter:
        return Counter({(("n", f'"{number}"^^<{XSD}{datatype}>'),): 1})

    assert digests_of(bag("1.50", "decimal")) == digests_of(bag("1.5", "decimal"))
    assert digests_of(bag("1.5", "decimal")) != digests_of(bag("1.6", "decimal"))
    twice = Counter({(("x", "<urn:a>"),): 2})
    assert len(digests_of(twice)) == 2 and len({*digests_of(twice)}) == 1


def test_engines_are_comparable_up_to_epsilon():
    """Of four rows one is lost in one direction, and none in the other: 25 % and 0 %."""
    outputs = {
        "a": output_of_digests([["1", "2"], ["3", "4"]]),
        "b": output_of_digests([["1", "2"], ["3"]]),
    }
    percents, comparable = compare_outputs(outputs, 24.9)
    assert percents == {("a", "b"): 25.0, ("b", "a"): 0.0} and not comparable
    assert compare_outputs(outputs, 25)[1]


def result_of(engine: str, experiment: str, test: str, **measures) -> Result:
    run = {"measures": measures, "elements": 500, "seconds": 2.0, "is_live": False, "rows": 1}
    return Result(
        engine=engine,
        suite="lsbench",
        case=f"{experiment} {test}",
        outcome=Outcome.PASS,
        explanation="pass",
        evidence={"run": {**run, "sampling_seconds": 0.0}, "samples": []},
        benchmark_run=BenchmarkRun(experiment, test, 1),
    )


def test_the_tables_of_two_engines():
    """500 elements in 2 s are 250 executions in a second. Of the rows a, b and c one engine lost
    the last one.
    """
    shared = {"query": "Q1", "rate": 100, "users": 60, "instances": 1, "due": 3, "static": 0}
    results = [
        result_of("x", "Q1", "100", size=3, output=[["a", "b", "c"]], mismatch=0.0, **shared),
        result_of("y", "Q1", "100", size=2, output=[["a", "b"]], lacking=33.3, **shared),
        result_of("x", "users", "Q1 with 60 users", size=3, output=None, **shared),
    ]
    by_title = {table.title: table for table in tables(results)}
    mismatch = by_title["Mismatch of engines, beside Table 2 of the paper"]
    assert mismatch.columns[2:] == ("mm(x, y) %", "mm(y, x) %", "comparable")
    assert [cell.text for cell in mismatch.rows[0]] == ["Q1", "100", "33.33", "0.00", "no"]
    throughput = by_title["Maximum execution throughput, beside Table 3 of the paper"]
    assert [cell.text for cell in throughput.rows[0]] == ["Q1", "100", "no", "250", "250"]
    scaling = by_title["Executions in a second, by static data"]
    assert [cell.text for cell in scaling.rows[0]] == ["Q1", "x", "250"]
    functional = by_title["Functionality, beside Table 1 of the paper"]
    assert [cell.text for cell in functional.rows[0]][:7] == [
        "Q1",
        "1/1",
        "1/1",
        "F",
        "F",
        "pass",
        "pass",
    ]
    assert [cell.text for cell in functional.rows[5]][4] == "F? J S"


def test_a_table_without_rows_is_not_shown():
    """Only the scaling by static data was run."""
    shared = {"query": "Q1", "rate": 100, "users": 60, "instances": 1, "due": 3, "static": 0}
    results = [result_of("x", "users", "Q1 with 60 users", size=3, output=None, **shared)]
    titles = {table.title for table in LSBENCH.tables_with_rows(results)}
    assert "Executions in a second, by static data" in titles
    assert "Executions in a second, by the number of queries" not in titles
    assert all(table.rows for table in LSBENCH.tables_with_rows(results))


def test_a_live_run_has_no_throughput():
    live = result_of("x", "Q1", "100", query="Q1", rate=100, users=60, size=0, output=[])
    live.evidence["run"]["is_live"] = True
    assert executions_per_second(live) is None


def test_instances_are_registered_beside_the_one_that_is_judged():
    one, two = workloads(Choice(only=("instances",)))[:2]
    assert len(one.beside) == 0 and len(two.beside) == 1
    assert "sibp:p985" in two.beside[0]["body"] and "sibp:p984" in two.table["body"]


def test_each_command_goes_to_the_others_first_and_to_each_with_its_own_query(monkeypatch):
    asked = []
    monkeypatch.setattr(Harness, "__post_init__", lambda self: None)
    monkeypatch.setattr(Harness, "start", lambda self: {})

    def note(self: Harness, command: str, **fields: object) -> dict[str, object]:
        asked.append((type(self) is HarnessWithOthers, command, fields))
        return {"is_judged": type(self) is HarnessWithOthers}

    monkeypatch.setattr(Harness, "ask", note)
    harness = HarnessWithOthers(["engine"])
    harness.start_others(["other query"])
    assert harness.ask("register", query="query")["is_judged"]
    assert harness.ask("push", at=1)["is_judged"]
    assert asked == [
        (False, "register", {"query": "other query"}),
        (True, "register", {"query": "query"}),
        (False, "push", {"at": 1}),
        (True, "push", {"at": 1}),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scale=49"], "--scale: usage: a network has at least 50 users, got 49"),
        (["--config=x"], "--config: usage: LSBench has no configuration"),
        (["--data=x"], "--data: usage: LSBench has no configuration, and makes its own data"),
        (["--only=Q13"], "LSBench has no experiment 'Q13'; did you mean 'Q3'"),
    ],
)
def test_bad_input_is_one_error(tmp_path, capsys, words, message):
    out = tmp_path / "out"
    assert main(["bench", "lsbench", "--engine=reference", *words, "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and not out.exists()


def test_a_run_is_another_if_its_static_data_change():
    """Of static data in memory the digest does not depend on the order of a set."""
    triples = [("<urn:a>", "<urn:p>", f"<urn:{n}>") for n in range(20)]
    prints = {StaticDataset(frozenset(some)).fingerprint() for some in (triples, triples[::-1])}
    assert len(prints) == 1
    assert StaticDataset(frozenset(triples[1:])).fingerprint() not in prints
    first = LSBENCH.workloads(Choice(only=("users",)))[:2]
    assert first[0].static_source.fingerprint() != first[1].static_source.fingerprint()
