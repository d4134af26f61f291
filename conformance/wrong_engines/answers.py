"""Wrong engines and wrong oracles for §7 to §12: answers, streams of answers, evaluation,
comparison, verdicts, reading.

Sources: `csrbench-oracle` is dellaglio/csrbench-oracle; `YABench` is its oracle's code; what is
said of `RSP-JS`, `yasper` and `CQELS` was seen when they ran over CSRBench's stream, or read in
their sources.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

from conformance.wrong_engines import Miniature
from refengine.core import engine, r2r, r2s, window
from refengine.core.engine import Evaluation, Plan, Stretch
from refengine.core.engine import bounded as right_bounded
from refengine.core.engine import horizon as right_horizon
from refengine.core.engine import instants as right_instants
from refengine.core.engine import output_instant as right_output_instant
from refengine.core.engine import plan as right_plan
from refengine.core.query import Query, Window, WindowKind
from refengine.core.r2r import fresh as right_fresh
from refengine.core.r2s import AnswerChange, Output, RelationToStream
from refengine.core.report import Firing
from refengine.core.report import of_a_gap as right_of_a_gap
from refengine.core.semantics import R2S, Empty, End, Gap, Instant, Semantics
from refengine.core.window import Content, View
from refengine.model import compare, terms
from refengine.model.compare import Mode, Number
from refengine.model.compare import near as right_near
from refengine.model.compare import value as right_value
from refengine.model.elements import (
    XSD,
    Bag,
    Dataset,
    Element,
    Relation,
    Row,
    Stream,
    Triple,
    is_blank,
    literal,
    row,
)
from refengine.model.errors import RefengineError
from refengine.model.matching import match_in_step
from refengine.model.matching import match_rows as right_match_rows
from refengine.model.terms import Term
from refengine.oracle.assignments import Candidates
from refengine.oracle.assignments import assignments as right_assignments
from refengine.oracle.assignments import candidates as right_candidates
from refengine.oracle.assignments import origins as right_origins
from refengine.oracle.attempts import attempt as right_attempt
from refengine.oracle.comparison import Divergence
from refengine.oracle.divergence import border_rows as right_border_rows
from refengine.oracle.explanations import Nearest
from refengine.oracle.orders import instant_sum as right_instant_sum
from refengine.oracle.orders import order_matters as right_order_matters
from refengine.oracle.orders import orders as right_orders
from refengine.oracle.orders import search
from refengine.oracle.orders.search import _classes as right_classes
from refengine.oracle.trial import Origin, State
from refengine.oracle.trial import accepted as right_accepted
from refengine.oracle.trial import advance as right_advance
from refengine.rdf.documents import read_turtle as right_read_turtle
from refengine.rdf.lines import TIMED_TOKEN, parse_terms
from refengine.rdf.lines import parse_statement_with_time as right_parse_statement_with_time
from refengine.rdf.lines import read_lines as right_read_lines
from refengine.rdf.recordings import Recording
from refengine.rdf.recordings import parse_tabbed_term as right_parse_tabbed_term
from refengine.rdf.recordings import read_recording as right_read_recording
from refengine.rdf.sources import Source, suffix_of
from refengine.rdf.streams import build_stream as right_build_stream
from refengine.rdf.streams import build_stream_of_graphs as right_build_stream_of_graphs
from refengine.rdf.terms import parse_datetime as right_parse_datetime
from refengine.rdf.turtle import Statement
from refengine.rdf.turtle import parse_statements as right_parse_statements

NOBODY = "none known"
right_step = RelationToStream.step


# §7 R2R


def newest_graph(elements: Iterable[Element]) -> frozenset[Triple]:
    """A body sees the graph of the newest element."""
    return frozenset().union(*(element.graph for element in list(elements)[-1:]))


def triples_in_two_elements_cancel(elements: Iterable[Element]) -> frozenset[Triple]:
    """A triple that two elements carry is gone."""
    held = Counter(triple for element in elements for triple in element.graph)
    return frozenset(triple for triple, count in held.items() if count == 1)


def one_triple_of_each(elements: Iterable[Element]) -> frozenset[Triple]:
    """An element is one triple."""
    return frozenset(triple for element in elements for triple in sorted(element.graph)[:1])


def labels_are_of_the_element(elements: Iterable[Element]) -> frozenset[Triple]:
    """A blank node label means another node in every element."""

    def own(term: Term, element: Element) -> Term:
        return f"{term}e{element.sys}" if is_blank(term) else term

    return frozenset(
        (own(s, element), own(p, element), own(o, element))
        for element in elements
        for s, p, o in element.graph
    )


def made_nodes_come_back(rows: Bag, graph: Dataset, evaluation: str) -> Bag:
    """A blank node that the body makes has the same label at every evaluation."""
    return right_fresh(rows, graph, "")


def every_node_is_new(rows: Bag, graph: Dataset, evaluation: str) -> Bag:
    """A blank node of the data is new at every evaluation, like one that the body makes."""
    return right_fresh(rows, frozenset(), evaluation)


def made_like_data(rows: Bag, graph: Dataset, evaluation: str) -> Bag:
    """A blank node that is made gets a label that no node of the present content has; one of
    another might.
    """
    right = right_fresh(rows, graph, evaluation)
    return compare.rename(
        right, {label: label.replace("/", "-") for label in compare.blanks(right)}
    )


# §8 R2S


def only_news(now: Bag, before: Bag) -> Bag:
    """Rstream gives what is new."""
    return now - before


def istream_is_rstream(now: Bag, before: Bag) -> Bag:
    """Istream gives the whole answer."""
    return now


def istream_of_sets(now: Bag, before: Bag) -> Bag:
    """Istream gives the rows that the base does not hold at all."""
    return Counter({line: count for line, count in now.items() if line not in before})


def news_is_what_never_came(r2s: RelationToStream, change: AnswerChange) -> Output:
    """Istream gives the rows that no answer before held."""
    ever: Bag = vars(r2s).setdefault("ever", Counter())
    output = right_step(r2s, change._replace(came=change.now, gone=Counter(ever)))
    ever |= change.now
    return output


def dstream_is_rstream(now: Bag, before: Bag) -> Bag:
    """Dstream gives the whole answer."""
    return now


def dstream_of_sets(now: Bag, before: Bag) -> Bag:
    """Dstream gives the rows that the answer does not hold at all."""
    return Counter({line: count for line, count in before.items() if line not in now})


def no_base(operator: R2S, now: Bag, base: Bag) -> Bag:
    """The base of every difference is empty."""
    return Counter() if operator is R2S.DSTREAM else now


def base_is_what_was_sent(r2s: RelationToStream, change: AnswerChange) -> Output:
    """The base of the difference is the answer of the last evaluation that sent something."""
    before: Bag = vars(r2s).get("sent", Counter())
    output = right_step(r2s, change._replace(came=change.now, gone=before))
    if output.is_emitted:
        vars(r2s)["sent"] = change.now
    return output


def empty_is_never_sent(empty: Empty, output: Bag, last: Bag) -> bool:
    """An empty answer is not sent, whatever the semantics says."""
    return bool(output)


def empty_is_always_sent(empty: Empty, output: Bag, last: Bag) -> bool:
    """An empty answer is sent, whatever the semantics says."""
    return True


def zero_is_empty(empty: Empty, output: Bag, last: Bag) -> bool:
    """An answer that is all zeros is an empty one."""
    return empty is Empty.EMIT or any(
        not term.startswith('"0"') for line in output for _, term in line
    )


def text_is_not_asked(query: Query, semantics: Semantics) -> R2S:
    """The operator is the engine's, whatever the query states."""
    return semantics.r2s


