"""§7 SPARQL's algebra (SPARQL 1.1 §18.2): what a body means, as a tree of values.

An operand of an expression is a variable, a term, or an expression. A term is its canonical
N-Triples text, but a literal keeps the lexical form in which the body writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, cast

from refengine.model.elements import Term


class Variable(NamedTuple):
    """A variable; one whose name begins with `_:` stands for a blank node of the body, and one with
    a `.` is made by the algebra.
    """

    name: str

    @property
    def is_hidden(self) -> bool:
        """Return whether no text can name it."""
        return ":" in self.name or "." in self.name


# Expressions


@dataclass(frozen=True)
class Call:
    """A function or an operator over operands: `name` is SPARQL's keyword or symbol, or a
    function's IRI.
    """

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Exists:
    """EXISTS: whether a pattern has a solution once the variables of the current one are
    substituted. `size` is how many parts the pattern has.
    """

    pattern: Pattern
    size: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Aggregate:
    """A set function over the members of a group; `argument` is None for COUNT(*)."""

    name: str
    argument: Expression | None
    is_distinct: bool = False
    separator: str = " "


Expression = Variable | Term | Call | Exists | Aggregate


# Property paths (§9)


@dataclass(frozen=True)
class Inverse:
    """The path ^P: P from its end to its start."""

    path: Path


@dataclass(frozen=True)
class Sequence:
    """The path P / Q / …: one after the other."""

    steps: tuple[Path, ...]


@dataclass(frozen=True)
class Alternative:
    """The path P | Q | …: any of them."""

    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Repeated:
    """The path P? (at most once), P* (any number of times) or P+ (at least once); `least` is 0 or
    1.
    """

    path: Path
    least: int
    is_at_most_once: bool


@dataclass(frozen=True)
class NegatedSet:
    """The path !(p | ^q | …). `forward` excludes predicates of triples from start to end,
    `backward` of those from end to start; None: that direction is not taken.
    """

    forward: tuple[Term, ...] | None
    backward: tuple[Term, ...] | None


Path = Term | Inverse | Sequence | Alternative | Repeated | NegatedSet


# Patterns


class TriplePattern(NamedTuple):
    """Subject, predicate (a term, a variable or a path) and object."""

    subject: Variable | Term
    predicate: Variable | Path
    object: Variable | Term


def without_path(
    pattern: TriplePattern,
) -> tuple[Variable | Term, Variable | Term, Variable | Term]:
    """Return a triple pattern whose predicate is known to be no path."""
    return cast("tuple[Variable | Term, Variable | Term, Variable | Term]", pattern)


@dataclass(frozen=True)
class Basic:
    """A basic graph pattern, property paths included. Blank nodes are hidden variables."""

    triples: tuple[TriplePattern, ...]


@dataclass(frozen=True)
class Join:
    """Join of any number of patterns; of none, the empty pattern with one empty solution."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class LeftJoin:
    """OPTIONAL: `condition` is None where there is none."""

    left: Pattern
    right: Pattern
    condition: Expression | None


@dataclass(frozen=True)
class Filter:
    """The solutions for which a condition has the effective boolean value true."""

    condition: Expression
    pattern: Pattern


@dataclass(frozen=True)
class Union:
    """UNION of two or more patterns."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Minus:
    """MINUS: without the solutions that are compatible with one of the right side and share a
    variable with it.
    """

    left: Pattern
    right: Pattern


@dataclass(frozen=True)
class Graph:
    """GRAPH with a name or a variable, or WINDOW, which finds windows in their place."""

    name: Variable | Term
    pattern: Pattern
    of_windows: bool = False


@dataclass(frozen=True)
class Extend:
    """BIND and `AS`: variables bound one after the other, each unless its
    expression is an error.
    """

    pattern: Pattern
    bindings: tuple[tuple[Variable, Expression], ...]


@dataclass(frozen=True)
class Values:
    """VALUES: rows of terms, None for UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True)
class Group:
    """GROUP BY: one solution for each group, with its keys and its aggregates. Without GROUP BY
    `keys` is None: one group, even of nothing.
    """

    pattern: Pattern
    keys: tuple[tuple[Variable, Expression], ...] | None
    aggregates: tuple[tuple[Variable, Aggregate], ...]


@dataclass(frozen=True)
class OrderBy:
    """ORDER BY: conditions, each with whether it is descending."""

    pattern: Pattern
    conditions: tuple[tuple[Expression, bool], ...]


@dataclass(frozen=True)
class Project:
    """SELECT: the solutions with these variables alone."""

    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True)
class Distinct:
    """DISTINCT: each solution once."""

    pattern: Pattern


@dataclass(frozen=True)
class Reduced:
    """REDUCED: each solution at least once, and at most as often as it is there."""

    pattern: Pattern


@dataclass(frozen=True)
class Slice:
    """LIMIT (None: all) and OFFSET."""

    pattern: Pattern
    offset: int
    limit: int | None


Pattern = (
    Basic
    | Join
    | LeftJoin
    | Filter
    | Union
    | Minus
    | Graph
    | Extend
    | Values
    | Group
    | OrderBy
    | Project
    | Distinct
    | Reduced
    | Slice
)


