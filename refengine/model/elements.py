"""§1 The model: time, terms, elements, streams, relations.

Time is an integer in a unit that the data declares, by default milliseconds. A term is its
canonical N-Triples text: see `terms`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from refengine.model.canonical import (
    CanonicalElements,
    canonical_elements,
    graph_of,
    not_an_element,
)
from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.held import as_integer
from refengine.model.messages import bag_in_words, display, shortened
from refengine.model.terms import XSD as XSD
from refengine.model.terms import Literal as Literal
from refengine.model.terms import Term as Term
from refengine.model.terms import is_blank as is_blank
from refengine.model.terms import literal as literal
from refengine.model.terms import parse_literal as parse_literal

TIME_BOUND = 2**63
MOST_SHOWN = 10  # elements or rows in a repr

Triple = tuple[Term, Term, Term]
Quad = tuple[Term, Term, Term, Term]  # a triple and the named graph that it is in
Dataset = frozenset[Triple | Quad]


class Statement(Protocol):
    """A triple or a quad of another library, such as pyoxigraph."""

    @property
    def subject(self) -> Any:
        """The subject."""

    @property
    def predicate(self) -> Any:
        """The predicate."""

    @property
    def object(self) -> Any:
        """The object."""


# data as a user may give it: a set of triples and quads, a graph of rdflib, a store of pyoxigraph
Statements = Iterable[tuple[Any, ...] | Statement]
# a solution mapping: (variable, term), sorted, bound variables only
Row = tuple[tuple[str, Term], ...]
Bag = Counter[Row]


def row(mapping: dict[str, Term] | Iterable[tuple[str, Term]]) -> Row:
    """Return the row of a solution mapping: its variables with their terms, sorted. The terms are
    made canonical where the row is compared or judged (MOD-4). Raises InvalidStream for what is no
    mapping of variables.
    """
    try:
        return tuple(sorted(dict(mapping).items()))
    except (TypeError, ValueError):
        if isinstance(mapping, Iterator):  # whose own error it may be, such as that of a reader
            raise
        raise InvalidStream(
            f"a row must map variables to terms, got {display(mapping)}; write "
            'row({"x": "<urn:a>"})',
            rule="MOD-4",
        ) from None


@dataclass(frozen=True)
class Relation:
    """An answer: the variables that head it and a bag of solution mappings. ASK gives one row over
    `ask`, CONSTRUCT a set of rows over `subject`, `predicate`, `object`.
    """

    variables: tuple[str, ...]
    rows: Bag

    def __bool__(self) -> bool:
        return bool(self.rows)

    def __hash__(self) -> int:
        return hash((self.variables, frozenset(item for item in self.rows.items() if item[1])))

    def __repr__(self) -> str:
        if isinstance(self.rows, Counter) and self.rows.total() > MOST_SHOWN:
            variables = " ".join(f"?{name}" for name in self.variables)
            return f"<Relation {variables}, {bag_in_words(self.rows, 2)}>"
        return shortened(f"Relation(variables={self.variables!r}, rows={self.rows!r})", 1000)


class Element(NamedTuple):
    """An element of a stream, ⟨payload, t_app, t_sys, batch, end⟩: a graph, its application time,
    its place in the arrival order, its batch id, and the last instant of its validity (None:
    t_app).
    """

    graph: frozenset[Triple]
    app: int
    sys: int
    batch: int | None = None
    end: int | None = None


def valid(element: Element) -> tuple[int, int]:
    """MOD-3: Return the first and the last instant at which an element is valid. For a point they
    are the same.
    """
    if element.end is None:
        return element.app, element.app
    return element.app, element.end


@dataclass(frozen=True)
class Stream:
    """A sequence of elements in arrival order.

    `ordered` says whether the order of elements with the same t_app was recorded; if not, the
    oracle tries every order (ORA-4). Labels of blank nodes are scoped to the stream. Terms are made
    canonical (MOD-4).
    """

    elements: tuple[Element, ...]
    ordered: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.elements, str) or not isinstance(self.elements, Iterable):
            raise InvalidStream(
                f"elements must be a tuple, got {display(self.elements)}; "
                "stream([(graph or triple, t_app), …]) makes a stream of elements",
                rule="MOD-1",
                place="stream",
            )
        if not isinstance(self.ordered, bool):
            reason = f"ordered must be True or False, got {display(self.ordered)}"
            raise InvalidStream(reason, rule="ORA-4", place="stream")
        elements = self.elements
        if not isinstance(elements, CanonicalElements):
            elements = tuple(with_integers(each, n) for n, each in enumerate(elements, 1))
        check_elements(elements)
        object.__setattr__(self, "elements", canonical_elements(elements))

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self) -> Iterator[Element]:
        return iter(self.elements)

    def __repr__(self) -> str:
        count = len(self.elements)
        if count > MOST_SHOWN:
            first, last = (shortened(repr(self.elements[i]), 200) for i in (0, -1))
            return f"<Stream of {count} elements, from {first} to {last}>"
        return shortened(f"Stream(elements={(*self.elements,)!r}, ordered={self.ordered!r})")


def refuse_no_streams(value: object) -> None:
    """MOD-1: Refuse what is no mapping of names to streams, where one is needed. Raises
    InvalidStream.
    """
    if not isinstance(value, Mapping):
        reason = (
            f'streams are given by their names, got {display(value)}; write {{"s": stream([…])}}'
        )
        raise InvalidStream(reason, rule="MOD-1", place="streams")


def refuse_no_names(value: object) -> None:
    """MOD-1: Refuse what is no list of names of streams, where one is needed. Raises
    InvalidStream.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        reason = f'streams are declared by their names, got {display(value)}; write ["s"]'
        raise InvalidStream(reason, rule="MOD-1", place="streams")


