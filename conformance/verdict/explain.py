"""Explanations: the text, one screen at most, that says why a judgement is what it is, and what
would explain a fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from conformance.verdict import window_elements
from conformance.verdict.evidence import elements_with, find_derivation
from conformance.verdict.wording import (
    ROWS,
    Wording,
    first_rows,
    printable_line,
    row_text,
)
from conformance.verdict.wording import count_text as count_text
from conformance.verdict.wording import window_text as window_text
from refengine.core.profile import Profile
from refengine.core.profiles import brief
from refengine.core.query import Query, WindowKind
from refengine.core.question import Question
from refengine.core.r2r import Testimony
from refengine.core.semantics import Semantics, show
from refengine.model import compare
from refengine.model.elements import Bag, Element, Relation, Row
from refengine.model.errors import Disputed
from refengine.oracle.comparison import BorderRow, Borders, Divergence, Fate
from refengine.oracle.divergence import LACKING, OTHER_WINDOW, SKIPPED, UnreachableRow
from refengine.oracle.explanations import FIELDS_TRIED, Explanations, FieldChange
from refengine.oracle.judge import Judgement
from refengine.oracle.trial import Trial

ELEMENTS = 8  # of a content, the most that are written
STREAM = 30  # elements of a stream, the most that are written


def explain_pass(profile: Profile, judgement: Judgement) -> str:
    """Write the explanation of a pass: the assignment under which the recording is right."""
    trial = judgement.trial
    assert trial is not None and trial.accepting_state is not None  # it passes
    state = trial.accepting_state
    words = Wording.of(judgement.recorded.query)
    named = f"t0={trial.semantics.t0}{trial.t0_class.others_in_words()}"
    lines = [f"pass: profile {profile.name}, with {named}"]
    if not trial.is_order_known:
        lines.append("  and some arrival order of the simultaneous elements (ORA-5 to ORA-7)")
    lines.append(
        f"  outputs not recorded: {state.before} before the first {words.relation}, "
        f"{state.after} after the last"
    )
    lines.append(f"  semantics: {brief(trial.semantics)}")
    lines.append(_how_it_was_judged(judgement))
    return "\n".join(lines)


def explain_fail(
    profile: Profile,
    judgement: Judgement,
    far: UnreachableRow | None,
    near: Explanations | None,
    why_unexplained: str = "what would explain it was not looked for",
) -> str:
    """Write the explanation of a fail: where the nearest assignment first diverges, the rows at the
    edges of windows, and what would explain the output.

    `far` is a row that no semantics can give, if there is one, and `near` the changes of the
    semantics under which the recording would pass. Without them the explanation says
    `why_unexplained`.
    """
    query, trial = judgement.recorded.query, judgement.trial
    words = Wording.of(query)
    lines = [f"fail: profile {profile.name}; no assignment gives this output"]
    if trial is None:
        return "\n".join([*lines, _how_it_was_judged(judgement)])
    lines.append(f"  nearest: {brief(trial.semantics)}{trial.t0_class.others_in_words()}")
    lines += _extent(judgement, words)
    assert trial.divergence is not None  # it fails
    lines += _first_divergence(judgement, trial, trial.divergence, words)
    if near is None:
        lines += [f"  {why_unexplained}", _how_it_was_judged(judgement)]
        return "\n".join(lines)
    lines += border_lines(trial, near, words)
    lines += [printable_line(f"  {reading}") for reading in near.readings]
    if far is not None:
        lines.append(far_line(query, far, words))
    elif near.changes or not near.readings:
        lines.append(change_line(near))
    lines += _stream_line(judgement)
    lines.append(_how_it_was_judged(judgement))
    return "\n".join(lines)


def _stream_line(judgement: Judgement) -> list[str]:
    """Write the times of all elements, where a query asks for contents; no line elsewhere."""
    question = judgement.recorded.question
    if not window_elements.asks_for_contents(question.query):
        return []
    return [f"  the stream is {stream_text(question)}"]


def stream_text(question: Question) -> str:
    """Write the elements of the stream of a question that asks for contents: `3: element 0`."""
    words = Wording.of(question.query)
    elements = list(question.streams[window_elements.STREAM])
    listed = ", ".join(map(words.element, elements[:STREAM]))
    more = f" and {len(elements) - STREAM} more" if len(elements) > STREAM else ""
    return f"{listed or 'empty'}{more}"


def divergence_lines(judgement: Judgement) -> list[str]:
    """Write where a recording that fails first diverges from the nearest assignment, and the
    windows that are wrong if nothing else is.
    """
    if judgement.is_right_but_for_windows:
        return _wrong_window_lines(judgement)
    trial = judgement.trial
    if trial is None or trial.divergence is None:
        return []
    return _first_divergence(
        judgement, trial, trial.divergence, Wording.of(judgement.recorded.query)
    )


def explain_wrong_windows(profile: Profile, judgement: Judgement) -> str:
    """Write the explanation of a fail by windows alone: the answers are right, but the engine
    states other windows for them (ORA-11).
    """
    lines = _wrong_window_lines(judgement)
    trial = judgement.trial
    assert trial is not None  # its answers are right
    lines.append(
        f"  the answers themselves are right: profile {profile.name}, with "
        f"t0={trial.semantics.t0}{trial.t0_class.others_in_words()}"
    )
    lines += _stream_line(judgement)
    lines.append(_how_it_was_judged(judgement))
    return "\n".join(lines)


def _wrong_window_lines(judgement: Judgement) -> list[str]:
    """Write the first windows that the engine states wrongly, a line each."""
    every = judgement.wrong_windows
    is_session = judgement.recorded.query.windows[0].kind is WindowKind.SESSION
    rule = "WIN-23" if is_session else "WIN-3"
    lines = [
        f"{rule} at t={wrong.evaluation}: answer {wrong.number} is about "
        f"{_borders_text(wrong.expected)}; the engine says {list(wrong.stated)}"
        for wrong in every[:ROWS]
    ]
    if not every:
        lines = [
            f"{rule}: no assignment gives these answers for the windows that the engine states"
        ]
    left = len(every) - ROWS
    if left > 0:
        lines.append(f"  … and {left} more windows")
    return lines


def _borders_text(borders: Borders | None) -> str:
    """Write the borders of a report's window."""
    if borders is None:
        return "no window with borders"
    return str(list(borders))


