"""Bags, rows, terms and windows as text for explanations. Text that comes from an engine is escaped
and has a bounded length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from conformance.verdict import window_elements
from refengine.core.query import Query
from refengine.core.semantics import Semantics
from refengine.core.values import Closure
from refengine.model.elements import XSD, Bag, Element, Row
from refengine.model.messages import count_text as count_text
from refengine.model.messages import escape_unprintable
from refengine.model.terms import Term

ROWS = 4  # of each kind, the most that are written
CONTENT = 30  # elements of a content, the most that are written
WIDTH = 96  # characters of a term
LINE = 2_000  # characters of a line of an explanation
EXPLANATION = 40_000  # characters of an explanation, apart from what says that lines are left out
LEFT_OUT = "  … the rest is left out: the explanation is too long"


def window_text(window: tuple[int, int], semantics: Semantics) -> str:
    """Write a window with the brackets of its closure: `[0, 10)`. An engine may state one where the
    query's windows have no borders: then both its borders belong to it.
    """
    left, right = semantics.closure or Closure.CLOSED
    return f"{left}{window[0]}, {window[1]}{right}"


def first_rows(rows: Bag) -> list[Row]:
    """Return the first rows of a bag in sorted order, at most `ROWS`."""
    return sorted(rows.elements())[:ROWS]


def row_text(line: Row, write: Callable[[Term], str]) -> str:
    """Write a row: `{x: :a, y: 1}`."""
    return "{" + ", ".join(f"{printable(name, 40)}: {write(term)}" for name, term in line) + "}"


class Wording:
    """How explanations write the answers of a query and the elements of its streams. `relation` is
    their word for what is recorded, and `completed` stands before the element that completes a row.
    """

    relation = "relation"
    completed = ", completed by"
    completed_rows = "rows completed by an element"

    def __init__(self, query: Query) -> None:
        declared = re.findall(r"PREFIX\s+([^\s:]*:)\s*<([^>]*)>", query.body.text, re.IGNORECASE)
        self.prefixes = sorted(declared, key=lambda pair: -len(pair[1]))  # the longest IRI first

    @staticmethod
    def of(query: Query) -> Wording:
        """Return the wording for a query: for one of windows alone, that of contents."""
        if window_elements.asks_for_contents(query):
            return ContentWording(query)
        return Wording(query)

    def term(self, term: Term) -> str:
        """Write a term with the query's own prefixes, printable and of bounded length."""
        if not term.startswith("<"):
            return printable(_literal(term), WIDTH)
        for prefix, namespace in self.prefixes:
            local = term[1 + len(namespace) : -1]
            if term.startswith(f"<{namespace}") and re.fullmatch(r"[\w-]+", local):
                return printable(prefix + local, WIDTH)
        return printable(term.replace(XSD, "xsd:"), WIDTH)

    def row(self, line: Row) -> str:
        """Write a row: `{x: :a, y: 1}`."""
        return row_text(line, self.term)

    def named_row(self, line: Row) -> str:
        """Write a row with the word that says what it is: `row {x: :a, y: 1}`."""
        return f"row {self.row(line)}"

    def bag(self, rows: Bag) -> str:
        """Write how many rows there are, and the row if it is the only one."""
        total = rows.total()
        if total == 0:
            return "no rows"
        if total == 1:
            return f"1 row: {self.row(next(rows.elements()))}"
        return count_text(total, "row")

    def element(self, element: Element) -> str:
        """Write an element: its time and its first triples."""
        first = sorted(element.graph)[:2]
        text = " . ".join(" ".join(map(self.term, triple)) for triple in first)
        if len(element.graph) > len(first):
            text += " …"
        return f"{element.app}: {text}"


class ContentWording(Wording):
    """How explanations write the contents of windows: by the numbers of their elements."""

    relation = "report"
    completed = ","
    completed_rows = "elements"

    def row(self, line: Row) -> str:
        """Write an element: `element 3`."""
        return contents_text(Counter([line]))

    def named_row(self, line: Row) -> str:
        """Write an element: `element 3`."""
        return self.row(line)

    def bag(self, rows: Bag) -> str:
        """Write the first elements: `elements 0, 1, 3`."""
        return contents_text(rows)

    def element(self, element: Element) -> str:
        """Write an element: its number, its key and its time."""
        words = " ".join(" ".join(triple) for triple in element.graph)
        named = printable(window_elements.in_words(words), WIDTH) or "a punctuation"
        return f"{named} at {element.app}"


def contents_text(rows: Bag) -> str:
    """Write the elements of a content by their numbers: `elements 0, 1, 3`.

    >>> contents_text(window_elements.content_of([3, 0, 1]).rows)
    'elements 0, 1, 3'
    """
    numbers = window_elements.numbers_in(rows.elements())
    if not numbers:
        return "no elements"
    listed = ", ".join(map(str, numbers[:CONTENT]))
    more = f" and {len(numbers) - CONTENT} more" if len(numbers) > CONTENT else ""
    return f"element{'s' * (len(numbers) > 1)} {listed}{more}"


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
