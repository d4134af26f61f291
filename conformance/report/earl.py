"""Results in EARL 1.0, as Turtle. An assertion of the suite about an engine is the result of a
case, or the verdict on a rule. The same results give the same bytes.

Each rule of SPEC.md is a test requirement of engines, with its text. A case is part of its rule, or
of the benchmark whose query it is. IRIs are those of `conformance.corpus.iris`: URNs, since engines
have no IRIs of their own that we know.

| outcome of a case | EARL | why |
|---|---|---|
| pass | earl:passed | |
| fail | earl:failed | whether or not a known deviation explains it |
| unsupported | earl:inapplicable | the engine has no such thing, so the test is not about it |
| disputed | earl:cantTell | no witness confirms the SPARQL evaluator's answer: who is right? |
| error | earl:cantTell | asked, so not untested; no wrong answer, so not failed; also if known |
| unstable | earl:cantTell | it was asked several times, and not every verdict was the same |
| none | earl:untested | another engine has a result of it, and this one has not |

| verdict on a rule | EARL | why |
|---|---|---|
| holds | earl:passed | |
| broken | earl:failed | whether or not it is known; by a known crash, too |
| fails, unexplained | earl:cantTell | a case of it fails, perhaps by another rule |
| not shown | earl:untested | nobody knows whether the engine would break it |
| not in reach | earl:inapplicable | the engine supports no case that could show it |
| not asked | earl:untested | no case could show it |

A rule of the suite itself (ORA, IO, DIA) is the criterion of its cases, and nobody's requirement.

`shapes/earl.ttl` says in SHACL what each document is like.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date as day
from pathlib import Path
from urllib.parse import urljoin

from conformance.corpus.iris import case_iri, iri
from conformance.corpus.rule_texts import RuleText, rule_texts
from conformance.report import texts
from conformance.report.source import Entry, Results, examined_engines, rule_verdicts
from conformance.verdict.outcomes import Outcome
from conformance.verdict.rules import RuleStatus, RuleVerdict, describe_rule, is_of_engines
from refengine.model.errors import RefengineError
from refengine.model.messages import display

SHAPES = Path(__file__).parent / "shapes" / "earl.ttl"
PREFIXES = {
    "earl": "http://www.w3.org/ns/earl#",
    "doap": "http://usefulinc.com/ns/doap#",
    "dct": "http://purl.org/dc/terms/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
OUTCOMES = {
    Outcome.PASS: "passed",
    Outcome.FAIL: "failed",
    Outcome.UNSUPPORTED: "inapplicable",
    Outcome.DISPUTED: "cantTell",
    Outcome.ERROR: "cantTell",
    Outcome.UNSTABLE: "cantTell",
}
OUTCOMES_OF_RULES = {
    RuleStatus.HOLDS: "passed",
    RuleStatus.BROKEN: "failed",
    RuleStatus.KNOWN: "failed",
    RuleStatus.UNEXPLAINED: "cantTell",
    RuleStatus.NOT_SHOWN: "untested",
    RuleStatus.NOT_ASKED: "untested",
    RuleStatus.NOT_IN_REACH: "inapplicable",
}
EXPLANATIONS = 20  # known deviations, or causes, of a result that are written
SUITE = f"<{iri('suite')}>"
CASE_NOT_RUN = "not asked: the engine has no result of this case, and another engine has"
NO_RESULT = "the engine has no result of the cases of this rule, and another engine has"
NOT_EXAMINED = "no result of the engine was examined for what it shows"
NO_ROW = "shows nothing of its rule: the engine answered with no row"
SHOWS_NOTHING = (
    "is not known to show its rule: no wrong engine was found that this case catches, or none was "
    "tried"
)


def turtle(results: Results, date: str | None = None, spec_iri: str | None = None) -> Iterator[str]:
    """Yield the lines of the document.

    `date` (YYYY-MM-DD) is that of the results, which do not say it themselves; without it the
    document has none. `spec_iri` is the address of a page that shows SPEC.md with GitHub's anchors;
    each rule then has a link to its section there, or on a page that lies from there as in the
    repository.
    """
    if date is not None:
        check_date(date)
    if spec_iri is not None:
        check_spec_iri(spec_iri)
    for prefix, namespace in PREFIXES.items():
        yield f"@prefix {prefix}: <{namespace}> ."
    yield ""
    yield f"{SUITE} a earl:Assertor, earl:Software ;"
    yield f"    dct:title {_text('the conformance suite of refengine')} ."

    entries = sorted(results.entries, key=lambda entry: entry.result.key)
    verdicts = _verdicts(results)
    for engine in dict.fromkeys(entry.result.engine for entry in entries):
        yield from _subject(engine)
    rules = {verdict.rule for verdict in verdicts}
    rules |= {entry.result.rule for entry in entries if entry.result.rule}
    yield from requirements(rules, spec_iri)
    yield from _cases(entries)
    for verdict in verdicts:
        yield from _assertion_of_rule(verdict, date)
    for entry in entries:
        yield from _assertion_of_case(
            entry.result.key, OUTCOMES[entry.result.outcome], _information(entry), date
        )
    for gap in results.gaps:
        for case in gap.cases:
            yield from _assertion_of_case(
                (gap.engine, gap.suite, case), "untested", CASE_NOT_RUN, date
            )


def check_date(date: str) -> None:
    """Raise RefengineError for a text that is no date YYYY-MM-DD."""
    try:
        if day.fromisoformat(date).isoformat() == date:
            return
    except ValueError:
        pass
    raise RefengineError(f"a date is YYYY-MM-DD, got {display(date)}", rule="usage", place="--date")


def check_spec_iri(iri: str) -> None:
    """Raise RefengineError for a text that is no address of a page."""
    if not texts.link(iri) or "#" in iri:
        raise RefengineError(
            f"an address is https://HOST/PATH, without #, got {display(iri)}",
            rule="usage",
            place="--spec-iri",
        )


def _verdicts(results: Results) -> list[RuleVerdict]:
    """Return the verdicts on rules, sorted by engine and rule. A rule that is not asked has the
    reason for it, and so has each rule of which only other engines have results.
    """
    examined = examined_engines(results.entries)
    found = {}
    for verdict in rule_verdicts(results.entries):
        if verdict.status is RuleStatus.NOT_ASKED and verdict.engine not in examined:
            verdict = replace(verdict, reason=NOT_EXAMINED)
        found[verdict.engine, verdict.rule] = verdict

    rules = {entry.result.key[1:]: entry.result.rule for entry in results.entries}
    for gap in results.gaps:
        for rule in filter(is_of_engines, {rules[gap.suite, case] for case in gap.cases}):
            unasked = RuleVerdict(gap.engine, rule, RuleStatus.NOT_ASKED, NO_RESULT)
            found.setdefault((gap.engine, rule), unasked)
    return [verdict for _, verdict in sorted(found.items())]


def _subject(engine: str) -> Iterator[str]:
    """Yield the lines about an engine."""
    name = _text(texts.clean(engine))
    yield f"\n{_iri('engine', engine)} a earl:TestSubject, earl:Software, doap:Project ;"
    yield f"    doap:name {name} ; dct:title {name} ."


def requirements(rules: Iterable[str], spec_iri: str | None) -> Iterator[str]:
    """Yield the lines about rules, with their texts."""
    specified = rule_texts()
    unspecified = RuleText("", "SPEC.md has no rule of this name.", "", "", "")
    for rule in sorted(rules):
        rule_text = specified.get(rule, unspecified)
        title = texts.clean(f"{rule} {rule_text.title}".rstrip(), 300)
        kinds = "earl:TestCriterion"
        if is_of_engines(rule):
            kinds += ", earl:TestRequirement"
        yield f"\n{_iri('rule', rule)} a {kinds} ;"
        yield f"    dct:title {_text(title)} ;"
        if spec_iri is not None and rule in specified:
            page = urljoin(spec_iri, rule_text.page.removeprefix("SPEC.md"))
            yield f"    rdfs:seeAlso <{page}#{rule_text.anchor}> ;"
        yield f"    dct:description {_text(rule_text.text)} ."


def _cases(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines about cases, and about the benchmarks of which those without a rule are."""
    wholes: dict[tuple[str, str], set[str]] = {}
    benchmarks: set[str] = set()
    for result in (entry.result for entry in entries):
        whole = _iri("rule", result.rule)
        if not result.rule:
            benchmarks.add(result.suite)
            whole = _iri("benchmark", result.suite)
        wholes.setdefault((result.suite, result.case), set()).add(whole)
    for suite in sorted(benchmarks):
        yield f"\n{_iri('benchmark', suite)} a earl:TestCriterion ;"
        yield f"    dct:title {_text(texts.clean(suite))} ."
    for (suite, case), of_case in sorted(wholes.items()):
        yield f"\n<{case_iri(suite, case)}> a earl:TestCriterion, earl:TestCase ;"
        yield f"    dct:title {_text(texts.clean(case, 300))} ;"
        yield f"    dct:isPartOf {', '.join(sorted(of_case))} ."


