"""What processes use over time: the CPU percentage between two samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

MEBIBYTE = 1024 * 1024  # bytes
LEAST_STEP = 0.001  # seconds between two samples; nearer ones say nothing about a rate


def cpu_percents(samples: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield for each sample but the first its instant and the CPU time since the sample before, in
    percent of one core. A sample has an instant and the CPU time so far, both in seconds.

    A sample in the same ms as the one before is left out. A CPU time that falls counts as 0: a
    process has ended.

    >>> list(cpu_percents([(0.0, 0.5), (0.5, 0.75), (1.0, 0.5)]))
    [(0.5, 50.0), (1.0, 0.0)]
    """
    for (before, cpu_before), (after, cpu_after) in pairwise(samples):
        if after - before >= LEAST_STEP:
            yield after, 100 * max(0, cpu_after - cpu_before) / (after - before)
