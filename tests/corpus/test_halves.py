"""Where a rule joins two halves by *and*, each half has a wrong engine of its own, and so a case
that it fails (tests/corpus/test_wrong_engines_fail.py).

A wrong engine names its half by a phrase of the rule: `half` of conformance/wrong_engines.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from conformance.corpus.rule_texts import read_specification
from conformance.corpus.specification import ID
from conformance.wrong_engines import WRONG_ENGINES

SPEC = Path(__file__).resolve().parents[2] / "SPEC.md"

# rules that say *and*, but have no halves of which one could be left out: why
NO_HALVES = {
    "WIN-6": "the half on windows over time is what every other wrong engine of §4 breaks",
    "WIN-7": "it joins names of engines that have one formula",
    "WIN-14": "it joins the two numbers of one window, and the borders of one range",
    "WIN-17": "it joins the kinds for which one thing holds",
    "TICK-6": "it joins the two conditions of one case",
    "R2R-19": "it joins what has no meaning and what follows of it",
    "ORA-1": "it lists what is unknown; ORA-2 to ORA-4 and ORA-7 say of each what is tried",
    "ORA-4": "it lists the conditions under which no order is tried",
    "ORA-9": "it says where two things part: of both at once",
    "ORA-10": "what is not tried after a row is named shows in no verdict",
    "ORA-13": "it lists what is looked for, and bounds of the search",
    "DIA-3": "it joins two letters",
}


def statements(text):
    """{rule: what it states}, without its function, source and examples."""
    found, rule = {}, None
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if start := re.match(rf"\*\*({ID})\*\* ", paragraph):
            rule = start[1]
            found[rule] = ""
        elif paragraph.startswith("#"):
            rule = None
        if rule:
            found[rule] += paragraph + "\n"
    ends = r"\*(?:Functions?|Source|Examples?)\*"
    return {rule: re.split(ends, text)[0] for rule, text in found.items()}


def says_and(statement):
    """Whether a statement joins anything by *and*; what stands as code, as `a and b`, aside."""
    return bool(re.search(r"\band\b", re.sub(r"`[^`]*`", "", statement)))


@cache
def stated():
    return statements(read_specification())


def halves(rule):
    """The phrases of a rule that a wrong engine names as the half that it breaks."""
    named = {half for one in WRONG_ENGINES if rule in one.rules for half in one.halves}
    return {half for half in named if half in stated()[rule]}


@pytest.mark.parametrize("rule", [rule for rule in stated() if says_and(stated()[rule])])
def test_each_half_of_a_rule_has_a_wrong_engine(rule):
    is_argued = rule in NO_HALVES
    assert is_argued or len(halves(rule)) > 1, (
        f"{rule} says *and*: name two halves of it by wrong engines (half=…), or say in NO_HALVES "
        f"why it has none; named are {sorted(halves(rule)) or 'none'}"
    )
    assert not is_argued or len(halves(rule)) < 2, f"{rule} has halves: no need to argue"


def test_what_is_argued_is_of_rules_that_say_and():
    assert [r for r in NO_HALVES if r not in stated() or not says_and(stated()[r])] == []


def test_a_half_is_a_phrase_of_a_rule_that_the_wrong_engine_breaks():
    assert [
        (one.full_name, half)
        for one in WRONG_ENGINES
        for half in one.halves
        if not any(half in stated()[rule] for rule in one.rules)
    ] == []


def test_statements_end_at_the_function_and_begin_anew_at_a_heading():
    text = """
**AB-1** One and two. *Function* `a.one`, and more.

- And three.

## §2 This and that

**AB-2** `a and b`. *Source* this and that.
"""
    found = statements(text)
    assert {rule: says_and(statement) for rule, statement in found.items()} == {
        "AB-1": True,
        "AB-2": False,
    }
