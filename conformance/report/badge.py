"""A badge: an SVG file that a README can show.

A badge of shields.io would need an endpoint on the web.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from conformance.report.source import Entry
from conformance.report.template import template

# white text can be read on each of them
COLOURS = {"right": "#1d7a46", "known": "#8a5a00", "wrong": "#b3261e", "none": "#56606d"}
LABEL = "RSP conformance"
CHARACTER = 7.1  # pixels of a character on the average; textLength makes it exact


def badge(entries: Iterable[Entry]) -> str:
    """Return a badge that says how many of the judged results pass.

    Unsupported and disputed results are not counted. The badge is red if there is a fail or an
    error that no known deviation explains, and brown if a known deviation explains all of them.
    """
    kinds = Counter(entry.kind for entry in entries)
    words = _words(kinds)
    sizes = [round(len(text) * CHARACTER) for text in (LABEL, words)]
    return template("badge.svg.j2").render(
        label=LABEL, words=words, sizes=sizes, colour=COLOURS[_tone(kinds)]
    )


def _judged(kinds: Mapping[str, int]) -> int:
    return kinds["pass"] + kinds["known"] + kinds["fail"] + kinds["error"]


def _words(kinds: Mapping[str, int]) -> str:
    if not _judged(kinds):
        return "nothing judged"
    words = f"{kinds['pass']:,} of {_judged(kinds):,} pass"
    if kinds["known"]:
        words += f", {kinds['known']:,} known"
    return words


def _tone(kinds: Mapping[str, int]) -> str:
    """Return the key of the colour."""
    if not _judged(kinds):
        return "none"
    if kinds["fail"] or kinds["error"]:
        return "wrong"
    if kinds["known"]:
        return "known"
    return "right"
