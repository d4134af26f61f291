"""§7 Answers over contents, asked for in any order, each computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from refengine.core.answers import Recomputed
from refengine.core.plan import Plan
from refengine.core.query import Query, WindowKind
from refengine.core.reports import ReportMaker, Step
from refengine.core.window import Content, View
from refengine.incremental.answer_delta import AnswerDelta
from refengine.incremental.maintained import ContentFollower
from refengine.incremental.numbers import NotCovered
from refengine.incremental.schedule import schedule_evaluations
from refengine.incremental.supports import SupportedSolutions
from refengine.model.elements import Bag, Dataset, Relation, Row


class AnswerCache:
    """The answers over contents, asked for in any order, each computed once: from the solutions of
    the whole stream, if one window at a time can hold them, or else from the content before it.
    Raises NotCovered for what is not covered, and from then on for each content that is not known.
    """

    def __init__(self, query: Query, views: Sequence[View], static: Dataset) -> None:
        self.known: dict[tuple[Content, ...], Bag] = {}
        self.kept = AnswerDelta(False, False)
        self.moving: ContentFollower | None = ContentFollower(
            query, views, static, self.kept.change
        )
        self.extents: SupportedSolutions | None = None
        (view, *more) = views
        if (
            not more
            and not static
            and view.ends is None
            and view.spec.kind in (WindowKind.TIME, WindowKind.RANGE)
        ):
            with suppress(NotCovered):
                self.extents = SupportedSolutions(
                    query.body, view.elements, view.times, view.spec.span
                )

    def __call__(self, contents: tuple[Content, ...]) -> Bag:
        """Return the bag of the answer over what the windows hold; not to be changed."""
        if contents not in self.known:
            if (
                self.extents is not None
                and isinstance(contents[0], range)
                and self.extents.covers(contents[0])
            ):
                self.known[contents] = self.extents.answer(contents[0])
                return self.known[contents]
            moving, self.moving = self.moving, None  # stays None if a move fails half-way
            if moving is None:
                raise NotCovered("a value met before")
            moving.leave(contents)
            moving.enter(contents)
            self.known[contents], self.moving = Counter(self.kept.now), moving
        return self.known[contents]

    def completed(self, content: Content) -> list[tuple[Row, tuple[int, ...]]] | None:
        """The solutions over a content, projected, with the elements that each rests on; None where
        that is not known.
        """
        extents = self.extents
        if extents is None or not isinstance(content, range) or not extents.covers(content):
            return None
        return extents.completed(content)


def cached_steps(query: Query, planned: Plan, asked: AnswerCache) -> Iterator[Step]:
    """Yield every evaluation of a plan, as `core.engine.steps` does, where many plans ask for the
    same contents. Raises NotCovered.
    """
    variables = query.body.variables

    def look_up(contents: tuple[Content, ...], name: str) -> Relation:
        return Relation(variables, asked(contents))

    maker = ReportMaker(query, planned, Recomputed(query, planned, look_up))
    for at in schedule_evaluations(planned):
        yield maker.step(at)
