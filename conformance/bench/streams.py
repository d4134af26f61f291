"""The streams of benchmarks: those that a seeded generator writes, which are kept with their
digest, and those of a user's files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from conformance.engines.installation.places import cache_folder
from conformance.verdict.results import replace, writing
from refengine.model.elements import Dataset, Stream
from refengine.model.errors import RefengineError
from refengine.rdf.streams import read_stream

DIGEST = ".sha256"  # ends the name of the file that has the digest of the one beside it


class LoadedStream(NamedTuple):
    """A stream that was read: its elements, its file or folder, and the digest (SHA-256) of its
    content in hexadecimal.
    """

    stream: Stream
    path: Path
    digest: str


class StreamSource(Protocol):
    """Where a stream comes from."""

    def load(self) -> LoadedStream:
        """Return the stream, which is made first if need be. Raises RefengineError."""

    def fingerprint(self) -> str:
        """Return a text that is equal for two sources only if they give the same stream. Raises
        RefengineError.
        """


@dataclass(frozen=True)
class StoredStream:
    """A stream in a file or a folder. With a `limit` it is the first so many elements. `read` reads
    it, where it is in a form of the benchmark's own.
    """

    path: Path
    limit: int | None = None
    read: Callable[[Path], Stream] = read_stream

    def load(self) -> LoadedStream:
        """Read the stream. Raises RefengineError."""
        stream = self.read(self.path)
        if self.limit is not None:
            stream = Stream(tuple(stream)[: self.limit], stream.ordered)
        return LoadedStream(stream, self.path, _digest_of(self.path))

    def fingerprint(self) -> str:
        """Return the digest of the content, and the limit. Raises RefengineError."""
        try:
            return f"{_digest_of(self.path)} {self.limit}"
        except OSError as error:
            raise RefengineError(
                f"cannot be read: {error.strerror}", rule="IO-1", place=str(self.path)
            ) from None


@dataclass(frozen=True)
class GeneratedStream:
    """A stream that a generator writes, always the same lines for the same `name`, which states
    the generator's parameters and ends as a file of its form does.

    `cut` returns about so many parts of the stream, each by the function that makes its lines, so
    that parts can be made side by side: the stream is the parts merged by time, and of one time
    those of an earlier part come first. Without it the stream is one part.

    The file is kept in the folder `streams` of the user's cache, with its digest. A file that does
    not have its digest is written anew.
    """

    name: str
    lines: Callable[[], Iterable[str]]
    cut: Callable[[int], Sequence[Callable[[], Iterable[str]]]] | None = None

    def parts(self, count: int) -> Sequence[Callable[[], Iterable[str]]]:
        """Return about so many parts of the stream."""
        if self.cut is None:
            return [self.lines]
        return self.cut(count)

    def load(self) -> LoadedStream:
        """Make the stream, unless it is there, and read it. Raises RefengineError."""
        path = cache_folder() / "streams" / self.name
        digest = _find_digest(path)
        if digest is None:
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            replace({path: self.lines()})
            digest = _digest_of(path)
            replace({_digest_path(path): [digest]})
        return LoadedStream(read_stream(path), path, digest)

    def fingerprint(self) -> str:
        """Return the name, which states all that the lines depend on."""
        return self.name


def name_of_stream(*values: object) -> str:
    """Return the name of a generated stream in a file .n3t, which states what it depends on."""
    return f"{'-'.join(map(str, values))}.n3t"


class StaticSource(Protocol):
    """Where static data come from."""

    def load(self) -> Dataset:
        """Return the data. Raises RefengineError."""

    def fingerprint(self) -> str:
        """Return a text that is equal for two sources only if they give the same data. Raises
        RefengineError.
        """


@dataclass(frozen=True)
class GeneratedStatic:
    """Static data that a generator makes when they are needed, always the same for the same `name`,
    which states the generator's parameters.
    """

    name: str
    make: Callable[[], Dataset]

    def load(self) -> Dataset:
        """Make the data."""
        return self.make()

    def fingerprint(self) -> str:
        """Return the name, which states all that the data depend on."""
        return self.name


@dataclass(frozen=True)
class StaticDataset:
    """Static data that are in memory."""

    data: Dataset

    def load(self) -> Dataset:
        """Return the data."""
        return self.data

    def fingerprint(self) -> str:
        """Return the digest of the data, statement by statement in their order."""
        digest = hashlib.sha256()
        for statement in sorted(self.data):
            digest.update(f"{' '.join(statement)} .\n".encode())
        return digest.hexdigest()


def _find_digest(path: Path) -> str | None:
    """Return the digest of a file; None if it is not there, or does not have the digest that is
    written beside it.
    """
    try:
        digest = _digest_of(path)
        if _digest_path(path).read_text(encoding="ascii").strip() == digest:
            return digest
    except (OSError, ValueError):
        pass
    return None


def _digest_path(path: Path) -> Path:
    """Return the file that has the digest of another."""
    return path.with_name(path.name + DIGEST)


def _digest_of(path: Path) -> str:
    """Return the digest of a file, or of all files of a folder in the order of their names."""
    digest = hashlib.sha256()
    for file in _files_of(path):
        with open(file, "rb") as content:
            while piece := content.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()


def _files_of(path: Path) -> Iterator[Path]:
    """Yield a file, or all files of a folder and its folders in the order of their names."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            yield Path(folder, name)
