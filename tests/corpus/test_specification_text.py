"""SPEC.md's text: where a rule stands in its section, and lists that must name every value."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from conformance.corpus.rule_texts import read_specification, rule_texts, rule_texts_of
from conformance.corpus.specification import ID, rules
from refengine.core.query import WindowKind
from refengine.core.semantics import ENUMS

ROOT = Path(__file__).resolve().parents[2]
SPEC = read_specification()


def text_of(rule):
    """The text from the id of a rule to the id of the next one."""
    after = SPEC.split(f"\n**{rule}** ")[1]
    return re.split(rf"^\*\*{ID}\*\* ", after, flags=re.MULTILINE)[0]


def test_the_rules_of_a_section_stand_in_the_order_of_their_numbers():
    numbers = defaultdict(list)
    for rule in rules(SPEC):
        section, number = rule.split("-")
        numbers[section].append(int(number))
    assert all(found == sorted(found) for found in numbers.values())


def test_a_rule_has_its_first_sentence_its_text_and_the_anchor_of_its_section():
    found = rule_texts_of(
        "# A title\n\nAn introduction.\n\n## §2 Two — `a/b.py`\n\n**TWO-1** *Choice `x`.* It is "
        "so. It is.\n\n1. One\n2. Two\n\n**TWO-2** These are:\n\n| a |\n\n## Behind\n\nNo rule.",
        "docs/two.md",
    )
    assert list(found) == ["TWO-1", "TWO-2"]
    assert found["TWO-1"].title == "It is so"
    assert found["TWO-1"].text == "*Choice `x`.* It is so. It is.\n\n1. One\n2. Two"
    assert found["TWO-1"].anchor == "2-two--abpy"
    assert (found["TWO-2"].title, found["TWO-2"].text) == ("These are", "These are:\n\n| a |")


def test_every_rule_of_the_specification_has_a_text():
    assert list(rule_texts()) == list(rules(SPEC))


def values_listed(field, text):
    """The values of a field in a text: `field=value`, and those after it as in `field=a`, `b` or
    `c`.
    """
    lists = re.findall(rf"`{field}=[^`]+`(?:(?:, | or | and )`[^`=]+`)*", text)
    return {quoted.split("=")[-1] for each in lists for quoted in each.split("`")[1::2]}


def test_the_text_of_a_rule_has_no_links():
    """Pages of results show it elsewhere than beside the files of this project."""
    (told,) = rule_texts_of("**AB-1** One [*two* three](docs/a.md#b).", "SPEC.md").values()
    assert (told.text, told.title) == ("One *two* three.", "One *two* three")
    assert not [rule for rule, each in rule_texts().items() if "](" in each.text + each.title]
    assert "*Function* `core.window.active`. *Source*" in rule_texts()["WIN-4"].text


def test_values_are_found_in_lists():
    assert values_listed("x", "`x=a`; `y=b`, and `x=c`, `d` or `e` (`f`), `x=g` and `y=h`.") == {
        *("a", "c", "d", "e", "g")
    }
    assert values_listed("x", "`x` a, `a`, x=`b`, and `xx=c`") == set()


# a question about the values of a field, and the rules that list those for which it holds
LISTED = [
    ("base", "may_be_older", ("ENG-7", "ORA-7")),
    ("change_scope", "reads_graphs", ("ORA-7",)),
    ("consumption", "uses_up_elements", ("SEM-2",)),
    ("empty", "reads_last_output", ("ENG-7", "ORA-7")),
    ("late_for", "keeps_arrival_order", ("ENG-7", "ENG-8", "ORA-7")),
    ("missed_instants", "leaves_some_out", ("ENG-7",)),
    ("missed_instants", "needs_instants", ("SEM-2",)),
    ("reported_windows", "is_every", ("ENG-7", "ENG-8", "ORA-2", "ORA-7")),
]


@pytest.mark.parametrize(("field", "question", "listing"), LISTED)
def test_rules_list_the_values_for_which_a_question_holds(field, question, listing):
    """ENG-7 lists what a part needs and lacks, ENG-8 what cannot be pushed, ORA-7 what is not
    searched, SEM-2 what is contradictory.
    """
    for rule in listing:
        listed = values_listed(field, text_of(rule))
        expected = {str(value) for value in ENUMS[field] if getattr(value, question)}
        form = " or ".join(f"`{word}`" for word in sorted(expected)).replace("`", f"`{field}=", 1)
        assert listed == expected, f"{rule} must list {form}, written like this; {question}"


@pytest.mark.parametrize("page", ["SPEC.md", "docs/command-line.md", "docs/values.md"])
def test_a_page_that_lists_the_kinds_of_windows_lists_all(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [kind for kind in WindowKind if not re.search(rf"`(window=)?{kind}`", text)] == []


def test_the_heading_of_a_section_names_files_that_there_are():
    """The first has its folder; the others are in the same one."""
    headings = re.findall(r"^## §.*$", SPEC, re.MULTILINE)
    assert len(headings) > 10
    for heading in headings:
        first, *others = re.findall(r"`([^`]+)`", heading)
        assert (ROOT / first).exists(), heading
        for other in others:
            assert ((ROOT / first).parent / other).exists() or (ROOT / other).exists(), heading
