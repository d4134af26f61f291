"""The answers of published texts: the data, a run as written, and the comparison of answers."""

from __future__ import annotations

from itertools import islice

import pytest

from tools import published_answers
from tools.published_answers import (
    INSIGHT,
    BenchmarkText,
    Source,
    ask_in_common_windows,
    compare,
    last_part,
    look_at,
    run_as_written,
)
from tools.published_data import city_data, social_data

POSTS = "PREFIX sioc: <http://rdfs.org/sioc/ns#> SELECT ?user ?post "
CSPARQL = f"{POSTS} FROM <file:///sib.rdf> FROM STREAM <http://deri.org/poststream> "
PATTERN = "?user sioc:creator_of ?post"
TEXTS = {
    "csparql": f"{CSPARQL} [RANGE 10s STEP 10s] {{ {PATTERN} }}",
    "cqels": f"{POSTS} {{ STREAM <http://deri.org/poststream> [RANGE 5s] {{ {PATTERN} }} }}",
}


def text_of(dialect: str, text: str) -> BenchmarkText:
    return BenchmarkText("LSBench", 1, Source(dialect, "me/mine", "q"), text)


def test_a_text_runs_as_it_is_written(monkeypatch):
    """100 elements, 250 ms apart, are in two windows of 10 s and one that has not ended. Of the
    four triples of a post one is sioc:creator_of.
    """
    monkeypatch.setattr(published_answers, "ELEMENTS", 100)
    reports, rows = run_as_written(text_of("csparql", TEXTS["csparql"]))
    assert (reports, rows) == (3, 25)


def test_texts_in_two_languages_have_the_same_answers_in_the_same_windows(monkeypatch):
    monkeypatch.setattr(published_answers, "ELEMENTS", 60)
    ours, theirs = (
        ask_in_common_windows(text_of(dialect, text), {"poststream": 10_000})
        for dialect, text in TEXTS.items()
    )
    assert compare(ours, theirs) == "equal" and any(one.relation for one in ours)
    other = ask_in_common_windows(text_of("cqels", TEXTS["cqels"]), {"poststream": 1_000})
    assert compare(ours, other[: len(ours)]).endswith(("answers differ", "reports"))
    unlike = text_of("cqels", TEXTS["cqels"].replace("?user", "?u").replace("?post ", "?p "))
    assert compare(ours, ask_in_common_windows(unlike, {"poststream": 1_000})) == (
        "no variable in common"
    )


@pytest.mark.parametrize("why, is_listed", [("", False), ("another pattern", True)])
def test_a_difference_must_be_listed(monkeypatch, why, is_listed):
    wrong = TEXTS["cqels"].replace("creator_of", "follows")
    texts = [text_of("csparql", TEXTS["csparql"]), text_of("cqels", wrong)]
    monkeypatch.setattr(published_answers, "ELEMENTS", 40)
    monkeypatch.setattr(published_answers, "find_texts", lambda *_: iter(texts))
    monkeypatch.setattr(published_answers, "DIFFERENCES", {("LSBench", 1, "cqels"): why})
    first, second = look_at(None, "LSBench", 1)
    assert first[1] and second[1] is is_listed and "differ" in second[0] and why in second[0]


@pytest.mark.parametrize("data", [lambda: city_data(INSIGHT), social_data])
def test_the_data_are_the_same_each_time(data):
    one, other = data(), data()
    assert list(islice(one.events, 50)) == list(islice(other.events, 50))
    assert one.graphs == other.graphs and one.graphs[one.default]


def test_the_last_part_of_an_iri():
    assert last_part("http://e/a#b") == "b" and last_part("http://e/a/c.rdf") == "c.rdf"
