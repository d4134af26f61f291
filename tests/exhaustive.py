"""The oracle by enumeration: every t0, every order of simultaneous elements, every value of an open
field, one by one.

A second witness of SPEC §11. It knows no classes of t0, no derivations and no search: it asks the
engine for the outputs of each assignment and looks for the recording in them. Too slow for anything
but small draws, and too plain to be wrong in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, permutations, product
from math import lcm

from refengine import Mode, evaluate
from refengine.core import r2r
from refengine.core.engine import EvaluateBody
from refengine.core.profile import UNKNOWN, Between, OneOf, Profile
from refengine.core.query import BORDERED, CLOSING, Query, Window, WindowKind
from refengine.core.semantics import ENUMS, FIELDS, OPTIONAL, Semantics
from refengine.core.values import R2S, T0, Condition, Tick, Trigger, is_formula
from refengine.model import compare
from refengine.model.elements import Bag, Relation, Stream
from refengine.model.errors import InvalidSemantics


def passes(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    recording: Sequence[Relation],
    missing: int = 1,
    mode: Mode = Mode.VALUE,
    answer: EvaluateBody = r2r.confirmed_answer,
) -> bool:
    """ORA-1: whether some assignment's outputs hold the recording as a piece."""
    wanted = [relation.rows for relation in recording]
    return any(
        piece(wanted, outputs, missing, mode)
        for _, outputs in possible(query, streams, profile, answer, len(wanted) + missing)
    )


def possible(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    answer: EvaluateBody = r2r.confirmed_answer,
    most_over_nothing: int = 0,
) -> Iterator[tuple[Semantics, list[Bag]]]:
    """Every assignment and the outputs of the semantics under it. An unknown t0 is so early that
    more than `most_over_nothing` outputs over nothing come first, where there are so many.
    """
    is_batched = all(
        element.batch is not None for spec in query.windows for element in streams[spec.stream]
    )
    for semantics in every_semantics(query, streams, profile, most_over_nothing):
        if semantics.tick is Tick.BATCH and not is_batched:  # TICK-3
            continue
        for ordered in every_order(query, streams):
            yield (
                semantics,
                [
                    report.relation.rows
                    for report in evaluate(query, ordered, semantics, answer=answer)
                ],
            )


def piece(wanted: Sequence[Bag], outputs: Sequence[Bag], missing: int, mode: Mode) -> bool:
    """ORA-3: the wanted relations are consecutive outputs, with at most so many missing before them
    and after them; none are wanted only where there is no output.
    """
    if not wanted:
        return not outputs
    for before in range(missing + 1):
        after = len(outputs) - before - len(wanted)
        found = outputs[before : before + len(wanted)]
        if 0 <= after <= missing and all(
            compare.equal(a, b, mode) for a, b in zip(found, wanted, strict=True)
        ):
            return True
    return False


def every_semantics(
    query: Query, streams: Mapping[str, Stream], profile: Profile, most_over_nothing: int = 0
) -> Iterator[Semantics]:
    """SEM-3, ORA-2: every value of every open field; values that contradict each other (SEM-2) are
    no assignment.
    """
    others = [name for name in FIELDS if name != "t0"]
    for values in product(*(every_value(query, streams, profile, name) for name in others)):
        fields = dict(zip(others, values, strict=True))
        chosen = replace(profile, fields={**fields, "t0": profile.fields["t0"]})
        for t0 in every_value(query, streams, chosen, "t0", most_over_nothing):
            try:
                semantics = Semantics(t0=t0, **fields)
            except InvalidSemantics as error:
                if error.rule != "SEM-2":
                    raise
                continue
            if is_meant(query, semantics):
                yield semantics


def is_meant(query: Query, semantics: Semantics) -> bool:
    """QRY-5: whether query and semantics mean something together."""
    is_based = query.r2s not in (R2S.ISTREAM, R2S.DSTREAM) or semantics.base is not None
    is_bordered = any(spec.kind in BORDERED for spec in query.windows)
    is_closing = (
        all(spec.kind in CLOSING for spec in query.windows)
        or Condition.CLOSE not in semantics.report
    )
    is_triggered = semantics.trigger is not Trigger.EXPLICIT or any(
        spec.triggers for spec in query.windows
    )
    closure = semantics.closure
    has_instants = closure is None or all(
        spec.size is None or spec.size >= closure.least_size
        for spec in query.windows
        if spec.kind in BORDERED
    )
    is_fit = is_bordered == (closure is not None) and has_instants
    return is_based and is_closing and is_triggered and is_fit


def every_value(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    name: str,
    most_over_nothing: int = 0,
) -> list:
    """The values of one field: those listed, those between bounds, those of its kind, or the one
    given.
    """
    match profile.fields[name]:
        case OneOf(values):
            return list(values)
        case Between(lo, hi):
            return list(range(lo, hi + 1))
        case value if value == UNKNOWN and name == "t0":
            return unknown_origins(query, streams, profile, most_over_nothing)
        case value if value == UNKNOWN:
            return list(ENUMS[name]) + [None] * (name in OPTIONAL)
        case value:
            return [value]


