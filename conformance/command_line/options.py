"""What the sub-commands have in common: options that several of them take, checks of their values,
and what those that judge say first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from refengine import cli
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest, plain

if TYPE_CHECKING:
    from tqdm import tqdm

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


Named = TypeVar("Named")


def note_absent_witnesses() -> None:
    """Say which of the witnesses (R2R-5) cannot be asked here."""
    from refengine.sparql.witnesses import WITNESSES

    cli.note_absent_witnesses("conformance", WITNESSES)


def add_files(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    """Add the argument `files`, one or more paths. `name` stands for each of them in the help, and
    `text` says what they are.
    """
    parser.add_argument("files", nargs="+", type=cli.path, metavar=name, help=text)


def add_spark_options(parser: argparse.ArgumentParser, jobs: str, results: str) -> None:
    """Add the options of a run over Spark. `jobs` names what runs at a time, and `results` what the
    output folder will have, both in words for the help.
    """
    parser.add_argument(
        "--spark",
        metavar="MASTER",
        help="where Spark runs: local[2], spark://HOST:PORT, sc://HOST:PORT, … "
        "(default: as Spark is configured)",
    )
    parser.add_argument(
        "--environment",
        type=cli.path,
        metavar="ARCHIVE",
        help="a Python environment for the executors, packed by venv-pack (default: their own)",
    )
    parser.add_argument(
        "--parallel",
        type=int,
        metavar="N",
        help=f"the number of {jobs} at the same time (default: one for each slot for tasks)",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue the run in OUT, and compute only what is not done yet",
    )
    parser.add_argument(
        "-o",
        "--out",
        type=cli.path,
        required=True,
        metavar="OUT",
        help=f"the folder to write to; it gets the {results}",
    )


def add_page_folder(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the option of the folder that gets results, tables and a page. `default` is its name."""
    parser.add_argument(
        "-o",
        "--out",
        type=cli.path,
        default=Path(default),
        metavar="OUT",
        help="the folder to write to (default: %(default)s); it gets results.ndjson, tables.txt "
        "and index.html",
    )


def check_missing(missing: int | None) -> None:
    """Raise RefengineError for a negative number of missing outputs."""
    if missing is not None and missing < 0:
        raise RefengineError(f"must be >= 0, got {missing}", rule="ORA-3", place="--missing")


def check_positive(option: str, value: int | None) -> None:
    """Raise RefengineError if the value of an option is less than one."""
    if value is not None and value < 1:
        raise RefengineError(f"{option} must be > 0, got {value}", rule="usage")


def find_named(what: str, name: str, known: Mapping[str, Named], option: str) -> Named:
    """Return what has a name. Raises RefengineError, which names the nearest one and the option."""
    if name not in known:
        reason = f"{display(name)} is no {what}{nearest(name, known)}"
        raise RefengineError(reason, rule="usage", place=option)
    return known[name]


def progress_bar(**words: Any) -> Callable[..., tqdm[NoReturn]]:
    """Return a function that makes a progress bar on standard error; it is shown only on a
    terminal. Raises ModuleNotFoundError if tqdm is not installed.
    """
    from tqdm import tqdm

    return partial(tqdm, disable=not sys.stderr.isatty(), leave=False, **words)


def announce(text: str) -> None:
    """Print on standard error what begins now, for work that takes long. On a terminal the progress
    bar says it, so nothing is printed there.
    """
    if not sys.stderr.isatty():
        print(f"conformance: {plain(text)}", file=sys.stderr, flush=True)


def end_interrupted(progress: str) -> int:
    """Print how far an interrupted run over Spark came; return the exit code."""
    print(
        f"conformance: interrupted; {progress}: the same command with --resume goes on",
        file=sys.stderr,
    )
    return 130
