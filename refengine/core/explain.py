"""§3 A query in sentences: what its windows, graphs and operator mean, each with the rule."""

from __future__ import annotations

from collections.abc import Iterator

from refengine.core.query import Form, Query, Unit, Window, WindowKind
from refengine.core.values import R2S

ANSWERS = {
    Form.SELECT: "SELECT answers with a bag of rows (R2R-2).",
    Form.ASK: "ASK answers with one row, true or false (R2R-3).",
    Form.CONSTRUCT: "CONSTRUCT answers with a set of triples (R2R-4).",
}


def explain(query: Query, static: bool = False) -> list[str]:
    """Return sentences on what each part of a query means, each with its rule. `static` says
    whether the query is asked beside static data that it does not name.
    """
    return [
        *(
            line
            for window in query.windows
            for line in explain_window(window, query.body.reads_windows)
        ),
        *_explain_start(query),
        *_explain_graphs(query, static),
        ANSWERS[query.body.form],
        _explain_operator(query.r2s),
    ]


def explain_window(window: Window, is_apart: bool = False) -> Iterator[str]:
    """Yield sentences on a window: where its content is found, and what the content is. `is_apart`
    says whether the body reads windows by WINDOW, apart from named graphs.
    """
    if window.name is None:
        place = "Its content is in the default graph (R2R-1)."
    elif is_apart:
        place = f"WINDOW <{window.name}> reads its content, and GRAPH does not (R2R-8)."
    else:
        place = f"Its content is the named graph <{window.name}> (R2R-8)."
    yield f"A window of kind {window.kind} over the stream {window.stream!r}. {place}"
    yield f"  {_content(window)}"
    if window.is_keyed:
        keys = ", ".join(window.by)
        yield f"  There is one such window for each key, by {keys} (WIN-24)."
    if window.lag:
        yield f"  It has a lag: its borders and its content lie {window.lag} units back (WIN-20)."
    if window.triggers:
        yield "  It is marked as a trigger (REP-12)."


def _content(window: Window) -> str:
    unit = "elements"
    if window.unit is Unit.TRIPLES:
        unit = "triples"
    size, slide = window.size, window.slide
    match window.kind:
        case WindowKind.TIME:
            return (
                f"Windows of {size} units of time open every {slide}: they {_overlap(window)}. "
                f"Window n opens at t0 + {slide}n and closes {size} later (WIN-3)."
            )
        case WindowKind.TUPLE:
            return (
                f"Windows of {size} {unit} open every {slide} of them: they {_overlap(window)} "
                "(WIN-6)."
            )
        case WindowKind.RANGE:
            changes = _describe_slide(window, "units of time")
            return f"It holds the latest {size} units of time{changes} (WIN-12)."
        case WindowKind.NOW:
            return "It holds the elements of the current instant (WIN-12)."
        case WindowKind.UNBOUNDED:
            return "It holds everything that has arrived (WIN-13)."
        case WindowKind.LANDMARK:
            return "It holds everything since the first instant of window 0 (WIN-13)."
        case WindowKind.ROWS:
            changes = _describe_slide(window, unit)
            return f"It holds the latest {size} {unit}{changes} (WIN-14, WIN-16)."
        case WindowKind.PARTITION:
            keys = ", ".join(window.by)
            return f"It holds the latest {size} elements of each key, by {keys} (WIN-15)."
        case WindowKind.SESSION:
            return f"A session ends when nothing has come for {size} units of time (WIN-23)."


def _overlap(window: Window) -> str:
    if window.step < window.span:
        return "overlap"
    if window.step == window.span:
        return "tumble"
    return "leave gaps"


def _describe_slide(window: Window, unit: str) -> str:
    if window.slide is None:
        return ""
    return f", and changes only every {window.slide} {unit}"


def _explain_start(query: Query) -> Iterator[str]:
    """Yield what the text leaves to the semantics: t0, borders, and when a report is due."""
    if any(window.kind in (WindowKind.TIME, WindowKind.TUPLE) for window in query.windows):
        yield "t0, where the first window opens, is not in the query: give t0=… (WIN-3, WIN-7)."
    yield "When an answer is reported is not in the query: give tick=… and report=… (§5, §6)."


def _explain_graphs(query: Query, static: bool) -> Iterator[str]:
    for clause in query.body.graphs:
        where = "is added to the default graph"
        if clause.is_named:
            where = "is the named graph of this IRI"
        yield (
            f"{clause}: what --static {clause.graph}=FILE gives {where}. "
            "Nothing is fetched (QRY-2)."
        )
    if static:
        yield "Static data is part of the dataset, and of no window's content (R2R-8)."


def _explain_operator(r2s: R2S | None) -> str:
    if r2s is None:
        return "The query states no operator of R2S: the semantics says it (R2S-6)."
    return f"The query states {r2s}: each report has {_rows_of(r2s)} ({r2s.rule})."


def _rows_of(r2s: R2S) -> str:
    match r2s:
        case R2S.RSTREAM:
            return "the whole answer"
        case R2S.ISTREAM:
            return "the rows that are new since the answer before"
        case R2S.DSTREAM:
            return "the rows that are gone since the answer before"
        case R2S.APPEND:
            return "the rows that no element of the content before gave"
