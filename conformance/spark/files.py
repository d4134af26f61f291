"""The files of a stream, and their bytes in a worker: this machine's are mapped, so that a part touches only what it needs; others
come as Spark's binaryFile gives them, whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pyarrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NAME = "_metadata.file_path"  # a URL


@dataclass(frozen=True)
class Files:
    """`source` is as Spark's binaryFile has it; `local`: whether workers reach the files by their paths; `count` is how many there are."""

    source: DataFrame
    local: bool
    count: int

    def contents(self, names: Iterable[str] | None = None) -> DataFrame:
        """A row a file, of those with these names or of all, for `buffers`."""
        from pyspark.sql import functions as F

        chosen = self.source if names is None else self.source.where(F.col(NAME).isin(list(names)))
        return chosen.select(NAME, *([] if self.local else ["content"]))


def buffers(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple[str, pyarrow.Buffer]]:
    """Name and content of each file, in a worker. Raises OSError for a file that cannot be read there."""
    for some in batches:
        names, *contents = some.columns
        for place, name in enumerate(names.to_pylist()):
            yield name, contents[0][place].as_buffer() if contents else _mapped(unquote(urlsplit(name).path))


def _mapped(path: str) -> pyarrow.Buffer:
    with pyarrow.memory_map(path) as file:
        return file.read_buffer()