def _extent(judgement: Judgement, words: Wording) -> list[str]:
    """Write how many reports of the nearest assignment are missing from the recording at its ends;
    no line if none are.
    """
    alignment = judgement.alignment
    if alignment is None or not (alignment.before or alignment.after):
        return []
    return [
        f"  outputs missing from the recording: {alignment.before} before its first "
        f"{words.relation}, "
        f"{alignment.after} after its last"
    ]


def explain_dispute(query: Query, error: Disputed) -> str:
    """Write the explanation of a dispute: the SPARQL evaluator's answer and those of the witnesses,
    none of which confirms it.
    """
    words = Wording.of(query)
    lines = [f"disputed: {error.reason} ({error.rule}); no engine fails on it"]
    for name, relation in sorted(error.answers.items()):
        lines.append(f"  {name}: {count_text(relation.rows.total(), 'row')}")
        own = _only_here(name, error.answers)
        for line in first_rows(own):
            text = words.row(line)
            lines.append(f"    only here: {text}")
    return "\n".join(lines)


def _only_here(name: str, answers: Mapping[str, Relation]) -> Bag:
    """Return the rows of one answer that the first of the other answers does not have."""
    rows = answers[name].rows
    for other, relation in answers.items():
        if other != name:
            return compare.difference(rows, relation.rows)[0]
    return rows


def _how_it_was_judged(judgement: Judgement) -> str:
    """Write how answers were compared, how many assignments were tried, and which witnesses
    confirm the answers.
    """
    if window_elements.asks_for_contents(judgement.recorded.query):
        missing = f"at most {judgement.missing} not recorded"
        return f"  judged with {missing}; {_trials_in_words(judgement)}"
    statements = judgement.witness_statements
    mode = _mode_in_words(judgement.mode)
    bound = f"at most {judgement.missing} not recorded"
    tried = _trials_in_words(judgement)
    witnesses = statements.why_it_stands or "no witness was asked"
    if statements.confirming:
        witnesses = f"confirmed by {' and '.join(statements.confirming)}"
    lines = [f"  judged by {mode}, {bound}; {tried}; {witnesses}"]
    for name, testimony in sorted(statements.others.items()):
        difference = printable_line(_difference(name, testimony))
        lines.append(f"  {difference}")
    return "\n".join(lines)


def _mode_in_words(mode: compare.Mode) -> str:
    """Write how answers are compared."""
    if mode is compare.Mode.TERM:
        return "term mode"
    relative = [f"{kind} {size:g}" for kind, size in compare.TOLERANCE.items()]
    tolerances = ", ".join(relative)
    least = f"{float(compare.LEAST_DECIMAL):g}"
    return f"value mode (relative tolerance: {tolerances} or {least} absolute)"


