"""Pieces of files, each of which one task reads: a range of bytes of a file of lines, or a whole
file if it is packed or not a file of lines.

Files are on this machine, or behind a URL that pyarrow opens (`s3://`, `s3a://`, `gs://`,
`hdfs://`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from typing import Any, NamedTuple

from pyarrow import CompressedInputStream, fs

from refengine.model.errors import InvalidStream
from refengine.model.messages import plain

PACKED = {".gz": "gzip", ".zst": "zstd"}
BYTES_OF_PIECE = 2**27  # as Spark's own readers have it
BYTES_TO_OPEN = 2**22  # that could be read while a file is opened, as Spark has it
CHUNK = 2**22  # bytes that are read at once
LONGEST_LINE = 2**24  # bytes
URL = re.compile(r"[a-z][a-z0-9+]*:/")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Piece(NamedTuple):
    """A piece of a file: the path of the file, its number among all files in the order of their
    names, and the bytes [start, stop) in which the lines of the piece begin; `stop` is None for a
    whole file.
    """

    path: str
    number: int
    start: int = 0
    stop: int | None = None


def cut_into_pieces(paths: Sequence[str], size: int, pattern: str, is_cut: bool) -> list[Piece]:
    """Return the pieces of all files at some paths, which are files or folders. Folders are read
    with all that they hold; as in Spark's own readers, a file is left out if a name on its path
    from there begins with _ or a dot, and if its name does not match the pattern.

    A file that is not packed is cut into pieces of about `size` bytes if it has lines (`is_cut`).
    An empty file is one piece. Raises InvalidStream for a path at which nothing is.
    """
    files = [found for path in paths for found in list_files(path, pattern)]
    pieces = []
    for number, (path, length) in enumerate(sorted(files)):
        if not is_cut or os.path.splitext(path)[1] in PACKED:
            pieces.append(Piece(path, number))
            continue
        pieces += [
            Piece(path, number, start, min(start + size, length))
            for start in range(0, max(length, 1), size)
        ]
    return pieces


def group_pieces(pieces: Iterable[Piece], size: int) -> list[list[Piece]]:
    """Return pieces in groups, each of which one task reads: as many as are together `size` bytes
    long, where a piece counts as `BYTES_TO_OPEN` more than it is. A file that is read whole is a
    group of its own.
    """
    groups: list[list[Piece]] = []
    room = 0
    for piece in pieces:
        length = size
        if piece.stop is not None:
            length = piece.stop - piece.start + BYTES_TO_OPEN
        if length > room:
            groups.append([])
            room = max(size, length)
        groups[-1].append(piece)
        room -= length
    return groups


def list_files(path: str, pattern: str = "*") -> Iterator[tuple[str, int]]:
    """Yield the files at a path, each with its length in bytes. Raises InvalidStream if nothing is
    there.
    """
    system, root = open_system(path)
    info = system.get_file_info(root)
    if info.type == fs.FileType.NotFound:
        raise InvalidStream("no such file or folder", rule="IO-1", place=path)
    if info.type == fs.FileType.File:
        yield path, info.size
        return
    base = path.rstrip("/")
    for each in system.get_file_info(fs.FileSelector(root, recursive=True)):
        within = each.path[len(root.rstrip("/")) + 1 :]
        is_hidden = any(name.startswith(("_", ".")) for name in within.split("/"))
        if each.type == fs.FileType.File and not is_hidden and fnmatch(each.base_name, pattern):
            yield f"{base}/{within}", each.size


def open_system(path: str) -> tuple[Any, str]:
    """Return the file system that a path or URL is of, and the path in it."""
    if path.startswith("s3a://"):
        path = "s3" + path.removeprefix("s3a")
    if URL.match(path) and not path.startswith("file:"):
        system, within = fs.FileSystem.from_uri(path)
        return system, within
    return fs.LocalFileSystem(), os.path.abspath(re.sub("^file:/+", "/", path))


def read_whole(piece: Piece) -> bytes:
    """Return the bytes of a whole file, unpacked. Raises InvalidStream."""
    with _open(piece) as file:
        content: bytes = file.read()
    return content


@contextmanager
def _open(piece: Piece) -> Iterator[Any]:
    """Open the file of a piece, unpacked. Raises InvalidStream with the name of the file, also
    within the context, if it cannot be opened, read or unpacked.
    """
    system, path = open_system(piece.path)
    codec = PACKED.get(os.path.splitext(path)[1])
    try:
        with system.open_input_file(path) as file:
            if codec is None:
                yield file
                return
            with CompressedInputStream(file, codec) as unpacked:
                yield unpacked
    except OSError as error:
        reason = f"cannot be read: {error}"
        if codec is not None:
            reason = f"cannot be read as {codec}, which its name says it is: {error}"
        raise InvalidStream(plain(reason), rule="IO-1", place=piece.path) from None


def read_lines(piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that begin in a piece, each with the place of its first byte in the file; in
    what is unpacked if the file is packed. Lines end with LF, CR LF or CR; a piece begins after an
    LF.

    Raises InvalidStream for a file that cannot be read, or is cut off, and for a line that is too
    long.
    """
    with _open(piece) as file:
        place = piece.start
        rest = b""
        if place > 0:
            # the line to which the byte before belongs is of the piece before
            file.seek(place - 1)
            place -= 1
            skipped, rest = _skip_line(file)
            if skipped is None:
                return
            place += skipped
        while piece.stop is None or place < piece.stop:
            chunk = file.read(CHUNK)
            text = rest + chunk
            end = text.rfind(b"\n") + 1
            if not chunk:
                end = len(text)
            if not end and len(text) > LONGEST_LINE:
                reason = f"a line of more than {LONGEST_LINE} bytes"
                raise InvalidStream(reason, rule="IO-1", place=f"{piece.path}: byte {place}")
            yield from _lines_before(piece.stop, text[:end], place)
            place += end
            rest = text[end:]
            if not chunk:
                return


def _skip_line(file: Any) -> tuple[int | None, bytes]:
    """Read up to the next LF; return how many bytes that were, None at the end of the file, and
    what was read beyond.
    """
    skipped = 0
    while chunk := file.read(CHUNK):
        end = chunk.find(b"\n") + 1
        if end:
            return skipped + end, chunk[end:]
        skipped += len(chunk)
    return None, b""


def _lines_before(stop: int | None, text: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a text that begins at a place, but no line from after `stop` on."""
    has_returns = b"\r" in text
    for line in text.split(b"\n"):
        if stop is not None and place >= stop:
            return
        content = line
        if place == 0:
            content = line.removeprefix(BYTE_ORDER_MARK)
        if has_returns and b"\r" in content:
            at = place
            for some in content.split(b"\r"):
                yield at, some
                at += len(some) + 1
        elif content:
            yield place, content
        place += len(line) + 1
