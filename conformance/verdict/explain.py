"""Arguments: a verdict's facts as text that fits one screen. What an engine supplied is escaped and
cut.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from refengine.core.profiles import brief
from refengine.core.query import Body, Query
from refengine.core.r2r import Testimony
from refengine.core.semantics import Profile, Semantics, show
from refengine.model import compare
from refengine.model.elements import XSD, Bag, Element, Relation, Row, Triple
from refengine.model.errors import Disputed, Unsupported
from refengine.model.messages import escaped
from refengine.model.terms import Term
from refengine.oracle import derivations
from refengine.oracle.divergence import LATE, LOST, FarRow
from refengine.oracle.explanations import TRIED, Change, Nearest
from refengine.oracle.judge import Judgement
from refengine.oracle.trial import BorderRow, Divergence, Fate, Trial

ROWS = 4  # shown of each kind
CHANGES = 6  # shown of those that explain a fail
ELEMENTS = 8  # shown of a content
WIDTH = 96  # characters of a term


def passed(profile: Profile, facts: Judgement) -> str:
    """The assignment that makes the recording correct."""
    trial = facts.trial
    assert trial is not None and trial.accepted is not None  # it passes
    state = trial.accepted
    lines = [f"pass: profile {profile.name}, with t0={trial.semantics.t0}{_origin(trial)}"]
    if not trial.ordered:
        lines.append("  and some arrival order of the simultaneous elements (ORA-5 to ORA-7)")
    lines.append(
        f"  outputs not recorded: {state.before} before the first relation, "
        f"{state.after} after the last"
    )
    lines.append(f"  semantics: {brief(trial.semantics)}")
    lines.append(_terms_of_judgement(facts))
    return "\n".join(lines)


def failed(
    query: Query,
    profile: Profile,
    recording: Sequence[Relation],
    facts: Judgement,
    far: FarRow | None,
    near: Nearest,
) -> str:
    """The first divergence of the nearest assignment, rows at the edges of windows, and what would
    explain the output.
    """
    trial, shorten = facts.trial, _shortener(query)
    lines = [f"fail: profile {profile.name}; no assignment gives this output"]
    if trial is None:
        return "\n".join([*lines, _terms_of_judgement(facts)])
    lines.append(f"  nearest: {brief(trial.semantics)}{_origin(trial)}")
    lines += _extent(facts)
    assert trial.divergence is not None  # it fails
    lines += _first_divergence(query, trial, trial.divergence, len(recording), facts, shorten)
    lines += _borders(trial, near, shorten)
    lines += [_safe_line(f"  {reading}") for reading in near.readings]
    if far is not None:
        lines.append(_far(query, far, shorten))
    elif near.changes or not near.readings:
        lines.append(_changes(near))
    lines.append(_terms_of_judgement(facts))
    return "\n".join(lines)


def told_wrongly(profile: Profile, facts: Judgement) -> str:
    """The windows that an engine tells of answers that are right, where
    they are others (ORA-11).
    """
    lines = [
        f"WIN-3 at t={wrong.evaluation}: answer {wrong.number} is about "
        f"{list(wrong.expected)}; the engine says {list(wrong.told)}"
        for wrong in facts.wrong_windows[:ROWS]
    ]
    assert facts.trial is not None  # its answers are right
    if not lines:
        lines = ["WIN-3: no assignment gives these answers for the windows that the engine tells"]
    if len(facts.wrong_windows) > ROWS:
        lines.append(f"  … and {len(facts.wrong_windows) - ROWS} more windows")
    lines.append(
        f"  the answers themselves are right: profile {profile.name}, with "
        f"t0={facts.trial.semantics.t0}{_origin(facts.trial)}"
    )
    lines.append(_terms_of_judgement(facts))
    return "\n".join(lines)


def _extent(facts: Judgement) -> list[str]:
    """How many reports of the nearest assignment come before the recording and after it, where
    there are any.
    """
    alignment = facts.alignment
    if alignment is None or not (alignment.before or alignment.after):
        return []
    before = counted(alignment.before, "output")
    return [
        f"  beside it: {before} not recorded before the first relation, {alignment.after} "
        "after the last"
    ]


def disputed(query: Query, error: Disputed) -> str:
    """The definition's answer and the witnesses', none of which confirms it."""
    shorten = _shortener(query)
    lines = [f"disputed: {error.reason} ({error.rule}); no engine fails on it"]
    for name, relation in sorted(error.answers.items()):
        lines.append(f"  {name}: {counted(relation.rows.total(), 'row')}")
        others = [r.rows for other, r in error.answers.items() if other != name]
        own, _ = compare.difference(relation.rows, others[0]) if others else (relation.rows, None)
        lines += [f"    only here: {_row(line, shorten)}" for line in _some(own)]
    return "\n".join(lines)


def _support(body: Body, graph: frozenset[Triple], wanted: Iterable[Row]) -> frozenset[Triple]:
    """The triples that one of some rows rests on; none where that has no single answer."""
    try:
        return next(
            (d.support for d in derivations.derivations(body, graph) if d.row in wanted),
            frozenset(),
        )
    except Unsupported:
        return frozenset()


def _origin(trial: Trial) -> str:
    lo, hi = trial.origin.lo, trial.origin.hi
    return "" if lo == hi else f" (as any t0 from {lo} to {hi})"


def _terms_of_judgement(facts: Judgement) -> str:
    tolerances = ", ".join(f"{kind} {size:g}" for kind, size in compare.TOLERANCE.items())
    mode = (
        (
            f"value mode (relative tolerance: {tolerances} or {float(compare.LEAST_DECIMAL):g} "
            "absolute)"
        )
        if facts.mode == compare.Mode.VALUE
        else "term mode"
    )
    witnesses = (
        f"confirmed by {' and '.join(facts.standing.confirming)}"
        if facts.standing.confirming
        else "no witness was asked"
    )
    by = f" by {facts.trial.by}" if facts.trial is not None else ""
    t0 = f", t0 {facts.t0}" if facts.t0 is not None else ""
    tried = f"{counted(facts.tried, 'assignment')} tried{by}{t0}"
    lines = [f"  judged by {mode}, at most {facts.missing} not recorded; {tried}; {witnesses}"]
    lines += [
        f"  {_safe_line(_difference(name, testimony))}"
        for name, testimony in sorted(facts.standing.others.items())
    ]
    return "\n".join(lines)


def _difference(name: str, testimony: Testimony) -> str:
    """How a witness differs from the definition, in the first answer where it does, or why it has
    no say.
    """
    answer = testimony.others[name]
    if isinstance(answer, str):
        return (
            f"{name} has no say on an answer of "
            f"{counted(testimony.relation.rows.total(), 'row')}: {answer}"
        )
    only_ours, only_theirs = compare.difference(testimony.relation.rows, answer.rows)
    rows = [f"only by definition {_row(line, str)}" for line in _some(only_ours)[:1]]
    rows += [f"only by {name} {_row(line, str)}" for line in _some(only_theirs)[:1]]
    return f"{name} differs: {', '.join(rows)}"


def _first_divergence(
    query: Query,
    trial: Trial,
    where: Divergence,
    recorded: int,
    facts: Judgement,
    shorten: Callable[[Term], str],
) -> list[str]:
    place = (
        f"relation {where.index + 1} of {recorded}"
        if where.index < recorded
        else f"after the last of {recorded} relations"
    )
    if where.expected is None:
        beside = (
            f"; the recording has {_bag(where.actual, shorten)}" if where.actual is not None else ""
        )
        return [f"  first divergence, {place}: {where.reason}{beside}"]
    window = "" if where.window is None else f"window {bordered(where.window, trial.semantics)} "
    lines = [f"  first divergence, {place}: {window}at t={where.evaluation}: {where.reason}"]
    expected, actual = where.expected, where.actual
    if where.reason in (LOST, LATE):
        lines.append(f"    expected {_bag(expected, shorten)}")
        return lines + _content(query, where.content, expected, shorten)
    lines += differing(query, expected, actual, facts.mode)
    lacking, surplus = compare.difference(
        expected, actual if actual is not None else Counter(), facts.mode
    )
    return lines + _content(query, where.content, [*lacking, *surplus], shorten)


def differing(query: Query, expected: Bag, actual: Bag | None, mode: compare.Mode) -> list[str]:
    """What was expected, what was recorded (None: nothing more), and the rows in which they differ,
    a line each.
    """
    shorten = _shortener(query)
    lines = [f"    expected {_bag(expected, shorten)}"]
    lines.append(f"    recorded {_bag(actual, shorten) if actual is not None else 'nothing more'}")
    lacking, surplus = compare.difference(
        expected, actual if actual is not None else Counter(), mode
    )
    for label, rows in (("lacking", lacking), ("too many", surplus)):
        lines += [f"    {label}: {_row(line, shorten)}" for line in _some(rows)]
        if rows.total() > ROWS:
            lines.append(f"    {label}: … {rows.total() - ROWS} more")
    return lines


def _content(
    query: Query, content: Sequence[Element], rows: Iterable[Row], shorten: Callable[[Term], str]
) -> list[str]:
    """The elements in the window: all if few, else those that the differing rows rest on."""
    if not content:
        return ["    no element is in the window"]
    first, last = content[0].app, content[-1].app
    lines = [f"    {counted(len(content), 'element')} in the window, from {first} to {last}"]
    shown: Sequence[Element] = content
    if len(content) > ELEMENTS:
        wanted = set(rows)
        support: frozenset[Triple] = frozenset()
        if derivations.pattern(query.body) is not None and wanted:
            graph = frozenset().union(*(element.graph for element in content))
            support = _support(query.body, graph, wanted)
        shown = [element for element in content if element.graph & support]
        lines[0] += "; of these the first differing row rests on" if shown else ""
    for element in shown[:ELEMENTS]:
        triples = " . ".join(" ".join(map(shorten, triple)) for triple in sorted(element.graph)[:2])
        lines.append(f"      {element.app}: {triples}{' …' if len(element.graph) > 2 else ''}")
    return lines


def _borders(trial: Trial, near: Nearest, shorten: Callable[[Term], str]) -> list[str]:
    assert trial.divergence is not None  # it fails
    rows = trial.divergence.borders
    off = [row for row in rows if row.fate is not Fate.PLACE]
    if not off:
        return []
    on_borders = [row for row in off if row.on_border]
    kept = [row for row in rows if row.fate is Fate.PLACE] if on_borders else []

    where = "on a window border" if all(row.on_border for row in off) else "at the edge of a window"
    lines = [f"  rows completed by an element {where}:"]
    for label, group in ((None, off), (Fate.PLACE, kept)):
        for row in group[:ROWS]:
            window = f" belongs to {bordered(row.window, trial.semantics)}" if label is None else ""
            lines.append(f"    {row.fate}: {_edge(row)}: {_row(row.row, shorten)}{window}")
        if len(group) > ROWS:
            lines.append(
                f"    {label or 'not in place'}: … {len(group) - ROWS} more, at "
                f"{_instants(group[ROWS:])}"
            )

    paired = [change for pair in near.pairs for change in pair]
    if on_borders and not any(
        change.field == "closure" for change in (*near.changes, *near.untried, *paired)
    ):
        contrast = (
            f": those at {_instants(on_borders)} moved, those at {_instants(kept)} did not"
            if kept
            else ""
        )
        lines.append(f"    no closure explains it{contrast}")
    return lines


def _edge(row: BorderRow) -> str:
    """`element at 12000`, and where in the window it is unless on a border."""
    if row.on_border:
        return f"element at {row.at}"
    place = "first" if row.is_first and row.fate is not Fate.LATE else "last"
    return f"element at {row.at}, the {place} in the window"


def _instants(rows: Iterable[BorderRow]) -> str:
    """`20000, 32000 (twice)`."""
    counts = Counter(row.at for row in rows)
    return ", ".join(
        f"{at}" if n == 1 else f"{at} ({'twice' if n == 2 else f'{n} times'})"
        for at, n in sorted(counts.items())
    )


def _far(query: Query, far: FarRow, shorten: Callable[[Term], str]) -> str:
    """Why no change of the semantics can explain the output."""
    size = query.windows[0].size
    why = (
        "is never an answer on this stream"
        if far.span is None
        else f"rests on elements {far.span} apart, and a window has {size}"
    )
    return f"  no semantics explains it: the recorded row {_row(far.row, shorten)} {why} (ORA-10)"


def _changes(near: Nearest) -> str:
    """The changes of the semantics under which the recording would be right."""
    untried = ", ".join(map(_change, near.untried))
    tail = f"; out of reach: {untried}" if untried else ""
    if near.changes:
        return (
            "  would be explained by " + ", or ".join(map(_change, near.changes[:CHANGES])) + tail
        )
    if near.profiles:
        return (
            f"  passes under profile {', '.join(near.profiles[:CHANGES])}; no single change "
            f"explains it{tail}"
        )
    if near.pairs:
        pairs = ", or ".join(
            f"{_change(one)} with {_change(other)}" for one, other in near.pairs[:CHANGES]
        )
        return f"  would be explained by {pairs}; no single change explains it{tail}"
    pairs = (
        "nor a pair of changes"
        if near.is_complete
        else "nor one of the pairs of changes that were tried"
    )
    return (
        f"  no single change of {', '.join(TRIED[:-1])} or {TRIED[-1]} explains it, nor "
        f"another profile, {pairs}{tail}"
    )


def _change(change: Change) -> str:
    """`closure=(]`; an open t0 that is out of reach stands for every other one."""
    return f"{change.field}={show(change.value)}"


def bordered(window: tuple[int, int], semantics: Semantics) -> str:
    """A window with its borders: `[0, 10)`."""
    assert semantics.closure is not None  # where windows have borders
    left, right = semantics.closure
    return f"{left}{window[0]}, {window[1]}{right}"


def _bag(rows: Bag, shorten: Callable[[Term], str]) -> str:
    if not rows:
        return "no rows"
    total = rows.total()
    return f"{counted(total, 'row')}" + (
        f": {_row(next(rows.elements()), shorten)}" if total == 1 else ""
    )


def _some(rows: Bag) -> list[Row]:
    return sorted(rows.elements())[:ROWS]


def _row(line: Row, shorten: Callable[[Term], str]) -> str:
    return "{" + ", ".join(f"{_safe(name, 40)}: {shorten(term)}" for name, term in line) + "}"


def counted(number: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shortener(query: Query) -> Callable[[Term], str]:
    """Terms with the query's own prefixes, printable and of bounded length."""
    declared = re.findall(r"PREFIX\s+([^\s:]*:)\s*<([^>]*)>", query.body.text, re.IGNORECASE)

    def shorten(term: Term) -> str:
        if not term.startswith("<"):
            return _safe(_literal(term), WIDTH)
        for prefix, namespace in sorted(declared, key=lambda d: -len(d[1])):
            local = term[1 + len(namespace) : -1]
            if term.startswith(f"<{namespace}") and re.fullmatch(r"[\w-]+", local):
                return _safe(prefix + local, WIDTH)
        return _safe(term.replace(XSD, "xsd:"), WIDTH)

    return shorten


def _literal(term: Term) -> str:
    """A literal with a short datatype; its own text, and a blank node, as it is."""
    text, quote, rest = term.rpartition('"')
    return f"{text}{quote}{rest.replace(XSD, 'xsd:')}"


def _safe_line(text: str) -> str:
    """A sentence that may hold what an engine supplied, printable and of bounded length."""
    return _safe(text, 400)


def _safe(text: str, width: int) -> str:
    """Printable text of at most `width` characters."""
    cut = text if len(text) <= width else text[: width - 1] + "…"
    return escaped(cut)
