"""The playground's Python half, natively: `make site-test` drives the page itself."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from functools import cache
from typing import Any

import pytest
from playground_examples import check_reports

from conformance.corpus.case_file import Case, lint, question_of
from refengine.core.semantics import FIELDS
from tools.site.playground import answer
from tools.site.playground_files import rules_of_page
from tools.site.questions import cases_of_examples, examples_of, read_case

Json = dict[str, Any]
QUERY = """\
PREFIX : <http://example.org/>
SELECT ?x FROM STREAM <s> [RANGE 10ms STEP 10ms] WHERE { ?x :p ?y }
"""
ELEMENTS = [{"at": 0, "graph": ":a :p 1"}, {"at": 10, "graph": ":b :p 1"}]
ASKED: Json = {
    "query": {"dialect": "csparql", "text": QUERY},
    "streams": [{"name": "s", "elements": ELEMENTS}],
    "semantics": {"profile": "csparql", "t0": "0"},
}


def ask(task: str, **request: Any) -> Json:
    found: Json = json.loads(answer(json.dumps({"task": task, **request})))
    return found


@cache
def by_kind() -> dict[str, list[Json]]:
    """Return the examples of SPEC.md by what their cases expect."""
    found: dict[str, list[Json]] = {"reports": [], "error": [], "outcome": []}
    for path in dict.fromkeys(cases_of_examples()):
        for example in examples_of(read_case(path)):
            next(found[kind] for kind in found if kind in example["expected"]).append(example)
    return found


def test_examples_are_of_each_kind_and_of_most_sections() -> None:
    """SPEC.md's examples name some ninety cases with reports, and as many pages with others."""
    assert len(by_kind()["reports"]) >= 80
    assert len(by_kind()["error"]) >= 9 and len(by_kind()["outcome"]) >= 10
    sections = {example["rule"].split("-")[0] for example in by_kind()["reports"]}
    assert sections >= {"MOD", "WIN", "TICK", "REP", "R2R", "R2S", "ENG"}


def test_examples_with_reports() -> None:
    for example in by_kind()["reports"]:
        found = ask("run", **example["state"])
        assert "runs" in found, (example["id"], found)
        steps = found["runs"][0]["steps"]
        check_reports([step for step in steps if step["emitted"]], example["expected"]["reports"])


def test_examples_that_are_refused() -> None:
    for example in by_kind()["error"]:
        found = ask("run", **example["state"])
        expected = example["expected"]
        assert found.get("kind") == expected["error"], (example["id"], found)
        assert expected["message"] in found["refused"]


def test_examples_that_are_judged() -> None:
    """The first two blocks of each case: a fail can take a second. The page is asked all."""
    for example in by_kind()["outcome"]:
        if example["id"].partition(":")[2] not in ("", "1", "2"):
            continue
        found = ask("judge", **example["state"])
        assert found.get("outcome") == example["expected"]["outcome"], (example["id"], found)


def test_two_semantics_are_paired() -> None:
    """a at 0 is in [0, 10) and before (0, 10]; b at 10 is in [10, 20) and (0, 10]. z, at 11, closes
    the first window of both, and the flush the second of A; B has none.
    """
    other = {"profile": "csparql", "t0": "0", "closure": "(]", "horizon": "none"}
    elements = [*ELEMENTS, {"at": 11, "graph": ":z :q 1"}]
    request = {**ASKED, "streams": [{"name": "s", "elements": elements}], "other": other}
    found = ask("run", **request)
    a, b = ([step["rows"] for step in run["steps"]] for run in found["runs"])
    assert a == [[{"x": ":a"}], [{"x": ":b"}]]
    assert b == [[{"x": ":b"}]]
    assert found["pairs"] == [[0, 0, True], [1, None, True]]
    same = ask("run", **{**ASKED, "other": ASKED["semantics"]})
    assert same["pairs"] == [[0, 0, False], [1, 1, False]]


