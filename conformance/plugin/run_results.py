"""The results of a run, collected from all its workers, and what is written of them: files, lines
at the end of the run, and the command that asks the same question again.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.plugin import report_data
from conformance.plugin.options import OUTPUTS, option_value
from conformance.plugin.suite_run import SuiteRun
from conformance.report import baseline, page, source
from conformance.report.headline import FEW_FAILS, AgainCommand, last_lines, replay_command
from conformance.report.source import Entry
from conformance.suite import (
    HarnessLines,
    Item,
    RunSummary,
    describe_unjudged_engines,
    late_result,
    summarize_run,
    write_entries,
)
from conformance.verdict import results
from conformance.verdict.journal import RESULTS, Journal, ResultJournal
from conformance.verdict.results import Result
from refengine.model.errors import RefengineError
from refengine_conformance_plugin import PREFIX


class RunResults:
    """The results of a run, as a plugin of pytest. It takes them from all workers, writes the
    outputs at the end, says what there is to say of the run, and sets the exit status.
    """

    def __init__(self, config: pytest.Config, run: SuiteRun) -> None:
        self.config = config
        self.run = run
        self.ran: Counter[str] = Counter()
        self.failed = 0  # tests of items
        self.has_other_tests = False
        self.skipped: Counter[str] = Counter()
        self.results: list[Result] = []
        self.summary: RunSummary | None = None  # of a run that was not interrupted
        self.late_errors: list[Result] = []  # of items that had another result before
        self.journal: ResultJournal | None = None
        self.is_cut_short = False  # whether an item was not run to its end
        self.unwritten = ""  # why the results could not be written
        self.outputs = OutputFiles(config)
        if (path := option_value(config, "--results")) is not None:
            before = run.results_so_far.values()
            target = results.target(Path(path))
            self.journal = Journal(target, run.fingerprint, RESULTS, before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count an item, and keep its result."""
        for key, explanation in report_data.late_faults_of(report):
            self._replace_by_late_error(key, explanation)
        if str(report.when) == "???":  # so xdist reports an item whose worker was killed
            self.is_cut_short = True
        engine = report_data.engine_of(report)
        if engine is None:
            self.has_other_tests |= report.when == "call"
            return
        self.ran[engine] += 1
        self.failed += report.failed
        self.skipped[engine] += report.skipped and not hasattr(report, "wasxfail")
        if (result := report_data.result_of_test(report)) is not None:
            self.results.append(result)
            self._note(result)

    def _note(self, result: Result) -> None:
        """Write a result to the file of the results so far; end the run if that cannot be done."""
        if self.journal is None:
            return
        try:
            self.journal.add(result)
        except RefengineError as error:
            self.is_cut_short = True
            pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)

    def _replace_by_late_error(self, key: tuple[str, ...], explanation: str) -> None:
        """Replace the result of an earlier item by an error, since its harness wrote a line, or
        ended, after the last reply about it.
        """
        for number, result in enumerate(self.results):
            if result.key == key:
                error = late_result(result, explanation)
                self.results[number] = error
                self.late_errors.append(error)
                self._note(error)

    @property
    def unjudged_engines(self) -> list[str]:
        """The engines whose items were all skipped, so that nothing was judged."""
        return sorted(engine for engine, count in self.ran.items() if self.skipped[engine] == count)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Summarize the results of a run that was not interrupted, before pytest writes its JUnit
        file. Then write the results and their page, and set the exit status. If the summary ends in
        an error that is none of the input's, the results are written without it.
        """
        try:
            if self.ran and session.exitstatus != pytest.ExitCode.INTERRUPTED:
                self.summary = summarize_run(
                    self.results,
                    self.run.items,
                    has_diagnosis=not option_value(self.config, "--no-diagnosis"),
                )
                self.results = list(self.summary.results)
                self._add_properties_to_junit(self.summary)
        except RefengineError as error:
            self.unwritten = str(error)
        except KeyboardInterrupt:
            session.exitstatus = pytest.ExitCode.INTERRUPTED
        except Exception:
            self._write(session)  # what the engine answered is not lost with our mistake
            raise
        self._leave_lists_out()
        yield
        try:
            if not self.unwritten:
                self._write(session)
        except RefengineError as error:
            self.unwritten = str(error)
        self._set_exit_status(session)

    def _leave_lists_out(self) -> None:
        """Keep pytest from listing every skip, and every explanation where more than a few items
        fail, unless the command line asks for lists or the run has other tests.
        """
        if self.has_other_tests or not self.ran or asks_for_lists(self.config):
            return
        if reporter := self.config.pluginmanager.get_plugin("terminalreporter"):
            reporter.reportchars = ""
        if self.failed > FEW_FAILS:
            self.config.option.tbstyle = "no"

    def _add_properties_to_junit(self, summary: RunSummary) -> None:
        """Add the properties of the run to pytest's JUnit file, if it writes one. pytest's own way,
        the fixture `record_testsuite_property`, would add them in each worker, where no file is.
        """
        for plugin in self.config.pluginmanager.get_plugins():
            if add := getattr(plugin, "add_global_property", None):
                for name, value in summary.properties():
                    add(name, value)

    def _write(self, session: pytest.Session) -> None:
        """Write the outputs, and end the file of the results so far. Raises RefengineError."""
        if self.ran:
            self.outputs.write(self.results, self.summary, self.run.items, self.run.baseline)
        if self.journal is not None:
            self._end_journal(self.journal, session)

    def _end_journal(self, journal: ResultJournal, session: pytest.Session) -> None:
        """Remove the file of the results so far, or leave it if not all items were run: an earlier
        run, too, may have run items that -k and the like have left out of this one.
        """
        was_cut_short = self.is_cut_short or session.exitstatus in (
            pytest.ExitCode.INTERRUPTED,
            pytest.ExitCode.INTERNAL_ERROR,
        )
        if was_cut_short or session.shouldstop or session.shouldfail:
            journal.close()
        else:
            journal.remove_if_in(self.results)

    def _set_exit_status(self, session: pytest.Session) -> None:
        """Change the exit status of a run whose results could not be written, in which something
        came after the last reply about an item, or in which nothing of an engine was judged.
        """
        if self.unwritten:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        if self.late_errors and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if (
            self.unjudged_engines
            and not option_value(self.config, "--allow-missing")
            and session.exitstatus == pytest.ExitCode.OK
        ):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write what is said of the run beside its headlines."""
        for line in self._lines():
            terminalreporter.write_line(f"conformance: {line}")

    def pytest_unconfigure(self) -> None:
        """Write the headline of each engine, after all that pytest writes."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or not self.results:
            return
        page = option_value(self.config, "--report") or "none: --report FILE writes one"
        again = again_command(self.config, self.outputs.written)
        for line in last_lines(source.of(self.results).entries, again, page):
            reporter.write_line(line)

    def _lines(self) -> Iterator[str]:
        """Yield the lines about the run that are no headlines; the lists only on request."""
        if self.summary is not None and asks_for_lists(self.config):
            yield from self.summary.lines()
        for error in self.late_errors:
            yield f"{error.engine}: error: {error.case}: {error.explanation}"
        yield from describe_unjudged_engines(
            self.unjudged_engines,
            self.run.items,
            self.results,
            is_smoke=self.run.options.smoke,
        )
        if self.run.baseline is not None:
            yield from baseline.describe_changes(self.run.baseline, source.of(self.results).entries)
        if self.unwritten:
            yield self.unwritten
        yield from self.outputs.describe_older_files()
        if self.journal is not None and len(self.journal) and self.journal.path.exists():
            yield (
                f"not all results are written; {self.journal.path} has {len(self.journal)}: the "
                "same command with --resume goes on"
            )
            if "--results" in self.outputs.written:
                yield f"{self.outputs.paths['--results']} has no more than these"


class OutputFiles:
    """The outputs that the command line asks for. `written` has the options of those that are
    written.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.paths = {option: option_value(config, option) for option in OUTPUTS}
        self.is_dry = config.option.collectonly
        self.written: set[str] = set()

    def write(
        self,
        run_results: Sequence[Result],
        summary: RunSummary | None,
        items: Iterable[Item],
        baseline: Sequence[Entry] | None,
    ) -> None:
        """Write the outputs that are asked for. An interrupted run has no summary, and so no
        diagnosis. The page compares the results with those of the baseline. Raises RefengineError.
        """
        makers: dict[str, Callable[[], Iterable[str]]] = {
            "--results": lambda: results.lines(run_results),
            "--report": lambda: [
                page.page(source.of(run_results), baseline, HarnessLines.of(items).lines)
            ],
        }
        if summary is not None:
            makers["--diagnose"] = lambda: write_entries(summary.diagnoses)
        for option, make in makers.items():
            if (path := self.paths[option]) is not None:
                results.replace({results.target(Path(path)): make()})
                self.written.add(option)

    def describe_older_files(self) -> Iterator[str]:
        """Yield a line for each output that was not written, and of which an older file is there:
        nobody is to take it for an output of this run.
        """
        if self.is_dry:
            return
        for option, path in self.paths.items():
            if path is not None and option not in self.written and os.path.exists(path):
                yield f"{option}: not written; {path} is of an earlier run"


