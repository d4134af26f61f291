"""Verdicts where one assignment explains a recording with a disputed answer (ORA-8), by hand.

The body counts doubles. Of a number and "nan" the SPARQL evaluator counts 1, and both witnesses 2.
By t0 = 0 the windows are [0, 5) with a number, and [10, 15) with "nan" and a number. By t0 = 2 they
are [2, 7) and [12, 17), with a number each.
"""

from __future__ import annotations

from collections import Counter

import pytest

from refengine import Disputed, OneOf, Relation, from_table, literal, profile, stream
from refengine.model.elements import XSD
from refengine.oracle import assignments
from refengine.oracle.judge import Judgement, judge

QUERY = from_table(
    {
        "windows": [{"stream": "s", "kind": "time", "size": 5, "slide": 10}],
        "body": f"SELECT (COUNT(?d) AS ?n) {{ ?x <urn:p> ?y BIND(<{XSD}double>(?y) AS ?d) }}",
    }
)


def integer(number: int) -> str:
    return literal(str(number), XSD + "integer")


STREAM = stream(
    [
        (("<urn:a>", "<urn:p>", integer(1)), 3),
        (("<urn:b>", "<urn:p>", literal("nan")), 11),
        (("<urn:a>", "<urn:p>", integer(1)), 13),
    ]
)


def verdict(t0: object, *counts: int) -> Judgement:
    """The verdict on these counts, one a window."""
    relations = [Relation(("n",), Counter([(("n", integer(count)),)])) for count in counts]
    return judge(QUERY, {"s": STREAM}, profile("csparql").but(t0=t0), relations, missing=0)


def test_a_pass_names_the_undisputed_assignment_and_rests_on_it_alone():
    """The witnesses that the verdict names are those that confirm it, and not the disputed one."""
    found = verdict(OneOf((0, 2)), 1, 1)
    assert found.passed
    assert found.trial is not None and found.trial.t0_class.t0 == 2
    assert found.tried == 2
    assert found.witness_statements.confirming == ("rdflib", "pyoxigraph")
    assert not found.witness_statements.others


@pytest.mark.parametrize(
    ("t0", "counts"), [(0, (1, 1)), (OneOf((0, 1)), (1, 1)), (OneOf((0, 2)), (1, 2))]
)
def test_a_verdict_is_disputed_if_no_assignment_passes_and_one_is_disputed(t0, counts):
    """By t0 = 1 [11, 16) holds "nan", too. t0 = 2 fails 1, 2; t0 = 0 does by a disputed answer."""
    with pytest.raises(Disputed, match="no witness confirms"):
        verdict(t0, *counts)


def test_no_assignment_is_tried_after_one_that_passes(monkeypatch):
    tried = []
    attempt = assignments.attempt

    def count(recorded, planned, answers):
        tried.append(planned.semantics.t0)
        return attempt(recorded, planned, answers)

    monkeypatch.setattr(assignments, "attempt", count)
    assert verdict(OneOf((2, 0, 3)), 1, 1).passed
    assert tried == [2]
