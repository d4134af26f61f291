"""§7 Answers over contents that are asked for in any order, each computed once. The oracle tries
many (ORA-1).

Where that is possible, they are made of the solutions of a body over a whole stream, each with the
elements that support it. A content has those whose elements it holds, so that any number of windows
are answered from one pass over the stream.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from typing import NamedTuple, cast

from refengine.core.answers import RecomputedAnswers, SuccessiveAnswers
from refengine.core.plan import Plan, operator
from refengine.core.query import Body, Query, WindowKind
from refengine.core.reports import ReportMaker, Step
from refengine.core.values import Condition
from refengine.core.window import Content, WindowView
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.algebra.nodes import MaintainedProjection, Solution
from refengine.incremental.algebra.paths import has_path
from refengine.incremental.algebra.patterns import MaintainedBasicPattern
from refengine.incremental.coverage import NotCovered
from refengine.incremental.maintained import AnswerDelta, ContentFollower, MaintainedAnswers
from refengine.incremental.schedule import schedule_evaluations
from refengine.model.elements import Bag, Dataset, Element, Relation, Row, Term, Triple, row
from refengine.sparql.algebra import (
    Basic,
    Distinct,
    Exists,
    Extend,
    Filter,
    Group,
    OrderBy,
    Project,
    walk,
)
from refengine.sparql.datasets import DEFAULT_GRAPH

# Solutions of a whole stream


# A triple, and the number of its element, its index in the stream
NumberedTriple = tuple[Term, Term, Term, int]


class SupportedSolution(NamedTuple):
    """A solution of a basic graph pattern, and the elements of its triples: the last, the first,
    and one for each triple pattern.
    """

    last: int
    first: int
    solution: Solution
    elements: tuple[int, ...]


class SupportedSolutions:
    """The solutions whose elements are at most `span` apart in time, of each basic graph pattern of
    a body, in the order of their last element.

    With a span of 10 and elements at 1, 4 and 12, solutions over the first two are there, and over
    the last two, but none over all three. So any content that is no longer than the span has all
    its solutions here.

    Raises NotCovered for a body that is not covered, and where a triple that matters comes again
    within the span: its solutions would rest on either element.
    """

    def __init__(
        self, body: Body, elements: Sequence[Element], times: Sequence[int], span: int
    ) -> None:
        self.body = body
        self.times = times
        self.span = span
        numbered = MaintainedBody(body, lambda row, count: None, collect=self._collect)
        # by basic graph pattern
        self.widths = [basic.width for basic in numbered.basic_patterns]
        self.solutions: list[list[SupportedSolution]] = [[] for _ in self.widths]

        # by basic graph pattern: its solutions by their first element, sorted when they are first
        # asked for
        self.by_first: dict[int, list[SupportedSolution]] = {}
        self._reset_above()
        answer = self.above.answer
        self.is_projected_pattern = (
            isinstance(answer, MaintainedProjection)
            and isinstance(answer.child, MaintainedBasicPattern)
            and not answer.is_distinct
        )
        self.rows: dict[Solution, Row] = {}
        self._join(numbered, elements)

    def covers(self, content: range) -> bool:
        """Return whether a content is no longer than the span."""
        return not content or self.times[content[-1]] - self.times[content[0]] <= self.span

    def answer(self, content: range) -> Bag:
        """Return the body's answer over a content, which must be covered. Raises NotCovered."""
        if self.is_projected_pattern:
            return Counter(
                [self._row(found.solution) for found in self._solutions_within(0, content)]
            )
        try:
            self._feed(content)
        except NotCovered:
            # The solutions were fed half-way. The next content must not be answered from them.
            self._reset_above()
            raise
        return Counter(self.delta.now)

    def find_change(self, before: range, after: range) -> tuple[list[Row], list[Row]] | None:
        """Return the rows that come, and those that go, as one content becomes another, both of
        which must be covered; None for a body whose rows are not its solutions.

        Its time grows with the number of solutions that rest on an element of only one of the
        contents, and not with the size of the contents.
        """
        if not self.is_projected_pattern:
            return None
        came = [self._row(found.solution) for found in self._solutions_only_in(0, after, before)]
        gone = [self._row(found.solution) for found in self._solutions_only_in(0, before, after)]
        return came, gone

    def supported_rows(self, content: range) -> list[tuple[Row, tuple[int, ...]]] | None:
        """Return the solutions over a content, which must be covered, each as a row of the body's
        variables with the elements that it rests on. Return None for a body whose WHERE clause is
        more than one basic graph pattern under filters, or has a property path.
        """
        if not is_one_basic_pattern(self.body):
            return None
        return [
            (self._row(found.solution), found.elements)
            for found in self._solutions_within(0, content)
        ]

    def _collect(self, place: int, solution: Solution) -> None:
        """Take a solution of a basic graph pattern, followed by the numbers of its elements."""
        width = self.widths[place]
        elements = cast("tuple[int, ...]", solution[width:])
        self.solutions[place].append(
            SupportedSolution(max(elements), min(elements), solution[:width], elements)
        )

    def _reset_above(self) -> None:
        """Make anew what is above the basic graph patterns. It is fed with their solutions
        directly. `fed_content` is the content whose solutions it has: an empty one.
        """
        self.delta = AnswerDelta(is_set=False, has_baseline=False)
        self.above = MaintainedBody(self.body, self.delta.change, is_fed=True)
        self.fed_content = range(0)

    def _feed(self, content: range) -> None:
        """Feed the solutions over a content to what is above the basic graph patterns, in place of
        those over the content before. Raises NotCovered.
        """
        for place, feed in sorted(self.above.feeds.items()):
            for found in self._solutions_only_in(place, self.fed_content, content):
                feed(found.solution, -1)
            for found in self._solutions_only_in(place, content, self.fed_content):
                feed(found.solution, 1)
        self.fed_content = content
        self.above.flush()

    def _join(self, numbered: MaintainedBody, elements: Sequence[Element]) -> None:
        """Collect the solutions: insert each element's triples, after those have been forgotten
        that are further away than the span.
        """
        # its triples are followed by a number, of which its methods know nothing
        graph = numbered.graphs[DEFAULT_GRAPH]
        insert = cast("Callable[[NumberedTriple], None]", graph.insert)
        forget = cast("Callable[[NumberedTriple], None]", graph.retract)
        present = cast("Mapping[NumberedTriple, object]", graph.present)
        oldest = 0
        within_span: set[Triple] = set()
        for k, element in enumerate(elements):
            while self.times[oldest] < self.times[k] - self.span:
                for triple in elements[oldest].graph:
                    forget((*triple, oldest))
                    within_span.discard(triple)
                oldest += 1
            for triple in sorted(element.graph):
                if triple in within_span:
                    raise NotCovered("a triple that comes again")
                insert((*triple, k))
                if (*triple, k) in present:
                    within_span.add(triple)

    def _solutions_within(
        self, place: int, content: range, last_from: int = 0
    ) -> Iterator[SupportedSolution]:
        """Yield the solutions of a basic graph pattern over a content. Those whose last element is
        before `last_from` are left out.
        """
        solutions = self.solutions[place]
        begin = bisect_left(solutions, max(content.start, last_from), key=attrgetter("last"))
        end = bisect_left(solutions, content.stop, key=attrgetter("last"))
        for found in solutions[begin:end]:
            if found.first >= content.start:
                yield found

    def _solutions_only_in(
        self, place: int, content: range, other: range
    ) -> Iterator[SupportedSolution]:
        """Yield the solutions of a basic graph pattern over a content that are not over another:
        those that rest on an element before the other, and then those that rest on one after it.
        """
        if place not in self.by_first:
            self.by_first[place] = sorted(self.solutions[place], key=attrgetter("first"))
        by_first = self.by_first[place]
        begin = bisect_left(by_first, content.start, key=attrgetter("first"))
        end = bisect_left(by_first, min(content.stop, other.start), key=attrgetter("first"))
        for found in by_first[begin:end]:
            if found.last < content.stop:
                yield found

        rest = range(max(content.start, other.start), content.stop)
        yield from self._solutions_within(place, rest, other.stop)

    def _row(self, solution: Solution) -> Row:
        """Return a solution of the first basic graph pattern as a row of the body's variables."""
        if solution not in self.rows:
            names = self.above.basic_patterns[0].names
            variables = set(self.body.variables)
            self.rows[solution] = row(
                (name, term)
                for name, term in zip(names, solution, strict=True)
                if name in variables and term is not None
            )
        return self.rows[solution]


def is_one_basic_pattern(body: Body) -> bool:
    """Return whether a body's WHERE clause is one basic graph pattern under filters, without
    property paths.
    """
    parts = list(walk(body.algebra.pattern))
    if any(isinstance(part, Exists) for part in parts):
        return False
    if sum(isinstance(part, Project) for part in parts) > 1:  # a subselect
        return False
    node = body.algebra.pattern
    while isinstance(node, Project | Distinct | OrderBy | Extend | Group):
        node = node.pattern
    while isinstance(node, Filter):
        node = node.pattern
    return isinstance(node, Basic) and not has_path(node.triples)


# The cache


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
    if reports_each_change and not operator(query, planned.semantics).emits_whole_answers:
        return MaintainedAnswers(query, planned, cache.static)
    variables = query.body.variables

    def look_up(contents: tuple[Content, ...], name: str) -> Relation:
        return Relation(variables, cache(contents))

    return RecomputedAnswers(query, planned, look_up)
