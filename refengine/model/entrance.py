"""§10 The entrance for users: bags of rows that they give are compared, with their terms made
canonical first (MOD-4).
"""

from __future__ import annotations

from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, canonical_rows
from refengine.model.errors import RefengineError
from refengine.model.messages import display


def equal(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """Return whether two bags of rows are the same, as `compare.equal` does (CMP-4).

    Raises InvalidStream for what is no bag, no row or no term (MOD-4), and Unsupported for rows
    whose blank nodes are too symmetric.

    >>> from collections import Counter
    >>> from refengine import equal, row
    >>> equal(Counter([row({"x": '"hallo"@nl-BE'})]), Counter([row({"x": '"hallo"@nl-be'})]))
    True
    """
    a, b = canonical_rows(a, "first bag"), canonical_rows(b, "second bag")
    return compare.equal(a, b, mode_of(mode))


def difference(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> tuple[Bag, Bag]:
    """Return the rows that each of two bags holds more often than the other, as
    `compare.difference` does (CMP-3). Raises InvalidStream for what is no bag, no row or no term
    (MOD-4).
    """
    a, b = canonical_rows(a, "first bag"), canonical_rows(b, "second bag")
    return compare.difference(a, b, mode_of(mode))


def mode_of(value: object) -> Mode:
    """CMP-1: Return a mode of comparison. Raises RefengineError for what is none."""
    if not isinstance(value, Mode):
        reason = f"must be Mode.VALUE or Mode.TERM, got {display(value)}"
        raise RefengineError(reason, rule="CMP-1", place="mode")
    return value
