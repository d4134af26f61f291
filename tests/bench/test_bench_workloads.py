"""tools/bench's workloads: their data are what they say, each query is maintained and has the
engine's reports, and lines say what was run. Nothing timed is asserted.
"""

from __future__ import annotations

import json
from itertools import islice

import pytest

from conformance.bench.benchmark import Choice
from conformance.bench.lsbench import LSBENCH
from conformance.bench.lsbench.activity import Parameters
from conformance.bench.lsbench.data import static_source
from refengine.core.query import WindowKind
from refengine.rdf.lines import parse_line_with_time
from tools.bench import __main__ as command
from tools.bench import constructs, generated, published, table, workloads
from tools.bench.constructs import CONSTRUCTS
from tools.bench.lab import Lab
from tools.bench.table import BENCHMARKS
from tools.bench.workloads import RunMeasurement, WorkloadRun, measure_run

TINY = {
    "constructs": {"window": 24},
    "lsbench": {"users": 50},
    "srbench": {"stations": 5},
    "city": {},
}
LINE = {
    "name": str,
    "elements": int,
    "reports": int,
    "rows": int,
    "cpu_seconds": float,
    "peak_mib": float,
    "runs": int,
    "provenance": str,
    "definition": dict,
    "equal": bool,
}
GROWTH = {"sizes": list, "growth": float}
MORE = {
    "constructs": GROWTH,
    "lsbench": GROWTH | {"points": list, "slope": float, "slope_with_rows": float},
    "srbench": {},
    "city": {},
}


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path, runs=1)


def lines(lab, name, measure, **arguments):
    """The lines of a benchmark at its tiny size, with other arguments."""
    benchmark = BENCHMARKS[name]
    found = benchmark.lines(lab, name, **{**benchmark.tiny, **arguments}, measure=measure)
    return json.loads(json.dumps(list(found)))


@pytest.mark.parametrize("query", CONSTRUCTS)
def test_a_construct_is_maintained_and_has_the_engines_reports(query):
    measured = measure_run(WorkloadRun("constructs", query, 40, TINY["constructs"], beside=True))
    assert (measured.provenance, measured.difference) == ("incremental", None)
    assert measured.reports == 39  # one for each element but the last, which nothing comes after


@pytest.mark.parametrize(
    ("workload", "query"),
    [
        *(("lsbench", query) for query in published.LSBENCH_QUERIES),
        *(("srbench", query) for query in published.SRBENCH_QUERIES),
        *(("city", query) for query in published.CITYBENCH_QUERIES),
    ],
)
def test_a_query_is_maintained_and_has_the_engines_reports(workload, query):
    measured = measure_run(WorkloadRun(workload, query, 20, TINY[workload], beside=True))
    assert (measured.provenance, measured.difference) == ("incremental", None)
    assert measured.reports >= 19


@pytest.mark.parametrize("name", TINY)
def test_a_line_has_every_key(lab, name):
    first, *others = lines(lab, name, measure_run)
    assert {key: type(value) for key, value in first.items()} == LINE | MORE[name]
    assert first["name"].startswith(f"{name}/") and first["provenance"] == "incremental"
    assert first["equal"] and first["definition"]["elements"] <= first["elements"]
    assert [set(line) for line in others] == (
        [{"name", "cpu_seconds", "peak_mib"}] if name == "lsbench" else []
    )


def fake(seconds, **values):
    """A measure that takes what it says."""

    def measure(run: WorkloadRun) -> RunMeasurement:
        cost = seconds(run)
        defined = 50 * cost if run.beside else None
        found = RunMeasurement(5, 6, cost + 1, cost, 7.0, "fake", defined)
        return found._replace(**{name: value(run) for name, value in values.items()})

    return measure


def test_the_slope_and_the_growth_are_without_the_seconds_before_the_first_report(lab):
    """An element takes a tenth of a second, whatever the static data; then all of a million."""
    by_element = fake(lambda run: run.elements / 10)
    line, total = lines(lab, "lsbench", by_element)
    assert (line["slope"], line["growth"]) == (1.0, 1.0)
    assert line["definition"] == {"elements": 20, "times_as_long": 50.0}
    assert [point["cpu_seconds"] for point in line["points"]] == [3.0, 5.0]
    assert total == {"name": "lsbench", "cpu_seconds": 5.0, "peak_mib": 7.0}

    by_static = fake(lambda run: run.elements**2 * run.sizes["users"])
    line, _ = lines(lab, "lsbench", by_static)
    assert (line["slope"], line["growth"]) == (2.0, 2.0)


def test_the_slope_with_rows_is_that_of_elements_and_rows_together(lab):
    """From 20 to 40 elements there are 2 and 24 rows more: from 22 to 64, and the seconds alike."""
    rows = {20: 2, 40: 24}
    by_row = fake(
        lambda run: run.elements + rows[run.elements], rows=lambda run: rows[run.elements]
    )
    line, _ = lines(lab, "lsbench", by_row)
    assert line["slope"] > 1.5
    assert line["slope_with_rows"] == 1.0


