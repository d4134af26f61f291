"""One diagnosis for an engine: the fewest deviations from its semantics that explain its fails
together.

Each fail has an argument of its own. But most engines have one or two defects, which show in many
cases. So after a run all fails that no known deviation explains are looked at together:

1. Each change of one field is tried on some small fails, and so is each wrong engine of their
   rules. Those that explain most are tried on all fails, and on passes: if passes would fail under
   a change, then it is not what the engine does.
2. The best one is kept; a change is preferred to a wrong engine, since it can be stated. The search
   goes on with the fails that are left, under the semantics so changed. It ends when nothing
   explains a fail that is left.
3. Of each fail that is explained, the causes are kept without which it would not be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from conformance import corpus
from conformance.corpus.detection import wrong_engines_of
from conformance.harness.deviation_entry import write_entry
from conformance.harness.engine_file import Deviation, Engine
from conformance.suite.item import Item
from conformance.suite.recorded_case import RecordedCase, restore_recorded_case
from conformance.verdict.results import DiagnosedCause, Outcome, Result
from conformance.verdict.rules import CaseResult
from conformance.wrong_engines import WrongEngine
from refengine.core.semantics import T0, Profile, show
from refengine.oracle.explanations import FIELDS_TRIED, FieldChange, alternatives
from refengine.oracle.explanations.changes import companion_fields

SAMPLE = 12  # fails on which every candidate is tried, the smallest ones
BEST = 3  # candidates that are tried on everything
PASSES_OF_A_RULE = 2  # passes of each rule on which a candidate is tried, at most
CAUSES_BOUND = 5  # causes of a diagnosis, at most
LINK = "https://…"  # stands in an entry for the link, which only its author knows


@dataclass(frozen=True)
class Candidate:
    """What an engine may do otherwise than it claims: a `change` of a field of its semantics, or
    what a `wrong_engine` does; if it is neither, then it states wrong windows. `text` names it:
    `closure=[]`.
    """

    text: str
    change: FieldChange | None = None
    wrong_engine: WrongEngine | None = None

    def deviation(self, cases: Sequence[RecordedCase]) -> Deviation:
        """Return the deviation to state in the engine's file. `cases` are those that it explains;
        one of them stands for all where the oracle can be told of the deviation.
        """
        ids = tuple(case.id for case in cases)
        if self.wrong_engine is not None:
            breaks = (self.wrong_engine.rule,)
            return Deviation(f"does as {self.text}", LINK, ids, breaks=breaks)
        if self.change is None:
            return Deviation(self.text, LINK, ids[:1], misstates="window")
        fields = fields_of_change(cases[0].profile, self.change)
        return Deviation(f"its semantics is {self.text}", LINK, ids[:1], fields)


@dataclass(frozen=True)
class Cause:
    """A part of a diagnosis: a `deviation` of the engine, which `text` names, and the `rules` that
    the engine breaks by it. It is needed to explain the fails of `cases`; the smallest comes first.
    `entry` states the deviation in the engine's file. It is empty for an engine that is sent its
    semantics: none can be granted to it.
    """

    text: str
    deviation: Deviation
    rules: tuple[str, ...]
    cases: tuple[str, ...]
    entry: str

    def as_part_of_a_result(self) -> DiagnosedCause:
        """Return the cause as a result has it."""
        deviation = self.deviation
        return DiagnosedCause(deviation.reason, self.rules, deviation.can_be_granted, self.entry)


@dataclass(frozen=True)
class Diagnosis:
    """What explains the fails of an engine: its `causes`, those found first, which explain most, in
    front. `fails` are the cases of all fails that no known deviation explains, and `unexplained`
    those of them that no cause explains either. Of an engine that `is_silent`, which has answered
    no case with a row, nothing is explained.
    """

    engine: str
    fails: tuple[str, ...]
    causes: tuple[Cause, ...] = ()
    is_silent: bool = False

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The cases whose fail no cause explains, the smallest first."""
        explained = {case for cause in self.causes for case in cause.cases}
        return tuple(case for case in self.fails if case not in explained)


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


def with_causes(results: Iterable[Result], diagnoses: Iterable[Diagnosis]) -> Iterator[Result]:
    """Yield results in which each fail that a diagnosis explains has its causes."""
    causes: dict[tuple[str, str], list[DiagnosedCause]] = {}
    for diagnosis in diagnoses:
        for cause in diagnosis.causes:
            for case in cause.cases:
                of_case = causes.setdefault((diagnosis.engine, case), [])
                of_case.append(cause.as_part_of_a_result())
    for result in results:
        found = causes.get((result.engine, result.case), ())
        if found and _is_unexplained_fail(result):
            result = replace(result, causes=tuple(found))
        yield result


