"""The public names of refengine: looked up when they are asked for, and seen by type checkers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import refengine

ROOT = Path(refengine.__file__).parent


def names_for_type_checkers() -> dict[str, str]:
    """Return the module that each name is imported from under `if TYPE_CHECKING`."""
    tree = ast.parse((ROOT / "__init__.py").read_text(encoding="utf-8"))
    blocks = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {
        alias.asname or "not exported": statement.module or ""
        for block in blocks
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if alias.asname == alias.name
    }


def test_type_checkers_see_what_is_looked_up() -> None:
    looked_up = {
        name: f"refengine.{home}" for home, names in refengine.HOMES.items() for name in names
    }
    assert names_for_type_checkers() == looked_up


@pytest.mark.parametrize("name", refengine.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(refengine, name) is not None


def test_the_package_says_that_it_has_types() -> None:
    assert (ROOT / "py.typed").is_file()
