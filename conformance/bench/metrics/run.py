"""YABench's measures of a whole run: an entry a window, ready for JSON (docs/benchmarks.md)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import groupby
from typing import Any

from conformance.bench.metrics import yabench, yabench_code
from conformance.bench.metrics.slides import deal_to_slides
from conformance.bench.metrics.yabench import (
    Borders,
    EngineOutput,
    ExpectedAnswers,
    RowsThatChange,
    Score,
    ShiftedWindow,
)
from refengine.core import engine, r2r
from refengine.core.engine import Report
from refengine.core.query import Query, WindowKind
from refengine.core.question import Setting
from refengine.core.values import Condition
from refengine.core.window import WindowView
from refengine.incremental.answer_cache import SupportedSolutions
from refengine.incremental.coverage import NotCovered
from refengine.model.compare import Mode
from refengine.model.elements import Bag
from refengine.model.errors import RefengineError, Unsupported
from refengine.oracle import derivations

Entry = dict[str, Any]
SHIFTED = 3  # sizes that a shifted window spans, at most: each border shifts by one


class Reading(StrEnum):
    """The reading of YABench's measures: as its paper defines them, with gracious mode or, where it
    would take longest, without; or as its code computes them,
    over windows that have both borders; the latter also with its option `singleresult`, which
    counts under content change alone.
    """

    PAPER = "paper"
    PLAIN = "paper-without-gracious"
    CODE = "yabench-code"
    CODE_SINGLE_RESULT = "yabench-code-singleresult"

    @property
    def is_by_code(self) -> bool:
        """Whether it is that of the code."""
        return self in (Reading.CODE, Reading.CODE_SINGLE_RESULT)


def of_run(
    setting: Setting,
    expected: Sequence[Report],
    output: EngineOutput,
    *,
    reading: Reading = Reading.PAPER,
    answer: engine.EvaluateBody = r2r.confirmed_answer,
    is_incremental: bool = False,
    mode: Mode = Mode.VALUE,
) -> list[Entry]:
    """Return YABench's measures of a run in order: an entry for each window, or under content
    change for each slide.

    `setting` has the semantics under which `expected` are the reports, without those that were not
    recorded before and after. `output` is what the engine answered.

    An entry is {"window": [o, c], "precision", "recall", "gracious": {"precision", "recall",
    "window": [o, c]}, "delay", "elements", "expected", "actual"}. Scores are floats; the last three
    are numbers of elements and of rows. "window" is None for an answer after the last report.
    "delay" is None if the instant of the answer is not known. "gracious" is None if the answers
    over shifted windows are not known: under content change, unless R2S is Rstream, and unless the
    query has one time-based window over points.

    With `is_incremental` answers over shifted windows are computed incrementally if the body is
    covered. In the code's reading only answered windows have an entry. Raises Unsupported for a
    report for which YABench has no measure, and for rows that no rule compares (CMP-4); and
    RefengineError for more instants than answers.
    """
    if len(output.instants) > len(output.rows):
        raise RefengineError(
            f"{len(output.instants)} instants are given for {len(output.rows)} answers",
            rule="of_run",
        )
    output = output.with_canonical_rows()
    report = setting.semantics.report
    if Condition.CLOSE in report:
        contents = None
        is_rstream = engine.operator(setting.query, setting.semantics).emits_whole_answers
        if is_rstream and reading is not Reading.PLAIN:
            contents = _contents(setting, answer, is_incremental=is_incremental)
        return list(_ClosedWindows(setting, reading, contents, mode).entries(expected, output))
    if Condition.CHANGE not in report:
        raise Unsupported(
            "YABench measures window close and content change",
            rule="REP-1",
            place="of_run",
        )
    if reading.is_by_code:
        contents = _contents(setting, answer, is_incremental=is_incremental)
        return list(_folded_by_code(setting, output, contents, reading, mode))
    return list(_slide_entries(setting.query, expected, output.rows, mode))


class _Contents:
    """The contents of a window from one instant to another, and the answers over them. Each content
    is evaluated once.

    `find_solutions` gives those of the stream, each with the elements that it rests on; None if
    they are not known. From them follows how two answers differ, without the answers. It is called
    when a window is shifted: where all answers are exact, none is.
    """

    def __init__(
        self,
        view: WindowView,
        rows: Callable[[range], Bag],
        find_solutions: Callable[[], SupportedSolutions | None],
    ):
        self.times = view.times
        self.rows = cache(rows)
        self.find_solutions = find_solutions
        self.expects = ExpectedAnswers(sorted(set(view.times)), self.answer, self.find_change)

    def content(self, first: int, last: int) -> range:
        """Return the indices of the elements from `first` to `last`, both included."""
        return range(bisect_left(self.times, first), bisect_right(self.times, last))

    def answer(self, first: int, last: int) -> Bag:
        """Return the answer over the elements from `first` to `last`, both included."""
        return self.rows(self.content(first, last))

    def find_change(self, before: Borders, after: Borders) -> RowsThatChange | None:
        """Return the rows that come, and those that go, as one interval becomes another. None if
        that is not known without the two answers.
        """
        old, new = self.content(*before), self.content(*after)
        solutions = self.find_solutions()
        if solutions is None or not (solutions.covers(old) and solutions.covers(new)):
            return None
        return solutions.find_change(old, new)


def _contents(
    setting: Setting,
    answer: engine.EvaluateBody,
    *,
    is_incremental: bool = False,
) -> _Contents | None:
    """Return the answers over shifted windows. None if the query does not have one time-based
    window over points, without a lag: only then does the content of a window decide its answer.
    """
    query, collection = setting.query, setting.semantics.collection
    views = engine.plan(query, setting.streams, setting.semantics).views
    view = views[0]
    if len(views) > 1 or view.spec.kind is not WindowKind.TIME or view.spec.lag or view.ends:
        return None

    @cache
    def find_solutions() -> SupportedSolutions | None:
        if is_incremental and not setting.static and derivations.projects(query.body):
            with suppress(NotCovered):
                return SupportedSolutions(
                    query.body, view.elements, view.times, SHIFTED * view.spec.span
                )
        return None

    def rows(content: range) -> Bag:
        solutions = find_solutions()
        if solutions is not None and solutions.covers(content):
            return r2r.collect_rows(collection, solutions.answer(content))
        dataset = r2r.dataset_of_windows(views, [content], setting.static, query.body)
        return r2r.collect_rows(collection, answer(query.body, dataset).rows)

    # In a set a row goes only when its last solution goes. A solution that goes does not say
    # whether it is the last, so there the answers themselves are compared.
    if collection.drops_equal_rows:
        return _Contents(view, rows, lambda: None)
    return _Contents(view, rows, find_solutions)


@dataclass(frozen=True)
class _ClosedWindows:
    """The measures under window close: each report is compared with the answer at its position.

    `contents` has the answers over shifted windows, None if they are not known.
    """

    setting: Setting
    reading: Reading
    contents: _Contents | None
    mode: Mode

    def entries(self, expected: Sequence[Report], output: EngineOutput) -> Iterator[Entry]:
        """Yield an entry for each report, and one for each answer after the last report. In the
        code's reading there is one for each report that was answered.
        """
        timed = output.rows_with_instants()
        if self.reading.is_by_code:
            for report, (rows, at) in zip(expected, timed, strict=False):
                yield self._by_code(report, rows, at)
            return
        for number, report in enumerate(expected):
            if number < len(timed):
                yield self._by_paper(report, *timed[number])
            else:
                yield self._by_paper(report, Counter(), None)
        for rows, _ in timed[len(expected) :]:
            yield _beyond_the_last(rows, self.mode)

    def _by_paper(self, report: Report, actual: Bag, at: int | None) -> Entry:
        """Return the entry of a report and its answer, which is empty if there is none."""
        window, closure = report.window, self.setting.semantics.closure
        expected = report.relation.rows
        shifted = None
        if self.contents is not None and window is not None and closure is not None:
            shifted = yabench.gracious(
                window,
                closure,
                self.contents.expects,
                expected,
                actual,
                mode=self.mode,
            )
        counts = (sum(map(len, report.contents)), expected.total(), actual.total())
        score = yabench.score(expected, actual, self.mode)
        return _entry(window, score, shifted, _delay(window, at), counts)

    def _by_code(self, report: Report, actual: Bag, at: int | None) -> Entry:
        """Return the entry of a report and its answer, as YABench's code computes it."""
        if self.contents is None or report.window is None:
            raise Unsupported(
                "YABench's code measures one time-based window under Rstream",
                rule="REP-1",
                place="of_run",
            )
        window = (max(0, report.window[0]), report.window[1])  # the code's time begins at 0
        expected = self.contents.answer(*window)
        shifted = yabench_code.gracious_code(
            window,
            self.contents.expects,
            expected,
            actual,
            mode=self.mode,
        )
        counts = (len(self.contents.content(*window)), expected.total(), actual.total())
        score = yabench.score(expected, actual, self.mode)
        return _entry(window, score, shifted, _delay(window, at), counts)


