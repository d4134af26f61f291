"""Feeding an engine with the streams of a workload, in a process of its own that is sampled."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from conformance.bench.benchmark import Feeding, FeedingTimes, Workload
from conformance.bench.wordings import word_for_engine
from conformance.harness.client import Harness, Limits
from conformance.harness.engine_file import Engine
from conformance.harness.play import EngineQuery
from conformance.harness.resources import ResourceSampler
from conformance.suite.exchange import Exchange, PreparedQuestion, prepare_question
from conformance.verdict.engine_report import EngineReport
from refengine.core.question import Question
from refengine.core.values import Condition

# The least limits of a run: seconds for the start, in which a harness may be compiled on a busy
# machine, for a reply and for the whole run, and bytes of all replies.
START_SECONDS, REPLY_SECONDS, RUN_SECONDS, RUN_BYTES = 180, 600, 7200, 1 << 30
# The conditions of an engine that answers only when windows close.
ON_CLOSE = frozenset({Condition.CLOSE, Condition.NON_EMPTY})


class ImmediatePacing:
    """Sends each element as soon as the reply to the one before is there."""

    is_live = False

    def __init__(self) -> None:
        self.started = 0.0  # seconds of the monotonic clock at which the first element was sent
        self.started_at = 0  # the same in ms since 1970
        self.times = FeedingTimes()
        self._current: int | None = None  # the instant whose reply is due

    @property
    def sent_late(self) -> int | None:
        """The most ms by which an element was sent after its instant. None, since none is due."""
        return None

    def wait_until(self, instant: int) -> None:
        """Note when the elements of an instant are sent."""
        now = time.monotonic()
        if not self.started:
            self.started = now
            self.started_at = time.time_ns() // 1_000_000
        self.times.sent.setdefault(instant, now - self.started)
        self._current = instant

    def note_reply(self) -> None:
        """Note when a reply came: to the elements of an instant, or else to the end."""
        if not self.started:
            return
        since = time.monotonic() - self.started
        self.times.ended = since
        if self._current is not None:
            self.times.replied[self._current] = since
        self._current = None

    def note_reply_and_tell_time(self) -> int | None:
        """Note when a reply came, and return None: the stream's time does not go on with the
        clock.
        """
        self.note_reply()
        return None


class ClockPacing(ImmediatePacing):
    """Waits before each element until as much time has passed since the first one as there is
    between their instants.
    """

    is_live = True

    def __init__(self) -> None:
        super().__init__()
        self._first: int | None = None
        self._sent_late = 0

    def wait_until(self, instant: int) -> None:
        """Wait until an instant of the stream is due."""
        if self._first is None:
            self._first = instant
            super().wait_until(instant)
        due = self.started + (instant - self._first) / 1000
        time.sleep(max(0.0, due - time.monotonic()))
        late = time.monotonic() - due
        self._sent_late = max(self._sent_late, round(1000 * late))
        super().wait_until(instant)

    @property
    def sent_late(self) -> int:
        """The most ms by which an element was sent after its instant."""
        return self._sent_late

    def note_reply_and_tell_time(self) -> int | None:
        """Note when a reply came, and return the stream's time now, in ms; None before it has
        begun.
        """
        self.note_reply()
        if self._first is None:
            return None
        return self._first + round(1000 * (time.monotonic() - self.started))


class HarnessWithOthers(Harness):
    """A harness with others of its kind beside it, since the protocol has one query in a process.
    Each command is put to the others first, one after the other, and their answers are not kept.
    """

    others: tuple[tuple[Harness, str], ...] = ()
    has_started = False  # whether it replied to `start`

    def start(self) -> dict[str, Any]:
        """Return the reply to `start`. Raises Broken."""
        reply = super().start()
        self.has_started = True
        return reply

    def start_others(self, texts: Sequence[str]) -> None:
        """Start a harness for each of some query texts. Raises Broken."""
        for text in texts:
            other = Harness(self.command, self.folder, self.limits, self.environment)
            self.others = (*self.others, (other, text))
            other.start()

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Put a command to the others, each with its own query, and return this harness's reply.
        Raises Broken.
        """
        for other, text in self.others:
            of_other = dict(fields)
            if command == "register":
                of_other["query"] = text
            other.ask(command, **of_other)
        return super().ask(command, **fields)

    def stop_others(self) -> None:
        """Stop the others, and go on with this harness."""
        others, self.others = self.others, ()
        for other, _ in others:
            other.stop()

    def stop(self) -> None:
        """Stop the others and this harness."""
        self.stop_others()
        super().stop()


