"""§7 The entrance for users: the answer of a body over data that they give."""

from __future__ import annotations

from refengine.model.elements import Relation, Statements, canonical_dataset_with_times
from refengine.model.errors import InvalidQuery
from refengine.model.messages import display
from refengine.sparql import evaluation
from refengine.sparql.algebra import AlgebraQuery
from refengine.sparql.limits import Limits


def evaluate(query: AlgebraQuery, dataset: Statements, limits: Limits | None = None) -> Relation:
    """Return what `evaluation.evaluate` returns, over a dataset whose terms are made canonical
    (MOD-4).

    Raises InvalidQuery for what is no algebra, InvalidStream for what is no term, and what
    `evaluation.evaluate` raises.

    >>> from refengine import Body, sparql
    >>> body = Body('SELECT ?x { ?x <urn:p> "hallo"@nl-be }')
    >>> list(sparql.evaluate(body.algebra, {("<urn:a>", "<urn:p>", '"hallo"@nl-BE')}).rows)
    [(('x', '<urn:a>'),)]
    """
    if not isinstance(query, AlgebraQuery):
        reason = f"must be the algebra of a body, got {display(query)}; write Body(text).algebra"
        raise InvalidQuery(reason, rule="QRY-1", place="body")
    return evaluation.evaluate(query, canonical_dataset_with_times(dataset, "dataset"), limits)
