"""§7 What the operators of SPARQL's algebra make of multisets of solutions (SPARQL 1.1 §18.5), and
the answers that are made of them (§16).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TypeVar

from refengine.model.compare import LEAST_DECIMAL, TOLERANCE
from refengine.model.elements import Relation, Row, Term, Triple, row
from refengine.model.errors import NoSingleAnswer
from refengine.sparql import algebra, values
from refengine.sparql.aggregates import MOST_PARTIAL_SUMS, aggregate
from refengine.sparql.algebra import Distinct, Expression, Group, Reduced, Slice, Variable
from refengine.sparql.expressions import LabelledNodes
from refengine.sparql.order import Keys, check_border, name_solution, sort_indices
from refengine.sparql.run import Run, Solution
from refengine.sparql.values import DECIMAL, ERROR, Computed, Number, Result, Unknown, boolean, same

# Answers: solutions as a relation, in the query's form (§16)


def output(term: Term) -> Term:
    """Return a term as an answer shows it. Raises NoSingleAnswer for what NOW, RAND or a UUID gave,
    and for a number whose slack exceeds the tolerance of comparing (CMP-2).
    """
    if not isinstance(term, Computed):
        return term
    if isinstance(term, Unknown):
        raise NoSingleAnswer(f"{term.kind} has no single answer")
    slack = term.number.slack
    if slack and slack > tolerated_slack(term.number.rank, term.number.value):
        raise NoSingleAnswer(why_open(term.number))
    return str(term)


def why_open(number: Number) -> str:
    """Return why a number has no single answer, whose slack is too great for one."""
    if number.is_bound:
        return (
            f"a sum of numbers whose order of adding may matter, {float(number.value)}: more than "
            f"{MOST_PARTIAL_SUMS} partial sums would tell"
        )
    if number.rank == DECIMAL:
        return f"a decimal that depends on how many digits are kept, {float(number.value)}"
    return f"a number that depends on the order of computing, {float(number.value)}"


def tolerated_slack(rank: int, exact: int | Fraction | float) -> Fraction:
    """Return the greatest slack of a number that is still one answer by CMP-2.

    A slack is a unit of the last digit that every evaluator keeps, for each rounding; rounding to
    the nearest errs by half of it.
    """
    relative = 2 * Fraction(TOLERANCE.get(values.RANKS[rank], 0)) * abs(Fraction(exact))
    if rank == DECIMAL:
        return max(relative, LEAST_DECIMAL)
    return relative


def select_answer(variables: tuple[str, ...], mappings: Iterable[Mapping[str, Term]]) -> Relation:
    """R2R-2: Return SELECT's answer, a bag of solution mappings; an unbound variable is absent from
    its row.
    """
    return Relation(
        variables,
        Counter(
            row({name: output(term) for name, term in mapping.items()}) for mapping in mappings
        ),
    )


def ask_answer(holds: bool) -> Relation:
    """R2R-3: Return ASK's answer, one row, `ask` = true or false, so that it is never empty."""
    return Relation(("ask",), Counter([row({"ask": boolean(holds)})]))


def construct_answer(graph: Iterable[Triple]) -> Relation:
    """R2R-4: Return CONSTRUCT's answer, a set of triples, one row each; triples that RDF does not
    allow are left out.
    """
    names = ("subject", "predicate", "object")
    allowed = {
        triple for triple in graph if not triple[0].startswith('"') and triple[1].startswith("<")
    }
    return Relation(names, Counter(row(zip(names, triple, strict=True)) for triple in allowed))


# Distinct and Reduced (§18.5): which solutions are the same


def keep_distinct(run: Run, solutions: Sequence[Solution]) -> list[Solution]:
    """Return each solution once (§18.5, Distinct)."""
    return [
        solutions[index]
        for index, first in enumerate(first_occurrences(run, solutions))
        if index == first
    ]


def reduce_solutions(run: Run, solutions: list[Solution]) -> list[Solution]:
    """Return each solution at least once and at most as often as it is there, which is the
    evaluator's choice (§18.5, Reduced).
    """
    copies = Counter(first_occurrences(run, solutions))
    choose = run.choose_anew()
    reduced: list[Solution] = []
    for first, most in copies.items():
        reason = "REDUCED leaves open how often a solution is there"
        if most > 1:
            reason += f" ({name_solution(solutions[first])})"
        times = choose(first, range(most, 0, -1), reason)
        reduced += [solutions[first]] * times
    return reduced


