"""Bags, rows, terms and windows as text for explanations. Text that comes from an engine is escaped
and has a bounded length.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from refengine.core.query import Query
from refengine.core.semantics import Semantics
from refengine.core.values import Closure
from refengine.model.elements import XSD, Bag, Row
from refengine.model.messages import count_text as count_text
from refengine.model.messages import escape_unprintable
from refengine.model.terms import Term

ROWS = 4  # of each kind, the most that are written
WIDTH = 96  # characters of a term
LINE = 2_000  # characters of a line of an explanation
EXPLANATION = 40_000  # characters of an explanation, apart from what says that lines are left out
LEFT_OUT = "  … the rest is left out: the explanation is too long"
Shortener = Callable[[Term], str]


def window_text(window: tuple[int, int], semantics: Semantics) -> str:
    """Write a window with the brackets of its closure: `[0, 10)`. An engine may state one where the
    query's windows have no borders: then both its borders belong to it.
    """
    left, right = semantics.closure or Closure.CLOSED
    return f"{left}{window[0]}, {window[1]}{right}"


def bag_text(rows: Bag, shorten: Shortener) -> str:
    """Write how many rows there are, and the row if it is the only one."""
    total = rows.total()
    if total == 0:
        return "no rows"
    if total == 1:
        return f"1 row: {row_text(next(rows.elements()), shorten)}"
    return count_text(total, "row")


def first_rows(rows: Bag) -> list[Row]:
    """Return the first rows of a bag in sorted order, at most `ROWS`."""
    return sorted(rows.elements())[:ROWS]


def row_text(line: Row, shorten: Shortener) -> str:
    """Write a row: `{x: :a, y: 1}`."""
    return "{" + ", ".join(f"{printable(name, 40)}: {shorten(term)}" for name, term in line) + "}"


def shortener(query: Query) -> Shortener:
    """Return a function that writes terms with the query's own prefixes, printable and of bounded
    length.
    """
    declared = re.findall(r"PREFIX\s+([^\s:]*:)\s*<([^>]*)>", query.body.text, re.IGNORECASE)
    longest_first = sorted(declared, key=lambda pair: -len(pair[1]))

    def shorten(term: Term) -> str:
        if not term.startswith("<"):
            return printable(_literal(term), WIDTH)
        for prefix, namespace in longest_first:
            local = term[1 + len(namespace) : -1]
            if term.startswith(f"<{namespace}") and re.fullmatch(r"[\w-]+", local):
                return printable(prefix + local, WIDTH)
        return printable(term.replace(XSD, "xsd:"), WIDTH)

    return shorten


def _literal(term: Term) -> str:
    """Write a literal with `xsd:` for the namespace of its datatype; leave its own text, and blank
    nodes, as they are.
    """
    text, quote, rest = term.rpartition('"')
    return f"{text}{quote}{rest.replace(XSD, 'xsd:')}"


def printable_explanation(text: str) -> str:
    """Make an explanation printable: its lines, which only line feeds end, are bounded in length
    and together. An explanation that is so already stays as it is.
    """
    lines = text.split("\n")
    if len(text) <= LINE and all(map(str.isprintable, lines)):
        return text
    lines = [printable(line, LINE) for line in lines]
    length = 0
    for number, line in enumerate(lines):
        length += 1 + len(line)
        if length > EXPLANATION and line != LEFT_OUT:
            return "\n".join([*lines[:number], LEFT_OUT])
    return "\n".join(lines)


def printable_line(text: str) -> str:
    """Make a sentence that may hold text from an engine printable and of bounded length."""
    return printable(text, 400)


def printable(text: str, width: int) -> str:
    """Make text printable and at most `width` characters long."""
    text = escape_unprintable(text[: width + 1])
    if len(text) > width:
        text = text[: width - 1] + "…"
    return text
