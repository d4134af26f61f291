"""Writing files of lines: N-Triples, N-Quads, and triples with a time.

A task writes a file of its own under `_temporary`, which no reader sees. When all tasks have ended,
the files are moved into the folder. So each row is written once, however often Spark tries a task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import uuid4

import pyarrow
from pyarrow import fs
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from conformance.spark.formats.pieces import open_system
from refengine.model.errors import InvalidStream
from refengine.model.terms import canonical, graph_name, triple_of

TEMPORARY = "_temporary"
SUCCESS = "_SUCCESS"


@dataclass
class OutputFile(WriterCommitMessage):
    """The name of the file that a task has written; None if it had no rows."""

    name: str | None


class LineWriter(DataSourceArrowWriter):
    """What writes rows as lines into a folder. `positions` are the columns of a line, in its order.
    With `overwrite` the files that are there are removed once the new ones are written.
    """

    def __init__(self, path: str, name: str, positions: Sequence[str], overwrite: bool) -> None:
        self.path = path
        self.name = name
        self.positions = tuple(positions)
        self.overwrite = overwrite
        self.run = uuid4().hex

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> OutputFile:
        """Write the rows of a task, and return the name of their file. Raises InvalidStream for a
        row that is no record of the format.
        """
        from pyspark import TaskContext

        context = TaskContext.get()
        task = context.partitionId() if context is not None else 0
        system, folder = self._temporary()
        name = f"part-{task:05d}-{uuid4().hex}.{self._ending()}"
        file = None
        for batch in iterator:
            if not batch.num_rows:
                continue
            if file is None:
                system.create_dir(folder, recursive=True)
                file = system.open_output_stream(f"{folder}/{name}")
            file.write("".join(map(self._line, batch.to_pylist())).encode())
        if file is None:
            return OutputFile(None)
        file.close()
        return OutputFile(name)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Move the files of all tasks to where they are read."""
        system, folder = self._temporary()
        _, root = open_system(self.path)
        system.create_dir(root, recursive=True)
        before = system.get_file_info(fs.FileSelector(root)) if self.overwrite else []
        for message in messages:
            if isinstance(message, OutputFile) and message.name is not None:
                system.move(f"{folder}/{message.name}", f"{root}/{message.name}")
        for each in before:
            if each.type == fs.FileType.File:
                system.delete_file(each.path)
            elif each.base_name != TEMPORARY:
                system.delete_dir(each.path)
        with system.open_output_stream(f"{root}/{SUCCESS}"):
            pass
        self.abort(messages)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Remove what the tasks have written."""
        system, folder = self._temporary()
        if system.get_file_info(folder).type == fs.FileType.Directory:
            system.delete_dir(folder)
        above = folder.rpartition("/")[0]
        if system.get_file_info(above).type == fs.FileType.Directory and not system.get_file_info(
            fs.FileSelector(above)
        ):
            system.delete_dir(above)

    def _temporary(self) -> tuple[fs.FileSystem, str]:
        """Return the file system, and the folder in it of what this run has not committed."""
        system, root = open_system(self.path)
        return system, f"{root.rstrip('/')}/{TEMPORARY}/{self.run}"

    def _ending(self) -> str:
        if self.name == "nquads":
            return "nq"
        return self.name

    def _line(self, row: dict[str, str | int | None]) -> str:
        """Return the line of a row. Raises InvalidStream."""
        terms = [row[name] for name in ("subject", "predicate", "object")]
        if any(not isinstance(term, str) for term in terms):
            raise InvalidStream("a row has a null", rule="IO-1", place=self.name)
        texts = list(triple_of(*(canonical(str(term)) for term in terms)))
        if "time" in self.positions:
            if row["time"] is None:
                raise InvalidStream("a row has a null", rule="IO-1", place="column time")
            texts.append(f'"{row["time"]}"')
        graph = row.get("graph")
        if "graph" in self.positions and graph is not None:
            texts.append(graph_name(canonical(str(graph))))
        return " ".join(texts) + " .\n"