def _delay(window: Borders | None, at: int | None) -> int | None:
    """Return how long after the end of its window an answer came; None if that is not known."""
    if at is None or window is None:
        return None
    return at - window[1]


def _beyond_the_last(actual: Bag, mode: Mode) -> Entry:
    """Return the entry of an answer for which there is no report."""
    return _entry(None, yabench.score(Counter(), actual, mode), None, None, (0, 0, actual.total()))


def _folded_by_code(
    setting: Setting,
    output: EngineOutput,
    contents: _Contents | None,
    reading: Reading,
    mode: Mode,
) -> Iterator[Entry]:
    """Yield the entries of YABench's code under content change, one for each slide. The number of
    elements is that of the whole window.
    """
    if contents is None:
        raise Unsupported(
            "YABench's code measures one time-based window over points",
            rule="REP-1",
            place="of_run",
        )
    spec = setting.query.windows[0]
    is_timed = all(at is not None for _, at in output.rows_with_instants())
    is_single = reading is Reading.CODE_SINGLE_RESULT
    steps = yabench_code.steps_code(
        contents.expects,
        spec.span,
        spec.step,
        output,
        is_single_result=is_single,
        mode=mode,
    )
    for slide in yabench_code.slides_code(steps, spec.span, spec.step):
        elements = 0
        if slide.steps:
            opens = slide.window[0]
            elements = len(contents.content(opens, opens + spec.span))
        delay = None
        if is_timed:
            delay = slide.delay
        counts = (elements, slide.expected, slide.actual)
        yield _entry(slide.window, slide.score, None, delay, counts)


