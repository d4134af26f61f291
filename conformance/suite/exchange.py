"""Putting a question to an engine: the exchange of question and answers.

An engine that has no end of a stream never reports its last windows, and so a case shows nothing
where time does not go on. Such an engine is sent sentinels: elements that come after the stream of
a case. A sentinel is an ordinary element: the engine is judged over the stream with the sentinels,
by the same definition. So nothing has to be taken away from what it reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from conformance import corpus
from conformance.corpus import Case, window_cases
from conformance.harness.client import Harness
from conformance.harness.engine_file import Engine
from conformance.harness.heartbeat import Heartbeat, heartbeat_for
from conformance.harness.play import (
    Command,
    EngineQuery,
    Pacing,
    commands,
    join_instants,
    play_commands,
)
from conformance.verdict import window_elements
from conformance.verdict.engine_report import EngineReport
from refengine.core.query import Query, Window, WindowKind
from refengine.core.question import Question
from refengine.core.values import Closure, LateFor, ReportedWindows
from refengine.core.window import longest_stay
from refengine.dialects import Unrenderable
from refengine.model.elements import TIME_BOUND, Element, Relation, Stream, valid
from refengine.model.errors import require
from refengine.model.terms import Term
from refengine.oracle.trial import JudgementOptions, Missing


class BenchmarkQuery(NamedTuple):
    """A query of a benchmark, with id, rule and name as a case has them, and its table (QRY-1)."""

    id: str
    rule: str
    name: str
    table: Mapping[str, Any] | None = None
    suite: str = "csrbench"


@dataclass(frozen=True)
class Exchange:
    """A question, and the reports that an engine answered to it.

    `text` is the query as it was sent to the engine. `window_closure` says which borders belong to
    the windows that the engine states, and `missing` how many outputs may be missing at each end.
    """

    question: Question
    answers: list[EngineReport]
    text: str = ""
    window_closure: Closure | None = None
    missing: int | Missing = 0

    @property
    def relations(self) -> list[Relation]:
        """The relations that are judged, in order."""
        return [answer.relation for answer in self.answers]

    @property
    def judgement_options(self) -> JudgementOptions:
        """The terms on which the answers are judged: how many outputs may be missing, and the
        windows that the engine states.
        """
        return {
            "missing": self.missing,
            "windows": [answer.window for answer in self.answers],
            "window_closure": self.window_closure,
        }


@dataclass(frozen=True)
class PreparedQuestion:
    """A question as it is put to an engine: with sentinels, if the engine has no end of a stream;
    the query in the engine's language; and the heartbeat, for an engine that is sent the time. If
    `is_sent_by_instant`, elements of one instant are sent together (`play.join_instants`).
    """

    question: Question
    engine_query: EngineQuery
    heartbeat: Heartbeat | None = None
    is_sent_by_instant: bool = False

    def commands(self) -> Iterator[Command]:
        """Yield the commands that put the question to an engine."""
        question = self.question
        every = commands(self.engine_query, question.streams, question.static, self.heartbeat)
        if self.is_sent_by_instant:
            return join_instants(every)
        return every

    def ask(self, harness: Harness, pacing: Pacing | None = None) -> list[EngineReport]:
        """Put the question to an engine, and return its reports. `pacing` is that of `play`. Raises
        Declined and Broken.
        """
        variables = self.engine_query.query.body.variables
        return play_commands(harness, self.commands(), variables, pacing)


def prepare_question(
    tested: Engine,
    question: Question,
    table: Mapping[str, Any] | None,
) -> PreparedQuestion:
    """Return a question as it is put to an engine that has a semantics of its own. `table` is the
    table from which the query was made. Raises Unrenderable.
    """
    if tested.has_sentinels:
        question = with_sentinels(question, tested.watermark_delay)
    text = tested.text(question.query, bool(question.static), table)
    late_for = tested.claim("late_for")
    is_kept = isinstance(late_for, LateFor) and late_for.keeps_arrival_order
    engine_query = EngineQuery(question.query, text, tested.dialect, keeps_arrival_order=is_kept)
    return PreparedQuestion(question, engine_query, heartbeat_for(tested, question))


def asked_question(tested: Engine, case: Case) -> Question:
    """Return the question of a case as it is put to an engine: with sentinels, if it has no end of
    a stream.
    """
    question = corpus.question_of(case)
    if tested.has_sentinels:
        question = with_sentinels(question, tested.watermark_delay)
    return question


def ask_case(tested: Engine, harness: Harness, case: Case) -> Exchange:
    """Put the question of a case to an engine, and return the exchange. Raises RefengineError for a
    case that is bad input, and Declined and Broken.
    """
    refuse_other_windows(tested, case)
    return ask_question(tested, harness, corpus.question_of(case), corpus.query_table(case))


def refuse_other_windows(tested: Engine, case: Case) -> None:
    """Refuse a case that is about every window for itself (REP-14), if an engine reports the active
    one alone, and one of windows alone with punctuations (MOD-5), if an engine does not read them.
    Raises Unrenderable.
    """
    stated = tested.claim("reported_windows")
    reports_active = isinstance(stated, ReportedWindows) and not stated.is_every
    blocks = case.table.get("expect", [])
    reported = {block["semantics"].get("reported_windows", "active") for block in blocks}
    if reports_active and reported == {"every"}:
        raise Unrenderable(
            f"{tested.title} reports the active window alone, and the case is about every one",
            rule="REP-14",
            place="reported_windows",
        )
    if case.suite == window_cases.SUITE and not tested.is_configurable:
        elements = case.table["streams"][0]["elements"]
        has_punctuations = any(not element["graph"] for element in elements)
        if has_punctuations and not window_cases.reads_punctuations(tested.claim("watermark")):
            raise Unrenderable(
                f"{tested.title} reads no punctuations", rule="MOD-5", place="watermark"
            )


def ask_question(
    tested: Engine,
    harness: Harness,
    question: Question,
    table: Mapping[str, Any] | None,
) -> Exchange:
    """Put a question to an engine, and return the exchange. `table` is the table from which the
    query was made. For an engine that has no end of a stream, the question of the exchange has
    sentinels. Raises Unrenderable, Declined and Broken.
    """
    prepared = prepare_question(tested, question, table)
    answers = prepared.ask(harness)
    return Exchange(
        prepared.question,
        answers,
        prepared.engine_query.text,
        tested.window_closure,
        tested.unreported,
    )


TERM = Term("<urn:refengine:sentinel>")
GRAPH = frozenset({(TERM, TERM, TERM)})
TIME_BASED = frozenset({WindowKind.TIME, WindowKind.RANGE, WindowKind.SESSION})
# There are at most so many sentinels on each stream.
MOST = 64


def with_sentinels(question: Question, delay: int = 0) -> Question:
    """Return a question whose streams end with sentinels. `delay` is that of the engine's watermark
    (MOD-5).

    They come a slide apart, the least of the windows' slides, until the last element of the case is
    in no window any more; for sessions they come one more than the gap apart. So at most one of a
    window's instances closes between two of them, whatever t0 is, and an engine that reports only
    the latest of several closed ones reports each. With RANGE 10, SLIDE 5 and a last element at 12
    they are at 17, 22 and 27. Where this would be more than 64 (`MOST`) on a stream, they come
    further apart.

    A question is returned as it is if it has no windows over time or no elements, if it has a
    partition, whose key a sentinel may lack, or if sentinels would come after the last instant that
    there is.
    """
    windows = [window for window in question.query.windows if window.kind in TIME_BASED]
    elements = [element for stream in question.streams.values() for element in stream]
    if not windows or not elements or _has_partition(question.query):
        return question

    last = max(valid(element)[1] for element in elements)
    instants = list(sentinel_instants(windows, last, delay))
    if instants[-1] + max(map(longest_stay, windows)) >= TIME_BOUND:  # there is no later time
        return question
    streams = {}
    for name, stream in question.streams.items():
        # of a stream without elements the sentinels are the only ones
        is_batched = _has_batches(stream or elements)
        sentinels = list(_sentinels(stream, instants, is_batched))
        if window_elements.asks_for_contents(question.query):
            sentinels = list(_numbered(sentinels, stream))
        streams[name] = Stream((*stream, *sentinels), stream.ordered)
    return replace(question, streams=streams)


def _numbered(sentinels: Iterable[Element], stream: Stream) -> Iterator[Element]:
    """Yield the sentinels of a case of windows alone, which are elements with the next numbers and
    a key of their own.
    """
    first = sum(bool(element.graph) for element in stream)  # a punctuation has no number
    for number, sentinel in enumerate(sentinels, first):
        text = window_elements.graph_text(number, TERM)
        yield sentinel._replace(graph=corpus.triples(text))


def _has_partition(query: Query) -> bool:
    """Return whether a window of a query has a partition."""
    return any(window.kind is WindowKind.PARTITION for window in query.windows)


def is_sentinel(element: Mapping[str, Any]) -> bool:
    """Whether an element of a result's evidence is one of the suite's own."""
    return TERM in element["graph"]


def _distance(window: Window) -> int:
    """Return how far apart sentinels are for a window: its slide, or for a session so far that each
    begins another one.
    """
    if window.kind is WindowKind.SESSION:
        return require(window.size) + 1
    return window.step


def sentinel_instants(windows: Iterable[Window], last: int, delay: int = 0) -> Iterator[int]:
    """Yield the instants of the sentinels after a last element at `last`. `delay` is that of the
    engine's watermark (MOD-5).

    >>> window = Window("s", WindowKind.TIME, size=10, slide=5)
    >>> list(sentinel_instants([window], 12))
    [17, 22, 27]
    """
    windows = list(windows)
    reach = max(map(longest_stay, windows)) + 1 + delay
    step = min(map(_distance, windows))
    step = max(step, -(-reach // MOST))
    yield from range(last + step, last + reach + step, step)


def _has_batches(elements: Iterable[Element]) -> bool:
    """Return whether any of some elements has a batch id."""
    return any(element.batch is not None for element in elements)


def _sentinels(stream: Stream, instants: Iterable[int], is_batched: bool) -> Iterator[Element]:
    """Yield the sentinels of a stream: the elements at these instants. If the stream `is_batched`,
    each is in a batch of its own.
    """
    batch = None
    if is_batched:
        batch = max((element.batch or 0 for element in stream), default=0)
    sys = max((element.sys for element in stream), default=0)
    for instant in instants:
        sys += 1
        if batch is not None:
            batch += 1
        yield Element(GRAPH, instant, sys, batch)
