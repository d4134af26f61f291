"""The suite and ground truth over Spark: no semantics of its own (docs/cluster.md).

Imports refengine, `metrics`, `verdict`, `harness` and `suite`. Begin with `shard` for the suite and
`truth` for ground truth, whose streams are in `streams`.
"""
