"""What the operators of one evaluation share: graphs, limits, choices, and how they compute
expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import count
from typing import TypeVar

from refengine.model.elements import Dataset, Term
from refengine.sparql.algebra import AlgebraQuery, Exists
from refengine.sparql.choices import Choices, Choose
from refengine.sparql.datasets import DEFAULT_GRAPH, graphs_found, index_graphs, times_of_triples
from refengine.sparql.expressions import Expressions
from refengine.sparql.limits import WIDE, Budget
from refengine.sparql.values import ERROR, Result

T = TypeVar("T")

Solution = dict[str, Term]


class Run:
    """One run of an evaluation: its graphs, its budget, its choices, and the blank nodes that it
    has made.

    `graph` is the active graph (§18.6). `has_computed` says whether a solution may hold a computed
    term, which may be the same as another though their texts differ.
    """

    def __init__(
        self,
        query: AlgebraQuery,
        dataset: Dataset,
        budget: Budget,
        choices: Choices,
        exists: Callable[[Exists, Mapping[str, Term]], bool],
    ) -> None:
        self.budget = budget
        self.choices = choices
        budget.spend(len(dataset) // 8)
        self.times = times_of_triples(dataset)
        graphs = index_graphs(dataset)
        self.graph = graphs[DEFAULT_GRAPH]
        self.named = graphs_found(graphs, of_windows=False)
        self.windows = graphs_found(graphs, of_windows=True)
        self.numbers = count()
        self.calls = count()
        self.has_computed = False
        self.expressions = Expressions(
            exists, self.new_blank, self.time, choices.choose, query, budget.spend
        )

    def new_blank(self) -> Term:
        """Return a blank node that is in no data: their labels have no slash."""
        return f"_:made/{next(self.numbers)}"

    def time(self, subject: Term, predicate: Term, object_: Term) -> Result:
        """R2R-21: Return the time of the element that brought a triple, of several the latest; an
        error if none did.
        """
        return self.times.get((subject, predicate, object_), ERROR)

    def choose_anew(self) -> Choose:
        """Return a function that makes a choice which stands for one call alone: SAMPLE may give
        another member for each group.
        """
        call = next(self.calls)

        def choose(key: Hashable, options: Sequence[T], reason: str, /) -> T:
            return self.choices.choose((call, key), options, reason)

        return choose

    def hold(self, solutions: Sequence[Solution]) -> None:
        """R2R-17: Check that an operator holds no more solutions than it may.

        A solution with many variables counts as several. The last one stands for all; `unite` asks
        this after each.
        """
        if solutions:
            self.budget.hold(len(solutions) * (1 + len(solutions[-1]) // WIDE))

    def unite(self, parts: Iterable[Iterable[Solution]]) -> list[Solution]:
        """Return the solutions of all the parts, which are counted as they come."""
        solutions: list[Solution] = []
        for part in parts:
            for solution in part:
                solutions.append(solution)
                self.hold(solutions)
        return solutions
