"""Where a recording parts from its semantics, how far the two are apart, and which rows slipped
over a border: fails whose every fact is derived by hand (ORA-9 to ORA-12).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from small_streams import SELECT, bag, line, relations, streams

from refengine import (
    UNKNOWN,
    Between,
    Body,
    OneOf,
    Query,
    Relation,
    Stream,
    Window,
    WindowKind,
    evaluate,
    from_table,
    literal,
    profile,
    stream,
)
from refengine.core.question import Question
from refengine.core.values import Closure, Collection
from refengine.model.compare import Mode
from refengine.model.elements import XSD, Element, row
from refengine.oracle import alignment, divergence
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.comparison import (
    Alignment,
    BorderRow,
    Distance,
    Divergence,
    Fate,
    RowDifference,
)
from refengine.oracle.divergence import UnreachableRow, WrongRows, find_unreachable_row
from refengine.oracle.explanations import find_explanations
from refengine.oracle.judge import Judgement, judge
from refengine.oracle.t0_classes import T0Class
from refengine.oracle.trial import Missing, RecordingToJudge, Reports, Trial

QUERY = Query((Window("s", WindowKind.TIME, 5, 5),), SELECT)
CLOSING = profile("csparql").but(t0=0, horizon="flush")


# One element in each of [0, 5), [5, 10), [10, 15) and [15, 20): the outputs are {a}, {b}, {c}, {d}.
FOUR = streams(a=1, b=6, c=11, d=16)
REPORTS = tuple(evaluate(QUERY, FOUR, CLOSING.semantics()))


def test_the_reports_are_as_expected():
    assert [report.relation for report in REPORTS] == relations("a", "b", "c", "d")
    assert [report.window for report in REPORTS] == [(0, 5), (5, 10), (10, 15), (15, 20)]


def judged(recorded: list[Relation], missing: int | Missing = 0, **given) -> Judgement:
    found = judge(QUERY, given.pop("streams", FOUR), CLOSING, recorded, missing=missing, **given)
    assert not found.passed and found.trial is not None
    return found


NOTHING_MORE = "the semantics reports nothing more"
TOO_EARLY = "the recording ends too early"
DIFFERS = "the answer differs"
LOST = "this report is lacking; what follows it is in place"
REPEATED = "it is one too many; what follows is in place"
TOO_LATE = "the recording begins too late"


@pytest.mark.parametrize(
    ("texts", "missing", "index", "report", "actual", "reason", "facts"),
    [
        # b is lacking, and x is too many
        (["a", "x", "c", "d"], 0, 1, 1, "x", DIFFERS, ((2, 2), {})),
        (["a", "b", "", "d"], 0, 2, 2, "", DIFFERS, ((1, 1), {})),
        (["a", "bx", "c", "dy"], 0, 1, 1, "bx", DIFFERS, ((2, 2), {})),
        # a report that is lost, or a relation that is one too many, counts one more than its rows,
        # and is one thing that no slip explains
        (["a", "b", "d"], 0, 2, 2, None, LOST, ((2, 1), {"lost": 2})),
        # also where as many rows differ without it: {c} is lacking, or {d} is in its place
        (["b", "d"], 1, 1, 2, None, LOST, ((2, 1), {"before": 1, "lost": 2})),
        (["b", "d"], Missing(1, 0), 1, 2, None, LOST, ((2, 1), {"before": 1, "lost": 2})),
        (["a", "c", "d"], 0, 1, 1, None, LOST, ((2, 1), {"lost": 1})),
        (["a", "b", "b", "c", "d"], 0, 2, None, "b", REPEATED, ((2, 1), {"repeated": 2})),
        (["a", "b", "xyz", "c", "d"], 0, 2, None, "xyz", REPEATED, ((4, 1), {"repeated": 2})),
        (["b", "xy", "c", "d"], 1, 1, None, "xy", REPEATED, ((3, 1), {"before": 1, "repeated": 1})),
        # at an end nothing is lost, but outputs are missing
        (["b", "c", "d"], 0, 0, 0, None, TOO_LATE, ((2, 0), {"before": 1})),
        (["c", "d"], 1, 0, 0, None, TOO_LATE, ((2, 0), {"before": 2})),
        (["d"], 1, 0, 0, None, TOO_LATE, ((4, 0), {"before": 3})),
        (["a", "b"], 0, 2, 2, None, TOO_EARLY, ((4, 0), {})),
        (["a", "b"], 1, 2, 2, None, TOO_EARLY, ((2, 0), {})),
        (["b", "c"], Missing(1, 0), 2, 3, None, TOO_EARLY, ((2, 0), {"before": 1})),
        (["b", "c"], Missing(0, 1), 0, 0, None, TOO_LATE, ((2, 0), {"before": 1})),
        # relations without a report
        (["a", "b", "c", "d", "x", "yz"], 0, 4, None, "x", NOTHING_MORE, ((5, 5), {})),
        (["c", "d", "x"], 2, 2, None, "x", NOTHING_MORE, ((2, 2), {"before": 2})),
        # of a recording without relations no output may be missing: the first is lacking first
        ([], 0, 0, 0, None, TOO_EARLY, ((8, 0), {})),
        ([], 1, 0, 0, None, TOO_EARLY, ((8, 0), {})),
        ([], Missing(0, 1), 0, 0, None, TOO_EARLY, ((8, 0), {})),
    ],
)
def test_where_a_recording_parts(texts, missing, index, report, actual, reason, facts):
    distance, aligned = facts
    found = judged(relations(*texts), missing).trial
    there = None if report is None else REPORTS[report]
    assert found.divergence == Divergence(
        index,
        there and there.evaluation,
        there and there.window,
        () if there is None else tuple(there.contents[0]),
        there and there.relation.rows,
        None if actual is None else bag(actual),
        reason,
        cost=Distance(*distance),
    )
    assert found.alignment == Alignment(
        **{"reports": REPORTS, "before": 0, "relations": len(texts), **aligned}
    )


def test_reports_beside_relations():
    beside = Alignment(REPORTS, 1, 2)
    assert (beside.beside, beside.after) == (REPORTS[1:3], 1)
    assert [beside.report(index) for index in range(4)] == [*REPORTS[1:], None]
    assert Alignment(REPORTS, 0, 3, lost=1).after == 0
    assert Alignment(REPORTS, 0, 3, repeated=1).after == 2
    assert Alignment(REPORTS, 2, 5).after == 0


# c comes exactly on a border: it is of [10, 15), whose first element it is.
ON_BORDER = streams(a=1, b=6, c=10, d=16)
# Of [5, 10) b is the first element, and e the last.
IN_THE_MIDDLE = streams(a=1, b=6, c=8, e=9, f=11, d=16)


def at_border(name: str, at: int, window: tuple[int, int], fate: Fate, **facts: bool) -> BorderRow:
    return BorderRow(line(name), at, window, fate, **facts)


@pytest.mark.parametrize(
    ("given", "texts", "borders", "distance"),
    [
        (ON_BORDER, ["a", "bc", "", "d"], [("c", 10, (10, 15), Fate.EARLY, True, True)], (2, 0)),
        (ON_BORDER, ["a", "bc", "c", "d"], [("c", 10, (10, 15), Fate.BOTH, True, True)], (1, 0)),
        (ON_BORDER, ["a", "b", "", "d"], [("c", 10, (10, 15), Fate.OUT, True, True)], (1, 0)),
        (ON_BORDER, ["a", "b", "", "cd"], [("c", 10, (10, 15), Fate.LATE, True, True)], (2, 0)),
        # elsewhere it is no slip
        (ON_BORDER, ["ac", "b", "", "d"], [], (2, 2)),
        # in place, which is said of what is exactly on a border
        (ON_BORDER, ["x", "b", "c", "d"], [("c", 10, (10, 15), Fate.PLACE, True, True)], (2, 2)),
        # beside another wrong row
        (ON_BORDER, ["ax", "bc", "", "d"], [("c", 10, (10, 15), Fate.EARLY, True, True)], (3, 1)),
        # not on a border, but the last element, or the first
        (IN_THE_MIDDLE, ["a", "bc", "ef", "d"], [("e", 9, (5, 10), Fate.LATE, False, False)], None),
        (IN_THE_MIDDLE, ["ab", "ce", "f", "d"], [("b", 6, (5, 10), Fate.EARLY, False, True)], None),
        # neither: it slips over no border, whatever the recording says
        (IN_THE_MIDDLE, ["ac", "be", "f", "d"], [], None),
        (IN_THE_MIDDLE, ["a", "be", "cf", "d"], [], None),
        # the first of several cannot come late, nor the last one early
        (IN_THE_MIDDLE, ["a", "ce", "bf", "d"], [], None),
        (IN_THE_MIDDLE, ["ae", "bc", "f", "d"], [], None),
        # left out, and not on a border
        (IN_THE_MIDDLE, ["a", "bc", "f", "d"], [], None),
    ],
)
def test_rows_at_the_edges_of_windows(given, texts, borders, distance):
    found = judged(relations(*texts), streams=given).trial.divergence
    assert found.borders == tuple(
        at_border(name, at, window, fate, on_border=on_border, is_first=is_first)
        for name, at, window, fate, on_border, is_first in borders
    )
    if distance is not None:
        assert found.cost == Distance(*distance)


def test_each_slip_makes_as_many_rows_differ():
    rows = [at_border("a", 0, (0, 5), fate) for fate in Fate]
    assert [divergence.count_slips([each]) for each in rows] == [0, 2, 2, 1, 1]
    assert divergence.count_slips(rows) == 6


def test_edges_are_named_of_one_closing_window_without_static_data():
    """ORA-12: c comes early, but no slip is named."""
    recorded = relations("a", "bc", "", "d")
    two = Query((QUERY.windows[0], QUERY.windows[0]), SELECT)
    distinct = Query(QUERY.windows, Body("SELECT DISTINCT ?x { ?x <urn:p> ?y }"))
    static = frozenset([("<urn:z>", "<urn:q>", "<urn:o>")])
    for query, more, fields in (
        (two, {}, {}),
        (distinct, {}, {}),
        (QUERY, {"static": static}, {}),
        (QUERY, {}, {"report": "content-change", "tick": "tuple"}),
    ):
        found = judge(query, ON_BORDER, CLOSING.but(**fields), recorded, missing=0, **more)
        assert not found.passed and found.trial.divergence.borders == ()


@pytest.mark.parametrize(
    ("is_gone", "is_early", "is_late", "fate"),
    [
        (True, True, True, Fate.EARLY),
        (True, True, False, Fate.EARLY),
        (True, False, True, Fate.LATE),
        (True, False, False, Fate.OUT),
        (False, False, False, Fate.PLACE),
        (False, True, False, Fate.BOTH),
        (False, False, True, Fate.BOTH),
        (False, True, True, Fate.BOTH),
    ],
)
def test_where_a_row_is(is_gone, is_early, is_late, fate):
    assert divergence._fate(is_gone, is_early, is_late) is fate


def test_a_row_of_a_relation_that_lacks_it_or_has_it_too_many():
    differences = [RowDifference(bag("a"), bag("b"), 2), RowDifference(bag(""), bag("c"), 1)]
    wrong_rows = WrongRows(differences, Mode.VALUE)
    places = list(product(range(-1, 3), "abc"))
    lacking = [place for place in places if wrong_rows.is_lacking(place[0], line(place[1]))]
    too_many = [place for place in places if wrong_rows.is_too_many(place[0], line(place[1]))]
    assert lacking == [(0, "a")]
    assert too_many == [(0, "b"), (1, "c")]
    assert [name for name in "abc" if wrong_rows.is_too_many_somewhere(line(name))] == ["b", "c"]


def test_how_two_relations_differ():
    def difference(expected: str, actual: str) -> tuple:
        return alignment.difference_of(bag(expected), bag(actual), Mode.VALUE)

    assert difference("ab", "ba") == (bag(""), bag(""), 0)
    assert difference("abb", "bcd") == (bag("ab"), bag("cd"), 4)
    # blank nodes have the same labels, or they differ, unless the whole bags are the same
    shared, apart = (Counter([(("x", "_:a"),), (("y", label),)]) for label in ("_:a", "_:b"))
    renamed = Counter([(("x", "_:k"),), (("y", "_:k"),)])
    assert alignment.difference_of(shared, renamed, Mode.VALUE).differing == 0
    assert alignment.difference_of(shared, apart, Mode.VALUE).differing == 2


# Rows that no window can give (ORA-10)


JOIN = "SELECT ?x ?z { ?x <urn:p> ?y . ?y <urn:q> ?z }"
FAR_APART = stream(
    [
        (("<urn:a>", "<urn:p>", "<urn:k>"), 1),
        (("<urn:k>", "<urn:q>", "<urn:z>"), 9),
        (("<urn:b>", "<urn:p>", "<urn:k>"), 12),
        (("<urn:k>", "<urn:q>", "<urn:z>"), 20),
        (("<urn:k>", "<urn:q>", "_:n"), 40),
    ]
)


def unreachable(text: str, size: int, *lines: dict, source: Stream = FAR_APART, **more):
    query = Query((Window("s", more.pop("kind", WindowKind.TIME), size, size),), Body(text))
    recording = [Relation(("x", "z"), Counter([row(each)])) for each in lines]
    question = Question(query, {"s": source}, more.pop("static", frozenset()))
    return find_unreachable_row(RecordingToJudge.of(question, recording))


def pair(x: str, z: str) -> dict[str, str]:
    return {"x": f"<urn:{x}>", "z": f"<urn:{z}>"}


@pytest.mark.parametrize(
    ("size", "lines", "expected"),
    [
        (7, [pair("a", "z")], ("a", 8)),
        (8, [pair("a", "z")], None),
        (2, [pair("b", "z")], ("b", 3)),  # from 9 to 12, and not to 20
        (3, [pair("b", "z"), pair("a", "z")], ("a", 8)),
        (50, [pair("c", "z")], ("c", None)),
        (50, [pair("a", "z"), {"x": "<urn:a>", "z": "_:m"}], None),  # a blank node is any
        (50, [{"x": "<urn:c>", "z": "_:m"}], None),
        (7, [], None),
    ],
)
def test_a_row_whose_elements_are_too_far_apart(size, lines, expected):
    found = unreachable(JOIN, size, *lines)
    if expected is not None:
        name, span = expected
        expected = UnreachableRow(row(pair(name, "z")), span)
    assert found == expected


def test_what_is_said_of_no_row():
    """Where a body's rows do not each rest on elements, or not on those of the one window."""
    never = pair("c", "z")
    assert unreachable(JOIN, 5, never) is not None
    assert unreachable(JOIN.replace("SELECT", "SELECT DISTINCT"), 5, never) is None
    assert (
        unreachable("SELECT ?x ?z { { ?x <urn:p> ?z } UNION { ?z <urn:q> ?x } }", 5, never) is None
    )
    assert (
        unreachable(JOIN, 5, never, static=frozenset([("<urn:s>", "<urn:p>", "<urn:o>")])) is None
    )
    assert unreachable(JOIN, 5, never, kind=WindowKind.RANGE) is None
    long = Stream((*FAR_APART, Element(frozenset(), 50, 60, end=70)))
    assert unreachable(JOIN, 5, never, source=long) is None


