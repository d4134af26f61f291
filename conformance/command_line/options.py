"""What sub-commands have in common: where they are added, and options that some take, with their
bounds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from refengine import cli
from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    from tqdm import tqdm

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


class Command(Protocol):
    """A module of a sub-command."""

    def add_parser(self, commands: Commands) -> None:
        """Add the sub-command and its options."""

    def run(self, options: argparse.Namespace) -> int:
        """Do what is asked for; return the exit code."""


def add_spark_options(parser: argparse.ArgumentParser, jobs: str, results: str) -> None:
    """Add the options of a run over Spark: where it runs, what runs at a time (`jobs`, in words),
    and the folder of its results, described by `results`.
    """
    parser.add_argument(
        "--spark",
        metavar="MASTER",
        help="local[2], spark://HOST:PORT, "
        "sc://HOST:PORT, … (default: what "
        "Spark is configured to)",
    )
    parser.add_argument(
        "--environment",
        type=cli.path,
        metavar="ARCHIVE",
        help="the Python of executors, packed by venv-pack (default: theirs)",
    )
    parser.add_argument(
        "--parallel",
        type=int,
        metavar="N",
        help=f"{jobs} at a time (default: as many as there are slots for tasks)",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run in OUT; what is done is not done again",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=cli.path,
        required=True,
        metavar="OUT",
        help=f"the folder of the {results}",
    )


def check_missing(missing: int | None) -> None:
    """Raise RefengineError for a bound of missing outputs that is none."""
    if missing is not None and missing < 0:
        raise RefengineError(f"must be >= 0, got {missing}", rule="ORA-3", place="--missing")


def check_positive(option: str, value: int | None) -> None:
    """Raise RefengineError for a number of an option that is less than one."""
    if value is not None and value < 1:
        raise RefengineError(f"{option} must be > 0, got {value}", rule="usage")


def progress_bar(**words: Any) -> Callable[..., tqdm[NoReturn]]:
    """Return what makes a progress bar on standard error, which is seen only if that is a terminal.
    Raises ModuleNotFoundError where there is no tqdm.
    """
    from tqdm import tqdm

    return partial(tqdm, disable=not sys.stderr.isatty(), leave=False, **words)


def end_interrupted(progress: str) -> int:
    """Say how far an interrupted run over Spark came; return the exit code."""
    print(
        f"conformance: interrupted; {progress}: the same command with --resume goes on",
        file=sys.stderr,
    )
    return 130
