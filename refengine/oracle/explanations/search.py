"""§11 The search for what would explain a fail (ORA-13): other values of a field, other profiles,
and pairs of changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from refengine.core.profile import UNKNOWN, Between, Profile
from refengine.core.profiles import PROFILES
from refengine.model.errors import RefengineError
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.assignments import plans
from refengine.oracle.beginnings import find_t0_candidates
from refengine.oracle.explanations.changes import (
    OUT_OF_REACH,
    SINGLE_BOUND,
    FieldChange,
    ProfileSearch,
    apply_changes,
    changes_of,
    find_explaining_trial,
    resolve_t0_formula,
)
from refengine.oracle.explanations.readings import other_variables, readings_of
from refengine.oracle.judge import Judgement
from refengine.oracle.trial import RecordingToJudge

T0_BOUND = 2_000  # how many values of t0, or classes of them, are tried in place of the profile's
PAIRS_BOUND = 400  # how many assignments are tried with two changed fields
PAIRS_WORK = 2_000_000  # how many elements these may read in all
ORDERS_WORK = 20  # as how many an element counts where arrival orders are searched
# The fields whose other values are tried.
FIELDS_TRIED = (
    "closure",
    "r2s",
    "empty",
    "report",
    "horizon",
    "missed_instants",
    "tick",
    "partial",
    "collection",
    "consumption",
    "expiry_seen",
    "change_scope",
    "close_rule",
    "slide",
    "t0",
)


class Explanations(NamedTuple):
    """What would explain a recording that a profile does not.

    `changes` are the single changes of the profile that do, and `untried` those that are out of
    reach. `readings` are sentences about the recording itself: its variables, order, extent and
    repeated rows. If there is neither, `profiles` are the names of the profiles under which it is
    right. If there is none of these, `pairs` are the pairs of changes that explain it, and
    `is_complete` says whether all pairs were tried.
    """

    changes: tuple[FieldChange, ...] = ()
    untried: tuple[FieldChange, ...] = ()
    pairs: tuple[tuple[FieldChange, FieldChange], ...] = ()
    profiles: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    is_complete: bool = True


def find_explanations(
    recorded: RecordingToJudge,
    profile: Profile,
    judgement: Judgement | None = None,
    answers: SharedAnswers | None = None,
    *,
    fields: Iterable[str] = FIELDS_TRIED,
    timestamps: Sequence[int | None] = (),
) -> Explanations:
    """ORA-13: find what would explain a recording that a profile does not explain.

    First other readings of the recording and single changes of `fields` are tried; if none of them
    explains it, the other profiles; and last, pairs of changes. `judgement` is the fail, which has
    the alignment of the nearest assignment. `answers` are those that the trials of the verdict
    share. `timestamps` are those of the recording's relations, if they have any.
    """
    answers = answers or SharedAnswers()
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
    recorded: RecordingToJudge,
    profile: Profile,
    changes: Sequence[FieldChange],
    answers: SharedAnswers,
) -> tuple[tuple[FieldChange, ...], tuple[FieldChange, ...]]:
    """Return the changes that explain the recording, each alone, and those that are out of
    reach.
    """
    explaining: list[FieldChange] = []
    untried: list[FieldChange] = []
    for change in changes:
        if change.field == "t0":
            found = _search_any_t0(recorded, profile, answers)
        else:
            changed = apply_changes(profile, change)
            found = find_explaining_trial(recorded, changed, answers, SINGLE_BOUND)

        if found.trial is not None:
            if change.field == "t0":
                change = FieldChange("t0", found.trial.semantics.t0)
            explaining.append(change)
        elif found.explains_recording is None:
            untried.append(change)
    return tuple(explaining), tuple(untried)


def _search_any_t0(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers
) -> ProfileSearch:
    """Search for a t0 up to the last element with which the profile explains the recording.

    An open t0 stops at the first element, so that no engine passes by skipping the stream (ORA-2).
    To explain a fail, later values are tried, too.
    """
    any_t0 = profile.but(t0=UNKNOWN, offset=None)
    found = ProfileSearch()
    if profile.fields["t0"] != UNKNOWN:
        found = find_explaining_trial(recorded, any_t0, answers, T0_BOUND)
    has_several_windows = len(recorded.query.windows) > 1
    if found.trial is not None or has_several_windows or not recorded.relations:
        return found

    try:
        planned = next(plans(recorded.question, any_t0, answers.plan))
        first = find_t0_candidates(recorded.query, planned, UNKNOWN).hi + 1
        view = planned.views[0]
        last = max(view.times, default=0) + view.spec.lag
    except RefengineError:
        return OUT_OF_REACH
    if first > last:
        return found
    later_t0 = profile.but(t0=Between(first, last), offset=None)
    later = find_explaining_trial(recorded, later_t0, answers, T0_BOUND)
    if later.trial is not None:
        return later
    return ProfileSearch(is_complete=found.is_complete and later.is_complete)


def _profiles(
    recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers
) -> Iterator[str]:
    """Yield the names of the profiles under which the recording is right. Where one leaves t0 open,
    the t0 of the judged profile is taken.
    """
    for name, other in sorted(PROFILES.items()):
        if other.fields["t0"] == UNKNOWN:
            other = other.but(t0=profile.fields["t0"], offset=profile.fields.get("offset"))
        if find_explaining_trial(recorded, other, answers, SINGLE_BOUND).trial is not None:
            yield name


def _length(recorded: RecordingToJudge) -> int:
    """Count the elements of the streams that the query reads, and one more."""
    names = {window.stream for window in recorded.query.windows}
    return 1 + sum(len(recorded.streams[name]) for name in names)


def _pairs(
    recorded: RecordingToJudge,
    profile: Profile,
    changes: Sequence[FieldChange],
    answers: SharedAnswers,
    most: int,
) -> tuple[tuple[tuple[FieldChange, FieldChange], ...], bool]:
    """Return the pairs of changes of two fields that explain the recording, and whether all pairs
    were tried. They are tried until their assignments are more than PAIRS_BOUND or `most`.
    """
    pairs: list[tuple[FieldChange, FieldChange]] = []
    is_complete = True
    left = min(PAIRS_BOUND, most)
    of_fields = [change for change in changes if change.field != "t0"]
    for one, other in combinations(of_fields, 2):
        if one.field == other.field:
            continue
        if left <= 0:
            return tuple(pairs), False
        changed = apply_changes(profile, one, other)
        found = find_explaining_trial(recorded, changed, answers, min(SINGLE_BOUND, left))
        left -= found.tried
        if found.trial is not None:
            pairs.append((one, other))
        elif not found.is_complete:
            is_complete = False
    return tuple(pairs), is_complete
