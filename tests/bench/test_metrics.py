"""The benchmarks' measures: examples worked out by hand, definitions
written out naively, and laws.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from conftest import draws
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.bench.metrics import yabench, yabench_code
from conformance.bench.metrics.lsbench import (
    Partition,
    cmet,
    comp,
    mismatch_of_pairs,
    mismatches,
    mm,
    size,
)
from conformance.bench.metrics.run import Reading, of_run
from conformance.bench.metrics.slides import deal_to_slides
from conformance.bench.metrics.yabench import (
    BY_ITS_SIZE,
    EngineOutput,
    ExpectedAnswers,
    Reach,
    ShiftedWindow,
    gracious,
    score,
    slide_score,
)
from conformance.bench.metrics.yabench_code import gracious_code
from conformance.bench.recordings import csrbench
from refengine import (
    Mode,
    RefengineError,
    Unsupported,
    evaluate,
    from_table,
    literal,
    profile,
    row,
    stream,
)
from refengine.core.question import Question
from refengine.core.values import Closure
from refengine.model import compare
from refengine.model.elements import XSD, Bag, Row
from refengine.oracle.answers import SharedAnswers
from refengine.rdf.recordings import read_recording

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def line(name: str) -> Row:
    return row({"x": f"<urn:{name}>"})


def bag(names: str) -> Bag:
    """One row a letter."""
    return Counter(map(line, names))


def output(text: str) -> list[Bag]:
    """Relations are parted by commas, a row is a letter: `ab,,c` is {a b}, {}, {c}."""
    return [bag(part) for part in text.split(",")] if text else []


def number(lexical: str, kind: str = "integer") -> Row:
    return row({"x": literal(lexical, XSD + kind)})


# LSBench


@pytest.mark.parametrize(
    ("first", "second", "percent"),
    [
        # Of the definition. j = 1, 1, 1, 1: each a is found at 1, b at 2. A slice after the match
        # would lose two a: 50.
        ("a,a,a,b", "a,b", 0),
        # z is at 3, so j_2 = 3; neither a nor b is among b_3. 2 of 3. Without a shift 0, with a
        # shift that is undone 1 of 3.
        ("z,a,b", "a,b,z", Fraction(200, 3)),
        # The same output as one execution: j_1 = 1, and all three are found.
        ("zab", "a,b,z", 0),
        # b at 2, so j_2 = 2; x nowhere, j_3 = 2; a is not among b_2 … b_4; c is. x and a of 4. As
        # sets only x would be lost: 25.
        ("b,x,a,c", "a,b,c,d", 50),
        # {c b}: both found, at 3 and 2, j_2 = 2; {} leaves j_3 = 2; {b d} at 2 and 4, j_4 = 2; a
        # lost. 1 of 5. With the greatest match j_2 = 3, and b is lost too: 40.
        ("cb,,bd,a", "a,b,c,d", 20),
        # One a covers two: {a a x} loses x alone, j_2 = 1; {a b} loses none. 1 of 5. As a cover of
        # bags 3 are lost: 60.
        ("aax,ab", "a,b", 20),
        # Own. Of two places the first at or after j: a at 1, b at 2, a at 3, b at 4; j = 1, 2, 3,
        # 4.
        ("a,b,a,b", "a,b,a,b", 0),
        # a at 1, b at 2; the second a is not among b_2, b_3. 1 of 3.
        ("a,b,a", "a,b,b", Fraction(100, 3)),
        # Both swapped: y at 1, so j_2 = 1 and x at 2 is found.
        ("y,x", "y,x", 0),
        # x at 2, so j_2 = 2; y is not among b_2. 1 of 2.
        ("x,y", "y,x", 50),
        # The second engine sent x and y in one relation: they have no order, and one place, 1.
        ("x,y", "xy", 0),
        ("y,x", "xy", 0),
        # {x y} is place 1 and z 2, so j_2 = 2 and x, at 1, is lost. 1 of 2.
        ("z,x", "xy,z", 50),
        # Nothing in common: j stays 1, all is lost. Nothing at all on the other side: the same.
        ("a,b", "c,d", 100),
        ("a,b", "", 100),
        ("ab", ",,", 100),
        # Nothing is left to be looked for, however often: undefined.
        ("", "a", None),
        (",,", "a", None),
        ("", "", None),
    ],
)
def test_mismatch_by_hand(first, second, percent):
    assert mm(output(first), output(second)) == percent


@pytest.mark.parametrize(
    ("first", "second", "periodical", "eager"),
    [
        # Periodical: a at 1 and c at 3 are one block, j_2 = 1, b is found. Eager: a, j = 1, c, j =
        # 3, b is lost. 1 of 3.
        ("ac,b", "a,b,c", 0, Fraction(100, 3)),
        # Eager blocks of one relation come as the other output has them, b before c, so both are
        # found; j = 3, and b is lost: 1 of 3.
        ("cb,b", "a,b,c", 0, Fraction(100, 3)),
        # One row a relation: there is no difference.
        ("b,x,a,c", "a,b,c,d", 50, 50),
    ],
)
def test_mismatch_of_blocks(first, second, periodical, eager):
    assert mm(output(first), output(second), Partition.PERIODICAL) == periodical
    assert mm(output(first), output(second), Partition.EAGER) == eager


def test_mismatch_compares_rows_in_the_mode():
    """43 is 43.0 by value, not as a term; of two averages 1e-12 apart each covers the other."""
    assert mm([Counter([number("43")])], [Counter([number("43.0", "double")])]) == 0
    assert (
        mm([Counter([number("43")])], [Counter([number("43.0", "double")])], mode=Mode.TERM) == 100
    )
    assert (
        mm(
            [Counter([number("1.000000000001", "double"), number("1.0", "double")])],
            [Counter([number("1", "double")])],
        )
        == 0
    )


def test_mismatch_refuses_blank_nodes():
    with pytest.raises(Unsupported, match="CMP-4: a blank node"):
        mm([bag("a")], [Counter([row({"x": "_:a"})])])


def literally(first: Sequence[Bag], second: Sequence[Row]) -> Fraction:
    """The definition over single rows of the second output, word by word."""
    j, lost = 1, 0
    for block in first:
        after = {t: second[t - 1] for t in range(j, len(second) + 1)}
        there = {
            a: min(t for t, b in after.items() if b == a) for a in block if a in after.values()
        }
        lost += sum(count for a, count in block.items() if a not in there)
        j = min(there.values(), default=j)
    return Fraction(100 * lost, size(first))


outputs = st.lists(st.text("abc", max_size=3), max_size=6).map(
    lambda parts: [bag(part) for part in parts]
)


@given(outputs.filter(size), st.text("abc", max_size=8))
@settings(max_examples=draws(300))
def test_mismatch_is_the_definition(first, second):
    assert mm(first, [bag(name) for name in second]) == literally(
        first, [line(name) for name in second]
    )


@given(outputs.filter(size), outputs)
@settings(max_examples=draws(300))
def test_order_inside_a_relation_never_makes_a_mismatch(first, second):
    """A row's place is where its relation begins, so no order of its rows has less."""
    for ordered in (sorted, lambda rows: sorted(rows, reverse=True)):
        assert mm(first, second) <= literally(
            first, [row for rows in second for row in ordered(rows)]
        )


