"""The running harnesses of one process: at most one for each engine. A harness is started when it
is first needed, and again after it broke down. An engine that is `fresh` has a new one for each
case.
"""

from __future__ import annotations

from typing import NamedTuple

from conformance.harness.client import Broken, Harness, Trace
from conformance.harness.engine_file import Engine

Key = tuple[str, str, str]  # of an item: its engine, suite and case


class LateLine(NamedTuple):
    """A line that a harness wrote after its last reply about an item, and so after the item had
    its result.
    """

    item: Key
    argument: str


class Harnesses:
    """The running harnesses, at most one for each engine. An engine that has failed to start twice
    in a row is not started again.

    A harness that writes a line after its last reply about an item is not asked again, so that the
    line is not read as a reply about the next item. `take_late_lines` gives these lines.

    `trace`, if given, is called with each line that is sent or that comes back.
    """

    def __init__(self, trace: Trace | None = None) -> None:
        self.trace = trace
        self.running: dict[str, Harness] = {}
        self.last_items: dict[str, Key] = {}  # the one that each engine was asked last
        self._late_lines: list[LateLine] = []
        self.failures: dict[str, list[Broken]] = {}  # to start, since the last start that worked

    def of(self, engine: Engine, item: Key | None = None) -> Harness:
        """Return the harness of an engine, ready for `register`, to be asked about an item. Raises
        Broken if it does not start.
        """
        harness = self.running.get(engine.name)
        if harness is not None:
            harness.look_for_late_line()
            if engine.fresh or not harness.usable:
                # one that exited by itself may have left processes behind, which end, too
                self._stop(engine.name)
                harness = None
        if item is not None:
            self.last_items[engine.name] = item
        if harness is not None:
            return harness
        failures = self.failures.setdefault(engine.name, [])
        if len(failures) > 1:
            raise Broken(f"it has failed to start twice: {failures[-1]}")
        try:
            harness = Harness(
                engine.command,
                limits=engine.limits,
                environment=engine.environment,
                trace=self.trace,
            )
            self.running[engine.name] = harness
            harness.start()
        except Broken as error:
            failures.append(error)
            raise
        failures.clear()
        return harness

    def add_late_line(self, item: Key, argument: str) -> None:
        """Add a line that a harness wrote after its last reply about an item."""
        self._late_lines.append(LateLine(item, argument))

    def take_late_lines(self) -> list[LateLine]:
        """Return the late lines that were found since this was last asked."""
        taken = self._late_lines
        self._late_lines = []
        return taken

    def stop(self) -> None:
        """Stop all harnesses."""
        for name in list(self.running):
            self._stop(name)

    def _stop(self, name: str) -> None:
        """Stop the harness of an engine, with all that it started, and add the line that it wrote
        after its last reply, if there is one.
        """
        harness = self.running.pop(name)
        harness.stop()
        if harness.late_line and name in self.last_items:
            self.add_late_line(self.last_items[name], harness.late_line)
