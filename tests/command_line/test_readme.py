"""Every block of Python in README.md and in docs/ runs as it stands. Those that test somebody's
operator catch a wrong operator. Every engine file that is shown can be read.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from conformance import corpus
from conformance.corpus.rule_texts import without_code
from conformance.harness import engine_file
from refengine.testing import WrongWindows

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = {path: without_code(path.read_text(encoding="utf-8")) for path in FILES}
MOST_WORDS = 850  # of README.md
BLOCKS = [
    block
    for text in PAGES.values()
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
]
TESTING = [block for block in BLOCKS if "def test_" in block]
WINDOWS, ANSWERS = TESTING
# in the operator of the page, what it does in place of what is right
WRONG_WINDOWS = [
    ("if opens + 10 <= time", "if opens + 11 <= time", "moment"),
    ("if opens + 10 <= time", "if opens + 9 <= time", "moment|a window|contents"),
    ("yield opens, opens + 10, held.pop", "yield opens, opens + 9, held.pop", "borders"),
    ("sorted(opens for opens", "sorted((opens for opens", "the order"),
    ("held.setdefault(opens, []).append(item)", "held[opens] = [item]", "contents"),
    ("max(0, time // 5 * 5 - 5)", "time // 5 * 5 - 5", "a window is not due"),
    ("max(0, time // 5 * 5 - 5)", "max(0, (time - 1) // 5 * 5 - 5)", "a window|contents"),
    ("time + 1, 5)", "time, 5)", "a window|contents"),
    ("for opens in sorted(held):", "for opens in sorted(held)[:-1]:", "a window is missing"),
    ("time // 5 * 5 - 5), time + 1, 5)", "time // 10 * 10), time + 1, 10)", "a window is missing"),
    ("for time, item in elements:", "for time, item in list(elements):", "moment"),
]
WRONG = [
    (" < opens + 10", " <= opens + 10"),
    ("opens <= e.app", "opens < e.app"),
    (
        "{triple for e in content for triple in e.graph}",
        "[triple for e in content for triple in e.graph]",
    ),
]


# the same draws each time
REPEATED = """from hypothesis import settings
settings.register_profile("readme", derandomize=True, deadline=None, database=None)
settings.load_profile("readme")
"""


@pytest.fixture(autouse=True)
def drawn():
    """Let Hypothesis make as many draws as for a reader of the pages, the same each time."""
    phases = [Phase.generate, Phase.shrink]  # to explain a failure takes long, and draws on
    settings.register_profile(
        "readme", derandomize=True, deadline=None, database=None, max_examples=100, phases=phases
    )
    before = settings.get_current_profile_name()
    settings.load_profile("readme")
    yield
    settings.load_profile(before)


def module(code: str) -> dict[str, Any]:
    """The names that a block defines, in a namespace of its own."""
    names: dict[str, Any] = {"__name__": "readme"}
    # no file: Hypothesis reads the source of failing tests
    exec(compile(code, "<README.md>", "exec"), names)
    return names


def defined(code: str) -> list[Callable[[], None]]:
    """The block's tests, as pytest finds them."""
    return [found for name, found in module(code).items() if name.startswith("test_")]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_a_block_runs(block: str):
    for test in defined(block):
        test()


def test_no_printed_test_ends_with_a_deadline():
    """The first evaluation imports the witnesses, which takes longer than Hypothesis allows by
    default. The profile above has no deadline either, so the blocks are read here.
    """
    assert ANSWERS.count("@settings(deadline=None)") == 1 and "@given" not in WINDOWS


def test_an_operator_is_tested_in_one_function_of_a_few_lines():
    for block in TESTING:
        assert (
            len(defined(block)) == 1
            and len([line for line in block.splitlines() if line.strip()]) < 20
        )


@pytest.mark.parametrize(("right", "wrong", "words"), WRONG_WINDOWS)
def test_wrong_windows_fail_on_few_elements(right: str, wrong: str, words: str):
    """Within the 200 draws that `check_windows` makes."""
    assert WINDOWS.count(right) == 1
    if wrong.startswith("sorted(("):
        wrong += " in held if opens + 10 <= time), reverse=True):"
        right += " in held if opens + 10 <= time):"
    [test] = defined(WINDOWS.replace(right, wrong))
    with pytest.raises(WrongWindows, match=f"those of the reference: .*(?:{words})") as found:
        test()
    assert 1 <= len(found.value.elements) <= 3


