"""Which rules made a report: one line a rule, in the order of SPEC.md's sections."""

from __future__ import annotations

from collections.abc import Iterator

from refengine.core import engine, report, startup, window
from refengine.core.engine import Plan, Step
from refengine.core.query import Form, Query, WindowKind
from refengine.core.semantics import R2S, Condition, Empty, Semantics, Tick
from refengine.core.window import Content, View

SHOWN = 12  # elements of a content

TICKS = {Tick.TUPLE: "TICK-1", Tick.TIME: "TICK-2", Tick.BATCH: "TICK-3"}
OPERATORS = {R2S.RSTREAM: "R2S-1", R2S.ISTREAM: "R2S-2", R2S.DSTREAM: "R2S-3", R2S.APPEND: "R2S-7"}
FORMS = {Form.SELECT: "R2R-2", Form.ASK: "R2R-3", Form.CONSTRUCT: "R2R-4"}
CONTENTS = {WindowKind.ROWS: "WIN-14", WindowKind.PARTITION: "WIN-15"}


def lines(query: Query, planned: Plan, step: Step) -> Iterator[str]:
    """The rules that were applied at one evaluation, each as `RULE what it said here`."""
    semantics, at = planned.semantics, step.at
    flushed = at.arrival == len(planned.counts[0]) - 1
    who = (
        f"the horizon {step.report.trigger}"
        if flushed
        else f"arrival {at.arrival + 1} at {step.report.trigger}"
    )
    if flushed:
        yield f"ENG-1 the stream is flushed to {step.report.trigger}"
    yield f"{TICKS[semantics.tick]} {semantics.tick} tick: {who} is looked at"
    yield f"TICK-4 one of its instants is {at.t}"
    for view, held, borders in zip(planned.views, at.windows, step.report.windows, strict=True):
        label = f"window on {view.spec.stream}: " if len(planned.views) > 1 else ""
        for line in _window(semantics, view, at.t, held, borders, planned.own[at.arrival]):
            rule, _, said = line.partition(" ")
            yield f"{rule} {label}{said}"
    if len(planned.views) > 1:
        yield f"REP-12 the trigger is {semantics.trigger} of {len(planned.views)} windows"
    if step.report.late:
        yield f"MOD-2 {step.report.late} late elements were dropped"
    yield (
        "R2R-1 the dataset has "
        f"{len({t for content in step.report.contents for e in content for t in e.graph})} "
        "triples of streams"
    )
    yield f"{FORMS[query.body.form]} {query.body.form} answers {step.answer.total()} rows"
    operator = engine.operator(query, semantics)
    said = "R2S-6 stated by the query" if query.r2s else "R2S-6 said by the semantics"
    yield (
        f"{OPERATORS[operator]} {operator} ({said}) gives {step.report.relation.rows.total()} rows"
    )
    if not step.report.relation:
        rule = "R2S-9" if semantics.empty is Empty.ONCE else "R2S-5"
        yield f"{rule} the empty answer is {'emitted' if step.emitted else 'suppressed'}"
    yield f"ENG-4 the output instant ({semantics.instant}) is {step.report.instant}"


def _window(
    semantics: Semantics,
    view: View,
    t: int,
    held: engine.Held,
    borders: tuple[int, int] | None,
    own: int,
) -> Iterator[str]:
    kind = view.spec.kind
    if view.frame is None or (extent := window.scope(view.frame, t)) is None:
        reason = startup.reason(view, semantics)
        yield f"WIN-12 {reason}" if reason else "ENG-5 it has no scope yet"
        return
    if borders:
        left, right = semantics.closure or "[]"
        which = (
            "WIN-12 the latest window that has ended"
            if kind is WindowKind.RANGE
            else "WIN-4 the active window"
        )
        yield f"{which} is number {held.n}, WIN-3 {left}{borders[0]}, {borders[1]}{right}"
    if kind not in CONTENTS and kind is not WindowKind.UNBOUNDED:
        yield f"WIN-5 the scope is the instants {extent[0]} to {extent[1]}"
    yield f"{CONTENTS.get(kind, 'WIN-8')} the content is {_content(view, held.content)}"
    yield from _conditions(semantics, view, t, held.content, own)


def _conditions(
    semantics: Semantics, view: View, t: int, content: Content, own: int
) -> Iterator[str]:
    for condition in (condition for condition in Condition if condition in semantics.report):
        match condition:
            case Condition.CLOSE:
                frame = view.frame
                holds = frame is not None and bool(report.closes(frame, range(t, t + 1), own))
                yield (
                    f"REP-1 window close {'holds' if holds else 'does not hold'}: {t} is "
                    f"{'' if holds else 'not '}a window's last instant"
                )
            case Condition.CHANGE:
                change, against = semantics.change, semantics.against
                yield f"REP-2 content change is of {change}, against the {against}"
            case Condition.NON_EMPTY:
                yield f"REP-3 non-empty {'holds' if content else 'does not hold'}"
            case Condition.PERIODIC:
                holds = bool(report.beats(semantics, view, range(t, t + 1)))
                since = report.anchor(semantics, view)
                yield (
                    f"REP-4 periodic {'holds' if holds else 'does not hold'}: every "
                    f"{semantics.period} "
                    f"from {since}"
                )
    if view.spec.kind is WindowKind.TUPLE:
        yield f"REP-7 {t} is the largest id of the tick at which they hold"


def _content(view: View, content: Content) -> str:
    shown = ", ".join(f"{i + 1}@{view.elements[i].app}" for i in content[:SHOWN])
    more = f", … {len(content) - SHOWN} more" if len(content) > SHOWN else ""
    return f"the elements {shown}{more}" if content else "empty"
