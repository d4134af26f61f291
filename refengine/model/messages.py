"""Texts for messages: what somebody else wrote, as one printable line of bounded length, and the
nearest valid word.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

MESSAGE = 2000  # characters of an error
SHOWN = 80  # characters of a value in it
LISTED = 30  # valid words
LONGEST_WORD = 200  # characters of a word that is compared with valid words, such as a case's id


def plain(text: str) -> str:
    """Return a text as one line of bounded length that cannot steer a terminal: control and bidi
    characters are escaped.
    """
    return _cut(escape_unprintable(_cut(text, MESSAGE)), MESSAGE)


def escape_unprintable(text: str) -> str:
    """Return a text in which every character that cannot be printed is escaped as in Python."""
    if text.isprintable():
        return text
    return "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = (most - 3) // 2
    return f"{text[:half]} … {text[-half:]}"


def display(value: Any) -> str:
    """Return a value's repr on one line, cut if it is long."""
    if isinstance(value, str):
        value = value[:MESSAGE]
    try:
        text = repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        return "an integer of thousands of digits"
    if len(text) <= SHOWN:
        return text
    return f"{text[: SHOWN - 4]} …"


def did_you_mean(word: Any, valid: Iterable[str]) -> str:
    """Return `; did you mean 'slide'?`, or nothing if no valid word is near.

    >>> did_you_mean("slid", ["size", "slide"]), did_you_mean("x", ["size", "slide"])
    ("; did you mean 'slide'?", '')
    """
    if not isinstance(word, str) or len(word) > LONGEST_WORD:
        return ""
    words = [str(other) for other in sorted(valid)[:1000] if len(other) <= LONGEST_WORD]
    found = difflib.get_close_matches(word, words, n=1)
    return "".join(f"; did you mean {other!r}?" for other in found)


def nearest(word: Any, valid: Iterable[str]) -> str:
    """Return `; did you mean 'slide'?`, or the list of valid words if none is near.

    >>> nearest("x", ["size", "slide"])
    '; valid: size, slide'
    """
    words = sorted(valid)
    more = ""
    if len(words) > LISTED:
        more = f", … {len(words) - LISTED} more"
    return did_you_mean(word, words) or f"; valid: {', '.join(words[:LISTED])}{more}"


def integer(text: str | int) -> int | None:
    """Return the integer that ASCII digits write, or None. Of thousands of digits the first twenty
    are read: the result is beyond 64 bits all the same.
    """
    if isinstance(text, int):
        return text
    match = re.fullmatch(r"([+-]?)0*([0-9]+)", text)
    if match is None:
        return None
    return int(match[1] + match[2][:20])


def why(error: Exception) -> str:
    """Return what a parser found wrong, in our words where Python's would be advice about
    Python.
    """
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if "int_max_str_digits" in str(error):
        return "an integer of thousands of digits"
    return str(error)
