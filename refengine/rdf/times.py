"""Times as a text writes them (IO-1): the one place where a text becomes milliseconds."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from refengine.model.elements import XSD, Term, parse_literal
from refengine.model.messages import display, integer
from refengine.model.xsd import INTEGERS, date_time
from refengine.rdf.terms import Fault

DATE_TIMES = (XSD + "dateTime", XSD + "dateTimeStamp")
_WITH_SPACE = re.compile(r"(-?[0-9]{4,}-[0-9]{2}-[0-9]{2}) (?=[0-9]{2}:)")


@dataclass
class Zones:
    """How many times of a stream name a zone, how many name none, and the first of those."""

    named: int = 0
    unnamed: int = 0
    first_unnamed: str = ""

    def count(self, lexical: str, is_zoned: bool) -> None:
        """Count a time."""
        if is_zoned:
            self.named += 1
            return
        if not self.unnamed:
            self.first_unnamed = lexical
        self.unnamed += 1

    def note(self) -> str | None:
        """Return what a user should know of a stream in which some times name a zone and others do
        not; None for other streams.
        """
        if not self.named or not self.unnamed:
            return None
        return (
            f"{self.unnamed} of {self.named + self.unnamed} times name no zone and are taken as "
            f"UTC, the first is {display(self.first_unnamed)}; the others name one (IO-1)"
        )


def parse_milliseconds(term: Term, datatypes: Collection[str]) -> int:
    """Return the integer that a literal of one of these datatypes writes. Raises Fault."""
    if term.startswith('"'):
        lexical, datatype, _ = parse_literal(term)
        if datatype in datatypes and (number := integer(lexical.strip(" \t\r\n"))) is not None:
            return number
    raise Fault(f"a time must be an integer (ms), got {display(term)}")


def parse_date(term: Term, zones: Zones | None = None) -> int:
    """Return the date that a literal writes, in ms from the epoch. Raises Fault."""
    if term.startswith('"'):
        lexical, datatype, _ = parse_literal(term)
        if datatype in DATE_TIMES:
            return parse_datetime(lexical, zones)

    try:
        return parse_milliseconds(term, INTEGERS)
    except Fault:
        raise Fault(
            f"a date must be an xsd:dateTime or an integer (ms), got {display(term)}"
        ) from None


def parse_time(value: object, zones: Zones | None = None) -> int:
    """Return the time (ms) that a JSON value or a cell of a table writes: an integer, or an
    xsd:dateTime (from the epoch), which may have a space in place of its T. Raises Fault.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        number = integer(value.strip(" \t"))
        if number is not None:
            return number
        lexical = _WITH_SPACE.sub(r"\1T", value.strip(" \t"), count=1)
        if "T" in lexical:
            return parse_datetime(lexical, zones)
    raise Fault(f"a time must be an integer (ms) or an xsd:dateTime, got {display(value)}")


def parse_datetime(lexical: str, zones: Zones | None = None) -> int:
    """IO-1: Return the milliseconds from 1970-01-01T00:00:00Z to an xsd:dateTime, which is UTC if
    it names no zone. Finer fractions are cut, which keeps the order of times. `zones` counts it.
    Raises Fault.

    >>> parse_datetime("1970-01-01T01:00:00+01:00"), parse_datetime("1970-01-01T00:00:00.0019")
    (0, 1)
    """
    try:
        moment = date_time(lexical.strip())
    except ValueError as error:
        raise Fault(f"{error}: {display(lexical)}") from None
    if zones is not None:
        zones.count(lexical, moment.zoned)
    return moment.seconds * 1000 // 1
