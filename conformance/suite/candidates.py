"""What an engine may do otherwise than it claims: the candidates among which a diagnosis looks for
the causes of its fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Any

from conformance.corpus.detection import wrong_engines_of
from conformance.harness.engine_file import Deviation
from conformance.suite.deviations import keep_needed
from conformance.suite.recorded_case import RecordedCase
from conformance.suite.simple_defects import SIMPLE_DEFECTS, SimpleDefect
from conformance.wrong_engines import HABITS, WRONG_ENGINES, WrongEngine
from conformance.wrong_engines.evaluation import EVERY_INSTANT
from refengine.core.profile import Profile
from refengine.core.semantics import show
from refengine.core.values import T0
from refengine.oracle.explanations import FIELDS_TRIED, FieldChange, alternatives
from refengine.oracle.explanations.changes import companion_fields

LINK = "https://…"  # stands in an entry for the link, which only its author knows
# modules that compare what an engine has answered, which no engine does
COMPARING = ("refengine.model.compare", "refengine.model.elements", "refengine.oracle")
# wrong engines and habits that show in nearly all cases of an engine that has them
PERVASIVE = (
    "ENG-2 latest of a gap",
    "WIN-2 elements on any border are lost",
    "WIN-8 an element waits for the next",
)
INTEGERS_OF_T0 = range(1, 21)  # that are tried as t0, beside 0

Cases = Sequence[RecordedCase]


@dataclass(frozen=True)
class Candidate:
    """What an engine may do otherwise than it claims: a `change` of a field of its semantics, or
    what a `wrong_engine` does, or a simple `defect`, or that it `misstates_windows` or
    `misstates_instants`. `text` names it: `closure=[]`.
    """

    text: str
    change: FieldChange | None = None
    wrong_engine: WrongEngine | None = None
    defect: SimpleDefect | None = None
    misstates_windows: bool = False
    misstates_instants: bool = False

    @property
    def field(self) -> str:
        """The field of the semantics that is changed, empty if none is."""
        if self.change is None:
            return ""
        return self.change.field

    @property
    def is_integer_of_t0(self) -> bool:
        """Whether this is one of the many integers for t0, of which one may fit some fails by
        chance.
        """
        if self.change is None or self.change.field != "t0":
            return False
        return self.change.value in INTEGERS_OF_T0

    @property
    def has_many_alternatives(self) -> bool:
        """Whether this is a wrong engine or a simple defect: there are many of them."""
        return self.wrong_engine is not None or self.defect is not None

    @property
    def may_fit_by_chance(self) -> bool:
        """Whether this may fit a few fails by chance: one of many alternatives may, and so may a
        candidate that leaves the windows of the reports out of account.
        """
        return self.has_many_alternatives or self.misstates_windows

    def deviation(self, cases: Sequence[RecordedCase]) -> Deviation:
        """Return the deviation to state in the engine's file. `cases` are those that it explains;
        one of them stands for all where the oracle can be told of the deviation.
        """
        ids = tuple(case.id for case in cases)
        if self.change is not None:
            reason = f"its semantics is {self.text}"
            fields = fields_of_change(cases[0].profile, self.change)
            return Deviation(reason, LINK, ids[:1], fields)
        if self.misstates_windows:
            return Deviation(self.text, LINK, ids[:1], misstates="window")
        reason = self.text
        if self.wrong_engine is not None:
            reason = f"does as {self.text}"
        return Deviation(reason, LINK, ids, breaks=self.broken_rules)

    @property
    def broken_rules(self) -> tuple[str, ...]:
        """The rules that are broken by what no field of the semantics and no window says."""
        if self.wrong_engine is not None:
            return self.wrong_engine.rules
        if self.defect is not None:
            return self.defect.rules
        if self.misstates_instants:
            return ("ENG-4",)
        return ()


WRONG_WINDOWS = Candidate("wrong windows in its reports", misstates_windows=True)
WRONG_INSTANTS = Candidate("wrong instants in its reports", misstates_instants=True)


@contextmanager
def install_wrong_engines(candidates: Iterable[Candidate]) -> Iterator[None]:
    """Install the wrong engines of some candidates until the context ends."""
    with ExitStack() as stack:
        for candidate in candidates:
            if candidate.wrong_engine is not None:
                stack.enter_context(candidate.wrong_engine.installed())
        yield


def explains(
    candidates: Sequence[Candidate], case: RecordedCase, *, is_end_stated: bool = False
) -> bool | None:
    """Return whether candidates together explain the answers to a case. The caller has installed
    their wrong engines (`install_wrong_engines`). None if the case cannot say: the changed
    semantics has no meaning with its question, or its stream is too long for a wrong engine that
    visits each instant.

    An engine that holds other elements in its windows than a right one may go on for longer after
    the last element, or end earlier. So one or two last reports may be more than the horizon gives,
    and the number of empty ones at the end may be another, unless `is_end_stated` or the fail is
    right but for its end.
    """
    wrong_engines = [one.wrong_engine for one in candidates if one.wrong_engine]
    if not case.is_short and any(map(visits_every_instant, wrong_engines)):
        return None
    fields: dict[str, Any] = {}
    for change in (one.change for one in candidates if one.change):
        profile = case.profile.but(**fields)
        fields |= fields_of_change(profile, change)

    def explain(recorded: RecordedCase) -> bool | None:
        return recorded.is_explained_by(
            fields,
            [one.defect for one in candidates if one.defect],
            is_by_wrong_engine=bool(wrong_engines),
            has_wrong_windows=any(one.misstates_windows for one in candidates),
        )

    is_explained = explain(case)
    if is_explained is not False or is_end_stated or case.is_right_but_for_its_end:
        return is_explained
    return any(map(explain, case.with_other_ends))


def explains_with_an_end(candidates: Sequence[Candidate], case: RecordedCase) -> bool:
    """Return whether candidates together explain the answers to a case as they are, or with another
    end. The caller has installed their wrong engines.
    """
    return any(
        explains(candidates, one, is_end_stated=True) for one in (case, *case.with_other_ends)
    )


def explained_by(
    candidates: Sequence[Candidate], cases: Cases, *, is_end_stated: bool = False
) -> list[RecordedCase]:
    """Return the cases that candidates together explain."""
    with install_wrong_engines(candidates):
        return [case for case in cases if explains(candidates, case, is_end_stated=is_end_stated)]


def needed_for(case: RecordedCase, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those of some candidates that are needed to explain a case, which they explain
    together. The first ones are left out first: the last one was found for this case.
    """
    return keep_needed(candidates, lambda rest: explained_by(rest, [case]))


