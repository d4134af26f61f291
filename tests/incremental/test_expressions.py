"""Conditions of maintained bodies, by hand: SPARQL's logic of three values, and how operands stand
to each other (R2R-11 to R2R-13).
"""

from __future__ import annotations

import operator
from decimal import Inexact
from fractions import Fraction

import pytest
from incremental_trials import double

from refengine import literal
from refengine.incremental.algebra import expressions
from refengine.incremental.algebra.expressions import (
    check_computed,
    compile_condition,
    compile_exact_comparison,
    compile_result,
    condition_on,
    do_arithmetic,
)
from refengine.incremental.coverage import NotCovered
from refengine.model.elements import XSD
from refengine.sparql.algebra import Call, Variable
from refengine.sparql.expressions import Expressions
from refengine.sparql.values import DECIMAL, DOUBLE, FLOAT, INTEGER, Computed, Number

A, B, NO = Variable("a"), Variable("b"), Variable("no")
SLOTS = {"a": 0, "b": 1, "no": 2}
# by what it gives of a solution that binds ?a and not ?no
CONDITIONS = {
    True: Call("BOUND", (A,)),
    False: Call("BOUND", (NO,)),
    None: Call("=", (NO, NO)),
}
# SPARQL 1.1, 17.2: an error (None) is overruled by the operand that decides
ALL = {
    (True, True): True,
    (True, False): False,
    (False, False): False,
    (True, None): None,
    (False, None): False,
    (None, None): None,
}
ANY = {
    (True, True): True,
    (True, False): True,
    (False, False): False,
    (True, None): True,
    (False, None): None,
    (None, None): None,
}


def holds(expression, a="<urn:a>", b="<urn:b>"):
    """Return what a condition gives of a solution that binds ?a and ?b, and not ?no."""
    return compile_condition(expression, SLOTS)((a, b, None))


@pytest.mark.parametrize(("name", "table"), [("&&", ALL), ("||", ANY)])
def test_the_logic_of_three_values(name, table):
    for (left, right), expected in table.items():
        for one, other in ((left, right), (right, left)):
            assert holds(Call(name, (CONDITIONS[one], CONDITIONS[other]))) is expected


def test_the_negation_of_an_error_is_an_error():
    negated = {value: holds(Call("!", (inner,))) for value, inner in CONDITIONS.items()}
    assert negated == {True: False, False: True, None: None}


def number(text, kind="integer"):
    return literal(text, XSD + kind)


OPERATORS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
THREE_IN_ORDER = {
    "integers": [number("-2"), number("9"), number("10")],
    "numbers of several kinds": [number("0.5", "decimal"), number("1"), double("1.5")],
    "strings": [literal("B"), literal("a"), literal("ab")],
}


@pytest.mark.parametrize("terms", THREE_IN_ORDER.values(), ids=list(THREE_IN_ORDER))
def test_terms_that_have_an_order(terms):
    for i, a in enumerate(terms):
        for j, b in enumerate(terms):
            for name, compare in OPERATORS.items():
                assert holds(Call(name, (A, B)), a, b) is compare(i, j), (name, a, b)


@pytest.mark.parametrize("term", ["<urn:a>", "_:x"])
@pytest.mark.parametrize("other", ["<urn:a>", "<urn:c>", "_:x"])
def test_of_iris_and_blank_nodes_it_is_known_whether_they_are_the_same(term, other):
    assert holds(Call("=", (A, other)), term) is (term == other)
    assert holds(Call("!=", (A, other)), term) is (term != other)
    with pytest.raises(NotCovered, match="comparing terms of two kinds"):
        holds(Call("<", (A, other)), term)


@pytest.mark.parametrize("term", [literal("x"), number("1"), literal("x", "urn:t")])
def test_an_iri_is_no_literal(term):
    for operands in ((A, B), (B, A)):
        assert holds(Call("=", operands), b=term) is False
        assert holds(Call("!=", operands), b=term) is True
        with pytest.raises(NotCovered, match="comparing terms of two kinds"):
            holds(Call("<", operands), b=term)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        (A, "a condition of another form"),
        (Call("ISIRI", (A,)), "a condition of another form"),
        (Call("=", (Call("/", (A, B)), B)), "an operand of another form"),
    ],
)
def test_forms_that_are_left_to_the_definition(expression, reason):
    with pytest.raises(NotCovered, match=f"^{reason}$"):
        compile_condition(expression, SLOTS)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("operands", [(A, NO), (NO, A), (NO, "<urn:a>")])
def test_a_relation_with_an_unbound_variable_is_an_error(name, operands):
    assert holds(Call(name, operands)) is None


