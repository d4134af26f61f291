"""SPEC.md §9, evaluation: the arrivals, what follows the last one, and what is emitted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from refengine.core.query import Window, WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import R2S, End, Instant, LateFor
from refengine.enumeration.inputs import OTHERS, Arrival, Content, EmittedRelation
from refengine.enumeration.relations import Relations
from refengine.model.elements import Bag, Dataset, Element
from refengine.model.errors import require


class Evaluations(Relations):
    """The reports of a query without keys, over streams under a semantics, by enumeration.

    Each rule is a method, so that a test can break one. `registered` is the instant of the query's
    registration, `static` the data that are always there. `others` are elements that are in no
    window, and bring time alone. Neither these nor the elements may have
    a blank node (R2R-7, R2R-8).

    `reports` says when the query is evaluated, and `emitted` which relations are emitted. For those
    a body is given as a function from a dataset to a bag of rows, and rows are compared as they are
    written.
    """

    def __init__(
        self,
        windows: Sequence[Window],
        streams: Mapping[str, Sequence[Element]],
        semantics: Semantics,
        *,
        registered: int | None = None,
        static: Dataset = frozenset(),
        others: Sequence[Element] = (),
    ):
        self.windows = windows
        self.semantics = semantics
        self.registered = registered
        self.static = static

        self.elements = {window.stream: self.admitted(streams[window.stream]) for window in windows}
        given = [element for name in self.elements for element in streams[name]]
        self.others = [*others, *(each for each in given if self.is_punctuation(each))]
        self.late = [element for name in self.elements for element in self.dropped(streams[name])]
        self.ids = {window: self.element_ids(window) for window in windows}
        self.arrivals = self.merged() + self.sentinel()
        self.integers = self.all_integers()

        self.t0s = {window: self.t0(window) for window in windows}
        opening = [window for window in windows if self.t0s[window] is not None]
        self.s0s = {window: self.s0(window) for window in opening}
        self.start = self.first_start()
        self.sequences = {window: self.sequence(window) for window in opening}

        # for speed alone: what these return is remembered
        for name in ("current", "scope", "content"):
            setattr(self, name, cache(getattr(self, name)))

    # The arrivals and what follows them: ENG-5, ENG-1

    def merged(self) -> list[Arrival]:
        """ENG-5: Return the elements of all streams by app, then sys, then the order in which the
        windows name the streams. MOD-5: by sys alone where a window decides what is late.
        """
        names = [*self.elements, OTHERS]
        arrivals = [
            Arrival(name, place, element.app, element.sys, element.batch or 0)
            for name, elements in zip(names, [*self.elements.values(), self.others], strict=True)
            for place, element in enumerate(elements)
        ]
        match self.semantics.late_for:
            case LateFor.STREAM:
                return sorted(
                    arrivals, key=lambda a: (a.app, a.sys, names.index(require(a.stream)))
                )
            case LateFor.WINDOW | LateFor.NOTHING:
                return sorted(arrivals, key=lambda a: a.sys)

    def first_start(self) -> int:
        """ENG-5: Return the instant at which the first interval starts: the least s0."""
        return min(self.s0s.values(), default=0)

    def sentinel(self) -> list[Arrival]:
        """ENG-1: Return the arrival without payload, last and in a batch of its own; nothing if
        there is no horizon.
        """
        horizon = self.horizon()
        if horizon is None:
            return []
        batches = [arrival.batch for arrival in self.merged()]
        return [Arrival(None, 0, horizon, math.inf, max(batches, default=0) + 1)]

    def horizon(self) -> int | None:
        """ENG-1: Return the instant at which the sentinel arrives: none, the one stated, or for
        `flush` the greatest end of an element + the longest reach of a window + 2. The last element
        ends at 12 and ω is 10: 24.
        """
        streams = [*self.elements.values(), self.others]
        ends = [self.valid(element)[-1] for elements in streams for element in elements]
        match self.semantics.horizon:
            case int(stated):
                return stated
            case End.FLUSH if ends:
                return max(ends) + max(self.reach(window) for window in self.windows) + 2
            case End.FLUSH | End.NONE:
                return None

    def reach(self, window: Window) -> int:
        """ENG-1, WIN-20: Return how long after an element's end a window can still show it: ω and
        the lag. A range, which is shown until the next one ends, shows it for L − 1 more; a session
        has its gap for ω.
        """
        if window.kind is WindowKind.SESSION:
            return require(window.size)
        if window.kind is WindowKind.RANGE:
            return self.span(window) + self.slide(window) - 1 + window.lag
        return self.span(window) + window.lag

    # What is emitted: R2S-4, ENG-4

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
        """R2S-4: Yield the relations that are emitted. `answer` gives the body's answer over a
        dataset. `stated` is the operator that the query states, if it states one.
        """
        operator = self.operator(stated)
        base: Bag = Counter()
        last_output: Bag = Counter()
        last_contents: tuple[Content, ...] = tuple(() for _ in self.windows)
        for t, k, windows, takes_back in self.reports():
            contents = tuple(window.content for window in windows)
            rows = self.collect(answer(self.dataset(contents)))
            old = self.collect(answer(self.dataset(self.still_there(contents, last_contents))))
            output = self.relate(operator, rows, base, old)
            if self.emits(output, last_output):
                borders = tuple(window.borders for window in windows)
                trigger = self.arrivals[k]
                late = self.late_before(trigger)
                stamp = self.stamp(t, k)
                key = windows[0].key
                yield EmittedRelation(
                    t, trigger.app, borders, stamp, contents, late, output, takes_back, key
                )
            base = self.rebase(base, rows)
            last_output = output
            last_contents = contents
