"""From what an engine answered to a result: judgement, argument, evidence.

Imports refengine and `metrics`. Begin with `outcomes.verdict`, which makes a `results.Result`.
"""
