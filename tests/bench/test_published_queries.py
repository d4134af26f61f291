"""The queries of CityBench, LSBench and SRBench: each has an answer at the scale `small`, a wrong
engine gets it wrong, its wordings have the same answers, and languages can say it.
"""

from __future__ import annotations

import pytest
from published_queries import answers_to_wordings, question_of, relations, small_test
from published_queries import kept_streams as kept_streams

from conformance.bench.citybench.queries import QUERIES as OF_CITYBENCH
from conformance.bench.lsbench.declaration import queries as of_lsbench
from conformance.bench.srbench import QUERIES as OF_SRBENCH
from conformance.bench.wordings import make_wordings
from conformance.verdict.outcomes import judge_relations
from conformance.verdict.results import Outcome
from conformance.wrong_engines import WRONG_ENGINES
from refengine import dialects
from refengine.core.query import from_table
from refengine.model.errors import Unsupported

QUERIES = {"citybench": OF_CITYBENCH, "lsbench": of_lsbench(), "srbench": OF_SRBENCH}
ALL = [(benchmark, name) for benchmark, queries in QUERIES.items() for name in queries]

# A wrong engine that gets a query wrong. Those of LSBench's other queries overlook what the query
# asks for (test_lsbench_queries.py).
NEWEST_TRIPLE = "R2R-1 the newest triple"
WRONG_ENGINES_OF = {
    **{("citybench", name): NEWEST_TRIPLE for name in OF_CITYBENCH},
    ("citybench", "Q1"): "R2R-8 names are merged",
    ("citybench", "Q4"): "WIN-3 there is a window before window 0",
    ("citybench", "Q8"): "R2R-2 sets of solutions",
    ("citybench", "Q10"): "REP-1 close by length",
    ("lsbench", "Q1"): "WIN-2 both borders belong to every window",
    ("lsbench", "Q2"): NEWEST_TRIPLE,
    ("lsbench", "Q3"): "REP-1 close by length",
    ("lsbench", "Q4"): NEWEST_TRIPLE,
    ("lsbench", "Q10"): NEWEST_TRIPLE,
    **{("srbench", name): NEWEST_TRIPLE for name in OF_SRBENCH},
    ("srbench", "Q2"): "R2R-8 names are merged",
    ("srbench", "Q4"): "WIN-3 there is a window before window 0",
    ("srbench", "Q6"): "REP-1 close by length",
    ("srbench", "Q7"): "R2S-2 every operator is rstream",
}


@pytest.mark.parametrize(("benchmark", "name"), WRONG_ENGINES_OF)
def test_a_wrong_engine_gets_a_query_wrong(benchmark, name):
    full_name = WRONG_ENGINES_OF[benchmark, name]
    [wrong] = [one for one in WRONG_ENGINES if one.full_name == full_name]
    with wrong.installed():
        answered = relations(benchmark, name)
    judged = judge_relations(
        question_of(benchmark, name),
        small_test(benchmark, name).semantics,
        answered,
        missing=0,
        witnesses=(),
        is_fail_explained=False,
    )
    assert judged.outcome is Outcome.FAIL


@pytest.mark.parametrize(("benchmark", "name"), ALL)
def test_a_query_has_answers_and_they_are_those_of_each_wording(benchmark, name):
    test = small_test(benchmark, name)
    assert sum(relation.rows.total() for relation in relations(benchmark, name)) > 0
    answers = answers_to_wordings(question_of(benchmark, name), test.semantics, test.table)
    merged, declared, numbered = [[relation.rows for relation in one] for one in answers]
    assert merged == declared == numbered


# CQELS 2 takes a GRAPH with the full IRI alone, and windows of whole seconds: LSBench's are such.
SAID = [
    (benchmark, dialect)
    for benchmark in QUERIES
    for dialect in dialects.DIALECTS
    if dialect != "cqels2" or benchmark == "lsbench"
]
# What no wording of a query can say: Dstream has no text in these languages.
UNSAID = {("srbench", "csparql"): {"Q7"}, ("srbench", "cqels"): {"Q7"}}


@pytest.mark.parametrize(("benchmark", "dialect"), SAID)
def test_each_language_can_say_a_query(benchmark, dialect):
    """In one of its wordings."""

    def is_said(name: str) -> bool:
        has_static = bool(QUERIES[benchmark][name].graphs)
        for wording in make_wordings(small_test(benchmark, name).table):
            try:
                dialects.render(from_table(wording), dialect, None, has_static)
            except Unsupported:
                continue
            return True
        return False

    unsaid = {name for name in QUERIES[benchmark] if not is_said(name)}
    assert unsaid == UNSAID.get((benchmark, dialect), set())
