"""Each type that is compared by value is compared in its own value space (XML Schema Part 2): where
answers are compared (CMP-1), and by `=` in a body (R2R-12). What is right is derived by hand from
the definition of each type.
"""

from __future__ import annotations

import struct
from collections import Counter
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refengine import Body, literal, sparql
from refengine.model import compare
from refengine.model.elements import XSD, Term, row
from refengine.model.errors import NoSingleAnswer
from refengine.model.xsd import nearest_single, read_float
from refengine.sparql.values import FLOAT, Number, number_term


def typed(lexical: str, kind: str) -> Term:
    return literal(lexical, XSD + kind)


def integer(lexical: str) -> Term:
    return typed(lexical, "integer")


def single(lexical: str) -> Term:
    return typed(lexical, "float")


def moment(lexical: str) -> Term:
    return typed(lexical, "dateTime")


OPEN = "no single answer"
ILL_TYPED = "an error"
# floats are 1, 2, 4, … apart from 2^24 = 16777216 on; the greatest is 2^128 - 2^104, and what is at
# least 2^128 - 2^103 rounds to INF; the least above zero is 2^-149, 1.4e-45
BORDER = str(2**128 - 2**103)
PAIRS = [
    # one term, another, whether they are one value, and what `=` gives if it is not the same
    (single("16777217.0"), integer("16777216"), True),
    (single("16777217.0"), integer("16777217"), False, True),  # the integer becomes a float
    (single("16777217.0"), typed("16777216", "double"), True),
    (single("16777219"), integer("16777220"), True),  # half way, to the even one
    (single("16777217.000000001"), integer("16777218"), True),
    (single("16777217.000000001"), integer("16777216"), False),
    (single("1e300"), single("INF"), True),
    (single("-1e300"), single("-INF"), True),
    (single("1e300"), typed("INF", "double"), True),
    (single("1e300"), typed("1e300", "double"), False),
    (typed("1e300", "double"), typed("INF", "double"), False),
    (single(BORDER), single("INF"), True),
    (single(str(2**128 - 2**103 - 1) + ".9"), single("INF"), False),
    (single(str(2**128 - 2**103 - 1) + ".9"), single("3.4028235e38"), True),
    (single("1e-46"), integer("0"), True),
    (single("-1e-46"), integer("0"), True),
    (typed("1e-46", "double"), integer("0"), False),
    (single("1e-45"), single("1.4e-45"), True),
    (typed("9007199254740993", "double"), integer("9007199254740992"), True),
    (typed("9007199254740993", "double"), integer("9007199254740993"), False, True),
    (typed("1e400", "double"), typed("INF", "double"), True),
    (typed("-0", "nonNegativeInteger"), integer("0"), True),
    (typed("0", "positiveInteger"), integer("0"), False, ILL_TYPED),
    (typed("128", "byte"), integer("128"), False, ILL_TYPED),
    (typed("-129", "byte"), integer("-129"), False, ILL_TYPED),
    (typed("65536", "unsignedShort"), integer("65536"), False, ILL_TYPED),
    (typed("65535", "unsignedShort"), integer("65535"), True),
    (typed("18446744073709551615", "unsignedLong"), integer("18446744073709551615"), True, OPEN),
    (typed("9007199254740993", "long"), integer("9007199254740992"), False),
    (typed("0.1000000000000000055511151231257827", "decimal"), typed("0.1", "double"), True, OPEN),
    (typed("9007199254740993.5", "decimal"), typed("9007199254740993.25", "decimal"), False),
    (typed("1e0", "decimal"), integer("1"), False, ILL_TYPED),
    (typed("1", "boolean"), typed("true", "boolean"), True),
    (typed("0", "boolean"), typed("false", "boolean"), True),
    (typed("TRUE", "boolean"), typed("true", "boolean"), False, ILL_TYPED),
    (moment("1999-12-31T24:00:00Z"), moment("2000-01-01T00:00:00Z"), True),
    (moment("2000-01-01T00:00:00+14:00"), moment("1999-12-31T10:00:00Z"), True),
    (moment("2000-01-01T00:00:00-14:00"), moment("2000-01-01T14:00:00Z"), True),
    (moment("2000-01-01T24:00:01Z"), moment("2000-01-02T00:00:01Z"), False, ILL_TYPED),
    (moment("10000-01-01T00:00:00Z"), moment("9999-12-31T24:00:00Z"), True, OPEN),
    (
        moment("1234567890123-01-01T00:00:00Z"),
        moment("1234567890122-12-31T24:00:00Z"),
        True,
        OPEN,
    ),
    (moment("-0001-12-31T24:00:00Z"), moment("0000-01-01T00:00:00Z"), True, OPEN),
    # no values are claimed of these: they are compared as terms, and SPARQL has no operator
    (typed("0a", "hexBinary"), typed("0A", "hexBinary"), False, OPEN),
    (typed("2000-01-01Z", "date"), typed("2000-01-01+00:00", "date"), False, OPEN),
]
PAIRS_WITH_EQUALS = [(one, other, same, (*rest, same)[0]) for one, other, same, *rest in PAIRS]