def _trials_in_words(judgement: Judgement) -> str:
    """Write how many assignments were tried, by what, and with which t0."""
    words = f"{count_text(judgement.tried, 'assignment')} tried"
    if judgement.trial is not None:
        words += f" by {judgement.trial.computed_by}"
    if judgement.t0_candidates is not None:
        words += f", t0 {judgement.t0_candidates}"
    return words


def _difference(name: str, testimony: Testimony) -> str:
    """Write the first rows in which a witness differs from the SPARQL evaluator, or why the witness
    has no say.
    """
    answer = testimony.others[name]
    rows = testimony.relation.rows
    if isinstance(answer, str):
        size = count_text(rows.total(), "row")
        return f"{name} has no say on an answer of {size}: {answer}"
    only_ours, only_theirs = compare.difference(rows, answer.rows)
    parts = []
    for who, only in (("evaluator", only_ours), (name, only_theirs)):
        for line in first_rows(only)[:1]:
            text = row_text(line, str)
            parts.append(f"only by {who} {text}")
    return f"{name} differs: {', '.join(parts)}"


def _first_divergence(
    judgement: Judgement,
    trial: Trial,
    where: Divergence,
    words: Wording,
) -> list[str]:
    """Write where the recording first diverges from the assignment, and the elements of the window
    there.
    """
    count = len(judgement.recorded.relations)
    place = f"after the last of {count} {words.relation}s"
    if where.index < count:
        place = f"{words.relation} {where.index + 1} of {count}"
    if where.expected is None:
        line = f"  first divergence, {place}: {where.reason}"
        if where.actual is not None:
            line += f"; the recording has {words.bag(where.actual)}"
        return [line]

    window = ""
    if where.window is not None:
        window = f"window {window_text(where.window, trial.semantics)} "
    query = judgement.recorded.query
    stated = _stated_window(trial, where)
    lines = [
        f"  first divergence, {place}: {window}at t={where.evaluation}: {where.reason}{stated}"
    ]
    if where.reason in LACKING:
        lines.append(f"    expected {words.bag(where.expected)}")
        return lines + _content(query, where.content, where.expected, words)
    lines += differing(query, where.expected, where.actual, judgement.mode)
    lacking, surplus = compare.difference(where.expected, where.actual or Counter(), judgement.mode)
    return lines + _content(query, where.content, [*lacking, *surplus], words)


def _stated_window(trial: Trial, where: Divergence) -> str:
    """Write the window that the engine states at a divergence, if this window is what is wrong;
    else the empty text.
    """
    if where.reason not in (SKIPPED, OTHER_WINDOW) or trial.alignment is None:
        return ""
    stated = trial.alignment.stated_window(where.index)
    assert stated is not None  # it differs from the report's
    return f", {window_text(stated, trial.semantics)}"


def differing(query: Query, expected: Bag, actual: Bag | None, mode: compare.Mode) -> list[str]:
    """Write an expected and a recorded answer, and the rows in which they differ, a line each.
    `actual` is None if nothing more was recorded.
    """
    words = Wording.of(query)
    recorded = "nothing more"
    if actual is not None:
        recorded = words.bag(actual)
    lines = [f"    expected {words.bag(expected)}", f"    recorded {recorded}"]
    lacking, surplus = compare.difference(expected, actual or Counter(), mode)
    for label, rows in (("lacking", lacking), ("too many", surplus)):
        for line in first_rows(rows):
            text = words.row(line)
            lines.append(f"    {label}: {text}")
        left = rows.total() - ROWS
        if left > 0:
            lines.append(f"    {label}: … {left} more")
    return lines


def _content(
    query: Query,
    content: Sequence[Element],
    rows: Iterable[Row],
    words: Wording,
) -> list[str]:
    """Write the elements in the window: all if they are few, else those on which the first
    differing row rests.
    """
    if not content:
        return ["    no element is in the window"]
    first = min(element.app for element in content)
    last = max(element.app for element in content)
    size = count_text(len(content), "element")
    heading = f"    {size} in the window, from {first} to {last}"
    listed = content
    if len(content) > ELEMENTS:
        listed = []
        derivation = find_derivation(query.body, content, rows)
        if derivation:
            listed = list(elements_with(derivation, content))
            heading += "; of these the first differing row rests on"
    lines = [heading]
    for element in listed[:ELEMENTS]:
        lines.append(f"      {words.element(element)}")
    return lines


CHANGES = 6  # shown of those that explain a fail