def test_the_least_span_of_one_date_of_each_list():
    rng = Random(0)
    for _ in range(200):
        dates = [rng.choices(range(30), k=rng.randint(1, 3)) for _ in range(rng.randint(1, 3))]
        expected = min(max(chosen) - min(chosen) for chosen in product(*dates))
        assert divergence._span(dates) == expected
    assert divergence._span([]) == 0


# The costs, one by one


def beside(*texts: str, missing: int = 0) -> alignment._Beside:
    question = Question(QUERY, FOUR)
    recorded = RecordingToJudge.of(question, relations(*texts), missing=missing)
    return alignment._Beside(recorded, Reports(REPORTS), Closure.RIGHT_OPEN)


def test_what_reports_before_the_recording_cost():
    assert [beside("a").rows_lost(count) for count in (-1, 0, 1, 4, 5)] == [0, 0, 2, 8, None]


def test_what_reports_after_the_recording_cost():
    assert [beside("a")._rows_beyond(before) for before in range(4)] == [6, 4, 2, 0]
    assert [beside("a", missing=1)._rows_beyond(before) for before in range(4)] == [4, 2, 0, 0]


def test_what_relations_without_a_report_cost():
    assert beside("ab", "", "c")._costs_without_report == [6, 3, 2]


def test_the_differing_rows_of_an_alignment():
    one = beside("b", "cx", "d", "y")
    assert one.differing_rows(1, 2, None) == 2 + 1 + 2  # lost, x, and {y} without a report
    assert one.differing_rows(0, 0, None) == 2 + 3 + 2 + 2
    for bound in range(10):
        assert (one.differing_rows(0, 0, bound) == 9) is (bound >= 9)
        assert (one.differing_rows(1, 2, bound) == 5) is (bound >= 5)


