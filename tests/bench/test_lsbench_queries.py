"""LSBench's queries: their classes are those of Table 1, each has answers at the smallest scale,
and an engine that overlooks what a query is about gets it wrong.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from published_queries import kept_streams as kept_streams
from published_queries import question_of, small_test

from conformance.bench.lsbench import terms
from conformance.bench.lsbench.declaration import (
    QUERIES,
    SEMANTICS,
    WITNESSES,
    make_instance,
    queries,
)
from conformance.bench.lsbench.features import FEATURES, class_of
from conformance.bench.lsbench.tables import read_published_figures
from conformance.bench.queries import Origin
from conformance.verdict.outcomes import judge_relations
from conformance.verdict.results import Outcome
from refengine import incremental
from refengine.core import r2r
from refengine.core.query import from_table
from refengine.core.question import Question
from refengine.model.elements import Element, Stream, canonical_elements

ORIGINS = {
    Origin.ADAPTED: ("Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q10"),
    Origin.DESCRIPTION: ("Q7", "Q8", "Q9", "Q11", "Q12"),
}

LSBENCH_TERMS = {
    "writes": terms.CREATOR_OF,
    "likes": terms.LIKE,
    "tags": terms.USERTAG,
    "knows": terms.KNOWS,
}

# What an engine overlooks: a piece of the text, and what it reads in its place.
OVERLOOKED = {
    "Q1": ("sibu:u984 ?property", "?somebody ?property"),
    "Q2": ("?account sioc:account_of sibp:p984", ""),
    "Q3": ("foaf:knows ?friend ; sioc:account_of sibp:p984", "foaf:knows ?friend"),
    "Q4": ("FILTER(?post != ?other)", ""),
    "Q5": ("?tagged foaf:knows ?liker", ""),
    "Q6": (" ; sioc:subscriber_of ?channel", ""),
    "Q7": ("< 0.25", "> 0.25"),
    "Q8": ("MINUS { ?tagged foaf:knows ?liker }", ""),
    "Q9": ("FILTER(?liker != sibu:u984)", "FILTER(?liker = sibu:u984)"),
    "Q10": ("COUNT(?post)", "COUNT(DISTINCT ?tag)"),
    "Q11": ("COUNT(DISTINCT ?post)", "COUNT(?post)"),
    "Q12": ("DESC(?posts)", "?posts"),
}


def reports(question: Question):
    run = incremental.evaluate(
        question.query,
        question.streams,
        SEMANTICS.semantics(),
        static=question.static,
        answer=r2r.defined_answer,
    )
    return [report.relation for report in run]


@pytest.mark.parametrize("name", QUERIES)
def test_the_class_of_a_query_is_that_of_table_1(name):
    """Apart from what the declaration says: features that the table does not list, and one that is
    not certain in our copy.
    """
    query, told = queries()[name], read_published_figures()["queries"][name]
    found = class_of(from_table(query.table))
    assert (found.patterns, found.streams) == (told["patterns"], told["streams"])
    beyond, doubtful = {*told.get("beyond", "")}, {*told.get("doubtful", "")}
    assert {*found.features} - {*told["features"]} == beyond
    assert {*told["features"]} - {*found.features} <= doubtful
    assert not beyond or "Table 1 does not list" in query.change


def test_each_query_says_where_it_comes_from():
    for origin, names in ORIGINS.items():
        assert tuple(name for name, query in queries().items() if query.origin is origin) == names
    assert tuple(queries()) == QUERIES
    for query in queries().values():
        assert "danhlephuoc/lsbench" in query.place
        assert "window" in query.change or "slide" in query.change


def test_features_are_told_apart():
    """A query for each letter, and one of none."""
    window = {"stream": "s", "kind": "time", "size": 1, "slide": 1, "name": "urn:w"}
    bodies = {
        "": "SELECT * { GRAPH <urn:w> { ?x ?p ?y } }",
        "F": "SELECT * { GRAPH <urn:w> { ?x ?p <urn:a> } }",
        "FJ": "SELECT * { GRAPH <urn:w> { ?x ?p ?y . ?y ?p ?z FILTER(?x != ?z) } }",
        "J": "SELECT * { GRAPH <urn:w> { ?x ?p ?y OPTIONAL { ?y ?p ?z } } }",
        "E": "SELECT * { { SELECT ?x { GRAPH <urn:w> { ?x ?p ?y } } } }",
        "JN": "SELECT * { GRAPH <urn:w> { ?x ?p ?y FILTER NOT EXISTS { ?y ?p ?x } } }",
        "T": "SELECT * { GRAPH <urn:w> { ?x ?p ?y } } ORDER BY ?x ?p ?y LIMIT 1",
        "JU": "SELECT * { GRAPH <urn:w> { { ?x ?p ?y } UNION { ?y ?p ?x } } }",
        "A": "SELECT (COUNT(*) AS ?n) { GRAPH <urn:w> { ?x ?p ?y } }",
        "S": "SELECT * { ?x ?p ?y }",
    }
    assert {letter for features in bodies for letter in features} == {*FEATURES}
    for features, body in bodies.items():
        assert class_of(from_table({"windows": [window], "body": body})).features == features
    optional = "SELECT * { GRAPH <urn:w> { ?x ?p ?y OPTIONAL { ?y ?p ?z FILTER(?x != ?z) } } }"
    assert class_of(from_table({"windows": [window], "body": optional})).features == "FJ"


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_has_answers_and_who_overlooks_what_it_asks_for_fails(name):
    question = question_of("lsbench", name)
    right = reports(question)
    assert sum(relation.rows.total() for relation in right) > 0
    judged = judge_relations(
        question, SEMANTICS, right, missing=0, witnesses=WITNESSES, is_fail_explained=False
    )
    assert judged.outcome is Outcome.PASS

    piece, read = OVERLOOKED[name]
    body = question.query.body.text
    assert body.count(piece) == 1
    table = {**small_test("lsbench", name).table, "body": body.replace(piece, read)}
    wrong = [
        replace(relation, variables=question.query.body.variables)
        for relation in reports(replace(question, query=from_table(table)))
    ]
    judged = judge_relations(
        question, SEMANTICS, wrong, missing=0, witnesses=(), is_fail_explained=False
    )
    assert judged.outcome is Outcome.FAIL


def answers_to_short_streams(
    name: str, streams: dict[str, str], static: str = ""
) -> list[list[dict]]:
    """Return the answers with rows that a query has to short streams.

    A stream is written as lines `SECOND SUBJECT PREDICATE OBJECT`, of words that become IRIs; the
    predicates are those of LSBENCH_TERMS. Values are in short, too, but for numbers.
    """

    def triple(words: list[str]) -> tuple[str, str, str]:
        subject, predicate, value = words
        return f"<urn:{subject}>", LSBENCH_TERMS[predicate], f"<urn:{value}>"

    made = {}
    for stream, text in streams.items():
        lines = [line.split() for line in text.strip().splitlines()]
        elements = [
            Element(frozenset([triple(words)]), 1000 * int(second), number)
            for number, (second, *words) in enumerate(lines, 1)
        ]
        made[f"http://deri.org/{stream}"] = Stream(canonical_elements(elements))
    known = frozenset(triple(line.split()) for line in static.strip().splitlines())
    found = reports(Question(from_table(queries()[name].table), made, known))
    return [
        [{key: value.removeprefix("<urn:").removesuffix(">") for key, value in row} for row in rows]
        for relation in found
        if (rows := sorted(relation.rows.elements()))
    ]


def test_a_tagged_person_who_likes_the_photo_is_paired_with_themselves():
    """Ann knows bob and dan, and bob knows ann. Cec is nobody's friend, dan is not bob's, and bob
    is not his own. The likes are in one window alone, [0, 5).
    """
    answers = answers_to_short_streams(
        "Q8",
        {
            "photostream": "1 photo tags ann\n1 photo tags bob\n9 other tags eve",
            "likedphotostream": "2 bob likes photo\n2 cec likes photo\n2 dan likes photo\n"
            "9 ann likes nothing",
        },
        "ann knows bob\nann knows dan\nbob knows ann",
    )
    pairs = [{(row["tagged"], row["liker"]) for row in rows} for rows in answers]
    assert pairs == [{("ann", "cec"), ("bob", "bob"), ("bob", "cec"), ("bob", "dan")}]


def test_a_post_that_nobody_likes_is_in_the_average():
    """Ann has two posts, and two others than she like the first: 2/2. Nobody likes bob's: 0/1. Of
    cec's two posts three people like one: 3/2.
    """
    answers = answers_to_short_streams(
        "Q11",
        {
            "poststream": "1 ann writes a1\n1 ann writes a2\n1 bob writes b1\n"
            "1 cec writes c1\n1 cec writes c2\n1801 dan writes d1",
            "likedpoststream": "2 x likes a1\n2 y likes a1\n2 ann likes a1\n"
            "2 x likes c2\n2 y likes c2\n2 z likes c2\n1801 x likes d2",
        },
    )
    first = {row["author"]: float(row["average"].split('"')[1]) for row in answers[0]}
    assert first == {"ann": 1.0, "bob": 0.0, "cec": 1.5}


def test_an_instance_asks_about_another_user():
    """After the last user, u1039 of 60, comes the first."""
    table = queries()["Q3"].table
    assert "sibp:p985" in make_instance(table, 1, 60)["body"]
    assert "sibp:p1039" in make_instance(table, 55, 60)["body"]
    assert "sibp:p980" in make_instance(table, 56, 60)["body"]
    assert make_instance(queries()["Q10"].table, 1, 60) == queries()["Q10"].table
