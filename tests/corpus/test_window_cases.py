"""The cases of windows alone: which cases of the corpus they are derived from, and how."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from conformance import corpus
from conformance.corpus import Case, check, detection, question_of
from conformance.corpus.window_cases import SMOKE, NotDerived, derive, key_text, window_cases
from conformance.verdict.window_elements import (
    BODY,
    graph_text,
    number_and_key,
    numbers_in,
    query_table,
)
from refengine import profile
from refengine.core.semantics import Semantics
from refengine.core.values import Offset
from refengine.enumeration import Enumeration
from refengine.model.elements import Element, row

CASES = {case.path: case for case in window_cases()}
# rules that are about windows, and of which no case is about elements alone: their cases have two
# windows or two streams, count triples, or are about matches of patterns
WITHOUT = {"ENG-3", "ENG-5", "ENG-6", "ENG-7", "ENG-8", "MOD-4", "REP-9", "REP-12"}
WITHOUT |= {"WIN-16", "WIN-19"}


def test_each_rule_about_windows_has_a_case():
    sections = ("MOD", "WIN", "TICK", "REP", "ENG")
    rules = {case.rule for case in corpus.cases() if case.rule.split("-")[0] in sections}
    assert rules - {case.rule for case in CASES.values()} == WITHOUT


def test_a_first_look_has_a_dozen_cases():
    assert [case.path for case in CASES.values() if case.table.get("smoke")] == sorted(SMOKE)
    assert len(SMOKE) == 12


def test_a_case_by_hand():
    """WIN-2: [0, 10) holds the elements at 0 and 9, and not that at 10, which is in [10, 20)."""
    case = CASES["window/win-2-right-open.toml"]
    assert case.suite == "windows"
    assert case.table["query"] == {
        "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
        "body": BODY,
    }
    assert contents(case) == [[0, 1], [2]]


def test_the_key_of_an_element_is_a_text():
    """WIN-24: :a at 3 and :b at 12. Under clock=stream [0, 10) of :a is reported."""
    case = CASES["window/win-24-another-key-brings-time.toml"]
    assert case.table["query"]["windows"][0]["by"] == ["object"]
    assert case.table["streams"][0]["elements"] == [
        {"at": 3, "graph": '<urn:refengine:element:0> <urn:refengine:in> "a"'},
        {"at": 12, "graph": '<urn:refengine:element:1> <urn:refengine:in> "b"'},
    ]
    first, second = case.table["expect"]
    assert [report["key"] for report in first["reports"]] == [['"a"']]
    assert second["reports"] == []
    assert key_text(["<http://example.org/a>", '"5"']) == 'a "5"'


def test_a_punctuation_has_no_number():
    case = CASES["model/mod-5-punctuation.toml"]
    assert case.table["streams"][0]["elements"][3] == {"at": 12, "graph": ""}
    assert [block["semantics"]["watermark"] for block in case.table["expect"]] == ["punctuation"]
    assert contents(case) == [[0, 2], [1]]


def test_a_punctuation_between_elements_takes_no_number():
    elements = [ONE, {"at": 5, "graph": ""}, {"at": 9, "graph": ":b :p 1"}]
    every = {"reported_windows": "every", "late_for": "window", "watermark": "punctuation"}
    grace = {"allowed_lateness": 0, "watermark_delay": 0, "expiry_rule": "reached"}
    semantics = {"profile": "csparql", "t0": 0, **every, **grace}
    report = {"window": [0, 10], "rows": [{"x": ":a"}, {"x": ":b"}]}
    case = derive(made([], elements, expect=[{"semantics": semantics, "reports": [report]}]))
    graphs = [element["graph"] for element in case.table["streams"][0]["elements"]]
    assert graphs[1] == "" and graphs[2].startswith("<urn:refengine:element:1>")
    assert contents(case) == [[0, 1]] and check(case) == []


def contents(case: Case, number: int = 0) -> list[list[int]]:
    """The contents that a block of a case expects, as numbers of elements."""
    query = corpus.query_of(case)
    return [
        numbers_in(corpus.relation(report["rows"], query).rows.elements())
        for report in case.table["expect"][number]["reports"]
    ]


ONE = {"at": 1, "graph": ":a :p 1"}
WINDOW = {"stream": "s", "kind": "time", "size": 10, "slide": 10}


def made(rows: list[dict[str, str]], elements: list[dict[str, object]], **more: object) -> Case:
    """A case of the corpus with a report."""
    query = {"windows": [WINDOW], "body": "SELECT ?x { ?x <http://example.org/p> ?y }"}
    semantics = {"profile": "csparql", "t0": 0}
    table = {
        "rule": "WIN-2",
        "name": "made",
        "derivation": "made",
        "query": query,
        "streams": [{"name": "s", "elements": elements}],
        "expect": [{"semantics": semantics, "reports": [{"rows": rows}]}],
    }
    return Case("made.toml", table | more)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (made([{"x": ":a"}], [ONE], rule="R2R-1"), "the rule is not about windows"),
        (made([{"x": ":a"}], [ONE, ONE]), "3 contents have the rows of a report"),
        (made([{"x": ":a"}], [ONE, {"at": 2, "graph": ":b :q 1"}]), "2 contents have the rows"),
        (made([{"x": ":b"}], [ONE]), "0 contents have the rows"),
        (made([], [ONE], expect=[]), "it expects no reports"),
        (made([], [ONE], static=":a :p 1 ."), "no static data"),
        (
            made(
                [], [ONE], query={"windows": [WINDOW], "body": "SELECT (COUNT(*) AS ?n) {?x ?p ?y}"}
            ),
            "a body that is one triple pattern",
        ),
        (
            made(
                [],
                [ONE],
                query={"windows": [WINDOW], "body": "SELECT * { ?x ?p ?y }", "r2s": "Istream"},
            ),
            "no operator, or Rstream",
        ),
        (
            made([], [ONE], expect=[{"semantics": {"profile": "cqels", "t0": 0}, "reports": []}]),
            "Istream does not report contents",
        ),
        (made([], [{"at": 1, "graph": ""}]), "no triples and is no punctuation"),
    ],
)
def test_a_case_that_does_not_show_contents_is_not_derived(case, reason):
    with pytest.raises(NotDerived, match=reason):
        derive(case)


def test_rows_that_stand_for_one_content_each_are_turned_back():
    """Of :a :p 1 with :b :p 1, and :b :p 1 alone: rows :a and :b are of the first, or of both. With
    a third element, of :c, alone the content is known.
    """
    elements = [ONE, {"at": 2, "graph": ":a :p 2 . :c :p 1"}]
    two = made([{"x": ":a"}, {"x": ":a"}, {"x": ":c"}], elements)
    assert contents(derive(two)) == [[0, 1]]
    assert contents(derive(made([{"x": ":a"}, {"x": ":c"}], elements))) == [[1]]


def enumerated_contents(case: Case, semantics: Semantics) -> list[list[int]]:
    """The contents of the reports by the specification in code."""
    query = corpus.query_of(case)
    [elements] = corpus.streams_of(case).values()
    enumeration = Enumeration(query.windows, {"s": elements.elements}, semantics)

    def answer(triples):
        return Counter(row([("element", subject)]) for subject, *_ in triples)

    return [numbers_in(one.rows.elements()) for one in enumeration.emitted(answer, None)]


def is_short(case: Case) -> bool:
    """Whether the enumeration can look at each instant of a case."""
    [elements] = corpus.streams_of(case).values()
    times = [element.app for element in elements]
    size = case.table["query"]["windows"][0].get("size", 0)
    return max([0, *times]) - min([0, *times]) + size <= 500


def test_the_definition_gives_the_contents():
    """By enumeration where the stream is short, by the engine everywhere."""
    looked_at = 0
    for case in CASES.values():
        assert check(case) == []
        for number, block in enumerate(case.table["expect"]):
            if is_short(case):
                semantics = corpus.semantics_of(block["semantics"])
                assert enumerated_contents(case, semantics) == contents(case, number), case.path
                looked_at += 1
    assert looked_at > 250


def test_a_case_catches_what_that_of_the_corpus_catches():
    """A wrong engine of the rule fails it, where one fails that which it is derived from; and of
    each rule one does.
    """
    originals = {case.path: case for case in corpus.cases()}
    catching = [case for case in CASES.values() if detection.find_wrong_engine_that_differs(case)]
    assert {case.rule for case in catching} == {case.rule for case in CASES.values()}
    for path, case in CASES.items():
        if case not in catching:
            assert detection.find_wrong_engine_that_differs(originals[path]) == "", path


@pytest.mark.parametrize("t0", ["epoch", "epoch-latest"])
@pytest.mark.parametrize("offset", list(Offset))
def test_wrong_engines_answer_over_no_elements_wherever_windows_are_aligned(t0, offset):
    """An engine that claims such an offset is compared with them when a run ends."""
    claim = profile("csparql").but(t0=t0, offset=offset)
    empty = [case for case in CASES.values() if not case.table["streams"][0]["elements"]]
    assert empty
    for case in empty:
        found = detection.find_wrong_engine_that_fails(
            case.rule, partial(question_of, case), claim, missing=0, states_windows=True
        )
        assert found == "" or found.startswith(case.rule)


@pytest.mark.parametrize("key", ["a", 'a"b', "a\\b", "a\nb", "a\rb", "\\n", ""])
def test_any_text_is_a_key(key):
    element = Element(corpus.triples(graph_text(3, key)), 1, 1)
    assert number_and_key(element) == (3, key)


def test_elements_have_number_and_key():
    [elements] = corpus.streams_of(CASES["window/win-15-by-subject.toml"]).values()
    assert [number_and_key(element) for element in elements][:2] == [(0, "a"), (1, "b")]
    assert query_table({"kind": "now"})["windows"] == [{"stream": "s", "kind": "now"}]