def first_occurrences(run: Run, solutions: Iterable[Solution]) -> list[int]:
    """Return for each solution the index of the first one that is the same."""
    firsts: dict[Row, int] = {}
    indices = []
    for index, solution in enumerate(solutions):
        key = tuple(sorted(solution.items()))
        if run.has_computed:
            key = key_of_same_solution(run, key, firsts)
        indices.append(firsts.setdefault(key, index))
    return indices


def key_of_same_solution(run: Run, key: Row, keys: Iterable[Row]) -> Row:
    """Return the key among some others that is of the same solution; the key itself if there is
    none yet. A key has a solution's variables and terms, sorted. Raises NoSingleAnswer where it is
    open whether two are the same.
    """
    for other in keys:
        run.budget.spend(1)
        has_same_names = [name for name, _ in key] == [name for name, _ in other]
        if has_same_names and all(
            same(one[1], two[1]) for one, two in zip(key, other, strict=True)
        ):
            return other
    return key


# Join, LeftJoin and Minus (§18.5): pairs of compatible solutions (§18.3)


def join(run: Run, left: Sequence[Solution], right: Sequence[Solution]) -> list[Solution]:
    """Return the union of each two solutions that are compatible."""
    partners = find_partners(run, left, right)
    return run.unite(({**one, **other} for other in partners(one)) for one in left)


def left_join(
    run: Run, left: Sequence[Solution], right: Sequence[Solution], condition: Expression | None
) -> list[Solution]:
    """Extend each solution by those that are compatible and fulfil the condition together with it
    (§18.5, LeftJoin). One that none extends stands alone.
    """
    partners = find_partners(run, left, right)

    def extensions(one: Solution) -> list[Solution]:
        merged = ({**one, **other} for other in partners(one))
        fulfilled = run.unite(
            [both] for both in merged if condition is None or run.expressions.holds(condition, both)
        )
        return fulfilled or [one]

    return run.unite(extensions(one) for one in left)


def subtract(run: Run, left: Sequence[Solution], right: Sequence[Solution]) -> list[Solution]:
    """Return the solutions of the left side, without those that are compatible with one of the
    right and share a variable with it (§18.5, Minus).
    """
    partners = find_partners(run, left, right)
    return [one for one in left if not any(one.keys() & other.keys() for other in partners(one))]


def find_partners(
    run: Run, left: Sequence[Solution], right: Sequence[Solution]
) -> Callable[[Solution], Iterator[Solution]]:
    """Return the function that gives the solutions of the right side which are compatible with one
    of the left (§18.3).
    """
    shared = sorted(bound_names(left) & bound_names(right))
    always = [name for name in shared if is_always_bound(name, left, right)]
    rest = [name for name in shared if name not in always]
    if run.has_computed and has_computed_term(shared, left, right):
        # two computed terms may be the same though their texts differ: no look-up finds them
        always = []
        rest = shared
    index: dict[tuple[Term, ...], list[Solution]] = defaultdict(list)
    for other in right:
        index[tuple([other[name] for name in always])].append(other)

    def partners(one: Solution) -> Iterator[Solution]:
        for other in index.get(tuple([one[name] for name in always]), ()):
            run.budget.spend(1)
            if not rest or are_compatible(one, other, rest):
                yield other

    return partners


def are_compatible(one: Solution, other: Solution, names: Iterable[str]) -> bool:
    """Return whether two solutions bind no variable of some to different terms (§18.3). All are
    compared: a pair that has no single answer leaves the whole without one.
    """
    return all(
        [name not in one or name not in other or same(one[name], other[name]) for name in names]
    )


def bound_names(solutions: Iterable[Solution]) -> set[str]:
    """Return the names of the variables that any of some solutions binds."""
    return set().union(*solutions)


def is_always_bound(name: str, left: Iterable[Solution], right: Iterable[Solution]) -> bool:
    """Return whether every solution of both sides binds a variable."""
    return all(name in one for one in left) and all(name in one for one in right)


def has_computed_term(
    names: Sequence[str], left: Sequence[Solution], right: Sequence[Solution]
) -> bool:
    """Return whether any solution of two sides binds one of some variables to a computed term."""
    return any(isinstance(one.get(name), Computed) for one in (*left, *right) for name in names)


# Grouping and aggregation (§18.5.1)


Key = TypeVar("Key", bound=tuple[Result, ...])


def group_solutions(run: Run, group: Group, solutions: Sequence[Solution]) -> list[Solution]:
    """Return one solution for each group, with its keys and its aggregates."""
    if group.keys is None:
        return [solution_of_group(run, group, (), solutions)]
    members = members_by_key(run, group.keys, solutions)
    return [solution_of_group(run, group, key, own) for key, own in members.items()]


