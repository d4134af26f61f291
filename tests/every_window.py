"""The semantics of the tests in which every window is reported, as fields of a profile."""

from __future__ import annotations

from typing import Any

EVERY_WINDOW: dict[str, Any] = {
    "t0": 0,
    "closure": "[)",
    "report": "window-close,non-empty",
    "tick": "tuple",
    "empty": "suppress",
    "horizon": "flush",
    "instant": "evaluation",
    "reported_windows": "every",
}
# each window decides what is late for it, by the greatest app and without a delay and a grace
LATE_FOR_WINDOW: dict[str, Any] = {
    "late_for": "window",
    "watermark": "greatest",
    "watermark_delay": 0,
    "expiry_rule": "reached",
    "allowed_lateness": 0,
}