@given(outputs.filter(size), st.sampled_from(Partition))
@settings(max_examples=draws(300))
def test_an_output_has_no_mismatch_with_itself(found, partition):
    assert mm(found, found, partition) == 0


@given(outputs, outputs, st.sampled_from(Partition))
@settings(max_examples=draws(300))
def test_mismatch_is_a_percentage(first, second, partition):
    found = mm(first, second, partition)
    assert (found is None) == (size(first) == 0)
    assert found is None or 0 <= found <= 100


THREE = {"one": output("a,b"), "two": output("a"), "three": output("ba")}


def test_every_ordered_pair():
    """The mismatch has a direction. one-two: b is lost. two-one, two-three: a is there. one-three:
    one place. three-one: one block. three-two: b is lost.
    """
    assert dict(mismatch_of_pairs(THREE)) == {
        ("one", "two"): 50,
        ("one", "three"): 0,
        ("two", "one"): 0,
        ("two", "three"): 0,
        ("three", "one"): 0,
        ("three", "two"): 50,
    }
    assert json.dumps(mismatches(THREE)["one", "two"]) == "50.0"
    assert mismatches({"one": output("a"), "none": []}) == {
        ("one", "none"): 100.0,
        ("none", "one"): None,
    }


def test_eager_engines_are_named():
    """The rows of the first are blocks of their own, those of the second are not: see
    test_mismatch_of_blocks.
    """
    assert mismatches({"one": output("ac,b"), "two": output("a,b,c")}, eager=["one"])[
        "one", "two"
    ] == pytest.approx(100 / 3)


def test_size_counts_rows():
    assert (size(output("aab,,c")), size([])) == (4, 0)


def test_comparability():
    """The greatest mismatch of the three is 50. An empty output is comparable with another empty
    one, and with no other.
    """
    assert [comp(THREE, epsilon) for epsilon in (0, 49.9, 50, 100)] == [False, False, True, True]
    assert comp({"one": [], "two": output(",")}, 0)
    assert not comp({"one": [], "two": output("a")}, 99)
    assert comp({"one": output("a")}, 0)
    with pytest.raises(
        RefengineError, match="comp: epsilon is a percentage, from 0 to 100, got 101"
    ):
        comp(THREE, 101)


# YABench


