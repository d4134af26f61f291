"""LSBench's mismatch of engines that answered the same benchmark query, made of the reports that
they gave.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from conformance.metrics.lsbench import mismatches
from conformance.report import texts
from conformance.report.pairs import bag, is_cut, total
from conformance.report.source import Entry
from refengine.model.errors import RefengineError

ENGINES, QUERIES, ROWS = 12, 60, 20_000


class Table(NamedTuple):
    """Of one query: the engines, and mm(row, column) of each ordered pair in words; or why there is
    none.
    """

    suite: str
    case: str
    engines: list[str]
    rows: list[tuple[str, list[str]]]
    note: str = ""


def tables(entries: Iterable[Entry]) -> list[Table]:
    """A table for each benchmark query that two engines answered."""
    asked: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if not entry.result.rule and entry.text is not None:
            asked.setdefault((entry.result.suite, entry.result.case), []).append(entry)
    several = [(key, answered) for key, answered in sorted(asked.items()) if len(answered) > 1]
    return [_table(*key, answered[:ENGINES]) for key, answered in several[:QUERIES]]


def _table(suite: str, case: str, answered: list[Entry]) -> Table:
    names = [texts.clean(entry.result.engine, 40) for entry in answered]
    told = texts.clean(suite), texts.clean(case), names
    reports = [entry.evidence["actual"] for entry in answered if entry.evidence is not None]
    if any(is_cut(report) for given in reports for report in given):
        return Table(*told, [], "rows are left out of the results")
    if sum(total(report) for given in reports for report in given) > ROWS:
        return Table(*told, [], f"more than {ROWS:,} rows")
    try:
        found = mismatches(
            {str(place): list(map(bag, given)) for place, given in enumerate(reports)}
        )
    except RefengineError as error:
        return Table(*told, [], texts.clean(str(error), 300))
    return Table(
        *told,
        [(name, list(_row(str(place), len(names), found))) for place, name in enumerate(names)],
    )


def _row(one: str, count: int, found: dict[tuple[str, str], float | None]) -> Iterator[str]:
    for other in map(str, range(count)):
        percent = found.get((one, other))
        yield "" if one == other else "undefined" if percent is None else f"{percent:.4g} %"
