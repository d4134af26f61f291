"""A ready test of how an engine's harness keeps its cases apart: queries are registered, elements
pushed, streams ended, and queries registered again, whether or not the one before has ended, in two
processes side by side. What an engine answers to a case must not depend on what came before.

Its name in your test: `TestMine = conversation_machine("mine.toml").TestCase`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from conformance.campaigns.asking import CaseVerdict, LiveEngine
from conformance.campaigns.drawing import Drawing
from conformance.campaigns.drawn_case import DrawnCase
from conformance.harness import engine_file
from conformance.harness.client import Broken
from conformance.harness.engine_file import Engine
from conformance.harness.play import Command, Declined, ReplyReader, check_result
from conformance.harness.pool import Harnesses
from conformance.suite.exchange import PreparedQuestion
from conformance.verdict.engine_report import EngineReport
from conformance.verdict.results import Outcome
from refengine.model.errors import RefengineError

CASES = 200  # that are drawn for an engine: a few recur
SIDES = (0, 1)  # the processes


@dataclass
class EngineProcess:
    """One process of an engine, and the case that it is asked at present, if it is asked one."""

    live: LiveEngine
    case: DrawnCase | None = None
    prepared: PreparedQuestion | None = None
    rest: Iterator[Command] = field(default_factory=lambda: iter(()))
    reader: ReplyReader = field(default_factory=lambda: ReplyReader(()))
    reports: list[EngineReport] = field(default_factory=list)

    def begin(self, case: DrawnCase) -> CaseVerdict | None:
        """Register the query of a case, whatever the case before has come to. Return a verdict if
        the engine refuses it or breaks down.
        """
        try:
            prepared = self.live.prepare(case)
        except RefengineError:
            return None
        self.case, self.prepared = case, prepared
        self.rest = prepared.commands()
        self.reader = ReplyReader(prepared.engine_query.query.body.variables)
        self.reports = []
        return self.say()

    def say(self) -> CaseVerdict | None:
        """Send the next command: `register`, an element, the time, or `end`. Return the verdict if
        it was the last one, or the engine refuses the case or breaks down.
        """
        assert self.case is not None and self.prepared is not None  # a case has begun
        case = self.case
        try:
            command, fields = next(self.rest)
            harness = self.live.harnesses.of(self.live.tested)
            self.reader.note_command(command, fields)
            reply = harness.ask(command, **fields)
            check_result(reply, command, len(self.reports))
            for report in self.reader.reports(reply, command):
                self.reports.append(report._replace(push_instant=fields.get("at")))
            if command != "end":
                return None
            self.case = None
            return self.live.judge(case, self.live.exchange(self.prepared, self.reports))
        except Broken as error:
            self.case = None
            return self.live.error(case, str(error))
        except (Declined, RefengineError) as error:
            self.case = None
            return CaseVerdict(case, Outcome.UNSUPPORTED, explanation=str(error))


def conversation_machine(engine: Engine | str, seed: int = 1) -> type[RuleBasedStateMachine]:
    """Return a machine of Hypothesis that talks to an engine: an `Engine`, its name, or the path of
    its file. Its cases are drawn from a seed. Raises RefengineError if there is no such engine.
    """
    tested = engine if isinstance(engine, Engine) else engine_file.engine(engine)
    drawing = Drawing.of(tested, seed)

    class Talk(RuleBasedStateMachine):
        """Two processes of one engine, each with a case."""

        def __init__(self) -> None:
            super().__init__()
            self.sides = [EngineProcess(LiveEngine(tested, Harnesses())) for _ in SIDES]

        @rule(side=st.sampled_from(SIDES), number=st.integers(0, CASES - 1))
        def register(self, side: int, number: int) -> None:
            """Begin a case in a process, whether or not the one before has ended."""
            case = drawing.case(number)
            if case is not None:
                refuse_memory(self.sides[side].begin(case), tested)

        @precondition(lambda self: any(side.case for side in self.sides))
        @rule(side=st.sampled_from(SIDES), count=st.integers(1, 4))
        def go_on(self, side: int, count: int) -> None:
            """Send some commands of the case of a process: elements, the time, the end."""
            for _ in range(count):
                if self.sides[side].case is not None:
                    refuse_memory(self.sides[side].say(), tested)

        @precondition(lambda self: any(side.case for side in self.sides))
        @rule(side=st.sampled_from(SIDES))
        def finish(self, side: int) -> None:
            """Send all that is left of the case of a process."""
            while self.sides[side].case is not None:
                refuse_memory(self.sides[side].say(), tested)

        def teardown(self) -> None:
            """Stop the processes."""
            for side in self.sides:
                side.live.harnesses.stop()

    return Talk


def refuse_memory(verdict: CaseVerdict | None, tested: Engine) -> None:
    """Raise AssertionError for a wrong answer that the engine does not give in a new process."""
    if verdict is None or not verdict.is_wrong or verdict.known:
        return
    harnesses = Harnesses()
    try:
        alone = LiveEngine(tested, harnesses).ask(verdict.case)
    finally:
        harnesses.stop()
    if not alone.shows(verdict):
        raise AssertionError(
            f"{tested.name} answers otherwise after other cases than in a new process, where it is "
            f"{alone.outcome}:\n{verdict.explanation}"
        )
