"""Hypothesis strategies: windows, queries with varied SPARQL, every semantics that means something,
and streams that hug the borders of windows. For tests of one's own operator, engine or parser
against the oracle.

Times, sizes and slides are integers in one unit, whichever the test means; with `t0=None` times are
epoch milliseconds or negative, too. What is drawn shrinks to few elements at small times, plain
windows and short bodies. Nothing else in refengine imports this package, which needs Hypothesis.

Imports `model` and `core`. Begin with `streams` in `arrivals`, then `semantics` in `meanings`.

>>> from hypothesis import given
>>> from hypothesis import strategies as st
>>> from refengine import evaluate
>>> from refengine.strategies import inputs, queries, semantics
>>> @given(st.data())
... def test_reports_are_in_the_order_of_time(data):
...     query = data.draw(queries(kinds=["time"], sizes=st.integers(1, 9)))
...     choice = data.draw(semantics(query, tick="time"))
...     reports = list(evaluate(query, data.draw(inputs(query, choice)), choice))
...     assert reports == sorted(reports, key=lambda report: report.evaluation)
>>> test_reports_are_in_the_order_of_time()
"""

from __future__ import annotations

from refengine.core.combinations import GROUPS, NEUTRAL, REPORTS
from refengine.model.libraries import say_not_installed

try:
    import hypothesis  # noqa: F401 (imported to say, where it is not there, what brings it)
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ModuleNotFoundError(say_not_installed("hypothesis"), name="hypothesis") from None


from refengine.strategies.arrivals import MILLISECONDS, inputs, streams
from refengine.strategies.meanings import RANGES, SCALE, semantics
from refengine.strategies.payloads import (
    LINKS,
    LITERALS,
    NUMBER,
    NUMBERS,
    SUBJECTS,
    TEXTS,
    Graph,
    Strategy,
    graphs,
    triples,
)
from refengine.strategies.questions import KEYS, NAMES, ODD, ROUND, STREAMS, queries, windows
from refengine.strategies.sparql import (
    CASES,
    KEYWORDS,
    PROLOGUES,
    SPACES,
    VARIABLES,
    bodies,
    quoted,
)

__all__ = [
    "CASES",
    "GROUPS",
    "KEYS",
    "KEYWORDS",
    "LINKS",
    "LITERALS",
    "MILLISECONDS",
    "NAMES",
    "NEUTRAL",
    "NUMBER",
    "NUMBERS",
    "ODD",
    "PROLOGUES",
    "RANGES",
    "REPORTS",
    "ROUND",
    "SCALE",
    "SPACES",
    "STREAMS",
    "SUBJECTS",
    "TEXTS",
    "VARIABLES",
    "Graph",
    "Strategy",
    "bodies",
    "graphs",
    "inputs",
    "queries",
    "quoted",
    "semantics",
    "streams",
    "triples",
    "windows",
]
