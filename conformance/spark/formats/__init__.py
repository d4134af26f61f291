"""The formats of RDF as Spark's own: `spark.read.format("n3t")` and `DataFrame.write`.

Begin with `sources`, which declares the formats. `pieces` cuts files into pieces that tasks read,
`records` makes rows of lines, and `writing` writes files.
"""
