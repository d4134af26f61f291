"""The pytest plugin: the options of the suite, and a test for each item that they select. Items are
made and judged in the package `suite`.

Every pytest run in the environment loads this module. So nothing of ours is imported, and no option
is registered, unless the command line has an option of the suite.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from conformance.harness.pool import Harnesses
    from conformance.report.source import Entry
    from conformance.suite import Item, RunSummary, SuiteOptions
    from conformance.verdict.journal import Journal
    from conformance.verdict.results import Result

OPTIONS: dict[str, dict[str, Any]] = {
    "--engine": {
        "action": "append",
        "default": [],
        "metavar": "NAME",
        "help": "the engine to judge: its name, or its engine file (*.toml). May be given several "
        "times",
    },
    "--answers": {
        "metavar": "DIR",
        "help": "judge the recordings of the engine in DIR, and do not start it. DIR has "
        "CSRBench's layout, or YABench's QR_ files",
    },
    "--engine-command": {
        "metavar": "COMMAND",
        "help": "judge an engine that has no engine file: start its harness with COMMAND, without "
        "a shell",
    },
    "--engine-dialect": {
        "default": "rspql",
        "metavar": "DIALECT",
        "help": "with --engine-command: the query language that the harness reads (default: rspql)",
    },
    "--engine-semantics": {
        "default": "csparql",
        "metavar": "WORDS",
        "help": "with --engine-command: the semantics that the engine claims, a profile and "
        "key=value words in quotes (default: csparql)",
    },
    "--engine-classpath": {
        "action": "append",
        "default": [],
        "metavar": "NAME=PATH",
        "help": "the classpath of an engine that you build yourself (default: the environment "
        "variable CONFORMANCE_CLASSPATH_NAME). May be given several times",
    },
    "--missing": {
        "type": int,
        "metavar": "K",
        "help": "allow at most K outputs to be missing at each end (default: 0 for an engine that "
        "is started, 1 for a recording; for YABench's recordings 1 at the end only)",
    },
    "--csrbench": {
        "metavar": "DIR",
        "help": "the folder of CSRBench's own stream, for engines that are started (default: a "
        "small stream that comes with the suite)",
    },
    "--smoke": {"action": "store_true", "help": "run a dozen cases only, for a first look"},
    "--results": {
        "metavar": "FILE",
        "help": "write every result to FILE, as a line of JSON; until the run "
        "ends, FILE.partial has the results so far",
    },
    "--resume": {
        "action": "store_true",
        "help": "go on with an interrupted run: take the results so far from FILE.partial",
    },
    "--repeat": {
        "type": int,
        "metavar": "N",
        "help": "ask each question N times; a case whose verdicts differ is unstable (default: 1)",
    },
    "--baseline": {
        "metavar": "RESULTS",
        "help": "say which results are new, broken, fixed or changed since those in this file, at "
        "the end of the run and on the page of --report",
    },
    "--diagnose": {
        "metavar": "FILE",
        "help": "write to FILE the entries of [[deviations]] that the diagnosis of the run has "
        "found, to put into the engine's file",
    },
    "--report": {"metavar": "FILE", "help": "write all results to FILE, as one page in HTML"},
    "--spark": {
        "nargs": "?",
        "const": "",
        "metavar": "MASTER",
        "help": "spread the items over Spark: local[2], spark://HOST:PORT, sc://HOST:PORT "
        "(default: as Spark is configured)",
    },
    "--allow-missing": {
        "action": "store_true",
        "help": "do not end with exit code 4 if every item of an engine is skipped",
    },
}
# options that name a file to write
OUTPUTS = ("--results", "--report", "--diagnose")
# options that mean nothing without an engine
WITH_ENGINE = [option for option, words in OPTIONS.items() if words.get("default", []) == []]
MARKERS = {
    "corpus": "a case of the corpus against an engine",
    "csrbench": "a CSRBench query against an engine or its recording",
    "yabench": "a YABench run against its recording",
    "rule(id)": "the rule that the case is about",
}
ITEMS: pytest.StashKey[list[Item]] = pytest.StashKey()
SUITE_OPTIONS: pytest.StashKey[SuiteOptions] = pytest.StashKey()
# with --spark, what gives an item's result
RESULT_OF: pytest.StashKey[Callable[[Item], Result]] = pytest.StashKey()
RESULT: pytest.StashKey[dict[str, Any]] = pytest.StashKey()
# the results so far of the run that is resumed, by their keys
SO_FAR: pytest.StashKey[dict[tuple[str, str, str], Result]] = pytest.StashKey()
HARNESSES: pytest.StashKey[Harnesses] = pytest.StashKey()
RUN: pytest.StashKey[str] = pytest.StashKey()  # its fingerprint
BASELINE: pytest.StashKey[list[Entry]] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> Iterator[None]:
    """Add the options of the suite, if the command line names one. They are added after those of
    the project under test, and not at all if that has an option of the same name.
    """
    result = yield
    is_named = any(word.partition("=")[0] in (*OPTIONS, "-h", "--help") for word in args)
    probes = [_probe(option, words) for option, words in OPTIONS.items()]
    if is_named and len(parser.parse_known_and_unknown_args(probes)[1]) == len(OPTIONS):
        group = parser.getgroup("conformance", "conformance of RDF stream engines")
        for option, words in OPTIONS.items():
            group.addoption(option, dest=_dest(option), **words)
    return result


def _probe(option: str, words: dict[str, Any]) -> str:
    """Return a word that gives an option on a command line, to try whether it is taken."""
    if words.get("action") == "store_true":
        return option
    if words.get("type") is int:
        return f"{option}=1"
    return f"{option}=x"


def _dest(option: str) -> str:
    """Return the name under which pytest keeps the value of an option."""
    return f"conformance_{option.removeprefix('--').replace('-', '_')}"


def _option(config: pytest.Config, option: str) -> Any:
    """Return the value of an option, None if it is not registered."""
    return getattr(config.option, _dest(option), None)


def pytest_configure(config: pytest.Config) -> None:
    """Add the markers of the suite, and make the items that the command line selects. Raises
    UsageError for a wrong name, or if something that is needed is not installed.
    """
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    if not _names_engine(config):
        return
    if _option(config, "--spark") is not None and _has_workers(config):
        raise pytest.UsageError("--spark spreads the items itself: leave out -n")
    try:
        from conformance import suite  # noqa: F401
        from conformance.report import page  # noqa: F401  to know before the run what is missing
        from refengine.model.errors import RefengineError
    except ModuleNotFoundError as error:
        raise pytest.UsageError(
            f"{error.name} is not installed: pip install 'refengine[suite]'"
        ) from None
    try:
        config.stash[SUITE_OPTIONS] = _suite_options(config)
        config.stash[ITEMS] = config.stash[SUITE_OPTIONS].items()
        _check_outputs(config)
        _read_earlier_results(config)
    except RefengineError as error:
        raise pytest.UsageError(str(error)) from None
    except ModuleNotFoundError as error:
        if error.name != "jinja2":
            raise
        raise pytest.UsageError(
            "--report: jinja2 is not installed: pip install 'refengine[suite]'"
        ) from None


def _names_engine(config: pytest.Config) -> bool:
    """Whether the command line names an engine. Raises UsageError if it has other options of the
    suite, but names none.
    """
    if _option(config, "--engine") or _option(config, "--engine-command") is not None:
        return True
    if any(_option(config, option) not in (None, False, []) for option in WITH_ENGINE):
        raise pytest.UsageError("no engine named: give --engine=NAME or --engine-command=COMMAND")
    return False


def _has_workers(config: pytest.Config) -> bool:
    """Whether xdist spreads this run over workers, or this process is one of them."""
    return bool(getattr(config.option, "numprocesses", None)) or hasattr(config, "workerinput")


def _check_outputs(config: pytest.Config) -> None:
    """Raise RefengineError for outputs that cannot be written, or that would replace an input of
    the run or one another. pytest's own JUnit file is an output, too.
    """
    from conformance.verdict import journal, results
    from conformance.verdict.outputs import check_outputs

    outputs = []
    for option in OUTPUTS:
        if (path := _option(config, option)) is not None:
            outputs.append(Path(path))
            target = results.target(Path(path))
            if option == "--results":
                outputs.append(journal.journal_path(target))
                results.target(outputs[-1])
    if junit := getattr(config.option, "xmlpath", None):
        outputs.append(Path(os.path.expandvars(junit)).expanduser())
    check_outputs(outputs, _input_files(config))


def _input_files(config: pytest.Config) -> Iterator[Path]:
    """Yield the files that a run reads: the baseline, the files of the engines, and the files that
    the commands of their harnesses name.
    """
    from conformance.harness import engine_file

    if (baseline := _option(config, "--baseline")) is not None:
        yield Path(baseline)
    for name in _option(config, "--engine"):
        if (path := engine_file.path_of_engine(name)) is not None:
            yield path
    engines = {item.engine: item.tested for item in config.stash[ITEMS]}
    for engine in engines.values():
        if engine is not None:
            yield from (Path(word) for word in engine.command if os.path.isfile(word))


def _read_earlier_results(config: pytest.Config) -> None:
    """Read the results so far of the run that is resumed, and the baseline. Raises RefengineError
    if they cannot be read.
    """
    from conformance.report import source
    from conformance.suite.fingerprint import fingerprint_of_run
    from conformance.verdict import journal, results
    from refengine.model.errors import RefengineError

    path = _option(config, "--results")
    if path is not None:
        config.stash[RUN] = fingerprint_of_run(config.stash[SUITE_OPTIONS])
    if _option(config, "--resume"):
        if path is None:
            raise RefengineError(
                "needs --results=FILE, the file of the interrupted run",
                rule="usage",
                place="--resume",
            )
        target = results.target(Path(path))
        config.stash[SO_FAR] = journal.read_journal(target, config.stash[RUN])
    if (baseline := _option(config, "--baseline")) is not None:
        config.stash[BASELINE] = source.read_results([Path(baseline)]).entries


def _suite_options(config: pytest.Config) -> SuiteOptions:
    """Return the options of the suite as the command line gives them. Raises RefengineError."""
    from conformance.suite import SuiteOptions
    from refengine.model.errors import RefengineError

    command = None
    line = _option(config, "--engine-command")
    if line is not None:
        command = line, _option(config, "--engine-dialect"), _option(config, "--engine-semantics")
    keep = any(_option(config, option) is not None for option in ("--results", "--report"))
    words = {
        name: _option(config, f"--{name}")
        for name in ("answers", "csrbench", "smoke", "missing", "repeat")
    }
    if words["missing"] is not None and words["missing"] < 0:
        raise RefengineError(
            f"must be >= 0, got {words['missing']}", rule="ORA-3", place="--missing"
        )
    if words["repeat"] is not None and words["repeat"] < 1:
        raise RefengineError(f"must be > 0, got {words['repeat']}", rule="usage", place="--repeat")
    words["repeat"] = words["repeat"] or 1
    return SuiteOptions(
        _option(config, "--engine"),
        command,
        **words,
        keep=keep,
        classpaths=_option(config, "--engine-classpath"),
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return a line that names the witnesses, since a verdict by one alone says less."""
    if ITEMS not in config.stash:
        return None
    from refengine.sparql.witnesses import WITNESSES

    return f"conformance: witnesses {', '.join(WITNESSES)}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test for each item: `rsp-js-WIN-2-…`, `cqels-Q4`."""
    if "conformance_item" not in metafunc.fixturenames:
        return
    items = [
        pytest.param(item, id=item.id, marks=_marks(item))
        for item in metafunc.config.stash.get(ITEMS, [])
    ]
    reason = "no engine named: give --engine=NAME, and --answers=DIR for a recorded one"
    if not hasattr(metafunc.config.option, _dest("--engine")) and any(
        metafunc.config.getoption(option, None) for option in OPTIONS
    ):
        reason = (
            "another plugin or a conftest.py here has an option of the same name as the suite: run "
            "the suite elsewhere"
        )
    nothing = [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no-engine")]
    metafunc.parametrize("conformance_item", items or nothing)


def _marks(item: Item) -> list[pytest.MarkDecorator]:
    """Return the suite of an item and, of a case, its rule as markers."""
    marks = [getattr(pytest.mark, item.suite)]
    if item.rule:
        marks.append(pytest.mark.rule(item.rule))
    return marks


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    """With --spark, spread the items that -k and the like have left over Spark, before the first
    test is run.
    """
    config = session.config
    if (
        ITEMS not in config.stash
        or _option(config, "--spark") is None
        or config.option.collectonly
        or session.testsfailed
    ):
        return (yield)
    from conformance.spark import shard
    from refengine.model.errors import RefengineError

    items = [
        cast("Item", test.callspec.params["conformance_item"])
        for test in session.items
        if isinstance(test, pytest.Function) and "conformance_item" in test.fixturenames
    ]
    try:
        with shard.results_from_spark(
            config.stash[SUITE_OPTIONS], items, _option(config, "--spark") or None
        ) as config.stash[RESULT_OF]:
            return (yield)
    except RefengineError as error:  # of Spark: an item's own is its failure
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, Any, Any]:
    """Set the number of xdist's workers to what the engine's file says, if the command line leaves
    it open. xdist reads the number after this.
    """
    if _leaves_workers_open(config):
        config.option.numprocesses = _processes(_option(config, "--engine"))
    return (yield)


