"""Certificates of verdicts: what a verdict rests on, written so that a program that knows nothing
of the engine and the judge can verify it.

`maker` writes down what the engine computes of a judgement: the assignments, and every evaluation.
`checker` computes anew, by the rules of SPEC.md, when the query is evaluated over what.

`formal` asks the program that Coq extracts from the definitions in `refengine/formal` the same.

Imports `refengine` in `maker`, and nothing in `checker`. Begin with `checker.Verdict.check`.
"""