@pytest.mark.parametrize(("one", "other", "is_same", "equals"), PAIRS_WITH_EQUALS)
def test_each_type_is_compared_in_its_own_value_space(
    one: Term, other: Term, is_same: bool, equals: bool | str
) -> None:
    bag, other_bag = (Counter([row({"x": term})]) for term in (one, other))
    assert compare.equal(bag, other_bag) is is_same
    assert compare.equal(other_bag, bag) is is_same

    body = Body(f"SELECT (({one} = {other}) AS ?e) {{}}")
    if equals == OPEN:
        with pytest.raises(NoSingleAnswer):
            sparql.evaluate(body.algebra, frozenset())
        return
    (answer,) = sparql.evaluate(body.algebra, frozenset()).rows
    expected = {} if equals == ILL_TYPED else {"e": typed(str(equals).lower(), "boolean")}
    assert dict(answer) == expected


def bits(number: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", number))[0])


@given(st.integers(0, 0x7F7FFFFE), st.booleans())
def test_a_number_rounds_to_the_nearest_float_and_half_way_to_the_even_one(
    pattern: int, is_negative: bool
) -> None:
    """By the neighbours in the list of all floats, which their bits count."""
    sign = -1 if is_negative else 1
    lower, upper = (
        sign * Fraction(struct.unpack("<f", struct.pack("<I", each))[0])
        for each in (pattern, pattern + 1)
    )
    middle = (lower + upper) / 2
    little = (upper - lower) / 10**30
    even = lower if pattern % 2 == 0 else upper
    assert nearest_single(middle) == even
    assert nearest_single(middle + little) == upper
    assert nearest_single(middle - little) == lower
    assert read_float(written_out(middle)) == even
    assert read_float(written_out(middle + little)) == upper
    assert read_float(written_out(middle - little)) == lower
    assert read_float(written_out(lower)) == lower


def written_out(number: Fraction) -> str:
    """Return a number that has finitely many digits with all of them."""
    with localcontext(Context(prec=2000, traps=[Inexact])):
        return format(Decimal(number.numerator) / Decimal(number.denominator), "f")


@given(st.floats(width=32, allow_nan=False))
def test_a_computed_float_is_written_so_that_it_is_read_as_itself(number: float) -> None:
    term = number_term(Number(FLOAT, number))
    lexical = term[1 : term.rindex('"')]
    assert read_float(lexical) == number and bits(read_float(lexical)) == bits(number)
    assert len(lexical.strip("-").partition("e")[0].replace(".", "").strip("0")) <= 9


def answer(select: str, *objects: Term) -> dict[str, Term]:
    graph = frozenset((f"<urn:s{number}>", "<urn:p>", term) for number, term in enumerate(objects))
    (found,) = sparql.evaluate(
        Body(f"PREFIX xsd: <{XSD}> SELECT {select} {{ ?s <urn:p> ?v }}").algebra, graph
    ).rows
    return dict(found)


@pytest.mark.parametrize(
    ("expression", "lexical"),
    [
        # 16777216 + 1 = 16777217 rounds to 16777216
        ('"16777217"^^xsd:float + "1"^^xsd:float', "16777216.0"),
        ('"16777217"^^xsd:float + 1', "16777216.0"),
        ('"16777217"^^xsd:float * 2', "33554432.0"),
        ('"3e38"^^xsd:float * 10', "INF"),
        ('"3e38"^^xsd:float * "-10"^^xsd:float', "-INF"),
        ('"1e-40"^^xsd:float * "1e-10"^^xsd:float', "0.0"),
        ('"1e300"^^xsd:float - "1e300"^^xsd:float', "NaN"),  # INF - INF
        ('ABS("-16777217"^^xsd:float)', "16777216.0"),
        ('ROUND("16777217"^^xsd:float)', "16777216.0"),
        ('xsd:float("16777217")', "16777216.0"),
        ("xsd:float(16777217)", "16777216.0"),
        ("xsd:float(16777217e0)", "16777216.0"),
        ('"0.1"^^xsd:float + "0.2"^^xsd:float', "0.3"),  # 0.3 in as few digits as tell it
    ],
)
def test_floats_are_computed_as_floats(expression: str, lexical: str) -> None:
    found = answer(f"({expression} AS ?r)", integer("1"))["r"]
    assert found == typed(lexical, "float")


def test_a_float_beside_a_double_becomes_one() -> None:
    """16777216 as a float, and then 16777217 as a double."""
    found = answer('("16777217"^^xsd:float + "1"^^xsd:double AS ?r)', integer("1"))["r"]
    assert found == typed("16777217.0", "double")


def test_sets_and_joins_by_value_take_a_float_for_what_it_is() -> None:
    rows = Counter(
        row({"x": term})
        for term in (single("16777217"), integer("16777216"), single("1e300"), single("INF"))
    )
    assert len(compare.representatives(rows)) == 2
    assert not compare.distinct(rows)
