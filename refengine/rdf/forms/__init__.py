"""The forms of streams (IO-1). Imports `refengine.model` and the parsers of `refengine.rdf`.

Elements with their own time: `rows`. Documents whose triples state the times: `dated_documents`.
`reading` has what they share; `refengine.rdf.streams` says which form a file has.
"""
