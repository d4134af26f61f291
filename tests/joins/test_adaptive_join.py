"""The join over adaptive windows: held to its definition by enumeration on drawn streams, and to
the continuous query where both exist.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from conftest import draws
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from refengine import evaluate, from_table, profile
from refengine.core.values import Closure
from refengine.joins import adaptation, adaptive_definition, adaptive_join
from refengine.joins.adaptive_join import Eviction, Match, WindowJoin, find_matches, find_outcomes
from refengine.joins.join_profiles import JOIN_PROFILES, join_window
from refengine.joins.records import JoinRecord, Side, Watermark, with_watermarks
from refengine.joins.window import (
    Adaptation,
    Emission,
    JoinWindow,
    LateRecords,
    Opening,
    UpdateMoment,
    UpdateRule,
    WatermarkRule,
)
from refengine.model.elements import stream
from refengine.model.errors import InvalidStream, InvalidWindow

CLOSURES = st.sampled_from([Closure.RIGHT_OPEN, Closure.CLOSED])
QUARTERS = st.integers(0, 6).map(lambda number: Fraction(number, 4))


@st.composite
def adaptations(draw):
    lower = draw(QUARTERS)
    least = draw(st.integers(1, 5))
    return Adaptation(
        upper=lower + draw(QUARTERS),
        lower=lower,
        lower_included=draw(st.booleans()),
        growth=draw(st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(2)])),
        shrink=draw(st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(1)])),
        least=least,
        most=least + draw(st.integers(0, 10)),
        clamped=draw(st.booleans()),
        expected_records=draw(st.integers(1, 5)),
        update_rule=draw(st.sampled_from(UpdateRule)),
        updates_at=draw(st.sampled_from(UpdateMoment)),
        cleared=draw(st.integers(0, 4)) == 0,
    )


@st.composite
def windows(draw):
    slide = draw(st.none() | st.integers(1, 7))
    opens, adapts = Opening.ZERO, None
    if slide is None:
        opens = draw(st.sampled_from(Opening))
        adapts = draw(st.none() | adaptations() | adaptations())
    return JoinWindow(
        duration=draw(st.integers(1, 8)),
        slide=slide,
        opens=opens,
        closure=draw(CLOSURES),
        emits=draw(st.sampled_from(Emission)),
        late=draw(st.sampled_from(LateRecords)),
        watermarks=draw(st.sampled_from(WatermarkRule)),
        adaptation=adapts,
    )


@st.composite
def step_lists(draw, window):
    """Records of two keys, some late, with watermarks where the window wants them stated."""
    now, steps = draw(st.integers(-5, 5)), []
    for number in range(draw(st.integers(0, 14))):
        now += draw(st.sampled_from([0, 0, 1, 1, 2, 3, 8, 30]))
        if window.watermarks is WatermarkRule.STATED and draw(st.booleans()):
            steps.append(Watermark(now - draw(st.integers(-2, 4))))
        else:
            at = now - draw(st.sampled_from([0, 0, 0, 0, 2, 6]))
            side = draw(st.sampled_from(Side))
            steps.append(JoinRecord(side, at, draw(st.sampled_from("ab")), f"r{number}"))
    return steps


DRAWN = windows().flatmap(lambda window: st.tuples(st.just(window), step_lists(window)))


def names(matches):
    """Matches as the definition has them."""
    return sorted((match.left.name, match.right.name, match.at) for match in matches)


def windows_of(window, steps):
    """The windows of a join, as the definition has them: by the places of their records."""
    every_step = list(with_watermarks(steps, window))
    place = {step.name: n for n, step in enumerate(every_step) if isinstance(step, JoinRecord)}
    return sorted(
        adaptive_definition.EnumeratedWindow(
            outcome.key,
            outcome.opened,
            outcome.end,
            tuple(sorted(place[record.name] for record in outcome.left + outcome.right)),
        )
        for outcome in find_outcomes(window, steps)
        if isinstance(outcome, Eviction)
    )


def enumerated(window, steps):
    return sorted(
        adaptive_definition.windows_by_enumeration(window, list(with_watermarks(steps, window)))
    )


@settings(max_examples=draws(800))
@given(DRAWN)
def test_the_join_is_its_definition_by_enumeration(drawn):
    window, steps = drawn
    assert names(find_matches(window, steps)) == adaptive_definition.matches_by_enumeration(
        window, steps
    )
    assert windows_of(window, steps) == enumerated(window, steps)


def evict_again(running, step):
    """What a watermark evicts if it counts although it is not above all before it."""
    if isinstance(step, Watermark):
        return list(running._evict_until(running._watermark))
    return []


# Each replaces one function of the join; draws must show it.
BROKEN = {
    "the last instant is not evicted by the watermark that reaches it": (
        WindowJoin,
        "_has_reached",
        lambda self, instant: self._watermark is not None and instant < self._watermark,
    ),
    "late records are always joined": (
        adaptive_join,
        "is_dropped",
        lambda window, last, watermark: False,
    ),
    "windows open at the record": (
        adaptive_join,
        "opening_instant",
        lambda window, state, last_end, at: at,
    ),
    "empty windows are not counted": (WindowJoin, "_pass_empty_windows", lambda self, state: None),
    "the clamp is left out": (
        adaptation,
        "next_duration",
        lambda right: (
            lambda adapts, duration, m: right(replace(adapts, clamped=False), duration, m)
        ),
    ),
    "expected records stay": (adaptation, "next_expected", lambda update, expected, held: expected),
    "a window with a slide too few": (
        adaptive_join,
        "sliding_openings",
        lambda right: lambda window, at: right(window, at)[-1:],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_draws_show_what_is_broken(name, monkeypatch):
    owner, attribute, broken = BROKEN[name]
    if broken.__code__.co_varnames[:1] == ("right",):
        broken = broken(getattr(owner, attribute))
    monkeypatch.setattr(owner, attribute, broken)
    if attribute in ("next_duration", "next_expected"):
        monkeypatch.setattr(adaptation, attribute, broken)

    def differs(drawn):
        window, steps = drawn
        return windows_of(window, steps) != enumerated(window, steps)

    found = find(
        DRAWN,
        differs,
        settings=settings(max_examples=20_000, database=None, phases=[Phase.generate]),
    )
    assert differs(found)


def test_a_watermark_that_is_not_above_all_before_it_evicts_nothing(monkeypatch):
    """By hand: after the watermark 100 the late records l1 and r1 open and fill [5, 15], whose end
    the watermark 20 is beyond. Draws show such a defect seldom.
    """
    window = join_window("fixed", {"duration": 10, "watermarks": "stated"})
    left, right = JoinRecord(Side.LEFT, 5, "a", "l1"), JoinRecord(Side.RIGHT, 7, "a", "r1")
    steps = [Watermark(100), left, Watermark(20), right, Watermark(101)]
    assert windows_of(window, steps) == enumerated(window, steps)
    assert names(find_matches(window, steps)) == [("l1", "r1", 7)]

    push = WindowJoin.push
    monkeypatch.setattr(
        WindowJoin, "push", lambda self, step: push(self, step) or evict_again(self, step)
    )
    assert windows_of(window, steps) != enumerated(window, steps)


# Beside the continuous query


JOIN = "SELECT ?l ?r WHERE { ?l <urn:left> ?k . ?r <urn:right> ?k }"
IN_ORDER = st.lists(
    st.tuples(st.sampled_from(Side), st.integers(0, 5), st.sampled_from("ab")), max_size=12
)


def reported(records, size, slide, **fields):
    """The rows of the continuous query over the same records, with the time of their report."""
    query = from_table(
        {
            "windows": [{"stream": "s", "kind": "time", "size": size, "slide": slide}],
            "body": JOIN,
        }
    )
    elements = stream(
        [
            ((f"<urn:{one.name}>", f"<urn:{one.side}>", f"<urn:key:{one.key}>"), one.at)
            for one in records
        ]
    )
    semantics = profile("csparql").but(t0=0, closure="[)", **fields).semantics()
    rows = []
    for report in evaluate(query, {"s": elements}, semantics):
        at = report.evaluation
        if fields["report"] != "content-change":
            at = report.window[1]
        for row, count in report.relation.rows.items():
            terms = dict(row)
            pair = tuple(terms[name].removeprefix("<urn:").removesuffix(">") for name in "lr")
            rows += [(*pair, at)] * count
    return sorted(rows)


@settings(max_examples=60)
@given(IN_ORDER, st.integers(1, 9))
def test_tumbling_windows_are_those_of_the_continuous_query(drawn, size):
    now, records = 0, []
    for number, (side, gap, key) in enumerate(drawn):
        now += gap
        records.append(JoinRecord(side, now, key, f"r{number}"))

    tumbling = join_window("tumbling", {"duration": size, "slide": size})
    assert names(find_matches(tumbling, records)) == reported(
        records, size, size, report="window-close,non-empty", r2s="Rstream", empty="suppress"
    )
    at_once = replace(tumbling, emits=Emission.ARRIVAL)
    assert names(find_matches(at_once, records)) == reported(
        records,
        size,
        size,
        report="content-change",
        r2s="append",
        base="none",
        empty="suppress",
        horizon="flush",
        tick="tuple",
    )


@settings(max_examples=40)
@given(IN_ORDER, st.integers(1, 9), st.integers(1, 5))
def test_sliding_windows_are_those_of_the_continuous_query_at_their_close(drawn, size, slide):
    now, records = 50, []
    for number, (side, gap, key) in enumerate(drawn):
        now += gap
        records.append(JoinRecord(side, now, key, f"r{number}"))
    sliding = join_window("sliding", {"duration": size, "slide": slide})
    assert names(find_matches(sliding, records)) == reported(
        records, size, slide, report="window-close,non-empty", r2s="Rstream", empty="suppress"
    )


# By hand


def test_a_match_comes_out_of_the_push_that_completes_it():
    running = WindowJoin(join_window("rmlstreamer"))
    left = JoinRecord(Side.LEFT, 1000, "k", "l")
    right = JoinRecord(Side.RIGHT, 1500, "k", "r")
    assert running.push(left) == [] and running.held == 1
    assert running.push(right) == [Match(left, right, 1500)] and running.held == 2
    assert running.push(Watermark(2999)) == []
    [eviction] = running.push(Watermark(3000))
    assert (eviction.opened, eviction.end, running.held) == (1000, 3000, 0)
    assert running.finish() == []


def test_a_late_record_that_is_dropped_is_counted():
    running = WindowJoin(join_window("fixed", {"late": "drop"}))
    running.push(Watermark(1000))
    assert running.push(JoinRecord(Side.LEFT, 1000, "k", "l")) == []
    assert (running.dropped, running.held) == (1, 0)


def test_a_long_gap_without_records_takes_no_time():
    window = join_window("algorithm-1", {"adaptation": {"clamped": True}})
    steps = [JoinRecord(Side.LEFT, 0, "k", "l"), JoinRecord(Side.LEFT, 10**15, "k", "m")]
    last = list(find_outcomes(window, steps))[-1]
    assert last.opened <= 10**15 <= last.end and last.end - last.opened == 5000


def test_a_stated_watermark_is_refused_where_the_window_sets_them():
    with pytest.raises(InvalidStream, match="step 1: ADA-2: a watermark is stated"):
        list(with_watermarks([Watermark(3)], join_window("rmlstreamer")))


@pytest.mark.parametrize("name", JOIN_PROFILES)
def test_a_profile_has_a_source(name):
    assert JOIN_PROFILES[name].source


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"duraton": 3}, "'duraton' is not a field; did you mean 'duration'"),
        ({"opens": "first"}, "opens must be one of first-record, previous-end, zero, got 'first'"),
        ({"adaptation": {"upper": "much"}}, "upper must be a number or a text"),
        ({"adaptation": {"cleared": 1}}, "cleared must be true or false, got 1"),
        ({"adaptation": 3}, "adaptation must be a table or"),
        ({"duration": True}, "duration must be an integer > 0"),
    ],
)
def test_a_value_that_there_is_not_is_refused(changes, message):
    with pytest.raises(InvalidWindow, match="ADA-1") as raised:
        join_window("rmlstreamer", changes)
    assert message in str(raised.value)


def test_an_unknown_profile_is_refused():
    with pytest.raises(InvalidWindow, match="did you mean 'tumbling'"):
        join_window("tumblin")
