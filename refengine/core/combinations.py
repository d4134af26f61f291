"""§2 Which values of fields mean something together (SEM-2), and with a query (QRY-5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, product
from types import SimpleNamespace
from typing import NamedTuple, cast

from refengine.core.plan import check_meaning
from refengine.core.profile import Between
from refengine.core.query import Query, Window, WindowKind
from refengine.core.semantics import Semantics, contradictions
from refengine.core.values import (
    R2S,
    AllowedLateness,
    ChangeBaseline,
    CloseRule,
    Condition,
    Consumption,
    Empty,
    ExpirySeen,
    LateFor,
    MissedInstants,
    Panes,
    Partial,
    Tick,
    Trigger,
    is_formula,
)
from refengine.core.window import origin_of_ids
from refengine.model.errors import InvalidQuery, InvalidSemantics

Values = tuple[object, ...]  # those that a field may have, or one for each field of a group

INTEGER = object()  # any integer
REPORTS = tuple(
    frozenset(report) for size in range(1, 6) for report in combinations(Condition, size)
)
# Fields whose values mean something only with one another (SEM-2, QRY-5); no field is in two
# groups, and none refers to a later one. All refer to `reported_windows`.
GROUPS = (
    ("t0", "offset", "closure"),
    ("r2s", "base"),
    ("report", "period", "anchor", "missed_instants"),
    ("trigger",),
    (
        "late_for",
        "watermark",
        "watermark_delay",
        "expiry_rule",
        "allowed_lateness",
        "close_rule",
        "tick",
    ),
    ("early_count",),
    ("early_period",),
    ("panes",),
    ("change_baseline",),
    ("expiry_seen",),
    ("empty",),
    ("partial", "not_before"),
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
    "missed_instants": MissedInstants.ALL,
    "trigger": Trigger.ANY,
    "partial": Partial.SUPPRESSED,
    "not_before": None,
    "late_for": LateFor.STREAM,
    "watermark": None,
    "watermark_delay": None,
    "expiry_rule": None,
    "allowed_lateness": AllowedLateness.REJECT,
    "close_rule": CloseRule.REACHED,
    "tick": Tick.TUPLE,
    "early_count": None,
    "early_period": None,
    "panes": Panes.ACCUMULATING,
    "change_baseline": ChangeBaseline.LAST,
    "expiry_seen": ExpirySeen.REPLAYED,
    "empty": Empty.EMIT,
    "consumption": Consumption.UNRESTRICTED,
}
# What elements can be consumed under (SEM-2)
CONSUMING = {"r2s": R2S.APPEND, "report": frozenset({Condition.CHANGE})}


def is_consuming_shape(group: Sequence[str], shape: Values) -> bool:
    """Return whether the values of a group's fields are such that elements can be consumed."""
    values = dict(zip(group, shape, strict=True))
    return all(values.get(name, needed) == needed for name, needed in CONSUMING.items())


def uses_up_elements(value: object) -> bool:
    """Return whether a value is one of `consumption` under which matches use up elements."""
    return isinstance(value, Consumption) and value.uses_up_elements


class WindowMeaning(NamedTuple):
    """What of a window QRY-5 looks at."""

    kind: WindowKind
    span: int
    triggers: bool
    lag: int
    is_keyed: bool


class QueryMeaning(NamedTuple):
    """What of a query QRY-5 looks at: queries that share it have the same semantics."""

    windows: tuple[WindowMeaning, ...]
    r2s: R2S | None
    registered: int | None


def meaning_of(query: Query) -> QueryMeaning:
    """Return what QRY-5 looks at. Of windows of one kind alone two count, the smallest of them, and
    all sizes but 1 are alike. Every window has a trigger or a lag if any has, and every
    registration is at 0.
    """
    sizes = [(window.kind, min(window.span, 2)) for window in query.windows]
    kinds = {kind for kind, _ in sizes}
    if len(kinds) > 1 and WindowKind.TUPLE not in kinds:
        sizes = list(dict.fromkeys(sizes))
    else:
        sizes = sorted(sizes, key=lambda each: each[1])[:2]
    has_trigger = any(window.triggers for window in query.windows)
    lag = int(any(window.lag for window in query.windows))
    registered = None if query.registered is None else 0
    is_keyed = any(window.is_keyed for window in query.windows)
    windows = tuple(WindowMeaning(*each, has_trigger, lag, is_keyed) for each in sizes)
    return QueryMeaning(windows, query.r2s, registered)


@lru_cache(maxsize=1024)
def legal_combinations(
    query: QueryMeaning | None, choices: tuple[Values, ...], reported: object
) -> list[list[Values]]:
    """Return for each group the combinations of values that mean something beside a value of
    `reported_windows`, given that those of the groups before do. `choices` are those of the groups'
    fields: no rule of SEM-2 and QRY-5 looks at another field.
    """
    names = [name for group in GROUPS for name in group]
    of = dict(zip(names, choices, strict=True))
    base = NEUTRAL | {"reported_windows": reported}
    found: list[list[Values]] = []
    for group in GROUPS:
        asked = query
        if query and group is GROUPS[0]:  # an operator asks for a base, which comes next
            asked = query._replace(r2s=None)
        shapes = product(*(of[name] for name in group))
        legal = _legal_shapes(asked, group, shapes, base)
        base |= _examples(group, legal[0])
        found.append(legal)
    return found


def _legal_shapes(
    query: QueryMeaning | None,
    group: Sequence[str],
    shapes: Iterable[Values],
    base: Mapping[str, object],
) -> list[Values]:
    """Return the combinations of values of a group's fields that mean something beside the values
    `base` of the other fields. If none does, raises what the first is refused with.
    """
    legal: list[Values] = []
    refused: InvalidSemantics | InvalidQuery | None = None
    for shape in shapes:
        try:
            _check_meaning(query, {**base, **_examples(group, shape)})
            legal.append(shape)
        except (InvalidSemantics, InvalidQuery) as error:
            refused = refused or error
    if refused is not None and not legal:
        raise refused
    return legal


def _examples(group: Sequence[str], shape: Values) -> dict[str, object]:
    """Return for each field of a group the value that stands for those of a shape."""
    return dict(zip(group, map(_example, shape), strict=True))


def _example(value: object) -> object:
    if value is INTEGER:
        return 1
    if isinstance(value, Between):
        return value.lo
    return value


def _check_meaning(query: QueryMeaning | None, fields: Mapping[str, object]) -> None:
    """Check that fields mean something together and with the query. Raises InvalidSemantics and
    InvalidQuery.
    """
    # a Semantics would parse every field again
    is_consuming = uses_up_elements(fields["consumption"])
    semantics = cast(Semantics, SimpleNamespace(**fields, is_consuming=is_consuming))
    contradictions(semantics)
    if query is None:
        return
    check_meaning(cast(Query, query), semantics)
    if is_formula(semantics.t0) and query.windows[0].kind is WindowKind.TUPLE:
        # raises where the formula is of times alone
        origin_of_ids(semantics.t0, Window("s", WindowKind.TUPLE, 1, 1))
