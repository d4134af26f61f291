"""The oracle on windows that are each reported on their own (docs/firings.md): the values of t0
that it tries, orders that were not recorded, and stated windows.
"""

from __future__ import annotations

from collections import Counter

import pytest
from every_window import EVERY_WINDOW, LATE_FOR_WINDOW

from conformance import judge_relations
from refengine import (
    Query,
    Question,
    Relation,
    Stream,
    evaluate,
    from_table,
    judge,
    profile,
    row,
    stream,
)
from refengine.core.profile import Profile
from refengine.model.errors import Unsupported

LATE = LATE_FOR_WINDOW | {"allowed_lateness": 5}
BODY = "SELECT ?x { ?x <urn:p> ?y }"
TUMBLING = from_table(windows=[{"stream": "s", "kind": "time", "size": 10, "slide": 10}], body=BODY)
SESSION = from_table(windows=[{"stream": "s", "kind": "session", "size": 5}], body=BODY)

KEYED = from_table(
    windows=[{"stream": "s", "kind": "time", "size": 10, "slide": 10, "by": ["subject"]}], body=BODY
)


def of(**fields: object) -> Profile:
    """A profile by which every window is reported, with some other fields."""
    return profile("csparql").with_fields(EVERY_WINDOW | fields)


def elements(*items: tuple[str, int], ordered: bool = True) -> Stream:
    """Elements by name and time. `ordered` is whether the order of simultaneous ones is known."""
    found = stream([((f"<urn:{name}>", "<urn:p>", "<urn:y>"), time) for name, time in items])
    return Stream(found.elements, ordered)


def relation(*names: str) -> Relation:
    """A recorded relation with a row for each name."""
    return Relation(("x",), Counter(row({"x": f"<urn:{name}>"}) for name in names))


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        # the session of an element at 20 is open from 20 - 18 on: at 2, 3, … it is reported
        (SESSION, {"early_period": 1}),
        (SESSION, {"report": "non-empty"}),
        # [12, 22), which holds it, is open from 12 - 18 on
        (TUMBLING, {"report": "non-empty"}),
        # nothing is reported before it closes
        (TUMBLING, {}),
    ],
)
def test_an_engine_may_begin_before_the_watermark(query, fields):
    """ORA-2: A window is open when the watermark and its delay have reached its first instant. So
    an engine that began before the watermark of the first element has lost nothing.
    """
    streams = {"s": elements(("a", 20), ("b", 21), ("c", 24))}
    semantics = of(**LATE | {"watermark_delay": 18} | fields)
    early = semantics.but(t0=-38).semantics()
    relations = [report.relation for report in evaluate(query, streams, early)]
    verdict = judge(query, streams, semantics.but(t0="unknown"), relations, missing=0)
    assert relations
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("query", "fields", "items", "recorded"),
    [
        # two of three simultaneous elements are enough: which two is not known
        (TUMBLING, {"early_count": 2}, [("x", 5), ("y", 5), ("z", 5)], ["zx", "xyz"]),
        # two late elements of an instant, each reported when it comes
        (
            TUMBLING,
            LATE | {"panes": "discarding"},
            [("x", 5), ("w", 12), ("y", 6), ("z", 6)],
            ["x", "z", "y", "w"],
        ),
        # simultaneous elements with a later one between them
        (
            TUMBLING,
            {"late_for": "nothing", "reported_windows": "active", "report": "content-change"},
            [("x", 5), ("w", 6), ("y", 5)],
            ["y", "yw", "xyw"],
        ),
        # the key whose element came first is the first to be reported
        (KEYED, {}, [("x", 5), ("y", 5)], ["y", "x"]),
        # a session shows what is ahead of its instant, which `passed` makes one earlier
        (
            SESSION,
            {"close_rule": "passed", "report": "content-change"},
            [("x", 5), ("y", 5), ("z", 5)],
            ["z", "zx", "xyz"],
        ),
    ],
)
def test_an_order_that_was_not_recorded_is_no_fail(query, fields, items, recorded):
    """ORA-4: Each recording is that of another order of simultaneous elements, which is right. The
    order that the file has explains its own recording alone; neither can be judged.
    """
    relations = [relation(*names) for names in recorded]
    with pytest.raises(Unsupported, match="was not recorded"):
        judge(query, {"s": elements(*items, ordered=False)}, of(**fields), relations, missing=0)
    known = judge(query, {"s": elements(*items)}, of(**fields), relations, missing=0)
    assert not known.passed


def test_a_wrong_window_of_a_session_is_named_by_its_two_numbers():
    """ORA-11, WIN-23: By `last` the borders of the session of 3 and 6 are 3 and 6, whichever
    closure the engine states. It says 3 and 7.
    """
    streams = {"s": elements(("x", 3), ("y", 6))}
    semantics = of(session_border="last")
    options = {"missing": 0, "windows": [(3, 7)], "window_closure": "[]"}
    verdict = judge(SESSION, streams, semantics, [relation("x", "y")], **options)
    assert [wrong.stated for wrong in verdict.wrong_windows] == [(3, 7)]
    first, second, *_ = verdict.explain().splitlines()
    assert first == "fail: with t0=0 the relations are right, and the stated windows are not"
    assert "expected window [3, 6), the engine says window [3, 7)" in second
    question = Question(SESSION, streams)
    result = judge_relations(question, semantics, [relation("x", "y")], **options)
    assert "WIN-23 at t=10: answer 1 is about [3, 6]; the engine says [3, 7]" in result.explanation


def explained(query: Query, items: list[tuple[str, int]], recorded: list[str], **fields) -> str:
    """The explanation of a fail."""
    relations = [relation(*names) for names in recorded]
    question = Question(query, {"s": elements(*items)})
    result = judge_relations(question, of(**fields), relations, missing=0)
    assert result.outcome == "fail"
    return result.explanation


def test_elements_out_of_order_are_named_from_the_least_to_the_greatest():
    """ORA-9: [0, 10) holds 2 and, late, 0."""
    items = [("a", 2), ("c", 12), ("b", 0), ("d", 22)]
    explanation = explained(TUMBLING, items, ["a", "a", "c", "d"], **LATE)
    assert "2 elements in the window, from 0 to 2" in explanation


@pytest.mark.parametrize(
    ("query", "items", "recorded", "fields"),
    [
        # c and b are of other keys: neither has left a window for the next
        (KEYED, [("a", 2), ("b", 7), ("c", 12), ("d", 32)], ["a", "c", "b", "d"], {}),
        # [0, 10) is reported again, with b; which of its reports lacks the row says no edge
        (TUMBLING, [("a", 2), ("c", 12), ("b", 4), ("d", 22)], ["a", "a", "bc", "d"], LATE),
    ],
)
def test_no_edge_is_named_where_a_window_has_several_reports(query, items, recorded, fields):
    """ORA-12: No row is said to come one window early or late."""
    assert "edge of a window" not in explained(query, items, recorded, **fields)