def test_one_thing_that_is_wrong():
    def gaps(*texts: str, before: int = 0, lost: int = 0, missing: int = 0) -> list:
        return [tuple(gap) for gap in beside(*texts, missing=missing).gaps(before, lost)]

    # (rows, lost, repeated)
    assert gaps("a", "b", "d") == [(2, 2, None)]
    assert gaps("a", "c") == [(2 + 2, 1, None)]  # and d is missing after it
    assert gaps("a", "c", missing=1) == [(2, 1, None)]
    assert gaps("b", "d", before=1, lost=7) == [(9, 2, None)]
    assert gaps("a", "x", "b", "c", "d") == [(2, None, 1)]
    assert gaps("a", "xy", "b") == [(3 + 4, None, 1)]
    assert gaps("a", "a", "b", before=0, lost=1) == [(1 + 2 + 4, None, 1)]
    # at the ends, and where more is wrong
    assert gaps("b", "c", "d") == gaps("a", "b", "c", "d") == gaps("a", "b", "x") == []
    assert gaps("a", "x", "y", "d") == gaps("a", "b", "c", "d", "x") == []


def test_at_most_some_reports_are_looked_at(monkeypatch):
    monkeypatch.setattr(alignment, "SURPLUS_BOUND", 1)
    assert beside("a")._rows_beyond(0) == 2
    found = judged(relations("d")).trial
    # two reports before it may be looked at, not three
    assert found.divergence.cost.rows > 6 or found.alignment.before <= 1