def _leaves_workers_open(config: pytest.Config) -> bool:
    """Whether xdist could spread this run, and the command line does not say whether and how it
    does. Recordings are judged too quickly to be spread.
    """
    option = config.option
    return (
        bool(_option(config, "--engine"))
        and _option(config, "--answers") is None
        and _option(config, "--spark") is None
        and getattr(option, "numprocesses", 0) is None  # 0 stands for: xdist is not installed
        and option.dist == "no"
        and not (option.distload or option.tx or option.usepdb)
        and not hasattr(config, "workerinput")
    )


def _processes(names: list[str]) -> int | None:
    """Return the largest number of processes that the files of some engines state; None if no file
    states more than one, or one cannot be read: pytest_configure says then what is wrong.
    """
    try:
        from conformance.harness import engine_file
        from refengine.model.errors import RefengineError
    except ModuleNotFoundError:
        return None
    try:
        count = max(engine_file.engine(name).processes for name in names)
    except RefengineError:
        return None
    return count if count > 1 else None


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
    request: pytest.FixtureRequest, conformance_harnesses: Harnesses, pytestconfig: pytest.Config
) -> Any:
    """Give a function that runs an item and ends the test accordingly. Known deviations are strict
    expected failures.
    """
    from conformance.spark.session import NoSpark
    from conformance.suite import why_unexpected
    from conformance.verdict.outcomes import Outcome
    from refengine.model.errors import RefengineError

    so_far = pytestconfig.stash.get(SO_FAR, {})
    ask = pytestconfig.stash.get(RESULT_OF, None) or (lambda item: item.run(conformance_harnesses))

    def run(item: Item) -> Result:
        return so_far.get(item.key) or ask(item)

    def settle(item: Item) -> None:
        request.node.stash[RESULT] = {"engine": item.engine}
        if item.missing:
            pytest.skip(item.missing)
        try:
            result = run(item)
        except NoSpark as error:
            pytest.exit(str(error), returncode=pytest.ExitCode.INTERRUPTED)
        except RefengineError as error:
            pytest.fail(f"error: {error}", pytrace=False)
        # a text: xdist does not carry every integer
        request.node.stash[RESULT]["result"] = json.dumps(result.as_json())
        for name in ("outcome", "rule", "argument"):
            request.node.user_properties.append((name, str(getattr(result, name))))
        known = [f"{reason} ({link})" for reason, link, *_ in result.known]
        request.node.user_properties.extend(("known", text) for text in known)
        if reason := why_unexpected(item, result):
            pytest.fail(reason, pytrace=False)
        if result.known:
            if not pytestconfig.getoption("runxfail"):
                # pytest.xfail would have a traceback, of which pytest reads the source each time
                raise pytest.xfail.Exception("; ".join(known), pytrace=False)
            pytest.fail(result.argument, pytrace=False)
        if result.outcome is not Outcome.PASS:
            pytest.skip(result.argument)

    return settle


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the result to the report of a test, which carries it from a worker, too. Lines that
    came after the last reply about an earlier test are attached as well.
    """
    report = yield
    late_lines = []
    if HARNESSES in item.config.stash:
        late_lines = item.config.stash[HARNESSES].take_late_lines()
    # pytest takes what a plugin adds along
    report.__dict__["conformance_late"] = [[*line.item, line.argument] for line in late_lines]
    report.conformance = item.stash.get(RESULT, None)  # type: ignore[attr-defined]
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Register the collector of results, in the process that has started all workers."""
    if ITEMS in session.config.stash and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Collector(session.config), "conformance-collected")


