"""Joins over adaptive windows, measured: the published workloads made anew, windows run over them,
and their figures beside the published ones in tables and on a page.

Imports refengine, `metrics`, `report` and `bench`. Begin with `workloads`, then `run`.
"""
