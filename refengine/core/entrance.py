"""§3 The entrance for users: a query from a table, or from keywords that type checkers see."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, Required, TypedDict, Unpack, overload

from refengine.core import query
from refengine.core.query import Query, Unit, WindowKind
from refengine.core.semantics import R2S
from refengine.model.errors import InvalidQuery


class WindowTable(TypedDict, total=False):
    """The keys of a window, as `from_table` takes them."""

    stream: Required[str]
    kind: Required[
        WindowKind
        | Literal["time", "tuple", "range", "now", "unbounded", "landmark", "rows", "partition"]
    ]
    size: int | timedelta
    slide: int | timedelta
    lag: int | timedelta
    unit: Unit | Literal["elements", "triples"]
    by: list[str]
    name: str
    triggers: bool


class QueryTable(TypedDict, total=False):
    """The keys of a query, as `from_table` takes them."""

    windows: Required[list[WindowTable]]
    body: Required[str]
    r2s: R2S | Literal["Rstream", "Istream", "Dstream", "append"]
    registered: int | datetime


@overload
def from_table(table: Mapping[str, Any], /) -> Query: ...
@overload
def from_table(**keys: Unpack[QueryTable]) -> Query: ...
def from_table(table: Any = None, /, **keys: Any) -> Query:
    """QRY-1: Return a query from its table (TOML or JSON) with the keys `windows`, `body` and
    optionally `r2s` and `registered`. Written as keywords they are seen by type checkers, which
    find a key that is not there and a word that is none. Raises InvalidQuery for another key.

    >>> window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    >>> query = from_table(windows=[window], body="SELECT ?x { ?x ?p ?o }")
    >>> query == from_table({"windows": [window], "body": "SELECT ?x { ?x ?p ?o }"})
    True
    """
    if keys and table is not None:
        reason = f"give one table or keywords, got both: {', '.join(keys)}"
        raise InvalidQuery(reason, rule="QRY-1", place="query")
    if keys.keys() == {"table"}:
        advice = "from_table(table=…) is old: write from_table(…)"
        warnings.warn(advice, DeprecationWarning, stacklevel=2)
        keys, table = {}, keys["table"]
    return query.from_table(keys or table)
