"""Makes recordings over the fixture's stream, in CSRBench's layout, of engines that do not exist.

They are named after CSRBench's engines, and report as those do by Table 1 of its paper. Each has
one defect:

- `csparql`: where windows overlap, a window lacks the observations at its first instant.
- `cqels`: nothing expires.
- `sparqlstream`: the mean of no observations is the text "null".

Nothing of the project's engine is used here, so that its judge is held to something else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

XSD = "http://www.w3.org/2001/XMLSchema#"
SENSORS = "http://knoesis.wright.edu/ssw/"
NAMED_SENSOR = f"{SENSORS}System_C1190"  # Q7 names it


class Observation(NamedTuple):
    """An observation: its instant, its IRI, that of its sensor, whether it is of a temperature
    (else of a humidity), and its value.
    """

    instant: int
    iri: str
    sensor: str
    is_temperature: bool
    value: int


class Term(NamedTuple):
    """A term of an answer: an IRI, or a literal with a datatype or none."""

    value: str
    type: str = "uri"
    datatype: str = ""


class Query(NamedTuple):
    """A query of CSRBench: its window's size and slide in instants, its variables, and what rows it
    answers over some observations, a term for each variable.
    """

    size: int
    slide: int
    variables: tuple[str, ...]
    answer: Callable[[Sequence[Observation]], list[tuple[Term, ...]]]


def number(value: int) -> Term:
    """Return a value as an answer has it."""
    return Term(str(value), "literal", f"{XSD}double")


def temperatures(content: Sequence[Observation], above: int = -1) -> list[Observation]:
    """Return the temperatures above a value."""
    return [one for one in content if one.is_temperature and one.value > above]


def hot(content: Sequence[Observation]) -> list[tuple[Term, ...]]:
    """Answer Q1, Q2 and Q5: the temperatures above 80."""
    return [(Term(one.sensor), Term(one.iri)) for one in temperatures(content, 80)]


def dry(content: Sequence[Observation]) -> list[tuple[Term, ...]]:
    """Answer Q3: the humidities above 24 and below 49."""
    return [
        (Term(one.sensor), Term(one.iri), number(one.value))
        for one in content
        if not one.is_temperature and 24 < one.value < 49
    ]


def mean(content: Sequence[Observation]) -> list[tuple[Term, ...]]:
    """Answer Q4: the mean of the temperatures above 80, and 0 if there are none."""
    values = [one.value for one in temperatures(content, 80)]
    if not values:
        return [(Term("0", "literal", f"{XSD}integer"),)]
    return [(Term(repr(sum(values) / len(values)), "literal", f"{XSD}double"),)]


def mean_or_null(content: Sequence[Observation]) -> list[tuple[Term, ...]]:
    """Answer Q4 with the defect of `sparqlstream`."""
    if temperatures(content, 80):
        return mean(content)
    return [(Term("null", "literal"),)]


def warmer(content: Sequence[Observation]) -> list[tuple[Term, ...]]:
    """Answer Q6: two temperatures of one sensor, the first one the warmer, the other above 75."""
    return [
        (Term(one.sensor), Term(one.iri), number(one.value), Term(other.iri))
        for one in temperatures(content)
        for other in temperatures(content, 75)
        if one.sensor == other.sensor and one.value > other.value
    ]


def warmer_than_the_named(content: Sequence[Observation]) -> list[tuple[Term, ...]]:
    """Answer Q7: a temperature, once for each lower one of the named sensor."""
    return [
        (Term(one.sensor), Term(one.iri))
        for one in temperatures(content)
        for other in temperatures(content)
        if other.sensor == NAMED_SENSOR and one.value > other.value
    ]


QUERIES = {
    "1": Query(10, 10, ("sensor", "obs"), hot),
    "2": Query(1, 1, ("sensor", "obs"), hot),
    "3": Query(4, 4, ("sensor", "obs", "value"), dry),
    "4": Query(4, 4, ("avg",), mean),
    "5": Query(5, 1, ("sensor", "obs"), hot),
    "6": Query(5, 5, ("sensor", "ob1", "value1", "obs"), warmer),
    "7": Query(5, 5, ("sensor", "ob1"), warmer_than_the_named),
}


class Report(NamedTuple):
    """The instant of an output, in ms, and its rows."""

    instant: int
    rows: Sequence[tuple[Term, ...]]


def windows(query: Query, stream: Sequence[Observation]) -> Iterator[tuple[int, list[Observation]]]:
    """Yield where each window with content opens, and the content. The first one opens at 0."""
    for opens in range(0, stream[-1].instant + 1, query.slide):
        content = [one for one in stream if opens <= one.instant < opens + query.size]
        if content:
            yield opens, content


def of_csparql(query: Query, stream: Sequence[Observation]) -> Iterator[Report]:
    """Yield the answer of each window as it closes, empty ones as well."""
    for opens, content in windows(query, stream):
        if query.slide < query.size:
            content = [one for one in content if one.instant > opens]
        yield Report(1000 * (opens + query.size), query.answer(content))


def of_sparqlstream(query: Query, stream: Sequence[Observation]) -> Iterator[Report]:
    """Yield the answer of each window as it closes, without empty ones."""
    if query.answer is mean:
        query = query._replace(answer=mean_or_null)
    for opens, content in windows(query, stream):
        if rows := query.answer(content):
            yield Report(1000 * (opens + query.size), rows)


def of_cqels(query: Query, stream: Sequence[Observation]) -> Iterator[Report]:
    """Yield, whenever the content changes, the rows that were not in the answer before."""
    before: Counter[tuple[Term, ...]] = Counter()
    for count in range(len(stream) + 1):
        answer = Counter(query.answer(stream[:count]))
        new = list((answer - before).elements())
        if new:
            yield Report(1000 * stream[max(count - 1, 0)].instant + count, new)
        before = answer


ENGINES = {"csparql": of_csparql, "cqels": of_cqels, "sparqlstream": of_sparqlstream}


def term_to_json(term: Term) -> dict[str, str]:
    """Return a term as the JSON of SPARQL's results has it."""
    return {name: value for name, value in term._asdict().items() if value}


def report_to_json(query: Query, report: Report) -> dict[str, object]:
    """Return a report as a relation of CSRBench's JSON."""
    bindings = [
        {
            "timestamp": report.instant,
            "binding": dict(zip(query.variables, map(term_to_json, row), strict=True)),
        }
        for row in report.rows
    ]
    return {
        "head": {"vars": query.variables},
        "timestamp": report.instant,
        "results": {"bindings": bindings},
    }


def recording(query: Query, reports: Iterator[Report]) -> bytes:
    """Return the text of a recording, with a line for each report."""
    lines = ",\n".join(json.dumps(report_to_json(query, report)) for report in reports)
    return f'{{"relations": [\n{lines}\n]}}\n'.encode("ascii")


def recordings(stream: Sequence[Observation]) -> dict[str, bytes]:
    """Return the recordings of all engines and queries, by their paths."""
    return {
        f"answers/{engine}-answer-{name}.json": recording(query, reports_of(query, stream))
        for engine, reports_of in ENGINES.items()
        for name, query in QUERIES.items()
    }
