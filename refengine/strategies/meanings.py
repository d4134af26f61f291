"""Semantics: every one that means something, alone or with a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

from refengine.core.combinations import (
    GROUPS,
    INTEGER,
    REPORTS,
    Values,
    is_consuming_shape,
    legal_combinations,
    meaning_of,
    uses_up_elements,
)
from refengine.core.plan import why_not_consumed
from refengine.core.profile import UNKNOWN, Between, OneOf
from refengine.core.query import Query
from refengine.core.semantics import (
    ENUMS,
    FIELDS,
    INTEGRAL,
    OPTIONAL,
    Semantics,
    known_field,
    parse_field,
    show,
)
from refengine.model.errors import InvalidQuery, InvalidSemantics
from refengine.strategies.arguments import check_argument
from refengine.strategies.payloads import Strategy
from refengine.strategies.questions import extent_of

SCALE = 8  # the greatest ω + β where there is no query
# any integer: between these multiples of the greatest ω + β (periods: at most half of it)
RANGES = {
    "t0": (-1, 1),
    "offset": (-1, 2),
    "not_before": (-2, 0),
    "anchor": (-1, 1),
    "horizon": (1, 9),
    "allowed_lateness": (0, 1),
}


def semantics(query: Query | None = None, /, **fields: Any) -> Strategy[Semantics]:
    """Return every complete Semantics; with a query, those that mean something with it (SEM-2,
    QRY-5, and WIN-7 of tuples). Integers are as large as the query's sizes and slides, t0 and a
    horizon near 0; streams that fit are those of `inputs`.

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
    check_argument(
        "query", query, Query | None, "a Query; the fields of a profile are **profile.fields"
    )
    for name in fields:
        known_field(name)
    scale = SCALE
    if query:
        scale = max(sum(extent_of(window)) for window in query.windows)
    choices = {name: _choices(name, fields.get(name, UNKNOWN)) for name in FIELDS}
    asked = query and meaning_of(query)
    coupled = tuple(choices[name] for group in GROUPS for name in group)
    ways: list[_Way] = []
    refused: InvalidSemantics | InvalidQuery | None = None
    for reported in choices["reported_windows"]:
        try:
            legal = legal_combinations(asked, coupled, reported)
            ways.append(_way(query, choices["consumption"], reported, legal))
        except (InvalidSemantics, InvalidQuery) as error:
            refused = refused or error
    if refused is not None and not ways:
        raise refused
    return _semantics(choices, ways, scale)


class _Way(NamedTuple):
    """What may be drawn for one value of `reported_windows`: the values of `consumption`, and the
    legal values of each group of fields: all, and those under which elements can be consumed.
    """

    reported: object
    consumptions: Values
    legal: Sequence[list[Values]]
    consuming: Sequence[list[Values]]


def _way(
    query: Query | None, consumptions: Values, reported: object, legal: Sequence[list[Values]]
) -> _Way:
    """Return what may be drawn for one value of `reported_windows`. Raises InvalidSemantics if no
    value of `consumption` means something.
    """
    consuming = [
        [shape for shape in shapes if is_consuming_shape(group, shape)]
        for group, shapes in zip(GROUPS, legal, strict=True)
    ]
    possible = _consumptions(query, consumptions, all(consuming))
    return _Way(reported, possible, legal, consuming)


def _consumptions(query: Query | None, values: Values, has_needed: bool) -> Values:
    """Return the values of `consumption` to draw from: of those given the ones that mean something.
    `unrestricted` is drawn as often as four others. `has_needed` says whether the values of other
    fields that these need can be drawn. Raises InvalidSemantics if no value is left.
    """
    others = tuple(value for value in values if uses_up_elements(value))
    plain = tuple(value for value in values if value not in others)
    reason = query and why_not_consumed(query)
    if reason is None and has_needed:
        return plain * 4 * max(1, len(others)) + others
    if not plain:
        needed = "needs r2s=append report=content-change"
        raise InvalidSemantics(f"consumption={show(others[0])} {reason or needed}", rule="SEM-2")
    return plain


@st.composite
def _semantics(
    draw: st.DrawFn,
    choices: Mapping[str, Values],
    ways: Sequence[_Way],
    scale: int,
) -> Semantics:
    """`ways` are those of the values of `reported_windows` that mean something."""
    way = ways[0]
    if len(ways) > 1:
        way = draw(st.sampled_from(ways))
    values = {
        "reported_windows": way.reported,
        "consumption": _draw_value(draw, "consumption", way.consumptions),
    }
    is_consuming = uses_up_elements(values["consumption"])
    for group, legal in zip(GROUPS, way.consuming if is_consuming else way.legal, strict=True):
        for position, name in enumerate(group):
            possible = tuple(dict.fromkeys(shape[position] for shape in legal))
            values[name] = _draw_value(draw, name, possible)
            legal = [shape for shape in legal if shape[position] == values[name]]
    values |= {
        name: _draw_value(draw, name, found)
        for name, found in choices.items()
        if name not in values
    }
    ranges = {name: Between(lo * scale, hi * scale) for name, (lo, hi) in RANGES.items()} | {
        "period": Between(1, max(2, scale // 2)),
        "early_period": Between(1, max(2, scale // 2)),
        "early_count": Between(1, 4),
        "watermark_delay": Between(0, max(3, scale // 4)),
    }
    fields: dict[str, Any] = {}
    for name, value in values.items():
        if value is INTEGER:
            value = ranges[name]
        if isinstance(value, Between):
            value = draw(st.integers(value.lo, value.hi))
        fields[name] = value
    return Semantics(**fields)


def _draw_value(draw: st.DrawFn, name: str, values: Values) -> object:
    if len(values) == 1:
        return values[0]
    return draw(_values(name, values))


@lru_cache(maxsize=1024)
def _values(name: str, values: Values) -> Strategy[object]:
    """Return some values of a field. Kept, since Hypothesis looks at a new strategy before its
    first draw. The name is there because values of two fields may be equal: both are strings.
    """
    return st.sampled_from(values)


def _choices(name: str, value: object) -> Values:
    """Return the values that a field may have, the plainest first; an integer of a range is that
    range.
    """
    if isinstance(value, Between):
        return (value,)
    if isinstance(value, OneOf):
        return tuple(v if isinstance(v, Between) else parse_field(name, v) for v in value.values)
    if value != UNKNOWN:
        return (parse_field(name, value),)
    if name == "report":
        return REPORTS
    none: Values = (None,) * (name in OPTIONAL)
    integers: Values = (INTEGER,) * (name in INTEGRAL)
    words: Values = tuple(ENUMS.get(name, ()))
    if name in ("t0", "anchor"):
        return none + integers + words
    return none + words + integers
