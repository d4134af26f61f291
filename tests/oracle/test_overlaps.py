"""Contents that are confirmed together (ORA-8): the verdict is the one with each confirmed by
itself.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from refengine import (
    Disputed,
    Relation,
    Unsupported,
    from_table,
    incremental,
    literal,
    profile,
    stream,
)
from refengine.core import engine, r2r
from refengine.core.answers import recomputed_answers
from refengine.core.profile import Profile
from refengine.core.query import Body, Query
from refengine.core.question import Question
from refengine.core.reports import ReportMaker
from refengine.core.semantics import Semantics
from refengine.core.window import Content
from refengine.model.elements import XSD, Dataset, Stream
from refengine.oracle import answers as oracle_answers
from refengine.oracle import confirmation, overlaps
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.judge import Judgement, judge
from refengine.oracle.overlaps import AnswerWithinOverlaps, successive_answers
from refengine.oracle.trial import RecordingToJudge

BODIES = (
    "SELECT ?x ?y { ?x <urn:p> ?y }",
    "SELECT ?x ?y { ?x <urn:p> ?y FILTER (?y > 1) }",
    "SELECT ?x ?z { ?x <urn:p> ?y . ?x <urn:q> ?z }",
    "SELECT ?x { { ?x <urn:p> ?y } UNION { ?x <urn:q> ?y } }",
    "SELECT ?x ?z { ?x <urn:p> ?y BIND (?y + 1 AS ?z) }",
    "SELECT ?x { ?x <urn:p> ?y . FILTER (?y < 2) }",
)


def integer(number: int) -> str:
    return literal(str(number), XSD + "integer")


def draw_stream(random: Random) -> Stream:
    """Return some elements, a few of which come at the same instant or again."""
    elements = []
    at = 0
    for _ in range(random.randrange(2, 14)):
        at += random.choice((0, 1, 1, 2, 7))
        predicate = random.choice(("<urn:p>", "<urn:q>"))
        subject = random.choice(("<urn:a>", "<urn:b>", "_:n"))
        elements.append(((subject, predicate, integer(random.randrange(4))), at))
    return stream(elements)


def draw_query(random: Random) -> Query:
    size = random.choice((4, 6, 9))
    window = {"stream": "s", "kind": "time", "size": size, "slide": random.choice((1, 2, size))}
    return from_table({"windows": [window], "body": random.choice(BODIES)})


def draw_recording(
    random: Random, query: Query, streams: dict[str, Stream], semantics: Semantics
) -> list[Relation]:
    """Return what a semantics gives, with one row lost in some."""
    recorded = [report.relation for report in incremental.evaluate(query, streams, semantics)]
    if recorded and random.random() < 0.5:
        place = random.randrange(len(recorded))
        rows = list(recorded[place].rows.elements())[1:]
        recorded[place] = Relation(recorded[place].variables, Counter(rows))
    return recorded


def verdict(*asked: object) -> Judgement | str:
    """Return the verdict, or what is disputed."""
    try:
        return judge(*asked, missing=0)
    except Disputed as error:
        return error.rule


def facts(found: Judgement | str) -> object:
    """Return what a verdict says."""
    if isinstance(found, str):
        return found
    trial = found.trial
    divergence = trial and trial.divergence
    statements = found.witness_statements
    others = {
        name: (testimony.relation, testimony.others[name])
        for name, testimony in statements.others.items()
    }
    return found.passed, trial and trial.semantics, divergence, statements.confirming, others


def draw_lies(random: Random) -> dict[str, str]:
    """Return for some witnesses a number: they lose the rows that have it."""
    lies = random.choice(((), (), ("rdflib",), ("rdflib", "pyoxigraph")))
    number = integer(random.randrange(4))
    return dict.fromkeys(lies, number)


@pytest.mark.parametrize("seed", range(150))
def test_a_verdict_is_the_one_with_each_content_confirmed_by_itself(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a witness loses rows, so that it does not confirm some of the answers."""
    random = Random(seed)
    query = draw_query(random)
    streams = {"s": draw_stream(random)}
    named = profile(random.choice(("cqels", "csparql"))).but(t0=0)
    recording = draw_recording(random, query, streams, named.semantics())
    lies = draw_lies(random)
    ask = r2r.ask_evaluator

    def ask_liar(name: str, body: object, graph: object) -> Relation:
        relation = ask(name, body, graph)
        if name not in lies:
            return relation
        kept = {
            line: count
            for line, count in relation.rows.items()
            if lies[name] not in dict(line).values()
        }
        return Relation(relation.variables, Counter(kept))

    monkeypatch.setattr(oracle_answers.r2r, "ask_evaluator", ask_liar)
    together = verdict(query, streams, named, recording)
    monkeypatch.setattr(confirmation, "may_be_confirmed_together", lambda *asked: False)
    alone = verdict(query, streams, named, recording)
    assert facts(together) == facts(alone)


