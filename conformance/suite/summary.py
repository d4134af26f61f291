"""What is said of the results of a run at its end: outcomes, rules, and a diagnosis of each engine
with fails that no known deviation explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from conformance.suite.diagnosis import Diagnosis, diagnose, with_causes
from conformance.suite.examination import examine_results
from conformance.suite.item import Item
from conformance.verdict import results, rules
from conformance.verdict.results import Result


@dataclass(frozen=True)
class RunSummary:
    """The results of a run, with what is known of them once all are there: `detects` and `causes`.
    `diagnoses` are those of its engines.
    """

    results: Sequence[Result]
    diagnoses: Sequence[Diagnosis]

    def lines(self) -> Iterator[str]:
        """Yield the lines about the run: a line for each engine that counts its outcomes, lines
        about its rules, its unstable cases, and its diagnosis.
        """
        yield from results.summary(self.results)
        verdicts = rules.judge_rules(
            rules.CaseResult.of(result, result.evidence) for result in self.results
        )
        yield from rules.summarize_rules(verdicts)
        yield from results.unstable_lines(self.results)
        for diagnosis in self.diagnoses:
            yield from describe_diagnosis(diagnosis)


def summarize_run(run_results: Iterable[Result], items: Iterable[Item]) -> RunSummary:
    """Return the summary of the results of some items."""
    listed = list(run_results)
    items = list(items)
    diagnoses = diagnose(listed, items)
    examined = examine_results(with_causes(listed, diagnoses), items, diagnoses)
    return RunSummary(examined, diagnoses)


def describe_diagnosis(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the lines of a diagnosis: each cause, with the entry for the engine's file that states
    it, and how many fails are left.
    """
    name = diagnosis.engine
    if diagnosis.is_silent:
        yield f"{name}: it has answered no case with a row, so nothing shows what it does"
        return
    of_all = f"of {len(diagnosis.fails)}"
    for cause in diagnosis.causes:
        rule_ids = ", ".join(cause.rules)
        yield (
            f"{name}: {cause.text} explains {len(cause.cases)} {of_all} fails ({rule_ids}); "
            f"smallest case {cause.cases[0]}"
        )
        if cause.entry:
            yield "  an entry for its file:"
        yield from (f"    {line}" for line in cause.entry.splitlines())
    if left := diagnosis.unexplained:
        yield (f"{name}: {len(left)} {of_all} fails are left unexplained; smallest case {left[0]}")


def write_entries(diagnoses: Iterable[Diagnosis]) -> Iterator[str]:
    """Yield the lines of all entries that diagnoses have found, to put into the engines' files."""
    for diagnosis in diagnoses:
        yield f"# {diagnosis.engine}: {len(diagnosis.fails)} fails that its file does not explain"
        for cause in diagnosis.causes:
            yield ""
            yield from cause.entry.splitlines()
        if diagnosis.unexplained:
            yield ""
            yield f"# left unexplained: {', '.join(diagnosis.unexplained)}"
