"""SPARQL's algebra, maintained (SPEC.md §7): triples are inserted and retracted, and the rows by
which this changes the answer come out.

Imports `model`, `sparql`, of `core` the query, and `coverage` beside it. Begin with
`body.MaintainedBody`, which runs the code of the whole tree of nodes, and go on from its leaves to
the top:

- `code`: the Python module that a body is compiled to, while nodes write it
- `nodes`: what a node is, how a change goes up, and the operators that are answered from a change
  alone
- `patterns`: graphs and basic graph patterns, which turn triples into solutions
- `joins`: Join, OPTIONAL, MINUS and EXISTS, and how two sides find one another
- `groups`: GROUP BY and the aggregates
- `slices`: LIMIT and OFFSET over ORDER BY, and REDUCED
- `paths`: property paths, as joins, unions and connected pairs
- `expressions`: by the SPARQL evaluator, and the quick forms of some
- `body`: from a body's algebra to its nodes, with EXISTS in expressions

An example: for `SELECT ?x { ?x :p ?y . ?y :q ?z }` the content has (b, :q, c). Inserting (a, :p, b)
emits the row ?x = a with a count of 1. Retracting (b, :q, c) then emits it with a count of -1.
"""
