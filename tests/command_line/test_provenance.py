"""`run` computes incrementally, says who computed what, and confirms its first answers (ENG-6)."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from conftest import draws
from hypothesis import given, settings
from incremental.incremental_trials import covered, is_same_report, trials

from refengine import from_table, profile, stream
from refengine.__main__ import main
from refengine.core import engine, r2r
from refengine.incremental.maintained import MaintainedAnswers
from refengine.model.elements import Relation, row
from refengine.model.errors import Disputed, RefengineError, TooManyReports
from refengine.run_with_witnesses import STATEMENTS_TO_CONFIRM, Hearing, RunWithWitnesses
from refengine.sparql import Limits

P = "<urn:p>"
TUMBLING = {"stream": "s", "kind": "time", "size": 10, "slide": 10}


def start(
    count: int, body: str = "SELECT ?x { ?x <urn:p> ?y }", definition: bool = False, **options
) -> RunWithWitnesses:
    """A run over as many triples, one in each window."""
    window = TUMBLING | {name: options[name] for name in ("kind", "slide") if name in options}
    window = {name: value for name, value in window.items() if value is not None}
    query = from_table({"windows": [window], "body": body})
    items = [(("<urn:a>", P, "<urn:b>"), 10 * n) for n in range(count)]
    elements = stream(options.get("items", items))
    hearing = Hearing(("pyoxigraph",), options.get("limits", Limits()))
    semantics = profile("csparql").but(t0=0, **options.get("fields", {})).semantics()
    planned = engine.plan(query, {"s": elements}, semantics)
    bound = options.get("max_reports", 10**6)
    static = options.get("static", frozenset())
    return RunWithWitnesses(query, planned, static, hearing, bound, definition)


def reports_of(trial: tuple, definition: bool) -> list | str:
    """The reports of a drawn question, or the error in place of them."""
    query, streams, semantics, static = trial
    try:
        planned = engine.plan(query, streams, semantics)
        hearing = Hearing((), Limits())
        run = RunWithWitnesses(query, planned, static, hearing, 10**4, definition)
        return [step.report for step, _ in run if step.emitted]
    except RefengineError as error:
        return str(error)


@settings(max_examples=draws(40))
@given(trials(covered()))
def test_the_reports_are_those_of_the_evaluator(trial):
    quick, plain = reports_of(trial, False), reports_of(trial, True)
    if isinstance(plain, str):
        assert quick == plain
    else:
        assert len(quick) == len(plain) and all(map(is_same_report, quick, plain))


@pytest.mark.parametrize(
    ("body", "definition", "provenance"),
    [
        (
            "SELECT ?x { ?x <urn:p> ?y }",
            False,
            "incremental; witnesses were asked for 3 of 3 incremental answers",
        ),
        ("SELECT ?x { ?x <urn:p> ?y }", True, "the SPARQL evaluator: it was asked for"),
        ("SELECT (RAND() AS ?z) { ?x <urn:none> ?y }", False, "the SPARQL evaluator: "),
    ],
)
def test_the_provenance_is_said(body, definition, provenance):
    run = start(3, body, definition)
    assert [witnesses for _, witnesses in run] == [["pyoxigraph"]] * 3
    said = run.describe_provenance()
    assert said == provenance or (provenance.endswith(": ") and said.startswith(provenance))


def test_a_fallback_on_the_way_is_said_with_its_reason():
    """A sum of infinities is the SPARQL evaluator's, from its first window on."""
    query = from_table({"windows": [TUMBLING], "body": "SELECT (SUM(?y) AS ?m) { ?x <urn:p> ?y }"})
    terms = [f'"{text}"^^<http://www.w3.org/2001/XMLSchema#double>' for text in ("1.0E0", "INF")]
    elements = stream([(("<urn:a>", P, term), at) for term, at in zip(terms, (5, 15), strict=True)])
    planned = engine.plan(query, {"s": elements}, profile("csparql").but(t0=0).semantics())
    run = RunWithWitnesses(query, planned, frozenset(), Hearing(("pyoxigraph",), Limits()), 100)
    assert [len(step.rows) for step, _ in run] == [1, 1]
    said = run.describe_provenance()
    assert said.startswith("incremental for 1 evaluations, then the SPARQL evaluator: ")
    assert said.endswith("; witnesses were asked for 1 of 1 incremental answers")


@pytest.mark.parametrize("definition", [False, True])
def test_the_first_answers_are_confirmed(monkeypatch, definition):
    """Each has one statement; if the SPARQL evaluator is asked for, all are confirmed."""
    monkeypatch.setattr("refengine.run_with_witnesses.STATEMENTS_TO_CONFIRM", 4)
    confirmed = [witnesses for _, witnesses in start(6, definition=definition)]
    assert Counter(map(tuple, confirmed)) == (
        {("pyoxigraph",): 6} if definition else {("pyoxigraph",): 4, (): 2}
    )
    assert STATEMENTS_TO_CONFIRM == 1_000


@pytest.mark.parametrize("definition", [False, True])
def test_the_bound_of_reports_holds_whoever_computes_them(definition):
    """ENG-3: at 2 of them the third is too many."""
    assert len(list(start(3, definition=definition, max_reports=3))) == 3
    with pytest.raises(TooManyReports):
        list(start(3, definition=definition, max_reports=2))


