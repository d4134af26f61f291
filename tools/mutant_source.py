"""Read a mutant from the files that mutmut makes, and put it in the place of the function.

mutmut writes all mutants of a module into one file, with a copy of the function that they change:
`x_due__mutmut_1`, `x_due__mutmut_2`, … and `x_due__mutmut_orig` are made of the function `due`, and
`xǁTickǁdue__mutmut_1` of the method `due` of the class `Tick`.

mutmut runs that file in place of the module, and each call of a function then asks which mutant is
meant. Here the module itself runs, and `put_in_place` gives one of its functions the code of the
mutant. So a mutant runs as fast as the code.
"""

from __future__ import annotations
import __future__

import ast
import functools
import importlib
import json
import re
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

from tools.mutant_classes import Pair, class_of, path_to_change

NAME = re.compile(
    r"(?P<module>.+)\.(?P<function>x(?:ǁ(?P<class>\w+?)ǁ|_)(?P<name>\w+))__mutmut_(?P<number>\w+)"
)


class Mutant(NamedTuple):
    """A mutant, and where it belongs.

    `function` is mutmut's name of the function that is changed (`refengine.core.tick.x_due`).
    `lines` are the lines of the module's file in which the statement stands that is changed: a test
    that runs none of them cannot notice the mutant. `kind` is its class of `tools.mutant_classes`,
    if it is in one.
    """

    name: str
    module: str
    function: str
    class_name: str | None
    function_name: str
    file: str
    lines: range
    kind: str | None
    definition: ast.FunctionDef


class MutatedFile:
    """The file in which mutmut writes the mutants of a module."""

    def __init__(self, folder: Path, module: str) -> None:
        """Read the file of a module in a folder where mutmut has made the mutants."""
        path = Path(module.replace(".", "/") + ".py")
        if not (folder / path).exists():
            path = path.with_suffix("") / "__init__.py"
        self.path = str((folder / path).resolve())
        mutated = folder / "mutants" / path
        self._lines = mutated.read_text(encoding="utf-8").splitlines(keepends=True)
        index = mutated.with_name(f"{mutated.name}.spans")
        self._spans = json.loads(index.read_text(encoding="utf-8"))["spans"]
        self._first_lines = first_lines((folder / path).read_text(encoding="utf-8"))

    def originals(self) -> list[str]:
        """Return the names of the copies of the functions that have mutants."""
        return sorted(name for name in self._spans if name.endswith("__mutmut_orig"))

    def definition(self, name: str, class_name: str | None, function_name: str) -> ast.FunctionDef:
        """Return what the file has by mutmut's name, as the definition of the function itself: with
        the function's name, on the lines where it stands in the module.
        """
        first, last = self._spans[name]
        text = "".join(self._lines[first - 1 : last])
        (node,) = ast.parse(f"class C:\n{text}" if class_name else text).body
        if isinstance(node, ast.ClassDef):
            (node,) = node.body
        assert isinstance(node, ast.FunctionDef)
        node.name = function_name
        ast.increment_lineno(node, self._first_lines[class_name, function_name] - node.lineno)
        return node


def first_lines(text: str) -> dict[tuple[str | None, str], int]:
    """Return the line on which each function of a module begins, by its class and name. Of several
    with the same class and name it is the last, which is the one that stays.
    """
    found: dict[tuple[str | None, str], int] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            found[None, node.name] = node.lineno
        elif isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            found |= {(node.name, each.name): each.lineno for each in methods}
    return found


@functools.cache
def read_file(folder: Path, module: str) -> MutatedFile:
    """Return the file with the mutants of a module, which is read once."""
    return MutatedFile(folder, module)


def read_mutant(folder: Path, name: str) -> Mutant:
    """Return the mutant of a name, from a folder where mutmut has made it.

    `read_mutant(folder, "refengine.core.tick.x_due__mutmut_1")` reads
    `mutants/refengine/core/tick.py`. Raises LookupError if the text is no name of a mutant.
    """
    parts = NAME.fullmatch(name)
    if parts is None:
        raise LookupError(f"{name!r} is no name of a mutant")
    module, class_name, function_name = parts["module"], parts["class"], parts["name"]
    file = read_file(folder, module)
    original = file.definition(f"{parts['function']}__mutmut_orig", class_name, function_name)
    changed = file.definition(name.removeprefix(f"{module}."), class_name, function_name)
    function = f"{module}.{parts['function']}"
    return Mutant(
        name,
        module,
        function,
        class_name,
        function_name,
        file.path,
        lines=changed_lines(original, changed),
        kind=class_of(original, changed),
        definition=changed,
    )


def changed_lines(original: ast.FunctionDef, changed: ast.FunctionDef) -> range:
    """Return the lines of the innermost statement that is changed, with all that is inside it.

    Of `if a: b` with another condition these are the lines of the whole `if`. If a default value is
    changed, they are the whole function's.
    """
    path = path_to_change(Pair(original, changed)) or [Pair(original, changed)]
    statement = [pair.original for pair in path if isinstance(pair.original, ast.stmt)][-1]
    assert statement.end_lineno is not None
    return range(statement.lineno, statement.end_lineno + 1)


def put_in_place(mutant: Mutant) -> None:
    """Give a function the code and the default values of a mutant. Its module is imported if no
    test has done so yet.
    """
    module = importlib.import_module(mutant.module)
    body: ast.stmt = mutant.definition
    if mutant.class_name is not None:
        # the class's name is part of the names that begin with two underscores
        body = ast.ClassDef(mutant.class_name, [], [], [body], [])
    tree = ast.fix_missing_locations(ast.Module([body], []))
    flags = __future__.annotations.compiler_flag
    names = dict(vars(module))
    exec(compile(tree, mutant.file, "exec", flags, dont_inherit=True), names)

    holder, new_holder = vars(module), names
    if mutant.class_name is not None:
        holder = vars(vars(module)[mutant.class_name])
        new_holder = vars(names[mutant.class_name])
    function = plain_function(holder[mutant.function_name])
    new_function = plain_function(new_holder[mutant.function_name])
    function.__code__ = new_function.__code__
    function.__defaults__ = new_function.__defaults__
    function.__kwdefaults__ = new_function.__kwdefaults__


def plain_function(found: object) -> FunctionType:
    """Return the function of a static method or of a method of a class, or the function itself."""
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    assert isinstance(found, FunctionType), found
    return found
