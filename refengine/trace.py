"""Which rules made a report: one line a rule, in the order of SPEC.md's sections."""

from __future__ import annotations

from collections.abc import Iterator

from refengine.core import engine, report, silence, window
from refengine.core.engine import Plan, Step
from refengine.core.query import Form, Query, WindowKind
from refengine.core.schedule import Cause, Evaluation
from refengine.core.semantics import Semantics
from refengine.core.values import Condition
from refengine.core.window import Content, WindowView

SHOWN = 12  # elements of a content

FORMS = {Form.SELECT: "R2R-2", Form.ASK: "R2R-3", Form.CONSTRUCT: "R2R-4"}
CONTENTS = {WindowKind.ROWS: "WIN-14", WindowKind.PARTITION: "WIN-15"}


def lines(query: Query, planned: Plan, step: Step) -> Iterator[str]:
    """Yield the rules that were applied at one evaluation, each as `RULE what it said here`."""
    yield from _tick(planned, step)
    yield from _windows(planned, step)
    if step.report.late:
        yield f"MOD-2 {step.report.late} late elements were dropped"
    yield from _answer(query, planned.semantics, step)
    yield f"ENG-4 the output instant ({planned.semantics.instant}) is {step.report.instant}"


def _tick(planned: Plan, step: Step) -> Iterator[str]:
    semantics, at = planned.semantics, step.at
    who = f"arrival {at.arrival + 1} at {step.report.trigger}"
    is_flushed = at.arrival == len(planned.counts[0]) - 1
    if is_flushed:
        who = f"the horizon {step.report.trigger}"
        yield f"ENG-1 the stream is flushed to {step.report.trigger}"
    yield f"{semantics.tick.rule} {semantics.tick} tick: {who} is looked at"
    yield f"TICK-4 one of its instants is {at.t}"


def _windows(planned: Plan, step: Step) -> Iterator[str]:
    semantics, at = planned.semantics, step.at
    is_one = len(planned.views) == 1
    for view, held, borders in zip(planned.views, at.windows, step.report.windows, strict=True):
        for line in _window(semantics, view, at, held, borders, planned.own[at.arrival]):
            rule, _, text = line.partition(" ")
            if is_one:
                yield line
            else:
                yield f"{rule} window on {view.spec.stream}: {text}"
    if not is_one:
        yield f"REP-12 the trigger is {semantics.trigger} of {len(planned.views)} windows"


def _answer(query: Query, semantics: Semantics, step: Step) -> Iterator[str]:
    triples = {t for content in step.report.contents for e in content for t in e.graph}
    yield f"R2R-1 the dataset has {len(triples)} triples of streams"
    yield f"{FORMS[query.body.form]} {query.body.form} answers {step.answer.total()} rows"

    if semantics.is_consuming:
        yield f"R2R-22 they are matches; consumption is {semantics.consumption}"
    operator = engine.operator(query, semantics)
    source = "R2S-6 said by the semantics"
    if query.r2s:
        source = "R2S-6 stated by the query"
    count = step.report.relation.rows.total()
    yield f"{operator.rule} {operator} ({source}) gives {count} rows"

    if not step.report.relation:
        what = "suppressed"
        if step.emitted:
            what = "emitted"
        yield f"{semantics.empty.rule} the empty answer is {what}"


def _window(
    semantics: Semantics,
    view: WindowView,
    at: Evaluation,
    held: engine.WindowContent,
    borders: tuple[int, int] | None,
    own: int,
) -> Iterator[str]:
    kind, t = view.spec.kind, at.t
    if held.key:
        yield f"WIN-24 it is the window of the key {' '.join(held.key)}"
    if semantics.reported_windows.is_every:
        yield from _one_of_every_window(semantics, view, at, borders, own)
        return
    if view.frame is None or (extent := window.scope(view.frame, t)) is None:
        if reason := silence.why_not_shown(view, semantics):
            yield f"WIN-12 {reason}"
        else:
            yield "ENG-5 it has no scope yet"
        return

    if borders:
        yield _borders(semantics, kind, held.n, borders)
    if view.spec.lag:
        yield f"WIN-20 the window lies {view.spec.lag} back, by its lag"
    if kind not in CONTENTS and kind is not WindowKind.UNBOUNDED:
        yield f"WIN-5 the scope is the instants {extent[0]} to {extent[1]}"
    yield f"{CONTENTS.get(kind, 'WIN-8')} the content is {_content(view, held.content)}"
    for condition in Condition:
        if condition in semantics.report:
            yield _condition(condition, semantics, view, t, held.content, own)
    if kind is WindowKind.TUPLE:
        yield f"REP-7 {t} is the largest id of the tick at which they hold"


