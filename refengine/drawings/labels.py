"""Texts of what users and engines wrote, made short and printable for a drawing."""

from __future__ import annotations

import re
from collections.abc import Callable

from refengine.model.elements import XSD
from refengine.model.messages import escape_unprintable

WIDTH = 96  # characters of a term
NAME = 160  # characters of the name of an engine, a suite or a case

Shorten = Callable[[str], str]  # from a term in N-Triples to a shorter text


def clean(text: str, most: int = NAME) -> str:
    """Return a text as one printable line. It is cut to `most` characters before it is escaped."""
    if len(text) > most:
        text = text[: most - 1] + "…"
    return escape_unprintable(text)


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
