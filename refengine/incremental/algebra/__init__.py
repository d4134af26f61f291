"""SPARQL's algebra, maintained (SPEC.md §7): triples are inserted and retracted, and the rows by
which this changes the answer come out.

Imports `model`, `sparql`, of `core` the query, and `coverage` beside it. Begin with
`body.MaintainedBody`, the whole tree of nodes, and go on from its leaves to the top:

- `nodes`: what a node is, and how a change goes up
- `patterns`: basic graph patterns, which turn triples into solutions
- `joins`, `operators`, `groups` (with `aggregates`): solutions into solutions
- `slices` (with `ordering`): LIMIT and OFFSET over ORDER BY, and REDUCED
- `paths` (with `reachability`): property paths, as joins, unions and connected pairs
- `expressions`, `numbers`: conditions and arithmetic, as the definition has them
- `counts`: bags whose counts go up and down

An example: for `SELECT ?x { ?x :p ?y . ?y :q ?z }` the content has (b, :q, c). Inserting (a, :p, b)
emits the row ?x = a with a count of 1. Retracting (b, :q, c) then emits it with a count of -1.
"""
