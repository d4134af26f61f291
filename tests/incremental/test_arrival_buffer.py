"""Streams that are read while they are evaluated: checked, and forgotten."""

from __future__ import annotations

import pytest
from incremental_trials import (
    P,
    asked,
    chosen,
)

from refengine import (
    Element,
    incremental,
)
from refengine.model.errors import RefengineError


def test_a_streamed_first_element_is_checked():
    wrong = Element(frozenset(), "3", 1)
    for t0 in ("first-element", "first-reach", 0):
        with pytest.raises(RefengineError, match="element 1: MOD-1: t_app must be an integer"):
            list(
                incremental.evaluate(
                    asked("SELECT ?x {?x <urn:p> ?y}"), {"s": iter([wrong])}, chosen(t0=t0)
                )
            )


@pytest.mark.parametrize("t0", [0, 10**9])
@pytest.mark.parametrize(
    ("kind", "window"),
    [
        ("time", {"size": 5, "slide": 50_000}),
        ("time", {"size": 5, "slide": 5}),
        ("range", {"size": 5}),
        ("range", {"size": 5, "lag": 500}),
        ("time", {"size": 5, "slide": 5, "lag": 500}),
        ("rows", {"size": 5}),
        ("tuple", {"size": 5, "slide": 5}),
    ],
)
def test_a_stream_is_forgotten(kind, window, t0):
    """Whatever is reported, and if nothing is."""
    elements = (
        Element(frozenset([(f"<urn:{i}>", P, "<urn:x>")]), 10 + i // 2, i) for i in range(1, 12_000)
    )
    closes = (
        {"report": "content-change"}
        | ({"closure": "none"} if kind == "rows" else {})
        | ({"tick": "tuple"} if kind == "tuple" else {})
    )
    run = incremental.evaluate(
        asked("SELECT ?x {?x <urn:p> ?y}", kind, **window),
        {"s": elements},
        chosen(t0=t0, horizon="none", **closes),
    )
    for _ in run:
        assert len(run.planned.arrivals.items) < 3000
    assert len(run.planned.arrivals) == 11_999 and len(run.planned.arrivals.items) < 3000


def test_contents_that_are_forgotten_say_so():
    elements = (Element(frozenset([(f"<urn:{i}>", P, "<urn:x>")]), i, i) for i in range(1, 9000))
    first, *_ = incremental.evaluate(
        asked("SELECT ?x {?x <urn:p> ?y}"), {"s": elements}, chosen(horizon="none")
    )
    with pytest.raises(
        LookupError, match="element 1 of the stream is no longer kept: it was streamed"
    ):
        tuple(first.contents[0])
