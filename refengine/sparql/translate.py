"""§7 From a body's syntax tree to SPARQL's algebra (SPARQL 1.1 §18.2), with the checks that its
grammar cannot make.

One class reads a body. It is cut by what it reads, from the bottom up: terms, triples and
expressions (`reading`), patterns made of these, what stands around a pattern, and queries as a
whole. Begin with `read_body`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from lark import Token, Tree

from refengine.model.elements import Term
from refengine.model.errors import ForbiddenAccess, InvalidQuery, Unsupported, require
from refengine.model.messages import display
from refengine.sparql.algebra import (
    Aggregate,
    AlgebraQuery,
    Basic,
    Call,
    Distinct,
    Expression,
    Extend,
    Filter,
    Graph,
    GraphClause,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Reduced,
    Slice,
    TriplePattern,
    Union,
    Values,
    Variable,
    all_variables,
    free_variables,
    own_parts,
    visible,
    walk,
)
from refengine.sparql.datasets import NAME_OF_GRAPH, NAME_OF_WINDOW, NAMES, witness_name
from refengine.sparql.grammar import parse_body, read_escapes
from refengine.sparql.reading import (
    ExpressionReader,
    NamedPattern,
    TripleReader,
    branch,
    child,
    conjunction,
    has_aggregate,
    leaf,
    trees,
)

# Group graph patterns (§18.2.2)


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


# Grouped queries (§11, §18.2.4.1): which variables they may show, and their aggregates as variables


Keys = tuple[tuple[Variable, Expression], ...]


class OutputColumn(NamedTuple):
    """An expression of SELECT that `AS` gives to a variable, and where it stands."""

    variable: Variable
    expression: Expression
    item: Tree[Token]


@dataclass
class Clauses:
    """What stands around WHERE: the keys of GROUP BY (None where there is none), what SELECT
    computes, the conditions of HAVING, and those of ORDER BY with whether each is descending.
    """

    keys: Keys | None
    outputs: list[OutputColumn]
    having: list[Expression]
    order: list[tuple[Expression, bool]]

    def expressions(self) -> list[Expression]:
        """Return all expressions but the keys."""
        return [
            *(output.expression for output in self.outputs),
            *self.having,
            *(expression for expression, _ in self.order),
        ]

    def are_grouped(self) -> bool:
        """Return whether the query has groups: by GROUP BY, or by an aggregate."""
        return self.keys is not None or any(map(has_aggregate, self.expressions()))

    def lift(self, grouping: Grouping) -> None:
        """Replace the aggregates by variables (§18.2.4.1)."""
        self.outputs = [
            output._replace(expression=grouping.lift(output.expression)) for output in self.outputs
        ]
        self.having = [grouping.lift(part, samples=True) for part in self.having]
        self.order = [
            (grouping.lift(part, samples=True), is_descending) for part, is_descending in self.order
        ]


class ClauseReader(PatternReader):
    """The reading of what stands around a body's WHERE."""

    def clauses(
        self, form: Tree[Token], items: list[Tree[Token]], scope: dict[str, None]
    ) -> Clauses:
        """Translate GROUP BY, SELECT's expressions, HAVING and ORDER BY, in this order. `scope` has
        the variables of WHERE.
        """
        modifier = child(form, "solution_modifier")
        keys = self.keys(child(modifier, "group_clause"), scope)
        outputs = [
            OutputColumn(self.variable(branch(item, -1)), self.expression(branch(item, 0)), item)
            for item in items
            if len(item.children) > 1
        ]
        having = [self.expression(node) for node in trees(child(modifier, "having_clause"))]
        order = [self.order_condition(node) for node in trees(child(modifier, "order_clause"))]
        return Clauses(keys, outputs, having, order)

    def keys(self, clause: Tree[Token] | None, scope: dict[str, None]) -> Keys | None:
        """Translate the conditions of GROUP BY; None where there is none."""
        if clause is None:
            return None
        keys: list[tuple[Variable, Expression]] = []
        for condition in trees(clause):
            inner = trees(condition)
            expression = self.expression(inner[0], with_aggregates=False)
            if len(inner) > 1:
                variable = self.variable(inner[1])
                if variable.name in scope or variable in [other for other, _ in keys]:
                    raise self.fault(
                        condition, f"?{variable.name} is in scope already; give AS another variable"
                    )
            elif isinstance(expression, Variable):
                variable = expression
            else:
                variable = self.fresh("key")
            keys.append((variable, expression))
        return tuple(keys)

    def order_condition(self, tree: Tree[Token]) -> tuple[Expression, bool]:
        """Translate a condition of ORDER BY, with whether it is descending."""
        inner: Tree[Token] | None = tree
        if tree.data == "order_condition":
            inner = child(tree, "directed")
        if inner is None or inner.data != "directed":
            return self.expression(trees(tree)[0]), False
        return self.expression(trees(inner)[0]), leaf(inner).type == "DESC"

    # Checks

    def check_grouped(
        self,
        items: list[Tree[Token]],
        outputs: list[OutputColumn],
        keys: Iterable[tuple[Variable, Expression]],
    ) -> None:
        """Refuse a variable that SELECT shows or computes with but that is neither a key nor within
        an aggregate (§11.4).
        """
        grouped = {variable for variable, _ in keys}
        by_item = {id(output.item): output for output in outputs}
        for item in items:
            output = by_item.get(id(item))
            if output is None:
                used = {self.variable(branch(item, -1))}
            else:
                used = free_variables(output.expression)
            if loose := sorted(used - grouped):
                name = loose[0].name
                reason = (
                    f"?{name} is not grouped; name it in GROUP BY, or aggregate it, such as "
                    f"SAMPLE(?{name})"
                )
                raise self.fault(item, reason)
            if output is not None:
                grouped.add(output.variable)

    def check_aggregates(
        self,
        form: Tree[Token],
        expressions: Iterable[Expression],
        keys: Iterable[tuple[Variable, Expression]],
    ) -> None:
        """Refuse an aggregate over a variable that GROUP BY itself names by AS: evaluators bind it
        before grouping or after.
        """
        named = {variable for variable, expression in keys if variable != expression}
        operands = (
            node.argument
            for part in expressions
            for node in own_parts(part)
            if isinstance(node, Aggregate) and node.argument is not None
        )
        if any(named & free_variables(operand) for operand in operands):
            reason = "an aggregate over a variable that GROUP BY names"
            raise self.fault(form, reason, Unsupported, "QRY-3")

    def check_aliases(
        self,
        having: Iterable[Expression],
        outputs: list[OutputColumn],
        keys: Iterable[tuple[Variable, Expression]],
    ) -> None:
        """Refuse HAVING over a variable that SELECT names by AS: some evaluators know it there, by
        §18.2.4 it is not bound yet.
        """
        items = {output.variable: output.item for output in outputs}
        for variable in sorted(set().union(*map(all_variables, having)) - {key for key, _ in keys}):
            if variable in items:
                reason = (
                    f"HAVING over ?{variable.name}, which SELECT names by AS; write its expression "
                    "in HAVING"
                )
                raise self.fault(items[variable], reason, Unsupported, "QRY-3")


