"""The shape of a case that fails: what two small cases have in common that show one defect, and
what two large ones have in common that probably do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from conformance.campaigns.asking import CaseVerdict
from conformance.verdict import window_elements
from refengine.core.query import Query, Window, WindowKind
from refengine.core.window import key
from refengine.model.elements import Element
from refengine.model.errors import RefengineError


def kind_of_fail(verdict: CaseVerdict) -> str:
    """Return what a fail has in common with many others: the symptom, the known deviations, the
    kinds of the windows with how slide and size compare, whether elements come late, and the form
    of the body. It is compared before cases are made small.
    """
    known = " and ".join(one.reason for one in verdict.known)
    query = verdict.case.query
    parts = [verdict.symptom, known, *map(_window_words, query.windows), str(query.r2s or "")]
    elements = [one for _, one in verdict.case.elements]
    if any(other.app < one.app for one, other in pairwise(elements)):
        parts.append("late")
    if not verdict.case.is_of_windows:
        parts.append(_body_words(query))
    return "; ".join(filter(None, parts))


def shape_of(verdict: CaseVerdict) -> str:
    """Return the shape of a small case: its kind, and where its elements are."""
    query = verdict.case.query
    elements = [one for _, one in verdict.case.elements]
    places = _places(query.windows[0], elements)
    return "; ".join([kind_of_fail(verdict), f"{len(elements)} elements", *places])


def _window_words(window: Window) -> str:
    """Write the kind of a window, and what it has beside size and slide."""
    words = [str(window.kind)]
    if window.slide is not None and window.size is not None:
        size, slide = window.size, window.slide
        if slide > size:
            words.append("with gaps")
        elif slide < size:
            words.append("overlapping" if size % slide == 0 else "overlapping unevenly")
    if window.by:
        words.append("with keys")
    if window.lag:
        words.append("with a lag")
    return " ".join(words)


def _body_words(query: Query) -> str:
    """Write what of SPARQL a body uses, by its keywords."""
    words = {word.upper() for word in re.findall(r"[A-Za-z]{3,}", query.body.text)}
    return " ".join(sorted(words & KEYWORDS))


KEYWORDS = frozenset(
    {"ASK", "AVG", "BIND", "CONSTRUCT", "COUNT", "DISTINCT", "EXISTS", "FILTER", "GROUP"}
    | {"HAVING", "LIMIT", "MAX", "MIN", "MINUS", "OPTIONAL", "ORDER", "REGEX", "SAMPLE"}
    | {"SUM", "UNION", "VALUES"}
)


def _places(window: Window, elements: Sequence[Element]) -> Iterator[str]:
    """Yield where each element comes: beside the border of a window, compared with the element
    before it, and with which key.
    """
    before: Element | None = None
    keys: list[object] = []
    for element in elements:
        words = [_beside_border(window, element)]
        if before is not None:
            words.append(_beside_element(window, element.app - before.app))
        if window.by:
            own = _key(window, element)
            keys += [] if own in keys else [own]
            words.append(f"key {keys.index(own)}")
        if element.end is not None:
            words.append("lasting")
        yield " ".join(words)
        before = element


def _beside_border(window: Window, element: Element) -> str:
    """Say whether an element is on a multiple of the slide, on the instant before one, or
    neither.
    """
    place = "before time 0 " if element.app < 0 else ""
    if not window.slide or window.kind is WindowKind.TUPLE:
        return place + "somewhere"
    rest = element.app % window.slide
    if rest == 0:
        return place + "on a border"
    return place + ("before a border" if rest == window.slide - 1 else "inside")


def _beside_element(window: Window, gap: int) -> str:
    """Say how far an element is from the one before it."""
    if gap < 0:
        return "late"
    if gap == 0:
        return "together"
    if window.kind is WindowKind.SESSION and window.size is not None:
        return "within the gap" if gap < window.size else "the gap or more"
    reach = (window.size or 0) + (window.slide or 0)
    return "far later" if gap > reach else "later"


def _key(window: Window, element: Element) -> object:
    """Return the key of an element; None if it has none."""
    found = window_elements.number_and_key(element)
    if found is not None:
        return found[1]
    try:
        return key(window, element, "element")
    except RefengineError:
        return None