def _is_unexplained_fail(result: Result) -> bool:
    """Whether a result is a fail that no known deviation explains."""
    return result.outcome is Outcome.FAIL and not result.known


def _diagnose_engine(tested: Engine, results: Sequence[Result]) -> Diagnosis | None:
    """Return the diagnosis of an engine, None if it has no unexplained fail."""
    ordered = sorted(results, key=_size_and_case)
    fails = tuple(result.case for result in ordered if _is_unexplained_fail(result))
    if not fails:
        return None
    if not any(CaseResult.of(result, result.evidence).has_rows for result in results):
        return Diagnosis(tested.name, fails, is_silent=True)

    cases = {case.id: case for case in corpus.cases()}
    recorded = [
        answers
        for result in ordered
        if (answers := restore_recorded_case(tested, cases[result.case], result)) is not None
    ]
    search = _Search(
        tested.profile,
        left=[case for case in recorded if _is_unexplained_fail(case.result)],
        passes=_passes_for_trials(recorded),
    )
    search.run()
    return Diagnosis(tested.name, fails, tuple(search.causes()))


def _size_and_case(result: Result) -> tuple[int, str]:
    """Return the sort key of a result: the number of its elements, then the case."""
    return CaseResult.of(result, result.evidence).size, result.case


def _passes_for_trials(recorded: Iterable[RecordedCase]) -> list[RecordedCase]:
    """Return the passes on which candidates are tried: of each rule the smallest ones that have
    rows, and that pass with the known deviations of the engine in force, too.
    """
    chosen: dict[str, list[RecordedCase]] = {}
    for case in recorded:
        of_rule = chosen.setdefault(case.result.rule, [])
        is_pass = case.result.outcome is Outcome.PASS and any(
            relation.rows for relation in case.relations
        )
        if is_pass and len(of_rule) < PASSES_OF_A_RULE and case.is_explained_by({}):
            of_rule.append(case)
    return [case for of_rule in chosen.values() for case in of_rule]


