"""The folder of a run of the suite over Spark. It has what was asked (run.json), the record of each
item as soon as it is known (journal.ndjson), and at the end the results (results.ndjson,
results.parquet). What is in the journal is done, even if the run is interrupted.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conformance.spark import shard
from conformance.spark.shard import Record
from conformance.suite import SuiteOptions
from conformance.verdict import results
from conformance.verdict.results import Result
from refengine.model.errors import RefengineError
from refengine.model.messages import display

MANIFEST, JOURNAL = "run.json", "journal.ndjson"


@dataclass
class Folder:
    """The folder of a run: its path, the file number of its journal, and the records of the items
    that are done, by the items' keys.
    """

    path: Path
    journal: int
    done: dict[tuple[str, str, str], Record] = field(default_factory=dict)

    def add(self, records: Iterable[Record]) -> None:
        """Append records to the journal. They are on the disk when this returns. Raises
        RefengineError.
        """
        records = list(records)
        rest = memoryview("".join(f"{json.dumps(record)}\n" for record in records).encode())
        with results.writing(self.path / JOURNAL):
            while rest:
                rest = rest[os.write(self.journal, rest) :]
            os.fsync(self.journal)
        self.done.update((shard.key(record), record) for record in records)

    def count(self) -> int:
        """Return how many items the journal has. They may be more than `done` has, after an
        interrupt.
        """
        return len(_read(self.path / JOURNAL, self.journal))

    def results(self) -> list[Result]:
        """Return the results so far. Items that ended with an error have none."""
        return [shard.result_of(record) for record in self.done.values() if "error" not in record]

    def write(self, items_results: Iterable[Result]) -> None:
        """Write both files of results, or neither."""
        items_results = list(items_results)
        results.replace(
            {
                self.path / "results.ndjson": results.lines(items_results),
                self.path / "results.parquet": parquet(items_results),
            }
        )


@contextmanager
def open_run(path: Path, suite_options: SuiteOptions, resume: bool) -> Iterator[Folder]:
    """Open the folder of a new run, or with `resume` that of a run with the same options. Only a
    last line of the journal that is incomplete is dropped then. Raises RefengineError.
    """
    with claim(
        path, {"asked": asdict(suite_options), "versions": shard.versions(suite_options)}, resume
    ):
        with results.writing(path / JOURNAL):
            journal = os.open(path / JOURNAL, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            yield Folder(path, journal, _read(path / JOURNAL, journal))
        finally:
            os.close(journal)


@contextmanager
def claim(path: Path, manifest: Mapping[str, Mapping[str, Any]], resume: bool) -> Iterator[None]:
    """Lock a folder for this process until the context ends. It is a new folder, to which the
    manifest (`asked`, `versions`) is written, or with `resume` that of a run with the same
    manifest. Raises RefengineError.
    """
    manifest = json.loads(json.dumps(manifest))
    with results.writing(path):
        path.mkdir(exist_ok=True)
        lock = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RefengineError(
                "another run writes there", rule="usage", place=str(path)
            ) from None
        there = os.listdir(path)
        if there and not resume:
            raise RefengineError(
                "not empty: go on with the run there with --resume, or name another folder",
                rule="usage",
                place=str(path),
            )
        if there:
            _check(path / MANIFEST, manifest)
        else:
            results.replace({path / MANIFEST: [json.dumps(manifest, indent=2, sort_keys=True)]})
        yield
    finally:
        os.close(lock)


def _check(path: Path, manifest: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise RefengineError if the manifest in a file differs, with the first difference."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        before = {name: dict(before[name]) for name in manifest}
    except (OSError, ValueError, KeyError, TypeError):
        raise RefengineError(
            "not the folder of a run: name another one", rule="usage", place=str(path)
        ) from None
    for part, now in manifest.items():
        for name in now | before[part]:
            old = before[part].get(name)
            new = now.get(name)
            if old == new:
                continue
            change = f"{name} has changed since"
            if part == "asked":
                change = f"{name} was {display(old)}, and is {display(new)}"
            raise RefengineError(
                f"this is the folder of another run: {change}; name another folder",
                rule="usage",
                place=str(path),
            )


def _read(path: Path, journal: int) -> dict[tuple[str, str, str], Record]:
    """Return the records in a journal by key, and cut off an incomplete last line. Raises
    RefengineError.
    """
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    done = {}
    for number, line in enumerate(content[:whole].splitlines(), 1):
        try:
            record = json.loads(line)
            done[shard.key(record)] = record
        except (ValueError, KeyError, TypeError):
            raise RefengineError(
                "not the record of an item: remove the line",
                rule="usage",
                place=f"{path}:{number}",
            ) from None
    if whole < len(content):
        with results.writing(path):
            os.ftruncate(journal, whole)
    return done


def parquet(items_results: Iterable[Result]) -> bytes:
    """Return results as a Parquet file, with the order and the columns of NDJSON; `evidence` is the
    text of its JSON object.
    """
    import pyarrow
    from pyarrow import parquet

    text = pyarrow.string()
    known_fields = [
        ("reason", text),
        ("link", text),
        ("rules", pyarrow.list_(text)),
        ("can_be_granted", pyarrow.bool_()),
    ]
    known = pyarrow.list_(pyarrow.struct(known_fields))
    cause_fields = [
        ("reason", text),
        ("rules", pyarrow.list_(text)),
        ("can_be_granted", pyarrow.bool_()),
        ("entry", text),
    ]
    causes = pyarrow.list_(pyarrow.struct(cause_fields))
    names = ("engine", "suite", "case", "rule", "outcome", "explanation")
    schema = pyarrow.schema(
        [
            *((name, text) for name in names),
            ("known", known),
            ("evidence", text),
            ("witnesses", pyarrow.list_(text)),
            ("caught_wrong_engine", text),
            ("caught_when_granted", text),
            ("computed_by", text),
            ("causes", causes),
        ]
    )
    rows = [json.loads(line) for line in results.lines(items_results)]
    for row in rows:
        # JSON has surrogates, Parquet has not
        row |= {name: row[name].encode("utf-8", "backslashreplace").decode() for name in names}
        if row["evidence"] is not None:
            row["evidence"] = json.dumps(row["evidence"], sort_keys=True)
    into = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows, schema), into)
    return into.getvalue()
