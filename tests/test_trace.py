"""What `--trace` says of an evaluation, line by line, derived by hand from SPEC.md's rules."""

from __future__ import annotations

import re
from itertools import islice

import pytest

from conformance import corpus
from conformance.corpus import Case
from conformance.corpus.specification import ID, only, values
from refengine import Body, Query, Stream, Window, WindowKind, profile, stream
from refengine.core import engine
from refengine.core.values import R2S, Empty
from refengine.trace import lines

SELECT = Body("SELECT ?x { ?x <urn:p> ?y }")
# of one report of one row, when a window [0, 10) or the like closes
ENDS = (
    "R2R-1 the dataset has 1 triples of streams",
    "R2R-2 SELECT answers 1 rows",
    "R2S-1 Rstream (R2S-6 said by the semantics) gives 1 rows",
)


def element(name: str, at: int) -> tuple:
    """An element with one triple."""
    return (f"<urn:{name}>", "<urn:p>", "<urn:o>"), at


def window(kind: str, size: int | None = None, slide: int | None = None, **more) -> Window:
    """A window on the stream `s`."""
    return Window("s", WindowKind(kind), size, slide, **more)


def traced(windows, *elements, body=SELECT, stated=None, others=None, **fields) -> list[list[str]]:
    """The lines of each evaluation, under C-SPARQL's profile, with t0 = 0 unless it is given."""
    query = Query(tuple(windows), body, stated)
    streams = {"s": stream(list(elements)), **(others or {})}
    semantics = profile("csparql").but(**{"t0": 0, **fields}).semantics()
    planned = engine.plan(query, streams, semantics)
    return [list(lines(query, planned, step)) for step in engine.steps(query, planned)]


TUMBLING = window("time", 10, 10)


def test_two_windows_one_closed_by_an_arrival_and_one_by_the_horizon():
    """[0, 10) holds a and is closed by b, [10, 20) holds b; H is 10 + 2 + 10 (ENG-1). ENG-4: the
    border instant of [o, c) is the evaluation instant + 1.
    """
    first, last = traced([TUMBLING], element("a", 3), element("b", 10))
    assert first == [
        "TICK-1 tuple tick: arrival 2 at 10 is looked at",
        "TICK-4 one of its instants is 9",
        "WIN-4 the active window is number 0, WIN-3 [0, 10)",
        "WIN-5 the scope is the instants 0 to 9",
        "WIN-8 the content is the elements 1@3",
        "REP-1 window close holds: 9 is a window's last instant",
        "REP-3 non-empty holds",
        *ENDS,
        "ENG-4 the output instant (close) is 10",
    ]
    assert last == [
        "ENG-1 the stream is flushed to 22",
        "TICK-1 tuple tick: the horizon 22 is looked at",
        "TICK-4 one of its instants is 19",
        "WIN-4 the active window is number 1, WIN-3 [10, 20)",
        "WIN-5 the scope is the instants 10 to 19",
        "WIN-8 the content is the elements 2@10",
        "REP-1 window close holds: 19 is a window's last instant",
        "REP-3 non-empty holds",
        *ENDS,
        "ENG-4 the output instant (close) is 20",
    ]


def test_of_several_windows_each_line_names_its_stream():
    """The window on r, [0, 4), closes at 3, that on s does not; both contents are read (REP-12).
    The element at 1 comes after one at 3, later than the bound of 0 (MOD-2).
    """
    other = Window("r", WindowKind.TIME, 4, 4)
    [found, *_] = traced(
        [TUMBLING, other],
        element("a", 3),
        element("late", 1),
        element("b", 10),
        others={"r": stream([element("c", 2)])},
        tick="time",
        report="window-close,non-empty,content-change",
        change_scope="graph",
        allowed_lateness=0,
        horizon="none",
    )
    assert found == [
        "TICK-2 time tick: arrival 3 at 10 is looked at",
        "TICK-4 one of its instants is 3",
        "WIN-4 window on s: the active window is number 0, WIN-3 [0, 10)",
        "WIN-5 window on s: the scope is the instants 0 to 3",
        "WIN-8 window on s: the content is the elements 1@3",
        "REP-1 window on s: window close does not hold: 3 is not a window's last instant",
        "REP-2 window on s: content change is of graph, against the last-report",
        "REP-3 window on s: non-empty holds",
        "WIN-4 window on r: the active window is number 0, WIN-3 [0, 4)",
        "WIN-5 window on r: the scope is the instants 0 to 3",
        "WIN-8 window on r: the content is the elements 1@2",
        "REP-1 window on r: window close holds: 3 is a window's last instant",
        "REP-2 window on r: content change is of graph, against the last-report",
        "REP-3 window on r: non-empty holds",
        "REP-12 the trigger is any of 2 windows",
        "MOD-2 1 late elements were dropped",
        "R2R-1 the dataset has 2 triples of streams",
        "R2R-2 SELECT answers 2 rows",
        "R2S-1 Rstream (R2S-6 said by the semantics) gives 2 rows",
        "ENG-4 the output instant (close) is 4",
    ]


