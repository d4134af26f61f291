"""What pyproject.toml tells package indexes and installers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_USERS = [
    *PROJECT["dependencies"],
    *(
        word
        for extra, words in PROJECT["optional-dependencies"].items()
        if extra != "dev"
        for word in words
    ),
]


@pytest.mark.parametrize("requirement", OF_USERS)
def test_a_dependency_has_a_lower_and_an_upper_bound(requirement: str) -> None:
    assert re.fullmatch(r"[a-z0-9-]+(\[[a-z]+\])?>=[0-9.]+,<[0-9.]+(; .*)?", requirement)


def test_the_oldest_python_is_the_first_that_is_named() -> None:
    named = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">=3.{named[0]}"
    assert list(map(int, named)) == list(range(int(named[0]), int(named[-1]) + 1))


@pytest.mark.parametrize("product", ["refengine", "conformance"])
def test_a_package_says_that_it_is_typed(product: str) -> None:
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert (ROOT / product / "py.typed").is_file()
