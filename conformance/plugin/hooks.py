"""The functions that pytest calls in a run of the suite. All but markers is done only if the
command line names an engine, by another module of this package.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.plugin.options import (
    explain_no_engine,
    has_workers,
    leaves_workers_open,
    most_processes,
    names_engine,
    option_value,
)
from conformance.plugin.report_data import attach_to_report
from refengine_conformance_plugin import ITEMS

if TYPE_CHECKING:
    from conformance.harness.pool import Harnesses
    from conformance.plugin.suite_run import SuiteRun
    from conformance.suite import Item

MARKERS = {
    "corpus": "a case of the corpus against an engine",
    "windows": "a case of windows alone against an engine",
    "joins": "a case of a join over adaptive windows against an engine",
    "csrbench": "a CSRBench query against an engine or its recording",
    "yabench": "a YABench run against its recording",
    "rule(id)": "the rule that the case is about",
}
PACKAGE = Path(__file__).parents[1]
OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed", "xpassed")
SUITE_RUN: pytest.StashKey[SuiteRun] = pytest.StashKey()
HARNESSES: pytest.StashKey[Harnesses] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, Any, Any]:
    """Set the number of xdist's workers to what the engine's file says, if the command line leaves
    it open. xdist reads the number after this.
    """
    if leaves_workers_open(config):
        config.option.numprocesses = most_processes(option_value(config, "--engine"))
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    """Add the markers of the suite, and make the items that the command line selects. Raises
    UsageError for a wrong name, or if something that is needed is not installed.
    """
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    if not names_engine(config):
        return
    if option_value(config, "--spark") is not None and has_workers(config):
        raise pytest.UsageError("--spark spreads the items itself: leave out -n")
    try:
        from conformance.plugin.suite_run import prepare_run
        from conformance.report import page  # noqa: F401  to know before the run what is missing
        from refengine.model.errors import RefengineError
    except ModuleNotFoundError as error:
        from refengine.model.libraries import explain_missing

        raise pytest.UsageError(explain_missing(error) or str(error)) from None
    try:
        config.stash[SUITE_RUN] = prepare_run(config)
    except RefengineError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Register the results of the run, in the process that has started all workers."""
    run = session.config.stash.get(SUITE_RUN, None)
    if run is None or hasattr(session.config, "workerinput"):
        return
    from conformance.plugin.run_results import RunResults

    run_results = RunResults(session.config, run)
    session.config.pluginmanager.register(run_results, "conformance-collected")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return a line that names the witnesses, since a verdict by one alone says less, and those
    that are not there.
    """
    if SUITE_RUN not in config.stash:
        return None
    from refengine.sparql.witnesses import WITNESSES, why_absent

    absent = why_absent(WITNESSES)
    present = ", ".join(name for name in WITNESSES if name not in absent) or "none"
    return f"conformance: witnesses {present}" + "".join(f"; {why}" for why in absent.values())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out all of this package but the module whose tests are the items. pytest would go
    through all of its folders, which takes longer than to make the items.
    """
    if collection_path.parent == PACKAGE and collection_path.name != ITEMS and names_engine(config):
        return True
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test for each item: `rsp-js-WIN-2-…`, `cqels-Q4`."""
    if "conformance_item" not in metafunc.fixturenames:
        return
    run = metafunc.config.stash.get(SUITE_RUN, None)
    if run is not None and run.items:
        tests = [pytest.param(item, id=item.id, marks=_marks(item)) for item in run.items]
    else:
        skipped = pytest.mark.skip(reason=explain_no_engine(metafunc.config))
        tests = [pytest.param(None, marks=skipped, id="no-engine")]
    metafunc.parametrize("conformance_item", tests)


def _marks(item: Item) -> list[pytest.MarkDecorator]:
    """Return the suite of an item and, of a case, its rule as markers."""
    marks = [getattr(pytest.mark, item.suite)]
    if item.rule:
        marks.append(pytest.mark.rule(item.rule))
    return marks


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """Spread the items that -k and the like have left over Spark, before the first test is run, if
    the command line has --spark.
    """
    run = session.config.stash.get(SUITE_RUN, None)
    if run is None or option_value(session.config, "--spark") is None:
        return (yield)
    if session.config.option.collectonly or session.testsfailed:
        return (yield)
    from conformance.plugin.suite_run import ask_spark
    from refengine.model.errors import RefengineError

    try:
        with ask_spark(session, run):
            return (yield)
    except RefengineError as error:  # of Spark: an item's own is its failure
        raise pytest.UsageError(str(error)) from None


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the nearest ids if no item was run, since the command line names none."""
    run = config.stash.get(SUITE_RUN, None)
    if run is None or any(terminalreporter.stats.get(outcome) for outcome in OUTCOMES):
        return
    from conformance.plugin.suite_run import describe_unknown_words

    expression = config.option.keyword
    others = (*MARKERS, f"conformance/{ITEMS}")
    arguments = [argument for argument in config.args if f"{ITEMS}::" in argument]
    for line in describe_unknown_words(expression, arguments, run.items, others):
        terminalreporter.write_line(f"conformance: {line}")


@pytest.fixture(scope="session")
def conformance_harnesses(pytestconfig: pytest.Config) -> Iterator[Harnesses]:
    """Give the harnesses of this process. Under xdist each worker has its own."""
    from conformance.harness.pool import Harnesses

    harnesses = Harnesses()
    pytestconfig.stash[HARNESSES] = harnesses
    yield harnesses
    harnesses.stop()


@pytest.fixture
def conformance_settle(
    request: pytest.FixtureRequest,
    conformance_harnesses: Harnesses,
    pytestconfig: pytest.Config,
) -> Callable[[Item], None]:
    """Give a function that runs an item and ends the test accordingly."""
    from conformance.plugin.suite_run import settle_item

    run = pytestconfig.stash[SUITE_RUN]
    return lambda item: settle_item(request.node, item, run.result_by(conformance_harnesses))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the result to the report of a test, which carries it from a worker, too. What
    a harness did after the last reply about an earlier test is attached as well.
    """
    report = yield
    late_faults = []
    if HARNESSES in item.config.stash:
        late_faults = item.config.stash[HARNESSES].take_late_faults()
    attach_to_report(report, item, late_faults)
    return report