def border_lines(trial: Trial, near: Explanations, words: Wording) -> list[str]:
    """Write the rows at the edges of windows that are not in place. If some are on a border, write
    also those on borders that are in place.
    """
    assert trial.divergence is not None  # it fails
    rows = trial.divergence.borders
    moved = [row for row in rows if row.fate is not Fate.PLACE]
    if not moved:
        return []
    lines = _moved_rows(moved, trial.semantics, words)
    on_borders = [row for row in moved if row.on_border]
    if on_borders:
        in_place = [row for row in rows if row.fate is Fate.PLACE]
        lines += [_border_row(row, trial.semantics, words) for row in in_place[:ROWS]]
        lines += _more(Fate.PLACE, in_place)
        lines += _no_closure(on_borders, in_place, near)
    return lines


def _moved_rows(moved: Sequence[BorderRow], semantics: Semantics, words: Wording) -> list[str]:
    """Write the first rows that are not in place, with the windows to which they belong."""
    where = "at the edge of a window"
    if all(row.on_border for row in moved):
        where = "on a window border"
    lines = [f"  {words.completed_rows} {where}:"]
    lines += [_border_row(row, semantics, words) for row in moved[:ROWS]]
    return [*lines, *_more("not in place", moved)]


def _no_closure(
    moved: Sequence[BorderRow],
    in_place: Sequence[BorderRow],
    near: Explanations,
) -> Iterator[str]:
    """Yield the line that no closure explains the rows that moved over a border, if none does."""
    if _names_closure(near):
        return
    contrast = ""
    if in_place:
        contrast = f": those at {_instants(moved)} moved, those at {_instants(in_place)} did not"
    yield f"    no closure explains it{contrast}"


def _names_closure(near: Explanations) -> bool:
    """Whether a change of the closure explains the fail, or could not be tried."""
    in_pairs = [change for pair in near.pairs for change in pair]
    changes = [*near.changes, *near.untried, *in_pairs]
    return any(change.field == "closure" for change in changes)


def _border_row(row: BorderRow, semantics: Semantics, words: Wording) -> str:
    """Write a line such as `one window late: row {x: :a}, completed by the last element of its
    window [0, 10), at 9`.
    """
    window = window_text(row.window, semantics)
    return (
        f"    {row.fate}: {words.named_row(row.row)}{words.completed} {_edge(row)} of its "
        f"window {window}, at {row.at}"
    )


def _more(label: str, rows: Sequence[BorderRow]) -> Iterator[str]:
    """Yield the line that says how many rows are not shown, and at which instants."""
    if len(rows) > ROWS:
        yield f"    {label}: … {len(rows) - ROWS} more, at {_instants(rows[ROWS:])}"


def _edge(row: BorderRow) -> str:
    """Write which element of a window completes a row, such as `the last element`."""
    if row.on_border:
        return "an element on a border"
    if row.is_first and row.fate is not Fate.LATE:
        return "the first element"
    return "the last element"


def _instants(rows: Iterable[BorderRow]) -> str:
    """Write `20000, 32000 (twice)`."""
    times = {1: "", 2: " (twice)"}
    counts = Counter(row.at for row in rows)
    return ", ".join(f"{at}{times.get(n, f' ({n} times)')}" for at, n in sorted(counts.items()))


def far_line(query: Query, far: UnreachableRow, words: Wording) -> str:
    """Write why no change of the semantics can explain the output."""
    why = "is never an answer on this stream"
    if far.span is not None:
        size = query.windows[0].size
        why = f"rests on elements {far.span} apart, and a window has {size}"
    row = words.named_row(far.row)
    return f"  no semantics explains it: the recorded {row} {why} (ORA-10)"


def change_line(near: Explanations) -> str:
    """Write the changes of the semantics under which the recording would be right."""
    tail = ""
    if near.untried:
        tail = f"; out of reach: {', '.join(map(_change, near.untried))}"
    if near.changes:
        changes = ", or ".join(map(_change, near.changes[:CHANGES]))
        return f"  would be explained by {changes}{tail}"
    if near.profiles:
        names = ", ".join(near.profiles[:CHANGES])
        return f"  passes under profile {names}; no single change explains it{tail}"
    if near.pairs:
        pairs = ", or ".join(
            f"{_change(one)} with {_change(other)}" for one, other in near.pairs[:CHANGES]
        )
        return f"  would be explained by {pairs}; no single change explains it{tail}"
    pairs = "nor one of the pairs of changes that were tried"
    if near.is_complete:
        pairs = "nor a pair of changes"
    return (
        f"  no single change of {', '.join(FIELDS_TRIED[:-1])} or {FIELDS_TRIED[-1]} "
        f"explains it, nor "
        f"another profile, {pairs}{tail}"
    )


def _change(change: FieldChange) -> str:
    """Write `closure=(]`; an open t0 that is out of reach stands for every other one."""
    return f"{change.field}={show(change.value)}"
