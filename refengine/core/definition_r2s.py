"""The definition by enumeration, continued: the relations that are emitted.

It covers §8, R2R-8, R2R-9 and ENG-4. A body is given as a function from a dataset to a bag of rows,
and rows are compared as they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from refengine.core.definition import Arrival, Borders, Content, Definition
from refengine.core.semantics import R2S, Base, Collection, Empty, Instant
from refengine.model.elements import Bag, Dataset


class EmittedRelation(NamedTuple):
    """A relation that is emitted: the instant of the evaluation, the t_app of the arrival that
    triggered it, the borders of each window, the output instant, the content of each window, the
    number of late elements, and the rows.
    """

    t: int
    trigger: int
    borders: tuple[Borders, ...]
    instant: int
    contents: tuple[Content, ...]
    late: int
    rows: Bag


class DefinitionWithR2S(Definition):
    """The relations that a query emits, by enumeration. Each rule is a method, so that a test can
    break one.
    """

    def dataset(self, contents: Sequence[Content]) -> Dataset:
        """R2R-8: Return the dataset of an evaluation: the triples in the windows' contents and the
        static data.
        """
        return self.static.union(*map(self.union, self.windows, contents))

    def collect(self, answer: Bag) -> Bag:
        """R2R-9: Return all rows of an answer, or one of each."""
        match self.semantics.collection:
            case Collection.BAG:
                return answer
            case Collection.SET:
                return Counter(set(answer))

    def rebase(self, base: Bag, answer: Bag, output: Bag) -> Bag:
        """R2S-4, R2S-8: Return the next baseline: this answer, whether it was emitted or not. Under
        `previous-new` the baseline stays if the answer has nothing new: if it holds no row more
        often than the baseline does.

        `output` is not read here. A definition that is broken on purpose reads it.
        """
        if self.semantics.base is Base.NEW and not more(answer, base):
            return base
        return answer

    def emits(self, output: Bag, before: Bag) -> bool:
        """R2S-5, R2S-9: Return whether an output is emitted, given the output before it."""
        match self.semantics.empty:
            case Empty.EMIT:
                return True
            case Empty.SUPPRESS:
                return bool(output)
            case Empty.ONCE:
                return bool(output) or bool(before)

    def late_before(self, trigger: Arrival) -> int:
        """MOD-2: Return how many elements were dropped before the trigger arrived."""
        return sum(element.sys < trigger.sys for element in self.late)

    def still_there(
        self, contents: Sequence[Content], before: Sequence[Content]
    ) -> tuple[Content, ...]:
        """R2S-7: Return the part of each content that was in it at the previous evaluation. Of (2,
        3, 4), after (1, 2, 3), that is (2, 3).
        """
        pairs = zip(contents, before, strict=True)
        return tuple(tuple(place for place in now if place in then) for now, then in pairs)

    def relate(self, operator: R2S, rows: Bag, base: Bag, old: Bag) -> Bag:
        """R2S-1 to R2S-3, R2S-7: Return the output of an operator. `rows` is the answer, `base` the
        baseline, and `old` the answer over what was also there at the previous evaluation.
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
        """ENG-4: Return the output instant of the report at t that arrival k triggered."""
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
        """R2S-1 to R2S-9: Yield the relations that are emitted. `answer` gives the body's answer
        over a dataset. `stated` is the operator that the query states; if it states none, the
        semantics says it (R2S-6).
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
    """R2S-2: Return the rows that `a` holds more often than `b`, each as often as the difference:
    {x: 3, y: 1} and {x: 1, y: 2} give {x: 2}.
    """
    return Counter({row: a[row] - b[row] for row in a if a[row] > b[row]})