def makes_recorded_instants(candidate: Candidate, case: RecordedCase) -> bool:
    """Return whether an engine makes its reports at other times because of a candidate, and states
    the recorded instants then. It is False for a simple defect.
    """
    wrong_engine = candidate.wrong_engine
    if wrong_engine and not case.is_short and visits_every_instant(wrong_engine):
        return False
    fields: Mapping[str, Any] = {}
    if candidate.change is not None:
        fields = fields_of_change(case.profile, candidate.change)
    right = case.times_of_reports({})
    with install_wrong_engines([candidate]):
        made = case.times_of_reports(fields)
    if made is None or made == right:
        return False
    return [instant for instant, _ in made] == list(case.instants)


def visits_every_instant(wrong_engine: WrongEngine) -> bool:
    """Whether a wrong engine visits each instant of a stream."""
    return EVERY_INSTANT.items() <= wrong_engine.besides.items()


def change_candidates(profile: Profile | None, found: Iterable[Candidate]) -> list[Candidate]:
    """Return the changes of those fields of a profile that no cause which was found has changed.
    The profile is None for an engine that is sent its semantics, which may have any value whatever
    it is sent.
    """
    changed = {cause.field for cause in found}
    return [
        Candidate(f"{change.field}={show(change.value)}", change)
        for name in FIELDS_TRIED
        for change in changes_of_field(profile, name)
        if name not in changed
    ]


def changes_of_field(profile: Profile | None, name: str) -> list[FieldChange]:
    """Return the changes of a field to other values than the claimed one. Of `r2s` the claimed one
    is among them: an engine may give it whatever the query states.
    """
    current = None
    if profile is not None:
        current = profile.fields.get(name)
    values: Sequence[object] = alternatives(name, current)
    if name == "t0":
        every = (0, *T0, *INTEGERS_OF_T0)
        values = [value for value in every if value != current]
    if name == "r2s" and current is not None:
        values = [current, *values]
    return [FieldChange(name, value) for value in values]


def fields_of_change(profile: Profile, change: FieldChange) -> Mapping[str, Any]:
    """Return the fields of a change: its own, and those that must change with it unless the profile
    has these values. The baseline of R2S is always one of them: it depends on the query, too.
    """
    companions = {
        name: value
        for name, value in companion_fields(profile, change).items()
        if name == "base" or profile.fields.get(name) != value
    }
    return {change.field: change.value, **companions}


def simple_defect_candidates() -> list[Candidate]:
    """Return the simple defects."""
    return [Candidate(defect.text, defect=defect) for defect in SIMPLE_DEFECTS]


def wrong_engine_candidates(rules: Iterable[str]) -> Iterator[Candidate]:
    """Yield all habits, and the wrong engines of some rules, but for those that compare or judge
    answers wrongly.
    """
    of_rules = (one for rule in rules for one in wrong_engines_of(rule))
    for wrong_engine in dict.fromkeys(chain(HABITS, of_rules)):
        if not wrong_engine.replaced.__module__.startswith(COMPARING):
            yield _wrong_engine_candidate(wrong_engine)


def pervasive_candidates() -> list[Candidate]:
    """Return what shows in nearly all cases of an engine that does it, so that its other defects
    show only together with it: the simple defects, and some wrong engines.
    """
    wrong_engines = [one for one in (*HABITS, *WRONG_ENGINES) if one.full_name in PERVASIVE]
    return [*simple_defect_candidates(), *map(_wrong_engine_candidate, wrong_engines)]


def candidate_pairs(every_change: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """Yield pairs in the order in which they are tried: changes of two fields, what is pervasive
    with a change, two that are pervasive, and one of the many integers for t0 with any of these.
    """
    changes: list[Candidate] = []
    integers: list[Candidate] = []
    for change in every_change:
        (integers if change.is_integer_of_t0 else changes).append(change)
    pervasive = pervasive_candidates()
    pairs = chain(
        combinations(changes, 2),
        product(pervasive, changes),
        combinations(pervasive, 2),
        product(integers, [*changes, *pervasive]),
    )
    for one, other in pairs:
        if one.field != other.field or not one.field:
            yield [one, other]


def _wrong_engine_candidate(wrong_engine: WrongEngine) -> Candidate:
    """Return a wrong engine as a candidate."""
    heading = wrong_engine.heading
    text = f"the wrong engine {wrong_engine.full_name!r} ({heading[0].lower()}{heading[1:]})"
    return Candidate(text, wrong_engine=wrong_engine)
