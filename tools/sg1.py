"""YABench's stream generator SG1: air temperature observations of weather stations, as a `.n3t`
stream.

    python tools/sg1.py --out FILE --duration TIME [--stations N] [--interval TIME] [--seed N]
        [--min-temp N] [--max-temp N]
                        [--together]

Each station observes once an interval, at a phase of its own in [0, interval): observation k of a
station is at k · interval + phase, so that `stations` · duration / interval observations fall into
[0, duration). An observation is the seven triples below, all with its time (ms); a line of the file
is a triple and its time, in the order of time, station and triple. The temperature is a whole
number of [min, max), written with one decimal as xsd:float.

The same parameters give the same bytes on every platform and Python: all is integer arithmetic.
What is drawn for an observation depends on the seed, the station and k alone, so that any part of a
stream can be made by itself (`observations`). A station has a SplitMix64 of its own (Steele, Lea,
Flood, OOPSLA 2014), seeded by the output number `station` of SplitMix64(seed); of its outputs
number 0 draws the phase and number k + 1 the temperature of observation k.

Source: YABench's SG1 and its template (Kolchin, Wetz et al., ICWE 2016), from which the defaults,
the phases, the triples and the half-open range of temperatures are. It differs where that generator
does not do what it means: there a literal is without quotes, the first observation is at 0 whatever
its station's phase, and one at the very end of the duration is in the stream. And its draws are one
sequence of Java's generator, which has to be made from the start. Decided here: an interval divides
the duration.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

TRIPLES = 7  # of an observation
UNITS = {"": 1, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
SSW = "http://knoesis.wright.edu/ssw/"
WEATHER = SSW + "ont/weather.owl#"
OM_OWL = SSW + "ont/sensor-observation.owl#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
FLOAT = "http://www.w3.org/2001/XMLSchema#float"

WORD = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15
CHUNK = 5000  # observations written at once, some 7 MB


def split_mix(seed: int, n: int) -> int:
    """Return output number n, from 0, of SplitMix64(seed)."""
    z = (seed + (n + 1) * GAMMA) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """A stream's parameters: the interval of a station and the duration in ms; temperatures in
    [lowest, highest). `together`: every phase is 0, so that all stations observe at once and
    windows have observations on their borders.

    Raises ValueError for what no stream has.
    """

    duration: int
    stations: int = 10
    interval: int = 300_000
    seed: int = 1
    lowest: int = 0
    highest: int = 100
    together: bool = False

    def __post_init__(self) -> None:
        for name, least, most in (
            ("stations", 1, 10**7),
            ("interval", 1, 2**32),
            ("duration", 1, 2**53),
            ("seed", 0, WORD),
            ("lowest", -(10**6), 10**6),
            ("highest", -(10**6), 10**6),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ValueError(f"{name} must be an integer in [{least}, {most}], got {value!r}")
        if self.lowest >= self.highest:
            raise ValueError(
                f"temperatures are in [lowest, highest), got [{self.lowest}, {self.highest})"
            )
        if self.duration % self.interval:
            raise ValueError(
                f"the interval must divide the duration, got {self.interval} ms "
                f"and {self.duration} ms"
            )

    @property
    def rounds(self) -> int:
        """How often each station observes."""
        return self.duration // self.interval

    @property
    def triples(self) -> int:
        """The length of the stream."""
        return self.stations * self.rounds * TRIPLES


class Observation(NamedTuple):
    """An observation; as a tuple it sorts as in the stream."""

    time: int
    station: int
    temperature: int


def observations(
    parameters: Parameters, stations: range | None = None, rounds: range | None = None
) -> Iterator[Observation]:
    """Return the observations of some stations and rounds (ranges within those of the stream, from
    0; by default all), sorted. Those of round k are in [k · interval, (k + 1) · interval). Nothing
    that comes before is made: parts, merged, are the whole.
    """
    stations = _within("stations", stations, parameters.stations)
    rounds = _within("rounds", rounds, parameters.rounds)
    seeds = ((station, split_mix(parameters.seed, station)) for station in stations)
    order = sorted((_phase(parameters, seed), station, seed) for station, seed in seeds)
    return _rounds(parameters, order, rounds)


def _rounds(
    parameters: Parameters, order: list[tuple[int, int, int]], rounds: range
) -> Iterator[Observation]:
    lowest, bound = parameters.lowest, parameters.highest - parameters.lowest
    for k in rounds:
        start = k * parameters.interval
        for phase, station, seed in order:
            yield Observation(
                start + phase, station, lowest + _below(bound, split_mix(seed, k + 1))
            )


def _phase(parameters: Parameters, seed: int) -> int:
    if parameters.together:
        return 0
    return _below(parameters.interval, split_mix(seed, 0))


def _below(bound: int, draw: int) -> int:
    """Return an integer in [0, bound), bound <= 2**32, from the upper 32 bits of a draw."""
    return (draw >> 32) * bound >> 32


def _within(name: str, part: range | None, count: int) -> range:
    if part is None:
        part = range(count)
    if part.step != 1 or (part and not 0 <= part.start <= part.stop <= count):
        raise ValueError(f"{name} must be a range within [0, {count}), got {part}")
    return part


def lines(observation: Observation) -> str:
    """Return the seven lines of an observation."""
    time, station, temperature = observation
    subject = f"<{SSW}Observation_AirTemperature_A{station}_{time}>"
    measure = f"<{SSW}MeasureData_AirTemperature_A{station}_{time}>"
    return (
        f'{subject} {TYPE} <{WEATHER}TemperatureObservation> "{time}" .\n'
        f'{subject} <{OM_OWL}observedProperty> <{WEATHER}_AirTemperature> "{time}" .\n'
        f'{subject} <{OM_OWL}procedure> <{SSW}System_A{station}> "{time}" .\n'
        f'{subject} <{OM_OWL}result> {measure} "{time}" .\n'
        f'{measure} {TYPE} <{OM_OWL}MeasureData> "{time}" .\n'
        f'{measure} <{OM_OWL}floatValue> "{temperature}.0"^^<{FLOAT}> "{time}" .\n'
        f'{measure} <{OM_OWL}uom> <{WEATHER}fahrenheit> "{time}" .\n'
    )


def chunks(parameters: Parameters) -> Iterator[bytes]:
    """Yield the stream's bytes, a few megabytes at a time."""
    found = observations(parameters)
    while chunk := "".join(map(lines, islice(found, CHUNK))):
        yield chunk.encode("ascii")


