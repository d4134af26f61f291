"""The join: records are pushed, and matches and evictions come out."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Never, assert_never

from refengine.joins.adaptation import HeldRecords, initial_state, next_state
from refengine.joins.records import JoinRecord, Side, Step, Watermark, with_watermarks
from refengine.joins.window import Emission, JoinWindow, LateRecords, Opening, WindowState
from refengine.model.errors import InvalidStream
from refengine.model.messages import display


class Match(NamedTuple):
    """A pair of records of one key that were in one window, and the time of the match in ms
    (ADA-3).
    """

    left: JoinRecord
    right: JoinRecord
    at: int


class Eviction(NamedTuple):
    """The end of a window that held records: its key, the instants in ms at which it opened and
    ended, the records of its two lists in the order of their arrival, and the state of the key
    after it.
    """

    key: str
    opened: int
    end: int
    left: tuple[JoinRecord, ...]
    right: tuple[JoinRecord, ...]
    state: WindowState


def refuse_no_step(value: object) -> Never:
    """ADA-2: Refuse what is neither a record nor a watermark. Raises InvalidStream."""
    reason = (
        f"a JoinRecord or a Watermark must be pushed, got {display(value)}; write "
        'JoinRecord(Side.LEFT, 0, "key", "name")'
    )
    raise InvalidStream(reason, rule="ADA-2")


class PendingEviction(NamedTuple):
    """An open window as the queue of evictions has it: the watermark that evicts it, and its number
    among all windows, by which those of one instant are ordered.
    """

    last_instant: int
    number: int
    window: OpenWindow


@dataclass
class OpenWindow:
    """An open window of a key: from `opened` to `end`, with a list for each of the streams."""

    key: str
    opened: int
    end: int
    lists: dict[Side, list[JoinRecord]] = field(
        default_factory=lambda: {Side.LEFT: [], Side.RIGHT: []}
    )


@dataclass
class KeyState:
    """What is kept of a key between its windows: the state, and where its last window ended, None
    before the first eviction.
    """

    state: WindowState
    last_end: int | None = None


@dataclass
class WindowJoin:
    """A join over windows of one kind, to which records and watermarks are pushed.

    `matching` says whether matches come out; without, only evictions do, which hold all that a
    match needs. `held` is the number of records in all open windows, `dropped` the number of
    records that were added to no window.
    """

    window: JoinWindow
    matching: bool = True
    held: int = 0
    dropped: int = 0
    _keys: dict[str, KeyState] = field(default_factory=dict)
    _open: dict[str, list[OpenWindow]] = field(default_factory=dict)
    _queue: list[PendingEviction] = field(default_factory=list)
    _windows_opened: int = 0
    _watermark: int | None = None
    _stream_time: int | None = None

    def push(self, step: Step) -> list[Match | Eviction]:
        """Return what a record or a watermark brings about, in this order: the matches of a record;
        of a watermark each eviction, its matches first if they are emitted at the close.
        """
        match step:
            case JoinRecord():
                return list(self._arrive(step))
            case Watermark(at):
                if self._has_reached(at):
                    return []
                self._watermark = at
                return list(self._evict_until(at))
            case _:
                refuse_no_step(step)

    def finish(self) -> list[Match | Eviction]:
        """Return what the end of both streams brings about: the eviction of all open windows."""
        return list(self._evict_until(None))

    # A record

    def _arrive(self, record: JoinRecord) -> Iterator[Match]:
        """Add a record to its windows, and yield its matches if they are emitted at once."""
        if self._stream_time is None or record.at > self._stream_time:
            self._stream_time = record.at
        windows = self._windows_of(record)
        if not windows:
            self.dropped += 1
        for open_window in windows:
            if self.matching and self.window.emits is Emission.ARRIVAL:
                for partner in partners_of(record, open_window):
                    yield _match(record, partner, self._stream_time)
            open_window.lists[record.side].append(record)
            self.held += 1

    def _windows_of(self, record: JoinRecord) -> list[OpenWindow]:
        """Return the windows to which a record is added: those that are open already, and those
        that it opens. None if it is dropped.
        """
        key_state = self._keys.setdefault(record.key, KeyState(initial_state(self.window)))
        open_windows = self._open.setdefault(record.key, [])
        if self.window.slide is None:
            if is_dropped(self.window, record.at, self._watermark):
                return []
            if not open_windows:
                opened = self._opening(key_state, record.at)
                self._open_window(record.key, opened, opened + key_state.state.duration)
            return open_windows
        return self._windows_holding(record)

    def _windows_holding(self, record: JoinRecord) -> list[OpenWindow]:
        """Return the windows with a slide that hold the time of a record (ADA-8)."""
        by_opening = {open_window.opened: open_window for open_window in self._open[record.key]}
        found = []
        for opened in sliding_openings(self.window, record.at):
            end = opened + self.window.duration
            if is_dropped(self.window, self.window.last_instant(end), self._watermark):
                continue
            if opened not in by_opening:
                by_opening[opened] = self._open_window(record.key, opened, end)
            found.append(by_opening[opened])
        return found

    def _open_window(self, key: str, opened: int, end: int) -> OpenWindow:
        """Open a window of a key and put its eviction into the queue."""
        opening = OpenWindow(key, opened, end)
        self._open[key].append(opening)
        self._windows_opened += 1
        last = self.window.last_instant(end)
        heapq.heappush(self._queue, PendingEviction(last, self._windows_opened, opening))
        return opening

    def _opening(self, key_state: KeyState, at: int) -> int:
        """Return where a window opens for a record at `at`. Under `previous-end` the windows that
        went by without a record are counted first, so that they adapt.
        """
        if self.window.opens is Opening.PREVIOUS_END and key_state.last_end is not None:
            self._pass_empty_windows(key_state)
        return opening_instant(self.window, key_state.state, key_state.last_end, at)

    def _pass_empty_windows(self, key_state: KeyState) -> None:
        """Evict the windows of a key that the watermark has passed and that held no record."""
        while True:
            end = (key_state.last_end or 0) + key_state.state.duration
            if not self._has_reached(self.window.last_instant(end)):
                return
            state = next_state(self.window, key_state.state, HeldRecords(0, 0))
            key_state.last_end = end
            if state == key_state.state and self._watermark is not None:
                # nothing changes any more: as many windows as the watermark has passed, at once
                last = self.window.last_instant(end)
                passed = (self._watermark - last) // state.duration
                key_state.last_end += passed * state.duration
            key_state.state = state

    def _has_reached(self, instant: int) -> bool:
        """Whether the watermark has reached an instant."""
        return self._watermark is not None and instant <= self._watermark

    # A watermark

    def _evict_until(self, watermark: int | None) -> Iterator[Match | Eviction]:
        """Evict the windows that a watermark ends, all if it is None."""
        while self._queue and (watermark is None or self._queue[0].last_instant <= watermark):
            evicted = heapq.heappop(self._queue).window
            self._open[evicted.key].remove(evicted)
            eviction = self._eviction(evicted)
            if self.matching and self.window.emits is Emission.CLOSE:
                for left in eviction.left:
                    for right in eviction.right:
                        yield Match(left, right, eviction.end)
            yield eviction

    def _eviction(self, evicted: OpenWindow) -> Eviction:
        """Return the eviction of a window, and keep what it leaves of its key."""
        left, right = (tuple(evicted.lists[side]) for side in (Side.LEFT, Side.RIGHT))
        key_state = self._keys[evicted.key]
        held = HeldRecords(len(left), len(right))
        key_state.state = next_state(self.window, key_state.state, held)
        key_state.last_end = evicted.end
        self.held -= len(left) + len(right)
        return Eviction(evicted.key, evicted.opened, evicted.end, left, right, key_state.state)


def opening_instant(window: JoinWindow, state: WindowState, last_end: int | None, at: int) -> int:
    """ADA-4: Return where a window opens whose first record is at `at`. `last_end` is where
    the key's window before it ended, None if there was none.
    """
    match window.opens:
        case Opening.ZERO:
            return at - at % state.duration
        case Opening.PREVIOUS_END if last_end is not None:
            return last_end
        case Opening.PREVIOUS_END | Opening.FIRST_RECORD:
            return at
        case _:
            assert_never(window.opens)


def sliding_openings(window: JoinWindow, at: int) -> list[int]:
    """ADA-8: Return where the windows with a slide open that hold the instant `at`, ascending.

    >>> from refengine.joins.join_profiles import join_window
    >>> sliding_openings(join_window("sliding"), 2500)  # [1000, 3000) and [2000, 4000)
    [1000, 2000]
    """
    slide = window.slide or window.duration
    latest = at - at % slide
    earliest = at - window.last_instant(window.duration)
    first = -(-earliest // slide) * slide
    return list(range(first, latest + 1, slide))


def partners_of(record: JoinRecord, open_window: OpenWindow) -> list[JoinRecord]:
    """ADA-3: Return the records with which a record is joined when it arrives in a window: those of
    the other list, in the order of their arrival.
    """
    return open_window.lists[record.side.other]


def is_dropped(window: JoinWindow, last: int, watermark: int | None) -> bool:
    """ADA-2: Return whether a record is dropped, since the watermark has reached the last
    instant at which it is on time: its own, or, for windows with a slide, that of its window.
    """
    is_late = watermark is not None and last <= watermark
    return is_late and window.late is LateRecords.DROP


def _match(arriving: JoinRecord, waiting: JoinRecord, at: int) -> Match:
    """Return the match of a record that arrives with one of the other list."""
    if arriving.side is Side.LEFT:
        return Match(arriving, waiting, at)
    return Match(waiting, arriving, at)


def find_outcomes(
    window: JoinWindow, steps: Iterable[Step], matching: bool = True
) -> Iterator[Match | Eviction]:
    """Yield the matches and evictions of whole streams."""
    join = WindowJoin(window, matching)
    for step in with_watermarks(steps, window):
        yield from join.push(step)
    yield from join.finish()


def find_matches(window: JoinWindow, steps: Iterable[Step]) -> list[Match]:
    """Return the matches of whole streams, in the order in which they are emitted."""
    return [outcome for outcome in find_outcomes(window, steps) if isinstance(outcome, Match)]


def find_evictions(window: JoinWindow, steps: Iterable[Step]) -> Iterator[Eviction]:
    """Yield the evictions of whole streams, without their matches."""
    for outcome in find_outcomes(window, steps, matching=False):
        if isinstance(outcome, Eviction):
            yield outcome
