"""What is said of the results of a run at its end: outcomes, rules, and a diagnosis of each engine
with fails that no known deviation explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.suite.diagnosis import Diagnosis, diagnose
from conformance.suite.item import Item
from conformance.verdict import results, rules
from conformance.verdict.results import Result


def describe_results(examined: Sequence[Result], items: Iterable[Item]) -> Iterator[str]:
    """Yield the lines about the examined results of some items: a line for each engine that counts
    its outcomes, lines about its rules, its unstable cases, and its diagnosis.
    """
    yield from results.summary(examined)
    verdicts = rules.judge_rules(
        rules.CaseResult.of(result, result.evidence) for result in examined
    )
    yield from rules.summarize_rules(verdicts)
    yield from results.unstable_lines(examined)
    for diagnosis in diagnose(examined, items):
        yield from describe_diagnosis(diagnosis)


def describe_diagnosis(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the lines of a diagnosis: each cause, with the entry for the engine's file that states
    it, and how many fails are left.
    """
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
