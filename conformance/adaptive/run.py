"""A run: each window over each workload, with what is measured of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from conformance.adaptive.workloads import Workload
from conformance.metrics import joins
from conformance.report.drawings.charts import thin_out
from refengine.adaptive.join import Eviction, evictions_of
from refengine.adaptive.profiles import join_window
from refengine.adaptive.records import JoinRecord
from refengine.adaptive.window import JoinWindow

POINTS = 400  # of a curve, at most
DIGITS = 6  # of a figure

# the windows of a run, by the names that the tables give them
WINDOWS: Mapping[str, JoinWindow] = {
    "rmlstreamer": join_window("rmlstreamer"),
    "rmlstreamer-thesis": join_window("rmlstreamer-thesis"),
    "rmlstreamer-uncleared": join_window("rmlstreamer-uncleared"),
    "algorithm-1": join_window("algorithm-1"),
    "algorithm-1-clamped": join_window("algorithm-1", {"adaptation": {"clamped": True}}),
    "fixed": join_window("fixed"),
    "tumbling": join_window("tumbling"),
    "sliding": join_window("sliding"),
}
MODEL = "algorithm-1"  # whose mean duration fixed windows are given, too
FIXED_LIKE_MODEL = "fixed like algorithm-1"
TUMBLING_LIKE_MODEL = "tumbling like algorithm-1"


@dataclass(frozen=True)
class JoinFigures:
    """The figures of a window over a workload. Times are in ms of stream time.

    `evicted` is the number of windows that held records, `most_of_a_key` the greatest number of
    them that one key had. `by_key` is the mean of the keys' own intersections over unions. The two
    latencies are medians: since the later record of a match, and as the mean of both records'
    waits. `held` and `durations` are curves: the records held, and the mean duration of the windows
    that end at an instant.
    """

    workload: str
    window: str
    seconds: int
    seed: int
    records: int
    evicted: int
    most_of_a_key: int
    mean_duration: float
    expected: int
    emitted: int
    distinct: int
    intersection_over_union: float
    by_key: float
    completeness: float
    since_later: float | None
    mean_of_both: float | None
    most_held: int
    mean_held: float
    held: tuple[tuple[int, float], ...]
    durations: tuple[tuple[int, float], ...]

    def line(self) -> str:
        """Return the figures as a line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)


def figures_from(line: str) -> JoinFigures:
    """Return the figures of a line of JSON."""
    table: dict[str, Any] = json.loads(line)
    table["held"] = tuple((at, count) for at, count in table["held"])
    table["durations"] = tuple((at, duration) for at, duration in table["durations"])
    return JoinFigures(**table)


def run_workload(
    workload: Workload, windows: Iterable[str], seconds: int, seed: int
) -> Iterator[JoinFigures]:
    """Yield the figures of windows over a workload. If `algorithm-1` is one of them, a fixed and a
    tumbling window of its mean duration follow.
    """
    records = list(workload.records(seconds, seed))
    expected = joins.count_expected(records)
    chosen = {name: WINDOWS[name] for name in windows}
    for name, window in chosen.items():
        evictions = list(evictions_of(window, records))
        yield _figures(workload, (name, window), (seconds, seed), evictions, records, expected)
        if name == MODEL:
            length = max(1, round(joins.mean_duration(evictions)))
            yield from _like_model(workload, length, (seconds, seed), records, expected)


def _like_model(
    workload: Workload,
    length: int,
    run: tuple[int, int],
    records: Sequence[JoinRecord],
    expected: Mapping[str, int],
) -> Iterator[JoinFigures]:
    """Yield the figures of a fixed and of a tumbling window that are `length` ms long."""
    windows = {
        FIXED_LIKE_MODEL: replace(WINDOWS["fixed"], duration=length),
        TUMBLING_LIKE_MODEL: replace(WINDOWS["tumbling"], duration=length, slide=length),
    }
    for name, window in windows.items():
        evictions = list(evictions_of(window, records))
        yield _figures(workload, (name, window), run, evictions, records, expected)


def _figures(
    workload: Workload,
    named: tuple[str, JoinWindow],
    run: tuple[int, int],
    evictions: Sequence[Eviction],
    records: Sequence[JoinRecord],
    expected: Mapping[str, int],
) -> JoinFigures:
    """Return the figures of a window, with its name, from its evictions; `run` has the seconds and
    the seed.
    """
    name, window = named
    of_keys = joins.count_pairs(window, evictions, expected)
    pairs = joins.sum_pairs(of_keys.values())
    waits = joins.latencies(window, evictions)
    held = list(joins.held_records(evictions))
    mean_of_both = joins.median_of(waits.mean_of_both)
    return JoinFigures(
        workload=workload.name,
        window=name,
        seconds=run[0],
        seed=run[1],
        records=len(records),
        evicted=len(evictions),
        most_of_a_key=max(Counter(one.key for one in evictions).values(), default=0),
        mean_duration=round(float(joins.mean_duration(evictions)), DIGITS),
        expected=pairs.expected,
        emitted=pairs.emitted,
        distinct=pairs.distinct,
        intersection_over_union=round(float(pairs.intersection_over_union), DIGITS),
        by_key=round(fmean(float(one.intersection_over_union) for one in of_keys.values()), DIGITS),
        completeness=round(float(pairs.completeness), DIGITS),
        since_later=joins.median_of(waits.since_later),
        mean_of_both=None if mean_of_both is None else mean_of_both / 2,
        most_held=max((count for _, count in held), default=0),
        mean_held=round(float(joins.mean_held(held)), DIGITS),
        held=_curve(held),
        durations=_curve(_durations(evictions)),
    )


def _curve(points: Sequence[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Return about `POINTS` points of a curve at most, the last one among them."""
    chosen = [*thin_out(points, POINTS), *points[-1:]]
    return tuple((int(at), value) for at, value in dict(chosen).items())


def _durations(evictions: Iterable[Eviction]) -> list[tuple[int, float]]:
    """Return (instant, mean duration of the windows that end there), in order."""
    lengths: dict[int, list[int]] = {}
    for eviction in evictions:
        lengths.setdefault(eviction.at, []).append(eviction.at - eviction.opened)
    return [(at, round(fmean(lengths[at]), DIGITS)) for at in sorted(lengths)]
