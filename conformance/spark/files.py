"""The files of a stream, and their bytes in a worker: this machine's are mapped, so that a part
touches only what it needs; others come as Spark's binaryFile gives them, whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pyarrow

from conformance.spark import survey
from conformance.spark.jobs import collected
from conformance.spark.rows import FAULT
from conformance.spark.survey import File

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "_metadata.file_path"  # a URL
Batches = Iterable[pyarrow.RecordBatch]
# what runs in a worker
Work = Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]


@dataclass(frozen=True)
class Files:
    """`source` is as Spark's binaryFile has it; `local`: whether workers reach the files by their
    paths; `count` is how many there are.
    """

    source: DataFrame
    local: bool
    count: int

    def contents(self, names: Iterable[str] | None = None) -> DataFrame:
        """A row a file, of those with these names or of all, for `buffers`."""
        from pyspark.sql import functions

        chosen = (
            self.source
            if names is None
            else self.source.where(functions.col(NAME).isin(list(names)))
        )
        return chosen.select(NAME, *([] if self.local else ["content"]))

    def survey(
        self, surveyed: Callable[[int, Batches], Iterator[pyarrow.RecordBatch]]
    ) -> list[File]:
        """What `surveyed`, in a worker, finds of each (File.told), given how many stretches of its
        time it may tell apart. Raises InvalidStream for one that cannot be read.
        """
        return survey.files(
            collected(
                self.contents().mapInArrow(
                    partial(surveyed, survey.resolution(self.count)), survey.SCHEMA
                )
            )
        )

    def faults(self, names: Sequence[str], faulty: Work) -> list[dict[str, Any]]:
        """What `faulty`, in a worker, finds in those with these names that is no triple (FAULT)."""
        found: list[dict[str, Any]] = collected(
            self.contents(names).mapInArrow(faulty, FAULT)
        ).to_pylist()
        return found


def buffers(batches: Batches) -> Iterator[tuple[str, pyarrow.Buffer]]:
    """Name and content of each file, in a worker. Raises OSError for a file that cannot be read
    there.
    """
    for some in batches:
        names, *contents = some.columns
        for place, name in enumerate(names.to_pylist()):
            yield (
                name,
                contents[0][place].as_buffer()
                if contents
                else _mapped(unquote(urlsplit(name).path)),
            )


def _mapped(path: str) -> pyarrow.Buffer:
    with pyarrow.memory_map(path) as file:
        return file.read_buffer()
