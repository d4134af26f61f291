"""Reports beside each other: each report that is due with the engine's report in its place, and the
rows in which they differ; the first pair that differs is the first divergence. And tables of
LSBench's mismatch, between engines that answered the same benchmark query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple

from conformance.bench.metrics.lsbench import mismatches
from conformance.report import texts
from conformance.report.source import Entry
from refengine.drawings.pairs import Pair, Report
from refengine.model import compare
from refengine.model.elements import Bag
from refengine.model.errors import RefengineError
from refengine.rdf.recordings import relation_from_json

ROWS = 5  # lacking or surplus rows that a pair has, at most
# If more rows than this differ as terms, they are not compared by tolerance and renaming, which
# takes time that grows with the square of their number.
NEAR = 400


def pair_reports(evidence: Mapping[str, Any], outcome: str) -> tuple[list[Pair], int | None]:
    """Return all pairs, and the number of the first that differs, None if none does.

    In a pass no pair differs: the oracle may have found another order of arrival than that under
    which the due reports are listed.
    """
    due = evidence.get("expected")
    actual = evidence["actual"]
    if due is None:
        return [Pair(number, None, report) for number, report in enumerate(actual)], None
    before = min(evidence.get("before", 0), len(due))
    placed = enumerate(zip_longest(due, [*[None] * before, *actual]))
    if outcome == "pass":
        return [Pair(number, one, other) for number, (one, other) in placed], None
    compared = [_pair(number, one, other, number < before) for number, (one, other) in placed]
    first = next((pair.number for pair in compared if pair.differs), None)
    diverges = evidence.get("diverges")
    if diverges is not None and diverges + before < len(compared):
        first = diverges + before
    return compared, first


def _pair(number: int, due: Report | None, actual: Report | None, is_unseen: bool) -> Pair:
    """Return a pair. It is compared unless the due report was not recorded (`is_unseen`), or rows
    are left out of the evidence.
    """
    pair = Pair(number, due, actual)
    if is_unseen:
        return pair
    if is_cut(due) or is_cut(actual):
        note = "rows are left out of the results, so they are not compared"
        return replace(pair, differs=total(due) != total(actual), note=note)
    try:
        return _with_differences(pair)
    except RefengineError as error:
        return replace(pair, differs=due is None or actual is None, note=f"not compared: {error}")


def _with_differences(pair: Pair) -> Pair:
    """Return a pair with the rows that differ. Raises RefengineError for malformed terms."""
    expected = bag(pair.due)
    actual = bag(pair.actual)
    same = _is_same_window(pair.due, pair.actual)
    note = ""
    lacking, surplus = Bag(), Bag()
    if (expected - actual).total() + (actual - expected).total() > NEAR:
        lacking = _excess(expected, actual)
        surplus = _excess(actual, expected)
        same = same and not lacking and not surplus
        note = (
            f"more than {NEAR} rows differ as terms: these are compared without tolerance, and "
            "blank nodes by their labels"
        )
    elif not (same and compare.equal(expected, actual)):
        same = False
        lacking, surplus = compare.difference(expected, actual)
    first_lacking = tuple(sorted(lacking.elements())[:ROWS])
    first_surplus = tuple(sorted(surplus.elements())[:ROWS])
    more = lacking.total() - len(first_lacking), surplus.total() - len(first_surplus)
    return replace(
        pair,
        differs=not same,
        lacking=first_lacking,
        surplus=first_surplus,
        more=more,
        note=note,
    )


def _excess(rows: Bag, others: Bag) -> Bag:
    """Return the rows that `rows` has more often than `others`, compared by value."""
    unpaired = Counter(map(compare.identity, others.elements()))
    excess = Bag()
    for line in rows.elements():
        key = compare.identity(line)
        if unpaired[key]:
            unpaired[key] -= 1
        else:
            excess[line] += 1
    return excess


def total(report: Report | None) -> int:
    """Return how many rows a report has, including those that are left out of the evidence."""
    if report is None:
        return 0
    rows: int = max(report["total"], len(report["rows"]))
    return rows


def is_cut(report: Report | None) -> bool:
    """Whether rows of a report are left out of the evidence."""
    return report is not None and len(report["rows"]) < total(report)


def _is_same_window(due: Report | None, actual: Report | None) -> bool:
    """Whether both reports are there, and about the same window as far as they name one."""
    if due is None or actual is None:
        return False
    windows = due.get("window"), actual.get("window")
    return None in windows or windows[0] == windows[1]


def bag(report: Report | None) -> Bag:
    """Return the rows of a report. Raises RefengineError for malformed terms."""
    if report is None:
        return Bag()
    variables = tuple(sorted({name for row in report["rows"] for name in row}))
    return relation_from_json(report["rows"], variables, "rows", {}).rows


ENGINES, QUERIES, COMPARED_ROWS = 12, 60, 20_000  # of tables of mismatch


class MismatchTable(NamedTuple):
    """The mismatches of one query: the engines, and rows with mm(row, column) in words for each
    ordered pair of them. `note` says why there are no rows, if so.
    """

    suite: str
    case: str
    engines: list[str]
    rows: list[tuple[str, list[str]]]
    note: str = ""


def mismatch_tables(entries: Iterable[Entry]) -> list[MismatchTable]:
    """Return a table for each benchmark query that at least two engines answered."""
    by_query: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if not entry.result.rule and entry.text is not None:
            by_query.setdefault((entry.result.suite, entry.result.case), []).append(entry)
    several = [(query, answers) for query, answers in sorted(by_query.items()) if len(answers) > 1]
    return [_mismatch_table(*query, answers[:ENGINES]) for query, answers in several[:QUERIES]]


def _mismatch_table(suite: str, case: str, answers: Sequence[Entry]) -> MismatchTable:
    names = [texts.clean(entry.result.engine, 40) for entry in answers]
    outputs = [entry.evidence["actual"] for entry in answers if entry.evidence is not None]
    rows: list[tuple[str, list[str]]] = []
    note = _why_not(outputs)
    if not note:
        try:
            percents = mismatches(
                {str(place): list(map(bag, reports)) for place, reports in enumerate(outputs)}
            )
        except RefengineError as error:
            note = texts.clean(str(error), 300)
        else:
            rows = [
                (name, list(_cells(str(place), len(names), percents)))
                for place, name in enumerate(names)
            ]
    return MismatchTable(texts.clean(suite), texts.clean(case), names, rows, note)


def _why_not(outputs: Sequence[Sequence[Report]]) -> str:
    """Return why the mismatch of some outputs cannot be measured; nothing if it can."""
    reports = [report for output in outputs for report in output]
    if any(map(is_cut, reports)):
        return "rows are left out of the results"
    if sum(map(total, reports)) > COMPARED_ROWS:
        return f"more than {COMPARED_ROWS:,} rows"
    return ""


def _cells(row: str, count: int, percents: Mapping[tuple[str, str], float | None]) -> Iterator[str]:
    """Yield the cells of one engine's row. `row`, and the keys of `percents`, are the numbers of
    engines as texts.
    """
    for column in map(str, range(count)):
        percent = percents.get((row, column))
        if row == column:
            yield ""
        elif percent is None:
            yield "undefined"
        else:
            yield f"{percent:.4g} %"
