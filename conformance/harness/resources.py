"""What the processes of a harness use: memory, CPU and threads, sampled while an engine works."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple

import psutil

SAMPLE_INTERVAL = 0.5  # seconds between two samples of resources, as in YABench


class ResourceUse(NamedTuple):
    """What some processes use together: resident bytes, CPU seconds since their start, threads."""

    rss: int
    cpu: float
    threads: int


class Sample(NamedTuple):
    """A sample of the resources that all processes of a harness use together: seconds since its
    start, resident bytes, CPU seconds, threads.

    `engine` is the share of the processes that the harness has started, None if it has started
    none: then the engine runs in the process of its harness, or the two cannot be told apart.
    """

    at: float
    rss: int
    cpu: float
    threads: int
    engine: ResourceUse | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the sample as a JSON object. `engine` is left out where it is None."""
        table: dict[str, Any] = {
            "at": self.at,
            "rss": self.rss,
            "cpu": self.cpu,
            "threads": self.threads,
        }
        if self.engine is not None:
            table["engine"] = self.engine._asdict()
        return table


def measure_use(processes: Iterable[psutil.Process]) -> ResourceUse:
    """Return what processes use together at this moment. Raises psutil.Error for one that has
    ended.
    """
    rss, cpu, threads = 0, 0.0, 0
    for process in processes:
        with process.oneshot():
            rss += process.memory_info().rss
            cpu += sum(process.cpu_times()[:2])
            threads += process.num_threads()
    return ResourceUse(rss, round(cpu, 3), threads)


class ResourceSampler:
    """Samples a process and all its descendants in a thread, from entering the context to leaving
    it, whether they answer or wait.

    `samples` are the samples so far. `cost` is the CPU time of the sampling itself, in seconds. It
    is not in the samples, since this process takes them.

    Resident memory counts a page once for each process that shares it. CPU seconds of a descendant
    that has ended still count.
    """

    def __init__(self, process: int, interval: float = SAMPLE_INTERVAL) -> None:
        self.samples: list[Sample] = []
        self.cost = 0.0
        self._process = process
        self._interval = interval
        self._cpu_of_started: dict[psutil.Process, float] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ResourceSampler:
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        """Take a sample at each interval, and a last one at the end."""
        is_over = False
        while not is_over:
            before = time.thread_time()
            with suppress(psutil.Error):  # the harness may have ended
                self.samples.append(self._sample())
            self.cost += time.thread_time() - before
            is_over = self._is_over.is_set()
            if not is_over:
                self._is_over.wait(self._interval)

    def _sample(self) -> Sample:
        """Take one sample. Raises psutil.Error if the harness has ended."""
        leader = psutil.Process(self._process)
        rss, threads = 0, 0
        for descendant in leader.children(recursive=True):
            with suppress(psutil.Error):  # it has ended meanwhile
                use = measure_use([descendant])
                rss += use.rss
                threads += use.threads
                self._cpu_of_started[descendant] = use.cpu
        own = measure_use([leader])
        engine = None
        if self._cpu_of_started:
            engine = ResourceUse(rss, round(sum(self._cpu_of_started.values()), 3), threads)
        at = round(time.monotonic() - self._began, 3)
        cpu = round(own.cpu + sum(self._cpu_of_started.values()), 3)
        return Sample(at, own.rss + rss, cpu, own.threads + threads, engine)
