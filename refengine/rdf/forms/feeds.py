"""Feeds (IO-3): a page of a Linked Data Event Stream names its members, and describes itself and
its feed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from refengine.model.elements import Term, Triple
from refengine.model.messages import display
from refengine.rdf.forms.reading import Reading
from refengine.rdf.terms import Fault

LDES = "https://w3id.org/ldes#"
TREE = "https://w3id.org/tree#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
MEMBER = f"<{TREE}member>"
TIMESTAMP_PATH = f"<{LDES}timestampPath>"
# what has one of these is a feed or a page of one
OF_FEEDS = frozenset({MEMBER, TIMESTAMP_PATH, f"<{TREE}view>", f"<{TREE}relation>"})
TYPES_OF_FEEDS = frozenset({f"<{LDES}EventStream>", f"<{TREE}Collection>", f"<{TREE}Node>"})


@dataclass
class Feed:
    """What triples say of feeds and their pages: the nodes that these are, the members, and the
    predicates that state the members' times.
    """

    nodes: dict[Term, None] = field(default_factory=dict)
    members: dict[Term, None] = field(default_factory=dict)
    timestamp_paths: dict[Term, None] = field(default_factory=dict)

    def add(self, triple: Triple) -> None:
        """Add what a triple says."""
        subject, predicate, value = triple
        if predicate in OF_FEEDS or (predicate == TYPE and value in TYPES_OF_FEEDS):
            self.nodes[subject] = None
        if predicate == MEMBER:
            self.members[value] = None
        if predicate == TIMESTAMP_PATH:
            self.timestamp_paths[value] = None

    def describes(self, node: Term) -> bool:
        """Return whether a node is a feed or a page, and so no element: a member is one."""
        return node in self.nodes and node not in self.members

    def absent_members(self, nodes: Collection[Term]) -> list[Term]:
        """Return the members that are not among the nodes of the file."""
        return [member for member in self.members if member not in nodes]

    def time_predicate(self) -> str | None:
        """Return the predicate that states the members' times; None if none is named. Raises Fault
        for several, and for a path that is no predicate.
        """
        if not self.timestamp_paths:
            return None
        first, *others = self.timestamp_paths
        if others or not first.startswith("<"):
            what = "a path that is no predicate"
            if others:
                what = f"{display(first)} and {display(others[0])}"
            raise Fault(f"ldes:timestampPath is {what}; --time-predicate names one predicate")
        return first[1:-1]

    def description(
        self, triples: Mapping[Term, Iterable[Triple]], elements: Collection[Term]
    ) -> set[Term]:
        """Return the feeds, their pages, and the nodes that these lead to without a member or
        another node of an element between.
        """
        stop = {*self.members, *elements}
        return nodes_from([node for node in self.nodes if node in triples], triples, stop)


def date_by_feed(reading: Reading, feed: Feed, place: str) -> None:
    """Take the predicate that a feed names as the one that states times, unless the user chose one.
    Raises InvalidStream, with the place.
    """
    if reading.options.time_predicate is not None:
        return
    try:
        predicate = feed.time_predicate()
    except Fault as fault:
        reading.refuse(str(fault), place)
    if predicate is not None:
        reading.date_by(predicate)


def nodes_from(
    begin: Iterable[Term], triples: Mapping[Term, Iterable[Triple]], stop: Collection[Term]
) -> set[Term]:
    """Return some nodes and the subjects that they lead to, but for those to `stop` at."""
    to_visit = [node for node in begin if node not in stop]
    found = set(to_visit)
    while to_visit:
        for _, _, node in triples[to_visit.pop()]:
            if node in triples and node not in found and node not in stop:
                found.add(node)
                to_visit.append(node)
    return found
