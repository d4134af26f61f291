"""§3 The continuous query: windows, a SPARQL body, and R2S where the text states one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, Required, TypedDict, TypeVar, Unpack, overload

from refengine.core.semantics import parse_field
from refengine.core.values import R2S
from refengine.model.errors import InvalidQuery, InvalidWindow, refuse_deep_nesting
from refengine.model.held import as_integer, as_length
from refengine.model.messages import did_you_mean, display, nearest
from refengine.sparql.algebra import AlgebraQuery as Algebra
from refengine.sparql.algebra import (
    Basic,
    Call,
    GraphClause,
    Project,
    TriplePattern,
    Variable,
    walk,
)
from refengine.sparql.functions import TIMESTAMP
from refengine.sparql.translate import GRAPH_WITHIN_WINDOW as GRAPH_WITHIN_WINDOW
from refengine.sparql.translate import read_body


class WindowKind(StrEnum):
    """The kinds of windows. Those of SECRET (`time`, `tuple`) count application time, or tuple ids,
    which are the positions of elements from 1. A `session` lasts until nothing comes for a gap, its
    size. The others are CQL's.
    """

    TIME = "time"
    TUPLE = "tuple"
    RANGE = "range"
    NOW = "now"
    UNBOUNDED = "unbounded"
    LANDMARK = "landmark"
    ROWS = "rows"
    PARTITION = "partition"
    SESSION = "session"


class Unit(StrEnum):
    """What the ids of elements count (WIN-16)."""

    ELEMENTS = "elements"
    TRIPLES = "triples"


SIZED = frozenset(
    {
        WindowKind.TIME,
        WindowKind.TUPLE,
        WindowKind.RANGE,
        WindowKind.ROWS,
        WindowKind.PARTITION,
        WindowKind.SESSION,
    }
)
SLIDING = SIZED - {WindowKind.PARTITION, WindowKind.SESSION}
SPANNING = frozenset({WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE})
COUNTING = frozenset({WindowKind.TUPLE, WindowKind.ROWS})
BORDERED = frozenset(
    {
        WindowKind.TIME,
        WindowKind.TUPLE,
        WindowKind.RANGE,
        WindowKind.LANDMARK,
        WindowKind.SESSION,
    }
)
CLOSING = frozenset(
    {WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE, WindowKind.NOW, WindowKind.SESSION}
)
IF_EVERY_IS_REPORTED = frozenset({WindowKind.TIME, WindowKind.SESSION})  # REP-14
LAGGING = frozenset({WindowKind.TIME, WindowKind.RANGE})
POSITIONS = ("subject", "predicate", "object")
Word = TypeVar("Word", bound=StrEnum)
_CHARACTERS = r"(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
ABSOLUTE = rf"[A-Za-z][A-Za-z0-9+.-]*:{_CHARACTERS}(?:#{_CHARACTERS})?"


@dataclass(frozen=True)
class Window:
    """A window over one stream.

    `size` and `slide` are in the stream's time unit, in elements or in triples. `by` are the parts
    of the key: a `partition` holds the latest elements of each, and a window of another kind stands
    for a window for each key (WIN-24). `name` is the IRI of a named window, and `triggers` says
    whether it is an explicit trigger. `lag` says how long before the present it ends, in the
    stream's time unit. A timedelta is its milliseconds, where a span of time is meant.
    """

    stream: str
    kind: WindowKind
    size: int | None = None
    slide: int | None = None
    unit: Unit = Unit.ELEMENTS
    by: tuple[str, ...] = ()
    name: str | None = None
    triggers: bool = False
    lag: int = 0

    def __post_init__(self) -> None:
        for name in ("size", "slide", "lag"):
            value = getattr(self, name)
            if type(value) is not int and value is not None:
                object.__setattr__(self, name, length_of(name, value, self))
        check_words(self)
        check_extent(self)

    @property
    def is_keyed(self) -> bool:
        """Whether it stands for a window for each key (WIN-24)."""
        return bool(self.by) and self.kind is not WindowKind.PARTITION

    @property
    def span(self) -> int:
        """The size ω, in the unit of the window's instants; 0 where windows have none."""
        if self.kind in SPANNING:
            return self.size or 0
        return 0

    @property
    def step(self) -> int:
        """The slide β; 1 where none is stated."""
        return self.slide or 1


