"""The running harnesses of one process: one an engine, started when it is needed, and again after
it broke down or, of an engine that is to be fresh, for each case.
"""

from __future__ import annotations

from conformance.harness.client import Broken, Harness
from conformance.harness.engine_file import Engine


class Harnesses:
    """At most one running harness an engine. An engine that twice in a row does not start is not
    started again.
    """

    def __init__(self) -> None:
        self.running: dict[str, Harness] = {}
        self.refused: dict[str, list[Broken]] = {}

    def of(self, engine: Engine) -> Harness:
        """The engine's harness, ready for `register`. Raises Broken."""
        harness = self.running.get(engine.name)
        if harness is not None and harness.usable:
            if not engine.fresh:
                return harness
            harness.stop()
        refused = self.refused.setdefault(engine.name, [])
        if len(refused) > 1:
            raise Broken(f"it does not start, twice tried: {refused[-1]}")
        try:
            self.running[engine.name] = harness = Harness(engine.command, limits=engine.limits)
            harness.start()
        except Broken as error:
            refused.append(error)
            raise
        refused.clear()
        return harness

    def stop(self) -> None:
        """Ends them all."""
        while self.running:
            self.running.popitem()[1].stop()
