"""The text of each rule, as its page has it: SPEC.md, or one of the pages that SPEC.md leads to.

The code that SPEC.md shows with a rule (`tools.make_tables` writes it) is no part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ID = r"[A-Z][A-Z0-9]+-[1-9][0-9]*"
PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = (PACKAGE / "specification", PACKAGE.parent)  # installed, and in a checkout
# the pages of rules, in the order of their sections: what a query means, then what is around it
PAGES = (
    "SPEC.md",
    "docs/firings.md",
    "docs/incremental.md",
    "docs/judging.md",
    "docs/files.md",
    "docs/dialects.md",
    "docs/joins.md",
)


class RuleText(NamedTuple):
    """The text of a rule: its `title`, which is its first sentence; the whole `text` in Markdown,
    without the id and links; the `heading` of its section, the heading's `anchor`, and the `page`
    that has the section.
    """

    title: str
    text: str
    heading: str
    anchor: str
    page: str


class RuleParagraph(NamedTuple):
    """A paragraph of a rule without the rule's id, and the heading of the rule's section."""

    rule: str
    heading: str
    text: str


def read_pages() -> dict[str, str]:
    """Return the text of each page of rules by its name, from the package or from the checkout
    around it, without the code of rules.
    """
    folder = next(folder for folder in FOLDERS if (folder / PAGES[0]).is_file())
    return {page: without_code((folder / page).read_text(encoding="utf-8")) for page in PAGES}


def without_code(text: str) -> str:
    """Return the text of a page without the code of its rules, and without what marks it.

    >>> without_code("Before.\\n\\n<!--code:WIN-1-->\\n\\nx = 1\\n\\n<!--end-->\\n\\nAfter.")
    'Before.\\n\\nAfter.'
    """
    return re.sub(rf"<!--code:{ID}-->\n.*?<!--end-->\n*", "", text, flags=re.DOTALL)


def read_specification() -> str:
    """Return the text of all pages of rules, one after the other."""
    return "\n".join(read_pages().values())


@cache
def rule_texts() -> dict[str, RuleText]:
    """Return the text of each rule by its id, in the order of the pages."""
    pages = read_pages().items()
    return {
        rule: rule_text
        for page, text in pages
        for rule, rule_text in rule_texts_of(text, page).items()
    }


def rule_texts_of(text: str, page: str) -> dict[str, RuleText]:
    """Return the text of each rule of a page by its id, in the page's order."""
    paragraphs: dict[str, list[str]] = {}
    headings: dict[str, str] = {}
    for rule, heading, paragraph in rule_paragraphs(text):
        without_coq = re.sub(r" \[[^]]+\]\([^)]+/formal/\w+\.v\)\.", "", paragraph)
        without_links = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", without_coq)
        paragraphs.setdefault(rule, []).append(without_links)
        headings[rule] = heading
    return {
        rule: RuleText(
            _first_sentence(of_rule[0]),
            "\n\n".join(of_rule),
            headings[rule],
            _anchor(headings[rule]),
            page,
        )
        for rule, of_rule in paragraphs.items()
    }


def rule_paragraphs(specification: str) -> Iterator[RuleParagraph]:
    """Yield the paragraphs of the rules of a specification in its order.

    A rule begins with a paragraph that begins with its id in bold, and ends before the next one or
    before a heading. Its code is not among its paragraphs.
    """
    rule = heading = ""
    for paragraph in re.split(r"\n\s*\n", without_code(specification).strip()):
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
