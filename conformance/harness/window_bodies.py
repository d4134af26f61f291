"""What a query answers over the windows of an engine that has windows and no SPARQL: the engine
decides what is in a window, and refengine evaluates the body.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from refengine.core import r2r
from refengine.core.query import Body, Query, Window, WindowKind
from refengine.model.elements import Element, Relation, Triple
from refengine.model.errors import Unsupported
from refengine.rdf.documents import read_static
from refengine.rdf.recordings import relation_to_json
from refengine.rdf.sources import Text

OVER_TIME = (WindowKind.TIME, WindowKind.RANGE)


def only_window(query: Query, static: str) -> Window:
    """Return the window of a query that needs no more than one window of the engine. Raises
    Unsupported, with what the query would have to be, for any other.
    """
    window, *others = query.windows
    conditions = {
        "one window": not others,
        "a window without a name": window.name is None,
        "a window without a key": not window.is_keyed,
        "a window over time": window.kind in OVER_TIME,
        f"Rstream, not {query.r2s}": query.r2s is None or query.r2s.emits_whole_answers,
        "no static data": not static,
        "no function of a triple's time": not query.body.asks_for_times,
    }
    for condition, holds in conditions.items():
        if not holds:
            reason = f"only the engine's windows are tested: the query must have {condition}"
            raise Unsupported(reason, rule="QRY-1", place="query")
    return window


def read_element(graph: str, at: int, number: int, batch: int | None) -> Element:
    """Return an element with the triples of a text in N-Triples. `number` is its position."""
    triples = cast(frozenset[Triple], read_static(Text("text.nq", graph, "text")))
    return Element(triples, at, number, batch)


def answer_over(body: Body, content: Iterable[Element], evaluation: str) -> list[dict[str, Any]]:
    """Return the rows of a body's answer over a window's content, as JSON. The blank nodes that the
    body makes have the name of the evaluation in theirs. Raises Unsupported.
    """
    graph = r2r.dataset(content)
    answer = r2r.defined_answer(body, graph)
    relation = Relation(answer.variables, r2r.rename_new_blanks(answer.rows, graph, evaluation))
    rows: list[dict[str, Any]] = relation_to_json(relation)["results"]["bindings"]
    return rows