def test_an_element_of_a_construct_is_measured_when_its_window_is_full(lab):
    runs = []

    def seconds(run):
        runs.append(run)
        return run.elements - run.settled

    (line,) = lines(lab, "constructs", fake(seconds))
    assert [(run.elements, run.sizes["window"], run.settled) for run in runs] == [
        (40, 16, 0),
        (36, 16, 16),
        (52, 32, 32),
        (40, 16, 0),
    ]
    assert [run.beside for run in runs] == [False, False, False, True]
    costs = [size["cpu_microseconds_per_element"] for size in line["sizes"]]
    assert costs == [1_000_000, 1_000_000] and line["growth"] == 1.0


def test_the_least_of_several_runs_counts(tmp_path):
    seconds = iter([5, 3, 4, 8])
    (line,) = lines(Lab(tmp_path, runs=3), "city", fake(lambda _: next(seconds)))
    assert (line["cpu_seconds"], line["runs"]) == (4.0, 3)


def test_a_difference_fails_the_command(tmp_path, monkeypatch, capsys):
    different = fake(lambda _: 1.0, difference=lambda run: "report 3: missing" * run.beside or None)

    def run(lab, name, tiny):
        return iter(lines(lab, name, different))

    monkeypatch.setattr(command, "run", run)
    assert command.main(["srbench", "--tiny", "--work", str(tmp_path)]) == 1
    line = json.loads(capsys.readouterr().out)
    assert (line["equal"], line["difference"]) == (False, "report 3: missing")


def test_another_engine_is_refused():
    with pytest.raises(ValueError, match="engine must be incremental or definitional, got 'other'"):
        measure_run(WorkloadRun("city", "Q1", 5, TINY["city"], engine="other"))


def test_a_fresh_process_gives_the_same():
    run = WorkloadRun("srbench", "Q1", 20, TINY["srbench"])
    there, here = workloads.measure_in_new_process(run), measure_run(run)
    assert (there.reports, there.rows) == (here.reports, here.rows) and there.peak_mib > 0


def test_the_sizes_are_those_of_lsbench_and_enough():
    full = {name: BENCHMARKS[name].full for name in TINY}
    declared = static_source(Parameters(full["lsbench"]["users"]))
    assert len(declared.load()) == pytest.approx(219_825, rel=0.01)
    assert full["lsbench"]["growth"].sizes == (250, 2_500, 25_000)
    assert full["lsbench"]["elements"][-1] == full["srbench"]["elements"] == 100_000
    assert full["city"]["elements"] == 100_000
    assert (full["constructs"]["elements"], full["constructs"]["window"]) == (1000, 800)
    assert full["constructs"]["growth"].sizes == (100, 10_000)


@pytest.mark.parametrize("query", published.LSBENCH_QUERIES)
def test_a_query_asks_what_the_benchmark_declares_and_windows_slide_at_each_change(query):
    """The body and the sizes are those of a run of the benchmark; so are the elements."""
    [*_, workload] = LSBENCH.workloads(Choice(scale="paper", only=(query,)))
    made = published.lsbench_setting(query, 40, 1000)
    assert made.query.body.text == workload.query.body.text
    assert [window.size for window in made.query.windows] == [
        window.size for window in workload.query.windows
    ]
    assert {window.kind for window in made.query.windows} == {WindowKind.RANGE}
    for name, source in workload.streams.items():
        items = made.streams[name].elements
        beginning = [*islice(source.lines(), len(items))]
        assert [parse_line_with_time(line, name) for line in beginning] == [
            (*element.graph, element.app) for element in items
        ]


@pytest.mark.parametrize("workload", TINY)
def test_streams_have_so_many_elements_and_the_same_again(workload):
    queries = {
        "constructs": ("two streams", "GRAPH ?w"),
        "lsbench": published.LSBENCH_QUERIES,
        "srbench": published.SRBENCH_QUERIES,
        "city": published.CITYBENCH_QUERIES,
    }
    make = workloads.SETTINGS[workload]
    for query in queries[workload]:
        made = make(query, 30, **TINY[workload])
        assert made == make(query, 30, **TINY[workload])
        assert sum(map(len, made.streams.values())) == 30
        assert set(made.streams) == {window.stream for window in made.query.windows}


def test_an_event_has_one_time_and_streams_that_are_not_asked_for_cost_nothing():
    def triple(name: str) -> tuple[str, str, str]:
        return (f"<urn:{name}>", "<urn:p>", "<urn:o>")

    events = [
        [("s", triple("a")), ("s", triple("b"))],
        [("other", triple("c"))],
        [("r", triple("d"))],
        [("s", triple("e")), ("s", triple("f"))],
    ]
    streams = generated.with_times(["s", "r"], events, 4, step=10)
    assert streams == {
        "s": [(triple("a"), 0), (triple("b"), 0), (triple("e"), 30)],
        "r": [(triple("d"), 20)],
    }


@pytest.mark.parametrize(
    ("value", "places", "text"), [(1, 1, "0.1"), (1234, 2, "12.34"), (50, 4, "0.0050")]
)
def test_decimals(value, places, text):
    assert generated.decimal(value, places).startswith(f'"{text}"^^')


def test_windows_of_a_construct_have_their_part_of_the_size():
    query = constructs.setting("GRAPH ?w", 5, 30).query
    assert [(window.name, window.size) for window in query.windows] == [
        ("urn:w", 30),
        ("urn:v", 15),
    ]


def test_every_workload_is_a_benchmark():
    assert set(workloads.SETTINGS) == set(TINY) <= set(table.BENCHMARKS)
