"""The selection of the items of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.harness import engine_file
from conformance.harness.engine_file import Engine, InvalidEngine
from conformance.verdict.outcomes import Judging
from refengine import cli
from refengine.model.messages import display, nearest


@dataclass(frozen=True)
class ItemSelection:
    """A selection of items.

    `names` are engines by their names. `more` are engines without a registered name. `answers` is a
    folder of recordings that are judged instead of live engines, and `csrbench` a folder with
    CSRBench's stream. With `smoke` only the dozen cases for a first look are selected. With `keep`
    the results of benchmarks have their evidence. `classpaths` has the classpaths of engines on the
    JVM by name. `missing` is how many outputs may be missing at each end (ORA-3), if stated.
    """

    names: tuple[str, ...] = ()
    more: tuple[Engine, ...] = ()
    answers: Path | None = None
    csrbench: Path | None = None
    smoke: bool = False
    keep: bool = False
    classpaths: Mapping[str, str] = field(default_factory=dict)
    missing: int | None = None

    @property
    def judging(self) -> Judging:
        """The terms on which recordings are judged."""
        return Judging(missing=self.missing, keep=self.keep)


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
