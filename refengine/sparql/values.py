"""§7 Values: what literals mean, and how SPARQL's operators compare and compute (SPARQL 1.1 §17.2,
§17.3).

An expression's result is a term, its N-Triples text, or ERROR. A computed literal whose lexical
form no recommendation fixes is a `Computed` term: it has a value, but not one text. Where
conforming evaluators may answer differently, NoSingleAnswer is raised.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from enum import Enum, auto
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeGuard

from refengine.model.compare import LEAST_DECIMAL
from refengine.model.elements import XSD, Term, literal, parse_literal
from refengine.model.errors import NoSingleAnswer, Unsupported
from refengine.model.xsd import (
    BOOLEANS,
    DECIMAL_FORM,
    INTEGER_FORM,
    INTEGERS,
    Moment,
    date_time,
    in_range,
    nearest_double,
    nearest_single,
    read_double,
    read_float,
    single,
)

# What values there are


BOOLEAN = XSD + "boolean"
STRING = XSD + "string"
# a result has the type of that operand which stands later here (XPath B.1)
RANKS = ("integer", "decimal", "float", "double")
INTEGER, DECIMAL, FLOAT, DOUBLE = range(4)
# of decimals: every evaluator keeps them, and as many places behind the point (XSD 1.0 §3.2.3)
SURE_DIGITS = 18
SURE_INTEGERS = 2**63  # every evaluator holds the integers below
SURE_SECONDS = Fraction(1, 1000)  # every evaluator keeps three digits of a second (XSD 1.0 §3.2.7)


class Failure(Enum):
    """The error of an expression, which is a value: it has no term, and each operator says what it
    makes of it. FALSE_OR_ERROR is what `=` gives where an evaluator may know that two values
    differ, or not (§17.3.1).
    """

    ERROR = auto()
    FALSE_OR_ERROR = auto()


Error = Literal[Failure.ERROR]
ERROR: Final = Failure.ERROR
FALSE_OR_ERROR: Final = Failure.FALSE_OR_ERROR


class Number(NamedTuple):
    """A numeric value: its place in RANKS, the value, and by how much that of another conforming
    evaluator may differ (0: exact). `is_bound` says that this is a bound alone: it is not known
    whether any evaluator differs.
    """

    rank: int
    value: int | Fraction | float
    slack: Fraction | float = 0
    is_bound: bool = False


class StringValue(NamedTuple):
    """A string, with a language tag or without ("")."""

    lexical: str
    language: str = ""


class OtherLiteral(NamedTuple):
    """A literal that SPARQL's operators know nothing of: of another datatype, or ill-typed."""

    datatype: str
    is_ill_typed: bool


class Computed(str):
    """A literal whose lexical form no recommendation fixes: a computed number, or MIN or MAX of one
    value in several forms.

    Its text is one that it may have; `number` is its value.
    """

    number: Number

    def __new__(cls, term: Term, number: Number) -> Computed:
        """Return the term with its value."""
        self = super().__new__(cls, term)
        self.number = number
        return self


class Unknown(Computed):
    """What NOW, RAND, UUID or STRUUID gives, of which the form alone is known. `kind` names the
    function.

    Its text is one that it may have. `number` is NaN and stands for nothing.
    """

    kind: str

    def __new__(cls, term: Term, kind: str) -> Unknown:
        """Return a value of which little is known, by a term that it may be."""
        self = str.__new__(cls, term)
        self.number = Number(DOUBLE, math.nan)
        self.kind = kind
        return self


Result = Term | Error
Value = Number | StringValue | bool | Moment | OtherLiteral


def shorten(datatype: str) -> str:
    """Return a datatype's IRI with the prefix xsd: where it is one of XML Schema's."""
    return datatype.replace(XSD, "xsd:")


# Types of XML Schema for which SPARQL names no operator, but an evaluator may have some (§17.3.1)


