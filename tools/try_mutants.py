"""Run the tests on mutants, each in a fork of one process that has collected the tests once.

The names of the mutants are read from standard input, a line each. The program is run in a folder
where mutmut has made the mutants, whose pyproject.toml names the tests. It writes what it finds
into mutmut's files, so that `mutmut results` and `mutmut show` read it.

1. All tests are run once, on mutmut's copies of the functions without a change. That gives the
   lines which each test runs, and how long it takes; all tests have to pass. That is kept in
   `lines.json`, for the next call with the same code.
2. Each mutant is tried in a fork, on the tests that run a line of the statement which is changed.
   First come those that are quick for their chance to notice it: a test that has noticed other
   mutants of the same function or module comes before others that take as long.
3. A mutant whose change alone says that it has no effect is not tried (`tools.mutant_classes`).
4. The first test that fails ends the fork. A test fails, too, that needs four times as long as
   without the mutant while its lines are recorded, and a second more.
"""

from __future__ import annotations

import argparse
import functools
import gc
import hashlib
import importlib
import json
import math
import os
import resource
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import pytest

from tools.mutant_source import Mutant, MutatedFile, put_in_place, read_mutant

# mutmut's numbers for what comes of a mutant.
SURVIVED, KILLED, NO_TESTS, SKIPPED, SUSPICIOUS, TIMEOUT = 0, 1, 33, 34, 35, 36
PARTS = ("refengine", "conformance", "fixtures", "tests")  # what the tests run and read
MOST_BYTES = 6 << 30  # that a mutant may ask for: one that fills a list for ever fails
MOST_SECONDS = 1800  # of wall time for a mutant, which may wait for ever


class Recording(NamedTuple):
    """What the tests do without a mutant: how many seconds of CPU each takes, by its id, and of
    each file the ids of the tests that run a line.
    """

    seconds: dict[str, float]
    tests_by_line: dict[str, dict[int, list[str]]]

    @classmethod
    def of(cls, tests: Mapping[str, Mapping[str, Any]]) -> Recording:
        """Return the recording of some tests, by what is kept of each: its `seconds`, and the
        `lines` that it runs, by file.
        """
        tests_by_line: dict[str, dict[int, list[str]]] = {}
        for test, known in tests.items():
            for file, lines in known["lines"].items():
                for line in lines:
                    tests_by_line.setdefault(file, {}).setdefault(line, []).append(test)
        return cls({test: known["seconds"] for test, known in tests.items()}, tests_by_line)

    def tests_of(self, mutant: Mutant) -> set[str]:
        """Return the tests that run a line of what a mutant changes."""
        tests_by_line = self.tests_by_line.get(mutant.file, {})
        return {test for line in mutant.lines for test in tests_by_line.get(line, ())}


def caches() -> list[Any]:
    """Return the functions of the code that remember their results."""
    return [
        one
        for one in gc.get_objects()
        if isinstance(one, functools._lru_cache_wrapper)
        and (one.__module__ or "").startswith("refengine")
    ]


class FirstFailure:
    """A pytest plugin that calls a function with the id of each test that fails."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the test of a report if it fails."""
        if report.failed:
            self._note(report.nodeid)