class BenchmarkHarnesses:
    """The harnesses of engines, each started when a run needs it. If they are kept, the next run of
    an engine goes on with its process, as in the suite: `register` forgets what was before. An
    engine that is `fresh`, or broke down, gets a new process all the same.
    """

    def __init__(self, are_kept: bool = False) -> None:
        self.are_kept = are_kept
        self._kept: dict[str, HarnessWithOthers] = {}

    @contextmanager
    def of(self, tested: Engine) -> Iterator[HarnessWithOthers]:
        """Yield the harness of an engine, which is running, and stop it afterwards unless it is
        kept. Raises Broken.
        """
        harness = self._kept.pop(tested.name, None)
        if harness is not None and (harness.look_for_late_fault() or not harness.usable):
            harness.stop()
            harness = None
        if harness is None:
            harness = HarnessWithOthers(
                tested.command, limits=_limits_of(tested), environment=tested.environment
            )
        is_kept = False
        try:
            if not harness.has_started:
                harness.start()
            yield harness
            is_kept = self.are_kept and not tested.fresh and harness.usable
        finally:
            if is_kept:
                harness.stop_others()
                self._kept[tested.name] = harness
            else:
                harness.stop()

    def stop(self) -> None:
        """Stop the harnesses that are kept."""
        while self._kept:
            _, harness = self._kept.popitem()
            harness.stop()


def prepare_workload(tested: Engine, workload: Workload, question: Question) -> PreparedQuestion:
    """Return the question of a workload as it is put to an engine, in the first wording that its
    language can say. An engine that has no semantics of its own is sent the workload's. Raises
    Unrenderable.
    """
    query, table, text = word_for_engine(tested, workload.table, bool(question.static))
    question = replace(question, query=query)
    if not tested.is_configurable:
        return prepare_question(tested, question, table)
    semantics = workload.semantics.semantics()
    engine_query = EngineQuery(question.query, text, tested.dialect, semantics)
    return PreparedQuestion(question, engine_query)


def feed(
    tested: Engine,
    workload: Workload,
    question: Question,
    is_live: bool,
    harnesses: BenchmarkHarnesses,
) -> Feeding:
    """Put the question of a workload to an engine.

    If `is_live`, elements are sent by the clock. Raises Unrenderable, Declined and Broken.
    """
    prepared = prepare_workload(tested, workload, question)
    if workload.may_be_sent_by_instant and (is_live or _answers_on_close(tested, workload)):
        prepared = replace(prepared, is_sent_by_instant=True)
    pacing = ClockPacing() if is_live else ImmediatePacing()
    texts = [word_for_engine(tested, table, bool(question.static))[2] for table in workload.beside]
    with harnesses.of(tested) as harness:
        harness.start_others(texts)
        with ResourceSampler(harness.pid) as sampler:
            answers = prepared.ask(harness, pacing)
            ended = time.monotonic()
    exchange = Exchange(
        prepared.question,
        [_with_instant(answer) for answer in answers],
        prepared.engine_query.text,
        tested.window_closure,
    )
    seconds = round(ended - pacing.started, 3) if pacing.started else 0.0
    return Feeding(
        exchange,
        pacing.started_at,
        seconds,
        sampler.samples,
        round(sampler.cost, 3),
        pacing.is_live,
        pacing.sent_late,
        pacing.times,
    )


def _answers_on_close(tested: Engine, workload: Workload) -> bool:
    """Whether an engine is known to answer only when windows close. Its answers are the same
    however many elements of an instant it gets at once.
    """
    profile = workload.semantics
    if not tested.is_configurable:
        profile = tested.profile_for(workload.query)
    report = profile.fields.get("report")
    return isinstance(report, frozenset) and Condition.CLOSE in report <= ON_CLOSE


def _limits_of(tested: Engine) -> Limits:
    """Return the limits of a run: those of the engine's file, or those of benchmarks, which are
    longer than any case of the corpus, where these are greater.
    """
    limits = tested.limits
    return replace(
        limits,
        start_seconds=max(limits.start_seconds, START_SECONDS),
        reply_seconds=max(limits.reply_seconds, REPLY_SECONDS),
        case_seconds=max(limits.case_seconds, RUN_SECONDS),
        case_bytes=max(limits.case_bytes, RUN_BYTES),
    )


def _with_instant(answer: EngineReport) -> EngineReport:
    """Return an answer whose instant is when it was received, if the engine does not state one: in
    the stream's time, or else the instant of the element after which it came.
    """
    instants = (answer.instant, answer.received, answer.push_instant)
    instant = next((instant for instant in instants if instant is not None), None)
    return answer._replace(instant=instant)


def count_elements(exchange: Exchange) -> int:
    """Return how many elements were sent."""
    return sum(len(stream) for stream in exchange.question.streams.values())
