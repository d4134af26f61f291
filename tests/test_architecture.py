"""The architecture: which package may import which, what stands in each, and how big a module may
be.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
PRODUCTS = ("refengine", "conformance")
PLUGIN = "refengine_conformance_plugin"  # the module that every run of pytest loads
MOST_LINES = 900  # of code in a module
MOST_LINES_OF_WRONG_ENGINES = 300  # a module has those of one or two sections, and is a list

# A room -> the rooms that it may import. A room is a package, or a module that stands in no
# package. Where parts of a package are on several floors, each floor is a room: a verdict has the
# measures of benchmarks, which are run by means of verdicts.
ARROWS: dict[str, str] = {
    "refengine.model": "",
    "refengine.sparql": "model",
    "refengine.core": "model sparql",
    "refengine.enumeration": "model core",
    "refengine.incremental": "model sparql core",
    "refengine.joins": "model sparql core",
    "refengine.adaptive": "joins",
    "refengine.bounded": "joins",
    "refengine.drawings": "model",
    "refengine.oracle": "model sparql core incremental drawings",
    "refengine.dialects": "model core",
    "refengine.rdf": "model core dialects",
    "refengine.strategies": "model core",
    "refengine.testing": "model core strategies",
    "refengine.trace": "core",
    "refengine.cli": "model",
    "refengine.run_with_witnesses": "model sparql core incremental",
    "refengine.infer_command": "model core oracle rdf",
    "refengine.public": "model core incremental oracle rdf",
    "refengine.__main__": (
        "model sparql core incremental oracle dialects rdf run_with_witnesses trace cli "
        "infer_command"
    ),
    "conformance.schemas": "",
    "conformance.engines": "",
    "conformance.engines.skeletons": "refengine",
    "conformance.engines.installation": "refengine",
    "conformance.wrong_engines": "refengine",
    "conformance.bench.metrics": "refengine",
    "conformance.verdict": "refengine bench.metrics",
    "conformance.certificates": "refengine",
    "conformance.corpus": "refengine schemas wrong_engines verdict",
    "conformance.harness": "refengine schemas verdict corpus engines.installation",
    "conformance.engines.adapters": "refengine wrong_engines harness",
    "conformance.bench.recordings": "refengine schemas wrong_engines verdict certificates",
    "conformance.suite": (
        "refengine wrong_engines verdict certificates corpus harness bench.recordings"
    ),
    "conformance.card": "refengine verdict corpus harness suite",
    "conformance.report": "refengine schemas bench.metrics wrong_engines verdict corpus",
    "conformance.bench": (
        "refengine bench.metrics verdict engines.installation harness bench.recordings suite report"
    ),
    "conformance.spark": "refengine bench.metrics verdict harness suite bench",
    "conformance.plugin": "refengine verdict harness suite card report spark",
    "conformance.command_line": (
        "refengine engines.skeletons verdict certificates engines.installation harness "
        "bench.recordings suite card report bench spark"
    ),
    "conformance.__main__": "refengine command_line",
    "conformance.test_engines": "suite",
}


@cache
def modules() -> dict[str, Path]:
    """Return the file of every module, by its dotted name; a package is
    named without `__init__`.
    """
    files = (path for product in PRODUCTS for path in sorted((ROOT / product).rglob("*.py")))
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files
    }


def room_of(module: str) -> str:
    """Return the package or the lone module that a module stands in: `refengine.core` of
    `refengine.core.window`, `conformance.bench.metrics` of `conformance.bench.metrics.run`.
    """
    parts = module.split(".")
    inner = ".".join(parts[:3])
    return inner if inner in ARROWS else ".".join(parts[:2])


def imported_by(path: Path) -> Iterator[str]:
    """Yield the modules of ours that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in PRODUCTS)
        elif (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] in PRODUCTS
        ):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in modules() else node.module


def targets(room: str) -> set[str]:
    """Return the rooms that a room may import, itself among them."""
    product = room.split(".")[0]
    return {
        room,
        product,
        *(name if name in PRODUCTS else f"{product}.{name}" for name in ARROWS[room].split()),
    }


def is_allowed(room: str, other: str) -> bool:
    """Whether a room may import a module."""
    product = room.split(".")[0]
    return room_of(other) in targets(room) or other.split(".")[0] in targets(room) - {product}


def test_every_room_has_a_line() -> None:
    assert {room_of(module) for module in modules()} - set(PRODUCTS) <= set(ARROWS)


def test_arrows_point_down() -> None:
    """But for the products' own `__init__`, which gives public names, each from where it is."""
    wrong = [
        f"{module} imports {other}, which {room_of(module)} may not"
        for module, path in modules().items()
        if room_of(module) not in PRODUCTS
        for other in imported_by(path)
        if not is_allowed(room_of(module), other)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_enumeration_has_nothing_of_the_engine() -> None:
    """It shares with the engine the data types of queries, semantics and elements, and no rule."""
    imported = {
        other
        for module, path in modules().items()
        if room_of(module) == "refengine.enumeration"
        for other in imported_by(path)
        if room_of(other) != "refengine.enumeration"
    }
    data_types = {
        "refengine.core.query",
        "refengine.core.semantics",
        "refengine.core.values",
        "refengine.model.elements",
    }
    assert imported == data_types | {"refengine.model.errors"}
    functions = {
        alias.name
        for module, path in modules().items()
        if room_of(module) == "refengine.enumeration"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module in imported
        for alias in node.names
        if alias.name.islower()
    }
    assert functions == {"require"}  # which says that a value is not None


def test_no_arrow_makes_a_circle() -> None:
    seen: list[str] = []
    for room in ARROWS:
        assert targets(room) - {room, room.split(".")[0], "refengine"} <= set(seen), (
            f"{room} stands before a room that it imports"
        )
        seen.append(room)


def test_the_plugin_that_every_run_loads_imports_nothing_at_first() -> None:
    """And later only the sentences about libraries: the suite is loaded by its name."""
    path = ROOT / f"{PLUGIN}.py"
    assert set(imported_by(path)) == {"refengine.model.libraries"}
    at_first = [
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom | ast.Import)
    ]
    names = {getattr(node, "module", None) or node.names[0].name for node in at_first}
    assert names == {"__future__", "collections.abc", "importlib", "pathlib", "typing", "pytest"}


