"""§11 The groups of evaluations that a search over arrival orders goes through, the derivations
that an instant's elements complete, and the answers on the way.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, cast

from refengine import incremental
from refengine.core import engine, r2r, window
from refengine.core.semantics import Semantics
from refengine.core.values import R2S, Closure
from refengine.incremental import AnswerCache, QuietStretch
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Bag, Dataset, Element, Row, Triple
from refengine.oracle import derivations
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.comparison import Borders
from refengine.oracle.trial import RecordingToJudge


class EvaluationGroup(NamedTuple):
    """The evaluations of one instant that see its simultaneous elements one after the other, or a
    single evaluation that sees none or all of them, or several over the same content.

    `last_evaluation` is the last of them, and `visits` is their number. `kept_elements` are the
    indices of the elements that were in the content before the instant, and `arriving_elements`
    those of the instant's own; the latter are empty for a single evaluation.
    """

    last_evaluation: engine.Evaluation
    visits: int
    kept_elements: range
    arriving_elements: range

    @property
    def whole(self) -> range:
        """The indices of the kept elements and of all that arrive."""
        return range(self.kept_elements.start, self.arriving_elements.stop)

    @property
    def content(self) -> range:
        """The indices of the content at the end of the group, whether elements arrive or not."""
        return range(
            self.kept_elements.start, max(self.kept_elements.stop, self.arriving_elements.stop)
        )


class PendingDerivation(NamedTuple):
    """A derivation that an instant's elements complete: its row, and the indices of the arriving
    elements that it needs.
    """

    row: Row
    needs: frozenset[int]


def content_of(at: engine.Evaluation) -> range:
    """Return the indices of the elements that the one window holds. ORA-7 allows only windows whose
    content is a range of elements.
    """
    return cast("range", at.windows[0].content)


@dataclass(frozen=True)
class OrderSearch:
    """What a search over arrival orders needs: the recording, the plan of the semantics that is
    tried, and the shared answers.
    """

    recorded: RecordingToJudge
    planned: engine.Plan
    answers: SharedAnswers

    @property
    def semantics(self) -> Semantics:
        """The semantics that is tried."""
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
        """Whether an evaluation whose answer equals the one before gives no output."""
        return not self.operator.emits_whole_answers and self.semantics.empty.is_never

    def window_of(self, group: EvaluationGroup) -> tuple[Borders | None, Closure | None]:
        """Return the borders of the window of a group's outputs, and the closure."""
        borders = window.borders_of_window(
            self.planned.views[0], group.last_evaluation.windows[0].n
        )
        return borders, self.semantics.closure

    def answer(self, kept: range, more: Iterable[int] = ()) -> Bag:
        """Return the answer over a range of elements, `kept`, and the elements with the indices
        `more`.
        """
        collection = self.semantics.collection
        if not more:
            cache_or_reason = self.answers.incremental_answers(self.recorded, self.planned)
            if isinstance(cache_or_reason, AnswerCache):
                self.answers.before_answer()
                with suppress(NotCovered):
                    return r2r.collect_rows(collection, cache_or_reason((kept or range(0),)))
        content = [*self.elements[kept.start : max(kept.start, kept.stop)]]
        content += [self.elements[i] for i in more]
        relation = self.answers(self.recorded.query.body, self.graph(content))
        return r2r.collect_rows(collection, relation.rows)

    def graph(self, content: Sequence[Element]) -> Dataset:
        """Return the triples of some elements as a dataset, with the times of the elements if the
        body asks for them (R2R-21).
        """
        graph = r2r.dataset(content)
        if not self.recorded.query.body.asks_for_times:
            return graph
        return graph | r2r.latest_times((element.graph, element.app) for element in content)

    def derivations(self, group: EvaluationGroup) -> list[PendingDerivation] | None:
        """Return the derivations that an instant's elements complete. None where the body has no
        derivations, or where several arriving elements hold a needed triple, so that a derivation
        does not need one set of elements.
        """
        key = (self.recorded.query.body, group.kept_elements, group.arriving_elements)
        return self.answers.make_once(
            "derivations", [self.elements], key, lambda: self._derivations(group)
        )

    def _derivations(self, group: EvaluationGroup) -> list[PendingDerivation] | None:
        """Compute `derivations`: from incremental evaluation if it covers the body, else from the
        triples.
        """
        if derivations.pattern(self.recorded.query.body) is None:
            return None
        cache_or_reason = self.answers.incremental_answers(
            self.recorded, self.planned, for_derivations=True
        )
        if isinstance(cache_or_reason, AnswerCache):
            start = (group.kept_elements or group.arriving_elements).start
            completed = cache_or_reason.supported_rows(range(start, group.arriving_elements.stop))
            if completed is not None:
                return _pending(completed, group.arriving_elements)
        return self._derivations_by_triples(group)

    def _derivations_by_triples(self, group: EvaluationGroup) -> list[PendingDerivation] | None:
        """Compute `derivations` from the triples that a row rests on, and the elements that hold
        them.
        """
        old = r2r.dataset(self.elements[i] for i in group.kept_elements)
        carriers: dict[Triple, list[int]] = defaultdict(list)
        for i in group.arriving_elements:
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


