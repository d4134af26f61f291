"""The card of an engine: it is asked about small streams, live, and what it answers says which
semantics it has (docs/windows.md).

`questions` are the streams, `space` has the semantics that are thought of, `prediction` says what
each answers, and `inquiry` chooses the next question. `card` is what is found, `text` and `table`
are how it is printed.
"""
