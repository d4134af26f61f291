"""Running the suite's items on the executors of Spark.

A shard is some items of one engine, and one job of Spark. Its task makes the items again from the
same options and runs them as pytest does, with harnesses of its own. The records of its items come
once, when it has ended, however often Spark had to try it.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, closing, contextmanager
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import conformance
import refengine
from conformance.harness.pool import Harnesses
from conformance.spark import jobs, session
from conformance.suite import Item, SuiteOptions, late_result
from conformance.verdict.results import Result, from_json
from conformance.verdict.wording import count_text
from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession

LEAST = 16  # items of a shard, if there are enough: each shard has to start its engine
CODE = (".py", ".toml", ".json", ".js", ".java")
CLASSPATHS = "CONFORMANCE_CLASSPATH_"

# the result of an item as JSON; or `engine`, `suite` and `case` of the item and an `error`
Record = dict[str, Any]


def run_item(item: Item, harnesses: Harnesses) -> Record:
    """Run an item, and return its record. A RefengineError becomes an `error` in it."""
    try:
        return item.run(harnesses).as_json()
    except RefengineError as error:
        engine, suite, case = item.key
        return {
            "engine": engine,
            "suite": suite,
            "case": case,
            "error": {name: getattr(error, name) for name in ("reason", "rule", "place")},
        }


def key(record: Record) -> tuple[str, str, str]:
    """Return the key of a record's item."""
    return record["engine"], record["suite"], record["case"]


def result_of(record: Record) -> Result:
    """Return the result in a record. Raises the RefengineError with which the item ended."""
    if "error" in record:
        raise RefengineError(**record["error"])
    return from_json(record)


# On the driver


def run_shards(
    spark: SparkSession, suite_options: SuiteOptions, items: Sequence[Item], parallel: int
) -> Generator[list[Record], None, None]:
    """Run items in shards, `parallel` at a time, and yield the records of each shard when it ends.
    Raises NoSpark if Spark gives a shard up, or an executor cannot run it.
    """
    if not items:
        return
    paths = {name: value for name, value in os.environ.items() if name.startswith(CLASSPATHS)}
    common = {
        "asked": asdict(suite_options),
        "versions": versions(suite_options),
        "folder": os.getcwd(),
        "classpaths": paths,
    }
    work = {}
    for number, some in enumerate(cut_into_shards(items, parallel)):
        text = json.dumps({**common, "keys": [item.key for item in some]})
        work[number] = partial(_job, spark, text)
    for _, table in jobs.run_jobs(work, parallel):
        records = [json.loads(line) for line in table["record"].to_pylist()]
        for record in records:
            if "refused" in record:
                raise session.NoSpark(record["refused"], place=f"executor {record['executor']}")
        yield records


@contextmanager
def results_from_spark(
    suite_options: SuiteOptions, items: Sequence[Item], master: str | None
) -> Iterator[Callable[[Item], Result]]:
    """Run items on Spark, and give a function that waits for the result of one of them. It raises
    the RefengineError with which the item ended. Both raise NoSpark.
    """
    runnable = [item for item in items if not item.absent]
    records: dict[tuple[str, str, str], Record] = {}
    if not runnable:
        yield lambda item: result_of(records[item.key])
        return
    with (
        session.open_session(master, light=True) as spark,
        closing(run_shards(spark, suite_options, runnable, jobs.slots(spark))) as shards,
    ):

        def wait(item: Item) -> Result:
            while item.key not in records:
                records.update((key(record), record) for record in next(shards))
            return result_of(records[item.key])

        yield wait


