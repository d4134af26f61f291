"""Every semantics of a set that explains a recording: by hand, and against the oracle, asked of one
member after the other.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from refengine import (
    UNKNOWN,
    InvalidSemantics,
    Profile,
    Relation,
    evaluate,
    from_table,
    infer,
    profile,
    row,
    stream,
)
from refengine.core import r2r
from refengine.core.question import Question
from refengine.core.semantics import FIELDS
from refengine.core.values import R2S, CloseRule, Closure, Empty, Tick
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.explanations.changes import find_explaining_trial
from refengine.oracle.inference import (
    SemanticsSet,
    every_value,
    explaining,
    make_set,
    outcomes,
    read_fields,
    usual_values,
    values_of_profile,
)
from refengine.oracle.inference.outcomes import are_alike
from refengine.oracle.trial import RecordingToJudge
from refengine.strategies import inputs, queries, semantics

QUERY = from_table(
    {
        "body": "SELECT ?x {?x ?p ?o}",
        "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
    }
)
EVERY = every_value(QUERY)


def recorded(apps: str, *answers: str) -> RecordingToJudge:
    """Return the recording of some answers, each the names of its rows, over elements: `a3 b10` is
    an element with a at 3 and one with b at 10. No output is missing.
    """
    elements = [
        ((f"<urn:{word[0]}>", "<urn:p>", "<urn:o>"), int(word[1:])) for word in apps.split()
    ]
    relations = [
        Relation(("x",), Counter(row({"x": f"<urn:{name}>"}) for name in names))
        for names in answers
    ]
    question = Question(QUERY, {"s": stream(elements)})
    return RecordingToJudge.of(question, relations, missing=0)


def csparql_but(**values: tuple[object, ...]) -> SemanticsSet:
    """Return the semantics of C-SPARQL's profile with t0 = 0, but for fields that may have others
    than its value.
    """
    fields = values_of_profile(profile("csparql").but(t0=0, horizon="none"))
    return make_set({**fields, **values})


def test_the_closures_that_explain_an_element_on_a_border():
    """[0, 10) and [0, 10] hold a alone of what is before 10; b on the border is in the first window
    by `(]` and `[]`, and the window closes with the arrival after it.
    """
    candidates = csparql_but(closure=EVERY["closure"])
    assert candidates.values("closure") == (None, *Closure)
    first = explaining(candidates, recorded("a3 b10 c12", "a")).semantics
    assert set(first.values("closure")) == {Closure.RIGHT_OPEN, Closure.OPEN}
    first = explaining(candidates, recorded("a3 b10 c12", "ab")).semantics
    assert set(first.values("closure")) == {Closure.LEFT_OPEN, Closure.CLOSED}


def test_several_recordings_leave_what_explains_each():
    """With a at 0, `()` and `(]` leave a out of the first window [0, 10]."""
    candidates = csparql_but(closure=EVERY["closure"])
    left = explaining(candidates, recorded("a3 b10 c12", "a")).semantics
    left = explaining(left, recorded("a0 b3 c12", "ab")).semantics
    assert left.values("closure") == (Closure.RIGHT_OPEN,)


def test_a_set_is_narrowed_joined_and_taken_apart():
    candidates = csparql_but(closure=EVERY["closure"], empty=EVERY["empty"])
    right_open = candidates.where("closure", Closure.RIGHT_OPEN)
    assert (candidates.count, right_open.count) == (15, 3)
    rest = candidates - right_open
    assert rest.count == 12
    assert not rest & right_open
    assert {tuple(one.items()) for one in (rest | right_open).members()} == {
        tuple(one.items()) for one in candidates.members()
    }
    assert profile("csparql").but(t0=0, horizon="none").semantics() in right_open
    assert profile("csparql").but(t0=0, horizon="none").semantics() not in rest


def test_what_means_nothing_is_in_no_set():
    """SEM-2: Istream needs a base, Rstream has none."""
    candidates = csparql_but(r2s=EVERY["r2s"], base=EVERY["base"])
    assert candidates.count == 6  # Rstream, append, and two bases of Istream and of Dstream
    assert None not in candidates.where("r2s", R2S.ISTREAM, R2S.DSTREAM).values("base")


def test_a_field_is_read_with_the_law_that_leaves_it_open():
    """By (] a window is closed by what passes it, whatever the close rule (TICK-6)."""
    candidates = csparql_but(closure=(Closure.LEFT_OPEN,), close_rule=tuple(CloseRule))
    asked = recorded("a3 b10 c12", "ab")
    found = explaining(candidates, asked).semantics
    readings = {one.name: one for one in read_fields(found, [asked.question])}
    assert readings["closure"].is_determined
    assert str(readings["close_rule"]) == (
        "close_rule undetermined: reached, passed (law “Reached is passed”)"
    )


def test_empty_answers_that_were_never_due_are_undetermined():
    candidates = csparql_but(empty=tuple(Empty))
    found = explaining(candidates, recorded("a3 b10 c12", "a")).semantics
    assert found.values("empty") == tuple(Empty)


def test_members_that_answer_alike_are_one_outcome():
    """At 12 c closes [0, 10) or (0, 10], without b or with it; the last window is not closed."""
    candidates = csparql_but(
        closure=(Closure.RIGHT_OPEN, Closure.LEFT_OPEN), tick=EVERY["tick"], empty=EVERY["empty"]
    )
    found = {
        relations and tuple(sum(one.rows.values()) for one in relations): members
        for relations, members in outcomes(candidates, recorded("a3 b10 c12").question)
    }
    assert set(found) == {(1,), (2,), None}
    assert found[1,].values("closure") == (Closure.RIGHT_OPEN,)
    assert found[2,].values("closure") == (Closure.LEFT_OPEN,)
    # without batch ids the batch tick has no meaning (TICK-3)
    assert found[None].values("tick") == (Tick.BATCH,)
    assert sum(members.count for members in found.values()) == candidates.count == 18


VARIED = st.lists(st.sampled_from(FIELDS), max_size=3, unique=True)
DEPENDENT = ("base", "watermark", "watermark_delay", "expiry_rule", "period", "anchor", "offset")


def _check_outcomes(candidates: SemanticsSet, question: Question) -> None:
    """Each member must answer what its outcome has."""
    closed = candidates - candidates.where("t0", UNKNOWN)
    of_member = {
        tuple(fields.values()): one.relations
        for one in outcomes(closed, question)
        for fields in one.semantics.members()
    }
    assert len(of_member) == closed.count
    for choice in closed.semantics():
        try:
            made = [
                report.relation
                for report in evaluate(
                    question.query, question.streams, choice, answer=r2r.defined_answer
                )
            ]
        except RefengineError:
            made = None
        assert are_alike(made, of_member[tuple(vars(choice).values())])


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_each_member_explains_what_the_oracle_says_that_it_explains(data: st.DataObject):
    """A set of values around those of the semantics that gave the answers."""
    query = data.draw(queries(sizes=st.integers(1, 12)))
    truth = data.draw(semantics(query, horizon="none") | semantics(query, horizon="flush"))
    streams = data.draw(inputs(query, truth))
    try:
        reports = list(evaluate(query, streams, truth, answer=r2r.defined_answer, max_reports=40))
    except RefengineError:
        event("no answer")
        return
    recording = RecordingToJudge.of(
        Question(query, streams), [report.relation for report in reports], missing=0
    )
    every = every_value(query)
    values = {name: (getattr(truth, name),) for name in FIELDS}
    for name in (*data.draw(VARIED), *DEPENDENT):
        more = every[name][: 2 if name in DEPENDENT else 8]
        values[name] = tuple(dict.fromkeys((*values[name], *more)))
    candidates = make_set(values, query)
    if candidates.count > 60 or len(query.windows) > 2:
        event("too many to ask one by one")
        return

    _check_outcomes(candidates, recording.question)
    found = explaining(candidates, recording)
    assert truth in found.semantics
    members = {tuple(fields.values()) for fields in found.semantics.members()}
    untried = {tuple(fields.values()) for fields in found.untried.members()}
    answers = SharedAnswers()
    for fields in candidates.members():
        asked = find_explaining_trial(recording, Profile("x", "", fields), answers, 1_000_000)
        event(f"explains: {asked.explains_recording}")
        member = tuple(fields.values())
        assert (member in members) == bool(asked.explains_recording)
        assert (member in untried) == (asked.explains_recording is None)
    assert UNKNOWN not in candidates.values("offset")


def test_infer_asks_a_profile_a_set_or_the_usual_semantics():
    asked = recorded("a3 b10 c12", "a")
    streams = dict(asked.question.streams)
    among = profile("csparql").but(t0=0, horizon="none", closure="unknown")
    first = infer(QUERY, streams, asked.relations, among, missing=0).semantics
    assert set(first.values("closure")) == {Closure.RIGHT_OPEN, Closure.OPEN}
    assert infer(QUERY, streams, asked.relations, first, missing=0).semantics.count == first.count
    with pytest.raises(InvalidSemantics, match="among: ORA-1: must be a profile"):
        infer(QUERY, streams, asked.relations, "csparql", missing=0)  # type: ignore[arg-type]
    usual = make_set(usual_values(QUERY))
    assert usual.values("partial") == ("suppressed",)
    assert set(profile("cqels").fields["report"]) in map(set, usual.values("report"))
