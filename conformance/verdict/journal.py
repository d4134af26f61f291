"""The results of a run so far, a line each, in a file beside the file of results. Whatever ends a
run, no result that was reached is lost, and `--resume` goes on from there. The results are those of
engines, or in another form, such as the figures of a sweep.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from conformance.verdict import results
from conformance.verdict.results import Result, writing
from refengine.model.errors import RefengineError

SUFFIX = ".partial"
Kept = TypeVar("Kept")  # what a line of a journal has
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class JournalForm(Generic[Kept, Key]):
    """What the lines of a journal have: the key of each, the JSON that is written of it, and the
    function that makes it of a JSON object again, which may raise LookupError, TypeError and
    ValueError. `of_another_run` says what a journal of another run has.
    """

    key_of: Callable[[Kept], Key]
    line_of: Callable[[Kept], str]
    read: Callable[[dict[str, Any]], Kept]
    of_another_run: str


RESULTS: JournalForm[Result, tuple[str, str, str]] = JournalForm(
    lambda result: result.key,
    lambda result: next(results.lines([result])),
    results.from_json,
    "results of another run: of other options, of another engine's file or of another corpus",
)


def journal_path(target: Path) -> Path:
    """Return the file of the results so far of a run whose results go to `target`."""
    return target.with_name(target.name + SUFFIX)


def fingerprint(parts: Iterable[bytes]) -> str:
    """Return the digest of all that a run depends on. Results of another run are not mixed in."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def read_journal(target: Path, run: str, form: JournalForm[Kept, Key]) -> dict[Key, Kept]:
    """Return the results so far of an interrupted run, by their keys; none if there is no such run.
    `run` is the fingerprint. Raises RefengineError if the results so far are those of another run.
    """
    path = journal_path(target)
    try:
        lines = path.read_bytes().split(b"\n")  # a text would also be split within results
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise RefengineError(
            f"cannot be read: {error.strerror}",
            rule="usage",
            place=str(path),
        ) from None
    heading = _table(lines[0])
    if "run" not in heading:
        raise RefengineError(
            "does not begin as the results so far of a run do; remove it, or leave out --resume",
            rule="usage",
            place=str(path),
        )
    if heading["run"] != run:
        raise RefengineError(
            f"has {form.of_another_run}; remove it, or leave out --resume",
            rule="usage",
            place=str(path),
        )
    so_far: dict[Key, Kept] = {}
    for line in lines[1:]:
        with suppress(LookupError, TypeError, ValueError):  # a line that was only half written
            result = form.read(_table(line))
            so_far[form.key_of(result)] = result
    return so_far


def _table(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line; an empty one for a line that was only half written."""
    try:
        table = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return table if isinstance(table, dict) else {}


class Journal(Generic[Kept, Key]):
    """The file of the results so far, while the run goes on. It is begun with the first result: a
    run without any leaves the file of an earlier run as it is.
    """

    def __init__(
        self,
        target: Path,
        run: str,
        form: JournalForm[Kept, Key],
        before: Iterable[Kept] = (),
    ) -> None:
        """Take the results `before` of the run that is resumed; nothing is written yet."""
        self.path = journal_path(target)
        self._run = run
        self._form = form
        self._before = {form.key_of(result): result for result in before}
        self._keys = set(self._before)
        self._file: IO[str] | None = None

    def __len__(self) -> int:
        """Return how many results the file has."""
        return len(self._keys)

    def add(self, result: Kept) -> None:
        """Write a result at once, unless the run that is resumed had it. Raises RefengineError."""
        key = self._form.key_of(result)
        if key in self._before:
            return
        with writing(self.path):
            if self._file is None:
                self._file = self._begin()
            self._file.write(f"{self._form.line_of(result)}\n")
            self._file.flush()
        self._keys.add(key)

    def _begin(self) -> IO[str]:
        """Write the heading and the results of the run that is resumed; return the open file."""
        lines = [json.dumps({"run": self._run}), *map(self._form.line_of, self._before.values())]
        results.replace({self.path: lines})
        return self.path.open("a", encoding="utf-8", errors="backslashreplace")

    def close(self) -> None:
        """Close the file, which stays."""
        if self._file is not None:
            with suppress(OSError):  # of a result that could not be written before
                self._file.close()

    def remove_if_in(self, written: Iterable[Kept]) -> bool:
        """Close the file, and remove it if all of its results have been written elsewhere; return
        whether they have.
        """
        self.close()
        if not self._keys <= set(map(self._form.key_of, written)):
            return False
        if self._keys:
            with writing(self.path):
                self.path.unlink(missing_ok=True)
        return True


ResultJournal = Journal[Result, tuple[str, str, str]]
