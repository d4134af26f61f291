"""§14 What an unlimited join is held to: the continuous query under a semantics (BND-2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from refengine.core import r2r
from refengine.core.answers import EvaluateBody
from refengine.core.engine import evaluate
from refengine.core.profiles import profile
from refengine.core.query import BORDERED, Query
from refengine.core.semantics import Closure, Semantics
from refengine.model.elements import Bag, Stream

# a row goes out with the arrival that completes it, while all its elements are in the windows
PROFILE = profile("cqels-observed").but(slide="stated", instant="trigger")


def semantics_of_unlimited(query: Query) -> Semantics:
    """Return the semantics under which a query means its unlimited join: append, looked at at each
    arrival, with both borders of a window in it.
    """
    has_borders = any(window.kind in BORDERED for window in query.windows)
    closure = Closure.CLOSED if has_borders else None
    return PROFILE.but(closure=closure).semantics()


def rows_of_query(
    query: Query,
    streams: Mapping[str, Stream],
    answer: EvaluateBody = r2r.confirmed_answer,
) -> Bag:
    """BND-2: Return the rows that a query gives in all, under the semantics of unlimited joins.
    `answer` is R2R, as for `engine.evaluate`.
    """
    rows: Bag = Counter()
    semantics = semantics_of_unlimited(query)
    for report in evaluate(query, streams, semantics, answer=answer):
        rows += report.relation.rows
    return rows
