"""A run of the suite: its items, where their results come from, how the test of each ends, and the
earlier results to go on from or to compare with.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from conformance.harness.pool import Harnesses
from conformance.plugin.options import OUTPUTS, option_value
from conformance.plugin.report_data import keep_engine, keep_result
from conformance.report import source
from conformance.report.source import Entry
from conformance.spark import shard
from conformance.spark.session import NoSpark
from conformance.suite import Item, SuiteOptions, why_unexpected
from conformance.suite.item import files_of_items
from conformance.suite.suite_options import fingerprint_of_run
from conformance.verdict import journal, results
from conformance.verdict.outcomes import Outcome
from conformance.verdict.outputs import check_outputs
from conformance.verdict.results import Result
from refengine.model.errors import RefengineError
from refengine.model.messages import display, nearest_id

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
        reason = "writes what the diagnosis finds: leave --no-diagnosis out"
        raise RefengineError(reason, rule="usage", place="--diagnose")
    options = _suite_options(config)
    items = options.items()
    check_output_files(config, items)
    fingerprint = ""
    if option_value(config, "--results") is not None:
        fingerprint = fingerprint_of_run(options)
    return SuiteRun(
        options, items, fingerprint, _results_so_far(config, fingerprint), _baseline(config)
    )


def check_output_files(config: pytest.Config, items: Iterable[Item]) -> None:
    """Raise RefengineError for outputs that cannot be written, or that would replace an input of
    the run or one another. pytest's own JUnit file is an output, too.
    """
    outputs = []
    for option in OUTPUTS:
        if (path := option_value(config, option)) is not None:
            outputs.append(Path(path))
            target = results.target(Path(path))
            if option == "--results":
                outputs.append(journal.journal_path(target))
                results.target(outputs[-1])
    if junit := getattr(config.option, "xmlpath", None):
        outputs.append(Path(os.path.expandvars(junit)).expanduser())
    check_outputs(outputs, _input_files(config, items))


def _input_files(config: pytest.Config, items: Iterable[Item]) -> Iterator[Path]:
    """Yield the files and folders that a run reads: the baseline, recordings and data, and what its
    items read.
    """
    for option in ("--baseline", "--answers", "--csrbench"):
        if (path := option_value(config, option)) is not None:
            yield Path(path)
    yield from files_of_items(items)


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
        reason = f"must be from 1 to {MOST_REPEATS}, got {display(repeat)}"
        raise RefengineError(reason, rule="usage", place="--repeat")
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
        certificates=option_value(config, "--certificates"),
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
        reason = "needs --results=FILE, the file of the interrupted run"
        raise RefengineError(reason, rule="usage", place="--resume")
    return journal.read_journal(results.target(Path(path)), fingerprint, journal.RESULTS)


def _baseline(config: pytest.Config) -> Sequence[Entry] | None:
    """Return the results of the file of --baseline. Raises RefengineError."""
    path = option_value(config, "--baseline")
    if path is None:
        return None
    return source.read_results([Path(path)]).entries


def settle_item(test: pytest.Item, item: Item, ask: Callable[[Item], Result]) -> None:
    """End a test as its item's result asks for: it passes, is skipped, fails or fails as expected.
    `ask` gives the result. It is kept for the test's report and written to its properties.
    """
    keep_engine(test, item.engine)
    if item.absent:
        pytest.skip(item.absent)
    result = _ask_or_end(item, ask)
    keep_result(test, result)
    known = [f"{reason} ({link})" for reason, link, *_ in result.known]
    for name in ("outcome", "rule", "explanation"):
        test.user_properties.append((name, str(getattr(result, name))))
    test.user_properties.extend(("known", text) for text in known)

    if reason := why_unexpected(item, result):
        pytest.fail(reason, pytrace=False)
    if result.known:
        if test.config.getoption("runxfail"):
            pytest.fail(result.explanation, pytrace=False)
        # pytest.xfail would have a traceback, of which pytest reads the source each time
        raise pytest.xfail.Exception("; ".join(known), pytrace=False)
    if result.outcome is not Outcome.PASS:
        pytest.skip(result.explanation)


def _ask_or_end(item: Item, ask: Callable[[Item], Result]) -> Result:
    """Return the result of an item. Without one the test fails, and without Spark the run ends."""
    try:
        return ask(item)
    except NoSpark as error:
        pytest.exit(str(error), returncode=pytest.ExitCode.INTERRUPTED)
    except RefengineError as error:
        pytest.fail(f"error: {error}", pytrace=False)


@contextmanager
def ask_spark(session: pytest.Session, run: SuiteRun) -> Iterator[None]:
    """Spread the items of a session's tests over Spark, and let the run ask Spark for their results
    until the context ends. Raises RefengineError if Spark fails.
    """
    items = [
        cast("Item", test.callspec.params["conformance_item"])
        for test in session.items
        if isinstance(test, pytest.Function) and "conformance_item" in test.fixturenames
    ]
    master = option_value(session.config, "--spark") or None
    with shard.results_from_spark(run.options, items, master) as run.ask:
        yield


OPERATORS = ("and", "or", "not")
RULE = r"[A-Za-z0-9]{2,4}-?\d+"


def describe_unknown_words(
    expression: str, arguments: Iterable[str], items: Sequence[Item], others: Iterable[str]
) -> Iterator[str]:
    """Yield a line for each word of `-k` that no item has, and for each argument of pytest that
    names no item in brackets. `others` are texts in which -k finds words as well.
    """
    texts = [text.lower() for text in (*(item.id for item in items), *others)]
    for word in dict.fromkeys(re.findall(r"[\w:+.\[\]\\/-]+", expression)):
        is_found = any(word.lower() in text for text in texts)
        if word.lower() not in OPERATORS and not is_found:
            yield f"-k: no item has {display(word)}{_nearest_name(word, items)}"
    ids = {item.id for item in items}
    for argument in arguments:
        _, bracket, name = argument.removesuffix("]").partition("[")
        if bracket and name not in ids:
            yield f"no item {display(name)}{_nearest_name(name, items)}"


def _nearest_name(word: str, items: Sequence[Item]) -> str:
    """Return a hint at the nearest rule for a word like a rule's id; at the nearest item for a word
    that begins with an engine's name, and else at the nearest case.
    """
    if re.fullmatch(RULE, word):
        return nearest_id(word, {item.rule for item in items if item.rule})
    small = word.lower()
    if any(small.startswith(f"{item.engine.lower()}-") for item in items):
        return nearest_id(word, {item.id for item in items})
    return nearest_id(word, {item.case for item in items})
