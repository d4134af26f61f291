"""The code of each rule, as SPEC.md shows it: the functions of `refengine.enumeration`."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from conformance.corpus.rule_texts import ID

PACKAGE = Path(__file__).resolve().parents[1] / "refengine" / "enumeration"
APART = "matches"  # SPEC.md names this module, and does not show what is in it
MARKER = re.compile(rf"<!--code:({ID})-->")


class RuleCode(NamedTuple):
    """A function of the enumeration: its module, its name, the rules that its docstring begins
    with, and its code without docstring, types of parameters and blank lines.
    """

    module: str
    name: str
    rules: tuple[str, ...]
    code: str


def named_rules(docstring: str) -> tuple[str, ...]:
    """Return the rules that a docstring begins with.

    >>> named_rules("TICK-1 to TICK-3: Return it."), named_rules("R2R-22, step 1: Return it.")
    (('TICK-1', 'TICK-2', 'TICK-3'), ('R2R-22',))
    >>> named_rules("Return what MOD-2 says.")
    ()
    """
    begin = re.match(rf"{ID}(?:(?:, | to ){ID})*", docstring)
    if begin is None:
        return ()
    rules: list[str] = []
    for separator, rule in re.findall(rf"(, | to |)({ID})", begin[0]):
        section, number = rule.split("-")
        first = int(number)
        if separator == " to ":
            first = int(rules[-1].split("-")[1]) + 1
        rules += [f"{section}-{each}" for each in range(first, int(number) + 1)]
    return tuple(rules)


def code_of(function: ast.FunctionDef, lines: list[str]) -> str:
    """Return the code of a function without docstring, types of parameters and blank lines.

    `lines` are those of its module.
    """
    plain = copy.deepcopy(function.args)
    for parameter in (*plain.posonlyargs, *plain.args, *plain.kwonlyargs):
        parameter.annotation = None
    docstring = function.body[0]
    body = lines[(docstring.end_lineno or 0) : function.end_lineno]
    indented = [line[function.col_offset :] for line in body if line.strip()]
    return "\n".join([f"def {function.name}({ast.unparse(plain)}):", *indented])


@cache
def functions() -> tuple[RuleCode, ...]:
    """Return the functions of the enumeration that have a docstring, module by module."""
    return tuple(
        function
        for path in sorted(PACKAGE.glob("*.py"))
        for function in functions_in(path.read_text(encoding="utf-8"), path.stem)
    )


def functions_in(source: str, module: str) -> Iterator[RuleCode]:
    """Yield the functions and methods in a module's source that have a docstring, in order."""
    tree = ast.parse(source)
    outer: list[ast.AST] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for node in sorted(
        (child for each in outer for child in ast.iter_child_nodes(each)),
        key=lambda child: getattr(child, "lineno", 0),
    ):
        if isinstance(node, ast.FunctionDef) and (docstring := ast.get_docstring(node)):
            rules = named_rules(docstring)
            yield RuleCode(module, node.name, rules, code_of(node, source.splitlines()))


def code_parts(found: Iterable[RuleCode]) -> dict[str, str]:
    """Return what SPEC.md shows for each rule that has code: the functions that name it first. For
    a rule that functions name behind others alone, it is where these functions are.
    """
    blocks: dict[str, list[str]] = {}
    elsewhere: dict[str, list[str]] = {}
    for function in found:
        first, *others = function.rules or (None,)
        if function.module == APART and first:
            elsewhere[first] = [f"`refengine.enumeration.{APART}`"]
        elif first:
            blocks.setdefault(first, []).append(function.code)
        for rule in others:
            elsewhere.setdefault(rule, []).append(f"`{function.name}`, at {first}")
    parts = {rule: f"Code: {'; '.join(places)}." for rule, places in elsewhere.items()}
    return parts | {rule: in_fence(codes) for rule, codes in blocks.items()}


def in_fence(codes: list[str]) -> str:
    """Return pieces of code as one block of Markdown."""
    return "\n".join(["```python", "\n\n".join(codes), "```"])


def marked_rules(text: str) -> list[str]:
    """Return the rules that a page has a place for code of."""
    return MARKER.findall(text)
