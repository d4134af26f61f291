"""rdflib's algebra of a body, with its known faults in reach mended."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from types import MethodType
from typing import TYPE_CHECKING, Any, cast

from rdflib import BNode, URIRef
from rdflib.paths import Path
from rdflib.plugins.sparql.algebra import translatePrologue, translateQuery, traverse
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue, Expr
from rdflib.plugins.sparql.sparql import Query as RdflibQuery
from rdflib.term import Identifier, Variable

from refengine.model.libraries import keeping_lexical_forms
from refengine.sparql.evaluation.join_order import (
    order_by_shared_variables,
    postpone_unconnected,
    split_by_shared_variables,
)
from refengine.sparql.witnesses.asking import NoSay

if TYPE_CHECKING:
    from pyparsing import ParseResults

RdflibTriple = tuple[Identifier, ...]


@lru_cache(maxsize=512)
def prepare(text: str) -> RdflibQuery:
    """Parse a body with rdflib and return its algebra, with literals as they are written, and with
    prefixed names resolved: rdflib keeps one prefix a namespace only.
    """
    with keeping_lexical_forms():
        tree = parseQuery(text)
    bases = cast("ParseResults", [node for node in tree[0] if node.name == "Base"])
    prologue = translatePrologue(bases, None)
    names = {
        _prefix(node): prologue.absolutize(node["iri"])
        for node in tree[0]
        if node.name == "PrefixDecl"
    }

    def resolve_name(node: Any) -> URIRef | None:
        if isinstance(node, CompValue) and node.name == "pname" and _prefix(node) in names:
            # rdflib's own `get` gives a variable where there is no local name
            local = node["localname"] if "localname" in node else ""  # noqa: SIM401
            return URIRef(str(names[_prefix(node)]) + str(local))
        return None

    tree[1] = traverse(tree[1], visitPost=resolve_name)
    algebra = translateQuery(tree)
    algebra.algebra = adapt(algebra.algebra)
    return algebra


def _prefix(node: CompValue) -> str:
    """Return the prefix of a name, "" where there is none."""
    if "prefix" not in node:
        return ""
    return str(node["prefix"])


def adapt(node: Any) -> Any:
    """Return rdflib's algebra, changed in three ways: triple patterns, and joins of them, in a
    feasible order, no group where GROUP BY has no solutions (R2R-6), and NoSay for a regular
    expression that may take long. Changes it in place.
    """
    if isinstance(node, list):
        return [adapt(item) for item in node]
    if not isinstance(node, CompValue):
        return node
    for key, value in node.items():
        node[key] = adapt(value)
    if node.name == "BGP":
        node["triples"] = order_patterns(node.triples)
    if node.name == "Join":
        return order_joins(node)
    if node.name in ("Builtin_REGEX", "Builtin_REPLACE"):
        node._evalfn = MethodType(_guarded(node._evalfn.__func__), node)
    if node.name != "AggregateJoin" or node.p.expr is None:
        return node
    # grouping no solutions by a key gives no group, but rdflib gives one empty row
    members = Variable("__members__")
    node.A.append(CompValue("Aggregate_Count", vars="*", res=members, distinct=None))
    return CompValue("Filter", expr=members, p=node, _vars={members, *_variables_within(node)})


def _variables_within(node: CompValue) -> set[Variable]:
    """Return the variables that rdflib has noted of a node of its algebra, if it has noted any.

    `CompValue.get` takes no default: it gives a key that is missing as a variable's name.
    """
    if "_vars" not in node:
        return set()
    return cast("set[Variable]", node["_vars"])


def order_patterns(patterns: Sequence[RdflibTriple]) -> list[RdflibTriple]:
    """Order triple patterns as rdflib should join them, which joins them as they stand. Its own
    order prefers patterns with many constants: two observations of one sensor become all pairs of
    observations.
    """
    return order_by_shared_variables(
        patterns, _variables_of, lambda _, new_variables: new_variables
    )


def order_joins(join: CompValue) -> CompValue:
    """Reorder a join whose operands are all basic graph patterns, each in the default graph or in
    GRAPH. rdflib evaluates the left side first, and the right one for each of its solutions.

    Triple patterns that share no variable become operands of their own, since their solutions
    together are all pairs. Any other join is returned as it is.
    """
    operands = _operands(join)
    patterns = [_basic_pattern_of(operand) for operand in operands]
    if not all(pattern is not None and not _has_path(pattern) for pattern in patterns):
        return join
    groups = [group for operand in operands for group in _unconnected(operand)]
    if not groups:
        return join
    return reduce(_join_lazily, postpone_unconnected(groups, _variables_within))


def _operands(node: CompValue) -> list[CompValue]:
    """Return the patterns that a node joins, if rdflib joins them one by one (`lazy`)."""
    if node.name == "Join" and node.lazy:
        return _operands(node.p1) + _operands(node.p2)
    return [node]


def _basic_pattern_of(node: CompValue) -> CompValue | None:
    """Return the basic graph pattern of a node: the node itself, or what is inside its GRAPH; None
    for any other node.
    """
    inner = node.p if node.name == "Graph" else node
    return inner if inner.name == "BGP" else None


def _has_path(pattern: CompValue) -> bool:
    """Return whether a basic graph pattern has a property path. rdflib answers a path of no steps
    in another way where a term is bound before.
    """
    return any(isinstance(predicate, Path) for _, predicate, _ in pattern.triples)


def _unconnected(operand: CompValue) -> list[CompValue]:
    """Return the parts of a basic graph pattern that share no variable. A GRAPH is one part."""
    if operand.name != "BGP":
        return [operand]
    return [
        CompValue("BGP", triples=group, _vars=set().union(*map(_variables_of, group)))
        for group in split_by_shared_variables(operand.triples, _variables_of)
    ]


def _join_lazily(left: CompValue, right: CompValue) -> CompValue:
    """Return a join for which rdflib evaluates the right side for each solution of the left."""
    variables = _variables_within(left) | _variables_within(right)
    return CompValue("Join", p1=left, p2=right, lazy=True, _vars=variables)


def _variables_of(pattern: RdflibTriple) -> set[Identifier]:
    """Return the variables and blank nodes of a triple pattern."""
    return {term for term in pattern if isinstance(term, Variable | BNode)}


def _guarded(function: Callable[[Expr, Any], Any]) -> Callable[[Expr, Any], Any]:
    """Wrap rdflib's REGEX or REPLACE, which use Python's `re`: that may take exponential time."""

    def guarded(expression: Expr, context: Any) -> Any:
        operand = "text" if "text" in expression else "arg"
        text = expression[operand]
        if may_be_slow(str(expression["pattern"]), len(str(text))):
            raise NoSay("a regular expression that may take long with Python's re")
        return function(expression, context)

    return guarded


def may_be_slow(pattern: str, length: int) -> bool:
    """Return whether a backtracking matcher may take long: a repeated group that repeats or
    chooses, or many repetitions on a long text.
    """
    repetitions = len(re.findall(r"[*+{]", pattern))
    is_nested = re.search(r"\)[*+{]", pattern) is not None and (repetitions > 1 or "|" in pattern)
    return (is_nested and length > 20) or max(length, 1) ** repetitions > 10**7
