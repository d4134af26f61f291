"""REGEX and REPLACE (SPARQL 1.1 §17.4.3.14, §17.4.3.15), with what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from refengine.model.elements import Term
from refengine.model.errors import NoSingleAnswer
from refengine.sparql.functions.terms import simple, string
from refengine.sparql.regex import check_text, compile_pattern, has_open_capture, replacement
from refengine.sparql.values import ERROR, Result, boolean, check_string_length, text

MATCH_PER_STEP = 5_000  # characters times instructions of a pattern that one step pays for
# characters behind a match that one step pays for: each further match may scan them all
SCAN_PER_STEP = 500


def spend_nothing(steps: int) -> None:
    """Count no steps."""


def find_match(
    term: Term, pattern: Term, flags: Term = '""', spend: Callable[[int], None] = spend_nothing
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
        check_string_length(length)
        made += [characters[end : match.start()], *written]
        end = match.end()
    return "".join(made) + characters[end:]
