"""What a page says of rules and of diagnoses: the verdict in each cell, the totals of an engine,
and the causes of its fails.
"""

from __future__ import annotations

import re
from html import unescape

from reports import BAD, EXAMINED, RIGHT, WRONG, page_data, result

from conformance.report import causes, page, source
from conformance.verdict.results import DiagnosedCause, KnownDeviation


def shown(*found) -> str:
    """The page of results, without its data."""
    return page.page(source.of(found)).split('id="data">')[0]


def data_of(*found) -> dict:
    """The data of the page of results."""
    return page_data(page.page(source.of(found)))


def cell(html: str, rule: str, engine: str = "mine") -> tuple[str, str, str, str]:
    """The class, the link, the title and the text of a rule's cell."""
    label = rf'aria-label="{rule}, {engine}: [^"]*"'
    pattern = rf'<a {label} class="cell (.*?)" href="(.*?)" title="(.*?)">(.*?)</a>'
    style, link, title, text = re.search(pattern, html).groups()
    return style, unescape(link), unescape(title), re.sub(r"<.*?>", "", text)


def test_a_cell_has_the_verdict_on_its_rule_and_why():
    html = shown(*EXAMINED)
    assert cell(html, "WIN-1") == (
        "holds",
        "#rule=WIN-1&engine=mine",
        "the wrong engine 'WIN-1 no window' would have failed; smallest case WIN-1-a; "
        "results: 1 pass",
        "holds 1/1",
    )
    assert cell(html, "WIN-2")[0] == "broken"
    assert cell(html, "WIN-2")[2].startswith(
        "closure is [] (WIN-2); it is not in reach, so it is not counted there; "
        "smallest case REP-2-a; "
    )
    assert cell(html, "WIN-3")[::3] == ("broken-known", "broken, known 0/1")
    assert cell(html, "REP-1")[::3] == ("not-in-reach", "not in reach 0/1")
    assert cell(html, "REP-2")[::3] == ("not-shown", "not shown rests on WIN-2")
    assert cell(html, "REP-3")[::3] == ("not-asked", "not asked 1/1")


def test_a_rule_that_holds_in_failing_cases_alone_names_the_rules_by_which_they_fail():
    windows = KnownDeviation("wrong windows", "https://example.org", ("WIN-3",), True)
    failing = result(
        case="MOD-1-a",
        rule="MOD-1",
        outcome="fail",
        known=(windows,),
        caught_wrong_engine="MOD-1 x",
        caught_when_granted="MOD-1 x",
    )
    _, _, title, text = cell(shown(failing), "MOD-1")
    assert text == "holds but for WIN-3"
    assert "the answers are wrong by WIN-3 alone" in title


def test_a_rule_that_is_broken_by_cases_of_others_leads_to_such_a_case():
    html = shown(*EXAMINED)
    style, link, title, text = cell(html, "TICK-6")
    assert (style, text) == ("broken", "broken")
    assert link == "#case=WIN-2-b&engine=mine" and "results:" not in title


def test_totals_count_the_rules_of_each_engine():
    html = shown(*EXAMINED, result(engine="older"))
    table = re.search(r'class="engines rule-totals">.*?</table>', html, re.DOTALL)[0]
    heads = re.findall(r'<th scope="col">([^<]*)</th>', table)
    numbers = re.findall(r"<td data-name[^>]*>(\d+(?: <small>\+ \d+</small>)?)</td>", table)
    assert list(zip(heads[1:], numbers, strict=True)) == [
        ("in reach", "2"),
        ("holds", "1"),
        ("broken", "0 <small>+ 2</small>"),
        ("broken, known", "0 <small>+ 1</small>"),
        ("fails, unexplained", "0 <small>+ 1</small>"),
        ("not shown", "1"),
        ("not asked", "1"),
        ("not in reach", "1"),
    ]


def test_results_that_were_never_examined_have_outcomes_and_the_page_says_so():
    html = shown(*EXAMINED, result(engine="older"))
    assert cell(html, "WIN-2", "older")[::3] == ("pass", "pass 1")
    assert "The results of older were never examined" in html
    assert "never examined" not in shown(*EXAMINED)
    assert "Verdicts on rules" not in shown(result(), result(engine="older"))
    recording = result(engine="csparql", rule="", suite="csrbench", case="Q1")
    assert "never examined" not in shown(*EXAMINED, recording), "it has nothing about rules"


def test_the_list_has_the_verdicts_with_their_reasons():
    data = data_of(*EXAMINED)
    verdicts = {rule: (data["kinds"][kind], why) for _, rule, kind, why in data["verdicts"]}
    assert verdicts["REP-2"][0] == "not shown"
    assert data["texts"][verdicts["R2S-1"][1]] == (
        "1 case fails, and no cause is known; it is not in reach, so it is not counted there; "
        "smallest case R2S-1-a"
    )


def test_a_diagnosis_has_its_causes_and_what_is_left():
    (found,) = causes.diagnoses(source.of(EXAMINED).entries)
    assert (found.engine, found.total) == ("mine", 4)
    assert [(cause.reason, cause.fails.number, cause.fails.case) for cause in found.causes] == [
        ("closure is [] (WIN-2)", 3, "REP-2-a"),
        ("close_rule is passed (TICK-6)", 1, "WIN-2-b"),
    ]
    assert found.causes[0].entry == "[[deviations]]\nclosure"
    assert (found.unexplained.number, found.unexplained.case) == (1, "R2S-1-a")
    assert found.unexplained.link == "#cause=none&engine=mine"
    data = data_of(*EXAMINED)
    named = {data["cases"][row[1]][2]: [data["causes"][n] for n in row[6]] for row in data["rows"]}
    assert named["WIN-2-b"] == ["closure is [] (WIN-2)", "close_rule is passed (TICK-6)"]
    assert named["R2S-1-a"] == []


def test_fails_that_nobody_looked_at_together_have_no_diagnosis():
    fail = result(outcome="fail", evidence=WRONG)
    assert list(causes.diagnoses(source.of([fail, result(case="WIN-2-b")]).entries)) == []
    assert "diagnosis-title" not in shown(fail)


def test_no_text_of_a_verdict_or_a_cause_is_markup_and_all_are_bounded():
    long = BAD * 10_000
    hostile = DiagnosedCause(long, (long,) * 50, False, long)
    found = [
        result(case=f"{BAD}{n}", rule=BAD, outcome="fail", evidence=RIGHT, causes=(hostile,))
        for n in range(3)
    ]
    html = page.page(source.of([*found, result(rule=long, caught_wrong_engine=long)]))
    assert len(html) < 150_000 and html.count("<script") == 3
    assert not re.search(r"<script>alert", html.replace("\\u003cscript", ""))