class WrittenStream(NamedTuple):
    """What was written."""

    size: int
    sha256: str


def write(parameters: Parameters, path: Path) -> WrittenStream:
    """Writes the stream. The file, behind its links, is there only when it is whole. Raises OSError
    for what is no file.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no regular file")
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    digest, size = hashlib.sha256(), 0
    try:
        with part.open("xb") as file:
            for chunk in chunks(parameters):
                file.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return WrittenStream(size, digest.hexdigest())


def whole(text: str) -> int:
    """Return the integer that a text writes. Raises ArgumentTypeError for another text."""
    if not re.fullmatch(r"-?[0-9]{1,20}", text):
        raise argparse.ArgumentTypeError(f"must be an integer, got {text}")
    return int(text)


def milliseconds(text: str) -> int:
    """Return a time as YABench writes it: 200s, 5m, 2h, 500ms; without a unit in ms."""
    match = re.fullmatch(r"([0-9]{1,20})(ms|s|m|h|)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"must be a time such as 500ms, 30s, 5m or 1h, got {text}")
    return int(match[1]) * UNITS[match[2]]


def file(text: str) -> Path:
    """Return a path of the command line."""
    if not text:
        raise argparse.ArgumentTypeError("an empty path")
    return Path(text)


def end_run(*_: object) -> None:
    """End a run as an error does when SIGTERM comes, so that nothing is left of it."""
    raise SystemExit(128 + signal.SIGTERM)


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser of a stream's parameters, under the names that Parameters has for them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--stations", type=whole, default=10, metavar="N", help="default: %(default)s"
    )
    parser.add_argument(
        "--interval",
        type=milliseconds,
        default=300_000,
        metavar="TIME",
        help="between two observations of a station, such as 500ms, 1s, 5m or 1h; default: 5m",
    )
    parser.add_argument(
        "--duration",
        type=milliseconds,
        required=True,
        metavar="TIME",
        help="a multiple of the interval",
    )
    parser.add_argument("--seed", type=whole, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--min-temp", type=whole, default=0, metavar="N", dest="lowest", help="default: %(default)s"
    )
    parser.add_argument(
        "--max-temp",
        type=whole,
        default=100,
        metavar="N",
        dest="highest",
        help="above the highest temperature; default: %(default)s",
    )
    parser.add_argument(
        "--together",
        action="store_true",
        help="all stations observe at once, at the start of each interval",
    )
    return parser


def main() -> None:
    """Write the stream that the command line asks for to a file."""
    signal.signal(signal.SIGTERM, end_run)
    parser = arguments("Makes a stream as YABench's generator SG1 does.")
    parser.add_argument(
        "--out", type=file, required=True, metavar="FILE", help="the stream, FILE.n3t"
    )
    options = vars(parser.parse_args())
    out = options.pop("out")
    try:
        parameters = Parameters(**options)
        written = write(parameters, out)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        parser.exit(130, "sg1: interrupted; nothing was written\n")
    print(
        f"{out}: {parameters.triples} triples, {written.size} bytes, sha256 {written.sha256}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
