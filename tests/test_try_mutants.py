"""The mutants that mutmut writes are read, put in place of the code, and tried with the tests that
run their lines.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import mutant_source, try_mutants

ROOT = Path(__file__).resolve().parents[1]

MODULE = '''"""A module of which two functions have mutants."""


def half(number: int, *, by: int = 2) -> int:
    """Return a part of a number."""
    if number < 0:
        number = -number
    return number // by


class Door:
    def __open(self) -> str:
        return "open"

    def tell(self) -> str:
        return self.__open()
'''
# As mutmut writes them: the functions without a change, and each change.
MUTATED = """def x_half__mutmut_orig(number: int, *, by: int = 2) -> int:
    '''Return a part of a number.'''
    if number < 0:
        number = -number
    return number // by
def x_half__mutmut_1(number: int, *, by: int = 3) -> int:
    '''Return a part of a number.'''
    if number < 0:
        number = -number
    return number // by
def x_half__mutmut_2(number: int, *, by: int = 2) -> int:
    '''Return a part of a number.'''
    if number < 1:
        number = -number
    return number // by
def x_half__mutmut_3(number: int, *, by: int = 2) -> int:
    '''Return a part of a number.'''
    if number < 0:
        number = +number
    return number // by
class Door:
    # a comment goes with the function that follows it
    def xǁDoorǁtell__mutmut_orig(self) -> str:
        return self.__open()
    # a comment goes with the function that follows it
    def xǁDoorǁtell__mutmut_1(self) -> str:
        return self.__open() + "!"
"""
SPANS = {
    "x_half__mutmut_orig": [1, 5],
    "x_half__mutmut_1": [6, 10],
    "x_half__mutmut_2": [11, 15],
    "x_half__mutmut_3": [16, 20],
    "xǁDoorǁtell__mutmut_orig": [22, 24],
    "xǁDoorǁtell__mutmut_1": [25, 27],
}
# Each test imports the module in its body, so that collecting the tests does not import it.
TESTS = """def test_of_a_positive_number():
    from refengine.tried import half

    assert half(5) == 2


def test_of_a_negative_number():
    from refengine.tried import half

    assert half(-5) == 2


def test_of_nothing():
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which mutmut has made the mutants of `refengine/tried.py`."""
    folder = tmp_path / "checkout"
    mutants = folder / "mutants" / "refengine"
    mutants.mkdir(parents=True)
    (folder / "refengine").mkdir()
    (folder / "refengine" / "__init__.py").touch()
    (folder / "refengine" / "tried.py").write_text(MODULE, encoding="utf-8")
    (mutants / "tried.py").write_text(MUTATED, encoding="utf-8")
    spans = json.dumps({"version": 1, "spans": SPANS})
    (mutants / "tried.py.spans").write_text(spans, encoding="utf-8")
    names = [f"refengine.tried.{name}" for name in SPANS if not name.endswith("orig")]
    meta = json.dumps({"exit_code_by_key": dict.fromkeys(names)})
    (mutants / "tried.py.meta").write_text(meta, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("x_half__mutmut_1", range(4, 9)),  # a default value: the whole function
        ("x_half__mutmut_2", range(6, 8)),  # a condition: the whole `if`
        ("x_half__mutmut_3", range(7, 8)),
        ("xǁDoorǁtell__mutmut_1", range(16, 17)),
    ],
)
def test_a_mutant_has_the_lines_of_the_statement_that_is_changed(
    folder: Path, name: str, lines: range
):
    mutant = mutant_source.read_mutant(folder, f"refengine.tried.{name}")
    assert mutant.lines == lines
    assert mutant.module == "refengine.tried"
    assert mutant.function == f"refengine.tried.{name.partition('__mutmut')[0]}"


@pytest.mark.parametrize("name", ["refengine.tried", "refengine.tried.half__mutmut_1"])
def test_another_text_is_no_name_of_a_mutant(folder: Path, name: str):
    with pytest.raises(LookupError, match="is no name of a mutant"):
        mutant_source.read_mutant(folder, name)


def test_a_mutant_takes_the_place_of_the_function(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Also where the function was imported before, and of a method that calls a private one."""
    (folder / "refengine").rename(folder / "tried_package")
    (folder / "mutants" / "refengine").rename(folder / "mutants" / "tried_package")
    monkeypatch.syspath_prepend(str(folder))
    module = importlib.import_module("tried_package.tried")
    half = module.half

    def put(name: str) -> None:
        mutant_source.put_in_place(mutant_source.read_mutant(folder, f"tried_package.tried.{name}"))

    assert (half(6), half(-6)) == (3, 3)
    put("x_half__mutmut_1")
    assert (half(6), half(-6)) == (2, 2)
    put("x_half__mutmut_3")
    assert (half(6), half(-6)) == (3, -3)
    put("x_half__mutmut_orig")
    assert (half(6), half(-6)) == (3, 3)
    assert module.Door().tell() == "open"
    put("xǁDoorǁtell__mutmut_1")
    assert module.Door().tell() == "open!"
    sys.modules.pop("tried_package.tried")
    sys.modules.pop("tried_package")


def test_mutants_are_tried_with_the_tests_that_run_their_lines(folder: Path):
    """Which lines those are is read from the file where it is kept: here it is written by hand."""
    tests = folder / "test_tried.py"
    tests.write_text(TESTS, encoding="utf-8")
    settings = {"pytest_add_cli_args": ["-p", "no:cacheprovider"]}
    settings["pytest_add_cli_args_test_selection"] = [tests.name]
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    text = "\n".join(["[tool.mutmut]", *lines])
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    lines_of = {"of_a_positive_number": [6, 8], "of_a_negative_number": [6, 7, 8], "of_nothing": []}
    recorded = {
        f"test_tried.py::test_{name}": {
            "key": hashlib.sha256(tests.read_bytes()).hexdigest(),
            "seconds": 0.01,
            "lines": {str(folder / "refengine" / "tried.py"): lines},
        }
        for name, lines in lines_of.items()
    }
    key = try_mutants.digest_of_all_but_tests(folder)
    text = json.dumps({"key": key, "tests": recorded})
    (folder.parent / "lines.json").write_text(text, encoding="utf-8")

    names = list(try_mutants.all_names(folder))
    ended = subprocess.run(
        [sys.executable, "-m", "tools.try_mutants"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input="\n".join(names),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    meta = folder / "mutants" / "refengine" / "tried.py.meta"
    codes = json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"]
    assert {name.rpartition(".")[2]: code for name, code in codes.items()} == {
        "x_half__mutmut_1": try_mutants.KILLED,
        "x_half__mutmut_2": try_mutants.SURVIVED,  # 0 is tried by no test
        "x_half__mutmut_3": try_mutants.KILLED,
        "xǁDoorǁtell__mutmut_1": try_mutants.NO_TESTS,
    }
    (killed,) = [line for line in ended.stdout.splitlines() if "x_half__mutmut_3" in line]
    assert killed.endswith("test_tried.py::test_of_a_negative_number")
