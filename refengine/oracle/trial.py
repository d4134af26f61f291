"""§11 What the oracle judges and finds: a recording, an assignment tried on it, and how outputs
match the recording (ORA-3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypedDict, Unpack

from refengine.core import window
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.core.semantics import Closure, Semantics
from refengine.core.window import Content
from refengine.model import compare
from refengine.model.canonical import canonical_dataset
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Relation, Stream
from refengine.oracle.comparison import Alignment, Borders, Divergence
from refengine.oracle.reports import Reports


class Missing(NamedTuple):
    """How many outputs may be missing from a recording: before its first relation, and after its
    last one (ORA-3).
    """

    before: int
    after: int

    @staticmethod
    def of(bound: int | Missing) -> Missing:
        """Return the bounds of both ends, which one number states for both."""
        if isinstance(bound, Missing):
            return bound
        return Missing(bound, bound)

    def __str__(self) -> str:
        if self.before == self.after:
            return f"{self.before} at each end"
        return f"{self.before} before the first and {self.after} after the last"


class TermsOfJudgement(TypedDict, total=False):
    """How a recording is held against its question: how many outputs may be missing at each end (1
    unless it is stated), how terms are compared (by value unless it is stated), and the windows
    that the engine states, as RecordedAnswer has them.
    """

    missing: int | Missing
    mode: Mode
    windows: Sequence[Borders | None]
    window_closure: Closure | None


@dataclass(frozen=True)
class RecordedAnswer:
    """What is judged: a question and the relations that were recorded of its answer, with the
    stated bounds and mode.

    `windows` are the borders of the window that the engine states for each relation; None, or an
    entry too few, where it states none. `window_closure` says which borders belong to a stated
    window; None where it is that of the semantics.
    """

    question: Question
    relations: tuple[Relation, ...]
    missing: Missing
    mode: Mode
    windows: tuple[Borders | None, ...] = ()
    window_closure: Closure | None = None

    @staticmethod
    def of(
        question: Question, recording: Sequence[Relation], **terms: Unpack[TermsOfJudgement]
    ) -> RecordedAnswer:
        """Return what is judged of a question and its recorded answer, on stated terms."""
        windows = tuple(terms.get("windows", ()))
        if not any(windows):
            windows = ()
        return RecordedAnswer(
            replace(question, static=canonical_dataset(question.static)),
            tuple(recording),
            Missing.of(terms.get("missing", 1)),
            terms.get("mode", Mode.VALUE),
            windows,
            terms.get("window_closure"),
        )

    @property
    def query(self) -> Query:
        """The query that was asked."""
        return self.question.query

    @property
    def streams(self) -> Mapping[str, Stream]:
        """The streams by name."""
        return self.question.streams

    @property
    def static(self) -> Dataset:
        """The data that never changes."""
        return self.question.static

    @cached_property
    def rows(self) -> list[Bag]:
        """The rows of each relation."""
        return [relation.rows for relation in self.relations]

    def stated_window(self, index: int, closure: Closure | None) -> Borders | None:
        """Return the first and the last instant of the window that the engine states for a
        relation; None where it states none.
        """
        if index >= len(self.windows):
            return None
        return first_and_last_instant(self.windows[index], self.window_closure or closure)

    def first_stated_window(self) -> tuple[Borders, Closure | None] | None:
        """Return the first window that the engine states, with the closure that is stated for it;
        None if it states none.
        """
        for borders in self.windows:
            if borders:
                return borders, self.window_closure
        return None

    def is_about(self, index: int, borders: Borders | None, closure: Closure | None) -> bool:
        """ORA-11: whether the window that the engine states for a relation holds the same instants
        as a report's window does.

        True where either has no window. Over integers [0, 10) and (-1, 9] are the same.
        """
        stated = self.stated_window(index, closure)
        expected = first_and_last_instant(borders, closure)
        return stated is None or expected is None or stated == expected


def first_and_last_instant(borders: Borders | None, closure: Closure | None) -> Borders | None:
    """Return the first and the last instant of the window with these borders (WIN-2)."""
    if borders is None:
        return None
    low, high = window.borders(closure)
    return borders[0] + low, borders[1] + high


class T0Class(NamedTuple):
    """A class of t0 values that no element tells apart: the one tried, and the class's bounds."""

    t0: int
    lo: int
    hi: int


class State(NamedTuple):
    """How much of the recording is explained: outputs missing before it, relations matched, outputs
    missing after it.
    """

    before: int
    matched: int
    after: int


def advance(
    states: Iterable[State],
    output: Bag,
    recorded: RecordedAnswer,
    borders: Borders | None = None,
    closure: Closure | None = None,
) -> set[State]:
    """ORA-3: return the states that one more output of the semantics leads to: it is missing before
    the recording or after it, within the bounds, or it is the recording's next relation.

    `borders` and `closure` are those of the output's window, which the next relation must not
    contradict (ORA-11).
    """
    rows = recorded.rows
    following: set[State] = set()
    same: dict[int, bool] = {}  # of each relation, which several states may have next
    for before, matched, after in states:
        if matched == 0 and before < recorded.missing.before:
            following.add(State(before + 1, 0, 0))

        if matched < len(rows) and matched not in same:
            same[matched] = compare.equal(output, rows[matched], recorded.mode)
        if same.get(matched) and recorded.is_about(matched, borders, closure):
            following.add(State(before, matched + 1, 0))

        if matched == len(rows) and rows and after < recorded.missing.after:
            following.add(State(before, matched, after + 1))
    return following


def find_accepting_state(states: Iterable[State], recorded: RecordedAnswer) -> State | None:
    """Return the state that explains all of the recording with the fewest outputs missing; None if
    there is none. An empty recording allows no output to be missing.
    """
    whole = [
        state
        for state in states
        if state.matched == len(recorded.relations) and (recorded.relations or state.before == 0)
    ]
    return min(whole, key=lambda state: (state.before + state.after, state), default=None)


@dataclass(frozen=True)
class Trial:
    """One assignment against the recording.

    `accepted` is the state that explains all of the recording, None where none does. `reached` is
    the greatest number of relations that some state explains. `ordered` says that no order had to
    be searched. `last` is what each window held where the trial ended, and `answer` what
    incremental evaluation answers over it (None: the definition did). `by` says who computed it.
    `reports` are there for a trial that explains the recording, and for the one that a judgement
    names; its `alignment`, too, unless orders were searched.
    """

    semantics: Semantics
    t0_class: T0Class
    accepting_state: State | None
    divergence: Divergence | None = None
    is_order_known: bool = True
    last_contents: tuple[Content, ...] | None = None
    last_answer: Bag | None = None
    computed_by: str = "the definition"
    most_matched: int = 0
    alignment: Alignment | None = None
    reports: Reports | None = field(default=None, compare=False, repr=False)
