"""A ready check for somebody's own window operator: whether it reports the windows that the
reference reports, with the same contents, borders and moments, in the same order.

>>> from refengine import from_table, profile
>>> from refengine.testing import check_windows
>>> def mine(elements):  # [0, 10), [10, 20), …; each is given once an element at its end has come
...     opens, held = 0, []
...     for time, item in elements:
...         if held and time >= opens + 10:
...             yield opens, opens + 10, held
...             held = []
...         if time >= 0:
...             opens = time // 10 * 10
...             held.append(item)
...     if held:
...         yield opens, opens + 10, held
>>> tumbling = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
>>> query = from_table({"windows": [tumbling], "body": "ASK {}"})
>>> check_windows(mine, query, profile("csparql").but(t0=0).semantics())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple, SupportsIndex

from refengine.core.arrivals import Arrivals
from refengine.core.plan import plan_without_elements
from refengine.core.query import Query
from refengine.core.schedule import Schedule
from refengine.core.semantics import Semantics
from refengine.core.window import borders_of_window
from refengine.model.elements import Element, Stream
from refengine.model.errors import InvalidQuery, InvalidSemantics, RefengineError
from refengine.model.held import as_integer
from refengine.model.messages import display, plain
from refengine.strategies import inputs

__all__ = ["WindowReport", "WrongWindows", "check_windows"]

DRAWS = 200
MOST_LINES = 40  # of windows in a message
LETTERS = "abcdefghijklmnopqrstuvwxyz"
FORMS = "write (opens, closes, items), or (opens, closes, items, time of the report)"


class WindowReport(NamedTuple):
    """A window as it is reported: its borders, what it holds, and the moment.

    `opens` and `closes` are None for a window without borders. The moment is the element that makes
    the operator report the window: its time where the operator states that, otherwise its place in
    the stream, from 1. It is None at the end of the stream.
    """

    opens: int | None
    closes: int | None
    items: Sequence[Any]
    moment: int | None

    def parts(self) -> dict[str, object]:
        """Return the parts that are compared, by their names in a message."""
        return {
            "borders": (self.opens, self.closes),
            "contents": _Unordered(self.items),
            "moment": self.moment,
        }


class _Unordered:
    """Items in no order, which are compared one by one, since they may be values of any type."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Unordered):
            return NotImplemented
        return not without(self.items, other.items) and not without(other.items, self.items)


