"""The glossary is short and has sources, and names consist of words that a reader knows: words of
the glossary, or plain English words.

The plain words stand in `plain_words.txt`. A word belongs there if a reader who knows RDF streams
understands it without this project. A word with a special meaning belongs in `docs/concepts.md`,
and an abbreviation in neither: the name is the thing to change.
"""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from conformance.corpus.rule_texts import rule_texts
from refengine.core.semantics import Semantics

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "concepts.md"
PLAIN = (ROOT / "tests" / "plain_words.txt").read_text(encoding="utf-8").split()
MOST_TERMS = 60
SOURCES = r"""
    SECRET\ §[\d.]+ | CQL\ §[\d.]+ | SPARQL\ 1\.1\ §[\d.]+
    | CSRBench\ (?:§\d|Table\ \d) | RSP-QL | YABench | LSBench
    | (?:SPEC|firings|incremental|judging)\.md\ [A-Z][A-Z0-9]+-\d+
    | PROTOCOL\.md | CONTRIBUTING\.md | docs/test-your-engine\.md
"""
FIELDS = [field.name for field in fields(Semantics)]


class Entry(NamedTuple):
    """A line of the glossary."""

    term: str
    meaning: str
    source: str


def read_entries() -> list[Entry]:
    """Return the lines of the glossary's table, without its head."""
    lines = re.findall(r"^\| (.*) \| (.*) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    return [Entry(*line) for line in lines[1:]]


ENTRIES = read_entries()


def split_words(name: str) -> list[str]:
    """Return the words of a name, in small letters: `RelationToStream`, `R2S`, `t0`, `wrong
    engine`.
    """
    pattern = r"[A-Za-z]\d[A-Za-z]?(?![a-z])|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"
    return [word.lower() for word in re.findall(pattern, name)]


KNOWN = {*PLAIN, "refengine", "spark"}.union(*(split_words(entry.term) for entry in ENTRIES))


def unknown_words(name: str) -> list[str]:
    """Return the words of a name that are neither known nor the plural of a known word."""
    return [
        word
        for word in split_words(name)
        if not KNOWN & {word, word.removesuffix("s"), word.removesuffix("es")}
    ]


@cache
def public_classes() -> list[tuple[str, str]]:
    """Return the file and the name of every public class of the two packages."""
    return [
        (str(path.relative_to(ROOT)), node.name)
        for package in ("refengine", "conformance")
        for path in sorted((ROOT / package).rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def test_a_name_is_split_into_its_words() -> None:
    assert split_words("RelationToStream") == ["relation", "to", "stream"]
    assert split_words("DefinitionWithR2S") == ["definition", "with", "r2s"]
    assert split_words("T0") == split_words("t0") == ["t0"] and split_words("r2s") == ["r2s"]
    assert split_words("tuple-based window") == ["tuple", "based", "window"]
    assert split_words("XMLReader") == ["xml", "reader"]
    assert unknown_words("XmlWindows") == ["xml"]


def test_the_glossary_is_short() -> None:
    assert 40 <= len(ENTRIES) <= MOST_TERMS


def test_the_glossary_is_sorted() -> None:
    terms = [entry.term.strip("`").lower() for entry in ENTRIES]
    assert terms == sorted(set(terms))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.term)
def test_a_term_has_one_sentence_and_a_source(entry: Entry) -> None:
    assert entry.meaning.endswith(".") and ". " not in entry.meaning
    for source in entry.source.split(", "):
        assert re.fullmatch(SOURCES, source, re.VERBOSE), f"{entry.term}: the source {source!r}"


def test_the_rules_that_are_sources_are_on_the_page_that_is_named() -> None:
    pages = {rule: Path(text.page).name for rule, text in rule_texts().items()}
    named = [
        found
        for entry in ENTRIES
        for found in re.findall(r"(\w+\.md) ([A-Z][A-Z0-9]+-\d+)", entry.source)
    ]
    assert len(named) > 40
    assert [(page, rule) for page, rule in named if pages.get(rule) != page] == []


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_of_the_semantics_is_a_term(name: str) -> None:
    terms = {entry.term for entry in ENTRIES}
    assert f"`{name}`" in terms, f"docs/concepts.md lacks the field `{name}`"


def test_class_names_consist_of_known_words() -> None:
    unknown = {
        f"{file}: class {name}: {', '.join(words)}"
        for file, name in public_classes()
        if (words := unknown_words(name))
    }
    assert not unknown, (
        "these words are neither in a term of docs/concepts.md nor in tests/plain_words.txt; "
        "change the name, or add a word that every reader knows to tests/plain_words.txt, "
        "or a term to docs/concepts.md:\n" + "\n".join(sorted(unknown))
    )


def test_plain_words_are_sorted_words_that_names_use() -> None:
    assert sorted(set(PLAIN)) == PLAIN and all(re.fullmatch("[a-z]+", word) for word in PLAIN)
    used = {word for _, name in public_classes() for word in split_words(name)}
    singular = {word.removesuffix("s") for word in used} | {
        word.removesuffix("es") for word in used
    }
    idle = sorted(set(PLAIN) - used - singular)
    assert not idle, f"no class name uses {idle}: remove them from tests/plain_words.txt"
    terms = {word for entry in ENTRIES for word in split_words(entry.term)}
    twice = sorted(terms & set(PLAIN))
    assert not twice, f"{twice} are in docs/concepts.md: remove them from tests/plain_words.txt"
