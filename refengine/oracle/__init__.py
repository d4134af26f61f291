"""The oracle (SPEC.md §11): whether a recorded output is one that a semantics can give, and if not,
why.

Imports `model`, `sparql`, `core` and `incremental`. Begin with `judge.judge`.
"""