@pytest.mark.parametrize(
    ("expected", "actual", "precision", "recall"),
    [
        ("aab", "abbb", HALF, Fraction(2, 3)),  # one a and one b pair up: 2 of 4, 2 of 3
        ("", "", 1, 1),
        ("", "ab", 0, 0),  # TP = 0: 0 of 2, and 0/0 is 0
        ("ab", "", 0, 0),
        ("abc", "abc", 1, 1),
        ("abc", "ab", 1, Fraction(2, 3)),
        ("ab", "abc", Fraction(2, 3), 1),
    ],
)
def test_precision_and_recall_by_hand(expected, actual, precision, recall):
    assert score(bag(expected), bag(actual)) == (precision, recall)


def test_rows_are_compared_by_value():
    assert score(Counter([number("43")]), Counter([number("43.0", "double")])) == (1, 1)
    assert score(Counter([number("43")]), Counter([number("43.0", "double")]), Mode.TERM) == (0, 0)


def test_near_rows_are_matched_not_intersected():
    """a is near b and b is near c, but not a to c: {a b} and {b c} pair up whole, a with b and b
    with c.
    """
    a, b, c = (number(text, "double") for text in ("1.0E0", "1.0000000008", "1.0000000016"))
    assert score(Counter([a, b]), Counter([b, c])) == (1, 1)


def test_blank_nodes_are_renamed_together():
    """CMP-4: the two bags are one, with other labels. With a row more the labels pair what they
    can: x alone.
    """
    pair, other = (Counter([row({"x": f"_:{label}"}), line("x")]) for label in "ab")
    assert score(pair, other) == (1, 1)
    assert score(pair, other + bag("y")) == (THIRD, HALF)


@pytest.mark.parametrize(
    ("expected", "actual", "precision", "recall"),
    [
        ("abc", "abz", Fraction(2, 3), Fraction(2, 3)),  # 2 found, 1 missing: (1+1+0)/3 both
        ("ab", "", 1, 0),  # 2 that no row came for: (1, 0) each
        ("", "ab", 0, 1),  # 2 that none was expected for: (0, 1) each
        ("abc", "a", 1, THIRD),  # 1 found, 2 that no row came for: (1+1+1)/3, (1+0+0)/3
        # found, missing, twice unexpected: (1+0+0+0)/4, (1+0+1+1)/4
        ("ab", "axyz", Fraction(1, 4), Fraction(3, 4)),
        ("", "", 1, 1),
    ],
)
def test_content_change_by_hand(expected, actual, precision, recall):
    assert slide_score(bag(expected), bag(actual)) == (precision, recall)


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        ("ab,c", "a,b,c", "ab,c"),
        ("ab,c", "b,a,c", "ab,c"),  # rows of a slide have no order
        ("ab,c,d", "a,c,d", "a,c,d"),  # b is lost, and nothing else moves
        ("a,b", "a,z,b", "az,b"),  # z is with what came before it
        ("a,b,z", "a,z,b,z", "az,b,z"),  # one z is expected, and the last is that
        ("a,a,b", "a,b", "a,,b"),
        ("a,b,a", "b,a", ",b,a"),  # the first a is lost: what comes after b is the second
        ("a,,b", "a,b", "a,,b"),
        # nothing is exact: what is common is in its slide, and what is not beside it
        ("ab,cd,e", "z,b,a,d,c,y", "zab,cdy,"),
        ("bq,ar", "z,b,a,a,z", "abz,az"),  # one a is expected; the other is with b
        ("ab,cd", "y,b,c,a,z", "by,acz"),  # a comes too late for its slide
        ("aq,br,cp", "z,c,a,b,z", "acz,bz,"),  # c comes too early
        # one a is one row, though three slides expect it
        ("bq,cr,ap,ad,ao", "z,a,b,c,y", "abz,cy,,,"),
        ("a,b", "z", "z,"),
    ],
)
def test_rows_are_dealt_to_slides(expected, actual, found):
    assert deal_to_slides(output(expected), output(actual)) == output(found)


def test_rows_are_dealt_where_there_are_none():
    assert deal_to_slides(output("a,b"), []) == output(",")
    assert deal_to_slides([], output("a")) == []


@given(
    st.lists(st.text("abc", max_size=4), min_size=1, max_size=5), st.randoms(use_true_random=False)
)
@settings(max_examples=draws(300))
def test_an_exact_engine_is_exact_in_every_slide(expected, random):
    """Whatever the order of the rows inside a slide, and however they are cut into relations."""
    sent = []
    for names in expected:
        names = list(names)
        random.shuffle(names)
        cut = random.randint(0, len(names))
        sent += [bag("".join(names[:cut])), *(bag(name) for name in names[cut:])]
    assert deal_to_slides([bag(names) for names in expected], sent) == [
        bag(names) for names in expected
    ]


bags = st.text("abc", max_size=5).map(bag)
TERMS = [
    "<urn:a>",
    literal("1", XSD + "integer"),
    literal("1.0", XSD + "decimal"),
    literal("1.0000000008", XSD + "double"),
    "_:a",
    "_:b",
]
valued = st.lists(st.fixed_dictionaries({"x": st.sampled_from(TERMS)}).map(row), max_size=4).map(
    Counter
)