@dataclass(frozen=True)
class GraphClause:
    """A clause FROM or FROM NAMED of a body (SPARQL §13.2): the IRI of its graph, and the offsets
    in the text at which the clause starts and has ended.
    """

    graph: str
    is_named: bool
    start: int
    end: int

    def __str__(self) -> str:
        words = "FROM"
        if self.is_named:
            words = "FROM NAMED"
        return f"{words} <{self.graph}>"


@dataclass(frozen=True)
class AlgebraQuery:
    """A body: its form, its pattern, the variables of its answer, CONSTRUCT's template, the base
    that IRI() resolves against, the language tags that it writes with letters in upper case, its
    clauses FROM and FROM NAMED, and the offsets in its text of its WINDOW patterns, each with the
    IRI that it names, or None for a variable.
    """

    form: str
    pattern: Pattern
    variables: tuple[str, ...]
    template: tuple[TriplePattern, ...] = ()
    base: str = ""
    tags: frozenset[str] = frozenset()
    graphs: tuple[GraphClause, ...] = ()
    windows: tuple[tuple[int, str | None], ...] = ()


def walk(node: Any) -> Iterator[Any]:
    """Yield a node of the algebra and everything in it, depth first, tuples and None included."""
    yield node
    if isinstance(node, Variable | str) or node is None:
        return
    children = node if isinstance(node, tuple) else vars(node).values()
    for child in children:
        if not isinstance(child, bool | int):
            yield from walk(child)


def visible(pattern: Pattern) -> dict[str, None]:
    """Return the names of the variables that are in scope after a pattern (§18.2.1), in the order
    in which they first stand.
    """
    match pattern:
        case Basic(triples):
            return _names(chain.from_iterable(triples))
        case Join(parts) | Union(parts):
            return _visible_in_any(parts)
        case LeftJoin(left, right, _):
            return _visible_in_any((left, right))
        case Graph(Variable() as name, inner):
            return {name.name: None} | visible(inner)
        case Extend(inner, bindings):
            return visible(inner) | _bound_names(bindings)
        case Values(variables, _) | Project(_, variables):
            return {variable.name: None for variable in variables}
        case Group(_, keys, aggregates):
            return _bound_names(keys or ()) | _bound_names(aggregates)
        case Minus(inner, _) | Filter(_, inner) | OrderBy(inner, _) | Graph(_, inner):
            return visible(inner)
        case Distinct(inner) | Reduced(inner) | Slice(inner, _, _):
            return visible(inner)


def _visible_in_any(patterns: Iterable[Pattern]) -> dict[str, None]:
    """Return the names of the variables that are in scope after any of some patterns."""
    names: dict[str, None] = {}
    for pattern in patterns:
        names |= visible(pattern)
    return names


def _bound_names(bindings: Iterable[tuple[Variable, object]]) -> dict[str, None]:
    """Return the names of the variables that some bindings give a value to."""
    return _names(variable for variable, _ in bindings)


def _names(parts: Iterable[object]) -> dict[str, None]:
    """Return the names of the variables among some parts of a pattern, in their order, without
    those that no text can name.
    """
    return {part.name: None for part in parts if isinstance(part, Variable) and not part.is_hidden}


def own_parts(expression: Any) -> Iterator[Any]:
    """Yield an expression and the expressions in it, without going into EXISTS and aggregates,
    which are yielded themselves.
    """
    yield expression
    if isinstance(expression, Call):
        for part in expression.arguments:
            yield from own_parts(part)


def free_variables(expression: Expression) -> set[Variable]:
    """Return the variables of an expression that stand outside its aggregates."""
    return {node for node in own_parts(expression) if isinstance(node, Variable)}


def all_variables(node: Any) -> set[Variable]:
    """Return the variables of a node of the algebra, those in aggregates and in the patterns of
    EXISTS included.
    """
    return {part for part in walk(node) if isinstance(part, Variable)}


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """Yield the parts of a condition that must all be true: A && B is true iff both are, errors or
    not.
    """
    if isinstance(condition, Call) and condition.name == "&&":
        for part in condition.arguments:
            yield from conjuncts(part)
    else:
        yield condition


def always_bound(pattern: Pattern) -> set[str]:
    """Return the names of the variables that every solution of a pattern binds. Of BIND, of `AS`
    and of aggregates none is known.
    """
    match pattern:
        case Basic():
            return set(visible(pattern))
        case Join(parts):
            return set().union(*map(always_bound, parts))
        case Union(parts):
            return set.intersection(*map(always_bound, parts))
        case Graph(Variable() as name, inner):
            return {name.name} | always_bound(inner)
        case Values():
            return _full_columns(pattern)
        case Project(inner, variables):
            return always_bound(inner) & {variable.name for variable in variables}
        case Group(inner, keys, _):
            return always_bound(inner) & _plain_keys(keys or ())
        case LeftJoin(inner, _, _) | Minus(inner, _):
            return always_bound(inner)
        case _:
            return always_bound(pattern.pattern)


def _full_columns(values: Values) -> set[str]:
    """Return the variables to which VALUES gives a term in every row."""
    return {
        variable.name
        for place, variable in enumerate(values.variables)
        if all(cells[place] is not None for cells in values.rows)
    }


def _plain_keys(keys: Iterable[tuple[Variable, Expression]]) -> set[str]:
    """Return the keys of a group that are variables of its pattern, as they stand."""
    return {variable.name for variable, key in keys if variable == key}
