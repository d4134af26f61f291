"""§7 The evaluation of SPARQL's algebra (SPARQL 1.1 §18.3 to §18.6), operator by operator, over
multisets of solutions.

A solution maps the names of variables to terms. A multiset of solutions is a list; its order means
nothing. Nothing is kept from one evaluation to the next.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any, TypeVar, cast

from refengine.model.compare import LEAST_DECIMAL, TOLERANCE, equal
from refengine.model.elements import Dataset, Relation, Row, Term, Triple, row
from refengine.model.errors import NoSingleAnswer, Unsupported
from refengine.sparql.aggregates import aggregate
from refengine.sparql.algebra import (
    Aggregate,
    Basic,
    Call,
    Distinct,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Path,
    Pattern,
    Project,
    Query,
    Reduced,
    Slice,
    TriplePattern,
    Union,
    Values,
    Var,
    all_variables,
    conjuncts,
    free_variables,
    visible,
    walk,
    without_path,
)
from refengine.sparql.choices import Choices, Choose, one_answer
from refengine.sparql.expressions import Expressions, LabelledNodes
from refengine.sparql.graphs import Index
from refengine.sparql.joins import order_by_shared_variables
from refengine.sparql.limits import WIDE, Budget, Limits
from refengine.sparql.order import Keys, check_border, ordered
from refengine.sparql.paths import pairs
from refengine.sparql.values import (
    DECIMAL,
    ERROR,
    RANKS,
    Computed,
    Result,
    Unknown,
    boolean,
    same,
)

T = TypeVar("T")
Key = TypeVar("Key", bound=tuple[Result, ...])

Solution = dict[str, Term]


def evaluate(query: Query, dataset: Dataset, limits: Limits | None = None) -> Relation:
    """R2R-5: return the answer of a body over a dataset, as the recommendation defines it.

    `query` is the body's algebra. Statements of three terms make the default graph, of four a named
    graph; a literal in the fourth place is the time of the triple before it (R2R-21).

    Raises Unsupported: QRY-3 where conforming evaluators may answer differently, R2R-17 where a
    limit is spent. All the runs that choices lead to (QRY-3) share one budget.
    """
    budget = Budget(limits or Limits())
    try:
        return one_answer(
            lambda choices: Evaluation(query, dataset, budget, choices).relation(),
            lambda one, other: one.variables == other.variables and equal(one.rows, other.rows),
        )
    except RecursionError:
        raise Unsupported("nested too deeply", rule="R2R-17", place="body") from None
    except ArithmeticError:
        raise Unsupported("numbers that are out of reach", rule="R2R-13", place="body") from None
    except UnicodeEncodeError:
        raise Unsupported(
            "a lone surrogate, which is no character", rule="R2R-17", place="body"
        ) from None


class Evaluation:
    """One evaluation of a body: the graphs, the budget, and the blank nodes that it has made."""

    def __init__(self, query: Query, dataset: Dataset, budget: Budget, choices: Choices) -> None:
        self.query = query
        self.budget = budget
        self.choices = choices
        self.times: dict[Triple, Term] = {}
        budget.spend(len(dataset) // 8)
        triples: list[Triple] = []
        named: dict[Term, list[Triple]] = defaultdict(list)
        for statement in dataset:
            if len(statement) == 3:
                triples.append(statement)
            elif statement[3].startswith('"'):
                self.times[statement[:3]] = statement[3]
            else:
                named[statement[3]].append(statement[:3])
        self.default = Index(triples)
        self.named = {name: Index(graph) for name, graph in sorted(named.items())}
        self.graph = self.default
        self.numbers = count()
        self.calls = count()
        self.has_computed = False
        self.expressions = Expressions(
            self.exists, self.new_blank, self.time, choices.choose, query, budget.spend
        )

    def relation(self) -> Relation:
        """Return the answer in the query's form."""
        pattern = self.query.pattern
        # which solutions are cut off does not matter
        if self.query.form == "ASK" and isinstance(pattern, Slice):
            total = len(self.solutions(pattern.pattern)) - pattern.offset
            return asked(total > 0 and pattern.limit != 0)
        solutions = self.solutions(pattern)
        match self.query.form:
            case "ASK":
                return asked(bool(solutions))
            case "CONSTRUCT":
                return constructed(self.distinct_triples(self.instances(solutions)))
            case _:
                return selected(self.query.variables, solutions)

    def instances(self, solutions: Iterable[Solution]) -> Iterator[Triple]:
        """Yield for each solution the template's triples of which it binds all variables, with new
        blank nodes (§16.2.1).
        """
        for solution in solutions:
            self.budget.spend(1 + 4 * len(self.query.template))
            nodes: dict[Var, Term] = {}
            for pattern in self.query.template:
                terms: list[Term | None] = []
                for term in without_path(pattern):
                    if isinstance(term, Var) and term.is_hidden:
                        nodes.setdefault(term, self.new_blank())
                        terms.append(nodes[term])
                    else:
                        terms.append(solution.get(term.name) if isinstance(term, Var) else term)
                subject, predicate, object_ = terms
                if subject is not None and predicate is not None and object_ is not None:
                    yield subject, predicate, object_

    def distinct_triples(self, triples: Iterable[Triple]) -> Iterator[Triple]:
        """Yield each triple once. Raises NoSingleAnswer where it is open
        whether two are the same.
        """
        known: dict[Triple, None] = {}
        for triple in triples:
            key = self.key_of_same_group(triple, known) if self.has_computed else triple
            if key not in known:
                known[key] = None
                subject, predicate, object_ = triple
                yield output(subject), output(predicate), output(object_)

    def new_blank(self) -> Term:
        """Return a blank node that is in no data: their labels have no slash."""
        return f"_:made/{next(self.numbers)}"

    def time(self, subject: Term, predicate: Term, object_: Term) -> Result:
        """R2R-21: return the time of the element that brought a triple, of several the latest; an
        error if none did.
        """
        return self.times.get((subject, predicate, object_), ERROR)

    # Patterns

    def solutions(self, pattern: Pattern) -> list[Solution]:
        """Return the multiset of a pattern's solutions in the active graph (§18.6)."""
        self.budget.spend(1)
        solutions = self.of_pattern(pattern)
        self.budget.spend(len(solutions) + sum(map(len, solutions)) // WIDE)
        self.hold(solutions)
        return solutions

    def hold(self, solutions: Sequence[Solution]) -> None:
        """R2R-17: check that an operator holds no more solutions than it may.

        A solution with many variables counts as several. The last one stands for all; `united` asks
        this after each.
        """
        if solutions:
            self.budget.hold(len(solutions) * (1 + len(solutions[-1]) // WIDE))

    def of_pattern(self, pattern: Pattern) -> list[Solution]:
        """Evaluate one operator."""
        match pattern:
            case Basic(triples):
                return self.matched(triples)
            case Join(parts):
                return self.joined_all(parts)
            case LeftJoin(left, right, condition):
                return self.left_joined(self.solutions(left), self.solutions(right), condition)
            case Filter(condition, inner):
                solutions = (
                    self.matched(inner.triples, condition)
                    if isinstance(inner, Basic)
                    else self.solutions(inner)
                )
                return [
                    solution
                    for solution in solutions
                    if self.expressions.holds(condition, solution)
                ]
            case Union(parts):
                return self.united(self.solutions(part) for part in parts)
            case Minus(left, right):
                return self.without(self.solutions(left), self.solutions(right))
            case Graph(name, inner):
                return self.within_graph(name, inner)
            case Extend(inner, bindings):
                return self.united(
                    [self.extended(solution, bindings)] for solution in self.solutions(inner)
                )
            case Values(variables, rows):
                return [
                    {
                        v.name: term
                        for v, term in zip(variables, cells, strict=True)
                        if term is not None
                    }
                    for cells in rows
                ]
            case Group() | Project() | Distinct() | Reduced() | OrderBy() | Slice():
                return self.of_modifier(pattern)

    def of_modifier(
        self, pattern: Group | Project | Distinct | Reduced | OrderBy | Slice
    ) -> list[Solution]:
        """Evaluate grouping or a solution modifier."""
        match pattern:
            case Group():
                return self.grouped(pattern)
            case Project(inner, variables):
                self.budget.spend(len(variables))
                return projected(self.solutions(inner), variables)
            case Distinct(inner):
                return self.distinct(self.solutions(inner))
            case Reduced(inner):
                return self.reduced(self.solutions(inner))
            case OrderBy(inner, _):
                return self.solutions(inner)  # an answer is a bag; Slice looks at the order
            case Slice():
                return self.sliced(pattern)

    def matched(
        self, triples: Sequence[TriplePattern], condition: Expression | None = None
    ) -> list[Solution]:
        """R2R-10: match a basic graph pattern (§18.3): terms match as terms, and blank nodes of the
        body as variables do.

        `condition` is that of the filter around the pattern. A solution that surely fails one of
        its conjuncts is dropped as soon as the variables of that conjunct are bound. The caller
        still applies the whole filter.
        """
        solutions: list[Solution] = [{}]
        self.budget.spend(len(triples) ** 2 // 4)
        todo = [
            (part, {variable.name for variable in free_variables(part)})
            for part in testable_early(condition)
        ]
        bound: set[str] = set()
        for pattern in self.in_join_order(triples):
            bound |= {variable.name for variable in variables_of(pattern)}
            ready = [part for part, names in todo if names and names <= bound]
            todo = [(part, names) for part, names in todo if part not in ready]
            solutions = self.united(
                self.kept(ready, self.matched_one(pattern, solution)) for solution in solutions
            )
        if any(variable.is_hidden for pattern in triples for variable in variables_of(pattern)):
            return [
                {name: term for name, term in solution.items() if ":" not in name}
                for solution in solutions
            ]
        return solutions

    def in_join_order(self, triples: Iterable[TriplePattern]) -> list[TriplePattern]:
        """Order triple patterns as they are joined: first those that share a variable with one
        before; then paths last, fewest new variables, smallest.
        """
        size = cache(self.size)

        def cost(pattern: TriplePattern, new_variables: int) -> tuple[bool, int, int]:
            return is_path(pattern), new_variables, size(pattern)

        return order_by_shared_variables(triples, variables_of, cost)

    def size(self, pattern: TriplePattern) -> int:
        """Return how many triples have the terms of a pattern; of a path, all that there are."""
        if is_path(pattern):
            return len(self.graph.triples)
        return len(
            self.graph.match(
                *(None if isinstance(term, Var) else term for term in without_path(pattern))
            )
        )

    def kept(
        self, conditions: Sequence[Expression], solutions: Iterable[Solution]
    ) -> Iterable[Solution]:
        """Return the solutions that do not surely fail some conditions."""
        return (
            (one for one in solutions if not self.surely_fails(conditions, one))
            if conditions
            else solutions
        )

    def surely_fails(self, conditions: Iterable[Expression], solution: Solution) -> bool:
        """Return whether a solution does not fulfil one of some conditions, those without a single
        answer left aside.
        """
        for condition in conditions:
            with suppress(NoSingleAnswer):
                if not self.expressions.holds(condition, solution):
                    return True
        return False

    def united(self, parts: Iterable[Iterable[Solution]]) -> list[Solution]:
        """Return the solutions of all the parts, which are counted as they come."""
        solutions: list[Solution] = []
        for part in parts:
            for solution in part:
                solutions.append(solution)
                self.hold(solutions)
        return solutions

    def matched_one(self, pattern: TriplePattern, solution: Solution) -> Iterator[Solution]:
        """Yield a solution with what one triple pattern adds to it."""
        # a path is no term, but is not asked for; this runs for every solution
        given: list[Term | None] = [
            solution.get(term.name) if isinstance(term, Var) else term  # type: ignore[misc]
            for term in pattern
        ]
        triples = (
            self.path_ends(pattern, given[0], given[2])
            if is_path(pattern)
            else self.graph.match(*given)
        )
        variables = [
            (position, term.name) for position, term in enumerate(pattern) if isinstance(term, Var)
        ]
        free = [(position, name) for position, name in variables if given[position] is None]
        for triple in triples:
            self.budget.spend(1)
            more: Solution = {}
            if all(
                [
                    more.setdefault(name, triple[position]) == triple[position]
                    for position, name in free
                ]
            ):
                yield {**solution, **more}

    def path_ends(
        self, pattern: TriplePattern, start: Term | None, end: Term | None
    ) -> Iterator[Triple]:
        """Yield what a path connects, as triples whose predicate is empty.

        If the path stands between two variables, both ends must be nodes of the graph, even where
        another pattern has bound a variable to a term that is not in it (§18.4).
        """
        is_open = isinstance(pattern.subject, Var) and isinstance(pattern.object, Var)
        nodes = self.graph.nodes
        # A term that another pattern has bound a variable to is no end that the path itself is
        # given, unless it is a node.
        first = None if isinstance(pattern.subject, Var) and start not in nodes else start
        last = None if isinstance(pattern.object, Var) and end not in nodes else end
        path = cast("Path", pattern.predicate)
        for a, b in pairs(self.graph, path, first, last, self.budget.spend):
            is_wanted = start in (None, a) and end in (None, b)
            if is_wanted and (not is_open or (a in nodes and b in nodes)):
                yield a, "", b

    def joined_all(self, parts: Sequence[Pattern]) -> list[Solution]:
        """Return the solutions of patterns that are joined (§18.5, Join): of no patterns, one empty
        solution.
        """
        solutions: list[Solution] = [{}]
        for part in parts:
            if not solutions:
                break
            solutions = self.joined(solutions, self.solutions(part))
        return solutions

    def joined(self, left: Sequence[Solution], right: Sequence[Solution]) -> list[Solution]:
        """Return the union of each two solutions that are compatible."""
        partners = self.partners(left, right)
        return self.united(({**one, **other} for other in partners(one)) for one in left)

    def partners(self, left: Sequence[Solution], right: Sequence[Solution]) -> Any:
        """Return the function that gives the solutions of the right side which are compatible with
        one of the left (§18.3).
        """
        shared = sorted(
            {name for one in left for name in one} & {name for one in right for name in one}
        )
        always = [
            name
            for name in shared
            if all(name in one for one in left) and all(name in one for one in right)
        ]
        rest = [name for name in shared if name not in always]
        if self.has_computed and any(
            isinstance(one.get(name), Computed) for one in (*left, *right) for name in shared
        ):
            # two computed terms may be the same though their texts differ: no look-up finds them
            always, rest = [], shared
        index: dict[tuple[Term, ...], list[Solution]] = defaultdict(list)
        for other in right:
            index[tuple([other[name] for name in always])].append(other)

        def compatible(one: Solution) -> Iterator[Solution]:
            for other in index.get(tuple([one[name] for name in always]), ()):
                self.budget.spend(1)
                if all(
                    [
                        name not in one or name not in other or same(one[name], other[name])
                        for name in rest
                    ]
                ):
                    yield other

        return compatible

    def left_joined(
        self, left: Sequence[Solution], right: Sequence[Solution], condition: Expression | None
    ) -> list[Solution]:
        """Extend each solution by those that are compatible and fulfil the condition together with
        it (§18.5, LeftJoin). One that none extends stands alone.
        """
        partners = self.partners(left, right)

        def extensions(one: Solution) -> list[Solution]:
            merged = ({**one, **other} for other in partners(one))
            fulfilled = self.united(
                [both]
                for both in merged
                if condition is None or self.expressions.holds(condition, both)
            )
            return fulfilled or [one]

        return self.united(extensions(one) for one in left)

    def without(self, left: Sequence[Solution], right: Sequence[Solution]) -> list[Solution]:
        """Return the solutions of the left side, without those that are compatible with one of the
        right and share a variable with it (§18.5, Minus).
        """
        partners = self.partners(left, right)
        return [
            one for one in left if not any(one.keys() & other.keys() for other in partners(one))
        ]

    def within_graph(self, name: Var | Term, inner: Pattern) -> list[Solution]:
        """Evaluate a pattern over one named graph, or over each, whose name the variable then has
        (§18.6, Graph).
        """
        if isinstance(name, str):
            return self.over(self.named[name], inner) if name in self.named else []
        return self.united(
            self.joined(self.over(graph, inner), [{name.name: iri}])
            for iri, graph in self.named.items()
        )

    def over(self, graph: Index, pattern: Pattern) -> list[Solution]:
        """Evaluate a pattern with another active graph."""
        before, self.graph = self.graph, graph
        try:
            return self.solutions(pattern)
        finally:
            self.graph = before

    def extended(self, solution: Solution, bindings: Iterable[tuple[Var, Expression]]) -> Solution:
        """Bind each variable whose expression is no error (§18.5, Extend). BNODE's labels hold for
        all of them.
        """
        bindings = tuple(bindings)
        nodes = LabelledNodes(bindings)
        solution = dict(solution)
        self.budget.spend(len(bindings) // 8)
        for variable, expression in bindings:
            result = self.expressions.result(expression, solution, nodes)
            if result is not ERROR:
                self.has_computed |= isinstance(result, Computed)
                solution[variable.name] = result
        return solution

    def grouped(self, group: Group) -> list[Solution]:
        """R2R-6: group solutions by their keys (§18.5.1), errors among them, and aggregate each
        group. No solutions give no group; without GROUP BY there is always one.
        """
        members: dict[tuple[Result, ...], list[Solution]] = defaultdict(list)
        has_computed = False
        if group.keys is None:
            members[()] = self.solutions(group.pattern)
        else:
            for solution in self.solutions(group.pattern):
                nodes = LabelledNodes(("GROUP BY", group.keys))
                key = tuple(
                    [
                        self.expressions.result(expression, solution, nodes)
                        for _, expression in group.keys
                    ]
                )
                self.budget.spend(len(key) // 8)
                has_computed = has_computed or any(isinstance(term, Computed) for term in key)
                members[self.key_of_same_group(key, members) if has_computed else key].append(
                    solution
                )
        grouped = []
        for key, solutions in members.items():
            bound = {
                variable.name: term
                for (variable, _), term in zip(group.keys or (), key, strict=True)
                if term is not ERROR
            }
            for variable, function in group.aggregates:
                result = self.aggregated(function, solutions)
                if result is not ERROR:
                    bound[variable.name] = result
            self.has_computed |= any(isinstance(term, Computed) for term in bound.values())
            grouped.append(bound)
        return grouped

    def key_of_same_group(self, key: Key, groups: Mapping[Key, object]) -> Key:
        """Return the key among those of the groups that is the same, term by term; the key itself
        if there is none yet. Raises NoSingleAnswer where that is open.
        """
        for other in groups:
            self.budget.spend(1)
            if all(
                one is two if one is ERROR or two is ERROR else same(one, two)
                for one, two in zip(key, other, strict=True)
            ):
                return other
        return key

    def aggregated(self, function: Aggregate, solutions: Sequence[Solution]) -> Result:
        """Apply a set function to a group: to its solutions themselves (COUNT(*)), or to an
        expression's results.
        """
        self.budget.spend(len(solutions))
        if function.argument is None:
            members = self.distinct(solutions) if function.is_distinct else solutions
            return aggregate(
                Aggregate("COUNT", None), [boolean(True)] * len(members), self.choices.choose
            )

        results = [
            self.expressions.result(function.argument, solution, LabelledNodes(function))
            for solution in solutions
        ]
        if (function.is_distinct or function.name == "SAMPLE") and any(
            isinstance(result, Computed) for result in results
        ):
            # each is compared with those that are known
            self.budget.spend(len(results) * len(set(results)))
        return aggregate(function, results, self.choose_anew())

    def choose_anew(self) -> Choose:
        """Return a function that makes a choice which stands for one call alone: SAMPLE may give
        another member for each group.
        """
        call = next(self.calls)

        def choose(key: Hashable, options: Sequence[T], reason: str, /) -> T:
            return self.choices.choose((call, key), options, reason)

        return choose

    def distinct(self, solutions: Sequence[Solution]) -> list[Solution]:
        """Return each solution once (§18.5, Distinct)."""
        return [
            solutions[index]
            for index, first in enumerate(self.first_occurrences(solutions))
            if index == first
        ]

    def first_occurrences(self, solutions: Iterable[Solution]) -> list[int]:
        """Return for each solution the index of the first one that is the same."""
        firsts: dict[Row, int] = {}
        indices = []
        for index, solution in enumerate(solutions):
            key = tuple(sorted(solution.items()))
            if self.has_computed:
                key = self.key_of_same_solution(key, firsts)
            indices.append(firsts.setdefault(key, index))
        return indices

    def reduced(self, solutions: list[Solution]) -> list[Solution]:
        """Return each solution at least once and at most as often as it is there, which is the
        evaluator's choice (§18.5, Reduced).
        """
        copies = Counter(self.first_occurrences(solutions))
        choose = self.choose_anew()
        reduced = []
        for first, most in copies.items():
            times = choose(
                first, range(most, 0, -1), "REDUCED leaves open how often a solution is there"
            )
            reduced += [solutions[first]] * times
        return reduced

    def key_of_same_solution(self, key: Row, known: Iterable[Row]) -> Row:
        """Return the key among those known that is of the same solution; the key itself if there is
        none yet. A key has a solution's variables and terms, sorted. Raises NoSingleAnswer where it
        is open whether two are the same.
        """
        for other in known:
            self.budget.spend(1)
            has_same_names = [name for name, _ in key] == [name for name, _ in other]
            if has_same_names and all(
                same(one[1], two[1]) for one, two in zip(key, other, strict=True)
            ):
                return other
        return key

    def sliced(self, pattern: Slice) -> list[Solution]:
        """R2R-20: return what LIMIT and OFFSET leave (§15.4, §15.5), where the order leaves no
        choice.
        """
        inner = pattern.pattern
        is_distinct, is_reduced = isinstance(inner, Distinct), isinstance(inner, Reduced)
        if isinstance(inner, Distinct | Reduced):
            inner = inner.pattern
        variables = None
        if isinstance(inner, Project):
            variables, inner = inner.variables, inner.pattern
        conditions = inner.conditions if isinstance(inner, OrderBy) else ()
        solutions, keys = self.in_order(self.solutions(inner), conditions)
        rows = solutions if variables is None else projected(solutions, variables)
        if is_distinct or is_reduced:
            rows, keys = self.once_in_order(rows, keys, is_reduced)
        return self.cut(rows, keys, pattern, [is_descending for _, is_descending in conditions])

    def in_order(
        self, solutions: Sequence[Solution], conditions: Sequence[tuple[Expression, bool]]
    ) -> tuple[list[Solution], list[Keys]]:
        """Return solutions in one of the orders that ORDER BY allows, and the results of its
        conditions for each. Raises NoSingleAnswer where one of those is unknown.
        """
        self.budget.spend(len(solutions) * len(conditions))
        keys = [
            tuple(
                self.expressions.result(part, solution, LabelledNodes(("ORDER BY", part)))
                for part, _ in conditions
            )
            for solution in solutions
        ]
        if any(isinstance(result, Unknown) for own in keys for result in own):
            raise NoSingleAnswer("ORDER BY a value that has no single answer")
        order = ordered(keys, [is_descending for _, is_descending in conditions])
        return [solutions[index] for index in order], [keys[index] for index in order]

    def once_in_order(
        self, rows: Sequence[Solution], keys: Sequence[Keys], is_reduced: bool
    ) -> tuple[list[Solution], list[Keys]]:
        """Return each row once, with its results of ORDER BY. Raises NoSingleAnswer where REDUCED
        meets a row twice, and where rows that are the same differ in those results.
        """
        firsts = self.first_occurrences(rows)
        kept = [index for index, first in enumerate(firsts) if index == first]
        if is_reduced and len(kept) < len(rows):
            raise NoSingleAnswer("REDUCED leaves open how often a solution is there")
        if any(keys[index] != keys[first] for index, first in enumerate(firsts)):
            raise NoSingleAnswer(
                "LIMIT after DISTINCT, where equal solutions have several places in the order"
            )
        return [rows[index] for index in kept], [keys[index] for index in kept]

    def cut(
        self,
        rows: Sequence[Solution],
        keys: Sequence[Keys],
        bounds: Slice,
        descending: Sequence[bool],
    ) -> list[Solution]:
        """Return the rows between OFFSET and LIMIT. Raises NoSingleAnswer where ORDER BY lets other
        rows stand there.
        """
        start, end = (
            bounds.offset,
            len(rows) if bounds.limit is None else min(len(rows), bounds.offset + bounds.limit),
        )
        if start < end:
            check_border(keys, rows, start, descending, self.budget.spend)
            check_border(keys, rows, end, descending, self.budget.spend)
        return list(rows[start:end])

    # EXISTS

    def exists(self, expression: Exists, solution: Mapping[str, Term]) -> bool:
        """R2R-19: return whether a pattern has a solution once each variable that the current
        solution binds is replaced (§18.6).
        """
        self.budget.spend(1 + expression.size // 2)
        return bool(self.solutions(substituted(expression.pattern, dict(solution))))


def is_path(pattern: TriplePattern) -> bool:
    """Return whether a triple pattern's predicate is a property path."""
    return not isinstance(pattern.predicate, Var | str)


def variables_of(pattern: TriplePattern) -> set[Var]:
    """Return the variables of a triple pattern."""
    return {term for term in pattern if isinstance(term, Var)}


def projected(solutions: Iterable[Solution], variables: Sequence[Var]) -> list[Solution]:
    """Return solutions with some of their variables alone."""
    names = [variable.name for variable in variables]
    return [{name: solution[name] for name in names if name in solution} for solution in solutions]


def testable_early(condition: Expression | None) -> list[Expression]:
    """Return the conjuncts of a condition that are cheap to test before the filter itself: those
    without EXISTS.
    """
    if condition is None:
        return []
    return [
        part
        for part in conjuncts(condition)
        if not any(isinstance(node, Exists) for node in walk(part))
    ]


def substituted(node: Any, solution: Mapping[str, Term]) -> Any:
    """R2R-19: replace the variables that a solution binds, in patterns and in expressions.

    Raises NoSingleAnswer where the recommendation's substitution has no agreed meaning: for a bound
    variable that BIND or VALUES binds, too, or that stands anywhere in a subquery or on both sides
    of MINUS; and for a computed number in a triple pattern.
    """
    match node:
        case Var(name):
            if isinstance(solution.get(name), Computed):
                raise NoSingleAnswer("a computed number within EXISTS")
            return solution.get(name, node)
        case Basic(triples):
            return Basic(tuple(_pattern_with_terms(pattern, solution) for pattern in triples))
        case Join(parts):
            return Join(tuple(substituted(part, solution) for part in parts))
        case Union(parts):
            return Union(tuple(substituted(part, solution) for part in parts))
        case LeftJoin(left, right, condition):
            return LeftJoin(
                substituted(left, solution),
                substituted(right, solution),
                None if condition is None else _replaced(condition, solution),
            )
        case Filter(condition, inner):
            return Filter(_replaced(condition, solution), substituted(inner, solution))
        case Graph(name, inner):
            return Graph(
                substituted(name, solution) if isinstance(name, Var) else name,
                substituted(inner, solution),
            )
        case Extend(inner, bindings):
            _refuse_bound((variable for variable, _ in bindings), solution, "BIND")
            return Extend(
                substituted(inner, solution),
                tuple((variable, _replaced(part, solution)) for variable, part in bindings),
            )
        case Minus(left, right):
            _refuse_bound(
                (Var(name) for name in visible(left).keys() & visible(right).keys()),
                solution,
                "MINUS",
            )
            return Minus(substituted(left, solution), substituted(right, solution))
        case Values(variables, _):
            _refuse_bound(variables, solution, "VALUES")
            return node
        case _:
            _refuse_bound(all_variables(node), solution, "a subquery")
            return node


def _pattern_with_terms(pattern: TriplePattern, solution: Mapping[str, Term]) -> TriplePattern:
    """Return a triple pattern with the terms of a solution for its variables; a path has none."""
    subject, predicate, object_ = pattern
    return TriplePattern(
        substituted(subject, solution) if isinstance(subject, Var) else subject,
        substituted(predicate, solution) if isinstance(predicate, Var) else predicate,
        substituted(object_, solution) if isinstance(object_, Var) else object_,
    )


def _replaced(expression: Expression, solution: Mapping[str, Term]) -> Expression:
    """Replace the variables of an expression. BOUND of one that is bound becomes true."""
    match expression:
        case Var(name):
            return solution.get(name, expression)
        case Call("BOUND", (Var(name),)) if name in solution:
            return boolean(True)
        case Call(name, arguments):
            return Call(name, tuple(_replaced(part, solution) for part in arguments))
        case Exists(pattern):
            return replace(expression, pattern=substituted(pattern, solution))
        case Aggregate():
            argument = expression.argument
            return replace(
                expression, argument=None if argument is None else _replaced(argument, solution)
            )
        case _:
            return expression


def _refuse_bound(variables: Iterable[Var], solution: Mapping[str, Term], place: str) -> None:
    if bound := sorted({variable.name for variable in variables} & solution.keys()):
        raise NoSingleAnswer(
            f"EXISTS with ?{bound[0]} bound outside and in {place} inside, "
            "for which substitution has no agreed meaning"
        )


# Answers


def output(term: Term) -> Term:
    """Return a term as an answer shows it. Raises NoSingleAnswer for what NOW, RAND or a UUID gave,
    and for a number whose slack exceeds the tolerance of comparing (CMP-2).
    """
    if not isinstance(term, Computed):
        return term
    if isinstance(term, Unknown):
        raise NoSingleAnswer(f"{term.kind} has no single answer")
    rank, exact, slack = term.number
    if slack and slack > tolerated_slack(rank, exact):
        raise NoSingleAnswer(f"a number that depends on the order of computing, {float(exact)}")
    return str(term)


def tolerated_slack(rank: int, exact: int | Fraction | float) -> Fraction:
    """Return the greatest slack of a number that is still one answer by CMP-2.

    A slack is a unit of the last digit that every evaluator keeps, for each rounding; rounding to
    the nearest errs by half of it.
    """
    relative = 2 * Fraction(TOLERANCE.get(RANKS[rank], 0)) * abs(Fraction(exact))
    return max(relative, LEAST_DECIMAL) if rank == DECIMAL else relative


def selected(variables: tuple[str, ...], mappings: Iterable[Mapping[str, Term]]) -> Relation:
    """R2R-2: return SELECT's answer, a bag of solution mappings; an unbound variable is absent from
    its row.
    """
    return Relation(
        variables,
        Counter(
            row({name: output(term) for name, term in mapping.items()}) for mapping in mappings
        ),
    )


def asked(holds: bool) -> Relation:
    """R2R-3: return ASK's answer, one row, `ask` = true or false, so that it is never empty."""
    return Relation(("ask",), Counter([row({"ask": boolean(holds)})]))


def constructed(graph: Iterable[Triple]) -> Relation:
    """R2R-4: return CONSTRUCT's answer, a set of triples, one row each; triples that RDF does not
    allow are left out.
    """
    names = ("subject", "predicate", "object")
    allowed = {
        triple for triple in graph if not triple[0].startswith('"') and triple[1].startswith("<")
    }
    return Relation(names, Counter(row(zip(names, triple, strict=True)) for triple in allowed))
