"""The running harnesses of one process: at most one for each engine. A harness is started when it
is first needed, and again after it broke down. An engine that is `fresh` has a new one for each
case.
"""

from __future__ import annotations

from typing import NamedTuple

from conformance.harness.client import GRACE, Broken, Harness, Trace
from conformance.harness.engine_file import Engine

Key = tuple[str, str, str]  # of an item: its engine, suite and case


class LateFault(NamedTuple):
    """What a harness did after its last reply about an item, and so after the item had its result:
    it wrote a line, closed its output, or its process ended.
    """

    item: Key
    explanation: str


class Harnesses:
    """The running harnesses, at most one for each engine. An engine that has failed to start twice
    in a row is not started again.

    A harness that writes a line after its last reply about an item is not asked again, so that the
    line is not read as a reply about the next item. `take_late_faults` gives these lines, and the
    ends of processes that came as late.

    `trace`, if given, is called with each line that is sent or that comes back.
    """

    def __init__(self, trace: Trace | None = None) -> None:
        self.trace = trace
        self.running: dict[str, Harness] = {}
        self.last_items: dict[str, Key] = {}  # the one that each engine was asked last
        self._late_faults: list[LateFault] = []
        self.failures: dict[str, list[Broken]] = {}  # to start, since the last start that worked

    def of(self, engine: Engine, item: Key | None = None) -> Harness:
        """Return the harness of an engine, ready for `register`, to be asked about an item. Raises
        Broken if it does not start.
        """
        harness = self.running.get(engine.name)
        if harness is not None:
            harness.look_for_late_fault()
            if engine.fresh or not harness.usable:
                # one that exited by itself may have left processes behind, which end, too
                self._stop(engine.name)
                harness = None
        if item is not None:
            self.last_items[engine.name] = item
        if harness is not None:
            harness.registered = 0
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

    def settle(self, engine: Engine) -> str:
        """Wait a moment for what the harness of an engine does after its last reply; return it in
        words, or nothing if it does nothing. A harness that has done something is stopped.
        """
        harness = self.running.get(engine.name)
        if harness is None or not harness.look_for_late_fault(GRACE):
            return ""
        del self.running[engine.name]
        harness.stop()
        return harness.late_fault

    def add_late_fault(self, item: Key, explanation: str) -> None:
        """Add what a harness did after its last reply about an item."""
        self._late_faults.append(LateFault(item, explanation))

    def take_late_faults(self) -> list[LateFault]:
        """Return the late faults that were found since this was last asked."""
        taken = self._late_faults
        self._late_faults = []
        return taken

    def stop(self) -> None:
        """Stop all harnesses."""
        for name in list(self.running):
            self._stop(name)

    def _stop(self, name: str) -> None:
        """Stop the harness of an engine, with all that it started, and add what it did after its
        last reply, if it did something.
        """
        harness = self.running.pop(name)
        harness.stop()
        if harness.late_fault and name in self.last_items:
            self.add_late_fault(self.last_items[name], harness.late_fault)
