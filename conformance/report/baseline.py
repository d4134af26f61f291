"""What has changed since an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance.report.source import Entry

NAMED = 20  # cases that are listed of each kind of change, at most
WRONG = ("fail", "error")


class ResultChange(NamedTuple):
    """A result whose kind has changed since an earlier run, from `before` (empty if the earlier run
    does not have it) to `after`.
    """

    engine: str
    suite: str
    case: str
    before: str
    after: str

    @property
    def kinds(self) -> str:
        """The kinds in words: `pass → fail`, or only the kind of a new result."""
        if not self.before:
            return self.after
        return f"{self.before} → {self.after}"


def find_changes(before: Iterable[Entry], after: Iterable[Entry]) -> dict[str, list[ResultChange]]:
    """Return what has changed between two runs, by the word for the change.

    A result is *fixed* if it was a fail or an error and is neither now, *broken* if it is one now
    and was none, and *changed* if its outcome is another one. A result that is not in the earlier
    run is *new*.
    """
    old = {entry.result.key: entry.kind for entry in before}
    changes: dict[str, list[ResultChange]] = {"broken": [], "fixed": [], "changed": [], "new": []}
    for entry in after:
        kind = old.get(entry.result.key, "")
        if kind != entry.kind:
            word = _change(kind, entry.kind) if kind else "new"
            changes[word].append(ResultChange(*entry.result.key, kind, entry.kind))
    return changes


def missing_engines(before: Iterable[Entry], after: Iterable[Entry]) -> Iterator[str]:
    """Yield a line for each engine of which the earlier run has nothing at all: it may be the wrong
    file.
    """
    compared = {entry.result.engine for entry in before}
    for engine in sorted({entry.result.engine for entry in after} - compared):
        others = ", ".join(sorted(compared)) or "no results"
        yield f"the baseline has nothing of {engine}; it has {others}"


def describe_changes(before: Iterable[Entry], after: Iterable[Entry]) -> Iterator[str]:
    """Yield a line for each kind of change between two runs, and a line for each of its cases; one
    line if nothing has changed. Engines that the earlier run does not have are named first.
    """
    before = list(before)
    after = list(after)
    yield from missing_engines(before, after)
    changes = find_changes(before, after)
    if not any(changes.values()):
        yield "no result has changed since the baseline"
    for word, results in changes.items():
        if results:
            yield f"{word} since the baseline: {len(results)}"
            yield from (f"  {one.engine} {one.case} ({one.kinds})" for one in results[:NAMED])
            if len(results) > NAMED:
                yield f"  … {len(results) - NAMED} more"


def _change(before: str, after: str) -> str:
    """Return the word for a change from one kind of result to another."""
    if after in WRONG and before not in WRONG:
        return "broken"
    if before in WRONG and after not in WRONG:
        return "fixed"
    return "changed"
