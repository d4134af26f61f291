"""Evaluation in parts gives the reports of the definition, wherever a stream is cut, in gaps,
too.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import accumulate
from typing import Any
from unittest.mock import patch

import pytest
from conftest import draws
from hypothesis import event, given, settings
from hypothesis import strategies as st
from incremental_trials import collect, cut, is_same_report, trials
from sections import check_all, each_section

from conformance import corpus
from refengine import Body, Query, Window, WindowKind, from_table, literal, profile, stream
from refengine.core import engine, r2r
from refengine.core.r2s import reads_last_output
from refengine.core.semantics import R2S, Closure, Empty
from refengine.incremental import parts
from refengine.model.elements import XSD
from refengine.strategies import bodies

reports_of_part = parts.reports_of_part


def agree(query, streams, picked, static, cuts, answer=r2r.defined_answer) -> str:
    """Assert that the parts' reports are those of the definition, or that both end in the same
    error. Return whether parts were computed from halos, or why there are none.
    """
    options = {"static": static, "answer": answer}
    expected, error = collect(engine.evaluate, query, streams, picked, **options)
    starts = []

    def note_halo_start(query, streams, picked, firsts, part, **options):
        result = reports_of_part(query, streams, picked, firsts, part, **options)
        starts.append(part.halo_start)
        return result

    def in_parts(*args: Any, **options: Any):
        with patch.object(parts, "reports_of_part", note_halo_start):
            yield from parts.evaluate_in_parts(*args, **options)

    actual, other = collect(in_parts, query, streams, picked, cuts, **options)
    if other is not None and other.rule == "ENG-7":
        return str(other).partition("parts: ")[2].partition(",")[0]
    assert len(actual) == len(expected) and all(map(is_same_report, actual, expected))
    assert str(other) == str(error)
    return (
        "in parts, some not from the beginning"
        if any(start is not None for start in starts)
        else "in parts"
    )


@each_section(case for case in corpus.cases() if "expect" in case.table)
def test_a_case_holds_in_parts(cases):
    """Cut at every instant."""
    check_all(cases, corpus.in_parts)


@pytest.mark.parametrize(
    ("size", "slide"), [(10, 10), (10, 100), (50, 60), (100, 10), (2000, 2000)]
)
@pytest.mark.parametrize("report", ["window-close", "content-change"])
def test_more_is_given_each_time(size, slide, report):
    """A halo begins before the part, and each one earlier than the one before; in gaps between
    windows, too.
    """
    query = from_table(
        {
            "body": "SELECT * { ?s ?p ?o }",
            "windows": [{"stream": "s", "kind": "time", "size": size, "slide": slide}],
        }
    )
    picked = profile("cqels").but(t0=0, report=report, tick="tuple").semantics()
    for start in (1, 2, 99, 2001, 2013, 9999):
        found = list(parts.halo_starts(query, picked, {"s": 0}, start, range(10_000)))
        assert found.pop() is None and all(
            earlier < later for later, earlier in zip([start, *found], found, strict=False)
        )
    assert len(found) > 2, "there is something to see"


def test_what_a_part_leaves_out_is_not_asked():
    """Of windows that a part does not know whole an answer may be disputed that nobody gives: 01 <
    'zz', where no stop is.
    """
    body = "SELECT ?x { ?x <urn:n> ?v FILTER NOT EXISTS { ?z <urn:stop> ?w } FILTER(?v < 'zz') }"
    query = from_table(
        {"body": body, "windows": [{"stream": "s", "kind": "time", "size": 20, "slide": 10}]}
    )
    number, items = literal("01", XSD + "integer"), []
    for n in range(12):
        items += [(("<urn:s>", "<urn:stop>", "<urn:s>"), 10 * n + 1)] if n % 2 == 0 else []
        items += [
            (("<urn:a>", "<urn:n>", number), 10 * n + 6),
            (("<urn:b>", "<urn:q>", "<urn:b>"), 10 * n + 8),
        ]
    for fields in ({}, {"r2s": "Istream", "base": "previous"}):
        assert agree(
            query,
            {"s": stream(items)},
            profile("csparql").but(t0=0, horizon="none", **fields).semantics(),
            frozenset(),
            [109],
            r2r.confirmed_answer,
        ).startswith("in parts")


@settings(max_examples=draws(200))
@given(cut())
def test_sliced_is_unsliced(trial):
    event(agree(*trial))


@settings(max_examples=draws(60))
@given(trials(bodies(names=(), graph_variable=False)), st.sets(st.integers(-10, 20), max_size=3))
def test_sliced_is_unsliced_or_refused(trial, cuts):
    """Over every kind of window and the whole space of semantics."""
    event(agree(*trial, sorted(cuts)))


def draw_empty_outputs(rng: random.Random, empty: Empty) -> tuple:
    """Draw a query with a short window, a stream of which the body finds about half, a semantics
    with this value of `empty`, and cuts. Outputs that are empty and others come in turn.
    """
    size = rng.randint(1, 4)
    window = Window("s", WindowKind.TIME, size, rng.choice([1, size, size + 2]))
    query = Query((window,), Body("SELECT ?x { ?x <urn:p> ?y }"))
    instants = list(accumulate(rng.choices([0, 0, 1, 2, 3, 6], k=20)))
    items = [((rng.choice("ab"), rng.choice("pq"), "o"), at) for at in instants]
    elements = [(tuple(f"<urn:{term}>" for term in triple), at) for triple, at in items]
    operator = rng.choice(list(R2S))
    base = None
    if operator in (R2S.ISTREAM, R2S.DSTREAM):
        base = "previous"
    report = {"report": rng.choice(["content-change", "non-empty", "window-close"])}
    if rng.random() < 0.5:  # evaluations where nothing changes, and two at one instant
        report = {"report": "periodic", "period": 1, "anchor": 0}
    picked = profile("csparql").but(
        t0=0,
        closure=rng.choice(list(Closure)),
        r2s=operator,
        base=base,
        empty=empty,
        horizon="none",
        **report,
    )
    distinct = sorted(set(instants))
    cuts = sorted(rng.sample(distinct, min(4, len(distinct))))
    return query, {"s": stream(elements)}, picked.semantics(), frozenset(), cuts


@pytest.mark.parametrize("empty", Empty)
def test_empty_outputs_in_parts(empty):
    """ENG-7, R2S-5: whether the first empty output of a part is emitted is said by the evaluations
    before the part that matter to it.
    """
    rng = random.Random(0)
    count = draws(100)
    said = Counter(agree(*draw_empty_outputs(rng, empty)) for _ in range(count))
    assert said["in parts, some not from the beginning"] > count / 2, said


@pytest.mark.parametrize("empty", [empty for empty in Empty if reads_last_output(empty)])
@pytest.mark.parametrize("needed", [0, 1])
def test_too_few_evaluations_before_a_part_are_noticed(empty, needed):
    """ENG-7: where the last output matters the draws above show that one evaluation is too few."""
    rng = random.Random(0)
    with (
        patch.object(parts, "evaluations_needed", lambda query, picked: needed),
        pytest.raises(AssertionError),
    ):
        for _ in range(draws(100)):
            agree(*draw_empty_outputs(rng, empty))