class Grouping:
    """Rewrites the expressions of a grouped query: each aggregate becomes a variable that Group
    binds.
    """

    def __init__(self, clauses: Clauses) -> None:
        keys = {variable for variable, _ in clauses.keys or ()}
        aliases = {output.variable for output in clauses.outputs}
        self.bound = keys | aliases
        self.aggregates: list[tuple[Variable, Aggregate]] = []
        self.variables: dict[Aggregate, Variable] = {}

    def lift(self, expression: Expression, samples: bool = False) -> Expression:
        """Replace the aggregates of an expression by variables.

        With `samples` (HAVING, ORDER BY) each variable that is no key and no alias becomes SAMPLE
        of it, too (§18.2.4.1).
        """
        match expression:
            case Aggregate():
                return self.variable_of(expression)
            case Variable() if samples and expression not in self.bound:
                return self.variable_of(Aggregate("SAMPLE", expression))
            case Call(name, arguments):
                return Call(name, tuple(self.lift(part, samples) for part in arguments))
            case _:
                return expression

    def variable_of(self, aggregate: Aggregate) -> Variable:
        """Return the variable of an aggregate."""
        if aggregate not in self.variables:
            self.variables[aggregate] = Variable(f"aggregate.{len(self.aggregates)}")
            self.aggregates.append((self.variables[aggregate], aggregate))
        return self.variables[aggregate]


