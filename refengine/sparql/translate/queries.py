"""Whole bodies and subqueries (SPARQL 1.1 §18.2.4, §18.2.5): prologue, form, solution modifiers."""

from __future__ import annotations

from functools import lru_cache
from itertools import count

from lark import Token, Tree

from refengine.model.errors import ForbiddenAccess, InvalidQuery, Unsupported, require
from refengine.model.messages import display
from refengine.sparql.algebra import (
    AlgebraQuery,
    Basic,
    Distinct,
    Expression,
    Filter,
    GraphClause,
    Group,
    OrderBy,
    Pattern,
    Project,
    Reduced,
    Slice,
    TriplePattern,
    Variable,
    visible,
    walk,
)
from refengine.sparql.datasets import NAME_OF_GRAPH, NAME_OF_WINDOW, NAMES, witness_name
from refengine.sparql.grammar import parse_body, read_escapes
from refengine.sparql.translate.expressions import conjunction
from refengine.sparql.translate.grouping import ClauseReader, Clauses, Grouping, OutputColumn
from refengine.sparql.translate.patterns import extend, join_patterns
from refengine.sparql.translate.trees import branch, child, leaf, trees

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
