"""§2, §9 The plan of a query over streams under a semantics: its windows, and the arrivals of all
its streams in one sequence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import accumulate, chain
from operator import attrgetter

from refengine.core import tick, window
from refengine.core.profile import refuse_incomplete
from refengine.core.query import (
    BORDERED,
    CLOSING,
    IF_EVERY_IS_REPORTED,
    Query,
    WindowKind,
    patterns_of,
    refuse_no_query,
)
from refengine.core.semantics import Semantics
from refengine.core.static import refuse_unknown_graphs
from refengine.core.values import R2S, T0, Condition, End
from refengine.core.window import TWO_BORDERS, WindowView
from refengine.model.elements import (
    TIME_BOUND,
    Element,
    Stream,
    admit,
    refuse_no_name,
    refuse_no_stream,
    refuse_no_streams,
)
from refengine.model.errors import (
    InvalidQuery,
    InvalidSemantics,
    RefengineError,
)
from refengine.model.messages import nearest, shortened
from refengine.sparql.grammar import place_in_body

PUNCTUATIONS = ""  # the stream of elements that are in no window (MOD-5); no stream has this name


@dataclass(frozen=True)
class Plan:
    """A query's windows, and the arrivals that they see, under a semantics.

    `views` are the windows, `arrivals` the elements of all streams in one sequence (ENG-5), and
    `own` is each arrival's own instant (TICK-6). `counts[w][k]` is how many of the first k arrivals
    are of window w's stream. `late` are the elements that were dropped (MOD-2), in arrival order.
    """

    semantics: Semantics
    views: tuple[WindowView, ...]
    arrivals: Sequence[Element]
    own: Sequence[int]
    counts: tuple[Sequence[int], ...]
    late: Sequence[Element]

    def __repr__(self) -> str:
        windows = ", ".join(f"{view.spec.kind} over {view.spec.stream!r}" for view in self.views)
        return f"<Plan of {shortened(windows, 200)}, {len(self.arrivals)} arrivals>"

    @property
    def tuples(self) -> bool:
        """Whether instants are ids: a tuple-based window is the only one of its query (QRY-5)."""
        return self.views[0].spec.kind is WindowKind.TUPLE

    @property
    def has_one_window(self) -> bool:
        """Whether the query has one window, which does not stand for one of each key (WIN-24)."""
        return len(self.views) == 1 and not self.views[0].spec.is_keyed

    def late_before(self, arrival: Element) -> int:
        """MOD-2: Return how many elements had been dropped as late when an element arrived."""
        return bisect_left(self.late, arrival.sys, key=attrgetter("sys"))


def plan(query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> Plan:
    """Return the plan of a query over whole streams: check the query, drop late elements, give each
    window its frame, merge the streams, and add the sentinel at the horizon.

    Raises InvalidQuery, InvalidSemantics and InvalidStream (QRY-4, QRY-5, MOD-2, ENG-1).
    """
    refuse_no_streams(streams)
    check_query(query, streams, semantics)
    return with_end(plan_without_end(query, streams, semantics))


def plan_without_end(query: Query, streams: Mapping[str, Stream], semantics: Semantics) -> Plan:
    """Return the plan of a query that was checked, without what follows the last arrival."""
    kept, late = _admit_all(query, streams, semantics)
    views = tuple(
        window.view(spec, kept[spec.stream], semantics, query.registered) for spec in query.windows
    )
    arrivals, counts = merge_streams(
        with_punctuations(kept, streams, semantics), semantics.late_for.keeps_arrival_order
    )
    return Plan(
        semantics,
        views,
        arrivals,
        own_instants(views[0], arrivals, False, semantics),
        tuple(counts[spec.stream] for spec in query.windows),
        tuple(sorted(late, key=attrgetter("sys"))),
    )


def with_end(planned: Plan) -> Plan:
    """ENG-1: Return a plan with the sentinel at the horizon, where one follows the last arrival."""
    return with_sentinel(
        planned, sentinel(planned.views, planned.arrivals, planned.late, planned.semantics)
    )


def with_sentinel(planned: Plan, final: Element | None) -> Plan:
    """Return a plan without its end with a sentinel that follows, if there is one."""
    if final is None:
        return planned
    arrivals = (*planned.arrivals, final)
    own = own_instants(planned.views[0], arrivals, True, planned.semantics)
    return replace(planned, arrivals=arrivals, own=own)


def plan_without_elements(query: Query, streams: Iterable[str], semantics: Semantics) -> Plan:
    """Return the plan of a query over streams of these names without elements. It has the windows,
    each with its slide (WIN-17). Raises what `plan` raises of the query and the semantics, whatever
    the streams hold (QRY-4, QRY-5).
    """
    return plan(query, {name: Stream(()) for name in streams}, semantics)


def check_query(query: Query, streams: Iterable[str], semantics: Semantics) -> None:
    """QRY-4: Check that a query's windows range over declared streams, that no two have one name,
    and that WINDOW names a window. Check QRY-5, too, that the semantics is complete (SEM-3), and
    that the clauses FROM of the body are resolved (QRY-2). Raises InvalidQuery, InvalidSemantics,
    UnknownField and ForbiddenAccess.
    """
    refuse_no_query(query)
    refuse_incomplete(semantics)
    refuse_unknown_graphs(query.body)
    check_meaning(query, semantics)
    names_of_streams = list(streams)
    for name in names_of_streams:
        refuse_no_name(name)
    declared = sorted(names_of_streams)
    for number, spec in enumerate(query.windows):
        place = f"windows[{number}]"
        if spec.stream not in declared:
            names = ", ".join(declared) or "none"
            raise InvalidQuery(
                f"window on undeclared stream {spec.stream!r}; declared: {names}",
                rule="QRY-4",
                place=place,
            )
        before = query.windows[:number]
        if spec.name is not None and spec.name in [other.name for other in before]:
            raise InvalidQuery(
                f"two windows are named {spec.name!r}; give each a name of its own",
                rule="QRY-4",
                place=place,
            )
    check_window_patterns(query)


def check_window_patterns(query: Query) -> None:
    """QRY-4: Check that each WINDOW pattern names a window of the query. Raises InvalidQuery."""
    names = [spec.name for spec in query.windows if spec.name is not None]
    for offset, name in query.body.algebra.windows:
        if name is not None and name not in names:
            raise InvalidQuery(
                f"WINDOW <{name}> names no window of the query{nearest(name, names)}",
                rule="QRY-4",
                place=place_in_body(query.body.text, offset),
            )


def _admit_all(
    query: Query, streams: Mapping[str, Stream], semantics: Semantics
) -> tuple[dict[str, tuple[Element, ...]], list[Element]]:
    """Return the elements of each stream that has a window, in the order of time, and the late
    elements of all streams.
    """
    kept: dict[str, tuple[Element, ...]] = {}
    late: list[Element] = []
    for name in dict.fromkeys(spec.stream for spec in query.windows):
        refuse_no_stream(name, streams[name])
        if semantics.late_for.keeps_arrival_order:
            kept[name] = without_punctuations(streams[name].elements, semantics)
            continue
        try:
            admitted = admit(streams[name].elements, semantics.allowed_lateness)
        except RefengineError as error:
            raise error.at(f"stream {name!r}") from None
        kept[name] = admitted.elements
        late += admitted.late
    return kept, late


def own_instants(
    first: WindowView, arrivals: Sequence[Element], has_sentinel: bool, semantics: Semantics
) -> list[int]:
    """Return the own instant of each arrival: its id if the window is tuple-based, else its t_app
    as the windows see it (TICK-6).
    """
    if first.spec.kind is not WindowKind.TUPLE:
        shift = tick.shift_of_own_instants(semantics)
        if semantics.late_for.keeps_arrival_order:
            return [time + shift for time in watermarks(arrivals, has_sentinel, semantics)]
        return [arrival.app + shift for arrival in arrivals]
    own = list(first.ids)
    if has_sentinel:
        own.append(next_id(own))
    return own


def watermarks(arrivals: Sequence[Element], has_sentinel: bool, semantics: Semantics) -> list[int]:
    """MOD-5: Return the watermark after each arrival: the greatest app so far, less the delay, or
    that of the elements without triples; before the first of these it is before all times. The
    sentinel brings the horizon itself. After elements at 3, 9 and 5 it is 1, 7 and 7 with a delay
    of 2.
    """
    delay = semantics.watermark_delay or 0
    apps = (
        -TIME_BOUND if semantics.reads_punctuations and element.graph else element.app - delay
        for element in arrivals
    )
    own = list(accumulate(apps, max))
    if has_sentinel:
        own[-1] = arrivals[-1].app
    return own


def without_punctuations(elements: Sequence[Element], semantics: Semantics) -> tuple[Element, ...]:
    """MOD-5: Return the elements of a stream that can be in windows."""
    return tuple(each for each in elements if each.graph or not semantics.reads_punctuations)


def with_punctuations(
    kept: Mapping[str, Sequence[Element]], streams: Mapping[str, Stream], semantics: Semantics
) -> dict[str, Sequence[Element]]:
    """MOD-5: Return the elements of streams, and as the stream PUNCTUATIONS the punctuations, which
    are in no window.
    """
    if not semantics.reads_punctuations:
        return dict(kept)
    (name,) = kept
    punctuations = [element for element in streams[name].elements if not element.graph]
    return {**kept, PUNCTUATIONS: punctuations}


def next_id(ids: Sequence[int]) -> int:
    """Return the id after the last one. Ids begin at 1."""
    if not ids:
        return 1
    return ids[-1] + 1


def check_meaning(query: Query, semantics: Semantics) -> None:
    """QRY-5: Check that query and semantics mean something together. Raises InvalidQuery where
    windows do not go together, and InvalidSemantics where the semantics lacks what the query asks
    for.
    """
    kinds = [spec.kind for spec in query.windows]
    if WindowKind.TUPLE in kinds and len(kinds) > 1:
        raise InvalidQuery(
            "a tuple-based window stands alone in its query, since its instants are ids and those "
            "of other windows are times; write kind rows",
            rule="QRY-5",
        )
    problems = chain(
        _problems_of_closure(kinds, semantics),
        _problems_of_sizes(query, semantics),
        _problems_of_statements(query, semantics),
    )
    if WindowKind.TUPLE in kinds and semantics.late_for.keeps_arrival_order:
        problem = f"a tuple-based window has no late_for={semantics.late_for}; "
        raise InvalidSemantics(f"{problem}write late_for=stream", rule="QRY-5")
    problems = chain(problems, _problems_of_every_window(query, semantics))
    for problem in chain(problems, _problems_of_keys(query, semantics)):
        raise InvalidSemantics(problem, rule="QRY-5")


def _problems_of_closure(kinds: Sequence[WindowKind], semantics: Semantics) -> Iterator[str]:
    """Yield why windows of some kinds do not go with a closure, or with window close."""
    has_borders = any(kind in BORDERED for kind in kinds)
    if has_borders and semantics.closure is None:
        yield "windows with borders need a closure; write closure=[)"
    if semantics.closure is not None and not has_borders:
        yield "no window has borders; write closure=none"

    endless = [kind for kind in kinds if kind not in CLOSING]
    if Condition.CLOSE in semantics.report and endless:
        yield f"a window of kind {endless[0]} never closes; write report=content-change"


def _problems_of_sizes(query: Query, semantics: Semantics) -> Iterator[str]:
    """Yield why windows would have no instant under a closure."""
    closure = semantics.closure
    for spec in query.windows:
        if closure is not None and spec.kind in TWO_BORDERS and spec.span < closure.least_size:
            yield (
                f"a window {closure[0]}0, {spec.span}{closure[1]} holds no instant; write "
                f"closure=[) or a size of {closure.least_size} or more"
            )


def _problems_of_statements(query: Query, semantics: Semantics) -> Iterator[str]:
    """Yield what a query states, or leaves unsaid, that does not go with a semantics."""
    if query.r2s is not None and query.r2s.needs_base and semantics.base is None:
        yield (
            f"the query states {query.r2s}, which needs a base to compare with; write "
            f"r2s={query.r2s} base=previous"
        )
    needs_registration = (
        isinstance(semantics.t0, T0) and semantics.t0.needed_instant == "registered"
    )
    if needs_registration and query.registered is None:
        yield (
            f"t0={semantics.t0} needs the instant of registration; "
            "give the query its key registered"
        )
    is_one_marked = any(spec.triggers for spec in query.windows)
    if semantics.trigger.needs_marked_windows and not is_one_marked:
        yield f"trigger={semantics.trigger} needs a window with triggers = true"
    if semantics.is_consuming:
        reason = why_not_consumed(query)
        if reason is not None:
            yield f"consumption={semantics.consumption} {reason}; write consumption=unrestricted"


def _problems_of_every_window(query: Query, semantics: Semantics) -> Iterator[str]:
    """Yield why not every window of a query can be reported, or why every one must be."""
    if not semantics.reported_windows.is_every:
        if any(spec.kind is WindowKind.SESSION for spec in query.windows):
            yield "a session needs every window to be reported; write reported_windows=every"
        return
    first = query.windows[0]
    is_right_open = semantics.closure is not None and semantics.closure.is_right_open
    if len(query.windows) > 1 or first.kind not in IF_EVERY_IS_REPORTED:
        yield (
            "reported_windows=every needs one window of kind time or session; "
            "write reported_windows=active"
        )
    elif first.kind is WindowKind.TIME and first.lag:
        yield "reported_windows=every needs a window without a lag; write reported_windows=active"
    if first.kind is WindowKind.SESSION and not is_right_open:
        yield "a session is [first, end); write closure=[)"
    if first.kind is WindowKind.SESSION and semantics.not_before is not None:
        yield "a session opens at its first element; write not_before=none"
    if query.r2s is not None and not query.r2s.emits_whole_answers:
        yield (
            f"the query states {query.r2s}, which compares with the answer before; "
            "write reported_windows=active"
        )


def _problems_of_keys(query: Query, semantics: Semantics) -> Iterator[str]:
    """Yield why the window of a query cannot stand for one of each key."""
    if not any(spec.is_keyed for spec in query.windows):
        return
    operator_stated = query.r2s or semantics.r2s
    if len(query.windows) > 1:
        yield "a window with a key is the only one of its query; leave out by"
    if not operator_stated.emits_whole_answers or semantics.empty.reads_last_output:
        yield "a window with a key needs r2s=Rstream and empty=emit or suppress; leave out by"


def why_not_consumed(query: Query) -> str | None:
    """QRY-5: Return what a query lacks so that its elements could be consumed (R2R-22); None if it
    lacks nothing.
    """
    first = query.windows[0]
    is_of_matches = first.kind is WindowKind.UNBOUNDED or (
        first.kind is WindowKind.RANGE and first.step == 1
    )
    if len(query.windows) > 1 or first.name is not None or not is_of_matches:
        return "needs one window without a name, of kind range without a slide or unbounded"
    if first.lag:
        return "needs a window without a lag"
    if query.r2s is not None and not query.r2s.reads_kept_content:
        return f"needs append, and the query states {query.r2s}"
    if patterns_of(query.body) is None:
        return "needs a body that is a SELECT over triple patterns alone, without property paths"
    return None


def merge_streams(
    streams: Mapping[str, Sequence[Element]], is_by_sys: bool = False
) -> tuple[tuple[Element, ...], dict[str, Sequence[int]]]:
    """ENG-5: Return the arrivals of all streams, by t_app, then t_sys, then the order of the
    streams. Return with them, for each stream, how many of the first k arrivals are its own, for k
    = 0, 1, …. `is_by_sys` is whether they are ordered by t_sys alone (MOD-5).
    """
    if len(streams) == 1:
        ((name, elements),) = streams.items()
        return tuple(elements), {name: range(len(elements) + 1)}
    labelled = (
        [(0 if is_by_sys else e.app, e.sys, place, e) for e in elements]
        for place, elements in enumerate(streams.values())
    )
    order = list(merge(*labelled))  # no two have app, sys and place in common
    counts: dict[str, Sequence[int]] = {
        name: list(accumulate((number == place for _, _, number, _ in order), initial=0))
        for place, name in enumerate(streams)
    }
    return tuple(arrival[3] for arrival in order), counts


def sentinel(
    views: Sequence[WindowView],
    arrivals: Sequence[Element],
    late: Iterable[Element],
    semantics: Semantics,
) -> Element | None:
    """ENG-1: Return the element without triples that arrives at the horizon, after all others; None
    where nothing follows the last arrival.
    """
    end = horizon(views, arrivals, semantics)
    if end is None:
        return None
    before = [*arrivals, *late]
    last = max((element.sys for element in before), default=0)
    batch = max((element.batch or 0 for element in before), default=0)
    return Element(frozenset(), end, last + 1, batch + 1)


def with_horizon_of_windows(planned: Plan) -> Plan:
    """ENG-1: Return a plan whose windows have moved, with the horizon that they now give."""
    end = planned.semantics.horizon
    if not isinstance(end, End) or not end.depends_on_windows or not planned.arrivals:
        return planned
    *elements, before = planned.arrivals
    final = sentinel(planned.views, elements, planned.late, planned.semantics)
    if final is None:  # an engine that is broken on purpose may have no horizon
        return planned
    own = list(planned.own)
    if not planned.tuples:
        own[-1] = final.app + tick.shift_of_own_instants(planned.semantics)
    return replace(planned, arrivals=(*elements, before._replace(app=final.app)), own=own)


def horizon(
    views: Sequence[WindowView], elements: Sequence[Element], semantics: Semantics
) -> int | None:
    """ENG-1: Return the instant to which time goes on after the last arrival: none, the one stated,
    or for `flush` the last end of an element + the longest reach of a window + 2, and for
    `last-window` one at which the last windows of this end have closed, and no later ones.

    Under the flush every non-empty window closes and the last one is emptied, whatever the closure.
    The last element ends at 12 and ω is 10: 24. Raises InvalidSemantics for a stated horizon that
    is not after the last element.
    """
    match semantics.horizon:
        case End.NONE:
            return None
        case End.FLUSH | End.LAST_WINDOW if not elements:
            return None
        case End.FLUSH:
            specs = [view.spec for view in views]
            return latest_end(elements) + max(map(window.longest_stay, specs)) + 2
        case End.LAST_WINDOW:
            shift = tick.shift_of_own_instants(semantics)
            last = latest_end(elements)
            alone = chain.from_iterable(window.views_of_keys(view, semantics) for view in views)
            closes = [window.last_instant_with(view, last + view.spec.lag) for view in alone]
            after = [instant + 1 - shift for instant in closes if instant is not None]
            return max([max(element.app for element in elements) + 1, *after])
        case int() as end:
            newest = max((element.app for element in elements), default=None)
            if newest is not None and end <= newest:
                raise InvalidSemantics(
                    f"horizon {end} is not after the last element, at {newest}",
                    rule="ENG-1",
                )
            return end


def latest_end(elements: Sequence[Element]) -> int:
    """Return the last instant of all elements' validity."""
    return max(element.app if element.end is None else element.end for element in elements)


def operator(query: Query, semantics: Semantics) -> R2S:
    """R2S-6: Return the operator that the query states; where it states none, the one of the
    semantics.
    """
    return query.r2s or semantics.r2s
