"""What `make mutants` is told to change and to run is there."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tools import mutate

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = mutate.packages()


def functions(path: Path) -> set[str]:
    """Return the names of a file's functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_files_to_change(package: str) -> None:
    for pattern in PACKAGES[package]["only_mutate"]:
        assert list(ROOT.glob(pattern)), f"pyproject.toml: no {pattern}"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_has_tests_to_run(package: str) -> None:
    words = PACKAGES[package]["pytest_add_cli_args_test_selection"]
    for word in words[: words.index("-k")]:
        file, _, function = word.partition("::")
        assert (ROOT / file).exists(), f"pyproject.toml: no {file}"
        assert not function or function in functions(ROOT / file), f"pyproject.toml: no {word}"


def planned(words: list[str]) -> list[tuple[str, list[str], str | None]]:
    """Return of each task its folder, the files to change and the mutants to try again."""
    return [(task.name, task.settings["only_mutate"], task.again) for task in mutate.tasks(words)]


def test_a_word_is_a_package_a_module_or_mutants() -> None:
    core = ["refengine/core/*.py"]
    assert [name for name, _, _ in planned([])] == list(PACKAGES)
    assert planned(["core"]) == [("core", core, None)]
    assert planned(["core.tick"]) == [("core.tick", ["refengine/core/tick.py"], None)]
    assert planned(["core.tick.x_due*"]) == [("core", core, "refengine.core.tick.x_due*")]


@pytest.mark.parametrize("word", ["cor", "core.tack", "model.terms"])
def test_another_word_is_refused(word: str) -> None:
    with pytest.raises(LookupError, match=f"'{word}' is no package, module or mutant; packages: "):
        planned([word])


def test_mutmut_is_told_what_a_package_says() -> None:
    settings: dict[str, Any] = PACKAGES["oracle"]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = tomllib.loads(mutate.configured(text, settings))["tool"]["mutmut"]
    assert table == tomllib.loads(text)["tool"]["mutmut"] | settings


def test_progress_counts_what_this_run_has_tried() -> None:
    before = mutate.Counter(all=100, tried=40, killed=39)
    now = mutate.Counter(all=100, tried=60, killed=58)
    assert (
        mutate.progress(before, now, 10)
        == "60 of 100 tried, 2 not killed; 10 min so far, some 20 left"
    )
    assert (
        mutate.progress(before, before, 1) == "makes the mutants and times the tests; 1 min so far"
    )
