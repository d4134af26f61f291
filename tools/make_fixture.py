"""Makes a small CSRBench-shaped stream: weather observations in the vocabulary of LinkedSensorData.

    python -m tools.make_fixture [--seed N] [--stations N] [--instants N] [--out DIR]

DIR/data/data_NN.ttl holds the triples with application time NN * 1000 ms, in no particular order;
DIR/answers the recordings of three engines with defects (tools/fixture_recordings.py);
DIR/MANIFEST.json the parameters and the SHA-256 of every file. The same parameters give the same
bytes on every platform and Python.

The weather repeats every 20 instants. What FIXED and SILENT say holds for every seed, so that with
21 instants or more each of CSRBench's queries has, over windows with t0 = 0, some answers that are
empty and some that are not, and an element on the border of a window that decides its answer. The
other observations are drawn.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tools.fixture_recordings import SENSORS, Observation, recordings

ROOT = Path(__file__).resolve().parent.parent
PERIOD = 20  # instants; phases 0..8 are warm, the others cool
WARM_PHASES = range(9)
# phases without a file: a gap, and a window of 4 s, [12, 16), without content
SILENT = {2, 12, 13, 14, 15}
NAMED_STATION = "C1190"  # Q7 names it; station 0


class Quantity(NamedTuple):
    """A measured quantity: its names in the vocabulary, and the lowest and the highest value that
    is drawn in warm and in cool phases.
    """

    name: str
    observation: str
    unit: str
    warm: tuple[int, int]
    cool: tuple[int, int]


TEMPERATURE = Quantity("AirTemperature", "TemperatureObservation", "fahrenheit", (60, 95), (55, 74))
HUMIDITY = Quantity(
    "RelativeHumidity", "RelativeHumidityObservation", "percentage", (30, 90), (50, 95)
)

# phase -> (station, quantity, lowest, highest)
FIXED: dict[int, list[tuple[int, Quantity, int, int]]] = {
    # hot on a border of every window; at 20 after eleven cool instants
    0: [(1, TEMPERATURE, 81, 90)],
    4: [(1, TEMPERATURE, 81, 90), (1, HUMIDITY, 25, 48)],  # on a border of 4 s
    5: [(1, TEMPERATURE, 81, 88), (0, TEMPERATURE, 60, 70)],  # on a border of 5 s
    # on a border of 4 s, and warmer than at 5
    8: [(1, TEMPERATURE, 91, 96), (1, HUMIDITY, 25, 48)],
    10: [(1, TEMPERATURE, 80, 80)],  # on a border of 5 s and 10 s, and on the limit of "> 80"
    11: [(1, TEMPERATURE, 75, 75)],  # on the limit of "> 75", beside a warmer one
    # on the limits of humidity
    16: [(0, TEMPERATURE, 78, 78), (0, HUMIDITY, 24, 24), (1, HUMIDITY, 49, 49)],
    17: [(1, TEMPERATURE, 78, 78)],  # as warm as the named station, not warmer
}


class Generator:
    """Knuth's MMIX linear congruential generator: x := 6364136223846793005 x + 1442695040888963407
    mod 2**64.
    """

    def __init__(self, seed: int) -> None:
        self.state = seed

    def below(self, bound: int) -> int:
        """Return an integer in [0, bound), bound <= 2**32, from the upper 32 bits of the next
        state.
        """
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 32) * bound >> 32

    def between(self, lowest: int, highest: int) -> int:
        """Return an integer in [lowest, highest]."""
        return lowest + self.below(highest - lowest + 1)

    def shuffle(self, items: list[str]) -> None:
        """Put a list into a drawn order (Fisher and Yates)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


class Measurement(NamedTuple):
    """What a station measures of a quantity at an instant."""

    station: int
    quantity: Quantity
    value: int


def measurements(instant: int, stations: int, draw: Generator) -> Iterator[Measurement]:
    """Yield the measurements at an instant: the fixed ones of its phase, and one in four of all
    others.
    """
    phase = instant % PERIOD
    if phase in SILENT:
        return
    fixed = {
        (station, quantity): (lowest, highest)
        for station, quantity, lowest, highest in FIXED.get(phase, [])
    }
    for station in range(stations):
        for quantity in (TEMPERATURE, HUMIDITY):
            if (station, quantity) in fixed:
                yield Measurement(station, quantity, draw.between(*fixed[station, quantity]))
            elif station == 0 and quantity is TEMPERATURE and phase not in WARM_PHASES:
                # the named station's few cool temperatures are fixed: windows without it exist
                continue
            elif draw.below(4) == 0:
                values = quantity.cool
                if phase in WARM_PHASES:
                    values = quantity.warm
                yield Measurement(station, quantity, draw.between(*values))


def station_name(station: int) -> str:
    """Return the name of a station, which is known by its number."""
    if station:
        return f"C{station:04d}"
    return NAMED_STATION


def stamp_of(instant: int) -> str:
    """Return the part of names that says an instant."""
    minute, second = divmod(instant, 60)
    return f"2030_01_01_00_{minute:02d}_{second:02d}"


