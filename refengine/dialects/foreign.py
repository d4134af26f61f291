"""Constructs of query languages that have no definition here. A text that has one is unsupported,
and the message calls it by its name (DIA-7).
"""

from __future__ import annotations

import re

DYNAMIC = "FROM DYNAMIC STREAM is a clause of no language here; write FROM STREAM in C-SPARQL"
# what a construct begins with: what it is, and what can be written instead
CONSTRUCTS = {
    "RETRIEVE": "Kolibrie's RETRIEVE, a search for streams, is unsupported; name each stream by "
    "its IRI",
    "RULE": "Kolibrie's RULE is unsupported; write what the rule derives as patterns of WHERE",
    "SEQ": "SEQ, a sequence of events of CQELS-QL 2.0, is unsupported; compare times by "
    "FILTER instead",
    "PAST": "directional windows of CQELS-QL 2.0 are unsupported; write RANGE for PAST",
    "FUTURE": "directional windows of CQELS-QL 2.0 are unsupported: a window ends at its own "
    "instant",
    "WITH DEPTH": "WITH DEPTH of CQELS-QL 2.0 is unsupported; static data is read whole",
    "CACHE": "CACHE of CQELS-QL 2.0 is unsupported; leave it out, since static data never changes",
    "COMPUTED EVERY": "COMPUTED EVERY belongs to the semantics; write report=periodic and a "
    "period there",
    "EMIT": "EMIT of CQELS-QL 2.0 belongs to the semantics; write report=… there",
    "LATENESS": "LATENESS of CQELS-QL 2.0 belongs to the semantics; write allowed_lateness=… there",
    "REPORT": "Kolibrie's REPORT belongs to the semantics; write report=… there",
    "TICK": "Kolibrie's TICK belongs to the semantics; write tick=… there",
    "BEGIN AT": "BEGIN AT, the time of a match, is unsupported; C-SPARQL has timestamp(s, p, o)",
    "AGGREGATE": "AGGREGATE is unsupported; write GROUP BY, or a subquery",
    "STATIC": "FROM STATIC is a clause of CQELS-QL 2.0 (cqels2); write FROM",
    "DYNAMIC": DYNAMIC,
    "FROM DYNAMIC": DYNAMIC,
    "FROM STATIC": DYNAMIC,
}
WORDS = re.compile(
    "|".join(phrase.replace(" ", r"\s+") + r"(?!\w)" for phrase in CONSTRUCTS), re.IGNORECASE
)


def name_construct(text: str, offset: int) -> str | None:
    """DIA-7: Return what is to be said of the construct that begins at an offset, if it is one of
    those above.
    """
    found = WORDS.match(text, offset)
    if found is None:
        return None
    return CONSTRUCTS[" ".join(found[0].upper().split())]
