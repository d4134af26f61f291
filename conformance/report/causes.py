"""What the diagnosis of each engine has found, as a page shows it: the causes of its fails, and
what no cause explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from conformance.report import texts
from conformance.report.headings import heading_of
from conformance.report.matrix import link_to_list, link_to_result
from conformance.report.source import Entry, by_engine
from conformance.verdict.results import DiagnosedCause
from conformance.verdict.rules import is_of_engines, smallest_case

REASON = 300  # characters of the reason of a cause
ENTRY = 12_000  # characters of the text of an entry for an engine's file
CAUSES = 20  # causes of an engine, at most
NO_CAUSE = "none"  # stands in a link for the fails that nothing explains


class CaseGroup(NamedTuple):
    """The fails of an engine that a cause explains, or those that no cause explains.

    There are `number` of them. `case` is the smallest of them, and `case_link` leads to it; `link`
    leads to all of them.
    """

    number: int
    case: str
    case_link: str
    link: str


class FailsOfCause(NamedTuple):
    """The fails of an engine that a cause explains: its name as the list has it, the entry that
    states it in the engine's file, how many passes would fail under it, the rules that are broken
    by it, and the results.
    """

    name: str
    entry: str
    against: int
    rules: set[str]
    entries: list[Entry]

    def words_for_rules(self, most: int) -> str:
        """Write the rules in at most so many characters."""
        return texts.clean(", ".join(sorted(self.rules)), most)


class CauseOfCases(NamedTuple):
    """A cause, with the rules that the engine breaks by it, the entry that states it in the
    engine's file, and the fails that it explains.
    """

    reason: str
    rules: str
    entry: str
    fails: CaseGroup


class EngineDiagnosis(NamedTuple):
    """The diagnosis of an engine: how many fails it is about, the causes, those that explain most
    in front, how many causes are left out, and the fails that are left unexplained.
    """

    engine: str
    total: int
    causes: list[CauseOfCases]
    more: int
    unexplained: CaseGroup | None


def diagnoses(entries: Iterable[Entry]) -> Iterator[EngineDiagnosis]:
    """Yield the diagnosis of each engine with fails that no known deviation explains. Engines are
    left out whose results were never looked at together: no wrong engine was found that a case of
    theirs would catch, and no cause either.
    """
    for engine, of_engine in by_engine(entries).items():
        results = [entry.result for entry in of_engine]
        is_finished = any(result.caught_wrong_engine or result.causes for result in results)
        fails = [
            entry
            for entry in of_engine
            if entry.result.is_fail_without_known_deviation and entry.result.rule
        ]
        if fails and is_finished:
            yield _diagnosis(engine, fails)


def name_of(cause: DiagnosedCause) -> str:
    """Return what a cause says of the engine, as the list has it."""
    return texts.clean(heading_of(cause.reason), REASON)


def fails_by_cause(fails: Iterable[Entry]) -> list[FailsOfCause]:
    """Return the causes of some fails of an engine, each with the fails that it explains, those
    that explain most first.
    """
    found: dict[str, FailsOfCause] = {}
    for entry in fails:
        for name, cause in {name_of(cause): cause for cause in entry.result.causes}.items():
            new = FailsOfCause(name, cause.entry, cause.against, set(), [])
            explained = found.setdefault(name, new)
            explained.rules.update(filter(is_of_engines, cause.rules))
            explained.entries.append(entry)
    return sorted(found.values(), key=lambda one: (-len(one.entries), one.name))


def unexplained_fails(fails: Iterable[Entry]) -> list[Entry]:
    """Return the fails of an engine that have no cause."""
    return [entry for entry in fails if not entry.result.causes]


def _diagnosis(engine: str, fails: Sequence[Entry]) -> EngineDiagnosis:
    """Return the diagnosis of an engine from its fails without a known deviation."""
    explained = fails_by_cause(fails)
    left = unexplained_fails(fails)
    return EngineDiagnosis(
        texts.clean(engine, 60),
        len(fails),
        [
            CauseOfCases(
                one.name,
                one.words_for_rules(REASON),
                texts.block(one.entry, ENTRY),
                _case_group(engine, one.entries, f"={one.name}"),
            )
            for one in explained[:CAUSES]
        ],
        max(0, len(explained) - CAUSES),
        _case_group(engine, left, NO_CAUSE) if left else None,
    )


def _case_group(engine: str, fails: Sequence[Entry], choice: str) -> CaseGroup:
    """Return the number of fails, the smallest one, and the links to it and to all. `choice` is
    the choice of the list's filter by cause.
    """
    smallest = smallest_case(entry.case_result for entry in fails).result
    return CaseGroup(
        len(fails),
        texts.clean(smallest.case, 240),
        link_to_result(smallest),
        link_to_list({"cause": choice, "engine": engine}),
    )