def without(some: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """Return the values of a bag that are not in another, each as often as it is there more."""
    left = list(others)
    kept = []
    for value in some:
        if value in left:
            left.remove(value)
        else:
            kept.append(value)
    return kept


class WrongWindows(AssertionError):
    """An operator reports other windows than the reference.

    `elements` are the (time, item) of the smallest stream that was found on which it does.
    `expected` and `answered` are the windows of the reference and of the operator, as they were
    reported. `is_moment_stated` says whether the operator states the moments itself.
    """

    def __init__(
        self,
        elements: Sequence[tuple[int, Any]],
        expected: Sequence[WindowReport],
        answered: Sequence[WindowReport],
        is_moment_stated: bool,
    ) -> None:
        super().__init__(elements, expected, answered, is_moment_stated)
        self.elements = elements
        self.expected = expected
        self.answered = answered
        self.is_moment_stated = is_moment_stated

    def __str__(self) -> str:
        shown = ", ".join(f"({time}, {item})" for time, item in self.elements)
        beside = [
            (self._show(right), self._show(answer), right == answer)
            for right, answer in zip_longest(self._parts(self.expected), self._parts(self.answered))
        ]
        width = max([len("expected"), *(len(right) for right, _, _ in beside)])
        lines = [
            f"the windows are not those of the reference: {self.what_differs()}",
            f"on the stream {plain(shown) or 'without elements'}:",
            f"    {'expected':{width}}  answered",
            *(
                f"  {' ' if is_same else '!'} {right:{width}}  {answer}"
                for right, answer, is_same in beside[:MOST_LINES]
            ),
        ]
        if len(beside) > MOST_LINES:
            lines.append(f"    and {len(beside) - MOST_LINES} more")
        return "\n".join(lines)

    @staticmethod
    def _parts(windows: Iterable[WindowReport]) -> list[dict[str, object]]:
        return [window.parts() for window in windows]

    def _show(self, parts: dict[str, Any] | None) -> str:
        """Return a window on one line: `0 to 10 {a, b} at 12`."""
        if parts is None:
            return "no window"
        (opens, closes), moment = parts["borders"], parts["moment"]
        borders = "" if opens is None and closes is None else f"{opens} to {closes} "
        word = "at" if self.is_moment_stated else "at element"
        when = "at the end" if moment is None else f"{word} {moment}"
        return plain(f"{borders}{{{', '.join(map(str, parts['contents'].items))}}} {when}")

    def what_differs(self) -> str:
        """Return what is wrong with the first window that is, in words."""
        expected, answered = self._parts(self.expected), self._parts(self.answered)
        missing, extra = without(expected, answered), without(answered, expected)
        if missing and extra:
            names = [name for name, part in missing[0].items() if part != extra[0][name]]
            return f"{' and '.join(names)} of a window"
        if missing:
            return "a window is missing"
        return "a window is not due" if extra else "the order of the windows"


def check_windows(
    mine: Callable[[list[tuple[int, Any]]], Iterable[Any]],
    query: Query,
    semantics: Semantics,
    *,
    make_item: Callable[[Element], Any] | None = None,
    draws: int = DRAWS,
) -> None:
    """Check that a window operator reports what the reference reports, on streams that Hypothesis
    draws around the borders of windows. Raises WrongWindows for the smallest stream that was found
    on which it does not.

    `mine` takes a list of (time, item) in the order of arrival, and gives the windows in the order
    in which they are reported. Each is (opens, closes, items), where `opens` and `closes` are None
    if windows have no borders; the order of the items does not matter. A window is yielded as soon
    as `for` has given the element that makes the operator report it. This moment is compared
    (ENG-8).
    A function that reads the whole list first states it: (opens, closes, items, time) has the time
    of that element, or None if the window is reported at the end of the stream.

    `query` has one window, and `semantics` says which windows are reported when. Items are letters;
    elements with the same graph have the same letter. `make_item` makes other items of elements.
    `draws` is the number of streams.

    Raises RefengineError for what cannot be checked.
    """
    # imported here, after the strategies, which say what brings it where it is not there
    from hypothesis import Phase, given, settings

    check_arguments(mine, query, semantics, make_item, draws)
    phases = [phase for phase in settings().phases if phase is not Phase.explain]

    @settings(deadline=None, max_examples=draws, phases=phases, report_multiple_bugs=False)
    @given(inputs(query, semantics))
    def agree(streams: dict[str, Stream]) -> None:
        (stream,) = streams.values()
        compare_windows(mine, query, semantics, stream, make_item)

    try:
        agree()
    except WrongWindows as error:  # made anew, without the notes of Hypothesis
        raise WrongWindows(*error.args) from None


def check_arguments(
    mine: object, query: Query, semantics: Semantics, make_item: object, draws: object
) -> None:
    """Refuse what cannot be checked. Raises RefengineError."""
    if make_item is not None and not callable(make_item):
        reason = f"must be a function of an Element, got {display(make_item)}"
        raise RefengineError(reason, rule="ENG-8", place="make_item")
    if not callable(mine):
        reason = f"must be a function of a list of (time, item), got {display(mine)}"
        raise RefengineError(f"{reason}; it gives windows: {FORMS}", rule="ENG-8", place="mine")
    if type(draws) is not int or draws < 1:
        reason = f"must be an integer > 0, got {display(draws)}; write draws={DRAWS}"
        raise RefengineError(reason, rule="ENG-8", place="draws")
    names = [window.stream for window in query.windows] if isinstance(query, Query) else []
    plan_without_elements(query, dict.fromkeys(names), semantics)  # refuses what means nothing
    if len(names) > 1:
        reason = f"one window is checked at a time, got {len(names)}; write a query for each"
        raise InvalidQuery(reason, rule="QRY-5", place="windows")
    if semantics.tick.needs_batches:
        reason = "a list of (time, item) has no batch ids; write tick=tuple or tick=time"
        raise InvalidSemantics(reason, rule="TICK-3", place="tick")


def compare_windows(
    mine: Callable[[list[tuple[int, Any]]], Iterable[Any]],
    query: Query,
    semantics: Semantics,
    stream: Stream,
    make_item: Callable[[Element], Any] | None = None,
) -> None:
    """Compare what an operator reports of one stream with what the reference reports. Raises
    WrongWindows if they differ. The arguments are those of `check_windows`.
    """
    items = make_letters(stream) if make_item is None else list(map(make_item, stream))
    elements = [(element.app, item) for element, item in zip(stream, items, strict=True)]
    answered, is_moment_stated = read_windows(mine, elements)
    expected = list(expected_windows(query, semantics, stream, items, is_moment_stated))
    try:
        are_same = [each.parts() for each in expected] == [each.parts() for each in answered]
    except (TypeError, ValueError) as error:  # as arrays of numpy raise it
        reason = f"items cannot be compared: {error}; write make_item, which makes others"
        raise RefengineError(reason, rule="ENG-8", place="mine") from None
    if not are_same:
        raise WrongWindows(elements, expected, answered, is_moment_stated)


class ReadElements(list[tuple[int, Any]]):
    """A list that knows how many of its elements were read: `place` is that of the last one, and
    None once the end was read. `is_end_unknown` says that elements were taken by their index or
    removed, so that nothing tells when the end was read.
    """

    place: int | None = 0
    is_end_unknown = False

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        for number, element in enumerate(super().__iter__(), 1):
            self._read(number)
            yield element
        self.place = None

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        found = super().__getitem__(index)
        places = range(len(self))[index]
        last = places if isinstance(places, int) else max(places, default=-1)
        self._read(1 + last)
        self.is_end_unknown |= last == len(self) - 1
        return found

    def __delitem__(self, index: SupportsIndex | slice) -> None:
        self.is_end_unknown = True
        super().__delitem__(index)

    def pop(self, index: SupportsIndex = -1) -> tuple[int, Any]:
        """Remove an element, and return it."""
        self.is_end_unknown = True
        return super().pop(index)

    def copy(self) -> list[tuple[int, Any]]:
        """Return the elements, all of which count as read."""
        return list(self[:])

    def __reversed__(self) -> Iterator[tuple[int, Any]]:
        yield from reversed(self[:])

    def __add__(self, other: Any) -> Any:
        return self[:] + other

    def _read(self, number: int) -> None:
        if self.place is not None:
            self.place = max(self.place, number)


def read_windows(
    mine: Callable[[list[tuple[int, Any]]], Iterable[Any]], elements: Iterable[tuple[int, Any]]
) -> tuple[list[WindowReport], bool]:
    """Return the windows that an operator gives, and whether it states their moments. Raises
    RefengineError for what are no windows.
    """
    read = ReadElements(elements)
    windows = mine(read)
    if isinstance(windows, str) or not isinstance(windows, Iterable):
        reason = f"must give windows, got {display(windows)}; yield them: {FORMS}"
        raise RefengineError(reason, rule="ENG-8", place="mine")
    found: list[WindowReport] = []
    lengths = set()
    for number, window in enumerate(windows, 1):
        is_window = isinstance(window, tuple | list) and len(window) in (3, 4)
        if not is_window or isinstance(window[2], str) or not isinstance(window[2], Iterable):
            reason = f"must be a window with a list of items, got {display(window)}; {FORMS}"
            raise RefengineError(reason, rule="ENG-8", place=f"mine: window {number}")
        opens, closes, items, *stated = window
        lengths.add(len(window))
        if len(lengths) > 1:
            reason = "some windows state their moment and others do not; write it for all or none"
            raise RefengineError(reason, rule="ENG-8", place=f"mine: window {number}")
        moment = stated[0] if stated else read.place
        times = {"opens": opens, "closes": closes, "time": moment}
        opens, closes, moment = (as_time(value, name, number) for name, value in times.items())
        found.append(WindowReport(opens, closes, [*items], moment))
    if lengths == {3} and read.is_end_unknown and read.place is not None:
        reason = "takes the elements by index or copies them, so that nothing says what it has read"
        advice = "write `for time, item in elements`, or state the time as a fourth value"
        raise RefengineError(f"{reason}; {advice}", rule="ENG-8", place="mine")
    return found, lengths == {4}


def as_time(value: object, name: str, number: int) -> Any:
    """Return a border or a moment of a window as the reference has it. Raises RefengineError for
    what is no time.
    """
    place = f"mine: window {number}"
    value = as_integer(value, name, RefengineError, rule="ENG-8", place=place)
    if value is None or isinstance(value, int | float):
        return value
    reason = f"{name} must be an integer or None, got {display(value)}"
    raise RefengineError(reason, rule="ENG-8", place=place)


def expected_windows(
    query: Query,
    semantics: Semantics,
    stream: Stream,
    items: Sequence[Any],
    is_moment_stated: bool = False,
) -> Iterator[WindowReport]:
    """Yield the windows that the reference reports, as the elements of a stream come one after the
    other (ENG-8). `items` has what stands for each element.
    """
    name = query.windows[0].stream
    arrivals = Arrivals(query, [name], semantics)
    schedule = Schedule(arrivals.plan)
    item_of = {element.sys: item for element, item in zip(stream, items, strict=True)}
    pushes: list[Callable[[], range]] = [partial(arrivals.push, name, e) for e in stream]
    for place, push in enumerate([*pushes, arrivals.finish], 1):
        joined = push()
        schedule.planned = planned = arrivals.plan
        (view,) = planned.views
        for index in joined:
            arrival = planned.arrivals[index]
            moment: int | None = arrival.app if is_moment_stated else place
            # The last arrivals are of the end, but for elements that were held back (MOD-2): an
            # operator that states times gives the times of these.
            if place > len(stream) and (not is_moment_stated or arrival.sys not in item_of):
                moment = None
            for group in schedule.arrive(index):
                for at in group:
                    opens, closes = borders_of_window(view, at.windows[0].n) or (None, None)
                    held = [item_of[view.elements[i].sys] for i in at.content]
                    yield WindowReport(opens, closes, held, moment)


def make_letters(stream: Stream) -> list[str]:
    """Return a letter for each element of a stream. Elements with the same graph have the same."""
    number_of: dict[object, int] = {}
    numbers = [number_of.setdefault(element.graph, len(number_of)) for element in stream]
    turns = [divmod(number, len(LETTERS)) for number in numbers]
    return [LETTERS[letter] + (str(turn) if turn else "") for turn, letter in turns]
