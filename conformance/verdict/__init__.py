"""From what an engine answered to a result: question, judgement, argument, evidence.

Imports refengine, `harness` and `corpus`. Begin with `outcomes`.
"""
