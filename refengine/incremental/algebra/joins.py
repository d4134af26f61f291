"""§7 Join, OPTIONAL, MINUS and EXISTS, maintained: each side is stored by its keys, so that a
change on one side finds its partners on the other, the solutions that bind no variable of both
sides to another term (SPARQL 1.1 §18.3).

The terms of the shared variables are a solution's key. Where both sides always bind these, the
partners of a key are what the other side has under the same key. An unbound variable is compatible
with any term, so that a key with one is compatible with several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from refengine.incremental.algebra.code import (
    Code,
    Program,
    Statements,
    Take,
    Values,
    for_each,
    key_of,
    otherwise,
    tuple_of,
    when,
)
from refengine.incremental.algebra.nodes import (
    Emit,
    MaintainedNode,
    Solution,
    add_count,
    ask,
    pick_key,
)
from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import single
from refengine.sparql.algebra import Call, Expression, Variable, conjuncts
from refengine.sparql.values import (
    DOUBLE,
    FLOAT,
    Computed,
    Number,
    StringValue,
    as_binary,
    boolean,
    value_of,
)

# Joins that are written as an equality, FILTER(?x = ?z): keys under which equal values meet.
# `=` compares values: 1 and 1.0 are equal though they are two terms (R2R-12). A key only says which
# pairs may be equal. The filter itself is asked of each of these.


UNBOUND = ("unbound",)  # an equality with an unbound variable is an error
RESOURCE, NUMBER, STRING, BOOLEAN = range(4)


def equality_key(term: Term | None) -> Hashable | None:
    """Return a key of a term, so that two terms with different keys are surely not equal by `=`:
    that is false or an error for them, and has no other answer (QRY-3). Return None for a term of
    which that is not known: it may be equal to any other.

    Numbers are compared as floats if one of them is a float and the other no double. So the key of
    a number is the float that is nearest to it. Rounded to a double first, it may come to another
    float: then it has no key.
    """
    if term is None:
        return UNBOUND
    if isinstance(term, Computed):
        return _key_of_number(term.number)
    return _key_of_term(term)


@lru_cache(maxsize=2**16)
def _key_of_term(term: Term) -> Hashable | None:
    if not term.startswith('"'):
        return RESOURCE, term
    try:
        value = value_of(term)
    except NoSingleAnswer:
        return None
    match value:
        case Number():
            return _key_of_number(value)
        case StringValue():
            return STRING, value
        case bool():
            return BOOLEAN, value
        case _:
            return None  # dateTimes may lack a zone; other types may have operators


def _key_of_number(number: Number) -> Hashable | None:
    exact = number.value
    if number.slack or exact != exact:
        return None
    nearest = single(as_binary(number, FLOAT))
    if nearest != single(as_binary(number, DOUBLE)):
        return None
    return NUMBER, nearest


def equalities(condition: Expression | None) -> Iterator[tuple[str, str]]:
    """Yield the two variables of each equality that must hold where a condition does:
    (x, z) of `?x = ?z && …`.
    """
    if condition is None:
        return
    for part in conjuncts(condition):
        match part:
            case Call("=", (Variable(one), Variable(other))):
                yield one, other


def equalities_between(
    condition: Expression | None, left: MaintainedNode, right: MaintainedNode
) -> list[tuple[str, str]]:
    """Return the equalities of a condition between a variable that only the left side of a join
    has, and one that only its right side has, in this order.
    """
    found = []
    for one, other in equalities(condition):
        for x, z in ((one, other), (other, one)):
            is_between = x in left.slots and z in right.slots
            if is_between and x not in right.slots and z not in left.slots:
                found.append((x, z))
    return found


def equal_names(conditions: Iterable[Expression], slots: Mapping[str, int]) -> Equalities:
    """Return the variables that are equal by value where some conditions hold, each pair in either
    order. A variable without a slot is unbound, and equal to nothing.
    """
    found = [pair for condition in conditions for pair in equalities(condition)]
    pairs = [pair for pair in found if slots.keys() >= {*pair}]
    return pairs + [(other, one) for one, other in pairs]


def look_up_value(index: Mapping[Any, Iterable[Any]], key: Hashable | None) -> Iterable[Any]:
    """Look up in an index what may be equal to a value, by its equality key: what is stored under
    the same key, and what is stored under none. A value without a key may be equal to all.
    """
    if key is None:
        return chain.from_iterable(index.values())
    return (*index.get(key, ()), *index.get(None, ()))


# Partners


# A key of which some terms may be None: unbound
KeyWithUnbound = tuple[Hashable | None, ...]
Places = tuple[int, ...]

# Variables that must be equal by value: one of the left side and one of the right
Equalities = Sequence[tuple[str, str]]


class JoinSide:
    """The solutions of one side of a join, by their keys. Both sides always bind what a key is
    made of, and a lookup costs no more than one in a dict.
    """

    def __init__(self) -> None:
        self.by_key: dict[Any, Counter[Any]] = {}

    def add(self, key: Any, solution: Any, count: int) -> int:
        """Add to the count of a solution, which may end at zero: then it is not stored.

        Return 1 if the key was absent and is present now, -1 if it was present and is absent now,
        and 0 otherwise.
        """
        there = self.by_key.get(key)
        if there is None:
            self.by_key[key] = Counter({solution: count})
            return 1
        add_count(there, solution, count)
        if there:
            return 0
        del self.by_key[key]
        return -1

    def compatible_keys(self, key: Any) -> Iterable[Any]:
        """Return the keys on this side that are compatible with one of the other side."""
        return (key,) if key in self.by_key else ()

    def partners(self, key: Any) -> Iterator[tuple[Any, int]]:
        """Yield the solutions under keys that are compatible with one of the other side, each with
        its count.
        """
        for own in self.compatible_keys(key):
            yield from self.by_key[own].items()


class JoinSideWithUnbound(JoinSide):
    """The solutions of one side of a join whose keys, tuples, may have unbound variables.

    Keys are told apart by which of their places are bound. For a key of the other side, those of
    each kind are looked up by the places that are bound in both. So there is an index for each such
    combination that has been looked for, and a lookup costs one in a dict for each kind of key, and
    what it finds.

    With `must_share`, keys are compatible only if some place is bound in both, as MINUS has it.
    """

    def __init__(self, must_share: bool) -> None:
        super().__init__()
        self.must_share = must_share
        # the places that are bound -> some of these places -> the keys by their terms there
        self.indexes: dict[Places, dict[Places, KeyIndex]] = {}

    def add(self, key: Any, solution: Any, count: int) -> int:
        """Add to the count of a solution, as any side of a join does."""
        change = super().add(key, solution, count)
        if change:
            bound = bound_places(key)
            if bound not in self.indexes:
                self.indexes[bound] = {bound: KeyIndex(bound)}
            indexes = self.indexes[bound]
            for index in indexes.values():
                index.change(key, change)
            if not indexes[bound].by_terms:
                del self.indexes[bound]
        return change

    def compatible_keys(self, key: Any) -> Iterable[Any]:
        """Return the keys on this side that are compatible with one of the other side."""
        bound = bound_places(key)
        found: list[KeyWithUnbound] = []
        for own, indexes in self.indexes.items():
            common = tuple([place for place in own if place in bound])
            if self.must_share and not common:
                continue
            if common not in indexes:
                indexes[common] = KeyIndex(common)
                for keys in indexes[own].by_terms.values():
                    for each in keys:
                        indexes[common].change(each, 1)
            found += indexes[common].look_up(key)
        return found


class KeyIndex:
    """Keys by their terms at some places."""

    def __init__(self, places: Places) -> None:
        self.terms_of = pick_key(places)
        self.by_terms: dict[Any, dict[KeyWithUnbound, None]] = {}

    def change(self, key: KeyWithUnbound, change: int) -> None:
        """Insert a key (1) or remove it (-1)."""
        terms = self.terms_of(key)
        there = self.by_terms.setdefault(terms, {})
        if change > 0:
            there[key] = None
        else:
            del there[key]
        if not there:
            del self.by_terms[terms]

    def look_up(self, key: KeyWithUnbound) -> Iterable[KeyWithUnbound]:
        """Return the keys that have the terms of another one at the places."""
        return self.by_terms.get(self.terms_of(key), ())


def bound_places(key: KeyWithUnbound) -> Places:
    """Return which places of a key are bound."""
    return tuple([place for place, term in enumerate(key) if term is not None])


class JoinKeys:
    """How the solutions of two sides find one another: by the variables that both have, and by
    equalities, each between a variable of the left and one of the right.

    `nodes` are the left side and the right one, `shared` the variables that both have, and
    `compared` for either side those that are compared by value.
    """

    def __init__(
        self,
        left: MaintainedNode,
        right: MaintainedNode,
        equalities: Equalities = (),
        must_share: bool = False,
    ) -> None:
        self.nodes = (left, right)
        self.shared = [name for name in left.names if name in right.slots]
        always_bound = left.certain & right.certain
        self.is_always_bound = always_bound.issuperset(self.shared) and not equalities
        if must_share and not self.shared:
            self.is_always_bound = False  # nothing is shared, so nothing is compatible
        self.must_share = must_share
        self.compared = [[one for one, _ in equalities], [other for _, other in equalities]]
        self.only_right = [name for name in right.names if name not in left.slots]

    def write_sides(self, program: Program) -> tuple[Code, Code]:
        """Write the places for the solutions of both sides. Return their names."""
        new = f"{program.call(JoinSideWithUnbound)}({self.must_share})"
        if self.is_always_bound:
            new = f"{program.call(JoinSide)}()"
        by = ", ".join(f"?{name}" for name in self.shared) or "nothing"
        left = program.keep("left", new, f"R2R-10 the solutions of the left side, by {by}")
        return left, program.keep("right", new, f"R2R-10 those of the right side, by {by}")

    def key(self, program: Program, place: int, values: Values) -> Code:
        """Return the expression of the key of a solution of the left side (0) or the right one."""
        terms = [values[name] for name in self.shared]
        if self.is_always_bound:
            return key_of(terms)
        equality = program.call(equality_key)
        return tuple_of([*terms, *(f"{equality}({values[name]})" for name in self.compared[place])])

    def for_partners(
        self,
        program: Program,
        side: Code,
        place: int,
        values: Values,
        make: Callable[[Values, Values], Statements],
    ) -> Statements:
        """Return a loop over the partners of a solution, which are of the left side (0) or of the
        right one, under their key. `make` makes what is done with a partner, `copies` of it, from
        the partner's names and from those of both together.
        """
        node = self.nodes[place]
        known = values.values()
        own = program.locals(node.names, {*known, "key", "count", "copies"})
        found = f"{side}.partners(key)"
        if self.is_always_bound:
            found = f"{side}.by_key.get(key, {{}}).items()"
        left, right = (own, values) if place == 0 else (values, own)
        joined = {**right, **left}
        filled: Statements = []
        for name in self.shared:
            if name not in self.nodes[0].certain:
                term = program.local(name, {*own.values(), *known})
                filled.append(f"{term} = {right[name]} if {left[name]} is None else {left[name]}")
                joined[name] = term
        names = [name for node in self.nodes for name in node.names]
        both = {name: joined[name] for name in dict.fromkeys(names)}
        target = f"{tuple_of(own.values())}, copies" if own else "_, copies"
        return for_each(target, found, [*filled, *make(own, both)])


# Join and OPTIONAL


class MaintainedJoin(MaintainedNode):
    """Join of compatible solutions. Both sides are stored, and a change costs its partners.

    With `equalities` it only joins solutions that may be equal in some variables of the left and of
    the right; the filter above it has to ask whether they are.
    """

    def __init__(
        self, left: MaintainedNode, right: MaintainedNode, equalities: Equalities = ()
    ) -> None:
        self.keys = JoinKeys(left, right, equalities)
        super().__init__([*left.names, *self.keys.only_right], left.certain | right.certain)

    def write(self, program: Program, take: Take) -> None:
        """Write what is done with a solution of either side: it is stored, and joined."""
        keys = self.keys
        sides = keys.write_sides(program)
        call = program.shared("joined", self.names, take, "Take a solution of a join")
        # m copies of one side's solution and n of the other's are m * n of the joined one
        for place in (1, 0):

            def join(values: Values, count: Code, place: int = place) -> Statements:
                return [
                    f"key = {keys.key(program, place, values)}",
                    f"{sides[place]}.add(key, {keys.nodes[place].solution(values)}, {count})",
                    *keys.for_partners(
                        program,
                        sides[1 - place],
                        1 - place,
                        values,
                        lambda own, both: call(both, f"{count} * copies"),
                    ),
                ]

            keys.nodes[place].write(program, join)


class MaintainedOptional(MaintainedNode):
    """OPTIONAL: a solution of the left side stands alone as long as it has no partner on the right.
    When its first partner comes, the lone solution is retracted; when its last one goes, it comes
    back.

    A partner is compatible, and fulfils the condition together with it. Both sides are stored, with
    the number of partners of each solution of the left, and a change costs its partners.
    """

    def __init__(
        self, left: MaintainedNode, right: MaintainedNode, expression: Expression | None
    ) -> None:
        self.keys = JoinKeys(left, right, equalities_between(expression, left, right))
        super().__init__([*left.names, *self.keys.only_right], left.certain)
        self.expression = expression

    def write(self, program: Program, take: Take) -> None:
        """Write what is done with a solution of either side."""
        keys = self.keys
        left, right = keys.nodes
        sides = keys.write_sides(program)
        call = program.shared("joined", self.names, take, "OPTIONAL: a pair, or a lone solution")
        new = f"{program.call(Counter)}()"
        partners = program.keep("partners", new, "OPTIONAL: how many each solution of the left has")

        def if_holds(both: Values, body: Statements) -> Statements:
            if self.expression is None:
                return body
            return when(ask(program, [self.expression], both), body)

        def change_right(values: Values, count: Code) -> Statements:
            def change_pair(own: Values, both: Values) -> Statements:
                alone = {name: own[name] for name in left.names}
                return if_holds(
                    both,
                    [
                        f"lone = {left.solution(own)}",
                        f"before = {partners}[lone]",
                        f"{partners}[lone] = before + {count}",
                        *when("not before", call(alone, "-copies")),
                        *call(both, f"{count} * copies"),
                        *when(f"not before + {count}", call(alone, "copies")),
                    ],
                )

            return [
                f"key = {keys.key(program, 1, values)}",
                f"{sides[1]}.add(key, {right.solution(values)}, {count})",
                *keys.for_partners(program, sides[0], 0, values, change_pair),
            ]

        def change_left(values: Values, count: Code) -> Statements:
            def add_pair(own: Values, both: Values) -> Statements:
                pair = ["found += copies", *call(both, f"{count} * copies")]
                return if_holds(both, pair)

            lone = left.solution(values)
            return [
                f"key = {keys.key(program, 0, values)}",
                f"{sides[0]}.add(key, {lone}, {count})",
                "found = 0",
                *keys.for_partners(program, sides[1], 1, values, add_pair),
                *when("not found", call(values, count)),
                *when(f"{lone} in {sides[0]}.by_key.get(key, ())", [f"{partners}[{lone}] = found"]),
                otherwise([f"del {partners}[{lone}]"]),
            ]

        right.write(program, change_right)
        left.write(program, change_left)


def join_all(
    nodes: Iterable[MaintainedNode], condition: Expression | None = None
) -> MaintainedNode:
    """Return the join of one or more nodes, for a filter with a condition, which joins by
    equalities, too. Each node shares a variable or an equality with one before it, if any that is
    left does.
    """
    joined, *left = nodes
    while left:
        node = next((node for node in left if _are_linked(joined, node, condition)), left[0])
        left.remove(node)
        joined = MaintainedJoin(joined, node, equalities_between(condition, joined, node))
    return joined


def _are_linked(one: MaintainedNode, other: MaintainedNode, condition: Expression | None) -> bool:
    """Return whether two nodes share a variable or an equality."""
    has_shared = not one.slots.keys().isdisjoint(other.slots)
    return has_shared or bool(equalities_between(condition, one, other))


def optional_or_join(
    left: MaintainedNode, right: MaintainedNode, condition: Expression
) -> MaintainedNode:
    """Return OPTIONAL without a condition of its own, for a filter with a condition.

    If that has an equality with a variable that only the right binds, it drops every solution of
    the left that stands alone. What is left is a join.
    """
    equalities = equalities_between(condition, left, right)
    if equalities:
        return MaintainedJoin(left, right, equalities)
    return MaintainedOptional(left, right, None)


# MINUS and EXISTS: of a solution of the left side it only matters whether it has a partner


TRUE = boolean(True)


class MaintainedSemiJoin(MaintainedNode):
    """What MINUS and EXISTS share: the solutions of the left side, and whether each has a partner.

    The left side is stored by its keys, with the number of keys of the right that are compatible
    with each; of the right side the keys are stored with their counts. A change costs a lookup of
    its key. The first change on the right with a key, and the last one, also cost the solutions of
    the left that they change. With keys that may be unbound, a change costs the compatible keys of
    the other side.
    """

    keys: JoinKeys

    def write(self, program: Program, take: Take) -> None:
        """Write an object that looks for partners, and what is done with both sides' solutions."""
        keys = self.keys
        left, right = keys.nodes
        sides = keys.write_sides(program)
        comment = "R2R-19 whether a solution of the left side has a partner"
        own = program.locals(left.names)
        unpack = [f"{tuple_of(own.values())} = solution"] if own else []
        show = program.define(
            "show",
            ["solution", "count", "has_partner"],
            [*unpack, *self._show(own, take)],
            "Take a solution of the left side, as the operator shows it",
        )
        made = f"{program.call(Partners)}({', '.join(sides)}, {show})"
        partners = program.keep("partners", made, comment)
        right.write(
            program,
            lambda values, count: [
                f"{partners}.change_right({keys.key(program, 1, values)}, {count})"
            ],
        )
        left.write(
            program,
            lambda values, count: [
                f"{partners}.change_left({keys.key(program, 0, values)}, "
                f"{left.solution(values)}, {count})"
            ],
        )

    def _show(self, values: Values, take: Take) -> Statements:
        """Return what is done with a solution of the left side, by whether it has a partner."""
        raise NotImplementedError