# Whole bodies and subqueries (§18.2.4, §18.2.5): prologue, form, solution modifiers


SELECT_FORMS = ("select_query", "sub_select")


@lru_cache(maxsize=512)
def read_body(text: str) -> tuple[AlgebraQuery, str]:
    """QRY-1: Read a body. Return its algebra, and the text for the witnesses.

    That is the body's own text, in which what one of them cannot read is rewritten: prefixed names
    with two dots as IRIs, GROUP BY in ASK and CONSTRUCT as a subquery, WINDOW as GRAPH
    (`sparql.datasets.with_names`).

    Raises InvalidQuery with line and column for what is not SPARQL 1.1, ForbiddenAccess (QRY-2) for
    SERVICE and updates, Unsupported for DESCRIBE and for functions that nothing here
    computes.
    """
    if not isinstance(text, str):
        reason = f"body must be a string, got {display(text)}"
        raise InvalidQuery(reason, rule="QRY-1", place="body")
    reader = Reader(text)
    try:
        algebra = reader.query(parse_body(text))
    except RecursionError:
        raise Unsupported("nested too deeply", rule="QRY-1", place="body") from None
    if algebra.windows:
        reader.write_names_for_witnesses()
    plain = text
    for start, end, written in sorted(reader.edits, reverse=True):
        plain = plain[:start] + written + plain[end:]
    return algebra, plain


