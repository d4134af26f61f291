"""One diagnosis for an engine: the fewest changes of its semantics that explain its fails together.

Each fail has an argument of its own. But most engines have one or two defects, which show in many
cases. So after a run all fails that no known deviation explains are looked at together:

1. Each change of one field is tried on some small fails. Those that explain most are tried on all
   fails, and on passes: a change under which passes would fail is not what the engine does.
2. The best change is kept. The search goes on with the fails that are left, under the semantics so
   changed. It ends when no change explains a fail that is left.
3. The wrong engines of the rules of what is left are tried in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from conformance import corpus
from conformance.corpus.detection import wrong_engines_of
from conformance.corpus.rules import rules_of_value
from conformance.harness.engine_file import Engine
from conformance.suite.exchange import asked_question
from conformance.suite.item import Item
from conformance.verdict.results import Outcome, Result
from conformance.verdict.rules import CaseResult
from conformance.wrong_engines import WrongEngine
from refengine.core.question import Question
from refengine.core.semantics import T0, Profile, show
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.explanations import FIELDS_TRIED, FieldChange, alternatives, apply_changes
from refengine.oracle.explanations.changes import find_explaining_trial
from refengine.oracle.trial import RecordingToJudge
from refengine.rdf.recordings import relation_from_json

SAMPLE = 12  # fails on which every change is tried, the smallest ones
BEST = 3  # changes that are tried on everything
PASSES = 40  # passes on which a change is tried, the smallest ones
ASSIGNMENTS_BOUND = 100  # assignments of a changed profile that are tried
WINDOWS_BOUND = 1_000  # slides from the first element to the last, where a wrong engine is tried
CAUSES_BOUND = 5  # causes of a diagnosis, at most

T = TypeVar("T")


@dataclass(frozen=True)
class RecordedCase:
    """The answers of an engine to a case, as they can be judged again under another semantics."""

    result: Result
    recorded: RecordingToJudge
    claimed: Profile

    @cached_property
    def is_short(self) -> bool:
        """Whether the stream is short beside its windows, so that a wrong engine, too, comes to an
        end with it. One that skips nothing would look at each window of a gap of 10^12.
        """
        times = [element.app for stream in self.recorded.streams.values() for element in stream]
        steps = [window.slide for window in self.recorded.query.windows if window.slide]
        return not times or max(times) - min(times) <= WINDOWS_BOUND * min(steps, default=1)

    @cached_property
    def answers(self) -> SharedAnswers:
        """The answers that all trials of this case share."""
        return SharedAnswers()

    def is_explained_by(
        self, changes: Iterable[FieldChange], wrong_engine: WrongEngine | None = None
    ) -> bool:
        """Whether the answers are right under the claimed semantics with some fields changed, or,
        with a wrong engine, whether that engine can give them.
        """
        answers = self.answers
        if wrong_engine is not None:
            answers = SharedAnswers()
            answers.may_be_incremental = False
        installed = wrong_engine.installed() if wrong_engine is not None else nullcontext()
        try:
            profile = apply_changes(self.claimed, *changes)
            with installed:
                found = find_explaining_trial(self.recorded, profile, answers, ASSIGNMENTS_BOUND)
        except RefengineError:
            return False
        return found.trial is not None


@dataclass(frozen=True)
class Cause:
    """A part of a diagnosis: a change of a field, or a wrong engine. It explains the fails of
    `cases`, together with the causes that were found before it; the smallest case is the first.
    """

    change: FieldChange | None
    wrong_engine: WrongEngine | None
    cases: tuple[str, ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that the engine breaks by this."""
        if self.change is not None:
            return tuple(rules_of_value(self.change.field, self.change.value))
        assert self.wrong_engine is not None
        return (self.wrong_engine.rule,)

    def __str__(self) -> str:
        if self.change is not None:
            return f"{self.change.field}={show(self.change.value)}"
        assert self.wrong_engine is not None
        return f"the wrong engine {self.wrong_engine.full_name!r}: {self.wrong_engine.defect}"

    @property
    def toml(self) -> Iterator[str]:
        """The lines of an entry of `[[deviations]]`, without the link, which the author knows."""
        yield "[[deviations]]"
        if self.change is not None:
            rules = ", ".join(self.rules)
            yield f'reason = "{self.change.field} is {show(self.change.value)} ({rules})"'
        else:
            assert self.wrong_engine is not None
            yield f'reason = "it does as a wrong engine of {self.wrong_engine.rule}: …"'
        yield 'link = "https://…"'
        if self.change is not None:
            yield f'fields = {{ {self.change.field} = "{show(self.change.value)}" }}'
            yield f'cases = ["{self.cases[0]}"]'
        else:
            yield f"cases = {list(self.cases)!r}".replace("'", '"')


