"""§7, §8 Answers that are kept up to date while contents change, as long as they are covered.

`MaintainedWhileCovered` is what the engine uses. It has the answers of `MaintainedAnswers` until
one is not covered, and then those of the SPARQL evaluator; `Provenance` says which and why.
`MaintainedAnswers` combines two things: `ContentFollower`, which passes what enters and leaves the
windows to the body, and `AnswerDelta`, which collects the rows that this changes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sortedcontainers import SortedList

from refengine.core import r2r
from refengine.core.answers import (
    EvaluateBody,
    RecomputedAnswers,
    SuccessiveAnswers,
    recomputed_answers,
)
from refengine.core.plan import Plan, operator
from refengine.core.query import Body, Query
from refengine.core.r2s import AnswerChange
from refengine.core.schedule import WindowContent
from refengine.core.window import Content, WindowView
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.algebra.nodes import add_count
from refengine.incremental.arrival_buffer import buffer_of
from refengine.incremental.coverage import NotCovered
from refengine.incremental.schedule import PartitionContent, PartitionDelta
from refengine.model import compare
from refengine.model.compare import TolerantNumber
from refengine.model.elements import (
    Bag,
    Dataset,
    Row,
    Statements,
    Term,
    Triple,
    canonical_dataset,
)
from refengine.model.errors import Unsupported
from refengine.sparql.datasets import DEFAULT_GRAPH, name_of_window, triples_by_graph

# To make a body anew takes about as long as to retract so many elements.
MOST_RETRACTED = 20


class ContentFollower:
    """A maintained body that follows the contents of a query's windows, from each evaluation to the
    next. It calls `change` with every row that comes to the answer or goes from it, and with how
    many there are more; a negative number is of rows that go.

    There are two ways to move to the next contents. Call `retract_outside` with them, and then
    `insert_new`. Or call `grow_to` for one window whose content loses no element, which is quicker.
    Raises NotCovered for a body that is not covered; the methods raise it for values that are not.
    """

    def __init__(
        self,
        query: Query,
        views: Sequence[WindowView],
        static: Dataset,
        change: Callable[[Row, int], None],
        is_set: bool = False,
    ) -> None:
        # R2R-8: the same label in two sources stands for two blank nodes. So where there are
        # several sources, the blank nodes of a window are marked with the number of its stream.
        # With one source alone they are not marked ("").
        sources = list(dict.fromkeys(view.spec.stream for view in views))
        has_several_sources = len(sources) + bool(static) > 1
        self.scopes = [""] * len(views)
        statements = static
        if has_several_sources:
            self.scopes = [str(sources.index(view.spec.stream)) for view in views]
            statements = r2r.scope_blank_nodes(static, "static")

        self.static_graphs = triples_by_graph(statements)
        self.window_graphs = [graph_of_window(view, query.body) for view in views]
        names = sorted({*self.window_graphs, *self.static_graphs} - {DEFAULT_GRAPH})
        self.make_body = partial(MaintainedBody, query.body, change, is_set, names=names)
        self.elements = [view.elements for view in views]
        # for each window that is a partition: its content as a delta, and what enters it next
        self.partition_deltas = [PartitionDelta() for _ in views]
        self.partition_entering: list[Sequence[int]] = [() for _ in views]
        self.begin()

    def begin(self) -> None:
        """Begin with windows that hold nothing: make the body, and insert the static data."""
        self.body = self.make_body()
        self.graphs = [self.body.graphs[name] for name in self.window_graphs]
        for name, triples in sorted(self.static_graphs.items()):
            for triple in sorted(triples):
                self.body.graphs[name].insert(triple)
        self.body.flush()
        self.contents: list[Content] = [range(0)] * len(self.elements)

    def is_quicker_anew(self, content: Content) -> bool:
        """Return whether to begin anew takes less time than to retract what leaves: the only window
        holds many elements, and none of them is in its next content.
        """
        before = self.contents[0]
        return (
            len(self.contents) == 1
            and not any(self.static_graphs.values())
            and type(before) is range
            and type(content) is range
            and len(before) >= MOST_RETRACTED
            and before.stop <= content.start
        )

    def grow_to(self, content: Content) -> bool:
        """Move the first window to a content that is what it holds and later elements, and return
        True. For any other content do nothing, and return False.
        """
        before = self.contents[0]
        if type(content) is not range or type(before) is not range:
            return False
        start, stop = before.stop, content.stop
        if content.start != before.start or stop < start:
            return False
        if stop > start:
            self._pass_triples(0, range(start, stop), self.graphs[0].insert)
            if self.body.flushed_nodes:
                self.body.flush()
        self.contents[0] = content
        return True

    def retract_outside(self, contents: Iterable[Content]) -> None:
        """Retract the elements that are not in the next contents, one content a window."""
        for i, content in enumerate(contents):
            if isinstance(content, PartitionContent):
                leaving = self._move_partition(i, content)
            else:
                leaving = without(self.contents[i], content)
            if leaving:
                self._pass_triples(i, leaving, self.graphs[i].retract)

    def insert_new(self, contents: Iterable[Content]) -> None:
        """Insert the elements of the next contents that are not there yet, one content a window.
        These are the contents from now on.
        """
        for i, content in enumerate(contents):
            if isinstance(content, PartitionContent):
                entering = self.partition_entering[i]
            else:
                entering = without(content, self.contents[i])
            if entering:
                self._pass_triples(i, entering, self.graphs[i].insert)
            self.contents[i] = content
        self.body.flush()

    def _move_partition(self, i: int, content: PartitionContent) -> Sequence[int]:
        """Move the PartitionDelta of window i, a partition, to its next content. Return the
        elements that leave, and keep those that enter for `insert_new`: it finds both together.
        """
        before = self.contents[i]
        is_first = not isinstance(before, PartitionContent)
        if is_first:
            self.partition_deltas[i] = PartitionDelta()
        leaving, self.partition_entering[i] = self.partition_deltas[i].move_to(content)
        if is_first:
            # The new PartitionDelta begins empty: all that was there leaves, and all of `content`
            # enters.
            return before
        return leaving

    def _pass_triples(self, i: int, indices: Iterable[int], take: Callable[[Triple], None]) -> None:
        """Pass the triples of some elements of window i to an insert or a retract, in an order that
        does not depend on the hash of terms.
        """
        elements = self.elements[i]
        scope = self.scopes[i]
        for index in indices:
            graph = elements[index].graph
            if scope:
                graph = r2r.scope_blank_nodes(graph, scope)
            for triple in graph if len(graph) == 1 else sorted(graph):
                take(triple)


def graph_of_window(view: WindowView, body: Body) -> Term:
    """R2R-8: Return the graph that a window's content is in: the default graph, or for a window
    with a name the graph of that name.
    """
    name = view.spec.name
    return DEFAULT_GRAPH if name is None else name_of_window(name, body.reads_windows)


def without(a: Content, b: Content) -> Sequence[int]:
    """Return the indices of content `a` that are not in content `b`, ascending."""
    if not isinstance(a, range) or not isinstance(b, range):
        return sorted({*a} - {*b})
    if not b:
        return a
    if a.start >= b.start:
        if b.stop <= a.start:
            return a
        return range(b.stop, a.stop)
    if a.stop <= b.stop:
        if a.stop <= b.start:
            return a
        return range(a.start, b.start)
    return [*range(a.start, b.start), *range(b.stop, a.stop)]


class AnswerDelta:
    """An answer as it is now, and its difference from the baseline that R2S compares it with.

    To bring it up to date, call `change` with each row that comes or goes, and with how many there
    are more or, as a negative number, fewer.

    `now` is the answer. `difference` has, for each row, its count in the answer less its count in
    the baseline. With `is_set` one row stands for all that are the same by value (R2R-9). Without
    `has_baseline` there is no baseline, and `difference` stays empty.

    `difference` compares rows by equality. CMP-3 compares numbers with a tolerance, and then the
    difference depends on all rows. So where rows are nearly equal (`has_nearly_equal_rows`), R2S
    needs the whole answer and the whole baseline.
    """

    def __init__(self, is_set: bool, has_baseline: bool) -> None:
        self.now: Bag = Counter()
        self.difference: Counter[Row] = Counter()
        self.nearly_equal: NearEqualIndex | None = None
        if has_baseline:
            self.nearly_equal = NearEqualIndex()
        # Used for a set only. `bag` is the answer as a bag. `rows_by_value` has its different rows
        # by value, in order: the first row of each value is shown in the set.
        self.bag: Bag = Counter()
        self.rows_by_value: dict[tuple[object, ...], SortedList] = {}
        self.change = self._change_set if is_set else self._change_bag

    @property
    def has_nearly_equal_rows(self) -> bool:
        """Whether two rows of the answer and the baseline are nearly equal, but not equal."""
        return self.nearly_equal is not None and self.nearly_equal.count_of_pairs > 0

    def baseline(self) -> Bag:
        """Return the baseline as a bag."""
        baseline = Counter(self.now)
        baseline.subtract(self.difference)
        return +baseline

    def retract_all(self) -> None:
        """Change the count of each row to 0."""
        counts = self.bag or self.now
        for row, count in list(counts.items()):
            self.change(row, -count)

    def rebase(self) -> None:
        """Make the answer as it is now the baseline."""
        if self.nearly_equal is not None:
            for row in self.difference:
                if row not in self.now:
                    self.nearly_equal.remove(row)
        self.difference.clear()

    def _change_bag(self, row: Row, count: int) -> None:
        """Add to the count of a row, or subtract from it. The index of nearly equal rows holds each
        row that is in the answer or in the difference.
        """
        if self.nearly_equal is None:
            add_count(self.now, row, count)
            return
        if row not in self.now and row not in self.difference:
            self.nearly_equal.insert(row)
        add_count(self.now, row, count)
        add_count(self.difference, row, count)
        if row not in self.now and row not in self.difference:
            self.nearly_equal.remove(row)

    def _change_set(self, row: Row, count: int) -> None:
        """Add to the count of a row in the bag, or subtract from it. Change the set if this changes
        which row of the same value is shown.
        """
        presence = add_count(self.bag, row, count)  # 1: the row has come, -1: it is gone
        if presence == 0:
            return
        value = compare.identity(row)
        rows = self.rows_by_value.setdefault(value, SortedList())
        shown_before = rows[0] if rows else None
        if presence == 1:
            rows.add(row)
        else:
            rows.remove(row)
        shown_now = rows[0] if rows else None
        if not rows:
            del self.rows_by_value[value]

        if shown_now != shown_before:
            if shown_before is not None:
                self._change_bag(shown_before, -1)
            if shown_now is not None:
                self._change_bag(shown_now, 1)


class NearEqualIndex:
    """Rows with numbers, in an order in which nearly equal rows are close to each other: rows that
    agree in all other terms are in one list, sorted by their numbers. `count_of_pairs` is the
    number of pairs that are nearly equal, but not equal.
    """

    def __init__(self) -> None:
        self.rows: dict[compare.Exact, Neighbours] = {}
        self.count_of_pairs = 0

    def insert(self, row: Row) -> None:
        """Insert a row. Raises NotCovered for a row with NaN."""
        key, numbers = compare.split(row)
        if not numbers:
            return
        values = [number.value for number in numbers]
        if any(value != value for value in values):
            raise NotCovered("a row with NaN")
        neighbours = self.rows.setdefault(key, [])
        if neighbours:
            self.count_of_pairs += count_nearly_equal(neighbours, row, numbers)
        insort(neighbours, (values, row))

    def remove(self, row: Row) -> None:
        """Remove a row. It must be present, if it has numbers."""
        key, numbers = compare.split(row)
        if not numbers:
            return
        neighbours = self.rows[key]
        del neighbours[bisect_left(neighbours, ([number.value for number in numbers], row))]
        if neighbours:
            self.count_of_pairs -= count_nearly_equal(neighbours, row, numbers)
        else:
            del self.rows[key]


# Rows with numbers that agree in all other terms, by these numbers
Neighbours = list[tuple[list[Any], Row]]


def count_nearly_equal(neighbours: Neighbours, row: Row, numbers: Sequence[TolerantNumber]) -> int:
    """Return how many of the `neighbours` are nearly equal to a row, but not equal. They agree with
    the row in all terms but the numbers, and are sorted by their numbers.
    """
    values = [number.value for number in numbers]
    place = bisect_left(neighbours, (values, row))
    count = 0
    # downwards from the row before, and upwards from the row at this place
    for step, i in ((-1, place - 1), (1, place)):
        while 0 <= i < len(neighbours) and compare.maybe_near(neighbours[i][0][0], values[0]):
            other_values, other = neighbours[i]
            other_numbers = compare.split(other)[1]
            if other_values != values and all(map(compare.is_near, numbers, other_numbers)):
                count += 1
            i += step
    return count


NO_ROWS: Bag = Counter()  # not to be changed
REQUEST = "it was asked for"  # a reason for the SPARQL evaluator where all is covered


class MaintainedAnswers:
    """The answers of a query over a plan, each made from the one before by the elements that came
    and went. Raises NotCovered for a query that is not covered.
    """

    def __init__(self, query: Query, planned: Plan, static: Dataset) -> None:
        semantics = planned.semantics
        if semantics.is_consuming:
            raise NotCovered(f"consumption={semantics.consumption}")
        applied = operator(query, semantics)
        self.is_append = applied.reads_kept_content
        self.is_rstream = applied.emits_whole_answers
        # whether the next content may be reached by inserts alone, without a look at what leaves
        self.can_grow = len(planned.views) == 1 and not self.is_append
        is_set = semantics.collection.drops_equal_rows
        self.delta = AnswerDelta(is_set, has_baseline=not self.is_rstream)
        self.follower = ContentFollower(query, planned.views, static, self.delta.change, is_set)
        # Most evaluations change nothing, and share this. Its `now` is the answer itself, which the
        # next evaluation changes. Rstream, which alone emits whole answers, gets a copy.
        self.unchanged = AnswerChange(query.body.variables, self.delta.now, NO_ROWS, NO_ROWS)

    def answer_over(self, windows: tuple[WindowContent, ...]) -> AnswerChange:
        """Return the answer over what the windows hold, and its difference from the baseline.
        Raises NotCovered.
        """
        if not self.can_grow or not self.follower.grow_to(windows[0].content):
            self._move_to([held.content for held in windows])

        if self.is_rstream:
            # the next evaluation changes the answer, so it is copied
            return self.unchanged._replace(now=Counter(self.delta.now))
        difference = self.delta.difference
        if not difference:
            return self.unchanged
        if self.delta.has_nearly_equal_rows:
            # What R2S makes of them depends on all rows (CMP-3). The answer is copied, since the
            # next evaluation changes it.
            whole = Counter(self.delta.now)
            return self.unchanged._replace(compared=whole, baseline=self.delta.baseline())
        # rows that the answer and the baseline share are left out of both
        return self.unchanged._replace(compared=+difference, baseline=-difference)

    def _move_to(self, contents: Sequence[Content]) -> None:
        """Retract the elements that leave the windows, and insert those that enter them."""
        if self.follower.is_quicker_anew(contents[0]):
            self.delta.retract_all()
            self.follower.begin()
        else:
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
    """Who computed the reports. Incremental evaluation computed the reports of the first `until`
    evaluations (None: of all). The SPARQL evaluator computed the others, and `reason` says why.
    """

    until: int | None = None
    reason: str = ""

    @classmethod
    def of_request(cls) -> Provenance:
        """Return the provenance of a run that is asked for the SPARQL evaluator."""
        return cls(0, REQUEST)

    @property
    def last_computed_by(self) -> str:
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
        return f"{first}the SPARQL evaluator: {self.reason}"


class MaintainedWhileCovered:
    """The answers of a query over a plan: maintained as long as that is covered, and from then on
    recomputed by R2R, with the baseline of the last maintained answer.

    `until` is the number of evaluations with maintained answers (None: all so far), and `reason`
    says why it is not greater. The first `skip` evaluations of the plan are left out. With
    `is_evaluator_requested` all answers are recomputed.
    """

    def __init__(
        self,
        query: Query,
        planned: Plan,
        static: Statements,
        answer: EvaluateBody,
        skip: int = 0,
        is_evaluator_requested: bool = False,
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
        self.maintained: MaintainedAnswers | None = None
        # since the first answer, if nothing is made of a content that only grows and changes no row
        self.growing: MaintainedAnswers | None = None
        self.failure: NotCovered | None = None  # of an evaluation that is still to be answered
        self.answers: SuccessiveAnswers
        if is_evaluator_requested:
            self.answers = self._recomputed(NotCovered(REQUEST))
            return
        try:
            self.answers = self.maintained = MaintainedAnswers(query, planned, self.static)
        except NotCovered as error:
            self.answers = self._recomputed(error)

    def answer_over(self, windows: tuple[WindowContent, ...]) -> AnswerChange:
        """Return the answer over what the windows hold, and its difference from the baseline.
        Raises what R2R raises.
        """
        is_first = self.number == self.skip
        if is_first and self.maintained is not None:
            # Called only for what it raises: a body that not even the SPARQL evaluator can evaluate
            # is refused before anything is reported. No witness is asked.
            r2r.defined_answer(self.query.body, frozenset())
            if self.maintained.can_grow and not self.maintained.is_rstream:
                self.growing = self.maintained
        try:
            if self.failure is not None:
                raise self.failure
            change = self.answers.answer_over(windows)
        except NotCovered as error:
            self.failure = None
            self.answers = self._recomputed(error)
            change = self.answers.answer_over(windows)
        self.contents = tuple([held.content for held in windows])
        self.number += 1
        return change

    def is_unchanged_over(self, content: Content) -> bool:
        """Return whether it is known without a report that the answer over what the only window
        holds equals its baseline. Then nothing else need be asked about this evaluation. Otherwise
        `answer_over` is asked.
        """
        maintained = self.growing
        if maintained is None:
            return False
        try:
            if not maintained.follower.grow_to(content) or maintained.delta.difference:
                return False
        except NotCovered as error:
            self.failure = error
            return False
        self.contents = (content,)
        self.number += 1
        return True

    @property
    def provenance(self) -> Provenance:
        """Who computed the reports so far."""
        return Provenance(self.until, self.reason)

    def rebase(self) -> None:
        """Make the last answer the baseline of those to come."""
        self.answers.rebase()

    def _recomputed(self, error: NotCovered) -> RecomputedAnswers:
        """Return answers of the SPARQL evaluator that go on from the last contents and the
        baseline. Raises Unsupported for a stream that is read as it comes.
        """
        if buffer_of(self.planned) is not None:
            raise Unsupported(
                f"incremental evaluation does not cover {error}; give the stream whole, for the "
                "SPARQL evaluator",
                rule="ENG-6",
            ) from None
        self.growing = None
        self.until = self.number - self.skip
        self.reason = str(error)
        answers = recomputed_answers(
            self.query, self.planned, self.static, self.answer, self.number
        )
        answers.contents = self.contents
        if self.maintained is not None:
            answers.base = self.maintained.baseline()
        return answers
