"""Checking an engine from Python, and which results are failures of a run."""

from __future__ import annotations

from pathlib import Path

from conformance.harness import engine_file
from conformance.harness.engine_file import Engine, InvalidEngine
from conformance.harness.pool import Harnesses
from conformance.suite.item import Item, ItemSelection, live_items, with_late_faults
from conformance.verdict.results import Outcome, Result


class NonConformance(AssertionError):
    """The error that an engine does not conform. The message has the explanation of every failure,
    and `results` has all results.
    """

    def __init__(self, explanations: list[str], results: list[Result]) -> None:
        super().__init__("\n\n".join(explanations))
        self.results = results


def why_unexpected(item: Item, result: Result) -> str:
    """Return why a result is a failure of the run, or nothing if it is not. A failure is a fail or
    an error that no known deviation explains, or a known deviation that does not show where it
    must. An unstable result is none: what the engine does is not known.
    """
    if result.is_fail_without_known_deviation:
        return result.explanation
    if result.outcome is Outcome.ERROR and not result.known:
        return f"error: {result.explanation}"
    if result.outcome is Outcome.UNSTABLE:
        return ""
    known = {(deviation.reason, deviation.link) for deviation in result.known}
    missing = [reason for reason, link in item.must_show if (reason, link) not in known]
    if not missing:
        return ""
    return (
        f"{result.outcome}, but a known deviation does not show here: {'; '.join(missing)}\n"
        f"{result.explanation}"
    )


def is_judged(result: Result) -> bool:
    """Whether a result says something about the engine. `unsupported` and `disputed` do not, unless
    a known deviation explains them.
    """
    return bool(result.known) or result.outcome not in (Outcome.UNSUPPORTED, Outcome.DISPUTED)


def check_engine(engine: Engine | str | Path, *, smoke: bool = False) -> list[Result]:
    """Put the whole corpus to an engine, with `smoke` a dozen cases, and return all results.

    The engine is given as an `Engine`, by its name or by the path of its file. Raises
    NonConformance if a result is a failure, and RefengineError if there is no such engine or
    something that it needs is missing.
    """
    if not isinstance(engine, Engine):
        engine = engine_file.engine(str(engine))
    tested = engine.with_classpath("")
    if tested.missing:
        raise InvalidEngine(tested.missing, rule="engine", place=tested.name)
    harnesses = Harnesses()
    try:
        asked = live_items(tested, ItemSelection(smoke=smoke))
        results = [item.run(harnesses) for item in asked]
    finally:
        harnesses.stop()
    results = with_late_faults(results, harnesses.take_late_faults())
    explanations = [
        f"{item.id}: {reason}"
        for item, result in zip(asked, results, strict=True)
        if (reason := why_unexpected(item, result))
    ]
    if explanations:
        raise NonConformance(explanations, results)
    return results
