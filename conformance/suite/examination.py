"""Examining results: which cases would have caught an engine that breaks their rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.corpus import Case, detection
from conformance.harness.engine_file import Engine
from conformance.suite.deviations import grant_fields, merge_fields
from conformance.suite.diagnosis import Diagnosis
from conformance.suite.exchange import asked_question
from conformance.suite.item import Item, engines_of, questions
from conformance.verdict.evidence import states_windows
from conformance.verdict.results import Outcome, Result
from conformance.verdict.rules import CaseResult, is_of_engines
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
        is_of_corpus = result.engine in engines and result.suite == "corpus"
        if is_of_corpus and is_of_engines(result.rule):
            case = CaseResult.of(result, result.evidence)
            by_rule[result.engine, result.rule].append(case)
        else:
            unchanged.append(result)

    cases = {case.id: case for case in questions()}
    stating = {
        result.engine
        for result in results
        if result.evidence is not None and states_windows(result.evidence)
    }
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
    cases: Mapping[str, Case],
) -> list[Result]:
    """Return the results of a rule with what was found of those that were examined. The engine
    `states_windows` if it states the window of a report in any result.
    """
    results = {found.result.case: found.result for found in of_rule}
    is_reached = is_shown = False
    for found in sorted(of_rule, key=_examination_order):
        group = _group(found)
        if is_reached and (is_shown or group == NOT_SUPPORTED):
            break
        case = cases.get(found.result.case)
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
    reasons = {explanation.reason for explanation in result.explanations}
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