@dataclass(frozen=True)
class Diagnosis:
    """What explains the fails of an engine: its `causes`, those that explain most first, and the
    cases that are `unexplained`, of so many `fails` in all. Of an engine that is `silent`, which
    has answered no case with a row, nothing is explained.
    """

    engine: str
    fails: int
    causes: tuple[Cause, ...]
    unexplained: tuple[str, ...]
    silent: bool = False


def diagnose(results: Iterable[Result], items: Iterable[Item]) -> list[Diagnosis]:
    """Return a diagnosis for each engine with fails that no known deviation explains."""
    engines = {item.engine: item.tested for item in items if item.tested is not None}
    by_engine: dict[str, list[Result]] = {}
    for result in results:
        if result.suite == "corpus" and result.engine in engines:
            by_engine.setdefault(result.engine, []).append(result)
    found = (
        _diagnose_engine(engines[name], of_engine) for name, of_engine in sorted(by_engine.items())
    )
    return [diagnosis for diagnosis in found if diagnosis is not None]


def _diagnose_engine(tested: Engine, results: Sequence[Result]) -> Diagnosis | None:
    """Return the diagnosis of an engine, None if it has no unexplained fail. An engine that is sent
    its semantics has none: each case asks it for another one.
    """
    failed = [result for result in results if result.outcome is Outcome.FAIL and not result.known]
    if not failed or tested.is_configurable:
        return None
    if not any(CaseResult.of(result, result.evidence).has_rows for result in results):
        unexplained = tuple(sorted(result.case for result in failed))
        return Diagnosis(tested.name, len(failed), (), unexplained, silent=True)
    cases = {case.id: case for case in corpus.cases()}
    ordered = sorted(results, key=_size_and_case)
    recorded = [
        answers
        for result in ordered
        if (answers := _restore_answers(tested, cases[result.case], result)) is not None
    ]
    left = [case for case in recorded if case.result in failed]
    passes = [case for case in recorded if case.result.outcome is Outcome.PASS][:PASSES]

    causes: list[Cause] = []
    changes: list[FieldChange] = []
    while left and len(causes) < CAUSES_BOUND:
        cause = _best_cause(left, passes, changes)
        if cause is None:
            break
        causes.append(cause)
        if cause.change is not None:
            changes.append(cause.change)
        left = [case for case in left if case.result.case not in cause.cases]
    return Diagnosis(
        tested.name, len(failed), tuple(causes), tuple(case.result.case for case in left)
    )


def _size_and_case(result: Result) -> tuple[int, str]:
    """Return the sort key of a result: the number of its elements, then the case."""
    return CaseResult.of(result, result.evidence).size, result.case


def _restore_answers(tested: Engine, case: corpus.Case, result: Result) -> RecordedCase | None:
    """Return the answers of a result, to be judged again. None if the result does not have all of
    them, or if they are about nothing that can be judged.
    """
    evidence = result.evidence
    if evidence is None or evidence["cut"]:
        return None
    try:
        question = asked_question(tested, case)
        recorded = _recording_of(tested, question, evidence["actual"])
        return RecordedCase(result, recorded, tested.profile_for(question.query))
    except RefengineError:
        return None


