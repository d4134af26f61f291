"""What a page says of the changes since an earlier run."""

from __future__ import annotations

import re

from reports import BAD, WRONG, hostile, lines, result, write

from conformance.__main__ import main
from conformance.report import baseline, page, source

BEFORE = [
    result(case="WIN-2-a"),
    result(case="WIN-2-b", outcome="fail", evidence=WRONG),
    result(case="WIN-2-c", outcome="error", evidence=None),
    result(case="WIN-2-d", outcome="unsupported", evidence=None),
    result(case="WIN-2-e"),
]
AFTER = [
    result(case="WIN-2-a", outcome="fail", evidence=WRONG),
    result(case="WIN-2-b"),
    result(case="WIN-2-c", outcome="fail", evidence=WRONG),
    result(case="WIN-2-d"),
    result(case="WIN-2-e"),
    result(case="WIN-2-f"),
]


def shown(after, before) -> str:
    """The section of a page about changes."""
    html = page.page(source.of(after), source.of(before).entries)
    return re.search(r'<section aria-labelledby="baseline-title">.*?</section>', html, re.DOTALL)[0]


def test_changes_have_their_words_and_both_kinds():
    found = baseline.find_changes(source.of(BEFORE).entries, source.of(AFTER).entries)
    assert {word: [(one.case, one.kinds) for one in ones] for word, ones in found.items()} == {
        "broken": [("WIN-2-a", "pass → fail")],
        "fixed": [("WIN-2-b", "fail → pass")],
        "changed": [("WIN-2-c", "error → fail"), ("WIN-2-d", "unsupported → pass")],
        "new": [("WIN-2-f", "pass")],
    }


def test_a_page_has_the_changes_with_links_into_the_list(monkeypatch):
    html = shown(AFTER, BEFORE)
    assert re.findall(r"<summary>(.*?)</summary>", html) == [
        "broken: 1",
        "fixed: 1",
        "changed: 2",
        "new: 1",
    ]
    assert (
        '<a href="#suite=corpus&amp;case=WIN-2-a&amp;engine=mine">WIN-2-a</a> '
        "<span>mine: pass → fail</span>"
    ) in html
    assert "No result has changed" in shown(AFTER, AFTER)
    assert "baseline-title" not in page.page(source.of(AFTER))
    monkeypatch.setattr(page, "NOTED", 1)
    assert html.count("<li>") == 5 and "<li>1 more</li>" in shown(AFTER, BEFORE)


def test_an_engine_that_the_baseline_lacks_is_named_and_no_text_is_markup():
    html = shown([hostile()], [hostile(f"{BAD}2")])
    assert "the baseline has nothing of &lt;script&gt;" in html and "<script>" not in html


def test_the_command_compares_with_a_baseline(tmp_path, capsys):
    before, after = write(tmp_path / "b", *BEFORE), write(tmp_path / "a", *AFTER)
    words = ["report", str(after), "--baseline", str(before)]
    assert main([*words, "-o", str(tmp_path / "page.html")]) == 0
    assert "broken: 1" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert main([*words, "--badge", str(tmp_path / "b.svg")]) == 2
    error = "conformance: --baseline: usage: is for --html, which is not given\n"
    assert capsys.readouterr().err == error
    assert main([*words, "-o", str(before)]) == 2
    assert "this output would replace the input" in capsys.readouterr().err
    assert len(lines(before)) == len(BEFORE)
