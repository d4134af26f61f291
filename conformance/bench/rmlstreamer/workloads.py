"""The workloads on which RMLStreamer's dynamic window was evaluated, made anew from what their
generator does (Klarrio/open-stream-processing-benchmark, ConstantRatePublisher and
PeriodicBurstPublisher), and some beside them.

The data are measurements of traffic by lane: a flow and a speed for each lane, so that the two
streams have equally many records. A record's time is that of its sending. Its key is the lane and
the second to which its sending is *rounded*: those sent in the second half of a second have the key
of the next one. (The published key has the place of the measuring point, too. Here a lane has one
place, so that this changes nothing.) So the records of one key span a second, from half a second
before it to half a second after it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from refengine.joins.records import JoinRecord, Side

SECOND = 1000  # ms
BATCHES = 10  # in a second
BATCH_GAP = 100  # ms from the start of a batch to that of the next one
GROUP_GAP = 5  # ms from a group of two observations to the next one


@dataclass(frozen=True)
class Workload:
    """A workload.

    `title` says in words what it is. `lanes` lanes send a flow and a speed in each batch, `copies`
    of each. A key is a lane in `key_span` ms. Each `burst_period` ms, from `first_burst` ms on, a
    burst takes the place of the second: `burst_copies` of each record in each batch, all of them
    within `burst_length` ms, whose bounds are included. A period of 0 means no bursts.
    """

    name: str
    title: str
    lanes: int
    copies: int = 1
    key_span: int = SECOND
    burst_period: int = 0
    first_burst: int = 0
    burst_copies: int = 0
    burst_length: tuple[int, int] = (170, 180)

    def has_burst(self, second: int) -> bool:
        """Whether a burst is sent in a second."""
        if self.burst_period == 0:
            return False
        return second * SECOND % self.burst_period == self.first_burst

    def records(self, seconds: int, seed: int) -> Iterator[JoinRecord]:
        """Yield the records of so many seconds in order. The seed decides the order of the lanes in
        each second and the length of each burst.
        """
        drawn = random.Random(f"{self.name} {seed}")
        number = 0
        for second in range(seconds):
            observations = [(lane, side) for lane in range(self.lanes) for side in Side]
            drawn.shuffle(observations)
            if self.has_burst(second):
                sendings = self._burst(second, observations, drawn.randint(*self.burst_length))
            else:
                sendings = self._steady(second, observations)
            for at, lane, side in sendings:
                number += 1
                yield JoinRecord(side, at, self._key(lane, at), f"{side}{number}")

    def _steady(
        self, second: int, observations: list[tuple[int, Side]]
    ) -> Iterator[tuple[int, int, Side]]:
        """Yield the time, lane and side of each record of a second at the constant rate: ten
        batches, 100 ms apart, of two observations each 5 ms, each in `copies` records.
        """
        for batch in range(BATCHES):
            for place, (lane, side) in enumerate(observations):
                at = second * SECOND + batch * BATCH_GAP + place // 2 * GROUP_GAP
                for _ in range(self.copies):
                    yield at, lane, side

    def _burst(
        self, second: int, observations: list[tuple[int, Side]], length: int
    ) -> Iterator[tuple[int, int, Side]]:
        """Yield the time, lane and side of each record of a burst, evenly over its length."""
        total = BATCHES * len(observations) * self.burst_copies
        number = 0
        for _ in range(BATCHES):
            for lane, side in observations:
                for _ in range(self.burst_copies):
                    yield second * SECOND + number * length // total, lane, side
                    number += 1

    def _key(self, lane: int, at: int) -> str:
        """Return the key of a record: its lane, and the span to which its time is rounded."""
        rounded = (at + SECOND // 2) // SECOND * SECOND
        return f"lane {lane} at {rounded // self.key_span * self.key_span}"


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("constant", "constant, 400 records/s", lanes=20),
        Workload(
            "ndw", "constant, 1,140 records/s, as the NDW sample has them", lanes=19, copies=3
        ),
        Workload(
            "periodic",
            "380 records/s; every 10 s, on an even second, 38,000 within 170 to 180 ms instead",
            lanes=19,
            burst_period=10 * SECOND,
            burst_copies=100,
        ),
        Workload(
            "periodic-odd",
            "380 records/s; every 10 s, on an odd second, 38,000 within 170 to 180 ms instead",
            lanes=19,
            burst_period=10 * SECOND,
            first_burst=5 * SECOND,
            burst_copies=100,
        ),
        Workload(
            "long-keys", "constant, 400 records/s, with keys of 20 s", lanes=20, key_span=20_000
        ),
        Workload(
            "periodic-long-keys",
            "380 records/s; every 10 s 38,000 within 170 to 180 ms instead; keys of 20 s",
            lanes=19,
            key_span=20_000,
            burst_period=10 * SECOND,
            burst_copies=100,
        ),
    )
}