class TimeLimit:
    """A pytest plugin that lets a test fail which takes too long: it raises TimeoutError, again and
    again, since a property is tried twice. `seconds` has what each test takes without a mutant.
    """

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        signal.signal(signal.SIGVTALRM, self._end)

    def _end(self, *_: object) -> None:
        raise TimeoutError("no end in sight")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Run a test against the clock."""
        signal.setitimer(signal.ITIMER_VIRTUAL, 1 + 4 * self._seconds[item.nodeid], 1)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


class Trials:
    """A pytest plugin that tries mutants with the tests which are collected."""

    def __init__(
        self, folder: Path, names: Sequence[str], jobs: int = 1, seconds: float = math.inf
    ) -> None:
        self._folder = folder
        self._names = names
        self._jobs = jobs
        self._most_seconds = seconds
        self._caches: list[Any] = []
        self._items: dict[str, pytest.Item] = {}
        self._recording = Recording({}, {})
        self._kills: Counter[tuple[str, str]] = Counter()
        self._running: dict[int, tuple[Mutant, int, str, float]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self) -> None:
        """Look for the caches before tests/conftest.py hides all objects from `gc`."""
        self._caches = caches()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants, in place of running the tests."""
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        self._items = {item.nodeid: item for item in session.items}
        self._recording = self._recorded(session)
        try:
            for name in self._names:
                mutant = read_mutant(self._folder, name)
                while len(self._running) >= self._jobs:
                    self._end_one()
                self._begin(mutant)
            while self._running:
                self._end_one()
        finally:
            for pid in self._running:
                os.kill(pid, signal.SIGKILL)
        return True

    def _recorded(self, session: pytest.Session) -> Recording:
        """Return which lines the tests run. It is kept in a file, from which only those tests are
        run again whose own file has changed; after another change, all are.
        """
        path = self._folder.parent / "lines.json"
        key = digest_of_all_but_tests(self._folder)
        kept = read_recorded_tests(path, key)
        files = {item.path for item in session.items}
        keys = {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
        tests = {test: kept.get(test) for test in self._items}
        new = [
            test
            for test, known in tests.items()
            if known is None or known["key"] != keys[self._items[test].path]
        ]
        if new:
            new_path = path.with_suffix(".new")
            pid = os.fork()
            if not pid:
                end_fork(lambda: self._record([self._items[test] for test in new], new_path))
            _, status = os.waitpid(pid, 0)
            if status:
                raise session.Interrupted("a test fails without a mutant")
            recorded = json.loads(new_path.read_text(encoding="utf-8"))
            tests |= {
                test: {**known, "key": keys[self._items[test].path]}
                for test, known in recorded.items()
            }
            text = json.dumps({"key": key, "tests": tests})
            path.write_text(text, encoding="utf-8")
        return Recording.of({test: known for test, known in tests.items() if known is not None})

    def _record(self, items: Sequence[pytest.Item], path: Path) -> int:
        """Run tests, and write to a file how long each takes, and which lines of the changed files
        it runs. Return 1 if one fails, else 0.
        """
        # comes with mutmut, and is not in the environment of the other tools
        coverage = importlib.import_module("coverage")
        failed: list[str] = []
        items[0].config.pluginmanager.register(FirstFailure(failed.append))
        modules = sorted({name.rpartition(".")[0] for name in all_names(self._folder)})
        files = [MutatedFile(self._folder, module) for module in modules]
        for module, file in zip(modules, files, strict=True):
            for name in file.originals():
                put_in_place(read_mutant(self._folder, f"{module}.{name}"))
        recorded: dict[str, dict[str, Any]] = {}
        measured = coverage.Coverage(
            data_file=None, config_file=False, include=[file.path for file in files]
        )
        measured.start()
        for item, following in zip(items, [*items[1:], None], strict=True):
            self._empty_caches()
            measured.switch_context(item.nodeid)
            began = time.process_time()
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            recorded[item.nodeid] = {"seconds": time.process_time() - began, "lines": {}}
        measured.stop()
        if failed:
            print("fails without a mutant:", *failed, sep="\n", file=sys.__stdout__, flush=True)
            return 1
        data = measured.get_data()
        for file in files:
            for line, tests in data.contexts_by_lineno(file.path).items():
                for test in filter(None, tests):
                    recorded[test]["lines"].setdefault(file.path, []).append(line)
        path.write_text(json.dumps(recorded), encoding="utf-8")
        return 0

    def _empty_caches(self) -> None:
        """Empty the caches of the code: what the right code has remembered hides a mutant."""
        for cached in self._caches:
            cached.cache_clear()

    def _ordered_tests(self, mutant: Mutant) -> list[str]:
        """Return the tests of a mutant, in the order in which they are run: as many as take no
        longer together than they may.
        """

        def cost(test: str) -> tuple[float, str]:
            chance = (
                0.1 + 10 * self._kills[mutant.function, test] + self._kills[mutant.module, test]
            )
            return (0.002 + self._recording.seconds[test]) / chance, test

        ordered = sorted(self._recording.tests_of(mutant), key=cost)
        seconds = accumulate(self._recording.seconds[test] for test in ordered)
        return [
            test
            for test, until in zip(ordered, seconds, strict=True)
            if until <= self._most_seconds
        ]

    def _begin(self, mutant: Mutant) -> None:
        """Try a mutant in a fork, unless its change alone says that it has no effect."""
        if mutant.kind is not None:
            self._note(mutant, SKIPPED, "", 0)
            return
        tests = self._ordered_tests(mutant)
        if not tests:
            self._note(mutant, NO_TESTS, "", 0)
            return
        reading, writing = os.pipe()
        temporary = tempfile.mkdtemp(prefix="mutant-")
        began = time.monotonic()
        pid = os.fork()
        if not pid:
            os.environ["PYTEST_DEBUG_TEMPROOT"] = temporary
            end_fork(lambda: self._try(mutant, tests, writing))
        os.close(writing)
        self._running[pid] = (mutant, reading, temporary, began)

    def _try(self, mutant: Mutant, tests: Sequence[str], writing: int) -> int:
        """Run tests on a mutant up to the first one that fails, whose id is written to a pipe.
        Return mutmut's number for what came of it.
        """
        seconds = self._recording.seconds
        most = int(120 + 5 * sum(seconds[test] for test in tests))
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 10))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        signal.alarm(MOST_SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # pytest writes a point for each test
        try:
            put_in_place(mutant)
        except Exception:
            traceback.print_exc(file=sys.__stderr__)
            return SUSPICIOUS
        self._empty_caches()

        def fail(test: str) -> None:
            os.write(writing, test.encode())
            os._exit(KILLED)

        items = [self._items[test] for test in tests]
        plugins = items[0].config.pluginmanager
        plugins.register(FirstFailure(fail))
        plugins.register(TimeLimit(seconds))
        try:
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        except BaseException:  # what ends pytest ends the tests that a reader runs, too
            return KILLED
        return SURVIVED

    def _end_one(self) -> None:
        """Wait for a fork to end, and note what came of its mutant."""
        pid, status = os.wait()
        mutant, reading, temporary, began = self._running.pop(pid)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            test = pipe.read()
        rmtree(temporary, ignore_errors=True)
        code = os.waitstatus_to_exitcode(status)
        if -code in (signal.SIGXCPU, signal.SIGALRM, signal.SIGKILL):
            code = TIMEOUT
        if test:
            self._kills[mutant.function, test] += 1
            self._kills[mutant.module, test] += 1
        self._note(mutant, code, test, time.monotonic() - began)

    def _note(self, mutant: Mutant, code: int, test: str, seconds: float) -> None:
        """Write what came of a mutant into mutmut's file, and a line to standard output."""
        path = Path(mutant.file).relative_to(self._folder)
        meta = self._folder / "mutants" / f"{path}.meta"
        results = json.loads(meta.read_text(encoding="utf-8"))
        results["exit_code_by_key"][mutant.name] = code
        new = meta.with_suffix(".new")
        new.write_text(json.dumps(results, indent=4), encoding="utf-8")
        new.replace(meta)
        line = f"{mutant.name} {code} {seconds:.2f} s {test}"
        print(line, file=sys.__stdout__, flush=True)  # pytest reads the other one


def end_fork(work: Callable[[], int]) -> None:
    """End the process with the number that a piece of work returns, and without anything of what
    the process that it was forked from does at its end.
    """
    code = SUSPICIOUS
    try:
        code = work()
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)


