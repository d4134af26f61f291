"""Wrong engines for §1 to §3: elements, terms, semantics, queries as tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from conformance.wrong_engines.engines import C_SPARQL, RSP_JS, YASPER
from conformance.wrong_engines.wrong_engine import Right, wrong
from refengine.core import engine, query, semantics
from refengine.core.arrivals import Arrivals
from refengine.core.profile import Profile
from refengine.core.query import QUERY_KEYS, WINDOW_KEYS, Query, Unit, WindowKind
from refengine.core.semantics import ENUMS, Semantics
from refengine.core.values import R2S, T0, Base, Condition, End, ExpiryRule, LateFor
from refengine.model import elements, terms
from refengine.model.elements import TIME_BOUND, AdmittedElements, Element, Stream
from refengine.model.errors import InvalidSemantics, InvalidStream
from refengine.model.terms import Term

Streams = Mapping[str, Stream]
Table = Mapping[str, Any]


# §1 Model


@wrong(
    "MOD-1",
    replaces=elements.check_elements,
    half="sys increases, and batch ids",
)
def application_time_must_increase(right: Right, stream: Sequence[Element]) -> None:
    """Refuses two elements of one time."""
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
    """Keeps time as a double, so instants far from 0 become one."""
    rounded = [element._replace(app=int(float(element.app))) for element in stream]
    return right(rounded, disorder)


@wrong(
    "MOD-2",
    "MOD-5",
    replaces=elements.admit,
    half="except late ones, which are dropped",
    seen=f"{C_SPARQL} accepts late elements; {RSP_JS} adds them if their window is open",
)
def late_elements_are_added(right: Right, stream: Iterable[Element], disorder: int | str) -> Any:
    """Takes late elements in, however late they are. It takes even those that are to be refused."""
    return right(stream, TIME_BOUND)


@wrong("MOD-2", replaces=elements.admit, half="and counted")
def late_elements_are_not_counted(
    right: Right,
    stream: Iterable[Element],
    disorder: int | str,
) -> Any:
    """Drops late elements without a word."""
    return AdmittedElements(right(stream, disorder).elements, ())


@wrong("MOD-2", replaces=elements.admit)
def simultaneous_elements_are_reversed(
    right: Right,
    stream: Iterable[Element],
    disorder: int | str,
) -> Any:
    """Reverses the order of simultaneous elements. It does so where elements are put in order."""
    admitted: AdmittedElements = right(stream, disorder)
    if disorder == "reject":
        return admitted
    last_first = reversed(admitted.elements)
    by_time = sorted(last_first, key=lambda element: element.app)
    return AdmittedElements(tuple(by_time), admitted.late)


@wrong(
    "MOD-3",
    "WIN-18",
    replaces=elements.valid,
    half="iff some instant is in both",
    seen=f"{RSP_JS}, {YASPER} and {C_SPARQL}: their elements have one time",
)
def the_end_is_not_read(right: Right, element: Element) -> tuple[int, int]:
    """Takes an element for a point, whatever its end is."""
    return element.app, element.app


@wrong(
    "MOD-4",
    replaces=terms.canonical,
    half="escapes are read",
)
def escapes_are_letters(right: Right, term: Term) -> Term:
    """Reads an escaped character as the letter after the backslash."""
    if term.startswith('"'):
        return re.sub(r'\\([^"\\nr])', r"\1", term)
    return str(right(term))


@wrong(
    "MOD-4",
    replaces=terms.canonical,
    half="Anything else is refused",
)
def any_text_is_a_term(right: Right, term: Term) -> Term:
    """Accepts any text as a term."""
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
    """Replaces an unknown value by the field's first."""
    try:
        return right(name, value)
    except InvalidSemantics:
        if name in ENUMS:
            return next(iter(ENUMS[name]))
        return frozenset({Condition.CLOSE})


@wrong(
    "SEM-2",
    replaces=semantics.contradictions,
    half="and `periodic` without them",
)
def what_is_missing_has_a_default(right: Right, chosen: Semantics) -> None:
    """Fills in what a semantics lacks. A period is 1, an anchor, an offset and a delay are 0, the
    base is `previous`, and a window expires when the watermark has `reached` its end.
    """
    if Condition.PERIODIC in chosen.report:
        _set(chosen, period=chosen.period or 1, anchor=chosen.anchor or 0)
    if chosen.t0 is T0.EPOCH:
        _set(chosen, offset=chosen.offset or 0)
    if chosen.r2s in (R2S.ISTREAM, R2S.DSTREAM):
        _set(chosen, base=chosen.base or Base.PREVIOUS)
    if chosen.late_for is LateFor.WINDOW:
        rule = chosen.expiry_rule or ExpiryRule.REACHED
        _set(chosen, watermark_delay=chosen.watermark_delay or 0, expiry_rule=rule)
    right(chosen)


def _set(chosen: Semantics, **values: Any) -> None:
    """Set fields of a semantics, although it is frozen."""
    for name, value in values.items():
        object.__setattr__(chosen, name, value)


@wrong(
    "SEM-2",
    replaces=semantics.contradictions,
    half="a negative `allowed_lateness`",
)
def only_window_close_is_looked_at(right: Right, chosen: Semantics) -> None:
    """Accepts semantics that contradict themselves. It refuses window close alone without a
    horizon, and nothing else. Where a watermark or its grace is missing, elements are late for the
    stream.
    """
    if chosen.report == {Condition.CLOSE} and chosen.horizon is End.NONE:
        raise InvalidSemantics("window-close alone needs a horizon", rule="SEM-2")
    if None in (chosen.watermark_delay, chosen.expiry_rule) or chosen.allowed_lateness == "reject":
        _set(chosen, late_for=LateFor.STREAM)