def test_a_window_that_does_not_fire_says_so():
    """On s nothing came, so that of the two windows only that on r fires, at 1."""
    other = Window("r", WindowKind.TIME, 2, 2)
    [found] = traced(
        [TUMBLING, other],
        others={"r": stream([element("c", 1), element("d", 2)])},
        report="window-close,non-empty",
        horizon="none",
    )
    assert found[4] == "WIN-8 window on s: the content is empty"
    assert found[6] == "REP-3 window on s: non-empty does not hold"
    assert found[11] == "REP-3 window on r: non-empty holds"


def test_a_window_of_which_no_scope_is_there_yet():
    """WIN-12: the first window of the range, [0, 40), has ended at 39. That on r beats at 1, where
    the border instant is 2, and is not empty.
    """
    other = Window("r", WindowKind.TIME, 2, 2)
    [found] = traced(
        [window("range", 40, 40), other],
        others={"r": stream([element("c", 1), element("d", 2)])},
        report="non-empty,periodic",
        period=2,
        anchor=0,
        horizon="none",
    )
    assert [line for line in found if "on s" in line] == [
        "WIN-12 window on s: nothing is shown before 39, where the first window of the range on "
        "'s' ends, by t0=0 and partial=suppressed"
    ]
    assert "REP-4 window on r: periodic holds: every 2 from 0" in found


def test_a_window_that_has_not_begun():
    """t0 is each stream's first instant: at 2, where [1, 3) closes, that on s is yet to come."""
    other = Window("r", WindowKind.TIME, 2, 2)
    [found, *_] = traced(
        [TUMBLING, other],
        element("a", 20),
        others={"r": stream([element("c", 1)])},
        t0="first-element",
        horizon="none",
    )
    assert found[:3] == [
        "TICK-1 tuple tick: arrival 2 at 20 is looked at",
        "TICK-4 one of its instants is 2",
        "ENG-5 window on s: it has no scope yet",
    ]


ARRIVALS = element("a", 1), element("b", 2), element("c", 3)
CHANGE = "REP-2 content change is of elements, against the last-report"


@pytest.mark.parametrize(
    ("spec", "fields", "expected"),
    [
        (  # the latest two
            window("rows", 2),
            {"closure": "none", "report": "content-change", "change_baseline": "previous-instant"},
            [
                "WIN-14 the content is the elements 1@1, 2@2",
                "REP-2 content change is of elements, against the previous-instant",
            ],
        ),
        (
            window("partition", 2, by=("predicate",)),
            {"closure": "none", "report": "content-change"},
            ["WIN-15 the content is the elements 1@1, 2@2", CHANGE],
        ),
        (
            window("unbounded"),
            {"closure": "none", "report": "content-change"},
            ["WIN-8 the content is the elements 1@1, 2@2", CHANGE],
        ),
        (  # from 0 on, the landmark
            window("landmark"),
            {"report": "content-change"},
            [
                "WIN-5 the scope is the instants 0 to 2",
                "WIN-8 the content is the elements 1@1, 2@2",
                CHANGE,
            ],
        ),
        (  # the window that ends at 2, the second one, is [1, 2]
            window("range", 1),
            {"closure": "[]", "report": "content-change"},
            [
                "WIN-12 the latest window that has ended is number 1, WIN-3 [1, 2]",
                "WIN-5 the scope is the instants 1 to 2",
                "WIN-8 the content is the elements 1@1, 2@2",
                CHANGE,
            ],
        ),
        (  # so long before: the window that would be [1, 3) is [0, 2)
            Window("s", WindowKind.TIME, 2, 1, lag=1),
            {"report": "window-close,non-empty"},
            [
                "WIN-4 the active window is number 1, WIN-3 [0, 2)",
                "WIN-20 the window lies 1 back, by its lag",
                "WIN-5 the scope is the instants 0 to 1",
                "WIN-8 the content is the elements 1@1",
                "REP-1 window close holds: 2 is a window's last instant",
                "REP-3 non-empty holds",
            ],
        ),
        (  # ids: the window [1, 3) holds the first and the second when the third comes
            window("tuple", 2, 1),
            {"report": "window-close,non-empty"},
            [
                "WIN-4 the active window is number 1, WIN-3 [1, 3)",
                "WIN-5 the scope is the instants 1 to 2",
                "WIN-8 the content is the elements 1@1, 2@2",
                "REP-1 window close holds: 2 is a window's last instant",
                "REP-3 non-empty holds",
                "REP-7 2 is the largest id of the tick at which they hold",
            ],
        ),
    ],
    ids=lambda value: str(value.kind) if isinstance(value, Window) else None,
)
def test_the_lines_of_a_kind_of_window(spec, fields, expected):
    """At the instant 2, shown by the arrival of c."""
    found = next(
        each
        for each in traced([spec], *ARRIVALS, horizon="none", **fields)
        if each[:2]
        == ["TICK-1 tuple tick: arrival 3 at 3 is looked at", "TICK-4 one of its instants is 2"]
    )
    assert found[2 : 2 + len(expected)] == expected
    assert found[2 + len(expected)].startswith("R2R-1 ")


