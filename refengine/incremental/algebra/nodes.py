"""§7 What all nodes of the maintained algebra share, and the nodes that answer each change from
itself alone, but for counts: FILTER, UNION, SELECT, VALUES, BIND, GRAPH, ASK and CONSTRUCT.

A node writes code into the module that its query is compiled to. Changes come from below, as
solutions with a count: +2 inserts a solution twice, -1 retracts it once. The code keeps what it
needs in order to say what they change above, and goes on there. Counts make bags right under joins
and projection (Gupta, Mumick, Subrahmanian, *Maintaining views incrementally*, SIGMOD 1993).

A computed number such as 2.0 has a value, but no fixed text. Whether it is the same term as another
2.0 has no single answer, unless both are computed exactly. So the maintained nodes compare terms by
text, and what is open is left to the SPARQL evaluator by a check of forms (R2R-13), before it comes
to them. Where they only store numbers, they tell them apart by their values, too: a rounded 2.0 and
an exact one have one text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from math import isfinite
from operator import itemgetter
from typing import Any, TypeVar

from refengine.incremental.algebra.code import (
    Code,
    Program,
    Statements,
    Take,
    Values,
    for_each,
    one_line,
    show,
    tuple_of,
    when,
)
from refengine.incremental.algebra.expressions import (
    Condition,
    compile_result,
    condition_on,
    number_of,
)
from refengine.incremental.coverage import NotCovered
from refengine.model.compare import TOLERANCE
from refengine.model.elements import Row, Term, Triple, row
from refengine.model.errors import NoSingleAnswer, require
from refengine.sparql import algebra
from refengine.sparql.algebra import (
    Call,
    Expression,
    Extend,
    Group,
    Pattern,
    TriplePattern,
    Variable,
    all_variables,
    conjuncts,
    walk,
    without_path,
)
from refengine.sparql.solutions import output
from refengine.sparql.values import FLOAT, Computed, Number, boolean

T = TypeVar("T", bound=Hashable)


def add_count(counts: Counter[T], item: T, count: int) -> int:
    """Add to an item's count, which may be or become negative; one of 0 is not stored.

    Return 1 if the item was absent and is present now, -1 if it was present and is absent now, and
    0 otherwise.
    """
    before = counts[item]
    if now := before + count:
        counts[item] = now
    else:
        del counts[item]
    return bool(now) - bool(before)


# The terms of a node's variables by slot; None is unbound
Solution = tuple[Term | None, ...]

# Takes a change: a solution (above the projection, a row), and by how much its count changes
Emit = Callable[[Any, int], None]

# From a tuple, a key for a dict: of several places a tuple of terms, of one place that term
PickKey = Callable[[Any], Any]


class MaintainedNode:
    """A node of the maintained algebra.

    `names` are the variables of its solutions by slot, `slots` the slot of each, and `certain`
    those that every solution binds. This one has no solutions.
    """

    def __init__(self, names: Iterable[str], certain: Iterable[str]) -> None:
        self.names = tuple(names)
        self.slots = {name: slot for slot, name in enumerate(self.names)}
        self.certain = frozenset(certain)

    def write(self, program: Program, take: Take) -> None:
        """Write the node and those below it. `take` writes what is done with its solutions, where
        they come. What is above is written first, and of several below the last one.
        """

    def solution(self, values: Values) -> Code:
        """Return the expression of a solution of this node, as a tuple by slot."""
        return tuple_of([values[name] for name in self.names])


def ask(program: Program, conditions: Sequence[Expression], values: Values) -> Code:
    """Return the expression of whether conditions hold of a solution; variables that it does not
    have are unbound. It raises NotCovered where the SPARQL evaluator has no single answer.
    """
    asked = {variable.name for part in conditions for variable in all_variables(part)}
    names = [name for name in values if name in asked]
    slots = {name: slot for slot, name in enumerate(names)}
    match conditions:
        case [Call("BOUND", (Variable(name),))] if name in values:
            return f"{values[name]} is not None"
        case [condition]:
            holds = condition_on(condition, slots)
        case _:
            holds = all_of([condition_on(part, slots) for part in conditions])
    return f"{program.give('holds', holds)}({tuple_of([values[name] for name in names])})"


def all_of(conditions: Sequence[Condition]) -> Condition:
    """Return whether all of some conditions hold. One that is false decides. Those after an error
    are asked: one without a single answer leaves the whole without (R2R-11).
    """

    def all_hold(terms: Sequence[Term | None]) -> bool:
        has_error = False
        for condition in conditions:
            holds = condition(terms)
            if holds is False:
                return False
            has_error |= holds is None
        return not has_error

    return all_hold


class PassingNode(MaintainedNode):
    """A node that answers each change of its child from itself alone, in place. Its solutions are
    as its child's, unless other names are given.
    """

    def __init__(
        self,
        child: MaintainedNode,
        names: Iterable[str] | None = None,
        certain: Iterable[str] | None = None,
    ) -> None:
        super().__init__(
            child.names if names is None else names, child.certain if certain is None else certain
        )
        self.child = child

    def write(self, program: Program, take: Take) -> None:
        """Write what is below, and in it what is done with its solutions."""
        self.child.write(program, partial(self.pass_on, program, take))

    def pass_on(self, program: Program, take: Take, values: Values, count: Code) -> Statements:
        """Return what is done with a solution of the child."""
        raise NotImplementedError


class ObjectNode(MaintainedNode):
    """A node whose module calls an object: of each body its own, which `make` makes of the function
    that it emits solutions by. Its method `change` takes the solutions of the child. If it has
    `flush`, this emits what waits until the content is complete.
    """

    def __init__(
        self,
        make: Callable[[Emit], Any],
        child: MaintainedNode,
        names: Iterable[str],
        certain: Iterable[str],
        comment: str,
    ) -> None:
        super().__init__(names, certain)
        self.make = make
        self.child = child
        self.comment = comment

    def write(self, program: Program, take: Take) -> None:
        """Write the object, and then what is below."""
        change = f"{self.write_object(program, take)}.change"
        self.child.write(
            program, lambda values, count: [f"{change}({self.child.solution(values)}, {count})"]
        )

    def give_make(self, program: Program) -> Code:
        """Give the module what makes the object, by the name of its class. Return the name."""
        return program.give(getattr(self.make, "func", self.make).__name__, self.make)

    def write_object(self, program: Program, take: Take) -> Code:
        """Write the object. Return its name."""
        emit = program.emitter("emit", self.names, take, f"Take a solution of {self.comment}")
        made = program.keep("node", f"{self.give_make(program)}({emit})", self.comment)
        program.scope.append(f"body.add({made})")
        return made


def pick_key(places: tuple[int, ...]) -> PickKey:
    """Return what picks some places of a tuple, as a key: (1, 2) of ("a", "b", "c") is ("b", "c"),
    and (1,) of it is "b".
    """
    if not places:
        return lambda terms: ()
    return itemgetter(*places)


def pick_terms(places: tuple[int, ...]) -> Callable[[Solution], Solution]:
    """Return what picks some places of a solution, always as a tuple: (1,) of ("a", "b", "c") is
    ("b",).
    """
    if len(places) == 1:
        (place,) = places
        return lambda solution: (solution[place],)
    return pick_key(places)


# Computed numbers where it matters which terms are the same: in joins, keys, DISTINCT


class NumberByValue(Computed):
    """A computed number that is equal to another one of the same text and the same value alone."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Computed) and str(self) == str(other) and self.number == other.number
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))


