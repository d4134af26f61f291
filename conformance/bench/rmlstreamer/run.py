"""A run: each window over each workload, with what is measured of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from statistics import fmean
from typing import Any

from conformance.bench.rmlstreamer import measures
from conformance.bench.rmlstreamer.workloads import Workload
from conformance.report.drawings.curves import thin_out
from refengine.joins.adaptive_join import Eviction, find_evictions
from refengine.joins.join_profiles import join_window
from refengine.joins.window import JoinWindow

POINTS = 400  # of a curve, about
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
    # these hold about as many records as algorithm-1 does where keys last
    "fixed-6s": join_window("fixed", {"duration": 6000}),
    "fixed-7s": join_window("fixed", {"duration": 7000}),
    "tumbling-7s": join_window("tumbling", {"duration": 7000, "slide": 7000}),
}


@dataclass(frozen=True)
class JoinFigures:
    """The figures of a window over a workload. Times are in ms of stream time.

    `windows` is the number of windows that held records, `most_of_a_key` the greatest number of
    them that one key had. `whole_join`, `matches` and `different_pairs` are those of `PairCounts`.
    `by_key` is the mean of the keys' own intersections over unions. The two
    latencies are medians: since the later record of a match, and as the mean of both records'
    waits. `held_curve` has the records held over time, `duration_curve` the mean duration of the
    windows that end at an instant.
    """

    workload: str
    window: str
    seconds: int
    seed: int
    records: int
    windows: int
    most_of_a_key: int
    mean_duration: float
    whole_join: int
    matches: int
    different_pairs: int
    intersection_over_union: float
    by_key: float
    completeness: float
    since_later: float | None
    mean_of_both: float | None
    most_held: int
    mean_held: float
    held_curve: tuple[tuple[int, float], ...]
    duration_curve: tuple[tuple[int, float], ...]

    def to_json_line(self) -> str:
        """Return the figures as a line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)


def run_workload(
    workload: Workload, windows: Iterable[str], seconds: int, seed: int
) -> Iterator[JoinFigures]:
    """Yield the figures of windows over a workload."""
    records = list(workload.records(seconds, seed))
    whole_join = measures.count_whole_join(records)
    for name in windows:
        window = WINDOWS[name]
        evictions = list(find_evictions(window, records))
        yield JoinFigures(
            workload=workload.name,
            window=name,
            seconds=seconds,
            seed=seed,
            records=len(records),
            **_measure(window, evictions, whole_join),
        )


def _measure(
    window: JoinWindow, evictions: Sequence[Eviction], whole_join: Mapping[str, int]
) -> dict[str, Any]:
    """Return what is measured of a window, by the fields of `JoinFigures`."""
    of_keys = measures.count_pairs(window, evictions, whole_join)
    pairs = measures.sum_pairs(of_keys.values())
    unions = [float(one.intersection_over_union) for one in of_keys.values()]
    waits = measures.count_latencies(window, evictions)
    sum_of_waits = measures.median_of(waits.sum_of_waits)
    held = list(measures.count_held_records(evictions))
    return {
        **pairs._asdict(),
        "windows": len(evictions),
        "most_of_a_key": max(Counter(one.key for one in evictions).values(), default=0),
        "mean_duration": _round(measures.mean_duration(evictions)),
        "intersection_over_union": _round(pairs.intersection_over_union),
        "by_key": _round(fmean(unions)),
        "completeness": _round(pairs.completeness),
        "since_later": measures.median_of(waits.since_later),
        "mean_of_both": None if sum_of_waits is None else sum_of_waits / 2,
        "most_held": max((count for _, count in held), default=0),
        "mean_held": _round(measures.mean_held(held)),
        "held_curve": _thin_out_curve(held),
        "duration_curve": _thin_out_curve(_collect_durations(evictions)),
    }


def _round(figure: Fraction | float) -> float:
    """Return a figure as it is written."""
    return round(float(figure), DIGITS)


def _thin_out_curve(points: Sequence[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Return about `POINTS` points of a curve, the last one among them."""
    chosen = [*thin_out(points, POINTS), *points[-1:]]
    return tuple((int(at), value) for at, value in dict(chosen).items())


def _collect_durations(evictions: Iterable[Eviction]) -> list[tuple[int, float]]:
    """Return (instant, mean duration of the windows that end there), in order."""
    lengths: dict[int, list[int]] = {}
    for eviction in evictions:
        lengths.setdefault(eviction.end, []).append(eviction.end - eviction.opened)
    return [(at, _round(fmean(lengths[at]))) for at in sorted(lengths)]
