"""Reading the dumps of LinkedObservationData and LinkedSensorMetadata, where a user has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from conformance.bench.srbench.observations import OM_OWL, OWL_TIME
from refengine.model.elements import Dataset, Stream, Term, Triple, stream
from refengine.model.errors import InvalidStream
from refengine.model.messages import display
from refengine.rdf.documents import read_turtle
from refengine.rdf.terms import Fault
from refengine.rdf.times import parse_datetime

OBSERVATIONS = "observations"  # the folder of the stream
SUFFIXES = (".n3", ".ttl", ".nt")
SAMPLING_TIME = f"<{OM_OWL}samplingTime>"
RESULT = f"<{OM_OWL}result>"
GENERATED = f"<{OM_OWL}generatedObservation>"
DATE = f"<{OWL_TIME}inXSDDateTime>"
NO_ZONE = "-NA"  # how some dumps end a date


def read_observations(folder: Path) -> Stream:
    """Return the stream of all files of a folder and of its folders: the triples of observations,
    each an element, in the order of their sampling times; those of one instant stand in the order
    of the files' names, and of a file.

    The triples about an observation's result and about its instant have its time, and so does the
    triple that says which sensor generated it. Times are ms since 1970. Raises InvalidStream, which
    names the file and the subject, for a triple that has no time.
    """
    items: list[tuple[Triple, int]] = []
    for file in _files_of(folder):
        items += _with_sampling_times(read_file(file), file)
    if not items:
        raise InvalidStream(
            f"no observation is in a file that ends in {', '.join(SUFFIXES)}",
            rule="IO-1",
            place=str(folder),
        )
    return stream(sorted(items, key=lambda item: item[1]))


def read_graph(folder: Path) -> Dataset:
    """Return the triples of all files of a folder and of its folders: static data. Raises
    InvalidStream.
    """
    return frozenset(triple for file in _files_of(folder) for triple in read_file(file))


def _files_of(folder: Path) -> list[Path]:
    """Return the files of a folder and of its folders, in the order of their names. Raises
    InvalidStream if there is no such folder.
    """
    if not folder.is_dir():
        raise InvalidStream("no such folder", rule="IO-1", place=str(folder))
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


def read_file(file: Path) -> list[Triple]:
    """Return the triples of a file in N3, as far as it is Turtle, in their order. Its blank nodes
    are its own. Raises InvalidStream.
    """
    statements = read_turtle(file, "Turtle", f"{file.stem}-")
    return [statement.triple for statement in statements if statement.triple is not None]


def _with_sampling_times(triples: Iterable[Triple], file: Path) -> Iterator[tuple[Triple, int]]:
    """Yield the triples of a file with their times. Raises InvalidStream."""
    triples = list(triples)
    times = _times_of_nodes(triples, file)
    for triple in triples:
        subject, predicate, thing = triple
        time = times.get(thing if predicate == GENERATED else subject)
        if time is None:
            raise InvalidStream(
                f"no sampling time leads to {display(subject)}; descriptions of sensors belong in "
                "the folder sensors",
                rule="IO-1",
                place=str(file),
            )
        yield triple, time


def _times_of_nodes(triples: Iterable[Triple], file: Path) -> Mapping[Term, int]:
    """Return the times (ms) of the instants, observations and results of a file."""
    triples = list(triples)
    times = {
        subject: parse_sampling_time(thing, file)
        for subject, predicate, thing in triples
        if predicate == DATE
    }
    for subject, predicate, thing in triples:
        if predicate == SAMPLING_TIME and thing in times:
            times[subject] = times[thing]
    for subject, predicate, thing in triples:
        if predicate == RESULT and subject in times:
            times[thing] = times[subject]
    return times


def parse_sampling_time(term: Term, file: Path) -> int:
    """Return a date in ms since 1970: an xsd:dateTime, or a literal whose text ends in `^^` and the
    type, as in some dumps. A date without a zone, or with the zone `NA`, is in UTC. Raises
    InvalidStream.
    """
    text = term[1:].split('"')[0].split("^^")[0].removesuffix(NO_ZONE)
    try:
        return parse_datetime(text)
    except Fault:
        raise InvalidStream(
            f"a sampling time must be a date such as 2004-08-13T06:00:00Z, got {display(term)}",
            rule="IO-1",
            place=str(file),
        ) from None
