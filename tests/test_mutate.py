"""What `make mutants` is told to change and to run is there."""

from __future__ import annotations

import ast
import re
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
    return [(task.name, task.settings["only_mutate"], task.pattern) for task in mutate.tasks(words)]


def test_a_word_is_a_package_a_module_or_mutants() -> None:
    core = ["refengine/core/*.py"]
    assert [name for name, _, _ in planned([])] == list(PACKAGES)
    assert planned(["core"]) == [("core", core, None)]
    assert planned(["core.tick"]) == [("core.tick", ["refengine/core/tick.py"], None)]
    assert planned(["core.tick.x_due*"]) == [("core", core, "refengine.core.tick.x_due*")]


def test_a_word_finds_what_is_in_a_folder_of_a_package() -> None:
    oracle = PACKAGES["oracle"]["only_mutate"]
    search = "oracle.orders.search"
    assert planned([search]) == [(search, ["refengine/oracle/orders/search.py"], None)]
    assert planned([f"{search}.x_a*"]) == [("oracle", oracle, f"refengine.{search}.x_a*")]
    assert planned(["oracle.orders"]) == [("oracle.orders", ["refengine/oracle/orders/*.py"], None)]


def test_every_module_of_a_package_is_changed() -> None:
    for package in ("core", "incremental", "oracle"):
        patterns = PACKAGES[package]["only_mutate"]
        changed = {path for pattern in patterns for path in ROOT.glob(pattern)}
        assert changed == set((ROOT / "refengine" / package).rglob("*.py"))


def test_a_module_is_a_mutants_name_without_its_last_part() -> None:
    assert mutate.module_of("core.tick.x_due__mutmut_1") == "core.tick"
    assert mutate.module_of("oracle.orders.search.x_a__mutmut_1") == "oracle.orders.search"


def test_a_sample_is_every_nth_mutant_by_name() -> None:
    names = ["c", "e", "a", "d", "b"]
    assert mutate.draw_sample(names, 2) == {"a", "c", "e"}
    assert mutate.draw_sample(names, 1) == set(names)
    codes = {"a": 1, "b": 1, "c": 0, "d": None, "e": None}
    assert mutate.count_results(codes) == mutate.Counter(all=5, tried=3, killed=2)
    sample = mutate.draw_sample(names, 2)
    assert mutate.count_results(codes, sample) == mutate.Counter(all=3, tried=2, killed=1)


def test_the_table_says_that_it_is_a_sample() -> None:
    results = {"core.tick.x_due__mutmut_1": "killed", "core.tick.x_due__mutmut_10": "survived"}
    assert next(mutate.score_table(results)).split()[:2] == ["module", "mutants"]
    head, tick, *_ = mutate.score_table(results, 5)
    assert head.startswith("module (1 mutant of 5) ")
    assert tick.split() == ["core.tick", "2", "1", "0", "1", "0", "50.0", "%"]


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_a_sample_of_no_mutant_is_refused(number: str) -> None:
    with pytest.raises(SystemExit):
        mutate.parser().parse_args(["--every", number])


@pytest.mark.parametrize("word", ["cor", "core.tack", "model.terms", "oracle.orders.x_a*"])
def test_another_word_is_refused(word: str) -> None:
    message = re.escape(f"'{word}' is no package, module or mutant; packages: ")
    with pytest.raises(LookupError, match=message):
        planned([word])


def test_mutmut_is_told_what_a_package_says() -> None:
    settings: dict[str, Any] = PACKAGES["oracle"]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    table = tomllib.loads(mutate.add_settings(text, settings))["tool"]["mutmut"]
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
