"""The oracle (SPEC.md §11): whether a recorded output is one that a semantics can give, and if not,
why.

Imports `model`, `sparql`, `core` and `incremental`. Begin with `judge.judge`. It goes through the
`assignments` of a profile, makes an attempt with each (`attempts`, and `orders` where the arrival
order was not recorded), and has witnesses confirm what it rests on (`confirmation`). Of a fail
`alignment` finds the nearest assignment, `divergence` where it parts from the recording, and
`explanations` what would explain it.
"""
