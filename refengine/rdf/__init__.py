"""Reading RDF texts (SPEC.md §12): streams, static data, queries and recordings.

Imports `model` and `core`. Begin with `files`.
"""
