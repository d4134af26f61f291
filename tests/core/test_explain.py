"""A query in sentences, each with its rule."""

from __future__ import annotations

import pytest

from refengine import Body, Query, Window, WindowKind
from refengine.core.explain import explain
from refengine.core.query import SIZED, Unit
from refengine.core.values import R2S


def content_of(**fields):
    """Return the sentence on the content of a window."""
    query = Query((Window("s", **fields),), Body("ASK { ?x ?p ?y }"))
    return explain(query)[1].strip()


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({"kind": WindowKind.TIME, "size": 10, "slide": 2}, "overlap. Window n opens at t0 + 2n"),
        ({"kind": WindowKind.TIME, "size": 10, "slide": 10}, "they tumble. Window n"),
        ({"kind": WindowKind.TIME, "size": 2, "slide": 10}, "they leave gaps. Window n"),
        ({"kind": WindowKind.TUPLE, "size": 3, "slide": 3}, "Windows of 3 elements open every 3"),
        ({"kind": WindowKind.RANGE, "size": 10}, "the latest 10 units of time (WIN-12)"),
        ({"kind": WindowKind.NOW}, "the elements of the current instant (WIN-12)"),
        ({"kind": WindowKind.UNBOUNDED}, "everything that has arrived (WIN-13)"),
        ({"kind": WindowKind.LANDMARK}, "since the first instant of window 0 (WIN-13)"),
        (
            {"kind": WindowKind.ROWS, "size": 3, "slide": 2, "unit": Unit.TRIPLES},
            "the latest 3 triples, and changes only every 2 triples (WIN-14, WIN-16)",
        ),
        (
            {"kind": WindowKind.PARTITION, "size": 3, "by": ("subject",)},
            "the latest 3 elements of each key, by subject (WIN-15)",
        ),
        ({"kind": WindowKind.SESSION, "size": 5}, "when nothing has come for 5 units of time"),
    ],
)
def test_the_content_of_each_kind_of_window(fields, expected):
    assert expected in content_of(**fields)


def test_the_kinds_of_windows_are_all_here():
    (shown,) = (
        mark.args[1]
        for mark in test_the_content_of_each_kind_of_window.pytestmark
        if mark.name == "parametrize"
    )
    assert {fields["kind"] for fields, _ in shown} == {*WindowKind}


@pytest.mark.parametrize("kind", WindowKind)
def test_windows_for_each_key_are_explained(kind):
    """WIN-24: those of every kind but partition, whose key is part of its content."""
    needs = {"size": 5} if kind in SIZED else {}
    if kind in (WindowKind.TIME, WindowKind.TUPLE):
        needs["slide"] = 5
    query = Query((Window("s", kind, by=("subject", "urn:p"), **needs),), Body("ASK { ?x ?p ?y }"))
    told = "  There is one such window for each key, by subject, urn:p (WIN-24)."
    assert (told in explain(query)) == (kind is not WindowKind.PARTITION)


def test_a_lag_is_explained():
    window = Window("s", WindowKind.RANGE, 300, lag=600)
    _, content, lag, *_ = explain(Query((window,), Body("ASK { ?x ?p ?y }")))
    assert content.strip() == "It holds the latest 300 units of time (WIN-12)."
    assert lag.strip() == "It has a lag: its borders and its content lie 600 units back (WIN-20)."


def test_a_window_for_each_key_is_said_to_be_one():
    """WIN-24: Of another kind than partition."""
    window = Window("s", WindowKind.SESSION, 300, by=("subject", "urn:p"))
    _, _, keys, *_ = explain(Query((window,), Body("ASK { ?x ?p ?y }")))
    assert keys.strip() == "There is one such window for each key, by subject, urn:p (WIN-24)."


def test_what_a_query_says_and_what_it_leaves_open():
    named = Window("s", WindowKind.TIME, 10, 10, name="urn:w", triggers=True)
    body = Body("SELECT ?x FROM <urn:g> FROM NAMED <urn:h> { GRAPH <urn:w> { ?x ?p ?y } }")
    lines = explain(Query((named,), body, R2S.ISTREAM), static=True)
    assert "the named graph <urn:w> (R2R-8)" in lines[0]
    assert "overlap" not in lines[1] and "they tumble" in lines[1]
    assert lines[2:5] == [
        "  It is marked as a trigger (REP-12).",
        "t0, where the first window opens, is not in the query: give t0=… (WIN-3, WIN-7).",
        "When an answer is reported is not in the query: give tick=… and report=… (§5, §6).",
    ]
    for line in (
        "FROM <urn:g>: what --static urn:g=FILE gives is added to the default graph. "
        "Nothing is fetched (QRY-2).",
        "FROM NAMED <urn:h>: what --static urn:h=FILE gives is the named graph of this IRI. "
        "Nothing is fetched (QRY-2).",
        "Static data is part of the dataset, and of no window's content (R2R-8).",
    ):
        assert line in lines
    text = "\n".join(lines)
    assert "a bag of rows (R2R-2)" in text
    assert "The query states Istream: each report has the rows that are new" in text
    plain = explain(Query((Window("s", WindowKind.NOW),), Body("ASK { ?x ?p ?y }")))
    assert "in the default graph (R2R-1)" in plain[0] and not any("t0" in line for line in plain)
    assert plain[-1] == "The query states no operator of R2S: the semantics says it (R2S-6)."
