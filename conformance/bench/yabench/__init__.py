"""YABench: weather stations, four experiments, and how much of the answer of each window is right
(Kolchin, Wetz et al., YABench: A Comprehensive Framework for RDF Stream Processor Correctness and
Performance Assessment, ICWE 2016).

`configuration` reads experiments, `generator` makes their streams, `files` reads and writes the
files of YABench's own programs, and `tables` shows results beside what YABench published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import psutil

from conformance.bench.benchmark import Benchmark, Choice, Files, Run, Workload
from conformance.bench.figures import feeding_evidence_of
from conformance.bench.judging import measure_windows
from conformance.bench.metrics.run import Reading
from conformance.bench.recordings import yabench
from conformance.bench.streams import GeneratedStream, StoredStream, StreamSource, name_of_stream
from conformance.bench.yabench import configuration, files, generator
from conformance.bench.yabench.configuration import TestSetup
from conformance.bench.yabench.tables import tables
from conformance.verdict.outcomes import Judging
from conformance.verdict.results import Result
from refengine.core.profiles import profile
from refengine.core.query import Body, from_table
from refengine.model.errors import RefengineError
from refengine.oracle.judge import Judgement
from refengine.oracle.trial import Missing

STREAM = "http://ex.org/streams/test"
SMALL = ("small", "gracious", "non-gracious")  # the tests of the scale `small`
# Of tests with many stations at the scale `small`: the stations, and the ms of their stream, which
# are a window and a border.
SMALL_STATIONS, SMALL_DURATION = 5, 6_000


def workloads(choice: Choice) -> Sequence[Workload]:
    """Return the tests that were chosen: those of a configuration, or of the paper's experiments.

    At the scale `small` it is the smallest test of each experiment, run once: live as it is, and
    otherwise with few stations over a short time where it has many. At a number it is the same
    tests with so many stations. Raises RefengineError.
    """
    if choice.config is not None:
        tests = configuration.read_configuration(choice.config)
    else:
        tests = _tests_of_the_paper(choice)
    if isinstance(choice.scale, int):
        tests = [_with_stations(test, choice.scale) for test in tests]
    if choice.runs is not None:
        tests = [replace(test, runs=choice.runs) for test in tests]
    configuration.check_names_of_runs(tests)
    return [_workload(test) for test in tests]


def _tests_of_the_paper(choice: Choice) -> list[TestSetup]:
    """Return the chosen tests of the paper's experiments: all of them at the scale `paper`, else
    the smallest of each.
    """
    tests = configuration.read_experiments_of_paper(choice.only)
    if choice.scale == "paper":
        return tests
    smallest = [replace(test, runs=1) for test in tests if test.name in SMALL]
    if choice.scale == "small" and not choice.is_live:
        return [_shorten(test) for test in smallest]
    return smallest


def _with_stations(test: TestSetup, stations: int) -> TestSetup:
    """Return a test with another number of stations. One with a stream of its own stays."""
    if test.parameters is None:
        return test
    return replace(test, parameters=replace(test.parameters, stations=stations))


def _shorten(test: TestSetup) -> TestSetup:
    """Return a test with few stations over a short time, if it has more than one station."""
    parameters = test.parameters
    if parameters is None or parameters.stations == 1:
        return test
    short = replace(parameters, stations=SMALL_STATIONS, duration=SMALL_DURATION)
    return replace(test, parameters=short)


def _workload(test: TestSetup) -> Workload:
    """Return a test as a workload.

    t0 is that of YABench's windows under the engine's profile (`yabench.t0_of_first_window`). The
    recording begins with the stream, so that no output may be missing before its first. One may be
    missing after its last. YABench's runner hands over the triples of an instant together, and so
    do we. Raises RefengineError for a query that is no SPARQL.
    """
    try:
        Body(test.query)
    except RefengineError as error:
        raise error.at(f"{test.experiment}: test {test.name}: query") from None

    window = {"stream": STREAM, "kind": "time", "size": test.size, "slide": test.slide}
    table = {"body": test.query, "windows": [window]}
    csparql = profile("csparql")
    return Workload(
        test.experiment,
        test.name,
        table,
        {STREAM: _source(test)},
        csparql.but(t0=yabench.t0_of_first_window(from_table(table), csparql)),
        test.runs,
        t0=yabench.t0_of_first_window,
        missing=Missing(0, 1),
        options=test,
        may_be_sent_by_instant=True,
    )


def _source(test: TestSetup) -> StreamSource:
    """Return the stream of a test."""
    parameters = test.parameters
    if parameters is None:
        assert test.input_stream is not None  # a test has one of the two
        return StoredStream(test.input_stream)
    name = name_of_stream("sg1", *astuple(parameters))
    return GeneratedStream(name, lambda: generator.stream_lines(parameters))


def measure(run: Run, judgement: Judgement | None) -> Mapping[str, Any]:
    """Return what YABench's code measures of a run, under the key `code`, and the test's options.
    There is no `code` where YABench has no measure.
    """
    test = test_of(run)
    reading = Reading.CODE_SINGLE_RESULT if test.is_single_result else Reading.CODE
    measures: dict[str, Any] = {
        "is_gracious": test.is_gracious,
        "is_single_result": test.is_single_result,
        "has_boxplots": test.has_boxplots,
        "is_as_published": _is_as_published(test),
    }
    entries = measure_windows(run.workload, run.feeding.exchange.answers, judgement, reading)
    if entries is not None:
        measures["code"] = entries
    return measures


def _is_as_published(test: TestSetup) -> bool:
    """Whether a test asks the same as one of the paper's, over the same stream."""

    def question_of(one: TestSetup) -> tuple[object, ...]:
        return one.experiment, one.name, one.query, one.size, one.slide, one.parameters

    published = configuration.read_experiments_of_paper([test.experiment])
    return question_of(test) in {question_of(one) for one in published}


