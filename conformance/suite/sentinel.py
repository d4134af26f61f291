"""Sentinels: elements that come after the stream of a case, so that time goes on for an engine that
has no end of a stream.

Such an engine never reports its last windows, and so a case shows nothing where time does not go
on. A sentinel is an ordinary element: the engine is judged over the stream with the sentinels, by
the same definition. So nothing has to be taken away from what it reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from refengine.core.query import Query, Window, WindowKind
from refengine.core.question import Question
from refengine.core.window import longest_stay
from refengine.model.elements import TIME_BOUND, Element, Stream, valid
from refengine.model.terms import Term

TERM = Term("<urn:refengine:sentinel>")
GRAPH = frozenset({(TERM, TERM, TERM)})
TIME_BASED = frozenset({WindowKind.TIME, WindowKind.RANGE})
# There are at most so many sentinels on each stream.
MOST = 64


def with_sentinels(question: Question) -> Question:
    """Return a question whose streams end with sentinels.

    They come a slide apart, the least of the windows' slides, until the last element of the case is
    in no window any more. So at most one of a window's instances closes between two of them,
    whatever t0 is, and an engine that reports only the latest of several closed ones reports each.
    With RANGE 10, SLIDE 5 and a last element at 12 they are at 17, 22 and 27. Where this would be
    more than 64 (`MOST`) on a stream, they come further apart.

    A question is returned as it is if it has no windows over time or no elements, if it has a
    partition, whose key a sentinel may lack, or if sentinels would come after the last instant that
    there is.
    """
    windows = [window for window in question.query.windows if window.kind in TIME_BASED]
    elements = [element for stream in question.streams.values() for element in stream]
    if not windows or not elements or _has_partition(question.query):
        return question

    last = max(valid(element)[1] for element in elements)
    instants = list(sentinel_instants(windows, last))
    if instants[-1] + max(map(longest_stay, windows)) >= TIME_BOUND:  # there is no later time
        return question
    streams = {}
    for name, stream in question.streams.items():
        # of a stream without elements the sentinels are the only ones
        is_batched = _has_batches(stream or elements)
        sentinels = _sentinels(stream, instants, is_batched)
        streams[name] = Stream((*stream, *sentinels), stream.ordered)
    return replace(question, streams=streams)


def _has_partition(query: Query) -> bool:
    """Return whether a window of a query has a partition."""
    return any(window.kind is WindowKind.PARTITION for window in query.windows)


def is_sentinel(element: Mapping[str, Any]) -> bool:
    """Whether an element of a result's evidence is one of the suite's own."""
    return TERM in element["graph"]


def sentinel_instants(windows: Iterable[Window], last: int) -> Iterator[int]:
    """Yield the instants of the sentinels after a last element at `last`.

    >>> window = Window("s", WindowKind.TIME, size=10, slide=5)
    >>> list(sentinel_instants([window], 12))
    [17, 22, 27]
    """
    windows = list(windows)
    reach = max(map(longest_stay, windows)) + 1
    step = min(window.step for window in windows)
    step = max(step, -(-reach // MOST))
    yield from range(last + step, last + reach + step, step)


def _has_batches(elements: Iterable[Element]) -> bool:
    """Return whether any of some elements has a batch id."""
    return any(element.batch is not None for element in elements)


def _sentinels(stream: Stream, instants: Iterable[int], is_batched: bool) -> Iterator[Element]:
    """Yield the sentinels of a stream: the elements at these instants. If the stream `is_batched`,
    each is in a batch of its own.
    """
    batch = None
    if is_batched:
        batch = max((element.batch or 0 for element in stream), default=0)
    sys = max((element.sys for element in stream), default=0)
    for instant in instants:
        sys += 1
        if batch is not None:
            batch += 1
        yield Element(GRAPH, instant, sys, batch)