class NumberForms:
    """The numbers that a variable has now, by datatype and value, each with its forms: its terms,
    and whether they are computed.
    """

    def __init__(self) -> None:
        self.forms: dict[tuple[int, Any], Counter[tuple[Term, bool]]] = {}

    def change(self, term: Term, count: int) -> None:
        """Note that a term comes so many times, or goes if the count is negative. A term that is no
        number changes nothing.

        Raises NotCovered if a number is rounded or not finite, and if it has several forms of which
        one is computed.
        """
        number = _number_of_any(term)
        if number is None:
            return
        if number.slack:
            raise NotCovered("a rounded number that decides which solutions are the same")
        key = (number.rank, number.value)
        forms = self.forms.setdefault(key, Counter())
        add_count(forms, (term, isinstance(term, Computed)), count)
        if not forms:
            del self.forms[key]
        if len(forms) > 1 and any(is_computed for _, is_computed in forms):
            raise NotCovered("the lexical form of a computed number")


def _number_of_any(term: Term) -> Number | None:
    """Return the number of a term, computed or not. Raises NotCovered for NaN and infinities."""
    return check_finite(term.number) if isinstance(term, Computed) else number_of(term)


def check_finite(number: Number) -> Number:
    """Return a number. Raises NotCovered for NaN and infinities."""
    if not isfinite(number.value):
        raise NotCovered(f"the number {number.value}")
    return number


