"""Streams of elements that hug the borders of windows, and the streams that a query asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import ceil
from typing import NamedTuple, TypedDict, Unpack

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from refengine.core.query import POSITIONS, Query, Window, WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import T0
from refengine.model.elements import Element, Stream, Triple
from refengine.model.errors import InvalidQuery, require
from refengine.strategies.arguments import check_argument, pick, take_several
from refengine.strategies.payloads import SUBJECTS, Graph, Strategy, graphs, triples
from refengine.strategies.questions import extent_of

Payloads = Strategy[Graph] | Strategy[Triple]

MILLISECONDS = 1_700_000_000_000  # an instant of the epoch


@dataclass(frozen=True)
class Shape:
    """What streams look like: the keywords of `streams`."""

    t0: int | None = 0
    min_size: int = 0
    max_size: int | None = None
    batches: bool = False
    intervals: bool = False
    disorder: int = 0
    before: int | None = None

    @property
    def most(self) -> int:
        """How many elements there are at most."""
        if self.max_size is None:
            return max(8, 2 * self.min_size)
        return self.max_size


class ShapeKeywords(TypedDict, total=False):
    """The fields of a Shape, as `streams` takes them."""

    t0: int | None
    min_size: int
    max_size: int | None
    batches: bool
    intervals: bool
    disorder: int
    before: int | None


def streams(
    windows: Window | Iterable[Window] = (),
    *,
    size: int | None = None,
    slide: int | None = None,
    payloads: Payloads | None = None,
    **options: Unpack[ShapeKeywords],
) -> Strategy[Stream]:
    """Streams of `min_size` to `max_size` elements (by default 8, or twice `min_size` if that is
    more) that hug the borders of windows which open from `t0` on: the windows given, or [t0 +
    n*slide, t0 + n*slide + size) (a slide is the size where none is given). `options` are the
    fields of a Shape: `t0` (0), `min_size`, `max_size`, `batches`, `intervals`, `disorder` and
    `before`.

    Drawn are elements on a border, one before it and one after; several at an instant, up to all;
    gaps longer than the windows; instants before t0; graphs that recur, in an instant and across
    windows; the empty stream. `t0=None`: anywhere, around 0, a negative instant or an epoch
    millisecond. `payloads` are graphs or triples, by default `graphs()`. `batches` gives batch ids
    that rise or stay, `intervals` an end to some elements, up to beyond a window and a slide.
    `disorder`: an element arrives after such as are later by up to that much. `before`: no element
    is at that instant or after it.

    >>> from hypothesis import given
    >>> from refengine.strategies import streams
    >>> @given(streams(size=10, slide=5))
    ... def test_elements_come_in_order(stream):
    ...     instants = [element.app for element in stream]
    ...     assert instants == sorted(instants)
    >>> test_elements_come_in_order()
    """
    shape = Shape(**options)
    if isinstance(windows, Window):
        windows = [windows]
    over = take_several("windows", windows)
    for window in over:
        check_argument(
            "windows", window, Window, "a window or several; extents are size=10, slide=5"
        )
    check_argument("t0", shape.t0, int | None, "an integer, or None for anywhere")
    if size is None and slide is not None:
        raise InvalidArgument("slide is that of a size; write size=10, slide=5")
    if size is not None:
        if slide is None:
            slide = size
        over += (Window("s", WindowKind.TIME, size, slide),)
    if payloads is None:
        payloads = graphs()
    return _arrivals({"s": over}, {"s": payloads}, shape).map(lambda found: found["s"])


def inputs(
    query: Query,
    semantics: Semantics | None = None,
    *,
    payloads: Payloads | None = None,
    min_size: int = 0,
    max_size: int | None = None,
    intervals: bool = False,
) -> Strategy[dict[str, Stream]]:
    """Return {name: stream} of every stream that a query names, as `evaluate` takes it, together of
    `min_size` to `max_size` elements in one order of arrival (`sys`). They hug the borders of the
    query's windows under the semantics (without one, with t0 = 0) and mean something with both:
    batch ids for the tick by batch, keys for partitions, order unless the semantics reorders (then
    some elements are late), no element at an integer horizon or after it. Raises InvalidQuery where
    no graph has the keys of all partitions of a stream.

    >>> from hypothesis import given
    >>> from refengine import evaluate, from_table, profile
    >>> from refengine.strategies import inputs
    >>> window = {"stream": "s", "kind": "time", "size": 10, "slide": 5}
    >>> query = from_table({"windows": [window], "body": "ASK {}"})
    >>> csparql = profile("csparql").but(t0=0).semantics()
    >>> @given(inputs(query, csparql))
    ... def test_a_window_is_reported_once(streams):
    ...     windows = [report.window for report in evaluate(query, streams, csparql)]
    ...     assert len(windows) == len(set(windows))
    >>> test_a_window_is_reported_once()
    """
    check_argument("query", query, Query, "a Query")
    check_argument(
        "semantics", semantics, Semantics | None, "a Semantics, such as profile.semantics()"
    )
    over = {
        name: tuple(w for w in query.windows if w.stream == name)
        for name in dict.fromkeys(w.stream for w in query.windows)
    }
    drawn = {name: _payloads_with_keys(windows, payloads) for name, windows in over.items()}
    late = 0
    before = None
    if semantics and isinstance(semantics.allowed_lateness, int):
        late = semantics.allowed_lateness + 2
        if semantics.late_for.is_window:
            # so late that windows have expired, and the delay of the watermark with it
            late += require(semantics.watermark_delay) + extent_of(query.windows[0])[0]
    elif semantics and semantics.late_for.keeps_arrival_order:
        late = 2 + max(extent_of(window)[0] for window in query.windows)
    if semantics and isinstance(semantics.horizon, int):
        before = semantics.horizon
    has_batches = semantics is not None and semantics.tick.needs_batches
    around = _around(query, semantics)
    shape = Shape(around, min_size, max_size, has_batches, intervals, late, before)
    return _arrivals(over, drawn, shape)


def _around(query: Query, semantics: Semantics | None) -> int | None:
    """Return the instant near which windows open; None where that is wherever the stream begins."""
    t0: int | T0 = 0
    if semantics is not None:
        t0 = semantics.t0
    if query.windows[0].kind is WindowKind.TUPLE:
        return 0
    match t0:
        case int():
            return t0
        case T0.REGISTRATION:
            return query.registered
        case T0.FLINK | T0.STORM:
            return 0
        case T0.FIRST | T0.REACH | T0.EPOCH | T0.CORAL8 | T0.ORACLE_CEP | T0.STREAM:
            return _origin_before_horizon(semantics)
        case T0.KAFKA_STREAMS:
            return _origin_before_horizon(semantics)


def _origin_before_horizon(semantics: Semantics | None) -> int | None:
    """Return 0 if the stream must end before a stated horizon; None if it may begin anywhere."""
    if semantics is not None and isinstance(semantics.horizon, int):
        return 0
    return None


def _payloads_with_keys(windows: Iterable[Window], payloads: Payloads | None) -> Payloads:
    """Return the payloads of a stream: those that are given, or else graphs that have the keys of
    all partitions. Raises InvalidQuery if no graph has them.
    """
    keys = {key for window in windows for key in window.by}
    if payloads is not None:
        return payloads
    if not keys:
        return graphs()
    predicates = sorted(keys - {*POSITIONS})
    is_single = bool(keys & {*POSITIONS})
    if is_single and len(predicates) > 1:
        raise InvalidQuery(
            f"no graph of one triple has the keys {', '.join(predicates)}",
            rule="WIN-15",
            place="windows",
        )
    if not predicates:
        return triples()
    with_key = (
        st.tuples(st.sampled_from(SUBJECTS), st.just(f"<{p}>"), st.sampled_from(SUBJECTS))
        for p in predicates
    )
    return st.tuples(*with_key).map(frozenset)


@st.composite
def _arrivals(
    draw: st.DrawFn,
    over: Mapping[str, tuple[Window, ...]],
    payloads: Mapping[str, Payloads],
    shape: Shape,
) -> dict[str, Stream]:
    """Return elements of all streams in one order of arrival."""
    t0 = shape.t0
    if t0 is None:
        t0 = draw(st.sampled_from([0, -500, MILLISECONDS]))
    rush = draw(RUSH)
    # lists alone would often be empty
    least = max(shape.min_size, draw(st.sampled_from([0, shape.most // 2, shape.most // 2])))
    found: list[tuple[int, str, Element]] = []
    last: dict[str, Graph] = {}
    for name, app, payload, details, lag in draw(
        _lists(tuple(over.items()), tuple(payloads.values()), shape, t0, least)
    ):
        (tie, again), lasting, step = details
        if found and tie != rush:
            app = found[-1][-1].app
        elif shape.before is not None:
            app = min(app, shape.before - 1)
        if not again or name not in last:
            last[name] = _graph(payload)
        end = None
        if lasting is not None:
            end = app + lasting
        found.append((app + lag, name, Element(last[name], app, 0, step, end)))
    return _streams(found, over, shape)


def _streams(
    found: list[tuple[int, str, Element]], names: Iterable[str], shape: Shape
) -> dict[str, Stream]:
    """Return the streams of elements, each with the instant at which it arrives and its stream; the
    batch of an element is by how much the batch id rises with it.
    """
    streams: dict[str, list[Element]] = {name: [] for name in names}
    batch = 1
    for sys, (_, name, element) in enumerate(sorted(found, key=lambda arrival: arrival[0]), 1):
        rise = element.batch or 0
        element = element._replace(sys=sys, batch=None)
        if shape.batches:
            element = element._replace(batch=batch)
        streams[name].append(element)
        batch += rise
    return {name: Stream(tuple(elements)) for name, elements in streams.items()}


@lru_cache(maxsize=1024)
def _lists(
    over: tuple[tuple[str, tuple[Window, ...]], ...],
    payloads: tuple[Payloads, ...],
    shape: Shape,
    t0: int,
    least: int,
) -> Strategy[list[Drawn]]:
    """Return a strategy of lists of at least `least` elements. It is made once, since Hypothesis
    looks at all parts of a new strategy before the first draw.
    """
    extents = [tuple(map(extent_of, windows)) or ((0, 1),) for _, windows in over]
    instants = [_instants(found, t0) for found in extents]
    most = max(map(len, instants))
    # A stream with several windows has more instants, and yet no more elements than another. The
    # streams take turns, since of many choices Hypothesis draws the first ones more often.
    choices_of_instant = [
        (number, possible[index * len(possible) // most])
        for index in range(most)
        for number, possible in enumerate(instants)
    ]
    sources = [
        _Source(name, payload, _instants_around(found, t0))
        for (name, _), payload, found in zip(over, payloads, extents, strict=True)
    ]
    lags = None
    if shape.disorder:
        lags = st.integers(0, shape.disorder)
    element = _draw_element(sources, choices_of_instant, _details(extents, shape), lags)
    return st.lists(element, min_size=least, max_size=shape.most)


RUSH = st.sampled_from([False] * 5 + [True])  # whether most elements are simultaneous
# Whether an element comes at the instant of the one drawn before it, and whether with the same
# graph.
LIKE_THE_LAST = [(False, False)] * 5 + [(True, False)] * 2 + [(False, True)] * 2 + [(True, True)]


class _Source(NamedTuple):
    """A stream: its name, what its elements carry, and the instants of an element whose instant is
    not a listed one.
    """

    name: str
    payloads: Strategy[Graph | Triple]
    instants: Strategy[int]


class _Details(NamedTuple):
    """Of an element: whether it is like the one before it, how long it is valid, and by how much
    its batch id rises.
    """

    like_the_last: tuple[bool, bool]
    lasting: int | None
    step: int


# Of an element: its stream, an instant, a payload, its details, and how late it arrives.
Drawn = tuple[str, int, Graph | Triple, _Details, int]


@st.composite
def _draw_element(
    draw: st.DrawFn,
    sources: Sequence[_Source],
    choices_of_instant: Sequence[tuple[int, int | None]],
    details: Sequence[_Details],
    lags: Strategy[int] | None,
) -> Drawn:
    """Draw an element with few choices: with four if its graph has one triple, its instant is a
    listed one, and no element is late. When Hypothesis shrinks a list, it deletes up to five
    successive choices at once. One of these is whether the list goes on. So an element of more
    choices would hardly ever be deleted.

    `choices_of_instant` has numbers of sources, each with an instant, or with None for one of the
    source's `instants`. `lags` is None where no element is late.
    """
    number, app = pick(draw, choices_of_instant)
    name, payloads, instants = sources[number]
    if app is None:
        app = draw(instants)
    payload = draw(payloads)
    found = pick(draw, details)
    lag = 0
    if lags is not None:
        lag = draw(lags)
    return name, app, payload, found, lag


def _details(extents: Sequence[tuple[tuple[int, int], ...]], shape: Shape) -> list[_Details]:
    """Return the details that an element may have, the plainest first."""
    size, slide = max(extent for found in extents for extent in found)
    lasting: list[int | None] = [None]
    if shape.intervals:
        lasting += [0, 1, max(0, size - 1), size, size + 1, size + slide + 1]
    steps = [0]
    if shape.batches:
        steps = [0, 1, 2]
    return [_Details(*found) for found in product(LIKE_THE_LAST, lasting, steps)]


def _graph(payload: Graph | Triple) -> Graph:
    """Return a graph, or the graph of a triple. Raises InvalidArgument for anything else."""
    triples = [payload] if isinstance(payload, tuple) else take_several("payloads", payload)
    for triple in triples:
        if not (
            isinstance(triple, tuple)
            and len(triple) == 3
            and all(isinstance(term, str) for term in triple)
        ):
            raise InvalidArgument(
                f"payloads must be graphs or triples of N-Triples text, got {triple!r}"
            )
    return frozenset(triples)


def _instants(extents: Sequence[tuple[int, int]], t0: int) -> list[int | None]:
    """Return instants, each as often as it is to be drawn. Those on the borders of each window and
    beside them stand twice. There are also at least as many instants near t0 as one window has on
    and beside its borders, and just as many None, which stand for an instant of `_instants_around`.
    """
    borders = [instant for size, slide in extents for instant in _borders(size, slide, t0)]
    borders_of_a_window = len(borders) // len(extents)
    near = range(t0, t0 + min(2 * _reach(extents), 30) + 1)
    times = ceil(borders_of_a_window / len(near))
    return [*list(near) * times, *borders, *borders, *[None] * borders_of_a_window]


def _instants_around(extents: Sequence[tuple[int, int]], t0: int) -> Strategy[int]:
    """Return a strategy of instants from ω + β + 2 before t0 to 3(ω + β) after it."""
    reach = _reach(extents)
    return st.integers(t0 - reach - 2, t0 + 3 * reach)


def _reach(extents: Sequence[tuple[int, int]]) -> int:
    """Return the greatest ω + β."""
    return max(size + slide for size, slide in extents)


def _borders(size: int, slide: int, t0: int) -> list[int]:
    """Return instants on the borders of windows, one before them and one after. From the opening of
    window 4 to that of the next one that is taken is more time than a window has, so that windows
    may be empty.
    """
    far = size // slide + 6
    return [
        t0 + n * slide + beside
        for n in (0, 1, 2, 3, 4, far, far + 1)
        for beside in (0, -1, 1, size, size - 1, size + 1)
    ]