BUILT_IN = re.compile(
    re.escape(XSD) + r"(?:date|time|duration|dayTimeDuration|yearMonthDuration|dateTimeStamp|g\w+"
    r"|hexBinary|base64Binary|anyURI|QName|NOTATION"
    r"|normalizedString|token|language|Name|NCName|NMTOKEN|ID|IDREF|ENTITY)"
)
# of these, those that an evaluator may know as strings, and as dates
STRING_TYPES = {
    XSD + name
    for name in [
        "normalizedString",
        "token",
        "language",
        "Name",
        "NCName",
        "NMTOKEN",
        "ID",
        "IDREF",
        "ENTITY",
        "anyURI",
    ]
}
DATE_TYPES = {XSD + "date", XSD + "dateTimeStamp"}


def refuse_extensions(one: Value | None, other: Value | None) -> None:
    """Raise NoSingleAnswer where an evaluator may have an operator of its own (§17.3.1), since it
    knows a type of XML Schema: a token and a string, a date and a dateTime, two durations.
    """
    for left, right in ((one, other), (other, one)):
        if not is_extension(left):
            continue
        is_text = (
            left.datatype in STRING_TYPES and isinstance(right, StringValue) and not right.language
        )
        is_date = left.datatype in DATE_TYPES and isinstance(right, Moment)
        if is_text or is_date or is_extension(right):
            raise NoSingleAnswer(
                f"an operator on {shorten(left.datatype)}, which SPARQL leaves to extensions"
            )


def is_extension(one: Value | None) -> TypeGuard[OtherLiteral]:
    """Return whether a value is of a type that SPARQL names no operator for, but XML Schema has."""
    return (
        isinstance(one, OtherLiteral)
        and not one.is_ill_typed
        and BUILT_IN.fullmatch(one.datatype) is not None
    )


# Decimals as evaluators hold them: those of many digits with a slack


MOST_BITS = 20_000  # of a number that is computed


def decimal_of(exact: Fraction) -> Number:
    """Return a fraction as a decimal.

    Evaluators keep at least 18 digits, and 18 behind the point: a decimal with more has a slack, by
    which theirs may differ.
    """
    check_bits(exact)
    if has_few_digits(exact):
        return Number(DECIMAL, exact)
    return Number(DECIMAL, exact, max(abs(exact) / 10 ** (SURE_DIGITS - 1), LEAST_DECIMAL))


def has_few_digits(exact: Fraction) -> bool:
    """Return whether a fraction can be written as a decimal of at most 18 digits."""
    for places in range(SURE_DIGITS + 1):
        if 10**places % exact.denominator == 0:
            return bool(abs(exact) * 10**places < 10**SURE_DIGITS)
    return False


def check_bits(number: Fraction | float) -> None:
    """Raise NoSingleAnswer for a fraction of so many digits that computing
    on with it takes long.
    """
    if (
        isinstance(number, Fraction)
        and max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS
    ):
        raise NoSingleAnswer("computing with thousands of digits")


# What a literal means (§17.1): its value, and the truth of it (§17.2.2)


CACHED_TERM = 1_000  # characters: of longer terms few values are kept
MOST_DIGITS = 4_000  # of a number that is written
SURE_YEAR = re.compile(r"(?!0000)[0-9]{4}-")  # every evaluator has these (XSD 1.0 §3.2.7)


def value_of(term: Term) -> Value | None:
    """Return the value of a literal, None for an IRI or a blank node. That of an Unknown is the
    number NaN.
    """
    if isinstance(term, Computed):
        return term.number
    if len(term) < CACHED_TERM:
        return _value(term)
    return _value_of_long(term)


def _read_value(term: Term) -> Value | None:
    if not term.startswith('"'):
        return None
    lexical, datatype, language = parse_literal(term)
    if datatype == STRING or language:
        return StringValue(lexical, language)
    outcome = read_literal(lexical, datatype)
    if outcome is None or outcome is ERROR:
        return OtherLiteral(datatype, is_ill_typed=outcome is ERROR)
    return outcome


