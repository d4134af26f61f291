"""All small streams, the smallest first, up to the names of their terms; and the first one on which
two things answer differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from refengine.core.engine import evaluate
from refengine.core.plan import check_meaning
from refengine.core.query import Body, Query
from refengine.core.question import Question
from refengine.core.r2r import defined_answer
from refengine.core.semantics import Semantics
from refengine.model.elements import Dataset, Element, Relation, Stream, Triple
from refengine.model.errors import InvalidSemantics, InvalidStream, RefengineError
from refengine.oracle.inference.outcomes import are_alike
from refengine.sparql.algebra import Basic, walk

P = "<urn:p>"  # the predicate of a pattern that leaves it open
MOST_REPORTS = 1_000  # of one stream

# What is answered to a stream: the relations of the reports; None if it has no answer
Answers = tuple[Relation, ...] | None
Answer = Callable[[Stream], Answers]


@dataclass(frozen=True)
class Bounds:
    """Which streams are looked at: with at most so many `elements`, each at one of the `instants`,
    which ascend. With `batches` the elements have batch ids, in any way that ascends.
    """

    elements: int
    instants: tuple[int, ...]
    has_batches: bool = False

    def __str__(self) -> str:
        listed = ", ".join(map(str, self.instants))
        batches = ", with batch ids" if self.has_batches else ""
        return (
            f"up to {self.elements} elements over {len(self.instants)} instants ({listed}){batches}"
        )


class Difference(NamedTuple):
    """A stream of the smallest number of elements on which two answers differ, and these."""

    stream: Stream
    one: Answers
    other: Answers


def instants_near_borders(windows: Sequence[tuple[int, int]], number: int) -> tuple[int, ...]:
    """Return the first so many instants from 0 on that are near borders: of windows of some sizes
    and slides, whose borders are multiples of the slide, or the size later, one before, at and
    after each.
    """
    found = {0}
    for size, slide in windows:
        for k in range(number):
            for border in (k * slide, k * slide + size):
                found |= {border - 1, border, border + 1}
    return tuple(sorted(instant for instant in found if instant >= 0)[:number])


def vocabulary(bodies: Sequence[Body], names: int, objects: int = 1) -> tuple[Triple, ...]:
    """Return the triples that patterns of bodies can match, with names in place of variables: at
    the subject so many as `names`, at the object so many as `objects`, and as many integers, or the
    names of subjects if the variable stands there, too. A variable predicate is one IRI.
    """
    found: dict[Triple, None] = {}
    for body in bodies:
        patterns = [
            each
            for part in walk(body.algebra.pattern)
            if isinstance(part, Basic)
            for each in part.triples
        ]
        joined = {each.subject for each in patterns}
        for each in patterns:
            subjects = _terms(each.subject, _names("x", names))
            those = _names("x", names)
            if each.object not in joined:
                those = [*_names("y", objects), *_numbers(objects)]
            predicates = _terms(each.predicate, [P])
            objects_of_it = _terms(each.object, those)
            for subject, predicate, value in product(subjects, predicates, objects_of_it):
                found[subject, predicate, value] = None
    return tuple(found)


def _names(letter: str, number: int) -> list[str]:
    return [f"<urn:{letter}{count}>" for count in range(1, number + 1)]


def _numbers(number: int) -> list[str]:
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    return [f'"{count}"^^<{integer}>' for count in range(1, number)]  # one object is a name alone


def _terms(term: object, names: list[str]) -> list[str]:
    """Return what can stand in place of a term of a pattern: itself, or a name for a variable."""
    return [term] if isinstance(term, str) else names


def streams_by_size(bounds: Bounds, triples: Sequence[Triple]) -> Iterator[Stream]:
    """Yield every stream within bounds whose elements have one of some triples each, the ones with
    the fewest elements first. Of streams that differ in the names of terms alone one is yielded.
    """
    for size in range(bounds.elements + 1):
        for contents in product(triples, repeat=size):
            if not _is_first_of_its_names(contents):
                continue
            for apps in combinations_with_replacement(bounds.instants, size):
                for batches in _batches(size, bounds.has_batches):
                    numbered = enumerate(zip(contents, apps, batches, strict=True), 1)
                    yield Stream(
                        tuple(
                            Element(frozenset({triple}), app, sys, batch)
                            for sys, (triple, app, batch) in numbered
                        )
                    )


def _batches(size: int, has_batches: bool) -> Iterator[tuple[int | None, ...]]:
    """Yield the ascending batch ids that so many elements can have."""
    if not has_batches:
        yield (None,) * size
        return
    for steps in product((0, 1), repeat=max(0, size - 1)):
        ids = [1]
        for step in steps:
            ids.append(ids[-1] + step)
        yield tuple(ids[:size])


def _is_first_of_its_names(contents: Sequence[Triple]) -> bool:
    """Return whether each name is met only after all that come before it in the vocabulary."""
    met: dict[str, int] = {}
    for triple in contents:
        for term in triple:
            kind, number = _name_and_number(term)
            if number is None:
                continue
            if number > met.get(kind, 0) + 1:
                return False
            met[kind] = max(met.get(kind, 0), number)
    return True


def _name_and_number(term: str) -> tuple[str, int | None]:
    if found := re.fullmatch(r"<urn:([xy])(\d+)>", term):
        return found[1], int(found[2])
    return "", None


def find_difference(
    one: Answer, other: Answer, bounds: Bounds, triples: Sequence[Triple]
) -> Difference | None:
    """Return the first stream within bounds on which two answers differ, by value, and no stream
    with fewer elements does; None if there is none.
    """
    for stream in streams_by_size(bounds, triples):
        first, second = one(stream), other(stream)
        if not are_alike(first, second):
            return Difference(stream, first, second)
    return None


def answer_of(query: Query, semantics: Semantics, known: dict[object, Relation]) -> Answer:
    """Return what answers a query over any stream under a semantics, by the engine. All windows
    are over that stream. `known` is a table of the body's answers, which several may share. Raises
    InvalidSemantics and InvalidQuery if the two mean nothing together.
    """
    check_meaning(query, semantics)
    names = {window.stream for window in query.windows}

    def ask(body: Body, graph: Dataset) -> Relation:
        key = (body.text, graph)
        if key not in known:
            known[key] = defined_answer(body, graph)
        return known[key]

    def answer(stream: Stream) -> Answers:
        question = Question(query, dict.fromkeys(names, stream))
        try:
            reports = evaluate(
                query, question.streams, semantics, answer=ask, max_reports=MOST_REPORTS
            )
            return tuple(report.relation for report in reports)
        except (InvalidSemantics, InvalidStream):
            return None
        except RefengineError as error:
            raise error.at("a small stream") from None

    return answer
