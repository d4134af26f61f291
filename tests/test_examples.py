"""The scripts of `examples/` run, without a warning; and they, the blocks of the pages and what is
wrong in neither are what type checkers say they are.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.corpus.rule_texts import without_code

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
WITH_TESTS = {"own_window_operator", "oracle_in_a_fixture"}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# what a script prints, by hand: each minute has six entries, three for each room,
# and 20 entries leave one for each in the last
PRINTED = {
    "judge_a_recording": r"fail: .*relation 2 of 3: .*lacking: 1 row: \{sensor: <urn:c>\}"
    r".*so relation 2 is wrong, that of the window \[\d+, \d+\)\n$",
    "live_push": r"(\(\d+, \d+\) \{'<urn:room0>': '3', '<urn:room1>': '3'\}\n){3}"
    r"\(\d+, \d+\) \{'<urn:room0>': '1', '<urn:room1>': '1'\}\n$",
    "dataframe_in_and_out": r'60000,"""21.5.*/a>\n120000,"""18.0',
}


def test_there_are_five_short_scripts() -> None:
    assert {path.stem for path in EXAMPLES} == WITH_TESTS | PRINTED.keys()
    assert all(len(path.read_text(encoding="utf-8").splitlines()) < 80 for path in EXAMPLES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_script_runs(path: Path) -> None:
    command = [sys.executable, "-W", "error", str(path)]
    if path.stem in WITH_TESTS:
        command[3:] = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(PRINTED.get(path.stem, "1 passed"), done.stdout, re.DOTALL)


# Types

WRONG = {
    "but(closur=…)": 'profile("csparql").but(closur="[)")',
    "a misspelt value": 'profile("csparql").but(tick="tupl")',
    "a misspelt condition": 'profile("csparql").but(report="window-clos")',
    "a range of words": 'profile("csparql").but(tick=Between(1, 2))',
    "a misspelt key": 'from_table(windows=[], bdy="ASK {}")',
    "a misspelt key of a window": 'from_table(windows=[{"stream": "s", "knd": "now"}], body="")',
    "a misspelt kind": 'from_table(windows=[{"stream": "s", "kind": "tim"}], body="ASK {}")',
    "a missing body": "from_table(windows=[])",
    "a misspelt option": "Engine(QUERY, ['s'], SEMANTICS, definitio=True)",
    "a name that is none": "evaluat",
    "a text as static data": "evaluate(QUERY, {}, SEMANTICS, static='abc')",
    "texts as static data": "judge(QUERY, {}, profile('csparql'), [], static=['abc'])",
    "a semantics that is a profile": "evaluate(QUERY, {}, profile('csparql'))",
}
RIGHT = """from pyoxigraph import Quad, Store
from rdflib import Dataset, Graph, URIRef
from refengine import Engine, Query, Question, evaluate, from_table, incremental, judge, profile
from refengine import sparql

QUERY: Query = from_table(windows=[{"stream": "s", "kind": "now"}], body="ASK {}")
SEMANTICS = profile("csparql").but(t0=0).semantics()
GRAPH = Graph()
STORE = Store()
QUADS: list[Quad] = [*STORE]
TRIPLES = {("<urn:a>", "<urn:p>", "<urn:b>")}
evaluate(QUERY, {}, SEMANTICS, static=GRAPH)
evaluate(QUERY, {}, SEMANTICS, static={"urn:g": GRAPH})
evaluate(QUERY, {}, SEMANTICS, static={URIRef("urn:g"): STORE})
evaluate(QUERY, {}, SEMANTICS, static=TRIPLES)
Engine(QUERY, ["s"], SEMANTICS, static=STORE)
incremental.evaluate(QUERY, {}, SEMANTICS, static=GRAPH)
judge(QUERY, {}, profile("csparql"), [], static=Dataset())
Question(QUERY, {}, GRAPH)
Question(QUERY, {}, static=QUADS)
sparql.evaluate(QUERY.body.algebra, GRAPH)
"""
HEAD = """from refengine import Between, Engine, Query, evaluate, from_table, judge, profile
from refengine import evaluat
QUERY: Query = from_table(windows=[{"stream": "s", "kind": "now"}], body="ASK {}")
SEMANTICS = profile("csparql").but(t0=0).semantics()
"""


def blocks(text: str, kind: str) -> list[str]:
    """The blocks of a page that are of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples, the blocks of the pages, and a file for each mistake."""
    folder = tmp_path_factory.mktemp("types")
    for path in EXAMPLES:
        shutil.copy(path, folder)
    for page in PAGES:
        text = without_code(page.read_text(encoding="utf-8"))
        name = page.stem.replace("-", "_")
        for number, block in enumerate(blocks(text, "python")):
            (folder / f"{name}_{number}.py").write_text(block, encoding="utf-8")
        # each of these goes on with the names of those before it
        spark = "\n".join([SPARK, *blocks(text, "python spark")])
        (folder / f"{name}_spark.py").write_text(spark, encoding="utf-8")
    (folder / "right.py").write_text(RIGHT, encoding="utf-8")
    for number, line in enumerate(WRONG.values()):
        is_import = line == "evaluat"
        head = HEAD if is_import else HEAD.replace("from refengine import evaluat\n", "")
        (folder / f"wrong_{number}.py").write_text(f"{head}{line}\n", encoding="utf-8")
    return folder


SPARK = "from typing import Any\n\nspark: Any = None\n"


def messages(command: list[str], folder: Path) -> dict[str, list[str]]:
    """The errors that a type checker finds, by the file."""
    names = sorted(path.name for path in folder.glob("*.py"))
    done = subprocess.run([*command, *names], capture_output=True, text=True, cwd=folder)
    found: dict[str, list[str]] = {name: [] for name in names}
    for line in done.stdout.splitlines():
        match = re.match(r"\s*(?:.*/)?(\w+\.py):\d+.*\berror: ", line)
        if match and match[1] in found:
            found[match[1]].append(line)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return found


def check(found: dict[str, list[str]]) -> None:
    """What is right has no error, and each mistake has one in its last line, or in its import."""
    mistakes = {f"wrong_{number}.py": name for number, name in enumerate(WRONG)}
    assert {name: lines for name, lines in found.items() if lines and name not in mistakes} == {}
    assert [what for name, what in mistakes.items() if not found[name]] == []


@pytest.mark.long
def test_mypy_finds_what_is_wrong_and_nothing_else(checked: Path) -> None:
    config = str(ROOT / "pyproject.toml")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", config]
    cache = ["--cache-dir", str(checked / "cache"), "--no-error-summary", "--follow-imports=silent"]
    check(messages([*command, *cache], checked))
