"""What fails have in common. The evidence is made by hand: windows [0, 10), [10, 20), … over `?x :p
?y`, and engines that lose one kind of element or report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest
from reports import QUERY, evidence, report, result

from conformance.verdict.common_traits import find_common_traits, list_question_traits
from conformance.verdict.place_traits import PLACE_TRAITS
from conformance.verdict.results import Result

SEMANTICS = {"closure": "[)"}
Times = Sequence[int]
# elements of some cases, each with one value of its own: at 1, 9, …
STREAMS: Sequence[Times] = (
    *((1, 9, 12), (2, 5, 19), (0, 9, 10, 15), (3, 4, 6, 19), (9, 18), (1, 2, 3, 9)),
    *((1, 5, 12), (2, 5, 18), (0, 8, 11, 15), (3, 4, 6, 17), (7, 18), (1, 2, 3, 8)),
)


def windows_of(times: Times) -> dict[int, list[int]]:
    """The places of the elements of each window, by its opening."""
    openings = range(0, max(times) + 10, 10)
    held = {o: [k for k, at in enumerate(times) if o <= at < o + 10] for o in openings}
    return {opening: places for opening, places in held.items() if places}


def judged(times: Times, is_lost: Callable[[int, Times], bool], number: int, **more) -> Result:
    """The result of an engine that loses elements: `is_lost` is given a place and the times."""
    due, given = [], []
    first_lost = None
    for opening, places in windows_of(times).items():
        due.append(report(*map(str, places), window=[opening, opening + 10]))
        kept = [place for place in places if not is_lost(place, times)]
        given.append(report(*map(str, kept)))
        if kept != places and first_lost is None:
            first_lost = len(due) - 1, next(place for place in places if place not in kept)
    elements = [
        {"stream": "s", "at": at, "graph": f'<urn:a> <urn:p> "{place}" .\n'}
        for place, at in enumerate(times)
    ]
    shown = {"elements": elements, "elements_total": len(times), "semantics": SEMANTICS, **more}
    if first_lost is None:
        return result(case=f"WIN-2-{number}", evidence=evidence(given, due, **shown))
    index, place = first_lost
    row = report(str(place))["rows"][0]
    shown["diverges"] = index
    shown["rests_on"] = {"row": row, "is_lacking": True, "elements": [place]}
    return result(case=f"WIN-2-{number}", outcome="fail", evidence=evidence(given, due, **shown))


def traits_of(found: Iterable[Result]) -> list[str]:
    """The first trait of the fails among some results, without its numbers."""
    found = list(found)
    fails = [one for one in found if one.outcome == "fail"]
    return [trait.text for trait in find_common_traits(fails, found)]


def test_an_engine_that_loses_the_last_instant_is_told_so():
    found = [
        judged(times, lambda place, at: at[place] % 10 == 9, number)
        for number, times in enumerate(STREAMS)
    ]
    assert traits_of(found) == ["lack a row that rests on the last instant of its window"]


def test_an_engine_that_loses_what_follows_a_gap_is_told_so():
    streams = [(1, 2, at, at + 1) for at in range(15, 35, 3)] + list(STREAMS)
    found = [
        judged(times, lambda place, at: place > 0 and at[place] - at[place - 1] > 10, number)
        for number, times in enumerate(streams)
    ]
    after_gap = "lack a row that rests on the first element after a gap longer than the window"
    assert traits_of(found)[0] in (after_gap, "have a gap longer than the window")


def test_what_chance_explains_is_no_trait():
    # In every window of one element a lost row rests on its first and its last instant: nothing
    # tells these fails from the passes but that they fail.
    found = [
        judged((9 + 10 * number,), lambda _, at: at[0] % 20 == 9, number) for number in range(12)
    ]
    assert traits_of(found) == ["have an empty report where rows are due"]


def test_a_construct_that_fails_alone_is_a_trait():
    query = QUERY.replace("?y }", "?y OPTIONAL { ?x :q ?z } }")
    passes = [judged(times, lambda *_: False, number) for number, times in enumerate(STREAMS)]
    lost = [
        judged((3, 5, 7), lambda place, _: place == 1, 100 + number, query=query)
        for number in range(4)
    ]
    assert traits_of([*passes, *lost])[0] in (
        "have OPTIONAL in the query",
        "lack a row that rests on an older element of the window",
    )
    assert "have OPTIONAL in the query" in list_question_traits(lost[0].evidence)


@pytest.mark.parametrize(
    ("text", "actual"),
    [
        ("have no report at all", []),
        ("lack the first report, and all others are right", [("2",), (), ("3",)]),
        ("lack the last report, and all others are right", [("1",), ("2",), ()]),
        ("lack one report between others, which are right", [("1",), (), ("3",)]),
        ("lack the empty reports", [("1",), ("2",), ("3",)]),
        ("have one report too many", [("1",), ("2",), (), ("3",), ("4",)]),
        ("have reports that repeat the one before", [("1",), ("1",), ("2",), (), ("3",)]),
        ("have the right reports in another order", [("2",), ("1",), (), ("3",)]),
        ("have the right rows in a wrong number", [("1", "1"), ("2",), (), ("3",)]),
        ("have an empty report where rows are due", [(), ("2",), (), ("3",)]),
    ],
)
def test_a_trait_of_the_reports_is_shown(text, actual):
    due = [("1",), ("2",), (), ("3",)]
    found = evidence(
        [report(*rows) for rows in actual], [report(*rows) for rows in due], diverges=0
    )
    from conformance.verdict.place_traits import read_fail

    assert PLACE_TRAITS[text].is_shown(read_fail(found))
    right = evidence([report(*rows) for rows in due], [report(*rows) for rows in due])
    assert not PLACE_TRAITS[text].is_shown(read_fail(right))


@pytest.mark.parametrize(
    ("query", "trait"),
    [
        ("SELECT DISTINCT ?x { ?x :p ?y }", "have DISTINCT in the query"),
        ("SELECT ?x { ?x :p ?y FILTER(STRLEN(?y) > 2) }", "have STRLEN in the query"),
        ("SELECT ?x { ?x :p/:q ?y }", "have a property path in the query"),
        ("SELECT ?x { ?x :p ?y . ?y :q ?z }", "join several triple patterns"),
        (
            '{"body": "SELECT ?x { ?x :p ?y } ORDER BY ?x", "windows": []}',
            "have ORDER in the query",
        ),
    ],
)
def test_a_construct_of_the_query_is_found(query, trait):
    assert trait in list_question_traits(evidence([], [], query=query))
    assert trait not in list_question_traits(evidence([], [], query=QUERY))


def test_words_in_literals_and_names_are_no_constructs():
    query = 'SELECT ?OPTIONAL { ?OPTIONAL <urn:UNION> "MINUS" } # FILTER'
    found = list_question_traits(evidence([], [], query=query))
    assert not {"OPTIONAL", "UNION", "MINUS", "FILTER"} & {text.split()[1] for text in found}


def test_the_shape_of_windows_and_streams_is_found():
    windows = [{"stream": "s", "kind": "time", "size": 10, "slide": 4}]
    elements = [
        {"stream": "s", "at": at, "graph": f'<urn:a> <urn:p> "{value}"@en .\n'}
        for at, value in ((-1, 1), (5, 2), (5, 1), (40, 3))
    ]
    found = list_question_traits(evidence([], [], windows=windows, elements=elements))
    assert {
        "have windows that overlap",
        "have a size that is no multiple of the slide",
        "have two elements at one instant",
        "have triples that come again",
        "have a gap longer than the window",
        "have a time before 0",
        "have a literal with a language",
    } <= found
    assert "have a late element" not in found and "have gaps between windows" not in found
