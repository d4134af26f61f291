"""The running harnesses of one process: one an engine, started when it is needed, and again after
it broke down or, of an engine that is to be fresh, for each case.
"""

from __future__ import annotations

from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Engine


class Harnesses:
    """The running harnesses, at most one an engine. An engine that twice in a row does not start is
    not started again.
    """

    def __init__(self) -> None:
        self.running: dict[str, Harness] = {}
        self.failures: dict[str, list[Broken]] = {}  # to start, since it last did

    def of(self, engine: Engine) -> Harness:
        """Return the engine's harness, ready for `register`. Raises Broken."""
        harness = self.running.get(engine.name)
        if harness is not None and harness.usable:
            if not engine.fresh:
                return harness
            harness.stop()
        failures = self.failures.setdefault(engine.name, [])
        if len(failures) > 1:
            raise Broken(f"it does not start, twice tried: {failures[-1]}")
        try:
            harness = Harness(engine.command, limits=engine.limits)
            self.running[engine.name] = harness
            harness.start()
        except Broken as error:
            failures.append(error)
            raise
        failures.clear()
        return harness

    def stop(self) -> None:
        """Stop them all."""
        while self.running:
            self.running.popitem()[1].stop()
