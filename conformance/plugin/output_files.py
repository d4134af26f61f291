"""The files that a run writes: its results, their page, and the entries of its diagnosis."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from conformance.harness import engine_file
from conformance.plugin.options import OUTPUTS, option_value
from conformance.report import page, source
from conformance.report.source import Entry
from conformance.suite import HarnessLines, Item, RunSummary, write_entries
from conformance.suite.item import engines_of
from conformance.verdict import journal, results
from conformance.verdict.outputs import check_outputs
from conformance.verdict.results import Result


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
    """Yield the files and folders that a run reads: the baseline, recordings and data, and what
    the engines are started from and asked.
    """
    for option in ("--baseline", "--answers", "--csrbench"):
        if (path := option_value(config, option)) is not None:
            yield Path(path)
    for engine in engines_of(items).values():
        yield from engine_file.files_of_engine(engine)


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
