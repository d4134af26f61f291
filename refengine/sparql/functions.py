"""§7 The functions that SPARQL names (SPARQL 1.1 §17.4) and the casts (§17.5), over terms.

Each takes its operands' terms and returns a term, or ERROR where the recommendation has an error.
Functions that look at the solution or at other operands (BOUND, IF, COALESCE, IN, BNODE) are in
`expressions`.

A new function of a keyword goes into `grammar.FUNCTIONS`, and here into ARITIES and BY_KEYWORD. One
that needs the solution, or operands that are not computed yet, goes into `Expressions.called`
instead of BY_KEYWORD.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unicodedata import ucd_3_2_0
from urllib.parse import quote

from refengine.model.elements import XSD, Term, is_blank, literal, parse_literal
from refengine.model.errors import NoSingleAnswer, require
from refengine.model.iris import has_scheme, resolve
from refengine.model.terms import LANG_STRING
from refengine.model.xsd import INTEGERS, Moment
from refengine.sparql.regex import check_text, compile_pattern, has_open_capture, replacement
from refengine.sparql.values import (
    DECIMAL,
    ERROR,
    FLOAT,
    INTEGER,
    RANKS,
    STRING_TYPES,
    SURE_INTEGERS,
    SURE_SECONDS,
    Computed,
    Error,
    Failure,
    Number,
    OtherLiteral,
    Result,
    StringValue,
    as_binary,
    boolean,
    check_length,
    decimal_of,
    decimal_text,
    double_text,
    is_extension,
    number_term,
    read,
    same,
    single,
    text,
    truth,
    value,
)

TIMESTAMP = "http://larkc.eu/csparql/sparql/jena/ext#timestamp"
CASTS = ("boolean", "double", "float", "decimal", "integer", "dateTime", "string")
ARITIES_BY_IRI = {XSD + name: 1 for name in CASTS} | {TIMESTAMP: 3}  # an IRI -> how many arguments
ARITIES: dict[str, tuple[int, int | None]] = {  # a keyword -> fewest and most arguments
    **dict.fromkeys(("RAND", "NOW", "UUID", "STRUUID"), (0, 0)),
    "BNODE": (0, 1),
    **dict.fromkeys(
        (
            "STRBEFORE",
            "STRAFTER",
            "STRSTARTS",
            "STRENDS",
            "STRLANG",
            "STRDT",
            "LANGMATCHES",
            "CONTAINS",
            "SAMETERM",
        ),
        (2, 2),
    ),
    **dict.fromkeys(
        (
            "STRLEN",
            "STR",
            "LANG",
            "DATATYPE",
            "BOUND",
            "IRI",
            "URI",
            "ABS",
            "CEIL",
            "FLOOR",
            "ROUND",
        ),
        (1, 1),
    ),
    **dict.fromkeys(
        (
            "UCASE",
            "LCASE",
            "ENCODE_FOR_URI",
            "YEAR",
            "MONTH",
            "DAY",
            "HOURS",
            "MINUTES",
            "SECONDS",
            "TIMEZONE",
            "TZ",
        ),
        (1, 1),
    ),
    **dict.fromkeys(
        (
            "MD5",
            "SHA1",
            "SHA256",
            "SHA384",
            "SHA512",
            "ISIRI",
            "ISURI",
            "ISBLANK",
            "ISLITERAL",
            "ISNUMERIC",
        ),
        (1, 1),
    ),
    "SUBSTR": (2, 3),
    "IF": (3, 3),
    "REGEX": (2, 3),
    "REPLACE": (3, 4),
    "CONCAT": (0, None),
    "COALESCE": (0, None),
}
MATCH_PER_STEP = 5_000  # characters times instructions of a pattern that one step pays for
# characters behind a match that one step pays for: each further match may scan them all
SCAN_PER_STEP = 500
LONGEST_EXACT = 16  # characters of a double whose decimal digits end
_DATE_TIME = re.compile(
    r"(-?[0-9]+)-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_IRI = re.compile(r"[^<>\"{}|^`\\\x00-\x20]*")


def string(term: Term) -> StringValue | Error:
    """Return the string of a literal that is one, with or without a language."""
    string_value = value(term)
    if isinstance(string_value, OtherLiteral) and string_value.datatype in STRING_TYPES:
        raise NoSingleAnswer(
            f"an {string_value.datatype.replace(XSD, 'xsd:')}, which an "
            "evaluator may know as a string"
        )
    return string_value if isinstance(string_value, StringValue) else ERROR


def simple(term: Term) -> str | Error:
    """Return the text of a string without a language."""
    string_value = string(term)
    return (
        string_value.lexical if string_value is not ERROR and not string_value.language else ERROR
    )


def lexical(term: Term) -> str | Error:
    """R2R-13: return the lexical form of a literal; of a computed one that no recommendation fixes
    there is no single answer.
    """
    if not term.startswith('"'):
        return ERROR
    if isinstance(term, Computed):
        raise NoSingleAnswer(f"the lexical form of a computed xsd:{RANKS[term.number.rank]}")
    return parse_literal(term).lexical


# Terms (§17.4.2)


def as_string(term: Term) -> Result:
    """Return the lexical form of a literal or the text of an IRI (STR)."""
    if is_blank(term):
        return ERROR
    if term.startswith("<"):
        return text(term[1:-1])
    form = lexical(term)
    return ERROR if form is ERROR else text(form)


def language(term: Term) -> Result:
    """Return the language tag of a literal, "" where it has none (LANG)."""
    return text(parse_literal(term).language) if term.startswith('"') else ERROR


def with_upper_case_region(tag: Term) -> Term:
    """Return the text of a language tag in the form of RFC 5646 §2.1.1: regions in upper case,
    scripts with a capital, and what follows a part of one letter in lower case (`en-us-x-us` gives
    `en-US-x-us`).
    """
    parts = parse_literal(tag).lexical.split("-")
    end = next((place for place, part in enumerate(parts) if len(part) == 1), len(parts))
    capitals = [
        {2: part.upper(), 4: part.capitalize()}.get(len(part), part) for part in parts[1:end]
    ]
    return text("-".join([*parts[:1], *capitals, *parts[max(end, 1) :]]))


def datatype(term: Term) -> Result:
    """Return the datatype of a literal (DATATYPE)."""
    return f"<{parse_literal(term).datatype}>" if term.startswith('"') else ERROR


def iri(term: Term, base: str) -> Result:
    """Return an IRI as it is, or a string resolved against the base (IRI)."""
    if term.startswith("<"):
        return term
    reference = simple(term)
    if reference is ERROR:
        return ERROR
    if not _IRI.fullmatch(reference):
        raise NoSingleAnswer("IRI() of a text that is no IRI")
    if not base and not has_scheme(reference):
        raise NoSingleAnswer("IRI() of a relative reference without BASE")
    return f"<{resolve(base, reference)}>"


def typed(form: Term, kind: Term) -> Result:
    """Return the literal of a lexical form and a datatype (STRDT)."""
    characters = simple(form)
    if characters is ERROR or not kind.startswith("<"):
        return ERROR
    if kind[1:-1] == LANG_STRING:
        raise NoSingleAnswer("STRDT with rdf:langString")
    return literal(characters, kind[1:-1])


def tagged(form: Term, tag: Term) -> Result:
    """Return the literal of a lexical form and a language (STRLANG)."""
    characters, name = simple(form), simple(tag)
    if characters is ERROR or name is ERROR:
        return ERROR
    if not re.fullmatch(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*", name):
        raise NoSingleAnswer("STRLANG with a text that is no language tag")
    lower = text(name.lower())
    if text(name) not in (lower, with_upper_case_region(lower)):
        raise NoSingleAnswer("STRLANG with a language tag whose case an evaluator may keep")
    return text(characters, name)


def is_numeric(term: Term) -> Result:
    """Return whether a term is a number, ill-typed ones left out (isNumeric)."""
    return boolean(isinstance(value(term), Number))


# Strings (§17.4.3)


def length(term: Term) -> Result:
    """Return the number of characters of a string (STRLEN)."""
    string_value = string(term)
    return ERROR if string_value is ERROR else integer(len(string_value.lexical))


def integer(number: int) -> Term:
    """Return the literal of an integer."""
    return number_term(Number(INTEGER, number))


def substring(term: Term, *arguments: Term) -> Result:
    """Return the part of a string from a position, counted from 1, to the end or as many characters
    as given (XPath fn:substring).
    """
    string_value = string(term)
    numbers = [value(argument) for argument in arguments]
    whole = [
        int(number.value)
        for number in numbers
        if isinstance(number, Number) and number.rank == INTEGER
    ]
    if string_value is ERROR or len(whole) < len(numbers):
        return ERROR
    start, *count = whole
    end = start + count[0] if count else len(string_value.lexical) + 1
    return text(string_value.lexical[max(start, 1) - 1 : max(end, 1) - 1], string_value.language)


def upper(term: Term) -> Result:
    """Return a string in upper case (UCASE)."""
    return _mapped(term, str.upper)


def lower(term: Term) -> Result:
    """Return a string in lower case (LCASE)."""
    return _mapped(term, str.lower)


def _mapped(term: Term, function: Callable[[str], str]) -> Result:
    string_value = string(term)
    if string_value is ERROR:
        return ERROR
    whole, each = function(string_value.lexical), "".join(map(function, string_value.lexical))
    if whole != each or any(len(function(c)) > 1 for c in string_value.lexical):
        raise NoSingleAnswer(
            "a case mapping that depends on the neighbours or makes more than one character"
        )
    if not string_value.lexical.isascii() and not all(
        has_sure_case(c, function) for c in string_value.lexical
    ):
        raise NoSingleAnswer("the case of a letter, which depends on the version of Unicode")
    return text(whole, string_value.language)


def has_sure_case(character: str, function: Callable[[str], str]) -> bool:
    """Return whether a character has the same case mapping in every version of Unicode since 3.2.

    A letter of one case without a partner may be given one, and an unassigned code point may become
    a letter: `ƛ` has had an upper case since Unicode 16.
    """
    mapped = function(character)
    if character == mapped:
        return unicodedata.category(character) not in (
            "Cn",
            "Ll" if function is str.upper else "Lu",
        )
    return "Cn" not in (ucd_3_2_0.category(character), ucd_3_2_0.category(mapped))


def compatible(left: Term, right: Term) -> tuple[StringValue, StringValue] | Error:
    """Return two strings that may be compared by a string function (§17.4.3.1.2): the second has no
    language, or the first's.
    """
    one, other = string(left), string(right)
    if one is ERROR or other is ERROR or (other.language and other.language != one.language):
        return ERROR
    return one, other


def _tested(test: Callable[[str, str], bool]) -> Callable[[Term, Term], Result]:
    def tested(left: Term, right: Term) -> Result:
        pair = compatible(left, right)
        return ERROR if pair is ERROR else boolean(test(pair[0].lexical, pair[1].lexical))

    return tested


def before(left: Term, right: Term) -> Result:
    """Return what stands in the first string before the first occurrence of the second (STRBEFORE).

    Where the second does not occur that is "" without a language; an empty one occurs at the
    beginning.
    """
    pair = compatible(left, right)
    if pair is ERROR:
        return ERROR
    if not pair[1].lexical:
        return text("", pair[0].language)
    head, separator, _ = pair[0].lexical.partition(pair[1].lexical)
    return text(head, pair[0].language) if separator else text("")


def after(left: Term, right: Term) -> Result:
    """Return what stands in the first string after the first occurrence of the second (STRAFTER).

    Where the second does not occur that is "" without a language; an empty one occurs at the
    beginning.
    """
    pair = compatible(left, right)
    if pair is ERROR:
        return ERROR
    if not pair[1].lexical:
        return text(*pair[0])
    _, separator, tail = pair[0].lexical.partition(pair[1].lexical)
    return text(tail, pair[0].language) if separator else text("")


def encoded(term: Term) -> Result:
    """Return a string with all but letters, digits and `-_.~` as percent-encoded UTF-8
    (ENCODE_FOR_URI).
    """
    string_value = string(term)
    return ERROR if string_value is ERROR else text(quote(string_value.lexical, safe="-_.~"))


def concatenated(*terms: Term) -> Result:
    """Return several strings as one, with the language that all have (CONCAT)."""
    results = [string(term) for term in terms]
    strings = [one for one in results if one is not ERROR]
    if len(strings) < len(results):
        return ERROR
    check_length(sum(len(one.lexical) for one in strings))
    languages = {one.language for one in strings}
    return text(
        "".join(one.lexical for one in strings), languages.pop() if len(languages) == 1 else ""
    )


def language_matches(tag: Term, language_range: Term) -> Result:
    """Return whether a language tag matches a range, by the basic filtering of RFC 4647 §3.3.1
    (LANGMATCHES).
    """
    name, wanted = simple(tag), simple(language_range)
    if name is ERROR or wanted is ERROR:
        return ERROR
    name, wanted = name.lower(), wanted.lower()
    if wanted == "*":
        return boolean(bool(name))
    return boolean(name == wanted or (bool(wanted) and name.startswith(wanted + "-")))


def free(steps: int) -> None:
    """Count no steps."""


def matches(
    term: Term, pattern: Term, flags: Term = '""', spend: Callable[[int], None] = free
) -> Result:
    """Return whether a pattern matches anywhere (XPath fn:matches)."""
    subject, expression, modes = string(term), simple(pattern), simple(flags)
    if subject is ERROR or expression is ERROR or modes is ERROR:
        return ERROR
    compiled = compile_pattern(expression, modes)
    if compiled is ERROR:
        return ERROR
    check_text(modes, expression, subject.lexical)
    spend(len(subject.lexical) * compiled.programsize // MATCH_PER_STEP)
    return boolean(compiled.search(subject.lexical) is not None)


def replaced(
    term: Term, pattern: Term, by: Term, flags: Term = '""', spend: Callable[[int], None] = free
) -> Result:
    """Return a string with each match replaced (XPath fn:replace). A pattern that matches the empty
    string is an error (err:FORX0003).
    """
    subject, expression, template, modes = string(term), simple(pattern), simple(by), simple(flags)
    if subject is ERROR or expression is ERROR or template is ERROR or modes is ERROR:
        return ERROR
    compiled = compile_pattern(expression, modes)
    if compiled is ERROR or compiled.search("") is not None:
        return ERROR
    check_text(modes, expression, subject.lexical)
    parts = replacement(template, compiled.groups)
    if parts is ERROR:
        return ERROR
    if any(isinstance(part, int) and part for part in parts) and has_open_capture(
        expression, modes
    ):
        raise NoSingleAnswer("what a repeated group that may be empty has captured")
    made, end, length = [], 0, len(subject.lexical)
    spend(length * compiled.programsize // MATCH_PER_STEP)
    for match in compiled.finditer(subject.lexical):
        if not match[0]:
            raise NoSingleAnswer("REPLACE of a match without extent")
        spend(1 + (len(subject.lexical) - match.start()) // SCAN_PER_STEP + len(parts) // 8)
        written = [part if isinstance(part, str) else match[part] or "" for part in parts]
        length += sum(map(len, written)) + match.start() - match.end()
        check_length(length)
        made += [subject.lexical[end : match.start()], *written]
        end = match.end()
    return text("".join(made) + subject.lexical[end:], subject.language)


# Numbers (§17.4.4)


def absolute(term: Term) -> Result:
    """Return the absolute value of a number (ABS)."""
    return _of_number(term, abs)


def ceiling(term: Term) -> Result:
    """Return the least whole number that is not less (CEIL)."""
    return _of_number(term, math.ceil, is_whole=True)


def floor(term: Term) -> Result:
    """Return the greatest whole number that is not greater (FLOOR)."""
    return _of_number(term, math.floor, is_whole=True)


def nearest_whole(term: Term) -> Result:
    """Return the nearest whole number, of two the greater (ROUND)."""
    return _of_number(
        term, lambda number: math.floor(Fraction(number) + Fraction(1, 2)), is_whole=True
    )


def _of_number(term: Term, function: Callable[[Any], Any], is_whole: bool = False) -> Result:
    operand = value(term)
    if not isinstance(operand, Number):
        return ERROR
    rank, number, slack = operand.rank, operand.value, operand.slack
    if rank >= FLOAT and not math.isfinite(number):
        return number_term(Number(rank, number if is_whole else math.fabs(number)))
    if not is_whole:
        return number_term(Number(rank, function(number), slack))
    if slack and function(number - slack) != function(number + slack):
        raise NoSingleAnswer("the whole part of a rounded number")
    result = function(number)
    if rank >= FLOAT:
        # CEIL(-0.5e0) is -0 (F&O §6.4.2)
        return number_term(Number(rank, math.copysign(float(result), number)))
    return number_term(Number(rank, Fraction(result) if rank == DECIMAL else result))


# Dates (§17.4.5)


def _fields(term: Term) -> re.Match[str] | Error:
    """Return year, month, day, hour, minute, second and zone of a dateTime."""
    moment = value(term)
    if is_extension(moment):
        raise NoSingleAnswer(
            f"a part of {moment.datatype.replace(XSD, 'xsd:')}, which SPARQL leaves to extensions"
        )
    if not isinstance(moment, Moment):
        return ERROR
    match = require(_DATE_TIME.fullmatch(parse_literal(term).lexical))
    if match[4] == "24":
        raise NoSingleAnswer("a part of a dateTime that is written with 24:00:00")
    return match


def _field(number: int) -> Callable[[Term], Result]:
    def field(term: Term) -> Result:
        match = _fields(term)
        return ERROR if match is ERROR else integer(int(match[number]))

    return field


def seconds(term: Term) -> Result:
    """Return the seconds of a dateTime, a decimal (SECONDS)."""
    match = _fields(term)
    if match is ERROR:
        return ERROR
    exact = Fraction(match[6])
    if (exact / SURE_SECONDS).denominator != 1:
        raise NoSingleAnswer(
            "seconds with more than three digits behind the point, which an evaluator may not keep"
        )
    return number_term(decimal_of(exact))


def zone(term: Term) -> Result:
    """Return the zone of a dateTime as it is written, "" where there is none (TZ)."""
    match = _fields(term)
    return ERROR if match is ERROR else text(match[7] or "")


def zone_duration(term: Term) -> Result:
    """Return the zone as a dayTimeDuration in canonical form, an error where there is none
    (TIMEZONE).
    """
    match = _fields(term)
    if match is ERROR or match[7] is None:
        return ERROR
    if match[7] == "-00:00":
        raise NoSingleAnswer("the duration of the zone -00:00")
    sign, hours, minutes = (
        (match[7][0], int(match[7][1:3]), int(match[7][4:])) if match[7] != "Z" else ("+", 0, 0)
    )
    parts = (
        "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count) or "0S"
    )
    return literal(
        ("-" if sign == "-" and parts != "0S" else "") + "PT" + parts, XSD + "dayTimeDuration"
    )


# Hashes (§17.4.6)


def _hashed(name: str) -> Callable[[Term], Result]:
    def hashed(term: Term) -> Result:
        characters = simple(term)
        return (
            ERROR
            if characters is ERROR
            else text(hashlib.new(name, characters.encode(), usedforsecurity=False).hexdigest())
        )

    return hashed


# Casts (§17.5)


def cast(term: Term, kind: str) -> Result:
    """R2R-14: cast a term to one of the datatypes of §17.5, as XPath casts values (F&O §17)."""
    operand = value(term)
    if kind == "string":
        return _cast_to_string(term, operand)
    if isinstance(operand, StringValue):
        return ERROR if operand.language else _cast_text(operand.lexical.strip(" \t\n\r"), kind)
    if isinstance(operand, OtherLiteral) and operand.datatype in STRING_TYPES:
        raise NoSingleAnswer(
            f"casting an {operand.datatype.replace(XSD, 'xsd:')}, which an "
            "evaluator may know as a string"
        )
    match kind, operand:
        case "dateTime", Moment():
            return term
        case "boolean", bool():
            return boolean(operand)
        case "boolean", Number():
            holds = truth(term)
            return ERROR if holds is ERROR else boolean(holds)
        case _, bool() | Number() if kind in RANKS:
            number = operand if isinstance(operand, Number) else Number(INTEGER, int(operand))
            converted = _converted(number, RANKS.index(kind))
            return ERROR if converted is ERROR else number_term(converted)
        case _, OtherLiteral(datatype, False) if kind == "dateTime" and datatype in (
            XSD + "date",
            XSD + "dateTimeStamp",
        ):
            raise NoSingleAnswer("casting a date, which SPARQL leaves to extensions")
        case _:
            return ERROR


def _cast_text(characters: str, kind: str) -> Result:
    result = read(characters, XSD + kind)
    match result:
        case Failure() | None:
            return ERROR
        case bool():
            return boolean(result)
        case Number():
            return number_term(result)
        case _:
            return literal(characters, XSD + kind)


def cast_date_time(lexical_form: str) -> str:
    """Return the text of a dateTime by XPath's cast to a string (F&O §17.1.5): no zeros after the
    last digit of the seconds, and `Z` for the zone +00:00.
    """
    match = require(_DATE_TIME.fullmatch(lexical_form))
    if match[4] == "24":
        raise NoSingleAnswer("a dateTime that is written with 24:00:00 as a string")
    seconds_text = match[6].rstrip("0").rstrip(".") if "." in match[6] else match[6]
    zone_text = "Z" if match[7] in ("+00:00", "-00:00") else match[7] or ""
    return f"{match[1]}-{match[2]}-{match[3]}T{match[4]}:{match[5]}:{seconds_text}{zone_text}"


def form_kept_by_cast(term: Term, kind: str) -> Result:
    """Return what a cast to an integer, a decimal, a boolean or a dateTime gives if it keeps the
    lexical form of its operand; ERROR for other casts, and where the operand is neither a string
    nor of that datatype, nor of one derived from it.
    """
    if kind not in ("integer", "decimal", "boolean", "dateTime") or not term.startswith('"'):
        return ERROR
    form, kind_of_operand, _ = parse_literal(term)
    is_derived = kind in ("integer", "decimal") and kind_of_operand in INTEGERS
    if kind_of_operand not in (XSD + "string", XSD + kind) and not is_derived:
        return ERROR
    return literal(form.strip(" \t\n\r"), XSD + kind)


def _cast_to_string(term: Term, operand: object) -> Result:
    if term.startswith("<"):
        return text(term[1:-1])
    match operand:
        case None:
            return ERROR
        case StringValue(characters, ""):
            return text(characters)
        case Number() | bool():
            return text(cast_text(operand))
        case Moment():
            return text(cast_date_time(parse_literal(term).lexical))
        case _:
            raise NoSingleAnswer("xsd:string of a literal that SPARQL has no cast for")


def cast_text(operand: Number | bool) -> str:
    """Return the text of a number or a boolean by XPath's cast to a string (F&O §17.1.1).

    A double from 0.000001 to below 1,000,000 is written in plain digits, any other with an
    exponent. Raises NoSingleAnswer where it has more digits than every evaluator keeps.
    """
    if isinstance(operand, bool):
        return "true" if operand else "false"
    rank, slack = operand.rank, operand.slack
    if slack:
        raise NoSingleAnswer("the digits of a rounded number as a string")
    if rank == INTEGER:
        return str(operand.value)
    if rank == DECIMAL:
        return decimal_text(Fraction(operand.value))
    number = float(operand.value)
    if not math.isfinite(number) or not number:
        return double_text(number).removesuffix(".0")
    exact = Fraction(number)
    exponent = math.floor(math.log10(abs(number)))
    if not Fraction(1, 10**6) <= abs(exact) < 10**6:
        exact /= Fraction(10) ** exponent
    if decimal_of(exact).slack or len(decimal_text(exact)) > LONGEST_EXACT:
        raise NoSingleAnswer("the digits of a double as a string")
    if Fraction(1, 10**6) <= abs(number) < 10**6:
        return decimal_text(exact)
    return decimal_text(exact) + (".0" if exact.denominator == 1 else "") + f"E{exponent}"


def _converted(number: Number, rank: int) -> Number | Error:
    """Return a number in another type."""
    own, exact, slack = number
    if rank >= FLOAT:
        wide = as_binary(number, rank)
        return Number(rank, single(wide) if rank == FLOAT else wide, slack)
    if own >= FLOAT and not math.isfinite(exact):
        return ERROR
    if rank == DECIMAL:
        decimal = decimal_of(Fraction(exact))
        return decimal._replace(slack=decimal.slack + Fraction(slack)) if slack else decimal
    if slack and math.trunc(exact - slack) != math.trunc(exact + slack):
        raise NoSingleAnswer("the whole part of a rounded number")
    whole = math.trunc(exact)
    if abs(whole) >= SURE_INTEGERS and own != INTEGER:
        raise NoSingleAnswer("an integer beyond 64 bits, for which an evaluator may have an error")
    return Number(INTEGER, whole)


BY_KEYWORD: dict[str, Callable[..., Result]] = {
    "STR": as_string,
    "LANG": language,
    "DATATYPE": datatype,
    "STRDT": typed,
    "STRLANG": tagged,
    "ISIRI": lambda term: boolean(term.startswith("<")),
    "ISURI": lambda term: boolean(term.startswith("<")),
    "ISBLANK": lambda term: boolean(is_blank(term)),
    "ISLITERAL": lambda term: boolean(term.startswith('"')),
    "ISNUMERIC": is_numeric,
    "SAMETERM": lambda left, right: boolean(same(left, right)),
    "STRLEN": length,
    "SUBSTR": substring,
    "UCASE": upper,
    "LCASE": lower,
    "STRSTARTS": _tested(str.startswith),
    "STRENDS": _tested(str.endswith),
    "CONTAINS": _tested(lambda whole, part: part in whole),
    "STRBEFORE": before,
    "STRAFTER": after,
    "ENCODE_FOR_URI": encoded,
    "CONCAT": concatenated,
    "LANGMATCHES": language_matches,
    "REGEX": matches,
    "REPLACE": replaced,
    "ABS": absolute,
    "CEIL": ceiling,
    "FLOOR": floor,
    "ROUND": nearest_whole,
    "YEAR": _field(1),
    "MONTH": _field(2),
    "DAY": _field(3),
    "HOURS": _field(4),
    "MINUTES": _field(5),
    "SECONDS": seconds,
    "TZ": zone,
    "TIMEZONE": zone_duration,
    **{name: _hashed(name.lower()) for name in ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")},
}