def test_most_of_the_draws_have_overlaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above says something: overlaps are confirmed in many draws, and refused in some."""
    made = Counter()
    confirm_overlap = overlaps.confirm_overlap

    def count(*asked: object) -> overlaps.Overlap | None:
        overlap = confirm_overlap(*asked)
        made[overlap is not None] += 1
        return overlap

    monkeypatch.setattr(confirmation, "confirm_overlap", count)
    for seed in range(40):
        random = Random(seed)
        query = draw_query(random)
        streams = {"s": draw_stream(random)}
        named = profile("cqels").but(t0=0)
        verdict(query, streams, named, draw_recording(random, query, streams, named.semantics()))
    assert made[True] > 10 and made[False] > 10


def record_growing_window() -> tuple[Query, dict[str, Stream], Profile, list[Relation]]:
    """Return a query over [0, 10), a stream with an element at each of its instants, content change
    from t0 = 0 on, and what the reference engine answers: the content grows by one at each instant.
    """
    elements = [((f"<urn:{at}>", "<urn:p>", integer(at)), at) for at in range(10)]
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
    query = from_table({"windows": [window], "body": BODIES[0]})
    streams = {"s": stream(elements)}
    named = profile("cqels").but(t0=0)
    recording = [
        report.relation for report in incremental.evaluate(query, streams, named.semantics())
    ]
    return query, streams, named, recording


def test_an_answer_is_confirmed_once_for_an_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """[0, 10) has an element at each instant, so the content grows by one at each of them. The
    SPARQL evaluator and both witnesses are asked once for all ten elements, and once for no
    element: the window is empty when it has closed, and what is empty is in no overlap.
    """
    query, streams, named, recording = record_growing_window()
    asked = []
    ask = r2r.ask_evaluator

    def count(name: str, body: object, graph: frozenset) -> Relation:
        asked.append((name, len(graph)))
        return ask(name, body, graph)

    monkeypatch.setattr(oracle_answers.r2r, "ask_evaluator", count)
    found = judge(query, streams, named, recording, missing=0)
    assert found.passed
    assert sorted(asked) == [
        (name, size) for name in ("evaluator", "pyoxigraph", "rdflib") for size in (0, 10)
    ]


def test_what_is_confirmed_for_an_overlap_is_compared_with_incremental_evaluation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A defect of incremental evaluation gives no verdict. The dispute shows the SPARQL evaluator's
    answer over the first content, which holds one element.
    """
    query, streams, named, recording = record_growing_window()
    monkeypatch.setattr(incremental.AnswerCache, "__call__", lambda self, contents: Counter())
    with pytest.raises(Disputed) as refused:
        judge(query, streams, named, recording, missing=0)
    line = (("x", "<urn:0>"), ("y", integer(0)))
    assert refused.value.answers == {r2r.EVALUATOR: Relation(("x", "y"), Counter([line]))}


