"""How triples state the times of elements (IO-1): the predicates, and what they say of a node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from refengine.model.elements import Term, Triple
from refengine.model.errors import InvalidStream, require
from refengine.rdf.terms import Fault, make_iri
from refengine.rdf.times import DATE_TIMES, Zones, parse_date

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
        _check_predicate("time predicate", self.time_predicate)
        if self.batch_predicate is not None:
            _check_predicate("batch predicate", self.batch_predicate)

    @property
    def no_date(self) -> str:
        """What to do about a missing date, for an error."""
        return f"<{self.time_predicate}> states none; --time-predicate names another predicate"

    def why_undated(self, triples: Iterable[Triple]) -> str:
        """Return `no_date`, with a predicate of the triples that could be the other one."""
        return self.no_date + other_dates(triples)


def other_dates(triples: Iterable[Triple]) -> str:
    """Return `, such as <IRI>` for the first predicate of some triples whose value is an
    xsd:dateTime, in the order of its text, for an error; '' if there is none.
    """
    found = sorted(predicate for _, predicate, value in triples if value.endswith(DATE_TIME_ENDS))
    if not found:
        return ""
    return f", such as {found[0]}"


def _check_predicate(name: str, predicate: str) -> None:
    try:
        make_iri(predicate)
    except Fault as fault:
        raise InvalidStream(str(fault), rule="IO-1", place=name) from None


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
