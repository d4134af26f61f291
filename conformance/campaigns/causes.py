"""Causes: which of the small cases show one defect, what it is, and whether the engine's file has
it among the known deviations.

The search for causes is that of a run's diagnosis (`conformance.suite.cause_search`): other values
of fields, simple defects and wrong engines. Here it is given small cases alone, and some right
answers that a cause must not make wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from conformance import corpus
from conformance.campaigns import asking
from conformance.campaigns.asking import SUITE, CaseVerdict
from conformance.campaigns.campaign import Campaign, SmallestFail
from conformance.campaigns.drawn_case import DrawnCase
from conformance.campaigns.shapes import kind_of_fail
from conformance.campaigns.shrinking import shrink_fail
from conformance.harness.deviation_entry import write_entry
from conformance.harness.engine_file import Deviation, Engine
from conformance.suite.candidates import Candidate, explained_by
from conformance.suite.cause_search import CauseSearch, CausesOfFails
from conformance.suite.item import CASE_SUITES, find_case
from conformance.suite.recorded_case import RecordedCase
from conformance.verdict.results import Result
from refengine.core.query import WindowKind

LISTED = -1  # stands for the number of a case that was not drawn
ASKED_OF_LISTED = 60  # how often an engine is asked at most to make a listed case small
LISTED_CASES = 2  # of each known deviation in no field, of which the shape is looked for
# The rule that decides, where no cause was found, by the symptom
RULES = {
    asking.REPORT_LACKING: "REP-1",
    asking.REPORT_TOO_MANY: "REP-1",
    asking.ROWS_LACKING: "WIN-8",
    asking.ROWS_TOO_MANY: "WIN-8",
    asking.ROWS_OTHER: "WIN-8",
    asking.OTHER_WINDOWS: "WIN-3",
    asking.OTHER_STAMP: "ENG-4",
    asking.NOT_REFUSED: "MOD-2",
}
FAMILIES = {
    asking.REPORT_LACKING: asking.ROWS_LACKING,
    asking.REPORT_TOO_MANY: asking.ROWS_TOO_MANY,
}


@dataclass
class Cause:
    """A defect of an engine: the smallest cases that show it, in ways that differ.

    `text` names it; empty if the search found no name. `rules` are those that it breaks, and
    `entry` states it as a known deviation. `known` are the known deviations of the engine's file
    that it is; none if it is new.
    """

    found: list[SmallestFail]
    text: str = ""
    rules: tuple[str, ...] = ()
    entry: str = ""
    known: tuple[Deviation, ...] = ()

    @property
    def smallest(self) -> SmallestFail:
        """The smallest case."""
        return min(self.found, key=lambda one: (one.verdict.case.size, one.shape))

    @property
    def count(self) -> int:
        """How many cases led to it."""
        return sum(one.count for one in self.found)

    @property
    def rule(self) -> str:
        """The rule that decides what is right."""
        broken = [*(rule for one in self.known for rule in one.breaks), *self.rules]
        return broken[0] if broken else rule_of(self.smallest.verdict)

    @property
    def title(self) -> str:
        """The cause in a sentence without a full stop."""
        if self.known:
            return self.known[0].reason
        return self.text or self.smallest.verdict.symptom


def rule_of(verdict: CaseVerdict) -> str:
    """Return the rule that decides what is right where no cause is known."""
    elements = [one.app for _, one in verdict.case.elements]
    if elements != sorted(elements):
        return "MOD-2"
    if verdict.case.query.windows[0].kind is WindowKind.SESSION:
        return "WIN-23"
    if not verdict.case.is_of_windows and verdict.symptom in (
        asking.ROWS_LACKING,
        asking.ROWS_TOO_MANY,
        asking.ROWS_OTHER,
    ):
        return "R2R-1"
    return RULES.get(verdict.symptom, "ENG-4")


def add_listed_cases(campaign: Campaign) -> None:
    """Make cases small that known deviations in no field of the semantics list, and add them, if
    something was found that is not known: a drawn case of the same shape, or of the same cause, is
    known, too.
    """
    tested = campaign.live.tested
    if all(one.verdict.known for one in campaign.found.values()):
        return
    for deviation in tested.deviations:
        if deviation.can_be_granted or tested.is_configurable:
            continue
        for case in _listed_cases(tested, deviation):
            verdict = campaign.live.ask(case)
            if verdict.is_wrong and not verdict.known:
                small = shrink_fail(campaign.live, verdict, most=ASKED_OF_LISTED)
                if small is not None:
                    campaign.add(small, LISTED, deviation)


def _listed_cases(tested: Engine, deviation: Deviation) -> Iterator[DrawnCase]:
    """Yield the first cases that a known deviation lists."""
    suites = [suite for suite in tested.suites if suite in CASE_SUITES]
    for name in deviation.cases[:LISTED_CASES]:
        for suite in suites:
            case = find_case(suite, name)
            if case is not None:
                yield DrawnCase(corpus.question_of(case))


def find_causes(
    tested: Engine, found: Sequence[SmallestFail], passes: Sequence[CaseVerdict]
) -> list[Cause]:
    """Return the causes of fails that have been made small, those that most cases led to first;
    what is known comes last.

    Known is what a known deviation explains that can be granted, and what has the shape of a listed
    case, or fails as one does. The search for causes is given the others alone; a cause is known if
    it explains a listed case that fails alike, too.
    """
    listed = [one for one in found if one.number == LISTED]
    by_shape = {one.shape: one.listed for one in found if one.listed is not None}
    by_kind = {_family(one): one.listed for one in reversed(listed)}
    known: dict[str, Cause] = {}
    others: list[SmallestFail] = []
    for one in found:
        deviation = one.verdict.known[0] if one.verdict.known else None
        deviation = deviation or by_shape.get(one.shape) or by_kind.get(kind_of_fail(one.verdict))
        if one.number == LISTED:
            continue
        if deviation is None:
            others.append(one)
        else:
            known.setdefault(deviation.reason, _known_cause(deviation)).found.append(one)
    causes = [*known.values(), *_by_search(tested, others, passes, listed)]
    return sorted(causes, key=lambda cause: (bool(cause.known), -cause.count, cause.title))


def _family(found: SmallestFail) -> str:
    """Return the kind of a fail, in which a report is one of the things that are lacking or too
    many, and a window of the kind `range` is one of the kind `time`.
    """
    alike = kind_of_fail(replace(found.verdict, symptom=_symptom_family(found)[0]))
    return alike.replace(str(WindowKind.RANGE), str(WindowKind.TIME))


def _known_cause(deviation: Deviation) -> Cause:
    """Return the cause that is a known deviation, with no case yet."""
    return Cause([], rules=deviation.breaks, known=(deviation,))


def group_by_kind(found: Sequence[SmallestFail]) -> list[Cause]:
    """Return the causes of fails without a search: one for each kind of fail."""
    drawn = [one for one in found if one.number != LISTED]
    others = (one for one in drawn if not one.verdict.known)
    granted = (one for one in drawn if one.verdict.known)
    return [*_by_kind(others), *_by_deviation(granted)]


def _by_deviation(found: Iterable[SmallestFail]) -> Iterator[Cause]:
    """Yield a cause for each known deviation that was granted."""
    by_reason: dict[str, Cause] = {}
    for one in found:
        deviation = one.verdict.known[0]
        by_reason.setdefault(deviation.reason, _known_cause(deviation)).found.append(one)
    yield from by_reason.values()


def _by_search(
    tested: Engine,
    found: Sequence[SmallestFail],
    passes: Sequence[CaseVerdict],
    listed: Sequence[SmallestFail],
) -> Iterator[Cause]:
    """Yield the causes that the search finds, and for what it does not explain one for each kind
    of fail.
    """
    recorded = dict(_recorded_cases(tested, found))
    right = [_record(tested, verdict, f"pass-{number}") for number, verdict in enumerate(passes)]
    search = CauseSearch(
        tested.profile,
        CausesOfFails(sorted(recorded, key=lambda case: case.size_and_id)),
        passes=[case for case in right if case is not None],
        every_pass=[case for case in right if case is not None],
    )
    if recorded:
        search.run()
    needed = search.causes.needed
    by_text: dict[str, Cause] = {}
    for case, one in recorded.items():
        if case in needed and _is_told(needed[case], one):
            text = " with ".join(candidate.text for candidate in needed[case])
            cause = by_text.setdefault(text, _cause_of(needed[case], case, tested, text))
            cause.found.append(one)
            cause.known = cause.known or _explained_listed(needed[case], one, tested, listed)
    explained = {id(one) for cause in by_text.values() for one in cause.found}
    yield from by_text.values()
    yield from _by_kind(one for one in found if id(one) not in explained)


def _is_told(candidates: Sequence[Candidate], one: SmallestFail) -> bool:
    """Whether a cause says something of a fail: that windows are misstated explains any answer
    about few of them.
    """
    is_of_windows = any(candidate.misstates_windows for candidate in candidates)
    return not is_of_windows or one.verdict.symptom == asking.OTHER_WINDOWS


def _explained_listed(
    candidates: Sequence[Candidate],
    one: SmallestFail,
    tested: Engine,
    listed: Sequence[SmallestFail],
) -> tuple[Deviation, ...]:
    """Return the known deviation whose listed case candidates together explain, and which fails
    with a like symptom, with late elements or without as that does; nothing if there is none.
    """
    for case, known in _recorded_cases(tested, listed):
        is_alike = _symptom_family(known) == _symptom_family(one)
        if is_alike and known.listed is not None and explained_by(candidates, [case]):
            return (known.listed,)
    return ()


def _symptom_family(found: SmallestFail) -> tuple[str, bool]:
    """Return the symptom, in which a report is one of the things that are lacking or too many, and
    whether elements come late.
    """
    times = [one.app for _, one in found.verdict.case.elements]
    symptom = found.verdict.symptom
    return FAMILIES.get(symptom, symptom), times != sorted(times)


def _cause_of(
    candidates: Sequence[Candidate], case: RecordedCase, tested: Engine, text: str
) -> Cause:
    """Return the cause that some candidates together are, with no case yet."""
    deviations = [candidate.deviation([case]) for candidate in candidates]
    rules = dict.fromkeys(rule for one in deviations for rule in case.rules_broken_by(one))
    lines = [line for one in deviations for line in write_entry(replace(one, cases=()))]
    entry = "" if tested.is_configurable else "\n".join(lines)
    return Cause([], text, tuple(filter(None, rules)), entry)


def _by_kind(found: Iterable[SmallestFail]) -> Iterator[Cause]:
    """Yield a cause for each kind of fail."""
    by_kind: dict[str, Cause] = {}
    for one in found:
        by_kind.setdefault(kind_of_fail(one.verdict), Cause([])).found.append(one)
    yield from by_kind.values()


def _recorded_cases(
    tested: Engine, found: Iterable[SmallestFail]
) -> Iterator[tuple[RecordedCase, SmallestFail]]:
    """Yield the fails that the search can be given: an error has no answers."""
    for number, one in enumerate(found):
        case = _record(tested, one.verdict, f"fail-{number}")
        if case is not None:
            yield case, one


def _record(tested: Engine, verdict: CaseVerdict, name: str) -> RecordedCase | None:
    """Return an answer as the search for causes takes it; None for an error."""
    exchange = verdict.exchange
    if exchange is None or verdict.profile is None:
        return None
    if tested.is_configurable:
        tested = replace(tested, profile=verdict.profile)
    result = Result(
        engine=tested.name,
        suite=SUITE,
        case=name,
        rule=rule_of(verdict),
        outcome=verdict.outcome,
        explanation=verdict.explanation,
    )
    return RecordedCase(
        tested=tested,
        result=result,
        question=exchange.question,
        relations=tuple(exchange.relations),
        windows=tuple(answer.window for answer in exchange.answers),
        window_closure=exchange.window_closure or verdict.profile.fields.get("closure"),
        instants=tuple(answer.instant for answer in exchange.answers),
    )
