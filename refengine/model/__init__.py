"""The data model (SPEC.md §1, §10): terms, elements, streams and relations, when two answers are
the same, and the errors.

Imports nothing of the other packages. Begin with `elements`, then `terms` and `compare`.
"""
