"""SPARQL's algebra, maintained (SPEC.md §7): triples are inserted and retracted, and the rows by
which this changes the answer come out.

Imports `model`, `sparql`, of `core` the query, and `coverage` beside it. Begin with
`body.MaintainedBody`, the whole tree of nodes, and go on from its leaves to the top:

- `nodes`: what a node is, and how a change goes up
- `patterns`: basic graph patterns, which turn triples into solutions
- `graphs`: the graphs of the dataset, from which triples go to the patterns
- `constants`: VALUES and the empty pattern, whose solutions never change
- `joins`, `operators`, `extend`, `groups` (with `aggregates` and `extremes`), `subselects`,
  `named_graphs`: solutions into solutions
- `slices` (with `ordering`): LIMIT and OFFSET over ORDER BY, and REDUCED
- `paths` (with `reachability`): property paths, as joins, unions and connected pairs
- `semijoins`, `correlated`: MINUS and EXISTS. `filters` puts EXISTS into expressions, where it
  means what `substitution` checks
- `partners`: how two sides of a join find one another; `equality`: where a filter joins by value
- `forms`: where computed numbers are left to the definition
- `answers`: solutions into the rows of ASK and CONSTRUCT
- `by_definition`: expressions, of which `expressions`, `decimals` and `numbers` have quick forms
- `builder`: from a body's algebra to its nodes
- `counts`: bags whose counts go up and down

An example: for `SELECT ?x { ?x :p ?y . ?y :q ?z }` the content has (b, :q, c). Inserting (a, :p, b)
emits the row ?x = a with a count of 1. Retracting (b, :q, c) then emits it with a count of -1.
"""
