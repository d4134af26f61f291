"""The list of what the witnesses get wrong: each still errs as listed, and the project's own
definition does not.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.corpus.witness_defects import (
    NO_SINGLE_ANSWER,
    NOT_A_QUERY,
    WITNESSES,
    Defect,
    WitnessAnswer,
    answer_of,
    load_catalogue,
    same,
    term_of,
    turtle_of,
)
from refengine import sparql
from refengine.core.query import Body
from refengine.model.compare import Mode
from refengine.model.errors import InvalidQuery, Unsupported
from refengine.sparql import witnesses as sparql_witnesses

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = load_catalogue()
# what a library raises for a query that is not legal
REFUSALS = {"ParseException", "SyntaxError", "Exception"}

each_defect = pytest.mark.parametrize(
    "defect", [pytest.param(defect, id=defect.id) for defect in CATALOGUE.defects]
)
each_answer = pytest.mark.parametrize(
    ("defect", "witness"),
    [
        pytest.param(defect, witness, id=f"{defect.id}-{witness}")
        for defect in CATALOGUE.defects
        for witness in defect.answers
    ],
)
each_right_answer = pytest.mark.parametrize(
    ("defect", "witness"),
    [
        pytest.param(defect, witness, id=f"{defect.id}-{witness}")
        for defect in CATALOGUE.defects
        for witness in WITNESSES
        if witness not in defect.answers and defect.right != NO_SINGLE_ANSWER
    ],
)


def is_refusal(answer: WitnessAnswer) -> bool:
    """Whether a witness refuses a query as not legal."""
    return isinstance(answer, str) and answer in REFUSALS


@each_answer
def test_witness_still_errs_as_listed(defect: Defect, witness: str) -> None:
    answer = answer_of(witness, defect.text, defect.dataset)
    verdict = "it is right now" if same(answer, defect.right, Mode.VALUE) else "and still not right"
    listed = defect.answers[witness]
    message = (
        f"{defect.id}: fixed upstream? {witness} answers {answer}, {verdict}; "
        f"conformance/corpus/witness_defects.toml has {listed}"
    )
    assert same(answer, listed, Mode.TERM), message


def test_listed_answers_are_not_the_right_ones() -> None:
    right = [
        f"{defect.id}: {witness}"
        for defect in CATALOGUE.defects
        for witness, answer in defect.answers.items()
        if same(answer, defect.right, Mode.VALUE)
        or (defect.right == NOT_A_QUERY and is_refusal(answer))
    ]
    assert right == []


@each_right_answer
def test_witness_that_is_not_listed_is_right(defect: Defect, witness: str) -> None:
    answer = answer_of(witness, defect.text, defect.dataset)
    if defect.right == NOT_A_QUERY:
        assert is_refusal(answer), f"{defect.id}: {witness} takes what is not a query"
    else:
        assert same(answer, defect.right, Mode.VALUE), (
            f"{defect.id}: {witness} errs, too, with {answer}: list it"
        )


@each_defect
def test_definition_gives_the_right_answer(defect: Defect) -> None:
    if defect.refused or defect.right == NO_SINGLE_ANSWER:
        with pytest.raises(Unsupported):
            sparql.evaluate(Body(defect.text).algebra, defect.dataset)
    elif defect.right == NOT_A_QUERY:
        with pytest.raises(InvalidQuery):
            sparql.evaluate(Body(defect.text).algebra, defect.dataset)
    else:
        rows = sparql.evaluate(Body(defect.text).algebra, defect.dataset).rows
        answer = (
            rows
            if not isinstance(defect.right, bool)
            else [dict(line) for line in rows] == [{"ask": term_of("true")}]
        )
        assert same(answer, defect.right, Mode.VALUE), f"{defect.id}: {defect.section}"


def test_names_are_unique() -> None:
    names = [defect.id for defect in CATALOGUE.defects]
    assert sorted(set(names)) == sorted(names)
    assert all(defect.answers for defect in CATALOGUE.defects)


def test_w3c_figures_add_up() -> None:
    for figures in CATALOGUE.figures.values():
        assert figures.right + figures.wrong + figures.refused + figures.broken == CATALOGUE.tests


@pytest.mark.parametrize(
    "text",
    [
        ":a",
        "xsd:integer",
        '"1"^^xsd:byte',
        '"a"@en',
        "_:b",
        "<http://example.org/a#b>",
        '"<urn:a>"',
    ],
)
def test_short_text_stands_for_its_term(text: str) -> None:
    assert turtle_of(term_of(text)) == text


def test_page_is_up_to_date() -> None:
    assert (
        subprocess.run(
            [sys.executable, "-m", "tools.make_witnesses", "--check"], cwd=ROOT
        ).returncode
        == 0
    )


@pytest.mark.parametrize("name", ["", "a", "a.b", "a..b", "a.b.c", "a..b.c"])
@pytest.mark.parametrize("witness", sorted(sparql_witnesses.WITNESSES))
def test_every_witness_is_asked_what_it_can_read(witness: str, name: str) -> None:
    """A prefixed name with several dots is given to the witnesses as an IRI, since pyoxigraph reads
    one dot alone. A local name may be empty.
    """
    query, text = sparql.read_body(f"PREFIX : <urn:> ASK {{ ?s :{name} ?o }}")
    relation = sparql_witnesses.WITNESSES[witness](
        query, text, frozenset({("<urn:s>", f"<urn:{name}>", "<urn:o>")})
    )
    assert "true" in dict(*relation.rows)["ask"]
