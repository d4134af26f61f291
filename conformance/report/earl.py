"""Results in EARL 1.0, as Turtle: each result is an assertion of the suite about an engine. The
same results give the same bytes.

IRIs are URNs under `urn:refengine:`, since engines have no IRIs of their own that we know. Names in
them are percent-encoded, and the end of a long name is replaced by its hash.

| outcome | EARL | why |
|---|---|---|
| pass | earl:passed | |
| fail | earl:failed | whether or not a known deviation explains it |
| unsupported | earl:inapplicable | the engine has no such thing, so the test is not about it |
| disputed | earl:cantTell | no witness confirms the definition's answer: who is right? |
| error | earl:cantTell | asked, so not untested; not seen to be wrong, so not failed |
| unstable | earl:cantTell | it was asked several times, and not every verdict was the same |

A case that was not asked has no assertion, instead of `untested`: results do not say which cases
could have been asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date as day
from hashlib import sha256
from urllib.parse import quote

from conformance.report import texts
from conformance.report.source import Entry
from conformance.verdict.outcomes import Outcome
from conformance.verdict.results import Result
from refengine.model.errors import RefengineError
from refengine.model.messages import display

PREFIXES = {
    "earl": "http://www.w3.org/ns/earl#",
    "doap": "http://usefulinc.com/ns/doap#",
    "dct": "http://purl.org/dc/terms/",
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
LONGEST = 400  # characters of a name in an IRI
SUITE = "<urn:refengine:suite>"


def turtle(entries: Iterable[Entry], date: str | None = None) -> Iterator[str]:
    """Yield the lines of the document. `date` (YYYY-MM-DD) is that of the results, which do not say
    it themselves; without it the document has none.
    """
    if date is not None:
        check_date(date)
    ordered = sorted(entries, key=lambda entry: entry.result.key)
    for prefix, namespace in PREFIXES.items():
        yield f"@prefix {prefix}: <{namespace}> ."
    yield ""
    yield f"{SUITE} a earl:Assertor, earl:Software ;"
    yield f"    dct:title {_text('the conformance suite of refengine')} ."
    for engine in dict.fromkeys(entry.result.engine for entry in ordered):
        name = _text(texts.clean(engine))
        yield (
            f"\n{_iri('engine', engine)} a earl:TestSubject, earl:Software, doap:Project ;\n    "
            f"doap:name {name} ; dct:title {name} ."
        )
    rules = sorted({entry.result.rule for entry in ordered} - {""})
    for rule in rules:
        yield (
            f"\n{_iri('rule', rule)} a earl:TestCriterion, earl:TestRequirement ;\n    dct:title "
            f"{_text(texts.clean(rule))} ."
        )
    for suite, case, rule in sorted(
        {(entry.result.suite, entry.result.case, entry.result.rule) for entry in ordered}
    ):
        part = ""
        if rule:
            part = f" ;\n    dct:isPartOf {_iri('rule', rule)}"
        yield (
            f"\n{_iri('case', suite, case)} a earl:TestCriterion, earl:TestCase ;\n    dct:title "
            f"{_text(texts.clean(case, 300))}{part} ."
        )
    for entry in ordered:
        yield from _assertion(entry, date)


def check_date(date: str) -> None:
    """Raise RefengineError for a text that is no date YYYY-MM-DD."""
    try:
        if day.fromisoformat(date).isoformat() == date:
            return
    except ValueError:
        pass
    raise RefengineError(f"a date is YYYY-MM-DD, got {display(date)}", rule="usage", place="--date")


def _assertion(entry: Entry, date: str | None) -> Iterator[str]:
    result = entry.result
    dated = ""
    if date is not None:
        dated = f' ; dct:date "{date}"^^xsd:date'
    yield f"\n{_iri('result', result.engine, result.suite, result.case)} a earl:Assertion ;"
    yield f"    earl:assertedBy {SUITE} ;"
    yield f"    earl:subject {_iri('engine', result.engine)} ;"
    yield f"    earl:test {_iri('case', result.suite, result.case)} ;"
    yield "    earl:mode earl:automatic ;"
    yield f"    earl:result [ a earl:TestResult ; earl:outcome earl:{OUTCOMES[result.outcome]} ;"
    yield f"        earl:info {_text(_information(result))}{dated} ] ."


def _information(result: Result) -> str:
    """Return the argument of a result, after its outcome and before its known deviations."""
    argument = result.argument
    if not argument.startswith(f"{result.outcome}:"):
        argument = f"{result.outcome}: {argument}"
    known = [f"known: {texts.clean(reason, 600)}" for reason, *_ in result.known[:20]]
    return texts.block("\n".join([argument, *known]))


def _iri(*parts: str) -> str:
    quoted_parts = (quote(_short(part), safe="", errors="backslashreplace") for part in parts)
    return f"<urn:refengine:{':'.join(quoted_parts)}>"


def _short(name: str) -> str:
    """Return a name; of a long one the beginning and the hash of the whole."""
    if len(name) <= LONGEST:
        return name
    digest = sha256(name.encode(errors="backslashreplace")).hexdigest()
    return f"{name[: LONGEST - 33]}…{digest[:32]}"


def _text(text: str) -> str:
    """Return a text as a literal of Turtle."""
    for char, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(char, written)
    return f'"{text}"'