class MaintainedFormCheck(PassingNode):
    """A check of a node's solutions before other nodes store them: of the numbers of the variables
    that are compared. From here on computed numbers are told apart by their values.

    `forms` are the names of what is kept of each variable that is compared; several nodes may share
    them. It keeps a count for each number; a change costs a look-up for each variable.
    """

    def __init__(
        self, child: MaintainedNode, compared: Iterable[str], forms: dict[str, Code]
    ) -> None:
        super().__init__(child)
        self.compared = [name for name in compared if name in self.slots]
        self.forms = forms

    def write(self, program: Program, take: Take) -> None:
        """Write what is kept, and what is below."""
        for name in self.compared:
            if name not in self.forms:
                new = f"{program.call(NumberForms)}()"
                self.forms[name] = program.keep("forms", new, f"R2R-13 the numbers of ?{name}")
        super().write(program, take)

    def pass_on(self, program: Program, take: Take, values: Values, count: Code) -> Statements:
        """Return the checks."""
        statements: Statements = []
        for name in self.compared:
            term = values[name]
            change = f"{self.forms[name]}.change({term}, {count})"
            statements += when(f"{term} is not None", [change])
        apart = program.locals(self.names, values.values())
        for name, own in apart.items():
            statements.append(f"{own} = {program.call(tell_apart)}({values[name]})")
        return [*statements, *take(apart, count)]


class MaintainedPlainTerms(PassingNode):
    """The solutions of a node in which some variables have plain terms. Raises NotCovered for one
    that has a computed number: what such a number matches has no single answer.
    """

    def __init__(self, child: MaintainedNode, names: Iterable[str]) -> None:
        super().__init__(child)
        self.checked = sorted(names)

    def pass_on(self, program: Program, take: Take, values: Values, count: Code) -> Statements:
        """Return the check."""
        terms = ", ".join([values[name] for name in self.checked])
        return [f"{program.call(refuse_computed)}({terms})", *take(values, count)]


def refuse_computed(*terms: Term | None) -> None:
    """Raise NotCovered if a computed number is among the terms of an outer solution of EXISTS."""
    if any(isinstance(term, Computed) for term in terms):
        raise NotCovered("a computed number within EXISTS")


def tell_apart(term: Term | None) -> Term | None:
    """Return a term; a computed number as one that is told apart by its value. Raises NotCovered
    for NaN and infinities.
    """
    if not isinstance(term, Computed) or isinstance(term, NumberByValue):
        return term
    return NumberByValue(str(term), check_finite(term.number))


def may_compute(pattern: Pattern) -> bool:
    """Return whether solutions of a pattern may have computed numbers: through BIND, or through an
    aggregate or a key.
    """
    for node in walk(pattern):
        if isinstance(node, Group):
            if node.aggregates or any(isinstance(part, Call) for _, part in node.keys or ()):
                return True
        elif isinstance(node, Extend) and any(isinstance(part, Call) for _, part in node.bindings):
            return True
    return False


def check_forms(nodes: Sequence[MaintainedNode], names: Iterable[str]) -> list[MaintainedNode]:
    """Return nodes whose solutions are equal by text where they are the same, as far as some
    variables go. What is not so raises NotCovered when it comes.
    """
    compared = list(names)
    forms: dict[str, Code] = {}
    return [MaintainedFormCheck(node, compared, forms) for node in nodes]


def check_operands(
    nodes: Sequence[MaintainedNode], patterns: Iterable[Pattern]
) -> Sequence[MaintainedNode]:
    """Return the operands of a join, which compares the variables that several of them have.
    Operands that compute nothing stay as they are.
    """
    if not any(map(may_compute, patterns)):
        return nodes
    holders = Counter(name for node in nodes for name in node.names)
    return check_forms(nodes, [name for name, count in holders.items() if count > 1])


# FILTER, UNION and SELECT


# A float or a double is an answer if its slack is no greater than this, relatively. The SPARQL
# evaluator allows for more, and computes that with fractions, which takes long.
SURELY_SHOWN = TOLERANCE["double"]


