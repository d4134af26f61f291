"""Windows: their kinds, sizes, slides and keys; and queries: windows, a body, an operator, and when
it is registered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypedDict, TypeVar, Unpack

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from refengine.core.query import (
    COUNTING,
    LAGGING,
    SIZED,
    SLIDING,
    Body,
    Form,
    Query,
    Unit,
    Window,
    WindowKind,
)
from refengine.core.values import R2S
from refengine.model.errors import require
from refengine.strategies.arguments import (
    check_argument,
    index_below,
    pick,
    take_choices,
    take_in_order,
)
from refengine.strategies.payloads import Strategy
from refengine.strategies.sparql import bodies_of_forms

KEYS = (("subject",), ("predicate",), ("object",), ("urn:p",), ("subject", "urn:p"))
ROUND = (1000, 2000, 10_000, 60_000, 300_000, 3_600_000, 86_400_000)
ODD = (7, 13, 999, 1001, 1500, 61_000, 90_001, 3_600_001)


@dataclass(frozen=True)
class WindowChoices:
    """What a window may have whatever its kind and its name: keywords of `windows`."""

    streams: Sequence[str] = ("s",)
    sizes: Strategy[int] | None = None
    slides: Strategy[int] | None = None
    lags: Strategy[int] | None = None
    units: Sequence[Unit | str] = tuple(Unit)
    keys: Sequence[tuple[str, ...]] = KEYS
    triggers: bool = True


Choices = TypeVar("Choices", bound=WindowChoices)


class ChoicesKeywords(TypedDict, total=False):
    """The fields of WindowChoices, as `windows` and `queries` take them."""

    streams: Sequence[str]
    sizes: Strategy[int] | None
    slides: Strategy[int] | None
    lags: Strategy[int] | None
    units: Sequence[Unit | str]
    keys: Sequence[tuple[str, ...]]
    triggers: bool


def extent_of(window: Window) -> tuple[int, int]:
    """Return ω and β where they are spans of time; of a session its gap and half of it, so that
    elements come exactly a gap apart, and one between two.
    """
    if window.kind is WindowKind.SESSION:
        gap = require(window.size)
        return gap, (gap + 1) // 2
    if window.kind not in (WindowKind.TIME, WindowKind.RANGE):
        return 0, 1
    return window.span, window.step


def windows(
    *,
    kinds: Iterable[WindowKind | str] = tuple(WindowKind),
    names: Sequence[str] = (),
    **options: Unpack[ChoicesKeywords],
) -> Strategy[Window]:
    """Return windows of the given kinds over the given `streams`. `sizes`, `slides` and `lags` are
    strategies, `units` is what may be counted. Sizes and slides are by default small, multiples of
    1,000, 60,000 or 3,600,000 (seconds, minutes, hours in milliseconds), or odd; a slide is often
    the size, a part of it, or more. Few windows have a lag by default. `names` are IRIs that a
    window may have; `keys`, what a partition may be `by`; with `triggers` some are explicit
    triggers.

    >>> from hypothesis import given
    >>> from refengine.strategies import windows
    >>> @given(windows(kinds=["time", "range"]))
    ... def test_a_window_has_a_size(window):
    ...     assert window.size > 0
    >>> test_a_window_has_a_size()
    """
    possible = [WindowKind(kind) for kind in take_choices("kinds", kinds)]
    possible_names = [None, *take_in_order("names", names)]
    return _windows(possible, possible_names, normalize_choices(WindowChoices(**options)))


def normalize_choices(choices: Choices) -> Choices:
    """Return choices with streams, units and keys as sequences, and with units in place of their
    names. Raises InvalidArgument if `sizes`, `slides` or `lags` is no strategy, or if there is no
    stream, unit or key to choose from; ValueError for a unit that does not exist.
    """
    lengths = (("sizes", choices.sizes), ("slides", choices.slides), ("lags", choices.lags))
    for name, strategy in lengths:
        check_argument(name, strategy, Strategy | None, "a strategy, such as st.just(10)")
    return replace(
        choices,
        streams=take_choices("streams", choices.streams),
        units=[Unit(unit) for unit in take_choices("units", choices.units)],
        keys=take_choices("keys", choices.keys),
    )


def draw_window(
    draw: st.DrawFn,
    kinds: Sequence[WindowKind],
    names: Sequence[str | None],
    choices: WindowChoices,
) -> Window:
    """Draw a window of one of some kinds, with one of some names or none."""
    kind = pick(draw, kinds)
    size = _size(draw, kind, choices.sizes)
    slide = _slide(draw, kind, size, choices.slides)
    unit = Unit.ELEMENTS
    if kind in COUNTING:
        # `normalize_choices` has made units of their names; the type of `units` allows both
        unit = Unit(pick(draw, choices.units))
    by: tuple[str, ...] = ()
    if kind is WindowKind.PARTITION:
        by = pick(draw, choices.keys)
    return Window(
        pick(draw, choices.streams),
        kind,
        size,
        slide,
        unit,
        by,
        pick(draw, names),
        choices.triggers and pick(draw, (False, True)),
        _lag(draw, kind, size, choices.lags),
    )


def _size(draw: st.DrawFn, kind: WindowKind, sizes: Strategy[int] | None) -> int | None:
    if kind not in SIZED:
        return None
    if sizes is not None:
        return draw(sizes)
    if kind in COUNTING or kind is WindowKind.PARTITION:
        return draw(FEW)
    return draw(SIZES)


def _slide(
    draw: st.DrawFn, kind: WindowKind, size: int | None, slides: Strategy[int] | None
) -> int | None:
    if kind not in SLIDING or size is None:
        return None
    if slides is None:
        slides = _slides(size)
    slide = draw(slides)
    may_have_none = kind in (WindowKind.RANGE, WindowKind.ROWS)
    if may_have_none and draw(index_below(4)) == 3:
        return None
    return slide


def _lag(draw: st.DrawFn, kind: WindowKind, size: int | None, lags: Strategy[int] | None) -> int:
    if kind not in LAGGING or size is None:
        return 0
    if lags is not None:
        return draw(lags)
    if draw(index_below(4)) < 3:
        return 0
    return draw(_lags(size))


_windows = st.composite(draw_window)


@lru_cache(maxsize=256)
def _lags(size: int) -> Strategy[int]:
    return st.sampled_from([1, size]) | st.integers(1, 2 * size)


FEW = st.integers(1, 12)
SIZES = FEW | st.sampled_from(ROUND) | st.sampled_from(ODD)


@lru_cache(maxsize=256)
def _slides(size: int) -> Strategy[int]:
    odd = 1
    if size >= 100:
        odd = size - 1
    parts = sorted({size, *(size // n for n in (2, 3, 4, 5, 10) if size % n == 0), odd})
    return (
        st.just(size)
        | st.sampled_from(parts)
        | st.integers(1, 2 * size)
        | st.sampled_from([size + 1, 2 * size])
    )


# kinds whose windows are the only one of their query (QRY-5)
ALONE = frozenset({WindowKind.TUPLE, WindowKind.SESSION})
STREAMS = ("s", "http://example.org/streams/r")
NAMES = ("urn:w1", "urn:w2", "http://example.org/windows#w3")


class QueryKeywords(ChoicesKeywords, total=False):
    """What `queries` takes beside its own keywords: those of `windows` and of `bodies`."""

    forms: Iterable[Form | str]
    graph_variable: bool


@dataclass(frozen=True)
class QueryChoices(WindowChoices):
    """What a query may have whatever its windows are: keywords of `windows` and `bodies`."""

    streams: Sequence[str] = STREAMS
    forms: Iterable[Form | str] = tuple(Form)
    graph_variable: bool = False


@dataclass(frozen=True)
class Beside:
    """What a query has beside its windows: the operators that it may have; a strategy of when it is
    registered; the forms that its body may have; and a strategy of its body, None for one of
    `bodies`.
    """

    operators: Sequence[R2S | None]
    registered: Strategy[int | None]
    forms: Sequence[Form]
    body: Strategy[Body] | None


def queries(
    *,
    kinds: Iterable[WindowKind | str] = tuple(WindowKind),
    min_windows: int = 1,
    max_windows: int = 3,
    names: Sequence[str] = NAMES,
    r2s: Sequence[R2S | str | None] = (None, *R2S),
    registered: Strategy[int | None] | None = None,
    bodies: Strategy[Body] | None = None,
    **options: Unpack[QueryKeywords],
) -> Strategy[Query]:
    """Return queries that are valid as they are: `min_windows` to `max_windows` windows as
    `windows` draws them (a tuple-based one or a session alone, QRY-5; no two of one name, QRY-4;
    a session with no operator or Rstream, REP-14), over some of
    the streams, whose names are words or absolute IRIs; a body as `bodies` draws it, which reads
    the named windows; an operator of `r2s`; and `registered`, by default sometimes an instant.
    `options` are the keywords of `windows` (`streams`, `sizes`, `slides`, `lags`, `units`, `keys`,
    `triggers`) and of `bodies` (`forms`, `graph_variable`).

    >>> from hypothesis import given
    >>> from refengine import Body
    >>> from refengine.strategies import queries
    >>> @given(queries(kinds=["time", "rows"], streams=["s"], max_windows=2, names=(), r2s=[None]))
    ... def test_a_body_is_what_its_text_says(query):
    ...     assert Body(query.body.text) == query.body
    >>> test_a_body_is_what_its_text_says()
    """
    possible = [WindowKind(kind) for kind in take_choices("kinds", kinds)]
    if min_windows > 1 and ALONE.issuperset(possible):
        raise InvalidArgument(
            f"a window of kind {possible[0]} is the only one of its query (QRY-5); "
            "write min_windows=1"
        )
    possible_names = take_in_order("names", names)
    choices = normalize_choices(QueryChoices(**options))
    forms = [Form(form) for form in take_choices("forms", choices.forms)]
    for name, strategy in (("bodies", bodies), ("registered", registered)):
        check_argument(name, strategy, Strategy | None, "a strategy, such as st.none()")
    operators = [
        None if operator is None else R2S(operator) for operator in take_choices("r2s", r2s)
    ]
    if not any(map(_emits_whole_answers, operators)):
        possible = [kind for kind in possible if kind is not WindowKind.SESSION]
        if not possible:
            raise InvalidArgument(
                f"a session has no {operators[0]} (REP-14); write r2s=[None, 'Rstream']"
            )
    if registered is None:
        registered = st.sampled_from([None, 0, 5, -1])
    return _queries(
        possible,
        st.integers(min_windows, max_windows),
        possible_names,
        choices,
        Beside(operators, registered, forms, bodies),
    )


def _emits_whole_answers(operator: R2S | None) -> bool:
    """Return whether a query with an operator, or with none, may have a session (REP-14)."""
    return operator is None or operator.emits_whole_answers


@st.composite
def _queries(
    draw: st.DrawFn,
    kinds: Sequence[WindowKind],
    counts: Strategy[int],
    names: Sequence[str],
    choices: QueryChoices,
    beside: Beside,
) -> Query:
    joinable = [kind for kind in kinds if kind not in ALONE]
    count = 1
    if joinable:
        count = draw(counts)
    if count > 1:
        kinds = joinable
    found: list[Window] = []
    for _ in range(count):
        free = [name for name in names if name not in [window.name for window in found]]
        found.append(draw_window(draw, kinds, [None, *free[:1]], choices))
    named = [window.name for window in found if window.name]
    bodies = beside.body
    if bodies is None:
        bodies = bodies_of_forms(named, beside.forms, choices.graph_variable)
    body = draw(bodies)
    operators = beside.operators
    if found[0].kind is WindowKind.SESSION:
        operators = [each for each in operators if _emits_whole_answers(each)]
    operator = draw(st.sampled_from(operators))
    return Query(tuple(found), body, operator, draw(beside.registered))