def _slide_entries(
    query: Query,
    expected: Sequence[Report],
    actual: Sequence[Bag],
    mode: Mode,
) -> Iterator[Entry]:
    """Yield the entries under content change, one for each slide [o + kβ, o + (k+1)β) in which
    something is reported; o is the opening of a window.
    """
    if not expected:
        if actual:
            yield _beyond_the_last(sum(actual, Counter()), mode)
        return
    spec = query.windows[0]
    step = spec.slide or spec.size or 1
    origin = 0
    if expected[0].window is not None:
        origin = expected[0].window[0]

    def slide_of(report: Report) -> int:
        return max(0, report.evaluation - origin) // step

    slides = [(k, list(reports)) for k, reports in groupby(expected, slide_of)]
    due = [_all_rows(reports) for _, reports in slides]
    came = deal_to_slides(due, actual, mode)
    for (k, reports), rows, got in zip(slides, due, came, strict=True):
        window = (origin + k * step, origin + (k + 1) * step)
        counts = (sum(map(len, reports[-1].contents)), rows.total(), got.total())
        yield _entry(window, yabench.slide_score(rows, got, mode), None, None, counts)


def _all_rows(reports: Iterable[Report]) -> Bag:
    """Return the rows of some reports together."""
    rows: Bag = Counter()
    for report in reports:
        rows.update(report.relation.rows)
    return rows


def _entry(
    window: Borders | None,
    score: Score,
    shifted: ShiftedWindow | None,
    delay: int | None,
    counts: tuple[int, int, int],
) -> Entry:
    """Return an entry as JSON has it."""
    elements, expected, actual = counts
    return {
        "window": window and list(window),
        **_floats(score),
        "gracious": shifted and {**_floats(shifted.score), "window": list(shifted.window)},
        "delay": delay,
        "elements": elements,
        "expected": expected,
        "actual": actual,
    }


def _floats(score: Score) -> dict[str, float]:
    """Return a score's parts as floats, by name."""
    return {"precision": float(score.precision), "recall": float(score.recall)}
