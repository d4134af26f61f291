"""The results of a run: which are unexpected, and an engine checked from Python."""

from __future__ import annotations

from pathlib import Path

from conformance.harness import engine_file
from conformance.harness.engine_file import Engine, InvalidEngine
from conformance.harness.pool import Harnesses
from conformance.suite.chosen import ItemSelection
from conformance.suite.item import Item, live_items
from conformance.verdict.results import Outcome, Result


class NonConformance(AssertionError):
    """The error that an engine fails; the message has every argument. `results` are all results."""

    def __init__(self, arguments: list[str], results: list[Result]) -> None:
        super().__init__("\n\n".join(arguments))
        self.results = results


def why_unexpected(item: Item, result: Result) -> str:
    """Return why a result is a failure of the run, or nothing: a fail or an error that no known
    deviation explains, or a known deviation that does not show where it must.
    """
    if result.outcome is Outcome.FAIL and not result.known:
        return result.argument
    if result.outcome is Outcome.ERROR and not result.known:
        return f"error: {result.argument}"
    missing = [reason for reason, link in item.shows if (reason, link) not in result.known]
    if not missing:
        return ""
    return (
        f"{result.outcome}, without what the engine is known for here: {'; '.join(missing)}\n"
        f"{result.argument}"
    )


def is_judged(result: Result) -> bool:
    """Whether a result says something of the engine: what is unsupported or disputed does not."""
    return bool(result.known) or result.outcome not in (Outcome.UNSUPPORTED, Outcome.DISPUTED)


def check_engine(engine: Engine | str | Path, *, smoke: bool = False) -> list[Result]:
    """Return every result of an engine, by its name, the path of its file, or itself. Raises
    NonConformance if any is unexpected, and a RefengineError if there is no such engine or what it
    needs is not there.
    """
    if not isinstance(engine, Engine):
        engine = engine_file.engine(str(engine))
    tested = engine.with_classpath("")
    if tested.missing:
        raise InvalidEngine(tested.missing, rule="engine", place=tested.name)
    harnesses = Harnesses()
    try:
        pairs = [
            (item, item.run(harnesses)) for item in live_items(tested, ItemSelection(smoke=smoke))
        ]
    finally:
        harnesses.stop()
    results = [result for _, result in pairs]
    arguments = [
        f"{item.id}: {reason}" for item, result in pairs if (reason := why_unexpected(item, result))
    ]
    if arguments:
        raise NonConformance(arguments, results)
    return results
