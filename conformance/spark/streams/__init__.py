"""A stream that Spark reads: what kind it is of, one pass over it (`survey`), and what each part of
ground truth needs of it.

Begin with `stream`, which finds the kind: `.n3t` files (`lines`), Parquet (`table`), or whatever
else `refengine.rdf.streams` reads (`in_memory`).
"""
