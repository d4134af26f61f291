"""The card of an engine: it is asked about small streams, live, and what it answers says which
semantics it has.

1. `questions` has the streams, and `space` the semantics that are thought of.
2. `prediction` says what a semantics answers, and `inquiry` which question comes next.
3. `card` has what was found, `settings` what a library can be set to; `words` and `text` print it.

Imports `refengine`, `verdict`, `corpus`, `harness` and `suite`. Begin with `card.characterise`.
"""
