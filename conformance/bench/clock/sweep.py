"""A sweep: runs of a join under every policy, memory and seed, each measured against the unlimited
run of the same streams.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from conformance.bench.clock.workloads import JoinWorkload
from conformance.verdict.journal import JournalForm
from refengine.joins.measures import Score, UnlimitedRun, measure, run_unlimited
from refengine.joins.memory import bounded_sources
from refengine.joins.resource_texts import parse_resources
from refengine.model.errors import RefengineError
from refengine.model.messages import display

SAMPLES = 240  # points of the curve of the memory that is needed


class SweepTask(NamedTuple):
    """One run of a sweep: the names of its workload and its policy, its memory as it was given, and
    its seed.
    """

    workload: str
    policy: str
    memory: str
    seed: int


@dataclass(frozen=True)
class RunFigures:
    """What one run measured: its task, the memory in bindings, the scores of BND-8, and how many
    elements it took in how many CPU seconds.
    """

    workload: str
    policy: str
    memory: str
    seed: int
    bindings: int
    expected: int
    found: int
    right: int
    stressed_expected: int
    stressed_found: int
    stressed_right: int
    most_held: int
    elements: int
    cpu_seconds: float

    @property
    def task(self) -> SweepTask:
        """The task that it is of."""
        return SweepTask(self.workload, self.policy, self.memory, self.seed)

    @property
    def overall(self) -> Score:
        """The score of all arrivals that count."""
        return Score(self.expected, self.found, self.right)

    @property
    def stressed(self) -> Score:
        """The score of the arrivals under stress."""
        return Score(self.stressed_expected, self.stressed_found, self.stressed_right)

    def line(self) -> str:
        """Return the line of JSON of the run."""
        return json.dumps(asdict(self))


def figures_from(line: str) -> RunFigures:
    """Return the run of a line of JSON. Raises ValueError or TypeError for another line."""
    return RunFigures(**json.loads(line))


SWEEPS: JournalForm[RunFigures, SweepTask] = JournalForm(
    lambda run: run.task,
    RunFigures.line,
    lambda table: RunFigures(**table),
    "runs of another sweep: of another query, stream or measure",
)


@lru_cache(maxsize=1)
def prepare(workload: JoinWorkload, seed: int) -> UnlimitedRun:
    """Return the unlimited run over the streams of a seed. The last one is kept."""
    return run_unlimited(workload.query, workload.streams_of(seed))


def tasks_of(
    workload: JoinWorkload, policies: Sequence[str], memories: Sequence[str], seeds: int
) -> list[SweepTask]:
    """Return the tasks of a workload, seed by seed. Where neither the streams depend on the seed
    nor the policy, since it draws nothing or names a seed of its own, there is one seed. Raises
    RefengineError for a policy or a memory that is none.
    """
    tasks = []
    for seed, policy, memory in product(range(seeds), policies, memories):
        is_seeded = parse_resources(policy, 1, seed) != parse_resources(policy, 1, 0)
        memory_in_bindings(memory, 100)
        bounded_sources(workload.query, parse_resources(policy, 1, seed).only)
        if seed == 0 or workload.is_drawn or is_seeded:
            tasks.append(SweepTask(workload.name, policy, memory, seed))
    return tasks


def memory_in_bindings(memory: str, most_needed: int) -> int:
    """BND-8: Return how many bindings a memory is: `100`, or a share of what is needed, as `5%`.

    >>> memory_in_bindings("5%", 2880), memory_in_bindings("5%", 10), memory_in_bindings("100", 7)
    (144, 1, 100)
    """
    number = memory.removesuffix("%")
    if not (number.isascii() and number.isdigit() and 0 < len(number) < 10 and int(number)):
        reason = f"expected a number of bindings or a share such as 5%, got {display(memory)}"
        raise RefengineError(reason, rule="BND-3", place="--memory")
    if memory.endswith("%"):
        return max(1, most_needed * int(number) // 100)
    return int(number)


def run_task(workload: JoinWorkload, task: SweepTask) -> RunFigures:
    """Run one task. Raises RefengineError."""
    unlimited = prepare(workload, task.seed if workload.is_drawn else 0)
    unbounded = parse_resources(task.policy, None, task.seed)
    needed = unlimited.needed(bounded_sources(workload.query, unbounded.only))
    bindings = memory_in_bindings(task.memory, max(needed, default=0))
    resources = replace(unbounded, memory=bindings)
    began = time.process_time()
    figures = measure(workload.query, resources, unlimited, workload.measuring)
    seconds = time.process_time() - began
    return RunFigures(
        *task,
        bindings,
        *figures.overall,
        *figures.stressed,
        figures.most_held,
        figures.elements,
        round(seconds, 3),
    )


def needed_over_time(workload: JoinWorkload) -> Iterator[tuple[int, int]]:
    """Yield instants with the memory that is needed then, of the streams of seed 0: of each span
    of elements the one that needs most.
    """
    unlimited = prepare(workload, 0)
    every = [sum(held) for held in unlimited.held]
    step = max(1, len(every) // SAMPLES)
    for first in range(0, len(every), step):
        needed = every[first : first + step]
        place = first + needed.index(max(needed))
        yield unlimited.elements[place].time, every[place]
