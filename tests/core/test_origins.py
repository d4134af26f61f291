"""What windows are aligned with (WIN-10), where streams are not given whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from refengine import Element, Stream, Unsupported, from_table, profile
from refengine.core.arrivals import Arrivals
from refengine.core.semantics import Semantics
from refengine.incremental.arrival_buffer import plan_streamed
from refengine.incremental.parts import evaluate_in_parts

WINDOW = {"stream": "s", "kind": "time", "size": 7, "slide": 7}
QUERY = from_table({"body": "SELECT ?x { ?x <urn:p> ?y }", "windows": [WINDOW]})
ELEMENTS = tuple(Element(frozenset({("<urn:a>", "<urn:p>", "<urn:b>")}), t, t) for t in (1, 9))


def doors(semantics: Semantics) -> Iterator[tuple[Callable[[], object], str]]:
    """Each way to evaluate streams that are not given whole, and the rule that refuses it."""
    yield lambda: Arrivals(QUERY, ["s"], semantics), "ENG-8"
    yield lambda: plan_streamed(QUERY, {"s": iter(ELEMENTS)}, semantics), "ENG-6"
    yield lambda: evaluate_in_parts(QUERY, {"s": Stream(ELEMENTS)}, semantics, [5]), "ENG-7"


@pytest.mark.parametrize("offset", ["first-element", "day"])
def test_windows_that_the_first_element_places_need_no_whole_stream(offset: str):
    for door, _ in doors(profile("csparql").but(t0="epoch", offset=offset).semantics()):
        door()


@pytest.mark.parametrize("offset", ["last-element", "day-end"])
def test_windows_that_the_last_element_places_need_their_streams_whole(offset: str):
    for door, rule in doors(profile("csparql").but(t0="epoch", offset=offset).semantics()):
        with pytest.raises(Unsupported, match=f"{rule}: .*offset={offset}"):
            door()
