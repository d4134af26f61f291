"""How the translation walks over lark's syntax trees: children by kind, by name, by place."""

from __future__ import annotations

from typing import cast

from lark import Token, Tree


def trees(tree: Tree[Token] | None) -> list[Tree[Token]]:
    """Return the children of a node that are nodes themselves."""
    if tree is None:
        return []
    return [node for node in tree.children if isinstance(node, Tree)]


def child(tree: Tree[Token] | list[Tree[Token]] | None, name: str) -> Tree[Token] | None:
    """Return the first child of a node that has a name, if there is one."""
    nodes = trees(tree) if not isinstance(tree, list) else tree
    return next((node for node in nodes if node.data == name), None)


def leaf(tree: Tree[Token], position: int = 0) -> Token:
    """Return a child that the grammar says is a token."""
    return cast(Token, tree.children[position])


def branch(tree: Tree[Token], position: int) -> Tree[Token]:
    """Return a child that the grammar says is a node."""
    return cast("Tree[Token]", tree.children[position])
