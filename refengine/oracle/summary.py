"""§11 A verdict in a few lines, and as a table for notebooks. What an engine wrote is escaped, and
bounded. The whole explanation of a verdict, with what would explain a fail, is the suite's.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from refengine.core.profiles import brief
from refengine.core.semantics import Semantics
from refengine.drawings.style import style
from refengine.model import compare
from refengine.model.elements import Bag
from refengine.model.messages import bag_in_words, plain
from refengine.oracle.comparison import Borders, Divergence
from refengine.oracle.drawn_verdict import draw_verdict
from refengine.oracle.trial import Trial

if TYPE_CHECKING:
    from refengine.oracle.judge import Judgement

ROWS = 3  # of a bag, the most that are written
REPORTS = 50  # of a table
SCOPE = ".refengine-verdict"  # the class of the box of a time line


def explain_verdict(judgement: Judgement) -> str:
    """Return a verdict in at most a dozen lines: the assignment that it names, where a fail
    diverges first, and what it rests on.
    """
    trial = judgement.trial
    lines = [f"{outcome(judgement)}: {_assignment(judgement, trial)}"]
    if trial is not None and not judgement.passed:
        lines += [f"  wrong window of answer {wrong.number}: expected "
                  f"{_window(wrong.expected, trial.semantics)}, the engine says "
                  f"{_window(wrong.stated, trial.semantics)}"
                  for wrong in judgement.wrong_windows[:ROWS]]  # fmt: skip
        if trial.divergence is not None:
            lines += _divergence(judgement, trial.divergence, trial.semantics)
    if trial is not None and trial.accepting_state is not None:
        state = trial.accepting_state
        lines.append(
            f"  outputs not recorded: {state.before} before the first relation, "
            f"{state.after} after the last"
        )
    if trial is not None:
        lines.append(f"  semantics: {brief(trial.semantics)}")
    lines.append(f"  {_what_it_rests_on(judgement)}")
    return "\n".join(map(plain, lines))


def outcome(judgement: Judgement) -> str:
    """Return whether a verdict is a pass or a fail, in one word."""
    return "pass" if judgement.passed else "fail"


def _assignment(judgement: Judgement, trial: Trial | None) -> str:
    """Return the assignment that a verdict names, in words."""
    if trial is None:
        return "there is no assignment to try"
    named = f"t0={trial.semantics.t0}{trial.t0_class.others_in_words()}"
    if judgement.passed:
        return f"with {named}"
    if judgement.is_right_but_for_windows:
        return f"with {named} the relations are right, and the stated windows are not"
    return f"no assignment gives these relations; the nearest has {named}"


def _divergence(judgement: Judgement, where: Divergence, semantics: Semantics) -> Iterator[str]:
    count = len(judgement.recorded.relations)
    place = f"relation {where.index + 1} of {count}"
    if where.index >= count:
        place = f"after the last of {count} relations"
    at = ""
    if where.evaluation is not None:
        window = f"{_window(where.window, semantics)} " if where.window else ""
        at = f" {window}at t={where.evaluation}:"
    yield f"  first divergence, {place}:{at} {where.reason}"
    expected, actual = where.expected, where.actual
    if expected is not None:
        yield f"    expected {bag_in_words(expected, ROWS)}"
    if actual is not None:
        yield f"    recorded {bag_in_words(actual, ROWS)}"
    if expected is not None and actual is not None:
        lacking, surplus = compare.difference(expected, actual, judgement.mode)
        for word, rows in (("lacking", lacking), ("too many", surplus)):
            if rows:
                yield f"    {word}: {bag_in_words(rows, ROWS)}"


def _window(borders: Borders | None, semantics: Semantics) -> str:
    if borders is None:
        return "no window"
    left, right = semantics.closure or "[]"
    return f"window {left}{borders[0]}, {borders[1]}{right}"


def _what_it_rests_on(judgement: Judgement) -> str:
    statements = judgement.witness_statements
    witnesses = statements.why_it_stands or "no witness was asked"
    if statements.confirming:
        witnesses = f"confirmed by {' and '.join(statements.confirming)}"
    t0 = "" if judgement.t0_candidates is None else f", t0 {judgement.t0_candidates}"
    one = "assignment" if judgement.tried == 1 else "assignments"
    return (
        f"judged by {judgement.mode} mode, at most {judgement.missing} not recorded; "
        f"{judgement.tried} {one} tried{t0}; {witnesses}"
    )


def table_of_verdict(judgement: Judgement) -> str:
    """Return a verdict as HTML: its lines, its time line, and a table of the reports beside the
    relations.
    """
    parts = [f"<pre>{escape(explain_verdict(judgement))}</pre>"]
    alignment = judgement.alignment
    if alignment is not None:
        drawn = draw_verdict(judgement, alignment)
        parts.append(f'<style>{style(SCOPE)}</style><div class="{SCOPE[1:]}">{drawn}</div>')
        head = (
            "<tr><th>relation</th><th>window</th><th>at</th><th>expected</th><th>recorded</th></tr>"
        )
        rows = list(islice(_rows_of_table(judgement), REPORTS))
        parts.append(f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>")
        left = len(judgement.recorded.relations) - REPORTS
        if left > 0:
            parts.append(f"<p>and {left} more relations</p>")
    return "".join(parts)


def _rows_of_table(judgement: Judgement) -> Iterator[str]:
    alignment = judgement.alignment
    assert alignment is not None  # the caller has asked
    semantics = judgement.named_trial.semantics
    for index, relation in enumerate(judgement.recorded.relations):
        report = alignment.report(index)
        expected: Bag | None = None
        window = at = words = ""
        if report is not None:
            expected = report.relation.rows
            window, at = _window(report.window, semantics), str(report.evaluation)
            words = bag_in_words(expected, ROWS)
        is_right = expected is not None and compare.equal(expected, relation.rows, judgement.mode)
        recorded = bag_in_words(relation.rows, ROWS)
        cells = [str(index + 1), window, at, words, f"{'=' if is_right else '≠'} {recorded}"]
        yield f"<tr>{''.join(f'<td>{escape(plain(cell))}</td>' for cell in cells)}</tr>"
