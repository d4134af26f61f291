"""What incremental evaluation does not cover, said by one exception."""

from __future__ import annotations


class NotCovered(Exception):
    """Maintenance does not cover a body, or has met a value that it does not follow: the SPARQL
    evaluator has to compute the answer, of which the message says why (ENG-6).

    It is raised at least wherever the SPARQL evaluator has no single answer (QRY-3).
    """
