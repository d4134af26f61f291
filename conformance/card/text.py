"""A card as text: for somebody who uses a library and knows nothing of this project, and, in full,
for the author of an engine.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from conformance.card.card import Asked, Card, CardSetting, Divergence, Standing
from conformance.card.inquiry import Fate
from conformance.card.questions import DAY
from conformance.card.words import STAMPS, Section, names_on, sentences_of
from refengine.model.messages import plain

MOST_REPORTS = 8  # of an answer that are written
INDENT = " " * 6
COLUMNS = 96
OTHERWISE = "Not what we would expect of its documentation"


def window_card_lines(card: Card) -> Iterator[str]:
    """Yield the lines of a card for somebody who uses the library."""
    yield plain(f"{card.title}: what its windows do")
    yield from textwrap.wrap(
        f"It was run on {len(card.asked)} small streams, just now. Below, an element (a row) is "
        "written as its time in milliseconds: 1d+3 is a day and 3. A window is written with its "
        "elements in the order of time. A border beside a square bracket belongs to the window, "
        "and one beside a round bracket does not.",
        COLUMNS,
    )
    usual = [_without_remark(one.words) for one in card.settings if one.is_usual]
    if usual:
        settings = ", ".join(dict.fromkeys(usual))
        yield from textwrap.wrap(
            f"It was run with {settings}, but for the setting that is named.", COLUMNS
        )
    for section in Section:
        lines = list(_section_lines(section, card))
        if lines:
            yield ""
            yield f"{section.heading.upper()}: {section.question}"
            yield from lines
    yield from _contradiction_lines(card)


def _section_lines(section: Section, card: Card) -> Iterator[str]:
    """Yield what a section says, the stream that shows it, and the settings that it is about."""
    shown = {name: value for name, value in names_on(card).items() if name in section.names}
    settings = [one for one in card.settings if _is_about(one, section)]
    texts = list(sentences_of(section, shown, card.answers_at_end))
    if section is Section.NAMES and card.stamp:
        texts = [STAMPS[card.stamp]]
    if not texts:
        return
    usual = [one.words for one in settings if one.is_usual]
    if usual:
        yield f"  {plain(usual[0])}"
    yield from _sentence_lines(texts)
    yield from _contradicting_lines(section, card)
    number = _number_of(section, card, settings)
    if number is None:
        return
    asked = card.asked[number]
    closure = card.field("closure").value
    yield f"{INDENT}{stream_text(asked)}"
    with_stamps = section is Section.NAMES
    yield from report_lines(asked, closure, with_stamps)
    for one in settings:
        if not one.is_usual and number in one.asked:
            yield from _setting_lines(section, one, number, closure, with_stamps)


def _sentence_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield sentences, folded."""
    for text in texts:
        yield from textwrap.wrap(
            f"{plain(text)}.", COLUMNS, initial_indent="    ", subsequent_indent="    "
        )


def _setting_lines(
    section: Section, setting: CardSetting, number: int, closure: str, with_stamps: bool
) -> Iterator[str]:
    """Yield what a setting makes of a stream; where its documentation says otherwise, the smallest
    stream that shows it.
    """
    yield f"  {plain(setting.words)}"
    closure = setting.observed.get("closure", closure)
    if setting.divergence is not None:
        said = f"{OTHERWISE}: “{plain(setting.sentence)}”"
        yield from _divergence_lines(setting.divergence, said, closure)
    else:
        texts = list(sentences_of(section, setting.observed))
        if with_stamps:
            texts = [STAMPS[setting.observed["stamp"]]]
        yield from _sentence_lines(texts)
        if with_stamps and setting.observed["stamp"] != setting.documented["stamp"]:
            yield f"    ! {OTHERWISE}: “{plain(setting.sentence)}”"
    if setting.divergence is None:
        yield f"{INDENT}{stream_text(setting.asked[number])}"
        yield from report_lines(setting.asked[number], closure, with_stamps)


def _without_remark(words: str) -> str:
    """Return the words of a setting without what stands after them.

    >>> _without_remark('closed="left", the default')
    'closed="left"'
    """
    return plain(words.removesuffix(", the default"))


def _divergence_lines(divergence: Divergence, said: str, closure: str) -> Iterator[str]:
    """Yield where an engine does otherwise than was said of it."""
    yield f"    ! {said}"
    yield f"{INDENT}{stream_text(divergence.asked)}"
    yield from report_lines(divergence.asked, closure)
    yield f"{INDENT}expected of it:"
    if divergence.due is None:
        yield f"{INDENT}  refused"
        return
    yield from report_lines(replace(divergence.asked, reports=divergence.due), closure)


def _is_about(setting: CardSetting, section: Section) -> bool:
    """Whether a setting is about a section's fields."""
    if section is Section.NAMES:
        return "stamp" in setting.documented
    return any(name in section.names for name in setting.documented)


