"""The workloads `lsbench`, `srbench` and `city`: queries, streams and static data of LSBench,
SRBench and CityBench, as `conformance.bench` declares them.

What differs from a run of `python -m conformance bench`: each window slides at every change, and
each change of a content is a report, so that time can be told for each element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import islice
from typing import Any

from conformance.bench.benchmark import Choice
from conformance.bench.citybench import CITYBENCH
from conformance.bench.citybench.queries import QUERIES as CITY_QUERIES
from conformance.bench.lsbench import declaration
from conformance.bench.lsbench.activity import Parameters as Network
from conformance.bench.lsbench.data import Replay, static_source, streams_of
from conformance.bench.srbench import QUERIES as SR_QUERIES
from conformance.bench.srbench import SRBENCH
from conformance.bench.srbench.observations import STREAM, stream_lines
from conformance.bench.srbench.observations import Parameters as Weather
from conformance.bench.streams import GeneratedStream
from refengine import from_table, stream
from refengine.core.question import Question, Setting
from refengine.model.elements import Dataset, Triple
from refengine.model.errors import require
from refengine.rdf.lines import parse_line_with_time
from tools.bench.generated import HOUR, MINUTE, report_each_change

# Q7, Q11 and Q12 have windows of hours. At a rate these would hold the whole stream.
LSBENCH_QUERIES = tuple(
    name for name, query in declaration.queries().items() if None not in declaration.rates_of(query)
)
SRBENCH_QUERIES = tuple(SR_QUERIES)
CITYBENCH_QUERIES = tuple(CITY_QUERIES)

RATE = 1000  # elements of LSBench a second
LEAST_DAYS = 10  # of LSBench's network
USER_DAYS = 40_000  # at least; they publish some 180,000 triples of posts, and more of all else

SEED = 2012  # of SRBench's stream
STATIONS = 100  # as at SRBench's scale `paper`
# An average of floats next to one of the limits of these queries has no single answer, since it may
# be rounded to either side (R2R-16). Of more stations each has fewer observations, and with so many
# none of the averages is next to a limit.
STATIONS_OF_QUERIES = {"Q9": 200, "Q13": 500}
LEAST_TRIPLES = 50  # of a station, each time that it observes
INTERVALS = {HOUR: 30 * MINUTE, 24 * HOUR: 6 * HOUR}  # between observations, by the windows' size

LEAST_TRIPLES_A_SECOND = 4  # of a sensor of CityBench

Item = tuple[int, str, Triple]  # the instant (ms), the stream and the triple of an element


def lsbench_setting(query: str, elements: int, users: int) -> Setting:
    """Return a query of LSBench over so many elements of its streams, one a millisecond, beside the
    static data of so many users. Of few users there are more days, so that enough happens.
    """
    declared = declaration.queries()[query]
    parameters = Network(users, max(LEAST_DAYS, USER_DAYS // users))
    replay = Replay(parameters, streams_of(declared.table["windows"]), RATE, elements)
    static: Dataset = frozenset()
    if declared.graphs:
        static = static_source(parameters).load()
    return ask_at_each_change(declared.table, replay.sources(), elements, static)


def srbench_setting(query: str, elements: int, stations: int | None = None) -> Setting:
    """Return a query of SRBench over so many elements. A window over hours has two observations of
    each station for each hour, and one over days four for each day.
    """
    if stations is None:
        stations = STATIONS_OF_QUERIES.get(query, STATIONS)
    [workload] = SRBENCH.workloads(Choice(scale=stations, only=(query,)))
    size = workload.table["windows"][0]["size"]
    interval = INTERVALS[24 * HOUR if size >= 24 * HOUR else HOUR]
    # The second half of the duration is left out, in which each fifth station is silent.
    duration = 2 * interval * (2 + elements // (LEAST_TRIPLES * stations))
    parameters = Weather(SEED, stations, duration, interval)
    source = GeneratedStream("observations.n3t", lambda: stream_lines(parameters))
    return ask_at_each_change(
        workload.table, {STREAM: source}, elements, workload.static_source.load()
    )


def citybench_setting(query: str, elements: int) -> Setting:
    """Return a query of CityBench over so many elements of its sensors, which report once a
    second.
    """
    seconds = 1 + elements // LEAST_TRIPLES_A_SECOND
    if query == "Q11":  # the weather is silent half of the time
        seconds *= 2
    [workload] = CITYBENCH.workloads(Choice(scale=seconds + 6, only=(query,)))
    sources = {}
    for name, source in workload.streams.items():
        assert isinstance(source, GeneratedStream)  # there are no data of a user
        sources[name] = source
    return ask_at_each_change(workload.table, sources, elements, workload.static_source.load())


def ask_at_each_change(
    table: Mapping[str, Any],
    sources: Mapping[str, GeneratedStream],
    elements: int,
    static: Dataset,
) -> Setting:
    """Return a query over the first `elements` of its streams together, in the order of time, under
    the semantics of `report_each_change`. Its windows are of kind `range`, and have no slide.
    """
    windows = [{**window, "kind": "range", "slide": None} for window in table["windows"]]
    changed = {
        "windows": [{key: value for key, value in each.items() if value} for each in windows],
        "body": table["body"],
    }
    items: dict[str, list[tuple[Triple, int]]] = {name: [] for name in sources}
    merged = merge(*(_items(name, source.lines()) for name, source in sources.items()), key=_time)
    for time, name, triple in islice(merged, elements):
        items[name].append((triple, time))
    streams = {name: stream(each) for name, each in items.items()}
    return Question(from_table(changed), streams, static).under(report_each_change())


def _items(name: str, lines: Iterable[str]) -> Iterator[Item]:
    """Yield the elements of a stream from its lines."""
    for line in lines:
        triple, time = require(parse_line_with_time(line, name))
        yield time, name, triple


def _time(item: Item) -> int:
    """Return the instant of an element."""
    return item[0]
