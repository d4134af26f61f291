"""Empty outputs where the arrival order was not recorded (ORA-7), on drawn streams: under each
value of `empty` the search says what the enumeration of all orders says.

The recordings are the outputs of the engine under one order, and these with an empty output added,
dropped or moved by one place.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import exhaustive
import pytest
from conftest import draws
from test_oracle_laws import forget_order

from refengine import Body, Mode, Query, Relation, Stream, Window, WindowKind, profile, stream
from refengine.core import engine
from refengine.core.question import Question, Setting
from refengine.core.r2r import defined_answer
from refengine.core.values import R2S, Closure, Empty
from refengine.model.elements import Bag
from refengine.oracle import orders
from refengine.oracle.judge import judge

# The pattern finds half of the elements that are drawn. The aggregate gives a row over no element,
# and the join needs two elements.
BODIES = [
    Body("SELECT ?x { ?x <urn:p> ?y }"),
    Body("SELECT ?x { ?x <urn:p> ?y }"),
    Body("SELECT (COUNT(?x) AS ?n) { ?x <urn:p> ?y }"),
    Body("SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z }"),
]
TERMS = ["<urn:a>", "<urn:b>"]


def draw_setting(rng: random.Random) -> Setting:
    """Draw a query over one short window, with simultaneous elements, gaps between them, and a
    semantics under which the order of simultaneous elements can show.
    """
    size = rng.randint(1, 4)
    window = Window("s", WindowKind.TIME, size, rng.choice([1, size, size + 2]))
    at = 0
    elements = []
    for _ in range(rng.randint(2, 3)):
        for _ in range(rng.choice([1, 2, 2, 3])):
            triple = rng.choice(TERMS), rng.choice(["<urn:p>", "<urn:q>"]), rng.choice(TERMS)
            elements.append((triple, at))
        at += rng.choice([1, 2, 3, 6])

    operator = rng.choice([operator for operator in R2S if operator is not R2S.APPEND])
    base = None
    if operator is not R2S.RSTREAM:
        base = "previous"
    fields = {"report": rng.choice(["content-change", "content-change", "non-empty"])}
    if rng.random() < 0.3:
        fields = {"report": "periodic", "period": 1, "anchor": 0}
    drawn = profile("csparql").but(
        t0=0,
        closure=rng.choice([each for each in Closure if (window.size or 2) >= each.least_size]),
        r2s=operator,
        base=base,
        horizon=rng.choice(["none", at + 4]),
        **fields,
    )
    question = Question(Query((window,), rng.choice(BODIES)), {"s": stream(elements)})
    return question.under(drawn.semantics())


def engine_outputs(setting: Setting) -> list[Bag]:
    """The outputs of the engine, under the order in which the elements stand."""
    found = engine.evaluate(
        setting.query, setting.streams, setting.semantics, answer=defined_answer
    )
    return [report.relation.rows for report in found]


def over(setting: Setting, streams: Mapping[str, Stream]) -> Setting:
    """The same query and semantics over other streams."""
    return replace(setting, question=replace(setting.question, streams=streams))


def with_empty_outputs_changed(outputs: Sequence[Bag]) -> Iterator[list[Bag]]:
    """The outputs with one empty output added, dropped, or moved by one place: all such changes."""
    for place in range(len(outputs) + 1):
        yield [*outputs[:place], Counter(), *outputs[place:]]
    for place, output in enumerate(outputs):
        others = [*outputs[:place], *outputs[place + 1 :]]
        if not output:
            yield others
            if place < len(others):
                yield [*others[: place + 1], Counter(), *others[place + 1 :]]
            if place > 0:
                yield [*others[: place - 1], Counter(), *others[place - 1 :]]


def is_accepted(setting: Setting, outputs: Sequence[Bag]) -> bool:
    """Whether the oracle passes a recording from which no output is missing."""
    exact = replace(profile("csparql"), fields=dict(vars(setting.semantics)))
    recording = [Relation((), rows) for rows in outputs]
    return judge(setting.query, setting.streams, exact, recording, missing=0).passed


@pytest.mark.parametrize("empty", Empty)
def test_the_search_judges_empty_outputs_as_enumeration_does(empty: Empty) -> None:
    """ORA-7, R2S-5: under every value of `empty` that the search does not refuse."""
    seen: Counter[str] = Counter()
    rng = random.Random(0)
    count = draws(80)
    for _ in range(count):
        drawn = draw_setting(rng)
        recorded = replace(drawn, semantics=replace(drawn.semantics, empty=empty))
        judged = over(recorded, forget_order(rng, recorded.streams))
        planned = engine.plan(judged.query, judged.streams, judged.semantics)
        if not orders.order_matters(planned):
            continue
        if orders.find_obstacle(judged.question, planned) is not None:
            seen["refused"] += 1
            continue
        outputs = engine_outputs(recorded)
        assert is_accepted(judged, outputs), (judged, outputs)
        seen["accepted"] += 1
        seen["an empty output"] += not all(outputs)
        possible = [
            engine_outputs(over(judged, ordered))
            for ordered in exhaustive.every_order(judged.query, judged.streams)
        ]
        changes = [each for each in with_empty_outputs_changed(outputs) if each != outputs]
        for changed in rng.sample(changes, min(4, len(changes))):
            expected = any(exhaustive.piece(changed, each, 0, Mode.VALUE) for each in possible)
            assert is_accepted(judged, changed) is expected, (judged, changed)
            seen[f"changed, {expected}"] += 1

    print(dict(seen))
    if seen["refused"]:
        assert not seen["accepted"], "the search refuses a value always or never"
        return
    assert seen["accepted"] > count / 2 and seen["changed, False"] > count / 2, seen
    if empty is not Empty.SUPPRESS:
        assert seen["an empty output"] > count / 4, seen
