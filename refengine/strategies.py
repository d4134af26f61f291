"""Hypothesis strategies: windows, queries with varied SPARQL, every semantics that means something,
and streams that hug the borders of windows. For tests of one's own operator, engine or parser
against the oracle.

Times, sizes and slides are integers in one unit, whichever the test means; with `t0=None` times are
epoch milliseconds or negative, too. What is drawn shrinks to few elements at small times, plain
windows and short bodies. Nothing else in refengine imports this module, which needs Hypothesis.

>>> from hypothesis import given
>>> from hypothesis import strategies as st
>>> from refengine import evaluate
>>> from refengine.strategies import inputs, queries, semantics
>>> @given(st.data())
... def test_reports_are_in_the_order_of_time(data):
...     query = data.draw(queries(kinds=["time"], sizes=st.integers(1, 9)))
...     choice = data.draw(semantics(query, tick="time"))
...     reports = list(evaluate(query, data.draw(inputs(query, choice)), choice))
...     assert reports == sorted(reports, key=lambda report: report.evaluation)
>>> test_reports_are_in_the_order_of_time()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, combinations, product
from types import SimpleNamespace
from typing import Any, NamedTuple

try:
    from hypothesis import strategies as st
    from hypothesis.errors import InvalidArgument
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "hypothesis is not installed: pip install 'refengine[suite]'", name="hypothesis"
    ) from None

from refengine.core.engine import meaning
from refengine.core.query import (
    COUNTING,
    POSITIONS,
    SIZED,
    SLIDING,
    Body,
    Form,
    Query,
    Unit,
    Window,
    WindowKind,
)
from refengine.core.semantics import (
    ENUMS,
    FIELDS,
    INTEGRAL,
    OPTIONAL,
    R2S,
    T0,
    UNKNOWN,
    Between,
    Condition,
    Disorder,
    Gap,
    OneOf,
    Semantics,
    Tick,
    Trigger,
    contradictions,
    known_field,
    parse_field,
)
from refengine.model.elements import XSD, Element, Stream, Term, Triple, literal
from refengine.model.errors import InvalidQuery, InvalidSemantics

Graph = frozenset[Triple]
Strategy = st.SearchStrategy

SUBJECTS = ("<urn:a>", "<urn:b>", "<urn:c>")
LINKS = ("<urn:p>", "<urn:q>")
NUMBER = "<urn:n>"  # the predicate whose objects are integers
# What a parser that looks for windows, comments and braces without reading SPARQL's tokens trips
# over.
TEXTS = (
    "x",
    "a } b",
    "{ [RANGE 10s STEP 2s] } # text",
    'it\'s "so" #1',
    "FROM STREAM <urn:s> WHERE {",
    "two\nlines # ]",
    "back\\slash",
    "",
)
NUMBERS = tuple(literal(str(n), XSD + "integer") for n in (0, 1, 2, 10, -3))
# What an engine that reads N-Triples loosely, or stores values for terms, trips over. Some are not
# canonical: a Stream makes them so.
LITERALS = (
    '"x"@en',
    '"x"@EN',
    '"x"@de-Latn-1996',  # languages
    # characters and escapes
    literal("café \U0001f600"),
    '"caf\\u00e9 \\U0001F600"',
    literal("a\tb\x7f"),
    '"a\\tb\x7f"',
    '"it\\\'s"',
    f'"x"^^<{XSD}string>',
    literal("x", "urn:type"),
    literal("true", XSD + "boolean"),  # datatypes
    # one value, several terms
    literal("01", XSD + "integer"),
    literal("1.0", XSD + "decimal"),
    literal("1e0", XSD + "double"),
    # no value, and one that is not itself
    literal("abc", XSD + "integer"),
    literal("NaN", XSD + "double"),
)

STREAMS = ("s", "http://example.org/streams/r")
NAMES = ("urn:w1", "urn:w2", "http://example.org/windows#w3")
KEYS = (("subject",), ("predicate",), ("object",), ("urn:p",), ("subject", "urn:p"))
ROUND = (1000, 2000, 10_000, 60_000, 300_000, 3_600_000, 86_400_000)
ODD = (7, 13, 999, 1001, 1500, 61_000, 90_001, 3_600_001)
MILLISECONDS = 1_700_000_000_000  # an instant of the epoch


# What streams carry


def triples() -> Strategy[Triple]:
    """Triples of terms as N-Triples text, from a vocabulary so small that they recur: `urn:p` and
    `urn:q` lead from one of three subjects to another, to a string or, one in four, to a literal of
    `LITERALS`; `urn:n` leads to an integer.

    `LITERALS` have languages and datatypes, escapes and characters beyond ASCII; several are one
    value in different forms ("01"^^xsd:integer), ill-typed ("abc"^^xsd:integer) or NaN. Some are
    not canonical ("x"@EN): a Stream makes them so (MOD-4), while a triple that is drawn alone is as
    it was written. Engines that store values, as pyoxigraph does, may answer with another term, or
    count two terms as one: where no witness confirms the definition `evaluate` raises Disputed,
    which such a test discards.

    >>> from hypothesis import given
    >>> from refengine.strategies import triples
    >>> @given(triples())
    ... def test_a_triple_has_three_terms(triple):
    ...     assert len(triple) == 3 and triple[1] in ("<urn:p>", "<urn:q>", "<urn:n>")
    >>> test_a_triple_has_three_terms()
    """
    return _TRIPLES


def _triples() -> Strategy[Triple]:
    objects = st.sampled_from([*[*SUBJECTS, *map(literal, TEXTS)] * 4, *LITERALS])
    linked = st.tuples(st.sampled_from(SUBJECTS), st.sampled_from(LINKS), objects)
    return linked | st.tuples(st.sampled_from(SUBJECTS), st.just(NUMBER), st.sampled_from(NUMBERS))


_TRIPLES = _triples()


def graphs(*, min_size: int = 1, max_size: int = 3) -> Strategy[Graph]:
    """Sets of `min_size` to `max_size` of these triples: an element's graph. With `min_size=0` some
    are empty.

    >>> from hypothesis import given
    >>> from refengine.strategies import graphs
    >>> @given(graphs(max_size=2))
    ... def test_a_graph_is_a_set_of_triples(graph):
    ...     assert 1 <= len(graph) <= 2
    >>> test_a_graph_is_a_set_of_triples()
    """
    return st.frozensets(triples(), min_size=min_size, max_size=max_size)


def streams(
    windows: Window | Iterable[Window] = (),
    *,
    size: int | None = None,
    slide: int | None = None,
    t0: int | None = 0,
    payloads: Strategy[Graph] | Strategy[Triple] | None = None,
    min_size: int = 0,
    max_size: int | None = None,
    batches: bool = False,
    intervals: bool = False,
    disorder: int = 0,
    before: int | None = None,
) -> Strategy[Stream]:
    """Streams of `min_size` to `max_size` elements (by default 8, or twice `min_size` if that is
    more) that hug the borders of windows which open from `t0` on: the windows given, or [t0 +
    n*slide, t0 + n*slide + size) (a slide is the size where none is given).

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
    over = (windows,) if isinstance(windows, Window) else tuple(_several("windows", windows))
    for window in over:
        _is("windows", window, Window, "a window or several; extents are size=10, slide=5")
    _is("t0", t0, int | None, "an integer, or None for anywhere")
    if size is None and slide is not None:
        raise InvalidArgument("slide is that of a size; write size=10, slide=5")
    if size is not None:
        over += (Window("s", WindowKind.TIME, size, size if slide is None else slide),)
    shape = _Shape(t0, min_size, _most(min_size, max_size), batches, intervals, disorder, before)
    return _arrivals({"s": over}, {"s": graphs() if payloads is None else payloads}, shape).map(
        lambda found: found["s"]
    )


