"""A result becomes a case file: it reads back, and it puts the same question to an engine. Only the
derivation is missing.
"""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path

import pytest
from reports import bare

from conformance import corpus
from conformance.__main__ import main
from conformance.corpus.case_file import lint, load, question_of, semantics_of
from conformance.corpus.case_text import case_text
from conformance.harness.engine_file import engine
from conformance.suite.exchange import prepare_question, with_sentinels
from conformance.suite.item import questions
from conformance.suite.new_case import NoCase, text_of_new_case
from conformance.verdict import results
from conformance.verdict.evidence import evidence
from conformance.verdict.results import Outcome, Result
from refengine import profile
from refengine.model.errors import RefengineError

REFERENCE = engine("reference")
SEMANTICS = profile("csparql").but(t0=7).semantics()
DRAWN = random.Random(7).sample(questions(), 40)


def failed(case: corpus.Case, /, **changes: object) -> Result:
    """A fail of a case, with its evidence."""
    question = with_sentinels(question_of(case))
    shown = evidence(question, (), (), SEMANTICS)
    key = {"engine": "mine", "suite": "corpus", "case": case.id, "rule": case.rule, **changes}
    return Result(**key, outcome=Outcome.FAIL, evidence=json.loads(json.dumps(shown)))


def complete(text: str, folder: Path) -> corpus.Case:
    """The case of a text whose derivation has been filled in."""
    path = folder / "new.toml"
    path.write_text(text.replace('derivation = ""', f'derivation = "{"by hand " * 3}"'))
    return load(path)


def lines_sent(case: corpus.Case) -> list[object]:
    """The commands that put the question of a case to the reference engine."""
    return list(prepare_question(REFERENCE, question_of(case), case.table["query"]).commands())


@pytest.mark.parametrize("case", DRAWN, ids=lambda case: case.id)
def test_a_case_of_a_result_puts_the_same_question_to_an_engine(tmp_path, case):
    text = text_of_new_case(failed(case), "")
    [problem] = lint(tomllib.loads(text))
    assert str(problem).startswith("derivation: case: is empty; write how the expectation follows")
    new = complete(text, tmp_path)
    assert new.rule == case.rule
    assert new.name != case.name
    assert question_of(new) == question_of(case)
    assert lines_sent(new) == lines_sent(case)
    [block] = new.table["expect"]
    assert semantics_of(block["semantics"]) == SEMANTICS
    assert block["semantics"] == {"profile": "csparql", "t0": 7}
    assert block["reports"] == []


def with_elements(elements: list[dict], **more: object) -> corpus.Case:
    """A case of one window over a stream s."""
    table = {
        "rule": "R2S-1",
        "name": "a case of a test",
        "query": {
            "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 5}],
            "body": "SELECT ?x WHERE { ?x <urn:p> ?y }",
        },
        "streams": [{"name": "s", "elements": elements}],
        **more,
    }
    return corpus.Case("r2s-1-test.toml", table)


def test_the_question_of_a_recording_is_taken_from_its_evidence(tmp_path):
    """Elements with batch and end, static data with named graphs, and text that must be escaped."""
    case = with_elements(
        [
            {"at": 3, "graph": r":a <urn:p> '\u202E\u001B\"\\\n\U0001F600'", "batch": 1, "end": 9},
            {"at": 4, "graph": "_:b <urn:p> 'x'@en", "batch": 2},
        ],
        static=":s :p :o . GRAPH :g { :s :p 'o' }",
    )
    result = failed(case, suite="yabench", rule="")
    text = text_of_new_case(result, "R2S-1")
    assert all(line.isprintable() for line in text.splitlines())
    new = complete(text, tmp_path)
    assert question_of(new) == question_of(case)
    assert lines_sent(new) == lines_sent(case)


def test_the_query_of_csrbench_is_its_table(tmp_path):
    case = with_elements([{"at": 3, "graph": ":a <urn:p> 1"}])
    result = failed(case, suite="csrbench", case="embedded-Q3", rule="")
    new = complete(text_of_new_case(result, "REP-1"), tmp_path)
    assert new.table["query"]["windows"][0]["size"] == 4000
    assert question_of(new).streams == question_of(case).streams


@pytest.mark.parametrize(
    ("changes", "rule", "reason"),
    [
        ({"rule": ""}, "", "the result is about no rule; name one with --rule"),
        ({}, "REP-99", "no rule 'REP-99'; did you mean 'REP-"),
        ({"case": "REP-1-old"}, "", "the corpus has no such case"),
        ({"suite": "yabench"}, "", "its evidence is cut"),
    ],
)
def test_what_is_no_case_is_refused(changes, rule, reason):
    result = failed(DRAWN[0], **changes)
    result.evidence["cut"] = True
    with pytest.raises(NoCase, match=reason):
        text_of_new_case(result, rule)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"graph": "'a literal' <urn:p> <urn:o> ."}, "is not a valid subject"),
        ({"graph": "<urn:s> _:p <urn:o> ."}, "is not a valid predicate"),
        ({"graph": "<urn:s> <urn:p> 'x' . <urn:"}, "not Turtle"),
        ({"at": -(10**30)}, "MOD-1"),
    ],
)
def test_evidence_that_is_no_question_is_refused(tmp_path, capsys, changes, reason):
    result = failed(with_elements([{"at": 3, "graph": ":a <urn:p> 1"}]), suite="yabench")
    result.evidence["elements"][0] |= changes
    with pytest.raises(NoCase, match="its evidence is no question of a case: .*" + reason):
        text_of_new_case(result, "WIN-2")
    file, out = tmp_path / "results.ndjson", tmp_path / "new.toml"
    results.write(file, [result])
    assert main(["case", str(file), result.case, "--rule", "WIN-2", "-o", str(out)]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert not out.exists()


@pytest.mark.parametrize("shown", [None, {"cut": False}])
def test_a_result_of_which_nothing_was_judged_names_the_file_of_its_case(shown):
    case = DRAWN[0]
    result = bare(case.id, "error", engine="mine", rule=case.rule, evidence=shown)
    with pytest.raises(NoCase, match=f"its question is that of conformance/cases/{case.path}$"):
        text_of_new_case(result, "")


def test_half_a_character_is_refused():
    with pytest.raises(RefengineError, match="half a character"):
        case_text({"name": "\ud800"}, {})


def test_the_command_writes_a_file_and_overwrites_none(tmp_path, capsys):
    case = DRAWN[0]
    file = tmp_path / "results.ndjson"
    results.write(file, [failed(case)])
    out = tmp_path / "new.toml"
    words = ["case", str(file), case.id]
    assert main([*words, "-o", str(out)]) == 0
    written = out.read_text(encoding="utf-8")
    assert main(words) == 0
    assert capsys.readouterr().out == written
    out.write_text("kept")
    assert main([*words, "-o", str(out)]) == 2
    assert "exists already, and nothing is overwritten" in capsys.readouterr().err
    assert out.read_text() == "kept"