def test_periodic_that_does_not_hold():
    """Under [o, c) the border instant at 3 is 4: of the period 3 from c, at 1, not from a, at 2."""
    other = Window("r", WindowKind.TIME, 10, 10)
    first, *_ = traced(
        [TUMBLING, other],
        element("a", 2),
        others={"r": stream([element("c", 1), element("d", 9)])},
        report="non-empty,periodic",
        period=3,
        anchor="first-element",
        horizon="none",
    )
    assert [line for line in first if line.startswith(("TICK-4", "REP-4"))] == [
        "TICK-4 one of its instants is 3",
        "REP-4 window on s: periodic does not hold: every 3 from 2",
        "REP-4 window on r: periodic holds: every 3 from 1",
    ]


def test_the_batch_tick():
    elements = stream([element("a", 3), element("b", 10)]).elements
    batches = tuple(each._replace(batch=number) for number, each in enumerate(elements, 1))
    [first, _] = traced([TUMBLING], others={"s": Stream(batches)}, tick="batch")
    assert first[0] == "TICK-3 batch tick: arrival 2 at 10 is looked at"


def test_of_many_elements_the_first_twelve_are_shown():
    """13 elements at 0 to 12 are in [0, 20)."""
    elements = [element(f"e{n}", n) for n in range(13)]
    [found] = traced([window("time", 20, 20)], *elements)
    shown = ", ".join(f"{n + 1}@{n}" for n in range(12))
    assert f"WIN-8 the content is the elements {shown}, … 1 more" in found
    assert "R2R-1 the dataset has 13 triples of streams" in found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ASK { ?x <urn:p> ?y }", "R2R-3 ASK answers 1 rows"),
        (
            "CONSTRUCT { ?x <urn:q> 1, 2 } WHERE { ?x <urn:p> ?y }",
            "R2R-4 CONSTRUCT answers 2 rows",
        ),
        ("SELECT ?x { ?x <urn:none> ?y }", "R2R-2 SELECT answers 0 rows"),
        # one row twice
        ("SELECT ?y { ?x <urn:p> ?y }", "R2R-2 SELECT answers 2 rows"),
        (
            "SELECT ?y { ?x <urn:p> ?y }",
            "R2S-1 Rstream (R2S-6 said by the semantics) gives 2 rows",
        ),
    ],
)
def test_the_forms(body, expected):
    elements = [element("a", 3)]
    if "SELECT ?y" in body:
        elements.append(element("b", 4))
    [found] = traced([TUMBLING], *elements, body=Body(body))
    assert expected in found


OPERATORS = {
    R2S.RSTREAM: ("none", "R2S-1 Rstream (R2S-6 said by the semantics) gives 2 rows"),
    R2S.ISTREAM: ("previous", "R2S-2 Istream (R2S-6 said by the semantics) gives 1 rows"),
    R2S.DSTREAM: ("previous", "R2S-3 Dstream (R2S-6 said by the semantics) gives 0 rows"),
    R2S.APPEND: ("none", "R2S-7 append (R2S-6 said by the semantics) gives 1 rows"),
}


@pytest.mark.parametrize("operator", R2S)
def test_the_operators(operator):
    """A landmark window holds a, and then a and b."""
    base, expected = OPERATORS[operator]
    elements = element("a", 1), element("b", 2)
    fields = {"report": "content-change", "r2s": operator, "base": base}
    assert expected in traced([window("landmark")], *elements, **fields)[-1]


