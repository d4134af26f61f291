"""The smallest stream on which two semantics differ, by hand, and against the enumeration of all
streams without any symmetry.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, product

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from refengine import Stream, evaluate, from_table, profile, stream
from refengine.core.profile import Profile
from refengine.core.r2r import defined_answer
from refengine.core.semantics import Semantics
from refengine.model.errors import RefengineError
from refengine.oracle.inference.outcomes import are_alike
from refengine.oracle.inference.small_streams import (
    Bounds,
    Difference,
    answer_of,
    find_difference,
    instants_near_borders,
    streams_by_size,
    vocabulary,
)
from refengine.strategies import semantics

QUERY = from_table(
    {
        "body": "SELECT ?x { ?x <urn:p> ?y }",
        "windows": [{"stream": "s", "kind": "time", "size": 4, "slide": 2}],
    }
)
BASE = profile("csparql").but(t0=0)
FEW = Bounds(2, (0, 1, 2, 3, 4))


def differ(
    one: Profile, other: Profile, bounds: Bounds = FEW, objects: int = 1
) -> Difference | None:
    """Return the smallest difference of two profiles without open fields."""
    answers = [answer_of(QUERY, each.semantics(), {}) for each in (one, other)]
    return find_difference(*answers, bounds, vocabulary([QUERY.body], bounds.elements, objects))


def test_one_element_on_a_border_parts_two_closures():
    """[0, 4) holds an element at 0, and (0, 4] does not."""
    found = differ(BASE, BASE.but(closure="(]"))
    assert found is not None
    assert [element.app for element in found.stream] == [0]
    assert [sum(each.rows.values()) for each in found.one or ()] == [1]
    assert found.other == ()


def test_no_stream_parts_a_semantics_from_itself_or_an_equal_one():
    """Under window close the ticks are equal (law “Three ticks”)."""
    assert differ(BASE, BASE) is None
    assert differ(BASE, BASE.but(tick="time")) is None


def test_two_elements_part_content_change_by_element_and_by_graph():
    """The same triple comes twice: the elements change, and the graph does not."""
    one = BASE.but(report="content-change", r2s="Rstream")
    found = differ(one, one.but(change_scope="graph"))
    assert found is not None
    assert len(found.stream) == 2
    assert len({element.graph for element in found.stream}) == 1


def test_bags_and_sets_need_a_row_that_comes_twice():
    found = differ(BASE, BASE.but(collection="set"), objects=2)
    assert found is not None
    first, second = (next(iter(element.graph)) for element in found.stream)
    assert first[0] == second[0] and first[2] != second[2]


def test_the_streams_of_two_elements_over_two_instants_up_to_names():
    """None; x1 at 0 or 1; and two elements, x1 x1 or x1 x2, at 0 0, 0 1 or 1 1."""
    streams = list(streams_by_size(Bounds(2, (0, 1)), vocabulary([QUERY.body], 2)))
    assert [len(each) for each in streams] == [0, 1, 1, 2, 2, 2, 2, 2, 2]
    batched = list(streams_by_size(Bounds(2, (0,), has_batches=True), vocabulary([QUERY.body], 2)))
    assert [[element.batch for element in each] for each in batched] == (
        [[], [1], [1, 1], [1, 2], [1, 1], [1, 2]]
    )


def test_instants_near_borders():
    """The borders of windows of 10000: 0, 10000, …"""
    assert instants_near_borders([(10_000, 10_000)], 5) == (0, 1, 9_999, 10_000, 10_001)
    assert instants_near_borders([(4, 2)], 8) == (0, 1, 2, 3, 4, 5, 6, 7)


def _every_stream(size: int) -> list[Stream]:
    """Return all streams of so many elements over FEW, also those that differ in names alone."""
    names = ["<urn:x1>", "<urn:x2>"]
    return [
        stream([((name, "<urn:p>", "<urn:y1>"), app) for name, app in zip(row, apps, strict=True)])
        for row in product(names, repeat=size)
        for apps in combinations_with_replacement(FEW.instants, size)
    ]


def _reports(choice: Semantics, over: Stream) -> tuple[object, ...] | None:
    try:
        made = evaluate(QUERY, {"s": over}, choice, answer=defined_answer)
        return tuple(report.relation for report in made)
    except RefengineError:
        return None


@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_smallest_stream_is_that_of_an_exhaustive_search(data: st.DataObject):
    fixed = {"t0": 0, "offset": None, "slide": "stated", "horizon": "flush", "tick": "tuple"}
    fixed |= {"reported_windows": "active", "consumption": "unrestricted", "not_before": None}
    one = data.draw(semantics(QUERY, **fixed))
    other = data.draw(semantics(QUERY, **fixed))
    answers = [answer_of(QUERY, choice, {}) for choice in (one, other)]
    found = find_difference(*answers, FEW, vocabulary([QUERY.body], 2))
    smallest = next(
        (
            size
            for size in range(FEW.elements + 1)
            if not all(
                are_alike(_reports(one, each), _reports(other, each))
                for each in _every_stream(size)
            )
        ),
        None,
    )
    event(f"smallest: {smallest}")
    assert smallest == (None if found is None else len(found.stream))
