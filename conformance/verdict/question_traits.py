"""What a question has: the constructs of its query, the shape of its windows, streams and terms,
and the semantics of an engine that is sent it. Each is a short text that completes "26 of 28 …".
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

# texts, names and comments of a query, in which no keyword is looked for
NO_KEYWORD = re.compile(r'"(?:[^"\\]|\\.)*"|<[^<>\s]*>|[?$]\w+|#.*')
KEYWORDS = (
    *("OPTIONAL", "UNION", "MINUS", "FILTER", "EXISTS", "BIND", "VALUES", "DISTINCT", "REDUCED"),
    *("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "GRAPH", "COUNT", "SUM", "AVG", "MIN", "MAX"),
    *("SAMPLE", "GROUP_CONCAT", "CONSTRUCT", "ASK"),
)
FUNCTION = re.compile(r"\b([A-Z][A-Z0-9_]+)\s*\(")
PATH = re.compile(r"[\w:)]\s*[/|]\s*\^?[\w:(]|[\w:)][*+](?=[\s)])|\^[\w:(]")
DATATYPE = re.compile(r'"\^\^<[^<>]*[#/](\w+)>')
LANGUAGE = re.compile(r'"@[A-Za-z]')
LARGE = 2**31  # from here on a time does not fit into 32 bits
DEPENDENT = ("t0", "base")  # fields that depend on the streams, and on `r2s`
MANY_TRIPLES = 2  # triples of one element


def list_question_traits(evidence: Mapping[str, Any]) -> frozenset[str]:
    """Return the traits of a question, from the evidence of its result."""
    windows: Sequence[Mapping[str, Any]] = evidence["windows"]
    elements: Sequence[Mapping[str, Any]] = evidence["elements"]
    return frozenset(
        [
            *_traits_of_text(_body_of(evidence["query"])),
            *_traits_of_windows(windows),
            *_traits_of_stream(elements, windows),
            *_traits_of_terms([element["graph"] for element in elements]),
            *(["have static data"] if "static" in evidence else []),
            *_traits_of_semantics(evidence.get("semantics", {})),
        ]
    )


def _body_of(text: str) -> str:
    """Return the body of a query that is written as a table, and any other text as it is."""
    try:
        table = json.loads(text)
    except ValueError:
        return text
    return str(table.get("body", text)) if isinstance(table, dict) else text


def _traits_of_text(text: str) -> Iterator[str]:
    """Yield the constructs of SPARQL in a query."""
    plain = NO_KEYWORD.sub(" ", text)
    words = set(re.findall(r"[A-Z_]+", plain.upper()))
    for keyword in KEYWORDS:
        if keyword in words:
            yield f"have {keyword} in the query"
    for name in sorted(set(FUNCTION.findall(plain.upper())) - set(KEYWORDS) - {"WHERE", "SELECT"}):
        yield f"have {name} in the query"
    if PATH.search(_without_names(text)):
        yield "have a property path in the query"
    if len(re.findall(r"\bSELECT\b", plain, re.IGNORECASE)) > 1:
        yield "have a subquery"
    where = plain[plain.find("{") :]
    if len(re.findall(r"\s\.\s|;", where)) > 0:
        yield "join several triple patterns"


def _without_names(text: str) -> str:
    """Return a query with `$` for each variable and `:i` for each IRI."""
    return re.sub(r"[?$]\w+", "$", re.sub(r"<[^<>\s]*>", ":i", re.sub(r'"[^"]*"', '""', text)))


def _traits_of_windows(windows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the shape of the windows."""
    if len(windows) > 1:
        yield "have several windows"
    if any("name" in window for window in windows):
        yield "have a window with a name"
    for window in windows:
        size, slide = window.get("size"), window.get("slide")
        if window["kind"] != "time":
            yield f"have a window of the kind {window['kind']}"
        elif isinstance(size, int) and isinstance(slide, int):
            yield from _traits_of_extent(size, slide)


def _traits_of_extent(size: int, slide: int) -> Iterator[str]:
    """Yield what the size and the slide of a window over time have."""
    if slide < size:
        yield "have windows that overlap"
    if slide > size:
        yield "have gaps between windows"
    if 0 < slide < size and size % slide:
        yield "have a size that is no multiple of the slide"
    if slide == 1:
        yield "have the slide 1"


def _traits_of_stream(
    elements: Sequence[Mapping[str, Any]], windows: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Return the shape of the streams."""
    times = [element["at"] for element in elements]
    sizes = [window["size"] for window in windows if isinstance(window.get("size"), int)]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    instants = Counter((element["stream"], element["at"]) for element in elements)
    graphs = Counter((element["stream"], element["graph"]) for element in elements)
    triples = [_count_triples(element["graph"]) for element in elements]
    shown = {
        "have two elements at one instant": any(count > 1 for count in instants.values()),
        "have triples that come again": any(count > 1 for count in graphs.values()),
        "have a gap longer than the window": bool(sizes)
        and max(gaps, default=0) > max(sizes, default=0),
        "have a late element": len(windows) == 1 and min(gaps, default=0) < 0,
        "have a time before 0": min(times, default=0) < 0,
        "have a time beyond 32 bits": max(times, default=0) >= LARGE,
        "have an element of several triples": max(triples, default=0) >= MANY_TRIPLES,
        "have an element without triples": 0 in triples,
        "have an element with an interval": any("end" in element for element in elements),
        "have batches": any("batch" in element for element in elements),
    }
    return (text for text, is_shown in shown.items() if is_shown)


def _count_triples(graph: str) -> int:
    """Return the number of triples of an element."""
    return len(graph.strip().splitlines())


def _traits_of_terms(graphs: Sequence[str]) -> Iterator[str]:
    """Yield the kinds of terms in the streams."""
    text = "\n".join(graphs)
    for datatype in sorted(set(DATATYPE.findall(text))):
        yield f"have a literal of the type {datatype}"
    if LANGUAGE.search(text):
        yield "have a literal with a language"
    if "_:" in text:
        yield "have a blank node in the stream"
    if "\\" in text:
        yield "have a character in the stream that is written with an escape"


def _traits_of_semantics(semantics: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of the fields under which a question was judged. They tell cases apart where
    a query states the operator of R2S, and where an engine is sent its semantics.
    """
    for name in sorted(semantics, key=lambda name: name != "r2s"):
        if name not in DEPENDENT:
            yield f"are judged under {name}={semantics[name]}"
