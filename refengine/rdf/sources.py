"""The sources that are read: files, which may be packed, pipes, and texts in memory (IO-1).

How much a packed file or a pipe holds is not known before it is read, and may be a million times
what was sent: it is unpacked in small pieces, and has a bound where it is held.
"""

from __future__ import annotations

import fnmatch
import io
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any, BinaryIO, cast

from refengine.model.errors import InvalidStream, RefengineError
from refengine.model.libraries import say_not_installed
from refengine.model.messages import display

MOST_BYTES = 2**31  # of a text that is unpacked, or comes through a pipe, and is held whole
MOST_OF_A_LINE = 2**24  # characters, where such a text is read line by line
READ_AT_ONCE = 2**20  # bytes: where an integer of C has 32 bits, MOST_BYTES are too many
PIECE = 2**10  # bytes that are unpacked at a time: at most 32 MiB, by the format of zstd


class Unreadable(ValueError):
    """What is wrong with a file before it is a text."""


@dataclass(frozen=True)
class Piped:
    """What is read once, from its data, as if it were the file of this name, whose end says the
    format. It is called `title` in errors.
    """

    name: str
    data: BinaryIO
    title: str = "standard input"

    def __str__(self) -> str:
        return self.title


@dataclass(frozen=True)
class Text:
    """A text in memory, which is read as if it were the file of this name, whose end says the
    format. Errors call it by its title, or else by that name.
    """

    name: str
    text: str
    title: str = ""

    def __str__(self) -> str:
        return self.title or self.name


@dataclass(frozen=True)
class TextFolder:
    """A folder in memory: the texts of its files, by their paths in it (`data/data_01.ttl`)."""

    name: str
    texts: Mapping[str, str]

    def __str__(self) -> str:
        return self.name


Source = str | Path | Piped | Text
Folder = Path | TextFolder


def refuse_no_source(value: object, rule: str, place: str = "source") -> None:
    """Refuse what is no source and no folder, where one is needed. Raises InvalidStream."""
    if not isinstance(value, str | Path | Piped | Text | TextFolder):
        reason = f'must be the path of a file, got {display(value)}; write "stream.nq"'
        raise InvalidStream(reason, rule=rule, place=place)


def name_of(source: Source) -> str:
    """Return the name of a file, without its folder and without what says that it is packed."""
    name = _name(source)
    stem, end = os.path.splitext(name)
    if end.lower() in UNPACKERS:
        return stem
    return name


def suffix_of(source: Source) -> str:
    """Return the end of a file's name, which says its format, in lower case: `.trig`."""
    return PurePath(name_of(source)).suffix.lower()


