"""Dated subjects (IO-1): in a document without named graphs each subject that has a date is an
element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from refengine.model.elements import Stream, Term, Triple
from refengine.model.errors import InvalidStream, require
from refengine.rdf.forms.dating import DatePredicates, Dates
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.sources import Source
from refengine.rdf.statements import Statement
from refengine.rdf.terms import Fault

MOST_TRIPLES = 10**7  # of all elements together: what many of them lead to is in each of them


def build_stream_of_subjects(
    source: Source, statements: Iterable[Statement], dating: DatePredicates
) -> Stream:
    """IO-3: Return the stream of the subjects that have a date, in the order of their first
    appearance. An element has the subject's triples, and those of the nodes without a date that
    they lead to. Raises InvalidStream, also for a triple that no element has.
    """
    document = _Subjects(source, Dates(dating))
    for statement in statements:
        document.add(require(statement.triple), statement.line)
    return build_stream(document.elements())


@dataclass
class _Subjects:
    """The triples of a document by their subjects, in the order of their first appearance."""

    source: Source
    dates: Dates
    triples: dict[Term, set[Triple]] = field(default_factory=dict)
    lines: dict[Term, int] = field(default_factory=dict)

    def add(self, triple: Triple, line: int) -> None:
        """Add a triple. Raises InvalidStream for a second date."""
        subject = triple[0]
        self.lines.setdefault(subject, line)
        try:
            self.dates.add(*triple)
        except Fault as fault:
            place = f"{self.source}:{line}: subject {subject}"
            raise InvalidStream(str(fault), rule="IO-1", place=place) from None
        self.triples.setdefault(subject, set()).add(triple)

    def elements(self) -> Iterator[ReadElement]:
        """Yield the elements in their order. Raises InvalidStream."""
        used: set[Term] = set()
        count = 0
        for subject in filter(self.dates.is_dated, self.triples):
            nodes = self._nodes_from(subject)
            used |= nodes
            triples = frozenset().union(*(self.triples[node] for node in nodes))
            count += len(triples)
            place = self._place(subject)
            if count > MOST_TRIPLES:
                reason = f"more than {MOST_TRIPLES} triples in all elements together"
                raise InvalidStream(reason, rule="IO-1", place=place)
            try:
                app, batch, end = self.dates.times(subject)
            except Fault as fault:
                raise InvalidStream(str(fault), rule="IO-1", place=place) from None
            yield ReadElement(triples, app, place, batch, end)

        for subject in self.triples:
            if subject not in used:
                reason = f"no date, nor does a subject with a date lead to it: {self._no_date}"
                raise InvalidStream(reason, rule="IO-1", place=self._place(subject))

    @property
    def _no_date(self) -> str:
        return self.dates.dating.no_date

    def _place(self, subject: Term) -> str:
        return f"{self.source}:{self.lines[subject]}: subject {subject}"

    def _nodes_from(self, subject: Term) -> set[Term]:
        """Return a subject and the subjects without a date that its triples lead to."""
        found = {subject}
        to_visit = [subject]
        while to_visit:
            for _, _, node in self.triples[to_visit.pop()]:
                if node in self.triples and node not in found and not self.dates.is_dated(node):
                    found.add(node)
                    to_visit.append(node)
        return found
