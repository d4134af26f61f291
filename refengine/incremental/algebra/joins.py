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

from refengine.incremental.algebra.nodes import (
    Index,
    LookUp,
    MaintainedNode,
    PickKey,
    Solution,
    add_count,
    pick_key,
    pick_terms,
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


def equal_slots(
    conditions: Iterable[Expression], slots: Mapping[str, int]
) -> list[tuple[int, int]]:
    """Return the slots that are equal by value where some conditions hold, each pair in either
    order. A variable without a slot is unbound, and equal to nothing.
    """
    found = [pair for condition in conditions for pair in equalities(condition)]
    pairs = [(slots[one], slots[other]) for one, other in found if {one, other} <= slots.keys()]
    return pairs + [(other, one) for one, other in pairs]


def pick_value(place: int) -> PickKey:
    """Return the function that gives the equality key of the term at one place of a tuple."""
    return lambda terms: equality_key(terms[place])


def look_up_value(index: Index) -> LookUp:
    """Return the function that looks up in an index what may be equal to a value, by its equality
    key: what is stored under the same key, and what is stored under none. A value without a key may
    be equal to all.
    """

    def look_up(key: Hashable | None) -> Iterable[Any]:
        if key is None:
            return chain.from_iterable(index.values())
        return (*index.get(key, ()), *index.get(None, ()))

    return look_up


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

    `left_key` and `right_key` give the keys of their solutions. An empty place for the solutions of
    a side is made by `new_side`.
    """

    def __init__(
        self,
        left: MaintainedNode,
        right: MaintainedNode,
        equalities: Equalities = (),
        must_share: bool = False,
    ) -> None:
        self.shared = [name for name in left.names if name in right.slots]
        always_bound = left.certain & right.certain
        self.is_always_bound = always_bound.issuperset(self.shared) and not equalities
        if must_share and not self.shared:
            self.is_always_bound = False  # nothing is shared, so nothing is compatible
        self.must_share = must_share
        self.left_key = self._key_of(left, [one for one, _ in equalities])
        self.right_key = self._key_of(right, [other for _, other in equalities])

    def new_side(self) -> JoinSide:
        """Return a place for the solutions of a side, which is empty."""
        return JoinSide() if self.is_always_bound else JoinSideWithUnbound(self.must_share)

    def _key_of(self, node: MaintainedNode, compared: Sequence[str]) -> PickKey:
        places = tuple(node.slots[name] for name in self.shared)
        if self.is_always_bound:
            return pick_key(places)
        compared_places = tuple(node.slots[name] for name in compared)

        def key_with_unbound(solution: Solution) -> KeyWithUnbound:
            terms = [solution[place] for place in places]
            values = [equality_key(solution[place]) for place in compared_places]
            return (*terms, *values)

        return key_with_unbound


class JoinedSlots:
    """How a solution of the left side and a compatible one of the right become one: the slots of
    the left, then those that only the right has.
    """

    def __init__(self, left: MaintainedNode, right: MaintainedNode) -> None:
        self.only_right = [name for name in right.names if name not in left.slots]
        self.names = (*left.names, *self.only_right)
        self.rest = pick_terms(tuple(right.slots[name] for name in self.only_right))
        # the shared variables that the left may leave unbound: their slots on both sides
        self.filled = [
            (left.slots[name], right.slots[name])
            for name in left.names
            if name in right.slots and name not in left.certain
        ]

    def merge_function(self) -> Callable[[Solution, Solution], Solution]:
        """Return what merges a solution of the left with one of the right."""
        rest = self.rest
        filled = self.filled

        def merge(left: Solution, right: Solution) -> Solution:
            return (*left, *rest(right))

        def merge_and_fill(left: Solution, right: Solution) -> Solution:
            merged = [*left, *rest(right)]
            for slot, other in filled:
                if merged[slot] is None:
                    merged[slot] = right[other]
            return tuple(merged)

        return merge_and_fill if filled else merge


# Join and OPTIONAL


class MaintainedJoin(MaintainedNode):
    """Join of compatible solutions. Both sides are stored, and a change costs its partners.

    With `equalities` it only joins solutions that may be equal in some variables of the left and of
    the right; the filter above it has to ask whether they are.
    """

    def __init__(
        self, left: MaintainedNode, right: MaintainedNode, equalities: Equalities = ()
    ) -> None:
        joined = JoinedSlots(left, right)
        super().__init__(joined.names, left.certain | right.certain)
        merge = joined.merge_function()
        keys = JoinKeys(left, right, equalities)
        left_side = keys.new_side()
        right_side = keys.new_side()

        # m copies of one side's solution and n of the other's are m * n of the joined one
        def change_left(solution: Solution, count: int) -> None:
            key = keys.left_key(solution)
            left_side.add(key, solution, count)
            for partner, copies in right_side.partners(key):
                self.emit(merge(solution, partner), count * copies)

        def change_right(solution: Solution, count: int) -> None:
            key = keys.right_key(solution)
            right_side.add(key, solution, count)
            for partner, copies in left_side.partners(key):
                self.emit(merge(partner, solution), count * copies)

        left.emit = change_left
        right.emit = change_right


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
        joined = JoinedSlots(left, right)
        super().__init__(joined.names, left.certain)
        self.merge = joined.merge_function()
        self.unbound = (None,) * len(joined.only_right)
        self.holds = None
        if expression is not None:
            self.holds = self.condition(expression)
        self.keys = JoinKeys(left, right, equalities_between(expression, left, right))
        self.left_side = self.keys.new_side()
        self.right_side = self.keys.new_side()
        # how many partners each solution of the left side has
        self.partners: Counter[Solution] = Counter()
        left.emit = self._change_left
        right.emit = self._change_right

    def _change_left(self, solution: Solution, count: int) -> None:
        key = self.keys.left_key(solution)
        self.left_side.add(key, solution, count)

        partners = 0
        for partner, copies in self.right_side.partners(key):
            joined = self.merge(solution, partner)
            if self.holds is None or self.holds(joined):
                partners += copies
                self.emit(joined, count * copies)
        if not partners:
            self.emit((*solution, *self.unbound), count)

        if solution in self.left_side.by_key.get(key, ()):
            self.partners[solution] = partners
        else:
            del self.partners[solution]

    def _change_right(self, solution: Solution, count: int) -> None:
        key = self.keys.right_key(solution)
        self.right_side.add(key, solution, count)
        for partner, copies in self.left_side.partners(key):
            joined = self.merge(partner, solution)
            if self.holds is not None and not self.holds(joined):
                continue
            before = self.partners[partner]
            self.partners[partner] = before + count
            if not before:
                self.emit((*partner, *self.unbound), -copies)
            self.emit(joined, count * copies)
            if not before + count:
                self.emit((*partner, *self.unbound), copies)


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

    def _connect(self, left: MaintainedNode, right: MaintainedNode, keys: JoinKeys) -> None:
        """Take the changes of both sides."""
        self.keys = keys
        self.left_side = keys.new_side()
        self.right_side = keys.new_side()
        self.partners: Counter[Any] = Counter()  # by the keys of the left side
        left.emit = self._change_left
        right.emit = self._change_right

    def _show(self, solution: Solution, count: int, has_partner: bool) -> None:
        """Emit a change of a solution of the left side, as the operator has it."""
        raise NotImplementedError

    def _change_left(self, solution: Solution, count: int) -> None:
        key = self.keys.left_key(solution)
        change = self.left_side.add(key, solution, count)
        if change > 0:
            self.partners[key] = len(list(self.right_side.compatible_keys(key)))
        self._show(solution, count, self.partners[key] > 0)
        if change < 0:
            del self.partners[key]

    def _change_right(self, solution: Solution, count: int) -> None:
        key = self.keys.right_key(solution)
        change = self.right_side.add(key, (), count)
        if not change:
            return
        for left_key in self.left_side.compatible_keys(key):
            had_partner = self.partners[left_key] > 0
            self.partners[left_key] += change
            has_partner = self.partners[left_key] > 0
            if has_partner == had_partner:
                continue
            for partner, copies in self.left_side.by_key[left_key].items():
                self._show(partner, -copies, had_partner)
                self._show(partner, copies, has_partner)


class MaintainedMinus(MaintainedSemiJoin):
    """MINUS: the solutions of the left side that have no partner on the right. A partner is
    compatible and binds a variable that the other binds, too (SPARQL 1.1 §18.5, Minus).
    """

    def __init__(self, left: MaintainedNode, right: MaintainedNode) -> None:
        super().__init__(left.names, left.certain)
        self._connect(left, right, JoinKeys(left, right, must_share=True))

    def _show(self, solution: Solution, count: int, has_partner: bool) -> None:
        if not has_partner:
            self.emit(solution, count)


class MaintainedExists(MaintainedSemiJoin):
    """EXISTS: the solutions of the left side with one variable more. It is true if there is a
    partner, and unbound if there is none.
    """

    def __init__(self, left: MaintainedNode, right: MaintainedNode, flag: str) -> None:
        super().__init__((*left.names, flag), left.certain)
        self._connect(left, right, JoinKeys(left, right))

    def _show(self, solution: Solution, count: int, has_partner: bool) -> None:
        self.emit((*solution, TRUE if has_partner else None), count)


# EXISTS with a filter on variables of the solution outside: FILTER EXISTS { ?x :q ?z
# FILTER(?z > ?y) } over solutions of `?x :p ?y`


Wrap = Callable[[MaintainedNode], MaintainedNode]


class MaintainedExistsWithFilter(MaintainedNode):
    """EXISTS whose filters look at the outer solution: the solutions of the left side with one
    variable more. It is true if there is a partner that passes the filters, and unbound if there is
    none.

    The outer solutions, each once, are joined with the pattern's, and `wrap` puts the filters
    around that join. What passes is counted by outer solution. It keeps the outer solutions, their
    numbers of partners, and what the join keeps. A change costs its partners.
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
        self.width = len(left.names)
        self.copies: Counter[Solution] = Counter()
        self.partners: Counter[Solution] = Counter()
        self.outer = MaintainedNode(left.names, left.certain)
        # a solution that comes is shown when its partners are counted
        self.coming: Solution | None = None
        wrap(MaintainedJoin(self.outer, right, equalities)).emit = self._change_partners
        left.emit = self._change_left

    def _change_left(self, solution: Solution, count: int) -> None:
        change = add_count(self.copies, solution, count)
        if change < 0:
            self._show(solution, count)
        if change:
            self.coming = solution
            self.outer.emit(solution, change)
            self.coming = None
        if change >= 0:
            self._show(solution, count)

    def _change_partners(self, joined: Solution, count: int) -> None:
        solution = joined[: self.width]
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
