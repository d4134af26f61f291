"""The time line of a verdict, written as SVG, for the pages of the suite and for notebooks.

Imports `model`. Begin with `drawing`, which has the shapes and the axis; `timeline` draws with
them. Its evidence is that of a result file, or what `oracle.drawn_verdict` makes of a verdict.
"""