_value = lru_cache(maxsize=2**16)(_read_value)
_value_of_long = lru_cache(maxsize=64)(_read_value)  # which may be of a million characters


def read_literal(lexical: str, datatype: str) -> Number | bool | Moment | Error | None:
    """R2R-10: Read a lexical form as a number, a boolean or a dateTime; ERROR if it is ill-typed,
    None for another datatype.

    Raises NoSingleAnswer for what an evaluator may not have: an integer beyond 64 bits, +INF, the
    year 0000.
    """
    if datatype in INTEGERS:
        return read_integer(lexical, datatype)
    match datatype.removeprefix(XSD):
        case "decimal":
            return read_decimal(lexical)
        case "double":
            return read_binary(lexical, DOUBLE)
        case "float":
            return read_binary(lexical, FLOAT)
        case "boolean":
            return BOOLEANS.get(lexical, ERROR)
        case "dateTime":
            return read_moment(lexical)
    return None


def read_integer(lexical: str, datatype: str) -> Number | Error:
    """Read an xsd:integer, or one of a type derived from it."""
    if not INTEGER_FORM.fullmatch(lexical):
        return ERROR
    if len(lexical) > MOST_DIGITS:
        raise NoSingleAnswer("an integer of thousands of digits")
    number = int(lexical)
    if not in_range(number, datatype):
        return ERROR
    if not -SURE_INTEGERS <= number < SURE_INTEGERS:
        raise NoSingleAnswer("an integer beyond 64 bits, which an evaluator may not have")
    return Number(INTEGER, number)


def read_decimal(lexical: str) -> Number | Error:
    """Read an xsd:decimal."""
    if not DECIMAL_FORM.fullmatch(lexical):
        return ERROR
    if len(lexical) > MOST_DIGITS:
        raise NoSingleAnswer("a decimal of thousands of digits")
    return decimal_of(Fraction(lexical.removesuffix(".")))


def read_binary(lexical: str, rank: int) -> Number | Error:
    """Read an xsd:float or an xsd:double."""
    try:
        number = read_double(lexical)
    except ValueError:
        return ERROR
    if lexical == "+INF":
        raise NoSingleAnswer("+INF, which XML Schema 1.1 has and 1.0 has not")
    if rank == FLOAT:
        if len(lexical) > MOST_DIGITS:
            raise NoSingleAnswer("a float of thousands of digits")
        number = read_float(lexical)
    return Number(rank, number)


def read_moment(lexical: str) -> Moment | Error:
    """Read an xsd:dateTime."""
    if len(lexical) > MOST_DIGITS:
        raise NoSingleAnswer("a dateTime of thousands of digits")
    try:
        moment = date_time(lexical)
    except ValueError:
        return ERROR
    if not SURE_YEAR.match(lexical):
        raise NoSingleAnswer(
            "a year that is not of four digits, or 0000, which an evaluator may not have"
        )
    return moment


def truth(result: Result) -> bool | Error:
    """R2R-11: Return the effective boolean value of a result (§17.2.2): false of an ill-typed
    number or boolean, an error of a term that is neither boolean, nor number, nor string.
    """
    if result is ERROR:
        return ERROR
    if isinstance(result, Unknown):
        raise NoSingleAnswer(f"{result.kind} has no single answer")
    match value_of(result):
        case bool() as holds:
            return holds
        case StringValue(lexical, _):
            return bool(lexical)
        case Number() as number:
            return is_not_zero(number)
        case OtherLiteral(datatype, False) if datatype in STRING_TYPES:
            raise NoSingleAnswer(
                f"the truth of an {shorten(datatype)}, which an evaluator may know as a string"
            )
        case OtherLiteral(datatype, True) if datatype == BOOLEAN or is_numeric_type(datatype):
            return False
        case _:
            return ERROR


