"""Reports: pages, EARL, Markdown and badges, made of results alone. No engine is asked and no query
evaluated here.

Imports refengine, `schemas`, `metrics` and `verdict`. Begin with `source`, which reads results, and
`page`, which is made of `matrix` (the rules by engine) and of `detail` (one result, with
`drawings`).
"""
