"""§7 XPath's regular expressions (XPath F&O §7.6, XML Schema Part 2 appendix F), translated for
RE2, which matches in linear time. Where RE2 is not installed, `linear_time` matches the same.

Python's `\\s`, `\\w`, `$` and `.` mean other things. What RE2 has no equivalent of, or what XPath's
versions read in two ways, is refused with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from refengine.model.errors import NoSingleAnswer
from refengine.sparql import linear_time
from refengine.sparql.values import ERROR, Error

try:
    import re2
except ModuleNotFoundError:  # it is quicker, and has no wheel for some platforms
    re2 = None

SPACES = r" \t\n\r"
NAME_START = (
    r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}\x{2070}-\x{218F}"
    r"\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}"
)
CLASSES = {  # multi-character escapes, as the inside of a class
    "s": SPACES,
    "d": r"\p{Nd}",
    "w": r"\p{L}\p{M}\p{N}\p{S}",
    "i": NAME_START,
    "c": NAME_START + r"\-.0-9\x{B7}\x{300}-\x{36F}\x{203F}-\x{2040}",
}
SINGLE = {"n": r"\n", "r": r"\r", "t": r"\t"} | {sign: "\\" + sign for sign in r"\|.-^?*+{}()[]$"}
# the flag that changes a sign, and what the sign is with it and without it
SIGNS = {".": ("s", ".", r"[^\n]"), "^": ("m", "^", r"\A"), "$": ("m", "$", r"\z")}
CATEGORIES = {
    "L": "ultmo",
    "M": "nce",
    "N": "dlo",
    "P": "cdseifo",
    "Z": "slp",
    "S": "mcko",
    "C": "cfon",
}
MOST_REPEATED = 1000
DECIMALS = tuple("0123456789")
LONGEST_PATTERN = 2000  # characters of a pattern
NAME_CLASS = re.compile(r"\\[icIC]")
UNEVEN_PAIRS = "\u0131\u03f4"  # dotless i, and the capital theta that is a sign


class BadPattern(Exception):
    """err:FORX0002: not a regular expression of XPath."""


@lru_cache(maxsize=512)
def compile_pattern(pattern: str, flags: str) -> Any | Error:
    """R2R-15: Return the matcher of an XPath pattern, or ERROR for an invalid pattern or flag
    (err:FORX0001, FORX0002).
    """
    if "q" in flags:
        raise NoSingleAnswer("the flag q, which XPath 2.0 has not")
    if set(flags) - set("smix"):
        return ERROR
    if len(pattern) > LONGEST_PATTERN:
        raise NoSingleAnswer(f"a regular expression of more than {LONGEST_PATTERN} characters")
    try:
        translated = Translator(pattern, flags).translate()
    except BadPattern:
        return ERROR
    try:
        return compile_translated(translated)
    except linear_time.TooManySteps as error:
        raise NoSingleAnswer(f"a regular expression that is out of reach: {error}") from None


def compile_translated(translated: str) -> Any:
    """Return the matcher of a pattern in RE2's syntax: RE2's own where it is installed. Raises
    TooManySteps; nothing is logged.
    """
    if re2 is None:
        return linear_time.Pattern(translated)
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(translated, options)
    except re2.error as error:
        raise linear_time.TooManySteps(str(error)) from None


def may_be_empty(translated: str) -> bool:
    """Return whether a pattern in RE2's syntax matches the empty text; True if it is too large."""
    try:
        return compile_translated(translated).search("") is not None
    except linear_time.TooManySteps:
        return True


@lru_cache(maxsize=512)
def has_open_capture(pattern: str, flags: str) -> bool:
    """Return whether a valid pattern repeats a group that may be empty, as `(a*)+`: whether a last
    empty repetition counts as what the group has captured is not said (F&O §7.6.3).
    """
    translator = Translator(pattern, flags)
    translator.translate()
    return any(may_be_empty(inner) for inner in translator.repeated_groups)


def check_text(flags: str, pattern: str, text: str) -> None:
    """Raise NoSingleAnswer where a pattern on this text has no single answer.

    XPath's versions differ in `.` on a carriage return, in `^` after a last line end, and in the
    names (`\\i`, `\\c`) that have other letters than those of ASCII. Under the flag i, RE2 does not
    pair all letters that F&O §7.6.1.1 pairs: not ı with i, and ϴ with ϑ.
    """
    if "s" not in flags and "\r" in text and "." in pattern:
        raise NoSingleAnswer(
            "whether '.' matches a carriage return, in which XPath's versions differ"
        )
    if "m" in flags and "^" in pattern and text.endswith("\n"):
        raise NoSingleAnswer(
            "whether '^' matches after the last line end, in which XPath's versions differ"
        )
    if not text.isascii() and NAME_CLASS.search(pattern):
        raise NoSingleAnswer("which letters names have, in which XML's editions differ")
    if "i" in flags:
        check_case(pattern, text)


