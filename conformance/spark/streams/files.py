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

from conformance.spark.jobs import collect
from conformance.spark.streams import survey
from conformance.spark.streams.rows import FAULT
from conformance.spark.streams.survey import File

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "_metadata.file_path"  # a URL
Batches = Iterable[pyarrow.RecordBatch]
# what runs in a worker
Work = Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]


@dataclass(frozen=True)
class Files:
    """The files of a stream. `source` is as Spark's binaryFile has it; `local`: whether workers
    reach the files by their paths; `count` is how many there are.
    """

    source: DataFrame
    local: bool
    count: int

    def contents(self, names: Iterable[str] | None = None) -> DataFrame:
        """Return a row a file, of those with these names or of all, for `buffers`."""
        from pyspark.sql import functions

        chosen = self.source
        if names is not None:
            chosen = chosen.where(functions.col(NAME).isin(list(names)))
        if self.local:
            return chosen.select(NAME)
        return chosen.select(NAME, "content")

    def survey(
        self, survey_files: Callable[[int, Batches], Iterator[pyarrow.RecordBatch]]
    ) -> list[File]:
        """Return what `survey_files`, in a worker, finds of each file (File.as_batch); its first
        argument is how many buckets of a file's time it may tell apart. Raises InvalidStream for a
        file that cannot be read.
        """
        work = partial(survey_files, survey.max_buckets(self.count))
        return survey.files(collect(self.contents().mapInArrow(work, survey.SCHEMA)))

    def faults(self, names: Sequence[str], find_faults: Work) -> list[dict[str, Any]]:
        """Return what `find_faults`, in a worker, finds in the files with these names that is no
        triple (FAULT).
        """
        frame = self.contents(names).mapInArrow(find_faults, FAULT)
        faults: list[dict[str, Any]] = collect(frame).to_pylist()
        return faults


def buffers(batches: Batches) -> Iterator[tuple[str, pyarrow.Buffer]]:
    """Yield name and content of each file, in a worker. Raises OSError for a file that cannot be
    read there.
    """
    for some in batches:
        names, *contents = some.columns
        for place, name in enumerate(names.to_pylist()):
            if contents:
                yield name, contents[0][place].as_buffer()
            else:
                yield name, _map_file(unquote(urlsplit(name).path))


def _map_file(path: str) -> pyarrow.Buffer:
    with pyarrow.memory_map(path) as file:
        return file.read_buffer()
