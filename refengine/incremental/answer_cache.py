"""§7 Answers over contents that are asked for in any order, each computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from refengine.core.answers import RecomputedAnswers, SuccessiveAnswers
from refengine.core.plan import Plan, operator
from refengine.core.query import Query, WindowKind
from refengine.core.reports import ReportMaker, Step
from refengine.core.semantics import R2S, Condition
from refengine.core.window import Content, WindowView
from refengine.incremental.answer_delta import AnswerDelta
from refengine.incremental.content_follower import ContentFollower
from refengine.incremental.coverage import NotCovered
from refengine.incremental.maintained import MaintainedAnswers
from refengine.incremental.schedule import schedule_evaluations
from refengine.incremental.supports import SupportedSolutions
from refengine.model.elements import Bag, Dataset, Relation, Row


class AnswerCache:
    """A cache from contents to answers of one query.

    An answer that is not known yet is taken from the solutions of the whole stream, where these
    cover the content. Otherwise a `ContentFollower` is moved to the content. A move that raises
    NotCovered leaves it half-way: it is not used again, and from then on only known and covered
    contents have an answer.

    Raises NotCovered for a query that is not covered.
    """

    def __init__(self, query: Query, views: Sequence[WindowView], static: Dataset) -> None:
        self.static = static
        self.known: dict[tuple[Content, ...], Bag] = {}
        self.delta = AnswerDelta(is_set=False, has_baseline=False)
        self.follower: ContentFollower | None = ContentFollower(
            query, views, static, self.delta.change
        )
        self.supported = _supported_solutions(query, views, static)

    def __call__(self, contents: tuple[Content, ...]) -> Bag:
        """Return the bag of the answer over what the windows hold, which is not to be changed.
        Raises NotCovered.
        """
        if contents not in self.known:
            self.known[contents] = self._compute(contents)
        return self.known[contents]

    def find_change(self, before: Content, after: Content) -> tuple[list[Row], list[Row]] | None:
        """Return the rows that come, and those that go, as one content of the only window becomes
        another; None where that is not known without the two answers.
        """
        supported = self.supported
        if supported is None or not isinstance(before, range) or not isinstance(after, range):
            return None
        if not supported.covers(before) or not supported.covers(after):
            return None
        return supported.find_change(before, after)

    def supported_rows(self, content: Content) -> list[tuple[Row, tuple[int, ...]]] | None:
        """Return the solutions over a content, each as a row with the elements that it rests on;
        None where these are not known.
        """
        if self.supported is None or not isinstance(content, range):
            return None
        if not self.supported.covers(content):
            return None
        return self.supported.supported_rows(content)

    def _compute(self, contents: tuple[Content, ...]) -> Bag:
        first = contents[0]
        if self.supported is not None and isinstance(first, range) and self.supported.covers(first):
            return self.supported.answer(first)

        follower = self.follower
        if follower is None:
            raise NotCovered("a value met before")
        self.follower = None  # until the move is complete
        follower.retract_outside(contents)
        follower.insert_new(contents)
        self.follower = follower
        return Counter(self.delta.now)


def _supported_solutions(
    query: Query, views: Sequence[WindowView], static: Dataset
) -> SupportedSolutions | None:
    """Return the solutions of the whole stream, where they answer for windows: of one window
    without a name that is bounded in time, over elements without intervals, and without static
    data.
    """
    view = views[0]
    if len(views) > 1 or static or view.ends is not None or view.spec.name is not None:
        return None
    if view.spec.kind not in (WindowKind.TIME, WindowKind.RANGE):
        return None
    with suppress(NotCovered):
        return SupportedSolutions(query.body, view.elements, view.times, view.spec.span)
    return None


def cached_steps(query: Query, planned: Plan, cache: AnswerCache) -> Iterator[Step]:
    """Yield every evaluation of a plan, as `core.engine.steps` does, with answers from a cache that
    plans over the same elements share, or each made from the one before (`_successive_answers`).
    Raises NotCovered.
    """
    maker = ReportMaker(query, planned, _successive_answers(query, planned, cache))
    for at in schedule_evaluations(planned):
        yield maker.step(at)


def _successive_answers(query: Query, planned: Plan, cache: AnswerCache) -> SuccessiveAnswers:
    """Return the answers of a plan, one evaluation after the other.

    If a report follows each change of a content, each content differs from the one before by few
    elements, and there are about as many contents as elements. If, besides, only the difference is
    asked for (Istream, Dstream), each answer is made from the one before, which takes as long as
    what changes. Whole answers from the cache would take as long as they have rows.
    """
    reports_each_change = Condition.CHANGE in planned.semantics.report
    if reports_each_change and operator(query, planned.semantics) is not R2S.RSTREAM:
        return MaintainedAnswers(query, planned, cache.static)
    variables = query.body.variables

    def look_up(contents: tuple[Content, ...], name: str) -> Relation:
        return Relation(variables, cache(contents))

    return RecomputedAnswers(query, planned, look_up)