def digest_of_name(name: str) -> bytes:
    """Return a digest of a mutant's name. In its order the mutants of all modules are mixed, so
    that those which an interrupted run has tried are a sample, too.
    """
    return hashlib.sha256(name.encode()).digest()


def all_names(folder: Path) -> Iterator[str]:
    """Yield the names of all mutants that mutmut has made in a folder."""
    for path in sorted((folder / "mutants" / "refengine").rglob("*.meta")):
        yield from json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]


def read_recorded_tests(path: Path, key: str) -> dict[str, Any]:
    """Return what a file keeps of each test, by its id; nothing if there is no file, or if it is of
    code with another digest.
    """
    if not path.exists():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    if found["key"] != key:
        return {}
    tests: dict[str, Any] = found["tests"]
    return tests


def digest_of_all_but_tests(folder: Path) -> str:
    """Return a digest of what the tests run and read, without the files of the tests themselves."""
    hashed = hashlib.sha256()
    for path in sorted(path for part in PARTS for path in (folder / part).rglob("*")):
        parts = path.relative_to(folder).parts
        if "__pycache__" in parts or path.name.startswith("test_"):
            continue
        if path.is_file():
            hashed.update("/".join(parts).encode())
            hashed.update(path.read_bytes())
    return hashed.hexdigest()


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants at once")
    parser.add_argument(
        "--seconds",
        type=float,
        default=math.inf,
        help="how long the tests of one mutant may take together, as recorded (default: all tests)",
    )
    options = parser.parse_args()
    names = sorted(sys.stdin.read().split(), key=digest_of_name)
    folder = Path.cwd()
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)["tool"]["mutmut"]
    arguments = [
        "--rootdir=.",
        "-q",
        "--capture=sys",
        "--tb=no",  # the lines of the code in a traceback take most of the time of a kill
        *settings["pytest_add_cli_args"],
        *settings["pytest_add_cli_args_test_selection"],
    ]
    return int(
        pytest.main(arguments, plugins=[Trials(folder, names, options.jobs, options.seconds)])
    )


if __name__ == "__main__":
    sys.exit(main())
