"""The fast schedule of one time-based window: the example of its docstring, by hand, and a quiet
stretch.
"""

from __future__ import annotations

import pytest

from refengine import from_table, profile, stream
from refengine.core import engine
from refengine.incremental.arrival_buffer import plan_streamed
from refengine.incremental.schedule import (
    QuietStretch,
    ScheduleOfChanges,
    quicker_schedule,
    schedule_groups,
)
from refengine.model.errors import TooManyReports

QUERY = from_table(
    {
        "body": "SELECT * { ?s ?p ?o }",
        "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
    }
)
FOUR = stream(
    [
        (("<urn:x>", "<urn:p>", f"<urn:{name}>"), t)
        for name, t in zip("abcd", (1, 4, 4, 12), strict=True)
    ]
)


@pytest.mark.parametrize(
    ("closing", "expected"),
    [
        # (instant, arrival, content as indices)
        ("reached", [(1, 1, [0]), (4, 2, [0, 1]), (4, 3, [0, 1, 2]), (10, 3, [])]),
        # arrivals come an instant early, at 0, 3, 3 and 11: c looks at 3, where a alone is in scope
        ("passed", [(1, 1, [0]), (4, 3, [0, 1, 2]), (10, 3, [])]),
    ],
)
def test_four_arrivals(closing, expected):
    semantics = (
        profile("csparql")
        .but(t0=0, report="content-change", tick="tuple", close_rule=closing, horizon="none")
        .semantics()
    )
    whole = engine.plan(QUERY, {"s": FOUR}, semantics)
    streamed = plan_streamed(QUERY, {"s": iter(FOUR)}, semantics)
    for planned in (whole, streamed):
        assert quicker_schedule(planned) is ScheduleOfChanges
        groups = schedule_groups(planned, max_reports=100)
        found = [(at.t, at.arrival, list(at.content)) for group in groups for at in group]
        assert found == expected


@pytest.mark.parametrize(
    ("expiry_seen", "at_10"),
    [("replayed", [(10, 3, [2])]), ("eager", [(10, 2, []), (10, 3, [2])])],
)
def test_an_arrival_at_the_end_of_a_window(expiry_seen: str, at_10: list):
    """TICK-7: a, b, c and d come at 1, 5, 10 and 12. Under eager expiry c is evaluated at 10, too,
    where [10, 20) holds nothing yet.
    """
    items = [(("<urn:x>", "<urn:p>", f"<urn:{i}>"), at) for i, at in enumerate((1, 5, 10, 12))]
    semantics = (
        profile("csparql")
        .but(t0=0, report="content-change", tick="tuple", expiry_seen=expiry_seen, horizon="none")
        .semantics()
    )
    planned = engine.plan(QUERY, {"s": stream(items)}, semantics)
    groups = schedule_groups(planned, max_reports=100)
    found = [(at.t, at.arrival, list(at.content)) for group in groups for at in group]
    assert found == [(1, 1, [0]), (5, 2, [0, 1]), *at_10]


def test_the_arrivals_of_a_quiet_stretch_are_evaluated_together():
    """a@1, b, c, d and e@4, f@12: nothing leaves [0, 10) before f, so b, c, d and e see one element
    more each, b at 1, to which a has come, and the others at 4. But the bound on reports allows no
    more than three; and of arrivals that are not known beforehand each is by itself.
    """
    items = [(("<urn:x>", "<urn:p>", f"<urn:{i}>"), at) for i, at in enumerate((1, 4, 4, 4, 4, 12))]
    semantics = (
        profile("csparql")
        .but(t0=0, report="content-change", tick="tuple", horizon="none")
        .semantics()
    )
    planned = engine.plan(QUERY, {"s": stream(items)}, semantics)
    groups = list(schedule_groups(planned, max_reports=100))
    (quiet,) = [each for each in groups if isinstance(each, QuietStretch)]
    assert (list(quiet.instants), list(quiet.arrivals)) == ([1, 4, 4, 4], [1, 2, 3, 4])
    assert quiet.first_elements == [0] and len(quiet) == 4
    assert [(at.t, at.arrival, list(at.content)) for group in groups for at in group] == [
        (1, 1, [0]),
        (4, 2, [0, 1]),
        (4, 3, [0, 1, 2]),
        (4, 4, [0, 1, 2, 3]),
        (4, 5, [0, 1, 2, 3, 4]),
        (10, 5, []),
    ]
    found = []
    with pytest.raises(TooManyReports):
        for group in schedule_groups(planned, max_reports=3):
            found += group
    assert [at.arrival for at in found] == [1, 2, 3]

    streamed = plan_streamed(QUERY, {"s": iter(stream(items))}, semantics)
    each_alone = [list(group) for group in schedule_groups(streamed, max_reports=100)]
    assert [at for group in each_alone for at in group] == [at for group in groups for at in group]
    assert all(len(group) <= 1 for group in each_alone)


def test_arrivals_before_the_first_window():
    """At s0 = -1 the arrival there is looked at, and by the tuple tick it has the instant to itself
    only if none came before.
    """
    for times in ((-1, 3), (-5, -1, 3), (-9, -5, 0, 3), (-9, -5, -1, -1, 0)):
        items = [(("<urn:x>", "<urn:p>", f"<urn:{i}>"), at) for i, at in enumerate(times)]
        for tick in ("tuple", "time"):
            for report in ("content-change", "window-close"):
                semantics = profile("csparql").but(t0=0, report=report, tick=tick).semantics()
                planned = engine.plan(QUERY, {"s": stream(items)}, semantics)
                found = [at for group in schedule_groups(planned, 100) for at in group]
                expected = list(engine.evaluations(planned))
                assert [(at.t, at.arrival, list(at.content)) for at in found] == [
                    (at.t, at.arrival, list(at.content)) for at in expected
                ]


def test_streamed_arrivals_before_the_first_instant_that_is_looked_at():
    """WIN-11: [-7, 3) is the first of the windows [0, 10), [7, 17), … with partial ones, and it is
    looked at from s0 = -1 on: over the elements of -4 and -3, which have arrived before.
    """
    query = from_table(
        {
            "body": "SELECT * { ?s ?p ?o }",
            "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 7}],
        }
    )
    items = [(("<urn:x>", "<urn:p>", f"<urn:{i}>"), at) for i, at in enumerate((-4, -3, 2, 2, 4))]
    semantics = (
        profile("csparql")
        .but(t0=0, partial="reported", report="content-change", tick="tuple", horizon="none")
        .semantics()
    )
    for planned in (
        engine.plan(query, {"s": stream(items)}, semantics),
        plan_streamed(query, {"s": iter(stream(items))}, semantics),
    ):
        groups = schedule_groups(planned, max_reports=100)
        found = [(at.t, at.arrival, list(at.content)) for group in groups for at in group]
        assert found == [
            (-1, 2, [0, 1]),
            (2, 3, [0, 1, 2]),
            (2, 4, [0, 1, 2, 3]),
            (3, 4, [2, 3]),
        ]