def _pending(
    completed: Iterable[tuple[Row, tuple[int, ...]]], arriving: range
) -> list[PendingDerivation]:
    """Return the derivations that rest on some arriving element, each with all arriving elements
    that it rests on.
    """
    pending = []
    for line, elements in completed:
        needs = frozenset(i for i in elements if i in arriving)
        if needs:
            pending.append(PendingDerivation(line, needs))
    return pending


def group_evaluations(
    search: OrderSearch, *, is_repeated_once: bool = False
) -> Iterator[EvaluationGroup]:
    """Cut the schedule of a search into groups. `is_repeated_once` asks for one group, with several
    visits, for successive evaluations over the same content.

    When an evaluation happens, and how many elements have arrived by then, does not depend on the
    order of simultaneous elements. Which elements these are does.
    """
    times = search.planned.views[0].times
    group = None
    for at, visits in _evaluations(search, times, is_repeated_once):
        t = at.t
        content = content_of(at)
        # The content ends inside an instant of several elements. (An empty content stops at 0.)
        first, last = bisect_left(times, t), bisect_right(times, t)
        is_partial = content.stop > first and last - first > 1
        if group is not None and is_partial and group.last_evaluation.t == t:
            group = group._replace(last_evaluation=at, visits=group.visits + visits)
            continue
        is_repeated = (
            is_repeated_once
            and group is not None
            and not (is_partial or group.arriving_elements)
            and group.kept_elements == content
        )
        if group is not None and is_repeated:
            group = group._replace(visits=group.visits + visits)
            continue
        if group is not None:
            yield group
            group = None
        if is_partial:
            kept, arriving = range(content.start, first), range(first, last)
            group = EvaluationGroup(at, visits, kept, arriving)
        elif is_repeated_once:
            group = EvaluationGroup(at, visits, content, range(0))
        else:
            yield EvaluationGroup(at, visits, content, range(0))
    if group is not None:
        yield group


def _evaluations(
    search: OrderSearch, times: Sequence[int], is_repeated_once: bool
) -> Iterator[tuple[engine.Evaluation, int]]:
    """Yield the evaluations, each with how many it stands for: of those that see a part of an
    instant's elements, in a quiet stretch, the last one. Where an unchanged answer gives no output,
    the first evaluation over a content stands for all others over the same content.
    """
    for group in incremental.schedule_groups(search.planned):
        if isinstance(group, QuietStretch):
            yield from _evaluations_of_stretch(group, times)
        elif search.is_silent:
            yield from ((at, 1) for at in islice(group, 1))
        elif is_repeated_once:
            # only the first can see a part of an instant's elements; beyond `enough` outputs the
            # recording has no more
            enough = len(search.recorded.relations) + sum(search.recorded.missing) + 1
            few = list(islice(group, enough + 1))
            yield few[0], 1
            if few[1:]:
                yield few[1], len(few) - 1
        else:
            yield from ((at, 1) for at in group)


def _evaluations_of_stretch(
    stretch: QuietStretch, times: Sequence[int]
) -> Iterator[tuple[engine.Evaluation, int]]:
    """Yield what `_evaluations` does of a quiet stretch."""
    begin, instants = 0, stretch.instants
    while begin < len(stretch):
        t = instants[begin]
        end = begin + 1
        while end < len(stretch) and instants[end] == t:
            end += 1
        first = bisect_left(times, t)
        while begin < end and stretch.stop(begin) <= first:
            yield stretch.evaluation(begin), 1
            begin += 1
        if begin < end:
            yield stretch.evaluation(end - 1), end - begin
        begin = end