class Reader(ClauseReader):
    """The reading of one body: its text, its base and prefixes, and the blank nodes that were
    seen.
    """

    def query(self, tree: Tree[Token]) -> AlgebraQuery:
        """Translate a whole query (§18.2)."""
        prologue, form, *rest = trees(tree)
        self.prologue(prologue)
        self.refuse_services(form)
        self.graphs = tuple(map(self.graph_clause, form.find_data("dataset_clause")))
        values = child(rest, "values_clause")
        match form.data:
            case "select_query":
                pattern = self.select(form, values)
                return self.query_of("SELECT", pattern, answer_variables(form, pattern))
            case "ask_query":
                pattern, _ = self.pattern_and_order(form, [], values)
                return self.query_of("ASK", pattern, ("ask",))
            case "describe_query":
                raise self.fault(form, "DESCRIBE has no single answer", Unsupported, "QRY-3")
            case _:
                return self.construct(form, values)

    def query_of(
        self,
        form: str,
        pattern: Pattern,
        variables: tuple[str, ...],
        template: tuple[TriplePattern, ...] = (),
    ) -> AlgebraQuery:
        """Return the algebra of a body, with its base, its language tags, its graphs and its
        windows.
        """
        tags = frozenset(self.tags)
        windows = tuple(
            (found.start, found.name[1:-1] if isinstance(found.name, str) else None)
            for found in sorted(self.named_patterns, key=lambda found: found.start)
            if found.of_windows
        )
        return AlgebraQuery(
            form, pattern, variables, template, self.base, tags, self.graphs, windows
        )

    def refuse_services(self, form: Tree[Token]) -> None:
        """QRY-2: Refuse a body that would ask another host, by SERVICE."""
        for clause in form.find_data("service"):
            raise self.fault(clause, "SERVICE would reach the network", ForbiddenAccess, "QRY-2")

    def graph_clause(self, tree: Tree[Token]) -> GraphClause:
        """Read FROM or FROM NAMED."""
        words = [token.type for token in tree.children if isinstance(token, Token)]
        graph = self.iri(leaf(branch(tree, -1)))
        return GraphClause(graph, "NAMED" in words, tree.meta.start_pos, tree.meta.end_pos)

    def prologue(self, tree: Tree[Token]) -> None:
        """Read BASE and PREFIX in their order; each may use those before it."""
        for declaration in trees(tree):
            tokens = (token for token in declaration.children if isinstance(token, Token))
            *names, iri = [token for token in tokens if token.type in ("PNAME_NS", "IRIREF")]
            if names:
                self.prefixes[read_escapes(names[0][:-1], names[0], self.text)] = self.resolve_iri(
                    iri
                )
            else:
                self.base = self.resolve_iri(iri)

    def construct(self, form: Tree[Token], values: Tree[Token] | None) -> AlgebraQuery:
        """Translate CONSTRUCT: a template over the solutions (§16.2)."""
        if form.data == "short_construct":
            last = require(child(form, "short_template")).children[-1]
            template = self.triples(last if isinstance(last, Tree) else None)
            self.basic_number += 1
            pattern, _ = self.pattern_and_order(form, [], values, where=Basic(template))
        else:
            inner = trees(child(form, "construct_template"))
            template = self.triples(inner[0] if inner else None)
            self.labels.clear()  # the template's labels are its own
            pattern, _ = self.pattern_and_order(form, [], values)
        return self.query_of("CONSTRUCT", pattern, ("subject", "predicate", "object"), template)

    # SELECT

    def select(self, form: Tree[Token], values: Tree[Token] | None) -> Pattern:
        """Translate SELECT (§18.2.4, §18.2.5), of a query or a subquery."""
        clause = require(child(form, "select_clause"))
        items = trees(clause)
        is_star = clause.children[-1] == "*"
        pattern, order = self.pattern_and_order(form, items, values, is_star=is_star)
        if is_star:
            variables = [Variable(name) for name in visible(pattern)]
        else:
            variables = self.listed_variables(clause, items)
        if order:
            pattern = OrderBy(pattern, order)
        pattern = Project(pattern, tuple(variables))
        words = [token.type for token in clause.children if isinstance(token, Token)]
        if "DISTINCT" in words:
            pattern = Distinct(pattern)
        elif "REDUCED" in words:
            pattern = Reduced(pattern)
        return self.add_slice(pattern, form)

    def listed_variables(self, clause: Tree[Token], items: list[Tree[Token]]) -> list[Variable]:
        """Return the variables that SELECT lists, each once. One that AS names may stand there only
        once.
        """
        variables = [self.variable(branch(item, -1)) for item in items]
        repeated = next((v for i, v in enumerate(variables) if v in variables[:i]), None)
        if repeated is None:
            return variables
        aliases = [self.variable(branch(item, -1)) for item in items if len(item.children) > 1]
        if repeated in aliases:
            raise self.fault(
                clause, f"?{repeated.name} is selected twice; give one of them another name"
            )
        return list(dict.fromkeys(variables))

    def add_slice(self, pattern: Pattern, form: Tree[Token]) -> Pattern:
        """Translate LIMIT and OFFSET."""
        clause = child(child(form, "solution_modifier"), "limit_offset")
        if clause is None:
            return pattern
        counts = {}
        for part in trees(clause):
            digits = leaf(part, -1).lstrip("0") or "0"
            if len(digits) > 18:
                raise self.fault(
                    part, "LIMIT and OFFSET have at most 18 digits", Unsupported, "R2R-17"
                )
            counts[part.data] = int(digits)
        return Slice(pattern, counts.get("offset_clause", 0), counts.get("limit_clause"))

    # What stands around WHERE

    def pattern_and_order(
        self,
        form: Tree[Token],
        items: list[Tree[Token]],
        values: Tree[Token] | None,
        is_star: bool = False,
        where: Pattern | None = None,
    ) -> tuple[Pattern, tuple[tuple[Expression, bool], ...]]:
        """Translate WHERE, grouping, HAVING, VALUES and `AS` (§18.2.4), and return the pattern and
        the conditions of ORDER BY.

        Of ASK and CONSTRUCT, which have no items, ORDER BY and LIMIT are part of the pattern
        already.
        """
        if where is None:
            where = self.group(require(child(child(form, "where_clause"), "group_graph_pattern")))
        clauses = self.clauses(form, items, visible(where))
        pattern = where
        if clauses.are_grouped():
            if is_star:
                raise self.fault(form, "SELECT * with GROUP BY; name the variables")
            pattern = self.add_grouping(form, items, clauses, where)
            if form.data not in SELECT_FORMS:
                self.write_as_subquery(form, values, clauses)
        if clauses.having:
            pattern = Filter(conjunction(clauses.having), pattern)
        if values is not None:
            pattern = join_patterns(pattern, self.data(branch(values, -1)))
        self.check_scope(clauses.outputs, visible(pattern))
        if clauses.outputs:
            bindings = [(output.variable, output.expression) for output in clauses.outputs]
            pattern = extend(pattern, bindings)
        if form.data in SELECT_FORMS:
            return pattern, tuple(clauses.order)
        if clauses.order:
            pattern = OrderBy(pattern, tuple(clauses.order))
        return self.add_slice(pattern, form), ()

    def add_grouping(
        self, form: Tree[Token], items: list[Tree[Token]], clauses: Clauses, where: Pattern
    ) -> Pattern:
        """Translate the grouping of WHERE's solutions, and replace the aggregates of the clauses by
        the variables that it binds.
        """
        keys = clauses.keys or ()
        self.check_grouped(items, clauses.outputs, keys)
        self.check_aggregates(form, clauses.expressions(), keys)
        self.check_aliases(clauses.having, clauses.outputs, keys)
        grouping = Grouping(clauses)
        clauses.lift(grouping)
        return Group(where, clauses.keys, tuple(grouping.aggregates))

    def check_scope(self, outputs: list[OutputColumn], scope: dict[str, None]) -> None:
        """Refuse a variable of AS that is in scope already."""
        names = set(scope)
        for output in outputs:
            name = output.variable.name
            if name in names:
                raise self.fault(
                    output.item, f"?{name} is in scope already; give AS another variable"
                )
            names.add(name)

    def write_as_subquery(
        self, form: Tree[Token], values: Tree[Token] | None, clauses: Clauses
    ) -> None:
        """Note how a grouped ASK or CONSTRUCT is written for witnesses that read GROUP BY in SELECT
        alone.
        """
        where = child(form, "where_clause")
        if where is None:
            return  # CONSTRUCT WHERE
        parts = (where, child(form, "solution_modifier"), values)
        start = where.meta.start_pos
        end = max(part.meta.end_pos for part in parts if part is not None and not part.meta.empty)
        names = [variable.name for variable, _ in clauses.keys or () if not variable.is_hidden]
        columns = " ".join(f"?{name}" for name in names) or "(1 AS ?grouped)"
        self.edits.append((start, start, f"{{ SELECT {columns} "))
        self.edits.append((end, end, " }"))

    def write_names_for_witnesses(self) -> None:
        """R2R-8: Note how GRAPH and WINDOW are written for witnesses, which know GRAPH alone. In
        the dataset that they are given the graph NAMES has the name that a body has for each graph,
        and for each window (`sparql.datasets.with_names`).
        """
        for number, (name, of_windows, start, group, end) in enumerate(self.named_patterns):
            if isinstance(name, str):
                if of_windows:
                    self.edits = [edit for edit in self.edits if not start <= edit[0] < group]
                    self.edits.append((start, group, f"GRAPH {witness_name(name)} "))
                continue
            graph = variable = f"?{name.name}"
            predicate = NAME_OF_GRAPH
            if of_windows:
                predicate = NAME_OF_WINDOW
                graph = next(
                    each
                    for each in (f"?window{number}{'_' * i}" for i in count())
                    if each[1:] not in self.names
                )
            self.edits.append((start, group, f"{{ GRAPH {graph} "))
            self.edits.append((end, end, f" GRAPH {NAMES} {{ {graph} {predicate} {variable} }} }}"))


def answer_variables(form: Tree[Token], pattern: Pattern) -> tuple[str, ...]:
    """Return the names of SELECT's variables in their order, those of `*` sorted."""
    listed = next(node for node in walk(pattern) if isinstance(node, Project)).variables
    names = [variable.name for variable in listed]
    if require(child(form, "select_clause")).children[-1] == "*":
        names.sort()
    return tuple(names)
