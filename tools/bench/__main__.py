"""python -m tools.bench [NAME…]: runs benchmarks, prints a line of JSON for each (kinds: for each
kind).
"""

from __future__ import annotations

import argparse
import json
import signal
from collections.abc import Sequence
from pathlib import Path

from tools import sg1
from tools.bench.lab import Lab
from tools.bench.measure import ENGINES, RunFailed
from tools.bench.table import BENCHMARKS, run

WORK = Path(__file__).resolve().parents[2] / "build" / "bench"  # not in git


def positive(text: str) -> int:
    """Return the integer that a text writes. Raises ArgumentTypeError if it is not > 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer > 0, got {text}")
    return int(text)


def folder(text: str) -> Path:
    """Return a text as a path. Raises ArgumentTypeError for an empty one."""
    if not text:
        raise argparse.ArgumentTypeError("an empty path; write . for the current folder")
    return Path(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0; 1 if reports differ from the definitional engine's or a run failed; 2 for bad
    arguments; 130 if interrupted.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench", description="Runs benchmarks, prints a line of JSON for each."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHMARKS)}; default: all"
    )
    parser.add_argument(
        "--work",
        type=folder,
        default=WORK,
        metavar="DIR",
        help="keeps the streams, up to 1.5 GB; default: build/bench",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default=ENGINES[0],
        help="what is measured; default: %(default)s",
    )
    parser.add_argument(
        "--runs",
        type=positive,
        default=3,
        metavar="N",
        help="runs of what is cheap, of which the median counts; default: %(default)s",
    )
    parser.add_argument(
        "--tiny",
        action="store_true",
        help="on streams of some 40 triples: to try the benchmarks, not the engine",
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark is named {name}; there are {', '.join(BENCHMARKS)}")
    lab, equal = Lab(options.work, options.engine, options.runs), True
    for name in options.names or BENCHMARKS:
        try:
            for line in run(lab, name, options.tiny):
                equal = equal and line.get("equal", True)
                print(json.dumps(line), flush=True)
        except (RunFailed, OSError) as error:
            parser.exit(1, f"{name}: {error}\n")
        except KeyboardInterrupt:
            parser.exit(130, f"{name}: interrupted\n")
    if equal:
        return 0
    return 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, sg1.end_run)
    raise SystemExit(main())
