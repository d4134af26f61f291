"""MOD-4: A recording is judged by its terms, however they are spelt."""

from __future__ import annotations

from collections import Counter

import pytest

from refengine import Relation, from_table, profile, row, stream
from refengine.model.errors import InvalidStream
from refengine.oracle.judge import judge

QUERY = from_table(
    {
        "body": "SELECT ?y { ?x <urn:p> ?y }",
        "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
    }
)
PROFILE = profile("csparql").but(t0=0)


def judge_rows(term: str, *rows: dict[str, str]):
    """Judge one relation of these rows, where ?y is a term at 3."""
    streams = {"s": stream([(("<urn:a>", "<urn:p>", term), 3)])}
    recorded = [Relation(("y",), Counter(row(each) for each in rows))]
    return judge(QUERY, streams, PROFILE, recorded, missing=0)


@pytest.mark.parametrize(
    ("term", "spelt"),
    [
        ('"x"@en', '"x"@EN'),
        ('"café"', '"caf\\u00e9"'),
        ('"x"', '"x"^^<http://www.w3.org/2001/XMLSchema#string>'),
    ],
)
def test_another_spelling_of_a_term_is_the_term(term: str, spelt: str):
    assert judge_rows(term, {"y": spelt}).passed
    assert judge_rows(spelt, {"y": term}).passed
    assert not judge_rows(term, {"y": '"another"'}).passed


@pytest.mark.parametrize(
    ("binding", "reason"),
    [
        ({"y": "urn:a"}, "relation 1: MOD-4: not a term: 'urn:a'; write <urn:a>"),
        ({"y": "_:"}, "relation 1: MOD-4: not a term: '_:'; write _:b"),
        ({"y": "<>"}, "relation 1: MOD-4: relative IRI ''; write it in full"),
        ({"?y": '"x"'}, "relation 1: IO-2: a variable is given without its mark: 'y', not '?y'"),
    ],
)
def test_what_is_no_row_is_refused(binding: dict[str, str], reason: str):
    with pytest.raises(InvalidStream) as caught:
        judge_rows('"x"', binding)
    assert reason in str(caught.value)
