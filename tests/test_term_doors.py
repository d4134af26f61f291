"""MOD-4: Whatever public door a term comes through, it is made canonical there, or refused there.

Each door is sent a term in another spelling, whose result must be that of the canonical one, and
what is no term, which must be refused by the rule and with a place.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable

import pyarrow
import pytest

from conformance.bench.citybench import measures as citybench
from conformance.bench.metrics import lsbench, run, yabench
from conformance.spark import blocks, compared_rows
from conformance.verdict.outcomes import judge_relations
from refengine import (
    Body,
    Element,
    Engine,
    InvalidStream,
    Relation,
    Stream,
    difference,
    equal,
    evaluate,
    evaluations,
    from_table,
    incremental,
    plan,
    profile,
    row,
    sparql,
    stream,
)
from refengine.core.question import Question
from refengine.core.values import Closure
from refengine.incremental.parts import Part
from refengine.joins import BoundedJoin, bounded_query
from refengine.oracle.judge import judge
from refengine.oracle.trial import RecordingToJudge
from refengine.rdf.documents import read_static
from refengine.rdf.recordings import read_recording, relation_from_json
from refengine.rdf.sources import Piped
from refengine.rdf.streams import read_elements, read_stream

A, P = "<urn:a>", "<urn:p>"
XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
WINDOW = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
QUERY = from_table({"windows": [WINDOW], "body": "SELECT ?y { ?x <urn:p> ?y }"})
PROFILE = profile("csparql").but(t0=0)
SEMANTICS = PROFILE.semantics()
# a join of ?y with "hallo"@nl-be of the same stream
JOIN = from_table(
    {
        "windows": [{"stream": "s", "kind": "unbounded"}],
        "body": "SELECT ?a ?y { ?a <urn:p> ?y . ?b <urn:q> ?y }",
    }
)

SPELLINGS = [
    ('"hallo"@nl-BE', '"hallo"@nl-be'),
    ('"caf\\u00e9"', '"café"'),
    (f'"a"^^<{XSD_STRING}>', '"a"'),
    ("<urn:\\u0061>", "<urn:a>"),
]
ANOTHER = '"another"'
NO_TERMS = ["urn:a", "4", "?y", '"a', "<a>", '"a"@toolongalanguage', 4, None, True]


def of(term: object) -> Counter:
    """A bag with one row, which binds ?y to the term."""
    return Counter([row({"y": term})])  # type: ignore[dict-item]


def one(term: object) -> Stream:
    """A stream with the term as object at 3."""
    return stream([((A, P, term), 3)])


def relations(reports: Iterable) -> list[Counter]:
    return [report.relation.rows for report in reports]


def judged(term: object, seen: str) -> object:
    return judge(QUERY, {"s": one(seen)}, PROFILE, [Relation(("y",), of(term))], missing=0).passed


def outcome(term: object, seen: str) -> object:
    told = [Relation(("y",), of(term))]
    question = Question(QUERY, {"s": one(seen)})
    return judge_relations(question, PROFILE, told, missing=0).outcome


def pushed_into_join(term: object, seen: str) -> object:
    join = BoundedJoin(bounded_query(JOIN))
    join.push("s", Element(frozenset([("<urn:b>", "<urn:q>", seen)]), 0, 1))
    return len(join.push("s", Element(frozenset([(A, P, term)]), 1, 2)))  # type: ignore[list-item]


def pushed(term: object, seen: str) -> object:
    engine = Engine(QUERY, ["s"], SEMANTICS)
    graph = frozenset([(A, P, term)])
    return relations([*engine.push_element("s", Element(graph, 3, 1)), *engine.finish()])  # type: ignore[arg-type]


def incrementally_read(term: object, seen: str) -> object:
    elements = iter([Element(frozenset([(A, P, term)]), 3, 1)])  # type: ignore[list-item]
    return relations(incremental.evaluate(QUERY, {"s": elements}, SEMANTICS))


def beside_static(way: Callable) -> Callable[[object, str], object]:
    """The answers over a stream with `seen` and static data with the term."""

    def door(term: object, seen: str) -> object:
        body = "SELECT ?y { ?x <urn:p> ?y . ?z <urn:q> ?y }"
        query = from_table({"windows": [WINDOW], "body": body})
        static = frozenset([(A, "<urn:q>", term)])
        return relations(way(query, {"s": one(seen)}, SEMANTICS, static=static))

    return door


def with_engine(query, streams, semantics, static):
    engine = Engine(query, streams, semantics, static=static)
    pushed = [report for each in streams["s"] for report in engine.push_element("s", each)]
    return [*pushed, *engine.finish()]


def by_iri(way: Callable) -> Callable[[object, str], object]:
    """The answers over static data with the term that FROM names."""

    def door(term: object, seen: str) -> object:
        body = "SELECT ?y FROM <urn:g> { ?x <urn:p> ?y . ?z <urn:q> ?y }"
        query = from_table({"windows": [WINDOW], "body": body})
        static = {"urn:g": frozenset([(A, "<urn:q>", term)])}
        return relations(way(query, {"s": one(seen)}, SEMANTICS, static=static))

    return door


def measured(term: object, seen: str) -> object:
    question = Question(QUERY, {"s": one(seen)}).under(SEMANTICS)
    expected = list(evaluate(QUERY, question.streams, SEMANTICS))
    output = yabench.EngineOutput([of(term)])
    return [entry["precision"] for entry in run.of_run(question, expected, output)]


def gracious(term: object, seen: str) -> object:
    expects = yabench.ExpectedAnswers([3], lambda first, last: of(seen))
    return yabench.gracious((0, 10), Closure.RIGHT_OPEN, expects, of(seen), of(term)).score


def in_blocks(term: object, seen: str) -> object:
    names = ["time", "element", "stream", "subject", "predicate", "object"]
    rows = [(3, 1, 0, A, P, term)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    batch = pyarrow.RecordBatch.from_pydict(dict(zip(names, columns, strict=True)))
    made = blocks.blocks_of_parts([(0, Part())], [batch])
    return blocks.streams_of_blocks(("s",), Part(), made)["s"]


# name -> what the door makes of a term; the second argument is the canonical term, which it may
# compare with
DOORS: dict[str, Callable[[object, str], object]] = {
    "stream": lambda term, seen: one(term),
    "Stream": lambda term, seen: Stream((Element(frozenset([(A, P, term)]), 3, 1),)),  # type: ignore[list-item]
    "evaluate": lambda term, seen: relations(evaluate(QUERY, {"s": one(term)}, SEMANTICS)),
    "an iterator of incremental.evaluate": incrementally_read,
    "Engine.push": pushed,
    "BoundedJoin.push": pushed_into_join,
    "static data of evaluate": beside_static(evaluate),
    "static data of incremental.evaluate": beside_static(incremental.evaluate),
    "static data of Engine": beside_static(with_engine),
    "static data by IRI of evaluate": by_iri(evaluate),
    "static data by IRI of Engine": by_iri(with_engine),
    "static data of Question": lambda term, seen: Question(QUERY, {}, frozenset([(A, P, term)])),  # type: ignore[list-item]
    "judge": judged,
    "judge_relations": outcome,
    "RecordingToJudge": lambda term, seen: (
        RecordingToJudge.of(Question(QUERY, {}), [Relation(("y",), of(term))]).relations
    ),
    "equal, first": lambda term, seen: equal(of(term), of(seen)),
    "equal, second": lambda term, seen: equal(of(seen), of(term)),
    "equal, of mappings": lambda term, seen: equal({row({"y": term}): 1}, of(seen)),  # type: ignore
    "difference, first": lambda term, seen: difference(of(term), of(seen)),
    "difference, second": lambda term, seen: difference(of(seen), of(term)),
    "sparql.evaluate": lambda term, seen: sparql.evaluate(
        QUERY.body.algebra,
        frozenset([(A, P, term)]),  # type: ignore[list-item]
    ),
    "sparql.evaluate, of a named graph": lambda term, seen: sparql.evaluate(
        Body("SELECT ?y { GRAPH ?g { ?x <urn:p> ?y } }").algebra,
        frozenset([(A, P, term, "<urn:g>")]),  # type: ignore[list-item]
    ),
    "lsbench.mm, first": lambda term, seen: lsbench.mm([of(term)], [of(seen)]),
    "lsbench.mm, second": lambda term, seen: lsbench.mm([of(seen)], [of(term)]),
    "lsbench.comp": lambda term, seen: lsbench.comp({"a": [of(term)], "b": [of(seen)]}, 0),
    "lsbench.mismatches": lambda term, seen: lsbench.mismatches({"a": [of(term)], "b": [of(seen)]}),
    "yabench.count_matches": lambda term, seen: yabench.count_matches(of(seen), of(term)),
    "yabench.score, expected": lambda term, seen: yabench.score(of(term), of(seen)),
    "yabench.score, actual": lambda term, seen: yabench.score(of(seen), of(term)),
    "yabench.slide_score": lambda term, seen: yabench.slide_score(of(seen), of(term)),
    "yabench.gracious": gracious,
    "run.of_run": measured,
    "citybench.completeness, expected": lambda term, seen: citybench.completeness(
        [of(term)], [of(seen)], ["y"]
    ),
    "citybench.completeness, answered": lambda term, seen: citybench.completeness(
        [of(seen)], [of(term)], ["y"]
    ),
    "citybench.latencies, answers": lambda term, seen: citybench.latencies(
        [(of(term), 5.0)], {seen: 1.0}, ["y"]
    ),
    "rows of a DataFrame": lambda term, seen: compared_rows.bag_of([[("y", term)]]),  # type: ignore
}
# where a column of another type is refused before a term is looked at
TEXT_DOORS = {"triples of a DataFrame": in_blocks}
ALL_DOORS = DOORS | TEXT_DOORS
REFUSALS = [
    *((name, term) for name in DOORS for term in NO_TERMS),
    *((name, term) for name in TEXT_DOORS for term in NO_TERMS if isinstance(term, str)),
]


@pytest.mark.parametrize("name", ALL_DOORS)
@pytest.mark.parametrize(("spelt", "canonical"), SPELLINGS)
def test_another_spelling_is_the_canonical_term(name: str, spelt: str, canonical: str):
    door = ALL_DOORS[name]
    assert door(spelt, canonical) == door(canonical, canonical) != door(ANOTHER, canonical)


@pytest.mark.parametrize(("name", "term"), REFUSALS, ids=repr)
def test_what_is_no_term_is_refused(name: str, term: object):
    with pytest.raises(InvalidStream) as refused:
        ALL_DOORS[name](term, '"a"')
    error = refused.value
    assert error.rule == "MOD-4"
    assert error.place or name.endswith("of a DataFrame")  # a row of a DataFrame has no number
    assert str(error).isprintable() and len(str(error)) < 400


def test_the_terms_of_latencies_by_when_they_were_sent():
    sent = {'"hallo"@nl-BE': 1.0}
    found = citybench.latencies([(of('"hallo"@nl-be'), 5.0)], sent, ["y"])
    assert found == {'"hallo"@nl-be': 4.0}


# Texts


@pytest.mark.parametrize(("spelt", "canonical"), SPELLINGS)
def test_a_term_of_a_body_is_canonical(spelt: str, canonical: str):
    query = from_table({"windows": [WINDOW], "body": f"SELECT ?x {{ ?x <urn:p> {spelt} }}"})
    assert len(relations(evaluate(query, {"s": one(canonical)}, SEMANTICS))[0]) == 1
    patterns = [
        Body(f"SELECT ?x {{ ?x <urn:p> {term} }}").algebra.pattern for term in (spelt, canonical)
    ]
    assert patterns[0] == patterns[1]


def piped(name: str, text: str) -> Piped:
    return Piped(name, io.BytesIO(text.encode()))


def quoted(term: str) -> str:
    """The term as a cell of a CSV file."""
    return '"' + term.replace('"', '""') + '"'


STREAMS = {
    "s.n3t": lambda term: f'{A} {P} {term} "3" .\n',
    "s.csv": lambda term: f"subject,predicate,object,time\n{A},{P},{quoted(term)},3\n",
    "s.nq": lambda term: (
        f"{A} {P} {term} <urn:g> .\n"
        "<urn:g> <http://www.w3.org/ns/prov#generatedAtTime> "
        '"3"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
    ),
    "s.trig": lambda term: (
        f"<urn:g> <http://www.w3.org/ns/prov#generatedAtTime> 3 . <urn:g> {{ {A} {P} {term} }}\n"
    ),
}


@pytest.mark.parametrize(
    ("read", "name"), [*((read_stream, name) for name in STREAMS), (read_elements, "s.n3t")]
)
@pytest.mark.parametrize(("spelt", "canonical"), SPELLINGS)
def test_a_term_of_a_file_of_a_stream_is_canonical(read, name, spelt, canonical):
    found = list(read(piped(name, STREAMS[name](spelt))))
    assert found == list(read(piped(name, STREAMS[name](canonical))))
    assert [triple for element in found for triple in element.graph] == [(A, P, canonical)]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("term", ['"a"@toolongalanguage', "<a>", '"a"@en_US', '"a\\q"'])
def test_what_is_no_term_in_a_file_of_a_stream_is_refused(name, term):
    with pytest.raises(InvalidStream) as refused:
        read_stream(piped(name, STREAMS[name](term)))
    assert refused.value.rule == "IO-1"
    assert refused.value.place.startswith("standard input:")


@pytest.mark.parametrize(("spelt", "canonical"), SPELLINGS)
def test_a_term_of_a_file_of_static_data_is_canonical(spelt, canonical):
    assert read_static(piped("g.nt", f"{A} {P} {spelt} .\n")) == {(A, P, canonical)}


JSON_TERMS = [
    ({"type": "literal", "value": "hallo", "xml:lang": "nl-BE"}, '"hallo"@nl-be'),
    ({"type": "literal", "value": "a", "datatype": XSD_STRING}, '"a"'),
    ({"type": "typed-literal", "value": "a", "datatype": XSD_STRING}, '"a"'),
]


@pytest.mark.parametrize(("entry", "canonical"), JSON_TERMS)
def test_a_term_of_a_recording_or_of_a_harness_is_canonical(entry, canonical):
    told = relation_from_json([{"y": entry}], ("y",), "rows", {})
    document = {"relations": [{"head": {"vars": ["y"]}, "results": {"bindings": [{"y": entry}]}}]}
    (recorded,) = read_recording(piped("r.json", json.dumps(document)))
    assert told == recorded == Relation(("y",), of(canonical))


def test_what_is_no_term_of_a_recording_is_refused():
    for entry in (4, None, {"type": "uri", "value": "a"}, {"type": "literal", "value": 4}):
        with pytest.raises(InvalidStream) as refused:
            relation_from_json([{"y": entry}], ("y",), "rows", {})
        assert refused.value.rule == "IO-2" and refused.value.place.startswith("rows[0].y")


# What is canonical is not copied, and blank nodes keep their labels


def test_a_recording_with_canonical_terms_stays_the_same_object():
    relation = Relation(("y",), of('"hallo"@nl-be'))
    recorded = RecordingToJudge.of(Question(QUERY, {}), [relation])
    assert recorded.relations[0] is relation


def test_blank_nodes_that_an_evaluation_made_are_terms():
    """Those of reports (R2R-7), and those of a body that is evaluated alone."""
    template = "CONSTRUCT { _:b <urn:q> ?y } { ?x <urn:p> ?y }"
    query = from_table({"windows": [WINDOW], "body": template})
    (rows,) = relations(evaluate(query, {"s": one('"a"')}, SEMANTICS))
    alone = sparql.evaluate(Body(template).algebra, frozenset([(A, P, '"a"')])).rows
    assert equal(rows, alone) and {name for line in rows for name, _ in line} == {
        "subject",
        "predicate",
        "object",
    }
    assert list(evaluations(plan(query, {"s": one('"a"')}, SEMANTICS)))
