"""§7 Regular expressions in linear time, where RE2 is not installed: the patterns that `regex`
writes in RE2's syntax, matched as RE2 matches them.

All threads of a match go through the text at the same time, in the order of their priority (Pike's
machine): each character takes at most one visit to each step of the pattern. The first thread in
that order that reaches its end is the match, as in Perl. Letters and their cases are those of
Python's Unicode; RE2 has them of a version of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

MOST_REPEATED = 1000  # of what is repeated within what is repeated, as in RE2
MOST_STEPS = 20_000
# steps of RE2 that take as long as one of these, for what counts the cost of a match
COST = 50
_TOKEN = re.compile(
    r"\\x\{(?P<code>[0-9A-F]+)\}|\\p\{(?P<category>\w+)\}|\\(?P<escape>.)|(?P<sign>.)", re.DOTALL
)
_QUANTIFIER = re.compile(r"(?:(?P<sign>[?*+])|\{(?P<least>\d+)(?P<comma>,(?P<most>\d*))?\})(\?)?")
_SIGNS = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


class TooManySteps(Exception):
    """A regular expression is too large: written out, it has too many steps."""


@dataclass(frozen=True)
class CharacterSet:
    """A set of characters: ranges and Unicode categories, or all others."""

    ranges: tuple[tuple[str, str], ...] = ()
    categories: tuple[str, ...] = ()
    is_negated: bool = False
    ignores_case: bool = False

    def __contains__(self, letter: str) -> bool:
        letters = same_letters(letter) if self.ignores_case else (letter,)
        return any(map(self._lists, letters)) is not self.is_negated

    def _lists(self, letter: str) -> bool:
        return any(first <= letter <= last for first, last in self.ranges) or (
            bool(self.categories) and unicodedata.category(letter).startswith(self.categories)
        )


def fold(letter: str) -> str:
    """Return the letter that stands for all that differ from it in case alone (Unicode's simple
    case folding).
    """
    folded = letter.casefold()
    if len(folded) > 1:  # the full folding; ẞ has a simple one as well
        folded = letter.lower()
    return folded if len(folded) == 1 else letter


@cache
def _letters_by_fold() -> dict[str, list[str]]:
    """Return the letters that differ in case alone, those that are alone left out."""
    groups: dict[str, list[str]] = {}
    for code in range(0x1E944):  # Adlam, whose letters are the last that have cases
        groups.setdefault(fold(chr(code)), []).append(chr(code))
    return {folded: letters for folded, letters in groups.items() if len(letters) > 1}


def same_letters(letter: str) -> list[str]:
    """Return the letters that differ from one in case alone, itself among them."""
    return _letters_by_fold().get(fold(letter), [letter])


class Step(NamedTuple):
    """A step of a pattern. `letters`: take a character of these. `holds`: go on where this holds.
    `slot`: remember the place. Each goes on at `to`, in order of priority; none is the end.
    """

    to: tuple[int, ...]
    letters: CharacterSet | None = None
    holds: str = ""
    slot: int = -1


@dataclass
class Node:
    """A part of a pattern: of these kinds, with what is in it.

    `letters`, `holds` (a condition on the place), `group` (its number), `all` of its parts one
    after the other, `any` of them, or `repeat`.
    """

    kind: str
    parts: list[Node]
    letters: CharacterSet | None = None
    holds: str = ""
    number: int = 0
    least: int = 1
    most: int | None = 1
    is_greedy: bool = True

    @property
    def repeated(self) -> int:
        """How often the innermost part is written if each repetition is written out."""
        inner = max((part.repeated for part in self.parts), default=1)
        return inner * max(1, self.least, self.most or 1) if self.kind == "repeat" else inner


class Reader:
    """The reading of a pattern that `regex.Translator` has written."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.groups = 0
        self.modes = ""

    def read(self) -> Node:
        """Return the pattern as a node."""
        if found := re.match(r"\(\?([ism]+):", self.pattern):
            self.modes = found[1]
            self.at, self.pattern = found.end(), self.pattern[:-1]
        return self.alternatives()

    def alternatives(self) -> Node:
        """Read branches that are parted by `|`."""
        branches = [self.branch()]
        while self.pattern[self.at : self.at + 1] == "|":
            self.at += 1
            branches.append(self.branch())
        return branches[0] if len(branches) == 1 else Node("any", branches)

    def branch(self) -> Node:
        """Read pieces: atoms with their quantifiers."""
        pieces: list[Node] = []
        while self.pattern[self.at : self.at + 1] not in ("", "|", ")"):
            atom = self.atom()
            if found := _QUANTIFIER.match(self.pattern, self.at):
                self.at = found.end()
                least, most = _times(found)
                atom = Node("repeat", [atom], least=least, most=most, is_greedy=not found[5])
            pieces.append(atom)
        return Node("all", pieces)

    def atom(self) -> Node:
        """Read a character, a class, a group or an anchor."""
        if self.pattern[self.at] == "(":
            self.groups += 1
            number = self.groups
            self.at += 1
            inner = self.alternatives()
            self.at += 1
            return Node("group", [inner], number=number)
        if self.pattern[self.at] == "[":
            return Node("letters", [], letters=self.letters())
        written, first, _ = self.member()
        if written in (r"\A", r"\z", "^", "$"):
            return Node("holds", [], holds=written)
        if written == ".":
            return Node("letters", [], letters=CharacterSet(is_negated=True))
        ranges = ((first, first),)
        return Node("letters", [], letters=CharacterSet(ranges, ignores_case="i" in self.modes))

    def member(self) -> tuple[str, str, str]:
        """Read a sign: how it is written, and the character or the category that it stands for."""
        found = _TOKEN.match(self.pattern, self.at)
        assert found is not None  # any character is one
        self.at = found.end()
        if code := found["code"]:
            return found[0], chr(int(code, 16)), ""
        if escape := found["escape"]:
            return found[0], _ESCAPES.get(escape, escape), ""
        return found[0], found["sign"] or "", found["category"] or ""

    def letters(self) -> CharacterSet:
        """Read a class in brackets."""
        self.at += 1
        is_negated = self.pattern[self.at] == "^"
        self.at += is_negated
        ranges: list[tuple[str, str]] = []
        categories: list[str] = []
        while self.pattern[self.at] != "]":
            _, first, category = self.member()
            if category:
                categories.append(category)
                continue
            last = first
            if self.pattern[self.at] == "-" and self.pattern[self.at + 1] != "]":
                self.at += 1
                _, last, _ = self.member()
            ranges.append((first, last))
        self.at += 1
        return CharacterSet(tuple(ranges), tuple(categories), is_negated, "i" in self.modes)


