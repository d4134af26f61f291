"""Texts from engines and their files, made safe for a page: printable, of bounded length, with
links to the web only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from refengine.model.elements import XSD, Row
from refengine.model.messages import escape_unprintable

WIDTH = 96  # characters of a term
NAME = 160  # characters of the name of an engine, a suite or a case
ARGUMENT = 6_000  # characters of an argument
FIRST = 160  # characters of an argument's line in a list
WEB = r"https?://[\w.-]+(:\d+)?([/?#][\w.~:/?#\[\]@!$&'()*+,;=%-]*)?"

Shorten = Callable[[str], str]  # from a term in N-Triples to a shorter text


def clean(text: str, most: int = NAME) -> str:
    """Return a text as one printable line. It is cut to `most` characters before it is escaped."""
    if len(text) > most:
        text = text[: most - 1] + "…"
    return escape_unprintable(text)


def block(text: str, most: int = ARGUMENT) -> str:
    """Return a text as printable lines. It is cut to `most` characters before it is escaped."""
    if len(text) > most:
        text = text[:most] + "\n…"
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(map(escape_unprintable, lines))


def most_telling_line(argument: str) -> str:
    """Return the line of an argument that says most: the first divergence of a fail, else the first
    line.
    """
    lines = [line.strip() for line in argument[:ARGUMENT].splitlines() if line.strip()]
    divergences = [line for line in lines if line.startswith("first divergence")]
    return clean([*divergences, *lines, ""][0], FIRST)


def link(text: str) -> str:
    """Return a text if it is a link to the web, else nothing. Others may be `javascript:…`."""
    if len(text) <= 2000 and re.fullmatch(WEB, text, re.ASCII):
        return text
    return ""


def term_shortener(query: str) -> Shorten:
    """Return a function that shortens terms in N-Triples by the prefixes of a query."""
    declared = re.findall(r"PREFIX\s+([\w.-]*:)\s*<([^<>\s]+)>", query, re.IGNORECASE)[:100]
    prefixes = sorted([*declared, ("xsd:", XSD)], key=lambda pair: -len(pair[1]))

    def prefixed(match: re.Match[str]) -> str:
        prefix: str
        for prefix, namespace in prefixes:
            local = match[1].removeprefix(namespace)
            if match[1].startswith(namespace) and re.fullmatch(r"[\w-]+", local):
                return prefix + local
        return match[0]

    return lambda term: clean(re.sub(r"<([^<>\s]*)>", prefixed, term), WIDTH)


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