def read_text(source: Source, kind: type[RefengineError], rule: str) -> str:
    """Return the text of a source, unpacked, without a byte order mark.

    Raises an error of this kind and rule for what cannot be read or is not UTF-8. Anything but a
    regular file is refused: a pipe might never end.
    """
    data = b""
    try:
        data = read_source(source)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise kind(f"not UTF-8: {error.reason}", rule=rule, place=f"{source}:{line}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise unreadable(error, kind, rule, source) from None


def unreadable(
    error: OSError | ValueError, kind: type[RefengineError], rule: str, source: Source
) -> RefengineError:
    """Return an error of this kind that says why a source cannot be read."""
    reason = getattr(error, "strerror", None) or error
    return kind(f"cannot be read: {reason}", rule=rule, place=str(source))


def list_files(folder: Path, pattern: str, rule: str) -> list[Path]:
    """Return the files of a folder whose names match, sorted; none if there is no such folder."""
    try:
        return sorted(folder / name for name in fnmatch.filter(os.listdir(folder), pattern))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise unreadable(error, InvalidStream, rule, folder) from None


def list_sources(folder: Folder, pattern: str, rule: str) -> list[Source]:
    """Return the files of a folder, on the disk or in memory, whose names match, or else those of
    the folder `data` in it; sorted.
    """
    if isinstance(folder, Path):
        return [
            *(list_files(folder, pattern, rule) or list_files(folder / "data", pattern, rule)),
        ]

    for within in ("", "data/"):
        paths = sorted(
            path
            for path in folder.texts
            if path.startswith(within)
            and "/" not in path.removeprefix(within)
            and fnmatch.fnmatch(path.removeprefix(within), pattern)
        )
        if paths:
            return [Text(f"{folder.name}/{path}", folder.texts[path]) for path in paths]

    return []


def read_source(source: Source) -> bytes:
    """IO-1: Read the bytes of a source as a whole, unpacked.

    Raises OSError; Unreadable for a file that is no regular one, which might never end, or one that
    is damaged, cut off or unpacks to more than MOST_BYTES.
    """
    if isinstance(source, Text):
        return source.text.encode()

    if not isinstance(source, Piped):
        if os.path.exists(source) and not os.path.isfile(source):
            raise Unreadable("not a regular file")
        if _unpacker(source) is None:
            return Path(source).read_bytes()
    found = bytearray()
    with _open_bytes(source) as data:
        while piece := data.read(READ_AT_ONCE):
            found += piece
            if len(found) > MOST_BYTES:
                raise Unreadable(f"more than {MOST_BYTES} bytes, the most that is read into memory")
    return bytes(found)


@contextmanager
def open_lines(source: Source) -> Iterator[Iterator[str]]:
    """Open a file to be read line by line, in memory that its length does not change.

    Raises what `read_source` does, but for a text of any length; Unreadable for a line of more than
    MOST_OF_A_LINE characters, where the text is packed or piped.
    """
    if isinstance(source, Text):
        source = Piped(source.name, io.BytesIO(source.text.encode()), str(source))

    if not isinstance(source, Piped) and _unpacker(source) is None:
        with open(source, encoding="utf-8-sig") as plain:
            yield plain
        return

    with _open_bytes(source) as data:
        text = io.TextIOWrapper(data, encoding="utf-8-sig")
        try:
            yield _lines_of_bounded_length(text)
        finally:
            text.detach()


def _lines_of_bounded_length(text: io.TextIOWrapper) -> Iterator[str]:
    for line in iter(partial(text.readline, MOST_OF_A_LINE), ""):
        if len(line) == MOST_OF_A_LINE and not line.endswith("\n"):
            raise Unreadable(f"a line of {MOST_OF_A_LINE} characters or more")
        yield line


@contextmanager
def _open_bytes(source: str | Path | Piped) -> Iterator[BinaryIO]:
    """Open the bytes of a text that is packed or piped."""
    if isinstance(source, Piped):
        yield _unpacked(source, source.data)
        return
    with open(source, "rb") as data:
        yield _unpacked(source, data)


def _unpacked(source: Source, data: BinaryIO) -> BinaryIO:
    unpack = _unpacker(source)
    if unpack is None:
        return data
    return cast(BinaryIO, io.BufferedReader(_Joined(unpack(data))))


class _Joined(io.RawIOBase):
    """Pieces of bytes as one file."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = memoryview(part)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


# Packed files


def _gzip(packed: BinaryIO) -> Iterator[bytes]:
    return _unpack(packed, "gzip", lambda: zlib.decompressobj(wbits=31), zlib.error)


def _zstd(packed: BinaryIO) -> Iterator[bytes]:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise Unreadable(say_not_installed("zstandard")) from None
    begin = zstandard.ZstdDecompressor().decompressobj  # refuses windows of more than 128 MiB
    return _unpack(packed, "zstd", begin, zstandard.ZstdError)


UNPACKERS: dict[str, Callable[[BinaryIO], Iterator[bytes]]] = {".gz": _gzip, ".zst": _zstd}


def _name(source: Source) -> str:
    if isinstance(source, Piped | Text):
        return source.name
    return os.path.basename(source)


def _unpacker(source: Source) -> Callable[[BinaryIO], Iterator[bytes]] | None:
    return UNPACKERS.get(os.path.splitext(_name(source))[1].lower())


def _unpack(
    packed: BinaryIO, kind: str, begin: Callable[[], Any], damage: type[Exception]
) -> Iterator[bytes]:
    """Yield what a file of packed parts, one or several, unpacks to."""
    part = begin()
    is_whole = False
    while piece := packed.read(PIECE):
        while piece:
            try:
                yield part.decompress(piece)
            except damage:
                raise Unreadable(f"damaged, or not {kind}") from None
            is_whole = part.eof
            if not is_whole:
                break
            piece = part.unused_data  # of the next part
            part = begin()
    if not is_whole:
        raise Unreadable(f"cut off: the {kind} data ends before its end")
