"""§9 evaluate: the sections composed, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import NamedTuple

from refengine import r2r, r2s, report, tick, window
from refengine.errors import InvalidQuery, InvalidSemantics, TooManyReports, Unsupported
from refengine.model import Bag, Element, Relation, Stream, Triple
from refengine.query import Body, Query, Window, WindowKind
from refengine.semantics import R2S, Condition, End, Instant, Semantics

MAX_REPORTS = 10**7
Answer = Callable[[Body, frozenset[Triple]], Relation]


class Evaluation(NamedTuple):
    """A reported window: the instant t, the index of the arrival that triggered it, the window's number n,
    and the content as a range of element indices."""

    t: int
    arrival: int
    n: int
    content: range


@dataclass(frozen=True)
class Report:
    """One report: the evaluation instant, the trigger (t_app of the arrival; the horizon for the flush), the window's
    (o, c), the output instant, the content and the relation that is emitted."""

    evaluation: int
    trigger: int
    window: tuple[int, int]
    instant: int
    content: tuple[Element, ...]
    relation: Relation


class Step(NamedTuple):
    """One evaluation: its window, the body's answer, the report that R2S makes of it, and whether that is emitted."""

    at: Evaluation
    answer: Bag
    report: Report
    emitted: bool


def horizon(spec: Window, elements: Sequence[Element], end: int | End) -> int | None:
    """ENG-1: nothing follows the last arrival, or time goes on to a horizon: the given one, or last t_app + ω + 2,
    which shows every non-empty window closing and the last emptying under every closure."""
    last = elements[-1].app if elements else None
    match end:
        case End.NONE:
            return None
        case End.FLUSH:
            return None if last is None else last + spec.size + 2
        case _:
            if last is not None and end <= last:
                raise InvalidSemantics(f"horizon {end} is not after the last element, at {last}", rule="ENG-1")
            return end


def arrivals(spec: Window, elements: Sequence[Element], semantics: Semantics) -> list[Element]:
    """ENG-1: the stream and, if it is flushed, a sentinel without payload at the horizon, in a batch of its own."""
    end = horizon(spec, elements, semantics.horizon)
    if end is None:
        return list(elements)
    last = elements[-1] if elements else Element(frozenset(), end, 0, 0)
    return [*elements, Element(frozenset(), end, last.sys + 1, (last.batch or 0) + 1)]


