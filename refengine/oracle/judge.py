"""§11 The verdict: whether a semantics can produce a recorded output.

An assignment gives values for what an observer cannot know, such as t0. A recording passes if some
assignment explains it (ORA-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from refengine.core import r2r
from refengine.core.profile import Profile, refuse_no_profile
from refengine.core.query import Query
from refengine.core.question import Question, Setting
from refengine.model.compare import Mode
from refengine.model.elements import Relation, Statements, Stream
from refengine.model.errors import (
    Disputed,
    RefengineError,
    require,
)
from refengine.model.messages import display
from refengine.oracle.alignment import align, nearest_trial
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import Refusal, every_trial
from refengine.oracle.attempts import reports_of
from refengine.oracle.beginnings import T0Candidates, find_profile_t0_candidates
from refengine.oracle.comparison import Alignment, Borders, Divergence
from refengine.oracle.confirmation import confirm, confirm_fail, confirm_order_search
from refengine.oracle.summary import explain_verdict, outcome, table_of_verdict
from refengine.oracle.trial import (
    JudgementOptions,
    Missing,
    RecordingToJudge,
    Reports,
    Trial,
    check_witnesses,
)
from refengine.sparql.witnesses import WITNESSES

EVERY_WITNESS = tuple(WITNESSES)


@dataclass(frozen=True)
class WrongBorders:
    """An answer for which the engine states a wrong window (ORA-11).

    `number` is the answer's place in the recording, from 1. `evaluation` is the instant of the
    report that stands beside it, `expected` that report's window (None: it has none), `stated` the
    engine's.
    """

    number: int
    evaluation: int
    expected: Borders | None
    stated: Borders


@dataclass(frozen=True)
class Judgement:
    """A verdict with the facts that it rests on.

    - `recorded` is what was judged, and `passed` is the verdict.
    - `trial` is the assignment that the verdict names. Where some assignment explains the
      relations, it is the first one that does and of which nothing is disputed (ORA-8); otherwise
      it is the nearest one (ORA-9). It is None if there was no assignment to try.
    - `tried` is the number of assignments that were tried.
    - `witness_statements` is what the witnesses said of the answers that the verdict rests on.
    - `t0` are the values that were tried for t0; None if the profile does not leave t0 open over a
      range.
    - `wrong_windows` are the answers whose relations are right, and for which the engine states a
      wrong window. It is empty if some relation is wrong.
    """

    recorded: RecordingToJudge
    passed: bool
    trial: Trial | None
    tried: int
    witness_statements: r2r.WitnessSummary
    t0: T0Candidates | None = None
    wrong_windows: tuple[WrongBorders, ...] = ()

    def explain(self) -> str:
        """Return the verdict in a few lines: the assignment that it names, where a fail diverges
        first, and what it rests on.
        """
        return explain_verdict(self)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        t0 = "" if self.trial is None else f", t0={self.trial.semantics.t0}"
        return f"<Judgement: {outcome(self)}{t0}, {self.tried} assignments tried>"

    def _repr_html_(self) -> str:
        """Return the verdict as a notebook shows it, with its time line, and the reports beside the
        relations.
        """
        return table_of_verdict(self)

    @property
    def missing(self) -> Missing:
        """The bounds of outputs that may be missing."""
        return self.recorded.missing

    @property
    def mode(self) -> Mode:
        """How terms were compared."""
        return self.recorded.mode

    @property
    def assignment(self) -> Trial:
        """The assignment that the verdict names. Raises RefengineError if there was none to try."""
        if self.trial is None:
            reason = "no assignment could be tried: the profile allows none for these streams"
            raise RefengineError(reason, rule="ORA-9", place="verdict")
        return self.trial

    @property
    def divergence(self) -> Divergence:
        """Where the recording and the nearest assignment first differ (ORA-9). Raises
        RefengineError for a verdict that has none: a pass, and a fail by stated windows alone.
        """
        found = self.assignment.divergence
        if found is None:
            what = "a pass" if self.passed else "a fail by windows alone, in wrong_windows,"
            reason = f"{what} has no divergence; ask verdict.passed first"
            raise RefengineError(reason, rule="ORA-9", place="verdict")
        return found

    @property
    def setting(self) -> Setting:
        """The question under the semantics of the trial. There must be a trial."""
        return self.recorded.question.under(require(self.trial).semantics)

    @property
    def reports(self) -> Reports:
        """All reports of the trial's semantics, for pages and metrics. There must be a trial.

        Where arrival orders were searched, they are the reports for the order of the elements in
        their file.
        """
        return require(require(self.trial).reports)

    @property
    def alignment(self) -> Alignment | None:
        """The reports that the verdict rests on, beside the recorded relations; None where arrival
        orders were searched.
        """
        if self.trial is None:
            return None
        return self.trial.alignment

    @property
    def is_right_but_for_windows(self) -> bool:
        """Whether the verdict is a fail for the stated windows alone (ORA-11). Then the engine's
        relations are right: the assignment that the fail names explains them.
        """
        are_relations_right = self.trial is not None and self.trial.explains_recording
        return are_relations_right and not self.passed


def judge(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    recording: Sequence[Relation],
    *,
    static: Statements = frozenset(),
    witnesses: tuple[str, ...] = EVERY_WITNESS,
    answers: SharedAnswers | None = None,
    **options: Unpack[JudgementOptions],
) -> Judgement:
    """ORA-1: Return the verdict on the relations that were recorded of an engine's answer to a
    query over streams.

    It is a pass if some assignment explains the relations. An assignment gives values for the open
    fields of the profile, t0 among them, for the arrival order where it was not recorded, and for
    where the recording starts and ends.

    `static` is the data that never changes. `witnesses` are those that confirm answers. `answers`
    is a table in which answers are remembered, so that a further verdict need not compute them
    again; None makes a new one. There are four further keywords, all optional:

    - `missing`: the number of outputs that may be missing at each end (1);
    - `mode`: how terms are compared (by value);
    - `windows`: the borders of the window that the engine states for each relation (none);
    - `window_closure`: which of these borders belong to the window (by the tried semantics).

    Raises InvalidStream for what is no relation or no term, and InvalidSemantics for what is no
    profile. Raises Unsupported if the verdict depends on an assignment that could not be tried: no
    other one explains the relations, or none explains them with the stated windows. Raises
    TooManyReports if a profile without open fields gives too many. Raises Disputed if no witness
    confirms what the verdict rests on; of several assignments that explain the relations it is
    enough that a witness confirms one.
    """
    recorded = RecordingToJudge.of(Question(query, streams, static), recording, **options)
    return judge_recording(recorded, profile, answers or SharedAnswers(), witnesses)


def judge_recording(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers, witnesses: tuple[str, ...]
) -> Judgement:
    """Judge a recorded answer as `judge` does. `answers` is a table that several verdicts may
    share. Raises InvalidSemantics for what is no profile, and RefengineError for what is no
    witness.
    """
    refuse_no_profile(profile)
    check_witnesses(witnesses)
    if not isinstance(answers, SharedAnswers):
        reason = f"must be a table of answers, got {display(answers)}; write SharedAnswers()"
        raise RefengineError(reason, rule="ORA-1", place="answers")
    # Begin this verdict's list of testimonies: the table may come from an earlier verdict.
    answers.testimonies_used.clear()
    t0 = find_profile_t0_candidates(recorded.question, profile, answers.plan)

    def judgement(
        passed: bool,
        trial: Trial | None,
        searched: Search,
        wrong_windows: tuple[WrongBorders, ...] = (),
    ) -> Judgement:
        statements = r2r.WitnessSummary.of(answers.testimonies_used, witnesses)
        values = t0
        if values is not None:
            values = values.with_earlier(tried.semantics.t0 for tried in searched.trials)
        return Judgement(recorded, passed, trial, searched.count, statements, values, wrong_windows)

    # First with the windows that the engine states, if it states any. Only assignments with a
    # window that begins where the first stated one does are tried.
    search_with_windows = Search(winner=None)
    if recorded.windows:
        search_with_windows = search(recorded, profile, answers, witnesses)
        if search_with_windows.winner is not None:
            return judgement(True, search_with_windows.winner, search_with_windows)

    # Then without them.
    without_windows = replace(recorded, windows=())
    result = search(without_windows, profile, answers, witnesses)
    if result.winner is not None:
        if not recorded.windows:
            return judgement(True, result.winner, result)
        # The relations are right, so only the windows are wrong. But an assignment that could not
        # be tried with the windows might have explained them, too: then there is no verdict.
        if search_with_windows.first_refusal is not None:
            raise search_with_windows.first_refusal
        # Each trial of the search with windows failed at some answer. Each of these answers must be
        # confirmed by a witness; else there is no verdict, either. No nearest trial is needed here:
        # the divergence is in the windows.
        confirm_fail(recorded, None, search_with_windows.failed, answers, witnesses)
        wrong_windows = find_wrong_windows(recorded, result.winner)
        return judgement(False, result.winner, result, wrong_windows)

    # An assignment that could not be tried might have explained the relations, so there is no
    # verdict.
    if result.first_refusal is not None:
        raise result.first_refusal
    # The nearest is one of the trials of the first search, if it had any (ORA-9): their windows
    # begin as the stated ones do. Of these, it is one with a report that is about the first stated
    # window. If there is none, the windows tell nothing of where the two part (ORA-11).
    best = nearest_trial(recorded, search_with_windows.failed, answers)
    if best is None:
        best = nearest_trial(without_windows, search_with_windows.failed or result.failed, answers)
    # To confirm the fail, the trials of the search without windows are taken: all assignments
    # failed there, and a recording that fails without its windows also fails with them.
    confirm_fail(without_windows, best, result.failed, answers, witnesses)
    if best is not None:
        best = _with_reports(recorded, best, answers)
    return judgement(False, best, result)


@dataclass(frozen=True)
class Search:
    """The assignments of a profile that were tried on a recording.

    `winner` is the first that explains it and of which nothing is disputed. `failed` are those
    before it which do not explain it, and `disputed` is the number of those before it which do, but
    with a disputed answer. Without a winner, `first_refusal` is the error of the first assignment
    that could not be tried; None if all could.
    """

    winner: Trial | None
    failed: tuple[Trial, ...] = ()
    disputed: int = 0
    first_refusal: Refusal | None = None

    @property
    def trials(self) -> Iterator[Trial]:
        """The trials of which nothing is disputed."""
        yield from self.failed
        if self.winner is not None:
            yield self.winner

    @property
    def count(self) -> int:
        """The number of assignments that were tried."""
        return len(self.failed) + self.disputed + (self.winner is not None)


def search(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers, witnesses: tuple[str, ...]
) -> Search:
    """ORA-1: try the assignments of a profile, one after the other, up to the first that explains
    the recording and of which nothing is disputed.

    Witnesses confirm what it rests on (ORA-8). Raises Disputed if some assignments explain the
    recording, and none of them without a dispute.
    """
    failed: list[Trial] = []
    disputes: list[Disputed] = []
    first_refusal: Refusal | None = None
    for trial in every_trial(recorded, profile, answers):
        if not isinstance(trial, Trial):
            first_refusal = first_refusal or trial
            continue
        if not trial.explains_recording:
            failed.append(trial)
            continue
        try:
            winner = confirm_winner(recorded, trial, answers, witnesses)
        except Disputed as error:
            # Another assignment may explain the recording without a dispute.
            disputes.append(error)
            continue
        return Search(winner, tuple(failed), len(disputes))
    if disputes:
        raise disputes[0]
    return Search(None, tuple(failed), first_refusal=first_refusal)


def confirm_winner(
    recorded: RecordingToJudge, trial: Trial, answers: SharedAnswers, witnesses: tuple[str, ...]
) -> Trial:
    """ORA-8: make sure that a witness confirms what a pass would rest on, and return the trial with
    its reports and its alignment.

    Raises Disputed if none does. What the witnesses said of this trial is then forgotten, since the
    verdict does not rest on it.
    """
    used_before = len(answers.testimonies_used)
    try:
        confirm(recorded, trial, answers, witnesses)
        confirm_order_search(recorded, trial, answers, witnesses)
    except Disputed:
        del answers.testimonies_used[used_before:]
        raise
    trial = _with_reports(recorded, trial, answers)
    if trial.is_order_known:
        trial = replace(trial, alignment=align(recorded, trial))
    return trial


def _with_reports(recorded: RecordingToJudge, trial: Trial, answers: SharedAnswers) -> Trial:
    """Return a trial with its reports. They are computed here if arrival orders were searched."""
    if trial.reports is not None:
        return trial
    planned = answers.plan_of(recorded, trial.semantics)
    return replace(trial, reports=reports_of(recorded, planned, answers))


def find_wrong_windows(recorded: RecordingToJudge, winner: Trial) -> tuple[WrongBorders, ...]:
    """ORA-11: return the answers whose stated window is not the window of the report beside them.

    `winner` explains the relations without the stated windows.
    """
    if not recorded.windows:
        return ()
    # Where arrival orders were searched, the rows of a report depend on the order. Its window does
    # not, so here the order of the file will do.
    alignment = align(recorded, winner)
    closure = winner.semantics.closure
    wrong = []
    for index, report in enumerate(alignment.beside):
        if not recorded.is_about(index, report.window, closure):
            stated = require(recorded.windows[index])
            wrong.append(WrongBorders(index + 1, report.evaluation, report.window, stated))
    return tuple(wrong)
