"""Drawn outputs with stated windows: none passes that no assignment explains with its windows, and
none fails that one does (ORA-11).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache

import exhaustive
import pytest
from hypothesis import given
from test_oracle_laws import CHANCE, Engine, draw_engine, law, told_windows

from refengine import (
    UNKNOWN,
    Disputed,
    Profile,
    Relation,
    Stream,
    TooManyReports,
    Unsupported,
    evaluate,
)
from refengine.core import engine, r2r
from refengine.core.semantics import Semantics
from refengine.core.values import Closure
from refengine.model import compare
from refengine.oracle.judge import Judgement, judge

Borders = tuple[int, int]
FIRST_AND_LAST = {None: (0, 0), "[)": (0, -1), "(]": (1, 0), "[]": (0, 0), "()": (1, -1)}  # WIN-2


@pytest.fixture(autouse=True, scope="module")
def _ask_once() -> Iterator[None]:
    """Keep the witnesses' answers: draws are from so few triples that they recur."""
    plain, r2r.ask_evaluator = r2r.ask_evaluator, cache(r2r.ask_evaluator)
    yield
    r2r.ask_evaluator = plain


def draw_windows(
    rng: random.Random, reports: Sequence[engine.Report], semantics: Semantics
) -> dict[str, object]:
    """Windows that an engine states: right ones, of which some are changed, or any."""
    stated = told_windows(rng, reports, semantics)
    windows: list[Borders | None] = list(stated.get("windows", [None] * len(reports)))
    for place in range(len(windows)):
        chance = rng.random()
        opens, closes = windows[place] or (rng.randint(-9, 9), rng.randint(10, 19))
        if chance < 0.1:
            shift = rng.choice([-1, 0, 1, 4])
            windows[place] = (
                opens + shift,
                max(opens, closes) + max(0, shift) + rng.choice([0, 5]),
            )
        elif chance < 0.2:
            windows[place] = (opens, closes)
        elif chance < 0.25:
            windows[place] = None
    closure = stated.get("window_closure", rng.choice([None, semantics.closure]))
    return {"windows": windows, "window_closure": closure}


def is_about(stated: Borders | None, own: Closure | None, report: engine.Report, semantics) -> bool:
    """ORA-11: whether a stated window holds the instants of a report's; True if none is stated."""
    if stated is None:
        return True
    if report.window is None:
        return False
    low, high = FIRST_AND_LAST[own or semantics.closure]
    first, last = FIRST_AND_LAST[semantics.closure]
    return (stated[0] + low, stated[1] + high) == (
        report.window[0] + first,
        report.window[1] + last,
    )


def is_explained(
    own: Engine,
    semantics: Semantics,
    recording: Sequence[Relation],
    missing: int,
    stated: dict,
) -> bool:
    """ORA-1, ORA-3: whether a semantics gives the recording with its windows."""
    reports = list(
        evaluate(own.query, own.streams, semantics, answer=r2r.defined_answer, max_reports=4000)
    )
    if not recording:
        return not reports
    for before in range(missing + 1):
        beside = reports[before : before + len(recording)]
        after = len(reports) - before - len(recording)
        if 0 <= after <= missing and all(
            compare.equal(report.relation.rows, relation.rows)
            and is_about(window, stated["window_closure"], report, semantics)
            for report, relation, window in zip(beside, recording, stated["windows"], strict=True)
        ):
            return True
    return False


def is_explained_by_any(own, judged: Profile, recording, missing: int, stated: dict) -> bool:
    """Whether some assignment of a profile gives the recording with its windows, one by one."""
    bound = len(recording) + missing
    for semantics in exhaustive.every_semantics(own.query, own.streams, judged, bound):
        try:
            if is_explained(own, semantics, recording, missing, stated):
                return True
        except TooManyReports:
            continue
    return False


def draw_output(rng: random.Random) -> tuple[Engine, list[engine.Report]]:
    """An engine and its reports, of which there are some if eight draws give any. The first of
    several streams may have no elements.
    """
    for _ in range(8):
        own = draw_engine(rng, most_windows=rng.choice([2, 3]), most_elements=4)
        if len(own.streams) > 1 and rng.random() < 0.3:
            own = Engine(own.query, {**own.streams, "s": Stream(())}, own.semantics)
        with suppress(Disputed, TooManyReports):
            reports = own.reports()
            if reports and any(map(len, own.streams.values())):
                return own, reports
    return own, []


def check_stated_windows(rng: random.Random, said: Counter[str]) -> None:
    """Judge a drawn engine's output with stated windows, of which some are changed."""
    own, reports = draw_output(rng)
    if not reports:
        said["no output"] += 1
        return
    missing = rng.choice([0, 0, 1])
    recording = [report.relation for report in reports]
    stated = draw_windows(rng, reports, own.semantics)
    t0 = UNKNOWN if rng.random() < 0.7 else own.semantics.t0
    fields = {**vars(own.semantics), "t0": t0}
    if t0 == UNKNOWN:
        fields["offset"] = None
    judged = Profile("drawn", "here", {}).but(**fields)
    try:
        found: Judgement = judge(
            own.query, own.streams, judged, recording, missing=missing, **stated
        )
    except (Disputed, Unsupported) as error:
        said[type(error).__name__] += 1
        return
    if found.passed:
        named = found.trial.semantics
        assert is_explained(own, named, recording, missing, stated), (own, judged, stated)
    else:
        is_right = is_explained_by_any(own, judged, recording, missing, stated)
        assert not is_right, (own, judged, stated)
    is_stated = any(stated["windows"])
    said[f"{'pass' if found.passed else 'fail'}, {'' if is_stated else 'not '}stated"] += 1


def test_stated_windows_are_compared():
    """ORA-11: over one to three windows of all kinds, and streams that may have no elements."""
    said: Counter[str] = Counter()

    @law(150)
    @given(CHANCE)
    def holds(rng: random.Random) -> None:
        check_stated_windows(rng, said)

    holds()
    print(dict(said))
    assert said["pass, stated"] > 0.1 * said.total(), said
    assert said["fail, stated"] > 0.1 * said.total(), said
