"""Maintained nodes and running aggregates, driven by hand or by drawn changes, beside what SPARQL
says of the bags below them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from compiled_trees import Source, Tree, bag_of_tree, changes_of_tree
from incremental_trials import decimal, double, integer

from refengine import Body, literal, sparql
from refengine.incremental.algebra.expressions import (
    ExactSum,
    compare_numbers,
    digits_behind_point,
    number_of,
)
from refengine.incremental.algebra.groups import (
    RunningAggregate,
    RunningCount,
    RunningExtreme,
    RunningGroups,
    RunningMembers,
    RunningSum,
    compile_aggregate,
)
from refengine.incremental.algebra.joins import MaintainedOptional
from refengine.incremental.algebra.nodes import (
    MaintainedFilter,
    MaintainedNode,
    MaintainedProjection,
    MaintainedUnion,
    MaintainedValues,
    maintain_ask,
    pick_key,
    pick_terms,
)
from refengine.incremental.coverage import NotCovered
from refengine.incremental.maintained import AnswerDelta, NearEqualIndex
from refengine.model.elements import XSD, parse_literal
from refengine.sparql.algebra import Aggregate, Call, Values, Variable
from refengine.sparql.order import MOST_TIED
from refengine.sparql.values import DOUBLE, Number


def ignore(solution: tuple, count: int) -> None:
    pass


def test_optional_forgets_the_partners_of_what_is_gone():
    left, right = Source("xy", "xy"), Source("yz", "yz")
    partners = Tree(MaintainedOptional(left, right, None), ignore).state["partners"]
    right.emit(("b", "c"), 2)
    left.emit(("a", "b"), 3)
    assert partners == {("a", "b"): 2}
    left.emit(("a", "b"), -3)
    assert ("a", "b") not in partners


def test_a_filter_asks_the_parts_after_an_error():
    """The first part is an error of an unbound ?z; the second holds, or is false, or has no single
    answer (R2R-11).
    """
    child = Source("xyz", "xy")
    unbound = Call("=", (Variable("z"), Variable("z")))
    emitted = bag_of_tree(MaintainedFilter(child, Call("&&", (unbound, IS_POSITIVE))))
    for x in (integer(1), integer(-1), "<urn:a>"):
        child.emit((x, "<urn:b>", None), 1)
    assert not emitted
    with pytest.raises(NotCovered):
        child.emit((integer(2**63), "<urn:b>", None), 1)
    child.emit((integer(1), "<urn:b>", integer(5)), 2)
    assert emitted == {(integer(1), "<urn:b>", integer(5)): 2}


IS_POSITIVE = Call(">", (Variable("x"), integer(0)))


def test_what_each_solution_of_a_node_binds():
    """VALUES with UNDEF may leave a variable unbound; the row of ASK has its value."""
    x, y = Variable("x"), Variable("y")
    one = integer(1)
    values = MaintainedValues(Values((x, y), ((one, None), (one, one))))
    assert (values.names, values.certain) == (("x", "y"), {"x"})
    ask = maintain_ask(values)
    assert (ask.names, ask.certain) == (("ask",), {"ask"})


def test_what_a_part_of_a_union_does_not_name_is_unbound():
    parts = [Source(names, certain) for names, certain in (("xy", "xy"), ("yz", "y"))]
    node = MaintainedUnion(parts)
    assert (node.names, node.certain) == (("x", "y", "z"), {"y"})
    emitted = bag_of_tree(node)
    parts[0].emit(("a", "b"), 2)
    parts[1].emit(("c", "d"), 1)
    assert emitted == {("a", "b", None): 2, (None, "c", "d"): 1}


def test_a_union_of_like_parts_keeps_their_slots():
    parts = [Source("xy", "x"), Source("xy", "xy")]
    node = MaintainedUnion(parts)
    assert (node.names, node.certain) == (("x", "y"), {"x"})
    emitted = bag_of_tree(node)
    parts[0].emit(("a", None), 1)
    parts[1].emit(("a", None), 2)
    assert emitted == {("a", None): 3}


def test_a_projection_shows_bound_variables_and_each_distinct_row_once():
    for is_distinct, counts in ((False, [2, 1, -3]), (True, [1, -1])):
        child = Source("xyz", "x")
        changes = changes_of_tree(
            MaintainedProjection(child, ["z", "x", "never", "x"], is_distinct)
        )
        child.emit(("a", "b", None), 2)
        child.emit(("a", "c", None), 1)
        child.emit(("a", "b", None), -3)
        assert changes == [((("x", "a"),), count) for count in counts]


def test_places_that_are_picked():
    terms = ("a", "b", "c")
    assert [pick_key(places)(terms) for places in ((), (1,), (2, 0))] == [(), "b", ("c", "a")]
    assert [pick_terms(places)(terms) for places in ((), (1,), (2, 0))] == [(), ("b",), ("c", "a")]


def run(aggregate: RunningAggregate, *terms: str | None) -> str | None:
    """Insert terms, and two more that are retracted again; return the value."""
    for term in (*terms, terms[0]):
        aggregate.add((term,), 1)
    aggregate.add((terms[0],), -1)
    return aggregate.value()


@pytest.mark.parametrize(
    ("make", "terms", "expected"),
    [
        (lambda: RunningCount(0, False), [integer(2), None, integer(2)], integer(2)),
        (lambda: RunningCount(0, True), [integer(2), None, integer(2), integer(3)], integer(2)),
        (
            lambda: RunningSum(0, False, False, False),
            [integer(2), integer(2), integer(3)],
            integer(7),
        ),
        (
            lambda: RunningSum(0, True, False, False),
            [integer(2), integer(2), integer(3)],
            integer(5),
        ),
        (
            lambda: RunningSum(0, False, True, False),
            [integer(2), integer(2), integer(5)],
            decimal("3"),
        ),
        (
            lambda: RunningSum(0, True, True, True),
            [integer(2), integer(2), integer(6)],
            decimal("4"),
        ),
        (lambda: RunningSum(0, False, False, False), [decimal("0.5"), integer(1)], decimal("1.5")),
        (lambda: RunningExtreme(0, True, False), [integer(2), integer(9), integer(3)], integer(9)),
        (lambda: RunningExtreme(0, False, False), [integer(5), integer(2), integer(3)], integer(2)),
        (lambda: RunningExtreme(0, True, True), [integer(2), integer(2), integer(3)], integer(3)),
        (lambda: RunningExtreme(0, False, True), [integer(2), integer(2), integer(3)], integer(2)),
        # of strings and IRIs the first by code points, of which a quotation mark is none
        (lambda: RunningExtreme(0, False, True), [literal("a!"), literal("a")], literal("a")),
        (lambda: RunningExtreme(0, False, True), ["<b:a>", "<a:b>"], "<a:b>"),
        # one member is the extreme, whatever it is
        (lambda: RunningExtreme(0, True, True), ["_:b"], "_:b"),
        (lambda: RunningExtreme(0, True, True), [literal("x", language="en")], '"x"@en'),
        (
            lambda: RunningExtreme(0, False, True),
            [literal("true", XSD + "boolean")],
            literal("true", XSD + "boolean"),
        ),
        (
            lambda: RunningExtreme(0, False, True),
            [literal("2000-01-01T00:00:00Z", XSD + "dateTime")],
            literal("2000-01-01T00:00:00Z", XSD + "dateTime"),
        ),
        # of two forms with one datatype either will do, as rows are compared by value
        (lambda: RunningExtreme(0, True, False), [decimal("1.5"), integer(1)], decimal("1.5")),
    ],
)
def test_aggregates_by_hand(make: Callable[[], RunningAggregate], terms: list, expected: str):
    assert run(make(), *terms) == expected


def test_a_member_that_goes_takes_its_number_along():
    greatest = RunningExtreme(0, True, False)
    for term, count in ((integer(1), 1), (integer(5), 2), (integer(5), -1)):
        greatest.add((term,), count)
    assert greatest.value() == integer(5)
    greatest.add((integer(5),), -1)
    assert greatest.value() == integer(1)
    greatest.add((integer(1),), -1)
    assert greatest.value() is None and greatest.terms_by_rank == [0, 0, 0, 0]


def test_as_many_forms_of_one_value_as_the_evaluator_takes():
    forms = [literal("0" * zeros + "1", XSD + "integer") for zeros in range(MOST_TIED + 1)]
    assert run(RunningExtreme(0, True, False), *forms[:-1]) in forms
    with pytest.raises(NotCovered, match=f"of more than {MOST_TIED} forms of one value$"):
        run(RunningExtreme(0, True, False), *forms)


def test_a_sample_of_many_copies_is_one():
    sample = RunningMembers(Aggregate("SAMPLE", Variable("x")), 0)
    sample.add((integer(2),), 10**15)
    assert sample.value() == integer(2)


def test_an_average_is_kept_up_to_date():
    """Aggregates by the SPARQL evaluator take four different members at most."""
    average = Aggregate("AVG", Variable("v"))
    make = compile_aggregate(average, MaintainedNode("v", "v"), "v", "v", must_be_exact=True)
    assert run(make(), *map(integer, range(7))) == decimal("3")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("COUNT", RunningCount),
        ("SUM", RunningSum),
        ("AVG", RunningSum),
        ("MIN", RunningExtreme),
        ("MAX", RunningExtreme),
        ("SAMPLE", RunningMembers),
    ],
)
def test_what_an_aggregate_keeps(name: str, expected: type):
    """COUNT, SUM and AVG keep numbers, MIN and MAX the members in order, SAMPLE a bag of all
    members.
    """
    aggregate = Aggregate(name, Variable("v"))
    make = compile_aggregate(aggregate, MaintainedNode("v", "v"), "v", "v", must_be_exact=True)
    assert type(make()) is expected


def test_a_group_without_members_is_forgotten():
    emitted: list[tuple] = []
    node = RunningGroups(
        lambda solution, count: emitted.append((solution, count)),
        key_slots=(0,),
        make_aggregates=[lambda: RunningCount(1, False)],
    )
    for key, count in (("a", 2), ("b", 1), ("a", -2)):
        node.change((key, integer(1)), count)
        node.flush()
    assert list(node.groups) == [("b",)] and not node.changed
    assert emitted == [
        (("a", integer(2)), 1),
        (("b", integer(1)), 1),
        (("a", integer(2)), -1),
    ]


@pytest.mark.parametrize("is_maximum", [True, False])
def test_two_forms_of_one_value(is_maximum: bool):
    """1.5 and 1.50 are one value in one datatype, which is no answer where answers are sets; 0.0
    and -0.0 are none in either case, nor 1 and 1.0.
    """
    forms = [decimal("1.5"), decimal("1.50")]
    assert run(RunningExtreme(0, is_maximum, False), *forms) in forms
    for must_be_exact, terms in (
        (True, forms),
        (False, [integer(1), decimal("1.0")]),
        (False, [double("0.0"), double("-0.0")]),
    ):
        with pytest.raises(NotCovered, match=r"^MIN or MAX of two forms of one value$"):
            run(RunningExtreme(0, is_maximum, must_be_exact), *terms)


@pytest.mark.parametrize(
    ("one", "kind", "other", "is_close"),
    [
        ("1.0000009", "float", "1", True),  # nearer than 2 ** -20, which is 0.00000095
        ("1.000002", "float", "1", False),
        ("1.0000009", "double", "1", True),
        ("-1.0000009", "float", "-1", True),
        ("1.0000009", "decimal", "1", False),  # integers and decimals are compared exactly
        ("0.99999904632568359375", "double", "1", True),  # apart by just 2 ** -20
        ("0.9999990463", "double", "1", False),
    ],
)
def test_numbers_that_may_be_equal_once_they_are_promoted(one, kind, other, is_close):
    extreme = RunningExtreme(0, float(one) > 0, False)
    terms = [literal(one, XSD + kind), literal(other, XSD + "integer")]
    if is_close:
        with pytest.raises(NotCovered, match=r"equal as floats or doubles alone$"):
            run(extreme, *terms)
    else:
        assert run(extreme, *terms) in terms


# Exact sums


def total(*terms: str, is_average: bool = False):
    """Return the sum of numbers, to which others were added that have gone again."""
    exact = ExactSum()
    others = [double("0.25"), decimal("0.125"), integer(7), literal("3.5", XSD + "float")]
    for term in others:
        exact.add(number_of(term), 2)
    for term in terms:
        exact.add(number_of(term), 1)
    for term in others:
        exact.add(number_of(term), -2)
    return exact.total(is_average)


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([], (0, 0, 0.0)),
        ([integer(2), integer(-5)], (0, -3, 0.0)),
        ([integer(2), decimal("0.25")], (1, Fraction(9, 4), 0.0)),
        # floats and doubles that are whole, or two of them, have one sum in any order
        ([double("1"), double("2"), double("4")], (3, 7.0, 0.0)),
        ([double("0.1"), double("0.2")], (3, 0.30000000000000004, 0.0)),
        # of three others the SPARQL evaluator allows for n roundings of 2 ** -52, and here hardly
        # more
        ([double("0.5")] * 3, (3, 1.5, 1.5 * 3 / 2**52)),
        ([literal("0.5", XSD + "float")] * 3, (2, 1.5, 1.5 * 3 / 2**23)),
        ([literal("0.5", XSD + "float")] * 4, (2, 2.0, 2.0 * 4 / 2**23)),
        # and of whole ones that are not all exact
        ([double("4503599627370496")] * 3, (3, 3.0 * 2**52, 3.0 * 2**52 * 3 / 2**52)),
        ([double("1501199875790165")] * 3, (3, 4503599627370495.0, 0.0)),
        ([literal("4194304", XSD + "float")] * 3, (2, 12582912.0, 12582912.0 * 3 / 2**23)),
    ],
)
def test_a_sum_and_its_slack(terms, expected):
    found = total(*terms)
    rank, number, slack = expected
    assert (found.rank, found.value) == (rank, number)
    assert slack <= found.slack <= slack * (1 + 1e-9)


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([], (0, 0, 0.0)),
        ([integer(3), integer(4)], (1, Fraction(7, 2), 0.0)),
        ([double("3"), double("4")], (3, 3.5, 0.0)),
        ([literal("0.5", XSD + "float")] * 3, (2, 0.5, 1.5 * 3 / 2**23 / 3)),
        # 1 / 3 as a float
        (
            [literal(text, XSD + "float") for text in "001"],
            (2, 0.3333333432674408, 0.0),
        ),
    ],
)
def test_an_average_and_its_slack(terms, expected):
    found = total(*terms, is_average=True)
    rank, number, slack = expected
    assert (found.rank, found.value) == (rank, number)
    assert slack <= found.slack <= slack * (1 + 1e-9)


def test_a_sum_of_decimals_has_no_more_digits_than_every_evaluator_keeps():
    """18 in all: with one behind the point a sum of 10 ** 17 has too many."""
    assert total(decimal("99999999999999999.9")).value == Fraction(10**18 - 1, 10)
    with pytest.raises(NotCovered, match=r"^a sum of decimals of more digits than every evaluator"):
        total(decimal("99999999999999999.9"), decimal("0.1"))


def test_a_sum_near_to_zero_has_a_slack_down_to_two_to_the_minus_1000():
    halves = [2.0**-1001, 2.0**-1002, 2.0**-1002]
    assert total(*(double(repr(each)) for each in halves)).value == 2.0**-1000
    message = r"^a sum of doubles nearer to zero than 2\^-1000, whose slack is no double$"
    with pytest.raises(NotCovered, match=message):
        total(*(double(repr(each)) for each in [*halves[:2], 2.0**-1003]))


def test_a_rounded_sum_is_none_that_a_set_depends_on():
    exact = ExactSum()
    exact.add(number_of(double("0.5")), 3)
    with pytest.raises(NotCovered, match=r"^a rounded sum or average that a set depends on$"):
        exact.total(must_be_exact=True)
    exact.add(number_of(double("0.5")), -1)
    assert exact.total(must_be_exact=True).value == 1.0


@pytest.mark.parametrize(("denominator", "digits"), [(1, 0), (2, 1), (4, 2), (5, 1), (10**18, 18)])
def test_digits_behind_the_point(denominator, digits):
    assert digits_behind_point(denominator) == digits


def test_a_sum_of_floats_is_the_exact_one_and_not_rounded_on_the_way():
    """The floats next to 16777216 are 2 apart there, so that adding 1 to it twice, each time
    rounded, adds nothing. The exact sum is a float (R2R-16).
    """
    terms = [literal(text, XSD + "float") for text in ("16777216", "1", "1")]
    assert total(*terms).value == 16777218
    body = Body(f"SELECT (SUM(?v) AS ?r) {{ VALUES ?v {{ {' '.join(terms)} }} }}")
    [((_, summed),)] = sparql.evaluate(body.algebra, frozenset()).rows
    assert float(parse_literal(summed).lexical) == 16777218


# Answers beside their baseline


def row(text: str) -> tuple:
    return (("v", double(text)),)


def test_rows_near_one_another_are_found_in_either_direction():
    """1 and 1.0000000009 are nearly equal (CMP-2), and so are 1.0000000009 and 1.0000000018."""
    for first, second in (("1", "1.0000000009"), ("1.0000000018", "1.0000000009")):
        index = NearEqualIndex()
        for text in ("0.5", first, "2"):
            index.insert(row(text))
        assert index.count_of_pairs == 0
        index.insert(row(second))
        assert index.count_of_pairs == 1
        index.remove(row(first))
        assert index.count_of_pairs == 0
    with pytest.raises(NotCovered, match=r"^a row with NaN$"):
        NearEqualIndex().insert(row("NaN"))


def test_a_row_near_to_another_one_is_found_behind_one_that_is_not():
    """By their first numbers all three are near, by the second ones the first and the last are."""
    one, between, other = (
        (("v", double(v)), ("w", double(w)))
        for v, w in (("1", "5"), ("1.0000000003", "9"), ("1.0000000006", "5.0000000001"))
    )
    for first, last in ((one, other), (other, one)):
        index = NearEqualIndex()
        index.insert(first)
        index.insert(between)
        assert index.count_of_pairs == 0
        index.insert(last)
        assert index.count_of_pairs == 1


def test_a_row_that_is_gone_is_near_to_none():
    index = NearEqualIndex()
    index.insert(row("1"))
    index.remove(row("1"))
    assert not index.rows
    index.insert(row("1.0000000009"))
    index.insert(row("1.00000000090"))  # the same value
    assert index.count_of_pairs == 0


def test_rows_are_nearly_equal_by_all_their_numbers():
    index = NearEqualIndex()
    index.insert((("v", double("1")), ("w", double("1"))))
    index.insert((("v", double("1.0000000009")), ("w", double("2"))))
    assert index.count_of_pairs == 0
    index.insert((("v", double("1.0000000009")), ("w", double("1"))))
    assert index.count_of_pairs == 1


def test_a_difference_is_counted_from_the_last_baseline():
    delta = AnswerDelta(is_set=False, has_baseline=True)
    one, two = row("1"), row("2")
    delta.change(one, 2)
    delta.rebase()
    assert (delta.now, delta.difference) == ({one: 2}, {})
    delta.change(one, -2)
    delta.change(two, 1)
    assert (delta.now, delta.difference) == ({two: 1}, {one: -2, two: 1})
    assert not delta.has_nearly_equal_rows
    delta.change(row("1.0000000009"), 1)  # near to a row that is of the baseline alone
    assert delta.has_nearly_equal_rows
    assert delta.baseline() == {one: 2}


def test_a_row_of_the_baseline_that_is_gone_is_near_to_none_after_the_next():
    delta = AnswerDelta(is_set=False, has_baseline=True)
    delta.change(row("1"), 1)
    delta.rebase()
    delta.change(row("1"), -1)
    delta.rebase()
    delta.change(row("1.0000000009"), 1)
    assert (delta.now, delta.difference) == ({row("1.0000000009"): 1}, {row("1.0000000009"): 1})


def test_a_set_shows_the_first_of_the_rows_of_one_value():
    delta = AnswerDelta(is_set=True, has_baseline=True)
    first, second = row("1.0"), row("1.00")
    assert first < second
    for line, count, shown in (
        (second, 2, second),
        (first, 1, first),
        (second, -1, first),
        (first, -1, second),
    ):
        delta.change(line, count)
        assert delta.now == {shown: 1} and delta.difference == {shown: 1}
    delta.change(second, -1)
    assert not delta.now and not delta.difference and not delta.rows_by_value


def test_a_row_that_goes_back_to_its_baseline_stays_near_to_others():
    delta = AnswerDelta(is_set=False, has_baseline=True)
    one = row("1")
    delta.change(one, 1)
    delta.rebase()
    delta.change(one, 1)
    delta.change(one, -1)
    assert (delta.now, delta.difference) == ({one: 1}, {})
    delta.change(row("1.0000000009"), 1)
    assert delta.has_nearly_equal_rows


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (Number(DOUBLE, 1.0), Number(DOUBLE, 1.0), 0),
        (Number(DOUBLE, 1.0, 0.25), Number(DOUBLE, 1.5), -1),
        (Number(DOUBLE, 1.75, 0.25), Number(DOUBLE, 1.25, 0.125), 1),
        (Number(DOUBLE, 1.0, 0.25), Number(DOUBLE, 1.25), None),
        (Number(DOUBLE, 1.5, 0.125), Number(DOUBLE, 1.25, 0.125), None),
        (Number(DOUBLE, 1.0, 0.25), Number(DOUBLE, 1.0), None),
    ],
)
def test_rounding_decides_within_the_slack_of_both(a, b, expected):
    if expected is None:
        with pytest.raises(NotCovered, match=r"^comparing numbers that rounding tells apart$"):
            compare_numbers(a, b)
    else:
        assert compare_numbers(a, b) == expected


def test_a_decimal_of_as_many_digits_as_there_can_be():
    assert total(decimal("0.123456789012345678")).value == Fraction(123456789012345678, 10**18)
