"""§3 The continuous query: windows, a SPARQL body, and R2S where the text states one."""

from __future__ import annotations

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

from refengine.errors import InvalidQuery, InvalidWindow, Refused, Unsupported, nearest
from refengine.semantics import R2S, parse_field

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
WRAPPERS = ("OrderCondition", "ConditionalOrExpression", "ConditionalAndExpression", "RelationalExpression") + (
    "AdditiveExpression",
    "MultiplicativeExpression",
)


class WindowKind(StrEnum):
    """What a window's borders count: application time, or tuple ids (the positions of elements, from 1)."""

    TIME = "time"
    TUPLE = "tuple"


@dataclass(frozen=True)
class Window:
    """A sliding window over one stream: `size` and `slide` in the stream's time unit, or in elements."""

    stream: str
    kind: WindowKind
    size: int
    slide: int

    def __post_init__(self) -> None:
        extent(self)


def extent(window: Window) -> None:
    """WIN-1: size and slide are integers > 0; slide < size slides, slide = size tumbles, slide > size hops."""
    for name in ("size", "slide"):
        value = getattr(window, name)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise InvalidWindow(f"{name} must be an integer > 0, got {value!r}", rule="WIN-1", place=f"window on {window.stream!r}")


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
    """A continuous query. `r2s` is None where its text states none; the semantics says it then (R2S-6)."""

    windows: tuple[Window, ...]
    body: Body
    r2s: R2S | None = None

    def __post_init__(self) -> None:
        if not self.windows:
            raise InvalidQuery("a query has at least one window", rule="QRY-1", place="windows")


WINDOW_KEYS = ("stream", "kind", "size", "slide")
QUERY_KEYS = ("windows", "body", "r2s")


def from_table(table: Mapping[str, Any]) -> Query:
    """QRY-1: a query from its table (TOML or JSON): `windows`, `body` and optionally `r2s`; the schema is closed."""
    closed(table, QUERY_KEYS, required=("windows", "body"), place="query")
    if not isinstance(table["windows"], list) or not isinstance(table["body"], str):
        raise InvalidQuery("windows must be an array of tables and body a string", rule="QRY-1", place="query")
    windows = []
    for number, entry in enumerate(table["windows"]):
        place = f"windows[{number}]"
        if not isinstance(entry, Mapping):
            raise InvalidQuery("a window must be a table", rule="QRY-1", place=place)
        closed(entry, WINDOW_KEYS, required=WINDOW_KEYS, place=place)
        if not isinstance(entry["stream"], str):
            raise InvalidQuery(f"stream must be a string, got {entry['stream']!r}", rule="QRY-1", place=place)
        if entry["kind"] not in list(WindowKind):
            kinds = ", ".join(WindowKind)
            raise InvalidQuery(f"kind must be one of {kinds}, got {entry['kind']!r}", rule="QRY-1", place=place)
        windows.append(Window(entry["stream"], WindowKind(entry["kind"]), entry["size"], entry["slide"]))
    r2s = parse_field("r2s", table["r2s"]) if "r2s" in table else None
    return Query(tuple(windows), Body(table["body"]), r2s)


def closed(table: Mapping[str, Any], keys: tuple[str, ...], *, required: tuple[str, ...], place: str) -> None:
    """QRY-1: no key but these, and all the required ones."""
    for key in table:
        if key not in keys:
            raise InvalidQuery(f"unknown key {key!r}{nearest(key, keys)}", rule="QRY-1", place=place)
    for key in required:
        if key not in table:
            raise InvalidQuery(f"key {key!r} is missing", rule="QRY-1", place=place)