def unknown_origins(
    query: Query, streams: Mapping[str, Stream], profile: Profile, most_over_nothing: int
) -> list:
    """ORA-2: from one slide before the last t0 at which no window that holds the first element is
    missing, up to that element; 0, the registration, and the formulas of WIN-7. A window with a lag
    can see an element that much later; then the first element's time, and ω before it, too. Several
    windows have one common multiple of their slides, and a t0 for each by its first element.

    Where windows without elements are reported, each earlier cycle brings one at least, or none
    does, or from the third on they emit nothing.
    """
    elements = [streams[spec.stream].elements for spec in query.windows]
    # of the windows of one query some stream that is drawn has an element
    firsts = [
        (1 if spec.kind is WindowKind.TUPLE else found[0].app, spec)
        for spec, found in zip(query.windows, elements, strict=True)
        if found
    ]
    cycle = beat(profile)
    for spec in query.windows:
        cycle = lcm(cycle, 2 if spec.kind is WindowKind.LANDMARK else slide(spec, profile))

    longest = max(spec.span for spec in query.windows)
    lo = min(first + spec.lag for first, spec in firsts) - longest - cycle + 1
    hi = max(first + spec.lag + reach_of_partial(spec, profile) for first, spec in firsts)
    if not profile.fields["report"] & {Condition.CHANGE, Condition.NON_EMPTY}:
        lo -= max(spec.lag for spec in query.windows)
        lo -= lcm(cycle, profile.fields["period"] or 1) * (most_over_nothing + 4)

    # with another closure than (o, c] they are no assignment (SEM-2)
    known: list = [t0 for t0 in T0 if is_formula(t0)]
    if query.windows[0].kind is WindowKind.TUPLE:
        known.remove(T0.KAFKA_STREAMS)
    if query.registered is not None:
        known.append(query.registered)
    if len(query.windows) > 1:
        known += [T0.FIRST, T0.REACH]
    elif query.windows[0].lag:
        ((first, spec),) = firsts
        known += [first, first - spec.span]
    return [*range(lo, hi + 1), 0, *known]


def slide(spec: Window, profile: Profile) -> int:
    """WIN-17: the slide that a window has."""
    if profile.fields["slide"] == "ignored" and spec.kind in (WindowKind.TIME, WindowKind.RANGE):
        return 1
    return spec.slide or 1


def reach_of_partial(spec: Window, profile: Profile) -> int:
    """WIN-11: how long before t0 the first of the windows opens that are reported whole."""
    if profile.fields["partial"] != "reported" or not spec.span:
        return 0
    step = slide(spec, profile)
    return max(n * step for n in range(spec.span) if n * step < spec.span)


def beat(profile: Profile) -> int:
    """ORA-2: the period, if it counts from t0, so that an earlier t0 shifts it."""
    return profile.fields["period"] if profile.fields["anchor"] == "t0" else 1


def every_order(query: Query, streams: Mapping[str, Stream]) -> Iterator[dict[str, Stream]]:
    """ORA-1: every arrival order of elements with the same t_app, where the
    order was not recorded.
    """
    names = sorted({spec.stream for spec in query.windows})
    for orders in product(*(every_order_of(streams[name]) for name in names)):
        yield {**streams, **dict(zip(names, orders, strict=True))}


def every_order_of(source: Stream) -> list[Stream]:
    """The streams that one may stand for: in each instant any order of what its elements hold."""
    if source.ordered:
        return [source]
    instants = [list(group) for _, group in groupby(source, key=lambda element: element.app)]
    found = {}
    for orders in product(*map(permutations, instants)):
        payloads = tuple((element.graph, element.end) for order in orders for element in order)
        if payloads not in found:
            pairs = zip(source, payloads, strict=True)
            moved = tuple(element._replace(graph=graph, end=end) for element, (graph, end) in pairs)
            found[payloads] = replace(source, elements=moved)
    return list(found.values())


def out_of_scope(query: Query, streams: Mapping[str, Stream], profile: Profile) -> bool:
    """Whether some assignment is one that the oracle does not search. ORA-7: simultaneous elements
    in no known order under windows that count elements, or looked at one by one under the batch
    tick, a body that makes blank nodes, or a semantics by which more than the instant's set of
    elements and the answer before it matters.
    """
    spec = query.windows[0]
    times = [element.app for element in streams[spec.stream]]
    if streams[spec.stream].ordered or len(set(times)) == len(times) or spec.lag:
        return False
    if spec.kind in (WindowKind.TUPLE, WindowKind.ROWS, WindowKind.PARTITION):
        return True
    one_by_one = [
        s
        for s in every_semantics(query, streams, profile)
        if s.consumption.uses_up_elements or not (closes(s) or s.tick.is_by_time)
    ]
    makes_nodes = "BNODE" in query.body.text or re.search(r"CONSTRUCT.*\[.*\].*{", query.body.text)
    beyond = [
        s
        for s in one_by_one
        if s.tick.needs_batches
        or Condition.CLOSE in s.report
        or (s.change_scope.reads_graphs and Condition.CHANGE in s.report)
        or (s.base is not None and s.base.may_be_older)
        or s.empty.reads_last_output
        or s.consumption.uses_up_elements
    ]
    return bool(beyond or (one_by_one and makes_nodes))


def closes(semantics: Semantics) -> bool:
    """ORA-4: under window close only complete instants are seen, unless content change compares
    with the instant before.
    """
    looks_back = (
        Condition.CHANGE in semantics.report and not semantics.change_baseline.is_of_last_report
    )
    return Condition.CLOSE in semantics.report and not looks_back
