"""Where a row comes from: the elements of a stream on which it rests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from refengine.core.query import Body
from refengine.model import compare
from refengine.model.elements import Bag, Element, Row, Triple
from refengine.model.errors import Unsupported
from refengine.oracle import derivations
from refengine.oracle.comparison import Divergence
from refengine.oracle.derivations import Derivation
from refengine.oracle.divergence import LACKING
from refengine.oracle.judge import Judgement

# The origin of a row is looked for in streams of at most so many elements,
STREAM_BOUND = 400
# and of the rows that are too many for at most so many.
ROWS_BOUND = 20


class RowOrigin(NamedTuple):
    """The first row that is lacking or too many at the first divergence, and the elements on which
    it rests.
    """

    row: Row
    is_lacking: bool
    elements: tuple[Element, ...]


def find_row_origin(judgement: Judgement) -> RowOrigin | None:
    """Return the origin of the first row that is lacking: elements of the window at the first
    divergence. If no such row has one, return that of the first row that is too many: elements of
    that window, else of all that came so far, else of all. None if there is no such row, or the
    body does not say in one way on which triples a row rests.
    """
    if judgement.trial is None or judgement.trial.divergence is None:
        return None
    where = judgement.trial.divergence
    actual = None if where.reason in LACKING else where.actual
    lacking, surplus = compare.difference(where.expected or Bag(), actual or Bag(), judgement.mode)
    body = judgement.recorded.query.body
    found = find_derivation(body, where.content, lacking)
    if found is not None:
        return RowOrigin(found.row, True, tuple(elements_with(found, where.content)))

    for row in sorted(surplus)[:ROWS_BOUND]:
        for elements in _contents_to_search(judgement, where):
            if found := _find_equal_derivation(body, elements, row, judgement.mode):
                return RowOrigin(row, False, tuple(elements_with(found, elements)))
    return None


def _contents_to_search(judgement: Judgement, where: Divergence) -> Iterator[Sequence[Element]]:
    """Yield the elements among which the origin of a row that is too many is looked for: those of
    the window, those that came so far, and all; only the window's if the streams are long.
    """
    yield where.content
    stream = [element for elements in judgement.recorded.streams.values() for element in elements]
    if len(stream) <= STREAM_BOUND:
        if where.evaluation is not None:
            yield [element for element in stream if element.app <= where.evaluation]
        yield stream


def find_derivation(
    body: Body,
    content: Iterable[Element],
    rows: Iterable[Row],
) -> Derivation | None:
    """Return a derivation over a content of the first of some rows that has one; None if none has,
    or the body does not say it in one way.
    """
    wanted = set(rows)
    if not wanted or derivations.pattern(body) is None:
        return None
    graph = frozenset[Triple]().union(*(element.graph for element in content))
    try:
        found = derivations.derivations(body, graph)
    except Unsupported:
        return None
    return min(
        (each for each in found if each.row in wanted),
        key=lambda each: (each.row, sorted(each.support)),
        default=None,
    )


def elements_with(found: Derivation, content: Sequence[Element]) -> Iterator[Element]:
    """Yield the elements of a content that have a triple on which a derivation rests."""
    return (element for element in content if element.graph & found.support)


def _find_equal_derivation(
    body: Body,
    stream: Iterable[Element],
    row: Row,
    mode: compare.Mode,
) -> Derivation | None:
    """Return a derivation of a recorded row over all elements of a stream. Only bodies are searched
    in which the terms of the row lead to its triples.
    """
    if derivations.pattern(body) is None or not derivations.bindable(body):
        return None
    graph = frozenset[Triple]().union(*(element.graph for element in stream))
    try:
        found = derivations.derivations(body, graph, row)
    except Unsupported:
        return None
    one = Counter([row])
    equal = (each for each in found if compare.equal(one, Counter([each.row]), mode))
    return min(equal, key=lambda each: sorted(each.support), default=None)
