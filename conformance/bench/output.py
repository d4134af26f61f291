"""What a run of a benchmark writes beside the files of its runs: the results as lines of JSON, the
tables as text, and the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from conformance.bench.benchmark import Benchmark
from conformance.bench.page import page
from conformance.bench.run import FILES, folder_of, write_files
from conformance.bench.table_page import PAGE, RESULTS, TABLES, write_results
from conformance.verdict import results
from conformance.verdict.outputs import check_outputs
from conformance.verdict.results import Result


def check_output(out: Path, inputs: Iterable[Path]) -> None:
    """Raise RefengineError if what is written to a folder would replace an input."""
    check_outputs([out / name for name in (RESULTS, TABLES, PAGE, FILES)], inputs)


def write_output(benchmark: Benchmark, done: Sequence[Result], out: Path) -> None:
    """Write results, tables and page to a folder, and the files of all runs of each experiment on
    each engine. Raises RefengineError.
    """
    by_experiment = attrgetter("engine", "experiment")
    done = sorted(done, key=lambda result: (by_experiment(result), result.key))
    for (engine, experiment), of_experiment in groupby(done, key=by_experiment):
        files = benchmark.files_of_all(list(of_experiment))
        write_files(folder_of(out, engine, experiment), files)
    tables = benchmark.tables_with_rows(done)
    write_results(out, results.lines(done), tables, page(benchmark, tables, done))
