"""Campaigns: streams and queries are drawn within what an engine can be asked, its answers are
judged, and each way in which it fails is made small, told from the others and written down.

`drawing` draws a case from a seed and a number. `asking` puts it to the engine and judges the
answer. `shrinking` looks for the smallest case that fails alike. `campaign` does this until time or
cases run out. `causes` says which of the small cases have one cause, and whether the engine's file
knows it. `findings` writes each cause as a case file and as a report for a tracker.

Imports refengine, and of conformance what asks and judges an engine. Begin with `campaign`.
"""