@given(st.lists(bags, min_size=1, max_size=5), st.lists(bags, max_size=5))
@settings(max_examples=draws(300))
def test_every_row_is_dealt_once(expected, actual):
    found = deal_to_slides(expected, actual)
    assert len(found) == len(expected) and sum(found, Counter()) == sum(actual, Counter())


@given(valued, valued, st.sampled_from(Mode), st.sampled_from([score, slide_score]))
@settings(max_examples=draws(300))
def test_scores_are_1_iff_the_bags_are_equal(expected, actual, mode, measure):
    found = measure(expected, actual, mode)
    assert all(0 <= value <= 1 for value in found)
    assert (found == (1, 1)) == compare.equal(expected, actual, mode)


def every(instants: Sequence[int]) -> Callable[[int, int], Bag]:
    """A query that answers each element: one row an instant."""
    return lambda first, last: Counter(number(str(t)) for t in instants if first <= t <= last)


SECONDS = range(-10, 20)  # one observation a second
EACH = every(SECONDS)


def by_paper(window, expected, actual, answer=EACH, instants=SECONDS, reach=BY_ITS_SIZE):
    """The score and the window of the paper's gracious mode, with both borders."""
    answers = ExpectedAnswers(instants, answer)
    return gracious(window, Closure.CLOSED, answers, expected, actual, reach)


def by_code(window, expected, actual, answer=EACH, instants=SECONDS):
    """Those of the code's."""
    return gracious_code(window, ExpectedAnswers(instants, answer), expected, actual)


def test_gracious_by_hand():
    """The engine's window is [2, 6], ours [0, 5]: 4 of its 5 rows are among our 6. Both borders
    shift, by 2 and by 1.
    """
    expected, actual = EACH(0, 5), EACH(2, 6)
    assert score(expected, actual) == (Fraction(4, 5), Fraction(4, 6))
    assert by_paper((0, 5), expected, actual) == ((1, 1), (2, 6))
    assert by_code((0, 5), expected, actual) == ((1, 1), (2, 6))


@pytest.mark.parametrize(
    ("closure", "window", "shifted"),
    [("[)", (0, 6), (2, 7)), ("(]", (-1, 5), (1, 6)), ("[]", (0, 5), (2, 6))],
)
def test_gracious_borders_have_the_closure(closure, window, shifted):
    """The same instants, 0 to 5 and 2 to 6, under each closure."""
    answers = ExpectedAnswers(SECONDS, EACH)
    found = gracious(window, Closure(closure), answers, EACH(0, 5), EACH(2, 6))
    assert found == ((1, 1), shifted)


def test_the_codes_window_has_both_borders():
    """An exact [0, 5) engine has 5 of the 6 rows of [0, 5]: recall 0.8333. To the right the window
    loses one, and recall falls: 4 of 5. So the code's gracious mode stays where it is; the paper's
    takes the upper border back.
    """
    expected, actual = EACH(0, 5), EACH(0, 4)
    assert score(expected, actual) == (1, Fraction(5, 6))
    assert by_code((0, 5), expected, actual) == ((1, Fraction(5, 6)), (0, 5))
    assert by_paper((0, 5), expected, actual) == ((1, 1), (0, 4))


def test_the_code_shifts_to_the_right_alone():
    """The engine's window is [1, 3], ours [2, 5]: 2 of 3, 2 of 4. Start 3: 1 of 3, less. End 6: 2
    of 5, less. Nothing shifts.
    """
    expected, actual = EACH(2, 5), EACH(1, 3)
    assert by_code((2, 5), expected, actual) == ((Fraction(2, 3), HALF), (2, 5))
    assert by_paper((2, 5), expected, actual) == ((1, 1), (1, 3))


def rows_at(rows: dict[int, str]) -> Callable[[int, int], Bag]:
    """A query whose rows each rest on one element: those of each instant."""
    return lambda first, last: bag(
        "".join(names for t, names in rows.items() if first <= t <= last)
    )


def test_the_codes_greed_can_cost_precision():
    """x and three z at 1, y at 2, w at 3. Of [1, 2] the engine has x and y: 1 and 2/5. From 2 on:
    y, recall 1 but precision 1/2; end 3 would bring recall to 1/2. The paper's mode gives nothing
    away, though 1/2 + 1 > 1 + 2/5, and stays.
    """
    answer = rows_at({1: "xzzz", 2: "y", 3: "w"})
    words = ((1, 2), answer(1, 2), bag("xy"), answer, [1, 2, 3])
    assert by_code(*words) == ((HALF, 1), (2, 2))
    assert by_paper(*words) == ((1, Fraction(2, 5)), (1, 2))


def test_gracious_gives_no_recall_away():
    """a at 1, b and c at 2. The engine has a and b for [0, 1]: 1/2 and 1. Up to 2 it would be 1 and
    2/3.
    """
    words = ((0, 1), bag("a"), bag("ab"), rows_at({1: "a", 2: "bc"}), [1, 2])
    assert by_paper(*words) == by_code(*words) == ((HALF, 1), (0, 1))


