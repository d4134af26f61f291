"""A badge: an SVG of its own, which a README shows from a file. (shields.io would have to fetch an
endpoint from somewhere.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conformance.report.page import templates
from conformance.report.source import Entry

# white on each is read well
COLOURS = {"right": "#1d7a46", "known": "#8a5a00", "wrong": "#b3261e", "none": "#56606d"}


def badge(entries: Iterable[Entry]) -> str:
    """How many of the results that say something pass: unsupported and disputed ones are no fault,
    and not counted. Red is a fail or an error that no known deviation explains, brown one that it
    does.
    """
    kinds = Counter(entry.kind for entry in entries)
    wrong = kinds["fail"] + kinds["error"]
    judged = kinds["pass"] + kinds["known"] + wrong
    words = (
        f"{kinds['pass']:,} of {judged:,} pass"
        + (f", {kinds['known']:,} known" if kinds["known"] else "")
        if judged
        else "nothing judged"
    )
    tone = "none" if not judged else "wrong" if wrong else "known" if kinds["known"] else "right"
    # of a character, on the average; textLength makes it exact
    label, width = "RSP conformance", 7.1
    sizes = [round(len(text) * width) for text in (label, words)]
    return (
        templates()
        .get_template("badge.svg.j2")
        .render(label=label, words=words, sizes=sizes, colour=COLOURS[tone])
    )
