"""Texts for messages: what somebody else wrote, as one printable line of bounded length, and the
nearest valid word.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Any

MESSAGE = 2000  # characters of an error
SHOWN = 80  # characters of a value in it
_PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}  # of ASCII's controls
LISTED = 30  # valid words
LISTED_LENGTH = 800  # characters of all valid words that are listed; at least one word is
ALIKE = 4  # valid words with the same beginning
FEW_CHARACTERS = 8  # of a word that is compared with the beginnings of ids
NEARLY = 0.85  # how alike such a word and a beginning are at least, of 1
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


def shortened(text: str, most: int = MESSAGE) -> str:
    """Return a text without its middle if it is longer than `most` characters."""
    return _cut(text, most)


def bag_in_words(rows: Counter[Any], most: int) -> str:
    """Return how many rows a bag has, and the first `most` of them in a fixed order: `2 rows: {x:
    <urn:a>}, {x: <urn:b>}`. Each is on one line, and cut if it is long.

    >>> bag_in_words(Counter({(("x", "<urn:a>"),): 3}), 2)
    '3 rows: {x: <urn:a>}, {x: <urn:a>}, …'
    """
    total = rows.total()
    if not total:
        return "no rows"
    shown = [_row_in_words(row) for row in islice(sorted(rows.elements()), most)]
    more = ", …" if total > most else ""
    return f"{total} row{'s' * (total > 1)}: {', '.join(shown)}{more}"


def _row_in_words(row: Iterable[tuple[str, str]]) -> str:
    cells = [f"{name}: {_cut(escape_unprintable(term[:MESSAGE]), SHOWN)}" for name, term in row]
    return _cut("{" + ", ".join(cells) + "}", 3 * SHOWN)


def display_text(text: str) -> str:
    r"""Return a text in quotes as it stands, cut if it is long. Unlike `display` it doubles no
    backslash, and a control character is its picture: a line break is ␊, and \n is the escape.

    >>> print(display_text("a\nb"), display_text("a\\nb"))
    'a␊b' 'a\nb'
    """
    shown = escape_unprintable(text[:MESSAGE].translate(_PICTURES))
    mark = '"' if "'" in shown and '"' not in shown else "'"
    if len(shown) > SHOWN - 2:
        return f"{mark}{shown[: SHOWN - 5]} …"
    return f"{mark}{shown}{mark}"


def did_you_mean(word: Any, valid: Iterable[str]) -> str:
    """Return `; did you mean 'slide'?`, or nothing if no valid word is near.

    >>> did_you_mean("slid", ["size", "slide"]), did_you_mean("x", ["size", "slide"])
    ("; did you mean 'slide'?", '')
    >>> did_you_mean("SLIDE", ["size", "slide"])
    "; did you mean 'slide'?"
    """
    if not isinstance(word, str) or len(word) > LONGEST_WORD:
        return ""
    words = [str(other) for other in sorted(valid)[:1000] if len(other) <= LONGEST_WORD]
    found = difflib.get_close_matches(word, words, n=1)
    if not found:  # capital letters count only if there is no nearer word
        by_small_letters = {other.lower(): other for other in reversed(words)}
        near = difflib.get_close_matches(word.lower(), list(by_small_letters), n=1)
        found = [by_small_letters[other] for other in near]
    return "".join(f"; did you mean {other!r}?" for other in found)


def nearest(word: Any, valid: Iterable[str]) -> str:
    """Return `; did you mean 'slide'?`, or the list of valid words if none is near.

    >>> nearest("x", ["size", "slide"])
    '; valid: size, slide'
    """
    words = sorted(valid)
    return did_you_mean(word, words) or f"; valid: {_first(words, LISTED)}"


def nearest_id(word: str, valid: Iterable[str]) -> str:
    """Return what `nearest` does for ids whose parts are joined by hyphens, as those of cases are.
    The beginning of an id stands for it, and several are listed. If none is near, those are listed
    that have the most parts in common with the word, from the first on.

    >>> ids = ["CMP-1-a-row", "WIN-2-a-border", "WIN-3-a-slide", "WIN-3-an-origin"]
    >>> nearest_id("WIN-3-no-such-case", ids), nearest_id("win-2-a-brd", ids)
    ('; valid: WIN-3-a-slide, WIN-3-an-origin', "; did you mean 'WIN-2-a-border'?")
    """
    ids = sorted(valid)
    small = word[:LONGEST_WORD].lower()
    alike = _begin_with(small, ids) or _begin_nearly_with(small, ids)
    if len(alike) == 1:
        return f"; did you mean {alike[0]!r}?"
    if not alike and (near := did_you_mean(word, ids)):
        return near
    parts = small.split("-")
    while not alike and len(parts) > 1:
        parts.pop()
        alike = _begin_with("-".join(parts) + "-", ids)
    if alike:
        return f"; valid: {_first(alike, ALIKE)}"
    return nearest(word, ids)


def _begin_with(beginning: str, ids: Iterable[str]) -> list[str]:
    """Return the ids that begin with a text in small letters; none for an empty text."""
    return [one for one in ids if beginning and one.lower().startswith(beginning)]


def _begin_nearly_with(word: str, ids: list[str]) -> list[str]:
    """Return the ids whose beginning, of the length of a word, is nearly the word. A word of few
    characters is near to too many.
    """
    if len(word) < FEW_CHARACTERS:
        return []
    beginnings = {one[: len(word)].lower() for one in ids}
    near = difflib.get_close_matches(word, sorted(beginnings), n=5, cutoff=NEARLY)
    # Of those that are near, an id of the same rule is nearer.
    nearest_one = max(near, key=lambda one: _count_same_characters(one, word), default="")
    return _begin_with(nearest_one, ids)


def _count_same_characters(one: str, other: str) -> int:
    """Return how many characters two texts have in common, from the first on."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _first(words: list[str], most: int) -> str:
    """Return the first of some words, and how many more there are."""
    length = 0
    listed: list[str] = []
    for word in words[:most]:
        length += len(word)
        if listed and length > LISTED_LENGTH:
            break
        listed.append(word)
    text = ", ".join(listed)
    if len(listed) < len(words):
        text += f", … {len(words) - len(listed)} more"
    return text


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


def count_text(number: int, noun: str) -> str:
    """Write a number with its noun: `1 row`, `2 rows`."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}s"
