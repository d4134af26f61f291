"""What a continuous query means (SPEC.md §2 to §9): semantics, windows, ticks, reports, R2R and
R2S, composed by `engine`: a `plan`, whose `schedule` says when the query is evaluated, and
`reports` of what its `answers` are then.

Imports `model` and `sparql`. Begin with `engine.evaluate`, which calls each section in turn and is
held to `refengine.enumeration`.
"""
