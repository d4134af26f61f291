"""§7 A body that follows the contents of a query's windows, from each evaluation to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from refengine.core import r2r
from refengine.core.query import Body, Query
from refengine.core.window import Content, WindowView
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.partitions import PartitionContent, PartitionDelta
from refengine.model.elements import Dataset, Row, Term, Triple
from refengine.sparql.datasets import DEFAULT_GRAPH, name_of_window, triples_by_graph


class ContentFollower:
    """A maintained body, and what the windows hold now: `change` takes every row that comes to the
    answer or goes from it.

    To move on, `retract_outside` the next contents, then `insert_new` of them; or `grow_to` a
    content, which is quicker. Raises NotCovered for a body that is not covered; the methods raise
    it for values that are not.
    """

    def __init__(
        self,
        query: Query,
        views: Sequence[WindowView],
        static: Dataset,
        change: Callable[[Row, int], None],
        is_set: bool = False,
    ) -> None:
        # where triples of several sources meet, a blank node is one of its source (R2R-8); each
        # window has a name for its stream, "" where there is one source alone
        sources = list(dict.fromkeys(view.spec.stream for view in views))
        has_several_sources = len(sources) + bool(static) > 1
        self.scopes = [""] * len(views)
        statements = static
        if has_several_sources:
            self.scopes = [str(sources.index(view.spec.stream)) for view in views]
            statements = r2r.scope_blank_nodes(static, "static")

        static_graphs = triples_by_graph(statements)
        window_graphs = [graph_of_window(view, query.body) for view in views]
        names = {*window_graphs, *static_graphs} - {DEFAULT_GRAPH}
        self.body = MaintainedBody(query.body, change, is_set, names=sorted(names))
        self.elements = [view.elements for view in views]
        self.graphs = [self.body.graphs[name] for name in window_graphs]

        for name, triples in sorted(static_graphs.items()):
            for triple in sorted(triples):
                self.body.graphs[name].insert(triple)
        self.body.flush()
        self.contents: list[Content] = [range(0)] * len(views)
        self.partition_delta = PartitionDelta()
        self.partition_entering: list[int] = []

    def grow_to(self, content: Content) -> bool:
        """Move the first window to a content that is what it holds and later elements, and return
        True. For any other content do nothing, and return False.
        """
        before = self.contents[0]
        if type(content) is not range or type(before) is not range:
            return False
        if content.start != before.start or content.stop < before.stop:
            return False
        self._move(0, range(before.stop, content.stop), self.graphs[0].insert)
        self.contents[0] = content
        self.body.flush()
        return True

    def retract_outside(self, contents: Iterable[Content]) -> None:
        """Retract the elements that are not in the next contents, one content a window."""
        for i, content in enumerate(contents):
            leaving = self._leaving(i, content)
            if leaving:
                self._move(i, leaving, self.graphs[i].retract)

    def insert_new(self, contents: Iterable[Content]) -> None:
        """Insert the elements of the next contents that are not there yet, one content a window.
        These are the contents from now on.
        """
        for i, content in enumerate(contents):
            entering: Sequence[int] = self.partition_entering
            if not isinstance(content, PartitionContent):
                entering = without(content, self.contents[i])
            if entering:
                self._move(i, entering, self.graphs[i].insert)
            self.contents[i] = content
        self.body.flush()

    def _leaving(self, i: int, content: Content) -> Sequence[int]:
        """Return the elements that leave window i. Of a partition, keep those that enter, which
        are found with them.
        """
        before = self.contents[i]
        if not isinstance(content, PartitionContent):
            return without(before, content)
        if isinstance(before, PartitionContent):
            leaving, self.partition_entering = self.partition_delta.move_to(content)
            return leaving
        # the first content of a partition: all that was there leaves
        self.partition_delta = PartitionDelta()
        _, self.partition_entering = self.partition_delta.move_to(content)
        return before

    def _move(self, i: int, indices: Iterable[int], take: Callable[[Triple], None]) -> None:
        """Hand the triples of some elements of window i to an insert or a retract, in an order that
        does not depend on the hash of terms.
        """
        elements = self.elements[i]
        scope = self.scopes[i]
        for index in indices:
            graph = elements[index].graph
            if scope:
                graph = r2r.scope_blank_nodes(graph, scope)
            for triple in graph if len(graph) == 1 else sorted(graph):
                take(triple)


def graph_of_window(view: WindowView, body: Body) -> Term:
    """R2R-8: Return the graph that a window's content is in: of its name, if it has one."""
    name = view.spec.name
    return DEFAULT_GRAPH if name is None else name_of_window(name, body.reads_windows)


def without(a: Content, b: Content) -> Sequence[int]:
    """Return the indices of content `a` that are not in content `b`, ascending."""
    if not isinstance(a, range) or not isinstance(b, range):
        return sorted({*a} - {*b})
    if not b:
        return a
    if a.start >= b.start:
        if b.stop <= a.start:
            return a
        return range(b.stop, a.stop)
    if a.stop <= b.stop:
        if a.stop <= b.start:
            return a
        return range(a.start, b.start)
    return [*range(a.start, b.start), *range(b.stop, a.stop)]
