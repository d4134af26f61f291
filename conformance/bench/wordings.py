"""The wordings of a query: tables of one query that differ in how they name its windows, since no
naming suits every language (DIA-6).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from conformance.harness.engine_file import Engine
from refengine.core.query import Query, from_table
from refengine.dialects import PLAIN
from refengine.dialects.dialect import lone_pattern, references, unwrap
from refengine.dialects.source import DialectText
from refengine.model.errors import Unsupported

QueryTable = Mapping[str, Any]

GRAPH = re.compile(r"\bGRAPH\s+(<[^<>]*>|[\w-]*:[\w-]*)\s*", re.I)
PREFIX = re.compile(r"\bPREFIX\s+([\w-]*:)\s*<([^<>]*)>", re.I)


def make_wordings(table: QueryTable) -> tuple[QueryTable, ...]:
    """Return the wordings of a query, in the order in which they are tried.

    A query whose windows are named by their streams, `GRAPH <s> { … }` over a window on `s`, has
    three wordings:

    1. *merged*: no window has a name, and all are in the default graph, as in C-SPARQL. The whole
       WHERE clause `{ GRAPH <s> { … } }` becomes `{ … }`, and not `{ { … } }`, since CQELS takes no
       group in a STREAM;
    2. as it is declared;
    3. *numbered*: the windows have the names that CQELS-QL gives them, urn:window:1 and so on.

    All have the same answers as long as no solution of one window's patterns takes a triple of
    another window or of static data. That depends on the data; the tests of each benchmark check it
    for each query. Any other query has one wording.
    """
    names = [window.get("name") for window in table["windows"]]
    streams = [window["stream"] for window in table["windows"]]
    if names != streams or len({*streams}) < len(streams):
        return (table,)
    numbers = {name: f"urn:window:{number}" for number, name in enumerate(streams, 1)}
    merged = _rename_windows(_unwrap_lone_pattern(table), lambda name: None)
    numbered = _rename_windows(table, lambda name: numbers[name])
    return merged, table, numbered


def _unwrap_lone_pattern(table: QueryTable) -> QueryTable:
    """Return the query with `{ P }` in place of `{ GRAPH <s> { P } }`, if that is all of its WHERE
    clause and `<s>` is a window. Any other query stays as it is.
    """
    body = table["body"]
    source = DialectText(body, PLAIN.parser.parse(body))
    lone = lone_pattern(source, "graph")
    for pattern, _ in references(source, [window["name"] for window in table["windows"]]):
        if pattern is lone:
            unwrap(source, pattern)
    return {**table, "body": source.edited()}


def _rename_windows(table: QueryTable, rename: Callable[[str], str | None]) -> QueryTable:
    """Return the query with the names of windows that `rename` gives. It gives None for a window
    that is to have no name.
    """
    body = table["body"]
    names = {window["name"] for window in table["windows"]}
    prefixes = dict(PREFIX.findall(body))

    def reword(found: re.Match[str]) -> str:
        name = _resolve(found[1], prefixes)
        if name not in names:
            return found[0]
        new_name = rename(name)
        return "" if new_name is None else f"GRAPH <{new_name}> "

    windows = []
    for window in table["windows"]:
        renamed = {key: value for key, value in window.items() if key != "name"}
        if (new_name := rename(window["name"])) is not None:
            renamed["name"] = new_name
        windows.append(renamed)
    return {**table, "windows": windows, "body": GRAPH.sub(reword, body)}


def _resolve(reference: str, prefixes: Mapping[str, str]) -> str:
    """Return the IRI that `<IRI>` or a prefixed name stands for."""
    if reference.startswith("<"):
        return reference[1:-1]
    prefix, _, rest = reference.partition(":")
    return prefixes.get(f"{prefix}:", "") + rest


def word_for_engine(
    tested: Engine, table: QueryTable, has_static: bool
) -> tuple[Query, QueryTable, str]:
    """Return the first wording that can be written in an engine's language: the query, its table
    and its text. If there is none, raises the Unsupported of the query as it is declared.
    """
    errors: dict[int, Unsupported] = {}
    for wording in make_wordings(table):
        query = from_table(wording)
        try:
            return query, wording, tested.text(query, has_static, wording)
        except Unsupported as refused:
            errors[id(wording)] = refused
    raise errors[id(table)]
