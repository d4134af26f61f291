"""Verdicts: an engine's answers become a result with an outcome, an explanation and evidence.

Imports refengine and `bench.metrics`. Begin with `outcomes.judge_relations`, which makes a
`results.Result`.
"""
