"""The pages of docs/evidence/engines/: what they say is true of the corpus and of the engines'
files as they are.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from reports import bare

from conformance.corpus import question_of
from conformance.harness import engine_file
from conformance.suite import questions
from conformance.suite.probe import expects_reports
from conformance.verdict.evidence import evidence
from conformance.verdict.results import KnownDeviation, Result
from tools import engine_pages

PAGES = engine_pages.kept_files()


def name_of(path: Path) -> str:
    """The name of a page's engine."""
    return path.stem


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_no_case_is_newer_than_an_engines_table(path):
    kept = json.loads(path.read_text(encoding="utf-8"))
    outdated = engine_pages.outdated_cases(kept)
    assert not outdated, (
        f"run these cases with --engine={path.stem} again, then python -m tools.engine_pages: "
        f"{outdated}"
    )


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_is_made_of_what_is_kept_and_of_the_engines_file(path):
    kept = json.loads(path.read_text(encoding="utf-8"))
    text = engine_pages.page(engine_file.engine(path.stem), kept)
    assert path.with_suffix(".md").read_text(encoding="utf-8") == text, (
        "run python -m tools.engine_pages"
    )


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_table_has_no_fail_without_a_reason(path):
    """Whoever runs the engine sees what the page says: nothing that no deviation explains."""
    kept = json.loads(path.read_text(encoding="utf-8"))
    words = {word for _, word in kept["cases"].values()}
    assert words <= {"pass", "silent", "known", "unsupported", "disputed", "unstable"}


def test_the_table_of_engines_is_up_to_date():
    """Its tables have a row for each engine that is shipped and held to a suite with pages, and a
    link to each page.
    """
    text = engine_pages.OVERVIEW.read_text(encoding="utf-8")
    assert text == engine_pages.overview(), "run python -m tools.engine_pages"
    held_to_suites = [
        name for name, engine in engine_file.engines().items() if engine_pages.suite_of(engine)
    ]
    assert [name for name in held_to_suites if f"| `{name}` |" not in _unlinked(text)] == []
    assert [path.stem for path in PAGES if f"(evidence/engines/{path.stem}.md)" not in text] == []


def _unlinked(text: str) -> str:
    """A page's text, in which each link is replaced with what it shows."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)


def test_a_changed_case_and_a_new_one_are_outdated():
    cases = {case.id: [engine_pages.digest(case), "pass"] for case in questions()}
    assert engine_pages.outdated_cases({"engine": "rsp-js", "cases": cases}) == []
    first, second, *_ = sorted(cases)
    cases[first][0] = "another"
    del cases[second]
    cases["WIN-2-gone"] = ["digest", "pass"]
    expected = sorted([first, second, "WIN-2-gone"])
    assert engine_pages.outdated_cases({"engine": "rsp-js", "cases": cases}) == expected


def test_what_is_kept_is_what_the_page_counts():
    case = questions()[0]
    asked = evidence(question_of(case), (), None, None)
    quiet = asked | {"actual": [{"rows": [], "total": 0}]}
    loud = asked | {"actual": [{"rows": [{}], "total": 1}]}
    reason = engine_file.engine("rsp-js").deviations[0].reason

    def result(outcome: str, evidence: object, known: tuple = ()) -> Result:
        return bare(
            case.id, outcome, engine="rsp-js", rule=case.rule, known=known, evidence=evidence
        )

    assert engine_pages.kind_of(result("pass", quiet)) == "silent"
    assert engine_pages.kind_of(result("pass", loud)) == "pass"
    assert engine_pages.kind_of(result("fail", loud, (KnownDeviation(reason, ""),))) == "known"
    known = [result("fail", loud, (KnownDeviation(reason, ""),))]
    kept = engine_pages.summarize("rsp-js", known, "2026-01-01", "here")
    assert kept["smallest"][reason]["case"] == case.id
    text = engine_pages.page(engine_file.engine("rsp-js"), kept)
    section = case.id.split("-")[0]
    assert f"| {section} | 1 |" in text and f"`{case.id}`" in text


def test_an_engine_that_is_sent_its_semantics_is_asked_fewer_cases():
    """The reference engine's table has the cases that expect reports, and lacks no other."""
    cases = {
        case.id: [engine_pages.digest(case), "pass"]
        for case in questions()
        if expects_reports(case)
    }
    assert len(cases) < len(questions())
    assert engine_pages.outdated_cases({"engine": "reference", "cases": cases}) == []
    assert engine_pages.outdated_cases({"engine": "rsp-js", "cases": cases})


# The command line


