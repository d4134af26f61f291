"""The options of a run as a command line gives them, and its fingerprint: all that its results
depend on, apart from the engines themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from conformance.harness import engine_file
from conformance.harness.engine_file import Engine, InvalidEngine
from conformance.suite.item import Item, ItemSelection, asked_repeatedly, items, questions
from conformance.verdict import journal
from refengine import cli
from refengine.model.messages import display, nearest


@dataclass(frozen=True)
class SuiteOptions:
    """The options of the suite as they stand on a command line. All values are JSON's, so that
    processes on other machines can make the same items of them.

    `engines` are names or files. `command` is the command line of a harness, its dialect and its
    semantics. `answers`, `csrbench` and `certificates` are folders. `classpaths` are of the form
    NAME=PATH.
    `missing` is the bound of ORA-3. The rest is as in `ItemSelection`.
    """

    engines: Sequence[str] = ()
    command: Sequence[str] | None = None
    answers: str | None = None
    csrbench: str | None = None
    smoke: bool = False
    keep: bool = False
    classpaths: Sequence[str] = ()
    missing: int | None = None
    repeat: int = 1
    certificates: str | None = None

    def items(self) -> list[Item]:
        """Return the items that these options select. Raises RefengineError."""
        unnamed: tuple[Engine, ...] = ()
        if self.command is not None:
            unnamed = (engine_file.command(*self.command),)
        selection = ItemSelection(
            names=tuple(self.engines),
            unnamed=unnamed,
            answers=folder(self.answers),
            csrbench=folder(self.csrbench),
            smoke=self.smoke,
            keep_evidence=self.keep,
            classpaths=classpaths_of(self.classpaths, self.engines),
            unreported=self.missing,
            certificates=folder(self.certificates),
        )
        selected = items(selection)
        if self.csrbench is not None and all(item.suite != "csrbench" for item in selected):
            raise InvalidEngine(
                "no engine that is run is asked CSRBench's queries: leave it out, or add "
                '"csrbench" to `suites` in the engine\'s file',
                rule="usage",
                place="--csrbench",
            )
        return [asked_repeatedly(item, self.repeat) for item in selected]


def folder(word: str | None) -> Path | None:
    """Return the folder that a word of a command line names; None for no word."""
    if word is None:
        return None
    return cli.path(word)


def classpaths_of(words: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return the classpaths by engine, from words of the form NAME=PATH. Raises InvalidEngine for
    the name of an engine that is not asked for, and for an empty path.
    """
    classpaths = dict(engine_file.pair(word, "NAME=PATH") for word in words)
    for name in classpaths:
        if name not in names:
            raise InvalidEngine(
                f"a classpath for {display(name)}, which is not among the engines"
                f"{nearest(name, names)}",
                rule="engine",
            )
        if not classpaths[name]:
            raise InvalidEngine("an empty classpath", rule="engine", place=name)
    return classpaths


def fingerprint_of_run(options: SuiteOptions) -> str:
    """Return the fingerprint of a run with these options. It changes with the version of the suite,
    with every case, with the file of each engine that is named, and with every file in the folders
    of recordings and of CSRBench's stream. It does not change with the engines' programs.
    """
    return journal.fingerprint(_parts(options))


def _parts(options: SuiteOptions) -> Iterator[bytes]:
    """Yield what the results of a run depend on."""
    yield version("refengine").encode()
    yield json.dumps(asdict(options), sort_keys=True).encode()
    for case in questions():
        yield json.dumps(case.table, sort_keys=True, default=str).encode()
    for name in options.engines:
        path = engine_file.path_of_engine(name)
        if path is not None and path.is_file():
            yield path.read_bytes()
    for place in (options.answers, options.csrbench):
        if place is not None:
            yield from _files(Path(place))


def _files(folder: Path) -> Iterator[bytes]:
    """Yield the names and the contents of the files in a folder and below it."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield str(path.relative_to(folder)).encode()
        yield path.read_bytes()
