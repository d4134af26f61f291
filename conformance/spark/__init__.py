"""The suite and ground truth over Spark: no semantics of its own (docs/cluster.md)."""
