"""What Pythons of 32 bits and those in browsers cannot do: read 2 GiB at once, or go 2,000 brackets
deep into a text of JSON.
"""

from __future__ import annotations

import io
import sys

import pytest

from refengine.core import arrivals
from refengine.model.errors import InvalidStream
from refengine.rdf.documents import read_static
from refengine.rdf.recordings import DEEPEST, read_recording
from refengine.rdf.sources import Piped, Text, read_source
from refengine.rdf.streams import read_stream


class Small(io.BytesIO):
    """A stream of an interpreter whose lengths have 32 bits."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size >= 2**31:
            raise OverflowError("Python int too large to convert to C ssize_t")
        return super().read(size)


def test_a_pipe_is_read_in_pieces() -> None:
    text = b"<urn:a> <urn:p> <urn:b> .\n" * 100_000
    assert read_source(Piped("s.nt", Small(text))) == text


def test_a_range_without_end_has_a_length() -> None:
    assert sys.maxsize == arrivals.ENDLESS == len(range(arrivals.ENDLESS))


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


DOORS = {
    "recording": lambda text: read_recording(Text("r.json", f'{{"relations": {text}}}')),
    "JSON-LD": lambda text: read_static(Text("s.jsonld", f'{{"@id": "urn:a", "urn:p": {text}}}')),
    "lines": lambda text: read_stream(Text("s.ndjson", f'{{"subject": {text}}}\n')),
}


@pytest.mark.parametrize("door", DOORS)
def test_brackets_that_are_too_deep_are_one_error(door: str) -> None:
    with pytest.raises(InvalidStream, match=f"brackets nested more than {DEEPEST} deep"):
        DOORS[door](deep(2_000))


@pytest.mark.parametrize("door", DOORS)
def test_brackets_in_texts_do_not_count(door: str) -> None:
    try:
        DOORS[door](f'"{"[" * 2_000}"')
    except InvalidStream as error:
        assert "nested" not in str(error)
