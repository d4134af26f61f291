"""Texts that somebody else wrote, as a page shows them: printable, of bounded length, links only to
the web.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from refengine.model.elements import XSD, Row
from refengine.model.messages import escaped

WIDTH = 96  # characters of a term
NAME = 160  # of an engine's, a suite's, a case's name
ARGUMENT = 6_000
FIRST = 160  # of an argument, in a list
WEB = r"https?://[\w.-]+(:\d+)?([/?#][\w.~:/?#\[\]@!$&'()*+,;=%-]*)?"


def clean(text: str, most: int = NAME) -> str:
    """Printable text on one line."""
    return escaped(text if len(text) <= most else text[: most - 1] + "…")


def block(text: str, most: int = ARGUMENT) -> str:
    """Printable text whose line ends stay."""
    cut = text if len(text) <= most else text[:most] + "\n…"
    return "\n".join(map(escaped, cut.replace("\r\n", "\n").replace("\t", "    ").split("\n")))


def first_line(argument: str) -> str:
    """The line of an argument that says most: of a fail the first divergence, else its first."""
    lines = [line.strip() for line in argument[:ARGUMENT].splitlines() if line.strip()]
    return clean(
        next(
            (line for line in lines if line.startswith("first divergence")),
            lines[0] if lines else "",
        ),
        FIRST,
    )


def link(text: str) -> str:
    """The text if it is a link to the web, else nothing: a link may be `javascript:…`."""
    return text if len(text) <= 2000 and re.fullmatch(WEB, text, re.ASCII) else ""


def shortener(query: str) -> Callable[[str], str]:
    """A function that writes a term (N-Triples) with the prefixes of a query."""
    declared = re.findall(r"PREFIX\s+([\w.-]*:)\s*<([^<>\s]+)>", query, re.IGNORECASE)[:100]
    prefixes = sorted([*declared, ("xsd:", XSD)], key=lambda pair: -len(pair[1]))

    def iri(match: re.Match[str]) -> str:
        name: str
        for name, namespace in prefixes:
            if match[1].startswith(namespace) and re.fullmatch(
                r"[\w-]+", match[1][len(namespace) :]
            ):
                return name + match[1][len(namespace) :]
        return match[0]

    return lambda term: clean(re.sub(r"<([^<>\s]*)>", iri, term), WIDTH)


def row(line: Row, shorten: Callable[[str], str]) -> str:
    """`{x: :a, y: "1"}`."""
    return "{" + ", ".join(f"{clean(name, 40)}: {shorten(term)}" for name, term in line) + "}"


def told(row: Mapping[str, Any], shorten: Callable[[str], str]) -> str:
    """A row as SPARQL JSON has it: what cannot be read as terms is shown all the same."""
    return (
        "{"
        + ", ".join(
            f"{clean(name, 40)}: {shorten(_term(term))}" for name, term in sorted(row.items())
        )
        + "}"
    )


def _term(term: Mapping[str, str]) -> str:
    value = term["value"]
    match term["type"]:
        case "uri":
            return f"<{value}>"
        case "bnode":
            return f"_:{value}"
        case _:
            tag = (
                f"@{term['xml:lang']}"
                if "xml:lang" in term
                else f"^^<{term['datatype']}>"
                if "datatype" in term
                else ""
            )
            return f'"{value}"{tag}'
