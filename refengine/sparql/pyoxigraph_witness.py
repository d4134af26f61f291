"""§7 pyoxigraph as a witness: its answers, but for the joins in nested loops that nothing could
stop.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import cast

import pyoxigraph

from refengine.model.elements import Dataset as Statements
from refengine.model.elements import (
    Quad,
    Relation,
    Term,
    Triple,
    is_blank,
    literal,
    parse_literal,
)
from refengine.sparql.algebra import (
    Basic,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Query,
    Reduced,
    Slice,
    Union,
    Values,
    Var,
    visible,
    walk,
)
from refengine.sparql.evaluation import ask_answer, construct_answer, select_answer
from refengine.sparql.functions import TIMESTAMP
from refengine.sparql.witnesses import NoSay

OxigraphTerm = pyoxigraph.BlankNode | pyoxigraph.NamedNode | pyoxigraph.Literal
Function = Callable[..., OxigraphTerm | pyoxigraph.Triple | None]

# solutions of one side times those of the other that pyoxigraph may join in nested loops
MOST_PAIRS = 10**8
MOST_SOLUTIONS = 200_000  # of an operator, as the definition holds no more


def refuse_nested_loops(query: Query, triples: int) -> None:
    """Raise NoSay for a body that pyoxigraph may join in nested loops over many solutions, which
    nothing can interrupt.

    It hashes only by variables that both sides always bind. A product of sides that share none
    makes the rows that the definition makes, too, and is bounded by that.
    """
    for node in walk(query.pattern):
        pairs: list[tuple[Pattern, Pattern]]
        match node:
            case Join(members):
                pairs = [(Join(members[:i]), part) for i, part in enumerate(members) if i]
            case LeftJoin(left, right, _) | Minus(left, right):
                pairs = [(left, right)]
            case _:
                continue
        for left, right in pairs:
            shares_variables = bool(visible(left).keys() & visible(right).keys())
            is_hashed = bool(certain(left) & certain(right))
            if (
                shares_variables
                and not is_hashed
                and most_solutions(left, triples) * most_solutions(right, triples) > MOST_PAIRS
            ):
                raise NoSay(
                    "a join by variables that OPTIONAL, UNION or UNDEF may leave "
                    f"unbound, of more than {MOST_PAIRS} pairs"
                )


def certain(pattern: Pattern) -> set[str]:
    """Return the variables that every solution of a pattern binds, whatever the data."""
    match pattern:
        case Basic():
            return set(visible(pattern))
        case Join(members):
            return set().union(*map(certain, members))
        case Union(members):
            return set.intersection(*map(certain, members))
        case Graph(name, inner):
            return certain(inner) | ({name.name} if isinstance(name, Var) else set())
        case Values(variables, rows):
            return {
                variable.name
                for place, variable in enumerate(variables)
                if all(cells[place] is not None for cells in rows)
            }
        case Project(inner, variables):
            return certain(inner) & {variable.name for variable in variables}
        case Group(inner, keys, _):
            return certain(inner) & {
                variable.name for variable, key in keys or () if variable == key
            }
        case (
            LeftJoin(inner, _, _)
            | Minus(inner, _)
            | Filter(_, inner)
            | Extend(inner, _)
            | OrderBy(inner, _)
        ):
            return certain(inner)
        case Distinct(inner) | Reduced(inner) | Slice(inner, _, _):
            return certain(inner)


def most_solutions(pattern: Pattern, triples: int) -> int:
    """Estimate how many solutions a pattern may have over so many triples if no variable is shared:
    a path counts as a triple pattern, and the rows of several VALUES are added.
    """
    rows = sum(len(node.rows) for node in walk(pattern) if isinstance(node, Values))
    patterns = sum(len(node.triples) for node in walk(pattern) if isinstance(node, Basic))
    many: int = (rows or 1) * max(triples, 1) ** min(patterns, 20)
    return min(MOST_SOLUTIONS, many)


def is_time(statement: Triple | Quad) -> bool:
    """Return whether a statement tells the time of a triple (R2R-21): a literal stands in its
    fourth place.
    """
    return len(statement) == 4 and statement[3].startswith('"')


def answer(query: Query, text: str, dataset: Statements) -> Relation:
    """Return pyoxigraph's answer."""
    refuse_nested_loops(query, len(dataset))
    store = pyoxigraph.Store()
    times = {
        statement[:3]: statement[3]
        for statement in dataset
        if len(statement) == 4 and is_time(statement)
    }
    store.extend(
        _to_quad(statement) for statement in sorted(dataset) if not times or not is_time(statement)
    )

    def timestamp(subject: object, predicate: object, object_: object) -> OxigraphTerm | None:
        triple = from_pyoxigraph(subject), from_pyoxigraph(predicate), from_pyoxigraph(object_)
        time = times.get(triple)
        return None if time is None else to_pyoxigraph(time)

    if times:
        named: Function = timestamp
        functions = {pyoxigraph.NamedNode(TIMESTAMP): named}
        result = store.query(text, custom_functions=functions)
    else:
        result = store.query(text)
    match result:
        case pyoxigraph.QueryBoolean():
            return ask_answer(bool(result))
        case pyoxigraph.QueryTriples():
            return construct_answer(
                (
                    from_pyoxigraph(t.subject),
                    from_pyoxigraph(t.predicate),
                    from_pyoxigraph(t.object),
                )
                for t in result
            )
        case pyoxigraph.QuerySolutions():
            names = [variable.value for variable in result.variables]
            bound = (
                {n: from_pyoxigraph(t) for n, t in zip(names, s, strict=True) if t is not None}
                for s in result
            )
            return select_answer(query.variables, bound)


@lru_cache(maxsize=2**18)
def _to_quad(statement: Triple | Quad) -> pyoxigraph.Quad:
    make = cast("Callable[..., pyoxigraph.Quad]", pyoxigraph.Quad)  # it refuses a wrong term
    return make(*map(to_pyoxigraph, statement))


def to_pyoxigraph(term: Term) -> OxigraphTerm:
    """Return a term as pyoxigraph has it."""
    if is_blank(term):
        return pyoxigraph.BlankNode(term[2:])
    if term.startswith("<"):
        return pyoxigraph.NamedNode(term[1:-1])
    parts = parse_literal(term)
    if parts.language:
        return pyoxigraph.Literal(parts.lexical, language=parts.language)
    return pyoxigraph.Literal(parts.lexical, datatype=pyoxigraph.NamedNode(parts.datatype))


def from_pyoxigraph(term: object) -> Term:
    """Return pyoxigraph's term as text."""
    match term:
        case pyoxigraph.BlankNode():
            return f"_:{term.value}"
        case pyoxigraph.NamedNode():
            return f"<{term.value}>"
        case pyoxigraph.Literal():
            return literal(term.value, term.datatype.value, term.language or "")
        case _:
            raise AttributeError(f"no term: {term!r}")