class MaintainedFilter(PassingNode):
    """FILTER over anything but a basic graph pattern, and HAVING."""

    def __init__(self, child: MaintainedNode, expression: Expression) -> None:
        super().__init__(child)
        self.expression = expression

    def pass_on(self, program: Program, take: Take, values: Values, count: Code) -> Statements:
        """Return the filter, and what is under it."""
        holds = ask(program, list(conjuncts(self.expression)), values)
        comment = one_line(f"R2R-11 FILTER({show(self.expression)})")
        return [f"# {comment}", *when(holds, take(values, count))]


class MaintainedUnion(MaintainedNode):
    """UNION: the solutions of all parts. What a part does not name is unbound."""

    def __init__(self, parts: Sequence[MaintainedNode]) -> None:
        names = dict.fromkeys(name for part in parts for name in part.names)
        certain = frozenset.intersection(*(part.certain for part in parts))
        super().__init__(names, certain)
        self.parts = parts

    def write(self, program: Program, take: Take) -> None:
        """Write what takes the solutions of all parts, then the parts."""
        call = program.shared("united", self.names, take, "UNION: a solution of any part")
        for part in reversed(self.parts):
            part.write(program, call)


class MaintainedProjection(PassingNode):
    """SELECT: rows of some of the variables, under DISTINCT each once.

    With `is_computed` a solution may have computed numbers, of which a row has the terms alone.
    Raises NotCovered for one that is rounded so far that it is no answer.
    """

    counts: Code  # the name of how often each row is there

    def __init__(
        self,
        child: MaintainedNode,
        names: Sequence[str],
        is_distinct: bool,
        is_computed: bool = False,
    ) -> None:
        super().__init__(child, names, ())
        self.is_distinct = is_distinct
        self.is_computed = is_computed

    def write(self, program: Program, take: Take) -> None:
        """Write what is kept, and what is below."""
        if self.is_distinct:
            new = f"{program.call(Counter)}()"
            self.counts = program.keep("rows", new, "R2R-2 DISTINCT: how often each row is there")
        super().write(program, take)

    def pass_on(self, program: Program, take: Take, values: Values, count: Code) -> Statements:
        """Return what makes the row, and passes it to `change`."""
        made: Statements = ["# R2R-2 SELECT: the row"]
        made.append(f"row = {self._row(program, values)}")
        if not self.is_distinct:
            return [*made, f"change(row, {count})"]
        made.append(f"presence = {program.call(add_count)}({self.counts}, row, {count})")
        return [*made, *when("presence", ["change(row, presence)"])]

    def _row(self, program: Program, values: Values) -> Code:
        """Return the expression of a row: its cells by name. A variable may be selected twice."""
        names = [name for name in sorted(set(self.names)) if name in values]
        cells = []
        for name in names:
            term = values[name]
            if self.is_computed:
                term = f"{program.call(as_shown)}({term})"
            cells.append(f"({name!r}, {term})")
        if self.child.certain.issuperset(names):
            return tuple_of(cells)
        return f"tuple([cell for cell in {tuple_of(cells)} if cell[1] is not None])"


def as_shown(term: Term | None) -> Term | None:
    """Return a term as an answer shows it; None stays None. Raises NotCovered for a number that is
    rounded so far that it is no answer.
    """
    if term is None or not isinstance(term, Computed):
        return term
    rank, value, slack, _ = term.number
    if rank >= FLOAT and slack <= SURELY_SHOWN * abs(float(value)):
        return str(term)
    try:
        return output(term)
    except NoSingleAnswer as error:
        raise NotCovered(error.reason) from None


# VALUES and the empty graph pattern


EMPTY_PATTERN = algebra.Values((), ((),))  # one solution, which binds nothing


class MaintainedValues(MaintainedNode):
    """VALUES: its rows as solutions, which are emitted once, before any triple comes. UNDEF leaves
    its variable unbound.
    """

    def __init__(self, values: algebra.Values) -> None:
        names = [variable.name for variable in values.variables]
        columns = zip(*values.rows, strict=True)
        undefined = {name for name, terms in zip(names, columns, strict=False) if None in terms}
        super().__init__(names, set(names) - undefined)
        self.rows = values.rows

    def write(self, program: Program, take: Take) -> None:
        """Write a loop over the rows."""
        emit = program.emitter("emit", self.names, take, "Take a row of VALUES")
        rows = program.give("rows", self.rows)
        program.scope += for_each("solution", rows, [f"{emit}(solution, 1)"])


