"""The queries that a benchmark declares in its file `queries.toml`: what each asks for, where its
text comes from, and its table (QRY-1).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from conformance.bench.tables import DASH, Cell, Table
from refengine.core.query import check_keys, from_table, parse_word
from refengine.model.errors import RefengineError

KEYS = (
    "name",
    "question",
    "origin",
    "place",
    "change",
    "features",
    "graphs",
    "windows",
    "body",
    "r2s",
)
REQUIRED = ("name", "question", "origin", "place", "windows", "body")
PREFIX = re.compile(r"^\s*PREFIX\s+([\w-]*):", re.M)


class Origin(StrEnum):
    """Where the meaning of a query comes from. We wrote every query text ourselves.

    `public text`: it means what a public text means. `adapted`: a public text was changed, in a
    window, a slide or its body. `description`: no text is public, and it follows what the
    publication says of it.
    """

    PUBLIC_TEXT = "public text"
    ADAPTED = "adapted"
    DESCRIPTION = "description"


@dataclass(frozen=True)
class PublishedQuery:
    """A query of a benchmark.

    `question` says in a sentence what it asks for. `place` is where in the source its text or its
    description stands, and `change` is what differs from there, if anything does. `table` is the
    query (QRY-1). `features` are the parts of SPARQL that the query uses, and `graphs` are
    the names of the static graphs that it needs.
    """

    name: str
    question: str
    origin: Origin
    place: str
    table: Mapping[str, Any]
    change: str = ""
    features: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()


def read_queries(path: Path) -> Mapping[str, PublishedQuery]:
    """Return the queries of a file by their names, in its order.

    The file has `prologue`, which are lines `PREFIX`, a table `windows`, and an array `query`. Each
    body gets the lines of the prologue whose prefixes it uses. A query says which of the windows it
    has; a window is named by its stream, as `GRAPH` in the body names it.

    The file is the project's own: it is taken to be TOML with these three keys. Raises InvalidQuery
    for a query that is malformed, which names the query and the key.
    """
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    prologue = content["prologue"].splitlines()
    queries = [_read_query(entry, prologue, content["windows"]) for entry in content["query"]]
    return {query.name: query for query in queries}


def _read_query(
    entry: Mapping[str, Any], prologue: Iterable[str], windows: Mapping[str, Any]
) -> PublishedQuery:
    """Return a query of its entry in the file. `windows` are those that it may name."""
    error_place = f"query {entry.get('name', '')}".rstrip()
    check_keys(entry, KEYS, required=REQUIRED, place=error_place)
    body = entry["body"].strip()
    for name in entry["windows"]:
        check_keys({name: ()}, tuple(windows), required=(), place=f"{error_place}, windows")
    table = {
        "windows": [
            {**windows[name], "name": windows[name]["stream"]} for name in entry["windows"]
        ],
        "body": "\n".join([*_used_prefixes(prologue, body), body]),
    }
    if "r2s" in entry:
        table["r2s"] = entry["r2s"]
    try:
        from_table(table)
    except RefengineError as error:
        raise error.at(error_place) from None
    return PublishedQuery(
        entry["name"],
        entry["question"],
        parse_word(Origin, "origin", entry, error_place),
        entry["place"],
        table,
        entry.get("change", ""),
        tuple(entry.get("features", ())),
        tuple(entry.get("graphs", ())),
    )


def _used_prefixes(prologue: Iterable[str], body: str) -> list[str]:
    """Return the lines of a prologue that declare a prefix which stands in a body."""
    return [
        line
        for line in prologue
        if (found := PREFIX.match(line)) and re.search(rf"(?<![\w-]){found[1]}:[\w-]", body)
    ]


def shorten_windows(table: Mapping[str, Any], size: int, slide: int) -> Mapping[str, Any]:
    """Return a query whose windows are `size` ms long at most, and slide by `slide` ms at least, or
    by their whole size if that is less. So a short run has few of them.
    """
    windows = []
    for window in table["windows"]:
        length = min(window["size"], size)
        step = min(length, max(window["slide"], slide))
        windows.append({**window, "size": length, "slide": step})
    return {**table, "windows": windows}


def table_of_queries(queries: Iterable[PublishedQuery]) -> Table:
    """Return the table that says of each query what it asks for, and where its text comes from. It
    has no column of features if no query declares any.
    """
    columns: list[tuple[str, Callable[[PublishedQuery], str]]] = [
        ("query", lambda query: query.name),
        ("asks for", lambda query: query.question),
        ("features", lambda query: ", ".join(query.features)),
        ("static data", lambda query: ", ".join(query.graphs)),
        ("origin", lambda query: str(query.origin)),
        ("follows", lambda query: query.place),
        ("what differs", lambda query: query.change),
    ]
    listed = list(queries)
    if not any(query.features for query in listed):
        columns = [column for column in columns if column[0] != "features"]
    return Table(
        "Queries",
        tuple(head for head, _ in columns),
        tuple(tuple(Cell(text_of(query) or DASH) for _, text_of in columns) for query in listed),
        "We wrote every query text ourselves. Public text: the query means what that text means. "
        "Adapted: that text was changed, in a window, a slide or its body; the last column says "
        "how. Description: no text is public; the query follows what the publication says of it.",
        is_prose=True,
    )
