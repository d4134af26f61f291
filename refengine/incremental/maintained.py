"""§7, §8 Answers that are kept up to date while contents change, as long as they are covered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from refengine.core import r2r
from refengine.core.answers import (
    EvaluateBody,
    RecomputedAnswers,
    SuccessiveAnswers,
    recomputed_answers,
)
from refengine.core.plan import Plan, operator
from refengine.core.query import Query
from refengine.core.r2s import AnswerChange
from refengine.core.schedule import WindowContent
from refengine.core.semantics import R2S, Collection
from refengine.core.window import Content
from refengine.incremental.answer_delta import AnswerDelta
from refengine.incremental.arrival_buffer import buffer_of
from refengine.incremental.content_follower import ContentFollower
from refengine.incremental.coverage import NotCovered
from refengine.model.canonical import canonical_dataset
from refengine.model.elements import Bag, Dataset, Statements
from refengine.model.errors import Unsupported

NO_ROWS: Bag = Counter()  # not to be changed
REQUEST = "it was asked for"  # why the definition computes what is covered


class MaintainedAnswers:
    """The answers of a query over a plan, each made from the one before by the elements that came
    and went. Raises NotCovered for a query that is not covered.
    """

    def __init__(self, query: Query, planned: Plan, static: Dataset) -> None:
        semantics = planned.semantics
        if semantics.is_consuming:
            raise NotCovered(f"consumption={semantics.consumption}")
        applied = operator(query, semantics)
        self.is_append = applied is R2S.APPEND
        self.is_rstream = applied is R2S.RSTREAM
        # whether the next content may be reached by inserts alone, without a look at what leaves
        self.can_grow = len(planned.views) == 1 and not self.is_append
        is_set = semantics.collection is Collection.SET
        self.delta = AnswerDelta(is_set, has_baseline=not self.is_rstream)
        self.follower = ContentFollower(query, planned.views, static, self.delta.change, is_set)
        # most evaluations change nothing, and share this
        self.unchanged = AnswerChange(query.body.variables, self.delta.now, NO_ROWS, NO_ROWS)

    def at(self, windows: tuple[WindowContent, ...]) -> AnswerChange:
        """Return the answer over what the windows hold, beside the baseline. Raises NotCovered."""
        if not self.can_grow or not self.follower.grow_to(windows[0].content):
            self._move_to([held.content for held in windows])

        if self.is_rstream:
            # the delta is changed by the next evaluation, so it is copied
            return self.unchanged._replace(now=Counter(self.delta.now))
        since = self.delta.since
        if not since:
            return self.unchanged
        if self.delta.has_nearly_equal_rows:
            # what R2S makes of them depends on all rows (CMP-3): `came` is the whole answer and
            # `gone` the whole baseline; the next evaluation changes the delta, so it is copied
            whole = Counter(self.delta.now)
            return self.unchanged._replace(came=whole, gone=self.delta.baseline())
        return self.unchanged._replace(came=+since, gone=-since)

    def _move_to(self, contents: Sequence[Content]) -> None:
        """Retract the elements that leave the windows, and insert those that enter them."""
        self.follower.retract_outside(contents)
        if self.is_append:
            # R2S-7: the baseline is the answer over what the contents have kept
            self.follower.body.flush()
            self.delta.rebase()
        self.follower.insert_new(contents)

    def rebase(self) -> None:
        """Make the last answer the baseline of those to come."""
        self.delta.rebase()

    def baseline(self) -> Bag:
        """Return the baseline as a bag."""
        return self.delta.baseline()


@dataclass(frozen=True)
class Provenance:
    """Who computed the reports: incremental evaluation those of the first `until` evaluations
    (None: of all), and the definition the others, for a reason.
    """

    until: int | None = None
    reason: str = ""

    @classmethod
    def of_request(cls) -> Provenance:
        """Return the provenance of a run that is asked for the definition."""
        return cls(0, REQUEST)

    @property
    def of_last(self) -> str:
        """Who computed the last report, in words."""
        if self.until is None:
            return str(self)
        return str(Provenance(0, self.reason))

    def __str__(self) -> str:
        if self.until is None:
            return "incremental"
        first = ""
        if self.until:
            first = f"incremental for {self.until} evaluations, then "
        return f"{first}the definition: {self.reason}"


class MaintainedWhileCovered:
    """The answers of a query over a plan: maintained as long as that is covered, and from then on
    recomputed by R2R, beside the same baseline.

    `until` is how many evaluations were maintained (None: all so far), and `reason` why no more
    are. The first `skip` evaluations of the plan are left out. If the definition is asked for, all
    answers are recomputed.
    """

    def __init__(
        self,
        query: Query,
        planned: Plan,
        static: Statements,
        answer: EvaluateBody,
        skip: int = 0,
        is_definition_asked: bool = False,
    ) -> None:
        self.query = query
        self.planned = planned
        self.static = canonical_dataset(static)
        self.answer = answer
        self.skip = skip
        self.number = skip
        self.until: int | None = None
        self.reason = ""
        self.windows = (WindowContent(None, range(0)),) * len(planned.views)
        self.maintained: MaintainedAnswers | None = None
        self.answers: SuccessiveAnswers
        if is_definition_asked:
            self.answers = self._recomputed(NotCovered(REQUEST))
            return
        try:
            self.answers = self.maintained = MaintainedAnswers(query, planned, self.static)
        except NotCovered as error:
            self.answers = self._recomputed(error)

    def at(self, windows: tuple[WindowContent, ...]) -> AnswerChange:
        """Return the answer over what the windows hold, beside the baseline. Raises what R2R
        raises.
        """
        is_first = self.number == self.skip
        if is_first and self.maintained is not None:
            # Raises for a body that not even the definition can evaluate, before anything is
            # reported. What it answers does not matter, and no witness is asked.
            r2r.defined_answer(self.query.body, frozenset())
        try:
            change = self.answers.at(windows)
        except NotCovered as error:
            self.answers = self._recomputed(error)
            change = self.answers.at(windows)
        self.windows = windows
        self.number += 1
        return change

    @property
    def provenance(self) -> Provenance:
        """Who computed the reports so far."""
        return Provenance(self.until, self.reason)

    def rebase(self) -> None:
        """Make the last answer the baseline of those to come."""
        self.answers.rebase()

    def _recomputed(self, error: NotCovered) -> RecomputedAnswers:
        """Return the definition's answers, which go on from the last contents and the baseline.
        Raises Unsupported for a stream that is not given whole.
        """
        if buffer_of(self.planned) is not None:
            raise Unsupported(
                f"incremental evaluation does not cover {error}; give the stream whole, for the "
                "definition",
                rule="ENG-6",
            ) from None
        self.until = self.number - self.skip
        self.reason = str(error)
        answers = recomputed_answers(
            self.query, self.planned, self.static, self.answer, self.number
        )
        answers.contents = tuple([held.content for held in self.windows])
        if self.maintained is not None:
            answers.base = self.maintained.baseline()
        return answers
