"""The fast schedules say what `core.schedule` says of when a query is evaluated and over what: on
drawn plans with windows of all kinds, and under every report, tick and trigger.

`python test_schedules.py FIRST NUMBER` draws so many more, with the seeds from FIRST on.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from incremental_trials import P, asked, chosen

from refengine import Query, RefengineError, Semantics, Stream, from_table, profile, stream
from refengine.core import engine
from refengine.core.plan import Plan
from refengine.core.query import BORDERED
from refengine.core.schedule import Evaluation, Schedule
from refengine.incremental.arrival_buffer import plan_streamed
from refengine.incremental.schedule import (
    QuietStretch,
    ScheduleOfChanges,
    ScheduleOfInstants,
    quicker_schedule,
    schedule_groups,
)

REPORTS = (
    *["content-change"] * 4,
    *["content-change,non-empty"] * 2,
    *["window-close"] * 2,
    "window-close,content-change",
    "window-close,non-empty",
    "window-close,periodic",
    "periodic",
    "periodic,content-change",
    "non-empty",
)
KINDS = ("time", "time", "range", "now", "rows", "partition", "landmark", "unbounded")


def draw_window(rng: random.Random, kind: str, name_of_stream: str) -> dict[str, Any]:
    """Draw a window of a kind over a stream, as a query's table has it."""
    window: dict[str, Any] = {"stream": name_of_stream, "kind": kind}
    if kind in ("time", "tuple"):
        window |= {"size": rng.randint(1, 7), "slide": rng.randint(1, 9)}
    if kind in ("range", "rows"):
        window["size"] = rng.randint(1, 6)
        if rng.random() < 0.5:
            window["slide"] = rng.randint(1, 5)
    if kind == "partition":
        window |= {"size": rng.randint(1, 3), "by": ["object"]}
    if kind in ("time", "range") and rng.random() < 0.3:
        window["lag"] = rng.randint(1, 5)
    if kind in ("tuple", "rows") and rng.random() < 0.3:
        window["unit"] = "triples"
    return window


def draw_query(rng: random.Random) -> Query:
    """Draw a query over up to three windows, or over one of tuples, which must be the only one."""
    count = rng.choice([1, 1, 1, 2, 2, 3])
    if count == 1:
        kind = "tuple" if rng.random() < 0.25 else rng.choice(KINDS)
        windows = [draw_window(rng, kind, "s")]
    else:
        windows = [draw_window(rng, rng.choice(KINDS), rng.choice("sr")) for _ in range(count)]
    return from_table({"body": "SELECT * {?s ?p ?o}", "windows": windows})


def draw_stream(rng: random.Random, name: str, query: Query) -> Stream:
    """Draw a stream: often several elements at an instant, and sometimes with intervals. An element
    of a partition has one triple.
    """
    most_triples = 1 if any(spec.by for spec in query.windows) else 3
    t, batch = rng.randint(-8, 4), 1
    has_intervals = rng.random() < 0.25 and query.windows[0].kind != "tuple"
    items = []
    for i in range(rng.randint(0, 14)):
        t += rng.choice([0, 0, 0, 1, 1, 2, 3, 9])
        count = rng.choice([1, 1, most_triples])
        items.append(([(f"<urn:{i % 4}x{j}>", P, f"<urn:{i % 3}>") for j in range(count)], t))
    elements = []
    for place, element in enumerate(stream(items) if items else ()):
        batch += rng.choice([0, 0, 1])
        end = element.app + rng.choice([0, 0, 1, 3, 12]) if has_intervals else None
        # no two elements of two streams have one t_sys
        sys_time = 2 * place + (name == "r")
        elements.append(element._replace(end=end, batch=batch, sys=sys_time))
    return Stream(tuple(elements))


def draw_semantics(rng: random.Random, query: Query) -> Semantics:
    """Draw a semantics. Raises RefengineError for fields that do not go together."""
    report = rng.choice(REPORTS)
    fields: dict[str, Any] = {
        "t0": rng.choice([rng.randint(-6, 4), rng.randint(-6, 4), "first-element", "first-reach"]),
        "report": report,
        "tick": rng.choice(["tuple", "tuple", "tuple", "time", "time", "batch"]),
        "partial": rng.choice(["suppressed", "reported", "clipped"]),
        "close_rule": rng.choice(["reached", "reached", "passed"]),
        "expiry_seen": rng.choice(["replayed", "eager"]),
        "horizon": rng.choice(["none", "flush", 100]),
        "closure": rng.choice(["[)", "(]", "[]"]),
        "change_scope": rng.choice([*["elements"] * 5, "graph"]),
        "change_baseline": rng.choice([*["last-report"] * 5, "previous-instant"]),
        "missed_instants": "all",
    }
    if "window-close" in report or "periodic" in report:
        fields["missed_instants"] = rng.choice(["all", "all", "latest"])
    if "periodic" in report:
        anchor = rng.choice([0, 3, "t0", "first-element"])
        fields |= {"period": rng.randint(1, 6), "anchor": anchor}
    if len(query.windows) > 1:
        fields["trigger"] = rng.choice(["any", "any", "all", "leading"])
    if not any(spec.kind in BORDERED for spec in query.windows):
        fields["closure"] = "none"
    return profile("csparql").but(**fields).semantics()


