"""§11 The verdict: whether a semantics can produce a recorded output.

An assignment gives values for what an observer cannot know, such as t0. A recording passes if some
assignment explains it (ORA-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

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

    `number` is the answer's place in the recording, from 1. It is paired with a report, of which
    `evaluation` is the instant and `expected` the window (None: it has none). `stated` is the
    window that the engine states, with its borders by the closure of the semantics.
    """

    number: int
    evaluation: int
    expected: Borders | None
    stated: Borders


@dataclass(frozen=True)
class Judgement:
    """A verdict with the facts that it rests on.

    - `recorded` is what was judged, and `passed` is the verdict.
    - `trial` is the assignment that the verdict names, with what came of comparing it with the
      recording. For a pass it is the first one that explains the recording and has no disputed
      answer (ORA-8). For a fail by stated windows alone (ORA-11) it is the first such one that
      explains the relations. For any other fail it is the nearest one (ORA-9). It is None if no
      assignment can be compared; then `named_trial`, `divergence`, `setting` and `reports` raise.
    - `tried` is the number of assignments that were tried.
    - `witness_statements` is what the witnesses said of the answers that the verdict rests on.
    - `t0_candidates` has the values of t0 that were tried; None if the profile does not leave t0
      open over a range.
    - `wrong_windows` are the answers whose relations are right, and for which the engine states a
      wrong window. It is empty if some relation is wrong.
    """

    recorded: RecordingToJudge
    passed: bool
    trial: Trial | None
    tried: int
    witness_statements: r2r.WitnessSummary
    t0_candidates: T0Candidates | None = None
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
        """Return the verdict as a notebook shows it, with its time line, and each relation with the
        report that it is paired with.
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
    def named_trial(self) -> Trial:
        """The trial of the assignment that the verdict names, which is never None. Raises
        RefengineError if there was no assignment to try.
        """
        if self.trial is None:
            reason = "no assignment could be tried: the profile allows none for these streams"
            raise RefengineError(reason, rule="ORA-9", place="verdict")
        return self.trial

    @property
    def divergence(self) -> Divergence:
        """Where the recording and the nearest assignment first differ (ORA-9). Raises
        RefengineError for a verdict that has none: a pass, and a fail by stated windows alone.
        """
        found = self.named_trial.divergence
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
        """The reports that the verdict rests on, paired with the recorded relations; None where
        arrival orders were searched.
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
    - `window_closure`: the closure of these windows (that of the semantics that is tried).

    Raises InvalidStream for what is no relation or no term, and InvalidSemantics for what is no
    profile. Raises Unsupported in place of a fail if some assignment could not be tried, since it
    might be the one that explains the relations with their windows. Raises TooManyReports if a
    profile without open fields gives too many. Raises Disputed if no witness confirms what the
    verdict rests on; of several assignments that explain the relations it is enough that a witness
    confirms one.
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
    t0_candidates = find_profile_t0_candidates(recorded.question, profile, answers.plan)
    judge_recorded = judge_with_windows if recorded.windows else judge_without_windows
    finding = judge_recorded(recorded, profile, answers, witnesses)
    if t0_candidates is not None:
        tried = (trial.semantics.t0 for trial in finding.search.trials)
        t0_candidates = t0_candidates.with_earlier(tried)
    return Judgement(
        recorded=recorded,
        passed=finding.passed,
        trial=finding.trial,
        tried=finding.search.count,
        witness_statements=r2r.WitnessSummary.of(answers.testimonies_used, witnesses),
        t0_candidates=t0_candidates,
        wrong_windows=finding.wrong_windows,
    )


class Finding(NamedTuple):
    """Whether a recording passes, the trial of the assignment that the verdict names, the search
    that the verdict rests on, and the answers for which a wrong window is stated.
    """

    passed: bool
    trial: Trial | None
    search: Search
    wrong_windows: tuple[WrongBorders, ...] = ()


def judge_without_windows(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers, witnesses: tuple[str, ...]
) -> Finding:
    """Judge a recording of which no windows are stated."""
    searched = search(recorded, profile, answers, witnesses)
    if searched.winner is not None:
        return Finding(True, searched.winner, searched)
    if searched.first_refusal is not None:
        raise searched.first_refusal  # this assignment might have explained the relations
    nearest = nearest_trial(recorded, searched.failed, answers)
    return _fail(recorded, nearest, searched, answers, witnesses)


