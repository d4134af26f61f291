"""§7 Basic graph patterns and the graphs that they are over, maintained: an inserted triple comes
into one graph, and is joined there with the triples that are there already, and so is one that is
retracted.

For `?x :p ?y . ?y :q ?z` a new triple `(a, :p, b)` matches the first pattern. It binds ?x and ?y,
and the index of the second pattern by ?y gives the triples `(b, :q, …)` that complete a solution.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from refengine.incremental.algebra.code import (
    Block,
    Code,
    Program,
    Statements,
    Take,
    Values,
    for_each,
    key_of,
    otherwise,
    show,
    when,
    word_of,
)
from refengine.incremental.algebra.expressions import Condition, condition_on
from refengine.incremental.algebra.joins import equal_names, equality_key, look_up_value
from refengine.incremental.algebra.nodes import Emit, MaintainedNode, ask
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, Triple
from refengine.sparql.algebra import (
    Expression,
    TriplePattern,
    Variable,
    all_variables,
    without_path,
)
from refengine.sparql.datasets import graphs_found
from refengine.sparql.values import Computed

# The parts of a triple in its code. Where triples are numbered, the number of the element follows.
PARTS = ("s", "p", "o", "k")
MOST_LOOPS = 8  # within one another, in one function; Python allows 20
MOST_REMEMBERED = 2**14  # terms, of which a condition's answer is kept


class NeededNames(NamedTuple):
    """A condition, and the variables that must be bound before it is asked."""

    names: frozenset[str]
    condition: Expression


class PatternIndex(NamedTuple):
    """An index of the triples of a triple pattern: its name in the code, the expression of a
    triple's key, and that of what is found there; the latter is empty if the key says all.
    """

    name: Code
    key: Code
    value: Code


class IndexedPattern:
    """One triple pattern, and the indexes of the triples that match it: one for each set of
    variables by which a join looks them up.

    `place` is the part of a triple that each variable is bound to. With a `number_name`, triples
    are followed by the number of the element that they come from, to which that is bound.
    """

    def __init__(self, terms: TriplePattern, number_name: str | None = None) -> None:
        self.terms = terms
        self.place: dict[str, Code] = {}
        self.predicate: Term | None = None
        # what must be equal; the predicate is known from the route that a triple takes
        self.tests: list[Code] = []
        self.number_of_constants = 0
        for part, term in zip(PARTS, without_path(terms), strict=False):
            if isinstance(term, Variable):
                first = self.place.setdefault(term.name, part)
                if first != part:
                    self.tests.append(f"{first} == {part}")
                continue
            self.number_of_constants += 1
            if part == "p":
                self.predicate = term
            else:
                self.tests.append(f"{part} == {term!r}")
        if number_name is not None:
            self.place[number_name] = "k"
        self.conditions: list[Expression] = []  # filters on this pattern's variables alone
        self.indexes: dict[str, PatternIndex] = {}  # by what they are by

    def match(self, program: Program) -> Code:
        """Return the expression of whether a triple with this pattern's predicate matches it and
        passes its filters.
        """
        return " and ".join([*self.tests, *(self._passes(program, c) for c in self.conditions)])

    def _passes(self, program: Program, condition: Expression) -> Code:
        """Return the expression of a condition. Of one term the answer is remembered: terms of
        triples have no other value than their text.
        """
        names = [name for name in self.place if Variable(name) in all_variables(condition)]
        if len(names) > 1:
            return ask(program, [condition], self.place)
        (name,) = names
        remembered = Remembered(condition_on(condition, {name: 0}))
        hint = f"passes_{program.local(name).removeprefix('v_')}"
        return f"{program.give(hint, remembered)}[{self.place[name]}]"

    def index_by(self, program: Program, names: Sequence[str]) -> PatternIndex:
        """Return the index by some variables."""
        key = key_of([self.place[name] for name in names])
        free = [part for name, part in self.place.items() if name not in names]
        if not names:  # the triples stand in no order of keys
            key, free = key_of(free), []
        by = f"R2R-10 {show(self.terms)}, by {', '.join(f'?{name}' for name in names) or 'nothing'}"
        return self._index(program, by, ["by", *(names or ["all"])], key, free)

    def index_by_value(self, program: Program, name: str) -> PatternIndex:
        """Return the index by the value of a variable. A value does not tell the term."""
        key = f"{program.call(equality_key)}({self.place[name]})"
        by = f"R2R-12 {show(self.terms)}, by the value of ?{name}"
        return self._index(program, by, ["by_value_of", name], key, [*self.place.values()])

    def _index(
        self, program: Program, by: str, words: Sequence[str], key: Code, free: Sequence[Code]
    ) -> PatternIndex:
        """Return the index that has a key, from which the other parts of a triple are found."""
        if by not in self.indexes:
            first, *rest = words
            rest = [program.local(name).removeprefix("v_") for name in rest]
            hint = "_".join([word_of(self.predicate) or "any", first, *rest])
            value = key_of(free) if free else ""
            self.indexes[by] = PatternIndex(program.keep(hint, "{}", by), key, value)
        return self.indexes[by]

    def write_insert(self) -> Statements:
        """Return what inserts a triple into every index."""
        statements: Statements = []
        for name, key, value in self.indexes.values():
            if not value:
                statements.append(f"{name}[{key}] = None")
                continue
            statements += [
                f"there = {name}.get({key})",
                Block("if there is None:", [f"{name}[{key}] = {{{value}: None}}"]),
                otherwise([f"there[{value}] = None"]),
            ]
        return statements

    def write_remove(self) -> Statements:
        """Return what removes a triple, which is there, from every index."""
        statements: Statements = []
        for name, key, value in self.indexes.values():
            if not value:
                statements.append(f"del {name}[{key}]")
                continue
            statements += [
                f"there = {name}[{key}]",
                f"del there[{value}]",
                *when("not there", [f"del {name}[{key}]"]),
            ]
        return statements


class Remembered(dict[Term, bool]):
    """Whether a condition holds, by the term that it is asked of."""

    def __init__(self, condition: Condition) -> None:
        self.condition = condition

    def __missing__(self, term: Term) -> bool:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        holds = self[term] = bool(self.condition((term,)))
        return holds


class MaintainedBasicPattern(MaintainedNode):
    """A basic graph pattern under filters: it emits the solutions that an inserted triple completes
    and those that a retracted one was in.

    Each of `filters` is asked as soon as its variables are bound, `outer_filters` of what passes
    all of them: they drop no solution of which an inner filter has no single answer.

    The body's blank nodes are variables, with names that no other has. `number_names` are given
    where triples are followed by the number of their element: one for each triple pattern. Those
    follow the `width` variables. `number` is that of the pattern in its body.

    There are no property paths among the triples: `paths` writes these out.
    """

    def __init__(
        self,
        number: int,
        triples: Sequence[TriplePattern],
        filters: Sequence[Expression],
        number_names: Sequence[str] = (),
        outer_filters: Sequence[Expression] = (),
    ) -> None:
        names = _variable_names(triples)
        super().__init__([*names, *number_names], names)
        self.number = number
        self.width = len(names)
        self.is_numbered = bool(number_names)
        self.outer_filters = outer_filters
        self.patterns = [
            IndexedPattern(triple, number_name)
            for triple, number_name in zip_longest(triples, number_names)
        ]
        self.equal_names = equal_names(filters, self.slots)
        self.filters: list[NeededNames] = []  # on what no triple pattern binds alone
        for condition in filters:
            asked = {variable.name for variable in all_variables(condition)}
            needed = frozenset(asked & self.slots.keys())
            within = [each for each in self.patterns if needed <= each.place.keys()]
            if not needed or not within:
                self.filters.append(NeededNames(needed, condition))
                continue
            for pattern in within:
                pattern.conditions.append(condition)

    def write(self, program: Program, take: Take) -> None:
        """Write a function for each triple pattern that joins a triple of it with the others, and
        hand the patterns to the routes of their graph.
        """
        comment = f"Take a solution of {' . '.join(show(each.terms) for each in self.patterns)}"
        if program.is_fed:
            emit = program.emitter("feed", self.names, take, comment)
            program.scope.append(f"body.feeds[{self.number}] = {emit}")
            return
        if self.is_numbered:
            take = self._collect
        if len(self.patterns) > 1:
            take = program.shared("completed", self.names, take, comment)
        for pattern in reversed(self.patterns):
            join = self._write_join(program, pattern, take)
            program.routes.append(Route(pattern, join, not self.is_numbered))

    def _collect(self, values: Values, count: Code) -> Statements:
        """Return what hands a solution over with the number of its pattern."""
        return [f"body.collect({self.number}, {self.solution(values)})"]

    def _write_join(self, program: Program, start: IndexedPattern, take: Take) -> Code:
        """Write what joins a triple of one pattern with the others: the most bound pattern first,
        and each condition as soon as its variables are bound. Return the function's name.
        """
        values = program.locals(start.place)
        parameters = [*values.values(), "count"]
        conditions = self.filters
        left = [pattern for pattern in self.patterns if pattern is not start]
        steps: list[JoinStep] = []
        while left:
            reached = values.keys() | {b for a, b in self.equal_names if a in values}
            pattern = max(left, key=lambda each: self._preference(each, reached))
            left.remove(pattern)
            step = self._write_step(program, pattern, values)
            values |= step.found
            ready = [each.condition for each in conditions if each.names <= values.keys()]
            conditions = [each for each in conditions if not each.names <= values.keys()]
            steps.append(step._replace(conditions=ready, bound=dict(values)))
        rest = [*(each.condition for each in conditions), *self.outer_filters]
        body = _under(program, rest, values, take(values, "count"))
        comment = f"R2R-10 Take a triple of {show(start.terms)}"
        if steps:
            comment = f"R2R-10 Join a triple of {show(start.terms)} with those of other patterns"
        hint = f"join_{word_of(start.predicate) or 'any'}"
        return program.define(hint, parameters, self._nest(program, steps, body), comment)

    def _nest(self, program: Program, steps: Sequence[JoinStep], body: Statements) -> Statements:
        """Return the steps of a join within one another, and in the last one what is done with a
        solution. After some steps a function goes on: Python nests no more than 20 loops.
        """
        for place, step in reversed([*enumerate(steps)]):
            body = step.around(_under(program, step.conditions, step.bound, body))
            if place and place % MOST_LOOPS == 0:
                parameters = [*steps[place - 1].bound.values(), "count"]
                name = program.define("join", parameters, body, "Go on with a join")
                body = [f"{name}({', '.join(parameters)})"]
        return body

    def _write_step(self, program: Program, pattern: IndexedPattern, values: Values) -> JoinStep:
        """Return what finds the triples of a pattern by the variables that are bound. If none is,
        but an equality has one, it looks for its value.
        """
        names = tuple(name for name in pattern.place if name in values)
        others = [name for name in pattern.place if name not in names]
        found = program.locals(others, values.values())
        target = key_of([*found.values()])
        if not names:
            items = self._items_of_all(program, pattern, values)
            return JoinStep(f"for {target} in {items}:" if found else f"if {items}:", found)
        index = pattern.index_by(program, names)
        key = key_of([values[name] for name in names])
        if not found:
            return JoinStep(f"if {key} in {index.name}:", found)
        return JoinStep(f"for {target} in {index.name}.get({key}, ()):", found)

    def _items_of_all(self, program: Program, pattern: IndexedPattern, values: Values) -> Code:
        """Return what has the triples of a pattern of which no variable is bound: those with a
        value that is equal to a bound one, or all.
        """
        for one, other in self.equal_names:
            if one in values and other in pattern.place:
                index = pattern.index_by_value(program, other)
                key = f"{program.call(equality_key)}({values[one]})"
                return f"{program.call(look_up_value)}({index.name}, {key})"
        return pattern.index_by(program, ()).name

    def _preference(
        self, pattern: IndexedPattern, reached: Collection[str]
    ) -> tuple[int, int, int]:
        """Return how soon a pattern is joined, the greatest first: by how many of its terms are
        known, then of its variables, then by its place in the query. `reached` are the variables
        that are bound, or equal to one that is.
        """
        known = sum(name in reached for name in pattern.place)
        return known + pattern.number_of_constants, known, -self.patterns.index(pattern)


class JoinStep(NamedTuple):
    """One step of a join: what its code begins with, and the local names of the variables that it
    binds. `conditions` are asked then, where `bound` are the local names of all variables.
    """

    head: Code
    found: Mapping[str, Code]
    conditions: Sequence[Expression] = ()
    bound: Mapping[str, Code] = {}

    def around(self, body: Statements) -> Statements:
        """Return the step with what is done for each triple that it finds."""
        return [Block(self.head, body)]


def _under(
    program: Program, conditions: Sequence[Expression], values: Values, body: Statements
) -> Statements:
    """Return statements under conditions, which are asked in their order."""
    if not conditions:
        return body
    return when(" and ".join([ask(program, [part], values) for part in conditions]), body)


def _variable_names(triples: Sequence[TriplePattern]) -> dict[str, None]:
    """Return the names of the variables, each once, in the order of their first places."""
    terms = [term for triple in triples for term in triple]
    return dict.fromkeys(term.name for term in terms if isinstance(term, Variable))


# The graphs of the dataset


class Route(NamedTuple):
    """A triple pattern, and the function that joins its triples. `is_retracted` says that it joins
    those that go as well.
    """

    pattern: IndexedPattern
    join: Code
    is_retracted: bool


def write_routes(program: Program) -> None:
    """Write what a scope's graph does with a triple, by its predicate: a function that inserts it
    into the patterns that it matches, and one that retracts it.

    A triple that matches several patterns is inserted as one after the other. It is joined before
    it enters this pattern's indexes, and so meets itself as the earlier ones alone, and each
    solution is emitted once.
    """
    routes = program.routes[::-1]
    if not routes:
        return
    comment = "R2R-1 how often each triple that matches is there"
    copies = program.keep("present", "graph.add_routes()", comment)
    for predicate in dict.fromkeys(route.pattern.predicate for route in routes):
        own = [route for route in routes if route.pattern.predicate == predicate]
        if predicate is not None:
            own += [route for route in routes if route.pattern.predicate is None]
        _write_route(program, predicate, own, copies)


def _write_route(
    program: Program, predicate: Term | None, routes: Sequence[Route], copies: Code
) -> None:
    """Write what a graph does with the triples of a predicate, or with others: the functions that
    insert and retract one.
    """
    is_numbered = not routes[0].is_retracted
    unpack = f"{', '.join(PARTS if is_numbered else PARTS[:3])} = triple"
    matches = [route.pattern.match(program) for route in routes]
    insert: Statements = []
    retract: Statements = []
    tests: Statements = []
    for place, (route, match) in enumerate(zip(routes, matches, strict=True)):
        terms = [*route.pattern.place.values()]
        join = [f"{route.join}({', '.join([*terms, '1'])})", *route.pattern.write_insert()]
        remove = route.pattern.write_remove()
        if route.is_retracted:
            remove.append(f"{route.join}({', '.join([*terms, '-1'])})")
        if match and len(routes) > 1:
            tests.append(f"matches_{place} = {match}")
            join, remove = (when(f"matches_{place}", body) for body in (join, remove))
            matches[place] = f"matches_{place}"
        insert += join
        retract += remove
    insert = [
        *when(f"triple in {copies}", [f"{copies}[triple] += 1", "return"]),
        f"{copies}[triple] = 1",
        *insert,
    ]
    if all(matches):
        insert = when(" or ".join(matches), insert)
    word = word_of(predicate) or "any"
    kind = f"with {show(predicate)}" if predicate is not None else "with another predicate"
    inserted = program.define(
        f"insert_{word}",
        ["triple"],
        [unpack, *tests, *insert],
        f"R2R-1 Insert a triple {kind}; one that is there already changes nothing",
    )
    retracted = program.define(
        f"retract_{word}",
        ["triple"],
        [
            f"number = {copies}.get(triple, 0)",
            *when("number > 1", [f"{copies}[triple] = number - 1"]),
            Block("elif number:", [f"del {copies}[triple]", unpack, *tests, *retract]),
        ],
        f"R2R-1 Retract a triple {kind}, when no other element has it",
    )
    program.scope.append(f"graph.add_route({predicate!r}, {inserted}, {retracted})")


# What takes a triple that comes or goes, by its predicate; under None by any other
TakeTriple = Callable[[Triple], None]
Routes = dict[Term | None, TakeTriple]


class MaintainedGraph:
    """One graph: the default graph, or a named one. It passes triples on by their predicates, so
    that one which matches nothing costs a look-up.

    `present` are the triples that match a pattern.
    """

    def __init__(self) -> None:
        self.present: ChainMap[Triple, int] = ChainMap()
        # what inserts a triple and what retracts it, by predicate; under None by any other
        self.inserts: list[Routes] = []
        self.retracts: list[Routes] = []
        self.presences: list[GraphPresence] = []

    def add_routes(self) -> dict[Triple, int]:
        """Begin a set of routes. Return a place for the triples that go by them and match."""
        self.inserts.append({})
        self.retracts.append({})
        present: dict[Triple, int] = {}
        self.present.maps.append(present)
        return present

    def add_route(self, predicate: Term | None, insert: TakeTriple, retract: TakeTriple) -> None:
        """Send the triples with a predicate to functions that insert and retract them."""
        self.inserts[-1][predicate] = insert
        self.retracts[-1][predicate] = retract

    def insert(self, triple: Triple) -> None:
        """Insert a triple of an element that comes into the content. It changes the answer only if
        no other element has it. Raises NotCovered.
        """
        for presence in self.presences:
            presence.change(1)
        for routes in self.inserts:
            take = routes.get(triple[1]) or routes.get(None)
            if take is not None:
                take(triple)

    def retract(self, triple: Triple) -> None:
        """Retract a triple of an element that goes from the content. It changes the answer only if
        no other element has it. Raises NotCovered.
        """
        for presence in self.presences:
            presence.change(-1)
        for routes in self.retracts:
            take = routes.get(triple[1]) or routes.get(None)
            if take is not None:
                take(triple)


# GRAPH: its pattern, over each graph that the dataset may have and that the name fits


MOST_COPIES = 1_000  # of patterns in GRAPH, one for each graph


class MaintainedGraphPattern(MaintainedNode):
    """GRAPH: the solutions of its pattern over a named graph; with a variable over each, joined
    with the graph's name (SPARQL 1.1 §18.6).

    It keeps nothing. While a graph is not in the dataset, it has no solutions (R2R-8); unless the
    pattern `needs_triples`, this is asked. Raises NotCovered for a variable that the pattern binds
    to what is computed.
    """

    def __init__(self, child: MaintainedNode, name: Variable | Term, of_windows: bool) -> None:
        bound = [name.name] if isinstance(name, Variable) else []
        super().__init__(dict.fromkeys([*child.names, *bound]), {*child.certain, *bound})
        self.child = child
        self.name = name
        self.of_windows = of_windows

    def write(self, program: Program, take: Take) -> None:
        """Write a function of one graph, and call it for each graph that the name fits."""
        found = f"{program.call(graphs_found)}(body.graphs, {self.of_windows})"
        name = program.name("name")
        comment = f"R2R-8 GRAPH {show(self.name)}"
        with program.within("over", [name, "graph"], comment) as over:
            program.scope.append("body.count_copy()")

            def join_with_name(values: Values, count: Code) -> Statements:
                if isinstance(self.name, str):
                    return take(values, count)
                bound = values.get(self.name.name)
                merged = take({**values, self.name.name: name}, count)
                if bound is None:
                    return merged
                return when(f"{program.call(fits_name)}({bound}, {name})", merged)

            self.child.write(program, join_with_name)
            write_routes(program)
        called: Statements = [f"{over}({name}, named)"]
        if isinstance(self.name, str):
            called = when(f"{name} == {self.name!r}", called)
        program.scope += for_each(f"{name}, named", f"{found}.items()", called)


def fits_name(term: Term | None, name: Term) -> bool:
    """Return whether a graph's variable is unbound, or is the graph's name. Raises NotCovered for a
    computed term.
    """
    if isinstance(term, Computed):
        raise NotCovered("a computed term in place of a graph's name")
    return term is None or term == name


class MaintainedPresence(MaintainedNode):
    """Whether the graph that GRAPH is over is in the dataset: one solution without variables while
    it has a triple, and none while it is empty.
    """

    def __init__(self) -> None:
        super().__init__((), ())

    def write(self, program: Program, take: Take) -> None:
        """Write what the graph calls when it comes into the dataset, and when it leaves it."""
        emit = program.emitter("present", (), take, "R2R-8 the graph comes, or is empty again")
        program.scope.append(f"graph.presences.append({program.call(GraphPresence)}({emit}))")


class GraphPresence:
    """How many triples the elements in a graph have, matched by a pattern or not. It emits one
    solution while there are any.
    """

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
        self.count = 0

    def change(self, count: int) -> None:
        """Take the number of triples that come, negative for those that go."""
        was_present = self.count > 0
        self.count += count
        is_present = self.count > 0
        if is_present != was_present:
            self.emit((), 1 if is_present else -1)
