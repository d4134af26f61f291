"""Times as texts write them and as triples state them (IO-1): the one place where a text becomes
milliseconds, the predicates of time, and what they say of a node.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from refengine.model.elements import XSD, Term, Triple, parse_literal
from refengine.model.errors import require
from refengine.model.messages import display, integer
from refengine.model.xsd import INTEGERS, date_time
from refengine.rdf.terms import Fault, make_iri, placed_at

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


PROV_GENERATED_AT_TIME = "http://www.w3.org/ns/prov#generatedAtTime"
PROV_INVALIDATED_AT_TIME = "http://www.w3.org/ns/prov#invalidatedAtTime"
OWL_TIME = "http://www.w3.org/2006/time#"
# what states the date of an instant that is a node
INSTANT_PREDICATES = (f"<{OWL_TIME}inXSDDateTimeStamp>", f"<{OWL_TIME}inXSDDateTime>")

DATE_TIME_ENDS = tuple(f'"^^<{datatype}>' for datatype in DATE_TIMES)

Times = tuple[int, int | None, int | None]  # t_app (ms), batch id, end (ms)


@dataclass(frozen=True)
class DatePredicates:
    """The predicates that state an element's time and its batch id (None: there is none). Raises
    InvalidStream for one that is no absolute IRI.
    """

    time_predicate: str = PROV_GENERATED_AT_TIME
    batch_predicate: str | None = None

    def __post_init__(self) -> None:
        with placed_at("time predicate"):
            make_iri(self.time_predicate)
        if self.batch_predicate is not None:
            with placed_at("batch predicate"):
                make_iri(self.batch_predicate)

    def why_undated(self, triples: Iterable[Triple]) -> str:
        """Return what to do about a missing date, for an error, with the first predicate of the
        triples whose value is an xsd:dateTime, in the order of its text.
        """
        reason = f"<{self.time_predicate}> states none; --time-predicate names another predicate"
        dates = [predicate for _, predicate, value in triples if value.endswith(DATE_TIME_ENDS)]
        if not dates:
            return reason
        return f"{reason}, such as {min(dates)}"


@dataclass
class Dates:
    """What triples say of the times of nodes: of each predicate of time, its value for each node
    that has one. `instants` has the values of OWL-Time for nodes that are instants.
    """

    dating: DatePredicates
    zones: Zones
    values: dict[str, dict[Term, Term]] = field(init=False)
    instants: dict[Term, dict[Term, list[Term]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = {self.dating.time_predicate: {}, PROV_INVALIDATED_AT_TIME: {}}
        if self.dating.batch_predicate:
            self.values[self.dating.batch_predicate] = {}

    def states_time(self, predicate: Term) -> bool:
        """Return whether a predicate is one of time."""
        return predicate[1:-1] in self.values

    def add(self, node: Term, predicate: Term, value: Term) -> bool:
        """Add a value of a node, and return whether the predicate is one of time. Raises Fault for
        a second value.
        """
        values = self.values.get(predicate[1:-1])
        if values is None:
            return False

        before = values.setdefault(node, value)
        if before != value:
            what = f"values of {predicate}"
            if predicate[1:-1] == self.dating.time_predicate:
                what = "dates"
            raise Fault(f"two {what}: {before} and {value}")
        return True

    def add_instant(self, node: Term, predicate: Term, value: Term) -> None:
        """Add what a triple of OWL-Time says of an instant; other triples say nothing of one."""
        if predicate in INSTANT_PREDICATES:
            values = self.instants.setdefault(predicate, {}).setdefault(node, [])
            if value not in values:
                values.append(value)

    def is_dated(self, node: Term) -> bool:
        """Return whether a node has a date."""
        return node in self.values[self.dating.time_predicate]

    def times(self, node: Term) -> Times:
        """Return the date of a node that has one (ms), its batch id and its end (ms). Raises Fault
        for a value that is none.
        """
        batch = self._number(node, self.dating.batch_predicate)
        end = self._number(node, PROV_INVALIDATED_AT_TIME)
        return require(self._number(node, self.dating.time_predicate)), batch, end

    def _number(self, node: Term, predicate: str | None) -> int | None:
        values = self.values.get(predicate or "", {})
        if node not in values:
            return None
        return parse_date(self._literal_of(values[node]), self.zones)

    def _literal_of(self, value: Term) -> Term:
        """Return the date of an instant that is a node; another value as it is. Raises Fault for an
        instant with two dates.
        """
        for predicate in INSTANT_PREDICATES:
            dates = self.instants.get(predicate, {}).get(value, [])
            if len(dates) > 1:
                raise Fault(f"two dates of the instant {value}: {dates[0]} and {dates[1]}")
            if dates:
                return dates[0]
        return value