def test_gracious_shifts_as_little_as_it_can():
    """Only the element at 10 has a row, and the engine sent none. [11, 25] and [5, 9] both lack it,
    as do [20, 25] and more; the first is the nearest, by 6.
    """
    words = ((5, 25), bag("x"), bag(""), rows_at({10: "x"}), [0, 10, 20, 30])
    assert by_paper(*words) == ((1, 1), (11, 25))


def test_the_code_starts_after_its_first_element():
    """a at 1 and b at 4, the engine has a. The first shift is to 4, and there recall is 0, so the
    window stays [0, 5], not [1, 5].
    """
    words = ((0, 5), bag("ab"), bag("a"), rows_at({1: "a", 4: "b"}), [1, 4])
    assert by_code(*words) == ((1, HALF), (0, 5))


def test_the_code_stops_where_precision_falls():
    """A query that is not monotone: a b c d over [0, 5], and a alone over [0, 6]. The engine has a,
    b and x: 2/3 and 1/2; with end 6 recall is 1, but precision 1/3.
    """
    answers = {(0, 5): bag("abcd"), (0, 6): bag("a")}
    words = ((0, 5), bag("abcd"), bag("abx"), lambda *window: answers[window], [0, 6])
    assert by_code(*words) == ((Fraction(2, 3), HALF), (0, 5))


def test_an_experiment_of_yabench():
    """Experiment 4, C-SPARQL's first window: observations at 31, 1031, …, 4031 ms, each colder than
    the one before; the query asks for the pairs (warmer, colder). All of [0, 5000] has 10; the
    engine lost the first observation, and has 6. YABench published precision 1 and recall 0.6, and
    in gracious mode 1 and 1 with the borders 1031 and 5000. The least shift that leaves the element
    at 31 behind is to 32.
    """
    instants = list(range(31, 30_000, 1000))

    def answer(first: int, last: int) -> Bag:
        held = [t for t in instants if first <= t <= last]
        return Counter(
            row({"ob1": f"<urn:{a}>", "ob2": f"<urn:{b}>"}) for a, b in combinations(held, 2)
        )

    expected, actual = answer(0, 5000), answer(1031, 5000)
    assert (expected.total(), actual.total()) == (10, 6)
    assert score(expected, actual) == (1, Fraction(3, 5))
    words = ((0, 5000), expected, actual, answer, instants)
    assert by_code(*words) == ((1, 1), (1031, 5000))
    assert by_paper(*words) == ((1, 1), (32, 5000))


def test_gracious_has_bounds():
    """The engine's window is [4, 9], ours [0, 5]. A reach of 3 stops at [3, 8], which has 5 of its
    rows: 5/6 both. Of the nearest windows one is [0, 5] itself. Beside its place no window is
    looked for.
    """
    expected, actual = EACH(0, 5), EACH(4, 9)
    assert score(expected, actual) == (THIRD, THIRD)
    assert by_paper((0, 5), expected, actual) == ((1, 1), (4, 9))
    near = by_paper((0, 5), expected, actual, reach=Reach(3))
    assert near == ((Fraction(5, 6),) * 2, (3, 8))
    alone = by_paper((0, 5), expected, actual, reach=Reach(windows=1))
    assert alone == ((THIRD, THIRD), (0, 5))
    # The other way around: ours [0, 5], the engine's [0, 2]. By 1 the end goes to 4, and 3 of 5
    # rows are there.
    shorter = by_paper((0, 5), expected, EACH(0, 2), reach=Reach(1))
    assert shorter == ((1, Fraction(3, 5)), (0, 4))
    for beside in ((6, 9), (-5, -1)):
        found = by_paper((0, 5), expected, EACH(*beside), reach=Reach(10))
        assert found.score != (1, 1)


drawn = st.lists(st.integers(0, 12), min_size=1, max_size=8).map(sorted)


@given(
    drawn,
    st.integers(0, 8),
    st.integers(1, 5),
    st.sampled_from(Closure),
    st.sets(st.integers(0, 12)),
)
@settings(max_examples=draws(300))
def test_gracious_is_never_worse(times, opens, length, closure, sent):
    """And scores what its borders hold."""
    answer, instants, window = every(times), sorted(set(times)), (opens, opens + length)
    low, high = yabench.borders(closure)
    expected, actual = (
        answer(opens + low, opens + length + high),
        Counter(number(str(t)) for t in sent),
    )
    plain = score(expected, actual)
    found = gracious(window, closure, ExpectedAnswers(instants, answer), expected, actual)
    assert found.score.precision >= plain.precision and found.score.recall >= plain.recall
    assert found.score == score(answer(found.window[0] + low, found.window[1] + high), actual)
    assert found == ShiftedWindow(plain, window) or sum(found.score) > sum(plain)
    closed = gracious_code(window, ExpectedAnswers(instants, answer), answer(*window), actual)
    assert closed.score.recall >= score(answer(*window), actual).recall
    assert closed.score == score(answer(*closed.window), actual)