def refuse_no_name(value: object) -> None:
    """MOD-1: Refuse what is no name of a stream, where one is needed. Raises InvalidStream."""
    if not isinstance(value, str):
        reason = f'the name of a stream must be text, got {display(value)}; write "s"'
        raise InvalidStream(reason, rule="MOD-1", place="streams")


def refuse_no_stream(name: str, value: object) -> None:
    """MOD-1: Refuse what is no stream, where the one of that name is needed. Raises
    InvalidStream.
    """
    if not isinstance(value, Stream):
        raise InvalidStream(
            f"a stream must be a Stream, got {display(value)}; "
            "write stream([(graph or triple, t_app), …])",
            rule="MOD-1",
            place=f"stream {name!r}",
        )


def with_integers(element: Element, position: int) -> Element:
    """MOD-1: Return an element whose times are integers, where they are datetimes with a zone,
    timedeltas or integers of another library (`held.as_integer`). Raises InvalidStream for a
    datetime without a zone.
    """
    if not isinstance(element, Element):
        return element
    _, app, sys, batch, end = element
    if type(app) is type(sys) is int and (batch is None or type(batch) is int) and end is None:
        return element
    times = {"t_app": app, "t_sys": sys, "batch": batch, "end": end}
    place = f"element {position}"
    app, sys, batch, end = (
        as_integer(value, name, InvalidStream, rule="MOD-1", place=place)
        for name, value in times.items()
    )
    return Element(element.graph, app, sys, batch, end)


def check_elements(elements: Iterable[Element]) -> None:
    """MOD-1: Check that times are integers within 64 bits, and t_sys and batch ids those of an
    arrival order. MOD-3: check that end >= t_app. Raises InvalidStream.
    """
    before: Element | None = None
    for position, element in enumerate(elements, 1):
        if not isinstance(element, Element):
            raise _invalid(not_an_element(element), position)
        _check_times(element, position)
        if before is not None:
            _check_order(before, element, position)
        before = element


def _check_times(element: Element, position: int) -> None:
    _, app, sys, batch, end = element
    _check_integer("t_app", app, position)
    _check_integer("t_sys", sys, position)
    if batch is not None:
        _check_integer("batch", batch, position)
    if end is not None:
        _check_integer("end", end, position)
        if valid(element)[1] < app:
            reason = f"end {end} is before t_app {app}; a point has end {app}"
            raise _invalid(reason, position, "MOD-3")
    if batch is not None and batch < 1:
        raise _invalid(f"batch ids start at 1, got {batch}", position)


