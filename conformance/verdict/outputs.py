"""Checking the files that a command or a run is to write, before its work begins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from refengine.model.errors import RefengineError

# the ends of the names of what is written here, which no folder of data is read for
WRITTEN = (".ndjson", ".partial", ".html", ".xml", ".md", ".svg", "tables.txt")


def check_outputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise RefengineError if an output would replace an input, or if two outputs would go to one
    file. Paths that lead to the same file by symbolic links count as the same. Nothing is written.

    Of an input that is a folder no file may be replaced, and no input may be in a folder that is
    an output.
    """
    named = list(outputs)
    if any(_is_same_file(one, other) for one, other in combinations(named, 2)):
        raise RefengineError("two outputs would go to one file", rule="usage")

    sources = list(inputs)
    for output in named:
        for source in sources:
            if replaced := _find_replaced(output, source):
                raise RefengineError(
                    f"this output would replace the input {replaced}",
                    rule="usage",
                    place=str(output),
                )


def _find_replaced(output: Path, source: Path) -> Path | None:
    """Return the input that an output would replace: the source, or a file in it if it is a
    folder.
    """
    if _is_same_file(output, source):
        return source
    if output.is_dir():
        is_inside = Path(os.path.realpath(source)).is_relative_to(os.path.realpath(output))
        return source if is_inside else None
    if source.is_dir() and output.exists() and not output.name.endswith(WRITTEN):
        return next((file for file in _files_in(source) if _is_same_file(output, file)), None)
    return None


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and below it, also behind symbolic links."""
    seen = {os.path.realpath(folder)}
    for place, folders, names in os.walk(folder, followlinks=True):
        real = {name: os.path.realpath(os.path.join(place, name)) for name in folders}
        folders[:] = sorted(name for name in folders if real[name] not in seen)
        seen.update(real.values())
        yield from (Path(place, name) for name in names)


def _is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, which need not exist."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    with suppress(OSError):
        return os.path.samefile(one, other)
    return False
