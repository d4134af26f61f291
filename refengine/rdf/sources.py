"""The bytes of a text: of a file, which may be packed, or of a pipe (IO-1).

How much a packed file or a pipe holds is not known before it is read, and may be a million times
what was sent: it is unpacked in small pieces, and has a bound where it is held.
"""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

MOST_BYTES = 2**31  # of a text that is unpacked, or comes through a pipe, and is held whole
MOST_OF_A_LINE = 2**24  # characters, where such a text is read line by line
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


Source = str | Path | Piped


def name_of(source: Source) -> str:
    """Return the name of a file, without its folder and without what says that it is packed."""
    name = _name(source)
    stem, end = os.path.splitext(name)
    return stem if end.lower() in UNPACKERS else name


def read(source: Source) -> bytes:
    """IO-1: the bytes of a file as a whole, unpacked. Raises OSError; Unreadable for a file that is
    no regular one, which might never end, or one that is damaged, cut off or unpacks to more than
    MOST_BYTES.
    """
    if not isinstance(source, Piped):
        if os.path.exists(source) and not os.path.isfile(source):
            raise Unreadable("not a regular file")
        if _unpacker(source) is None:
            return Path(source).read_bytes()
    with _opened(source) as data:
        found = data.read(MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise Unreadable(f"more than {MOST_BYTES} bytes, which is the most that is held")
    return found


@contextmanager
def lines(source: Source) -> Iterator[Iterator[str]]:
    """Open a file to be read line by line, in memory that its length does not change. Raises what
    `read` does, but for a text of any length; Unreadable for a line of more than MOST_OF_A_LINE
    characters, where the text is packed or piped.
    """
    if not isinstance(source, Piped) and _unpacker(source) is None:
        with open(source, encoding="utf-8-sig") as plain:
            yield plain
        return
    with _opened(source) as data:
        text = io.TextIOWrapper(data, encoding="utf-8-sig")
        try:
            yield _bounded(text)
        finally:
            text.detach()


def _bounded(text: io.TextIOWrapper) -> Iterator[str]:
    for line in iter(partial(text.readline, MOST_OF_A_LINE), ""):
        if len(line) == MOST_OF_A_LINE and not line.endswith("\n"):
            raise Unreadable(f"a line of {MOST_OF_A_LINE} characters or more")
        yield line


@contextmanager
def _opened(source: Source) -> Iterator[BinaryIO]:
    """Open the bytes of a text that is packed or piped."""
    unpack = _unpacker(source)
    with nullcontext(source.data) if isinstance(source, Piped) else open(source, "rb") as data:
        yield data if unpack is None else cast(BinaryIO, io.BufferedReader(_Joined(unpack(data))))


class _Joined(io.RawIOBase):
    """Pieces of bytes as one file."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts, self._rest = parts, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = memoryview(part)
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


# Packed files


def _gzip(packed: BinaryIO) -> Iterator[bytes]:
    return _unpacked(packed, "gzip", lambda: zlib.decompressobj(wbits=31), zlib.error)


def _zstd(packed: BinaryIO) -> Iterator[bytes]:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise Unreadable("zstandard is not installed: pip install 'refengine[zst]'") from None
    begin = zstandard.ZstdDecompressor().decompressobj  # refuses windows of more than 128 MiB
    return _unpacked(packed, "zstd", begin, zstandard.ZstdError)


UNPACKERS: dict[str, Callable[[BinaryIO], Iterator[bytes]]] = {".gz": _gzip, ".zst": _zstd}


def _name(source: Source) -> str:
    return source.name if isinstance(source, Piped) else os.path.basename(source)


def _unpacker(source: Source) -> Callable[[BinaryIO], Iterator[bytes]] | None:
    return UNPACKERS.get(os.path.splitext(_name(source))[1].lower())


def _unpacked(
    packed: BinaryIO, kind: str, begin: Callable[[], Any], damage: type[Exception]
) -> Iterator[bytes]:
    """Yield what a file of packed parts, one or several, unpacks to."""
    part, is_whole = begin(), False
    while piece := packed.read(PIECE):
        while piece:
            try:
                yield part.decompress(piece)
            except damage:
                raise Unreadable(f"damaged, or not {kind}") from None
            piece, is_whole = part.unused_data if part.eof else b"", part.eof
            part = begin() if is_whole else part
    if not is_whole:
        raise Unreadable(f"cut off: the {kind} data ends before its end")
