"""The map: a rule of SPEC.md, its function, its cases and its wrong engines name one id."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from conformance import corpus
from conformance.corpus.rule_texts import read_specification
from conformance.corpus.rules import RULES
from conformance.corpus.specification import ID, catches, only, rules, values
from conformance.wrong_engines import WRONG_ENGINES
from refengine.core.semantics import FIELDS
from refengine.sparql import grammar

ROOT = Path(__file__).resolve().parents[2]
ABSENT = "which SPEC.md does not have"


@cache
def spec():
    return rules(read_specification())


def docstring(name):
    """Return the docstring of `package.module.function` or `package.module.Class.method`. Raises
    ImportError, AttributeError.
    """
    product = "refengine" if (ROOT / "refengine" / name.split(".")[0]).exists() else "conformance"
    found = importlib.import_module(product)
    for part in name.split("."):
        if isinstance(found, ModuleType) and not hasattr(found, part):
            found = importlib.import_module(f"{found.__name__}.{part}")
        else:
            found = getattr(found, part)
    return inspect.getdoc(found) or ""


def docstrings(source):
    """(line, text) of every docstring in a source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and ast.get_docstring(node):
            yield node.body[0].lineno, node.body[0].end_lineno, ast.get_docstring(node)


def unknown(text):
    """The ids in a text that SPEC.md has the section of, but not the rule."""
    sections = {rule.split("-")[0] for rule in spec()}
    return [
        found
        for found in re.findall(rf"\b{ID}\b", text)
        if found.split("-")[0] in sections and found not in spec()
    ]


# Rule and function


def test_the_specification_has_rules():
    assert len(spec()) >= 60


def test_rules_name_functions_whose_docstrings_name_them():
    for rule in spec():
        check_functions_of(rule)


def check_functions_of(rule):
    """Assert that a rule names functions, and that the docstring of each names the rule."""
    assert spec()[rule], f"SPEC.md: {rule} names no function"
    definition = rf"\b{rule}(?: \w+)?(?:, {ID})*:"  # `TICK-1 tuple:`, `SEM-1, SEM-2:`
    for name in spec()[rule]:
        try:
            text = docstring(name)
        except (ImportError, AttributeError):
            pytest.fail(f"SPEC.md: {rule} names {name}, which does not exist")
        assert re.search(definition, text), f"the docstring of {name} does not say {rule}:"


def test_refengine_names_no_rule_that_does_not_exist():
    for path in sorted((ROOT / "refengine").rglob("*.py")):
        check_rules_named_in(path)


def check_rules_named_in(path):
    """Assert that the docstrings and the errors of a module name rules that there are."""
    source = path.read_text(encoding="utf-8")
    wrong = [(line, found) for line, _, text in docstrings(source) for found in unknown(text)]
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.keyword)
            and node.arg == "rule"
            and isinstance(node.value, ast.Constant)
        ):
            wrong += (
                [(node.value.lineno, node.value.value)] if node.value.value not in spec() else []
            )
    assert not wrong, "; ".join(
        f"{path.name}:{line} names {found}, {ABSENT}" for line, found in sorted(wrong)
    )


# Rule and case


def test_every_rule_has_a_case():
    without = set(spec()) - {case.rule for case in _cases()}
    assert not without, f"conformance/cases: no case for {sorted(without)}"


def test_cases_name_no_rule_that_does_not_exist():
    wrong = [(case.path, case.rule) for case in _cases() if case.rule not in spec()]
    wrong += [
        (case.path, found) for case in _cases() for found in unknown(case.table["derivation"])
    ]
    assert not wrong, "; ".join(f"{path} names {found}, {ABSENT}" for path, found in sorted(wrong))


def test_the_examples_name_no_case_that_does_not_exist():
    text = read_specification()
    named = set(re.findall(r"`([\w-]+/[\w-]+\.toml)`", text))
    assert named
    assert sorted(named - {case.path for case in _cases()}) == []


