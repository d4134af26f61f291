"""The theorems in `refengine/formal` say what SPEC.md says, and rest on nothing."""

from __future__ import annotations

import re
from functools import cache

import pytest
from formal_program import DEFINITIONS, FOLDER

from conformance.corpus.rule_texts import read_specification
from conformance.corpus.specification import rules
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


@pytest.mark.parametrize("section", ["MOD", "WIN", "TICK", "REP", "R2S", "ENG"])
def test_each_rule_names_its_definition(section: str):
    """Comments of `Definitions.v` name the rules of §1, §4 to §6, §8 and §9."""
    source = DEFINITIONS.read_text(encoding="utf-8")
    comments = " ".join(re.findall(r"\(\*(.*?)\*\)", source, re.DOTALL))
    named = set(re.findall(r"\b[A-Z0-9]+-\d+\b", comments))
    for first, last in re.findall(r"\b([A-Z0-9]+-\d+) to ([A-Z0-9]+-\d+)\b", comments):
        stem = first.split("-")[0]
        named |= {f"{stem}-{n}" for n in range(int(first.split("-")[1]), int(last.split("-")[1]))}
    specified = rules(read_specification())
    ours = {rule for rule in specified if rule.split("-")[0] == section}
    excused = {rule for rule in WITHOUT_DEFINITION if rule.split("-")[0] == section}
    assert ours - named == excused
    assert not {rule for rule in named if rule.split("-")[0] == section} - ours
