"""A fail as its evidence shows it, and the traits of the place where its reports first diverge:
what is lacking or too many there, and on which elements it rests.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from refengine.core.values import Closure
from refengine.core.window import borders

Report = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class FailReading:
    """What the evidence of a fail says at the `place` of a report that is due: that of the first
    divergence. Rows are compared as JSON, so 1 and 1.0 differ. A pass is read in the same way: it
    has no row that is lacking or too many.
    """

    evidence: Mapping[str, Any]
    place: int

    @cached_property
    def due(self) -> list[str]:
        """The rows of each report that is due, as sorted text."""
        return [_rows_as_text(report) for report in self.evidence["expected"]]

    @cached_property
    def given(self) -> list[str]:
        """The rows of each report of the engine, as sorted text."""
        return [_rows_as_text(report) for report in self.evidence["actual"]]

    def at_each_report(self) -> Iterator[FailReading]:
        """Yield the same evidence, read at each report that is due."""
        for place in range(len(self.evidence["expected"])):
            yield replace(self, place=place)

    def due_rows(self, place: int) -> Counter[str]:
        """Return the rows of a report that is due, counted; none if there is no such report."""
        expected: Sequence[Report] = self.evidence["expected"]
        return _count_rows(expected[place]) if 0 <= place < len(expected) else Counter()

    @cached_property
    def given_rows(self) -> Counter[str] | None:
        """The rows of the engine's report at the place, counted; None if it gave none there."""
        actual: Sequence[Report] = self.evidence["actual"]
        place = self.place - self.evidence.get("before", 0)
        return _count_rows(actual[place]) if 0 <= place < len(actual) else None

    @property
    def elements(self) -> Sequence[Mapping[str, Any]]:
        """The elements of all streams, in the order of the evidence."""
        elements: Sequence[Mapping[str, Any]] = self.evidence["elements"]
        return elements

    @cached_property
    def window(self) -> tuple[int, int] | None:
        """The first and the last instant of the window of the report that is due at the place. None
        if there is no such report, or its window has no borders.
        """
        expected: Sequence[Report] = self.evidence["expected"]
        closure = self.evidence.get("semantics", {}).get("closure")
        if self.place >= len(expected) or "window" not in expected[self.place]:
            return None
        if closure not in list(Closure):
            return None
        opening, closing = expected[self.place]["window"]
        low, high = borders(Closure(closure))
        return opening + low, closing + high

    @cached_property
    def content(self) -> list[int]:
        """The places of the elements whose instant is in the window, in the order of the
        evidence.
        """
        if self.window is None:
            return []
        first, last = self.window
        return [place for place, one in enumerate(self.elements) if first <= one["at"] <= last]

    @cached_property
    def origin(self) -> list[int]:
        """The places of the elements on which the first row rests that is lacking or too many."""
        places = self.evidence.get("rests_on", {}).get("elements", ())
        return [place for place in places if place < len(self.elements)]

    @property
    def lacks_row(self) -> bool:
        """Whether the evidence names a row that is lacking, and elements on which it rests."""
        return bool(self.origin) and bool(self.evidence["rests_on"]["is_lacking"])

    @property
    def has_surplus_row(self) -> bool:
        """Whether the evidence names a row that is too many, and elements on which it rests."""
        return bool(self.origin) and not self.evidence["rests_on"]["is_lacking"]

    @property
    def lacking_row(self) -> str:
        """The first row that is lacking, as text; empty if the evidence names none."""
        return _row_as_text(self.evidence["rests_on"]["row"]) if self.lacks_row else ""


def read_fail(evidence: Mapping[str, Any] | None) -> FailReading | None:
    """Return what evidence shows at the first divergence. None if it was cut, or names no reports
    that are due.
    """
    if evidence is None or evidence["cut"] or "expected" not in evidence:
        return None
    before = evidence.get("before", 0)
    # a file of results may state any number
    place = min(before + evidence.get("diverges", 0), len(evidence["expected"]))
    reading = FailReading(evidence, place)
    if before and reading.given == reading.due[before:]:
        return replace(reading, place=0)  # the recording begins too late
    return reading


