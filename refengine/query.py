"""§3 The continuous query: windows, a SPARQL body, and R2S where the text states one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pyparsing import ParseResults
from rdflib.plugins.sparql.algebra import translatePrologue, translateQuery, traverse
from rdflib.plugins.sparql.parser import parseQuery, parseUpdate
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.plugins.sparql.sparql import Query as Algebra
from rdflib.term import BNode, URIRef, Variable

from refengine.errors import InvalidQuery, InvalidWindow, Refused, Unsupported
from refengine.guard import shallow
from refengine.semantics import R2S, parse_field
from refengine.texts import near, nearest, shown

NO_SINGLE_ANSWER = {
    "Builtin_NOW": "NOW",
    "Builtin_RAND": "RAND",
    "Builtin_UUID": "UUID",
    "Builtin_STRUUID": "STRUUID",
    "Aggregate_Sample": "SAMPLE",
    "Aggregate_GroupConcat": "GROUP_CONCAT",
    "DescribeQuery": "DESCRIBE",
}
# The parser's nodes around an expression that ORDER BY only brackets or directs.
WRAPPERS = {"OrderCondition"} | {f"{kind}Expression" for kind in "ConditionalOr ConditionalAnd Relational Additive Multiplicative".split()}


class WindowKind(StrEnum):
    """SECRET's windows count application time or tuple ids (the positions of elements, from 1); the others are CQL's."""

    TIME = "time"
    TUPLE = "tuple"
    RANGE = "range"
    NOW = "now"
    UNBOUNDED = "unbounded"
    LANDMARK = "landmark"
    ROWS = "rows"
    PARTITION = "partition"


class Unit(StrEnum):
    """What the ids of elements count (WIN-16)."""

    ELEMENTS = "elements"
    TRIPLES = "triples"


SIZED = frozenset({WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE, WindowKind.ROWS, WindowKind.PARTITION})
SLIDING = SIZED - {WindowKind.PARTITION}
SPANNING = frozenset({WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE})
COUNTING = frozenset({WindowKind.TUPLE, WindowKind.ROWS})
BORDERED = frozenset({WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE, WindowKind.LANDMARK})
CLOSING = frozenset({WindowKind.TIME, WindowKind.TUPLE, WindowKind.RANGE, WindowKind.NOW})
POSITIONS = ("subject", "predicate", "object")
ABSOLUTE = r"[A-Za-z][A-Za-z0-9+.-]*:(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*(?:#(?:[\w.~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?"


@dataclass(frozen=True)
class Window:
    """A window over one stream: `size` and `slide` in the stream's time unit, or in elements or triples; `by`, what a
    partition's key is made of; `name`, the IRI of a named window; `triggers`, whether it is an explicit trigger."""

    stream: str
    kind: WindowKind
    size: int | None = None
    slide: int | None = None
    unit: Unit = Unit.ELEMENTS
    by: tuple[str, ...] = ()
    name: str | None = None
    triggers: bool = False

    def __post_init__(self) -> None:
        extent(self)

    @property
    def span(self) -> int:
        """ω, in the unit of its instants; 0 where windows have none."""
        return self.size if self.kind in SPANNING else 0

    @property
    def step(self) -> int:
        """β; 1 where none is stated."""
        return self.slide or 1


def extent(window: Window) -> None:
    """WIN-1: size and slide are given as the kind asks, and are integers > 0; slide < size slides, slide = size tumbles,
    slide > size hops."""
    kind, place = window.kind, f"window on {window.stream!r}"
    optional = kind in (WindowKind.RANGE, WindowKind.ROWS)
    for name, asked in (("size", kind in SIZED), ("slide", kind in SLIDING)):
        value = getattr(window, name)
        if value is None and (not asked or (optional and name == "slide")):
            continue
        if not asked:
            raise InvalidWindow(f"a window of kind {kind} has no {name}", rule="WIN-1", place=place)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise InvalidWindow(f"{name} must be an integer > 0, got {shown(value)}", rule="WIN-1", place=place)
    if window.unit is Unit.TRIPLES and kind not in COUNTING:
        raise InvalidWindow(f"a window of kind {kind} does not count triples; write unit = \"elements\"", rule="WIN-16", place=place)
    if bool(window.by) != (kind is WindowKind.PARTITION):
        forms = f"a list of {', '.join(POSITIONS)} or predicate IRIs"
        raise InvalidWindow(f"by must be given, as {forms}, iff the kind is partition", rule="WIN-15", place=place)
    if window.name is not None and not re.fullmatch(ABSOLUTE, window.name):
        raise InvalidWindow(f"name must be an absolute IRI, such as urn:w, got {window.name!r}", rule="QRY-1", place=place)
    for key in window.by:
        if key not in POSITIONS and not re.fullmatch(ABSOLUTE, key):
            raise InvalidWindow(f"a key is a predicate's IRI or a position, got {key!r}{nearest(key, POSITIONS)}", rule="WIN-15", place=place)


