"""REP-14 to REP-16, MOD-5, WIN-22 and WIN-23: windows that are each reported on their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from conftest import PROFILE
from every_window import EVERY_WINDOW, LATE_FOR_WINDOW
from hypothesis import given
from hypothesis import strategies as st
from test_enumeration import Case, divergence, draw_case_of_each_window, enumerated

from refengine import Engine, Query, evaluate, from_table, profile, stream
from refengine.core import engine
from refengine.core.profile import OneOf, Profile
from refengine.core.query import WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import (
    Clock,
    ExactGap,
    ExpiredSession,
    ExpiryRule,
    LateFor,
    Panes,
    SessionBorder,
    Watermark,
)
from refengine.incremental.arrival_buffer import plan_streamed
from refengine.incremental.engine import evaluate_incrementally
from refengine.incremental.parts import evaluate_in_parts
from refengine.model.errors import InvalidSemantics, RefengineError, TooManyReports, Unsupported
from refengine.oracle.judge import judge

pytestmark = pytest.mark.xdist_group("each window")

CASES = st.randoms(use_true_random=False).map(draw_case_of_each_window)
MANY = {"ci": 200, "full": 20_000}.get(PROFILE, 200)

VALUES = 600  # draws, on each of which each value is tried; few sessions expire: of 2400

# a field, and its values that have a meaning beside any others; None stands for those that the
# semantics has where elements are late for their stream
CHOICES = {
    "exact_gap": tuple(ExactGap),
    "expired_session": tuple(ExpiredSession),
    "session_border": tuple(SessionBorder),
    "expiry_rule": tuple(ExpiryRule),
    "panes": tuple(Panes),
    "early_count": (None, 1, 2),
    "early_period": (None, 1, 2),
    "watermark": tuple(Watermark),
    "clock": tuple(Clock),
    "watermark_delay": (0, 1, 3),
    "allowed_lateness": (0, 2),
}
OF_SESSIONS = ("exact_gap", "expired_session", "session_border")
OF_LATE_WINDOWS = ("expiry_rule", "watermark", "watermark_delay", "allowed_lateness")


def draws(number: int) -> Iterator[Case]:
    """The first of the cases."""
    return (draw_case_of_each_window(Random(seed)) for seed in range(number))


def difference(case: Case) -> str | None:
    """Where the engine differs from the enumeration."""
    listed = enumerated(case)
    return divergence(case, listed.reports(), listed.emitted(case.answer, case.query.r2s))


def test_engine_and_enumeration_agree():
    """The same reports and relations, `make brute` on 20,000 draws. Where they differ,
    Hypothesis draws again, and looks for the smallest.
    """

    @given(CASES)
    def agree(case: Case) -> None:
        found = difference(case)
        assert found is None, found

    if any(difference(case) is not None for case in draws(MANY)):
        agree()
        raise AssertionError("the engine differs from the enumeration")


def test_incremental_evaluation_agrees():
    """ENG-6: The same reports, each answer made from the one before it."""
    for case in draws(MANY if PROFILE == "full" else MANY // 3):
        options = {"static": case.static}
        plain = list(evaluate(case.query, case.streams, case.semantics, **options))
        run = evaluate_incrementally(case.query, case.streams, case.semantics, **options)
        assert list(run) == plain
        assert str(run.provenance) == "incremental"


def with_value(semantics: Semantics, field: str, value: object) -> Semantics | None:
    """A semantics with another value of a field; None where it means nothing."""
    if field in OF_LATE_WINDOWS and semantics.late_for is LateFor.STREAM:
        return None
    return replace(semantics, **{field: value})


def test_each_value_decides_something():
    """Each value gives reports on some draws that no other value of its field gives."""
    decided: Counter[tuple[str, object]] = Counter()
    for number, case in enumerate(draws(4 * VALUES)):
        for field, values in CHOICES.items():
            is_session = case.query.windows[0].kind is WindowKind.SESSION
            if not is_session if field in OF_SESSIONS else number >= VALUES:
                continue
            found = {}
            for value in values:
                other = with_value(case.semantics, field, value)
                if other is not None:
                    plan = engine.plan(case.query, case.streams, other)
                    found[value] = list(engine.evaluations(plan))
            for value, reports in found.items():
                alone = all(reports != found[each] for each in found if each is not value)
                decided[field, value] += len(found) > 1 and alone
    for field, values in CHOICES.items():
        for value in values:
            assert decided[field, value] > 3, (field, value, decided)


OPEN = ("panes", "early_count", "exact_gap", "expiry_rule")


def test_the_oracle_passes_what_a_semantics_gives():
    """ORA-1: A field that is open takes the value that it had, or one that gives the same."""
    for number, case in enumerate(draws(MANY // 6)):
        reports = list(evaluate(case.query, case.streams, case.semantics, static=case.static))
        relations = [report.relation for report in reports]
        field = OPEN[number % len(OPEN)]
        fields = dict(vars(case.semantics))
        if with_value(case.semantics, field, fields[field]) is not None:
            fields[field] = OneOf(CHOICES[field])
            if vars(case.semantics)[field] not in CHOICES[field]:
                continue
        stated = [report.window for report in reports] if number % 2 else ()
        verdict = judge(
            case.query,
            case.streams,
            Profile("drawn", "drawn", fields),
            relations,
            static=case.static,
            witnesses=(),
            windows=stated,
        )
        assert verdict.passed, verdict


TUMBLING = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
SESSION = {"stream": "s", "kind": "session", "size": 5}
TRIPLE = ("<urn:a>", "<urn:p>", "<urn:b>")


def of(**fields: object) -> Semantics:
    """A semantics by which every window is reported, with some other fields."""
    return profile("csparql").with_fields(EVERY_WINDOW | fields).semantics()


def test_open_t0_is_found():
    """ORA-2: Elements at 3 and 12, windows of 10 from 0 on: the oracle names a t0 that gives these
    windows.
    """
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", "windows": [TUMBLING]})
    streams = {"s": stream([(TRIPLE, 3), (TRIPLE, 12)])}
    relations = [report.relation for report in evaluate(query, streams, of())]
    open_t0 = profile("csparql").with_fields({**EVERY_WINDOW, "t0": "unknown"})
    stated = [(0, 10), (10, 20)]
    verdict = judge(query, streams, open_t0, relations, windows=stated, witnesses=())
    assert verdict.passed
    assert verdict.named_trial.semantics.t0 in (-10, 0)


@pytest.mark.parametrize("closure", [None, "[)", "[]", "(]", "()"])
@pytest.mark.parametrize(("border", "stated"), [("gap", 13), ("last", 8), ("next", 9)])
def test_the_closure_does_not_apply_to_the_stated_borders_of_a_session(
    border: str, stated: int, closure: str | None
):
    """WIN-23, ORA-11: Elements at 0, 4 and 8 are one session within a gap of 5. An engine states
    0 and one of 13, 8 and 9, and may say which borders belong to its windows.
    """
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", "windows": [SESSION]})
    triples = [
        ((f"<urn:{place}>", "<urn:p>", "<urn:b>"), app) for place, app in enumerate((0, 4, 8))
    ]
    streams = {"s": stream(triples)}
    chosen = profile("csparql").with_fields({**EVERY_WINDOW, "session_border": border})
    (report,) = evaluate(query, streams, chosen.semantics())
    options = {"window_closure": closure, "witnesses": ()}
    for upper in (stated - 1, stated, stated + 1):
        verdict = judge(query, streams, chosen, [report.relation], windows=[(0, upper)], **options)
        assert verdict.passed == (upper == stated)


Reported = list[tuple[tuple[int, int], int, int]]


def reported(window: dict[str, object], apps: list[int], semantics: Semantics) -> Reported:
    """The borders, the number of elements and the trigger of each report over a stream, whose
    elements have a subject each.
    """
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", "windows": [window]})
    elements = [((f"<urn:{place}>", "<urn:p>", "<urn:b>"), app) for place, app in enumerate(apps)]
    given = stream(elements, ordered=False)
    found = evaluate(query, {"s": given}, semantics)
    return [(report.window, sum(report.relation.rows.values()), report.trigger) for report in found]


def test_an_arrival_is_reported_for_every_window_that_is_open():
    """REP-13, REP-14: Windows of 10 by 5, elements at 7, 7 and 12, the time tick. When the third
    comes, the time 7 is tested once for each of the first two, and [0, 10) and [5, 15) are open.
    """
    windows = {**TUMBLING, "slide": 5}
    found = reported(windows, [7, 7, 12], of(report="arrival", tick="time", horizon="none"))
    assert found == [((0, 10), 2, 12), ((5, 15), 2, 12)] * 2


def test_a_late_arrival_is_reported_for_the_window_that_takes_it_in():
    """REP-13, REP-14: The grace is 10; elements at 3, 12 and 4. The watermark after 4 is 12: when
    nothing follows 4 but 20, [0, 10), which has closed, took it in, and [10, 20) is open.
    """
    semantics = of(
        **LATE_FOR_WINDOW | {"allowed_lateness": 10, "report": "arrival", "horizon": "none"}
    )
    assert reported(TUMBLING, [3, 12, 4, 20], semantics) == [
        ((0, 10), 1, 12),
        ((10, 20), 1, 4),
        ((0, 10), 2, 20),
        ((10, 20), 1, 20),
    ]


def test_an_early_report_is_one_however_many_arrivals_are_reported():
    """REP-13, REP-15: Elements at 3, 3 and 12, the time tick. At 3, which two arrivals have, and at
    7 the border instants are 4 and 8, so the period is over. Window close holds at neither.
    """
    semantics = of(report="arrival,window-close", early_period=4, tick="time", horizon="none")
    assert reported(TUMBLING, [3, 3, 12], semantics) == [((0, 10), 2, 12), ((0, 10), 2, 12)]


def test_a_session_that_ends_the_stream_is_its_last_window():
    """ENG-1, WIN-23: The gap is 5, elements at 0 and 8: the last session lasts to 12, so time goes
    on to 13, where `flush` gives 8 + 2 + 5.
    """
    assert [one[2] for one in reported(SESSION, [0, 8], of(horizon="last-window"))] == [8, 13]
    assert [one[2] for one in reported(SESSION, [0, 8], of(horizon="flush"))] == [8, 15]


def test_the_last_window_is_that_of_all_keys():
    """ENG-1, WIN-24: Windows of 10 begin with the first element of each key, at 3 and at 12. At 12
    [3, 13) and [12, 22) are the last that have begun; without keys it is [3, 13) alone.
    """
    semantics = of(t0="first-element", horizon="last-window")
    keyed = {**TUMBLING, "by": ["subject"]}
    assert reported(keyed, [3, 12], semantics) == [((3, 13), 1, 22), ((12, 22), 1, 22)]
    assert reported(TUMBLING, [3, 12], semantics) == [((3, 13), 2, 13)]


def test_every_window_can_be_without_its_borders():
    """WIN-2, REP-14: (0, 10) holds the element at 5, and neither those at 0 and 10."""
    assert reported(TUMBLING, [0, 5, 10], of(closure="()")) == [((0, 10), 1, 10)]


@pytest.mark.parametrize("late_for", ["nothing", "window"])
def test_windows_are_aligned_with_the_first_element_in_time(late_for: str):
    """WIN-10, MOD-5: Elements at 7, 4 and 20. The first one in time is 4, so [4, 14) holds t1. With
    an offset of 7 it would be [-3, 7).
    """
    late = {"late_for": "nothing", "reported_windows": "active"}
    if late_for == "window":
        late = LATE_FOR_WINDOW | {"allowed_lateness": 10}
    semantics = of(t0="epoch", offset="first-element", **late)
    assert reported(TUMBLING, [7, 4, 20], semantics)[0] == ((4, 14), 2, 20)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"r2s": "Istream", "base": "previous"}, "write r2s=Rstream"),
        ({"empty": "once"}, "write empty=suppress"),
        ({"missed_instants": "latest"}, "write missed_instants=all"),
        ({"change_baseline": "previous-instant"}, "write change_baseline=last-report"),
        ({"expiry_seen": "eager"}, "write expiry_seen=replayed"),
        ({"early_count": 0}, "early_count must be >= 1, got 0"),
        ({"early_period": 0}, "early_period must be >= 1, got 0"),
        ({"late_for": "window"}, "write watermark=greatest"),
        ({"watermark": "punctuation"}, "write watermark=none"),
        ({"watermark_delay": 2}, "write watermark_delay=none"),
        ({"expiry_rule": "passed"}, "write expiry_rule=none"),
        (
            {
                "late_for": "window",
                "watermark": "greatest",
                "watermark_delay": 0,
                "expiry_rule": "reached",
            },
            "write allowed_lateness=0",
        ),
        ({"reported_windows": "active", "panes": "discarding"}, "write reported_windows=every"),
        ({"reported_windows": "active", "early_count": 2}, "write reported_windows=every"),
        ({"reported_windows": "active", "early_period": 2}, "write reported_windows=every"),
    ],
)
def test_what_means_nothing_is_refused(fields: dict[str, object], message: str):
    """SEM-2: The message names the nearest form that has a meaning."""
    with pytest.raises(InvalidSemantics, match=message) as refusal:
        of(**fields)
    assert refusal.value.rule == "SEM-2"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"watermark_delay": -1}, "watermark_delay must be >= 0, got -1"),
        ({"tick": "batch"}, "write tick=tuple"),
        ({"close_rule": "passed"}, "write close_rule=reached"),
    ],
)
def test_what_means_nothing_beside_watermarks_is_refused(fields: dict[str, object], message: str):
    """SEM-2: The message names the nearest form that has a meaning."""
    with pytest.raises(InvalidSemantics, match=message):
        of(**LATE_FOR_WINDOW | fields)


@pytest.mark.parametrize(
    ("window_tables", "fields", "stated", "message"),
    [
        ([SESSION], {"reported_windows": "active"}, None, "write reported_windows=every"),
        ([SESSION], {"closure": "[]"}, None, r"write closure=\[\)"),
        ([SESSION], {"closure": "()"}, None, r"write closure=\[\)"),
        ([SESSION], {"not_before": 0}, None, "write not_before=none"),
        ([TUMBLING, TUMBLING], {}, None, "one window of kind time or session"),
        ([{"stream": "s", "kind": "range", "size": 5}], {}, None, "of kind time or session"),
        ([{**TUMBLING, "lag": 3}], {}, None, "without a lag"),
        ([TUMBLING], {}, "append", "the query states append"),
    ],
)
def test_a_query_that_does_not_fit_is_refused(
    window_tables: list[dict[str, object]],
    fields: dict[str, object],
    stated: str | None,
    message: str,
):
    """QRY-5: The message names the nearest form that has a meaning."""
    table = {"body": "SELECT ?x { ?x ?p ?o }", "windows": window_tables}
    if stated:
        table["r2s"] = stated
    with pytest.raises(InvalidSemantics, match=message) as refusal:
        list(evaluate(from_table(table), {"s": stream([])}, of(**fields)))
    assert refusal.value.rule == "QRY-5"


def test_what_is_not_computed_is_said():
    """ENG-6, ENG-7, ENG-8: Not read while it is evaluated, not in parts, not pushed one by one."""
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", "windows": [TUMBLING]})
    streams = {"s": stream([(TRIPLE, 3), (TRIPLE, 12)])}
    with pytest.raises(Unsupported, match="must be given whole") as streamed:
        plan_streamed(query, {"s": iter(streams["s"])}, of())
    with pytest.raises(Unsupported, match="reported_windows=every") as in_parts:
        list(evaluate_in_parts(query, streams, of(), [10]))
    with pytest.raises(Unsupported, match="elements are not pushed") as pushed:
        Engine(query, ["s"], of())
    rules = [error.value.rule for error in (streamed, in_parts, pushed)]
    assert rules == ["ENG-6", "ENG-7", "ENG-8"]


def test_arrival_orders_are_not_searched():
    """ORA-7: Which of two simultaneous elements came first matters to an update, and is unknown."""
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", "windows": [TUMBLING]})
    other = ("<urn:b>", "<urn:p>", "<urn:b>")
    unordered = {"s": stream([(TRIPLE, 3), (other, 3)], ordered=False)}
    chosen = profile("csparql").with_fields({**EVERY_WINDOW, "report": "content-change"})
    relations = [r.relation for r in evaluate(query, unordered, chosen.semantics())]
    with pytest.raises(RefengineError, match="reported_windows=every") as refusal:
        judge(query, unordered, chosen, relations[::-1], witnesses=())
    assert refusal.value.rule == "ORA-7"


def test_too_many_reports_are_an_error():
    """ENG-3: Windows of 1 that hold nothing, between elements at 0 and 10."""
    table = {"body": "ASK {}", "windows": [{**TUMBLING, "size": 1, "slide": 1}]}
    plan = engine.plan(
        from_table(table),
        {"s": stream([(TRIPLE, 0), (TRIPLE, 10)])},
        of(report="window-close", horizon="none"),
    )
    assert len(list(engine.evaluations(plan))) == 10
    with pytest.raises(RefengineError, match="3 reports exceed max_reports=2") as refusal:
        list(engine.evaluations(plan, 2))
    assert refusal.value.rule == "ENG-3"


def test_a_long_gap_costs_nothing():
    """ENG-2: Of 10^12 windows between two elements those that hold one are looked at."""
    table = {"body": "ASK {}", "windows": [{**TUMBLING, "size": 2, "slide": 1}]}
    plan = engine.plan(
        from_table(table),
        {"s": stream([(TRIPLE, 0), (TRIPLE, 10**12)])},
        of(t0=-1, horizon="none"),
    )
    assert [evaluation.t for evaluation in engine.evaluations(plan)] == [0, 1]


def test_an_element_that_comes_late_stays_where_it_is():
    """MOD-5, condition 6: range of 10 over (]; elements at 2, 12, 5 and 13. After 12 the scope is
    (2, 12], and 5 is in it; after 13 it is (3, 13].
    """
    query = from_table(
        {"body": "ASK {}", "windows": [{"stream": "s", "kind": "range", "size": 10}]}
    )
    fields = {
        "t0": -100,
        "closure": "(]",
        "report": "content-change",
        "tick": "tuple",
        "horizon": 14,
        "late_for": "nothing",
    }
    chosen = profile("csparql").with_fields(fields).semantics()
    streams = {"s": stream([(TRIPLE, time) for time in (2, 12, 5, 13)])}
    reports = list(evaluate(query, streams, chosen))
    found = [(r.trigger, [e.app for e in r.contents[0]]) for r in reports]
    assert found == [
        (12, [2]),
        (5, [12]),
        (13, [12, 5]),
        (14, [12, 5, 13]),
    ]
    assert list(evaluate_incrementally(query, streams, chosen)) == reports


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"allowed_lateness": 2}, "range", "write allowed_lateness=reject"),
        ({}, "tuple", "write late_for=stream"),
        ({"reported_windows": "every"}, "time", "write late_for=stream"),
    ],
)
def test_what_means_nothing_in_arrival_order_is_refused(
    fields: dict[str, object], kind: str, message: str
):
    """SEM-2, QRY-5: The message names the nearest form that has a meaning."""
    table = {"stream": "s", "kind": kind, "size": 5}
    if kind != "range":
        table["slide"] = 5
    query = from_table({"body": "ASK {}", "windows": [table]})
    with pytest.raises(InvalidSemantics, match=message):
        plain = EVERY_WINDOW | {"reported_windows": "active", "late_for": "nothing"}
        chosen = profile("csparql").with_fields(plain | fields).semantics()
        list(evaluate(query, {"s": stream([])}, chosen))


def shown(semantics: Semantics, times: list[int], gap: int) -> list[tuple[object, list[int], bool]]:
    """The borders and the times of each report of sessions, and whether it is taken back."""
    window = {"stream": "s", "kind": "session", "size": gap}
    query = from_table({"body": "ASK {}", "windows": [window]})
    reports = evaluate(query, {"s": stream([(TRIPLE, time) for time in times])}, semantics)
    return [(r.window, [e.app for e in r.contents[0]], r.takes_back) for r in reports]


def test_a_session_does_not_close_before_an_element_that_has_joined_it():
    """WIN-23, condition 3: elements at 0 and 5, a gap of 5 that joins. Under `passed` the arrival
    at 5 has the own instant 4, and the sentinel is tested at 4, the last instant of [0, 5), too.
    """
    chosen = of(exact_gap="joins", close_rule="passed")
    assert shown(chosen, [0, 5], gap=5) == [((0, 10), [0, 5], False)]


def test_a_session_takes_back_what_it_showed_before_it_grew():
    """REP-16, condition 5: a gap of 3; 0 and 1 are shown early, then 3 and 5 join, each in time.
    The watermark 5 has reached 4, where the session was said to close; it never expired.
    """
    chosen = of(**LATE_FOR_WINDOW, early_count=2, panes="retracting")
    assert shown(chosen, [0, 1, 3, 5], gap=3) == [
        ((0, 4), [0, 1], False),
        ((0, 4), [0, 1], True),
        ((0, 8), [0, 1, 3, 5], False),
        ((0, 8), [0, 1, 3, 5], True),
        ((0, 8), [0, 1, 3, 5], False),
    ]


def test_a_session_that_had_expired_is_not_taken_back():
    """REP-16, condition 5: 2 has expired at 7, when 8 has come; 5 joins both."""
    chosen = of(
        **LATE_FOR_WINDOW, report="content-change", panes="retracting", expired_session="joined"
    )
    assert shown(chosen, [2, 8, 5], gap=5) == [
        ((2, 7), [2], False),
        ((8, 13), [8], False),
        ((8, 13), [8], True),
        ((2, 13), [2, 8, 5], False),
    ]


def test_a_session_that_ends_before_s0_is_not_reported():
    """WIN-23, condition 5: t0 = 10; the session of 2 ends at 4, that of 9 at 11."""
    assert shown(of(t0=10, tick="time"), [2, 9, 30], gap=3) == [
        ((9, 12), [9], False),
        ((30, 33), [30], False),
    ]


GAP = 2**49  # more instants than can be listed
LATE_WINDOWS = {
    "late_for": "window",
    "watermark": "greatest",
    "watermark_delay": 0,
    "expiry_rule": "reached",
    "allowed_lateness": 0,
}
UNIT = {"stream": "s", "kind": "time", "size": 1, "slide": 1}
LONG = {"stream": "s", "kind": "session", "size": 2 * GAP}


@pytest.mark.parametrize(
    ("window", "fields"),
    [
        (UNIT, {"report": "window-close"}),
        (UNIT, {"report": "periodic", "period": 1, "anchor": 0}),
        (UNIT, {"report": "window-close", "panes": "retracting", **LATE_WINDOWS}),
        (LONG, {"early_period": 1}),
        (LONG, {"report": "non-empty"}),
        (LONG, {"report": "non-empty,periodic", "period": 1, "anchor": 0}),
    ],
)
def test_a_long_gap_is_one_error(window, fields):
    """ENG-3: Each instant between two elements gives a report."""
    query = from_table({"body": "ASK {}", "windows": [window]})
    streams = {"s": stream([(TRIPLE, 0), (TRIPLE, GAP)])}
    with pytest.raises(TooManyReports, match="between element 1 at 0 and element 2"):
        list(evaluate(query, streams, of(**fields), max_reports=100))


@pytest.mark.parametrize(
    ("window", "fields", "reports"),
    [
        # the pane is empty once it has been shown; with the second element it is not, at GAP
        (LONG, {"report": "non-empty", "panes": "discarding"}, [0, GAP]),
        # changed at the first beat of the gap alone, and at the second element
        (
            LONG,
            {"report": "content-change,periodic", "period": 1, "anchor": 0},
            [0, GAP],
        ),
        # two beats, each with the one window that is open: [0, 1) and [GAP / 2, GAP / 2 + 1)
        (
            UNIT,
            {"report": "periodic", "period": GAP // 2, "anchor": 1, "horizon": "none"},
            [0, GAP // 2],
        ),
    ],
)
def test_a_long_gap_with_few_reports(window, fields, reports):
    """ENG-2: No instant is visited at which nothing is reported."""
    query = from_table({"body": "ASK {}", "windows": [window]})
    streams = {"s": stream([(TRIPLE, 0), (TRIPLE, GAP)])}
    found = evaluate(query, streams, of(**fields), max_reports=100)
    assert [report.evaluation for report in found] == reports


def test_many_windows_and_sessions():
    """A thousand windows hold each element, and ten thousand sessions can be joined for ever: both
    take seconds, and would take hours if each window were looked for among all others. An element
    that is in too many is one error (REP-14).
    """
    wide = {"stream": "s", "kind": "time", "size": 1000, "slide": 1}
    elements = [(TRIPLE, time) for time in range(100)]
    query = from_table({"body": "ASK {}", "windows": [wide]})
    semantics = of(t0=-1000)
    assert sum(1 for _ in engine.evaluations(plan_of(query, elements, semantics))) == 1099
    query = from_table({"body": "ASK {}", "windows": [SESSION]})
    elements = [(TRIPLE, 10 * number) for number in range(10_000)]
    semantics = of(expired_session="joined", **LATE_WINDOWS)
    assert sum(1 for _ in engine.evaluations(plan_of(query, elements, semantics))) == 10_000
    query = from_table({"body": "ASK {}", "windows": [wide | {"size": 2**62}]})
    with pytest.raises(Unsupported, match="REP-14: an element at 0 is in 4611686018427387904 wind"):
        list(engine.evaluations(plan_of(query, [(TRIPLE, 0)], of(t0=-(2**62)))))


def plan_of(query: Query, elements: list[tuple], semantics: Semantics) -> engine.Plan:
    """The plan of a query over one stream."""
    return engine.plan(query, {"s": stream(elements)}, semantics)
