"""What both command lines share: one line and an exit code for whatever ends a run. Nothing heavy
is imported here.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TextIO

from refengine.model import iris, libraries
from refengine.model.errors import RefengineError
from refengine.model.messages import did_you_mean, display

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DISTRIBUTION = "refengine"  # what is installed; it has both command lines
COMMANDS = "refengine.commands"  # the group of entry points that add sub-commands to `refengine`


class Parser(argparse.ArgumentParser):
    """A parser that names the nearest choice, of sub-commands as well as of options' values."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += did_you_mean(value, map(str, action.choices or ()))
            raise


class Command(Protocol):
    """The module of a sub-command."""

    def add_parser(self, commands: argparse._SubParsersAction[Any]) -> None:
        """Add the sub-command and its options."""

    def run(self, options: argparse.Namespace) -> int:
        """Run the sub-command; return the exit code."""


def find_commands() -> dict[str, EntryPoint]:
    """Return the sub-commands that packages add to `refengine`, by name, none of them imported."""
    from importlib import metadata

    return {point.name: point for point in metadata.entry_points(group=COMMANDS)}


def load_command(point: EntryPoint) -> Command:
    """Import the module of a sub-command. Raises HiddenPackage if its package is another one."""
    package, room, *_ = point.module.split(".")
    if (reason := libraries.why_shadowed(f"{package}.{room}")) is not None:
        raise libraries.HiddenPackage(f"{point.name}: {reason}")
    command: Command = point.load()
    return command


def note_absent_witnesses(product: str, names: Iterable[str]) -> None:
    """Say which of some witnesses cannot be asked on this machine, and why."""
    for name in names:
        if (reason := libraries.why_unusable(name)) is not None:
            print(f"{product}: note: {name} is not asked as a witness: {reason}", file=sys.stderr)


def path(text: str) -> Path:
    """Return a path of the command line. Raises RefengineError for an empty one, which would be the
    current folder.
    """
    if not text:
        raise RefengineError("an empty path; write . for the current folder", rule="IO-1")
    return Path(text)


def base_iri(text: str) -> str:
    """Return the base of relative IRIs; an empty one is none. Raises RefengineError for what is no
    absolute IRI.
    """
    if text:
        from refengine.model.terms import check_base  # where it is used: it compiles patterns

        check_base(text)
    return text


def stream_and_file(word: str) -> tuple[str | None, str]:
    """Return the name and the file of a word of `--stream [NAME=]FILE`. The name is None where none
    is given; a word that is the name of a file has none. Raises RefengineError for an empty name.
    """
    name, equals, file = word.partition("=")
    if not equals or os.path.exists(word):
        return None, word
    if not name:
        reason = f"an empty name of a stream in {display(word)}; write NAME=FILE, or the file alone"
        raise RefengineError(reason, rule="QRY-4", place="--stream")
    return name, file