def test_arithmetic_with_an_unbound_variable_is_an_error():
    for operands in ((A, NO), (NO, A)):
        total = Call("+", operands)
        assert holds(Call("=", (total, A)), number("1")) is None
    assert holds(Call("=", (Call("unary -", (NO,)), A)), number("1")) is None


SEVEN_AND_TWO = (number("7"), number("2"))


@pytest.mark.parametrize(
    ("sign", "expected"), [("+", "9"), ("-", "5"), ("*", "14")], ids=["sum", "less", "times"]
)
def test_arithmetic_of_seven_and_two(sign, expected):
    result = Call(sign, (A, B))
    assert holds(Call("=", (result, number(expected))), *SEVEN_AND_TWO)
    more = Call("+", (result, number("1")))  # arithmetic takes what arithmetic gives
    assert holds(Call("=", (more, number(str(int(expected) + 1)))), *SEVEN_AND_TWO)
    assert holds(Call("=", (Call("unary -", (result,)), number(f"-{expected}"))), *SEVEN_AND_TWO)


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize(("sign", "expected"), [("+", "9"), ("-", "5"), ("*", "14")])
def test_arithmetic_of_floats_and_doubles(sign, expected, kind):
    seven, two = number("7", kind), number("2", kind)
    result = Call(sign, (A, B))
    assert holds(Call("=", (result, number(expected))), seven, two)
    assert holds(Call("=", (Call("unary -", (result,)), number(f"-{expected}"))), seven, two)


def computed(sign, *operands):
    return Call("=", (Call(sign, operands), B))


NINES = "9" * 18


@pytest.mark.parametrize(
    ("sign", "operands", "result"),
    [
        ("*", (number("0.000000001", "decimal"),) * 2, number("0." + 17 * "0" + "1", "decimal")),
        ("*", (number("99999999.5", "decimal"), number("2")), number("199999999")),
        (
            "+",
            (number(NINES[1:] + ".5", "decimal"), number("0.5", "decimal")),
            number("1" + 17 * "0"),
        ),
        ("+", (number(NINES), number("1")), number("1" + 18 * "0")),  # an integer of 19 digits
        ("*", (number("0"), number("-1")), number("0")),
        ("unary -", (number("0.0", "decimal"),), number("0")),
    ],
)
def test_arithmetic_of_integers_and_decimals_is_exact(sign, operands, result):
    assert holds(computed(sign, *operands), b=result) is True
    assert holds(Call("<", (Call(sign, operands), B)), b=result) is False
    assert holds(Call("<=", (B, Call(sign, operands))), b=result) is True


@pytest.mark.parametrize(
    ("sign", "operands", "result"),
    [
        # 19 digits, of which an evaluator may keep 18
        ("+", (number(NINES, "decimal"), number("0.1", "decimal")), number(NINES, "decimal")),
        ("*", (number("0.000000001", "decimal"), number("0.0000000001", "decimal")), number("0")),
    ],
)
def test_a_rounded_decimal_is_not_compared(sign, operands, result):
    """The result is nearer to the number than rounding may have moved it."""
    with pytest.raises(NotCovered):
        holds(computed(sign, *operands), b=result)


PLUS, MINUS, TIMES = (Call(sign, (A, B)) for sign in "+-*")
NEGATIVE = Call("unary -", (A,))


@pytest.mark.parametrize(
    ("name", "left", "right", "expected"),
    [
        ("<", PLUS, number("9.6", "decimal"), True),  # 7 + 2.5
        ("<", PLUS, number("9.5", "decimal"), False),
        ("<=", number("4.5", "decimal"), MINUS, True),
        (">", number("4.5", "decimal"), MINUS, False),
        ("=", TIMES, Call("-", (TIMES, number("0"))), True),
        ("!=", TIMES, number("17.5", "decimal"), False),
        (">=", NEGATIVE, number("-7"), True),
        ("=", Call("unary -", (MINUS,)), number("-4.5", "decimal"), True),
    ],
)
def test_comparisons_of_exact_decimals(name, left, right, expected):
    """7 and 2.5 under each operator, with a constant on either side."""
    seven, other = number("7"), number("2.5", "decimal")
    compare = compile_exact_comparison(name, left, right, SLOTS)
    assert compare((seven, other, None)) is expected


@pytest.mark.parametrize(
    ("a", "error"),
    [
        (number("7", "double"), Inexact),
        (number("7", "float"), Inexact),
        (number("1" * 19, "decimal"), Inexact),
        (number("1" * 19), Inexact),
        ("<urn:a>", NotCovered),
        (literal("7"), NotCovered),
        (None, NotCovered),
    ],
)
def test_what_is_no_exact_decimal(a, error):
    compare = compile_exact_comparison("<", PLUS, number("1"), SLOTS)
    with pytest.raises(error):
        compare((a, number("1"), None))


