"""§9 Sequences that grow at one end and are forgotten at the other. What is left keeps its index
(ENG-8).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, TypeVar, cast

from refengine.model.elements import Element

T = TypeVar("T")

# so many are forgotten at a time, at least: to forget moves all that are left
FORGOTTEN_AT_ONCE = 1024
CHUNK = 256  # elements that are kept or forgotten together


class GrowingList(Sequence[T]):
    """A list whose first items may be forgotten. In their place is `before`, where there is such a
    value; otherwise asking for them raises LookupError.
    """

    def __init__(self, before: T | None = None) -> None:
        self.items: list[T] = []
        self.number_forgotten = 0
        self.before = before

    def append(self, item: T) -> None:
        """Add an item at the end."""
        self.items.append(item)

    def forget_before(self, index: int) -> None:
        """Forget the items before an index, if they are many."""
        count = index - self.number_forgotten
        if count >= max(FORGOTTEN_AT_ONCE, len(self.items) // 4):
            del self.items[:count]
            self.number_forgotten = index

    def copy_before_last(self) -> GrowingList[T]:
        """Return a list of the items without the last one."""
        found: GrowingList[T] = GrowingList(self.before)
        found.items = self.items[:-1]
        found.number_forgotten = self.number_forgotten
        return found

    def __len__(self) -> int:
        return self.number_forgotten + len(self.items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        place = index - self.number_forgotten
        if place >= 0:
            return self.items[place]
        if index < 0:
            return self.items[index]
        if self.before is None:
            raise LookupError(f"item {index + 1} is no longer kept")
        return self.before


class GrowingElements(Sequence[Element]):
    """The elements of a stream in chunks, of which the first may be forgotten. A report keeps the
    chunks that it is about (`kept`), so that its contents can be read as long as it is there.
    """

    def __init__(self) -> None:
        self.chunks: list[list[Element]] = []
        self.number_forgotten = 0  # of chunks
        self.length = 0

    def append(self, element: Element) -> None:
        """Add an element at the end."""
        if self.length % CHUNK == 0:
            self.chunks.append([])
        self.chunks[-1].append(element)
        self.length += 1

    def forget_before(self, index: int) -> None:
        """Forget the chunks that lie before an index."""
        count = index // CHUNK - self.number_forgotten
        if count > 0:
            del self.chunks[:count]
            self.number_forgotten += count

    def kept(self, content: Sequence[int]) -> GrowingElements:
        """Return the elements of a content, which stay when they are forgotten here."""
        found = GrowingElements()
        found.length = self.length
        if content:
            found.number_forgotten = content[0] // CHUNK
            start = found.number_forgotten - self.number_forgotten
            stop = content[-1] // CHUNK - self.number_forgotten + 1
            found.chunks = self.chunks[start:stop]
        return found

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(len(self))[index]]
        if index < 0:
            index += self.length
        chunk = index // CHUNK - self.number_forgotten
        if chunk < 0:
            raise LookupError(f"element {index + 1} of the stream is no longer kept")
        return self.chunks[chunk][index % CHUNK]


def kept_elements(elements: Sequence[Element], content: Sequence[int]) -> Sequence[Element]:
    """Return a sequence that has the elements of a content, also once the stream has forgotten
    them.
    """
    if isinstance(elements, GrowingElements):
        return elements.kept(content)
    return elements


def first_kept(sequence: Sequence[object]) -> int:
    """Return the index of the first item that is not forgotten."""
    if isinstance(sequence, GrowingList):
        return sequence.number_forgotten
    return 0


def first_from(times: Sequence[int], instant: int) -> int:
    """Return the index of the first of some ascending times that is at an instant or after it."""
    if type(times) is GrowingList:
        return times.number_forgotten + bisect_left(cast("list[int]", times.items), instant)
    return bisect_left(times, instant)


def first_after(times: Sequence[int], instant: int, stop: int | None = None) -> int:
    """Return the index of the first of some ascending times that is after an instant; `stop` if
    none of those before it is.
    """
    if type(times) is GrowingList:
        forgotten = times.number_forgotten
        if stop is not None:
            stop = max(0, stop - forgotten)
        return forgotten + bisect_right(cast("list[int]", times.items), instant, 0, stop)
    return bisect_right(times, instant, 0, stop)
