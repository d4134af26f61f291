"""§11 Contents that overlap, confirmed together by their union (ORA-8).

A window that slides holds nearly the same elements at each evaluation. Asking a witness each time
takes evaluations times elements. Asking once for all contents of an overlap takes at most twice the
elements of the stream. Each answer is then the rows that rest on its content alone. It is made from
the one before by the elements that come and go, since a window that slides has about as many
contents as elements.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from refengine.core import r2r
from refengine.core.answers import SuccessiveAnswers, recomputed_answers
from refengine.core.plan import Plan, operator
from refengine.core.query import Body
from refengine.core.r2s import AnswerChange
from refengine.core.schedule import WindowContent
from refengine.core.window import Content
from refengine.incremental.algebra.nodes import add_count
from refengine.incremental.maintained import without
from refengine.model.compare import Exact, Mode
from refengine.model.elements import Bag, Dataset, Relation, Row, Triple
from refengine.model.errors import Disputed, RefengineError, Unsupported
from refengine.model.row_groups import RowGroups
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.derivations import projects
from refengine.oracle.trial import RecordingToJudge
from refengine.sparql.algebra import Pattern, Project, Union, Variable, visible, walk

# The union of an overlap spans at most so many times the elements that its longest content spans.
LONGEST_UNION = 2
# Contents are confirmed together if they have more than so many times the elements of their union.
LEAST_SAVING = 2
# The variables that the first SELECT of a text names, up to what follows them.
PROJECTION = re.compile(r"(?<![:/#\w?-])SELECT\b[^{]*?(?=\bFROM\b|\bWHERE\b|\{)", re.IGNORECASE)

Change = tuple[list[Row], list[Row]]  # the rows that come, and those that go


class Overlap(NamedTuple):
    """Contents that overlap, where every witness confirms the answer over their union.

    `union` has the indices of its elements, ascending, and `dataset` is what they make. `derived`
    has each row of the SPARQL evaluator's answer over it, with the statements that the row rests
    on.
    """

    union: Sequence[int]
    dataset: Dataset
    derived: tuple[tuple[Row, frozenset[Triple]], ...]

    def rows_of(self, dataset: Dataset) -> Bag:
        """Return the bag of the answer over a part: the rows that rest on its statements alone."""
        return Counter(line for line, support in self.derived if support <= dataset)


class AnswerWithinOverlaps:
    """A function from a graph to the SPARQL evaluator's answer over it, read from the overlap that
    has the graph. Over a graph of no overlap the SPARQL evaluator itself is asked.

    Graphs must be given in the order of the stream: an overlap that is passed is not looked at
    again.
    """

    def __init__(self, overlaps: Sequence[Overlap], answers: SharedAnswers) -> None:
        self._overlaps = overlaps
        self._answers = answers
        self._current = 0

    def __call__(self, body: Body, graph: Dataset) -> Relation:
        """Return the answer over a graph. `before_answer` is called once: here, or by the table of
        answers for a graph of no overlap.
        """
        for number in range(self._current, len(self._overlaps)):
            overlap = self._overlaps[number]
            if graph <= overlap.dataset:
                self._answers.before_answer()
                self._current = number
                return Relation(body.variables, overlap.rows_of(graph))
        return self._answers(body, graph)


def may_be_confirmed_together(recorded: RecordingToJudge, planned: Plan) -> bool:
    """ORA-8: whether contents may be confirmed by their union: there is one window, and the answer
    over a part is the solutions that rest on this part alone.
    """
    return len(planned.views) == 1 and body_of_solutions(recorded) is not None


def body_of_solutions(recorded: RecordingToJudge) -> Body | None:
    """ORA-8: return the body of a recording with all of its variables selected, if its answer over
    a part of the stream is the solutions that rest on this part alone. That is so for a body that
    projects solutions (ORA-5), whose rows are compared by value. Return None for any other.
    """
    body = recorded.query.body
    if recorded.mode is not Mode.VALUE or not projects(body):
        return None
    return with_every_variable(body)


@lru_cache(maxsize=64)
def with_every_variable(body: Body) -> Body | None:
    """ORA-8: return a body with all variables of its WHERE clause selected, or None if its rows
    would still not tell on which statements they rest: with UNION, or with a blank node in a
    pattern.

    If a variable were left out, a witness could lose one solution and invent another with the same
    row. Over their union such a witness would seem to be right, and over each part it is wrong.

    >>> with_every_variable(Body("SELECT ?x { ?x <urn:p> ?y }")).text
    'SELECT * { ?x <urn:p> ?y }'
    """
    where = _where_of(body)
    nodes = list(walk(where))
    if any(isinstance(node, Union) for node in nodes):
        return None
    if any(isinstance(node, Variable) and node.is_hidden for node in nodes):
        return None

    try:
        whole = Body(PROJECTION.sub("SELECT * ", body.text, count=1))
    except RefengineError:
        return None
    if not isinstance(whole.algebra.pattern, Project) or _where_of(whole) != where:
        return None
    if set(whole.variables) != set(visible(where)):
        return None
    return whole


def _where_of(body: Body) -> Pattern:
    """Return the WHERE clause of a body that projects solutions."""
    projection = body.algebra.pattern
    assert isinstance(projection, Project)
    return projection.pattern


def split_into_overlaps(contents: Iterable[Content]) -> Iterator[list[Content]]:
    """Yield contents that follow one another in groups. Each content of a group shares elements
    with those before it, and their union spans at most LONGEST_UNION times its longest content.

    >>> list(split_into_overlaps([range(0, 4), range(2, 6), range(4, 8), range(6, 10)]))
    [[range(0, 4), range(2, 6), range(4, 8)], [range(6, 10)]]
    """
    group: list[Content] = []
    first = last = longest = 0
    for content in contents:
        if not content:
            yield [content]
            continue
        span = content[-1] - content[0] + 1
        joined_first = min(first, content[0])
        joined_last = max(last, content[-1])
        joined_longest = max(longest, span)
        is_close = joined_last - joined_first + 1 <= LONGEST_UNION * joined_longest
        if group and content[0] <= last and is_close:
            group.append(content)
            first, last, longest = joined_first, joined_last, joined_longest
            continue
        if group:
            yield group
        group = [content]
        first, last, longest = content[0], content[-1], span
    if group:
        yield group


def union_of(contents: Sequence[Content]) -> tuple[int, ...]:
    """Return what is in any of some contents, ascending. It takes as long as contents that follow
    one another differ.
    """
    union: set[int] = set()
    before: Content = range(0)
    for content in contents:
        union.update(without(content, before))
        before = content
    return tuple(sorted(union))


def confirm_overlap(
    recorded: RecordingToJudge,
    planned: Plan,
    contents: Sequence[Content],
    answers: SharedAnswers,
    witnesses: tuple[str, ...],
) -> Overlap | None:
    """ORA-8: return the overlap of some contents, if every witness confirms the SPARQL evaluator's
    answer over their union, with all variables of the WHERE clause.

    Return None if a witness differs, or if the answer over a part does not follow from that over
    the union. Return None, too, if the contents together have at most LEAST_SAVING times the
    elements of their union, since to ask for each content then takes no longer.
    """
    union = union_of(contents)
    if sum(map(len, contents)) <= LEAST_SAVING * len(union):
        return None
    heard = len(answers.testimonies_used)
    overlap = _confirm_union(recorded, planned, union, answers, witnesses)
    if overlap is None:
        # no verdict rests on what witnesses said of a union that is given up
        del answers.testimonies_used[heard:]
    return overlap


def _confirm_union(
    recorded: RecordingToJudge,
    planned: Plan,
    union: Sequence[int],
    answers: SharedAnswers,
    witnesses: tuple[str, ...],
) -> Overlap | None:
    """ORA-8: return the overlap whose union has these elements. Return None if a witness differs,
    or if the answer over a part does not follow from that over the union.
    """
    body = recorded.query.body
    whole = body_of_solutions(recorded)
    if whole is None:
        return None
    dataset = r2r.dataset_of_windows(planned.views, (union,), recorded.static)
    try:
        relation = answers.confirmed_answer(whole, dataset, witnesses)
        triples = frozenset(statement for statement in dataset if len(statement) == 3)
        solutions = answers.derivations(whole, triples)
        derivations = answers.derivations(body, triples)
    except (Disputed, Unsupported):
        return None
    is_confirmed_by_all = not answers.testimonies_used[-1].others
    if not is_confirmed_by_all or Counter(each.row for each in solutions) != relation.rows:
        return None
    derived = tuple((each.row, each.support) for each in derivations)
    return Overlap(union, dataset, derived)


class OverlapFollower:
    """The answer over one content of an overlap after the other. A move costs the elements that
    come and go, and the rows that rest on them.
    """

    def __init__(self, overlap: Overlap, planned: Plan, static: Dataset) -> None:
        (self.view,) = planned.views
        self.is_scoped = bool(static)  # then a blank node is one of the stream (R2R-8)
        self.content: Content = range(0)
        self.copies: Counter[Triple] = Counter()  # how many elements of the content have each
        self.derived = [line for line, _ in overlap.derived]
        self.lacking = [len(support) for _, support in overlap.derived]  # triples of each row
        self.resting: defaultdict[Triple, list[int]] = defaultdict(list)  # the rows on each triple
        for number, (_, support) in enumerate(overlap.derived):
            for triple in support:
                self.resting[triple].append(number)

        of_nothing = [line for line, support in overlap.derived if not support]
        self.rows: Bag = Counter(of_nothing)
        for statement in sorted(r2r.dataset_of_windows(planned.views, ((),), static)):
            if len(statement) == 3:
                self.rows.update(self._insert(statement))

    def move_to(self, content: Content) -> Change:
        """Take another content. Return the rows that come, and those that go."""
        before, self.content = self.content, content
        gone = [
            line
            for index in without(before, content)
            for triple in self._triples(index)
            for line in self._retract(triple)
        ]
        came = [
            line
            for index in without(content, before)
            for triple in self._triples(index)
            for line in self._insert(triple)
        ]
        for line in gone:
            add_count(self.rows, line, -1)
        self.rows.update(came)
        return came, gone

    def _triples(self, index: int) -> Sequence[Triple]:
        """Return the triples of an element that are in the default graph, in a certain order."""
        if self.view.spec.name is not None:
            return []
        graph = self.view.elements[index].graph
        if self.is_scoped:
            graph = r2r.scope_blank_nodes(graph, "0")
        return sorted(graph)

    def _insert(self, triple: Triple) -> list[Row]:
        """Add a triple, and return the rows that come with it."""
        came = []
        if add_count(self.copies, triple, 1):
            for number in self.resting.get(triple, ()):
                self.lacking[number] -= 1
                if not self.lacking[number]:
                    came.append(self.derived[number])
        return came

    def _retract(self, triple: Triple) -> list[Row]:
        """Remove a triple, and return the rows that go with it."""
        gone = []
        if add_count(self.copies, triple, -1):
            for number in self.resting.get(triple, ()):
                if not self.lacking[number]:
                    gone.append(self.derived[number])
                self.lacking[number] += 1
        return gone


class SuccessiveOverlapAnswers:
    """The SPARQL evaluator's answers at one evaluation after the other, most of which are over
    contents of overlaps. Those over other contents are computed each by itself.

    R2S is given the groups of rows that have changed since the baseline: no row of another group is
    equal to one of them, so that all others pair with themselves (CMP-3).
    """

    def __init__(
        self,
        recorded: RecordingToJudge,
        planned: Plan,
        overlaps: Sequence[Overlap],
        answers: SharedAnswers,
    ) -> None:
        self.recorded = recorded
        self.planned = planned
        self.answers = answers
        self.coming = list(reversed(overlaps))
        self.follower: OverlapFollower | None = None  # of the overlap that comes first
        self.is_rstream = operator(recorded.query, planned.semantics).emits_whole_answers
        self.now: Bag = Counter()
        self.groups = RowGroups((), Mode.VALUE)
        self.baseline: dict[Exact, Bag] = {}  # of the groups that have changed since

    def answer_over(self, windows: tuple[WindowContent, ...]) -> AnswerChange:
        """Return the answer over what the window holds, and its difference from the baseline."""
        (held,) = windows
        came, gone = self._move_to(held.content)
        for group in dict.fromkeys(map(self.groups.group_of, [*gone, *came])):
            if group not in self.baseline:
                self.baseline[group] = Counter(self.groups.groups[group])
        self.groups.change(came, gone)
        for line in gone:
            add_count(self.now, line, -1)
        self.now.update(came)

        now = self.now
        if self.is_rstream:
            now = Counter(now)  # a report keeps it
        after: Bag = Counter()
        before: Bag = Counter()
        for group, rows in self.baseline.items():
            after.update(self.groups.groups[group])
            before.update(rows)
        return AnswerChange(self.recorded.query.body.variables, now, after, before)

    def rebase(self) -> None:
        """Make the last answer the baseline of those to come."""
        self.baseline.clear()

    def _move_to(self, content: Content) -> Change:
        """Take another content. Return the rows that come, and those that go. `before_answer` is
        called once, for a content of no overlap by the table of answers.
        """
        if self.follower is not None and _is_within(content, self.coming[-1]):
            self.answers.before_answer()
            return self.follower.move_to(content)

        self.follower = None
        if any(_is_within(content, overlap) for overlap in self.coming):
            self.answers.before_answer()
            while not _is_within(content, self.coming[-1]):
                self.coming.pop()
            self.follower = OverlapFollower(self.coming[-1], self.planned, self.recorded.static)
            self.follower.move_to(content)
            rows = self.follower.rows
        else:
            body = self.recorded.query.body
            views = self.planned.views
            dataset = r2r.dataset_of_windows(views, (content,), self.recorded.static, body)
            rows = self.answers(body, dataset).rows
        return [*(rows - self.now).elements()], [*(self.now - rows).elements()]


def _is_within(content: Content, overlap: Overlap) -> bool:
    """Whether a content without gaps is within an overlap without gaps."""
    if not isinstance(content, range):
        return False
    union = overlap.union
    has_gaps = union[-1] - union[0] + 1 > len(union)
    return not has_gaps and union[0] <= content.start and content.stop <= union[-1] + 1


def successive_answers(
    recorded: RecordingToJudge,
    planned: Plan,
    overlaps: Sequence[Overlap],
    answers: SharedAnswers,
) -> SuccessiveAnswers:
    """ORA-8: Return the SPARQL evaluator's answers at a plan's evaluations, where those over
    contents of overlaps are known.

    They are made one from the other under Rstream, Istream and Dstream, over bags. Otherwise, and
    if there are no overlaps, each is computed anew.
    """
    semantics = planned.semantics
    is_append = operator(recorded.query, semantics).reads_kept_content
    if overlaps and not is_append and not semantics.collection.drops_equal_rows:
        return SuccessiveOverlapAnswers(recorded, planned, overlaps, answers)
    by_overlaps = AnswerWithinOverlaps(overlaps, answers)
    return recomputed_answers(recorded.query, planned, recorded.static, by_overlaps)
