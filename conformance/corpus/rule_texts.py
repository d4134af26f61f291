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
    """The text of a rule in Markdown, and the heading of its section."""

    heading: str
    text: str


class RuleParagraph(NamedTuple):
    """A paragraph of a rule, and the heading of the rule's section."""

    rule: str
    heading: str
    text: str


def rule_paragraphs(text: str) -> Iterator[RuleParagraph]:
    """Yield the paragraphs of the rules of a specification in its order.

    A rule begins with a paragraph that begins with its id in bold, and ends before the next one or
    before a heading.
    """
    rule = heading = ""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if start := re.match(rf"\*\*({ID})\*\* ", paragraph):
            rule = start[1]
        elif paragraph.startswith("#"):
            rule = ""
            heading = paragraph.splitlines()[0].lstrip("# ")
        if rule:
            yield RuleParagraph(rule, heading, paragraph)


@cache
def rule_texts() -> dict[str, RuleText]:
    """Return the text of each rule by its id; nothing where SPEC.md is not installed."""
    specification = next((path for path in PLACES if path.is_file()), None)
    if specification is None:
        return {}
    rules: dict[str, RuleText] = {}
    for rule, heading, text in rule_paragraphs(specification.read_text(encoding="utf-8")):
        if rule in rules:
            text = f"{rules[rule].text}\n\n{text}"
        rules[rule] = RuleText(heading, text)
    return rules
