"""The modules that bodies are compiled to: whatever a body's names and texts are, they are Python
that says the same, and the same text for one body.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from inspect import getclosurevars

import pytest
from incremental_trials import A, B, C, P, Q, agree, asked, chosen, integer

from refengine import Body, incremental, literal, stream
from refengine.core import r2r
from refengine.incremental.algebra import body as bodies
from refengine.incremental.algebra.body import MaintainedBody, compile_body
from refengine.incremental.algebra.code import Program, one_line, word_of
from refengine.incremental.algebra.patterns import MOST_LOOPS, Remembered
from refengine.model.elements import Row, Triple
from refengine.model.errors import Unsupported

HOSTILE = (
    'x"; import os; "',
    "'''",
    '"""',
    "\\",
    "a\nb",
    "\r# é \u2028 {body} %s",
    "\x00",
)


def answer(text: str, *triples: Triple, without: tuple[Triple, ...] = ()) -> dict[Row, int]:
    """Return the answer of a body after some triples have come, and some of them have gone."""
    rows: Counter = Counter()

    def change(row: Row, count: int) -> None:
        rows[row] += count

    body = MaintainedBody(Body(text), change)
    for triple in triples:
        body.insert(triple)
    for triple in without:
        body.retract(triple)
    body.flush()
    return dict(+rows)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_query_is_code(text: str):
    """It stands in a pattern, a filter, VALUES, BIND and a template's place."""
    term = literal(text)
    written = term.replace("\x00", "\\u0000").replace("\u2028", "\\u2028")
    for pattern in (
        f"?x {P} {written}",
        f"?x {P} ?y FILTER(?y = {written})",
        f"?x {P} ?y VALUES ?y {{ {written} }}",
        f"{{ ?x {P} ?y BIND({written} AS ?z) }} {{ ?w {P} ?z }}",
        f"{{ SELECT ?x ({written} AS ?z) {{ ?x {P} ?y }} }} ?w {P} ?z",
    ):
        query = f"SELECT ?x {{ {pattern} }}"
        assert answer(query, (A, P, term)) == {(("x", A),): 1}
        assert answer(query, (A, P, literal("other"))) == {}
        compile(compile_body(Body(query)).source, "module", "exec")


NAMES = (
    "class",
    "count",
    "change",
    "graph",
    "body",
    "s",
    "key",
    "row",
    "é",
    "ß2",
    "_",
    "None",
    "9",
)


def test_variables_may_have_any_names():
    """Two of them in a join, and all in one row."""
    for one in NAMES:
        for other in NAMES:
            if one == other:
                continue
            query = f"SELECT ?{one} ?{other} {{ ?{one} {P} ?{other} . ?{other} {Q} ?{one} }}"
            row = tuple(sorted([(one, A), (other, B)]))
            assert answer(query, (A, P, B), (B, Q, A), (B, Q, C)) == {row: 1}
    triples = [(A, f"<urn:{i}>", integer(i)) for i in range(len(NAMES))]
    pattern = " ".join(f"{A} <urn:{i}> ?{name} ." for i, name in enumerate(NAMES))
    (row,) = answer(f"SELECT * {{ {pattern} }}", *triples)
    assert dict(row) == {name: integer(i) for i, name in enumerate(NAMES)}


def test_a_name_that_a_module_makes_is_no_others():
    """?x of a subselect and ?x outside of it are two variables; so is one that looks like what a
    second ?x is called.
    """
    query = (
        f"SELECT * {{ {{ SELECT ?y {{ ?x {P} ?y }} }} {{ ?x {Q} ?y }} BIND(?x AS ?x_2) "
        "BIND(?y AS ?v_x) }"
    )
    expected = (("v_x", B), ("x", C), ("x_2", C), ("y", B))
    assert answer(query, (A, P, B), (C, Q, B)) == {expected: 1}