def judge_with_windows(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers, witnesses: tuple[str, ...]
) -> Finding:
    """ORA-11: Judge a recording for which the engine states windows.

    There are two searches. The first is with the stated windows: it tries the assignments with a
    window that begins where the first stated one does. If none explains the recording, the second
    search is without the windows. It tells whether the relations are wrong or the windows alone.
    """
    with_windows = search(recorded, profile, answers, witnesses)
    if with_windows.winner is not None:
        return Finding(True, with_windows.winner, with_windows)

    bare = replace(recorded, windows=())
    without_windows = search(bare, profile, answers, witnesses)
    winner = without_windows.winner
    if winner is not None:
        # The relations are right, so only the windows are wrong: unless an assignment that could
        # not be tried explains both.
        if with_windows.first_refusal is not None:
            raise with_windows.first_refusal
        # This fail rests on the trials of the first search. Each failed at some answer, and a
        # witness must confirm these answers (ORA-8). No nearest trial is passed: the divergence is
        # in the windows, where there is no answer to confirm.
        confirm_fail(recorded, None, with_windows.failed, answers, witnesses)
        wrong_windows = find_wrong_windows(recorded, winner)
        return Finding(False, winner, without_windows, wrong_windows)

    if without_windows.first_refusal is not None:
        raise without_windows.first_refusal  # this assignment might have explained the relations
    # The nearest is a trial of the first search that has a report about the first stated window
    # (ORA-11, 5). If none has one, nothing can be paired by windows, so relations alone are
    # compared (`bare`). The trials of the first search still go first: in them some window begins
    # where the engine says that its first one does. Those of the second are compared only if there
    # are none.
    nearest = nearest_trial(recorded, with_windows.failed, answers)
    if nearest is None:
        failed = with_windows.failed or without_windows.failed
        nearest = nearest_trial(bare, failed, answers)
    # The fail rests on the second search: if all assignments fail without the windows, they also
    # fail with them.
    return _fail(bare, nearest, without_windows, answers, witnesses)


def _fail(
    recorded: RecordingToJudge,
    nearest: Trial | None,
    searched: Search,
    answers: SharedAnswers,
    witnesses: tuple[str, ...],
) -> Finding:
    """Return a fail that rests on a search in which all assignments failed, and names the nearest.
    Raises Disputed if no witness confirms it (ORA-8).
    """
    confirm_fail(recorded, nearest, searched.failed, answers, witnesses)
    if nearest is not None:
        nearest = _with_reports(recorded, nearest, answers)
    return Finding(False, nearest, searched)


@dataclass(frozen=True)
class Search:
    """The assignments of a profile that were tried on a recording.

    `winner` is the first that explains the recording without a disputed answer. Of those tried
    before it, `failed` do not explain the recording, and `disputed` is the number of those that
    explain it with a disputed answer. Without a winner, `first_refusal` is the error of the first
    assignment that could not be tried; None if all could.
    """

    winner: Trial | None
    failed: tuple[Trial, ...] = ()
    disputed: int = 0
    first_refusal: Refusal | None = None

    @property
    def trials(self) -> Iterator[Trial]:
        """The trials without a disputed answer."""
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
    the recording without a disputed answer.

    Witnesses confirm the answers that it rests on (ORA-8). Raises Disputed if some assignments
    explain the recording, each with a disputed answer.
    """
    failed: list[Trial] = []
    disputes: list[Disputed] = []
    first_refusal: Refusal | None = None
    for tried in every_trial(recorded, profile, answers):
        if isinstance(tried, Refusal):
            first_refusal = first_refusal or tried
            continue
        if not tried.explains_recording:
            failed.append(tried)
            continue
        try:
            winner = confirm_winner(recorded, tried, answers, witnesses)
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
    """ORA-11: return the answers with a stated window that is not the window of the report with
    which they are paired.

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
            stated = require(recorded.stated_borders(index, closure))
            wrong.append(WrongBorders(index + 1, report.evaluation, report.window, stated))
    return tuple(wrong)
