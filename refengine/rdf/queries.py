"""Reading queries: a file or a text in, a query of the model out (QRY-1, DIA-1)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

from refengine import dialects
from refengine.core.query import Query, from_table
from refengine.model.elements import TIME_BOUND
from refengine.model.errors import InvalidQuery, RefengineError
from refengine.model.messages import why
from refengine.rdf.sources import Source, read_text


def read_query(
    source: Source,
    dialect: str | None = None,
    static: bool = False,
    base: str = "",
    graphs: Iterable[str] = (),
) -> Query:
    """QRY-1: Return a query from a TOML file, or the query part of a conformance case (a table with
    `rule` and `query`); or, DIA-1, from a text in a dialect, which the last line end is no part of.
    `static`, `base` and `graphs` are those of `dialects.read`.

    Raises InvalidQuery, and whatever the query itself breaks, with the file as place.
    """
    text = read_text(source, InvalidQuery, "QRY-1")
    try:
        if dialect is not None:
            return dialects.read(text.removesuffix("\n"), dialect, static, base, graphs)
    except RefengineError as error:
        raise error.at(str(source)) from None

    table = _parse_toml(text, source)
    if "rule" in table and isinstance(table.get("query"), dict):
        table = table["query"]
    try:
        return from_table(table)
    except RefengineError as error:
        raise error.at(str(source)) from None


def _parse_toml(text: str, source: Source) -> dict[str, Any]:
    try:
        table = tomllib.loads(text)
        for number, place in _integers(table):
            if not -TIME_BOUND <= number < TIME_BOUND:  # which TOML has not, but tomllib reads
                raise ValueError(f"an integer beyond 64 bits, as {place}")
        return table
    # ValueError: a syntax error, or an integer of thousands of digits
    except (ValueError, RecursionError) as error:
        raise _not_toml(error, text, source) from None


def _not_toml(error: ValueError | RecursionError, text: str, source: Source) -> InvalidQuery:
    reason = why(error)
    place = str(source)
    match = re.fullmatch(
        r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error), re.DOTALL
    )
    if match:
        last_line = text.rstrip().count("\n") + 1
        reason = match[1]
        place = f"{source}:{match[2] or last_line}"
    return InvalidQuery(f"not TOML: {reason}", rule="QRY-1", place=place)


def _integers(value: Any, place: str = "") -> Iterator[tuple[int, str]]:
    """Yield the integers in a TOML value, however deep, each with its place in it, such as
    `windows[0].size`.
    """
    match value:
        case int():
            yield value, place
        case dict():
            for key, item in value.items():
                yield from _integers(item, f"{place}.{key}".removeprefix("."))
        case list():
            for number, item in enumerate(value):
                yield from _integers(item, f"{place}[{number}]")