# BIND and `AS`


class MaintainedExtend(PassingNode):
    """Extend: each solution with the results of expressions in new slots, one after the other. An
    error leaves its variable unbound.

    Nothing is kept: a change is answered from itself alone, and a solution that goes is extended
    once more. Raises NotCovered for a binding of a variable that is there already. Its code raises
    what `compile_result` raises.
    """

    def __init__(
        self, child: MaintainedNode, bindings: Sequence[tuple[Variable, Expression]]
    ) -> None:
        names = list(child.names)
        certain = set(child.certain)
        for variable, expression in bindings:
            if variable.name in names:
                raise NotCovered(f"?{variable.name}, which is bound twice")
            names.append(variable.name)
            if _is_always_bound(expression, certain):
                certain.add(variable.name)
        super().__init__(child, names, certain)
        self.bindings = bindings

    def pass_on(self, program: Program, take: Take, values: Values, count: Code) -> Statements:
        """Return the bindings, one after the other."""
        extended = dict(values)
        statements: Statements = []
        for variable, expression in self.bindings:
            own = program.local(variable.name, extended.values())
            statements += [
                f"# {one_line(f'R2R-11 {show(expression)} AS ?{variable.name}')}",
                f"{own} = {compute(program, expression, extended)}",
            ]
            extended[variable.name] = own
        return [*statements, *take(extended, count)]


def compute(program: Program, expression: Expression, values: Values) -> Code:
    """Return the expression of an expression's result for a solution."""
    asked = {variable.name for variable in all_variables(expression)}
    names = [name for name in values if name in asked]
    if isinstance(expression, Variable) and names:
        return values[expression.name]
    slots = {name: slot for slot, name in enumerate(names)}
    result = program.give("result", compile_result(expression, slots))
    return f"{result}({tuple_of([values[name] for name in names])})"


def _is_always_bound(expression: Expression, certain: set[str]) -> bool:
    """Return whether an expression surely gives a term: a constant, or a variable that is bound."""
    if isinstance(expression, Variable):
        return expression.name in certain
    return isinstance(expression, str)


# SELECT within a pattern


class MaintainedSelection(PassingNode):
    """SELECT within a pattern: solutions of some of the variables. It keeps nothing."""

    def __init__(self, child: MaintainedNode, names: Sequence[str]) -> None:
        super().__init__(child, dict.fromkeys(names), child.certain.intersection(names))

    def pass_on(self, program: Program, take: Take, values: Values, count: Code) -> Statements:
        """Return nothing more: what is above gets these variables alone."""
        return take({name: values.get(name, "None") for name in self.names}, count)


class MaintainedDistinct(PassingNode):
    """DISTINCT within a pattern: each solution once. It keeps how often each is there. A change
    costs a look-up.
    """

    counts: Code  # the name of how often each solution is there

    def write(self, program: Program, take: Take) -> None:
        """Write what is kept, and what is below."""
        comment = "R2R-2 DISTINCT: how often each solution is there"
        self.counts = program.keep("solutions", f"{program.call(Counter)}()", comment)
        super().write(
            program, program.shared("once", self.names, take, "Take a solution under DISTINCT")
        )

    def pass_on(self, program: Program, take: Take, values: Values, count: Code) -> Statements:
        """Return what counts a solution, and what is done where it comes or goes."""
        solution = self.solution(values)
        add = f"presence = {program.call(add_count)}({self.counts}, {solution}, {count})"
        return [add, *when("presence", take(values, "presence"))]


def needs_triples(pattern: Pattern) -> bool:
    """Return whether a pattern surely has no solution over an empty active graph.

    Of `OPTIONAL` the left side counts; VALUES, a path of length zero and an aggregate without keys
    have solutions over nothing; so may GRAPH, whose graph is another.
    """
    match pattern:
        case algebra.Basic(triples):
            return any(isinstance(triple.predicate, Variable | str) for triple in triples)
        case algebra.Join(parts):
            return any(map(needs_triples, parts))
        case algebra.Union(parts):
            return all(map(needs_triples, parts))
        case algebra.LeftJoin(inner, _, _) | algebra.Minus(inner, _):
            return needs_triples(inner)
        case algebra.Filter(_, inner) | algebra.Extend(inner, _) | algebra.Project(inner, _):
            return needs_triples(inner)
        case algebra.Distinct(inner) | algebra.Reduced(inner) | algebra.OrderBy(inner, _):
            return needs_triples(inner)
        case algebra.Slice(inner, _, _):
            return needs_triples(inner)
        case algebra.Group(inner, keys, _):
            return keys is not None and needs_triples(inner)
        case algebra.Values() | algebra.Graph():
            return False