def name_of(instant: int, one: Measurement) -> str:
    """Return what the names of a measurement's observation and result have in common."""
    return f"{one.quantity.name}_{station_name(one.station)}_{stamp_of(instant)}"


def observation(instant: int, one: Measurement) -> Observation:
    """Return a measurement as an observation that is recorded."""
    return Observation(
        instant,
        f"{SENSORS}Observation_{name_of(instant, one)}",
        f"{SENSORS}System_{station_name(one.station)}",
        one.quantity is TEMPERATURE,
        one.value,
    )


PREFIXES = """\
@prefix om-owl:  <http://knoesis.wright.edu/ssw/ont/sensor-observation.owl#> .
@prefix sens-obs:  <http://knoesis.wright.edu/ssw/> .
@prefix time:  <http://www.w3.org/2006/time#> .
@prefix weather:  <http://knoesis.wright.edu/ssw/ont/weather.owl#> .
@prefix xsd:  <http://www.w3.org/2001/XMLSchema#> .
"""


def turtle(instant: int, observed: list[Measurement], draw: Generator) -> str:
    """Return the text of an instant's file. Each subject has a block of triples. The blocks are
    shuffled, so that a result can come before its observation.
    """
    minute, second = divmod(instant, 60)
    stamp = stamp_of(instant)
    blocks = [
        f"sens-obs:Instant_{stamp}\n"
        f"    a time:Instant ;\n"
        f'    time:inXSDDateTime "2030-01-01T00:{minute:02d}:{second:02d}" .\n'
    ]
    for one in observed:
        station, quantity, value = one
        name = name_of(instant, one)
        blocks.append(
            f"sens-obs:Observation_{name}\n"
            f"    a weather:{quantity.observation} ;\n"
            f"    om-owl:observedProperty weather:_{quantity.name} ;\n"
            f"    om-owl:procedure sens-obs:System_{station_name(station)} ;\n"
            f"    om-owl:result sens-obs:MeasureData_{name} ;\n"
            f"    om-owl:samplingTime sens-obs:Instant_{stamp} .\n"
        )
        blocks.append(
            f"sens-obs:MeasureData_{name}\n"
            f"    a om-owl:MeasureData ;\n"
            f'    om-owl:floatValue "{value}"^^xsd:double ;\n'
            f"    om-owl:uom weather:{quantity.unit} .\n"
        )
    draw.shuffle(blocks)
    return "\n".join([PREFIXES, *blocks])


def make(seed: int, stations: int, instants: int) -> dict[str, bytes]:
    """Return every file of the fixture, by its path under DIR."""
    draw = Generator(seed)
    files, stream = {}, []
    for instant in range(instants):
        if observed := list(measurements(instant, stations, draw)):
            files[f"data/data_{instant:02d}.ttl"] = turtle(instant, observed, draw).encode("ascii")
            stream += [observation(instant, one) for one in observed]
    files |= recordings(stream)
    manifest = {
        "generator": "tools/make_fixture.py",
        "seed": seed,
        "stations": stations,
        "instants": instants,
        "files": {path: hashlib.sha256(content).hexdigest() for path, content in files.items()},
    }
    files["MANIFEST.json"] = (json.dumps(manifest, indent=2, sort_keys=True) + "\n").encode("ascii")
    return files


def replace_fixture(files: dict[str, bytes], out: Path) -> None:
    """Replace the fixture in `out` by these files. The program ends with an error if the folder has
    data that its manifest does not list, since then it was not made here.
    """
    manifest = out / "MANIFEST.json"
    before = set()
    if manifest.exists():
        before = set(json.loads(manifest.read_bytes())["files"])
    present = {
        path.relative_to(out).as_posix()
        for folder in ("data", "answers")
        for path in (out / folder).glob("*")
    }
    if strangers := sorted(present - before):
        sys.exit(
            f"{out}: not a fixture made by this generator: {strangers[0]} is not in its "
            "MANIFEST.json"
        )
    for path in present:
        (out / path).unlink()
    for path, content in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(content)


def integer_between(lowest: int, highest: int) -> Callable[[str], int]:
    """Return an argument that is an integer in [lowest, highest]."""

    def parse(text: str) -> int:
        if not text.isdecimal() or not lowest <= int(text) <= highest:
            raise argparse.ArgumentTypeError(
                f"must be an integer in [{lowest}, {highest}], got {text}"
            )
        return int(text)

    return parse


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Makes a small CSRBench-shaped stream.")
    parser.add_argument(
        "--seed", type=integer_between(0, 2**64 - 1), default=1, help="default: %(default)s"
    )
    parser.add_argument(
        "--stations",
        type=integer_between(2, 999),
        default=6,
        help=f"System_{NAMED_STATION} and N - 1 others; default: %(default)s",
    )
    parser.add_argument(
        "--instants",
        type=integer_between(1, 100),
        default=24,
        help="seconds of stream, some without a file; default: %(default)s",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "fixtures" / "csrbench",
        help="default: fixtures/csrbench",
    )
    options = parser.parse_args()
    files = make(options.seed, options.stations, options.instants)
    replace_fixture(files, options.out)
    print(f"{options.out}: {len(files) - 1} files, {sum(map(len, files.values()))} bytes")


if __name__ == "__main__":
    main()
