"""How fast a join with bounded memory takes elements.

    python -m tools.bounded_speed [--elements N] [--memory M] [--policy NAME]

A log of 20,000 users on 200 channels, by Zipf's law, is joined with a programme guide in which a
channel has a programme each minute.
Making the elements is not counted.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from itertools import accumulate, islice

from conformance.bench.clock.workloads import WORKLOADS
from refengine.joins import BoundedJoin
from refengine.joins.resource_texts import parse_resources
from refengine.model.elements import Element

USERS, CHANNELS = 20_000, 200
BLOCK = 10_000  # elements made at a time
BASE = "http://example.org/"


def elements(count: int) -> Iterator[tuple[str, Element]]:
    """Yield elements 10 ms apart, of which every 30th is a programme, with their streams."""
    drawn = random.Random(1)
    cumulated = list(accumulate(1 / (rank + 1) for rank in range(CHANNELS)))
    for number in range(count):
        start = number * 10
        if number % 30 == 0:
            channel = f"<{BASE}channel-{number // 30 % CHANNELS}>"
            triple = (channel, f"<{BASE}plays>", f"<{BASE}program-{number}>")
            name, end = "guide", start + drawn.randrange(50_000)
        else:
            (chosen,) = drawn.choices(range(CHANNELS), cum_weights=cumulated)
            channel = f"<{BASE}channel-{chosen}>"
            user = f"<{BASE}user-{drawn.randrange(USERS)}>"
            triple = (user, f"<{BASE}watches>", channel)
            name, end = "log", start + drawn.randrange(20_000)
        yield name, Element(frozenset([triple]), start, number + 1, None, end)


def main() -> None:
    """Push the elements, and print a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--elements", type=int, default=1_000_000)
    parser.add_argument("--memory", type=int, default=10_000)
    parser.add_argument("--policy", default="clock")
    options = parser.parse_args()
    resources = parse_resources(options.policy, options.memory)
    join = BoundedJoin(WORKLOADS["viewing"].query, resources)
    source = elements(options.elements)
    seconds, results = 0.0, 0
    while block := list(islice(source, BLOCK)):
        began = time.process_time()
        for name, element in block:
            results += len(join.push(name, element))
        seconds += time.process_time() - began
    figures = {**vars(options), "results": results, "cpu_seconds": round(seconds, 2)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