def is_not_zero(number: Number) -> bool:
    """Return whether a number is neither zero nor NaN. Raises NoSingleAnswer for one that may have
    been rounded from zero or to it.
    """
    if number.slack and -number.slack <= number.value <= number.slack:
        raise NoSingleAnswer("whether a rounded number is zero")
    is_nan = number.value != number.value
    return not is_nan and number.value != 0


def is_numeric_type(datatype: str) -> bool:
    """Return whether a datatype is one of numbers."""
    return datatype in INTEGERS or datatype.removeprefix(XSD) in RANKS


# The terms of values


LONGEST_STRING = 1_000_000  # characters
FLOAT_DIGITS = 9  # decimal digits that tell every float from others (IEEE 754)
MOST_PLACES = 28  # behind the point of a decimal that is written
TRUE = literal("true", BOOLEAN)
FALSE = literal("false", BOOLEAN)


def boolean(holds: bool) -> Term:
    """Return the term of a truth value."""
    if holds:
        return TRUE
    return FALSE


def text(lexical: str, language: str = "") -> Term:
    """Return the term of a string. Raises Unsupported (R2R-17) beyond a million characters."""
    check_string_length(len(lexical))
    return literal(lexical, language=language)


def check_string_length(characters: int) -> None:
    """R2R-17: Raise Unsupported for a string of more than a million characters. To be called before
    the string is made.
    """
    if characters > LONGEST_STRING:
        raise Unsupported(
            f"a string of more than {LONGEST_STRING} characters", rule="R2R-17", place="body"
        )


def number_term(number: Number) -> Term:
    """R2R-13: Return the literal of a computed number. An integer, and an exact decimal with a
    fraction, have one canonical form; a whole decimal (2 or 2.0), a decimal with slack, a double
    and a float have several.
    """
    if number.rank == INTEGER:
        return integer_term(number)
    if number.rank == DECIMAL:
        return decimal_term(number)
    write = float_text if number.rank == FLOAT else double_text
    return Computed(literal(write(float(number.value)), XSD + RANKS[number.rank]), number)


def integer_term(number: Number) -> Term:
    """Return the literal of a computed integer. Raises NoSingleAnswer for one that hangs on a
    rounding, and beyond 64 bits.
    """
    if number.slack:
        raise NoSingleAnswer("an integer that depends on a rounding")
    exact = number.value
    if not -SURE_INTEGERS <= exact < SURE_INTEGERS:
        digits = "of many digits"
        if abs(int(exact)) < 10**40:
            digits = str(exact)
        raise NoSingleAnswer(f"an integer beyond 64 bits, {digits}")
    return literal(str(exact), XSD + "integer")


def decimal_term(number: Number) -> Term:
    """Return the literal of a computed decimal. Raises NoSingleAnswer for one of many digits."""
    fraction = number.value
    if not isinstance(fraction, Fraction):
        fraction = Fraction(fraction)
    if abs(fraction) >= 10 ** (SURE_DIGITS + 1):
        raise NoSingleAnswer("a decimal of more digits than every evaluator keeps")
    term = literal(decimal_text(fraction), XSD + "decimal")
    if number.slack or fraction.denominator == 1:
        return Computed(term, number)
    return term


