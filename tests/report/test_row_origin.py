"""The elements on which a row rests that is lacking or too many: in the evidence, in the list of
elements and on the time line.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from reports import WRONG, integer, result

from conformance import schemas
from conformance.report import pairs, source
from conformance.report.result_list import detail
from conformance.verdict import evidence as evidence_of
from conformance.verdict import outcomes
from conformance.verdict.engine_report import EngineReport
from refengine import Relation, from_table, profile, row, stream
from refengine.core.question import Question
from refengine.drawings import timeline

# windows of 10 hold a and b, then c, then a
ELEMENTS = stream(
    [
        ((f"<urn:{name}>", "<urn:p>", "<urn:y>"), at)
        for name, at in (("a", 3), ("b", 5), ("c", 13), ("a", 25), ("e", 33))
    ]
)
WINDOWS = [{"stream": "s", "kind": "time", "size": 10, "slide": 10}]
RESTS_ON = {"row": {"x": integer("4")}, "is_lacking": False, "elements": [2, 99]}


def origin(recorded: list[str], body: str = "SELECT ?x WHERE { ?x <urn:p> ?y }") -> dict | None:
    """What the evidence says of a recording, whose relations are named by their rows."""
    query = from_table({"windows": WINDOWS, "body": body})
    rows = [[row({"x": f"<urn:{name}>"}) for name in names] for names in recorded]
    answers = [EngineReport(Relation(("x",), Counter(each))) for each in rows]
    question = Question(query, {"s": ELEMENTS})
    found = outcomes.judge_relations(
        question, profile("csparql").but(t0=0), [answer.relation for answer in answers]
    )
    told = evidence_of.of_verdict(question, answers, found.judgement)
    assert not list(schemas.problems("result", result(evidence=told).as_json()))
    return told.get("rests_on")


@pytest.mark.parametrize(
    ("recorded", "name", "is_lacking", "elements"),
    [
        (["a", "c", "a"], "b", True, [1]),
        (["ab", "ca", "a"], "a", False, [0]),  # from the window before
        (["abe", "c", "a"], "e", False, [4]),  # from the future
        (["ab", "cc", "a"], "c", False, [2]),  # once too often, from the window itself
    ],
)
def test_a_row_rests_on_elements_of_its_window_else_of_the_past_else_of_all(
    recorded, name, is_lacking, elements
):
    assert origin(recorded) == {
        "row": {"x": {"type": "uri", "value": f"urn:{name}"}},
        "is_lacking": is_lacking,
        "elements": elements,
    }


def test_nothing_is_said_where_no_element_gives_the_row_or_the_body_does_not_say_it():
    assert origin(["abz", "c", "a"]) is None
    assert origin(["ab", "c", "a"]) is None, "a pass"
    optional = "SELECT ?x WHERE { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } }"
    assert origin(["a", "c", "a"], optional) is None


def test_the_elements_are_marked_in_the_list_and_on_the_time_line():
    told = {**WRONG, "rests_on": RESTS_ON}
    html = detail(source.of([result(outcome="fail", evidence=told)]).entries[0])
    assert "too many, rests on triples of 1 element" in html
    assert html.count("<mark>") == 1 and '<mark>▶ 12: :a :p "1" .</mark>' in html.replace(
        "&#34;", '"'
    )
    drawing = timeline.timeline(told, *pairs.pair_reports(told, "fail"))
    (ring,) = [shape for shape in drawing.shapes if shape.attributes["class"] == "origin"]
    last = [shape for shape in drawing.shapes if shape.attributes["class"] == "element"][-1]
    assert ring.attributes["cx"] == last.attributes["cx"]
    plain = detail(source.of([result(outcome="fail", evidence=WRONG)]).entries[0])
    assert "<mark>" not in plain and "rests on triples" not in plain


def test_an_element_beyond_those_that_are_listed_is_listed_if_the_row_rests_on_it():
    elements = [{**WRONG["elements"][0], "at": at} for at in range(100)]
    told = {**WRONG, "elements": elements, "elements_total": 100}
    told["rests_on"] = {**RESTS_ON, "elements": [80]}
    entry = source.of([replace(result(outcome="fail"), evidence=told)]).entries[0]
    html = detail(entry)
    assert "▶ 80: " in html and "\n  59: " in html and "\n  60: " not in html
    assert "… 39 more" in html