def _rows_as_text(report: Report) -> str:
    """Return the rows of a report as text. Equal bags of rows give equal texts."""
    return json.dumps(sorted(map(_row_as_text, report["rows"])))


def _count_rows(report: Report) -> Counter[str]:
    """Return the rows of a report as texts, counted."""
    return Counter(map(_row_as_text, report["rows"]))


def _row_as_text(row: Mapping[str, Any]) -> str:
    """Return a row as text. Equal rows give equal texts."""
    return json.dumps(row, sort_keys=True)


EMPTY = "[]"  # the rows of an empty report as text


@dataclass(frozen=True)
class PlaceTrait:
    """A trait of a place. `is_shown` says whether a fail shows it. `share_in` says how many of the
    places of a question have it, whether or not they diverge; None if the question does not say. A
    trait that `is_general` is shown by fails of many causes.
    """

    is_shown: Callable[[FailReading], bool]
    share_in: Callable[[FailReading], float | None] = lambda _: None
    is_general: bool = False


# ---- rows that are lacking or too many, by the elements on which they rest

OfElement = Callable[[FailReading, int], bool]


def _lacks_row_on(is_on: OfElement) -> PlaceTrait:
    """Return the trait that a row is lacking which rests on a kind of element of the window."""
    return PlaceTrait(
        lambda fail: fail.lacks_row and any(is_on(fail, place) for place in fail.origin),
        lambda fail: _share_of_elements(fail, is_on),
    )


def _has_surplus_row_on(is_on: OfElement) -> PlaceTrait:
    """Return the trait that a row is too many which rests on a kind of element."""
    return PlaceTrait(
        lambda fail: fail.has_surplus_row and any(is_on(fail, place) for place in fail.origin)
    )


def _share_of_elements(fail: FailReading, is_on: OfElement) -> float | None:
    """Return the share of a kind of element among those of all windows that are due."""
    said = [is_on(one, place) for one in fail.at_each_report() for place in one.content]
    return sum(said) / len(said) if said else None


def _is_at(border: int, shift: int = 0) -> OfElement:
    """Return the question whether an element is so many instants after the first (0) or the last
    (-1) instant of the window.
    """

    def is_at(fail: FailReading, place: int) -> bool:
        if fail.window is None:
            return False
        return bool(fail.elements[place]["at"] == fail.window[border] + shift)

    return is_at


def _is_older(fail: FailReading, place: int) -> bool:
    return fail.window is not None and fail.elements[place]["at"] < fail.window[0]


def _is_newer(fail: FailReading, place: int) -> bool:
    return fail.window is not None and fail.elements[place]["at"] > fail.window[1]


def _is_after_gap(fail: FailReading, place: int) -> bool:
    """Whether no element came for longer than a window's size before an element."""
    earlier = _times_before(fail, place)
    size = fail.evidence["windows"][0].get("size")
    at: int = fail.elements[place]["at"]
    return bool(earlier) and isinstance(size, int) and at - max(earlier) > size


def _is_first(_: FailReading, place: int) -> bool:
    return place == 0


def _is_last(fail: FailReading, place: int) -> bool:
    return place == len(fail.elements) - 1


def _is_followed_at_its_instant(fail: FailReading, place: int) -> bool:
    return _has_equal("at", fail, place, fail.elements[place + 1 :])


def _follows_at_its_instant(fail: FailReading, place: int) -> bool:
    return _has_equal("at", fail, place, fail.elements[:place])


def _is_repeated(fail: FailReading, place: int) -> bool:
    return _has_equal("graph", fail, place, fail.elements[:place])


