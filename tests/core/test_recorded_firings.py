"""The windows that libraries gave for small streams as they fire, held to the semantics that
describe them: every window for itself, what is late for it, sessions, panes.

`DIFFERING` names the
streams that a semantics does not describe; each other stream that a library ran must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from every_window import EVERY_WINDOW, LATE_FOR_WINDOW
from recorded_libraries import STREAMS, needs_recordings, runs_of

from refengine import from_table, profile, stream
from refengine.core import engine
from refengine.core.reports import borders_of

# the times of the elements of streams that sessions with a gap of 5 ran on besides
OF_SESSIONS = {"touch": [0, 5, 11], "bridge": [0, 8, 4], "simult": [3, 3, 8, 9]}
GAP = 5
SETTINGS = EVERY_WINDOW | LATE_FOR_WINDOW | {"t0": "epoch", "offset": 0}
LONG = 1_000  # a delay or a grace within which no element is too late
# they were recorded with one watermark, at the end, or their last result of each window was
AT_THE_END = {"watermark_delay": LONG}
UPDATES = {"report": "content-change"}
JOINED = {"exact_gap": "joins", "expired_session": "joined"}
LAST = {"session_border": "last"}

DESCRIBED: dict[str, dict[str, Any]] = {
    "flink-0-event": {},
    "flink-0-purging": {"panes": "discarding"},
    "flink-1000-event": {"allowed_lateness": LONG},
    "flink-1000-purging": {"allowed_lateness": LONG, "panes": "discarding"},
    "beam-default": {"expiry_rule": "passed"},
    "beam-lateness": {"expiry_rule": "passed", "allowed_lateness": LONG, "panes": "discarding"},
    "pathway-exactly-once": {},
    "pathway-plain": AT_THE_END,
    "sessions-flink": AT_THE_END | {"exact_gap": "joins"},
    "sessions-beam": AT_THE_END | {"exact_gap": "parts", "expiry_rule": "passed"},
    "sessions-spark": {"exact_gap": "joins", **AT_THE_END},
    "sessions-kafka": LAST | {"exact_gap": "joins", **AT_THE_END},
    "sessions-bytewax": LAST | {"exact_gap": "joins", **AT_THE_END},
    "sessions-pathway": LAST | {"exact_gap": "parts", **AT_THE_END},
    "sessions-quix": {
        "exact_gap": "joins",
        "session_border": "next",
        **AT_THE_END,
    },
    "kafka-session-update": JOINED
    | LAST
    | UPDATES
    | {"expiry_rule": "passed", "panes": "replacing"},
    "kafka-session-suppress": JOINED | LAST | {"expiry_rule": "passed"},
    "quix-session": JOINED | {"session_border": "next"},
}
DIFFERING: dict[str, set[str]] = {
    "quix-session": {"disorder", "late-for-some"},  # it closes a session two later than the gap
}
TAKEN_BACK = (-1,)  # what is recorded in place of the elements of a report that is taken back
# what they gave is compared without its order: a run of Beam or Pathway has none, and sessions were
# recorded sorted
UNORDERED = ("beam", "pathway", "session", "kafka-session", "quix-session")

Reports = list[tuple[tuple[int, int], tuple[int, ...]]]


def described(name: str, is_session: bool, fields: Mapping[str, Any]) -> Reports:
    """The windows and the places of their elements, in the order of the reports, by a semantics."""
    window: dict[str, Any] = {"stream": "s", "kind": "session", "size": GAP}
    times = OF_SESSIONS.get(name) or STREAMS[name][2]
    if not is_session:
        size, slide, times = STREAMS[name]
        window = {"stream": "s", "kind": "time", "size": size, "slide": slide}
    query = from_table({"body": "ASK {}", "windows": [window]})
    triples = [((f"<urn:{place}>", "<urn:p>", "<urn:o>"), t) for place, t in enumerate(times)]
    semantics = profile("csparql").but(**(SETTINGS | fields)).semantics()
    planned = engine.plan(query, {"s": stream(triples, ordered=False)}, semantics)
    view = planned.views[0]
    return [
        (
            borders_of(view, at.windows[0]),
            TAKEN_BACK if at.takes_back else tuple(at.windows[0].content),
        )
        for at in engine.evaluations(planned)
    ]


def recorded(name: str, reports: list[Any]) -> Reports:
    """What a library gave, as `described` says it. A last element, numbered one past the others,
    was pushed to some libraries so that time goes on: its windows are left out.
    """
    times = OF_SESSIONS.get(name) or STREAMS[name][2]
    found = [
        (one[0], one[1]) if isinstance(one, list) else (one["window"], one["ids"])
        for one in reports
    ]
    return [
        ((window[0], window[1]), tuple(sorted(places)))
        for window, places in found
        if len(times) not in places
    ]


def is_equal(library: str, name: str, reports: list[Any]) -> bool:
    """Whether a library gave what its semantics says."""
    said = described(name, "session" in library, DESCRIBED[library])
    gave = recorded(name, reports)
    if library.startswith(UNORDERED):
        return sorted(gave) == sorted(said)
    return gave == said


@needs_recordings
@pytest.mark.parametrize("library", DESCRIBED)
def test_a_library_fired_as_its_semantics_says(library: str):
    ran = runs_of(library)
    differing = {name for name, reports in ran.items() if not is_equal(library, name, reports)}
    assert len(ran) > len(differing)
    assert differing == DIFFERING.get(library, set())
