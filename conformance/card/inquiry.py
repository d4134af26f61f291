"""Asking an engine until no question of the catalogue divides the semantics that are left.

It begins with the aspects on which almost every answer depends. When these are found, each other
aspect is thought of in its turn. If no semantics that is thought of explains an answer, those near
to the ones that explained all answers before it are. If none of them does either, the answer is a
contradiction: it is kept, and the inquiry goes on without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from conformance.card.prediction import Predicted, Predictions, Silence, View
from conformance.card.questions import OVER_TIME, TELLING, CardQuestion
from conformance.card.space import Aspect, product, widened
from conformance.verdict.engine_report import EngineReport
from refengine.core.question import Question
from refengine.core.semantics import Semantics

SAMPLE = 40  # semantics by which questions are compared first
LARGER_SAMPLE = 400  # and if none of those differ
MEMBERS = 8  # of a class, for which an aspect is thought of
MOST_ROUNDS = 3
MOST_THOUGHT_OF = 40_000  # semantics, where none that is near explains an answer
NEAR = 20  # semantics, of which the neighbours are thought of
MANY = 500  # semantics, which are first asked about one element
# a question is as good as a smaller one if it leaves so much less, and good enough if it leaves
# this part of the semantics
MUCH = 1.3
ENOUGH = 0.25
MOST_CONTRADICTIONS = 5


class Fate(Enum):
    """What became of a question that an engine was asked."""

    ANSWERED = "answered"
    REFUSED = "refused"
    BROKE = "broke"


@dataclass(frozen=True)
class Reply:
    """What an engine answers to a question, which may have got sentinels; or why it does not."""

    asked: CardQuestion
    question: Question
    fate: Fate
    reports: tuple[EngineReport, ...] = ()
    reason: str = ""


@dataclass
class Inquiry:
    """An inquiry into one engine.

    `ask` puts a question to it. `prepare` gives the question as it would be put. `view` says what
    it states in its reports.
    """

    ask: Callable[[CardQuestion], Reply]
    prepare: Callable[[CardQuestion], Question]
    start: Semantics
    coarse: Sequence[Aspect]  # those that are thought of first, together
    aspects: Sequence[Aspect]  # and then each of these
    catalogue: Callable[[str], Sequence[CardQuestion]]  # the questions of a group
    predictions: Predictions
    view: View
    replies: list[Reply] = field(default_factory=list)
    contradictions: list[Reply] = field(default_factory=list)
    without_answer: list[Reply] = field(default_factory=list)
    left: list[Semantics] = field(default_factory=list)
    questions: dict[CardQuestion, None] = field(default_factory=dict)  # those that may be asked
    thinks_of_near_ones_alone: bool = False

    @property
    def every_aspect(self) -> tuple[Aspect, ...]:
        """All aspects that are thought of."""
        return (*self.coarse, *self.aspects)

    def run(self) -> None:
        """Ask until nothing is left to ask."""
        self.questions = dict.fromkeys(self.catalogue(OVER_TIME))
        self.left = product(self.start, self.coarse)
        self._divide()
        self._check()
        for _ in range(MOST_ROUNDS):
            for aspect in self.aspects:
                self.questions |= dict.fromkeys(self.catalogue(aspect.group))
                self.left = self._explaining(widened(self._members(), aspect))
                self._divide()
            if self._check():
                break

    def _check(self) -> bool:
        """Ask the most telling questions, whether or not they divide what is left: a semantics that
        was not thought of may be the engine's. Return whether some of what is left explains the
        answers.
        """
        before = self.left
        within_reach = self.within_reach()
        for question in TELLING:
            if question in within_reach and not self.contradictions:
                self.put(question)
        self._divide()
        return {*self.left} <= {*before}

    def run_near(self, streams: Iterable[CardQuestion]) -> None:
        """Ask about some streams, and then only what tells the semantics at the start from those
        that differ in one aspect of windows over time, as long as it explains all answers.
        """
        self.questions = dict.fromkeys(self.catalogue(OVER_TIME))
        over_time = [one for one in self.every_aspect if one.group == OVER_TIME]
        near = (each for aspect in over_time for each in widened([self.start], aspect))
        self.thinks_of_near_ones_alone = True
        self.left = list(dict.fromkeys(near))
        for question in streams:
            self.put(question)
        self._divide()

    def _members(self) -> list[Semantics]:
        """Return some of the semantics that are left, the nearest to the start first."""
        return sorted(self.left, key=self.distance)[:MEMBERS]

    def distance(self, semantics: Semantics) -> int:
        """Return in how many aspects a semantics differs from the one at the start; of two as near
        the one without a period is the nearer.
        """
        aspects = self.every_aspect
        count = sum(one.of(semantics) != one.of(self.start) for one in aspects)
        return 2 * count + (semantics.period is not None)

    def _divide(self) -> None:
        """Ask the question that divides what is left best, until none does."""
        while len(self.contradictions) < MOST_CONTRADICTIONS:
            chosen = self._best(_spread(self.left, SAMPLE))
            if chosen is None:
                chosen = self._best(_spread(self.left, LARGER_SAMPLE))
            if chosen is None:
                return
            self.put(chosen)

    def put(self, asked: CardQuestion) -> Reply:
        """Ask a question, and leave out the semantics that do not explain the answer. A refusal
        says nothing of them if none of them refuses.
        """
        reply = self.ask(asked)
        if reply.reports and not any(one.reports for one in self.replies):
            self.view = _view_of(self.view, reply)
        before = self.left
        if reply.fate is not Fate.ANSWERED and not self._may_refuse(before, reply):
            self.without_answer.append(reply)
            return reply
        self.replies.append(reply)
        self.left = [one for one in before if self.explains(one, reply)]
        if not self.left:
            self.left = self._rescued(before)
        if not self.left:
            self.replies.remove(reply)
            self.contradictions.append(reply)
            self.left = before
        return reply

    def _may_refuse(self, some: Iterable[Semantics], reply: Reply) -> bool:
        """Whether some semantics refuse a question, since it has an element that is late."""
        return reply.asked.is_out_of_order and any(
            self.predictions.of(reply.question, one) is Silence.REFUSES for one in some
        )

    @property
    def every_reply(self) -> list[Reply]:
        """All replies, of each kind in the order in which they came."""
        return [*self.replies, *self.contradictions, *self.without_answer]

    def was_asked(self, question: CardQuestion) -> bool:
        """Whether a question was asked before."""
        return any(one.asked == question for one in self.every_reply)

    def predicted(self, semantics: Semantics, asked: CardQuestion) -> Predicted:
        """Return what a semantics shows of its answer to a question."""
        predicted = self.predictions.of(self.prepare(asked), semantics)
        return self.view.of_semantics(predicted, semantics.closure)

    def explains(self, semantics: Semantics, reply: Reply) -> bool:
        """Whether a semantics explains a reply: it answers the same, or refuses what is refused, or
        gives the question no meaning.
        """
        predicted = self.predictions.of(reply.question, semantics)
        if predicted is Silence.NO_MEANING:
            return True
        if reply.fate is not Fate.ANSWERED:
            return predicted is Silence.REFUSES
        if predicted is Silence.REFUSES:
            return False
        shown = self.view.of_semantics(predicted, semantics.closure)
        return _is_part(self.view.of_engine(reply.reports), shown, self.view.unreported)

    def _explaining(self, some: Iterable[Semantics]) -> list[Semantics]:
        """Return those of some semantics that explain all replies, each once."""
        found = dict.fromkeys(some)
        for reply in self.replies:
            found = {one: None for one in found if self.explains(one, reply)}
        return list(found)

    def _rescued(self, before: Sequence[Semantics]) -> list[Semantics]:
        """Return semantics that explain all replies, the last one too, near to those that explained
        all before it.
        """
        near = sorted(before, key=self.distance)[:NEAR]
        last = self.replies[-1]
        one_apart = dict.fromkeys(
            each for aspect in self.every_aspect for each in widened(near, aspect)
        )
        if found := self._explaining(one for one in one_apart if self.explains(one, last)):
            return found
        if self.thinks_of_near_ones_alone:
            return []
        coarse = product(self.start, self.coarse)
        for aspect in sorted(self.aspects, key=lambda one: len(one.values)):
            is_small = len(coarse) * len(aspect.values) <= MOST_THOUGHT_OF
            wide = widened(coarse, aspect) if aspect.is_of_elements_in_order and is_small else ()
            if found := self._explaining(wide):
                return found
        return []

    def _best(self, some: Sequence[Semantics]) -> CardQuestion | None:
        """Return the question not yet asked that leaves few of some semantics on the average, of
        about equally good ones the smallest; None if none divides them.
        """
        best: tuple[float, CardQuestion] | None = None
        for question in self.within_reach():
            left = self._left_on_average(some, question)
            if left < len(some) and (best is None or left * MUCH < best[0]):
                best = left, question
            if best is not None and best[0] < len(some) * ENOUGH:
                break
        return best and best[1]

    def within_reach(self) -> list[CardQuestion]:
        """Return the questions that can be asked, the smallest first."""
        found = [one for one in self.questions if not self._is_out_of_reach(one)]
        return sorted(found, key=lambda one: one.size)

    def _is_out_of_reach(self, question: CardQuestion) -> bool:
        """Whether a question was asked before, or is like one that was refused or two at which
        the engine broke; or too many semantics are left for more than one element.
        """
        if self.was_asked(question):
            return True
        if len(self.left) > MANY and len(question.moments) > 1:
            return True
        alike = [
            one.fate
            for one in self.every_reply
            if one.asked.form == question.form and not one.asked.is_out_of_order
        ]
        return alike.count(Fate.BROKE) > 1 or Fate.REFUSED in alike

    def _left_on_average(self, some: Sequence[Semantics], question: CardQuestion) -> float:
        """Return how many of some semantics an answer leaves on the average, if each is as likely
        as the others.
        """
        counts = Counter(self.predicted(one, question) for one in some)
        without_meaning = counts.pop(Silence.NO_MEANING, 0)
        if len(counts) < 2:
            return len(some)
        answered = sum(counts.values())
        return sum(n * (n + without_meaning) for n in counts.values()) / answered


def _spread(some: Sequence[Semantics], most: int) -> Sequence[Semantics]:
    """Return some semantics, or so many of them from all places."""
    if len(some) <= most:
        return some
    return [some[n * len(some) // most] for n in range(most)]


def _view_of(view: View, reply: Reply) -> View:
    """Return what an engine states, by its first answer."""
    return view._replace(
        has_windows=all(one.window is not None for one in reply.reports),
        has_keys=all(one.key is not None for one in reply.reports),
    )


def _is_part(answered: Predicted, predicted: Predicted, unreported: int) -> bool:
    """Whether an answer is what was predicted, but for reports at each end that may lack."""
    if isinstance(answered, Silence) or isinstance(predicted, Silence):
        return False
    lacking = len(predicted) - len(answered)
    starts: Iterator[int] = iter(range(max(0, lacking - unreported), min(lacking, unreported) + 1))
    return any(predicted[n : n + len(answered)] == answered for n in starts)
