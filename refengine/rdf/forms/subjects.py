"""Dated subjects (IO-3): in a document without named graphs each subject that has a date is an
element, and of a page of a feed each member.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from refengine.model.elements import Stream, Term, Triple
from refengine.model.errors import require
from refengine.rdf.forms.dating import Dates
from refengine.rdf.forms.feeds import Feed, date_by_feed
from refengine.rdf.forms.items import ReadElement, build_stream
from refengine.rdf.forms.reading import Reading
from refengine.rdf.statements import Statement
from refengine.rdf.terms import Fault

MOST_TRIPLES = 10**7  # of all elements together: what many of them lead to is in each of them
# states of a result what hasResult states of an observation
IS_RESULT_OF = "<http://www.w3.org/ns/sosa/isResultOf>"


def build_stream_of_subjects(reading: Reading, statements: Iterable[Statement]) -> Stream:
    """IO-3: Return the stream of the subjects that have a date, or of a feed's members, in the
    order of their first appearance. An element has the subject's triples, and those of the nodes
    that are no elements and that they lead to. A triple that no element has describes the feed, or
    is set aside. Raises InvalidStream.
    """
    document = _Subjects(reading)
    for statement in statements:
        document.add(require(statement.triple), statement.line)
    return build_stream(document.elements())


@dataclass
class _Subjects:
    """The triples of a document by their subjects, in the order of their first appearance, each
    with its line.
    """

    reading: Reading
    triples: dict[Term, dict[Triple, int]] = field(default_factory=dict)
    results: dict[Term, list[Term]] = field(default_factory=dict)  # of an observation
    feed: Feed = field(default_factory=Feed)

    def add(self, triple: Triple, line: int) -> None:
        """Add a triple."""
        subject, predicate, value = triple
        self.triples.setdefault(subject, {}).setdefault(triple, line)
        if predicate == IS_RESULT_OF:
            self.results.setdefault(value, []).append(subject)
        self.feed.add(triple)

    def elements(self) -> Iterator[ReadElement]:
        """Yield the elements in their order, and set aside what is in none of them. Raises
        InvalidStream.
        """
        dates = self._dates()
        begin = [node for node in self.triples if dates.is_dated(node)]
        if self.feed.members:
            begin = [node for node in begin if node in self.feed.members]
        begin = [node for node in begin if not self.feed.describes(node)]
        are_elements = set(begin)
        used: set[Term] = set()
        count = 0
        for subject in begin:
            nodes = self._nodes_of_element(subject, are_elements)
            used |= nodes
            triples = frozenset(triple for node in nodes for triple in self.triples[node])
            count += len(triples)
            place = self._place(subject)
            if count > MOST_TRIPLES:
                self.reading.refuse(
                    f"more than {MOST_TRIPLES} triples in all elements together", place
                )
            try:
                app, batch, end = dates.times(subject)
            except Fault as fault:
                self.reading.refuse(str(fault), place)
            yield ReadElement(triples, app, place, batch, end)
        self._set_aside(used, dates)

    def _dates(self) -> Dates:
        """Return what the triples say of time, by the predicate of the feed if it names one. Raises
        InvalidStream for a second date.
        """
        if self.feed.nodes:
            date_by_feed(self.reading, self.feed, self._place(next(iter(self.feed.nodes))))
        dates = Dates(self.reading.dating, self.reading.zones)
        for subject, triples in self.triples.items():
            for triple, line in triples.items():
                dates.add_instant(*triple)
                try:
                    dates.add(*triple)
                except Fault as fault:
                    place = f"{self.reading.source}:{line}: subject {subject}"
                    self.reading.refuse(str(fault), place)
        return dates

    def _nodes_of_element(self, subject: Term, are_elements: set[Term]) -> set[Term]:
        """Return a subject, and the subjects that its triples lead to, but for other elements,
        feeds and pages.
        """
        found = {subject}
        to_visit = [subject]
        while to_visit:
            node = to_visit.pop()
            objects = [value for _, _, value in self.triples[node]]
            for other in objects + self.results.get(node, []):
                if other not in self.triples or other in found or other in are_elements:
                    continue
                if not self.feed.describes(other):
                    found.add(other)
                    to_visit.append(other)
        return found

    def _set_aside(self, used: set[Term], dates: Dates) -> None:
        """Set aside the triples of subjects that are in no element and do not describe the feed."""
        self.reading.absent_members = self.feed.absent_members(self.triples)
        description = self.feed.description(self.triples, used)
        for subject, triples in self.triples.items():
            if subject in description:
                self.reading.describe(triples)
            elif subject not in used:
                self.reading.set_aside(
                    triples, self._why_in_no_element(subject, dates), self._place(subject)
                )

    def _why_in_no_element(self, subject: Term, dates: Dates) -> str:
        if dates.is_dated(subject):
            return "no tree:member names it, and no member leads to it"
        why = self.reading.dating.why_undated(self.triples[subject])
        what = "a subject with a date"
        if self.feed.members:
            what = "a member with a date"
        return f"no date, nor does {what} lead to it: {why}"

    def _place(self, subject: Term) -> str:
        line = next(iter(self.triples[subject].values()))
        return f"{self.reading.source}:{line}: subject {subject}"
