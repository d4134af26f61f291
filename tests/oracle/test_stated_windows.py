"""Verdicts on engines that state the windows of their answers (ORA-11)."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import accumulate
from math import lcm
from random import Random

import pytest
from conftest import draws

from conformance.verdict.explain import explain_fail, explain_wrong_windows
from conformance.verdict.outcomes import judge_relations
from refengine import (
    Disputed,
    OneOf,
    RefengineError,
    Relation,
    evaluate,
    from_table,
    literal,
    profile,
    row,
    stream,
)
from refengine.core.question import Question
from refengine.model.elements import XSD
from refengine.oracle.divergence import LOST, OTHER_WINDOW, SKIPPED
from refengine.oracle.explanations import find_explanations
from refengine.oracle.judge import Judgement, judge


def integer(number: int) -> str:
    return literal(str(number), XSD + "integer")


def test_no_engine_fails_for_its_windows_on_an_answer_that_no_witness_confirms():
    """By t0 = 0 the windows are [0, 5) with one number, and [10, 15) with a number and "nan". Of
    the latter the SPARQL evaluator counts 1, and both witnesses 2 (ORA-8). By t0 = -4 the windows
    are [6, 11) with one number, and [16, 21) with two. So the counts 1 and 2 are right by t0 = -4,
    and by t0 = 0 they are disputed.
    """
    query = from_table(
        {
            "windows": [{"stream": "s", "kind": "time", "size": 5, "slide": 10}],
            "body": f"SELECT (COUNT(?d) AS ?n) {{ ?x <urn:p> ?y BIND(<{XSD}double>(?y) AS ?d) }}",
        }
    )
    elements = stream(
        [
            ((f"<urn:{t}>", "<urn:p>", literal("nan") if t == 14 else integer(1)), t)
            for t in (1, 7, 11, 14, 17, 18, 22)
        ]
    )
    semantics = profile("csparql").but(t0=OneOf((0, -4)), horizon="none")
    counts = [Relation(("n",), Counter([(("n", integer(count)),)])) for count in (1, 2)]

    def verdict(*windows: tuple[int, int]) -> bool:
        streams = {"s": elements}
        return judge(query, streams, semantics, counts, missing=0, windows=windows).passed

    assert verdict((6, 11), (16, 21))
    with pytest.raises(Disputed, match="no witness confirms"):
        verdict((0, 5), (10, 15))
    # No window of t0 = 0 begins at 1, so that what is disputed does not matter.
    assert not verdict((1, 6), (16, 21))


@pytest.mark.parametrize("t0", ["first-element", "first-reach"])
def test_each_of_several_windows_may_begin_at_a_t0_of_its_own(t0):
    """ORA-2: with several windows an unknown t0 may be a policy. By first-element the windows over
    s begin with [5, 7), and those over r with [4, 6).
    """
    windows = [{"stream": name, "kind": "time", "size": 2, "slide": 2} for name in ("s", "r")]
    query = from_table({"windows": windows, "body": "SELECT ?x { ?x <urn:p> ?y }"})
    streams = {
        name: stream([((f"<urn:{t}>", "<urn:p>", "<urn:y>"), t) for t in times])
        for name, times in {"s": (5, 8), "r": (4, 8, 12, 14, 15)}.items()
    }
    unknown = profile("csparql").but(t0="unknown", report="content-change", horizon="none")
    reports = list(evaluate(query, streams, unknown.but(t0=t0).semantics()))
    relations = [report.relation for report in reports]
    stated = [report.window for report in reports]
    assert judge(query, streams, unknown, relations, missing=0, windows=stated).passed
    late = [(opens + 1, closes + 1) for opens, closes in stated]
    assert not judge(query, streams, unknown, relations, missing=0, windows=late).passed


def test_an_unknown_t0_explains_what_some_value_of_it_explains():
    """The law of ORA-2 with ORA-11, on drawn outputs that are right or spoilt: the values tried are
    those of the rule, each by itself.
    """
    explained: Counter[bool] = Counter()
    for seed in range(draws(40)):
        r = Random(seed)
        sizes = [(r.randint(1, 4), r.randint(1, 4)) for _ in "sr"]
        windows = [
            {"stream": name, "kind": "time", "size": size, "slide": slide}
            for name, (size, slide) in zip("sr", sizes, strict=True)
        ]
        query = from_table({"windows": windows, "body": "SELECT * { ?s ?p ?o }"})
        streams = {}
        for name in "sr":
            times = accumulate([r.randint(1, 6), *(r.randint(0, 4) for _ in range(4))])
            streams[name] = stream([((f"<urn:{t}>", "<urn:p>", "<urn:y>"), t) for t in times])
        unknown = profile("csparql").but(
            t0="unknown", closure=r.choice(["[)", "(]", "[]"]), horizon="none"
        )
        firsts = [streams[name].elements[0].app for name in "sr"]
        earliest = min(first - size for first, (size, _) in zip(firsts, sizes, strict=True))
        cycle = lcm(*(slide for _, slide in sizes))
        values = [*range(earliest - cycle + 1, max(firsts) + 1), "first-element", "first-reach"]

        chosen = unknown.but(t0=r.choice([r.choice(values), *values[-2:]])).semantics()
        reports = list(evaluate(query, streams, chosen))
        relations = [report.relation for report in reports]
        stated = [report.window for report in reports]
        if reports and r.random() < 0.6:
            place = r.randrange(len(reports))
            if stated[place] is not None:  # the first of the windows may not have begun
                opens, closes = stated[place]
                stated[place] = (opens + r.choice([0, 1]), closes + r.choice([0, 1]))
            relations[place] = r.choice(relations)

        verdict = partial(judge, query, streams, recording=relations, missing=0, windows=stated)
        is_explained = any(verdict(profile=unknown.but(t0=value)).passed for value in values)
        assert verdict(profile=unknown).passed == is_explained, seed
        explained[is_explained] += 1
    assert min(explained[True], explained[False]) > draws(40) / 10


BESIDE = {"stream": "r", "kind": "time", "size": 10, "slide": 10}


@pytest.mark.parametrize("report", ["non-empty,window-close", "content-change"])
@pytest.mark.parametrize(
    "kind",
    [
        {"kind": "time", "size": 10, "slide": 10},
        {"kind": "range", "size": 10},
        {"kind": "now"},
        {"kind": "rows", "size": 1},
        {"kind": "partition", "size": 1, "by": ["subject"]},
        {"kind": "unbounded"},
        {"kind": "landmark"},
    ],
)
def test_a_stated_window_is_that_of_no_report_without_borders(kind, report):
    """ORA-11: stream s has no elements, r has a at 5 and b at 15. By t0=first-element no window
    over s ever opens; those of now, rows, partition, unbounded and landmark have no borders; a
    range of 10 has none before it is shown. None of them is [-5, 77) or [1000, 1001).
    """
    if "close" in report and kind["kind"] in ("rows", "partition", "unbounded", "landmark"):
        return  # such windows never close (QRY-5)
    query = from_table(
        {"windows": [{"stream": "s", **kind}, BESIDE], "body": "SELECT ?x { ?x <urn:p> ?y }"}
    )
    items = [((f"<urn:{name}>", "<urn:p>", "<urn:y>"), at) for name, at in (("a", 5), ("b", 15))]
    streams = {"s": stream([]), "r": stream(items)}
    answers = [Relation(("x",), Counter([row({"x": f"<urn:{name}>"})])) for name in "ab"]
    if report == "content-change":
        answers.append(Relation(("x",), Counter()))  # [20, 30) holds nothing
    own = profile("csparql").but(t0="unknown", report=report)

    def verdict(windows: list) -> Judgement:
        return judge(query, streams, own, answers, missing=0, windows=windows)

    assert verdict([]).passed and verdict([None, None]).passed
    wrong = verdict([(-5, 77), (1000, 1001)])
    assert not wrong.passed and wrong.is_right_but_for_windows
    assert explain_wrong_windows(own, wrong).startswith("WIN-3")
    assert not verdict([None, (1000, 1001)]).passed


def test_a_report_without_borders_is_no_end_of_the_search_for_the_nearest():
    """ORA-9, ORA-11: the range [0, 10] over s is shown from 10 on. Before it, r alone changes: a is
    reported at 1, without a window. So an answer about [0, 10] stands beside the second report,
    although by its rows it is as near to the first.
    """
    query = from_table(
        {
            "windows": [{"stream": "s", "kind": "range", "size": 10}, {**BESIDE, "size": 40}],
            "body": "SELECT ?x { ?x <urn:p> ?y }",
        }
    )
    items = {"s": (("b", 9),), "r": (("a", 1),)}
    streams = {
        name: stream([((f"<urn:{each}>", "<urn:p>", "<urn:y>"), at) for each, at in found])
        for name, found in items.items()
    }
    own = profile("cqels").but(t0=0, closure="[]", horizon=12)
    windows = [report.window for report in evaluate(query, streams, own.semantics())]
    assert windows == [None, (0, 10)]
    answers = [Relation(("x",), Counter([row({"x": "<urn:c>"})]))]
    found = judge(query, streams, own, answers, missing=1, windows=[(0, 10)])
    where = found.trial.divergence
    assert (where.index, where.window, where.reason) == (0, (0, 10), "the answer differs")


@pytest.mark.parametrize(
    ("windows", "place", "reason"),
    [
        (7, "windows", "must be a list of (o, c) or None, one for each relation, got 7"),
        (None, "windows", "must be a list of (o, c) or None, one for each relation, got None"),
        ([None] * 3, "windows", "must be one for each of 2 relations at most, got 3"),
        ([(0, 10), 5], "window of relation 2", "got 5"),
        ([(0,), None], "window of relation 1", "got (0,)"),
        ([(0, 10, 20)], "window of relation 1", "got (0, 10, 20)"),
        (["ab"], "window of relation 1", "got 'ab'"),
        ([(0, "10")], "window of relation 1", "got (0, '10')"),
        ([(0, 10.0)], "window of relation 1", "got (0, 10.0)"),
        ([(False, True)], "window of relation 1", "got (False, True)"),
        ([(0, None)], "window of relation 1", "got (0, None)"),
        ([()], "window of relation 1", "got ()"),
        ([0], "window of relation 1", "got 0"),
        ([(10, 9)], "window of relation 1", "got (10, 9)"),
        ("ab", "window of relation 1", "got 'a'"),
    ],
)
def test_what_are_no_windows_is_refused_in_one_line(windows, place, reason):
    answers = [Relation(("x",), Counter())] * 2
    with pytest.raises(RefengineError) as refused:
        judge(TUMBLING, {"s": SIX}, FROM_0, answers, windows=windows)
    text = str(refused.value)
    assert text.startswith(f"{place}: ORA-11: must be ") and text.endswith(reason)
    with pytest.raises(RefengineError, match="ORA-11"):
        judge_relations(Question(TUMBLING, {"s": SIX}), FROM_0, answers, windows=windows)


@pytest.mark.parametrize("closure", ["[", 5, ["[)"], "none"])
def test_what_is_no_closure_of_stated_windows_is_refused(closure):
    answers = [Relation(("x",), Counter())]
    with pytest.raises(RefengineError) as refused:
        judge(TUMBLING, {"s": SIX}, FROM_0, answers, windows=[(0, 9)], window_closure=closure)
    reason = f"must be one of [), (], [], (), or None, got {closure!r}"
    assert str(refused.value) == f"window_closure: ORA-11: {reason}"


def test_borders_may_be_lists_and_a_closure_its_text():
    answers = [Relation(("x",), Counter([row({"x": f"<urn:{name}>"})])) for name in "aaaabc"]
    windows = [[10 * n - 1, 10 * n + 9] for n in range(6)]
    found = judge(
        TUMBLING, {"s": SIX}, FROM_0, answers, missing=0, windows=windows, window_closure="(]"
    )
    assert found.passed


# Where a fail parts from windows of 10 that hold {a}, {a}, {a}, {a}, {b}, {c} (ORA-11, condition 5)

TUMBLING = from_table(
    {
        "windows": [{"stream": "s", "kind": "time", "size": 10, "slide": 10}],
        "body": "SELECT ?x { ?x <urn:p> ?y }",
    }
)
SIX = stream(
    [((f"<urn:{name}>", "<urn:p>", "<urn:y>"), 10 * n + 1) for n, name in enumerate("aaaabc")]
)
FROM_0 = profile("csparql").but(t0=0, horizon="flush")


def verdict_on(names: str, opens: str, own=FROM_0, missing: int = 0) -> Judgement:
    """Judge one answer for each name. The engine states that its window begins at 10 times the
    digit of `opens`; it states no windows if there are no digits.
    """
    answers = [Relation(("x",), Counter([row({"x": f"<urn:{name}>"})])) for name in names]
    windows = [(10 * int(digit), 10 * int(digit) + 10) for digit in opens]
    return judge(TUMBLING, {"s": SIX}, own, answers, missing=missing, windows=windows)


@pytest.mark.parametrize(
    ("names", "opens", "relation", "window", "reason", "before"),
    [
        # [20, 30) and [50, 60) are lost. By rows alone, [0, 10) and [50, 60) would be.
        ("aaab", "0134", 3, (20, 30), LOST, 0),
        # [10, 20), [30, 40) and [50, 60) are lost: after the first of them not all is in place.
        ("aab", "024", 2, (10, 20), SKIPPED, 0),
        # The rows are right, if [0, 10) and [10, 20) may be missing; the windows are not.
        ("aabc", "0145", 3, (20, 30), SKIPPED, 0),
        # Begins with [10, 20), and states it twice.
        ("aaabc", "11345", 2, (20, 30), OTHER_WINDOW, 1),
        # Begins with [10, 20), and has a wrong row at [30, 40).
        ("aacbc", "12345", 3, (30, 40), "the answer differs", 1),
    ],
)
def test_a_fail_parts_where_a_stated_window_or_its_rows_do(
    names, opens, relation, window, reason, before
):
    found = verdict_on(names, opens)
    where = found.trial.divergence
    assert not found.passed and found.alignment.before == before
    assert (where.index + 1, where.window, where.reason) == (relation, window, reason)


def test_a_longer_stated_window_is_another_one_and_no_later_one():
    """The engine states [10, 21) in place of [10, 20), and gives a wrong row for it."""
    answers = [Relation(("x",), Counter([row({"x": f"<urn:{name}>"})])) for name in "acaabc"]
    windows = [(10 * n, 10 * n + 10 + (n == 1)) for n in range(6)]
    found = judge(TUMBLING, {"s": SIX}, FROM_0, answers, missing=0, windows=windows)
    where = found.trial.divergence
    assert (where.index, where.window, where.reason) == (1, (10, 20), OTHER_WINDOW)


def test_without_stated_windows_a_fail_looks_at_rows_alone():
    found = verdict_on("aaab", "")
    assert (found.alignment.before, found.trial.divergence.index) == (1, 4)
    assert found.trial.divergence.window == (50, 60)


def test_windows_that_no_report_has_leave_the_rows():
    """No window of the semantics begins at 5: rows alone are compared, as without windows."""
    answers = [Relation(("x",), Counter([row({"x": f"<urn:{name}>"})])) for name in "aaab"]
    shifted = [(10 * n + 5, 10 * n + 15) for n in range(4)]
    found = judge(TUMBLING, {"s": SIX}, FROM_0, answers, missing=0, windows=shifted)
    assert found.trial.divergence == verdict_on("aaab", "").trial.divergence


def test_the_argument_names_the_stated_window():
    found = verdict_on("aab", "024")
    near = find_explanations(found.recorded, FROM_0, judgement=found)
    text = explain_fail(FROM_0, found, None, near)
    assert (
        "relation 2 of 3: window [10, 20) at t=19: this report is lacking; the engine states a "
        "later window, [20, 30)\n    expected 1 row: {x: <urn:a>}\n" in text
    )
    assert "outputs missing from the recording: 0 before its first relation, 3 after" in text
    assert "every relation is right" not in text and "in another order" not in text


def test_relations_in_another_order_are_so_with_their_windows():
    def readings(names: str, opens: str) -> tuple[str, ...]:
        found = verdict_on(names, opens)
        return find_explanations(found.recorded, FROM_0, judgement=found).readings

    assert readings("aaabac", "012435") == ("it has the same relations in another order",)
    assert readings("aaabac", "012345") == ()
