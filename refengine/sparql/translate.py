"""§7 From a body's syntax tree to SPARQL's algebra (SPARQL 1.1 §18.2), with the checks that its
grammar cannot make.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

from lark import Token, Tree

from refengine.model.elements import XSD, Term, literal
from refengine.model.errors import InvalidQuery, RefengineError, Refused, Unsupported, require
from refengine.model.iris import has_scheme, resolve
from refengine.model.messages import nearest
from refengine.sparql.algebra import (
    Aggregate,
    Alternative,
    Basic,
    Call,
    Distinct,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    Inverse,
    Join,
    LeftJoin,
    Minus,
    NegatedSet,
    OrderBy,
    Path,
    Pattern,
    Project,
    Query,
    Reduced,
    Repeated,
    Sequence,
    Slice,
    TriplePattern,
    Union,
    Values,
    Var,
    all_variables,
    free_variables,
    own_parts,
    visible,
    walk,
)
from refengine.sparql.functions import ARITIES, ARITIES_BY_IRI
from refengine.sparql.grammar import parse, place, unescape

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
MOST_ROWS = 10_000  # of VALUES
MOST_STEPS = 1_000  # of a property path
MOST_VARIABLES = 1_000  # and blank nodes of a body
SELECT_FORMS = ("select_query", "sub_select")


def read(text: str) -> tuple[Query, str]:
    """QRY-1: read a body. Return its algebra, and the text for the witnesses.

    That is the body's own text, in which what one of them cannot read is rewritten: prefixed names
    with two dots as IRIs, GROUP BY in ASK and CONSTRUCT as a subquery.

    Raises InvalidQuery with line and column for what is not SPARQL 1.1, Refused (QRY-2) for what
    would leave the content, Unsupported for DESCRIBE and for functions that have no definition
    here.
    """
    reader = Reader(text)
    try:
        algebra = reader.query(parse(text))
    except RecursionError:
        raise Unsupported("nested too deeply", rule="QRY-1", place="body") from None
    plain = text
    for start, end, written in sorted(reader.edits, reverse=True):
        plain = plain[:start] + written + plain[end:]
    return algebra, plain


class Reader:
    """The reading of one body: its text, its base and prefixes, and the
    blank nodes that were seen.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.base = ""
        self.prefixes: dict[str, str] = {}
        # a blank node's label -> the number of its basic graph pattern
        self.labels: dict[str, int] = {}
        self.basic_number = 0  # of the basic graph pattern that is read: a label belongs to one
        self.made = 0
        self.names: set[str] = set()  # of variables
        self.tags: set[str] = set()  # language tags with letters in upper case
        # start, end, and the text to put there for the witnesses
        self.edits: list[tuple[int, int, str]] = []

    # Errors and fresh names

    def fault(
        self,
        node: Tree[Token] | Token,
        reason: str,
        kind: type[RefengineError] = InvalidQuery,
        rule: str = "QRY-1",
    ) -> RefengineError:
        """Return the error of a rule at a node of the text."""
        start = node.start_pos if isinstance(node, Token) else getattr(node.meta, "start_pos", 0)
        start = start or 0
        return kind(reason, rule=rule, place=place(self.text, start))

    def fresh(self, kind: str) -> Var:
        """Return a hidden variable that stands nowhere else."""
        self.made += 1
        self.check_variables()
        return Var(f"{kind}.{self.made}")

    def check_variables(self) -> None:
        """R2R-17: refuse a body of so many variables and blank nodes that a solution is no small
        thing.
        """
        if len(self.names) + len(self.labels) + self.made > MOST_VARIABLES:
            raise Unsupported(
                f"more than {MOST_VARIABLES} variables and blank nodes", rule="R2R-17", place="body"
            )

    # Queries

    def query(self, tree: Tree[Token]) -> Query:
        """Translate a whole query (§18.2)."""
        prologue, form, *rest = trees(tree)
        self.prologue(prologue)
        self.refuse_outside_sources(form)
        values = child(rest, "values_clause")
        match form.data:
            case "select_query":
                pattern = self.select(form, values)
                listed = next(node for node in walk(pattern) if isinstance(node, Project)).variables
                names = [variable.name for variable in listed]
                is_star = require(child(form, "select_clause")).children[-1] == "*"
                return Query(
                    "SELECT",
                    pattern,
                    tuple(sorted(names) if is_star else names),
                    (),
                    self.base,
                    frozenset(self.tags),
                )
            case "ask_query":
                pattern, _ = self.modified(form, [], values)
                return Query("ASK", pattern, ("ask",), (), self.base, frozenset(self.tags))
            case "describe_query":
                raise self.fault(form, "DESCRIBE has no single answer", Unsupported, "QRY-3")
            case _:
                return self.construct(form, values)

    def refuse_outside_sources(self, form: Tree[Token]) -> None:
        """QRY-2: refuse a body that would read anything but the content: FROM, FROM NAMED and
        SERVICE.
        """
        for clause in form.find_data("dataset_clause"):
            reason = "FROM would reach the network or the disk; the dataset is the window's content"
            raise self.fault(clause, reason, Refused, "QRY-2")
        for clause in form.find_data("service"):
            raise self.fault(clause, "SERVICE would reach the network", Refused, "QRY-2")

    def prologue(self, tree: Tree[Token]) -> None:
        """Read BASE and PREFIX in their order; each may use those before it."""
        for declaration in trees(tree):
            tokens = (token for token in declaration.children if isinstance(token, Token))
            *names, iri = [token for token in tokens if token.type in ("PNAME_NS", "IRIREF")]
            if names:
                self.prefixes[unescape(names[0][:-1], names[0], self.text)] = self.resolved(iri)
            else:
                self.base = self.resolved(iri)

    def construct(self, form: Tree[Token], values: Tree[Token] | None) -> Query:
        """Translate CONSTRUCT: a template over the solutions (§16.2)."""
        if form.data == "short_construct":
            last = require(child(form, "short_template")).children[-1]
            template = self.triples(last if isinstance(last, Tree) else None)
            self.basic_number += 1
            pattern, _ = self.modified(form, [], values, where=Basic(template))
        else:
            inner = trees(child(form, "construct_template"))
            template = self.triples(inner[0] if inner else None)
            self.labels.clear()  # the template's labels are its own
            pattern, _ = self.modified(form, [], values)
        return Query(
            "CONSTRUCT",
            pattern,
            ("subject", "predicate", "object"),
            template,
            self.base,
            frozenset(self.tags),
        )

    def select(self, form: Tree[Token], values: Tree[Token] | None) -> Pattern:
        """Translate SELECT (§18.2.4, §18.2.5), of a query or a subquery."""
        clause = require(child(form, "select_clause"))
        items = [node for node in clause.children if isinstance(node, Tree)]
        is_star = clause.children[-1] == "*"
        pattern, order = self.modified(form, items, values, is_star=is_star)
        variables = (
            [Var(name) for name in visible(pattern)]
            if is_star
            else [self.variable(branch(item, -1)) for item in items]
        )
        if repeated := next((v for i, v in enumerate(variables) if v in variables[:i]), None):
            variables = list(dict.fromkeys(variables))
            aliases = [self.variable(branch(item, -1)) for item in items if len(item.children) > 1]
            if repeated in aliases:
                raise self.fault(
                    clause, f"?{repeated.name} is given twice; name one of them otherwise"
                )
        if order:
            pattern = OrderBy(pattern, order)
        pattern = Project(pattern, tuple(variables))
        words = [token.type for token in clause.children if isinstance(token, Token)]
        if "DISTINCT" in words:
            pattern = Distinct(pattern)
        elif "REDUCED" in words:
            pattern = Reduced(pattern)
        return self.sliced(pattern, form)

    def sliced(self, pattern: Pattern, form: Tree[Token]) -> Pattern:
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

    def modified(
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
        modifier = child(form, "solution_modifier")
        scope = visible(where)
        keys = self.keys(child(modifier, "group_clause"), scope)
        computed = [item for item in items if len(item.children) > 1]
        outputs = [
            (self.variable(branch(item, -1)), self.expression(branch(item, 0)), item)
            for item in computed
        ]
        having = [self.expression(node) for node in trees(child(modifier, "having_clause"))]
        order = [self.ordered(node) for node in trees(child(modifier, "order_clause"))]
        grouping = Grouping(keys, [name for name, _, _ in outputs])
        expressions = [*(part for _, part, _ in outputs), *having, *(part for part, _ in order)]
        pattern = where
        if keys is not None or any(
            isinstance(node, Aggregate) for part in expressions for node in own_parts(part)
        ):
            if is_star:
                raise self.fault(form, "SELECT * with GROUP BY; name the variables")
            self.check_grouped(items, outputs, keys or ())
            self.check_aggregates(form, expressions, keys or ())
            self.check_aliases(having, outputs, keys or ())
            outputs = [(name, grouping.lift(part), item) for name, part, item in outputs]
            having = [grouping.lift(part, samples=True) for part in having]
            order = [
                (grouping.lift(part, samples=True), is_descending) for part, is_descending in order
            ]
            pattern = Group(where, keys, tuple(grouping.aggregates))
            if form.data not in SELECT_FORMS:
                self.write_as_subquery(
                    form,
                    values,
                    [variable.name for variable, _ in keys or () if not variable.is_hidden],
                )
        if having:
            pattern = Filter(conjunction(having), pattern)
        if values is not None:
            pattern = join(pattern, self.data(branch(values, -1)))
        taken = set(visible(pattern))
        for name, _, item in outputs:
            if name.name in taken:
                raise self.fault(
                    item, f"?{name.name} is in scope already; give AS another variable"
                )
            taken.add(name.name)
        if outputs:
            pattern = extend(pattern, [(name, part) for name, part, _ in outputs])
        if form.data in SELECT_FORMS:
            return pattern, tuple(order)
        pattern = OrderBy(pattern, tuple(order)) if order else pattern
        return self.sliced(pattern, form), ()

    def write_as_subquery(
        self, form: Tree[Token], values: Tree[Token] | None, names: list[str]
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
        shown = " ".join(f"?{name}" for name in names) or "(1 AS ?grouped)"
        self.edits.append((start, start, f"{{ SELECT {shown} "))
        self.edits.append((end, end, " }"))

    def keys(
        self, clause: Tree[Token] | None, scope: dict[str, None]
    ) -> tuple[tuple[Var, Expression], ...] | None:
        """Translate the conditions of GROUP BY; None where there is none."""
        if clause is None:
            return None
        keys: list[tuple[Var, Expression]] = []
        for condition in trees(clause):
            inner = trees(condition)
            expression = self.expression(inner[0], with_aggregates=False)
            if len(inner) > 1:
                variable = self.variable(inner[1])
                if variable.name in scope or variable in [other for other, _ in keys]:
                    raise self.fault(
                        condition, f"?{variable.name} is in scope already; give AS another variable"
                    )
            else:
                variable = expression if isinstance(expression, Var) else self.fresh("key")
            keys.append((variable, expression))
        return tuple(keys)

    def check_grouped(
        self,
        items: list[Tree[Token]],
        outputs: list[tuple[Var, Expression, Tree[Token]]],
        keys: Iterable[tuple[Var, Expression]],
    ) -> None:
        """Refuse a variable that SELECT shows or computes with but that is neither a key nor within
        an aggregate (§11.4).
        """
        known = {variable for variable, _ in keys}
        expressions = {id(item): (name, part) for name, part, item in outputs}
        for item in items:
            name, part = expressions.get(id(item), (None, None))
            asked = {self.variable(branch(item, -1))} if part is None else free_variables(part)
            if loose := sorted(asked - known):
                reason = (
                    f"?{loose[0].name} is not grouped; name it in GROUP BY, or aggregate it, "
                    "such as "
                    f"SAMPLE(?{loose[0].name})"
                )
                raise self.fault(item, reason)
            known |= {name} if name is not None else set()

    def check_aggregates(
        self,
        form: Tree[Token],
        expressions: Iterable[Expression],
        keys: Iterable[tuple[Var, Expression]],
    ) -> None:
        """Refuse an aggregate over a variable that GROUP BY itself names by AS: evaluators bind it
        before grouping or after.
        """
        named = {variable for variable, expression in keys if variable != expression}
        for part in expressions:
            for node in own_parts(part):
                if (
                    isinstance(node, Aggregate)
                    and node.argument is not None
                    and named & free_variables(node.argument)
                ):
                    raise self.fault(
                        form,
                        "an aggregate over a variable that GROUP BY names",
                        Unsupported,
                        "QRY-3",
                    )

    def check_aliases(
        self,
        having: Iterable[Expression],
        outputs: list[tuple[Var, Expression, Tree[Token]]],
        keys: Iterable[tuple[Var, Expression]],
    ) -> None:
        """Refuse HAVING over a variable that SELECT names by AS: some evaluators know it there, by
        §18.2.4 it is not bound yet.
        """
        items = {name: item for name, _, item in outputs}
        for variable in sorted(set().union(*map(all_variables, having)) - {key for key, _ in keys}):
            if variable in items:
                reason = (
                    f"HAVING over ?{variable.name}, which SELECT names by AS; write its "
                    "expression in "
                    "HAVING"
                )
                raise self.fault(items[variable], reason, Unsupported, "QRY-3")

    def ordered(self, tree: Tree[Token]) -> tuple[Expression, bool]:
        """Translate a condition of ORDER BY, with whether it is descending."""
        inner = child(tree, "directed") if tree.data == "order_condition" else tree
        if inner is None or inner.data != "directed":
            return self.expression(trees(tree)[0]), False
        return self.expression(trees(inner)[0]), leaf(inner).type == "DESC"

    # Patterns

    def group(self, tree: Tree[Token]) -> Pattern:
        """Translate a group graph pattern (§18.2.2)."""
        pattern, condition = self.group_and_condition(tree)
        return pattern if condition is None else Filter(condition, pattern)

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
                    continue
                case "triples_block":
                    triples += self.triples(element)
                    continue
                case _:
                    pattern = self.with_triples(pattern, triples)
                    pattern = self.with_element(pattern, element)
        pattern = self.with_triples(pattern, triples)
        conditions = [self.expression(trees(node)[0], with_aggregates=False) for node in filters]
        return pattern, conjunction(conditions) if conditions else None

    def with_triples(self, pattern: Pattern, triples: list[TriplePattern]) -> Pattern:
        """Join the collected triple patterns, which are one basic graph pattern, and empty their
        list: the next ones are another.
        """
        if triples:
            pattern = join(pattern, Basic(tuple(triples)))
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
                expression, target = trees(element)
                variable = self.variable(target)
                if variable.name in visible(pattern):
                    raise self.fault(
                        target, f"?{variable.name} is in scope already; give BIND another variable"
                    )
                return extend(
                    pattern, [(variable, self.expression(expression, with_aggregates=False))]
                )
            case "inline_data":
                return join(pattern, self.data(trees(element)[0]))
            case "graph":
                name, inner = trees(element)
                return join(pattern, Graph(self.term(name), self.group(inner)))
            case _:
                parts = tuple(self.group(part) for part in trees(element))
                return join(pattern, Union(parts) if len(parts) > 1 else parts[0])

    def data(self, tree: Tree[Token]) -> Values:
        """Translate the rows of VALUES."""
        variables = tuple(self.variable(node) for node in trees(tree) if node.data == "var")
        if len(set(variables)) < len(variables):
            raise self.fault(tree, "VALUES names a variable twice")
        rows: list[tuple[Term | None, ...]] = []
        for node in trees(tree)[len(variables) :]:
            cells = trees(node) if node.data == "data_row" else [node]
            if len(cells) != len(variables):
                raise self.fault(node, f"{len(cells)} values for {len(variables)} variables")
            rows.append(
                tuple(self.constant(trees(cell)[0]) if trees(cell) else None for cell in cells)
            )
        if len(rows) > MOST_ROWS:
            raise self.fault(tree, f"VALUES of more than {MOST_ROWS} rows", Unsupported, "R2R-17")
        return Values(variables, tuple(rows))

    # Triples

    def triples(self, block: Tree[Token] | None) -> tuple[TriplePattern, ...]:
        """Translate a block of triples; `;`, `,`, `[…]` and `(…)` are written out."""
        patterns: list[TriplePattern] = []
        for node in trees(block):
            head, *lists = trees(node)
            subject = self.node(head, patterns)
            for listed in lists:
                self.properties(subject, listed, patterns)
        return tuple(patterns)

    def properties(
        self, subject: Var | Term, listed: Tree[Token], patterns: list[TriplePattern]
    ) -> None:
        """Translate a subject's verbs and objects."""
        for entry in trees(listed):
            verb, objects = trees(entry)
            predicate = self.verb(verb)
            for tree in trees(objects):
                patterns += self.linked(subject, predicate, self.node(tree, patterns))

    def verb(self, tree: Tree[Token]) -> Var | Path:
        """Translate a verb: a variable, an IRI, `a` or a path."""
        if tree.data == "verb":
            return self.term(trees(tree)[0]) if trees(tree) else f"<{RDF}type>"
        return self.term(tree) if tree.data == "var" else self.path(tree)

    def linked(
        self, subject: Var | Term, path: Var | Path, end: Var | Term
    ) -> Iterator[TriplePattern]:
        """Write a path out as far as triple patterns can (§18.2.2.4): inverses are turned,
        sequences get variables in between.
        """
        match path:
            case Inverse(inner):
                yield from self.linked(end, inner, subject)
            case Sequence(steps):
                places = [subject, *(self.fresh("_:") for _ in steps[1:]), end]
                for start, step, stop in zip(places, steps, places[1:], strict=False):
                    yield from self.linked(start, step, stop)
            case _:
                yield TriplePattern(subject, path, end)

    def node(self, tree: Tree[Token], patterns: list[TriplePattern]) -> Var | Term:
        """Translate a subject or an object, and add the triples that it stands for."""
        if tree.data in ("graph_node", "graph_node_path", "triples_node", "triples_node_path"):
            return self.node(trees(tree)[0], patterns)
        if tree.data.startswith("blank_property_list"):
            subject = self.fresh("_:")
            self.properties(subject, trees(tree)[0], patterns)
            return subject
        if tree.data.startswith("collection"):
            cells = [self.fresh("_:") for _ in trees(tree)]
            rests: list[Var | Term] = [*cells[1:], f"<{RDF}nil>"]
            for cell, rest, member in zip(cells, rests, trees(tree), strict=True):
                patterns.append(TriplePattern(cell, f"<{RDF}first>", self.node(member, patterns)))
                patterns.append(TriplePattern(cell, f"<{RDF}rest>", rest))
            return cells[0]
        return self.term(tree)

    def path(self, tree: Tree[Token]) -> Path:
        """Translate a property path (§9.1)."""
        match tree.data:
            case "path":
                parts = [self.path(part) for part in trees(tree)]
                return parts[0] if len(parts) == 1 else Alternative(tuple(parts))
            case "path_sequence":
                parts = [self.path(part) for part in trees(tree)]
                if len(parts) > MOST_STEPS:
                    raise self.fault(
                        tree, f"a path of more than {MOST_STEPS} steps", Unsupported, "R2R-17"
                    )
                return parts[0] if len(parts) == 1 else Sequence(tuple(parts))
            case "path_elt_or_inverse":
                return self.path(trees(tree)[0])
            case "inverse":
                return Inverse(self.path(trees(tree)[0]))
            case "path_elt":
                inner = self.path(trees(tree)[0])
                sign = str(tree.children[1]) if len(tree.children) > 1 else ""
                return Repeated(inner, int(sign == "+"), sign == "?") if sign else inner
            case "path_primary":
                primary = trees(tree)
                if not primary:
                    return f"<{RDF}type>"
                return (
                    self.negated(primary[0])
                    if primary[0].data == "negated_set"
                    else self.path(primary[0])
                )
            case _:
                return self.constant(tree)

    def negated(self, tree: Tree[Token]) -> NegatedSet:
        """Translate a negated property set; a side is None where none of the set is of it
        (§18.2.2.3).
        """
        sides: dict[str, list[Term]] = {"forward": [], "backward": []}
        for one in trees(tree):
            sides[str(one.data)].append(
                self.constant(trees(one)[0]) if trees(one) else f"<{RDF}type>"
            )
        forward = tuple(sides["forward"]) if sides["forward"] or not sides["backward"] else None
        return NegatedSet(forward, tuple(sides["backward"]) if sides["backward"] else None)

    # Terms

    def variable(self, tree: Tree[Token]) -> Var:
        """Translate a variable."""
        token = leaf(tree)
        name = unescape(token[1:], token, self.text)
        self.names.add(name)
        self.check_variables()
        return Var(name)

    def term(self, tree: Tree[Token]) -> Var | Term:
        """Translate a variable, an IRI, a literal in the form that it is written in, or a blank
        node, which is a hidden variable.
        """
        match tree.data:
            case "var":
                return self.variable(tree)
            case "iri":
                return f"<{self.iri(leaf(tree))}>"
            case "literal":
                return self.literal(tree)
            case "nil":
                return f"<{RDF}nil>"
            case "blank_node":
                return self.blank(tree)
            case _:
                raise AssertionError(tree.data)

    def constant(self, tree: Tree[Token]) -> Term:
        """Translate what the grammar says is no variable."""
        return cast("Term", self.term(tree))

    def blank(self, tree: Tree[Token]) -> Var:
        """Translate a blank node. A label belongs to one basic graph pattern (§5.1.1)."""
        if not tree.children:
            return self.fresh("_:")
        token = leaf(tree)
        label = unescape(token[2:], token, self.text)
        if self.labels.setdefault(label, self.basic_number) != self.basic_number:
            raise self.fault(
                token, f"_:{label} stands in another basic graph pattern, too; use a variable"
            )
        self.check_variables()
        return Var(f"_:{label}")

    def iri(self, token: Token) -> str:
        """Read an IRI or a prefixed name."""
        if token.type == "IRIREF":
            return self.resolved(token)
        prefix, _, local = token.partition(":")
        prefix = unescape(prefix, token, self.text)
        if prefix not in self.prefixes:
            raise self.fault(
                token, f"prefix {prefix!r} is not declared; write PREFIX {prefix}: <…>"
            )
        iri = self.prefixes[prefix] + unescape(local, token, self.text)
        if local.count(".") > 1:
            self.edits.append((require(token.start_pos), require(token.end_pos), f"<{iri}>"))
        return iri

    def resolved(self, token: Token) -> str:
        """Resolve an IRI reference against the base (§4.1.1.2)."""
        reference = unescape(token[1:-1], token, self.text)
        if not self.base and not has_scheme(reference):
            raise self.fault(token, f"relative IRI <{reference}>; write it in full or give BASE")
        return resolve(self.base, reference)

    def literal(self, tree: Tree[Token]) -> Term:
        """Read a literal. Its lexical form stays as it is written: 01 is another term than 1."""
        first, *rest = tree.children
        if isinstance(first, Token):
            return literal(str(first).lower(), XSD + "boolean")
        token = leaf(first)
        if first.data == "number":
            return number(token)
        lexical = self.string(token)
        if not rest:
            return literal(lexical)
        if isinstance(rest[0], Token):
            tag = rest[0][1:]
            if tag != tag.lower():
                self.tags.add(tag)
            return literal(lexical, language=tag)
        datatype = self.iri(leaf(rest[0]))
        if datatype == RDF + "langString":
            raise self.fault(
                rest[0], 'rdf:langString needs a language; write "…"@en', Unsupported, "R2R-10"
            )
        return literal(lexical, datatype)

    def string(self, token: Token) -> str:
        """Return the characters of a string, without its quotes and escapes (§4.1.2)."""
        is_long = token[:3] in ('"""', "'''") and len(token) >= 6
        width = 3 if is_long else 1
        return unescape(token[width:-width], token, self.text)

    # Expressions

    def expression(self, tree: Tree[Token], with_aggregates: bool = True) -> Expression:
        """Translate an expression; in FILTER, BIND and GROUP BY without aggregates (§11.1, §19.8
        note 13).
        """
        expression = self.operand(tree)
        if not with_aggregates and any(
            isinstance(node, Aggregate) for node in own_parts(expression)
        ):
            raise self.fault(tree, "an aggregate stands in SELECT, HAVING and ORDER BY alone")
        return expression

    def operand(self, tree: Tree[Token]) -> Expression:
        """Translate an expression or a part of one."""
        match tree.data:
            case "var" | "literal":
                return self.term(tree)
            case "conditional_or":
                return Call("||", self.operands(trees(tree)))
            case "conditional_and":
                return Call("&&", self.operands(trees(tree)))
            case "comparison":
                left, sign, right = tree.children
                return Call(str(sign), self.operands([left, right]))
            case "membership":
                condition = Call("IN", self.operands([tree.children[0], *trees(branch(tree, -1))]))
                return condition if len(tree.children) == 3 else Call("!", (condition,))
            case "additive_chain" | "multiplicative_chain":
                return self.chain(tree)
            case "negation":
                return Call("!", self.operands(trees(tree)))
            case "plus" | "minus_sign":
                return Call(
                    "unary +" if tree.data == "plus" else "unary -", self.operands(trees(tree))
                )
            case "signed_number":
                return number(leaf(tree))
            case _:
                return self.primary(tree)

    def primary(self, tree: Tree[Token]) -> Expression:
        """Translate a call, brackets or EXISTS: what is an operand without an operator."""
        match tree.data:
            case "iri_or_function" | "function_call":
                return self.by_iri(tree)
            case "bracketted_expression" | "order_condition":
                return self.operand(trees(tree)[0])
            case "exists":
                inner = self.group(trees(tree)[0])
                condition = Exists(inner, sum(1 for _ in walk(inner)))
                return condition if len(tree.children) == 2 else Call("!", (condition,))
            case "builtin_call":
                return self.builtin(tree)
            case "count" | "aggregate" | "group_concat":
                return self.aggregate(tree)
            case _:
                raise AssertionError(tree.data)

    def operands(self, nodes: Iterable[Any]) -> tuple[Expression, ...]:
        """Translate several expressions."""
        return tuple(map(self.operand, nodes))

    def chain(self, tree: Tree[Token]) -> Expression:
        """Translate a chain of sums or products, from left to right. `?x -1` is a sum with the
        number -1 (§19.8 note on [116]).
        """
        left = self.operand(branch(tree, 0))
        sign = "+"
        position = 1
        while position < len(tree.children):
            item = tree.children[position]
            position += 1
            if isinstance(item, Token):
                sign = str(item)
                continue
            operand = self.operand(item)
            if item.data == "signed_number":
                while position < len(tree.children) and tree.children[position] in ("*", "/"):
                    operand = Call(
                        str(tree.children[position]),
                        (operand, self.operand(branch(tree, position + 1))),
                    )
                    position += 2
                sign = "+"
            left = Call(sign, (left, operand))
        return left

    def builtin(self, tree: Tree[Token]) -> Call:
        """Translate a call of a function that SPARQL names."""
        token = leaf(tree)
        name = token.upper()
        operands = self.operands(trees(branch(tree, 1)))
        fewest, most = ARITIES[name]
        if len(operands) < fewest or (most is not None and len(operands) > most):
            asked = (
                f"{fewest}"
                if fewest == most
                else f"{fewest} or more"
                if most is None
                else f"{fewest} to {most}"
            )
            raise self.fault(token, f"{name} takes {asked} arguments, got {len(operands)}")
        if name == "BOUND" and not isinstance(operands[0], Var):
            raise self.fault(token, "BOUND takes a variable")
        return Call(name, operands)

    def by_iri(self, tree: Tree[Token]) -> Expression:
        """Translate an IRI, or a call of a function by its IRI: a cast, or C-SPARQL's timestamp."""
        name, *rest = trees(tree)
        iri = self.iri(leaf(name))
        if not rest:
            return f"<{iri}>"
        if iri not in ARITIES_BY_IRI:
            raise self.fault(
                name,
                f"no function <{iri}> is defined here{nearest(iri, ARITIES_BY_IRI)}",
                Unsupported,
                "R2R-14",
            )
        operands = self.operands(trees(rest[0]))
        if any(isinstance(item, Token) for item in rest[0].children):
            raise self.fault(rest[0], "DISTINCT stands in aggregates alone")
        if len(operands) != ARITIES_BY_IRI[iri]:
            raise self.fault(
                name, f"<{iri}> takes {ARITIES_BY_IRI[iri]} arguments, got {len(operands)}"
            )
        return Call(iri, operands)

    def aggregate(self, tree: Tree[Token]) -> Aggregate:
        """Translate an aggregate."""
        inner = trees(tree)
        operand = self.expression(inner[0]) if inner and inner[0].data != "string" else None
        if any(isinstance(node, Aggregate) for node in own_parts(operand)):
            raise self.fault(tree, "an aggregate within an aggregate")
        words = [token for token in tree.children if isinstance(token, Token)]
        name = words[0].upper()
        separator = " "
        if len(inner) > 1:
            separator = self.string(leaf(inner[1]))
        return Aggregate(name, operand, any(word.type == "DISTINCT" for word in words), separator)


class Grouping:
    """Rewrites the expressions of a grouped query: each aggregate becomes a variable that Group
    binds.
    """

    def __init__(self, keys: tuple[tuple[Var, Expression], ...] | None, aliases: list[Var]) -> None:
        self.kept = {variable for variable, _ in keys or ()} | set(aliases)
        self.aggregates: list[tuple[Var, Aggregate]] = []
        self.variables: dict[Aggregate, Var] = {}

    def lift(self, expression: Expression, samples: bool = False) -> Expression:
        """Replace the aggregates of an expression by variables.

        With `samples` (HAVING, ORDER BY) each variable that is no key and no alias becomes SAMPLE
        of it, too (§18.2.4.1).
        """
        match expression:
            case Aggregate():
                return self.variable_of(expression)
            case Var() if samples and expression not in self.kept:
                return self.variable_of(Aggregate("SAMPLE", expression))
            case Call(name, arguments):
                return Call(name, tuple(self.lift(part, samples) for part in arguments))
            case _:
                return expression

    def variable_of(self, aggregate: Aggregate) -> Var:
        """Return the variable of an aggregate."""
        if aggregate not in self.variables:
            self.variables[aggregate] = Var(f"aggregate.{len(self.aggregates)}")
            self.aggregates.append((self.variables[aggregate], aggregate))
        return self.variables[aggregate]


def number(token: Token) -> Term:
    """Return the literal of a number as it is written, signed or not; the kind of its token is its
    datatype.
    """
    return literal(str(token), XSD + token.type.removeprefix("SIGNED_").lower())


def trees(tree: Tree[Token] | None) -> list[Tree[Token]]:
    """Return the children of a node that are nodes themselves."""
    return [] if tree is None else [node for node in tree.children if isinstance(node, Tree)]


def child(tree: Tree[Token] | list[Tree[Token]] | None, name: str) -> Tree[Token] | None:
    """Return the first child of a node that has a name, if there is one."""
    nodes = tree if isinstance(tree, list) else trees(tree)
    return next((node for node in nodes if node.data == name), None)


def leaf(tree: Tree[Token], position: int = 0) -> Token:
    """Return a child that the grammar says is a token."""
    return cast(Token, tree.children[position])


def branch(tree: Tree[Token], position: int) -> Tree[Token]:
    """Return a child that the grammar says is a node."""
    return cast("Tree[Token]", tree.children[position])


def join(left: Pattern, right: Pattern) -> Pattern:
    """Return the join of two patterns; the empty pattern adds nothing."""
    if left == Join(()):
        return right
    return Join((*left.parts, right)) if isinstance(left, Join) else Join((left, right))


def extend(pattern: Pattern, bindings: list[tuple[Var, Expression]]) -> Pattern:
    """Return a pattern extended by bindings, together with those that it ends with."""
    if isinstance(pattern, Extend):
        return replace(pattern, bindings=(*pattern.bindings, *bindings))
    return Extend(pattern, tuple(bindings))


def conjunction(conditions: list[Expression]) -> Expression:
    """Return the condition that is true iff all of these are."""
    return conditions[0] if len(conditions) == 1 else Call("&&", tuple(conditions))
