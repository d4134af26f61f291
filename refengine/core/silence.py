"""Why there is no report, or none yet, in words for a user: the field that is the reason, and the
value with which there would be something to report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any, NamedTuple

from refengine.core.evaluations import evaluations
from refengine.core.plan import Plan, operator, plan
from refengine.core.query import Query, WindowKind
from refengine.core.reports import Step
from refengine.core.semantics import Semantics, show
from refengine.core.values import CloseRule, Condition, End, MissedInstants, Trigger
from refengine.core.window import WindowView, borders_of_window
from refengine.model.elements import Stream
from refengine.model.errors import RefengineError, require

MOST_EVALUATIONS = 10_000  # that are looked at with another value
MOST_ARRIVALS_FOR_PAIRS = 100_000  # of a plan that is tried with two other values at once


class OtherFields(NamedTuple):
    """Other values of fields, why the values of a run may be the reason, and the rule."""

    changes: Mapping[str, Any]
    reason: str
    rule: str


@dataclass
class EvaluationCounts:
    """What the evaluations of a run were: how many there were, and of how many a window held an
    element, the answer had a row, and the output was emitted.
    """

    evaluations: int = 0
    with_elements: int = 0
    with_rows: int = 0
    emitted: int = 0

    def add(self, step: Step) -> None:
        """Count an evaluation."""
        self.evaluations += 1
        self.with_elements += any(held.content for held in step.at.windows)
        self.with_rows += bool(step.answer)
        self.emitted += step.emitted


def why_silent(
    query: Query, streams: Mapping[str, Stream], planned: Plan, counts: EvaluationCounts
) -> str | None:
    """Return why a run over elements gave no report, with the rule, and what would show something.
    Return None for a run that gave one, for one without elements, and for one over a range that is
    not shown yet, which has a note of its own (WIN-12).
    """
    if counts.emitted or not any(view.elements for view in planned.views):
        return None
    if counts.with_rows:
        applied = operator(query, planned.semantics)
        return (
            f"no report: {applied} gives no row for any of the {counts.evaluations} answers "
            f"({applied.rule}), and {_empty_outputs(planned.semantics)}; write r2s=Rstream "
            "base=none to see the answers"
        )
    if counts.with_elements:
        return (
            f"no report: the body matches nothing at any of the {counts.with_elements} evaluations "
            f"over elements (R2R-1), and {_empty_outputs(planned.semantics)}; write empty=emit to "
            "see each of them"
        )
    if any(notes_on_hidden_ranges(planned)):
        return None
    return f"no report: {_why_nothing_is_looked_at(query, streams, planned)}"


def _empty_outputs(semantics: Semantics) -> str:
    return f"empty outputs are not sent by empty={semantics.empty} ({semantics.empty.rule})"


def _why_nothing_is_looked_at(query: Query, streams: Mapping[str, Stream], planned: Plan) -> str:
    """Return why no evaluation was over an element: the fewest fields with whose other values one
    would be.
    """
    alternatives = list(_alternatives(planned))
    sizes = (1, 2) if len(planned.arrivals) <= MOST_ARRIVALS_FOR_PAIRS else (1,)
    for size in sizes:
        for chosen in combinations(alternatives, size):
            changes = {name: value for fields in chosen for name, value in fields.changes.items()}
            if _has_something(query, streams, planned.semantics, changes):
                reasons = ", and ".join(f"{one.reason} ({one.rule})" for one in chosen)
                values = " ".join(
                    f"{name}={show(value)}"
                    for name, value in changes.items()
                    if value != getattr(planned.semantics, name)
                )
                return f"{reasons}; write {values} to see some"
    named = show(planned.semantics.report)
    return f"the conditions {named} hold at no instant at which a window has an element (REP-6)"


def _alternatives(planned: Plan) -> Iterator[OtherFields]:
    """Yield which other value of a field may give reports, the likeliest first."""
    semantics = planned.semantics
    last = max(view.times[-1] for view in planned.views if view.times)
    if isinstance(semantics.horizon, End) and semantics.horizon.is_last_arrival:
        reason = f"nothing comes after {last} to close a window, by horizon={semantics.horizon}"
        yield OtherFields({"horizon": End.FLUSH}, reason, "ENG-1")
    for view in planned.views:
        t0 = _t0_that_reaches(view)
        if t0 is not None:
            reason = (
                f"the first window {_first_window(view, semantics)} by t0={semantics.t0}, and "
                f"the elements come from {view.t1} to {view.times[-1]}"
            )
            yield OtherFields({"t0": t0, "offset": None}, reason, "WIN-3")
    if not semantics.trigger.is_any_window:
        reason = f"not every window that trigger={semantics.trigger} asks for is ready at once"
        yield OtherFields({"trigger": Trigger.ANY}, reason, "REP-12")
    if semantics.close_rule.needs_later_arrival:
        close_rule = semantics.close_rule
        reason = f"no element comes after the end of a window, as close_rule={close_rule} asks"
        yield OtherFields({"close_rule": CloseRule.REACHED}, reason, "TICK-6")
    yield from _other_conditions(semantics)


def _other_conditions(semantics: Semantics) -> Iterator[OtherFields]:
    """Yield the report with fewer conditions, and the one that is fulfilled first."""
    without = {"period": None, "anchor": None}
    if Condition.PERIODIC in semantics.report and Condition.CLOSE in semantics.report:
        reason = "the period meets no instant at which a window closes"
        yield OtherFields(
            {"report": semantics.report - {Condition.PERIODIC}, **without}, reason, "REP-5"
        )
    if semantics.report != {Condition.CHANGE}:
        reason = f"report={show(semantics.report)} holds at no instant while a window has elements"
        changes = {"report": frozenset({Condition.CHANGE}), "missed_instants": MissedInstants.ALL}
        yield OtherFields({**changes, **without}, reason, "REP-6")


def _t0_that_reaches(view: WindowView) -> int | None:
    """Return the latest t0 that is whole slides before a window's and with which its first window
    does not open after the first element; None if its own one is as early.
    """
    frame = view.frame
    if frame is None or not view.times:
        return None
    late = frame.first + frame.least * frame.slide - (view.times[0] + view.spec.lag)
    if late <= 0:
        return None
    return require(view.t0) + -(-late // frame.slide) * -frame.slide


def _first_window(view: WindowView, semantics: Semantics) -> str:
    """Return where the first window of a query's window lies: `is [0, 10)`, or `begins at 0`."""
    frame = require(view.frame)
    borders = borders_of_window(view, frame.least)
    if borders is None or semantics.closure is None:
        return f"begins at {frame.first + frame.least * frame.slide}"
    left, right = semantics.closure
    return f"is {left}{borders[0]}, {borders[1]}{right}"


