"""The windows that libraries gave for small streams, held to the semantics that describe them.

`DIFFERING` names the
streams that a semantics does not describe; each other stream that a library ran must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from recorded_libraries import STREAMS, needs_recordings, runs_of

from refengine import Stream, from_table, profile, stream
from refengine.core import engine
from refengine.core.window import borders_of_window
from refengine.model.elements import TIME_BOUND

BATCH = {"report": "window-close,non-empty", "horizon": "last-window"}
ROLLING = {"t0": "first-reach", "report": "arrival", "horizon": "flush", "tick": "time"}
CLOSURES = {"left": "[)", "right": "(]", "both": "[]", "none": "()", "neither": "()"}
OFFSETS = {
    "epoch": 0,
    "start": "first-element",
    "start_day": "day",
    "end": "last-element",
    "end_day": "day-end",
}
BEGINNINGS = {"window": {"t0": "epoch-latest", "offset": 0}, "datapoint": {"t0": "first-element"}}


def rolling(closure: str, **more: Any) -> dict[str, Any]:
    """The semantics of a window that rolls up to the row, or where the upper border is out, up to
    the instant before it.
    """
    rule = "passed" if closure in ("[)", "()") else "reached"
    return ROLLING | {"closure": closure, "close_rule": rule} | more


DESCRIBED: dict[str, dict[str, Any]] = {
    **{
        f"polars-dynamic-{closed}-{begin}": BATCH | {"closure": CLOSURES[closed]} | fields
        for closed in ("left", "right", "both", "none")
        for begin, fields in BEGINNINGS.items()
    },
    **{
        f"polars-rolling-{closed}": rolling(CLOSURES[closed])
        for closed in ("left", "right", "both", "none")
    },
    **{
        f"pandas-resample-{closed}-{origin}": BATCH
        | {"closure": CLOSURES[closed], "t0": "epoch", "offset": offset, "report": "window-close"}
        for closed in ("left", "right")
        for origin, offset in OFFSETS.items()
    },
    "pandas-rolling-left": rolling("[)"),
    "pandas-rolling-neither": rolling("()"),
    "pandas-rolling-right": rolling("(]", tick="tuple"),
    "pandas-rolling-both": rolling("[]", tick="tuple"),
    "duckdb-range-both": rolling("[]"),
    "duckdb-range-right": rolling("(]"),
    "duckdb-bucket": BATCH | {"closure": "[)", "t0": "epoch", "offset": 0},
    "csp-sum": rolling("(]", tick="tuple"),
    "esper-time": rolling("(]", tick="tuple"),
    "river-rolling": rolling("(]", tick="tuple"),
    "quix-sliding-final": rolling("[]", report="arrival,content-change"),
}
EMPTY_FIRST_BIN = {"tumble-borders", "negative-tumble", "one-on-border"}
OUT_OF_ORDER = {"disorder", "late", "late-for-some"}
DIFFERING: dict[str, set[str]] = {
    "pandas-resample-left-end": EMPTY_FIRST_BIN,  # pandas' issue 62154
    "pandas-resample-left-end_day": EMPTY_FIRST_BIN,
    "csp-sum": {"negative", "negative-tumble"},  # it begins at 0, and has no element before
    "esper-time": OUT_OF_ORDER,  # they take elements as they arrive, not in the order of time
    "river-rolling": OUT_OF_ORDER,
    "quix-sliding-final": {"late", "late-for-some"},  # what is late for a window is not in it
}


def described(name: str, fields: Mapping[str, Any]) -> list[tuple[Any, list[int]]]:
    """The windows and the places of their elements, in the order of the reports, by a semantics."""
    size, slide, times = STREAMS[name]
    window: dict[str, Any] = {"stream": "s", "kind": "time", "size": size, "slide": slide}
    if "arrival" in fields["report"]:
        window = {"stream": "s", "kind": "range", "size": size}
    query = from_table({"body": "ASK {}", "windows": [window]})
    triples = [((f"<urn:{place}>", "<urn:p>", "<urn:o>"), t) for place, t in enumerate(times)]
    semantics = profile("csparql").but(allowed_lateness=TIME_BOUND - 1).with_fields(fields)
    planned = engine.plan(query, {"s": Stream(stream(triples).elements)}, semantics.semantics())
    view = planned.views[0]
    order = in_order(name)
    return [
        (borders_of_window(view, at.windows[0].n), sorted(order[i] for i in at.content))
        for at in engine.evaluations(planned)
    ]


def in_order(name: str) -> list[int]:
    """The places of the elements of a stream, by time."""
    times = STREAMS[name][2]
    return sorted(range(len(times)), key=times.__getitem__)


def recorded(
    name: str, reports: list[dict[str, Any]], fields: Mapping[str, Any], is_renumbered: bool = False
) -> list[Any]:
    """What a library gave, as `described` says it; of rolling windows the contents alone, by the
    time of their rows.
    """
    if "arrival" not in fields["report"]:
        order: Sequence[int] = range(len(STREAMS[name][2]))
        if is_renumbered:  # pandas sorts the rows, and numbers them then
            order = in_order(name)
        return [(tuple(one["window"]), sorted(order[i] for i in one["ids"])) for one in reports]
    return [sorted(one["ids"]) for one in reports]


def is_equal(library: str, name: str, reports: list[dict[str, Any]]) -> bool:
    """Whether a library gave what its semantics says."""
    fields = DESCRIBED[library]
    said = described(name, fields)
    if "arrival" in fields["report"]:
        contents: list[Any] = [content for _, content in said]
        if reports and "id" in reports[0]:  # in the order of arrival, and not of time
            reports = sorted(reports, key=lambda one: (STREAMS[name][2][one["id"]], one["id"]))
        return recorded(name, reports, fields) == contents
    return recorded(name, reports, fields, library.startswith("pandas")) == said


@needs_recordings
@pytest.mark.parametrize("library", DESCRIBED)
def test_a_library_gave_what_its_semantics_says(library: str):
    ran = runs_of(library)
    differing = {name for name, reports in ran.items() if not is_equal(library, name, reports)}
    assert len(ran) > len(differing)
    assert differing == DIFFERING.get(library, set())
