"""§7 What NOW, RAND, UUID and STRUUID give: values of which the form alone is known (SPARQL 1.1
§17.4.2.12, §17.4.5.1, §17.4.4.5).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from refengine.model.elements import XSD, Term, literal
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.functions import BY_KEYWORD
from refengine.sparql.regex import compile_pattern
from refengine.sparql.values import (
    ERROR,
    Number,
    Result,
    StringValue,
    Unknown,
    boolean,
    same,
    value_of,
)


def unknown(name: str, number: int) -> Unknown:
    """Return what NOW, RAND, UUID or STRUUID gives: a value of which the form is known."""
    digits = f"{number:08x}-0000-4000-8000-000000000000"
    terms = {
        "NOW": literal("2000-01-01T00:00:00Z", XSD + "dateTime"),
        "RAND": literal("0.5", XSD + "double"),
        "UUID": f"<urn:uuid:{digits}>",
        "STRUUID": literal(digits),
    }
    return Unknown(terms[name], name)


def of_unknown(name: str, results: Sequence[Term]) -> Result:
    """QRY-3: Apply a function to a value of which the form alone is known: its kind, its datatype,
    its length, whether a pattern that treats all digits alike matches, that a UUID is new, that 0
    <= RAND() < 1. Raises NoSingleAnswer for everything else.
    """
    first = results[0]
    kind = next(result.kind for result in results if isinstance(result, Unknown))
    match name:
        case "ISIRI" | "ISURI" | "ISBLANK" | "ISLITERAL" | "ISNUMERIC" | "DATATYPE" | "LANG":
            return BY_KEYWORD[name](str(first))
        case "STR" if kind in ("UUID", "STRUUID"):
            form = BY_KEYWORD[name](str(first))
            if form is ERROR:
                return ERROR
            return Unknown(form, "STRUUID")
        case "STRLEN" if kind == "STRUUID":
            return BY_KEYWORD[name](str(first))
        case "SAMETERM" | "=":
            return boolean(same(*results))
        case "!=":
            return boolean(not same(*results))
        case "REGEX" if kind == "STRUUID" and _are_patterns_alike(results):
            return BY_KEYWORD[name](str(first), *results[1:])
        case "<" | "<=" | ">" | ">=" if kind == "RAND":
            holds = _compare_rand(name, results[1])
            if holds is not None:
                return boolean(holds)
    raise NoSingleAnswer(f"{kind} has no single answer")


def _compare_rand(sign: str, right: Term) -> bool | None:
    """Return how RAND() stands to another term, None where that is open: 0 <= RAND() < 1."""
    number = value_of(right)
    if not isinstance(number, Number):
        return None
    bound = number.value
    if bound >= 1:
        return sign in ("<", "<=")
    if bound < 0 or (bound == 0 and sign in ("<", ">=")):
        return sign in (">", ">=")
    return None


def _are_patterns_alike(results: Sequence[Term]) -> bool:
    """Return whether REGEX has a UUID's text as its first operand alone, and a pattern that matches
    every UUID or none.
    """
    first, *others = results
    if not isinstance(first, Unknown) or any(isinstance(other, Unknown) for other in others):
        return False
    strings = [value_of(other) for other in others]
    texts = [one.lexical for one in strings if isinstance(one, StringValue)]
    return len(texts) == len(strings) and treats_digits_alike(*texts)


def treats_digits_alike(pattern: str, flags: str = "") -> bool:
    """Return whether each part of a pattern matches all hexadecimal digits or none, so that it
    matches every UUID or none.
    """
    rest = re.sub(r"\{[0-9,]*\}", "", pattern.removeprefix("^urn:uuid:"))
    for atom in re.findall(r"\[[^\[\]\\]+\]|\\.|[^\[\](){}|?*+.^$]", rest):
        compiled = compile_pattern(atom, flags)
        if (
            compiled is ERROR
            or len({compiled.search(digit) is None for digit in "0123456789abcdef"}) > 1
        ):
            return False
    return "[^" not in rest
