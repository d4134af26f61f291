"""What the benchmarks measure, as pure functions of outputs; docs/benchmarks.md has the definitions
and their sources.

CSRBench's pass or fail is a verdict (`conformance.verdict.outcomes`), its table
`conformance.bench.recordings.csrbench_table.outcome_table`.

Imports refengine. Begin with `yabench`, the measures of one window; `run` has those of a whole run.
"""
