"""Holds an evaluation of SPARQL 1.1 bodies against Apache Jena ARQ, an independent opinion, on
drawn queries with data.

    python -m tools.arq --draws 10000 --seed 1

`draw` draws queries and datasets as trees (`tree`), `jena` asks ARQ, `differ` compares and shrinks,
and `explained` reads explained.toml, the list of known differences. Begin with `draw.draw`.
"""
