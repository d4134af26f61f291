"""YABench's measures of a whole run: an entry a window, ready for JSON (docs/metrics.md)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from itertools import chain, groupby, repeat, zip_longest
from typing import Any

from conformance.metrics import yabench
from conformance.metrics.yabench import Borders, Score
from refengine.core import engine, r2r
from refengine.core.engine import Report
from refengine.core.query import Query, WindowKind
from refengine.core.semantics import R2S, Closure, Condition, Semantics
from refengine.core.window import View
from refengine.incremental.numbers import Beyond
from refengine.incremental.supports import Extents
from refengine.model.compare import Mode
from refengine.model.elements import Bag, Dataset, Stream
from refengine.model.errors import RefengineError, Unsupported
from refengine.oracle import derivations

Entry = dict[str, Any]
SHIFTED = 3  # sizes that a shifted window spans, at most: each border shifts by one


class Reading(StrEnum):
    """How YABench's measures are read: as its paper has them, or as its code does, with windows
    that have both borders.
    """

    PAPER = "paper"
    CODE = "yabench-code"


def of_run(  # noqa: PLR0913  # public; what is optional goes by name
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    expected: Sequence[Report],
    actual: Sequence[Bag],
    instants: Sequence[int | None] = (),
    *,
    reading: Reading = Reading.PAPER,
    static: Dataset = frozenset(),
    answer: engine.Answer = r2r.confirmed,
    is_incremental: bool = False,
    mode: Mode = Mode.VALUE,
) -> list[Entry]:
    """The measures of a run, one entry a window (under content change, one a slide), in order.

    `semantics` is the assignment under which `expected` are the reports: the oracle's winning or
    nearest one, without what it found to be missing before and after the recording. `actual` are
    the rows of what the engine answered, `instants` when it did, in the stream's unit of time and
    from its zero (shorter, or None, where that is not known).

    An entry is {"window": [o, c], "precision", "recall", "gracious": {"precision", "recall",
    "window": [o, c]}, "delay", "elements", "expected", "actual"}: scores are floats, the last three
    counts of elements and of rows. "window" is None for an answer beyond the last report;
    "gracious" is None where no shift of the borders gives the answer: where the query's window is
    not one time-based window over points, R2S is not Rstream, or under content change; "delay" is
    None without an instant. With `is_incremental` the answers over shifted windows are those of
    incremental evaluation where it covers the body. In the code's reading only answered windows
    have an entry, and under content change the entries are those of its fold. Raises Unsupported
    for a report that YABench has no measure for, and for what no rule compares (CMP-4),
    RefengineError for more instants than answers.
    """
    if len(instants) > len(actual):
        raise RefengineError(f"{len(instants)} instants of {len(actual)} answers", rule="of_run")
    if Condition.CLOSE in semantics.report:
        expects = _expecting(
            query, streams, semantics, static, answer, is_incremental=is_incremental
        )
        if reading is Reading.CODE:
            code_pairs = zip(expected, actual, chain(instants, repeat(None)), strict=False)
            return [
                _closed(report, rows, at, semantics.closure, reading, expects, mode)
                for report, rows, at in code_pairs
            ]
        pairs = zip_longest(expected, actual, instants)
        return [
            _closed(report, rows or Counter(), at, semantics.closure, reading, expects, mode)
            if report
            else _beyond(rows, mode)
            for report, rows, at in pairs
        ]
    if Condition.CHANGE in semantics.report and reading is Reading.CODE:
        expects = _expecting(
            query,
            streams,
            semantics,
            static,
            answer,
            whatever_r2s=True,
            is_incremental=is_incremental,
        )
        clocks = [*instants, *repeat(None, len(actual) - len(instants))]
        return list(_folded(query, expects, actual, clocks, mode))
    if Condition.CHANGE in semantics.report:
        return list(_changed(query, expected, actual, mode))
    raise Unsupported(
        "YABench measures window close and content change", rule="REP-1", place="of_run"
    )


class _Expecting:
    """What a query's answer is over the elements from one instant to another, each content asked
    once.
    """

    def __init__(self, view: View, rows: Callable[[range], Bag]):
        self.times = view.times
        self.instants = sorted(set(view.times))
        self.rows = cache(rows)

    def content(self, first: int, last: int) -> range:
        """The indices of the elements from `first` to `last`, both included."""
        return range(bisect_left(self.times, first), bisect_right(self.times, last))

    def __call__(self, first: int, last: int) -> Bag:
        return self.rows(self.content(first, last))


def _expecting(
    query: Query,
    streams: Mapping[str, Stream],
    semantics: Semantics,
    static: Dataset,
    answer: engine.Answer,
    *,
    whatever_r2s: bool = False,
    is_incremental: bool = False,
) -> _Expecting | None:
    """The expected answers over shifted windows; None where a window's content alone does not
    decide them.
    """
    views = engine.plan(query, streams, semantics).views
    view = views[0]
    if len(views) > 1 or view.spec.kind is not WindowKind.TIME or view.ends:
        return None
    if not whatever_r2s and engine.operator(query, semantics) is not R2S.RSTREAM:
        return None

    extents = None
    if is_incremental and not static and derivations.projects(query.body):
        with suppress(Beyond):
            extents = Extents(query.body, view.elements, view.times, SHIFTED * view.spec.span)

    def rows(content: range) -> Bag:
        if extents is not None and extents.covers(content):
            return r2r.collected(semantics.collection, extents.answer(content))
        return r2r.collected(
            semantics.collection,
            answer(query.body, r2r.together(views, [content], static, query.body)).rows,
        )

    return _Expecting(view, rows)


def _closed(
    report: Report,
    actual: Bag,
    at: int | None,
    closure: Closure | None,
    reading: Reading,
    expects: _Expecting | None,
    mode: Mode,
) -> Entry:
    """Under window close: a report and the answer at its position, empty where there is none."""
    window, expected, elements = report.window, report.relation.rows, sum(map(len, report.contents))
    shifted = None
    match reading:
        case Reading.PAPER:
            if expects and window is not None and closure is not None:
                shifted = yabench.gracious(
                    window, closure, expects.instants, expected, actual, expects, mode=mode
                )
        case Reading.CODE:
            if not expects or window is None:
                raise Unsupported(
                    "YABench's code measures one time-based window under Rstream",
                    rule="REP-1",
                    place="of_run",
                )
            window = (max(0, window[0]), window[1])  # the code's time begins at 0
            expected, elements = expects(*window), len(expects.content(*window))
            shifted = yabench.gracious_code(
                window, expects.instants, expected, actual, expects, mode=mode
            )
    late = None if at is None or window is None else at - window[1]
    counts = (elements, expected.total(), actual.total())
    return _entry(window, yabench.score(expected, actual, mode), shifted, late, counts)


def _beyond(actual: Bag, mode: Mode) -> Entry:
    """An answer for which there is no report."""
    return _entry(None, yabench.score(Counter(), actual, mode), None, None, (0, 0, actual.total()))


def _folded(
    query: Query,
    expects: _Expecting | None,
    actual: Sequence[Bag],
    clocks: Sequence[int | None],
    mode: Mode,
) -> Iterator[Entry]:
    """Under content change, what YABench's code folds for each slide; its elements are all of the
    window.
    """
    if not expects:
        raise Unsupported(
            "YABench's code measures one time-based window over points",
            rule="REP-1",
            place="of_run",
        )
    spec = query.windows[0]
    steps = yabench.steps_code(
        expects.instants, spec.span, spec.step, expects, actual, clocks, mode=mode
    )
    for slide in yabench.slides_code(steps, spec.span, spec.step):
        elements = (
            len(expects.content(slide.window[0], slide.window[0] + spec.span)) if slide.steps else 0
        )
        delay = None if any(clock is None for clock in clocks) else slide.delay
        yield _entry(
            slide.window, slide.score, None, delay, (elements, slide.expected, slide.actual)
        )


def _changed(
    query: Query, expected: Sequence[Report], actual: Sequence[Bag], mode: Mode
) -> Iterator[Entry]:
    """Under content change: slides [o + kβ, o + (k+1)β), o being a window's opening. Those in which
    nothing is reported have no entry.
    """
    spec = query.windows[0]
    step, origin = spec.slide or spec.size or 1, (expected[0].window or (0,))[0] if expected else 0
    slides = [
        (k, list(found))
        for k, found in groupby(expected, lambda report: max(0, report.evaluation - origin) // step)
    ]
    wanted = [sum((report.relation.rows for report in found), Counter()) for _, found in slides]
    if not slides and actual:
        yield _beyond(sum(actual, Counter()), mode)
    for (k, found), rows, got in zip(
        slides, wanted, yabench.dealt(wanted, actual, mode), strict=True
    ):
        window = (origin + k * step, origin + (k + 1) * step)
        counts = (sum(map(len, found[-1].contents)), rows.total(), got.total())
        yield _entry(window, yabench.slide_score(rows, got, mode), None, None, counts)


def _entry(
    window: Borders | None,
    found: Score,
    shifted: yabench.Shifted | None,
    delay: int | None,
    counts: tuple[int, int, int],
) -> Entry:
    elements, expected, actual = counts
    return {
        "window": window and list(window),
        **_floats(found),
        "gracious": shifted and {**_floats(shifted.score), "window": list(shifted.window)},
        "delay": delay,
        "elements": elements,
        "expected": expected,
        "actual": actual,
    }


def _floats(found: Score) -> dict[str, float]:
    return {"precision": float(found.precision), "recall": float(found.recall)}
