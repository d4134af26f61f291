"""What the benchmarks measure, as pure functions of outputs; docs/metrics.md has the definitions and their sources.

CSRBench's pass or fail is a verdict (`conformance.judge`), its table `conformance.csrbench.table`.
"""