# Answers that are compared as terms, and several assignments


NUMBERS = Query(QUERY.windows, Body("SELECT ?y { ?x <urn:p> ?y }"))


def number(text: str) -> str:
    return literal(text, XSD + "integer")


def numbered(is_ordered: bool = True, **times: int) -> dict[str, Stream]:
    """Return a stream of the numbers 1, 2, …, at these instants."""
    items = [(("<urn:s>", "<urn:p>", number(str(i))), at) for i, at in enumerate(times.values(), 1)]
    return {"s": Stream(stream(items).elements, ordered=is_ordered)}


def numbers(*texts: str) -> list[Relation]:
    return [
        Relation(("y",), Counter(row({"y": number(each)}) for each in text.split()))
        for text in texts
    ]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    ("texts", "missing", "index", "distance", "reading"),
    [
        (["1", "02", "3"], 0, 1, (2, 2), ""),
        (["1", "3"], 0, 1, (2, 1), None),
        (["1", "03"], 0, 1, (4, 4), ""),  # a report is lost, and 3 is not 03
        (["1", "5", "02", "3"], 0, 1, (6, 6), ""),
        (["02", "3"], 0, 0, (4, 4), ""),
        (["3", "1", "02"], 0, 0, (6, 4), ""),
    ],
)
def test_terms_are_not_compared_by_value(texts, missing, index, distance, reading, mode):
    given = numbered(a=1, b=6, c=11)
    found = judge(NUMBERS, given, CLOSING, numbers(*texts), missing=missing, mode=mode)
    if mode is Mode.VALUE:  # 02 is 2
        plain = [text.replace("0", "") for text in texts]
        same = judge(NUMBERS, given, CLOSING, numbers(*plain), missing=missing)
        assert found.passed is same.passed
        return
    assert not found.passed
    assert (found.trial.divergence.index, found.trial.divergence.cost) == (index, distance)
    if reading is not None:
        told = find_explanations(found.recorded, CLOSING, found, fields=()).readings
        assert told == ()


