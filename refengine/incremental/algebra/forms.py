"""§7 Computed numbers where it matters which terms are the same (R2R-13): in joins, keys, DISTINCT.

A computed number such as 2.0 has a value, but no fixed text. Whether it is the same term as another
2.0 has no single answer, unless both are computed exactly. So the maintained nodes compare terms by
text, and what is open is left to the definition here, before it comes to them. Where they only
store numbers, they tell them apart by their values, too: a rounded 2.0 and an exact one have one
text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from refengine.incremental.algebra.counts import add_count
from refengine.incremental.algebra.nodes import MaintainedNode, Solution
from refengine.incremental.algebra.numbers import number_of
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term
from refengine.sparql.algebra import Call, Extend, Group, Pattern, walk
from refengine.sparql.values import Computed, Number


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
