"""Benchmarks of the literature as declared things, and the run of one: its streams are made, an
engine is fed and sampled, its answers are judged and measured, and tables and a page are made of
the results.

A benchmark is a folder here that declares a `benchmark.Benchmark`; `catalogue` lists them.

Imports refengine, `metrics`, `verdict`, `installation`, `harness`, `benchmarks`, `suite` and
`report`. Begin with `benchmark`, then `run`.
"""
