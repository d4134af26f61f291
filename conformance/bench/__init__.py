"""The command `conformance bench`: whole runs of the benchmarks of the literature. Streams are
made, an engine is fed and sampled, its answers are judged and measured, and tables and a page are
made of the results.

A benchmark is a folder here that declares a `benchmark.Benchmark`; `catalogue` lists them.

The package `benchmarks` has a similar name: it is what is known of a benchmark without any run, its
queries and recordings, which the test suite needs, too.

Imports refengine, `metrics`, `verdict`, `installation`, `harness`, `benchmarks`, `suite` and
`report`. Begin with `benchmark`, then `run`.
"""