def evaluations(
    spec: Window, elements: Sequence[Element], semantics: Semantics, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """S2R, tick and report: the windows that are reported, in order, before any query is asked."""
    return chain.from_iterable(stretches(spec, elements, semantics, max_reports))


def stretches(
    spec: Window, elements: Sequence[Element], semantics: Semantics, max_reports: int = MAX_REPORTS
) -> Iterator[Iterator[Evaluation]]:
    """The evaluations in stretches of one arrival and one content (ENG-2)."""
    t0 = window.origin(spec, semantics.t0, elements[0].app if elements else None)
    if t0 is None:
        return
    frame = window.frame(spec, semantics.closure, t0)
    incoming = arrivals(spec, elements, semantics)
    times = window.instants(spec, incoming)
    start = window.start(frame)
    select = spans if spec.kind is WindowKind.TIME else latest
    reported, count = range(0), 0
    for k, interval in tick.ticks(incoming, times, semantics.tick, start):
        interval = range(max(interval.start, start), interval.stop)
        for at, tested in select(frame, times, semantics, interval, k):
            if not report.worthy(semantics, tested, reported):
                continue
            if Condition.CHANGE in semantics.report:
                at = at[:1]
            count = bounded(count + max(0, -((at.start - at.stop) // at.step)), max_reports, times, k)
            reported = window.content(frame, times, at[-1], k)
            yield map(partial(_evaluation, frame, k, reported), at)


def _evaluation(frame: window.Frame, arrival: int, content: range, t: int) -> Evaluation:
    return Evaluation(t, arrival, window.active(frame, t), content)


def spans(frame: window.Frame, times: Sequence[int], semantics: Semantics, interval: range, k: int) -> Iterator[tuple[range, range]]:
    """ENG-2: an interval's instants in stretches of constant content, each with that content; within a stretch only
    the instants where close and periodic can hold are visited, and of those the first alone can be a content change."""
    t = interval.start
    while t < interval.stop:
        following = window.until(frame, times, t, k)
        stop = interval.stop if following is None else min(following, interval.stop)
        at = report.timely(semantics, frame, range(t, stop), times[k])
        if at.start < at.stop:
            yield at, window.content(frame, times, t, k)
        t = stop


def latest(frame: window.Frame, times: Sequence[int], semantics: Semantics, interval: range, k: int) -> Iterator[tuple[range, range]]:
    """REP-7: for tuple-based windows a tick reports once: of the ids where close and periodic hold the largest,
    while content change and non-empty look at the content at the tick's last id."""
    at = report.timely(semantics, frame, interval, times[k])
    if at.start < at.stop:
        yield at[-1:], window.content(frame, times, interval.stop - 1, k)


def bounded(count: int, bound: int, times: Sequence[int], k: int) -> int:
    """ENG-3: more reports than the bound are an error that names the gap in which they fall."""
    if count > bound:
        since = f"element {k} at {times[k - 1]}" if k else "the start"
        raise TooManyReports(
            f"{count} reports, more than max_reports={bound}, by the gap between {since} and element {k + 1} at {times[k]}; "
            "add non-empty or content-change to the report, choose a later t0, or raise max_reports",
            rule="ENG-3",
        )
    return count


def output_instant(instant: Instant, semantics: Semantics, at: Evaluation, incoming: Sequence[Element]) -> int:
    """ENG-4: the instant a report is stamped with: the border at the evaluation, the evaluation, the arrival that
    triggered it (SECRET), or the arrival before, at which an eager engine would have answered."""
    match instant:
        case Instant.CLOSE:
            return at.t - window.borders(semantics.closure)[1]
        case Instant.EVALUATION:
            return at.t
        case Instant.TRIGGER:
            return incoming[at.arrival].app
        case Instant.EAGER:
            return incoming[at.arrival - 1].app if at.arrival else at.t


def evaluate(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    *,
    answer: Answer = r2r.agreed,
    max_reports: int = MAX_REPORTS,
) -> Iterator[Report]:
    """The sequence of reports of a continuous query over streams under a semantics, lazily.

    `answer` is R2R: a body and a graph to a relation (by default what all installed witnesses agree on).
    Raises a RefengineError for input that no rule gives a meaning.

    >>> from refengine import from_table, profile, stream
    >>> q = from_table({"body": "SELECT ?x {?x ?p ?o}", "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}]})
    >>> s = stream([(("<urn:a>", "<urn:p>", "<urn:o>"), 3), (("<urn:b>", "<urn:p>", "<urn:o>"), 10)])
    >>> [(r.window, len(r.relation.rows)) for r in evaluate(q, {"s": s}, profile("csparql").but(t0=0).semantics())]
    [((0, 10), 1), ((10, 20), 1)]
    """
    return (step.report for step in steps(query, streams, semantics, answer=answer, max_reports=max_reports) if step.emitted)


def the_window(query: Query, streams: Mapping[str, Stream]) -> tuple[Window, tuple[Element, ...]]:
    """QRY-4: the query's window and its stream's elements; the stream must be declared."""
    if len(query.windows) > 1:
        raise Unsupported("several windows in one query have no rule yet", rule="QRY-4", place="windows[1]")
    spec = query.windows[0]
    if spec.stream not in streams:
        declared = ", ".join(sorted(streams)) or "none"
        raise InvalidQuery(f"window on undeclared stream {spec.stream!r}; declared: {declared}", rule="QRY-4", place="windows[0]")
    return spec, streams[spec.stream].elements


def steps(
    query: Query, streams: Mapping[str, Stream], semantics: Semantics, *, answer: Answer, max_reports: int
) -> Iterator[Step]:
    """Every evaluation of a continuous query, those whose empty answer is suppressed among them."""
    spec, elements = the_window(query, streams)
    incoming = arrivals(spec, elements, semantics)
    before: Bag = Counter()
    for number, at in enumerate(evaluations(spec, elements, semantics, max_reports)):
        content = elements[at.content.start : at.content.stop]
        graph = r2r.dataset(content)
        relation = answer(query.body, graph)
        now = r2r.fresh(relation.rows, graph, number)
        output = r2s.relation_to_stream(operator(query, semantics), now, before)
        before = now
        opens = window.origin(spec, semantics.t0, elements[0].app if elements else None) + at.n * spec.slide
        instant = output_instant(semantics.instant, semantics, at, incoming)
        relation = Relation(relation.variables, output)
        report = Report(at.t, incoming[at.arrival].app, (opens, opens + spec.size), instant, content, relation)
        yield Step(at, now, report, r2s.emitted(semantics.empty, output))


def operator(query: Query, semantics: Semantics) -> R2S:
    """R2S-6: the operator is the one that the query states; where it states none, the semantics says it."""
    return query.r2s or semantics.r2s