@dataclass
class _Search:
    """The search for the causes of an engine's fails.

    `profile` is that of the engine, None for one that is sent its semantics with each case. `left`
    are the fails that are not explained yet, the smallest first. `found` are the causes so far, and
    `explained` has each explained fail with the causes without which it would not be.
    """

    profile: Profile | None
    left: list[RecordedCase]
    passes: list[RecordedCase]
    found: list[Candidate] = field(default_factory=list)
    explained: list[tuple[RecordedCase, list[Candidate]]] = field(default_factory=list)

    def run(self) -> None:
        """Find causes, one after the other, until nothing explains a fail that is left."""
        self._set_wrong_windows_apart()
        while self.left and len(self.found) < CAUSES_BOUND:
            candidate = self._best_candidate()
            if candidate is None:
                return
            self._keep(candidate)

    def causes(self) -> Iterator[Cause]:
        """Yield each cause that is needed for a fail, in the order in which they were found."""
        for candidate in self.found:
            cases = [case for case, needed in self.explained if candidate in needed]
            if cases:
                deviation = candidate.deviation(cases)
                rules = {rule for case in cases for rule in case.rules_broken_by(deviation)}
                ids = tuple(case.id for case in cases)
                entry = "\n".join(write_entry(deviation)) if self.profile is not None else ""
                yield Cause(candidate.text, deviation, tuple(sorted(rules)), ids, entry)

    def _set_wrong_windows_apart(self) -> None:
        """Take the fails that are right but for the windows that the engine states."""
        misstated = [case for case in self.left if case.states_windows and case.is_explained_by({})]
        if misstated:
            wrong_windows = Candidate("the windows that it states are wrong")
            self.found.append(wrong_windows)
            self.explained += [(case, [wrong_windows]) for case in misstated]
            self.left = [case for case in self.left if case not in misstated]

    def _keep(self, candidate: Candidate) -> None:
        """Keep a candidate as a cause, and take the fails that it explains."""
        left = []
        for case in self.left:
            if explaining := self._explaining_set(case, candidate):
                self.explained.append((case, _drop_unneeded(case, explaining)))
            else:
                left.append(case)
        self.found.append(candidate)
        self.left = left

    def _explaining_set(self, case: RecordedCase, candidate: Candidate) -> list[Candidate]:
        """Return a candidate and causes already found that together explain a case: all of them, or
        those that are no wrong engines; an empty list if neither do.
        """
        sets = [[*self.found, candidate]]
        changes = [cause for cause in self.found if cause.wrong_engine is None]
        if len(changes) < len(self.found):
            sets.append([*changes, candidate])
        return next((one for one in sets if _explain(case, one)), [])

    def _best_candidate(self) -> Candidate | None:
        """Return the change or the wrong engine that explains most of the fails that are left; None
        if nothing explains any. A change that explains as many as a wrong engine is preferred.
        """
        change, count = self._best(self._changes(), self.passes)
        if count == len(self.left):
            return change
        passes = [case for case in self.passes if case.is_short]
        wrong_engine, other_count = self._best(self._wrong_engines(), passes)
        return wrong_engine if other_count > count else change

    def _changes(self) -> list[Candidate]:
        """Return the changes of fields that no cause has changed yet."""
        changed = {one.change.field for one in self.found if one.change is not None}
        return [
            Candidate(f"{change.field}={show(change.value)}", change)
            for name in FIELDS_TRIED
            if name not in changed
            for change in changes_of_field(self.profile, name)
        ]

    def _wrong_engines(self) -> list[Candidate]:
        """Return the wrong engines of the rules of the fails that are left."""
        rules = dict.fromkeys(case.result.rule for case in self.left)
        engines = dict.fromkeys(one for rule in rules for one in wrong_engines_of(rule))
        return [
            Candidate(f"the wrong engine {one.full_name!r}: {one.defect}", wrong_engine=one)
            for one in engines
        ]

    def _best(
        self, candidates: Sequence[Candidate], passes: Sequence[RecordedCase]
    ) -> tuple[Candidate | None, int]:
        """Return the best candidate, and how many of the fails that are left it explains. None and
        0 if no candidate explains more fails than it contradicts passes.
        """
        best: Candidate | None = None
        best_score = best_count = 0
        for candidate in self._most_promising(candidates):
            count = self._count(self.left, candidate)
            score = count - (len(passes) - self._count(passes, candidate))
            if score > best_score:
                best, best_score, best_count = candidate, score, count
        return best, best_count

    def _most_promising(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates that explain most of a sample of the fails that are left."""
        counts = [self._count(self.left[:SAMPLE], candidate) for candidate in candidates]
        places = sorted(range(len(candidates)), key=lambda place: -counts[place])
        return [candidates[place] for place in places[:BEST] if counts[place]]

    def _count(self, cases: Iterable[RecordedCase], candidate: Candidate) -> int:
        """Return how many cases a candidate explains, together with the causes found so far."""
        return sum(bool(self._explaining_set(case, candidate)) for case in cases)


def fields_of_change(profile: Profile, change: FieldChange) -> dict[str, Any]:
    """Return the fields of a change: its own, and those that must change with it unless the profile
    has these values. The baseline of R2S is always one of them: it depends on the query, too.
    """
    companions = {
        name: value
        for name, value in companion_fields(profile, change).items()
        if name == "base" or profile.fields.get(name) != value
    }
    return {change.field: change.value, **companions}


def changes_of_field(profile: Profile | None, name: str) -> list[FieldChange]:
    """Return the changes of a field that may be what an engine does in every case. An engine may
    have one R2S operator whatever the query states, and that may be the one of its profile. One
    that is sent its semantics, and so has no profile, may have any value whatever it is sent.
    """
    current = None if profile is None else profile.fields.get(name)
    values: Sequence[object] = alternatives(name, current)
    if name == "t0":
        values = [value for value in (0, *T0) if value != current]
    if name == "r2s" and current is not None:
        values = [current, *values]
    return [FieldChange(name, value) for value in values]


def _explain(case: RecordedCase, candidates: Sequence[Candidate]) -> bool:
    """Whether some candidates together explain the answers to a case. Where the stream is long, no
    wrong engine is tried.
    """
    wrong_engines = [one.wrong_engine for one in candidates if one.wrong_engine is not None]
    if wrong_engines and not case.is_short:
        return False
    fields: dict[str, Any] = {}
    for candidate in candidates:
        if candidate.change is not None:
            fields |= fields_of_change(case.profile.but(**fields), candidate.change)
    return case.is_explained_by(fields, wrong_engines)


def _drop_unneeded(case: RecordedCase, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those of some candidates that explain a case together, of which none can be left out.
    Those found first are dropped first, since the last one was found for this case.
    """
    needed = list(candidates)
    for candidate in candidates:
        rest = [other for other in needed if other is not candidate]
        if rest and _explain(case, rest):
            needed = rest
    return needed
