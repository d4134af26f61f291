"""What a message shows of texts that somebody else wrote: one printable line, of bounded length,
and the nearest valid word.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

MESSAGE = 2000  # characters of an error
SHOWN = 80  # characters of a value in it
LISTED = 30  # valid words


def plain(text: str) -> str:
    """A text as one line of bounded length, in which nothing steers a terminal: control and bidi
    characters are escaped.
    """
    return _cut(escaped(_cut(text, MESSAGE)), MESSAGE)


def escaped(text: str) -> str:
    """A text in which whatever is not printable is written as Python escapes it."""
    return (
        text
        if text.isprintable()
        else "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    )


def _cut(text: str, most: int) -> str:
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]} … {text[-half:]}"


def shown(value: Any) -> str:
    """A value on one line, however long it is."""
    try:
        text = repr(value[:MESSAGE] if isinstance(value, str) else value)
    except ValueError:  # Python writes no integer of thousands of digits
        return "an integer of thousands of digits"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 4]} …"


def near(word: Any, valid: Iterable[str]) -> str:
    """`; did you mean 'slide'?`, or nothing where no valid word is near."""
    words = [str(other) for other in sorted(valid)[:1000] if len(other) <= SHOWN]
    found = (
        difflib.get_close_matches(word, words, n=1)
        if isinstance(word, str) and len(word) <= SHOWN
        else []
    )
    return "".join(f"; did you mean {other!r}?" for other in found)


def nearest(word: Any, valid: Iterable[str]) -> str:
    """`; did you mean 'slide'?`, or the valid words where none is near."""
    words = sorted(valid)
    more = f", … {len(words) - LISTED} more" if len(words) > LISTED else ""
    return near(word, words) or f"; valid: {', '.join(words[:LISTED])}{more}"


def integer(text: str | int) -> int | None:
    """The integer that ASCII digits write, or None; thousands of them are cut, which leaves it
    beyond 64 bits.
    """
    if isinstance(text, int):
        return text
    match = re.fullmatch(r"([+-]?)0*([0-9]+)", text)
    return int(match[1] + match[2][:20]) if match else None


def why(error: Exception) -> str:
    """What a parser found wrong, in our words where Python would advise on Python."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "an integer of thousands of digits" if "int_max_str_digits" in str(error) else str(error)
