"""What a verdict is made of, by hand: the states of a trial, the values of t0 that are tried, the
confirmation by the SPARQL evaluator and by witnesses, and what would explain a fail (ORA-1 to
ORA-3, ORA-8, ORA-11, ORA-13).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from small_streams import SELECT, bag, relations, streams

from refengine import (
    UNKNOWN,
    Between,
    Body,
    Disputed,
    InvalidSemantics,
    Mode,
    OneOf,
    Profile,
    Query,
    Relation,
    Unsupported,
    Window,
    WindowKind,
    literal,
    profile,
    stream,
)
from refengine.core import engine, r2r
from refengine.core.question import Question
from refengine.core.values import (
    R2S,
    T0,
    Base,
    Closure,
    Collection,
    Condition,
    MissedInstants,
    Tick,
)
from refengine.incremental import AnswerCache
from refengine.model.elements import XSD, Bag, Stream, row
from refengine.model.errors import RefengineError, TooManyReports
from refengine.oracle import assignments as tried_values
from refengine.oracle import attempts, confirmation, derivations, t0_classes
from refengine.oracle import judge as judging
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import fit_to_stated_window
from refengine.oracle.beginnings import (
    T0Candidates,
    find_profile_t0_candidates,
    find_t0_candidates,
)
from refengine.oracle.comparison import Alignment
from refengine.oracle.derivations import Derivation
from refengine.oracle.explanations import changes, find_explanations, readings
from refengine.oracle.explanations import search as explaining
from refengine.oracle.explanations.changes import FieldChange, ProfileSearch
from refengine.oracle.judge import WrongBorders, find_wrong_windows, judge
from refengine.oracle.t0_classes import T0Class
from refengine.oracle.trial import (
    Missing,
    RecordingToJudge,
    Reports,
    State,
    Trial,
    advance,
    find_accepting_state,
    first_and_last_instant,
)
from refengine.sparql.witnesses import NoSay

QUERY = Query((Window("s", WindowKind.TIME, 5, 5),), SELECT)
CLOSING = profile("csparql").but(t0=0, horizon="flush")


FOUR = streams(a=1, b=6, c=11, d=16)


def recording(*texts: str, given: dict[str, Stream] = FOUR, **options) -> RecordingToJudge:
    return RecordingToJudge.of(Question(QUERY, given), relations(*texts), **options)


# The states of a trial (ORA-3)


def test_bounds_of_what_is_missing():
    assert Missing.of(2) == Missing(2, 2) and Missing.of(Missing(1, 2)) == Missing(1, 2)
    assert str(Missing(2, 2)) == "2 at each end"
    assert str(Missing(1, 2)) == "1 before the first and 2 after the last"


def test_options_of_a_recording():
    plain = recording("a")
    assert (plain.missing, plain.mode, plain.windows, plain.window_closure) == (
        Missing(1, 1),
        Mode.VALUE,
        (),
        None,
    )
    stated = recording(
        "a", "b", missing=0, mode=Mode.TERM, windows=[None, (0, 5)], window_closure=Closure.CLOSED
    )
    assert (stated.missing, stated.mode) == (Missing(0, 0), Mode.TERM)
    assert stated.first_stated_window() == ((0, 5), Closure.CLOSED)
    assert recording("a", "b", windows=[None, None]).windows == ()
    assert plain.first_stated_window() is None and plain.stated_window(0, None) is None


@pytest.mark.parametrize(
    ("closure", "expected"),
    [("[)", (0, 9)), ("(]", (1, 10)), ("[]", (0, 10))],
)
def test_the_instants_of_a_window(closure, expected):
    assert first_and_last_instant((0, 10), Closure(closure)) == expected
    assert first_and_last_instant(None, Closure(closure)) is None


def test_a_stated_window_holds_the_instants_of_a_report():
    one = recording("a", "b", windows=[(-1, 9)], window_closure=Closure.LEFT_OPEN)
    assert one.is_about(0, (0, 10), Closure.RIGHT_OPEN)
    assert not one.is_about(0, (-1, 9), Closure.RIGHT_OPEN)
    # nothing is compared where no window is stated; a report without borders is about none
    assert one.is_about(1, (7, 9), Closure.RIGHT_OPEN) and one.is_about(1, None, None)
    assert not one.is_about(0, None, None)
    own = recording("a", windows=[(0, 10)])
    assert own.is_about(0, (0, 10), Closure.LEFT_OPEN)
    assert not own.is_about(0, (0, 11), Closure.LEFT_OPEN)


@pytest.mark.parametrize(
    ("states", "output", "missing", "expected"),
    [
        ([(0, 0, 0)], "a", Missing(1, 1), [(1, 0, 0), (0, 1, 0)]),
        ([(0, 0, 0)], "a", Missing(0, 1), [(0, 1, 0)]),
        ([(0, 0, 0)], "x", Missing(1, 1), [(1, 0, 0)]),
        ([(1, 0, 0)], "x", Missing(1, 1), []),
        ([(1, 0, 0), (0, 1, 0)], "b", Missing(2, 1), [(2, 0, 0), (0, 2, 0)]),
        ([(1, 1, 0)], "x", Missing(2, 2), []),
        ([(0, 2, 0)], "x", Missing(1, 1), [(0, 2, 1)]),
        ([(0, 2, 1)], "x", Missing(1, 1), []),
        ([(0, 2, 0)], "x", Missing(1, 0), []),
    ],
)
def test_one_more_output(states, output, missing, expected):
    recorded = recording("a", "b", missing=missing)
    found = advance([State(*state) for state in states], bag(output), recorded)
    assert found == {State(*state) for state in expected}


def test_an_output_beside_no_relation():
    assert advance([State(0, 0, 0)], bag("a"), recording(missing=Missing(0, 9))) == set()
    stated = recording("a", missing=0, windows=[(0, 5)])
    for borders, expected in (
        ((0, 5), {State(0, 1, 0)}),
        ((5, 10), set()),
        (None, set()),
    ):
        assert advance([State(0, 0, 0)], bag("a"), stated, borders, Closure.RIGHT_OPEN) == expected


def test_the_state_with_the_fewest_outputs_missing():
    recorded = recording("a", "b", missing=9)
    states = [State(*each) for each in ((3, 2, 0), (1, 2, 1), (0, 2, 2), (0, 1, 0), (2, 2, 1))]
    assert find_accepting_state(states, recorded) == State(0, 2, 2)
    assert find_accepting_state([State(0, 2, 3), State(1, 2, 1)], recorded) == State(1, 2, 1)
    assert find_accepting_state([State(0, 1, 0)], recorded) is None
    assert find_accepting_state([State(0, 0, 0)], recording(missing=9)) == State(0, 0, 0)


@pytest.mark.parametrize("missing", [0, 1, 9, Missing(0, 1), Missing(1, 0)])
def test_a_recording_without_relations_lacks_the_first_report_first(missing):
    # ORA-3: no output may be missing; the windows hold a, b, c and d, so four come too few.
    assert recording(missing=missing).missing == Missing(0, 0)
    judgement = judge(QUERY, FOUR, CLOSING, [], missing=missing)
    assert not judgement.passed
    assert (judgement.alignment.before, judgement.alignment.after) == (0, 4)
    assert judgement.trial.divergence.window == (0, 5)
    assert judgement.trial.divergence.cost.rows == 8


def test_what_a_pass_rests_on():
    found = judge(QUERY, FOUR, CLOSING, relations("b", "c"), missing=1)
    trial = found.trial
    assert found.passed and found.tried == 1 and found.t0_candidates is None
    assert (trial.accepting_state, trial.most_matched) == (State(1, 2, 1), 2)
    assert trial.computed_by == "incremental evaluation" and trial.is_order_known
    assert (trial.t0_class, trial.divergence) == (T0Class(0, 0, 0), None)
    assert [each.relation for each in found.alignment.beside] == relations("b", "c")
    assert (found.alignment.before, found.alignment.after) == (1, 1)
    assert [each.relation for each in found.reports.first(9)] == relations("a", "b", "c", "d")
    assert found.missing == Missing(1, 1) and found.mode is Mode.VALUE
    assert not found.is_right_but_for_windows and found.setting.semantics == trial.semantics
    blank = Query(QUERY.windows, Body("SELECT ?x { ?x <urn:p> ?y FILTER(ISBLANK(BNODE())) }"))
    by_evaluator = judge(blank, FOUR, CLOSING, relations("b", "c"), missing=1).trial
    assert by_evaluator.computed_by == "the SPARQL evaluator (BNODE())"
    assert by_evaluator.last_answer is None
    as_terms = judge(QUERY, FOUR, CLOSING, relations("b", "c"), missing=1, mode=Mode.TERM).trial
    assert as_terms.computed_by == "the SPARQL evaluator (answers are compared as terms)"


def test_a_fail_for_the_stated_windows_alone():
    """ORA-11: of the second relation the window is [5, 10), and not [6, 11)."""
    recorded = relations("a", "b", "c")
    windows = [(0, 5), (6, 11), None]
    found = judge(QUERY, FOUR, CLOSING, recorded, missing=1, windows=windows)
    assert not found.passed and found.is_right_but_for_windows
    (wrong,) = found.wrong_windows
    evaluations = [report.evaluation for report in found.reports.first(4)]
    assert wrong == WrongBorders(2, evaluations[1], (5, 10), (6, 11))
    stated = replace(found.recorded, windows=())
    assert find_wrong_windows(stated, found.trial) == ()


# The values of t0 (ORA-2)


def candidates(kind: WindowKind, size, slide, closure="[)", t0=UNKNOWN, times=(3, 12), **fields):
    given = {"s": streams(**{"abcdefgh"[i]: at for i, at in enumerate(times)})["s"]}
    registered = fields.pop("registered", None)
    query = Query((Window("s", kind, size, slide),), SELECT, registered=registered)
    semantics = CLOSING.but(closure=closure, horizon="none", **fields).semantics()
    planned = engine.plan(query, given, semantics)
    return find_t0_candidates(query, planned, t0), planned


TIME = WindowKind.TIME


@pytest.mark.parametrize(
    ("arguments", "fields", "expected"),
    [
        # all windows that hold the element at 3 are there from t0 = -7 on; so are they 5 earlier
        ((TIME, 10, 5), {}, (-11, 3, ())),
        ((TIME, 10, 10), {}, (-16, 3, ())),
        # engines are known to begin at 0 and when the query is registered, if that is later, or
        # earlier where windows without elements are reported
        ((TIME, 10, 5), {"times": (-4, 12)}, (-18, -4, (0,))),
        ((TIME, 10, 5), {"times": (40, 42)}, (26, 40, (0,))),
        ((TIME, 10, 5), {"times": (40, 42), "registered": 39}, (26, 40, (0,))),
        ((TIME, 10, 5), {"times": (40, 42), "registered": 41}, (26, 40, (0, 41))),
        ((TIME, 10, 5), {"times": (40, 42), "report": "window-close,non-empty"}, (26, 40, ())),
        (
            (TIME, 10, 5),
            {"times": (-4, 12), "report": "window-close,content-change", "registered": -30},
            (-18, -4, (0,)),
        ),
        ((TIME, 10, 5), {"times": (-4, 12), "registered": -30}, (-18, -4, (-30, 0))),
        # without an element as if one came at 0
        ((TIME, 10, 5), {"times": ()}, (-14, 0, ())),
        # a period that counts from t0 comes round with the slide after 15
        (
            (TIME, 10, 5),
            {"report": "window-close,periodic", "period": 3, "anchor": "t0"},
            (-21, 3, ()),
        ),
        (
            (TIME, 10, 5),
            {"report": "window-close,periodic", "period": 3, "anchor": 0},
            (-11, 3, ()),
        ),
        # of tuples the first is at 1; under the time tick every time is later than s0 from -9 on
        ((WindowKind.TUPLE, 1, 1), {"times": (-8, -1), "tick": "tuple"}, (0, 1, ())),
        ((WindowKind.TUPLE, 1, 1), {"times": (-8, -1), "tick": "time"}, (-9, 1, ())),
        ((WindowKind.TUPLE, 1, 3), {"times": (-8, -1), "tick": "time"}, (-11, 1, ())),
        ((WindowKind.TUPLE, 1, 1), {"times": (3, 12), "tick": "time"}, (0, 1, ())),
        # of a landmark window, t0 is where it begins: at the first element, or at an instant before
        (
            (WindowKind.LANDMARK, None, None),
            {"report": "content-change", "tick": "tuple"},
            (2, 3, ()),
        ),
        # where the lower border does not belong to it, one that begins at 3 loses the element at 3
        (
            (WindowKind.LANDMARK, None, None),
            {"report": "content-change", "tick": "tuple", "closure": "(]"},
            (1, 3, ()),
        ),
        ((TIME, 10, 5), {"t0": Between(4, 7)}, (4, 7, ())),
        ((TIME, 10, 5), {"t0": Between(4, 4)}, (4, 4, ())),
    ],
)
def test_the_values_of_t0_that_are_tried(arguments, fields, expected):
    fields = {"report": "window-close", **fields}
    found, _ = candidates(*arguments, **fields)
    assert found == T0Candidates(*expected)


@pytest.mark.parametrize(("t0", "passes"), [(23, True), (24, False), (UNKNOWN, True)])
def test_an_unknown_t0_may_be_so_early_that_a_window_with_a_lag_shifts_at_the_first_element(
    t0, passes
):
    """ORA-2, TICK-7: with ω = 4 and the lag 8, a at 20 is seen at 28 the first time, where b comes.
    Under `eager` 28 is evaluated if another window takes its place there: with t0 = 23 the window
    (15, 19] is followed by (16, 20]. With t0 = 24 (16, 20] is the first window, and is not seen.
    """
    query = Query((Window("s", WindowKind.RANGE, 4, lag=8),), SELECT)
    eager = profile("esper").but(horizon="none", t0=t0)
    assert judge(query, streams(a=20, b=28), eager, relations("a"), missing=0).passed == passes


@pytest.mark.parametrize(("t0", "passes"), [(-8, True), (-1, False), (UNKNOWN, True)])
def test_an_unknown_t0_of_tuple_windows_may_be_before_all_times(t0, passes):
    """TICK-2, ORA-2: with ω = β = 1, (] and a, b, c at -2, -1, -1, an engine with t0 = -8 looks at
    a and b, whose times are later than s0 = -8. At b it reports (0, 1], which holds a. With t0 = -1
    no time is later than s0, and nothing is looked at.
    """
    query = Query((Window("s", WindowKind.TUPLE, 1, 1),), SELECT)
    fields = {"closure": "(]", "tick": "time", "horizon": "none", "empty": "suppress", "t0": t0}
    given = streams(a=-2, b=-1, c=-1)
    assert judge(query, given, CLOSING.but(**fields), relations("a"), missing=0).passed == passes


def test_the_published_formulas_are_tried_too():
    """WIN-7, under (]: of ω = 10, β = 5 and t1 = 40 they give 40, 30, 30, -6, -5, 34 and 29."""
    found, _ = candidates(TIME, 10, 5, closure="(]", times=(40, 42), report="window-close")
    assert (found.lo, found.hi) == (26, 40)
    assert set(found.others) == {-6, -5, 0}
    # of t1 = -40 they give -51, -50, -50, -6, -5, -1 and -51
    found, _ = candidates(TIME, 10, 5, closure="(]", times=(-40, 42), report="window-close")
    assert (found.lo, found.hi, found.others) == (-54, -40, (-6, -5, -1, 0))
    # of ids 0, -5, -5, -5 and -10; there is no formula by kafka-streams
    found, _ = candidates(
        WindowKind.TUPLE, 10, 5, closure="(]", report="window-close", tick="tuple"
    )
    assert (found.lo, found.hi, found.others) == (-13, 1, ())


def test_a_range_of_t0_in_words():
    assert str(T0Candidates(-3, 4)) == "from -3 to 4"
    assert str(T0Candidates(-3, 4, (9, T0.FIRST))) == "from -3 to 4, 9, first-element"
    with pytest.raises(InvalidSemantics) as refused:
        candidates(TIME, 10, 5, t0=Between(4, 3))
    reason = "t0 must be in a range with at least one value, got 4 to 3"
    assert str(refused.value) == f"ORA-2: {reason}"


def test_the_values_of_a_profile():
    question = Question(QUERY, FOUR)

    def found(**fields):
        return find_profile_t0_candidates(question, CLOSING.but(**fields), SharedAnswers().plan)

    assert found() is None and found(t0=OneOf((0, 1))) is None
    assert found(t0=UNKNOWN) == T0Candidates(-8, 1, ())
    assert found(t0=Between(3, 4)) == T0Candidates(3, 4)
    assert found(t0=UNKNOWN, closure="none") is None  # such windows have borders
    # without lateness the stream has no meaning; 1 is the first instant once it is reordered
    late = Stream(
        tuple(streams(a=6)["s"]) + tuple(each._replace(sys=2) for each in streams(b=1)["s"])
    )
    question = Question(QUERY, {"s": late})
    assert found(t0=UNKNOWN, allowed_lateness="reject") is None
    reordered = found(t0=UNKNOWN, allowed_lateness=OneOf(("reject", 9)))
    assert reordered == T0Candidates(-8, 1, ())
    # one that means nothing hides no other
    lenient = CLOSING.but(allowed_lateness=OneOf(("reject", 9)))
    ((semantics, _),) = tried_values.assignments(question, lenient, SharedAnswers().plan)
    assert semantics.allowed_lateness == 9


def test_the_class_of_a_t0_that_is_given():
    """The class of a stated t0 holds this value alone, and so does that of a policy if there is one
    window. With several windows a policy gives each a t0 of its own. So the semantics keeps the
    policy, and the class (0, 0, 0) stands for no values.
    """
    given = {"s": FOUR["s"], "r": streams(z=3)["s"]}
    two = Query((Window("s", TIME, 5, 5), Window("r", TIME, 5, 5)), SELECT)
    for query, t0, expected in (
        (QUERY, "first-element", (1, T0Class(1, 1, 1))),
        (QUERY, 7, (7, T0Class(7, 7, 7))),
        (two, "first-element", (T0.FIRST, T0Class(0, 0, 0))),
    ):
        question = Question(query, given)
        plan = SharedAnswers().plan
        ((semantics, t0_class),) = tried_values.assignments(question, CLOSING.but(t0=t0), plan)
        assert (semantics.t0, t0_class) == expected


def test_too_many_classes_of_t0(monkeypatch):
    """ORA-2: of ω = β = 10 and an element at 12 the windows of t0 = 0 to 9 hold it in [10, 20),
    …, [3, 13), or in [12, 22). These are three classes, and so are those of each further slide.
    """
    recorded = recording("x", given=streams(a=12))
    ten = replace(recorded.question, query=Query((Window("s", TIME, 10, 10),), SELECT))
    judged = CLOSING.but(t0=Between(-10_000, 9))
    monkeypatch.setattr(t0_classes, "T0_CLASS_BOUND", 5)
    *trials, error = tried_values.every_trial(
        replace(recorded, question=ten), judged, SharedAnswers()
    )
    assert len(trials) == 5 and str(error) == (
        "ORA-2: too many classes of t0 from -10000 to 9; give t0 or a narrower range"
    )


def test_a_class_of_t0_ends_where_the_trial_could_end_otherwise():
    """ORA-2: ω = β = 10, elements at 12, 13, 22 and 40. By t0 = -7 [3, 13) holds 12, and by -6
    to 2 the windows [4, 14) to [12, 22) hold 12 and 13, and are reported at 22. At 40 the windows
    up to [30, 40) have closed by -6 to 0, and those up to [21, 31) and [22, 32) by 1 and 2.
    """
    query = Query((Window("s", TIME, 10, 10),), SELECT)
    question = Question(query, streams(a=12, b=13, c=22, d=40))
    judged = CLOSING.but(t0=Between(-7, 2))

    def classes(*texts: str) -> list[T0Class]:
        recorded = RecordingToJudge.of(question, relations(*texts), missing=0)
        return [
            trial.t0_class for trial in tried_values.every_trial(recorded, judged, SharedAnswers())
        ]

    assert classes("x") == [(-7, -7, -7), (2, -6, 2)]
    assert classes("ab", "c", "d") == [(-7, -7, -7), (0, -6, 0), (2, 1, 2)]


@pytest.mark.parametrize(
    ("closure", "t0_class", "stated", "expected"),
    [
        # windows of 10 begin every 5 instants from t0 on
        ("[)", (0, 4), ((13, 23), None), 3),
        ("[)", (4, 7), ((13, 23), None), None),
        ("[)", (4, 8), ((13, 23), None), 8),
        ("[)", (0, 4), ((12, 22), Closure.LEFT_OPEN), 3),
        ("(]", (0, 4), ((13, 22), Closure.CLOSED), 2),
        ("(]", (0, 4), ((12, 22), None), 2),
    ],
)
def test_a_value_of_t0_with_which_a_stated_window_begins(closure, t0_class, stated, expected):
    _, planned = candidates(TIME, 10, 5, closure)
    lo, hi = t0_class
    found = [*fit_to_stated_window(planned, lo, hi, stated)]
    assert found == ([] if expected is None else [expected])


def test_engines_that_begin_elsewhere_must_have_the_stated_window_too():
    """ORA-11: windows of 10 every 5 instants, the first element at 40, the query registered at 41.
    The windows by t0 = 0 begin at 0, 5, …, those by t0 = 41 at 41, 46, ….
    """
    query = Query((Window("s", TIME, 10, 5),), SELECT, registered=41)
    question = Question(query, streams(a=40, b=42))
    judged = CLOSING.but(t0=UNKNOWN, report="window-close", horizon="none")
    for opens, outside in ((45, [0]), (46, [41]), (43, [])):
        recorded = RecordingToJudge.of(question, relations("x"), windows=[(opens, opens + 10)])
        found = tried_values.every_trial(recorded, judged, SharedAnswers())
        values = [each.semantics.t0 for each in found]
        assert all((opens - t0) % 5 == 0 for t0 in values)
        assert [t0 for t0 in values if t0 < 20 or t0 > 40] == outside


def test_a_window_that_does_not_begin_at_t0_fits_every_value():
    _, planned = candidates(
        WindowKind.ROWS, 3, None, closure=None, report="content-change", tick="tuple"
    )
    assert [*fit_to_stated_window(planned, 0, 4, ((13, 23), None))] == [0, 1, 2, 3, 4]


# Confirmation (ORA-8)


def wrong_answer(self: AnswerCache, contents: tuple) -> Bag:
    return bag("w" * len(contents[0]))


def test_incremental_evaluation_is_held_to_the_evaluator(monkeypatch):
    """A defect of incremental evaluation gives no verdict, whether it would pass or fail."""
    monkeypatch.setattr(AnswerCache, "__call__", wrong_answer)
    wrong, right = relations("w", "w", "w", "w"), relations("a", "b", "c", "d")
    disagree = "ORA-8: incremental evaluation and the SPARQL evaluator disagree"
    for recorded in (wrong, right, relations("x")):
        with pytest.raises(Disputed) as refused:
            judge(QUERY, FOUR, CLOSING, recorded, missing=0)
        assert str(refused.value) == disagree
        assert refused.value.answers == {r2r.EVALUATOR: Relation(("x",), bag("a"))}

    monkeypatch.setattr(confirmation, "_check_incremental", lambda *arguments: None)
    for recorded, reason in (
        (wrong, "ORA-8: incremental evaluation passes what the SPARQL evaluator fails"),
        (right, "ORA-8: incremental evaluation fails what the SPARQL evaluator passes"),
        (relations("x"), disagree),
    ):
        with pytest.raises(Disputed) as refused:
            judge(QUERY, FOUR, CLOSING, recorded, missing=0)
        assert str(refused.value) == reason


TWO_AT_ONCE = {"s": Stream(streams(a=3, b=3)["s"].elements, ordered=False)}
RSTREAM = profile("cqels").but(t0=0, r2s="Rstream", base=None)


def attempt(recorded: RecordingToJudge, own: Profile, answers: SharedAnswers) -> Trial:
    planned = answers.plan_of(recorded, own.semantics())
    return attempts.attempt(recorded, planned, answers)


def searched_trial(text: str) -> tuple[RecordingToJudge, Trial]:
    """Return a recording, and a trial in which arrival orders were searched."""
    recorded = recording(*text.split(), given=TWO_AT_ONCE, missing=0)
    answers = SharedAnswers()
    return recorded, attempt(recorded, RSTREAM, answers)


def test_a_search_over_orders_calls_before_answer_before_each_answer():
    """So a caller can end it. There are four answers: over a or b alone, over both, and over
    nothing. The last one is given by incremental evaluation.
    """
    calls: list[str] = []
    answers = SharedAnswers(before_answer=lambda: calls.append("answer"))
    recorded = recording("a", "ab", given=TWO_AT_ONCE, missing=0)
    found = attempt(recorded, RSTREAM, answers)
    assert found.explains_recording and not found.is_order_known
    assert len(calls) == 4


@pytest.mark.parametrize("text", ["a ab", "a x"])
def test_a_search_over_orders_is_repeated_by_witnesses(monkeypatch, text):
    """Some witness must find what the SPARQL evaluator finds; the faster one is asked first."""
    recorded, trial = searched_trial(text)
    other = searched_trial("a x" if trial.explains_recording else "a ab")[1]
    monkeypatch.setattr(confirmation, "is_confirmed_over_whole_stream", lambda *arguments: False)
    asked: list[str] = []

    def confirm(**found: Trial | None) -> list[str]:
        def attempt(recorded, planned, answers):
            asked.append(answers.witness)
            result = found[answers.witness]
            if result is None:
                raise NoSay("no say")
            return result

        asked.clear()
        monkeypatch.setattr(confirmation, "attempt", attempt)
        confirmation.confirm_order_search(recorded, trial, SharedAnswers(), tuple(found))
        return list(asked)

    assert confirm() == []
    assert confirm(slow=trial, fast=trial) == ["fast"]
    assert confirm(slow=trial, fast=other) == ["fast", "slow"]
    assert confirm(slow=trial, fast=None) == ["fast", "slow"]
    assert confirm(slow=None, fast=None) == ["fast", "slow"]
    one, two = "a witness's", "the SPARQL evaluator's"
    if trial.explains_recording:
        one, two = two, one
    said = f"ORA-8: an arrival order explains the output with {one} answers, but none with {two}: "
    for found, names in (
        ({"slow": other, "fast": other}, "fast, slow"),
        ({"slow": None, "fast": other}, "fast"),
    ):
        with pytest.raises(Disputed) as refused:
            confirm(**found)
        assert str(refused.value) == said + names
    monkeypatch.setattr(confirmation, "is_confirmed_over_whole_stream", lambda *arguments: True)
    assert confirm(slow=other, fast=other) == []


@pytest.mark.parametrize(
    ("text", "mode", "expected"),
    [
        ("SELECT ?x { ?x <urn:p> ?y }", Mode.VALUE, True),
        ("SELECT ?x { ?x <urn:p> ?y }", Mode.TERM, False),
        ("SELECT DISTINCT ?x { ?x <urn:p> ?y }", Mode.VALUE, False),
        ("SELECT ?x (?y + 1 AS ?z) { ?x <urn:p> ?y }", Mode.VALUE, False),
        ("SELECT ?x { { ?x <urn:p> ?y } UNION { ?x <urn:q> ?y } }", Mode.VALUE, False),
    ],
)
def test_bodies_whose_parts_are_confirmed_with_the_whole(text, mode, expected):
    query = Query(QUERY.windows, Body(text))
    recorded = RecordingToJudge.of(Question(query, TWO_AT_ONCE), [], mode=mode)
    trial = Trial(RSTREAM.semantics(), is_order_known=False)
    answers = SharedAnswers()
    witnesses = ("pyoxigraph", "rdflib")
    assert (
        confirmation.is_confirmed_over_whole_stream(recorded, trial, answers, witnesses) is expected
    )
    assert len(answers.testimonies_used) == expected


def test_an_answer_that_no_witness_confirms_is_not_alike(monkeypatch):
    def disputed(*arguments):
        raise Disputed("no", rule="R2R-5")

    recorded, trial = searched_trial("a ab")
    answers = SharedAnswers()
    # what is known of another body, or of other witnesses, says nothing of these
    other = Query(QUERY.windows, Body("SELECT ?x { ?x <urn:q> ?y }"))
    for query, witnesses in ((other, ("rdflib",)), (QUERY, ("rdflib",))):
        known = RecordingToJudge.of(Question(query, TWO_AT_ONCE), [])
        assert confirmation.is_confirmed_over_whole_stream(known, trial, answers, witnesses) is True
        assert len(answers.testimonies_used) == 1
        answers.testimonies_used.clear()
    monkeypatch.setattr(answers, "confirmed_answer", disputed)
    assert confirmation.is_confirmed_over_whole_stream(recorded, trial, answers, ()) is False


def test_contents_within_an_instant_are_not_confirmed():
    """a and b arrive at 3, in either order: what holds one of them alone is not known. Where the
    order is known, it is.
    """
    recorded, searched = searched_trial("a x")
    planned = SharedAnswers().plan_of(recorded, searched.semantics)
    for trial, expected in (
        (searched, [[0, 1]]),
        (replace(searched, is_order_known=True), [[0], [0, 1]]),
    ):
        found = [list(content) for (content,) in confirmation._held_at_evaluations(planned, trial)]
        assert [content for content in found if content] == expected
    # at 5 the window is empty, and nothing arrives
    whole = confirmation._held_at_evaluations(planned, replace(searched, divergence=None))
    assert [list(content) for (content,) in whole] == [[0, 1], []]


def test_the_evaluator_has_no_answer_beside_its_own():
    """ORA-8: what incremental evaluation answers is compared with the SPARQL evaluator's answer."""
    recorded, answers = recording("a", "x", missing=0), SharedAnswers()
    planned = answers.plan_of(recorded, CLOSING.semantics())
    trial = attempts.attempt_by_evaluator(recorded, planned, answers)
    assert trial.last_answer is None
    assert [list(content) for content in trial.last_contents] == [[1]]


