"""Turtle, TriG and JSON-LD without pyoxigraph, held to its parsers: the same statements, and the
same texts refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refengine.model.terms import XSD
from refengine.rdf import json_ld, turtle
from refengine.rdf.plain_turtle import Misread
from refengine.rdf.terms import Statement

TOKENS = [
    *("<a>", "<urn:b>", "<../c#d>", "x:y", "x:a.b", "x:", ":z%20", "x:a\\~b", "_:b", "_:b.1", "[]"),
    *("[", "]", "(", ")", "()", "{", "}", ".", ".", ".", ";", ",", "a", "true", "false", "TRUE"),
    *("1", "-1.5", ".5", "1.e0", "+1E-2", "1.", '"x"', "'x'", '"""a"b"""', "'''a\n'b'''", '"\\t"'),
    *('"\\u00e9"', '"\\uD800"', '"\\U0001F600"', '"a\nb"', "@en", "@EN-gb", "^^", "^^<urn:t>"),
    *("@prefix x: <urn:x/> .", "PREFIX : <z/>", "@base <http://b/c/> .", "BASE <d>"),
    *("GRAPH", "graph"),
    *("@PREFIX", "prefix", "# c\n", "\n", "<a b>", "<\\u0061>", "<>", "<<", "?v", "=", "\\", "~"),
]
PREFIXES = "@prefix x: <urn:p/> . @prefix : <urn:q/> . "
SOUND = st.recursive(
    st.sampled_from(
        ["<a>", "x:y", "_:b", "_:c", "[]", "1", "1.50", "1e3", "true", "'x'", '"é"@en', "'1'^^x:t"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"( {' '.join(items)} )"),
        st.lists(inner, min_size=1, max_size=2).map(lambda items: f"[ x:p {' , '.join(items)} ]"),
    ),
    max_leaves=6,
)
BODIES = st.lists(
    st.builds(
        "{} x:q {} ; a <c> .\n".format, st.sampled_from(["<s>", "_:b", "[]", "(1 2)"]), SOUND
    ),
    max_size=3,
).map("".join)


def outcome(parse: Callable[[], Iterator[Statement]]) -> list[Any]:
    """Return the statements of a text without their lines, in an order that does not depend on when
    a parser gives the nodes of lists; the word `refused` for a text that is refused.
    """
    try:
        return sorted(str((found.graph, found.triple)) for found in canonical(list(parse())))
    except Misread:
        return ["refused"]


def canonical(found: list[Statement]) -> Iterator[Statement]:
    """Yield statements whose blank nodes are named by what is said of them: twice refined, which
    tells those of drawn texts apart.
    """
    names: dict[str, str] = {}
    for _ in range(6):
        told: dict[str, list[str]] = {}
        for graph, triple, _line in found:
            parts = [part for part in (graph, *(triple or ())) if part is not None]
            shown = [names.get(part, "_") if part.startswith("_:") else part for part in parts]
            for place, part in enumerate(parts):
                if part.startswith("_:"):
                    told.setdefault(part, []).append(f"{place}{shown}")
        names = {part: str(hash(str(sorted(lines)))) for part, lines in told.items()}
    for graph, triple, line in found:
        yield Statement(
            names.get(graph or "", graph or ""),
            tuple(names.get(part, part) for part in triple) if triple else None,  # type: ignore[arg-type]
            line,
        )


def both(module: Any, parse: Callable[[], Iterator[Statement]]) -> tuple[list[Any], list[Any]]:
    """Return what is made of a text with pyoxigraph, and without."""
    with pytest.MonkeyPatch.context() as patch:
        with_it = outcome(parse)
        patch.setattr(module, "can_pyoxigraph_parse", lambda: False)
        return with_it, outcome(parse)


def of_both_parsers(text: str, language: str) -> tuple[list[Any], list[Any]]:
    return both(turtle, lambda: turtle.parse_statements(text, language, "b", "http://e/f"))


@pytest.mark.parametrize("language", ["Turtle", "TriG"])
@given(st.lists(st.sampled_from(TOKENS), max_size=9).map(" ".join))
def test_words_in_any_order_are_read_or_refused_as_by_pyoxigraph(language: str, text: str) -> None:
    with_it, without = of_both_parsers(PREFIXES + text, language)
    assert without == with_it


@pytest.mark.parametrize("language", ["Turtle", "TriG"])
@given(BODIES, BODIES)
def test_sound_texts_say_the_same(language: str, first: str, second: str) -> None:
    text = PREFIXES + first + second
    if language == "TriG":
        text = f"{PREFIXES} {first} x:g {{ {second} }} GRAPH _:b {{}} {{ {first} }}"
    with_it, without = of_both_parsers(text, language)
    assert without == with_it != ["refused"]


TIMES = {"t": {"@id": "urn:t", "@type": XSD + "dateTime"}}


@pytest.mark.parametrize(
    "document",
    [
        {"@id": "urn:a", "urn:p": [1, 1.5, 2.0, True, "x", 100000000, 1e300, -0.25]},
        {"@context": TIMES, "@id": "urn:a", "t": "2026-01-01T00:00:00Z"},
        {"@id": "urn:a", "urn:p": {"@list": [1, {"@id": "_:x"}, "y"]}, "@type": "urn:T"},
        {"@id": "urn:g", "urn:t": 5, "@graph": [{"@id": "_:x", "urn:p": {"@id": "_:y"}}]},
        {"@id": "urn:a", "urn:p": {"@value": "01", "@type": "urn:t"}},
        {"@id": "urn:a", "urn:p": {"@value": "x", "@language": "EN-gb"}},
        {"@id": "urn:a", "urn:p": {"@value": 2, "@type": XSD + "double"}},
        {"@id": "urn:a", "urn:p": {"@value": "2", "@type": XSD + "double"}},
        {"@id": "urn:a", "urn:p": {"@value": True, "@type": "urn:t"}},
        {"@context": {"@vocab": "urn:v:", "@base": "http://b/"}, "@id": "c", "d": {"@id": "../e"}},
        {"@context": {"@language": "de"}, "@id": "urn:a", "urn:p": "x"},
        [{"@id": "urn:a", "urn:p": {"urn:q": 1}}, {"@reverse": {"urn:r": {"@id": "urn:b"}}}],
        {"@id": "a", "urn:p": 1},
        {"@id": "urn:a", "p": 1},
        {"@id": "urn:a", "urn:p": {"@id": "urn:b c"}},
        {"@id": "urn:a b", "urn:p": 1},
        {"@id": "urn:a", "urn:p": {"@value": "x", "@language": "e n"}},
        {"@id": "urn:a", "urn:p": {"@value": [1]}},
    ],
    ids=json.dumps,
)
def test_json_ld_says_the_same(document: Any) -> None:
    text = json.dumps(document)
    with_it, without = both(json_ld, lambda: json_ld._parse(text, "b", ""))
    assert without == with_it


def test_lines_of_statements_are_those_where_their_objects_begin() -> None:
    text = "<urn:a> <urn:p>\n1 ,\n\n2 .\n# three\n<urn:b> <urn:p> '''x\ny''' ."
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turtle, "can_pyoxigraph_parse", lambda: False)
        found = list(turtle.parse_statements(text, "Turtle", "b"))
    assert [statement.line for statement in found] == [2, 4, 6]
