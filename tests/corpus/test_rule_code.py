"""SPEC.md shows with each rule its code in the enumeration (`refengine/enumeration`)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from conformance.corpus.rule_texts import read_specification, rule_texts
from conformance.corpus.specification import rules
from tools.make_tables import with_code
from tools.rule_code import (
    PACKAGE,
    RuleCode,
    code_parts,
    functions,
    functions_in,
    marked_rules,
    named_rules,
)

ROOT = Path(__file__).resolve().parents[2]
SPEC = (ROOT / "SPEC.md").read_text(encoding="utf-8")
FIRINGS = (ROOT / "docs" / "firings.md").read_text(encoding="utf-8")
MOST_WORDS = {SPEC: 2300, FIRINGS: 1300}  # of all code that a page shows
SECTIONS = ("WIN", "TICK", "REP", "R2S", "ENG")
OTHER_RULES = ("MOD-2", "MOD-3", "R2R-1", "R2R-8", "R2R-9", "R2R-22")

# rules of when, and over what, that have no code: why
WITHOUT_CODE = {
    "WIN-9": "it follows from WIN-4, WIN-5 and WIN-8",
    "ENG-2": "it says which instants may be skipped; the enumeration skips none",
    "ENG-3": "it bounds the reports; the enumeration serves small streams alone",
    "ENG-6": "it says that another way gives the same reports",
    "ENG-7": "it says that another way gives the same reports",
    "ENG-8": "it says when an element may be evaluated, and that the reports are the same",
}

# functions that no rule has: what they do
PLUMBING = {
    "__init__": "it computes once what the rules read",
    "all_integers": "it bounds the integers that the rules go through",
}


def test_the_code_is_that_of_the_enumeration():
    assert with_code(SPEC) == SPEC, "run python -m tools.make_tables"
    assert with_code(FIRINGS) == FIRINGS, "run python -m tools.make_tables"


def test_there_is_a_place_for_each_rule_with_code_and_for_no_other():
    marked = {*marked_rules(SPEC), *marked_rules(FIRINGS)}
    assert marked == set(code_parts(functions()))
    assert len(marked) == len(marked_rules(SPEC)) + len(marked_rules(FIRINGS))
    with pytest.raises(LookupError, match="names ENG-3"):
        with_code(f"{SPEC}\n\n<!--code:ENG-3-->\n\n<!--end-->\n")


def test_code_stands_with_its_rule():
    """Between the rule's id and the next one's."""
    parts = code_parts(functions())
    for page in (SPEC, FIRINGS):
        places = re.split(r"^\*\*([A-Z0-9]+-\d+)\*\* ", page, flags=re.MULTILINE)
        found = {
            rule: re.findall("<!--code:(.*?)-->", text)
            for rule, text in zip(places[1::2], places[2::2], strict=True)
        }
        assert found == {rule: [rule] if rule in parts else [] for rule in found}, page[:40]


def test_each_function_stands_at_a_rule_that_there_is():
    without = set()
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                named = named_rules(ast.get_docstring(node) or "")
                assert set(named) <= set(rules(read_specification())), node.name
                without |= set() if named else {node.name}
    assert without == set(PLUMBING)


def test_each_rule_of_when_and_over_what_has_code():
    asked = {rule for rule in rules(read_specification()) if rule.split("-")[0] in SECTIONS}
    assert asked.union(OTHER_RULES) - set(code_parts(functions())) == set(WITHOUT_CODE)


def test_the_code_can_be_read_at_one_sitting():
    parts = code_parts(functions())
    for page, most in MOST_WORDS.items():
        assert sum(len(parts[rule].split()) for rule in marked_rules(page)) <= most


def test_the_text_of_a_rule_has_no_code():
    for rule, found in rule_texts().items():
        assert "```" not in found.text and "<!--code" not in found.text, rule


SOURCE = '''
class Chapter:
    """§1."""

    def both(self, element: Element, *, place: int = 0) -> list[int]:
        """AB-1 to AB-3, CD-1: Return both.

        More of it.
        """
        first = place

        return [first, 1]  # as AB-2 has it

    def neither(self):
        """Return what no rule has."""

def one(a: int) -> int:
    """AB-2: Return it."""
    return a
'''


def test_code_is_shown_without_docstring_types_and_blank_lines():
    both, neither, one = functions_in(SOURCE, "chapter")
    assert both == RuleCode(
        "chapter",
        "both",
        ("AB-1", "AB-2", "AB-3", "CD-1"),
        "def both(self, element, *, place=0):\n    first = place\n"
        "    return [first, 1]  # as AB-2 has it",
    )
    assert neither.rules == ()
    assert code_parts([both, neither, one]) == {
        "AB-1": f"```python\n{both.code}\n```",
        "AB-2": "```python\ndef one(a):\n    return a\n```",
        "AB-3": "Code: `both`, at AB-1.",
        "CD-1": "Code: `both`, at AB-1.",
    }