# ASK and CONSTRUCT


# A place of a template: the slot of its variable (None: of one that is never bound), or its term
Place = tuple[int | None, Term | None]


def maintain_ask(child: MaintainedNode, offset: int = 0, is_cut: bool = False) -> ObjectNode:
    """Return the node of ASK over a node's solutions."""
    make = partial(RunningAsk, offset=offset, is_cut=is_cut)
    return AnswerObject(make, child, ("ask",), ("ask",), "R2R-3 ASK")


class AnswerObject(ObjectNode):
    """A node at the top whose object makes rows."""

    def write_object(self, program: Program, take: Take) -> Code:
        """Write the object, which passes its rows to `change`. Return its name."""
        return program.keep("answer", f"{self.give_make(program)}(change)", self.comment)


class RunningAsk:
    """ASK: one row, whether there is a solution (R2R-3), or more than `offset` of them. With
    `is_cut` LIMIT 0 leaves none.

    It keeps the number of solutions, and begins with the row of none. A change costs the same
    whatever that number is.
    """

    def __init__(self, emit: Emit, offset: int, is_cut: bool) -> None:
        self.emit = emit
        self.offset = offset
        self.is_cut = is_cut
        self.total = 0
        emit(ask_row(False), 1)

    def change(self, solution: Solution, count: int) -> None:
        """Take a solution that comes or goes."""
        before = self._holds()
        self.total += count
        now = self._holds()
        if now is not before:
            self.emit(ask_row(before), -1)
            self.emit(ask_row(now), 1)

    def _holds(self) -> bool:
        return self.total > self.offset and not self.is_cut


def ask_row(holds: bool) -> Row:
    """Return ASK's row."""
    return row({"ask": boolean(holds)})


def maintain_construct(
    child: MaintainedNode, template: Sequence[TriplePattern], is_computed: bool
) -> ObjectNode:
    """Return the node of CONSTRUCT over a node's solutions. With `is_computed` these may have
    computed numbers.
    """
    places = [tuple(_place(part, child) for part in without_path(triple)) for triple in template]
    make = partial(RunningConstruct, template=places, is_computed=is_computed)
    return AnswerObject(make, child, TRIPLE, (), "R2R-4 CONSTRUCT")


TRIPLE = ("subject", "predicate", "object")


class RunningConstruct:
    """CONSTRUCT: the set of the triples that the template makes of the solutions (R2R-4), a row
    each.

    It keeps for each triple how often it is made. A change costs the triples of one solution. The
    template has no blank nodes. What is no triple of RDF is left out, and so is one with an unbound
    variable. Raises NotCovered where it is open whether two triples are the same.
    """

    def __init__(
        self, emit: Emit, template: Sequence[tuple[Place, ...]], is_computed: bool
    ) -> None:
        self.emit = emit
        self.template = template
        self.forms: NumberForms | None = None
        if is_computed:
            self.forms = NumberForms()
        self.counts: Counter[Triple] = Counter()

    def change(self, solution: Solution, count: int) -> None:
        """Take a solution that comes or goes."""
        for places in self.template:
            subject, predicate, object_ = [
                term if slot is None else solution[slot] for slot, term in places
            ]
            if subject is not None and predicate is not None and object_ is not None:
                self._change_triple((subject, predicate, object_), count)

    def _change_triple(self, triple: Triple, count: int) -> None:
        """Add to the count of a triple, and emit it if it comes or goes."""
        if self.forms is not None:
            for term in triple:
                self.forms.change(term, count)
        subject, predicate, object_ = triple
        if subject.startswith('"') or not predicate.startswith("<"):
            return
        change = add_count(self.counts, triple, count)
        if change:
            shown = (subject, predicate, require(as_shown(object_)))
            self.emit(row(zip(TRIPLE, shown, strict=True)), change)


def _place(part: Variable | Term, child: MaintainedNode) -> Place:
    if isinstance(part, Variable):
        return child.slots.get(part.name), None
    return None, part
