"""Sentinels, the elements after the stream of a case, let time go on for a right engine, and refuse
it nothing.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suite.exchange import GRAPH, with_sentinels
from refengine import from_table, profile, stream
from refengine.core import engine
from refengine.core.question import Question
from refengine.model.elements import TIME_BOUND, Element, Stream

TRIPLE = ("<urn:a>", "<urn:p>", "<urn:b>")


def asked(*windows: dict[str, Any], **streams: Stream) -> Question:
    """Return a question about all triples of some windows over streams."""
    table = {"windows": list(windows), "body": "SELECT * { ?s ?p ?o }"}
    return Question(from_table(table), streams)


def over(name: str, **more: Any) -> dict[str, Any]:
    """Return a window of 10 by 5 over a stream; `more` changes it."""
    return {"stream": name, "kind": "time", "size": 10, "slide": 5, **more}


def times_of_sentinels(question: Question, name: str) -> list[int]:
    """Return the times of the sentinels of a stream."""
    return [element.app for element in question.streams[name] if element.graph == GRAPH]


def test_sentinels_come_a_slide_apart_until_no_window_holds_an_element():
    s = stream([(TRIPLE, 3), (TRIPLE, 12)])
    question = with_sentinels(asked(over("s"), s=s, r=stream([])))
    assert times_of_sentinels(question, "s") == times_of_sentinels(question, "r") == [17, 22, 27]
    assert list(question.streams["s"])[:2] == list(s)


def test_each_sentinel_of_a_session_begins_another_one():
    """With a gap of 5 the last element, at 12, is in a session until 17; the watermark may be 7
    behind.
    """
    session = {"stream": "s", "kind": "session", "size": 5}
    s = stream([(TRIPLE, 3), (TRIPLE, 12)])
    assert times_of_sentinels(with_sentinels(asked(session, s=s)), "s") == [18]
    assert times_of_sentinels(with_sentinels(asked(session, s=s), delay=7), "s") == [18, 24, 30]


@pytest.mark.parametrize(
    "question",
    [
        asked(over("s"), s=stream([])),
        asked(over("s", kind="tuple"), s=stream([(TRIPLE, 3)])),
        asked(over("s"), s=stream([(TRIPLE, TIME_BOUND - 20)])),
    ],
    ids=["no element", "no time", "no later time"],
)
def test_some_questions_have_no_sentinels(question):
    assert with_sentinels(question) is question


def test_a_stream_without_elements_has_sentinels_in_batches_where_another_has():
    """Under the batch tick an engine refuses an element without a batch id (TICK-3)."""
    graph = frozenset({TRIPLE})
    s = Stream((Element(graph, 3, 1, 4), Element(graph, 12, 2, 4)))
    bare = asked(over("s"), over("r"), s=s, r=stream([]))
    question = with_sentinels(bare)
    assert [element.batch for element in question.streams["s"]] == [4, 4, 5, 6, 7]
    assert [element.batch for element in question.streams["r"]] == [1, 2, 3]
    semantics = profile("csparql").but(t0=0, tick="batch", horizon="none").semantics()
    assert list(engine.evaluate(bare.query, bare.streams, semantics)) == []
    reports = list(engine.evaluate(question.query, question.streams, semantics))
    assert [report.window for report in reports] != []


def test_sentinels_have_batches_only_where_the_elements_of_their_stream_do():
    """MOD-1: batch ids are on all elements of a stream, or on none."""
    s = Stream((Element(frozenset({TRIPLE}), 3, 1, 4),))
    question = with_sentinels(asked(over("s"), over("r"), s=s, r=stream([(TRIPLE, 3)])))
    assert {element.batch for element in question.streams["r"]} == {None}