@wrong(
    "SEM-3",
    "SEM-1",
    replaces=Profile.semantics,
    seen=f"{YASPER} and {RSP_JS}: t0 is 0",
    half="An evaluation needs a value for each",
)
def what_is_unknown_is_zero(right: Right, profile: Profile) -> Semantics:
    """Takes 0, or the first value, for an open field."""
    defaults: dict[str, Any] = {name: next(iter(values)) for name, values in ENUMS.items()}
    defaults |= {"t0": 0, "offset": None, "period": None, "anchor": None, "base": None}
    open_fields = {name: defaults[name] for name in profile.unknown}
    return Semantics(**{**profile.fields, **open_fields})


@wrong(
    "SEM-3",
    "SEM-1",
    replaces=Profile.but,
    half=("names those that lack one", "An unknown field or value is refused"),
)
def profiles_are_fixed(right: Right, profile: Profile, **overrides: Any) -> Profile:
    """Ignores the fields that are given beside a profile."""
    return profile


# §3 Query


@wrong(
    "QRY-1",
    replaces=query.from_table,
    half="The schema is closed: another key is refused",
)
def words_are_made_to_fit(right: Right, given: Table | None = None, /, **keys: Any) -> Any:
    """Accepts malformed queries, and makes them fit. Unknown keys and units and a registration in
    words are dropped, an unknown kind is `time`, any truth is a trigger, and a text is a list of
    one key.
    """
    table = given or keys
    windows = [_repair_window(window) for window in table["windows"]]
    repaired = {key: table[key] for key in QUERY_KEYS if key in table}
    if not isinstance(repaired.get("registered"), int):
        repaired.pop("registered", None)
    return right({**repaired, "windows": windows})


def _repair_window(window: Table) -> Table:
    """Return the table of a window, made to fit the schema."""
    repaired = {key: window[key] for key in WINDOW_KEYS if key in window}
    if repaired.get("kind") not in list(WindowKind):
        repaired["kind"] = "time"
    if repaired.get("unit") not in list(Unit):
        repaired.pop("unit", None)
    if "triggers" in repaired:
        repaired["triggers"] = bool(repaired["triggers"])
    if isinstance(repaired.get("by"), str):
        repaired["by"] = [repaired["by"]]
    return repaired


@wrong(
    "QRY-1",
    replaces=query.from_table,
    half="the absolute IRI of a named window",
)
def names_are_forgotten(right: Right, given: Table | None = None, /, **keys: Any) -> Any:
    """Forgets the names of windows."""
    table = given or keys
    windows = []
    for window in table["windows"]:
        without_name = {key: value for key, value in window.items() if key != "name"}
        windows.append(without_name)
    return right({**table, "windows": windows})


@wrong(
    "QRY-1",
    replaces=Query.__post_init__,
    half="`windows` (an array of tables)",
)
def no_window_is_needed(right: Right, query: Query) -> None:
    """Accepts a query without windows."""


@wrong(
    "QRY-4",
    "R2R-1",
    replaces=engine.plan,
    seen=f"{RSP_JS}: a second window over a stream replaces the first",
    half="no two windows have one name",
)
def the_last_of_several_windows_counts(
    right: Right,
    query: Query,
    streams: Streams,
    semantics: Semantics,
) -> Any:
    """Knows only the last window of a query."""
    with_last_window = replace(query, windows=query.windows[-1:])
    return right(with_last_window, streams, semantics)


_push = Arrivals.push  # the right one, also while it is replaced


def _push_to_every_stream(arrivals: Arrivals, stream: str, element: Element) -> range:
    """Take an element of the first stream for one of each, and none of another."""
    before = len(arrivals.arrivals)
    first_stream = arrivals.declared[0]
    if stream == first_stream:
        for number, name in enumerate(arrivals.admissions):
            sys = element.sys * len(arrivals.admissions) + number
            copy = element._replace(sys=sys)
            _push(arrivals, name, copy)
    return range(before, len(arrivals.arrivals))


@wrong(
    "QRY-4",
    replaces=engine.plan,
    besides={Arrivals.push: _push_to_every_stream},
    seen=f"{C_SPARQL}: of two streams with different windows one's content was used",
    half="A window ranges over a declared stream",
)
def any_stream_will_do(right: Right, query: Query, streams: Streams, semantics: Semantics) -> Any:
    """Reads the first stream for every window."""
    first = next(iter(streams.values()))
    first_everywhere = {spec.stream: first for spec in query.windows}
    return right(query, first_everywhere, semantics)


@wrong(
    "QRY-5",
    replaces=engine.check_meaning,
    half="window close needs windows that close",
)
def query_and_semantics_are_not_compared(right: Right, query: Query, semantics: Semantics) -> None:
    """Accepts a query that its semantics excludes. It checks queries with tuple-based windows
    alone: in others a closure, window close, a base, a registration or a trigger may be missing, or
    stated in vain.
    """
    kinds = {spec.kind for spec in query.windows}
    if WindowKind.TUPLE in kinds:
        right(query, semantics)
