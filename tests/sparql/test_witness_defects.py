"""What the witnesses get wrong: each still errs as listed, and the project's own evaluator does
not.

R2R-5: where a known defect explains what a witness answers, it has no say, and the SPARQL evaluator
stands if that holds for all witnesses. Each defect is held to what the pinned library answers: a
test fails when a library mends it. What a defect does not explain stays a dispute.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from conformance.corpus.witness_defects import (
    NO_SINGLE_ANSWER,
    NOT_A_QUERY,
    Defect,
    WitnessAnswer,
    answer_of,
    load_catalogue,
    same,
    term_of,
    turtle_of,
)
from refengine import Body, Disputed, Unsupported, literal, row, sparql
from refengine.core import r2r
from refengine.model.compare import Mode
from refengine.model.elements import XSD, Dataset, Relation
from refengine.model.errors import InvalidQuery
from refengine.sparql.solutions import select_answer
from refengine.sparql.witnesses import WITNESSES, AnswerByDefect, NoSay, ask_witness
from refengine.sparql.witnesses.defects import KNOWN_DEFECTS, KnownDefect, find_defects, misreadings

# The list


ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = load_catalogue()
# what a library raises for a query that is not legal
REFUSALS = {"ParseException", "SyntaxError", "Exception"}


def is_refusal(answer: WitnessAnswer) -> bool:
    """Whether a witness refuses a query as not legal."""
    return isinstance(answer, str) and answer in REFUSALS


@pytest.mark.parametrize("witness", sorted(WITNESSES))
@pytest.mark.parametrize("defect", CATALOGUE.defects, ids=lambda defect: defect.id)
def test_a_witness_errs_as_listed_and_nowhere_else(defect: Defect, witness: str) -> None:
    answer = answer_of(witness, defect.text, defect.dataset)
    is_right = same(answer, defect.right, Mode.VALUE)
    if defect.right == NOT_A_QUERY:
        is_right = is_refusal(answer)
    listed = defect.answers.get(witness)
    if listed is None:
        assert is_right or defect.right == NO_SINGLE_ANSWER, (
            f"{defect.id}: {witness} errs, too, with {answer}: list it"
        )
        return
    assert same(answer, listed, Mode.TERM) and not is_right, (
        f"{defect.id}: fixed upstream? {witness} answers {answer}, which is "
        f"{'right' if is_right else 'still not right'}; "
        f"conformance/corpus/witness_defects.toml has {listed}"
    )


@pytest.mark.parametrize("defect", CATALOGUE.defects, ids=lambda defect: defect.id)
def test_evaluator_gives_the_right_answer(defect: Defect) -> None:
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
@pytest.mark.parametrize("witness", sorted(WITNESSES))
def test_every_witness_is_asked_what_it_can_read(witness: str, name: str) -> None:
    """A prefixed name with several dots is given to the witnesses as an IRI, since pyoxigraph reads
    one dot alone. A local name may be empty.
    """
    query, text = sparql.read_body(f"PREFIX : <urn:> ASK {{ ?s :{name} ?o }}")
    relation = WITNESSES[witness](query, text, frozenset({("<urn:s>", f"<urn:{name}>", "<urn:o>")}))
    assert "true" in dict(*relation.rows)["ask"]


# Defects that can be written as a reading of the body


BY_ID = {defect.id: defect for defect in CATALOGUE.defects}
# What no defect below can be written for as a reading of the body: it hangs on the data, or on how
# a library reads a pattern or a lexical form. Such a body stays disputed.
LEFT = {
    "cast-large-double-to-string",
    "cast-nan",
    "cast-whitespace",
    "decimal-rounded-twice",
    "ebv-ill-typed-number",
    "regex-boundary",
    "regex-name-characters",
    "regex-space",
    "regex-word",
    "replace-empty-match",
    "replace-escaped-dollar",
    "replace-group-beyond",
    "replace-lone-dollar",
    "strdt-normalises",
    "sum-of-unbound",
}


def integer(number: int) -> str:
    return literal(str(number), XSD + "integer")


DATA: Dataset = frozenset(
    {
        ("<urn:a>", "<urn:n>", literal("x")),
        ("<urn:b>", "<urn:n>", integer(2)),
        ("<urn:b>", "<urn:n>", literal("y")),
    }
)


def body(text: str) -> Body:
    return Body(f"PREFIX : <urn:> PREFIX xsd: <{XSD}> {text}")


@pytest.mark.parametrize("defect", KNOWN_DEFECTS, ids=str)
def test_the_library_has_the_defect_and_it_has_no_say(defect: KnownDefect) -> None:
    """The query of the list, which also has the answer that is right."""
    listed = BY_ID[defect.id]
    assert defect.witness in listed.answers
    asked = Body(listed.text)
    with pytest.raises(AnswerByDefect, match=defect.id) as raised:
        ask_witness(defect.witness, asked.algebra, asked.plain, listed.dataset)
    assert raised.value.defects == (defect,), f"{defect}: mended upstream? then remove it"
    testimony = r2r.hear_witnesses(asked, listed.dataset)
    assert testimony.confirming == ()
    assert testimony.why_it_stands.startswith(f"no witness: defect {defect.id} of rdflib, defect")
    assert testimony.why_it_stands.endswith(f"; the construct is covered by {defect.tests}")
    assert testimony.relation == sparql.evaluate(asked.algebra, listed.dataset)


def test_every_listed_defect_of_both_that_ends_in_a_dispute_is_known_or_left() -> None:
    disputed = set()
    for listed in CATALOGUE.defects:
        if len(listed.answers) < 2 or listed.refused or isinstance(listed.right, str):
            continue
        try:
            r2r.hear_witnesses(Body(listed.text), listed.dataset)
        except Disputed:
            disputed.add(listed.id)
    assert disputed == LEFT


NEAR_MISSES = [
    # a variable has no error that is counted; DISTINCT and COUNT(*) are not of the list
    "SELECT (COUNT(?x) AS ?n) { ?s :n ?x }",
    "SELECT (COUNT(*) AS ?n) { ?s :n ?x }",
    "SELECT (COUNT(DISTINCT ?x + 1) AS ?n) { ?s :n ?x }",
    "SELECT (SUM(?x + 1) AS ?n) { ?s :n ?x }",
    # BNODE of nothing, and of what may differ from solution to solution
    "SELECT (BNODE() AS ?b) { ?s :n ?x }",
    "SELECT (BNODE(STR(?x)) AS ?b) { ?s :n ?x }",
    # isNumeric of what is in range, of what is no number at all, and of a variable
    'SELECT (isNumeric("120"^^xsd:byte) AS ?r) {}',
    'SELECT (isNumeric("x"^^xsd:byte) AS ?r) {}',
    'SELECT (isNumeric("1200"^^xsd:string) AS ?r) {}',
    "SELECT (isNumeric(?x) AS ?r) { ?s :n ?x }",
]


@pytest.mark.parametrize("text", NEAR_MISSES)
@pytest.mark.parametrize("witness", sorted(WITNESSES))
def test_what_is_nearly_a_defect_is_covered_by_none(witness: str, text: str) -> None:
    assert list(misreadings(witness, body(text).algebra)) == []


COVERED = [
    ("SELECT (COUNT(?x + 1) AS ?n) { ?s :n ?x }", [{"n": 7}]),
    ("SELECT ?s { ?s :n ?x } GROUP BY ?s HAVING (COUNT(?x + 1) < 1)", []),
    ("SELECT (BNODE('k') AS ?b) { ?s :n ?x }", []),
    ('SELECT (isNumeric("1200"^^xsd:byte) AS ?r) {}', []),
]


@pytest.mark.parametrize(("text", "rows"), COVERED, ids=[text for text, _ in COVERED])
@pytest.mark.parametrize("witness", sorted(WITNESSES))
def test_another_answer_than_the_defects_is_not_covered(
    witness: str, text: str, rows: Sequence[dict[str, int]]
) -> None:
    """Were our evaluation wrong there, a witness would say something else, and be heard."""
    asked = body(text)
    other = select_answer(
        asked.variables, [{name: integer(value) for name, value in line.items()} for line in rows]
    )
    assert list(misreadings(witness, asked.algebra))
    if text.startswith("SELECT ?s"):  # where no row is the answer of both defects
        other = Relation(("s",), sparql.evaluate(body("SELECT ?s { ?s ?p ?o }").algebra, DATA).rows)
    assert find_defects(witness, asked.algebra, DATA, other) == []
    right = sparql.evaluate(asked.algebra, DATA)
    assert find_defects(witness, asked.algebra, DATA, right) == []


def test_a_mistake_of_ours_beside_a_defect_is_disputed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluator that counts one too many is held against what the defects make of the body: by
    neither reading do the witnesses give what they gave.
    """
    asked = body("SELECT (COUNT(?x + 1) AS ?n) { ?s :n ?x }")

    def answer(name: str, of: Body, graph: Dataset) -> Relation:
        if name == r2r.EVALUATOR:
            return Relation(("n",), sparql.evaluate(body("SELECT (5 AS ?n) {}").algebra, DATA).rows)
        return WITNESSES[name](of.algebra, of.plain, graph)

    with pytest.raises(Disputed, match="rdflib and pyoxigraph differ"):
        r2r.hear_witnesses(asked, DATA, asked=answer)