# options that a run of one case does not need; those that take a value
NOT_AGAIN = (*OUTPUTS, "--junitxml", "--junit-xml", "--baseline", "--resume", "--repeat", "-n")
WITH_VALUE = frozenset(NOT_AGAIN) - {"--resume"}


def asks_for_lists(config: pytest.Config) -> bool:
    """Return whether the command line asks for every list: by `-v`, or by `-r` with letters."""
    words = config.invocation_params.args
    asks_by_letters = any(str(word).startswith("-r") for word in words)
    return config.option.verbose > 0 or asks_by_letters


def again_command(config: pytest.Config, written: Collection[str]) -> AgainCommand:
    """Return a function that gives the command to ask the engine of a case again: by the file of
    results if that is written, else by the same command line for this case alone.
    """
    engines = option_value(config, "--engine") or []
    results = option_value(config, "--results")
    if "--results" in written and len(engines) == 1 and option_value(config, "--answers") is None:
        return lambda _, case: replay_command(results, case, engines[0])
    words = ["pytest", *_words_to_repeat(map(str, config.invocation_params.args))]
    return lambda _, case: shlex.join([*words, "-v", "-k", case])


def _words_to_repeat(words: Iterator[str]) -> Iterator[str]:
    """Yield the words of a command line but for the options that a run of one case does not need,
    and their values.
    """
    for word in words:
        name, is_joined, _ = word.partition("=")
        option = name.replace(PREFIX, "--", 1)
        if option in NOT_AGAIN:
            if option in WITH_VALUE and not is_joined:
                next(words, None)
        elif not word.startswith("-n"):
            yield word
