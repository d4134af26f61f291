"""The public names of refengine: looked up when they are asked for, and seen by type checkers."""

from __future__ import annotations

import ast
import pydoc
import re
import subprocess
import sys
import tomllib
import typing
from pathlib import Path

import pytest

import refengine
from refengine import FieldValues, QueryTable, Semantics, Unit, WindowKind, WindowTable
from refengine.core.semantics import ENUMS, FIELDS, OPTIONAL, R2S, Condition, parse_field

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
    packages = dict.fromkeys([*refengine.PACKAGES, *refengine.FOR_TESTS], "refengine")
    assert names_for_type_checkers() == looked_up | packages


@pytest.mark.parametrize("name", refengine.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(refengine, name) is not None


def test_the_package_says_that_it_has_types() -> None:
    assert (ROOT / "py.typed").is_file()


def test_dir_has_every_public_name() -> None:
    assert {*refengine.__all__, "strategies", "testing"} <= set(dir(refengine))


@pytest.mark.parametrize("name", [*refengine.PACKAGES, *refengine.FOR_TESTS])
def test_a_package_is_there_without_its_own_import(name: str) -> None:
    code = f"import refengine; print(refengine.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"refengine.{name}\n"


def test_the_names_of_the_documentation_are_public() -> None:
    """What the pages tell users to import is public, but for what they name as inner."""
    for name in ("judge", "Judgement", "Question", "read_stream", "read_static", "incremental"):
        assert name in refengine.__all__


def test_the_version_is_the_one_of_the_project() -> None:
    table = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert refengine.__version__ == table["project"]["version"]


def test_no_module_has_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = refengine.evaluat


RULES = set(
    re.findall(r"^\*\*([A-Z0-9]+-\d+)\*\*", (ROOT.parent / "SPEC.md").read_text("utf-8"), re.M)
)


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_of_the_semantics_is_explained_with_its_rule(name: str) -> None:
    """`help(Semantics)` shows the class's docstring. Every word that a value can have is in it."""
    shown = pydoc.render_doc(Semantics, renderer=pydoc.plaintext)
    (line,) = re.findall(rf"- `{name}`: (.*?)\n(?:[ |]+\n|[ |]+- )", shown, re.DOTALL)
    rules = re.findall(r"[A-Z0-9]+-\d+", line)
    assert rules and set(rules) <= RULES
    if name != "t0":  # its formulas are WIN-7's
        assert [str(word) for word in ENUMS.get(name, ()) if f"`{word}`" not in line] == []


WORDS = typing.get_type_hints(FieldValues)


def words_of(hint: object) -> set[str]:
    """The words that a hint has in its literals."""
    if typing.get_origin(hint) is typing.Literal:
        return {word for word in typing.get_args(hint) if isinstance(word, str)}
    return set().union(*(words_of(part) for part in typing.get_args(hint)))


@pytest.mark.parametrize("name", FIELDS)
def test_a_type_has_the_words_of_its_field(name: str) -> None:
    """What type checkers allow for a field is what the field takes."""
    words = words_of(WORDS[name]) - {"unknown"}
    if name == "report":
        assert words >= set(map(str, Condition))
    else:
        expected = set(map(str, ENUMS.get(name, ())))
        assert words == expected | ({"none"} if name in OPTIONAL else set())
    for word in words:
        assert parse_field(name, word) is not None or word == "none"
    assert set(WORDS) == set(FIELDS)


def test_a_type_has_the_words_of_its_table() -> None:
    hints = typing.get_type_hints(WindowTable)
    assert words_of(hints["kind"]) == set(WindowKind) and words_of(hints["unit"]) == set(Unit)
    assert words_of(typing.get_type_hints(QueryTable)["r2s"]) == set(R2S)


def test_a_query_may_be_written_as_keywords() -> None:
    table = {
        "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
        "body": "ASK {}",
    }
    assert refengine.from_table(**table) == refengine.from_table(table)  # type: ignore[call-overload]
    with pytest.raises(refengine.InvalidQuery, match=r"unknown key 'bdy'.*body"):
        refengine.from_table(windows=[], bdy="ASK {}")  # type: ignore[call-overload]
    with pytest.raises(refengine.InvalidQuery, match="give one table or keywords, got both: body"):
        refengine.from_table(table, body="ASK {}")  # type: ignore[call-overload]


@pytest.mark.parametrize("name", refengine.OLD_NAMES)
def test_an_old_name_works_and_says_what_to_write(name: str) -> None:
    old = getattr(refengine, name)
    public = ast.parse((ROOT / "joins" / "__init__.py").read_text(encoding="utf-8")).body
    for imported in [one.names[0].name for one in public if isinstance(one, ast.ImportFrom)]:
        with pytest.warns(DeprecationWarning, match=f"refengine.{name} is old: write refengine.j"):
            found = getattr(old, imported)
        assert found is getattr(refengine.joins, imported)
