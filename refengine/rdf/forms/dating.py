"""How triples state the times of elements (IO-1): the predicates, and what they say of a node."""

from __future__ import annotations

from dataclasses import dataclass, field

from refengine.model.elements import Term
from refengine.model.errors import InvalidStream, require
from refengine.rdf.terms import Fault, make_iri, parse_date

PROV_GENERATED_AT_TIME = "http://www.w3.org/ns/prov#generatedAtTime"
PROV_INVALIDATED_AT_TIME = "http://www.w3.org/ns/prov#invalidatedAtTime"


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


def _check_predicate(name: str, predicate: str) -> None:
    try:
        make_iri(predicate)
    except Fault as fault:
        raise InvalidStream(str(fault), rule="IO-1", place=name) from None


@dataclass
class Dates:
    """What triples say of the times of nodes: of each predicate of time, its value for each node
    that has one.
    """

    dating: DatePredicates
    values: dict[str, dict[Term, Term]] = field(init=False)

    def __post_init__(self) -> None:
        self.values = {self.dating.time_predicate: {}, PROV_INVALIDATED_AT_TIME: {}}
        if self.dating.batch_predicate:
            self.values[self.dating.batch_predicate] = {}

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

    def is_dated(self, node: Term) -> bool:
        """Return whether a node has a date."""
        return node in self.values[self.dating.time_predicate]

    def times(self, node: Term) -> tuple[int, int | None, int | None]:
        """Return the date of a node that has one (ms), its batch id and its end (ms). Raises Fault
        for a value that is none.
        """
        batch = self._number(node, self.dating.batch_predicate)
        end = self._number(node, PROV_INVALIDATED_AT_TIME)
        return require(self._number(node, self.dating.time_predicate)), batch, end

    def _number(self, node: Term, predicate: str | None) -> int | None:
        values = self.values.get(predicate or "", {})
        if node in values:
            return parse_date(values[node])
        return None
