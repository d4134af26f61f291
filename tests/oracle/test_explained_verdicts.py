"""What a verdict says of itself: a few lines, a short repr, a table for notebooks. And values that
can be pickled and hashed.
"""

from __future__ import annotations

import pickle
import re
from collections import Counter
from html.parser import HTMLParser

import pytest

import refengine
from refengine import (
    Engine,
    NoSingleAnswer,
    Profile,
    RefengineError,
    Relation,
    evaluate,
    from_table,
    incremental,
    judge,
    plan,
    profile,
    row,
    stream,
)
from refengine.oracle.judge import Judgement

QUERY = from_table(
    windows=[{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
    body="SELECT ?x WHERE { ?x <urn:p> ?y }",
)
ELEMENTS = stream([(("<urn:a>", "<urn:p>", "<urn:y>"), 3), (("<urn:b>", "<urn:p>", "<urn:y>"), 10)])
A, B = row({"x": "<urn:a>"}), row({"x": "<urn:b>"})
CSPARQL = profile("csparql")


def verdict(*bags: Counter, **options: object) -> Judgement:
    recorded = [Relation(("x",), bag) for bag in bags]
    return judge(QUERY, {"s": ELEMENTS}, CSPARQL, recorded, missing=0, **options)  # type: ignore[arg-type]


PASS = verdict(Counter([A]), Counter([B]))
FAIL = verdict(Counter([A]), Counter([A, B]))


def test_a_pass_says_why():
    """By hand, as docs/judge-recordings.md says: t0 = -10 stands for -16 to -10."""
    lines = PASS.explain().splitlines()
    assert lines[0] == "pass: with t0=-10 (every t0 from -16 to -10 gives the same reports)"
    assert lines[1] == "  outputs not recorded: 0 before the first relation, 0 after the last"
    assert lines[2].startswith("  semantics: t0=-10 closure=[) report=non-empty,window-close")
    assert lines[3].startswith("  judged by value mode, at most 0 at each end not recorded; ")
    assert lines[3].endswith("confirmed by rdflib and pyoxigraph")
    assert str(PASS) == PASS.explain()


def test_a_fail_says_where_it_diverges():
    lines = FAIL.explain().splitlines()
    assert lines[0].startswith("fail: no assignment gives these relations; the nearest has t0=")
    assert "  first divergence, relation 2 of 2: window [" in lines[1]
    assert lines[2:5] == [
        "    expected 1 row: {x: <urn:b>}",
        "    recorded 2 rows: {x: <urn:a>}, {x: <urn:b>}",
        "    too many: 1 row: {x: <urn:a>}",
    ]


def test_wrong_windows_are_named():
    found = verdict(Counter([A]), Counter([B]), windows=[(-10, 0), (0, 10)])
    assert not found.passed
    assert "wrong window of answer 1: expected window [" in found.explain()
    with pytest.raises(RefengineError, match=r"a fail by windows alone.*has no divergence"):
        _ = found.divergence


def test_the_assignment_and_the_divergence_are_never_none():
    assert PASS.named_trial.semantics.t0 == -10 and FAIL.divergence.index == 1
    with pytest.raises(RefengineError, match="verdict: ORA-9: a pass has no divergence"):
        _ = PASS.divergence


HOSTILE_IRI = f"<urn:'&;{'y' * 9_999}>"
HOSTILE = '"<script>alert(1)</script>\u202e\u001b[31m' + "x" * 10_000 + '"'


def test_what_an_engine_wrote_is_escaped_and_bounded():
    found = verdict(Counter([A]), Counter([row({"x": HOSTILE})] * 1000))
    for text in (found.explain(), repr(found)):
        assert len(text) < 3_000 and all(line.isprintable() for line in text.splitlines())
    html = found._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html and len(html) < 10_000
    assert "\u202e" not in html and "\u001b" not in html


class Cells(HTMLParser):
    """The cells of a table, row by row."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.is_in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append([])
        self.is_in_cell = tag in ("td", "th")

    def handle_endtag(self, tag: str) -> None:
        self.is_in_cell = False

    def handle_data(self, data: str) -> None:
        if self.is_in_cell:
            self.rows[-1].append(data)


def test_a_notebook_shows_the_reports_beside_the_relations():
    head, first, second = Cells(FAIL._repr_html_()).rows
    assert head == ["relation", "window", "at", "expected", "recorded"]
    assert first[0] == "1" and first[3:] == ["1 row: {x: <urn:a>}", "= 1 row: {x: <urn:a>}"]
    assert second[4] == "≠ 2 rows: {x: <urn:a>}, {x: <urn:b>}"


def count_shapes(html: str) -> Counter[str]:
    """Return how often each class is drawn."""
    return Counter(re.findall(r'<(?:circle|rect|path) class="([^"]*)"', html))


def test_a_notebook_shows_the_time_line():
    """Two elements; the first report is right, and the second one has a row too many."""
    shapes = count_shapes(FAIL._repr_html_())
    assert shapes["element"] == 2 and shapes["due same"] == shapes["given same unsure"] == 1
    assert shapes["due first"] == shapes["given first unsure"] == 1
    assert count_shapes(PASS._repr_html_())["due same"] == 2


def test_a_time_line_is_drawn_around_the_first_divergence():
    """Windows [10k, 10k + 10) of a stream with an element at each instant. Relation 71 of 100 is
    wrong. Of 32 reports the 8 before it are drawn, and so are the elements from 620 to 940.
    """
    recorded = [each.relation for each in LONG_REPORTS]
    recorded[70] = Relation(("x",), Counter([A]))
    html = judge(QUERY, {"s": LONG}, CSPARQL.but(t0=0), recorded, missing=0)._repr_html_()
    shapes = count_shapes(html)
    assert shapes["due first"] == shapes["given first unsure"] == 1
    assert shapes["due same"] == shapes["given same unsure"] == 31
    assert shapes["element"] == 300 and "21 more elements are not drawn" in html
    assert "620: &lt;urn:xxx" in html and "619: &lt;urn:xxx" not in html and len(html) < 200_000


def test_what_a_user_named_is_escaped_in_a_time_line():
    elements = stream([((HOSTILE_IRI, "<urn:p>", HOSTILE), 3)])
    query = from_table(
        windows=[{"stream": "<b>&\u202e", "kind": "time", "size": 10, "slide": 10}],
        body="SELECT ?x { ?x <urn:p> ?y }",
    )
    html = judge(query, {"<b>&\u202e": elements}, CSPARQL, [], missing=1)._repr_html_()
    assert count_shapes(html)["element"] == 1
    assert "<b>" not in html and "<script>" not in html and "\u202e" not in html
    assert len(html) < 10_000


# Short reprs

SEMANTICS = CSPARQL.but(t0=0).semantics()
LONG = stream([((f"<urn:{'x' * 500}{n}>", "<urn:p>", "<urn:y>"), n) for n in range(1000)])
PUSHED = Engine(QUERY, ["s"], SEMANTICS)
LONG_REPORTS = list(evaluate(QUERY, {"s": LONG}, CSPARQL.but(t0=0).semantics()))
SHOWN = {
    "a verdict": PASS,
    "its trial": PASS.trial,
    "its recording": PASS.recorded,
    "its reports": PASS.reports,
    "a profile": CSPARQL,
    "an open profile": profile("cqels"),
    "a semantics": SEMANTICS,
    "a query": QUERY,
    "a long stream": LONG,
    "a plan": plan(QUERY, {"s": LONG}, SEMANTICS),
    "an engine": PUSHED,
    "a run": incremental.evaluate(QUERY, {"s": LONG}, SEMANTICS),
    "a report": LONG_REPORTS[3],
    "contents": LONG_REPORTS[3].contents[0],
    "a long relation": Relation(
        ("x",), Counter({row({"x": f'"{"y" * 999}{n}"'}): 1 for n in range(99)})
    ),
    "a question": refengine.Question(QUERY, {"s": LONG}),
    "evaluated reports": evaluate(QUERY, {"s": LONG}, SEMANTICS),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_repr_is_short(name: str):
    shown = repr(SHOWN[name])
    assert len(shown) < 2_500 and " at 0x" not in shown and shown.isprintable()


def test_a_small_value_is_shown_whole():
    assert (
        eval(
            repr(ELEMENTS),
            vars(refengine) | {"Stream": refengine.Stream, "Element": refengine.Element},
        )
        == ELEMENTS
    )
    relation = Relation(("x",), Counter([A]))
    assert eval(repr(relation), {"Relation": Relation, "Counter": Counter}) == relation


# Pickles and hashes

VALUES = {
    "a profile": CSPARQL,
    "an open profile": profile("cqels").but(t0="unknown"),
    "a report": next(evaluate(QUERY, {"s": ELEMENTS}, SEMANTICS)),
    "a report of an engine": next(r for e in ELEMENTS for r in PUSHED.push(e.graph, e.app)),
    "an incremental report": next(incremental.evaluate(QUERY, {"s": ELEMENTS}, SEMANTICS)),
    "a relation": Relation(("x",), Counter([A, A, B])),
    "a semantics": SEMANTICS,
    "a stream": ELEMENTS,
    "a query": QUERY,
}


@pytest.mark.parametrize("name", VALUES)
def test_a_frozen_value_is_pickled_and_hashed(name: str):
    value = VALUES[name]
    copied = pickle.loads(pickle.dumps(value))
    assert copied == value and hash(copied) == hash(value) and {value: 1}[copied] == 1


@pytest.mark.parametrize("verdict", [PASS, FAIL], ids=["pass", "fail"])
def test_a_verdict_comes_back_from_another_process(verdict):
    copied = pickle.loads(pickle.dumps(verdict))
    assert copied == verdict and copied.explain() == verdict.explain()
    assert copied.reports.first(99) == verdict.reports.first(99)


def test_a_pickled_report_has_its_contents_and_no_more():
    assert len(pickle.dumps(LONG_REPORTS[3])) < 50_000  # ten elements of 500 characters, of 1000


def test_equal_values_have_one_hash():
    relation = Relation(("x",), Counter({A: 1, B: 0}))
    assert relation == Relation(("x",), Counter([A])) and hash(relation) == hash(
        Relation(("x",), Counter([A]))
    )
    changed = CSPARQL.but(t0=0)
    assert hash(changed) != hash(CSPARQL) and isinstance(changed, Profile)


def test_an_error_is_still_raised_for_a_copy():
    error = pickle.loads(pickle.dumps(NoSingleAnswer("why")))
    assert str(error) == "body: QRY-3: why"