def check_case(pattern: str, text: str) -> None:
    """Raise NoSingleAnswer where a pattern under the flag i has no single answer on a text."""
    if any(letter in text or letter in pattern for letter in UNEVEN_PAIRS):
        raise NoSingleAnswer(
            "letters that are the same in upper case alone, or in lower case "
            "alone, under the flag i"
        )
    if not pattern.isascii() and "-" in pattern:
        raise NoSingleAnswer("a range of letters beyond ASCII under the flag i")


class Translator:
    """The reading of one pattern, character after character."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.flags = flags
        if "x" in flags:
            if "[" in pattern and any(c in pattern for c in " \t\n\r"):
                raise NoSingleAnswer(
                    "white space within a class under the flag x, in which XPath's versions differ"
                )
            pattern = "".join(c for c in pattern if c not in " \t\n\r")
        self.pattern = pattern
        self.at = 0
        self.groups = 0
        self.repeated_groups: list[str] = []  # what stands in them, in RE2's syntax

    def translate(self) -> str:
        """Return the pattern in RE2's syntax. Raises BadPattern."""
        expression = self.alternatives(0)
        if self.at < len(self.pattern):
            raise BadPattern("')' closes nothing")
        modes = "".join(mode for mode in "ism" if mode in self.flags)
        if not modes:
            return expression
        return f"(?{modes}:{expression})"

    def peek(self) -> str:
        """Return the next character; "" at the end."""
        return self.pattern[self.at : self.at + 1]

    def peek_behind(self) -> str:
        """Return the character behind the next one; "" where there is none."""
        return self.pattern[self.at + 1 : self.at + 2]

    def take(self) -> str:
        """Return the next character and move behind it. Raises BadPattern at the end."""
        character = self.peek()
        if not character:
            raise BadPattern("the end")
        self.at += 1
        return character

    def alternatives(self, depth: int) -> str:
        """Read branches that are parted by `|`."""
        if depth > 50:
            raise NoSingleAnswer("a regular expression nested more than 50 deep")
        branches = [self.branch(depth)]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.branch(depth))
        return "|".join(branches)

    def branch(self, depth: int) -> str:
        """Read pieces: atoms with their quantifiers."""
        pieces = []
        while self.peek() not in ("", "|", ")"):
            is_anchor = self.peek() in "^$"
            atom = self.atom(depth)
            quantifier = self.quantifier()
            if is_anchor and quantifier:
                raise NoSingleAnswer("a quantifier on '^' or '$', in which XPath's versions differ")
            pieces.append(atom + quantifier)
        return "".join(pieces)

    def atom(self, depth: int) -> str:
        """Read a character, a class, a group or an anchor."""
        character = self.take()
        match character:
            case "(":
                return self.group(depth)
            case "[":
                return self.character_class()
            case "." | "^" | "$":
                flag, with_flag, without_flag = SIGNS[character]
                if flag in self.flags:
                    return with_flag
                return without_flag
            case "\\":
                inside, is_negated = self.escape()
                return class_of(inside, is_negated)
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise BadPattern(f"{character} stands alone")
        return quote(character)

    def group(self, depth: int) -> str:
        """Read a group behind its opening bracket."""
        if self.peek() == "?":
            raise NoSingleAnswer("a group that begins with '(?', which XPath 2.0 has not")
        self.groups += 1
        inner = self.alternatives(depth + 1)
        if self.take() != ")":
            raise BadPattern("'(' is not closed")
        if self.peek() in ("*", "+", "{"):
            self.repeated_groups.append(inner)
        return f"({inner})"

    def quantifier(self) -> str:
        """Read `?`, `*`, `+` or `{n,m}`, reluctant or not; "" where there is none."""
        sign = self.peek()
        if sign not in ("?", "*", "+", "{"):
            return ""
        self.at += 1
        if sign == "{":
            sign = self.quantity()
        if self.peek() == "?":
            self.at += 1
            sign += "?"
        if self.peek() in ("?", "*", "+", "{"):
            raise BadPattern("a quantifier on a quantifier")
        return sign

    def quantity(self) -> str:
        """Read {n}, {n,} or {n,m} behind its opening brace."""
        written, brace, _ = self.pattern[self.at :].partition("}")
        parts = written.split(",")
        if not brace or not is_quantity(parts):
            raise BadPattern("a quantity is {n}, {n,} or {n,m}")
        if max(int(part) for part in parts if part) > MOST_REPEATED:
            raise NoSingleAnswer(f"a repetition of more than {MOST_REPEATED}")
        self.at += len(written) + 1
        return "{" + written + "}"

    def escape(self) -> tuple[str, bool]:
        """Read what follows a backslash: the inside of a class, and whether it is negated."""
        character = self.take()
        if character in SINGLE:
            return SINGLE[character], False
        if character.lower() in CLASSES:
            if character.lower() in "ic" and "i" in self.flags:
                raise NoSingleAnswer("a class of names under the flag i")
            return CLASSES[character.lower()], character.isupper()
        if character in "pP":
            return self.category(), character == "P"
        if character.isdigit():
            raise NoSingleAnswer("a back-reference, which no regular expression in linear time has")
        raise BadPattern(f"no escape \\{character}")

    def category(self) -> str:
        """Read a Unicode category in braces."""
        end = self.pattern.find("}", self.at)
        name = self.pattern[self.at + 1 : end]
        if self.peek() != "{" or end < 0:
            raise BadPattern("a category stands in braces")
        self.at = end + 1
        if name.startswith("Is"):
            raise NoSingleAnswer(
                f"the Unicode block {name[2:40]}, whose extent depends on the version"
            )
        if name[:1] not in CATEGORIES or (
            len(name) > 1 and (len(name) > 2 or name[1] not in CATEGORIES[name[0]])
        ):
            raise BadPattern("no such category")
        if "i" in self.flags:
            raise NoSingleAnswer("a category under the flag i")
        if name[0] == "C":
            raise NoSingleAnswer("the category C, whose extent depends on the version of Unicode")
        return f"\\p{{{name}}}"

    def character_class(self) -> str:
        """Read a class in brackets. RE2 has no subtraction of classes, and no union with a negated
        one.
        """
        is_negated = self.peek() == "^"
        self.at += is_negated
        parts: list[str] = []
        negated: list[str] = []
        is_first = True
        while self.peek() != "]" or is_first:
            if self.peek() == "-" and self.peek_behind() == "[":
                raise NoSingleAnswer("the subtraction of classes")
            inside, is_class, is_complement = self.member(is_first)
            is_first = False
            if not is_class:
                inside = self.range_from(inside)
            if is_complement:
                negated.append(inside)
            else:
                parts.append(inside)
        self.at += 1
        if not negated:
            return class_of("".join(parts), is_negated)
        if parts or len(negated) > 1:
            raise NoSingleAnswer("a class that unites a negated one with others")
        return class_of(negated[0], not is_negated)

    def range_from(self, first: str) -> str:
        """Read the rest of a range that a character begins, if it begins one."""
        if self.peek() != "-" or self.peek_behind() in ("]", "["):
            return first
        self.at += 1
        last, is_class, _ = self.member(False)
        if is_class or _code(last) < _code(first):
            raise BadPattern("a range ends before it begins")
        return f"{first}-{last}"

    def member(self, is_first: bool) -> tuple[str, bool, bool]:
        """Read a member of a class: its text, whether it is itself a class (`\\d`), and whether
        that is negated (`\\D`).
        """
        character = self.take()
        if character == "\\":
            before = self.peek()
            inside, is_negated = self.escape()
            return inside, before in "sSiIcCdDwWpP", is_negated
        if character == "[" or character == "]":
            raise BadPattern(f"{character} stands in a class")
        if character == "-" and not is_first and self.peek() != "]":
            raise NoSingleAnswer("a hyphen within a class, in which XPath's versions differ")
        return quote(character), False, False


