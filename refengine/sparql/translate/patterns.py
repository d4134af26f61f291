"""Group graph patterns of a body (SPARQL 1.1 §18.2.2)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from lark import Token, Tree

from refengine.model.elements import Term
from refengine.model.errors import Unsupported
from refengine.sparql.algebra import (
    Basic,
    Expression,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    TriplePattern,
    Union,
    Values,
    Variable,
    visible,
)
from refengine.sparql.translate.expressions import ExpressionReader, conjunction
from refengine.sparql.translate.terms import NamedPattern
from refengine.sparql.translate.trees import child, trees
from refengine.sparql.translate.triples import TripleReader

MOST_ROWS = 10_000  # of VALUES
GRAPH_WITHIN_WINDOW = (
    "GRAPH within a window's pattern would read the named graphs of the window's content, and an "
    "element has one graph, whose name is not kept; write GRAPH outside of it for static data"
)


class PatternReader(TripleReader, ExpressionReader):
    """The reading of a body's group graph patterns."""

    @abstractmethod
    def select(self, form: Tree[Token], values: Tree[Token] | None) -> Pattern:
        """Translate SELECT, here that of a subquery."""

    def group(self, tree: Tree[Token]) -> Pattern:
        """Translate a group graph pattern (§18.2.2)."""
        pattern, condition = self.group_and_condition(tree)
        if condition is None:
            return pattern
        return Filter(condition, pattern)

    def group_and_condition(self, tree: Tree[Token]) -> tuple[Pattern, Expression | None]:
        """Translate a group, and return its own filters apart: OPTIONAL takes them for its
        condition (§18.2.2.6).
        """
        (inner,) = trees(tree)
        if inner.data == "sub_select":
            return self.select(inner, child(inner, "values_clause")), None
        pattern: Pattern = Join(())
        filters: list[Tree[Token]] = []
        triples: list[TriplePattern] = []
        for element in trees(inner):
            match element.data:
                case "filter":
                    filters.append(element)
                case "triples_block":
                    triples += self.triples(element)
                case _:
                    pattern = self.with_triples(pattern, triples)
                    pattern = self.with_element(pattern, element)
        pattern = self.with_triples(pattern, triples)
        conditions = [self.expression(trees(node)[0], with_aggregates=False) for node in filters]
        if not conditions:
            return pattern, None
        return pattern, conjunction(conditions)

    def with_triples(self, pattern: Pattern, triples: list[TriplePattern]) -> Pattern:
        """Join the collected triple patterns, which are one basic graph pattern, and empty their
        list: the next ones are another.
        """
        if triples:
            pattern = join_patterns(pattern, Basic(tuple(triples)))
            triples.clear()
        self.basic_number += 1
        return pattern

    def with_element(self, pattern: Pattern, element: Tree[Token]) -> Pattern:
        """Add an element of a group to the pattern before it (§18.2.2.6)."""
        match element.data:
            case "optional":
                right, condition = self.group_and_condition(trees(element)[0])
                return LeftJoin(pattern, right, condition)
            case "minus":
                return Minus(pattern, self.group(trees(element)[0]))
            case "bind":
                return self.bind(pattern, element)
            case "inline_data":
                return join_patterns(pattern, self.data(trees(element)[0]))
            case "graph" | "window":
                return join_patterns(pattern, self.named_pattern(element))
            case _:
                parts = tuple(map(self.group, trees(element)))
                if len(parts) == 1:
                    return join_patterns(pattern, parts[0])
                return join_patterns(pattern, Union(parts))

    def named_pattern(self, element: Tree[Token]) -> Graph:
        """Translate GRAPH or WINDOW. Raises Unsupported for GRAPH within WINDOW (R2R-8)."""
        of_windows = element.data == "window"
        if self.window_depth and not of_windows:
            raise self.fault(element, GRAPH_WITHIN_WINDOW, Unsupported, "R2R-8")
        tree, inner = trees(element)
        name = self.term(tree)
        places = (element.meta.start_pos, inner.meta.start_pos, element.meta.end_pos)
        self.named_patterns.append(NamedPattern(name, of_windows, *places))
        self.window_depth += of_windows
        group = self.group(inner)
        self.window_depth -= of_windows
        return Graph(name, group, of_windows)

    def bind(self, pattern: Pattern, element: Tree[Token]) -> Pattern:
        """Add BIND to the pattern before it."""
        expression, target = trees(element)
        variable = self.variable(target)
        if variable.name in visible(pattern):
            raise self.fault(
                target, f"?{variable.name} is in scope already; give BIND another variable"
            )
        return extend(pattern, [(variable, self.expression(expression, with_aggregates=False))])

    def data(self, tree: Tree[Token]) -> Values:
        """Translate the rows of VALUES."""
        variables = tuple(self.variable(node) for node in trees(tree) if node.data == "var")
        if len(set(variables)) < len(variables):
            raise self.fault(tree, "VALUES names a variable twice")
        rows: list[tuple[Term | None, ...]] = []
        for node in trees(tree)[len(variables) :]:
            cells = [node]
            if node.data == "data_row":
                cells = trees(node)
            if len(cells) != len(variables):
                raise self.fault(node, f"{len(cells)} values for {len(variables)} variables")
            rows.append(tuple(map(self.cell, cells)))
        if len(rows) > MOST_ROWS:
            raise self.fault(tree, f"VALUES of more than {MOST_ROWS} rows", Unsupported, "R2R-17")
        return Values(variables, tuple(rows))

    def cell(self, tree: Tree[Token]) -> Term | None:
        """Translate a value of VALUES; None for UNDEF."""
        if not trees(tree):
            return None
        return self.constant(trees(tree)[0])


def join_patterns(left: Pattern, right: Pattern) -> Pattern:
    """Return the join of two patterns; the empty pattern adds nothing."""
    if left == Join(()):
        return right
    if isinstance(left, Join):
        return Join((*left.parts, right))
    return Join((left, right))


def extend(pattern: Pattern, bindings: list[tuple[Variable, Expression]]) -> Pattern:
    """Return a pattern extended by bindings, together with those that it ends with."""
    if isinstance(pattern, Extend):
        return replace(pattern, bindings=(*pattern.bindings, *bindings))
    return Extend(pattern, tuple(bindings))
