"""What happens in a case, as a block of a few lines on an engine's page, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reports import bare

from conformance.corpus import Case, question_of
from conformance.harness import engine_file
from conformance.harness.engine_file import Deviation
from conformance.suite.exchange import with_sentinels
from conformance.verdict.evidence import evidence
from conformance.verdict.results import KnownDeviation, Result
from tools import engine_pages
from tools.counterexample import LINES, LONGEST, describe_counterexample

ENGINE = engine_file.engine("yasper")  # it has no sentinels, and its semantics has no open field
IRI = "http://example.org/"


def case(elements: list[dict], body: str = "", **query: object) -> Case:
    """A case of one window over a stream s."""
    body = body or f"PREFIX : <{IRI}> SELECT ?x WHERE {{ ?x :p ?y }}"
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 5}
    table = {
        "rule": "R2S-1",
        "name": "a case of a test",
        "query": {"body": body, "windows": [window], **query},
        "streams": [{"name": "s", "elements": elements}],
    }
    return Case("r2s-1-test.toml", table)


def of_a(count: int) -> dict:
    """A report of as many rows of :a."""
    return {"rows": [{"x": {"type": "uri", "value": f"{IRI}a"}}] * count, "total": count}


def failed(asked: Case, expected: list[dict], actual: list[dict], **changes: object) -> Result:
    """A fail with its evidence."""
    table = evidence(question_of(asked), (), None, None)
    table |= {"expected": expected, "actual": actual, **changes}
    return bare(asked.id, "fail", engine="yasper", rule=asked.rule, evidence=table)


TWO = case([{"at": 5, "graph": ":a :p 1"}, {"at": 12, "graph": ":a :p 2"}], r2s="Rstream")


def test_a_block_has_the_query_the_elements_and_both_outputs():
    expected = [of_a(1) | {"window": [0, 10]}, of_a(2) | {"window": [5, 15]}]
    result = failed(TWO, expected, [of_a(1), of_a(0)])
    assert describe_counterexample(TWO, result, ENGINE) == [
        "query     SELECT ?x WHERE { ?x :p ?y }",
        "          states Rstream",
        "window    time, size 10, slide 5, on s",
        "elements  5: :a :p 1 | 12: :a :p 2",
        "expected  [0, 10) {x: :a} | [5, 15) {x: :a}, {x: :a}",
        "engine    {x: :a} | no rows",
    ]


def test_no_reports_are_said_to_be_none():
    lines = describe_counterexample(TWO, failed(TWO, [], []), ENGINE)
    assert lines[-2:] == ["expected  no reports", "engine    no reports"]


def test_the_elements_of_the_suite_are_one_item():
    question = with_sentinels(question_of(TWO))
    table = evidence(question, (), None, None)
    lines = describe_counterexample(TWO, failed(TWO, [], [], elements=table["elements"]), ENGINE)
    assert "elements  5: :a :p 1 | 12: :a :p 2 | 17, 22, 27: of the suite" in lines


def test_of_an_engine_that_broke_down_the_expected_reports_are_computed():
    """What its process wrote is left out. yasper claims windows from 0 that are reported when they
    close, with and without elements.
    """
    explanation = "push: no reply within 20 s; it said: /a/path/of/a/machine\n  and more"
    broken = bare(TWO.id, "error", engine="yasper", rule=TWO.rule, explanation=explanation)
    lines = describe_counterexample(TWO, broken, ENGINE)
    assert lines[-2].startswith("expected  ") and "[5, 15) {x: :a}, {x: :a}" in lines[-2]
    assert lines[-1] == "engine    breaks down: push: no reply within 20 s"
    assert "machine" not in "".join(lines)


def test_an_element_that_had_to_be_refused_is_named():
    result = failed(TWO, [], [of_a(1)])
    table = dict(result.evidence or {})
    del table["expected"]
    explanation = "MOD-2: t_app decreases; write more; the engine must refuse that element, and …"
    lines = describe_counterexample(
        TWO, replace(result, evidence=table, explanation=explanation), ENGINE
    )
    assert "expected  an error: MOD-2: t_app decreases" in lines


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\nb", '"a\\nb"'),
        ("\x1b[31m", '"\\x1b[31m"'),
        ("\u202eb", '"\\u202eb"'),
        ("</code>", '"</code>"'),  # a fence shows it as it is
    ],
)
def test_text_of_an_engine_cannot_leave_its_line(value, shown):
    report = {"rows": [{"x": {"type": "literal", "value": value}}], "total": 1}
    lines = describe_counterexample(TWO, failed(TWO, [], [report]), ENGINE)
    assert lines[-1] == f"engine    {{x: {shown}}}"


def test_a_block_has_a_bounded_size():
    """Else the page has the case's id alone."""
    long = {"rows": [{"x": {"type": "literal", "value": "x" * 10_000}}], "total": 1}
    (*_, line) = describe_counterexample(TWO, failed(TWO, [], [long]), ENGINE)
    assert len(line) < LONGEST
    assert describe_counterexample(TWO, failed(TWO, [], [of_a(100)]), ENGINE) == []
    assert describe_counterexample(TWO, failed(TWO, [], [of_a(1)] * 200), ENGINE) == []
    assert describe_counterexample(TWO, failed(TWO, [], [], cut=True), ENGINE) == []
    many = case([{"at": at, "graph": ":a :p 1"} for at in range(200)])
    assert describe_counterexample(many, failed(many, [], []), ENGINE) == []


