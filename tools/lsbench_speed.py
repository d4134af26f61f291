"""What LSBench's data cost to make: CPU seconds and memory by the number of users and of days, and
the slopes of log seconds against log numbers. A slope of 1 is linear.

    python -m tools.lsbench_speed [--users N ...] [--days N ...]

Each measurement is a process of its own, which makes the network, the static data and all five
streams, and writes nothing. First the users vary, over the first number of days, and then the days,
with the first number of users. Of 100 users few days have an event with positions, so that sizes
are in proportion to users and days over ten days and more alone.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from math import log

from conformance.bench.lsbench.activity import Parameters
from conformance.bench.lsbench.data import count_triples
from tools.lsbench import collect_garbage_seldom
from tools.sg1 import whole


def measure(users: int, days: int) -> tuple[int, float, int]:
    """Return how many triples the data have, the CPU seconds of making them, and the greatest
    memory of this process in MiB.
    """
    collect_garbage_seldom()
    began = time.process_time()
    triples = sum(count_triples(Parameters(users, days)).values())
    seconds = time.process_time() - began
    return triples, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure_apart(users: int, days: int) -> tuple[int, float, int]:
    """Return the same, measured in a process of its own."""
    command = [sys.executable, "-m", "tools.lsbench_speed", "--one", str(users), str(days)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    triples, seconds, memory = done.stdout.split()
    return int(triples), float(seconds), int(memory)


def show(name: str, numbers: Sequence[int], runs: Sequence[tuple[int, float, int]]) -> None:
    """Print a row for each number, and the slopes between them."""
    for number, (triples, seconds, memory) in zip(numbers, runs, strict=True):
        print(f"| {number:,} {name} | {triples:,} | {seconds:.1f} | {memory} |", flush=True)
    slopes = [
        log(later[1] / earlier[1]) / log(greater / less)
        for (less, greater), (earlier, later) in zip(pairwise(numbers), pairwise(runs), strict=True)
    ]
    print(f"slopes by {name}: {', '.join(f'{slope:.2f}' for slope in slopes)}", flush=True)


def main() -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="lsbench_speed", description=__doc__)
    parser.add_argument("--users", type=whole, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--days", type=whole, nargs="+", default=[10, 40])
    parser.add_argument("--one", type=whole, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(*measure(*options.one))
        return 0
    print("| data | triples | CPU s | MiB |")
    print("|---|---|---|---|")
    day = options.days[0]
    show("users", options.users, [measure_apart(users, day) for users in options.users])
    users = options.users[0]
    show("days", options.days, [measure_apart(users, days) for days in options.days])
    return 0


if __name__ == "__main__":
    sys.exit(main())
