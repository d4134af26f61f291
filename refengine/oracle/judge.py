"""§11 The oracle: which assignment of what an observer cannot know makes a semantics produce a
recorded output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Unpack

from refengine import incremental
from refengine.core import engine, r2r, window
from refengine.core.query import Query
from refengine.core.semantics import UNKNOWN, Profile, Semantics
from refengine.incremental.numbers import Beyond
from refengine.model import compare
from refengine.model.compare import Mode
from refengine.model.elements import Dataset, Relation, Stream
from refengine.model.errors import Disputed, TooManyReports, Unsupported, require
from refengine.oracle import derivations, orders
from refengine.oracle.alignment import aligned, nearest_trial
from refengine.oracle.assignments import Candidates, assignments, is_range, searched
from refengine.oracle.trial import (
    Alignment,
    Answers,
    Basis,
    BasisKeywords,
    Borders,
    Missing,
    Origin,
    Recorded,
    State,
    Trial,
    accepted,
    advance,
)
from refengine.sparql.witnesses import NoSay


@dataclass(frozen=True)
class WrongWindow:
    """A window that the engine tells of an answer (its number, from 1), and the one that the answer
    is of (ORA-11).
    """

    number: int
    evaluation: int
    expected: Borders
    told: Borders


@dataclass(frozen=True)
class Judgement:
    """A verdict's facts: a trial, and under what it was judged.

    `standing` is what the witnesses said of the answers that it rests on. The trial explains the
    recording if it passed, or if only its told windows are wrong; else it is the nearest failed
    one. `tried` counts the assignments that were tried, and `t0` are the values that an open t0
    stood for (None: it was given). `wrong_windows` are the told windows that make a fail of
    relations that are right.
    """

    passed: bool
    trial: Trial | None
    tried: int
    missing: Missing
    mode: Mode
    standing: r2r.Standing
    t0: Candidates | None = None
    wrong_windows: tuple[WrongWindow, ...] = ()

    @property
    def alignment(self) -> Alignment | None:
        """The reports that the verdict rests on, beside the recording; None where arrival orders
        were searched.
        """
        return self.trial.alignment if self.trial else None

    @property
    def is_right_but_for_windows(self) -> bool:
        """Whether a fail is of the windows alone that the engine tells: some assignment gives its
        answers (ORA-11).
        """
        return not self.passed and self.trial is not None and self.trial.accepted is not None


def judge(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    recording: Sequence[Relation],
    **options: Unpack[BasisKeywords],
) -> Judgement:
    """ORA-1: a recorded output is correct iff some assignment of t0, of the profile's open fields,
    of the arrival order where it was not recorded, and of where the recording starts and ends makes
    the semantics produce it.

    `options` are the fields of a Basis: `missing`, `mode`, `static`, `witnesses`, `answers`,
    `windows` and `window_closure`. Raises Unsupported where no verdict is in reach, Disputed where
    no witness confirms what the verdict rests on.
    """
    basis = Basis(**options)
    witnesses = basis.witnesses
    answers = basis.answers or Answers()
    answers.relied_on.clear()
    recorded = basis.recorded(query, streams, recording)
    t0 = searched(query, streams, profile, answers.plan)

    # the assignments with windows that begin as the first told one does
    fitting: tuple[Trial, ...] = ()
    if recorded.windows:
        found = search(recorded, profile, answers, witnesses)
        fitting = found.failed
        if found.winner is not None:
            return Judgement(
                True,
                found.winner,
                found.tried,
                recorded.missing,
                recorded.mode,
                r2r.Standing.of(answers.relied_on, witnesses),
                t0,
            )

    untold = replace(recorded, windows=())
    found = search(untold, profile, answers, witnesses)
    if found.winner is not None:
        wrong = wrong_windows(recorded, found.winner, answers)
        return Judgement(
            not recorded.windows,
            found.winner,
            found.tried,
            recorded.missing,
            recorded.mode,
            r2r.Standing.of(answers.relied_on, witnesses),
            t0,
            wrong,
        )

    if found.beyond is not None:
        raise found.beyond
    best = nearest_trial(untold, fitting or found.failed, answers)
    _confirm_fail(untold, best, found.failed, answers, witnesses)
    return Judgement(
        False,
        best,
        found.tried,
        recorded.missing,
        recorded.mode,
        r2r.Standing.of(answers.relied_on, witnesses),
        t0,
    )


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
    def tried(self) -> int:
        """The number of assignments."""
        return len(self.failed) + (self.winner is not None)


def search(
    recorded: Recorded, profile: Profile, answers: Answers, witnesses: tuple[str, ...]
) -> Search:
    """ORA-1: try the assignments of a profile, one after the other, up to the first that explains
    the recording.

    What the winner rests on is confirmed by a witness (ORA-8). Raises Disputed.
    """
    failed: list[Trial] = []
    beyond: Unsupported | TooManyReports | None = None
    told = recorded.first_told()
    for semantics, origin in assignments(
        recorded.query, recorded.streams, profile, answers.plan, told
    ):
        try:
            trial = attempt(recorded, semantics, origin, answers)
        except Unsupported as error:
            beyond = beyond or error
            continue
        except TooManyReports as error:
            if not is_range(profile.fields.get("t0", UNKNOWN)):
                beyond = beyond or error
                continue
            trial = Trial(semantics, origin, None)  # no recording is that long

        if trial.accepted is None:
            failed.append(trial)
            continue
        confirm(recorded, trial, answers, witnesses)
        dissent(recorded, trial, answers, witnesses)
        return Search(replace(trial, alignment=aligned(recorded, trial, answers)), tuple(failed))
    return Search(None, tuple(failed), beyond)


def wrong_windows(recorded: Recorded, winner: Trial, answers: Answers) -> tuple[WrongWindow, ...]:
    """ORA-11: the windows that the engine tells of its answers, where the answers are of others."""
    alignment = winner.alignment or aligned(recorded, replace(winner, ordered=True), answers)
    closure, found = winner.semantics.closure, []
    for index, report in enumerate(require(alignment).beside):
        if not recorded.is_about(index, report.window, closure):
            expected, told = require(report.window), require(recorded.windows[index])
            found.append(WrongWindow(index + 1, report.evaluation, expected, told))
    return tuple(found)


def _confirm_fail(
    recorded: Recorded,
    best: Trial | None,
    failed: Sequence[Trial],
    answers: Answers,
    witnesses: tuple[str, ...],
) -> None:
    """ORA-8: make sure that a witness confirms what a fail rests on: the nearest assignment up to
    its first divergence, and of every other one what it answers where it ended. Raises Disputed
    where none does, or where the definition passes.
    """
    if best is not None:
        confirm(recorded, best, answers, witnesses)
        planned = answers.planned(recorded, best.semantics)
        if best.ordered and defined(recorded, planned, best.origin, answers).accepted is not None:
            raise Disputed("incremental evaluation fails what the definition passes", rule="ORA-8")

    body = recorded.query.body
    for dataset, trial in _to_confirm(recorded, failed, answers):
        confirmed = answers.confirmed(body, dataset, witnesses)
        if trial.answer is not None and not compare.equal(
            r2r.collected(trial.semantics.collection, confirmed.rows), trial.answer
        ):
            raise Disputed(
                "incremental evaluation and the definition disagree",
                rule="ORA-8",
                answers={r2r.DEFINITION: confirmed},
            )
    for trial in failed:
        dissent(recorded, trial, answers, witnesses)


def _to_confirm(
    recorded: Recorded, failed: Sequence[Trial], answers: Answers
) -> Iterator[tuple[Dataset, Trial]]:
    """Yield the datasets at which failed assignments ended, each once, with
    one of the assignments.
    """
    seen = set()
    for trial in failed:
        key = (trial.last, trial.semantics.disorder, trial.semantics.collection)
        if trial.last is None or key in seen:
            continue
        seen.add(key)
        planned = answers.planned(recorded, trial.semantics)
        yield r2r.together(planned.views, trial.last, recorded.static, recorded.query.body), trial


def attempt(recorded: Recorded, semantics: Semantics, origin: Origin, answers: Answers) -> Trial:
    """One assignment against the recording, by incremental evaluation where answers are compared by
    value.
    """
    planned = answers.planned(recorded, semantics)
    unordered = any(not recorded.streams[spec.stream].ordered for spec in recorded.query.windows)
    if unordered and orders.order_matters(planned):
        return orders.search(recorded, planned, origin, answers)
    asked = answers.asked(recorded, planned)
    if isinstance(asked, str):
        return replace(defined(recorded, planned, origin, answers), by=f"the definition ({asked})")
    try:
        return looked_up(recorded, planned, origin, asked)
    except Beyond as error:
        return replace(defined(recorded, planned, origin, answers), by=f"the definition ({error})")


def looked_up(
    recorded: Recorded, planned: engine.Plan, origin: Origin, asked: incremental.Asked
) -> Trial:
    """One assignment against the recording, by incremental evaluation. Raises Beyond."""
    steps = incremental.looked_up(recorded.query, planned, asked)
    return replace(_followed(recorded, planned, origin, steps), by="incremental evaluation")


def defined(recorded: Recorded, planned: engine.Plan, origin: Origin, answers: Answers) -> Trial:
    """One assignment against the recording, by the definition."""
    steps = engine.steps(recorded.query, planned, static=recorded.static, answer=answers)
    return replace(_followed(recorded, planned, origin, steps), answer=None)


def _followed(
    recorded: Recorded, planned: engine.Plan, origin: Origin, steps: Iterator[engine.Step]
) -> Trial:
    """One assignment against the recording, evaluation by evaluation, as
    long as it may explain it.
    """
    states, step, reached = {State(0, 0, 0)}, None, 0
    for step in steps:
        if step.emitted:
            states = advance(
                states,
                step.report.relation.rows,
                recorded,
                step.report.window,
                planned.semantics.closure,
            )
        if not states:
            break
        reached = max(reached, *(state.matched for state in states))

    trial = Trial(planned.semantics, origin, accepted(states, recorded), reached=reached)
    if step is None:
        return trial
    return replace(trial, last=tuple(held.content for held in step.at.windows), answer=step.answer)


def confirm(recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]) -> None:
    """ORA-8: make sure that a witness confirms what a verdict rests on, and that incremental
    evaluation answers so: the winning assignment's reports (those at the ends of instants where
    orders were searched), or a fail's up to its first divergence. A pass is the definition's, too.
    Raises Disputed.
    """
    planned = answers.planned(recorded, trial.semantics)
    where = trial.divergence
    final = (
        {}
        if trial.ordered
        else {element.app: index + 1 for index, element in enumerate(planned.views[0].elements)}
    )
    seen = set()
    for at in incremental.evaluations(planned):
        if where is not None and where.evaluation is not None and at.t > where.evaluation:
            break
        contents = tuple(held.content for held in at.windows)
        stop = orders.held_by(at).stop if not trial.ordered else 0
        whole = trial.ordered or stop == final.get(at.t, stop)
        if whole and contents not in seen:
            seen.add(contents)
            dataset = r2r.together(planned.views, contents, recorded.static, recorded.query.body)
            confirmed = answers.confirmed(recorded.query.body, dataset, witnesses)
            _hold(confirmed, answers.asked(recorded, planned), contents)
    if (
        trial.accepted is not None
        and trial.ordered
        and defined(recorded, planned, trial.origin, answers).accepted is None
    ):
        raise Disputed("incremental evaluation passes what the definition fails", rule="ORA-8")


def _hold(
    confirmed: Relation, asked: incremental.Asked | str, contents: tuple[window.Content, ...]
) -> None:
    """ORA-8: make sure that incremental evaluation answers as the
    definition does. Raises Disputed.
    """
    with suppress(Beyond):
        if isinstance(asked, incremental.Asked) and not compare.equal(
            confirmed.rows, asked(contents)
        ):
            raise Disputed(
                "incremental evaluation and the definition disagree",
                rule="ORA-8",
                answers={r2r.DEFINITION: confirmed},
            )


def dissent(recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]) -> None:
    """ORA-8: where orders were searched, some order explains the output by the definition's answers
    and by a witness's, inside instants too, or by neither's. Raises Disputed where every witness
    that has a say differs.
    """
    if trial.ordered or not witnesses or _answer_alike(recorded, trial, answers, witnesses):
        return
    differing = []
    for witness in reversed(witnesses):  # the faster one first
        try:
            again = attempt(recorded, trial.semantics, trial.origin, answers.by(witness))
        except NoSay:
            continue
        if (again.accepted is None) == (trial.accepted is None):
            return
        differing.append(witness)
    if differing:
        yes, no = (
            ("the definition's", "a witness's")
            if trial.accepted is not None
            else ("a witness's", "the definition's")
        )
        raise Disputed(
            f"an arrival order explains the output by {yes} answers, none by {no}: "
            f"{', '.join(differing)}",
            rule="ORA-8",
        )


def _answer_alike(
    recorded: Recorded, trial: Trial, answers: Answers, witnesses: tuple[str, ...]
) -> bool:
    """Whether all witnesses answer a body of solutions (ORA-5) alike over the whole stream, and so
    over every part of it.

    Which solutions a part has is decided by their own triples alone.
    """
    body = recorded.query.body
    if recorded.mode is not Mode.VALUE or not derivations.projects(body):
        return False
    elements = answers.planned(recorded, trial.semantics).views[0].elements

    def asked() -> bool:
        try:
            answers.confirmed(body, r2r.dataset(elements), witnesses)
        except Disputed:
            return False
        return True

    return answers.once("alike", [elements], (body, witnesses), asked)