def test_a_witness_answers_by_itself():
    """ORA-8: only derivations are taken from incremental evaluation, where a witness answers."""
    recorded, answers = recording("a"), SharedAnswers().with_witness("rdflib")
    planned = answers.plan_of(recorded, CLOSING.semantics())
    assert answers.incremental_answers(recorded, planned) == "a witness answers"
    found = answers.incremental_answers(recorded, planned, for_derivations=True)
    assert isinstance(found, AnswerCache)


def test_why_incremental_evaluation_does_not_answer():
    count = Body("SELECT (COUNT(*) AS ?x) { ?y <urn:p> ?z }")
    for body, fields, options, reason in (
        (count, {"collection": "set"}, {}, "a set of what is computed"),
        (count, {}, {"mode": Mode.TERM}, "answers are compared as terms"),
        (Body("SELECT (BNODE() AS ?x) { ?y <urn:p> ?z }"), {}, {}, "BNODE()"),
        (SELECT, {"collection": "set"}, {}, None),
        (count, {}, {}, None),
    ):
        recorded = RecordingToJudge.of(Question(Query(QUERY.windows, body), FOUR), [], **options)
        answers = SharedAnswers()
        planned = answers.plan_of(recorded, CLOSING.but(**fields).semantics())
        found = answers.incremental_answers(recorded, planned)
        assert found == reason if reason else isinstance(found, AnswerCache)