def test_one_defect_alone_leaves_a_dispute_with_the_other_witness() -> None:
    """pyoxigraph differs without a defect that explains it: its word counts."""
    asked = body("SELECT (COUNT(?x + 1) AS ?n) { ?s :n ?x }")

    def answer(name: str, of: Body, graph: Dataset) -> Relation:
        if name == "pyoxigraph":
            return sparql.evaluate(body("SELECT (9 AS ?n) {}").algebra, DATA)
        return r2r.ask_evaluator(name, of, graph)

    with pytest.raises(Disputed, match="pyoxigraph differs; rdflib has no say: its answer comes"):
        r2r.hear_witnesses(asked, DATA, asked=answer)


def test_a_witness_that_breaks_is_no_defect() -> None:
    asked = body("SELECT (COUNT(?x + 1) AS ?n) { ?s :n ?x }")

    def answer(name: str, of: Body, graph: Dataset) -> Relation:
        if name == "pyoxigraph":
            raise NoSay("it takes too long")
        return r2r.ask_evaluator(name, of, graph)

    with pytest.raises(Disputed, match="none has another"):
        r2r.hear_witnesses(asked, DATA, asked=answer)


def test_two_defects_in_one_body_are_known_together() -> None:
    asked = body('SELECT (COUNT(?x + 1) AS ?n) (isNumeric("1200"^^xsd:byte) AS ?t) { ?s :n ?x }')
    testimony = r2r.hear_witnesses(asked, DATA)
    assert "defect count-of-errors of rdflib" in testimony.why_it_stands
    assert "defect isnumeric-out-of-range of pyoxigraph" in testimony.why_it_stands
    expected = {"n": integer(1), "t": literal("false", XSD + "boolean")}
    assert dict(*testimony.relation.rows) == expected


def test_distinct_nodes_of_one_label_are_counted() -> None:
    asked = body("SELECT (COUNT(DISTINCT BNODE('k')) AS ?n) { VALUES ?x { 1 2 } }")
    testimony = r2r.hear_witnesses(asked, frozenset())
    assert dict(*testimony.relation.rows) == {"n": integer(2)}
    assert "defect bnode-of-a-string of rdflib" in testimony.why_it_stands


def test_the_deepest_body_that_has_an_answer_is_put_to_witnesses() -> None:
    """R2R-5, R2R-17: rewriting a body takes more of Python's stack than answering it. By hand:
    neither of the two is an error.
    """
    two = row({"n": integer(2)})
    for additions in range(400, 0, -10):
        asked = body(f"SELECT (COUNT(?x{' + 1' * additions}) AS ?n) {{ VALUES ?x {{1 2}} }}")
        with suppress(Unsupported):
            assert r2r.defined_answer(asked, frozenset()).rows == Counter([two])
            break
    testimony = r2r.hear_witnesses(asked, frozenset(), ("pyoxigraph",))
    assert testimony.confirming == ("pyoxigraph",)