def test_open_fields_are_read() -> None:
    """t0 between 5 and 9 puts a, at 0, before every window: only b is answered."""
    recording = {
        "head": {"vars": ["x"]},
        "results": {"bindings": [{"x": {"type": "uri", "value": "http://example.org/b"}}]},
    }
    request = {"recording": json.dumps({"relations": [recording]}), "missing": "0"}
    found = ask("judge", **{**ASKED, "semantics": {"profile": "csparql", "t0": "5..9"}}, **request)
    assert found["outcome"] == "pass" and found["open"] == {"t0": "5..9"}
    found = ask("judge", **ASKED, **request)
    assert found["outcome"] == "fail"


def test_each_field_has_its_sentence_and_its_rules() -> None:
    described = ask("describe")
    assert [field["name"] for field in described["fields"]] == list(FIELDS)
    rules = rules_of_page()
    for field in described["fields"]:
        assert field["about"].endswith(").")
        assert {*field["values"].values()} <= rules.keys()
        assert field["integer"] is None or field["integer"] in rules


def test_a_query_is_translated_and_back() -> None:
    text = QUERY
    for to, frm in (
        ("rspql", "csparql"),
        ("toml", "rspql"),
        ("cqels", "toml"),
        ("csparql", "cqels"),
    ):
        text = ask("translate", query={"dialect": frm, "text": text}, to=to)["text"]
    found = ask("run", **{**ASKED, "query": {"dialect": "csparql", "text": text}})
    assert [step["rows"] for step in found["runs"][0]["steps"]] == [[{"x": ":a"}], [{"x": ":b"}]]
    refused = ask("translate", query={"dialect": "toml", "text": "windows = []"}, to="cqels")
    assert "refused" in refused


def test_files_are_read_whole() -> None:
    long = "x" * 200
    integer = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    lines = [f'<http://example.org/a> <urn:p> "{long}" "3" .', f'<urn:b> <urn:p> {integer} "4" .']
    text = "".join(f"{line}\n" for line in lines)
    found = ask("read", name="stream.n3t", text=text)["elements"]
    assert found == [
        {"at": 3, "graph": f':a <urn:p> "{long}"'},
        {"at": 4, "graph": "<urn:b> <urn:p> 1"},
    ]


def test_what_is_taken_along(capsys: pytest.CaptureFixture[str]) -> None:
    static = ":c :q 2 ."
    elements = [*ELEMENTS, {"at": 12, "end": 14, "graph": ":c :p 'it''s'@en".replace("''", "’")}]
    request = {**ASKED, "static": static, "streams": [{"name": "s", "elements": elements}]}
    found = ask("export", **request, link="https://example.org/#q=x")
    case = tomllib.loads(found["case"])
    words = {"name": "a sentence that is true", "derivation": "the steps that lead to it"}
    assert lint({**case, "rule": "WIN-2", **words}) == []
    assert question_of(Case("", case)) == question_of(
        Case("", {**case, "streams": request["streams"]})
    )

    exec(compile(found["python"], "exported.py", "exec"), {})
    printed = capsys.readouterr().out
    assert Counter(
        word for word in ("<http://example.org/a>", "<http://example.org/c>") if word in printed
    )
    assert printed.count("\n") == 2 and printed.startswith(
        "(0, 10) 10 [(('x', '<http://example.org/a>'),)]\n"
    )
    assert "https://example.org/#q=x" in found["report"] and '[{"x": ":a"}]' in found["report"]


def test_errors_are_answers() -> None:
    found = ask("run", **{**ASKED, "semantics": {"profile": "csparql"}})
    assert found["rule"] == "SEM-3" and "t0" in found["refused"]
    elements = [{"at": 1, "graph": ":a :p"}]
    found = ask("run", **{**ASKED, "streams": [{"name": "s", "elements": elements}]})
    assert "not Turtle" in found["refused"]