def test_what_is_said_of_a_disputed_pass_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    answers = SharedAnswers()
    judge(QUERY, FOUR, CLOSING, relations("a", "x", "c", "d"), missing=0, answers=answers)
    before = list(answers.testimonies_used)

    def dispute(recorded, trial, answers, witnesses):
        answers.testimonies_used.append(before[0])
        raise Disputed("no witness confirms it", rule="ORA-8")

    monkeypatch.setattr(judging, "confirm", dispute)
    recorded, trial = searched_trial("a ab")
    with pytest.raises(Disputed):
        judging.confirm_winner(recorded, trial, answers, ())
    assert answers.testimonies_used == before != []


def test_each_content_that_a_trial_ended_at_is_confirmed_once():
    """By t0 = 0 the first window is [0, 5) and holds a, by t0 = 2 it is [2, 7) and holds b."""
    recorded, answers = recording("x", missing=0), SharedAnswers()
    trials = [attempt(recorded, CLOSING.but(t0=t0), answers) for t0 in (0, 2, 0)]
    found = list(confirmation._last_datasets(recorded, trials, answers))
    assert [trial for _, trial in found] == trials[:2]


def test_a_content_that_a_trial_ended_at_has_the_times_that_the_body_asks_for():
    """R2R-21: the times are statements of the dataset. Of any other body they are not."""
    times = "(<http://larkc.eu/csparql/sparql/jena/ext#timestamp>(?x, <urn:p>, ?y) AS ?t)"
    triple = ("<urn:a>", "<urn:p>", "<urn:o>")
    for text, more in (
        ("SELECT ?x { ?x <urn:p> ?y }", set()),
        (f"SELECT ?x {times} {{ ?x <urn:p> ?y }}", {(*triple, literal("1", XSD + "integer"))}),
    ):
        question = Question(Query(QUERY.windows, Body(text)), FOUR)
        recorded = RecordingToJudge.of(question, relations("x"))
        trial = Trial(CLOSING.semantics(), last_contents=(range(1),))
        ((dataset, _),) = confirmation._last_datasets(recorded, [trial], SharedAnswers())
        assert dataset == {triple} | more


