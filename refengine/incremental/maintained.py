"""§7, §8 An answer that is kept up to date while contents change, as long as it is covered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import cast

from refengine.core import r2r
from refengine.core.answers import Answer, Answers, Recomputed, recomputed
from refengine.core.plan import Plan, operator
from refengine.core.query import Query
from refengine.core.r2s import AnswerChange
from refengine.core.semantics import R2S, Collection
from refengine.core.window import Content, View
from refengine.incremental import arrival_buffer
from refengine.incremental.algebra import MaintainedBody
from refengine.incremental.answer_delta import AnswerDelta
from refengine.incremental.numbers import NotCovered
from refengine.incremental.partitions import PartitionContent, PartitionDelta
from refengine.model.canonical import canonical_dataset
from refengine.model.elements import Bag, Dataset, Row, Triple
from refengine.model.errors import Disputed, Unsupported


class ContentFollower:
    """A body's network, which follows the contents of a query's windows from one to the next.
    Raises NotCovered.
    """

    def __init__(
        self,
        query: Query,
        views: Sequence[View],
        static: Dataset,
        change: Callable[[Row, int], None],
        sets: bool = False,
    ) -> None:
        if any(view.spec.name is not None for view in views):
            raise NotCovered("named windows")
        if any(len(statement) > 3 for statement in static):
            raise NotCovered("named graphs of static data")
        self.network = MaintainedBody(query.body, change, sets)
        self.elements = [view.elements for view in views]
        sources = list(dict.fromkeys(view.spec.stream for view in views))
        shared = len(sources) + bool(static) > 1
        self.scopes = [str(sources.index(view.spec.stream)) if shared else "" for view in views]
        triples = cast("frozenset[Triple]", static)
        for triple in sorted(r2r.scoped(triples, "static") if shared else triples):
            self.network.enter(triple)
        self.network.settle()
        self.contents: list[Content] = [range(0)] * len(views)
        self.turnover = PartitionDelta()
        self.coming: list[int] = []

    def grow(self, content: Content) -> bool:
        """Move the first window to a content that only adds to the end of what it held; return
        whether it does.
        """
        before = self.contents[0]
        if (
            type(content) is not range
            or type(before) is not range
            or content.start != before.start
            or content.stop < before.stop
        ):
            return False
        self._move(0, range(before.stop, content.stop), self.network.enter)
        self.contents[0] = content
        self.network.settle()
        return True

    def leave(self, contents: Iterable[Content]) -> None:
        """Take out what is not in the next contents."""
        for i, content in enumerate(contents):
            before = self.contents[i]
            if not isinstance(content, PartitionContent):
                leaving = without(before, content)
            elif isinstance(before, PartitionContent):
                leaving, self.coming = self.turnover.to(content)
            else:
                self.turnover = PartitionDelta()
                leaving, (_, self.coming) = before, self.turnover.to(content)
            if leaving:
                self._move(i, leaving, self.network.leave)

    def enter(self, contents: Iterable[Content]) -> None:
        """Take in what is new in the next contents; they are the contents from now on."""
        for i, content in enumerate(contents):
            if (
                entering := self.coming
                if isinstance(content, PartitionContent)
                else without(content, self.contents[i])
            ):
                self._move(i, entering, self.network.enter)
            self.contents[i] = content
        self.network.settle()

    def _move(self, i: int, indices: Iterable[int], take: Callable[[Triple], None]) -> None:
        elements, scope = self.elements[i], self.scopes[i]
        for index in indices:
            graph = elements[index].graph
            if scope:
                graph = r2r.scoped(graph, scope)
            for triple in graph if len(graph) == 1 else sorted(graph):
                take(triple)


NOTHING: Bag = Counter()  # not to be changed


class Maintained:
    """The answers of a query over a plan, each made of the one before by what came and went. Raises
    NotCovered for what is not covered.
    """

    def __init__(self, query: Query, planned: Plan, static: Dataset) -> None:
        semantics = planned.semantics
        applied = operator(query, semantics)
        self.is_append = applied is R2S.APPEND
        self.is_rstream = applied is R2S.RSTREAM
        self.variables = query.body.variables
        is_set = semantics.collection is Collection.SET
        self.delta = AnswerDelta(is_set, not self.is_rstream)
        self.moving = ContentFollower(query, planned.views, static, self.delta.change, is_set)

    def at(self, contents: tuple[Content, ...]) -> AnswerChange:
        """Return the answer over what the windows hold, beside the base."""
        delta = self.delta
        if self.is_append or len(contents) > 1 or not self.moving.grow(contents[0]):
            self.moving.leave(contents)
            if self.is_append:  # what is kept is the base (R2S-7)
                self.moving.network.settle()
                delta.rebase()
            self.moving.enter(contents)

        now = delta.now
        if self.is_rstream:
            now = Counter(now)
        if not delta.since:
            return AnswerChange(self.variables, now, NOTHING, NOTHING)
        return AnswerChange(self.variables, now, +delta.since, -delta.since)

    def rebase(self) -> None:
        """Compare the answers to come with the last one."""
        self.delta.rebase()

    def base(self) -> Bag:
        """Return the base that the answer is compared with."""
        base = Counter(self.delta.now)
        base.subtract(self.delta.since)
        return +base


class MaintainedWhileCovered:
    """The answers of a query over a plan: maintained as long as that is covered, and from then on
    recomputed by R2R. `until` is how many were maintained (None: all), `reason` why no more are.
    The first `skip` evaluations of the plan are left out.

    The definition takes over where maintenance ends, with the same base.
    """

    def __init__(
        self, query: Query, planned: Plan, static: Dataset, answer: Answer, skip: int = 0
    ) -> None:
        self.query = query
        self.planned = planned
        self.static = canonical_dataset(static)
        self.answer = answer
        self.skip = skip
        self.number = skip
        self.until: int | None = None
        self.reason = ""
        self.contents: tuple[Content, ...] = (range(0),) * len(planned.views)
        self.maintained: Maintained | None = None
        self.answers: Answers
        try:
            self.answers = self.maintained = Maintained(query, planned, self.static)
        except NotCovered as error:
            self.answers = self._recomputed(error)
        self.is_first = True

    def at(self, contents: tuple[Content, ...]) -> AnswerChange:
        """Return the answer over what the windows hold, beside the base."""
        if self.maintained is not None and self.is_first:
            with suppress(Disputed):
                # for its refusals alone: a body that nobody can evaluate is refused, covered or not
                self.answer(self.query.body, frozenset())
        self.is_first = False
        try:
            change = self.answers.at(contents)
        except NotCovered as error:
            self.answers = self._recomputed(error)
            change = self.answers.at(contents)
        self.contents = contents
        self.number += 1
        return change

    def rebase(self) -> None:
        """Compare the answers to come with the last one."""
        self.answers.rebase()

    def _recomputed(self, error: NotCovered) -> Recomputed:
        """Return the definition's answers, from what the windows held last and the base on. Raises
        Unsupported for a stream that is not given whole.
        """
        if arrival_buffer.buffer_of(self.planned) is not None:
            raise Unsupported(
                f"{error}: the definition computes it, of a whole stream", rule="ENG-6"
            ) from None
        self.until = self.number - self.skip
        self.reason = str(error)
        found = recomputed(self.query, self.planned, self.static, self.answer, self.number)
        found.contents = self.contents
        if self.maintained is not None:
            found.base = self.maintained.base()
        return found


def without(a: Content, b: Content) -> Sequence[int]:
    """What of a content is not in another, ascending."""
    if isinstance(a, range) and isinstance(b, range):
        if not b:
            return a
        if a.start >= b.start:
            return range(b.stop, a.stop) if b.stop > a.start else a
        if a.stop <= b.stop:
            return range(a.start, b.start) if b.start < a.stop else a
        return [*range(a.start, b.start), *range(b.stop, a.stop)]
    return sorted({*a} - {*b})
