"""Examining results: which cases would have caught an engine that breaks their rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from conformance.corpus import Case, detection
from conformance.harness.engine_file import Engine
from conformance.suite.deviations import grant_fields, merge_fields
from conformance.suite.diagnosis import Diagnosis
from conformance.suite.exchange import asked_question
from conformance.suite.item import Item, engines_of, questions
from conformance.verdict.evidence import states_windows
from conformance.verdict.results import Outcome, Result
from conformance.verdict.rules import CaseResult
from refengine.core.question import Question
from refengine.core.semantics import Profile
from refengine.model.errors import RefengineError

# the groups of cases, in the order in which they are examined
RIGHT_WITH_ROWS, OTHER_SUPPORTED, NOT_SUPPORTED = range(3)


def examine_results(
    results: Iterable[Result],
    items: Iterable[Item],
    diagnoses: Iterable[Diagnosis] = (),
) -> list[Result]:
    """Return results with `caught_wrong_engine`, as far as a verdict on each rule needs it.

    The cases of a rule are examined in three groups: those with rows that the engine passes, or
    fails by other rules alone, until one is found that a wrong engine of the rule would have
    failed; if there is none, all other judged ones; and if none of these is such a case, those that
    the engine does not support, up to the first one. In each group passes come first, and of these
    the smallest.

    `items` are those of the run, and `diagnoses` those of its engines: what they have found is
    granted as a known deviation is. Results of benchmarks and of recorded engines are left as they
    are.
    """
    engines = _engines_with_findings(items, diagnoses)
    by_rule: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    unchanged: list[Result] = []
    for result in results:
        if result.engine in engines and result.suite == "corpus" and result.rule:
            case = CaseResult.of(result, result.evidence)
            by_rule[result.engine, result.rule].append(case)
        else:
            unchanged.append(result)

    cases = {case.id: case for case in questions()}
    examined = [
        result
        for (engine, _), of_rule in sorted(by_rule.items())
        for result in _examine_rule(engines[engine], of_rule, cases)
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
    of_rule: Sequence[CaseResult],
    cases: Mapping[str, Case],
) -> list[Result]:
    """Return the results of a rule, with `caught_wrong_engine` where the case would catch one."""
    results = {found.result.case: found.result for found in of_rule}
    is_caught = False
    for found in sorted(of_rule, key=_examination_order):
        group = _group(found)
        case = cases.get(found.result.case)
        if case is None:
            continue
        if is_caught and group != OTHER_SUPPORTED:
            break
        if wrong_engine := _find_caught_wrong_engine(tested, case, found.result):
            results[case.id] = replace(found.result, caught_wrong_engine=wrong_engine)
            if group != OTHER_SUPPORTED:
                break
            is_caught = True
    return list(results.values())


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


def _find_caught_wrong_engine(tested: Engine, case: Case, result: Result) -> str:
    """Return a wrong engine that would have failed a case in place of the tested one, by its full
    name; empty if there is none.
    """
    if tested.is_configurable:
        return detection.find_wrong_engine_that_differs(case)
    reasons = {explanation.reason for explanation in result.explanations}
    fields = merge_fields(known for known in tested.deviations if known.reason in reasons)

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
        states_windows=result.evidence is not None and states_windows(result.evidence),
    )