def check_words(window: Window) -> None:
    """QRY-1: Refuse a kind or a unit that is none, a stream or a name that is no text, and a mark
    of a trigger that is no truth value. A kind that is given as its word is replaced. Raises
    InvalidQuery.
    """
    place = f"window on {display(window.stream)}"
    for key, values in (("kind", WindowKind), ("unit", Unit)):
        word = getattr(window, key)
        if type(word) is not values:
            table = {key: word}
            object.__setattr__(window, key, parse_word(values, key, table, place))
    types: dict[str, type] = {"stream": str, "triggers": bool}
    if window.name is not None:
        types["name"] = str
    check_types(vars(window), types, place)
    if not isinstance(window.by, tuple | list) or not all(isinstance(k, str) for k in window.by):
        reason = f'by must be a tuple of texts, got {display(window.by)}; write ("subject",)'
        raise InvalidQuery(reason, rule="QRY-1", place=place)


def length_of(name: str, value: object, window: Window) -> Any:
    """WIN-1: Return a size, a slide or a lag as an integer where it is one of another library, or a
    timedelta. Raises InvalidWindow for a timedelta where elements are counted.
    """
    if isinstance(value, timedelta) and window.kind not in LAGGING:
        reason = f"a window of kind {window.kind} has no {name} in time, got {display(value)}"
        reason += "; write a number of elements, or kind range"
        raise InvalidWindow(reason, rule="WIN-1", place=f"window on {window.stream!r}")
    return as_length(value, name, InvalidWindow, rule="WIN-1", place=f"window on {window.stream!r}")


def check_extent(window: Window) -> None:
    """WIN-1: Refuse a window whose size and slide are not what its kind asks for, or which has
    another key that means nothing for its kind. With slide < size windows overlap, with slide =
    size they tumble, with slide > size they leave gaps. Raises InvalidWindow.
    """
    place = f"window on {window.stream!r}"
    check_lag(window, place)
    check_length("size", window, window.kind in SIZED, place)
    check_length("slide", window, window.kind in SLIDING, place)
    if window.unit is Unit.TRIPLES and window.kind not in COUNTING:
        reason = f'a window of kind {window.kind} does not count triples; write unit = "elements"'
        raise InvalidWindow(reason, rule="WIN-16", place=place)
    if window.kind is WindowKind.PARTITION and not window.by:
        forms = f"a list of {', '.join(POSITIONS)} or predicate IRIs"
        reason = f"a window of kind partition needs by, {forms}; without it write kind rows"
        raise InvalidWindow(reason, rule="WIN-15", place=place)
    if window.name is not None and not re.fullmatch(ABSOLUTE, window.name):
        reason = f"name must be an absolute IRI, such as urn:w, got {window.name!r}"
        raise InvalidWindow(reason, rule="QRY-1", place=place)
    for key in window.by:
        if key not in POSITIONS and not re.fullmatch(ABSOLUTE, key):
            near_position = nearest(key, POSITIONS)
            forms = "predicates by IRIs such as urn:p, or positions"
            reason = f"by must name {forms}, got {key!r}{near_position}"
            raise InvalidWindow(reason, rule="WIN-15", place=place)


def check_length(name: str, window: Window, is_asked: bool, place: str) -> None:
    """WIN-1: Refuse a size or slide that the kind has not, that is missing, or that is no integer >
    0. `is_asked` says whether the kind has it.
    """
    value = getattr(window, name)
    is_optional = name == "slide" and window.kind in (WindowKind.RANGE, WindowKind.ROWS)
    if value is None and (is_optional or not is_asked):
        return
    if not is_asked:
        reason = f"a window of kind {window.kind} has no {name}"
        raise InvalidWindow(reason, rule="WIN-1", place=place)
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        reason = f"{name} must be an integer > 0, got {display(value)}"
        raise InvalidWindow(reason, rule="WIN-1", place=place)


