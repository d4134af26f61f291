"""The results of a run so far, a line each, in a file beside the file of results. Whatever ends a
run, no result that was reached is lost, and `--resume` goes on from there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from conformance.verdict import results
from conformance.verdict.results import Result, writing
from refengine.model.errors import RefengineError

SUFFIX = ".partial"


def journal_path(target: Path) -> Path:
    """Return the file of the results so far of a run whose results go to `target`."""
    return target.with_name(target.name + SUFFIX)


def fingerprint(parts: Iterable[bytes]) -> str:
    """Return the digest of all that a run depends on. Results of another run are not mixed in."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def read_journal(target: Path, run: str) -> dict[tuple[str, str, str], Result]:
    """Return the results so far of an interrupted run, by their keys; none if there is no such run.
    `run` is the fingerprint. Raises RefengineError if the results so far are those of another run.
    """
    path = journal_path(target)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RefengineError(f"cannot be read: {error}", rule="usage", place=str(path)) from None
    tables = [table for table in map(_table, lines) if table]
    if not tables or tables[0].get("run") != run:
        raise RefengineError(
            "has results of another run: of other options, of another engine's file or of another "
            "corpus; remove it, or leave out --resume",
            rule="usage",
            place=str(path),
        )
    return {result.key: result for result in map(results.from_json, tables[1:])}


def _table(line: str) -> dict[str, Any]:
    """Return the JSON object of a line; an empty one for a line that was only half written."""
    try:
        table = json.loads(line)
    except ValueError:
        return {}
    return table if isinstance(table, dict) else {}


class Journal:
    """The file of the results so far, while the run goes on."""

    def __init__(self, target: Path, run: str, before: Iterable[Result] = ()) -> None:
        """Begin the file, with the results `before` of the run that is resumed."""
        self.path = journal_path(target)
        lines = [json.dumps({"run": run}), *results.lines(before)]
        results.replace({self.path: lines})
        with writing(self.path):
            self._file: IO[str] = self.path.open("a", encoding="utf-8", errors="backslashreplace")

    def add(self, result: Result) -> None:
        """Write a result at once."""
        with writing(self.path):
            self._file.write(f"{next(results.lines([result]))}\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file, which stays."""
        self._file.close()

    def remove(self) -> None:
        """Remove the file, since all results are in the file of results now."""
        self._file.close()
        os.unlink(self.path)