def inputs(
    query: Query,
    semantics: Semantics | None = None,
    *,
    payloads: Strategy[Graph] | Strategy[Triple] | None = None,
    min_size: int = 0,
    max_size: int | None = None,
    intervals: bool = False,
) -> Strategy[dict[str, Stream]]:
    """{name: stream} of every stream that a query names, as `evaluate` takes it, together of
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
    _is("query", query, Query, "a Query")
    _is("semantics", semantics, Semantics | None, "a Semantics, such as profile.semantics()")
    over = {
        name: tuple(w for w in query.windows if w.stream == name)
        for name in dict.fromkeys(w.stream for w in query.windows)
    }
    drawn = {name: _keyed(windows, payloads) for name, windows in over.items()}
    late = semantics.disorder + 2 if semantics and isinstance(semantics.disorder, int) else 0
    before = semantics.horizon if semantics and isinstance(semantics.horizon, int) else None
    batched = semantics is not None and semantics.tick is Tick.BATCH
    return _arrivals(
        over,
        drawn,
        _Shape(
            _around(query, semantics),
            min_size,
            _most(min_size, max_size),
            batched,
            intervals,
            late,
            before,
        ),
    )


def _is(name: str, value: Any, kind: Any, form: str) -> None:
    if not isinstance(value, kind):
        raise InvalidArgument(f"{name} must be {form}, got {value!r}")


def _several(name: str, values: Iterable) -> Iterable:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{name} are several; write a list, got {values!r}")
    return values


def _most(least: int, most: int | None) -> int:
    return max(8, 2 * least) if most is None else most


class _Shape(NamedTuple):
    """What streams look like: the parameters of `streams`."""

    t0: int | None
    least: int
    most: int
    batches: bool
    intervals: bool
    disorder: int
    before: int | None


def _around(query: Query, semantics: Semantics | None) -> int | None:
    """The instant near which windows open; None where that is wherever the stream begins."""
    t0 = 0 if semantics is None else semantics.t0
    if query.windows[0].kind is WindowKind.TUPLE:
        return 0
    if t0 is T0.REGISTRATION:
        return query.registered
    if (
        isinstance(t0, T0)
        and t0 not in (T0.FLINK, T0.STORM)
        and not isinstance(semantics.horizon, int)
    ):
        return None
    return 0 if isinstance(t0, T0) else t0


def _keyed(windows: Iterable[Window], payloads: Strategy | None) -> Strategy:
    """Graphs that have the keys of all partitions."""
    keys = {key for window in windows for key in window.by}
    if payloads is not None or not keys:
        return graphs() if payloads is None else payloads
    predicates, single = sorted(keys - {*POSITIONS}), bool(keys & {*POSITIONS})
    if single and len(predicates) > 1:
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
    payloads: Mapping[str, Strategy],
    shape: _Shape,
) -> dict:
    """Elements of all streams in one order of arrival."""
    t0 = draw(st.sampled_from([0, -500, MILLISECONDS])) if shape.t0 is None else shape.t0
    rush = draw(RUSH)
    # lists alone would often be empty
    least = max(shape.least, draw(st.sampled_from([0, shape.most // 2, shape.most // 2])))
    found, last = [], {}
    for (name, app, payload), (tie, again), lasting, step, lag in draw(
        _lists(tuple(over.items()), tuple(payloads.values()), shape, t0, least)
    ):
        app = (
            found[-1][-1].app
            if found and tie != rush
            else app
            if shape.before is None
            else min(app, shape.before - 1)
        )
        last[name] = payload = last[name] if again and name in last else _graph(payload)
        found.append(
            (
                app + lag,
                name,
                Element(payload, app, 0, step, None if lasting is None else app + lasting),
            )
        )
    found.sort(key=lambda arrival: arrival[0])
    batches = accumulate((element.batch for *_, element in found), initial=1)
    arrived = [
        (name, element._replace(sys=sys, batch=batch if shape.batches else None))
        for sys, ((_, name, element), batch) in enumerate(zip(found, batches, strict=False), 1)
    ]
    return {
        name: Stream(tuple(element for other, element in arrived if other == name)) for name in over
    }


@lru_cache(maxsize=1024)
def _lists(
    over: tuple[tuple[str, tuple[Window, ...]], ...],
    payloads: tuple[Strategy, ...],
    shape: _Shape,
    t0: int,
    least: int,
) -> Strategy[list]:
    """At least so many elements. Kept, since Hypothesis looks at all parts of a new strategy before
    the first draw.
    """
    named = zip(over, payloads, strict=True)
    one = [
        st.tuples(st.just(name), _instants(tuple(map(_extent, windows)), t0), payload)
        for (name, windows), payload in named
    ]
    item = st.tuples(st.one_of(one), LIKE_THE_LAST, *_more(dict(over), shape))
    return st.lists(item, min_size=least, max_size=shape.most)


RUSH = st.sampled_from([False] * 5 + [True])  # whether most elements are simultaneous
# Whether an element comes at the instant of the one drawn before it, and whether with the same
# graph.
LIKE_THE_LAST = st.sampled_from(
    [(False, False)] * 5 + [(True, False)] * 2 + [(False, True)] * 2 + [(True, True)]
)


def _more(over: Mapping[str, Iterable[Window]], shape: _Shape) -> Iterator[Strategy]:
    """How long an element is valid, by how much its batch id rises, and how late it arrives."""
    size, slide = max(
        (_extent(window) for windows in over.values() for window in windows), default=(0, 1)
    )
    yield (
        st.sampled_from([None, 0, 1, max(0, size - 1), size, size + 1, size + slide + 1])
        if shape.intervals
        else st.none()
    )
    yield st.integers(0, 2) if shape.batches else st.just(0)
    yield st.integers(0, shape.disorder)


def _graph(payload: Graph | Triple) -> Graph:
    triples = [payload] if isinstance(payload, tuple) else _several("payloads", payload)
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


@lru_cache(maxsize=1024)
def _instants(extents: tuple[tuple[int, int], ...], t0: int) -> Strategy[int]:
    """Instants on borders and one beside them, elsewhere, and before t0; a gap longer than a window
    is between the near ones and the far ones.
    """
    extents = extents or ((0, 1),)
    reach = max(size + slide for size, slide in extents)
    borders = [_borders(size, slide, t0) for size, slide in extents]
    return st.one_of(
        st.integers(t0, t0 + min(2 * reach, 30)),
        *borders,
        *borders,
        st.integers(t0 - reach - 2, t0 + 3 * reach),
    )


def _borders(size: int, slide: int, t0: int) -> Strategy[int]:
    far = size // slide + 6
    numbers = st.sampled_from([0, 1, 2, 3, 4, far, far + 1])
    return st.builds(
        lambda n, beside: t0 + n * slide + beside,
        numbers,
        st.sampled_from([0, -1, 1, size, size - 1, size + 1]),
    )


def _extent(window: Window) -> tuple[int, int]:
    """ω and β where they are spans of time."""
    return (
        (window.size, window.step) if window.kind in (WindowKind.TIME, WindowKind.RANGE) else (0, 1)
    )


# Windows and queries


def windows(
    *,
    kinds: Iterable[WindowKind | str] = tuple(WindowKind),
    streams: Sequence[str] = ("s",),
    sizes: Strategy[int] | None = None,
    slides: Strategy[int] | None = None,
    units: Sequence[Unit | str] = tuple(Unit),
    names: Sequence[str] = (),
    keys: Sequence[tuple[str, ...]] = KEYS,
    triggers: bool = True,
) -> Strategy[Window]:
    """Windows of the given kinds over the given streams. Sizes and slides are by default small,
    multiples of 1,000, 60,000 or 3,600,000 (seconds, minutes, hours in milliseconds), or odd; a
    slide is often the size, a part of it, or more. `names` are IRIs that a window may have; `keys`,
    what a partition may be `by`; with `triggers` some are explicit triggers.

    >>> from hypothesis import given
    >>> from refengine.strategies import windows
    >>> @given(windows(kinds=["time", "range"]))
    ... def test_a_window_has_a_size(window):
    ...     assert window.size > 0
    >>> test_a_window_has_a_size()
    """
    for name, strategy in (("sizes", sizes), ("slides", slides)):
        _is(name, strategy, Strategy | None, "a strategy, such as st.just(10)")
    options = {
        "streams": _several("streams", streams),
        "sizes": sizes,
        "slides": slides,
        "units": [Unit(unit) for unit in units],
        "keys": keys,
    }
    named = st.sampled_from([None, *names])
    return st.sampled_from([WindowKind(kind) for kind in _several("kinds", kinds)]).flatmap(
        lambda kind: _window(kind, named, triggers, **options)
    )


@st.composite
def _window(
    draw: st.DrawFn,
    kind: WindowKind,
    named: Strategy[str | None],
    triggers: bool,
    *,
    streams: Sequence[str],
    sizes: Strategy[int] | None,
    slides: Strategy[int] | None,
    units: Sequence[Unit],
    keys: Sequence[tuple[str, ...]],
) -> Window:
    size = slide = None
    if kind in SIZED:
        counted = kind in COUNTING or kind is WindowKind.PARTITION
        size = draw(
            st.integers(1, 12)
            if sizes is None and counted
            else _sizes()
            if sizes is None
            else sizes
        )
    if kind in SLIDING:
        slide = draw(_slides(size) if slides is None else slides)
        slide = (
            None
            if kind in (WindowKind.RANGE, WindowKind.ROWS) and draw(st.integers(0, 3)) == 3
            else slide
        )
    unit = draw(st.sampled_from(units)) if kind in COUNTING else Unit.ELEMENTS
    by = draw(st.sampled_from(keys)) if kind is WindowKind.PARTITION else ()
    return Window(
        draw(st.sampled_from(streams)),
        kind,
        size,
        slide,
        unit,
        by,
        draw(named),
        triggers and draw(st.booleans()),
    )


def _sizes() -> Strategy[int]:
    return st.integers(1, 12) | st.sampled_from(ROUND) | st.sampled_from(ODD)


def _slides(size: int) -> Strategy[int]:
    parts = sorted(
        {
            size,
            *(size // n for n in (2, 3, 4, 5, 10) if size % n == 0),
            1 if size < 100 else size - 1,
        }
    )
    return (
        st.just(size)
        | st.sampled_from(parts)
        | st.integers(1, 2 * size)
        | st.sampled_from([size + 1, 2 * size])
    )


def queries(
    *,
    kinds: Iterable[WindowKind | str] = tuple(WindowKind),
    min_windows: int = 1,
    max_windows: int = 3,
    streams: Sequence[str] = STREAMS,
    sizes: Strategy[int] | None = None,
    slides: Strategy[int] | None = None,
    units: Sequence[Unit | str] = tuple(Unit),
    names: Sequence[str] = NAMES,
    keys: Sequence[tuple[str, ...]] = KEYS,
    triggers: bool = True,
    r2s: Sequence[R2S | str | None] = (None, *R2S),
    registered: Strategy[int | None] | None = None,
    bodies: Strategy[Body] | None = None,
    forms: Iterable[Form | str] = tuple(Form),
    graph_variable: bool = False,
) -> Strategy[Query]:
    """Queries that are valid as they are: `min_windows` to `max_windows` windows as `windows` draws
    them (a tuple-based one alone, QRY-5; no two of one name, QRY-4), over some of the streams,
    whose names are words or absolute IRIs; a body as `bodies` draws it, which reads the named
    windows; an operator of `r2s`; and `registered`, by default sometimes an instant.

    >>> from hypothesis import given
    >>> from refengine import Body
    >>> from refengine.strategies import queries
    >>> @given(queries(kinds=["time", "rows"], streams=["s"], max_windows=2, names=(), r2s=[None]))
    ... def test_a_body_is_what_its_text_says(query):
    ...     assert Body(query.body.text) == query.body
    >>> test_a_body_is_what_its_text_says()
    """
    kinds = [WindowKind(kind) for kind in _several("kinds", kinds)]
    if min_windows > 1 and set(kinds) == {WindowKind.TUPLE}:
        raise InvalidArgument(
            "a tuple-based window is the only one of its query (QRY-5); write min_windows=1"
        )
    for name, strategy in (("bodies", bodies), ("registered", registered)):
        _is(name, strategy, Strategy | None, "a strategy, such as st.none()")
    stated = st.sampled_from(
        [None if operator is None else R2S(operator) for operator in _several("r2s", r2s)]
    )
    when = st.sampled_from([None, 0, 5, -1]) if registered is None else registered
    options = {
        "streams": streams,
        "sizes": sizes,
        "slides": slides,
        "units": units,
        "keys": keys,
        "triggers": triggers,
    }
    return _queries(
        kinds,
        min_windows,
        max_windows,
        names,
        options,
        stated,
        when,
        bodies,
        [Form(form) for form in forms],
        graph_variable,
    )


@st.composite
def _queries(
    draw: st.DrawFn,
    kinds: Sequence[WindowKind],
    least: int,
    most: int,
    names: Sequence[str],
    options: Mapping[str, Any],
    stated: Strategy[R2S | None],
    when: Strategy[int | None],
    given: Strategy[Body] | None,
    forms: Sequence[Form],
    variable: bool,
) -> Query:
    beside = [kind for kind in kinds if kind is not WindowKind.TUPLE]
    count = draw(st.integers(least, most)) if beside else 1
    found: list[Window] = []
    for _ in range(count):
        free = [name for name in names if name not in [window.name for window in found]]
        found.append(
            draw(windows(kinds=kinds if count == 1 else beside, names=free[:1], **options))
        )
    named = [window.name for window in found if window.name]
    body = draw(
        bodies(names=named, forms=forms, graph_variable=variable) if given is None else given
    )
    return Query(tuple(found), body, draw(stated), draw(when))


# Bodies


KEYWORDS = frozenset(
    [
        "SELECT",
        "DISTINCT",
        "REDUCED",
        "ASK",
        "CONSTRUCT",
        "WHERE",
        "PREFIX",
        "FILTER",
        "OPTIONAL",
        "UNION",
        "MINUS",
        "BIND",
        "AS",
        "VALUES",
        "UNDEF",
        "GROUP",
        "BY",
        "HAVING",
        "ORDER",
        "ASC",
        "DESC",
        "GRAPH",
        "EXISTS",
        "NOT",
        "COUNT",
        "SUM",
        "AVG",
        "MIN",
        "MAX",
        "STR",
        "STRLEN",
        "BOUND",
        "REGEX",
        "IN",
        "ISIRI",
        "IF",
        "COALESCE(",
        "CONCAT(",
    ]
)
CASES: tuple[Callable[[str], str], ...] = (str.upper, str.lower, str.title)
SPACES = (
    " ",
    "\n",
    "  ",
    "\t",
    "\n\n    ",
    " # comment\n",
    " # } ] { [RANGE 1 STEP 1] 'odd \" SELECT ?x\n",
    "\r\n",
)
# Subject, object, number, graph, and the stem of new ones: some are called like a keyword of a
# dialect.
VARIABLES = (
    ("x", "y", "n", "g", "v"),
    ("step", "range", "stream", "window", "now"),
    ("s", "o", "slide", "graph", "rows"),
    ("select", "where", "count", "from", "as"),
    ("on", "triples", "every", "register", "unbounded"),
)
PROLOGUES = (
    ((), None),
    (("PREFIX", "e:", "<urn:>"), "e:"),
    (("PREFIX", ":", "<urn:>"), ":"),
    (("PREFIX", "e:", "<urn:>"), None),
    (("PREFIX", "e:", "<urn:>", "PREFIX", "window:", "<urn:>"), "window:"),
    (("PREFIX", "step:", "<http://example.org/#>", "PREFIX", ":", "<urn:>"), ":"),
)


def bodies(
    *,
    names: Sequence[str] = (),
    forms: Iterable[Form | str] = tuple(Form),
    graph_variable: bool = False,
) -> Strategy[Body]:
    """Bodies in SPARQL 1.1 over the terms of `triples`, each with a single answer: SELECT
    (variables, *, DISTINCT, expressions), ASK and CONSTRUCT; FILTER with and without EXISTS,
    OPTIONAL, UNION, MINUS, BIND, VALUES, GROUP BY, HAVING, the aggregates that have one answer,
    subselects, property paths; GRAPH with the given names and, if asked for, with a variable.
    Prefixes or whole IRIs, no BASE; keywords in any case; WHERE or none; odd white space and
    comments; strings in all four quotings and variables that look like the syntax of windows. There
    is no LIMIT (QRY-3), nothing makes blank nodes (R2R-7), and numbers alone are summed and
    ordered, so that witnesses confirm them.

    >>> from hypothesis import given
    >>> from refengine.strategies import bodies
    >>> @given(bodies(forms=["SELECT"]))
    ... def test_a_select_has_variables(body):
    ...     assert body.variables
    >>> test_a_select_has_variables()
    """
    return _bodies(tuple(names), [Form(form) for form in forms], graph_variable)


@st.composite
def _bodies(draw: st.DrawFn, names: Sequence[str], forms: Sequence[Form], variable: bool) -> Body:
    prologue, prefix = draw(st.sampled_from(PROLOGUES))
    writer = _Writer(draw, draw(st.sampled_from(VARIABLES)), prefix, names, variable)
    tokens = [*prologue, *writer.query(draw(st.sampled_from(forms)))]
    case, spaces = (
        draw(st.sampled_from(CASES)),
        draw(st.lists(st.sampled_from(SPACES), min_size=1, max_size=4)),
    )
    words = [case(token) if token in KEYWORDS else token for token in tokens]
    first = draw(st.sampled_from(["", "\n", "# SELECT * { } \n"]))
    return Body(first + "".join(word + spaces[i % len(spaces)] for i, word in enumerate(words)))


class _Writer:
    """Writes a body as a list of tokens. `visible` are the variables that can be projected."""

    def __init__(
        self,
        draw: st.DrawFn,
        variables: Sequence[str],
        prefix: str | None,
        names: Sequence[str],
        graph_variable: bool,
    ):
        self.draw, self.prefix, self.names, self.graph_variable = (
            draw,
            prefix,
            names,
            graph_variable,
        )
        self.s, self.o, self.n, self.g = (f"?{name}" for name in variables[:4])
        self.stem, self.made = variables[4], 0
        self.visible: list[str] = []

    def pick(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def fresh(self) -> str:
        """A variable that is nowhere else."""
        self.made += 1
        return f"${self.stem}{self.made}" if self.made % 3 == 0 else f"?{self.stem}{self.made}"

    def shown(self) -> str:
        """A new variable that can be projected."""
        self.visible.append(new := self.fresh())
        return new

    def iri(self, term: Term) -> str:
        """An IRI whole, or as a prefixed name."""
        return (
            term
            if self.prefix is None
            else self.prefix + term.removeprefix("<urn:").removesuffix(">")
        )

    def subject(self) -> str:
        return self.iri(self.pick(*SUBJECTS))

    def link(self) -> str:
        return self.iri(self.pick(*LINKS))

    def text(self) -> str:
        return quoted(self.pick(*TEXTS), self.pick('"', "'", '"""', "'''"))

    def query(self, form: Form) -> list[str]:
        match form:
            case Form.ASK:
                return ["ASK", *self.where()]
            case Form.CONSTRUCT:
                return self.construct()
            case Form.SELECT:
                return self.pick(self.select, self.select, self.aggregated)()

    def where(self, *first: str) -> list[str]:
        return [*self.pick((), ("WHERE",)), *self.group(*first)]

    def construct(self) -> list[str]:
        if self.draw(st.integers(0, 4)) == 4:
            return _filled("CONSTRUCT WHERE { _ _ _ }", self.s, self.link(), self.o)
        where = self.where()
        template = self.pick(
            _filled("_ <urn:made> _", self.s, self.o),
            _filled("_ _ _", self.s, self.link(), self.text()),
            _filled("_ _ _ . _ a _ .", self.s, self.link(), self.s, self.subject(), self.o),
        )
        return ["CONSTRUCT", "{", *template, "}", *where]

    def select(self) -> list[str]:
        where, head = self.where(), list(self.pick((), ("DISTINCT",)))
        match self.pick("variables", "all", "expression"):
            case "all":
                head.append("*")
            case "variables":
                head += self.visible[: self.draw(st.integers(1, len(self.visible)))]
            case "expression":
                head += [self.pick(*self.visible), "(", *self.expression(), "AS", self.fresh(), ")"]
        return ["SELECT", *head, *where, *self.order()]

    def order(self) -> list[str]:
        return self.pick(
            [],
            *(
                _filled(form, self.s)
                for form in ("ORDER BY _", "ORDER BY DESC ( _ )", "ORDER BY ASC ( _ )")
            ),
        )

    def aggregated(self) -> list[str]:
        head, tail = [], []
        if key := self.pick(None, self.s, self.s):
            head, tail = (
                [key],
                ["GROUP", "BY", key, *self.pick([], _filled("HAVING ( COUNT ( * ) > 1 )"))],
            )
        for _ in range(self.draw(st.integers(1, 2))):
            head += ["(", *self.aggregate(), "AS", self.fresh(), ")"]
        return ["SELECT", *head, *self.where(*self.number()), *tail]

    def aggregate(self) -> list[str]:
        function = self.pick("COUNT", "SUM", "AVG", "MIN", "MAX")
        if function == "COUNT" and self.draw(st.booleans()):
            return _filled("COUNT ( * )")
        return [function, "(", *self.pick((), ("DISTINCT",)), self.n, ")"]

    def group(self, *first: str) -> list[str]:
        """A group: triples, and up to three more patterns."""
        tokens = ["{", *(first or self.core())]
        self.visible += [
            v for v in (self.s, self.o, self.n) if v in tokens and v not in self.visible
        ]
        for pattern in self.draw(st.lists(st.sampled_from(self.patterns()), max_size=3)):
            dot = self.pick((), (".",)) if tokens[-1] != "}" else ()
            tokens += [*dot, *pattern()]
        return [*tokens, "}"]

    def core(self) -> list[str]:
        """The triples that a group begins with, in the default graph or in a window's."""
        triples = self.pick(self.plain, self.several, self.path, self.number)()
        return (
            ["GRAPH", f"<{self.pick(*self.names)}>", "{", *triples, "}"]
            if self.names and self.draw(st.booleans())
            else triples
        )

    def plain(self) -> list[str]:
        return [self.s, self.link(), self.o]

    def number(self) -> list[str]:
        return [self.s, self.iri(NUMBER), self.n]

    def several(self) -> list[str]:
        more = self.pick(
            (";", self.iri(NUMBER), self.n), (",", self.fresh()), (".", self.o, self.link(), "[ ]")
        )
        return [self.s, self.link(), self.o, *more]

    def path(self) -> list[str]:
        p, q = map(self.iri, LINKS)
        # rdflib does not read `p +`, with a space
        path = self.pick(
            (p, "/", q), ("(", p, "|", q, ")"), ("^", p), (p + "+",), ("!", q), (p, "/", "^", q)
        )
        return [self.s, *path, self.o]

    def patterns(self) -> list[Callable[[], list[str]]]:
        more = [self.graph] if self.names else []
        more += [self.any_graph] if self.graph_variable else []
        return [
            self.filter,
            self.exists,
            self.optional,
            self.union,
            self.minus,
            self.bind,
            self.values,
            self.subselect,
            *more,
        ]

    def filter(self) -> list[str]:
        return ["FILTER", "(", *self.condition(), ")"]

    def condition(self) -> list[str]:
        return self.pick(
            _filled("_ > 1", self.n),
            _filled("_ + 1 <= 3", self.n),
            _filled("_ = _", self.o, self.text()),
            _filled("_ != _", self.o, self.subject()),
            _filled("STR ( _ ) = _", self.o, self.text()),
            _filled("REGEX ( STR ( _ ) , '[ab#]' )", self.s),
            _filled("BOUND ( _ )", self.o),
            _filled("! BOUND ( _ )", self.n),
            _filled("_ IN ( _ , _ )", self.s, self.subject(), self.subject()),
            _filled("ISIRI ( _ ) || _ = _", self.o, self.s, self.subject()),
        )

    def exists(self) -> list[str]:
        return [
            *self.pick(("FILTER",), ("FILTER", "NOT")),
            "EXISTS",
            "{",
            self.s,
            self.link(),
            self.fresh(),
            "}",
        ]

    def optional(self) -> list[str]:
        return _filled("OPTIONAL { _ _ _ }", self.s, self.link(), self.shown())

    def union(self) -> list[str]:
        new = self.shown()
        other = self.pick(
            _filled("_ _ _", self.s, self.link(), new), _filled("BIND ( _ AS _ )", self.text(), new)
        )
        return [*_filled("{ _ _ _ } UNION {", self.s, self.link(), new), *other, "}"]

    def minus(self) -> list[str]:
        return _filled(
            "MINUS { _ _ _ }", self.s, self.link(), self.pick(self.subject(), self.text(), "[ ]")
        )

    def bind(self) -> list[str]:
        return ["BIND", "(", *self.expression(), "AS", self.shown(), ")"]

    def expression(self) -> list[str]:
        return self.pick(
            [self.text()],
            _filled("STR ( _ )", self.s),
            _filled("STRLEN ( STR ( _ ) )", self.s),
            # pyoxigraph reads no space before its bracket, nor before CONCAT's
            _filled("COALESCE( _ , 0 )", self.n),
            _filled("IF ( BOUND ( _ ) , _ , 'b' )", self.o, self.text()),
            _filled("CONCAT( STR ( _ ) , _ )", self.s, self.text()),
        )

    def values(self) -> list[str]:
        return self.pick(
            _filled("VALUES _ { _ _ }", self.s, self.subject(), self.subject()),
            _filled(
                "VALUES ( _ _ ) { ( _ UNDEF ) ( _ _ ) }",
                self.s,
                self.o,
                self.subject(),
                self.subject(),
                self.text(),
            ),
        )

    def subselect(self) -> list[str]:
        inner = _filled("{ _ _ _ }", self.s, self.link(), self.fresh())
        return [
            *_filled("{ SELECT _ ( COUNT ( * ) AS _ ) WHERE", self.s, self.shown()),
            *inner,
            "GROUP",
            "BY",
            self.s,
            "}",
        ]

    def graph(self) -> list[str]:
        return _filled(
            "GRAPH _ { _ _ _ }", f"<{self.pick(*self.names)}>", self.s, self.link(), self.fresh()
        )

    def any_graph(self) -> list[str]:
        return _filled("GRAPH _ { _ _ _ }", self.g, self.s, self.link(), self.fresh())


