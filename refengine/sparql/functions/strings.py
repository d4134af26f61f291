"""Functions on strings (SPARQL 1.1 §17.4.3), but for REGEX and REPLACE, and hashes (§17.4.6)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable
from unicodedata import ucd_3_2_0
from urllib.parse import quote

from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.functions.terms import integer_literal, simple, string
from refengine.sparql.values import (
    ERROR,
    INTEGER,
    Error,
    Number,
    Result,
    StringValue,
    boolean,
    check_string_length,
    text,
    value_of,
)


def count_characters(term: Term) -> Result:
    """Return the number of characters of a string (STRLEN)."""
    string_value = string(term)
    if string_value is ERROR:
        return ERROR
    return integer_literal(len(string_value.lexical))


def substring(term: Term, *arguments: Term) -> Result:
    """Return the part of a string from a position, counted from 1, to the end or as many characters
    as given (XPath fn:substring).
    """
    string_value = string(term)
    numbers = [value_of(argument) for argument in arguments]
    whole = [
        int(number.value)
        for number in numbers
        if isinstance(number, Number) and number.rank == INTEGER
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


def compatible(left: Term, right: Term) -> tuple[StringValue, StringValue] | Error:
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
    check_string_length(sum(len(one.lexical) for one in strings))
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