def test_a_fail_is_disputed_if_its_last_answer_is_not_the_evaluators():
    trial = Trial(CLOSING.semantics(), last_contents=(range(1),), last_answer=bag("w"))
    with pytest.raises(Disputed) as refused:
        confirmation.confirm_fail(recording("x"), None, [trial], SharedAnswers(), ("rdflib",))
    assert refused.value.answers == {r2r.EVALUATOR: Relation(("x",), bag("a"))}


def test_what_is_confirmed_of_a_fail():
    """The answers up to the first divergence: of {a}, {x}, … those over [0, 5) and [5, 10)."""
    answers = SharedAnswers()
    found = judge(QUERY, FOUR, CLOSING, relations("a", "x", "c", "d"), missing=0, answers=answers)
    assert not found.passed
    confirmed = [testimony.relation for testimony in answers.testimonies_used]
    assert confirmed[:2] == relations("a", "b")
    assert Relation(("x",), bag("d")) not in confirmed
    judge(QUERY, FOUR, CLOSING, relations("a", "b", "c", "d"), answers=answers)
    assert [each.relation for each in answers.testimonies_used] == relations("a", "b", "c", "d")


# Reports beside a trial


def test_reports_go_on_by_the_evaluator(monkeypatch):
    """Where incremental evaluation ends, after two reports, none is lost, and none comes twice."""
    recorded = recording("a")
    answers = SharedAnswers()
    right = AnswerCache.__call__
    asked: list[tuple] = []

    def ends(self: AnswerCache, contents: tuple) -> Bag:
        asked.append(contents)
        if len(asked) > 2:
            raise attempts.NotCovered("enough")
        return right(self, contents)

    monkeypatch.setattr(AnswerCache, "__call__", ends)
    planned = answers.plan_of(recorded, CLOSING.semantics())
    found = attempts.reports_of(recorded, planned, answers)
    assert [each.relation for each in found.first(9)] == relations("a", "b", "c", "d")
    trial = attempt(recorded, CLOSING, answers)
    assert trial.computed_by == "the SPARQL evaluator (enough)"


