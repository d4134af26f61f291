"""§11 The oracle: which assignment of what an observer cannot know makes a semantics produce a
recorded output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from refengine.core import r2r
from refengine.core.query import Query
from refengine.core.question import Question, Setting
from refengine.core.semantics import UNKNOWN, Profile
from refengine.model.compare import Mode
from refengine.model.elements import Dataset, Relation, Stream
from refengine.model.errors import TooManyReports, Unsupported, require
from refengine.oracle.alignment import align, nearest_trial
from refengine.oracle.answers import AnswerTable
from refengine.oracle.assignments import (
    T0Candidates,
    assignments,
    find_profile_t0_candidates,
    is_range,
)
from refengine.oracle.attempts import attempt, reports_of
from refengine.oracle.comparison import Alignment, Borders
from refengine.oracle.confirmation import confirm, confirm_fail, confirm_order_search
from refengine.oracle.reports import Reports
from refengine.oracle.trial import Missing, RecordedAnswer, TermsOfJudgement, Trial
from refengine.sparql.witnesses import WITNESSES

EVERY_WITNESS = tuple(WITNESSES)


@dataclass(frozen=True)
class WrongWindow:
    """A window that the engine states for an answer (its number, from 1), and the one that the
    answer is of (ORA-11).
    """

    number: int
    evaluation: int
    expected: Borders
    stated: Borders


@dataclass(frozen=True)
class Judgement:
    """A verdict's facts: a trial, and on what it was judged.

    `standing` is what the witnesses said of the answers that it rests on. The trial explains the
    recording if it passed, or if only the windows that the engine states are wrong; else it is the
    nearest failed one. `tried` counts the assignments that were tried, and `t0` are the values that
    an open t0 stood for (None: it was given). `wrong_windows` are the stated windows that make a
    fail of relations that are right.
    """

    recorded: RecordedAnswer
    passed: bool
    trial: Trial | None
    tried: int
    standing: r2r.Standing
    t0: T0Candidates | None = None
    wrong_windows: tuple[WrongWindow, ...] = ()

    @property
    def missing(self) -> Missing:
        """The bounds of outputs that may be missing."""
        return self.recorded.missing

    @property
    def mode(self) -> Mode:
        """How terms were compared."""
        return self.recorded.mode

    @property
    def setting(self) -> Setting:
        """The question under the semantics of the trial. There must be a trial."""
        return self.recorded.question.under(require(self.trial).semantics)

    @property
    def reports(self) -> Reports:
        """All reports of the trial's semantics, which whoever shows or measures the verdict reads
        here; those of the file's order of elements where arrival orders were searched. There must
        be a trial.
        """
        return require(require(self.trial).reports)

    @property
    def alignment(self) -> Alignment | None:
        """The reports that the verdict rests on, beside the recording; None where arrival orders
        were searched.
        """
        if self.trial is None:
            return None
        return self.trial.alignment

    @property
    def is_right_but_for_windows(self) -> bool:
        """Whether a fail is of the windows alone that the engine states: some assignment gives its
        answers (ORA-11).
        """
        return not self.passed and self.trial is not None and self.trial.accepting_state is not None


def judge(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    recording: Sequence[Relation],
    *,
    static: Dataset = frozenset(),
    witnesses: tuple[str, ...] = EVERY_WITNESS,
    answers: AnswerTable | None = None,
    **terms: Unpack[TermsOfJudgement],
) -> Judgement:
    """ORA-1: a recorded output is correct iff some assignment of t0, of the profile's open fields,
    of the arrival order where it was not recorded, and of where the recording starts and ends makes
    the semantics produce it.

    `witnesses` are those that confirm answers, `answers` the table in which answers are kept (None:
    one of its own). `terms` are `missing`, `mode`, `windows` and `window_closure`, as
    RecordedAnswer has them. Raises Unsupported where no verdict is in reach, Disputed where no
    witness confirms what the verdict rests on.
    """
    recorded = RecordedAnswer.of(Question(query, streams, static), recording, **terms)
    return judge_recorded_answer(recorded, profile, answers or AnswerTable(), witnesses)


def judge_recorded_answer(
    recorded: RecordedAnswer, profile: Profile, answers: AnswerTable, witnesses: tuple[str, ...]
) -> Judgement:
    """Judge a recording as `judge` does."""
    answers.testimonies_used.clear()
    t0 = find_profile_t0_candidates(recorded.question, profile, answers.plan)

    # the assignments with windows that begin as the first stated one does
    fitting: tuple[Trial, ...] = ()
    if recorded.windows:
        found = search(recorded, profile, answers, witnesses)
        fitting = found.failed
        if found.winner is not None:
            standing = r2r.Standing.of(answers.testimonies_used, witnesses)
            return Judgement(recorded, True, found.winner, found.count, standing, t0)

    without_windows = replace(recorded, windows=())
    found = search(without_windows, profile, answers, witnesses)
    if found.winner is not None:
        wrong = wrong_windows(recorded, found.winner)
        standing = r2r.Standing.of(answers.testimonies_used, witnesses)
        passed = not recorded.windows
        return Judgement(recorded, passed, found.winner, found.count, standing, t0, wrong)

    if found.beyond is not None:
        raise found.beyond
    best = nearest_trial(without_windows, fitting or found.failed, answers)
    confirm_fail(without_windows, best, found.failed, answers, witnesses)
    if best is not None:
        best = _with_reports(recorded, best, answers)
    standing = r2r.Standing.of(answers.testimonies_used, witnesses)
    return Judgement(recorded, False, best, found.count, standing, t0)


@dataclass(frozen=True)
class Search:
    """What became of the assignments of a profile: the first that explains the recording, or those
    that do not.

    `beyond` is why some assignment is out of reach, where one is and none explains the recording.
    """

    winner: Trial | None
    failed: tuple[Trial, ...] = ()
    beyond: Unsupported | TooManyReports | None = None

    @property
    def count(self) -> int:
        """The number of assignments that were tried."""
        return len(self.failed) + (self.winner is not None)


def search(
    recorded: RecordedAnswer, profile: Profile, answers: AnswerTable, witnesses: tuple[str, ...]
) -> Search:
    """ORA-1: try the assignments of a profile, one after the other, up to the first that explains
    the recording.

    What the winner rests on is confirmed by a witness (ORA-8). Raises Disputed.
    """
    failed: list[Trial] = []
    beyond: Unsupported | TooManyReports | None = None
    stated = recorded.first_stated_window()
    for semantics, t0_class in assignments(recorded.question, profile, answers.plan, stated):
        try:
            trial = attempt(recorded, semantics, t0_class, answers)
        except Unsupported as error:
            beyond = beyond or error
            continue
        except TooManyReports as error:
            if not is_range(profile.fields.get("t0", UNKNOWN)):
                beyond = beyond or error
                continue
            trial = Trial(semantics, t0_class, None)  # more than a recording has

        if trial.accepting_state is None:
            failed.append(trial)
            continue
        confirm(recorded, trial, answers, witnesses)
        confirm_order_search(recorded, trial, answers, witnesses)
        trial = _with_reports(recorded, trial, answers)
        return Search(replace(trial, alignment=align(recorded, trial)), tuple(failed))
    return Search(None, tuple(failed), beyond)


def _with_reports(recorded: RecordedAnswer, trial: Trial, answers: AnswerTable) -> Trial:
    """Return a trial with its reports, which it has unless arrival orders were searched."""
    if trial.reports is not None:
        return trial
    return replace(trial, reports=reports_of(recorded, trial.semantics, answers))


def wrong_windows(recorded: RecordedAnswer, winner: Trial) -> tuple[WrongWindow, ...]:
    """ORA-11: return the windows that the engine states for its answers, where the answers are of
    others.
    """
    if not recorded.windows:
        return ()
    alignment = require(align(recorded, replace(winner, is_order_known=True)))
    closure = winner.semantics.closure
    found = []
    for index, report in enumerate(alignment.beside):
        if not recorded.is_about(index, report.window, closure):
            expected = require(report.window)
            stated = require(recorded.windows[index])
            found.append(WrongWindow(index + 1, report.evaluation, expected, stated))
    return tuple(found)
