"""§13 Dialects: a continuous query as RSP-QL, C-SPARQL, CQELS-QL or SPARQLstream, read and
rendered.

Imports `model` and `core`. Begin with `read` and `render` below, then `dialect`, which each
language's module fills in.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from refengine.core.query import Query, refuse_no_query
from refengine.core.values import R2S
from refengine.dialects import faults, grammar
from refengine.dialects.cqels import CQELS
from refengine.dialects.cqels2 import CQELS2
from refengine.dialects.csparql import CSPARQL
from refengine.dialects.dialect import Dialect, has_text
from refengine.dialects.faults import find_mistake, name_construct
from refengine.dialects.rspql import RSP4J, RSPJS, RSPQL
from refengine.dialects.source import DialectText, Unrenderable, end_offset, start_offset
from refengine.dialects.sparqlstream import SPARQLSTREAM
from refengine.model.errors import InvalidQuery, RefengineError, Unsupported
from refengine.model.messages import display, nearest
from refengine.model.terms import check_base

__all__ = ["DIALECTS", "Unrenderable", "read", "render"]

DIALECTS = {
    dialect.name: dialect for dialect in (RSPQL, RSP4J, RSPJS, CSPARQL, CQELS, CQELS2, SPARQLSTREAM)
}
PLAIN = grammar.Additions(
    patterns="| window_pattern",
    rules="\n    window_pattern: WINDOW (iri | VAR) group\n",
    keywords="WINDOW",
)


@lru_cache(maxsize=1)
def _parse_plain(text: str) -> Tree[Token]:
    """Return the tree of a body, kept while the body is rendered in one dialect after another:
    nothing changes a tree. Raises UnexpectedInput.
    """
    return PLAIN.parser.parse(text)


# the nodes of a dialect's own clauses
OWN = frozenset({"register", "operator", "window_clause", "window_pattern"})


def read(
    text: str, dialect: str, static: bool = False, base: str = "", graphs: Iterable[str] = ()
) -> Query:
    """DIA-1: Return the query that a text in a dialect means. Its body is the SPARQL that is left
    without the dialect's clauses.

    `static` says whether the query is asked beside static data, which the patterns of windows do
    not see (DIA-5); where the text has FROM or FROM NAMED, it is. `graphs` are the IRIs of the
    named graphs of that data, where they are known: a window may have the name of one. Relative
    IRIs are resolved against `base`, as if BASE stood first in the text.

    Raises InvalidQuery, InvalidWindow, Unsupported and ForbiddenAccess, each with line and column;
    InvalidQuery for what is no text, and RefengineError for a base that is no absolute IRI.
    """
    spoken = find_dialect(dialect)
    if not isinstance(text, str):
        reason = f"a query in {spoken.title} must be text, got {display(text)}"
        raise InvalidQuery(reason, rule="DIA-1", place="query")
    if base:
        check_base(base)
    try:
        tree = spoken.added.parser.parse(text)
        source = DialectText(text, tree, base=base, static_graphs=frozenset(graphs))
    except UnexpectedInput as error:
        raise _unread(text, error, spoken) from None
    try:
        return _query_of(source, spoken, static, base)
    except InvalidQuery as error:
        raise _blame_mistake(source, spoken, error) from None


def _query_of(source: DialectText, spoken: Dialect, static: bool, base: str) -> Query:
    """Return the query that a text means. Raises as `read` does."""
    source.check_prefixes()
    source.refuse_graphs_in_template()
    r2s = stated_operator(source)
    declared = spoken.read_windows(source, static or source.has_graphs)
    if not declared:
        source.fail(
            source.pattern,
            f"expected a window of {spoken.title}, found none{_likely(source.text, spoken, 0)}",
        )
    if base:
        source.insert(0, [f"BASE <{base}>"])
    return Query(tuple(declared), source.body(), r2s)


def render(query: Query, dialect: str, r2s: R2S | None = None, static: bool = False) -> str:
    """DIA-6: Return a query as a text that `read` reads as the same query.

    `r2s` is the operator that the semantics says. Where the query states none, the text states this
    one if it can. Where the text cannot state any, the query's must be the same. `static` is that
    of `read`. Raises Unrenderable, which names the construct that the dialect cannot say.
    """
    refuse_no_query(query)
    spoken = find_dialect(dialect)
    static = static or bool(query.body.graphs)
    _check_renderable(query)
    try:
        source = DialectText(query.body.text, _parse_plain(query.body.text), "body")
    except UnexpectedInput as error:
        fault = faults.syntax_error(query.body.text, error)
        raise Unrenderable(
            f"cannot be split into tokens: {fault.reason}", place=f"body {fault.place}"
        ) from None
    for node in source.nodes("window_pattern"):
        if not spoken.has_window_patterns:
            raise Unrenderable(
                f"{spoken.title} has no WINDOW, which reads windows apart from named graphs",
                place=source.locate(node),
            )
    operator = _operator(query, spoken, r2s)
    if spoken.register and (clause := spoken.register(query, operator)):
        offset = start_offset(source.form)
        if spoken.first:
            offset = 0
        source.insert(offset, [clause])
    if operator and spoken.operators:
        after = end_offset(grammar.child_token(source.form, 0))
        source.put(after, after, f" {operator.upper()}")
    spoken.write_windows(source, query, spoken, static)
    return source.edited()


def _check_renderable(query: Query) -> None:
    """Check that a query has nothing that no dialect can say. Raises Unrenderable."""
    if query.registered is not None:
        raise Unrenderable(
            "no dialect can state the instant of registration; leave registered out",
            place="registered",
        )
    if any(window.triggers for window in query.windows):
        raise Unrenderable(
            "no dialect can state which windows trigger; leave triggers out", place="windows"
        )
    if any(window.is_keyed for window in query.windows):
        raise Unrenderable(
            "no dialect can state a window for each key; leave by out", place="windows"
        )
    names = [window.name for window in query.windows if window.name is not None]
    if len(set(names)) < len(names):
        raise Unrenderable("two windows have the same name", place="windows")


def find_dialect(dialect: str) -> Dialect:
    """Return a dialect by its name. Raises InvalidQuery, with the nearest valid one."""
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        reason = f"no dialect {display(dialect)}{nearest(dialect, DIALECTS)}"
        raise InvalidQuery(reason, rule="DIA-1", place="dialect")
    return DIALECTS[dialect]


def stated_operator(source: DialectText) -> R2S | None:
    """DIA-4: Return the operator of R2S that a text states, or None, and take its clauses out of
    the text. Raises InvalidQuery for two different ones.
    """
    found = [token for token in source.tokens if token.type == "OPERATOR"]
    operators = {R2S(token.capitalize()) for token in found}
    if len(operators) > 1:
        source.fail(found[-1], f"expected one operator of R2S, got {' and '.join(found)}")
    for node in source.nodes("register"):
        source.cut(node)
    for node in source.nodes("operator"):
        begin = start_offset(node)
        source.put(begin - source.text.startswith(" ", begin - 1), end_offset(node), "")
    return next(iter(operators), None)


def _operator(query: Query, spoken: Dialect, r2s: R2S | None) -> R2S | None:
    """DIA-4: Return the operator that the text is to state: the query's, or else that of the
    semantics if the text can state it. Raises Unrenderable.
    """
    own, wanted = query.r2s, query.r2s or r2s
    if has_text(wanted) and spoken.states(query.body.form):
        return wanted
    if own is None or (own is r2s and not spoken.states(query.body.form)):
        return None  # there the semantics says it
    reason = f"{spoken.title} cannot state {own}"
    if spoken.operators and has_text(own):
        reason += f" of {query.body.form}"
    if r2s not in (None, own):
        reason += f", and the semantics says {r2s}"
    raise Unrenderable(reason, place="r2s")


def _blame_mistake(source: DialectText, spoken: Dialect, error: InvalidQuery) -> InvalidQuery:
    """Return the error of the mistake that another error comes from, or that one: of a keyword
    misspelled or missing at its place or before, or anywhere if the error is that of WHERE as a
    whole.
    """
    mistake = find_mistake(source.tokens, spoken.added.written_keywords)
    if mistake is None or _is_whole_elsewhere(source.text, spoken):
        return error
    place = source.locate(mistake.token)
    if error.place != source.locate(source.pattern) and _is_before(error.place, place):
        return error
    return InvalidQuery(mistake.reason, rule="DIA-7", place=place)


def _is_whole_elsewhere(text: str, spoken: Dialect) -> bool:
    """Return whether another dialect reads all of a text, and finds no mistake in it."""
    for dialect in DIALECTS.values():
        if dialect is not spoken and _reach(text, dialect) > len(text):
            read_tokens = list(grammar.tokens(dialect.added.parser.parse(text)))
            if find_mistake(read_tokens, dialect.added.written_keywords) is None:
                return True
    return False


def _is_before(place: str, other: str) -> bool:
    """Return whether one place is before another: `line 3 column 7` before `line 12 column 1`."""
    numbers = [[int(word) for word in one.split() if word.isdecimal()] for one in (place, other)]
    return numbers[0] < numbers[1]


def _unread(text: str, error: UnexpectedInput, spoken: Dialect) -> RefengineError:
    """DIA-7: Return the error of a text that cannot be read further."""
    offset = faults.reached_offset(text, error)
    if (known := name_construct(text, offset)) is not None:
        return Unsupported(known, rule="DIA-7", place=grammar.line_and_column(text, offset))
    mistake = find_mistake(faults.tokens_read(error), spoken.added.written_keywords)
    if mistake is not None and not _is_whole_elsewhere(text, spoken):
        start = start_offset(mistake.token)
        if start < offset:
            place = grammar.line_and_column(text, start)
            return InvalidQuery(mistake.reason, rule="DIA-7", place=place)
    return faults.syntax_error(text, error, _likely(text, spoken, offset))


def _likely(text: str, spoken: Dialect, far: int) -> str:
    """Return a hint, such as `; this looks like C-SPARQL (csparql)`, or nothing. Of the other
    dialects that find a clause of their own, it names the one that reads furthest, if that reads
    beyond `far`.
    """
    reach = {name: _reach(text, other) for name, other in DIALECTS.items() if other is not spoken}
    best = max(reach, key=reach.__getitem__)
    if reach[best] <= far:
        return ""
    return f"; this looks like {DIALECTS[best].title} ({best})"


def _reach(text: str, dialect: Dialect) -> int:
    """Return how many characters of a text a dialect reads, if it finds a clause of its own in it;
    else 0.
    """
    try:
        trees = [dialect.added.parser.parse(text)]
        far = len(text) + 1
    except UnexpectedInput as error:
        trees = [item for item in faults.unfinished_items(error) if isinstance(item, Tree)]
        far = faults.reached_offset(text, error)
    if any(node.data in OWN for tree in trees for node in grammar.nodes(tree)):
        return far
    return 0
