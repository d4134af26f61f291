"""What `make mutants` is told to change and to run is there, and a sample is every so many."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

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


def test_a_word_is_a_package_or_a_module_of_one() -> None:
    assert mutate.settings_of("core") == PACKAGES["core"]
    core = {**PACKAGES["core"], "only_mutate": ["refengine/core/tick.py"]}
    assert mutate.settings_of("core.tick") == core
    orders = {**PACKAGES["oracle"], "only_mutate": ["refengine/oracle/orders/search.py"]}
    assert mutate.settings_of("oracle.orders.search") == orders
    for word in ("rdf", "core.tock", "core.tick.x"):
        with pytest.raises(LookupError, match=r"is no package or module; packages: core, "):
            mutate.settings_of(word)


def test_mutmut_is_given_the_settings_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutate, "FOLDER", tmp_path)
    folder = mutate.prepare("core.tick", mutate.settings_of("core.tick"))
    written = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    assert written["tool"]["mutmut"]["only_mutate"] == ["refengine/core/tick.py"]
    assert written["tool"]["mutmut"]["source_paths"] == ["refengine"]
    assert (folder / "refengine" / "core" / "tick.py").samefile(ROOT / "refengine/core/tick.py")
    for name in written["tool"]["mutmut"]["also_copy"]:
        assert (folder / name).exists(), name


def test_a_sample_is_every_so_many_by_name() -> None:
    names = [f"m{number}" for number in (5, 1, 3, 0, 2, 4)]
    assert mutate.draw_sample(names, 2, 0) == ["m0", "m2", "m4"]
    assert mutate.draw_sample(names, 2, 1) == ["m1", "m3", "m5"]
    assert mutate.draw_sample(names, 1, 0) == sorted(names)
