"""Wrong engines for §1 to §3: elements, terms, semantics, queries as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from conformance.wrong_engines.engines import C_SPARQL, RSP_JS, YASPER
from conformance.wrong_engines.miniature import Right, wrong
from refengine.core import engine, query, semantics
from refengine.core.arrivals import Arrivals
from refengine.core.query import QUERY_KEYS, WINDOW_KEYS, Query, Unit, WindowKind
from refengine.core.semantics import (
    ENUMS,
    R2S,
    T0,
    Base,
    Condition,
    End,
    Profile,
    Semantics,
)
from refengine.model import elements, terms
from refengine.model.elements import TIME_BOUND, AdmittedElements, Element, Stream
from refengine.model.errors import InvalidSemantics, InvalidStream
from refengine.model.terms import Term

Streams = Mapping[str, Stream]
Table = Mapping[str, Any]


# §1 Model


@wrong("MOD-1", replaces=elements.check_elements, half="sys increases, and batch ids")
def application_time_must_increase(right: Right, stream: Sequence[Element]) -> None:
    """Two elements of one time are refused, and nothing else is."""
    for before, element in pairwise(stream):
        if element.app <= before.app:
            raise InvalidStream(f"t_app must increase, got {element.app}", rule="MOD-1")


@wrong(
    "MOD-1",
    replaces=elements.admit,
    half="Time is integers within 64 bits",
    seen="rsp-rs 0.3.1 to 0.3.3, https://crates.io/crates/rsp-rs: scope() computes with f64",
)
def time_is_a_double(right: Right, stream: Iterable[Element], disorder: int | str) -> Any:
    """Application time passes through a double: neighbours far from 0 become one instant."""
    return right([element._replace(app=int(float(element.app))) for element in stream], disorder)


@wrong(
    "MOD-2",
    replaces=elements.admit,
    half="except late ones, which are dropped",
    seen=f"{C_SPARQL} accepts late elements; {RSP_JS} adds them if their window is open",
)
def late_elements_are_added(right: Right, stream: Iterable[Element], disorder: int | str) -> Any:
    """However late an element is, and where it should be refused, it is put in its place."""
    return right(stream, TIME_BOUND)


@wrong("MOD-2", replaces=elements.admit, half="and counted")
def late_elements_are_not_counted(
    right: Right, stream: Iterable[Element], disorder: int | str
) -> Any:
    """Late elements are dropped, and simultaneous ones turned round, and nobody is told."""
    admitted: AdmittedElements = right(stream, disorder)
    if disorder == "reject":
        return admitted
    turned = sorted(reversed(admitted.elements), key=lambda element: element.app)
    return AdmittedElements(tuple(turned), ())


@wrong(
    "MOD-3",
    "WIN-18",
    replaces=elements.valid,
    half="iff some instant is in both",
    seen=f"{RSP_JS}, {YASPER} and {C_SPARQL}: their elements have one time",
)
def the_end_is_not_read(right: Right, element: Element) -> tuple[int, int]:
    """Every element is a point, whatever its end is."""
    return element.app, element.app


@wrong("MOD-4", replaces=terms.canonical, half="escapes are read")
def escapes_are_letters(right: Right, term: Term) -> Term:
    """The backslash of an escape is left out, and what follows it stands for itself."""
    if term.startswith('"'):
        return re.sub(r'\\([^"\\nr])', r"\1", term)
    return str(right(term))


@wrong("MOD-4", replaces=terms.canonical, half="Anything else is refused")
def any_text_is_a_term(right: Right, term: Term) -> Term:
    """What is no term is taken as it is."""
    try:
        return str(right(term))
    except InvalidStream:
        return term


# §2 Semantics


@wrong(
    "SEM-1",
    replaces=semantics.parse_field,
    half="an integer beyond 64 bits",
    seen=f"{RSP_JS}: Istream and Dstream parse and behave as Rstream",
)
def an_unknown_value_becomes_the_first(right: Right, name: str, value: Any) -> Any:
    """A value that the field does not have becomes the field's first."""
    try:
        return right(name, value)
    except InvalidSemantics:
        first = {field: next(iter(values)) for field, values in ENUMS.items()}
        return first.get(name, frozenset({Condition.CLOSE}))


@wrong("SEM-2", replaces=semantics.contradictions, half="and `periodic` without them")
def what_is_missing_has_a_default(right: Right, chosen: Semantics) -> None:
    """A period is 1, an anchor and an offset 0, a base `previous` unless it is said otherwise."""
    if Condition.PERIODIC in chosen.report:
        _set(chosen, period=chosen.period or 1, anchor=chosen.anchor or 0)
    if chosen.t0 is T0.EPOCH:
        _set(chosen, offset=chosen.offset or 0)
    if chosen.r2s in (R2S.ISTREAM, R2S.DSTREAM):
        _set(chosen, base=chosen.base or Base.PREVIOUS)
    right(chosen)


