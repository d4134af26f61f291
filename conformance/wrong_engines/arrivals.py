"""Wrong engines for §6, REP-13: which arrivals are reported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import schedule
from refengine.core.plan import Plan
from refengine.core.schedule import ReportState, Stretch


@wrong("REP-13", replaces=schedule.reported_arrivals)
def simultaneous_elements_are_one(
    right: Right, planned: Plan, k: int, state: ReportState, stretches: Iterator[Stretch]
) -> Any:
    """Reports all elements of an instant once."""
    last_of = {arrival.own: arrival for arrival in state.arrived}
    state = replace(state, arrived=tuple(last_of.values()))
    return right(planned, k, state, stretches)
