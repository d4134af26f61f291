"""§7 The witnesses: rdflib and pyoxigraph answer a body, too, each by its own reading of SPARQL.

The evaluation by SPARQL's own algebra decides (`sparql.evaluate`); a witness confirms an answer,
differs, or has no say. `r2r.hear_witnesses` decides what follows from that. Their known defects are
listed in docs/witnesses.md; `defects` has those that can be written as a reading of the body.

Imports `model` and of `sparql` the `algebra`, the `datasets` and the `evaluation`, for the forms of
answers. Begin with `asking.ask_witness`. `rdflib_witness` and `pyoxigraph_witness` are imported
when they are first asked.
"""

from refengine.sparql.witnesses.asking import (
    WITNESSES,
    AnswerByDefect,
    NoSay,
    ask_witness,
    why_absent,
)

__all__ = ["WITNESSES", "AnswerByDefect", "NoSay", "ask_witness", "why_absent"]
