"""What the benchmarks measure, as pure functions of outputs; docs/metrics.md has the definitions and their sources.

CSRBench's pass or fail is a verdict (`conformance.verdict.outcomes`), its table `conformance.benchmarks.csrbench.table`.
"""
