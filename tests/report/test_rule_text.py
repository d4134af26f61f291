"""The text of a rule on a page: SPEC.md's Markdown as HTML, and the link to its section."""

from __future__ import annotations

from reports import WRONG, page_data, result

from conformance.corpus.rule_texts import RuleText, rule_paragraphs, rule_texts
from conformance.report import page, source

MARKDOWN = """*Choice `a*b*c`.* A < B:

| `x` | means |
|---|---|
| `p \\| q` | *one* |

1. First.
   - Inner."""


def test_a_rule_ends_before_the_next_one_and_before_a_heading():
    text = "# S\n\n**WIN-1** a\n\nb\n\n**WIN-2** c\n\n## §5 T\n\nno rule\n\n**REP-1** d"
    assert [tuple(paragraph) for paragraph in rule_paragraphs(text)] == [
        ("WIN-1", "S", "a"),
        ("WIN-1", "S", "b"),
        ("WIN-2", "S", "c"),
        ("REP-1", "§5 T", "d"),
    ]


def test_the_code_of_a_rule_is_none_of_its_paragraphs():
    text = (
        "**WIN-1** a\n\n<!--code:WIN-1-->\n\n```python\nx = 1\n\n# b\n```\n\n<!--end-->"
        "\n\nc\n\n**WIN-2** d\n\n<!--code:WIN-2-->\n\n<!--end-->\n\n**WIN-3** e"
    )
    assert [tuple(paragraph) for paragraph in rule_paragraphs(text)] == [
        ("WIN-1", "", "a"),
        ("WIN-1", "", "c"),
        ("WIN-2", "", "d"),
        ("WIN-3", "", "e"),
    ]


def test_each_rule_has_all_of_its_paragraphs():
    rule = rule_texts()["WIN-3"]
    assert rule.heading.startswith("§4 Windows")
    assert not rule.text.startswith("**WIN-3**") and "*Example* t0 = 3" in rule.text
    assert "WIN-4" not in rule.text.split()[0] and "**WIN-4**" not in rule.text


def test_markdown_becomes_html_and_all_else_is_escaped(monkeypatch):
    monkeypatch.setattr(
        page,
        "rule_texts",
        lambda: {"WIN-2": RuleText("", MARKDOWN, "§4 W — `m`", "4-w--m", "SPEC.md")},
    )
    monkeypatch.setattr(page, "repository_link", lambda: "https://example.org/x/y")
    (html,) = page.rules_in_html(["WIN-2", "NO-1"]).values()
    assert "<b>WIN-2</b> <em>Choice <code>a*b*c</code>.</em> A &lt; B:" in html
    assert '<th scope="col"><code>x</code></th>' in html
    assert "<td><code>p | q</code></td><td><em>one</em></td>" in html
    assert '<li>1. First.</li><li class="inner">- Inner.</li>' in html
    assert 'href="https://example.org/x/y/blob/HEAD/SPEC.md#4-w--m"' in html and ">§4 W</a>" in html


def test_the_address_of_the_repository_is_that_of_the_package(monkeypatch):
    class Stated:
        def get_all(self, name: str) -> list[str]:
            return ["Documentation, https://example.org/d", "Repository, https://example.org/r/"]

    monkeypatch.setattr(page, "metadata", lambda name: Stated())
    page.repository_link.cache_clear()
    assert page.repository_link() == "https://example.org/r"
    page.repository_link.cache_clear()


def test_a_page_has_the_text_of_rules_with_a_result_that_is_no_pass():
    found = [result(), result(case="WIN-3-a", rule="WIN-3", outcome="fail", evidence=WRONG)]
    html = page.page(source.of(found))
    data = page_data(html)
    assert list(data["rules"]) == ["WIN-3"]
