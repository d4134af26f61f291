"""§7 A body as a tree of maintained nodes: triples are inserted and retracted below, and the rows
of its answer come out above.

The tree follows the body's algebra (`sparql.algebra`): basic graph patterns at the leaves, then
joins, filters and groups, and a projection at the top. The answers are those that
`sparql.evaluation` defines.
"""

from __future__ import annotations

from collections.abc import Iterable

from refengine.core.query import Body, Form
from refengine.incremental.algebra.answers import MaintainedAsk, MaintainedConstruct
from refengine.incremental.algebra.builder import NodeBuilder
from refengine.incremental.algebra.by_definition import check_functions
from refengine.incremental.algebra.forms import check_forms, may_compute
from refengine.incremental.algebra.graphs import MaintainedGraph
from refengine.incremental.algebra.nodes import Emit, MaintainedNode
from refengine.incremental.algebra.operators import MaintainedProjection
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import Term, Triple
from refengine.sparql import algebra
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
        self.answer = answer_node(body, builder)
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
        """Emit what waited until the content is complete. Raises NotCovered."""
        for node in self.flushed_nodes:
            node.flush()


def answer_node(body: Body, builder: NodeBuilder) -> MaintainedNode:
    """Return the node at the top, which emits rows. Raises NotCovered."""
    check_functions(body.algebra)
    if body.makes_blanks:
        raise NotCovered("blank nodes of a template, which are new at every evaluation")
    pattern = body.algebra.pattern
    match body.form:
        case Form.ASK:
            return _ask(pattern, builder)
        case Form.CONSTRUCT:
            child = builder.node(pattern)
            return MaintainedConstruct(child, body.algebra.template, may_compute(pattern))
        case Form.SELECT:
            return _projection(body, builder)


def _ask(pattern: algebra.Pattern, builder: NodeBuilder) -> MaintainedNode:
    if isinstance(pattern, algebra.Slice):  # which solutions are cut off does not matter
        child = builder.node(pattern.pattern)
        ask = MaintainedAsk(child, pattern.offset, is_cut=pattern.limit == 0)
    else:
        ask = MaintainedAsk(builder.node(pattern))
    builder.beginnings.append(ask.emit_first)
    return ask


def _projection(body: Body, builder: NodeBuilder) -> MaintainedNode:
    pattern: algebra.Pattern = body.algebra.pattern
    is_distinct = isinstance(pattern, algebra.Distinct)
    if isinstance(pattern, algebra.Distinct):
        builder.is_set = True
        pattern = pattern.pattern
    if isinstance(pattern, algebra.Project):
        pattern = pattern.pattern
    is_computed = may_compute(pattern)
    child = builder.node(pattern)
    if is_computed and builder.is_set:
        (child,) = check_forms([child], body.variables)
    return MaintainedProjection(child, body.variables, is_distinct, is_computed)