def test_slips_are_not_compared_by_value():
    given = numbered(a=1, b=6, c=10)
    for text, mode, fate in (
        ("2 3", Mode.VALUE, Fate.EARLY),
        ("2 03", Mode.VALUE, Fate.EARLY),
        ("2 3", Mode.TERM, Fate.EARLY),
        ("2 03", Mode.TERM, Fate.OUT),
    ):
        found = judge(NUMBERS, given, CLOSING, numbers("1", text, ""), missing=0, mode=mode)
        (border,) = found.trial.divergence.borders
        assert border.fate is fate, (text, mode)


def test_a_term_that_the_stream_never_gives():
    question = Question(NUMBERS, numbered(a=1))
    for mode, expected in (
        (Mode.VALUE, None),
        (Mode.TERM, UnreachableRow(row({"y": number("01")}), None)),
    ):
        recorded = RecordingToJudge.of(question, numbers("01"), mode=mode)
        assert find_unreachable_row(recorded) == expected


def test_relations_are_dealt_to_instants_as_terms():
    given = numbered(is_ordered=False, a=3, b=3)
    query = Query((Window("s", WindowKind.TIME, 10, 10),), NUMBERS.body)
    judged = profile("cqels").but(t0=0)
    right = judge(query, given, judged, numbers("01", "2"), missing=0)
    assert right.passed
    wrong = judge(query, given, judged, numbers("01", "2"), missing=0, mode=Mode.TERM)
    divergence = wrong.trial.divergence
    assert (divergence.index, divergence.cost) == (0, Distance(2, 2))