def rstream_unless_stated(query: Query, semantics: Semantics) -> R2S:
    """A query that states no operator means Rstream, whatever the semantics says."""
    return query.r2s or R2S.RSTREAM


# §9 Evaluation


def nothing_follows(
    windows: Iterable[Window], elements: Sequence[Element], end: int | End
) -> int | None:
    """After the last arrival nothing follows, whatever the horizon is."""
    return None


def one_instant_short(
    windows: Iterable[Window], elements: Sequence[Element], end: int | End
) -> int | None:
    """flush ends one instant earlier."""
    right = right_horizon(windows, elements, end)
    return right - 1 if right is not None and end is End.FLUSH else right


def any_horizon(
    windows: Iterable[Window], elements: Sequence[Element], end: int | End
) -> int | None:
    """A horizon before the end of the stream is taken as it is."""
    return end if isinstance(end, int) else right_horizon(windows, elements, end)


def flush_from_zero(
    windows: Iterable[Window], elements: Sequence[Element], end: int | End
) -> int | None:
    """A stream without elements is flushed as one that ended at 0."""
    right = right_horizon(windows, elements, end)
    return (
        max(spec.size or 0 for spec in windows) + 2 if end is End.FLUSH and not elements else right
    )


def sentinel_in_the_last_batch(
    query: Query, streams: Mapping[str, Stream], semantics: Semantics
) -> Plan:
    """The sentinel is in the batch of the last element."""
    right = right_plan(query, streams, semantics)
    if right.counts[0][-1] == len(right.arrivals):
        return right
    *elements, sentinel = right.arrivals
    batch = max((element.batch or 0 for element in elements), default=0)
    return replace(right, arrivals=(*elements, sentinel._replace(batch=batch)))


def the_end_fills_tuple_windows(
    query: Query, streams: Mapping[str, Stream], semantics: Semantics
) -> Plan:
    """After the end of the stream every tuple window is closed, full or not."""
    right = right_plan(query, streams, semantics)
    spec = query.windows[0]
    if spec.kind is not WindowKind.TUPLE or len(right.own) == len(right.views[0].elements):
        return right
    return replace(right, own=[*right.own[:-1], right.own[-1] + (spec.size or 1) - 1])


def held(views: Sequence[View], t: int, arrived: Sequence[int]) -> tuple[Content, ...]:
    """The contents of all windows."""
    return tuple(window.content(view, t, n) for view, n in zip(views, arrived, strict=True))


def arrivals_only(
    views: Sequence[View], arrived: Sequence[int], interval: range
) -> Iterator[Stretch]:
    """Between two arrivals nothing is looked at: what expires there is not seen."""
    if interval:
        yield interval[:1], held(views, interval.start, arrived)


def one_stretch(
    views: Sequence[View], arrived: Sequence[int], interval: range
) -> Iterator[Stretch]:
    """The content between two arrivals is the one at the first instant between them."""
    if interval:
        yield interval, held(views, interval.start, arrived)


def first_of_a_stretch(*state: Any) -> range:
    """A content is reported once, however often close and periodic hold while it lasts."""
    return right_instants(*state)[:1]


def latest_of_a_gap(gap: Gap, firing: Iterable[Firing]) -> Iterable[Firing]:
    """Of what happens between two arrivals only the last is reported,
    whatever the semantics says.
    """
    return right_of_a_gap(Gap.LATEST, firing)


def no_bound(count: int, bound: int, arrivals: Sequence[Element], k: int) -> int:
    """There may be any number of reports."""
    return count


def fewer_than_the_bound(count: int, bound: int, arrivals: Sequence[Element], k: int) -> int:
    """As many reports as the bound are too many."""
    return right_bounded(count, bound - 1, arrivals, k)


def gap_after_the_arrival(count: int, bound: int, arrivals: Sequence[Element], k: int) -> int:
    """The gap named is the one after the arrival that shows the reports."""
    return right_bounded(count, bound, [*arrivals, arrivals[-1]], k + 1)


def bound_of_each_gap(count: int, bound: int, arrivals: Sequence[Element], k: int) -> int:
    """Reports before the first element do not count."""
    return right_bounded(count, bound, arrivals, k) if k else 0


def evaluation_for_close(
    instant: Instant, semantics: Semantics, at: Evaluation, incoming: Sequence[Element]
) -> int:
    """The border instant is the evaluation instant under every closure."""
    return (
        at.t if instant is Instant.CLOSE else right_output_instant(instant, semantics, at, incoming)
    )


def one_after_the_evaluation(
    instant: Instant, semantics: Semantics, at: Evaluation, incoming: Sequence[Element]
) -> int:
    """The border instant is one after the evaluation instant under every closure."""
    return (
        at.t + 1
        if instant is Instant.CLOSE
        else right_output_instant(instant, semantics, at, incoming)
    )


def eager_is_trigger(
    instant: Instant, semantics: Semantics, at: Evaluation, incoming: Sequence[Element]
) -> int:
    """An eager engine is stamped like a lazy one, with the arrival that shows the report."""
    return right_output_instant(
        Instant.TRIGGER if instant is Instant.EAGER else instant, semantics, at, incoming
    )


def last_arrival_before_the_first(
    instant: Instant, semantics: Semantics, at: Evaluation, incoming: Sequence[Element]
) -> int:
    """Before the first arrival, eager takes the last one."""
    return (
        incoming[at.arrival - 1].app
        if instant is Instant.EAGER
        else right_output_instant(instant, semantics, at, incoming)
    )


# §10 Comparing answers


def only_terms(term: Term) -> Term:
    """Every literal is its term."""
    return term


def doubles_only(term: Term) -> Term | Number:
    """Every literal that reads as a number is one: strings, booleans and ill-typed literals too."""
    if term.startswith('"'):
        try:
            return Number(float(terms.parse_literal(term).lexical), 1e-9)
        except ValueError:
            pass
    return term


def types_apart(term: Term) -> Term | tuple[Any, ...]:
    """A number in another type is another value."""
    if not term.startswith('"'):
        return term
    lexical, datatype, _ = terms.parse_literal(term)
    try:
        return (
            (datatype, float(lexical))
            if datatype.startswith(XSD) and datatype != XSD + "string"
            else term
        )
    except ValueError:
        return term


