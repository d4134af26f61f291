"""CityBench: thirteen queries over what sensors of a city report, with the latency, the memory and
the completeness of their answers (Ali, Gao, Mileo, CityBench: A Configurable Benchmark to Evaluate
RSP Engines Using Smart City Datasets, ISWC 2015).

`queries.toml` has the queries, `schema` and `sensors` the shapes of the data, `generator` makes
them, `files` reads CityBench's own, `configuration` has its knobs, and `tables` shows results
beside what CityBench published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from functools import cache, partial
from itertools import takewhile
from pathlib import Path

from conformance.bench.benchmark import Benchmark, Choice, Workload
from conformance.bench.citybench import configuration, files, generator, sensors
from conformance.bench.citybench.configuration import EXPERIMENTS, Knobs, read_experiments
from conformance.bench.citybench.generator import Parameters
from conformance.bench.citybench.measures import measure
from conformance.bench.citybench.queries import QUERIES
from conformance.bench.citybench.schema import SENSOR_GRAPH, SERVICES
from conformance.bench.citybench.tables import tables
from conformance.bench.queries import PublishedQuery
from conformance.bench.streams import (
    GeneratedStatic,
    GeneratedStream,
    StaticSource,
    StoredStream,
    StreamSource,
    name_of_stream,
)
from refengine.core.profiles import profile
from refengine.model.elements import Dataset, Stream, Triple, stream
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest
from refengine.oracle.judge import EVERY_WITNESS

Test = tuple[str, str, Knobs]  # the experiment, the test's name, and the knobs


def workloads(choice: Choice) -> Sequence[Workload]:
    """Return the tests that were chosen, over generated data or over the user's. A number as scale
    is how many seconds a test lasts. Raises RefengineError.
    """
    return [_workload(test, choice) for test in _tests(choice)]


def _tests(choice: Choice) -> Iterator[Test]:
    """Yield the tests that were chosen: the queries, and at the scale `paper` the
    experiments of `experiments.toml`; or those of the user's file. Raises RefengineError.
    """
    if choice.config is not None:
        tests = read_experiments(choice.config, _common_knobs(choice))
        _check_queries(tests, choice.config)
        yield from tests
        return
    for name in QUERIES:
        if not choice.only or name in choice.only:
            knobs = configuration.small_setup(name)
            if choice.scale == "paper":
                knobs = configuration.paper_setup(name)
            if isinstance(choice.scale, int):
                knobs = replace(knobs, duration=choice.scale)
            yield name, name, knobs
    if choice.scale == "paper" or choice.only:
        yield from _experiments(choice)


def _experiments(choice: Choice) -> Iterator[Test]:
    """Yield the tests of `experiments.toml`, or of the experiments that were chosen."""
    tests = read_experiments(EXPERIMENTS, _common_knobs(choice))
    _check_queries(tests, EXPERIMENTS)
    for experiment, test, knobs in tests:
        if not choice.only or experiment in choice.only:
            yield experiment, test, knobs


def _common_knobs(choice: Choice) -> Knobs:
    """Return the knobs of all tests of a file, where it does not set them otherwise."""
    knobs = Knobs("")
    if choice.scale == "paper":
        knobs = configuration.paper_setup("")
    if isinstance(choice.scale, int):
        knobs = replace(knobs, duration=choice.scale)
    return knobs


def _check_queries(tests: Sequence[Test], file: Path) -> None:
    """Raise RefengineError if a test of a file asks a query that CityBench does not have."""
    for _, _, knobs in tests:
        if knobs.query not in QUERIES:
            raise RefengineError(
                f"no query {display(knobs.query)}{nearest(knobs.query, QUERIES)}",
                rule="configuration",
                place=str(file),
            )


def _workload(test: Test, choice: Choice) -> Workload:
    """Return a test as a workload."""
    experiment, name, knobs = test
    query = QUERIES[knobs.query]
    table = knobs.table(query.table)
    named = sensors_of(query)
    static: Dataset | StaticSource = generated_static(query.graphs, named, knobs.background)
    if choice.data is not None:
        static = stored_graphs(query.graphs, choice.data)
    return Workload(
        experiment,
        name,
        table,
        {SERVICES + sensor: _source(sensor, knobs, choice.data) for sensor in named},
        profile("csparql").but(t0=0),
        choice.runs or 1,
        static=static,
        witnesses=_witnesses(knobs),
        beside=(table,) * (knobs.duplicates - 1),
        options=knobs,
        may_be_sent_by_instant=True,
    )


def _witnesses(knobs: Knobs) -> tuple[str, ...]:
    """Return who confirms the answers of a test. With sensors in the background it is pyoxigraph
    alone: rdflib joins each observation with the description of every sensor, and takes about a
    second for each answer.
    """
    if knobs.background:
        return ("pyoxigraph",)
    return EVERY_WITNESS


def sensors_of(query: PublishedQuery) -> tuple[str, ...]:
    """Return the names of the sensors whose streams a query asks for."""
    return tuple(window["stream"].removeprefix(SERVICES) for window in query.table["windows"])


def _source(sensor: str, knobs: Knobs, data: Path | None) -> StreamSource:
    """Return where the stream of a sensor comes from."""
    if data is not None:
        return StoredStream(
            files.file_of_sensor(data, sensor),
            read=lambda path: read_stored_stream(path.parent.parent, sensor, knobs),
        )
    parameters = Parameters(sensor, knobs.duration * 1000, knobs.interval)
    # The extent of the city, too: where a user is depends on it.
    name = name_of_stream("citybench", *astuple(parameters), generator.SPAN)
    return GeneratedStream(name, partial(generator.stream_lines, parameters))


def read_stored_stream(folder: Path, sensor: str, knobs: Knobs) -> Stream:
    """Return the stream of a sensor in a checkout of CityBench's files: as many reports as the
    duration has. At rate 1 they come one after the other at the frequency, as CityBench's program
    sends them; otherwise at their own times, so many times faster. Raises InvalidStream.
    """
    properties = files.stored_properties(sensor, _repository(folder))
    items: list[tuple[Triple, int]] = []
    timed = (
        (_time_of(number, time, knobs), report)
        for number, (time, report) in enumerate(files.read_reports(folder, sensor))
    )
    for time, report in takewhile(lambda one: one[0] < knobs.duration * 1000, timed):
        items += [(triple, time) for triple in sensors.write_report(report, properties)]
    return stream(items)


def _time_of(number: int, time: int, knobs: Knobs) -> int:
    """Return when a report of a file is sent, in ms: the report with a number, which the file has
    at a time.
    """
    if knobs.rate == 1.0:
        return number * knobs.interval
    return round(time / knobs.rate)


@cache
def _repository(folder: Path) -> Dataset:
    """Return the description of the sensors of a checkout."""
    return files.read_graph(folder, SENSOR_GRAPH)


def generated_static(
    names: tuple[str, ...], named: tuple[str, ...], background: int
) -> StaticSource:
    """Return where the generated static data of some graphs come from; they are made when they are
    needed.
    """
    values = (generator.SEED, generator.SPAN, background, *names, *named)
    return GeneratedStatic(
        f"citybench {' '.join(map(str, values))}",
        partial(generator.static_data, names, named, background),
    )


@cache
def stored_graphs(names: tuple[str, ...], folder: Path) -> Dataset:
    """Return the static data of some graphs of a checkout. Raises RefengineError."""
    return frozenset().union(*(files.read_graph(folder, name) for name in names))


CITYBENCH = Benchmark(
    "citybench",
    "CityBench",
    "Ali, Gao, Mileo, CityBench: A Configurable Benchmark to Evaluate RSP Engines Using Smart City "
    "Datasets, ISWC 2015",
    "how many seconds each test lasts",
    (*QUERIES, "frequency", "duplicates", "background", "window"),
    workloads,
    tables,
    measure,
)
