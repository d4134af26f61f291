"""SPEC.md §1, elements: which of them are late, and when each is valid."""

from __future__ import annotations

from collections.abc import Sequence

from refengine.core.values import AllowedLateness, LateFor, Watermark
from refengine.enumeration.inputs import Arrival, Inputs
from refengine.model.elements import Element


class Elements(Inputs):
    """§1: the elements of the streams."""

    def is_late(self, element: Element, before: Sequence[Element]) -> bool:
        """MOD-2: Return whether an element has an app that is less than that of an earlier arrival
        by more than what is allowed. With allowed_lateness=2, an element at 7 is late after one at
        10, and not after one at 9.
        """
        match self.semantics.late_for:
            case LateFor.WINDOW | LateFor.NOTHING:
                return False
            case LateFor.STREAM:
                return self.is_late_by(self.semantics.allowed_lateness, element, before)

    def is_late_by(
        self, bound: int | AllowedLateness, element: Element, before: Sequence[Element]
    ) -> bool:
        """MOD-2: Return whether an element is earlier than one before it by more than a bound."""
        match bound:
            case AllowedLateness.REJECT:
                return False  # a stream out of order is refused
            case int():
                return any(other.app - element.app > bound for other in before)

    def dropped(self, elements: Sequence[Element]) -> list[Element]:
        """MOD-2: Return the elements of a stream that are late."""
        return [e for i, e in enumerate(elements) if self.is_late(e, elements[:i])]

    def admitted(self, elements: Sequence[Element]) -> list[Element]:
        """MOD-2, MOD-5: Return the elements of a stream that are not late for it, in the order of
        app, ties in arrival order; in arrival order where a window decides what is late.
        """
        in_time = [e for i, e in enumerate(elements) if not self.is_late(e, elements[:i])]
        match self.semantics.late_for:
            case LateFor.STREAM:
                return sorted(in_time, key=lambda element: element.app)
            case LateFor.WINDOW | LateFor.NOTHING:
                return [element for element in in_time if not self.is_punctuation(element)]

    def is_punctuation(self, element: Element) -> bool:
        """MOD-5: Return whether an element brings a watermark and is in no window: one without
        triples, if the semantics says so.
        """
        match self.semantics.watermark:
            case Watermark.PUNCTUATION:
                return element.graph == frozenset()
            case Watermark.GREATEST | None:
                return False

    def late_before(self, trigger: Arrival) -> int:
        """MOD-2: Return how many elements were dropped before the trigger arrived."""
        return sum(element.sys < trigger.sys for element in self.late)

    def valid(self, element: Element) -> range:
        """MOD-3: Return the instants at which an element is valid, from its app to its end, both
        included.
        """
        if element.end is None:
            return range(element.app, element.app + 1)
        return range(element.app, element.end + 1)
