"""The windows of joins by name, five that were published and two of ours for comparison; and
windows from the tables of cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple

from refengine.core.values import Closure
from refengine.joins.window import (
    Adaptation,
    Emission,
    JoinWindow,
    LateRecords,
    Opening,
    UpdateMoment,
    UpdateRule,
    WatermarkRule,
)
from refengine.model.errors import InvalidWindow
from refengine.model.messages import did_you_mean, display

PAPER = (
    "S. M. Oo, G. Haesendonck, B. De Meester, A. Dimou: RMLStreamer-SISO: an RDF stream generator "
    "from streaming heterogeneous data, ISWC 2022, Algorithm 1"
)
CODE = "https://github.com/RMLio/RMLStreamer/blob"
CLASSES = "src/main/scala/io/rml/framework/engine/windows"
FLINK = "https://nightlies.apache.org/flink/flink-docs-release-1.14/docs/dev/datastream/operators"


class JoinProfile(NamedTuple):
    """A window with a name: its value, and where it is from."""

    window: JoinWindow
    source: str


PUBLISHED_ADAPTATION = Adaptation(
    upper=Fraction(3, 2),
    lower=Fraction(1, 2),
    lower_included=False,
    growth=Fraction(2),
    shrink=Fraction(1, 2),
    least=50,
    most=5000,
    clamped=False,
    expected_records=1000,
    update_rule=UpdateRule.COST_PLUS_HALF,
    updates_at=UpdateMoment.OUTSIDE_THRESHOLDS,
    cleared=False,
)
CODED_ADAPTATION = replace(
    PUBLISHED_ADAPTATION, growth=Fraction(11, 10), clamped=True, cleared=True
)
THESIS_ADAPTATION = replace(
    CODED_ADAPTATION,
    lower=Fraction(3, 2),
    lower_included=True,
    growth=Fraction(2),
    updates_at=UpdateMoment.ALWAYS,
)
CODED = JoinWindow(
    duration=2000,
    slide=None,
    opens=Opening.FIRST_RECORD,
    closure=Closure.CLOSED,
    emits=Emission.ARRIVAL,
    late=LateRecords.JOIN,
    watermarks=WatermarkRule.BEFORE,
    adaptation=CODED_ADAPTATION,
)
TUMBLING = JoinWindow(
    duration=2000,
    slide=2000,
    opens=Opening.ZERO,
    closure=Closure.RIGHT_OPEN,
    emits=Emission.CLOSE,
    late=LateRecords.DROP,
    watermarks=WatermarkRule.BEFORE,
    adaptation=None,
)
JOIN_PROFILES = {
    "algorithm-1": JoinProfile(
        replace(CODED, opens=Opening.PREVIOUS_END, adaptation=PUBLISHED_ADAPTATION),
        f"{PAPER}: a window begins where the one before was evicted (watermark >= |W| + delta), "
        "without a clamp. Thresholds, expected records and first duration are those of the code",
    ),
    "rmlstreamer": JoinProfile(CODED, f"{CODE}/1f4dbad/{CLASSES}/DynamicWindowImpl.scala"),
    "rmlstreamer-thesis": JoinProfile(
        replace(CODED, adaptation=THESIS_ADAPTATION),
        f"{CODE}/ac9ba0a/{CLASSES}/DynamicWindowImpl.scala, the branch feature/window_joins; until "
        "commit ac9ba0a the class was called VC_TWindow",
    ),
    "rmlstreamer-uncleared": JoinProfile(
        replace(CODED, adaptation=replace(CODED_ADAPTATION, cleared=False)),
        "decided here: the profile rmlstreamer, but its adapted state is kept",
    ),
    "tumbling": JoinProfile(TUMBLING, f"{FLINK}/joining/#tumbling-window-join"),
    "sliding": JoinProfile(
        replace(TUMBLING, slide=1000), f"{FLINK}/joining/#sliding-window-join; a slide of half"
    ),
    "fixed": JoinProfile(
        replace(CODED, adaptation=None),
        "decided here: the profile rmlstreamer without an adaptation",
    ),
}

CHOICES: dict[str, type[StrEnum]] = {
    "opens": Opening,
    "closure": Closure,
    "emits": Emission,
    "late": LateRecords,
    "watermarks": WatermarkRule,
    "update_rule": UpdateRule,
    "updates_at": UpdateMoment,
}
NUMBERS = frozenset({"upper", "lower", "growth", "shrink"})
BOOLEANS = frozenset({"lower_included", "clamped", "cleared"})
WINDOW_FIELDS = tuple(field.name for field in fields(JoinWindow))
ADAPTATION_FIELDS = tuple(field.name for field in fields(Adaptation))


def join_window(name: str, changes: Mapping[str, Any] | None = None) -> JoinWindow:
    """Return the window of a profile with some fields changed, such as `{"duration": 10,
    "adaptation": {"cleared": False}}`. The values of fields are those of a table in TOML: "none"
    for a slide or an adaptation that there is not, and a number or a text such as "3/2" for a
    threshold or a factor. Raises InvalidWindow for a name, a field or a value that there is not
    (ADA-1).
    """
    if name not in JOIN_PROFILES:
        raise _unknown("a profile", name, JOIN_PROFILES)
    window = JOIN_PROFILES[name].window
    values = _values(changes or {}, WINDOW_FIELDS)
    if isinstance(inner := values.get("adaptation"), Mapping):
        base = window.adaptation or CODED_ADAPTATION
        values["adaptation"] = replace(base, **_values(inner, ADAPTATION_FIELDS))
    return replace(window, **values)


def join_window_to_json(window: JoinWindow) -> dict[str, Any]:
    """Return a window as a table of JSON, from which `join_window` makes it again: every field, and
    those of its adaptation in a table of their own.
    """
    table = {name: _to_json(getattr(window, name)) for name in WINDOW_FIELDS}
    if window.adaptation is not None:
        table["adaptation"] = {
            name: _to_json(getattr(window.adaptation, name)) for name in ADAPTATION_FIELDS
        }
    return table


def _to_json(value: Any) -> Any:
    """Return the value of a field as that of a table."""
    if value is None:
        return "none"
    if isinstance(value, Fraction | StrEnum):
        return str(value)
    return value


def _values(table: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    """Return the values of a table's fields. Raises InvalidWindow."""
    for name in table:
        if name not in known:
            raise _unknown("a field", name, known)
    return {name: _value(name, value) for name, value in table.items()}