@pytest.mark.parametrize(
    ("operand", "reason"),
    [
        (A, "a comparison without arithmetic"),
        (Call("/", (A, B)), "a function in exact arithmetic"),
        (Call("+", (Call("ABS", (A,)), B)), "a function in exact arithmetic"),
    ],
)
def test_operands_that_are_not_compared_as_exact_decimals(operand, reason):
    for operands in ((operand, B), (B, operand)):
        with pytest.raises(NotCovered, match=f"^{reason}$"):
            compile_exact_comparison("<", *operands, SLOTS)


def test_a_computed_number_is_not_the_one_that_its_text_says():
    """An average of thirds may have the text 0.333 and another value. Its text was met before."""
    text = number("0.333", "decimal")
    third = Computed(text, Number(DECIMAL, Fraction(1, 3), Fraction(1, 10**18)))
    thrice = Call("*", (A, number("3")))
    assert holds(Call("<", (thrice, B)), text, number("0.9995", "decimal")) is True
    assert holds(Call("<", (thrice, B)), third, number("0.9995", "decimal")) is False


@pytest.mark.parametrize(
    ("covered", "not_covered"),
    [
        # 64 bits
        (Number(INTEGER, 2**63 - 1), Number(INTEGER, 2**63)),
        (Number(INTEGER, 1 - 2**63), Number(INTEGER, -(2**63))),
        (Number(DOUBLE, 1e308), Number(DOUBLE, float("inf"))),
        (Number(FLOAT, -1e38), Number(FLOAT, float("-inf"))),
        (Number(INTEGER, 1), Number(INTEGER, 1, 1e-9)),
        (Number(DOUBLE, 1.0, 1e-9), Number(DOUBLE, float("nan"), 1e-9)),
    ],
)
def test_a_computed_number_that_has_a_literal(covered, not_covered):
    assert check_computed(covered) is covered
    with pytest.raises(NotCovered, match=r"^a computed xsd:[a-z]* that is too great, or rounded$"):
        check_computed(not_covered)


def test_a_computed_nan_is_not_equal_to_itself():
    """It is left to the definition, which finds it neither less nor greater, too."""
    nan = Computed(number("NaN", "double"), Number(DOUBLE, float("nan")))
    for operands in ((A, A), (A, B), (B, A)):
        for name in OPERATORS:
            with pytest.raises(NotCovered, match="the number nan"):
                holds(Call(name, operands), nan, number("1"))
            condition = condition_on(Call(name, operands), SLOTS)
            assert condition((nan, number("1"), None)) is (name == "!=")


def test_arithmetic_of_what_is_no_number_is_not_covered():
    with pytest.raises(NotCovered, match=r"^arithmetic of what is no number$"):
        holds(Call("<", (Call("+", (A, B)), B)), literal("x"), number("1"))


def test_a_number_of_thousands_of_digits_is_not_computed():
    long = Number(DECIMAL, Fraction(1, 10**5000))
    with pytest.raises(NotCovered, match="computing with thousands of digits"):
        do_arithmetic("*", long, long)


BIG = 10**19  # decimals of 18 digits behind the point, which every evaluator holds, are below this


def test_a_computed_decimal_that_every_evaluator_holds():
    for sign in (1, -1):
        assert check_computed(Number(DECIMAL, sign * (BIG - 1))).value == sign * (BIG - 1)
        with pytest.raises(NotCovered, match="a computed xsd:decimal"):
            check_computed(Number(DECIMAL, sign * BIG))


def test_an_expression_is_computed_once_for_solutions_that_differ_in_other_variables(monkeypatch):
    computed = []
    result = Expressions.result

    def counted(self, expression, *arguments):
        computed.append(expression)
        return result(self, expression, *arguments)

    whole = Call("STRLEN", (A,))
    compute = compile_result(whole, SLOTS)
    monkeypatch.setattr(Expressions, "result", counted)
    for text, other in [("x", "y"), ("x", "z"), ("xy", "y"), ("x", "y")]:
        assert compute((literal(text), literal(other), None)) == number(str(len(text)))
    assert computed.count(whole) == 2


def test_computed_numbers_of_one_text_are_told_apart():
    """A text stands for the value that it rounds, so two values may have one."""
    exact = Computed(number("1.0E0", "double"), Number(DOUBLE, 1.0))
    greater = Computed(number("1.0E0", "double"), Number(DOUBLE, 2.0))
    condition = expressions._condition_by_definition(Call("=", (A, B)), SLOTS)
    one = number("1")
    assert condition((exact, one, None)) is True
    assert condition((greater, one, None)) is False
    assert condition((exact, one, None)) is True