def _check_integer(name: str, value: object, position: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _invalid(f"{name} must be an integer, got {value!r}", position)
    if not -TIME_BOUND <= value < TIME_BOUND:
        raise _invalid(f"{name} must be within 64 bits, got {value}", position)


def _check_order(before: Element, element: Element, position: int) -> None:
    if element.sys <= before.sys:
        raise _invalid(f"t_sys must increase, got {element.sys} after {before.sys}", position)
    if element.batch is None and before.batch is None:
        return
    if element.batch is None or before.batch is None or element.batch < before.batch:
        raise _invalid("batch ids must be on all elements or none, and never decrease", position)


def _invalid(reason: str, position: int, rule: str = "MOD-1") -> InvalidStream:
    return InvalidStream(reason, rule=rule, place=f"element {position}")


def require_64_bits(name: str, value: int, kind: type[RefengineError], rule: str) -> int:
    """Return an integer that is within 64 bits, as times are (MOD-1). Raise an error of the given
    kind, with the name of the value, if it is not.
    """
    if not -TIME_BOUND <= value < TIME_BOUND:
        raise kind(f"{name} must be within 64 bits, got {display(value)}", rule=rule)
    return value


class AdmittedElements(NamedTuple):
    """The elements of a stream in the order of t_app, and those that were dropped because they were
    late.
    """

    elements: tuple[Element, ...]
    late: tuple[Element, ...]


def admit(elements: Iterable[Element], allowed_lateness: int | str) -> AdmittedElements:
    """MOD-2: Return the elements in the order of t_app. Those that are late by more than
    `allowed_lateness` are dropped. If that is no number, raise InvalidStream for any element that
    is out of order.
    """
    elements = tuple(elements)
    if all(a.app <= b.app for a, b in itertools.pairwise(elements)):
        return AdmittedElements(elements, ())

    kept: list[Element] = []
    late: list[Element] = []
    newest = elements[0].app
    for position, element in enumerate(elements, 1):
        if element.app < newest and not isinstance(allowed_lateness, int):
            reason = (
                f"t_app decreases from {newest} to {element.app}; write "
                f"allowed_lateness={newest - element.app} to reorder"
            )
            raise InvalidStream(reason, rule="MOD-2", place=f"element {position}")
        if isinstance(allowed_lateness, int) and element.app < newest - allowed_lateness:
            late.append(element)
        else:
            newest = max(newest, element.app)
            kept.append(element)
    return AdmittedElements(tuple(sorted(kept, key=lambda element: element.app)), tuple(late))


def stream(items: Iterable[tuple[Any, ...]], ordered: bool = True) -> Stream:
    """Return a stream of (graph or triple, t_app[, batch[, end]]) items in arrival order; t_sys is
    the position, from 1. Raises InvalidStream for what are no such items.

    A graph is a set of triples, or a graph of rdflib, and a term its N-Triples text, or a term of
    rdflib or pyoxigraph. A time is an integer, or a datetime with a zone, which is milliseconds
    from the epoch.

    >>> len(stream([(("<urn:a>", "<urn:p>", "<urn:b>"), 0), (("<urn:a>", "<urn:p>", '"c"'), 5)]))
    2
    """
    return Stream(tuple(arrivals(items)), ordered)


def arrivals(items: Iterable[tuple[Any, ...]]) -> Iterator[Element]:
    """Yield the elements of (graph or triple, t_app[, batch[, end]]) items; t_sys is the position,
    from 1. Raises InvalidStream for what is no such item.
    """
    if isinstance(items, str) or not isinstance(items, Iterable):
        reason = f"items must be a list, got {display(items)}; write [(graph or triple, t_app), …]"
        raise InvalidStream(reason, rule="MOD-1", place="stream")
    for position, item in enumerate(items, 1):
        if not isinstance(item, tuple | list) or not 2 <= len(item) <= 4:
            reason = (
                "an element must be (graph or triple, t_app), with a batch id and an end if it has "
                f"them, got {display(item)}"
            )
            raise _invalid(reason, position)
        payload, app, *more = item
        element = Element(graph_of(payload, f"element {position}"), app, position, *more)
        yield with_integers(element, position)
