"""Which rule of SPEC.md says what a value of a field means."""

from __future__ import annotations

from typing import Any

from refengine.core.profile import is_open
from refengine.core.query import Unit, WindowKind
from refengine.core.semantics import ENUMS, FIELDS, show
from refengine.core.values import Condition

INTEGER = "an integer"
# the rule of what is no named value of a field
INTEGERS = {
    "t0": "WIN-3",
    "offset": "WIN-10",
    "period": "REP-4",
    "anchor": "REP-4",
    "horizon": "ENG-1",
    "allowed_lateness": "MOD-2",
    "early_count": "REP-15",
    "early_period": "REP-15",
    "watermark_delay": "MOD-5",
}
NONES = {
    "offset": "SEM-2",
    "closure": "QRY-5",
    "period": "SEM-2",
    "anchor": "SEM-2",
    "base": "SEM-2",
    "early_count": "REP-15",
    "early_period": "REP-15",
    "watermark_delay": "SEM-2",
    "expiry_rule": "SEM-2",
}
KINDS = {
    WindowKind.TIME: "WIN-5",
    WindowKind.TUPLE: "WIN-6",
    WindowKind.RANGE: "WIN-12",
    WindowKind.NOW: "WIN-12",
    WindowKind.UNBOUNDED: "WIN-13",
    WindowKind.LANDMARK: "WIN-13",
    WindowKind.ROWS: "WIN-14",
    WindowKind.PARTITION: "WIN-15",
    WindowKind.SESSION: "WIN-23",
}


def _rules_of_field(field: str) -> dict[str, str]:
    """Return the rule that says what each value of a field means, by its word."""
    rules = {str(value): value.rule for value in ENUMS.get(field, ())}
    if field == "report":
        rules = {str(condition): condition.rule for condition in Condition}
    if field in INTEGERS:
        rules = {INTEGER: INTEGERS[field], **rules}
    if field in NONES:
        rules["none"] = NONES[field]
    return rules


# of every dimension: the fields of a semantics, and what a window is
RULES: dict[str, dict[str, str]] = {
    **{field: _rules_of_field(field) for field in FIELDS},
    "window": {str(kind): rule for kind, rule in KINDS.items()},
    "unit": {str(unit): "WIN-16" for unit in Unit},
}


def rules_of_value(field: str, value: Any) -> list[str]:
    """Return the rules that say what a value of a field means. For `report` there is one for each
    condition, and for an open t0 it is ORA-2.
    """
    rules = RULES[field]
    if len(set(rules.values())) == 1:
        return list(rules.values())[:1]
    return sorted({rules.get(word, "ORA-2") for word in _words(value)})


def rules_of_change(field: str, claimed: Any, value: Any) -> list[str]:
    """Return the rules that an engine breaks if a field has a value where it claims another one:
    those of the value that it claims. For `report` they are those of the conditions that only one
    of the two has. If the claimed value is open, they are those of the other one. A field that does
    not apply to either breaks no rule: it changes with another field.

    >>> from refengine.core.values import Tick
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
