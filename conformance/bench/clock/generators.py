"""Streams in the shape of the two data sets of CLOCK's paper (Gao, Scharrenbach, Bernstein, ESWC
2014), which published neither. The same parameters give the same elements everywhere.

What is known of them: 603,642 wind speeds ⟨sensor, reports, speed⟩ at instants, with clustered
reporting; 1,887,256 entries ⟨user, watches, channel⟩ and 31,960 entries ⟨channel, plays, program⟩,
both valid over intervals, over three days. All else is a parameter here, with a value that is
decided here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from refengine.model.elements import XSD, Stream, literal, stream

BASE = "http://example.org/"
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000  # ms
# triples, first instant, no batch, last instant
Item = tuple[frozenset[tuple[str, str, str]], int, None, int]


def iri(name: str) -> str:
    """Return an IRI of the generated data as a term."""
    return f"<{BASE}{name}>"


@dataclass(frozen=True)
class WindParameters:
    """How wind speeds come.

    The sensors are in clusters of the given sizes. The sensors of a cluster report once a round,
    each at an instant drawn from a span of `spread` ms. The span of a cluster begins at a
    phase of its own; in every `full_hour`-th round all begin together.

    The weather is a storm or calm, and changes from one to the other with the chance `change` each
    round. `calm` and `storm` are the mean speeds. A sensor has a factor of its own, drawn from 0.5
    to 1.5. A speed is the mean times the factor, with a deviation of `gusts`, as a whole number.

    If reports are `stamped`, each says its instant, too: ⟨sensor, at, instant⟩.
    """

    clusters: tuple[int, ...] = (30, 20, 12, 8, 6, 4)
    rounds: int = 18
    interval: int = 10 * MINUTE
    full_hour: int = 6
    spread: int = 400
    calm: float = 4
    storm: float = 8
    change: float = 0.2
    gusts: float = 1.5
    stamped: bool = False


def generate_wind(parameters: WindParameters, seed: int) -> dict[str, Stream]:
    """Return the stream `wind`."""
    generator = random.Random(f"wind {seed}")
    return {"wind": stream(sorted(_reports(parameters, generator), key=lambda item: item[1]))}


def _reports(parameters: WindParameters, generator: random.Random) -> Iterator[Item]:
    """Yield the reports of all sensors, cluster by cluster."""
    means = list(_weather(parameters, generator))
    for cluster, size in enumerate(parameters.clusters):
        phase = generator.randrange(parameters.interval - parameters.spread)
        factors = [generator.uniform(0.5, 1.5) for _ in range(size)]
        for number, mean in enumerate(means):
            start = number * parameters.interval
            if number % parameters.full_hour:
                start += phase
            for sensor, factor in enumerate(factors):
                at = start + generator.randrange(parameters.spread)
                speed = max(0, round(generator.gauss(mean * factor, parameters.gusts)))
                subject = iri(f"sensor-{cluster}-{sensor}")
                triples = [(subject, iri("reports"), literal(str(speed), XSD + "integer"))]
                if parameters.stamped:
                    triples.append((subject, iri("at"), literal(str(at), XSD + "integer")))
                yield frozenset(triples), at, None, at


def _weather(parameters: WindParameters, generator: random.Random) -> Iterator[float]:
    """Yield the mean speed of each round."""
    is_storm = generator.random() < 0.5
    for _ in range(parameters.rounds):
        yield parameters.storm if is_storm else parameters.calm
        is_storm ^= generator.random() < parameters.change


@dataclass(frozen=True)
class ViewingParameters:
    """How television is watched.

    The streams begin at `start`, a time of the day, and last for `duration`.

    A channel plays programmes one after the other; their lengths are drawn from `lengths`. The
    first ones begin at `start`, so that all begin at multiples of 15 minutes, and many together. If
    channels are `staggered`, each begins to play at a multiple of 5 minutes in the hour up to
    `start`, and what is over by then is left out.

    A user watches with breaks: a session begins after a break with the mean `pause`, which is
    `evening` times shorter from 18:00 to 23:00. In a session the user stays on a channel, drawn by
    Zipf's law with the exponent `popularity`. With the chance `zapping` that is for 10 s to 3
    minutes, else until the end of the programme, or for 5 to 40 minutes, with equal chances. After
    each channel the session ends with the chance `leaving`.
    """

    users: int = 3_000
    channels: int = 10
    start: int = 17 * HOUR
    duration: int = 5 * HOUR
    lengths: tuple[int, ...] = (15, 30, 30, 45, 60, 90, 120)  # minutes
    pause: int = 4 * HOUR
    evening: float = 3
    popularity: float = 1
    zapping: float = 0.5
    leaving: float = 0.15
    staggered: bool = False


def generate_viewing(parameters: ViewingParameters, seed: int) -> dict[str, Stream]:
    """Return the streams `log` and `guide`."""
    generator = random.Random(f"viewing {seed}")
    guide = [list(_programmes(parameters, generator)) for _ in range(parameters.channels)]
    played = [
        (_one_triple(f"channel-{channel}", "plays", f"program-{channel}-{k}"), ts, None, te)
        for channel, programmes in enumerate(guide)
        for k, (ts, te) in enumerate(programmes)
    ]
    weights = [1 / (rank + 1) ** parameters.popularity for rank in range(parameters.channels)]
    watched = [
        entry
        for user in range(parameters.users)
        for entry in _watching(parameters, generator, user, guide, list(accumulate(weights)))
    ]
    return {
        "log": stream(sorted(watched, key=lambda item: item[1])),
        "guide": stream(sorted(played, key=lambda item: item[1])),
    }


def _one_triple(subject: str, predicate: str, thing: str) -> frozenset[tuple[str, str, str]]:
    """Return the graph of a triple of names."""
    return frozenset([(iri(subject), iri(predicate), iri(thing))])


def _programmes(
    parameters: ViewingParameters, generator: random.Random
) -> Iterator[tuple[int, int]]:
    """Yield the first and the last instant of each programme of a channel."""
    start = parameters.start
    if parameters.staggered:
        start -= generator.randrange(0, 60, 5) * MINUTE
    while start < parameters.start + parameters.duration:
        end = start + generator.choice(parameters.lengths) * MINUTE
        if end > parameters.start:
            yield max(start, parameters.start), end - 1
        start = end


def _watching(
    parameters: ViewingParameters,
    generator: random.Random,
    user: int,
    guide: Sequence[Sequence[tuple[int, int]]],
    cumulated: Sequence[float],
) -> Iterator[Item]:
    """Yield what one user watches."""
    now = parameters.start + _pause(parameters, generator, parameters.start)
    while now < parameters.start + parameters.duration:
        channel = generator.choices(range(parameters.channels), cum_weights=cumulated)[0]
        end = now + _stay(parameters, generator, now, guide[channel])
        watched = _one_triple(f"user-{user}", "watches", f"channel-{channel}")
        yield watched, now, None, end - 1
        now = end
        if generator.random() < parameters.leaving:
            now += _pause(parameters, generator, now)


def _stay(
    parameters: ViewingParameters,
    generator: random.Random,
    now: int,
    programmes: Sequence[tuple[int, int]],
) -> int:
    """Return how long a user stays on a channel, at least a second."""
    if generator.random() < parameters.zapping:
        return generator.randrange(10 * SECOND, 3 * MINUTE)
    if generator.random() < 0.5:
        return generator.randrange(5 * MINUTE, 40 * MINUTE)
    end = next((te for _, te in programmes if te >= now), now)
    return max(SECOND, end + 1 - now)


def _pause(parameters: ViewingParameters, generator: random.Random, now: int) -> int:
    """Return how long a break is, at least a second."""
    mean = float(parameters.pause)
    if 18 * HOUR <= now % DAY < 23 * HOUR:
        mean /= parameters.evening
    return max(SECOND, int(generator.expovariate(1 / mean)))