def decimal_text(exact: Fraction) -> str:
    """Write a decimal, rounded to about 29 digits, with at most 28 places behind the point."""
    if exact.denominator == 1:
        return str(exact.numerator)
    scale = MOST_PLACES - max(0, len(str(abs(exact.numerator // exact.denominator))) - 1)
    parts = round(abs(exact) * 10**scale)
    whole, fraction = divmod(parts, 10**scale)
    digits = f"{whole}.{fraction:0{scale}d}".rstrip("0").rstrip(".")
    if exact < 0:
        return "-" + digits
    return digits


def double_text(number: float) -> str:
    """Write a double; INF, -INF and NaN as XML Schema names them."""
    if math.isnan(number):
        return "NaN"
    if math.isfinite(number):
        return repr(number)
    if number > 0:
        return "INF"
    return "-INF"


def float_text(number: float) -> str:
    """Write a float in as few digits as tell it from other floats, as `double_text` does a double:
    0.1, whose float is 0.100000001490116….
    """
    if not number or not math.isfinite(number):
        return double_text(number)
    return _shortest_text(number)


@lru_cache(maxsize=2**12)
def _shortest_text(number: float) -> str:
    texts = (f"{number:.{digits}g}" for digits in range(1, FLOAT_DIGITS + 1))
    return repr(float(next(text for text in texts if read_float(text) == number)))


def size(term: Term) -> int:
    """Return how many characters a term has, or how many bits its number, if that is more."""
    if not isinstance(term, Computed) or not isinstance(term.number.value, Fraction):
        return len(term)
    parts = (Fraction(number) for number in (term.number.value, term.number.slack))
    return max(
        len(term),
        *(n.bit_length() for part in parts for n in (part.numerator, part.denominator)),
    )


# Comparing (§17.3): `<`, `=` and sameTerm


FARTHEST_ZONE = 14 * 3600  # seconds from UTC


def compare(left: Term, right: Term) -> int | Error | None:
    """R2R-12: Return how two terms stand to each other by SPARQL's operators (§17.3): -1, 0 or 1;
    None where both compare but neither is less nor are they equal (NaN); ERROR where no operator
    takes them.
    """
    one, other = value_of(left), value_of(right)
    match one, other:
        case Number(), Number():
            return _compare_numbers(one, other)
        case StringValue(a, ""), StringValue(b, ""):
            return (a > b) - (a < b)
        case StringValue(_, language), StringValue(_, other_language) if (
            language and other_language
        ):
            raise NoSingleAnswer(
                "the order of strings with a language, for which an evaluator may have an operator"
            )
        case bool(), bool():
            return one - other
        case Moment(), Moment():
            return _compare_moments(one, other)
    refuse_extensions(one, other)
    return ERROR


def _compare_moments(one: Moment, other: Moment) -> int:
    """Return -1, 0 or 1 as a dateTime is before, at or after another."""
    apart = one.seconds - other.seconds
    if one.zoned != other.zoned and abs(apart) <= FARTHEST_ZONE:
        raise NoSingleAnswer(
            "comparing a dateTime without a zone with one that has it: the implicit zone is not "
            "fixed"
        )
    if 0 < abs(apart) < SURE_SECONDS:
        raise NoSingleAnswer(
            "dateTimes that are less than a millisecond apart: an evaluator may keep no more digits"
        )
    return (apart > 0) - (apart < 0)


def _compare_numbers(a: Number, b: Number) -> int | None:
    """Return -1, 0 or 1 as a number is less than, equal to or greater than another, None of NaN."""
    x, y = in_common_type(a, b)
    if x != x or y != y:
        return None
    slack = a.slack + b.slack
    if slack and abs(x - y) <= slack:
        raise NoSingleAnswer("comparing numbers that rounding tells apart")
    order: int = (x > y) - (x < y)
    return order


def in_common_type(a: Number, b: Number) -> tuple[Any, Any]:
    """Return the values of two numbers in the type of the later rank (XPath B.1)."""
    rank = max(a.rank, b.rank)
    if rank < FLOAT:
        return a.value, b.value
    return as_binary(a, rank), as_binary(b, rank)


def as_binary(number: Number, rank: int) -> float:
    """Return a number as a float or a double."""
    exact = number.value
    if number.rank >= FLOAT or isinstance(exact, float):
        return float(exact)
    if rank == FLOAT:
        return nearest_single(exact)
    return nearest_double(exact)


def equals(left: Term, right: Term) -> bool | Failure:
    """R2R-12: Compare two terms as `=` does (§17.4.1.7).

    Two numbers, plain strings, booleans or dateTimes are compared by value, and two strings with
    languages as terms. An IRI or a blank node equals itself alone. Of two literals of which one is
    ill-typed, or of a datatype that SPARQL does not know, the same term is equal, and two different
    terms are an ERROR.

    Literals of two known kinds, such as 1 and "a", "a" and "a"@en, or a number and an xsd:date,
    give FALSE_OR_ERROR: SPARQL's own `=` has no operator for them, but an evaluator may know that
    they differ. So does a string with a language beside any other literal, since no datatype has a
    language.

    Raises NoSingleAnswer where an evaluator may have an operator for them (two durations, a token
    and a string).
    """
    if left[0] != '"' or right[0] != '"':
        return same(left, right)
    one, other = value_of(left), value_of(right)
    if isinstance(one, StringValue) and isinstance(other, StringValue):
        if bool(one.language) != bool(other.language):
            return FALSE_OR_ERROR
        return one == other
    if _has_language(one) or _has_language(other):
        return FALSE_OR_ERROR
    if isinstance(one, OtherLiteral) or isinstance(other, OtherLiteral):
        if left == right:
            return True
        return _unequal_beside_other(one, other)
    order = compare(left, right)
    if order is ERROR:
        return FALSE_OR_ERROR
    return order == 0


def _has_language(one: Value | None) -> bool:
    return isinstance(one, StringValue) and bool(one.language)


def _unequal_beside_other(one: Value | None, other: Value | None) -> Failure:
    """Return what `=` gives for two different literals, of which one or both have a value that
    SPARQL's operators do not know.
    """
    refuse_extensions(one, other)
    are_both_unknown = isinstance(one, OtherLiteral) and isinstance(other, OtherLiteral)
    if is_extension(one) != is_extension(other) and not are_both_unknown:
        return FALSE_OR_ERROR
    return ERROR


def same(left: Term, right: Term) -> bool:
    """R2R-10: Return whether two terms are the same term (§17.4.1.8). Raises NoSingleAnswer where
    that hangs on the form of a computed one, or on NOW or RAND. A UUID is the same as itself alone,
    and NOW() as NOW().
    """
    if not isinstance(left, Computed) and not isinstance(right, Computed):
        return left == right
    if left is right:
        return True
    if isinstance(left, Unknown):
        return _is_unknown(left, right)
    if isinstance(right, Unknown):
        return _is_unknown(right, left)
    one, other = value_of(left), value_of(right)
    if not isinstance(one, Number) or not isinstance(other, Number):
        return False
    if one.rank != other.rank:
        return False
    return _is_same_number(one, other, isinstance(left, Computed) and isinstance(right, Computed))


def _is_unknown(unknown: Unknown, other: Term) -> bool:
    """Return whether what NOW, RAND, UUID or STRUUID gave is the same as another term."""
    if isinstance(other, Unknown) and unknown.kind == other.kind == "NOW":
        return True  # one value for all of an evaluation (§17.4.5.1)
    if unknown.kind in ("NOW", "RAND"):
        raise NoSingleAnswer(f"{unknown.kind} has no single answer")
    # each call has a text of its own
    return isinstance(other, Unknown) and str(unknown) == str(other)


def _is_same_number(one: Number, other: Number, are_computed: bool) -> bool:
    """Return whether two numbers of one type, of which one or both are computed, have one form."""
    if one.rank >= FLOAT and not one.slack and not other.slack:
        has_one_form = _have_special_values_one_form(one, other)
        if has_one_form is not None:
            return has_one_form
    if one == other and are_computed:
        if one.slack and one.rank >= FLOAT:
            raise NoSingleAnswer("two sums whose orders of adding are not fixed")
        return True
    if one.value != other.value and not _may_be_equal(one, other):
        return False
    raise NoSingleAnswer("the lexical form of a computed number")


def _have_special_values_one_form(one: Number, other: Number) -> bool | None:
    """Return whether two NaNs, or two zeros of other signs, have one lexical form; None for other
    pairs of floats or doubles.
    """
    if math.isnan(one.value) and math.isnan(other.value):
        return True  # NaN has one form
    if one.value == other.value == 0 and _sign(one) != _sign(other):
        return False  # 0.0 and -0.0 have none in common
    return None


def _may_be_equal(one: Number, other: Number) -> bool:
    """Return whether two numbers differ by no more than their slacks; False of NaN."""
    slack = one.slack + other.slack
    return -slack <= one.value - other.value <= slack


def _sign(number: Number) -> float:
    """Return 1 or -1, of zeros of floats and doubles, too."""
    return math.copysign(1, number.value)


# Computing (§17.3): integers and decimals exactly, floats and doubles as IEEE 754 has it


EXACT_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def calculate(sign: str, left: Result, right: Result) -> Result:
    """R2R-13: Compute +, -, * or / of two numbers (§17.3): integers and decimals exactly, floats
    and doubles as IEEE 754 has it. Dividing integers gives a decimal; dividing one or a decimal by
    zero is an error.
    """
    if left is ERROR or right is ERROR:
        return ERROR
    a, b = value_of(left), value_of(right)
    if not isinstance(a, Number) or not isinstance(b, Number):
        check_arithmetic(a, b)
        return ERROR
    number = operate(sign, a, b)
    if number is ERROR:
        return ERROR
    return number_term(number)


def check_arithmetic(*operands: Value | None) -> None:
    """Raise NoSingleAnswer if an evaluator may compute with operands that are not all numbers:
    dates, durations, and their multiples.
    """
    is_extended = any(is_extension(one) for one in operands) or all(
        isinstance(one, Moment) for one in operands
    )
    if is_extended and all(
        isinstance(one, Moment | Number) or is_extension(one) for one in operands
    ):
        raise NoSingleAnswer("arithmetic of dates and durations, which SPARQL leaves to extensions")


def add_numbers(a: Number, b: Number) -> Number:
    """Return the sum of two numbers, which there always is."""
    number = operate("+", a, b)
    if number is ERROR:
        raise AssertionError((a, b))
    return number


def operate(sign: str, a: Number, b: Number) -> Number | Error:
    """Return the number that an operator makes of two."""
    rank = max(a.rank, b.rank)
    x, y = in_common_type(a, b)
    if sign == "/" and rank < FLOAT:
        if abs(y) <= b.slack:
            if b.slack:
                raise NoSingleAnswer("dividing by a rounded number that may be zero")
            return ERROR
        number = decimal_of(Fraction(x) / Fraction(y))
    elif sign == "/":
        number = Number(rank, _divide(x, y))
    else:
        result = EXACT_OPERATORS[sign](x, y)
        number = decimal_of(result) if rank == DECIMAL else Number(rank, result)
    if rank == FLOAT:
        number = Number(rank, single(float(number.value)))
    if a.slack or b.slack:
        number = number._replace(
            slack=number.slack + _propagate_slack(sign, a, b, x, y),
            is_bound=a.is_bound or b.is_bound,
        )
        check_bits(number.slack)
    return number


def _divide(x: float, y: float) -> float:
    """Return a quotient as IEEE 754 has it: of a division by zero NaN or an infinity."""
    if y:
        return x / y
    if not x or x != x:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _propagate_slack(sign: str, a: Number, b: Number, x: Any, y: Any) -> Fraction | float:
    """Return by how much a result may differ because its operands may."""
    if isinstance(x, float) and not (math.isfinite(x) and math.isfinite(y)):
        if sign in "+-":
            return 0  # what is finite and rounded does not change an infinity or NaN
        raise NoSingleAnswer("arithmetic of rounded and infinite numbers")
    if sign in "+-":
        return a.slack + b.slack
    propagated: Fraction | float
    if sign == "*":
        propagated = abs(x) * b.slack + abs(y) * a.slack + a.slack * b.slack
        return propagated
    if abs(y) <= b.slack:
        raise NoSingleAnswer("dividing by a rounded number that may be zero")
    propagated = (a.slack + abs(x / y) * b.slack) / (abs(y) - b.slack)
    return propagated
