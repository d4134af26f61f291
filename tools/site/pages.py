"""The pages of the site, made from the Markdown of the repository: each at its own path, so that
its links hold. Rules get an anchor, what they are checked by, and links from where they are named.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache, partial
from html import escape
from pathlib import Path

from conformance.corpus import cases
from conformance.corpus.case_file import Case
from conformance.corpus.detection import wrong_engines_of
from conformance.corpus.rule_texts import ID, rule_texts
from refengine.drawings.style import DARK, LIGHT, style
from tools.site.fields import field_page
from tools.site.playground_files import SITE, write
from tools.site.questions import CASE_PATH, ROOT, examples
from tools.site.reference import reference_pages, write_sources

LEFT_OUT = {".github"}
LINK = re.compile(r"(!?\[[^\]\n]*\])\(([^)\s]+)\)")
# what is no prose: code, links, HTML, headings
APART = re.compile(
    r"(^```.*?^```$|^#.*?$|`[^`\n]*`|!?\[[^\]\n]*\]\([^)\n]*\)|\[[^\]\n]*\]|<[^>\n]*>|https?://\S+)",
    re.DOTALL | re.MULTILINE,
)
RULE = re.compile(rf"\b{ID}\b")
RULE_BEGINS = re.compile(rf"^\*\*({ID})\*\* ")
FENCE = "```"


def write_pages(folder: Path) -> None:
    """Write the sources of the site into a folder: its configuration, and in `pages` its pages."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    for name in page_names():
        text = (ROOT / name).read_text(encoding="utf-8")
        target = pages / ("index.md" if name == "README.md" else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        write(target, page_text(name, text, pages))
    write(pages / "fields.md", with_links_to_rules("fields.md", field_page()))
    references = dict(reference_pages())
    for name, text in references.items():
        (pages / name).parent.mkdir(exist_ok=True)
        write(pages / name, text)
    write_sources(folder / "sources", partial(with_links_to_rules, "reference/index.md"))
    write(pages / "site.css", site_style())
    shutil.copy(SITE / "site.js", pages)
    write(folder / "zensical.toml", configuration(list(references)))


def page_names() -> list[str]:
    """Return the Markdown files of the repository, by their paths."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [name for name in listed if name.split("/")[0] not in LEFT_OUT]


def configuration(references: list[str]) -> str:
    """Return the configuration of the site, with what is listed by the builder."""
    names = page_names()
    engines = [name for name in names if name.startswith("docs/evidence/engines/")]
    evidence = [n for n in names if n.startswith("docs/evidence/") and n not in engines]
    text = (SITE / "zensical.toml").read_text(encoding="utf-8")
    lists = {"ENGINES": engines, "EVIDENCE": evidence, "REFERENCE": references}
    for key, listed in lists.items():
        text = text.replace(f"@{key}@", ", ".join(f'"{name}"' for name in listed))
    return text


# Pages


def page_text(name: str, text: str, pages: Path) -> str:
    """Return a page of the site from the page of the repository. The files that it links to are
    copied beside it.
    """
    text = LINK.sub(lambda found: _link(found, name, pages), text)
    text = with_anchors(text)
    text = CASE_PATH.sub(_linked_case, text)
    text = with_links_to_rules(name, text)
    if name == "README.md":
        heading, _, rest = text.partition("\n")
        return f"{heading}\n\n{PLAYGROUND}\n{rest}"
    return text


PLAYGROUND = (
    '<p><a class="md-button md-button--primary" href="playground/">Open the playground</a></p>\n'
)


def _linked_case(found: re.Match[str]) -> str:
    """Return the path of a case as a link to the playground, where that can ask it."""
    question = questions_by_case().get(found[1].removesuffix(".toml"))
    return found[0] if question is None else f"[{found[0]}](@SITE@playground/#case={question})"


def _link(found: re.Match[str], name: str, pages: Path) -> str:
    """Return a link of a page. A folder is no page, so that its name stays without a link."""
    words, target = found.groups()
    file, hash_sign, place = target.partition("#")
    if not file or "://" in target or target.startswith("mailto:"):
        return found[0]
    path = Path(os.path.normpath(Path(name).parent / file))
    if (ROOT / path).is_dir():
        return words[1:-1]
    if path.name == "README.md":
        file = os.path.relpath("index.md", Path(name).parent)
    elif path.suffix != ".md":
        (pages / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, pages / path)
    return f"{words}({file}{hash_sign}{place})"


def with_anchors(text: str) -> str:
    """Return a page whose rules have an anchor, and behind them what they are checked by."""
    lines: list[str] = []
    rule = ""
    is_code = False
    for line in text.splitlines():
        is_code ^= line.startswith(FENCE)
        begins = None if is_code else RULE_BEGINS.match(line)
        if rule and (begins or (not is_code and line.startswith("#"))):
            lines += [checks_of(rule), ""]
            rule = ""
        if begins:
            rule = begins[1]
            anchor = f'<span id="{rule.lower()}"></span>[**{rule}**](#{rule.lower()})'
            line = f"{anchor} {line[begins.end() :]}"
        lines.append(line)
    if rule:
        lines += ["", checks_of(rule)]
    return "\n".join(lines) + "\n"


def checks_of(rule: str) -> str:
    """Return what checks a rule, as HTML: its cases, which lead to the playground where it can ask
    them, and its wrong engines.
    """
    can_be_asked = questions_by_case()
    named = [
        _case_item(can_be_asked.get(case.path.removesuffix(".toml")), case.name)
        for case in cases_by_rule().get(rule, ())
    ]
    broken = [f"<li>{escape(one.name)}</li>" for one in wrong_engines_of(rule)]
    return (
        f"<details><summary>{len(named)} cases and {len(broken)} wrong engines of {rule}</summary>"
        f"<p>Cases</p><ul>{''.join(named)}</ul>"
        f"<p>Wrong engines</p><ul>{''.join(broken)}</ul></details>"
    )


def _case_item(question: str | None, name: str) -> str:
    if question is None:
        return f"<li>{escape(name)}</li>"
    address = f"@SITE@playground/#case={question}"
    return f'<li><a href="{address}">{escape(name)}</a></li>'


@cache
def cases_by_rule() -> Mapping[str, Sequence[Case]]:
    """Return the cases of each rule."""
    found: dict[str, list[Case]] = {}
    for case in cases():
        found.setdefault(case.rule, []).append(case)
    return found


@cache
def questions_by_case() -> Mapping[str, str]:
    """Return the first question of the playground about each case."""
    found: dict[str, str] = {}
    for example in examples():
        found.setdefault(example["id"].partition(":")[0], example["id"])
    return found


def with_links_to_rules(name: str, text: str) -> str:
    """Return a page in which each rule that is named in prose leads to the rule."""
    texts = rule_texts()
    folder = Path(name).parent
    to_site = "../" * (len(Path(name).parts) - 1)

    def linked(found: re.Match[str]) -> str:
        rule = texts.get(found[0])
        if rule is None:
            return found[0]
        page = os.path.relpath(rule.page, folder)
        target = "" if rule.page == name else page
        return f"[{found[0]}]({target}#{found[0].lower()})"

    parts = APART.split(text)
    prose = [
        RULE.sub(linked, part) if number % 2 == 0 else part for number, part in enumerate(parts)
    ]
    return "".join(prose).replace("@SITE@", to_site)


def site_style() -> str:
    """Return the style sheet of the drawings, in the colours of the theme that is chosen."""
    plain = style(".drawing").split("\n", 2)[2]
    return (
        f".drawing {{ {LIGHT} }}\n[data-md-color-scheme=slate] .drawing {{ {DARK} }}\n{plain}\n"
        + (SITE / "site.css").read_text(encoding="utf-8")
    )
