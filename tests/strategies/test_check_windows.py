"""`refengine.testing.check_windows` accepts right operators, and finds each thing that a window
operator can get wrong within the 200 streams that it draws by default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from refengine import RefengineError, from_table, profile, stream
from refengine.testing import WindowReport, WrongWindows, check_windows, compare_windows

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = {"stream": "s", "kind": "rows", "size": 2}
SLIDING, HOPPING, TUMBLING, ROWS = (
    from_table({"windows": [window], "body": "ASK {}"})
    for window in (
        *(
            {"stream": "s", "kind": "time", "size": a, "slide": b}
            for a, b in ((10, 5), (5, 10), (10, 10))
        ),
        LATEST,
    )
)
CSPARQL = profile("csparql").but(t0=0)
FLUSHED = CSPARQL.semantics()
UNFLUSHED = CSPARQL.but(horizon="none").semantics()
WITH_EMPTY = CSPARQL.but(horizon="none", report="window-close").semantics()
LATENESS = CSPARQL.but(allowed_lateness=3).semantics()


@dataclass(frozen=True)
class Operator:
    """An operator over windows [0, size), [slide, slide + size), …, with a place for each mistake.

    A window is reported when the first element at its end or later comes, and at the end of the
    stream, if it holds an element.
    """

    size: int = 10
    slide: int = 5
    opens_after: int = 0  # 1: an element where a window opens is not in it
    closes_after: int = 0  # 1: an element where a window closes is in it
    shift: int = 0  # of the borders that are said
    late: int = 0  # by how much the element must pass the end of a window
    is_one_element_late: bool = False
    is_all_at_the_end: bool = False
    is_flushed: bool = True
    is_newest_first: bool = False
    is_set: bool = False
    loses_last: bool = False
    reports_empty: bool = False
    t0: int | None = 0  # None: windows open with the first element
    has_earlier_windows: bool = False
    skips_first: bool = False
    lateness: int | None = None

    def __call__(self, elements: list[tuple[int, Any]]) -> Iterator[tuple[int, int, list[Any]]]:
        if self.is_all_at_the_end:
            elements = list(elements)
        t0 = self.t0
        held: dict[int, list[tuple[int, Any]]] = {}
        next_to_close: int | None = None
        due: list[tuple[int, int, list[Any]]] = []
        for time, item in self.arrived(elements):
            if t0 is None:
                t0 = time
            if next_to_close is None:
                next_to_close = t0
            if self.is_one_element_late:
                yield from due
                due = []
            closed = []
            if self.reports_empty:
                while next_to_close + self.size + self.late <= time:
                    closed.append(next_to_close)
                    next_to_close += self.slide
            else:
                closed = [opens for opens in held if opens + self.size + self.late <= time]
            due += self.reported(held, closed)
            if not self.is_one_element_late:
                yield from due
                due = []
            n = (time - t0 - self.size) // self.slide
            while t0 + n * self.slide <= time:
                opens = t0 + n * self.slide
                n += 1
                is_there = opens >= t0 or self.has_earlier_windows
                is_in = opens + self.opens_after <= time < opens + self.size + self.closes_after
                if is_there and is_in and not (self.skips_first and opens == t0):
                    held.setdefault(opens, []).append((time, item))
        yield from due
        if self.is_flushed:
            yield from self.reported(held, list(held))

    def reported(
        self, held: dict[int, list[tuple[int, Any]]], closed: Iterable[int]
    ) -> Iterator[tuple[int, int, list[Any]]]:
        for opens in sorted(closed, reverse=self.is_newest_first):
            elements = held.pop(opens, [])
            if self.is_set:
                elements = sorted(set(elements))
            if self.loses_last:
                elements = elements[:-1]
            yield opens + self.shift, opens + self.size + self.shift, [item for _, item in elements]

    def arrived(self, elements: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """Yield the elements in the order of time, each once none can come before it; those that
        are late by more than the lateness are dropped.
        """
        if self.lateness is None:
            yield from elements
            return
        newest: int | None = None
        waiting: list[tuple[int, Any]] = []
        for time, item in elements:
            if newest is not None and time < newest - self.lateness:
                continue
            newest = time if newest is None else max(newest, time)
            waiting.append((time, item))
            waiting.sort(key=lambda element: element[0])
            while waiting and waiting[0][0] <= newest - self.lateness:
                yield waiting.pop(0)
        yield from waiting


RIGHT = Operator()
RIGHT_ONES = [
    (RIGHT, SLIDING, FLUSHED),
    (replace(RIGHT, is_flushed=False), SLIDING, UNFLUSHED),
    (replace(RIGHT, size=5, slide=10), HOPPING, FLUSHED),
    (replace(RIGHT, slide=10), TUMBLING, FLUSHED),
    (replace(RIGHT, is_flushed=False, reports_empty=True), SLIDING, WITH_EMPTY),
    (replace(RIGHT, lateness=3), SLIDING, LATENESS),
    (replace(RIGHT, t0=None), SLIDING, CSPARQL.but(t0="first-element").semantics()),
]


@pytest.mark.parametrize(("mine", "query", "semantics"), RIGHT_ONES, ids=range(len(RIGHT_ONES)))
def test_a_right_operator_passes(mine, query, semantics):
    check_windows(mine, query, semantics)


# what is planted, in which operator; and the words of the message, which says what differs
FLAWS: dict[str, tuple[dict[str, Any], str]] = {
    "border at the start": ({"opens_after": 1}, "a window|contents"),
    "border at the end": ({"closes_after": 1}, "a window|contents"),
    "borders that are said": ({"shift": 1}, "borders of a window"),
    "one instant late": ({"late": 1}, "moment of a window"),
    "one instant early": ({"late": -1}, "moment|contents|a window"),
    "one element late": ({"is_one_element_late": True}, "moment of a window"),
    "all at the end": ({"is_all_at_the_end": True}, "moment of a window"),
    "order of windows": ({"is_newest_first": True}, "the order"),
    "duplicates lost": ({"is_set": True}, "contents of a window"),
    "the last element lost": ({"loses_last": True}, "contents"),
    "no window at the end": ({"is_flushed": False}, "is missing"),
    "windows from the first element on": ({"t0": None}, "borders"),
    "windows before t0": ({"has_earlier_windows": True}, "a window is not due"),
    "the first window lost": ({"skips_first": True}, "is missing"),
    "slide ignored": ({"slide": 10}, "a window is missing|borders"),
    "size ignored": ({"size": 5}, "borders|a window"),
}
FROM_FIRST = CSPARQL.but(t0="first-element").semantics()
UNFLUSHED_WITH_EMPTY = replace(RIGHT, is_flushed=False, reports_empty=True)
DEFECTS: dict[str, tuple[Operator, Any, Any, str]] = {
    name: (replace(RIGHT, **fields), SLIDING, FLUSHED, words)
    for name, (fields, words) in FLAWS.items()
} | {
    "a window more at the end": (RIGHT, SLIDING, UNFLUSHED, "a window is not due"),
    "empty windows missing": (replace(RIGHT, is_flushed=False), SLIDING, WITH_EMPTY, "is missing"),
    "empty windows extra": (UNFLUSHED_WITH_EMPTY, SLIDING, UNFLUSHED, "a window is not due"),
    "windows from 0 on": (RIGHT, SLIDING, FROM_FIRST, "borders|a window"),
    "gaps between windows filled": (
        replace(RIGHT, slide=10),
        HOPPING,
        FLUSHED,
        "borders|a window",
    ),
    "late elements kept": (replace(RIGHT, lateness=5), SLIDING, LATENESS, ""),
    "elements within the lateness dropped": (replace(RIGHT, lateness=1), SLIDING, LATENESS, ""),
    "arrival order kept": (RIGHT, SLIDING, LATENESS, ""),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_is_found(name: str):
    mine, query, semantics, words = DEFECTS[name]
    with pytest.raises(WrongWindows) as found:
        check_windows(mine, query, semantics)
    error = found.value
    assert re.search(words, str(error).splitlines()[0])
    # streams in another order shrink less well, since an element that is deleted moves the others
    assert len(error.elements) <= 4 or semantics is LATENESS
    assert not getattr(error, "__notes__", [])


def test_the_message_has_both_side_by_side():
    """By hand: 12 closes [0, 10), which holds both elements at 3; one of them is lost. [5, 15) and
    [10, 20) hold the element at 12 and end with the stream.
    """
    given = stream([(("<urn:a>", "<urn:p>", "<urn:b>"), app) for app in (3, 3, 12)])
    with pytest.raises(WrongWindows) as found:
        compare_windows(replace(RIGHT, is_set=True), SLIDING, FLUSHED, given)
    assert str(found.value).splitlines() == [
        "the windows are not those of the reference: contents of a window",
        "on the stream (3, a), (3, a), (12, a):",
        "    expected                     answered",
        "  ! 0 to 10 {a, a} at element 3  0 to 10 {a} at element 3",
        "    5 to 15 {a} at the end       5 to 15 {a} at the end",
        "    10 to 20 {a} at the end      10 to 20 {a} at the end",
    ]
    assert found.value.expected[0] == WindowReport(0, 10, ["a", "a"], 3)


def stated(late: int) -> Callable[[list[tuple[int, Any]]], Iterator[Any]]:
    """A function of the whole list, which states the moment of each window."""

    def mine(elements: list[tuple[int, Any]]) -> Iterator[Any]:
        every = sorted({time // 10 * 10 for time, _ in elements if time >= 0})
        for opens in every:
            after = [time for time, _ in elements if time >= opens + 10 + late]
            items = [item for time, item in elements if opens <= time < opens + 10]
            yield opens, opens + 10, items, min(after, default=None)

    return mine


def test_a_function_of_the_whole_list_states_the_moments():
    check_windows(stated(0), TUMBLING, FLUSHED)
    with pytest.raises(WrongWindows, match="moment of a window"):
        check_windows(stated(1), TUMBLING, FLUSHED)


def by_index(elements: list[tuple[int, Any]]) -> Iterator[Any]:
    return RIGHT([elements[i] for i in range(len(elements))])


def lazily_by_index(elements: list[tuple[int, Any]]) -> Iterator[Any]:
    return RIGHT(elements[i] for i in range(len(elements)))


def by_slices(elements: list[tuple[int, Any]]) -> Iterator[Any]:
    return RIGHT(elements[i : i + 1][0] for i in range(len(elements)))


def by_pop(elements: list[tuple[int, Any]]) -> Iterator[Any]:
    return RIGHT(iter(lambda: elements.pop(0) if elements else None, None))


def by_deletion(elements: list[tuple[int, Any]]) -> Iterator[Any]:
    def taken() -> Iterator[Any]:
        while elements:
            yield next(iter([elements[0]]))
            del elements[0]

    return RIGHT(taken())


def by_copy(elements: list[tuple[int, Any]]) -> Iterator[Any]:
    return RIGHT(elements.copy())


def reversed_twice(elements: list[tuple[int, Any]]) -> Iterator[Any]:
    return RIGHT([*reversed([*reversed(elements)])])


def by_sum(elements: list[tuple[int, Any]]) -> Iterator[Any]:
    return RIGHT(elements + [])  # noqa: RUF005


BY_INDEX = [by_index, lazily_by_index, by_slices, by_pop, by_deletion]
BY_INDEX += [by_copy, reversed_twice, by_sum]


@pytest.mark.parametrize("mine", BY_INDEX)
def test_a_right_operator_that_takes_elements_by_index_is_not_called_wrong(mine):
    """What it reports at the end cannot be told from what it reports with the last element."""
    with pytest.raises(RefengineError, match="mine: ENG-8: takes the elements by index or copies"):
        check_windows(mine, SLIDING, FLUSHED)


def test_the_first_element_may_be_looked_at_before_all_are_read():
    def mine(elements: list[tuple[int, Any]]) -> Iterator[Any]:
        assert elements[:1] == elements[0:1]
        return RIGHT(elements)

    check_windows(mine, SLIDING, FLUSHED)


def test_borders_and_moments_may_be_datetimes():
    def at(time: int | None) -> datetime | None:
        return None if time is None else EPOCH + timedelta(milliseconds=time)

    def mine(elements: list[tuple[int, Any]]) -> Iterator[Any]:
        for opens, closes, items, time in stated(0)(elements):
            yield at(opens), at(closes), items, at(time)

    check_windows(mine, TUMBLING, FLUSHED)


def latest_two(elements: list[tuple[int, Any]]) -> Iterator[Any]:
    """CQELS's window of the latest two elements: what it holds after an element is reported by
    the next one, or at the end.
    """
    held: list[Any] = []
    for _, item in elements:
        if held:
            yield None, None, held[-2:]
        held.append(item)
    if held:
        yield None, None, held[-2:]


def test_windows_without_borders():
    semantics = profile("cqels").but(t0="first-element", closure=None).semantics()
    check_windows(latest_two, ROWS, semantics)


def test_items_can_be_made_of_elements():
    check_windows(stated(0), TUMBLING, FLUSHED, make_item=lambda element: {"at": element.app})


TWO = from_table({"windows": [LATEST] * 2, "body": "ASK {}"})
WITHOUT_BORDERS = profile("cqels").but(t0=0, closure=None).semantics()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: check_windows(None, SLIDING, FLUSHED), "mine: ENG-8: must be a function"),
        (lambda: check_windows(RIGHT, "ASK {}", FLUSHED), "query: QRY-1: must be a Query"),
        (lambda: check_windows(RIGHT, SLIDING, CSPARQL), "write .semantics() after it"),
        (lambda: check_windows(RIGHT, SLIDING, FLUSHED, draws=0), "write draws=200"),
        (lambda: check_windows(lambda _: None, SLIDING, FLUSHED), "mine: ENG-8: must give windows"),
        (lambda: check_windows(lambda _: "ab", SLIDING, FLUSHED), "mine: ENG-8: must give windows"),
        (lambda: check_windows(lambda _: [5], SLIDING, FLUSHED), "mine: window 1: ENG-8: must be"),
        (lambda: check_windows(lambda _: [(0, 5)], SLIDING, FLUSHED), "write (opens, closes, ite"),
        (lambda: check_windows(lambda _: [(0, 5, 3)], SLIDING, FLUSHED), "a list of items"),
        (
            lambda: check_windows(lambda _: [(0, 5, []), (0, 5, [], 3)], SLIDING, FLUSHED),
            "window 2: ENG-8: some windows state their moment",
        ),
        (
            lambda: check_windows(RIGHT, SLIDING, CSPARQL.but(tick="batch").semantics()),
            "tick: TICK-3: a list of (time, item) has no batch ids",
        ),
        (
            lambda: check_windows(RIGHT, TWO, WITHOUT_BORDERS),
            "windows: QRY-5: one window is checked at a time, got 2",
        ),
    ],
)
def test_what_cannot_be_checked_is_one_error(call: Callable[[], object], words: str):
    with pytest.raises(RefengineError, match=re.escape(words)):
        call()
