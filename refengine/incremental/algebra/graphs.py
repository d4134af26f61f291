"""§7 The graphs of the dataset, maintained: a triple comes into one graph, and goes to the triple
patterns over that graph which it matches.
"""

from __future__ import annotations

from refengine.incremental.algebra.nodes import MaintainedNode
from refengine.incremental.algebra.patterns import IndexedPattern, MaintainedBasicPattern
from refengine.model.elements import Term, Triple

# The triple patterns that a triple matches, each with the basic graph pattern that it is of
Matches = tuple[tuple[MaintainedBasicPattern, IndexedPattern], ...]


class MaintainedGraph:
    """One graph: the default graph, or a named one.

    It keeps the triples that match a pattern. A change costs the patterns that have the triple's
    predicate or a variable in its place, and what these emit.
    """

    def __init__(self) -> None:
        # the triples that match anything, and how many more elements have each
        self.present: dict[Triple, Matches] = {}
        self.extra_copies: dict[Triple, int] = {}
        # one tuple of each, to save memory: most triples match alike
        self.known_matches: dict[Matches, Matches] = {}

        # a triple can match the patterns that have its predicate, and those that have a variable
        self.routes: dict[Term | None, list[tuple[MaintainedBasicPattern, IndexedPattern]]] = {}
        self.any_predicate: list[tuple[MaintainedBasicPattern, IndexedPattern]] = []
        self.presences: list[GraphPresence] = []

    def add_patterns(self, basic: MaintainedBasicPattern) -> None:
        """Send the triples of this graph to the patterns of a basic graph pattern, too. When all
        are added, `connect` must be called.
        """
        for pattern in basic.patterns:
            self.routes.setdefault(pattern.predicate, []).append((basic, pattern))

    def add_presence(self) -> GraphPresence:
        """Return a new node that tells whether this graph is in the dataset."""
        self.presences.append(GraphPresence())
        return self.presences[-1]

    def connect(self) -> None:
        """Make the routes complete, now that all patterns are known."""
        self.any_predicate = self.routes.pop(None, [])
        for routes in self.routes.values():
            routes += self.any_predicate

    def insert(self, triple: Triple) -> None:
        """Insert a triple of an element that comes into the content. It changes the answer only if
        no other element has it. Raises NotCovered.
        """
        for presence in self.presences:
            presence.change(1)
        routes = self.routes.get(triple[1], self.any_predicate)
        if not routes:
            return
        if triple in self.present:
            self.extra_copies[triple] = self.extra_copies.get(triple, 0) + 1
            return
        matches: Matches = ()
        for match in routes:
            if match[1].accepts(triple, match[0].solution):
                matches += (match,)
        if matches:
            self.present[triple] = self.known_matches.setdefault(matches, matches)
            is_bound = len(routes) == 1
            for basic, pattern in matches:
                basic.insert(triple, pattern, is_bound)

    def retract(self, triple: Triple) -> None:
        """Retract a triple of an element that goes from the content. It changes the answer only if
        no other element has it. Raises NotCovered.
        """
        for presence in self.presences:
            presence.change(-1)
        if triple not in self.present:
            return
        if triple in self.extra_copies:
            self.extra_copies[triple] -= 1
            if not self.extra_copies[triple]:
                del self.extra_copies[triple]
            return
        for basic, pattern in self.present.pop(triple):
            basic.retract(triple, pattern)

    def forget(self, triple: Triple) -> None:
        """Remove a triple from the indexes and leave the solutions that rest on it: it is joined
        with no triple any more.
        """
        for _, pattern in self.present.pop(triple, ()):
            pattern.remove(triple)


class GraphPresence(MaintainedNode):
    """Whether a named graph is in the dataset: one solution without variables while it has a
    triple, and none while it is empty.

    It keeps how many triples the elements in the graph have, matched by a pattern or not.
    """

    def __init__(self) -> None:
        super().__init__((), ())
        self.count = 0

    def change(self, count: int) -> None:
        """Take the number of triples that come, negative for those that go."""
        was_present = self.count > 0
        self.count += count
        is_present = self.count > 0
        if is_present != was_present:
            self.emit((), 1 if is_present else -1)
