"""§9 evaluate: the sections composed, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge
from itertools import accumulate, chain, groupby, islice
from typing import NamedTuple, TypedDict

from refengine.core import r2r, r2s, report, tick, window
from refengine.core.query import BORDERED, CLOSING, Body, Query, Window, WindowKind
from refengine.core.report import Firing
from refengine.core.semantics import R2S, T0, Against, Condition, End, Instant, Semantics, Trigger
from refengine.core.window import Content, Frame, View
from refengine.model.canonical import canonical_dataset
from refengine.model.elements import Bag, Dataset, Element, Relation, Stream, admit
from refengine.model.errors import InvalidQuery, InvalidSemantics, RefengineError, TooManyReports

MAX_REPORTS = 10**7
Answer = Callable[[Body, Dataset], Relation]


class Held(NamedTuple):
    """What a window holds at an evaluation: its number n (None where windows have none, or it has
    no scope), and the content as ascending indices of its stream's elements.
    """

    n: int | None
    content: Content


class Evaluation(NamedTuple):
    """An evaluation: the instant t, the index of the arrival that triggered it, and what each
    window of the query holds.
    """

    t: int
    arrival: int
    windows: tuple[Held, ...]

    @property
    def content(self) -> Content:
        """The content of the first window."""
        return self.windows[0].content


@dataclass(frozen=True)
class Report:
    """One report: the evaluation instant, the trigger (t_app of the arrival; the horizon for the
    flush), the output instant, for each window of the query its (o, c), if it has borders, and its
    content, the number of elements that were dropped because they were late, and the relation that
    is emitted.
    """

    evaluation: int
    trigger: int
    windows: tuple[tuple[int, int] | None, ...]
    instant: int
    contents: tuple[Sequence[Element], ...]
    late: int
    relation: Relation

    @property
    def window(self) -> tuple[int, int] | None:
        """(o, c) of the first window."""
        return self.windows[0]


class Options(TypedDict, total=False):
    """The keywords of `evaluate`, for what passes them on."""

    static: Dataset
    answer: Answer
    max_reports: int


class Step(NamedTuple):
    """One evaluation: the body's answer, the report that R2S makes of it, and whether that is
    emitted.
    """

    at: Evaluation
    answer: Bag
    report: Report
    emitted: bool


@dataclass(frozen=True)
class Plan:
    """A query over streams under a semantics: its windows, the arrivals of all streams (ENG-5) with
    their own instants, how many of each window's elements are among the first k, and the late
    elements.
    """

    semantics: Semantics
    views: tuple[View, ...]
    arrivals: Sequence[Element]
    own: Sequence[int]
    counts: tuple[Sequence[int], ...]
    late: tuple[Element, ...]

    @property
    def tuples(self) -> bool:
        """Whether instants are ids: a tuple-based window is the only one of its query (QRY-5)."""
        return self.views[0].spec.kind is WindowKind.TUPLE


@dataclass
class Seen:
    """What content change compares with: each window's content as last reported, and at the instant
    evaluated before; and how many reports there were.
    """

    reported: tuple[Content, ...]
    before: tuple[Content, ...]
    count: int = 0


def plan(query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> Plan:
    """QRY-4: a query's windows range over declared streams, and no two have one name."""
    meaning(query, semantics)
    admitted = {}
    for number, spec in enumerate(query.windows):
        reason = None
        if spec.stream not in streams:
            reason = (
                f"window on undeclared stream {spec.stream!r}; declared: "
                f"{', '.join(sorted(streams)) or 'none'}"
            )
        elif spec.name is not None and spec.name in [
            other.name for other in query.windows[:number]
        ]:
            reason = f"two windows are named {spec.name!r}; give each a name of its own"
        if reason:
            raise InvalidQuery(reason, rule="QRY-4", place=f"windows[{number}]")
        try:
            admitted[spec.stream] = admit(streams[spec.stream].elements, semantics.disorder)
        except RefengineError as error:
            raise error.at(f"stream {spec.stream!r}") from None
    kept, late = (
        {name: found.elements for name, found in admitted.items()},
        [e for found in admitted.values() for e in found.late],
    )
    views = tuple(
        window.view(spec, kept[spec.stream], semantics, query.registered) for spec in query.windows
    )
    arrivals, counts = merged(kept)
    end = horizon([view.spec for view in views], arrivals, semantics.horizon)
    if end is not None:
        last = max((element.sys for element in (*arrivals, *late)), default=0)
        batch = max((element.batch or 0 for element in (*arrivals, *late)), default=0) + 1
        arrivals = (*arrivals, Element(frozenset(), end, last + 1, batch))
    if views[0].spec.kind is WindowKind.TUPLE:
        own = [*views[0].ids, *([(views[0].ids or [0])[-1] + 1] if end is not None else [])]
    else:
        own = [arrival.app + shift for shift in (tick.own(semantics, 0),) for arrival in arrivals]
    return Plan(
        semantics,
        views,
        arrivals,
        own,
        tuple(counts[spec.stream] for spec in query.windows),
        tuple(late),
    )