@pytest.mark.parametrize("length", [MOST_LOOPS, MOST_LOOPS + 1, 2 * MOST_LOOPS + 1, 45])
def test_a_join_has_as_many_patterns_as_the_query(length: int):
    """A chain of triples is found whichever comes last, and it is gone when any of them goes. Loops
    within one another are no more than Python takes.
    """
    pattern = " . ".join(f"?x{i} <urn:{i}> ?x{i + 1}" for i in range(length))
    chain = [(f"<urn:a{i}>", f"<urn:{i}>", f"<urn:a{i + 1}>") for i in range(length)]
    query = f"SELECT ?x0 ?x{length} {{ {pattern} }}"
    row = tuple(sorted([("x0", "<urn:a0>"), (f"x{length}", f"<urn:a{length}>")]))
    for last in (0, length // 2, length - 1):
        ordered = [*chain[:last], *chain[last + 1 :], chain[last]]
        assert answer(query, *ordered) == {row: 1}
        assert answer(query, *ordered[:-1]) == {}
        assert answer(query, *ordered, without=(chain[last],)) == {}


def test_a_join_without_shared_variables_is_a_product():
    query = f"SELECT * {{ ?x {P} ?y . ?z {Q} ?w . {A} {P} {B} }}"
    triples = [(A, P, B), (B, P, C), (A, Q, C), (C, Q, C)]
    assert len(answer(query, *triples)) == 4
    assert not answer(query, *triples[1:])
    assert not answer(query, *triples, without=(triples[0],))


def test_conditions_and_graphs_within_one_another():
    """As many as a text may have brackets within brackets."""
    conditions = "".join(f" FILTER(?z != {integer(i)})" for i in range(40))
    group = f"?x {P} ?y OPTIONAL {{ ?y {Q} ?z }}"
    for _ in range(40):
        group = f"{{ {group} {conditions} }} {{ ?x {P} ?y }}"
        conditions = " FILTER(?z != ?y)"
    found = answer(f"SELECT ?x {{ {group} }}", (A, P, B), (B, Q, C))
    assert found == {(("x", A),): 1}

    group = f"?x {P} ?y OPTIONAL {{ ?y {Q} ?z }}"
    for i in range(57):
        group = f"{{ {group} BIND({integer(i)} AS ?n{i}) FILTER(?z != {integer(i)}) }}"
    assert answer(f"SELECT ?x {{ {group} }}", (A, P, B), (B, Q, C)) == {(("x", A),): 1}
    assert answer(f"SELECT ?x {{ {group} }}", (A, P, B), (B, Q, integer(50))) == {}

    inner = f"?x {P} ?y"
    for i in range(57):
        inner = f"GRAPH ?g{i % 2} {{ {inner} }}"
    rows: list[Row] = []
    body = MaintainedBody(
        Body(f"SELECT * {{ {inner} }}"), lambda row, _: rows.append(row), names=[B]
    )
    body.insert((A, P, C), B)
    assert rows == [(("g0", B), ("g1", B), ("x", A), ("y", C))]


def test_a_triple_of_another_predicate_costs_a_look_up():
    body = MaintainedBody(Body(f"SELECT * {{ ?x {P} ?y . ?y {Q} {A} }}"), lambda *_: None)
    (graph,) = body.graphs.values()
    assert [list(routes) for routes in graph.inserts] == [[P, Q]]
    body.insert((A, "<urn:r>", B))
    body.insert((A, Q, B))  # a constant refuses it
    assert not graph.present
    body.insert((A, P, B))
    body.insert((A, P, B))
    assert dict(graph.present) == {(A, P, B): 2}
    body.retract((A, P, B))
    body.retract((A, P, B))
    body.retract((A, P, B))
    assert not graph.present


def test_a_triple_goes_to_all_patterns_that_it_may_match():
    """One pattern has its predicate, one any, and one needs its subject as its object."""
    query = f"SELECT * {{ {{ ?x {P} ?y }} UNION {{ ?x ?p ?y }} UNION {{ ?z ?p ?z }} }}"
    assert len(answer(query, (A, P, A))) == 3
    assert len(answer(query, (A, P, B))) == 2
    assert len(answer(query, (A, Q, B))) == 1
    assert not answer(query, (A, P, A), (B, Q, B), without=((B, Q, B), (A, P, A)))


def test_the_indexes_of_a_join_keep_nothing_of_what_is_gone():
    """By one variable, by two, by a value, by none, and of a pattern without variables."""
    patterns = (
        f"?x {P} ?y . ?y {Q} ?z",
        f"?x {P} ?y . ?x {Q} ?y",
        f"?x {P} ?y . ?z {Q} ?w FILTER(?y = ?w)",
        f"?x {P} ?y . ?z {Q} ?w . {A} {P} {B}",
    )
    for pattern in patterns:
        body = MaintainedBody(Body(f"SELECT * {{ {pattern} }}"), lambda *_: None)
        (graph,) = body.graphs.values()
        triples = [(A, P, B), (A, P, C), (A, Q, B), (B, Q, C)]
        kept: list = [graph.present]
        for function in graph.retracts[0].values():
            variables = getclosurevars(function).nonlocals
            kept += [value for value in variables.values() if isinstance(value, dict)]
        assert len(kept) > 4
        for triple in triples:
            body.insert(triple)
        assert all(kept)
        for triple in triples:
            body.retract(triple)
        assert not any(kept)


def test_an_index_is_shared_by_the_joins_that_look_by_the_same_variables():
    """?x of the first pattern is looked for by both others."""
    source = compile_body(Body(f"SELECT * {{ ?x {P} ?y . ?x {Q} ?z . ?x <urn:r> ?w }}")).source
    assert source.count("= {}  # R2R-10 ?x :p ?y, by ?x") == 1


def test_what_a_condition_answers_is_kept_for_some_terms(monkeypatch):
    monkeypatch.setattr("refengine.incremental.algebra.patterns.MOST_REMEMBERED", 2)
    asked_of: list = []

    def is_b(terms: tuple) -> bool | None:
        asked_of.append(terms)
        return terms == (B,) or None

    passes = Remembered(is_b)
    assert [passes[term] for term in (A, B, A, B)] == [False, True, False, True]
    assert asked_of == [(A,), (B,)]
    assert passes[C] is False and list(passes) == [C]


QUERIES = (
    f"SELECT * {{ ?x {P} ?y . ?y {Q} ?z . ?z {P} ?x FILTER(?x != ?z && ?y != ?x) }}",
    f"SELECT ?x (COUNT(?y) AS ?n) {{ ?x {P}+ ?y OPTIONAL {{ ?y {Q} ?z }} }} GROUP BY ?x",
    f"SELECT * {{ ?x {P} ?y MINUS {{ ?x {Q} ?y }} "
    f"FILTER EXISTS {{ ?y {P} ?z FILTER(?z != ?x) }} }}",
)


def test_a_body_has_one_module_whatever_the_hash_of_texts():
    program = (
        "from refengine import Body\n"
        "from refengine.incremental.algebra.body import compile_body\n"
        f"for text in {QUERIES!r}: print(compile_body(Body(text)).source)\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "01"
    }
    assert texts == {"\n".join([*(compile_body(Body(text)).source for text in QUERIES), ""])}


def test_code_is_kept_by_what_a_body_means():
    one = Body(f"SELECT ?x {{ ?x {P} ?y }}")
    same = Body(f"SELECT  ?x\n{{ ?x {P} ?y . }}")
    assert compile_body(one) is compile_body(same)
    assert compile_body(one) is not compile_body(one, is_set=True)
    assert compile_body(one) is not compile_body(Body(f"ASK {{ ?x {P} ?y }}"))
    assert bodies._compile.cache_info().maxsize == bodies.MOST_COMPILED


def test_names_and_comments_of_a_module():
    program = Program()
    assert [program.local(name) for name in ("x", "é", "é", "x y")] == ["v_x", "h_1", "h_1", "h_2"]
    assert program.local("x", ["v_x", "v_x_2"]) == "v_x_3"
    assert [program.name("join") for _ in range(2)] == ["join", "join_2"]
    assert program.name("key") == "key_2"  # functions compute one of that name
    assert one_line("a\nb\x00\ré\u2028c") == "a b c"
    assert one_line("a" * 99, 10) == "aaaaaaa..."
    words = [word_of(term) for term in ("<urn:a:result>", "<http://e.org/ns#9x>", '"<a>"', "<é>")]
    assert words == ["result", "", "", ""]


# Evaluations that are passed over


CHANGES = {"report": "content-change", "r2s": "Istream", "base": "previous", "empty": "suppress"}


@pytest.mark.parametrize(
    "fields", [{}, {"r2s": "Dstream"}, {"empty": "emit"}, {"collection": "set"}]
)
def test_what_changes_no_row_is_reported_as_the_engine_has_it(fields: dict):
    """Between elements that change rows there are some that match no pattern, or come again."""
    triples = [(A, P, B), (A, Q, C), (A, P, B), (B, Q, C), (C, Q, A), (B, P, A), (C, P, B)]
    items = [(triple, time) for time, triple in enumerate(triples * 3)]
    query = asked(f"SELECT * {{ ?x {P} ?y . ?y {Q} ?z }}", size=9, slide=9)
    provenance = agree(query, {"s": stream(items)}, chosen(**{**CHANGES, **fields}))
    assert provenance == "incremental"


def test_a_value_that_is_not_covered_in_an_evaluation_that_would_have_been_passed_over():
    """The SPARQL evaluator takes over at the evaluation whose element has it. Of the two before it
    the first has a row, and the second is passed over.
    """
    infinite = literal("INF", "http://www.w3.org/2001/XMLSchema#double")
    triples = [(A, P, integer(1)), (A, Q, B), (A, P, infinite), (A, P, integer(2)), (A, P, B)]
    items = [(triple, time) for time, triple in enumerate(triples)]
    query = asked(f"SELECT (SUM(?y) AS ?n) {{ {A} {P} ?y }}", size=9, slide=9)
    provenance = agree(query, {"s": stream(items)}, chosen(**CHANGES))
    assert provenance.startswith("incremental for 2 evaluations, then the SPARQL evaluator")


def test_a_body_beyond_a_limit_is_refused_even_if_no_row_ever_changes(monkeypatch):
    def refuse(body: Body, dataset: frozenset) -> None:
        raise Unsupported("a body that takes too long", rule="R2R-17")

    monkeypatch.setattr(r2r, "defined_answer", refuse)
    query = asked(f"SELECT * {{ ?x {P} ?y }}", size=9, slide=9)
    items = [((A, Q, B), time) for time in range(3)]
    with pytest.raises(Unsupported, match="R2R-17"):
        list(incremental.evaluate(query, {"s": stream(items)}, chosen(**CHANGES)))