def test_of(run: Run) -> TestSetup:
    """Return the test of a run."""
    options = run.workload.options
    assert isinstance(options, TestSetup)
    return options


def files_of_run(run: Run, result: Result) -> Files:
    """Return the files of a run as YABench's runner names them: SG_, QUERY_, QR_, ORACLE_, P_."""
    test = test_of(run)
    name = test.name_of_run(run.number)
    query, exchange = run.workload.query, run.feeding.exchange
    return {
        f"SG_{name}": _stream_lines(run.workload),
        f"QUERY_{name}": exchange.text.splitlines(),
        f"QR_{name}": files.qr_lines(exchange.answers, query.body.variables, run.feeding.started),
        f"ORACLE_{name}": files.oracle_lines(files.oracle_entries_of(result)),
        f"P_{name}": files.performance_lines(
            run.feeding.samples, test.engine_name or run.engine, psutil.virtual_memory().total
        ),
    }


def _stream_lines(workload: Workload) -> Iterator[str]:
    """Yield the lines of a workload's stream."""
    with open(workload.streams[STREAM].load().path, encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n")


def files_of_all(results: Sequence[Result]) -> Files:
    """Return a BOXPLOTS_ file for each test that has boxplots and several runs."""
    of_tests: dict[str, list[Result]] = {}
    for result in results:
        has_boxplots = feeding_evidence_of(result).get("measures", {}).get("has_boxplots", False)
        if has_boxplots and result.benchmark_run is not None:
            of_tests.setdefault(result.benchmark_run.test, []).append(result)
    return {
        f"BOXPLOTS_{name}": list(
            files.boxplot_lines([files.oracle_entries_of(one) for one in runs], runs[0].engine)
        )
        for name, runs in of_tests.items()
        if len(runs) > 1
    }


def judge_recordings(folder: Path, engines: Sequence[str]) -> list[Result]:
    """Judge the runs of a folder of YABench's results: its files QR_, SG_ and QUERY_. They are all
    of one engine. Raises RefengineError.
    """
    if len(engines) != 1:
        raise RefengineError(
            "a folder has the runs of one engine: name it with --engine", rule="usage"
        )
    try:
        profile(engines[0])
    except RefengineError as error:
        raise RefengineError(
            f"{error.reason}; with --recorded the engine is a profile that its runs are held to",
            rule=error.rule,
            place="--engine",
        ) from None
    runs = yabench.recorded_runs(engines[0], folder)
    if not runs:
        raise RefengineError("no file QR_NAME is there", rule="IO-2", place=str(folder))
    return [yabench.judge_recorded_run(run, Judging(keep=True)) for run in runs]


YABENCH = Benchmark(
    "yabench",
    "YABench",
    "Kolchin, Wetz et al., YABench: A Comprehensive Framework for RDF Stream Processor Correctness "
    "and Performance Assessment, ICWE 2016",
    "the number of stations",
    ("1", "2", "3", "4"),
    workloads,
    tables,
    measure,
    files_of_run,
    files_of_all,
    recorded=judge_recordings,
    refused={
        "--data": "YABench's streams are generated; a configuration names another with inputstream"
    },
)
