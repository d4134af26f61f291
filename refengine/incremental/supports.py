"""The solutions of a body over a whole stream, each with the elements that it rests on: a content
has those whose elements it holds, so that any number of windows are answered from one pass (ORA-1
tries many).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

from refengine.core.query import Body
from refengine.incremental.algebra import Basic, Emit, MaintainedBody, Solution
from refengine.incremental.answer_delta import AnswerDelta
from refengine.incremental.numbers import NotCovered
from refengine.model.elements import Bag, Element, Row, Term, Triple, row

Numbered = tuple[Term, Term, Term, int]


class SupportedSolution(NamedTuple):
    """A solution of a basic graph pattern, and the elements whose triples it rests on: the last,
    the first, all.
    """

    last: int
    first: int
    solution: Solution
    elements: tuple[int, ...]


class SupportedSolutions:
    """The solutions that rest on elements at most `span` apart, of each of a body's basic graph
    patterns in the order of their last element. Raises NotCovered for a body that is not covered,
    and where a triple that matters comes again within the span.
    """

    def __init__(
        self, body: Body, elements: Sequence[Element], times: Sequence[int], span: int
    ) -> None:
        self.body, self.times, self.span = body, times, span
        network = MaintainedBody(body, lambda row, count: None, dated=True)
        self.found: list[list[SupportedSolution]] = [[] for _ in network.basics]
        for basic, found in zip(network.basics, self.found, strict=True):
            basic.emit = _into(found, basic.width)
        self.kept = AnswerDelta(False, False)
        self.top = MaintainedBody(body, self.kept.change)
        self.fed: list[list[SupportedSolution]] = [[] for _ in network.basics]
        projected = self.top.top
        self.is_one_pattern = projected.adds_nothing and isinstance(projected.child, Basic)
        self.rows: dict[Solution, Row] = {}
        # of a dated network, which knows triples by their terms and the number of the element
        enter = cast("Callable[[Numbered], None]", network.enter)
        forget = cast("Callable[[Numbered], None]", network.forget)
        present = cast("Mapping[Numbered, object]", network.present)
        oldest = 0
        there: set[Triple] = set()
        for k, element in enumerate(elements):
            while times[oldest] < times[k] - span:
                for triple in elements[oldest].graph:
                    forget((*triple, oldest))
                    there.discard(triple)
                oldest += 1
            for triple in sorted(element.graph):
                if triple in there:
                    raise NotCovered("a triple that comes again")
                enter((*triple, k))
                if (*triple, k) in present:
                    there.add(triple)

    def covers(self, content: range) -> bool:
        """Whether a content is within the span."""
        return not content or self.times[content[-1]] - self.times[content[0]] <= self.span

    def within(self, number: int, content: range) -> list[SupportedSolution]:
        """The solutions of a basic graph pattern over a content."""
        found = self.found[number]
        begin = bisect_left(found, content.start, key=lambda dated: dated.last)
        end = bisect_left(found, content.stop, key=lambda dated: dated.last)
        return [dated for dated in found[begin:end] if dated.first >= content.start]

    def answer(self, content: range) -> Bag:
        """The body's answer over a content."""
        if self.is_one_pattern:  # its solutions, projected
            return Counter([self._row(dated.solution) for dated in self.within(0, content)])
        for number, basic in enumerate(self.top.basics):
            for sign, solutions in ((-1, self.fed[number]), (1, self.within(number, content))):
                for dated in solutions:
                    basic.emit(dated.solution, sign)
                self.fed[number] = solutions
        self.top.settle()
        return Counter(self.kept.now)

    def completed(self, content: range) -> list[tuple[Row, tuple[int, ...]]] | None:
        """Of a body whose WHERE clause is one basic graph pattern under filters, its solutions over
        a content, projected, with the elements that each rests on.
        """
        if len(self.found) > 1:
            return None
        return [(self._row(dated.solution), dated.elements) for dated in self.within(0, content)]

    def _row(self, solution: Solution) -> Row:
        """A solution of the first basic graph pattern, projected to the body's variables."""
        if solution not in self.rows:
            named = zip(self.top.basics[0].names, solution, strict=True)
            wanted = set(self.body.variables)
            self.rows[solution] = row(
                (name, term) for name, term in named if name in wanted and term is not None
            )
        return self.rows[solution]


def _into(found: list[SupportedSolution], width: int) -> Emit:
    def take(solution: Solution, count: int) -> None:
        elements = cast("tuple[int, ...]", solution[width:])
        found.append(SupportedSolution(max(elements), min(elements), solution[:width], elements))

    return take