def test_an_operator_that_the_query_states():
    elements = element("a", 1), element("b", 2)
    fields = {"report": "content-change", "r2s": "Dstream", "base": "previous"}
    *_, last = traced([window("landmark")], *elements, stated=R2S.ISTREAM, **fields)
    assert "R2S-2 Istream (R2S-6 stated by the query) gives 1 rows" in last


EMITTED_EMPTY_OUTPUTS = {
    Empty.EMIT: (
        "",
        "R2S-5 the empty answer is emitted",
        "R2S-5 the empty answer is emitted",
    ),
    Empty.SUPPRESS: (
        "",
        "R2S-5 the empty answer is suppressed",
        "R2S-5 the empty answer is suppressed",
    ),
    Empty.ONCE: (
        "",
        "R2S-9 the empty answer is emitted",
        "R2S-9 the empty answer is suppressed",
    ),
}


@pytest.mark.parametrize("empty", EMITTED_EMPTY_OUTPUTS)
def test_what_becomes_of_an_empty_answer(empty):
    """Three windows hold a, z and z, of which the body finds a alone."""
    expected = EMITTED_EMPTY_OUTPUTS[empty]
    other = "<urn:z>", "<urn:q>", "<urn:o>"
    found = traced([TUMBLING], element("a", 3), (other, 13), (other, 23), empty=empty)
    said = [[line for line in each if "the empty answer" in line] for each in found]
    assert said == [[line] if line else [] for line in expected]
    assert [each[-1] for each in found] == [
        f"ENG-4 the output instant (close) is {c}" for c in (10, 20, 30)
    ]


@pytest.mark.parametrize(
    ("instant", "expected"), [("evaluation", 9), ("trigger", 12), ("eager", 3), ("close", 10)]
)
def test_the_output_instant(instant, expected):
    """[0, 10) is evaluated at 9, shown by the arrival at 12, after the one at 3."""
    [found] = traced([TUMBLING], element("a", 3), element("b", 12), instant=instant, horizon="none")
    assert found[-1] == f"ENG-4 the output instant ({instant}) is {expected}"


EVERY = {
    "reported_windows": "every",
    "late_for": "window",
    "watermark": "greatest",
    "watermark_delay": 0,
    "allowed_lateness": 5,
    "expiry_rule": "reached",
    "report": "window-close,non-empty",
    "instant": "evaluation",
    "horizon": "none",
}


def traced_causes(*elements, spec=TUMBLING, **fields) -> list[list[str]]:
    """Of each evaluation, the lines on the window and on why it is reported."""
    unordered = {"s": stream(list(elements), ordered=False)}
    found = traced([spec], others=unordered, **{**EVERY, **fields})
    return [[line for line in each if line.startswith(("WIN-", "REP-"))] for each in found]


def test_a_late_element_takes_back_what_a_window_showed():
    """[0, 10) closes when b comes, and takes c in, until 15. d finds it closed, and with c."""
    elements = element("a", 2), element("b", 12), element("c", 4), element("d", 13)
    again = "REP-14 it had closed, and took in an element; its conditions hold: "
    assert traced_causes(*elements, panes="retracting") == [
        [
            "WIN-3 the window is number 0, [0, 10)",
            "REP-14 it is open, and its conditions hold: non-empty, window-close",
            "REP-16 its retracting pane is the elements 1@2",
        ],
        [
            "WIN-3 the window is number 0, [0, 10)",
            f"{again}non-empty, window-close",
            "REP-16 it takes back what it showed: the elements 1@2",
        ],
        [
            "WIN-3 the window is number 0, [0, 10)",
            f"{again}non-empty, window-close",
            "REP-16 its retracting pane is the elements 1@2, 3@4",
        ],
    ]


def test_a_session_names_what_it_is_said_to_take_back():
    """Within a gap of 5: the sessions of a, [0, 5), and b, [6, 11), are reported early, each at the
    next arrival. c is near both: [0, 11), which takes both back. No watermark reaches 0.
    """
    elements = element("a", 0), element("b", 6), element("c", 3), element("d", 7)
    delayed = {"t0": -20, "watermark_delay": 9, "early_count": 1, "panes": "retracting"}
    found = traced_causes(*elements, spec=window("session", 5), **delayed)
    early = "REP-15 it is reported early: at least 1 of its elements are new"
    assert found == [
        ["WIN-23 the session is said to be [0, 5)", early, f"{PANE} 1@0"],
        ["WIN-23 the session is said to be [6, 11)", early, f"{PANE} 2@6"],
        ["WIN-23 the session is said to be [0, 5)", early, f"{BACK} 1@0"],
        ["WIN-23 the session is said to be [6, 11)", early, f"{BACK} 2@6"],
        ["WIN-23 the session is said to be [0, 11)", early, f"{PANE} 1@0, 2@6, 3@3"],
    ]


