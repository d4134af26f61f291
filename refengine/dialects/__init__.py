"""§13 Dialects: a continuous query as RSP-QL, C-SPARQL, CQELS-QL or SPARQLstream, read and rendered."""

from __future__ import annotations

from lark.exceptions import UnexpectedInput

from refengine.dialects import durations, grammar, windows
from refengine.dialects.cqels import CQELS
from refengine.dialects.csparql import CSPARQL
from refengine.dialects.dialect import Dialect
from refengine.dialects.rspql import RSP4J, RSPJS, RSPQL
from refengine.dialects.source import Source, Unrenderable
from refengine.dialects.sparqlstream import SPARQLSTREAM
from refengine.errors import InvalidQuery
from refengine.query import Form, Query
from refengine.semantics import R2S
from refengine.texts import nearest

__all__ = ["DIALECTS", "Unrenderable", "read", "render"]

DIALECTS = {dialect.name: dialect for dialect in (RSPQL, RSP4J, RSPJS, CSPARQL, CQELS, SPARQLSTREAM)}
PLAIN = grammar.Additions()
OWN = frozenset({"register", "operator", "window_clause", "window_pattern"})  # the nodes of a dialect's own clauses


def read(text: str, dialect: str, named: bool = False) -> Query:
    """DIA-1: the query that a text in a dialect means; its body is the SPARQL that is left without the dialect's clauses.

    `named`: a window whose pattern is all of WHERE has a name nevertheless, so that its pattern does not see static data
    (DIA-5, CQELS-QL). Raises InvalidQuery, InvalidWindow, Unsupported, Refused, each with line and column where it has one.
    """
    spoken = known(dialect)
    try:
        source = Source(text, spoken.added.parser.parse(text))
    except UnexpectedInput as error:
        raise grammar.fault(text, error, _likely(text, spoken)) from None
    source.check_prefixes()
    r2s = stated(source)
    declared = spoken.declared(source, named)
    if not declared:
        source.fail(source.where, f"expected a window of {spoken.title}, found none{_likely(text, spoken)}")
    return Query(tuple(declared), source.body(), r2s)


def render(query: Query, dialect: str, r2s: R2S | None = None) -> str:
    """DIA-6: a query as a text that `read` reads as the same query. `r2s` is the operator that the semantics says: it is
    stated, too, where the query states none and the text can; where the text cannot, the query's must be the same.

    Raises Unrenderable, which names the construct that the dialect cannot say.
    """
    spoken = known(dialect)
    if query.registered is not None:
        raise Unrenderable("no text says when it was registered", rule="DIA-6", place="registered")
    if any(window.triggers for window in query.windows):
        raise Unrenderable("no text says which window triggers", rule="DIA-6", place="windows")
    names = [window.name for window in query.windows if window.name is not None]
    if len(set(names)) < len(names):
        raise Unrenderable("two windows have one name", rule="DIA-6", place="windows")
    body = query.body.text
    source = Source(body, PLAIN.parser.parse(body), "body")
    [form] = source.nodes("form")
    operator = _operator(query, spoken, r2s)
    register = spoken.register(query, operator)
    source.insert(0 if not spoken.states else form.meta.start_pos, [register] * bool(register))
    if operator and spoken.selects:
        keyword = form.children[0]
        source.put(keyword.end_pos, keyword.end_pos, f" {operator.upper()}")
    spoken.place(source, query, spoken)
    return source.edited()


def known(dialect: str) -> Dialect:
    """A dialect by its name. Raises InvalidQuery, with the nearest valid one."""
    if dialect not in DIALECTS:
        raise InvalidQuery(f"no dialect {dialect!r}{nearest(dialect, DIALECTS)}", rule="DIA-1", place="dialect")
    return DIALECTS[dialect]


def stated(source: Source) -> R2S | None:
    """DIA-4: the operator of R2S that a text states, if it does; its clauses are taken out."""
    found = [token for token in source.tokens if token.type == "OPERATOR"]
    operators = {R2S(token.capitalize()) for token in found}
    if len(operators) > 1:
        source.fail(found[-1], f"expected one operator of R2S, got {' and '.join(found)}")
    for node in source.nodes("register"):
        source.cut(node)
    for node in source.nodes("operator"):
        begin = node.meta.start_pos
        source.put(begin - source.text.startswith(" ", begin - 1), node.meta.end_pos, "")
    return next(iter(operators), None)


def _operator(query: Query, spoken: Dialect, r2s: R2S | None) -> R2S | None:
    """DIA-4: the operator to be stated. Raises Unrenderable."""
    own = query.r2s
    if not spoken.states:
        if own is not None and own is not r2s:
            said = "" if r2s is None else f", and the semantics says {r2s}"
            raise Unrenderable(f"{spoken.title} cannot state {own}{said}", rule="DIA-6", place="r2s")
        return None
    if own is R2S.APPEND or (own is not None and spoken.selects and query.body.form is Form.ASK):
        raise Unrenderable(f"{spoken.title} cannot state {own}{' of ASK' if own is not R2S.APPEND else ''}", rule="DIA-6", place="r2s")
    if own is None and (r2s is R2S.APPEND or (spoken.selects and query.body.form is Form.ASK)):
        return None
    return own or r2s


def _likely(text: str, spoken: Dialect) -> str:
    """`; this looks like C-SPARQL (csparql)`: the dialect that reads a text further than the one asked for."""
    best = max(DIALECTS.values(), key=lambda other: (_read(text, other), other is spoken))
    return "" if best is spoken or _read(text, best) <= _read(text, spoken) else f"; this looks like {best.title} ({best.name})"


def _read(text: str, dialect: Dialect) -> int:
    """How many characters a dialect reads; none of a text without a clause of its own."""
    try:
        tree = dialect.added.parser.parse(text)
    except UnexpectedInput as error:
        return grammar.reached(text, error)
    return len(text) + 1 if any(node.data in OWN for node in grammar.nodes(tree)) else 0