# What would explain a fail (ORA-13)


def test_other_variables_than_the_querys():
    two = Query(QUERY.windows, Body("SELECT ?x ?z { ?x <urn:p> ?y OPTIONAL { ?x <urn:q> ?z } }"))

    def said(variables: tuple[str, ...], names: str) -> str:
        relation = Relation(variables, Counter([row(dict.fromkeys(names, "<urn:a>"))]))
        question = Question(two, FOUR)
        return readings.other_variables(RecordingToJudge.of(question, [relation]))

    assert said(("x", "z"), "xz") == said(("z", "x"), "x") == said((), "x") == ""
    assert said(("x",), "x") == "the recording has the variables x; the query projects x, z"
    assert said((), "xv") == "the recording has the variables v, x; the query projects x, z"
    assert said(("x", "v"), "x") == "the recording has the variables v, x; the query projects x, z"


def read(*texts: str, timestamps=(), missing=0, **fields) -> tuple[str, ...]:
    """Return the readings under which a recording is right."""
    judged = CLOSING.but(**fields)
    found = judge(QUERY, FOUR, judged, relations(*texts), missing=missing)
    assert not found.passed
    return find_explanations(
        found.recorded, judged, found, fields=(), timestamps=timestamps
    ).readings


AS_SETS = "as sets of rows, repeated rows counted once, it is right"
TOGETHER = "with the relations of one timestamp taken together"


