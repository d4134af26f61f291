"""The elements of the suite `windows`, which have a number, a time and perhaps a key, as the judge
has them: each is a graph of one triple, and a body lists those that a content holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from refengine.core.query import Query, Window
from refengine.model.elements import Bag, Element, Relation, Row, row
from refengine.model.terms import Term, literal, parse_literal

DIALECT = "window"  # in which a query is its window
STREAM = "s"
ELEMENT = "urn:refengine:element:"
IN = "urn:refengine:in"  # between an element and its key
KEY = "object"  # the part of the triple that is the key
VARIABLE = "element"
BODY = f"SELECT ?{VARIABLE} WHERE {{ ?{VARIABLE} <{IN}> ?key }}"
_TERM = re.compile(rf"<{ELEMENT}(\d+)>")
_TRIPLE = re.compile(rf'<{ELEMENT}(\d+)> <{IN}> "(.*)"')


def asks_for_contents(query: Query) -> bool:
    """Whether a query is of the suite `windows`: its answers are contents."""
    return query.body.text == BODY


def window_table(window: Window) -> dict[str, Any]:
    """Return a window of the suite as an engine is asked of it. A key is called `key`, whatever it
    is the key of.

    >>> from refengine.core.query import WindowKind
    >>> window_table(Window(STREAM, WindowKind.TIME, size=10, slide=5, by=(KEY,)))
    {'kind': 'time', 'size': 10, 'slide': 5, 'by': ['key']}
    """
    table: dict[str, Any] = {"kind": str(window.kind)}
    for name in ("size", "slide", "lag"):
        if value := getattr(window, name):
            table[name] = value
    if window.by:
        table["by"] = ["key"]
    return table


def query_table(window: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of the query of which an engine is asked the window."""
    table = {"stream": STREAM, **window}
    if "by" in window:
        table["by"] = [KEY]
    return {"windows": [table], "body": BODY}


def term_of(number: int) -> Term:
    """Return the term of the element with a number.

    >>> term_of(3)
    '<urn:refengine:element:3>'
    """
    return Term(f"<{ELEMENT}{number}>")


def graph_text(number: int, key: str = "") -> str:
    """Return the graph of an element with a number and a key, in N-Triples without the dot.

    >>> graph_text(3, "a")
    '<urn:refengine:element:3> <urn:refengine:in> "a"'
    """
    return f"{term_of(number)} <{IN}> {literal(key)}"


def number_of(term: Term) -> int | None:
    """Return the number of the element that a term stands for; None for any other term."""
    found = _TERM.fullmatch(term)
    return int(found[1]) if found else None


def number_and_key(element: Element) -> tuple[int, str] | None:
    """Return the number and the key of an element; None for one that has neither, as a
    punctuation.
    """
    for subject, _, key in element.graph:
        number = number_of(subject)
        if number is not None:
            return number, parse_literal(key).lexical
    return None


def in_words(text: str) -> str:
    """Return a text in which elements are named in words in place of their triples and terms.

    >>> in_words(graph_text(3, "a")), in_words(graph_text(4)), in_words(term_of(5))
    ('element 3 of key a', 'element 4', '5')
    """
    text = _TRIPLE.sub(lambda found: f"element {found[1]}{_of_key(found[2])}", text)
    return _TERM.sub(r"\1", text)


def _of_key(key: str) -> str:
    """Write the key of an element; nothing if it has none."""
    return f" of key {key}" if key else ""


def content_of(numbers: Iterable[int]) -> Relation:
    """Return a content, of elements by their numbers, as the relation that is its answer."""
    bag: Bag = Counter(row([(VARIABLE, term_of(number))]) for number in numbers)
    return Relation((VARIABLE,), bag)


def numbers_in(rows: Iterable[Row]) -> list[int]:
    """Return the numbers of the elements in the rows of a content, in their order."""
    numbers = (number_of(term) for line in rows for _, term in line)
    return sorted(number for number in numbers if number is not None)
