"""§1 The model: time, terms, elements, streams, relations.

Time is an integer in a unit that the data declares, by default milliseconds. A term is its
canonical N-Triples text: see `terms`. What a user gives is made canonical once (MOD-4), as a whole:
terms in the common plain form are accepted together by one regular expression, and only if that
fails are triples taken apart.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, Protocol, TypeVar

from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.held import STATEMENTS, as_integer, is_term, kind_of, statement_parts
from refengine.model.messages import display, shortened
from refengine.model.relations import MOST_SHOWN as MOST_SHOWN
from refengine.model.relations import Bag as Bag
from refengine.model.relations import Relation as Relation
from refengine.model.relations import Row as Row
from refengine.model.terms import PLAIN_TRIPLES, canonical, graph_name, triple_of
from refengine.model.terms import XSD as XSD
from refengine.model.terms import Term as Term
from refengine.model.terms import is_blank as is_blank
from refengine.model.terms import literal as literal
from refengine.model.terms import parse_literal as parse_literal

TIME_BOUND = 2**63

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


def follows(before: Element, element: Element) -> bool:
    """Return whether an element is a point without a batch id that may come after another (MOD-1,
    MOD-2), as most are. False may also be returned for one that may, which is then checked.
    """
    _, app, sys, batch, end = element
    return (
        batch is None is before.batch
        and end is None
        and type(app) is type(sys) is int
        and before.app <= app < TIME_BOUND
        and before.sys < sys < TIME_BOUND
    )


def check_elements(elements: Iterable[Element]) -> None:
    """MOD-1: Check that times are integers within 64 bits, and t_sys and batch ids those of an
    arrival order. MOD-3: check that end >= t_app. Raises InvalidStream.
    """
    before: Element | None = None
    for position, element in enumerate(elements, 1):
        if not isinstance(element, Element):
            raise _invalid(not_an_element(element), position)
        # the full check takes ten times as long
        if before is None or not follows(before, element):
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


T = TypeVar("T")

_GRAPH = attrgetter("graph")


class CanonicalElements(tuple[Element, ...]):
    """Elements of a stream whose terms are known to be canonical, so that they are not checked
    again.
    """

    __slots__ = ()


class CanonicalIterator(Iterator[Element]):
    """An iterator over elements whose terms are known to be canonical, as a reader makes it, so
    that they are not checked again.
    """

    def __init__(self, elements: Iterator[Element]) -> None:
        self.elements = elements

    def __iter__(self) -> Iterator[Element]:
        return self.elements

    def __next__(self) -> Element:
        return next(self.elements)


def graph_of(payload: Any, place: str) -> frozenset[Triple]:
    """Return the graph of a payload: of one triple, or of several, such as a graph of rdflib has.
    Raises InvalidStream for what is no set of triples.
    """
    is_tuple = isinstance(payload, tuple) and len(payload) in (3, 4)
    if (is_tuple and is_term(payload[0])) or kind_of(payload) in STATEMENTS:
        payload = [payload]
    try:
        _refuse_text(payload)
        return frozenset(map(statement_parts, payload))  # type: ignore[arg-type]
    except TypeError:  # no iterable, or with lists in it
        raise InvalidStream(
            f"a graph must be triples, which are tuples of text, got {display(payload)}; "
            "write ('<urn:a>', '<urn:p>', '<urn:b>')",
            rule="MOD-4",
            place=place,
        ) from None


def _refuse_text(value: object) -> None:
    """Raise TypeError for a text: it has characters, and no triples."""
    if isinstance(value, str):
        raise TypeError


def canonical_elements(elements: Iterable[Element]) -> CanonicalElements:
    """MOD-4: Return the elements with canonical terms. Raises InvalidStream, with the element's
    position.
    """
    if isinstance(elements, CanonicalElements):
        return elements

    elements = tuple(elements)
    graphs = list(map(_GRAPH, elements))
    if set(map(type, graphs)) <= {frozenset} and not _changes(list(chain.from_iterable(graphs))):
        return CanonicalElements(elements)
    return CanonicalElements(
        _canonical_element(element, f"element {n}") for n, element in enumerate(elements, 1)
    )


def canonical_element(element: Element) -> Element:
    """MOD-4: Return an element with canonical terms. Raises InvalidStream."""
    if type(getattr(element, "graph", None)) is frozenset and not _changes(element.graph):
        return element
    return _canonical_element(element, "element 1")


def _changes(triples: Collection[Triple]) -> bool:
    """Return whether any of the triples is not canonical, or is none. Those that are plain are
    compared in one go.
    """
    if not triples:
        return False

    try:
        terms = [*chain.from_iterable(triples)]
        text = "\n".join([*terms, ""])
        if (
            set(map(len, triples)) == {3}
            and set(map(type, terms)) == {str}
            and text.count("\n") == 3 * len(triples)
            and PLAIN_TRIPLES.fullmatch(text)
        ):
            return False
        return any(_canonical_triple(triple) != triple for triple in dict.fromkeys(triples))
    except (TypeError, InvalidStream):
        return True


def canonical_iterator(elements: Iterable[Element]) -> Iterator[Element]:
    """MOD-4: Return an iterator over the elements, each with canonical terms. Raises InvalidStream,
    with the element's position.
    """
    if isinstance(elements, CanonicalIterator) or isinstance(
        getattr(elements, "elements", None), CanonicalElements
    ):
        return iter(elements)
    return (_canonical_element(element, f"element {n}") for n, element in enumerate(elements, 1))


def not_an_element(value: object) -> str:
    """Return why a value that stands among the elements of a stream is none, and what makes one."""
    return (
        f"must be an Element, got {display(value)}; stream([(graph or triple, t_app), …]) makes "
        "a stream of elements"
    )


def _canonical_element(element: Element, place: str) -> Element:
    if not hasattr(element, "graph"):
        raise InvalidStream(not_an_element(element), rule="MOD-1", place=place)
    graph = element.graph
    try:
        found = frozenset(_canonical_triple(triple) for triple in _in_order(graph))
    except InvalidStream as error:
        raise error.at(place) from None
    if type(graph) is frozenset and found == graph:
        return element
    return element._replace(graph=found)


def _in_order(graph: Collection[T]) -> Collection[T]:
    """Return the statements in an order that does not depend on hashing, so that of several faults
    always the same is told.
    """
    if len(graph) > 1:
        return sorted(graph, key=repr)
    return graph


def canonical_dataset(static: Statements, place: str = "static data") -> Dataset:
    """MOD-4: Return static data with canonical terms: triples of the default graph and quads of
    named ones. Raises InvalidStream, with the place.
    """
    return _statements(static, place, graph_name)


def canonical_dataset_with_times(statements: Statements, place: str) -> Dataset:
    """MOD-4: Return what `canonical_dataset` does for a dataset that may also have times: a literal
    in the fourth place (R2R-21).
    """
    return _statements(statements, place, _graph_or_time)


def _statements(statements: Statements, place: str, fourth: Callable[[Term], Term]) -> Dataset:
    try:
        _refuse_text(statements)
        return _canonical_dataset(frozenset(statements), fourth)
    except TypeError:  # no iterable, or with lists in it
        reason = (
            f"statements must be triples and quads, which are tuples of text, got "
            f"{display(statements)}; write frozenset([('<urn:s>', '<urn:p>', '<urn:o>'), …])"
        )
        raise InvalidStream(reason, rule="MOD-4", place=place) from None
    except InvalidStream as error:
        raise error.at(place) from None


def canonical_relation(relation: Relation, place: str) -> Relation:
    """MOD-4: Return a relation with canonical terms, as `canonical_rows` makes them.

    Raises InvalidStream for what is no relation, for what is no term, and for a variable that is
    written with its ? or $. `place` names the relation in the error.

    >>> from collections import Counter
    >>> from refengine.model.elements import Relation, row
    >>> recorded = Relation(("x",), Counter([row({"x": '"a"@EN'})]))
    >>> canonical_relation(recorded, "relation 1").rows
    Counter({(('x', '"a"@en'),): 1})
    """
    if not hasattr(relation, "rows") or not hasattr(relation, "variables"):
        raise InvalidStream(
            f"must be a Relation, got {display(relation)}; write "
            'Relation(("x",), Counter([row({"x": "<urn:a>"}), …]))',
            rule="MOD-4",
            place=place,
        )
    variables = relation.variables
    if not isinstance(variables, tuple):
        reason = f'variables must be a tuple, got {display(variables)}; write ("x", "y")'
        raise InvalidStream(reason, rule="MOD-4", place=place)
    try:
        _refuse_marked_variables(variables)
    except InvalidStream as error:
        raise error.at(place) from None
    rows = canonical_rows(relation.rows, place)
    if rows is relation.rows:
        return relation
    return replace(relation, rows=rows)


def canonical_recording(recording: Iterable[Relation]) -> tuple[Relation, ...]:
    """MOD-4: Return the relations of a recording with canonical terms. Raises InvalidStream, with
    the number of the relation, and for a single relation in place of several.
    """
    if isinstance(recording, str | Mapping) or not isinstance(recording, Iterable):
        raise InvalidStream(
            f"must be Relations, got {display(recording)}; write a list of them, "
            '[Relation(("x",), Counter([row({"x": "<urn:a>"}), …])), …]',
            rule="MOD-4",
            place="recording",
        )
    return tuple(
        canonical_relation(relation, f"relation {number}")
        for number, relation in enumerate(recording, 1)
    )


def canonical_rows(rows: Bag, place: str) -> Bag:
    """MOD-4: Return a bag of rows with canonical terms, each row sorted by its variables. Blank
    nodes keep their labels, since those that an evaluation made are none of the data (R2R-7).

    Raises InvalidStream for what is no bag, no row or no term, and for a variable that is written
    with its ? or $. `place` names the bag in the error.
    """
    try:
        return _canonical_rows(rows)
    except InvalidStream as error:
        raise error.at(place) from None


def canonical_bags(bags: Iterable[Bag], name: str) -> list[Bag]:
    """MOD-4: Return bags of rows with canonical terms, as `canonical_rows` makes them. In errors
    each is named by its number after `name`.
    """
    if isinstance(bags, str | Mapping) or not isinstance(bags, Iterable):
        reason = f"must be bags of rows, got {display(bags)}; write [Counter([row({{…}}), …]), …]"
        raise InvalidStream(reason, rule="MOD-4", place=name)
    return [canonical_rows(rows, f"{name} {number}") for number, rows in enumerate(bags, 1)]


def _canonical_rows(rows: Bag) -> Bag:
    _refuse_what_is_no_bag(rows)
    bindings = dict.fromkeys(chain.from_iterable(rows))
    for binding in bindings:
        if not isinstance(binding, tuple) or len(binding) != 2:
            raise _no_row(binding)
    _refuse_marked_variables(name for name, _ in bindings)
    changed: dict[Term, Term] = {}
    for term in dict.fromkeys(term for _, term in bindings):
        found = canonical(term)
        is_text = type(term) is str
        if not is_text or (found != term and not term.startswith("_:")):
            changed[term] = found

    headings = {tuple([name for name, _ in line]) for line in rows}
    for names in headings:
        if len({*names}) < len(names):
            raise InvalidStream(f"a variable stands twice in a row: {display(names)}", rule="MOD-4")
    is_sorted = all(list(names) == sorted(names) for names in headings)
    if not changed and is_sorted and isinstance(rows, Counter):
        return rows
    canonical_bag: Bag = Counter()
    for line, count in rows.items():
        bindings_of_line = sorted((name, changed.get(term, term)) for name, term in line)
        canonical_bag[tuple(bindings_of_line)] += count
    return canonical_bag


def _refuse_what_is_no_bag(rows: Bag) -> None:
    """Raise InvalidStream for rows that are no tuples, each with how often it is there."""
    if not isinstance(rows, Mapping):
        raise InvalidStream(
            f"rows must be a Counter of rows, got {display(rows)}; write "
            'Counter([row({"x": "<urn:a>"}), …])',
            rule="MOD-4",
        )
    for line in rows:
        if not isinstance(line, tuple):
            raise _no_row(line)
    for count in rows.values():
        if type(count) is not int or count < 1:
            reason = f"a row is there {display(count)} times; write an integer > 0"
            raise InvalidStream(reason, rule="MOD-4")


def _no_row(value: object) -> InvalidStream:
    reason = (
        f"a row must be a tuple of pairs of a variable and a term, got {display(value)}; write "
        'row({"x": "<urn:a>"})'
    )
    return InvalidStream(reason, rule="MOD-4")


def _refuse_marked_variables(names: Iterable[str]) -> None:
    """Raise InvalidStream for the first variable that is no text, or is written with its ? or $."""
    for name in dict.fromkeys(names):
        if not isinstance(name, str):
            reason = f"a variable must be text, got {display(name)}; write its name, such as 'x'"
            raise InvalidStream(reason, rule="IO-2")
        if name.startswith(("?", "$")):
            reason = f"a variable is given without its mark: {name[1:]!r}, not {name!r}"
            raise InvalidStream(reason, rule="IO-2")


@lru_cache(maxsize=4)  # the same data is given for every evaluation of a search
def _canonical_dataset(static: frozenset[Any], fourth: Callable[[Term], Term]) -> Dataset:
    found = frozenset(_canonical_statement(statement, fourth) for statement in _in_order(static))
    if found == static:
        return static
    return found


def _canonical_triple(statement: object) -> Triple:
    statement = statement_parts(statement)
    if isinstance(statement, tuple) and len(statement) == 4:
        raise InvalidStream(
            f"a triple must be three terms, got a quad of a named graph: {display(statement)}; "
            "write its first three terms",
            rule="MOD-4",
        )
    if not isinstance(statement, tuple) or len(statement) != 3:
        raise InvalidStream(
            f"a triple must be three terms, got {display(statement)}; "
            "write ('<urn:s>', '<urn:p>', '<urn:o>')",
            rule="MOD-4",
        )
    return triple_of(*_canonical_terms(statement))


def _canonical_statement(statement: object, fourth: Callable[[Term], Term]) -> Triple | Quad:
    statement = statement_parts(statement)
    if not isinstance(statement, tuple) or len(statement) != 4:
        return _canonical_triple(statement)
    subject, predicate, object_, graph = _canonical_terms(statement)
    return (*triple_of(subject, predicate, object_), fourth(graph))


def _graph_or_time(term: Term) -> Term:
    """Return a term that may name a graph, or state the time of a triple."""
    return term


def _canonical_terms(statement: tuple[Any, ...]) -> tuple[Term, ...]:
    try:
        return tuple(map(canonical, statement))
    except TypeError:  # unhashable
        raise InvalidStream(
            f"a term must be text, got {display(statement)}", rule="MOD-4"
        ) from None