@pytest.mark.parametrize(
    ("texts", "timestamps", "missing", "expected"),
    [
        (["b", "a", "c", "d"], (), 0, "it has the same relations in another order"),
        (["a", "bb", "c", "d"], (), 0, AS_SETS),
        (["a", "", "b", "c", "d"], (5, 10, 10, 15, 20), 0, f"{TOGETHER}, it is right"),
        (["a", "b", "b", "c", "d"], (5, 10, 10, 15, 20), 0, f"{TOGETHER}, {AS_SETS}"),
        (["a", "x", "b", "c", "d"], (5, 10, 10, 15, 20), 0, None),
        (["a", "", "b", "c", "d"], (5, 10, None, 15, 20), 0, None),
        (["a", "", "b", "c", "d"], (5, 10, 11, 15, 20), 0, None),
        (["a", "", "b", "c", "d"], (5, 10, 10), 0, None),
        (
            ["b", "c"],
            (),
            0,
            "every relation is right, and 1 output is missing before the first; the bound is 0, and"
            " 1 output is missing after the last; the bound is 0",
        ),
        (
            ["d"],
            (),
            2,
            "every relation is right, and 3 outputs are missing before the first; the bound is 2",
        ),
        (
            ["a"],
            (),
            1,
            "every relation is right, and 3 outputs are missing after the last; the bound is 1",
        ),
        (
            ["b"],
            (),
            1,
            "every relation is right, and 2 outputs are missing after the last; the bound is 1",
        ),
        (
            ["c"],
            (),
            1,
            "every relation is right, and 2 outputs are missing before the first; the bound is 1",
        ),
        (["a", "c", "b"], (), 1, "it has the same relations in another order"),
        (["a", "x"], (), 1, None),
        ([], (), 0, None),
    ],
)
def test_other_readings(texts, timestamps, missing, expected):
    found = read(*texts, timestamps=timestamps, missing=missing)
    assert found == (() if expected is None else (expected,))


def test_more_outputs_are_missing_than_are_looked_at():
    recorded = recording("a", missing=0)
    report = judge(QUERY, FOUR, CLOSING, relations("a", "b", "c", "d")).reports.first(1)
    many = Alignment(report + report * 101, 0, 1)
    said = readings._extent(recorded, many)
    assert said.endswith("at least 101 outputs are missing after the last; the bound is 0")
    assert "at least" not in readings._extent(recorded, Alignment(report * 101, 0, 1))


def test_a_fail_has_one_report_more_than_are_looked_at_after_the_recording():
    """SURPLUS_BOUND is 100. The one more shows that there are at least 101."""
    items = [((f"<urn:{n}>", "<urn:p>", "<urn:o>"), 5 * n + 1) for n in range(120)]
    found = judge(QUERY, {"s": stream(items)}, CLOSING, [], missing=0)
    assert not found.passed
    assert (len(found.alignment.reports), found.alignment.after) == (101, 101)


def test_relations_of_one_timestamp_are_merged():
    merged = readings.merge_timestamps(
        recording("a", "b", "bc", "d", windows=[(0, 5)]), (1, 2, 1, 3)
    )
    assert list(merged.relations) == relations("abc", "b", "d") and merged.windows == ()
    once = readings.without_repeated_rows(recording("aab", "", "c"))
    assert list(once.relations) == relations("ab", "", "c")


@pytest.mark.parametrize(
    ("name", "current", "expected"),
    [
        ("t0", 3, [UNKNOWN]),
        ("collection", Collection.BAG, [Collection.SET]),
        ("tick", Tick.TIME, [Tick.TUPLE, Tick.BATCH]),
        ("r2s", None, list(R2S)),
    ],
)
def test_the_other_values_of_a_field(name, current, expected):
    assert sorted(map(str, changes.alternatives(name, current))) == sorted(map(str, expected))


def test_the_other_reports_are_the_combinations_that_are_not_periodic():
    current = frozenset({Condition.CLOSE, Condition.NON_EMPTY})
    found = changes.alternatives("report", current)
    three = {Condition.CLOSE, Condition.CHANGE, Condition.NON_EMPTY}
    assert len(found) == 6 and len(set(found)) == 6 and current not in found
    assert frozenset(three) in found and all(len(each) > 0 and each <= three for each in found)


def test_a_field_brings_its_companions_along():
    """SEM-2: Istream needs a base, which Rstream has none of; only a periodic report has a period,
    and only window close can miss instants.
    """
    istream = CLOSING.but(r2s="Istream", base="previous-new", period=2, anchor=0, report="periodic")

    def changed(judged, *pairs: tuple[str, object]) -> dict[str, object]:
        before, after = (
            judged.fields,
            changes.apply_changes(judged, *(FieldChange(*pair) for pair in pairs)).fields,
        )
        return {name: value for name, value in after.items() if before.get(name) != value}

    assert changed(istream, ("r2s", R2S.RSTREAM)) == {"r2s": R2S.RSTREAM, "base": None}
    assert changed(istream, ("r2s", R2S.DSTREAM)) == {"r2s": R2S.DSTREAM}
    assert changed(CLOSING, ("r2s", R2S.ISTREAM)) == {"r2s": R2S.ISTREAM, "base": Base.PREVIOUS}
    latest = CLOSING.but(missed_instants="latest", report="window-close")
    for report, more in (
        ({Condition.CHANGE}, {"missed_instants": MissedInstants.ALL}),
        ({Condition.CLOSE, Condition.CHANGE}, {}),
    ):
        report = frozenset(report)
        assert changed(latest, ("report", report)) == {"report": report, **more}
    closes = frozenset({Condition.CLOSE})
    assert changed(istream, ("report", closes)) == {
        "report": closes,
        "period": None,
        "anchor": None,
    }
    assert changed(CLOSING.but(t0="epoch", offset=3), ("t0", 4)) == {"t0": 4, "offset": None}
    assert changed(CLOSING, ("tick", Tick.TIME), ("collection", Collection.SET)) == {
        "tick": Tick.TIME,
        "collection": Collection.SET,
    }


