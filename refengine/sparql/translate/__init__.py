"""§7 From a body's syntax tree to SPARQL's algebra (SPARQL 1.1 §18.2), with the checks that its
grammar cannot make.

One class reads a body. It is cut by what it reads, from the bottom up: `terms`, `triples` and
`expressions`, `patterns` made of these, `grouping` around a pattern, and `queries` as a whole.
`trees` walks over lark's trees.

Imports `model`, and of `sparql` the `grammar`, the `algebra`, the names of `datasets` and the
signatures of `functions`.
Begin with `queries.read_body`.
"""

from refengine.sparql.translate.patterns import GRAPH_WITHIN_WINDOW
from refengine.sparql.translate.queries import Reader, read_body

__all__ = ["GRAPH_WITHIN_WINDOW", "Reader", "read_body"]