def run(groups: Iterable[Iterable[Evaluation]]) -> tuple[list[Any], str]:
    """Return the evaluations of groups, with contents as lists, and the error that ended them.

    A group that is no quiet stretch has one arrival, and one content of each window.
    """
    found: list[Any] = []
    try:
        for group in groups:
            those = [
                (at.t, at.arrival, [(held.n, list(held.content)) for held in at.windows])
                for at in group
            ]
            if isinstance(group, QuietStretch):
                assert len(group) > 0 and (group.is_passed_over or len(those) == len(group))
            else:
                assert len({(k, str([held for _, held in windows])) for _, k, windows in those}) < 2
            found += those
    except RefengineError as error:
        return found, str(error)
    return found, ""


def streamed_plans(query: Query, streams: dict[str, Stream], semantics: Semantics) -> list[Plan]:
    """Return a plan whose stream is read as it comes; none where it is needed whole."""
    if any(element.end not in (None, element.app) for one in streams.values() for element in one):
        return []
    with suppress(RefengineError):
        iterators = {name: iter(elements) for name, elements in streams.items()}
        return [plan_streamed(query, iterators, semantics)]
    return []


def check_passing_over(planned: Plan, evaluations: Sequence[Any], seen: Counter[str]) -> None:
    """Assert that of a plan's evaluations those are left out that are passed over, and no others:
    here every second one about which a schedule asks. No two of the contents are the same.
    """
    asked_about: list[list[int]] = []

    def is_passed_over(content: Sequence[int]) -> bool:
        asked_about.append(list(content))
        return len(asked_about) % 2 == 0

    found, _ = run(schedule_groups(planned, 500, is_passed_over))
    left_out = asked_about[1::2]
    assert found == [at for at in evaluations if at[2][0][1] not in left_out]
    seen["passed over"] += len(left_out)


def check_draw(rng: random.Random, seen: Counter[str]) -> None:
    """Assert that a drawn plan has the same evaluations by either schedule, or ends in the same
    error; also where the stream is read as it comes, and with a bound on reports (ENG-3).
    """
    query = draw_query(rng)
    streams = {name: draw_stream(rng, name, query) for name in ("r", "s")}
    streams = {name: streams[name] for name in sorted({spec.stream for spec in query.windows})}
    try:
        semantics = draw_semantics(rng, query)
        planned = engine.plan(query, streams, semantics)
    except RefengineError:
        seen["no plan"] += 1
        return
    has_intervals = any(view.ends is not None for view in planned.views)
    for bound in (rng.randint(0, 12), 500):
        streamed = streamed_plans(query, streams, semantics)
        seen["streamed"] += len(streamed)
        plans = [planned, *streamed]
        expected = run(Schedule(planned, bound).groups())
        for each in plans:
            assert run(schedule_groups(each, bound)) == expected, (query.windows, semantics, bound)
        seen["too many"] += expected[1] != ""
    for each in (planned, *streamed_plans(query, streams, semantics)):
        check_passing_over(each, expected[0], seen)
    seen[getattr(quicker_schedule(planned), "__name__", "core")] += 1
    seen["quiet stretches"] += sum(
        isinstance(group, QuietStretch) and len(group) > 1 for group in schedule_groups(planned)
    )
    kinds = [f"{spec.kind}" for spec in query.windows]
    seen["several windows" if kinds[1:] else kinds[0]] += 1
    seen["intervals"] += has_intervals


REACHED = (
    *KINDS,
    "tuple",
    "several windows",
    "intervals",
    "streamed",
    "too many",
    "passed over",
    "quiet stretches",
    "core",
    "ScheduleOfChanges",
    "ScheduleOfInstants",
)


def test_drawn_plans_are_evaluated_as_the_engine_says() -> None:
    seen: Counter[str] = Counter()

    @given(st.integers(0, 2**48))
    def holds(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(25):
            check_draw(rng, seen)

    holds()
    assert all(seen[name] >= 10 for name in REACHED), seen


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"report": "content-change"}, ScheduleOfChanges),
        ({"report": "content-change,non-empty"}, ScheduleOfChanges),
        ({"report": "window-close"}, ScheduleOfInstants),
        ({"report": "window-close,content-change"}, ScheduleOfInstants),
        ({"report": "window-close", "change_baseline": "previous-instant"}, ScheduleOfInstants),
        ({"report": "content-change", "change_baseline": "previous-instant"}, None),
        ({"report": "content-change", "change_scope": "graph"}, None),
        ({"report": "window-close", "tick": "batch"}, None),
        ({"report": "non-empty"}, None),
        ({"reported_windows": "every", "empty": "suppress"}, None),
        ({"late_for": "nothing", "allowed_lateness": "reject"}, None),
    ],
)
def test_the_semantics_decides_which_schedule_is_used(
    fields: dict[str, str], expected: type | None
) -> None:
    items = stream([(("<urn:x>", P, "<urn:y>"), 1)])
    batched = Stream(tuple(element._replace(batch=1) for element in items))
    planned = engine.plan(asked("SELECT * {?s ?p ?o}"), {"s": batched}, chosen(**fields))
    assert quicker_schedule(planned) is expected


def test_a_window_with_a_key_has_no_quicker_schedule() -> None:
    items = stream([(("<urn:x>", P, "<urn:y>"), 1)])
    query = asked("SELECT * {?s ?p ?o}", by=["subject"])
    planned = engine.plan(query, {"s": items}, chosen(empty="suppress"))
    assert quicker_schedule(planned) is None


if __name__ == "__main__":
    first, number = map(int, sys.argv[1:])
    total: Counter[str] = Counter()
    for one in range(first, first + number):
        check_draw(random.Random(one), total)
    print(*sorted(total.items()), sep="\n")
