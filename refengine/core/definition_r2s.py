"""The definition by enumeration, continued: the relations that go out at the reports.

It covers §8 and what else decides on an output: R2R-8, R2R-9, ENG-4. What a body answers is a
function from datasets to bags, whose rows are compared as they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from refengine.core.definition import Arrival, Borders, Content, Definition
from refengine.core.semantics import R2S, Base, Collection, Empty, Instant
from refengine.model.elements import Bag, Dataset


class EmittedRelation(NamedTuple):
    """A relation that goes out: the evaluation instant, the app of the trigger, the borders of each
    window, the output instant, the content of each window, the number of late elements, the rows.
    """

    t: int
    trigger: int
    borders: tuple[Borders, ...]
    instant: int
    contents: tuple[Content, ...]
    late: int
    rows: Bag


class DefinitionWithR2S(Definition):
    """The relations that a query emits, by enumeration. Each rule is a method here, too."""

    def dataset(self, contents: Sequence[Content]) -> Dataset:
        """R2R-8: the dataset of an evaluation: the windows' triples and, always, the static
        ones.
        """
        return self.static.union(*map(self.union, self.windows, contents))

    def collect(self, answer: Bag) -> Bag:
        """R2R-9: all rows of an answer, or one of each."""
        match self.semantics.collection:
            case Collection.BAG:
                return answer
            case Collection.SET:
                return Counter(set(answer))

    def rebase(self, base: Bag, answer: Bag, output: Bag) -> Bag:
        """R2S-4, R2S-8: the next base: this answer, whether it was emitted or not; under
        `previous-new` only one that holds more of some row. What was emitted of it does not matter:
        a definition that is broken on purpose reads it.
        """
        if self.semantics.base is Base.NEW and not more(answer, base):
            return base
        return answer

    def emits(self, output: Bag, before: Bag) -> bool:
        """R2S-5, R2S-9: whether an output goes out, after the output before it."""
        match self.semantics.empty:
            case Empty.EMIT:
                return True
            case Empty.SUPPRESS:
                return bool(output)
            case Empty.ONCE:
                return bool(output) or bool(before)

    def late_before(self, trigger: Arrival) -> int:
        """MOD-2: how many elements were dropped before the trigger arrived."""
        return sum(element.sys < trigger.sys for element in self.late)

    def still_there(
        self, contents: Sequence[Content], before: Sequence[Content]
    ) -> tuple[Content, ...]:
        """R2S-7: of each content the elements that were in it at the evaluation before, too."""
        pairs = zip(contents, before, strict=True)
        return tuple(tuple(place for place in now if place in then) for now, then in pairs)

    def relate(self, operator: R2S, rows: Bag, base: Bag, old: Bag) -> Bag:
        """R2S-1 to R2S-3, R2S-7: the output of an operator over an answer, its base, and the answer
        over what was there before, too.
        """
        match operator:
            case R2S.RSTREAM:
                return rows
            case R2S.ISTREAM:
                return more(rows, base)
            case R2S.DSTREAM:
                return more(base, rows)
            case R2S.APPEND:
                return more(rows, old)

    def stamp(self, t: int, k: int) -> int:
        """ENG-4: the output instant of a report at t, which arrival k triggered."""
        match self.semantics.instant:
            case Instant.CLOSE:
                return self.border(t)
            case Instant.EVALUATION:
                return t
            case Instant.TRIGGER:
                return self.arrivals[k].app
            case Instant.EAGER if k == 0:
                return t  # no arrival is before the first
            case Instant.EAGER:
                return self.arrivals[k - 1].app

    def emitted(
        self, answer: Callable[[Dataset], Bag], stated: R2S | None
    ) -> Iterator[EmittedRelation]:
        """R2S-1 to R2S-9: the relations that go out: at each report the body's answer, given as a
        function, and the operator that the query states, or else the semantics (R2S-6).
        """
        operator = stated or self.semantics.r2s
        base: Bag = Counter()
        last_output: Bag = Counter()
        last_contents: tuple[Content, ...] = tuple(() for _ in self.windows)
        for t, k, windows in self.reports():
            contents = tuple(window.content for window in windows)
            rows = self.collect(answer(self.dataset(contents)))
            old = self.collect(answer(self.dataset(self.still_there(contents, last_contents))))
            output = self.relate(operator, rows, base, old)
            if self.emits(output, last_output):
                borders = tuple(window.borders for window in windows)
                trigger = self.arrivals[k]
                late = self.late_before(trigger)
                stamp = self.stamp(t, k)
                yield EmittedRelation(t, trigger.app, borders, stamp, contents, late, output)
            base = self.rebase(base, rows, output)
            last_output = output
            last_contents = contents


def more(a: Bag, b: Bag) -> Bag:
    """R2S-2: the rows that `a` holds more often than `b`, each as often as it does so."""
    return Counter({row: a[row] - b[row] for row in a if a[row] > b[row]})