PANE = "REP-16 its retracting pane is the elements"
BACK = "REP-16 it takes back what it showed: the elements"


def test_an_early_report_names_its_count_or_its_period():
    """a and b are two new elements when c comes, which is tested at 2, b's own instant, and 3. Of
    the period 4 the border instants 4 and 8 are those at 3 and 7: at 3 c is not seen yet, at 7 d
    sees it. [0, 10) does not close.
    """
    elements = element("a", 1), element("b", 2), element("c", 4), element("d", 9)
    found = traced_causes(*elements, early_count=2, early_period=4)
    early = "REP-15 it is reported early: "
    assert [line for each in found for line in each if line.startswith("REP-1")] == [
        f"{early}at least 2 of its elements are new",
        "REP-16 its accumulating pane is the elements 1@1, 2@2",
        f"{early}the border instant 4 is a multiple of 4",
        "REP-16 its accumulating pane is the elements 1@1, 2@2",
        f"{early}the border instant 8 is a multiple of 4",
        "REP-16 its accumulating pane is the elements 1@1, 2@2, 3@4",
    ]


# The rules of values, or the values, that no line of a trace names, and why.
UNTRACED = {
    "SEM-2": "it says which fields have no value",
    "QRY-5": "it says which queries need no closure",
    "WIN-2": "the closure shows in the borders of WIN-3",
    "WIN-6": "the ids of a tuple-based window are in the line of WIN-5",
    "WIN-7": "t0 shows in the borders of WIN-3",
    "WIN-10": "t0 shows in the borders of WIN-3",
    "WIN-21": "t0 shows in the borders of WIN-3",
    "WIN-11": "it says which windows are reported; a clipped one shows in the line of WIN-5",
    "WIN-13": "it says what a window holds, which is in the line of WIN-8",
    "WIN-16": "the ids that it counts are in the line of WIN-5",
    "WIN-17": "the slide shows in the borders of WIN-3",
    "consumption=unrestricted": "it says that nothing is done",
    "window=now": "its borders are those of WIN-3",
    "TICK-6": "it says at which arrival a window is closed, which the line of TICK-1 names",
    "TICK-7": "it adds an evaluation, whose lines are those of any other",
    "REP-8": "the line of REP-2 states the value",
    "REP-9": "the line of REP-2 states the value",
    "REP-10": "it says which evaluations there are",
    "REP-11": "the line of REP-4 has the anchor's instant",
    "R2R-9": "it shows in the number of rows in the line of R2R-2",
    "R2S-4": "the baseline shows in the number of rows in the line of the operator",
    "R2S-8": "the baseline shows in the number of rows in the line of the operator",
    "horizon=none": "nothing is flushed",
    "allowed_lateness=reject": "nothing is late",
    "MOD-5": "it says which arrivals close a window",
    "WIN-22": "the line of REP-16 has the elements that the window took in",
    "reported_windows=active": "as without the field",
    "clock=key": "the line of WIN-24 names the key",
}


def traced_rules(case: Case) -> set[str]:
    """The rules that the traces of a case name: none, if it expects no reports."""
    if "expect" not in case.table:
        return set()
    query = corpus.query_of(case)
    streams = corpus.streams_of(case)
    static = corpus.static_of(case)
    found = set()
    for block in case.table["expect"]:
        planned = engine.plan(query, streams, corpus.semantics_of(block["semantics"]))
        for step in islice(engine.steps(query, planned, static=static), 50):
            for line in lines(query, planned, step):
                found |= set(re.findall(ID, line))
    return found


def test_the_rule_of_every_value_is_traced():
    """Of each value of a field some case of its rule has a trace that names the rule, unless
    UNTRACED says why none does.
    """
    every_case = corpus.cases()
    untraced = []
    for field, value, rule in values():
        of_rule = (only(case, field, value) for case in every_case if case.rule == rule)
        if not any(rule in traced_rules(case) for case in of_rule if case is not None):
            untraced.append((field, value, rule))
    unlisted = [
        f"{field}={value}: no trace names {rule}"
        for field, value, rule in untraced
        if not {rule, f"{field}={value}"} & UNTRACED.keys()
    ]
    assert not unlisted
    used = {name for field, value, rule in untraced for name in (rule, f"{field}={value}")}
    assert UNTRACED.keys() <= used
