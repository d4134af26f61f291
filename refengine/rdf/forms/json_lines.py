"""Lines of JSON (IO-1): each is a quad with its time."""

from __future__ import annotations

import json
from collections.abc import Iterator

from refengine.model.elements import Stream, Term
from refengine.model.errors import InvalidStream
from refengine.model.messages import display, why
from refengine.rdf.forms.quads import (
    REQUIRED_OF_A_ROW,
    TimedQuad,
    build_stream_of_quads,
    check_quad_keys,
    parse_quad,
)
from refengine.rdf.forms.reading import Reading
from refengine.rdf.recordings import parse_json
from refengine.rdf.sources import Source, read_text
from refengine.rdf.terms import Fault
from refengine.rdf.times import Zones


def read_json_lines(source: Source, reading: Reading) -> Stream:
    """IO-1: Return the stream of a file with an object of JSON on each line, which has a quad's
    keys. Raises InvalidStream.
    """
    return build_stream_of_quads(reading, _read_quads(source, reading.zones), "key")


def _read_quads(source: Source, zones: Zones) -> Iterator[TimedQuad]:
    labels: dict[str, Term] = {}
    for number, line in enumerate(read_text(source, InvalidStream, "IO-1").split("\n"), 1):
        if not line.strip():
            continue
        place = f"{source}:{number}"
        try:
            yield _parse_line(line, labels, place, zones)
        except Fault as fault:
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None


def _parse_line(line: str, labels: dict[str, Term], place: str, zones: Zones) -> TimedQuad:
    try:
        entry = parse_json(line)
    except json.JSONDecodeError as error:
        raise Fault(f"not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise Fault(f"not JSON: {why(error)}") from None
    if not isinstance(entry, dict):
        raise Fault(f"a line must be an object, got {display(entry)}")
    check_quad_keys(entry, "key", REQUIRED_OF_A_ROW)
    return parse_quad(entry, labels, place, zones)
