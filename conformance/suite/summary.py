"""What is said of the results of a run at its end: outcomes, rules, and a diagnosis of each engine
with fails that no known deviation explains.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from conformance.suite.diagnosis import Cause, Diagnosis, diagnose, with_causes
from conformance.suite.examination import examine_results
from conformance.suite.item import Item
from conformance.verdict import results, rules
from conformance.verdict.results import Result
from conformance.verdict.rules import RuleStatus, RuleVerdict
from conformance.verdict.wording import printable
from refengine.model.messages import plain

PROPERTY = 2_000  # characters of a name or a value
ABOUT_SEMANTICS = re.compile(r"\b(SEM|ORA)-\d+: ")  # in the reason of a result
PROPERTIES = {
    RuleStatus.HOLDS: "rules-hold",
    RuleStatus.BROKEN: "rules-broken",
    RuleStatus.UNEXPLAINED: "rules-unexplained",
    RuleStatus.NOT_SHOWN: "rules-not-shown",
}


@dataclass(frozen=True)
class RunSummary:
    """The results of a run. Each has what is known once all are there: `caught_wrong_engine` and
    `causes`. `diagnoses` are those of the engines.
    """

    results: Sequence[Result]
    diagnoses: Sequence[Diagnosis]

    @cached_property
    def verdicts(self) -> Sequence[RuleVerdict]:
        """The verdict on each rule for each engine."""
        return rules.judge_rules(
            rules.CaseResult.of(result, result.evidence) for result in self.results
        )

    def properties(self) -> Iterator[tuple[str, str]]:
        """Yield name and value of each property of the run, for its JUnit file: of each engine how
        many rules in its reach hold, are broken and are not shown, which are broken, and what its
        diagnosis has found.
        """
        for name, value in self._properties():
            yield printable(name, PROPERTY), printable(value, PROPERTY)

    def _properties(self) -> Iterator[tuple[str, str]]:
        """Yield the properties, of any length."""
        yield from self._properties_of_rules()
        for diagnosis in self.diagnoses:
            for number, cause in enumerate(diagnosis.causes, 1):
                yield f"cause-{number}:{diagnosis.engine}", describe_cause(diagnosis, cause)
            yield f"unexplained-fails:{diagnosis.engine}", str(len(diagnosis.unexplained))

    def _properties_of_rules(self) -> Iterator[tuple[str, str]]:
        """Yield the properties that count the rules in an engine's reach, by status, and list those
        that are broken, beyond its reach as well.
        """
        found = [verdict for verdict in self.verdicts if verdict.status in rules.IN_REACH]
        for engine in sorted({verdict.engine for verdict in found}):
            of_engine = [verdict for verdict in found if verdict.engine == engine]
            counts = rules.count_in_reach(of_engine)
            for status, name in PROPERTIES.items():
                yield f"{name}:{engine}", str(counts[status])
            broken = [one.rule for one in of_engine if one.status.counted_as is RuleStatus.BROKEN]
            yield f"broken-rules:{engine}", " ".join(broken)

    def lines(self) -> Iterator[str]:
        """Yield the lines about the run: a line for each engine that counts its outcomes, its
        diagnosis, its unstable cases, and lines about its rules.
        """
        yield from results.summary(self.results)
        for diagnosis in self.diagnoses:
            yield from describe_diagnosis(diagnosis)
        yield from results.unstable_lines(self.results)
        yield from rules.summarize_rules(self.verdicts)


def summarize_run(
    run_results: Iterable[Result], items: Iterable[Item], *, has_diagnosis: bool = True
) -> RunSummary:
    """Return the summary of the results of some items. Without a diagnosis no cause is looked for,
    which can take longer than the run.
    """
    listed = list(run_results)
    items = list(items)
    diagnoses = diagnose(listed, items) if has_diagnosis else ()
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
    for cause in diagnosis.causes:
        yield f"{name}: {describe_cause(diagnosis, cause)}"
        if cause.entry:
            yield "  an entry for its file:"
        yield from (f"    {line}" for line in cause.entry.splitlines())
    if left := diagnosis.unexplained:
        yield (
            f"{name}: {len(left)} of {len(diagnosis.fails)} fails are left unexplained; smallest "
            f"case {left[0]}"
        )


def describe_cause(diagnosis: Diagnosis, cause: Cause) -> str:
    """Write a cause of a diagnosis in a line: how many fails it explains, its rules, its smallest
    case.
    """
    return (
        f"{cause.text} explains {len(cause.cases)} of {len(diagnosis.fails)} fails "
        f"({', '.join(cause.rules)}); smallest case {cause.cases[0]}"
    )


def describe_unjudged_engines(
    engines: Iterable[str],
    items: Iterable[Item],
    run_results: Iterable[Result],
    *,
    is_smoke: bool,
) -> Iterator[str]:
    """Yield a line for each engine whose items were all skipped, so that nothing was judged: with
    the reason that most of its results give, if it has any.

    `items` and `run_results` are those of the run, and `is_smoke` says whether they are the cases
    for a first look. More cases would not help an engine that is not there, nor one whose semantics
    cannot be tried.
    """
    missing_engines = {item.engine for item in items if item.missing}
    reasons: dict[str, Counter[str]] = {}
    for result in run_results:
        reasons.setdefault(result.engine, Counter())[plain(result.argument)] += 1
    for engine in engines:
        line = f"every item of {engine} was skipped (exit code 4; 0 with --allow-missing)"
        reason = ""
        if of_engine := reasons.get(engine):
            reason, count = max(of_engine.items(), key=lambda one: (one[1], one[0]))
            line += f"; {count} of {of_engine.total()} for this reason: {reason}"
        if is_smoke and engine not in missing_engines and not ABOUT_SEMANTICS.search(reason):
            line += "; --smoke asks a dozen cases only, and the engine supports none: leave it out"
        yield line


def write_entries(diagnoses: Iterable[Diagnosis]) -> Iterator[str]:
    """Yield the lines of all entries that diagnoses have found, to put into the engines' files."""
    for diagnosis in diagnoses:
        yield f"# {diagnosis.engine}: {len(diagnosis.fails)} fails that its file does not explain"
        if diagnosis.is_silent:
            yield "# it has answered no case with a row, so no cause was looked for"
        for cause in diagnosis.causes:
            yield ""
            # an engine that is sent its semantics has no entry
            yield from cause.entry.splitlines() or [f"# {cause.text}"]
        if diagnosis.unexplained:
            yield ""
            yield f"# left unexplained: {', '.join(diagnosis.unexplained)}"
