"""The sources of the site; `make site` builds it of them, and fails on a link that is broken."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conformance.corpus.rule_texts import PAGES, rule_texts
from tools.site import links, pages, reference
from tools.site.questions import ROOT, examples, question_of_value, values


def listed(nav: Any) -> list[str]:
    """Return the pages of a navigation, whatever they stand in."""
    if isinstance(nav, str):
        return [nav]
    entries = nav.values() if isinstance(nav, dict) else nav
    return [page for entry in entries for page in listed(entry)]


def test_every_page_is_in_the_navigation() -> None:
    references = [name for name, _ in reference.reference_pages()]
    nav = listed(tomllib.loads(pages.configuration(references))["project"]["nav"])
    assert len(nav) == len(set(nav)) and len(references) > 8
    own = {"index.md" if name == "README.md" else name for name in pages.page_names()}
    assert set(nav) == own | {"fields.md", "playground/", *references}


def test_every_rule_has_its_anchor_once(tmp_path: Path) -> None:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        made = pages.page_text(page, text, tmp_path)
        rules = [rule.lower() for rule, found in rule_texts().items() if found.page == page]
        assert re.findall(r'<span id="([a-z0-9-]+)">', made) == rules
        assert made.count("<details>") == len(rules)
        assert "@SITE@" not in made and not re.search(r"^\*\*[A-Z]+-\d+\*\*", made, re.MULTILINE)


def test_a_rule_that_is_named_leads_to_its_page() -> None:
    text = "As WIN-2 says (`WIN-2`, [WIN-2](x), ORA-3).\n\n# WIN-2\n\n```\nWIN-2\n```\n\nNOT-9\n"
    assert pages.with_links_to_rules("docs/laws.md", text) == (
        "As [WIN-2](../SPEC.md#win-2) says (`WIN-2`, [WIN-2](x), [ORA-3](judging.md#ora-3))."
        "\n\n# WIN-2\n\n```\nWIN-2\n```\n\nNOT-9\n"
    )
    assert pages.with_links_to_rules("SPEC.md", "WIN-2") == "[WIN-2](#win-2)"


def test_links_to_files_bring_them_and_links_to_folders_go(tmp_path: Path) -> None:
    text = "[a](../SPEC.md#x) [b](../README.md) [c](../tests/harnesses/tumbling.sh) [d](../docs)"
    assert pages.page_text("docs/embed.md", text, tmp_path) == (
        "[a](../SPEC.md#x) [b](../index.md) [c](../tests/harnesses/tumbling.sh) d\n"
    )
    assert (tmp_path / "tests" / "harnesses" / "tumbling.sh").is_file()


def test_each_value_has_a_question() -> None:
    """What docs/values.md lists can be asked in the playground."""
    without = [value for value in values() if question_of_value(value) is None]
    assert len(values()) > 110 and not without
    has_it = [value for value in values() if value.is_in(question_of_value(value) or {})]
    assert len(has_it) >= len(values()) - 6
    ids = [example["id"] for example in examples()]
    assert len(ids) == len(set(ids))


def test_public_names_are_where_the_reference_says() -> None:
    for _, text in reference.reference_pages():
        for name in re.findall(r"^::: (.*)$", text, re.MULTILINE):
            assert name.count(".") >= 1 and name.split(".")[0] in ("refengine", "conformance")
    first = dict(reference.reference_pages())["reference/evaluate-a-query.md"]
    assert "::: refengine.core.engine.evaluate\n" in first


@pytest.mark.parametrize(
    ("link", "is_broken"),
    [
        ("b/", False),
        ("b/#here", False),
        ("b/#case=x", False),
        ("/b/#here", False),
        ("https://example.org/none", False),
        ("b/#there", True),
        ("c/", True),
        ("#there", True),
    ],
)
def test_broken_links_are_found(tmp_path: Path, link: str, is_broken: bool) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<h1 id="here">B</h1>', encoding="utf-8")
    (tmp_path / "index.html").write_text(f'<a href="{link}">b</a>', encoding="utf-8")
    expected = [f"index.html: {link}"] if is_broken else []
    assert links.broken_links(tmp_path) == expected
