"""Traits of the place where the reports of a fail first diverge: what is lacking or too many there,
and on which elements it rests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from conformance.verdict.fail_reading import FailReading

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


def _is_at_last_instant(fail: FailReading, place: int) -> bool:
    return fail.window is not None and fail.elements[place]["at"] == fail.window[1]


def _is_at_first_instant(fail: FailReading, place: int) -> bool:
    return fail.window is not None and fail.elements[place]["at"] == fail.window[0]


def _is_just_after(fail: FailReading, place: int) -> bool:
    return fail.window is not None and fail.elements[place]["at"] == fail.window[1] + 1


def _is_just_before(fail: FailReading, place: int) -> bool:
    return fail.window is not None and fail.elements[place]["at"] == fail.window[0] - 1


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
    at = fail.elements[place]["at"]
    return any(one["at"] == at for one in fail.elements[place + 1 :])


def _follows_at_its_instant(fail: FailReading, place: int) -> bool:
    at = fail.elements[place]["at"]
    return any(one["at"] == at for one in fail.elements[:place])


def _is_repeated(fail: FailReading, place: int) -> bool:
    graph = fail.elements[place]["graph"]
    return any(one["graph"] == graph for one in fail.elements[:place])


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
    "lack a row that rests on the last instant of its window": _lacks_row_on(_is_at_last_instant),
    "lack a row that rests on the first instant of its window": _lacks_row_on(_is_at_first_instant),
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
        _has_surplus_row_on(_is_just_after)
    ),
    "have a row too many that rests on the instant before the window": (
        _has_surplus_row_on(_is_just_before)
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