class _Collector:
    """A collector of the results of a run, from all its workers."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.ran: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.results: list[Result] = []
        self.summary: RunSummary | None = None  # of a run that was not interrupted
        self.late_errors: list[Result] = []  # of items that had another result before
        self.journal: Journal | None = None
        self.is_cut_short = False  # whether an item was not run to its end
        self.unwritten = ""  # why the results could not be written
        self.written: set[str] = set()  # the options whose files were written
        if (path := _option(config, "--results")) is not None:
            from conformance.verdict import journal, results

            so_far = config.stash.get(SO_FAR, {}).values()
            target = results.target(Path(path))
            self.journal = journal.Journal(target, config.stash[RUN], so_far)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count an item, and keep its result."""
        from conformance.verdict.results import from_json

        for *key, argument in getattr(report, "conformance_late", ()):
            self._replace_by_late_error(tuple(key), argument)
        own = getattr(report, "conformance", None)
        if str(report.when) == "???":  # so xdist reports an item whose worker was killed
            self.is_cut_short = True
        if own is None or report.when != "call":
            return
        self.ran[own["engine"]] += 1
        self.skipped[own["engine"]] += report.skipped and not hasattr(report, "wasxfail")
        if "result" in own:
            result = from_json(json.loads(own["result"]))
            self.results.append(result)
            if self.journal is not None:
                self._note(self.journal, result)

    def _note(self, journal: Journal, result: Result) -> None:
        """Write a result to the file of the results so far; end the run if that cannot be done."""
        from refengine.model.errors import RefengineError

        try:
            journal.add(result)
        except RefengineError as error:
            self.is_cut_short = True
            pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)

    def _replace_by_late_error(self, key: tuple[str, ...], argument: str) -> None:
        """Replace the result of an earlier item by an error, since its harness wrote a line after
        the last reply about it.
        """
        from conformance.suite import late_result

        for number, result in enumerate(self.results):
            if result.key == key:
                error = late_result(result, argument)
                self.results[number] = error
                self.late_errors.append(error)
                if self.journal is not None:
                    self.journal.add(error)

    @property
    def unjudged_engines(self) -> list[str]:
        """The engines whose items were all skipped, so that nothing was judged."""
        return sorted(engine for engine, count in self.ran.items() if self.skipped[engine] == count)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Summarize the results of a run that was not interrupted, before pytest writes its JUnit
        file. Then write the results and their page, and set the exit status.
        """
        from conformance.suite import summarize_run
        from refengine.model.errors import RefengineError

        try:
            if self.ran and session.exitstatus != pytest.ExitCode.INTERRUPTED:
                items: list[Item] = self.config.stash[ITEMS]
                self.summary = summarize_run(self.results, items)
                self.results = list(self.summary.results)
                self._add_properties_to_junit(self.summary)
        except RefengineError as error:
            self.unwritten = str(error)
        except KeyboardInterrupt:
            session.exitstatus = pytest.ExitCode.INTERRUPTED
        yield
        try:
            if self.ran and not self.unwritten:
                self._write()
            if self.journal is not None and not self.unwritten:
                self._end_journal(session)
        except RefengineError as error:
            self.unwritten = str(error)
        self._set_exit_status(session)

    def _add_properties_to_junit(self, summary: RunSummary) -> None:
        """Add the properties of the run to pytest's JUnit file, if it writes one. pytest's own way,
        the fixture `record_testsuite_property`, would add them in each worker, where no file is.
        """
        for plugin in self.config.pluginmanager.get_plugins():
            if add := getattr(plugin, "add_global_property", None):
                for name, value in summary.properties():
                    add(name, value)

    def _set_exit_status(self, session: pytest.Session) -> None:
        """Let a run fail whose results could not be written, in which a line came after the last
        reply about an item, or in which nothing of an engine was judged.
        """
        if self.unwritten:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        if self.late_errors and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if (
            self.unjudged_engines
            and not _option(self.config, "--allow-missing")
            and session.exitstatus == pytest.ExitCode.OK
        ):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _end_journal(self, session: pytest.Session) -> None:
        """Remove the file of the results so far, or leave it if not all items were run: an earlier
        run, too, may have run items that -k and the like have left out of this one.
        """
        assert self.journal is not None
        is_ended = self.is_cut_short or session.exitstatus in (
            pytest.ExitCode.INTERRUPTED,
            pytest.ExitCode.INTERNAL_ERROR,
        )
        if is_ended or session.shouldstop or session.shouldfail:
            self.journal.close()
        else:
            self.is_cut_short = not self.journal.remove_if_in(self.results)

    def _write(self) -> None:
        """Write the outputs that are asked for. There is no diagnosis of an interrupted run."""
        from conformance.suite import write_entries
        from conformance.verdict import results

        makers: dict[str, Callable[[], Iterable[str]]] = {
            "--results": lambda: results.lines(self.results),
            "--report": lambda: [self._page()],
        }
        if (summary := self.summary) is not None:
            makers["--diagnose"] = lambda: write_entries(summary.diagnoses)
        for option, make in makers.items():
            if (path := _option(self.config, option)) is not None:
                results.replace({results.target(Path(path)): make()})
                self.written.add(option)

    def _page(self) -> str:
        """Return the page of the results."""
        from conformance.report import page, source
        from conformance.suite import HarnessLines

        items: list[Item] = self.config.stash[ITEMS]
        earlier = self.config.stash.get(BASELINE, None)
        return page.page(source.of(self.results), earlier, HarnessLines.of(items).lines)

    def _describe_older_files(self) -> Iterator[str]:
        """Yield a line for each output that was not written, and of which an older file is there:
        nobody is to take it for an output of this run.
        """
        if self.config.option.collectonly:
            return
        for option in OUTPUTS:
            path = _option(self.config, option)
            if path is not None and option not in self.written and os.path.exists(path):
                yield f"{option}: not written; {path} is of an earlier run"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write what is said of the run at its end; of one that was interrupted, only a line for
        each engine that counts its outcomes.
        """
        from conformance.suite import describe_unjudged_engines
        from conformance.verdict import results

        items: list[Item] = self.config.stash[ITEMS]
        described = results.summary(self.results) if self.summary is None else self.summary.lines()
        lines = [
            *described,
            *(
                f"{error.engine}: error: {error.case}: {error.argument}"
                for error in self.late_errors
            ),
            *describe_unjudged_engines(
                self.unjudged_engines, items, is_smoke=bool(_option(self.config, "--smoke"))
            ),
        ]
        if BASELINE in self.config.stash:
            from conformance.report import baseline, source

            earlier: list[Entry] = self.config.stash[BASELINE]
            lines += baseline.describe_changes(earlier, source.of(self.results).entries)
        if self.unwritten:
            lines.append(self.unwritten)
        lines += self._describe_older_files()
        if self.journal is not None and len(self.journal) and self.journal.path.exists():
            lines.append(
                f"not all results are written; {self.journal.path} has {len(self.journal)}: the "
                "same command with --resume goes on"
            )
        for line in lines:
            terminalreporter.write_line(f"conformance: {line}")
