"""§7 The answers of a body at one evaluation after the other, and how each differs from the
baseline that R2S compares it with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Protocol

from refengine.core import r2r
from refengine.core.consumption import answer_by_matches
from refengine.core.plan import Plan, operator
from refengine.core.query import Body, Query
from refengine.core.r2s import AnswerChange
from refengine.core.schedule import WindowContent
from refengine.core.window import Content
from refengine.model.elements import Bag, Dataset, Relation, canonical_dataset
from refengine.model.errors import RefengineError
from refengine.model.messages import display

# R2R: the function from a body and a dataset to a relation
EvaluateBody = Callable[[Body, Dataset], Relation]


def refuse_no_function(value: object) -> None:
    """R2R-1: Refuse what is no R2R, where a function is needed. Raises RefengineError."""
    if not callable(value):
        reason = f"must be a function from a body and a dataset to a Relation, got {display(value)}"
        raise RefengineError(f"{reason}; leave it out", rule="R2R-1", place="answer")


# The answer over what the windows hold, by a name for the blank nodes that the body makes
Lookup = Callable[[tuple[Content, ...], str], Relation]


class SuccessiveAnswers(Protocol):
    """A body's answers, each asked for once, evaluation after evaluation."""

    def answer_over(self, windows: tuple[WindowContent, ...]) -> AnswerChange:
        """Return the answer over what the windows hold, and its difference from the baseline. Its
        bags must not be changed, and hold until the next call.
        """
        ...

    def rebase(self) -> None:
        """Make the last answer the baseline of those to come (R2S-8)."""
        ...


class RecomputedAnswers:
    """Answers that are each computed anew over whole contents, by `lookup`.

    Under append the baseline is the answer over what was in the contents at the previous evaluation
    and still is (R2S-7). `skip` is the number of evaluations that are left out before the first.
    """

    def __init__(self, query: Query, planned: Plan, lookup: Lookup, skip: int = 0) -> None:
        self.lookup = lookup
        self.collection = planned.semantics.collection
        self.is_append = operator(query, planned.semantics).reads_kept_content
        self.contents: tuple[Content, ...] = ((),) * len(planned.views)
        self.base: Bag = Counter()
        self.now: Bag = Counter()
        self.number = skip

    def answer_over(self, windows: tuple[WindowContent, ...]) -> AnswerChange:
        """Return the answer over what the windows hold, and its difference from the baseline."""
        contents = tuple([held.content for held in windows])
        relation = self.lookup(contents, str(self.number))
        self.now = r2r.collect_rows(self.collection, relation.rows)
        if self.is_append:
            both = tuple(map(common_content, contents, self.contents))
            # k: of what is kept, so that its new blank nodes are others (R2R-7)
            rows = self.lookup(both, f"{self.number}k").rows
            self.base = r2r.collect_rows(self.collection, rows)
        self.contents = contents
        self.number += 1
        return AnswerChange(relation.variables, self.now, self.now, self.base)

    def rebase(self) -> None:
        """Make the last answer the baseline of those to come."""
        self.base = self.now


def common_content(content: Content, before: Content) -> Content:
    """R2S-7: Return the part of a content that was in it at the previous evaluation too, ascending.

    >>> common_content(range(2, 5), range(0, 4))
    range(2, 4)
    """
    if isinstance(content, range) and isinstance(before, range):
        start = max(content.start, before.start)
        return range(start, max(start, min(content.stop, before.stop)))
    return tuple(sorted({*content} & {*before}))


def recomputed_answers(
    query: Query, planned: Plan, static: Dataset, answer: EvaluateBody, skip: int = 0
) -> RecomputedAnswers:
    """Return answers that R2R (`answer`) gives over the dataset of the contents (R2R-8). The blank
    nodes that the body makes are new at each evaluation (R2R-7). Where elements are consumed, the
    answers are matches instead (R2R-22), and `answer` is not asked.
    """
    if planned.semantics.is_consuming:
        return RecomputedAnswers(query, planned, answer_by_matches(query, planned, static), skip)
    static = canonical_dataset(static)
    views = planned.views  # of which the streams' names and the elements are read, which may grow

    def look_up(contents: tuple[Content, ...], name: str) -> Relation:
        dataset = r2r.dataset_of_windows(views, contents, static, query.body)
        relation = answer(query.body, dataset)
        return Relation(relation.variables, r2r.rename_new_blanks(relation.rows, dataset, name))

    return RecomputedAnswers(query, planned, look_up, skip)


class MakeAnswers(Protocol):
    """A function that makes the answers of a query over a plan, with static data, by R2R
    (`answer`).
    """

    def __call__(
        self, query: Query, planned: Plan, static: Dataset, answer: EvaluateBody, skip: int = 0
    ) -> SuccessiveAnswers:
        """Return the answers from the evaluation after the first `skip` on."""
        ...
