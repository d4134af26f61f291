"""§11 What the oracle judges and finds: a recording, how outputs match its relations (ORA-3),
and an assignment that was tried on it.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, TypedDict, Unpack

from refengine.core import window
from refengine.core.engine import Report
from refengine.core.query import Query, WindowKind
from refengine.core.question import Question, refuse_no_question
from refengine.core.semantics import Semantics
from refengine.core.values import Closure
from refengine.core.window import Content
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Relation, Stream, canonical_recording
from refengine.model.entrance import mode_of
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest
from refengine.oracle.comparison import Alignment, Borders, Divergence
from refengine.oracle.t0_classes import T0Class
from refengine.sparql.witnesses import WITNESSES

NO_CLASS = T0Class(0, 0, 0)  # where t0 is no integer
OPTIONS = ("missing", "mode", "windows", "window_closure")


class Missing(NamedTuple):
    """How many outputs of the semantics may be missing from a recording (ORA-3): `before` its first
    relation, and `after` its last one.
    """

    before: int
    after: int

    @staticmethod
    def of(bound: int | Missing) -> Missing:
        """Return the bounds as a pair. One number stands for both ends. Raises RefengineError for
        what is no number of outputs.
        """
        bounds = bound if isinstance(bound, Missing) else Missing(bound, bound)
        for count in bounds:
            if not isinstance(count, int) or isinstance(count, bool) or count < 0:
                reason = f"must be an integer >= 0, or a Missing of two, got {display(bound)}"
                raise RefengineError(reason, rule="ORA-3", place="missing")
        return bounds

    def __str__(self) -> str:
        if self.before == self.after:
            return f"{self.before} at each end"
        return f"{self.before} before the first and {self.after} after the last"


class JudgementOptions(TypedDict, total=False):
    """The options of a verdict.

    `missing` bounds the outputs that may be missing at each end (default: 1). `mode` says how terms
    are compared (default: by value). `windows` and `window_closure` are those of RecordingToJudge.
    """

    missing: int | Missing
    mode: Mode
    windows: Sequence[Borders | None]
    window_closure: Closure | None


@dataclass(frozen=True)
class RecordingToJudge:
    """The recording that is judged: a question, and the relations that an engine emitted for it.

    `missing` and `mode` are those of JudgementOptions. `windows` are the borders of the window that
    the engine states for each relation; None, or an entry too few, where it states none.
    `window_closure` says which borders belong to a stated window; None stands for the closure of
    the semantics that is tried.
    """

    question: Question
    relations: tuple[Relation, ...]
    missing: Missing
    mode: Mode
    windows: tuple[Borders | None, ...] = ()
    window_closure: Closure | None = None

    @staticmethod
    def of(
        question: Question, recording: Sequence[Relation], **options: Unpack[JudgementOptions]
    ) -> RecordingToJudge:
        """Return what is judged: a question and recorded relations, with some options. Every door
        to the judge comes through here.

        MOD-4: the terms of the relations are made canonical. Raises InvalidStream for what is no
        relation or no term.

        ORA-3: of a recording without relations no output may be missing.
        """
        refuse_no_question(question)
        check_options(options)
        relations = canonical_recording(recording)
        missing = Missing.of(options.get("missing", 1))
        if not relations:
            missing = Missing(0, 0)
        windows = _check_windows(options.get("windows", ()), len(relations))
        return RecordingToJudge(
            question,
            relations,
            missing,
            options.get("mode", Mode.VALUE),
            windows,
            _check_closure(options.get("window_closure")),
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

    def __repr__(self) -> str:
        return f"<RecordingToJudge of {len(self.relations)} relations>"

    @cached_property
    def rows(self) -> list[Bag]:
        """The rows of each relation."""
        return [relation.rows for relation in self.relations]

    def stated_window(self, index: int, closure: Closure | None) -> Borders | None:
        """Return the first and the last instant of the window that the engine states for relation
        `index`; None where it states none. `closure` is that of the semantics that is tried. It is
        also that of a session, whose borders are compared as they are stated (WIN-23).
        """
        if index >= len(self.windows):
            return None
        if self.query.windows[0].kind is WindowKind.SESSION:
            return first_and_last_instant(self.windows[index], closure)
        return first_and_last_instant(self.windows[index], self.window_closure or closure)

    def stated_borders(self, index: int, closure: Closure | None) -> Borders | None:
        """Return the borders, by the closure of the semantics that is tried, of the window that the
        engine states for relation `index`; None where it states none. Stated as (-1, 9], it is
        [0, 10) by `[)`.
        """
        instants = self.stated_window(index, closure)
        if instants is None:
            return None
        low, high = window.borders(closure)
        return instants[0] - low, instants[1] - high

    def first_stated_window(self) -> tuple[Borders, Closure | None] | None:
        """Return the borders of the first window that the engine states, and the stated closure;
        None if it states no window.
        """
        for borders in self.windows:
            if borders:
                return borders, self.window_closure
        return None

    def is_about(self, index: int, borders: Borders | None, closure: Closure | None) -> bool:
        """ORA-11: whether the window that the engine states for relation `index` holds the same
        instants as a report's window, which has these `borders`.

        Nothing is compared where the engine states no window. Where a report has no borders (None),
        no stated window is its own. Over integers [0, 10) and (-1, 9] hold the same instants.
        """
        stated = self.stated_window(index, closure)
        return stated is None or stated == first_and_last_instant(borders, closure)


def check_options(options: Mapping[str, Any]) -> None:
    """ORA-1: Check the names of a verdict's options, and the value of `mode`; the trial checks the
    other values. Raises RefengineError.
    """
    for name in options:
        if name not in OPTIONS:
            reason = f"unknown option {name!r}{nearest(name, OPTIONS)}"
            raise RefengineError(reason, rule="ORA-1", place="judge")
    mode_of(options.get("mode", Mode.VALUE))


def check_witnesses(names: Collection[str]) -> None:
    """R2R-5: Check the names of witnesses. Raises RefengineError."""
    if isinstance(names, str) or not isinstance(names, Collection):
        reason = f'must be names, got {display(names)}; write ("rdflib", "pyoxigraph")'
        raise RefengineError(reason, rule="R2R-5", place="witnesses")
    for name in names:
        if name not in WITNESSES:
            reason = f"no witness {display(name)}{nearest(name, WITNESSES)}"
            raise RefengineError(reason, rule="R2R-5", place="witnesses")


def _check_windows(stated: Iterable[object], relations: int) -> tuple[Borders | None, ...]:
    """ORA-11: return the windows that an engine states for so many relations; nothing if it states
    none. Raises RefengineError for what are no windows.
    """
    try:
        windows = tuple(stated)
    except TypeError:
        reason = f"must be a list of (o, c) or None, one for each relation, got {display(stated)}"
        raise RefengineError(reason, rule="ORA-11", place="windows") from None
    if len(windows) > relations:
        reason = f"must be one for each of {relations} relations at most, got {len(windows)}"
        raise RefengineError(reason, rule="ORA-11", place="windows")
    checked = tuple(_check_borders(window, number) for number, window in enumerate(windows, 1))
    return checked if any(checked) else ()


def _check_borders(stated: object, number: int) -> Borders | None:
    """Return the borders (o, c) of the window stated for a relation, or None where none is."""
    if stated is None:
        return None
    match stated:
        case [int(opens), int(closes)] if (
            opens <= closes and not isinstance(opens, bool) and not isinstance(closes, bool)
        ):
            return opens, closes
    reason = f"must be (o, c), two integers with o <= c, or None, got {display(stated)}"
    raise RefengineError(reason, rule="ORA-11", place=f"window of relation {number}")


def _check_closure(closure: object) -> Closure | None:
    """Return the closure of stated windows. Raises RefengineError for what is none."""
    if closure is None or isinstance(closure, Closure):
        return closure
    if isinstance(closure, str) and closure in tuple(Closure):
        return Closure(closure)
    reason = f"must be one of {', '.join(Closure)}, or None, got {display(closure)}"
    raise RefengineError(reason, rule="ORA-11", place="window_closure")


def first_and_last_instant(borders: Borders | None, closure: Closure | None) -> Borders | None:
    """Return the first and the last instant of the window with these borders (WIN-2)."""
    if borders is None:
        return None
    low, high = window.borders(closure)
    return borders[0] + low, borders[1] + high


class State(NamedTuple):
    """One way to explain the outputs so far: `before` outputs are missing before the recording, the
    next ones are its first `matched` relations, and `after` outputs are missing after its last one.
    """

    before: int
    matched: int
    after: int


def advance(
    states: Iterable[State],
    output: Bag,
    recorded: RecordingToJudge,
    borders: Borders | None = None,
    closure: Closure | None = None,
) -> set[State]:
    """ORA-3: return the states that one more output of the semantics leads to.

    The output is missing before the recording, or it equals the next relation, or it is missing
    after the last relation. `borders` and `closure` are those of the output's window, which the
    window stated for the next relation must not contradict (ORA-11). No state is returned if
    nothing explains the output.
    """
    rows = recorded.rows
    following: set[State] = set()
    is_equal: dict[int, bool] = {}  # by relation, since several states may have the same one next
    for before, matched, after in states:
        # The output came before the recording began.
        if matched == 0 and before < recorded.missing.before:
            following.add(State(before + 1, 0, 0))

        # The output is the next relation.
        if matched < len(rows) and matched not in is_equal:
            is_equal[matched] = compare.equal(output, rows[matched], recorded.mode)
        if is_equal.get(matched) and recorded.is_about(matched, borders, closure):
            following.add(State(before, matched + 1, 0))

        # The output came after the recording ended.
        if matched == len(rows) and rows and after < recorded.missing.after:
            following.add(State(before, matched, after + 1))
    return following


def find_accepting_state(states: Iterable[State], recorded: RecordingToJudge) -> State | None:
    """Return the state in which all relations are matched, with the fewest outputs missing; None if
    there is none.
    """
    count = len(recorded.relations)
    accepting = [state for state in states if state.matched == count]
    return min(accepting, key=lambda state: (state.before + state.after, state), default=None)


class Reports:
    """A list of reports that grows as it is read. `source` yields the reports in order."""

    def __init__(self, source: Iterable[Report]) -> None:
        self._source = iter(source)
        self._computed: list[Report] = []

    def __repr__(self) -> str:
        return f"<Reports, {len(self._computed)} computed so far>"

    def __reduce__(self) -> tuple[type[Reports], tuple[tuple[Report, ...]]]:
        """Return what is pickled: all reports, which are computed for it."""
        return Reports, (self.first(sys.maxsize),)

    def get(self, place: int) -> Report | None:
        """Return the report at a place, from 0; None if there are fewer reports."""
        self._compute(place + 1)
        if place >= len(self._computed):
            return None
        return self._computed[place]

    def first(self, count: int) -> tuple[Report, ...]:
        """Return the first `count` reports, or all if there are fewer."""
        self._compute(count)
        return tuple(islice(self._computed, max(0, count)))

    def computed(self, least: int) -> tuple[Report, ...]:
        """Return all reports that were computed so far, after at least `least` were."""
        self._compute(least)
        return tuple(self._computed)

    def _compute(self, count: int) -> None:
        """Compute reports until there are `count`, or all if there are fewer."""
        missing = count - len(self._computed)
        if missing > 0:
            self._computed.extend(islice(self._source, missing))


@dataclass(frozen=True)
class Trial:
    """One assignment, and what came of holding it against the recording. `t0_class` are the values
    of t0 with which the same comes of it.

    `accepting_state` explains all relations; None if the assignment failed. `most_matched` is the
    greatest number of relations that some state explains. `divergence` is where a failed trial and
    the recording part. It is found at once where arrival orders were searched, and else only for
    the nearest trial.

    `is_order_known` is False where arrival orders were searched. `computed_by` says in words who
    computed the answers. `last_contents` is what each window held at the last evaluation that was
    looked at, and `last_answer` is what incremental evaluation answers over it (None: the
    SPARQL evaluator answered).

    `has_too_many_reports` says that the assignment gives more reports than are computed (ENG-3). So
    it failed, and there is nothing to be near to.

    `reports` are there for a trial that explains the recording and for the one that a judgement
    names; so is `alignment`, unless arrival orders were searched.
    """

    semantics: Semantics
    t0_class: T0Class = NO_CLASS
    accepting_state: State | None = None
    divergence: Divergence | None = None
    is_order_known: bool = True
    last_contents: tuple[Content, ...] | None = None
    last_answer: Bag | None = None
    computed_by: str = "the SPARQL evaluator"
    most_matched: int = 0
    has_too_many_reports: bool = False
    alignment: Alignment | None = None
    reports: Reports | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        fate = "explains the recording" if self.explains_recording else "failed"
        return f"<Trial with {self.semantics}: {fate}>"

    @property
    def explains_recording(self) -> bool:
        """Whether the assignment explains all relations of the recording."""
        return self.accepting_state is not None
