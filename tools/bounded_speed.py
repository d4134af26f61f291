"""How fast a join with bounded memory takes elements.

    python -m tools.bounded_speed [--elements N] [--memory M] [--policy NAME]

A log of 20,000 users on 200 channels, popular ones more often, is joined with a programme guide.
Making the elements is not counted.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from itertools import islice

from conformance.bounded.workloads import WORKLOADS
from refengine.bounded import BoundedJoin
from refengine.bounded.names import parse_resources
from refengine.model.elements import Element

USERS, CHANNELS = 20_000, 200
BLOCK = 10_000  # elements made at a time
BASE = "http://example.org/"


def elements(count: int) -> Iterator[tuple[str, Element]]:
    """Yield elements 10 ms apart, of which every 30th is a programme, with their streams."""
    drawn = random.Random(1)
    for number in range(count):
        channel = f"<{BASE}channel-{int(drawn.paretovariate(1)) % CHANNELS}>"
        start = number * 10
        if number % 30 == 0:
            triple = (channel, f"<{BASE}plays>", f"<{BASE}program-{number}>")
            name, end = "guide", start + drawn.randrange(50_000)
        else:
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
