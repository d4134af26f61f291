"""The quick join is held to the definition, and the unlimited one to the continuous query."""

from __future__ import annotations

from dataclasses import replace

from drawn_bounded_joins import draw_shed_edges, for_each_draw

from refengine import stream
from refengine.core import r2r
from refengine.joins import Resources, bounded_query, run_join
from refengine.joins.bounded_definition import run_by_definition
from refengine.joins.bounded_join import UNLIMITED, BoundedJoin, merge_arrivals
from refengine.joins.measures import numbers_of
from refengine.joins.memory import sorted_bindings
from refengine.joins.unlimited import rows_of_query
from refengine.model import compare
from refengine.model.elements import Bag


@for_each_draw(600)
def test_the_join_is_that_of_the_definition(draw):
    query, _ = draw.query()
    join = bounded_query(query, draw.selection())
    streams = draw.streams(join.streams)
    chosen = draw.resources(join.streams)
    quick = BoundedJoin(join, chosen)
    steps = run_by_definition(join, streams, chosen)
    for (name, element), expected in zip(merge_arrivals(join, streams), steps, strict=True):
        assert quick.push(name, element) == expected.results
        assert sorted_bindings(quick.memory) == expected.held


@for_each_draw(200)
def test_shedding_by_semantics_in_a_self_join_is_that_of_the_definition(draw):
    """Each input of a self-join shares other variables, so that the same binding can be of use to
    one and not to the other.
    """
    query, streams, chosen = draw_shed_edges(draw)
    join = bounded_query(query, draw.selection())
    quick = run_join(join, streams, chosen)
    steps = run_by_definition(join, streams, chosen)
    for step, expected in zip(quick, steps, strict=True):
        assert step.results == expected.results


@for_each_draw(600)
def test_the_unlimited_join_is_the_continuous_query(draw):
    query, needs_whole_subjects = draw.query()
    join = bounded_query(query, draw.selection())
    streams = draw.streams(join.streams, most=6)
    streams = {
        name: without_recurrence(each, needs_whole_subjects) for name, each in streams.items()
    }
    rows = Bag(join.row(result) for step in run_join(join, streams) for result in step.results)
    assert compare.equal(rows, rows_of_query(query, streams, r2r.defined_answer))


def without_recurrence(original, by_subject):
    """The elements whose triples, or subjects, have not come before: the content of a window is a
    set of triples, so that a triple that recurs is no new one (R2R-1).
    """
    seen, items = set(), []
    for element in original:
        marks = {triple[0] if by_subject else triple for triple in element.graph}
        if not marks & seen:
            items.append((element.graph, element.app, None, element.end))
        seen |= marks
    return stream(items)


@for_each_draw(600)
def test_with_enough_memory_nothing_is_lost(draw):
    query, _ = draw.query()
    join = bounded_query(query, draw.selection())
    streams = draw.streams(join.streams)
    unlimited = list(run_join(join, streams, UNLIMITED))
    needed = max(sum(step.held) for step in unlimited)
    chosen = Resources(max(1, needed), draw.policy(), collects=True)
    results = [step.results for step in run_join(join, streams, chosen)]
    assert results == [step.results for step in unlimited]
    roomy = replace(chosen, memory=4 * len(list(merge_arrivals(join, streams))), collects=False)
    assert [step.results for step in run_join(join, streams, roomy)] == results


@for_each_draw(600)
def test_what_is_found_is_there(draw):
    """Eviction and shedding lose results, and never invent any: precision is 1."""
    query, _ = draw.query()
    join = bounded_query(query, draw.selection())
    streams = draw.streams(join.streams)
    unlimited = run_join(join, streams, UNLIMITED)
    found = run_join(join, streams, draw.resources(join.streams))
    for there, here in zip(unlimited, found, strict=True):
        assert numbers_of(here.results) <= numbers_of(there.results)