def meaning(query: Query, semantics: Semantics) -> None:
    """QRY-5: query and semantics mean something together."""
    kinds = [spec.kind for spec in query.windows]
    if WindowKind.TUPLE in kinds and len(kinds) > 1:
        raise InvalidQuery(
            "a tuple-based window has ids for instants, which other windows do "
            "not; write kind rows",
            rule="QRY-5",
        )
    bordered = any(kind in BORDERED for kind in kinds)
    problem = None
    if bordered != (semantics.closure is not None):
        problem = (
            "windows with borders need a closure; write closure=[)"
            if bordered
            else "no window has borders; write closure=none"
        )
    elif Condition.CLOSE in semantics.report and (
        kind := next((k for k in kinds if k not in CLOSING), None)
    ):
        problem = f"a window of kind {kind} never closes; write report=content-change"
    elif query.r2s in (R2S.ISTREAM, R2S.DSTREAM) and semantics.base is None:
        problem = (
            f"the query states {query.r2s}, which compares with a base; write r2s={query.r2s} "
            "base=previous"
        )
    elif semantics.t0 == T0.REGISTRATION and query.registered is None:
        problem = "t0=registration needs the key registered in the query"
    elif semantics.trigger is Trigger.EXPLICIT and not any(spec.triggers for spec in query.windows):
        problem = "trigger=explicit needs a window with triggers = true"
    if problem:
        raise InvalidSemantics(problem, rule="QRY-5")


def merged(
    streams: Mapping[str, Sequence[Element]],
) -> tuple[tuple[Element, ...], dict[str, Sequence[int]]]:
    """ENG-5: the arrivals of all streams by t_app, t_sys and the order of the streams; and, of each
    stream, how many of the first k arrivals are its own.
    """
    if len(streams) == 1:
        ((name, elements),) = streams.items()
        return tuple(elements), {name: range(len(elements) + 1)}
    labelled = (
        [(e.app, e.sys, place, e) for e in elements]
        for place, elements in enumerate(streams.values())
    )
    order = list(merge(*labelled))  # no two have app, sys and place in common
    counts: dict[str, Sequence[int]] = {
        name: list(accumulate((number == place for _, _, number, _ in order), initial=0))
        for place, name in enumerate(streams)
    }
    return tuple(arrival[3] for arrival in order), counts


def horizon(windows: Iterable[Window], elements: Sequence[Element], end: int | End) -> int | None:
    """ENG-1: nothing follows the last arrival, or time goes on to a horizon: the given one, or last
    end + ω + 2, which shows every non-empty window closing and the last emptying under every
    closure.
    """
    last = elements[-1].app if elements else None
    match end:
        case End.NONE:
            return None
        case End.FLUSH:
            ends = max(
                (element.app if element.end is None else element.end for element in elements),
                default=None,
            )
            return None if ends is None else ends + max(map(window.reach, windows)) + 2
        case _:
            if last is not None and end <= last:
                raise InvalidSemantics(
                    f"horizon {end} is not after the last element, at {last}", rule="ENG-1"
                )
            return end


def evaluations(planned: Plan, max_reports: int = MAX_REPORTS) -> Iterator[Evaluation]:
    """S2R, tick and report: when the query is evaluated over which windows, in order, before
    anything is asked.
    """
    return chain.from_iterable(stretches(planned, max_reports))


def stretches(planned: Plan, max_reports: int = MAX_REPORTS) -> Iterator[Iterator[Evaluation]]:
    """The evaluations in stretches of one arrival and one content of each window (ENG-2)."""
    # without one a window never opens
    frames = [view.frame for view in planned.views if view.frame]
    if not frames:
        return
    start, nothing = min(map(window.start, frames)), (range(0),) * len(planned.views)
    seen = Seen(nothing, nothing)
    for k, interval in tick.ticks(planned.arrivals, planned.own, planned.semantics.tick, start):
        yield from of_arrival(
            planned, k, range(max(interval.start, start), interval.stop), seen, frames, max_reports
        )