def test_a_query_of_several_lines_is_one_unless_it_has_comments():
    plain = case([], f"PREFIX : <{IRI}#>\nSELECT ?x\n  WHERE {{ ?x :p 1 }}")
    (line, *_) = describe_counterexample(plain, failed(plain, [], []), ENGINE)
    assert line == f"query     PREFIX : <{IRI}#> SELECT ?x WHERE {{ ?x :p 1 }}"
    commented = case([], "SELECT ?x # all\nWHERE { ?x ?p 1 }")
    lines = describe_counterexample(commented, failed(commented, [], []), ENGINE)
    assert lines[:2] == ["query     SELECT ?x # all", "          WHERE { ?x ?p 1 }"]


# On the page


OF_R2S_1 = next(case.id for case in engine_pages.questions() if case.rule == "R2S-1")


def page_of(lines: list[str]) -> str:
    """The page of an engine with one deviation, whose smallest case has these lines."""
    deviation = Deviation("it\ngoes wrong", "https://example.org", (OF_R2S_1,))
    engine = replace(ENGINE, deviations=(deviation,))
    smallest = {"it\ngoes wrong": {"case": OF_R2S_1, "lines": lines}}
    kept = {"cases": {}, "date": "2026-01-01", "machine": "here", "smallest": smallest, "rules": {}}
    return engine_pages.page(engine, kept)


def test_a_page_shows_the_block_beside_the_id():
    text = page_of(["query     ASK {}", "engine    no reports"])
    assert (
        f"- [it goes wrong](https://example.org)\n\n  R2S-1: `{OF_R2S_1}`\n\n"
        "  ```text\n  query     ASK {}\n  engine    no reports\n  ```\n"
    ) in text


def test_no_line_closes_its_fence():
    text = page_of(["query     ASK {}", "```", "engine    ````"])
    assert "\n  `````text\n" in text and text.endswith("\n  `````\n")


def test_a_case_without_a_block_is_said_to_be_too_large():
    text = page_of([])
    assert f"`{OF_R2S_1}`, which is too large to be shown in {LINES} lines\n" in text


def test_the_case_with_a_block_and_the_fewest_elements_is_kept():
    """Of several cases that show a deviation alone."""
    first, second, third = engine_pages.questions()[:3]
    reason = ENGINE.deviations[0].reason

    def known(asked: Case, count: int, **changes: object) -> Result:
        result = failed(asked, [], [], elements_total=count, **changes)
        return replace(result, known=(KnownDeviation(reason, ""),))

    results = [known(first, 1, cut=True), known(second, 3), known(third, 2)]
    kept = engine_pages.summarize("yasper", results, "2026-01-01", "here")
    assert kept["smallest"][reason]["case"] == third.id
    assert kept["smallest"][reason]["lines"]