def _set(chosen: Semantics, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(chosen, name, value)


@wrong("SEM-2", replaces=semantics.contradictions, half="a negative disorder")
def only_window_close_is_looked_at(right: Right, chosen: Semantics) -> None:
    """Whatever means nothing together is taken, but for window close alone without a horizon."""
    if chosen.report == {Condition.CLOSE} and chosen.horizon is End.NONE:
        raise InvalidSemantics("window-close alone needs a horizon", rule="SEM-2")


@wrong(
    "SEM-3",
    "SEM-1",
    replaces=Profile.semantics,
    seen=f"{YASPER} and {RSP_JS}: t0 is 0",
    half="An evaluation needs a value for each",
)
def what_is_unknown_is_zero(right: Right, profile: Profile) -> Semantics:
    """What the profile leaves open is 0, or the first of the field's values."""
    first: dict[str, Any] = {name: next(iter(values)) for name, values in ENUMS.items()}
    first |= {"t0": 0, "offset": None, "period": None, "anchor": None, "base": None}
    return Semantics(**{**profile.fields, **{name: first[name] for name in profile.unknown}})


@wrong(
    "SEM-3",
    "SEM-1",
    replaces=Profile.but,
    half=("names those that lack one", "An unknown field or value is refused"),
)
def profiles_are_fixed(right: Right, profile: Profile, **overrides: Any) -> Profile:
    """What a profile says, or leaves open, cannot be given otherwise."""
    return profile


# §3 Query


@wrong("QRY-1", replaces=query.from_table, half="The schema is closed: another key is refused")
def words_are_made_to_fit(right: Right, table: Table) -> Any:
    """Keys, kinds and units that do not exist are left out, and a kind is `time`; any truth
    triggers, a text is a list of one key, and a registration in words is none.
    """
    windows = [_fitting(window) for window in table["windows"]]
    more = {key: table[key] for key in QUERY_KEYS if key in table}
    if not isinstance(more.get("registered"), int):
        more.pop("registered", None)
    return right({**more, "windows": windows})


def _fitting(window: Table) -> Table:
    fitting = {key: window[key] for key in WINDOW_KEYS if key in window}
    if fitting.get("kind") not in list(WindowKind):
        fitting["kind"] = "time"
    if fitting.get("unit") not in list(Unit):
        fitting.pop("unit", None)
    if "triggers" in fitting:
        fitting["triggers"] = bool(fitting["triggers"])
    if isinstance(fitting.get("by"), str):
        fitting["by"] = [fitting["by"]]
    return fitting


@wrong("QRY-1", replaces=query.from_table, half="the absolute IRI of a named window")
def names_are_forgotten(right: Right, table: Table) -> Any:
    """The names of windows are read and forgotten."""
    windows = [{key: w[key] for key in w if key != "name"} for w in table["windows"]]
    return right({**table, "windows": windows})


@wrong("QRY-1", replaces=Query.__post_init__, half="`windows` (an array of tables)")
def no_window_is_needed(right: Right, query: Query) -> None:
    """A query may be without windows."""


@wrong(
    "QRY-4",
    "R2R-1",
    replaces=engine.plan,
    seen=f"{RSP_JS}: a second window over a stream replaces the first",
    half="no two windows have one name",
)
def the_last_of_several_windows_counts(
    right: Right, query: Query, streams: Streams, semantics: Semantics
) -> Any:
    """Of several windows the last one replaces the others."""
    return right(replace(query, windows=query.windows[-1:]), streams, semantics)


_push = Arrivals.push  # the right one, also while it is replaced


def _push_to_every_stream(arrivals: Arrivals, stream: str, element: Element) -> range:
    """Take an element of the first stream for one of each, and none of another."""
    before = len(arrivals.arrivals)
    if stream == arrivals.declared[0]:
        for number, name in enumerate(arrivals.admissions):
            sys = element.sys * len(arrivals.admissions) + number
            _push(arrivals, name, element._replace(sys=sys))
    return range(before, len(arrivals.arrivals))


@wrong(
    "QRY-4",
    replaces=engine.plan,
    besides={Arrivals.push: _push_to_every_stream},
    seen=f"{C_SPARQL}: of two streams with different windows one's content was used",
    half="A window ranges over a declared stream",
)
def any_stream_will_do(right: Right, query: Query, streams: Streams, semantics: Semantics) -> Any:
    """A window ranges over whatever stream comes first."""
    first = next(iter(streams.values()))
    return right(query, {spec.stream: first for spec in query.windows}, semantics)


@wrong("QRY-5", replaces=engine.check_meaning, half="window close needs windows that close")
def query_and_semantics_are_not_compared(right: Right, query: Query, semantics: Semantics) -> None:
    """A closure, window close, a base, a registration and a trigger may be asked of what has none,
    or be missing.
    """
    if any(spec.kind is WindowKind.TUPLE for spec in query.windows):
        right(query, semantics)


@wrong("QRY-5", replaces=engine.plan, half="a tuple-based window is the only window of its query")
def a_tuple_window_is_alone(right: Right, query: Query, streams: Streams, *rest: Any) -> Any:
    """Where a window counts tuples the others are left out."""
    counting = tuple(spec for spec in query.windows if spec.kind is WindowKind.TUPLE)[:1]
    return right(replace(query, windows=counting or query.windows), streams, *rest)
