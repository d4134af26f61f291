"""Reading RDF texts (docs/files.md §12): streams, static data, queries and recordings.

Imports `model`, `core` and `dialects`. Begin with `streams`; `sources` says what can be read:
files, packed or not, pipes, and texts in memory.
"""
