"""§11 Other semantics: a profile with some fields changed, and whether it explains a recording
(ORA-13).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from refengine.core.profile import UNKNOWN, Profile
from refengine.core.query import Query
from refengine.core.question import Question
from refengine.core.semantics import ENUMS
from refengine.core.values import R2S, Base, Condition, MissedInstants, is_formula
from refengine.model.errors import Disputed, RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import every_trial, name_t0, plans
from refengine.oracle.trial import RecordingToJudge, Trial

SINGLE_BOUND = 100  # how many assignments of a changed profile are tried


class FieldChange(NamedTuple):
    """A change of a profile: one field, and another value for it."""

    field: str
    value: object


def changes_of(query: Query, profile: Profile, fields: Iterable[str]) -> Iterator[FieldChange]:
    """Yield every change of one of these fields of a profile. `r2s` is left out if the query states
    the operator, since the semantics then has none (R2S-6).
    """
    for name in fields:
        if name == "r2s" and query.r2s is not None:
            continue
        for value in alternatives(name, profile.fields.get(name)):
            yield FieldChange(name, value)


def alternatives(name: str, current: object) -> Sequence[object]:
    """Return the values of a field except the current one. For t0 that is UNKNOWN, which stands for
    all values.
    """
    if name == "t0":
        return [UNKNOWN]
    if name == "report":
        conditions = sorted(set(Condition) - {Condition.PERIODIC, Condition.ARRIVAL})
        sizes = range(1, len(conditions) + 1)
        reports = [frozenset(some) for size in sizes for some in combinations(conditions, size)]
        return [report for report in reports if report != current]
    return [value for value in ENUMS[name] if value != current]


def apply_changes(profile: Profile, *changes: FieldChange) -> Profile:
    """Return a profile with some fields changed. Fields that a change would contradict are changed
    with it (SEM-2).
    """
    for change in changes:
        fields = {change.field: change.value, **companion_fields(profile, change)}
        profile = profile.with_fields(fields)
    return profile


def companion_fields(profile: Profile, change: FieldChange) -> dict[str, object]:
    """Return the other fields that must change with a field, and their values."""
    match change.field:
        case "r2s" if isinstance(change.value, R2S) and change.value.needs_base:
            return {"base": profile.fields.get("base") or Base.PREVIOUS}
        case "r2s":
            return {"base": None}
        case "report" if (
            isinstance(change.value, frozenset) and Condition.PERIODIC not in change.value
        ):
            companions: dict[str, object] = {"period": None, "anchor": None}
            if not any(condition.is_on_instants for condition in change.value):
                companions["missed_instants"] = MissedInstants.ALL
            return companions
        case "t0":
            return {"offset": None}
        case _:
            return {}


def resolve_t0_formula(question: Question, profile: Profile, answers: SharedAnswers) -> Profile:
    """Return a profile in which the integer stands that a published formula for t0 gives. With the
    formula itself no other closure could be tried. Every other profile is returned unchanged.
    """
    if not is_formula(profile.fields.get("t0")) or len(question.query.windows) > 1:
        return profile
    for planned in plans(question, profile, answers.plan):
        return profile.but(t0=name_t0(planned)[1].t0)
    return profile


class ProfileSearch(NamedTuple):
    """Whether some assignment of a profile explains a recording.

    `trial` is the first that does. Without one, `is_complete` says whether none does; it is False
    if some assignments are out of reach. `tried` is the number of those that were tried.
    """

    trial: Trial | None = None
    is_complete: bool = True
    tried: int = 0

    @property
    def explains_recording(self) -> bool | None:
        """Whether an assignment explains the recording; None if that is not known, since some
        assignments are out of reach.
        """
        if self.trial is not None:
            return True
        return False if self.is_complete else None


OUT_OF_REACH = ProfileSearch(is_complete=False)


def find_explaining_trial(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers, bound: int
) -> ProfileSearch:
    """Search the assignments of a profile for one that explains the recording.

    The assignments after the first `bound` are out of reach. A profile without a meaning for this
    question explains nothing.
    """
    tried = 0
    is_complete = True
    try:
        for trial in every_trial(recorded, profile, answers):
            if tried == bound:
                return ProfileSearch(is_complete=False, tried=tried)
            tried += 1
            if not isinstance(trial, Trial):
                is_complete = False
            elif trial.explains_recording:
                return ProfileSearch(trial, tried=tried)
    except Disputed:
        return OUT_OF_REACH
    except RefengineError:
        return ProfileSearch()
    return ProfileSearch(is_complete=is_complete, tried=tried)