class Partners:
    """Whether solutions of the left side have partners on the right. `show` takes a solution whose
    count changes, with whether it has one.
    """

    def __init__(
        self, left: JoinSide, right: JoinSide, show: Callable[[Solution, int, bool], None]
    ) -> None:
        self.left = left
        self.right = right
        self.show = show
        self.counts: Counter[Any] = Counter()  # by the keys of the left side

    def change_left(self, key: Any, solution: Solution, count: int) -> None:
        """Take a change of a solution of the left side."""
        change = self.left.add(key, solution, count)
        if change > 0:
            self.counts[key] = len(list(self.right.compatible_keys(key)))
        self.show(solution, count, self.counts[key] > 0)
        if change < 0:
            del self.counts[key]

    def change_right(self, key: Any, count: int) -> None:
        """Take a change of a solution of the right side, of which the key is stored."""
        change = self.right.add(key, (), count)
        if not change:
            return
        for left_key in self.left.compatible_keys(key):
            had_partner = self.counts[left_key] > 0
            self.counts[left_key] += change
            has_partner = self.counts[left_key] > 0
            if has_partner == had_partner:
                continue
            for partner, copies in self.left.by_key[left_key].items():
                self.show(partner, -copies, had_partner)
                self.show(partner, copies, has_partner)


