"""The runs of a sweep so far, a line each, in a file beside that of all runs: a sweep can go on
after an interrupt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from conformance.bench.clock.sweep import RunFigures, SweepTask, figures_from
from conformance.verdict import results
from conformance.verdict.journal import journal_path
from conformance.verdict.results import writing
from refengine.model.errors import RefengineError


class SweepJournal:
    """The file of the runs so far. `done` has them by their tasks."""

    def __init__(self, target: Path, fingerprint: str, is_resumed: bool) -> None:
        """Begin the file, or take the runs of the one that is there if the sweep is resumed. Raises
        RefengineError if those are runs of another sweep.
        """
        self.path = journal_path(target)
        self.done: dict[SweepTask, RunFigures] = {}
        if is_resumed and self.path.exists():
            self.done = self._read(fingerprint)
        lines = [json.dumps({"run": fingerprint}), *(run.line() for run in self.done.values())]
        results.replace({self.path: lines})
        with writing(self.path):
            self._file: IO[str] = self.path.open("a", encoding="utf-8")

    def _read(self, fingerprint: str) -> dict[SweepTask, RunFigures]:
        """Return the runs of the file; a line that was only half written is left out."""
        try:
            heading, *lines = self.path.read_text(encoding="utf-8").split("\n")
            is_same = json.loads(heading) == {"run": fingerprint}
        except (OSError, ValueError):
            is_same = False
        if not is_same:
            raise RefengineError(
                "has runs of another sweep: of another query, stream or measure; remove it, or "
                "leave out --resume",
                rule="usage",
                place=str(self.path),
            )
        return {run.task: run for run in _whole_lines(lines)}

    def add(self, run: RunFigures) -> None:
        """Write a run at once. Raises RefengineError."""
        with writing(self.path):
            self._file.write(f"{run.line()}\n")
            self._file.flush()
        self.done[run.task] = run

    def close(self) -> None:
        """Close the file, which stays."""
        self._file.close()

    def remove(self) -> None:
        """Close the file and remove it, when its runs are elsewhere."""
        self.close()
        with writing(self.path):
            self.path.unlink(missing_ok=True)


def _whole_lines(lines: Iterable[str]) -> Iterable[RunFigures]:
    """Yield the runs of the lines that are whole."""
    for line in lines:
        try:
            yield figures_from(line)
        except (ValueError, TypeError):
            continue
