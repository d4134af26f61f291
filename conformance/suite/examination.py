"""Examining results: which cases would have caught an engine that breaks their rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from conformance import corpus
from conformance.corpus import Case, detection
from conformance.harness.engine_file import Engine
from conformance.suite.exchange import asked_question
from conformance.suite.item import Item
from conformance.verdict.results import Outcome, Result
from conformance.verdict.rules import CaseResult
from refengine.core.semantics import Profile
from refengine.model.errors import RefengineError

# the groups of cases, in the order in which they are examined
RIGHT_WITH_ROWS, OTHERWISE_JUDGED, NOT_SUPPORTED = range(3)


def examine_results(results: Iterable[Result], items: Sequence[Item]) -> list[Result]:
    """Return results with `detects`, as far as a verdict on each rule needs it.

    The cases of a rule are examined in three groups, each from the smallest case on: those that the
    engine passes with rows, until one is found that a wrong engine of the rule would have failed;
    if there is none, all other judged ones; and if none of these is such a case, those that the
    engine does not support, up to the first one. `items` are those of the run. Results of
    benchmarks and of recorded engines are left as they are.
    """
    engines = {item.engine: item.tested for item in items if item.tested is not None}
    by_rule: dict[tuple[str, str], list[CaseResult]] = defaultdict(list)
    unchanged: list[Result] = []
    for result in results:
        if result.engine in engines and result.suite == "corpus" and result.rule:
            case = CaseResult.of(result, result.evidence)
            by_rule[result.engine, result.rule].append(case)
        else:
            unchanged.append(result)

    cases = {case.id: case for case in corpus.cases()}
    examined = [
        result
        for (engine, _), of_rule in sorted(by_rule.items())
        for result in _examine_rule(engines[engine], of_rule, cases)
    ]
    return unchanged + examined


def _examine_rule(
    tested: Engine, of_rule: Sequence[CaseResult], cases: Mapping[str, Case]
) -> list[Result]:
    """Return the results of a rule, with `detects` where the case would catch a wrong engine."""
    results = {found.result.case: found.result for found in of_rule}
    has_found = False
    for found in sorted(of_rule, key=_examination_order):
        group = _group(found)
        case = cases.get(found.result.case)
        if case is None:
            continue
        if has_found and group != OTHERWISE_JUDGED:
            break
        if wrong_engine := _find_caught_wrong_engine(tested, case, found.result):
            results[case.id] = replace(found.result, detects=wrong_engine)
            if group != OTHERWISE_JUDGED:
                break
            has_found = True
    return list(results.values())


def _examination_order(found: CaseResult) -> tuple[int, int, str]:
    """Return the sort key by which the cases of a rule are examined."""
    return _group(found), found.size, found.result.case


def _group(found: CaseResult) -> int:
    """Return the group of a case in the order of examination."""
    if found.has_rows and found.is_right_about_its_rule:
        return RIGHT_WITH_ROWS
    if found.result.outcome is not Outcome.UNSUPPORTED:
        return OTHERWISE_JUDGED
    return NOT_SUPPORTED


def _find_caught_wrong_engine(tested: Engine, case: Case, result: Result) -> str:
    """Return a wrong engine that would have failed a case in place of the tested one, by its full
    name; empty if there is none.
    """
    if tested.is_configurable:
        return detection.find_wrong_engine_that_differs(case)
    try:
        question = asked_question(tested, case)
        profile = _granted_profile(tested, result, tested.profile_for(question.query))
    except RefengineError:
        return ""
    return detection.find_wrong_engine_that_fails(
        case.rule,
        partial(asked_question, tested, case),
        profile,
        missing=tested.unreported,
        states_windows=_states_windows(result),
    )


def _granted_profile(tested: Engine, result: Result, profile: Profile) -> Profile:
    """Return the profile under which the answers of a result are right: the engine's own, changed
    by the fields of the known deviations that explain the result.
    """
    explaining = {(known.reason, known.link) for known in result.known}
    for deviation in tested.deviations:
        if (deviation.reason, deviation.link) in explaining:
            profile = profile.but(**deviation.fields)
    return profile


def _states_windows(result: Result) -> bool:
    """Whether the engine states the window of a report."""
    if result.evidence is None:
        return False
    return any("window" in report for report in result.evidence["actual"])
