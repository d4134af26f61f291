"""§7 A body as a tree of maintained nodes: triples are inserted and retracted below, and the rows
of its answer come out above.

The tree follows the body's algebra (`sparql.algebra`): basic graph patterns at the leaves, then
joins, filters and groups, and a projection at the top. The answers are those that
`sparql.evaluation` defines.
"""

from __future__ import annotations

from collections.abc import Iterable

from refengine.core.query import Body
from refengine.incremental.algebra.builder import NodeBuilder
from refengine.incremental.algebra.graphs import MaintainedGraph
from refengine.incremental.algebra.nodes import Emit
from refengine.model.elements import Term, Triple
from refengine.sparql.datasets import DEFAULT_GRAPH


class MaintainedBody:
    """A body that follows a content, triple by triple: `emit` takes every row that comes to its
    answer or goes from it.

    Where answers are sets (`is_set`, and under DISTINCT) aggregates must be exact: nearly equal
    ones may be one row or two. With `has_numbers` each triple is followed by the number of the
    element that it comes from, (s, p, o, k), and each solution of a basic graph pattern by those of
    its triples. `names` are the named graphs that the dataset may have at some time.

    Raises NotCovered for a body that is not covered; its methods raise it for a value that is not.
    """

    def __init__(
        self,
        body: Body,
        emit: Emit,
        is_set: bool = False,
        has_numbers: bool = False,
        names: Iterable[Term] = (),
    ) -> None:
        self.graphs = {name: MaintainedGraph() for name in (DEFAULT_GRAPH, *names)}
        builder = NodeBuilder(self.graphs, is_set, has_numbers)
        self.answer = builder.answer(body)
        self.answer.emit = emit
        self.is_set = builder.is_set
        self.basic_patterns = builder.basic_patterns
        self.flushed_nodes = builder.flushed_nodes

        for graph in self.graphs.values():
            graph.connect()
        for begin in reversed(builder.beginnings):  # the answer before what is below it
            begin()

    def insert(self, triple: Triple, graph: Term = DEFAULT_GRAPH) -> None:
        """Insert a triple of an element into a graph. Raises NotCovered."""
        self.graphs[graph].insert(triple)

    def retract(self, triple: Triple, graph: Term = DEFAULT_GRAPH) -> None:
        """Retract a triple of an element from a graph. Raises NotCovered."""
        self.graphs[graph].retract(triple)

    def flush(self) -> None:
        """Emit the groups that have changed, now that the content is complete. Raises
        NotCovered.
        """
        for node in self.flushed_nodes:
            node.flush()
