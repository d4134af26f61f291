"""Every block of Python in README.md runs as it stands; those that test somebody's operator catch a
wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings

from conformance import corpus
from conformance.harness import engine_file

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
TESTING = [block for block in BLOCKS if "def test_" in block]
WRONG = [
    (" < opens + 10", " <= opens + 10"),
    ("opens <= e.app", "opens < e.app"),
    (
        "{triple for e in content for triple in e.graph}",
        "[triple for e in content for triple in e.graph]",
    ),
]


@pytest.fixture(autouse=True)
def drawn():
    """As many draws as Hypothesis makes for a reader of README.md, the same each time."""
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


def test_an_operator_is_tested_in_one_function_of_a_few_lines():
    assert len(TESTING) == 2 and all(right in block for right, _ in WRONG[:2] for block in TESTING)
    for block in TESTING:
        assert (
            len(defined(block)) == 1
            and len([line for line in block.splitlines() if line.strip()]) < 20
        )


@pytest.mark.parametrize(
    ("block", "right", "wrong"),
    [(block, *pair) for block in TESTING for pair in WRONG if pair[0] in block],
)
def test_a_wrong_operator_fails_on_few_elements(block: str, right: str, wrong: str):
    """One or two, on borders; two for a triple that is there twice."""
    assert block.count(right) == 1
    [test] = defined(block.replace(right, wrong))
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


def test_the_engines_file_is_one(tmp_path):
    """The keys are the schema's, and the case is one of the corpus."""
    [block] = re.findall(r"```toml\n(title = .*?)```", README, re.DOTALL)
    (tmp_path / "mine.toml").write_text(block)
    found = engine_file.read_engine_file(tmp_path / "mine.toml")
    assert found.command[-1] == f"{tmp_path}/Harness.java"
    [deviation] = found.deviations
    assert {*deviation.cases} <= {case.id for case in corpus.cases()}
