"""What streams carry: triples of a small vocabulary, and graphs of them."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from refengine.model.elements import XSD, Triple, literal
from refengine.strategies.arguments import check_argument

Graph = frozenset[Triple]
Strategy = st.SearchStrategy

SUBJECTS = ("<urn:a>", "<urn:b>", "<urn:c>")
LINKS = ("<urn:p>", "<urn:q>")
NUMBER = "<urn:n>"  # the predicate whose objects are integers
# What a parser that looks for windows, comments and braces without reading SPARQL's tokens trips
# over.
TEXTS = (
    "x",
    "a } b",
    "{ [RANGE 10s STEP 2s] } # text",
    'it\'s "so" #1',
    "FROM STREAM <urn:s> WHERE {",
    "two\nlines # ]",
    "back\\slash",
    "",
)
NUMBERS = tuple(literal(str(n), XSD + "integer") for n in (0, 1, 2, 10, -3))
# What an engine that reads N-Triples loosely, or stores values for terms, trips over. Some are not
# canonical: a Stream makes them so.
LITERALS = (
    '"x"@en',
    '"x"@EN',
    '"x"@de-Latn-1996',  # languages
    # characters and escapes
    literal("café \U0001f600"),
    '"caf\\u00e9 \\U0001F600"',
    literal("a\tb\x7f"),
    '"a\\tb\x7f"',
    '"it\\\'s"',
    f'"x"^^<{XSD}string>',
    literal("x", "urn:type"),
    literal("true", XSD + "boolean"),  # datatypes
    # one value, several terms
    literal("01", XSD + "integer"),
    literal("1.0", XSD + "decimal"),
    literal("1e0", XSD + "double"),
    # no value, and one that is not itself
    literal("abc", XSD + "integer"),
    literal("NaN", XSD + "double"),
)


def triples() -> Strategy[Triple]:
    """Return triples of terms as N-Triples text, from a vocabulary so small that they recur:
    `urn:p` and `urn:q` lead from one of three subjects to another, to a string or, one in four, to
    a literal of `LITERALS`; `urn:n` leads to an integer.

    `LITERALS` have languages and datatypes, escapes and characters beyond ASCII; several are one
    value in different forms ("01"^^xsd:integer), ill-typed ("abc"^^xsd:integer) or NaN. Some are
    not canonical ("x"@EN): a Stream makes them so (MOD-4), while a triple that is drawn alone is as
    it was written. Engines that store values, as pyoxigraph does, may answer with another term, or
    count two terms as one: where no witness confirms the SPARQL evaluator `evaluate` raises
    Disputed, which such a test discards.

    >>> from hypothesis import given
    >>> from refengine.strategies import triples
    >>> @given(triples())
    ... def test_a_triple_has_three_terms(triple):
    ...     assert len(triple) == 3 and triple[1] in ("<urn:p>", "<urn:q>", "<urn:n>")
    >>> test_a_triple_has_three_terms()
    """
    return _TRIPLES


def _possible_triples() -> list[Triple]:
    """Return all triples, the plainest first, each as often as it is to be drawn."""
    plain = list(product(SUBJECTS, LINKS, (*SUBJECTS, *map(literal, TEXTS))))
    linked = plain * 4 + list(product(SUBJECTS, LINKS, LITERALS))
    numbered = list(product(SUBJECTS, [NUMBER], NUMBERS))
    return linked + numbered * (len(linked) // len(numbered))


_POSSIBLE = _possible_triples()


def _triple_at(index: int) -> Triple:
    return _POSSIBLE[index]


# A triple is one choice. With a choice for each term, drawing a stream would spend most of its time
# on the terms. It is drawn by its index, since the name of `sampled_from(_POSSIBLE)` would be a
# page long in an error.
_TRIPLES = st.integers(0, len(_POSSIBLE) - 1).map(_triple_at)


def graphs(*, min_size: int = 1, max_size: int = 3) -> Strategy[Graph]:
    """Return graphs of elements: sets of `min_size` to `max_size` triples of `triples`. With
    `min_size=0` some are empty. Raises InvalidArgument for a size that is no integer.

    >>> from hypothesis import given
    >>> from refengine.strategies import graphs
    >>> @given(graphs(max_size=2))
    ... def test_a_graph_is_a_set_of_triples(graph):
    ...     assert 1 <= len(graph) <= 2
    >>> test_a_graph_is_a_set_of_triples()
    """
    check_argument("min_size", min_size, int, "an integer")
    check_argument("max_size", max_size, int, "an integer")
    if min_size != 1 or max_size <= 1:
        return st.frozensets(triples(), min_size=min_size, max_size=max_size)
    # The first triple by itself. A set that must not be empty draws, before its first member too,
    # whether there is one. That is one choice more, and an element should take few of them
    # (`arrivals._draw_element`).
    others = st.frozensets(triples(), max_size=max_size - 1)
    return st.tuples(triples(), others).map(_join_first_and_others)


def _join_first_and_others(drawn: tuple[Triple, Graph]) -> Graph:
    first, others = drawn
    return others | {first}
