"""§7 R2R: a SPARQL body over a window's content, computed by two independent witnesses, rdflib and pyoxigraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

from rdflib import BNode, Dataset, URIRef
from rdflib import Literal as RdflibLiteral
from rdflib.plugins.sparql.evaluate import evalQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Identifier, Variable

from refengine.compare import blanks, colours, equal, rename
from refengine.errors import Disputed, InvalidQuery, RefengineError
from refengine.model import XSD, Bag, Element, Relation, Term, Triple, is_blank, literal, parse_literal, row
from refengine.query import Body, Form, algebra_of

try:
    import pyoxigraph
except ImportError:  # the base install: rdflib alone, and every result says so
    pyoxigraph = None

Witness = Callable[[Body, frozenset[Triple]], Relation]


def dataset(elements: Iterable[Element]) -> frozenset[Triple]:
    """R2R-1: a body sees the set union of the graphs of the content's elements, blank nodes scoped to the stream."""
    return frozenset().union(*(element.graph for element in elements))


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


def by_rdflib(body: Body, graph: frozenset[Triple]) -> Relation:
    """The answer according to rdflib, with GROUP BY over no match corrected (R2R-6)."""
    store = Dataset(default_union=False)
    default = store.default_graph
    for subject, predicate, object_ in sorted(graph):  # sums of doubles depend on the order
        default.add((to_rdflib(subject), to_rdflib(predicate), to_rdflib(object_)))
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
def _prepared(body: Body) -> object:
    algebra = algebra_of(parseQuery(body.text))
    algebra.algebra = groups_have_members(algebra.algebra)
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


def by_pyoxigraph(body: Body, graph: frozenset[Triple]) -> Relation:
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
def _to_quad(triple: Triple) -> object:
    return pyoxigraph.Quad(*map(_to_pyoxigraph, triple))


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


def ask(name: str, body: Body, graph: frozenset[Triple]) -> Relation:
    """One witness's answer. A witness that breaks on a body has no say: the answer is disputed."""
    try:
        return WITNESSES[name](body, graph)
    except RefengineError:
        raise
    except Exception as error:  # a library's own failure, of whatever kind
        reason = f"{name} cannot evaluate the body: {type(error).__name__}: {str(error)[:200]}"
        raise Disputed(reason, rule="R2R-5", place="body") from error


def agreed(
    body: Body,
    graph: frozenset[Triple],
    witnesses: tuple[str, ...] = tuple(WITNESSES),
    asked: Callable[[str, Body, frozenset[Triple]], Relation] = ask,
) -> Relation:
    """R2R-5: what the witnesses agree on, value for value, is the answer; where they do not, it is disputed."""
    answers = {name: asked(name, body, graph) for name in witnesses}
    first, *others = answers
    for other in others:
        if not equal(answers[first].rows, answers[other].rows):
            raise Disputed(f"{first} and {other} disagree on the body's answer", rule="R2R-5", answers=answers)
    return answers[first]


def fresh(rows: Bag, graph: frozenset[Triple], evaluation: int) -> Bag:
    """R2R-7: a blank node that the body makes (a template's, BNODE()) is new at every evaluation; the data's keep their label."""
    made = blanks(rows)
    if not made:
        return rows
    known = {term for triple in graph for term in triple if is_blank(term)}
    colour = colours(rows)
    made = sorted(made - known, key=lambda label: (colour[label], label))
    names = {old: f"_:r{evaluation}n{i}" for i, old in enumerate(made)}
    while known.intersection(names.values()):
        names = {old: f"{new}x" for old, new in names.items()}
    return rename(rows, names)