def _has_equal(
    key: str, fail: FailReading, place: int, others: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether one of some other elements has the instant, or the graph, of an element."""
    return any(one[key] == fail.elements[place][key] for one in others)


def _is_late(fail: FailReading, place: int) -> bool:
    earlier = _times_before(fail, place)
    return bool(earlier) and fail.elements[place]["at"] < max(earlier)


def _is_before_zero(fail: FailReading, place: int) -> bool:
    at: int = fail.elements[place]["at"]
    return at < 0


def _is_not_newest(fail: FailReading, place: int) -> bool:
    return any(other > place for other in fail.content)


def _times_before(fail: FailReading, place: int) -> list[int]:
    """Return the instants of the elements of the same stream that stand before an element."""
    stream = fail.elements[place]["stream"]
    return [one["at"] for one in fail.elements[:place] if one["stream"] == stream]


# ---- rows against those of other reports


def _lacks_row_of_earlier_report(fail: FailReading) -> bool:
    """Whether the row that is lacking was due in an earlier report, too."""
    return any(fail.lacking_row in fail.due_rows(place) for place in range(fail.place))


def _share_of_earlier_rows(fail: FailReading) -> float | None:
    """Return the share of the due rows that an earlier report has, too."""
    earlier: set[str] = set()
    said = []
    for place in range(len(fail.due)):
        rows = set(fail.due_rows(place))
        said += [row in earlier for row in rows]
        earlier |= rows
    return sum(said) / len(said) if said else None


def _has_surplus_row_of_previous(fail: FailReading) -> bool:
    """Whether a row that is too many was due in the report before."""
    surplus = _surplus(fail)
    return bool(surplus) and any(row in fail.due_rows(fail.place - 1) for row in surplus)


def _surplus(fail: FailReading) -> Counter[str]:
    """Return the rows that are too many at the divergence; none if there is no report."""
    given = fail.given_rows
    return Counter() if given is None else given - fail.due_rows(fail.place)


def _has_wrong_number_of_rows(fail: FailReading) -> bool:
    """Whether a report has the due rows, some of them in another number."""
    due, given = fail.due_rows(fail.place), fail.given_rows
    return given is not None and due != given and set(due) == set(given)


def _has_some_rows_alone(fail: FailReading) -> bool:
    """Whether a report has some of the due rows and no other."""
    due, given = fail.due_rows(fail.place), fail.given_rows
    return bool(given) and given is not None and given < due and set(given) != set(due)


def _is_empty_where_rows_are_due(fail: FailReading) -> bool:
    return fail.given_rows == Counter() and bool(fail.due_rows(fail.place))


# ---- all reports


def _lacks_first_report(fail: FailReading) -> bool:
    return len(fail.due) > 1 and fail.given == fail.due[1:]


def _lacks_last_report(fail: FailReading) -> bool:
    return len(fail.due) > 1 and fail.given == fail.due[:-1]


def _lacks_report_between(fail: FailReading) -> bool:
    due, given = fail.due, fail.given
    lost = (due[:place] + due[place + 1 :] for place in range(1, len(due) - 1))
    return len(due) == len(given) + 1 and any(one == given for one in lost)


def _has_report_too_many(fail: FailReading) -> bool:
    due, given = fail.due, fail.given
    without = (given[:place] + given[place + 1 :] for place in range(len(given)))
    return len(given) == len(due) + 1 and any(one == due for one in without)


def _has_other_order(fail: FailReading) -> bool:
    return fail.given != fail.due and sorted(fail.given) == sorted(fail.due)


def _repeats_reports(fail: FailReading) -> bool:
    """Whether the reports are the due ones but for some that repeat the one before."""
    is_longer = len(fail.given) > len(fail.due)
    return is_longer and _without_repetitions(fail.due) == _without_repetitions(fail.given)


def _lacks_repetitions(fail: FailReading) -> bool:
    """Whether the reports are the due ones without those that repeat the one before."""
    is_shorter = len(fail.given) < len(fail.due)
    return is_shorter and _without_repetitions(fail.due) == fail.given


def _without_repetitions(reports: Sequence[str]) -> list[str]:
    """Return reports without those that repeat the one before."""
    return [
        report for place, report in enumerate(reports) if place == 0 or report != reports[place - 1]
    ]


def _lacks_empty_reports(fail: FailReading) -> bool:
    filled = [report for report in fail.due if report != EMPTY]
    return len(filled) < len(fail.due) and filled == fail.given


def _adds_empty_reports(fail: FailReading) -> bool:
    filled = [report for report in fail.given if report != EMPTY]
    return len(filled) < len(fail.given) and filled == fail.due


def _states_other_windows(fail: FailReading) -> bool:
    """Whether all rows are right, so that the windows differ."""
    states = any("window" in report for report in fail.evidence["actual"])
    return states and fail.given == fail.due


def _share_of_one_report(fail: FailReading) -> float | None:
    return 1 / len(fail.due) if fail.due else None


# The more telling one of two traits that the same fails show comes first. Each text completes
# "26 of 28 …".
PLACE_TRAITS: Mapping[str, PlaceTrait] = {
    "have no report at all": PlaceTrait(lambda fail: bool(fail.due) and not fail.given),
    "lack the first report, and all others are right": PlaceTrait(_lacks_first_report),
    "lack the last report, and all others are right": PlaceTrait(_lacks_last_report),
    "lack one report between others, which are right": PlaceTrait(_lacks_report_between),
    "lack the reports that repeat the one before": PlaceTrait(_lacks_repetitions),
    "lack the empty reports": PlaceTrait(_lacks_empty_reports),
    "have empty reports that are not due": PlaceTrait(_adds_empty_reports),
    "have reports that repeat the one before": PlaceTrait(_repeats_reports),
    "have one report too many": PlaceTrait(_has_report_too_many),
    "have the right reports in another order": PlaceTrait(_has_other_order),
    "have right rows in windows that are stated wrongly": PlaceTrait(_states_other_windows),
    "have the right rows in a wrong number": PlaceTrait(_has_wrong_number_of_rows),
    "lack a row that an earlier report had": PlaceTrait(
        _lacks_row_of_earlier_report, _share_of_earlier_rows
    ),
    "have a row too many that the report before had": PlaceTrait(_has_surplus_row_of_previous),
    "lack a row that rests on the last instant of its window": _lacks_row_on(_is_at(-1)),
    "lack a row that rests on the first instant of its window": _lacks_row_on(_is_at(0)),
    "lack a row that rests on the first element after a gap longer than the window": (
        _lacks_row_on(_is_after_gap)
    ),
    "lack a row that rests on the first element of the stream": _lacks_row_on(_is_first),
    "lack a row that rests on the last element of the stream": _lacks_row_on(_is_last),
    "lack a row that rests on an element before another one at the same instant": (
        _lacks_row_on(_is_followed_at_its_instant)
    ),
    "lack a row that rests on an element after another one at the same instant": (
        _lacks_row_on(_follows_at_its_instant)
    ),
    "lack a row that rests on triples that came before": _lacks_row_on(_is_repeated),
    "lack a row that rests on a late element": _lacks_row_on(_is_late),
    "lack a row that rests on a time before 0": _lacks_row_on(_is_before_zero),
    "lack a row that rests on an older element of the window": _lacks_row_on(_is_not_newest),
    "have a row too many that rests on the instant after the window": (
        _has_surplus_row_on(_is_at(-1, shift=1))
    ),
    "have a row too many that rests on the instant before the window": (
        _has_surplus_row_on(_is_at(0, shift=-1))
    ),
    "have a row too many that rests on an element older than the window": (
        _has_surplus_row_on(_is_older)
    ),
    "have a row too many that rests on an element after the window": _has_surplus_row_on(_is_newer),
    "diverge at the first report": PlaceTrait(
        lambda fail: fail.place == 0, _share_of_one_report, is_general=True
    ),
    "diverge at the last report": PlaceTrait(
        lambda fail: fail.place >= len(fail.due) - 1, _share_of_one_report, is_general=True
    ),
    "have an empty report where rows are due": PlaceTrait(
        _is_empty_where_rows_are_due, is_general=True
    ),
    "have only some of the due rows in a report": PlaceTrait(_has_some_rows_alone, is_general=True),
}


def list_place_traits(fail: FailReading) -> list[str]:
    """Return the traits that a fail shows."""
    return [text for text, trait in PLACE_TRAITS.items() if trait.is_shown(fail)]