def test_the_failure_that_is_shown_is_the_one_that_comes(tmp_path: Path):
    """In a process of its own: Hypothesis also draws numbers that stand in the loaded modules."""
    wrong = WINDOWS.replace("if opens + 10 <= time", "if opens + 10 < time")
    (name,) = re.findall(r"^def (test_\w+)", wrong, re.MULTILINE)
    script = tmp_path / "page.py"
    script.write_text(f"{REPEATED}{wrong}\n{name}()\n", encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=ROOT)
    _, said = done.stderr.split("WrongWindows: ")
    shown = said.rstrip()
    assert f"\n```\n{shown}\n```\n" in PAGES[ROOT / "docs" / "embed.md"]


@pytest.mark.parametrize(("right", "wrong"), WRONG)
def test_a_wrong_operator_fails_on_few_elements(right: str, wrong: str):
    """One or two, on borders; two for a triple that is there twice."""
    assert ANSWERS.count(right) == 1
    [test] = defined(ANSWERS.replace(right, wrong))
    seen, inner = [], test.hypothesis.inner_test

    def watched(**drawn: Any) -> None:
        seen.append(drawn)
        inner(**drawn)

    test.hypothesis.inner_test = watched
    with pytest.raises(AssertionError):
        test()
    [stream] = seen[-1].values()  # Hypothesis runs the smallest last
    elements = list(stream["s"] if isinstance(stream, dict) else stream)
    assert 1 <= len(elements) <= 2 and all(len(element.graph) == 1 for element in elements)
    if wrong.startswith("["):
        assert elements[0].graph == elements[1].graph
    else:
        assert all(element.app % 5 == 0 for element in elements)


def test_the_engine_file_can_be_read(tmp_path: Path):
    """The keys are the schema's, and the case is one of the corpus."""
    text = PAGES[ROOT / "docs" / "test-your-engine.md"]
    [block, of_windows] = re.findall(r"```toml\n(title = .*?)```", text, re.DOTALL)
    (tmp_path / "mine.toml").write_text(block, encoding="utf-8")
    found = engine_file.read_engine_file(tmp_path / "mine.toml")
    assert found.command[-1] == f"{tmp_path}/Harness.java"
    [deviation] = found.deviations
    assert {*deviation.cases} <= {case.id for case in corpus.cases()}
    (tmp_path / "mine.toml").write_text(of_windows, encoding="utf-8")
    assert engine_file.read_engine_file(tmp_path / "mine.toml").suites == ("windows",)


def test_the_blocks_are_found():
    assert len(BLOCKS) == 8


def test_the_readme_is_short():
    assert len(PAGES[ROOT / "README.md"].split()) <= MOST_WORDS


def link_targets(text: str) -> list[str]:
    """Return the files that a page links to, without the places in them."""
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    return [target for target in targets if target and not target.startswith("http")]


@pytest.mark.parametrize("page", FILES, ids=lambda path: path.name)
def test_every_link_of_a_page_leads_to_a_file(page: Path):
    wrong = [target for target in link_targets(PAGES[page]) if not (page.parent / target).exists()]
    assert not wrong, f"{page.name} links to {wrong}, which are no files"


def headings(page: Path) -> set[str]:
    """Return the headings of a page, as links name them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    lines = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", line.lower()).strip().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", FILES, ids=lambda path: path.name)
def test_every_place_that_a_page_links_to_is_a_heading(page: Path):
    places = re.findall(r"\]\(([^)\s#]*\.md|)#([^)\s]+)\)", PAGES[page])
    others = [(target, place) for target, place in places if "://" not in target]
    wrong = [
        f"{target}#{place}"
        for target, place in others
        if place not in headings(page.parent / target if target else page)
    ]
    assert not wrong, f"{page.name} links to {wrong}, which are no headings"


def test_every_page_can_be_reached_from_the_readme():
    """Each page of docs/ is linked in README.md, or in a page that README.md links to."""
    reached = {(ROOT / target).resolve() for target in link_targets(PAGES[ROOT / "README.md"])}
    for page in sorted(reached & {*FILES}):
        reached |= {(page.parent / target).resolve() for target in link_targets(PAGES[page])}
    missing = {*FILES} - reached - {ROOT / "README.md"}
    assert not missing, f"no link leads to {sorted(path.name for path in missing)}"