class MaintainedMinus(MaintainedSemiJoin):
    """MINUS: the solutions of the left side that have no partner on the right. A partner is
    compatible and binds a variable that the other binds, too (SPARQL 1.1 §18.5, Minus).
    """

    def __init__(self, left: MaintainedNode, right: MaintainedNode) -> None:
        super().__init__(left.names, left.certain)
        self.keys = JoinKeys(left, right, must_share=True)

    def _show(self, values: Values, take: Take) -> Statements:
        return when("not has_partner", take(values, "count"))


class MaintainedExists(MaintainedSemiJoin):
    """EXISTS: the solutions of the left side with one variable more. It is true if there is a
    partner, and unbound if there is none.
    """

    def __init__(self, left: MaintainedNode, right: MaintainedNode, flag: str) -> None:
        super().__init__((*left.names, flag), left.certain)
        self.flag = flag
        self.keys = JoinKeys(left, right)

    def _show(self, values: Values, take: Take) -> Statements:
        shown = take({**values, self.flag: "partner"}, "count")
        return [f"partner = {TRUE!r} if has_partner else None", *shown]


# EXISTS with a filter on variables of the solution outside: FILTER EXISTS { ?x :q ?z
# FILTER(?z > ?y) } over solutions of `?x :p ?y`


Wrap = Callable[[MaintainedNode], MaintainedNode]