def _filled(template: str, *words: str) -> list[str]:
    """The tokens of a template, with a word in each place that is left open."""
    rest = iter(words)
    return [next(rest) if token == "_" else token for token in template.split()]


def quoted(lexical: str, quote: str) -> str:
    """A string in one of SPARQL's four quotings; in the long ones quotes and line ends stand as
    they are.
    """
    text = lexical.replace("\\", "\\\\")
    if len(quote) == 1:
        text = text.replace(quote, "\\" + quote).replace("\n", "\\n")
    return quote + text + quote


# Semantics

SCALE = 8  # the greatest ω + β where there is no query
# any integer: between these multiples of the greatest ω + β (periods: at most half of it)
INTEGER = object()
RANGES = {
    "t0": (-1, 1),
    "offset": (-1, 2),
    "anchor": (-1, 1),
    "horizon": (1, 9),
    "disorder": (0, 1),
}
REPORTS = tuple(
    frozenset(report) for size in range(1, 5) for report in combinations(Condition, size)
)
# Fields whose values mean something only with one another (SEM-2, QRY-5); no field is in two
# groups, and none refers to a later one.
GROUPS = (
    ("t0", "offset", "closure"),
    ("r2s", "base"),
    ("report", "period", "anchor", "gap"),
    ("trigger",),
)
NEUTRAL = {
    "t0": 0,
    "offset": None,
    "closure": None,
    "r2s": R2S.RSTREAM,
    "base": None,
    "report": frozenset({Condition.NON_EMPTY}),
    "period": None,
    "anchor": None,
    "gap": Gap.ALL,
    "trigger": Trigger.ANY,
    "disorder": Disorder.REJECT,
}


