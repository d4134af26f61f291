"""The text of each rule, as SPEC.md has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ID = r"[A-Z][A-Z0-9]+-[1-9][0-9]*"
PACKAGE = Path(__file__).resolve().parents[1]
PLACES = (PACKAGE / "SPEC.md", PACKAGE.parent / "SPEC.md")  # installed, and in a checkout


class RuleText(NamedTuple):
    """The text of a rule: its `title`, which is its first sentence; the whole `text` in Markdown,
    without the id; the `heading` of its section in SPEC.md, and the heading's `anchor`.
    """

    title: str
    text: str
    heading: str
    anchor: str


class RuleParagraph(NamedTuple):
    """A paragraph of a rule without the rule's id, and the heading of the rule's section."""

    rule: str
    heading: str
    text: str


def read_specification() -> str:
    """Return the text of SPEC.md, from the package or from the checkout around it."""
    specification = next(path for path in PLACES if path.is_file())
    return specification.read_text(encoding="utf-8")


@cache
def rule_texts() -> dict[str, RuleText]:
    """Return the text of each rule of SPEC.md by its id, in its order."""
    return rule_texts_of(read_specification())


def rule_texts_of(specification: str) -> dict[str, RuleText]:
    """Return the text of each rule of a specification by its id, in its order."""
    paragraphs: dict[str, list[str]] = {}
    headings: dict[str, str] = {}
    for rule, heading, text in rule_paragraphs(specification):
        paragraphs.setdefault(rule, []).append(text)
        headings[rule] = heading
    return {
        rule: RuleText(
            _first_sentence(of_rule[0]),
            "\n\n".join(of_rule),
            headings[rule],
            _anchor(headings[rule]),
        )
        for rule, of_rule in paragraphs.items()
    }


def rule_paragraphs(specification: str) -> Iterator[RuleParagraph]:
    """Yield the paragraphs of the rules of a specification in its order.

    A rule begins with a paragraph that begins with its id in bold, and ends before the next one or
    before a heading.
    """
    rule = heading = ""
    for paragraph in re.split(r"\n\s*\n", specification.strip()):
        text = paragraph
        if start := re.match(rf"\*\*({ID})\*\* ", paragraph):
            rule = start[1]
            text = paragraph[start.end() :]
        elif paragraph.startswith("#"):
            rule = ""
            heading = paragraph.splitlines()[0].lstrip("# ")
        if rule:
            yield RuleParagraph(rule, heading, text)


def _anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it: small letters, digits, and a hyphen for
    each space.
    """
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def _first_sentence(paragraph: str) -> str:
    """Return the first sentence of a rule, without the choice that may stand before it."""
    statement = re.sub(r"^\*[^*]+\*\s+", "", paragraph)
    return re.split(r"(?<=\.)\s", statement, maxsplit=1)[0].rstrip(".:")