def test_every_change_of_some_fields():
    found = list(changes.changes_of(QUERY, CLOSING, ["collection", "r2s"]))
    assert FieldChange("collection", Collection.SET) in found
    assert {change.field for change in found} == {"collection", "r2s"}
    states = Query(QUERY.windows, SELECT, r2s=R2S.RSTREAM)
    stated = changes.changes_of(states, CLOSING, ["r2s", "collection"])
    assert {change.field for change in stated} == {"collection"}


def test_a_formula_is_replaced_by_the_integer_that_it_gives():
    """WIN-7: under (], by `storm` t0 is β - ω."""
    question = Question(Query((Window("s", TIME, 10, 4),), SELECT), FOUR)
    formula = CLOSING.but(closure="(]", t0="storm")
    for judged, expected in (
        (formula, -6),
        (CLOSING.but(t0=7), 7),
        (CLOSING.but(t0="first-element"), "first-element"),
        (CLOSING.but(t0=UNKNOWN), UNKNOWN),
    ):
        found = changes.resolve_t0_formula(question, judged, SharedAnswers())
        assert found.fields["t0"] == expected
    windows = (Window("s", TIME, 10, 4), Window("r", TIME, 5, 5))  # each gives another integer
    two = Question(Query(windows, SELECT), {**FOUR, "r": FOUR["s"]})
    assert changes.resolve_t0_formula(two, formula, SharedAnswers()) is formula


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (Unsupported("no", rule="X-1"), ProfileSearch(is_complete=False, tried=1)),
        (TooManyReports("no", rule="X-1"), ProfileSearch(is_complete=False, tried=1)),
        (Disputed("no", rule="X-1"), ProfileSearch(is_complete=False)),
        (InvalidSemantics("no", rule="X-1"), ProfileSearch()),
        (RefengineError("no", rule="X-1"), ProfileSearch()),
    ],
)
def test_assignments_that_cannot_be_tried(monkeypatch, error, expected):
    """An assignment that is out of reach does not keep others from being tried; one without an
    answer ends the search.
    """

    def refuse(*arguments):
        raise error

    recorded, answers = recording("a"), SharedAnswers()
    monkeypatch.setattr(tried_values, "attempt", refuse)
    assert changes.find_explaining_trial(recorded, CLOSING, answers, 3) == expected


def test_a_profile_is_tried_up_to_a_bound():
    recorded, answers = recording("a", "b", "c", "d", missing=0), SharedAnswers()
    judged = CLOSING.but(t0=OneOf((9, 0, 1)))
    for bound in range(4):
        found = changes.find_explaining_trial(recorded, judged, answers, bound)
        assert (found.trial is not None) is (bound >= 2) and found.tried == min(bound, 2)
        assert found.explains_recording is (True if bound >= 2 else None)
    nothing = changes.find_explaining_trial(recorded, CLOSING.but(t0=9), answers, 1)
    assert nothing == ProfileSearch(None, is_complete=True, tried=1)
    assert nothing.explains_recording is False


def test_single_changes_that_explain_a_recording():
    """{a, b}, {c, d} is what windows of twice the length give; a t0 of 1 gives {b}, {c}, {d}, as
    does one that is later than the first element; and from t0 = 0 on Istream is Rstream.
    """
    judged = CLOSING.but(r2s="Istream", base="previous")
    for texts, fields, expected in (
        (["a", "b", "c", "d"], ["r2s"], None),
        (["b", "c", "d"], ["t0", "closure"], [FieldChange("t0", 2)]),
        (["x"], ["t0", "r2s", "tick"], []),
    ):
        recorded = recording(*texts, missing=0)
        found = find_explanations(recorded, judged, fields=fields)
        if expected is None:
            assert {change.field for change in found.changes} == {"r2s"}
        else:
            assert [change.field for change in found.changes] == [each.field for each in expected]
        assert found.untried == () and found.is_complete


def test_pairs_are_tried_up_to_a_bound(monkeypatch):
    """Each pair of these changes has one assignment, and none explains x."""
    recorded, answers = recording("x", missing=0), SharedAnswers()
    of_fields = [
        FieldChange("collection", Collection.SET),
        FieldChange("tick", Tick.TUPLE),
        FieldChange("empty", "suppress"),
        FieldChange("t0", UNKNOWN),
    ]

    def pairs(most: int, given=of_fields) -> tuple:
        return explaining._pairs(recorded, CLOSING, given, answers, most)

    assert pairs(3) == ((), True) and pairs(2) == ((), False)
    assert pairs(0, of_fields[:1]) == ((), True)
    assert pairs(0, [FieldChange("tick", Tick.TUPLE), FieldChange("tick", Tick.BATCH)]) == (
        (),
        True,
    )
    monkeypatch.setattr(explaining, "PAIRS_BOUND", 2)
    assert pairs(3) == ((), False)
    explained = ProfileSearch(object(), tried=1)
    monkeypatch.setattr(explaining, "find_explaining_trial", lambda *arguments: explained)
    monkeypatch.setattr(explaining, "PAIRS_BOUND", 99)
    assert pairs(99) == (
        (
            (of_fields[0], of_fields[1]),
            (of_fields[0], of_fields[2]),
            (of_fields[1], of_fields[2]),
        ),
        True,
    )
    out_of_reach = ProfileSearch(is_complete=False)
    monkeypatch.setattr(explaining, "find_explaining_trial", lambda *arguments: out_of_reach)
    assert pairs(99) == ((), False)


def test_the_length_of_what_a_query_reads():
    two = {**FOUR, "r": streams(a=1)["s"]}
    assert explaining._length(recording(given=two)) == 5
    query = Query((Window("s", TIME, 5, 5), Window("r", TIME, 5, 5)), SELECT)
    assert explaining._length(RecordingToJudge.of(Question(query, two), [])) == 6


def test_reports_of_a_judgement_are_those_of_its_trial():
    found = judge(QUERY, FOUR, CLOSING, relations("a", "x", "c", "d"), missing=0)
    assert isinstance(found.reports, Reports)
    assert [each.relation for each in found.reports.first(9)] == relations("a", "b", "c", "d")
    assert found.t0_candidates is None
    searched = judge(QUERY, TWO_AT_ONCE, RSTREAM, relations("a", "x"), missing=0)
    assert not searched.trial.is_order_known and searched.reports.first(1)
    passed = judge(QUERY, FOUR, CLOSING.but(t0=UNKNOWN), relations("a", "b", "c", "d"))
    assert passed.t0_candidates == T0Candidates(-8, 1, ())


# Two elements of each window have the same row: as bags the answers are {a, a} twice.
TWICE = {"s": stream([(("<urn:a>", "<urn:p>", f"<urn:{at}>"), at) for at in (1, 2, 6, 7)])}


def explain(texts: str, judged, given=FOUR, **options) -> explaining.Explanations:
    recorded = recording(*texts.split(), given=given, missing=0)
    return find_explanations(recorded, judged, **options)


