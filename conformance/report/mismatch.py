"""Tables of LSBench's mismatch between engines that answered the same benchmark query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from conformance.metrics.lsbench import mismatches
from conformance.report import texts
from conformance.report.pairs import bag, is_cut, total
from conformance.report.source import Entry
from refengine.drawings.pairs import Report
from refengine.model.errors import RefengineError

ENGINES, QUERIES, ROWS = 12, 60, 20_000


class MismatchTable(NamedTuple):
    """The mismatches of one query: the engines, and rows with mm(row, column) in words for each
    ordered pair of them. `note` says why there are no rows, if so.
    """

    suite: str
    case: str
    engines: list[str]
    rows: list[tuple[str, list[str]]]
    note: str = ""


def tables(entries: Iterable[Entry]) -> list[MismatchTable]:
    """Return a table for each benchmark query that at least two engines answered."""
    by_query: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if not entry.result.rule and entry.text is not None:
            by_query.setdefault((entry.result.suite, entry.result.case), []).append(entry)
    several = [(query, answers) for query, answers in sorted(by_query.items()) if len(answers) > 1]
    return [_table(*query, answers[:ENGINES]) for query, answers in several[:QUERIES]]


def _table(suite: str, case: str, answers: Sequence[Entry]) -> MismatchTable:
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
    if sum(map(total, reports)) > ROWS:
        return f"more than {ROWS:,} rows"
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