@given(drawn, st.integers(0, 8), st.integers(1, 5), st.integers(-3, 3), st.integers(-3, 3))
@settings(max_examples=draws(300))
def test_gracious_finds_a_window_that_slipped(times, opens, length, left, right):
    """An engine whose window slipped, by no more than its size, is right in gracious mode."""
    answer, instants, last = every(times), sorted(set(times)), opens + length
    start, end = opens + left, last + right
    assume(abs(left) <= length >= abs(right) and start <= end and start <= last and end >= opens)
    words = (answer(opens, last), answer(start, end), answer, instants)
    assert by_paper((opens, last), *words).score == (1, 1)


# Runs

QUERY = from_table(
    {
        "body": "SELECT ?x {?x <urn:p> ?y}",
        "windows": [{"stream": "s", "kind": "time", "size": 5, "slide": 5}],
    }
)
STREAM = stream(
    [
        ((f"<urn:{name}>", "<urn:p>", "<urn:o>"), at)
        for name, at in (("a", 1), ("b", 4), ("c", 5), ("d", 8), ("e", 11))
    ]
)
SEMANTICS = profile("csparql").but(t0=0).semantics()


def run_of(semantics, actual: str, *instants: int | None, query=QUERY, elements=STREAM, **more):
    """The entries of an engine that gave some answers to a query, as they are in JSON."""
    question = Question(query, {"s": elements})
    reports = list(evaluate(query, question.streams, semantics))
    output_of_engine = EngineOutput(output(actual), instants)
    found = of_run(question.under(semantics), reports, output_of_engine, **more)
    return json.loads(json.dumps(found))


def entries(actual: str, *instants: int | None, **more: object) -> list[dict]:
    return run_of(SEMANTICS, actual, *instants, **more)


def entry(window, precision, recall, counts, delay=None, gracious=None) -> dict:
    elements, expected, actual = counts
    if gracious:
        gracious = {"precision": 1.0, "recall": 1.0, "window": gracious}
    return {
        "window": window,
        "precision": precision,
        "recall": recall,
        "gracious": gracious,
        "delay": delay,
        "elements": elements,
        "expected": expected,
        "actual": actual,
    }


def test_a_run_window_by_window():
    """[0,5) holds a b, [5,10) c d, [10,15) e. The engine took c, on the border, one window early, 1
    and 2 ms after the close of the first two windows, and 1 ms before that of the third. c is at 5:
    the first window shifts to [0,6), the second to [6,10).
    """
    assert entries("abc,d,e", 6, 12, 14) == [
        entry([0, 5], pytest.approx(2 / 3), 1.0, (2, 2, 3), 1, [0, 6]),
        entry([5, 10], 1.0, 0.5, (2, 2, 1), 2, [6, 10]),
        entry([10, 15], 1.0, 1.0, (1, 1, 1), -1, [10, 15]),
    ]


def test_a_run_as_yabenchs_code_reads_it():
    """[0,5] holds a b c, [5,10] c d, [10,15] e. The first answer is right under it. The second
    lacks c: recall 1/2, from 8 on 1.
    """
    assert entries("abc,d,e", reading=Reading.CODE) == [
        entry([0, 5], 1.0, 1.0, (3, 3, 3), None, [0, 5]),
        entry([5, 10], 1.0, 0.5, (2, 2, 1), None, [8, 10]),
        entry([10, 15], 1.0, 1.0, (1, 1, 1), None, [10, 15]),
    ]


def test_a_run_of_another_length():
    """What is lacking is empty: nothing for e, then an answer z for which there is no window."""
    short, long = entries("ab,cd"), entries("ab,cd,e,z", 5, None, 15)
    assert (short[2]["window"], short[2]["precision"], short[2]["recall"], short[2]["actual"]) == (
        [10, 15],
        0.0,
        0.0,
        0,
    )
    assert long[3] == entry(None, 0.0, 0.0, (0, 0, 1))
    assert [found["delay"] for found in long] == [0, None, 0, None]
    with pytest.raises(RefengineError, match="of_run: 4 instants are given for 3 answers"):
        entries("ab,cd,e", 1, 2, 3, 4)


def test_a_run_whose_answers_are_differences_has_no_gracious_mode():
    semantics = profile("csparql").but(t0=0, r2s="Istream", base="previous").semantics()
    found = run_of(semantics, "ab,c,e")
    assert [(one["precision"], one["recall"], one["gracious"]) for one in found] == [
        (1, 1, None),
        (1, 0.5, None),
        (1, 1, None),
    ]
    with pytest.raises(Unsupported, match="one time-based window under Rstream"):
        run_of(semantics, "ab", reading=Reading.CODE)


