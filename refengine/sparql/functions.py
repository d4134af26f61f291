"""§7 The functions that SPARQL names (SPARQL 1.1 §17.4), over terms.

Each takes its operands' terms and returns a term, or ERROR where the recommendation has an error.
Functions that look at the solution or at other operands (BOUND, IF, COALESCE, IN, BNODE) are in
`sparql.expressions`, casts (§17.5) in `sparql.casts`.

A new function of a keyword goes into `BY_KEYWORD`. One that needs the solution, or operands that
are not computed yet, goes into `Expressions.call` instead of BY_KEYWORD.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from fractions import Fraction
from inspect import signature
from typing import Any
from unicodedata import ucd_3_2_0
from urllib.parse import quote

from refengine.model.elements import XSD, Term, is_blank, literal, parse_literal
from refengine.model.errors import NoSingleAnswer, require
from refengine.model.iris import has_scheme, resolve
from refengine.model.terms import LANG_STRING
from refengine.model.xsd import Moment
from refengine.sparql import values
from refengine.sparql.regex import check_text, compile_pattern, has_open_capture, replacement
from refengine.sparql.values import ERROR, Number, Result, boolean, number_term, text, value_of

# By IRI


TIMESTAMP = "http://larkc.eu/csparql/sparql/jena/ext#timestamp"
CASTS = ("boolean", "double", "float", "decimal", "integer", "dateTime", "string")
ARITIES_BY_IRI = {XSD + name: 1 for name in CASTS} | {TIMESTAMP: 3}  # an IRI -> how many arguments


# How functions take a string or a lexical form from an operand


_IRI = re.compile(r"[^<>\"{}|^`\\\x00-\x20]*")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")


def string(term: Term) -> values.StringValue | values.Error:
    """Return the string of a literal that is one, with or without a language."""
    string_value = value_of(term)
    if isinstance(string_value, values.StringValue):
        return string_value
    if (
        isinstance(string_value, values.OtherLiteral)
        and string_value.datatype in values.STRING_TYPES
    ):
        raise NoSingleAnswer(
            f"an {values.shorten(string_value.datatype)}, which an evaluator may know as a string"
        )
    return ERROR


def simple(term: Term) -> str | values.Error:
    """Return the text of a string without a language."""
    string_value = string(term)
    if string_value is ERROR or string_value.language:
        return ERROR
    return string_value.lexical


def lexical(term: Term) -> str | values.Error:
    """R2R-13: Return the lexical form of a literal; of a computed one that no recommendation fixes
    there is no single answer.
    """
    if not term.startswith('"'):
        return ERROR
    if isinstance(term, values.Computed):
        raise NoSingleAnswer(f"the lexical form of a computed xsd:{values.RANKS[term.number.rank]}")
    return parse_literal(term).lexical


def integer_literal(number: int) -> Term:
    """Return the literal of an integer."""
    return number_term(Number(values.INTEGER, number))


# Functions


def as_string(term: Term) -> Result:
    """Return the lexical form of a literal or the text of an IRI (STR)."""
    if is_blank(term):
        return ERROR
    if term.startswith("<"):
        return text(term[1:-1])
    form = lexical(term)
    if form is ERROR:
        return ERROR
    return text(form)


def language(term: Term) -> Result:
    """Return the language tag of a literal, "" where it has none (LANG)."""
    if not term.startswith('"'):
        return ERROR
    return text(parse_literal(term).language)


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
    if not term.startswith('"'):
        return ERROR
    return f"<{parse_literal(term).datatype}>"


def to_iri(term: Term, base: str) -> Result:
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


def make_typed(form: Term, kind: Term) -> Result:
    """Return the literal of a lexical form and a datatype (STRDT)."""
    characters = simple(form)
    if characters is ERROR or not kind.startswith("<"):
        return ERROR
    if kind[1:-1] == LANG_STRING:
        raise NoSingleAnswer("STRDT with rdf:langString")
    return literal(characters, kind[1:-1])


def make_tagged(form: Term, tag: Term) -> Result:
    """Return the literal of a lexical form and a language (STRLANG)."""
    characters = simple(form)
    name = simple(tag)
    if characters is ERROR or name is ERROR:
        return ERROR
    if not _LANGUAGE_TAG.fullmatch(name):
        raise NoSingleAnswer("STRLANG with a text that is no language tag")
    lower = text(name.lower())
    if text(name) not in (lower, with_upper_case_region(lower)):
        raise NoSingleAnswer("STRLANG with a language tag whose case an evaluator may keep")
    return text(characters, name)


def is_numeric(term: Term) -> Result:
    """Return whether a term is a number, ill-typed ones left out (isNumeric)."""
    return boolean(isinstance(value_of(term), Number))


def is_iri(term: Term) -> Result:
    """Return whether a term is an IRI (isIRI, isURI)."""
    return boolean(term.startswith("<"))


def is_blank_node(term: Term) -> Result:
    """Return whether a term is a blank node (isBlank)."""
    return boolean(is_blank(term))


def is_literal(term: Term) -> Result:
    """Return whether a term is a literal (isLiteral)."""
    return boolean(term.startswith('"'))


def is_same_term(left: Term, right: Term) -> Result:
    """Return whether two terms are the same (sameTerm)."""
    return boolean(values.same(left, right))


# Strings (§17.4.3)


def count_characters(term: Term) -> Result:
    """Return the number of characters of a string (STRLEN)."""
    string_value = string(term)
    if string_value is ERROR:
        return ERROR
    return integer_literal(len(string_value.lexical))


def substring(term: Term, begin: Term, length: Term | None = None) -> Result:
    """Return the part of a string from a position, counted from 1, to the end or as many characters
    as given (XPath fn:substring).
    """
    string_value = string(term)
    numbers = [value_of(one) for one in (begin, length) if one is not None]
    whole = [
        int(number.value)
        for number in numbers
        if isinstance(number, Number) and number.rank == values.INTEGER
    ]
    if string_value is ERROR or len(whole) < len(numbers):
        return ERROR
    start, *count = whole
    end = len(string_value.lexical) + 1
    if count:
        end = start + count[0]
    return text(string_value.lexical[max(start, 1) - 1 : max(end, 1) - 1], string_value.language)


def to_upper_case(term: Term) -> Result:
    """Return a string in upper case (UCASE)."""
    return _map_case(term, str.upper)


def to_lower_case(term: Term) -> Result:
    """Return a string in lower case (LCASE)."""
    return _map_case(term, str.lower)


def _map_case(term: Term, function: Callable[[str], str]) -> Result:
    """Return a string with the case of its letters mapped. Raises NoSingleAnswer where that is not
    a letter for a letter, or depends on the version of Unicode.
    """
    string_value = string(term)
    if string_value is ERROR:
        return ERROR
    whole = function(string_value.lexical)
    letters = [function(letter) for letter in string_value.lexical]
    if whole != "".join(letters) or any(len(letter) > 1 for letter in letters):
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
        has_other_case = "Ll" if function is str.upper else "Lu"
        return unicodedata.category(character) not in ("Cn", has_other_case)
    return "Cn" not in (ucd_3_2_0.category(character), ucd_3_2_0.category(mapped))


def compatible(
    left: Term, right: Term
) -> tuple[values.StringValue, values.StringValue] | values.Error:
    """Return two strings that may be compared by a string function (§17.4.3.1.2): the second has no
    language, or the first's.
    """
    one = string(left)
    other = string(right)
    if one is ERROR or other is ERROR or (other.language and other.language != one.language):
        return ERROR
    return one, other


def tester_of_two(test: Callable[[str, str], bool]) -> Callable[[Term, Term], Result]:
    """Return the function of two terms that tests their strings (STRSTARTS, STRENDS, CONTAINS)."""

    def holds_of(left: Term, right: Term) -> Result:
        pair = compatible(left, right)
        if pair is ERROR:
            return ERROR
        return boolean(test(pair[0].lexical, pair[1].lexical))

    return holds_of


def text_before(left: Term, right: Term) -> Result:
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
    if not separator:
        return text("")
    return text(head, pair[0].language)


def text_after(left: Term, right: Term) -> Result:
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
    if not separator:
        return text("")
    return text(tail, pair[0].language)


def encode_for_uri(term: Term) -> Result:
    """Return a string with all but letters, digits and `-_.~` as percent-encoded UTF-8
    (ENCODE_FOR_URI).
    """
    string_value = string(term)
    if string_value is ERROR:
        return ERROR
    return text(quote(string_value.lexical, safe="-_.~"))


def concatenate(*terms: Term) -> Result:
    """Return several strings as one, with the language that all have (CONCAT)."""
    results = [string(term) for term in terms]
    strings = [one for one in results if one is not ERROR]
    if len(strings) < len(results):
        return ERROR
    values.check_string_length(sum(len(one.lexical) for one in strings))
    languages = {one.language for one in strings}
    common = ""
    if len(languages) == 1:
        common = languages.pop()
    return text("".join(one.lexical for one in strings), common)


def language_matches(tag: Term, language_range: Term) -> Result:
    """Return whether a language tag matches a range, by the basic filtering of RFC 4647 §3.3.1
    (LANGMATCHES).
    """
    name = simple(tag)
    prefix = simple(language_range)
    if name is ERROR or prefix is ERROR:
        return ERROR
    name = name.lower()
    prefix = prefix.lower()
    if prefix == "*":
        return boolean(bool(name))
    return boolean(name == prefix or (bool(prefix) and name.startswith(prefix + "-")))


# Hashes (§17.4.6)


def hasher(name: str) -> Callable[[Term], Result]:
    """Return the function that hashes a string's UTF-8, as hexadecimal digits (MD5 to SHA512)."""

    def digest_of(term: Term) -> Result:
        characters = simple(term)
        if characters is ERROR:
            return ERROR
        return text(hashlib.new(name, characters.encode(), usedforsecurity=False).hexdigest())

    return digest_of