def check_lag(window: Window, place: str) -> None:
    """WIN-20: Refuse a lag that is no integer >= 0, and a lag other than 0 of a window that is not
    of the kind `time` or `range`. Raises InvalidWindow.
    """
    lag: object = window.lag
    if not isinstance(lag, int) or isinstance(lag, bool) or lag < 0:
        reason = f"lag must be an integer >= 0, got {display(lag)}"
        raise InvalidWindow(reason, rule="WIN-20", place=place)
    if lag and window.kind not in LAGGING:
        reason = f"a window of kind {window.kind} has no lag; leave it out, or write kind range"
        raise InvalidWindow(reason, rule="WIN-20", place=place)


class Form(StrEnum):
    """The query forms that have a relation as their answer."""

    SELECT = "SELECT"
    ASK = "ASK"
    CONSTRUCT = "CONSTRUCT"


@dataclass(frozen=True)
class Body:
    """A SPARQL 1.1 query that has been read.

    `graphs` are its clauses FROM and FROM NAMED, which `core.static` resolves. `variables` head its
    relation. `plain` is its text as the witnesses can read it. `makes_blanks`
    says whether it makes blank nodes, and `asks_for_times` whether it calls C-SPARQL's timestamp.
    Where it `reads_windows`, by WINDOW, windows are apart from named graphs (R2R-8).
    """

    text: str
    form: Form = field(init=False)
    variables: tuple[str, ...] = field(init=False)
    makes_blanks: bool = field(init=False)
    asks_for_times: bool = field(init=False)
    reads_windows: bool = field(init=False)
    graphs: tuple[GraphClause, ...] = field(init=False, compare=False, repr=False)
    algebra: Algebra = field(init=False, compare=False, repr=False)
    plain: str = field(init=False, compare=False, repr=False)

    @refuse_deep_nesting
    def __post_init__(self) -> None:
        algebra, plain = read_body(self.text)
        nodes = list(walk(algebra.pattern))
        calls = {node.name for node in nodes if isinstance(node, Call)}
        template = {
            term
            for triple in algebra.template
            for term in triple
            if isinstance(term, Variable) and term.is_hidden
        }
        values = {
            "form": Form[algebra.form],
            "variables": algebra.variables,
            "makes_blanks": "BNODE" in calls or bool(template),
            "asks_for_times": TIMESTAMP in calls,
            "reads_windows": bool(algebra.windows),
            "graphs": algebra.graphs,
            "algebra": algebra,
            "plain": plain,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)


def patterns_of(body: Body) -> tuple[TriplePattern, ...] | None:
    """Return the triple patterns of a body that is a SELECT over them alone, in the order of its
    text; None for any other body.
    """
    match body.algebra.pattern:
        case Project(Basic(patterns)) if body.form is Form.SELECT and patterns:
            has_path = any(not isinstance(each.predicate, Variable | str) for each in patterns)
            if has_path:
                return None
            return patterns
        case _:
            return None


@dataclass(frozen=True)
class Query:
    """A continuous query: its windows and its body.

    `r2s` is the operator that its text states; None where the semantics says it (R2S-6).
    `registered` is the instant of its registration, if that is known (WIN-10).
    """

    windows: tuple[Window, ...]
    body: Body
    r2s: R2S | None = None
    registered: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.windows, tuple) or not isinstance(self.body, Body):
            reason = (
                f"a query has a tuple of windows and a Body, got {display(self.windows)} and "
                f"{display(self.body)}; write Query((Window(…),), Body(…))"
            )
            raise InvalidQuery(reason, rule="QRY-1", place="query")
        for each in self.windows:
            if not isinstance(each, Window):
                reason = f"must be a Window, got {display(each)}; write Window(…)"
                raise InvalidQuery(reason, rule="QRY-1", place="windows")
        if self.r2s is not None and not isinstance(self.r2s, R2S):
            object.__setattr__(self, "r2s", parse_field("r2s", self.r2s))
        registered = as_integer(
            self.registered, "registered", InvalidQuery, rule="QRY-1", place="query"
        )
        if registered is not None and (not isinstance(registered, int) or registered is True):
            reason = f"registered must be an integer, got {display(registered)}"
            raise InvalidQuery(reason, rule="QRY-1", place="query")
        object.__setattr__(self, "registered", registered)
        if not self.windows:
            raise InvalidQuery("a query has at least one window", rule="QRY-1", place="windows")


