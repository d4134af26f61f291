"""A heartbeat tells an engine the time at the instants at which there may be something new. What it
leaves out of all its instants would change no report.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, product
from typing import Any

import pytest
from conftest import draws
from every_window import LATE_FOR_WINDOW
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.harness.engine_file import Deviation, Engine
from conformance.harness.heartbeat import MOST_AT_EACH_END, Heartbeat, heartbeat_for
from conformance.harness.play import EngineQuery, play
from refengine import from_table, profile, stream
from refengine.core.profile import Between, OneOf
from refengine.core.question import Question
from refengine.model.elements import Stream

TRIPLE = ("<urn:a>", "<urn:p>", "<urn:b>")
Command = tuple[str, int]  # push or advance, and its instant


def over(source: str, size: int = 10, slide: int = 5, **more: Any) -> dict[str, Any]:
    """Return a window over a stream; `more` changes it."""
    return {"stream": source, "kind": "time", "size": size, "slide": slide, **more}


def question_of(windows: list[dict[str, Any]], **streams: Stream) -> Question:
    """Return a question about all triples of some windows over streams."""
    return Question(from_table({"windows": windows, "body": "SELECT * { ?s ?p ?o }"}), streams)


def engine_with(heartbeat: int, **fields: Any) -> Engine:
    """Return an engine that claims C-SPARQL's profile with some fields, and wants a heartbeat."""
    claimed = profile("csparql").but(**fields)
    command = ("engine",)
    return Engine("mine", "Mine", command, "csparql", profile=claimed, heartbeat=heartbeat)