def members_by_key(
    run: Run, keys: tuple[tuple[Variable, Expression], ...], solutions: Sequence[Solution]
) -> dict[tuple[Result, ...], list[Solution]]:
    """Return the solutions of each group, by the results of the group's keys."""
    members: dict[tuple[Result, ...], list[Solution]] = defaultdict(list)
    operator = ("GROUP BY", keys)
    has_computed = False
    for solution in solutions:
        nodes = run.expressions.nodes_of_solution(operator)
        key = tuple([run.expressions.result(expression, solution, nodes) for _, expression in keys])
        run.budget.spend(len(key) // 8)
        has_computed = has_computed or any(isinstance(term, Computed) for term in key)
        if has_computed:
            key = key_of_same_group(run, key, members)
        members[key].append(solution)
    return members


def solution_of_group(
    run: Run, group: Group, key: tuple[Result, ...], members: Sequence[Solution]
) -> Solution:
    """Return the solution of one group; a key or an aggregate that is an error binds nothing."""
    bound = {
        variable.name: term
        for (variable, _), term in zip(group.keys or (), key, strict=True)
        if term is not ERROR
    }
    for variable, function in group.aggregates:
        result = aggregate_group(run, function, members)
        if result is not ERROR:
            bound[variable.name] = result
    run.has_computed |= any(isinstance(term, Computed) for term in bound.values())
    return bound


def key_of_same_group(run: Run, key: Key, groups: Mapping[Key, object]) -> Key:
    """Return the key among those of the groups that is the same, term by term; the key itself if
    there is none yet. Raises NoSingleAnswer where that is open.
    """
    for other in groups:
        run.budget.spend(1)
        if all(map(is_same_result, key, other)):
            return other
    return key


def is_same_result(one: Result, other: Result) -> bool:
    """Return whether two results are the same term, or both an error."""
    if one is ERROR or other is ERROR:
        return one is other
    return same(one, other)


def aggregate_group(run: Run, function: algebra.Aggregate, members: Sequence[Solution]) -> Result:
    """Apply a set function to a group: to its solutions themselves (COUNT(*)), or to an
    expression's results.
    """
    run.budget.spend(len(members))
    argument = function.argument
    if argument is None:
        return count_solutions(run, members, function.is_distinct)
    expressions = run.expressions
    results = [
        expressions.result(argument, solution, expressions.nodes_of_solution(function))
        for solution in members
    ]
    compares_members = function.is_distinct or function.name == "SAMPLE"
    if compares_members and any(isinstance(result, Computed) for result in results):
        # each is compared with those that are known
        run.budget.spend(len(results) * len(set(results)))
    return aggregate(function, results, run.choose_anew())


def count_solutions(run: Run, members: Sequence[Solution], is_distinct: bool) -> Result:
    """Return the number of solutions of a group (COUNT(*))."""
    if is_distinct:
        members = keep_distinct(run, members)
    results = [boolean(True)] * len(members)
    return aggregate(algebra.Aggregate("COUNT", None), results, run.choices.choose)


# ORDER BY with LIMIT and OFFSET (§15.4, §15.5), where the order leaves no choice


@dataclass(frozen=True)
class OrderBelow:
    """What stands below LIMIT and OFFSET: a pattern, the conditions that order its solutions, the
    variables that are left of them (None: all), and whether DISTINCT or REDUCED comes last.
    """

    pattern: algebra.Pattern
    conditions: tuple[tuple[Expression, bool], ...]
    variables: tuple[Variable, ...] | None
    is_distinct: bool
    is_reduced: bool

    @property
    def descending(self) -> list[bool]:
        """Whether each of the conditions is descending."""
        return [is_descending for _, is_descending in self.conditions]


def order_below(bounds: Slice) -> OrderBelow:
    """Return what stands below LIMIT and OFFSET."""
    inner = bounds.pattern
    is_distinct = isinstance(inner, Distinct)
    is_reduced = isinstance(inner, Reduced)
    if isinstance(inner, Distinct | Reduced):
        inner = inner.pattern
    variables = None
    if isinstance(inner, algebra.Project):
        variables = inner.variables
        inner = inner.pattern
    conditions: tuple[tuple[Expression, bool], ...] = ()
    if isinstance(inner, algebra.OrderBy):
        conditions = inner.conditions
    return OrderBelow(inner, conditions, variables, is_distinct, is_reduced)


def cut(
    run: Run, bounds: Slice, order: OrderBelow, solutions: Sequence[Solution]
) -> list[Solution]:
    """R2R-20: Return what LIMIT and OFFSET leave (§15.4, §15.5), where the order leaves no choice.
    Raises NoSingleAnswer where ORDER BY lets other solutions stand there.
    """
    rows, keys = put_in_order(run, solutions, order)
    if order.variables is not None:
        rows = project(rows, order.variables)
    if order.is_distinct or order.is_reduced:
        rows, keys = once_in_order(run, rows, keys, order.is_reduced)
    start = bounds.offset
    end = len(rows)
    if bounds.limit is not None:
        end = min(end, start + bounds.limit)
    if start < end:
        check_border(keys, rows, start, order.descending, run.budget.spend)
        check_border(keys, rows, end, order.descending, run.budget.spend)
    return list(rows[start:end])


def put_in_order(
    run: Run, solutions: Sequence[Solution], order: OrderBelow
) -> tuple[list[Solution], list[Keys]]:
    """Return solutions in one of the orders that ORDER BY allows, and the results of its conditions
    for each. Raises NoSingleAnswer where one of those is unknown.
    """
    run.budget.spend(len(solutions) * len(order.conditions))
    keys = [keys_of(run, solution, order.conditions) for solution in solutions]
    results = chain.from_iterable(keys)
    if unknown := next((result for result in results if isinstance(result, Unknown)), None):
        raise NoSingleAnswer(f"ORDER BY a value that has no single answer ({unknown.kind})")
    indices = sort_indices(keys, order.descending)
    return [solutions[index] for index in indices], [keys[index] for index in indices]


def keys_of(run: Run, solution: Solution, conditions: Iterable[tuple[Expression, bool]]) -> Keys:
    """Return the results of ORDER BY's conditions for a solution."""
    return tuple(
        [
            run.expressions.result(part, solution, LabelledNodes(("ORDER BY", part)))
            for part, _ in conditions
        ]
    )


def once_in_order(
    run: Run, rows: Sequence[Solution], keys: Sequence[Keys], is_reduced: bool
) -> tuple[list[Solution], list[Keys]]:
    """Return each row once, with its results of ORDER BY. Raises NoSingleAnswer where REDUCED meets
    a row twice, and where rows that are the same differ in those results.
    """
    firsts = first_occurrences(run, rows)
    unique = [index for index, first in enumerate(firsts) if index == first]
    again = [index for index, first in enumerate(firsts) if index != first]
    if is_reduced and again:
        raise NoSingleAnswer(
            f"REDUCED leaves open how often a solution is there ({name_solution(rows[again[0]])})"
        )
    for index in again:
        if keys[index] != keys[firsts[index]]:
            raise NoSingleAnswer(
                "LIMIT after DISTINCT, where equal solutions have several places in the order "
                f"({name_solution(rows[index])})"
            )
    return [rows[index] for index in unique], [keys[index] for index in unique]


def project(solutions: Iterable[Solution], variables: Sequence[Variable]) -> list[Solution]:
    """Return solutions with some of their variables alone."""
    names = [variable.name for variable in variables]
    return [{name: solution[name] for name in names if name in solution} for solution in solutions]


# CONSTRUCT's template (§16.2): the triples that it makes of solutions


def fill_template(
    run: Run, template: Sequence[algebra.TriplePattern], solutions: Iterable[Solution]
) -> Iterator[Triple]:
    """Yield for each solution the template's triples of which it binds all variables, with new
    blank nodes (§16.2.1).
    """
    for solution in solutions:
        run.budget.spend(1 + 4 * len(template))
        nodes: dict[Variable, Term] = {}
        for pattern in template:
            subject, predicate, object_ = [
                fill_place(run, part, solution, nodes) for part in algebra.without_path(pattern)
            ]
            if subject is not None and predicate is not None and object_ is not None:
                yield subject, predicate, object_


def fill_place(
    run: Run, part: Variable | Term, solution: Solution, nodes: dict[Variable, Term]
) -> Term | None:
    """Return the term that a part of the template stands for; None where the solution binds it
    not. `nodes` has the blank nodes made for this solution, and gets those that are made now.
    """
    if not isinstance(part, Variable):
        return part
    if not part.is_hidden:
        return solution.get(part.name)
    nodes.setdefault(part, run.new_blank())
    return nodes[part]


def distinct_triples(run: Run, triples: Iterable[Triple]) -> Iterator[Triple]:
    """Yield each triple once. Raises NoSingleAnswer where it is open whether two are the same."""
    unique: dict[Triple, None] = {}
    for triple in triples:
        key = key_of_same_group(run, triple, unique) if run.has_computed else triple
        if key not in unique:
            unique[key] = None
            subject, predicate, object_ = triple
            yield output(subject), output(predicate), output(object_)
