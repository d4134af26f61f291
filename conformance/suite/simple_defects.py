"""Defects that are no value of a field and no function of the reference engine: what an engine may
make of a query before it evaluates it, or of its right outputs before it reports them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat

from refengine.core.query import Query, WindowKind
from refengine.core.semantics import R2S
from refengine.model import compare
from refengine.model.elements import Bag

# whether an engine may report some bags of rows where the right outputs are others
CanReport = Callable[[Sequence[Bag], Sequence[Bag]], bool]

SWAPPED = {R2S.ISTREAM: R2S.DSTREAM, R2S.DSTREAM: R2S.ISTREAM}


def _keep_query(query: Query) -> Query:
    """Return the query as it is."""
    return query


def are_equal(outputs: Sequence[Bag], reports: Sequence[Bag]) -> bool:
    """Return whether reports are some outputs, one for one."""
    return len(outputs) == len(reports) and all(map(compare.equal, outputs, reports))


@dataclass(frozen=True, eq=False)
class SimpleDefect:
    """A defect, by which an engine breaks some `rules`; `text` says what the engine does.

    `change_query` returns the query that the engine evaluates. `can_report` says whether it may
    report some bags of rows where the right outputs are others.
    """

    text: str
    rules: tuple[str, ...]
    change_query: Callable[[Query], Query] = _keep_query
    can_report: CanReport = are_equal


def _slide_by_size(query: Query) -> Query:
    """Return a query whose windows over time slide by their size."""
    windows = tuple(
        replace(window, slide=window.size) if window.kind is WindowKind.TIME else window
        for window in query.windows
    )
    return replace(query, windows=windows)


def _swap_differences(query: Query) -> Query:
    """Return a query that states Dstream instead of Istream, and Istream instead of Dstream."""
    if query.r2s is None:
        return query
    return replace(query, r2s=SWAPPED.get(query.r2s, query.r2s))


def _can_report_twice(outputs: Sequence[Bag], reports: Sequence[Bag]) -> bool:
    """Return whether reports are outputs of which each is reported twice in a row."""
    return are_equal(list(chain.from_iterable(zip(outputs, outputs, strict=True))), reports)


def _can_double_rows(outputs: Sequence[Bag], reports: Sequence[Bag]) -> bool:
    """Return whether reports are outputs with each row twice."""
    return are_equal([output + output for output in outputs], reports)


def _can_report_late(outputs: Sequence[Bag], reports: Sequence[Bag]) -> bool:
    """Return whether reports are outputs but for the last."""
    return are_equal(outputs[:-1], reports)


def _can_report_late_after_empty(outputs: Sequence[Bag], reports: Sequence[Bag]) -> bool:
    """Return whether reports are an empty one and outputs but for the last."""
    first: Sequence[Bag] = list(repeat(Bag(), bool(outputs)))
    return are_equal([*first, *outputs[:-1]], reports)


def _can_report_one_row(outputs: Sequence[Bag], reports: Sequence[Bag]) -> bool:
    """Return whether each report is one row of the output, and none where that has none."""
    return len(outputs) == len(reports) and all(
        report.total() == min(1, output.total()) and (not report or _has_row_of(output, report))
        for output, report in zip(outputs, reports, strict=True)
    )


def _has_row_of(output: Bag, report: Bag) -> bool:
    """Return whether the one row of a report is a row of an output."""
    return any(compare.equal(Bag([row]), report) for row in output)


SIMPLE_DEFECTS = (
    SimpleDefect("windows that slide by their size", ("WIN-3",), _slide_by_size),
    SimpleDefect(
        "Istream given as Dstream, and Dstream as Istream",
        ("R2S-2", "R2S-3"),
        _swap_differences,
    ),
    SimpleDefect("each report sent twice", ("ENG-2",), can_report=_can_report_twice),
    SimpleDefect("each row sent twice", ("R2R-9",), can_report=_can_double_rows),
    SimpleDefect(
        "each output sent one evaluation late, and the last never",
        ("R2S-1",),
        can_report=_can_report_late,
    ),
    SimpleDefect(
        "each output sent one evaluation late, and an empty one first",
        ("R2S-1",),
        can_report=_can_report_late_after_empty,
    ),
    SimpleDefect("one row sent of each output", ("R2S-1",), can_report=_can_report_one_row),
)
