"""ORA-2: one value of t0 stands for its class, held to brute force over every integer.

`python test_t0_classes.py FIRST NUMBER` draws so many more, with the seeds from FIRST on.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from hypothesis import given
from test_oracle_laws import (
    CHANCE,
    Engine,
    draw_fields,
    draw_query,
    draw_streams,
    law,
)

from refengine import (
    UNKNOWN,
    Between,
    Body,
    Profile,
    RefengineError,
    Relation,
    Stream,
    TooManyReports,
    Unsupported,
    evaluate,
    incremental,
    row,
)
from refengine.core import engine, window
from refengine.core.moving import moved
from refengine.core.query import CLOSING, Query, Window
from refengine.core.semantics import Semantics
from refengine.core.values import Anchor, Condition, Empty
from refengine.model.elements import Bag, Dataset
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.beginnings import find_t0_candidates
from refengine.oracle.judge import judge
from refengine.oracle.t0_classes import begin_at, run_with_each_t0

WIDEST = 60  # values of t0 in a range
EARLIER = 25  # values before it that are looked at one by one
EVERY_SUBJECT = Body("SELECT ?s { ?s ?p ?o }")


def subjects(body: Body, graph: Dataset) -> Relation:
    """The answer of EVERY_SUBJECT."""
    return Relation(("s",), Counter(row({"s": statement[0]}) for statement in graph))


def draw(rng: random.Random) -> tuple[Engine, int, int] | None:
    """An engine over one to three windows, on a coarser scale now and then, and a range of t0. None
    for a semantics without a meaning.
    """
    query = draw_query(rng, 3)
    streams = draw_streams(rng, query, rng.choice([3, 6, 9]), batched=rng.random() < 0.3)
    fields = draw_fields(rng, query, streams)
    if rng.random() < 0.3:
        report_empty_windows(rng, query, fields)
    unit = rng.choice([1, 1, 1, 4])

    def scaled(number: int | None) -> int | None:
        return number and number * unit + rng.randint(0, unit - 1)

    def coarse(spec: Window) -> Window:
        if not spec.kind.startswith(("time", "range")):
            return spec
        return replace(
            spec, size=scaled(spec.size), slide=scaled(spec.slide), lag=scaled(spec.lag) or 0
        )

    query = replace(
        query, windows=tuple(map(coarse, query.windows)), body=EVERY_SUBJECT, registered=None
    )
    streams = {
        name: Stream(
            tuple(
                each._replace(app=each.app * unit, end=each.end and each.end * unit)
                for each in source
            )
        )
        for name, source in streams.items()
    }
    times = [each.app for source in streams.values() for each in source] or [0]
    if isinstance(fields["horizon"], int):
        fields["horizon"] = max(times) + rng.randint(1, 9 * unit)
    fields["period"] = scaled(fields["period"])
    lo = min(times) + rng.randint(-15 * unit, 8 * unit)
    fields |= {"t0": rng.randint(lo - 5, lo + 20), "offset": None}
    with suppress(RefengineError):
        own = Engine(query, streams, Semantics(**fields))
        engine.plan(query, streams, own.semantics)
        return own, lo, lo + rng.randint(0, 20)
    return None


def report_empty_windows(rng: random.Random, query: Query, fields: dict) -> None:
    """Let windows without elements be reported."""
    reports = [{Condition.CLOSE}, {Condition.PERIODIC}, {Condition.CLOSE, Condition.PERIODIC}]
    if not all(spec.kind in CLOSING for spec in query.windows):
        reports = [{Condition.PERIODIC}]
    fields["report"] = frozenset(rng.choice(reports))
    is_periodic = Condition.PERIODIC in fields["report"]
    fields["period"] = rng.randint(1, 7) if is_periodic else None
    fields["anchor"] = rng.choice([0, Anchor.T0, Anchor.FIRST]) if is_periodic else None
    fields["empty"] = rng.choice([Empty.EMIT, Empty.EMIT, *Empty])


def run(evaluations, bound: int, planned: engine.Plan) -> list:
    """What each evaluation of a plan is: the trigger, the contents, the instant and the borders."""
    found: list = []
    try:
        for at in evaluations(planned, bound):
            borders = tuple(
                window.borders_of_window(view, held.n)
                for view, held in zip(planned.views, at.windows, strict=True)
            )
            contents = [tuple(held.content) for held in at.windows]
            found.append((at.arrival, contents, (at.t, borders)))
    except TooManyReports:
        found.append("too many")
    return found


def check_classes(rng: random.Random, said: Counter[str]) -> None:
    """The classes of a range are the range, cut. With each value of a class the evaluations are the
    same, at instants and over windows that move as far as t0 does.
    """
    drawn = draw(rng)
    if drawn is None:
        said["not drawn"] += 1
        return
    own, lo, hi = drawn
    planned = engine.plan(own.query, own.streams, own.semantics)
    bound = rng.choice([engine.MAX_REPORTS, engine.MAX_REPORTS, rng.randint(0, 9)])
    for evaluations in (engine.evaluations, incremental.schedule_evaluations):
        look = partial(run, evaluations, bound)
        next_value = lo
        for t0_class, of_class in run_with_each_t0(planned, lo, hi, look):
            assert (t0_class.lo, t0_class.t0) == (next_value, t0_class.hi)
            for t0 in range(t0_class.lo, t0_class.hi + 1):
                here = [
                    (*at[:2], moved(at[2], t0 - t0_class.lo)) if len(at) == 3 else at
                    for at in of_class
                ]
                assert here == look(begin_at(planned, t0)), (own, lo, hi, bound, t0, t0_class)
            said["classes"] += 1
            next_value = t0_class.hi + 1
        assert next_value == hi + 1
    said["values"] += hi - lo + 1


def outputs(own: Engine, t0: int) -> list[Bag]:
    """The rows of each report that the engine makes with another t0."""
    semantics = replace(own.semantics, t0=t0)
    reports = evaluate(own.query, own.streams, semantics, answer=subjects, max_reports=200)
    return [report.relation.rows for report in reports]


def is_explained(recorded: Sequence[Bag], given: Sequence[Bag], missing: int) -> bool:
    """ORA-3: whether relations are consecutive outputs, but for so many at each end."""
    if not recorded:
        return not given
    return any(
        given[start : start + len(recorded)] == recorded
        and len(given) - start - len(recorded) <= missing
        for start in range(missing + 1)
    )


def check_verdict(rng: random.Random, said: Counter[str]) -> None:
    """A recording passes exactly if some t0 explains it, and with each value of the class that a
    pass names. Where t0 is unknown, the values are also those before the range.
    """
    drawn = draw(rng)
    if drawn is None:
        said["not drawn"] += 1
        return
    own, lo, hi = drawn
    planned = engine.plan(own.query, own.streams, own.semantics)
    fields: dict = {**vars(own.semantics), "t0": Between(lo, hi)}
    others: tuple = ()
    started = lo
    if rng.random() < 0.5:
        fields["t0"] = UNKNOWN
        lo, hi, others, _ = find_t0_candidates(own.query, planned, UNKNOWN)
        started = lo - rng.choice([0, *(rng.randint(1, EARLIER) for _ in range(3))])
    if hi - started > WIDEST:
        said["too wide"] += 1
        return
    if rng.random() < 0.9:
        own = replace(own, semantics=replace(own.semantics, t0=rng.randint(started, hi)))
    missing = rng.choice([0, 0, 0, 1])
    try:
        recorded = change(rng, outputs(own, own.semantics.t0))
        of_each = {t0: outputs(own, t0) for t0 in range(started - 2, hi + 1)}
        found = judge(
            own.query,
            own.streams,
            Profile("drawn", "here", {}).but(**fields),
            [Relation(("s",), rows) for rows in recorded],
            missing=missing,
            witnesses=(),
            answers=ANSWERS,
        )
    except TooManyReports:
        said["too many"] += 1
        return
    right = {t0 for t0, given in of_each.items() if is_explained(recorded, given, missing)}
    right = {t0 for t0 in right if t0 >= lo or fields["t0"] == UNKNOWN}
    if not found.passed:
        assert not right, (own, fields["t0"], recorded, missing, right)
        said["fail"] += 1
        return
    said["pass"] += 1
    said["pass before the range"] += (
        found.t0_candidates is not None and found.trial.t0_class.hi < lo
    )
    first, last = found.trial.t0_class.lo, found.trial.t0_class.hi
    if isinstance(found.trial.semantics.t0, int):
        for t0 in {first, last, rng.randint(first, last)}:
            given = outputs(own, t0)
            assert is_explained(recorded, given, missing), (own, fields["t0"], recorded, t0)
    else:
        assert others


ANSWERS = SharedAnswers()


def change(rng: random.Random, recorded: list[Bag]) -> list[Bag]:
    """A recording, changed in some place or not."""
    if not recorded or rng.random() < 0.4:
        return recorded
    place, other = rng.randrange(len(recorded)), rng.randrange(len(recorded))
    changed = list(recorded)
    if rng.random() < 0.5:
        del changed[place]
    else:
        changed[place], changed[other] = changed[other], changed[place]
    return changed


def test_a_value_of_t0_stands_for_its_class():
    said: Counter[str] = Counter()

    @law(120)
    @given(CHANCE)
    def holds(rng: random.Random) -> None:
        check_classes(rng, said)

    holds()
    print(dict(said))
    assert said["classes"] < 0.8 * 2 * said["values"], said


def test_a_recording_passes_exactly_if_some_t0_explains_it():
    said: Counter[str] = Counter()

    @law(120)
    @given(CHANCE)
    def holds(rng: random.Random) -> None:
        ANSWERS.objects.clear()
        check_verdict(rng, said)

    holds()
    print(dict(said))
    assert min(said["pass"], said["fail"]) > 0.1 * said.total(), said


def main(first: int, number: int) -> None:
    """Draw with seeds from `first` on, and print what came of it."""
    said: Counter[str] = Counter()
    for seed in range(first, first + number):
        for check in (check_classes, check_verdict):
            ANSWERS.objects.clear()
            try:
                check(random.Random(seed), said)
            except Unsupported as error:
                said[str(error)[:60]] += 1
            except Exception as error:
                said["BROKEN"] += 1
                print(seed, check.__name__, type(error).__name__, str(error)[:600], flush=True)
        if seed % 500 == 499 or seed == first + number - 1:
            print(seed + 1 - first, dict(said), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
