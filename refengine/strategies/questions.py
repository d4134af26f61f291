"""Queries: windows, a body, an operator, and when it is registered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from refengine.core.query import Body, Form, Query, Window, WindowKind
from refengine.core.semantics import R2S
from refengine.strategies import extents
from refengine.strategies.arguments import check_argument, take_choices, take_in_order
from refengine.strategies.payloads import Strategy
from refengine.strategies.sparql import bodies_of_forms

STREAMS = ("s", "http://example.org/streams/r")
NAMES = ("urn:w1", "urn:w2", "http://example.org/windows#w3")


class QueryKeywords(extents.ChoicesKeywords, total=False):
    """What `queries` takes beside its own keywords: those of `windows` and of `bodies`."""

    forms: Iterable[Form | str]
    graph_variable: bool


@dataclass(frozen=True)
class QueryChoices(extents.WindowChoices):
    """What a query may have whatever its windows are: keywords of `windows` and `bodies`."""

    streams: Sequence[str] = STREAMS
    forms: Iterable[Form | str] = tuple(Form)
    graph_variable: bool = False


@dataclass(frozen=True)
class Beside:
    """What a query has beside its windows: strategies of its operator and of when it is registered;
    the forms that its body may have; and a strategy of its body, None for one of `bodies`.
    """

    operator: Strategy[R2S | None]
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
    `windows` draws them (a tuple-based one alone, QRY-5; no two of one name, QRY-4), over some of
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
    if min_windows > 1 and set(possible) == {WindowKind.TUPLE}:
        raise InvalidArgument(
            "a tuple-based window is the only one of its query (QRY-5); write min_windows=1"
        )
    possible_names = take_in_order("names", names)
    choices = extents.normalize_choices(QueryChoices(**options))
    forms = [Form(form) for form in take_choices("forms", choices.forms)]
    for name, strategy in (("bodies", bodies), ("registered", registered)):
        check_argument(name, strategy, Strategy | None, "a strategy, such as st.none()")
    operators = [
        None if operator is None else R2S(operator) for operator in take_choices("r2s", r2s)
    ]
    if registered is None:
        registered = st.sampled_from([None, 0, 5, -1])
    return _queries(
        possible,
        st.integers(min_windows, max_windows),
        possible_names,
        choices,
        Beside(st.sampled_from(operators), registered, forms, bodies),
    )


@st.composite
def _queries(
    draw: st.DrawFn,
    kinds: Sequence[WindowKind],
    counts: Strategy[int],
    names: Sequence[str],
    choices: QueryChoices,
    beside: Beside,
) -> Query:
    joinable = [kind for kind in kinds if kind is not WindowKind.TUPLE]
    count = 1
    if joinable:
        count = draw(counts)
    if count > 1:
        kinds = joinable
    found: list[Window] = []
    for _ in range(count):
        free = [name for name in names if name not in [window.name for window in found]]
        found.append(extents.draw_window(draw, kinds, [None, *free[:1]], choices))
    named = [window.name for window in found if window.name]
    bodies = beside.body
    if bodies is None:
        bodies = bodies_of_forms(named, beside.forms, choices.graph_variable)
    body = draw(bodies)
    return Query(tuple(found), body, draw(beside.operator), draw(beside.registered))