@pytest.mark.parametrize(
    ("contents", "sizes"),
    [
        # the union of the first three spans 8, twice the longest; with the fourth it would span 10
        ([range(0, 4), range(2, 6), range(4, 8), range(6, 10)], [3, 1]),
        # 3 is in both; then the union spans 5, and twice the longest is 6
        ([range(0, 3), range(2, 5)], [2]),
        ([range(0, 3), range(3, 5)], [1, 1]),
        # what begins earlier counts, too: 2 to 8 spans 7, and 2 to 10 would span 9, twice 4 is 8
        ([range(4, 6), range(2, 5), range(5, 9), range(8, 11)], [3, 1]),
        # 0 to 9 spans 10, twice the longest, be it the last one or the first
        ([range(0, 2), range(1, 4), range(3, 6), range(5, 10)], [4]),
        ([range(0, 5), range(4, 7), range(6, 10), range(9, 11)], [3, 1]),
        # the second group begins anew: 8 to 12 spans 5
        ([range(0, 2), range(8, 11), range(10, 13)], [1, 2]),
        # an empty content is by itself, and ends no group
        ([range(0, 4), range(4, 4), range(2, 6)], [1, 2]),
        # the elements of a partition are not next to one another
        ([(0, 3), (3, 6, 7)], [2]),
    ],
)
def test_a_union_spans_twice_its_longest_content_at_most(
    contents: list[Content], sizes: list[int]
) -> None:
    groups = list(overlaps.split_into_overlaps(contents))
    assert [len(group) for group in groups] == sizes
    together = [content for group in groups for content in group]
    assert sorted(together, key=contents.index) == contents