def graphs_and_files(
    words: Sequence[str], base: str = ""
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the words of `--static [IRI=]FILE`: the files of each IRI, and those without an IRI. A
    word that is the name of a file has none. A relative IRI is resolved against the base.
    """
    graphs: dict[str, list[str]] = {}
    files: list[str] = []
    for word in words:
        iri, equals, file = word.rpartition("=")
        if not equals or os.path.exists(word):
            files.append(word)
        else:
            graphs.setdefault(iris.resolve(base, iri), []).append(file)
    return graphs, files


def _nowhere() -> TextIO:
    """Open a stream that drops what is written to it."""
    return open(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", closefd=False)


def add_version(parser: argparse.ArgumentParser) -> None:
    """Add `--version`, which prints the name and version of the distribution and ends the run."""
    parser.add_argument("--version", action=_Version, help="print the version and exit")


class _Version(argparse.Action):
    """Read the version when it is asked for: no other run is to wait for it, or to fail on it."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib import metadata

        try:
            number = metadata.version(DISTRIBUTION)
        except metadata.PackageNotFoundError:
            reason = "the version is not known: this code is not installed (pip install -e .)"
            parser.exit(2, f"{parser.prog}: usage: {reason}\n")
        print(DISTRIBUTION, number)
        parser.exit()


def add_query(parser: argparse.ArgumentParser, **words: Any) -> None:
    """Add the positional argument QUERY, whose place among the options is free (see `parse`)."""
    query = parser.add_argument("query", type=path, metavar="QUERY", **words)
    query.required = False  # `parse` looks whether it is missing
    parser.set_defaults(command_parser=parser)


def add_query_in_any_language(
    parser: argparse.ArgumentParser, form: str, languages: Iterable[str]
) -> None:
    """Add QUERY, a file of some `form` in TOML, and `--dialect`, which names another of the
    `languages` that it may be written in.
    """
    add_query(parser, help=f"{form}; with --dialect, a text in that language")
    parser.add_argument(
        "--dialect",
        choices=sorted(languages),
        help="the language that QUERY is written in, if it is not TOML",
    )


def parse(parser: argparse.ArgumentParser, words: list[str] | None) -> argparse.Namespace:
    """Return the options, wherever QUERY stands among them.

    `--semantics PROFILE key=value …` takes all the words up to the next option. QUERY is the one of
    them that has not the form key=value; if all have it, the one that is a file. What stands with
    QUERY and has that form is the semantics'.
    """
    options, loose = parser.parse_known_args(words)
    if hasattr(options, "query") and not any(word.startswith("-") for word in loose):
        loose = _place(options, loose)
    if loose:
        _refuse(loose, _parser_of_command(parser, options))
    return options


def _parser_of_command(
    parser: argparse.ArgumentParser, options: argparse.Namespace
) -> argparse.ArgumentParser:
    """Return the parser of the sub-command that the command line names: of `engines doctor` that of
    `doctor`.
    """
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            chosen = action.choices.get(getattr(options, action.dest))
            if chosen is not None:
                return _parser_of_command(chosen, options)
    return parser


def _refuse(words: Sequence[str], parser: argparse.ArgumentParser) -> NoReturn:
    """End the run with the usage of a command, the words that it does not know, and the option that
    is nearest to the first of them.
    """
    valid = [name for action in parser._actions for name in action.option_strings]
    hint = did_you_mean(words[0].partition("=")[0], valid)
    parser.error(f"unrecognized arguments: {' '.join(words)}{hint}")


def _place(options: argparse.Namespace, loose: list[str]) -> list[str]:
    """Give QUERY and the semantics their words; return those that are of neither."""
    profile, *fields = options.semantics or [""]
    if options.query is None:
        words = [*loose, *fields]
    else:
        query = str(options.query)
        if not loose and (not _is_field(query) or all(map(_is_field, fields))):
            return []  # each has its own
        words = [query, *loose, *fields]

    queries = [word for word in words if not _is_field(word)]
    queries = queries or [word for word in words if os.path.exists(word)]
    if not queries:
        options.command_parser.error("the following arguments are required: QUERY")
    query, *others = queries
    words.remove(query)
    if others:
        return others
    if not options.semantics:
        return words
    options.query = path(query)
    options.semantics = [profile, *words]
    return []


def _is_field(word: str) -> bool:
    return re.match(r"\w+=", word) is not None


def run(name: str, command: Callable[[], int], interrupted: str = "interrupted") -> int:
    """Run a command and return its exit code. Bad input, an interrupt and an output that cannot be
    written end it with one line on standard error; the notes of an error follow it.
    """
    _open_closed_streams()
    _silence_rdflib()
    code = 2
    lines: list[str] = []
    try:
        with _ended_by_sigterm(), libraries.ignoring_warnings():
            code = command()
            sys.stdout.flush()
    except RefengineError as error:
        code = error.exit_code
        lines = [str(error), *getattr(error, "__notes__", ())]
    except ModuleNotFoundError as error:
        sentence = libraries.explain_missing(error)
        if sentence is None:
            raise
        lines = [f"usage: {sentence}"]
    except KeyboardInterrupt:
        code = 130
        lines = [interrupted]
    except BrokenPipeError:
        code = 0
    except OSError as error:
        place = error.filename or "standard output"
        lines = [f"{place}: usage: cannot be written: {error.strerror}"]
    finally:
        with suppress(OSError):
            for line in lines:
                print(f"{name}: {line}", file=sys.stderr)
        _flush(sys.stdout)
        _flush(sys.stderr)
    return code


def _open_closed_streams() -> None:
    """Open a stream in place of standard output or error that is closed: print() would take
    standard output for standard error.
    """
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:
            setattr(sys, stream, _nowhere())


def _silence_rdflib() -> None:
    """Keep rdflib from logging each literal that it cannot read, with a traceback."""
    rdflib = logging.getLogger("rdflib")
    rdflib.addHandler(logging.NullHandler())
    rdflib.propagate = False


def _flush(stream: TextIO) -> None:
    """Flush a stream; drop what cannot be written any more: the interpreter would try again when it
    ends, and complain.
    """
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """End what runs within as an error does when SIGTERM comes, so that what is open is cleaned
    up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
