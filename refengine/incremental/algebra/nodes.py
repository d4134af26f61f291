"""§7 What all nodes of the maintained algebra share: solutions by slot, and how a change goes up.

A node receives changes from below, as solutions with a count: +2 inserts a solution twice, -1
retracts it once. It keeps what it needs in order to say what they change above, and emits that.
Counts make bags right under joins and projection (Gupta, Mumick, Subrahmanian, *Maintaining views
incrementally*, SIGMOD 1993).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from refengine.incremental.algebra.by_definition import condition_on
from refengine.incremental.algebra.expressions import Condition
from refengine.model.elements import Term
from refengine.sparql.algebra import Expression

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
        have are unbound. It raises NotCovered where the definition has no single answer.
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