def test_a_pair_of_changes_is_tried_last(monkeypatch):
    """As sets, with Istream, the answers are {a} and nothing. Neither change alone explains it."""
    monkeypatch.setattr(explaining, "PROFILES", {})
    judged = CLOSING.but(empty="suppress")
    fields = ("collection", "r2s")
    pair = (FieldChange("collection", Collection.SET), FieldChange("r2s", R2S.ISTREAM))
    assert explain("a", judged, TWICE, fields=fields) == explaining.Explanations(pairs=(pair,))
    for work, is_complete in ((5, False), (10, False), (15, True)):
        # 5 for one assignment that reads 4 elements; there are three pairs
        monkeypatch.setattr(explaining, "PAIRS_WORK", work)
        found = explain("a", judged, TWICE, fields=fields)
        assert found.is_complete is is_complete

    # where orders are searched, one assignment is more work
    found = judge(QUERY, TWICE, judged, relations("a"), missing=0)
    searched = replace(found, trial=replace(found.trial, is_order_known=False))
    for work, is_complete in ((10, False), (15, True)):
        monkeypatch.setattr(explaining, "PAIRS_WORK", work * explaining.ORDERS_WORK)
        again = explain("a", judged, TWICE, fields=fields, judgement=searched)
        assert again.is_complete is is_complete

    explains = {"pair": judged.but(collection="set", r2s="Istream", base="previous"), "no": judged}
    monkeypatch.setattr(explaining, "PROFILES", explains)
    found = explain("a", judged, TWICE, fields=fields)
    assert found == explaining.Explanations(profiles=("pair",))
    single = explain("aa", judged, TWICE, fields=fields)
    assert single == explaining.Explanations((pair[1],))


def test_a_later_t0_is_tried_in_place_of_a_formula():
    """From t0 = 2 on there is no window with a. The formula's offset says nothing of such a t0."""
    recorded = recording("b", "c", "d", missing=0)
    judged = CLOSING.but(t0="epoch", offset=3)
    found = explaining._search_any_t0(recorded, judged, SharedAnswers())
    assert found.trial is not None and found.trial.semantics.t0 >= 2


def test_profiles_take_the_t0_that_is_judged(monkeypatch):
    """From t0 = 0 the outputs are {a}, {b}, {c} and {d}; from 2 there is no window with a."""
    profiles = {"open": CLOSING.but(t0=UNKNOWN), "nine": CLOSING.but(t0=9), "zero": CLOSING}
    monkeypatch.setattr(explaining, "PROFILES", profiles)
    answers = SharedAnswers()
    recorded = recording(*"abcd", missing=0)
    for t0, expected in ((2, ["zero"]), (0, ["open", "zero"])):
        judged = CLOSING.but(t0=t0)
        assert list(explaining._profiles(recorded, judged, answers)) == expected


@pytest.mark.parametrize("t0", [0, UNKNOWN])
def test_a_later_t0_explains_that_the_stream_was_skipped(t0):
    """An engine that begins with c: its first window holds it, and ends before d comes."""
    (change,) = explain("c d", CLOSING.but(t0=t0), fields=("t0",)).changes
    assert change.field == "t0" and 7 <= change.value <= 11
    for texts, judged in (("x", CLOSING), ("d c", CLOSING), ("", CLOSING)):
        assert explain(texts, judged.but(t0=t0), fields=("t0",)).changes == ()


@pytest.mark.parametrize("is_complete", [(True, True), (True, False), (False, True)])
def test_every_t0_is_tried_if_those_up_to_the_first_element_are_and_the_later_ones(
    monkeypatch, is_complete
):
    searches = iter([ProfileSearch(is_complete=each) for each in is_complete])
    monkeypatch.setattr(explaining, "find_explaining_trial", lambda *arguments: next(searches))
    found = explaining._search_any_t0(recording("x"), CLOSING.but(t0=0), SharedAnswers())
    assert found == ProfileSearch(is_complete=all(is_complete))


def test_no_later_t0_is_tried_with_several_windows(monkeypatch):
    """Each of them would begin later, and so skip a part of its own stream."""
    given = {"s": FOUR["s"], "r": streams(z=3)["s"]}
    two = Query((Window("s", TIME, 5, 5), Window("r", TIME, 5, 5)), SELECT)
    recorded = RecordingToJudge.of(Question(two, given), relations("x"))
    searches = iter([ProfileSearch()])
    monkeypatch.setattr(explaining, "find_explaining_trial", lambda *arguments: next(searches))
    found = explaining._search_any_t0(recorded, CLOSING.but(t0=0), SharedAnswers())
    assert found == ProfileSearch() and next(searches, None) is None


def test_of_a_stream_without_elements_no_t0_is_later():
    recorded = recording("x", given={"s": Stream(())})
    assert explaining._search_any_t0(recorded, CLOSING.but(t0=0), SharedAnswers()).trial is None


def test_an_earlier_t0_is_one_of_those_that_are_tried():
    (change,) = explain("b c d", CLOSING.but(t0=9), fields=("t0",)).changes
    assert 2 <= change.value <= 6
    (change,) = explain("a b c d", CLOSING.but(t0=9), fields=("t0",)).changes
    assert -8 <= change.value <= 1


def test_changes_that_are_out_of_reach_are_named(monkeypatch):
    out_of_reach = ProfileSearch(is_complete=False)
    monkeypatch.setattr(explaining, "PROFILES", {})
    monkeypatch.setattr(explaining, "find_explaining_trial", lambda *arguments: out_of_reach)
    found = explain("x", CLOSING, fields=("collection", "t0"))
    assert found.untried == (FieldChange("collection", Collection.SET), FieldChange("t0", UNKNOWN))
    assert found.changes == () and found.profiles == () and found.readings == ()


def test_where_the_variables_are_others_nothing_else_is_tried():
    recorded = RecordingToJudge.of(Question(QUERY, FOUR), [Relation(("z",), Counter())])
    found = find_explanations(recorded, CLOSING)
    said = "the recording has the variables z; the query projects x"
    assert found == explaining.Explanations(readings=(said,))


def test_an_assignment_without_end_has_failed_where_t0_is_open(monkeypatch):
    """ENG-3: It is not near to the recording, and the values of t0 are named all the same. A t0
    that is given leaves no verdict.
    """

    def endless(*arguments):
        raise TooManyReports("too many", rule="ENG-3")

    monkeypatch.setattr(tried_values, "attempt", endless)
    found = judge(QUERY, FOUR, CLOSING.but(t0=Between(3, 3)), relations("x"), missing=0)
    assert not found.passed and found.trial is None
    assert (found.t0_candidates.lo, found.t0_candidates.hi, found.tried) == (3, 3, 1)
    with pytest.raises(TooManyReports):
        judge(QUERY, FOUR, CLOSING, relations("x"), missing=0)
    # a profile without t0 leaves it open, too
    fields = {name: value for name, value in CLOSING.fields.items() if name != "t0"}
    searched = judging.search(
        recording("x"), replace(CLOSING, fields=fields), SharedAnswers(), witnesses=()
    )
    assert searched.failed and searched.first_refusal is None


def test_derivations_are_the_same_if_each_support_has_the_same_rows():
    """CMP-1: by value, and as often."""
    one, other = (frozenset([(f"<urn:{name}>", "<urn:p>", "<urn:o>")]) for name in "ab")
    (a,), (b,) = bag("a"), bag("b")
    some = [Derivation(a, one), Derivation(a, one), Derivation(b, other)]
    assert derivations.rows_by_support(some) == {one: {a: 2}, other: {b: 1}}
    assert derivations.are_equal(some, some[::-1]) and derivations.are_equal([], [])
    for others in (
        some[1:],
        some[:2],
        [*some, Derivation(b, one)],
        [*some[:2], Derivation(a, other)],
    ):
        assert not derivations.are_equal(some, others)
        assert not derivations.are_equal(others, some)
