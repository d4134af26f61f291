"""Without the two compiled libraries, as on Alpine, in browsers and on PyPy: verdicts and answers
are the same, and name rdflib alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WITHOUT = "import sys; sys.modules.update(pyoxigraph=None, re2=None); from {} import main; {}"


def run(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python in which neither library can be imported."""
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "REFENGINE_HYPOTHESIS_PROFILE": "ci"},
    )


def test_verdicts_on_csrbench_are_the_same() -> None:
    code = WITHOUT.format("conformance.__main__", "sys.exit(main(sys.argv[1:]))")
    done = run(code, "csrbench", "--format", "tsv")
    words = [sys.executable, "-m", "conformance", "csrbench", "--format", "tsv"]
    same = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == same.returncode == 0, done.stderr
    assert done.stdout == same.stdout and len(done.stdout.splitlines()) > 6
    assert done.stderr.count("pyoxigraph is not asked as a witness") == 1


@pytest.mark.parametrize("tests", ["tests/corpus/test_cases.py"])
def test_cases_of_the_corpus_hold(tests: str) -> None:
    code = WITHOUT.format("pytest", "sys.exit(main(sys.argv[1:]))")
    chosen = ("-k", "test_case_holds_on_the_reference and (IO- or WIN- or REP-1)")
    done = run(code, tests, "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *chosen)
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 50


def test_what_is_disputed_is_what_the_page_lists() -> None:
    """Each by its rule. No answer is another one: rdflib errs, or the case names both witnesses."""
    code = WITHOUT.format("pytest", "sys.exit(main(sys.argv[1:]))")
    chosen = ("-k", "test_case_holds_on_the_reference and (R2R-1 or R2R-5- or ORA-8)")
    words = ("-q", "--tb=short", "-p", "no:cacheprovider", "-p", "no:xdist", *chosen)
    done = run(code, "tests/corpus/test_cases.py", *words)
    found = Counter(re.findall(r"^FAILED .*\[([A-Z0-9]+-\d+)-", done.stdout, re.MULTILINE))
    page = (ROOT / "docs" / "evidence" / "witnesses.md").read_text(encoding="utf-8")
    section = page.partition("## Without pyoxigraph")[2].partition("\n## ")[0]
    listed = re.findall(r"([A-Z0-9]+-\d+) \((\d+)\)", section)
    assert found == {rule: int(count) for rule, count in listed} and found.total() == 17
    assert len(re.findall(r"^E .*(?:[Dd]isputed|expected an explanation)", done.stdout, re.M)) >= 17


def test_what_is_drawn_is_answered() -> None:
    """The second row by fn:matches: b+ is in "abba", and not in "aca"."""
    code = WITHOUT.format(
        "refengine.__main__",
        "from refengine.core import r2r; from refengine import Body; "
        "found = r2r.hear_witnesses(Body('SELECT ?x { ?x <urn:p> ?y FILTER REGEX(?y, \"b+\") }'), "
        "frozenset({('<urn:a>', '<urn:p>', '\"abba\"'), ('<urn:b>', '<urn:p>', '\"aca\"')})); "
        "print(found.confirming, *found.relation.rows)",
    )
    done = run(code)
    assert done.stdout == "('rdflib',) (('x', '<urn:a>'),)\n", done.stderr
