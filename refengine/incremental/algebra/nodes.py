"""§7 What all nodes of the maintained algebra share, and the nodes that answer each change from
itself alone, but for counts: FILTER, UNION, SELECT, VALUES, BIND, GRAPH, ASK and CONSTRUCT.

A node receives changes from below, as solutions with a count: +2 inserts a solution twice, -1
retracts it once. It keeps what it needs in order to say what they change above, and emits that.
Counts make bags right under joins and projection (Gupta, Mumick, Subrahmanian, *Maintaining views
incrementally*, SIGMOD 1993).

A computed number such as 2.0 has a value, but no fixed text. Whether it is the same term as another
2.0 has no single answer, unless both are computed exactly. So the maintained nodes compare terms by
text, and what is open is left to the SPARQL evaluator by a check of forms (R2R-13), before it comes
to them. Where they only store numbers, they tell them apart by their values, too: a rounded 2.0 and
an exact one have one text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from math import isfinite
from operator import itemgetter
from typing import Any, TypeVar

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
    Values,
    Variable,
    conjuncts,
    visible,
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

# Key -> what is stored under it, each once, in the order in which it came
Index = dict[Any, dict[Any, None]]

# From a key what is stored under it; None if there is nothing
LookUp = Callable[[Any], Iterable[Any] | None]


class MaintainedNode:
    """A node of the maintained algebra.

    `names` are the variables of its solutions by slot, `slots` the slot of each, and `certain`
    those that every solution binds. Whoever is above sets `emit`.
    """

    def __init__(self, names: Sequence[str], certain: Iterable[str]) -> None:
        self.names = tuple(names)
        self.slots = {name: slot for slot, name in enumerate(self.names)}
        self.certain = frozenset(certain)
        self.emit: Emit

    def flush(self) -> None:
        """Emit what waits until the content is complete; of most nodes nothing does. Raises
        NotCovered.
        """

    def condition(self, expression: Expression) -> Condition:
        """Return an expression as a condition on this node's solutions; variables that it does not
        have are unbound. It raises NotCovered where the SPARQL evaluator has no single answer.
        """
        return condition_on(expression, self.slots)


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


class MaintainedFormCheck(MaintainedNode):
    """A check of a node's solutions before other nodes store them: of the numbers of the variables
    that are compared. From here on computed numbers are told apart by their values.

    `forms` are those of each variable that is compared, which several nodes may share. It keeps a
    count for each number; a change costs a look-up for each variable.
    """

    def __init__(self, child: MaintainedNode, forms: dict[str, NumberForms]) -> None:
        super().__init__(child.names, child.certain)
        self.checks = [(self.slots[name], own) for name, own in forms.items() if name in self.slots]
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        for slot, forms in self.checks:
            term = solution[slot]
            if term is not None:
                forms.change(term, count)
        if any(isinstance(term, Computed) for term in solution):
            solution = tuple(map(tell_apart, solution))
        self.emit(solution, count)


class MaintainedPlainTerms(MaintainedNode):
    """The solutions of a node in which some variables have plain terms. Raises NotCovered for one
    that has a computed number: what such a number matches has no single answer.
    """

    def __init__(self, child: MaintainedNode, names: Iterable[str]) -> None:
        super().__init__(child.names, child.certain)
        self.checked = [self.slots[name] for name in sorted(names)]
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        if any(isinstance(solution[slot], Computed) for slot in self.checked):
            raise NotCovered("a computed number within EXISTS")
        self.emit(solution, count)


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
    forms = {name: NumberForms() for name in names}
    return [MaintainedFormCheck(node, forms) for node in nodes]


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


class MaintainedFilter(MaintainedNode):
    """FILTER over anything but a basic graph pattern, and HAVING."""

    def __init__(self, child: MaintainedNode, expression: Expression) -> None:
        super().__init__(child.names, child.certain)
        self.conditions = [self.condition(part) for part in conjuncts(expression)]
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        has_error = False
        for condition in self.conditions:
            holds = condition(solution)
            if holds is False:
                return
            # The parts after an error are asked, too: one that is false decides, and one without a
            # single answer leaves the whole without (R2R-11).
            has_error |= holds is None
        if not has_error:
            self.emit(solution, count)


class MaintainedUnion(MaintainedNode):
    """UNION: the solutions of all parts. What a part does not name is unbound."""

    def __init__(self, parts: Sequence[MaintainedNode]) -> None:
        names = dict.fromkeys(name for part in parts for name in part.names)
        certain = frozenset.intersection(*(part.certain for part in parts))
        super().__init__(list(names), certain)
        for part in parts:
            part.emit = self._widen(part)

    def _widen(self, part: MaintainedNode) -> Emit:
        """Return what takes a part's solutions, and emits them with the union's slots."""
        if part.names == self.names:
            return lambda solution, count: self.emit(solution, count)
        places = [part.slots.get(name) for name in self.names]

        def emit_widened(solution: Solution, count: int) -> None:
            widened = [None if place is None else solution[place] for place in places]
            self.emit(tuple(widened), count)

        return emit_widened


class MaintainedProjection(MaintainedNode):
    """SELECT: rows of some of the variables, under DISTINCT each once.

    With `is_computed` a solution may have computed numbers, of which a row has the terms alone.
    Raises NotCovered for one that is rounded so far that it is no answer.
    """

    def __init__(
        self,
        child: MaintainedNode,
        names: Sequence[str],
        is_distinct: bool,
        is_computed: bool = False,
    ) -> None:
        super().__init__(names, ())
        self.child = child
        self.is_distinct = is_distinct
        # the rows' cells, by name (a variable may be selected twice)
        self.cells: list[tuple[str, int]] = []
        for name in sorted(set(names)):
            slot = child.slots.get(name)
            if slot is not None:
                self.cells.append((name, slot))
        self.counts: Counter[Row] = Counter()
        child.emit = self._change_computed if is_computed else self._change

    def _change(self, solution: Solution, count: int) -> None:
        row = tuple(
            [(name, term) for name, slot in self.cells if (term := solution[slot]) is not None]
        )
        if self.is_distinct:
            count = add_count(self.counts, row, count)
        if count:
            self.emit(row, count)

    def _change_computed(self, solution: Solution, count: int) -> None:
        shown = list(solution)
        for _, slot in self.cells:
            shown[slot] = as_shown(solution[slot])
        self._change(tuple(shown), count)


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


EMPTY_PATTERN = Values((), ((),))  # one solution, which binds nothing


class MaintainedValues(MaintainedNode):
    """VALUES: its rows as solutions, which are emitted once, before any triple comes. UNDEF leaves
    its variable unbound.
    """

    def __init__(self, values: Values) -> None:
        names = [variable.name for variable in values.variables]
        columns = zip(*values.rows, strict=True)
        undefined = {name for name, terms in zip(names, columns, strict=False) if None in terms}
        super().__init__(names, set(names) - undefined)
        self.rows = values.rows

    def emit_rows(self) -> None:
        """Emit every row. To be called once, when the whole tree is there."""
        for solution in self.rows:
            self.emit(solution, 1)


# BIND and `AS`


class MaintainedExtend(MaintainedNode):
    """Extend: each solution with the results of expressions in new slots, one after the other. An
    error leaves its variable unbound.

    Nothing is kept: a change is answered from itself alone, and a solution that goes is extended
    once more. Raises NotCovered for a binding of a variable that is there already, and what
    `compile_result` raises.
    """

    def __init__(
        self, child: MaintainedNode, bindings: Sequence[tuple[Variable, Expression]]
    ) -> None:
        names = list(child.names)
        certain = set(child.certain)
        self.results = []
        for variable, expression in bindings:
            if variable.name in names:
                raise NotCovered(f"?{variable.name}, which is bound twice")
            slots = {name: slot for slot, name in enumerate(names)}
            self.results.append(compile_result(expression, slots))
            names.append(variable.name)
            if _is_always_bound(expression, certain):
                certain.add(variable.name)
        super().__init__(names, certain)
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        terms: list[Term | None] = [*solution]
        for result in self.results:
            terms.append(result(terms))
        self.emit(tuple(terms), count)


def _is_always_bound(expression: Expression, certain: set[str]) -> bool:
    """Return whether an expression surely gives a term: a constant, or a variable that is bound."""
    if isinstance(expression, Variable):
        return expression.name in certain
    return isinstance(expression, str)


# SELECT within a pattern


class MaintainedSelection(MaintainedNode):
    """SELECT within a pattern: solutions of some of the variables. It keeps nothing, and answers
    each change from itself alone.
    """

    def __init__(self, child: MaintainedNode, names: Sequence[str]) -> None:
        super().__init__(tuple(dict.fromkeys(names)), child.certain.intersection(names))
        self.places = [child.slots.get(name) for name in self.names]
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        selected = [None if place is None else solution[place] for place in self.places]
        self.emit(tuple(selected), count)


class MaintainedDistinct(MaintainedNode):
    """DISTINCT within a pattern: each solution once. It keeps how often each is there. A change
    costs a look-up.
    """

    def __init__(self, child: MaintainedNode) -> None:
        super().__init__(child.names, child.certain)
        self.counts: Counter[Solution] = Counter()
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
        if change := add_count(self.counts, solution, count):
            self.emit(solution, change)


# GRAPH: with a variable, a copy of the pattern over each graph that the dataset may have


MOST_COPIES = 1_000  # of patterns in GRAPH, one for each graph


class MaintainedGraphName(MaintainedNode):
    """GRAPH with a variable, over one graph: the solutions of its pattern, joined with the graph's
    name (SPARQL 1.1 §18.6).

    It keeps nothing. Raises NotCovered for a variable that the pattern binds to what is computed.
    """

    def __init__(self, child: MaintainedNode, variable: str, name: Term) -> None:
        names = dict.fromkeys([*child.names, variable])
        super().__init__(list(names), {*child.certain, variable})
        self.name = name
        self.slot = self.slots[variable]
        child.emit = self._merge if variable in child.slots else self._append

    def _append(self, solution: Solution, count: int) -> None:
        """Add the name to a solution whose pattern does not have the variable."""
        self.emit((*solution, self.name), count)

    def _merge(self, solution: Solution, count: int) -> None:
        """Bind the variable where it is unbound, and drop a solution that binds it to another
        term.
        """
        bound = solution[self.slot]
        if isinstance(bound, Computed):
            raise NotCovered("a computed term in place of a graph's name")
        if bound is None:
            solution = (*solution[: self.slot], self.name, *solution[self.slot + 1 :])
        elif bound != self.name:
            return
        self.emit(solution, count)


def no_solutions(pattern: Pattern) -> MaintainedNode:
    """Return a node with the variables of a pattern that never emits a solution."""
    names = visible(pattern)
    return MaintainedNode(list(names), names)


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


class MaintainedAsk(MaintainedNode):
    """ASK: one row, whether there is a solution (R2R-3), or more than `offset` of them. With
    `is_cut` LIMIT 0 leaves none.

    It keeps the number of solutions. A change costs the same whatever that is.
    """

    def __init__(self, child: MaintainedNode, offset: int = 0, is_cut: bool = False) -> None:
        super().__init__(("ask",), ("ask",))
        self.offset = offset
        self.is_cut = is_cut
        self.total = 0
        child.emit = self._change

    def emit_first(self) -> None:
        """Emit the row of no solutions. To be called once, before any solution comes."""
        self.emit(ask_row(False), 1)

    def _change(self, solution: Solution, count: int) -> None:
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


class MaintainedConstruct(MaintainedNode):
    """CONSTRUCT: the set of the triples that the template makes of the solutions (R2R-4), a row
    each.

    It keeps for each triple how often it is made. A change costs the triples of one solution. The
    template has no blank nodes. What is no triple of RDF is left out, and so is one with an unbound
    variable. With `is_computed` a solution may have computed numbers. Raises NotCovered where it is
    open whether two triples are the same.
    """

    def __init__(
        self, child: MaintainedNode, template: Sequence[TriplePattern], is_computed: bool
    ) -> None:
        super().__init__(("subject", "predicate", "object"), ())
        self.template = [
            tuple(_place(part, child) for part in without_path(triple)) for triple in template
        ]
        self.forms: NumberForms | None = None
        if is_computed:
            self.forms = NumberForms()
        self.counts: Counter[Triple] = Counter()
        child.emit = self._change

    def _change(self, solution: Solution, count: int) -> None:
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
            self.emit(row(zip(self.names, shown, strict=True)), change)


def _place(part: Variable | Term, child: MaintainedNode) -> Place:
    if isinstance(part, Variable):
        return child.slots.get(part.name), None
    return None, part
