"""§11 The answers over contents that were confirmed together (ORA-8), one after the other.

Each is the rows that rest on the content alone. It is made from the one before by the elements that
come and go, since a window that slides has about as many contents as elements.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from refengine.core import r2r
from refengine.core.answers import SuccessiveAnswers, recomputed_answers
from refengine.core.plan import Plan, operator
from refengine.core.r2s import AnswerChange
from refengine.core.schedule import WindowContent
from refengine.core.semantics import R2S, Collection
from refengine.core.window import Content
from refengine.incremental.algebra.nodes import add_count
from refengine.incremental.maintained import without
from refengine.model.compare import Exact, Mode
from refengine.model.elements import Bag, Dataset, Row, Triple
from refengine.model.row_groups import RowGroups
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.overlaps import AnswerWithinOverlaps, Overlap
from refengine.oracle.trial import RecordingToJudge

Change = tuple[list[Row], list[Row]]  # the rows that come, and those that go


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
    """The definition's answers at one evaluation after the other, most of which are over contents
    of overlaps. Those over other contents are computed each by itself.

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
        self.is_rstream = operator(recorded.query, planned.semantics) is R2S.RSTREAM
        self.now: Bag = Counter()
        self.groups = RowGroups((), Mode.VALUE)
        self.baseline: dict[Exact, Bag] = {}  # of the groups that have changed since

    def at(self, windows: tuple[WindowContent, ...]) -> AnswerChange:
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
    """ORA-8: Return the definition's answers at a plan's evaluations, where those over contents of
    overlaps are known.

    They are made one from the other under Rstream, Istream and Dstream, over bags. Otherwise, and
    if there are no overlaps, each is computed anew.
    """
    semantics = planned.semantics
    is_append = operator(recorded.query, semantics) is R2S.APPEND
    if overlaps and not is_append and semantics.collection is Collection.BAG:
        return SuccessiveOverlapAnswers(recorded, planned, overlaps, answers)
    by_overlaps = AnswerWithinOverlaps(overlaps, answers)
    return recomputed_answers(recorded.query, planned, recorded.static, by_overlaps)