# REGEX and REPLACE (§17.4.3.14, §17.4.3.15), with what they cost


MATCH_PER_STEP = 5_000  # characters times instructions of a pattern that one step pays for
# characters behind a match that one step pays for: each further match may scan them all
SCAN_PER_STEP = 500


def spend_nothing(steps: int) -> None:
    """Count no steps."""


def find_match(
    term: Term, pattern: Term, flags: Term = '""', *, spend: Callable[[int], None] = spend_nothing
) -> Result:
    """Return whether a pattern matches anywhere (XPath fn:matches)."""
    subject = string(term)
    expression = simple(pattern)
    modes = simple(flags)
    if subject is ERROR or expression is ERROR or modes is ERROR:
        return ERROR
    compiled = compile_pattern(expression, modes)
    if compiled is ERROR:
        return ERROR
    check_text(modes, expression, subject.lexical)
    spend(len(subject.lexical) * compiled.programsize // MATCH_PER_STEP)
    return boolean(compiled.search(subject.lexical) is not None)


def replace_matches(
    term: Term,
    pattern: Term,
    by: Term,
    flags: Term = '""',
    *,
    spend: Callable[[int], None] = spend_nothing,
) -> Result:
    """Return a string with each match replaced (XPath fn:replace). A pattern that matches the empty
    string is an error (err:FORX0003).
    """
    subject = string(term)
    expression = simple(pattern)
    template = simple(by)
    modes = simple(flags)
    if subject is ERROR or expression is ERROR or template is ERROR or modes is ERROR:
        return ERROR
    compiled = compile_pattern(expression, modes)
    if compiled is ERROR or compiled.search("") is not None:
        return ERROR
    check_text(modes, expression, subject.lexical)
    parts = replacement(template, compiled.groups)
    if parts is ERROR:
        return ERROR
    if shows_group(parts) and has_open_capture(expression, modes):
        raise NoSingleAnswer("what a repeated group that may be empty has captured")
    return text(_with_replacements(compiled, parts, subject.lexical, spend), subject.language)


def shows_group(parts: Sequence[str | int]) -> bool:
    """Return whether a replacement shows what a group has captured; $0 is the whole match."""
    return any(isinstance(part, int) and part > 0 for part in parts)


def _with_replacements(
    compiled: Any, parts: Sequence[str | int], characters: str, spend: Callable[[int], None]
) -> str:
    """Return a text in which each match of RE2's matcher is replaced by some parts: texts, and the
    numbers of groups. Raises NoSingleAnswer for a match without extent.
    """
    made: list[str] = []
    end = 0
    length = len(characters)
    spend(length * compiled.programsize // MATCH_PER_STEP)
    for match in compiled.finditer(characters):
        if not match[0]:
            raise NoSingleAnswer("REPLACE of a match without extent")
        spend(1 + (len(characters) - match.start()) // SCAN_PER_STEP + len(parts) // 8)
        written = [part if isinstance(part, str) else match[part] or "" for part in parts]
        length += sum(map(len, written)) + match.start() - match.end()
        values.check_string_length(length)
        made += [characters[end : match.start()], *written]
        end = match.end()
    return "".join(made) + characters[end:]


# Numbers (§17.4.4)


def absolute_value(term: Term) -> Result:
    """Return the absolute value of a number (ABS)."""
    operand = value_of(term)
    if not isinstance(operand, Number):
        return ERROR
    number: Any = operand.value
    if operand.rank >= values.FLOAT and not math.isfinite(number):
        return number_term(Number(operand.rank, math.fabs(number)))
    return number_term(operand._replace(value=abs(number)))


def ceiling(term: Term) -> Result:
    """Return the least whole number that is not less (CEIL)."""
    return _whole_number(term, math.ceil)


def floor(term: Term) -> Result:
    """Return the greatest whole number that is not greater (FLOOR)."""
    return _whole_number(term, math.floor)


def nearest_whole(term: Term) -> Result:
    """Return the nearest whole number, of two the greater (ROUND)."""
    return _whole_number(term, lambda number: math.floor(Fraction(number) + Fraction(1, 2)))


def _whole_number(term: Term, function: Callable[[Any], int]) -> Result:
    """Return the whole number that a function makes of a number, in the same type. Raises
    NoSingleAnswer where it hangs on a rounding.
    """
    operand = value_of(term)
    if not isinstance(operand, Number):
        return ERROR
    rank, number, slack, _ = operand
    if rank >= values.FLOAT and not math.isfinite(number):
        return number_term(Number(rank, number))
    if slack and function(number - slack) != function(number + slack):
        raise NoSingleAnswer("the whole part of a rounded number")
    whole = function(number)
    if rank >= values.FLOAT:
        # CEIL(-0.5e0) is -0 (F&O §6.4.2)
        return number_term(Number(rank, math.copysign(float(whole), number)))
    if rank == values.DECIMAL:
        return number_term(Number(rank, Fraction(whole)))
    return number_term(Number(rank, whole))


# Dates and times (§17.4.5)


# year, month, day, hour, minute, second and zone
DATE_TIME = re.compile(
    r"(-?[0-9]+)-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)(Z|[+-][0-9]{2}:[0-9]{2})?"
)


def _fields(term: Term) -> re.Match[str] | values.Error:
    """Return year, month, day, hour, minute, second and zone of a dateTime."""
    moment = value_of(term)
    if values.is_extension(moment):
        raise NoSingleAnswer(
            f"a part of {values.shorten(moment.datatype)}, which SPARQL leaves to extensions"
        )
    if not isinstance(moment, Moment):
        return ERROR
    match = require(DATE_TIME.fullmatch(parse_literal(term).lexical))
    if match[4] == "24":
        raise NoSingleAnswer("a part of a dateTime that is written with 24:00:00")
    return match


def reader_of_field(number: int) -> Callable[[Term], Result]:
    """Return the function that reads one part of a dateTime as an integer (YEAR to MINUTES)."""

    def field_of(term: Term) -> Result:
        match = _fields(term)
        if match is ERROR:
            return ERROR
        return integer_literal(int(match[number]))

    return field_of


def seconds(term: Term) -> Result:
    """Return the seconds of a dateTime, a decimal (SECONDS)."""
    match = _fields(term)
    if match is ERROR:
        return ERROR
    exact = Fraction(match[6])
    if (exact / values.SURE_SECONDS).denominator != 1:
        raise NoSingleAnswer(
            "seconds with more than three digits behind the point, which an evaluator may not keep"
        )
    return number_term(values.decimal_of(exact))


def zone(term: Term) -> Result:
    """Return the zone of a dateTime as it is written, "" where there is none (TZ)."""
    match = _fields(term)
    if match is ERROR:
        return ERROR
    return text(match[7] or "")


def zone_duration(term: Term) -> Result:
    """Return the zone as a dayTimeDuration in canonical form, an error where there is none
    (TIMEZONE).
    """
    match = _fields(term)
    if match is ERROR or match[7] is None:
        return ERROR
    if match[7] == "-00:00":
        raise NoSingleAnswer("the duration of the zone -00:00")
    return literal(_duration(match[7]), XSD + "dayTimeDuration")


def _duration(zone_text: str) -> str:
    """Return the canonical text of the duration of a zone: `+05:30` is PT5H30M, `Z` is PT0S."""
    if zone_text in ("Z", "+00:00"):
        return "PT0S"
    amounts = {"H": int(zone_text[1:3]), "M": int(zone_text[4:])}
    duration = "PT" + "".join(f"{count}{unit}" for unit, count in amounts.items() if count)
    if zone_text.startswith("-"):
        return "-" + duration
    return duration


# By keyword


BY_KEYWORD: dict[str, Callable[..., Result]] = {
    "STR": as_string,
    "LANG": language,
    "DATATYPE": datatype,
    "STRDT": make_typed,
    "STRLANG": make_tagged,
    "ISIRI": is_iri,
    "ISURI": is_iri,
    "ISBLANK": is_blank_node,
    "ISLITERAL": is_literal,
    "ISNUMERIC": is_numeric,
    "SAMETERM": is_same_term,
    "STRLEN": count_characters,
    "SUBSTR": substring,
    "UCASE": to_upper_case,
    "LCASE": to_lower_case,
    "STRSTARTS": tester_of_two(str.startswith),
    "STRENDS": tester_of_two(str.endswith),
    "CONTAINS": tester_of_two(lambda whole, part: part in whole),
    "STRBEFORE": text_before,
    "STRAFTER": text_after,
    "ENCODE_FOR_URI": encode_for_uri,
    "CONCAT": concatenate,
    "LANGMATCHES": language_matches,
    "REGEX": find_match,
    "REPLACE": replace_matches,
    "ABS": absolute_value,
    "CEIL": ceiling,
    "FLOOR": floor,
    "ROUND": nearest_whole,
    "YEAR": reader_of_field(1),
    "MONTH": reader_of_field(2),
    "DAY": reader_of_field(3),
    "HOURS": reader_of_field(4),
    "MINUTES": reader_of_field(5),
    "SECONDS": seconds,
    "TZ": zone,
    "TIMEZONE": zone_duration,
    "MD5": hasher("md5"),
    "SHA1": hasher("sha1"),
    "SHA256": hasher("sha256"),
    "SHA384": hasher("sha384"),
    "SHA512": hasher("sha512"),
}


def arity_of(function: Callable[..., Result]) -> tuple[int, int | None]:
    """Return the fewest and the most operands that a function takes; None: as many as one likes."""
    places = signature(function).parameters.values()
    if any(place.kind is place.VAR_POSITIONAL for place in places):
        return 0, None
    operands = [place for place in places if place.kind is not place.KEYWORD_ONLY]
    return sum(place.default is place.empty for place in operands), len(operands)


# a keyword -> fewest and most arguments; the last ones are computed in `sparql.expressions`
ARITIES = {name: arity_of(function) for name, function in BY_KEYWORD.items()} | {
    **dict.fromkeys(("RAND", "NOW", "UUID", "STRUUID"), (0, 0)),
    **dict.fromkeys(("BOUND", "IRI", "URI"), (1, 1)),
    "BNODE": (0, 1),
    "IF": (3, 3),
    "COALESCE": (0, None),
}
