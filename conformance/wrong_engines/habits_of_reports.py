"""More habits (`habits`): what may go wrong when an engine evaluates its windows, and when it makes
rows of their answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import Any

from conformance.wrong_engines.habits import is_sentinel
from conformance.wrong_engines.wrong_engine import Right, habit
from refengine.core import engine
from refengine.core.engine import MAX_REPORTS, Evaluation, Plan
from refengine.core.r2s import AnswerChange, Output, RelationToStream
from refengine.core.values import Condition, Empty
from refengine.model import compare
from refengine.model.elements import Bag, Term, row

# Evaluations


@habit("ENG-2", replaces=engine.evaluations)
def the_first_report_is_lost(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Loses the first report."""
    return islice(right(planned, max_reports), 1, None)


@habit("ENG-2", replaces=engine.evaluations)
def the_last_report_comes_twice(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Sends the last report twice."""
    at = None
    for at in right(planned, max_reports):
        yield at
    if at is not None:
        yield at


@habit("REP-2", replaces=engine.evaluations)
def only_a_new_element_evaluates(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Evaluates when elements come, and not when they leave. It evaluates a changed content if that
    has an element that it did not have before.
    """
    if Condition.CHANGE not in planned.semantics.report:
        yield from right(planned, max_reports)
        return
    before: list[set[int]] = [set() for _ in planned.views]
    for at in right(planned, max_reports):
        contents = [{*held.content} for held in at.windows]
        has_new = any(now - then for now, then in zip(contents, before, strict=True))
        before = contents
        if has_new:
            yield at


def _by_arrival(evaluations: Iterable[Evaluation]) -> Iterator[tuple[int, Iterator[Evaluation]]]:
    """Yield the evaluations that one arrival triggers, with its index."""
    return groupby(evaluations, key=attrgetter("arrival"))


@habit("REP-10", replaces=engine.evaluations)
def the_first_of_a_gap_is_reported(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Reports only the first of the windows that close at once, also after the end."""
    return (next(same) for _, same in _by_arrival(right(planned, max_reports)))


@habit("REP-10", replaces=engine.evaluations)
def an_arrival_reports_the_first_of_a_gap(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Reports only the first of the windows that an arrival closes. After the last element all are
    reported.
    """
    for arrival, same in _by_arrival(right(planned, max_reports)):
        yield from islice(same, None if is_sentinel(planned, arrival) else 1)


@habit("REP-10", replaces=engine.evaluations)
def an_arrival_reports_the_last_of_a_gap(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Reports only the last of the windows that an arrival closes. After the last element all are
    reported.
    """
    for arrival, same in _by_arrival(right(planned, max_reports)):
        closed = list(same)
        yield from closed if is_sentinel(planned, arrival) else closed[-1:]


@habit("ENG-1", replaces=engine.evaluations)
def one_report_follows_the_end(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Makes one report after the last element, and loses the others."""
    for arrival, same in _by_arrival(right(planned, max_reports)):
        yield from islice(same, 1 if is_sentinel(planned, arrival) else None)


@habit("REP-10", replaces=engine.evaluations)
def an_arrival_closes_one_window(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Closes one window at each arrival, and loses those that wait. The others wait for the next
    arrivals. Those that wait at the end are lost.
    """
    if len(planned.views) > 1:  # each of which closes at an arrival
        yield from right(planned, max_reports)
        return
    waiting: list[Evaluation] = []
    last = -1
    for arrival, same in _by_arrival(right(planned, max_reports)):
        yield from waiting[: arrival - last - 1]
        waiting = [*waiting[max(0, arrival - last - 1) :], *same]
        yield from waiting[:1]
        waiting = waiting[1:]
        last = arrival
    yield from waiting[: len(planned.arrivals) - 1 - last]


@habit("ENG-2", replaces=engine.evaluations)
def a_window_as_the_one_before_is_left_out(
    right: Right, planned: Plan, max_reports: int = MAX_REPORTS
) -> Iterator[Evaluation]:
    """Leaves out a window that holds what the one before held."""
    before = None
    for at in right(planned, max_reports):
        contents = [tuple(held.content) for held in at.windows]
        if contents != before:
            yield at
        before = contents


# Rows


def _remember(operator: RelationToStream, name: str, value: Any) -> Any:
    """Return what a name stands for in what an operator remembers; at first `value`."""
    return operator.__dict__.setdefault(name, value)


def _with_rows(operator: RelationToStream, output: Output, rows: Bag) -> Output:
    """Return an output with other rows. It is sent if the right one is, but for rows that have
    become empty where the semantics does not emit empty outputs.
    """
    is_sent = bool(rows) or operator.empty is Empty.EMIT or not output.rows
    return output._replace(rows=rows, is_emitted=output.is_emitted and is_sent)


@habit("R2S-1", replaces=RelationToStream.step)
def a_row_comes_once_in_all(right: Right, operator: RelationToStream, change: AnswerChange) -> Any:
    """Never gives an equal row again in a case."""
    output: Output = right(operator, change)
    given: Bag = _remember(operator, "given", Counter())
    rows = output.rows - given
    given |= output.rows  # how often each row was in one output, at most
    return _with_rows(operator, output, rows)


@habit("R2S-1", replaces=RelationToStream.step)
def a_repeated_output_is_empty(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Gives an output without rows where it repeats the one before."""
    before = operator.last
    output: Output = right(operator, change)
    if output.rows and compare.equal(output.rows, before):
        return _with_rows(operator, output, Counter())
    return output


@habit("R2S-5", replaces=RelationToStream.step)
def a_repeated_output_is_not_sent(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Does not send an output that repeats the one before."""
    before = operator.__dict__.get("last_one")
    output: Output = right(operator, change)
    operator.__dict__["last_one"] = output.rows
    if before is not None and compare.equal(output.rows, before):
        return output._replace(is_emitted=False)
    return output


@habit("R2S-2", replaces=RelationToStream.step)
def the_first_rows_are_not_new(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Takes the first rows for the baseline, and does not send them."""
    output: Output = right(operator, change)
    if output.rows and not _remember(operator, "has_begun", []):
        operator.__dict__["has_begun"].append(True)
        return output._replace(rows=Counter(), is_emitted=False)
    return output


@habit("R2S-4", replaces=RelationToStream.step)
def an_empty_answer_is_no_baseline(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Compares with the last answer that had rows."""
    remembered = operator.__dict__
    base = remembered.get("last_with_rows", change.baseline)
    if change.now:
        remembered["last_with_rows"] = change.now
    return right(operator, AnswerChange(change.variables, change.now, change.now, base))


@habit("R2R-9", replaces=RelationToStream.step)
def a_row_of_an_output_comes_once(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Gives equal rows of an output once."""
    output: Output = right(operator, change)
    return _with_rows(operator, output, Counter(dict.fromkeys(output.rows, 1)))


def _with_terms(
    operator: RelationToStream, output: Output, change: Callable[[Term], Term]
) -> Output:
    """Return an output with other terms in its rows."""
    rows: Bag = Counter()
    for line, count in output.rows.items():
        rows[row((name, change(term)) for name, term in line)] += count
    return _with_rows(operator, output, rows)


@habit("R2R-10", replaces=RelationToStream.step)
def languages_are_lost(right: Right, operator: RelationToStream, change: AnswerChange) -> Any:
    """Gives literals without their languages."""

    def strip(term: Term) -> Term:
        text, quote, rest = term.rpartition('"')
        return f"{text}{quote}" if term.startswith('"') and rest.startswith("@") else term

    return _with_terms(operator, right(operator, change), strip)


@habit("R2R-2", replaces=RelationToStream.step)
def a_row_with_an_unbound_variable_is_lost(
    right: Right, operator: RelationToStream, change: AnswerChange
) -> Any:
    """Loses rows with an unbound variable."""
    output: Output = right(operator, change)
    width = len(change.variables)
    whole = {line: count for line, count in output.rows.items() if len(line) == width}
    return _with_rows(operator, output, Counter(whole))
