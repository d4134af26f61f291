"""Checking the files that a command or a run is to write, before its work begins."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from refengine.model.errors import RefengineError


def check_outputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise RefengineError if an output would replace an input, or if two outputs would go to one
    file. Paths that lead to the same file by symbolic links count as the same. Nothing is written.
    """
    named = list(outputs)
    if any(_is_same_file(one, other) for one, other in combinations(named, 2)):
        raise RefengineError("two outputs would go to one file", rule="usage")

    sources = list(inputs)
    for output in named:
        for source in sources:
            if _is_same_file(output, source):
                raise RefengineError(
                    f"this output would replace the input {source}",
                    rule="usage",
                    place=str(output),
                )


def _is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, which need not exist."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    with suppress(OSError):
        return os.path.samefile(one, other)
    return False
