"""Texts from engines and their files, made safe for a page: printable, of bounded length, with
links to the web only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from conformance.verdict import window_elements
from refengine.drawings import labels
from refengine.drawings.labels import NAME as NAME
from refengine.drawings.labels import Shorten as Shorten
from refengine.drawings.labels import clean as clean
from refengine.model.elements import Row
from refengine.model.messages import escape_unprintable

EXPLANATION = 6_000  # characters of an explanation
FIRST = 160  # characters of an explanation's line in a list
WEB = r"https?://[\w.-]+(:\d+)?([/?#][\w.~:/?#\[\]@!$&'()*+,;=%-]*)?"


def term_shortener(query: str) -> Shorten:
    """Return a function that shortens terms in N-Triples by the prefixes of a query. The elements
    of the suite `windows` are named by their numbers.
    """
    shorten = labels.term_shortener(query)
    return lambda term: shorten(window_elements.in_words(term))


def block(text: str, most: int = EXPLANATION) -> str:
    """Return a text as printable lines. It is cut to `most` characters before it is escaped."""
    if len(text) > most:
        text = text[:most] + "\n…"
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(map(escape_unprintable, lines))


def most_telling_line(explanation: str) -> str:
    """Return the line of an explanation that says most: the first divergence of a fail, else the
    first line.
    """
    lines = [line.strip() for line in explanation[:EXPLANATION].splitlines() if line.strip()]
    divergences = [line for line in lines if line.startswith("first divergence")]
    return clean([*divergences, *lines, ""][0], FIRST)


def link(text: str) -> str:
    """Return a text if it is a link to the web, else nothing. Others may be `javascript:…`."""
    if len(text) <= 2000 and re.fullmatch(WEB, text, re.ASCII):
        return text
    return ""


def mapping_text(line: Row, shorten: Shorten) -> str:
    """Write a solution mapping: `{x: :a, y: "1"}`."""
    return _in_braces(line, shorten)


def json_mapping_text(bindings: Mapping[str, Any], shorten: Shorten) -> str:
    """Write a row of SPARQL JSON as `mapping_text` writes a mapping, even if its terms are
    malformed.
    """
    return _in_braces([(name, _term(term)) for name, term in sorted(bindings.items())], shorten)


def _in_braces(cells: Row | list[tuple[str, str]], shorten: Shorten) -> str:
    return "{" + ", ".join(f"{clean(name, 40)}: {shorten(term)}" for name, term in cells) + "}"


def _term(term: Mapping[str, str]) -> str:
    """Write a term of SPARQL JSON in N-Triples, without escapes."""
    value = term["value"]
    match term["type"]:
        case "uri":
            return f"<{value}>"
        case "bnode":
            return f"_:{value}"
    if "xml:lang" in term:
        return f'"{value}"@{term["xml:lang"]}'
    if "datatype" in term:
        return f'"{value}"^^<{term["datatype"]}>'
    return f'"{value}"'