@pytest.mark.parametrize("values", [(0, 2), (2, 0), (2, 0, 3)])
def test_the_nearest_of_several_assignments(values):
    """From t0 = 0 one row is wrong and one is lacking. From 2 or 3 the first window lacks a."""
    found = judge(
        QUERY, FOUR, CLOSING.but(t0=OneOf(values)), relations("a", "x", "c", "d"), missing=0
    )
    assert not found.passed and found.tried == len(values)
    assert found.trial.t0_class.t0 == 0 and found.trial.divergence.cost == Distance(2, 2)
    assert found.trial.reports is not None


@pytest.mark.parametrize("first", list(Collection))
def test_of_several_that_are_as_near_the_first_is_named(first):
    """Each row is there once, so that bags and sets are the same."""
    order = sorted(Collection, key=lambda each: each is not first)
    found = judge(
        QUERY,
        FOUR,
        CLOSING.but(collection=OneOf(tuple(order))),
        relations("a", "x", "c", "d"),
        missing=0,
    )
    assert found.trial.semantics.collection is first


def test_of_several_with_as_many_rows_the_one_with_most_slips_is_nearest():
    """At 10 c is in [5, 10] under [], and in [10, 15) under [): from there it slips into the window
    before. Under (] it is in (5, 10] alone, where it is right.
    """
    for closures in (("[)", "[]"), ("[]", "[)")):
        found = judge(
            QUERY,
            ON_BORDER,
            CLOSING.but(closure=OneOf(tuple(map(Closure, closures)))),
            relations("a", "bc", "", "d"),
            missing=0,
        )
        assert not found.passed and found.trial.divergence.cost.unexplained == 0


