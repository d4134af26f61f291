"""§11 The moments of a search over arrival orders: the evaluations of an instant, what its elements
complete, and the answers on the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, cast

from refengine import incremental
from refengine.core import engine, r2r, window
from refengine.core.semantics import R2S, Closure, Empty, Semantics
from refengine.incremental import AnswerCache, SimultaneousEvaluations
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Bag, Dataset, Element, Row, Triple
from refengine.oracle import derivations
from refengine.oracle.answers import Answers
from refengine.oracle.comparison import Borders
from refengine.oracle.trial import Recorded


class Moment(NamedTuple):
    """The evaluations of one instant at which simultaneous elements are seen one after the other:
    the last one and how many they are, the elements kept from before, and the indices of the
    instant's elements.
    """

    last: engine.Evaluation
    visits: int
    kept: range
    arriving: range

    @property
    def whole(self) -> range:
        """The content with all of the instant's elements that arrive."""
        return range(self.kept.start, self.arriving.stop)

    @property
    def content(self) -> range:
        """The content at the end of the moment, whether elements arrive or not."""
        return range(self.kept.start, max(self.kept.stop, self.arriving.stop))


class PendingDerivation(NamedTuple):
    """The row of a derivation and the simultaneous elements that it waits for."""

    row: Row
    needs: frozenset[int]


def held_by(at: engine.Evaluation) -> range:
    """Return the content of the one window, which ORA-7 asks to be over time."""
    return cast("range", at.windows[0].content)


@dataclass(frozen=True)
class OrderSearch:
    """A search over arrival orders: the recording, the plan under which it is searched, and the
    table of answers.
    """

    recorded: Recorded
    planned: engine.Plan
    answers: Answers

    @property
    def semantics(self) -> Semantics:
        """The semantics under which it is searched."""
        return self.planned.semantics

    @property
    def elements(self) -> Sequence[Element]:
        """The elements of the one stream, in order."""
        return self.planned.views[0].elements

    @property
    def operator(self) -> R2S:
        """The relation-to-stream operator."""
        return engine.operator(self.recorded.query, self.semantics)

    @property
    def is_silent(self) -> bool:
        """Whether an answer equal to the one before it goes unseen."""
        return self.operator is not R2S.RSTREAM and self.semantics.empty is Empty.SUPPRESS

    def window_of(self, moment: Moment) -> tuple[Borders | None, Closure | None]:
        """Return the borders of the window that a moment's outputs are about, and the closure."""
        borders = window.opening(self.planned.views[0], moment.last.windows[0].n)
        return borders, self.semantics.closure

    def answer(self, kept: range, more: Iterable[int] = ()) -> Bag:
        """Return the answer over the elements of a range and some more."""
        collection = self.semantics.collection
        if not more:
            asked = self.answers.incremental(self.recorded, self.planned)
            if isinstance(asked, AnswerCache):
                with suppress(NotCovered):
                    return r2r.collected(collection, asked((kept or range(0),)))
        content = [*self.elements[kept.start : max(kept.start, kept.stop)]]
        content += [self.elements[i] for i in more]
        relation = self.answers(self.recorded.query.body, self.graph(content))
        return r2r.collected(collection, relation.rows)

    def graph(self, content: Sequence[Element]) -> Dataset:
        """Return the triples of some elements, with their times where the body asks for them
        (R2R-21).
        """
        graph = r2r.dataset(content)
        if not self.recorded.query.body.asks_for_times:
            return graph
        return graph | r2r.latest((element.graph, element.app) for element in content)

    def derivations(self, moment: Moment) -> list[PendingDerivation] | None:
        """Return the derivations that an instant's elements complete, each with the arriving
        elements it needs; None where the body has none, or a needed triple is in several arriving
        elements, so that a support is not one set.
        """
        key = (self.recorded.query.body, moment.kept, moment.arriving)
        return self.answers.once(
            "derivations", [self.elements], key, lambda: self._derivations(moment)
        )

    def _derivations(self, moment: Moment) -> list[PendingDerivation] | None:
        """Compute `derivations`, incrementally if that is covered."""
        if derivations.pattern(self.recorded.query.body) is None:
            return None
        asked = self.answers.incremental(self.recorded, self.planned, for_derivations=True)
        if isinstance(asked, AnswerCache):
            start = (moment.kept or moment.arriving).start
            completed = asked.supported_rows(range(start, moment.arriving.stop))
            if completed is not None:
                return _waiting(completed, moment.arriving)
        return self._derivations_by_triples(moment)

    def _derivations_by_triples(self, moment: Moment) -> list[PendingDerivation] | None:
        """Compute `derivations` from the triples that support a row, and the elements that carry
        them.
        """
        old = r2r.dataset(self.elements[i] for i in moment.kept)
        carriers: dict[Triple, list[int]] = defaultdict(list)
        for i in moment.arriving:
            for triple in self.elements[i].graph - old:
                carriers[triple].append(i)

        pending: list[PendingDerivation] = []
        body = self.recorded.query.body
        for derivation in self.answers.derivations(body, old.union(carriers)):
            new = derivation.support - old
            if any(len(carriers[triple]) > 1 for triple in new):
                return None
            if new:
                needs = frozenset(carriers[triple][0] for triple in new)
                pending.append(PendingDerivation(derivation.row, needs))
        return pending


def _waiting(
    completed: Iterable[tuple[Row, tuple[int, ...]]], arriving: range
) -> list[PendingDerivation]:
    """Return those derivations that rest on some arriving element, with all of these elements."""
    pending = []
    for line, elements in completed:
        needs = frozenset(i for i in elements if i in arriving)
        if needs:
            pending.append(PendingDerivation(line, needs))
    return pending


def moments(search: OrderSearch) -> Iterator[Moment]:
    """Cut a schedule into moments. Which prefix is evaluated when does not depend on the order of
    simultaneous elements, only what the prefix holds does.
    """
    elements = search.elements
    first, last = search.answers.once("instants", [elements], None, lambda: _instants(elements))
    moment = None
    for at, count in _visits(search):
        t = at.t
        content = held_by(at)
        # an empty content stops at 0
        is_partial = t in first and content.stop > first[t] and last[t] - first[t] > 1
        if moment is not None and is_partial and moment.last.t == t:
            moment = moment._replace(last=at, visits=moment.visits + count)
            continue
        if moment is not None:
            yield moment
            moment = None
        if is_partial:
            kept, arriving = range(content.start, first[t]), range(first[t], last[t])
            moment = Moment(at, count, kept, arriving)
        else:
            yield Moment(at, 1, content, range(0))
    if moment is not None:
        yield moment


def _visits(search: OrderSearch) -> Iterator[tuple[engine.Evaluation, int]]:
    """Yield the evaluations, each with the number of those that it stands for. Where an unchanged
    answer is invisible, of a stretch of evaluations over one content the first stands for all.
    """
    is_silent = search.is_silent
    for stretch in incremental.schedule_stretches(search.planned):
        if isinstance(stretch, SimultaneousEvaluations):  # which is of one moment
            for at in stretch[-1:]:
                yield at, len(stretch)
        elif is_silent:
            for at in islice(stretch, 1):
                yield at, 1
        else:
            for at in stretch:
                yield at, 1


def _instants(elements: Sequence[Element]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the index of each instant's first element, and the one after its last element."""
    first: dict[int, int] = {}
    for index, element in enumerate(elements):
        first.setdefault(element.app, index)
    return first, {element.app: index + 1 for index, element in enumerate(elements)}
