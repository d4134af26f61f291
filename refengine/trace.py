"""Which rules made a report: one line a rule, in the order of SPEC.md's sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from refengine import engine, window
from refengine.engine import Step
from refengine.model import Element, Stream
from refengine.query import Form, Query, Window, WindowKind
from refengine.semantics import R2S, Condition, Empty, Semantics, Tick

SHOWN = 12  # elements of a content

TICKS = {Tick.TUPLE: "TICK-1", Tick.TIME: "TICK-2", Tick.BATCH: "TICK-3"}
OPERATORS = {R2S.RSTREAM: "R2S-1", R2S.ISTREAM: "R2S-2", R2S.DSTREAM: "R2S-3"}
FORMS = {Form.SELECT: "R2R-2", Form.ASK: "R2R-3", Form.CONSTRUCT: "R2R-4"}


def lines(query: Query, streams: Mapping[str, Stream], semantics: Semantics, step: Step) -> Iterator[str]:
    """The rules that were applied at one evaluation, each as `RULE what it said here`."""
    spec, elements = engine.the_window(query, streams)
    t0 = window.origin(spec, semantics.t0, elements[0].app if elements else None)
    frame = window.frame(spec, semantics.closure, t0)
    at, (opens, closes) = step.at, step.report.window
    left, right = semantics.closure
    who = f"arrival {at.arrival + 1} at {step.report.trigger}" if at.arrival < len(elements) else f"the horizon {step.report.trigger}"
    if at.arrival == len(elements):
        yield f"ENG-1 the stream is flushed to {step.report.trigger}"
    yield f"{TICKS[semantics.tick]} {semantics.tick} tick: {who} is looked at"
    yield f"TICK-4 one of its instants is {at.t}"
    yield f"WIN-4 the active window is number {at.n}, WIN-3 {left}{opens}, {closes}{right}"
    first, last = window.scope(frame, at.t)
    yield f"WIN-5 the scope is the instants {first} to {last}"
    yield f"WIN-8 the content is {_content(spec, elements, at.content)}"
    yield from _conditions(spec, semantics, frame, step)
    yield f"R2R-1 the dataset has {len(set().union(*(e.graph for e in step.report.content)))} triples"
    yield f"{FORMS[query.body.form]} {query.body.form} answers {step.answer.total()} rows"
    operator = engine.operator(query, semantics)
    said = "R2S-6 stated by the query" if query.r2s else "R2S-6 said by the semantics"
    yield f"{OPERATORS[operator]} {operator} ({said}) gives {step.report.relation.rows.total()} rows"
    if not step.report.relation:
        yield f"R2S-5 the empty answer is {'emitted' if semantics.empty is Empty.EMIT else 'suppressed'}"
    yield f"ENG-4 the output instant ({semantics.instant}) is {step.report.instant}"


def _conditions(spec: Window, semantics: Semantics, frame: window.Frame, step: Step) -> Iterator[str]:
    at = step.at
    for condition in sorted(semantics.report):
        match condition:
            case Condition.CLOSE:
                yield f"REP-1 window close: {at.t} is the window's last instant"
            case Condition.CHANGE:
                yield "REP-2 content change: the content differs from the one last reported"
            case Condition.NON_EMPTY:
                yield "REP-3 non-empty: the content holds an element"
            case Condition.PERIODIC:
                yield f"REP-4 periodic: the border instant is {semantics.anchor} plus a multiple of {semantics.period}"
    if spec.kind is WindowKind.TUPLE:
        yield f"REP-7 {at.t} is the largest id of the tick at which they hold"


def _content(spec: Window, elements: Sequence[Element], content: range) -> str:
    shown = ", ".join(f"{i + 1}@{elements[i].app}" for i in content[:SHOWN])
    more = f", … {len(content) - SHOWN} more" if len(content) > SHOWN else ""
    return f"the elements {shown}{more}" if content else "empty"