def test_a_run_over_intervals_or_several_windows_has_no_gracious_mode():
    """Their answers are not decided by the elements between two instants."""
    long = stream(
        [
            ((f"<urn:{name}>", "<urn:p>", "<urn:o>"), at, None, at + 2)
            for name, at in (("a", 1), ("b", 4))
        ]
    )
    pair = from_table(
        {
            "body": QUERY.body.text,
            "windows": [
                {"stream": "s", "kind": "time", "size": size, "slide": 5} for size in (5, 10)
            ],
        }
    )
    for query, elements in ((QUERY, long), (pair, STREAM)):
        found = run_of(SEMANTICS, "", query=query, elements=elements)
        assert {one["gracious"] for one in found} == {None}


def test_gracious_mode_asks_as_the_semantics_does():
    """Sets, and static data that a value must be in: 1 at 1 and at 4, 2 and 3 at 5. The engine has
    1 and 2 for [0, 5). [0, 6) has the set {1, 2}; the bag has 1 twice, and without the static data
    neither is there, or 3 is there, too.
    """
    static = frozenset({("<urn:1>", "<urn:q>", "<urn:r>"), ("<urn:2>", "<urn:q>", "<urn:r>")})
    query = from_table(
        {
            "body": "SELECT ?x {?e <urn:p> ?x . ?x <urn:q> <urn:r>}",
            "windows": [{"stream": "s", "kind": "time", "size": 5, "slide": 5}],
        }
    )
    values = ((1, "1"), (4, "1"), (5, "2"), (5, "3"))
    streams = {
        "s": stream(
            [
                ((f"<urn:e{n}>", "<urn:p>", f"<urn:{value}>"), at)
                for n, (at, value) in enumerate(values)
            ]
        )
    }
    semantics = profile("csparql").but(t0=0, collection="set").semantics()
    reports = list(evaluate(query, streams, semantics, static=static))
    found = of_run(
        Question(query, streams, static).under(semantics), reports, EngineOutput(output("12,"))
    )
    assert found == [
        entry([0, 5], 0.5, 1.0, (2, 1, 2), None, [0, 6]),
        entry([5, 10], 0.0, 0.0, (2, 1, 0), None, [6, 10]),
    ]


def test_a_run_under_content_change():
    """CQELS: a@1, b@4 in the first slide, c@5, d@8 in the second, e@11 in the third. It lost b and
    sent z with c: slide 1 found, no row came: (1, 1/2); slide 2 found twice, one unexpected: (2/3,
    1).
    """
    semantics = profile("cqels").but(t0=0).semantics()
    assert run_of(semantics, "a,c,z,d,e") == [
        entry([0, 5], 1.0, 0.5, (2, 2, 1)),
        entry([5, 10], pytest.approx(2 / 3), 1.0, (2, 2, 3)),
        entry([10, 15], 1.0, 1.0, (1, 1, 1)),
    ]
    assert of_run(
        Question(QUERY, {"s": STREAM}).under(semantics), [], EngineOutput(output("a,b"))
    ) == [entry(None, 0.0, 0.0, (0, 0, 2))]


def test_a_run_under_content_change_as_yabenchs_code_reads_it():
    """At 1, 4, 5 the query is asked over [0, t], at 8 over [5, 8], at 11 over [10, 11]; the
    elements are those of [0, 5], of [5, 10] and of [10, 15]. The border 5 is the first slide's.
    """
    assert changed("a,b,c,d,e", 3, 4, 8, 9, 10) == [
        entry([0, 5], 1.0, 1.0, (3, 3, 3), 2),  # delays 2, 0, 3: the mean of those above 0, whole
        entry([5, 8], 1.0, 1.0, (2, 1, 1), 1),
        entry([10, 11], 1.0, 1.0, (1, 1, 1), 0),  # -1
    ]


def test_the_codes_fold_of_content_change():
    """b is lost: a found (1, 1); at 4 c is another (0, 0), so is d, so is e, and all is used up. c
    at 5, d at 8 and e at 11 are lost (1, 0). Of another row nothing is counted as expected.
    """
    assert changed("a,c,d,e") == [
        entry([0, 5], 0.4, 0.2, (3, 2, 4)),
        entry([5, 8], 1.0, 0.0, (2, 1, 0)),
        entry([10, 11], 1.0, 0.0, (1, 1, 0)),
    ]
    # z after a: another, so b is looked at, and found. y at the end: none was expected for it.
    assert changed("a,z,b,c,d,e,y", 1, 4, 4, 5, 8, 11, 27) == [
        entry([0, 5], 0.75, 0.75, (3, 3, 4), 0),
        entry([5, 8], 1.0, 1.0, (2, 1, 1), 0),
        entry([10, 11], 1.0, 1.0, (1, 1, 1), 0),
        entry([15, 20], 1.0, 1.0, (0, 0, 0), 0),
        entry([20, 25], 1.0, 1.0, (0, 0, 0), 0),
        entry([25, 27], 0.0, 1.0, (0, 0, 1), 0),
    ]
    # Two rows at once are never found, since a row that is due is held against a whole relation:
    # four others at 1, b and c lost.
    scores = [(one["precision"], one["recall"]) for one in changed("ab,c,d,e")]
    assert scores == [(pytest.approx(1 / 3), 0), (1, 0), (1, 0)]
    assert changed("") == [
        entry([0, 5], 1.0, 0.0, (3, 3, 0), 0),
        entry([5, 8], 1.0, 0.0, (2, 1, 0), 0),
        entry([10, 11], 1.0, 0.0, (1, 1, 0), 0),
    ]


