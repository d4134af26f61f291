"""§7 R2R: a SPARQL body over a window's content, computed by two independent witnesses, rdflib and pyoxigraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from rdflib import BNode, URIRef
from rdflib import Literal as RdflibLiteral
from rdflib.plugins.sparql.evaluate import evalQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Identifier, Variable

from refengine.compare import blanks, colours, equal, rename, representatives
from refengine.errors import Disputed, InvalidQuery, RefengineError
from refengine.guard import QuietDataset, shallow
from refengine.joins import connect_patterns
from refengine.model import XSD, Bag, Dataset, Element, Quad, Relation, Term, Triple, is_blank, literal, parse_literal, row
from refengine.query import Body, Form, algebra_of
from refengine.semantics import Collection
from refengine.window import Content, View

try:
    import pyoxigraph
except ImportError:  # the base install: rdflib alone, and every result says so
    pyoxigraph = None

Witness = Callable[[Body, Dataset], Relation]


def dataset(elements: Iterable[Element]) -> frozenset[Triple]:
    """R2R-1: a default graph is the set union of the graphs of elements."""
    return frozenset().union(*(element.graph for element in elements))


def together(views: Sequence[View], contents: Sequence[Content], static: Dataset) -> Dataset:
    """R2R-8: windows without a name make the default graph, one with a name is the graph of that name; static data is always
    there. Blank nodes are scoped to their stream."""
    sources = list(dict.fromkeys(view.spec.stream for view in views))
    shared = len(sources) + bool(static) > 1
    found = [scoped(static, "static")] if shared else [static]
    for view, content in zip(views, contents, strict=True):
        graph, name = dataset(view.elements[i] for i in content), view.spec.name
        graph = scoped(graph, str(sources.index(view.spec.stream))) if shared else graph
        found.append(graph if name is None else {(*triple, f"<{name}>") for triple in graph})
    return frozenset().union(*found)


def scoped(graph: Dataset, source: str) -> Dataset:
    """R2R-8: the statements with the labels of their blank nodes marked by their source."""
    return frozenset(tuple(f"_:{source}-{t[2:]}" if is_blank(t) else t for t in statement) for statement in graph)


def collected(collection: Collection, rows: Bag) -> Bag:
    """R2R-9: an answer is a bag, or a set: one of the rows that are the same by value."""
    match collection:
        case Collection.BAG:
            return rows
        case Collection.SET:
            return representatives(rows)


def truth(value: bool) -> Relation:
    """R2R-3: ASK gives one row, `ask` = true or false, so it is never an empty answer."""
    return Relation(("ask",), Counter([row({"ask": literal("true" if value else "false", XSD + "boolean")})]))


def solutions(variables: tuple[str, ...], mappings: Iterable[dict[str, Term]]) -> Relation:
    """R2R-2: SELECT gives a bag of solution mappings; an unbound variable is absent from its row."""
    return Relation(variables, Counter(row(mapping) for mapping in mappings))


def triples(graph: Iterable[Triple]) -> Relation:
    """R2R-4: CONSTRUCT gives a set of triples, one row each; triples that RDF does not allow are left out."""
    names = ("subject", "predicate", "object")
    allowed = {t for t in graph if not t[0].startswith('"') and t[1].startswith("<")}
    return Relation(names, Counter(row(zip(names, triple, strict=True)) for triple in allowed))


def by_rdflib(body: Body, graph: Dataset) -> Relation:
    """The answer according to rdflib, with GROUP BY over no match corrected (R2R-6)."""
    store = QuietDataset(default_union=False)
    for statement in sorted(graph):  # sums of doubles depend on the order
        subject, predicate, object_, *name = map(to_rdflib, statement)
        (store.graph(*name) if name else store.default_graph).add((subject, predicate, object_))
    result = evalQuery(store, _prepared(body))
    match body.form:
        case Form.ASK:
            return truth(bool(result["askAnswer"]))
        case Form.CONSTRUCT:
            return triples(tuple(from_rdflib(term) for term in triple) for triple in result["graph"])
        case Form.SELECT:
            bound = ({str(v): from_rdflib(t) for v, t in b.items() if t is not None} for b in result["bindings"])
            return solutions(body.variables, bound)


@lru_cache(maxsize=64)
@shallow
def _prepared(body: Body) -> object:
    algebra = algebra_of(parseQuery(body.text))
    algebra.algebra = groups_have_members(connect_patterns(algebra.algebra))
    return algebra


def groups_have_members(node: object) -> object:
    """R2R-6: grouping no solutions by a key gives no group, but rdflib gives one empty row: keep groups with a member."""
    if isinstance(node, list):
        return [groups_have_members(item) for item in node]
    if not isinstance(node, CompValue):
        return node
    for key, value in node.items():
        node[key] = groups_have_members(value)
    if node.name != "AggregateJoin" or node.p.expr is None:
        return node
    members = Variable("__members__")
    node.A.append(CompValue("Aggregate_Count", vars="*", res=members, distinct=None))
    return CompValue("Filter", expr=members, p=node, _vars={members, *(node.get("_vars") or ())})


@lru_cache(maxsize=2**18)
def to_rdflib(term: Term) -> Identifier:
    if is_blank(term):
        return BNode(term[2:])
    if term.startswith("<"):
        return URIRef(term[1:-1])
    parts = parse_literal(term)
    if parts.language:
        return RdflibLiteral(parts.lexical, lang=parts.language)
    datatype = None if parts.datatype == XSD + "string" else URIRef(parts.datatype)
    return RdflibLiteral(parts.lexical, datatype=datatype, normalize=False)


def from_rdflib(term: Identifier) -> Term:
    match term:
        case BNode():
            return f"_:{term}"
        case URIRef():
            return f"<{term}>"
        case _:
            return literal(str(term), str(term.datatype or XSD + "string"), term.language or "")


def by_pyoxigraph(body: Body, graph: Dataset) -> Relation:
    """The answer according to pyoxigraph."""
    store = pyoxigraph.Store()
    store.extend(map(_to_quad, sorted(graph)))
    try:
        result = store.query(body.text)
    except SyntaxError as error:
        raise InvalidQuery(f"not SPARQL 1.1: {error}", rule="QRY-1", place="body") from None
    match body.form:
        case Form.ASK:
            return truth(bool(result))
        case Form.CONSTRUCT:
            return triples(tuple(map(from_pyoxigraph, (t.subject, t.predicate, t.object))) for t in result)
        case Form.SELECT:
            names = [variable.value for variable in result.variables]
            bound = ({n: from_pyoxigraph(t) for n, t in zip(names, s, strict=True) if t is not None} for s in result)
            return solutions(body.variables, bound)


@lru_cache(maxsize=2**18)
def _to_quad(statement: Triple | Quad) -> object:
    return pyoxigraph.Quad(*map(_to_pyoxigraph, statement))


def _to_pyoxigraph(term: Term) -> object:
    if is_blank(term):
        return pyoxigraph.BlankNode(term[2:])
    if term.startswith("<"):
        return pyoxigraph.NamedNode(term[1:-1])
    parts = parse_literal(term)
    if parts.language:
        return pyoxigraph.Literal(parts.lexical, language=parts.language)
    return pyoxigraph.Literal(parts.lexical, datatype=pyoxigraph.NamedNode(parts.datatype))


def from_pyoxigraph(term: object) -> Term:
    match term:
        case pyoxigraph.BlankNode():
            return f"_:{term.value}"
        case pyoxigraph.NamedNode():
            return f"<{term.value}>"
        case _:
            return literal(term.value, term.datatype.value, term.language or "")


WITNESSES: dict[str, Witness] = {"rdflib": by_rdflib} | ({"pyoxigraph": by_pyoxigraph} if pyoxigraph else {})
FASTEST: str = list(WITNESSES)[-1]


def ask(name: str, body: Body, graph: Dataset) -> Relation:
    """One witness's answer. A witness that breaks on a body has no say: the answer is disputed."""
    try:
        return WITNESSES[name](body, graph)
    except RefengineError:
        raise
    except Exception as error:  # a library's own failure, of whatever kind
        raise Disputed(f"{name} cannot evaluate the body: {type(error).__name__}: {str(error)[:200]}", rule="R2R-5", place="body") from error


def agreed(
    body: Body,
    graph: Dataset,
    witnesses: tuple[str, ...] = tuple(WITNESSES),
    asked: Callable[[str, Body, Dataset], Relation] = ask,
) -> Relation:
    """R2R-5: what the witnesses agree on, value for value, is the answer; where they do not, it is disputed."""
    answers = {name: asked(name, body, graph) for name in witnesses}
    first, *others = answers
    for other in others:
        if not equal(answers[first].rows, answers[other].rows):
            raise Disputed(f"{first} and {other} disagree on the body's answer", rule="R2R-5", answers=answers)
    return answers[first]


def fresh(rows: Bag, graph: Dataset, evaluation: str) -> Bag:
    """R2R-7: a blank node that the body makes (a template's, BNODE()) is new at every evaluation; the data's keep their label,
    in which there is no slash (N-Triples has none in labels)."""
    made = blanks(rows)
    if not made:
        return rows
    known = {term for triple in graph for term in triple if is_blank(term)}
    colour = colours(rows)
    made = sorted(made - known, key=lambda label: (colour[label], label))
    return rename(rows, {old: f"_:made/{evaluation}/{i}" for i, old in enumerate(made)})