@pytest.mark.parametrize("definition", [False, True])
def test_answers_beside_static_data_are_confirmed(definition):
    body = "SELECT ?z { ?x <urn:p> ?y . ?y <urn:q> ?z }"
    static = frozenset([("<urn:b>", "<urn:q>", "<urn:c>")])
    run = list(start(2, body, definition, static=static))
    assert [len(step.rows) for step, _ in run] == [1, 1]
    assert [witnesses for _, witnesses in run] == [["pyoxigraph"]] * 2


@pytest.mark.parametrize(("most", "limits"), [(3, Limits()), (9, Limits(steps=40))])
def test_after_one_that_is_too_large_no_answer_is_confirmed(monkeypatch, most, limits):
    """Datasets have 1, 3 and 1 statements. The second is beyond the bound of statements, or that of
    steps (R2R-17): its product has 27 solutions.
    """
    monkeypatch.setattr("refengine.run_with_witnesses.STATEMENTS_TO_CONFIRM", most)
    triples = [("<urn:a>", P, f"<urn:{name}>") for name in "bcd"]
    items = [(frozenset(triples[:1]), 5), (frozenset(triples), 15), (frozenset(triples[1:2]), 25)]
    run = start(0, "SELECT * { ?x ?p ?y . ?z ?p ?w . ?u ?p ?v }", items=items, limits=limits)
    assert [bool(witnesses) for _, witnesses in run] == [True, False, False]


def test_an_empty_dataset_counts_as_a_statement(monkeypatch):
    monkeypatch.setattr("refengine.run_with_witnesses.STATEMENTS_TO_CONFIRM", 4)
    query = from_table({"windows": [TUMBLING], "body": "SELECT ?x { ?x <urn:p> ?y }"})
    elements = stream([(("<urn:a>", P, "<urn:b>"), 95)])
    semantics = profile("csparql").but(t0=0, report="window-close", tick="time").semantics()
    planned = engine.plan(query, {"s": elements}, semantics)
    run = RunWithWitnesses(query, planned, frozenset(), Hearing(("pyoxigraph",), Limits()), 100)
    steps = list(run)
    assert len(steps) > 4 and run.confirmed_count == 4


def test_an_incremental_answer_that_no_witness_confirms_is_disputed(monkeypatch):
    other = Relation(("x",), Counter([row([("x", "<urn:other>")])]))
    monkeypatch.setattr(r2r, "ask_witness", lambda *_: other)
    with pytest.raises(Disputed, match="R2R-5: no witness confirms"):
        list(start(1))


def test_an_incremental_answer_that_differs_from_the_evaluator_is_disputed(monkeypatch):
    right = MaintainedAnswers.answer_over

    def lose_rows(self, windows):
        return right(self, windows)._replace(now=Counter())

    monkeypatch.setattr(MaintainedAnswers, "answer_over", lose_rows)
    reason = "ENG-6: incremental evaluation and the SPARQL evaluator disagree"
    with pytest.raises(Disputed, match=reason) as raised:
        list(start(1))
    assert raised.value.answers[r2r.EVALUATOR].rows == {row([("x", "<urn:a>")]): 1}


def test_where_the_evaluator_gives_up_the_run_goes_on_without_witnesses():
    """R2R-17: a product of three patterns takes 10 steps over a triple."""
    body = "SELECT ?x { ?x <urn:p> ?y . ?z <urn:p> ?y . ?v <urn:p> ?y }"
    run = start(3, body, limits=Limits(steps=6))
    assert [witnesses for _, witnesses in run] == [[], [], []]
    assert run.describe_provenance().endswith("asked for 0 of 3 incremental answers")


def test_no_witness_is_named_where_none_was_asked():
    """R2R-22: where elements are consumed, the answers are matches."""
    consuming = {"consumption": "recent", "r2s": "append", "report": "content-change"}
    run = start(2, fields=consuming, kind="range", slide=None)
    assert all(witnesses == [] for _, witnesses in run)
    assert run.describe_provenance() == "the SPARQL evaluator: consumption=recent"


def test_the_option_of_the_command(tmp_path, capsys):
    (tmp_path / "q.toml").write_text(
        'windows = [{ stream = "s", kind = "time", size = 10, slide = 10 }]\n'
        'body = "SELECT ?x { ?x <urn:p> ?y }"\n'
    )
    (tmp_path / "s.n3t").write_text('<urn:a> <urn:p> "1" "3" .\n<urn:b> <urn:p> "1" "12" .\n')
    words = ["run", f"{tmp_path}/q.toml", "--stream", f"{tmp_path}/s.n3t", "--semantics", "csparql"]
    assert main([*words, "t0=0"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("refengine: provenance: incremental; ") and len(err.splitlines()) == 1
    assert main([*words, "t0=0", "--definition"]) == 0
    assert capsys.readouterr() == (
        out,
        "refengine: provenance: the SPARQL evaluator: it was asked for\n",
    )
    assert [json.loads(line)["witnesses"] for line in out.splitlines()] == [
        ["rdflib", "pyoxigraph"]
    ] * 2
    with pytest.raises(SystemExit, match="2"):
        main([*words, "t0=0", "--definition=no"])
    assert "ignored explicit argument 'no'" in capsys.readouterr().err