def ill_typed_is_its_text(term: Term) -> Term | Number | tuple[Any, ...]:
    """An ill-typed literal is the string of its lexical form."""
    ill = term.startswith('"') and right_value(term) == term and XSD in term
    return literal(terms.parse_literal(term).lexical) if ill else right_value(term)


def zones_are_ignored(term: Term) -> Term | Number | tuple[Any, ...]:
    """A moment is what its clock shows, in whatever zone."""
    if term.endswith("dateTime>"):
        return ("dateTime", terms.parse_literal(term).lexical[:19])
    return right_value(term)


def dates_of_iso_8601(term: Term) -> Term | Number | tuple[Any, ...]:
    """A date is whatever ISO 8601 reads in it, to the microsecond."""
    if not term.endswith("dateTime>"):
        return right_value(term)
    try:
        moment = datetime.fromisoformat(terms.parse_literal(term).lexical)
    except ValueError:
        return term
    return (
        "dateTime",
        moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment,
        bool(moment.tzinfo),
    )


def numbers_only(line: Row, mode: Mode) -> tuple[tuple[Any, ...], tuple[Number, ...]]:
    """Rows are compared by their numbers alone."""
    values = [(name, compare.value(term)) for name, term in line]
    numbers = [(name, value) for name, value in values if isinstance(value, Number)]
    if not numbers:
        return tuple(values), ()
    return tuple((name, Number) for name, _ in numbers), tuple(value for _, value in numbers)


def exactly(a: Number, b: Number) -> bool:
    """Numbers are the same if they are equal."""
    return a.value == b.value


def absolutely(a: Number, b: Number) -> bool:
    """The tolerance is absolute."""
    if a.value == b.value:
        return True
    apart: Fraction | float = a.value - b.value
    most = max(a.tolerance, b.tolerance)
    return -most <= apart <= most


def by_the_smaller_tolerance(a: Number, b: Number) -> bool:
    """Of two types the smaller tolerance counts."""
    smaller = min(a.tolerance, b.tolerance)
    return right_near(a._replace(tolerance=smaller), b._replace(tolerance=smaller))


def one_tolerance(a: Number, b: Number) -> bool:
    """All numbers have the tolerance of doubles."""
    return right_near(a._replace(tolerance=1e-9), b._replace(tolerance=1e-9))


def decimals_relatively_alone(a: Number, b: Number) -> bool:
    """Decimals have a relative tolerance and no other."""
    tolerance = max(a.tolerance, b.tolerance)
    if tolerance > compare.TOLERANCE["decimal"]:
        return right_near(a, b)
    one, other = Fraction(a.value), Fraction(b.value)
    return abs(one - other) <= Fraction(tolerance) * max(abs(one), abs(other))


def the_least_of_every_type(a: Number, b: Number) -> bool:
    """Numbers of any type are the same if they differ by 1e-18 at most."""
    if right_near(a, b):
        return True
    apart: Fraction | float = a.value - b.value
    return -compare.LEAST_DECIMAL <= apart <= compare.LEAST_DECIMAL


def integers_yield(a: Number, b: Number) -> bool:
    """The larger of the two tolerances counts for an integer, too: the answer's type decides how
    exact it has to be.
    """
    larger = max(a.tolerance, b.tolerance)
    return right_near(a._replace(tolerance=larger), b._replace(tolerance=larger))


def by_subtraction(a: Number, b: Number) -> bool:
    """Numbers are the same if their difference is small, and infinity has none from itself."""
    x, y = float(a.value), float(b.value)
    return abs(x - y) <= max(a.tolerance, b.tolerance) * max(abs(x), abs(y)) or (x != x and y != y)


def nan_is_nothing(a: Number, b: Number) -> bool:
    """NaN is not NaN, as SPARQL's = says."""
    return a.value == a.value and right_near(a, b)


