"""The fast schedule of one time-based window: the example of its docstring, by hand."""

from __future__ import annotations

import pytest

from refengine import from_table, profile, stream
from refengine.core import engine
from refengine.incremental.time_windows import is_covered_by_time_windows, time_window_groups

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
    planned = engine.plan(QUERY, {"s": FOUR}, semantics)
    assert is_covered_by_time_windows(planned)
    groups = time_window_groups(planned, max_reports=100)
    found = [(at.t, at.arrival, list(at.content)) for group in groups for at in group]
    assert found == expected
