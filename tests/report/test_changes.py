"""What a page says of the changes since an earlier run."""

from __future__ import annotations

import re
from dataclasses import replace

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


def renamed(results, name):
    """Results as those of an engine of another name."""
    return [replace(one, engine=name) for one in results]


def described(before, after) -> list[str]:
    """The lines about the changes between two runs."""
    return list(baseline.describe_changes(source.of(before).entries, source.of(after).entries))


def test_an_engine_under_another_name_is_compared_and_that_is_said():
    first, *lines = described(BEFORE, renamed(AFTER, "mine-2"))
    assert first == (
        "the baseline has nothing of mine-2; it has mine: mine-2 is compared with it, since it has "
        "the same cases"
    )
    assert [line for line in lines if "since the baseline" in line] == [
        "broken since the baseline: 1",
        "fixed since the baseline: 1",
        "changed since the baseline: 2",
        "new since the baseline: 1",
    ]
    html = shown(renamed(AFTER, "mine-2"), BEFORE)
    assert "mine-2 is compared with it" in html and "mine-2: pass → fail" in html
    assert described(BEFORE, renamed(BEFORE, "mine-2"))[1:] == [
        "no result has changed since the baseline"
    ]


def test_an_engine_with_other_cases_is_not_compared_under_another_name():
    other = [result("yours", case=f"REP-1-{letter}") for letter in "abc"]
    first, *_ = described(BEFORE, other)
    assert first == "the baseline has nothing of yours; it has mine"
    found = baseline.find_changes(source.of(BEFORE).entries, source.of(other).entries)
    assert len(found["new"]) == 3


def test_of_several_engines_none_is_taken_for_another():
    before = [*BEFORE, *renamed(BEFORE, "yours")]
    first, second, *_ = described(before, renamed(AFTER, "mine-2"))
    assert first == (
        "the baseline has nothing of mine-2; it has mine, yours; to compare with one of these, "
        "give a file with its results alone"
    )
    assert second == "new since the baseline: 6"
    after = [*AFTER, *renamed(AFTER, "mine-2")]
    assert described(BEFORE, after)[0] == "the baseline has nothing of mine-2; it has mine"
    assert described([], AFTER)[0] == "the baseline has nothing of mine; it has no results"


def test_the_name_of_an_engine_in_a_baseline_does_not_steer_the_terminal():
    [first, *_] = described(renamed(BEFORE, "\x1b[2J\u202e" + "x" * 5000), AFTER)
    assert first.isprintable() and len(first) <= 2000


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