def of_arrival(
    planned: Plan, k: int, interval: range, seen: Seen, frames: Sequence[Frame], bound: int
) -> Iterator[Iterator[Evaluation]]:
    """The stretches of one arrival, whose interval and what was seen before are given."""
    semantics, views, tuples = planned.semantics, planned.views, planned.tuples
    interval = (
        interval if tuples else tick.shifted(semantics.expiry, interval, planned.own[k], frames)
    )
    for at, contents in report.of_a_gap(semantics.gap, firing(planned, k, interval, seen)):
        times = (
            at[0]
            if len(at) == 1
            else list(islice((t for t, _ in groupby(merge(*at))), bound - seen.count + 1))
        )
        if Condition.CHANGE in semantics.report:
            times = times[:1]  # once reported it is no change
        seen.count = bounded(seen.count + _size(times), bound, planned.arrivals, k)
        seen.reported = (
            (window.content(views[0], times[0], planned.counts[0][k]),) if tuples else contents
        )
        yield map(partial(_evaluation, views, k, seen.reported), times)


def _size(times: Sequence[int]) -> int:
    return -((times.start - times.stop) // times.step) if isinstance(times, range) else len(times)


def firing(planned: Plan, k: int, interval: range, seen: Seen) -> Iterator[Firing]:
    """The stretches of arrival k's interval in which the query would be reported, compared with
    what is seen by then.
    """
    semantics, views, tuples, own = planned.semantics, planned.views, planned.tuples, planned.own[k]
    timely = any(report.timely(semantics, view, interval, own) for view in views if view.frame)
    if not timely and Condition.CHANGE not in semantics.report:
        return
    arrived = tuple(counted[k] for counted in planned.counts)
    for span, tested in (latest if tuples else spans)(views, arrived, interval):
        before = (
            (window.content(views[0], interval[-2], *arrived),)
            if tuples and len(interval) > 1
            else seen.before
        )
        seen.before = tested
        states = zip(views, tested, seen.reported, before, strict=True)
        if at := report.fires(
            semantics.trigger,
            views,
            [instants(semantics, *state, span, own) for state in states],
        ):
            yield at, tested


def instants(
    semantics: Semantics,
    view: View,
    content: Content,
    reported: Content,
    before: Content,
    span: range,
    own: int,
) -> range:
    """The instants of a stretch at which all conditions of one window hold."""
    tuples = view.spec.kind is WindowKind.TUPLE
    if view.frame is None or not (content or window.scope(view.frame, span[-1])):
        return range(0)
    if (
        Condition.CHANGE in semantics.report
        and semantics.against is Against.PREVIOUS
        and not tuples
    ):
        span = span[:1]  # the others have the content of the instant before
    at = report.timely(semantics, view, span, own)[-1 if tuples else 0 :]
    return (
        at
        if at
        and report.worthy(
            semantics, view, content, report.base(semantics.against, reported, before)
        )
        else range(0)
    )


def _evaluation(
    views: Sequence[View], arrival: int, contents: Sequence[Content], t: int
) -> Evaluation:
    numbers = [window.number(view.frame, t) if view.frame else None for view in views]
    return Evaluation(t, arrival, tuple(map(Held, numbers, contents)))


Stretch = tuple[range, tuple[Content, ...]]


def spans(views: Sequence[View], arrived: Sequence[int], interval: range) -> Iterator[Stretch]:
    """ENG-2: an interval's instants in stretches of constant content, each with that content;
    within a stretch only the instants where close and periodic can hold are visited, and of those
    that are content changes one alone.
    """
    t = interval.start
    while t < interval.stop:
        following = [window.until(view, t, n) for view, n in zip(views, arrived, strict=True)]
        stop = min((u for u in following if u is not None), default=interval.stop)
        stop = min(stop, interval.stop)
        yield (
            range(t, stop),
            tuple(window.content(view, t, n) for view, n in zip(views, arrived, strict=True)),
        )
        t = stop


def latest(views: Sequence[View], arrived: Sequence[int], interval: range) -> Iterator[Stretch]:
    """REP-7: for tuple-based windows a tick reports once: of the ids where close and periodic hold
    the largest, while content change and non-empty look at the content at the tick's last id.
    """
    if interval:
        yield interval, (window.content(views[0], interval[-1], arrived[0]),)


def bounded(count: int, bound: int, arrivals: Sequence[Element], k: int) -> int:
    """ENG-3: more reports than the bound are an error that names the gap in which they fall."""
    if count > bound:
        since = f"element {k} at {arrivals[k - 1].app}" if k else "the start"
        raise TooManyReports(
            f"{count} reports, more than max_reports={bound}, by the gap between {since} and "
            f"element {k + 1} at {arrivals[k].app}; "
            "add non-empty or content-change to the report, choose a later t0, or raise "
            "max_reports",
            rule="ENG-3",
        )
    return count


def output_instant(
    instant: Instant, semantics: Semantics, at: Evaluation, incoming: Sequence[Element]
) -> int:
    """ENG-4: the instant a report is stamped with: the border at the evaluation, the evaluation,
    the arrival that triggered it (SECRET), or the arrival before, at which an eager engine would
    have answered.
    """
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
    static: Dataset = frozenset(),
    answer: Answer = r2r.confirmed,
    max_reports: int = MAX_REPORTS,
) -> Iterator[Report]:
    """The sequence of reports of a continuous query over streams under a semantics, lazily.

    `static` is the data that never changes: triples of the default graph and quads of named ones.
    `answer` is R2R: a body and a dataset to a relation (by default the definition, which a witness
    confirms). Terms are N-Triples text (MOD-4). Raises a RefengineError for input that no rule
    gives a meaning.

    >>> from refengine import from_table, profile, stream
    >>> tumbling = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    >>> q = from_table({"body": "SELECT ?x {?x ?p ?o}", "windows": [tumbling]})
    >>> a, b = (("<urn:a>", "<urn:p>", "<urn:o>"), 3), (("<urn:b>", "<urn:p>", "<urn:o>"), 10)
    >>> chosen = profile("csparql").but(t0=0).semantics()
    >>> [(r.window, len(r.relation.rows)) for r in evaluate(q, {"s": stream([a, b])}, chosen)]
    [((0, 10), 1), ((10, 20), 1)]
    """
    taken = steps(
        query,
        plan(query, streams, semantics),
        static=static,
        answer=answer,
        max_reports=max_reports,
    )
    return (step.report for step in taken if step.emitted)


