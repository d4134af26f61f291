"""What is said of the results of a run at its end: outcomes, a diagnosis of each engine with fails
that no known deviation explains, and rules. For these it is examined which cases would have caught
an engine that breaks their rule.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from conformance.corpus import Case, detection
from conformance.harness.engine_file import Engine
from conformance.suite.deviations import grant_fields, merge_fields
from conformance.suite.diagnosis import Cause, Diagnosis, diagnose, with_causes
from conformance.suite.exchange import asked_question
from conformance.suite.item import CASE_SUITES, Item, engines_of, find_case
from conformance.verdict import results, rules
from conformance.verdict.evidence import states_windows
from conformance.verdict.results import Outcome, Result
from conformance.verdict.rules import CaseResult, RuleStatus, RuleVerdict, is_of_engines
from conformance.verdict.wording import printable
from refengine.core.profile import Profile
from refengine.core.question import Question
from refengine.model.errors import RefengineError
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
    absent_engines = {item.engine for item in items if item.absent}
    reasons: dict[str, Counter[str]] = {}
    for result in run_results:
        reasons.setdefault(result.engine, Counter())[plain(result.explanation)] += 1
    for engine in engines:
        line = f"every item of {engine} was skipped (exit code 4; 0 with --allow-missing)"
        reason = ""
        if of_engine := reasons.get(engine):
            reason, count = max(of_engine.items(), key=lambda one: (one[1], one[0]))
            line += f"; {count} of {of_engine.total()} for this reason: {reason}"
        if is_smoke and engine not in absent_engines and not ABOUT_SEMANTICS.search(reason):
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


# the groups of cases, in the order in which they are examined
RIGHT_WITH_ROWS, OTHER_SUPPORTED, NOT_SUPPORTED = range(3)


def examine_results(
    results: Iterable[Result],
    items: Iterable[Item],
    diagnoses: Iterable[Diagnosis] = (),
) -> list[Result]:
    """Return results with `caught_wrong_engine` and `caught_when_granted`, as far as a verdict on
    each rule needs them.

    The cases of a rule are examined in three groups: those with rows that the engine passes, or
    fails by other rules alone, until one is found that a wrong engine of the rule would have
    failed; if there is none, all other judged ones; and if none of these is such a case, those that
    the engine does not support, up to the first one. In each group passes come first, and of these
    the smallest. The search goes on until a case that is supported is found to catch a wrong engine
    under the semantics that the engine claims, if there is one: so the rules in reach are the same
    for engines that claim and support the same, whatever they answer.

    `items` are those of the run, and `diagnoses` those of its engines: what they have found is
    granted as a known deviation is. Results of benchmarks and of recorded engines, and of rules of
    the suite, are left as they are.
    """
    results = list(results)
    engines = _engines_with_findings(items, diagnoses)
    by_rule: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    unchanged: list[Result] = []
    for result in results:
        is_of_case = result.engine in engines and result.suite in CASE_SUITES
        if is_of_case and is_of_engines(result.rule):
            case = CaseResult.of(result, result.evidence)
            by_rule[result.engine, result.rule].append(case)
        else:
            unchanged.append(result)

    stating = {
        result.engine
        for result in results
        if result.evidence is not None and states_windows(result.evidence)
    }
    # all are found first: each wrong engine that is tried clears the memo of the cases
    cases = {key: find_case(*key) for key in {(result.suite, result.case) for result in results}}
    examined = [
        result
        for (engine, _), of_rule in sorted(by_rule.items())
        for result in _examine_rule(engines[engine], engine in stating, of_rule, cases)
    ]
    return unchanged + examined


def _engines_with_findings(
    items: Iterable[Item], diagnoses: Iterable[Diagnosis]
) -> dict[str, Engine]:
    """Return the engines of some items by name. What a diagnosis has found is stated in them."""
    engines = engines_of(items)
    for diagnosis in diagnoses:
        tested = engines[diagnosis.engine]
        found = tuple(cause.deviation for cause in diagnosis.causes)
        engines[diagnosis.engine] = replace(tested, deviations=tested.deviations + found)
    return engines


def _examine_rule(
    tested: Engine,
    states_windows: bool,
    of_rule: Sequence[CaseResult],
    cases: Mapping[tuple[str, str], Case | None],
) -> list[Result]:
    """Return the results of a rule with what was found of those that were examined. The engine
    `states_windows` if it states the window of a report in any result. `cases` are those of the
    results, by suite and id.
    """
    results = {found.result.case: found.result for found in of_rule}
    is_reached = is_shown = False
    for found in sorted(of_rule, key=_examination_order):
        group = _group(found)
        if is_reached and (is_shown or group == NOT_SUPPORTED):
            break
        case = cases[found.result.suite, found.result.case]
        if case is None:
            continue
        result = _examine(tested, states_windows, case, found.result)
        results[case.id] = result
        is_reached |= bool(result.caught_wrong_engine)
        is_shown |= replace(found, result=result).shows_its_rule
    return list(results.values())


def _examine(tested: Engine, states_windows: bool, case: Case, result: Result) -> Result:
    """Return a result with the wrong engines that its case catches."""
    caught = _find_caught_wrong_engine(tested, states_windows, case, {})
    granted = ""
    reasons = {explanation.reason for explanation in result.explained_by}
    if reasons:
        fields = merge_fields(known for known in tested.deviations if known.reason in reasons)
        granted = caught
        if fields:
            granted = _find_caught_wrong_engine(tested, states_windows, case, fields)
    return replace(result, caught_wrong_engine=caught, caught_when_granted=granted)


def _examination_order(found: CaseResult) -> tuple[int, bool, int, str]:
    """Return the sort key by which the cases of a rule are examined: in each group those that pass
    come first.
    """
    is_wrong = found.result.outcome is not Outcome.PASS
    return _group(found), is_wrong, *found.size_and_case


def _group(found: CaseResult) -> int:
    """Return the group of a case in the order of examination."""
    if found.has_rows and found.is_right_about_its_rule:
        return RIGHT_WITH_ROWS
    if found.result.outcome is not Outcome.UNSUPPORTED:
        return OTHER_SUPPORTED
    return NOT_SUPPORTED


def _find_caught_wrong_engine(
    tested: Engine, states_windows: bool, case: Case, fields: Mapping[str, Any]
) -> str:
    """Return a wrong engine that would have failed a case in place of the tested one, by its full
    name; empty if there is none. Some fields of the semantics are granted to both.
    """
    if tested.is_configurable:
        return detection.find_wrong_engine_that_differs(case)

    def grant() -> tuple[Question, Profile]:
        return grant_fields(tested, asked_question(tested, case), fields)

    try:
        _, profile = grant()
    except RefengineError:
        return ""
    return detection.find_wrong_engine_that_fails(
        case.rule,
        lambda: grant()[0],
        profile,
        missing=tested.unreported,
        states_windows=states_windows,
    )