class Form(StrEnum):
    """The query forms that have a relation as their answer."""

    SELECT = "SELECT"
    ASK = "ASK"
    CONSTRUCT = "CONSTRUCT"


@dataclass(frozen=True)
class Body:
    """A SPARQL 1.1 query, parsed and found to have one answer; `variables` head its relation."""

    text: str
    form: Form = field(init=False)
    variables: tuple[str, ...] = field(init=False)
    makes_blanks: bool = field(init=False)
    algebra: Algebra = field(init=False, compare=False, repr=False)

    @shallow
    def __post_init__(self) -> None:
        tree = _parse(self.text)
        nodes = list(_nodes(tree))
        stays_local(nodes)
        single_answer(nodes)
        _declared(nodes)
        _absolute(tree, nodes)
        algebra = algebra_of(tree)
        form = Form[algebra.algebra.name.removesuffix("Query").upper()]
        match form:
            case Form.SELECT:
                names = [str(v) for v in algebra.algebra.PV]
                select = next(node for node in nodes if node.name == "SelectQuery")
                variables = tuple(names if "projection" in select else sorted(names))
            case Form.ASK:
                variables = ("ask",)
            case Form.CONSTRUCT:
                variables = ("subject", "predicate", "object")
        template = algebra.algebra.get("template") or () if form is Form.CONSTRUCT else ()
        makes = any(node.name == "Builtin_BNODE" for node in nodes) or any(isinstance(t, BNode) for triple in template for t in triple)
        values = {"form": form, "variables": variables, "algebra": algebra, "makes_blanks": makes}
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _parse(text: str) -> Any:
    try:
        return parseQuery(text)
    except RecursionError:
        raise
    except Exception as error:  # the parser raises its own kinds and, on odd input, Python's
        if _is_update(text):
            raise Refused("an update (LOAD, INSERT, …) is no query: a body only reads", rule="QRY-2", place="body") from None
        line, column = getattr(error, "lineno", 1), getattr(error, "column", 1)
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidQuery(f"not SPARQL 1.1: {reason}", rule="QRY-1", place=f"body line {line} column {column}") from None


def _is_update(text: str) -> bool:
    try:
        return bool(parseUpdate(text).request)
    except Exception:
        return False


def _nodes(node: Any) -> Iterator[CompValue]:
    """Every node of a parse tree or algebra, depth first."""
    if isinstance(node, CompValue):
        yield node
        node = list(node.values())
    if isinstance(node, ParseResults | list | tuple):
        for child in node:
            yield from _nodes(child)


def stays_local(nodes: list[CompValue]) -> None:
    """QRY-2: a body reads the content and nothing else: no SERVICE, no FROM, no update."""
    for node in nodes:
        match node.name:
            case "ServiceGraphPattern":
                raise Refused("SERVICE would reach the network", rule="QRY-2", place="body")
            case "DatasetClause":
                raise Refused("FROM would reach the network or the disk; the dataset is the window's content", rule="QRY-2", place="body")
            case _:
                pass


def single_answer(nodes: list[CompValue]) -> None:
    """QRY-3: a body whose answer SPARQL leaves open (NOW, RAND, SAMPLE, LIMIT without a total order, …) is unsupported."""
    for node in nodes:
        if node.name in NO_SINGLE_ANSWER:
            raise Unsupported(f"{NO_SINGLE_ANSWER[node.name]} has no single answer", rule="QRY-3", place="body")
        if node.name == "LimitOffsetClauses" and any(len(count) > 18 for count in node.values()):
            raise Unsupported("LIMIT and OFFSET have at most 18 digits", rule="QRY-3", place="body")
        if node.name in ("SelectQuery", "SubSelect", "ConstructQuery") and "limitoffset" in node and not _totally_ordered(node):
            raise Unsupported(
                "LIMIT or OFFSET without a total ORDER BY has no single answer; order by every projected variable",
                rule="QRY-3", place="body",
            )


def _totally_ordered(select: CompValue) -> bool:
    """Whether ORDER BY names, as plain variables, every projected variable or every GROUP BY key."""
    ordered = set()
    for condition in _conditions(select, "orderby"):
        while isinstance(condition, CompValue) and condition.name in WRAPPERS and "other" not in condition:
            condition = condition["expr"]
        ordered |= {condition} if isinstance(condition, Variable) else set()
    projected = [item["evar"] if "evar" in item else item["var"] for item in _part(select, "projection")]
    if "projection" not in select and select.name != "ConstructQuery":
        projected = list(_leaves(select["where"], Variable))  # SELECT *: at least the variables in scope
    keys = _conditions(select, "groupby")
    plain_keys = bool(keys) and all(isinstance(key, Variable) for key in keys)
    return (bool(projected) and ordered.issuperset(projected)) or (plain_keys and ordered.issuperset(keys))


def _part(node: CompValue, key: str) -> list:
    return list(node[key]) if key in node else []


def _conditions(select: CompValue, clause: str) -> list:
    return _part(select[clause], "condition") if clause in select else []


