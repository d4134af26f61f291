"""How a stream is read (IO-1): what its user chose, and what is found beside its elements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, NoReturn

from refengine.model.elements import (
    TIME_BOUND,
    CanonicalElements,
    Dataset,
    Element,
    Quad,
    Stream,
    Term,
    Triple,
)
from refengine.model.errors import InvalidStream
from refengine.model.messages import display
from refengine.rdf.sources import Folder, Source, refuse_no_source
from refengine.rdf.terms import make_iri, placed_at
from refengine.rdf.times import PROV_GENERATED_AT_TIME, DatePredicates, Zones


class ReadElement(NamedTuple):
    """An element as it is read: what it holds, its times, and the place in the file to name in an
    error.
    """

    payload: Triple | frozenset[Triple]
    app: int
    place: str
    batch: int | None = None
    end: int | None = None


def build_stream(items: Iterable[ReadElement], ordered: bool = True) -> Stream:
    """Return the stream of elements in their order. Raises InvalidStream with the place in the file
    for a time that is not within 64 bits (MOD-1).
    """
    elements = []
    for position, (payload, app, place, batch, end) in enumerate(items, 1):
        _check_64_bits("t_app", app, place)
        if batch is not None:
            _check_64_bits("batch", batch, place)
        if end is not None:
            _check_64_bits("end", end, place)
        graph = payload if isinstance(payload, frozenset) else frozenset((payload,))
        elements.append(Element(graph, app, position, batch, end))
    return Stream(CanonicalElements(elements), ordered)


def _check_64_bits(name: str, value: int, place: str) -> None:
    if not -TIME_BOUND <= value < TIME_BOUND:
        reason = f"{name} must be within 64 bits, got {display(value)}"
        raise InvalidStream(reason, rule="MOD-1", place=place)


CHOICES = (
    "with --undated static of `refengine run` what has no time is static data, with --undated drop "
    "it is left out; in a log of messages (IO-3) each message has its own time"
)


class Undated(StrEnum):
    """What becomes of triples and graphs that have no time: an error, static data, or nothing."""

    REFUSE = "refuse"
    STATIC = "static"
    DROP = "drop"


@dataclass(frozen=True)
class ReadingOptions:
    """What a user chose for the reading of streams.

    `time_predicate` states the times in documents (None: the one that a feed names, or else
    prov:generatedAtTime), and `batch_predicate` the batch ids (None: there are none). `undated`
    says what becomes of what has no time. `columns` is a file that says what the columns of a table
    mean. `base` is what relative IRIs are resolved against in a document that states no base.
    Raises InvalidStream for another choice than these, and for a base that is no absolute IRI.
    """

    time_predicate: str | None = None
    batch_predicate: str | None = None
    undated: Undated = Undated.REFUSE
    columns: Source | None = None
    base: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.undated, str) or self.undated not in list(Undated):
            reason = f"must be refuse, static or drop, got {display(self.undated)}"
            raise InvalidStream(reason, rule="IO-1", place="undated")
        object.__setattr__(self, "undated", Undated(self.undated))
        if self.columns is not None:
            refuse_no_source(self.columns, "IO-1", "columns")
        if self.base != "":
            with placed_at("base of the data"):
                make_iri(self.base)


def refuse_no_options(value: object) -> None:
    """Refuse what are no options, where they are needed. Raises InvalidStream."""
    if not isinstance(value, ReadingOptions):
        reason = f'must be ReadingOptions, got {display(value)}; write ReadingOptions(base="…")'
        raise InvalidStream(reason, rule="IO-1", place="options")


@dataclass(frozen=True)
class ReadStream:
    """A stream as it was read. `static` has the triples and graphs without a time, if they were to
    be static data, and `notes` what a user should know.
    """

    stream: Stream
    static: Dataset = frozenset()
    notes: tuple[str, ...] = ()


@dataclass
class Reading:
    """The reading of one stream: its source, what its user chose, and what was found so far."""

    source: Source | Folder
    options: ReadingOptions = field(default_factory=ReadingOptions)
    zones: Zones = field(default_factory=Zones)
    dating: DatePredicates = field(init=False)
    static: set[Triple | Quad] = field(default_factory=set)
    undated: int = 0  # triples without a time, unless they are refused
    first_undated: str = ""
    descriptions: int = 0  # triples that describe graphs or a feed, unless they are static data
    absent_members: list[Term] = field(default_factory=list)  # that a feed names, without triples

    def __post_init__(self) -> None:
        self.date_by(PROV_GENERATED_AT_TIME)

    def date_by(self, predicate: str) -> None:
        """Take a predicate as the one that states times, unless the user chose one. Raises
        InvalidStream for one that is no absolute IRI.
        """
        chosen = self.options.time_predicate
        self.dating = DatePredicates(
            predicate if chosen is None else chosen, self.options.batch_predicate
        )

    def set_aside(self, found: Iterable[Triple | Quad], reason: str, place: str) -> None:
        """Do with triples that have no time what the user chose. Raises InvalidStream with the
        reason and the place if they are refused.
        """
        if self.options.undated is Undated.REFUSE:
            self.refuse(f"{reason}; {CHOICES}", place)
        statements = list(found)
        if statements and not self.undated:
            self.first_undated = place
        self.undated += len(statements)
        if self.options.undated is Undated.STATIC:
            self.static.update(statements)

    def describe(self, found: Iterable[Triple]) -> None:
        """Take triples that describe graphs or a feed: they are in no element, and no choice of the
        user is needed.
        """
        statements = list(found)
        if self.options.undated is Undated.STATIC:
            self.static.update(statements)
        else:
            self.descriptions += len(statements)

    def refuse(self, reason: str, place: str) -> NoReturn:
        """Raise InvalidStream."""
        raise InvalidStream(reason, rule="IO-1", place=place) from None

    def notes(self) -> Iterator[str]:
        """Yield what the user should know of what was read: at most a note of each kind."""
        if self.options.undated is Undated.STATIC and self.static:
            yield f"{_count(len(self.static))} taken as static data (--undated static)"
        elif self.undated:
            yield (
                f"{_count(self.undated)} without a time left out (--undated drop), the first at "
                f"{self.first_undated}"
            )
        if self.descriptions:
            yield (
                f"{_count(self.descriptions)} about graphs or a feed left out, since no element "
                "has them (IO-1); --undated static makes them static data"
            )
        if self.absent_members:
            count = len(self.absent_members)
            yield (
                f"{count} {'member has' if count == 1 else 'members have'} no triples in the file, "
                f"so there is no element of {'it' if count == 1 else 'them'} (IO-3), the first is "
                f"{display(self.absent_members[0])}"
            )
        note = self.zones.note()
        if note is not None:
            yield note

    def result(self, stream: Stream) -> ReadStream:
        """Return the stream with what was found beside it."""
        notes = tuple(f"{self.source}: {note}" for note in self.notes())
        return ReadStream(stream, frozenset(self.static), notes)


def _count(number: int) -> str:
    if number == 1:
        return "1 triple"
    return f"{number} triples"
