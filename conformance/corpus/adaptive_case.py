"""The blocks `adaptive` of a case: a window of a join, the steps of its streams, and the matches
and windows that must come of them (docs/joins.md §15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refengine.joins import adaptive_join, join_profiles
from refengine.joins.records import JoinRecord, Side, Step, Watermark
from refengine.joins.window import JoinWindow

KEY = "k"  # of a record that states none


def window_of(table: Mapping[str, Any]) -> JoinWindow:
    """Return the window that a table gives as changes of a profile. Raises InvalidWindow."""
    changes = {name: value for name, value in table.items() if name != "profile"}
    return join_profiles.join_window(table["profile"], changes)


def steps_of(tables: Sequence[Mapping[str, Any]]) -> list[Step]:
    """Return the records and watermarks of a block."""
    return [_step(table) for table in tables]


def _step(table: Mapping[str, Any]) -> Step:
    if "watermark" in table:
        return Watermark(table["watermark"])
    side = next(side for side in Side if side in table)
    return JoinRecord(side, table["at"], table.get("key", KEY), table[side])


def differences_of_join(block: Mapping[str, Any]) -> list[str]:
    """Return a line for each way in which the join differs from what a block expects. Raises
    RefengineError.
    """
    outcomes = list(
        adaptive_join.find_outcomes(window_of(block["window"]), steps_of(block["steps"]))
    )
    lines = []
    if "error" in block:
        lines.append(f": expected {block['error']}: …{block['message']}…, got no error")
    if "matches" in block:
        expected = [list(match) for match in block["matches"]]
        got = [
            [outcome.left.name, outcome.right.name, outcome.at]
            for outcome in outcomes
            if isinstance(outcome, adaptive_join.Match)
        ]
        if got != expected:
            lines.append(f": expected the matches {expected}, got {got}")
    if "windows" in block:
        evictions = [outcome for outcome in outcomes if isinstance(outcome, adaptive_join.Eviction)]
        lines += _differences_of_windows(block["windows"], evictions)
    return lines


def _differences_of_windows(
    expected: Sequence[Mapping[str, Any]], evictions: Sequence[adaptive_join.Eviction]
) -> list[str]:
    """Return a line for each window that differs, by the keys that a block states."""
    if len(expected) != len(evictions):
        return [f": expected {len(expected)} windows, got {len(evictions)}"]
    lines = []
    for number, (window, eviction) in enumerate(zip(expected, evictions, strict=True), 1):
        got = _eviction_by_keys(eviction)
        stated = {"left": [], "right": [], "key": KEY, **window}
        differing = [name for name in stated if stated[name] != got[name]]
        lines += [
            f": window {number}: expected {name} {stated[name]}, got {got[name]}"
            for name in differing
        ]
    return lines


def _eviction_by_keys(eviction: adaptive_join.Eviction) -> dict[str, Any]:
    """Return an eviction by the keys of a block."""
    return {
        "key": eviction.key,
        "opened": eviction.opened,
        "end": eviction.end,
        "left": [record.name for record in eviction.left],
        "right": [record.name for record in eviction.right],
        "duration": eviction.state.duration,
        "expected_records": [eviction.state.left_expected, eviction.state.right_expected],
    }