def _value(name: str, value: Any) -> Any:
    """Return the value of a field from that of a table. Raises InvalidWindow."""
    if name in ("slide", "adaptation") and value == "none":
        return None
    if name in CHOICES:
        if value in [*CHOICES[name]]:
            return CHOICES[name](value)
        words = [
            str(member) for member in CHOICES[name] if getattr(member, "has_lower_border", True)
        ]
        reason = f"{name} must be one of {', '.join(words)}, got {display(value)}"
        raise _invalid(f"{reason}{did_you_mean(value, words)}")
    if name in NUMBERS:
        return _fraction(name, value)
    if name in BOOLEANS and not isinstance(value, bool):
        raise _invalid(f"{name} must be true or false, got {display(value)}")
    if name == "adaptation" and not isinstance(value, Mapping):
        raise _invalid(f'adaptation must be a table or "none", got {display(value)}')
    return value


def _fraction(name: str, value: Any) -> Fraction:
    """Return a threshold or a factor exactly: 1.1 is 11/10. Raises InvalidWindow."""
    try:
        if isinstance(value, bool):
            raise ValueError
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        reason = f'{name} must be a number or a text such as "3/2", got {display(value)}'
        raise _invalid(reason) from None


def _unknown(what: str, name: str, known: Any) -> InvalidWindow:
    """Return the error of a name that there is not."""
    return _invalid(f"{display(name)} is not {what}{did_you_mean(name, known)}")


def _invalid(reason: str) -> InvalidWindow:
    """Return the error of a window of a join."""
    return InvalidWindow(reason, rule="ADA-1", place="window of a join")
