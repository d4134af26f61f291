"""Reports: pages, EARL, Markdown and badges, made of results alone; EARL has the texts of the
rules, too. No engine is asked and no query evaluated here.

Imports refengine, `schemas`, `bench.metrics`, `verdict` and, for the text of a rule, `corpus`.
Begin with `source`, which reads results, and `page`, which is made of `matrix` (the rules by
engine) and of `result_list` (each result, with `drawings`).
"""
