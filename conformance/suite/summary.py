"""What is said of the results of a run at its end: outcomes, rules, and a diagnosis of each engine
with fails that no known deviation explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from conformance.suite.diagnosis import Diagnosis, diagnose
from conformance.suite.item import Item
from conformance.verdict import results, rules
from conformance.verdict.results import KnownDeviation, Outcome, Result


def describe_results(examined: Sequence[Result], items: Iterable[Item]) -> Iterator[str]:
    """Yield the lines about the examined results of some items: a line for each engine that counts
    its outcomes, lines about its rules, its unstable cases, and its diagnosis.

    A fail that a diagnosis explains breaks the rules of its cause, and not the rule of its case.
    """
    diagnoses = diagnose(examined, items)
    yield from results.summary(examined)
    verdicts = rules.judge_rules(
        rules.CaseResult.of(result, result.evidence) for result in _with_causes(examined, diagnoses)
    )
    yield from rules.summarize_rules(verdicts)
    yield from results.unstable_lines(examined)
    for diagnosis in diagnoses:
        yield from describe_diagnosis(diagnosis)


def _with_causes(examined: Iterable[Result], diagnoses: Iterable[Diagnosis]) -> Iterator[Result]:
    """Yield results in which a fail that a diagnosis explains has its cause as a deviation."""
    causes = {
        (diagnosis.engine, case): cause
        for diagnosis in diagnoses
        for cause in diagnosis.causes
        for case in cause.cases
    }
    for result in examined:
        cause = causes.get((result.engine, result.case))
        if cause is not None and result.outcome is Outcome.FAIL:
            can_be_granted = cause.change is not None
            found = KnownDeviation(str(cause), "", cause.rules, can_be_granted)
            result = replace(result, known=(found,))
        yield result


def describe_diagnosis(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the lines of a diagnosis: each cause, with the entry for the engine's file that states
    it, and how many fails are left.
    """
    if diagnosis.silent:
        name = diagnosis.engine
        yield f"{name}: it has answered no case with a row, so nothing shows what it does"
        return
    of_all = f"of {diagnosis.fails}"
    for cause in diagnosis.causes:
        rule_ids = ", ".join(cause.rules)
        yield (
            f"{diagnosis.engine}: {cause} explains {len(cause.cases)} {of_all} fails ({rule_ids}); "
            f"smallest case {cause.cases[0]}"
        )
        yield "  an entry for its file:"
        yield from (f"    {line}" for line in cause.toml)
    if left := diagnosis.unexplained:
        yield (
            f"{diagnosis.engine}: {len(left)} {of_all} fails are left unexplained; smallest case "
            f"{left[0]}"
        )
