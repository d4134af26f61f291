"""The examples in the docstrings of incremental evaluation, by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from refengine import Body, from_table, profile, stream
from refengine.core import engine
from refengine.core.query import WindowKind
from refengine.core.window import Frame
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.answer_cache import SupportedSolutions
from refengine.incremental.coverage import NotCovered
from refengine.incremental.parts import whole_stream_frames, window_start_at
from refengine.incremental.schedule import PartitionContent, PartitionDelta

P, Q = "<urn:p>", "<urn:q>"
A, B, C = "<urn:a>", "<urn:b>", "<urn:c>"
ALL = "SELECT * { ?s ?p ?o }"


def over_one_window(body, **window):
    return from_table({"body": body, "windows": [{"stream": "s", **window}]})


def test_a_body_emits_what_a_triple_changes():
    changes = []
    query = f"SELECT ?x {{ ?x {P} ?y . ?y {Q} ?z }}"
    body = MaintainedBody(Body(query), lambda row, count: changes.append((row, count)))
    body.insert((B, Q, C))
    assert changes == []
    body.insert((A, P, B))
    body.retract((B, Q, C))
    assert changes == [((("x", A),), 1), ((("x", A),), -1)]


def test_a_triple_that_matches_twice_completes_a_solution_once():
    changes = Counter()
    body = MaintainedBody(
        Body(f"SELECT * {{ ?x {P} ?y . ?y {P} ?z }}"),
        lambda row, count: changes.update({row: count}),
    )
    body.insert((A, P, A))
    assert changes == {(("x", A), ("y", A), ("z", A)): 1}


def test_a_pattern_whose_filter_refuses_a_triple_leaves_nothing_to_the_pattern_that_takes_it():
    """(a, p, 0) is ?x ?y, but not ?y ?z. By its own ?y, which is 0, it is joined with nothing."""
    zero, five = (f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in (0, 5))
    changes = Counter()
    body = MaintainedBody(
        Body(f"SELECT * {{ ?x {P} ?y . ?y {P} ?z FILTER(?z > 1) }}"),
        lambda row, count: changes.update({row: count}),
    )
    body.insert((A, P, five))
    body.insert((A, P, zero))
    assert not changes


@pytest.mark.parametrize(
    ("rows", "count"),
    [(f"(UNDEF {B})", 1), (f"({A} UNDEF)", 1), (f"(UNDEF {C})", 0), (f"(UNDEF {B}) ({A} {B})", 2)],
)
def test_undef_is_compatible_with_every_term(rows: str, count: int):
    """R2R-2: VALUES leaves the variable unbound, and a join fills it."""
    changes = Counter()
    body = MaintainedBody(
        Body(f"SELECT * {{ ?x {P} ?y VALUES (?x ?y) {{ {rows} }} }}"),
        lambda row, count: changes.update({row: count}),
    )
    body.insert((A, P, B))
    assert changes == ({(("x", A), ("y", B)): count} if count else {})


def test_what_enters_and_leaves_a_partition():
    elements = stream([((key, P, C), t) for t, key in enumerate((A, B, A))])
    query = over_one_window(ALL, kind="partition", size=1, by=["subject"])
    semantics = profile("csparql").but(t0=0, report="content-change", closure="none").semantics()
    (view,) = engine.plan(query, {"s": elements}, semantics).views
    delta = PartitionDelta()
    assert delta.move_to(PartitionContent(view, 1)) == ([], [0])
    assert delta.move_to(PartitionContent(view, 3)) == ([0], [1, 2])
    assert delta.move_to(PartitionContent(view, 2)) == ([1, 2], [0, 1])  # an earlier one, anew


def test_solutions_within_a_span():
    elements = stream([((A, P, B), 1), ((B, P, C), 4), ((C, P, A), 12)])
    body = Body(f"SELECT * {{ ?x {P} ?y . ?y {P} ?z }}")
    supported = SupportedSolutions(body, elements.elements, [1, 4, 12], span=10)
    assert [found.elements for found in supported.solutions[0]] == [(0, 1), (1, 2)]
    assert supported.covers(range(2)) and not supported.covers(range(3))
    assert SupportedSolutions(body, elements.elements, [1, 4, 12], span=11).covers(range(3))


def test_solutions_pass_every_filter_around_their_pattern():
    """9 passes the inner filter alone. The oracle would have named it as a row at a border."""
    nine, three = (f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in (9, 3))
    elements = stream([((A, P, nine), 1), ((B, P, three), 2)])
    body = Body(f"SELECT ?x {{ {{ ?x {P} ?y FILTER(?y > 1) }} FILTER(?y < 5) }}")
    supported = SupportedSolutions(body, elements.elements, [1, 2], span=10)
    assert supported.answer(range(2)) == {(("x", B),): 1}
    assert supported.supported_rows(range(2)) == [((("x", B),), (1,))]


def test_solutions_of_a_subselect_are_no_rows_of_the_body():
    """Around the subselect ?y is another variable, which nothing binds."""
    elements = stream([((A, P, B), 1)])
    body = Body(f"SELECT ?x ?y {{ {{ SELECT ?x {{ ?x {P} ?y }} }} }}")
    supported = SupportedSolutions(body, elements.elements, [1], span=10)
    assert supported.supported_rows(range(1)) is None
    assert supported.answer(range(1)) == {(("x", A),): 1}


def test_a_content_that_is_not_covered_leaves_nothing_in_the_answer_over_the_next():
    """1 is fed before INF, which no sum covers. The window after them has 2 alone."""
    one, two = (f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in (1, 2))
    infinite = '"INF"^^<http://www.w3.org/2001/XMLSchema#double>'
    elements = stream([((A, P, one), 1), ((B, P, infinite), 2), ((C, P, two), 12)])
    body = Body(f"SELECT (SUM(?y) AS ?n) {{ ?x {P} ?y }}")
    supported = SupportedSolutions(body, elements.elements, [1, 2, 12], span=10)
    with pytest.raises(NotCovered):
        supported.answer(range(0, 2))
    assert supported.answer(range(2, 3)) == {(("n", two),): 1}


def test_a_halo_reaches_back_to_what_a_window_with_a_lag_holds():
    """WIN-20: [40, 50) holds from 40 - 30 on. A range is shown from 9 on; its first scope begins at
    0 - 30.
    """
    frame = Frame(first=0, last=9, slide=10, lag=30)
    assert window_start_at(frame, 45) == 10
    shown_later = frame._replace(kind=WindowKind.RANGE)
    assert window_start_at(shown_later, 5) == -30 and window_start_at(shown_later, 29) == -10


def test_before_all_scopes_the_first_window_counts_also_if_it_is_a_partial_one():
    """WIN-11: [-5, 5) is the first of [-5, 5), [0, 10), …: nothing is looked at before s0 = -1."""
    frame = Frame(first=0, last=9, slide=5, least=-1)
    assert [window_start_at(frame, t) for t in (-2, -1, 4, 5)] == [-5, -5, -5, 0]
    assert window_start_at(frame._replace(least=-3, lag=30), -2) == -45
    assert window_start_at(frame._replace(first=7, last=16), -2) == 2


def test_a_triple_that_a_filter_refuses_is_not_kept():
    """Whether the filter names some or all of the variables that the triple binds."""
    zero, two = (f'"{number}"^^<http://www.w3.org/2001/XMLSchema#integer>' for number in (0, 2))
    for subject in (A, "?x"):
        text = f"SELECT * {{ {subject} {P} ?y . ?y {Q} ?z FILTER(?y > 1) }}"
        body = MaintainedBody(Body(text), lambda row, count: None)
        (graph,) = body.graphs.values()
        body.insert((A, P, zero))
        assert not graph.present
        body.insert((A, P, two))
        assert list(graph.present) == [(A, P, two)]


def test_frames_begin_with_the_last_window_before_the_halo():
    query = over_one_window(ALL, kind="time", size=10, slide=10)
    semantics = profile("csparql").but(t0=0).semantics()
    (frame,) = whole_stream_frames(query, semantics, {"s": 0}, halo_start=35)
    assert (frame.first, frame.last) == (20, 29)
