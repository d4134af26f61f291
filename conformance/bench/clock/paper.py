"""The recall that CLOCK's paper reports (Gao, Scharrenbach, Bernstein, ESWC 2014, Fig. 5), and what
our runs say of its orderings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import sqrt
from statistics import mean, stdev
from typing import NamedTuple

from conformance.bench.clock.sweep import RunFigures

POLICIES = ("lru", "clock-exp:0.25", "clock-exp:0.5", "clock-exp:0.75", "clock-exp:0.95", "clock")
# workload -> what is added to the paper's policies there, as the simulation of its authors has them
ADDED = {
    "wind-coded": {
        "lru": "clock:most=2:w0=0:credit=results",
        "clock": "clock:w0=0:credit=results",
        "clock-exp": ":w0=0:credit=agreeing",
    },
    "viewing-coded": {
        "lru": "clock:most=2+gc+only:guide",
        "clock": "clock+gc+only:guide",
        "clock-exp": "+gc+only:guide",
    },
}
# workload -> policies that are run besides: the simulation's own LRU, which moves no binding in the
# wind, and collects nothing in viewing; and the clocks with the same credit
BESIDES = {
    "wind-coded": ("fifo", "clock:w0=0:credit=agreeing", "clock-exp:0.95:w0=0:credit=results"),
    "viewing-coded": ("lru+only:guide", "lru+gc+only:guide"),
}
_VIEWING: dict[str, tuple[float, ...]] = {
    "50%": (0.964, 0.964, 0.932, 0.965, 0.961, 0.956),
    "25%": (0.635, 0.865, 0.818, 0.789, 0.761, 0.799),
    "15%": (0.529, 0.740, 0.762, 0.753, 0.694, 0.751),
    "1%": (0.446, 0.526, 0.683, 0.683, 0.622, 0.685),
}
_WIND: dict[str, tuple[float, ...]] = {
    "60%": (0.972, 0.991, 0.998, 0.999, 0.999, 0.997),
    "40%": (0.919, 0.966, 0.989, 0.997, 0.998, 0.992),
    "20%": (0.786, 0.875, 0.936, 0.965, 0.979, 0.967),
    "10%": (0.571, 0.654, 0.770, 0.852, 0.896, 0.875),
    "5%": (0.266, 0.291, 0.413, 0.545, 0.650, 0.567),
}
# workload -> memory -> the recall of each policy
RECALL: dict[str, dict[str, tuple[float, ...]]] = {
    "wind": _WIND,
    "wind-near": _WIND,
    "viewing": _VIEWING,
    "wind-coded": _WIND,
    "viewing-coded": _VIEWING,
}
# two-sided 95 % quantiles of Student's t, by degrees of freedom; the normal one stands beyond them
STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip


def text_of(workload: str, policy: str) -> str:
    """Return the text of the policy that is run in a workload for one of the paper's.

    >>> text_of("wind", "clock-exp:0.5"), text_of("viewing-coded", "clock-exp:0.5")
    ('clock-exp:0.5', 'clock-exp:0.5+gc+only:guide')
    """
    added = ADDED.get(workload, {})
    if policy in added:
        return added[policy]
    if policy.startswith("clock-exp"):
        return policy + added.get("clock-exp", "")
    return policy


def policies_of(workload: str) -> list[str]:
    """Return the policies that are run in a workload: the paper's, and some besides."""
    return [*(text_of(workload, policy) for policy in POLICIES), *BESIDES.get(workload, ())]


def published_recall(workload: str, memory: str) -> dict[str, float]:
    """Return the paper's recall in a workload with a memory, by the texts of the policies."""
    values = RECALL.get(workload, {}).get(memory)
    if values is None:
        return {}
    return {text_of(workload, one): value for one, value in zip(POLICIES, values, strict=True)}


class Estimate(NamedTuple):
    """A mean, and half the width of its 95 % confidence interval; None for a single value."""

    mean: float
    half_width: float | None

    def __str__(self) -> str:
        if self.half_width is None:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ± {self.half_width:.3f}"


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of values with its confidence interval, by Student's t.

    >>> str(estimate([0.1, 0.2, 0.3]))
    '0.200 ± 0.248'
    """
    if len(values) < 2:
        return Estimate(values[0], None)
    quantile = 1.96
    if len(values) - 2 < len(STUDENT):
        quantile = STUDENT[len(values) - 2]
    return Estimate(mean(values), quantile * stdev(values) / sqrt(len(values)))


class Ordering(NamedTuple):
    """Two policies at one memory: the paper's difference of recall, ours, and what follows:
    `agrees`, `differs`, or `open` if our interval holds 0 or the paper has a tie.
    """

    workload: str
    memory: str
    first: str
    second: str
    published: float
    ours: Estimate
    verdict: str


def orderings(runs: Sequence[RunFigures]) -> Iterator[Ordering]:
    """Yield the orderings of all pairs of the paper's policies at each of its memories, for the
    workloads that were run. Differences are taken seed by seed.
    """
    recalls: dict[tuple[str, str, str], dict[int, float]] = {}
    for run in runs:
        by_seed = recalls.setdefault((run.workload, run.memory, run.policy), {})
        by_seed[run.seed] = run.overall.recall
    for workload, memories in RECALL.items():
        for memory in memories:
            rows = published_recall(workload, memory)
            for first, second in combinations(rows, 2):
                one = recalls.get((workload, memory, first), {})
                two = recalls.get((workload, memory, second), {})
                seeds = sorted(one.keys() & two.keys())
                if len(seeds) > 1:
                    ours = estimate([one[seed] - two[seed] for seed in seeds])
                    difference = rows[first] - rows[second]
                    verdict = _verdict(difference, ours)
                    yield Ordering(workload, memory, first, second, difference, ours, verdict)


def _verdict(published: float, ours: Estimate) -> str:
    """Return what our difference says of the paper's."""
    half_width = ours.half_width or 0.0
    if abs(ours.mean) <= half_width or abs(published) < 0.0005:
        return "open"
    return "agrees" if (ours.mean > 0) == (published > 0) else "differs"


def counts_of_verdicts(found: Sequence[Ordering]) -> Mapping[tuple[str, str], Mapping[str, int]]:
    """Return how many pairs of each workload and memory agree, differ or are open."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for one in found:
        by_verdict = counts.setdefault((one.workload, one.memory), {})
        by_verdict[one.verdict] = by_verdict.get(one.verdict, 0) + 1
    return counts