def steps(
    query: Query,
    planned: Plan,
    *,
    static: Dataset = frozenset(),
    answer: Answer = r2r.confirmed,
    max_reports: int = MAX_REPORTS,
    skip: int = 0,
) -> Iterator[Step]:
    """Every evaluation of a continuous query, those whose empty answer is suppressed among them.
    The first `skip` are left out, and nothing is asked of them.
    """
    semantics, views, operator_ = (
        planned.semantics,
        planned.views,
        operator(query, planned.semantics),
    )
    base: Bag = Counter()
    output: Bag = Counter()
    contents: list[Content] = [()] * len(views)
    static = canonical_dataset(static)

    def answered(contents: Sequence[Content], number: str) -> tuple[Bag, tuple[str, ...]]:
        dataset = r2r.together(views, contents, static, query.body)
        relation = answer(query.body, dataset)
        return r2r.collected(
            semantics.collection, r2r.fresh(relation.rows, dataset, number)
        ), relation.variables

    for number, at in islice(enumerate(evaluations(planned, max_reports)), skip, None):
        before, contents = contents, [held.content for held in at.windows]
        now, variables = answered(contents, str(number))
        if operator_ is R2S.APPEND:
            base = answered([*map(kept, contents, before)], f"{number}k")[0]
        last, output = output, r2s.relation_to_stream(operator_, now, base)
        base = r2s.rebase(semantics.base, base, now)
        arrival = planned.arrivals[at.arrival]
        borders = tuple(
            window.opening(view, held.n) for view, held in zip(views, at.windows, strict=True)
        )
        stamp = output_instant(semantics.instant, semantics, at, planned.arrivals)
        shown = tuple(
            tuple(view.elements[i] for i in content)
            for view, content in zip(views, contents, strict=True)
        )
        late = sum(element.sys < arrival.sys for element in planned.late)
        report = Report(at.t, arrival.app, borders, stamp, shown, late, Relation(variables, output))
        yield Step(at, now, report, r2s.emitted(semantics.empty, output, last))


def kept(content: Content, before: Content) -> Content:
    """R2S-7: what of a content was in it at the previous evaluation, too."""
    return sorted({*content} & {*before})


def operator(query: Query, semantics: Semantics) -> R2S:
    """R2S-6: the operator is the one that the query states; where it states none, the semantics
    says it.
    """
    return query.r2s or semantics.r2s
