"""The text of a rule of SPEC.md on a page, with a link to its section in the repository."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

from markupsafe import Markup, escape

from conformance.corpus.rule_texts import RuleText, rule_texts
from conformance.report import texts
from conformance.report.template import template

CODE = re.compile(r"`([^`]*)`")
BOLD = re.compile(r"\*\*([^*]+)\*\*")
STAND_IN = "\ufffc"  # for code, in which asterisks are no emphasis
ITALICS = re.compile(r"\*([^*\s][^*]*)\*")


def rules_in_html(rules: Iterable[str]) -> dict[str, str]:
    """Return the HTML of those of some rules that SPEC.md has, by their ids."""
    known = rule_texts()
    return {rule: _in_html(rule, known[rule]) for rule in sorted(set(rules)) if rule in known}


def _in_html(rule: str, rule_text: RuleText) -> str:
    """Return the HTML of a rule."""
    link = ""
    if repository := repository_link():
        link = f"{repository}/blob/HEAD/SPEC.md#{rule_text.anchor}"
    return template("rule.html.j2").render(
        heading=rule_text.heading.partition(" — ")[0],
        link=texts.link(link),
        blocks=list(_blocks(f"**{rule}** {rule_text.text}")),
    )


@cache
def repository_link() -> str:
    """Return the address of this project's repository, empty if the package does not state it."""
    try:
        stated = metadata("refengine").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    for line in stated:
        label, _, address = line.partition(", ")
        if label.lower() in ("repository", "source"):
            return texts.link(address.rstrip("/"))
    return ""


def _blocks(text: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the paragraphs of a text in Markdown: the kind of each (`table`, `list` or
    `paragraph`) with its rows of cells, or its lines.
    """
    for paragraph in text.split("\n\n"):
        lines = paragraph.splitlines()
        if lines[0].startswith("|"):
            yield "table", [_cells(line) for line in lines if not line.startswith("|--")]
        elif re.match(r"- |[0-9]+\. ", lines[0]):
            yield "list", [(line.startswith(" "), _inline(line.strip())) for line in lines]
        else:
            yield "paragraph", [_inline(" ".join(lines))]


def _cells(line: str) -> list[Markup]:
    """Return the cells of a row of a table."""
    cells = re.split(r"(?<!\\)\|", line.strip()[1:-1])
    return [_inline(cell.strip().replace("\\|", "|")) for cell in cells]


def _inline(text: str) -> Markup:
    """Return a line of Markdown as HTML: code, bold and italics; all else is text."""
    escaped = str(escape(text))
    codes = iter(CODE.findall(escaped))
    words = ITALICS.sub(r"<em>\1</em>", BOLD.sub(r"<b>\1</b>", CODE.sub(STAND_IN, escaped)))
    return Markup(re.sub(STAND_IN, lambda _: f"<code>{next(codes)}</code>", words))
