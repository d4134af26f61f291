"""§11 What would explain a fail: other semantics, and other readings of the recording (ORA-13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import NamedTuple, Unpack

from refengine.core.engine import Report
from refengine.core.profiles import PROFILES
from refengine.core.query import Query
from refengine.core.semantics import (
    ENUMS,
    POLICIES,
    R2S,
    T0,
    UNKNOWN,
    Base,
    Between,
    Collection,
    Condition,
    Gap,
    Profile,
    Semantics,
)
from refengine.model import compare
from refengine.model.elements import Relation, Stream
from refengine.model.errors import Disputed, RefengineError, TooManyReports, Unsupported
from refengine.oracle import judge
from refengine.oracle.alignment import SURPLUS
from refengine.oracle.assignments import assignments, candidates
from refengine.oracle.trial import Alignment, Answers, Basis, BasisKeywords, Origin, Recorded, Trial

SINGLE_BOUND = 100  # assignments of a profile in which one field is changed
T0_BOUND = 2_000  # values, or classes of values, of t0 that are tried in place of the profile's
PAIRS_BOUND = 400  # assignments of all profiles in which two fields are changed
PAIRS_WORK = 2_000_000  # and the elements that they look at,
ORDERS_WORK = 20  # of which each counts as so many where arrival orders are searched
TRIED = (  # fields whose other values may explain an output
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


AS_SETS = "as sets of rows, repeated rows counted once, it is right"
TOGETHER = "with the relations of one timestamp taken together"


class Change(NamedTuple):
    """One field of a profile and another value of it."""

    field: str
    value: object


class Nearest(NamedTuple):
    """What would explain a recording that a profile does not.

    `changes` are the single changes of the profile, `pairs` the pairs of changes where no single
    one does, `profiles` the names of the profiles under which it is right, `untried` what is out of
    reach. `readings` are sentences about the recording itself: its variables, its order, its
    extent, its rows as sets. `is_complete` says whether all pairs were tried.
    """

    changes: tuple[Change, ...] = ()
    untried: tuple[Change, ...] = ()
    pairs: tuple[tuple[Change, Change], ...] = ()
    profiles: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    is_complete: bool = True


def nearest(
    query: Query,
    streams: Mapping[str, Stream],
    profile: Profile,
    recording: Sequence[Relation],
    facts: judge.Judgement | None = None,
    *,
    fields: Iterable[str] = TRIED,
    timestamps: Sequence[int | None] = (),
    **options: Unpack[BasisKeywords],
) -> Nearest:
    """ORA-13: what would explain a recording that a profile does not, as the search finds it.

    Tried are the readings of the recording; each other value of a field; if none of them explains
    it, the other profiles and the pairs of such changes. `facts` is the judgement, with the
    alignment of the nearest assignment. `timestamps` are those of the recording's relations;
    `options` are as in `judge.judge`.
    """
    basis = Basis(**options)
    answers = basis.answers or Answers()
    recorded = basis.recorded(query, streams, recording)
    if others := other_variables(query, recording):
        return Nearest(readings=(others,))

    profile = resolved(query, streams, profile, answers)
    readings = tuple(_readings(recorded, profile, facts, answers, timestamps))
    changes = list(_changes(query, profile, fields))
    found: dict[Change, bool | None] = {}
    explained = []
    for change in changes:
        if change.field == "t0":
            trial = _explaining_t0(recorded, profile, answers)
            found[change] = None if trial is None else bool(trial)
            explained += [Change("t0", trial.semantics.t0)] if isinstance(trial, Trial) else []
            continue
        value = explains(recorded, changed(profile, change), answers, SINGLE_BOUND)
        found[change] = None if value is None else bool(value)
        explained += [change] if found[change] else []
    untried = tuple(change for change in changes if found[change] is None)
    if explained or readings:
        return Nearest(tuple(explained), untried, readings=readings)

    is_ordered = facts is None or facts.trial is None or facts.trial.ordered
    profiles = tuple(_profiles(recorded, profile, answers))
    pairs: list[tuple[Change, Change]] = []
    is_complete = bool(profiles) or _find_pairs(
        recorded, profile, changes, answers, is_ordered, pairs
    )
    return Nearest((), untried, tuple(pairs), profiles, is_complete=is_complete)


# Other semantics


def _changes(query: Query, profile: Profile, fields: Iterable[str]) -> Iterator[Change]:
    """Every other value of the fields of a profile. R2S-6: what the query states is not in the
    semantics.
    """
    for name in fields:
        if name == "r2s" and query.r2s is not None:
            continue
        for value in alternatives(name, profile.fields.get(name)):
            yield Change(name, value)


def alternatives(name: str, current: object) -> Sequence[object]:
    """The other values of a field; for t0 one that stands for all of them."""
    if name == "t0":
        return [UNKNOWN]
    if name == "report":
        conditions = sorted(set(Condition) - {Condition.PERIODIC})
        every = [
            frozenset(c)
            for size in range(1, len(conditions) + 1)
            for c in combinations(conditions, size)
        ]
        return [report for report in every if report != current]
    return [value for value in ENUMS[name] if value != current]


def changed(profile: Profile, *changes: Change) -> Profile:
    """A profile with some fields changed, and their companions where they would contradict them
    (SEM-2).
    """
    for change in changes:
        more: dict[str, object] = {}
        match change.field:
            case "r2s":
                differs = change.value in (R2S.ISTREAM, R2S.DSTREAM)
                more["base"] = (profile.fields.get("base") or Base.PREVIOUS) if differs else None
            case "report" if (
                isinstance(change.value, frozenset) and Condition.PERIODIC not in change.value
            ):
                more |= {"period": None, "anchor": None}
                more |= {} if Condition.CLOSE in change.value else {"gap": Gap.ALL}
            case "t0":
                more["offset"] = None
        profile = profile.but(**{change.field: change.value}, **more)
    return profile


def resolved(
    query: Query, streams: Mapping[str, Stream], profile: Profile, answers: Answers
) -> Profile:
    """A profile whose t0 is the integer that a published formula gives, so that another closure can
    be tried.
    """
    t0 = profile.fields.get("t0")
    if not isinstance(t0, T0) or t0 in POLICIES or len(query.windows) > 1:
        return profile
    origin = next(assignments(query, streams, profile, answers.plan), None)
    return profile if origin is None else profile.but(t0=origin[1].t0)


def explains(
    recorded: Recorded, profile: Profile, answers: Answers, bound: int
) -> Trial | bool | None:
    """The assignment of a profile that explains the recording, or False; None where that is out of
    reach, as it is of a profile with more than `bound` assignments. False also for a profile that
    has no meaning here.
    """
    tried = _assigned(recorded, profile, answers, bound)
    return None if tried is None or len(tried) > bound else _explaining(recorded, tried, answers)


def _assigned(
    recorded: Recorded, profile: Profile, answers: Answers, bound: int
) -> list[tuple[Semantics, Origin]] | None:
    """The assignments of a profile, one more than a bound at most; none where it has no meaning,
    None where they are out of reach.
    """
    try:
        told = recorded.first_told()
        return list(
            islice(
                assignments(recorded.query, recorded.streams, profile, answers.plan, told),
                bound + 1,
            )
        )
    except (Unsupported, Disputed, TooManyReports):
        return None
    except RefengineError:
        return []


def _explaining(
    recorded: Recorded, tried: Iterable[tuple[Semantics, Origin]], answers: Answers
) -> Trial | bool | None:
    """The first of some assignments that explains the recording, or False; None where some are out
    of reach.
    """
    doubt = False
    for semantics, origin in tried:
        try:
            trial = judge.attempt(recorded, semantics, origin, answers)
        except Unsupported:
            doubt = True
            continue
        except (Disputed, TooManyReports):
            return None
        except RefengineError:
            return False
        if trial.accepted is not None:
            return trial
    return None if doubt else False


def _explaining_t0(recorded: Recorded, profile: Profile, answers: Answers) -> Trial | bool | None:
    """As `explains`, for the profile with any t0 up to the last element.

    An open t0 stops at the first element, so that no engine passes by skipping the stream (ORA-2);
    to explain a fail, all are tried.
    """
    anywhere = profile.but(t0=UNKNOWN, offset=None)
    found = (
        False
        if profile.fields["t0"] == UNKNOWN
        else explains(recorded, anywhere, answers, T0_BOUND)
    )
    if found or len(recorded.query.windows) > 1 or not recorded.relations:
        return found
    try:
        semantics, _ = next(assignments(recorded.query, recorded.streams, anywhere, answers.plan))
        planned = answers.planned(recorded, semantics)
        first, last = (
            candidates(recorded.query, planned, UNKNOWN).hi + 1,
            max(planned.views[0].times, default=0),
        )
    except RefengineError:
        return None
    if first > last:
        return found
    later = explains(recorded, profile.but(t0=Between(first, last), offset=None), answers, T0_BOUND)
    return later or (None if None in (found, later) else False)


def _profiles(recorded: Recorded, profile: Profile, answers: Answers) -> Iterator[str]:
    """The names of the profiles under which the recording is right; a t0 that one leaves open is
    the judged profile's.
    """
    for name, other in sorted(PROFILES.items()):
        if other.fields["t0"] == UNKNOWN:
            other = other.but(t0=profile.fields["t0"], offset=profile.fields.get("offset"))
        if explains(recorded, other, answers, SINGLE_BOUND):
            yield name


def _find_pairs(
    recorded: Recorded,
    profile: Profile,
    changes: Sequence[Change],
    answers: Answers,
    is_ordered: bool,
    found: list[tuple[Change, Change]],
) -> bool:
    """Add the pairs of changes of two fields that explain the recording to `found`, as far as
    PAIRS_BOUND and PAIRS_WORK reach.

    Returns whether all pairs were tried.
    """
    is_complete = True
    length = 1 + sum(
        len(recorded.streams[name]) for name in {window.stream for window in recorded.query.windows}
    )
    left = min(PAIRS_BOUND, PAIRS_WORK // (length * (1 if is_ordered else ORDERS_WORK)))
    for one, other in combinations([change for change in changes if change.field != "t0"], 2):
        if one.field == other.field:
            continue
        tried = _assigned(recorded, changed(profile, one, other), answers, SINGLE_BOUND)
        if tried is None or len(tried) > SINGLE_BOUND:
            is_complete = False
            continue
        left -= len(tried)
        if left < 0:
            return False
        explaining = _explaining(recorded, tried, answers)
        is_complete = is_complete and explaining is not None
        if explaining:
            found.append((one, other))
    return is_complete


# Other readings of the recording


def other_variables(query: Query, recording: Sequence[Relation]) -> str:
    """The sentence that a recording has other variables than the query, or nothing."""
    expected = set(query.body.variables)
    given = {name for relation in recording for name in relation.variables}
    bound = {name for relation in recording for line in relation.rows for name, _ in line}
    if bound <= expected and (not given or given == expected):
        return ""
    listed = ", ".join(sorted(given | bound)) or "none"
    return (
        f"the recording has the variables {listed}; the query projects "
        f"{', '.join(query.body.variables)}"
    )


def _readings(
    recorded: Recorded,
    profile: Profile,
    facts: judge.Judgement | None,
    answers: Answers,
    timestamps: Sequence[int | None],
) -> Iterator[str]:
    """Sentences that each explain the fail by how the recording is read."""
    if facts is not None and facts.alignment is not None:
        extent = _extent(recorded, facts.alignment)
        if extent:
            yield extent
            return
        if _is_reordered(recorded, facts.alignment.beside):
            yield "it has the same relations in another order"
            return

    sets = as_sets(recorded)
    if explains(sets, profile.but(collection=Collection.SET), answers, SINGLE_BOUND):
        yield AS_SETS
        return
    together = by_timestamp(recorded, timestamps)
    if together is None:
        return
    if explains(together, profile, answers, SINGLE_BOUND):
        yield f"{TOGETHER}, it is right"
    elif explains(as_sets(together), profile.but(collection=Collection.SET), answers, SINGLE_BOUND):
        yield f"{TOGETHER}, {AS_SETS}"


def _is_reordered(recorded: Recorded, reports: Sequence[Report]) -> bool:
    """Whether the recording has the rows of exactly these reports, in
    another order of relations.
    """
    if not recorded.rows or len(reports) != len(recorded.rows):
        return False
    left = list(recorded.rows)
    for report in reports:
        same = next(
            (
                i
                for i, rows in enumerate(left)
                if compare.equal(report.relation.rows, rows, recorded.mode)
            ),
            None,
        )
        if same is None:
            return False
        left.pop(same)
    return True


def _extent(recorded: Recorded, alignment: Alignment) -> str:
    """The sentence that every relation is right and too many outputs are missing at an end; nothing
    where that is not so.
    """
    reports = alignment.beside
    if not recorded.rows or len(reports) < len(recorded.rows):
        return ""
    pairs = zip(reports, recorded.rows, strict=True)
    if not all(compare.equal(report.relation.rows, rows, recorded.mode) for report, rows in pairs):
        return ""

    lacks = []
    if alignment.before > recorded.missing.before:
        lacks.append(
            f"{_missing(alignment.before)} before the first; the bound is {recorded.missing.before}"
        )
    if alignment.after > recorded.missing.after:
        least = "at least " if alignment.after > SURPLUS else ""
        lacks.append(
            f"{least}{_missing(alignment.after)} after the last; the bound is "
            f"{recorded.missing.after}"
        )
    return f"every relation is right, and {', and '.join(lacks)}" if lacks else ""


def _missing(count: int) -> str:
    """`1 output is missing`, `2 outputs are missing`."""
    return "1 output is missing" if count == 1 else f"{count} outputs are missing"


def as_sets(recorded: Recorded) -> Recorded:
    """The recording with each row of a relation once."""
    relations = [
        Relation(relation.variables, Counter(dict.fromkeys(relation.rows, 1)))
        for relation in recorded.relations
    ]
    return replace(recorded, relations=tuple(relations))


def by_timestamp(recorded: Recorded, timestamps: Sequence[int | None]) -> Recorded | None:
    """The recording with the relations of one timestamp taken together, as engines write them that
    answer once a row; None where no timestamp recurs.
    """
    if (
        len(timestamps) != len(recorded.relations)
        or None in timestamps
        or len(set(timestamps)) == len(timestamps)
    ):
        return None
    merged: dict[int | None, Relation] = {}
    for at, relation in zip(timestamps, recorded.relations, strict=True):
        before = merged.get(at)
        rows = relation.rows if before is None else before.rows + relation.rows
        merged[at] = Relation(relation.variables, rows)
    return replace(recorded, relations=tuple(merged.values()), windows=())