def _one_of_every_window(
    semantics: Semantics,
    view: WindowView,
    at: Evaluation,
    borders: tuple[int, int] | None,
    own: int,
) -> Iterator[str]:
    """Yield what REP-14 to REP-16 say of a window where every window is reported."""
    (held,) = at.windows
    if borders and held.n is None:
        yield f"WIN-23 the session is said to be [{borders[0]}, {borders[1]})"
    elif borders:
        left, right = semantics.closure or "[]"
        yield f"WIN-3 the window is number {held.n}, {left}{borders[0]}, {borders[1]}{right}"
    yield _cause(semantics, at, own)
    shown = _content(view, held.content)
    if at.takes_back:
        yield f"REP-16 it takes back what it showed: {shown}"
    else:
        yield f"REP-16 its {semantics.panes} pane is {shown}"


def _cause(semantics: Semantics, at: Evaluation, own: int) -> str:
    """Return why a window is reported, or takes back what it showed."""
    named = ", ".join(sorted(semantics.report))
    match at.cause:
        case Cause.OPEN:
            return f"REP-14 it is open, and its conditions hold: {named}"
        case Cause.AGAIN:
            return f"REP-14 it had closed, and took in an element; its conditions hold: {named}"
        case Cause.EARLY:
            return f"REP-15 it is reported early: {_why_early(semantics, at.t, own)}"


def _why_early(semantics: Semantics, t: int, own: int) -> str:
    period = semantics.early_period
    border = t - window.borders(semantics.closure)[1]
    if period is not None and t < own and border % period == 0:
        return f"the border instant {border} is a multiple of {period}"
    return f"at least {semantics.early_count} of its elements are new"


def _borders(
    semantics: Semantics, kind: WindowKind, number: int | None, borders: tuple[int, int]
) -> str:
    left, right = semantics.closure or "[]"
    which = "WIN-4 the active window"
    if kind is WindowKind.RANGE:
        which = "WIN-12 the latest window that has ended"
    return f"{which} is number {number}, WIN-3 {left}{borders[0]}, {borders[1]}{right}"


def _condition(
    condition: Condition, semantics: Semantics, view: WindowView, t: int, content: Content, own: int
) -> str:
    match condition:
        case Condition.CLOSE:
            if view.frame is not None and report.closes(view.frame, range(t, t + 1), own):
                return f"REP-1 window close holds: {t} is a window's last instant"
            return f"REP-1 window close does not hold: {t} is not a window's last instant"
        case Condition.CHANGE:
            change, against = semantics.change_scope, semantics.change_baseline
            return f"REP-2 content change is of {change}, against the {against}"
        case Condition.NON_EMPTY:
            return f"REP-3 non-empty {_holds(bool(content))}"
        case Condition.ARRIVAL:
            return f"REP-13 arrival {_holds(True)}: an element came whose own instant is {t}"
        case Condition.PERIODIC:
            holds = _holds(bool(report.periodic_instants(semantics, view, range(t, t + 1))))
            since = report.anchor(semantics, view)
            return f"REP-4 periodic {holds}: every {semantics.period} from {since}"


def _holds(is_true: bool) -> str:
    if is_true:
        return "holds"
    return "does not hold"


def _content(view: WindowView, content: Content) -> str:
    if not content:
        return "empty"
    shown = ", ".join(f"{i + 1}@{view.elements[i].app}" for i in content[:SHOWN])
    more = ""
    if len(content) > SHOWN:
        more = f", … {len(content) - SHOWN} more"
    return f"the elements {shown}{more}"
