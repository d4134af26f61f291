"""The lines that a harness got for a result: on a page, and from the items of a run or the engine
that has the name of the result's engine.
"""

from __future__ import annotations

import json
from dataclasses import replace

from reports import BAD, WRONG, result

from conformance import corpus
from conformance.harness import engine_file
from conformance.report import source
from conformance.report.result_list import LINE, LINES, ResultList, detail
from conformance.suite import HarnessLines, ItemSelection, live_items
from conformance.suite.exchange import prepare_question
from conformance.verdict import evidence as evidence_of
from conformance.verdict.results import Result

CASE = next(case for case in corpus.cases() if case.id.startswith("WIN-2-"))


def asked_result(name: str, **changed: object) -> Result:
    """A fail of a case of the corpus, with what the engine is asked as its evidence, or with
    changes of that.
    """
    prepared = prepare_question(
        engine_file.engine(name), corpus.question_of(CASE), CASE.table["query"]
    )
    evidence = evidence_of.evidence(prepared.question, [], None, None, prepared.engine_query.text)
    return result(engine=name, case=CASE.id, outcome="fail", evidence={**evidence, **changed})


def test_lines_are_those_of_the_engine_that_has_the_name():
    failed = asked_result("esper")
    lines = [json.loads(line) for line in HarnessLines().lines(failed)]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    commands = [line["command"] for line in lines]
    assert commands[:3] == ["start", "register", "push"] and commands[-2:] == ["end", "stop"]
    assert lines[1]["query"] == failed.evidence["query"]


def test_there_are_none_if_the_query_is_another_one_or_nothing_was_sent():
    sent = HarnessLines()
    assert sent.lines(asked_result("esper", query="SELECT ?other WHERE { ?other ?p ?y }")) == []
    assert sent.lines(asked_result("esper", elements=WRONG["elements"])) == []
    recording = replace(asked_result("esper"), suite="csrbench", case="Q1")
    assert sent.lines(recording) == []
    nobody = replace(asked_result("esper", query="none"), engine="nobody")
    assert sent.lines(nobody) == [], "no language has such a query"


def test_the_items_of_the_run_go_first():
    tested = replace(engine_file.engine("esper"), name="mine")
    sent = HarnessLines.of(live_items(tested, ItemSelection()))
    assert len(sent.lines(replace(asked_result("esper"), engine="mine"))) > 4


def test_a_page_has_the_lines_of_what_is_wrong_escaped_and_bounded():
    html = detail(source.of([result()]).entries[0], [BAD * 1000, *["line"] * 500])
    assert "Lines that the harness gets for this item alone (501)" in html and "<script" not in html
    assert html.count("\nline") == LINES - 1 and "… 401 more" in html
    assert len(html) < LINE * 8 + 40_000
    asked = []

    def lines_of(one: Result) -> list[str]:
        asked.append((one.case, one.evidence is not None))
        return ["{}"]

    found = [
        result(),
        result(case="b", outcome="fail", evidence=WRONG),
        result(case="c", outcome="fail", evidence=WRONG),
        result(case="b", engine="other", outcome="fail", evidence=WRONG),
        result(case="d", outcome="unsupported", evidence=None),
    ]
    listed = ResultList(lines_of)
    listed.fill(source.of(found).entries)
    assert asked == [("b", True), ("b", True)], "equal details are made once for an engine"
    assert sum("Lines that" in html for html in listed.data["details"]) == 1