def is_quantity(parts: Sequence[str]) -> bool:
    """Return whether texts that a comma parts are a quantity: {n}, {n,} or {n,m}, with n <= m."""
    if (
        not 1 <= len(parts) <= 2
        or not all(part.isascii() for part in parts)
        or not parts[0].isdecimal()
    ):
        return False
    if len(parts) == 1 or not parts[1]:
        return True
    return parts[1].isdecimal() and int(parts[0]) <= int(parts[1])


def class_of(inside: str, is_negated: bool) -> str:
    """Return the class of what stands inside it, or its complement."""
    if is_negated:
        return f"[^{inside}]"
    return f"[{inside}]"


def quote(character: str) -> str:
    """Return a character as RE2 takes it for itself."""
    if character.isalnum() and character.isascii():
        return character
    return f"\\x{{{ord(character):X}}}"


def _code(member: str) -> int:
    """Return the code point of a member of a class."""
    if member.startswith(r"\x{"):
        return int(member[3:-1], 16)
    if member.startswith("\\"):
        return ord({"n": "\n", "r": "\r", "t": "\t"}.get(member[1], member[1]))
    return ord(member)


def replacement(template: str, groups: int) -> list[str | int] | Error:
    """R2R-15: Read a replacement: texts, and the numbers of groups ($0: the whole); ERROR for
    another `\\` or `$` (err:FORX0004).
    """
    parts: list[str | int] = []
    at = 0
    while at < len(template):
        character = template[at]
        at += 1
        if character == "\\":
            if template[at : at + 1] not in ("\\", "$"):
                return ERROR
            parts.append(template[at])
            at += 1
        elif character == "$":
            if template[at : at + 1] not in DECIMALS:
                return ERROR
            number = int(template[at])
            at += 1
            while template[at : at + 1] in DECIMALS and number * 10 + int(template[at]) <= groups:
                number = number * 10 + int(template[at])
                at += 1
            if number <= groups:
                parts.append(number)
            else:
                parts.append("")
        else:
            parts.append(character)
    return parts
