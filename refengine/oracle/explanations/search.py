"""§11 The search for what would explain a fail: other values of a field, other profiles, and pairs
of changes (ORA-13).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from refengine.core.profiles import PROFILES
from refengine.core.semantics import UNKNOWN, Between, Profile
from refengine.model.errors import RefengineError
from refengine.oracle.answers import AnswerTable
from refengine.oracle.assignments import assignments, find_t0_candidates
from refengine.oracle.explanations.changes import (
    SINGLE_BOUND,
    FieldChange,
    apply_changes,
    changes_of,
    explains,
    list_assignments,
    resolve_t0_formula,
    try_assignments,
)
from refengine.oracle.explanations.readings import other_variables, readings_of
from refengine.oracle.judge import Judgement
from refengine.oracle.trial import RecordedAnswer, Trial

T0_BOUND = 2_000  # values, or classes of values, of t0 that are tried in place of the profile's
PAIRS_BOUND = 400  # assignments of all profiles in which two fields are changed
PAIRS_WORK = 2_000_000  # and the elements that they look at,
ORDERS_WORK = 20  # of which each counts as so many where arrival orders are searched
FIELDS_TRIED = (  # fields whose other values may explain an output
    "closure",
    "r2s",
    "empty",
    "report",
    "horizon",
    "gap",
    "tick",
    "partial",
    "collection",
    "expiry",
    "change",
    "closing",
    "slide",
    "t0",
)


class Explanations(NamedTuple):
    """What would explain a recording that a profile does not.

    `changes` are the single changes of the profile, `pairs` the pairs of changes where no single
    one does, `profiles` the names of the profiles under which it is right, `untried` what is out of
    reach. `readings` are sentences about the recording itself: its variables, its order, its
    extent, its rows as sets. `is_complete` says whether all pairs were tried.
    """

    changes: tuple[FieldChange, ...] = ()
    untried: tuple[FieldChange, ...] = ()
    pairs: tuple[tuple[FieldChange, FieldChange], ...] = ()
    profiles: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    is_complete: bool = True


def find_explanations(
    recorded: RecordedAnswer,
    profile: Profile,
    judgement: Judgement | None = None,
    answers: AnswerTable | None = None,
    *,
    fields: Iterable[str] = FIELDS_TRIED,
    timestamps: Sequence[int | None] = (),
) -> Explanations:
    """ORA-13: find what would explain a recording that a profile does not, as the search finds it.

    Tried are the readings of the recording; each other value of a field; if none of them explains
    it, the other profiles and the pairs of such changes. `judgement` has the alignment of the
    nearest assignment. `timestamps` are those of the recording's relations; `answers` is the table
    in which answers are kept.
    """
    answers = answers or AnswerTable()
    if others := other_variables(recorded):
        return Explanations(readings=(others,))

    alignment, is_ordered = None, True
    if judgement is not None and judgement.trial is not None:
        alignment, is_ordered = judgement.trial.alignment, judgement.trial.is_order_known
    profile = resolve_t0_formula(recorded.question, profile, answers)
    readings = tuple(readings_of(recorded, profile, alignment, answers, timestamps))
    changes = list(changes_of(recorded.query, profile, fields))
    explaining, untried = _single_changes(recorded, profile, changes, answers)
    if explaining or readings:
        return Explanations(explaining, untried, readings=readings)

    profiles = tuple(_profiles(recorded, profile, answers))
    if profiles:
        return Explanations((), untried, (), profiles)
    length = _length(recorded)
    if not is_ordered:
        length *= ORDERS_WORK
    pairs, is_complete = _pairs(recorded, profile, changes, answers, PAIRS_WORK // length)
    return Explanations((), untried, pairs, (), is_complete=is_complete)


def _single_changes(
    recorded: RecordedAnswer, profile: Profile, changes: Sequence[FieldChange], answers: AnswerTable
) -> tuple[tuple[FieldChange, ...], tuple[FieldChange, ...]]:
    """Return the single changes that explain the recording, and those that are out of reach."""
    explaining: list[FieldChange] = []
    untried: list[FieldChange] = []
    for change in changes:
        if change.field == "t0":
            found = _explains_with_any_t0(recorded, profile, answers)
        else:
            found = explains(recorded, apply_changes(profile, change), answers, SINGLE_BOUND)
        if found is None:
            untried.append(change)
        elif isinstance(found, Trial):
            if change.field == "t0":
                change = FieldChange("t0", found.semantics.t0)
            explaining.append(change)
    return tuple(explaining), tuple(untried)


def _explains_with_any_t0(
    recorded: RecordedAnswer, profile: Profile, answers: AnswerTable
) -> Trial | bool | None:
    """Return what `explains` does, for the profile with any t0 up to the last element.

    An open t0 stops at the first element, so that no engine passes by skipping the stream (ORA-2);
    to explain a fail, all are tried.
    """
    anywhere = profile.but(t0=UNKNOWN, offset=None)
    found: Trial | bool | None = False
    if profile.fields["t0"] != UNKNOWN:
        found = explains(recorded, anywhere, answers, T0_BOUND)
    if found or len(recorded.query.windows) > 1 or not recorded.relations:
        return found
    try:
        semantics, _ = next(assignments(recorded.question, anywhere, answers.plan))
        planned = answers.plan_of(recorded, semantics)
        first = find_t0_candidates(recorded.query, planned, UNKNOWN).hi + 1
        last = max(planned.views[0].times, default=0)
    except RefengineError:
        return None
    if first > last:
        return found
    later = explains(recorded, profile.but(t0=Between(first, last), offset=None), answers, T0_BOUND)
    if later:
        return later
    if found is None or later is None:
        return None
    return False


def _profiles(recorded: RecordedAnswer, profile: Profile, answers: AnswerTable) -> Iterator[str]:
    """Yield the names of the profiles under which the recording is right; a t0 that one leaves open
    is the judged profile's.
    """
    for name, other in sorted(PROFILES.items()):
        if other.fields["t0"] == UNKNOWN:
            other = other.but(t0=profile.fields["t0"], offset=profile.fields.get("offset"))
        if explains(recorded, other, answers, SINGLE_BOUND):
            yield name


def _length(recorded: RecordedAnswer) -> int:
    """Count the elements of the streams that the query reads, and one more."""
    names = {window.stream for window in recorded.query.windows}
    return 1 + sum(len(recorded.streams[name]) for name in names)


def _pairs(
    recorded: RecordedAnswer,
    profile: Profile,
    changes: Sequence[FieldChange],
    answers: AnswerTable,
    most: int,
) -> tuple[tuple[tuple[FieldChange, FieldChange], ...], bool]:
    """Return the pairs of changes of two fields that explain the recording, and whether all pairs
    were tried: those with PAIRS_BOUND and `most` assignments in all.
    """
    pairs: list[tuple[FieldChange, FieldChange]] = []
    is_complete = True
    left = min(PAIRS_BOUND, most)
    of_fields = [change for change in changes if change.field != "t0"]
    for one, other in combinations(of_fields, 2):
        if one.field == other.field:
            continue
        tried = list_assignments(
            recorded, apply_changes(profile, one, other), answers, SINGLE_BOUND
        )
        if tried is None or len(tried) > SINGLE_BOUND:
            is_complete = False
            continue
        left -= len(tried)
        if left < 0:
            return tuple(pairs), False
        found = try_assignments(recorded, tried, answers)
        if found is None:
            is_complete = False
        elif found:
            pairs.append((one, other))
    return tuple(pairs), is_complete
