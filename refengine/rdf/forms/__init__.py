"""The forms of streams (IO-1), one module each. Imports `refengine.model` and the parsers of
`refengine.rdf`.

Elements with their own time: `folders`, `quads` (which `json_lines` and `tables` use). Documents
whose triples state the times: `graphs`, `subjects`, `messages`; `dating` has what they share.
`refengine.rdf.streams` says which form a file has.
"""
