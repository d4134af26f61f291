"""§9 Reports: R2R gives an evaluation's answer, R2S an output, and an output that is emitted is a
report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from refengine.core import window
from refengine.core.answers import SuccessiveAnswers
from refengine.core.growing import kept_elements
from refengine.core.plan import Plan, operator
from refengine.core.query import Query
from refengine.core.r2s import AnswerChange, Output, RelationToStream
from refengine.core.schedule import Evaluation, WindowContent
from refengine.core.semantics import Semantics
from refengine.core.values import Instant
from refengine.core.window import Content, WindowView
from refengine.model.elements import MOST_SHOWN, Element, Relation
from refengine.model.errors import RefengineError
from refengine.model.messages import shortened

Borders = tuple[tuple[int, int] | None, ...]  # of each window of a query


class Contents(Sequence[Element]):
    """The elements of a content, each looked up when it is asked for. They stay when a stream that
    grows forgets them.
    """

    __slots__ = ("elements", "indices")

    def __init__(self, elements: Sequence[Element], indices: Content) -> None:
        self.elements = kept_elements(elements, indices)
        self.indices = indices

    def __len__(self) -> int:
        return len(self.indices)

    @overload
    def __getitem__(self, index: int) -> Element: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Element, ...]: ...
    def __getitem__(self, index: int | slice) -> Element | tuple[Element, ...]:
        if isinstance(index, slice):
            return tuple(self.elements[i] for i in self.indices[index])
        return self.elements[self.indices[index]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contents | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        if len(self) > MOST_SHOWN:
            return f"<{len(self)} elements>"
        return shortened(repr(tuple(self)), 500)

    def __reduce__(self) -> tuple[type[Contents], tuple[tuple[Element, ...], Content]]:
        """Return what makes the same contents, without the other elements of the stream."""
        return Contents, (tuple(self), range(len(self)))


@dataclass(frozen=True, slots=True)
class Report:
    """One report of a query.

    `evaluation` is the instant at which the query was evaluated. `trigger` is the t_app of the
    arrival that triggered it, which for the flush is the horizon. `instant` is the output instant
    (ENG-4).

    For each window of the query `windows` has its borders (o, c), None where it has none, and
    `contents` its elements. `late` is the number of elements that had been dropped because they
    were late (MOD-2), and `relation` is what is emitted. `takes_back` says that an earlier report
    of this window, with this relation, is taken back (REP-16). `key` are the terms of the window's
    key, if it has one (WIN-24).
    """

    evaluation: int
    trigger: int
    windows: Borders
    instant: int
    contents: tuple[Sequence[Element], ...]
    late: int
    relation: Relation
    takes_back: bool = False
    key: tuple[str, ...] = ()

    @property
    def window(self) -> tuple[int, int] | None:
        """The borders (o, c) of the first window."""
        return self.windows[0]


class Step:
    """One evaluation with its answer, the report that R2S makes of it, and whether that is emitted.

    `answer` holds until the next step is asked for.
    """

    def __init__(
        self, maker: ReportMaker, at: Evaluation, change: AnswerChange, output: Output
    ) -> None:
        self.maker = maker
        self.planned = maker.planned
        self.at = at
        self.variables = change.variables
        self.answer = change.now
        self.rows = output.rows
        self.emitted = output.is_emitted

    @cached_property
    def relation(self) -> Relation:
        """The relation that R2S makes of the answer, emitted or not."""
        return Relation(self.variables, self.rows)

    @cached_property
    def report(self) -> Report:
        """The report, emitted or not."""
        planned = self.planned
        at = self.at
        arrival = planned.arrivals[at.arrival]
        windows = list(zip(planned.views, at.windows, strict=True))
        borders = tuple([borders_of(view, held) for view, held in windows])
        return Report(
            at.t,
            arrival.app,
            self.maker.share_borders(borders),
            output_instant(planned.semantics.instant, planned.semantics, at, planned.arrivals),
            tuple([Contents(view.elements, held.content) for view, held in windows]),
            planned.late_before(arrival),
            self.relation,
            at.takes_back,
            at.windows[0].key,
        )


def borders_of(view: WindowView, held: WindowContent) -> tuple[int, int] | None:
    """Return the borders of the window that is evaluated; None if it has none."""
    return held.borders or window.borders_of_window(view, held.n)


class ReportMaker:
    """What makes a step of each evaluation of a plan: `answers` give the answer, and then R2S is
    applied.
    """

    def __init__(self, query: Query, planned: Plan, answers: SuccessiveAnswers) -> None:
        semantics = planned.semantics
        applied = operator(query, semantics)
        self.planned = planned
        self.answers = answers
        self.r2s = RelationToStream(applied, semantics.base, semantics.empty)
        # whether nothing becomes of an answer that is as its base
        self.is_silent = not applied.emits_whole_answers and semantics.empty.is_never
        self.last_borders: Borders = ()

    def step(self, at: Evaluation) -> Step:
        """Return the step of the next evaluation. Raises what R2R raises, with the windows and the
        instant.
        """
        return self._step(at, self._answer(at))

    def report(self, at: Evaluation) -> Report | None:
        """Return the report of the next evaluation; None if it is not emitted. It is the report of
        `step`, found more quickly where the answer equals its baseline. Raises what `step` raises.
        """
        change = self._answer(at)
        if self.is_silent and not change.compared and not change.baseline:
            return None
        step = self._step(at, change)
        if not step.emitted:
            return None
        return step.report

    def share_borders(self, borders: Borders) -> Borders:
        """Return the borders of a report's windows: those of the report before it, if they are
        equal, so that reports of one window hold them once.
        """
        if borders != self.last_borders:
            self.last_borders = borders
        return self.last_borders

    def _answer(self, at: Evaluation) -> AnswerChange:
        """Return the answer of an evaluation, beside its baseline. An error of R2R gets its place
        here, whatever it is: the windows and the instant.
        """
        try:
            return self.answers.answer_over(at.windows)
        except RefengineError as error:
            error.at(place_of_evaluation(self.planned, at))
            raise

    def _step(self, at: Evaluation, change: AnswerChange) -> Step:
        output = self.r2s.step(change)
        if output.base_moves:
            self.answers.rebase()
        return Step(self, at, change, output)


def place_of_evaluation(planned: Plan, at: Evaluation) -> str:
    """Return the borders of the windows and the instant of an evaluation, for errors: `window [0,
    10) at 9`.
    """
    left, right = planned.semantics.closure or "[]"
    found = [borders_of(view, held) for view, held in zip(planned.views, at.windows, strict=True)]
    shown = [f"{left}{borders[0]}, {borders[1]}{right}" for borders in found if borders]
    if not shown:
        return f"evaluation at {at.t}"
    word = "window" if len(shown) == 1 else "windows"
    return f"{word} {' and '.join(shown)} at {at.t}"


def output_instant(
    instant: Instant, semantics: Semantics, at: Evaluation, incoming: Sequence[Element]
) -> int:
    """ENG-4: Return the instant that a report is stamped with: the border at the evaluation
    (close), the instant of the evaluation, the arrival that triggered it (as SECRET has it), or the
    arrival before that one, at which an eager engine would have answered.
    """
    match instant:
        case Instant.CLOSE:
            return at.t - window.borders(semantics.closure)[1]
        case Instant.EVALUATION:
            return at.t
        case Instant.TRIGGER:
            return incoming[at.arrival].app
        case Instant.EAGER if at.arrival:
            return incoming[at.arrival - 1].app
        case Instant.EAGER:
            return at.t
