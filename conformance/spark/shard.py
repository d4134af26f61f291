"""The suite's items, spread over the executors of Spark: each task makes its items anew, of the
same words, and runs them as pytest does, with harnesses of its own that end with it.

A shard is some items of one engine, and a job of Spark. What a shard's items became is told when it
has ended, once, however often Spark had to try it.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, closing, contextmanager, nullcontext
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import conformance
import refengine
from conformance.harness.pool import Harnesses
from conformance.spark import jobs, session
from conformance.suite import Asked, Item
from conformance.verdict.results import Result, from_json
from refengine.model.errors import RefengineError

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

LEAST = 16  # items of a shard, where there are enough: its engine is started for them
CODE = (".py", ".toml", ".json", ".js", ".java")
CLASSPATHS = "CONFORMANCE_CLASSPATH_"

# what became of an item: its result as JSON, or the three parts of its key and an `error`
Told = dict[str, Any]


def told(item: Item, harnesses: Harnesses) -> Told:
    """Runs an item. A RefengineError is what became of it, and no result."""
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


def key(one: Told) -> tuple[str, str, str]:
    """That of the item."""
    return one["engine"], one["suite"], one["case"]


def result(one: Told) -> Result:
    """The item's result. Raises the RefengineError that it ended with."""
    if "error" in one:
        raise RefengineError(**one["error"])
    return from_json(one)


# On the driver


def spread(
    spark: SparkSession, asked: Asked, items: Sequence[Item], parallel: int
) -> Generator[list[Told], None, None]:
    """What becomes of items, shard by shard as they end; `parallel` shards run at a time. Raises
    NoSpark for a shard that Spark, or what an executor lacks, does not let run.
    """
    if not items:
        return
    paths = {name: value for name, value in os.environ.items() if name.startswith(CLASSPATHS)}
    common = {
        "asked": asdict(asked),
        "versions": versions(asked),
        "folder": os.getcwd(),
        "classpaths": paths,
    }
    work = {
        number: json.dumps({**common, "keys": [item.key for item in some]})
        for number, some in enumerate(cut(items, parallel))
    }
    for _, table in jobs.run(
        {number: partial(_job, spark, text) for number, text in work.items()}, parallel
    ):
        found = [json.loads(line) for line in table["told"].to_pylist()]
        for one in found:
            if "refused" in one:
                raise session.NoSpark(one["refused"], place=f"executor {one['executor']}")
        yield found


@contextmanager
def elsewhere(
    asked: Asked, items: Sequence[Item], master: str | None
) -> Iterator[Callable[[Item], Result]]:
    """A function that waits for an item's result, which comes from executors. Raises NoSpark, as
    the function does; that raises the RefengineError of an item, too.
    """
    wanted = [item for item in items if not item.missing]
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    if not wanted:
        yield lambda item: result(found[item.key])
        return
    with (
        session.opened(master, light=True) as spark,
        closing(spread(spark, asked, wanted, jobs.slots(spark))) as running,
    ):

        def wait(item: Item) -> Result:
            while item.key not in found:
                found.update((key(one), one) for one in next(running))
            return result(found[item.key])

        yield wait


def cut(items: Iterable[Item], parallel: int) -> list[list[Item]]:
    """Shards, each of one engine: large ones first and ever smaller ones, so that all slots end at
    about the same time, whatever an item takes (guided self-scheduling: Polychronopoulos and Kuck
    1987).
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


def versions(asked: Asked) -> dict[str, str]:
    """Digests of what must be the same wherever items of one run are made: this project, and the
    engines' files.
    """
    files = {
        name: hashlib.sha256(Path(name).read_bytes()).hexdigest()
        for name in asked.engines
        if name.endswith(".toml") and os.path.isfile(name)
    }
    return {"refengine": code(), **files}


@cache
def code() -> str:
    """The digest of this project as it is here."""
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


def _job(spark: SparkSession, work: str) -> DataFrame:
    return spark.range(0, 1, 1, 1).mapInArrow(partial(_task, work), "told string")


# On an executor


def _task(work: str, rows: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """A row of JSON an item; one with `refused` if the items cannot be asked there."""
    import pyarrow

    for _ in rows:
        pass
    try:
        found = _ended(json.loads(work))
    except RefengineError as error:
        found = [
            {
                "refused": f"{error.place}: {error.reason}" if error.place else error.reason,
                "executor": socket.gethostname(),
            }
        ]
    yield pyarrow.RecordBatch.from_pydict({"told": [json.dumps(one) for one in found]})


def _ended(work: Mapping[str, Any]) -> list[Told]:
    with _as_on_the_driver(work["folder"], work["classpaths"]):
        asked = Asked(**work["asked"])
        there = {item.key: item for item in asked.items()}
        if other := [
            name
            for name, version in work["versions"].items()
            if versions(asked).get(name) != version
        ]:
            raise RefengineError(
                f"another version of {', '.join(other)} than the driver's", rule="spark"
            )
        items = [there[tuple(key)] for key in work["keys"] if tuple(key) in there]
        if len(items) < len(work["keys"]):
            raise RefengineError(
                f"{len(work['keys']) - len(items)} items are not there: other "
                "files than the driver's",
                rule="spark",
            )
        for item in items:
            if item.missing:
                raise RefengineError(item.missing, rule="spark")
        harnesses = Harnesses()
        try:
            return [told(item, harnesses) for item in items]
        finally:
            harnesses.stop()


@contextmanager
def _as_on_the_driver(folder: str, classpaths: Mapping[str, str]) -> Iterator[None]:
    """Relative paths are those of the driver's folder, where that exists. The process is Python's
    worker, which runs one task at a time, and may run those of others after it.
    """
    before = dict(os.environ)
    try:
        os.environ.update(classpaths)
        with chdir(folder) if os.path.isdir(folder) else nullcontext():
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
