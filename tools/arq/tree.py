"""Queries as trees, and the smaller trees that a difference is shrunk to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Node:
    """A part of a query: text and nodes in order. A node may stand in for any other of its `sort`;
    one that is `droppable` may also be left out.
    """

    sort: str
    parts: tuple[str | Node, ...]
    droppable: bool = False

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


def node(sort: str, *parts: str | Node, droppable: bool = False) -> Node:
    """Return a node from its parts."""
    return Node(sort, parts, droppable)


def joined(sort: str, items: list[Node], between: str) -> Node:
    """Return a node of items with a text between them, of which the first stays and each of the
    others may be dropped with that text.
    """
    first, *others = items
    return Node(sort, (first, *(Node("next", (between, item), droppable=True) for item in others)))


SMALLEST = {"expr": ("1", "true", "?x"), "path": (":p",), "group": ("{}",), "select": ("*",)}


def smaller(tree: Node) -> Iterator[Node]:
    """Yield every tree in which one node is left out, or a node of the same sort inside it, or a
    smallest one, has taken its place; nodes near the root come first.
    """
    for trail in _trails(tree):
        here = _at(tree, trail)
        if here.droppable:
            yield _put(tree, trail, Node(here.sort, ()))
        inside = [_at(here, inner) for inner in _trails(here) if inner]
        for other in inside:
            if other.sort == here.sort and other.parts and str(other) != str(here):
                yield _put(tree, trail, replace(other, droppable=here.droppable))
        for text in SMALLEST.get(here.sort, ()):
            if len(text) < len(str(here)):
                yield _put(tree, trail, Node(here.sort, (text,), here.droppable))


def _trails(tree: Node) -> Iterator[tuple[int, ...]]:
    """Yield the positions of all nodes that have parts, breadth first."""
    layer: list[tuple[tuple[int, ...], Node]] = [((), tree)]
    while layer:
        below = []
        for trail, here in layer:
            if here.parts:
                yield trail
            below += [
                ((*trail, i), part) for i, part in enumerate(here.parts) if isinstance(part, Node)
            ]
        layer = below


def _at(tree: Node, trail: tuple[int, ...]) -> Node:
    for i in trail:
        part = tree.parts[i]
        assert isinstance(part, Node)  # a trail leads to nodes
        tree = part
    return tree


def _put(tree: Node, trail: tuple[int, ...], new: Node) -> Node:
    if not trail:
        return new
    i, *rest = trail
    parts = list(tree.parts)
    part = parts[i]
    assert isinstance(part, Node)  # a trail leads to nodes
    parts[i] = _put(part, tuple(rest), new)
    return replace(tree, parts=tuple(parts))