def cut_into_shards(items: Iterable[Item], parallel: int) -> list[list[Item]]:
    """Cut items into shards, each of one engine. Large shards come first and then smaller and
    smaller ones, so that all slots end at about the same time even if items take different times.
    Source: guided self-scheduling, Polychronopoulos and Kuck 1987.
    """
    rest = list(items)
    least = min(LEAST, -(-len(rest) // parallel))
    shards = []
    while rest:
        size = max(least, -(-len(rest) // (2 * parallel)))
        shard = [item for item in rest[:size] if item.engine == rest[0].engine]
        shards.append(shard)
        del rest[: len(shard)]
    return shards


def versions(suite_options: SuiteOptions) -> dict[str, str]:
    """Return the digests of what must be the same on every machine of a run: the code of this
    project, and the engines' files.
    """
    files = {
        name: hashlib.sha256(Path(name).read_bytes()).hexdigest()
        for name in suite_options.engines
        if name.endswith(".toml") and os.path.isfile(name)
    }
    return {"refengine": code(), **files}


@cache
def code() -> str:
    """Return the digest of this project's code on this machine."""
    digest = hashlib.sha256()
    for root in (Path(refengine.__file__).parent, Path(conformance.__file__).parent):
        for folder, folders, names in os.walk(root):
            folders[:] = sorted({*folders} - {"node_modules", "__pycache__", "fixtures"})
            for name in sorted(name for name in names if name.endswith(CODE)):
                path = Path(folder, name)
                digest.update(
                    f"{path.relative_to(root.parent)}\0{path.stat().st_size}\0".encode()
                    + path.read_bytes()
                )
    return digest.hexdigest()


def _job(spark: SparkSession, work: str) -> pyarrow.Table:
    return spark.range(0, 1, 1, 1).mapInArrow(partial(_task, work), "record string").toArrow()


# On an executor


def _task(work: str, rows: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Run a shard on an executor, and yield its records as rows of JSON. If the items cannot be run
    there, the only record says why under `refused`.
    """
    import pyarrow

    for _ in rows:
        pass
    try:
        records = _run_items(json.loads(work))
    except RefengineError as error:
        reason = error.reason
        if error.place:
            reason = f"{error.place}: {reason}"
        records = [{"refused": reason, "executor": socket.gethostname()}]
    yield pyarrow.RecordBatch.from_pydict({"record": [json.dumps(record) for record in records]})


def _run_items(work: Mapping[str, Any]) -> list[Record]:
    """Run the items of a shard, and return their records. Raises RefengineError if they cannot be
    made as on the driver.
    """
    with _as_on_the_driver(work["folder"], work["classpaths"]), _ended_by_spark():
        options = SuiteOptions(**work["asked"])
        keys = list(map(tuple, work["keys"]))
        items = _items(options, work["versions"], keys)
        harnesses = Harnesses()
        try:
            records = [run_item(item, harnesses) for item in items]
        finally:
            harnesses.stop()
        return _with_late_faults(records, dict(harnesses.take_late_faults()))


def _with_late_faults(
    records: Iterable[Record], explanations: Mapping[tuple[str, str, str], str]
) -> list[Record]:
    """Return the records, replacing each one by an error whose harness wrote a line, or ended,
    after its last reply about its item.
    """
    return [
        late_result(result_of(record), explanations[key(record)]).as_json()
        if key(record) in explanations and "error" not in record
        else record
        for record in records
    ]


def _items(
    suite_options: SuiteOptions, expected: Mapping[str, str], keys: Sequence[tuple[str, ...]]
) -> list[Item]:
    """Return the items with some keys. Raises RefengineError if the versions differ from the
    expected ones, if an item does not exist here, or if its engine cannot be started.
    """
    there: dict[tuple[str, ...], Item] = {item.key: item for item in suite_options.items()}
    own = versions(suite_options)
    others = [name for name, version in expected.items() if own.get(name) != version]
    if others:
        raise RefengineError(
            f"its version of {', '.join(others)} is not the driver's", rule="spark"
        )
    items = [there[key] for key in keys if key in there]
    if len(items) < len(keys):
        lost = count_text(len(keys) - len(items), "item")
        raise RefengineError(f"{lost} of the driver not found: the files differ", rule="spark")
    for item in items:
        if item.absent:
            raise RefengineError(item.absent, rule="spark")
    return items


@contextmanager
def _ended_by_spark() -> Iterator[None]:
    """End what runs within as an error does when Spark ends this worker, so that no harness and
    nothing that it has started is left behind.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise SystemExit(1)

    numbers = (signal.SIGHUP, signal.SIGTERM)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _as_on_the_driver(folder: str, classpaths: Mapping[str, str]) -> Iterator[None]:
    """Work in the driver's folder, if it exists here, and with the driver's classpaths, until the
    context ends. Both are restored, since this process may run tasks of others afterwards; it runs
    one at a time.
    """
    before = dict(os.environ)
    with ExitStack() as undo:
        undo.callback(_set_environment, before)
        os.environ.update(classpaths)
        if os.path.isdir(folder):
            undo.enter_context(chdir(folder))
        yield


def _set_environment(variables: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)
