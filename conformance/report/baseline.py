"""What has changed since an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from conformance.report.source import Entry

NAMED = 20  # cases that are listed of each kind of change, at most
WRONG = ("fail", "error")


def describe_changes(before: Iterable[Entry], after: Iterable[Entry]) -> Iterator[str]:
    """Yield a line for each kind of change between two runs, and a line for each of its cases; one
    line if nothing has changed.

    A result is *fixed* if it was a fail or an error and is neither now, *broken* if it is one now
    and was none, and *changed* if its outcome is another one. A result that is not in the earlier
    run is *new*. An engine of which the earlier run has nothing at all is named first: it may be
    the wrong file.
    """
    old = {entry.result.key: entry.kind for entry in before}
    after = list(after)
    compared = {engine for engine, _, _ in old}
    for engine in sorted({entry.result.engine for entry in after} - compared):
        others = ", ".join(sorted(compared)) or "no results"
        yield f"the baseline has nothing of {engine}; it has {others}"
    changes = _changed_cases(old, after)
    if not any(changes.values()):
        yield "no result has changed since the baseline"
    for word, cases in changes.items():
        if cases:
            yield f"{word} since the baseline: {len(cases)}"
            yield from (f"  {case}" for case in cases[:NAMED])
            if len(cases) > NAMED:
                yield f"  … {len(cases) - NAMED} more"


def _changed_cases(
    old: Mapping[tuple[str, str, str], str], after: Iterable[Entry]
) -> dict[str, list[str]]:
    """Return a text for each case whose result has changed, by the word for the change. `old` has
    the kinds of the earlier results, by their keys.
    """
    changes: dict[str, list[str]] = {"broken": [], "fixed": [], "changed": [], "new": []}
    for entry in after:
        engine, _, case = entry.result.key
        kind = old.get(entry.result.key)
        if kind is None:
            changes["new"].append(f"{engine} {case} ({entry.kind})")
        elif kind != entry.kind:
            changes[_change(kind, entry.kind)].append(f"{engine} {case} ({kind} → {entry.kind})")
    return changes


def _change(before: str, after: str) -> str:
    """Return the word for a change from one kind of result to another."""
    if after in WRONG and before not in WRONG:
        return "broken"
    if before in WRONG and after not in WRONG:
        return "fixed"
    return "changed"
