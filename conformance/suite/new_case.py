"""Making a case of a result: its question, and the semantics under which the engine was judged.
What is expected, and how it follows from the rules, is left to the author.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.bench.recordings import csrbench
from conformance.corpus import Case, cases, question_of, semantics_of
from conformance.corpus.case_text import case_text
from conformance.suite.exchange import is_sentinel
from conformance.suite.item import CASE_SUITES, EMBEDDED, questions
from conformance.verdict.results import Result
from refengine.core.profiles import PROFILES
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest, nearest_id
from refengine.rdf.documents import read_static
from refengine.rdf.sources import Text

NAME = "a sentence that says what is true in this case"
COMMENTS = {
    "name": "FILL IN",
    "derivation": "FILL IN by hand, from the rules of SPEC.md",
    "expect.reports": "FILL IN by hand: never from what an engine gave",
}
QUESTION = ("query", "streams", "static")  # the keys of a case that are its question


class NoCase(RefengineError):
    """The error that no case can be made of a result."""


def text_of_new_case(result: Result, rule: str) -> str:
    """Return the text of a case file with the question of a result. Its name, its derivation and
    its reports are to be filled in. `rule` is the rule that it is about; if it is empty, that of
    the result. Raises NoCase if the result does not have all of the question.
    """
    place = f"{result.engine}/{result.case}"
    rule = rule or result.rule
    if not rule:
        raise NoCase(
            "the result is about no rule; name one with --rule",
            rule="results",
            place=place,
        )
    rules = {case.rule for case in cases()}
    if rule not in rules:
        raise NoCase(f"no rule {display(rule)}{nearest(rule, rules)}", rule="usage", place="--rule")
    try:
        question = _question(result)
        semantics = _semantics(result)
        _check_question(question)
    except NoCase as error:
        raise error.at(place) from None
    table = {
        "rule": rule,
        "name": NAME,
        "derivation": "",
        **question,
        "expect": [{"semantics": semantics, "reports": []}],
    }
    return case_text(table, COMMENTS)


def _question(result: Result) -> dict[str, Any]:
    """Return the question of a result as a case has it. That of the corpus is taken from its file,
    and all others from the evidence.
    """
    if result.suite in CASE_SUITES:
        by_id: dict[str, Case] = {case.id: case for case in questions(result.suite)}
        if result.case not in by_id:
            raise NoCase(
                f"the corpus has no such case{nearest_id(result.case, by_id)}", rule="results"
            )
        table = by_id[result.case].table
        return {key: table[key] for key in QUESTION if key in table}
    evidence = result.evidence
    if evidence is None:
        raise NoCase("the result has no evidence, so it does not show its stream", rule="results")
    if evidence["cut"]:
        raise NoCase(
            "its evidence is cut: elements or reports are missing; take the input from the "
            f"source of {display(result.suite)}",
            rule="results",
        )
    return _question_of_evidence(result, evidence)


def _check_question(question: Mapping[str, Any]) -> None:
    """Raise NoCase for a question that no case can have: evidence is somebody else's text, such as
    a graph that is no RDF or a stream whose time goes back.
    """
    try:
        question_of(Case("", question))
    except RefengineError as error:
        raise NoCase(f"its evidence is no question of a case: {error}", rule="results") from None


def _question_of_evidence(result: Result, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question of a benchmark's result, whose evidence is whole."""
    query = result.case.removeprefix(EMBEDDED).partition(" ")[0]
    if result.suite == "csrbench" and query in csrbench.QUERIES:
        table = dict(csrbench.table_of_query(query))
    else:
        windows = [
            {key: value for key, value in window.items() if value is not None}
            for window in evidence["windows"]
        ]
        table = {"windows": windows, "body": evidence["query"]}
    names = dict.fromkeys(window["stream"] for window in evidence["windows"])
    question: dict[str, Any] = {
        "query": table,
        "streams": [
            {"name": name, "elements": list(_elements(name, evidence["elements"]))}
            for name in names
        ],
    }
    if "static" in evidence:
        question["static"] = "".join(_trig(evidence["static"]))
    return question


def _elements(stream: str, elements: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the elements of a stream as a case has them, without the suite's own."""
    for element in elements:
        if element["stream"] == stream and not is_sentinel(element):
            entry = {key: value for key, value in element.items() if key != "stream"}
            yield {**entry, "graph": element["graph"].strip()}


def _trig(n_quads: str) -> Iterator[str]:
    """Yield the statements of a text in N-Quads as TriG, a line each."""
    for subject, predicate, object_, *graph in sorted(
        read_static(Text("static.nq", n_quads, "static"))
    ):
        statement = f"{subject} {predicate} {object_} ."
        yield f"{graph[0]} {{ {statement} }}\n" if graph else f"{statement}\n"


def _semantics(result: Result) -> dict[str, Any]:
    """Return the semantics of a result's evidence as a case has it. Raises NoCase if there is
    none.
    """
    if result.evidence is None or "semantics" not in result.evidence:
        file = next((case.path for case in questions() if case.id == result.case), "")
        hint = f"; its question is that of conformance/cases/{file}" if file else ""
        raise NoCase(
            f"the result shows no semantics, since nothing was judged{hint}", rule="results"
        )
    return nearest_profile(result.evidence["semantics"])


def nearest_profile(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return a semantics, whose fields are stated as JSON, as a case has it: the profile from which
    it differs in the fewest fields, and these fields.
    """
    values = vars(semantics_of(stated))
    candidates = []
    for profile_name in sorted(PROFILES):
        fields = PROFILES[profile_name].fields
        differing = [name for name in stated if name not in fields or fields[name] != values[name]]
        candidates.append({"profile": profile_name, **{name: stated[name] for name in differing}})
    return min(candidates, key=len)
