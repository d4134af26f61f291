"""Trees of nodes that are made by hand, compiled between sources that a test feeds and a function
that takes their solutions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from refengine.incremental.algebra.code import Program, Take
from refengine.incremental.algebra.joins import OuterNode
from refengine.incremental.algebra.nodes import Emit, MaintainedNode, add_count
from refengine.incremental.algebra.patterns import MaintainedGraph


class Source(OuterNode):
    """A node below others. When its tree is compiled, `emit` is what takes its solutions."""

    emit: Emit

    def write(self, program: Program, take: Take) -> None:
        """Write the function, and what makes it this node's `emit`."""
        super().write(program, take)
        program.scope.append(f"{program.give('source', self)}.emit = {self.emitter}")


class Tree:
    """A compiled tree: `state` are the variables of its module, and `flushed_nodes` its objects
    that emit when the content is complete. `names` are those of named graphs.
    """

    state: Mapping[str, Any]

    def __init__(self, node: MaintainedNode, change: Emit, *names: str) -> None:
        self.graphs = {name: MaintainedGraph() for name in names}
        program = Program()
        node.write(program, lambda values, count: [f"change({node.solution(values)}, {count})"])
        program.scope.append("body.state = locals()")
        self.flushed_nodes: list[Any] = []
        program.load(program.source())(change, self)

    def count_copy(self) -> None:
        """Count nothing."""

    def add(self, node: Any) -> None:
        """Take an object that emits when the content is complete."""
        self.flushed_nodes.insert(0, node)


def changes_of_tree(node: MaintainedNode) -> list[tuple]:
    """Compile a tree. Return the changes that come out of it, which grow from now on."""
    changes: list[tuple] = []
    Tree(node, lambda solution, count: changes.append((solution, count)))
    return changes


def bag_of_tree(node: MaintainedNode) -> Counter:
    """Compile a tree. Return the bag of what it emits, which grows from now on."""
    emitted: Counter = Counter()
    Tree(node, lambda solution, count: add_count(emitted, solution, count))
    return emitted
