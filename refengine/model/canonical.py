"""Streams, static data and recordings with canonical terms, checked once where a user gives them
(MOD-4).

They are checked as a whole: terms in the common plain form are accepted together by one regular
expression, and only if that fails are triples taken apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from refengine.model.errors import InvalidStream
from refengine.model.messages import display
from refengine.model.terms import PLAIN_TRIPLES, Term, canonical, graph_name, triple_of

if TYPE_CHECKING:
    from refengine.model.elements import Dataset, Element, Quad, Relation, Row, Triple

T = TypeVar("T")

_GRAPH = attrgetter("graph")


class CanonicalElements(tuple["Element", ...]):
    """Elements of a stream whose terms are known to be canonical, so that they are not checked
    again.
    """

    __slots__ = ()


class CanonicalIterator(Iterator["Element"]):
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
    """Return the graph of a payload: of one triple, or of several. Raises InvalidStream for what is
    no set of triples.
    """
    if isinstance(payload, tuple) and len(payload) == 3 and isinstance(payload[0], str):
        payload = [payload]
    try:
        return frozenset(payload)
    except TypeError:  # no iterable, or with lists in it
        raise InvalidStream(
            f"a graph must be triples, which are tuples of text, got {display(payload)}",
            rule="MOD-4",
            place=place,
        ) from None


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


def _changes(triples: Collection[Triple]) -> bool:
    """Return whether any of the triples is not canonical, or is none. Those that are plain are
    compared in one go.
    """
    if not triples:
        return False

    try:
        text = "\n".join(chain.from_iterable(triples)) + "\n"
        if (
            set(map(len, triples)) <= {3}
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


def canonical_dataset(static: Iterable[Triple | Quad]) -> Dataset:
    """MOD-4: Return static data with canonical terms: triples of the default graph and quads of
    named ones. Raises InvalidStream.
    """
    return _canonical_dataset(frozenset(static))


def canonical_relation(relation: Relation, place: str) -> Relation:
    """MOD-4: Return a relation with canonical terms. Blank nodes keep their labels, since those
    that an evaluation made are none of the data (R2R-7).

    Raises InvalidStream for what is no relation, for what is no term, and for a variable that is
    written with its ? or $. `place` names the relation in the error.

    >>> from collections import Counter
    >>> from refengine.model.elements import Relation, row
    >>> recorded = Relation(("x",), Counter([row({"x": '"a"@EN'})]))
    >>> canonical_relation(recorded, "relation 1").rows
    Counter({(('x', '"a"@en'),): 1})
    """
    if not hasattr(relation, "rows"):
        raise InvalidStream(
            f"must be a Relation, got {display(relation)}; write "
            'Relation(("x",), Counter([row({"x": "<urn:a>"}), …]))',
            rule="MOD-4",
            place=place,
        )
    bindings = dict.fromkeys(chain.from_iterable(relation.rows))
    changed: dict[Term, Term] = {}
    try:
        _refuse_marked_variables([*relation.variables, *(name for name, _ in bindings)])
        for term in dict.fromkeys(term for _, term in bindings):
            found = canonical(term)
            if found != term and not term.startswith("_:"):
                changed[term] = found
    except InvalidStream as error:
        raise error.at(place) from None
    if not changed:
        return relation

    rows: Counter[Row] = Counter()
    for line, count in relation.rows.items():
        rows[tuple((name, changed.get(term, term)) for name, term in line)] += count
    return replace(relation, rows=rows)


def _refuse_marked_variables(names: Iterable[str]) -> None:
    """Raise InvalidStream for the first variable that is written with its ? or $."""
    for name in dict.fromkeys(names):
        if name.startswith(("?", "$")):
            reason = f"a variable is given without its mark: {name[1:]!r}, not {name!r}"
            raise InvalidStream(reason, rule="IO-2")


@lru_cache(maxsize=4)  # the same data is given for every evaluation of a search
def _canonical_dataset(static: Dataset) -> Dataset:
    try:
        found = frozenset(_canonical_statement(statement) for statement in _in_order(static))
    except InvalidStream as error:
        raise error.at("static data") from None
    if found == static:
        return static
    return found


def _canonical_triple(statement: object) -> Triple:
    if not isinstance(statement, tuple) or len(statement) != 3:
        raise InvalidStream(
            f"a triple must be three terms, got {display(statement)}; "
            "write ('<urn:s>', '<urn:p>', '<urn:o>')",
            rule="MOD-4",
        )
    return triple_of(*_canonical_terms(statement))


def _canonical_statement(statement: object) -> Triple | Quad:
    if not isinstance(statement, tuple) or len(statement) != 4:
        return _canonical_triple(statement)
    subject, predicate, object_, graph = _canonical_terms(statement)
    return (*triple_of(subject, predicate, object_), graph_name(graph))


def _canonical_terms(statement: tuple[Any, ...]) -> tuple[Term, ...]:
    try:
        return tuple(map(canonical, statement))
    except TypeError:  # unhashable
        raise InvalidStream(
            f"a term must be text, got {display(statement)}", rule="MOD-4"
        ) from None
