"""Which items are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.harness import engine_file
from conformance.harness.engine_file import Engine, InvalidEngine
from conformance.verdict.outcomes import Judging
from refengine import cli
from refengine.model.messages import nearest, shown


@dataclass(frozen=True)
class ItemSelection:
    """What items are wanted: of which engines, from recordings in `answers`, with CSRBench's stream
    from `csrbench`, the cases for a first look alone (`smoke`); `more` are engines that have no
    name. `keep`: with what verdicts on benchmarks rest on. `classpaths` are of engines on the JVM,
    by name. `missing` is how many outputs may be missing at each end, where that is stated.
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
        """How recordings are judged."""
        return Judging(missing=self.missing, keep=self.keep)


def folder(word: str | None) -> Path | None:
    """Return the folder that a word of a command line names, if there is one."""
    if word is None:
        return None
    return cli.path(word)


def classpaths_of(words: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return the classpaths of engines that are asked for, from NAME=PATH. Raises InvalidEngine."""
    classpaths = dict(engine_file.pair(word, "NAME=PATH") for word in words)
    for name in classpaths:
        if name not in names:
            raise InvalidEngine(
                f"a classpath for {shown(name)}, which is not asked for{nearest(name, names)}",
                rule="engine",
            )
        if not classpaths[name]:
            raise InvalidEngine("an empty classpath", rule="engine", place=name)
    return classpaths