def semantics(query: Query | None = None, /, **fields: Any) -> Strategy[Semantics]:
    """Every complete Semantics; with a query, those that mean something with it (SEM-2, QRY-5, and
    WIN-7 of tuples). Integers are as large as the query's sizes and slides, t0 and a horizon near
    0; streams that fit are those of `inputs`.

    A keyword fixes a field to a value or its text (`report="window-close,non-empty"`), or keeps it
    to some, as in a profile: `OneOf`, `Between` or `UNKNOWN`; `**profile("cqels").fields` are those
    that a profile allows. Raises InvalidSemantics where the fields given mean nothing together or
    with the query.

    >>> from hypothesis import given
    >>> from refengine import Between, profile
    >>> from refengine.strategies import semantics
    >>> @given(semantics(tick="time", t0=Between(-4, 4)))
    ... def test_the_tick_is_by_time(choice):
    ...     assert choice.tick == "time" and -4 <= choice.t0 <= 4
    >>> @given(semantics(**profile("csparql").fields))
    ... def test_csparql_leaves_t0_open(choice):
    ...     assert profile("csparql").but(t0=choice.t0).semantics() == choice
    >>> test_the_tick_is_by_time(), test_csparql_leaves_t0_open()
    (None, None)
    """
    _is("query", query, Query | None, "a Query; the fields of a profile are **profile.fields")
    for name in fields:
        known_field(name)
    scale = max(sum(_extent(window)) for window in query.windows) if query else SCALE
    choices = tuple(_choices(name, fields.get(name, UNKNOWN)) for name in FIELDS)
    asked = query and _Asked(
        tuple(_AskedWindow(w.kind, w.triggers) for w in query.windows), query.r2s, query.registered
    )
    return _semantics(choices, _legal(asked, choices), scale)