def _has_something(
    query: Query, streams: Mapping[str, Stream], semantics: Semantics, changes: Mapping[str, Any]
) -> bool:
    """Return whether an evaluation would be over an element if fields had other values."""
    try:
        planned = plan(query, streams, replace(semantics, **changes))
        return any(
            any(held.content for held in evaluation.windows)
            for evaluation in islice(evaluations(planned), MOST_EVALUATIONS)
        )
    except RefengineError:  # values that mean nothing together, or too many reports
        return False


def first_shown(view: WindowView) -> int | None:
    """WIN-12: Return the first instant at which a `range` is shown, the last of its first window;
    None for other kinds, and for a window that never opens.
    """
    frame = view.frame
    if frame is None or view.spec.kind is not WindowKind.RANGE:
        return None
    return frame.last + frame.least * frame.slide


def why_not_shown(view: WindowView, semantics: Semantics) -> str | None:
    """Return why a `range` is not shown yet, with the fields that say so; None for other kinds."""
    first = first_shown(view)
    if first is None:
        return None
    fields = f"t0={semantics.t0}"
    if semantics.partial.is_without_partial_windows:
        fields += f" and partial={semantics.partial}"
    return (
        f"nothing is shown before {first}, where the first window of the range on "
        f"{view.spec.stream!r} ends, by {fields}"
    )


def notes_on_hidden_ranges(planned: Plan) -> Iterator[str]:
    """WIN-12: Yield a note for each `range` that is not shown yet when its first element comes:
    which fields say so, and with which t0 it would be shown.
    """
    for view in planned.views:
        first = first_shown(view)
        if first is None or not view.elements:
            continue
        enters = require(view.t1) + view.spec.lag
        if enters >= first:
            continue
        slide = require(view.frame).slide
        slides = -((enters - first) // slide)
        forms = f"t0={require(view.t0) - slides * slide}"
        if planned.semantics.partial.is_without_partial_windows:
            forms += " or partial=reported"
        why = why_not_shown(view, planned.semantics)
        yield f"{why}; write {forms} to see what comes before (WIN-12)"