@pytest.mark.parametrize("matched", [(0, 1), (1, 0), (1, 1)])
def test_of_two_that_are_as_near_the_first_is_named_however_many_relations_each_matches(matched):
    """The order in which they are looked at, from the most relations down, decides nothing."""
    recorded = RecordingToJudge.of(Question(QUERY, FOUR), relations("a"))
    divergence = Divergence(0, None, None, (), None, None, "", cost=Distance(3, 0))
    trials = [
        Trial(CLOSING.semantics(), T0Class(t0, t0, t0), None, divergence, most_matched=most)
        for t0, most in enumerate(matched)
    ]
    assert alignment.nearest_trial(recorded, trials, SharedAnswers()) is trials[0]


def test_without_an_assignment_nothing_is_nearest():
    recorded = RecordingToJudge.of(Question(QUERY, FOUR), relations("a"))
    assert alignment.nearest_trial(recorded, [], SharedAnswers()) is None


@pytest.mark.parametrize(
    ("texts", "bound", "expected"),
    [
        # (rows, reports before, lost, repeated)
        ("a x c d", None, [(2, 0, None, None)]),
        ("a x c d", 2, [(2, 0, None, None)]),
        ("a x c d", 1, []),
        ("b c d", None, [(8, 0, None, None), (2, 1, None, None)]),
        ("b c d", 7, [(2, 1, None, None)]),
        # two reports more, of one row each
        ("a b", None, [(4, 0, None, None)]),
        ("a b", 4, [(4, 0, None, None)]),
        ("a b", 3, []),
        ("a b d", None, [(4, 0, None, None), (2, 0, 2, None)]),
        ("a b d", 2, [(2, 0, 2, None)]),
        ("a b d", 1, []),
        ("a b b c d", None, [(6, 0, None, None), (2, 0, None, 2)]),
        # a recording without relations: no report is missing before it, and all are after it
        ("", None, [(8, 0, None, None)]),
    ],
)
def test_each_alignment_has_no_more_differing_rows_than_the_one_before(texts, bound, expected):
    recorded = RecordingToJudge.of(Question(QUERY, FOUR), relations(*texts.split()), missing=0)
    trial = Trial(CLOSING.semantics(), T0Class(0, 0, 0), accepting_state=None)
    found = list(alignment._candidates(recorded, trial, 7, SharedAnswers(), bound))
    assert [(each.rows, each.before, each.lost, each.repeated) for each in found] == expected
    assert all(each.number == 7 and each.trial == trial for each in found)
    searched = replace(
        trial,
        divergence=Divergence(0, None, None, (), None, None, "", cost=Distance(3, 0)),
    )
    for most, count in ((None, 1), (3, 1), (2, 0)):
        only = list(alignment._candidates(recorded, searched, 7, SharedAnswers(), most))
        assert only == [alignment._Candidate(3, 0, 7, searched)] * count


@pytest.mark.parametrize("recorded", [[], ["z"]])
def test_a_value_with_too_many_reports_is_not_the_nearest(recorded: list[str]):
    """ENG-3, ORA-9: With t0 = 0, which is tried too, windows that close since 1970 are reported,
    each ms. What is nearest is a value at the element, which is the only one.
    """
    now = 1_700_000_000_000
    query = from_table(
        {
            "windows": [{"stream": "s", "kind": "time", "size": 10_000, "slide": 1_000}],
            "body": "SELECT ?x { ?x <urn:p> ?y }",
        }
    )
    source = stream([(("<urn:a>", "<urn:p>", "<urn:y>"), now)])
    unknown = profile("csparql").but(t0=UNKNOWN, report="window-close")
    answers = [Relation(("x",), Counter([row({"x": f"<urn:{name}>"})])) for name in recorded]
    found = judge(query, {"s": source}, unknown, answers, missing=0)
    assert not found.passed and abs(found.trial.t0_class.t0 - now) < 20_000

    none = judge(query, {"s": source}, unknown.but(t0=Between(0, 3)), answers, missing=0)
    assert not none.passed and none.trial is None
