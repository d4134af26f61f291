"""The running harnesses of one process: at most one for each engine. A harness is started when it
is first needed, and again after it broke down. An engine that is `fresh` has a new one for each
case.
"""

from __future__ import annotations

from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Engine


class Harnesses:
    """The running harnesses, at most one for each engine. An engine that has failed to start twice
    in a row is not started again.
    """

    def __init__(self) -> None:
        self.running: dict[str, Harness] = {}
        self.failures: dict[str, list[Broken]] = {}  # to start, since the last start that worked

    def of(self, engine: Engine) -> Harness:
        """Return the harness of an engine, ready for `register`. Raises Broken if it does not
        start.
        """
        harness = self.running.get(engine.name)
        if harness is not None:
            if harness.usable and not engine.fresh:
                return harness
            # A harness that exited by itself may have left processes behind: stop ends them, too.
            harness.stop()
        failures = self.failures.setdefault(engine.name, [])
        if len(failures) > 1:
            raise Broken(f"it has failed to start twice: {failures[-1]}")
        try:
            harness = Harness(engine.command, limits=engine.limits, environment=engine.environment)
            self.running[engine.name] = harness
            harness.start()
        except Broken as error:
            failures.append(error)
            raise
        failures.clear()
        return harness

    def stop(self) -> None:
        """Stop all harnesses."""
        while self.running:
            self.running.popitem()[1].stop()
