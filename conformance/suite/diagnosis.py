"""One diagnosis for an engine: few deviations from its semantics that together explain as many of
its fails as a search finds.

Each fail has an explanation of its own. But most engines have one or two defects, which show in
many cases. So after a run all fails that no known deviation explains are looked at together
(cause_search.py), and each is given its causes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.harness.deviation_entry import write_entry
from conformance.harness.engine_file import Deviation, Engine
from conformance.suite.candidates import Candidate
from conformance.suite.cause_search import CauseSearch, CausesOfFails
from conformance.suite.item import CASE_SUITES, Item, engines_of, find_case
from conformance.suite.recorded_case import RecordedCase, restore_recorded_case
from conformance.verdict.results import DiagnosedCause, Outcome, Result
from conformance.verdict.rules import CaseResult

PASSES_OF_A_RULE = 1  # passes of each rule on which a candidate is tried, at most


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A part of a diagnosis: a `deviation` of the engine, which `text` names. It is needed to
    explain some fails: `rules_by_case` has the rules that the engine breaks by it in each of their
    cases, the smallest case first. `entry` states the deviation in the engine's file. It is empty
    for an engine that is sent its semantics: none can be granted to it. So many passes as `against`
    would fail under it.
    """

    text: str
    deviation: Deviation
    rules_by_case: Mapping[str, tuple[str, ...]]
    entry: str
    against: int = 0

    @property
    def cases(self) -> tuple[str, ...]:
        """The ids of the cases whose fail it is needed to explain, the smallest first."""
        return tuple(self.rules_by_case)

    @property
    def rules(self) -> tuple[str, ...]:
        """All rules that the engine breaks by it."""
        return tuple(sorted({rule for rules in self.rules_by_case.values() for rule in rules}))

    def in_result(self, case: str) -> DiagnosedCause:
        """Return the cause as the result of a case has it."""
        deviation = self.deviation
        rules = self.rules_by_case[case]
        return DiagnosedCause(
            deviation.reason, rules, deviation.can_be_granted, self.entry, self.against
        )


@dataclass(frozen=True)
class Diagnosis:
    """What explains the fails of an engine: its `causes`, those that explain most first.
    `fails` are the cases of all fails that no known deviation explains, and `unexplained`
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
    engines = engines_of(items)
    by_engine: dict[str, list[Result]] = {}
    for result in results:
        if result.suite in CASE_SUITES and result.engine in engines:
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
                of_case.append(cause.in_result(case))
    for result in results:
        found = causes.get((result.engine, result.case), ())
        if found and result.is_fail_without_known_deviation:
            result = replace(result, causes=tuple(found))
        yield result


def _diagnose_engine(tested: Engine, results: Sequence[Result]) -> Diagnosis | None:
    """Return the diagnosis of an engine, None if it has no unexplained fail."""
    ordered = sorted(results, key=lambda result: _case_result(result).size_and_case)
    fails = tuple(result.case for result in ordered if result.is_fail_without_known_deviation)
    if not fails:
        return None
    if not any(_case_result(result).has_rows for result in results):
        return Diagnosis(tested.name, fails, is_silent=True)

    recorded = [
        answers
        for result in ordered
        if (case := find_case(result.suite, result.case)) is not None
        and (answers := restore_recorded_case(tested, case, result)) is not None
    ]
    search = CauseSearch(
        tested.profile,
        CausesOfFails([case for case in recorded if case.result.is_fail_without_known_deviation]),
        passes=_passes_for_trials(recorded),
        every_pass=[case for case in recorded if _is_pass_with_rows(case)],
    )
    search.run()
    causes = [
        _make_cause(
            candidate,
            search.causes.fails_of(candidate),
            search.against.get(candidate, 0),
            can_be_stated=not tested.is_configurable,
        )
        for candidate in search.causes.needed_causes
    ]
    causes.sort(key=lambda cause: -len(cause.cases))
    return Diagnosis(tested.name, fails, tuple(causes))


def _make_cause(
    candidate: Candidate,
    explained: Sequence[RecordedCase],
    against: int,
    *,
    can_be_stated: bool,
) -> Cause:
    """Return the cause of some fails; so many passes as `against` would fail under it.
    `can_be_stated` says whether the engine's file can state it.
    """
    deviation = candidate.deviation(explained)
    rules_by_case = {case.id: case.rules_broken_by(deviation) for case in explained}
    entry = "\n".join(write_entry(deviation)) if can_be_stated else ""
    return Cause(
        text=candidate.text,
        deviation=deviation,
        rules_by_case=rules_by_case,
        entry=entry,
        against=against,
    )


def _case_result(result: Result) -> CaseResult:
    """Return what a verdict on rules reads of a result."""
    return CaseResult.of(result, result.evidence)


def _passes_for_trials(recorded: Iterable[RecordedCase]) -> list[RecordedCase]:
    """Return the passes on which candidates are tried: of each rule the smallest ones that have
    rows, and that pass with the known deviations of the engine in force, too. A fail that known
    deviations explain which can be granted is such a pass.
    """
    chosen: dict[str, list[RecordedCase]] = {}
    for case in recorded:
        of_rule = chosen.setdefault(case.result.rule, [])
        is_chosen = _is_pass_with_rows(case) and len(of_rule) < PASSES_OF_A_RULE
        if is_chosen and case.is_explained_by({}):
            of_rule.append(case)
    return [case for of_rule in chosen.values() for case in of_rule]


def _is_pass_with_rows(case: RecordedCase) -> bool:
    """Whether the engine answered a case with rows that are right, or wrong by known deviations
    alone that can be granted.
    """
    known = case.result.known
    is_right = case.result.outcome is Outcome.PASS or (
        bool(known) and all(one.can_be_granted for one in known)
    )
    return is_right and any(relation.rows for relation in case.relations)
