"""§9 again, and fast: the reports of engine.evaluate, each of which costs what changed since the
one before.

Never a second definition: which windows are evaluated when is engine's own, R2S is r2s's on the
rows that came and went, and R2R is kept by `deltas`. What is not covered the definition computes,
and the provenance says so. Held to the definition by tests/incremental/test_incremental.py.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import cast, overload

from refengine.core import engine, r2r, r2s, tick, window
from refengine.core.engine import MAX_REPORTS, Answer, Evaluation, Held, Plan, Report, Seen, Step
from refengine.core.query import Query, WindowKind
from refengine.core.semantics import (
    R2S,
    Against,
    Change,
    Closing,
    Collection,
    Condition,
    Empty,
    Expiry,
    Semantics,
    Tick,
)
from refengine.core.window import Content, View
from refengine.incremental import arrival_buffer, partitions
from refengine.incremental.algebra import Network
from refengine.incremental.answer_delta import Kept
from refengine.incremental.numbers import Beyond
from refengine.incremental.partitions import Latest, Turnover
from refengine.incremental.supports import Extents
from refengine.model.canonical import canonical_dataset
from refengine.model.elements import Bag, Dataset, Element, Relation, Row, Stream, Triple
from refengine.model.errors import Disputed, Unsupported, require


@dataclass
class Provenance:
    """Who computed the reports: `incremental` those of the first `until` evaluations (None: of
    all), the definition the others, for a reason.
    """

    until: int | None = None
    reason: str = ""

    def __str__(self) -> str:
        if self.until is None:
            return "incremental"
        return (
            f"{f'incremental for {self.until} evaluations, then ' if self.until else ''}the "
            f"definition: {self.reason}"
        )


class Contents(Sequence[Element]):
    """The elements of a content, which are looked up when they are asked for."""

    def __init__(self, elements: Sequence[Element], indices: Content) -> None:
        self.elements, self.indices = elements, indices

    def __len__(self) -> int:
        return len(self.indices)

    @overload
    def __getitem__(self, index: int) -> Element: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Element, ...]: ...
    def __getitem__(self, index: int | slice) -> Element | tuple[Element, ...]:
        if isinstance(index, slice):
            return tuple(self.elements[i] for i in self.indices[index])
        return self.elements[self.indices[index]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contents | tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


class Run(Iterator[Report]):
    """The reports, one after the other, and where they come from so far; `follower` has the answer
    at the last evaluation.
    """

    def __init__(
        self,
        query: Query,
        planned: Plan,
        static: Dataset,
        answer: Answer,
        max_reports: int,
        skip: int,
    ) -> None:
        self.query, self.planned, self.max_reports, self.skip = query, planned, max_reports, skip
        self.static = canonical_dataset(static)
        self.provenance = Provenance()
        self.follower: Follower | None = None
        self.reports = self._reports(answer)

    def __next__(self) -> Report:
        return next(self.reports)

    def _reports(self, answer: Answer) -> Iterator[Report]:
        done, tape = self.skip, arrival_buffer.tape_of(self.planned)
        try:
            follower = self.follower = Follower(self.query, self.planned, self.static)
            if tape is not None:
                tape.behind = lambda: arrival_buffer.behind(
                    self.planned, follower.moving.contents[0]
                )
            for at in islice(evaluations(self.planned, self.max_reports), done, None):
                if done == self.skip:
                    with suppress(Disputed):
                        # which refuses what no evaluator takes
                        answer(self.query.body, frozenset())
                report = follower.step(at)
                done += 1
                if report is not None:
                    yield report
            return
        except Beyond as error:
            if tape is not None:
                raise Unsupported(
                    f"{error}: the definition computes it, of a whole stream", rule="ENG-6"
                ) from None
            self.provenance.until, self.provenance.reason = done, str(error)
        steps = engine.steps(
            self.query,
            self.planned,
            static=self.static,
            answer=answer,
            max_reports=self.max_reports,
            skip=self.skip,
        )
        yield from (step.report for step in islice(steps, done - self.skip, None) if step.emitted)


def evaluate(
    query: Query,
    streams: Mapping[str, Stream | Iterable[Element]],
    semantics: Semantics,
    *,
    static: Dataset = frozenset(),
    answer: Answer = r2r.confirmed,
    max_reports: int = MAX_REPORTS,
) -> Run:
    """ENG-6: return the reports of engine.evaluate, equal value for value (CMP-4), and those, too,
    that no witness confirms. `contents` are looked up when they are asked for. `answer` is asked
    where the body, or a value that it meets, is not covered.

    A stream may be an iterator of elements in the order of time: then what no window can hold any
    more is forgotten, with the `contents` of its reports. There the definition cannot begin anew,
    and what is not covered is Unsupported.

    Raises what engine.evaluate raises.
    """
    whole = {name: stream for name, stream in streams.items() if isinstance(stream, Stream)}
    planned = (
        engine.plan(query, whole, semantics)
        if len(whole) == len(streams)
        else arrival_buffer.plan(query, streams, semantics)
    )
    return run(query, planned, static=static, answer=answer, max_reports=max_reports)


def run(
    query: Query,
    planned: Plan,
    *,
    static: Dataset = frozenset(),
    answer: Answer = r2r.confirmed,
    max_reports: int = MAX_REPORTS,
    skip: int = 0,
) -> Run:
    """The same of a plan. The first `skip` evaluations may be left out, as if the answer had been
    empty before the next one.
    """
    return Run(query, planned, static, answer, max_reports, skip)


class Moving:
    """A body's network, which follows the contents of a query's windows from one to the next.
    Raises Beyond.
    """

    def __init__(
        self,
        query: Query,
        views: Sequence[View],
        static: Dataset,
        change: Callable[[Row, int], None],
        sets: bool = False,
    ) -> None:
        if any(view.spec.name is not None for view in views):
            raise Beyond("named windows")
        if any(len(statement) > 3 for statement in static):
            raise Beyond("named graphs of static data")
        self.network = Network(query.body, change, sets)
        self.elements = [view.elements for view in views]
        sources = list(dict.fromkeys(view.spec.stream for view in views))
        shared = len(sources) + bool(static) > 1
        self.scopes = [str(sources.index(view.spec.stream)) if shared else "" for view in views]
        triples = cast("frozenset[Triple]", static)
        for triple in sorted(r2r.scoped(triples, "static") if shared else triples):
            self.network.enter(triple)
        self.network.settle()
        self.contents: list[Content] = [range(0)] * len(views)
        self.turnover = Turnover()
        self.coming: list[int] = []

    def grow(self, content: Content) -> bool:
        """The content of the first window, if it is the last one and what has come since; whether
        it is.
        """
        before = self.contents[0]
        if (
            type(content) is not range
            or type(before) is not range
            or content.start != before.start
            or content.stop < before.stop
        ):
            return False
        self._move(0, range(before.stop, content.stop), self.network.enter)
        self.contents[0] = content
        self.network.settle()
        return True

    def leave(self, contents: Iterable[Content]) -> None:
        """What is not in the next contents goes."""
        for i, content in enumerate(contents):
            before = self.contents[i]
            if not isinstance(content, Latest):
                leaving = without(before, content)
            elif isinstance(before, Latest):
                leaving, self.coming = self.turnover.to(content)
            else:
                self.turnover = Turnover()
                leaving, (_, self.coming) = before, self.turnover.to(content)
            if leaving:
                self._move(i, leaving, self.network.leave)

    def enter(self, contents: Iterable[Content]) -> None:
        """What is new in them comes, and they are the contents."""
        for i, content in enumerate(contents):
            if (
                entering := self.coming
                if isinstance(content, Latest)
                else without(content, self.contents[i])
            ):
                self._move(i, entering, self.network.enter)
            self.contents[i] = content
        self.network.settle()

    def _move(self, i: int, indices: Iterable[int], take: Callable[[Triple], None]) -> None:
        elements, scope = self.elements[i], self.scopes[i]
        for index in indices:
            graph = elements[index].graph
            if scope:
                graph = r2r.scoped(graph, scope)
            for triple in graph if len(graph) == 1 else sorted(graph):
                take(triple)


class Asked:
    """The answers over contents, asked for in any order, each computed once: from the solutions of
    the whole stream, if one window at a time can hold them, or else from the content before it.
    Raises Beyond, and then for all contents but those.
    """

    def __init__(self, query: Query, views: Sequence[View], static: Dataset) -> None:
        self.known: dict[tuple[Content, ...], Bag] = {}
        self.kept = Kept(False, False)
        self.moving: Moving | None = Moving(query, views, static, self.kept.change)
        self.extents: Extents | None = None
        (view, *more) = views
        if (
            not more
            and not static
            and view.ends is None
            and view.spec.kind in (WindowKind.TIME, WindowKind.RANGE)
        ):
            with suppress(Beyond):
                self.extents = Extents(query.body, view.elements, view.times, view.spec.span)

    def __call__(self, contents: tuple[Content, ...]) -> Bag:
        """The bag of the answer; not to be changed."""
        if contents not in self.known:
            if (
                self.extents is not None
                and isinstance(contents[0], range)
                and self.extents.covers(contents[0])
            ):
                self.known[contents] = self.extents.answer(contents[0])
                return self.known[contents]
            moving, self.moving = self.moving, None
            if moving is None:
                raise Beyond("a value met before")
            moving.leave(contents)
            moving.enter(contents)
            self.known[contents], self.moving = Counter(self.kept.now), moving
        return self.known[contents]

    def completed(self, content: Content) -> list[tuple[Row, tuple[int, ...]]] | None:
        """The solutions over a content, projected, with the elements that each rests on; None where
        that is not known.
        """
        extents = self.extents
        if extents is None or not isinstance(content, range) or not extents.covers(content):
            return None
        return extents.completed(content)


class Follower:
    """The state of an evaluation: what the windows held and what the answer
    was at the one before.
    """

    def __init__(self, query: Query, planned: Plan, static: Dataset) -> None:
        semantics = planned.semantics
        self.planned, self.operator = planned, engine.operator(query, semantics)
        self.variables = query.body.variables
        sets = semantics.collection is Collection.SET
        self.answer = Kept(sets, self.operator is not R2S.RSTREAM)
        self.moving = Moving(query, planned.views, static, self.answer.change, sets)
        self.late = sorted(element.sys for element in planned.late)
        self.output: Bag = Counter()
        # Whether an answer that does not change is not told
        self.silent = (
            self.operator in (R2S.ISTREAM, R2S.DSTREAM) and semantics.empty is Empty.SUPPRESS
        )

    def step(self, at: Evaluation) -> Report | None:
        """One evaluation; None if its empty answer is suppressed. Raises Beyond."""
        semantics, answer, append = self.planned.semantics, self.answer, self.operator is R2S.APPEND
        if append or len(at.windows) > 1 or not self.moving.grow(at.windows[0].content):
            contents = [held.content for held in at.windows]
            self.moving.leave(contents)
            if append:  # what is kept is the base (R2S-7)
                self.moving.network.settle()
                answer.rebase()
            self.moving.enter(contents)
        if self.silent and not answer.since:
            return None
        last, self.output = self.output, answer.output(self.operator, semantics.base)
        return self._report(at) if r2s.emitted(semantics.empty, self.output, last) else None

    def _report(self, at: Evaluation) -> Report:
        return reported(
            self.planned,
            at,
            Relation(self.variables, self.output),
            bisect_left(self.late, self.planned.arrivals[at.arrival].sys),
        )


def reported(planned: Plan, at: Evaluation, relation: Relation, late: int) -> Report:
    """The report of an evaluation."""
    pairs = list(zip(planned.views, at.windows, strict=True))
    borders = tuple([window.opening(view, held.n) for view, held in pairs])
    stamp = engine.output_instant(
        planned.semantics.instant, planned.semantics, at, planned.arrivals
    )
    shown = tuple([Contents(view.elements, held.content) for view, held in pairs])
    return Report(at.t, planned.arrivals[at.arrival].app, borders, stamp, shown, late, relation)


def looked_up(query: Query, planned: Plan, asked: Asked) -> Iterator[Step]:
    """engine.steps, where many plans ask for the same contents. Raises Beyond."""
    semantics, operator = planned.semantics, engine.operator(query, planned.semantics)
    base: Bag = Counter()
    output: Bag = Counter()
    contents: tuple[Content, ...] = ((),) * len(planned.views)
    late = sorted(element.sys for element in planned.late)
    for at in evaluations(planned):
        before, contents = contents, tuple([held.content for held in at.windows])
        now = r2r.collected(semantics.collection, asked(contents))
        if operator is R2S.APPEND:
            kept = tuple([common(*pair) for pair in zip(contents, before, strict=True)])
            base = r2r.collected(semantics.collection, asked(kept))
        last, output = output, r2s.relation_to_stream(operator, now, base)
        base = r2s.rebase(semantics.base, base, now)
        relation, sys = Relation(query.body.variables, output), planned.arrivals[at.arrival].sys
        yield Step(
            at,
            now,
            reported(planned, at, relation, bisect_left(late, sys)),
            r2s.emitted(semantics.empty, output, last),
        )


def common(content: Content, before: Content) -> Content:
    """R2S-7: return what a content has in common with the one before it, ascending: `engine.kept`,
    quick for two ranges.
    """
    if isinstance(content, range) and isinstance(before, range):
        start, stop = max(content.start, before.start), min(content.stop, before.stop)
        return range(start, max(start, stop))
    return tuple(engine.kept(content, before))


def without(a: Content, b: Content) -> Sequence[int]:
    """What of a content is not in another, ascending."""
    if isinstance(a, range) and isinstance(b, range):
        if not b:
            return a
        if a.start >= b.start:
            return range(b.stop, a.stop) if b.stop > a.start else a
        if a.stop <= b.stop:
            return range(a.start, b.start) if b.start < a.stop else a
        return [*range(a.start, b.start), *range(b.stop, a.stop)]
    return sorted({*a} - {*b})


# When


class Together(Sequence[Evaluation]):
    """The evaluations of arrivals that come at one instant, over what has come by then of one
    window: made when they are asked for.
    """

    def __init__(self, t: int, n: int, start: int, arrivals: range) -> None:
        self.t, self.n, self.start, self.arrivals = t, n, start, arrivals

    def __len__(self) -> int:
        return len(self.arrivals)

    @overload
    def __getitem__(self, index: int) -> Evaluation: ...
    @overload
    def __getitem__(self, index: slice) -> Together: ...
    def __getitem__(self, index: int | slice) -> Evaluation | Together:
        if isinstance(index, slice):
            return Together(self.t, self.n, self.start, self.arrivals[index])
        k = self.arrivals[index]
        return Evaluation(self.t, k, (Held(self.n, range(self.start, k)),))


def evaluations(planned: Plan, max_reports: int = MAX_REPORTS) -> Iterator[Evaluation]:
    """engine.evaluations, quicker where an arrival meets one window alone."""
    return chain.from_iterable(stretches(planned, max_reports))


def stretches(planned: Plan, max_reports: int = MAX_REPORTS) -> Iterator[Iterable[Evaluation]]:
    """engine.stretches, likewise."""
    found = (
        within
        if within_one(planned)
        else partitions.stretches
        if partitions.covers(planned)
        else engine.stretches
    )
    return found(planned, max_reports)


def within_one(planned: Plan) -> bool:
    """Whether there is one window of SECRET over points, and what matters of an arrival is whether
    a window closes, or whether there is another element than at the last report.
    """
    semantics, view, changes = (
        planned.semantics,
        planned.views[0],
        Condition.CHANGE in planned.semantics.report,
    )
    return (
        len(planned.views) == 1
        and view.spec.kind is WindowKind.TIME
        and view.frame is not None
        and view.ends is None
        and semantics.tick is not Tick.BATCH
        and Condition.PERIODIC not in semantics.report
        and (semantics.against is Against.LAST or not changes)
        and (
            Condition.CLOSE in semantics.report
            or (
                changes
                and semantics.change is Change.ELEMENTS
                and (semantics.closing is Closing.REACHED or semantics.tick is Tick.TUPLE)
            )
        )
    )


def within(planned: Plan, max_reports: int) -> Iterator[Iterable[Evaluation]]:
    """engine.stretches, where `within_one` holds. As long as no other window becomes the active one
    in an arrival's interval (TICK-4), none closes, and the content at all its instants is what has
    arrived since the window's first one, unless arrivals are to pass a closing (TICK-6): then those
    at one instant are not in its scope yet, and of them two see all. What is more than that is
    engine's.
    """
    semantics, view, frame, own = (
        planned.semantics,
        planned.views[0],
        require(planned.views[0].frame),
        planned.own,
    )
    closes, start = Condition.CLOSE in semantics.report, window.start(frame)
    seen = Seen((range(0),), (range(0),))
    reported = range(0)
    # that the next window is the active one matters at its arrival
    spare = int(not closes and semantics.expiry is Expiry.REPLAYED)
    ahead, again = not closes and tick.own(semantics, 0) < 0, None
    # from `begin` on and until `end`, window n is the active one
    begin, end, last, low, n = 0, -1, 0, 0, 0
    arrivals, before = without_early(planned, start)
    for k, at in arrivals:
        if at <= before and semantics.tick is Tick.TIME:
            continue
        if ahead and at == before:
            if at == again:
                continue
            again = at
        elif begin <= before <= end and at <= last and not ahead:
            if closes and isinstance(own, list):  # the next arrival at which one can close
                stop = bisect_right(own, last, k)
                deque(islice(arrivals, stop - k - 1), 0)
                at = own[stop - 1]
            elif (
                not closes
                and at == before
                and k > max(low, reported.stop)
                and isinstance(own, list)
            ):
                run = range(k, min(bisect_right(own, at, k), k + max(1, max_reports - seen.count)))
                deque(islice(arrivals, len(run) - 1), 0)
                reported = range(low, run[-1])
                seen.reported, seen.count = (
                    (reported,),
                    engine.bounded(seen.count + len(run), max_reports, planned.arrivals, k),
                )
                yield Together(before, n, low, run)
            elif not closes and k > low:
                if k != reported.stop or low != reported.start:
                    reported = range(low, k)
                    seen.reported, seen.count = (
                        (reported,),
                        engine.bounded(seen.count + 1, max_reports, planned.arrivals, k),
                    )
                    yield (Evaluation(before, k, (Held(n, reported),)),)
            elif not closes and reported:
                yield from engine.of_arrival(
                    planned, k, tick.interval(before, at), seen, [frame], max_reports
                )
                reported = cast("range", seen.reported[0])
            before = at
            continue
        interval = tick.interval(before, at)
        yield from engine.of_arrival(
            planned, k, range(max(interval.start, start), interval.stop), seen, [frame], max_reports
        )
        reported, since, before = cast("range", seen.reported[0]), before, at
        if not begin <= at <= end or since < begin:
            n = window.active(frame, at)
            first, end = (border + n * frame.slide for border in (frame.first, frame.last))
            first = first if frame.floor is None else max(first, frame.floor)
            begin = max(first, end - frame.slide + 1 if n > frame.least else start)
            last, low = end + spare, bisect_left(view.times, first)


def without_early(planned: Plan, start: int) -> tuple[Iterator[tuple[int, int]], int]:
    """The arrivals with their instants but for those before any window has a scope, at `start`,
    where nothing is evaluated; and the instant that was looked at before. Arrivals that are not
    known beforehand are all there.
    """
    own = planned.own
    if not isinstance(own, list):
        return enumerate(instants(planned)), start
    early = bisect_left(own, start)
    before = own[early - 1] if early and planned.semantics.tick is Tick.TUPLE else start
    return enumerate(islice(own, early, None), early), before


def instants(planned: Plan) -> Iterator[int]:
    """The arrivals' own instants, as they come."""
    shift = tick.own(planned.semantics, 0)
    for arrival in planned.arrivals:
        yield arrival.app + shift
