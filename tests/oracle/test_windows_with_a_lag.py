"""Verdicts on engines whose windows lie in the past (WIN-20)."""

from __future__ import annotations

import pytest

from refengine import UNKNOWN, Query, Relation, Stream, evaluate, from_table, profile, stream
from refengine.core import engine
from refengine.core.profile import Profile
from refengine.oracle.beginnings import T0Candidates, find_t0_candidates
from refengine.oracle.explanations import find_explanations
from refengine.oracle.judge import judge
from refengine.oracle.orders import order_matters

OPEN = profile("csparql").but(horizon="flush")


def asked(size: int, slide: int, lag: int) -> Query:
    """A query for the subjects in a window."""
    window = {"stream": "s", "kind": "time", "size": size, "slide": slide, "lag": lag}
    return from_table({"windows": [window], "body": "SELECT ?x { ?x <urn:p> ?y }"})


def elements(*times: int, ordered: bool = True) -> Stream:
    """An element with a subject of its own at each of the times."""
    items = [((f"<urn:{n}>", "<urn:p>", "<urn:y>"), at) for n, at in enumerate(times)]
    return stream(items, ordered=ordered)


def outputs(query: Query, source: Stream, own: Profile) -> list[Relation]:
    """What an engine sends whose semantics is known."""
    return [report.relation for report in evaluate(query, {"s": source}, own.semantics())]


def test_a_stated_window_lies_so_long_before():
    """ω = β = 10, d = 4, elements at 3 and 13. [3, 13) is the window that would be [7, 17) without
    a lag, so that t0 is 7, or 7 less 10. Of [0, 10) and [13, 23) both are windows under no t0.
    """
    query, source = asked(10, 10, 4), elements(3, 13)
    answers = outputs(query, source, OPEN.but(t0=7))
    for stated, passes in (([(3, 13), (13, 23)], True), ([(0, 10), (13, 23)], False)):
        found = judge(query, {"s": source}, OPEN, answers, missing=0, windows=stated)
        assert found.passed is passes


@pytest.mark.parametrize("t0", ["first-element", "first-reach"])
def test_an_engine_may_begin_long_before_its_window_sees_an_element(t0):
    """ORA-2: ω = β = 2, d = 10, the first element at 20. It is in a window from 30 on, so the range
    begins at 27; an engine that begins with it, or ω before, reports empty windows first.
    """
    shown = OPEN.but(report="window-close")
    query, source = asked(2, 2, 10), elements(20, 25)
    answers = outputs(query, source, shown.but(t0=t0))
    assert not answers[0].rows and len(answers) > 8
    assert judge(query, {"s": source}, shown, answers, missing=0).passed


def test_the_values_of_t0_are_as_late_as_the_first_element_is_seen():
    """ORA-2: ω = 10, β = 5, d = 30, the first element at 3. It is seen from 33 on, and all windows
    that hold it are there if t0 is at most 23. With a t0 that is earlier by β there is one more
    window, and one shifts at 33, too. With a t0 that is earlier by β again nothing else changes. So
    of the values up to 23 the last 2β are tried: those from 23 - 2 * 5 + 1 on. Tried, too, are 0, 3
    and 3 - ω, since engines begin with them.
    """
    query, source = asked(10, 5, 30), elements(3, 12)
    semantics = OPEN.but(t0=0, report="window-close", closure="[)").semantics()
    planned = engine.plan(query, {"s": source}, semantics)
    expected = T0Candidates(23 - 2 * 5 + 1, 33, (-7, 0, 3))
    assert find_t0_candidates(query, planned, UNKNOWN) == expected


def test_the_order_of_elements_that_come_at_once_cannot_matter():
    """ORA-4: where all windows have a lag, no element is in scope when it comes."""
    changing = OPEN.but(t0=0, report="content-change", tick="tuple")
    source = elements(1, 1, 4, ordered=False)
    for lag, matters in ((3, False), (0, True)):
        planned = engine.plan(asked(2, 1, lag), {"s": source}, changing.semantics())
        assert order_matters(planned) is matters


def test_a_later_t0_is_looked_for_up_to_where_the_last_element_is_seen():
    """ORA-13: ω = β = 2, d = 10, elements at 0 to 3. With t0 = 13 the window [3, 5) is the first,
    with the last element alone. No engine may begin after 0 + 10, where the first one is seen.
    """
    query, source = asked(2, 2, 10), elements(0, 1, 2, 3)
    answers = outputs(query, source, OPEN.but(t0=13))
    assert len(answers) == 1
    found = judge(query, {"s": source}, OPEN, answers, missing=0)
    assert not found.passed
    (change,) = find_explanations(found.recorded, OPEN, found, fields=("t0",)).changes
    assert change.field == "t0"
