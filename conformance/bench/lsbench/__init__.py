"""LSBench: a social network, twelve queries over its streams, and whether engines answer them alike
(Le-Phuoc et al., Linked Stream Data Processing Engines: Facts and Figures, ISWC 2012).

`network`, `activity` and `static_data` make the data, `data` has them as sources of a run,
`queries.toml` has the queries, `features` their classes, and `tables` shows results beside what
the paper has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.bench.benchmark import Benchmark, Choice, Run, Workload
from conformance.bench.lsbench.activity import HOUR, Parameters
from conformance.bench.lsbench.data import Replay, static_source, streams_of
from conformance.bench.lsbench.declaration import (
    EXPERIMENTS,
    INSTANCE_QUERIES,
    ONE_PERSON,
    RATES,
    SEMANTICS,
    STATIC_QUERIES,
    WITNESSES,
    make_instance,
    queries,
    rates_of,
)
from conformance.bench.lsbench.measures import measure_output
from conformance.bench.lsbench.network import LEAST_USERS
from conformance.bench.lsbench.tables import tables
from conformance.bench.metrics.run import Reading
from conformance.bench.queries import shorten_windows
from conformance.bench.speed import speed_up
from refengine.model.errors import RefengineError
from refengine.oracle.judge import Judgement

# The windows of the scale small.
LONGEST_WINDOW_AT_RATE = 10_000  # ms; of queries at a rate
LEAST_SLIDE_AT_RATE = 5_000  # ms; of queries at a rate
LONGEST_WINDOW_OF_HOURS = 2 * HOUR  # ms; of queries at the streams' own times
LEAST_SLIDE_OF_HOURS = HOUR  # ms; of queries at the streams' own times
TIMES_FASTER = 900  # the streams' own times at the scale small: 15 min take a second


@dataclass(frozen=True)
class Size:
    """How much is run.

    `parameters` are those of the data. `crowd` is the number of users for queries at the streams'
    own times without static data, whose windows hold little else. `limits` are how many elements
    all streams of a query have together: of one stream, and of several; `person_limit` is that of
    the queries about one person, who seldom occurs (None: as of one stream). If
    `is_short`, windows are as the constants above say, and the streams' own times go faster.
    `at_both_rates` are the queries that are also run at the lower rate (empty: all).
    `users` and `instances` are the numbers of the two scalings. These have so many queries
    (`scaled_queries`), and each of their runs has `scaled` elements.
    """

    parameters: Parameters
    crowd: int
    limits: tuple[int, int]
    at_both_rates: tuple[str, ...]
    users: tuple[int, ...]
    instances: tuple[int, ...]
    scaled_queries: int
    scaled: int
    person_limit: int | None = None
    is_short: bool = False

    def limit_of(self, name: str) -> int:
        """Return how many elements all streams of a query have together."""
        if name in ONE_PERSON and self.person_limit is not None:
            return self.person_limit
        return self.limits[len(queries()[name].table["windows"]) > 1]


@dataclass(frozen=True)
class TestOptions:
    """What the tables need to know of a test: the query, the rate (None: the streams' own times),
    the number of users, and how many instances of the query are registered.
    """

    query: str
    rate: int | None
    users: int
    instances: int = 1


def size_of(choice: Choice) -> Size:
    """Return how much is run at a scale. Raises RefengineError."""
    if choice.scale == "paper":
        return Size(
            Parameters(1000, 10),
            crowd=1000,
            limits=(100_000, 30_000),
            at_both_rates=(),
            users=(1000, 3000, 10_000),
            instances=(1, 10, 30),
            scaled_queries=3,
            scaled=10_000,
        )
    if choice.scale == "small":
        return Size(
            Parameters(60, 10),
            crowd=400,
            limits=(300, 60),
            at_both_rates=("Q10",),
            users=(60, 120),
            instances=(1, 2),
            scaled_queries=1,
            scaled=100,
            person_limit=600,
            is_short=True,
        )
    users = int(choice.scale)
    if users < LEAST_USERS:
        raise RefengineError(
            f"a network has at least {LEAST_USERS} users, got {users}",
            rule="usage",
            place="--scale",
        )
    return Size(
        Parameters(users, 10),
        crowd=users,
        limits=(10_000, 10_000),
        at_both_rates=(),
        users=(users, 3 * users),
        instances=(1, 2, 4),
        scaled_queries=3,
        scaled=1_000,
    )


def workloads(choice: Choice) -> Sequence[Workload]:
    """Return the tests that were chosen. A number as scale is how many users there are. Raises
    RefengineError.
    """
    size = size_of(choice)
    chosen = choice.only or EXPERIMENTS
    return [
        replace(test, runs=choice.runs or 1)
        for experiment in chosen
        for test in _tests(experiment, size)
    ]


def _tests(experiment: str, size: Size) -> Iterator[Workload]:
    """Yield the tests of an experiment."""
    match experiment:
        case "users":
            for name in STATIC_QUERIES[: size.scaled_queries]:
                for users in size.users:
                    parameters = replace(size.parameters, users=users)
                    options = TestOptions(name, RATES[-1], users)
                    test = f"{name} with {users} users"
                    yield _workload(experiment, test, parameters, size.scaled, options)
        case "instances":
            for name in INSTANCE_QUERIES[: size.scaled_queries]:
                for instances in size.instances:
                    options = TestOptions(name, RATES[-1], size.parameters.users, instances)
                    test = f"{name} registered {instances} times"
                    yield _workload(experiment, test, size.parameters, size.scaled, options)
        case _:
            yield from _tests_of_query(experiment, size)


def _tests_of_query(name: str, size: Size) -> Iterator[Workload]:
    """Yield the tests of a query: one at each rate, or one at the streams' own times."""
    query = queries()[name]
    rates = rates_of(query)
    if size.at_both_rates and name not in size.at_both_rates:
        rates = rates[-1:]
    parameters = size.parameters
    if rates == (None,) and not query.graphs:
        parameters = replace(parameters, users=size.crowd)
    for rate in rates:
        options = TestOptions(name, rate, parameters.users)
        test = "own times" if rate is None else str(rate)
        workload = _workload(name, test, parameters, size.limit_of(name), options)
        yield _shorten(workload) if size.is_short else workload


def _shorten(workload: Workload) -> Workload:
    """Return a test with few windows, which is soon over."""
    options = workload.options
    assert isinstance(options, TestOptions)
    if options.rate is None:
        table = shorten_windows(workload.table, LONGEST_WINDOW_OF_HOURS, LEAST_SLIDE_OF_HOURS)
        return speed_up(replace(workload, table=table), TIMES_FASTER)
    table = shorten_windows(workload.table, LONGEST_WINDOW_AT_RATE, LEAST_SLIDE_AT_RATE)
    return replace(workload, table=table)


def _workload(
    experiment: str, test: str, parameters: Parameters, limit: int, options: TestOptions
) -> Workload:
    """Return a test."""
    query = queries()[options.query]
    streams = streams_of(query.table["windows"])
    replay = Replay(parameters, streams, options.rate, limit)
    return Workload(
        experiment,
        test,
        query.table,
        replay.sources(),
        SEMANTICS,
        static=static_source(parameters) if query.graphs else frozenset(),
        beside=[
            make_instance(query.table, number, parameters.users)
            for number in range(1, options.instances)
        ],
        witnesses=WITNESSES,
        reading=Reading.PLAIN,
        options=options,
    )


def measure(run: Run, judgement: Judgement | None) -> Mapping[str, Any]:
    """Return what the tables need: the test, the output, and its mismatch with what is due."""
    options = run.workload.options
    assert isinstance(options, TestOptions)
    return {
        "query": options.query,
        "rate": options.rate,
        "users": options.users,
        "instances": options.instances,
        **measure_output(run, judgement),
    }


LSBENCH = Benchmark(
    "lsbench",
    "LSBench",
    "Le-Phuoc et al., Linked Stream Data Processing Engines: Facts and Figures, ISWC 2012",
    "the number of users",
    EXPERIMENTS,
    workloads,
    tables,
    measure,
    refused=dict.fromkeys(
        ("--config", "--data"), "LSBench has no configuration, and makes its own data"
    ),
)