def _declared(nodes: list[CompValue]) -> None:
    declared = {_prefix(node) for node in nodes if node.name == "PrefixDecl"}
    for node in nodes:
        if node.name == "pname" and (name := _prefix(node)) not in declared:
            raise InvalidQuery(f"prefix {name!r} is not declared; write PREFIX {name}: <…>", rule="QRY-1", place="body")


def _prefix(node: CompValue) -> str:
    return str(node["prefix"]) if "prefix" in node else ""


def _absolute(tree: Any, nodes: list[CompValue]) -> None:
    bases = [node["iri"] for node in nodes if node.name == "Base"]
    for iri in bases[:1] or _leaves(tree, URIRef):
        if ":" not in iri:
            raise InvalidQuery(f"relative IRI <{iri}>; write it in full or give BASE", rule="QRY-1", place="body")


def _leaves(node: Any, kind: type) -> Iterator[Any]:
    """The terms of one kind in a parse tree, as they are written."""
    if isinstance(node, kind):
        yield node
    for child in node.values() if isinstance(node, CompValue) else node if isinstance(node, ParseResults | list | tuple) else ():
        yield from _leaves(child, kind)


def algebra_of(tree: Any) -> Algebra:
    """The algebra of a parse tree. Prefixed names are resolved here: rdflib keeps one prefix a namespace only."""
    prologue = translatePrologue([node for node in tree[0] if node.name == "Base"], None)
    names = {_prefix(node): prologue.absolutize(node["iri"]) for node in tree[0] if node.name == "PrefixDecl"}

    def resolved(node: Any) -> URIRef | None:
        if isinstance(node, CompValue) and node.name == "pname" and _prefix(node) in names:
            return URIRef(names[_prefix(node)] + str(node["localname"] if "localname" in node else ""))
        return None

    tree[1] = traverse(tree[1], visitPost=resolved)
    return translateQuery(tree)


@dataclass(frozen=True)
class Query:
    """A continuous query. `r2s` is None where its text states none; the semantics says it then (R2S-6). `registered` is
    the instant of its registration, if that is known (WIN-10)."""

    windows: tuple[Window, ...]
    body: Body
    r2s: R2S | None = None
    registered: int | None = None

    def __post_init__(self) -> None:
        if not self.windows:
            raise InvalidQuery("a query has at least one window", rule="QRY-1", place="windows")


WINDOW_KEYS = ("stream", "kind", "size", "slide", "unit", "by", "name", "triggers")
QUERY_KEYS = ("windows", "body", "r2s", "registered")


def from_table(table: Mapping[str, Any]) -> Query:
    """QRY-1: a query from its table (TOML or JSON): `windows`, `body`, optionally `r2s` and `registered`; the schema is closed."""
    closed(table, QUERY_KEYS, required=("windows", "body"), place="query")
    _shaped(table, {"windows": list, "body": str, "registered": int}, "query")
    windows = []
    for number, entry in enumerate(table["windows"]):
        place = f"windows[{number}]"
        if not isinstance(entry, Mapping):
            raise InvalidQuery(f"a window must be a table, got {shown(entry)}", rule="QRY-1", place=place)
        closed(entry, WINDOW_KEYS, required=("stream", "kind"), place=place)
        kind = _one_of(WindowKind, "kind", entry, place)
        _shaped(entry, {"stream": str, "by": list, "name": str, "triggers": bool}, place)
        more = {"unit": _one_of(Unit, "unit", entry, place)} if "unit" in entry else {}
        more |= {key: entry[key] for key in ("size", "slide", "name", "triggers") if key in entry}
        windows.append(Window(entry["stream"], kind, by=tuple(map(str, entry.get("by", ()))), **more))
    r2s = parse_field("r2s", table["r2s"]) if "r2s" in table else None
    return Query(tuple(windows), Body(table["body"]), r2s, table.get("registered"))


def _shaped(table: Mapping[str, Any], shapes: Mapping[str, type], place: str) -> None:
    words = {str: "a string", list: "an array", bool: "true or false", int: "an integer"}
    for key, shape in shapes.items():
        if key in table and type(table[key]) is not shape:
            raise InvalidQuery(f"{key} must be {words[shape]}, got {shown(table[key])}", rule="QRY-1", place=place)


def _one_of(values: type[StrEnum], key: str, entry: Mapping[str, Any], place: str) -> Any:
    if entry[key] not in list(values):
        reason = f"{key} must be one of {', '.join(values)}, got {shown(entry[key])}{near(entry[key], values)}"
        raise InvalidQuery(reason, rule="QRY-1", place=place)
    return values(entry[key])


def closed(table: Mapping[str, Any], keys: tuple[str, ...], *, required: tuple[str, ...], place: str) -> None:
    """QRY-1: no key but these, and all the required ones."""
    for key in table:
        if key not in keys:
            raise InvalidQuery(f"unknown key {key!r}{nearest(key, keys)}", rule="QRY-1", place=place)
    for key in required:
        if key not in table:
            raise InvalidQuery(f"key {key!r} is missing", rule="QRY-1", place=place)
