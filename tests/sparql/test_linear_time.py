"""Regular expressions without RE2 (`refengine.sparql.linear_time`), held to RE2."""

from __future__ import annotations

import time
from typing import Any

import pytest
import re2
from hypothesis import assume, example, given
from hypothesis import strategies as st

from refengine.model.errors import NoSingleAnswer
from refengine.sparql import regex
from refengine.sparql.functions import replace_matches
from refengine.sparql.linear_time import Pattern, TooManySteps, same_letters
from refengine.sparql.regex import BadPattern, Translator, has_open_capture

LETTERS = "abkKs\u017f\u212a\nßẞéÉΣ\u03c3ς1-_. "
ATOMS = [
    *(
        *"abkKs\u017f\u212aßẞéÉΣ\u03c3ς1",
        "\\n",
        "\\.",
        ".",
        "^",
        "$",
        "\\s",
        "\\S",
        "\\d",
        "\\w",
        "\\W",
        "\\p{Lu}",
    ),
    *("\\P{Ll}", "[ab]", "[^ab]", "[a-k]", "[^K]", "[\\dk]", "[Σ]", "[s-]", "[^\\s]", "[.]", "\\i"),
]
QUANTIFIERS = ["", "", "", "?", "*", "+", "{2}", "{0}", "{1,}", "{0,2}", "{2,3}", "??", "*?", "+?"]


def repeated(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds("".join, st.lists(st.builds(str.__add__, atoms, st.sampled_from(QUANTIFIERS))))


PATTERNS = st.recursive(
    repeated(st.sampled_from(ATOMS)),
    lambda inner: st.one_of(
        repeated(inner.map("({})".format)), st.builds("{}|{}".format, inner, inner)
    ),
    max_leaves=6,
)


def translated(pattern: str, flags: str) -> str:
    """Return a pattern as both are given it; reject one that the evaluator refuses."""
    try:
        return Translator(pattern, flags).translate()
    except (BadPattern, NoSingleAnswer):
        assume(False)
        raise


def matches(matcher: Any, text: str, groups: int) -> list[list[str | None]]:
    """Return the first match and, if it has an extent, those behind it: the texts before it, and of
    its groups.
    """
    found = []
    for match in matcher.finditer(text):
        found.append([text[: match.start()], *(match[group] for group in range(groups + 1))])
        if not match[0]:
            break  # REPLACE refuses it
    return found


@given(PATTERNS, st.sampled_from(["", "i", "s", "m", "im", "is"]), st.text(LETTERS, max_size=12))
@example("(|a)*", "", "aa")
@example("(|a)+", "", "aa")
@example("(a|ab)(c|bcd)(d*)", "", "abcd")
@example("(a*)(b|ab)*?$", "", "aabab")
@example("^a", "m", "b\na")
@example("[^k]", "i", "K")
def test_matches_are_those_of_re2(pattern: str, flags: str, text: str) -> None:
    written = translated(pattern, flags)
    options = re2.Options()
    options.log_errors = False
    theirs = re2.compile(written, options)
    ours = Pattern(written)
    assert ours.groups == theirs.groups
    groups = 0 if has_open_capture(pattern, flags) else ours.groups
    assert matches(ours, text, groups) == matches(theirs, text, groups)


def test_cases_are_those_of_re2() -> None:
    """But for letters that only Python's Unicode has, or only RE2's: there is no such letter."""
    options = re2.Options()
    options.log_errors = False
    for code in [*range(0x20, 0x600), *range(0x1C80, 0x1CC0), *range(0x1E00, 0x2200)]:
        letter = chr(code)
        if letter in regex.UNEVEN_PAIRS or not letter.isprintable():
            continue  # refused under the flag i
        pattern = re2.compile(f"(?i:\\x{{{code:X}}})", options)
        for other in {*same_letters(letter), letter.lower(), letter.upper(), letter.title()}:
            if len(other) == 1:
                is_same = pattern.fullmatch(other) is not None
                assert (other in same_letters(letter)) is is_same, (letter, other)


@pytest.mark.parametrize("pattern", ["((a{100}){100}){2}", "(a{1000}){2}", "([ab]{900}){900}"])
def test_what_is_too_large_for_re2_is_refused(pattern: str) -> None:
    with pytest.raises(re2.error):
        re2.compile(Translator(pattern, "").translate())
    with pytest.raises(TooManySteps):
        Pattern(Translator(pattern, "").translate())


def test_no_pattern_takes_more_than_linear_time() -> None:
    """By backtracking the first takes 2³⁰ steps, and the second 10³ for each character."""
    begun = time.process_time()
    assert Pattern("(a*)*b").search("a" * 30 + "c" * 30) is None
    assert Pattern("a?" * 25 + "a" * 25).search("a" * 25) is not None
    assert time.process_time() - begun < 5


def test_the_evaluator_goes_without_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    """By F&O §7.6.3: fn:replace("abracadabra", "a(.)", "a$1$1") is "abbraccaddabbra"."""
    monkeypatch.setattr(regex, "re2", None)
    regex.compile_pattern.cache_clear()
    try:
        made = replace_matches('"abracadabra"', '"a(.)"', '"a$1$1"')
    finally:
        regex.compile_pattern.cache_clear()
    assert getattr(made, "lexical", made) == "abbraccaddabbra" or '"abbraccaddabbra"' in str(made)