def test_an_overlap_holds_more_than_twice_its_union_and_the_static_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three contents with 8 elements and a union of 4 are no less work together; with a fourth they
    are. The one solution joins the element at 1 with a static triple.
    """
    elements = [((f"<urn:{at}>", "<urn:p>", f"<urn:{at}>"), at) for at in range(4)]
    window = {"stream": "s", "kind": "time", "size": 4, "slide": 1}
    body = "SELECT ?x ?z { ?x <urn:p> ?y . ?y <urn:q> ?z }"
    query = from_table({"windows": [window], "body": body})
    static = ("<urn:1>", "<urn:q>", "<urn:z>")
    question = Question(query, {"s": stream(elements)}, frozenset([static]))
    recorded = RecordingToJudge.of(question, [])
    answers = SharedAnswers()
    planned = answers.plan_of(recorded, profile("cqels").but(t0=0).semantics())

    def confirm(*contents: Content) -> overlaps.Overlap | None:
        witnesses = ("rdflib", "pyoxigraph")
        return overlaps.confirm_overlap(recorded, planned, contents, answers, witnesses)

    contents = [range(0, 3), range(1, 4), range(2, 4)]
    assert confirm(*contents) is None
    overlap = confirm(*contents, range(3, 4))
    assert overlap is not None
    line = (("x", "<urn:1>"), ("z", "<urn:z>"))
    triple = ("<urn:1>", "<urn:p>", "<urn:1>")
    assert overlap.derived == ((line, frozenset([triple, static])),)
    assert overlap.rows_of(frozenset([triple, static])) == {line: 1}
    assert overlap.rows_of(frozenset([triple])) == {}
    whole = overlaps.AnswerWithinOverlaps([overlap], answers)
    assert whole(query.body, frozenset([triple, static])) == Relation(("x", "z"), Counter([line]))
    assert whole(query.body, frozenset([triple])) == Relation(("x", "z"), Counter())
    other = ("<urn:9>", "<urn:p>", "<urn:1>")  # in no overlap
    found = whole(query.body, frozenset([other, static]))
    assert found == Relation(("x", "z"), Counter([(("x", "<urn:9>"), ("z", "<urn:z>"))]))

    # a verdict can be ended before each of these answers, and each is counted once
    calls: list[str] = []
    limited = SharedAnswers(before_answer=lambda: calls.append("answer"))
    whole = overlaps.AnswerWithinOverlaps([overlap], limited)
    for number, graph in enumerate([{triple, static}, {triple}, {other, static}], 1):
        whole(query.body, frozenset(graph))
        assert len(calls) == number

    # what is heard of an overlap that is not confirmed is forgotten, and nothing else
    (heard,) = answers.testimonies_used
    for error in (Disputed("no", rule="R2R-5"), Unsupported("no", rule="R2R-5")):

        def refuse(*asked: object, error: Exception = error) -> Relation:
            answers.testimonies_used.append(heard)
            raise error

        monkeypatch.setattr(answers, "confirmed_answer", refuse)
        assert confirm(*contents, range(3, 4)) is None
        assert answers.testimonies_used == [heard]


def draw_elements_beside_static(random: Random) -> tuple[Stream, Dataset]:
    """Return some elements, a few of which have the same triples or nearly equal numbers, and
    static data with the same blank node.
    """
    numbers = [literal(number, XSD + "float") for number in ("1", "1.0000006", "1.0000012", "2")]
    elements = []
    at = 0
    for _ in range(random.randrange(6, 16)):
        at += random.choice((0, 1, 1, 2))
        triples = [
            (random.choice(("<urn:a>", "_:n")), "<urn:p>", random.choice(numbers))
            for _ in range(random.randrange(1, 3))
        ]
        elements.append((triples, at))
    static = {("_:n", "<urn:q>", random.choice(numbers)), ("<urn:a>", "<urn:q>", "<urn:z>")}
    return stream(elements), frozenset(static if random.random() < 0.5 else ())


BODIES_OF_ONE_GROUP = (
    "SELECT ?y { ?x <urn:p> ?y }",
    "SELECT ?x ?y { ?x <urn:p> ?y FILTER(?y < 2) }",
    "SELECT ?y ?z { ?x <urn:p> ?y . ?x <urn:q> ?z }",
    "SELECT ?x ?w { ?x <urn:p> ?y . ?x <urn:p> ?z BIND(?y + ?z AS ?w) }",
    "SELECT ?z { BIND(1 AS ?z) }",
)
SEMANTICS = (
    {},
    {"r2s": "Dstream"},
    {"r2s": "Rstream", "base": "none"},
    {"base": "previous-new"},
    {"r2s": "append", "base": "none"},
    {"collection": "set"},
)


@pytest.mark.parametrize("seed", range(120))
def test_answers_made_one_from_the_other_are_those_over_each_content(seed: int) -> None:
    """Of some overlaps all is made from the answer before; the contents of others, and of none, are
    evaluated by themselves.
    """
    random = Random(seed)
    elements, static = draw_elements_beside_static(random)
    size = random.choice((4, 6))
    window = {"stream": "s", "kind": "time", "size": size, "slide": random.choice((1, size))}
    query = from_table({"windows": [window], "body": random.choice(BODIES_OF_ONE_GROUP)})
    recorded = RecordingToJudge.of(Question(query, {"s": elements}, static), [])
    answers = SharedAnswers()
    semantics = profile("cqels").but(t0=0, **random.choice(SEMANTICS)).semantics()
    planned = answers.plan_of(recorded, semantics)
    contents = [at.content for at in engine.evaluations(planned)]
    groups = overlaps.split_into_overlaps(dict.fromkeys(contents))
    confirmed = (
        overlaps.confirm_overlap(recorded, planned, group, answers, ("pyoxigraph",))
        for group in groups
        if random.random() < 0.8
    )
    found = [overlap for overlap in confirmed if overlap is not None]

    by_contents = recomputed_answers(query, planned, static, AnswerWithinOverlaps(found, answers))
    by_changes = successive_answers(recorded, planned, found, answers)
    outputs = []
    for successive in (by_contents, by_changes):
        maker = ReportMaker(query, planned, successive)
        steps = map(maker.step, engine.evaluations(planned))
        outputs.append([(Counter(step.answer), step.rows, step.emitted) for step in steps])
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize("place", [0, 3])
def test_another_incremental_answer_is_disputed(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the difference of two answers over an overlap, or of its first answer, a row is lost. A
    row that is lost and then found again is disputed, too.
    """
    query, streams, named, recording = record_growing_window()
    find_change = incremental.AnswerCache.find_change
    compute = incremental.AnswerCache.__call__
    lost = (("x", f"<urn:{place}>"), ("y", integer(place)))

    def lose(cache: incremental.AnswerCache, contents: tuple[Content, ...]) -> Counter:
        rows = Counter(compute(cache, contents))
        if len(contents[0]) in (place + 1, place + 2):
            del rows[lost]
        return rows

    def lose_for_a_while(
        cache: incremental.AnswerCache, before: Content, after: Content
    ) -> tuple[list, list] | None:
        change = find_change(cache, before, after)
        assert change is not None
        came, gone = change
        if len(after) == place + 1:
            came = [line for line in came if line != lost]
        if len(after) == place + 3:
            came = [*came, lost]
        return came, gone

    assert judge(query, streams, named, recording, missing=0).passed
    monkeypatch.setattr(incremental.AnswerCache, "__call__", lose)
    monkeypatch.setattr(incremental.AnswerCache, "find_change", lose_for_a_while)
    with pytest.raises(Disputed, match="incremental evaluation and the SPARQL evaluator disagree"):
        judge(query, streams, named, recording, missing=0)


