"""CSRBench's table over recordings of our own that have its layout, and what `csrbench --data` says
of files that are missing, changed or strange.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from conformance.__main__ import main
from conformance.bench.recordings import csrbench, csrbench_published, own_engines
from conformance.bench.recordings.csrbench_published import (
    Published,
    check_files,
    compare_with_paper,
    differing_cells,
    read_published,
)
from conformance.verdict.results import Outcome, Result
from refengine.model.errors import InvalidStream

FIXTURE = own_engines.embedded()
FETCH = (
    "git clone https://github.com/dellaglio/csrbench-oracle && git -C csrbench-oracle checkout "
    "05cfda02ebc3c727dba6311c35ff8b8314903016"
)

# What each defect of tools/fixture_recordings.py changes, by the queries.
#
# csparql: only Q5's windows overlap. Each of its windows lacks the observations at its first
#   instant, so a temperature above 80 is in four of its windows, and belongs to five.
# cqels: every row of Q1, Q2, Q3 and Q5 rests on one observation. It is new when that arrives, and
#   Istream sends it once, whether or not the observation expires later. But Q4's mean never goes
#   back to that of a new window, and Q6 and Q7 join observations further apart than a window.
# sparqlstream: only Q4 has a mean. No temperature from 9 s to 19 s is above 80 (FIXED and cool
#   phases in tools/make_fixture.py). Wherever windows of 4 s begin, one has content and no value.
PLANTED = {"csparql": {"Q5"}, "cqels": {"Q4", "Q6", "Q7"}, "sparqlstream": {"Q4"}}


def table(text: str) -> dict[str, set[str]]:
    """Return the queries that each engine fails, from tab-separated values with a pass or a fail in
    each cell.
    """
    (_, *engines), *rows = (line.split("\t") for line in text.splitlines())
    assert [name for name, *_ in rows] == list(csrbench.QUERIES)
    assert {cell for _, *cells in rows for cell in cells} == {"pass", "fail"}
    return {
        engine: {row[0] for row in rows if row[place] == "fail"}
        for place, engine in enumerate(engines, 1)
    }


def test_each_planted_defect_fails_the_queries_that_show_it(capsys):
    assert main(["csrbench", str(FIXTURE), "--format", "tsv", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert table(out) == PLANTED
    # the defects are planted so that their table is the paper's
    assert err.endswith("All 21 cells equal Table 2 of CSRBench's paper.\n")


@pytest.fixture
def published_fixture(tmp_path, monkeypatch) -> Path:
    """A copy of the fixture in the layout of the public repository, which is now what is published:
    the digests are those of its manifest.
    """
    folder = tmp_path / "checkout"
    shutil.copytree(FIXTURE / "data", folder / "data")
    shutil.copytree(FIXTURE / "answers", folder / "src/main/resources/answers")
    manifest = json.loads((FIXTURE / "MANIFEST.json").read_bytes())["files"]
    files = {
        path.replace("answers/", "src/main/resources/answers/"): digest
        for path, digest in manifest.items()
    }
    known = Published("https://example.org/mirror", "0" * 40, files, {}, read_published().failed)
    monkeypatch.setattr(csrbench_published, "read_published", lambda: known)
    return folder


def test_the_exit_code_says_whether_the_verdicts_are_the_papers(
    published_fixture, monkeypatch, capsys
):
    words = ["csrbench", "--data", str(published_fixture), "--jobs", "1"]
    assert main(words) == 0
    assert "\nAll 21 cells equal Table 2 of CSRBench's paper.\n" in capsys.readouterr().out

    # as if the paper had failed C-SPARQL in Q1 and passed CQELS in Q6
    known = csrbench_published.read_published()
    failed = {**known.failed, "csparql": ("Q1", "Q5"), "cqels": ("Q4", "Q7")}
    other = Published(known.repository, known.commit, known.files, {}, failed)
    monkeypatch.setattr(csrbench_published, "read_published", lambda: other)
    assert main([*words, "--format", "json"]) == 1
    assert capsys.readouterr().err == (
        "2 of 21 cells differ from Table 2 of CSRBench's paper: csparql Q1 (pass, in the paper "
        "fail), cqels Q6 (fail, in the paper pass).\n"
    )


def test_a_changed_file_is_named_with_both_digests(published_fixture, capsys):
    """The SHA-256 of no bytes is known."""
    for file in ("data/data_05.ttl", "src/main/resources/answers/cqels-answer-3.json"):
        (published_fixture / file).write_bytes(b"")
    assert main(["csrbench", "--data", str(published_fixture)]) == 2
    expected = csrbench_published.read_published().files[
        "src/main/resources/answers/cqels-answer-3.json"
    ]
    place = f"{published_fixture}/src/main/resources/answers/cqels-answer-3.json"
    error = capsys.readouterr().err
    assert error.startswith(
        f"conformance: {place}: IO-2: another file than the published one: expected SHA-256 "
        f"{expected}, found e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855; "
    )
    assert error.count("\n") == 1 and "data_05" not in error


@pytest.mark.parametrize(
    "file", ["data/data_34.ttl", "src/main/resources/answers/mine-answer-1.json"]
)
def test_a_strange_file_is_named(published_fixture, capsys, file):
    """It would change the stream, or be judged with the others."""
    (published_fixture / file).write_text("")
    assert main(["csrbench", "--data", str(published_fixture)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"conformance: {published_fixture}/{file}: IO-2: no file of https")
    assert error.count("\n") == 1


def test_missing_files_are_named(published_fixture, capsys):
    (published_fixture / "data" / "data_05.ttl").unlink()
    gone = published_fixture / "src/main/resources/answers/cqels-answer-3.json"
    gone.unlink()
    gone.mkdir()  # a folder in its place is no file
    assert main(["csrbench", "--data", str(published_fixture)]) == 2
    assert capsys.readouterr().err.startswith(
        f"conformance: {published_fixture}: IO-2: 2 files of 39 missing: "
        "src/main/resources/answers/cqels-answer-3.json, data/data_05.ttl; "
    )


@pytest.mark.parametrize("name", [None, "nowhere", "file", "empty", "partial"])
def test_without_the_files_the_error_says_how_to_fetch_them(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    Path("empty").mkdir()
    shutil.copytree(FIXTURE / "data", "partial/data")
    assert main(["csrbench", "--data", *filter(None, [name])]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"conformance: {name or 'csrbench-oracle'}: IO-")
    assert f": {FETCH} fetches them" in error and error.count("\n") == 1
    if name == "empty":
        assert "55 files of 55 missing: data/data_00.ttl, " in error and " and 45 more;" in error
    if name == "partial":  # it has 18 of the 34 instants
        assert "37 files of 55 missing: data/data_02.ttl, data/data_12.ttl, " in error


def test_a_folder_and_data_exclude_each_other(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["csrbench", ".", "--data", "."])
    assert "argument --data: not allowed with argument DIR" in capsys.readouterr().err


def verdicts(**others: str) -> list[Result]:
    """Return results of all 21 cells, those of the paper but for these: `csparql_Q3="fail"`."""
    known = read_published()
    return [
        Result(
            engine=engine,
            suite="csrbench",
            case=query,
            outcome=Outcome(others.get(f"{engine}_{query}", known.outcome(engine, query))),
        )
        for engine in known.failed
        for query in csrbench.QUERIES
    ]


def extra(case: str, engine: str = "csparql") -> Result:
    return Result(engine=engine, suite="csrbench", case=case, outcome=Outcome.FAIL)


def test_a_cell_that_differs_is_named_with_both_outcomes():
    """An extra recording and another engine are in none of the cells."""
    known = read_published()
    more = [extra("Q3 rerun"), extra("Q1", "mine")]
    assert differing_cells([*verdicts(), *more], known) == []
    [line] = compare_with_paper(verdicts(csparql_Q3="fail"), known)
    assert line == (
        "1 of 21 cells differs from Table 2 of CSRBench's paper: csparql Q3 (fail, in the paper "
        "pass)."
    )
    [line] = compare_with_paper(verdicts(cqels_Q4="pass", cqels_Q1="error"), known)
    assert line.endswith("cqels Q1 (error, in the paper pass), cqels Q4 (pass, in the paper fail).")


def test_without_all_cells_nothing_is_compared():
    known = read_published()
    assert differing_cells(verdicts()[:-1], known) is None
    assert list(compare_with_paper(verdicts()[1:], known)) == []


def test_the_list_has_each_file_with_a_digest():
    """34 instants and three engines times seven queries, from CSRBench's own numbers."""
    known = read_published()
    engines = ("cqels", "csparql", "sparqlstream")
    assert set(known.files) == {
        *(f"data/data_{number:02}.ttl" for number in range(34)),
        *(
            f"src/main/resources/answers/{engine}-answer-{number}.json"
            for engine in engines
            for number in range(1, 8)
        ),
    }
    digests = [*known.files.values(), *known.again.values()]
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert len(set(digests)) == len(digests) and re.fullmatch("[0-9a-f]{40}", known.commit)


@pytest.mark.needs_shared
def test_the_recordings_beside_the_checkout_are_the_published_ones(csrbench_recordings, tmp_path):
    """A folder in another layout has the same files. Of recordings that were made twice it may have
    either, but the second one of C-SPARQL's Q3 has a name of its own.
    """
    known = read_published()
    check_files(csrbench_recordings, known)
    copy: Any = shutil.copytree(csrbench_recordings, tmp_path / "copy")
    again = copy / "answers" / "csparql-answer-3-rerun.json"
    again.chmod(0o644)
    again.parent.chmod(0o755)
    again.rename(copy / "answers" / "csparql-answer-3.json")
    with pytest.raises(InvalidStream, match=r"csparql-answer-3\.json: IO-2: another file"):
        check_files(copy, known)
