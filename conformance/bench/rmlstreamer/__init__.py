"""RMLStreamer's evaluation: the published workloads made anew, joins over adaptive and fixed
windows run over them, and their figures beside the published ones in tables and on a page. Begin
with `workloads`, then `run`.
"""