def refuse_no_query(value: object) -> None:
    """QRY-1: Refuse what is no query, where one is needed. Raises InvalidQuery."""
    if isinstance(value, Query):
        return
    advice = 'from_table({"windows": […], "body": "SELECT …"}) makes one'
    if isinstance(value, str):
        advice += ', and refengine.dialects.read(text, "rspql") reads a text'
    reason = f"must be a Query, got {display(value)}; {advice}"
    raise InvalidQuery(reason, rule="QRY-1", place="query")


class WindowTable(TypedDict, total=False):
    """The keys of a window, as `from_table` takes them."""

    stream: Required[str]
    kind: Required[
        WindowKind
        | Literal[
            "time", "tuple", "range", "now", "unbounded", "landmark", "rows", "partition", "session"
        ]
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


WINDOW_KEYS = tuple(WindowTable.__annotations__)
GIVEN_AS_THEY_ARE = ("size", "slide", "lag", "name", "triggers")
QUERY_KEYS = tuple(QueryTable.__annotations__)


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
    table = keys or table
    if not isinstance(table, Mapping):
        reason = f"a query must be a table, got {display(table)}; write {{windows: […], body: …}}"
        raise InvalidQuery(reason, rule="QRY-1", place="query")
    check_keys(table, QUERY_KEYS, required=("windows", "body"), place="query")
    check_types(table, {"windows": list, "body": str}, "query")
    windows = tuple(
        window_from_table(entry, f"windows[{number}]")
        for number, entry in enumerate(table["windows"])
    )
    r2s = None
    if "r2s" in table:
        r2s = parse_field("r2s", table["r2s"])
    return Query(windows, Body(table["body"]), r2s, table.get("registered"))


def window_from_table(entry: Any, place: str) -> Window:
    """QRY-1: Return a window from its table. `place` is where the table stands, for errors."""
    if not isinstance(entry, Mapping):
        reason = f"a window must be a table, got {display(entry)}"
        raise InvalidQuery(reason, rule="QRY-1", place=place)
    check_keys(entry, WINDOW_KEYS, required=("stream", "kind"), place=place)
    kind = parse_word(WindowKind, "kind", entry, place)
    check_types(entry, {"stream": str, "by": list, "name": str, "triggers": bool}, place)
    options = {key: entry[key] for key in GIVEN_AS_THEY_ARE if key in entry}
    if "unit" in entry:
        options["unit"] = parse_word(Unit, "unit", entry, place)
    by = tuple(map(str, entry.get("by", ())))
    return Window(entry["stream"], kind, by=by, **options)


def check_types(table: Mapping[str, Any], types: Mapping[str, type], place: str) -> None:
    """QRY-1: Refuse values that are not of their key's type."""
    words = {str: "a string", list: "an array", bool: "true or false", int: "an integer"}
    for key, kind in types.items():
        if key in table and type(table[key]) is not kind:
            reason = f"{key} must be {words[kind]}, got {display(table[key])}"
            raise InvalidQuery(reason, rule="QRY-1", place=place)


def parse_word(values: type[Word], key: str, entry: Mapping[str, Any], place: str) -> Word:
    """QRY-1: Return the value that the word under a key names. Refuse another word, and name the
    nearest valid one.
    """
    word = entry[key]
    if word not in list(values):
        choice = ", ".join(values)
        reason = f"{key} must be one of {choice}, got {display(word)}{did_you_mean(word, values)}"
        raise InvalidQuery(reason, rule="QRY-1", place=place)
    return values(word)


def check_keys(
    table: Mapping[str, Any], keys: tuple[str, ...], *, required: tuple[str, ...], place: str
) -> None:
    """QRY-1: Refuse a table with another key than these, or without a required one."""
    for key in table:
        if key not in keys:
            reason = f"unknown key {key!r}{nearest(key, keys)}"
            raise InvalidQuery(reason, rule="QRY-1", place=place)
    for key in required:
        if key not in table:
            raise InvalidQuery(f"key {key!r} is missing", rule="QRY-1", place=place)
