"""§11 Other readings of a recording (ORA-13): whether it is right but for its variables, its
extent, its order or its repeated rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from refengine.core.engine import Report
from refengine.core.profile import Profile
from refengine.core.values import Collection
from refengine.model import compare
from refengine.model.elements import Relation
from refengine.oracle.alignment import SURPLUS_BOUND
from refengine.oracle.answers import SharedAnswers
from refengine.oracle.comparison import Alignment
from refengine.oracle.explanations.changes import SINGLE_BOUND, find_explaining_trial
from refengine.oracle.trial import RecordingToJudge

AS_SETS = "as sets of rows, repeated rows counted once, it is right"
TOGETHER = "with the relations of one timestamp taken together"


def other_variables(recorded: RecordingToJudge) -> str:
    """Return a sentence that names the variables of the recording and of the query. Empty if the
    two have the same.
    """
    query = recorded.query
    expected = set(query.body.variables)
    stated = {name for relation in recorded.relations for name in relation.variables}
    bound = {name for rows in recorded.rows for line in rows for name, _ in line}
    if bound <= expected and (not stated or stated == expected):
        return ""
    listed = ", ".join(sorted(stated | bound)) or "none"
    return (
        f"the recording has the variables {listed}; the query projects "
        f"{', '.join(query.body.variables)}"
    )


def readings_of(
    recorded: RecordingToJudge,
    profile: Profile,
    alignment: Alignment | None,
    answers: SharedAnswers,
    timestamps: Sequence[int | None],
) -> Iterator[str]:
    """Yield sentences that each name a reading under which the recording is right.

    `alignment` is that of the nearest assignment. `timestamps` are those of the relations.
    """
    if alignment is not None:
        extent = _extent(recorded, alignment)
        if extent:
            yield extent
            return
        if _is_reordered(recorded, alignment):
            yield "it has the same relations in another order"
            return

    as_set = profile.but(collection=Collection.SET)
    if _is_right(without_repeated_rows(recorded), as_set, answers):
        yield AS_SETS
        return
    together = merge_timestamps(recorded, timestamps)
    if together is None:
        return
    if _is_right(together, profile, answers):
        yield f"{TOGETHER}, it is right"
    elif _is_right(without_repeated_rows(together), as_set, answers):
        yield f"{TOGETHER}, {AS_SETS}"


def _is_right(recorded: RecordingToJudge, profile: Profile, answers: SharedAnswers) -> bool:
    """Whether some assignment of a profile explains a recording."""
    return find_explaining_trial(recorded, profile, answers, SINGLE_BOUND).trial is not None


def _is_reordered(recorded: RecordingToJudge, alignment: Alignment) -> bool:
    """Whether the recorded relations are reports in another order: those beside them or, if the
    engine states windows, the first ones. The first window that it states may be that of a later
    report.
    """
    if _are_same_in_some_order(recorded, alignment, alignment.beside):
        return True
    first = alignment.reports[: alignment.relations]
    return bool(alignment.stated) and _are_same_in_some_order(recorded, alignment, first)


def _are_same_in_some_order(
    recorded: RecordingToJudge, alignment: Alignment, reports: Sequence[Report]
) -> bool:
    """Whether the recorded relations, with the windows stated for them, are these reports in some
    order.
    """
    if not recorded.rows or len(reports) != len(recorded.rows):
        return False
    left = list(range(len(recorded.rows)))
    for report in reports:
        expected = report.relation.rows
        for place, index in enumerate(left):
            is_same = compare.equal(expected, recorded.rows[index], recorded.mode)
            if is_same and alignment.is_about(index, report):
                del left[place]
                break
        else:
            return False
    return True


def _extent(recorded: RecordingToJudge, alignment: Alignment) -> str:
    """Return a sentence if every relation is right and more outputs are missing at an end than may
    be; else the empty text.
    """
    reports = alignment.beside
    if not recorded.rows or len(reports) < len(recorded.rows):
        return ""
    if not all(map(alignment.is_about, range(len(reports)), reports)):
        return ""
    pairs = zip(reports, recorded.rows, strict=True)
    if not all(compare.equal(report.relation.rows, rows, recorded.mode) for report, rows in pairs):
        return ""

    missing = recorded.missing
    lacks = []
    if alignment.before > missing.before:
        count = _missing(alignment.before)
        lacks.append(f"{count} before the first; the bound is {missing.before}")
    if alignment.after > missing.after:
        count = _missing(alignment.after)
        if alignment.after > SURPLUS_BOUND:
            count = f"at least {count}"
        lacks.append(f"{count} after the last; the bound is {missing.after}")
    if not lacks:
        return ""
    return f"every relation is right, and {', and '.join(lacks)}"


def _missing(count: int) -> str:
    """Return `1 output is missing`, `2 outputs are missing`."""
    if count == 1:
        return "1 output is missing"
    return f"{count} outputs are missing"


def without_repeated_rows(recorded: RecordingToJudge) -> RecordingToJudge:
    """Return the recording with every row of a relation once."""
    relations = [
        relation
        if max(relation.rows.values(), default=1) == 1
        else Relation(relation.variables, Counter(dict.fromkeys(relation.rows, 1)))
        for relation in recorded.relations
    ]
    return replace(recorded, relations=tuple(relations))


def merge_timestamps(
    recorded: RecordingToJudge, timestamps: Sequence[int | None]
) -> RecordingToJudge | None:
    """Return the recording with the relations of one timestamp taken together. None where every
    timestamp stands for one relation.

    Some engines write a relation for each row, all with the timestamp of their answer.
    """
    if len(timestamps) != len(recorded.relations) or None in timestamps:
        return None
    if len(set(timestamps)) == len(timestamps):
        return None
    merged: dict[int | None, Relation] = {}
    for at, relation in zip(timestamps, recorded.relations, strict=True):
        rows = relation.rows
        if at in merged:
            rows = merged[at].rows + rows
        merged[at] = Relation(relation.variables, rows)
    return replace(recorded, relations=tuple(merged.values()), windows=())
