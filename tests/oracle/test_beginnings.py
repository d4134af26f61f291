"""With which t0 an engine may have begun, where windows without elements are reported (ORA-2)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from test_oracle_laws import (
    CHANCE,
    Engine,
    draw_fields,
    draw_query,
    draw_streams,
    forget_order,
    law,
    may_be_unsupported,
    open_field,
    told_windows,
)

from refengine import (
    UNKNOWN,
    Disputed,
    Profile,
    RefengineError,
    Relation,
    Stream,
    TooManyReports,
    Unsupported,
    evaluate,
    from_table,
    literal,
    profile,
    row,
    stream,
)
from refengine.core import engine, r2r
from refengine.core.moving import MovingRange, Room, instants, moved, moving
from refengine.core.query import CLOSING as CLOSING_KINDS
from refengine.core.semantics import Semantics
from refengine.core.values import T0, Anchor, Condition, Empty, End
from refengine.model.elements import XSD
from refengine.oracle import beginnings
from refengine.oracle.judge import judge
from refengine.oracle.trial import Missing


@pytest.fixture(autouse=True, scope="module")
def _ask_once() -> Iterator[None]:
    """Keep the witnesses' answers: draws are from so few triples that they recur."""
    plain, r2r.ask_evaluator = r2r.ask_evaluator, cache(r2r.ask_evaluator)
    yield
    r2r.ask_evaluator = plain


# By hand: windows of 10 every 10 instants, and elements at 103, 113 and 124


def elements(*times: int) -> Stream:
    return stream([((f"<urn:{at}>", "<urn:p>", "<urn:y>"), at) for at in times])


def names(*subjects: str) -> list[Relation]:
    """Relations with these subjects; the empty text stands for no row."""
    return [
        Relation(("x",), Counter(row({"x": f"<urn:{name}>"}) for name in each.split()))
        for each in subjects
    ]


def counts(*numbers: int) -> list[Relation]:
    return [
        Relation(("n",), Counter([row({"n": literal(str(number), XSD + "integer")})]))
        for number in numbers
    ]


SELECT = "SELECT ?x { ?x <urn:p> ?y }"
COUNT = "SELECT (COUNT(*) AS ?n) { ?x <urn:p> ?y }"
THREE = {"s": elements(103, 113, 124)}
TUMBLING = {"stream": "s", "kind": "time", "size": 10, "slide": 10}
CLOSING = profile("csparql").but(t0=UNKNOWN, report="window-close", horizon=131)


def verdict(
    own: Profile, recording: list[Relation], body: str = SELECT, query_windows=(TUMBLING,), **more
):
    registered = {"registered": more.pop("registered")} if "registered" in more else {}
    query = from_table({"windows": list(query_windows), "body": body, **registered})
    streams = more.pop("streams", THREE)
    return judge(query, streams, own, recording, **{"missing": 0, **more})


@pytest.mark.parametrize("empty_windows", [0, 1, 2, 3, 5, 10, 12, 40])
def test_windows_without_elements_may_come_first(empty_windows):
    """By t0 = 100 - 10n the windows [100 - 10n, 110 - 10n) to [90, 100) hold nothing, and [100,
    110), [110, 120) and [120, 130) an element each. The last one closes at 129, before 131.
    """
    recording = names(*[""] * empty_windows, "103", "113", "124")
    assert verdict(CLOSING, recording).passed
    assert not verdict(CLOSING, names(*[""] * empty_windows, "103", "", "124")).passed
    # the answer over nothing is the row 0
    recording = counts(*[0] * empty_windows, 1, 1, 1)
    assert verdict(CLOSING, recording, COUNT).passed
    assert verdict(CLOSING.but(empty="suppress"), recording, COUNT).passed
    assert not verdict(CLOSING, counts(*[0] * empty_windows, 1, 2, 1), COUNT).passed
    # no window but the first ones is empty, and none has another answer
    if empty_windows > 1:
        wrong = names("", "103", *[""] * (empty_windows - 1), "113", "124")
        assert not verdict(CLOSING, wrong).passed
        assert not verdict(CLOSING, counts(*[1] * empty_windows, 0, 1, 1), COUNT).passed


