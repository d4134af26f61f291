"""The part of an argument that says what would explain a fail: rows at the edges of windows, a row
that no semantics can give, changes of the semantics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from conformance.verdict.wording import ROWS, Shortener, row_text, window_text
from refengine.core.query import Query
from refengine.core.semantics import Semantics, show
from refengine.oracle.comparison import BorderRow, Fate
from refengine.oracle.divergence import UnreachableRow
from refengine.oracle.explanations import FIELDS_TRIED, Explanations, FieldChange
from refengine.oracle.trial import Trial

CHANGES = 6  # shown of those that explain a fail


def border_lines(trial: Trial, near: Explanations, shorten: Shortener) -> list[str]:
    """Write the rows at the edges of windows that are not in place. If some are on a border, write
    also those on borders that are in place.
    """
    assert trial.divergence is not None  # it fails
    rows = trial.divergence.borders
    moved = [row for row in rows if row.fate is not Fate.PLACE]
    if not moved:
        return []
    lines = _moved_rows(moved, trial.semantics, shorten)
    on_borders = [row for row in moved if row.on_border]
    if on_borders:
        in_place = [row for row in rows if row.fate is Fate.PLACE]
        lines += [_border_row(row, trial.semantics, shorten) for row in in_place[:ROWS]]
        lines += _more(Fate.PLACE, in_place)
        lines += _no_closure(on_borders, in_place, near)
    return lines


def _moved_rows(moved: Sequence[BorderRow], semantics: Semantics, shorten: Shortener) -> list[str]:
    """Write the first rows that are not in place, with the windows to which they belong."""
    where = "at the edge of a window"
    if all(row.on_border for row in moved):
        where = "on a window border"
    lines = [f"  rows completed by an element {where}:"]
    lines += [_border_row(row, semantics, shorten) for row in moved[:ROWS]]
    return [*lines, *_more("not in place", moved)]


def _no_closure(
    moved: Sequence[BorderRow],
    in_place: Sequence[BorderRow],
    near: Explanations,
) -> Iterator[str]:
    """Yield the line that no closure explains the rows that moved over a border, if none does."""
    if _names_closure(near):
        return
    contrast = ""
    if in_place:
        contrast = f": those at {_instants(moved)} moved, those at {_instants(in_place)} did not"
    yield f"    no closure explains it{contrast}"


def _names_closure(near: Explanations) -> bool:
    """Whether a change of the closure explains the fail, or could not be tried."""
    in_pairs = [change for pair in near.pairs for change in pair]
    changes = [*near.changes, *near.untried, *in_pairs]
    return any(change.field == "closure" for change in changes)


def _border_row(row: BorderRow, semantics: Semantics, shorten: Shortener) -> str:
    """Write a line such as `one window late: row {x: :a}, completed by the last element of its
    window [0, 10), at 9`.
    """
    window = window_text(row.window, semantics)
    return (
        f"    {row.fate}: row {row_text(row.row, shorten)}, completed by {_edge(row)} of its "
        f"window {window}, at {row.at}"
    )


def _more(label: str, rows: Sequence[BorderRow]) -> Iterator[str]:
    """Yield the line that says how many rows are not shown, and at which instants."""
    if len(rows) > ROWS:
        yield f"    {label}: … {len(rows) - ROWS} more, at {_instants(rows[ROWS:])}"


def _edge(row: BorderRow) -> str:
    """Write which element of a window completes a row, such as `the last element`."""
    if row.on_border:
        return "an element on a border"
    if row.is_first and row.fate is not Fate.LATE:
        return "the first element"
    return "the last element"


def _instants(rows: Iterable[BorderRow]) -> str:
    """Write `20000, 32000 (twice)`."""
    times = {1: "", 2: " (twice)"}
    counts = Counter(row.at for row in rows)
    return ", ".join(f"{at}{times.get(n, f' ({n} times)')}" for at, n in sorted(counts.items()))


def far_line(query: Query, far: UnreachableRow, shorten: Shortener) -> str:
    """Write why no change of the semantics can explain the output."""
    why = "is never an answer on this stream"
    if far.span is not None:
        size = query.windows[0].size
        why = f"rests on elements {far.span} apart, and a window has {size}"
    row = row_text(far.row, shorten)
    return f"  no semantics explains it: the recorded row {row} {why} (ORA-10)"


def change_line(near: Explanations) -> str:
    """Write the changes of the semantics under which the recording would be right."""
    tail = ""
    if near.untried:
        tail = f"; out of reach: {', '.join(map(_change, near.untried))}"
    if near.changes:
        changes = ", or ".join(map(_change, near.changes[:CHANGES]))
        return f"  would be explained by {changes}{tail}"
    if near.profiles:
        names = ", ".join(near.profiles[:CHANGES])
        return f"  passes under profile {names}; no single change explains it{tail}"
    if near.pairs:
        pairs = ", or ".join(
            f"{_change(one)} with {_change(other)}" for one, other in near.pairs[:CHANGES]
        )
        return f"  would be explained by {pairs}; no single change explains it{tail}"
    pairs = "nor one of the pairs of changes that were tried"
    if near.is_complete:
        pairs = "nor a pair of changes"
    return (
        f"  no single change of {', '.join(FIELDS_TRIED[:-1])} or {FIELDS_TRIED[-1]} "
        f"explains it, nor "
        f"another profile, {pairs}{tail}"
    )


def _change(change: FieldChange) -> str:
    """Write `closure=(]`; an open t0 that is out of reach stands for every other one."""
    return f"{change.field}={show(change.value)}"
