"""Which rule of SPEC.md says what a value of a field means."""

from __future__ import annotations

from typing import Any

from refengine.core.semantics import POLICIES, T0, is_open, show

INTEGER = "an integer"
# field -> the rule that says what its values mean, or {value: rule} if there is one for each value
RULES: dict[str, str | dict[str, str]] = {
    "t0": {
        INTEGER: "WIN-3",
        **{str(t0): "WIN-7" for t0 in T0},
        **{str(t0): "WIN-10" for t0 in POLICIES},
    },
    "offset": {INTEGER: "WIN-10", "none": "SEM-2"},
    "closure": {"[)": "WIN-2", "(]": "WIN-2", "[]": "WIN-2", "none": "QRY-5"},
    "slide": "WIN-17",
    "partial": "WIN-11",
    "report": {
        "window-close": "REP-1",
        "content-change": "REP-2",
        "non-empty": "REP-3",
        "periodic": "REP-4",
    },
    "close_rule": "TICK-6",
    "period": {INTEGER: "REP-4", "none": "SEM-2"},
    "anchor": {INTEGER: "REP-4", "t0": "REP-11", "first-element": "REP-11", "none": "SEM-2"},
    "change_baseline": "REP-8",
    "change_scope": "REP-9",
    "expiry_seen": "TICK-7",
    "missed_instants": "REP-10",
    "tick": {"tuple": "TICK-1", "time": "TICK-2", "batch": "TICK-3"},
    "trigger": "REP-12",
    "collection": "R2R-9",
    "consumption": "R2R-22",
    "r2s": {"Rstream": "R2S-1", "Istream": "R2S-2", "Dstream": "R2S-3", "append": "R2S-7"},
    "base": {"previous": "R2S-4", "previous-new": "R2S-8", "none": "SEM-2"},
    "empty": {"emit": "R2S-5", "suppress": "R2S-5", "once": "R2S-9"},
    "horizon": "ENG-1",
    "instant": "ENG-4",
    "allowed_lateness": "MOD-2",
    "window": {
        "time": "WIN-5",
        "tuple": "WIN-6",
        "range": "WIN-12",
        "now": "WIN-12",
        "unbounded": "WIN-13",
        "landmark": "WIN-13",
        "rows": "WIN-14",
        "partition": "WIN-15",
    },
    "unit": "WIN-16",
}


def rules_of_value(field: str, value: Any) -> list[str]:
    """Return the rules that say what a value of a field means. For `report` there is one for each
    condition, and for an open t0 it is ORA-2.
    """
    rules = RULES[field]
    if isinstance(rules, str):
        return [rules]
    return sorted({rules.get(word, "ORA-2") for word in _words(value)})


def rules_of_change(field: str, claimed: Any, value: Any) -> list[str]:
    """Return the rules that an engine breaks if a field has a value where it claims another one:
    those of the value that it claims. For `report` they are those of the conditions that only one
    of the two has. If the claimed value is open, they are those of the other one. A field that does
    not apply to either breaks no rule: it changes with another field.

    >>> from refengine.core.semantics import Tick
    >>> rules_of_change("tick", Tick.TIME, Tick.TUPLE)
    ['TICK-2']
    """
    if value is None or claimed is None or value == claimed:
        return []
    if isinstance(claimed, frozenset) and isinstance(value, frozenset):
        return rules_of_value(field, claimed ^ value)
    if is_open(claimed):
        return rules_of_value(field, value)
    return rules_of_value(field, claimed)


def _words(value: Any) -> list[str]:
    """Return the value of a field as the words that RULES has for it: one, or one for each
    condition of `report`.
    """
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, int):
        return [INTEGER]
    return [show(value)]