@pytest.mark.parametrize("empty_windows", [1, 2, 7])
def test_r2s_of_windows_without_elements(empty_windows):
    """Of the counts 0, 0, …, 1, 1, 1 Istream gives the first 0, then nothing, and then 1, nothing,
    nothing. Dstream gives nothing at first, and 0 where the first 1 comes.
    """
    nothing = Relation(("n",), Counter())
    zero, one = counts(0, 1)
    istream = [zero, *[nothing] * (empty_windows - 1), one, nothing, nothing]
    dstream = [*[nothing] * empty_windows, zero, nothing, nothing]
    for operator, recording in (("Istream", istream), ("Dstream", dstream)):
        own = CLOSING.but(r2s=operator, base="previous")
        assert verdict(own, recording, COUNT).passed
        some = [relation for relation in recording if relation.rows]
        assert verdict(own.but(empty="suppress"), some, COUNT).passed
        assert not verdict(own.but(empty="suppress"), [one, *some], COUNT).passed
    # what is empty after an empty output is not emitted
    once = [zero, *[nothing] * (empty_windows > 1), one, nothing]
    assert verdict(CLOSING.but(r2s="Istream", base="previous", empty="once"), once, COUNT).passed


@pytest.mark.parametrize("t0", [103, 100, 80, 70, 50, -20])
@pytest.mark.parametrize("report", ["periodic", "periodic,window-close"])
@pytest.mark.parametrize("anchor", ["t0", 0])
def test_a_period_may_come_round_before_the_first_element(t0, report, anchor):
    """λ = 10 over [): a report is at 9 after each multiple of 10, from s0 = t0 - 1 on, or at each
    multiple of 10 less 1 after t0. By t0 = 103 the anchor 0 and window close hold together at no
    instant.
    """
    own = CLOSING.but(report=report, period=10, anchor=anchor)
    shift = t0 % 10 if anchor == "t0" else 0
    held = {103: "103", 113: "113", 124: "124"}
    relations = []
    for at in range(t0 - 1, 131):
        begins = t0 + max(0, (at - t0) // 10) * 10
        is_close = "window-close" not in report or ((at - t0) % 10 == 9 and at > t0)
        if (at + 1 - shift) % 10 == 0 and is_close:
            relations.append(" ".join(name for time, name in held.items() if begins <= time <= at))
    assert verdict(own, names(*relations)).passed


@pytest.mark.parametrize("t0", [0, 80, 70, -50])
def test_several_windows_may_begin_long_before_their_elements(t0):
    """Windows of 10 over s and of 20 over r, whose elements are at 105 and 117. By t0 = 80 they
    close at 89, 99, 109, 119, 129 and at 99, 119; the contents of both are reported at each.
    """
    windows = (TUMBLING, {"stream": "r", "kind": "time", "size": 20, "slide": 20})
    streams = {**THREE, "r": elements(105, 117)}
    shown = {109: "103 105", 119: "113 105 117", 129: "124"}
    if t0 == 70 or t0 == -50:  # [90, 110) and [110, 130) in place of [80, 100) to [120, 140)
        shown = {109: "103 105", 119: "113 117", 129: "124 117"}
    recording = names(*(shown.get(at, "") for at in range(t0 + 9, 131, 10)))
    assert verdict(CLOSING, recording, query_windows=windows, streams=streams).passed
    wrong = names(*(shown.get(at, "") for at in range(t0 + 9, 121, 10)), "103")
    assert not verdict(CLOSING, wrong, query_windows=windows, streams=streams).passed


@pytest.mark.parametrize("registered", [80, 83, -7])
def test_several_windows_may_begin_at_the_registration(registered):
    windows = (TUMBLING, {**TUMBLING, "stream": "r"})
    streams = {**THREE, "r": elements(105)}
    held = {103: "103", 105: "105", 113: "113", 124: "124"}
    recording = names(
        *(
            " ".join(name for time, name in held.items() if opens <= time < opens + 10)
            for opens in range(registered, 121, 10)
            if opens + 9 < 131
        )
    )
    found = verdict(
        CLOSING, recording, query_windows=windows, streams=streams, registered=registered
    )
    assert found.passed


def test_windows_that_are_stated_belong_to_the_empty_windows_too():
    """By t0 = 80, and by no t0 after it, the first window is [80, 90)."""
    recording = names("", "", "103", "113", "124")
    windows = [(opens, opens + 10) for opens in range(80, 130, 10)]
    found = verdict(CLOSING, recording, windows=windows)
    assert found.passed and found.trial.semantics.t0 == 80
    assert not verdict(CLOSING, recording, windows=[(70, 80), *windows[1:]]).passed


def test_reported_partial_windows_hold_elements_before_t0():
    """WIN-11: with ω = 10, β = 5 and t0 = 108 the partial window [103, 113) holds the element at
    103. So an engine that begins at 108 loses nothing.
    """
    sliding = {**TUMBLING, "slide": 5}
    own = CLOSING.but(partial="reported", report="window-close,non-empty")
    recording = names("103", "113", "113", "124")  # [103, 113), [108, 118), [113, 123), [118, 128)
    assert verdict(own, recording, query_windows=(sliding,)).passed


def test_a_stream_without_elements_bounds_no_t0():
    """Until 131 windows of 10 from t0 = 95 on close at 104, 114 and 124: nothing is lost."""
    empty = {"s": Stream(())}
    for number in (0, 1, 3, 14, 50):
        assert verdict(CLOSING, names(*[""] * number), streams=empty).passed
    assert not verdict(CLOSING, names("", "103"), streams=empty).passed


def test_the_number_of_relations_says_how_early_an_engine_began():
    """ORA-2: 3,600 windows without elements come first. Of each class of t0 so few values are tried
    that a wrong recording fails at once.
    """
    recording = names(*[""] * 3600, "103", "113", "103")
    found = verdict(CLOSING, recording)
    assert not found.passed and found.tried < 30
    assert found.trial.divergence.index == 3602
    assert verdict(CLOSING, names(*[""] * 3600, "103", "113", "124")).passed


def test_a_long_period_may_count_from_an_early_t0():
    """λ = 60,000 over [): the first report is at s0 = t0 - 1, over nothing, and the second at t0 +
    59,999. There the window [t0 + 59,990, t0 + 60,000) holds 103, and not 113, by t0 = -59,896 to
    -59,887.
    """
    own = CLOSING.but(report="periodic", period=60_000, anchor="t0")
    found = verdict(own, names("", "103"))
    assert found.passed and -59_896 <= found.trial.semantics.t0 <= -59_887
    assert not verdict(own, names("", "103 113")).passed


LEAST = -(2**63)


def test_an_engine_may_have_begun_beyond_64_bits():
    """By t0 = LEAST the windows [LEAST, LEAST + 10) and [LEAST + 10, LEAST + 20) are empty and the
    next one holds the element; by t0 = LEAST - 10 three are empty before it.
    """
    streams = {"s": elements(LEAST + 25)}
    own = CLOSING.but(horizon="flush")
    held = str(LEAST + 25)
    for number in (0, 1, 2, 3, 4):
        assert verdict(own, names(*[""] * number, held), streams=streams).passed
    assert not verdict(own, names("", held, held), streams=streams).passed


def test_windows_may_begin_beyond_64_bits():
    """By t0 = LEAST - 5 [LEAST - 5, LEAST + 5) holds the first element and the next window the
    others. By the policy first-reach t0 is LEAST - 10: the first two are in [LEAST, LEAST + 10).
    """
    a, b, c = (str(LEAST + at) for at in (0, 5, 10))
    streams = {"s": elements(LEAST, LEAST + 5, LEAST + 10)}
    own = CLOSING.but(report="window-close,non-empty", horizon="flush")
    stated = [(LEAST - 5, LEAST + 5), (LEAST + 5, LEAST + 15)]
    found = verdict(own, names(a, f"{b} {c}"), streams=streams, windows=stated)
    assert found.passed and found.trial.semantics.t0 in (LEAST - 5, LEAST - 15)
    reach = own.but(t0="first-reach")
    found = verdict(reach, names(f"{a} {b}", c), streams=streams)
    assert found.passed and found.trial.semantics.t0 == LEAST - 10
    assert not verdict(reach, names(a, f"{b} {c}"), streams=streams).passed


# Drawn


def draw_engine_that_began_early(rng: random.Random) -> Engine | None:
    """An engine over one to three windows that reports windows without elements, mostly, and began
    at 0, at the registration, at a policy, or up to several cycles before its first element. None
    for a semantics without a meaning.
    """
    query = draw_query(rng, rng.choice([2, 3]))
    query = replace(query, registered=rng.choice([None, None, 0, rng.randint(-60, 40)]))
    streams = draw_streams(rng, query, 6, batched=rng.random() < 0.3)
    fields = draw_fields(rng, query, streams)
    if rng.random() < 0.9:
        reports = [{Condition.CLOSE}, {Condition.PERIODIC}, {Condition.CLOSE, Condition.PERIODIC}]
        if not all(spec.kind in CLOSING_KINDS for spec in query.windows):
            reports = [{Condition.PERIODIC}]
        fields["report"] = frozenset(rng.choice(reports))
        is_periodic = Condition.PERIODIC in fields["report"]
        fields["period"] = rng.randint(1, 7) if is_periodic else None
        anchors = [0, 1, -2, Anchor.T0, Anchor.FIRST]
        fields["anchor"] = rng.choice(anchors) if is_periodic else None
        fields["empty"] = rng.choice([Empty.EMIT, Empty.EMIT, *Empty])
    times = [element.app for source in streams.values() for element in source] or [0]
    fields["t0"] = rng.choice(
        [
            rng.choice([0, query.registered or 0]),
            min(times) - rng.randint(0, 20),
            *(min(times) - rng.randint(10, 60) for _ in range(4)),
        ]
    )
    if rng.random() < 0.1:
        fields["t0"] = rng.choice([T0.FIRST, T0.REACH, T0.FLINK, T0.STREAM])
    fields["offset"] = None
    if rng.random() < 0.3 and any(map(len, streams.values())):
        fields["horizon"] = End.FLUSH
    with suppress(RefengineError):
        own = Engine(query, streams, Semantics(**fields))
        engine.plan(query, streams, own.semantics)
        return own
    return None


def loses_nothing(own: Engine) -> bool:
    """ORA-2: whether an engine has a t0 that an unknown t0 stands for."""
    planned = engine.plan(own.query, own.streams, own.semantics)
    t0 = own.semantics.t0
    if isinstance(t0, T0):
        return len(planned.views) > 1 or planned.views[0].t0 is not None
    if t0 in (0, own.query.registered):
        return True
    firsts = [view.times[0] + view.spec.lag for view in planned.views if view.times]
    return t0 <= max(firsts, default=planned.own[-1] if planned.own else 0)


def is_before_the_range(own: Engine, t0: int | T0) -> bool:
    planned = engine.plan(own.query, own.streams, own.semantics)
    lo, _, others, _ = beginnings.find_t0_candidates(own.query, planned, UNKNOWN)
    return isinstance(t0, int) and t0 < lo and t0 not in others


def check_engine_that_began_early(rng: random.Random, said: Counter[str]) -> None:
    """Judge a drawn engine's own output, of which some may be missing, with t0 unknown."""
    own = draw_engine_that_began_early(rng)
    if own is None or not loses_nothing(own):
        said["not drawn"] += 1
        return
    try:
        reports = own.reports()
    except (Disputed, TooManyReports):
        said["no output"] += 1
        return
    missing = rng.choice([Missing(0, 0), Missing(0, 0), Missing(1, 1), Missing(2, 0)])
    start, stop = rng.randint(0, missing.before), rng.randint(0, missing.after)
    reports = reports[start : max(start, len(reports) - stop)]
    if not reports:
        missing = Missing(0, 0)
        if own.reports():
            said["no output"] += 1
            return
    streams = own.streams
    is_ordered = rng.random() < 0.8
    if not is_ordered:
        streams = forget_order(rng, streams)
    fields = {**vars(own.semantics), "t0": UNKNOWN, "offset": None}
    if rng.random() < 0.3:
        name = rng.choice(["closure", "partial", "empty", "expiry_seen", "close_rule", "tick"])
        fields[name] = open_field(rng, name, fields[name])
    judged = Profile("drawn", "here", {}).but(**fields)
    recording = [report.relation for report in reports]
    windows = told_windows(rng, reports, own.semantics)
    try:
        found = judge(own.query, streams, judged, recording, missing=missing, **windows)
    except Disputed:
        said["disputed"] += 1
        return
    except Unsupported as error:
        assert not is_ordered and may_be_unsupported(own), (error, own, judged)
        said["unsupported"] += 1
        return
    assert found.passed, (own, judged, missing, windows)
    said["pass"] += 1
    said["pass before the range"] += is_before_the_range(own, found.trial.semantics.t0)


def test_no_engine_fails_that_began_before_its_first_element():
    """ORA-1, ORA-2: over one to three windows, all conditions of reports and all starts."""
    said: Counter[str] = Counter()

    @law(150)
    @given(CHANCE)
    def holds(rng: random.Random) -> None:
        check_engine_that_began_early(rng, said)

    holds()
    print(dict(said))
    assert said["pass before the range"] > 0.1 * said["pass"], said
    assert said["disputed"] + said["unsupported"] < 0.1 * said["pass"], said


@pytest.mark.parametrize(
    ("size", "slide", "apps", "t0", "fields"),
    [
        (2, 10, (100, 113), 3, {}),
        (1, 6, (31,), 2, {}),
        (3, 100, (1000,), 50, {"horizon": "flush"}),
        (13, 12, (204,), 112, {"closure": "(]", "partial": "reported", "horizon": "flush"}),
    ],
)
def test_an_engine_that_states_windows_may_have_begun_many_cycles_before(
    size: int, slide: int, apps: tuple[int, ...], t0: int, fields: dict[str, str]
):
    """ORA-2: under Istream that leaves out what is empty, a count over nothing is said once, and
    then for a long time nothing more. The window that is stated tells how early the engine began:
    also if the last value of its class is a window later than the value with which it began.
    """
    window = {"stream": "s", "kind": "time", "size": size, "slide": slide}
    query = from_table(body="SELECT (COUNT(?s) AS ?n) { ?s ?p ?o }", windows=[window])
    streams = {"s": stream((("<urn:a>", "<urn:p>", "<urn:o>"), app) for app in apps)}
    claimed = profile("csparql").but(
        **{"report": "window-close", "empty": "suppress", "horizon": "none"} | fields,
        r2s="Istream",
        base="previous",
    )
    given_reports = list(evaluate(query, streams, claimed.but(t0=t0).semantics()))
    found = judge(
        query,
        streams,
        claimed.but(t0=UNKNOWN),
        [report.relation for report in given_reports],
        missing=0,
        witnesses=(),
        windows=[report.window for report in given_reports],
    )
    assert found.passed


def test_a_range_that_moves_answers_only_what_needs_no_integer():
    """The first and the last instant, what is from an instant on, and the first alone; as a range
    of integers where nothing moves.
    """
    room = Room(100)
    span = instants(moving(3, room), 9)
    assert isinstance(span, MovingRange)
    assert [moved(part, 0) for part in (span[0], span[-1])] == [3, 8]
    assert [moved(one, 0) for one in span[:1]] == [3]
    assert [moved(one, 0) for one in span[2:]] == [5, 6, 7, 8]
    for place in (1, 100, slice(0, 1), slice(None, 2), slice(None, -1), slice(1, 3)):
        with pytest.raises(TypeError, match="a range that moves with t0"):
            span[place]
    with pytest.raises(TypeError, match="is not compared"):
        _ = span == range(3, 9)
    with pytest.raises(TypeError):
        instants(None, 3)  # type: ignore[arg-type]
    assert instants(3, 9) == range(3, 9)
