"""A query that is written in one language is rendered into each other language that can say it, and
refused by the others.

What a language can say is written here once more, after DIA-3 to DIA-6. Of the body it is known
only where the language adds no pattern to it.
"""

from __future__ import annotations

import re
from collections import Counter

import pytest
from test_dialects import (
    EXAMPLES,
    Draw,
    draws_for_all,
    in_seconds,
    one_worker_draws,
    results_of,
    said,
)

from refengine import Query, Window, WindowKind
from refengine.core.query import Form
from refengine.core.values import R2S
from refengine.dialects import DIALECTS

TIME = {"time"}
LAGS = {"time with a lag", "range with a lag"}
# DIA-3: the windows that have a text
EXTENTS = {
    "rspql": TIME | LAGS | {"range", "tuple", "rows"},
    "rsp4j": TIME | {"tuple"},
    "rsp-js": TIME,
    "csparql": TIME | {"range", "rows of triples"},
    "cqels": TIME | {"range", "rows of triples", "now", "unbounded"},
    "cqels2": TIME | {"rows of triples", "now"},
    "sparqlstream": TIME | LAGS | {"range", "rows of triples", "now", "unbounded"},
}
# DIA-4: the query forms that can state an operator
STATING = {
    "rspql": {Form.SELECT, Form.CONSTRUCT},
    "rsp4j": set(Form),
    "rsp-js": set(Form),
    "sparqlstream": {Form.SELECT, Form.CONSTRUCT},
}
RSPQL = ("rspql", "rsp4j", "rsp-js")


def extent_of(window: Window) -> str:
    """The name of a window's extent in `EXTENTS`."""
    name = str(window.kind)
    if window.unit == "triples":
        name += " of triples"
    if window.slide and window.kind in (WindowKind.RANGE, WindowKind.ROWS):
        name += " with a slide"
    if window.lag:
        name += " with a lag"
    return name


def stream_name(window: Window) -> str:
    """DIA-5: the name that a window has by its stream."""
    if ":" in window.stream:
        return window.stream
    return f"urn:window:{window.stream}"


def is_beyond_words(query: Query, dialect: str) -> bool:
    """Whether a dialect has no text for a query, whatever its body is."""
    windows = query.windows
    names = [window.name for window in windows]
    if query.registered is not None or any(window.triggers for window in windows):
        return True
    if any(extent_of(window) not in EXTENTS[dialect] for window in windows):
        return True
    is_stated = query.body.form in STATING.get(dialect, ())
    if query.r2s is not None and (query.r2s is R2S.APPEND or not is_stated):
        return True
    if dialect in RSPQL:
        return names.count(None) > 1
    if dialect == "sparqlstream":
        return sorted(names, key=lambda name: name is not None) != names
    if dialect == "csparql":
        return any(window.name not in (None, stream_name(window)) for window in windows)
    if None in names and len(windows) > 1:
        return True
    if dialect == "cqels":
        return False
    lengths = [window.size or 0 for window in windows if window.kind is WindowKind.TIME]
    lengths += [window.slide or 0 for window in windows if window.kind is WindowKind.TIME]
    is_named_otherwise = any(window.name not in (None, stream_name(window)) for window in windows)
    return is_named_otherwise or any(length % 1000 for length in lengths)


def is_surely_said(query: Query, dialect: str) -> bool:
    """Whether a dialect has a text for a query that is not beyond its words: if it adds no pattern
    to the body, or the body has nothing that such a pattern would hide or that would see it.
    """
    text = query.body.text
    names = [window.name for window in query.windows]
    if dialect == "rsp-js" and re.search(r"'''|\"\"\"", text):
        return False
    is_numbered = dialect in ("cqels", "cqels2", "sparqlstream") and any(names)
    is_wrapped = None in names and dialect in (*RSPQL, "cqels")
    is_plain = not re.search(r"EXISTS|CONSTRUCT\s+WHERE|GRAPH\s*[?$]|#", text, re.IGNORECASE)
    return not is_numbered and (is_plain or not is_wrapped)


def is_rendered(draw: Draw, dialect: str) -> bool:
    """Whether a query that its own dialect can say is rendered into another. It is where the other
    can say it, and nowhere else.
    """
    own = draw.dialect
    query = draw.query
    if dialect == "cqels2":  # which cannot say most lengths otherwise
        query = in_seconds(query)
    if own in (None, dialect) or said(query, own) is None:
        return False
    text = said(query, dialect)
    if is_beyond_words(query, dialect):
        assert text is None, f"{dialect} cannot say what {own} says: {text}"
    elif is_surely_said(query, dialect):
        assert text is not None, f"{dialect} can say what {own} says: {query}"
    return text is not None


@one_worker_draws
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_text_of_one_dialect_is_rendered_or_refused_in_another(dialect):
    """DIA-6: over all pairs. That what is rendered reads back is tested over the same draws."""
    rendered = results_of(is_rendered, dialect)
    pairs = zip(draws_for_all(), rendered, strict=True)
    count = Counter(draw.dialect for draw, is_said in pairs if is_said)
    assert len(count) > 2 and count.total() > EXAMPLES / 4, f"few are rendered: {count}"