class RecordingHarness:
    """A harness that keeps the commands that are sent to it, and reports nothing."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def ask(self, command: str, **fields: Any) -> dict[str, Any]:
        """Keep the instant of a `push` or an `advance`."""
        if "at" in fields:
            self.commands.append((command, fields["at"]))
        return {"reply": "result", "relations": []}


def commands_sent(tested: Engine, question: Question) -> list[Command]:
    """Return the pushes and advances that an engine is sent during a question."""
    harness: Any = RecordingHarness()
    engine_query = EngineQuery(question.query, "text", "csparql")
    play(harness, engine_query, question.streams, heartbeat=heartbeat_for(tested, question))
    return harness.commands


def with_every_instant(commands: list[Command], every: int, after: int) -> list[Command]:
    """Return the pushes of some commands and every instant of a heartbeat, until `after` ms after
    the last push.
    """
    pushed = [at for command, at in commands if command == "push"]
    ends = [*pushed[1:], pushed[-1] + after]
    everything = []
    time = pushed[0]
    for at, end in zip(pushed, ends, strict=True):
        everything.append(("push", at))
        time = max(time, at)
        instants = range(time + 1, end + 1)
        everything += [("advance", t) for t in instants if t % every == 1 % every]
    return everything


class LookingEngine:
    """An engine that looks at its windows whenever it is told the time, and at no other instant. It
    misses what is over when it looks: of several windows that have closed it reports the last, and
    of several contents the one at that instant.

    A report is what is reported, what the engine held, and when. `window` is a window's size and
    slide, `low` and `high` are what a closure adds to o and c to give its first and last instant.
    """

    def __init__(self, t0: int, window: tuple[int, int], low: int, high: int) -> None:
        self.t0 = t0
        self.size, self.slide = window
        self.low = low
        self.high = high

    def closes_when_reached(self, t: int) -> int:
        """Return the number of the last window with c <= t."""
        return (t - self.t0 - self.size) // self.slide

    def closes_when_passed(self, t: int) -> int:
        """Return the number of the last window with c < t."""
        return self.closes_when_reached(t - 1)

    def is_active_from(self, t: int) -> int:
        """Return the first instant of the window that has been open the longest."""
        last = self.t0 + self.size + self.high
        number = -((last - t) // self.slide)
        return self.t0 + self.low + number * self.slide

    def reports(self, commands: list[Command], rule: str) -> Iterator[tuple[Any, ...]]:
        """Yield the reports under a rule: `reached`, `passed` or `content`."""
        elements: list[int] = []
        seen: Any = None
        for command, t in commands:
            if rule == "content" and command == "push":
                elements.append(t)
            match rule:
                case "reached":
                    state: Any = self.closes_when_reached(t)
                case "passed":
                    state = self.closes_when_passed(t)
                case _:
                    state = [element for element in elements if element >= self.is_active_from(t)]
            if seen is not None and state != seen:
                yield state, list(elements), t
            seen = state
            if rule != "content" and command == "push":
                elements.append(t)


CLOSURES = {"[)": (0, -1), "(]": (1, 0), "[]": (0, 0)}
LENGTHS = st.one_of(st.integers(1, 12), st.sampled_from([30, 60, 100]))


@dataclass(frozen=True)
class Draw:
    """An engine with its heartbeat, its windows and the times of the elements that it is given."""

    t0: int
    windows: list[tuple[int, int]]
    closure: str
    every: int
    begin: int
    gaps: list[int]

    @property
    def question(self) -> Question:
        """The question: the windows with a name for each, over one stream."""
        windows = [
            over("s", size, slide, name=f"urn:w{number}")
            for number, (size, slide) in enumerate(self.windows)
        ]
        times = accumulate([self.begin, *self.gaps])
        return question_of(windows, s=stream([(TRIPLE, at) for at in times]))

    @property
    def engines(self) -> list[LookingEngine]:
        """An engine for each of the windows."""
        return [LookingEngine(self.t0, window, *CLOSURES[self.closure]) for window in self.windows]

    def commands(self, **claim: Any) -> tuple[list[Command], list[Command]]:
        """Return what an engine is sent if its file makes a claim about t0, and what it would be
        sent with every instant of its heartbeat.
        """
        tested = engine_with(self.every, **claim, offset=None, closure=self.closure)
        deviation = Deviation("opens elsewhere", "https://example.org", (), {"t0": self.t0})
        if claim["t0"] == ELSEWHERE:
            tested = replace(tested, deviations=(deviation,))
        sent = commands_sent(tested, self.question)
        longest = max(size for size, _ in self.windows)
        return sent, with_every_instant(sent, self.every, longest + 1)


ELSEWHERE = 1_000_003  # no t0 that is drawn
DRAWS = st.builds(
    Draw,
    t0=st.integers(-40, 40),
    windows=st.lists(st.tuples(LENGTHS, LENGTHS), min_size=1, max_size=2),
    closure=st.sampled_from(sorted(CLOSURES)),
    every=st.one_of(st.integers(1, 12), st.just(100)),
    begin=st.integers(-20, 20),
    gaps=st.lists(st.one_of(st.integers(0, 9), st.integers(0, 150)), max_size=5),
)
RULES = ("reached", "passed", "content")


@pytest.mark.parametrize("claim", ["exact", "one of several", "as a known deviation"])
@settings(max_examples=draws(300))
@given(drawn=DRAWS)
def test_what_is_left_out_changes_no_report_if_t0_is_known(claim, drawn):
    """The reports are the same, and come at the same instants."""
    t0s = {"exact": drawn.t0, "one of several": OneOf((3, drawn.t0))}
    sent, everything = drawn.commands(t0=t0s.get(claim, ELSEWHERE))
    assert set(sent) <= set(everything)
    for engine, rule in product(drawn.engines, RULES):
        assert list(engine.reports(sent, rule)) == list(engine.reports(everything, rule))


@pytest.mark.parametrize("is_bounded", [True, False])
@settings(max_examples=draws(300))
@given(drawn=DRAWS)
def test_what_is_left_out_changes_no_report_if_t0_can_be_any_value(is_bounded, drawn):
    """The reports are the same; some may come later, but before the next border and element."""
    t0: Any = "unknown"
    if is_bounded:
        t0 = Between(drawn.t0 - 1, drawn.t0 + 1)
    sent, everything = drawn.commands(t0=t0)
    assert set(sent) <= set(everything)
    for engine, rule in product(drawn.engines, RULES):
        of_sent = [report[:2] for report in engine.reports(sent, rule)]
        of_everything = [report[:2] for report in engine.reports(everything, rule)]
        assert of_sent == of_everything


def test_the_engine_of_this_test_misses_what_it_is_not_told():
    """Without the instants 10 and 15 it reports the last of three windows alone, at 20."""
    engine = LookingEngine(0, (10, 5), 0, -1)
    commands = [("push", 3), ("advance", 10), ("advance", 15), ("push", 20)]
    assert [report[0] for report in engine.reports(commands, "reached")] == [0, 1, 2]
    assert [report[0] for report in engine.reports([commands[0], commands[-1]], "reached")] == [2]


def advances(tested: Engine, question: Question) -> list[int]:
    """Return the instants to which an engine is sent `advance` during a question."""
    return [at for command, at in commands_sent(tested, question) if command == "advance"]


def test_the_example_of_the_protocol():
    question = question_of([over("s")], s=stream([(TRIPLE, 12), (TRIPLE, 31)]))
    instants = advances(engine_with(1, t0=0), question)
    assert instants == [13, 15, 16, 20, 21, 25, 26, 30, 31, 32, 35, 36, 40, 41, 42]
    instants = advances(engine_with(4, t0=0), question)
    assert instants == [13, 17, 21, 25, 29, 33, 37, 41]


def test_windows_in_seconds_need_few_instants_with_every_heartbeat():
    """Windows [0, 10000), [5000, 15000), …; the elements are 10 s apart."""
    question = question_of(
        [over("s", 10_000, 5_000)], s=stream([(TRIPLE, 2_000), (TRIPLE, 12_000)])
    )
    instants = advances(engine_with(1000, t0=0), question)
    assert instants == [2001, 5001, 10_001, 11_001, 12_001, 15_001, 20_001, 22_001]
    instants = advances(engine_with(1, t0=0), question)
    assert instants[:6] == [2001, 5000, 5001, 10_000, 10_001, 12_000]
    instants = advances(engine_with(1, t0="unknown"), question)
    assert instants[:7] == [2001, 4999, 5000, 5001, 9999, 10_000, 10_001]


def test_a_periodic_report_is_due_at_a_border():
    question = question_of([over("s", 100, 100)], s=stream([(TRIPLE, 0), (TRIPLE, 40)]))
    periodic = {"report": "periodic", "period": 15, "anchor": 4}
    instants = advances(engine_with(1, t0=0, **periodic), question)
    assert instants[: instants.index(40) + 1] == [1, 4, 5, 19, 20, 34, 35, 40]


def test_an_engine_that_waits_for_late_elements_is_sent_the_time_at_which_it_has_waited():
    question = question_of([over("s", 10, 10)], s=stream([(TRIPLE, 1), (TRIPLE, 19)]))
    instants = advances(engine_with(1, t0=0, allowed_lateness=3), question)
    assert instants[: instants.index(19) + 1] == [2, 3, 4, 10, 11, 13, 14, 19]


def test_an_engine_whose_watermark_has_a_delay_is_sent_the_time_that_much_later():
    """[0, 10) closes when the time is 10 + 26, and expires 3 later; a session of 5 ends at 1 + 5.
    After the last element time goes on for the size, 1, and the delay.
    """
    fields = LATE_FOR_WINDOW | {
        "reported_windows": "every",
        "watermark_delay": 26,
        "allowed_lateness": 3,
    }
    elements = stream([(TRIPLE, 1), (TRIPLE, 60)])
    tested = engine_with(1, t0=0, **fields)
    instants = advances(tested, question_of([over("s", 10, 100)], s=elements))
    assert {10, 36, 39} < {*instants} and instants[-1] == 60 + 10 + 1 + 26
    session = {"stream": "s", "kind": "session", "size": 5}
    instants = advances(tested, question_of([session], s=elements))
    assert {6, 6 + 26, 6 + 26 + 3} < {*instants} and instants[-1] == 60 + 5 + 1 + 26


def test_windows_without_borders_in_time_need_the_first_and_the_last_instant_alone():
    elements = stream([(TRIPLE, 3), (TRIPLE, 12)])
    for window in (over("s", kind="tuple"), {"stream": "s", "kind": "unbounded"}):
        fields = {"closure": "[)" if window["kind"] == "tuple" else None}
        question = question_of([window], s=elements)
        instants = advances(engine_with(1, t0=0, **fields), question)
        assert [at for at in instants if at <= 12] == [4, 12]


def test_time_does_not_go_back_for_a_late_element():
    question = question_of([over("s")], s=stream([(TRIPLE, 12), (TRIPLE, 5), (TRIPLE, 14)]))
    commands = commands_sent(engine_with(1, t0=0, allowed_lateness=0), question)
    assert commands[:5] == [
        ("push", 12),
        ("push", 5),
        ("advance", 13),
        ("advance", 14),
        ("push", 14),
    ]


def test_a_long_silence_has_the_first_and_the_last_instants_alone():
    heartbeat = heartbeat_for(
        engine_with(1, t0=0), question_of([over("s")], s=stream([(TRIPLE, 0)]))
    )
    instants = heartbeat.instants(0, 10**15)
    assert len(instants) == 2 * MOST_AT_EACH_END
    assert instants[:4] == [1, 5, 6, 10]
    assert instants[-3:] == [10**15 - 5, 10**15 - 4, 10**15]


def test_without_a_heartbeat_no_time_is_sent():
    question = question_of([over("s")], s=stream([(TRIPLE, 3), (TRIPLE, 12)]))
    assert heartbeat_for(engine_with(0, t0=0), question) is None
    assert advances(engine_with(0, t0=0), question) == []


def test_where_every_instant_is_a_border_those_at_which_elements_leave_are_sent_in_any_case():
    """RANGE 10,000 ms, and the engine ignores slides: it forgets the elements at 10,000 and 13,000,
    in the middle of a gap of 27,000 ms.
    """
    elements = stream([(TRIPLE, 0), (TRIPLE, 3_000), (TRIPLE, 30_000)])
    question = question_of([over("s", 10_000, 10_000)], s=elements)
    tested = engine_with(1, t0=0, slide="ignored")
    in_gap = [at for at in advances(tested, question) if 3_000 < at <= 30_000]
    assert in_gap == [
        *range(3_001, 3_501),
        *(10_000, 10_001, 13_000, 13_001),
        *range(29_501, 30_001),
    ]


def test_an_element_enters_a_window_with_a_lag_when_time_is_sent():
    """The element at 12 comes into windows of 10 at 19, though their borders are multiples of
    1,000, and leaves them at 29.
    """
    question = question_of([over("s", 10, 1000, lag=7)], s=stream([(TRIPLE, 12), (TRIPLE, 900)]))
    sent = commands_sent(engine_with(1, t0=0, offset=None, closure="[)"), question)
    instants = {t for command, t in sent if command == "advance" and t < 900}
    assert {19, 29} <= instants and not instants & {18, 20, 28}


def test_a_configurable_engine_is_sent_no_time():
    """Its semantics comes with each case."""
    question = question_of([over("s")], s=stream([(TRIPLE, 3), (TRIPLE, 12)]))
    tested = replace(engine_with(1, t0=0), profile=None)
    assert heartbeat_for(tested, question) is None


def test_an_instant_is_one_plus_a_multiple():
    assert Heartbeat(10).instants(-25, 15) == [-19, 11]


def test_time_goes_on_until_a_session_is_over():
    """WIN-23: A session is over 5,000 ms after its last element: after the one at 0, and after the
    last one, at 20,000.
    """
    session = {"stream": "s", "kind": "session", "size": 5000}
    question = question_of([session], s=stream([(TRIPLE, 0), (TRIPLE, 20_000)]))
    tested = engine_with(1, reported_windows="every", t0=0)
    sent = [at for command, at in commands_sent(tested, question) if command == "advance"]
    assert {5000, 5001, 25_000, 25_001} <= {*sent}
    assert sent[-1] == 25_001