@cache
def _cases():
    return corpus.cases()


# Rule and wrong engine


def test_every_rule_has_a_wrong_engine():
    without = set(spec()) - {rule for one in WRONG_ENGINES for rule in one.rules}
    assert not without, f"conformance/wrong_engines: no wrong engine for {sorted(without)}"


def test_wrong_engines_name_no_rule_that_does_not_exist():
    wrong = [(one.name, rule) for one in WRONG_ENGINES for rule in one.rules if rule not in spec()]
    wrong += [(one.name, found) for one in WRONG_ENGINES for found in unknown(one.defect)]
    assert not wrong, "; ".join(
        f"wrong engine {name!r} names {found}, {ABSENT}" for name, found in sorted(wrong)
    )


# Every value of every dimension


def test_every_field_has_values_and_every_value_a_rule():
    assert set(RULES) == {*FIELDS, "window", "unit"}
    assert {rule for _, _, rule in values()} <= set(spec())


def test_the_tables_are_up_to_date():
    assert (
        subprocess.run([sys.executable, "-m", "tools.make_tables", "--check"], cwd=ROOT).returncode
        == 0
    )


def test_the_parser_is_that_of_the_grammar():
    assert (
        subprocess.run([sys.executable, "tools/make_parser.py", "--check"], cwd=ROOT).returncode
        == 0
    )


def test_tables_of_another_grammar_are_not_read():
    tables = (ROOT / "refengine" / "sparql" / grammar.TABLES).read_text()
    assert grammar.read_tables(tables, grammar.GRAMMAR.text) is not None
    assert grammar.read_tables(tables, grammar.GRAMMAR.text + " ") is None
    assert (
        grammar.read_tables(tables.replace('"lark":"', '"lark":"0.'), grammar.GRAMMAR.text) is None
    )


ROWS = re.findall(
    rf"^\| `(\w+)(?:=|`, )([^`|]+?)`? \| ({ID}) \| (\S+\.toml) \| (.*) \|$",
    (ROOT / "docs" / "values.md").read_text(encoding="utf-8"),
    re.M,
)


def test_the_table_has_a_row_for_every_value():
    assert [row[:3] for row in ROWS] == list(values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}={row[1]}")
def test_a_row_of_the_table_holds(row):
    """As it is written: the case is one of the rule, has the value and holds, and the wrong
    engine fails it there.
    """
    field, value, rule, path, name = row
    [case] = [case for case in _cases() if (case.rule, case.path) == (rule, path)]
    [wrong_engine] = [one for one in WRONG_ENGINES if rule in one.rules and one.name == name]
    having = only(case, field, value)
    assert having is not None and corpus.check(having) == []
    assert catches(having, wrong_engine)


# The parser of the map itself


def test_a_rule_ends_where_the_next_begins_and_a_function_line_speaks_for_all_it_names():
    text = """
**AB-1** One. *Function* `a.one`. *Source* x.

**AB-2** Two,
over two lines.

**AB-3** Three. *Function* of both `a.two`.

**AB-4** *Choice `t0`.* Four. *Functions* `a.four`, `a.five`. Not a function: `a.six`.

**AB-5** Five.

A mention of **AB-6** within a paragraph.

**AB-7** Conditions:

- one; *Function* `a.seven`.

**AB-8** A gist:

1. one
2. two

| a | b |
|---|---|
| `x.y` | 1 |

*Example* A number.

*Functions* `a.nine`, `a.ten`. *Source* y.

## A heading

*Function* `a.eight` of no rule.
"""
    found = {
        "AB-1": ("a.one",),
        "AB-2": ("a.two",),
        "AB-3": ("a.two",),
        "AB-4": ("a.four", "a.five"),
        "AB-5": (),
        "AB-7": ("a.seven",),
        "AB-8": ("a.nine", "a.ten"),
    }
    assert rules(text) == found
