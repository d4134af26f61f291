"""What has changed since an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from conformance.report.source import Entry
from refengine.model.messages import plain

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
    run is *new*. If each run has one engine, and most cases are the same, the name of the engine
    makes no difference.
    """
    before = list(before)
    after = list(after)
    new_name = _only_other_name(before, after)
    old = {}
    for entry in before:
        engine, *case = entry.result.key
        old[(new_name or engine, *case)] = entry.kind
    changes: dict[str, list[ResultChange]] = {"broken": [], "fixed": [], "changed": [], "new": []}
    for entry in after:
        kind = old.get(entry.result.key, "")
        if kind != entry.kind:
            word = _change(kind, entry.kind) if kind else "new"
            changes[word].append(ResultChange(*entry.result.key, kind, entry.kind))
    return changes


def missing_engines(before: Iterable[Entry], after: Iterable[Entry]) -> Iterator[str]:
    """Yield a line for each engine of which the earlier run has nothing at all: it may be the wrong
    file. The line says with which other engine its results are compared, or how they can be.
    """
    before = list(before)
    after = list(after)
    compared = sorted({entry.result.engine for entry in before})
    others = ", ".join(compared) or "no results"
    for engine in sorted({entry.result.engine for entry in after}.difference(compared)):
        line = f"the baseline has nothing of {engine}; it has {others}"
        if _only_other_name(before, after):
            line += f": {engine} is compared with it, since it has the same cases"
        elif len(compared) > 1:
            line += "; to compare with one of these, give a file with its results alone"
        yield plain(line)


def _only_other_name(before: Sequence[Entry], after: Sequence[Entry]) -> str:
    """Return the name of the engine of a run whose results are compared with those that the earlier
    run has under another name; empty if names are compared with names. Each run has one engine, and
    at least half of the cases are also in the earlier run.
    """
    old = {entry.result.engine for entry in before}
    new = {entry.result.engine for entry in after}
    if len(old) != 1 or len(new) != 1 or old == new:
        return ""
    known = {entry.result.key[1:] for entry in before}
    shared = sum(entry.result.key[1:] in known for entry in after)
    return new.pop() if 2 * shared >= len(after) else ""


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