def _recording_of(
    tested: Engine, question: Question, reports: Sequence[Mapping[str, object]]
) -> RecordingToJudge:
    """Return what is judged: the relations of some reports. The windows that the engine states are
    left out, since wrong ones are a deviation of their own.
    """
    variables = question.query.body.variables
    relations = [
        relation_from_json(report["rows"], variables, f"reports[{number}]", {})
        for number, report in enumerate(reports)
    ]
    return RecordingToJudge.of(question, relations, missing=tested.unreported)


def _best_cause(
    left: Sequence[RecordedCase], passes: Sequence[RecordedCase], changes: Sequence[FieldChange]
) -> Cause | None:
    """Return the change or the wrong engine that explains most of the fails that are left; None if
    nothing explains any. A change is preferred, since it says how to state the deviation.
    """
    change = _best_change(left, passes, changes)
    if change is not None and len(change.cases) == len(left):
        return change
    wrong_engine = _best_wrong_engine(left, passes, changes)
    found = [cause for cause in (change, wrong_engine) if cause is not None]
    return max(found, key=lambda cause: len(cause.cases), default=None)


def _best_change(
    left: Sequence[RecordedCase], passes: Sequence[RecordedCase], changes: Sequence[FieldChange]
) -> Cause | None:
    """Return the change that explains most of the fails that are left, together with the changes
    already found; None if no change explains any.
    """
    changed_fields = {change.field for change in changes}
    profile = left[0].claimed
    candidates = [
        change
        for name in FIELDS_TRIED
        if name not in changed_fields
        for change in _changes_of(profile, name)
    ]

    def explains(case: RecordedCase, change: FieldChange) -> bool:
        return case.is_explained_by((*changes, change))

    best = _best(candidates, left, passes, explains)
    return None if best is None else Cause(best[0], None, best[1])


def _changes_of(profile: Profile, name: str) -> list[FieldChange]:
    """Return the changes of a field that may be what an engine does in every case."""
    current = profile.fields.get(name)
    values: Sequence[object] = alternatives(name, current)
    if name == "t0":
        values = [value for value in (0, *T0) if value != current]
    return [FieldChange(name, value) for value in values]


def _best_wrong_engine(
    left: Sequence[RecordedCase], passes: Sequence[RecordedCase], changes: Sequence[FieldChange]
) -> Cause | None:
    """Return the wrong engine that explains most of the fails that are left; None if none explains
    any. Those of the rules of the cases are tried.
    """
    rules = dict.fromkeys(case.result.rule for case in left)
    candidates = list(dict.fromkeys(one for rule in rules for one in wrong_engines_of(rule)))

    def explains(case: RecordedCase, wrong_engine: WrongEngine) -> bool:
        return case.is_short and case.is_explained_by(changes, wrong_engine)

    passes = [case for case in passes if case.is_short]

    best = _best(candidates, left, passes, explains)
    return None if best is None else Cause(None, best[0], best[1])


def _best(
    candidates: Sequence[T],
    left: Sequence[RecordedCase],
    passes: Sequence[RecordedCase],
    explains: Callable[[RecordedCase, T], bool],
) -> tuple[T, tuple[str, ...]] | None:
    """Return the best candidate, and the cases whose fail it explains; None if no candidate
    explains a fail without contradicting as many passes.
    """
    sample = left[:SAMPLE]
    counts = [
        (-sum(explains(case, candidate) for case in sample), place)
        for place, candidate in enumerate(candidates)
    ]
    best: tuple[int, int, tuple[str, ...]] | None = None
    for count, place in sorted(counts)[:BEST]:
        if not count:
            continue
        candidate = candidates[place]
        explained = tuple(case.result.case for case in left if explains(case, candidate))
        contradicted = sum(not explains(case, candidate) for case in passes)
        score = len(explained) - contradicted
        if score > 0 and (best is None or score > best[0]):
            best = score, place, explained
    return None if best is None else (candidates[best[1]], best[2])
