"""What Spark cannot compute of windows that are each reported on their own is one error."""

from __future__ import annotations

import pytest
from every_window import LATE_FOR_WINDOW

from conformance.spark.truth_query import TruthQuery
from refengine import Unsupported, from_table, profile

TABLE = {"windows": [{"stream": "s", "kind": "session", "size": 5}], "body": "ASK {}"}


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        (LATE_FOR_WINDOW, "late_for"),
        ({"late_for": "nothing", "reported_windows": "active"}, "late_for"),
        ({"panes": "retracting"}, "panes"),
        ({"panes": "replacing"}, "panes"),
    ],
)
def test_what_a_stored_stream_cannot_say_is_refused(fields, place):
    """MOD-5, REP-16: It is in the order of time, and reports have no column for such a mark."""
    semantics = profile("csparql").with_fields({"t0": 0, "reported_windows": "every"} | fields)
    with pytest.raises(Unsupported, match=r"write (late_for=stream|panes=accumulating)") as refused:
        TruthQuery(from_table(TABLE), semantics.semantics())
    assert refused.value.place == place