def run_tool(monkeypatch, folder: Path, *words: str) -> int:
    """Run the command line, with a folder of the test's own for the pages; return its exit code."""
    monkeypatch.setattr(engine_pages, "FOLDER", folder)
    page = folder.with_suffix(".md")
    parts = (f"<!-- {part} -->\n\n\n\n<!-- end -->\n" for part in engine_pages.PARTS.values())
    page.write_text("".join(parts))
    monkeypatch.setattr(engine_pages, "OVERVIEW", page)
    monkeypatch.setattr(sys, "argv", ["engine_pages", *words])
    return engine_pages.main()


PASSED = bare(questions()[0].id, engine="reference", rule="ENG-1")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("{", "results.ndjson:1: results: no JSON"),
        ("{}", "results.ndjson:1: results: no result"),
        ("\udcff", "results.ndjson:1: results: not UTF-8"),
        (replace(PASSED, engine="referenc"), "no engine 'referenc'; did you mean 'reference'?"),
        (replace(PASSED, engine="../reference"), "no engine '../reference'"),
        (replace(PASSED, case="WIN-2-gone"), "reference: results: no case 'WIN-2-gone'"),
    ],
)
def test_malformed_results_are_one_line_and_nothing_is_written(
    tmp_path, monkeypatch, capsys, lines, message
):
    if isinstance(lines, Result):
        lines = json.dumps(lines.as_json())
    file = tmp_path / "results.ndjson"
    file.write_text(lines, encoding="utf-8", errors="surrogateescape")
    words = ["--date", "2026-11-23", "--on", "a machine", str(file)]
    assert run_tool(monkeypatch, tmp_path / "pages", *words) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "pages").exists()


def test_results_that_are_not_there_and_dates_that_are_none_are_one_line(
    tmp_path, monkeypatch, capsys
):
    words = ["--date", "2026-11-23", "--on", "a machine", str(tmp_path / "none")]
    assert run_tool(monkeypatch, tmp_path / "pages", *words) == 2
    assert capsys.readouterr().err.endswith("cannot be read: No such file or directory\n")
    with pytest.raises(SystemExit):
        run_tool(monkeypatch, tmp_path / "pages", "--date", "yesterday", "--on", "x", "x")


OF_BEFORE_BLOCKS = json.dumps(
    {
        "engine": "reference",
        "date": "",
        "machine": "",
        "cases": {},
        "smallest": {"why": "CMP-1-a-case"},
        "rules": {},
    }
)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"engine": "mine"}', '{"engine": "reference"}', OF_BEFORE_BLOCKS]
)
def test_a_malformed_file_of_what_is_kept_is_one_line(tmp_path, monkeypatch, capsys, text):
    (tmp_path / "reference.json").write_text(text)
    assert run_tool(monkeypatch, tmp_path) == 2
    assert "reference.json: results: is malformed" in capsys.readouterr().err


def test_a_page_is_made_of_results(tmp_path, monkeypatch):
    file = tmp_path / "results.ndjson"
    file.write_text(json.dumps(PASSED.as_json()))
    words = ["--date", "2026-11-23", "--on", "a machine", str(file)]
    assert run_tool(monkeypatch, tmp_path, *words) == 1  # most cases have no result
    assert "on 2026-11-23, a machine" in (tmp_path / "reference.md").read_text(encoding="utf-8")
    assert engine_pages.read_kept(tmp_path / "reference.json")["engine"] == "reference"


def test_rules_that_are_wrong_beyond_the_reach_are_listed_apart():
    """What is kept of older results does not have them, and has a page all the same."""
    path = next(path for path in PAGES if path.stem == "esper")
    kept = engine_pages.read_kept(path)
    kept.pop("beyond_reach", None)
    kept["rules"] = {"WIN-2": ["holds", "a"], "REP-1": ["fails, unexplained", "b"]}
    esper = engine_file.engine("esper")
    page = engine_pages.page(esper, kept)
    assert "2 rules of SPEC.md are in its reach." in page
    assert "- *fails, unexplained*, 1: REP-1\n" in page and "Beyond its reach" not in page
    kept["beyond_reach"] = {"MOD-2": ["broken", "c"]}
    beyond = engine_pages.page(esper, kept).partition("Beyond its reach, so not counted above:")[2]
    assert beyond.startswith("\n\n- *broken*, 1: MOD-2\n")


def test_what_is_kept_tells_the_rules_in_reach_from_the_others():
    known = (KnownDeviation("late", "https://example.org", ("MOD-2",)),)
    cases = {case.rule: case.id for case in questions()}
    results = [
        bare(cases["WIN-2"], "fail", engine="esper", rule="WIN-2", known=known),
        bare(cases["REP-1"], "fail", engine="esper", rule="REP-1", caught_wrong_engine="x"),
    ]
    kept = engine_pages.summarize("esper", results, "2026-01-01", "here")
    assert kept["rules"] == {"REP-1": ["fails, unexplained", cases["REP-1"]]}
    assert kept["beyond_reach"] == {"MOD-2": ["broken", cases["WIN-2"]]}
