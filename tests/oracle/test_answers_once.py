"""Empty answers that are emitted once (R2S-9), as the oracle expects them, derived by hand.

Five windows of 10 hold an element each, z, a, z, z and b, of which the body finds a and b. The
outputs are therefore none, a, none, none, b; once are emitted: a, the first none after it, and b.
"""

from __future__ import annotations

from collections import Counter

import pytest

from refengine import (
    Body,
    Query,
    Relation,
    Window,
    WindowKind,
    incremental,
    profile,
    row,
    stream,
)
from refengine.oracle.judge import judge
from refengine.oracle.trial import Missing

QUERY = Query((Window("s", WindowKind.TIME, 10, 10),), Body("SELECT ?x { ?x <urn:p> ?y }"))
# the same answers, of a form that incremental evaluation does not cover (ENG-6)
BY_EVALUATOR = Query(QUERY.windows, Body("SELECT ?x { ?x <urn:p>+ ?y }"))
FOUND, OTHER = "<urn:p>", "<urn:q>"
STREAMS = {
    "s": stream(
        [
            (("<urn:z>", OTHER, "<urn:o>"), 3),
            (("<urn:a>", FOUND, "<urn:o>"), 13),
            (("<urn:z>", OTHER, "<urn:o>"), 23),
            (("<urn:z>", OTHER, "<urn:o>"), 33),
            (("<urn:b>", FOUND, "<urn:o>"), 43),
        ]
    )
}
ONCE = profile("csparql").but(t0=0, empty="once")
ALL = Missing(0, 0)  # of the recording nothing is missing


def rows(*names: str) -> Relation:
    """A relation of one row for each name."""
    return Relation(("x",), Counter(row({"x": f"<urn:{name}>"}) for name in names))


@pytest.mark.parametrize("query", [QUERY, BY_EVALUATOR], ids=["incremental", "evaluator"])
@pytest.mark.parametrize(
    ("recording", "passes"),
    [
        ([rows("a"), rows(), rows("b")], True),
        ([rows("a"), rows("b")], False),
        ([rows("a"), rows(), rows(), rows("b")], False),
        ([rows(), rows("a"), rows(), rows("b")], False),
    ],
    ids=["once", "never", "each time", "at the start"],
)
def test_an_empty_answer_is_expected_once(query, recording, passes):
    assert judge(query, STREAMS, ONCE, recording, missing=ALL).passed is passes


@pytest.mark.parametrize("query", [QUERY, BY_EVALUATOR], ids=["incremental", "evaluator"])
def test_a_fail_counts_the_empty_answer_among_the_reports(query):
    """The third relation stands beside the third report, of [40, 50), and should have b."""
    found = judge(query, STREAMS, ONCE, [rows("a"), rows(), rows("c")], missing=ALL)
    assert not found.passed
    divergence = found.trial.divergence
    assert (divergence.index, divergence.window, divergence.expected) == (
        2,
        (40, 50),
        rows("b").rows,
    )


def test_an_empty_answer_that_was_sent_twice_is_one_too_many():
    """Beside a, none and b stands one relation more: it is the only one that differs."""
    recording = [rows("a"), rows(), rows(), rows("b")]
    found = judge(QUERY, STREAMS, ONCE, recording, missing=ALL)
    assert found.trial.divergence.cost.rows == 1


def test_incremental_evaluation_gives_it_once():
    reports = incremental.evaluate(QUERY, STREAMS, ONCE.semantics())
    assert [(report.window, report.relation.rows) for report in reports] == [
        ((10, 20), rows("a").rows),
        ((20, 30), Counter()),
        ((40, 50), rows("b").rows),
    ]
