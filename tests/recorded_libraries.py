"""The windows that libraries gave for small streams. The recordings are
`shared/prototypes/windows/results` beside the checkout, if it is there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "prototypes" / "windows" / "results"
# size, slide and the times of the elements in the order of arrival
STREAMS: dict[str, tuple[int, int, list[int]]] = {
    "tumble-borders": (10, 10, [0, 5, 9, 10, 19, 20]),
    "slide-borders": (10, 5, [0, 5, 10, 15, 20]),
    "gap": (10, 5, [3, 4, 47]),
    "simultaneous": (10, 10, [3, 3, 10, 10, 10]),
    "first-off-slide": (10, 5, [7, 12, 13, 26]),
    "negative": (10, 5, [-7, -5, -1, 0, 3, 12]),
    "negative-tumble": (10, 10, [-10, -1, 0, 9, 10]),
    "hop": (4, 10, [1, 3, 4, 9, 10, 13, 14, 20]),
    "not-multiple": (10, 4, [1, 4, 9, 10, 13, 22]),
    "disorder": (10, 10, [2, 8, 5, 12, 25]),
    "late": (10, 10, [2, 12, 5, 13, 25]),
    "late-for-some": (10, 5, [2, 11, 6, 25]),
    "one": (10, 5, [13]),
    "one-on-border": (10, 10, [20]),
}
needs_recordings = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="no shared/prototypes/windows/results beside the checkout"
)


def runs_of(library: str) -> dict[str, list[Any]]:
    """Return what a library gave, by the name of the stream, for those that it did not refuse."""
    data = json.loads((FOLDER / f"{library}.json").read_text(encoding="utf-8"))["streams"]
    return {name: reports for name, reports in data.items() if not isinstance(reports, str)}
