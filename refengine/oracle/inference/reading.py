"""What a set of semantics says of each field, and why it leaves some open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from refengine.core.profile import UNKNOWN, is_open, show_open
from refengine.core.query import BORDERED, SLIDING, WindowKind
from refengine.core.question import Question
from refengine.core.semantics import FIELDS
from refengine.core.values import Closure, Condition
from refengine.oracle.inference.representatives import is_in_order
from refengine.oracle.inference.semantics_set import SemanticsSet

NOT_SAID = "the recordings do not tell them apart"


class FieldReading(NamedTuple):
    """What a set says of a field: the `values` that it has in some member, and `why` there are
    several: a rule, a law of docs/laws.md, or that the recordings do not say. `why` is empty for a
    field with one value. `is_free` says whether the values go with all values of the others.
    """

    name: str
    values: tuple[Any, ...]
    why: str = ""
    is_free: bool = True

    @property
    def is_determined(self) -> bool:
        """Whether the field has one value in all members. An open t0 is none."""
        return len(self.values) == 1 and not is_open(self.values[0])

    def __str__(self) -> str:
        listed = ", ".join(show_open(value) for value in self.values)
        if self.is_determined:
            return f"{self.name}={listed}"
        beside = "" if self.is_free else "; not each with all values of other fields"
        return f"{self.name} undetermined: {listed} ({self.why}{beside})"


def read_fields(found: SemanticsSet, questions: Sequence[Question]) -> list[FieldReading]:
    """Return what a set says of each field, after some questions."""
    return [_read(found, name, questions) for name in FIELDS]


def _read(found: SemanticsSet, name: str, questions: Sequence[Question]) -> FieldReading:
    values = found.values(name)
    if len(values) < 2:
        why = "an engine may begin anywhere (ORA-2)" if values == (UNKNOWN,) else ""
        return FieldReading(name, values, why)
    whys = (why for of, holds, why in EQUIVALENCES if of == name and holds(found, questions))
    is_free = all(set(block.values(name)) == set(values) for block in found.blocks)
    return FieldReading(name, values, next(whys, NOT_SAID), is_free)


def _every_report(found: SemanticsSet, holds: Callable[[frozenset[Condition]], bool]) -> bool:
    return all(map(holds, found.values("report")))


def _no_report_of_changes(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return _every_report(found, lambda report: Condition.CHANGE not in report)


def _three_ticks(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return (
        _every_report(
            found, lambda report: Condition.CLOSE in report and Condition.ARRIVAL not in report
        )
        and (
            _no_report_of_changes(found, questions)
            or all(one.is_of_last_report for one in found.values("change_baseline"))
        )
        and not any(one.needs_instants for one in found.values("missed_instants"))
        and _has_kinds(questions, {WindowKind.TIME})
    )


def _expiry_under_close(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return _every_report(found, lambda report: Condition.CLOSE in report) and (
        _no_report_of_changes(found, questions)
        or all(one.is_of_last_report for one in found.values("change_baseline"))
    )


def _change_alone(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return _every_report(found, lambda report: report == {Condition.CHANGE})


def _has_kinds(questions: Sequence[Question], kinds: set[WindowKind]) -> bool:
    """Whether all windows are of some kinds."""
    return all(window.kind in kinds for asked in questions for window in asked.query.windows)


def _one_window(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return all(len(asked.query.windows) == 1 for asked in questions) and not any(
        one.needs_marked_windows for one in found.values("trigger")
    )


def _without(kind: WindowKind) -> Callable[[SemanticsSet, Sequence[Question]], bool]:
    return lambda found, questions: (
        not any(window.kind is kind for asked in questions for window in asked.query.windows)
    )


def _without_keys(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return not any(window.is_keyed for asked in questions for window in asked.query.windows)


def _without_borders(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return not any(window.kind in BORDERED for asked in questions for window in asked.query.windows)


def _closed_when_passed(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return set(found.values("closure")) <= {Closure.LEFT_OPEN, Closure.CLOSED}


def _slide_of_one(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return all(
        window.kind not in SLIDING or window.step == 1
        for asked in questions
        for window in asked.query.windows
    )


def _in_order(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return all(
        is_in_order(asked, window.stream) for asked in questions for window in asked.query.windows
    )


def _always(found: SemanticsSet, questions: Sequence[Question]) -> bool:
    return True


# For a field: when its values cannot be told apart, and the rule or the law that says so
EQUIVALENCES: tuple[tuple[str, Callable[[SemanticsSet, Sequence[Question]], bool], str], ...] = (
    ("closure", _without_borders, "no window has borders, QRY-5"),
    ("slide", _slide_of_one, "no slide is stated but 1: law “Ignored is a slide of one”"),
    ("exact_gap", _without(WindowKind.SESSION), "no window is a session, WIN-23"),
    ("expired_session", _without(WindowKind.SESSION), "no window is a session, WIN-23"),
    ("session_border", _without(WindowKind.SESSION), "no window is a session, WIN-23"),
    ("close_rule", _closed_when_passed, "law “Reached is passed”"),
    ("tick", _three_ticks, "law “Three ticks”"),
    ("trigger", _one_window, "law “Triggers of one window”"),
    ("change_scope", _no_report_of_changes, "no report is of changes, REP-9"),
    ("change_baseline", _no_report_of_changes, "no report is of changes, REP-8"),
    ("change_baseline", _change_alone, "law “Change alone”"),
    ("expiry_seen", _expiry_under_close, "law “Expiry”"),
    ("allowed_lateness", _in_order, "elements are in order: law “Refused is reordered”"),
    ("late_for", _in_order, "elements are in order, MOD-5"),
    ("instant", _always, "recordings have no output instants, ENG-4"),
    ("clock", _without_keys, "no window has a key, WIN-24"),
)


def describe(found: SemanticsSet, questions: Sequence[Question]) -> Iterator[str]:
    """Yield the lines about a set: the fields that have one value, and the others, a line each."""
    readings = read_fields(found, questions)
    yield " ".join(str(one) for one in readings if one.is_determined)
    yield from (str(one) for one in readings if not one.is_determined)
