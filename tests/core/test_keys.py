"""WIN-24: a window with a key stands for one window for each key."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from conftest import PROFILE
from hypothesis import given
from hypothesis import strategies as st
from test_enumeration import KEYED, KEYS, Case, divergence, draw_case, enumerated

from refengine import Engine, Stream, evaluate, from_table, profile, stream
from refengine.core.query import WindowKind
from refengine.core.semantics import Semantics
from refengine.core.values import R2S, Clock, Empty
from refengine.incremental.engine import evaluate_incrementally
from refengine.incremental.parts import evaluate_in_parts
from refengine.model.errors import InvalidSemantics, InvalidStream, TooManyReports, Unsupported

pytestmark = pytest.mark.xdist_group("keys")

MANY = {"ci": 250, "full": 10_000}.get(PROFILE, 200)


def draw_keyed_case(rng: Random) -> Case:
    """A query of one window with a key, of any kind, under a semantics of active windows."""
    while True:
        case = draw_case(rng)
        (first, *others) = case.query.windows
        if not others and first.kind is not WindowKind.PARTITION:
            break
    semantics = replace(
        case.semantics,
        r2s=R2S.RSTREAM,
        base=None,
        empty=rng.choice((Empty.EMIT, Empty.SUPPRESS)),
        clock=rng.choice(list(Clock)),
    )
    streams = {
        name: Stream(tuple(element._replace(graph=rng.choice(KEYED)) for element in elements))
        for name, elements in case.streams.items()
    }
    query = replace(case.query, windows=(replace(first, by=rng.choice(KEYS)),), r2s=None)
    return replace(case, query=query, streams=streams, semantics=semantics)


CASES = st.randoms(use_true_random=False).map(draw_keyed_case)


def difference(case: Case) -> str | None:
    """Where the engine differs from the enumeration."""
    listed = enumerated(case)
    return divergence(case, listed.reports(), listed.emitted(case.answer, case.query.r2s))


def test_engine_and_enumeration_agree():
    """The same reports and relations, `make brute` on 10,000 draws. Where they differ, Hypothesis
    draws again, and looks for the smallest.
    """

    @given(CASES)
    def agree(case: Case) -> None:
        found = difference(case)
        assert found is None, found

    drawn = [draw_keyed_case(Random(seed)) for seed in range(MANY)]
    if any(difference(case) is not None for case in drawn):
        agree()
        raise AssertionError("the engine differs from the enumeration")
    for case in drawn[: MANY // 3]:
        options = {"static": case.static}
        plain = list(evaluate(case.query, case.streams, case.semantics, **options))
        assert list(
            evaluate_incrementally(case.query, case.streams, case.semantics, **options)
        ) == (plain)


def test_every_kind_and_clock_is_drawn_with_several_keys():
    """Of each kind, and by each clock, some draws report more than one key."""
    several: Counter[object] = Counter()
    for seed in range(400):
        case = draw_keyed_case(Random(seed))
        keys = {report.windows[0].key for report in enumerated(case).reports()}
        if len(keys) > 1:
            several[case.semantics.clock] += 1
            several[case.query.windows[0].kind] += 1
    kinds = set(WindowKind) - {WindowKind.PARTITION, WindowKind.SESSION}
    assert min(several[each] for each in (*Clock, *kinds)) > 2


TUMBLING = {"stream": "s", "kind": "time", "size": 10, "slide": 10, "by": ["subject"]}
A = ("<urn:a>", "<urn:p>", "<urn:o>")
B = ("<urn:b>", "<urn:p>", "<urn:o>")


def of(**fields: object) -> Semantics:
    """A semantics with some fields: windows close from 0 on, and nothing follows the end."""
    plain = {"t0": 0, "horizon": "none", "empty": "suppress"}
    return profile("csparql").with_fields(plain | fields).semantics()


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        # b at 12 closes [0, 10) of a; b's own [0, 10) held nothing
        ("stream", [(("<urn:a>",), (0, 10), 12)]),
        # a has no arrival after 3, so its window never closes
        ("key", []),
    ],
)
def test_whose_time_closes_a_window(clock: str, expected: list[object]):
    """WIN-24: a at 3, b at 12."""
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", "windows": [TUMBLING]})
    reports = evaluate(query, {"s": stream([(A, 3), (B, 12)])}, of(clock=clock))
    assert [(report.key, report.window, report.trigger) for report in reports] == expected


@pytest.mark.parametrize("clock", ["stream", "key"])
def test_a_punctuation_brings_time_to_all_keys(clock: str):
    """WIN-24, MOD-5: a at 3, b at 4; the punctuation at 12 closes [0, 10) of both."""
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", "windows": [TUMBLING]})
    chosen = of(
        clock=clock,
        reported_windows="every",
        late_for="window",
        watermark="punctuation",
        watermark_delay=0,
        expiry_rule="reached",
        allowed_lateness=0,
    )
    elements = [(A, 3), (B, 4), (frozenset(), 12)]
    reports = evaluate(query, {"s": stream(elements)}, chosen)
    found = [(report.key, report.window, report.trigger) for report in reports]
    assert found == [(("<urn:a>",), (0, 10), 12), (("<urn:b>",), (0, 10), 12)]


def test_t0_is_that_of_the_key():
    """WIN-10, WIN-24: a at 3, b at 5; the first windows begin at 3 and at 5."""
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", "windows": [TUMBLING]})
    reports = evaluate(
        query, {"s": stream([(A, 3), (B, 5)])}, of(t0="first-element", horizon="flush")
    )
    found = [(report.key, report.window) for report in reports]
    assert found == [(("<urn:a>",), (3, 13)), (("<urn:b>",), (5, 15))]


@pytest.mark.parametrize(
    ("table", "fields", "message"),
    [
        ({"windows": [TUMBLING, TUMBLING]}, {}, "the only one of its query"),
        ({"windows": [TUMBLING]}, {"r2s": "append"}, "needs r2s=Rstream"),
        ({"windows": [TUMBLING]}, {"empty": "once"}, "needs r2s=Rstream and empty=emit"),
        ({"windows": [TUMBLING], "r2s": "append"}, {}, "needs r2s=Rstream"),
    ],
)
def test_what_has_no_meaning_is_refused(table: dict, fields: dict, message: str):
    """QRY-5: The message names the nearest form that has a meaning."""
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", **table})
    with pytest.raises(InvalidSemantics, match=message) as refusal:
        list(evaluate(query, {"s": stream([(A, 3)])}, of(**fields)))
    assert refusal.value.rule == "QRY-5"


def test_an_element_without_its_key_is_refused():
    """WIN-15: As for a partition."""
    query = from_table({"body": "ASK {}", "windows": [{**TUMBLING, "by": ["urn:q"]}]})
    with pytest.raises(InvalidStream, match="partitioned by urn:q") as refusal:
        list(evaluate(query, {"s": stream([(A, 3)])}, of()))
    assert refusal.value.rule == "WIN-15"


def test_what_is_not_computed_is_said():
    """ENG-7, ENG-8: Not in parts, not pushed one by one."""
    query = from_table({"body": "SELECT ?x { ?x ?p ?o }", "windows": [TUMBLING]})
    streams = {"s": stream([(A, 3), (B, 12)])}
    with pytest.raises(Unsupported, match="a window with a key") as in_parts:
        list(evaluate_in_parts(query, streams, of(), [10]))
    with pytest.raises(Unsupported, match="a window with a key") as pushed:
        Engine(query, ["s"], of())
    assert [error.value.rule for error in (in_parts, pushed)] == ["ENG-7", "ENG-8"]


def test_too_many_reports_of_all_keys_are_an_error():
    """ENG-3: Two keys, and three windows of each."""
    query = from_table({"body": "ASK {}", "windows": [{**TUMBLING, "size": 1, "slide": 1}]})
    streams = {"s": stream([(A, 0), (B, 0), (A, 3)])}
    chosen = of(report="window-close", empty="emit")
    assert len(list(evaluate(query, streams, chosen))) == 6
    with pytest.raises(TooManyReports, match="6 reports exceed max_reports=5"):
        list(evaluate(query, streams, chosen, max_reports=5))
