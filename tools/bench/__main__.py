"""python -m tools.bench [NAME…]: runs benchmarks, prints a line of JSON for each (kinds: for each
kind).
"""

from __future__ import annotations

import argparse
import json
import signal
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from tools.bench.hand_page import write_hand_page
from tools.bench.lab import Lab, Line
from tools.bench.measure import ENGINES, RunFailed
from tools.bench.table import BENCHMARKS, run

WORK = Path(__file__).resolve().parents[2] / "build" / "bench"  # not in git


def positive_integer(text: str) -> int:
    """Return the number > 0 that a text of the command line writes."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer > 0, got {text}")
    return int(text)


def folder(text: str) -> Path:
    """Return the folder that a text of the command line names."""
    if not text:
        raise argparse.ArgumentTypeError("an empty path; write . for the current folder")
    return Path(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0; 1 if reports differ from the definitional
    engine's or a run failed; 2 for bad arguments; 130 if interrupted.
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
        type=positive_integer,
        default=3,
        metavar="N",
        help="runs of what is cheap, of which the median counts; default: %(default)s",
    )
    parser.add_argument(
        "--tiny",
        action="store_true",
        help="on streams of some 40 triples: to try the benchmarks, not the engine",
    )
    parser.add_argument(
        "--out",
        type=folder,
        metavar="DIR",
        help="writes the table, the drawing and the history of by-hand there",
    )
    parser.add_argument(
        "--run-name",
        default=date.today().isoformat(),
        metavar="NAME",
        help="of this run in the history; default: the date",
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark is named {name}; there are {', '.join(BENCHMARKS)}")
    lab = Lab(options.work, options.engine, options.runs)
    names = options.names or list(BENCHMARKS)
    if options.out is not None and "by-hand" not in names:
        parser.error("--out is for by-hand, which is not run")
    is_equal = True
    for name in names:
        lines: list[Line] = []
        try:
            for line in run(lab, name, options.tiny):
                is_equal = is_equal and line.get("equal", True)
                print(json.dumps(line), flush=True)
                lines.append(line)
            if options.out is not None and name == "by-hand":
                write_hand_page(lines, options.out, options.run_name)
        except (RunFailed, OSError, ValueError) as error:
            parser.exit(1, f"{name}: {error}\n")
        except KeyboardInterrupt:
            parser.exit(130, f"{name}: interrupted\n")
    if is_equal:
        return 0
    return 1


def end_run(*_: object) -> None:
    """End a run as an error does when SIGTERM comes, so that nothing is left of it."""
    raise SystemExit(128 + signal.SIGTERM)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end_run)
    raise SystemExit(main())