def _times(found: re.Match[str]) -> tuple[int, int | None]:
    """Return how often a quantifier repeats at least and at most; None is without end."""
    if sign := found["sign"]:
        return _SIGNS[sign]
    least = int(found["least"])
    if not found["comma"]:
        return least, least
    return least, int(found["most"]) if found["most"] else None


class Writer:
    """The steps of a pattern, written from its end to its beginning."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def add(self, step: Step) -> int:
        """Add an step; return its number. Raises TooManySteps."""
        if len(self.steps) == MOST_STEPS:
            raise TooManySteps(f"more than {MOST_STEPS} steps")
        self.steps.append(step)
        return len(self.steps) - 1

    def write(self, node: Node, then: int) -> int:
        """Write a part that goes on with an step; return the number of its first one."""
        match node.kind:
            case "letters":
                return self.add(Step((then,), letters=node.letters))
            case "holds":
                return self.add(Step((then,), holds=node.holds))
            case "any":
                starts = tuple(self.write(part, then) for part in node.parts)
                return self.add(Step(starts))
            case "group":
                end = self.add(Step((then,), slot=2 * node.number + 1))
                start = self.write(node.parts[0], end)
                return self.add(Step((start,), slot=2 * node.number))
            case "repeat":
                return self.repeat(node, then)
        for part in reversed(node.parts):
            then = self.write(part, then)
        return then

    def repeat(self, node: Node, then: int) -> int:
        """Write a part as often as it is repeated."""
        [inner] = node.parts
        start = then
        least = node.least
        if node.most is None:
            # at least one, then back; of a part that may be empty, as RE2 writes it, `(x+)?`
            start = self.loop(inner, then, node.is_greedy)
            if least == 0:
                return self.choose(start, then, node.is_greedy)
            least -= 1
        else:
            for _ in range(node.most - node.least):
                start = self.choose(self.write(inner, start), then, node.is_greedy)
        for _ in range(least):
            start = self.write(inner, start)
        return start

    def loop(self, inner: Node, then: int, is_greedy: bool) -> int:
        """Write a part that is repeated once or more."""
        back = self.add(Step(()))
        start = self.write(inner, back)
        to = (start, then) if is_greedy else (then, start)
        self.steps[back] = Step(to)
        return start

    def choose(self, start: int, then: int, is_greedy: bool) -> int:
        """Write the choice between a part and what follows it."""
        return self.add(Step((start, then) if is_greedy else (then, start)))


class Match:
    """A match, with the method and the sign that `re.Match` has for its extent and its groups."""

    def __init__(self, text: str, slots: dict[int, int]) -> None:
        self.text, self.slots = text, slots

    def __getitem__(self, group: int) -> str | None:
        if 2 * group + 1 not in self.slots:
            return None
        return self.text[self.slots[2 * group] : self.slots[2 * group + 1]]

    def start(self) -> int:
        """Return where the match begins."""
        return self.slots[0]

    def end(self) -> int:
        """Return where the match ends."""
        return self.slots[1]


Threads = dict[int, dict[int, int]]  # from each step to the places that its thread remembers


class Pattern:
    """A pattern, ready to be matched; it has what is used of a pattern that RE2 has compiled."""

    def __init__(self, pattern: str) -> None:
        reader = Reader(pattern)
        node = reader.read()
        if node.repeated > MOST_REPEATED:
            raise TooManySteps(f"a repetition of more than {MOST_REPEATED}")
        writer = Writer()
        self.end = writer.add(Step(()))
        self.start = writer.write(node, self.end)
        self.steps = writer.steps
        self.groups = reader.groups

    @property
    def programsize(self) -> int:
        """The number of steps of RE2 that take as long as these."""
        return len(self.steps) * COST

    def search(self, text: str) -> Match | None:
        """Return the first match in a text; None if there is none."""
        return next(self.finditer(text), None)

    def finditer(self, text: str) -> Iterator[Match]:
        """Yield the matches in a text, each behind the one before."""
        at = 0
        while at <= len(text) and (found := self.match_from(text, at)) is not None:
            yield found
            at = found.end() + (found.start() == found.end())

    def match_from(self, text: str, at: int) -> Match | None:
        """Return the first match that begins at a place or behind it."""
        found: Match | None = None
        threads: Threads = {}
        while True:
            if found is None:
                self.follow(self.start, {0: at}, text, at, threads)
            letter = text[at : at + 1]
            after: Threads = {}
            for number, slots in threads.items():
                if number == self.end:
                    found = Match(text, {**slots, 1: at})
                    break  # those behind it have less priority
                letters = self.steps[number].letters
                if letter and letters is not None and letter in letters:
                    self.follow(self.steps[number].to[0], slots, text, at + 1, after)
            at += 1
            threads = after
            if not letter or (found is not None and not threads):
                return found

    def follow(
        self, number: int, slots: dict[int, int], text: str, at: int, threads: Threads
    ) -> None:
        """Add the threads that an step leads to before the next character is taken, in the
        order of their priority, but for those that are there.
        """
        seen = threads
        to_visit = [(number, slots)]
        while to_visit:
            number, slots = to_visit.pop()
            if number in seen:
                continue
            step = self.steps[number]
            seen[number] = slots
            if step.letters is not None:
                continue
            if step.holds and not HOLDS[step.holds](text, at):
                continue
            if step.slot >= 0:
                slots = {**slots, step.slot: at}
            to_visit.extend((to, slots) for to in reversed(step.to))


HOLDS: dict[str, Callable[[str, int], bool]] = {
    r"\A": lambda text, at: at == 0,
    r"\z": lambda text, at: at == len(text),
    "^": lambda text, at: at == 0 or text[at - 1] == "\n",
    "$": lambda text, at: at == len(text) or text[at] == "\n",
}
