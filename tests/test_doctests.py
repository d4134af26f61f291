"""The examples in the docstrings of refengine give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import refengine

MODULES = sorted(module.name for module in pkgutil.walk_packages(refengine.__path__, "refengine."))


def with_examples(names: list[str]) -> list[str]:
    """Return those of some modules whose docstrings have examples."""
    finder = doctest.DocTestFinder()
    return [
        name
        for name in names
        if any(test.examples for test in finder.find(importlib.import_module(name)))
    ]


# tests/strategies runs the examples of the strategies, with fewer draws
WITH_EXAMPLES = with_examples(
    [name for name in MODULES if not name.startswith("refengine.strategies")]
)


def test_examples_are_found() -> None:
    assert "refengine.core.engine" in WITH_EXAMPLES


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_hold(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted and not result.failed
