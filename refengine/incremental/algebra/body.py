"""§7 A body as a tree of maintained nodes: triples are inserted and retracted below, and the rows
of its answer come out above.

The tree follows the body's algebra (`sparql.algebra`): basic graph patterns at the leaves, then
joins, filters and groups, and a projection at the top. The answers are those that
`sparql.evaluation` defines.
"""

from __future__ import annotations

from refengine.core.query import Body
from refengine.incremental.algebra.builder import NodeBuilder
from refengine.incremental.algebra.nodes import Emit
from refengine.incremental.algebra.patterns import IndexedPattern, MaintainedBasicPattern
from refengine.model.elements import Term, Triple

# The triple patterns that a triple matches, each with the basic graph pattern that it is of
Matches = tuple[tuple[MaintainedBasicPattern, IndexedPattern], ...]


class MaintainedBody:
    """A body that follows a content, triple by triple: `emit` takes every row that comes to its
    answer or goes from it.

    Where answers are sets (`is_set`, and under DISTINCT) aggregates must be exact: nearly equal
    ones may be one row or two. With `has_numbers` each triple is followed by the number of the
    element that it comes from, (s, p, o, k), and each solution of a basic graph pattern by those of
    its triples.

    Raises NotCovered for a body that is not covered; its methods raise it for a value that is not.
    """

    def __init__(
        self, body: Body, emit: Emit, is_set: bool = False, has_numbers: bool = False
    ) -> None:
        builder = NodeBuilder(is_set, has_numbers)
        self.answer = builder.answer(body)
        self.is_set = builder.is_set
        self.answer.emit = emit
        self.basic_patterns = builder.basic_patterns
        self.flushed_nodes = builder.flushed_nodes

        # the triples of the content that match anything, and how many more elements have each
        self.present: dict[Triple, Matches] = {}
        self.extra_copies: dict[Triple, int] = {}
        # one tuple of each, to save memory: most triples match alike
        self.known_matches: dict[Matches, Matches] = {}

        # a triple can match the patterns that have its predicate, and those that have a variable
        self.routes: dict[Term | None, list[tuple[MaintainedBasicPattern, IndexedPattern]]] = {}
        for basic in self.basic_patterns:
            for pattern in basic.patterns:
                self.routes.setdefault(pattern.predicate, []).append((basic, pattern))
        self.any_predicate = self.routes.pop(None, [])
        for routes in self.routes.values():
            routes += self.any_predicate

        for begin in reversed(builder.beginnings):  # the answer before what is below it
            begin()

    def insert(self, triple: Triple) -> None:
        """Insert a triple of an element that comes into the content. It changes the answer only if
        no other element has it. Raises NotCovered.
        """
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

    def flush(self) -> None:
        """Emit the groups that have changed, now that the content is complete. Raises
        NotCovered.
        """
        for node in self.flushed_nodes:
            node.flush()