class _AskedWindow(NamedTuple):
    """What of a window QRY-5 looks at."""

    kind: WindowKind
    triggers: bool


class _Asked(NamedTuple):
    """What of a query QRY-5 looks at: queries that share it have the same semantics."""

    windows: tuple[_AskedWindow, ...]
    r2s: R2S | None
    registered: int | None


@st.composite
def _semantics(
    draw: st.DrawFn, choices: Sequence[tuple], coupled: Sequence[list[tuple]], scale: int
) -> Semantics:
    values: dict[str, Any] = {}
    for group, legal in zip(GROUPS, coupled, strict=True):
        for position, name in enumerate(group):
            values[name] = _one_of(draw, dict.fromkeys(shape[position] for shape in legal))
            legal = [shape for shape in legal if shape[position] == values[name]]
    values |= {
        name: _one_of(draw, found)
        for name, found in zip(FIELDS, choices, strict=True)
        if name not in values
    }
    ranges = {name: Between(lo * scale, hi * scale) for name, (lo, hi) in RANGES.items()} | {
        "period": Between(1, max(2, scale // 2))
    }
    integers = {name: ranges[name] if value is INTEGER else value for name, value in values.items()}
    return Semantics(
        **{
            n: draw(st.integers(v.lo, v.hi)) if isinstance(v, Between) else v
            for n, v in integers.items()
        }
    )


def _one_of(draw: st.DrawFn, values: Iterable) -> Any:
    first, *others = values
    return draw(st.sampled_from([first, *others])) if others else first


def _choices(name: str, value: Any) -> tuple:
    """The values that a field may have, the plainest first; an integer of a range is that range."""
    if isinstance(value, Between):
        return (value,)
    if isinstance(value, OneOf):
        return tuple(v if isinstance(v, Between) else parse_field(name, v) for v in value.values)
    if value != UNKNOWN:
        return (parse_field(name, value),)
    if name == "report":
        return REPORTS
    integers, words = (INTEGER,) * (name in INTEGRAL), tuple(ENUMS.get(name, ()))
    return (None,) * (name in OPTIONAL) + (
        integers + words if name in ("t0", "anchor") else words + integers
    )


@lru_cache(maxsize=256)
def _legal(query: _Asked | None, choices: tuple[tuple, ...]) -> list[list[tuple]]:
    """For each group the combinations of values that mean something, given that those of the groups
    before do.
    """
    of = dict(zip(FIELDS, choices, strict=True))
    base, found = {name: _example(values[0]) for name, values in of.items()} | NEUTRAL, []
    for group in GROUPS:
        legal, refused = [], None
        # an operator asks for a base, which comes next
        asked = query and query._replace(r2s=None) if group is GROUPS[0] else query
        for shape in product(*(of[name] for name in group)):
            try:
                _meant(asked, base | dict(zip(group, map(_example, shape), strict=True)))
                legal.append(shape)
            except (InvalidSemantics, InvalidQuery) as error:
                refused = refused or error
        if not legal:
            raise refused
        base |= dict(zip(group, map(_example, legal[0]), strict=True))
        found.append(legal)
    return found


def _example(value: Any) -> Any:
    return 1 if value is INTEGER else value.lo if isinstance(value, Between) else value


def _meant(query: _Asked | None, fields: Mapping[str, Any]) -> None:
    """Raises where fields mean nothing together or with the query."""
    semantics = SimpleNamespace(**fields)  # a Semantics would parse every field again
    contradictions(semantics)
    if query is None:
        return
    meaning(query, semantics)
    if semantics.t0 is T0.KAFKA_STREAMS and query.windows[0].kind is WindowKind.TUPLE:
        raise InvalidSemantics(
            "t0=kafka-streams has no formula for tuple windows; give an integer", rule="WIN-7"
        )
