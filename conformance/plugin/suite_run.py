"""What a run is asked for: its items, and earlier results to go on from or to compare with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from conformance.harness.pool import Harnesses
from conformance.plugin.options import option_value
from conformance.plugin.output_files import check_output_files
from conformance.report import source
from conformance.report.source import Entry
from conformance.suite import Item, SuiteOptions
from conformance.suite.fingerprint import fingerprint_of_run
from conformance.verdict import journal, results
from conformance.verdict.results import Result
from refengine.model.errors import RefengineError
from refengine.model.messages import display

MOST_REPEATS = 1_000


@dataclass
class SuiteRun:
    """A run of the suite in this process, before its first test.

    `fingerprint` is that of the run if its results are written, else empty. `results_so_far` are
    those of the interrupted run that is resumed, by their keys. `baseline` has the results to
    compare with, None if there are none. `ask` gives an item's result where that is not computed
    in this process.
    """

    options: SuiteOptions
    items: Sequence[Item]
    fingerprint: str
    results_so_far: Mapping[tuple[str, str, str], Result]
    baseline: Sequence[Entry] | None
    ask: Callable[[Item], Result] | None = None

    def result_by(self, harnesses: Harnesses) -> Callable[[Item], Result]:
        """Return the function that gives the result of an item: that of the run that is resumed, or
        a new one, for which the engine is asked by one of some harnesses.
        """
        ask = self.ask or (lambda item: item.run(harnesses))
        return lambda item: self.results_so_far.get(item.key) or ask(item)


def prepare_run(config: pytest.Config) -> SuiteRun:
    """Return the run that the command line asks for. Raises RefengineError for an option that
    means nothing, an output that cannot be written, and earlier results that cannot be read.
    """
    if option_value(config, "--no-diagnosis") and option_value(config, "--diagnose") is not None:
        raise RefengineError(
            "writes what the diagnosis finds: leave --no-diagnosis out",
            rule="usage",
            place="--diagnose",
        )
    options = _suite_options(config)
    items = options.items()
    check_output_files(config, items)
    fingerprint = ""
    if option_value(config, "--results") is not None:
        fingerprint = fingerprint_of_run(options)
    return SuiteRun(
        options, items, fingerprint, _results_so_far(config, fingerprint), _baseline(config)
    )


def _suite_options(config: pytest.Config) -> SuiteOptions:
    """Return the options of the suite as the command line gives them. Raises RefengineError."""
    command = None
    if (line := option_value(config, "--engine-command")) is not None:
        dialect, semantics = "--engine-dialect", "--engine-semantics"
        command = line, option_value(config, dialect), option_value(config, semantics)
    missing = option_value(config, "--missing")
    if missing is not None and missing < 0:
        raise RefengineError(f"must be >= 0, got {missing}", rule="ORA-3", place="--missing")
    repeat = option_value(config, "--repeat")
    if repeat is not None and not 1 <= repeat <= MOST_REPEATS:
        raise RefengineError(
            f"must be from 1 to {MOST_REPEATS}, got {display(repeat)}",
            rule="usage",
            place="--repeat",
        )
    return SuiteOptions(
        option_value(config, "--engine"),
        command,
        answers=option_value(config, "--answers"),
        csrbench=option_value(config, "--csrbench"),
        smoke=option_value(config, "--smoke"),
        keep=any(option_value(config, name) is not None for name in ("--results", "--report")),
        classpaths=option_value(config, "--engine-classpath"),
        missing=missing,
        repeat=repeat or 1,
    )


def _results_so_far(
    config: pytest.Config, fingerprint: str
) -> Mapping[tuple[str, str, str], Result]:
    """Return the results so far of the run that is resumed, by their keys; none without --resume.
    Raises RefengineError if they cannot be read, or are those of another run.
    """
    if not option_value(config, "--resume"):
        return {}
    path = option_value(config, "--results")
    if path is None:
        raise RefengineError(
            "needs --results=FILE, the file of the interrupted run",
            rule="usage",
            place="--resume",
        )
    return journal.read_journal(results.target(Path(path)), fingerprint, journal.RESULTS)


def _baseline(config: pytest.Config) -> Sequence[Entry] | None:
    """Return the results of the file of --baseline. Raises RefengineError."""
    path = option_value(config, "--baseline")
    if path is None:
        return None
    return source.read_results([Path(path)]).entries
