"""Looking for the smallest case that fails as a case does: fewer elements and triples, a plainer
query, smaller sizes and times, as long as the engine fails alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from conformance.campaigns.asking import CaseVerdict, LiveEngine
from conformance.campaigns.drawing import PLAIN_BODIES
from conformance.campaigns.drawn_case import DrawnCase, numbered_graph, plainest_fields
from conformance.verdict import window_elements
from conformance.verdict.results import Outcome
from refengine.core.query import Body, Unit, Window, WindowKind
from refengine.core.question import Question
from refengine.core.semantics import FIELDS
from refengine.model.elements import Element
from refengine.model.errors import RefengineError

ASKED = 300  # how often an engine is asked at most for one case that is made small
ASKED_OF_HANG = 16  # the same where each answer is waited for until a limit of time
PLAIN_TRIPLE = ("<urn:a>", "<urn:p>", "<urn:b>")
Named = tuple[str, Element]


def shrink_fail(
    live: LiveEngine, failed: CaseVerdict, *, most: int = ASKED, is_settled: bool = False
) -> CaseVerdict | None:
    """Return the verdict on the smallest case that was found to fail as a case did, by asking the
    engine so many times at `most`; None if the witnesses do not confirm that it fails. If it
    `is_settled`, what the harness does after its last reply is waited for each time.
    """
    if failed.is_hang:
        most = min(most, ASKED_OF_HANG)
    last = live.asked + most
    if not _is_confirmed(live, failed):
        return None
    small = _shrink(live, failed, last, is_settled)
    return small if _is_confirmed(live, small) else failed


def _is_confirmed(live: LiveEngine, failed: CaseVerdict) -> bool:
    """Whether a fail stands when witnesses are asked. An error needs none, nor do contents."""
    if failed.outcome is Outcome.ERROR or failed.case.is_of_windows:
        return True
    return live.ask(failed.case, is_confirmed=True).shows(failed)


def _shrink(live: LiveEngine, failed: CaseVerdict, last: int, is_settled: bool) -> CaseVerdict:
    """Return the verdict on a smaller case, until the engine was asked for the last time."""
    tried: set[tuple[object, ...]] = set()
    while True:
        for smaller in _candidates(failed.case, tried):
            if live.asked >= last:
                return failed
            verdict = live.ask(smaller, is_settled=is_settled)
            if verdict.shows(failed):
                failed = verdict
                break
        else:
            return failed


def _candidates(case: DrawnCase, tried: set[tuple[object, ...]]) -> Iterator[DrawnCase]:
    """Yield the smaller cases that were not tried before."""
    size = case.size
    for smaller in smaller_cases(case):
        key = _key(smaller)
        if smaller.size < size and key not in tried:
            tried.add(key)
            yield smaller


def _key(case: DrawnCase) -> tuple[object, ...]:
    """Return what tells a case from all others."""
    return (case.query, case.semantics, tuple(case.elements), case.question.static)


def smaller_cases(case: DrawnCase) -> Iterator[DrawnCase]:
    """Yield cases that are smaller than a case in one way, the greatest steps first. What has no
    meaning is left out.
    """
    makers: tuple[Callable[[DrawnCase], Iterator[DrawnCase]], ...] = (
        _with_fewer_elements,
        _with_plainer_query,
        _with_plainer_graphs,
        _with_plainer_semantics,
        _with_smaller_windows,
        _with_smaller_times,
        _with_fewer_keys,
    )
    for make in makers:
        candidates = make(case)
        while True:
            try:
                smaller = next(candidates, None)
            except RefengineError:
                break
            if smaller is None:
                break
            yield smaller


def _with_fewer_elements(case: DrawnCase) -> Iterator[DrawnCase]:
    """Yield the case without half of its elements, and without one."""
    elements = case.elements
    half = len(elements) // 2
    if half > 1:
        yield case.with_elements(elements[:half])
        yield case.with_elements(elements[half:])
    for number in reversed(range(len(elements))):
        yield case.with_elements(elements[:number] + elements[number + 1 :])


def _with_plainer_query(case: DrawnCase) -> Iterator[DrawnCase]:
    """Yield the case with fewer windows, with plainer ones, and with a plainer body."""
    query = case.query
    if len(query.windows) > 1:
        for window in query.windows:
            yield case.with_query(replace(query, windows=(window,)))
    if case.question.static:
        yield replace(case, question=Question(query, case.question.streams))
    if query.r2s is not None:
        yield case.with_query(replace(query, r2s=None))
    for number, window in enumerate(query.windows):
        for plainer in _plainer_windows(window):
            windows = (*query.windows[:number], plainer, *query.windows[number + 1 :])
            yield case.with_query(replace(query, windows=windows))
    if not case.is_of_windows:
        for text in PLAIN_BODIES:
            yield case.with_query(replace(query, body=Body(text)))


def _plainer_windows(window: Window) -> Iterator[Window]:
    """Yield a window without each of its marks."""
    if window.lag:
        yield replace(window, lag=0)
    if window.is_keyed:
        yield replace(window, by=())
    if window.unit is Unit.TRIPLES:
        yield replace(window, unit=Unit.ELEMENTS)
    if window.slide not in (None, window.size) and window.kind is not WindowKind.PARTITION:
        yield replace(window, slide=window.size)
        yield replace(window, size=window.slide)


def _with_plainer_graphs(case: DrawnCase) -> Iterator[DrawnCase]:
    """Yield the case with fewer triples in an element, with a plain triple, and with an element
    that lasts an instant.
    """
    elements = case.elements
    for number, (name, element) in enumerate(elements):
        plainer: list[Element] = []
        if element.end is not None:
            plainer.append(element._replace(end=None))
        if not case.is_of_windows:
            graphs = [frozenset({triple}) for triple in sorted(element.graph)]
            graphs = graphs if len(graphs) > 1 else []
            if element.graph != frozenset({PLAIN_TRIPLE}) and len(element.graph) > 1:
                graphs.append(frozenset({PLAIN_TRIPLE}))
            plainer += [element._replace(graph=graph) for graph in graphs]
        for one in plainer:
            yield case.with_elements(_replaced(elements, number, (name, one)))


def _with_plainer_semantics(case: DrawnCase) -> Iterator[DrawnCase]:
    """Yield the case with the plainest value of each field of the semantics that is sent."""
    if case.semantics is None:
        return
    plain = plainest_fields()
    for name in FIELDS:
        if getattr(case.semantics, name) == plain[name]:
            continue
        try:
            yield replace(case, semantics=replace(case.semantics, **{name: plain[name]}))
        except RefengineError:
            continue  # the field has a meaning only with others


def _with_smaller_windows(case: DrawnCase) -> Iterator[DrawnCase]:
    """Yield the case with smaller sizes and slides: with elements as near to the borders as they
    were, and with elements where they are.
    """
    query = case.query
    first = query.windows[0]
    if first.slide is not None and first.slide > 1 and first.kind is not WindowKind.TUPLE:
        for slide in _lesser(first.slide):
            scaled = _scaled(case, first.slide, slide)
            if scaled is not None:
                yield scaled
    for number, window in enumerate(query.windows):
        for smaller in _smaller_windows(window):
            windows = (*query.windows[:number], smaller, *query.windows[number + 1 :])
            yield case.with_query(replace(query, windows=windows))


def _smaller_windows(window: Window) -> Iterator[Window]:
    """Yield windows with a smaller size, with a smaller slide, and with both where they are one."""
    for size in _lesser(window.size):
        if window.slide == window.size:
            yield replace(window, size=size, slide=size)
        yield replace(window, size=size)
    for slide in _lesser(window.slide):
        yield replace(window, slide=slide)
    for lag in _lesser(window.lag or None):
        yield replace(window, lag=lag)


def _scaled(case: DrawnCase, slide: int, smaller: int) -> DrawnCase | None:
    """Return a case whose slide is smaller, and in which sizes and times are as far from the
    multiples of it as before, or as far as they can be; None if a window has another slide.
    """

    def scale(length: int) -> int:
        return length // slide * smaller + min(length % slide, smaller - 1)

    windows = []
    for window in case.query.windows:
        if window.slide != slide or window.size is None:
            return None
        size = max(1, scale(window.size))
        windows.append(replace(window, size=size, slide=smaller, lag=scale(window.lag)))
    elements = [
        (name, one._replace(app=scale(one.app), end=one.end and scale(one.end)))
        for name, one in case.elements
    ]
    return case.with_query(replace(case.query, windows=tuple(windows))).with_elements(elements)


def _with_smaller_times(case: DrawnCase) -> Iterator[DrawnCase]:
    """Yield the case with all elements earlier, with those from one on earlier, and with one
    element nearer to the one before it.
    """
    elements = case.elements
    if not elements:
        return
    first = min(one.app for _, one in elements)
    for less in _nearer(first):
        yield case.with_elements(_moved(elements, less - first, 0))
    before = first
    for number, (_, element) in enumerate(elements):
        gap = element.app - before
        for less in _nearer(gap):
            yield case.with_elements(_moved(elements, less - gap, number))
            yield case.with_elements(
                _replaced(elements, number, _moved([elements[number]], less - gap, 0)[0])
            )
        before = element.app


def _with_fewer_keys(case: DrawnCase) -> Iterator[DrawnCase]:
    """Yield the case in which one element of the suite `windows` has a smaller key."""
    if not case.is_of_windows:
        return
    elements = case.elements
    for number, (name, element) in enumerate(elements):
        found = window_elements.number_and_key(element)
        if found is not None and found[1] > "a":
            graph = numbered_graph(found[0], "a")
            yield case.with_elements(
                _replaced(elements, number, (name, element._replace(graph=graph)))
            )


def _replaced(elements: list[Named], number: int, other: Named) -> list[Named]:
    """Return elements with another one in the place of one."""
    return [*elements[:number], other, *elements[number + 1 :]]


def _moved(elements: Iterable[Named], by: int, start: int) -> list[Named]:
    """Return elements of which those from a place on are moved in time."""
    return [
        (name, one._replace(app=one.app + by, end=None if one.end is None else one.end + by))
        if number >= start
        else (name, one)
        for number, (name, one) in enumerate(elements)
    ]


def _lesser(number: int | None) -> Iterator[int]:
    """Yield smaller positive numbers, the smallest first."""
    if number is None:
        return
    yield from sorted({one for one in (1, 2, 3, number // 2, number - 1) if 0 < one < number})


def _nearer(number: int) -> Iterator[int]:
    """Yield numbers nearer to 0, the nearest first."""
    sign = 1 if number > 0 else -1
    size = abs(number)
    steps = sorted({one for one in (0, 1, 2, size // 2, size - 1) if one < size})
    yield from (sign * one for one in steps)