class OuterNode(MaintainedNode):
    """A node whose solutions an object emits, by the function `emitter`."""

    emitter: Code

    def write(self, program: Program, take: Take) -> None:
        """Write the function."""
        self.emitter = program.emitter("ask", self.names, take, "Take a solution to be asked of")


class MaintainedExistsWithFilter(MaintainedNode):
    """EXISTS whose filters look at the outer solution: the solutions of the left side with one
    variable more. It is true if there is a partner that passes the filters, and unbound if there is
    none.

    The outer solutions, each once, are joined with the pattern's, and `wrap` puts the filters
    around that join. What passes is counted by outer solution (`OuterSolutions`).
    """

    def __init__(
        self,
        left: MaintainedNode,
        right: MaintainedNode,
        flag: str,
        wrap: Wrap,
        equalities: Equalities = (),
    ) -> None:
        super().__init__((*left.names, flag), left.certain)
        self.left = left
        self.outer = OuterNode(left.names, left.certain)
        self.joined = wrap(MaintainedJoin(self.outer, right, equalities))

    def write(self, program: Program, take: Take) -> None:
        """Write an object that counts partners, then the join, then the left side."""
        emit = program.emitter("emit", self.names, take, "Take an outer solution of EXISTS")
        made = f"{program.call(OuterSolutions)}({emit})"
        outer = program.keep("outer", made, "R2R-19 EXISTS with a filter on outer solutions")
        self.joined.write(
            program,
            lambda values, count: [
                f"{outer}.change_partners({self.left.solution(values)}, {count})"
            ],
        )
        program.scope.append(f"{outer}.ask = {self.outer.emitter}")
        self.left.write(
            program,
            lambda values, count: [f"{outer}.change({self.left.solution(values)}, {count})"],
        )


