"""`python -m tools.first_look`: choose the cases of `--smoke`, a first look at an engine.

PROPERTIES says what a first look must have: what an engine of windows may get wrong in an ordinary
stream. A case has a property under what an engine claims, since that says which windows there are
and what is due. The choice is a dozen cases that have the most properties, found greedily, under
the claims of all engines that are registered here and under USUAL_CLAIMS. These count threefold,
since a first look is for engines of users, and so does LAST_INSTANT, since few cases have it. A
case that an engine was seen not to support counts for nothing there. Of two cases that add as much
the one that has more properties in all is taken, and then the one with the shorter stream.

The cases of the choice have `smoke = true` in their files, and UNMET lists what they lack. Left to
the whole corpus is what is rare in a stream (late elements, times before 0 or beyond 32 bits), and
what a body of SPARQL alone may get wrong. Engines without windows over time are left out.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path

from conformance import corpus
from conformance.corpus import Case
from conformance.corpus.detection import choose_assignment
from conformance.harness import engine_file
from conformance.harness.engine_file import Engine
from conformance.suite.exchange import asked_question, prepare_question
from conformance.suite.item import questions
from conformance.verdict.common_traits import list_question_traits
from conformance.verdict.evidence import evidence
from conformance.verdict.results import Outcome
from refengine.core import engine
from refengine.core.engine import Report
from refengine.core.query import WindowKind
from refengine.core.question import Question
from refengine.model.elements import Element, Row, Triple
from refengine.model.errors import RefengineError

PAGES = Path(__file__).resolve().parents[1] / "docs" / "engines"
AT_MOST = 12  # cases of a first look
REPORTS_BOUND = 200  # reports of one case that are looked at
USUAL_CLAIMS = ("csparql t0=0", "cqels t0=0")  # of an engine that is not registered
LAST_INSTANT = "an element at the last instant of a window whose slide does not divide its size"
FEW = 4  # elements, as many as an engine may be short of room for
Borders = tuple[int, int] | None
Need = tuple[str, str]  # an engine and a property


@dataclass(frozen=True)
class Asked:
    """A question as an engine is asked it, and the reports that are due under what it claims."""

    question: Question
    reports: Sequence[Report]

    @property
    def elements(self) -> list[Element]:
        """The elements of all streams."""
        return [element for stream in self.question.streams.values() for element in stream]

    @property
    def extent(self) -> tuple[int, int]:
        """Size and slide of the first window, if it is one over time; otherwise zeros."""
        window = self.question.query.windows[0]
        if window.kind is WindowKind.TIME and isinstance(window.slide, int):
            return window.size or 0, window.slide
        return 0, 0

    @property
    def contents(self) -> list[tuple[Borders, Sequence[Element]]]:
        """Borders and content of each window of the reports that have rows."""
        return [
            shown
            for report in self.reports
            if report.relation
            for shown in zip(report.windows, report.contents, strict=True)
        ]

    @property
    def placed(self) -> list[tuple[tuple[int, int], Element]]:
        """Each element of these windows, with the borders, where they have any."""
        return [
            (borders, element)
            for borders, content in self.contents
            if borders is not None
            for element in content
        ]


# ---- windows and reports


def _has_last_instant_of_window_of_no_multiple(asked: Asked) -> bool:
    size, slide = asked.extent
    is_no_multiple = 0 < slide < size and size % slide > 0
    return is_no_multiple and any(one.app == borders[1] - 1 for borders, one in asked.placed)


def _has_first_instant_of_later_window(asked: Asked) -> bool:
    first = min((one.app for one in asked.elements), default=0)
    return any(first < one.app == borders[0] for borders, one in asked.placed)


def _has_element_in_two_windows(asked: Asked) -> bool:
    windows: dict[Element, set[tuple[int, int]]] = defaultdict(set)
    for borders, element in asked.placed:
        windows[element].add(borders)
    return any(len(several) > 1 for several in windows.values())


def _has_element_between_windows(asked: Asked) -> bool:
    size, slide = asked.extent
    held = {one for report in asked.reports for content in report.contents for one in content}
    return 0 < size < slide and bool(asked.contents) and not held.issuperset(asked.elements)


def _has_element_at_close(asked: Asked) -> bool:
    closes = {borders[1] for borders, _ in asked.contents if borders is not None}
    return any(one.app in closes for one in asked.elements)


def _has_empty_window(asked: Asked) -> bool:
    opened = [report.window[0] for report in asked.reports if report.window]
    slide = asked.extent[1]
    is_passed_over = any(later - earlier > slide > 0 for earlier, later in pairwise(opened))
    is_shown = any(not report.contents[0] for report in asked.reports)
    return bool(asked.contents) and len(opened) > 1 and (is_passed_over or is_shown)


def _has_window_of_many(asked: Asked) -> bool:
    return any(len(content) >= FEW for _, content in asked.contents)


def _has_report_that_repeats(asked: Asked) -> bool:
    relations = [report.relation for report in asked.reports]
    return any(one and one == following for one, following in pairwise(relations))


def _has_row_that_comes_back(asked: Asked) -> bool:
    rows = [set(report.relation.rows) for report in asked.reports]
    gone: set[Row] = set()
    for earlier, later in pairwise(rows):
        gone |= earlier - later
        if gone & (later - earlier):
            return True
    return False


# ---- streams


def _has_first_element_after_gap(asked: Asked) -> bool:
    size, _ = asked.extent
    times = sorted({one.app for one in asked.elements})
    after = {later for earlier, later in pairwise(times) if later - earlier > size > 0}
    return any(one.app in after for _, content in asked.contents for one in content)


def _closes_two_windows_at_one_arrival(asked: Asked) -> bool:
    times = {one.app for one in asked.elements}
    triggers = Counter(report.trigger for report in asked.reports if report.relation)
    return any(triggers[time] > 1 for time in times)


def _has_two_elements_at_one_instant(asked: Asked) -> bool:
    return any(
        len(set(graphs)) > 1
        for _, content in asked.contents
        for graphs in _by_instant(content).values()
    )


def _by_instant(content: Iterable[Element]) -> dict[int, list[frozenset[Triple]]]:
    """Return the graphs of elements by their instants."""
    graphs: dict[int, list[frozenset[Triple]]] = defaultdict(list)
    for element in content:
        graphs[element.app].append(element.graph)
    return graphs


def _has_triple_twice_at_one_instant(asked: Asked) -> bool:
    return any(
        max(Counter(triple for graph in graphs for triple in graph).values(), default=0) > 1
        for _, content in asked.contents
        for graphs in _by_instant(content).values()
    )


def _instants_of_triples(content: Iterable[Element]) -> dict[Triple, set[int]]:
    """Return the instants of each triple of some elements."""
    instants: dict[Triple, set[int]] = defaultdict(set)
    for element in content:
        for triple in element.graph:
            instants[triple].add(element.app)
    return instants


def _has_triple_at_two_instants(asked: Asked) -> bool:
    return any(
        len(several) > 1
        for _, content in asked.contents
        for several in _instants_of_triples(content).values()
    )


def _has_triple_that_outlives_its_first(asked: Asked) -> bool:
    held: list[dict[Triple, set[int]]] = []
    for _, content in asked.contents:
        instants = _instants_of_triples(content)
        for triple, here in instants.items():
            if any(here < earlier[triple] for earlier in held if triple in earlier):
                return True
        held.append(instants)
    return False


def _has_element_of_several_triples(asked: Asked) -> bool:
    return any(len(one.graph) > 1 for _, content in asked.contents for one in content)


# ---- questions


def _joins(asked: Asked) -> bool:
    text = asked.question.query.body.text
    traits = list_question_traits(evidence(asked.question, (), None, None, text))
    return "join several triple patterns" in traits and bool(asked.contents)


def _has_two_streams(asked: Asked) -> bool:
    return bool(asked.contents) and len({one.stream for one in asked.question.query.windows}) > 1


def _has_two_windows_on_one_stream(asked: Asked) -> bool:
    streams = Counter(window.stream for window in asked.question.query.windows)
    return bool(asked.contents) and max(streams.values()) > 1


def _has_static_data(asked: Asked) -> bool:
    return bool(asked.contents) and bool(asked.question.static)


# Each text completes "a case with …". What is asked for counts only where rows are due.
PROPERTIES: Mapping[str, Callable[[Asked], bool]] = {
    LAST_INSTANT: _has_last_instant_of_window_of_no_multiple,
    "an element at the first instant of a window": _has_first_instant_of_later_window,
    "an element in two windows": _has_element_in_two_windows,
    "an element between two windows": _has_element_between_windows,
    "an element at the close of a window": _has_element_at_close,
    "a window without an element": _has_empty_window,
    "a window of four elements": _has_window_of_many,
    "a report that repeats the one before": _has_report_that_repeats,
    "a row that goes and comes back": _has_row_that_comes_back,
    "a gap longer than a window, and a row of the first element after it": (
        _has_first_element_after_gap
    ),
    "two windows that one element closes": _closes_two_windows_at_one_arrival,
    "two elements at one instant": _has_two_elements_at_one_instant,
    "a triple twice at one instant": _has_triple_twice_at_one_instant,
    "a triple at two instants of a window": _has_triple_at_two_instants,
    "a triple that is held when its first element has left": _has_triple_that_outlives_its_first,
    "an element of several triples": _has_element_of_several_triples,
    "a join of triple patterns": _joins,
    "two streams": _has_two_streams,
    "two windows on one stream": _has_two_windows_on_one_stream,
    "static data": _has_static_data,
}


# What no case of the choice has under a claim, though some case of the corpus has it.
UNMET: frozenset[Need] = frozenset(
    {
        ("cqels", "a triple at two instants of a window"),
        ("cqels", "an element at the first instant of a window"),
        ("cqels", "an element in two windows"),
        ("cqels t0=0", "a triple at two instants of a window"),
        ("csparql", "static data"),
        ("csparql", "two streams"),
        ("csparql", "two windows on one stream"),
    }
)


# ---- the choice


def list_claiming_engines() -> list[Engine]:
    """Return the registered engines that claim a semantics for windows over time, and an engine of
    a user that claims each of USUAL_CLAIMS.
    """
    engines = [
        *map(engine_file.engine, engine_file.names()),
        *(
            replace(engine_file.command("./harness", "table", claim), name=claim)
            for claim in USUAL_CLAIMS
        ),
    ]
    return [
        one
        for one in engines
        if "corpus" in one.suites and not one.is_configurable and WindowKind.TIME in one.kinds
    ]


def list_properties(tested: Engine, case: Case) -> frozenset[str]:
    """Return the properties of a case under what an engine claims; none if it cannot be asked."""
    try:
        prepare_question(tested, corpus.question_of(case), corpus.query_table(case))
        question = asked_question(tested, case)
        semantics = choose_assignment(question, tested.profile_for(question.query))
    except RefengineError:
        return frozenset()
    if semantics is None:
        return frozenset()
    reports = engine.evaluate(question.query, question.streams, semantics, static=question.static)
    try:
        asked = Asked(question, tuple(islice(reports, REPORTS_BOUND)))
    except RefengineError:
        return frozenset()
    return frozenset(text for text, has in PROPERTIES.items() if has(asked))


def list_needs(engines: Iterable[Engine], cases: Iterable[Case]) -> dict[str, frozenset[Need]]:
    """Return what each case has: the properties under the claims of engines."""
    claiming = list(engines)
    return {
        case.id: frozenset(
            (tested.name, text) for tested in claiming for text in list_properties(tested, case)
        )
        for case in cases
    }


def choose_cases(needs: Mapping[str, frozenset[Need]], at_most: int) -> list[str]:
    """Return at most so many cases that have the most needs, as found greedily: each is the one
    that adds most. Then each is replaced by a better one, as long as there is one.

    >>> needs = {case: frozenset(("e", text) for text in case) for case in ("abc", "abd", "ce")}
    >>> choose_cases(needs, 2)
    ['abd', 'ce']
    """
    chosen: list[str] = []
    while len(chosen) < min(at_most, len(needs)):
        chosen.append(_best_beside(chosen, needs))
    before: list[str] = []
    while before != chosen:
        before = list(chosen)
        for case in before:
            rest = [other for other in chosen if other != case]
            best = _best_beside(rest, needs)
            if _rank([*rest, best], needs) > _rank(chosen, needs):
                chosen = [*rest, best]
    return sorted(chosen)


def _best_beside(chosen: Sequence[str], needs: Mapping[str, frozenset[Need]]) -> str:
    """Return the case that adds most to those chosen."""
    others = [case for case in needs if case not in chosen]
    return max(others, key=lambda case: _rank([*chosen, case], needs))


def _rank(chosen: Sequence[str], needs: Mapping[str, frozenset[Need]]) -> tuple[int, int]:
    """Return how many needs some cases have together, where some count threefold, and then how many
    each has.
    """
    had = [needs[case] for case in chosen]
    together = frozenset[Need]().union(*had)
    threefold = sum(claim in USUAL_CLAIMS or text == LAST_INSTANT for claim, text in together)
    return len(together) + 2 * threefold, sum(map(len, had))


def without_unsupported(needs: Mapping[str, frozenset[Need]]) -> dict[str, frozenset[Need]]:
    """Return the needs of cases, but for engines whose page says "unsupported" of a case."""
    refused = {
        (path.stem, case)
        for path in PAGES.glob("*.json")
        for case, (_, outcome) in json.loads(path.read_bytes())["cases"].items()
        if outcome == Outcome.UNSUPPORTED
    }
    return {
        case: frozenset(need for need in had if (need[0], case) not in refused)
        for case, had in needs.items()
    }


def _length_in_time(case: Case) -> int:
    """Return how long the streams of a case last."""
    times = [one.app for stream in corpus.streams_of(case).values() for one in stream]
    return max(times, default=0) - min(times, default=0)


def describe_choice(chosen: Collection[str], needs: Mapping[str, frozenset[Need]]) -> Iterator[str]:
    """Yield the chosen cases, each with the properties that it has under some claim."""
    for case in sorted(chosen):
        yield case
        yield from (f"  {text}" for text in sorted({text for _, text in needs[case]}))


def main() -> None:
    """Print the choice, what it lacks, and which of its cases are not marked in their files."""
    cases = sorted(questions(), key=lambda case: (_length_in_time(case), case.id))
    needs = list_needs(list_claiming_engines(), cases)
    chosen = choose_cases(without_unsupported(needs), AT_MOST)
    print("\n".join(describe_choice(chosen, needs)))
    had = frozenset[Need]().union(*(needs[case] for case in chosen))
    lacking = frozenset[Need]().union(*needs.values()) - had
    marked = {case.id for case in cases if case.table.get("smoke")}
    told = {"lacking": sorted(lacking), "to mark": sorted({*chosen} - marked)}
    print(json.dumps({**told, "to unmark": sorted(marked - {*chosen})}, indent=1))


if __name__ == "__main__":
    main()
