"""Holds refengine.sparql against Apache Jena ARQ, an independent opinion, on drawn queries.

Begin with `__main__`. `jena` asks ARQ, `comparison` compares two answers, and `explained` reads the
differences that are known.
"""
