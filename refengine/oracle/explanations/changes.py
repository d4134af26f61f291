"""§11 Other semantics: a profile with some fields changed, and whether it explains a recording
(ORA-13).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from typing import NamedTuple

from refengine.core.query import Query
from refengine.core.question import Question
from refengine.core.semantics import (
    ENUMS,
    POLICIES,
    R2S,
    T0,
    UNKNOWN,
    Base,
    Condition,
    Gap,
    Profile,
    Semantics,
)
from refengine.model.errors import Disputed, RefengineError, TooManyReports, Unsupported
from refengine.oracle.answers import AnswerTable
from refengine.oracle.assignments import assignments
from refengine.oracle.attempts import attempt
from refengine.oracle.trial import RecordedAnswer, T0Class, Trial

SINGLE_BOUND = 100  # assignments of a profile in which one field is changed
Assignments = list[tuple[Semantics, T0Class]]


class FieldChange(NamedTuple):
    """One field of a profile and another value of it."""

    field: str
    value: object


def changes_of(query: Query, profile: Profile, fields: Iterable[str]) -> Iterator[FieldChange]:
    """Yield every other value of the fields of a profile. R2S-6: what the query states is not in
    the semantics.
    """
    for name in fields:
        if name == "r2s" and query.r2s is not None:
            continue
        for value in alternatives(name, profile.fields.get(name)):
            yield FieldChange(name, value)


def alternatives(name: str, current: object) -> Sequence[object]:
    """Return the other values of a field; for t0 one that stands for all of them."""
    if name == "t0":
        return [UNKNOWN]
    if name == "report":
        conditions = sorted(set(Condition) - {Condition.PERIODIC})
        sizes = range(1, len(conditions) + 1)
        every = [frozenset(some) for size in sizes for some in combinations(conditions, size)]
        return [report for report in every if report != current]
    return [value for value in ENUMS[name] if value != current]


def apply_changes(profile: Profile, *changes: FieldChange) -> Profile:
    """Return a profile with some fields changed, and their companions where they would contradict
    them (SEM-2).
    """
    for change in changes:
        profile = profile.but(**{change.field: change.value}, **_companions(profile, change))
    return profile


def _companions(profile: Profile, change: FieldChange) -> dict[str, object]:
    """Return the fields that a change brings along."""
    match change.field:
        case "r2s" if change.value in (R2S.ISTREAM, R2S.DSTREAM):
            return {"base": profile.fields.get("base") or Base.PREVIOUS}
        case "r2s":
            return {"base": None}
        case "report" if (
            isinstance(change.value, frozenset) and Condition.PERIODIC not in change.value
        ):
            companions: dict[str, object] = {"period": None, "anchor": None}
            if Condition.CLOSE not in change.value:
                companions["gap"] = Gap.ALL
            return companions
        case "t0":
            return {"offset": None}
        case _:
            return {}


def resolve_t0_formula(question: Question, profile: Profile, answers: AnswerTable) -> Profile:
    """Return a profile whose t0 is the integer that a published formula gives, so that another
    closure can be tried.
    """
    t0 = profile.fields.get("t0")
    if not isinstance(t0, T0) or t0 in POLICIES or len(question.query.windows) > 1:
        return profile
    for _, t0_class in assignments(question, profile, answers.plan):
        return profile.but(t0=t0_class.t0)
    return profile


def explains(
    recorded: RecordedAnswer, profile: Profile, answers: AnswerTable, bound: int
) -> Trial | bool | None:
    """Return the assignment of a profile that explains the recording, or False; None where that is
    out of reach, as it is of a profile with more than `bound` assignments. False also for a profile
    that has no meaning here.
    """
    tried = list_assignments(recorded, profile, answers, bound)
    if tried is None or len(tried) > bound:
        return None
    return try_assignments(recorded, tried, answers)


def list_assignments(
    recorded: RecordedAnswer, profile: Profile, answers: AnswerTable, bound: int
) -> Assignments | None:
    """Return the assignments of a profile, one more than a bound at most; none where it has no
    meaning, None where they are out of reach.
    """
    stated = recorded.first_stated_window()
    try:
        every = assignments(recorded.question, profile, answers.plan, stated)
        return list(islice(every, bound + 1))
    except (Unsupported, Disputed, TooManyReports):
        return None
    except RefengineError:
        return []


def try_assignments(
    recorded: RecordedAnswer, tried: Assignments, answers: AnswerTable
) -> Trial | bool | None:
    """Return the first of some assignments that explains the recording, or False; None where some
    are out of reach.
    """
    is_in_doubt = False
    for semantics, t0_class in tried:
        try:
            trial = attempt(recorded, semantics, t0_class, answers)
        except Unsupported:
            is_in_doubt = True
            continue
        except (Disputed, TooManyReports):
            return None
        except RefengineError:
            return False
        if trial.accepting_state is not None:
            return trial
    if is_in_doubt:
        return None
    return False
