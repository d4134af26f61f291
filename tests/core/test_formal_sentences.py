"""The theorems in `refengine/formal` say what SPEC.md says, and rest on nothing. What no theorem
identifies an example tells apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations

import pytest
from formal_program import DEFINITIONS

from conformance.certificates.formal import FOLDER
from conformance.corpus.rule_texts import read_specification, rule_paragraphs
from conformance.corpus.specification import SHARED, rules
from refengine.core.semantics import ENUMS, INTEGRAL, Condition
from tools.laws import TESTS, Law, laws, project_files, theorems

ROOT = FOLDER.parents[1]
PAGE = ROOT / "docs" / "formal.md"
# the rules that have no definition of their own, and why
WITHOUT_DEFINITION = {
    "MOD-4": "terms are numbers",
    "WIN-9": "it follows from WIN-8",
    "ENG-2": "each instant is visited",
    "ENG-3": "it bounds what a program computes",
    "ENG-6": "it is about how a program computes",
    "ENG-7": "it is about how a program computes",
    "ENG-8": "it is about how a program computes",
}
# the values of fields that main.ml does not read in a list of words
CONSTRUCTORS = {
    ("t0", "epoch"): "Epoch",
    ("t0", "an integer"): "At",
    ("anchor", "an integer"): "AnchorAt",
    ("horizon", "an integer"): "HorizonAt",
}
# the fields of which no two values are told apart, and the theorem that identifies them
IDENTIFIED = {"allowed_lateness": "refused_is_reordered"}


@cache
def sources() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.v"))}


def plain(text: str) -> str:
    """Return a text in one line, without marks of Markdown."""
    return " ".join(text.replace("**", "").split())


@cache
def quotes() -> list[tuple[str, str]]:
    """Return (file, words) for all that comments quote; `...` separates words."""
    found = []
    for name, source in sources().items():
        for comment in re.findall(r"\(\*\*(.*?)\*\)", source, re.DOTALL):
            for quoted in re.findall(r'"([^"]+)"', comment):
                pieces = (plain(piece) for piece in quoted.split("..."))
                found += [(name, piece) for piece in pieces if piece]
    return found


def uncovered(sentence: str) -> str:
    """Return what no comment quotes of a sentence."""
    is_covered = [not letter.isalnum() for letter in sentence]
    for _, words in quotes():
        start = sentence.find(words)
        if start >= 0:
            is_covered[start : start + len(words)] = [True] * len(words)
    return "".join(
        letter if not done else " " for letter, done in zip(sentence, is_covered, strict=True)
    )


def test_comments_quote_the_specification_word_for_word():
    specification = plain(
        read_specification() + (ROOT / "docs" / "laws.md").read_text(encoding="utf-8")
    )
    wrong = [f"{name}: {words}" for name, words in quotes() if words not in specification]
    assert not wrong


@pytest.mark.parametrize(
    "law", [law for kind in TESTS for law in laws(kind)], ids=lambda law: law.name
)
def test_comments_quote_a_law_that_is_proved_and_no_other(law: Law):
    """All words of its sentence."""
    assert set(law.theorems) <= set(theorems())
    is_quoted = not uncovered(plain(law.sentence)).strip()
    assert is_quoted == bool(law.theorems), uncovered(plain(law.sentence)).split()


def constructors(field: str) -> list[str]:
    """Return the names that the values of a field have in Coq, in their order: as main.ml reads
    them. A report is the names of its conditions.
    """
    if field == "report":
        conditions = [condition.name.title().replace("_", "") for condition in Condition]
        sizes = range(1, len(conditions) + 1)
        return ["".join(some) for size in sizes for some in combinations(conditions, size)]
    program = (FOLDER / "main.ml").read_text(encoding="utf-8")
    program = program.replace("let operators = ", 'choose "r2s" ')
    words = dict(CONSTRUCTORS)
    for name, listed in re.findall(r'choose "(\w+)" \[((?:"[^"]+", \w+[;\s]*)+)\]', program):
        words |= {(name, word): value for word, value in re.findall(r'"([^"]+)", (\w+)', listed)}
    values = [str(value) for value in ENUMS[field]] + ["an integer"] * (field in INTEGRAL)
    return [words[field, value] for value in values]


def examples() -> Iterator[tuple[str, str, str]]:
    """Yield (field, value, value) for each example that tells two values apart, and is named so."""
    value = r"(\w+|\(\w+ \d+\)|\[[\w; ]+\])"
    pattern = rf"^Example (\w+) : of_(\w+) {value} <> of_(\w+) {value}\. Proof\. apart\. Qed\.$"
    # of t0 there are examples whose windows are time-based alone
    examples = sources()["Separations.v"].replace("of_t0_over_time", "of_t0")
    for name, field, one, of, other in re.findall(pattern, examples, re.M):
        first, second = ("".join(re.findall(r"[A-Z]\w*", value)) for value in (one, other))
        assert (of, name) == (field, f"{field}_{first}_{second}")
        yield field, first, second


def test_two_values_of_a_field_are_identified_or_told_apart():
    told = {(field, frozenset((one, other))) for field, one, other in examples()}
    assert len(told) == sources()["Separations.v"].count("Example ")
    assert set(IDENTIFIED.values()) <= set(theorems())
    pairs = {
        (field, frozenset(pair))
        for field in (*ENUMS, "report")
        if field not in IDENTIFIED
        for pair in combinations(constructors(field), 2)
    }
    assert told == pairs, f"{pairs - told} are missing, {told - pairs} are too many"


def test_each_file_is_built():
    assert sorted(project_files()) == sorted(sources())


def test_nothing_is_assumed():
    for name, source in sources().items():
        code = re.sub(r"\(\*.*?\*\)", "", source, flags=re.DOTALL)
        words = r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort|Unset|bypass_check)\b"
        assert not re.search(words, code), name
        # a hypothesis of a section is one of its theorems; outside of sections it would be an axiom
        depth = 0
        for line in code.splitlines():
            depth += bool(re.match(r"\s*Section ", line)) - bool(re.match(r"\s*End ", line))
            assert depth or not re.match(r"\s*(Hypothes[ie]s|Variables?|Context)\b", line), (
                name,
                line,
            )


def test_the_page_lists_what_has_no_theorem():
    section = PAGE.read_text(encoding="utf-8").split("## Not proved")[1].split("\n## ")[0]
    listed = set(re.findall(r"^- \[(.*?)\]", section, re.MULTILINE))
    assert listed == {law.title for law in laws("laws") if not law.theorems}


def rules_in(comment: str) -> set[str]:
    """Return the rules that a comment names. "TICK-1 to TICK-3" is three."""
    named = set(re.findall(r"\b[A-Z0-9]+-\d+\b", comment))
    for first, last in re.findall(r"\b([A-Z0-9]+-\d+) to ([A-Z0-9]+-\d+)\b", comment):
        stem = first.split("-")[0]
        named |= {f"{stem}-{n}" for n in range(int(first.split("-")[1]), int(last.split("-")[1]))}
    return named


def definitions_by_rule() -> dict[str, set[str]]:
    """Return the definitions of each rule that a comment names, with their files: those on the
    comment's line, and those from there to the next comment that names a rule.
    """
    found: dict[str, set[str]] = {}
    for path in DEFINITIONS:
        source = path.read_text(encoding="utf-8")
        comments = [
            (source.rfind("\n", 0, found.start()) + 1, rules_in(found[1]))
            for found in re.finditer(r"\(\*(.*?)\*\)", source, re.DOTALL)
        ]
        naming = [(start, named) for start, named in comments if named]
        ends = [*(start for start, _ in naming[1:]), len(source)]
        for (start, named), end in zip(naming, ends, strict=True):
            keywords = r"^\s*(?:Definition|Fixpoint|Record|Inductive) (\w+)"
            defined = re.findall(keywords, source[start:end], re.MULTILINE)
            for rule in named:
                found.setdefault(rule, set()).update(f"{path.name} {name}" for name in defined)
    return found


def linked_definitions() -> dict[str, set[str]]:
    """Return the definitions to which a rule links after its functions, with their files. Rules
    that share their functions share them.
    """
    linked: dict[str, set[str]] = {}
    for paragraph in rule_paragraphs(read_specification()):
        linked.setdefault(paragraph.rule, set())
        for shared, name, file in re.findall(
            r"\*Functions?\* (of both |of the three |)`.*? "
            r"\[`(\w+)`\]\((?:\.\./)?refengine/formal/(\w+\.v)\)",
            paragraph.text,
        ):
            for rule in list(linked)[-SHARED[shared] :]:
                linked[rule].add(f"{file} {name}")
    return linked


@pytest.mark.parametrize("section", ["MOD", "WIN", "TICK", "REP", "R2R", "R2S", "ENG"])
def test_each_rule_links_to_its_definition(section: str):
    """A comment at the definition names the rule. Of §7, few rules have one."""
    defined, linked = definitions_by_rule(), linked_definitions()
    ours = {rule for rule in rules(read_specification()) if rule.split("-")[0] == section}
    named = {rule for rule in defined if rule.split("-")[0] == section}
    excused = {rule for rule in WITHOUT_DEFINITION if rule.split("-")[0] == section}
    assert section == "R2R" or ours - named == excused
    assert named <= ours
    assert {rule for rule in ours if linked[rule]} == named
    assert not [rule for rule in named if not linked[rule] <= defined[rule]]