def _number_of(section: Section, card: Card, settings: list[CardSetting]) -> int | None:
    """Return the number of the question that a section shows: the one to which most settings have
    an answer of their own, or else the one that shows its first field.
    """
    numbers = [
        one.shown_by
        for one in card.fields
        if one.name in section.names and one.shown_by is not None
    ]
    if section is Section.NAMES:
        numbers = [n for n, one in enumerate(card.asked) if one.reports]
    if not settings:
        return numbers[0] if numbers else None
    candidates = {number: None for one in settings for number in one.asked} or dict.fromkeys(
        numbers
    )
    counts = {
        number: len(
            {repr(one.asked[number].reports) for one in settings if number in one.asked}
            | {repr(card.asked[number].reports)}
        )
        for number in candidates
    }
    return max(counts, key=lambda number: counts[number], default=None)


def _contradicting_lines(section: Section, card: Card) -> Iterator[str]:
    """Yield where the documentation says otherwise than what was observed."""
    for one in card.fields:
        if one.name in section.names and one.standing is Standing.CONTRADICTING:
            said = next(
                (
                    f"{OTHERWISE}: “{plain(s.sentence)}”"
                    for s in card.settings
                    if s.is_usual and one.name in s.documented
                ),
                f"Not what its file claims: {plain(one.name)} = {plain(one.documented or '')}",
            )
            if card.divergence is not None:
                yield from _divergence_lines(card.divergence, said, card.field("closure").value)
            return


def _contradiction_lines(card: Card) -> Iterator[str]:
    """Yield the streams to which no semantics that was thought of gives the answer."""
    if card.contradictions:
        yield ""
        yield "UNEXPLAINED: no rule for windows that is known here gives these answers. What stands"
        yield "  above is nearest to them, and may be wrong."
    for number in card.contradictions:
        yield f"{INDENT}{stream_text(card.asked[number])}"
        yield from report_lines(card.asked[number], card.field("closure").value)


def stream_text(asked: Asked) -> str:
    """Write the stream of a question, and its windows.

    >>> stream_text(Asked({"kind": "time", "size": 10, "slide": 5}, ({"at": 3},), Fate.ANSWERED))
    'elements at 3; windows of 10, every 5'
    """
    times = ", ".join(_element_text(one) for one in asked.elements)
    window = asked.window
    size, slide = window["size"], window.get("slide")
    if window["kind"] == "session":
        return f"elements at {times}; sessions with a gap of {size}"
    every = "" if slide in (None, size) else f", every {slide}"
    return f"elements at {times}; windows of {size}{every}"


def _element_text(element: Mapping[str, Any]) -> str:
    """Write an element: its time, and its key."""
    key = f" ({element['key']})" if "key" in element else ""
    return f"{time_text(element['at'])}{key}"


def time_text(at: int) -> str:
    """Write a time, in days and the rest if it is long.

    >>> time_text(86_400_003), time_text(86_399_999), time_text(-4)
    ('1d+3', '1d-1', '-4')
    """
    days = round(at / DAY)
    if not days:
        return str(at)
    rest = at - days * DAY
    return f"{days}d{rest:+}" if rest else f"{days}d"


def report_lines(asked: Asked, closure: str, with_stamps: bool = False) -> Iterator[str]:
    """Yield the reports that an engine answered, a line each."""
    if asked.fate is not Fate.ANSWERED:
        word = "refused" if asked.fate is Fate.REFUSED else "it broke down"
        yield f"{INDENT}  {word}: {plain(asked.reason)}"
        return
    if not asked.reports:
        yield f"{INDENT}  no window"
    for report in asked.reports[:MOST_REPORTS]:
        yield f"{INDENT}  {_report_text(report, asked, closure, with_stamps)}"
    if len(asked.reports) > MOST_REPORTS:
        yield f"{INDENT}  … and {len(asked.reports) - MOST_REPORTS} more"


def _report_text(report: Mapping[str, Any], asked: Asked, closure: str, with_stamps: bool) -> str:
    """Write a report: its window, its name if that is asked for, and what it holds."""
    text = ""
    if report.get("window"):
        opens, closes = map(time_text, report["window"])
        brackets = closure if closure != "none" else "[]"
        text = f"{brackets[0]}{opens}, {closes}{brackets[1]}"
    if with_stamps:
        text += f" named {time_text(report['instant'])}"
    held = _held_text(report, asked)
    return f"{'takes back ' if report.get('takes_back') else ''}{text}{': ' if text else ''}{held}"


def _held_text(report: Mapping[str, Any], asked: Asked) -> str:
    """Write what a report holds: the times of its elements, or its rows."""
    if "rows" in report:
        return ", ".join(map(plain, report["rows"])) or "empty"
    sentinels = sum(number >= len(asked.elements) for number in report["elements"])
    own = [asked.elements[n] for n in report["elements"] if n < len(asked.elements)]
    own.sort(key=lambda element: element["at"])
    texts = [*map(_element_text, own), *(["what the suite sent later"] if sentinels else [])]
    return ", ".join(texts) or "empty"