def test_the_codes_fold_of_content_change_with_singleresult():
    """b is lost: a found (1, 1). At 4 one relation is tried for b: c, which is dropped (0, 0). At 5
    it is d for c, and at 8 e for d. At 11 nothing is left for e (1, 0).
    """
    assert changed("a,c,d,e", reading=Reading.CODE_SINGLE_RESULT) == [
        entry([0, 5], pytest.approx(1 / 3), pytest.approx(1 / 3), (3, 1, 3)),
        entry([5, 8], 0.0, 0.0, (2, 0, 1)),
        entry([10, 11], 1.0, 0.0, (1, 1, 0)),
    ]


def test_the_code_notes_a_slide_without_answers_as_perfect():
    """YABench's own test of its writer: 3 found, 10,000 to 20,000 in the second slide, 10 the mean
    delay of the third.
    """
    first = [
        yabench_code.Step((1, 1), (10_000, end), late, 1, 1)
        for end, late in ((12_000, 3), (14_000, 3), (15_000, 1), (17_000, 2))
    ]
    last = [yabench_code.Step((1, 1), (20_000, end), 10, 1, 1) for end in (21_000, 23_000)]
    assert list(yabench_code.slides_code([*first, *last], 10_000, 10_000)) == [
        ((1, 1), (0, 10_000), 0, 0, 0, 0),
        ((1, 1), (10_000, 17_000), 2, 4, 4, 4),
        ((1, 1), (20_000, 23_000), 10, 2, 2, 2),
    ]
    assert list(yabench_code.slides_code([], 10, 10)) == []


def changed(actual: str, *instants: int, reading: Reading = Reading.CODE) -> list[dict]:
    semantics = profile("cqels").but(t0=0).semantics()
    return run_of(semantics, actual, *instants, reading=reading)


def test_a_report_without_a_measure():
    semantics = profile("csparql").but(t0=0, report="non-empty").semantics()
    with pytest.raises(Unsupported, match="YABench measures window close and content change"):
        of_run(Question(QUERY, {"s": STREAM}).under(semantics), [], EngineOutput([]))


@pytest.mark.needs_shared
def test_csparqls_second_run_is_right_in_gracious_mode(csrbench_recordings):
    """The windows close at 4 s, 8 s, …, 36 s. Of the rows at 20 s and 32 s all came one window
    early (one, and two), that at 28 s did not. So [16, 20) and [28, 32) have rows too many: 1 of 2,
    4 of 6; [20, 24) and [32, 36) lack all: nothing came. The borders at 20 s and 32 s have slipped,
    by 1 ms at least.
    """
    folder = csrbench_recordings
    query, streams = csrbench.query("Q3"), {}
    streams[query.windows[0].stream] = csrbench.stream(folder)
    recording = read_recording(folder / "answers" / "csparql-answer-3-rerun.json").relations
    answers = SharedAnswers()
    semantics = profile("csparql").but(t0=0).semantics()
    reports = list(evaluate(query, streams, semantics, answer=answers))
    found = of_run(
        Question(query, streams).under(semantics),
        reports,
        EngineOutput([relation.rows for relation in recording]),
        answer=answers,
    )
    assert [one["window"] for one in found] == [[t, t + 4000] for t in range(0, 36_000, 4000)]
    assert [(one["precision"], one["recall"]) for one in found] == [
        (1, 1),
        (1, 1),
        (1, 1),
        (1, 1),
        (0.5, 1),
        (0, 0),
        (1, 1),
        (pytest.approx(2 / 3), 1),
        (0, 0),
    ]
    shifted = {4: [16_000, 20_001], 5: [20_001, 24_000], 7: [28_000, 32_001], 8: [32_001, 36_000]}
    for number, one in enumerate(found):
        assert one["gracious"] == {
            "precision": 1.0,
            "recall": 1.0,
            "window": shifted.get(number, one["window"]),
        }
    assert [one["elements"] for one in found] == [
        1096,
        1144,
        1504,
        1864,
        1712,
        2584,
        2008,
        1944,
        1332,
    ]
    assert [one["expected"] for one in found] == [0, 0, 0, 1, 1, 1, 3, 4, 2]
    assert [one["actual"] for one in found] == [0, 0, 0, 1, 2, 0, 3, 6, 0]


def test_executions_in_a_second():
    assert cmet(500, 2.0) == 250
    with pytest.raises(RefengineError, match="the running time is in seconds, above 0, got 0"):
        cmet(500, 0)