def test_contents_that_share_no_element_are_confirmed_by_themselves() -> None:
    """Their union would be as much work, and a join over it more."""
    apart = [range(0, 4), range(4, 8)]
    assert list(overlaps.split_into_overlaps(apart)) == [[range(0, 4)], [range(4, 8)]]
    assert list(overlaps.split_into_overlaps([range(0)])) == [[range(0)]]
    assert list(overlaps.split_into_overlaps([])) == []


def test_a_witness_that_loses_one_solution_and_invents_another_confirms_no_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """ORA-8: both witnesses match "+" and not "_", the SPARQL evaluator "_" and not "+". Over both
    elements each gives the row once, and over the first one alone they differ.
    """
    letter, sign = literal("_"), literal("+")
    body = f"SELECT ?x {{ ?x <urn:p> ?y FILTER (?y = {letter}) }}"
    window = {"stream": "s", "kind": "time", "size": 10, "slide": 1}
    query = from_table({"windows": [window], "body": body})
    graphs = [("<urn:a>", "<urn:p>", sign), ("<urn:a>", "<urn:p>", letter)]
    graphs += [(f"<urn:z{number}>", "<urn:q>", letter) for number in range(6)]
    streams = {"s": stream([(graph, at) for at, graph in enumerate(graphs)])}
    named = profile("csparql").but(t0=0)
    recording = [r.relation for r in incremental.evaluate(query, streams, named.semantics())]
    ask = r2r.ask_evaluator

    def ask_liar(name: str, asked: Body, graph: Dataset) -> Relation:
        if name == r2r.EVALUATOR:
            return ask(name, asked, graph)
        return ask(name, Body(asked.text.replace(letter, sign)), graph)

    monkeypatch.setattr(oracle_answers.r2r, "ask_evaluator", ask_liar)
    assert verdict(query, streams, named, recording) == "R2R-5"


@pytest.mark.parametrize(
    "text, whole",
    [
        (
            "PREFIX p: <urn:select> select ?x FROM <urn:g> where { ?x p: ?y }",
            "PREFIX p: <urn:select> SELECT * FROM <urn:g> where { ?x p: ?y }",
        ),
        ("SELECT ?x { ?x <urn:p> ?y } ", "SELECT * { ?x <urn:p> ?y } "),
        ("SELECT ?x { { ?x <urn:p> ?y } UNION { ?x <urn:q> ?y } }", None),
        ("SELECT ?x { ?x <urn:p> [] }", None),
        ("SELECT (?y + 1 AS ?z) { ?x <urn:p> ?y }", None),
    ],
)
def test_all_variables_are_selected_where_they_say_what_a_row_rests_on(text, whole) -> None:
    found = overlaps.with_every_variable(Body(text)) if overlaps.projects(Body(text)) else None
    assert (found and found.text) == whole