def _assertion_of_rule(verdict: RuleVerdict, date: str | None) -> Iterator[str]:
    """Yield the lines of a verdict on a rule."""
    outcome = OUTCOMES_OF_RULES[verdict.status]
    information = texts.clean(describe_rule(verdict), texts.EXPLANATION)
    if verdict.status is RuleStatus.KNOWN:
        information += "\nknown: the engine's file states this deviation"
    iri = _iri("verdict", verdict.engine, verdict.rule)
    test = _iri("rule", verdict.rule)
    yield from _assertion(iri, verdict.engine, test, (outcome, information), date)


def _assertion_of_case(
    key: tuple[str, str, str],
    outcome: str,
    information: str,
    date: str | None,
) -> Iterator[str]:
    """Yield the lines of an outcome of a case for an engine, from engine, suite and case."""
    engine, suite, case = key
    test = f"<{case_iri(suite, case)}>"
    yield from _assertion(_iri("result", *key), engine, test, (outcome, information), date)


def _assertion(
    iri: str,
    engine: str,
    test: str,
    result: tuple[str, str],
    date: str | None,
) -> Iterator[str]:
    """Yield the lines of an assertion. `result` is its outcome and its information."""
    outcome, information = result
    dated = ""
    if date is not None:
        dated = f' ; dct:date "{date}"^^xsd:date'
    yield f"\n{iri} a earl:Assertion ;"
    yield f"    earl:assertedBy {SUITE} ;"
    yield f"    earl:subject {_iri('engine', engine)} ;"
    yield f"    earl:test {test} ;"
    yield "    earl:mode earl:automatic ;"
    yield f"    earl:result [ a earl:TestResult ; earl:outcome earl:{outcome} ;"
    yield f"        earl:info {_text(information)}{dated} ] ."


def _information(entry: Entry) -> str:
    """Return the explanation of a result, after its outcome and before what explains it; of a pass
    of a rule, whether it shows anything.
    """
    result = entry.result
    explanation = result.explanation
    if not explanation.startswith(f"{result.outcome}:"):
        explanation = f"{result.outcome}: {explanation}"
    lines = [texts.block(explanation)]
    if result.outcome is Outcome.PASS and result.rule and not entry.case_result.shows_its_rule:
        lines.append(SHOWS_NOTHING if entry.case_result.has_rows else NO_ROW)
    lines += _reasons("known", [known.reason for known in result.known])
    lines += _reasons("found by the diagnosis", [cause.reason for cause in result.causes])
    return "\n".join(lines)


def _reasons(kind: str, reasons: Sequence[str]) -> list[str]:
    """Write the first of some reasons, a line each."""
    return [f"{kind}: {texts.clean(reason, 600)}" for reason in reasons[:EXPLANATIONS]]


def _iri(*parts: str) -> str:
    return f"<{iri(*parts)}>"


def _text(text: str) -> str:
    """Return a text as a literal of Turtle."""
    for char, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(char, written)
    return f'"{text}"'
