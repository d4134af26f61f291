"""The public names of refengine: looked up when they are asked for, and seen by type checkers."""

from __future__ import annotations

import ast
import pydoc
import re
import subprocess
import sys
import tomllib
import typing
from importlib import import_module
from pathlib import Path

import pytest

import conformance
import conformance.spark
import refengine
from conformance.corpus.rule_texts import read_specification
from refengine import FieldValues, QueryTable, Semantics, Unit, WindowKind, WindowTable
from refengine.core.semantics import ENUMS, FIELDS, OPTIONAL, parse_field
from refengine.core.values import R2S, Condition

ROOT = Path(refengine.__file__).parent


def test_type_checkers_see_what_is_looked_up() -> None:
    """Each public name is imported under its own name, so that it is exported."""
    tree = ast.parse((ROOT / "public.py").read_text(encoding="utf-8"))
    statements = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert len(statements) == len(tree.body) - 1  # but for the docstring
    exported = [alias.asname for node in statements for alias in node.names]
    assert exported == [alias.name for node in statements for alias in node.names]
    found = {*exported, *refengine.PACKAGES, *refengine.FOR_TESTS, "__version__"}
    assert found == set(dir(refengine)) == {*refengine.__all__, *refengine.FOR_TESTS}


def names_of_page() -> dict[str, set[str]]:
    """Return the names that docs/stable.md lists, by what they are names of."""
    text = (ROOT.parent / "docs" / "stable.md").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for owner, names in re.findall(r"^\| `([\w.]+)`(?:: .*)? \| (`.*`) \|$", text, re.MULTILINE):
        found.setdefault(owner, set()).update(re.findall(r"`(\w+)`", names))
    return found


def test_the_page_lists_exactly_the_public_names() -> None:
    assert names_of_page() == {
        "refengine": set(dir(refengine)),
        "conformance": set(conformance.__all__),
        "conformance.spark": set(conformance.spark.__all__),
    }


def test_dir_does_not_depend_on_what_was_imported() -> None:
    code = "import refengine; print(dir(refengine))"
    after = "import refengine.core.tick, refengine.oracle, refengine.testing, refengine.bounded"
    first, second = (
        subprocess.run([sys.executable, "-c", each], capture_output=True, text=True, check=True)
        for each in (code, f"{after}; {code}")
    )
    assert first.stdout == second.stdout == f"{dir(refengine)}\n"


PAGES = [ROOT.parent / "README.md", *sorted((ROOT.parent / "docs").rglob("*.md"))]
IMPORT = re.compile(
    r"^ *from ((?:refengine|conformance)[\w.]*) import (\w+(?:, \w+)*)$", re.MULTILINE
)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_teaches_public_names_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"^```python.*?\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for module, names in IMPORT.findall(block):
            public = names_of_page().get(module) or set(import_module(module).__all__)
            assert set(names.split(", ")) <= public, (module, names)
            assert module in names_of_page() or module.split(".")[1] in dir(refengine)


@pytest.mark.parametrize("name", refengine.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(refengine, name) is not None


def test_the_package_says_that_it_has_types() -> None:
    assert (ROOT / "py.typed").is_file()


@pytest.mark.parametrize("name", [*refengine.PACKAGES, *refengine.FOR_TESTS])
def test_a_package_is_there_without_its_own_import(name: str) -> None:
    code = f"import refengine; print(refengine.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"refengine.{name}\n"


def test_the_version_is_the_one_of_the_project() -> None:
    table = tomllib.loads((ROOT.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert refengine.__version__ == table["project"]["version"]


def test_no_module_has_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = refengine.evaluat


RULES = set(re.findall(r"^\*\*([A-Z0-9]+-\d+)\*\*", read_specification(), re.M))


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
