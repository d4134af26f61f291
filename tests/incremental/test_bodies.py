"""A maintained body answers as the definition does, content after content in one long run. So do
the solutions of a whole stream.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

from body_trials import BodyTrial, draw_trial
from conftest import draws

from refengine import Body, stream
from refengine.core import r2r
from refengine.incremental.algebra.body import MaintainedBody
from refengine.incremental.answer_cache import SupportedSolutions
from refengine.incremental.coverage import NotCovered
from refengine.incremental.maintained import AnswerDelta
from refengine.model import compare
from refengine.model.elements import Bag, Triple

CONTENTS = 12  # of one run


def assert_is_the_definitions(answer: Bag, body: Body, triples: Iterable[Triple]) -> None:
    """Assert that an answer over triples is the definition's. Where that has no single answer, it
    raises Unsupported, and the trial fails.
    """
    defined = r2r.defined_answer(body, frozenset(triples)).rows
    assert compare.equal(answer, defined), (body.text, sorted(triples), answer, defined)


def run_maintained(trial: BodyTrial, r: Random) -> int:
    """Insert and retract triples, some of them several times, and compare the answer with the
    definition's again and again, until something is met that is not covered. Return how many
    answers were compared.
    """
    delta = AnswerDelta(is_set=False, has_baseline=False)
    body = Body(trial.text)
    copies: Counter[Triple] = Counter()
    compared = 0
    try:
        maintained = MaintainedBody(body, delta.change)
        while compared < CONTENTS:
            for _ in range(r.choice([1, 1, 2, 3])):
                triple = r.choice(trial.triples)
                if copies[triple] and r.random() < 0.6:
                    copies[triple] -= 1
                    maintained.retract(triple)
                else:
                    copies[triple] += 1
                    maintained.insert(triple)
            maintained.flush()
            assert_is_the_definitions(delta.now, body, +copies)
            compared += 1
    except NotCovered:
        pass
    return compared


def run_supported(trial: BodyTrial, r: Random) -> int:
    """Ask the solutions of one stream for contents in any order, and compare each answer with the
    definition's. A content that is not covered must leave nothing behind. Return how many answers
    were compared.
    """
    triples = list(dict.fromkeys(trial.triples))
    items = [(triple, 2 * time) for time, triple in enumerate(triples)]
    # two at one instant, and some come again when the span is over
    items += [(triple, 2 * len(items) + 20) for triple in triples[:2]]
    elements = stream(items).elements
    times = [element.app for element in elements]
    body = Body(trial.text)
    try:
        supported = SupportedSolutions(body, elements, times, span=r.choice([4, 12]))
    except NotCovered:
        return 0
    compared = 0
    before, answer_before = range(0), Counter()
    for _ in range(CONTENTS):
        start = r.randint(0, len(elements))
        content = range(start, r.randint(start, len(elements)))
        if not supported.covers(content):
            continue
        try:
            answer = supported.answer(content)
        except NotCovered:
            continue
        if (change := supported.find_change(before, content)) is not None:
            came, gone = map(Counter, change)
            assert answer_before + came == answer + gone
        before, answer_before = content, answer
        assert_is_the_definitions(
            answer, body, frozenset().union(*(elements[i].graph for i in content))
        )
        compared += 1
    return compared


GRAPH_PATTERNS = (
    "?x <urn:p> ?y",
    "?x <urn:p> ?x",
    "?x ?q ?y . ?y <urn:p> ?x",
    "?x ?x ?y . ?y <urn:p> <urn:a>",
    "?x ?x ?x",
    "<urn:a> <urn:p> <urn:b> . ?x <urn:q> ?y",
    "?x <urn:p> ?y . ?y <urn:q> ?z . ?z <urn:p> ?x",
    "?x <urn:p> ?y . ?z <urn:p> ?y . ?x <urn:q> ?w FILTER(?x != ?z)",
    "_:k <urn:p> ?x . _:k <urn:q> ?y",
    "?x <urn:p> ?y FILTER(?x = ?y || ?x = <urn:a>) FILTER(?y != <urn:b>)",
    "{ { ?x <urn:p> ?y FILTER(?x != <urn:a>) } FILTER(?y != <urn:b>) } ?y <urn:q> ?z",
    "{ ?x <urn:p> ?y } UNION { ?x <urn:q> ?y }",
    "{ ?x <urn:p> ?y } UNION { ?z <urn:q> ?y . ?y ?x ?z } FILTER(!BOUND(?z) || ?y != <urn:a>)",
    "{ { { ?x <urn:p> ?y } UNION { ?y <urn:q> ?x } } FILTER(?x != <urn:a>) } FILTER(?y != ?x)",
    "{ { ?x <urn:p> ?y } UNION { ?y <urn:q> ?x } } { ?y <urn:p> ?z }",
    "?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?z }",
    "?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?z FILTER(?z != ?y) } FILTER(BOUND(?z) || ?x = ?y)",
    "?x <urn:p> ?y OPTIONAL { { ?x <urn:q> ?z } UNION { ?x <urn:p> ?z } }",
    "{ ?x <urn:p> ?y } { ?z <urn:q> ?w }",
    "?x <urn:p> ?y FILTER(2 > 1)",
    "?x <urn:p> ?y . ?y <urn:q> ?z FILTER(1 > 2)",
    "?x (<urn:p>|^<urn:q>) ?y . ?y <urn:q> ?z FILTER(?x != ?z)",
    "?x !(<urn:p>|^<urn:q>)+ ?y",
    "?x <urn:p>* ?y . ?y <urn:q>/<urn:p>? <urn:a>",
)
SELECTIONS = (
    "SELECT * {{ {} }}",
    "SELECT ?x {{ {} }}",
    "SELECT DISTINCT ?y ?y {{ {} }}",
    "SELECT ?x (COUNT(?y) AS ?n) {{ {} }} GROUP BY ?x",
    "SELECT (COUNT(DISTINCT ?y) AS ?n) (COUNT(*) AS ?m) {{ {} }}",
    "SELECT DISTINCT (COUNT(*) AS ?n) {{ {} }} GROUP BY ?x ?y HAVING(COUNT(*) < 3)",
    "SELECT ?y ?x {{ {} }} ORDER BY DESC(?x) ?y LIMIT 3",
    "SELECT (?y AS ?k) (?k AS ?l) (COUNT(?x) AS ?n) {{ {} }} GROUP BY ?y ORDER BY ?y",
)


def test_each_form_answers_as_the_definition_does():
    """Over all the triples of two IRIs and two predicates, which come and go."""
    triples = tuple(
        (f"<urn:{s}>", f"<urn:{p}>", f"<urn:{o}>") for s in "abp" for p in "pq" for o in "abp"
    )
    r = Random(0)
    for selection in SELECTIONS:
        for pattern in GRAPH_PATTERNS:
            trial = BodyTrial(selection.format(pattern), triples)
            if "?y" in pattern or "?y" not in selection:
                assert run_maintained(trial, r) == CONTENTS, trial.text
                assert run_supported(trial, r) > 0, trial.text


def test_bodies_answer_as_the_definition_does():
    compared: Counter[str] = Counter()
    for seed in range(draws(800)):
        r = Random(seed)
        trial = draw_trial(r)
        compared["maintained"] += run_maintained(trial, r)
        compared["supported"] += run_supported(trial, r)
    assert min(compared.values()) > draws(800)
