"""SRBench: 17 queries over weather observations and what is known of their places, and which engine
can answer which of them (Zhang, Duc, Corcho, Calbimonte, SRBench: A Streaming RDF/SPARQL Benchmark,
ISWC 2012).

`queries.toml` has the queries, `observations` makes the stream and `places` the static data, and
`dumps` reads the real ones where a user has them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from functools import cache, partial
from pathlib import Path

from conformance.bench.benchmark import Benchmark, Choice, Workload
from conformance.bench.figures import table_of_runs
from conformance.bench.functional import Published, functional_table, reasons_table
from conformance.bench.queries import (
    PublishedQuery,
    read_queries,
    shorten_windows,
    table_of_queries,
)
from conformance.bench.speed import speed_up
from conformance.bench.srbench import dumps, places
from conformance.bench.srbench.observations import (
    STREAM,
    Parameters,
    parts_of_stream,
    stream_lines,
)
from conformance.bench.streams import GeneratedStream, StoredStream, StreamSource, name_of_stream
from conformance.bench.tables import Table
from conformance.verdict.results import Result
from refengine.core.profiles import profile
from refengine.model.elements import Dataset

FOLDER = Path(__file__).parent
QUERIES: Mapping[str, PublishedQuery] = read_queries(FOLDER / "queries.toml")
PUBLISHED: Published = tomllib.loads((FOLDER / "published.toml").read_text(encoding="utf-8"))

SEED = 2012
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
STATIONS = {"small": 5, "paper": 100}  # one of each climate; the paper states no number
# A stream for the queries over hours, and one for those over days.
OF_HOURS = Parameters(SEED, 0, duration=2 * HOUR, interval=50 * MINUTE)
OF_DAYS = Parameters(SEED, 0, duration=36 * HOUR, interval=12 * HOUR)
# How many times faster the time of each goes at the scale small, so that either is over in 36 s.
TIMES_FASTER = {OF_HOURS: 200, OF_DAYS: 3600}


def workloads(choice: Choice) -> Sequence[Workload]:
    """Return the queries that were chosen, over generated data or over the user's. A number as
    scale is how many stations observe.
    """
    stations = choice.scale
    if not isinstance(stations, int):
        stations = STATIONS[stations]
    return [_workload(QUERIES[name], stations, choice) for name in choice.only or QUERIES]


def _workload(query: PublishedQuery, stations: int, choice: Choice) -> Workload:
    """Return a query as a workload."""
    longest = max(window["size"] for window in query.table["windows"])
    setup = OF_DAYS if longest >= DAY else OF_HOURS
    parameters = replace(setup, stations=stations)
    source: StreamSource = GeneratedStream(
        name_of_stream("srbench", *astuple(parameters)),
        partial(stream_lines, parameters),
        partial(parts_of_stream, parameters),
    )
    if choice.data is None:
        static = generated_graphs(query.graphs, stations)
    else:
        source = StoredStream(choice.data / dumps.OBSERVATIONS, read=dumps.read_observations)
        static = stored_graphs(query.graphs, choice.data)
    semantics = profile("csparql").but(t0=0)
    if "r2s" in query.table:  # an operator other than Rstream compares with the answer before
        semantics = semantics.but(r2s=query.table["r2s"], base="previous")
    workload = Workload(
        query.name,
        query.name,
        query.table,
        {STREAM: source},
        semantics,
        choice.runs or 1,
        static=static,
        may_be_sent_by_instant=True,
    )
    if choice.scale != "small":
        return workload
    workload = replace(workload, table=shorten_windows(query.table, longest, longest // 2))
    if choice.data is not None:
        return workload
    return speed_up(workload, TIMES_FASTER[setup])


@cache
def generated_graphs(names: tuple[str, ...], stations: int) -> Dataset:
    """Return the generated static data of some graphs."""
    return places.static_data(names, SEED, stations)


@cache
def stored_graphs(names: tuple[str, ...], folder: Path) -> Dataset:
    """Return the static data of some graphs, each in a folder of its name in the user's folder.
    Raises RefengineError.
    """
    return frozenset().union(*(dumps.read_graph(folder / name) for name in names))


def tables(results: Sequence[Result]) -> Sequence[Table]:
    """Return the functional table, why queries are not answered right, the queries with where they
    come from, and the runs.
    """
    return [
        functional_table(
            results,
            list(QUERIES),
            PUBLISHED,
            "Published are the features that the paper says an engine lacked: A ASK, D Dstream, "
            "G GROUP BY and aggregates, IF, N negation, PP property paths, SD static data. They "
            "are as remembered, and not checked against the paper. PP of Q2 is about the paper's "
            "query, which asks for all kinds of precipitation; the text followed here has no path.",
        ),
        reasons_table(results),
        table_of_queries(QUERIES.values()),
        table_of_runs(results),
    ]


SRBENCH = Benchmark(
    "srbench",
    "SRBench",
    "Zhang, Duc, Corcho, Calbimonte, SRBench: A Streaming RDF/SPARQL Benchmark, ISWC 2012",
    "the number of stations",
    tuple(QUERIES),
    workloads,
    tables,
    refused={"--config": "SRBench has no configuration"},
)