class OuterSolutions:
    """The outer solutions of EXISTS with a filter, and the number of partners of each. `ask` joins
    a solution with the pattern's, and so counts its partners. A change costs its partners.
    """

    ask: Emit

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
        self.copies: Counter[Solution] = Counter()
        self.partners: Counter[Solution] = Counter()
        # a solution that comes is shown when its partners are counted
        self.coming: Solution | None = None

    def change(self, solution: Solution, count: int) -> None:
        """Take a change of an outer solution."""
        change = add_count(self.copies, solution, count)
        if change < 0:
            self._show(solution, count)
        if change:
            self.coming = solution
            self.ask(solution, change)
            self.coming = None
        if change >= 0:
            self._show(solution, count)

    def change_partners(self, solution: Solution, count: int) -> None:
        """Take a change of the number of partners of an outer solution."""
        if solution == self.coming:
            add_count(self.partners, solution, count)
            return
        had_partner = solution in self.partners
        if had_partner != (self.partners[solution] + count > 0):
            self._show(solution, -self.copies[solution])
            add_count(self.partners, solution, count)
            self._show(solution, self.copies[solution])
        else:
            add_count(self.partners, solution, count)

    def _show(self, solution: Solution, count: int) -> None:
        self.emit((*solution, TRUE if solution in self.partners else None), count)