def difference_of_sets(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> tuple[Bag, Bag]:
    """A row that the other bag has, once or more, is not missing."""

    def apart(ours: Bag, theirs: Bag) -> Bag:
        return Counter(
            line for line in ours if not any(_same(line, other, mode) for other in theirs)
        )

    return apart(a, b), apart(b, a)


def first_that_fits(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> tuple[Bag, Bag]:
    """A row is paired with the first that is near it, in the order of their texts, and keeps its
    partner.
    """
    left = sorted(b.elements())
    missing: Bag = Counter()
    for line in sorted(a.elements()):
        partner = next((other for other in left if _same(line, other, mode)), None)
        if partner is None:
            missing[line] += 1
        else:
            left.remove(partner)
    return missing, Counter(left)


def _same(a: Row, b: Row, mode: Mode) -> bool:
    (exact_a, numbers_a), (exact_b, numbers_b) = compare.split(a, mode), compare.split(b, mode)
    return exact_a == exact_b and all(map(compare.near, numbers_a, numbers_b))


def recorded_rows_are_expected(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """Bags are the same if every row of the second is one of the first."""
    return all(any(_same(line, other, mode) for other in a) for line in b)


def as_sets(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """Bags are the same if they have the same rows."""
    return not any(difference_of_sets(a, b, mode))


def unbound_is_anything(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> tuple[Bag, Bag]:
    """A row is the same as another that binds more."""
    left = list(b.elements())
    missing: Bag = Counter()
    for line in a.elements():
        partner = next(
            (other for other in left if set(other) <= set(line) or set(line) <= set(other)), None
        )
        if partner is None:
            missing[line] += 1
        else:
            left.remove(partner)
    return missing, Counter(left)


def in_order(
    ours: Sequence[Any],
    theirs: Sequence[Any],
    same: Callable[..., Any],
    reach: Callable[..., Any] | None = None,
) -> dict[int, int]:
    """Rows are paired in their order: the first with the first."""
    return {i: i for i in range(min(len(ours), len(theirs))) if same(ours[i], theirs[i])}


def in_the_order_of_their_numbers(ours: list[Any], theirs: list[Any]) -> dict[int, int]:
    """Rows with one number are paired in its order, as if all numbers had one tolerance."""
    numbers, _ = (ours or theirs)[0]
    return (match_in_step if len(numbers) == 1 else right_match_rows)(ours, theirs)


def labels_are_names(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """Blank nodes are the same if their labels are."""
    return a.total() == b.total() and not any(compare.difference(a, b, mode))


def any_blank_will_do(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """A blank node is the same as any other."""
    left, right = (compare.rename(bag, dict.fromkeys(compare.blanks(bag), "_:b")) for bag in (a, b))
    return left.total() == right.total() and not any(compare.difference(left, right, mode))


def neighbours_are_enough(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """Bags are the same if their nodes have the same neighbours, and the rows are the same but for
    them.
    """
    alike = sorted(compare.colours(a, mode).values()) == sorted(compare.colours(b, mode).values())
    return alike and any_blank_will_do(a, b, mode)


def row_by_row(a: Bag, b: Bag, mode: Mode = Mode.VALUE) -> bool:
    """Blank nodes are renamed one to one, but in every row anew."""

    def renamed(bag: Bag) -> Bag:
        lines: Bag = Counter()
        for line in bag.elements():
            names: dict[Term, Term] = {}
            lines[
                row(
                    (v, names.setdefault(t, f"_:b{len(names)}") if is_blank(t) else t)
                    for v, t in line
                )
            ] += 1
        return lines

    left, right = renamed(a), renamed(b)
    return left.total() == right.total() and not any(compare.difference(left, right, mode))


# §11 The oracle


def first_assignment(*arguments: Any) -> Iterator[tuple[Semantics, Origin]]:
    """What is open has its first value."""
    yield from islice(right_assignments(*arguments), 1)


def t0_is_zero(planned: Plan, found: Candidates) -> list[Origin]:
    """An unknown t0 is 0."""
    return [Origin(0, 0, 0)]


def one_t0_of_the_range(planned: Plan, found: Candidates) -> list[Origin]:
    """One t0 stands for the whole range."""
    classes = right_origins(planned, found)
    return [Origin(classes[-1].t0, classes[0].lo, classes[-1].hi)]


def t0_over_the_elements(query: Query, planned: Plan, t0: object) -> Candidates:
    """The range of t0 is the slide that ends at the first element."""
    view = planned.views[0]
    first = view.elements[0].app if view.elements else 0
    return Candidates(first - view.spec.step + 1, first)


def every_window_is_there(query: Query, planned: Plan, t0: object) -> Candidates:
    """No window that holds the first element is missing, as if every
    engine began long before it.
    """
    right = right_candidates(query, planned, t0)
    if t0 != "unknown":
        return right
    view = planned.views[0]
    last = (view.times[0] if view.times else 0) - view.spec.span
    return Candidates(right.lo, last)


def bounds_are_ignored(query: Query, planned: Plan, t0: object) -> Candidates:
    """A t0 that is bounded is as open as one that is not."""
    return right_candidates(query, planned, "unknown")


def classes_by_content_alone(planned: Plan, found: Candidates) -> list[Origin]:
    """A class of t0 ends only where an element changes its window."""
    low, _ = window.borders(planned.semantics.closure)
    view, classes = planned.views[0], right_origins(planned, found)
    lo, hi = classes[0].lo, classes[-1].hi
    ends = {
        t
        for t in range(lo, hi)
        if any((e.app - t - low) % view.spec.step == 0 for e in view.elements)
    }
    starts = [lo, *sorted(t + 1 for t in ends)]
    return [
        Origin(start, start, end) for start, end in zip(starts, [*sorted(ends), hi], strict=True)
    ]


def anything_may_be_missing(
    states: Iterable[State], output: Bag, recorded: Any, *window: Any
) -> set[State]:
    """Any number of outputs may be missing before the recording and after it."""
    following = set()
    for before, matched, after in states:
        if matched == 0:
            following.add(State(before + 1, 0, 0))
        if matched < len(recorded.rows) and compare.equal(
            output, recorded.rows[matched], recorded.mode
        ):
            following.add(State(before, matched + 1, 0))
        if matched == len(recorded.rows):
            following.add(State(before, matched, after + 1))
    return following


def holes_are_allowed(
    states: Iterable[State], output: Bag, recorded: Any, *window: Any
) -> set[State]:
    """An output may be missing in the middle of the recording too."""
    states = set(states)
    return right_advance(states, output, recorded, *window) | {
        s for s in states if 0 < s.matched < len(recorded.rows)
    }


def nothing_may_be_missing(
    states: Iterable[State], output: Bag, recorded: Any, *window: Any
) -> set[State]:
    """The recording starts with the first output and ends with the last."""
    return {
        state
        for state in right_advance(states, output, recorded, *window)
        if not state.before and not state.after
    }


def bound_of_both_ends(
    states: Iterable[State], output: Bag, recorded: Any, *window: Any
) -> set[State]:
    """At most k outputs are missing at both ends together."""
    return {
        state
        for state in right_advance(states, output, recorded, *window)
        if state.before + state.after <= recorded.missing.before
    }


def silence_is_always_right(states: Iterable[State], recorded: Any) -> State | None:
    """A recording without relations passes within the bound."""
    return right_accepted(states, recorded) or (None if recorded.relations else State(0, 0, 0))


def recorded_order(planned: Plan) -> bool:
    """Simultaneous elements arrived in the order of the file."""
    return False


def close_is_complete(planned: Any) -> bool:
    """Under window close the order of simultaneous elements never matters."""
    return right_order_matters(planned) and "window-close" not in planned.semantics.report


def no_order_is_recorded(recorded: Any, semantics: Semantics, origin: Origin, answers: Any) -> Any:
    """The arrival order of simultaneous elements is never known."""
    streams = {name: replace(stream, ordered=False) for name, stream in recorded.streams.items()}
    question = replace(recorded.question, streams=streams)
    return right_attempt(replace(recorded, question=question), semantics, origin, answers)


def sum_of_the_rows_that_stay(look: Any, moment: Any, grown: list[Any], base: Bag) -> Bag | None:
    """The outputs of an instant sum to Q(F) − Q(K), also if what expires is derived again."""
    return right_instant_sum(look, moment, grown, Counter())


def all_that_was_kept_was_seen(look: Any, moment: Any, grown: list[Any], base: Bag) -> Bag | None:
    """The outputs of an instant sum to the rows that its elements complete, also if others come
    into view.
    """
    return Counter(g.row for g in grown)


def sum_of_sets(look: Any, moment: Any, grown: list[Any], base: Bag) -> Bag | None:
    """The outputs of an instant sum to the set of its new rows."""
    total = right_instant_sum(look, moment, grown, base)
    return None if total is None else Counter(set(total))


def sum_of_all(look: Any, moment: Any, grown: list[Any], base: Bag) -> Bag | None:
    """The outputs of an instant sum to the whole answer at its end."""
    total: Bag = look.answer(range(moment.kept.start, moment.arriving.stop))
    return total


def any_partition(outputs: list[Bag], grown: list[Any]) -> bool:
    """Outputs that sum to the instant's rows are realisable."""
    return True


def one_output(outputs: list[Bag], grown: list[Any]) -> bool:
    """All rows of an instant come in one output."""
    return len(outputs) <= 1


def row_by_row_only(outputs: list[Bag], grown: list[Any]) -> bool:
    """The rows of an instant come one by one."""
    return all(output.total() == 1 for output in outputs)


def common_element(outputs: list[Bag], grown: list[Any]) -> bool:
    """An output is realisable if its rows' supports have an element in common."""
    needs: dict[Row, set[Any]] = defaultdict(set)
    for derivation in grown:
        needs[derivation.row] |= derivation.needs
    return all(set.intersection(*(needs[line] for line in output)) for output in outputs)


def order_of_the_file(
    look: Any, moment: Any, grown: list[Any] | None, states: set[State], base: Bag
) -> tuple[set[State], Bag, int]:
    """Where orders must be searched, the one of the file is tried."""
    before, furthest = base, max(state.matched for state in states)
    for stop in range(moment.arriving.start + 1, moment.arriving.stop + 1):
        now = look.answer(moment.kept, range(moment.arriving.start, stop))
        output = r2s.relation_to_stream(look.operator, now, before)
        if r2s.emitted(look.semantics.empty, output, Counter()):
            states = right_advance(states, output, look.recorded)
        before, furthest = now, max([furthest, *(state.matched for state in states)])
    return states, before, furthest


# elements of an instant: a wrong search that visits every subset of more would not end
MOST_SUBSETS_OF = 10


def fillers_are_never_seen(
    look: Any, moment: Any, grown: list[Any] | None, states: set[State], base: Bag
) -> tuple[set[State], Bag, int]:
    """Elements in no derivation do not arrive."""
    if grown is None:
        return right_orders(look, moment, grown, states, base)
    needed = sorted(set().union(*(g.needs for g in grown)))
    if len(needed) > MOST_SUBSETS_OF:
        return right_orders(look, moment, grown, states, base)

    reach = {(): set(states)}
    for step in range(len(needed)):
        following: dict[tuple[Any, ...], set[State]] = defaultdict(set)
        for done, reached in reach.items():
            before = look.answer(moment.kept, done) if step else base
            for element in set(needed) - set(done):
                then = tuple(sorted({*done, element}))
                output = r2s.relation_to_stream(
                    look.operator, look.answer(moment.kept, then), before
                )
                shown = r2s.emitted(look.semantics.empty, output, Counter())
                following[then] |= (
                    right_advance(reached, output, look.recorded) if shown else reached
                )
        reach = {done: reached for done, reached in following.items() if reached}
    return (
        set().union(*reach.values()),
        look.answer(moment.kept, needed),
        max(state.matched for state in states),
    )


def one_class(moment: Any, grown: list[Any] | None) -> list[tuple[int, ...]]:
    """Elements that are in any derivation are interchangeable."""
    classes = right_classes(moment, grown)
    return [tuple(i for members in classes for i in members)] if classes else []


def everything_is_within_the_bound(
    look: Any, moment: Any, grown: list[Any] | None, states: set[State], base: Bag
) -> tuple[set[State], Bag, int]:
    """A search beyond its bound finds nothing.

    Of many elements it stops early: each semantics that might explain the fail is searched to the
    bound, too.
    """
    bound = 100 if len(moment.arriving) > MOST_SUBSETS_OF else search.ORDER_BOUND
    with patch.object(search, "ORDER_BOUND", bound):
        try:
            return right_orders(look, moment, grown, states, base)
        except RefengineError:
            return set(), Counter(), 0


def one_witness(recorded: Any, trial: Any, answers: Any, witnesses: tuple[str, ...]) -> None:
    """The definition decides alone."""


def all_of_the_stream(recorded: Any, trial: Any, answers: Any, witnesses: tuple[str, ...]) -> None:
    """A witness must confirm every report of the assignment, also those
    after the first divergence.
    """
    planned = engine.plan(recorded.query, recorded.streams, trial.semantics)
    for at in engine.evaluations(planned):
        contents = [each.content for each in at.windows]
        r2r.confirmed(
            recorded.query.body, r2r.together(planned.views, contents, recorded.static), witnesses
        )


def ends_of_instants_alone(
    recorded: Any, trial: Any, answers: Any, witnesses: tuple[str, ...]
) -> None:
    """What a witness says inside an instant does not matter."""


def everything_is_in_reach(recorded: Any) -> None:
    """Any row may come of some semantics."""


def no_divergence(recorded: Any, alignment: Any, borders: Any, cost: Any) -> Divergence:
    """A fail says only that it is one."""
    return Divergence(0, None, None, (), None, None, "the answer differs")


def borders_are_not_looked_at(*args: Any) -> list[Any]:
    """Rows on window borders are not named."""
    return []


def the_last_instant_is_no_edge(*args: Any) -> list[Any]:
    """Only rows on borders can slip into another window."""
    return [row for row in right_border_rows(*args) if row.on_border]


def left_out_wherever_it_is(gaps: Any, line: Any, mode: Any) -> bool:
    """A border row that its window lacks is left out, also where another relation has it."""
    return True


def windows_as_written(borders: Any, closure: Any) -> Any:
    """Told windows are compared by their borders, whichever of these belong to them."""
    return borders


def told_windows_are_not_read(self: Any, index: int, borders: Any, closure: Any) -> bool:
    """What an engine says of its windows does not matter."""
    return True


def nothing_is_near(*args: Any, **options: Any) -> tuple[Any, ...]:
    """No other semantics is looked for."""
    return Nearest()


# §12 Reading


def order_is_recorded(items: list[Any], ordered: bool = True) -> Stream:
    """The order of the triples of a file is taken for the arrival order."""
    return right_build_stream(items, True)


def seconds_for_milliseconds(items: list[Any], ordered: bool = True) -> Stream:
    """Times are taken for seconds."""
    return right_build_stream([item._replace(app=item.app // 1000) for item in items], ordered)


def a_triple_is_an_element(items: list[Any], ordered: bool = True) -> Stream:
    """Every triple is an element, those of a named graph too."""
    split = []
    for item in items:
        graph = [item.payload] if isinstance(item.payload, tuple) else sorted(item.payload)
        split += [item._replace(payload=triple) for triple in graph]
    return right_build_stream(split, ordered)


def sorted_by_time(items: list[Any], ordered: bool = True) -> Stream:
    """Elements are sorted by time, so that none is late."""
    return right_build_stream(sorted(items, key=lambda item: item.app), ordered)


def labels_are_of_the_folder(path: Path, language: str, prefix: str) -> list[Any]:
    """A blank node label means one node in all files of a folder."""
    return right_read_turtle(path, language, "b")


def a_query_replaces_the_last_segment(text: str, language: str, prefix: str) -> Iterator[Statement]:
    """A relative IRI that is a query alone is resolved against the folder of the base, as in RFC
    2396.
    """
    return right_parse_statements(text.replace("<?", "<./?"), language, prefix)


def undated_graphs_are_left_out(
    path: Path, statements: Iterable[Any], time_predicate: str, *more: Any
) -> Stream:
    """A graph that nothing dates is no element."""
    statements = list(statements)
    dated = {statement.triple[0] for statement in statements if statement.graph is None}
    kept = [
        statement for statement in statements if statement.graph is None or statement.graph in dated
    ]
    return right_build_stream_of_graphs(path, kept, time_predicate, *more)


def untimed_lines_are_left_out(path: Source) -> Iterator[tuple[str, int]]:
    """A line that has no time is no element."""
    for line, place in right_read_lines(path):
        if suffix_of(path) != ".n3t" or len(parse_terms(line, TIMED_TOKEN)) == 4:
            yield line, place


def unquoted_literals_are_strings(line: str, place: str) -> tuple[Triple, int]:
    """A literal without quotes loses its datatype."""
    return right_parse_statement_with_time(re.sub(r' ([^ "<]+)\^\^<[^>]*>', r' "\1"', line), place)


def local_time(lexical: str) -> int:
    """The zone of a date is cut off."""
    return right_parse_datetime(lexical.split("+")[0])


def empty_relations_are_no_reports(path: str | Path) -> Recording:
    """A relation without bindings is left out."""
    right = right_read_recording(path)
    kept = [i for i, relation in enumerate(right.relations) if relation.rows]
    return Recording(
        tuple(right.relations[i] for i in kept), tuple(right.timestamps[i] for i in kept)
    )


def bindings_are_a_set(path: str | Path) -> Recording:
    """A binding that stands twice is one row."""
    right = right_read_recording(path)
    return replace(
        right, relations=tuple(Relation(r.variables, Counter(set(r.rows))) for r in right.relations)
    )


def datatypes_are_dropped(value: str) -> Term:
    """What follows a literal's ^^ is left out."""
    return right_parse_tabbed_term(value if value.startswith("http") else value.partition("^^")[0])


def sorted_by_timestamp(path: str | Path) -> Recording:
    """Relations are in the order of their timestamps."""
    right = right_read_recording(path)
    order = sorted(range(len(right.relations)), key=lambda i: right.timestamps[i] or 0)
    return Recording(
        tuple(right.relations[i] for i in order), tuple(right.timestamps[i] for i in order)
    )


def languages_are_dropped(entry: Any, where: str, labels: dict[str, Term]) -> Term:
    """A literal's language is not read."""
    if entry.get("type") == "bnode":
        return labels.setdefault(entry["value"], f"_:b{len(labels) + 1}")
    if entry.get("type") == "uri":
        return f"<{entry['value']}>"
    return literal(entry["value"], entry.get("datatype", XSD + "string"))


MINIATURES = (
    Miniature("R2R-1", "the newest graph", NOBODY, "refengine.core.r2r:dataset", newest_graph),
    Miniature(
        "R2R-1",
        "triples in two elements cancel",
        NOBODY,
        "refengine.core.r2r:dataset",
        triples_in_two_elements_cancel,
    ),
    Miniature(
        "R2R-1",
        "one triple of each element",
        NOBODY,
        "refengine.core.r2r:dataset",
        one_triple_of_each,
    ),
    Miniature(
        "R2R-1",
        "labels are of the element",
        NOBODY,
        "refengine.core.r2r:dataset",
        labels_are_of_the_element,
    ),
    Miniature(
        "R2R-7", "made nodes come back", NOBODY, "refengine.core.r2r:fresh", made_nodes_come_back
    ),
    Miniature("R2R-7", "made like data", NOBODY, "refengine.core.r2r:fresh", made_like_data),
    Miniature("R2R-7", "every node is new", NOBODY, "refengine.core.r2r:fresh", every_node_is_new),
    Miniature("R2S-1", "only news", NOBODY, "refengine.core.r2s:rstream", only_news),
    Miniature(
        "R2S-2",
        "Istream is Rstream",
        "RSP-JS 1.3.5: Istream and Dstream parse and behave as Rstream",
        "refengine.core.r2s:istream",
        istream_is_rstream,
    ),
    Miniature(
        "R2S-2",
        "Istream of sets",
        "yasper: R2S over sets",
        "refengine.core.r2s:istream",
        istream_of_sets,
    ),
    Miniature(
        "R2S-2",
        "news is what never came",
        NOBODY,
        "refengine.core.r2s:RelationToStream.step",
        news_is_what_never_came,
    ),
    Miniature(
        "R2S-3",
        "Dstream is Rstream",
        "RSP-JS 1.3.5: Istream and Dstream parse and behave as Rstream",
        "refengine.core.r2s:dstream",
        dstream_is_rstream,
    ),
    Miniature(
        "R2S-3",
        "Dstream of sets",
        "yasper: R2S over sets",
        "refengine.core.r2s:dstream",
        dstream_of_sets,
    ),
    Miniature("R2S-4", "no base", NOBODY, "refengine.core.r2s:relation_to_stream", no_base),
    Miniature(
        "R2S-4",
        "the base is what was sent",
        "YABench: the base is the last answer that held something new",
        "refengine.core.r2s:RelationToStream.step",
        base_is_what_was_sent,
    ),
    Miniature(
        "R2S-5",
        "empty is never sent",
        "RSP-JS 1.3.5: empty windows are never reported",
        "refengine.core.r2s:emitted",
        empty_is_never_sent,
    ),
    Miniature("R2S-5", "zero is empty", NOBODY, "refengine.core.r2s:emitted", zero_is_empty),
    Miniature(
        "R2S-5", "empty is always sent", NOBODY, "refengine.core.r2s:emitted", empty_is_always_sent
    ),
    Miniature(
        "R2S-6",
        "the text is not asked",
        "RSP-JS 1.3.5: Istream and Dstream parse and behave as Rstream",
        "refengine.core.engine:operator",
        text_is_not_asked,
    ),
    Miniature(
        "R2S-6",
        "Rstream unless stated",
        NOBODY,
        "refengine.core.engine:operator",
        rstream_unless_stated,
    ),
    Miniature(
        "ENG-1",
        "nothing follows",
        "yasper and RSP-JS 1.3.5: the last window is never reported",
        "refengine.core.engine:horizon",
        nothing_follows,
    ),
    Miniature(
        "ENG-1", "one instant short", NOBODY, "refengine.core.engine:horizon", one_instant_short
    ),
    Miniature("ENG-1", "any horizon", NOBODY, "refengine.core.engine:horizon", any_horizon),
    Miniature("ENG-1", "flush from zero", NOBODY, "refengine.core.engine:horizon", flush_from_zero),
    Miniature(
        "ENG-1",
        "sentinel in the last batch",
        NOBODY,
        "refengine.core.engine:plan",
        sentinel_in_the_last_batch,
    ),
    Miniature(
        "ENG-1",
        "the end fills tuple windows",
        NOBODY,
        "refengine.core.engine:plan",
        the_end_fills_tuple_windows,
    ),
    Miniature(
        "ENG-2",
        "arrivals only",
        "csrbench-oracle, YABench and CQELS do not see expiry between arrivals",
        "refengine.core.engine:spans",
        arrivals_only,
    ),
    Miniature("ENG-2", "one stretch", NOBODY, "refengine.core.engine:spans", one_stretch),
    Miniature(
        "ENG-2", "first of a stretch", NOBODY, "refengine.core.engine:instants", first_of_a_stretch
    ),
    Miniature(
        "ENG-2",
        "latest of a gap",
        "yasper and RSP-JS 1.3.5: of several windows that close the latest is reported",
        "refengine.core.report:of_a_gap",
        latest_of_a_gap,
    ),
    Miniature("ENG-3", "no bound", NOBODY, "refengine.core.engine:bounded", no_bound),
    Miniature(
        "ENG-3",
        "fewer than the bound",
        NOBODY,
        "refengine.core.engine:bounded",
        fewer_than_the_bound,
    ),
    Miniature(
        "ENG-3",
        "the gap after the arrival",
        NOBODY,
        "refengine.core.engine:bounded",
        gap_after_the_arrival,
    ),
    Miniature(
        "ENG-3",
        "not before the first element",
        NOBODY,
        "refengine.core.engine:bounded",
        bound_of_each_gap,
    ),
    Miniature(
        "ENG-4",
        "evaluation for close",
        NOBODY,
        "refengine.core.engine:output_instant",
        evaluation_for_close,
    ),
    Miniature(
        "ENG-4",
        "one after the evaluation",
        NOBODY,
        "refengine.core.engine:output_instant",
        one_after_the_evaluation,
    ),
    Miniature(
        "ENG-4",
        "eager is trigger",
        NOBODY,
        "refengine.core.engine:output_instant",
        eager_is_trigger,
    ),
    Miniature(
        "ENG-4",
        "the last arrival before the first",
        NOBODY,
        "refengine.core.engine:output_instant",
        last_arrival_before_the_first,
    ),
    Miniature("CMP-1", "only terms", NOBODY, "refengine.model.compare:value", only_terms),
    Miniature(
        "CMP-1", "anything may be a number", NOBODY, "refengine.model.compare:value", doubles_only
    ),
    Miniature("CMP-1", "types apart", NOBODY, "refengine.model.compare:value", types_apart),
    Miniature(
        "CMP-1",
        "ill-typed is its text",
        NOBODY,
        "refengine.model.compare:value",
        ill_typed_is_its_text,
    ),
    Miniature(
        "CMP-1", "zones are ignored", NOBODY, "refengine.model.compare:value", zones_are_ignored
    ),
    Miniature(
        "CMP-1",
        "dates of ISO 8601",
        "Python's datetime.fromisoformat",
        "refengine.model.compare:value",
        dates_of_iso_8601,
    ),
    Miniature(
        "CMP-1",
        "numbers only",
        "csrbench-oracle compares numeric variables alone",
        "refengine.model.compare:split",
        numbers_only,
    ),
    Miniature("CMP-2", "exactly", NOBODY, "refengine.model.compare:near", exactly),
    Miniature("CMP-2", "absolutely", NOBODY, "refengine.model.compare:near", absolutely),
    Miniature(
        "CMP-2",
        "by the smaller tolerance",
        NOBODY,
        "refengine.model.compare:near",
        by_the_smaller_tolerance,
    ),
    Miniature("CMP-2", "one tolerance", NOBODY, "refengine.model.compare:near", one_tolerance),
    Miniature(
        "CMP-2",
        "decimals relatively alone",
        NOBODY,
        "refengine.model.compare:near",
        decimals_relatively_alone,
    ),
    Miniature(
        "CMP-2",
        "the least of every type",
        NOBODY,
        "refengine.model.compare:near",
        the_least_of_every_type,
    ),
    Miniature(
        "CMP-2",
        "integers yield",
        "refengine, until the rule made integers exact",
        "refengine.model.compare:near",
        integers_yield,
    ),
    Miniature("CMP-2", "by subtraction", NOBODY, "refengine.model.compare:near", by_subtraction),
    Miniature("CMP-2", "NaN is nothing", NOBODY, "refengine.model.compare:near", nan_is_nothing),
    Miniature(
        "CMP-3",
        "difference of sets",
        "yasper and csrbench-oracle compare sets",
        "refengine.model.compare:difference",
        difference_of_sets,
    ),
    Miniature(
        "CMP-3",
        "the first that fits",
        NOBODY,
        "refengine.model.compare:difference",
        first_that_fits,
    ),
    Miniature(
        "CMP-3",
        "as sets",
        "yasper and csrbench-oracle compare sets",
        "refengine.model.compare:equal",
        as_sets,
    ),
    Miniature(
        "CMP-3",
        "recorded rows are expected",
        NOBODY,
        "refengine.model.compare:equal",
        recorded_rows_are_expected,
    ),
    Miniature(
        "CMP-3",
        "unbound is anything",
        NOBODY,
        "refengine.model.compare:difference",
        unbound_is_anything,
    ),
    Miniature("CMP-3", "in order", NOBODY, "refengine.model.matching:match", in_order),
    Miniature(
        "CMP-3",
        "in the order of their numbers",
        "refengine, until it told tolerances apart",
        "refengine.model.matching:match_rows",
        in_the_order_of_their_numbers,
    ),
    Miniature(
        "CMP-4", "labels are names", NOBODY, "refengine.model.compare:equal", labels_are_names
    ),
    Miniature(
        "CMP-4",
        "any blank node will do",
        NOBODY,
        "refengine.model.compare:equal",
        any_blank_will_do,
    ),
    Miniature("CMP-4", "row by row", NOBODY, "refengine.model.compare:equal", row_by_row),
    Miniature(
        "CMP-4",
        "neighbours are enough",
        NOBODY,
        "refengine.model.compare:equal",
        neighbours_are_enough,
    ),
    Miniature(
        "ORA-1",
        "the first assignment",
        NOBODY,
        "refengine.oracle.assignments:assignments",
        first_assignment,
    ),
    Miniature("ORA-2", "t0 is 0", NOBODY, "refengine.oracle.assignments:origins", t0_is_zero),
    Miniature(
        "ORA-2",
        "one t0 of the range",
        NOBODY,
        "refengine.oracle.assignments:origins",
        one_t0_of_the_range,
    ),
    Miniature(
        "ORA-2",
        "t0 over the elements",
        NOBODY,
        "refengine.oracle.assignments:candidates",
        t0_over_the_elements,
    ),
    Miniature(
        "ORA-2",
        "every window is there",
        NOBODY,
        "refengine.oracle.assignments:candidates",
        every_window_is_there,
    ),
    Miniature(
        "ORA-2",
        "bounds are ignored",
        NOBODY,
        "refengine.oracle.assignments:candidates",
        bounds_are_ignored,
    ),
    Miniature(
        "ORA-2",
        "classes by content alone",
        NOBODY,
        "refengine.oracle.assignments:origins",
        classes_by_content_alone,
    ),
    Miniature(
        "ORA-3",
        "anything may be missing",
        "csrbench-oracle: a recording may be any piece of the output",
        "refengine.oracle.trial:advance",
        anything_may_be_missing,
    ),
    Miniature(
        "ORA-3", "holes are allowed", NOBODY, "refengine.oracle.trial:advance", holes_are_allowed
    ),
    Miniature(
        "ORA-3",
        "nothing may be missing",
        NOBODY,
        "refengine.oracle.trial:advance",
        nothing_may_be_missing,
    ),
    Miniature(
        "ORA-3",
        "one bound for both ends",
        NOBODY,
        "refengine.oracle.trial:advance",
        bound_of_both_ends,
    ),
    Miniature(
        "ORA-3",
        "silence is always right",
        NOBODY,
        "refengine.oracle.trial:accepted",
        silence_is_always_right,
    ),
    Miniature(
        "ORA-3",
        "sorted by timestamp",
        NOBODY,
        "refengine.rdf.recordings:read_recording",
        sorted_by_timestamp,
    ),
    Miniature(
        "ORA-4",
        "the order of the file",
        NOBODY,
        "refengine.oracle.orders:order_matters",
        recorded_order,
    ),
    Miniature(
        "ORA-4",
        "close is complete",
        NOBODY,
        "refengine.oracle.orders:order_matters",
        close_is_complete,
    ),
    Miniature(
        "ORA-4",
        "no order is recorded",
        NOBODY,
        "refengine.oracle.attempts:attempt",
        no_order_is_recorded,
    ),
    Miniature(
        "ORA-5",
        "also what expires",
        NOBODY,
        "refengine.oracle.orders:instant_sum",
        sum_of_the_rows_that_stay,
    ),
    Miniature(
        "ORA-5",
        "all that was kept was seen",
        NOBODY,
        "refengine.oracle.orders:instant_sum",
        all_that_was_kept_was_seen,
    ),
    Miniature("ORA-5", "sum of sets", NOBODY, "refengine.oracle.orders:instant_sum", sum_of_sets),
    Miniature("ORA-5", "sum of all", NOBODY, "refengine.oracle.orders:instant_sum", sum_of_all),
    Miniature(
        "ORA-6", "any partition", NOBODY, "refengine.oracle.orders:realisable", any_partition
    ),
    Miniature(
        "ORA-6",
        "one output",
        "csrbench-oracle evaluates content change once an instant",
        "refengine.oracle.orders:realisable",
        one_output,
    ),
    Miniature(
        "ORA-6", "row by row only", NOBODY, "refengine.oracle.orders:realisable", row_by_row_only
    ),
    Miniature(
        "ORA-6", "a common element", NOBODY, "refengine.oracle.orders:realisable", common_element
    ),
    Miniature(
        "ORA-10",
        "everything is in reach",
        NOBODY,
        "refengine.oracle.divergence:out_of_reach",
        everything_is_in_reach,
    ),
    Miniature(
        "ORA-7",
        "the order of the file",
        NOBODY,
        "refengine.oracle.orders:orders",
        order_of_the_file,
    ),
    Miniature(
        "ORA-7",
        "fillers are never seen",
        NOBODY,
        "refengine.oracle.orders:orders",
        fillers_are_never_seen,
    ),
    Miniature("ORA-7", "one class", NOBODY, "refengine.oracle.orders.search:_classes", one_class),
    Miniature(
        "ORA-7",
        "beyond the bound is nothing",
        NOBODY,
        "refengine.oracle.orders:orders",
        everything_is_within_the_bound,
    ),
    Miniature("ORA-8", "one witness", NOBODY, "refengine.oracle.confirmation:confirm", one_witness),
    Miniature(
        "ORA-8",
        "all of the stream",
        NOBODY,
        "refengine.oracle.confirmation:confirm",
        all_of_the_stream,
    ),
    Miniature(
        "ORA-8",
        "ends of instants alone",
        NOBODY,
        "refengine.oracle.confirmation:dissent",
        ends_of_instants_alone,
    ),
    Miniature(
        "ORA-9", "no divergence", NOBODY, "refengine.oracle.divergence:divergence", no_divergence
    ),
    Miniature(
        "ORA-11",
        "windows as they are written",
        NOBODY,
        "refengine.oracle.trial:instants",
        windows_as_written,
    ),
    Miniature(
        "ORA-11",
        "told windows are not read",
        NOBODY,
        "refengine.oracle.trial:Recorded.is_about",
        told_windows_are_not_read,
    ),
    Miniature(
        "ORA-12",
        "borders are not looked at",
        NOBODY,
        "refengine.oracle.divergence:border_rows",
        borders_are_not_looked_at,
    ),
    Miniature(
        "ORA-12",
        "the last instant is no edge",
        NOBODY,
        "refengine.oracle.divergence:border_rows",
        the_last_instant_is_no_edge,
    ),
    Miniature(
        "ORA-12",
        "left out wherever it is",
        NOBODY,
        "refengine.oracle.divergence:_is_nowhere",
        left_out_wherever_it_is,
    ),
    Miniature(
        "ORA-13",
        "nothing is near",
        NOBODY,
        "refengine.oracle.explanations:nearest",
        nothing_is_near,
    ),
    Miniature(
        "IO-1", "order is recorded", NOBODY, "refengine.rdf.streams:build_stream", order_is_recorded
    ),
    Miniature(
        "IO-1",
        "seconds for milliseconds",
        NOBODY,
        "refengine.rdf.streams:build_stream",
        seconds_for_milliseconds,
    ),
    Miniature(
        "IO-1",
        "a triple is an element",
        NOBODY,
        "refengine.rdf.streams:build_stream",
        a_triple_is_an_element,
    ),
    Miniature(
        "IO-1", "sorted by time", NOBODY, "refengine.rdf.streams:build_stream", sorted_by_time
    ),
    Miniature(
        "IO-1",
        "labels are of the folder",
        NOBODY,
        "refengine.rdf.documents:read_turtle",
        labels_are_of_the_folder,
    ),
    Miniature(
        "IO-1",
        "a query replaces the last segment",
        "rdflib 7.6: the parser of Notation 3, Turtle and TriG",
        "refengine.rdf.turtle:parse_statements",
        a_query_replaces_the_last_segment,
    ),
    Miniature(
        "IO-1",
        "undated graphs are left out",
        NOBODY,
        "refengine.rdf.streams:build_stream_of_graphs",
        undated_graphs_are_left_out,
    ),
    Miniature(
        "IO-1",
        "untimed lines are left out",
        NOBODY,
        "refengine.rdf.lines:read_lines",
        untimed_lines_are_left_out,
    ),
    Miniature(
        "IO-1",
        "unquoted literals are strings",
        NOBODY,
        "refengine.rdf.lines:parse_statement_with_time",
        unquoted_literals_are_strings,
    ),
    Miniature("IO-1", "local time", NOBODY, "refengine.rdf.terms:parse_datetime", local_time),
    Miniature(
        "IO-2",
        "empty relations are no reports",
        NOBODY,
        "refengine.rdf.recordings:read_recording",
        empty_relations_are_no_reports,
    ),
    Miniature(
        "IO-2",
        "bindings are a set",
        NOBODY,
        "refengine.rdf.recordings:read_recording",
        bindings_are_a_set,
    ),
    Miniature(
        "IO-2",
        "datatypes are dropped",
        NOBODY,
        "refengine.rdf.recordings:parse_tabbed_term",
        datatypes_are_dropped,
    ),
    Miniature(
        "IO-2",
        "languages are dropped",
        NOBODY,
        "refengine.rdf.recordings:parse_term",
        languages_are_dropped,
    ),
)
