"""The benchmarks of the literature. `conformance bench` runs one: streams are made, an engine is
fed and sampled, its answers are judged and measured, and tables and a page are made of the results.

A benchmark is a folder here that declares a `benchmark.Benchmark`; `catalogue` lists them. Two
folders have workloads of joins, which need no engine: `clock` and `rmlstreamer`. On floors of their
own, since verdicts and the suite need them, are `metrics`, what benchmarks measure, and
`recordings`, what CSRBench, YABench and SECRET left behind.

Imports refengine, `verdict`, `engines.installation`, `harness`, `suite` and `report`. Begin with
`benchmark`, then `run`.
"""