def test_every_arrow_is_used() -> None:
    used = {
        (room_of(module), room_of(other))
        for module, path in modules().items()
        for other in imported_by(path)
    }
    for room in ARROWS:
        for other in targets(room) - {room, room.split(".")[0], "refengine"}:
            assert (room, other) in used, f"nothing in {room} imports {other}; take the arrow out"


@pytest.mark.parametrize(
    "package",
    sorted(
        {room_of(name) for name, path in modules().items() if path.name == "__init__.py"}
        - set(PRODUCTS)
    ),
)
def test_a_package_says_what_it_is_for(package: str) -> None:
    text = ast.get_docstring(ast.parse(modules()[package].read_text(encoding="utf-8"))) or ""
    text = " ".join(text.split())
    assert "Imports " in text and "Begin with " in text, (
        f"{package}: what it is for, what it imports, where to begin"
    )


def lines_of_code(source: str) -> set[int]:
    """Return the numbers of the lines that hold code: no blank line, comment or docstring."""
    dull = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in dull
    ]
    code = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            code -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return code


def test_lines_of_code_are_counted_without_blanks_comments_and_docstrings() -> None:
    source = (
        '"""Doc.\n\nMore."""\n\n# comment\nx = 1  # comment\n\n\ndef f():\n    """Doc."""\n  '
        '  return """a\n\n    b"""\n'
    )
    assert lines_of_code(source) == {6, 9, 11, 12, 13}


def is_too_long(source: str, most: int) -> bool:
    """Whether a module has more lines of code than it may. They are counted only where it has more
    lines of any kind.
    """
    return len(source.splitlines()) > most and len(lines_of_code(source)) > most


def test_lines_of_code_alone_make_a_module_too_long() -> None:
    assert is_too_long("x = 1\n" * 3, 2)
    assert not is_too_long("x = 1\n" * 3, 3) and not is_too_long("x = 1\n\n# y\n", 2)


def test_no_module_is_too_long() -> None:
    most = dict.fromkeys(modules(), MOST_LINES) | {
        module: MOST_LINES_OF_WRONG_ENGINES
        for module in modules()
        if room_of(module) == "conformance.wrong_engines"
    }
    texts = {module: path.read_text(encoding="utf-8") for module, path in modules().items()}
    assert [module for module in texts if is_too_long(texts[module], most[module])] == []


@cache
def names_in(path: Path) -> set[str]:
    """Return the names that a file defines: functions, classes, constants, and `Class.member`."""
    return set(defined(ast.parse(path.read_text(encoding="utf-8")).body))


def defined(body: list[ast.stmt], owner: str = "") -> Iterator[str]:
    """Yield the names that some statements define, those in classes with their class."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield owner + node.name
        if isinstance(node, ast.ClassDef):
            yield from defined(node.body, f"{owner}{node.name}.")
        if isinstance(node, ast.Assign):
            yield from (owner + name.id for name in node.targets if isinstance(name, ast.Name))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield owner + node.target.id


def is_there(name: str) -> bool:
    """Whether a dotted name is a module's, or that of something that its module defines."""
    parts = name.split(".")
    for end in range(len(parts), 1, -1):
        path = modules().get(".".join(parts[:end]))
        if path is not None:
            return end == len(parts) or ".".join(parts[end:]) in names_in(path)
    return False


def test_names_are_found_where_they_are_defined() -> None:
    assert is_there("refengine.core.engine") and is_there("refengine.core.engine.evaluate")
    assert is_there("refengine.core.profile.Profile.semantics")
    assert is_there("refengine.core.profiles.PLAIN") and is_there("refengine.dialects.DIALECTS")
    assert not is_there("refengine.core.engine.devaluate") and not is_there("refengine.cor")


DOTTED = sorted(
    set(re.findall(r"`((?:refengine|conformance)\.[\w.]+)`", PAGE.read_text(encoding="utf-8")))
)
FILES = sorted(
    set(re.findall(r"`([\w.-]+/[\w./-]*|[A-Z]\w+\.md)`", PAGE.read_text(encoding="utf-8")))
)
IN_FILES = re.findall(r"`(\w+)` in `([\w/]+\.py)`", PAGE.read_text(encoding="utf-8"))


def test_the_page_names_what_there_is() -> None:
    assert [name for name in DOTTED if name not in ARROWS and not is_there(name)] == []


def test_the_page_names_files_that_there_are() -> None:
    assert [name for name in FILES if not (ROOT / name).exists()] == []


def test_the_page_names_what_is_in_a_file() -> None:
    assert [(name, file) for name, file in IN_FILES if name not in names_in(ROOT / file)] == []


def test_the_page_names_every_room() -> None:
    rooms = {room for room in ARROWS if room.split(".")[1] not in ("__main__", "test_engines")}
    assert rooms <= set(DOTTED), f"docs/architecture.md leaves out {sorted(rooms - set(DOTTED))}"
